"""Reductions of device arrays: sum, min, argmax, ... and cuda.reduce, which makes one of a function of two arguments.

Each row of a matrix is reduced by blocks of threads, each of which takes every so many elements, or 16 bytes of them
where there is one long row; the blocks of a row leave one partial result each, which a second launch reduces.  The
order is the same each time, and so is the result.
"""

import functools
import inspect
import weakref

import numpy as np

from .. import _krait, errors
from .. import jit as host_jit
from . import _operators, blockDim, blockIdx, grid, gridDim, jit, shared, syncthreads, threadIdx

_THREADS = 256
_ELEMENTS = 8  # that a thread takes at least before a row is given to more blocks
_MOST_BLOCKS = 1024  # of a row
_SHORT = 32  # a row of so many elements is one thread's, if there are as many rows as that keeps busy
_MANY = 4096
_LONG = 1 << 18  # elements of a row that is read 16 bytes at a time
_WIDE_BLOCKS = 4  # of a multiprocessor


def _row_kernel(combine, convert, dtype):
    """out[row, block]: the part of x[row] that the block has, combined."""

    @jit
    def reduce_rows(x, out):
        partial = shared.array(_THREADS, dtype)
        row, block, t, n = blockIdx.x, blockIdx.y, threadIdx.x, x.shape[1]
        i, step = block * _THREADS + t, gridDim.y * _THREADS
        if i < n:
            total = convert(x[row, i])
            i += step
            while i + 7 * step < n:  # eight loads in flight hide the time that each takes; sixteen were slower
                a, b = convert(x[row, i]), convert(x[row, i + step])
                c, d = convert(x[row, i + 2 * step]), convert(x[row, i + 3 * step])
                e, f = convert(x[row, i + 4 * step]), convert(x[row, i + 5 * step])
                g, h = convert(x[row, i + 6 * step]), convert(x[row, i + 7 * step])
                first, second = combine(combine(a, b), combine(c, d)), combine(combine(e, f), combine(g, h))
                total = combine(total, combine(first, second))
                i += 8 * step
            while i < n:
                total = combine(total, convert(x[row, i]))
                i += step
            partial[t] = total
        syncthreads()
        filled = min(_THREADS, n - block * _THREADS)
        half = _THREADS // 2
        while half:
            if t < half and t + half < filled:
                partial[t] = combine(partial[t], partial[t + half])
            syncthreads()
            half //= 2
        if t == 0:
            out[row, block] = partial[0]

    return reduce_rows


def _wide_kernel(combine, convert, dtype, source):
    """out[0, block]: the part of x that the block has, combined; the elements of x are vectors of `source`, of which
    there is one for each thread at least; what is left of the array is `rest`."""
    if source.itemsize == 8:

        @jit(device=True)
        def join(v):
            return combine(convert(v.x), convert(v.y))

    else:

        @jit(device=True)
        def join(v):
            return combine(combine(convert(v.x), convert(v.y)), combine(convert(v.z), convert(v.w)))

    @jit(f"void({source.name}x{16 // source.itemsize}[::1], {source.name}[::1], {dtype.name}[:, ::1])")
    def reduce_wide(x, rest, out):
        partial = shared.array(_THREADS, dtype)
        block, t, n = blockIdx.x, threadIdx.x, x.size
        i, step = block * _THREADS + t, gridDim.x * _THREADS
        total = join(x[i])
        i += step
        while i + 3 * step < n:
            a, b, c, d = x[i], x[i + step], x[i + 2 * step], x[i + 3 * step]
            total = combine(total, combine(combine(join(a), join(b)), combine(join(c), join(d))))
            i += 4 * step
        while i < n:
            total = combine(total, join(x[i]))
            i += step
        if block == 0 and t < rest.size:
            total = combine(total, convert(rest[t]))
        partial[t] = total
        syncthreads()
        half = _THREADS // 2
        while half:
            if t < half:
                partial[t] = combine(partial[t], partial[t + half])
            syncthreads()
            half //= 2
        if t == 0:
            out[0, block] = partial[0]

    return reduce_wide


