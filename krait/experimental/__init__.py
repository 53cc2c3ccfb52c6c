"""Numba's module of this name."""

from .jitclass import jitclass


def __getattr__(name):
    if name == "structref":
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
