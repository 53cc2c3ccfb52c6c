"""Device arrays by the names that numba.cuda.cudadrv.devicearray has."""

from ... import _krait
from .._arrays import is_cuda_array

DeviceNDArray = DeviceNDArrayBase = _krait.DeviceArray


def is_cuda_ndarray(obj):
    """Whether it is an array in device memory."""
    return is_cuda_array(obj)


def auto_device(obj, stream=0, copy=True, user_explicit=False):
    """(a device array of the elements, whether it was made here)"""
    if is_cuda_array(obj):
        return _krait.as_cuda_array(obj), False
    return _krait.to_device(obj, stream=stream, copy=copy), True