class _Kernels:
    """Of a function and the dtype that it reduces in."""

    def __init__(self, combine, convert, dtype):
        self._made = combine, convert, dtype
        self.rows = _row_kernel(combine, convert, dtype)
        self._wide = {}

    @functools.cached_property
    def chosen(self):
        return _chosen_kernels(*self._made)

    def wide(self, source):
        """For vectors of that dtype; None: there are none, or they are no faster."""
        if source.kind not in "iuf" or source.itemsize not in (4, 8) or self._made[2].kind not in "iuf":
            return None
        if source not in self._wide:
            self._wide[source] = _wide_kernel(*self._made, source)
        return self._wide[source]


def _short_kernel(combine, convert):
    """out[row]: x[row] reduced by one thread."""

    @jit
    def reduce_short(x, out):
        row = grid(1)
        if row < x.shape[0]:
            total = convert(x[row, 0])
            for i in range(1, x.shape[1]):
                total = combine(total, convert(x[row, i]))
            out[row] = total

    return reduce_short


def _index_kernel(better):
    """out[row]: the index of the element that none is better than, the first of equals; nan is better than all."""

    @jit
    def find_rows(x, out):
        places = shared.array(_THREADS, np.int64)
        row, t, n = blockIdx.x, threadIdx.x, x.shape[1]
        place = min(t, n - 1)
        for i in range(t + blockDim.x, n, blockDim.x):
            a, b = x[row, place], x[row, i]
            if better(b, a) or (b != b and a == a):
                place = i
        places[t] = place
        syncthreads()
        half = _THREADS // 2
        while half:
            if t < half:
                i, k = places[t], places[t + half]
                a, b = x[row, i], x[row, k]
                wins = better(b, a) or (b != b and a == a)
                loses = better(a, b) or (a != a and b == b)
                if wins or (not loses and k < i):
                    places[t] = k
            syncthreads()
            half //= 2
        if t == 0:
            out[row] = places[0]

    return find_rows


def _truth(x):
    return x != 0


_COMBINE = {
    "sum": lambda a, b: a + b,
    "prod": lambda a, b: a * b,
    "min": lambda a, b: np.minimum(a, b),
    "max": lambda a, b: np.maximum(a, b),
    "any": lambda a, b: a or b,
    "all": lambda a, b: a and b,
}
_BETTER = {"argmin": lambda a, b: a < b, "argmax": lambda a, b: a > b}
_kernels = {}


def _kernel(name, dtype, short):
    key = name, dtype, short
    if key not in _kernels:
        convert = _truth if name in ("any", "all") else dtype.type
        if name in _BETTER:
            _kernels[key] = _index_kernel(_BETTER[name])
        elif short:
            _kernels[key] = _short_kernel(_COMBINE[name], convert)
        else:
            _kernels[key] = _Kernels(_COMBINE[name], convert, dtype)
    return _kernels[key]


def _multiprocessors():
    device = _krait.get_current_device()
    return None if device.is_host else device.MULTIPROCESSOR_COUNT


