"""Names that programs import from Numba's modules, and what they do with them."""

import importlib
import warnings

import numpy as np
import pytest

import krait
from krait import cuda, float32
from krait.extending import overload

PLACES = {
    "krait.core.errors": "NumbaError NumbaPerformanceWarning NumbaWarning NumbaDeprecationWarning TypingError "
    "LoweringError UnsupportedError NumbaValueError RequireLiteralValue",
    "krait.core.types": "float32 int64 Array Record UniTuple unicode_type",
    "krait.core.config": "NUMBA_NUM_THREADS CUDA_DEALLOCS_COUNT CUDA_MEMORY_MANAGER",
    "krait.np.numpy_support": "as_dtype from_dtype carray farray",
    "krait.core.withcontexts": "objmode_context",
    "krait.cuda.api": "to_device synchronize device_array",
    "krait.cuda.compiler": "compile compile_ptx compile_ptx_for_current_device declare_device",
    "krait.cuda.dispatcher": "CUDADispatcher",
    "krait.cuda.errors": "KernelRuntimeError CudaLoweringError",
    "krait.cuda.extending": "overload overload_method overload_attribute intrinsic register_jitable",
    "krait.cuda.vector_types": "vector_types",
    "krait.cuda.cudadrv.driver": "CudaAPIError LinkerError driver",
    "krait.cuda.cudadrv.error": "CudaSupportError NvvmSupportError",
    "krait.cuda.cudadrv.nvvm": "NvvmError NvvmSupportError NVVM is_available",
    "krait.cuda.cudadrv.libs": "get_libdevice open_cudalib test",
    "krait.cuda.core.config": "CUDA_DEBUGINFO_DEFAULT",
    "krait.cuda.core.errors": "TypingError NumbaPerformanceWarning",
    "krait.cuda.core.types": "float32 Array",
    "krait.cuda.np.numpy_support": "as_dtype from_dtype",
    "krait.cuda.typing.templates": "signature AttributeTemplate infer_global",
    "krait.cuda.testing": "CUDATestCase ContextResettingTestCase skip_on_cudasim skip_unless_cc_75 unittest",
    "krait.core.datamodel": "models register_default",
    "krait.core.imputils": "lower_builtin lower_constant Registry",
}


@pytest.mark.parametrize("place", PLACES)
def test_names_are_where_programs_look_for_them(place):
    module = importlib.import_module(place)
    assert not [name for name in PLACES[place].split() if not hasattr(module, name)]


def test_classes_of_errors_are_what_is_raised():
    assert issubclass(krait.errors.TypingError, krait.core.errors.NumbaError)
    assert krait.NumbaPerformanceWarning is krait.errors.PerformanceWarning
    assert issubclass(krait.NumbaPerformanceWarning, krait.NumbaWarning)
    with pytest.raises(AttributeError):
        krait.NoSuchError
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=krait.NumbaDeprecationWarning)


def test_types_and_dtypes():
    from krait.np.numpy_support import as_dtype, as_struct_dtype, from_dtype, is_nonelike, map_layout, type_can_asarray

    record = np.dtype([("x", "f4"), ("y", "i8")])
    for dtype in (np.dtype("f4"), np.dtype("i8"), record):
        assert as_dtype(from_dtype(dtype)) == dtype
    assert as_dtype(float32[:]) == np.float32
    assert as_struct_dtype(from_dtype(record)) == record
    with pytest.raises(TypeError, match="is no type of a record"):
        as_struct_dtype(float32)
    for a in (np.zeros((2, 3)), np.zeros((2, 3)).T, np.zeros((4, 4))[::2, ::2]):
        assert map_layout(a) == krait.typeof(a).layout
    assert is_nonelike(krait.typeof(None)) and is_nonelike(None) and not is_nonelike(float32)
    values = (np.ones(2), (1, 2), [1.5], 3, True, range(3), {1: 2}, {1}, None)
    assert [type_can_asarray(krait.typeof(value)) for value in values] == [True] * 5 + [False] * 4


