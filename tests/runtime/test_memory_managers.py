"""Memory of other libraries: managers that device arrays take their memory from, tensors read through the C functions
of DLPack, GPUs beside each other."""

import ctypes
import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ON_HOST

import krait
from krait import cuda


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


class Counting(cuda.HostOnlyCUDAMemoryManager):
    """Takes memory from arrays that it made before, and counts."""

    made = freed = started = 0
    store = []

    def initialize(self):
        Counting.started += 1

    def memalloc(self, size):
        Counting.made += 1
        cuda.set_memory_manager(None)
        array = cuda.device_array(max(size, 1), np.uint8)
        cuda.set_memory_manager(Counting)
        pointer = array.device_ctypes_pointer

        def finalizer():
            Counting.freed += 1
            Counting.store.remove(array_)

        array_ = Held(array)
        Counting.store.append(array_)
        return cuda.MemoryPointer(self.context, pointer, size, finalizer=finalizer)

    def get_memory_info(self):
        return cuda.MemoryInfo(free=1, total=2)

    def get_ipc_handle(self, memory):
        raise NotImplementedError

    @property
    def interface_version(self):
        return 1


class Held:
    def __init__(self, array):
        self.array = array


@pytest.fixture
def counting():
    Counting.made = Counting.freed = Counting.started = 0
    cuda.set_memory_manager(Counting)
    yield Counting
    cuda.set_memory_manager(None)


def test_device_arrays_take_memory_from_a_manager(counting):
    x = cuda.to_device(np.arange(10.0))
    y = cuda.device_array_like(x)
    double[1, 32](x)
    y.copy_to_device(x)
    assert (y.copy_to_host() == 2 * np.arange(10.0)).all()
    assert counting.made == 2 and counting.freed == 0 and counting.started >= 1
    view = x[2:4]
    del x
    assert counting.freed == 0 and (view.copy_to_host() == [4, 6]).all()
    del view, y
    assert counting.freed == 2
    assert cuda.current_context().get_memory_info() == (1, 2)


def test_a_manager_is_of_a_known_version():
    class Newer(Counting):
        interface_version = 2

    with pytest.raises(RuntimeError, match="version 2"):
        cuda.set_memory_manager(Newer)
    assert cuda.current_context().get_memory_info().total != 2


def test_a_context_asks_its_manager_for_all_memory():
    asked = []

    class Telling(cuda.HostOnlyCUDAMemoryManager):
        interface_version = 1

        def memalloc(self, size):
            asked.append("memalloc")
            return 5

        def get_memory_info(self):
            return 0, 0

        def get_ipc_handle(self, memory):
            raise NotImplementedError

        def memhostalloc(self, size, mapped=False, portable=False, wc=False):
            asked.append(("memhostalloc", size, mapped))
            return super().memhostalloc(size, mapped, portable, wc)

        def mempin(self, owner, pointer, size, mapped=False):
            asked.append("mempin")
            return super().mempin(owner, pointer, size, mapped)

        def memallocmanaged(self, size, attach_global=True):
            asked.append("memallocmanaged")
            return super().memallocmanaged(size, attach_global)

    array, context = np.ones(1000), cuda.current_context()
    cuda.set_memory_manager(Telling)
    try:
        assert context.memhostalloc(10).size == 10 and context.memhostalloc(20, mapped=True).size == 20
        assert context.memallocmanaged(10).size == 10
        assert context.mempin(array, array.ctypes.data, array.nbytes).owner is array
        assert asked == [("memhostalloc", 10, False), ("memhostalloc", 20, True), "memallocmanaged", "mempin"]
        with pytest.raises(TypeError, match="gave 5: it gives a cuda.MemoryPointer"):
            cuda.device_array(3)
    finally:
        cuda.set_memory_manager(None)
    with pytest.raises(TypeError, match="a class of memory managers, not 5"):
        cuda.set_memory_manager(5)


def test_parts_of_memory_keep_the_whole():
    freed = []
    whole = cuda.MemoryPointer(None, 1000, 64, finalizer=lambda: freed.append(1))
    part = whole.view(8, 24)
    assert part.device_pointer_value == 1008 and part.size == 16
    del whole
    assert not freed
    del part
    assert freed == [1]
    with pytest.raises(RuntimeError):
        cuda.MemoryPointer(None, 0, 4).view(5)


def test_pinned_memory_of_a_context():
    array = np.ones(1000)
    held = cuda.current_context().mempin(array, array.ctypes.data, array.nbytes)
    assert held.size == array.nbytes and held.owner is array
    assert cuda.HostOnlyCUDAMemoryManager.memhostalloc(Counting(context=None), 64).size == 64


