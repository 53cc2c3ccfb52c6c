"""Devices and their contexts: cuda.gpus, cuda.current_context() and what asks about the driver."""

import collections
import contextlib
import functools
import sys

from .. import _krait
from ..errors import CudaSupportError

MemoryInfo = collections.namedtuple("MemoryInfo", "free,total")


class MemoryReport(
    collections.namedtuple("MemoryReport", "arrays,array_bytes,most_bytes,kept_bytes,pool_used,pool_bytes,free,total")
):
    """Where the memory of a device is: how many device arrays there are, their bytes, the most that these have been,
    bytes kept for the next small arrays, in use of the driver's pool, in that pool, free on the device, in all."""

    __slots__ = ()

    def __str__(self):
        return (
            f"{self.arrays} device arrays have {_megabytes(self.array_bytes)}, at most {_megabytes(self.most_bytes)}; "
            f"{_megabytes(self.kept_bytes)} are kept for small ones; the driver's pool has "
            f"{_megabytes(self.pool_bytes)}, of which {_megabytes(self.pool_used)} are in use; "
            f"{_megabytes(self.free)} of {_megabytes(self.total)} are free"
        )


def _megabytes(count):
    return f"{count / 2**20:.1f} MiB"


def memory_report():
    """Where the memory of the thread's device is; str() of it is a sentence."""
    return MemoryReport(*_krait.get_current_device()._memory_report())


class DeviceList:
    """The devices: a sequence; `with cuda.gpus[1]:` makes one the thread's."""

    @property
    def lst(self):
        return _krait.list_devices()

    @property
    def current(self):
        return _krait.get_current_device()

    def __getitem__(self, number):
        try:
            return self.lst[number]
        except IndexError:
            raise IndexError(f"there is no device {number}: this machine has {len(self.lst)}") from None

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.lst)

    def __str__(self):
        return ", ".join(map(str, self.lst))

    def __repr__(self):
        return f"<krait devices: {self}>"


gpus = DeviceList()


class _Deallocations:
    """A list of frees that is always empty; clear() waits for the device, behind which they are."""

    is_disabled = False

    def __init__(self, device):
        self._device = device

    def clear(self):
        self._device.synchronize()

    def __len__(self):
        return 0


class Context:
    """What a program has on a device; a device has one, which other libraries of the process share."""

    def __init__(self, device):
        self._device = device

    @property
    def device(self):
        return self._device

    @property
    def id(self):
        return self.device.id

    @property
    def deallocations(self):
        """What waits to be freed: nothing does, memory is given back in the order of the streams."""
        return _Deallocations(self.device)

    def get_memory_info(self):
        manager = current_manager()
        return manager.get_memory_info() if manager else MemoryInfo(*self.device.get_memory_info())

    def synchronize(self):
        self.device.synchronize()

    @property
    def memory_manager(self):
        """That of cuda.set_memory_manager; None: Krait's own memory."""
        with self.device:
            return current_manager()

    def prepare_for_use(self):
        """Nothing: a context is made when it is first used."""

    def push(self):
        self.device.__enter__()

    def pop(self):
        self.device.__exit__(None, None, None)

    def reset(self):
        self.device.reset()

    def can_access_peer(self, peer_context):
        """Whether kernels of this device may reach memory of another: of a context, or of a device's number."""
        return self.device._reach(_device_of(peer_context), False)

    def enable_peer_access(self, peer_context, flags=0):
        """Lets kernels of this device reach memory of the other."""
        if flags:
            raise ValueError("flags must be 0")
        self.device._reach(_device_of(peer_context), True)

    def get_active_blocks_per_multiprocessor(self, func, blocksize, memsize, flags=None):
        """Blocks of a kernel that a multiprocessor runs at once."""
        blocks = func.get_active_blocks_per_multiprocessor(blocksize, memsize)
        return max(blocks.values(), default=0) if isinstance(blocks, dict) else blocks

    def get_max_potential_block_size(self, func, b2d_func, memsize, blocksizelimit, flags=None):
        """(blocks, threads of a block) that occupy the device best: the threads with which most run at once, and the
        fewest blocks that do; a block has `memsize` bytes of dynamic shared memory, or what `b2d_func` gives for its
        threads, and at most `blocksizelimit` threads unless that is 0."""
        device = self.device
        with device:
            most = func.get_max_threads_per_block()
            most = min(most.values(), default=0) if isinstance(most, dict) else most
            if blocksizelimit > 0:
                most = min(most, blocksizelimit)
            best = (0, 0, 0)
            for threads in {most, *range(device.WARP_SIZE, most + 1, device.WARP_SIZE)} - {0}:
                shared = b2d_func(threads) if b2d_func else memsize
                blocks = self.get_active_blocks_per_multiprocessor(func, threads, shared)
                best = max(best, (blocks * threads, threads, blocks))
            return best[2] * device.MULTIPROCESSOR_COUNT, best[1]

    def create_module_ptx(self, ptx):
        """PTX text, loaded as it is: a module whose get_function(name).handle other libraries launch."""
        from ._modules import load_module

        return load_module(self, ptx, "create_module_ptx")

    def create_module_image(self, image):
        """The same of machine code: a cubin or a fatbin."""
        from ._modules import load_module

        return load_module(self, image, "create_module_image")

    def unload_module(self, module):
        if not hasattr(module, "unload"):
            raise TypeError(f"unload_module() takes a module that this context made, not {type(module).__name__}")
        module.unload()

    def mempin(self, owner, pointer, size, mapped=False):
        """Locks the pages of the array `owner` as long as the result is kept."""
        from ._memory import pin

        with self.device:
            manager = current_manager()
            return manager.mempin(owner, pointer, size, mapped) if manager else pin(self, owner, pointer, size, mapped)

    def create_stream(self):
        with self.device:
            return _krait.stream()

    def create_default_stream(self):
        with self.device:
            return _krait.default_stream()

    def create_legacy_default_stream(self):
        with self.device:
            return _krait.legacy_default_stream()

    def create_per_thread_default_stream(self):
        with self.device:
            return _krait.per_thread_default_stream()

    def create_external_stream(self, ptr):
        with self.device:
            return _krait.external_stream(ptr)

    def create_event(self, timing=True):
        with self.device:
            return _krait.event(timing)

    def memalloc(self, bytesize):
        """Memory of the device: a MemoryPointer."""
        from ._memory import AutoFreePointer, memory_of

        with self.device:
            manager = current_manager()
            if manager:
                return manager.memalloc(bytesize)
            return memory_of(_krait.device_array(bytesize, "u1"), AutoFreePointer)

    def get_ipc_handle(self, memory):
        """What another process opens the memory by: of a device array, or of memory of a memory manager."""
        from ._ipc import memory_handle

        return memory_handle(memory)

    def open_ipc_handle(self, handle, size):
        """Memory of another process, as an array of bytes."""
        from ._ipc import IpcHandle

        handle = handle if isinstance(handle, IpcHandle) else IpcHandle(handle)
        with self.device:
            return _krait.open_shared(handle.handle, handle.offset, size, "u1", None)

    def memhostalloc(self, bytesize, mapped=False, portable=False, wc=False):
        """Page-locked memory of the host; with `mapped` kernels reach it."""
        with self.device:
            manager = current_manager()
            if manager:
                return manager.memhostalloc(bytesize, mapped, portable, wc)
            return (_krait.mapped_array if mapped else _krait.pinned_array)(bytesize, "u1")

    def memallocmanaged(self, bytesize, attach_global=True):
        """Memory that the driver moves between host and device."""
        with self.device:
            manager = current_manager()
            if manager and hasattr(manager, "memallocmanaged"):
                return manager.memallocmanaged(bytesize, attach_global)
            return _krait.managed_array(bytesize, "u1", attach_global=attach_global)

    def defer_cleanup(self):
        return defer_cleanup()

    def __enter__(self):
        self.push()
        return self

    def __exit__(self, *error):
        self.pop()

    def __eq__(self, other):
        return isinstance(other, Context) and self.device == other.device

    def __hash__(self):
        return hash(self.device)

    def __repr__(self):
        return f"<krait context of {self.device}>"


