"""What a launch takes beside arrays and numbers: In, Out, InOut, mapped and managed arrays; and the names around
devices and streams.  The same programs run on the host device and on a GPU."""

import asyncio
import ctypes
import threading

import numpy as np
import pytest
from conftest import on_the_gpu

import krait
from krait import cuda
from krait.cuda import args, config, cudadrv


@cuda.jit
def work(x, y, z):
    i = cuda.grid(1)
    if i < z.size:
        x[i] += 1
        z[i] = x[i] + y[i]
        y[i] = -1


# ---- how arguments travel -------------------------------------------------------------------------------------------


def test_in_out_and_inout():
    x, y, z = np.ones(4), np.full(4, 10.0), np.zeros(4)
    work[1, 32](cuda.InOut(x), cuda.In(y), cuda.Out(z))
    assert (x == 2).all() and (y == 10).all() and (z == 12).all()
    work[1, 32](x, y, z)
    assert (x == 3).all() and (y == -1).all() and (z == 13).all()
    assert args.In is cuda.In and args.Out is cuda.Out and args.InOut is cuda.InOut
    assert cuda.In(y).value is y


def test_in_takes_lists_and_read_only_arrays():
    @cuda.jit
    def total(x, out):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(out, 0, x[i])

    frozen = np.arange(5.0)
    frozen.flags.writeable = False
    out = np.zeros(1)
    total[1, 32](cuda.In([1.0, 2.0, 4.0]), out)
    total[1, 32](cuda.In(frozen), cuda.InOut(out))
    assert out[0] == 17
    with pytest.raises(TypeError, match="take an array"):
        cuda.Out([1.0])


def test_device_arrays_may_be_wrapped():
    x, y, z = (cuda.to_device(np.ones(4)) for _ in "xyz")
    work[1, 32](cuda.InOut(x), cuda.In(y), cuda.Out(z))
    assert (z.copy_to_host() == 3).all() and (x.copy_to_host() == 2).all()


@pytest.mark.parametrize("view", [lambda a: a[::2], lambda a: a[::-2], lambda a: a[1:5]])
def test_out_keeps_what_lies_between(view):
    whole = np.arange(8.0)
    x, y = np.ones(4), np.ones(4)
    work[1, 32](x, cuda.In(y), cuda.Out(view(whole)))
    expected = np.arange(8.0)
    view(expected)[:] = 3
    np.testing.assert_array_equal(whole, expected)


# ---- memory that both reach -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array, cuda.pinned_array])
def test_memory_of_the_host_for_kernels(make):
    x, y, z = (make(100, dtype=np.float32) for _ in "xyz")
    assert type(x) is np.ndarray and x.dtype == np.float32 and x.flags.writeable
    x[:], y[:], z[:] = 1, 2, 0
    work[1, 128](x, y, z)
    cuda.synchronize()
    assert (x == 2).all() and (z == 4).all() and (y == -1).all()
    part = x[10:20]
    del x
    work[1, 128](part, y[:10], z[:10])
    cuda.synchronize()
    assert (part == 3).all() and (z[:10] == 2).all() and (z[10:] == 4).all()


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array, cuda.pinned_array])
def test_shapes_and_orders(make):
    a = make((3, 4), "i2", order="F")
    assert a.flags.f_contiguous and a.shape == (3, 4)
    assert make((2, 3), np.float64, strides=(8, 16)).flags.f_contiguous
    assert make(0).size == 0 and make((2, 2)).dtype == np.float64
    assert make(3, np.dtype([("a", "i4"), ("b", "f8")])).dtype.names == ("a", "b")
    with pytest.raises(ValueError, match="strides must be"):
        make((2, 3), strides=(8, 8))
    with pytest.raises(ValueError, match="negative"):
        make(-1)
    with pytest.raises(TypeError, match="Python objects"):
        make(3, object)


def test_arrays_like_others():
    for like in (cuda.pinned_array_like, cuda.mapped_array_like):
        assert like(np.ones((2, 3), "f4", order="F")).flags.f_contiguous
        a = like(cuda.to_device(np.ones((2, 3), "i2")))
        assert a.shape == (2, 3) and a.dtype == np.int16 and a.flags.c_contiguous


def test_pinned_and_mapped_blocks():
    x, y, z = np.ones(64), np.ones(64), np.zeros(64)
    with cuda.pinned(x, y):
        work[1, 64](x, y, z)
    assert (z == 3).all()
    with cuda.mapped(x, z) as (dx, dz):
        work[1, 64](dx, np.ones(64), dz)
        cuda.synchronize()
    assert (x == 3).all() and (z == 4).all()
    with cuda.mapped(x) as dx:
        assert isinstance(dx, cuda.DeviceArray) and dx.shape == (64,)
    with pytest.raises(ValueError, match="contiguous"), cuda.pinned(np.ones((4, 4))[:, ::2]):
        pass


