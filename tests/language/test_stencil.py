"""stencil: kernels of relative indices over whole arrays, held to slices of NumPy."""

import copy
import linecache
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krait import cuda, njit, stencil
from portions import examples


@stencil
def laplace(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


def laplace_of(x):
    out = np.zeros_like(x)
    out[1:-1, 1:-1] = 0.25 * (x[1:-1, 2:] + x[2:, 1:-1] + x[1:-1, :-2] + x[:-2, 1:-1])
    return out


@given(st.integers(0, 9), st.integers(0, 9), st.sampled_from("CFA"))
@settings(max_examples=examples(15))
def test_laplace_of_any_shape_and_layout(rows, columns, layout):
    x = np.random.default_rng(rows * 10 + columns).uniform(size=(2 * rows, columns))
    x = x[::2] if layout == "A" else np.asarray(x[:rows], order=layout)
    expected = laplace_of(x) if rows > 1 and columns > 1 else np.zeros_like(x)
    np.testing.assert_allclose(laplace(x), expected, rtol=1e-15)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-5, 5)), min_size=1, max_size=4))
@settings(max_examples=examples(6))
def test_random_kernels_agree_with_a_loop_in_python(terms):
    text = " + ".join(f"{factor} * a[{i}, {j}]" for i, j, factor in terms)
    source, name = f"def kernel(a):\n    return {text}\n", f"<kernel {text}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    space = {}
    exec(compile(source, name, "exec"), space)
    x = np.random.default_rng(len(text)).integers(-9, 9, (8, 7))
    reach = [(min(0, *(t[k] for t in terms), 0), max(0, *(t[k] for t in terms), 0)) for k in (0, 1)]
    expected = np.full(x.shape, -77)
    for i in range(-reach[0][0], 8 - reach[0][1]):
        for j in range(-reach[1][0], 7 - reach[1][1]):
            expected[i, j] = sum(factor * x[i + di, j + dj] for di, dj, factor in terms)
    np.testing.assert_array_equal(stencil(cval=-77)(space["kernel"])(x), expected)


def test_a_neighborhood_for_indices_of_run_time():
    @stencil(neighborhood=((-29, 0),), cval=-1.0)
    def mean(a):
        total = 0
        for k in range(-29, 1):
            total += a[k]
        return total / 30

    x = np.arange(100)
    got = mean(x)
    assert got.dtype == np.float64 and (got[:29] == -1).all()
    np.testing.assert_allclose(got[29:], np.convolve(x, np.ones(30) / 30, "valid"))


@pytest.mark.parametrize("mode", ["constant", "wrap"])
@pytest.mark.parametrize("indices", [range(-2, 1), range(0, 3)], ids=["below", "above"])
def test_an_index_outside_the_neighborhood(mode, indices):
    """Also where it is inside the array, or counts from its end."""
    low, high = indices[0], indices[-1]

    @stencil(mode, neighborhood=((-1, 1),))
    def near(a):
        total = 0.0
        for k in range(low, high + 1):
            total += a[k]
        return total

    with pytest.raises(IndexError, match="outside the neighborhood -1 to 1 of axis 0: make the neighborhood as wide"):
        near(np.arange(9.0))


scale = 2.0


def test_several_arrays_globals_and_closures():
    offset = 10

    @stencil(standard_indexing=("w",))
    def weighted(a, b, w, factor):
        return (a[-1] * w[0] + a[0] * w[1] - b[1] * w[2]) * factor * scale + offset

    a, b, w = np.arange(6.0), np.arange(6.0) ** 2, np.array([1.0, 2, 3])
    expected = np.zeros(6)
    expected[1:-1] = (a[:-2] * w[0] + a[1:-1] * w[1] - b[2:] * w[2]) * 3 * scale + offset
    np.testing.assert_allclose(weighted(a, b, w, 3), expected)
    with pytest.raises(ValueError, match="b is smaller than a"):
        weighted(a, b[:4], w, 3)


