"""Property tests: random expressions of scalars, random array indices, compiled against interpreted."""

import functools
import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import INT64, Raised, agree, compare_outcomes, make, outcome

from krait import errors, njit
from portions import examples

# ---- scalar expressions ----

NAMES = ("a", "b", "c")
ARITHMETIC = ("+", "-", "*", "/", "//", "%")
INTEGER = ("&", "|", "^", "<<", ">>")
COMPARISON = ("<", "<=", "==", "!=", ">", ">=")

SPECIAL_INTS = [0, 1, -1, 2, 3, -3, 7, 10, -128, 255, 2**31 - 1, -(2**31), 2**53 + 1, 2**62, -(2**63), 2**63 - 1]
SPECIAL_FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e-310, 1e16, -1e300, math.inf, -math.inf, math.nan]

ints = st.sampled_from(SPECIAL_INTS) | st.integers(-50, 50)
floats = st.sampled_from(SPECIAL_FLOATS) | st.floats(-100, 100)
STRONG_KINDS = [np.int8, np.int32, np.int64, np.uint8, np.uint16, np.float32, np.float64]


def strong(kind):
    if np.dtype(kind).kind in "iu":
        info = np.iinfo(kind)
        return st.sampled_from([0, 1, 3, info.max, info.min, info.max // 2]).map(kind)
    return st.sampled_from([v for v in SPECIAL_FLOATS if abs(v) < 1e30 or not math.isfinite(v)]).map(kind)


def wide(op):
    return lambda pair: f"({pair[0]} {op} {pair[1]})"


def expressions(integers):
    """Texts of expressions of a, b and c, with literals."""
    literals = ["1", "2", "-3", "100"] if integers else ["1", "2", "-3", "0.5", "2.5", "1e10", "-0.0"]
    leaves = st.sampled_from([*NAMES, *NAMES, *literals])
    binary = ARITHMETIC + INTEGER if integers else ARITHMETIC

    def grow(children):
        pairs = st.tuples(children, children)
        return st.one_of(
            st.sampled_from(binary).flatmap(lambda op: pairs.map(wide(op))),
            st.tuples(st.sampled_from(COMPARISON), pairs, pairs).map(
                lambda t: f"({t[2][0]} if {t[1][0]} {t[0]} {t[1][1]} else {t[2][1]})"
            ),
            pairs.map(lambda t: f"({t[0]} and {t[1]})"),
            pairs.map(lambda t: f"({t[0]} or {t[1]})"),
            children.map(lambda t: f"(-{t})"),
            children.map(lambda t: f"abs({t})"),
            pairs.map(lambda t: f"min({t[0]}, {t[1]})"),
            pairs.map(lambda t: f"max({t[0]}, {t[1]})"),
            st.tuples(children, st.sampled_from(["0", "1", "2", "3"])).map(lambda t: f"({t[0]} ** {t[1]})"),
        )

    return st.recursive(leaves, grow, max_leaves=8)


class Overflow(Exception):
    """A Python int left 64 bits: from there on compiled code wraps, as documented."""


class Watched(int):
    """A Python int that tells when an operation leaves 64 bits."""


def watch(value):
    if type(value) is Watched:
        value = int(value)
    if type(value) is int and value not in INT64:
        raise Overflow
    return Watched(value) if type(value) is int else value


def watched(name):
    plain = getattr(int, name)

    def method(self, *others):
        if name in ("__lshift__", "__pow__") and type(others[0]) in (int, Watched) and others[0] > 200:
            raise Overflow
        return watch(plain(self, *others))

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "neg", "abs"):
    for _form in (f"__{_name}__", f"__r{_name}__"):
        if hasattr(int, _form):
            setattr(Watched, _form, watched(_form))


def leaves_64_bits(function, values):
    watching = tuple(Watched(v) if type(v) is int else v for v in values)
    result = outcome(function, watching, {})
    return isinstance(result, Raised) and result.kind is Overflow


@functools.lru_cache(maxsize=64)
def compiled_expression(text):
    function = make(f"def f(a, b, c): return {text}")
    return function, njit(function)


def same(text, values):
    function, compiled = compiled_expression(text)
    assume(not leaves_64_bits(function, values))
    theirs = outcome(function, values, {})
    ours = outcome(compiled, values, {})
    if isinstance(ours, Raised) and isinstance(ours.error, errors.TypingError):
        assume(False)  # the types of two branches, or a literal that a type cannot hold
    if not isinstance(theirs, Raised) and not isinstance(ours, Raised):
        # where branches meet the type is the join of both: the value is the same one, but for the sign of a zero that
        # was an int, since an int has no -0
        joins = any(word in text for word in (" if ", " and ", " or ", "min(", "max("))
        of_ints = type(theirs) is not float or any(type(value) is not float for value in values)
        assert joins or type(ours) is type(theirs), f"{text}: {ours!r}, {theirs!r}"
        theirs = ours if joins and of_ints and theirs == ours == 0 else type(ours)(theirs)
    elif isinstance(ours, Raised) and isinstance(theirs, Raised) and ours.kind is ZeroDivisionError is theirs.kind:
        return  # its text tells ints from floats, which branches join
    compare_outcomes(ours, theirs)


@settings(max_examples=examples(250))
@given(expressions(True), st.tuples(ints, ints, ints))
def test_expressions_of_ints(text, values):
    same(text, values)


@settings(max_examples=examples(250))
@given(expressions(False), st.tuples(floats, floats, floats))
def test_expressions_of_floats(text, values):
    same(text, values)


@settings(max_examples=examples(150))
@given(expressions(False), st.tuples(ints, floats, st.booleans()))
def test_expressions_of_mixed_python_numbers(text, values):
    same(text, values)


def plain_operators(kind_of_text):
    """Without branches, whose joined types would hide what a NumPy scalar's operators give."""
    leaves = st.sampled_from([*NAMES, *NAMES, "1", "2", "3"])
    ops = ARITHMETIC + (INTEGER[:3] if kind_of_text else ())

    def grow(children):
        pairs = st.tuples(children, children)
        return st.one_of(
            st.sampled_from(ops).flatmap(lambda op: pairs.map(wide(op))), children.map(lambda t: f"(-{t})")
        )

    return st.recursive(leaves, grow, max_leaves=6)


@settings(max_examples=examples(200))
@given(st.booleans().flatmap(plain_operators), st.tuples(*[st.sampled_from(STRONG_KINDS).flatmap(strong)] * 3))
def test_expressions_of_numpy_scalars(text, values):
    same(text, values)


# ---- array indices ----


def make_array(shape, layout, dtype):
    size = math.prod(shape)
    base = np.arange(1, 2 * size + 1).astype(dtype)
    if layout == "C":
        return base[:size].reshape(shape).copy()
    if layout == "F":
        return np.asfortranarray(base[:size].reshape(shape))
    wider = np.arange(1, size * 2 ** len(shape) + 1).astype(dtype).reshape([2 * n for n in shape])
    return wider[tuple(slice(None, None, -2) if axis % 2 else slice(1, None, 2) for axis in range(len(shape)))]


array_cases = st.tuples(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple),
    st.sampled_from("CFA"),
    st.sampled_from([np.float64, np.int32, np.complex64]),
)
parts = st.sampled_from(["None", "-5", "-2", "-1", "0", "1", "2", "3", "i", "j", "-i"])
whole = st.sampled_from(["-2", "-1", "0", "1", "i", "j", "-i"])
steps = st.sampled_from(["None", "1", "2", "-1", "-2", "3"])


