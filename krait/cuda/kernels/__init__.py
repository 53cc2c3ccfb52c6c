"""Kernels that numba.cuda.kernels has: of cuda.Reduce, and transpose()."""
