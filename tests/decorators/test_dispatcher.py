"""jit and njit: dispatch on argument types, binding of arguments, guards, results, facts about specialisations."""

import gc
import inspect
import io
import math
import sys

import numpy as np
import pytest

from krait import jit, njit, typeof
from krait.errors import TypingError

SCALE = 10


def plus(a, b):
    return a + b


# ---- forms of the decorator -----------------------------------------------------------------------------------------


def test_bare_and_called():
    assert njit is jit
    for decorate in (jit, jit(), jit(nopython=True), jit(cache=True, nogil=True, fastmath=False)):
        assert decorate(plus)(1, 2) == 3
    assert jit(plus, nogil=True)(1, 2) == 3


def test_attributes_of_the_function():
    @jit
    def documented(x: int, y=2) -> int:
        "What it does."
        return x + y

    assert documented.__name__ == "documented"
    assert documented.__qualname__.endswith("documented")
    assert documented.__doc__ == "What it does."
    assert documented.__module__ == __name__
    assert documented.__wrapped__ is documented.py_func
    assert documented.__annotations__ == {"x": int, "return": int}
    assert str(inspect.signature(documented)) == "(x: int, y=2) -> int"
    documented.note = 3
    assert documented.note == 3
    assert "documented" in repr(documented)


def test_a_dispatcher_is_not_wrapped_twice():
    once = jit(plus)
    assert jit(once).py_func is plus


@pytest.mark.parametrize("bad", [3, len, "x" * 3, object()])
def test_what_is_no_function_is_refused(bad):
    with pytest.raises(TypeError):
        jit(bad)(1)


# ---- dispatch -------------------------------------------------------------------------------------------------------


def test_one_specialisation_for_each_combination_of_types():
    f = jit(plus)
    values = [1, 1.0, True, 1j, np.int8(1), np.float32(1), np.uint64(1), np.bool_(True), np.complex64(1)]
    for a in values:
        for b in values:
            ours, theirs = f(a, b), plus(a, b)
            assert type(ours) is type(theirs), (a, b)
            assert ours == theirs
    assert len(f.signatures) == len(values) ** 2
    assert f.stats.cache_misses == len(values) ** 2


def test_layout_and_readonly_are_part_of_the_type():
    @jit
    def first(a):
        return a[0, 0]

    a = np.arange(12.0).reshape(3, 4)
    readonly = a.copy()
    readonly.flags.writeable = False
    for array in (a, a.T, a[:, ::2], readonly, a[::2]):
        assert first(array) == array[0, 0]
    assert len(first.signatures) == 4


def test_long_long_is_int64():
    f = jit(plus)
    assert f(np.longlong(1), np.int64(2)) == 3
    assert f(np.int64(1), np.longlong(2)) == 3
    assert len(f.signatures) == 1


def test_int_subclasses_are_ints():
    import enum

    class Colour(enum.IntEnum):
        RED = 3

    class Count(int):
        pass

    f = jit(plus)
    assert f(Count(3), 1) == 4
    assert f(2, 1) == 3
    assert len(f.signatures) == 1
    assert f(Colour.RED, 1) == 4 and type(f(Colour.RED, 1)) is int
    assert len(f.signatures) == 2


def test_an_int_beyond_64_bits_is_an_overflow():
    f = jit(plus)
    assert f(1, 2) == 3
    with pytest.raises(OverflowError):
        f(2**63, 1)
    with pytest.raises(OverflowError):
        f(1, -(2**63) - 1)
    assert f(2**63 - 1, 0) == 2**63 - 1
    assert f(-(2**63), 0) == -(2**63)


@pytest.mark.parametrize("value", [0, 1, -1, 2**30 - 1, 2**30, -(2**30), 2**60, -(2**60), 2**62 + 1])
def test_ints_of_every_length(value):
    assert jit(lambda x: x)(value) == value


@pytest.mark.parametrize(
    "argument", [object(), io.StringIO("text"), np.zeros(1, "V3"), np.array([object()]), 3 + 0 * np.ma.ones(3)]
)
def test_unsupported_arguments_name_the_parameter(argument):
    with pytest.raises(TypeError, match="argument 'b'"):
        jit(plus)(1, argument)


