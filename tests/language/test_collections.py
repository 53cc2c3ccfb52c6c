"""deque, defaultdict and Counter of the module collections, frozenset: made and walked in compiled code, returned."""

import collections
from collections import Counter, defaultdict, deque

import pytest
from oracle import agree, make

from krait import errors, njit


def agree_with_class(function, *args):
    """The class of the result, and of what a tuple holds, is that of the library, too."""
    theirs = agree(function, *args)
    ours = njit(function)(*args)
    assert repr(ours) == repr(function(*args))
    return theirs


def test_a_queue():
    def run(n):
        d = deque()
        for i in range(n):
            d.append(i)
        s = 0
        while d:
            s = (s * 3 + d.popleft()) % 1000003
            if len(d) > 2:
                s += d.pop()
        return s

    for n in (0, 1, 100):
        agree(run, n)


def test_both_ends_and_a_length_at_most():
    def run(n):
        d = deque([1, 2, 3], maxlen=n)
        d.append(4)
        d.appendleft(0)
        return d, d[0], d[-1], len(d), list(d), repr(d), 3 in d, d.count(3), d.maxlen

    agree_with_class(run, 4)
    agree_with_class(run, 2)


def test_what_else_a_deque_does():
    def turned(n):
        d = deque(range(5))
        d.rotate(n)
        d.extend([7, 8])
        d.extendleft([9, 10])
        d.reverse()
        d.insert(2, 100)
        d.remove(7)
        d[0] = -1
        del d[1]
        return d, d.index(-1), [x for x in d], d.copy() == d

    def compared(n):
        a, b = deque([1, 2]), deque([1, 2])
        return a == b, a != b, a + b, sum(a), max(a), sorted(a, reverse=True), bool(a), isinstance(a, deque)

    for n in (0, 1, -2, 7):
        agree_with_class(turned, n)
    agree_with_class(compared, 0)


def test_a_deque_of_tuples_in_a_search():
    def reach(graph, start):
        distance = {start: 0}
        queue = deque([(start, 0)])
        order = []
        while queue:
            node, d = queue.popleft()
            order.append(node)
            for other in graph[node]:
                if other not in distance:
                    distance[other] = d + 1
                    queue.append((other, d + 1))
        return order, distance

    agree(reach, {0: [1, 2], 1: [3], 2: [3], 3: [4], 4: [0]}, 0)
    agree(reach, {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["a"]}, "a")


@pytest.mark.parametrize("method", ["pop", "popleft"])
def test_an_empty_deque_raises(method):
    def run(n):
        d = collections.deque([n])
        if n:
            d.pop()
            return d.pop()
        d.popleft()
        return d.popleft()

    agree(run, int(method == "pop"))


def test_errors_of_deques():
    def grows(n):
        d = deque([1, 2])
        for x in d:
            d.append(x)
        return d

    def outside(n):
        return deque([1, 2])[n]

    agree(grows, 0)
    agree(outside, 2)
    agree(outside, -3)


def test_words_are_counted():
    def count(text):
        c = Counter(text.split())
        return c["the"], c["zzz"], len(c), sorted(c.items()), c.most_common(2), sum(c.values()), "cat" in c, dict(c)

    agree(count, "the cat and the dog and the bird")
    agree(count, "a")


def test_counters():
    def changed(n):
        c = Counter()
        for i in range(20):
            c[i % n] += i
        c.subtract([0, 0])
        return c, max(c, key=c.get), [k for k in c], c.most_common(1)[0][0]

    def combined(n):
        a, b = Counter([1, 1, 2]), Counter([1, 2, 2, 3])
        return a + b, a - b, a & b, a | b, a == b, repr(a), a.total()

    agree_with_class(changed, 3)
    agree_with_class(combined, 0)


def test_missing_keys_are_made():
    def lists(n):
        d = defaultdict(list)
        for i in range(n):
            d[i % 3].append(i)
        return dict(d), len(d), sorted(d.items()), d[0], 5 in d

    def ints(text):
        d = defaultdict(int)
        for c in text:
            d[c] += 1
        return d["l"], d, [k for k in d], list(d.values()), d["z"], len(d)

    def sets(n):
        g = defaultdict(set)
        g["a"].add(1)
        g["a"].add(1)
        g["b"].add(n)
        return {k: len(v) for k, v in g.items()}

    def constants(n):
        d = defaultdict(lambda: 7.5)
        d[1] += n
        return d[1], d[2], len(d)

    agree(lists, 7)
    agree_with_class(ints, "hello")
    agree(sets, 2)
    agree(constants, 1)


class Shelf:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


class Shelves:
    def __init__(self, shelf):
        self.shelf = shelf

    def __iter__(self):
        return iter(self.shelf)


