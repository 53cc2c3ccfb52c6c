"""What dispatchers and kernels tell of their specialisations, where it is a class of Python."""

from typing import NamedTuple


class Stats(NamedTuple):
    """Counts of a dispatcher."""

    cache_path: str | None  # with cache=True, the folder of compiled code
    cache_hits: int  # calls that found a specialisation
    cache_misses: int  # compilations
