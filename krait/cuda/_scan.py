"""Scans of device arrays: running sums and the like, of any function of two arguments that may be grouped in any way.

One launch, in which each element is read and written once (Merrill and Garland, "Single-pass parallel prefix scan with
decoupled look-back", 2016).  A block takes the next tile of the array and scans it, each thread a few neighbours.  It
tells the tile's total and finds what all elements before the tile come to.  32 tiles make a group: the totals of those
before in the group are put together by the lanes of a warp, and it looks back over groups, for the nearest that knows
what all elements up to its end come to, and puts the totals of those between to that, one after the other; so that is
done once for 32 tiles, and not more slowly than tiles are read.  However far a block looks back, and whoever comes
first, totals are put together in the same way: the result is the same each time.  Rows of a matrix are scanned by a
thread each.
"""

import weakref

import numpy as np

from .. import _krait
from . import (
    _operators,
    _reduction,
    atomic,
    ballot_sync,
    ffs,
    grid,
    jit,
    ldcg,
    ldcv,
    local,
    shared,
    shfl_sync,
    shfl_up_sync,
    syncthreads,
    syncwarp,
    threadfence,
    threadIdx,
)

_THREADS = 256
_ALL = 0xFFFFFFFF  # lanes
_TOTAL, _RUNNING_TOTAL = 1, 2  # what is known of a tile


def _elements(dtype):
    """Of a thread: an odd number, so that threads read shared memory from banks of their own."""
    return 31 if dtype.itemsize <= 4 else 15 if dtype.itemsize <= 8 else 7


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


def _lane_scan(combine, convert):
    @jit(device=True)
    def scan_lanes(value, lane):
        """In each lane: what the values of all lanes up to it come to."""
        for power in range(5):
            other = shfl_up_sync(_ALL, value, 1 << power)
            if lane >= 1 << power:
                value = convert(combine(other, value))
        return value

    return scan_lanes


def _look_back(combine, dtype):
    """What a warp does for its tile: tells its total, and finds what all elements before it come to."""
    convert, load, scan_lanes = dtype.type, _written_elsewhere(dtype), _lane_scan(combine, dtype.type)

    @jit(device=True)
    def wait(states, i):
        state = ldcv(states, i)
        while state == 0:  # the driver's compiler takes a loop that only loads for one that does nothing
            state = atomic.add(states, i, 0)
        return state

    @jit(device=True)
    def tell(states, i, state, values, at, value):
        values[at] = value
        threadfence()
        atomic.exch(states, i, state)

    @jit(device=True)
    def before_group(group, lane, states, first, totals, tiles, running, total):
        """What the elements of all groups before come to."""
        at, found = group - 1, 0
        while found == 0:
            state = 0
            if lane <= at:
                state = wait(states, first + at - lane)
            found = ballot_sync(_ALL, state == _RUNNING_TOTAL)
            if found == 0:
                at -= 32
        threadfence()
        known = at - (ffs(found) - 1)
        before, next_one = convert(load(running, known)), known + 1
        while next_one < group:
            other, count = total, min(32, group - next_one)
            if lane < count:
                other = convert(load(totals, tiles + next_one + lane))
            for k in range(count):
                before = convert(combine(before, shfl_sync(_ALL, other, k)))
            next_one += 32
        return before

    @jit(device=True)
    def before_tile(number, lane, states, totals, running, total):
        """Of tile 0: anything."""
        tiles = totals.size - running.size
        group, member, first = number // 32, number % 32, 1 + tiles
        if lane == 0:
            tell(states, 1 + number, _TOTAL, totals, number, total)
        if lane < member:
            wait(states, 1 + number - member + lane)
        syncwarp()
        threadfence()
        value = total
        if lane < member:
            value = convert(load(totals, number - member + lane))
        value = scan_lanes(value, lane)
        inside, whole = shfl_sync(_ALL, value, max(member - 1, 0)), shfl_sync(_ALL, value, member)
        if group == 0:
            if member == 31 and lane == 0:
                tell(states, first, _RUNNING_TOTAL, running, 0, whole)
            return inside
        if member == 31 and lane == 0:
            tell(states, first + group, _TOTAL, totals, tiles + group, whole)
        before = before_group(group, lane, states, first, totals, tiles, running, total)
        if member == 31 and lane == 0:
            tell(states, first + group, _RUNNING_TOTAL, running, group, convert(combine(before, whole)))
        if member > 0:
            before = convert(combine(before, inside))
        return before

    return before_tile


def _scan_kernel(combine, dtype):
    elements, convert = _elements(dtype), dtype.type
    before_tile, scan_lanes = _look_back(combine, dtype), _lane_scan(combine, convert)
    tile_size, warps = elements * _THREADS, _THREADS // 32

    @jit
    def scan_tiles(x, out, states, totals, running):
        """states[0] counts the tiles taken, states[1 + i] tells whether totals[i] is known, of tiles and behind them of
        groups; for groups also whether running[i] is."""
        tile, partial = shared.array(tile_size, dtype), shared.array(warps + 1, dtype)
        taken, mine = shared.array(1, np.int32), local.array(elements, dtype)
        t, n = threadIdx.x, x.size
        lane, warp = t % 32, t // 32
        if t == 0:
            taken[0] = atomic.add(states, 0, 1)
        syncthreads()
        number = max(taken[0], 0)
        first = np.int64(number) * tile_size + t
        if first - t + tile_size <= n:
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
        total = scan_lanes(mine[elements - 1], lane)
        if lane == 31:
            partial[warp] = total
        before_lane = shfl_up_sync(_ALL, total, 1)
        syncthreads()
        if warp == 0:
            of_warps = scan_lanes(partial[min(lane, warps - 1)], lane)
            before = before_tile(number, lane, states, totals, running, shfl_sync(_ALL, of_warps, warps - 1))
            syncwarp()
            if lane == 0:
                partial[warps] = before
            if lane < warps:
                partial[lane] = of_warps
        syncthreads()
        before = partial[warps]
        if warp > 0:
            before = partial[warp - 1] if number == 0 else convert(combine(before, partial[warp - 1]))
        if number > 0 or warp > 0:
            if lane > 0:
                before = convert(combine(before, before_lane))
        else:
            before = before_lane
        if number > 0 or t > 0:
            for k in range(elements):
                mine[k] = combine(before, mine[k])
        for k in range(elements):
            tile[t * elements + k] = mine[k]
        syncthreads()
        if first - t + tile_size <= n:
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
        groups = -(-tiles // 32)
        states = _krait.device_array(1 + tiles + groups, np.int32, stream=stream)
        states.fill(0, stream=stream)
        totals = _krait.device_array(tiles + groups, out.dtype, stream=stream)
        running = _krait.device_array(groups, out.dtype, stream=stream)
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
