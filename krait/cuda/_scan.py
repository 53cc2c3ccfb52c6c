"""Scans of device arrays: running sums and the like, of any function of two arguments that may be grouped in any way.

One launch, in which each element is read and written once (Merrill and Garland, "Single-pass parallel prefix scan with
decoupled look-back", 2016).  A block takes the next tile of the array and scans it, each thread a few neighbours.  It
tells the tile's total, looks back for the nearest tile that knows what all elements up to its end come to, puts the
totals of those between to that, and tells what its own elements come to.  However far a block looks back, totals are
put together from the first to the last: the result is the same each time.  Rows of a matrix are scanned by a thread
each.
"""

import weakref

import numpy as np

from .. import _krait
from . import _operators, _reduction, atomic, grid, jit, ldcg, ldcv, local, shared, syncthreads, threadfence, threadIdx

_THREADS = 256
_TOTAL, _RUNNING_TOTAL = 1, 2  # what is known of a tile


def _elements(dtype):
    """Of a thread: an odd number, so that threads read shared memory from banks of their own."""
    return 15 if dtype.itemsize <= 8 else 7


def _written_elsewhere(dtype):
    """The function that reads values[i], which another multiprocessor may just have written: its own cache may still
    have what stood there before, the one that all share has not."""
    if dtype.kind != "c":
        return jit(device=True)(lambda values, i: ldcg(values, i))
    part = np.dtype(f"f{dtype.itemsize // 2}")

    @jit(device=True)
    def load(values, i):
        parts = values.view(part)
        return complex(ldcg(parts, 2 * i), ldcg(parts, 2 * i + 1))

    return load


def _scan_kernel(combine, dtype):
    elements, convert, load = _elements(dtype), dtype.type, _written_elsewhere(dtype)
    tile_size = elements * _THREADS

    @jit
    def scan_tiles(x, out, states, totals, running):
        """states[0] counts the tiles taken, states[1 + i] tells what is known of tile i: totals[i], running[i]."""
        tile, partial = shared.array(tile_size, dtype), shared.array(2 * _THREADS, dtype)
        numbers, carried = shared.array(2, np.int32), shared.array(1, dtype)
        mine = local.array(elements, dtype)
        t, n = threadIdx.x, x.size
        if t == 0:
            numbers[0] = atomic.add(states, 0, 1)
        syncthreads()
        number = max(numbers[0], 0)
        first = np.int64(number) * tile_size + t
        if first + tile_size <= n:
            for k in range(elements):
                tile[k * _THREADS + t] = convert(x[first + k * _THREADS])
        else:  # behind the end of the array: its last element, which no result sees
            for k in range(elements):
                tile[k * _THREADS + t] = convert(x[min(first + k * _THREADS, n - 1)])
        syncthreads()
        for k in range(elements):
            mine[k] = tile[t * elements + k]
        for k in range(1, elements):
            mine[k] = combine(mine[k - 1], mine[k])
        total, step, side = mine[elements - 1], 1, 0
        partial[t] = total
        syncthreads()
        while step < _THREADS:
            if t >= step:
                total = combine(partial[side + t - step], total)
            side = _THREADS - side
            partial[side + t] = total
            syncthreads()
            step *= 2
        total = partial[side + _THREADS - 1]
        if t == 0:
            if number == 0:
                running[0] = total
            else:
                totals[number] = total
            threadfence()
            atomic.exch(states, 1 + number, _TOTAL if number else _RUNNING_TOTAL)
        other = _THREADS - side
        last = number - 1
        while last >= 0:
            if t == 0:
                numbers[1] = -1
            syncthreads()
            if t <= last:
                state = ldcv(states, 1 + last - t)
                while state == 0:  # the driver's compiler takes a loop that only loads for one that does nothing
                    state = atomic.add(states, 1 + last - t, 0)
                if state == _RUNNING_TOTAL:
                    atomic.max(numbers, 1, last - t)
            syncthreads()
            known = numbers[1]
            if known < 0:
                last -= _THREADS
                syncthreads()
                continue
            threadfence()
            before, next_one = convert(load(running, max(known, 0))), known + 1
            while next_one < number:
                if next_one + t < number:
                    partial[other + t] = load(totals, next_one + t)
                syncthreads()
                if t == 0:
                    for k in range(min(_THREADS, number - next_one)):
                        before = combine(before, partial[other + k])
                syncthreads()
                next_one += _THREADS
            if t == 0:
                carried[0] = before
                running[number] = combine(before, total)
                threadfence()
                atomic.exch(states, 1 + number, _RUNNING_TOTAL)
            last = -1
        syncthreads()
        if number > 0 or t > 0:
            if t == 0:
                before = carried[0]
            elif number == 0:
                before = partial[side + t - 1]
            else:
                before = combine(carried[0], partial[side + t - 1])
            for k in range(elements):
                mine[k] = combine(before, mine[k])
        for k in range(elements):
            tile[t * elements + k] = mine[k]
        syncthreads()
        if first + tile_size <= n:
            for k in range(elements):
                out[first + k * _THREADS] = tile[k * _THREADS + t]
        else:
            for k in range(elements):
                if first + k * _THREADS < n:
                    out[first + k * _THREADS] = tile[k * _THREADS + t]

    return scan_tiles


