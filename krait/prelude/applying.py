"""Functions of lines, arrays of what is iterated over, running sums with what they begin from, conjugates."""

import numpy as np

from krait.prelude.intrinsics import with_item


# ---- a function of each line ----


def apply_along_axis(func1d, axis, arr, *args):
    lines = np.moveaxis(np.asarray(arr), axis, -1)
    shape = lines.shape[:-1]
    for extent in shape:
        if extent == 0:
            raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = np.asarray(func1d(_line(lines, np.ndindex(shape)), *args))
    new = np.empty(shape + first.shape, first.dtype)
    for place in np.ndindex(shape):
        new[place] = func1d(lines[place], *args)
    if first.ndim == 0:
        return new
    if first.ndim == 1:
        return np.moveaxis(new, -1, axis)
    raise ValueError("functions whose results have more than one axis are not applied in compiled code")


def _line(lines, places):
    for place in places:
        return lines[place]
    raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")


# ---- a function along several axes, one after the other ----


def apply_over_axes(func, a, axes):
    a = np.asarray(a)
    return _over_axes(func, a, axes if isinstance(axes, tuple) else (axes,))


def _over_axes(func, a, axes):
    if len(axes) == 0:
        return a
    axis = axes[0] + a.ndim if axes[0] < 0 else axes[0]
    result = np.asarray(func(a, axis))
    if result.ndim == a.ndim:
        return _over_axes(func, result, axes[1:])
    result = np.expand_dims(result, axis)
    if result.ndim != a.ndim:
        raise ValueError("function is not returning an array of the correct shape")
    return _over_axes(func, result, axes[1:])


# ---- one of several functions ----


def call_chosen(which, functions, args):
    if len(functions) == 1 or which == 0:
        return functions[0](*args)
    return call_chosen(which - 1, functions[1:], args)


# ---- what is iterated over ----


def fromiter(iter, dtype, count=-1):
    kind = np.dtype(dtype).type
    items = [kind(0) for _ in range(0)]
    for item in iter:
        if len(items) == count:
            break
        items.append(kind(item))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return np.array(items, dtype)


# ---- running sums and products ----


def cumulative_sum(x, axis=None, dtype=None, out=None, include_initial=False):
    if axis is None:
        return cumulative_sum(_line_of(x), 0, dtype, out, include_initial)
    if include_initial:
        return _behind(np.cumsum(x, axis, dtype), 0, axis, out)
    return np.cumsum(x, axis, dtype, out)


def cumulative_prod(x, axis=None, dtype=None, out=None, include_initial=False):
    if axis is None:
        return cumulative_prod(_line_of(x), 0, dtype, out, include_initial)
    if include_initial:
        return _behind(np.cumprod(x, axis, dtype), 1, axis, out)
    return np.cumprod(x, axis, dtype, out)


def _line_of(x):
    a = np.atleast_1d(x)
    if a.ndim > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return a


def _behind(sums, first, axis, out):
    # The sums, with what they begin from before them.
    if out is None:
        new = np.empty(with_item(sums.shape, axis % sums.ndim, sums.shape[axis] + 1), sums.dtype)
        return _put_behind(new, sums, first, axis)
    return _put_behind(out, sums, first, axis)


def _put_behind(new, sums, first, axis):
    lines = np.moveaxis(new, axis, 0)
    lines[0] = first
    lines[1:] = np.moveaxis(sums, axis, 0)
    return new


# ---- conjugates ----


def conj(a):
    if a.dtype.kind == "c":
        return np.conjugate(a)
    return a


# ---- f(*x), where x has any length ----


def check_count(items, name, names, most):
    if len(items) > most:
        some = "argument" if most == 1 else "arguments"
        were = "was" if len(items) == 1 else "were"
        count = f"{most}" if len(names) == most else f"from {len(names)} to {most}"
        raise TypeError(f"{name}() takes {count} positional {some} but {len(items)} {were} given")
    check_least(items, name, names)


def check_least(items, name, names):
    if len(items) < len(names):
        missing = [f"'{each}'" for each in names][len(items):]
        words = missing[0]
        if len(missing) == 2:
            words = f"{missing[0]} and {missing[1]}"
        elif len(missing) > 2:
            words = f"{', '.join(missing[:-1])}, and {missing[-1]}"
        some = "argument" if len(missing) == 1 else "arguments"
        raise TypeError(f"{name}() missing {len(missing)} required positional {some}: {words}")


def item_or(items, i, default):
    return items[i] if i < len(items) else default


def print_all(items, *, sep=" ", end="\n"):
    print(sep.join([str(item) for item in items]), end=end)