def _reduce_wide(kernels, matrix, dtype, stream):
    """One long row to a shorter one, by loads of 16 bytes; None: it is none."""
    length, source = matrix.size, matrix.dtype
    multiprocessors = _multiprocessors() if matrix.shape[0] == 1 and length >= _LONG else None
    kernel = kernels.wide(source) if multiprocessors else None
    if kernel is None or not matrix.is_c_contiguous() or matrix.device_ctypes_pointer.value % 16:
        return None
    items = 16 // source.itemsize
    vectors, line = length // items, matrix.reshape(length)
    vector = np.dtype([(name, source) for name in "xyzw"[:items]])
    out = _krait.device_array((1, min(_WIDE_BLOCKS * multiprocessors, vectors // _THREADS)), dtype, stream=stream)
    rest = line[vectors * items :]
    kernel[out.size, _THREADS, stream](line[: vectors * items].view(vector), rest, out)
    return out


def _reduce_matrix(kernels, matrix, dtype, stream=0, into=None):
    """The rows of a device matrix, each with an element at least, to a vector: that of one row to `into`, if it is
    given."""
    wide = _reduce_wide(kernels, matrix, dtype, stream)
    matrix = matrix if wide is None else wide
    rows, length = matrix.shape
    while True:
        blocks = min(_MOST_BLOCKS, max(1, -(-length // (_THREADS * _ELEMENTS))))
        last = blocks == 1 and rows == 1 and into is not None
        out = into.reshape(1, 1) if last else _krait.device_array((rows, blocks), dtype, stream=stream)
        if rows:
            kernels.rows[(rows, blocks), _THREADS, stream](matrix, out)
        if blocks == 1:
            return into if last else out.reshape(rows)
        matrix, length = out, blocks


def _place(out, dtype):
    """`out` if the last launch can leave its one result there, else None."""
    usable = isinstance(out, _krait.DeviceArray) and out.dtype == dtype and out.size == 1 and out.flags.writeable
    return out if usable else None


def _rows_of(array, axes):
    """The elements as a matrix whose rows run along the axes."""
    kept = [i for i in range(array.ndim) if i not in axes]
    moved = array.transpose(*kept, *axes) if array.ndim else array
    if not moved.is_c_contiguous():
        moved = _operators.copy(moved)
    length = int(np.prod([array.shape[i] for i in axes], dtype=np.int64))
    return moved.reshape(array.size // length, length), tuple(array.shape[i] for i in kept)


def reduce_on_device(name, array, axes, dtype, into=None):
    """The reduction along some axes, each of an element at least, by kernels; `into` itself, if it got the result."""
    matrix, shape = _rows_of(array, axes)
    short = name in _COMBINE and matrix.shape[0] >= _MANY and matrix.shape[1] <= _SHORT
    kernel = _kernel(name, dtype, short)
    if short:
        out = _krait.device_array(matrix.shape[0], dtype)
        kernel.forall(matrix.shape[0])(matrix, out)
    elif name in _BETTER:
        out = _krait.device_array(matrix.shape[0], np.int64)
        if out.size:
            kernel[matrix.shape[0], _THREADS](matrix, out)
    else:
        out = _reduce_matrix(kernel, matrix, dtype, into=into)
    return out if out is into else out.reshape(shape)


def _accumulator(name, array, dtype):
    """The dtype that NumPy reduces in."""
    if dtype is not None:
        return np.dtype(dtype)
    sample = np.empty(1, array.dtype)
    return getattr(sample, name)().dtype if name in ("sum", "prod", "any", "all") else array.dtype


def _check_out(out, array, axes, keepdims):
    shape = tuple(1 if i in axes else n for i, n in enumerate(array.shape) if keepdims or i not in axes)
    if out is not None and out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, the result of the reduction has shape {shape}")


def _finish(result, array, axes, axis, keepdims, out):
    if result is out:
        return out
    _check_out(out, array, axes, keepdims)
    if keepdims:
        result = result.reshape(tuple(1 if i in axes else n for i, n in enumerate(array.shape)))
    if out is not None:
        out[...] = result
        return out
    return result if axis is not None or keepdims else np.asarray(result)[()]


def reduce_axes(name, array, axis=None, dtype=None, out=None, keepdims=False):
    host = array._host_view()
    options = {} if dtype is None else {"dtype": dtype}
    axes = tuple(range(array.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, array.ndim)
    _check_out(out, array, axes, keepdims)
    if host is not None or any(array.shape[i] == 0 for i in axes):  # NumPy knows what there is without an element
        source = np.empty(array.shape, array.dtype) if host is None else host
        result = np.asarray(getattr(source, name)(axis=axis, **options))
        return _finish(_krait.to_device(result), array, axes, axis, keepdims, out)
    dtype = _accumulator(name, array, dtype)
    result = reduce_on_device(name, array, axes, dtype, _place(out, dtype))
    return _finish(result, array, axes, axis, keepdims, out)


def mean(array, axis=None, dtype=None, out=None, keepdims=False):
    axes = tuple(range(array.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, array.ndim)
    count = int(np.prod([array.shape[i] for i in axes], dtype=np.int64))
    result_type = np.dtype(dtype) if dtype else np.empty(1, array.dtype).mean().dtype
    inner = np.float32 if result_type == np.float16 else result_type
    total = reduce_axes("sum", array, axes, inner, keepdims=True)
    result = (total / total.dtype.type(count)).astype(result_type, copy=False)
    shape = tuple(n for i, n in enumerate(array.shape) if i not in axes)
    return _finish(result.reshape(shape), array, axes, axis, keepdims, out)


def var(array, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    axes = tuple(range(array.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, array.ndim)
    count = int(np.prod([array.shape[i] for i in axes], dtype=np.int64))
    distance = abs(array - mean(array, axes, dtype, keepdims=True))
    squares = reduce_axes("sum", distance * distance, axes, keepdims=True)
    result = squares / squares.dtype.type(max(count - ddof, 0))
    shape = tuple(n for i, n in enumerate(array.shape) if i not in axes)
    return _finish(result.reshape(shape), array, axes, axis, keepdims, out)


def std(array, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return np.sqrt(var(array, axis, dtype, out, ddof, keepdims))


_of_functions = weakref.WeakKeyDictionary()  # elementwise function -> {dtype: kernel}


@jit
def _fill_rest(x, chosen, start, out):
    """out: x where chosen, else start; the arrays are of one dimension."""
    i = grid(1)
    if i < out.size:
        out[i] = x[i] if chosen[i] else start


def _chosen_kernels(combine, convert, dtype):
    """For elements of which some are chosen, and a function that has no identity to put in place of the others."""

    @jit
    def reduce_chosen(x, chosen, out, found):
        """out[row, block]: the chosen elements of x[row] that the block has, combined; found: whether it has any."""
        partial, some = shared.array(_THREADS, dtype), shared.array(_THREADS, np.bool_)
        row, block, t, n = blockIdx.x, blockIdx.y, threadIdx.x, x.shape[1]
        i, step, any_chosen = block * _THREADS + t, gridDim.y * _THREADS, False
        total = convert(x[row, min(i, n - 1)])
        while i < n:
            if chosen[row, i]:
                total = combine(total, convert(x[row, i])) if any_chosen else convert(x[row, i])
                any_chosen = True
            i += step
        partial[t], some[t] = total, any_chosen
        syncthreads()
        half = _THREADS // 2
        while half:
            if t < half and some[t + half]:
                partial[t] = combine(partial[t], partial[t + half]) if some[t] else partial[t + half]
                some[t] = True
            syncthreads()
            half //= 2
        if t == 0:
            out[row, block], found[row, block] = partial[0], some[0]

    @jit
    def begin(totals, found, start, out):
        """out: what the rows come to if `start` comes before their elements."""
        row = grid(1)
        if row < out.size:
            out[row] = combine(start, totals[row, 0]) if found[row, 0] else start

    return reduce_chosen, begin


def _mask(array, where):
    """`where` as an array of bool on the device, of the array's shape."""
    chosen = _krait.as_cuda_array(where) if hasattr(type(where), "__cuda_array_interface__") else np.asarray(where)
    if chosen.dtype != bool:
        raise TypeError(f"where must be an array of bool, not of {chosen.dtype}")
    if not isinstance(chosen, _krait.DeviceArray):
        chosen = _krait.to_device(chosen)
    if chosen.shape == array.shape:
        return chosen
    full = _krait.device_array(array.shape, np.bool_)
    full[...] = chosen
    return full


def _chosen(array, chosen, dtype, start):
    """The array with `start`, which a reduction passes over, where it is not chosen."""
    out = _krait.device_array(array.shape, dtype)
    line, flags = (a if a.is_c_contiguous() else _operators.copy(a) for a in (array, chosen))
    if out.size:
        _fill_rest.forall(out.size)(line.reshape(out.size), flags.reshape(out.size), start, out.reshape(out.size))
    return out


def _reduce_chosen(kernels, array, chosen, axes, dtype, start):
    """What NumPy makes of the chosen elements of an array that has some, begun with `start`."""
    (matrix, shape), (flags, _) = _rows_of(array, axes), _rows_of(chosen, axes)
    reduce_chosen, begin = kernels.chosen
    rows, length = matrix.shape
    while True:
        blocks = min(_MOST_BLOCKS, max(1, -(-length // (_THREADS * _ELEMENTS))))
        totals, found = _krait.device_array((rows, blocks), dtype), _krait.device_array((rows, blocks), np.bool_)
        if rows:
            reduce_chosen[(rows, blocks), _THREADS](matrix, flags, totals, found)
        if blocks == 1:
            break
        matrix, flags, length = totals, found, blocks
    out = _krait.device_array(rows, dtype)
    if rows:
        begin.forall(rows)(totals, found, start, out)
    return out.reshape(shape)


def loop_dtype(function, array, dtype):
    """The dtype that a ufunc reduces an array in: with signatures that of the loop which NumPy takes."""
    if function._signatures is None:
        return np.dtype(dtype or array.dtype)
    asked = {} if dtype is None else {"signature": (np.dtype(dtype), None, None)}
    return function.ufunc.resolve_dtypes((None, array.dtype, None), reduction=True, **asked)[2]


def _axes_of(array, axis):
    if array.ndim == 0 and axis in (0, -1) and not isinstance(axis, tuple):
        return ()  # as NumPy
    return tuple(range(array.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, array.ndim)


@_operators.at_home
def ufunc_reduce(
    function, array, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True, stream=0
):
    """function.reduce(array) on the device, for an elementwise function of two arguments; after what is on the stream,
    and done before what comes to it next."""
    if stream:
        stream.synchronize()
        result = ufunc_reduce(function, array, axis, dtype, out, keepdims, initial, where)
        _krait.default_stream().synchronize()
        return result
    dtype = loop_dtype(function, array, dtype)
    axes = _axes_of(array, axis)
    begins = initial is not np._NoValue and initial is not None
    identity = function.identity if initial is np._NoValue else None
    empty = any(array.shape[i] == 0 for i in axes)
    if (empty or where is not True) and not begins and identity is None:
        sample = np.broadcast_to(np.zeros((), array.dtype), array.shape)
        function.ufunc.reduce(sample, axes, dtype, where=where is True, initial=None)  # NumPy's exception
    start = dtype.type(initial) if begins else np.int64(identity or 0).astype(dtype)  # -1: all bits
    mask = None if where is True else _mask(array, where)
    if empty:
        result = _krait.device_array(tuple(n for i, n in enumerate(array.shape) if i not in axes), dtype)
        result.fill(start)
        return _finish(result, array, axes, axis, keepdims, out)
    kernels = _of_functions.setdefault(function, {})
    if dtype not in kernels:
        kernels[dtype] = _Kernels(jit(device=True)(function.py_func), dtype.type, dtype)
    if mask is not None and identity is None:
        result = _reduce_chosen(kernels[dtype], array, mask, axes, dtype, start)
        return _finish(result, array, axes, axis, keepdims, out)
    if mask is not None:
        array = _chosen(array, mask, dtype, start)
    matrix, shape = _rows_of(array, axes)
    into = None if begins else _place(out, dtype)
    result = _reduce_matrix(kernels[dtype], matrix, dtype, into=into)
    if begins:
        result = function(start, result)
    if result is not into:
        result = result.reshape(shape)
    return _finish(result, array, axes, axis, keepdims, out)


class Reduce:
    """Reduces an array of one dimension with a function of two arguments, which may be applied in any order.

    total = cuda.reduce(lambda a, b: a + b); total(array) gives the sum.
    """

    def __init__(self, functor):
        self.functor = getattr(functor, "py_func", functor)
        self._kernels = {}
        try:
            inspect.signature(self.functor).bind(None, None)
        except ValueError:
            pass  # it does not say what it takes
        except TypeError:
            takes = len(inspect.signature(self.functor).parameters)
            raise TypeError("cuda.reduce takes a function of two arguments, as in lambda a, b: a + b, not of "
                            f"{takes}: it gets two elements at a time") from None

    @_operators.at_home
    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        array = _krait.as_cuda_array(arr) if hasattr(type(arr), "__cuda_array_interface__") else np.asarray(arr)
        if array.ndim != 1:
            raise TypeError(f"only arrays of one dimension can be reduced, not of {array.ndim}: x.reshape(-1) has all "
                            "elements in one")
        if not isinstance(init, (int, float, complex, np.number, np.bool_)):
            raise TypeError(f"init is the number that a reduction begins with, not {init!r}")
        if res is not None and not isinstance(res, _krait.DeviceArray):
            raise TypeError("res is a device array of one element for the result, as cuda.device_array(1, dtype) "
                            f"makes, not of type {type(res).__name__}: without it the result is returned")
        size = array.size if size is None else size
        if not 0 <= size <= array.size:
            raise ValueError(f"cannot reduce {size} elements of an array of {array.size}")
        array = array[:size]
        if not isinstance(array, _krait.DeviceArray):
            array = _krait.to_device(array, stream=stream)
        dtype = array.dtype
        if dtype.kind not in "biufc":
            raise TypeError(f"cuda.reduce takes an array of numbers, not of {dtype}")
        if size == 0:
            return self._leave(dtype.type(init), res, stream)
        if dtype not in self._kernels:
            self._kernels[dtype] = _Kernels(jit(device=True)(self.functor), dtype.type, dtype)
        place = res if init == 0 and isinstance(res, _krait.DeviceArray) and res.ndim == 1 else None
        into = place if place is None else _place(place[:1], dtype)
        try:
            result = _reduce_matrix(self._kernels[dtype], array.reshape(1, size), dtype, stream, into)
        except errors.TypingError as error:
            self._tell(dtype, error)
        if into is not None and result is into:
            return None
        if init != 0:
            value = result.copy_to_host(stream=stream)
            _krait.synchronize()
            return self._leave(dtype.type(self.functor(dtype.type(init), value[0])), res, stream)
        return self._leave(result, res, stream)

    def _tell(self, dtype, error):
        """Raises what is wrong with the function, which the lines of a kernel around it do not say."""
        result = host_jit(self.functor)(dtype.type(1), dtype.type(1))  # its own lines, if it is not compiled either
        if result is None or isinstance(result, tuple):
            what = "nothing: end it with return and a number" if result is None else "a tuple: return one number"
            raise TypeError(f"the function of cuda.reduce, {self.functor.__name__}, returns {what}") from None
        raise error

    def __getitem__(self, grid):
        raise TypeError("a reduction is called without a grid, which it chooses itself: total(x)")

    @staticmethod
    def _leave(result, res, stream):
        if res is not None:
            if res.size == 0:
                raise ValueError("res has no element for the result")
            res.setitem(slice(0, 1), result, stream=stream)
            return None
        if isinstance(result, _krait.DeviceArray):
            host = result.copy_to_host(stream=stream)
            _krait.synchronize()
            return host[0]
        return result


reduce = Reduce
