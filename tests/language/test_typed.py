"""krait.typed: containers under Numba's names."""

import pickle

import numpy as np
import pytest

import krait
from krait import errors, njit, types
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
    assert [type(x) for x in [*numbers, *reals]] == [int, float]


def test_the_module_is_an_attribute():
    assert njit(lambda: krait.typed.List.empty_list(types.int64))() == []
    assert njit(lambda: krait.typed.Dict.empty(types.int64, types.float64))() == {}
    assert krait.typed.List is List and List.empty_list(types.int64) == []


def test_strings_and_arrays_are_named_as_types():
    @njit
    def texts():
        words = List.empty_list(types.unicode_type)
        words.append("a")
        counts = Dict.empty(types.unicode_type, types.int64)
        counts["b"] = 2
        return words, counts

    assert texts() == (["a"], {"b": 2})

    columns = types.float64[:, ::1]

    @njit
    def arrays(n):
        rows = Dict.empty(types.int64, types.float64[:])
        rows[n] = np.arange(n) * 0.5
        rows[1] = np.arange(6.0)[::2]
        tables = List.empty_list(columns)
        tables.append(np.ones((2, n)))
        empty = List.empty_list(types.float64[::1])
        return rows, tables, len(empty), len(Dict.empty(types.unicode_type, columns))

    rows, tables, *lengths = arrays(3)
    assert list(rows) == [3, 1] and lengths == [0, 0]
    assert rows[3].tolist() == [0, 0.5, 1] and rows[1].tolist() == [0, 2, 4]
    assert len(tables) == 1 and (tables[0] == np.ones((2, 3))).all()

    @njit
    def fill(words, table):
        words.append("x")
        table["y"] = np.zeros(2)
        return len(words), len(table)

    words, table = List.empty_list(types.unicode_type), Dict.empty(types.unicode_type, types.float64[::1])
    assert fill(words, table) == (1, 1) and words == ["x"] and table["y"].tolist() == [0, 0]


def test_array_types_are_no_element_types():
    with pytest.raises(errors.TypingError, match="a type of numbers"):
        njit(lambda: np.empty(3, types.float64[:]))()
    with pytest.raises(errors.TypingError, match="cannot be called"):
        njit(lambda x: types.float64[:](x))(2.5)


def count(d, items):
    for x in items:
        d[x] = d.get(x, 0) + 1
    return d


def test_declared_containers_take_the_scalars_of_arrays():
    @njit
    def counted(items):
        return count(Dict.empty(types.int64, types.int64), items)

    @njit
    def collected(items):
        made = List.empty_list(types.float64)
        for x in items:
            made.append(x)
            made.insert(0, x)
        return made

    for dtype in (np.int64, np.int32, np.uint8):
        found = counted(np.array([1, 1, 2], dtype))
        assert found == {1: 2, 2: 1} and all(type(k) is int and type(v) is int for k, v in found.items())
    for dtype in (np.float64, np.float32, np.int64):
        reals = collected(np.array([1, 2], dtype))
        assert reals == [2.0, 1.0, 1.0, 2.0] and all(type(x) is float for x in reals)
    with pytest.raises(errors.TypingError):
        counted(np.array([1.5]))


def kept(type_, value):
    items = List.empty_list(type_)
    items.append(value)
    return items[0]


def test_items_are_converted_where_nothing_is_lost():
    for type_, value, made in (
        (types.float64, 1, float),
        (types.int64, True, int),
        (types.int64, np.int8(1), int),
        (types.float64, np.float32(1), float),
        (types.complex128, 1.0, complex),
        (types.boolean, 1, bool),
        (types.int32, 1, np.int32),
        (types.float32, 1, np.float32),
        (float, 1, float),
    ):
        item = kept(type_, value)
        assert item == value and type(item) is made
    assert [type(x) for x in kept(types.UniTuple(types.float64, 2), (1, 2))] == [float, float]
    row = np.zeros((1, 3))
    assert kept(types.float64[::1, :], row) is row and kept(types.optional(types.int64), None) is None

    weights = Dict.empty(types.unicode_type, types.float64)
    weights["a"] = 1
    weights.update(b=2)
    weights |= {"c": 3}
    weights.setdefault("d", 4)
    more = weights.copy()
    assert weights == {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0} and type(more) is Dict
    assert {type(x) for x in weights.values()} == {float}


