"""What programs tell Numba of classes of their own, read for what it means here.

Instances of a plain class are arguments as they are, compiled code makes them and reads their attributes.  What Numba
must be told for that (how instances are typed, laid out, boxed and made) needs nothing here: the decorators take it,
and keep which class of types stands for which class, for functions of overload.
"""

import types as _python

from . import _krait
from .errors import UnsupportedError

_TYPE = _krait.types["Type"]
_typers = {}  # class -> what gives its type: typer(value, c)
_shown = {}  # class -> the class of types that stands for it, or None


def _class_of_types(cls):
    """The class of types that a program gave for instances of this class; None: it gave none."""
    for base in cls.__mro__:
        if base in _typers:
            try:
                made = _typers[base](None, None)
            except Exception:  # it looks at the value, and there is none
                return None
            return type(made) if isinstance(made, _TYPE) and _derived(type(made)) else None
    return None


def _derived(cls):
    return isinstance(cls, type) and issubclass(cls, _TYPE) and cls not in _krait.types.values()


def shown(type_):
    """A type as a function of overload is told it: of the program's own class, where there is one for its values."""
    cls = getattr(type_, "python_class", None)
    if cls is None or not _typers:
        return type_
    if cls not in _shown:
        _shown[cls] = _class_of_types(cls)
    return _krait._type_as(type_, _shown[cls]) if _shown[cls] else type_


def tell(cls, typer):
    """Values of this class have the type that typer(value, c) gives."""
    _typers[cls] = typer
    _shown.clear()


class _Typeof:
    """typeof_impl, as_numba_type: asked for the type of a value, or of an annotation; told of classes by register."""

    def __init__(self, ask, words):
        self._ask, self.__doc__ = ask, words

    def __call__(self, what, *context):
        return self._ask(what)

    def register(self, cls, given=None):
        if given is None:
            return lambda typer: self.register(cls, typer) or typer
        tell(cls, (lambda value, c: given) if isinstance(given, _TYPE) else given)


def _of_annotation(annotation):
    import typing

    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, _TYPE):
        return annotation
    if annotation in _typers:
        return _typers[annotation](None, None)
    plain = {int: "int64", float: "float64", complex: "complex128", bool: "boolean", str: "unicode_type",
             type(None): "none", None: "none"}  # fmt: skip
    if origin is None and annotation in plain:
        return _krait.types[plain[annotation]]
    if origin in (typing.Union, getattr(_python, "UnionType", None)) and len(parts) == 2 and type(None) in parts:
        return _krait.types["Optional"](_of_annotation(parts[parts[0] is type(None)]))
    made = {list: "ListType", set: "Set", dict: "DictType"}.get(origin)
    if made and parts:
        return _krait.types[made](*map(_of_annotation, parts))
    if origin is tuple and Ellipsis not in parts:
        return _krait.types["Tuple"](tuple(map(_of_annotation, parts)))
    if hasattr(annotation, "class_type"):
        return annotation.class_type.instance_type
    raise _krait.errors["TypingError"](f"{annotation!r} has no type in compiled code")


typeof_impl = _Typeof(_krait.typeof, "The type of a value; register(cls) decorates what gives that of instances.")
as_numba_type = _Typeof(_of_annotation, "The type that an annotation means: int, list[float], Optional[int].")


def _kept(made):
    return made


def _about(what):
    """A decorator that has nothing to add, if it is about a class, or a type."""
    if isinstance(what, type) or isinstance(what, _TYPE):
        return _kept
    raise UnsupportedError(f"{getattr(what, '__name__', what)} is no class: what calls of a function mean in compiled "
                           "code is said by krait.extending.overload")  # fmt: skip


def type_callable(what):
    """Of a class: nothing, since compiled code makes instances by __init__.  Of a function: use overload."""
    return _about(what)


def lower_builtin(what, *types):
    """Of a class: nothing, since compiled code makes instances by __init__.  Of a function: use overload."""
    return _about(what)


def register_model(type_class):
    """Nothing: the attributes of an instance say how it is laid out."""
    return _about(type_class)


def box(type_class):
    """Nothing: instances come and go as they are."""
    return _about(type_class)


unbox = reflect = lower_getattr_generic = lower_setattr_generic = box


def lower_getattr(type_class, name):
    """Nothing: attributes and properties of instances are there."""
    return _about(type_class)


lower_setattr = lower_cast = lower_getattr


def make_attribute_wrapper(type_class, struct_attr, python_attr):
    """Nothing: attributes of instances are there."""
    _about(type_class)


class NativeValue:
    """What a function for unbox gives; none is called."""

    def __init__(self, value, is_error=None, cleanup=None):
        self.value, self.is_error, self.cleanup = value, is_error, cleanup


class Model:
    """A base of models; none is asked."""

    def __init__(self, dmm=None, fe_type=None, members=()):
        self._fe_type, self._members = fe_type, members


models = _python.SimpleNamespace(**{
    name: type(name, (Model,), {}) for name in ("StructModel", "OpaqueModel", "PrimitiveModel", "PointerModel",
                                                "TupleModel", "UniTupleModel", "ArrayModel", "IntegerModel",
                                                "FloatModel", "BooleanModel", "ListModel", "DataModel")},
    register_default=register_model)  # fmt: skip