def test_arrays_in_another_byte_order_say_so():
    with pytest.raises(TypeError, match="byte order"):
        jit(lambda a: a[0])(np.zeros(3, ">f8"))


def test_elements_may_lie_at_any_address():
    @jit
    def scaled(a):
        for i in range(a.size):
            a[i] += i
        a[1:] *= 2
        return a, a[::2], a[3]

    raw = np.zeros(8 * 5 + 3, np.uint8)
    for shift in range(1, 4):
        a = raw[shift:shift + 40].view(np.float64)
        expected = scaled.py_func(a.copy())
        a[:] = 0
        result = scaled(a)
        assert result[0] is a and np.shares_memory(result[1], a)
        for ours, theirs in zip(result, expected):
            np.testing.assert_array_equal(ours, theirs)
    assert str(typeof(raw[1:41].view(np.float64))) == "array(float64, 1, C, unaligned)"


def test_tuples_nested_and_empty():
    @jit
    def swap(t):
        (a, b), c = t
        return c, (b, a)

    assert swap(((1, 2.5), np.float32(3))) == (np.float32(3), (2.5, 1))
    assert type(swap(((1, 2.5), np.float32(3)))[0]) is np.float32
    assert jit(lambda t: len(t))(()) == 0


def test_none_and_optional():
    @jit
    def f(x):
        return 1 if x is None else x

    assert f(None) == 1
    assert f(2.5) == 2.5

    @jit
    def maybe(x):
        if x > 0:
            return x
        return None

    assert maybe(3) == 3
    assert maybe(-3) is None


def test_functions_as_arguments():
    @jit
    def apply(f, x):
        return f(x)

    def double(x):
        return 2 * x

    @jit
    def triple(x):
        return 3 * x

    assert apply(double, 4) == 8
    assert apply(triple, 4) == 12
    assert apply(double, 5) == 10
    assert apply(math.sqrt, 4.0) == 2.0
    assert apply(np.float32, 4.0) == np.float32(4)


def test_strings_are_constants():
    @jit
    def choose(kind, x):
        if kind == "double":
            return x * 2
        return x

    assert choose("double", 4) == 8
    assert choose("single", 4) == 4
    assert choose("".join(["dou", "ble"]), 5) == 10


def test_many_arguments_and_large_values():
    names = ", ".join(f"a{i}" for i in range(80))
    scope = {}
    exec(f"def many({names}):\n    return {' + '.join(f'a{i}' for i in range(80))}", scope)
    f = jit(scope["many"])
    assert f(*range(80)) == sum(range(80))
    assert f(**{f"a{i}": i for i in range(80)}) == sum(range(80))
    big = tuple(float(i) for i in range(200))
    assert jit(lambda t: t)(big) == big


# ---- results --------------------------------------------------------------------------------------------------------


def test_results_are_python_scalars_for_weak_and_numpy_scalars_for_strong():
    same = jit(lambda x: x)
    for value in (
        1,
        1.5,
        True,
        1j,
        np.float16(1.5),
        np.float32(1.5),
        np.int8(3),
        np.uint64(2**63),
        np.bool_(False),
        np.complex64(1j),
    ):
        assert type(same(value)) is type(value)
        assert same(value) == value


def test_a_returned_argument_is_the_argument():
    x = np.zeros(3)
    assert jit(lambda a: a)(x) is x
    view = jit(lambda a: a[1:])(x)
    assert view.base is x or np.shares_memory(view, x)
    view[0] = 5
    assert x[1] == 5


def test_a_view_keeps_its_array_alive():
    view = jit(lambda a: a[::2])(np.arange(1000.0))
    gc.collect()
    assert view[100] == 200.0
    assert view.strides == (16,)


def test_readonly_stays_readonly():
    x = np.arange(4.0)
    x.flags.writeable = False
    assert not jit(lambda a: a[1:])(x).flags.writeable
    with pytest.raises(TypingError, match="read-only"):

        @jit
        def write(a):
            a[0] = 1

        write(x)


# ---- binding --------------------------------------------------------------------------------------------------------

