"""The threads of parallel loops, under the names that they have in Numba."""

from ... import (
    config,
    get_num_threads,
    get_parallel_chunksize,
    get_thread_id,
    set_num_threads,
    set_parallel_chunksize,
    threading_layer,
)

__all__ = [
    "get_num_threads",
    "get_parallel_chunksize",
    "get_thread_count",
    "get_thread_id",
    "set_num_threads",
    "set_parallel_chunksize",
    "threading_layer",
]


def get_thread_count():
    """How many threads there are at most."""
    return config.NUMBA_NUM_THREADS
