"""CUDA kernels: on an NVIDIA GPU if there is one, else compiled for the cores of the host."""

from os import environ as _environ

from .. import _krait
from .._krait import (
    Device,
    DeviceArray,
    Event,
    Graph,
    In,
    InOut,
    Kernel,
    Launcher,
    Out,
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
    from_dlpack,
    get_current_device,
    graph,
    is_available,
    legacy_default_stream,
    list_devices,
    managed_array,
    mapped_array,
    per_thread_default_stream,
    pinned_array,
    profile_start,
    profile_stop,
    select_device,
    stream,
    synchronize,
    to_device,
)

from .. import literal_unroll

globals().update(_krait.cuda_names())
globals().update(
    (name, type_)
    for name, type_ in _krait.types.items()
    if isinstance(type_, _krait.types["Type"]) and name not in ("unicode_type", "bytes_type")
)


# Names that are imported when they are first used: importing krait.cuda is a part of every program's start.
_LATER = {
    "_arrays": "from_cuda_array_interface is_cuda_array mapped mapped_array_like pinned pinned_array_like",
    "_compilation": "compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device",
    "_contexts": "Context MemoryInfo MemoryReport close cuda_error current_context defer_cleanup gpus "
    "is_bfloat16_supported is_float16_supported is_fp8_supported is_supported_version memory_report profiling "
    "require_context runtime",
    "_ipc": "IpcArrayHandle IpcHandle open_ipc_array",
    "_linking": "Archive CUSource Cubin Fatbin LTOIR LinkableCode Object PTXSource declare_device",
    "_memory": "BaseCUDAMemoryManager GetIpcHandleMixin HostOnlyCUDAMemoryManager MappedMemory MemoryPointer "
    "PinnedMemory set_memory_manager",
    "_profile": "profile_mark profile_range",
    "_reduction": "Reduce reduce",
    "_scan": "Scan scan",
}
_HOME = {name: module for module, names in _LATER.items() for name in names.split()}

# CUDA's names of the small vectors: float4 is float32x4.
_C_NAMES = {"char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "float": "float32",
            "double": "float64"}
for _c, _name in [*_C_NAMES.items(), *(("u" + c, "u" + name) for c, name in _C_NAMES.items() if "float" not in name)]:
    globals().update((f"{_c}{n}", globals()[f"{_name}x{n}"]) for n in range(1, 5))
del _c, _name


def vectorize(ftylist_or_function=None, **options):
    """krait.vectorize for a device, as @cuda.vectorize(["float32(float32)"])."""
    from .. import vectorize as host_vectorize

    given = () if ftylist_or_function is None else (ftylist_or_function,)
    return host_vectorize(*given, **{"target": "cuda", **options})


def guvectorize(ftylist, signature, **options):
    """krait.guvectorize for a device, as @cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")."""
    from .. import guvectorize as host_guvectorize

    return host_guvectorize(ftylist, signature, **{"target": "cuda", **options})


_MODULES = ("api", "args", "bf16", "cg", "compiler", "config", "cudadrv", "decorators", "device_init", "dispatcher",
            "errors", "extending", "fp16", "fp8", "kernels", "launchconfig", "random", "testing", "types", "typing",
            "vector_types")

if _environ.get("KRAIT_CUDA_MEMORY_MANAGER"):
    from ._memory import take_from_environment as _take

    _take()

HAS_NUMBA = False
implementation = "Krait"
_DRIVER_MODULES = ("devicearray", "devices", "driver")  # of cudadrv


_MADE_OF_NUMPYS = ("cuda.to_device(a) makes a device array of one of NumPy's, cuda.device_array(shape, dtype) one that "
                   "is not filled")
_INSTEAD = {  # names that programs for CuPy, PyTorch and C have in this place
    **dict.fromkeys(("array", "asarray", "empty", "full", "ones", "zeros"), _MADE_OF_NUMPYS),
    **dict.fromkeys(("asnumpy", "to_cpu", "to_host"), "a device array has a.copy_to_host()"),
    "current_stream": "it is cuda.default_stream()",
    "device_count": "it is len(cuda.list_devices())",
    "dim3": "sizes of a launch are ints and tuples: kernel[(2, 2), (16, 16)]",
    "kernel": "it is @cuda.jit",
    "sync": "it is cuda.synchronize(), or in a kernel cuda.syncthreads()",
}


def __getattr__(name):
    from importlib import import_module

    if name in _HOME:
        value = globals()[name] = getattr(import_module("." + _HOME[name], __name__), name)
        return value
    if name in _MODULES:
        return import_module("." + name, __name__)
    if name in _DRIVER_MODULES:
        return import_module(".cudadrv." + name, __name__)
    if name in ("carray", "farray"):
        return getattr(import_module("krait"), name)
    if name == "CudaSupportError":
        return import_module("krait.errors").CudaSupportError
    from .._missing import missing

    raise missing(__name__, name, __dir__(), _INSTEAD.get(name))


def __dir__():
    others = "carray", "farray", "CudaSupportError", *_DRIVER_MODULES
    return sorted({*globals(), *_HOME, *_MODULES, *others})
