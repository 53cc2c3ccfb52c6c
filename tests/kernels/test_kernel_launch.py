"""cuda.jit: forms, launch configurations, arguments, forall, host arrays, errors and warnings of a launch."""

import os
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

from krait import cuda, float32, float64, int64, types
from krait.errors import KraitWarning, LaunchError, OutOfBoundsWarning, TypingError

on_host = pytest.mark.skipif(cuda.is_available(), reason="the host device reports more than a GPU can")


@cuda.jit
def scale(x, k):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= k


@cuda.jit
def add_into(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def fill_2d(x, value):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] = value + 10 * i + j


# ---- forms ----------------------------------------------------------------------------------------------------------


def test_attributes():
    assert scale.__name__ == "scale" and scale.__module__ == __name__ and scale.__wrapped__ is scale.py_func
    assert "scale" in repr(scale)


@pytest.mark.parametrize(
    "decorate",
    [
        cuda.jit,
        cuda.jit(),
        cuda.jit("void(f8[:], f8)"),
        cuda.jit("void(float64[::1], float64)"),
        cuda.jit((float64[:], float64)),
        cuda.jit(["void(f4[:], f4)", "void(f8[:], f8)"]),
        cuda.jit(types.void(float64[:], float64)),
        cuda.jit(
            fastmath=True,
            debug=False,
            lineinfo=True,
            opt=True,
            max_registers=32,
            launch_bounds=256,
            inline="never",
            cache=True,
        ),
        cuda.jit(launch_bounds=(256, 2)),
        cuda.jit("void(f8[:], f8)", max_registers=64),
    ],
)
def test_forms(decorate):
    kernel = decorate(scale.py_func)
    x = np.arange(10.0)
    kernel[1, 32](x, 3.0)
    np.testing.assert_array_equal(x, 3 * np.arange(10.0))


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="cuda.jit has no option 'device_'; its options are .*max_registers"):
        cuda.jit(device_=True)
    with pytest.raises(TypeError, match="launch_bounds"):
        cuda.jit(launch_bounds=(1, 2, 3, 4))
    with pytest.raises(TypeError, match="opt"):
        cuda.jit(opt=9)


def test_device_functions():
    @cuda.jit(device=True)
    def square(v):
        return v * v

    @cuda.jit("float64(float64)", device=True, inline="always")
    def cube(v):
        return v * v * v

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = square(x[i]) + cube(x[i])

    x = np.arange(5.0)
    kernel[1, 8](x)
    np.testing.assert_array_equal(x, np.arange(5.0) ** 2 + np.arange(5.0) ** 3)
    with pytest.raises(TypeError, match="device function"):
        square(3)
    with pytest.raises(TypeError, match="device function"):
        square[1, 1](3)
    with pytest.raises(TypingError):
        cuda.jit("float64(float64)", device=True)(lambda v: v.nothing)


def test_a_kernel_returns_nothing():
    with pytest.raises(TypingError, match="returns"):

        @cuda.jit
        def kernel(x):
            return x[0]

        kernel[1, 1](np.zeros(3))


def test_intrinsics_belong_in_kernels():
    for intrinsic in (cuda.grid, cuda.syncthreads, cuda.atomic.add, cuda.shared.array, cuda.threadIdx.x):
        with pytest.raises(RuntimeError, match="kernel"):
            intrinsic(1)
    assert "krait.cuda.threadIdx.x" in repr(cuda.threadIdx.x)
    assert set(dir(cuda.threadIdx)) == {"x", "y", "z"}
    with pytest.raises(AttributeError):
        cuda.atomic.nothing


# ---- configurations -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, block",
    [(4, 8), ((4,), (8,)), ((2, 2), (4, 2)), ([4], [8]), (np.int64(4), np.int32(8)), ((2, 2, 1), (2, 2, 2))],
)
def test_grids_and_blocks(grid, block):
    @cuda.jit
    def count(x):
        cuda.atomic.add(x, 0, 1)

    x = np.zeros(1, np.int64)
    count[grid, block](x)
    assert x[0] == 32


