"""Functions in lists and dicts that come from outside; methods that are kept; dicts of values of several types."""

import enum
import math
import operator
import types
from typing import NamedTuple

import numpy as np
import pytest
from krait import cuda, errors, njit

from oracle import agree

OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": operator.mul}
RANKED = {"+": (1, operator.add), "*": (2, operator.mul), "^": (3, pow)}
SHAPES = [math.sin, math.cos, abs]
SETTINGS = {"rate": 0.5, "name": "adam", "layers": [3, 2], "inner": {"steps": 4, "kind": "x"}, "none": None}


@njit
def half(x):
    return x / 2


def twice(x):
    return x * 2


class Op(enum.Enum):
    ADD = "+"
    SUB = "-"


BY_MEMBER = {Op.ADD: operator.add, Op.SUB: operator.sub}
JITTED = {"half": half, "twice": twice}


class Machine:
    TABLE = {"up": lambda x: x + 1, "down": lambda x: x - 1}

    def __init__(self, value):
        self.value = value

    def add(self, x=1):
        self.value += x
        return self.value

    def sub(self, x=2):
        self.value -= x
        return self.value

    @classmethod
    def make(cls, x):
        return cls(x)

    @staticmethod
    def plain(x):
        return x + 100

    def run(self, name, x):
        table = {"add": self.add, "sub": self.sub}
        return table[name](x), self.TABLE["up"](x)


def calculate(text):
    stack = []
    for word in text.split():
        if word in OPERATORS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATORS[word](a, b))
        else:
            stack.append(float(word))
    return stack[0]


def test_a_global_table_of_operators():
    agree(calculate, "3 4 + 2 * 7 -")
    assert calculate("3 4 + 2 * 7 -") == 7


def test_tuples_with_functions():
    def f(name, a, b):
        rank, function = RANKED[name]
        return rank, function(a, b), sorted(RANKED.keys()), len(RANKED), name in RANKED

    for name in RANKED:
        agree(f, name, 5, 3)


@pytest.mark.parametrize("name", ["up", "down"])
def test_a_table_of_a_class(name):
    def f(x, name):
        return Machine.TABLE[name](x), [g(x) for g in Machine.TABLE.values()]

    agree(f, 3, name)


def test_other_keys_and_values():
    def f(member, name, x):
        g = OPERATORS.get(name)
        return BY_MEMBER[member](x, 1), JITTED[name](x), g is None, [g(x) for g in SHAPES], SHAPES[1](x)

    agree(f, Op.SUB, "half", 0.5)
    agree(f, Op.ADD, "twice", 0.25)


def test_a_missing_key():
    agree(calculate, "3 4 +")

    def f(name):
        return OPERATORS[name](1, 2)

    agree(f, "%")


def test_tables_as_arguments():
    def f(table, steps, x):
        for step in steps:
            x = step(x)
        return table["a"](x), [name for name, g in table.items() if g(1.0) > 0]

    agree(f, {"a": math.sin, "b": twice, "c": operator.neg}, [twice, half, abs], -3.0)
    agree(f, {"a": twice}, [half], 3.0)


def test_changes_are_seen():
    table = {"a": twice, "b": half}

    @njit
    def f(name, x):
        return table[name](x)

    assert f("a", 3.0) == 6.0
    table["a"] = lambda x: x + 0.5
    assert f("a", 3.0) == 3.5
    table["c"] = math.floor
    assert f("c", 3.5) == 3 and f("b", 3.0) == 1.5


def test_changes_by_compiled_code():
    table = {"a": twice, "b": math.sqrt}

    @njit
    def f(x):
        table["b"] = twice
        table["c"] = math.sqrt
        return table["b"](x)

    assert f(2.0) == 4.0
    assert table == {"a": twice, "b": twice, "c": math.sqrt}


def test_a_chosen_function_is_returned():
    def f(n):
        return twice if n > 2 else (math.sqrt if n else abs)

    for n in range(4):
        assert njit(f)(n) is f(n)


# ---- methods that are kept ----


def test_methods_in_containers():
    def f(name, x):
        machine = Machine(100)
        table = {"add": machine.add, "sub": machine.sub}
        steps = [machine.add, machine.add]
        pair = (machine.sub, machine.plain)
        return table[name](x), table["add"](), steps[1](2), pair[0](), pair[1](x), machine.value, machine.run(name, x)

    agree(f, "add", 3)
    agree(f, "sub", 5)


def test_methods_are_chosen_and_passed():
    def apply(g, x):
        return g(x)

    def f(n):
        machine, other = Machine(10), Machine(20)
        g = machine.add if n > 2 else machine.sub
        h = machine.add if n > 2 else other.add
        made = Machine.make
        return g(1), h(5), h(x=2), apply(machine.add, n), list(map(machine.add, [1, 2])), made(n).value, machine.value

    agree(f, 1)
    agree(f, 5)


