"""Kernels by the name that numba.cuda.dispatcher has."""

from .. import _krait

CUDADispatcher = _krait.Kernel

__all__ = ["CUDADispatcher"]