SIGNATURES = [
    "a, b",
    "a, b=2",
    "a, b=2, *rest",
    "a, /, b",
    "a, *, b",
    "a, *, b=5",
    "*rest",
    "a, /, b=1, *rest, c, d=4",
    "",
    "*, a=1, b=2",
]
CALLS = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((1, 2, 3, 4), {}),
    ((1,), {"b": 3}),
    ((), {"a": 1, "b": 2}),
    ((), {"b": 2, "a": 1}),
    ((1, 2), {"a": 3}),
    ((1,), {"c": 3}),
    ((1, 2, 3), {"c": 3}),
    ((), {"z": 1}),
    ((1, 2), {"b": 3, "c": 4}),
    ((1,), {"c": 3, "d": 5}),
]


def outcome(f, args, kwargs):
    try:
        return f(*args, **kwargs)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("parameters", SIGNATURES)
def test_arguments_bind_as_in_the_interpreter(parameters):
    names = [p.split("=")[0].strip("* ") for p in parameters.split(",") if p.strip(" */")]
    scope = {}
    exec(f"def f({parameters}):\n    return ({''.join(n + ', ' for n in names)})", scope)
    compiled = jit(scope["f"])
    for args, kwargs in CALLS:
        assert outcome(compiled, args, kwargs) == outcome(scope["f"], args, kwargs), (args, kwargs)


def test_changed_defaults_are_seen():
    @jit
    def f(a, b=1):
        return a + b

    assert f(1) == 2
    f.py_func.__defaults__ = (10,)
    assert f(1) == 11


def test_a_method():
    class Point:
        def __init__(self):
            self.x = 4

        @staticmethod
        @jit
        def double(x):
            return 2 * x

        scale = jit(lambda self, k: k * 3)

    assert Point.double(4) == 8
    assert Point().double(4) == 8
    assert Point.scale(None, 2) == 6
    method = (1, 2, 3)

    class Sized(tuple):
        total = jit(lambda self: self[0] + self[1])

    assert Sized((1, 2)).total() == 3
    assert Sized((1, 2)).total.__self__ == (1, 2)
    assert method


# ---- guards ---------------------------------------------------------------------------------------------------------


def test_a_changed_global_is_seen(monkeypatch):
    @jit
    def scaled(x):
        return x * SCALE

    module = sys.modules[__name__]
    assert scaled(2) == 20
    monkeypatch.setattr(module, "SCALE", 20)
    assert scaled(2) == 40
    monkeypatch.setattr(module, "SCALE", 1.5)
    assert scaled(2) == 3.0
    monkeypatch.setattr(module, "SCALE", 10)
    assert scaled(2) == 20
    assert scaled.stats.cache_misses == 3  # the first one was kept


def test_an_unrelated_global_changes_nothing(monkeypatch):
    @jit
    def scaled(x):
        return x * SCALE

    scaled(1)
    for i in range(100):
        monkeypatch.setattr(sys.modules[__name__], "UNRELATED", i, raising=False)
        assert scaled(i) == 10 * i
    assert scaled.stats.cache_misses == 1


def test_a_changed_closure_is_seen():
    factor = 2

    @jit
    def f(x):
        return x * factor

    assert f(3) == 6
    factor = 5
    assert f(3) == 15


def test_a_changed_callee_is_seen(monkeypatch):
    scope = {}
    exec("def callee(x):\n    return x + 1\ndef caller(x):\n    return callee(x) * 2", scope)
    f = jit(scope["caller"])
    assert f(1) == 4
    exec("def callee(x):\n    return x + 2", scope)
    assert f(1) == 6


def test_a_shadowed_builtin_is_seen():
    scope = {}
    exec("def f(x):\n    return abs(x)", scope)
    f = jit(scope["f"])
    assert f(-2) == 2
    exec("def abs(x):\n    return 7", scope)
    assert f(-2) == 7
    del scope["abs"]
    assert f(-2) == 2


def test_a_changed_module_attribute_is_seen(monkeypatch):
    @jit
    def f(x):
        return math.floor(x)

    assert f(2.5) == 2
    monkeypatch.setattr(math, "floor", math.ceil)
    assert f(2.5) == 3


def test_globals_that_never_settle_do_not_pile_up():
    scope = {"K": 0}
    exec("def f(x):\n    return x + K", scope)
    f = jit(scope["f"])
    for i in range(60):
        scope["K"] = i
        assert f(1) == 1 + i
    assert len(f.signatures) < 30