def test_the_result_has_the_kernels_type():
    assert stencil(lambda_of_bool)(np.arange(4)).tolist() == [False, True, True, False]
    assert laplace(np.ones((3, 3), np.float32)).dtype == np.float32
    assert laplace(np.ones((3, 3), np.int16)).dtype == np.float64


def lambda_of_bool(a):
    return a[0] < a[1] and a[-1] >= 0


def test_results_in_an_array_of_the_callers():
    x = np.random.default_rng(1).uniform(size=(5, 6))
    out = np.full((5, 6), 9.0)
    assert laplace(x, out=out) is out
    assert (out[0] == 9).all() and (out[:, -1] == 9).all()  # no cval was asked for
    np.testing.assert_allclose(out[1:-1, 1:-1], laplace_of(x)[1:-1, 1:-1])
    zero = stencil(cval=0)(laplace.kernel)
    np.testing.assert_allclose(zero(x, out=out), laplace_of(x))


@pytest.mark.parametrize("parallel", [False, True])
def test_compiled_functions_call_it(parallel):
    @njit(parallel=parallel)
    def steps(x, out, n):
        for _ in range(n):
            x = laplace(x)
        laplace(x, out)
        return x

    x, out = np.random.default_rng(2).uniform(size=(50, 40)), np.zeros((50, 40))
    expected = laplace_of(laplace_of(x))
    np.testing.assert_allclose(steps(x, out, 2), expected, rtol=1e-13)
    np.testing.assert_allclose(out[1:-1, 1:-1], laplace_of(expected)[1:-1, 1:-1], rtol=1e-13)
    spread = stencil(parallel=True)(laplace.kernel)
    np.testing.assert_array_equal(spread(x), laplace(x))


def mixed(a):
    return a[0] + a[0, 1]


def unknown(a):
    k = 1
    k += int(a[0])
    return a[k]


def sliced(a):
    return a[0:2].sum()


def open_ended(a):
    return a[0:].sum()


def stored(a):
    a[0] = 1
    return a[1]


def fraction(a):
    return a[0] + a[1.5]


