"""What device arrays compute: operators, NumPy's ufuncs, casts, filling, indexing with arrays.

Each is a kernel on the device where the array lies, compiled at its first use; the results are device arrays.  On the
host device, whose memory is that of the process, NumPy does what needs no compiled loop.
"""

import functools

import numpy as np

from .. import _krait, vectorize
from ..errors import TypingError, UnsupportedError

_functions = {}  # NumPy ufunc or dtype -> the elementwise function compiled from it
_WRAPPERS = {
    1: lambda f: lambda a: f(a),
    2: lambda f: lambda a, b: f(a, b),
    3: lambda f: lambda a, b, c: f(a, b, c),
}


def at_home(function):
    """The function, which makes its arrays on the device where those among its arguments lie."""

    @functools.wraps(function)
    def call(*args, **options):
        with _krait.home_of(*args, *options.values()):
            return function(*args, **options)

    return call


def _elementwise(key, function, nin):
    made = _functions.get(key)
    if made is None:
        made = _functions[key] = vectorize(target="cuda")(_WRAPPERS[nin](function))
    return made


def _is_device_array(value):
    return type(value) is _krait.DeviceArray


def _operand(value):
    """What NumPy's promotion sees of an operand: a dtype, or the class of a Python number."""
    return type(value) if type(value) in (int, float, complex) else np.asarray(value).dtype


def _result_dtype(ufunc, inputs):
    operands = [value.dtype if _is_device_array(value) else _operand(value) for value in inputs]
    return ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))[-1]


def apply(ufunc, *inputs, out=None):
    """The ufunc's results for every element, in new device arrays or in `out`."""
    if out is not None and not np.can_cast(_result_dtype(ufunc, inputs), out.dtype, "same_kind"):
        raise TypeError(f"{ufunc.__name__}: the result, {_result_dtype(ufunc, inputs)}, does not go into {out.dtype}")
    if out is None:
        return _elementwise(ufunc, ufunc, ufunc.nin)(*inputs)
    return _elementwise(ufunc, ufunc, ufunc.nin)(*inputs, out=out)


_OPERANDS = (_krait.DeviceArray, int, float, complex, np.generic, np.ndarray, list, tuple)


def binary(name, left, right):
    if not isinstance(left, _OPERANDS) or not isinstance(right, _OPERANDS):
        return NotImplemented
    return apply(getattr(np, name), left, right)


def in_place(name, left, right):
    return apply(getattr(np, name), left, right, out=left) if isinstance(right, _OPERANDS) else NotImplemented


def unary(name, operand):
    return apply(getattr(np, name), operand)


_REDUCTIONS = {
    np.add: "sum", np.multiply: "prod", np.minimum: "min", np.maximum: "max", np.logical_and: "all",
    np.logical_or: "any",
}


def _runs_on_device(ufunc, method, options):
    known = isinstance(getattr(np, ufunc.__name__, None), np.ufunc)
    return known and method == "__call__" and not options and not ufunc.signature and ufunc.nin in _WRAPPERS


def array_ufunc(array, ufunc, method, *inputs, out=None, **options):
    """__array_ufunc__: NumPy's functions of device arrays run on the device; other ufuncs get the elements on the host,
    as from any object that NumPy makes an array of."""
    if method == "reduce" and ufunc in _REDUCTIONS and len(inputs) == 1 and options.keys() <= {"axis", "keepdims"}:
        return getattr(inputs[0], _REDUCTIONS[ufunc])(out=out[0] if out else None, **{"axis": 0, **options})
    if _runs_on_device(ufunc, method, options) and ufunc.nout == 1:
        try:
            return apply(ufunc, *inputs, out=out[0] if out else None)
        except (TypingError, UnsupportedError):  # compiled code does not have it
            if out and _is_device_array(out[0]):
                raise
    if out is not None:
        if any(map(_is_device_array, out)):
            return NotImplemented
        options["out"] = out
    options = {name: _on_host(value) for name, value in options.items()}
    return getattr(ufunc, method)(*map(_on_host, inputs), **options)


def restored(array):
    """What a pickle of a device array becomes: an array on the device of the process that opens it."""
    return _krait.to_device(array)


# ---- copies and casts -----------------------------------------------------------------------------------------------


def _cast(dtype, given):
    """The elementwise function that makes numbers of another dtype; of a complex number the real part."""
    dtype = np.dtype(dtype)
    if given.kind == "c" and dtype.kind != "c":
        return _elementwise((dtype, "real"), _real_part(dtype.type), 1)
    return _elementwise(dtype, dtype.type, 1)


def _real_part(to):
    return lambda a: to(a.real)


def brought(array, dtype, stream=0):
    """A host array on the device, cast."""
    return _krait.to_device(np.asarray(array, dtype), stream=stream)


