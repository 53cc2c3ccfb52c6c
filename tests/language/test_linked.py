"""Instances that hold instances of their own class: linked lists, trees, graphs, made and changed in compiled code."""

import copy
import subprocess
import sys

import pytest
from oracle import agree

from krait import _testing, errors, njit
from krait.errors import KraitError
from krait.extending import register_jitable


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class Tree:
    def __init__(self, key):
        self.key = key
        self.kids = []
        self.parent = None

    def add(self, kid):
        kid.parent = self
        self.kids.append(kid)
        return kid


class Team:
    def __init__(self, name):
        self.name = name
        self.staff = []


class Person:
    def __init__(self, name, team):
        self.name = name
        self.team = team
        team.staff.append(self)


class Trie:
    def __init__(self):
        self.children = {}
        self.end = False

    def insert(self, word):
        node = self
        for c in word:
            if c not in node.children:
                node.children[c] = Trie()
            node = node.children[c]
        node.end = True

    def __contains__(self, word):
        node = self
        for c in word:
            if c not in node.children:
                return False
            node = node.children[c]
        return node.end


def chain(n):
    head = None
    for i in range(n):
        head = Node(i, head)
    return head


def values(head):
    out = []
    while head is not None:
        out.append(head.value)
        head = head.next
    return out


def test_a_list_from_its_end():
    def total(n):
        s, p = 0, chain(n)
        while p:
            s = s * 3 + p.value
            p = p.next
        return s

    for n in (0, 1, 7):
        agree(total, n)


def test_a_list_that_grows_at_its_end():
    def run(n):
        head = Node(0)
        tail = head
        for i in range(1, n):
            tail.next = Node(i)
            tail = tail.next
        return values(head), tail.next is None

    agree(run, 5)


def test_reversed_merged_sorted():
    def reverse(head):
        before = None
        while head is not None:
            head.next, before, head = before, head, head.next
        return before

    def merge(a, b):
        if a is None:
            return b
        if b is None:
            return a
        if a.value <= b.value:
            a.next = merge(a.next, b)
            return a
        b.next = merge(a, b.next)
        return b

    def run(n):
        return values(merge(reverse(chain(n)), Node(2, Node(3))))

    agree(run, 6)
    agree(run, 0)


def test_cycles_and_identity():
    def run(n):
        a, b = Node(1), Node(2)
        a.next = b
        b.next = a
        return a.next.next.value, a.next.next is a, a.next is a, a.next is None, a.next == b, a.next != b

    agree(run, 0)


def test_trees_know_their_parents():
    def run(n):
        root = Tree("r")
        last = root.add(Tree("a")).add(Tree("b"))
        root.add(Tree("c"))
        path = []
        while last is not None:
            path.append(last.key)
            last = last.parent
        return path, [k.key for k in root.kids], root.kids[0].kids[0].parent is root.kids[0]

    agree(run, 0)


def test_classes_that_hold_each_other():
    def run(n):
        team = Team("it")
        ann = Person("ann", team)
        Person("bob", team)
        return [p.name for p in ann.team.staff], team.staff[1].team.name, ann.team is team

    agree(run, 0)


def test_dicts_of_the_same_class():
    def run(n):
        t = Trie()
        for w in ["to", "tea", "ten", "i", "in"]:
            t.insert(w)
        return "tea" in t, "te" in t, "x" in t, sorted(t.children)

    agree(run, 0)


def test_instances_in_lists_and_dicts_linked_later():
    def run(n):
        nodes = [Node(i) for i in range(n)]
        for i in range(n - 1):
            nodes[i].next = nodes[i + 1]
        ring = {i: Node(i) for i in range(n)}
        for i in ring:
            ring[i].next = ring[(i + 1) % n]
        return values(nodes[0]), ring[0].next.value, ring[n - 1].next is ring[0]

    agree(run, 4)


def test_none_has_no_attributes():
    def run(n):
        p = chain(n)
        try:
            p.next.value = 3
        except AttributeError as e:
            return str(e)[:42]  # CPython 3.13 says more
        return "there"

    agree(run, 1)
    agree(run, 2)
    with pytest.raises(AttributeError, match="^'NoneType' object has no attribute 'next'$"):
        njit(lambda n: chain(n).next.next)(1)


# ---- from Python and back --------------------------------------------------------------------------------------------


def test_results_are_instances():
    made = njit(chain)(5)
    assert type(made) is Node and values(made) == [4, 3, 2, 1, 0]

    @njit
    def ring(n):
        a = Node(n)
        a.next = Node(n + 1, a)
        return a

    a = ring(3)
    assert a.next.next is a and a.next.value == 4


def test_any_length_comes_in_and_goes_out():
    total = njit(lambda p: sum(values(p)))
    head = chain(50_000)
    assert total(head) == sum(range(50_000))
    made = njit(chain)(50_000)
    assert made.value == 49_999
    while made is not None:
        made = made.next  # let go from the front: the interpreter's own release is recursive
    while head is not None:
        head = head.next


def test_arguments_are_changed_in_place():
    def insert(p, v):
        while p.next is not None and p.next.value < v:
            p = p.next
        p.next = Node(v, p.next)

    mine, other = Node(0, Node(5, Node(9))), Node(0, Node(5, Node(9)))
    last = mine.next.next
    for v in (7, 1, 20):
        njit(insert)(mine, v)
        insert(other, v)
    assert values(mine) == values(other) == [0, 1, 5, 7, 9, 20]
    assert mine.next.next.next.next is last


