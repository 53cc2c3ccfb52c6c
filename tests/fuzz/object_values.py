"""The values that programs of Python's own objects compute with: their types, samples and literals."""

import kinds
import numpy as np
import object_tables as tables
from functions import text_of as number_text

NUMBERS = (bool, int, float)
STRONG = (np.int32, np.int64, np.float64, np.uint8, np.float32)
LONGEST = 400  # characters or items of a sample


def type_of(value, deepest=6):
    """What a variable must keep, or None if programs do not compute with such: it may hold itself."""
    if type(value) in (*NUMBERS, *STRONG, str):
        fits = type(value) is not int or abs(value) < 2**62
        return type(value) if fits and (type(value) is not str or len(value) <= LONGEST) else None
    if isinstance(value, tuple):
        items = tuple(type_of(item, deepest - 1) for item in value)
        return None if not items or None in items else (tuple, *items)
    parts = [value.keys(), value.values()] if isinstance(value, dict) else [value]
    if not isinstance(value, (list, dict, set)) or not value or len(value) > LONGEST or not deepest:
        return None
    items = [{type_of(item, deepest - 1) for item in part} for part in parts]
    return None if any(len(types) > 1 or None in types for types in items) else (type(value), *map(min_of, items))


def min_of(types):
    return next(iter(types))


def is_printable(value):
    """Sets print in an order of their own."""
    if isinstance(value, (list, tuple)):
        return all(map(is_printable, value))
    if isinstance(value, dict):
        return all(is_printable(item) for pair in value.items() for item in pair)
    return not isinstance(value, set)


def has_order(value):
    return isinstance(value, (list, str, dict)) or isinstance(value, tuple) and len(set(map(type_of, value))) == 1


def is_a(*classes):
    return lambda value: type(value) in classes


def is_hashable(value):
    return type(value) in (int, str, bool) or type(value) is tuple and all(map(is_hashable, value))


# ---- samples ----

KEYS = (int, int, str, str, bool, (tuple, int, str))


def parameter(chance, depth=1):
    """A type: of a number, or of what holds others: (class, type of items or of keys, ...)."""
    roll = chance.random()
    if depth < 0 or roll < 0.55:
        return chance.choice([int, int, float, str, str, str, bool, chance.choice(STRONG)])
    if roll < 0.75:
        return list, parameter(chance, depth - 1)
    if roll < 0.83:
        return (tuple, *(parameter(chance, depth - 1) for _ in range(chance.choice([1, 2, 2, 3]))))
    return (dict, chance.choice(KEYS), parameter(chance, depth - 1)) if roll < 0.93 else (set, chance.choice(KEYS))


def value(chance, kind):
    if kind is str:
        return chance.choice(tables.WORDS)
    if isinstance(kind, type):
        if kind is float and chance.random() < 0.7:
            return chance.randint(-8, 40) / 4
        return chance.randint(-3, 9) if kind is int and chance.random() < 0.9 else kinds.number(chance, kind)
    if kind[0] is tuple:
        return tuple(value(chance, item) for item in kind[1:])
    number = chance.choice([1, 2, 2, 3, 5])
    if kind[0] is dict:
        return {value(chance, kind[1]): value(chance, kind[2]) for _ in range(number)}
    return kind[0](value(chance, kind[1]) for _ in range(number))


def text_of(sample):
    """A literal of a value."""
    if isinstance(sample, (list, set)):
        inner = ", ".join(map(text_of, sample))
        return f"[{inner}]" if isinstance(sample, list) else f"{{{inner}}}"
    if isinstance(sample, tuple):
        return f"({''.join(text_of(item) + ', ' for item in sample)})"
    if isinstance(sample, dict):
        return f"{{{', '.join(f'{text_of(key)}: {text_of(item)}' for key, item in sample.items())}}}"
    return number_text(sample)
