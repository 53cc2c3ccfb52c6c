"""Sums of arrays: of all elements or along an axis, added in the order in which NumPy adds, so that they are rounded
alike."""

import numpy as np

from krait import _krait
from krait.prelude.axes import check_axes
from krait.prelude.intrinsics import (
    axes_of,
    counted,
    folded,
    layout_of,
    numpy_loop,
    other_axes,
    packed,
    strided,
    with_item,
)
from krait.prelude.shaping import lies_together, together

_krait.bind_numpy_loops("add", np.add)

BLOCK = 128  # terms that are added four at a time, real and imaginary parts
BUFFER = 8192  # elements that are converted or copied at once


# ---- what is added in pairs ----


def sum_of_complex_block(x):
    r0 = x[0]
    r1 = x[1]
    r2 = x[2]
    r3 = x[3]
    n = len(x)
    for i in range(4, n - 3, 4):
        r0 += x[i]
        r1 += x[i + 1]
        r2 += x[i + 2]
        r3 += x[i + 3]
    total = (r0 + r1) + (r2 + r3)
    for i in range(n - n % 4, n):
        total += x[i]
    return total


def sum_of_few_complex(x):
    total = x.dtype.type(complex(-0.0, -0.0))
    for i in range(len(x)):
        total = total + x[i]
    return total


def sum_in_complex_pairs(x):
    # NumPy counts real and imaginary parts.
    n = len(x)
    if n < 4:
        return sum_of_few_complex(x)
    if n <= BLOCK // 2:
        return sum_of_complex_block(x)
    half = n
    half -= half % 8
    half //= 2
    return sum_in_complex_pairs(x[:half]) + sum_in_complex_pairs(x[half:])


def sum_converted(x, dtype):
    total = np.dtype(dtype).type(-0.0)
    for start in range(0, len(x), BUFFER):
        total = total + sum_of_line(x[start : start + BUFFER].astype(dtype), dtype)
    return total


def sum_of_line(x, dtype):
    # Of an array of one axis.
    if is_folded(x, dtype):
        return sum_folded(x, dtype)
    if x.dtype == dtype:
        return sum_in_complex_pairs(x)
    return sum_converted(x, dtype)


def is_folded(a, dtype):
    # Whether it is one sum: neither of complex numbers nor of floats that are converted, some at a time.
    kind = np.dtype(dtype).kind
    return kind != "c" and (kind != "f" or a.dtype == dtype)


def is_plain_float(a, dtype):
    return a.dtype == dtype and (np.dtype(dtype) == np.float32 or np.dtype(dtype) == np.float64)


def sum_folded(a, dtype):
    if np.dtype(dtype) == np.float16:
        return np.float16(folded("sum", a, np.float32))
    return folded("sum", a, dtype)


# ---- the order of elements in memory ----


def line_of(a):
    # All elements as one axis, in the order in which they lie; a copy where they do not lie together.
    if layout_of(a) == "C":
        return a if a.ndim == 1 else packed(a, -1, a.size, "C")
    if layout_of(a) == "F":
        return packed(a, -1, a.size, "C") if a.ndim < 2 else packed(a.T, -1, a.size, "C")
    return packed(together(a, "C"), -1, a.size, "C")


def memory_order(a):
    # The axes in the order of their strides, as NumPy walks through an array: those of length one and those that repeat
    # their elements stay where they are, and of equal strides the first comes first.
    order = counted(0, a.ndim)
    for i in range(a.ndim - 2, -1, -1):
        place = i
        for k in range(i + 1, a.ndim):
            if moves(a, i) and moves(a, order[k]):
                if abs(a.strides[order[k]]) <= abs(a.strides[i]):
                    break
                place = k
        for k in range(i, place):
            order = with_item(with_item(order, k, order[k + 1]), k + 1, order[k])
    return order


def moves(a, axis):
    return a.shape[axis] > 1 and a.strides[axis] != 0


def by_memory(a):
    shape, strides, order = a.shape, a.strides, memory_order(a)
    for i in range(a.ndim):
        shape = with_item(shape, i, a.shape[order[i]])
        strides = with_item(strides, i, a.strides[order[i]])
    return strided(a, 0, shape, strides)


def laid_out_as(a, values):
    # The values, of the shape of a, in memory as NumPy lays out what it computes of a.
    new = np.empty(a.shape, values.dtype)
    strides, order, step = new.strides, memory_order(a), new.itemsize
    for i in range(a.ndim - 1, -1, -1):
        strides = with_item(strides, order[i], step)
        step *= a.shape[order[i]]
    new = strided(new, 0, a.shape, strides)
    new[...] = values
    return new


def joined(a):
    # A view of the same elements whose last axes are those that cannot be walked through as one; the others have
    # length one.
    shape, strides = a.shape, a.strides
    last = a.ndim - 1
    for i in range(a.ndim - 2, -1, -1):
        if shape[i] != 1:
            if shape[last] == 1:
                shape, strides = with_item(shape, last, shape[i]), with_item(strides, last, strides[i])
            elif strides[i] == strides[last] * shape[last]:
                shape = with_item(shape, last, shape[i] * shape[last])
            else:
                last -= 1
                shape = with_item(shape, last, shape[i])
                strides = with_item(strides, last, strides[i])
            if i != last:
                shape = with_item(shape, i, 1)
    return strided(a, 0, shape, strides)


# ---- of all elements ----


def sum_type(a, dtype):
    if dtype is not None:
        return np.dtype(dtype)
    if a.dtype.kind == "b" or a.dtype.kind == "i":
        return np.dtype(np.int64)
    if a.dtype.kind == "u":
        return np.dtype(np.uint64)
    return a.dtype


