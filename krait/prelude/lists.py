"""Lists: their methods and operators."""

import numpy as np

from krait import literal_unroll
from krait.prelude.intrinsics import how_ordered, python_order, reserve, slice_range, truncate, tuple_of

MOST = 0x7FFFFFFFFFFFFFFF


def from_iterable(iterable):
    new = []
    for item in iterable:
        new.append(item)
    return new


def from_range(numbers):
    new = []
    reserve(new, len(numbers))  # what there is no memory for is refused before it is begun
    for number in numbers:
        new.append(number)
    return new


def up_to(iterable, count):
    new = []
    for item in iterable:
        new.append(item)
        if len(new) > count:
            break
    return new


def extend(items, more):
    if isinstance(more, list):
        for i in range(len(more)):  # which may be the list itself
            items.append(more[i])
    else:
        for item in more:
            items.append(item)


def extended(items, more):
    extend(items, more)
    return items


def check_unpacked(items, count):
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")


def check_unpacked_some(items, least):
    if len(items) < least:
        raise ValueError(f"not enough values to unpack (expected at least {least}, got {len(items)})")


def insert(items, index, item):
    n = len(items)
    at = max(index + n, 0) if index < 0 else min(index, n)
    items.append(item)
    for i in range(n, at, -1):
        items[i] = items[i - 1]
    items[at] = item


def delete(items, index):
    n = len(items)
    at = index + n if index < 0 else index
    if at < 0 or at >= n:
        raise IndexError("list assignment index out of range")
    for i in range(at, n - 1):
        items[i] = items[i + 1]
    truncate(items, n - 1)


def pop(items, index=-1):
    n = len(items)
    if n == 0:
        raise IndexError("pop from empty list")
    at = index + n if index < 0 else index
    if at < 0 or at >= n:
        raise IndexError("pop index out of range")
    item = items[at]
    delete(items, at)
    return item


def remove(items, value):
    for i in range(len(items)):
        if items[i] == value:
            delete(items, i)
            return
    raise ValueError("list.remove(x): x not in list")


def index(items, value, start=0, stop=9223372036854775807):
    n = len(items)
    first = max(start + n, 0) if start < 0 else start
    last = stop + n if stop < 0 else min(stop, n)
    for i in range(first, last):
        if items[i] == value:
            return i
    raise ValueError(f"{value!r} is not in list")


def item_of_typed(items, i):
    return items[i]


def count(items, value):
    n = 0
    for item in items:
        if item == value:
            n += 1
    return n


