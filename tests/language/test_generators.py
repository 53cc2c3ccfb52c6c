"""Functions with yield: iterated by compiled code and by Python, against the interpreter, object for object."""

import gc
import sys
import weakref

import numpy as np
import pytest
from oracle import agree, make

from krait import _testing, cuda, errors, njit

COUNT = """
def count(n):
    i = 0
    while i < n:
        yield i
        i += 1
"""
WORDS = """
def words(text):
    word = ""
    for c in text:
        if c != " ":
            word += c
        elif word:
            yield word
            word = ""
    if word:
        yield word
"""
TREE = """
def tree(lo, hi):
    if lo < hi:
        m = (lo + hi) // 2
        yield from tree(lo, m)
        yield m
        yield from tree(m + 1, hi)
"""
ROWS = """
def rows(a):
    for i in range(len(a)):
        try:
            yield a[i] * 2
        finally:
            a[i] = -1
"""
RISKY = """
def risky(n):
    for i in range(5):
        yield 10 // (n - i)
"""

COMPILED = {  # what is consumed in compiled code: functions, the text of f(a), arguments
    "loop": (COUNT, "s = 0\nfor x in count(a):\n    s += x * x\nreturn s", (7,)),
    "loop over none": (COUNT, "s = 5\nfor x in count(a):\n    s += x\nreturn s", (0,)),
    "twice in a row": (COUNT, "g = count(a)\nr = [x for x in g]\nreturn r, [x for x in g]", (4,)),
    "two at once": (COUNT, "return [(x, y) for x in count(a) for y in count(x)]", (4,)),
    "interleaved": (
        COUNT, "g = count(a)\nh = count(a)\nr = [0]\nfor x in g:\n    r.append(x + next(h))\nreturn r", (4,)),
    "next": (COUNT, "g = count(a)\nreturn next(g), next(g), next(g, 9), next(g, 9)", (3,)),
    "next at the end": (COUNT, "g = count(a)\nnext(g)\nreturn next(g)", (1,)),
    "zip": (COUNT, "return [(x, y) for x, y in zip(count(a), count(5))]", (3,)),
    "zip drops": (COUNT, "g = count(9)\nr = [(x, y) for x, y in zip(g, range(a))]\nreturn r, next(g)", (3,)),
    "enumerate": (COUNT, "return [i * x for i, x in enumerate(count(a), 2)]", (4,)),
    "enumerate zip": (COUNT, "return [(i, x + y) for i, (x, y) in enumerate(zip(count(a), range(9)))]", (4,)),
    "reductions": (COUNT, "return sum(count(a)), max(count(a)), min(count(a)), len(list(count(a)))", (6,)),
    "containers": (
        WORDS, "return list(words(a)), sorted(words(a)), set(words(a)), ','.join(words(a))", ("to be or not to  be ",)),
    "dict of": (WORDS, "d = {}\nfor w in words(a):\n    d[w] = d.get(w, 0) + 1\nreturn d", ("to be or not to be",)),
    "any all": (COUNT, "return any(x > 3 for x in count(a)), all(x > 3 for x in count(a)), any(count(a))", (6,)),
    "map filter": (COUNT, "return list(map(lambda x: x + 1, count(a))), list(filter(lambda x: x % 2, count(a)))", (6,)),
    "array": (COUNT, "return np.array(list(count(a)))", (6,)),
    "unpacked loop": (
        "def pairs(n):\n    for i in range(n):\n        yield i, str(i)\n",
        "r = ''\nfor i, s in pairs(a):\n    r += s * i\nreturn r", (4,)),
    "unpacked": (COUNT, "x, y, z = count(a)\nreturn x, y, z", (3,)),
    "unpacked, too many": (COUNT, "x, y = count(a)\nreturn x, y", (10**12,)),
    "unpacked, too few": (COUNT, "x, y = count(a)\nreturn x, y", (1,)),
    "starred": (COUNT, "x, *y = count(a)\nreturn x, y, [*count(2), 9]", (4,)),
    "membership": (COUNT, "g = count(9)\nreturn a in g, next(g), a not in count(9)", (4,)),
    "dict from": (COUNT, "return dict((x, x * x) for x in count(a)), dict(zip('abc', count(a)))", (3,)),
    "least or else": (
        COUNT, "return min(count(a), default=-1), max(count(a), default=-1), min(count(0), default=-1), "
        "max(count(a), key=lambda x: -x, default=7)", (3,)),
    "extended": (COUNT, "r = [9]\nr.extend(count(a))\nreturn r, sum(count(a), 10)", (3,)),
    "tree": (TREE, "return list(tree(0, a))", (11,)),
    "endless": ("def fib():\n    x, y = 0, 1\n    while True:\n        yield x\n        x, y = y, x + y\n",
                "r = [0]\nfor x in fib():\n    if x > a:\n        break\n    r.append(x)\nreturn r", (50,)),
    "pipeline": (
        COUNT + "def double(g):\n    for x in g:\n        yield x * 2\n",
        "return list(double(double(count(a))))", (4,)),
    "from several": (
        COUNT + "def f2(n):\n    yield from count(n)\n    yield from range(2)\n    yield from [7, 8]\n"
        "    yield 9\n",
        "return list(f2(a))", (3,)),
    "default": (
        "def g(n, step=2, *, start=0):\n    for i in range(start, n, step):\n        yield i\n",
        "return list(g(a)), list(g(a, 3)), list(g(a, start=1))", (8,)),
    "arrays": (ROWS, "s = 0.0\nfor r in rows(a):\n    s += r.sum()\nreturn s", (np.arange(6.0).reshape(3, 2),)),
    "left early": (ROWS, "for r in rows(a):\n    break\nreturn a", (np.arange(6.0).reshape(3, 2),)),
    "returns early": (
        ROWS, "for r in rows(a):\n    if r[0] > 3:\n        return r\nreturn a[0]", (np.arange(6.0).reshape(3, 2),)),
    "raises": (RISKY, "s = 0\nfor x in risky(a):\n    s += x\nreturn s", (3,)),
    "raises, caught": (
        RISKY, "r = [0]\ntry:\n    for x in risky(a):\n        r.append(x)\nexcept ZeroDivisionError:\n"
        "    r.append(-1)\nreturn r", (3,)),
    "raises, caught inside": (
        "def g(n):\n    for i in range(4):\n        try:\n            yield 6 // (i - n)\n"
        "        except ZeroDivisionError:\n            yield -99\n",
        "return list(g(a))", (2,)),
    "consumer raises": (
        ROWS, "s = 0.0\nfor r in rows(a):\n    s += 1 // int(r[0] - 4)\nreturn s", (np.arange(6.0).reshape(3, 2),)),
    "over after raising": (
        RISKY, "g = risky(a)\nr = [0]\ntry:\n    for x in g:\n        r.append(x)\n"
        "except ZeroDivisionError:\n    r.append(-1)\nfor x in g:\n    r.append(x)\nreturn r", (3,)),
    "return ends": (
        "def g(n):\n    for i in range(9):\n        if i == n:\n            return\n"
        "        yield i\n",
        "return list(g(a))", (3,)),
    "empty": ("def g(n):\n    return\n    yield n\n", "s = 0\nfor x in g(a):\n    s += 1\nreturn s", (3,)),
    "none": (
        "def g(n):\n    for i in range(n):\n        yield\n",
        "s = 0\nfor x in g(a):\n    s += x is None\nreturn s", (3,)),
    "sent": ("def g(n):\n    x = yield n\n    yield 5 if x is None else 6\n", "return list(g(a))", (3,)),
    "two types": ("def g(n):\n    yield n\n    yield 0.5\n", "return list(g(a))", (2.0,)),
    "optional": ("def g(n):\n    yield None\n    yield n\n", "return [x is None for x in g(a)]", (2,)),
    "closure": ("", "k = a * 2\ndef g(n):\n    for i in range(n):\n        yield i * k\nreturn sum(g(5))", (3,)),
    "state of loops": (
        "def g(a):\n    for i, x in enumerate(a):\n        for y in reversed(a):\n"
        "            for z in zip(a, range(2)):\n                yield i * x + y * z[0] + z[1]\n",
        "return list(g(a))", ([1, 2, 3],)),
    "swallows": (
        "def g(n):\n    try:\n        yield n\n    except:\n        pass\n",
        "for x in g(a):\n    break\nreturn x", (1,)),
    "nested handlers": ("def g(a):\n    for i in range(3):\n        try:\n            try:\n"
        "                yield a[i]\n            finally:\n                a[i] += 10\n"
        "        finally:\n            a[i] += 100\n",
                        "for x in g(a):\n    if x == 2:\n        break\nreturn a", (np.array([1, 2, 3]),)),
    "passed on": (
        COUNT + "def use(g):\n    s = 0\n    for x in g:\n        s += x\n    return s\n",
        "return use(count(a))", (5,)),
    "chosen": (COUNT, "g = count(a) if a > 2 else count(1)\nreturn list(g)", (5,)),
    "in a tuple": (COUNT, "t = (count(a), count(2))\nreturn list(t[0]), list(t[1])", (5,)),
    "given back": (COUNT + "def make(n):\n    return count(n + 1)\n", "return list(make(a))", (5,)),
    "strings kept": (WORDS, "last = ''\nfor w in words(a):\n    last = w + last\nreturn last", ("ab cd ef",)),
    "records of lists": (
        "def g(n):\n    now = [0]\n    for i in range(n):\n        now = now + [i]\n"
        "        yield now\n",
        "r = [[0]]\nfor x in g(a):\n    r.append(x)\nreturn r", (4,)),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPILED)
