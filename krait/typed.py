"""Containers whose items have one type, under Numba's names: compiled code takes and makes them as it does lists."""


class Dict(dict):
    """A dict; compiled functions give plain dicts back."""

    __slots__ = ()

    @staticmethod
    def empty(key_type, value_type, n_keys=0):
        """A dict without items; in compiled code its keys and values have these types."""
        return Dict()


class List(list):
    """A list; compiled functions give plain lists back."""

    __slots__ = ()

    @staticmethod
    def empty_list(item_type, allocated=0):
        """A list without items; in compiled code what it holds has this type."""
        return List()
