"""Numba's module of this name: modules compiled ahead of time."""

from ._missing import NotYet

CC = NotYet(__name__, "CC", "cache=True keeps machine code on disk, where other processes find it, and a signature "
                            "has a function compiled when it is defined; krait.cfunc makes functions for C")

__all__ = ["CC"]
