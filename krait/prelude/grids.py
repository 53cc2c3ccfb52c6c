"""NumPy's functions of places: grids of coordinates, triangles, diagonals, windows on arrays."""

import array

import numpy as np
from numpy.exceptions import AxisError

from krait.prelude.axes import check_repeated
from krait.prelude.creation import near_diagonal
from krait.prelude.intrinsics import counted, frozen, layout_of, reinterpreted, strided, with_item
from krait.prelude.joining import axis_of, part
from krait.prelude.shaping import as_elements, fits_shape, lies_together, merged_shape

# ---- shapes ----


def joint_shape(s, t):
    # What two shapes are broadcast to.
    shape = merged_shape(s, t)
    if not fits_shape(s, shape) or not fits_shape(t, shape):
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    return shape


def broadcast_shapes(*shapes):
    if len(shapes) == 0:
        return ()
    if len(shapes) == 1:
        return shapes[0] if isinstance(shapes[0], tuple) else (shapes[0],)
    first = shapes[0] if isinstance(shapes[0], tuple) else (shapes[0],)
    return joint_shape(first, broadcast_shapes(*shapes[1:]))


def broadcast_arrays(*args, subok=False):
    return _broadcast_all(args, _shape_of_all(args))


def _shape_of_all(arrays):
    if len(arrays) == 0:
        return ()
    return joint_shape(np.asarray(arrays[0]).shape, _shape_of_all(arrays[1:]))


def _broadcast_all(arrays, shape):
    if len(arrays) == 0:
        return ()
    return (_repeated(np.asarray(arrays[0]), shape),) + _broadcast_all(arrays[1:], shape)


def _repeated(array, shape):
    repeated = np.broadcast_to(array, shape)
    return strided(array, 0, shape, repeated.strides)


# ---- grids ----


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    swap = indexing == "xy" and len(xi) > 1
    shape = _sizes(xi)
    if swap:
        shape = with_item(with_item(shape, 0, np.asarray(xi[1]).size), 1, np.asarray(xi[0]).size)
    return _grids(xi, xi, shape, copy, sparse, swap)


def _sizes(arrays):
    if len(arrays) == 0:
        return ()
    return (np.asarray(arrays[0]).size,) + _sizes(arrays[1:])


def _grids(rest, xi, shape, copy, sparse, swap):
    # Those of the arrays that are left; the first of them lies along this axis.
    if len(rest) == 0:
        return ()
    axis = len(xi) - len(rest)
    if swap and axis < 2:
        axis = 1 - axis
    x = np.asarray(rest[0])
    x = x if x.ndim == 1 else np.ravel(x)
    own = shape
    strides = shape
    for i in range(len(shape)):
        own = with_item(own, i, x.size if i == axis else 1)
        strides = with_item(strides, i, x.strides[0] if i == axis else 0)
    grid = strided(x, 0, own if sparse else shape, strides)
    rest_of_them = _grids(rest[1:], xi, shape, copy, sparse, swap)
    if copy:
        return (np.copy(grid, "C"),) + rest_of_them
    return (grid,) + rest_of_them


def indices(dimensions, dtype=int, sparse=False):
    if sparse:
        return _open_indices(dimensions, dimensions, dtype)
    grid = np.empty((len(dimensions),) + dimensions, dtype)
    for axis in range(len(dimensions)):
        _count(grid[axis], axis)
    return grid


def _count(grid, axis):
    for i in range(grid.shape[axis]):
        part(grid, axis, i, 1)[...] = i


def _open_indices(rest, dimensions, dtype):
    if len(rest) == 0:
        return ()
    axis = len(dimensions) - len(rest)
    shape = dimensions
    for i in range(len(dimensions)):
        shape = with_item(shape, i, dimensions[i] if i == axis else 1)
    return (np.arange(rest[0], dtype=dtype).reshape(shape),) + _open_indices(rest[1:], dimensions, dtype)


# ---- triangles, diagonals ----


def _triangle(n, m, k, upper):
    # Places at and below, or at and above, a diagonal.
    k = near_diagonal(k, n, m)
    count = 0
    for i in range(n):
        low = max(min(i + k, m), 0) if upper else 0
        high = m if upper else max(min(i + k + 1, m), 0)
        count += high - low
    rows = np.empty(count, np.int64)
    columns = np.empty(count, np.int64)
    at = 0
    for i in range(n):
        low = max(min(i + k, m), 0) if upper else 0
        high = m if upper else max(min(i + k + 1, m), 0)
        for j in range(low, high):
            rows[at] = i
            columns[at] = j
            at += 1
    return rows, columns


def tril_indices(n, k=0, m=None):
    return _triangle(n, n if m is None else m, k, False)


