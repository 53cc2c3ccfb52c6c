"""cuda.shared.dynamic: arrays of any shape in the memory that a launch asks for; carray in kernels."""

import numpy as np
import pytest

from krait import cuda, errors


@cuda.jit
def two_arrays(out, n, m):
    a = cuda.shared.dynamic((n, m), np.float32)
    b = cuda.shared.dynamic(m, np.int64, n * m * 4)
    t = cuda.threadIdx.x
    if t < m:
        b[t] = 100 * t
        for i in range(n):
            a[i, t] = 10 * i + t
    cuda.syncthreads()
    if t < n:
        for j in range(m):
            out[t, j] = a[t, j] + b[j]


@pytest.mark.parametrize("n, m", [(2, 1), (3, 4), (4, 30), (20, 32)])
def test_arrays_of_run_time_shapes_lie_side_by_side(n, m):
    out = np.zeros((n, m))
    two_arrays[1, 32, 0, n * m * 4 + m * 8](out, n, m)
    assert (out == np.add.outer(10 * np.arange(n), 101 * np.arange(m))).all()


def test_three_axes_and_more_than_48_kib():
    @cuda.jit
    def k(out, n):
        a = cuda.shared.dynamic((2, n, 3), np.float64)
        for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
            for j in range(3):
                a[0, i, j] = i
                a[1, i, j] = j
        cuda.syncthreads()
        total = 0.0
        for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
            total += a[0, i, 2] + a[1, i, 2] * a.shape[2]
        cuda.atomic.add(out, 0, total)

    for n in (10, 1500):  # 72,000 bytes: asked for by itself
        out = np.zeros(1)
        k[1, 64, 0, 2 * n * 3 * 8](out, n)
        assert out[0] == n * (n - 1) / 2 + 6 * n


@pytest.mark.parametrize("arguments, text", [
    ((100, 0), "this array ends at byte 800"),
    ((4, 4), "items of 8 bytes cannot begin at byte 4"),
    ((4, -8), "cannot begin at byte -8"),
    ((-1, 0), "negative dimensions"),
])
def test_what_does_not_fit_raises(arguments, text):
    @cuda.jit
    def k(out, n, offset):
        a = cuda.shared.dynamic(n, np.float64, offset)
        a[0] = 1
        out[0] = a[0]

    out = cuda.to_device(np.zeros(1))
    k[1, 1, 0, 64](out, 4, 32)
    with pytest.raises(ValueError, match=text) as caught:
        k[1, 1, 0, 64](out, *arguments)
        cuda.synchronize()
    assert caught.value.__notes__


def test_it_is_for_kernels():
    with pytest.raises(errors.KraitError):
        cuda.compile_ptx(lambda x: cuda.shared.dynamic((2, x), 5), "void(int64)")
    with pytest.raises(RuntimeError, match="in a kernel"):
        cuda.shared.dynamic((2, 2), np.float64)


def test_carray_gives_memory_another_shape():
    @cuda.jit
    def k(x, out):
        a = cuda.carray(x, (2, 3))
        b = cuda.farray(x, (2, 3))
        c = cuda.carray(x, 4, np.int32)
        out[0] = a[1, 0]
        out[1] = b[1, 0]
        out[2] = c[2]

    out = np.zeros(3)
    k[1, 1](np.arange(6), out)
    assert out.tolist() == [3, 1, 1]
