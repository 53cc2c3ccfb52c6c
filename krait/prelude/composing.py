"""What is put together of parts: np.mgrid, ogrid, r_, c_ and s_, which are indexed, block, piecewise, fromfunction."""

import math

import numpy as np

from krait.prelude.joining import part
from krait.prelude.shaping import as_elements

# ---- slices as numbers; a step 5j means 5 of them, the last included ----


def _start(s):
    return 0 if s.start is None else s.start


def _step(s):
    return 1 if s.step is None else s.step


def _numbers(slices):
    if len(slices) == 0:
        return ()
    step = _step(slices[0])
    if isinstance(step, complex):
        step = abs(step)
    return (_start(slices[0]), slices[0].stop, step) + _numbers(slices[1:])


def _lengths(slices):
    if len(slices) == 0:
        return ()
    step = _step(slices[0])
    if isinstance(step, complex):
        return (int(abs(step)),) + _lengths(slices[1:])
    return (math.ceil((slices[0].stop - _start(slices[0])) / step),) + _lengths(slices[1:])


def _line(s, n, dtype):
    step = _step(s)
    if isinstance(step, complex):
        distance = (s.stop - _start(s)) / float(n - 1) if n != 1 else 1.0
        return np.arange(n, dtype=dtype) * distance + _start(s)
    return np.arange(n, dtype=dtype) * step + _start(s)


def _points(s):
    step = _step(s)
    if isinstance(step, complex):
        return _line(s, int(abs(step)), np.result_type(_start(s), s.stop, abs(step)))
    return np.arange(_start(s), s.stop, step)


def mgrid(key):
    if not isinstance(key, tuple):
        return _points(key)
    grid = np.empty((len(key),) + _lengths(key), np.result_type(0, *_numbers(key)))
    _fill(grid, key, 0)
    return grid


def _fill(grid, rest, axis):
    if len(rest) > 0:
        line = _line(rest[0], grid.shape[axis + 1], grid.dtype)
        for i in range(len(line)):
            part(grid[axis], axis, i, 1)[...] = line[i]
        _fill(grid, rest[1:], axis + 1)


def ogrid(key):
    if not isinstance(key, tuple):
        return _points(key)
    return _lines(key, key, np.result_type(0, *_numbers(key)))


def _lines(rest, key, dtype):
    if len(rest) == 0:
        return ()
    line = _line(rest[0], _lengths(rest)[0], dtype)
    return (_led(_followed(line, rest[1:]), key[: len(key) - len(rest)]),) + _lines(rest[1:], key, dtype)


def _led(array, axes):
    # With so many axes of length one before.
    return array if len(axes) == 0 else _led(array[np.newaxis], axes[1:])


def _followed(array, axes):
    return array if len(axes) == 0 else _followed(array[..., np.newaxis], axes[1:])


def _piece(item):
    if not isinstance(item, slice):
        return item
    step = _step(item)
    if isinstance(step, complex):
        return np.linspace(_start(item), item.stop, int(abs(step)))
    return np.arange(_start(item), item.stop, step)


def _pieces(key):
    return () if len(key) == 0 else (_piece(key[0]),) + _pieces(key[1:])


def _column(item, dtype):
    a = as_elements(item, dtype)
    return a.reshape((a.size, 1)) if a.ndim < 2 else a


def _columns(pieces, dtype):
    return () if len(pieces) == 0 else (_column(pieces[0], dtype),) + _columns(pieces[1:], dtype)


def _lined(pieces, dtype):
    if len(pieces) == 0:
        return ()
    return (np.atleast_1d(as_elements(pieces[0], dtype)),) + _lined(pieces[1:], dtype)


def r_(key):
    if not isinstance(key, tuple):
        return r_((key,))
    pieces = _pieces(key)
    dtype = np.dtype(np.result_type(*pieces))
    return np.concatenate(_lined(pieces, dtype), 0, None, dtype)


def c_(key):
    if not isinstance(key, tuple):
        return c_((key,))
    pieces = _pieces(key)
    dtype = np.dtype(np.result_type(*pieces))
    return np.concatenate(_columns(pieces, dtype), -1, None, dtype)


def s_(key):
    return key


