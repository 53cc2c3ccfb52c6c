"""dataclasses.replace, asdict and astuple."""

import dataclasses

from krait.prelude.intrinsics import fields_of, joined_keywords


def replace(obj, /, **changes):
    return type(obj)(**joined_keywords(fields_of(obj, "replace"), changes))


def asdict(obj):
    return fields_of(obj, "asdict")


def astuple(obj):
    return tuple_of(**fields_of(obj, "astuple"))


def tuple_of(**fields):
    return fields.values()


# ---- what src/frontend/members.c asks of a class ----


def __krait_fields__(made):
    """The names of a dataclass's fields, in order, or None."""
    return tuple(each.name for each in dataclasses.fields(made)) if dataclasses.is_dataclass(made) else None


def __krait_init_fields__(made):
    """The names of what replace() gives __init__ from the instance, or None: an InitVar with a default is one."""
    if not dataclasses.is_dataclass(made):
        return None
    kinds = dataclasses._FIELD_CLASSVAR, dataclasses._FIELD_INITVAR
    return tuple(name for name, each in made.__dataclass_fields__.items() if each.init and
                 each._field_type is not kinds[0] and
                 not (each._field_type is kinds[1] and each.default is dataclasses.MISSING))
