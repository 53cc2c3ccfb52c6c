"""What a kernel object tells and does beside launching; functions compiled for other programs."""

import math
import os
import re
import shutil

import numpy as np
import pytest
from assembler import assemble
from conftest import host_device, on_the_gpu

from krait import _testing, cuda, errors, float32, float64, int32, int64


@cuda.jit
def block_maximum(x, out):
    values = cuda.shared.array(64, np.float64)
    values[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.blockIdx.x] = max(values[0], values[1])


# ---- facts ----


def test_needs_of_a_kernel():
    block_maximum[1, 64](np.arange(64.0), np.zeros(1))
    types = block_maximum.signatures[0]
    assert block_maximum.get_shared_mem_per_block() == {types: 512}
    assert block_maximum.get_shared_mem_per_block(types) == 512
    assert 0 < block_maximum.get_max_threads_per_block(types) <= 1024
    assert block_maximum.get_local_mem_per_thread(types) >= 0
    assert block_maximum.get_const_mem_size(types) >= 0
    with pytest.raises(KeyError):
        block_maximum.get_regs_per_thread((int32,))


@host_device
def test_the_host_has_no_registers_to_tell_of():
    block_maximum[1, 64](np.arange(64.0), np.zeros(1))
    assert set(block_maximum.get_regs_per_thread().values()) == {0}


@on_the_gpu
def test_registers():
    block_maximum[1, 64](np.arange(64.0), np.zeros(1))
    assert all(0 < count < 256 for count in block_maximum.get_regs_per_thread().values())


def test_a_kernel_for_one_signature_tells_numbers():
    kernel = cuda.jit((float64[::1], float64[::1]))(block_maximum.py_func)
    assert kernel.specialized and kernel.get_shared_mem_per_block() == 512
    assert not block_maximum.specialized


def test_specialize():
    x, out = np.arange(64.0), np.zeros(1)
    special = block_maximum.specialize(x, out)
    assert special.specialized and special is block_maximum.specialize(x, out)
    assert list(block_maximum.specializations.values()) == [special]
    special[1, 64](x, out)
    assert out[0] == 1


def test_counts_and_recompiling():
    scale = 2

    @cuda.jit
    def kernel(x):
        x[0] = scale

    x = np.zeros(1)
    kernel[1, 1](x)
    kernel[1, 1](x)
    assert kernel.stats.cache_misses == 1
    assert [str(s.return_type) for s in kernel.nopython_signatures] == ["None"]
    kernel.recompile()
    kernel[1, 1](x)
    assert x[0] == 2


def test_nothing_more_is_compiled_when_that_is_off():
    @cuda.jit
    def kernel(x):
        x[0] = 1

    kernel[1, 1](np.zeros(1))
    kernel.disable_compile()
    with pytest.raises(TypeError):
        kernel[1, 1](np.zeros(1, np.float32))


@pytest.mark.skipif(not shutil.which("nvdisasm") and not shutil.which("cuobjdump"), reason="no disassembler")
def test_machine_code():
    assert "EXIT" in block_maximum.inspect_sass((float64[::1], float64[::1]))


@pytest.mark.skipif(not shutil.which("nvdisasm"), reason="no disassembler")
def test_machine_code_as_a_graph():
    text = block_maximum.inspect_sass_cfg((float64[::1], float64[::1]))
    assert "digraph" in text and "EXIT" in text


