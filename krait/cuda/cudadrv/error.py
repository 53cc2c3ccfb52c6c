"""Errors by the names that numba.cuda.cudadrv.error has."""

from ...errors import CudaError

CudaDriverError = CudaRuntimeError = CudaSupportError = CudaError
NvvmError = NvvmSupportError = LinkerError = CudaError
