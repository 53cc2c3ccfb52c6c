"""Arguments that hold less than a function puts into them: empty containers, attributes that are None, an int, or not
there; instances of one class that hold different things."""

import copy
from dataclasses import dataclass, field
from typing import Optional

import pytest

from krait import _testing, njit


class Node:
    def __init__(self, v, left=None, right=None):
        self.v = v
        self.left = left
        self.right = right


class Bag:
    def __init__(self):
        self.items = []
        self.names = {}
        self.best = None
        self.total = 0

    def add(self, x):
        self.items.append(x)
        self.total += x
        if self.best is None or x > self.best:
            self.best = x


class Cell:
    def __init__(self, v, next):
        self.v = v
        self.next = next


class Chain:
    def __init__(self):
        self.head = None
        self.n = 0

    def push(self, v):
        self.head = Cell(v, self.head)
        self.n += 1


class Graph:
    def __init__(self):
        self.near = {}
        self.seen = set()
        self.order = []

    def add(self, a, b):
        for x in (a, b):
            if x not in self.near:
                self.near[x] = []
        self.near[a].append(b)
        self.near[b].append(a)

    def walk(self, n):
        if n in self.seen:
            return
        self.seen.add(n)
        self.order.append(n)
        for m in self.near[n]:
            self.walk(m)


class Person:
    def __init__(self, name):
        self.name = name
        self.friends = []
        self.partner = None
        self.notes = {}

    def meet(self, other):
        self.friends.append(other)
        other.friends.append(self)

    def marry(self, other):
        self.partner = other
        other.partner = self


@dataclass
class Tree:
    root: Optional[Node] = None
    n: int = 0


@dataclass
class Log:
    lines: list = field(default_factory=list)
    places: dict = field(default_factory=dict)


class Point:
    def __init__(self, x, v):
        self.x = x
        self.v = v

    def doubled(self):
        self.kept = self.x * 2
        return self.kept


def made(**attributes):
    point = Point.__new__(Point)
    for name, value in attributes.items():
        setattr(point, name, value)
    return point


def described(value, depth=0):
    """What it holds, and of which types: instances have no equality."""
    if hasattr(value, "__dict__"):
        inside = {k: described(v, depth + 1) for k, v in vars(value).items()} if depth < 6 else "..."
        return f"{type(value).__name__}{inside}"
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(v, depth) for v in value]
    if isinstance(value, dict):
        return [(described(k, depth), described(v, depth)) for k, v in value.items()]
    return repr(value)


def outcome(f, args):
    try:
        result = f(*args)
    except AttributeError as error:
        return str(error)
    return described((result, args))


def agree(f, *args):
    expected = outcome(f, copy.deepcopy(args))
    compiled, objects = njit(f), _testing.heap_objects()
    for _ in range(2):
        assert outcome(compiled, copy.deepcopy(args)) == expected
    assert _testing.heap_objects() == objects


# ---- what is put in ----


def put(node, v):
    if node is None:
        return Node(v)
    if v < node.v:
        node.left = put(node.left, v)
    else:
        node.right = put(node.right, v)
    return node


def shown(node):
    return "." if node is None else f"({shown(node.left)}{node.v}{shown(node.right)})"


def by_recursion(node, vs):
    for v in vs:
        put(node, v)
    return node.left.v, shown(node)


def by_loop(root, vs):
    for v in vs:
        n = root
        while True:
            if v < n.v:
                if n.left is None:
                    n.left = Node(v)
                    break
                n = n.left
            else:
                if n.right is None:
                    n.right = Node(v)
                    break
                n = n.right
    return shown(root)


def in_a_tree(tree, vs):
    for v in vs:
        tree.root = put(tree.root, v)
        tree.n += 1
    return shown(tree.root)


def partly(n):
    n.right = Node(7)
    n.left.left = Node(9)
    return shown(n)


def append(values, n):
    for i in range(n):
        values.append(i * 1.5)
    return values


def mixed_numbers(values):
    values.append(1.5)
    values.append(2.5)
    return sum(values)


def give(values, x):
    values.append(x)


def by_helper(values):
    give(values, 3)
    other = values
    other.append(4)
    values.extend([5])
    values += [6]
    values.insert(0, 7)
    return other is values, values


def many(values, table, seen, vs):
    for v in vs:
        values.append(v)
        table[v] = values[:]
        seen.add((v, "x"))
    return len(table), len(seen)


def nested(rows, table):
    rows[0].append(1)
    rows.append([2])
    table["a"].append("t")
    table["b"] = ["u"]
    return len(rows)


def holes(values, table):
    for i in range(len(values)):
        if values[i] is None:
            values[i] = i * i
    for k in table:
        table[k] = 1.5
    return values


def pairs(ps):
    ps[0][1].append("z")
    return ps