def test_in_compiled_code(name):
    functions, body, args = COMPILED[name]
    lines = body.replace("\n", "\n    ")
    agree(make(f"import numpy as np\n{functions}\ndef f(a):\n    {lines}\n", "f"), *args)


def both(text, name):
    """The function compiled and as it is."""
    return njit(make(text, name)), make(text, name)


@pytest.mark.parametrize("text, name, args", [
    (COUNT, "count", (5,)), (WORDS, "words", ("to be or",)), (TREE, "tree", (0, 9)), (RISKY, "risky", (9,)),
])  # fmt: skip
def test_in_python(text, name, args):
    compiled, plain = both(text, name)
    gc.collect()
    before = _testing.heap_objects()
    assert list(compiled(*args)) == list(plain(*args))
    ours, theirs = compiled(*args), plain(*args)
    assert iter(ours) is ours
    assert [next(ours), next(ours)] == [next(theirs), next(theirs)]
    ours.close()
    assert list(ours) == [] and next(ours, "over") == "over"
    del ours
    assert _testing.heap_objects() == before


def test_arguments_live_as_long_as_it():
    compiled, plain = both(ROWS, "rows")
    ours, theirs = compiled(np.arange(6.0).reshape(3, 2)), plain(np.arange(6.0).reshape(3, 2))
    gc.collect()
    assert [x.tolist() for x in ours] == [x.tolist() for x in theirs]


