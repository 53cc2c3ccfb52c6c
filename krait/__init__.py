"""Krait compiles Python functions to NVIDIA GPUs and to the host; it is used as Numba is used."""

try:
    from . import _krait
except ImportError:
    # The sources, as when Python is started in the repository's root: the module is where Krait is installed.
    __path__ = __import__("pkgutil").extend_path(__path__, __name__)
    try:
        from . import _krait
    except ImportError as error:
        if __import__("importlib.util").util.find_spec(__name__ + "._krait"):
            raise  # it is there, and cannot be loaded: the error says why
        raise ImportError(
            "krait/ here has no compiled module: start Python in another folder, or build one with `make dev`"
        ) from error
from ._krait import (
    Dispatcher,
    __version__,
    cfunc,
    from_dtype,
    get_num_threads,
    get_parallel_chunksize,
    get_thread_id,
    guvectorize,
    jit,
    set_num_threads,
    set_parallel_chunksize,
    threading_layer,
    typeof,
    vectorize,
)

njit = jit


def prange(*args):
    """range, whose iterations run in any order in a function compiled with parallel=True."""
    return range(*args)


def literal_unroll(container):
    """The tuple itself; in compiled code a loop over it becomes its rounds, each with an item of its own type."""
    return container


def literally(obj):
    """The argument itself: krait.extending.overload says what a call means where a number is known."""
    return obj


class _Objmode:
    """`with objmode(y="float64[:]", n="int64"):` in a compiled function: the interpreter runs the block.

    What it reads of the function's variables it gets as values that Python would see: arrays are the same memory,
    lists, dicts, sets and instances are copies, and a block that has changed one raises RuntimeError.  What it assigns
    and the function reads behind it is declared, by keyword, with types of krait.types or texts; int64 and float64 are
    Python's int and float, for which NumPy's scalars of that kind are taken.  A value of another type raises TypeError,
    also one that conversion would change: 2.7 is no int64.  What is not declared, or may have no value, is refused.
    Run by the interpreter it is a block.  `with objmode:` declares nothing.
    """

    def __init__(self, **types):
        self.types = types

    def __call__(self, **types):
        return _Objmode(**types)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


objmode = _Objmode()


def jit_module(**options):
    """Decorates every function that the calling module has defined so far with jit(**options)."""
    import sys
    from types import FunctionType

    scope = sys._getframe(1).f_globals
    for name, value in list(scope.items()):
        if isinstance(value, FunctionType) and value.__module__ == scope["__name__"]:
            scope[name] = jit(**options)(value)


def carray(ptr, shape, dtype=None):
    """The memory behind a pointer, of ctypes or in a cfunc, as an array in C order."""
    import ctypes

    import numpy as np

    if dtype is None:
        return np.ctypeslib.as_array(ptr, shape if isinstance(shape, tuple) else (shape,))
    shape = shape if isinstance(shape, tuple) else (shape,)
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    memory = (ctypes.c_char * size).from_address(ctypes.cast(ptr, ctypes.c_void_p).value)
    return np.frombuffer(memory, dtype).reshape(shape)


def farray(ptr, shape, dtype=None):
    """The same in Fortran order."""
    return carray(ptr, shape[::-1] if isinstance(shape, tuple) else shape, dtype).T


def _register_ufuncs():
    """Ufuncs that vectorize made travel in pickles as functions of jit do, NumPy's own by their names."""
    import copyreg

    import numpy as np

    numpys = copyreg.dispatch_table.get(np.ufunc)

    def reduce_ufunc(ufunc):
        reduced = _krait._reduce_ufunc(ufunc)
        return reduced if reduced is not None else numpys(ufunc) if numpys else ufunc.__name__

    copyreg.pickle(np.ufunc, reduce_ufunc)


_register_ufuncs()


class parallel_chunksize:
    """With it, parallel loops hand out so many iterations at a time."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.before = set_parallel_chunksize(self.size)

    def __exit__(self, *error):
        set_parallel_chunksize(self.before)



globals().update(
    (name, type_)
    for name, type_ in _krait.types.items()
    if isinstance(type_, (_krait.types["Number"], _krait.types["NoneType"], _krait.types["Array"]))
)


# Names of Numba's that programs import and that Krait does not have yet: using one says so, and what to do instead.
_NOT_YET = {
    "generated_jit": "isinstance(x, ...) is answered when a function is compiled, so that one serves every kind of "
                     "argument; krait.extending.overload gives a function for each",
    **dict.fromkeys(("gdb", "gdb_init", "gdb_breakpoint"),
                    "KRAIT_DISABLE_JIT=1 leaves functions to the interpreter and its debugger"),
}


_MODULES = (
    "config", "core", "cpython", "cuda", "errors", "experimental", "extending", "misc", "np", "pycc", "stencils",
    "typed", "types",
)  # fmt: skip
_FROM = {"deferred_type": "types", "optional": "types", "jitclass": "experimental"}

# What `from krait import *` gives: what is here, and what comes when it is asked for.
__all__ = [
    *(name for name in globals() if not name.startswith("_")), "errors", "pndindex", "stencil", "version_info", *_FROM,
]  # fmt: skip


def __getattr__(name):
    if name in _FROM:
        from importlib import import_module

        return getattr(import_module("." + _FROM[name], __name__), name)
    if name in _NOT_YET:
        from ._missing import NotYet

        return NotYet(__name__, name, _NOT_YET[name])
    if name == "version_info":
        from ._version import version_info

        return version_info
    if name == "stencil":
        from ._stencils import stencil

        return stencil
    if name == "pndindex":
        from numpy import ndindex

        return ndindex
    if name in _MODULES:
        from importlib import import_module

        return import_module("." + name, __name__)
    if name.endswith(("Error", "Warning")):
        from . import errors

        if hasattr(errors, name):
            return getattr(errors, name)
    from ._missing import missing

    raise missing(__name__, name, [*__all__, *_MODULES])
