#!/bin/sh
# Takes the scalar math functions out of libclc's NVPTX library.
#
# usage: reduce_libclc.sh LLVM_NM OPT nvptx64--.bc out.bc
# Kept: functions of float, double, int and private pointers to them, by their OpenCL (Itanium) mangled names,
# such as _Z3sinf, _Z3powdd, _Z5frexpdPi, and whatever those call. The whole library is 5 MB, most of it vectors.
set -eu
nm=$1 opt=$2 in=$3 out=$4
keep=$out.symbols
"$nm" --defined-only "$in" | awk '{ print $NF }' |
    grep -E '^_Z[0-9]+[a-z0-9_]+([fdi]|S_|P[fdi])+$' |
    grep -vE '__clc|convert_|atom|async|^_Z[0-9]+(get|read|write|native|half)_' > "$keep"
[ -s "$keep" ] || { echo "$in has none of the expected functions" >&2; exit 1; }
"$opt" -passes='internalize,globaldce,strip' -internalize-public-api-file="$keep" -o "$out" "$in"
