"""The types that random programs compute with: which there are, values of each, and what an operation of them gives.

What a production of the grammar gives for operands of some types is asked of the interpreter, on sample values: a
type, or None where it refuses them.
"""

import bisect
import cmath
import collections
import contextlib
import functools
import heapq
import itertools
import math
import operator
import warnings
from typing import NamedTuple

import numpy as np

WEAK = (bool, int, float, complex)
INTS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
FLOATS = (np.float32, np.float64)
COMPLEXES = (np.complex64, np.complex128)
STRONG = (np.bool_, *INTS, np.float16, *FLOATS, *COMPLEXES)
ELEMENTS = (*INTS, *FLOATS, np.bool_, np.complex64, np.complex128)
OF_KERNELS = (*INTS, *FLOATS, *FLOATS, np.float16, np.bool_, *COMPLEXES)


class Array(NamedTuple):
    """An array's type."""

    item: type
    ndim: int


class Tuple(NamedTuple):
    """A tuple's type: the types of its items."""

    items: tuple


MODULES = {"np": np, **{module.__name__: module for module in (bisect, cmath, collections, contextlib, functools, heapq,
                                                               itertools, math, operator)}}


def is_scalar(kind):
    return isinstance(kind, type)


def is_weak(kind):
    return kind in WEAK


def is_integer(kind):
    return kind is int or kind in INTS


def is_real(kind):
    return is_scalar(kind) and not issubclass(kind, (complex, np.complexfloating))


def is_floating(kind):
    return is_scalar(kind) and issubclass(kind, (float, np.floating))


def name_of(kind):
    """The name that a program calls a scalar type by."""
    return kind.__name__ if is_weak(kind) else f"np.{np.dtype(kind).name}".replace("np.bool", "np.bool_")


# ---- values ----

SPECIAL_INTS = (0, 1, -1, 2, -2, 3, 7, 10, 63, 64, -64, 100, 255, 1000, 2**31 - 1, -(2**31), 2**32, 2**53 + 1,
                2**62, 2**63 - 1, -(2**63))
SPECIAL_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e-310, 5e-324, 1e16, -1e300, 1.7e308, math.inf, -math.inf,
                  math.nan, 2.0**63, 255.0)


def number(chance, kind):
    """A value of a scalar type: small most of the time, at the type's edges often enough."""
    if kind in (bool, np.bool_):
        return kind(chance.random() < 0.5)
    if is_integer(kind):
        info = np.iinfo(np.int64 if kind is int else kind)
        if chance.random() < 0.6:
            return kind(chance.randint(max(-9, int(info.min)), 12))
        edges = (info.min, info.max, info.max // 2, info.min + 1, info.max - 1)
        choices = [v for v in (*SPECIAL_INTS, *edges) if info.min <= v <= info.max]
        return kind(chance.choice(choices))
    if is_floating(kind):
        value = chance.choice([chance.randint(-20, 20) / 4, chance.uniform(-100, 100), chance.choice(SPECIAL_FLOATS)])
        with np.errstate(over="ignore"):
            return kind(value)
    part = np.float32 if kind is np.complex64 else float
    return kind(complex(number(chance, part), number(chance, part)))


def literal(chance, kind):
    """The text of a weak number that NumPy's narrowest types hold too."""
    if kind is bool:
        return chance.choice(["True", "False"])
    if kind is int:
        return str(chance.choice([0, 1, 2, 3, 5, 7, 10, 100, 127]))
    if kind is float:
        return chance.choice(["0.0", "1.0", "0.5", "2.0", "3.25", "-0.0", "1e3", "0.1"])
    return chance.choice(["1j", "2.5j", "(1+2j)", "-0j"])


def spread(chance, shape, item):
    """An array of a shape and its memory: of either order, part of a larger one, with steps of either sign."""
    steps = [chance.choice([1, 1, 1, 2, -1, -2]) for _ in shape]
    if chance.random() < 0.5:
        steps = [1] * len(shape)
    room = [n * abs(step) for n, step in zip(shape, steps)]
    flat = np.array([number(chance, item) for _ in range(math.prod(room))], item)
    return flat.reshape(room, order=chance.choice("CCF"))[(..., *(slice(None, None, step) for step in steps))]


# ---- what operations give ----

SAMPLES = {bool: (True, True), int: (3, 2), float: (0.5, 0.75), complex: (1 + 2j, 2 - 1j)}


def sample(kind, which):
    if isinstance(kind, Array):
        return np.ones((2,) * kind.ndim, kind.item)
    if isinstance(kind, Tuple):
        return tuple(sample(item, which) for item in kind.items)
    if is_weak(kind):
        return SAMPLES[kind][which]
    weak = bool if kind is np.bool_ else int if is_integer(kind) else float if is_floating(kind) else complex
    return kind(SAMPLES[weak][which])


def kind_of(value):
    """The type of a value, or None if programs do not compute with such."""
    if isinstance(value, tuple):
        items = tuple(kind_of(item) for item in value)
        return None if None in items else Tuple(items)
    if isinstance(value, np.ndarray):
        return Array(value.dtype.type, value.ndim)
    return type(value) if type(value) in (*WEAK, *STRONG) else None


def quiet():
    """Warnings are no matter here, but that a complex number loses its imaginary part is refused, as in Python."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", np.exceptions.ComplexWarning)


REFUSED = (TypeError, ValueError, OverflowError, ZeroDivisionError, np.exceptions.ComplexWarning)


@functools.cache
def result(template, *kinds):
    """The type of an expression such as "{} + {}" of operands of these types, or None where the interpreter refuses."""
    names = "abcdef"[: len(kinds)]
    values = {name: sample(kind, i % 2) for i, (name, kind) in enumerate(zip(names, kinds))}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            quiet()
            return kind_of(eval(template.format(*names), dict(MODULES), values))
    except REFUSED:
        return None


@functools.cache
def runs(template, *kinds):
    """Whether a statement such as "{}[0] += {}" runs on operands of these types."""
    names = "abcdef"[: len(kinds)]
    values = {name: sample(kind, i % 2) for i, (name, kind) in enumerate(zip(names, kinds))}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            quiet()
            exec(template.format(*names), dict(MODULES), values)
    except REFUSED:
        return False
    return True


def joined(*types):
    """The type of a variable that has each of these on some path, or None: the highest kind of number comes first, and
    the strong one of two decides."""
    ranked = sorted(types, key=lambda kind: "cfib".find(np.dtype(kind).kind.replace("u", "i")))
    return functools.reduce(joined_two, ranked)


def joined_two(one, other):
    if one is other or one is None:
        return one
    first, second = (other, one) if is_weak(one) else (one, other)
    return result("{} * {}", first, second)
