"""bytearray, memoryview and array.array, as Python that compiled code takes: classes whose items are those of an array.

An argument is seen as one of these on its own memory, which is held while the call runs (marshal/collections.c): who
gives it more or fewer items meanwhile gets a BufferError, and what compiled code writes is written.  Their lengths stay
as they are, but that of a bytearray that is made here (bytearrays.py); slices are what they are in the interpreter:
copies of a bytearray and of an array, views of a memoryview.
"""

import array as library
import builtins
import operator

import numpy as np

from krait.prelude.bytearrays import Growing, byte_of, part
from krait.prelude.intrinsics import frozen, python_number


class _Buffer:
    """A line of numbers, `_array`; a class says in _place what it raises outside of it."""

    def __len__(self):
        return len(self._array)

    def __contains__(self, x):
        return place_of(self._array, x) >= 0

    def __iter__(self):
        for item in self._array:
            yield python_number(item)

    def __krait_asarray__(self, dtype=None, order=None, *, copy=None):
        return np.asarray(self._array, dtype, order, copy=copy)

    def __krait_array__(self, dtype=None):
        return np.array(self._array, dtype)

    def tobytes(self):
        return self._array.tobytes()

    def tolist(self):
        return self._array.tolist()


def is_item(item, x):
    # Items are Python's numbers: what is as near to x as a float32 can be is not x, nor the nearest float to an int.
    if item.dtype.kind == "f":
        return float(item) == x
    if isinstance(x, (float, np.floating)):
        return python_number(item) == x
    return item == x


def place_of(items, x):
    for i in range(len(items)):
        if is_item(items[i], x):
            return i
    return -1


def are_alike(x, y):
    # Whether two arrays hold the same numbers, whatever their types.
    if x.dtype == y.dtype or x.ndim != 1 or y.ndim != 1:
        return np.array_equal(x, y)
    if x.dtype.kind == "f" and y.dtype.kind != "f":
        return are_alike(y, x)
    if len(x) != len(y):
        return False
    for i in range(len(x)):
        if not is_item(x[i], float(y[i]) if y.dtype.kind == "f" else y[i]):
            return False
    return True


def within(i, n, text):
    i = operator.index(i)
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError(text)
    return i


def bytes_of(source):
    """An array of bytes: of that many zeros, of what another buffer holds, of ints."""
    if isinstance(source, _BUFFERS):
        return np.frombuffer(np.ascontiguousarray(source._array), np.uint8)
    if isinstance(source, bytes):
        return np.frombuffer(source, np.uint8)
    if isinstance(source, np.ndarray):
        return np.frombuffer(np.ascontiguousarray(source), np.uint8)
    if isinstance(source, (int, np.integer)):
        if source < 0:
            raise ValueError("negative count")
        return np.zeros(source, np.uint8)
    return np.fromiter((byte_of(x) for x in source), np.uint8)


