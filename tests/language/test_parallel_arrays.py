"""Expressions and reductions of whole arrays in functions with parallel=True: taken apart along an axis, they give what
the interpreter gives, whatever the number of threads."""

import functools
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from krait import njit, prange, set_num_threads, get_num_threads, vectorize
from oracle import agree_all, difference

SHAPES = [(0,), (1,), (5,), (100_000,), (3, 4), (1, 5), (5, 1), (0, 4), (4, 0), (300, 200), (2, 3, 4), (70, 1, 33)]


def operands(shape, order):
    rng = np.random.default_rng(len(shape))
    return tuple(np.asarray(rng.integers(low, 9, shape).astype(float), order=order) for low in (-9, 1))


def expression(x, y):
    return np.sqrt(x * x + y) * 2 - x


def stretched(x, y):
    return x[0:1] + y * 2, x[..., 0:1] + y * 2, x * 3 + 1.5


def turned(x, y):
    return x[::-1] + y, x.T * y.T


def reductions(x, y):
    return (x * y).sum(), (x > y).sum(), (x > y).any(), np.all(x < y + 100)


def extremes(x, y):
    return np.max(x * y), y.min()


def in_place(x, y):
    np.add(x, 1.0, out=x)
    np.multiply(x, y + 1, out=x)
    x += 0.5
    return x


@functools.cache
def compiled(function):
    return njit(parallel=True)(function)


def outcome(function, *args):
    """Arrays in C order: how results of several layouts lie is said elsewhere."""
    try:
        result = function(*args)
        whole = result if isinstance(result, tuple) else (result,)
        return tuple(np.array(item, order="C") if isinstance(item, np.ndarray) else item for item in whole)
    except Exception as error:
        return type(error), error.args