def test_what_waits_to_be_freed_is_nothing():
    deallocations = cuda.current_context().deallocations
    deallocations.clear()
    assert len(deallocations) == 0 and not deallocations.is_disabled


def test_functions_that_say_what_is_compiled_may_ask_for_the_launch():
    from krait.cuda.launchconfig import capture_compile_config, current_launch_config, ensure_current_launch_config

    seen = []

    def threads(x):
        pass

    @overload(threads)
    def threads_of_the_launch(x):
        launch = ensure_current_launch_config()
        seen.append((launch.griddim, launch.blockdim, launch.sharedmem, launch.stream))
        launch.pre_launch_callbacks.append(lambda kernel, launcher: seen.append((kernel, launcher)))
        return lambda x: 2 * x

    @cuda.jit
    def fill(a):
        a[cuda.grid(1)] = threads(3)

    a, other = np.zeros(4), np.zeros(6)
    launch = fill[2, 2]
    with pytest.raises(RuntimeError):
        ensure_current_launch_config()
    with capture_compile_config(fill) as captured:
        launch(a)
    assert captured["config"] is launch and launch.dispatcher is fill and current_launch_config() is None
    assert seen == [((2, 1, 1), (2, 1, 1), 0, 0), (fill, launch)] and (a == 6).all()
    launch(a)
    fill[3, 2](other)  # another configuration has callbacks of its own, and the code is there
    assert seen[2:] == [(fill, launch)] and (other == 6).all()


def test_a_failed_compilation_leaves_no_launch():
    from krait.cuda.launchconfig import current_launch_config

    @cuda.jit
    def wrong(a):
        a[0] = "text" + 1

    with pytest.raises(krait.errors.KraitError):
        wrong[1, 1](np.zeros(1))
    assert current_launch_config() is None


def test_a_callback_that_fails_keeps_the_kernel_from_running():
    @cuda.jit
    def count(a):
        a[0] += 1

    def fail(kernel, launcher):
        raise KeyError("no")

    launch, a = count[1, 1], np.zeros(1)
    launch.pre_launch_callbacks.append(fail)
    with pytest.raises(KeyError):
        launch(a)
    launch.pre_launch_callbacks.clear()
    launch(a)
    assert a[0] == 1


def test_device_functions_are_compiled_for_types():
    @cuda.jit(device=True)
    def add(a, b):
        return a + b

    made = add.compile_device((float32, float32))
    assert made is add.compile_device([float32, float32])
    assert made.signature == float32(float32, float32) and f".func  (.param .b32 func_retval0) {made.name}(" in made.ptx
    assert add.compile_device((krait.int64, krait.int64)).name != made.name


def test_nopython_is_the_only_mode_of_kernels():
    @cuda.jit(nopython=True)
    def one(a):
        a[0] = 1

    a = np.zeros(1)
    one[1, 1](a)
    assert a[0] == 1


def test_a_specialisation_tells_what_its_kernel_tells_of_it():
    @cuda.jit
    def one(a):
        a[cuda.grid(1)] = 1

    one[1, 2](np.zeros(2)), one[1, 2](np.zeros(2, np.float32))
    for types, made in one.overloads.items():
        assert made.argument_types == types and made.cooperative is False
        for fact in "regs_per_thread shared_mem_per_block const_mem_size local_mem_per_thread".split():
            assert getattr(made, fact) == getattr(one, f"get_{fact}")(types), fact
        assert made.max_threads_per_block == made.get_max_threads_per_block() == 1024
        assert made.inspect_llvm() == one.inspect_llvm(types) and ".entry" in made.inspect_ptx()
        assert cuda.current_context().get_active_blocks_per_multiprocessor(made, 128, 0) > 0
    size = krait.njit(lambda x: abs(x))
    size(-1)
    with pytest.raises(AttributeError, match="is no kernel's"):
        next(iter(size.overloads.values())).regs_per_thread


