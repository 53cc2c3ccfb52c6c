"""What numba.cuda.decorators has: cuda.jit and cuda.declare_device."""

from .._krait import cuda_jit as jit
from ._linking import declare_device

__all__ = ["declare_device", "jit"]
