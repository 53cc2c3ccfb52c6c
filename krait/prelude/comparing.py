"""Tuples compared item by item, from the first on: nothing is asked of what stands behind the first two that differ.

Tuples are halved until one pair of items is left, so that long ones make few functions, of short tuples.  What has no
part in this, numbers and texts, comes as one number for each run of such items (rules_tuple.c).
"""

from krait.prelude.intrinsics import has_order, may_be_one


def place_if_less(same, less):
    """Where a run of items stands to 0, so that `<` and `<=` say what they say of it; NumPy's number for NumPy's."""
    return 0 if same else 1 - 2 * less


def place_if_greater(same, greater):
    return 0 if same else 2 * greater - 1


def _same(x, y):
    """An instance is equal to itself, whatever it says."""
    if may_be_one(x, y):
        return bool(x is y or x == y)
    else:
        return bool(x == y)


def equal(a, b):
    """Of one length."""
    if len(a) == 0:
        return True
    elif len(a) == 1:
        return _same(a[0], b[0])
    elif equal(a[: len(a) // 2], b[: len(a) // 2]):
        return equal(a[len(a) // 2 :], b[len(a) // 2 :])
    else:
        return False


def different(a, b):
    return not equal(a, b)


def _first_difference(a, b):
    """Where tuples of one length differ first; their length, if nowhere."""
    half = len(a) // 2
    if len(a) == 0:
        return 0
    elif len(a) == 1:
        return int(not _same(a[0], b[0])) ^ 1
    else:
        found = _first_difference(a[:half], b[:half])
        return found if found < half else half + _first_difference(a[half:], b[half:])


def _order(compare, symbol, a, b, i):
    """compare(a[i], b[i])"""
    half = len(a) // 2
    if len(a) == 1:
        if has_order(a[0], b[0]):
            return compare(a[0], b[0])
        else:
            return _refuse(a[0], b[0], symbol)
    elif i < half:
        return _order(compare, symbol, a[:half], b[:half], i)
    else:
        return _order(compare, symbol, a[half:], b[half:], i - half)


def _ordered(compare, symbol, a, b):
    """What compare says of the first items that differ; of the lengths, where one tuple begins with the other."""
    if len(a) > len(b):
        return _ordered_alike(compare, symbol, a[: len(b)], b, len(a) - len(b))
    else:
        return _ordered_alike(compare, symbol, a, b[: len(a)], len(a) - len(b))


def _ordered_alike(compare, symbol, a, b, longer):
    """Of tuples of one length; longer: by how many items the first one is, all in all."""
    if len(a) == 0:
        return compare(longer, 0)
    else:
        i = _first_difference(a, b)
        return _order(compare, symbol, a, b, i) if i < len(a) else compare(longer, 0)


def _name(x):
    if x is None:
        return "NoneType"
    else:
        return type(x).__name__


def _refuse(x, y, symbol):
    raise TypeError(f"'{symbol}' not supported between instances of '{_name(x)}' and '{_name(y)}'")


def less(a, b):
    return _ordered(lambda x, y: x < y, "<", a, b)


def less_equal(a, b):
    return _ordered(lambda x, y: x <= y, "<=", a, b)


def greater(a, b):
    return _ordered(lambda x, y: x > y, ">", a, b)


def greater_equal(a, b):
    return _ordered(lambda x, y: x >= y, ">=", a, b)
