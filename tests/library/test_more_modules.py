"""bisect and heapq whole, operator.itemgetter and attrgetter, in compiled code, against the interpreter."""

import bisect
import heapq
from collections import namedtuple
from operator import attrgetter, itemgetter

import pytest
from oracle import agree

from krait import errors, njit

Place = namedtuple("Place", "x y")


def case_insort():
    a = [1, 2, 2, 3]
    bisect.insort(a, 2, key=lambda x: x)
    bisect.insort_left(a, 0, 0, 1)
    bisect.insort_right(a, 5, lo=2)
    b = [(3, 'a'), (1, 'b')]
    bisect.insort(b, (2, 'c'), key=lambda p: -p[0])
    return a, b


def case_insort_bad():
    a = [1, 2]
    bisect.insort(a, 1, -1)


def case_merge():
    return list(heapq.merge([1, 4], [2, 3], [0, 9])), list(heapq.merge([1, 2][:0], [3]))


def case_merge_stays_stable():
    return list(heapq.merge([(1, 'a'), (2, 'b')], [(1, 'c')], key=lambda p: p[0]))


def case_merge_reverse():
    return list(heapq.merge([4, 1], [3, 2], reverse=True)), list(heapq.merge(['a', 'ccc'], ['bb'], key=len))


def case_itemgetter():
    rows = [(1, 'b', 2.0), (0, 'a', 3.0)]
    return sorted(rows, key=itemgetter(1)), max(rows, key=itemgetter(2, 0)), itemgetter(2)([1, 2, 3])


def case_itemgetter_of_dicts():
    get = itemgetter('n')
    return [get(d) for d in [{'n': 3}, {'n': 4}]]


def case_attrgetter():
    return sorted([Place(3, 1), Place(1, 2)], key=attrgetter('x')), attrgetter('y', 'x')(Place(5, 6))


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_modules(name):
    agree(globals()[name])


def test_getters_take_literals():
    def f(i):
        return itemgetter(i)([1, 2])

    with pytest.raises(errors.KraitError, match="lambda x"):
        njit(f)(1)
