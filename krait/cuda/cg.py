"""Cooperative groups: the threads of a block, tiles of a warp, and the threads that came to a place together.

Groups are made in kernels and device functions.  Their methods are called by all threads of the group together.
"""

import operator as _operator
from dataclasses import dataclass as _dataclass

from . import (
    activemask as _activemask,
    all_sync as _all_sync,
    any_sync as _any_sync,
    ballot_sync as _ballot_sync,
    blockDim as _blockDim,
    clz as _clz,
    ffs as _ffs,
    laneid as _laneid,
    lanemask_lt as _lanemask_lt,
    popc as _popc,
    shared as _shared,
    shfl_down_sync as _shfl_down_sync,
    shfl_sync as _shfl_sync,
    shfl_up_sync as _shfl_up_sync,
    shfl_xor_sync as _shfl_xor_sync,
    gridDim as _gridDim,
    blockIdx as _blockIdx,
    syncgrid as _syncgrid,
    syncthreads as _syncthreads,
    syncwarp as _syncwarp,
    threadIdx as _threadIdx,
)


def _rank_in_block():
    return (_threadIdx.z * _blockDim.y + _threadIdx.y) * _blockDim.x + _threadIdx.x


def _block_threads():
    return _blockDim.x * _blockDim.y * _blockDim.z


def _begun(rank, below, op, initial):
    """An exclusive scan, of what the values of all threads below come to."""
    if initial is None:
        return below if rank > 0 else type(below)(0)
    return op(initial, below) if rank > 0 else initial


@_dataclass(frozen=True)
class _Combining:
    """Threads that put their values together: by functions of two arguments, that may be grouped in any way, of which
    the first is what lower ranks come to."""

    size: int

    def sum(self, value):
        """The sum of the values of all threads, in every thread."""
        return self.reduce(value, _operator.add)

    def min(self, value):
        """The least value, in every thread."""
        return self.reduce(value, min)

    def max(self, value):
        """The largest value, in every thread."""
        return self.reduce(value, max)


