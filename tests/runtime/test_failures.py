"""What a device has no memory for, and what fails in it for another reason: the exception, its number and its text."""

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import ON_HOST

import krait
from krait import cuda, errors
from krait.cuda.cudadrv import enums

TABLE = krait._krait.driver_errors()


def child(code):
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("make", [cuda.device_array, cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
def test_too_large_an_array_is_named_with_its_bytes(make):
    with pytest.raises(errors.CudaMemoryError, match="allocating 8000000000000000 bytes") as caught:
        make(10**15)
    error = caught.value
    assert isinstance(error, MemoryError) and error.code == enums.CUDA_ERROR_OUT_OF_MEMORY
    assert "bytes are free" in error.msg and "free device arrays" in error.msg


def test_the_arrays_of_the_program_are_counted():
    kept = cuda.device_array(1000)
    with pytest.raises(errors.CudaMemoryError) as caught:
        cuda.device_array(10**15)
    assert f"device arrays of this program have {cuda.memory_report().array_bytes}" in str(caught.value)
    assert cuda.memory_report().array_bytes >= kept.nbytes


@pytest.mark.skipif(not ON_HOST, reason="the host's memory")
def test_a_launch_without_memory_says_what_it_needs():
    child("""
        import re, resource
        import numpy as np
        from krait import cuda, errors

        @cuda.jit
        def keeps(x):
            own = cuda.local.array(60000, np.float64)
            for i in range(x.size):
                own[i * 7] = i
            cuda.syncthreads()
            x[cuda.grid(1)] = own[x.size % 3 * 7]

        x = np.zeros(1024)
        keeps[1, 32](x)
        pages = int(open("/proc/self/statm").read().split()[0])
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (100 << 20), limits[1]))
        try:
            keeps[1, 1024](x)
        except errors.CudaMemoryError as error:
            text = str(error)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        needed = int(re.search(r"blocks of \\(1024, 1, 1\\) threads.* need ([0-9]+) bytes", text)[1])
        assert needed >= 1024 * 60000 * 8 and "out of memory" in text
        keeps[1, 1024](x)  # and goes on
        assert (x == 1024 % 3 * 0 + x[0]).all()
    """)


@pytest.mark.skipif(not ON_HOST, reason="files of the host")
def test_what_is_no_lack_of_memory_is_no_memory_error():
    with pytest.raises(errors.CudaAPIError) as caught, cuda.open_ipc_array(bytes(64), 3, "f8"):
        pass
    assert not isinstance(caught.value, MemoryError) and caught.value.code == enums.CUDA_ERROR_INVALID_HANDLE
    child("""
        import os, resource
        from krait import cuda, errors
        from krait.cuda.cudadrv import enums

        array = cuda.device_array(10)
        cuda.device_array(10).get_ipc_handle()
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = max(map(int, os.listdir("/proc/self/fd")))
        held = [os.dup(0) for _ in range(3)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(held[-1], most) + 1, limits[1]))
        while True:
            try:
                held.append(os.dup(0))
            except OSError:
                break
        try:
            array.get_ipc_handle()
        except errors.CudaAPIError as error:
            caught = error
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert not isinstance(caught, MemoryError) and caught.code == enums.CUDA_ERROR_OPERATING_SYSTEM, caught
        assert "Too many open files" in str(caught)
    """)


def test_the_class_of_driver_errors_is_made_and_copied_like_others():
    error = errors.CudaAPIError(700, "text")
    assert (error.code, error.msg, str(error)) == (700, "text", "text")
    for other in pickle.loads(pickle.dumps(error)), copy.copy(error):
        assert type(other) is errors.CudaAPIError and other.args == (700, "text") and str(other) == "text"
    assert errors.CudaAPIError().code is None and str(errors.CudaAPIError("one")) == "one"
    assert issubclass(errors.CudaAPIError, errors.CudaError) and issubclass(errors.CudaSupportError, errors.CudaError)


def test_every_failure_has_one_name_and_one_number():
    numbers, names, *_ = zip(*TABLE)
    assert len(set(numbers)) == len(set(names)) == len(TABLE) and list(numbers) == sorted(numbers)
    for number, name, hint, ends in TABLE:
        assert getattr(enums, name) == number and name.startswith("CUDA_ERROR_")
        assert not hint.endswith(".") and hint == hint.strip() and (hint or not ends), name
    assert enums.CUDA_SUCCESS == 0


@pytest.mark.skipif(not ON_HOST, reason="there is a GPU")
def test_what_needs_a_gpu_says_so():
    class Foreign:
        __cuda_array_interface__ = {"shape": (1,), "typestr": "<f8", "data": (0, False), "version": 3}

    with pytest.raises(cuda.CudaSupportError, match="needs a GPU"):
        cuda.as_cuda_array(Foreign())
    assert isinstance(cuda.cuda_error(), errors.CudaSupportError)


def test_memory_is_locked_once():
    array = np.ones(10000)
    with pytest.raises(errors.CudaAPIError) as caught, cuda.pinned(array, array[100:]):
        pass
    assert caught.value.code == enums.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    with cuda.pinned(array), cuda.pinned(np.ones(10000)):  # and what was locked is not any more
        pass


def test_arguments_that_a_gpu_does_not_pass_are_refused():
    @cuda.jit
    def first(out, numbers):
        out[0] = numbers[0]

    out = np.zeros(1)
    first[1, 1](out, tuple(map(float, range(400))))
    with pytest.raises(ValueError, match="a GPU passes at most"):
        first[1, 1](out, tuple(map(float, range(600))))