def test_items_of_other_types_are_refused():
    for type_, value in (
        (types.int64, "a"),
        (types.int64, 2.5),
        (types.int64, np.float64(3.5)),
        (types.float64, 1j),
        (types.unicode_type, 1),
        (types.UniTuple(types.int64, 2), (1, 2, 3)),
        (types.float64[::1], np.zeros(4)[::2]),
        (types.float64[:], np.zeros(2, np.float32)),
        (types.float64[:], [1.0]),
        (types.ListType(types.int64), 1),
    ):
        with pytest.raises(errors.TypingError, match="an item of type .* cannot be"):
            kept(type_, value)
    for type_, value in (
        (types.int32, 2**40),
        (types.uint8, -1),
        (types.int64, 2**63),
        (types.int64, np.uint64(2**63)),
    ):
        with pytest.raises(OverflowError):
            kept(type_, value)
    weights = Dict.empty(types.unicode_type, types.float64)
    with pytest.raises(errors.TypingError, match="a key of type string cannot be 1, of type int"):
        weights[1] = 1.0
    with pytest.raises(errors.TypingError, match="a value of type float64 cannot be 'x', of type str"):
        weights.update(a="x")
    assert weights == {}


def test_the_first_item_says_the_type():
    assert [type(x) for x in List([1.5, 2])] == [float, float]
    grown = List()
    grown.append(1)
    for change in (
        lambda: grown.append(2.5),
        lambda: grown.insert(0, "a"),
        lambda: grown.extend(["a"]),
        lambda: grown.__setitem__(0, "a"),
        lambda: grown.__setitem__(slice(0, 1), ["a"]),
        lambda: List([1, "a"]),
        lambda: grown[:1].append("a"),
        lambda: grown.copy().append("a"),
        lambda: pickle.loads(pickle.dumps(grown)).append("a"),
    ):
        with pytest.raises(errors.TypingError, match="an item of type int64 cannot be"):
            change()
    assert grown == [1] and type(grown[:1]) is type(grown.copy()) is List and grown.getitem_unchecked(0) == 1

    table = Dict()
    table[1] = 2
    with pytest.raises(errors.TypingError, match="a key of type int64"):
        table["a"] = 3
    assert Dict({1: 2}) == Dict([(1, 2)]) == table and Dict(a=1) == {"a": 1}
    # one that holds others, too, is a plain list of compiled code
    assert njit(lambda rows: rows[0][0])(List([List([7])])) == 7


def test_many_items_at_once():
    assert List(range(3)) == [0, 1, 2] and List(iter("ab")) == ["a", "b"] and List(()) == []
    with pytest.raises(OverflowError):
        List([1, 2**63])
    with pytest.raises(OverflowError):
        List([1, -(2**63) - 1])
    flags = List([1, True])
    assert [type(x) for x in flags] == [int, int]


@pytest.mark.parametrize(("type_", "value"), [
    (types.int8, 300), (types.int8, np.int64(300)), (types.int8, np.uint8(200)), (types.uint8, np.int64(-1)),
    (types.float64, 2**53 + 1), (types.float32, np.float64(1e300)), (types.bool_, 5), (types.int64, np.uint64(2**63)),
    (types.complex128, 2**53 + 1),
])  # fmt: skip
def test_a_conversion_that_loses_a_number_raises(type_, value):
    for put in (List.empty_list(type_).append, lambda v: Dict.empty(type_, type_).update({v: v})):
        with pytest.raises(OverflowError):
            put(value)


def test_a_float_may_be_rounded():
    singles = List.empty_list(types.float32)
    singles += [0.1, np.inf, 3]
    assert singles == [np.float32(0.1), np.inf, 3] and {type(x) for x in singles} == {np.float32}


def test_operators_keep_the_type():
    numbers, table = List([1.0]), Dict.empty(types.int64, types.float64)
    for made in (numbers + [2], numbers * 2, 2 * numbers, numbers[:1]):
        assert type(made) is List and {type(x) for x in made} == {float}
        with pytest.raises(errors.TypingError):
            made + ["a"]
    assert type(table | {1: 2}) is Dict and repr((table | {1: 2})[1]) == "2.0" and not table
    with pytest.raises(TypeError):
        numbers + (1,)


def test_items_without_a_check_are_checked():
    @njit
    def second(items):
        return items.getitem_unchecked(1)

    assert second(List([1, 2, 3])) == 2 and second(List(["a", "b"])) == "b"
    with pytest.raises(IndexError):
        second(List([1]))