def triu_indices(n, k=0, m=None):
    return _triangle(n, n if m is None else m, k, True)


def mask_indices(n, mask_func, k=0):
    return np.nonzero(mask_func(np.ones((n, n), np.int64), k) != 0)


def tril_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _triangle(arr.shape[0], arr.shape[1], k, False)


def triu_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _triangle(arr.shape[0], arr.shape[1], k, True)


def diag_indices(n, ndim=2):
    return (np.arange(n),) * len(counted(0, ndim))  # counted: its operands are constants, so the length is known


def diag_indices_from(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for i in range(1, arr.ndim):
        if arr.shape[i] != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    for i in range(1, a.ndim):
        if a.ndim > 2 and a.shape[i] != a.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    step = 0
    least = a.shape[0]
    for i in range(a.ndim):
        step += a.strides[i]
        least = min(least, a.shape[i])
    values = np.ravel(as_elements(val, a.dtype))
    if values.size > 0:
        _set_in_turn(strided(a, 0, least, step), values, 0)
        if wrap and a.ndim == 2:
            start = least + 1
            at = least
            while start < a.shape[0]:
                length = min(a.shape[1], a.shape[0] - start)
                _set_in_turn(strided(a, start * a.strides[0], length, step), values, at)
                start += a.shape[1] + 1
                at += length


def _set_in_turn(line, values, first):
    for i in range(len(line)):
        line[i] = values[(first + i) % len(values)]


def diagonal(a, offset=0, axis1=0, axis2=1):
    a = np.asarray(a)
    first = axis_of(axis1, a.ndim)
    second = axis_of(axis2, a.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    offset = near_diagonal(offset, a.shape[first], a.shape[second])
    rows = max(0, -offset)
    columns = max(0, offset)
    n = max(0, min(a.shape[first] - rows, a.shape[second] - columns))
    start = rows * a.strides[first] + columns * a.strides[second] if n > 0 else 0
    shape = a.shape[1:]
    strides = a.strides[1:]
    at = 0
    for i in range(a.ndim):
        if i != first and i != second:
            shape = with_item(shape, at, a.shape[i])
            strides = with_item(strides, at, a.strides[i])
            at += 1
    shape = with_item(shape, at, n)
    strides = with_item(strides, at, a.strides[first] + a.strides[second])
    return frozen(strided(a, start, shape, strides))


# ---- turning, moving, cutting ----


def rot90(m, k=1, axes=(0, 1)):
    m = np.asarray(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first = axis_of(axes[0], m.ndim)
    second = axis_of(axes[1], m.ndim)
    if first == second:
        raise ValueError("Axes must be different.")
    k %= 4
    shape, strides, start = m.shape, m.strides, 0
    if k == 1 or k == 2:
        start += max(m.shape[second] - 1, 0) * m.strides[second]
        strides = with_item(strides, second, -strides[second])
    if k == 2 or k == 3:
        start += max(m.shape[first] - 1, 0) * m.strides[first]
        strides = with_item(strides, first, -strides[first])
    if k % 2 == 1:
        shape = with_item(with_item(shape, first, m.shape[second]), second, m.shape[first])
        strides = with_item(with_item(strides, first, strides[second]), second, strides[first])
    return strided(m, start, shape, strides)


def rollaxis(a, axis, start=0):
    axis = axis_of(axis, a.ndim)
    if start < -a.ndim or start > a.ndim:
        raise AxisError(f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in")
    if start < 0:
        start += a.ndim
    if axis < start:
        start -= 1
    shape, strides = a.shape, a.strides
    source = 0
    for i in range(a.ndim):
        if source == axis:
            source += 1
        if i == start:
            shape = with_item(shape, i, a.shape[axis])
            strides = with_item(strides, i, a.strides[axis])
        else:
            shape = with_item(shape, i, a.shape[source])
            strides = with_item(strides, i, a.strides[source])
            source += 1
    return strided(a, 0, shape, strides)


def dsplit(ary, indices_or_sections):
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return np.split(ary, indices_or_sections, 2)


def trim_zeros(filt, trim="fb", axis=None):
    front = trim == "fb" or trim == "bf" or trim == "f" or trim == "FB" or trim == "F" or trim == "BF"
    back = trim == "fb" or trim == "bf" or trim == "b" or trim == "FB" or trim == "B" or trim == "BF"
    if not front and not back:
        raise ValueError(f"unexpected character(s) in `trim`: '{trim}'")
    if not isinstance(filt, np.ndarray):
        first, last = _bounds(filt, front, back)
        return filt[first:last]
    if axis is None:
        return _trimmed(filt, filt, front, back, counted(0, filt.ndim))
    if not isinstance(axis, tuple):
        return trim_zeros(filt, trim, (axis,))
    check_repeated(axis, filt.ndim, "axis")
    return _trimmed(filt, filt, front, back, axis)


def _trimmed(a, left, front, back, axes):
    # What is left of a when the slices that hold but zeros are cut off at the ends of each of the axes.
    if len(axes) == 0:
        return left
    axis = axis_of(axes[0], a.ndim)
    lines = np.moveaxis(a, axis, 0)
    held = np.empty(len(lines), np.bool_)
    for i in range(len(lines)):
        held[i] = np.any(lines[i, ...] != 0)
    first, last = _bounds(held, front, back)
    start = first * a.strides[axis] if last > first else 0
    kept = strided(left, start, with_item(left.shape, axis, last - first), left.strides)
    return _trimmed(a, kept, front, back, axes[1:])


def _bounds(a, front, back):
    first = 0
    last = len(a)
    while front and first < last and a[first] == 0:
        first += 1
    while back and first < last and a[last - 1] == 0:
        last -= 1
    return first, last


def resize(a, new_shape):
    if not isinstance(new_shape, tuple):
        return resize(a, (new_shape,))
    x = np.ravel(np.asarray(a))
    for extent in new_shape:
        if extent < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    new = np.zeros(new_shape, x.dtype)
    if x.size > 0:
        _set_in_turn(np.ravel(new), x, 0)
    return new


# ---- views ----


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    if shape is None:
        return as_strided(x, x.shape, strides, subok, writeable)
    if strides is None:
        return as_strided(x, shape, x.strides, subok, writeable)
    if not writeable:
        return frozen(strided(x, 0, shape, strides))
    return strided(x, 0, shape, strides)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    if writeable:
        return _windows_of(x, window_shape, axis)
    return frozen(_windows_of(x, window_shape, axis))


def _windows_of(x, window_shape, axis):
    x = np.asarray(x)
    if not isinstance(window_shape, tuple):
        return _windows_of(x, (window_shape,), axis)
    if axis is None:
        if len(window_shape) != x.ndim:
            raise ValueError(
                "Since axis is None, must provide window_shape for all dimensions of `x`; got "
                f"{len(window_shape)} window_shape elements and `x.ndim` is {x.ndim}."
            )
        places = window_shape
        for i in range(len(window_shape)):
            places = with_item(places, i, i)
        return _windows(x, window_shape, places)
    if not isinstance(axis, tuple):
        return _windows_of(x, window_shape, (axis,))
    if len(window_shape) != len(axis):
        raise ValueError(
            "Must provide matching length window_shape and axis; got "
            f"{len(window_shape)} window_shape elements and {len(axis)} axes elements."
        )
    return _windows(x, window_shape, axis)


def _windows(x, window_shape, axes):
    shape = x.shape + window_shape
    strides = x.strides + window_shape
    for i in range(len(window_shape)):
        axis = axis_of(axes[i], x.ndim)
        if window_shape[i] < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        left = shape[axis] - (window_shape[i] - 1)
        if left <= 0:
            raise ValueError("window shape cannot be larger than input array shape")
        shape = with_item(shape, axis, left)
        strides = with_item(strides, x.ndim + i, x.strides[axis])
    return strided(x, 0, shape, strides)


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    if isinstance(buffer, bytes):
        return frozen(frombuffer(np.array(list(buffer), np.uint8), dtype, count, offset))
    if isinstance(buffer, (bytearray, memoryview, array.array)):
        if not lies_together(buffer._array, "C"):
            raise BufferError("memoryview: underlying buffer is not C-contiguous")
        if isinstance(buffer, bytearray):
            buffer._fixed = True
        return frombuffer(buffer._array, dtype, count, offset)
    if layout_of(buffer) != "C" and not lies_together(buffer, "C"):
        raise ValueError("ndarray is not C-contiguous")
    data = np.ravel(buffer)
    whole = reinterpreted(data, np.uint8, data.size * data.itemsize)
    size = np.dtype(dtype).itemsize
    if offset < 0 or offset > whole.size:
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({whole.size})")
    left = whole.size - offset
    if count < 0:
        if left % size != 0:
            raise ValueError("buffer size must be a multiple of element size")
        return reinterpreted(whole[offset:], dtype, left // size)
    if count * size > left:
        raise ValueError("buffer is smaller than requested size")
    return reinterpreted(whole[offset : offset + count * size], dtype, count)


def asarray_chkfinite(a, dtype=None, order=None):
    a = np.asarray(a, order=order) if dtype is None else np.asarray(a, dtype, order)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        for item in a.flat:
            if not np.isfinite(item):
                raise ValueError("array must not contain infs or NaNs")
    return a