def assign(array, value, stream=0):
    """array[...] = value, on a GPU: a device array or a number of any type, broadcast and cast."""
    given = value.dtype if _is_device_array(value) else np.asarray(value).dtype
    _cast(array.dtype, given)(value, out=array, stream=stream)


def _empty(array, dtype, order):
    if order in ("K", "A"):
        order = "F" if array.is_f_contiguous() and not array.is_c_contiguous() else "C"
    return _krait.device_array(array.shape, dtype, order=order)


def copy(array, order="C", stream=0):
    result = _empty(array, array.dtype, order)
    result.copy_to_device(array, stream=stream)
    return result


def astype(array, dtype, order="K", casting="unsafe", subok=True, copy=True):
    dtype = np.dtype(dtype)
    if not np.can_cast(array.dtype, dtype, casting):
        raise TypeError(f"cannot cast array data from {array.dtype!r} to {dtype!r} according to the rule '{casting}'")
    if dtype == array.dtype and not copy:
        return array
    result = _empty(array, dtype, order)
    result[...] = array
    return result


def fill(array, value, stream=0):
    array.setitem(..., array.dtype.type(value), stream=stream)


def flatten(array, order="C"):
    return copy(array, "F" if order == "F" else "C").ravel(order)


def item(array, *index):
    return np.asarray(array).item(*index)


def tolist(array):
    return np.asarray(array).tolist()


def clip(array, min=None, max=None, out=None):
    lower = array if min is None else apply(np.maximum, array, min, out=out)
    return lower if max is None else apply(np.minimum, lower, max, out=out)


def conj(array):
    return apply(np.conjugate, array)


def round_(array, decimals=0):
    if decimals:
        raise NotImplementedError("round() of a device array rounds to whole numbers")
    return apply(np.rint, array)


# ---- indexing with arrays -------------------------------------------------------------------------------------------


def _on_host(key):
    if isinstance(key, tuple):
        return tuple(_on_host(part) for part in key)
    return np.asarray(key) if _is_device_array(key) else key


def _places(array, key):
    """The numbers, in C order, of the elements that an index selects, in the shape of the result."""
    key = _on_host(key)
    if array.ndim == 1 and not isinstance(key, tuple):
        index = np.asarray(key)
        if index.dtype != bool and (index.size == 0 or index.dtype.kind in "iu"):
            index = index.astype(np.int64)
            if index.size and (index.min() < -array.size or index.max() >= array.size):
                raise IndexError(f"an index is out of bounds for axis 0 with size {array.size}")
            return np.where(index < 0, index + array.size, index)
    return np.asarray(np.arange(array.size).reshape(array.shape)[key])


def _kernels():
    from . import grid, jit

    @jit
    def gather(x, places, out):
        i = grid(1)
        if i < out.size:
            out[i] = x[places[i]]

    @jit
    def scatter(x, places, values):
        i = grid(1)
        if i < places.size:
            x[places[i]] = values[i]

    return gather, scatter


def _gather_and_scatter():
    if "gather" not in _functions:
        _functions["gather"], _functions["scatter"] = _kernels()
    return _functions["gather"], _functions["scatter"]


def take(array, key, stream=0):
    """array[key] for an index with arrays in it: a copy, as NumPy makes."""
    host = array._host_view()
    if host is not None:
        return _krait.to_device(host[_on_host(key)])
    return take_on_device(array, key, stream)


def take_on_device(array, key, stream=0):
    places = _places(array, key)
    result = _krait.device_array(places.shape, array.dtype, stream=stream)
    if result.size:
        flat = array if array.is_c_contiguous() else copy(array, stream=stream)
        gather, _ = _gather_and_scatter()
        indices = _krait.to_device(places.ravel(), stream=stream)
        gather.forall(places.size, stream=stream)(flat.reshape(-1), indices, result.reshape(-1))
    return result


def put(array, key, value, stream=0):
    """array[key] = value for an index with arrays in it."""
    host = array._host_view()
    if host is None:
        return put_on_device(array, key, value, stream)
    host[_on_host(key)] = value._host_view() if _is_device_array(value) else value


def put_on_device(array, key, value, stream=0):
    places = _places(array, key)
    values = _krait.device_array(places.shape, array.dtype, stream=stream)
    values.setitem(..., value, stream=stream)
    if not places.size:
        return
    flat = array if array.is_c_contiguous() else copy(array, stream=stream)
    _, scatter = _gather_and_scatter()
    numbers = _krait.to_device(places.ravel(), stream=stream)
    scatter.forall(places.size, stream=stream)(flat.reshape(-1), numbers, values.reshape(-1))
    if flat is not array:
        array.copy_to_device(flat, stream=stream)
