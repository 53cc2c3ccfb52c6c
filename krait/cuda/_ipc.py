"""Device arrays that several processes have: handles by which another process opens the memory of an array, on a GPU
and on the host device."""

import contextlib
import functools
import os
import sys
import weakref

import numpy as np

from .. import _krait


class IpcHandle:
    """Names memory of a device for other processes; goes to them by pickle.  In the process whose memory it is, it
    keeps that."""

    __slots__ = ("handle", "offset", "size", "source", "_opened", "_base")

    def __init__(self, handle, offset=0, size=None, source=None, base=None):
        self.handle, self.offset, self.size, self.source = bytes(handle), offset, size, source
        self._opened, self._base = None, base

    def __reduce__(self):
        return IpcHandle, (self.handle, self.offset, self.size, self.source)

    def _device(self):
        """The device of this process that the memory lies on; the thread's if none has that name."""
        for device in _krait.list_devices():
            if device.uuid == self.source:
                return device
        return _krait.get_current_device()

    def open_array(self, context, shape, dtype, strides=None):
        """A device array on the memory, on the device where that lies."""
        with self._device():
            array = _krait.open_shared(self.handle, self.offset, shape, np.dtype(dtype), strides)
        self._opened = weakref.ref(array)
        return array

    def open_direct(self, context=None):
        """The memory as an array of bytes."""
        return self.open_array(context, self.size, np.uint8)

    def open_staged(self, context=None):
        """The bytes as they are now, as an array on the context's device, or else on the thread's."""
        device = context.device if context is not None else _krait.get_current_device()
        with self.open_direct() as array, device:
            copy = _krait.device_array(self.size, np.uint8)
            copy.copy_to_device(array)
        self._opened = weakref.ref(copy)
        return copy

    def open(self, context=None):
        """The memory as an array of bytes; what lies on a device that the context's does not reach, as it is now."""
        there = self._device()
        here = there if context is None else context.device
        reaches = here.id == there.id or here._reach(there, False)
        return self.open_direct(context) if reaches else self.open_staged(context)

    def close(self):
        """Gives back what was opened last; the array is of no use then."""
        array, self._opened = self._opened and self._opened(), None
        if array is not None:
            array.free()

    def __repr__(self):
        return f"<krait handle of {self.size} bytes>"


class IpcArrayHandle:
    """A handle with what it takes to make the array again: `with handle as array:`, or open() and close()."""

    def __init__(self, ipc_handle, array_desc):
        self._ipc_handle, self._desc, self._array = ipc_handle, array_desc, None

    def open(self):
        """The array; its memory is that of the process the handle comes from."""
        if self._array is not None:
            raise ValueError("the handle is open already")
        self._array = self._ipc_handle.open_array(None, **self._desc)
        return self._array

    def close(self):
        """Gives the memory back to the other process; the array is of no use then."""
        if self._array is not None:
            self._array.free()
            self._array = None

    def __enter__(self):
        return self.open()

    def __exit__(self, *error):
        array, self._array = self._array, None
        if array is not None:
            array.__exit__(*error)

    def __reduce__(self):
        return IpcArrayHandle, (self._ipc_handle, self._desc)


@functools.lru_cache(maxsize=1)
def _forget_at_the_end(util, process):
    """A forked worker of multiprocessing ends without what a process does at its end, but by multiprocessing's own list
    of what is to be done: what this process shares has no name then."""
    util.Finalize(None, _krait.forget_shared, exitpriority=0)


def memory_handle(memory):
    """The handle of a device array, or of memory of a memory manager."""
    from ._contexts import current_manager

    manager = current_manager()
    if manager and not isinstance(memory, _krait.DeviceArray):
        return manager.get_ipc_handle(memory)
    owner = memory.base if isinstance(memory.base, _krait.DeviceArray) else memory
    if manager and hasattr(owner.base, "device_pointer_value"):
        start = memory.device_ctypes_pointer.value - owner.base.device_pointer_value
        return manager.get_ipc_handle(owner.base.view(start, start + memory.nbytes) if start else owner.base)
    handle, offset = _krait.share_array(memory)
    if "multiprocessing.util" in sys.modules:
        _forget_at_the_end(sys.modules["multiprocessing.util"], os.getpid())
    with _krait.home_of(memory):
        source = _krait.get_current_device().uuid
    return IpcHandle(handle, offset, memory.nbytes, source, memory)


def handle_of(array):
    """array.get_ipc_handle()"""
    strides = None if array.is_c_contiguous() else array.strides
    return IpcArrayHandle(memory_handle(array), {"shape": array.shape, "dtype": array.dtype, "strides": strides})


@contextlib.contextmanager
def open_ipc_array(handle, shape, dtype, strides=None, offset=0):
    """A block with a device array on memory of another process, named by an IpcHandle or the bytes of one."""
    if isinstance(handle, IpcHandle):
        device, offset = handle._device(), offset + handle.offset
        handle = handle.handle
    else:
        device = _krait.get_current_device()
    with device:
        array = _krait.open_shared(bytes(handle), offset, shape, np.dtype(dtype), strides)
    with array:
        yield array
