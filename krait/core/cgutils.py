"""Numba's module of this name, which builds LLVM IR: using a name says what to do instead."""

from .._missing import NotYet


def __getattr__(name):
    if name.startswith("_"):  # which other modules look for, not people
        raise AttributeError(name)
    return NotYet(__name__, name, "krait.extending.intrinsic takes the text of LLVM IR, inline_llvm")
