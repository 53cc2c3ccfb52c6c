"""Cooperative groups: the threads of a block, tiles of a warp, and the threads that came to a place together.

Groups are made in kernels and device functions.  Their methods are called by all threads of the group together.
"""

from dataclasses import dataclass as _dataclass

from . import (
    activemask as _activemask,
    all_sync as _all_sync,
    any_sync as _any_sync,
    ballot_sync as _ballot_sync,
    blockDim as _blockDim,
    ffs as _ffs,
    laneid as _laneid,
    lanemask_lt as _lanemask_lt,
    popc as _popc,
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


@_dataclass(frozen=True)
class ThreadBlock:
    """The threads of a block."""

    size: int

    def sync(self):
        """A barrier of the block."""
        _syncthreads()

    def thread_rank(self):
        """Place of the thread in the block, x first."""
        return _rank_in_block()

    def num_threads(self):
        return self.size


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
class _Lanes:
    """Lanes of a warp: how many, which, and how many of them come before the thread's own."""

    size: int
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

    def sum(self, value):
        """The sum of the values of all threads, in every thread."""
        step = self.size // 2
        while step > 0:
            value += _shfl_xor_sync(self.mask, value, step)
            step //= 2
        return value

    def min(self, value):
        """The least value, in every thread."""
        step = self.size // 2
        while step > 0:
            value = min(value, _shfl_xor_sync(self.mask, value, step))
            step //= 2
        return value

    def max(self, value):
        """The largest value, in every thread."""
        step = self.size // 2
        while step > 0:
            value = max(value, _shfl_xor_sync(self.mask, value, step))
            step //= 2
        return value

    def inclusive_scan(self, value):
        """The sum of the values up to the thread's own rank."""
        step = 1
        while step < self.size:
            other = _shfl_up_sync(self.mask, value, step)
            if self.rank >= step:
                value += other
            step *= 2
        return value

    def exclusive_scan(self, value):
        """The sum of the values below the thread's own rank."""
        return self.inclusive_scan(value) - value


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

    def sum(self, value):
        """The sum of the values of all threads, in every thread, in the order of lanes."""
        rest = self.mask
        total = _shfl_sync(self.mask, value, int(_ffs(rest)) - 1)
        rest &= rest - 1
        while rest:
            total += _shfl_sync(self.mask, value, int(_ffs(rest)) - 1)
            rest &= rest - 1
        return total


def coalesced_threads():
    """The threads of the warp that call this together."""
    mask = int(_activemask())
    return CoalescedGroup(int(_popc(mask)), mask, int(_popc(mask & int(_lanemask_lt()))))
