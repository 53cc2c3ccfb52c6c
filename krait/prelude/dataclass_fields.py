"""dataclasses.replace, asdict and astuple."""

from krait.prelude.intrinsics import fields_of, joined_keywords


def replace(obj, /, **changes):
    return type(obj)(**joined_keywords(fields_of(obj, False), changes))


def asdict(obj):
    return fields_of(obj, True)


def astuple(obj):
    return tuple_of(**fields_of(obj, True))


def tuple_of(**fields):
    return fields.values()
