"""Arrays in memory that the host and a device share, and arrays of other libraries."""

import contextlib

import numpy as np

from .. import _krait
from ._memory import locked


def _like(make, array, **options):
    array = np.asarray(array) if not hasattr(array, "strides") else array
    fortran = np.ndim(array) > 1 and array.strides[0] < array.strides[-1]
    return make(array.shape, dtype=array.dtype, order="F" if fortran else "C", **options)


def pinned_array_like(ary):
    """A page-locked array of the shape, dtype and order of another."""
    return _like(_krait.pinned_array, ary)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """An array that kernels reach where it lies, of the shape, dtype and order of another."""
    return _like(_krait.mapped_array, ary, stream=stream, portable=portable, wc=wc)


@contextlib.contextmanager
def pinned(*arylist):
    """Locks the pages of host arrays while the block runs: copies to and from them are faster, and asynchronous."""
    with contextlib.ExitStack() as stack:
        for array in arylist:
            stack.callback(_krait.unlock_memory, locked(array, False))
        yield


@contextlib.contextmanager
def mapped(*arylist, **options):
    """Device arrays on the memory of host arrays, which kernels reach where it lies while the block runs."""
    if options.keys() - {"stream", "portable"}:
        raise TypeError(f"mapped() takes arrays and the options stream and portable, not {sorted(options)}")
    with contextlib.ExitStack() as stack:
        views = []
        for array in arylist:
            holder, view = locked(array, True)
            stack.callback(_krait.unlock_memory, holder)
            views.append(view)
        yield views[0] if len(views) == 1 else tuple(views)


def is_cuda_array(obj):
    """Whether it has __cuda_array_interface__."""
    return isinstance(obj, _krait.DeviceArray) or hasattr(type(obj), "__cuda_array_interface__") or hasattr(
        obj, "__cuda_array_interface__"
    )


class _Described:
    def __init__(self, description, owner):
        self.__cuda_array_interface__, self.owner = description, owner


def from_cuda_array_interface(desc, owner=None, sync=None):
    """A device array on the memory that a __cuda_array_interface__ describes; `owner` is kept alive with it.  `sync`:
    whether the work of the stream that it names is waited for; None: unless KRAIT_CUDA_ARRAY_INTERFACE_SYNC is 0."""
    described = _Described(desc, owner)
    return _krait.as_cuda_array(described) if sync is None else _krait.as_cuda_array(described, sync=sync)