def _device_of(context):
    return context.device if isinstance(context, Context) else _krait.list_devices()[int(context)]


def current_manager():
    """The memory manager of the thread's device (cuda.set_memory_manager), or None."""
    memory = sys.modules.get(__package__ + "._memory")
    return memory.current_manager() if memory else None


def current_context(devnum=None):
    """The context of the calling thread's device, or of the device of that number."""
    return Context(_krait.get_current_device() if devnum is None else gpus[devnum])


def require_context(fn):
    """A function that finds a device when it is called."""

    @functools.wraps(fn)
    def with_context(*args, **options):
        current_context()
        return fn(*args, **options)

    return with_context


def close():
    """Frees what lies on the devices used so far: arrays, streams and kernels that were loaded are gone, as
    Device.reset() says."""
    for device in _krait.list_devices():
        if device._used:
            device.reset()


@contextlib.contextmanager
def defer_cleanup():
    """A block whose frees do not make the host wait.  Most never do, memory goes back in the order of the streams; what
    has to wait for the thread's device (mapped memory, graphs, memory of other processes, GPUs without memory pools) is
    put off to the end of the outermost such block, or until memory runs out."""
    device, manager = _krait.get_current_device(), current_manager()
    device._defer(True)
    try:
        with manager.defer_cleanup() if manager else contextlib.nullcontext():
            yield
    finally:
        device._defer(False)


@contextlib.contextmanager
def profiling():
    """A block that a profiler records."""
    _krait.profile_start()
    try:
        yield
    finally:
        _krait.profile_stop()


def cuda_error():
    """The error that keeps kernels from running on a GPU, or None."""
    return None if _krait.is_available() else CudaSupportError(_krait.choice_reason())


def is_supported_version():
    """Whether the driver is one that Krait works with: CUDA 12.0 and later."""
    version = _krait.driver_version()
    return version is not None and version >= (12, 0)


class _Runtime:
    """The CUDA runtime library is not used; the driver brings what it would."""

    def get_version(self):
        version = _krait.driver_version()
        if version is None:
            raise CudaSupportError(_krait.choice_reason())
        return version

    def is_supported_version(self):
        return is_supported_version()

    @property
    def supported_versions(self):
        return ((12, 0), (13, 0))


runtime = _Runtime()


def is_float16_supported():
    return _krait.get_current_device().supports_float16


def is_bfloat16_supported():
    return _krait.get_current_device().supports_bfloat16


def is_fp8_supported():
    return _krait.get_current_device().supports_fp8
