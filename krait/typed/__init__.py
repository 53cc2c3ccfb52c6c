"""Containers whose items have one type, under Numba's names, for compiled code lists and dicts like any others."""

from ._items import all_converted, converted, type_of


class Dict(dict):
    """A dict, whose keys and values have the types of Dict.empty or of the first ones; compiled functions give plain
    dicts back."""

    __slots__ = ("_types",)

    @staticmethod
    def empty(key_type, value_type, n_keys=0):
        """A dict without items; in compiled code its keys and values have these types."""
        new = Dict()
        new._types = (key_type, value_type)
        return new

    def __init__(self, *args, **kwargs):
        super().__init__()
        self.update(*args, **kwargs)

    def _item(self, key, value):
        types = getattr(self, "_types", None)
        if types is None:
            types = type_of(key), type_of(value)
            if types[0] is not None and types[1] is not None:
                self._types = types
        return converted(key, types[0], "a key"), converted(value, types[1], "a value")

    def __setitem__(self, key, value):
        super().__setitem__(*self._item(key, value))

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other):
        self.update(other)
        return self

    def __or__(self, other):
        new = self.copy()
        new.update(other)
        return new

    def copy(self):
        new = type(self)()
        if hasattr(self, "_types"):
            new._types = self._types
        dict.update(new, self)
        return new


class List(list):
    """A list, whose items have the type of List.empty_list or of the first one; compiled functions give plain lists
    back."""

    __slots__ = ("_types",)

    @staticmethod
    def empty_list(item_type, allocated=0):
        """A list without items; in compiled code what it holds has this type."""
        new = List()
        new._types = (item_type,)
        return new

    def __init__(self, iterable=()):
        super().__init__()
        self.extend(iterable)

    def _type(self, value):
        """The type of items, which the first one says, this one if there is none yet; None: it says none."""
        types = getattr(self, "_types", None)
        if types is None:
            first = type_of(self[0] if self else value)
            if first is None:
                return None
            self._types = types = (first,)
        return types[0]

    def _item(self, value):
        return converted(value, self._type(value))

    def _items(self, values):
        values = list(values)
        return all_converted(values, self._type(values[0])) if values else values

    def append(self, value):
        super().append(self._item(value))

    def insert(self, index, value):
        super().insert(index, self._item(value))

    def extend(self, iterable):
        super().extend(self._items(iterable))

    def __iadd__(self, iterable):
        self.extend(iterable)
        return self

    def __add__(self, other):
        if not isinstance(other, list):
            return NotImplemented
        new = self.copy()
        new.extend(other)
        return new

    def __mul__(self, times):
        return self._like(super().__mul__(times))

    __rmul__ = __mul__

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return self._like(found) if isinstance(index, slice) else found

    def __setitem__(self, index, value):
        whole = isinstance(index, slice)
        super().__setitem__(index, self._items(value) if whole else self._item(value))

    def copy(self):
        return self._like(self)

    def getitem_unchecked(self, index):
        """The item at the index, which is in range."""
        return self[index]

    def _like(self, items):
        new = type(self)()
        if hasattr(self, "_types"):
            new._types = self._types
        list.extend(new, items)
        return new
