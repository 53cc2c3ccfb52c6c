"""The driver's failures by the names that numba.cuda.cudadrv.enums has: CUDA_ERROR_OUT_OF_MEMORY is 2, as is `code` of
that CudaAPIError."""

from ... import _krait

CUDA_SUCCESS = 0
globals().update((name, number) for number, name, *_ in _krait.driver_errors())
__all__ = ["CUDA_SUCCESS", *(name for _, name, *_ in _krait.driver_errors())]
