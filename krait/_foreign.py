"""Functions of C: compiled ones as other libraries' objects, and those of ctypes and cffi in compiled code."""

import ctypes
from functools import cache
from keyword import iskeyword
from weakref import WeakValueDictionary

import numpy as np

from . import types
from .errors import TypingError
from .extending import inline_llvm, overload

# ---- compiled functions for others ----


class _Complex:
    """What the structures of two floats have that stand for C's complex numbers: each is passed as the other."""

    @classmethod
    def from_param(cls, value):
        if isinstance(value, cls):
            return value
        if isinstance(value, str):  # which complex() reads
            raise TypeError(f"{cls.__name__} takes a number, not {value!r}")
        value = complex(value)
        return cls(value.real, value.imag)

    def __complex__(self):
        return complex(self.real, self.imag)


class c_float_complex(_Complex, ctypes.Structure):
    _fields_ = [("real", ctypes.c_float), ("imag", ctypes.c_float)]


class c_double_complex(_Complex, ctypes.Structure):
    _fields_ = [("real", ctypes.c_double), ("imag", ctypes.c_double)]


def ctypes_number(name):
    """The type that ctypes lacks for a number."""
    return {"complex64": c_float_complex, "complex128": c_double_complex}.get(name, ctypes.c_char)


def ctypes_function(prototype, address):
    """A cfunc as a function of ctypes, which takes and gives Python's complex numbers where its type has some."""
    function = prototype(address)
    if isinstance(function.restype, type) and issubclass(function.restype, _Complex):
        function.errcheck = lambda result, function, arguments: complex(result)
    return function


def cffi_function(cfunc, declaration):
    """A cfunc as a function pointer of cffi, which keeps it alive."""
    import cffi

    ffi = cffi.FFI()
    return ffi.gc(ffi.cast(declaration, cfunc.address), lambda pointer, alive=cfunc: None)


# ---- others' functions for compiled code ----
#
# Such a function stands for a Python function, which brings each argument to 64 bits, a float of its width or an array,
# and calls the address by LLVM IR.  The address is an item of an array: the disk cache leaves memory by name.


class Refused(Exception):
    """Why a function cannot be called, and what to do instead."""


_NUMBERS = {
    np.dtype(code): getattr(types, np.dtype(code).name if code != "?" else "boolean") for code in "?bhilBHILfd"
}
_PYTHON_CALLS = 4  # of ctypes' flags: a function of CPython's API
_KEEPS_ERROR = 8 | 16  # ctypes.get_errno(), or Windows' own
_made = WeakValueDictionary()  # name, address, types, checked -> the function


class _Pointer:
    """What a pointer points to: a type of numbers, or None, which is anything."""

    def __init__(self, item):
        self.item = item

    def __eq__(self, other):
        return isinstance(other, _Pointer) and other.item is self.item

    def __hash__(self):
        return hash(self.item)

    def __str__(self):
        return f"a pointer to {self.item}" if self.item else "a pointer"


def _of_ctypes(ctype, what):
    """The type of a number or a pointer of ctypes."""
    if ctype is ctypes.c_void_p:
        return _Pointer(None)
    if isinstance(ctype, type) and issubclass(ctype, ctypes._Pointer):
        return _Pointer(_of_ctypes(ctype._type_, what))
    if isinstance(ctype, type) and ctype.__base__ is ctypes._SimpleCData and ctype._type_ in "?bhilqBHILQfd":
        return _NUMBERS[np.dtype(ctype)]
    raise Refused(f"{what} is {getattr(ctype, '__name__', ctype)}, which has no type in compiled code",
                  "numbers, bools and pointers to numbers are passed; call it outside, and pass its result")


def _ctypes_signature(function):
    if any(type(kept).__name__ == "CThunkObject" for kept in (function._objects or {}).values()):
        raise Refused("it calls a Python function", "call the Python function itself: it is compiled")
    if function.argtypes is None:
        raise Refused("it has no argtypes", "say which types it takes and gives: f.argtypes = [ctypes.c_double]; "
                                            "f.restype = ctypes.c_double")
    if function.errcheck is not None:
        raise Refused("it has an errcheck, which the interpreter calls", "look at its result in the compiled function")
    if function._flags_ & (_PYTHON_CALLS | _KEEPS_ERROR):
        raise Refused("its library is a PyDLL, or one with use_errno", "load it by ctypes.CDLL(name)")
    args = tuple(_of_ctypes(arg, f"its argument {i}") for i, arg in enumerate(function.argtypes, 1))
    result = None if function.restype is None else _of_ctypes(function.restype, "its restype")
    if isinstance(result, _Pointer):
        raise Refused("it gives a pointer", "let it write into an array that it is given")
    return ctypes.cast(function, ctypes.c_void_p).value, args, result, False


def _of_cffi(ctype, what):
    from .core.typing.cffi_utils import map_type

    if ctype.kind == "primitive" and ctype.cname != "char" and "complex" not in ctype.cname:
        try:
            return map_type(ctype)
        except TypeError:
            pass
    raise Refused(f"{what} is {ctype.cname}, which has no type in compiled code",
                  "numbers are passed; a function that takes pointers can be called by ctypes")


def _cffi_signature(function):
    import sys

    import _cffi_backend

    ffi = _cffi_backend.FFI()
    if type(function).__name__ == "builtin_function_or_method":  # of a module that cffi has made
        ffi = sys.modules[function.__module__.removesuffix(".lib")].ffi
        function = ffi.addressof(function.__self__, function.__name__)
    ctype = ffi.typeof(function)
    ctype = ctype.item if ctype.kind == "pointer" else ctype
    if ctype.kind != "function":
        raise Refused("it is no function", "pass values of cffi as arguments, made numbers or arrays")
    if ctype.ellipsis:
        raise Refused("it takes any number of arguments", "call it outside")
    args = tuple(_of_cffi(arg, f"its argument {i}") for i, arg in enumerate(ctype.args, 1))
    result = None if ctype.result.kind == "void" else _of_cffi(ctype.result, "its result")
    return int(ffi.cast("uintptr_t", function)), args, result, True


