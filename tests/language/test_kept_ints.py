"""Ints put into containers of floats: those that are floats become such, others raise, as a list would keep them."""

import pytest

from krait import njit

EXACT = [0, 3, -7, 2**53, -(2**53), 2**53 + 2, 2**60, -(2**63), 2**62 + 2**10]
OTHERS = [2**53 + 1, -(2**53) - 1, 2**60 + 1, 2**63 - 1, 1 - 2**63, 2**62 + 2**9 - 1]


def append(l, n):
    l.append(n)
    return l


def assign(l, n):
    l[0] = n
    return l


def insert(l, n):
    l.insert(0, n)
    return l


def extend(l, n):
    l.extend([n])
    return l


def pairs(l, n):
    m = [(l[0], 1)]
    m.append((n, 2))
    return m


def made_here(l, n):
    m = [0.5]
    m.append(n)
    return m


def in_a_dict(l, n):
    d = {"a": l[0]}
    for name in ["b", "a"]:
        d[name] = n
    return d


def in_rows(l, n):
    t = [l, [1.5]]
    t[0][0] = n
    return t


@pytest.mark.parametrize("function", [append, assign, insert, extend, pairs, made_here, in_a_dict, in_rows],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_ints_that_are_no_floats(function):
    compiled = njit(function)
    for n in EXACT:
        assert compiled([0.5], n) == function([0.5], n), n
    for n in OTHERS:
        with pytest.raises(OverflowError, match=f"the int {n}, put among floats, is no float"):
            compiled([0.5], n)


def test_a_dict_whose_names_are_written_out_keeps_ints_as_they_are():
    def f(x, n):
        d = {"a": x}
        d["b"] = n
        d["a"] = n
        return d

    compiled = njit(f)
    for n in [*EXACT, *OTHERS]:
        assert compiled(0.5, n) == f(0.5, n), n


def test_constants_and_conversions():
    def constant(l):
        l.append(2**53 + 1)
        return l

    def converted(l):
        l.append(float(2**53 + 1))
        return l

    with pytest.raises(OverflowError, match="9007199254740993"):
        njit(constant)([0.5])
    assert njit(constant)([]) == [2**53 + 1]
    assert njit(converted)([0.5]) == converted([0.5])


def test_dicts_that_are_passed():
    def count(d, k, n):
        d[k] = d.get(k, 0) + n
        return d

    assert njit(count)({"a": 0.5}, "b", 3) == {"a": 0.5, "b": 3.0}

    def put(d, n):
        d["b"] = n

    d = {"a": 0.5}
    with pytest.raises(OverflowError):
        njit(put)(d, 2**53 + 1)
    njit(put)(d, 2**53)
    assert d == {"a": 0.5, "b": 2.0**53}


def test_the_exception_is_caught():
    def guarded(l, n):
        try:
            l.append(n)
        except OverflowError:
            l.append(-1.0)
        return l

    assert njit(guarded)([0.5], 2**53 + 1) == [0.5, -1.0]
