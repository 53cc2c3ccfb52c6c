"""Iterators as values: kept in variables, joined where paths meet, used by loop after loop, next()."""

import numpy as np
import pytest

from krait import cuda, jit
from krait.errors import KraitError
from oracle import agree, agree_all

A = np.arange(6.0)
B = np.arange(12).reshape(4, 3)


def two_loops(x):
    it = iter(x)
    first = 0
    for a in it:
        if a > 2:
            break
        first += a
    second = 0
    for b in it:
        second = second * 10 + b
    return first, second


def choose(x, y, c):
    it = iter(x) if c else iter(y)
    total = 0
    for a in it:
        total = total * 7 + a
    return total


def renewed(x, n):
    it = iter(x)
    total = 0
    for i in range(n):
        total = total * 3 + next(it, -1)
        if i % 3 == 2:
            it = iter(x)
    return total


def pairs_of_one(x):
    it = iter(x)
    total = 0
    for a, b in zip(it, it):
        total = total * 100 + a * 10 + b
    return total, next(it, -5)


def rest_after_zip(x, y):
    it, other = iter(x), iter(y)
    total = 0
    for a, b in zip(it, other):
        total += a * b
    return total, next(it, -1), next(other, -1)


def enumerated(x):
    it = iter(x)
    next(it)
    total = 0
    for i, a in enumerate(it, 5):
        total = total * 10 + i * a
        if i == 6:
            break
    return total, next(it, -1)


def shared_enumerate(x):
    it = enumerate(x)
    i, a = next(it)
    total = i + a
    for i, a in it:
        total = total * 10 + i + a
    return total


def in_a_tuple(x):
    t = (iter(x), 1)
    a = next(t[0])
    b = next(t[0])
    return a * 10 + b + t[1]


def alias(x):
    it = iter(x)
    jt = it
    a = next(it)
    b = next(jt)
    return a, b, next(it)


def iter_of_iter(x):
    it = iter(x)
    return next(iter(it)) * 10 + next(it)


def nested(x):
    it = iter(x)
    total = 0
    for a in it:
        for b in it:
            total = total * 10 + a * b
            break
    return total


def zip_of_zip(x, y):
    it = zip(x, zip(y, x))
    total = 0
    a, (b, c) = next(it)
    total = a + b + c
    for a, (b, c) in it:
        total = total * 5 + a + b * c
    return total


def backwards(x):
    it = reversed(x)
    a = next(it)
    total = 0
    for b in it:
        total = total * 10 + b
    return a, total, next(it, -1)


RANGES = [(range(0),), (range(6),), (range(9, -9, -4),), (range(1, 9, 3),), (range(-3, 4),)]
ONE = [two_loops, pairs_of_one, nested, backwards]


def agree_in_value(function, *args):
    """A sum that starts with a Python number and goes on with an array's has the array's type in compiled code."""
    assert jit(function)(*args) == function(*args)


@pytest.mark.parametrize("function", ONE)
def test_one_iterator_in_two_places(function):
    agree_all(function, RANGES + [((1, 2, 3, 4, 5),)])
    for x in (A, np.arange(7)):
        agree_in_value(function, x)


def test_iterators_joined_where_paths_meet():
    for c in (True, False):
        agree(choose, range(3), range(9, 2, -2), c)
        agree(choose, (1, 2, 3), (4, 5, 6), c)
        agree(choose, A, A[::-1].copy(), c)


def test_an_iterator_made_anew_in_a_loop():
    agree_all(renewed, [(x, n) for x in (range(2), range(5)) for n in (0, 2, 9)])
    agree_in_value(renewed, A, 9)


def test_zip_takes_its_items_in_order():
    agree_all(rest_after_zip, [(range(n), range(10, 10 + m)) for n in range(4) for m in range(4)])
    agree(rest_after_zip, A, (1, 2))


def test_what_is_made_of_a_shared_iterator():
    agree_all(enumerated, [(range(1, 9),), (A,), (range(3),)])
    agree_all(shared_enumerate, [(range(1, 5),), (A,)])
    agree(zip_of_zip, range(1, 5), range(3, 9))
    agree(zip_of_zip, A, A + 1)


def test_aliases_move_together():
    for function in (in_a_tuple, alias, iter_of_iter):
        agree(function, range(3, 9))
        agree(function, A)
        agree(function, (1, 2, 3))


