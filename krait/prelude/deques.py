"""collections.deque, as Python that compiled code takes: collections.py says what such classes are."""

import collections as library

_ROOM = 8


class deque:
    """The items from number _first of a list on; on the left the place of those that were taken out is used again."""

    __krait_original__ = library.deque

    def __init__(self, iterable=None, maxlen=None):
        self._items = []
        self._first = 0
        self._changes = 0
        self._replaced = False
        self.maxlen = maxlen
        if maxlen is not None and maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        if iterable is not None:
            self.extend(iterable)

    def __krait_result__(self):
        return library.deque(self._items[self._first:], self.maxlen)

    def __len__(self):
        return len(self._items) - self._first

    def append(self, x):
        self._items.append(x)
        self._changes += 1
        if self.maxlen is not None and len(self) > self.maxlen:
            self.popleft()

    def appendleft(self, x):
        if self._first == 0:
            room = len(self._items) + _ROOM
            self._items[:0] = [x] * room
            self._first = room
        self._first -= 1
        self._items[self._first] = x
        self._changes += 1
        if self.maxlen is not None and len(self) > self.maxlen:
            self.pop()

    def pop(self):
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        self._changes += 1
        return self._items.pop()

    def popleft(self):
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        self._changes += 1
        x = self._items[self._first]
        self._first += 1
        if self._first > 4 * _ROOM and 2 * self._first > len(self._items):
            del self._items[:self._first]
            self._first = 0
        return x

    def extend(self, iterable):
        if isinstance(iterable, deque):  # this one, maybe
            for x in iterable._items[iterable._first:]:
                self.append(x)
        else:
            for x in iterable:
                self.append(x)

    def extendleft(self, iterable):
        if isinstance(iterable, deque):
            for x in iterable._items[iterable._first:]:
                self.appendleft(x)
        else:
            for x in iterable:
                self.appendleft(x)

    def clear(self):
        self._items.clear()
        self._first = 0
        self._changes += 1

    def copy(self):
        return deque(self, self.maxlen)

    def _place(self, i):
        n = len(self)
        if i < 0:
            i += n
        if i < 0 or i >= n:
            raise IndexError("deque index out of range")
        return self._first + i

    def __getitem__(self, i):
        return self._items[self._place(i)]

    def __setitem__(self, i, x):
        self._items[self._place(i)] = x
        self._replaced = True

    def __delitem__(self, i):
        del self._items[self._place(i)]
        self._changes += 1

    def __iter__(self):
        changes = self._changes
        for i in range(len(self)):
            yield self._items[self._first + i]
            if self._changes != changes:
                raise RuntimeError("deque mutated during iteration")

    def __reversed__(self):
        changes = self._changes
        for i in range(len(self) - 1, -1, -1):
            yield self._items[self._first + i]
            if self._changes != changes:
                raise RuntimeError("deque mutated during iteration")

    def __contains__(self, x):
        for i in range(self._first, len(self._items)):
            if self._items[i] == x:
                return True
        return False

    def count(self, x):
        found = 0
        for i in range(self._first, len(self._items)):
            if self._items[i] == x:
                found += 1
        return found

    def index(self, x):
        for i in range(len(self)):
            if self._items[self._first + i] == x:
                return i
        raise ValueError(f"{x!r} is not in deque")

    def insert(self, i, x):
        if self.maxlen is not None and len(self) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        n = len(self)
        i = max(0, i + n) if i < 0 else min(i, n)
        self._items.insert(self._first + i, x)
        self._changes += 1

    def remove(self, x):
        for i in range(self._first, len(self._items)):
            if self._items[i] == x:
                del self._items[i]
                self._changes += 1
                return
        raise ValueError("deque.remove(x): x not in deque")

    def reverse(self):
        del self._items[:self._first]
        self._first = 0
        self._items.reverse()
        self._replaced = True

    def rotate(self, n=1):
        length = len(self)
        if length < 2:
            return
        at = length - n % length
        items = self._items[self._first:]
        self._items = items[at:] + items[:at]
        self._first = 0
        self._changes += 1

    def __eq__(self, other):
        if not isinstance(other, deque):
            return NotImplemented
        if len(self) != len(other):
            return False
        for i in range(len(self)):
            if self._items[self._first + i] != other._items[other._first + i]:
                return False
        return True

    def __add__(self, other):
        made = deque(self, self.maxlen)
        made.extend(other)
        return made

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __repr__(self):
        items = self._items[self._first:]
        return f"deque({items!r})" if self.maxlen is None else f"deque({items!r}, maxlen={self.maxlen})"


deque.__qualname__ = "deque"
deque.__module__ = "collections"
