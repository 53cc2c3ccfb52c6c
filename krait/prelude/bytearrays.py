"""What a bytearray has beside its items (buffers.py): what bytes have, and what gives it more or fewer of them.

Of one that was passed in the memory is the caller's, and one that others look at holds still: both are `_fixed`, and
raise BufferError where their length would change, as the interpreter does while others look.
"""

import operator

import numpy as np


def byte_of(x):
    x = operator.index(x)
    if x < 0 or x > 255:
        raise ValueError("byte must be in range(0, 256)")
    return x


def part(x):
    # What is looked for: a number, or bytes of any class.
    if x is None or isinstance(x, (int, np.integer, bytes, str, tuple)):
        return x
    return x.tobytes()


class Methods:
    """For a class with _array and made(bytes), another one of them."""

    def decode(self, encoding="utf-8", errors="strict"):
        return self.tobytes().decode(encoding, errors)

    def hex(self, sep=None, bytes_per_sep=1):
        return self.tobytes().hex() if sep is None else self.tobytes().hex(sep, bytes_per_sep)

    def find(self, sub, start=None, end=None):
        return self.tobytes().find(part(sub), start, end)

    def rfind(self, sub, start=None, end=None):
        return self.tobytes().rfind(part(sub), start, end)

    def index(self, sub, start=None, end=None):
        return self.tobytes().index(part(sub), start, end)

    def rindex(self, sub, start=None, end=None):
        return self.tobytes().rindex(part(sub), start, end)

    def count(self, sub, start=None, end=None):
        return self.tobytes().count(part(sub), start, end)

    def startswith(self, prefix, start=None, end=None):
        return self.tobytes().startswith(part(prefix), start, end)

    def endswith(self, suffix, start=None, end=None):
        return self.tobytes().endswith(part(suffix), start, end)

    def split(self, sep=None, maxsplit=-1):
        return [self.made(item) for item in self.tobytes().split(part(sep), maxsplit)]

    def rsplit(self, sep=None, maxsplit=-1):
        return [self.made(item) for item in self.tobytes().rsplit(part(sep), maxsplit)]

    def splitlines(self, keepends=False):
        return [self.made(item) for item in self.tobytes().splitlines(keepends)]

    def partition(self, sep):
        before, found, after = self.tobytes().partition(part(sep))
        return self.made(before), self.made(found), self.made(after)

    def rpartition(self, sep):
        before, found, after = self.tobytes().rpartition(part(sep))
        return self.made(before), self.made(found), self.made(after)

    def strip(self, bytes=None):
        return self.made(self.tobytes().strip(part(bytes)))

    def lstrip(self, bytes=None):
        return self.made(self.tobytes().lstrip(part(bytes)))

    def rstrip(self, bytes=None):
        return self.made(self.tobytes().rstrip(part(bytes)))

    def replace(self, old, new, count=-1):
        return self.made(self.tobytes().replace(part(old), part(new), count))

    def removeprefix(self, prefix):
        return self.made(self.tobytes().removeprefix(part(prefix)))

    def removesuffix(self, suffix):
        return self.made(self.tobytes().removesuffix(part(suffix)))

    def join(self, iterable_of_bytes):
        return self.made(self.tobytes().join([part(item) for item in iterable_of_bytes]))

    def upper(self):
        return self.made(self.tobytes().upper())

    def lower(self):
        return self.made(self.tobytes().lower())

    def title(self):
        return self.made(self.tobytes().title())

    def capitalize(self):
        return self.made(self.tobytes().capitalize())

    def swapcase(self):
        return self.made(self.tobytes().swapcase())

    def center(self, width, fillchar=None):
        text = self.tobytes()
        return self.made(text.center(width) if fillchar is None else text.center(width, part(fillchar)))

    def ljust(self, width, fillchar=None):
        text = self.tobytes()
        return self.made(text.ljust(width) if fillchar is None else text.ljust(width, part(fillchar)))

    def rjust(self, width, fillchar=None):
        text = self.tobytes()
        return self.made(text.rjust(width) if fillchar is None else text.rjust(width, part(fillchar)))

    def zfill(self, width):
        return self.made(self.tobytes().zfill(width))

    def expandtabs(self, tabsize=8):
        return self.made(self.tobytes().expandtabs(tabsize))

    def isalnum(self):
        return self.tobytes().isalnum()

    def isalpha(self):
        return self.tobytes().isalpha()

    def isascii(self):
        return self.tobytes().isascii()

    def isdigit(self):
        return self.tobytes().isdigit()

    def islower(self):
        return self.tobytes().islower()

    def isupper(self):
        return self.tobytes().isupper()

    def isspace(self):
        return self.tobytes().isspace()

    def istitle(self):
        return self.tobytes().istitle()


class Growing(Methods):
    """One whose length changes, which says by _numbers(x) what bytes x is; _room: memory behind the last item."""

    def _put(self, start, stop, new):
        """Items from start to stop become others: in place where there is room."""
        n = len(self._array)
        change = len(new) - (stop - start)
        if change == 0:
            self._array[start:stop] = new
            return
        if self._fixed:
            raise BufferError("Existing exports of data: object cannot be re-sized")
        if n + change <= len(self._room) and stop == n:
            self._room[start : n + change] = new
        else:
            room = np.empty(n + change + (n + change) // 8 + 16, np.uint8)
            room[:start] = self._array[:start]
            room[start : start + len(new)] = new
            room[start + len(new) : n + change] = self._array[stop:]
            self._room = room
        self._array = self._room[: n + change]

    def append(self, item):
        item = byte_of(item)
        n = len(self._array)
        if not self._fixed and n < len(self._room):
            self._room[n] = item
            self._array = self._room[: n + 1]
        else:
            self._put(n, n, np.full(1, item, np.uint8))

    def extend(self, iterable_of_ints):
        if isinstance(iterable_of_ints, (int, np.integer)):
            raise TypeError("'int' object is not iterable")
        self._put(len(self._array), len(self._array), self._numbers(iterable_of_ints))

    def insert(self, index, item):
        n = len(self._array)
        index = operator.index(index)
        index = max(index + n, 0) if index < 0 else min(index, n)
        self._put(index, index, np.full(1, byte_of(item), np.uint8))

    def pop(self, index=-1):
        n = len(self._array)
        index = operator.index(index)
        if n == 0:
            raise IndexError("pop from empty bytearray")
        if index < 0:
            index += n
        if index < 0 or index >= n:
            raise IndexError("pop index out of range")
        item = int(self._array[index])
        self._put(index, index + 1, np.empty(0, np.uint8))
        return item

    def remove(self, value):
        value = byte_of(value)
        for i in range(len(self._array)):
            if self._array[i] == value:
                self._put(i, i + 1, np.empty(0, np.uint8))
                return
        raise ValueError("value not found in bytearray")

    def clear(self):
        self._put(0, len(self._array), np.empty(0, np.uint8))

    def __iadd__(self, other):
        if isinstance(other, (int, np.integer)):
            raise TypeError("can't concat int to bytearray")
        self._put(len(self._array), len(self._array), self._numbers(other))
        return self

    def __imul__(self, times):
        if times <= 0:
            self._put(0, len(self._array), np.empty(0, np.uint8))
        else:
            self._put(len(self._array), len(self._array), np.tile(self._array, times - 1))
        return self
