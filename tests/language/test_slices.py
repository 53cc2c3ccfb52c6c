"""slice objects as values, and functools.reduce."""

import functools

import numpy as np
import pytest

from oracle import agree, agree_all, make

from krait import cuda, njit

BOUNDS = [None, -12, -3, -1, 0, 2, 5, 12]


def test_slices_are_values():
    def f(a, k):
        s = slice(k, k + 3)
        both = (s, slice(None, None, 2))
        return a[s], a[slice(2)], a[both], s.start, s.stop, s.step, slice(k).start

    agree(f, np.arange(40.0).reshape(8, 5), 2)
    agree(f, np.arange(40.0).reshape(8, 5), -4)


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3])
def test_indices(step):
    for start in BOUNDS:
        for stop in BOUNDS:
            function = make(f"def f(n): return slice({start}, {stop}, {step}).indices(n)")
            agree_all(function, [(0,), (5,)])


def test_of_a_list():
    agree(make("def f(x, k): return x[slice(k)], x[slice(k, None, -1)]"), [1, 2, 3, 4], 2)


PARTS = [slice(2, 5), slice(5), slice(2, None), slice(None), slice(None, None, -1), slice(-4, None, 2),
         slice(np.int64(1), np.uint8(3))]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_an_argument(part):
    agree(make("def f(a, s): return a[s], a[s][::-1]"), np.arange(8.0), part)
    agree(make("def f(m, s): return m[s, 1:], m[:, s].copy(), m[1, s]"), np.arange(24).reshape(4, 6), part)
    agree(make("def f(m, both): return m[both]"), np.arange(24).reshape(4, 6), (part, slice(1, None)))
    taken = make("def f(x, s):\n    y = x[s]\n    del x[s]\n    return y, s.indices(5), s.stop is None")
    agree(taken, [1, 2, 3, 4], part)
    agree(make("def f(x, s): return x[s] + x[s.start or 0]"), "abcdefgh", part)
    agree(make("def f(a, s, v): a[s] = v"), np.arange(8.0), part, 7.5)


def test_slices_come_and_go():
    agree(make("def f(s, n): return s, (s, n), [s], slice(n), slice(None, n, 2), str(s), f'{s}'"), slice(1, None, 3), 4)
    agree(make("def f(parts): return [p.stop - p.start for p in parts], parts"), [slice(1, 3), slice(2, 7)])
    agree(make("def f(parts): return parts['a']"), {"a": slice(1, 3)})


def test_each_kind_of_slice_has_its_specialisation():
    total = njit(lambda a, s: a[s].sum())
    assert [total(np.arange(6.0), part) for part in PARTS] == [np.arange(6.0)[part].sum() for part in PARTS]
    assert len(total.signatures) == 6
    assert total(np.arange(6.0), slice(1, 2)) == 1.0 and len(total.signatures) == 6


def test_slices_that_are_no_arguments():
    first = njit(lambda a, s: a[s])
    for part, name in [(slice(1.5), "stop"), (slice("a", 2), "start"), (slice(1, 2, np.float64(1)), "step")]:
        with pytest.raises(TypeError, match=f"a slice whose {name} is of type"):
            first(np.arange(3), part)
    for part in (slice(2**70), slice(np.uint64(2**63), None)):
        with pytest.raises(OverflowError, match="a part of a slice is [0-9]+, and has more than 64 bits: give None"):
            first(np.arange(3), part)


def test_an_argument_of_a_kernel():
    @cuda.jit
    def taken(a, part, out):
        i = cuda.grid(1)
        if i < a[part].size:
            out[i] = a[part][i]

    for part in PARTS:
        out, want = np.zeros(8), np.arange(8.0)[part]
        taken[1, 8](np.arange(8.0), part, out)
        assert out[: want.size].tolist() == want.tolist() and not out[want.size :].any()


def test_what_is_wrong():
    agree(make("def f(n, k): return slice(1, 2, k).indices(n)"), 5, 0)
    agree(make("def f(n): return slice(1, 2).indices(n)"), -5)


def test_reduce():
    agree(lambda n: functools.reduce(lambda a, b: a * 2 + b, range(n), 0), 5)
    agree(lambda x: functools.reduce(lambda a, b: max(a, b), x), [1.5, 4.5, 2.5])
    agree(lambda x: functools.reduce(lambda a, b: a - b, x), np.arange(5))
    agree(lambda x: functools.reduce(lambda a, b: a - b, x), np.arange(0))


def test_parts_of_ranges_at_the_ends_of_64_bits():
    """They are right, or told: the end, or the step, may be a number that no int of compiled code is."""

    def function(start, stop, step, low, high, by):
        part = range(start, stop, step)[low:high:by]
        return len(part), [x for x in part]

    top, bottom = 2**63 - 1, -(2**63)
    compiled = njit(function)
    ranges = [(top - 3, top, 2), (bottom + 3, bottom, -1), (top, bottom, bottom), (bottom, top, top),
              (bottom, top, 2**62), (top, top - 5, -1), (bottom, bottom + 4, 1), (0, 10, 3), (10, 0, -3)]  # fmt: skip
    parts = [(1, None, 1), (None, None, -1), (None, None, 2), (0, -1, 1), (2, 1, 1), (1, 99, 3), (-2, None, 1)]
    for one in ranges:
        for part in parts:
            whole = range(*one)[slice(*part)]
            if all(bottom <= x <= top for x in (whole.start, whole.stop, whole.step)):
                assert compiled(*one, *part) == (len(whole), list(whole)), (one, part)
                continue
            try:
                assert compiled(*one, *part) == (len(whole), list(whole)), (one, part)
            except OverflowError:
                assert len(whole) > 1 or whole.step in (top, bottom), (one, part)