def stack(todo):
    todo.append((1, "x"))
    text = ""
    while todo:
        n, text = todo.pop()
        if n < 3:
            todo.append((n + 1, text + "y"))
    return text


def memoised(n, memo):
    if n in memo:
        return memo[n]
    if n < 2:
        return n
    memo[n] = memoised(n - 1, memo) + memoised(n - 2, memo)
    return memo[n]


def permute(items, now, out):
    if len(now) == len(items):
        out.append(now[:])
        return out
    for x in items:
        if x not in now:
            now.append(x)
            permute(items, now, out)
            now.pop()
    return out


def bags(bs):
    for i, b in enumerate(bs):
        b.add(i)
        b.names["k"] = 2.5
    return bs[1].best, bs[0].total


def chain(c, n):
    for i in range(n):
        c.push(i)
    total, cell = 0, c.head
    while cell is not None:
        total += cell.v
        cell = cell.next
    return total


def graph(g, edges):
    for a, b in edges:
        g.add(a, b)
    g.walk(1)
    return g.order


def people(a, b):
    a.meet(b)
    a.marry(b)
    a.notes["met"] = [1, 2]
    return a.friends[0].name, b.partner.name, a.partner.partner.name


def log(entries):
    entries.lines.append("x")
    entries.places["k"] = [1]
    return len(entries.lines)


@pytest.mark.parametrize("f, args", [
    (by_recursion, (Node(5), [3, 8, 1, 4])), (by_loop, (Node(5), [3, 8, 1, 4])), (in_a_tree, (Tree(), [3, 1, 2])),
    (put, (Node(5), 3)), (partly, (Node(1, Node(2)),)), (append, ([], 3)), (append, ([0.5], 2)),
    (mixed_numbers, ([],)), (by_helper, ([],)), (many, ([], {}, set(), [3, 1, 3])), (nested, ([[], []], {"a": []})),
    (holes, ([None, None, None], {"x": None, "y": None})), (pairs, ([(1, []), (2, ["a"])],)), (stack, ([],)),
    (memoised, (20, {})), (permute, ([1, 2, 3], [], [])), (bags, ([Bag(), Bag()],)), (chain, (Chain(), 3)),
    (graph, (Graph(), [(1, 2), (2, 3), (4, 5)])), (people, (Person("a"), Person("b"))), (log, (Log(),)),
    (lambda values: values, ([],)), (lambda n: (n.left is None, n.v), (Node(1),)),
])  # fmt: skip
def test_arguments_take_what_is_put_into_them(f, args):
    agree(f, *args)


def test_one_specialisation_serves_what_is_filled():
    f = njit(lambda values: values.append(1))
    values = []
    f(values)
    f(values)
    assert values == [1, 1] and len(f.signatures) == 1


# ---- instances of one class ----


def moved(ps):
    total = 0.0
    for p in ps:
        p.x += p.v * 0.5
        total += p.x
    return total


def widened(p):
    for _ in range(3):
        p.x += 0.5
    return p.x


def not_widened(p):
    if p.v > 5:
        p.x = 0.5
    return p.v


def asked(ps):
    return ("y" if hasattr(ps[0], "extra") else "n", hasattr(ps[1], "extra"), getattr(ps[0], "extra", -1),
            getattr(ps[1], "extra", -1), ps[1].extra, ps[0].x)  # fmt: skip


def assigned(p):
    p.v = 3
    return p.v


def total(table):
    return sum(p.x for p in table.values())


@pytest.mark.parametrize("f, args", [
    (moved, ([Point(0, 1.5), Point(0.5, 1)],)), (widened, (Point(0, 1),)), (not_widened, (Point(3, 1),)),
    (asked, ([made(x=1, v=2), made(x=1, v=2, extra=3)],)), (lambda ps: ps[0].extra, ([made(x=1), made(x=2, extra=3)],)),
    (lambda ps: ps[0].tag, ([made(x=1, tag="a"), made(x=2, extra=3)],)), (assigned, (made(x=1),)),
    (lambda p: p.x, (made(x=1),)), (lambda ps: (ps[0].doubled(), ps[0].kept), ([Point(1, 2)],)),
    (lambda ps: [p.x is None for p in ps], ([Point(1, 2), Point(None, 2)],)),
    (total, ({"a": Point(1.5, 2), "b": made(x=2.5, v=1, k=2)},)), (lambda ps: len(ps), ([Point(2, 1), Point(0.5, 1)],)),
])  # fmt: skip
def test_instances_that_hold_different_things(f, args):
    agree(f, *args)


def test_what_is_refused():
    with pytest.raises(TypeError, match="instances of Point .* attribute 'v' holds values of several types"):
        njit(lambda ps: len(ps))([Point(1, "a"), Point(1, 2)])
