"""What programs for numba.cuda do below arrays: memory by address, copies of bytes, facts of a device, by the names and
signatures that numba.cuda.cudadrv has."""

import ctypes
import gc
import inspect
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
from conftest import ON_HOST

from krait import cuda
from krait.cuda.cudadrv import devicearray, driver, enums
from krait.cuda.kernels.transpose import transpose


def numbers():
    return np.arange(12.0).reshape(3, 4)


def test_bytes_travel_between_host_and_device():
    array, host = cuda.to_device(numbers()), np.zeros(12)
    driver.device_to_host(host, array, array.nbytes)
    assert (host == np.arange(12)).all()
    driver.host_to_device(array, np.ones(6), 48)
    driver.host_to_device(array.gpu_data.view(88), b"\0" * 8, 8)
    expected = np.arange(12.0)
    expected[:6], expected[11] = 1, 0
    assert (array.copy_to_host().ravel() == expected).all()
    other, stream = cuda.device_array_like(array), cuda.stream()
    driver.device_to_device(other, array, array.nbytes, stream=stream)
    driver.device_to_host(host, other.device_ctypes_pointer, 96, stream=stream)
    stream.synchronize()
    assert (host == expected).all()
    fortran = cuda.to_device(np.asfortranarray(numbers()))
    driver.device_to_host(host, fortran, 96)
    assert (host == numbers().ravel("F")).all()  # the bytes as they lie


def test_bytes_are_set():
    array = cuda.to_device(np.ones(4, np.uint32))
    driver.device_memset(array, 0xFF, 8)
    array.gpu_data.view(12, 14).memset(2)
    array.gpu_data.memset(3, count=1, stream=cuda.stream())
    cuda.synchronize()
    assert array.copy_to_host().tobytes() == bytes([3, *[255] * 7, 1, 0, 0, 0, 2, 2, 0, 0])


@pytest.mark.parametrize("wrong, message", [
    (lambda array, host: driver.host_to_device(array, host, 97), "97 bytes of memory of 96"),
    (lambda array, host: driver.device_to_host(host[:3], array, 96), "96 bytes of memory of 24"),
    (lambda array, host: driver.device_to_host(b"bytes", array, 3), "read-only"),
    (lambda array, host: driver.device_to_host(host, "text", 3), "not 'text'"),
    (lambda array, host: driver.device_to_host(host[::2], array, 3), "np.ascontiguousarray"),
    (lambda array, host: driver.device_to_host(host, array[:, ::2], 3), "have gaps"),
    (lambda array, host: driver.device_memset(array, 256, 3), "0 to 255"),
    (lambda array, host: driver.device_memset(array.gpu_data, 1, 97), "97 bytes of memory of 96"),
    (lambda array, host: driver.require_device_memory(host), "memory of a device"),
    (lambda array, host: array.gpu_data.view(3, 2), "bytes 3 to 2"),
])
def test_wrong_copies(wrong, message):
    array, host = cuda.to_device(numbers()), np.zeros(12)
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        wrong(array, host)


def test_facts_about_memory():
    array, host = cuda.to_device(numbers()), numbers()
    start, end = driver.device_extents(array)
    assert end - start == array.nbytes == driver.device_memory_size(array) and start == driver.device_pointer(array)
    strided = array[::2, ::3]
    assert driver.device_memory_size(strided) == driver.memory_size_from_info(strided.shape, strided.strides, 8) == 96
    assert driver.memory_size_from_info((0, 3), (8, 8), 8) == 0
    low, high = driver.host_memory_extents(host[::-1])
    assert (low, high) == (host.ctypes.data, host.ctypes.data + 96)
    driver.require_device_memory(array.gpu_data)


@pytest.mark.parametrize("view", [
    lambda a: a[::-1], lambda a: a[4:8][::-1], lambda a: a[1:, ::-1], lambda a: a[3:9:2, 1:][::-1, ::-1],
    lambda a: a[2:2][::-1], lambda a: a[5:6],
], ids=range(6))
def test_memory_of_views_is_that_of_their_elements(view):
    host = np.zeros((12, 3))
    array = cuda.to_device(host)
    part, same = view(array), view(host)
    low, high = driver.host_memory_extents(same) if same.size else (same.ctypes.data,) * 2
    first = driver.device_pointer(array) - host.ctypes.data
    assert driver.device_memory_size(part) == part.gpu_data.size == high - low
    if same.size:
        assert driver.device_extents(part) == (first + low, first + high)
    driver.device_memset(part.gpu_data, 255, part.gpu_data.size)
    flat = host.reshape(-1).view(np.uint8)
    flat[low - host.ctypes.data:high - host.ctypes.data] = 255
    assert array.copy_to_host().tobytes() == host.tobytes()