def test_given_up_while_it_waits():
    compiled, _ = both(ROWS, "rows")
    for how in (lambda g: g.close(), lambda g: None):
        a = np.arange(6.0).reshape(3, 2)
        g = compiled(a)
        next(g)
        how(g)
        del g
        gc.collect()
        assert a[:, 0].tolist() == [-1.0, 2.0, 4.0]
    a = np.arange(6.0).reshape(3, 2)
    compiled(a)  # never asked: nothing of it runs
    assert a[0, 0] == 0.0


def test_raising_in_python():
    compiled, plain = both(RISKY, "risky")
    for f in (compiled, plain):
        g, seen = f(2), []
        with pytest.raises(ZeroDivisionError) as caught:
            seen.extend(x for x in g)
        assert seen == [5, 10] and list(g) == []
        assert caught.traceback[-1].name == "risky"


def test_stop_iteration_inside():
    text = "def g(n):\n    yield n\n    raise StopIteration\n"
    for f in both(text, "g"):
        g = f(1)
        assert next(g) == 1
        with pytest.raises(RuntimeError, match="generator raised StopIteration"):
            next(g)


def test_ignores_being_closed():
    text = "def g(n):\n    try:\n        yield n\n    except:\n        yield n + 1\n"
    for f in both(text, "g"):
        g = f(1)
        next(g)
        with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):
            g.close()


def test_send():
    compiled, _ = both(COUNT, "count")
    g = compiled(2)
    assert g.send(None) == 0 and g.send(None) == 1
    with pytest.raises(StopIteration):
        g.send(None)
    with pytest.raises(TypeError, match="takes no values"):
        compiled(2).send(5)
    assert "compiled generator" in repr(g) and g.__name__ == "count"


