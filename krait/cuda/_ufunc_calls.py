"""Calls of vectorize(target='cuda') functions that no elementwise kernel does: NumPy's ufunc computes them on the host.

In: a call with NumPy's other keywords (where, dtype, casting, ...), or with several results on the host device.  Out:
results where the inputs live: on the device if any operand or result is there.
"""

import numpy as np

from .. import _krait
from . import _operators, as_cuda_array, is_cuda_array


def _in_device(value):
    return as_cuda_array(value) if is_cuda_array(value) else value


def _to_host(value, stream):
    if not isinstance(value, _krait.DeviceArray):
        return value
    if stream:
        stream.synchronize()
    return np.asarray(value)


def by_way_of_host(ufunc, *args, out=None, stream=0, **keywords):
    args = [_in_device(value) for value in args]
    given = out if isinstance(out, tuple) else (None,) * ufunc.nout if out is None else (out,)
    if len(args) > ufunc.nin and out is None:  # results by position
        given = (*args[ufunc.nin :], *given[len(args) - ufunc.nin :])
        args = args[: ufunc.nin]
    wanted = [_in_device(value) for value in given]
    where = _to_host(_in_device(keywords.pop("where", True)), stream)
    on_device = any(isinstance(value, _krait.DeviceArray) for value in (*args, *wanted))
    hosts = tuple(_to_host(value, stream) for value in wanted)
    if any(host is not None for host in hosts):
        keywords["out"] = hosts
    results = ufunc(*(_to_host(value, stream) for value in args), where=where, **keywords)
    if not on_device:
        return results
    results = results if isinstance(results, tuple) else (results,)
    placed = tuple(_place(*pair, stream) for pair in zip(wanted, given, results))
    return placed[0] if len(placed) == 1 else placed


def ufunc_at(function, array, indices, *operand):
    """function.at of a device array, which NumPy does on the host: elements that meet are taken in order."""
    host = array.copy_to_host()
    function.at(host, _many_to_host(indices), *(_to_host(_in_device(value), 0) for value in operand))
    array.copy_to_device(host)


def _many_to_host(indices):
    if isinstance(indices, tuple):
        return tuple(map(_many_to_host, indices))
    return _to_host(_in_device(indices), 0)


def ufunc_reduceat(function, array, indices, axis=0, dtype=None, out=None):
    """function.reduceat of a device array, which NumPy does on the host; the result is on the device."""
    wanted = _in_device(out)
    result = function.reduceat(array.copy_to_host(), _many_to_host(indices), axis, dtype, _to_host(wanted, 0))
    return _place(wanted, out, result, 0)


def ufunc_outer(function, first, second, **keywords):
    """function.outer of arrays one of which is on the device."""
    first, second = (value if np.isscalar(value) else _in_device(value) for value in (first, second))
    rows, columns = np.shape(first), np.ndim(second)
    if rows and columns:
        if not isinstance(first, _krait.DeviceArray):
            first = np.asarray(first)
        elif not first.is_c_contiguous():
            first = _operators.copy(first)
        first = first.reshape(rows + (1,) * columns)
    return function(first, second, **keywords)


def _place(wanted, given, result, stream):
    """A result where the caller wants it."""
    if isinstance(wanted, _krait.DeviceArray):
        wanted.copy_to_device(np.ascontiguousarray(result), stream=stream)
        return given
    return result if given is not None else _krait.to_device(np.asarray(result), stream=stream)