def reverse(items):
    n = len(items)
    for i in range(n // 2):
        item = items[i]
        items[i] = items[n - 1 - i]
        items[n - 1 - i] = item


def clear(items):
    truncate(items, 0)


# ---- tuples of any length ----


def tuple_from(iterable):
    return tuple_of(from_iterable(iterable))


def tuple_item(items, index):
    if index < -len(items) or index >= len(items):
        raise IndexError("tuple index out of range")
    return items[index]


def tuple_slice(items, which):
    return tuple_of(get_slice(items, which))


def tuples_joined(items, more):
    return tuple_of(concatenated(items, more))


def texts_of(values):
    texts = []
    for value in values:
        texts.append(str(value))
    return tuple(texts)


def tuple_repeated(items, times):
    return tuple_of(repeated(items, times))


def tuple_index(items, value, start=0, stop=9223372036854775807):
    n = len(items)
    first = max(start + n, 0) if start < 0 else start
    last = stop + n if stop < 0 else min(stop, n)
    for i in range(first, last):
        if items[i] == value:
            return i
    raise ValueError("tuple.index(x): x not in tuple")


def mixed_index(items, value, start=0, stop=9223372036854775807):
    n = len(items)
    first = max(start + n, 0) if start < 0 else start
    last = stop + n if stop < 0 else min(stop, n)
    i = 0
    for item in literal_unroll(items):  # an int beside a float is compared as an int
        if first <= i < last and item == value:
            return i
        i += 1
    raise ValueError("tuple.index(x): x not in tuple")


def mixed_count(items, value):
    n = 0
    for item in literal_unroll(items):
        if item == value:
            n += 1
    return n


# ---- slices ----


def get_slice(items, which):
    start, step, n = slice_range(which, len(items))
    new = []
    for i in range(n):
        new.append(items[start + i * step])
    return new


def delete_slice(items, which):
    start, step, n = slice_range(which, len(items))
    if n == 0:
        return
    if step < 0:
        start, step = start + (n - 1) * step, -step
    to = start
    for i in range(start, len(items)):
        if (i - start) % step != 0 or (i - start) // step >= n:
            items[to] = items[i]
            to += 1
    truncate(items, to)


def set_slice(items, which, more):
    start, step, n = slice_range(which, len(items))
    new = []
    for item in more:
        new.append(item)
    if step != 1:
        if len(new) != n:
            raise ValueError(f"attempt to assign sequence of size {len(new)} to extended slice of size {n}")
        for i in range(n):
            items[start + i * step] = new[i]
        return
    for i in range(start + n, len(items)):
        new.append(items[i])
    truncate(items, start)
    extend(items, new)


# ---- operators ----


def concatenated(items, more):
    new = []
    for item in items:
        new.append(item)
    for item in more:
        new.append(item)
    return new


def rounds_with_room(items, length, times):
    # How often `length` items are put behind each other: never, if there are none.  Makes room for them.
    if times > MOST:
        raise OverflowError("cannot fit 'numpy.uint64' into an index-sized integer")
    if times <= 0 or length == 0:
        return 0
    if length > MOST // int(times):
        raise MemoryError
    reserve(items, length * int(times))
    return int(times)


def repeated(items, times):
    new = []
    for _ in range(rounds_with_room(new, len(items), times)):
        for item in items:
            new.append(item)
    return new


def repeated_so_often(times, items):
    return repeated(items, times)


def repeat_in_place(items, times):
    n = len(items)
    rounds = rounds_with_room(items, n, times)
    if rounds < 1:
        truncate(items, 0)
    for _ in range(1, rounds):
        for i in range(n):
            items.append(items[i])
    return items


def contains(value, items):
    for item in items:
        if item == value:
            return True
    return False


def contains_not(value, items):
    return not contains(value, items)


def equal(a, b):
    if a is b:  # items that are one object are equal, a NaN too
        return True
    if len(a) != len(b):
        return False
    for i in range(len(a)):
        if a[i] != b[i]:
            return False
    return True


def not_equal(a, b):
    return not equal(a, b)


def less(a, b):
    if a is b:
        return False
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return a[i] < b[i]
    return len(a) < len(b)


def less_equal(a, b):
    if a is b:
        return True
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return a[i] <= b[i]
    return len(a) <= len(b)


def greater(a, b):
    return less(b, a)


def greater_equal(a, b):
    return less_equal(b, a)


# ---- arrays of lists ----


def array_of_numbers(items, dtype, order):
    new = np.empty(len(items), dtype)
    for i in range(len(items)):
        new[i] = items[i]
    return new


def array_of_rows(items, dtype, order):
    if len(items) == 0:
        raise ValueError("an empty list of lists or arrays has no shape in compiled code")
    first = np.asarray(items[0], dtype)
    new = np.empty((len(items),) + first.shape, dtype)
    for i in range(len(items)):
        row = np.asarray(items[i], dtype)
        if row.shape != first.shape:
            raise ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 "
                f"dimensions. The detected shape was ({len(items)},) + inhomogeneous part."
            )
        new[i] = row
    return new


# ---- sorting ----


def sort(items, key=None, reverse=False):
    if key is None:
        sort_by(items, items, reverse)
    else:
        keys = []
        for item in items:
            keys.append(key(item))
        sort_by(items, keys, reverse)


def sorted_list(iterable, key=None, reverse=False):
    new = from_iterable(iterable)
    sort(new, key=key, reverse=reverse)
    return new


def sort_by(items, keys, reverse):
    # Where `<` does not put the keys into one order, the interpreter's own way to sort decides.
    how = how_ordered(keys)
    if how == "never" or (how == "but for nan" and has_nan(keys)):
        put_in_order(items, python_order(keys, reverse))
    else:
        put_in_order(items, merged(keys, reverse))


def has_nan(keys):
    for key in keys:
        if holds_nan(key):
            return True
    return False


def holds_nan(key):
    # Numbers and times that are none are not equal to themselves; what holds them may be.
    if isinstance(key, (int, str)):
        return False
    if not isinstance(key, (tuple, list)):
        return key != key
    for item in key:
        if holds_nan(item):
            return True
    return False


def put_in_order(items, order):
    sorted_items = []
    for i in order:
        sorted_items.append(items[i])
    for i in range(len(items)):
        items[i] = sorted_items[i]


def merged(keys, reverse):
    # The numbers of the items in their order, whichever way it is found: runs are merged from below.  That of equal
    # items is kept in reverse too.
    n = len(keys)
    order = []
    other = []
    for i in range(n):
        order.append(i)
        other.append(i)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            merge(order, other, keys, low, min(low + width, n), min(low + 2 * width, n), reverse)
        order, other = other, order
        width *= 2
    return order


def merge(order, to, keys, low, middle, high, reverse):
    a = low
    b = middle
    for i in range(low, high):
        if a < middle and (b >= high or not comes_first(keys[order[b]], keys[order[a]], reverse)):
            to[i] = order[a]
            a += 1
        else:
            to[i] = order[b]
            b += 1


def comes_first(a, b, reverse):
    if reverse:
        return b < a
    return a < b