@pytest.mark.parametrize("body", [
    "it = g(n, log)\na = next(it)\nit.close()\nit.close()\nreturn a, list(it), next(it, -1), log",
    "it = g(n, log)\nit.close()\nreturn list(it), log",
    "it = h(n, log)\nnext(it)\nit.close()\nreturn log",
    "it = ignores(n)\nnext(it)\nit.close()",
    "it = raises(n)\nnext(it)\ntry:\n    it.close()\nexcept ValueError:\n    log.append(7)\nreturn list(it), log",
    "it = stops(n)\nnext(it)\nit.close()",
    "its = [g(i, log) for i in range(1, n)]\nfor it in its:\n    log.append(next(it))\nfor it in its:\n    it.close()\n"
    "return log",
    "it = (2 * x for x in range(n))\na = next(it)\nit.close()\nreturn a, list(it)",
    "it = g(n, log)\nreturn it.send(None), it.send(None), next(it)",
    "it = g(1, log)\nnext(it)\nit.send(None)",
])  # fmt: skip
def test_compiled_code_closes_generators(body):
    text = """
    def g(n, log):
        try:
            for i in range(n):
                yield i
        finally:
            log.append(9)

    def h(n, log):
        try:
            yield from g(n, log)
        except GeneratorExit:
            log.append(8)

    def ignores(n):
        try:
            yield n
        except GeneratorExit:
            yield 7

    def raises(n):
        try:
            yield n
        finally:
            raise ValueError("x")

    def stops(n):
        try:
            yield n
        finally:
            raise StopIteration

    def f(n):
        log = [0]
""" + "".join(f"        {line}\n" for line in body.split("\n"))
    agree(make(text, "f"), 5)


MEAN = """
def mean():
    total, n, mean = 0.0, 0, 0.0
    while True:
        x = yield mean
        total += x
        n += 1
        mean = total / n
def feed(g, x):
    return g.send(x)
"""
ADD = """
def add(t):
    while True:
        x = yield t
        if x is not None:
            t += x
"""
SINK = """
def sink(out):
    while True:
        x = yield
        if x is not None:
            out.append(x)
def even(target):
    next(target)
    while True:
        x = yield
        if x is not None and x % 2 == 0:
            target.send(x)
"""
WORDS_SENT = """
def joined():
    got = []
    while True:
        word = yield ",".join(got)
        if word is None:
            continue
        got.append(word * 2)
"""
OWNER = """
class Sum:
    def __init__(self):
        self.run = self.adding()
        next(self.run)
    def adding(self):
        t = 0.0
        while True:
            x = yield t
            if x is not None:
                t += x
"""
SENT = {  # functions, the text of f(n)
    "in a loop": (MEAN, "g = mean()\nnext(g)\nm = 0.0\nfor i in range(n):\n    m = g.send(i * 1.5)\nreturn m"),
    "in a comprehension": (MEAN, "g = mean()\nnext(g)\nreturn [g.send(float(x)) for x in range(n)]"),
    "by another function": (MEAN, "g = mean()\nnext(g)\nreturn feed(g, 3.0), feed(g, 4.0)"),
    "None where it cannot be": (MEAN, "g = mean()\nnext(g)\ng.send(1.0)\nreturn next(g)"),
    "to one that has not begun": (ADD, "return add(1).send(n)"),
    "numbers of several types": (ADD, "g = add(0.0)\nnext(g)\ng.send(n)\ng.send(2.5)\nreturn g.send(True), next(g)"),
    "to several in a list": (
        ADD,
        "gs = [add(k) for k in range(n)]\nfor g in gs:\n    next(g)\n"
        "return [g.send(i) for i, g in enumerate(gs)]"),
    "to one of two": (ADD, "g = add(1) if n > 2 else add(n)\nnext(g)\nreturn g.send(n)"),
    "to one in an attribute": (
        OWNER, "s = Sum()\nfor i in range(n):\n    s.run.send(i * 0.5)\nreturn s.run.send(0.25)"),
    "texts": (
        WORDS_SENT,
        "g = joined()\nnext(g)\nfor i in range(n):\n    r = g.send(str(i))\nnext(g)\nreturn r, g.send('end')"),
    "arrays": (ADD, "g = add(np.zeros(2))\nnext(g)\nreturn g.send(np.ones(2)), g.send(np.full(2, 0.5))"),
    "through others": (SINK, "out = []\ng = even(sink(out))\nnext(g)\nfor i in range(n):\n    g.send(i)\nreturn out"),
    "through `yield from`": (
        ADD + "def outer():\n    r = yield from add(1)\n    yield r\n",
        "g = outer()\nnext(g)\nreturn g.send(n), g.send(2)"),
    "to one that ends": (
        "def one():\n    x = yield 1\n    yield x\n", "g = one()\nnext(g)\ng.send(n)\nreturn g.send(n)"),
    "to one that raises": (
        "def g():\n    x = yield 1\n    raise ValueError(f'{x}')\n",
        "it = g()\nnext(it)\ntry:\n    it.send(n)\nexcept ValueError as e:\n    return str(e)\nreturn ''"),
}  # fmt: skip