def test_an_iter_that_returns_another_s():
    def walk(n):
        shelf = Shelf([n, 2, 3])
        of_dict = Shelf({1: "a", 2: "b"})
        pairs = [(k, v) for k, v in Shelf({5: 6.0}.items())]
        return [x + 1 for x in shelf], sum(shelf), [k for k in of_dict], pairs, [x for x in Shelves(shelf)]

    agree(walk, 7)


def test_a_deque_and_itself():
    def extended(n):
        d = deque(range(n))
        d.extend(d)
        left = deque(range(n))
        left.extendleft(left)
        d += d
        return d, left

    agree_with_class(extended, 3)
    agree_with_class(extended, 0)


def test_a_deque_that_changes_with_its_last_item():
    def run(n, when):
        d = deque(range(n))
        for x in d:
            if x == when:
                d.append(x)
        return len(d)

    for when in range(5):
        agree(run, 4, when)


def test_counters_are_changed_in_place():
    def run(which):
        c = Counter([1, 1, 1, 2, 3, 3])
        same, other = c, Counter([1, 3, 3, 3, 4])
        other[3] -= 5
        if which == 0:
            c += other
        elif which == 1:
            c -= other
        elif which == 2:
            c &= other
        elif which == 3:
            c |= other
        else:
            c += c
        return c is same, dict(same), dict(other)

    for which in range(5):
        agree(run, which)


def test_counters_beside_dicts():
    def f(text):
        c = Counter(text)
        same = c == {"a": 2, "b": 1}
        c.subtract({"a": 1})
        c.update({"q": 2})
        c.subtract(Counter("b"))
        c.update(Counter("zz"))
        return same, c == {"a": 1}, c, +c, -c

    agree(f, "aab")
    agree(f, "bbcca")


VOWELS = frozenset("aeiou")


class Reader:
    vowels = VOWELS

    def count(self, text):
        return sum([c in self.vowels for c in text])


@pytest.mark.parametrize("body", [
    "return sorted(frozenset([n, 1, n])), len(frozenset((1, 1))), frozenset(), frozenset(range(n))",
    "f = frozenset((2, 3))\ns = {1, 2}\nreturn s | f, s & f, s - f, s ^ f, f | s, f & s, f - s, f ^ s",
    "f = frozenset((2, 3))\ns = {1, 2}\nreturn s == f, f == {2, 3}, f != {3}, s <= f, f >= {2}, f < {2, 3, n}, f > s",
    "f = frozenset([1, 2])\nreturn f.union([5], (6,)), f.intersection({1}), f.difference([1]), f.isdisjoint([7]), "
    "f.issubset({1, 2, 3}), f.issuperset([1]), f.copy() is f, f.symmetric_difference([1, 9])",
    "f = frozenset(('a',))\nreturn str(f), repr(frozenset([0 for _ in range(0)])), bool(f), not f, f'{f}'",
    "f = frozenset((1,))\nreturn isinstance(f, frozenset), isinstance(f, set), type(f) is frozenset",
    "seen = set()\nfor i in range(n):\n    for j in range(n):\n        seen.add(frozenset((i, j)))\n"
    "return len(seen), seen",
    "d = {frozenset((1, n)): 3}\nd[frozenset((n, 1))] = 4\nreturn d, frozenset([n, 1]) in d",
    "return hash(frozenset((1, n))) == hash(frozenset((n, 1))), "
    "[x * 2 for x in frozenset((n,))], max(frozenset((n, 1)))",
    "f = frozenset((1, 2))\nf |= {n}\nreturn f, set(f), list(frozenset((n,)))",
    "return 'e' in VOWELS, len(VOWELS), VOWELS, VOWELS | {'y'}, Reader().count('hello'), n in {1, 2, 5}",
])  # fmt: skip
def test_frozen_sets(body):
    text = "def f(n):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    agree(make(text, "f", VOWELS=VOWELS, Reader=Reader), 5)


def test_frozen_sets_have_the_interpreters_hashes():
    # those of texts differ from process to process; here they are the interpreter's, too
    for items in ((), (1,), (1, 2), range(-5, 300), (-1,), (1.5, 2.5), "abc", ((1, 2), (3, 4)), (2**61 - 1, -2**63)):
        agree(lambda f: hash(f), frozenset(items))


def test_frozen_sets_are_arguments():
    agree(lambda a, b: (a, 1 in a, "a" in b, a | {7}, len(b)), frozenset((1, 2)), frozenset({"a"}))
    agree(lambda d: (d[frozenset((2, 1))], list(d)), {frozenset((1, 2)): 3})
    agree(lambda x: ([len(f) for f in x], x[0] & x[1], frozenset((1, 2)) in x), [frozenset((1, 2)), frozenset((3,))])
    with pytest.raises(errors.TypingError, match="has no attribute `add`"):
        njit(lambda f: f.add(1))(frozenset((1,)))


def test_a_set_that_may_change_is_no_key():
    with pytest.raises(errors.TypingError, match=r"a set is no key, since it may change: take frozenset\(x\)"):
        njit(lambda n: {(n,), {3}})(1)
