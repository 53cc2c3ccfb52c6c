"""Python functions for compiled code: what a call, a method or an attribute means there, by the types of its arguments.

A function decorated with `overload(f)` is called when a call of `f` is compiled, with the types of the arguments, and
returns the Python function that is compiled in its place, or None.  That works for functions that Krait knows, too:
what is said here comes first.
"""

import inspect as _inspect
from typing import NamedTuple as _NamedTuple

from . import _krait
from ._own_types import (
    NativeValue,
    as_numba_type,
    box,
    lower_builtin,
    lower_cast,
    lower_getattr,
    lower_getattr_generic,
    lower_setattr,
    lower_setattr_generic,
    make_attribute_wrapper,
    models,
    reflect,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from ._own_types import shown as _shown
from .types import literal as _literal

_overloads = {}  # key of a library row -> [_Overload, ...]


class _Overload:
    """What one decorated function says about calls of one row."""

    def __init__(self, typer, inline="never", of=None, prefer_literal=False):
        self.typer, self.of, self.inline = typer, of, inline
        # What a typer is told first of ints and bools that are known: the type that has the value, or the plain one.
        self.orders = (True, False) if prefer_literal else (False, True)
        self.signature = _inspect.signature(typer)
        self.found = {}  # types, known values and keywords -> the implementation, so that equal calls share their code

    def takes(self, first):
        """Of a method or an attribute: whether it is one of this type."""
        if self.of is None or first is self.of:
            return True
        first = _shown(first)
        if not isinstance(self.of, type):
            return False
        python_class = getattr(first, "python_class", None)
        return isinstance(first, self.of) or (python_class is not None and issubclass(python_class, self.of))

    def implementation(self, types, known, names):
        if not self.takes(types[0] if types else None):
            return None
        refusal = None
        for literal in self.orders if any(type(value) in (int, bool) for value in known) else (False,):
            values = [value if literal or type(value) is str else NotImplemented for value in known]
            try:
                function = self.answer(types, values, names)
            except _krait.errors["KraitError"] as error:
                refusal = refusal or error
                continue
            if function is not None:
                return function
        if refusal is not None:
            raise refusal
        return None

    def answer(self, types, values, names):
        # Types are told apart by who they are: == takes int for int64; values with their classes: 1 is no True.
        key = (*map(id, types), *((type(value), value) for value in values), names)
        if key not in self.found:
            self.found[key] = self.ask(types, values, names)
        return self.found[key]

    def ask(self, types, values, names):
        shown = [_shown(type_) if value is NotImplemented else _literal(value) for type_, value in zip(types, values)]
        positional = len(shown) - len(names)
        args, kwargs = shown[:positional], dict(zip(names, shown[positional:]))
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError:
            return None
        answer = self.typer(*args, **kwargs)
        if answer is None:
            return None
        function = getattr(answer, "py_func", answer)
        if not _inspect.isfunction(function):
            raise TypeError(f"{self.typer.__qualname__} returned {answer!r}: a Python function is needed, or None")
        return function if self.inline == "never" else _krait.jit(inline=self.inline)(function)


class InlineCall(_NamedTuple):
    """A call in compiled code, for a function given as the option `inline`: the callee's name, the types of its
    arguments, the line of the call."""

    func: str
    args: tuple
    line: int


class InlineFunction(_NamedTuple):
    """A function as compiled for types of arguments, for a function given as the option `inline`.

    blocks: the number of each basic block -> the names of its operations, as typed IR has them (KRAIT_DUMP=typed)."""

    name: str
    filename: str
    line: int
    args: tuple
    blocks: dict


def _asked_to_inline(cost, line, caller, callee):
    """cost(call, caller, callee) -> whether the call becomes a copy of the callee's body."""
    caller, callee = (InlineFunction(*told[:4], dict(enumerate(map(tuple, told[4])))) for told in (caller, callee))
    return bool(cost(InlineCall(callee.name, callee.args, line), caller, callee))


def _find(entries, types, known, names):
    if names is None:  # whether a method is of this type
        return any(entry.takes(types[0]) for entry in entries) or None
    for entry in reversed(entries):
        function = entry.implementation(types, known, names)
        if function is not None:
            return function
    return None


_krait._set_overloads(_overloads, _find)


def _add(row, doc, typer, inline, of=None, prefer_literal=False):
    entry = _Overload(typer, inline, of, prefer_literal)
    _overloads.setdefault(_krait._overload_row(row, doc), []).append(entry)
    return typer


def overload(function, jit_options=None, strict=True, inline="never", prefer_literal=False, **options):
    """What calls of `function` mean in compiled code: the decorated function gets the types of the arguments, and
    returns the Python function that stands for the call, with the same parameters, or None.  inline: as jit's.

    Of an int or a bool that is known it is told the type of ints, and, if it has then no answer, the
    types.IntegerLiteral, BooleanLiteral; prefer_literal: the other way round.  A str that is known is always a
    types.StringLiteral."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function))
    return lambda typer: _add(function, name, typer, inline, prefer_literal=prefer_literal)


def overload_method(type_, name, inline="never", prefer_literal=False, **options):
    """The same for the method `name` of values whose type is `type_`, or an instance of it, a class of krait.types or a
    Python class of which values are instances."""
    return lambda typer: _add(f"krait.extending.method.{name}", name, typer, inline, type_, prefer_literal)


def overload_attribute(type_, name, inline="never", **options):
    """The same for the attribute `name`; the function that is returned has one parameter."""
    return lambda typer: _add(f"krait.extending.attribute.{name}", name, typer, inline, type_)


def register_jitable(*function, **options):
    """Marks a Python function that compiled code calls; every Python function can be."""
    return function[0] if function else register_jitable


def is_jitted(function):
    """Whether a function is one that jit has decorated."""
    return isinstance(function, _krait.Dispatcher)


def inline_llvm(text, result, *operands):
    """LLVM IR in compiled code: the body of a function whose operands are %0, %1, ..., and which gives a number of the
    type `result`, or None.  What it declares stands behind a line of three dashes."""
    raise RuntimeError("krait.extending.inline_llvm can be used in compiled functions only")


_INTRINSIC = """
def {name}({parameters}):
    if _on_gpu():
        return {gpu}
    return {host}
"""


def intrinsic(signature=None, /, *, ptx=None, llvm=None):
    """A function that is given by its instructions: PTX for GPUs, or LLVM IR for every target.  The decorated Python
    function says what they compute; it runs where there is no text: PTX on the host.

        @intrinsic("int32(int32, int32)", ptx="mul24.lo.s32 $0, $1, $2;")
        def mul24(a, b):
            return (a & 0xFFFFFF) * (b & 0xFFFFFF)
    """
    if _inspect.isfunction(signature):
        raise TypeError(f"intrinsic cannot call {signature.__name__} to build LLVM IR: give the text, "
                        '@intrinsic("int64(int64, int64)", llvm="%r = add i64 %0, %1\\nret i64 %r"); what is no '
                        "instruction is a Python function, or an overload")
    if signature is None or (ptx is None and llvm is None):
        raise TypeError('intrinsic takes a signature and a text: @intrinsic("int32(int32)", ptx="...") or llvm="..."')

    def decorate(function):
        parsed = _krait._read_signature(signature)
        names = list(_inspect.signature(function).parameters)
        if len(names) != len(parsed.args):
            raise TypeError(f"{function.__name__} has {len(names)} parameters, its signature {len(parsed.args)}")
        operands = ", ".join(["", *names])
        texts = {"ptx": f"_ptx(_ptx_text, _result{operands})", "llvm": f"_llvm(_llvm_text, _result{operands})",
                 "python": f"_python({operands[2:]})"}
        text = _INTRINSIC.format(name=function.__name__, parameters=operands[2:],
                                 gpu=texts["llvm" if ptx is None else "ptx"],
                                 host=texts["python" if llvm is None else "llvm"])
        from .cuda import inline_ptx, on_gpu

        result = None if parsed.return_type == _krait.types["none"] else parsed.return_type
        space = {"_on_gpu": on_gpu, "_ptx": inline_ptx, "_llvm": inline_llvm, "_ptx_text": ptx, "_llvm_text": llvm,
                 "_result": result, "_python": function, "__name__": function.__module__}
        exec(compile(text, f"<intrinsic {function.__name__}>", "exec"), space)
        made = space[function.__name__]
        made.__doc__, made.__module__, made.__qualname__ = function.__doc__, function.__module__, function.__qualname__
        return _krait._compiled(made, signature)

    return decorate


def get_cython_function_address(module_name, function_name):
    """The address of a function that a module of Cython exports, for ctypes.CFUNCTYPE(result, *arguments)(address)."""
    import ctypes
    from importlib import import_module

    exported = getattr(import_module(module_name), "__pyx_capi__", {})
    if function_name not in exported:
        raise ImportError(f"{module_name} exports no function {function_name!r} for C")
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    capsule = exported[function_name]
    return address_of(capsule, name_of(capsule))


# Names of Numba's that programs import, and what to use instead.
_INSTEAD = {
    **dict.fromkeys(("infer", "infer_getattr", "infer_global"), "use overload, overload_method or overload_attribute"),
    "overload_classmethod": "methods of classes are compiled with the class",
    "SentryLiteralArgs": "a function for overload is shown an IntegerLiteral where it has no other answer",
}


def __getattr__(name):
    from ._missing import NotYet, missing

    if name in _INSTEAD:
        return NotYet(__name__, name, _INSTEAD[name])
    raise missing(__name__, name, __all__)


__all__ = [
    "InlineCall",
    "InlineFunction",
    "NativeValue",
    "as_numba_type",
    "box",
    "get_cython_function_address",
    "inline_llvm",
    "intrinsic",
    "is_jitted",
    "lower_builtin",
    "lower_cast",
    "lower_getattr",
    "lower_getattr_generic",
    "lower_setattr",
    "lower_setattr_generic",
    "make_attribute_wrapper",
    "models",
    "overload",
    "overload_attribute",
    "overload_method",
    "reflect",
    "register_jitable",
    "register_model",
    "type_callable",
    "typeof_impl",
    "unbox",
]
