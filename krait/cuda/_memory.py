"""Memory managers of other libraries: classes by the names that Numba's external memory managers derive from, and
cuda.set_memory_manager, which makes device arrays take their memory from one."""

import abc
import contextlib
import ctypes
import importlib
import os
import threading
import weakref

from .. import _krait


class MemoryPointer:
    """Memory of a device: `pointer` is its address; `finalizer` gives it back when nothing refers to it any more."""

    __slots__ = ("context", "size", "_cuda_memsize_", "owner", "device_pointer", "is_managed", "is_alive", "_finalizer",
                 "__weakref__")
    __cuda_memory__ = True

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        self.context, self.size, self._cuda_memsize_, self.owner = context, size, size, owner
        self.device_pointer = pointer if hasattr(pointer, "value") else ctypes.c_uint64(int(pointer))
        self.is_managed = finalizer is not None
        self.is_alive = True
        self._finalizer = weakref.finalize(self, finalizer) if finalizer is not None else None

    @property
    def device_pointer_value(self):
        return self.device_pointer.value or 0

    @property
    def device_ctypes_pointer(self):
        return ctypes.c_uint64(self.device_pointer_value)

    def own(self):
        return self

    def view(self, start, stop=None):
        """The part from byte `start` to `stop`, which keeps the whole alive."""
        stop = self.size if stop is None else min(stop, self.size)
        if not 0 <= start <= stop:
            raise RuntimeError(f"bytes {start} to {stop} of memory of {self.size} bytes")
        return MemoryPointer(self.context, self.device_pointer_value + start, stop - start, owner=self)

    def memset(self, byte, count=None, stream=0):
        """Sets `count` bytes, or all; before what the stream is given from then on."""
        from ._copies import device_memset

        device_memset(self, byte, self.size if count is None else count, stream)

    @property
    def nbytes(self):
        return self.size

    def free(self):
        """Gives the memory back now."""
        if self._finalizer is not None:
            self._finalizer()
        self.is_alive = False


class AutoFreePointer(MemoryPointer):
    """Memory that Context.memalloc() made, of a device array."""

    __slots__ = ()

    def free(self):
        """Gives the memory back now."""
        self.owner.free()
        self.is_alive = False


def bytes_around(shape, strides, itemsize):
    """(the lowest byte of an array, behind its highest), counted from its first element: strides may be negative."""
    if 0 in shape:
        return 0, 0
    reach = [(n - 1) * stride for n, stride in zip(shape, strides)]
    return sum(min(part, 0) for part in reach), sum(max(part, 0) for part in reach) + itemsize


def memory_of(array, made=MemoryPointer):
    """array.gpu_data: the memory of a device array, from its lowest byte to its highest; kept alive by the result."""
    with _krait.home_of(array):
        context = _current_context()
    low, high = bytes_around(array.shape, array.strides, array.itemsize)
    return made(context, (array.device_ctypes_pointer.value or 0) + low, high - low, owner=array)


def _current_context():
    from ._contexts import current_context

    return current_context()


class MappedMemory(MemoryPointer):
    """Memory of the host that kernels reach; `host_pointer` is its address there."""

    __slots__ = ("host_pointer", "_buflen_", "_bufptr_")

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        super().__init__(context, pointer, size, owner, finalizer)
        self.host_pointer = self.device_pointer
        self._buflen_ = size
        self._bufptr_ = self.device_pointer_value


class PinnedMemory:
    """Memory of the host whose pages are locked."""

    __slots__ = ("context", "size", "owner", "host_pointer", "is_managed", "_buflen_", "_bufptr_", "_finalizer",
                 "__weakref__")

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        self.context, self.size, self.owner = context, size, owner
        self.host_pointer = pointer
        self.is_managed = finalizer is not None
        self._buflen_, self._bufptr_ = size, getattr(pointer, "value", pointer)
        self._finalizer = weakref.finalize(self, finalizer) if finalizer is not None else None

    def own(self):
        return self


def pin(context, owner, pointer, size, mapped):
    """The pages of the array `owner`, locked as long as the result is kept."""
    held = _krait.lock_memory(owner, mapped)
    made = MappedMemory if mapped else PinnedMemory
    return made(context, pointer, size, owner, lambda: _krait.unlock_memory(held[0] if mapped else held))


class BaseCUDAMemoryManager(abc.ABC):
    """What gives device arrays their memory: a manager derives from this and goes to cuda.set_memory_manager."""

    context = None

    def __init__(self, *args, **kwargs):
        if "context" not in kwargs:
            raise RuntimeError("a memory manager is made with a context")
        self.context = kwargs.pop("context")

    @abc.abstractmethod
    def memalloc(self, size):
        """A MemoryPointer of `size` bytes of the device."""

    @abc.abstractmethod
    def memhostalloc(self, size, mapped, portable, wc):
        """Memory of the host that copies take fast."""

    @abc.abstractmethod
    def mempin(self, owner, pointer, size, mapped):
        """Locks the pages of memory that is there."""

    @abc.abstractmethod
    def initialize(self):
        """Called before the manager is first used in a context."""

    @abc.abstractmethod
    def get_ipc_handle(self, memory):
        """What another process opens the memory by."""

    @abc.abstractmethod
    def get_memory_info(self):
        """MemoryInfo(free, total)."""

    @abc.abstractmethod
    def reset(self):
        """Gives all memory back."""

    @abc.abstractmethod
    def defer_cleanup(self):
        """A context manager in which nothing is given back."""

    @property
    @abc.abstractmethod
    def interface_version(self):
        """1"""


