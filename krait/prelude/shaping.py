"""NumPy's functions that give an array another shape: views where they can be, copies where not."""

import numpy as np

from krait.prelude import times
from krait.prelude.axes import check_axes, check_repeated
from krait.prelude.intrinsics import (
    axes_of,
    data_address,
    frozen,
    layout_of,
    other_axes,
    packed,
    python_number,
    reinterpreted,
    shape_text,
    strided,
    with_item,
    without_axis,
)


def copy(a, order="K"):
    new = np.empty_like(a, order=order)
    new[...] = a
    return new


def np_copy(a, order="K", subok=False):
    return copy(np.asarray(a), order)


def method_copy(a, order="C"):
    new = copy(a, order)
    if isinstance(a, np.void):
        return new[()]
    return new


def flatten(a, order="C"):
    return ravel(copy(a, order), order)


def as_elements(values, dtype):
    # Values to be stored among elements of that dtype: Python's own ints have to fit it, arrays are cast as they are.
    if dtype.kind == "i" or dtype.kind == "u":
        if isinstance(values, (list, tuple, int)):
            return np.asarray(values, dtype)
    return np.asarray(values)


def astype(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if not copy and np.dtype(dtype) == a.dtype:
        return a
    if isinstance(a, np.void):
        return astype(np.asarray(a), dtype, order, casting, subok, True)[()]
    new = np.empty_like(a, dtype, order)
    if times.is_time(a.dtype) or times.is_time(new.dtype):
        times.check_cast(a.dtype, new.dtype, casting)
        times.convert(new, a)
    elif casting != "unsafe":
        np.copyto(new, a, casting)
    elif a.dtype.kind == "c" and new.dtype.kind == "b":
        for i in range(a.size):
            new.flat[i] = a.flat[i] != 0
    elif a.dtype.kind == "c" and new.dtype.kind != "c":
        new[...] = a.real
    else:
        new[...] = a
    return new


def np_astype(x, dtype, *, copy=True):
    return x.astype(dtype, copy=copy)


def may_share_memory(a, b, max_work=0):
    if max_work is not None and max_work != 0:
        raise ValueError("compiled code compares bounds alone: max_work is 0")
    x = np.asarray(a)
    y = np.asarray(b)
    if x.size == 0 or y.size == 0:
        return False
    return first_byte(x) < past_last_byte(y) and first_byte(y) < past_last_byte(x)


def first_byte(a):
    address = data_address(a)
    for axis in range(a.ndim):
        if a.strides[axis] < 0:
            address += (a.shape[axis] - 1) * a.strides[axis]
    return address


def past_last_byte(a):
    address = data_address(a) + a.itemsize
    for axis in range(a.ndim):
        if a.strides[axis] > 0:
            address += (a.shape[axis] - 1) * a.strides[axis]
    return address


def lies_together(a, order):
    expected = a.itemsize
    if a.size == 0:
        return True
    for k in range(a.ndim):
        axis = k if order == "F" else a.ndim - 1 - k
        if a.shape[axis] != 1 and a.strides[axis] != expected:
            return False
        expected *= a.shape[axis]
    return True


def together(a, order):
    # A view on the elements if they lie in that order, else a copy.
    if layout_of(a) == order:
        return packed(a, a.shape, 0, order)
    if lies_together(a, order):
        return packed(a, a.shape, 0, order)
    return copy(a, order)


def contiguous(a, order):
    # What is no array of C or Fortran order by its type.
    if a.ndim == 0:
        return packed(a, 1, 0, "C")
    return together(a, order)


def check_order(order):
    # NumPy takes small letters too.
    if order != "C" and order != "F" and order != "A" and order != "K":
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")


def ravel(a, order="C"):
    check_order(order)
    a = np.asarray(a)
    if order != "F" and layout_of(a) == "C":
        return packed(a, -1, a.size, "C")
    if order == "F":
        return packed(together(a, "F"), -1, a.size, "C")
    if order == "A" or order == "K":
        if lies_together(a, "F") and not lies_together(a, "C"):
            return packed(together(a, "F"), -1, a.size, "C")
    return packed(together(a, "C"), -1, a.size, "C")


def whole_shape(size, shape):
    # The shape without a negative extent.
    known = 1
    unknown = 0
    for extent in shape:
        if extent < 0:
            unknown += 1
        else:
            known *= extent
    if unknown > 1:
        raise ValueError("can only specify one unknown dimension")
    if unknown == 0 and known == size:
        return shape
    if unknown == 0 or known == 0 or size % known != 0:
        cannot_reshape(size, shape)
    for axis in range(len(shape)):
        if shape[axis] < 0:
            shape = with_item(shape, axis, size // known)
    return shape


def cannot_reshape(size, shape):
    if len(shape) > 1:
        check_unknown(size, (), shape)
    raise ValueError(f"cannot reshape array of size {size} into shape {shape_text(shape)}")


def check_unknown(size, before, after):
    # Whether the extent that is to be found, which is none, is among those after.
    if after[0] < 0:
        raise ValueError(f"cannot reshape array of size {size} into shape {shape_text(before, after[1:])}")
    if len(after) > 1:
        check_unknown(size, before + after[:1], after[1:])


def reshape(a, shape, order="C", copy=None):
    a = np.asarray(a)
    if not isinstance(shape, tuple):
        return reshape(a, (shape,), order, copy)
    if copy is None:
        return reshape_whole(a, whole_shape(a.size, shape), order)
    return reshape_asked(a, whole_shape(a.size, shape), order, copy)


def reshape_asked(a, shape, order, copies):
    # Where the call says whether it is a copy: always, or never.
    if order == "A":
        if lies_together(a, "F") and not lies_together(a, "C"):
            return reshape_asked(a, shape, "F", copies)
        return reshape_asked(a, shape, "C", copies)
    if copies:
        return reshape_whole(copy(a, order), shape, order)
    if not lies_together(a, order) and not strides_for(a, shape, order)[0]:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return reshape_whole(a, shape, order)


def reshape_whole(a, shape, order):
    if order == "A":
        return reshape_whole(a, shape, layout_of(a))
    if order == "F":
        if layout_of(a) == "F" or a.ndim < 2 and layout_of(a) == "C":
            return packed(a, shape, 0, "F")
        if len(shape) == 1:
            return packed(together(a, "F"), shape, 0, "C")
        return restrided(a, shape, "F")
    if layout_of(a) == "C":
        return packed(a, shape, 0, "C")
    return restrided(a, shape, "C")


def restrided(a, shape, order):
    # A view whose strides, if there are such, reach the elements in that order.
    if lies_together(a, order):
        return strided(packed(a, shape, 0, order), 0, shape, packed(a, shape, 0, order).strides)
    found, strides = strides_for(a, shape, order)
    if found:
        return strided(a, 0, shape, strides)
    return packed(copy(a, order), shape, 0, order)


def strides_for(a, new_shape, order):
    # Runs of old axes and of new axes with the same number of elements correspond; the old ones of each run must lie
    # together.  Axes of length one reach nothing; one more stands at the end.
    old, steps, count = a.shape + (1,), a.strides + (0,), 0
    shape = new_shape + (1,)
    for axis in range(a.ndim):
        if a.shape[axis] != 1:
            old = with_item(old, count, a.shape[axis])
            steps = with_item(steps, count, a.strides[axis])
            count += 1
    strides = new_shape
    new_from, new_to, old_from, old_to = 0, 1, 0, 1
    while new_from < len(new_shape) and old_from < count:
        new_size, old_size = shape[new_from], old[old_from]
        while new_size != old_size:
            if new_size < old_size:
                new_size *= shape[new_to]
                new_to += 1
            else:
                old_size *= old[old_to]
                old_to += 1
        for axis in range(old_from, old_to - 1):
            if order == "C" and steps[axis] != old[axis + 1] * steps[axis + 1]:
                return False, strides
            if order == "F" and steps[axis + 1] != old[axis] * steps[axis]:
                return False, strides
        if order == "C":
            strides = with_item(strides, new_to - 1, steps[old_to - 1])
            for axis in range(new_to - 1, new_from, -1):
                strides = with_item(strides, axis - 1, strides[axis] * shape[axis])
        else:
            strides = with_item(strides, new_from, steps[old_from])
            for axis in range(new_from + 1, new_to):
                strides = with_item(strides, axis, strides[axis - 1] * shape[axis - 1])
        new_from, new_to, old_from, old_to = new_to, new_to + 1, old_to, old_to + 1
    last = a.itemsize
    if new_from > 0:
        last = strides[new_from - 1] if order == "C" else strides[new_from - 1] * shape[new_from - 1]
    for axis in range(new_from, len(new_shape)):
        strides = with_item(strides, axis, last)
    return True, strides


def method_reshape(a, *shape, order="C", copy=None):
    if len(shape) == 1:
        return reshape(a, shape[0], order, copy)
    return reshape(a, shape, order, copy)


def squeeze(a, axis):
    if axis is None:
        return np.squeeze(a)
    if isinstance(axis, tuple):
        check_axes(axis, a.ndim)
        kept = other_axes(axes_of(axis, a.ndim), a.ndim)
        return squeeze_axes(a, other_axes(kept, a.ndim))
    if a.shape[axis] != 1:
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return without_axis(a, axis)


def squeeze_axes(a, axes):
    # From the last one on: those before it keep their numbers.
    if len(axes) == 0:
        return a
    return squeeze_axes(squeeze(a, axes[len(axes) - 1]), axes[: len(axes) - 1])


def view(a, dtype=None):
    if isinstance(a, np.void) and (dtype is None or np.dtype(dtype) == a.dtype):
        return a
    if dtype is None:
        return a[...]
    old = a.itemsize
    new = np.dtype(dtype).itemsize
    if old == new:
        if a.ndim == 0:
            return reinterpreted(a, dtype, 1)
        return reinterpreted(a, dtype, a.shape[-1])
    if a.ndim == 0:
        raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    if a.strides[-1] != old and a.shape[-1] != 1 and a.size != 0:
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if new > old and a.shape[-1] * old % new != 0:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the "
            "last axis of the array."
        )
    if new < old and old % new != 0:
        raise ValueError("When changing to a smaller dtype, its size must be a divisor of the size of original dtype")
    return reinterpreted(a, dtype, a.shape[-1] * old // new)


def fill(a, value):
    a[...] = value


def item(a, *index):
    if len(index) == 0:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return python_number(a.flat[0])
    if len(index) == 1:
        if isinstance(index[0], tuple):
            return python_number(a[index[0]])
        if a.ndim == 1:
            return python_number(a[index[0]])
        return python_number(a.flat[index[0]])
    return python_number(a[index])


def merged_shape(s, t):
    # What two shapes are broadcast to, if both fit it.
    if len(s) < len(t):
        return merged_shape(t, s)
    for i in range(len(t)):
        k = len(s) - len(t) + i
        if s[k] == 1:
            s = with_item(s, k, t[i])
    return s


def fits_shape(s, shape):
    for i in range(len(s)):
        if s[i] != 1 and s[i] != shape[len(shape) - len(s) + i]:
            return False
    return True


def broadcast_to(array, shape, subok=False):
    array = np.asarray(array)
    if not isinstance(shape, tuple):
        return broadcast_to(array, (shape,))
    new = len(shape) - array.ndim
    if new < 0:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    strides = shape
    for axis in range(len(shape)):
        strides = with_item(strides, axis, 0)
    for axis in range(array.ndim):
        if array.shape[axis] != shape[new + axis] and array.shape[axis] != 1:
            raise ValueError(
                "operands could not be broadcast together with remapped shapes [original->remapped]: "
                f"{shape_text(array.shape)}  and requested shape {shape_text(shape)}"
            )
        if array.shape[axis] != 1:
            strides = with_item(strides, new + axis, array.strides[axis])
    for extent in shape:
        if extent < 0:
            raise ValueError("all elements of broadcast shape must be non-negative")
    return frozen(strided(array, 0, shape, strides))


def flip(m, axis=None):
    m = np.asarray(m)
    if m.ndim == 0 and axis is None:
        return m[()]
    if axis is None:
        return strided(m, far_corner(m), m.shape, negated(m.strides))
    if isinstance(axis, tuple):
        return flip_axes(m, axis)
    return flip_axes(m, (axis,))


def flip_axes(m, axes):
    check_repeated(axes, m.ndim)
    offset, strides = 0, m.strides
    for axis in axes:
        offset += max(m.shape[axis] - 1, 0) * m.strides[axis]
        strides = with_item(strides, axis % m.ndim, -m.strides[axis])
    return strided(m, offset, m.shape, strides)


def far_corner(m):
    offset = 0
    for axis in range(m.ndim):
        offset += max(m.shape[axis] - 1, 0) * m.strides[axis]
    return offset


def negated(strides):
    for axis in range(len(strides)):
        strides = with_item(strides, axis, -strides[axis])
    return strides


def fliplr(m):
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


def flipud(m):
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1, ...]


# ---- of several arrays, a tuple of what they are ----


def atleast_1d(*arys):
    if len(arys) == 1:
        return with_one_axis(np.asarray(arys[0]))
    return each_with(with_one_axis, arys)


def atleast_2d(*arys):
    if len(arys) == 1:
        return with_two_axes(np.asarray(arys[0]))
    return each_with(with_two_axes, arys)


def atleast_3d(*arys):
    if len(arys) == 1:
        return with_three_axes(np.asarray(arys[0]))
    return each_with(with_three_axes, arys)


def each_with(f, arrays):
    if len(arrays) == 0:
        return ()
    return (f(np.asarray(arrays[0])),) + each_with(f, arrays[1:])


def with_one_axis(a):
    if a.ndim == 0:
        return reshape(a, 1)
    return a


def with_two_axes(a):
    if a.ndim < 2:
        return with_one_axis(a)[None, :]
    return a


def with_three_axes(a):
    if a.ndim < 3:
        return with_two_axes(a)[:, :, None]
    return a
