#!/bin/sh
# Unpacks a bundle and runs it where nothing can be installed: Python with NumPy, and pytest for the tests, are enough.
#
# usage: run_bundle.sh ARCHIVE [test | test-gpu | demo | bench | python] [ARGUMENTS ...]
#   test       the tests, kernels on the GPU if there is one         test-gpu   the same; without a GPU it fails
#   demo       every example, ending in a table                      bench      the benchmarks
#   python     the interpreter with Krait on its path
# A debug build needs more time for a test: `test -o timeout=300`.
# Environment: PYTHON (python3 unless told), KRAIT_BUNDLE_DIR (where to unpack; a new temporary folder unless told),
# KRAIT_TESTS (folders and files in tests/; all unless told), KRAIT_TEST_JOBS (processes, 2 unless told).
set -eu
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
archive=$1
what=${2:-test}
[ $# -ge 2 ] && shift 2 || shift
python=${PYTHON:-python3}

dir=${KRAIT_BUNDLE_DIR:-$(mktemp -d)}
mkdir -p "$dir"
tar -C "$dir" -xzf "$archive" --strip-components=1
dir=$(cd "$dir" && pwd)

wanted=$(cat "$dir/PYTHON_VERSION")
found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ "$wanted" != "$found" ]; then
    echo "this bundle is for CPython $wanted, $python is $found: name another one by PYTHON=" >&2
    exit 1
fi
"$python" -c 'import numpy; assert numpy.__version__ >= "2"' || { echo "NumPy 2 is needed" >&2; exit 1; }

# The folder krait/ is in site/ alone, so no current folder can shadow it.
export PYTHONPATH="$dir/site${PYTHONPATH:+:$PYTHONPATH}"
mkdir -p "$dir/run"
cd "$dir/run"

# A bundle of the debug build brings the sanitizers, which must be loaded before all else.  A kernel that lays out
# addresses at random can take the place of their shadow memory: not for these processes.  Their frames are several
# times larger.
fixed=
if [ -d "$dir/sanitizers" ]; then
    ulimit -S -s 65536
    setarch -R true 2>/dev/null && fixed="setarch -R"
    preload=$(printf '%s:' "$dir"/sanitizers/lib*.so)
    # shellcheck disable=SC2046 # words
    export LD_PRELOAD="$preload" $(cat "$dir/sanitizers/options")
fi

run_tests() {
    plugins=
    "$python" -c 'import xdist' 2>/dev/null && plugins="-n ${KRAIT_TEST_JOBS:-2}"
    # shellcheck disable=SC2046,SC2059,SC2086 # words
    exec $fixed "$python" -m pytest -c "$dir/pyproject.toml" --rootdir="$dir" $(printf "$dir/tests/%s " ${KRAIT_TESTS-}) \
        $plugins "$@"
}

case $what in
test) run_tests "$@" ;;
test-gpu)
    KRAIT_TEST_GPU=1 KRAIT_CUDA_DEVICE=gpu KRAIT_OPT=3
    export KRAIT_TEST_GPU KRAIT_CUDA_DEVICE KRAIT_OPT
    run_tests "$@"
    ;;
demo) exec $fixed "$python" "$dir/examples/demo.py" "$@" ;;
bench) exec $fixed "$python" "$dir/benchmarks/run.py" "$@" ;;
python) exec $fixed "$python" "$@" ;;
*) echo "unknown: $what" >&2; exit 2 ;;
esac
