"""Thirty functions under @vectorize on its three targets, for every pair of dtypes and arrays of every geometry, with
the ends of each type, infinities and NaN: dtype and value are those of NumPy's ufunc of the same name."""

import functools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krait import cuda, errors, from_dtype, vectorize
import portions
from portions import examples

UNARY = {
    "negative": lambda a: np.negative(a), "absolute": lambda a: np.absolute(a), "square": lambda a: np.square(a),
    "sqrt": lambda a: np.sqrt(a), "exp": lambda a: np.exp(a), "log": lambda a: np.log(a), "sin": lambda a: np.sin(a),
    "cos": lambda a: np.cos(a), "tanh": lambda a: np.tanh(a), "floor": lambda a: np.floor(a),
    "ceil": lambda a: np.ceil(a), "rint": lambda a: np.rint(a), "isnan": lambda a: np.isnan(a),
    "sign": lambda a: np.sign(a), "conjugate": lambda a: np.conjugate(a), "logical_not": lambda a: np.logical_not(a),
}  # fmt: skip
BINARY = {
    "add": lambda a, b: np.add(a, b), "subtract": lambda a, b: np.subtract(a, b),
    "multiply": lambda a, b: np.multiply(a, b), "divide": lambda a, b: np.divide(a, b),
    "maximum": lambda a, b: np.maximum(a, b), "minimum": lambda a, b: np.minimum(a, b),
    "hypot": lambda a, b: np.hypot(a, b), "arctan2": lambda a, b: np.arctan2(a, b),
    "copysign": lambda a, b: np.copysign(a, b), "less": lambda a, b: np.less(a, b),
    "equal": lambda a, b: np.equal(a, b), "bitwise_and": lambda a, b: np.bitwise_and(a, b),
    "bitwise_xor": lambda a, b: np.bitwise_xor(a, b), "logical_or": lambda a, b: np.logical_or(a, b),
}  # fmt: skip
DTYPES = [np.dtype(char) for char in "?bBhHiIqQefdFD"]
TARGETS = ["cpu", "parallel", "cuda"]
BOUND = {"e": 2e-3, "f": 4e-6, "d": 1e-13, "F": 4e-6, "D": 1e-13}


@functools.lru_cache(500)  # of many thousands, each with its code
def vectorized(name, target, operands):
    """'parallel' takes signatures: here those of the operands."""
    function = {**UNARY, **BINARY}[name]
    if target != "parallel":
        return vectorize(target=target)(function)
    return vectorize([tuple(from_dtype(np.dtype(char)) for char in operands)], target=target)(function)


def extremes(dtype):
    """What a type holds at its ends, and what is no usual number."""
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [info.min, info.max, info.min + 1, info.max - 1, info.max // 2 + 1, 0]
    info = np.finfo(dtype)
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny]
    if dtype.kind == "c":  # without the largest: whether a product overflows on its way depends on the processor
        return [complex(a, b) for a in ends for b in (1.5, *ends[:5])]
    return [*ends, info.max, -info.max]


def with_extremes(dtype, shape, seed):
    """Numbers, a third of them extremes."""
    x, rng, ends = numbers(dtype, shape, seed), np.random.default_rng(seed + 100), extremes(dtype)
    for place in np.ndindex(*shape):
        if rng.random() < 0.35:
            x[place] = ends[rng.integers(len(ends))]
    return x


