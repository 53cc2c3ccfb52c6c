"""Classes of the standard library's collections, as Python that compiled code takes: deque, OrderedDict, defaultdict,
Counter; and frozenset.

Where compiled code names the library's class it gets the one of the same name here; a result becomes one of the
library's (__krait_result__), and type(x) and isinstance say so (__krait_original__).  In place of an argument it gets
one of these with the same in its attributes, which the argument gets back behind the call (marshal/collections.c).
"""

import builtins
import collections as library
import sys

import numpy as np

_ROOM = 8
_SHOWS_DICT = sys.version_info >= (3, 12)


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


class _Table:
    """What keeps its keys and values in a dict."""

    def __krait_dict__(self):
        return self._dict.copy()

    def __setitem__(self, key, value):
        self._dict[key] = value

    def __len__(self):
        return len(self._dict)

    def __contains__(self, key):
        return key in self._dict

    def __iter__(self):
        return iter(self._dict)

    def keys(self):
        return self._dict.keys()

    def values(self):
        return self._dict.values()

    def items(self):
        return self._dict.items()

    def get(self, key, default=None):
        return self._dict.get(key, default)

    def pop(self, key, *default):
        return self._dict.pop(key, *default)

    def clear(self):
        self._dict.clear()


class OrderedDict(_Table):
    __krait_original__ = library.OrderedDict

    def __init__(self, mapping=None):
        self._dict = {}
        if mapping is not None:
            self.update(mapping)

    def __krait_result__(self):
        return library.OrderedDict(self._dict)

    def __getitem__(self, key):
        return self._dict[key]

    def __delitem__(self, key):
        del self._dict[key]

    def setdefault(self, key, default):
        return self._dict.setdefault(key, default)

    def update(self, mapping):
        if isinstance(mapping, OrderedDict):
            for key, value in mapping._dict.items():
                self._dict[key] = value
        else:
            self._dict.update(mapping)

    def move_to_end(self, key, last=True):
        value = self._dict.pop(key)
        if last:
            self._dict[key] = value
        else:
            before = self._dict.copy()
            self._dict.clear()
            self._dict[key] = value
            self._dict.update(before)

    def popitem(self, last=True):
        if len(self._dict) == 0:
            raise KeyError("dictionary is empty")
        if last:
            return self._dict.popitem()
        key = next(iter(self._dict))
        return key, self._dict.pop(key)

    def copy(self):
        return OrderedDict(self._dict)

    def __reversed__(self):
        for key in list(self._dict)[::-1]:
            yield key

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return self._dict == other._dict and list(self._dict) == list(other._dict)
        return self._dict == other

    def __repr__(self):
        if len(self) == 0:
            return "OrderedDict()"
        return f"OrderedDict({self._dict!r})" if _SHOWS_DICT else f"OrderedDict({list(self._dict.items())!r})"


class defaultdict(_Table):
    __krait_original__ = library.defaultdict

    def __init__(self, default_factory=None, mapping=None):
        self.default_factory = default_factory
        self._dict = {}
        if mapping is not None:
            self.update(mapping)

    def __krait_result__(self):
        return library.defaultdict(self.default_factory, self._dict)

    def __getitem__(self, key):
        if key not in self._dict:
            if self.default_factory is None:
                raise KeyError(key)
            self._dict[key] = self.default_factory()
        return self._dict[key]

    def __delitem__(self, key):
        del self._dict[key]

    def setdefault(self, key, default):
        return self._dict.setdefault(key, default)

    def update(self, mapping):
        if isinstance(mapping, dict):
            for key, value in mapping.items():
                self._dict[key] = value
        else:
            for key, value in mapping:
                self._dict[key] = value

    def __eq__(self, other):
        if isinstance(other, defaultdict):
            return self._dict == other._dict
        return self._dict == other