def add_parts(total, a, dtype):
    # NumPy adds up together what it copies together: as many whole parts as its buffer has room for, or a line.
    if a.ndim == 1:
        return plus_line(total, a, dtype)
    part = a[0].size
    if part > BUFFER or len(a) == 1:
        for i in range(len(a)):
            total = add_parts(total, a[i], dtype)
        return total
    room = BUFFER // part
    for start in range(0, len(a), room):
        total = plus_line(total, line_of(a[start : start + room]), dtype)
    return total


def plus_line(total, x, dtype):
    if np.dtype(dtype) == np.float16:
        return np.float16(np.float32(total) + folded("sum", x, np.float32))
    return total + sum_of_line(x, dtype)


def sum_of_all(a, dtype):
    if a.ndim == 0:
        return dtype.type(a[()])
    if a.ndim == 1:
        return sum_of_line(a, dtype)
    if is_folded(a, dtype) and (layout_of(a) == "C" or dtype.kind != "f"):
        return sum_folded(a, dtype)
    if layout_of(a) != "A" or a.size == 0 or lies_together(a, "C"):
        return sum_of_line(line_of(a), dtype)
    return add_parts(dtype.type(-0.0), joined(by_memory(a)), dtype)


# ---- along an axis ----


def is_innermost(a, axis):
    # Whether the elements along the axis lie closest together.
    if layout_of(a) != "A":
        return a.strides[axis] == a.itemsize
    step = abs(a.strides[axis])
    if step == 0:  # its elements are repeated: it stays where it is
        for i in range(axis % a.ndim + 1, a.ndim):
            if a.shape[i] > 1:
                return False
        return True
    for i in range(a.ndim):
        if abs(a.strides[i]) < step and a.shape[i] > 1:
            return False
    return True


def fill_rows(row, a, out):
    # out[...] = row(a[..., :])
    if a.ndim == 1:
        out[...] = row(a)
    else:
        for i in range(a.shape[0]):
            fill_rows(row, a[i], out[i, ...])


def sum_short_rows(a, out):
    # Of fewer than eight elements, which are added up one after the other.
    for i in range(a.shape[0]):
        total = out.dtype.type(-0.0)
        for j in range(a.shape[1]):
            total += a[i, j]
        out[i] = total


def sum_rows(a, out):
    if a.ndim == 1:
        out[...] = sum_of_line(a, out.dtype)
    elif a.ndim == 2 and is_plain_float(a, out.dtype) and a.shape[1] < 8:
        sum_short_rows(a, out)
    else:
        for i in range(a.shape[0]):
            sum_rows(a[i], out[i, ...])


def without(a, axis, dtype):
    return np.empty(np.moveaxis(a, axis, 0).shape[1:], dtype)


def sum_single_columns(a, out):
    # Of arrays in C order whose axes behind the one that goes are of length one: NumPy's own loop, for what is rare.
    count = a.size // out.size
    line, place = packed(a, -1, a.size, "C"), packed(out, -1, out.size, "C")
    for i in range(out.size):
        to = place[i : i + 1]
        to[0] = -0.0
        numpy_loop("add", (count,), (0, a.itemsize, 0), 2, to, line[i * count :], to)


def sum_along(a, axis, dtype):
    total = without(a, axis, dtype)
    if is_rounded(a, np.dtype(dtype)) and layout_of(a) == "C" and (axis == a.ndim - 1 or axis == -1):
        sum_rows(a, total)
        return total
    if is_plain_float(a, dtype) and layout_of(a) == "C":
        if is_innermost(a, axis) and a.size > 0:
            sum_single_columns(a, total)
            return total
    elif (np.dtype(dtype).kind == "f" or np.dtype(dtype).kind == "c") and is_innermost(a, axis):
        sum_rows(np.moveaxis(a, axis, -1), total)
        return total
    total[...] = 0
    slices = np.moveaxis(a, axis, 0)
    for i in range(slices.shape[0]):
        if a.dtype == np.dtype(dtype):
            total += slices[i]
        else:
            total += slices[i].astype(dtype)
    return total


# ---- along several axes, but not all ----


def add_over(out, a, inner, dtype):
    # out[...] += a, where the last `inner` axes are added up first.
    if a.ndim == inner:
        place = strided(out, 0, (1,), (0,))
        place[0] = add_parts(place[0], joined(a), dtype)
        return
    if a.ndim == 1:
        out += a
    else:
        for i in range(a.shape[0]):
            add_over(out[i], a[i], inner, dtype)


def sum_over(a, axes, dtype, initial):
    # NumPy walks through the array as it lies in memory: what lies innermost and is reduced is added up before it is
    # added to the result, which repeats its elements along the reduced axes.
    kept = other_axes(axes, a.ndim)
    total = np.full(np.transpose(a, kept + axes).shape[: a.ndim - len(axes)], initial, dtype)
    steps, order = a.strides, memory_order(a)
    for i in range(len(axes)):
        steps = with_item(steps, axes[i], 0)
    for i in range(len(kept)):
        steps = with_item(steps, kept[i], total.strides[i])
    shape, strides = a.shape, steps
    for i in range(a.ndim):
        shape, strides = with_item(shape, i, a.shape[order[i]]), with_item(strides, i, steps[order[i]])
    inner = 0
    while inner < a.ndim and (shape[a.ndim - 1 - inner] == 1 or strides[a.ndim - 1 - inner] == 0):
        inner += 1
    if a.size > 0:
        add_over(strided(total, 0, shape, strides), by_memory(a), inner, dtype)
    return total


def sum_of_axes(a, axis, dtype, initial):
    check_axes(axis, a.ndim)
    return sum_over(a, axes_of(axis, a.ndim), dtype, initial)


def is_rounded(a, dtype):
    # Whether the order of its sums shows: of floats as they are.
    return (dtype.kind == "f" or dtype.kind == "c") and a.dtype == dtype
