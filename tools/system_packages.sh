#!/bin/sh
# Installs what the build needs from the system, or says plainly what is missing.
#
# usage: system_packages.sh
# On Debian and its kin: apt-get installs the packages that are missing, with sudo when not root.
# Elsewhere: nothing is installed; a line for each missing program or file, and exit status 1.
set -eu

packages='gcc g++ make cmake ninja-build git ca-certificates python3-dev python3-venv
llvm-22-dev clang-22 libclc-22 lld-22 libzstd-dev zlib1g-dev libxml2-dev'

missing_packages() {
    for package in $packages; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
            installed) ;;
            *) printf '%s ' "$package" ;;
        esac
    done
}

missing_programs() {
    for program in gcc g++ cmake ninja git python3 llvm-config-22 clang-22; do
        command -v "$program" >/dev/null || echo "  the program $program"
    done
    python3 - 2>/dev/null <<'END' || echo "  CPython 3.11 or newer with its headers and the module venv"
import os, sys, sysconfig, ensurepip, venv
sys.exit(sys.version_info < (3, 11) or not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))
END
    if command -v gcc >/dev/null; then
        for library in libz.a libzstd.a; do
            [ -e "$(gcc -print-file-name=$library)" ] || echo "  the static library $library"
        done
    fi
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    missing=$(missing_programs)
    if [ -n "$missing" ]; then
        printf 'Krait installs system packages by itself on Debian only. Missing here:\n%s\n' "$missing" >&2
        echo 'LLVM 22 must come with its static libraries and its tools (clang, opt, llvm-as, llvm-nm).' >&2
        exit 1
    fi
    exit 0
fi

missing=$(missing_packages)
[ -n "$missing" ] || exit 0
echo "system packages to install: $missing"
sudo=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "run as root, or install sudo: apt-get install $missing" >&2
        exit 1
    fi
    sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of words
for package in $missing; do
    if ! apt-cache show "$package" >/dev/null 2>&1; then
        echo "the package $package is not in this system's sources. On Debian 12 it is in the security updates;" >&2
        echo "elsewhere add a source that has LLVM 22." >&2
        exit 1
    fi
done
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null