@pytest.mark.parametrize("use", [
    lambda memory, host: driver.host_to_device(memory, host, 8),
    lambda memory, host: driver.device_to_host(host, memory, 8),
    lambda memory, host: driver.device_memset(memory, 1, 8),
    lambda memory, host: driver.device_to_device(cuda.device_array(1), memory, 8),
    lambda memory, host: memory.memset(1),
])
def test_memory_that_was_freed_is_not_used(use):
    memory, freed, host = cuda.current_context().memalloc(64), [], np.zeros(8)
    part = memory.view(8, 24)
    own = cuda.MemoryPointer(cuda.current_context(), memory.device_pointer_value, 64, memory, lambda: freed.append(1))
    own_part = own.view(0, 8)
    for each in memory, part, own, own_part:
        use(each, host)
    own.free()
    assert freed == [1]
    for each in own, own_part:
        with pytest.raises(RuntimeError, match="freed"):
            use(each, host)
    use(memory, host)
    memory.free()
    for each in memory, part:
        with pytest.raises(RuntimeError, match="freed"):
            use(each, host)


def test_memory_keeps_what_it_depends_on():
    array, other = cuda.to_device(numbers()), cuda.to_device(numbers())
    kept = weakref.ref(other)
    driver.device_memory_depends(array, other)
    del other
    gc.collect()
    assert kept() is not None
    del array
    gc.collect()
    assert kept() is None


def test_memory_of_an_array():
    array = cuda.to_device(numbers())
    memory = array.gpu_data
    assert isinstance(memory, cuda.MemoryPointer) and memory.size == 96 and memory.owner is array
    assert memory.context == cuda.current_context() and memory.is_alive and driver.is_device_memory(array)
    assert memory.device_pointer_value == array.device_ctypes_pointer.value == memory.device_pointer.value
    assert array.__cuda_memory__ and array.__cuda_ndarray__ and array.stream == 0 and array.alloc_size == 96
    kept = array.gpu_data
    del array, memory
    host = np.zeros(12)
    driver.device_to_host(host, kept, 96)
    assert (host == np.arange(12)).all()


def test_allocated_memory_is_freed():
    memory = cuda.current_context().memalloc(bytesize=64)
    assert isinstance(memory, driver.AutoFreePointer) and memory.size == memory.nbytes == 64
    memory.memset(7)
    host = np.zeros(64, np.uint8)
    driver.device_to_host(host, memory, 64)
    assert (host == 7).all()
    memory.free()
    assert not memory.is_alive
    with pytest.raises(RuntimeError, match="freed"):
        driver.device_to_host(host, memory.owner, 1)


def test_views_take_keywords():
    array = cuda.to_device(numbers().reshape(1, 3, 4))
    assert array.view(dtype=np.int64).dtype == np.int64 and array.view("f4").shape == (1, 3, 8)
    assert array.transpose(axes=(2, 0, 1)).shape == array.transpose(2, 0, 1).shape == (4, 1, 3)
    assert array.transpose(axes=None).shape == array.transpose().shape == array.T.shape == (4, 3, 1)
    assert array.squeeze(axis=0, stream=cuda.stream()).shape == array.squeeze(stream=0).shape == (3, 4)
    for wrong in {"axis": 1}, {"axes": 0}:
        with pytest.raises((TypeError, ValueError)):
            array.squeeze(**wrong)


def test_every_attribute_of_the_driver():
    device = cuda.get_current_device()
    names = [name for name in enums.__all__ if name.startswith("CU_DEVICE_ATTRIBUTE_")]
    assert len({getattr(enums, name) for name in names}) == 148  # all that CUDA 13.1 has
    for name in names if ON_HOST else ():  # a driver refuses what it is too old for
        assert getattr(device, name) == getattr(device, name.removeprefix("CU_DEVICE_ATTRIBUTE_"))
    assert {"WARP_SIZE", "HOST_NUMA_ID"} <= set(dir(device)) and "reset" in dir(device)
    assert device.WARP_SIZE == device.CU_DEVICE_ATTRIBUTE_WARP_SIZE == 32
    with pytest.raises(AttributeError):
        device.CU_DEVICE_ATTRIBUTE_NOTHING


def test_numbers_of_the_driver():
    assert enums.CU_DEVICE_ATTRIBUTE_WARP_SIZE == 10 and enums.CU_EVENT_INTERPROCESS == 4
    assert enums.CU_JIT_INPUT_LIBRARY == 4 and enums.CU_MEMHOSTALLOC_WRITECOMBINED == 4
    assert enums.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT == 9 and enums.CU_STREAM_PER_THREAD == 2
    assert enums.CU_CTX_LMEM_RESIZE_TO_MAX == 16 and enums.CUDA_ERROR_OUT_OF_MEMORY == 2


def test_a_device_and_its_context():
    device = cuda.get_current_device()
    context = device.get_primary_context()
    assert context == device.primary_context == cuda.current_context() and context.device == device
    assert cuda.Device.from_identity(device.id) == device and driver.driver.get_active_context() == context
    with pytest.raises(IndexError, match="no device 99"):
        cuda.Device.from_identity(99)
    stream, event = context.create_stream(), context.create_event()
    assert stream.context == event.context == context and not stream.external
    assert isinstance(event.handle, ctypes.c_void_p)
    assert cuda.external_stream(64).external and not cuda.default_stream().external
    assert context.create_legacy_default_stream().handle.value == 1
    assert context.create_per_thread_default_stream().handle.value == 2 and context.memory_manager is None


