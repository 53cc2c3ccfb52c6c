"""krait.typed: containers under Numba's names."""

import krait
from krait import njit, types
from krait.typed import Dict, List


def test_lists_are_made_in_compiled_code():
    @njit
    def f(n):
        numbers, others = List(), list()
        reals = List.empty_list(types.float64)
        for i in range(n):
            numbers.append(i)
            reals.append(i)
            others.append((i, 0.5))
        return numbers, reals, others

    assert f(2) == ([0, 1], [0.0, 1.0], [(0, 0.5), (1, 0.5)])
    assert f(0) == ([], [], [])
    assert all(type(x) is float for x in f(2)[1])


def test_lists_are_changed_in_place():
    @njit
    def f(items):
        items.append(items[0] * 2)
        items.sort()
        return len(items)

    items = List([3, 1])
    assert f(items) == 3 and items == [1, 3, 6] and isinstance(items, List)


def test_empty_ones_say_what_they_are_for():
    @njit
    def fill(counts, words):
        for word in words:
            counts[word] = counts.get(word, 0) + 1

    counts, weights = Dict.empty(str, types.int64), Dict.empty(types.int64, types.float64)
    fill(counts, ["a", "b", "a"])
    fill(weights, [1, 2, 1])
    assert counts == {"a": 2, "b": 1} and weights == {1: 2.0, 2: 1.0} and type(weights[1]) is float

    @njit
    def put(items, x):
        items.append(x)

    numbers, reals = List.empty_list(types.int64), List.empty_list(types.float64)
    put(reals, 1)
    put(numbers, 1)
    assert [type(x) for x in numbers + reals] == [int, float]


def test_the_module_is_an_attribute():
    assert njit(lambda: krait.typed.List.empty_list(types.int64))() == []
    assert njit(lambda: krait.typed.Dict.empty(types.int64, types.float64))() == {}
    assert krait.typed.List is List and List.empty_list(types.int64) == []
