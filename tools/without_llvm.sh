#!/bin/sh
# Runs a command on this machine as if neither LLVM nor a CUDA toolkit were installed.
#
# usage: without_llvm.sh COMMAND ...
# In a mount namespace of its own, empty folders cover LLVM, libclc and CUDA, and /dev/null covers the shared libLLVM.
# Where the system does not allow that, PATH alone is reduced, and a line says so.
set -eu
if [ "${KRAIT_HIDDEN-}" != 1 ]; then
    if unshare -rm true 2>/dev/null; then
        KRAIT_HIDDEN=1 exec unshare -rm "$0" "$@"
    fi
    echo "note: no mount namespaces here, so LLVM is hidden by PATH only" >&2
    PATH=/usr/bin:/bin exec "$@"
fi
for dir in /usr/lib/llvm-* /usr/lib/clc /usr/share/clc /usr/local/cuda* /opt/cuda /usr/include/llvm*; do
    [ -d "$dir" ] && mount -t tmpfs none "$(readlink -f "$dir")"
done
for file in /usr/lib/*/libLLVM*.so* /usr/bin/*-22; do
    [ -f "$file" ] && mount --bind /dev/null "$(readlink -f "$file")" 2>/dev/null || true
done
unset KRAIT_HIDDEN
PATH=/usr/local/bin:/usr/bin:/bin exec "$@"