def test_a_configuration_is_known_by_its_value_whatever_was_asked_for_before():
    one, many = int("1"), int("300")
    stream, other = cuda.stream(), cuda.stream()
    asked = [(one, many), (many, one), (one, (many, one)), ((one, 2), many), (one, (one, many)), (one, many, stream)]
    asked += [(one, many, other), (one, many, stream, 64), (one, many, 0, 64), (one, (many, one, one)), (one, None)]
    for first in asked:
        for second in asked:
            scale[first]  # the last one that was asked for
            launcher = scale[second]
            grid, block = (part if isinstance(part, tuple) else (part,) for part in second[:2])
            assert launcher.griddim == grid + (1,) * (3 - len(grid))
            assert launcher.blockdim == (None if block == (None,) else block + (1,) * (3 - len(block)))
            assert launcher.stream is (second[2] if len(second) > 2 and second[2] else launcher.stream)
            assert launcher.stream == (second[2] if len(second) > 2 else 0)
            assert launcher.sharedmem == (second[3] if len(second) > 3 else 0)
            assert scale[tuple(second)] is scale[tuple(list(second))] is launcher


def test_what_was_asked_for_last_does_not_make_a_configuration_right():
    scale[1, 2]
    for key in (1.0, 2), (1, 2.0), (1, "2"), ((1,), (2.0,)):
        with pytest.raises((TypeError, ValueError)):
            scale[key]
    with pytest.raises(ValueError):
        scale[1]


@pytest.mark.parametrize("forget", ["recompile", "many others"])
def test_a_launcher_that_is_forgotten_is_made_anew(forget):
    @cuda.jit
    def count(x):
        x[0] += 1

    before = count[1, 1]
    if forget == "recompile":
        count.recompile()
    else:
        for blocks in range(1, 300):
            count[blocks, 2]
    assert count[1, 1] is not before


def test_launchers_are_kept():
    assert scale[4, 8] is scale[4, 8]
    assert scale[4, 8] is not scale[8, 4]
    launcher = scale[(2, 3), 8, 0, 64]
    assert launcher.griddim == (2, 3, 1) and launcher.blockdim == (8, 1, 1) and launcher.sharedmem == 64
    assert launcher.kernel is scale
    x = np.ones(6)
    scale.configure(1, 8)(x, 2.0)
    assert x[5] == 2


@pytest.mark.parametrize("key", [4, (4,), (1, 2, 0, 0, 0)])
def test_a_configuration_has_two_to_four_parts(key):
    with pytest.raises(ValueError, match="grid, block"):
        scale[key]


@pytest.mark.parametrize(
    "grid, block, error, match",
    [
        (0, 8, ValueError, "from 1"),
        (-1, 8, ValueError, "from 1"),
        (1.5, 8, TypeError, "grid"),
        ("4", 8, TypeError, "grid"),
        (1, 2048, ValueError, "1024"),
        (1, (64, 64), ValueError, "1024"),
        (1, (1, 1, 128), ValueError, "along z"),
        ((1, 1, 1, 1), 8, ValueError, "3 dimensions"),
        ((1, 70000), 8, ValueError, "65535"),
        (1, "x", TypeError, "block"),
        ((), 8, ValueError, "dimensions"),
    ],
)
def test_bad_configurations(grid, block, error, match):
    with pytest.raises(error, match=match):
        scale[grid, block]


@pytest.mark.parametrize("key", [(2.0, 8), (2, 8.0), ((2, 1.0), 8), (2, 8, 0.0), (2, 8, np.float32(0)),
                                 (2, 8, 0, 0.0)])
def test_what_was_configured_before_does_not_make_a_configuration_right(key):
    """2.0 is equal to a key that was kept."""

    @cuda.jit
    def kernel(x):
        x[0] = 1

    def told():
        with pytest.raises((TypeError, ValueError)) as caught:
            kernel[key]
        return str(caught.value)

    before = told()
    whole = [kernel[2, 8], kernel[1, 8], kernel[2, 1], kernel[(2, 1), 8], kernel[2, 8, 0], kernel[2, 8, 0, 0]]
    assert told() == before
    assert kernel[2, 8] is whole[0] is kernel[np.int64(2), np.uint8(8)] and kernel[2, 8, 0, 0] is whole[-1]


def test_shared_memory_is_a_size():
    with pytest.raises(ValueError, match="bytes"):
        scale[1, 1, 0, -4]


def test_a_kernel_needs_a_configuration():
    with pytest.raises(ValueError, match=r"scale is a kernel .*: scale\[blocks, threads\]"):
        scale(np.zeros(3), 1.0)


def test_launch_bounds_hold():
    kernel = cuda.jit(launch_bounds=64)(scale.py_func)
    kernel[1, 64](np.zeros(3), 1.0)
    with pytest.raises(ValueError, match="launch_bounds"):
        kernel[1, 128](np.zeros(3), 1.0)


