"""Iterators that a function returns, classes that are walked, slices of ranges, what closures fill: against the
interpreter."""

import numpy as np
import pytest
from oracle import agree


class Log:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return reversed(self.items)

    def numbered(self):
        return enumerate(self.items)


class Pairs:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return zip(self.items, self.items)


class Squares:
    def __getitem__(self, i):
        if i > 3:
            raise IndexError(i)
        return i * i


def backwards(items):
    return reversed(items)


def case_a_class_that_is_walked():
    a = Log([1, 3])
    total = 0
    for x in a:
        total += x
    whole = list(a), tuple(a), sorted(a), [*a], {*a}, [x + 1 for x in a], list(reversed(a)), list(a.numbered())
    return total, sum(a), max(a), min(a), whole, dict(zip(a, a))


def case_membership_by_walking():
    a = Log([1, 3])
    return 3 in a, 2 in a, 2 not in a, 9 in Squares(), 8 in Squares(), "b" in Log(["a", "b"])


def case_of_pairs():
    return list(Pairs([1, 3])), dict(Pairs([1, 3])), {1: 2} | dict(Pairs([4])), dict(Log([("a", 1)]), b=2)


def case_of_dicts():
    return list(Log({1: 2, 3: 4})), sum(Log({1, 2})), next(iter(Log("abc")))


def case_returned():
    return list(backwards([1, 2])), next(backwards((1, 2))), [x for x in backwards("ab")]


def case_slices_of_ranges():
    r = range(10)
    last = r[20:], r[-1:0:-3], range(0)[1:], r[slice(1, None, 4)], r[2:9:3].stop
    return r[2:8:3], r[::-1], r[-3:], r[5:2], r[2:9:3], list(r[1:]), range(1, 20, 3)[::-2], len(r[3:]), last


def case_slices_of_ranges_with_step_zero():
    return range(3)[::0]


def case_a_closure_called_in_a_comprehension():
    calls, seen, counts = [], set(), {}

    def note(x):
        calls.append(x)
        seen.add(str(x))
        counts[x] = counts.get(x, 0) + 1
        return x

    results = [note(i % 2) for i in range(4)]
    return results, calls, sorted(seen), counts, sum(note(i) for i in range(2)), len(calls)


def case_two_lists_of_a_closure():
    numbers, texts = [], []

    def note(x):
        numbers.append(x)
        texts.append(str(x))
        return x

    return [note(i) for i in range(3)], numbers, texts


def case_a_list_of_a_closure_in_a_closure():
    log = []

    def inner(x):
        log.append(x)
        return x

    def outer(x):
        return [inner(i) for i in range(x)]

    return [outer(i) for i in range(3)], log


def case_keyword_arguments_of_dict():
    d = {"a": 1}
    new = dict(d, b=2, a=5)
    d.update()
    return new, dict([("x", 1)], y=2), d


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_what_functions_return(name):
    agree(globals()[name])


def test_python_gets_an_iterator():
    agree(lambda x: list(zip(x, x)), [1, 2])
    from krait import njit
    for function in (lambda x: zip(x, x), lambda x: iter(x), lambda x: enumerate(x), lambda x: reversed(x)):
        for argument in ([1, 2], np.arange(3), "ab", (1, 2)):
            result = njit(function)(argument)
            assert iter(result) is result and list(result) == list(function(argument))
