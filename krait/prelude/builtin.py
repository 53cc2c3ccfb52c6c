"""Builtins over iterables: any, all, next, sum, min, max; membership of ranges; the least by a key.  What gives items
one after the other, as map and filter do, stands in iterators.py."""

import sys

from krait.prelude.intrinsics import close_generator, python_number, send_generator

if sys.version_info >= (3, 12):
    _MIN_EMPTY = "min() iterable argument is empty"
    _MAX_EMPTY = "max() iterable argument is empty"
else:
    _MIN_EMPTY = "min() arg is an empty sequence"
    _MAX_EMPTY = "max() arg is an empty sequence"


def any_of(iterable):
    for item in iterable:
        if item:
            return True
    return False


def all_of(iterable):
    for item in iterable:
        if not item:
            return False
    return True


def next_item(iterator):
    for item in iterator:
        return item
    raise StopIteration


def next_item_or(iterator, default):
    for item in iterator:
        return item
    return default


def send(generator, value):
    if not send_generator(generator, value) and value is not None:
        raise TypeError("can't send non-None value to a just-started generator")
    for item in generator:
        return item
    raise StopIteration


def pass_on(generator, value):
    send_generator(generator, value)


def pass_to_iterator(iterator, value):
    if value is not None:
        raise AttributeError("the iterator of `yield from` has no attribute 'send'")


def close(generator):
    try:
        goes_on = close_generator(generator)
    except GeneratorExit:
        return
    if goes_on:
        raise RuntimeError("generator ignored GeneratorExit")


def raises(exception, text):
    raise exception(text)


def sum_of(iterable, start=0):
    total = start
    for item in iterable:
        total = total + item
    return total


def sum_of_arrays(iterable, start=0):
    found = False
    for item in iterable:
        if found:
            total = total + item
        else:
            total = start + item
            found = True
    if not found:
        raise ValueError("the sum of no arrays is a number in Python, and an array in compiled code: test len() before")
    return total


if sys.version_info >= (3, 12):
    # Python's floats are summed with compensation (Neumaier) since 3.12: from the second term on that follows a float.

    def sum_of_floats(iterable, start=0):
        total = float(start)
        lost = 0.0
        is_int = isinstance(start, int)
        for item in iterable:
            x = float(item)
            t = total + x
            if is_int:
                is_int = False
            elif abs(total) >= abs(x):
                lost += (total - t) + x
            else:
                lost += (x - t) + total
            total = t
        return compensated(total, lost)

    def sum_of_mixed(items, start=0):
        return sum_on(items, start, 0.0)

    def sum_on(items, total, lost):
        # Ints are added as they are, to an int and to a float.
        if len(items) == 0:
            return compensated(total, lost)
        item = items[0]
        if isinstance(total, int) or isinstance(item, int):
            return sum_on(items[1:], total + item, lost)
        t = total + item
        if abs(total) >= abs(item):
            return sum_on(items[1:], t, lost + ((total - t) + item))
        return sum_on(items[1:], t, lost + ((item - t) + total))

    def compensated(total, lost):
        if lost != 0.0 and lost - lost == 0.0:
            return total + lost
        return total

else:
    sum_of_floats = sum_of

    def sum_of_mixed(items, start=0):
        if len(items) == 0:
            return start
        return sum_of_mixed(items[1:], start + items[0])


def min_of(iterable):
    found = False
    for item in iterable:
        if not found:
            least = item
            found = True
        elif item < least:
            least = item
    if not found:
        raise ValueError(_MIN_EMPTY)
    return least


def max_of(iterable):
    found = False
    for item in iterable:
        if not found:
            most = item
            found = True
        elif item > most:
            most = item
    if not found:
        raise ValueError(_MAX_EMPTY)
    return most


class Compared:
    """An item that is ordered by a function of two of them."""

    def __init__(self, compare, item):
        self.compare = compare
        self.item = item

    def __lt__(self, other):
        return self.compare(self.item, other.item) < 0

    def __gt__(self, other):
        return self.compare(self.item, other.item) > 0

    def __le__(self, other):
        return self.compare(self.item, other.item) <= 0

    def __ge__(self, other):
        return self.compare(self.item, other.item) >= 0

    def __eq__(self, other):
        return self.compare(self.item, other.item) == 0


def cmp_to_key(mycmp):
    def key(obj):
        return Compared(mycmp, obj)

    return key


def reduce(function, iterable, *initial):
    started = len(initial) == 1
    if started:
        total = initial[0]
    for item in iterable:
        if started:
            total = function(total, item)
        else:
            total = item
            started = True
    if not started:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def slice_indices(which, length):
    if length < 0:
        raise ValueError("length should not be negative")
    step = 1 if which.step is None else which.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    least, most = (-1, length - 1) if step < 0 else (0, length)
    start = (most if step < 0 else least) if which.start is None else clamped(which.start, length, least, most)
    stop = (least if step < 0 else most) if which.stop is None else clamped(which.stop, length, least, most)
    return start, stop, step


