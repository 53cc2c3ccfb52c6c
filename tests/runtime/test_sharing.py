"""Device arrays that several processes have, memory that is given back at once, and reports of it: on the device of
this machine."""

import gc
import glob
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from conftest import ON_HOST

from krait import cuda
from krait.errors import CudaError, TypingError


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


THERE = """
import pickle, sys
import numpy as np
from krait import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

handle, options = pickle.load(sys.stdin.buffer)
with cuda.open_ipc_array(handle, **options) if options else handle as array:
    double[4, 128](array)
    cuda.synchronize()
    print(array.copy_to_host().sum(), array.shape, array.strides)
"""


def double_there(handle, **options):
    """What another process, which doubles the elements, says of the array."""
    done = subprocess.run([sys.executable, "-c", THERE], input=pickle.dumps((handle, options)), capture_output=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def test_a_handle_keeps_the_array():
    handle = cuda.to_device(np.arange(10.0)).get_ipc_handle()
    held = weakref.ref(handle._ipc_handle._base)
    assert double_there(handle) == "90.0 (10,) (8,)"
    assert pickle.loads(pickle.dumps(handle))._ipc_handle._base is None
    del handle
    assert held() is None


@pytest.mark.parametrize("part", [slice(None), slice(30, 70), slice(1, 200, 3)])
def test_another_process_writes_to_an_array(part):
    values = np.arange(300.0)
    x = cuda.to_device(values)
    view = x[part]
    assert double_there(view.get_ipc_handle()) == f"{2 * values[part].sum()} {view.shape} {view.strides}"
    values[part] *= 2
    np.testing.assert_array_equal(x.copy_to_host(), values)
    np.testing.assert_array_equal(view.copy_to_host(), values[part])


def test_a_handle_is_bytes():
    x = cuda.to_device(np.arange(10.0))
    handle = cuda.current_context().get_ipc_handle(x)
    assert len(handle.handle) == 64 and handle.size == 80
    assert double_there(handle, shape=5, dtype="f8", offset=16) == "40.0 (5,) (8,)"
    assert (x.copy_to_host() == [0, 1, 4, 6, 8, 10, 12, 7, 8, 9]).all()


@pytest.mark.skipif(not ON_HOST, reason="a GPU's memory cannot be opened by the process that shares it")
def test_handles_within_a_process():
    x = cuda.to_device(np.arange(6.0))
    view = x[1:]
    handle = x.get_ipc_handle()
    with handle as there:
        there[0] = 7.0
        assert x[0] == 7 and (view.copy_to_host() == [1, 2, 3, 4, 5]).all()
        with pytest.raises(ValueError, match="open already"):
            handle.open()
    assert there.size == 0
    del view
    x.free()
    with pytest.raises(CudaError, match="no such memory"):
        handle.open()
    with pytest.raises(ValueError, match="64 bytes"), cuda.open_ipc_array(b"short", 3, "f8"):
        pass
    with pytest.raises(CudaError, match="no such memory"):
        with cuda.open_ipc_array(b"../etc/passwd".ljust(64, b"\0"), 3, "f8"):
            pass


def test_a_handle_opens_its_memory_as_bytes_or_a_copy_of_it():
    x = cuda.to_device(np.arange(10.0))
    handle = pickle.loads(pickle.dumps(x.get_ipc_handle()))._ipc_handle
    if not ON_HOST:
        pytest.skip("a GPU's memory cannot be opened by the process that shares it")
    context = cuda.current_context()
    there, copy, direct = handle.open(context), handle.open_staged(context), handle.open_direct(context)
    x[0] = 5
    assert there.view("f8")[0] == direct.view("f8")[0] == 5 and copy.view("f8")[0] == 0
    assert (copy.copy_to_host().view("f8") == np.arange(10)).all()
    del there
    handle.close()
    with pytest.raises(RuntimeError, match="freed"):
        direct.copy_to_host()
    handle.close()  # nothing is open
    with handle.open(context) as again:
        assert again.size == 80
    handle.close()


def test_opened_memory_has_an_end():
    x = cuda.to_device(np.arange(10.0))
    handle = x.get_ipc_handle()._ipc_handle
    if not ON_HOST:
        pytest.skip("a GPU's memory cannot be opened by the process that shares it")
    for options in ({"shape": 10**7, "dtype": "f8"}, {"shape": 10, "dtype": "f8", "offset": 8},
                    {"shape": 11, "dtype": "f8"}, {"shape": 2, "dtype": "f8", "strides": (80,)},
                    {"shape": 2, "dtype": "f8", "strides": (-8,)},
                    {"shape": (3, 3), "dtype": "u1", "strides": (2**62,) * 2},
                    {"shape": 2, "dtype": "f8", "strides": (-2**63,)}, {"shape": 0, "dtype": "f8", "offset": 88}):
        with pytest.raises(ValueError, match="does not lie in the 80 bytes"), cuda.open_ipc_array(handle, **options):
            pass
    with cuda.open_ipc_array(handle, 10, "f8", strides=(-8,), offset=72) as back:
        assert (back.copy_to_host() == np.arange(10.0)[::-1]).all()
    with cuda.open_ipc_array(handle, 0, "f8", offset=80) as empty:
        assert empty.size == 0


NAMES = """
import glob, os, signal, sys
import numpy as np
from krait import cuda

def names(process):
    return glob.glob(f"/dev/shm/krait-{process}-*")

def share():
    x = cuda.to_device(np.arange(10.0))
    return x, x.get_ipc_handle()
"""


@pytest.mark.skipif(not ON_HOST, reason="shared memory of the system")
@pytest.mark.parametrize("program", [
    # a child that drops what its parent shares leaves it there
    """
x, handle = share()
child = os.fork()
if child == 0:
    del x
    os._exit(0)
os.waitpid(child, 0)
with handle as again:
    assert again.copy_to_host().sum() == 45
""",
    # what is alive at the end leaves no name: the parent looks
    """
from krait import vectorize

@vectorize(["float64(float64)"], target="cuda")
def next_number(x):
    return x + 1

x, handle = share()
""",
    # what a killed process left goes when the next is made, and what is alive stays
    """
x, handle = share()
child = os.fork()
if child == 0:
    own = share()
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
assert names(child) and names(os.getpid())
y, _ = share()
assert not names(child) and len(names(os.getpid())) == 2
with handle as again:
    assert again.copy_to_host().sum() == 45
""",
    # a worker of multiprocessing, forked, while its parent shares something, too
    """
import multiprocessing
x, handle = share()
def work():
    kept.append(share())
    assert len(names(os.getpid())) == 1
kept = []
worker = multiprocessing.get_context("fork").Process(target=work)
worker.start(), worker.join()
assert worker.exitcode == 0 and not names(worker.pid) and len(names(os.getpid())) == 1
with handle as again:
    assert again.copy_to_host().sum() == 45
""",
], ids=["fork", "exit", "killed", "worker"])
def test_names_go_with_their_process(program):
    child = subprocess.Popen([sys.executable, "-c", NAMES + program], stderr=subprocess.PIPE)
    _, said = child.communicate(timeout=120)
    assert child.returncode == 0, said.decode()
    assert not glob.glob(f"/dev/shm/krait-{child.pid}-*")


def test_processes_that_share_at_once():
    """Each looks through the names of all, for what killed ones have left."""
    program = """
from krait import cuda
for _ in range(1500):
    cuda.device_array(4).get_ipc_handle()
"""
    processes = [subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) for _ in range(3)]
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()