def test_forall():
    for n in (1, 31, 1000):
        for threads in (0, 32, 100):
            x = np.ones(n)
            scale.forall(n, threads)(x, 2.0)
            assert (x == 2).all()
    scale.forall(0)(np.zeros(0), 1.0)
    with pytest.raises(ValueError):
        scale.forall(-1)


# ---- arguments ------------------------------------------------------------------------------------------------------


def test_keywords_and_defaults():
    @cuda.jit
    def kernel(x, k=2.0, *, offset=1.0):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * k + offset

    for call, expected in [
        (lambda x: kernel[1, 4](x), 3),
        (lambda x: kernel[1, 4](x, 5.0), 6),
        (lambda x: kernel[1, 4](k=3.0, x=x), 4),
        (lambda x: kernel[1, 4](x, offset=0.0), 2),
    ]:
        x = np.ones(4)
        call(x)
        assert (x == expected).all()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        kernel[1, 4](np.ones(4), z=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        kernel[1, 4]()


def test_scalars_tuples_and_functions():
    @cuda.jit
    def kernel(x, pair, flag, f):
        i = cuda.grid(1)
        if i < x.size and flag:
            x[i] = f(pair[0][i], pair[1])

    x = np.zeros(4)
    kernel[1, 4](x, (np.arange(4.0), np.float32(2)), True, lambda a, b: a * b)
    np.testing.assert_array_equal(x, 2 * np.arange(4.0))
    with pytest.raises(TypeError, match="argument 'pair'"):
        kernel[1, 4](x, {}, True, max)


def test_host_arrays_are_changed_in_place():
    for array in (
        np.ones((4, 6)),
        np.ones((4, 6), order="F"),
        np.ones((8, 12))[::2, ::2],
        np.ones((6, 4)).T,
        np.ones((4, 6))[::-1],
    ):
        other = array.copy()
        fill_2d[(1, 1), (8, 8)](array, 5.0)
        expected = 5.0 + 10 * np.arange(4)[:, None] + np.arange(6)
        np.testing.assert_array_equal(array, expected)
        assert not np.shares_memory(other, array)


def test_interleaved_views_of_one_array():
    whole = np.arange(20.0)
    add_into[1, 32](whole[0::2], whole[1::2], whole[0::2])
    np.testing.assert_array_equal(whole[0::2], np.arange(0, 20, 2) + np.arange(1, 20, 2))
    np.testing.assert_array_equal(whole[1::2], np.arange(1.0, 20, 2))


def test_a_call_with_large_numbers_takes_the_general_variant():
    @cuda.jit
    def kernel(out, n, step):
        count = 0
        for i in range(n, n + 3 * step, step):
            count += 1
        out[0], out[1], out[2], out[3] = n * 2, n + step, (n - 1) % 7, count

    for n, step in [(5, 1), (2**30 - 1, 2**30 - 1), (2**30, 3), (-2**31, 2**31 - 1), (1 - 2**30, 1), (7, 2)]:
        out = np.zeros(4, np.int64)
        kernel[1, 1](out, n, step)
        assert out.tolist() == [n * 2, n + step, (n - 1) % 7, 3], (n, step)
    assert len(kernel.overloads) >= 1


def test_rows_that_are_aligned_and_rows_that_are_not():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            a, b, c, d = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = b, c, d, a

    whole = np.arange(400, dtype=np.float32)
    for start, columns in [(0, 4), (0, 5), (1, 4), (4, 4), (2, 6), (0, 8), (3, 5), (0, 4)]:
        x = whole[start:start + 40 * columns].reshape(40, columns)
        for out in np.zeros((40, 4), np.float32), np.zeros(161, np.float32)[1:].reshape(40, 4):
            given = cuda.to_device(whole)[start:start + 40 * columns].reshape(40, columns), cuda.to_device(out)
            kernel[2, 32](*given)
            kernel[2, 32](x, out)
            expected = x[:, [1, 2, 3, 0]]
            np.testing.assert_array_equal(out, expected, str((start, columns)))
            np.testing.assert_array_equal(given[1].copy_to_host(), expected, str((start, columns)))


def test_a_grid_of_many_blocks_takes_the_general_variant():
    @cuda.jit
    def kernel(out):
        if cuda.grid(1) == 2**20 + 1:
            out[0] = cuda.blockIdx.x * 3000 + cuda.gridDim.x

    out = np.zeros(1, np.int64)
    kernel[2**20 + 2, 1](out)
    assert out[0] == (2**20 + 1) * 3000 + 2**20 + 2


def test_overlapping_and_identical_arguments():
    x = np.arange(10.0)
    add_into[1, 32](x, x, x)
    np.testing.assert_array_equal(x, 2 * np.arange(10.0))

    @cuda.jit
    def shift(a, b):
        for i in range(a.size):
            b[i] = a[i] + 1

    y = np.zeros(11)
    shift[1, 1](y[:-1], y[1:])
    np.testing.assert_array_equal(y, np.arange(11.0))
    z = np.zeros(11)
    shift[1, 1](z[:-1].copy(), z[1:])
    np.testing.assert_array_equal(z, [0] + [1] * 10)


def test_device_arrays():
    x = cuda.to_device(np.arange(100.0))
    out = cuda.device_array_like(x)
    add_into[4, 32](x, x, out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * np.arange(100.0))
    add_into[4, 32](x, np.ones(100), out)
    np.testing.assert_array_equal(cuda.copy_to_host(out), np.arange(100.0) + 1)
    add_into[4, 32](x[:50], x[50:], out[:50])
    np.testing.assert_array_equal(out[:50].copy_to_host(), np.arange(50.0) * 2 + 50)


def test_streams():
    stream = cuda.stream()
    x = cuda.to_device(np.ones(10), stream=stream)
    scale[1, 32, stream](x, 2.0)
    scale[1, 32, stream, 0](x, 2.0)
    stream.synchronize()
    assert (x.copy_to_host() == 4).all()
    with pytest.raises(TypeError):
        scale[1, 32, "stream"](x, 2.0)


def test_explicit_signatures_convert():
    @cuda.jit(["void(float32[:], float32)", "void(float64[:], float64)"])
    def kernel(x, k):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * k

    for dtype in (np.float32, np.float64):
        x = np.ones(4, dtype)
        kernel[1, 4](x, 3)
        assert (x == 3).all()
    with pytest.raises(TypeError, match="no signature"):
        kernel[1, 4](np.ones(4, np.int32), 3)
    y = np.ones(5)
    kernel2 = cuda.jit("void(f8[:], f8[:], f8[:])")(add_into.py_func)
    kernel2[1, 8](y, y, y)
    assert (y == 2).all()


def test_wrong_types_at_decoration():
    with pytest.raises(TypingError):
        cuda.jit("void(f8[:])")(lambda x: x.nothing)


def test_a_changed_global_is_seen():
    scope = {"cuda": cuda, "K": 2.0}
    exec("def kernel(x):\n    x[0] = K", scope)
    kernel = cuda.jit(scope["kernel"])
    x = np.zeros(1)
    kernel[1, 1](x)
    scope["K"] = 5.0
    kernel[1, 1](x)
    assert x[0] == 5


def test_many_threads_launch_one_kernel():
    @cuda.jit
    def kernel(x):
        cuda.atomic.add(x, 0, 1)

    results = []

    def work():
        x = np.zeros(1, np.int64)
        for _ in range(20):
            kernel[4, 32](x)
        results.append(x[0])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20 * 128] * 8
    assert len(kernel.signatures) == 1


