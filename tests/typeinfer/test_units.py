"""Functions of the prelude that one compilation has typed are taken by the next ones, which come out the same."""

import collections
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import krait
from krait import _testing, cuda


ALONE = "KRAIT_UNITS_ALONE" in os.environ
alone = pytest.mark.skipif(not ALONE, reason="runs in a process where no test has registered an overload")


@pytest.mark.skipif(ALONE, reason="this is that process")
def test_in_a_process_of_their_own():
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__],
                         capture_output=True, text=True, env={**env, "KRAIT_UNITS_ALONE": "1"})
    assert run.returncode == 0, run.stdout + run.stderr


def counts():
    """How many are kept, how often one was taken."""
    return _testing.units()[:2]


def medians(a):
    return np.median(a), np.sort(a)[0]


def solutions(a, b):
    return np.linalg.solve(a, b).sum() + np.linalg.norm(a)


def tallies(words):
    counter = collections.Counter()
    for word in words:
        counter[word] += 1
    return counter.most_common(2)


def tables(keys):
    table = {}
    for key in keys:
        table[key] = table.get(key, 0) + 1
    return sorted(table)


def shapes(a):
    return np.flip(a), np.roll(a, 1), np.concatenate((a, a)), np.tile(a, 2), np.outer(a, a)


def heaps(numbers):
    import heapq

    heapq.heapify(numbers)
    return heapq.heappop(numbers), max(numbers), min(numbers), sum(numbers)


def permuted(a):
    return np.percentile(a, 30.0), np.unique(a), np.searchsorted(a, 0.5), np.histogram(a, 4)[0]


PROGRAMS = [
    (medians, ["array(float64, 1, C)"]),
    (medians, ["array(int32, 1, A)"]),
    (solutions, ["array(float64, 2, C)", "array(float64, 1, C)"]),
    (tallies, ["list(int)"]),
    (tables, ["list(string)"]),
    (shapes, ["array(float32, 1, C)"]),
    (heaps, ["list(int)"]),
    (permuted, ["array(float64, 1, C)"]),
]


@alone
@pytest.mark.parametrize("program, types", PROGRAMS, ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.parametrize("stage", ["typed", "llvm"])
def test_what_is_taken_is_what_would_be_inferred(program, types, stage):
    first = _testing.stage(program, types, stage)
    kept, taken = counts()
    assert _testing.stage(program, types, stage) == first
    assert counts()[0] == kept and counts()[1] > taken


def test_the_first_compilation_of_a_process_gives_the_same_text():
    program = "\n".join([
        "import numpy as np, collections",
        "from krait import _testing",
        "def medians(a):",
        "    return np.median(a), np.sort(a)[0]",
        "others = [lambda a: np.sort(a), lambda a: np.median(a[1:]), lambda a: (np.sort(a), np.median(a))]",
        "import sys",
        "for other in others if sys.argv[1] == 'warm' else []:",
        "    _testing.stage(other, ['array(float64, 1, C)'], 'typed')",
        "print(_testing.stage(medians, ['array(float64, 1, C)'], 'typed'))",
    ])
    runs = [subprocess.run([sys.executable, "-c", program, how], capture_output=True, text=True, check=True).stdout
            for how in ("cold", "warm")]
    cold, warm = (re.sub(r"(closure|object)#\d+", r"\1", run) for run in runs)  # numbers of objects are the process's
    assert cold == warm and "call_inst" in cold


@alone
def test_another_type_constant_or_option_is_inferred_anew():
    def axes(a):
        return np.sort(a)

    _testing.stage(axes, ["array(uint16, 1, C)"], "typed")
    kept, _ = counts()
    assert "array(int16" in _testing.stage(axes, ["array(int16, 1, C)"], "typed")
    assert counts()[0] > kept


def test_functions_of_the_user_are_never_kept():
    class Card:
        def __init__(self, rank):
            self.rank = rank

        def __lt__(self, other):
            return self.rank < other.rank

    def best(ranks):
        cards = [Card(rank) for rank in ranks]
        return sorted(cards)[0].rank, sorted(ranks, key=lambda rank: -rank)[0]

    assert krait.njit(best)([3, 1, 2]) == (1, 3)
    Card.__lt__ = lambda self, other: self.rank > other.rank
    assert krait.njit(best)([3, 1, 2]) == best([3, 1, 2]) == (3, 3)


def test_kernels_and_functions_have_their_own():
    def total(a, out):
        out[0] = np.sum(a[:3])

    def function(a):
        return np.sum(a[:3])

    a = np.arange(6.0)
    for _ in range(2):
        out = np.zeros(1)
        cuda.jit(total)[1, 1](a, out)
        assert out[0] == 3.0 and krait.njit(function)(a) == 3.0


def test_threads_that_compile_at_once():
    a = np.random.default_rng(7).random(9)
    wrong = []

    def work(kind):
        b = a.astype(kind)
        for _ in range(2):
            if krait.njit(lambda x: (np.median(x), np.sort(x)[1]))(b) != (np.median(b), np.sort(b)[1]):
                wrong.append(kind)

    threads = [threading.Thread(target=work, args=(kind,)) for kind in (np.float64, np.float32, np.int32, np.float64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nothing_is_taken_where_users_say_what_calls_mean():
    program = "\n".join([
        "import numpy as np, krait",
        "from krait import _testing",
        "f = lambda a: np.median(a)",
        "assert krait.njit(f)(np.arange(3.0)) == 1.0",
        "from krait.extending import overload",
        "@overload(np.ascontiguousarray)",
        "def mine(a):",
        "    return lambda a: a",
        "taken = _testing.units()[1]",
        "assert krait.njit(f)(np.arange(3.0)) == 1.0",
        "assert _testing.units()[1] == taken",
    ])
    subprocess.run([sys.executable, "-c", program], check=True)


@alone
def test_running_out_of_memory_forgets_what_was_being_kept():
    a = np.arange(5, dtype=np.int8)
    n, step = 1, 1
    while True:
        _testing.fail_units(n)
        try:
            assert krait.njit(lambda x: (np.sort(x)[0], np.median(x)))(a) == (0, 2.0)
            failed = False
        except MemoryError:
            failed = True
            assert counts()[0] == 0
        _testing.fail_units(0)
        assert krait.njit(lambda x: (np.sort(x)[0], np.median(x)))(a) == (0, 2.0)
        assert counts()[0] > 0
        if not failed:
            break
        _testing.fail_units(1)  # what was kept just now is forgotten, so that the next round keeps something
        with pytest.raises(MemoryError):
            krait.njit(lambda x: np.median(x), error_model="numpy")(a.astype(np.uint8 if n % 2 else np.uint16))
        _testing.fail_units(0)
        n += step
        step += n // 5