def test_free_and_with():
    before = cuda.memory_report()
    x = cuda.to_device(np.arange(1000.0))
    now = cuda.memory_report()
    assert (now.arrays - before.arrays, now.array_bytes - before.array_bytes) == (1, 8000)
    assert now.most_bytes >= now.array_bytes and "device arrays have" in str(now) and now.free <= now.total
    view = x[10:]
    with pytest.raises(BufferError, match="in use by a view"):
        x.free()
    with pytest.raises(ValueError, match="free its base"):
        view.free()
    del view
    capsule = x.__dlpack__()
    with pytest.raises(BufferError, match="in use by another library"):
        x.free()
    del capsule
    x.free()
    x.free()
    assert x.size == 0 and cuda.memory_report()[:2] == before[:2]
    for use in (x.copy_to_host, lambda: x + 1, lambda: x.copy_to_device(np.ones(3)), x.sum):
        with pytest.raises(RuntimeError, match="gone"):
            use()
    with cuda.device_array(10) as z, pytest.raises(KeyError):
        raise KeyError
    assert z.size == 0 or cuda.memory_report()[:2] == before[:2]
    with cuda.graph() as graph:
        y = cuda.to_device(np.ones(4))
        double[1, 32](y)
    graph.launch()
    if not ON_HOST:
        with pytest.raises(BufferError, match="in use by a graph"):
            y.free()


