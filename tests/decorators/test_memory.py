"""Allocation that fails, anywhere on the way of a call, a launch or a decoration: a MemoryError, nothing lost, and the
next attempt succeeds."""

import collections
import enum
import gc
import sys

import numpy as np
import pytest

from krait import _testing, cuda, guvectorize, jit, typeof, types, vectorize
from krait.errors import KraitError

Pair = collections.namedtuple("Pair", "a b")


def helper(x):
    return x * 2 if x > 0 else -x


def a_call():
    f = jit(lambda x, y: helper(x) + y)
    return lambda: f(2, 1.5) == 5.5


def a_call_with_everything():
    g = jit(lambda x: x + 1)
    f = jit(lambda a, t, h, s: a[1] + t[0] + h(t[1]) + (s == "s"))
    a = np.arange(3.0)
    return lambda: f(a, (1, 2.5), g, "s") == 6.5


def many_items():
    f = jit(lambda t, g: g(t[0]))
    t = tuple(range(20))
    return lambda: f((t[0], *t, helper, np.float32), helper) == 0


def a_named_tuple():
    f = jit(lambda p: p.a + p.b)
    return lambda: f(Pair(1, 2.5)) == 3.5


class Node:
    def __init__(self, value, next=None):
        self.value, self.next, self.other = value, next, None

    def double(self):
        self.value *= 2


class Holder:
    def __init__(self, node):
        self.node, self.total = node, 0.0

    def add(self):
        self.total += self.node.value


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def an_instance():
    f = jit(lambda p: p.value + p.next.value)
    return lambda: f(Node(2, Node(3))) == 5


def instances_of_several_classes():
    f = jit(lambda line: line.node.value + line.node.next.value)
    head = Node(1)
    for _ in range(40):
        head = Node(1, head)
    head.other = Holder(head)
    return lambda: f(Holder(head)) == 2


def an_instance_that_is_refused():
    f = jit(lambda p: p.value)

    def run():
        with pytest.raises(TypeError, match="'value'"):
            f(Node(object()))
        return True

    return run


def a_list():
    f = jit(lambda a: [x + 1 for x in a])
    return lambda: f([1, 2]) == [2, 3]


def a_dict():
    f = jit(lambda d, s: d["a"] + len(s))
    return lambda: f({"a": 1, "b": 2}, {1.5, 2.5}) == 3


def lists_of_instances():
    f = jit(lambda points, names: points[1].value + names["a"][0])
    return lambda: f([Node(1), Node(2)], {"a": (3, "x")}) == 5


def an_enum():
    f = jit(lambda c, n: (c is Colour.RED) + n)
    return lambda: f(Colour.RED, Level.HIGH) == 3


def a_generator():
    def count(n):
        for i in range(n):
            yield helper(i)

    return lambda: sum(jit(count)(3)) == 6


def a_random_generator():
    f = jit(lambda g: g.random())
    g = np.random.default_rng(1)
    return lambda: 0 <= f(g) < 1


def a_generalised_ufunc():
    def run():
        @guvectorize(["(float64[:], float64[:])"], "(n)->()")
        def total(a, out):
            out[0] = a.sum()

        return total(np.ones((2, 3))).tolist() == [3.0, 3.0]

    return run


def a_signature():
    return lambda: jit(["float64(float64)", "int64(int64)"])(helper)(3) == 6


def no_signature_that_fits():
    f = jit(["float64(float64)", "int64(int64)"])(helper)

    def run():
        with pytest.raises(TypeError, match="fits the arguments"):
            f(1j)
        return True

    return run


def a_declared_result_that_does_not_fit():
    def run():
        with pytest.raises(KraitError, match="declares"):
            jit("float64(complex128)")(lambda x: x)
        return True

    return run


def a_refusal():
    f = jit(lambda x: x.nothing)

    def run():
        with pytest.raises(KraitError, match="nothing"):
            f(1.5)
        return True

    return run


def a_kernel():
    def run():
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += helper(i)

        x = np.zeros(8)
        k[1, 8](x)
        return x[3] == 6

    return run


def a_device_function():
    def run():
        cuda.jit("float64(float64)", device=True)(helper)
        return True

    return run


def a_ufunc():
    def run():
        u = vectorize(["float64(float64)"])(helper)
        return u(np.array([-1.0, 2.0])).tolist() == [1.0, 4.0]

    return run


def a_ufunc_that_returns_no_scalar():
    def run():
        with pytest.raises(KraitError, match="returns"):
            vectorize(["float64(float64)"])(lambda x: None)
        return True

    return run


def a_dynamic_ufunc():
    def run():
        u = vectorize(helper)
        return u(np.array([-1, 2])).tolist() == [1, 4]

    return run


def texts():
    f = jit(helper)
    f(1)

    def run():
        assert "define" in next(iter(f.inspect_llvm().values()))
        assert ".globl" in next(iter(f.inspect_asm().values()))
        assert repr(typeof((1, 2.5))) and repr(f.nopython_signatures[0])
        return True

    return run


def ptx():
    k = cuda.jit(lambda x: None)
    return lambda: ".entry" in k.inspect_ptx("(float32[::1],)")


SITUATIONS = [a_call, a_call_with_everything, many_items, a_named_tuple, an_instance, instances_of_several_classes,
              an_instance_that_is_refused, a_list, a_dict, lists_of_instances, an_enum, a_generator,
              a_random_generator, a_generalised_ufunc, a_signature, no_signature_that_fits,
              a_declared_result_that_does_not_fit, a_refusal, a_kernel, a_device_function, a_ufunc,
              a_ufunc_that_returns_no_scalar, a_dynamic_ufunc, texts, ptx]


def fails_at(run, n):
    """Whether the n-th allocation of what follows was there to fail; if so, it was a MemoryError."""
    _testing.fail_arena(n)
    try:
        assert run()
    except MemoryError:
        assert _testing.fail_arena(0) == 0
        return True
    # a text of an error, or one that is only for a log, may be left out
    return _testing.fail_arena(0) == 0


@pytest.mark.parametrize("make", SITUATIONS, ids=lambda make: make.__name__)
def test_an_allocation_that_fails_is_a_memory_error(make):
    n, step = 1, 1
    while True:
        run = make()  # anew, so that it compiles
        if not fails_at(run, n):
            break
        assert run()  # and works afterwards
        n += step
        step += n // 25  # each of the first, then a sample
    assert n > 5


@pytest.mark.parametrize("make", [a_call_with_everything, many_items, an_instance, instances_of_several_classes,
                                  a_list, lists_of_instances, a_kernel, a_refusal, a_ufunc],
                         ids=lambda make: make.__name__)
def test_nothing_is_lost_where_an_allocation_fails(make):
    def attempts():
        for n in range(1, 400, 13):
            fails_at(make(), n)
        gc.collect()
        return [sys.getrefcount(o) for o in (helper, np.float32, Pair, types, math_of_helper)] + [len(gc.get_objects())]

    math_of_helper = helper.__globals__
    attempts()
    before = attempts()
    after = attempts()
    assert all(b - a < 20 for a, b in zip(before, after, strict=True)), (before, after)