def function_of(function):
    """The Python function that one of C stands for, the same for equal ones; or a text that says why there is none, and
    a hint."""
    in_ctypes = isinstance(function, ctypes._CFuncPtr)
    name = getattr(function, "__name__", "function")
    try:
        signature = (_ctypes_signature if in_ctypes else _cffi_signature)(function)
        if not signature[0]:
            raise Refused("its address is NULL", "load it first")
    except Refused as refused:
        why, hint = refused.args
        return f"`{name}`, a function of {'ctypes' if in_ctypes else 'cffi'}, is not compiled: {why}", hint
    made = _made.get((name, *signature))
    if made is None:
        made = _made[name, *signature] = _made_function(function, name, *signature)
    return made


# ---- arguments ----


def _is_int(type_):
    return isinstance(type_, (types.Integer, types.Boolean))


def _array(x):
    return x


def _wide(x):
    return np.int64(x)


def _wide_unsigned(x):
    return np.uint64(x)


def _truth(x):
    return np.int64(x != 0)


def _double(x):
    return np.float64(x)


def _single(x):
    return np.float32(x)


def _checked(parameter):
    limits = np.iinfo(str(parameter))
    low, high, text = int(limits.min), int(limits.max), f"the integer does not fit {parameter}"

    def inside(x):
        if x < low or x > high:
            raise OverflowError(text)
        return np.int64(x)

    return inside


def _taking(parameter, given, checked):
    """The function that makes the operand of an argument of the type `given`; None: it is not taken."""
    if isinstance(parameter, _Pointer):
        fits = isinstance(given, types.Array) and parameter.item in (None, given.dtype)
        return _array if fits else None
    if parameter in (types.float32, types.float64):
        taken = _is_int(given) or isinstance(given, types.Float)
        return (_double if parameter is types.float64 else _single) if taken else None
    if not _is_int(given):
        return None
    if parameter is types.boolean:
        return _truth
    if checked and parameter not in (types.int64, types.uint64):
        return _checked(parameter)
    return _wide_unsigned if given is types.uint64 else _wide


@cache
def _taker(name, number, parameter, checked):
    """What compiled code calls to make an operand of an argument."""

    def argument(x):
        raise RuntimeError("for compiled code alone")

    def take(x):
        made = _taking(parameter, x, checked)
        if made is None:
            hint = ": give an array x as x.ctypes" if isinstance(parameter, _Pointer) else ""
            raise TypingError(f"`{name}` takes {parameter} as argument {number}, not {x}{hint}")
        return made

    overload(argument)(take)
    return argument


# ---- the call ----


def _wide_text(type_, i):
    """What an operand of the type is in the text, and what is passed: as wide as a register, whoever extends it."""
    if isinstance(type_, _Pointer):
        return [], f"ptr %{i}"
    if type_ in (types.float32, types.float64):
        return [], f"{'float' if type_ is types.float32 else 'double'} %{i}"
    bits = 8 if type_ is types.boolean else type_.bitwidth
    if bits == 64:
        return [], f"i64 %{i}"
    extend = "sext" if type_ is not types.boolean and type_.signed else "zext"
    lines = [f"%n{i} = trunc i64 %{i} to i{bits}"]
    if bits < 32:
        lines.append(f"%w{i} = {extend} i{bits} %n{i} to i32")
    return lines, f"i32 %{'w' if bits < 32 else 'n'}{i}"


def _call_text(args, result):
    """LLVM IR: operand 0 is the address."""
    lines, passed = ["%f = inttoptr i64 %0 to ptr"], []
    for i, arg in enumerate(args, 1):
        more, operand = _wide_text(arg, i)
        lines += more
        passed.append(operand)
    of_c = "void" if result is None else {types.float32: "float", types.float64: "double"}.get(result)
    of_c = of_c or f"i{8 if result is types.boolean else result.bitwidth}"
    lines.append(f"{'' if result is None else '%r = '}call {of_c} %f({', '.join(passed)})")
    lines.append("ret void" if result is None else f"ret {of_c} %r")
    return "\n".join(lines)


def _made_function(alive, name, address, args, result, checked):
    names = [f"x{i}" for i in range(1, len(args) + 1)]
    operands = "".join(f", _take{i}({each})" for i, each in enumerate(names, 1))
    call = f"_call(_text, _result, _address[0]{operands})"
    made_of = {None: "{}", types.boolean: "bool({} != 0)", types.uint64: "{}"}.get(result)
    if made_of is None:
        made_of = "float({})" if result in (types.float32, types.float64) else "int({})"
    space = {"__name__": "krait.foreign", "_call": inline_llvm, "_text": _call_text(args, result),
             "_result": types.uint8 if result is types.boolean else result,
             "_address": np.array([address], np.uint64), "_alive": alive}
    for i, arg in enumerate(args, 1):
        space[f"_take{i}"] = _taker(name, i, arg, checked)
    usable = name.isidentifier() and not iskeyword(name) and name not in ("bool", "float", "int", *space)
    shown = name if usable else "called"
    exec(compile(f"def {shown}({', '.join([*names, '/'] if names else [])}):\n    return {made_of.format(call)}",
                 f"<{name}>", "exec"), space)
    return space[shown]