# ---- devices --------------------------------------------------------------------------------------------------------


def test_devices():
    gpus = cuda.gpus
    assert gpus.lst == list(gpus) and len(gpus) >= 1 and gpus.current == gpus[0] and hash(gpus[0]) == hash(gpus.lst[0])
    with gpus[0] as device, gpus[0]:
        assert cuda.get_current_device() == device
    device = cuda.select_device(0)
    assert device.id == 0 and device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK == 1024
    assert device.COMPUTE_CAPABILITY_MAJOR == device.compute_capability[0]
    assert device.supports_float16 and isinstance(device.name, str) and device.uuid.startswith("GPU-")
    with pytest.raises(AttributeError):
        device.NO_SUCH_ATTRIBUTE


def test_contexts():
    context = cuda.current_context()
    free, total = context.get_memory_info()
    assert 0 < free <= total and context.get_memory_info().free > 0
    assert context == cuda.current_context(0) and context.device.id == 0
    assert context.memalloc(100).nbytes == 100 and context.memhostalloc(16, mapped=True).nbytes == 16
    with cuda.defer_cleanup(), cuda.defer_cleanup():
        del context
    with cuda.profiling():
        pass

    @cuda.require_context
    def twice(x):
        return 2 * x

    assert twice(4) == 8 and twice.__name__ == "twice"


def test_facts_about_the_driver():
    if cuda.is_available():
        assert cuda.cuda_error() is None and cuda.is_supported_version() and cuda.runtime.get_version() >= (12, 0)
    else:
        assert isinstance(cuda.cuda_error(), krait.errors.CudaError)
        if cuda.driver_version() is None:
            assert not cuda.is_supported_version()
            with pytest.raises(cuda.CudaSupportError):
                cuda.runtime.get_version()
    assert cuda.is_float16_supported() and cuda.is_bfloat16_supported()


def test_names_of_numba():
    from krait.cuda.cudadrv import devicearray, devices, driver, error

    assert devicearray.DeviceNDArray is cuda.DeviceArray and error.CudaSupportError is cuda.CudaSupportError
    assert devices.gpus is cuda.gpus and devices.get_context() == cuda.current_context()
    assert driver.driver.get_device_count() == len(cuda.gpus) and cudadrv.driver is driver
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    assert not config.ENABLE_CUDASIM
    assert devicearray.auto_device(np.ones(3))[1] and not devicearray.auto_device(cuda.to_device(np.ones(3)))[1]


def test_names_of_numba_for_memory():
    from krait.cuda.cudadrv import devicearray, driver

    record = np.zeros(1, [("a", "f4"), ("b", "i4")])[0]
    assert isinstance(cuda.to_device(record), devicearray.DeviceRecord)
    for make, name in (cuda.mapped_array, "MappedNDArray"), (cuda.managed_array, "ManagedNDArray"):
        assert isinstance(make(3), getattr(devicearray, name))
    array = cuda.to_device(np.ones(3))
    devicearray.verify_cuda_ndarray_interface(array)
    with pytest.raises(ValueError, match="device memory"):
        devicearray.require_cuda_ndarray(np.ones(3))
    assert devicearray.from_array_like(array).shape == (3,)
    assert driver.is_device_memory(array) and not driver.is_device_memory(np.ones(3))
    host = np.ones(3)
    assert driver.host_pointer(host) == host.ctypes.data and driver.host_memory_size(host) == 24
    assert driver.ERROR_MAP[2] == "CUDA_ERROR_OUT_OF_MEMORY" and driver.MemoryPointer is cuda.MemoryPointer
    x = np.zeros(4)
    work[1, 32](x, x, x)
    overload = next(iter(work.overloads.values()))
    assert overload.max_cooperative_grid_blocks(32, dynsmem=0) == work.max_cooperative_grid_blocks(
        32, dynsmem=0, signature=work.signatures[0])
    assert cuda.PTXSource("text", setup_callback=None, nrt=False).data == "text"
    with pytest.raises(TypeError, match="no Numba runtime"):
        cuda.PTXSource("text", nrt=True)
    with pytest.raises(TypeError, match="setup_callback is a function"):
        cuda.PTXSource("text", setup_callback="print")


