"""krait.extending: what users say about calls, methods and attributes, in functions and in kernels."""

import math
import operator
from dataclasses import dataclass

import numpy as np
import pytest
from oracle import agree

from krait import cuda, errors, extending, njit, types
from krait.experimental import structref
from krait.extending import overload, overload_attribute, overload_method, register_jitable


def scaled(x, by=3):
    """What it means is said below, type by type."""
    raise RuntimeError("compiled code alone has it")


asked = []


@overload(scaled)
def overload_scaled(x, by=3):
    asked.append(x)
    if isinstance(x, types.Integer):
        return lambda x, by=3: x * by
    if isinstance(x, types.Array) and x.ndim == 1 and isinstance(x.dtype, types.Float):

        def of_array(x, by=3):
            total = 0.0
            for value in x:
                total += value
            return total * by

        return of_array


def test_an_overload_answers_by_type():
    @njit
    def f(x):
        return scaled(x), scaled(x, 5), scaled(x, by=7)

    assert f(2) == (6, 10, 14) and type(f(2)[0]) is int
    assert f(np.array([1.0, 2.0])) == (9, 15, 21)
    for wrong, text in ((1.5, "float"),
                        (np.ones((2, 2)), "array(float64, 2, C)"), (np.ones(2, int), "array(int64, 1, C)")):
        with pytest.raises(errors.TypingError, match="no overload of `scaled` takes") as caught:
            f(wrong)
        assert text in str(caught.value) and "scaled(x)" in str(caught.value)


def test_equal_calls_ask_once_and_share_their_code():
    def f(x):
        return scaled(x) + scaled(x) + scaled(x)

    asked.clear()
    assert njit(f)(np.float32(1) * np.ones(3, np.float32)) == 27
    assert len(asked) == 1 and asked[0] == types.float32[::1]


def test_the_latest_overload_that_answers_counts():
    def about(x):
        raise RuntimeError

    @overload(about)
    def anything(x):
        return lambda x: 0

    @overload(about)
    def floats(x):
        if isinstance(x, types.Float):
            return lambda x: 1

    @overload(about)
    def other_parameters(x, y):
        return lambda x, y: 2

    f = njit(lambda x: (about(x), about(x, x)))
    assert f(1.5) == (1, 2) and f(1) == (0, 2)


def test_texts_are_known():
    def unit(name):
        raise RuntimeError

    @overload(unit)
    def overload_unit(name):
        assert isinstance(name, types.UnicodeType)
        if isinstance(name, types.StringLiteral):
            factor = {"m": 1.0, "km": 1000.0}[name.literal_value]
            return lambda name: factor

    f = njit(lambda x: x * unit("km") + unit("m"))
    assert f(2.0) == 2001
    with pytest.raises(errors.TypingError, match="an overload of `.*unit` raised KeyError: 'mile'"):
        njit(lambda: unit("mile"))()


def test_overloads_call_overloads_and_recur():
    def depth(x):
        raise RuntimeError

    @overload(depth)
    def overload_depth(x):
        if isinstance(x, types.Tuple):
            return lambda x: 1 + depth(x[0])
        return lambda x: 0

    assert njit(lambda x: depth(x))((((1.5,), 2), 3)) == 3


@dataclass
class Point:
    x: float
    y: float


@overload_method(Point, "norm")
def point_norm(p, scale=1.0):
    return lambda p, scale=1.0: math.sqrt(p.x * p.x + p.y * p.y) * scale


@overload_attribute(Point, "area")
def point_area(p):
    return lambda p: p.x * p.y


@overload(len)
def point_len(p):
    if isinstance(p, types.Instance) and p.python_class is Point:
        return lambda p: 2


@overload_method(types.Array, "spread")
def array_spread(a):
    return lambda a: a.max() - a.min()


@overload_attribute(types.Array, "last")
def array_last(a):
    return lambda a: a[-1]


def test_methods_and_attributes():
    @njit
    def f(p, a):
        return p.norm(), p.norm(2.0), p.norm(scale=3.0), p.area, len(p), a.spread(), a.last, len(a)

    assert f(Point(3.0, 4.0), np.array([5.0, 1.0])) == (5, 10, 15, 12, 2, 4, 1, 2)
    with pytest.raises(errors.TypingError, match="no overload of `norm` takes"):
        njit(lambda a: a.norm())(np.ones(2))
    with pytest.raises(errors.TypingError, match="has no attribute `area`"):
        njit(lambda a: a.area)(np.ones(2))
    agree(lambda a: (len(a), a.max()), np.array([5.0, 1.0]))  # what was there stays


