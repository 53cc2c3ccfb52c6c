"""Programs with classes and containers, as people write them: games, scheduling, accounts, graphs, simulations."""

import heapq
import math
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum, auto

import pytest
from oracle import agree


class InsufficientFunds(Exception):
    pass


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(f"{self.owner} has only {self.balance}")
        self.balance -= amount
        self.history.append(("withdraw", amount))

    def __str__(self):
        return f"{self.owner}: {self.balance}"


class Bank:
    def __init__(self):
        self.accounts = {}

    def open(self, owner, amount):
        self.accounts[owner] = Account(owner, amount)
        return self.accounts[owner]

    def transfer(self, source, target, amount):
        a, b = self.accounts[source], self.accounts[target]
        a.withdraw(amount)
        b.deposit(amount)


def case_bank():
    bank = Bank()
    bank.open("ann", 100)
    bank.open("bob", 20)
    errors = []
    for source, target, amount in [("ann", "bob", 50), ("bob", "ann", 500), ("ann", "zed", 1), ("bob", "ann", -1)]:
        try:
            bank.transfer(source, target, amount)
        except InsufficientFunds as e:
            errors.append(f"refused: {e}")
        except (KeyError, ValueError) as e:
            errors.append(type(e).__name__ + " " + str(e))
    return errors, [str(a) for a in bank.accounts.values()], bank.accounts["ann"].history


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    def __add__(self, other):
        return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])

    def transpose(self):
        return Matrix([list(c) for c in zip(*self.rows)])

    def __eq__(self, other):
        return self.rows == other.rows

    def __repr__(self):
        return "\n".join(" ".join(f"{x:6.2f}" for x in row) for row in self.rows)


def case_matrix():
    m = Matrix([[1.0, 2.0], [3.0, 4.0]])
    eye = Matrix([[1.0, 0.0], [0.0, 1.0]])
    return (m @ m).rows, (m + eye).rows, m.transpose().rows, m @ eye == m, repr(m), [sum(c) for c in zip(*m.rows)]


