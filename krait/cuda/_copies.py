"""Copies of bytes between host and device, by the names and arguments that numba.cuda.cudadrv.driver has.

Memory of a device is a device array, a cuda.MemoryPointer or an address; memory of the host a NumPy array, another
object with a buffer, or an address.  With a stream a copy is queued there; without, it is done when the call returns.
"""

import ctypes
import weakref

import numpy as np

from .. import _krait
from ._arrays import from_cuda_array_interface
from ._memory import MemoryPointer, bytes_around


def _at(address, size):
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def _address_of(memory):
    """Of device memory that is no device array; TypeError: it is none."""
    if isinstance(memory, int):
        return memory
    for name in "device_pointer_value", "device_ctypes_pointer", "value":
        found = getattr(memory, name, None)
        found = getattr(found, "value", found)
        if isinstance(found, int):
            return found
    raise TypeError(f"memory of a device is a device array, a cuda.MemoryPointer or an address, not {memory!r}")


def _check_alive(memory):
    """RuntimeError: the memory, or what it is a part of, has been freed."""
    while isinstance(memory, MemoryPointer):
        if not memory.is_alive:
            raise RuntimeError("the memory is gone: it was freed")
        memory = memory.owner


def _checked(flat, size, what):
    if size < 0 or flat.size < size:
        raise ValueError(f"{size} bytes of memory of {flat.size} bytes: {what}")
    return flat[:size]


def device_bytes(memory, size):
    """The first `size` bytes, as a device array of uint8 on the memory."""
    if isinstance(memory, _krait.DeviceArray):
        if not (memory.is_c_contiguous() or memory.is_f_contiguous()):
            raise ValueError("the elements of the device array have gaps: copy() makes one without")
        return _checked(memory.ravel("K").view(np.uint8), size, "the device array is shorter")
    _check_alive(memory)
    known = getattr(memory, "size", None)
    if isinstance(known, int) and not 0 <= size <= known:
        raise ValueError(f"{size} bytes of memory of {known} bytes")
    address = _address_of(memory)
    if _krait.get_current_device().is_host:
        return _krait.from_dlpack(_at(address, size))
    owner = None if isinstance(memory, int) else memory
    interface = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}
    return from_cuda_array_interface(interface, owner, sync=False)


def host_bytes(memory, size, written):
    """The first `size` bytes, as a NumPy array of uint8 on the memory."""
    if isinstance(memory, int):
        return _at(memory, size)
    pointer = getattr(memory, "host_pointer", None)
    if pointer is not None:
        return _at(getattr(pointer, "value", pointer), size)
    array = memory if isinstance(memory, np.ndarray) else np.frombuffer(memory, np.uint8)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("the elements of the host array have gaps: np.ascontiguousarray() makes one without")
    if written and not array.flags.writeable:
        raise ValueError("the memory of the host is read-only")
    flat = array.ravel("K")
    return _checked(flat.view(np.uint8), size, "the array of the host is shorter")


def host_to_device(dst, src, size, stream=0):
    """Copies `size` bytes from the host."""
    device_bytes(dst, size).copy_to_device(host_bytes(src, size, False), stream=stream)


def device_to_host(dst, src, size, stream=0):
    """Copies `size` bytes to the host."""
    device_bytes(src, size).copy_to_host(host_bytes(dst, size, True), stream=stream)


def device_to_device(dst, src, size, stream=0):
    """Copies `size` bytes within a device, or from one to another."""
    device_bytes(dst, size).copy_to_device(device_bytes(src, size), stream=stream)


def device_memset(dst, val, size, stream=0):
    """Sets `size` bytes to `val`, 0 to 255."""
    if not 0 <= val <= 255:
        raise ValueError(f"a byte is 0 to 255, not {val}")
    device_bytes(dst, size).fill(val, stream=stream)


def device_extents(devmem):
    """(address of the first byte, of the one behind the last)"""
    memory = devmem.gpu_data if isinstance(devmem, _krait.DeviceArray) else devmem
    start = _address_of(memory)
    return start, start + device_memory_size(memory)


def device_memory_size(devmem):
    """Bytes from the first to the last."""
    memory = devmem.gpu_data if isinstance(devmem, _krait.DeviceArray) else devmem
    size = getattr(memory, "_cuda_memsize_", None)
    return memory.nbytes if size is None else size


def host_memory_extents(obj):
    """(address of the first byte of a NumPy array, of the one behind the last)"""
    return np.lib.array_utils.byte_bounds(obj)


def memory_size_from_info(shape, strides, itemsize):
    """Bytes from the lowest of an array to its highest."""
    low, high = bytes_around(shape, strides, itemsize)
    return high - low


def device_memory_depends(devmem, *objs):
    """Keeps objects alive as long as memory of a device is."""
    weakref.finalize(devmem, objs.__len__).atexit = False
