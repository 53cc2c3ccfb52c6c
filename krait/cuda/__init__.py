"""CUDA kernels: on an NVIDIA GPU if there is one, else compiled for the cores of the host."""

from .. import _krait
from .._krait import (
    Device,
    DeviceArray,
    Event,
    Kernel,
    Launcher,
    Stream,
    as_cuda_array,
    choice_reason,
    copy_to_host,
    cuda_jit as jit,
    default_stream,
    detect,
    device_array,
    device_array_like,
    driver_version,
    event,
    event_elapsed_time,
    external_stream,
    get_current_device,
    is_available,
    legacy_default_stream,
    list_devices,
    per_thread_default_stream,
    pinned_array,
    profile_start,
    profile_stop,
    select_device,
    stream,
    synchronize,
    to_device,
)

globals().update(_krait.cuda_names)
globals().update((name, type_) for name, type_ in _krait.types.items() if isinstance(type_, _krait.types["Type"]))


def __getattr__(name):
    if name == "gpus":
        return list_devices()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
