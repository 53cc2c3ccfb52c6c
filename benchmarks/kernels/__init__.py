"""Kernels of many families, each in Python and in CUDA C: the same algorithm, written as its language has it.

A family is a module with `CUDA`, the text of its kernels in CUDA C, and `cases(rng)`, which lists what is measured.
"""

from dataclasses import dataclass, field
from importlib import import_module

from krait import cuda

FAMILIES = (
    "linear_algebra",
    "sparse",
    "stencils",
    "reductions",
    "sorting",
    "scatter",
    "images",
    "hashing",
    "fractals",
    "dynamic_programming",
    "particles",
    "finance",
    "text",
    "graphs",
    "normalisation",
    "fields",
    "trades",
    "strangers",
    "travellers",
    "visitors",
    "guests",
)


@dataclass
class Case:
    """A kernel and its launch.  The function of CUDA C has the kernel's name; it takes the kernel's arguments (an
    array as its pointer, an int as int, a float as double, a NumPy scalar as what it is) and then `sizes`, as int."""

    kernel: object
    grid: tuple
    block: tuple
    args: tuple
    sizes: tuple = ()
    tolerance: float = 1e-5  # relative to the largest value of an array
    repeatable: bool = True  # a second launch does the same work
    name: str = field(default="")

    def __post_init__(self):
        self.name = self.name or self.kernel.py_func.__name__
        self.fastmath = bool(self.kernel.targetoptions.get("fastmath"))


def blocks(n, block=256):
    return (n + block - 1) // block


@cuda.jit(device=True)
def block_sum(parts, half):
    """The sum of what the threads of a block, twice as many as `half`, have put into shared memory: a tree."""
    t = cuda.threadIdx.x
    cuda.syncthreads()
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    return parts[0]


def families(names=()):
    return [(name, import_module(f"{__name__}.{name}")) for name in (names or FAMILIES)]