def clamped(index, length, least, most):
    if index < 0:
        return max(index + length, least)
    return min(index, most)


def in_range(x, items):
    inside = items.start <= x < items.stop if items.step > 0 else items.stop < x <= items.start
    # x less the start may be no int64
    return bool(inside) and python_number(x) % items.step == items.start % items.step


def not_in_range(x, items):
    return not in_range(x, items)


def float_in_range(x, items):
    if not -9223372036854775808.0 <= x < 9223372036854775808.0:
        return False
    n = int(x)
    return float(x) == n and in_range(n, items)


def float_not_in_range(x, items):
    return not float_in_range(x, items)


def in_tuple(x, items):
    if len(items) == 0:
        return False
    if items[0] == x:
        return True
    return in_tuple(x, items[1:])


def not_in_tuple(x, items):
    return not in_tuple(x, items)


def in_walked(x, items):
    for item in items:
        if item == x:
            return True
    return False


def not_in_walked(x, items):
    return not in_walked(x, items)


def min_of_all(items, *, key=None):
    # min(*items): of one item alone it is what that one holds, of none there is nothing to say.
    if len(items) < 2:
        raise TypeError("min() of a starred argument with fewer than two items")
    return least_by(items, key)


def max_of_all(items, *, key=None):
    if len(items) < 2:
        raise TypeError("max() of a starred argument with fewer than two items")
    return greatest_by(items, key)


def min_by(*items, key=None):
    return least_by(items[0] if len(items) == 1 else items, key)


def max_by(*items, key=None):
    return greatest_by(items[0] if len(items) == 1 else items, key)


def min_by_or(iterable, key=None, default=None):
    rest = iter(iterable)
    for first in rest:
        return _least_of(first, rest, key)
    return default


def max_by_or(iterable, key=None, default=None):
    rest = iter(iterable)
    for first in rest:
        return _most_of(first, rest, key)
    return default


def _least_of(least, rest, key):
    least_value = key_of(least, key)
    for item in rest:
        value = key_of(item, key)
        if value < least_value:
            least, least_value = item, value
    return least


def _most_of(most, rest, key):
    most_value = key_of(most, key)
    for item in rest:
        value = key_of(item, key)
        if value > most_value:
            most, most_value = item, value
    return most


def key_of(item, key):
    if key is None:
        return item
    return key(item)


def least_by(iterable, key):
    found = False
    for item in iterable:
        value = key_of(item, key)
        if not found:
            least, least_value = item, value
            found = True
        elif value < least_value:
            least, least_value = item, value
    if not found:
        raise ValueError(_MIN_EMPTY)
    return least


def greatest_by(iterable, key):
    found = False
    for item in iterable:
        value = key_of(item, key)
        if not found:
            most, most_value = item, value
            found = True
        elif value > most_value:
            most, most_value = item, value
    if not found:
        raise ValueError(_MAX_EMPTY)
    return most


def true_if_any(x):
    # bool(x), where x may be None.
    if x is None:
        return False
    return bool(x)


def false_if_any(x):
    return not true_if_any(x)


def equal_if_any(x, y):
    # x == y, either of which may be None.
    if x is None:
        return y is None
    if y is None:
        return False
    return bool(x == y)


def different_if_any(x, y):
    return not equal_if_any(x, y)


def own_equal_if_any(x, y):
    # The same where the class of x says what is equal.
    if x is None:
        return y is None
    return bool(x == y)


def own_different_if_any(x, y):
    if x is None:
        return y is not None
    return bool(x != y)


def str_if_any(x):
    if x is None:
        return "None"
    return str(x)


def repr_if_any(x):
    if x is None:
        return "None"
    return repr(x)


def attribute_or(x, name, default):
    if hasattr(x, name):
        return getattr(x, name)
    return default


def copy_of(x):
    return x.copy()


def part_of_range(r, which):
    start, stop, step = which.indices(len(r))
    count = len(range(start, stop, step))
    first, end, by = r.start + start * r.step, r.start + stop * r.step, r.step * step
    exact = by // step == r.step and (by > 0) == ((r.step > 0) == (step > 0))
    if exact and len(range(first, end, by)) == count:
        return range(first, end, by)
    # The end, or the step, is none of 64 bits.
    if count == 0:
        return range(0)
    if not exact and count == 1:
        by = 1 if first < 0 else -1
    last = first + (count - 1) * by
    if (not exact and count > 1) or last == (9223372036854775807 if by > 0 else -9223372036854775808):
        raise OverflowError("a part of a range ends, or goes, further than 64 bits hold")
    return range(first, last + (1 if by > 0 else -1), by)


def is_among(item, walked):
    for x in walked:
        if item in (x,):
            return True
    return False


def is_not_among(item, walked):
    return not is_among(item, walked)