# ---- facts ----------------------------------------------------------------------------------------------------------


def test_facts():
    kernel = cuda.jit(scale.py_func)
    kernel[1, 32](np.ones(4, np.float32), 2.0)
    (key,) = kernel.signatures
    assert key[0] is float32[::1]
    assert ".entry" in kernel.inspect_ptx()[key]
    assert ".target sm_90" in kernel.inspect_ptx(key, compute_capability=(9, 0))
    assert "define" in kernel.inspect_llvm(key)
    assert kernel.inspect_asm(key)
    assert kernel.get_metadata(key)["compile_seconds"] > 0
    assert list(kernel.overloads) == [key]


def test_ptx_without_a_launch():
    kernel = cuda.jit(scale.py_func)
    assert ".entry" in kernel.inspect_ptx("void(f4[::1], f4)", compute_capability=(7, 5))


def test_devices(capsys):
    device = cuda.get_current_device()
    assert device.name and len(device.compute_capability) == 2
    assert cuda.select_device(0).id == 0
    assert len(cuda.gpus) >= 1
    assert cuda.detect() == cuda.is_available()
    assert "kernels run on" in capsys.readouterr().out
    cuda.synchronize()


# ---- what goes wrong ------------------------------------------------------------------------------------------------


@on_host
def test_a_missing_guard_leaves_memory_intact_and_warns():
    @cuda.jit
    def unguarded(x):
        x[cuda.grid(1)] = 1

    memory = np.zeros(1000)
    with pytest.warns(OutOfBoundsWarning) as caught:
        unguarded[4, 32](memory[100:200])
    assert (memory[100:200] == 1).all() and memory[:100].sum() == 0 and memory[200:].sum() == 0
    assert len(caught) == 1
    text = str(caught[0].message)
    line = unguarded.py_func.__code__.co_firstlineno + 2
    assert f"{os.path.basename(__file__)}:{line}" in text
    assert "block (3, 0, 0), thread (4, 0, 0)" in text and "unguarded" in text
    assert caught[0].filename == __file__ and caught[0].lineno == line
    assert issubclass(OutOfBoundsWarning, KraitWarning) and issubclass(OutOfBoundsWarning, RuntimeWarning)


