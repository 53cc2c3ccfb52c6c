"""The heap of compiled code (src/runtime/heap): counts, release by kind, blocks used again, threads."""

import threading

import numpy as np
import pytest

from krait import _testing, njit
from krait.core.runtime import rtsys


@pytest.fixture(autouse=True)
def nothing_is_left_on_the_heap():
    """Scripts leave objects on purpose here, and count them themselves."""


def heap(*lines):
    *answers, lost = _testing.heap("\n".join(lines))
    assert "not understood" not in answers
    return answers, lost


def test_counts_of_one_thread():
    assert heap("new a 100", "retain a", "retain a", "release a", "release a", "release a") == (
        ["0", "1", "2", "1", "0", "released 1"],
        0,
    )


def test_counts_of_shared_objects_are_negative():
    assert heap("new a 8", "retain a", "share a", "retain a", "release a", "release a", "release a") == (
        ["0", "1", "-2", "-3", "-2", "-1", "released 1"],
        0,
    )


def test_what_is_never_released_is_counted():
    assert heap("new a 8", "new b 8", "retain b", "release b")[1] == 2


def test_release_by_kind():
    """b refers to a twice and to c; c has another reference."""
    made = ["new a 8", "retain a", "new c 8", "retain c", "refs b a a", "refs d b c"]
    answers, lost = heap(*made, "release d", "count c", "release c")
    assert answers[6:] == ["released 3", "0", "released 1"]
    assert lost == 0


def test_sharing_reaches_what_an_object_refers_to():
    answers, lost = heap("new a 8", "refs b a", "share b", "count a", "share b", "release b")
    assert answers == ["0", "0", "-1", "-1", "-1", "released 2"]
    assert lost == 0


def test_statistics_and_free_blocks():
    """300 and 400 bytes take blocks of one size; 5000 is too large for any list."""
    heap("new a 300", "release a")  # one block at least is free from here on
    first, then = ["new a 300", "new b 5000", "stats"], ["new c 400", "new d 5000", "stats"]
    answers, lost = heap(*first, "release a", "release b", *then)
    assert answers[2] == "allocated 2 released 0 bytes 5300 reused 1"
    assert answers[7] == "allocated 4 released 2 bytes 5400 reused 2"
    assert lost == 2


def test_the_last_large_block_is_used_again():
    """By what is at least half its size, which is then all that is known of it."""
    heap("new a 200000", "release a")
    for size, reused in ((100_000, 1), (100_001, 0), (49_999, 0), (50_000, 1)):
        answers, lost = heap(f"new a {size}", "stats", "release a")
        assert answers[1].endswith(f"reused {reused}"), (size, answers)
        assert lost == 0

    @njit
    def filled(n):
        x = np.empty(n)
        x[:] = 7.0
        return x.sum()

    zeros = njit(lambda n: np.zeros(n).sum())
    before = rtsys.get_allocation_stats()
    for n in (20_000, 10_000, 600_000, 10_000, 20_000):
        assert filled(n) == 7.0 * n and zeros(n) == 0.0
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free == 10


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4032, 4033, 1 << 20, 5 << 20])
def test_contents_are_aligned_and_cleared(size):
    """The first leaves ones behind, in a block that the second may get."""
    assert heap(f"new a {size}", "release a", f"zero b {size}", "release b") == (["0", "released 1"] * 2, 0)


def test_a_size_that_no_machine_has():
    answers, lost = heap(f"new a {2**63 - 1}", f"new b {-1}")
    assert answers == ["no memory"] * 2 and lost == 0


def test_a_long_chain_is_released_without_recursion():
    assert _testing.heap_chain(1_000_000) == 0


def test_threads_count_together():
    assert _testing.heap_threads(8, 20_000) == (-1, 0)


def test_statistics_are_of_all_threads():
    """What a thread that has ended allocated counts, and the next thread takes its free blocks over."""
    def work():
        answers.append(heap("new a 3000", "release a", "new b 3000", "stats", "release b")[0])

    answers = []
    for _ in range(50):  # join() may be over before the thread's blocks are handed back
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert answers[0][3] == "allocated 2 released 1 bytes 3000 reused 1"
    assert "allocated 2 released 1 bytes 3000 reused 2" in [answer[3] for answer in answers]


def test_statistics_of_compiled_code():
    """An array is made and given up with its last reference."""
    make = njit(lambda: np.zeros(100))
    make()
    before = rtsys.get_allocation_stats()
    kept = make()
    while_used = rtsys.get_allocation_stats()
    assert (while_used.alloc - before.alloc, while_used.free - before.free) == (1, 0)
    assert (while_used.mi_alloc, while_used.mi_free) == (while_used.alloc, while_used.free)
    del kept
    assert rtsys.get_allocation_stats().free - before.free == 1
