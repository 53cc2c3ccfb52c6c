"""Scans of device arrays: running sums and the like, of any function of two arguments that may be grouped in any way.

A block of threads scans a stretch of the array, each thread a few neighbours; the stretches' totals are scanned the
same way, and what comes before a stretch is put to its elements.  Rows of a matrix are scanned by a thread each.
"""

import weakref

import numpy as np

from .. import _krait
from . import _operators, blockIdx, grid, jit, shared, syncthreads, threadIdx

_THREADS = 256
_ELEMENTS = 8  # of a thread
_STRETCH = _THREADS * _ELEMENTS


def _kernels(combine, dtype):
    convert = dtype.type

    @jit
    def scan_stretches(x, out, totals):
        partial = shared.array(_THREADS, dtype)
        t, n = threadIdx.x, x.size
        first = blockIdx.x * _STRETCH + t * _ELEMENTS
        total = convert(x[min(first, n - 1)])
        if first < n:
            out[first] = total
        for i in range(first + 1, min(first + _ELEMENTS, n)):
            total = combine(total, convert(x[i]))
            out[i] = total
        partial[t] = total
        syncthreads()
        step = 1
        while step < _THREADS:
            total = partial[t]
            if t >= step:
                total = combine(partial[t - step], total)
            syncthreads()
            partial[t] = total
            syncthreads()
            step *= 2
        if t > 0:
            before = partial[t - 1]
            for i in range(first, min(first + _ELEMENTS, n)):
                out[i] = combine(before, out[i])
        if t == _THREADS - 1:
            totals[blockIdx.x] = partial[t]

    @jit
    def put_before(out, totals):
        i = grid(1)
        if i < out.size - _STRETCH:
            out[i + _STRETCH] = combine(totals[i // _STRETCH], out[i + _STRETCH])

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

    return scan_stretches, put_before, scan_rows, shift, begin


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
        _, _, _, shift, begin = self._made(dtype)
        if exclusive:
            inner = self._inclusive(array, _krait.device_array(array.shape, dtype, stream=stream), stream)
            shift.forall(out.size, stream=stream)(inner, dtype.type(init), out)
        else:
            self._inclusive(array, out, stream)
            if init is not None:
                begin.forall(out.size, stream=stream)(out, dtype.type(init))
        return out

    def _inclusive(self, array, out, stream):
        scan_stretches, put_before, _, _, _ = self._made(out.dtype)
        blocks = -(-array.size // _STRETCH)
        totals = _krait.device_array(blocks, out.dtype, stream=stream)
        scan_stretches[blocks, _THREADS, stream](array, out, totals)
        if blocks > 1:
            before = self._inclusive(totals, _krait.device_array(blocks, out.dtype, stream=stream), stream)
            put_before.forall(out.size - _STRETCH, stream=stream)(out, before)
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
        self._made(scanned.dtype)[2].forall(matrix.shape[0])(matrix, scanned)
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
    made = _accumulators.get(function)
    if made is None:
        made = _accumulators[function] = Scan(function)
    return made.along(array, axis, dtype or array.dtype, out)