def made_of(functions, body):
    return make(functions + "def f(n):\n" + "".join(f"    {line}\n" for line in body.split("\n")), "f")


@pytest.mark.parametrize("name", SENT)
def test_sent(name):
    f = made_of(*SENT[name])
    gc.collect()
    before = _testing.heap_objects()
    agree(f, 5)
    gc.collect()
    assert _testing.heap_objects() == before


def test_sent_what_it_cannot_take():
    f = made_of(ADD, "g = add(0)\nnext(g)\ng.send(n)\nreturn g.send('s')")
    with pytest.raises(errors.TypingError, match="str is sent to a generator whose `yield` gives int or None"):
        njit(f)(1)


def test_what_is_no_generator_is_sent_nothing():
    few = "import itertools\n\n\ndef few():\n    yield 1\n    yield 2\n"
    for made, name in (("map(abs, few())", "map"), ("filter(None, few())", "filter"),
                       ("itertools.chain(few(), few())", "itertools.chain")):
        for call in ("send(None)", "send(n)", "close()"):
            f = made_of(few, f"g = {made}\nnext(g)\nreturn g.{call}")
            words = f"'{name}' object has no attribute '{call.partition('(')[0]}'"
            with pytest.raises(AttributeError, match=words):
                f(2)
            with pytest.raises(errors.TypingError, match=words):
                njit(f)(2)


def test_a_generator_out_of_a_list_is_sent():
    agree(made_of(ADD, "gs = [add(0), add(1)]\ng = gs.pop()\nnext(g)\nr = g.send(n)\ng.close()\nreturn r"), 5)


def test_yield_from_what_is_sent_nothing():
    for walked in ("[1, n, 3]", "range(n)"):
        f = made_of(ADD + f"def outer(n):\n    yield from {walked}\n", "g = outer(n)\nnext(g)\nreturn g.send(n)")
        for function in (f, njit(f)):
            with pytest.raises(AttributeError, match="has no attribute 'send'"):
                function(3)


RETURNS = """
def counts(n):
    for i in range(n):
        yield i
    return n * 10
def texts(n):
    yield n
    if n > 3:
        return "x" * n
    return "few"
def lists(n):
    seen = []
    for i in range(n):
        yield i
        seen.append(i)
    return seen
def pairs(n):
    yield n
    return n, str(n)
def perhaps(n):
    yield n
    if n > 3:
        return n
def tree(n):
    if n == 0:
        return 0
    yield n
    a = yield from tree(n - 1)
    b = yield from tree(n - 1)
    return a + b + 1
"""


@pytest.mark.parametrize("name", ["counts", "texts", "lists", "pairs", "perhaps", "tree"])
def test_returned(name):
    text = RETURNS + (
        "def outer(n, kept):\n"
        f"    r = yield from {name}(n)\n    s = yield from {name}(2)\n    kept.append((r, s))\n"
        f"def f(n):\n    kept = []\n    return list(outer(n, kept)), list({name}(n)), next({name}(n)), kept\n"
    )
    f = make(text, "f")
    gc.collect()
    before = _testing.heap_objects()
    agree(f, 5)
    g, plain = both(RETURNS, name)
    ours, theirs = g(4), plain(4)
    while (item := next(theirs, None)) is not None:
        assert next(ours) == item
    del ours
    assert ends(g(4)) == ends(plain(4))
    gc.collect()
    assert _testing.heap_objects() == before


def ends(g):
    """What a generator is left with, twice."""
    found = []
    while len(found) < 2:
        try:
            next(g)
        except StopIteration as e:
            found.append(e.value)
    return found


def test_deep_delegation(optimised):
    text = "def down(n):\n    if n > 0:\n        yield from down(n - 1)\n        yield n\n"
    compiled = njit(make(text, "down"))
    assert list(compiled(200)) == list(range(1, 201))
    gc.collect()
    before = _testing.heap_objects()
    assert next(compiled(20000)) == 1  # each but the outermost is closed by the one before it
    with pytest.raises(RecursionError):
        next(compiled(10**6))
    gc.collect()
    assert _testing.heap_objects() == before