class bytearray(_Buffer, Growing):
    __krait_original__ = builtins.bytearray

    def __init__(self, source=0, encoding=None, errors=None):
        if isinstance(source, str) or encoding is not None or errors is not None:
            self._array = np.array(bytes_of(bytes(source, encoding, errors)))
        else:
            self._array = np.array(bytes_of(source))
        self._room = self._array
        self._fixed = False

    def __krait_result__(self):
        return builtins.bytearray(self._array)

    def made(self, source):
        return bytearray(source)

    def _numbers(self, source):
        return np.array(bytes_of(source))

    def __krait_asarray__(self, dtype=None, order=None, *, copy=None):
        self._fixed = True
        return np.asarray(self._array, dtype, order, copy=copy)

    def __iter__(self):
        i = 0
        while i < len(self._array):
            yield int(self._array[i])
            i += 1

    def __reversed__(self):
        i = len(self._array) - 1
        while 0 <= i < len(self._array):
            yield int(self._array[i])
            i -= 1

    def __eq__(self, other):
        # By their bytes, where these lie together.
        if isinstance(other, memoryview) and not other.c_contiguous:
            return are_alike(self._array, other._array)
        if isinstance(other, _BUFFERS) or isinstance(other, bytes):
            return np.array_equal(self._array, bytes_of(other))
        return NotImplemented

    def __contains__(self, x):
        if isinstance(x, _BUFFERS) or isinstance(x, bytes):
            return self.find(x) >= 0
        return place_of(self._array, byte_of(x)) >= 0

    def __getitem__(self, i):
        if isinstance(i, slice):
            return bytearray(self._array[i])
        return int(self._array[within(i, len(self._array), "bytearray index out of range")])

    def __setitem__(self, i, x):
        if isinstance(i, slice):
            self._set_slice(i, self._numbers(x))
        else:
            i = within(i, len(self._array), "bytearray index out of range")
            self._array[i] = byte_of(x)

    def _set_slice(self, which, new):
        into = self._array[which]
        start, stop, step = which.indices(len(self._array))
        if len(into) == len(new):
            into[:] = new
        elif step == 1:
            self._put(start, max(start, stop), new)
        else:
            raise ValueError(f"attempt to assign bytes of size {len(new)} to extended slice of size {len(into)}")

    def __delitem__(self, i):
        if isinstance(i, slice):
            keeps = np.ones(len(self._array), np.bool_)
            keeps[i] = False
            self._put(0, len(self._array), self._array[keeps])
        else:
            i = within(i, len(self._array), "bytearray index out of range")
            self._put(i, i + 1, np.empty(0, np.uint8))

    def __add__(self, other):
        return bytearray(np.concatenate((self._array, bytes_of(other))))

    def __radd__(self, other):
        return other + self.tobytes()

    def __lt__(self, other):
        return self.tobytes() < part(other)

    def __le__(self, other):
        return self.tobytes() <= part(other)

    def __gt__(self, other):
        return self.tobytes() > part(other)

    def __ge__(self, other):
        return self.tobytes() >= part(other)

    def __mul__(self, times):
        return bytearray(np.tile(self._array, max(times, 0)))

    def __rmul__(self, times):
        return bytearray(np.tile(self._array, max(times, 0)))

    def copy(self):
        return bytearray(self._array)

    def reverse(self):
        self._array[:] = np.array(self._array[::-1])


class _Kept:
    """An array that an array.array is made on."""

    def __init__(self, line):
        self.line = line


def items_of(typecode, items):
    # What array.array() makes of its second argument: bytes are memory, all else is items.
    if typecode not in "bBhHiIlLqQfd":
        raise ValueError("bad typecode (must be b, B, h, H, i, I, l, L, q, Q, f or d)")
    if isinstance(items, (bytes, bytearray)):
        memory = bytes_of(items)
        if len(memory) % np.dtype(typecode).itemsize != 0:
            raise ValueError("bytes length not a multiple of item size")
        return np.array(np.frombuffer(memory, np.dtype(typecode)))
    like = np.empty(0, np.dtype(typecode))
    return np.fromiter((item_for(like, x) for x in items), like.dtype)


class array(_Buffer):
    __krait_original__ = library.array

    def __init__(self, typecode, items=()):
        self.typecode = typecode
        if isinstance(items, _Kept):
            self._array = np.array(items.line)
        else:
            self._array = items_of(typecode, items)

    def __krait_result__(self):
        return library.array(self.typecode, self._array.tobytes())

    def __eq__(self, other):
        if isinstance(other, array):
            return are_alike(self._array, other._array)
        return NotImplemented

    @property
    def itemsize(self):
        return self._array.itemsize

    def __getitem__(self, i):
        if isinstance(i, slice):
            return array(self.typecode, _Kept(self._array[i]))
        return python_number(self._array[within(i, len(self._array), "array index out of range")])

    def __setitem__(self, i, x):
        if isinstance(i, slice):
            if not isinstance(x, array):
                raise TypeError("can only assign array to array slice")
            into, new = self._array[i], np.array(x._array)
            if new.dtype != into.dtype:
                raise TypeError("bad argument type for built-in operation")
            if len(into) != len(new):
                raise BufferError("cannot resize an array that is exporting buffers")
            into[:] = new
        else:
            i = within(i, len(self._array), "array assignment index out of range")
            self._array[i] = item_for(self._array, x)

    def count(self, x):
        n = 0
        for item in self._array:
            n += int(is_item(item, x))
        return n

    def index(self, x):
        i = place_of(self._array, x)
        if i < 0:
            raise ValueError("array.index(x): x not in array")
        return i

    def reverse(self):
        self._array[:] = np.array(self._array[::-1])


