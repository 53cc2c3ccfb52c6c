"""Modes of stencils: what a neighbour outside the array is; stencils of device arrays."""

import numpy as np
import pytest

from krait import cuda, jit, stencil

PAD = {"nearest": "edge", "reflect": "symmetric", "wrap": "wrap"}


def cross(a):
    return a[-2, 0] + 2 * a[1, 0] + 3 * a[0, -1] + 5 * a[0, 2] - a[0, 0]


def line(a):
    return a[-2] + 10 * a[3]


def block(a):
    return a[-1, 0, 1] - a[0, 1, -2] + a[1, 1, 1]


def expected(kernel, a, mode):
    """The kernel called at each place of a padded array."""

    class Near:
        def __init__(self, padded, place):
            self.padded, self.place = padded, place

        def __getitem__(self, offset):
            offset = offset if isinstance(offset, tuple) else (offset,)
            return self.padded[tuple(p + o + 3 for p, o in zip(self.place, offset))]

    padded = np.pad(a, 3, mode=PAD[mode])
    return np.array([kernel(Near(padded, place)) for place in np.ndindex(a.shape)]).reshape(a.shape)


@pytest.mark.parametrize("mode", PAD)
@pytest.mark.parametrize("kernel, shape", [(line, (20,)), (line, (1,)), (line, (4,)), (cross, (9, 7)), (cross, (1, 3)),
                                           (cross, (3, 1)), (block, (5, 6, 4)), (line, (0,))])
def test_places_outside_are_places_inside(mode, kernel, shape):
    a = np.random.default_rng(1).random(shape)
    made = stencil(mode, parallel=sum(shape) > 10)(kernel)
    want = expected(kernel, a, mode) if a.size else a
    np.testing.assert_array_equal(made(a), want)
    on_device = made(cuda.to_device(a))
    assert isinstance(on_device, cuda.DeviceArray)
    np.testing.assert_allclose(on_device.copy_to_host(), want, rtol=1e-14)


def test_constant_mode_on_a_device():
    a = np.random.default_rng(2).random((12, 9))
    d = cuda.to_device(a)
    for options in ({}, {"cval": 7.0}):
        made = stencil(**options)(cross)
        np.testing.assert_allclose(made(d).copy_to_host(), made(a), rtol=1e-14)
        out, d_out = np.full(a.shape, 3.0), cuda.to_device(np.full(a.shape, 3.0))
        made(a, out=out)
        assert made(d, out=d_out) is d_out
        np.testing.assert_allclose(d_out.copy_to_host(), out, rtol=1e-14)


@pytest.mark.parametrize("options", [{}, {"cval": 7.0}, {"parallel": True}], ids=str)
@pytest.mark.parametrize("place", [np.array, cuda.to_device], ids=["host", "device"])
def test_results_over_what_they_are_made_of(place, options):
    made, a = stencil(**options)(cross), np.random.default_rng(4).random((40, 30))
    for part, whole in ((np.s_[:], np.s_[:]), (np.s_[1:], np.s_[:-1]), (np.s_[:, ::-1], np.s_[:])):
        memory = a.copy()
        want = memory[whole].copy()
        made(memory[part].copy(), out=want)
        here = place(a)
        assert made(here[part], out=here[whole]) is not None
        memory[whole] = want
        np.testing.assert_array_equal(here if place is np.array else here.copy_to_host(), memory)


def test_in_the_order_of_a_stream():
    a, stream, made = np.random.default_rng(3).random((40, 30)), cuda.stream(), stencil("wrap")(cross)
    d = cuda.to_device(a, stream)
    once = made(d, stream=stream)
    assert made(once, out=d, stream=stream) is d
    np.testing.assert_allclose(d.copy_to_host(stream=stream), made(made(a)), rtol=1e-14)
    assert made(a, stream=0).shape == a.shape
    with pytest.raises(TypeError, match="stream is for arrays on a device, and the stencil cross has none"):
        made(a, stream=stream)


def test_integers_weights_and_more_arrays_on_a_device():
    @stencil("wrap", standard_indexing=("w",), neighborhood=((-1, 1),))
    def weighted(a, b, w):
        total = 0
        for k in range(-1, 2):
            total += w[k + 1] * a[k]
        return total + b[0]

    a, b, w = np.arange(10), np.arange(10)[::-1].copy(), np.array([1, 2, 3])
    want = np.roll(a, 1) + 2 * a + 3 * np.roll(a, -1) + b
    np.testing.assert_array_equal(weighted(a, b, w), want)
    got = weighted(cuda.to_device(a), cuda.to_device(b), cuda.to_device(w))
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.copy_to_host(), want)
    with pytest.raises(ValueError, match="smaller than a"):
        weighted(cuda.to_device(a), cuda.to_device(b[:3]), cuda.to_device(w))
    with pytest.raises(TypeError, match="takes 3 arguments"):
        weighted(cuda.to_device(a))


def test_called_from_a_compiled_function():
    @stencil("nearest")
    def mean(a):
        return (a[-1] + a[0] + a[1]) / 3

    @jit
    def twice(a):
        return mean(mean(a))

    a = np.random.default_rng(3).random(30)
    np.testing.assert_array_equal(twice(a), mean(mean(a)))


def test_a_mode_that_is_none():
    with pytest.raises(ValueError, match="is 'constant', 'nearest', 'reflect' or 'wrap', not 'mirror'"):
        stencil("mirror")
    with pytest.raises(ValueError, match="cval is for the mode 'constant'"):
        stencil("wrap", cval=1)