def test_kernels_have_them_too():
    @register_jitable
    def helper(x):
        return scaled(x) + 1

    @cuda.jit
    def k(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = helper(i) + a.last + Point(3.0, 4.0).norm()

    out = np.zeros(3)
    k[1, 32](np.array([1.0, 10.0]), out)
    assert out.tolist() == [16, 19, 22]
    assert cuda.extending is extending


def test_what_an_overload_returns_must_be_a_function():
    def odd(x):
        raise RuntimeError

    overload(odd)(lambda x: 42)
    with pytest.raises(errors.TypingError, match="returned 42: a Python function is needed"):
        njit(lambda x: odd(x))(1)
    overload(odd)(lambda x: njit(lambda x: x + 1))
    assert njit(lambda x: odd(x) * 2)(1) == 4


def test_an_interrupt_is_not_swallowed():
    def slow(x):
        raise RuntimeError

    @overload(slow)
    def overload_slow(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        njit(lambda x: slow(x))(1)


def test_other_names():
    assert extending.is_jitted(njit(lambda: 1)) and not extending.is_jitted(len)
    assert register_jitable(cache=True)(len) is len
    with pytest.raises(errors.UnsupportedError, match="compiled with the class"):  # where it is used: an import has
        extending.overload_classmethod(int, "name")  # words of its own
    for name in ("type_callable", "lower_builtin"):
        with pytest.raises(errors.UnsupportedError, match="len is no class.*extending.overload"):
            getattr(extending, name)(len)
    with pytest.raises(AttributeError, match="did you mean 'overload'"):
        extending.overlod


# ---- what is known of ints and bools ----


def chosen(a, axis):
    raise NotImplementedError


@overload(chosen)
def typed_chosen(a, axis):
    if not isinstance(axis, types.IntegerLiteral):
        raise errors.RequireLiteralValue("axis must be a literal")
    if isinstance(a, types.Integer) and axis.literal_value == 1:
        return lambda a, axis: "ints, along one"
    return lambda a, axis: "others"


def preferred(flag):
    raise NotImplementedError


@overload(preferred, prefer_literal=True)
def typed_preferred(flag):
    assert isinstance(flag, types.Boolean)
    known = flag.literal_value if isinstance(flag, types.BooleanLiteral) else None
    if known is None:
        return lambda flag: "plain"
    return (lambda flag: "true") if known else (lambda flag: "false")


def test_ints_and_bools_that_are_known_are_shown():
    assert njit(lambda: (chosen(5, 1), chosen(5, 0), chosen(2.5, 1)))() == ("ints, along one", "others", "others")
    with pytest.raises(errors.TypingError, match="axis must be a literal"):
        njit(lambda a, axis: chosen(a, axis))(5, 1)
    assert njit(lambda x: (preferred(True), preferred(False), preferred(x)))(True) == ("true", "false", "plain")


# ---- a class that a program tells of ----


class Interval:
    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi

    @property
    def width(self):
        return self.hi - self.lo


class IntervalType(types.Type):
    def __init__(self):
        super().__init__(name="Interval")


def told():
    """As Numba's documentation does it, but for bodies that build LLVM IR."""
    interval_type = IntervalType()

    @extending.typeof_impl.register(Interval)
    def typeof_index(val, c):
        return interval_type

    @extending.type_callable(Interval)
    def type_interval(context):
        return lambda lo, hi: interval_type

    @extending.register_model(IntervalType)
    class IntervalModel(extending.models.StructModel):
        def __init__(self, dmm, fe_type):
            super().__init__(dmm, fe_type, [("lo", types.float64), ("hi", types.float64)])

    extending.make_attribute_wrapper(IntervalType, "lo", "lo")

    @extending.lower_builtin(Interval, types.Float, types.Float)
    def impl_interval(context, builder, sig, args):
        raise AssertionError

    @extending.unbox(IntervalType)
    def unbox_interval(typ, obj, c):
        raise AssertionError

    @extending.box(IntervalType)
    def box_interval(typ, val, c):
        raise AssertionError

    @overload_attribute(IntervalType, "middle")
    def typed_middle(interval):
        assert isinstance(interval, IntervalType) and interval.python_class is Interval
        return lambda interval: (interval.lo + interval.hi) / 2

    @overload_method(IntervalType, "holds")
    def typed_holds(interval, x):
        if isinstance(x, types.Float):
            return lambda interval, x: interval.lo <= x < interval.hi

    return interval_type


def test_a_class_is_told_of_as_numba_is():
    interval_type = told()
    interval = Interval(1.0, 4.0)
    assert njit(lambda i: (i.width, i.middle, i.holds(2.0), i.holds(4.0)))(interval) == (3.0, 2.5, True, False)
    made = njit(lambda i, j: Interval(i.lo + j.lo, i.hi + j.hi))(interval, interval)
    assert type(made) is Interval and (made.lo, made.hi) == (2.0, 8.0)
    assert njit(types.float64(interval_type))(lambda i: i.lo)(interval) == 1.0

    def length(x):
        raise NotImplementedError

    overload(length)(lambda x: (lambda x: x.width) if isinstance(x, IntervalType) else None)
    assert njit(lambda i: length(i))(interval) == 3.0
    with pytest.raises(errors.TypingError, match="no overload"):
        njit(lambda i: length(i))(1.0)


@overload(operator.add)
def typed_sum(a, b):
    if isinstance(a, IntervalType) and isinstance(b, IntervalType):
        return lambda a, b: Interval(a.lo + b.lo, a.hi + b.hi)


@overload(operator.iadd)
def typed_growth(a, b):
    if isinstance(a, IntervalType) and isinstance(b, types.Float):

        def grow(a, b):
            a.hi += b
            return a

        return grow


@overload(operator.neg)
def typed_negative(a):
    return (lambda a: Interval(-a.hi, -a.lo)) if isinstance(a, IntervalType) else None


@overload(operator.lt)
def typed_below(a, b):
    if isinstance(a, IntervalType) and isinstance(b, IntervalType):
        return lambda a, b: a.hi < b.lo


@overload(operator.contains)
def typed_contains(interval, x):
    return (lambda interval, x: interval.lo <= x < interval.hi) if isinstance(interval, IntervalType) else None


@overload(operator.getitem)
def typed_end(interval, i):
    return (lambda interval, i: interval.hi if i else interval.lo) if isinstance(interval, IntervalType) else None


@overload(operator.setitem)
def typed_move(interval, i, x):
    if isinstance(interval, IntervalType):

        def move(interval, i, x):
            interval.lo = x

        return move


def test_operators_are_what_overloads_of_operator_say():
    told()
    one, two = Interval(1.0, 4.0), Interval(5.0, 6.0)

    @njit
    def ends(i):
        return i.lo, i.hi

    assert njit(lambda a, b: ends(a + b))(one, two) == (6.0, 10.0)
    assert njit(lambda a, b: (ends(-a), a < b, b < a, 2.0 in a, 4.0 in a, a[0], a[1]))(one, two) == (
        (-4.0, -1.0), True, False, True, False, 1.0, 4.0)

    @njit
    def change(a):
        a += 2.0
        a[0] = 3.0
        return ends(a)

    assert change(one) == (3.0, 6.0) and (one.lo, one.hi) == (3.0, 6.0)
    agree(lambda x, y, z: (x + y, -x, x < y, x in z, z[1], x * 2), 2.5, 3, (2.5, 4.0))
    with pytest.raises(errors.TypingError, match="unsupported operand"):
        njit(lambda a, b: a - b)(one, two)


# ---- structref ----


@structref.register
class PersonType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(type_)) for name, type_ in fields)