def index_exp(key):
    return key if isinstance(key, tuple) else (key,)


# ---- blocks; depth and axes are tuples of so many items ----


def block(arrays):
    depth = _depth(arrays)
    if len(depth) == 0:
        return np.array(arrays)
    return _block(arrays, depth, _longer(_axes(arrays), depth), ())


def _depth(arrays):
    if isinstance(arrays, (list, tuple)):
        if len(arrays) == 0:
            raise ValueError("List at arrays cannot be empty")
        return (0,) + _depth(arrays[0])
    return ()


def _longer(s, t):
    return t if len(s) < len(t) else s


def _axes(arrays):
    # The shape of the one with the most axes.
    if isinstance(arrays, list):
        return _axes(arrays[0])
    if isinstance(arrays, tuple):
        first = _axes(arrays[0])
        return first if len(arrays) == 1 else _longer(first, _axes(arrays[1:]))
    return np.asarray(arrays).shape


def _block(arrays, depth, axes, place):
    is_sequence = isinstance(arrays, (list, tuple))
    if len(depth) == 0:
        if is_sequence:
            _refuse_depth(len(place), place + _depth(arrays))
        return _with_axes(np.asarray(arrays), axes)
    if not is_sequence:
        _refuse_depth(len(place) + len(depth), place)
    return np.concatenate(_blocks(arrays, depth[1:], axes, place, 0), -len(depth))


def _refuse_depth(first, place):
    text = "arrays"
    for i in place:
        text += f"[{i}]"
    raise ValueError(
        f"List depths are mismatched. First element was at depth {first}, but there is an element at depth "
        f"{len(place)} ({text})"
    )


def _blocks(arrays, depth, axes, place, i):
    if isinstance(arrays, list):
        return [_block(item, depth, axes, place + (k,)) for k, item in enumerate(arrays)]
    if len(arrays) == 0:
        return ()
    return (_block(arrays[0], depth, axes, place + (i,)),) + _blocks(arrays[1:], depth, axes, place, i + 1)


def _with_axes(a, axes):
    return _with_axes(a[np.newaxis], axes) if a.ndim < len(axes) else a


# ---- functions of places ----


def fromfunction(function, shape, dtype=float):
    return function(*_planes(np.indices(shape, dtype), shape))


def _planes(grid, rest):
    return () if len(rest) == 0 else (grid[0],) + _planes(grid[1:], rest[1:])


def piecewise(x, condlist, funclist, *args):
    a = np.asarray(x)
    conditions = _conditions(condlist, a)
    n, functions = len(conditions), len(funclist)
    if n != functions and n != functions - 1:
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    new = np.zeros_like(a)
    others = np.logical_not(np.asarray(conditions[0]))
    for i in range(1, n if n != functions else 1):
        others &= np.logical_not(conditions[i])
    _put_pieces(new, a, conditions, others, funclist, 0, args)
    return new


def _conditions(condlist, a):
    # One alone stands for a list of it.
    if isinstance(condlist, (list, tuple)):
        if np.ndim(condlist[0]) == 0 and a.ndim != 0:
            return (np.asarray(condlist),)
        return condlist
    return condlist if np.ndim(condlist) > 1 or a.ndim == 0 else (condlist,)


def _put_pieces(new, a, conditions, others, functions, i, args):
    if isinstance(functions, tuple):
        if len(functions) > 0:
            _put_piece(new, a, conditions, others, functions[0], i, args)
            _put_pieces(new, a, conditions, others, functions[1:], i + 1, args)
    else:
        for k in range(len(functions)):
            _put_piece(new, a, conditions, others, functions[k], k, args)


def _put_piece(new, a, conditions, others, function, i, args):
    if i < len(conditions):
        _put(new, a, np.asarray(conditions[i]).astype(np.bool_), function, args)
    else:
        _put(new, a, others, function, args)


def _put(new, a, condition, function, args):
    if a.ndim == 0:
        if condition[()]:
            new[()] = _value(function, a[()], args)
    else:
        values = a[condition]
        if values.size > 0:
            new[condition] = _value(function, values, args)


def _value(function, values, args):
    if isinstance(function, (int, float, complex, np.generic)):
        return function
    return function(values, *args)
