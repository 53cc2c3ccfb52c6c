#!/bin/sh
# Finds the CPython versions that Krait is built for.
#
# usage: find_pythons.sh [--no-headers] VERSION ...
# Output: a line "3.12=/path/to/python3.12" for each VERSION found, in the order asked for.
# The interpreter of the system comes first, then pyenv's (its shims on PATH are slow and may not run: they are passed
# over).  One without Python.h cannot build an extension: it counts only with --no-headers.
set -u
check='import os, sys, sysconfig
ok = sys.implementation.name == "cpython" and "%d.%d" % sys.version_info[:2] == sys.argv[1]
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
sys.exit(not (ok and not free_threaded and (sys.argv[2] == "any" or os.path.exists(header))))'
need=headers
if [ "${1-}" = --no-headers ]; then need=any; shift; fi

candidates() { # every place where python$1 may be
    old_ifs=$IFS; IFS=:
    for dir in $PATH; do
        case $dir in */shims) ;; *) printf '%s\n' "$dir/python$1" ;; esac
    done
    IFS=$old_ifs
    for file in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python"$1"; do printf '%s\n' "$file"; done
}

for version in "$@"; do
    candidates "$version" | while read -r python; do
        [ -x "$python" ] && "$python" -I -S -c "$check" "$version" "$need" 2>/dev/null || continue
        printf '%s=%s\n' "$version" "$python"
        break
    done
done