def test_the_exception_of_a_block_is_the_one_that_is_raised():
    kept = []
    with pytest.raises(KeyError), cuda.to_device(np.arange(10.0)) as x:
        kept.append(x[1:])
        raise KeyError
    assert kept[0].copy_to_host().sum() == 45
    with pytest.raises(BufferError, match="in use by a view"), cuda.to_device(np.arange(10.0)) as x:
        kept.append(x[1:])
    if ON_HOST:
        source = cuda.to_device(np.arange(10.0))
        handle = source.get_ipc_handle()
        for block in (handle, cuda.open_ipc_array(handle._ipc_handle, 10, "f8")):
            with pytest.raises(KeyError), block as opened:
                kept.append(opened.__dlpack__())
                raise KeyError
        with handle as opened:
            assert opened.size == 10


@pytest.mark.parametrize("wrong", [MemoryError, KeyboardInterrupt])
def test_what_a_class_raises_when_it_is_asked_for_its_protocol(wrong):
    class Asked(type):
        def __getattr__(self, name):
            if "dlpack" in name or "interface" in name:
                raise wrong
            raise AttributeError(name)

    class Foreign(metaclass=Asked):
        pass

    with pytest.raises(wrong):
        double[1, 32](Foreign())


def test_classes_of_arrays_are_forgotten_in_turn():
    class Named:
        def __init__(self, array):
            self.array = array

    def new_class():
        return type("Lent", (Named,), {"__dlpack__": lambda self, **options: self.array.__dlpack__(**options),
                                       "__dlpack_device__": lambda self: self.array.__dlpack_device__()})

    x = cuda.to_device(np.ones(4))
    for _ in range(40):
        double[1, 32](new_class()(x[:1]))
        gc.collect()
    assert x.copy_to_host().tolist() == [2.0**40, 1, 1, 1]


def test_a_class_of_arrays_may_become_one_later_and_cease_to_be_one():
    class Base:
        def __init__(self, array):
            self.array = array

    class Derived(Base):
        pass

    x = cuda.to_device(np.ones(4))
    for objects in ([Base(x)], [Derived(x), Base(x)]):
        for foreign in objects:
            with pytest.raises((TypeError, TypingError)):
                double[1, 32](foreign)
        Base.__dlpack__ = lambda self, **options: self.array.__dlpack__(**options)
        Base.__dlpack_device__ = lambda self: self.array.__dlpack_device__()
        for foreign in objects:
            double[1, 32](foreign)
        del Base.__dlpack__, Base.__dlpack_device__
    assert (x.copy_to_host() == 8).all()


def test_classes_of_operands_are_not_kept():
    gone, x = [], cuda.to_device(np.ones(4))
    for _ in range(5):
        lent = type("Lent", (), {"__dlpack__": lambda self, **options: x.__dlpack__(**options),
                                 "__dlpack_device__": lambda self: x.__dlpack_device__()})
        other = type("Other", (), {"__slots__": ()})
        double[1, 32](lent())
        with pytest.raises((TypeError, TypingError)):
            double[1, 32](other())
        gone += [weakref.ref(lent), weakref.ref(other)]
    del lent, other
    gc.collect()
    assert not any(reference() for reference in gone)
    assert (x.copy_to_host() == 32).all()


def test_dimensions_that_a_launch_chooses_are_none():
    assert double[4, 32].blockdim == (32, 1, 1) and double[4, 32].griddim == (4, 1, 1)
    chosen = double[4, None]
    assert chosen.blockdim is None and chosen.griddim == (4, 1, 1) and "[(4, 1, 1), None]" in repr(chosen)
    assert double.forall(100).griddim is None and double.forall(100).blockdim is None
    assert double.forall(100, 64).blockdim == (64, 1, 1)


def test_a_freed_array_is_refused_everywhere():
    x, matrix = cuda.to_device(np.arange(5.0)), cuda.to_device(np.ones((2, 3)))
    double[1, 32](x)
    x.free()
    matrix.free()
    for use in (lambda: double[1, 32](x), lambda: x[:], lambda: x[0], lambda: len(x), lambda: list(x),
                lambda: x.view("i8"),
                lambda: x.reshape(0), lambda: x.split(2), lambda: matrix.T, lambda: cuda.device_array_like(x),
                lambda: x._host_view() if ON_HOST else x[:], lambda: np.add(x, x)):
        with pytest.raises(RuntimeError, match="gone"):
            use()


def test_a_conversion_that_frees_an_argument():
    @cuda.jit("void(float64[::1], int64)")
    def set_all(x, value):
        for i in range(x.size):
            x[i] = value

    x = cuda.to_device(np.zeros(1 << 16))

    class Number:
        def __index__(self):
            if x.size:
                x.free()
            return 1

    for _ in range(2):
        with pytest.raises((RuntimeError, TypeError)):
            set_all[1, 1](x, Number())


@cuda.jit
def add_often(x, rounds, begun):
    begun[0] = 1
    for _ in range(rounds):
        for j in range(x.size):
            x[j] += 1.0


