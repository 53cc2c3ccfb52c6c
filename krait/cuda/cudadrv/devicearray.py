"""Device arrays by the names that numba.cuda.cudadrv.devicearray has."""

import numpy as np

from ... import _krait
from .._arrays import is_cuda_array
from .._ipc import IpcArrayHandle

# One class for arrays and for single records; pinned, mapped and managed arrays are NumPy's.
DeviceNDArray = DeviceNDArrayBase = DeviceRecord = _krait.DeviceArray
PinnedArray = MappedNDArray = ManagedNDArray = np.ndarray

__all__ = [
    "DeviceNDArray", "DeviceNDArrayBase", "DeviceRecord", "IpcArrayHandle", "ManagedNDArray", "MappedNDArray",
    "PinnedArray", "array_core", "auto_device", "check_array_compatibility", "errmsg_contiguous_buffer",
    "from_array_like", "from_record_like", "is_contiguous", "is_cuda_ndarray", "require_cuda_ndarray",
    "verify_cuda_ndarray_interface",
]


errmsg_contiguous_buffer = "the elements of the array have gaps: a contiguous array is needed"


def is_contiguous(ary):
    """Whether the elements lie without gaps, in C order or in Fortran order."""
    return ary.flags.c_contiguous or ary.flags.f_contiguous


def array_core(ary):
    """The elements that an array really has: one of each axis that is broadcast, along which the stride is 0."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(slice(None) if stride else 0 for stride in ary.strides)]


def check_array_compatibility(ary1, ary2):
    """Raises for arrays of which one cannot be copied to the other as it is: they differ in shape or dtype."""
    if ary1.dtype != ary2.dtype:
        raise TypeError(f"the arrays differ in dtype: {ary1.dtype} and {ary2.dtype}")
    if np.squeeze(np.empty(ary1.shape, "u1")).shape != np.squeeze(np.empty(ary2.shape, "u1")).shape:
        raise ValueError(f"the arrays differ in shape: {ary1.shape} and {ary2.shape}")


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
