"""transpose(), by the place that numba.cuda has for it."""

from ... import _krait

__all__ = ["transpose"]


def transpose(a, b=None):
    """The transpose of an array of two dimensions in new memory, or in `b`, an array of the transposed shape and the
    same dtype."""
    a = _krait.as_cuda_array(a) if not isinstance(a, _krait.DeviceArray) else a
    if a.ndim != 2:
        raise ValueError(f"transpose() takes an array of two dimensions, not of {a.ndim}")
    if b is None:
        b = _krait.device_array(a.shape[::-1], a.dtype)
    b.copy_to_device(a.T)
    return b
