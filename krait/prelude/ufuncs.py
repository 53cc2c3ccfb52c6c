"""Methods of ufuncs, NumPy's and those that @vectorize made: reduce, accumulate, reduceat, outer, at."""

import numpy as np

from krait.prelude.axes import check_axes, check_out, kept_shape, lines_of, over_axes
from krait.prelude.indexing import check_places
from krait.prelude.intrinsics import axes_of, with_item
from krait.prelude.running import may_run

# ---- one result for each line ----


def reduce(ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
    a = np.asarray(array)
    if ufunc is np.add:
        return np.sum(a, axis, dtype, out, keepdims, 0 if initial is None else initial, where)
    elif ufunc is np.multiply:
        return np.prod(a, axis, dtype, out, keepdims, 1 if initial is None else initial, where)
    elif ufunc is np.maximum and dtype is None:
        return np.max(a, axis, out, keepdims, initial, where)
    elif ufunc is np.minimum and dtype is None:
        return np.min(a, axis, out, keepdims, initial, where)
    elif ufunc is np.logical_and and initial is None and dtype is None:
        return np.all(a, axis, out, keepdims, where)
    elif ufunc is np.logical_or and initial is None and dtype is None:
        return np.any(a, axis, out, keepdims, where)
    else:
        _check_axes(ufunc, a.ndim, axis)
        if out is not None:
            check_out(out, a, axis, keepdims, ufunc.__name__)
        kind = _kind(ufunc, a, dtype)
        start = _identity(ufunc, kind) if initial is None else kind.type(initial)
        if where is None:
            values = _folded(ufunc, lines_of(a, axis), kind, start)
        elif start is None:
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where mask one has to "
                "specify 'initial'"
            )
        else:
            chosen = np.broadcast_to(np.asarray(where), a.shape)
            values = _folded_where(ufunc, lines_of(a, axis), lines_of(chosen, axis), kind, start)
        return over_axes(values, a, axis, out, keepdims)


def _kind(ufunc, a, dtype):
    # The dtype of the loop.
    if dtype is not None:
        return np.dtype(dtype)
    one = a.dtype.type(1)
    return ufunc(one, one).dtype


def _check_axes(ufunc, ndim, axis):
    if axis is not None:
        check_axes(axis, ndim)
    if len(axes_of(axis, ndim)) > 1 and not _any_order(ufunc):
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        )


def _any_order(ufunc):
    if hasattr(ufunc, "_any_order"):
        return ufunc._any_order
    elif ufunc is np.maximum or ufunc is np.minimum or ufunc is np.fmax or ufunc is np.fmin:
        return True
    elif ufunc is np.logical_and or ufunc is np.logical_or or ufunc is np.logical_xor:
        return True
    elif ufunc is np.bitwise_and or ufunc is np.bitwise_or or ufunc is np.bitwise_xor or ufunc is np.gcd:
        return True
    else:
        return ufunc is np.hypot or ufunc is np.logaddexp or ufunc is np.logaddexp2


def types(ufunc):
    return [*ufunc._types]


def _identity(ufunc, kind):
    # What a reduction starts from, also if there are elements; None: from the first.
    if hasattr(ufunc, "_any_order"):
        return None if ufunc.identity is None else kind.type(np.int64(ufunc.identity))  # -1: all bits
    elif ufunc is np.bitwise_or or ufunc is np.bitwise_xor or ufunc is np.hypot or ufunc is np.gcd:
        return kind.type(0)
    elif ufunc is np.logical_xor or ufunc is np.logical_or:
        return kind.type(0)
    elif ufunc is np.logical_and:
        return kind.type(1)
    elif ufunc is np.bitwise_and:
        return ~kind.type(0)
    elif ufunc is np.logaddexp or ufunc is np.logaddexp2:
        return kind.type(-np.inf)
    else:
        return None


def _check_some(ufunc, some):
    if not some:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")


def _folded(ufunc, x, kind, start):
    if x.ndim == 1:
        return _of_line(ufunc, x, kind, start)
    total = np.empty(x.shape[:-1], kind)
    n, first = x.shape[-1], 0
    if start is not None:
        total[...] = start
    elif n > 0:
        total[...] = x[..., 0]
        first = 1
    else:
        _check_some(ufunc, total.size == 0)
    for i in range(first, n):
        ufunc(total, x[..., i], total)
    return total


def _of_line(ufunc, x, kind, start):
    if start is not None:
        return _line_from(ufunc, x, kind, start, 0)
    _check_some(ufunc, x.size > 0)
    return _line_from(ufunc, x, kind, kind.type(x[0]), 1)


def _folded_where(ufunc, x, chosen, kind, start):
    if x.ndim == 1:
        for i in range(x.size):
            if chosen[i]:
                start = kind.type(ufunc(start, kind.type(x[i])))
        return start
    total = np.empty(x.shape[:-1], kind)
    total[...] = start
    for i in range(x.shape[-1]):
        ufunc(total, x[..., i], total, where=chosen[..., i])
    return total


def _line_from(ufunc, x, kind, total, first):
    for i in range(first, x.size):
        total = kind.type(ufunc(total, kind.type(x[i])))
    return total


# ---- every result on the way ----