@pytest.mark.parametrize(
    "kernel, options, error, message",
    [
        (mixed, {}, SyntaxError, "2 relative indices, elsewhere 1"),
        (unknown, {}, SyntaxError, "no constant: give stencil a neighborhood"),
        (sliced, {}, SyntaxError, "a slice of a stencil's array: give stencil a neighborhood"),
        (sliced, {"neighborhood": ((0, 0),)}, SyntaxError, "1 is outside the neighborhood 0 to 0 of axis 0"),
        (sliced, {"neighborhood": ((0, 1),), "func_or_mode": "wrap"}, SyntaxError, "with the mode 'constant'"),
        (open_ended, {"neighborhood": ((0, 1),)}, SyntaxError, "has constant ends"),
        (stored, {}, SyntaxError, "does not assign"),
        (fraction, {}, SyntaxError, "1.5 is no int"),
        (lambda_of_bool, {"neighborhood": ((0, 1),)}, SyntaxError, "-1 is outside the neighborhood 0 to 1 of axis 0"),
        (lambda_of_bool, {"standard_indexing": ("z",)}, TypeError, "names ['z']"),
        (lambda_of_bool, {"standard_indexing": "a"}, TypeError, "first parameter"),
        (eval("lambda a: a[0]"), {}, TypeError, "the source of <lambda>"),
    ],
)
def test_what_is_no_stencil_is_refused_with_its_line(kernel, options, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        stencil(**options)(kernel)
    if error is SyntaxError:
        first = kernel.__code__.co_firstlineno
        assert caught.value.filename == __file__ and first < caught.value.lineno <= first + 3


def test_modes():
    assert stencil("constant")(laplace.kernel)(np.ones((3, 3)))[1, 1] == 1
    with pytest.raises(ValueError, match="mode of a stencil is 'constant'"):
        stencil("mirror")


@stencil
def right_and_above(a):
    return a[0, 1] + a[-1, 0]


@njit
def right_and_above_into(a, out):
    return right_and_above(a, out=out)


@pytest.mark.parametrize("shape", [(4, 4), (6, 6), (5, 4), (5,), (5, 5, 1), (0, 0)])
def test_a_result_of_another_shape_is_refused(shape):
    a, out = np.ones((5, 5)), np.full(shape, 7.0)
    for function in (right_and_above, right_and_above_into):
        with pytest.raises(ValueError, match="out has another shape than a"):
            function(a, out=out)
    assert (out == 7).all()
    with pytest.raises(ValueError, match="out has another shape than a"):
        right_and_above(cuda.to_device(a), out=cuda.to_device(out))


def test_arrays_with_usual_indices_are_checked():
    @stencil(standard_indexing=("w",))
    def weighted(a, w):
        return a[0] * w[3]

    assert (weighted(np.ones(4), np.arange(4.0)) == 3).all()
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        weighted(np.ones(4), np.arange(3.0))
    assert (stencil(boundscheck=False)(right_and_above.kernel)(np.ones((3, 3)))[1:, :2] == 2).all()


# fmt: off
PAIR = (lambda a: a[-1] - a[1]), (lambda a: a[0] +
                                  a[2])
# fmt: on


def test_lambdas():
    x, weight = np.arange(20.0).reshape(4, 5) ** 2, 3.0
    laplace_too = stencil(lambda a: 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0]))
    np.testing.assert_array_equal(laplace_too(x), laplace(x))
    first, second = map(stencil, PAIR)
    line = np.arange(6) ** 3
    np.testing.assert_array_equal(first(line)[1:-1], line[:-2] - line[2:])
    np.testing.assert_array_equal(second(line)[:-2], line[:-2] + line[2:])
    weighted = stencil(cval=-1.0)(lambda a, w: weight * a[-1] * w)
    np.testing.assert_array_equal(weighted(line, 2), [-1.0, *(6.0 * line[:-1])])
    np.testing.assert_array_equal(njit(lambda a: first(a))(line), first(line))


@pytest.mark.parametrize("cval", [1.5, float("nan"), np.float32(0.5)])
def test_a_cval_that_the_result_does_not_hold(cval):
    shifted, line = stencil(cval=cval)(lambda a: a[1]), np.arange(3)
    compiled, there = njit(lambda a: shifted(a)), cuda.to_device(line)
    calls = [lambda: shifted(line), lambda: shifted(line, out=np.zeros(3, int)), lambda: compiled(line),
             lambda: shifted(there)]  # fmt: skip
    for call in calls:
        with pytest.raises(TypeError, match=re.escape(f"cval is {cval!r}, which the result does not hold")):
            call()
    np.testing.assert_array_equal(shifted(line.astype(float)), [1, 2, cval])


@pytest.mark.parametrize("cval, narrow, wide", [
    (1e20, np.int64, np.float64), (300.0, np.int8, np.int16), (300, np.int8, np.int32), (-1.0, np.uint8, np.int8),
    (2, np.bool_, np.int8), (1e300, np.float32, np.float64), (2.0**63, np.int64, np.uint64),
    (1e5, np.float16, np.float32),
])  # fmt: skip
def test_a_cval_outside_of_what_the_result_holds(cval, narrow, wide):
    shifted, line = stencil(cval=cval)(lambda a: a[1]), np.ones(3, narrow)
    for call in (lambda: shifted(line), lambda: shifted(line, out=line.copy()), lambda: shifted(cuda.to_device(line))):
        with pytest.raises(TypeError, match=re.escape(f"cval is {cval!r}, which the result does not hold")):
            call()
    np.testing.assert_array_equal(shifted(line.astype(wide)), np.array([1, 1, cval], wide))


