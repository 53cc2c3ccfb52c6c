"""Views of dicts that are kept while the dict may change: what keys(), values() and items() give (rules_walked.c)."""

from krait.prelude.tables import each_item, each_key, each_value, items, keys, values


def _is_set(x):
    return isinstance(x, (set, frozenset, dict_keys, dict_items))


class _View:
    def __init__(self, table):
        self._table = table

    def __len__(self):
        return len(self._table)


class _SetView(_View):
    """One that compares and is computed with as a set."""

    def isdisjoint(self, other):
        return set(self).isdisjoint(other)

    def __eq__(self, other):
        return set(self) == set(other) if _is_set(other) else NotImplemented

    def __ne__(self, other):
        return set(self) != set(other) if _is_set(other) else NotImplemented

    def __lt__(self, other):
        return set(self) < set(other) if _is_set(other) else NotImplemented

    def __le__(self, other):
        return set(self) <= set(other) if _is_set(other) else NotImplemented

    def __gt__(self, other):
        return set(self) > set(other) if _is_set(other) else NotImplemented

    def __ge__(self, other):
        return set(self) >= set(other) if _is_set(other) else NotImplemented

    def __and__(self, other):
        return set(self) & set(other)

    def __or__(self, other):
        return set(self) | set(other)

    def __sub__(self, other):
        return set(self) - set(other)

    def __xor__(self, other):
        return set(self) ^ set(other)

    def __rand__(self, other):
        return set(other) & set(self)

    def __ror__(self, other):
        return set(other) | set(self)

    def __rsub__(self, other):
        return set(other) - set(self)

    def __rxor__(self, other):
        return set(other) ^ set(self)


class dict_keys(_SetView):
    __krait_original__ = type({}.keys())

    def __iter__(self):
        return each_key(self._table)

    def __contains__(self, key):
        return key in self._table

    def __reversed__(self):
        return iter(keys(self._table)[::-1])

    def __repr__(self):
        return f"dict_keys({keys(self._table)!r})"

    def __krait_result__(self):
        return self._table.keys()


class dict_values(_View):
    __krait_original__ = type({}.values())

    def __iter__(self):
        return each_value(self._table)

    def __contains__(self, value):
        return value in values(self._table)

    def __reversed__(self):
        return iter(values(self._table)[::-1])

    def __repr__(self):
        return f"dict_values({values(self._table)!r})"

    def __krait_result__(self):
        return self._table.values()


class dict_items(_SetView):
    __krait_original__ = type({}.items())

    def __iter__(self):
        return each_item(self._table)

    def __contains__(self, item):
        return item in items(self._table)

    def __reversed__(self):
        return iter(items(self._table)[::-1])

    def __repr__(self):
        return f"dict_items({items(self._table)!r})"

    def __krait_result__(self):
        return self._table.items()


def kept_keys(table):
    return dict_keys(table)


def kept_values(table):
    return dict_values(table)


def kept_items(table):
    return dict_items(table)
