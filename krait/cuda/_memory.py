"""Memory managers of other libraries: classes by the names that Numba's external memory managers derive from, and
cuda.set_memory_manager, which makes device arrays take their memory from one."""

import abc
import contextlib
import ctypes
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

    def free(self):
        """Gives the memory back now."""
        if self._finalizer is not None:
            self._finalizer()
        self.is_alive = False


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


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """A manager of the device's memory that leaves the host's to Krait."""

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        array = (_krait.mapped_array if mapped else _krait.pinned_array)(size, "u1")
        return (MappedMemory if mapped else PinnedMemory)(self.context, ctypes.c_uint64(array.ctypes.data), size, array)

    def mempin(self, owner, pointer, size, mapped=False):
        return pin(self.context, owner, pointer, size, mapped)

    def memallocmanaged(self, size, attach_global=True):
        array = _krait.managed_array(size, "u1", attach_global=attach_global)
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


def set_memory_manager(mm_plugin):
    """Device arrays take their memory from a manager of this class from now on; None: from Krait again."""
    global _manager_class
    if mm_plugin is not None:
        if not callable(mm_plugin):
            raise TypeError(f"set_memory_manager() takes a class of memory managers, not {mm_plugin!r}")
        probe = mm_plugin(context=None)
        if probe.interface_version != 1:
            raise RuntimeError(f"the memory manager has interface version {probe.interface_version}, Krait knows 1")
    _manager_class = mm_plugin
    _managers.clear()
    _krait.set_allocator(None if mm_plugin is None else _allocate)


def current_manager():
    """The manager of the thread's device; None: Krait's own memory."""
    if _manager_class is None:
        return None
    from ._contexts import current_context

    context = current_context()
    if context.id not in _managers:
        manager = _manager_class(context=context)
        manager.initialize()
        _managers[context.id] = manager
    return _managers[context.id]


def _allocate(size):
    """What _krait calls: (address, what keeps it)."""
    memory = current_manager().memalloc(size)
    address = getattr(memory, "device_pointer_value", None)
    if address is None:
        raise TypeError(f"memalloc() of the memory manager gave {memory!r}: it gives a cuda.MemoryPointer")
    return address, memory
