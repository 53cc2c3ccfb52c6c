"""What is said of a name that a module of Krait does not have: the one that was probably meant."""


def missing(module, name, names, instead=None):
    """The AttributeError, with the name among `names` that is most like it, or what to use instead."""
    near = []
    if not name.startswith("_"):  # which other modules look for, not people
        from difflib import get_close_matches

        near = [other for other in names if other.lower() == name.lower()] or get_close_matches(name, names, 1)
    words = f": {instead}" if instead else f"; did you mean {near[0]!r}?" if near else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{words}")
