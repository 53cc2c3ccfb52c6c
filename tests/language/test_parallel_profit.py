"""Which loops over prange get help: one that is done before helpers are there stays on the thread that runs it, one
that takes long does not.  Told by which thread ran each iteration, not by the clock."""

import numpy as np
import pytest

from krait import get_num_threads, get_thread_id, njit, prange

TRIES = 200
several = pytest.mark.skipif(get_num_threads() < 2, reason="one thread")


def made():
    @njit(parallel=True)
    def run(ids, rounds):
        """A thread's number in each of ids, after so many rounds of work."""
        for i in prange(ids.size):
            work = 0.0
            for k in range(rounds):
                work += (k ^ i) ** 0.5
            ids[i] = get_thread_id() if work >= 0 else -1

    return run


def threads_of(run, count, rounds):
    ids = np.full(count, -1)
    run(ids, rounds)
    assert (ids >= 0).all()
    return set(ids.tolist())


def stays(run):
    """Whether calls that do next to nothing run on the thread that makes them, once such a call has been measured: the
    machine may be busy elsewhere while one is."""
    return all(threads_of(run, 4, 3) == {0} for _ in range(10))


def test_few_light_iterations_are_one_piece():
    @njit(parallel=True)
    def light(ids):
        for i in prange(ids.size):
            ids[i] = get_thread_id()

    for count in (1, 2, 100, 1000):
        ids = np.full(count, -1)
        for _ in range(20):
            light(ids)
            assert set(ids.tolist()) == {0}


@several
def test_a_loop_that_takes_long_gets_help():
    run = made()
    assert any(len(threads_of(run, 64, 200_000)) > 1 for _ in range(TRIES))


def test_a_loop_that_was_short_stays_on_its_thread():
    run = made()
    assert any(stays(run) for _ in range(TRIES))


@several
def test_a_loop_that_was_short_and_takes_long_now_gets_help():
    run = made()
    for _ in range(50):
        threads_of(run, 4, 3)
    assert any(len(threads_of(run, 4, 2_000_000)) > 1 for _ in range(TRIES))


@several
def test_a_loop_that_was_long_and_is_short_now_stays_on_its_thread():
    run = made()
    threads_of(run, 4, 2_000_000)
    assert any(stays(run) for _ in range(TRIES))
