"""How the arguments of a launch travel: kernel[grid, block](In(x), Out(y))."""

from .._krait import In, InOut, Out

ArgHint = (In, Out, InOut)  # isinstance(x, ArgHint)

__all__ = ["ArgHint", "In", "InOut", "Out"]
