"""Tuples compared item by item, from the first on: nothing is asked of what stands behind the first two that differ."""

from krait.prelude.intrinsics import has_order, may_be_one


def _same(x, y):
    """An instance is equal to itself, whatever it says."""
    if may_be_one(x, y):
        return x is y or x == y
    else:
        return x == y


def equal(a, b):
    if len(a) == 0:
        return True
    elif _same(a[0], b[0]):
        return equal(a[1:], b[1:])
    else:
        return False


def different(a, b):
    return not equal(a, b)


def _name(x):
    if x is None:
        return "NoneType"
    else:
        return type(x).__name__


def _refuse(x, y, symbol):
    raise TypeError(f"'{symbol}' not supported between instances of '{_name(x)}' and '{_name(y)}'")


def less(a, b):
    if len(b) == 0:
        return False
    elif len(a) == 0:
        return True
    elif _same(a[0], b[0]):
        return less(a[1:], b[1:])
    elif has_order(a[0], b[0]):
        return a[0] < b[0]
    else:
        return _refuse(a[0], b[0], "<")


def less_equal(a, b):
    if len(a) == 0:
        return True
    elif len(b) == 0:
        return False
    elif _same(a[0], b[0]):
        return less_equal(a[1:], b[1:])
    elif has_order(a[0], b[0]):
        return a[0] <= b[0]
    else:
        return _refuse(a[0], b[0], "<=")


def greater(a, b):
    if len(a) == 0:
        return False
    elif len(b) == 0:
        return True
    elif _same(a[0], b[0]):
        return greater(a[1:], b[1:])
    elif has_order(a[0], b[0]):
        return a[0] > b[0]
    else:
        return _refuse(a[0], b[0], ">")


def greater_equal(a, b):
    if len(b) == 0:
        return True
    elif len(a) == 0:
        return False
    elif _same(a[0], b[0]):
        return greater_equal(a[1:], b[1:])
    elif has_order(a[0], b[0]):
        return a[0] >= b[0]
    else:
        return _refuse(a[0], b[0], ">=")
