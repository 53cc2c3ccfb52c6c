"""Loops over prange inside loops over prange: the interpreter's results, the same on any number of threads; inner loops
take the threads that outer ones leave idle."""

import os
import subprocess
import sys

import numpy as np
import pytest

from krait import get_num_threads, get_thread_id, njit, prange, set_parallel_chunksize

parallel = njit(parallel=True)


@parallel
def table(a, out):
    for i in prange(a.shape[0]):
        for j in prange(a.shape[1]):
            out[i, j] = a[i, j] * 2 + i - j


@parallel
def deep(a, out):
    for i in prange(a.shape[0]):
        for k in prange(3):
            for j in prange(a.shape[1]):
                if j % 3 == k:
                    out[i, j] = a[i, j] + k


@parallel
def row_extremes(a, out):
    for i in prange(a.shape[0]):
        low, high, count = 9.0, -9.0, 0
        for j in prange(a.shape[1]):
            low, high = min(low, a[i, j]), max(high, a[i, j])
            count += j & 7
        out[i, 0], out[i, 1], out[i, 2] = low, high, count


@parallel
def sums(a, out):
    total = 0.0
    for i in prange(a.shape[0]):
        row = 0.0
        for j in prange(a.shape[1]):
            row += a[i, j]
        out[i, 0] = row
        total += row * i
    out[0, 1] = total


@parallel
def of_a_row(row):
    total, most = 0.0, 0
    for j in prange(row.size):
        total += np.sin(row[j])
        most = max(most, int(row[j] * 1000))
    return total + most


@parallel
def calls(a, out):
    for i in prange(a.shape[0]):
        out[i, 0] = of_a_row(a[i])


@parallel
def inner_loops_between_others(a, out):
    for i in prange(a.shape[0]):
        last = 0
        for j in prange(a.shape[1]):
            out[i, j] = 1
            last = j
        for j in range(3):
            for k in prange(a.shape[1]):
                out[i, k] += last * j
        out[i, 0] = last


@parallel
def drawn(a, out):
    np.random.seed(3)
    for i in prange(a.shape[0]):
        for j in prange(a.shape[1]):
            out[i, j] = np.random.rand()


EXACT = [table, deep, row_extremes, inner_loops_between_others]
CLOSE = [sums, calls]
SHAPES = [(2, 5000), (3, 40_000), (1, 7000), (300, 7), (3, 3)]


def results(function, shape):
    a = np.random.default_rng(5).random(shape)
    out = np.zeros(shape)
    function(a, out)
    return out


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", EXACT + CLOSE, ids=lambda f: f.__name__)
def test_as_the_interpreter(function, shape):
    ours, theirs = results(function, shape), results(function.py_func, (min(shape[0], 20), min(shape[1], 700)))
    ours = ours if ours.shape == theirs.shape else results(function, theirs.shape)
    (np.testing.assert_array_equal if function in EXACT else np.testing.assert_allclose)(ours, theirs)


def test_without_rounds():
    for shape in [(0, 5), (5, 0), (0, 0)]:
        out = np.zeros(shape)
        table(np.zeros(shape), out)
    out = np.zeros((5, 3))
    row_extremes(np.zeros((5, 0)), out)
    assert (out == [9, -9, 0]).all()


def test_the_same_on_any_number_of_threads():
    code = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
import test_nested_parallel as t
for function in t.EXACT + t.CLOSE + [t.drawn]:
    for shape in t.SHAPES:
        for _ in range(2):  # loops are measured the first time
            print(function.__name__, shape, hashlib.sha256(t.results(function, shape)).hexdigest())
"""
    texts = set()
    for threads in "1", "2", "3", "8":
        run = subprocess.run([sys.executable, "-c", code, os.path.dirname(__file__)], capture_output=True, text=True,
                             env={**os.environ, "KRAIT_NUM_THREADS": threads}, timeout=170)
        assert run.returncode == 0, run.stderr
        texts.add(run.stdout)
    assert len(texts) == 1


@parallel
def who(outer, inner, ids, at_once, most):
    for i in prange(outer):
        for j in prange(inner):
            ids[i, j] = get_thread_id()
            at_once[i, j] = get_num_threads()
            for k in range(300):
                most[i, j] = (most[i, j] * k + 7) % 1_000_003


def test_inner_loops_take_what_outer_ones_leave():
    """... and the numbers of threads that run at once differ, and are below get_num_threads()."""
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, test_nested_parallel as t
seen = set()
for outer in (2, 3, 8, 50):
    ids, at_once, most = np.zeros((3, outer, 400), int)
    for _ in range(20):
        t.who(outer, 400, ids, at_once, most)
        assert (at_once == 8).all() and ids.min() >= 0 and ids.max() < 8, (outer, ids.max())
        rows = [set(row) for row in ids.tolist()]
        if outer < 8:
            assert all(len(row) <= 8 // outer for row in rows)
        else:
            assert all(len(row) == 1 for row in rows)
        seen.add((outer, max(len(row) for row in rows)))
assert any(outer == 2 and threads > 1 for outer, threads in seen), seen
"""
    run = subprocess.run([sys.executable, "-c", code, os.path.dirname(__file__)], capture_output=True, text=True,
                         env={**os.environ, "KRAIT_NUM_THREADS": "8"}, timeout=170)
    assert run.returncode == 0, run.stderr


@parallel
def raises(a):
    for i in prange(a.shape[0]):
        for j in prange(a.shape[1]):
            if a[i, j] < 0:
                raise ValueError(i, j)


@pytest.mark.parametrize("shape", [(2, 3000), (60, 50)])
def test_the_first_exception_comes_out(shape):
    a = np.ones(shape)
    raises(a)
    a[1, 7] = a[1, 40] = a[shape[0] - 1, 3] = -1
    first = (1, 3) if shape[0] == 2 else (1, 7)
    with pytest.raises(ValueError) as raised:
        raises(a)
    assert raised.value.args == first


@parallel
def chunks_in_chunks(n, out):
    before = set_parallel_chunksize(4)
    for i in prange(n):
        for j in prange(n):
            out[i, j] = i * n + j
    set_parallel_chunksize(before)


def test_chunks_as_set_inside_compiled_code():
    out = np.zeros((30, 30))
    chunks_in_chunks(30, out)
    assert (out == np.arange(900).reshape(30, 30)).all()


def test_what_is_told_of_inner_loops(capsys):
    table(np.zeros((3, 3)), np.zeros((3, 3)))
    sums(np.zeros((3, 3)), np.zeros((3, 2)))
    table.parallel_diagnostics()
    sums.parallel_diagnostics()
    told = capsys.readouterr().out
    assert "runs on several cores" in told and "runs on the cores that the loop around it leaves idle" in told
    assert "its sums of floats would depend on how many cores are idle" in told
