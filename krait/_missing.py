"""What is said of a name that a module of Krait does not have: the one that was probably meant."""


def missing(module, name, names, instead=None):
    """The AttributeError, with the name among `names` that is most like it, or what to use instead."""
    near = []
    if not name.startswith("_"):  # which other modules look for, not people
        from difflib import get_close_matches

        near = [other for other in names if other.lower() == name.lower()] or get_close_matches(name, names, 1)
    words = f": {instead}" if instead else f"; did you mean {near[0]!r}?" if near else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{words}")


class NotYet:
    """In the place of a name that programs import and that is not there: using it says so, and what to do instead.

    An AttributeError when it is imported would lose that, since `from ... import` puts words of its own in its place.
    """

    def __init__(self, module, name, instead):
        self._words = f"{module}.{name} is not there yet\n  hint: {instead}"
        self.__name__ = self.__qualname__ = name
        self.__module__ = module
        self.__doc__ = f"Not there yet: {instead}."

    def _refuse(self):
        from .errors import UnsupportedError

        raise UnsupportedError(self._words)

    def __call__(self, *args, **options):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith("_"):  # which other modules look for, not people
            raise AttributeError(name)
        self._refuse()