def test_rings_and_trees_come_in():
    def turn(p):
        p.next.value += 10
        return p.next.next

    a = Node(1)
    a.next = Node(2, a)
    assert njit(turn)(a) is a and a.next.value == 12

    def count(tree):
        return 1 + sum([count(k) for k in tree.kids])

    def deep(tree):
        return [k.parent.key for k in tree.kids]

    root = Tree("r")
    root.add(Tree("a")).add(Tree("b"))
    root.add(Tree("c"))
    assert njit(count)(root) == 4 and njit(deep)(root) == ["r", "r"]
    team = Team("it")
    ann = Person("ann", team)
    assert njit(lambda p: [q.name for q in p.team.staff])(ann) == ["ann"]
    copied = copy.deepcopy(ann)
    assert njit(lambda p: p.team.staff[0] is p)(copied)


def test_values_of_two_types_have_no_type():
    with pytest.raises(TypeError, match="attribute 'value'"):
        njit(lambda p: p.next is None)(Node(1, Node("x")))


def test_types_that_do_not_agree_are_refused():
    def run(n):
        a = Node(n)
        a.next = Node("text")
        return a.value

    with pytest.raises(KraitError, match="the attribute `(value|next)` of .* is assigned"):
        njit(run)(1)


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_what_refers_to_itself_is_released():
    @njit
    def rings(n):
        kept = Node(-1)
        for i in range(n):
            a = Node(i)
            a.next = Node(i + 1, a)
            if i % 1000 == 0:
                kept = Node(i, kept)
        return kept

    before = _testing.heap_objects()
    rings(1)
    kept = values(rings(20_000))
    assert kept == [*range(19_000, -1, -1000), -1]
    assert _testing.heap_objects() == before


def test_generators_keep_theirs():
    @njit
    def walk(n):
        a = Tree("0")
        for i in range(n):
            a = a.add(Tree(str(i)))
            yield a.key

    before = _testing.heap_objects()
    assert list(walk(3000)) == [str(i) for i in range(3000)]
    first = walk(5)
    assert next(first) == "0"
    _testing.heap_objects()
    assert list(first) == ["1", "2", "3", "4"]
    del first
    assert _testing.heap_objects() == before


def test_without_the_interpreters_lock():
    @njit(nogil=True)
    def turn(p):
        s = 0
        for i in range(5000):
            q = Node(i, Node(i))
            q.next.next = q
            s = q.next.value
        return p.next.value + s

    a = Node(1)
    a.next = Node(2, a)
    assert turn(a) == 2 + 4999


TURNS = '''
import threading

import numpy as np

from krait import guvectorize, njit, vectorize


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@vectorize(["int64(int64)"])
def each(n):
    s = 0
    for i in range(n):
        q = Node(i, Node(i))
        q.next.next = q
        s = q.next.value
    if s < 0:
        raise ValueError
    return s


@guvectorize(["void(int64[:], int64[:])"], "(n)->(n)")
def all_of_them(n, out):
    for k in range(len(n)):
        for i in range(n[k]):
            q = Node(i, Node(i))
            q.next.next = q
            out[k] = q.next.value


@njit
def walk(n):
    kept = [Node(0)]
    for i in range(n):
        q = Node(i, Node(i))
        q.next.next = q
        kept.append(q)
        if len(kept) > 50:
            kept.pop()
            kept[0].next = kept[3]
        yield kept[-1].next.value


def other():
    while going:
        next(steps)


for turn in (each, all_of_them):
    steps, going = walk(10**12), [True]
    for _ in range(300):
        next(steps)
    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(10):
        assert (turn(np.array([3000] * 4)) == 2999).all()
    going.clear()
    thread.join()
'''


def test_ufuncs_leave_rings_to_the_threads_that_change_them_meanwhile():
    """In a process of its own: what another thread may see is kept for ever."""
    subprocess.run([sys.executable, "-c", TURNS], check=True, timeout=100)


class Branch:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None


@register_jitable
def inserted(root, value):
    if root is None:
        return Branch(value)
    if value < root.value:
        root.left = inserted(root.left, value)
    else:
        root.right = inserted(root.right, value)
    return root


@register_jitable
def walked(root, out):
    if root is not None:
        walked(root.left, out)
        out.append(root.value)
        walked(root.right, out)


@register_jitable
def height(root):
    return 0 if root is None else 1 + max(height(root.left), height(root.right))


@register_jitable
def contains(root, value):
    if root is None:
        return False
    if root.value == value:
        return True
    return contains(root.left if value < root.value else root.right, value)


@register_jitable
def without_least(root):
    if root.left is None:
        return root.value, root.right
    value, root.left = without_least(root.left)
    return value, root


def sorted_by_tree(values):
    root = None
    for value in values:
        root = inserted(root, value)
    out = [values[0]]
    walked(root, out)
    return out, height(root), contains(root, values[1]), contains(root, values[0] + 100)


def taken_least_first(values):
    root = None
    for value in values:
        root = inserted(root, value)
    out = [values[0]]
    while root is not None:
        value, root = without_least(root)
        out.append(value)
    return out


@pytest.mark.parametrize("function", [sorted_by_tree, taken_least_first])
@pytest.mark.parametrize("values", [[3, 1, 2, 5, 4], [1.5, -2.0, 0.5], [7, 7]])
def test_a_tree_that_a_recursive_function_returns(function, values):
    agree(function, values)


def test_an_attribute_that_nothing_made_to_fit_is_refused():
    def f(n):
        root = Branch(n)
        root.left = 5
        root.left = Branch(n)
        return root.left

    with pytest.raises(errors.TypingError, match="the attribute `left`"):
        njit(f)(1)