class Whole(cuda.HostOnlyCUDAMemoryManager):
    """Gives every kind of memory, and notes what it is asked for."""

    asked = []
    interface_version = 1

    def memalloc(self, size):
        self.asked.append(("memalloc", size))
        array = np.zeros(size, np.uint8) if ON_HOST else krait._krait.own_memory(3, size)
        return cuda.MemoryPointer(self.context, array.ctypes.data, size, owner=array,
                                  finalizer=lambda: self.asked.append("free"))

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        self.asked.append(("memhostalloc", size, mapped, wc))
        return super().memhostalloc(size, mapped, portable, wc)

    def mempin(self, owner, pointer, size, mapped=False):
        self.asked.append(("mempin", size, mapped))
        return super().mempin(owner, pointer, size, mapped)

    def memallocmanaged(self, size, attach_global=True):
        self.asked.append(("memallocmanaged", size, attach_global))
        return super().memallocmanaged(size, attach_global)

    def reset(self):
        self.asked.append("reset")

    def get_memory_info(self):
        return cuda.MemoryInfo(1, 2)

    def get_ipc_handle(self, memory):
        return "handle", memory.device_pointer_value, memory.size


@pytest.fixture
def whole():
    Whole.asked.clear()
    cuda.set_memory_manager(Whole)
    yield Whole.asked
    cuda.set_memory_manager(None)


def test_pinned_mapped_and_managed_arrays_are_the_managers(whole):
    x, y = cuda.pinned_array(4), cuda.pinned_array(4, wc=True)
    z, m, n = cuda.mapped_array(4), cuda.managed_array(4), cuda.managed_array(4, attach_global=False)
    assert whole == [("memhostalloc", 32, False, False), ("memhostalloc", 32, False, True),
                     ("memhostalloc", 32, True, False), ("memallocmanaged", 32, True), ("memallocmanaged", 32, False)]
    for array in x, y, z, m, n:
        array[:] = 1
        double[1, 32](array)
        cuda.synchronize()
        assert (array == 2).all()
    del whole[:]
    host = np.ones(100)
    with cuda.pinned(host), cuda.mapped(np.ones(50)) as there:
        assert whole == [("mempin", 800, False), ("mempin", 400, True)]
        double[2, 32](there)
        assert (there.copy_to_host() == 2).all()
    with cuda.pinned(host):  # what was locked is not any more
        pass


@pytest.mark.skipif(not ON_HOST, reason="what this manager gives on a GPU is managed memory, which forbids a reset")
def test_a_manager_is_told_of_a_reset_whoever_asks_for_it(whole):
    gc.collect()  # locked memory that other tests have left in cycles would forbid it
    cuda.get_current_device().reset()
    assert "reset" not in whole  # it has given nothing yet
    x = cuda.device_array(4)
    for reset in cuda.get_current_device().reset, cuda.current_context().reset, cuda.close:
        reset()
        assert whole.count("reset") == 1
        whole.remove("reset")
        with pytest.raises(RuntimeError, match="gone"):
            x.copy_to_host()
        x = cuda.device_array(4)


def test_arrays_of_a_manager_are_counted_freed_and_named(whole):
    before = cuda.memory_report()
    x = cuda.device_array(100)
    empty = cuda.device_array(0)
    assert whole == [("memalloc", 800)] and cuda.memory_report().array_bytes - before.array_bytes == 800
    assert isinstance(x.base, cuda.MemoryPointer) and x[10:].base is x and empty.size == 0
    assert x.get_ipc_handle()._ipc_handle == ("handle", x.base.device_pointer_value, 800)
    assert x[10:20].get_ipc_handle()._ipc_handle == ("handle", x.base.device_pointer_value + 80, 80)
    with x:
        double[1, 32](x)
    assert whole[1:] == ["free"] and cuda.memory_report().array_bytes == before.array_bytes


