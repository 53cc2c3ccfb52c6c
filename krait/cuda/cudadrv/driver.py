"""The driver by the names that numba.cuda.cudadrv.driver has."""

from ... import _krait
from ...errors import CudaAPIError
from .._contexts import Context, MemoryInfo
from .error import CudaDriverError, CudaSupportError, LinkerError

Device, Event, Stream = _krait.Device, _krait.Event, _krait.Stream

__all__ = [
    "Context", "CudaAPIError", "CudaDriverError", "CudaSupportError", "Device", "Event", "LinkerError",
    "MemoryInfo", "Stream", "device_memory_size", "device_pointer", "driver",
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