def test_the_block_that_occupies_most():
    @cuda.jit
    def kernel(x):
        x[0] = 1

    kernel[1, 1](np.zeros(1))
    context = cuda.current_context()
    device = context.device
    most = kernel.get_max_threads_per_block()[kernel.signatures[0]]

    def running(threads, shared=0):
        return context.get_active_blocks_per_multiprocessor(kernel, threads, shared)

    for limit in (0, 96, 33):
        grid, block = context.get_max_potential_block_size(kernel, None, 0, limit)
        assert 0 < block <= (limit or most) and grid == running(block) * device.MULTIPROCESSOR_COUNT
        sizes = range(32, (limit or most) + 1, 32)
        assert block * running(block) == max(threads * running(threads) for threads in [*sizes, block])
    asked = []
    dynamic = lambda threads: asked.append(threads) or 8 * threads  # noqa: E731
    grid, block = context.get_max_potential_block_size(kernel, dynamic, 0, 64)
    assert set(asked) == {32, 64} and grid == running(block, 8 * block) * device.MULTIPROCESSOR_COUNT


def test_without_a_toolkit_machine_code_says_what_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "")
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    if os.path.exists("/usr/local/cuda/bin/ptxas"):
        pytest.skip("a toolkit at its usual place")
    with pytest.raises(errors.CudaError, match="put it on PATH"):
        block_maximum.inspect_sass((float64[::1], float64[::1]))


# ---- options ----


class Lists:
    """Lists of floats as arguments: copied in, and back after the launch."""

    def __init__(self, factor=1.0):
        self.factor, self.seen = factor, []

    def prepare_args(self, ty, val, stream, retr):
        self.seen.append(ty)
        if not isinstance(val, list):
            return ty, val
        array = np.array(val) * self.factor
        retr.append(lambda: val.__setitem__(slice(None), array.tolist()))
        return None, array


def test_extensions_replace_arguments():
    extension = Lists()

    @cuda.jit(extensions=[extension])
    def add(x, y):
        x[cuda.threadIdx.x] += y

    values = [1.0, 2.0, 3.0]
    add[1, 3](values, 10)
    assert values == [11.0, 12.0, 13.0]
    assert extension.seen[0] is None and str(extension.seen[1]) == "int"
    assert add.extensions == [extension]


def test_the_last_extension_sees_an_argument_first():
    first, last = Lists(2.0), Lists(3.0)

    @cuda.jit(extensions=[first, last])
    def store(x):
        x[0] += 1

    values = [5.0]
    store[1, 1](values)
    assert values == [16.0]  # the first was given an array


@pytest.mark.parametrize("carveout", [-1, 0, 100, "default", "MaxL1", "maxshared"])
def test_the_cache_is_divided(carveout):
    out = np.zeros(1)
    kernel = cuda.jit(shared_memory_carveout=carveout)(block_maximum.py_func)
    kernel[1, 64](np.arange(64.0), out)
    assert out[0] == 1


@pytest.mark.parametrize("option, value, error", [
    ("shared_memory_carveout", 101, ValueError), ("shared_memory_carveout", "most", ValueError),
    ("extensions", 5, TypeError), ("launch_bounds", (1, 2, 3, 4), TypeError), ("lto", "yes", TypeError),
    ("forceinline", 2.5, TypeError),
])
def test_options_that_are_no_options(option, value, error):
    with pytest.raises(error, match=option):
        cuda.jit(**{option: value})


def test_launch_bounds_of_clusters():
    kernel = cuda.jit(launch_bounds=(64, 2, 4))(block_maximum.py_func)
    ptx = kernel.inspect_ptx((float64[::1], float64[::1]), compute_capability=(9, 0))
    assert kernel.inspect_lto_ptx((float64[::1], float64[::1]), compute_capability=(9, 0)) == ptx
    assert ".maxntid 64" in ptx and ".minnctapersm 2" in ptx and ".maxclusterrank 4" in ptx
    assert "maxclusterrank" not in kernel.inspect_ptx((float64[::1], float64[::1]), compute_capability=(8, 0))


# ---- fastmath ----