def _kernels(combine, dtype):
    convert = dtype.type

    @jit
    def scan_rows(x, out):
        row = grid(1)
        if row < x.shape[0]:
            total = convert(x[row, 0])
            out[row, 0] = total
            for i in range(1, x.shape[1]):
                total = combine(total, convert(x[row, i]))
                out[row, i] = total

    @jit
    def shift(x, first, out):
        i = grid(1)
        if i == 0:
            out[0] = first
        elif i < out.size:
            out[i] = combine(first, x[i - 1])

    @jit
    def begin(x, first):
        i = grid(1)
        if i < x.size:
            x[i] = combine(first, x[i])

    return _scan_kernel(combine, dtype), scan_rows, shift, begin


class Scan:
    """Runs a function of two arguments over an array: element i of the result is the function of all elements up to i.

    running = cuda.scan(lambda a, b: a + b); running(array) gives the running sums, a device array.
    """

    def __init__(self, functor):
        self.functor = getattr(functor, "py_func", functor)
        self._kernels = {}

    def _made(self, dtype):
        if dtype not in self._kernels:
            self._kernels[dtype] = _kernels(jit(device=True)(self.functor), dtype)
        return self._kernels[dtype]

    @_operators.at_home
    def __call__(self, arr, init=None, exclusive=False, out=None, dtype=None, stream=0):
        """`init` comes before the first element; with `exclusive` element i is the function of those before i."""
        array = _on_device(arr, stream)
        if array.ndim != 1:
            raise TypeError("only arrays of one dimension can be scanned")
        if exclusive and init is None:
            raise ValueError("an exclusive scan begins with `init`, which is missing")
        dtype = np.dtype(dtype or array.dtype)
        out = _result(array.shape, dtype, out, stream)
        if not array.size:
            return out
        _, _, shift, begin = self._made(dtype)
        if exclusive:
            inner = self._inclusive(array, _krait.device_array(array.shape, dtype, stream=stream), stream)
            shift.forall(out.size, stream=stream)(inner, dtype.type(init), out)
        else:
            self._inclusive(array, out, stream)
            if init is not None:
                begin.forall(out.size, stream=stream)(out, dtype.type(init))
        return out

    def _inclusive(self, array, out, stream):
        tiles = -(-array.size // (_elements(out.dtype) * _THREADS))
        states = _krait.device_array(1 + tiles, np.int32, stream=stream)
        states.fill(0, stream=stream)
        totals, running = (_krait.device_array(tiles, out.dtype, stream=stream) for _ in range(2))
        self._made(out.dtype)[0][tiles, _THREADS, stream](array, out, states, totals, running)
        return out

    def along(self, array, axis, dtype, out=None):
        """The scan along an axis of an array of any dimensions."""
        axis = np.lib.array_utils.normalize_axis_index(axis, array.ndim)
        if array.ndim == 1:
            return self(array, out=out, dtype=dtype)
        result = _result(array.shape, np.dtype(dtype), out, 0)
        if not array.size:
            return result
        order = [i for i in range(array.ndim) if i != axis] + [axis]
        rows = array.transpose(*order)
        rows = rows if rows.is_c_contiguous() else _operators.copy(rows)
        shape, matrix = rows.shape, rows.reshape(-1, array.shape[axis])
        scanned = _krait.device_array(matrix.shape, np.dtype(dtype))
        self._made(scanned.dtype)[1].forall(matrix.shape[0])(matrix, scanned)
        back = [order.index(i) for i in range(array.ndim)]
        result[...] = scanned.reshape(shape).transpose(*back)
        return result


def _on_device(value, stream=0):
    if isinstance(value, _krait.DeviceArray):
        return value
    if hasattr(type(value), "__cuda_array_interface__"):
        return _krait.as_cuda_array(value)
    return _krait.to_device(np.asarray(value), stream=stream)


def _result(shape, dtype, out, stream):
    if out is None:
        return _krait.device_array(shape, dtype, stream=stream)
    if not isinstance(out, _krait.DeviceArray) or out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out is a device array of shape {shape} and dtype {dtype}")
    return out


scan = Scan
_accumulators = weakref.WeakKeyDictionary()
_RUNNING = {"cumsum": Scan(lambda a, b: a + b), "cumprod": Scan(lambda a, b: a * b)}


def running(name, array, axis=None, dtype=None, out=None):
    """array.cumsum and array.cumprod, in the dtype that NumPy takes."""
    if axis is None:
        array, axis = array.ravel() if array.is_c_contiguous() else _operators.copy(array).ravel(), 0
    if dtype is None:
        dtype = getattr(np.empty(0, array.dtype), name)().dtype
    return _RUNNING[name].along(array, axis, dtype, out)


@_operators.at_home
def ufunc_accumulate(function, array, axis=0, dtype=None, out=None):
    """function.accumulate(array) on the device, for an elementwise function of two arguments."""
    if array.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    axes = range(array.ndim) if axis is None else axis
    axes = np.lib.array_utils.normalize_axis_tuple(axes, array.ndim, allow_duplicate=True)
    if len(axes) != 1:
        raise ValueError("accumulate does not allow multiple axes")
    made = _accumulators.get(function)
    if made is None:
        made = _accumulators[function] = Scan(function)
    return made.along(array, axes[0], _reduction.loop_dtype(function, array, dtype), out)
