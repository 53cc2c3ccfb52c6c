"""What a container of krait.typed may hold: items of one type, converted where that loses nothing."""

import numpy as np

from .. import _krait
from ..errors import TypingError

_types = _krait.types
# By the types that items are told by: those that Python's own numbers have in containers, and what makes them.
_PYTHON = {_types["int64"]: int, _types["float64"]: float, _types["complex128"]: complex, _types["bool_"]: bool}
_NUMBERS = {bool: _types["bool_"], int: _types["int64"], float: _types["float64"], complex: _types["complex128"]}
_TEXTS = {str: _types["unicode_type"], bytes: _types["bytes_type"]}
_BY_CLASS = {**_NUMBERS, **_TEXTS}
_AS_THEY_ARE = {type_: class_ for class_, type_ in _BY_CLASS.items()}
# What the values of a class of types may be made of, in order: a number fits its own kind and those after it.
_KINDS = {_types["Boolean"]: "biu", _types["Integer"]: "biu", _types["Float"]: "biuf", _types["Complex"]: "biufc"}
_OURS = (("i", int), ("f", float), ("c", complex))
_HELD = {_types["Unicode"]: str, _types["Bytes"]: bytes, _types["ListType"]: list, _types["DictType"]: dict,
         _types["Set"]: (set, frozenset)}  # fmt: skip


def type_of(value):
    """The type that a first item gives a container: of numbers and texts; None of others, which each have their own."""
    known = _BY_CLASS.get(type(value))
    return known or (_declared(type(value)) if isinstance(value, np.generic) else None)


def _declared(type_):
    """A type of krait.types for what says one: that itself, Python's class or NumPy's."""
    if isinstance(type_, type):
        known = _BY_CLASS.get(type_)
        return known or _types.get(type_.__name__) if not known and issubclass(type_, np.number) else known
    return type_ if isinstance(type_, _types["Type"]) else None


def _refuse(value, type_, what):
    raise TypingError(f"{what} of type {type_!r} cannot be {value!r}, of type {type(value).__name__}")


def _fit(value):
    return -(2**63) <= value < 2**63


def _is_lost(value, kind, made):
    """Whether a whole number became another, or a finite one infinite; that a float is rounded is no loss."""
    if kind in "biu":
        return int(made.real) != int(value)
    return bool(np.isfinite(value)) and not np.isfinite(made)


def _number(value, type_, what):
    own = next((kind for kind, class_ in _OURS if isinstance(value, class_)), "O")
    kind = value.dtype.kind if isinstance(value, np.generic) else own
    if kind not in _KINDS[type(type_)]:
        _refuse(value, type_, what)
    with np.errstate(over="ignore"):  # told below
        made = _PYTHON.get(type_, type_)(value)
    if type(made) is int and not _fit(made):
        raise OverflowError(f"{what} of type {type_!r} cannot be {value!r}, which has more than 64 bits")
    if _is_lost(value, kind, made):
        raise OverflowError(f"{what} of type {type_!r} cannot be {value!r}, which it would make {made!r}")
    return made


def _array(value, type_, what):
    if not isinstance(value, np.ndarray):
        _refuse(value, type_, what)
    given = _krait.typeof(value)
    fits = type_.layout == "A" or value.flags[f"{type_.layout}_CONTIGUOUS"]
    if (given.dtype, given.ndim) != (type_.dtype, type_.ndim) or not fits:
        raise TypingError(f"{what} of type {type_!r} cannot be an array of type {given!r}")
    return value


def all_converted(values, type_):
    """A list of the values as the type has them; those of one class that it has as they are cost no call each."""
    values, made = list(values), _AS_THEY_ARE.get(type_)
    if made and set(map(type, values)) == {made} and (made is not int or _fit(min(values)) and _fit(max(values))):
        return values
    return [converted(value, type_) for value in values]


def converted(value, type_, what="an item"):
    """The value as the type, or None for no type, has it: TypingError where it has none."""
    if _AS_THEY_ARE.get(type_) is type(value) and (type(value) is not int or _fit(value)):
        return value
    type_ = _declared(type_)
    class_ = type(type_)
    if class_ in _KINDS:
        return _number(value, type_, what)
    if class_ in _HELD and not isinstance(value, _HELD[class_]):
        _refuse(value, type_, what)
    if class_ is _types["Array"]:
        return _array(value, type_, what)
    if class_ is _types["Optional"]:
        return None if value is None else converted(value, type_.type, what)
    if isinstance(type_, _types["Tuple"]):
        parts = type_.types
        if not isinstance(value, tuple) or len(value) != len(parts):
            _refuse(value, type_, what)
        items = [converted(x, t, what) for x, t in zip(value, parts, strict=True)]
        return value if all(x is y for x, y in zip(items, value, strict=True)) else tuple(items)
    return value