_PINNED, _COMBINED, _MAPPED, _MANAGED, _MANAGED_HOST = range(5)  # DevicePinned (runtime/device.h)


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """A manager of the device's memory that leaves the host's to Krait."""

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        array = _krait.own_memory(_MAPPED if mapped else _COMBINED if wc else _PINNED, size)
        return (MappedMemory if mapped else PinnedMemory)(self.context, ctypes.c_uint64(array.ctypes.data), size, array)

    def mempin(self, owner, pointer, size, mapped=False):
        return pin(self.context, owner, pointer, size, mapped)

    def memallocmanaged(self, size, attach_global=True):
        array = _krait.own_memory(_MANAGED if attach_global else _MANAGED_HOST, size)
        return MappedMemory(self.context, ctypes.c_uint64(array.ctypes.data), size, array)

    def initialize(self):
        """Nothing: a device is there when it is first used."""

    def reset(self):
        """Nothing: memory is given back by its finalizers."""

    @contextlib.contextmanager
    def defer_cleanup(self):
        yield


class GetIpcHandleMixin:
    """get_ipc_handle for memory that the driver itself allocated."""

    def get_ipc_handle(self, memory):
        from ._ipc import IpcHandle

        handle, offset = _krait.share_memory(memory.device_pointer_value)
        return IpcHandle(handle, offset, memory.size, _krait.get_current_device().uuid)


_manager_class = None
_managers = {}  # number of a device -> the manager there
_named = None  # by the environment: a module that is imported when memory is first asked for
_loading = threading.RLock()


def set_memory_manager(mm_plugin):
    """Device arrays, launches with host arrays, and pinned, mapped and managed arrays take their memory from a manager
    of this class from now on; None: from Krait again."""
    global _manager_class, _named
    if mm_plugin is not None:
        if not callable(mm_plugin):
            raise TypeError(f"set_memory_manager() takes a class of memory managers, not {mm_plugin!r}")
        probe = mm_plugin(context=None)
        if probe.interface_version != 1:
            raise RuntimeError(f"the memory manager has interface version {probe.interface_version}, Krait knows 1")
    _manager_class, _named = mm_plugin, None
    _managers.clear()
    _krait.set_allocator(None if mm_plugin is None else _allocate)


def take_from_environment():
    """KRAIT_CUDA_MEMORY_MANAGER names a module whose _krait_memory_manager, or _numba_memory_manager, is the class."""
    global _named
    name = os.environ.get("KRAIT_CUDA_MEMORY_MANAGER", "")
    if name not in ("", "default"):
        _named = name
        _krait.set_allocator(_allocate)


def _load():
    global _named
    with _loading:
        name, _named = _named, None
        if name is None:  # another thread was faster, or the module itself asks for memory: that is Krait's own
            return
        try:
            module = importlib.import_module(name)
            found = getattr(module, "_krait_memory_manager", None) or module._numba_memory_manager
            set_memory_manager(found)
        except Exception as error:
            _named = name
            raise RuntimeError(
                f"KRAIT_CUDA_MEMORY_MANAGER names the module {name!r}, which gives no memory manager: {error}"
            ) from error


def current_manager():
    """The manager of the thread's device; None: Krait's own memory."""
    if _named is not None:
        _load()
    if _manager_class is None:
        return None
    from ._contexts import current_context

    context = current_context()
    if context.id not in _managers:
        manager = _manager_class(context=context)
        manager.initialize()
        _managers[context.id] = manager
    return _managers[context.id]


def about_to_reset(device):
    """What _krait calls: the manager of the device, if it has one, gives its memory back."""
    manager = _managers.get(device.id)
    if manager is not None:
        with device:
            manager.reset()


def _allocate(method, size):
    """What _krait calls: (address, what keeps it); None: the manager has no such memory."""
    method, _, how = method.partition(" ")
    manager = current_manager()
    if manager is None or not hasattr(manager, method):
        return None
    if method == "memhostalloc":
        memory = manager.memhostalloc(size, how == "mapped", how == "mapped", how == "wc")
        pointer = getattr(memory, "host_pointer", None)
        return _address(method, memory, getattr(pointer, "value", pointer)), memory
    memory = manager.memalloc(size) if method == "memalloc" else manager.memallocmanaged(size, how != "host")
    return _address(method, memory, getattr(memory, "device_pointer_value", None)), memory


def _address(method, memory, address):
    if address is None:
        raise TypeError(f"{method}() of the memory manager gave {memory!r}: it gives a cuda.MemoryPointer")
    return address


def locked(array, mapped):
    """What krait.cuda.pinned and mapped hold while their block runs: locked pages, by the manager if there is one."""
    manager = current_manager()
    keeper = manager.mempin(array, array.ctypes.data, array.nbytes, mapped) if manager and array.nbytes else None
    return _krait.lock_memory(array, mapped, keeper)
