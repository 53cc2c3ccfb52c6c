"""How the arguments of a launch travel: kernel[grid, block](In(x), Out(y))."""

from .._krait import In, InOut, Out

__all__ = ["In", "InOut", "Out"]
