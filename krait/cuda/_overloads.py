"""What a specialisation of a kernel (an item of kernel.overloads) tells and does beyond its numbers: src/decorators/
inspect.c asks for the attribute of each name here."""

import re
from functools import partial

from .. import _krait


class Library:
    """The code of a specialisation, with the methods that numba.cuda's code libraries have."""

    def __init__(self, overload):
        self._overload = overload

    @property
    def name(self):
        return entry_name(self._overload)

    def get_llvm_str(self):
        return self._overload.inspect_llvm()

    def get_asm_str(self, cc=None):
        """PTX for a compute capability, (major, minor); for the device that kernels run on unless given."""
        return self._overload.inspect_ptx(compute_capability=cc) if cc else self._overload.inspect_ptx()

    def get_sass(self, cc=None):
        return self._overload.inspect_sass(compute_capability=cc) if cc else self._overload.inspect_sass()

    def __repr__(self):
        return f"<code of {self._overload!r}>"


def entry_name(overload):
    return re.search(r"\.entry\s+(\w+)", overload.inspect_ptx())[1]


def library(overload):
    return Library(overload)


def _bind(overload):
    overload.regs_per_thread  # the driver tells it of what is loaded


def bind(overload):
    return partial(_bind, overload)


def _launch(overload, args, griddim, blockdim, stream=0, sharedmem=0):
    if len(args) != len(overload.argument_types):
        raise TypeError(f"{overload!r} takes {len(overload.argument_types)} arguments, {len(args)} were given")
    found = tuple(_krait.typeof(value) for value in args)
    if found != tuple(overload.argument_types):  # the kernel would choose, or compile, another specialisation
        raise TypeError(f"{overload!r} takes {overload.argument_types}, the arguments are {found}")
    overload.kernel[griddim, blockdim, stream, sharedmem](*args)


def launch(overload):
    return partial(_launch, overload)
