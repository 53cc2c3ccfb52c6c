"""Errors by the names that numba.cuda.cudadrv.error has."""

from ...errors import CudaError, CudaSupportError, KraitWarning

__all__ = [
    "CCSupportError", "CudaDriverError", "CudaRuntimeError", "CudaSupportError", "LinkerError", "NvrtcCompilationError",
    "NvrtcError", "NvrtcSupportError", "NvvmError", "NvvmSupportError", "NvvmWarning",
]

CudaDriverError = CudaRuntimeError = CudaError
NvvmError = NvvmSupportError = LinkerError = CudaError
NvrtcError = NvrtcCompilationError = NvrtcSupportError = CudaError
CCSupportError = CudaSupportError
NvvmWarning = KraitWarning