def test_rows_of_an_array():
    def rows(x):
        it = iter(x)
        first = next(it)
        total = first[0] * 0
        for row in it:
            total += row[0] * row[2] + first[1]
        return total

    agree(rows, B)
    agree(rows, np.asfortranarray(B))

    def flat(x):
        it = iter(x.flat)
        next(it)
        total = 0
        for a, b in zip(it, it):
            total = total * 3 + a - b
        return total

    agree(flat, B)
    agree(flat, B[::2, ::-1])


def test_builtins_over_what_is_left():
    def left(x):
        it = iter(x)
        next(it, 0)
        return max(it)

    agree(left, range(3, 9))

    def any_left(x):
        it = iter(x)
        return any(it), any(it), next(it, 7)

    agree_all(any_left, [((0, 0, 1, 0, 2),), ((0, 1),), ((0, 0),)])


def test_next_of_an_empty_iterator():
    def last(x):
        it = iter(x)
        return next(it) + next(it)

    agree(last, range(2))
    agree(last, range(1))  # StopIteration

    def optional(x):
        return next(iter(x), None)

    agree_all(optional, [(range(0),), (range(4, 5),)])


def test_functions_take_iterators():
    @jit
    def skip(it, n):
        for _ in range(n):
            next(it, 0)

    def f(x, n):
        it = iter(x)
        skip(it, n)
        return next(it, -1)

    compiled = jit(f)
    for n in range(5):
        assert compiled(A[:3], n) == (A[:3][n] if n < 3 else -1)


def test_in_a_kernel():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            it = iter(x)
            for a in it:
                if a > i:
                    break
            total = 0.0
            for b in it:
                total = total * 2 + b
            out[i] = total + next(it, 0.5)

    out = np.zeros(7)
    kernel[1, 8](A, out)
    expected = []
    for i in range(7):
        it = iter(A)
        for a in it:
            if a > i:
                break
        total = 0.0
        for b in it:
            total = total * 2 + b
        expected.append(total + 0.5)
    np.testing.assert_array_equal(out, expected)


def refused(function, *args):
    with pytest.raises(KraitError) as caught:
        jit(function)(*args)
    return str(caught.value)


def test_an_older_iterator_of_the_same_loop():
    def f(x):
        it = iter(x)
        total = 0
        for _ in range(3):
            old = it
            it = iter(x)
            total += next(old) + next(it)
        return total

    text = refused(f, range(9))
    assert "an iterator is made here while the one that was made here before may still be in use" in text
    assert "use an iterator up in the round of the loop that makes it" in text


def test_an_iterator_stays_in_its_function():
    @jit
    def make(x):
        return iter(x)

    def f(x):
        return next(make(x))

    assert jit(f)(range(3)) == 0  # a generator, whose items have one type
    assert "an iterator cannot leave the function that it is used in" in refused(f, (1, 2.5))

    def g(x):
        it = iter(x)

        def inner():
            nonlocal it
            it = iter(x)

        inner()
        return next(it)

    assert "an iterator cannot leave the function that it is used in" in refused(g, range(3))


def test_iterators_that_are_kept_are_told_at_the_users_line():
    def walk(tree):
        stack, seen = [(0, iter(tree[0]))], [0]
        while stack:
            for child in stack[-1][1]:
                stack.append((child, iter(tree[child])))
                seen.append(child)
                break
            else:
                stack.pop()
        return seen

    def walk_generators(tree):
        stack, seen = [(0, (v for v in tree[0]))], [0]
        while stack:
            for child in stack[-1][1]:
                stack.append((child, (v for v in tree[child])))
                seen.append(child)
                break
            else:
                stack.pop()
        return seen

    tree = [[1, 2], [3], [1][:0], [2]]
    text = refused(walk, tree)
    assert "stack.pop()" in text and "prelude" not in text and "(v for v in x), may be" in text
    assert jit(walk_generators)(tree) == walk(tree) == [0, 1, 3, 2, 2]


def test_next_of_what_is_no_iterator():
    assert "`x` (range) is not an iterator" in refused(lambda x: next(x), range(3))


def test_enumerate_of_items_with_several_parts():
    def f(pairs):
        return [(i, x) for i, x in enumerate(pairs)]

    agree_all(f, [(((9, "a"),),), (((9, "a"), (3, "b")),), (((1, (2.5, 3)), (4, (0.5, 6))),)])