def test_types_of_records_and_times_name_what_arrays_are_made_of():
    dtype = np.dtype([("x", np.float32), ("y", np.int32)])
    point, day = krait.from_dtype(dtype), krait.types.NPDatetime("D")

    @cuda.jit
    def turn(a, b, days):
        shared, local, first = cuda.shared.array(4, point), cuda.local.array(1, dtype=point), cuda.local.array(1, day)
        i = cuda.threadIdx.x
        shared[i].x = a[i].x * 2
        shared[i].y = a[i].y + 1
        cuda.syncthreads()
        local[0] = shared[3 - i]
        b[i].x = local[0].x
        b[i].y = local[0].y
        first[0] = days[0]
        days[i] = first[0]

    a, b = np.zeros(4, dtype), np.zeros(4, dtype)
    a["x"] = a["y"] = range(4)
    days = np.array(["2020-02-02", "2020-02-03"] * 2, "M8[D]")
    turn[1, 4](a, b, days)
    assert b["x"].tolist() == [6, 4, 2, 0] and b["y"].tolist() == [4, 3, 2, 1] and (days == days[0]).all()
    with pytest.raises(krait.errors.KraitError, match="cannot be called"):
        cuda.jit(lambda a: point(3))[1, 1](a)


def test_ord_of_a_known_character_is_a_constant():
    @cuda.jit
    def codes(out):
        out[0], out[1], out[2], out[3] = ord("o"), ord("\u00e9"), ord("\u20ac"), ord("\U0001f600")

    out = np.zeros(4, np.int64)
    codes[1, 1](out)
    assert out.tolist() == [0x6F, 0xE9, 0x20AC, 0x1F600]
    for wrong in ("", "ab"):
        with pytest.raises(TypeError):
            krait.njit(lambda: ord(wrong))()


def test_modules_of_the_driver_are_reached_through_cuda():
    array = cuda.to_device(np.zeros(3))
    assert isinstance(array, cuda.devicearray.DeviceNDArray) and cuda.devicearray.is_cuda_ndarray(array)
    assert cuda.devices.get_context() is not None and cuda.driver is cuda.cudadrv.driver
    from krait.cuda.args import ArgHint

    assert isinstance(cuda.In(np.zeros(3)), ArgHint) and not isinstance(array, ArgHint)


def test_names_in_two_places_are_one():
    from krait.cuda.core import types
    from krait.cuda.core.errors import TypingError
    from krait.cuda.np.numpy_support import as_dtype
    from krait.cuda.typing.typeof import typeof

    assert types is krait.types and TypingError is krait.errors.TypingError and typeof is krait.typeof
    assert as_dtype is krait.np.numpy_support.as_dtype


def test_what_builds_llvm_says_so_where_it_is_used():
    from krait.core.imputils import lower_constant
    from krait.core.typing.templates import AbstractTemplate, infer_global
    from krait.cuda.cudadrv.libs import get_libdevice
    from krait.cuda.cudadrv.nvvm import NVVM, get_arch_option

    assert get_arch_option(9, 0) == "compute_90"
    for use in (lambda: lower_constant(int), lambda: infer_global(abs), get_libdevice, NVVM,
                lambda: type("Own", (AbstractTemplate,), {})):
        with pytest.raises(krait.errors.UnsupportedError, match="is not there yet\n  hint: "):
            use()

    def add(typingctx, a, b):
        raise AssertionError

    with pytest.raises(TypeError, match="intrinsic cannot call add to build LLVM IR: give the text"):
        krait.extending.intrinsic(add)


def test_programs_tests_run():
    from krait.cuda import testing

    ran = []

    @testing.skip_on_cudasim("warps")
    class Tests(testing.CUDATestCase):
        def test_runs(self):
            with testing.captured_stdout() as text:
                print("seen")
            self.assertEqual(text.getvalue(), "seen\n")
            ran.append("runs")

        @testing.skip_unless_cudasim("the simulator alone")
        def test_simulator(self):
            raise AssertionError

        @testing.skip_unless_cc_50
        def test_every_gpu(self):
            self.assertTrue(cuda.get_current_device().compute_capability >= (5, 0))
            ran.append("every GPU")

    result = testing.unittest.TestResult()
    testing.unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    assert result.wasSuccessful() and sorted(ran) == ["every GPU", "runs"] and [why for _, why in result.skipped] == [
        "the simulator alone"]