def test_the_environment_names_a_manager(tmp_path):
    (tmp_path / "their_manager.py").write_text("""
from krait import cuda
kept = cuda.device_array(3)  # the module's own is Krait's

class Manager(cuda.HostOnlyCUDAMemoryManager):
    made = []
    interface_version = 1
    get_ipc_handle = None
    def get_memory_info(self):
        return cuda.MemoryInfo(1, 2)
    def memalloc(self, size):
        Manager.made.append(size)
        array = cuda._krait.own_memory(3, size)
        return cuda.MemoryPointer(self.context, array.ctypes.data, size, owner=array)

_numba_memory_manager = Manager
""")
    code = """
import sys
from krait import config, cuda
assert config.CUDA_MEMORY_MANAGER == "their_manager" and "their_manager" not in sys.modules
x = cuda.device_array(5)
import their_manager
assert their_manager.Manager.made == [40] and cuda.current_context().get_memory_info() == (1, 2)
"""
    wrong = """
from krait import config, cuda
for _ in range(2):
    try:
        cuda.device_array(5)
    except RuntimeError as error:
        assert "KRAIT_CUDA_MEMORY_MANAGER" in str(error) and "nobody_has_this" in str(error)
    else:
        raise AssertionError
cuda.set_memory_manager(None)
cuda.device_array(5)
"""
    for name, program in ("their_manager", code), ("nobody_has_this", wrong):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
                           KRAIT_CUDA_MEMORY_MANAGER=name)
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


# ---- the C functions of DLPack ---------------------------------------------------------------------------------------


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_Borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
_Stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("before", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("take", ctypes.c_void_p), ("give", ctypes.c_void_p),
                ("borrow", _Borrow), ("current_stream", _Stream)]


@_Borrow
def borrow(owner, tensor):
    if owner.array is None:
        return -1
    tensor[0] = Tensor(owner.array.device_ctypes_pointer.value, *owner.place, 1, 2, 64, 1, owner.shape, None, 0)
    owner.asked += 1
    return 0


@_Stream
def current_stream(kind, number, stream):
    stream[0] = None
    return 0


_NAME = b"dlpack_exchange_api"  # capsules keep its address
_table = Table(1, 3, None, None, None, None, borrow, current_stream)
_newer = Table(2, 0, ctypes.addressof(_table), None, None, None, borrow, current_stream)
ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Foreign:
    """A library's array whose class has the table."""

    __dlpack_c_exchange_api__ = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(_table), _NAME, None)

    def __init__(self, array):
        self.array, self.asked = array, 0
        self.place = array.__dlpack_device__() if array is not None else (1, 0)
        self.shape = (ctypes.c_int64 * 1)(array.size if array is not None else 0)


class NewerForeign(Foreign):
    __dlpack_c_exchange_api__ = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(_newer), _NAME, None)


@pytest.mark.parametrize("make", [Foreign, NewerForeign])
def test_tensors_are_borrowed_through_c_functions(make):
    array = cuda.to_device(np.arange(5.0))
    foreign = make(array)
    double[1, 32](foreign)
    double[1, 32](foreign)
    assert foreign.asked == 2 and (array.copy_to_host() == 4 * np.arange(5.0)).all()
    taken = cuda.from_dlpack(foreign)
    assert taken.base is foreign and (taken.copy_to_host() == array.copy_to_host()).all()


def test_a_tensor_that_is_not_there():
    with pytest.raises(BufferError, match="gives no tensor"):
        cuda.from_dlpack(Foreign(None))


# ---- devices ---------------------------------------------------------------------------------------------------------


def test_blocks_that_run_at_once():
    x = cuda.to_device(np.ones(4))
    double[1, 32](x)
    blocks = double.get_active_blocks_per_multiprocessor(128)
    assert set(blocks.values()) <= set(range(1, 65))
    assert cuda.current_context().get_active_blocks_per_multiprocessor(double, 128, 0) == max(blocks.values())
    assert double.get_active_blocks_per_multiprocessor(1024, signature=next(iter(blocks))) <= max(blocks.values())
    with pytest.raises(ValueError, match="1 to 1024"):
        double.get_active_blocks_per_multiprocessor(0)


def test_a_context_reaches_its_own_memory_or_says_that_it_does_not():
    context = cuda.current_context()
    assert isinstance(context.can_access_peer(context), bool)
    with pytest.raises(ValueError, match="flags"):
        context.enable_peer_access(context, 1)


@pytest.mark.skipif(len(cuda.list_devices()) < 2, reason="one device here")
def test_two_devices():
    with cuda.gpus[0]:
        x = cuda.to_device(np.arange(1000.0))
    with cuda.gpus[1]:
        y = cuda.device_array(1000)
        y.copy_to_device(x)
        double[4, 256](y)
    double[4, 256](x)  # where it lies
    double[4, 256](y)
    assert (x.copy_to_host() == 2 * np.arange(1000.0)).all() and (y.copy_to_host() == 4 * np.arange(1000.0)).all()
    first, second = cuda.current_context(0), cuda.current_context(1)
    if first.can_access_peer(second):
        first.enable_peer_access(second)
        first.enable_peer_access(second)
    x.copy_to_device(y)
    assert (x.copy_to_host() == 4 * np.arange(1000.0)).all()