def case_gauss():
    a = [[2.0, 1.0, -1.0, 8.0], [-3.0, -1.0, 2.0, -11.0], [-2.0, 1.0, 2.0, -3.0]]
    n = len(a)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for r in range(i + 1, n):
            factor = a[r][i] / a[i][i]
            a[r] = [x - factor * y for x, y in zip(a[r], a[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return [round(v, 9) for v in x]


def case_dijkstra():
    graph = defaultdict(list)
    for a, b, w in [("A", "B", 4), ("A", "C", 2), ("C", "B", 1), ("B", "D", 5), ("C", "D", 8), ("D", "E", 3)]:
        graph[a].append((b, w))
        graph[b].append((a, w))
    dist = {node: math.inf for node in graph}
    dist["A"] = 0
    before = {}
    queue = [(0, "A")]
    while queue:
        d, u = heapq.heappop(queue)
        if d > dist[u]:
            continue
        for v, w in graph[u]:
            if d + w < dist[v]:
                dist[v] = d + w
                before[v] = u
                heapq.heappush(queue, (d + w, v))
    path = ["E"]
    while path[-1] != "A":
        path.append(before[path[-1]])
    return dist, path[::-1]


def case_maze():
    maze = ["S.#.", "..#.", ".#..", "...E"]
    start = next((r, c) for r, row in enumerate(maze) for c, x in enumerate(row) if x == "S")
    queue = deque([(start, 0)])
    seen = {start}
    while queue:
        (r, c), steps = queue.popleft()
        if maze[r][c] == "E":
            return steps, len(seen)
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            place = r + dr, c + dc
            inside = 0 <= place[0] < len(maze) and 0 <= place[1] < len(maze[0])
            if inside and maze[place[0]][place[1]] != "#" and place not in seen:
                seen.add(place)
                queue.append((place, steps + 1))
    return -1, len(seen)


def case_topological_order():
    needs = {"shirt": ["tie"], "tie": ["jacket"], "trousers": ["shoes", "jacket"], "socks": ["shoes"], "shoes": [],
             "jacket": []}  # fmt: skip
    degree = {k: 0 for k in needs}
    for targets in needs.values():
        for t in targets:
            degree[t] += 1
    ready = sorted(k for k, n in degree.items() if n == 0)
    order = []
    while ready:
        node = ready.pop(0)
        order.append(node)
        for t in needs[node]:
            degree[t] -= 1
            if degree[t] == 0:
                ready.append(t)
    return order


class DisjointSet:
    def __init__(self, n):
        self.parent = list(range(n))
        self.size = [1] * n

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return True


def case_spanning_tree():
    edges = [(7, 0, 1), (5, 1, 2), (8, 0, 2), (9, 1, 3), (7, 2, 4), (5, 3, 4), (15, 0, 4)]
    sets = DisjointSet(5)
    chosen = [(a, b) for w, a, b in sorted(edges) if sets.union(a, b)]
    return chosen, sum(w for w, a, b in edges if (a, b) in chosen)


@dataclass(order=True)
class Task:
    priority: int
    name: str = field(compare=False)
    minutes: int = field(default=5, compare=False)


def case_scheduler():
    tasks = [Task(3, "write"), Task(1, "plan", 10), Task(2, "code", 60)]
    heap = []
    for t in tasks:
        heapq.heappush(heap, (t.priority, t.name, t.minutes))
    clock = 0
    log = []
    while heap:
        _, name, minutes = heapq.heappop(heap)
        log.append(f"{clock:>3}: {name}")
        clock += minutes
    return log, clock, [t.name for t in sorted(tasks)], max(tasks).name, min(tasks[0], tasks[1]), str(tasks[1])


class Light(Enum):
    RED = auto()
    GREEN = auto()
    AMBER = auto()


def case_traffic_light():
    follows = {Light.RED: Light.GREEN, Light.GREEN: Light.AMBER, Light.AMBER: Light.RED}
    state = Light.RED
    names = []
    for _ in range(5):
        names.append(state.name)
        state = follows[state]
    return names, state is Light.AMBER


def case_life():
    alive = {(1, 0), (1, 1), (1, 2)}
    for _ in range(3):
        near = Counter((x + dx, y + dy) for x, y in alive for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
        alive = {cell for cell, n in near.items() if n == 3 or (n == 2 and cell in alive)}
    return sorted(alive)


class Board:
    def __init__(self):
        self.cells = [" "] * 9
        self.player = "X"

    def winner(self):
        for a, b, c in [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]:
            if self.cells[a] != " " and self.cells[a] == self.cells[b] == self.cells[c]:
                return self.cells[a]
        return None

    def play(self, i):
        if self.cells[i] != " ":
            raise ValueError(f"cell {i} is taken")
        self.cells[i] = self.player
        self.player = "O" if self.player == "X" else "X"

    def show(self):
        return "\n-+-+-\n".join("|".join(self.cells[r:r + 3]) for r in range(0, 9, 3))


def case_tic_tac_toe():
    board = Board()
    moves = iter([0, 4, 1, 4, 3, 2])
    notes = []
    while board.winner() is None:
        try:
            board.play(next(moves))
        except ValueError as e:
            notes.append(repr(e))
    return board.winner(), board.show(), notes


def case_queens():
    solutions = []

    def place(row, columns):
        if row == 6:
            solutions.append(columns[:])
            return
        for c in range(6):
            if all(c != q and abs(c - q) != row - r for r, q in enumerate(columns)):
                columns.append(c)
                place(row + 1, columns)
                columns.pop()

    place(0, [])
    return solutions


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


class Tree:
    def __init__(self):
        self.root = None
        self.count = 0

    def insert(self, key):
        self.root = self._insert(self.root, key)

    def _insert(self, node, key):
        if node is None:
            self.count += 1
            return Node(key)
        if key < node.key:
            node.left = self._insert(node.left, key)
        elif key > node.key:
            node.right = self._insert(node.right, key)
        return node

    def in_order(self):
        out = []

        def walk(node):
            if node is not None:
                walk(node.left)
                out.append(node.key)
                walk(node.right)

        walk(self.root)
        return out

    def height(self, node):
        return 0 if node is None else 1 + max(self.height(node.left), self.height(node.right))


def case_tree():
    tree = Tree()
    for key in [5, 2, 8, 1, 9, 3, 5]:
        tree.insert(key)
    return tree.in_order(), tree.count, tree.height(tree.root)


class Link:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


def case_linked_list():
    head = None
    for v in range(5):
        head = Link(v, head)
    before = None
    while head:
        head.next, before, head = before, head, head.next
    values = []
    node = before
    while node:
        values.append(node.value)
        node = node.next
    return values


@dataclass
class Particle:
    x: float
    v: float
    mass: float = 1.0

    @property
    def energy(self):
        return 0.5 * self.mass * self.v**2

    def step(self, dt, force=lambda x: -x):
        self.v += force(self.x) / self.mass * dt
        self.x += self.v * dt


def case_particles():
    ps = [Particle(1.0, 0.0), Particle(x=0.0, v=2.0, mass=2.0)]
    for _ in range(100):
        for p in ps:
            p.step(0.01)
    return [(p.x, p.v) for p in ps], sum(p.energy for p in ps), f"{ps[0].x:.3f}"


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_models(name):
    agree(globals()[name])
