"""Arrays that compiled code takes out of the containers and instances of its arguments: they live on, wherever they go,
also where nothing of Python's refers to them any more once the containers are written back."""

import collections
import gc
import threading
import time
import weakref

import numpy as np
import pytest

from conftest import host_device
from krait import cuda, njit, objmode


class Pair:
    def __init__(self, u, v):
        self.u, self.v = u, v


def zeros_and_ones():
    return [np.zeros(3), np.ones(3)]


def exchange_attributes(p):
    p.u, p.v = p.v, p.u
    return None


def replace_attribute(p):
    before = p.u
    p.u = np.full(3, 5.0)
    return before


def exchange_items(items):
    items[0], items[1] = items[1], items[0]
    return None


def take_last(items):
    return items.pop()


def take_and_clear(items):
    last = items.pop()
    items.clear()
    return last


def take_key(table):
    return table.pop("a")


def exchange_values(table):
    table["a"], table["b"] = table["b"], table["a"]
    return None


def take_both_ends(queue):
    return queue.pop(), queue.popleft()


def raise_it(items):
    raise ValueError(items.pop())


ONE = {  # function -> what it is given, made anew
    exchange_attributes: lambda: Pair(*zeros_and_ones()),
    replace_attribute: lambda: Pair(*zeros_and_ones()),
    exchange_items: zeros_and_ones,
    take_last: zeros_and_ones,
    take_and_clear: lambda: [(i, array) for i, array in enumerate(zeros_and_ones())],
    take_key: lambda: dict(zip("ab", zeros_and_ones())),
    exchange_values: lambda: dict(zip("ab", zeros_and_ones())),
    take_both_ends: lambda: collections.deque(zeros_and_ones() + zeros_and_ones()),
    raise_it: zeros_and_ones,
}


def plain(value):
    """Numbers in place of arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Pair):
        return plain(vars(value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple, collections.deque)) else value


def outcome(function, *args):
    try:
        result = function(*args)
    except ValueError as error:
        result = error.args
    reused = [np.full(3, 7.0) for _ in range(8)]  # the memory of what was given up too early
    return plain(result), plain(list(args)), len(reused)


@pytest.mark.parametrize("function", ONE, ids=lambda function: function.__name__)
def test_what_is_taken_out_of_one(function):
    compiled = njit(function)
    for _ in range(10):
        assert outcome(compiled, ONE[function]()) == outcome(function, ONE[function]())


@pytest.mark.parametrize("first", [0, 1])
def test_what_goes_from_one_to_another(first):
    def move(a, b):
        a.append(b.pop())

    def exchange(p, q):
        p.u, q.u = q.u, p.u

    for function, make in (move, zeros_and_ones), (exchange, lambda: Pair(*zeros_and_ones())):
        compiled = njit(function)
        for _ in range(10):
            ours, theirs = (make(), make()), (make(), make())
            order = slice(None, None, -1) if first else slice(None)
            assert outcome(compiled, *ours[order]) == outcome(function, *theirs[order])


class Box:
    def __init__(self, array):
        self.array = array


def empty(holder):
    """Takes the array out of what the call was given; whether it lives on."""
    if isinstance(holder, Box):
        array, holder.array = weakref.ref(holder.array), None
    else:
        array = weakref.ref(holder[0])
        holder.clear()
    gc.collect()
    ALIVE.append(array() is not None)


ALIVE, GIVEN = [], []


@njit
def first_of(items):
    try:
        with objmode():
            empty(GIVEN[0])
    except RuntimeError:  # of the change, which the call does not see
        pass
    return items[0].sum()


@njit
def array_of(box):
    try:
        with objmode():
            empty(GIVEN[0])
    except RuntimeError:  # of the change, which the call does not see
        pass
    return box.array.sum()


@pytest.mark.parametrize("function, make", [(first_of, lambda array: [array]), (first_of, lambda array: {0: array}),
                                            (array_of, Box)], ids=["list", "dict", "instance"])
def test_an_array_that_is_taken_out_during_the_call_lives_until_it_is_over(function, make):
    given = make(np.full(1000, 7.0))
    GIVEN[:], ALIVE[:] = [given], []
    assert function(given) == 7000 and ALIVE == [True]


@njit
def firsts_of(items):
    for array in items:
        yield array[0]


@pytest.mark.parametrize("make", [lambda arrays: list(arrays), lambda arrays: Pair(*arrays)], ids=["list", "instance"])
def test_arrays_that_are_taken_out_while_a_generator_waits_live_as_long_as_it(make):
    @njit
    def parts(p):
        yield p.u[0]
        yield p.v[0]

    arrays = [np.full(1000, 7.0), np.full(1000, 8.0)]
    alive, given = [weakref.ref(array) for array in arrays], make(arrays)
    del arrays
    items = (firsts_of if isinstance(given, list) else parts)(given)
    assert next(items) == 7
    if isinstance(given, list):
        given.clear()
    else:
        given.u = given.v = None
    gc.collect()
    assert alive[1]() is not None and list(items) == [8]
    del items
    gc.collect()
    assert [array() for array in alive] == [None, None]


@host_device
def test_an_array_that_an_argument_of_a_kernel_has_no_more_lives_until_the_launch_is_over():
    box, out, flags = Box(np.full(1000, 7.0)), np.zeros(1), np.ones(2, np.int64)

    @cuda.jit
    def total(box, out, flags):
        flags[0] = 1
        n = 0
        while cuda.atomic.add(flags, 1, 0) == 0 and n < 2**31:
            n += 1
        for i in range(box.array.size):
            out[0] += box.array[i]

    total[1, 1](box, out, flags)
    out[:] = flags[:] = 0
    array = weakref.ref(box.array)
    other = threading.Thread(target=total[1, 1], args=(box, out, flags))
    other.start()
    while flags[0] == 0:
        time.sleep(0.001)
    box.array = None
    gc.collect()
    alive = array() is not None
    flags[1] = 1
    other.join()
    assert alive and out[0] == 7000 and array() is None
