"""The keyword arguments that **name of a function holds, as Python that compiled code takes: a tuple of the values,
whose type has the names (src/typeinfer/rules_keywords.c), with what a dict has that does not change it."""

from krait.prelude.intrinsics import (has_keyword, joined_keywords, keyword_item, keyword_items, keyword_names,
                                      keyword_values)


class Keywords(tuple):
    __krait_original__ = dict

    def __len__(self):
        return len(keyword_values(self))

    def __bool__(self):
        return len(keyword_values(self)) > 0

    def __getitem__(self, name):
        return keyword_item(self, name)

    def __contains__(self, name):
        return has_keyword(self, name)

    def __iter__(self):
        return keyword_names(self)

    def __or__(self, other):
        return joined_keywords(self, other)

    def get(self, name, default=None):
        return keyword_item(self, name) if has_keyword(self, name) else default

    def __krait_dict__(self):
        return as_dict(self)

    def keys(self):
        return keyword_names(self)

    def values(self):
        return keyword_values(self)

    def items(self):
        return keyword_items(self)

    def copy(self):
        return self


def pop(keywords, name, *default):
    if has_keyword(keywords, name):
        return keyword_item(keywords, name)
    if len(default) == 0:
        raise KeyError(name)
    return default[0]


def setdefault(keywords, name, default=None):
    return keyword_item(keywords, name) if has_keyword(keywords, name) else default


def given(names, values):
    """What a call from Python gives."""
    made = tuple.__new__(Keywords, values)
    made._krait_names = tuple(names)
    return made


def as_dict(keywords):
    new = {}
    for name, value in keyword_items(keywords):
        new[name] = value
    return new


def missing(keywords, name):
    raise KeyError(name)


def found(keywords, name):
    values = keyword_values(keywords)
    for i, known in enumerate(keyword_names(keywords)):
        if known == name:
            return values[i]
    raise KeyError(name)


def is_name(keywords, name):
    return name in keyword_names(keywords)