def test_fastmath_reaches_what_the_library_computes():
    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = 1 / math.sqrt(x[i]) + x[i] / y[i] + math.hypot(x[i], y[i])

    types = "array(float32, 1, C); array(float32, 1, C); array(float32, 1, C)"
    exact, fast = _testing.compile(kernel, types), _testing.compile(kernel, types, fastmath=127)
    assert "sqrt.rn.f32" in exact and "div.rn.f32" in exact and "approx" not in exact
    assert "rsqrt.approx.ftz.f32" in fast and "div.approx.ftz.f32" in fast
    assert "sqrt.rn" not in fast and "div.rn" not in fast


def test_libdevice_is_exact_without_fastmath():
    def kernel(x):
        x[0] = cuda.libdevice.sqrtf(x[0])

    assert "sqrt.rn.f32" in _testing.compile(kernel, "array(float32, 1, C)")
    assert "sqrt.approx.ftz.f32" in _testing.compile(kernel, "array(float32, 1, C)", fastmath=127)


# ---- compiled for other programs ----


def scaled(a, x):
    return a * x[0]


def test_a_device_function_with_the_abi_of_c():
    ptx, result = cuda.compile(scaled, float32(float32, float32[::1]))
    assert result == float32
    assert re.search(r"\.visible \.func +\(\.param \.b32 func_retval0\) scaled\(", ptx)
    assert ".target sm_75" in ptx
    assemble(ptx)


def test_a_device_function_with_a_status():
    ptx, result = cuda.compile(scaled, (float64, float64[::1]), abi="numba", cc=(9, 0), abi_info={"abi_name": "mine"})
    assert result == float64 and ".target sm_90" in ptx
    assert re.search(r"\.visible \.func +\(\.param \.b32 func_retval0\) mine\(\s+\.param \.b64 mine_param_0", ptx)
    assert re.search(r"st\.b64\s+\[%rd\d+\], %rd\d+;\s+st\.param\.b32\s+\[func_retval0\], 0;", ptx)
    assemble(ptx)


def pair(a, b):
    return a + b, a > b


def nothing(x):
    x[0] = 1


@pytest.mark.parametrize("function, signature, start", [
    (pair, (int32, int64), r"\.func +\(\.param \.align 8 \.b8 func_retval0\[16\]\) pair\("),
    (nothing, (int32[:],), r"\.func nothing\("),
    (lambda a, b: a < b, (int32, int32), r"\.func +\(\.param \.b32 func_retval0\) _lambda_\("),
])
def test_results_as_c_gives_them(function, signature, start):
    ptx, _ = cuda.compile(function, signature)
    assert re.search(start, ptx), ptx
    assemble(ptx)


def test_a_kernel():
    ptx, result = cuda.compile_ptx(nothing, (int32[::1],))
    assert ".visible .entry nothing(" in ptx and str(result) == "None"
    code, _ = cuda.compile_all(nothing, (int32[::1],), device=False, abi="numba")
    assert code == [ptx]
    bounded, _ = cuda.compile(nothing, (int32[::1],), device=False, abi="numba", launch_bounds=128)
    assert ".maxntid 128" in bounded


def test_for_the_device_that_is_there():
    major, minor = cuda.get_current_device().compute_capability
    for compiled in (cuda.compile_ptx_for_current_device(nothing, (int32[::1],)),
                     cuda.compile_for_current_device(scaled, (float32, float32[::1]))):
        assert f".target sm_{major}{minor}" in compiled[0]


@pytest.mark.parametrize("options, error", [
    ({"abi": "rust"}, NotImplementedError), ({"output": "cubin"}, NotImplementedError),
    ({"output": "ltoir"}, errors.UnsupportedError), ({"device": False}, NotImplementedError),
])
def test_what_is_not_compiled(options, error):
    with pytest.raises(error):
        cuda.compile(nothing, (int32[::1],), **options)


def test_a_mistake_is_told_with_its_line():
    def wrong(x):
        return x.nothing_like_it

    with pytest.raises(errors.TypingError, match="nothing_like_it"):
        cuda.compile(wrong, (int32,))


# ---- names ----