class Counter(_Table):
    __krait_original__ = library.Counter

    def __init__(self, iterable=None):
        self._dict = {}
        if iterable is not None:
            self.update(iterable)

    def __krait_result__(self):
        return library.Counter(self._dict)

    def __getitem__(self, key):
        return self._dict.get(key, 0)

    def __delitem__(self, key):
        self._dict.pop(key, 0)

    def update(self, iterable):
        if isinstance(iterable, dict):
            for key, value in iterable.items():
                self._dict[key] = self._dict.get(key, 0) + value
        else:
            for key in iterable:
                self._dict[key] = self._dict.get(key, 0) + 1

    def subtract(self, iterable):
        if isinstance(iterable, dict):
            for key, value in iterable.items():
                self._dict[key] = self._dict.get(key, 0) - value
        else:
            for key in iterable:
                self._dict[key] = self._dict.get(key, 0) - 1

    def most_common(self, n=None):
        pairs = sorted(self._dict.items(), key=_count_of, reverse=True)
        return pairs if n is None else pairs[:max(n, 0)]

    def elements(self):
        for key, value in self._dict.items():
            for _ in range(value):
                yield key

    def total(self):
        return sum(self._dict.values())

    def copy(self):
        return Counter(self._dict)

    def __eq__(self, other):
        if type(other) is dict:
            return self._dict == other
        if not isinstance(other, library.Counter):
            return NotImplemented
        for key in self._dict:
            if self[key] != other[key]:
                return False
        for key in other._dict:
            if self[key] != other[key]:
                return False
        return True

    def _keep(self, key, value):
        if value > 0:
            self._dict[key] = value

    def __add__(self, other):
        made = Counter()
        for key, value in self.items():
            made._keep(key, value + other[key])
        for key, value in other.items():
            if key not in self:
                made._keep(key, value)
        return made

    def __sub__(self, other):
        made = Counter()
        for key, value in self.items():
            made._keep(key, value - other[key])
        for key, value in other.items():
            if key not in self:
                made._keep(key, -value)
        return made

    def __pos__(self):
        made = Counter()
        for key, value in self.items():
            made._keep(key, value)
        return made

    def __neg__(self):
        made = Counter()
        for key, value in self.items():
            made._keep(key, -value)
        return made

    def __and__(self, other):
        made = Counter()
        for key, value in self.items():
            made._keep(key, min(value, other[key]))
        return made

    def __or__(self, other):
        made = Counter()
        for key, value in self.items():
            made._keep(key, max(value, other[key]))
        for key, value in other.items():
            if key not in self:
                made._keep(key, value)
        return made

    def _only_positive(self):
        for key, value in self.items():
            if value <= 0:
                del self._dict[key]
        return self

    def __iadd__(self, other):
        for key, value in other.items():
            self[key] += value
        return self._only_positive()

    def __isub__(self, other):
        for key, value in other.items():
            self[key] -= value
        return self._only_positive()

    def __iand__(self, other):
        for key, value in self.items():
            self[key] = min(value, other[key])
        return self._only_positive()

    def __ior__(self, other):
        for key, value in other.items():
            self[key] = max(value, self[key])
        return self._only_positive()

    def __repr__(self):
        if len(self) == 0:
            return "Counter()"
        return f"Counter({dict(self.most_common())!r})"


def _count_of(pair):
    return pair[1]


def _set_of(items):
    return items._set if isinstance(items, builtins.frozenset) else items


class frozenset:
    """A set that nothing changes once it is made."""

    __krait_original__ = builtins.frozenset

    def __init__(self, iterable=()):
        self._set = set(iterable)

    def __krait_result__(self):
        return builtins.frozenset(self._set)

    def __len__(self):
        return len(self._set)

    def __contains__(self, item):
        return item in self._set

    def __iter__(self):
        return iter(self._set)

    def __hash__(self):
        """As CPython's, whatever the order of the items (Objects/setobject.c, frozenset_hash)."""
        total = np.uint64(0)
        for item in self._set:
            bits = np.uint64(np.int64(hash(item)))
            total ^= (bits ^ np.uint64(89869747) ^ (bits << np.uint64(16))) * np.uint64(3644798167)
        total ^= np.uint64(len(self._set) + 1) * np.uint64(1927868237)
        total ^= (total >> np.uint64(11)) ^ (total >> np.uint64(25))
        found = int(np.int64(total * np.uint64(69069) + np.uint64(907133923)))
        return 590923713 if found == -1 else found

    def __eq__(self, other):
        if isinstance(other, (builtins.frozenset, set)):
            return self._set == _set_of(other)
        return NotImplemented

    def __le__(self, other):
        return self._set <= _set_of(other)

    def __lt__(self, other):
        return self._set < _set_of(other)

    def __ge__(self, other):
        return self._set >= _set_of(other)

    def __gt__(self, other):
        return self._set > _set_of(other)

    def __or__(self, other):
        return frozenset(self._set | _set_of(other))

    def __and__(self, other):
        return frozenset(self._set & _set_of(other))

    def __sub__(self, other):
        return frozenset(self._set - _set_of(other))

    def __xor__(self, other):
        return frozenset(self._set ^ _set_of(other))

    def __ror__(self, other):
        return other | self._set

    def __rand__(self, other):
        return other & self._set

    def __rsub__(self, other):
        return other - self._set

    def __rxor__(self, other):
        return other ^ self._set

    def union(self, *others):
        made = self._set.copy()
        for other in others:
            made.update(other)
        return frozenset(made)

    def intersection(self, *others):
        made = self._set.copy()
        for other in others:
            made.intersection_update(other)
        return frozenset(made)

    def difference(self, *others):
        made = self._set.copy()
        for other in others:
            made.difference_update(other)
        return frozenset(made)

    def symmetric_difference(self, other):
        return frozenset(self._set.symmetric_difference(other))

    def isdisjoint(self, other):
        return self._set.isdisjoint(other)

    def issubset(self, other):
        return self._set.issubset(other)

    def issuperset(self, other):
        return self._set.issuperset(other)

    def copy(self):
        return self

    def __repr__(self):
        return f"frozenset({self._set!r})" if self._set else "frozenset()"


for _class in (deque, OrderedDict, defaultdict, Counter):
    _class.__qualname__ = _class.__name__
    _class.__module__ = "collections"
frozenset.__module__ = "builtins"
