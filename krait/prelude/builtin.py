"""Builtins over iterables: any, all, next, sum, min, max; membership of ranges."""

import sys

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


def sum_of(iterable, start=0):
    total = start
    for item in iterable:
        total = total + item
    return total


if sys.version_info >= (3, 12):

    def sum_of_floats(iterable, start=0):
        # Python's floats are summed with compensation (Neumaier) since 3.12.
        total = float(start)
        lost = 0.0
        for item in iterable:
            x = float(item)
            t = total + x
            if abs(total) >= abs(x):
                lost += (total - t) + x
            else:
                lost += (x - t) + total
            total = t
        if lost != 0.0 and lost - lost == 0.0:
            return total + lost
        return total

else:
    sum_of_floats = sum_of


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


def in_range(x, items):
    if items.step > 0:
        return items.start <= x < items.stop and (x - items.start) % items.step == 0
    return items.stop < x <= items.start and (items.start - x) % -items.step == 0


def not_in_range(x, items):
    return not in_range(x, items)
