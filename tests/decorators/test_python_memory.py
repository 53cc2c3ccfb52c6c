"""Allocations of Python itself that fail, each in turn, in a call, a launch or a decoration: a MemoryError, nothing
wrong, and the next attempt succeeds."""

import subprocess
import sys

import pytest

pytest.importorskip("_testcapi")

PROGRAM = """
import os, sys
os.environ["KRAIT_CUDA_DEVICE"] = "cpu"
import collections, gc
import numpy as np, _testcapi
from krait import cuda, jit, vectorize

Pair = collections.namedtuple("Pair", "a b")

class Body:
    def __init__(self):
        self.x, self.y = 1.0, np.arange(3.0)

a = np.arange(6.0)
body = Body()
add = jit(lambda x, y: x + y)
parts = jit(lambda t, p, s: (t[0], p.a, s))
double = jit(lambda x: x * 2)
longer = jit(lambda v: [w + 1 for w in v])
attributes = jit(lambda b: b.x + b.y[0])
made = jit(lambda x: (x, np.zeros(3), x.sum()))
outside = jit(lambda x: x[10])
kernel = cuda.jit(lambda x: None)
elementwise = vectorize(["float64(float64)"])(lambda x: x * 2)

def refused(call, *args):
    try:
        call(*args)
    except MemoryError:
        raise
    except Exception as error:
        return type(error).__name__

SITUATIONS = {
    "scalars": lambda: add(1000, 2.5) == 1002.5,
    "complex": lambda: double(1j) == 2j,
    "tuples": lambda: parts((1, 2.5), Pair(1, 2), "s") == (1, 1, "s"),
    "arrays": lambda: double(a)[5] == 10,
    "lists": lambda: longer([1, 2, 3]) == [2, 3, 4],
    "an instance": lambda: attributes(body) == 1.0,
    "several results": lambda: made(a)[2] == 15,
    "an exception": lambda: refused(outside, a) == "IndexError",
    "a launch": lambda: kernel[1, 32](a) is None,
    "a launcher": lambda: kernel[(2, 2), (4, 4)] is not None,
    "a ufunc": lambda: elementwise(a)[5] == 10,
    "a specialisation": lambda: jit(lambda x: x + 1)(1) == 2,
    "a kernel": lambda: cuda.jit("(float64[:],)")(lambda x: None) is not None,
    "a refusal": lambda: refused(jit(lambda x: x.nothing), 1.5) is not None,
}
run = SITUATIONS[sys.argv[1]]
for _ in range(3):
    assert run()
gc.disable()

failed = 0
for n in range(1, int(sys.argv[2])):
    _testcapi.set_nomemory(n, n + 1)
    try:
        fine = run()
    except MemoryError:
        fine, failed = True, failed + 1
    finally:
        _testcapi.remove_mem_hooks()
    assert fine, n
    assert run(), n
print(failed)
"""

FEW, MANY = 60, 200  # allocations: of a call, of a compilation


@pytest.mark.parametrize("name, most", [
    ("scalars", FEW), ("complex", FEW), ("tuples", FEW), ("arrays", FEW), ("lists", FEW), ("an instance", FEW),
    ("several results", FEW), ("an exception", FEW), ("a launch", FEW), ("a launcher", FEW), ("a ufunc", FEW),
    ("a specialisation", MANY), ("a kernel", MANY), ("a refusal", MANY)])
def test_an_allocation_of_python_that_fails_is_a_memory_error(name, most):
    done = subprocess.run([sys.executable, "-c", PROGRAM, name, str(most)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) > 0 or most == FEW  # many calls allocate nothing
