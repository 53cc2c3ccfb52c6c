"""Classes of the standard library's collections, as Python that compiled code takes: OrderedDict, defaultdict, Counter
(deque stands in deques.py); and frozenset.

Where compiled code names the library's class it gets the one of the same name here; a result becomes one of the
library's (__krait_result__), and type(x) and isinstance say so (__krait_original__).  In place of an argument it gets
one of these with the same in its attributes, which the argument gets back behind the call (marshal/collections.c).
"""

import builtins
import collections as library
import sys

import numpy as np

_SHOWS_DICT = sys.version_info >= (3, 12)


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


for _class in (OrderedDict, defaultdict, Counter):
    _class.__qualname__ = _class.__name__
    _class.__module__ = "collections"
frozenset.__module__ = "builtins"