class Person(structref.StructRefProxy):
    def __new__(cls, name, marks=None):
        return structref.StructRefProxy.__new__(cls, name, np.ones(2) if marks is None else marks)

    @property
    def name(self):
        return get_name(self)

    @property
    def best(self):
        return get_best(self)

    def grade(self, least):
        return grade(self, least)


@njit
def get_name(self):
    return self.name


@njit
def get_best(self):
    return self.marks.max()


structref.define_proxy(Person, PersonType, ["name", "marks"])


@njit
def grade(self, least):
    return self.grade(least)


@overload_method(PersonType, "grade")
def typed_grade(person, least):
    return lambda person, least: person.marks.sum() if person.best > least else 0.0


class Grader:
    def grade(self, least):
        return least + 1.0


@overload_method(PersonType, "is_called")
def typed_is_called(person, name):
    assert isinstance(person, PersonType)
    return lambda person, name: person.name == name


def test_structs_are_made_and_changed_on_both_sides():
    anna, bert = njit(lambda: Person("anna", np.array([1.0, 3.0])))(), Person("bert")
    assert (anna.name, anna.best, bert.name, bert.best) == ("anna", 3.0, "bert", 1.0)
    assert isinstance(anna, Person) and isinstance(bert, Person) and not isinstance(3, Person)

    @njit
    def grow(person):
        person.marks = person.marks * 2
        return person

    assert grow(bert) is bert and bert.best == 2.0
    # Where the interpreter's method is a call of compiled code, that has the method of overload_method.
    assert anna.grade(2.0) == grade(anna, 2) == 4.0 and bert.grade(2.0) == 0.0
    assert njit(lambda: Grader().grade(2.0))() == 3.0
    assert njit(lambda a, b: (a.is_called("anna"), b.is_called("anna"), b.best))(anna, bert) == (True, False, 2.0)
    declared = PersonType([("name", types.unicode_type), ("marks", types.float64[:])])
    assert declared.field_dict["name"] == types.unicode_type and isinstance(declared, PersonType)
    assert njit(types.float64(declared))(get_best.py_func)(anna) == 3.0

    class Unknown(structref.StructRefProxy):
        pass

    with pytest.raises(TypeError, match="has no fields yet: structref.define_proxy"):
        Unknown(1)