@on_host
def test_a_warning_may_be_an_error():
    @cuda.jit
    def unguarded(x):
        x[cuda.grid(1)] = 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OutOfBoundsWarning):
            unguarded[1, 32](np.zeros(3))


@on_host
def test_check_raises_index_error():
    @cuda.jit(check=True)
    def unguarded(x):
        x[cuda.grid(1)] = 1

    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3") as caught:
        unguarded[1, 32](np.zeros(3))
    assert "block (0, 0, 0), thread (3, 0, 0)" in caught.value.__notes__[0]


@on_host
def test_an_exception_in_a_kernel():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i == 70:
            raise ValueError("seventy", i)
        x[i % 8] = 1

    with pytest.raises(ValueError) as caught:
        kernel[4, 32](np.zeros(8))
    assert caught.value.args == ("seventy", 70)
    assert "block" in caught.value.__notes__[0] and "kernel kernel" in caught.value.__notes__[0]
    entry = caught.traceback[-1]
    assert entry.name == "kernel" and entry.lineno + 1 == kernel.py_func.__code__.co_firstlineno + 4


@on_host
def test_an_assertion_in_a_kernel():
    scope = {"cuda": cuda}
    exec("def kernel(x):\n    assert cuda.threadIdx.x < 5, 'too far'", scope)  # out of reach of pytest's own assertions
    kernel = cuda.jit(scope["kernel"])
    with pytest.raises(AssertionError, match="too far") as caught:
        kernel[2, 8](np.zeros(1))
    assert "block (0, 0, 0), thread (5, 0, 0)" in caught.value.__notes__[0]


@on_host
def test_a_missed_barrier_is_an_error_with_its_line():
    @cuda.jit
    def kernel(x):
        if cuda.threadIdx.x < 3:
            cuda.syncthreads()
        else:
            cuda.syncthreads()

    with pytest.raises(LaunchError, match="barrier") as caught:
        kernel[2, 8](np.zeros(1))
    entry = caught.traceback[-1]
    assert entry.name == "kernel"
    assert entry.lineno + 1 - kernel.py_func.__code__.co_firstlineno in (3, 5)


# ---- which device ---------------------------------------------------------------------------------------------------


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_the_host_device_can_be_asked_for():
    done = run(
        """
        from krait import cuda
        import numpy as np
        assert not cuda.is_available()
        @cuda.jit
        def k(x): x[cuda.grid(1)] = 1
        x = np.zeros(4); k[1, 4](x); assert x.sum() == 4
        """,
        KRAIT_CUDA_DEVICE="cpu",
    )
    assert done.returncode == 0, done.stderr


@on_host
def test_a_gpu_that_is_not_there():
    done = run(
        """
        from krait import cuda
        import numpy as np
        @cuda.jit
        def k(x): x[cuda.grid(1)] = 1
        k[1, 4](np.zeros(4))
        """,
        KRAIT_CUDA_DEVICE="gpu",
    )
    assert done.returncode != 0
    assert "GPU" in done.stderr.splitlines()[-1] or "driver" in done.stderr.splitlines()[-1]