@pytest.mark.parametrize("function", [expression, stretched, turned, reductions, extremes, in_place],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", "CF")
def test_what_the_interpreter_gives(function, order):
    for shape in SHAPES:
        ours, theirs = operands(shape, order), operands(shape, order)
        text = difference(outcome(compiled(function), *ours), outcome(function, *theirs))
        assert text is None, f"{shape}: {text}"
        for a, b in zip(ours, theirs):
            np.testing.assert_array_equal(a, b)


def test_what_overlaps_is_done_in_order():
    def shifted(x):
        x[1:] = x[:-1] + 1
        return x

    def of_its_own(x):
        y = np.zeros(x.size)
        y[:] = x
        y[1:] += y[:-1]
        return y

    for function in (shifted, of_its_own):
        ours, theirs = np.arange(100_000.0), np.arange(100_000.0)
        assert difference(compiled(function)(ours), function(theirs)) is None
        np.testing.assert_array_equal(ours, theirs)


def test_the_first_exception_counts():
    @vectorize
    def root(a):
        if a < 0:
            raise ValueError("negative")
        return np.sqrt(a)

    f = njit(parallel=True)(lambda x: root(x) + 1)
    x = np.ones(50_000)
    np.testing.assert_array_equal(f(x), 2 * x)
    x[40_000] = -1
    with pytest.raises(ValueError, match="^negative$"):
        f(x)
    with pytest.raises(ValueError, match="could not be broadcast"):
        njit(parallel=True)(lambda x, y: x + y)(np.ones(3), np.ones(4))


def float_sums(x, y):
    return (x * y).sum(), x.sum(), np.max(x - y)


def test_sums_of_floats_are_the_same_on_any_number_of_threads():
    x, y = np.random.default_rng(2).uniform(0, 1, (2, 300_007))
    first, before = compiled(float_sums)(x, y), get_num_threads()
    np.testing.assert_allclose(first, float_sums(x, y), rtol=1e-13)
    set_num_threads(1)
    try:
        assert difference(compiled(float_sums)(x, y), first) is None
    finally:
        set_num_threads(before)
    x[1234] = np.nan
    assert np.isnan(compiled(float_sums)(x, y)).all()


def test_within_parallel_loops_they_run_on_the_core_of_the_iteration():
    def rows(x):
        total = 0.0
        for i in prange(x.shape[0]):
            total += np.sum(x[i] * 2 + 1)
        return total

    agree_all(compiled(rows).py_func, [(np.ones((40, 30)),)])
    x = np.arange(1200.0).reshape(40, 30)
    assert compiled(rows)(x) == rows(x)


def test_which_are_taken_apart():
    code = """
        import numpy as np
        from krait import njit

        @njit(parallel=True)
        def own(x, y):
            return x * y + 1

        @njit(parallel=True)
        def sums(x, y):
            return (x * y).sum()

        @njit(parallel=True)
        def same(x, y):
            x += 1.5

        @njit(parallel=True)
        def asks(x, y):
            x[1:] = y[:-1] * 2

        @njit(parallel=True)
        def overlaps(x, y):
            x[1:] = x[:-1] * 2

        @njit
        def serial(x, y):
            return x * y + 1

        for function in (own, sums, same, asks, overlaps, serial):
            function(np.ones(4), np.ones(4))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "KRAIT_DUMP": "spread"})
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^---- krait_(\w+): spread ----$", done.stderr, flags=re.M)
    texts = {name: text.split("\n\n")[0] for name, text in zip(parts[1::2], parts[2::2])}
    assert [name for name in texts if "call_inst" in texts[name]] == ["own", "sums", "same", "asks"]
    assert [name for name in texts if re.search(r"^ +(%\d+: \S+ = )?(map|reduce)", texts[name], re.M)] == [
        "overlaps",
        "serial",
    ]


# ---- what is said of it ----------------------------------------------------------------------------------------------


def told(x, y):
    s = 0.0
    z = np.sqrt(x * x + y) * 2
    h = np.zeros(4)
    for i in prange(len(x)):
        s += z[i]
        for j in prange(3):
            s += j
    for i in prange(len(x)):
        h[i % 4] += x[i]
    x[1:] = x[:-1] + 1
    return s, (z * y).sum(), z[:, None] * np.exp(y), h


def lines_told(capsys, function, *signature, **options):
    function.parallel_diagnostics(*signature, **options)
    first = told.__code__.co_firstlineno
    return {(int(line) - first, text) for line, text in re.findall(r":(\d+): \w+: (.*)\n", capsys.readouterr().out)}


def test_diagnostics(capsys):
    f = njit(parallel=True)(told)
    f(np.ones(4), np.ones(4))
    one = lines_told(capsys, f)
    assert one == {
        (2, "the expression of whole arrays runs on several cores"),
        (4, "the loop over prange runs on several cores"),
        (6, "the loop over prange is a range: it lies in another one, and its sums of floats would depend on how many "
            "cores are idle"),
        (8, "the loop over prange runs on several cores"),
        (10, "the expression of whole arrays stays on one core: "
             "it writes to an array that may lie over one that it reads"),
        (11, "the reduction runs on several cores"),
        (11, "the expression of whole arrays runs on several cores"),
    }  # fmt: skip
    two, three = lines_told(capsys, f, level=2), lines_told(capsys, f, f.signatures[0], 3)
    assert one < two < three
    assert (4, "`s` is a reduction of it") in two
    assert any(line == 2 and "part of the loop" in text for line, text in two - one)
    assert [line for line, text in three - two if "would be computed again for each element" in text] == [11]
    with pytest.raises(ValueError, match="level is 1 to 4, not 7"):
        f.parallel_diagnostics(level=7)
    serial = njit(told)
    serial(np.ones(4), np.ones(4))
    serial.parallel_diagnostics()
    assert "nothing in the function runs on several cores" in capsys.readouterr().out


def apart(x):
    twice = x * 2
    both = np.sin(twice) + twice.sum()
    for _ in range(2):
        both = np.cos(twice) + both
    return both


def test_why_expressions_stay_apart(capsys):
    f = njit(parallel=True)(apart)
    f(np.ones(4))
    f.parallel_diagnostics(level=3)
    lines = [int(line) for line in re.findall(r"test_parallel_arrays.py:(\d+): ", capsys.readouterr().out)]
    assert lines == sorted(lines) and len(lines) > 4
    f.parallel_diagnostics(level=3)
    told = re.findall(r":(\d+): apart: the expression is a loop apart from its use in line (\d+): (.*)",
                      capsys.readouterr().out)  # fmt: skip
    first = apart.__code__.co_firstlineno
    told = {(int(line) - first, int(use) - first, re.sub(r"\d+", lambda n: str(int(n[0]) - first), why))
            for line, use, why in told}  # fmt: skip
    assert (1, 2, "its array is used in line 4, too") in told


def test_parts_that_are_left_out(capsys):
    def texts(**parts):
        f = njit(parallel=parts)(told)
        f(np.ones(4), np.ones(4))
        return {re.sub(" (runs|stays|is a range).*", "", text) for _, text in lines_told(capsys, f)}

    loop, expression, reduction = "the loop over prange", "the expression of whole arrays", "the reduction"
    assert texts() == {loop, expression, reduction}
    assert texts(prange=False) == {expression, reduction}
    assert texts(numpy=False, stencil=False) == {loop, reduction}
    assert texts(reduction=False, numpy=True) == {loop, expression}
    with pytest.raises(ValueError, match="option parallel has no part 'prang'; its parts are prange"):
        njit(parallel={"prang": False})
    with pytest.raises(TypeError, match="option parallel is True or False, not 'yes'"):
        njit(parallel="yes")


def test_pndindex_runs_in_order():
    from krait import pndindex

    def scaled(x):
        total = np.float64(0)
        for place in pndindex(x.shape):
            total += x[place]
            x[place] = total
        return total

    agree_all(scaled, [(np.arange(12.0).reshape(3, 4),), (np.zeros((0, 3)),), (np.ones(5),)])
    x = np.arange(12.0).reshape(3, 4)
    assert compiled(scaled)(x) == 66 and x[1, 0] == 10


def test_whether_arguments_overlap_is_asked_at_run_time(capsys):
    def put(out, x, y):
        out[:] = np.sqrt(x) + y * 2
        x += y
        return out

    f = njit(parallel=True)(put)
    memory = np.random.default_rng(6).random(200_003)
    for a, b, c in [
        (slice(0, 50_000), slice(50_000, 100_000), slice(100_000, 150_000)),
        (slice(0, 50_000), slice(0, 50_000), slice(100_000, 150_000)),  # exactly on each other
        (slice(1, 50_001), slice(0, 50_000), slice(100_000, 150_000)),
        (slice(0, 50_000), slice(1, 50_001), slice(2, 50_002)),
        (slice(50_000, 0, -1), slice(0, 50_000), slice(3, 150_003, 3)),
        (slice(0, 0), slice(0, 0), slice(5, 5)),
    ]:
        ours, theirs = memory.copy(), memory.copy()
        np.testing.assert_array_equal(f(ours[a], ours[b], ours[c]), put(theirs[a], theirs[b], theirs[c]))
        np.testing.assert_array_equal(ours, theirs)
    table = np.random.default_rng(7).random((300, 300))
    ours, theirs = table.copy(), table.copy()
    np.testing.assert_array_equal(f(ours, ours.T, ours[0]), put(theirs, theirs.T, theirs[0]))
    np.testing.assert_array_equal(ours, theirs)
    f.parallel_diagnostics()
    assert "stays on one core" not in capsys.readouterr().out