def test_many_live_at_once():
    compiled = njit(make(WORDS, "words"))
    gc.collect()
    before = _testing.heap_objects()
    live = [compiled("a b c d") for _ in range(1000)]
    assert [next(g) for g in live] == ["a"] * 1000
    del live[::2]
    assert [next(g) for g in live] == ["b"] * 500
    del live
    gc.collect()
    assert _testing.heap_objects() == before


def test_memory_stays_flat():
    f = njit(make(WORDS + "def f(n):\n    k = 0\n    for i in range(n):\n        for w in words('to be or not'):\n"
                  "            k += len(w)\n            if i % 3 == 0:\n                break\n    return k\n", "f"))
    f(10)
    before = _testing.heap_objects()
    assert f(30000) == 10000 * 2 + 20000 * 9
    assert _testing.heap_objects() == before


def test_signatures_and_cycles():
    compiled = njit(make(COUNT, "count"))
    g = compiled(3)
    holder = [g]
    holder.append(holder)
    references = sys.getrefcount(compiled)
    del holder, g
    gc.collect()
    assert sys.getrefcount(compiled) <= references


REFUSED = {
    "returns values of two types": (
        "def h(n):\n    yield n\n    if n > 3:\n        return 's'\n    return 5\ndef g(n):\n    return list(h(n))\n",
        "returns (int|str) here, and (int|str) elsewhere"),
    "an iterator kept": (
        "def h(it):\n    for x in it:\n        yield x\ndef g(n):\n"
        "    it = iter(range(n))\n    if n > 1:\n        it = iter(range(3))\n    return list(h(it))\n",
        "is given an iterator"),
    "in a list to Python": (COUNT + "def g(n):\n    return [count(n)]\n", "cannot be returned"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    text, words = REFUSED[name]
    with pytest.raises(errors.KraitError, match=words):
        njit(make(text, "g"))(3)


def test_a_list_from_python():
    reads = njit(make("def g(x):\n    for v in x:\n        yield v + 1\n", "g"))
    assert list(reads([1, 2])) == [2, 3]
    changes = njit(make("def g(x):\n    for i in range(3):\n        x.append(i)\n        yield i\n", "g"))
    with pytest.raises(errors.UnsupportedError, match="changes a list"):
        changes([1])
    inside = njit(make("def h(x):\n    for i in range(3):\n        x.append(i)\n        yield i\n"
                       "def g(n):\n    x = [n]\n    return sum(h(x)), x\n", "g"))  # fmt: skip
    assert inside(5) == (3, [5, 0, 1, 2])


def test_refused_in_kernels():
    @njit
    def count(n):
        for i in range(n):
            yield i

    @cuda.jit
    def kernel(x):
        for i in count(3):
            x[i] = i

    with pytest.raises(errors.KraitError, match="kernels"):
        kernel[1, 1](np.zeros(3))


STOPS = {
    "raised": "def g(n):\n    for i in range(n):\n        if i == 2:\n            raise StopIteration\n"
              "        yield i\n",
    "raised with a value": "def g(n):\n    yield n\n    raise StopIteration(n)\n",
    "raised with an object": "def g(n):\n    yield n\n    raise StopIteration([n], str(n))\n",
    "of next": COUNT + "def g(n):\n    it = count(n - 3)\n    while True:\n        yield next(it)\n",
    "of a class of the user": "class Done(StopIteration):\n    pass\ndef g(n):\n    yield n\n    raise Done\n",
    "delegated": "def h(n):\n    yield n\n    raise StopIteration\ndef g(n):\n    yield from h(n)\n    yield 5\n",
}  # fmt: skip
STOP_USES = {
    "leaves": "    return sum(g(n))\n",
    "is caught": "    k = 0\n    try:\n        for x in g(n):\n            k += x + 1\n"
                 "    except StopIteration:\n        return k, 'stop'\n"
                 "    except RuntimeError as e:\n        return k, str(e)\n    return k, 'end'\n",
    "in a handler's loop": "    k = 0\n    for i in range(3):\n        try:\n            k += len(list(g(n)))\n"
                           "        except RuntimeError:\n            k += 100\n    return k\n",
}  # fmt: skip


@pytest.mark.parametrize("use", STOP_USES)
@pytest.mark.parametrize("name", STOPS)
def test_stop_iteration_is_an_error(name, use):
    agree(make(f"{STOPS[name]}def f(n):\n{STOP_USES[use]}", "f"), 4)


def test_what_is_raised_while_nobody_asks():
    text = ("class Kept(Exception):\n    pass\n"
            "def g(n):\n    try:\n        yield n\n        yield n\n    finally:\n        raise Kept([n], 'text')\n"
            "def f(n):\n    k = 0\n    for i in range(n):\n        for x in g(i):\n            k += x\n"
            "            break\n    return k\n")  # fmt: skip
    f = njit(make(text, "f"))
    kept = f.py_func.__globals__["Kept"]
    assert f(10) == 45
    gc.collect()
    assert not [x for x in gc.get_objects() if isinstance(x, kept)]


# ---- zips of generators hold what they have taken ----


def texts(n):
    for i in range(n):
        yield str(i) * 3


def raises_at(n, at):
    for i in range(n):
        yield [1 // (at - i)]


def clears(items):
    while items:
        items.clear()
        yield "cleared"


@pytest.mark.parametrize("text", [
    "list(zip(g, g))", "list(zip(g, g, g))", "[(a, b, c) for a, (b, c) in zip(g, zip(g, g))]",
    "[(i, a, b) for i, (a, b) in enumerate(zip(g, g))]", "list(zip(enumerate(g), g))", "list(zip(zip(g, g), g))",
    "list(zip(g, range(3), g)), list(g)", "[a + b for a, b in zip(g, g)], next(g, '')",
    "dict(zip(g, g))", "len(list(zip(g, names, g))), list(g)", "[(a, b) for a, b in zip(g, texts(3)) if a != b]",
])  # fmt: skip
def test_one_generator_in_a_zip_twice(text):
    function = make(f"def f(n, names):\n    g = texts(n)\n    return {text}", texts=texts)
    for n in (0, 1, 4, 5, 7):
        agree(function, n, ["a", "b"])


def test_a_zip_whose_parts_raise():
    def f(n, at):
        g = texts(n)
        found = []
        try:
            for a, b, c in zip(g, g, raises_at(9, at)):
                found.append((a, b, c))
        except ZeroDivisionError:
            found.append(("!", "", [0]))
        return found, list(g)

    for at in (0, 1, 2, 5):
        agree(f, 6, at)


def test_a_zip_whose_parts_change_each_other():
    def f(items):
        return list(zip(items, clears(items)))

    agree(f, ["one", "two"])


def grows_a_list(n):
    held, both = [], {}
    for i in range(n):
        held.append(i + 0.5)
        both[i] = held
        yield held, both, held


class Counted:
    def __init__(self):
        self.n = 0


def counts_in_one(n):
    one = Counted()
    for i in range(n):
        one.n += i
        yield one


def walks(rows):
    for row in rows:
        yield row


def test_what_is_yielded_again_is_made_again():
    def shown(function):
        found = []
        for held, both, again in function(5):
            assert held is again and all(row is held for row in both.values())
            found.append((list(held), len(both)))
            del held, both, again
            others = [[0.0] * 3 for _ in range(50)]
            assert len(others) == 50
        return found

    assert shown(njit(grows_a_list)) == shown(grows_a_list)
    assert [one.n for one in njit(counts_in_one)(6)] == [one.n for one in counts_in_one(6)]


def test_items_of_arguments_that_python_drops_meanwhile():
    rows = [[1.5] * 5, [2.5] * 5, [3.5] * 5]
    g = njit(walks)(rows)
    assert next(g) is rows[0]
    rows[1:] = [[0.0], [0.0]]
    others = [[7.0] * 5 for _ in range(200)]
    assert list(g) == [[2.5] * 5, [3.5] * 5]
    assert others == [[7.0] * 5] * 200


@pytest.mark.parametrize("kept", ["dispatcher", ""])
def test_a_generator_that_the_globals_of_its_function_hold_is_collected(kept):
    """With the dispatcher, which owns the same code, and without."""
    class Marker:
        pass

    space = {"marker": Marker()}
    exec("def f(n):\n    for i in range(n):\n        yield i * scale\n", space)
    space["scale"] = 2
    compiled = njit(space["f"])
    if kept:
        space["dispatcher"] = compiled
    space["generator"] = compiled(5)
    assert next(space["generator"]) == 0
    gone = weakref.ref(space["marker"])
    del compiled, space
    gc.collect()
    assert gone() is None