def test_small_vectors_have_the_names_of_cuda():
    assert cuda.float4 is cuda.float32x4 and cuda.uchar3 is cuda.uint8x3 and cuda.ulonglong2 is cuda.uint64x2
    assert cuda.types.float64 is float64


def raising(error, name):
    def raise_it(self):
        raise error

    return type("Foreign", (), {name: raise_it if name == "__cuda_stream__" else property(raise_it)})()


@pytest.mark.parametrize("name", ["__cuda_stream__", "cuda_stream", "ptr"])
@pytest.mark.parametrize("error", [KeyboardInterrupt("stop"), MemoryError("none left"), ZeroDivisionError("by zero")])
def test_what_a_stream_of_another_library_raises_is_not_lost(name, error):
    kernel = cuda.jit(lambda x: None)
    with pytest.raises(type(error)) as info:
        kernel[1, 1, raising(error, name)](np.zeros(1))
    assert info.value is error


def test_what_no_stream_is_is_refused():
    kernel = cuda.jit(lambda x: None)
    with pytest.raises(TypeError, match="a stream is"):
        kernel[1, 1, raising(AttributeError("no"), "ptr")](np.zeros(1))


def test_what_the_interface_of_an_array_raises_is_not_lost():
    error = KeyboardInterrupt("stop")
    with pytest.raises(KeyboardInterrupt) as info:
        cuda.In(raising(error, "__cuda_array_interface__"))
    assert info.value is error


def test_an_attribute_of_a_device_is_named_in_any_letters():
    with pytest.raises(AttributeError):
        getattr(cuda.get_current_device(), "\udc80")


# ---- a specialisation by itself ----


@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i]


def test_a_specialisation_is_launched_and_tells_of_its_code(capsys):
    x, out = np.arange(6.0), np.zeros(6)
    doubled[1, 8](x, out)
    found = doubled.overloads[doubled.signatures[0]]
    assert found.kernel is doubled and found.bind() is None
    for arguments in (((1, 1, 1), (8, 1, 1)), (1, 8), (1, 8, 0, 0)):
        out[:] = 0
        found.launch((x, out), *arguments)
        cuda.synchronize()
        assert out.tolist() == (x + x).tolist()
    found.launch((x, out), griddim=1, blockdim=8, stream=cuda.stream(), sharedmem=0)
    with pytest.raises(TypeError, match="takes 2 arguments, 1 were given"):
        found.launch((x,), 1, 8)
    for others in (x.astype("f4"), out), (x, out.astype("f4")), (x[::2], out[::2]), (x, 1.0):
        with pytest.raises(TypeError, match="the arguments are"):
            found.launch(others, 1, 8)
    found.launch((cuda.to_device(x), cuda.to_device(out)), 1, 8)
    assert len(doubled.overloads) == 1
    assert f".entry {found.entry_name}(" in found.inspect_lto_ptx() == found.inspect_ptx()
    code = found.library
    assert code.name == found.entry_name and "define" in code.get_llvm_str()
    assert ".target sm_90" in code.get_asm_str(cc=(9, 0)) and found.entry_name in code.get_asm_str()
    found.inspect_types()
    assert capsys.readouterr().out.count("func doubled(x: array(float64, 1, C)") == 1


def test_inspect_types_of_one_signature(capsys):
    kernel = cuda.jit(doubled.py_func)
    for dtype in (np.float32, np.int64):
        kernel[1, 8](np.zeros(3, dtype), np.zeros(3, dtype))
    kernel.inspect_types(signature=kernel.signatures[1])
    text = capsys.readouterr().out
    assert "x: array(int64, 1, C)" in text and "float32" not in text
    with pytest.raises(KeyError):
        kernel.inspect_types(signature=(float64[:],))


def test_a_kernel_for_one_signature_is_not_specialised_again():
    x = np.zeros(3)
    special = doubled.specialize(x, x)
    with pytest.raises(RuntimeError, match="for one signature already"):
        special.specialize(x, x)