def test_arrays_are_compared_for_copies():
    array = cuda.to_device(numbers())
    assert devicearray.is_contiguous(array) and not devicearray.is_contiguous(array[:, ::2])
    assert devicearray.array_core(np.broadcast_to(np.arange(3), (4, 3))).shape == (3,)
    devicearray.check_array_compatibility(array, numbers())
    devicearray.check_array_compatibility(array, numbers().reshape(1, 3, 4))
    with pytest.raises(TypeError, match="dtype"):
        devicearray.check_array_compatibility(array, numbers().astype("f4"))
    with pytest.raises(ValueError, match="shape"):
        devicearray.check_array_compatibility(array, numbers().T)


def test_transpose():
    array = cuda.to_device(numbers())
    assert (transpose(array).copy_to_host() == numbers().T).all()
    out = cuda.device_array((4, 3))
    assert transpose(array, out) is out and (out.copy_to_host() == numbers().T).all()
    with pytest.raises(ValueError, match="two dimensions"):
        transpose(array.ravel())


def test_signatures():
    """As the document of numba.cuda writes them."""
    declare = inspect.signature(cuda.declare_device).parameters
    assert list(declare)[:5] == ["name", "sig", "link", "use_cooperative", "abi"]
    assert list(inspect.signature(driver.host_to_device).parameters) == ["dst", "src", "size", "stream"]
    launch = list(inspect.signature(driver.launch_kernel).parameters)
    assert launch[0] == "cufunc_handle" and launch[-4:] == ["sharedmem", "hstream", "args", "cooperative"]


def test_where_there_is_no_gpu_linking_is_refused():
    linker = driver.Linker.new(max_registers=32)
    with pytest.raises(driver.LinkerError, match="nothing to link"):
        linker.complete()
    linker.add_ptx(".version 6.0")
    with pytest.raises(driver.LinkerError, match="kind"):
        linker.add_file("file", "exe")
    if ON_HOST:
        with pytest.raises(cuda.CudaSupportError):
            linker.complete()


@pytest.mark.parametrize("environment, program, told", [
    ({"KRAIT_CUDA_DRIVER": "/no/such/file"}, "print(cuda.choice_reason())", "KRAIT_CUDA_DRIVER names no driver"),
    ({"KRAIT_CUDA_ARRAY_INTERFACE_SYNC": "0"}, "print(cuda.config.CUDA_ARRAY_INTERFACE_SYNC)", "0"),
    ({"KRAIT_CUDA_INCLUDE_PATH": "/a:/b"}, "print(cuda.config.CUDA_INCLUDE_PATH)", "/a:/b"),
])
def test_variables_of_the_environment(environment, program, told):
    given = {**{k: v for k, v in os.environ.items() if k != "KRAIT_CUDA_DEVICE"}, **environment}
    done = subprocess.run([sys.executable, "-c", "from krait import cuda\n" + program], env=given, capture_output=True,
                          text=True, timeout=300)
    assert told in done.stdout, done.stderr


def test_every_setting_of_numba_has_a_value():
    names = """DISABLE_CUDA ENABLE_CUDASIM FORCE_CUDA_CC CUDA_DEFAULT_PTX_CC CUDA_ARRAY_INTERFACE_SYNC CUDA_LOG_LEVEL
        CUDA_LOG_API_ARGS CUDA_LOG_SIZE CUDA_VERBOSE_JIT_LOG CUDA_DRIVER CUDA_PER_THREAD_DEFAULT_STREAM
        CUDA_LOW_OCCUPANCY_WARNINGS CUDA_WARN_ON_IMPLICIT_COPY CUDA_DEALLOCS_COUNT CUDA_DEALLOCS_RATIO
        CUDA_MEMORY_MANAGER CUDA_INCLUDE_PATH CUDA_NVRTC_EXTRA_SEARCH_PATHS CUDA_DEBUGINFO_DEFAULT CUDA_ENABLE_NRT
        CUDA_NRT_STATS CUDA_USE_NVIDIA_BINDING CUDA_DEBUG_POLY OPT CACHE_DIR DEBUG_CACHE DUMP_BYTECODE DUMP_CFG DUMP_IR
        DUMP_SSA DUMP_LLVM DUMP_OPTIMIZED DUMP_ASSEMBLY DUMP_ANNOTATION DEBUG_TYPEINFER FULL_TRACEBACKS SHOW_HELP
        COLOR_SCHEME DISABLE_PERFORMANCE_WARNINGS FUNCTION_CACHE_SIZE CHROME_TRACE
        DISABLE_ERROR_MESSAGE_HIGHLIGHTING"""
    for name in names.split():
        getattr(cuda.config, name)
