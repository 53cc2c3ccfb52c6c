"""Containers whose items have one type, under Numba's names, for compiled code lists and dicts like any others."""


class Dict(dict):
    """A dict; compiled functions give plain dicts back."""

    __slots__ = ("_types",)

    @staticmethod
    def empty(key_type, value_type, n_keys=0):
        """A dict without items; in compiled code its keys and values have these types."""
        new = Dict()
        new._types = (key_type, value_type)
        return new


class List(list):
    """A list; compiled functions give plain lists back."""

    __slots__ = ("_types",)

    @staticmethod
    def empty_list(item_type, allocated=0):
        """A list without items; in compiled code what it holds has this type."""
        new = List()
        new._types = (item_type,)
        return new
