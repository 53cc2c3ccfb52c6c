"""The driver by the names that numba.cuda.cudadrv.driver has."""

from ... import _krait
from ...errors import CudaAPIError
from .._contexts import Context, MemoryInfo, profiling
from .._copies import (
    device_extents,
    device_memory_depends,
    device_memory_size,
    device_memset,
    device_to_device,
    device_to_host,
    host_memory_extents,
    host_to_device,
    memory_size_from_info,
)
from .._ipc import IpcHandle
from .._memory import (
    AutoFreePointer,
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    MappedMemory,
    MemoryPointer,
    PinnedMemory,
    set_memory_manager,
)
from .._modules import Function, FunctionAttr, Linker, Module, launch_kernel
from . import enums
from .error import CudaDriverError, CudaSupportError, LinkerError

Device, Event, Stream = _krait.Device, _krait.Event, _krait.Stream

event_elapsed_time, profile_start, profile_stop = _krait.event_elapsed_time, _krait.profile_start, _krait.profile_stop
ERROR_MAP = {number: name for number, name, *_ in _krait.driver_errors()}

__all__ = [
    "AutoFreePointer", "BaseCUDAMemoryManager", "Context", "CudaAPIError", "CudaDriverError", "CudaSupportError",
    "DeadMemoryError", "Device", "Driver", "ERROR_MAP", "Event", "Function", "FunctionAttr", "GetIpcHandleMixin",
    "HostOnlyCUDAMemoryManager", "IpcHandle", "Linker", "LinkerError", "MIN_REQUIRED_CC", "ManagedMemory",
    "ManagedOwnedPointer", "MappedMemory", "MappedOwnedPointer", "MemoryInfo", "MemoryPointer", "Module",
    "NumbaCUDAMemoryManager", "OwnedPointer", "PinnedMemory", "SUPPORTS_IPC", "Stream", "USE_NV_BINDING",
    "device_ctypes_pointer", "device_extents", "device_memory_depends", "device_memory_size", "device_memset",
    "device_pointer", "device_to_device", "device_to_host", "driver", "enums", "event_elapsed_time", "get_version",
    "host_memory_extents", "host_memory_size", "host_pointer", "host_to_device", "is_device_memory", "launch_kernel",
    "load_module_image", "memory_size_from_info", "profile_start", "profile_stop", "profiling", "require_device_memory",
    "set_memory_manager",
]


# One class of memory: who gives it back, and who else refers to it, is the object's own matter.
ManagedMemory = OwnedPointer = ManagedOwnedPointer = MemoryPointer
MappedOwnedPointer = MappedMemory
NumbaCUDAMemoryManager = HostOnlyCUDAMemoryManager
DeadMemoryError = RuntimeError  # what memory that is gone is refused with
MIN_REQUIRED_CC = (5, 0)
SUPPORTS_IPC = True
USE_NV_BINDING = False


class Driver:
    """What there is of the driver itself."""

    is_initialized = True

    def ensure_initialized(self):
        """Raises CudaSupportError where kernels run on the host device."""
        if not _krait.is_available():
            raise CudaSupportError(_krait.choice_reason())

    def get_version(self):
        """The version of CUDA that the driver is for, as (major, minor); None where there is none."""
        return _krait.driver_version()

    def get_active_context(self):
        """The context of the thread's device."""
        return Context(_krait.get_current_device())

    def reset(self):
        """Resets the devices that were used."""
        from .._contexts import close

        close()

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


driver = Driver()


def device_pointer(obj):
    return obj.device_ctypes_pointer.value


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


def load_module_image(context, image, extra_options=None):
    """context.create_module_image(image)"""
    return context.create_module_image(image)


def require_device_memory(obj):
    """Raises TypeError for what is neither a device array nor memory of a device."""
    if not is_device_memory(obj):
        raise TypeError(f"this needs memory of a device, a device array or a cuda.MemoryPointer, not {obj!r}")


def is_device_memory(obj):
    """Whether it is a device array, or memory of a memory manager."""
    return isinstance(obj, (_krait.DeviceArray, MemoryPointer)) or bool(getattr(obj, "__cuda_memory__", False))
