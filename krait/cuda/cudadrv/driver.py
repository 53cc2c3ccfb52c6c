"""The driver by the names that numba.cuda.cudadrv.driver has."""

from ... import _krait
from ...errors import CudaAPIError
from .._contexts import Context, MemoryInfo, profiling
from .._ipc import IpcHandle
from .._memory import (
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    MappedMemory,
    MemoryPointer,
    PinnedMemory,
    set_memory_manager,
)
from .error import CudaDriverError, CudaSupportError, LinkerError

Device, Event, Stream = _krait.Device, _krait.Event, _krait.Stream

event_elapsed_time, profile_start, profile_stop = _krait.event_elapsed_time, _krait.profile_start, _krait.profile_stop
ERROR_MAP = {number: name for number, name, *_ in _krait.driver_errors()}

__all__ = [
    "BaseCUDAMemoryManager", "Context", "CudaAPIError", "CudaDriverError", "CudaSupportError", "Device", "ERROR_MAP",
    "Event", "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager", "IpcHandle", "LinkerError", "MappedMemory",
    "MemoryInfo", "MemoryPointer", "PinnedMemory", "Stream", "device_ctypes_pointer", "device_memory_size",
    "device_pointer", "driver", "event_elapsed_time", "get_version", "host_memory_size", "host_pointer",
    "is_device_memory", "profile_start", "profile_stop", "profiling", "set_memory_manager",
]


class _Driver:
    """What there is of the driver itself."""

    def get_version(self):
        return _krait.driver_version()

    def get_device_count(self):
        return len(_krait.list_devices())

    def get_device(self, devnum=0):
        return _krait.list_devices()[devnum]

    @property
    def is_available(self):
        return _krait.is_available()

    @property
    def initialization_error(self):
        return None if _krait.is_available() else _krait.choice_reason()


driver = _Driver()


def device_pointer(obj):
    return obj.device_ctypes_pointer.value


def device_memory_size(devmem):
    return devmem.nbytes


def device_ctypes_pointer(obj):
    return obj.device_ctypes_pointer


def get_version():
    """The version of CUDA that the driver is for, as (major, minor); None where there is none."""
    return _krait.driver_version()


def host_pointer(obj):
    """The address of a NumPy array's memory."""
    return obj if isinstance(obj, int) else obj.ctypes.data


def host_memory_size(obj):
    return obj.nbytes


def is_device_memory(obj):
    """Whether it is a device array, or memory of a memory manager."""
    return isinstance(obj, (_krait.DeviceArray, MemoryPointer)) or bool(getattr(obj, "__cuda_memory__", False))
