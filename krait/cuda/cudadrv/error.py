"""Errors by the names that numba.cuda.cudadrv.error has."""

from ...errors import CudaError, CudaSupportError

__all__ = ["CudaDriverError", "CudaRuntimeError", "CudaSupportError", "LinkerError", "NvvmError", "NvvmSupportError"]

CudaDriverError = CudaRuntimeError = CudaError
NvvmError = NvvmSupportError = LinkerError = CudaError