def test_methods_as_keys_and_callbacks():
    class Table:
        def __init__(self, order):
            self.order = order

        def place(self, name):
            return self.order[name]

        def ranked(self, names):
            return sorted(names, key=self.place), min(names, key=self.place), max(names, key=self.order.get)

    def f(names):
        return Table({"a": 3, "b": 1, "c": 2}).ranked(names)

    agree(f, ["a", "b", "c"])


def test_methods_of_builtins():
    def f(text, x):
        out = []
        put = out.append
        calls = [text.upper, text.lower]
        for call in calls:
            put(call())
        low = text.lower if x > 1 else text.upper
        return out, low(), list(map(text.find, ["a", "B"]))

    agree(f, "aBc", 1)
    agree(f, "aBc", 2)


class Equal:
    def __init__(self, value):
        self.value = value

    def add(self, x):
        return self.value + x

    def sub(self, x):
        return self.value - x

    def __eq__(self, other):
        return True


def test_methods_are_equal_by_identity():
    def f(n):
        a, b = Equal(n), Equal(n)
        m = a.add
        return (a.add == b.add, a.add == a.add, m == a.add, a.add != b.add, a.add == a.sub, a.add == 3, 3 != m,
                bool(m), m in [b.add], m in [b.add, a.add])

    agree(f, 3)


def test_what_methods_have():
    def f(n):
        m = Equal(n).add
        return m.__self__.value, m.__func__(Equal(5), 1)

    agree(f, 3)


def test_methods_leave():
    def f(a):
        return a.add, [a.sub]

    a = Equal(3)
    method, others = njit(f)(a)
    assert isinstance(method, types.MethodType) and isinstance(others[0], types.MethodType)
    assert method(4) == 7 and others[0](1) == 2 and method.__func__ is Equal.add


def unpacked(m):
    x, y = m
    return y


def starred(m):
    x, *y = m
    return x


def walked(m):
    for each in m:
        return each


@pytest.mark.parametrize("use, words", [
    (unpacked, "cannot be unpacked"), (starred, "cannot be unpacked"), (walked, "cannot be iterated over"),
    (lambda m: m[0], "cannot be indexed"), (len, "has no length"), (list, "cannot be iterated over"),
    (tuple, "cannot be iterated over"), (lambda m: m < m, "has no order"), (str, "has no text"),
    (repr, "has no text"), (lambda m: f"{m}", "has no text"), (print, "has no text")])
def test_methods_are_no_tuples(use, words):
    def f(n):
        return use(Equal(n).add)

    with pytest.raises(errors.KraitError, match="the function `Equal.add`.* is a method, which " + words):
        njit(f)(3)


class Method(NamedTuple):
    function: object
    count: int


class Dim3(NamedTuple):
    x: int
    y: int


def test_classes_of_users_are_named_as_they_are():
    def f(n):
        m = Method(twice, n)
        return len(m), m[1], m.q

    with pytest.raises(errors.KraitError, match="Method") as info:
        njit(f)(3)
    assert "the function `twice`) has no" not in str(info.value) and "function, count" in str(info.value)

    def g(n):
        a, b = Method(twice, n)
        return a(b), Method(twice, n)

    agree(g, 3)


# ---- dicts of values of several types ----


def test_settings():
    def f(x):
        if SETTINGS["name"] == "adam" and SETTINGS["none"] is None:
            x += SETTINGS["rate"]
        return x, len(SETTINGS["layers"]), SETTINGS["inner"]["steps"], SETTINGS["inner"]["kind"]

    agree(f, 1)


def test_settings_change():
    settings = {"rate": 0.5, "name": "adam"}

    @njit
    def f(x):
        return x * settings["rate"]

    assert f(4) == 2.0
    settings["rate"] = 3
    assert f(4) == 12
    settings["rate"] = np.float32(0.25)
    assert f(4) == 1.0 and type(f(4)) is np.float32


def test_in_a_kernel():
    limits = {"low": -1.0, "high": 2.0}
    functions = {"square": lambda x: x * x, "root": math.sqrt}

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = min(max(functions["square"](x[i]), limits["low"]), limits["high"])

    x = np.arange(-1.0, 3.0)
    kernel[1, 4](x)
    assert x.tolist() == [1.0, 0.0, 1.0, 2.0]
    limits["high"] = 0.5
    kernel[1, 4](x)
    assert x.tolist() == [0.5, 0.0, 0.5, 0.5]


def test_a_key_of_settings_is_an_argument():
    def f(name):
        return SETTINGS[name]

    for name in SETTINGS:
        agree(f, name)


def test_an_unknown_key_of_settings():
    @njit
    def f(name):
        return SETTINGS[name + "e"]

    with pytest.raises(errors.KraitError, match="which value of this dict is meant is only known when the code runs"):
        f("rat")
