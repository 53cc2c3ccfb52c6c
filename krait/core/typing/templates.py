"""Signatures, under the names that they have in Numba."""

from ..._missing import NotYet
from . import Signature, signature

__all__ = ["Signature", "signature"]

_INSTEAD = "krait.extending.overload, overload_method and overload_attribute say which types are taken"
# How Numba is told which types a function takes: using one says what to do instead.
_NAMES = ("AbstractTemplate", "AttributeTemplate", "CallableTemplate", "ConcreteTemplate", "Registry",
          "bound_function", "infer", "infer_getattr", "infer_global", "make_callable_template")  # fmt: skip


class _Template(type):
    def __new__(cls, name, bases, space):
        if bases:
            _USE._refuse()
        return super().__new__(cls, name, bases, space)


_USE = NotYet(__name__, "templates", _INSTEAD)
globals().update((name, _Template(name, (), {"__doc__": "A base that no class is derived from."})
                  if name.endswith("Template") else NotYet(__name__, name, _INSTEAD)) for name in _NAMES)