@pytest.mark.skipif(not ON_HOST, reason="a GPU frees behind what its streams were given")
@pytest.mark.parametrize("take", [lambda x: x.free(), lambda x: x.__exit__(None, None, None),
                                  lambda x: x.get_ipc_handle()])
def test_memory_stays_where_a_launch_of_another_thread_uses_it(take):
    x, begun = cuda.to_device(np.zeros(1 << 16)), np.zeros(1)
    shared = cuda.to_device(begun)
    add_often[1, 1](x, 0, shared)
    shared.copy_to_device(begun)
    thread = threading.Thread(target=lambda: add_often[1, 1](x, 10000, shared))
    thread.start()
    while not shared.copy_to_host()[0]:
        pass
    if thread.is_alive():
        with pytest.raises(BufferError, match="a launch or a copy"):
            take(x)
    thread.join()
    assert (x.copy_to_host() == 10000).all()
    take(x)


@pytest.mark.skipif(not ON_HOST, reason="memory that the host computes on")
def test_what_is_held_is_let_go():
    x, y = cuda.to_device(np.arange(6.0)), cuda.to_device(np.arange(6.0))
    view = x._host_view()
    with pytest.raises(BufferError, match="in use"):
        x.free()
    del view
    x[1:3] = y[2:4]
    x.copy_to_device(y)
    x += 1
    x[np.array([1, 2])] = 0.0
    for wrong in (lambda: x.copy_to_device(np.zeros(3, dtype="O")), lambda: x.copy_to_host(np.zeros(2)),
                  lambda: double[1, 32](x, 1)):
        with pytest.raises((TypeError, ValueError)):
            wrong()
    x.free()
    y.free()


def test_freed_arrays_in_a_loop_take_no_memory():
    before = cuda.memory_report()
    for _ in range(200):
        with cuda.device_array(1 << 20, np.uint8) as x:
            double[1, 32](x)
    after = cuda.memory_report()
    assert after[:2] == before[:2]
    assert after.most_bytes <= max(before.most_bytes, before.array_bytes + (1 << 20))


def test_the_class_has_a_table_for_dlpack():
    """Another library's calls: an array becomes a tensor, a tensor an array, a new one is allocated."""
    import ctypes

    class Tensor(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                    ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                    ("offset", ctypes.c_uint64)]

    class Managed(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                    ("flags", ctypes.c_uint64), ("tensor", Tensor)]

    class Table(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32 * 2), ("before", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                    ("take", ctypes.c_void_p), ("give", ctypes.c_void_p), ("borrow", ctypes.c_void_p),
                    ("stream", ctypes.c_void_p)]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = Table.from_address(pointer(cuda.DeviceArray.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))
    assert list(table.version) == [1, 3] and not table.before and not table.borrow
    managed = ctypes.POINTER(Managed)
    take = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(managed))(table.take)
    give = ctypes.PYFUNCTYPE(ctypes.c_int, managed, ctypes.POINTER(ctypes.py_object))(table.give)
    allocate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(managed), ctypes.c_void_p,
                                ctypes.c_void_p)(table.allocate)
    before = cuda.memory_report().arrays
    x, out, back = cuda.to_device(np.arange(12.0).reshape(3, 4)), managed(), ctypes.py_object()
    assert take(x, ctypes.byref(out)) == 0
    tensor = out.contents.tensor
    assert (tensor.ndim, tensor.bits, tensor.code, tensor.lanes) == (2, 64, 2, 1)
    assert tensor.shape[:2] == [3, 4] and tensor.strides[:2] == [4, 1]
    assert give(out, ctypes.byref(back)) == 0
    drop = ctypes.pythonapi.Py_DecRef
    drop.argtypes, drop.restype = [ctypes.py_object], None
    double[1, 32](back.value[1])
    assert (x.copy_to_host()[1] == 2 * np.arange(4.0, 8.0)).all()
    made = managed()
    assert allocate(ctypes.byref(tensor), ctypes.byref(made), None, None) == 0
    fresh = ctypes.py_object()
    assert give(made, ctypes.byref(fresh)) == 0 and fresh.value.shape == (3, 4)
    fresh.value.copy_to_device(x)
    assert (fresh.value.copy_to_host() == x.copy_to_host()).all()
    assert cuda.memory_report().arrays == before + 2
    drop(fresh), drop(back)  # what the table gave is ours
    del x, fresh, back
    assert cuda.memory_report().arrays == before


@pytest.mark.parametrize("stream", [-2, -5, -(2**40)])
def test_no_stream_has_a_negative_number(stream):
    with pytest.raises(ValueError, match="is no stream"):
        cuda.to_device(np.zeros(3)).__dlpack__(stream=stream)