def number_for(items, x):
    # What becomes an item: of floats every number, of ints those that fit, or else None.
    if items.dtype.kind == "f":
        return float(x)
    x = operator.index(x)
    if x < np.iinfo(items.dtype).min or x > np.iinfo(items.dtype).max:
        return None
    return x


def item_for(items, x):
    number = number_for(items, x)
    if number is None:
        least, most = np.iinfo(items.dtype).min, np.iinfo(items.dtype).max
        raise OverflowError(f"{x} is outside of what an item of {items.itemsize} bytes holds, {least} to {most}")
    return items.dtype.type(number)


class memoryview(_Buffer):
    __krait_original__ = builtins.memoryview

    def __init__(self, object):
        if isinstance(object, bytearray):
            object._fixed = True
        if isinstance(object, _BUFFERS):
            self._array = object._array
        elif isinstance(object, bytes):
            self._array = np.frombuffer(object, np.uint8)
        else:
            self._array = object

    def __krait_result__(self):
        return builtins.memoryview(self._array)

    def __eq__(self, other):
        if isinstance(other, _BUFFERS):
            return are_alike(self._array, other._array)
        if isinstance(other, bytes):
            return are_alike(self._array, np.frombuffer(other, np.uint8))
        return NotImplemented

    def __getitem__(self, i):
        if isinstance(i, slice):
            return memoryview(self._array[i])
        return python_number(self._array[self._place(i)])

    def __setitem__(self, i, x):
        if isinstance(i, slice):
            into, new = self._array[i], _contents(x)
            if new.shape != into.shape or new.dtype != into.dtype:
                raise ValueError("memoryview assignment: lvalue and rvalue have different structures")
            into[:] = np.array(new)
        else:
            place = self._place(i)
            if self._array.dtype.kind == "b":
                self._array[place] = bool(x)
            else:
                self._array[place] = _fitting(self._array, x)

    def _place(self, i):
        if isinstance(i, tuple):
            if len(i) != self._array.ndim:
                raise NotImplementedError("sub-views are not implemented")
            return _places_within(i, self._array.shape, 1)
        if self._array.ndim != 1:
            raise NotImplementedError("multi-dimensional sub-views are not implemented")
        return within(i, len(self._array), "index out of bounds on dimension 1")

    @property
    def shape(self):
        return self._array.shape

    @property
    def strides(self):
        return self._array.strides

    @property
    def ndim(self):
        return self._array.ndim

    @property
    def itemsize(self):
        return self._array.itemsize

    @property
    def nbytes(self):
        return self._array.nbytes

    @property
    def format(self):
        return self._array.dtype.char

    @property
    def readonly(self):
        return not self._array.flags.writeable

    @property
    def contiguous(self):
        return self._array.flags.c_contiguous or self._array.flags.f_contiguous

    @property
    def c_contiguous(self):
        return self._array.flags.c_contiguous

    @property
    def f_contiguous(self):
        return self._array.flags.f_contiguous

    def hex(self, sep=None, bytes_per_sep=1):
        return self.tobytes().hex() if sep is None else self.tobytes().hex(sep, bytes_per_sep)

    def __reversed__(self):
        for i in range(len(self._array) - 1, -1, -1):
            yield python_number(self._array[i])

    def toreadonly(self):
        return memoryview(frozen(self._array))


def _places_within(places, shape, dimension):
    if len(places) == 0:
        return ()
    i = within(places[0], shape[0], f"index out of bounds on dimension {dimension}")
    return (i,) + _places_within(places[1:], shape[1:], dimension + 1)


def _fitting(items, x):
    number = number_for(items, x)
    if number is None:
        raise ValueError(f"memoryview: invalid value for format '{items.dtype.char}'")
    return items.dtype.type(number)


def _contents(x):
    if isinstance(x, _BUFFERS):
        return x._array
    if isinstance(x, bytes):
        return np.frombuffer(x, np.uint8)
    return np.asarray(x)


_BUFFERS = (bytearray, memoryview, array)