def slice_text(t):
    start, stop, step = ("" if part == "None" else part for part in t)
    return f"{start}:{stop}:{step}"


@st.composite
def indexed_arrays(draw):
    shape, layout, dtype = draw(array_cases)
    items = draw(st.lists(whole | st.tuples(parts, parts, steps).map(slice_text), min_size=0, max_size=len(shape)))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), "...")
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), "None")
    text = ", ".join(items) if items else "..."
    return make_array(shape, layout, dtype), text, draw(st.integers(-2, 3)), draw(st.integers(0, 2))


@settings(max_examples=examples(250))
@given(indexed_arrays())
def test_getting(case):
    array, text, i, j = case
    agree(make(f"def f(a, i, j): return a[{text}]"), array, i, j)


@settings(max_examples=examples(200))
@given(indexed_arrays(), st.sampled_from([7, 2.5, True]))
def test_setting_a_scalar(case, value):
    array, text, i, j = case
    agree(make(f"def f(a, i, j, v):\n    a[{text}] = v\n    return a"), array, i, j, value)


@settings(max_examples=examples(200))
@given(indexed_arrays(), st.integers(0, 3), st.booleans())
def test_setting_an_array(case, ones, inside):
    """From an array of the view's own shape, with some axes of length one, or from the same array reversed."""
    array, text, i, j = case
    view = outcome(make(f"def f(a, i, j): return a[{text}]"), (array, i, j), {})
    assume(isinstance(view, np.ndarray) and view.ndim)
    if inside:
        turned = ", ".join(["::-1"] * view.ndim)
        agree(make(f"def f(a, i, j):\n    v = a[{text}]\n    v[:] = v[{turned}]\n    return a"), array, i, j)
        return
    shape = tuple(1 if axis == ones else n for axis, n in enumerate(view.shape))
    source = (np.arange(math.prod(shape)).reshape(shape) * 3 - 5).astype(
        np.float32 if array.dtype.kind == "f" else np.int16
    )
    agree(make(f"def f(a, i, j, b):\n    a[{text}] = b\n    return a"), array, i, j, source)