def test_a_cval_that_floats_hold_nearly():
    for cval in (0.1, 2**60 + 1, float("inf"), float("nan")):
        result = stencil(cval=cval)(lambda a: a[1])(np.ones(3, np.float32))
        np.testing.assert_array_equal(result, np.array([1, 1, cval], np.float32))


def test_a_whole_cval_among_integers():
    for cval in (2.0, True, np.int8(-3)):
        assert stencil(cval=cval)(lambda a: a[1])(np.arange(3)).tolist() == [1, 2, int(cval)]


def test_an_index_in_a_variable_that_is_assigned_once():
    @stencil
    def behind(a):
        step = 2
        return a[step] - a[-step]

    x = np.arange(9.0) ** 2
    np.testing.assert_array_equal(behind(x)[2:-2], x[4:] - x[:-4])
    assert (behind(x)[[0, 1, -2, -1]] == 0).all()


@pytest.mark.parametrize("parallel", [False, True])
def test_slices_of_a_neighborhood(parallel):
    @stencil(neighborhood=((-2, 2),), parallel=parallel)
    def median(a):
        return np.median(a[-2:3])

    @stencil(neighborhood=((-1, 1), (-2, 2)), parallel=parallel)
    def sums(a):
        return a[-1:2, -2:3:2].sum() - a[0, -1:1].max()

    x = np.random.default_rng(3).random(50)
    expected = np.median(np.lib.stride_tricks.sliding_window_view(x, 5), axis=1)
    np.testing.assert_array_equal(median(x)[2:-2], expected)
    y = np.random.default_rng(4).random((6, 9))
    windows = np.lib.stride_tricks.sliding_window_view(y, (3, 5))
    expected = windows[:, :, :, ::2].sum(axis=(2, 3)) - windows[:, :, 1, 1:3].max(axis=2)
    got = sums(y)
    np.testing.assert_allclose(got[1:-1, 2:-2], expected, rtol=1e-14)
    assert (got[0] == 0).all() and (got[:, :2] == 0).all()
    assert median(np.arange(3.0)).tolist() == [0, 0, 0]


SHIFT = 1


def shifted(a):
    return a[SHIFT]


def part(a):
    return a[-SHIFT:2:SHIFT].sum()



def test_an_index_is_what_its_variable_was_when_the_stencil_was_made(monkeypatch):
    x, shift = np.arange(1.0, 9.0), 1

    def enclosed(a):
        return a[shift]

    def change():
        nonlocal shift
        shift = 10**6
        monkeypatch.setitem(globals(), "SHIFT", 10**6)

    makers = [stencil(shifted), stencil(enclosed), stencil("wrap")(shifted), stencil(neighborhood=((-1, 1),))(part)]
    befores = [made(x) for made in makers]
    change()
    np.testing.assert_array_equal(befores[0], np.append(x[1:], 0))
    np.testing.assert_array_equal(befores[2], np.roll(x, -1))
    for made, before in zip(makers, befores):
        np.testing.assert_array_equal(made(x), before)  # compiled for x already
        whole = x.astype("f4")
        np.testing.assert_array_equal(made(whole), before)  # compiled now


def test_a_parameter_is_no_constant_though_it_is_assigned_one_later():
    def late(a, k):
        y = a[k]
        k = 1
        return y + k

    with pytest.raises(SyntaxError, match="an index that is no constant"):
        stencil(late)


@stencil(cval=1.0)
def of_the_module(a):
    return a[-1] + a[1]


def test_a_stencil_comes_through_pickle():
    def weighted(a, b):
        return a[0, 1] * b[1, 0]

    x = np.arange(12.0).reshape(3, 4)
    local = stencil("wrap", parallel=True)(weighted)
    assert pickle.loads(pickle.dumps(of_the_module)) is of_the_module
    assert copy.deepcopy(local) is local and copy.copy(local) is local
    again = pickle.loads(pickle.dumps(local))
    np.testing.assert_array_equal(again(x, x), local(x, x))
    assert (again.mode, again.__name__) == ("wrap", "weighted")