def accumulate(ufunc, array, axis=0, dtype=None, out=None):
    a = np.asarray(array)
    if ufunc is np.add:
        return np.cumsum(a, axis, dtype, out)
    elif ufunc is np.multiply:
        return np.cumprod(a, axis, dtype, out)
    else:
        if out is not None:
            if not may_run(out, a, axis):
                return out
        return _given(_accumulated(ufunc, a, axis, _kind(ufunc, a, dtype)), out)


def _given(values, out):
    if out is None:
        return values
    out[...] = values
    return out


def _accumulated(ufunc, a, axis, kind):
    new = np.empty(a.shape, kind)
    lines, source = np.moveaxis(new, axis, 0), np.moveaxis(a, axis, 0)
    if a.ndim == 1:
        for i in range(a.size):
            lines[i] = source[i] if i == 0 else ufunc(lines[i - 1], kind.type(source[i]))
    else:
        for i in range(lines.shape[0]):
            if i == 0:
                lines[0] = source[0]
            else:
                ufunc(lines[i - 1, ...], source[i, ...], lines[i, ...])
    return new


# ---- stretches of an axis ----


def reduceat(ufunc, array, indices, axis=0, dtype=None, out=None):
    a, places = np.asarray(array), np.asarray(indices)
    source = np.moveaxis(a, axis, 0)
    n = source.shape[0]
    for k in range(places.size):
        if places[k] < 0 or places[k] >= n:
            raise IndexError(f"index {places[k]} out-of-bounds in reduceat [0, {n})")
    kind = _kind_of_stretches(ufunc, a, dtype)
    new = np.empty(with_item(a.shape, axis % a.ndim, places.size), kind)
    lines = np.moveaxis(new, axis, 0)
    for k in range(places.size):
        start, stop = places[k], places[k + 1] if k + 1 < places.size else n
        if a.ndim == 1:
            lines[k] = _stretch(ufunc, source, start, stop, kind)
        else:
            lines[k] = source[start]
            for i in range(start + 1, stop):
                ufunc(lines[k, ...], source[i, ...], lines[k, ...])
    return _given(new, out)


def _kind_of_stretches(ufunc, a, dtype):
    if ufunc is np.add:
        return np.sum(a[:0], dtype=dtype).dtype
    elif ufunc is np.multiply:
        return np.prod(a[:0], dtype=dtype).dtype
    else:
        return _kind(ufunc, a, dtype)


def _stretch(ufunc, x, start, stop, kind):
    if stop <= start + 1:
        return kind.type(x[start])
    if ufunc is np.add:
        return kind.type(x[start]) + np.sum(x[start + 1 : stop], dtype=kind)
    return _line_from(ufunc, x[start:stop], kind, kind.type(x[start]), 1)


# ---- all pairs ----


def outer(ufunc, a, b, out=None):
    x, y = np.asarray(a), np.asarray(b)
    spread = x.reshape(x.shape + kept_shape(y.shape, None))
    if out is None:
        return ufunc(spread, y)
    return ufunc(spread, y, out)


# ---- items one after the other ----


def at(ufunc, a, indices, b=None):
    if isinstance(indices, tuple):
        _at_places(ufunc, a, indices, b)
    else:
        _at_rows(ufunc, a, np.asarray(indices), b)


def _at_rows(ufunc, a, places, b):
    if places.dtype.kind == "b":
        _at_rows(ufunc, a, np.nonzero(places)[0], b)
        return
    check_places(np.ravel(places), a.shape[0], 0)  # all, before any is written to
    if a.ndim == 1:
        if b is None:
            for k in range(places.size):
                i = places.flat[k]
                a[i] = ufunc(a[i])
        else:
            more = np.broadcast_to(np.asarray(b), places.shape)
            for k in range(places.size):
                i = places.flat[k]
                a[i] = a.dtype.type(ufunc(a[i], more.flat[k]))  # cast whatever it is
    else:
        rows = places.reshape(places.size)
        if b is None:
            for k in range(rows.size):
                ufunc(a[rows[k], ...], a[rows[k], ...])
        else:
            whole = np.broadcast_to(np.asarray(b), places.shape + a.shape[1:])
            more = whole.reshape((rows.size,) + a.shape[1:])
            for k in range(rows.size):
                ufunc(a[rows[k], ...], more[k, ...], a[rows[k], ...], casting="unsafe")


def _at_places(ufunc, a, indices, b):
    if len(indices) != 2 or a.ndim != 2:
        raise IndexError("ufunc.at takes an index for each of two axes, or one array of places, in compiled code")
    first, second = np.broadcast_arrays(np.asarray(indices[0]), np.asarray(indices[1]))
    check_places(np.ravel(first), a.shape[0], 0)
    check_places(np.ravel(second), a.shape[1], 1)
    if b is None:
        for k in range(first.size):
            i, j = first.flat[k], second.flat[k]
            a[i, j] = ufunc(a[i, j])
    else:
        more = np.broadcast_to(np.asarray(b), first.shape)
        for k in range(first.size):
            i, j = first.flat[k], second.flat[k]
            a[i, j] = a.dtype.type(ufunc(a[i, j], more.flat[k]))