@_dataclass(frozen=True)
class ThreadBlock(_Combining):
    """The threads of a block."""

    def sync(self):
        """A barrier of the block."""
        _syncthreads()

    def thread_rank(self):
        """Place of the thread in the block, x first."""
        return _rank_in_block()

    def num_threads(self):
        return self.size

    def _warp(self):
        """The lanes of the thread's warp; the last warp may have fewer than 32."""
        rank = _rank_in_block()
        size = min(32, self.size - rank // 32 * 32)
        return Tile(size, (1 << size) - 1, rank % 32)

    def _combined(self, value, op):
        """What the values come to: in the warp up to the thread, in the warps before (in the first: anything), and in
        the block."""
        warp, number, last = self._warp(), _rank_in_block() // 32, (self.size - 1) // 32
        value = warp.inclusive_scan(value, op)
        totals = _shared.array(32, type(value))
        if warp.rank == warp.size - 1:
            totals[number] = value
        _syncthreads()
        if number == 0:  # whole, if there is another
            running = warp.inclusive_scan(totals[min(warp.rank, last)], op)
            if warp.rank <= last:
                totals[warp.rank] = running
        _syncthreads()
        before, total = totals[max(number - 1, 0)], totals[last]
        _syncthreads()  # the next call writes the same memory
        return value, before, total

    def reduce(self, value, op):
        """What the values of all threads come to, in every thread."""
        return self._combined(value, op)[2]

    def inclusive_scan(self, value, op=_operator.add):
        """What the values up to the thread's own rank come to."""
        inside, before, _ = self._combined(value, op)
        return inside if _rank_in_block() < 32 else op(before, inside)

    def exclusive_scan(self, value, op=_operator.add, initial=None):
        """What `initial` and the values below the thread's own rank come to; of none: zero."""
        inside, before, _ = self._combined(value, op)
        warp, rank = self._warp(), _rank_in_block()
        below = _shfl_up_sync(warp.mask, inside, 1)
        if warp.rank == 0:
            below = before
        elif rank >= 32:
            below = op(before, below)
        return _begun(rank, below, op, initial)


def this_thread_block():
    """The block of the thread that asks."""
    return ThreadBlock(_block_threads())


@_dataclass(frozen=True)
class GridGroup:
    """All threads of a launch, whose blocks run at once."""

    size: int

    def sync(self):
        """A barrier of the grid."""
        _syncgrid()

    def thread_rank(self):
        """Place of the thread in the grid: its block, then its place there."""
        return self.block_rank() * _block_threads() + _rank_in_block()

    def block_rank(self):
        """Place of the block in the grid, x first."""
        return (_blockIdx.z * _gridDim.y + _blockIdx.y) * _gridDim.x + _blockIdx.x

    def num_threads(self):
        return self.size

    def num_blocks(self):
        return _gridDim.x * _gridDim.y * _gridDim.z


def this_grid():
    """The threads of the launch."""
    return GridGroup(_gridDim.x * _gridDim.y * _gridDim.z * _block_threads())


@_dataclass(frozen=True)
class _Lanes(_Combining):
    """Lanes of a warp: how many, which, and how many of them come before the thread's own."""

    mask: int
    rank: int

    def sync(self):
        """What its lanes wrote before is seen by all of them."""
        _syncwarp(self.mask)

    def thread_rank(self):
        """Place of the thread in the group, in the order of lanes."""
        return self.rank

    def num_threads(self):
        return self.size

    def any(self, predicate):
        return _any_sync(self.mask, predicate)

    def all(self, predicate):
        return _all_sync(self.mask, predicate)

    def _lane_below(self):
        """The lane of the rank below; of rank 0 its own."""
        lower = self.mask & int(_lanemask_lt())
        return 63 - int(_clz(lower)) if lower else int(_laneid)

    def reduce(self, value, op):
        """What the values of all threads come to, in every thread."""
        return _shfl_sync(self.mask, self.inclusive_scan(value, op), 63 - int(_clz(self.mask)))

    def inclusive_scan(self, value, op=_operator.add):
        """What the values up to the thread's own rank come to."""
        step, source = 1, self._lane_below()
        while step < self.size:  # source: the lane `step` ranks below, or of rank 0
            other = _shfl_sync(self.mask, value, source)
            source = _shfl_sync(self.mask, source, source)
            if self.rank >= step:
                value = op(other, value)
            step *= 2
        return value

    def exclusive_scan(self, value, op=_operator.add, initial=None):
        """What `initial` and the values below the thread's own rank come to; of none: zero."""
        below = _shfl_sync(self.mask, self.inclusive_scan(value, op), self._lane_below())
        return _begun(self.rank, below, op, initial)


@_dataclass(frozen=True)
class Tile(_Lanes):
    """As many neighbouring lanes of a warp as a power of two says."""

    def meta_group_rank(self):
        """Place of the tile in the block."""
        return _rank_in_block() // self.size

    def meta_group_size(self):
        """How many such tiles the block has."""
        return (_block_threads() + self.size - 1) // self.size

    def shfl(self, value, rank):
        """The value of the thread of that rank."""
        return _shfl_sync(self.mask, value, _laneid - self.rank + rank % self.size)

    def shfl_up(self, value, delta):
        """The value of the thread `delta` ranks below; its own where there is none."""
        other = _shfl_up_sync(self.mask, value, delta)
        return other if self.rank >= delta else value

    def shfl_down(self, value, delta):
        """The value of the thread `delta` ranks above; its own where there is none."""
        other = _shfl_down_sync(self.mask, value, delta)
        return other if self.rank + delta < self.size else value

    def shfl_xor(self, value, bits):
        """The value of the thread whose rank differs in those bits."""
        return _shfl_xor_sync(self.mask, value, bits)

    def ballot(self, predicate):
        """A bit for each rank: where the predicate holds."""
        return (int(_ballot_sync(self.mask, predicate)) & self.mask) >> (_laneid - self.rank)

    def reduce(self, value, op):
        """What the values of all threads come to, in every thread."""
        step = 1
        while step < self.size:
            other = _shfl_xor_sync(self.mask, value, step)
            first = self.rank & step == 0
            value = op(value if first else other, other if first else value)
            step *= 2
        return value

    def inclusive_scan(self, value, op=_operator.add):
        """What the values up to the thread's own rank come to."""
        step = 1
        while step < self.size:
            other = _shfl_up_sync(self.mask, value, step)
            if self.rank >= step:
                value = op(other, value)
            step *= 2
        return value


def tiled_partition(group, size):
    """The tile of `size` lanes, a power of two of at most 32, in which the thread lies; `group`: its block or tile."""
    rank = _laneid % size
    return Tile(size, ((1 << size) - 1) << (_laneid - rank), rank)


@_dataclass(frozen=True)
class CoalescedGroup(_Lanes):
    """The threads of a warp that came to a place together."""

    def shfl(self, value, rank):
        """The value of the thread of that rank."""
        rest = self.mask
        for _ in range(rank % self.size):
            rest &= rest - 1
        return _shfl_sync(self.mask, value, int(_ffs(rest)) - 1)


def coalesced_threads():
    """The threads of the warp that call this together."""
    mask = int(_activemask())
    return CoalescedGroup(int(_popc(mask)), mask, int(_popc(mask & int(_lanemask_lt()))))


def reduce(group, value, op):
    """What the values of all threads of the group come to, in every thread; `op`: a function of two arguments."""
    return group.reduce(value, op)


def inclusive_scan(group, value, op=_operator.add):
    """What the values of the group up to the thread's own rank come to."""
    return group.inclusive_scan(value, op)


def exclusive_scan(group, value, op=_operator.add, initial=None):
    """What `initial` and the values of the group below the thread's own rank come to; of none: zero."""
    return group.exclusive_scan(value, op, initial)
