"""Device arrays by the names that numba.cuda.cudadrv.devicearray has."""

import numpy as np

from ... import _krait
from .._arrays import is_cuda_array

# One class for arrays and for single records; pinned, mapped and managed arrays are NumPy's.
DeviceNDArray = DeviceNDArrayBase = DeviceRecord = _krait.DeviceArray
PinnedArray = MappedNDArray = ManagedNDArray = np.ndarray

__all__ = [
    "DeviceNDArray", "DeviceNDArrayBase", "DeviceRecord", "ManagedNDArray", "MappedNDArray", "PinnedArray",
    "auto_device", "from_array_like", "from_record_like", "is_cuda_ndarray", "require_cuda_ndarray",
    "verify_cuda_ndarray_interface",
]


def is_cuda_ndarray(obj):
    """Whether it is an array in device memory."""
    return is_cuda_array(obj)


def require_cuda_ndarray(obj):
    """Raises ValueError for what is no array in device memory."""
    if not is_cuda_ndarray(obj):
        raise ValueError("this needs an array in device memory: cuda.to_device() makes one")


def verify_cuda_ndarray_interface(obj):
    """Raises for what is no array in device memory, or lacks an attribute that such have."""
    require_cuda_ndarray(obj)
    for name in "shape", "strides", "dtype", "size":
        getattr(obj, name)


def from_array_like(ary, stream=0, gpu_data=None):
    """A device array of the shape, dtype and order of another; of its elements nothing is said."""
    if gpu_data is not None:
        raise TypeError("memory is made here: cuda.from_cuda_array_interface() takes that of others")
    return _krait.device_array_like(ary, stream=stream)


from_record_like = from_array_like


def auto_device(obj, stream=0, copy=True, user_explicit=False):
    """(a device array of the elements, whether it was made here)"""
    if is_cuda_array(obj):
        return _krait.as_cuda_array(obj), False
    return _krait.to_device(obj, stream=stream, copy=copy), True