def test_close_and_reset():
    d = cuda.to_device(np.ones(10))
    stream, event = cuda.stream(), cuda.event()
    work[1, 32](np.ones(4), np.ones(4), np.ones(4))
    cuda.close()
    del d, stream, event
    z = np.zeros(4)
    work[1, 32](np.ones(4), np.ones(4), z)
    assert (z == 3).all()
    d, stream, event = cuda.to_device(np.ones(10)), cuda.stream(), cuda.event()
    launcher = work[1, 32, stream]
    launcher(np.ones(4), np.ones(4), z)
    cuda.get_current_device().reset()
    for use in (d.copy_to_host, stream.synchronize, event.record, lambda: launcher(z, z, z),
                lambda: work[1, 32](d, d, d)):
        with pytest.raises(RuntimeError, match="reset"):
            use()
    for pinned in (cuda.pinned_array(3), cuda.mapped_array(3), cuda.managed_array(3)):
        with pytest.raises(RuntimeError, match="pinned_array"):
            cuda.get_current_device().reset()
        del pinned
    with cuda.pinned(z), pytest.raises(RuntimeError, match="pinned"):
        cuda.get_current_device().reset()
    cuda.get_current_device().reset()
    assert (cuda.to_device(np.arange(5)).copy_to_host() == np.arange(5)).all()


def test_what_a_kernel_takes():
    @cuda.jit(launch_bounds=128)
    def shared(x):
        part = cuda.shared.array(64, np.float64)
        part[cuda.threadIdx.x] = x[cuda.threadIdx.x]
        cuda.syncthreads()
        x[cuda.threadIdx.x] = part[63 - cuda.threadIdx.x]

    shared[1, 64](np.ones(64))
    key, = shared.signatures
    assert shared.get_shared_mem_per_block() == {key: 512} and shared.get_shared_mem_per_block(key) == 512
    assert shared.get_max_threads_per_block(key) >= 128 and shared.get_const_mem_size(key) >= 0
    assert shared.get_local_mem_per_thread(key) >= 0
    assert (shared.get_regs_per_thread(key) > 0) == cuda.is_available()
    with pytest.raises(KeyError, match="nothing was compiled"):
        shared.get_regs_per_thread("void(int64)")


def test_vectorize():
    @cuda.vectorize(["float32(float32, float32)"])
    def plus(a, b):
        return a + b

    d = cuda.to_device(np.arange(4, dtype=np.float32))
    assert isinstance(plus(d, d), cuda.DeviceArray) and plus(d, d).tolist() == [0, 2, 4, 6]


def test_specialize():
    special = work.specialize(np.ones(3), cuda.to_device(np.ones(3)), np.ones(3))
    assert len(special.signatures) == 1 and special.specialized and not work.specialized
    assert special.stats.cache_misses >= 1 and len(special.nopython_signatures) == 1
    x, z = np.ones(3), np.zeros(3)
    special[1, 32](x, np.ones(3), z)
    assert (z == 3).all()
    with pytest.raises(TypeError):
        special[1, 32](np.ones(3, "f4"), np.ones(3), z)


# ---- streams --------------------------------------------------------------------------------------------------------


def test_callbacks():
    stream, seen, called = cuda.stream(), [], threading.Event()

    def note(*arguments):
        seen.append(arguments)
        called.set()

    work[1, 32, stream](*(cuda.to_device(np.ones(4)) for _ in "xyz"))
    stream.add_callback(note, "argument")
    assert called.wait(30)
    assert seen == [(stream, 0, "argument")]
    stream.add_callback(note)
    stream.synchronize()
    assert called.wait(30)


def test_streams_can_be_awaited():
    async def program():
        stream = cuda.stream()
        x, y, z = (cuda.to_device(np.ones(4)) for _ in "xyz")
        work[1, 32, stream](x, y, z)
        done = await stream.async_done()
        return done is stream, z.copy_to_host()

    same, z = asyncio.run(program())
    assert same and (z == 3).all()


def test_a_callback_that_is_not_awaited_harms_nothing():
    async def program():
        cuda.stream().async_done().cancel()

    asyncio.run(program())


def test_handles():
    assert isinstance(cuda.stream().handle, ctypes.c_void_p) and cuda.default_stream().handle.value is None
    assert cuda.external_stream(64).handle.value == 64


@on_the_gpu
def test_where_memory_of_others_lies():
    d = cuda.to_device(np.arange(4.0))
    assert cuda.as_cuda_array(type("Other", (), {"__cuda_array_interface__": d.__cuda_array_interface__})()).size == 4


@pytest.mark.parametrize("priority", [2**31, 2**32, 2**40 + 5, -(2**31) - 1])
def test_no_stream_has_such_a_priority(priority):
    with pytest.raises(ValueError, match="no stream has the priority"):
        work.configure(1, 1, priority=priority)
