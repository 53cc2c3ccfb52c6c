"""The memory of compiled code: how many arrays and lists it has made and given up."""

from collections import namedtuple

from krait import _krait

nrt_mstats = namedtuple("nrt_mstats", ["alloc", "free", "mi_alloc", "mi_free"])


class _Runtime:
    @staticmethod
    def get_allocation_stats():
        """Objects made so far and objects given up; the difference is in use, by results among others."""
        made, given_up = _krait.allocation_stats()
        return nrt_mstats(made, given_up, made, given_up)


rtsys = _Runtime()
