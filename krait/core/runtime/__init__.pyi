from typing import NamedTuple

class nrt_mstats(NamedTuple):
    alloc: int
    free: int
    mi_alloc: int
    mi_free: int

class _Runtime:
    @staticmethod
    def get_allocation_stats() -> nrt_mstats: ...

rtsys: _Runtime
