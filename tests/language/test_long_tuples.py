"""Tuples whose length is not known when a function is compiled, against the interpreter: tuple(x), (*x, y), tuples that
grow in loops and in calls, f(*x)."""

import math
from itertools import combinations, permutations, product

import pytest
from oracle import agree

from krait import errors, njit


def case_spread():
    xs = [1, 2, 3]

    def f(a, b, c):
        return a * 100 + b * 10 + c
    return f(*xs)


def case_spread_too_few():
    xs = [1, 2]

    def f(a, b, c):
        return a * 100 + b * 10 + c
    return f(*xs)


def case_spread_too_many():
    xs = [1, 2, 3, 4]

    def f(a, b, c):
        return a * 100 + b * 10 + c
    return f(*xs)


def case_spread_all():
    xs = [1, 2, 3, 4]

    def f(*args):
        return sum(args) + len(args)
    return f(*xs)


def case_spread_rest():
    xs = [1, 2, 3, 4]

    def f(a, *rest):
        return a * sum(rest)
    return f(*xs)


def case_spread_two_missing():
    xs = []
    for i in range(2):
        xs.append(i)

    def f(a, b, c, d, *rest):
        return a
    return f(*xs)


def with_defaults(a, b=2, c=None):
    return a * 10 + b, c


def with_defaults_and_more(a=1, b=25, *rest, k=3):
    return a, b, sum(rest), k


def joined(a, b, sep="-"):
    return a + sep + b


def case_spread_with_defaults():
    xs = [7, 8, 9, 10]
    return (with_defaults(*xs[:1]), with_defaults(*xs[:2]), with_defaults(*xs[:3]), with_defaults_and_more(*xs, k=4),
            with_defaults_and_more(*xs[:1]), with_defaults_and_more(*xs[:0]))


def case_spread_beyond_the_defaults():
    xs = [1, 2, 3, 4]
    return with_defaults(*xs)


def case_spread_of_nothing_beside_defaults():
    xs = [1]
    return with_defaults(*xs[1:])


def case_spread_of_texts():
    words = "a b c".split()
    return joined(*words[:2]), joined(*words)


def case_spread_builtins():
    xs = [3, 1, 2]
    return (max(*xs), min(*xs), math.gcd(*[4, 6]), math.lcm(*xs))


def case_grown_in_a_loop():
    t = ()
    for i in range(4):
        t = t + (i,)
    return (t, t[1:], t[-1], len(t), 2 in t, t == (0, 1, 2, 3), hash(t) == hash((0, 1, 2, 3)), sorted(t, reverse=True))


def case_in_a_set():
    seen = set()
    for s in ['abc', 'bca', 'ab']:
        seen.add(tuple(sorted(s)))
    return (len(seen), ('a', 'b') in seen)


def case_as_keys():
    d = {}
    for row in [[1, 2], [1, 2], [3]]:
        k = tuple(row)
        d[k] = d.get(k, 0) + 1
    return d


def case_repeated():
    n = 3
    t = (0,) * n
    u = t + (5,)
    return (t, u, u * 2, t < u, min(u), max(u))


def case_displays():
    xs = [5, 6]
    return ((1, *xs, 2), [*xs, *xs], (*xs,))


def case_grown_by_recursion():

    def grow(n):
        if n == 0:
            return ()
        return grow(n - 1) + (n,)
    return grow(4)


def case_slices():
    t = tuple(range(5))
    i = 2
    a, *b = t
    return (t[i:], t[:i], t[::-1], t.index(3), t.count(1), a, b, str(t), f'{t}')


def case_methods():
    t = (1, 2, 3)
    return (t.index(2), t.count(5))


def case_not_there():
    t = (1, 2, 3)
    return t.index(7)


def case_of_any_repeat():
    return [p for n in range(3) for p in product('ab', repeat=n)]


def case_of_any_r():
    return [(c, sum(c)) for r in range(4) for c in combinations([1, 2, 3], r)]


def case_turned():
    g = [[1, 2, 3], [4, 5, 6]]
    g = [list(r) for r in zip(*g[::-1])]
    return g


def case_spread_product():
    return list(product(*[[1, 2], [3], [4, 5]]))


def case_least():
    best = None
    for p in permutations([3, 1, 2]):
        if best is None or p < best:
            best = p
    return best


def case_best_of():
    return max(permutations(range(4)), key=lambda p: sum((i * x for i, x in enumerate(p))))


def case_in_a_queue():
    queue = [(0, (1,))]
    out = []
    while queue:
        d, path = queue.pop(0)
        out.append((d, path))
        if d < 2:
            for k in (1, 2):
                queue.append((d + 1, path + (k,)))
    return out


def case_remembered():
    memo = {}

    def f(t):
        if len(t) == 0:
            return 0
        if t in memo:
            return memo[t]
        r = t[0] + f(t[1:])
        memo[t] = r
        return r
    return f(tuple([1, 2, 3]))


def case_matched():
    t = tuple([1, 2])
    match t:
        case [a, b]:
            return a + b
        case _:
            return -1


def case_asked():
    t = tuple([1, 2])
    return (isinstance(t, tuple), isinstance(t, list), t != (1, 2), (1, 2, 3) > t, t == [1, 2], bool(t), not tuple([]))


def case_searched():
    state = tuple([1, 0, 2])
    seen = {state}
    q = [state]
    while q:
        s = q.pop()
        for i in range(len(s) - 1):
            l = list(s)
            l[i], l[i + 1] = (l[i + 1], l[i])
            n = tuple(l)
            if n not in seen:
                seen.add(n)
                q.append(n)
    return len(seen)


def case_keys_of_two_lengths():
    d = {}
    d[1, 2] = 3
    d[1,] = 4
    return d


def case_list_of_lengths():
    l = [(1,), (1, 2)]
    l.append((3, 4, 5))
    return (l, [len(x) for x in l])


def case_two_lengths():
    if sum([1]) > 0:
        t = (1, 2)
    else:
        t = (1, 2, 3)
    return t


def case_paths():

    def dfs(i, path):
        if i == 3:
            return [path]
        return dfs(i + 1, path + (i,)) + dfs(i + 1, path)
    return dfs(0, ())


def test_a_default_of_another_type_is_refused():
    def f(xs):
        return with_another(*xs)

    with pytest.raises(errors.TypingError, match=r"how many arguments `\*` takes out of a list"):
        njit(f)([1])


def with_another(a, b=2.5):
    return a * b


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_tuples_of_any_length(name):
    agree(globals()[name])


def test_printed(capsys):
    def f(xs):
        print(*xs)
        print(*xs, sep=", ", end="!")

    agree(f, [1, 2])
    assert capsys.readouterr().out == "1 2\n1, 2!" * 2


def test_printed_among_others(capsys):
    def f(xs, ys):
        print("items:", *xs, 2.5, None, *ys, sep="; ")
        print(*xs, "of", *ys, (1, "a"), *"ab")

    f([1, 2], ["x"])
    expected = capsys.readouterr().out
    agree(f, [1, 2], ["x"])
    assert capsys.readouterr().out == expected * 2


@pytest.mark.parametrize("index", [0, 1, -2, 2, -3])
def test_an_index_outside_is_told_of_a_tuple(index):
    def made(xs, i):
        return tuple(xs)[i]

    def grown(xs, i):
        t = ()
        for x in xs:
            t += (x,)
        return t[i]

    agree(made, [1.5, 2.5], index)
    agree(grown, [1, 2], index)