def test_info():
    done = subprocess.run([sys.executable, "-m", "krait", "info"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for word in ("krait", "Python", "NumPy", "LLVM", "device math", "host", "driver", "devices", "kernels run on"):
        assert any(line.startswith(word) for line in done.stdout.splitlines()), word
    assert subprocess.run([sys.executable, "-m", "krait", "nonsense"], capture_output=True).returncode != 0


def test_ints():
    @cuda.jit
    def kernel(x, a, b):
        x[0] = a + b

    x = np.zeros(1, np.int64)
    kernel[1, 1](x, np.int8(3), 4)
    assert x[0] == 7 and int64 is types.int64


def test_names_that_no_assembler_takes():
    grüße = cuda.jit(lambda x: None)
    grüße[1, 1](np.zeros(1))
    assert "krait__lambda_" in grüße.inspect_ptx("void(f8[:])", compute_capability=(7, 5))
    scope = {"cuda": cuda}
    exec("def größe(x):\n    x[0] = 1", scope)
    assert ".entry" in cuda.jit(scope["größe"]).inspect_ptx("void(f8[:])", compute_capability=(7, 5))


@pytest.mark.gpu
def test_arrays_of_other_libraries():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(10, dtype=cupy.float64)
    out = cupy.zeros(10)
    add_into[1, 32](x, np.ones(10), out)
    np.testing.assert_array_equal(cupy.asnumpy(out), np.arange(10.0) + 1)
    add_into[1, 32](x[::-1], x, out)
    np.testing.assert_array_equal(cupy.asnumpy(out), np.full(10, 9.0))
    torch = pytest.importorskip("torch")
    y = torch.ones(10, dtype=torch.float64, device="cuda")
    add_into[1, 32](x, y, out)
    np.testing.assert_array_equal(cupy.asnumpy(out), np.arange(10.0) + 1)


@pytest.mark.gpu
def test_only_what_is_written_comes_back():
    x = np.arange(1000.0)
    x.flags.writeable = False
    out = np.zeros(1000)
    add_into[4, 256](x, x, out)
    np.testing.assert_array_equal(out, 2 * np.arange(1000.0))
    matrix = np.zeros((100, 100))
    scale[1, 128](matrix[:, 3], 2.0)
    matrix[:, 3] = 1
    scale[1, 128](matrix[:, 3], 2.0)
    assert matrix.sum() == 200 and (matrix[:, 3] == 2).all()


def test_a_kernel_that_assigns_to_a_parameter_and_writes_nothing_warns():
    @cuda.jit
    def total(x, out):
        out += x[cuda.grid(1)]

    with pytest.warns(KraitWarning, match=r"total writes to none of its arguments.*out\[0\] = "):
        total[1, 4](np.ones(4), 0.0)

    @cuda.jit
    def clipped(x, limit, out):
        limit = min(limit, 3.0)
        out[cuda.grid(1)] = min(x[cuda.grid(1)], limit)

    out = np.zeros(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clipped[1, 4](np.arange(4.0) * 2, 9.0, out)
    assert out.tolist() == [0, 2, 3, 3]


@pytest.mark.parametrize("written", range(1, 16))
def test_overlaps_are_found_whichever_arrays_are_written(written):
    """Code that takes arrays for apart may read an element before another array's store to it."""
    lines = [f"    {name}[0] = {name}[0] + 1" for i, name in enumerate("abcd") if written >> i & 1]
    reads = " + ".join(f"{name}[0]" for name in "abcd")
    space = {}
    exec("\n".join(["def kernel(a, b, c, d, out):", f"    out[0] = {reads}", *lines, f"    out[1] = {reads}"]), space)
    kernel = cuda.jit(space["kernel"])
    for first in range(4):
        for second in range(first + 1, 5):
            memory = [np.full(4, 10.0 * (i + 1)) for i in range(5)]
            memory[second] = memory[first]
            ours = [cuda.to_device(array) for array in memory]
            ours[second] = ours[first]
            theirs = [array.copy() for array in memory]
            theirs[second] = theirs[first]
            kernel[1, 1](*ours)
            space["kernel"](*theirs)
            for one, other in zip(ours, theirs):
                assert (one.copy_to_host() == other).all(), (written, first, second)


@pytest.mark.parametrize("kind, real", [(np.complex64, np.float32), (np.complex128, np.float64)])
def test_complex_numbers_that_lie_between_places_of_whole_ones(kind, real):
    @cuda.jit
    def square(z):
        i = cuda.grid(1)
        z[i] = z[i] * z[i]

    parts = np.arange(9, dtype=real)
    there = cuda.to_device(parts)
    square[1, 4](there[1:].view(kind))
    square[1, 2](there[:4].view(kind))
    expected = parts.copy()
    expected[1:] = (parts[1:].view(kind) ** 2).view(real)
    expected[:4] = (expected[:4].view(kind) ** 2).view(real)
    assert there.copy_to_host().tolist() == expected.tolist()
