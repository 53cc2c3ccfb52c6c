"""Functions and specialisations that are made and dropped leave nothing behind.

KRAIT_MANY says how many of each the program makes: the suite makes a few hundred, which show a leak of some KB each;
`make wheel` makes 10000, which takes minutes.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import gc, sys
import numpy as np
from krait import njit

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

SCALARS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.float32, np.float64, np.bool_, np.complex128]

def functions(count):
    for k in range(count):
        f = njit(lambda x, k=k: x * 2 + k)
        assert f(1) == 2 + k

def specialisations(count):
    for _ in range(count // 100):
        f = njit(lambda x, y: (y, x))
        for a in SCALARS:
            for b in SCALARS:
                assert f(a(1), b(1)) == (1, 1)
        assert len(f.signatures) == 100

make, count = {"functions": functions, "specialisations": specialisations}[sys.argv[1]], int(sys.argv[2])
make(count // 2)  # caches fill, the allocators settle
before = resident()
make(count - count // 2)
print(resident() - before)
"""


@pytest.mark.parametrize("what", ["functions", "specialisations"])
def test_memory_is_flat(what):
    count = int(os.environ.get("KRAIT_MANY", "400"))
    # AddressSanitizer keeps what is freed, up to so much.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
    done = subprocess.run([sys.executable, "-c", PROGRAM, what, str(count)], capture_output=True, text=True,
                          env={**os.environ, "ASAN_OPTIONS": sanitizer})
    assert done.returncode == 0, done.stderr
    growth = int(done.stdout)
    assert growth < (1 << 20) + 256 * (count - count // 2), f"{growth} bytes more after {count - count // 2} {what}"
