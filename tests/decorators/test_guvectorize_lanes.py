"""Cores of generalised ufuncs on a device, whose loops many threads share: every geometry gives what one core of the
host gives, and cores whose iterations depend on each other are left to one thread."""

import numpy as np
import pytest

from krait import cuda, guvectorize
from krait._device_gufunc import _grid, _lanes


def squares(x, out):
    for i in range(len(x)):
        out[i] = x[i] * x[i]


def backwards(x, out):
    n = len(x)
    for i in range(n - 1, -1, -1):
        out[i] = x[n - 1 - i]


def odd_ones(x, out):
    for i in range(1, len(x), 2):
        out[i] = x[i]
    for k in range(0, len(x), 2):
        out[k] = -1


def normed(x, out):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    for i in range(x.shape[0]):
        out[i] = x[i] / s


def running(x, out):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        out[i] = s


def running_in_place(x, out):
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = out[i - 1] + x[i]


def to_the_neighbour(x, out):
    for i in range(len(x)):
        out[(i + 1) % len(x)] = x[i]


def first_above(x, out):
    for i in range(len(x)):
        if x[i] > 0.9:
            break
        out[i] = 1.0
    for i in range(len(x)):
        out[i] = float(i)


def agree(ours, theirs, function, x):
    """To the bit; what multiplies and adds at once on a GPU, to the bound of a sum of n products, and of a quotient."""
    if function is not normed:
        return np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=2 * (x.shape[-1] + 1) * np.finfo(x.dtype).eps, atol=0)


ROWS = [squares, backwards, odd_ones, normed, running, running_in_place, to_the_neighbour, first_above]
SHAPES = [(1, 5000), (7, 300), (600, 40), (3, 2, 64), (2, 1), (3, 0)]


@pytest.mark.parametrize("function", ROWS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_agree_with_the_host(function, shape):
    if function is running_in_place and not shape[-1]:
        pytest.skip("it writes out[0]")
    types, x = ["void(float64[:], float64[:])"], np.random.default_rng(1).random(shape)
    theirs = guvectorize(types, "(n)->(n)")(function)
    ours = guvectorize(types, "(n)->(n)", target="cuda")(function)
    out, device = np.full(shape, 7.0), cuda.to_device(np.full(shape, 7.0))
    theirs(x, out=out)
    ours(cuda.to_device(x), out=device)
    agree(device.copy_to_host(), out, function, x)
    turned = np.asfortranarray(x)
    agree(ours(turned, out=np.full(shape, 7.0)), out, function, x)


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i][j] += a[i, k] * b[k, j]


def test_matrices_share_their_rows():
    a, b = np.random.default_rng(1).random((3, 150, 20)), np.random.default_rng(2).random((20, 33))
    types = ["void(float64[:, :], float64[:, :], float64[:, :])"]
    ours = guvectorize(types, "(m,n),(n,p)->(m,p)", target="cuda")(product)
    np.testing.assert_allclose(ours(a, b), a @ b)
    np.testing.assert_allclose(ours(cuda.to_device(a), cuda.to_device(b)).copy_to_host(), a @ b)


def test_a_result_over_an_input():
    ours = guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")(backwards)
    device = cuda.to_device(np.arange(100.0))
    assert ours(device, out=device) is device
    np.testing.assert_array_equal(device.copy_to_host(), np.arange(100.0)[::-1])
    table = np.arange(24.0).reshape(2, 12)
    device = cuda.to_device(table)
    ours(device[:, :6], out=device[:, 3:9])
    table[:, 3:9] = table[:, 5::-1].copy()
    np.testing.assert_array_equal(device.copy_to_host(), table)


def shared(function, capfd, monkeypatch):
    """What the pass says of a function: whether threads share its loops."""
    x = np.zeros((1, 1000))
    monkeypatch.setenv("KRAIT_DUMP", "core_loops")
    guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")(function)(x)
    text = "".join(capfd.readouterr())
    kernel = text[text.index("krait_gufunc: core_loops") :]
    return "const True" in kernel[: kernel.index("call_inst")]


@pytest.mark.parametrize("function", ROWS)
def test_which_cores_are_shared(function, capfd, monkeypatch):
    assert shared(function, capfd, monkeypatch) == (function in (squares, backwards, normed))


def test_numbers_of_threads():
    function = guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")(squares)
    assert _lanes(function, 10, 8) == 1  # short rows
    for count, length in ((1, 100), (1, 10**7), (1000, 1000), (10**6, 10**3)):
        lanes = _lanes(function, count, length)
        (across, down), (along, beside) = _grid(count, lanes) if lanes > 1 else ((1, 1), (1, 1))
        assert along * beside <= 1024 and lanes in (1, across * along) and 1 <= down <= 65535


def until_small(x, out):
    for i in range(len(x)):
        if x[i] < 0.5:
            break
        out[i] = x[i]


def large_ones(x, out):
    for i in range(len(x)):
        if x[i] >= 0.5:
            out[i] = x[i]


@pytest.mark.parametrize("core", [until_small, large_ones])
def test_what_a_core_leaves_as_it_is(core):
    x = np.array([[0.6, 0.7, 0.1, 0.9, 0.8], [0.1, 0.9, 0.2, 0.3, 0.5]])
    function = guvectorize(["void(float64[:],float64[:])"], "(n)->(n)", target="cuda")(core)
    expected = np.full((2, 5), -1.0)
    for row, out in zip(x, expected):
        core(row, out)
    out = np.full((2, 5), -1.0)
    function(x, out)
    np.testing.assert_array_equal(out, expected)
    out = np.full((5, 2), -1.0).T
    function(x, out=out)
    np.testing.assert_array_equal(out, expected)