def numbers(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return np.array(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.array(rng.integers(0 if dtype.kind == "u" else -9, 10, shape), dtype)
    values = rng.uniform(-3, 3, shape) + (1j * rng.uniform(-3, 3, shape) if dtype.kind == "c" else 0)
    return np.array(values, dtype)


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    new = memory[1:].view(x.dtype).reshape(x.shape)
    new[...] = x
    return new


def readonly(x):
    x.flags.writeable = False
    return x


GEOMETRY = {
    "as it is": lambda x: x, "backwards": lambda x: x[::-1] if x.ndim else x, "every other": lambda x: x[..., ::2]
    if x.ndim else x, "turned": lambda x: x.T, "unaligned": unaligned, "read-only": readonly,
}  # fmt: skip
RESULTS = [None, *sorted(GEOMETRY)]


def lying(x, geometry):
    """The same numbers in the same shape, lying as the geometry says."""
    if geometry == "every other" and x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if geometry == "backwards" and x.ndim:
        return np.array(x[::-1])[::-1]
    if geometry == "turned":
        return np.array(x.T, order="C").T
    return GEOMETRY[geometry](x)


def outcome(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except (TypeError, errors.TypingError):
            return None


def left_open(name, operands, results):
    """Where a GPU's functions may give something else: the signs of what circular functions give for complex infinities
    are not specified (ISO C, Annex G.6), and a hypotenuse may be two units off (CUDA C++ Programming Guide, 13.1),
    which are none at the end of the type."""
    if name == "hypot" and results.dtype.kind == "f":
        info = np.finfo(results.dtype)
        return np.isfinite(results) & (results > info.max * (1 - 4 * info.eps))
    circular = name in ("sin", "cos", "tanh") and results.dtype.kind == "c"
    return ~np.isfinite(operands[0]) if circular else np.zeros(results.shape, bool)


def call(function, operands, like, result):
    """With a result that lies as `result` says, or none; one that is read-only is refused."""
    if result is None:
        return function(*operands)
    out = lying(np.zeros(like.shape, like.dtype), result)
    if result != "read-only":
        assert function(*operands, out=out) is out
        return out
    with pytest.raises(ValueError):
        function(*operands, out=out)
    return like


def compare(ours, theirs, what):
    if theirs.dtype.kind == "c":  # part by part: a NaN in one leaves the other a number
        ours, theirs = np.stack([ours.real, ours.imag]), np.stack([theirs.real, theirs.imag])
    if theirs.dtype.kind == "f":
        bound = BOUND[theirs.dtype.char]
        np.testing.assert_allclose(ours, theirs, rtol=bound, atol=bound, err_msg=what)
    else:
        np.testing.assert_array_equal(ours, theirs, what)


def check(name, target, *operands, result=None):
    theirs = outcome(getattr(np, name), *operands)
    try:
        function = vectorized(name, target, "".join(x.dtype.char for x in operands))
        ours = outcome(call, function, operands, theirs, None if theirs is None else result)
    except errors.TypingError:
        ours = None
    what = f"{name} on {target} of {[(x.dtype.char, x.shape, x.strides) for x in operands]}, {result}"
    if ours is None or theirs is None:
        assert ours is theirs, f"{what}: {ours!r}, expected {theirs!r}"
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), f"{what}: {ours.dtype}, expected {theirs.dtype}"
    if target == "cuda" and cuda.detect() and not cuda.get_current_device().is_host:
        decided = ~left_open(name, operands, theirs)
        ours, theirs = ours[decided], theirs[decided]
    compare(ours, theirs, what)


@pytest.mark.parametrize("target", TARGETS)
@given(st.sampled_from(sorted(UNARY)), st.sampled_from(DTYPES), st.sampled_from(sorted(GEOMETRY)),
       st.sampled_from([(), (0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 2)]), st.integers(0, 9),
       st.sampled_from(RESULTS))
@settings(max_examples=examples(60), deadline=None)
def test_one_operand(target, name, dtype, geometry, shape, seed, result):
    made = (numbers, with_extremes)[seed % 2](dtype, shape, seed)
    check(name, target, GEOMETRY[geometry](made), result=result)


SHAPES_OF_TWO = [((), ()), ((4,), ()), ((3, 4), (4,)), ((3, 1), (1, 4)), ((0,), (1,)), ((2, 3, 4), (3, 1)),
                 ((5,), (5,))]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@given(st.sampled_from(sorted(BINARY)), st.sampled_from(DTYPES), st.sampled_from(DTYPES),
       st.tuples(*[st.sampled_from(sorted(GEOMETRY))] * 2), st.sampled_from(SHAPES_OF_TWO), st.integers(0, 9),
       st.sampled_from(RESULTS))
@settings(max_examples=examples(60), deadline=None)
def test_two_operands(target, name, first, second, geometries, shapes, seed, result):
    made = (numbers, with_extremes)[seed % 2]
    operands = [made(dtype, shape, seed + i) for i, (dtype, shape) in enumerate(zip((first, second), shapes))]
    check(name, target, *map(lying, operands, geometries), result=result)


def every_pair(name, shift):
    """Operands of all dtypes, or of all pairs of them, each with another geometry."""
    kinds = sorted(GEOMETRY)
    for number, first in enumerate(DTYPES):
        for other, second in enumerate(DTYPES if name in BINARY else DTYPES[:1]):
            turn = 31 * shift + 7 * number + other
            a = GEOMETRY[kinds[turn % len(kinds)]](with_extremes(first, (4, 6), turn))
            b = GEOMETRY[kinds[turn // len(kinds) % len(kinds)]](with_extremes(second, a.shape, turn + 1))
            yield (a, b if b.shape == a.shape else b[:1, :1]) if name in BINARY else (a,)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", sorted(UNARY) + sorted(BINARY))
def test_every_pair_of_dtypes(target, name):
    for number, operands in enumerate(every_pair(name, TARGETS.index(target))):
        if number % portions.SHARE == 0 or not portions.AGAIN:
            check(name, target, *operands)


def view_of(memory, kind, n, step, start):
    """n elements from a byte on, `step` elements apart; the last one first where that is negative."""
    view = memory[start : start + n * abs(step) * kind.itemsize].view(kind)[:: abs(step)]
    return view if step > 0 else view[::-1]


def laid_over(name, target, kinds, n, steps, starts):
    """Operands and a result in one memory of bytes, as if NumPy had read all before it writes, which it does; where
    isfinite has a result with gaps, releases of NumPy write elsewhere.  Other bytes stay what they were."""
    theirs = np.resize(with_extremes(kinds[0], (37,), n).view(np.uint8), (3 * n + 40) * 16 + 3)
    for kind, step, start in zip(kinds[1:-1], steps[1:], starts[1:]):
        view_of(theirs, kind, n, step, start)[...] = np.resize(with_extremes(kind, (37,), n + 1), n)
    ours, rest = theirs.copy(), np.ones(len(theirs), np.uint8)
    view_of(rest, kinds[-1], n, steps[-1], starts[-1])[...] = 0
    *operands, out = [view_of(theirs, *laid) for laid in zip(kinds, [n] * len(kinds), steps, starts)]
    out[...] = expected = getattr(np, name)(*operands)
    *operands, out = [view_of(ours, *laid) for laid in zip(kinds, [n] * len(kinds), steps, starts)]
    vectorized(name, target, "".join(kind.char for kind in kinds[:-1]))(*operands, out=out)
    what = f"{name} on {target} of {kinds}, {n}, {steps}, {starts}"
    compare(out, expected, what)
    np.testing.assert_array_equal(ours[rest == 1], theirs[rest == 1], what)


@pytest.mark.parametrize("target", TARGETS)
@given(st.sampled_from(sorted(UNARY) + sorted(BINARY)), st.tuples(*[st.sampled_from(DTYPES[1:])] * 2), st.booleans(),
       st.sampled_from([1, 5, 8, 33, 300, 1000]), st.tuples(*[st.sampled_from([1, 1, 2, -1, -3])] * 3),
       st.tuples(*[st.integers(0, 40)] * 3), st.tuples(*[st.sampled_from([0, 0, 0, 1, 3])] * 3))
@settings(max_examples=examples(60), deadline=None)
def test_results_over_operands(target, name, kinds, mixed, n, steps, starts, shifts):
    """At whole elements, and for some of them bytes beside: numbers are then made of parts of others, which may be so
    large that it depends on the processor whether products of complex ones are infinite, and signalling NaNs, which
    hypot takes beside an infinity for other ones."""
    whole = name == "hypot" or any(kind.kind == "c" for kind in kinds)
    kinds = list(kinds if mixed and not whole else kinds[:1] * 2)
    if name in UNARY:
        kinds = kinds[:1]
    given = outcome(getattr(np, name), *[np.ones(1, kind) for kind in kinds])
    if given is None:
        return  # none for NumPy
    kinds.append(given.dtype)
    steps = steps[: len(kinds)]
    shifts = (0, 0, 0) if whole else shifts
    firsts = [start * kind.itemsize + shift for start, kind, shift in zip(starts, kinds, shifts)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        laid_over(name, target, kinds, n, steps, firsts)


@pytest.mark.parametrize("name", ["add", "divide", "hypot", "less"])
@pytest.mark.parametrize("geometry", sorted(GEOMETRY))
def test_arrays_that_are_spread(name, geometry):
    """So long that target='parallel' uses several cores."""
    a, b = numbers(np.dtype("d"), 100_003, 1), numbers(np.dtype("d"), 100_003, 2) + 4
    a = GEOMETRY[geometry](a)
    check(name, "parallel", a, b[: len(a)])
    check(name, "parallel", a.reshape(-1, 1)[:50], b[:3000])


@pytest.mark.parametrize("target", TARGETS)
def test_a_result_over_an_operand(target):
    function = vectorized("add", target, "dd")
    ours, theirs = np.arange(50.0), np.arange(50.0)
    function(ours[:-1], ours[1:], out=ours[1:])
    np.add(theirs[:-1], theirs[1:], out=theirs[1:])
    np.testing.assert_array_equal(ours, theirs)
