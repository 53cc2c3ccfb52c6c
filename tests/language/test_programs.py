"""Programs as people write them, from several fields: what they do compiled is what they do interpreted.

Each defines `main`; the functions under @njit are compiled in one run, and as they are in the other.
"""

import linecache

import numpy as np
import pytest

import krait

PROGRAMS = {
    "stackvm": """
@njit
def run(code):
    stack = []
    pc = 0
    out = []
    while pc < len(code):
        op, arg = code[pc]
        if op == "push":
            stack.append(arg)
        elif op == "add":
            b = stack.pop(); a = stack.pop()
            stack.append(a + b)
        elif op == "mul":
            b, a = stack.pop(), stack.pop()
            stack.append(a * b)
        elif op == "jnz":
            if stack[-1]:
                pc = arg
                continue
        elif op == "dec":
            stack[-1] -= 1
        elif op == "out":
            out.append(stack[-1])
        else:
            raise ValueError(f"unknown op {op!r} at {pc}")
        pc += 1
    return out, stack
def main():
    return run([("push", 2), ("push", 3), ("add", 0), ("out", 0), ("dec", 0), ("out", 0), ("jnz", 4)])
""",
    "tokeniser": """
@njit
def tokens(text):
    out = []
    i = 0
    while i < len(text):
        c = text[i]
        if c.isspace():
            i += 1
            continue
        if c.isdigit() or c == ".":
            j = i
            while j < len(text) and (text[j].isdigit() or text[j] == "."):
                j += 1
            out.append(("num", text[i:j]))
            i = j
        elif c.isalpha():
            j = i
            while j < len(text) and (text[j].isalnum() or text[j] == "_"):
                j += 1
            out.append(("name", text[i:j]))
            i = j
        elif c in "+-*/()=":
            out.append(("op", c))
            i += 1
        else:
            raise SyntaxError("bad character " + c)
    return out
def main():
    return tokens("x1 = 3.5*(y_2 + 42) / z")
""",
    "parser": """
@njit
def peek(s, pos):
    while pos[0] < len(s) and s[pos[0]] == " ":
        pos[0] += 1
    return s[pos[0]] if pos[0] < len(s) else ""
@njit
def atom(s, pos):
    c = peek(s, pos)
    if c == "(":
        pos[0] += 1
        v = expr(s, pos)
        assert peek(s, pos) == ")", f"expected ) at {pos[0]}"
        pos[0] += 1
        return v
    if c == "-":
        pos[0] += 1
        return -atom(s, pos)
    start = pos[0]
    while pos[0] < len(s) and (s[pos[0]].isdigit() or s[pos[0]] == "."):
        pos[0] += 1
    return float(s[start:pos[0]])
@njit
def term(s, pos):
    v = atom(s, pos)
    while (c := peek(s, pos)) in ("*", "/") and c:
        pos[0] += 1
        w = atom(s, pos)
        v = v * w if c == "*" else v / w
    return v
@njit
def expr(s, pos):
    v = term(s, pos)
    while (c := peek(s, pos)) in ("+", "-") and c:
        pos[0] += 1
        w = term(s, pos)
        v = v + w if c == "+" else v - w
    return v
@njit
def evaluate(s):
    return expr(s, [0])
def main():
    return evaluate("2*(3+4)-10/4"), evaluate("-(1+2)*3"), evaluate("1.5 + 2")
""",
    "life_class": """
class Life:
    def __init__(self, h, w):
        self.h = h
        self.w = w
        self.grid = np.zeros((h, w), np.int8)
        self.generation = 0
    def neighbours(self, i, j):
        n = 0
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di or dj:
                    n += self.grid[(i + di) % self.h, (j + dj) % self.w]
        return n
    def step(self):
        new = np.zeros_like(self.grid)
        for i in range(self.h):
            for j in range(self.w):
                n = self.neighbours(i, j)
                if n == 3 or (n == 2 and self.grid[i, j]):
                    new[i, j] = 1
        self.grid = new
        self.generation += 1
@njit
def simulate(n):
    life = Life(8, 8)
    life.grid[1, 2] = life.grid[2, 3] = life.grid[3, 1] = life.grid[3, 2] = life.grid[3, 3] = 1
    for _ in range(n):
        life.step()
    return life.grid, life.generation
def main():
    return simulate(5)
""",
    "life_arg": """
class Life:
    def __init__(self, h, w):
        self.grid = np.zeros((h, w), np.int8)
        self.generation = 0
@njit
def step(life):
    h, w = life.grid.shape
    new = np.zeros_like(life.grid)
    for i in range(h):
        for j in range(w):
            n = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if not (di == 0 and dj == 0):
                        n += life.grid[(i + di) % h, (j + dj) % w]
            new[i, j] = n == 3 or (n == 2 and life.grid[i, j] == 1)
    life.grid[:] = new
    life.generation += 1
def main():
    life = Life(6, 6)
    life.grid[2, 1:4] = 1
    for _ in range(3):
        step(life)
    return life.grid, life.generation
""",
    "particles": """
from dataclasses import dataclass
@dataclass
class Particle:
    x: float
    y: float
    vx: float
    vy: float
    mass: float = 1.0
    def kinetic(self):
        return 0.5 * self.mass * (self.vx ** 2 + self.vy ** 2)
    def move(self, dt):
        self.x += self.vx * dt
        self.y += self.vy * dt
@njit
def simulate(n, steps):
    ps = [Particle(float(i), 0.0, 1.0, 0.5 * i) for i in range(n)]
    for _ in range(steps):
        for p in ps:
            p.vy -= 9.81 * 0.01
            p.move(0.01)
            if p.y < 0:
                p.y = -p.y
                p.vy = -p.vy
    return sum([p.kinetic() for p in ps]), [(p.x, p.y) for p in ps]
def main():
    return simulate(4, 100)
""",
    "matrix_class": """
class Matrix:
    def __init__(self, rows):
        self.rows = rows
    def __add__(self, other):
        return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])
    def __mul__(self, other):
        n = len(other.rows[0])
        return Matrix([[sum([a * other.rows[k][j] for k, a in enumerate(r)]) for j in range(n)] for r in self.rows])
    def __getitem__(self, ij):
        i, j = ij
        return self.rows[i][j]
    def __len__(self):
        return len(self.rows)
    def __eq__(self, other):
        return self.rows == other.rows
    @staticmethod
    def identity(n):
        return Matrix([[1 if i == j else 0 for j in range(n)] for i in range(n)])
    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])
@njit
def power(rows, n):
    result = Matrix.identity(len(rows))
    base = Matrix(rows)
    while n:
        if n & 1:
            result = result * base
        base = base * base
        n >>= 1
    return result.rows, result[0, 1], len(result), result == base, result.shape, (result + base).rows
def main():
    return power([[1, 1], [1, 0]], 30)
""",
    "lru": """
class LRU:
    def __init__(self, capacity):
        self.capacity = capacity
        self.values = {}
        self.order = []
        self.hits = 0
        self.misses = 0
    def get(self, key):
        if key in self.values:
            self.hits += 1
            self.order.remove(key)
            self.order.append(key)
            return self.values[key]
        self.misses += 1
        return -1
    def put(self, key, value):
        if key in self.values:
            self.order.remove(key)
        elif len(self.values) >= self.capacity:
            oldest = self.order.pop(0)
            del self.values[oldest]
        self.values[key] = value
        self.order.append(key)
@njit
def work(n):
    cache = LRU(4)
    total = 0
    for i in range(n):
        k = i * i % 7
        v = cache.get(k)
        if v < 0:
            cache.put(k, k * 10)
        total += v
    return total, cache.hits, cache.misses, cache.order
def main():
    return work(50)
""",
    "pqueue": """
import heapq
@njit
def dijkstra(graph, source):
    dist = {source: 0}
    heap = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u]:
            nd = d + w
            if v not in dist or nd < dist[v]:
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return dist
def main():
    g = {"a": [("b", 7), ("c", 3)], "b": [("d", 2)], "c": [("b", 1), ("d", 8)], "d": [("a", 1)]}
    return dijkstra(g, "a")
""",
    "pqueue_class": """
class PriorityQueue:
    def __init__(self):
        self.heap = []
    def __len__(self):
        return len(self.heap)
    def push(self, priority, item):
        self.heap.append((priority, item))
        i = len(self.heap) - 1
        while i > 0:
            p = (i - 1) // 2
            if self.heap[p] <= self.heap[i]:
                break
            self.heap[p], self.heap[i] = self.heap[i], self.heap[p]
            i = p
    def pop(self):
        top = self.heap[0]
        last = self.heap.pop()
        if self.heap:
            self.heap[0] = last
            i = 0
            while True:
                c = 2 * i + 1
                if c >= len(self.heap): break
                if c + 1 < len(self.heap) and self.heap[c + 1] < self.heap[c]: c += 1
                if self.heap[i] <= self.heap[c]: break
                self.heap[i], self.heap[c] = self.heap[c], self.heap[i]
                i = c
        return top
@njit
def work():
    q = PriorityQueue()
    for w in ["pear", "fig", "apple", "banana"]:
        q.push(len(w), w)
    out = []
    while len(q) > 0:
        out.append(q.pop()[1])
    return out
def main():
    return work()
""",
    "bank": """
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
        self.history.append(amount)
    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(f"{self.owner} has {self.balance}, needs {amount}")
        self.balance -= amount
        self.history.append(-amount)
@njit
def transfer(a, b, amount):
    a.withdraw(amount)
    b.deposit(amount)
@njit
def day():
    a, b = Account("ann", 100), Account("bob")
    transfer(a, b, 30)
    failed = 0
    try:
        transfer(a, b, 300)
    except InsufficientFunds as e:
        failed += 1
        message = str(e)
    return a.balance, b.balance, a.history, failed, message
def main():
    return day()
""",
    "events": """
@njit
def simulate(seed, horizon):
    events = [(0.0, 0, "arrive")]
    import_count = 1
    queue = 0
    served = 0
    busy = False
    log = []
    state = seed
    while events:
        events.sort()
        t, _, kind = events.pop(0)
        if t > horizon:
            break
        state = (state * 1103515245 + 12345) % 2147483648
        u = state / 2147483648
        if kind == "arrive":
            queue += 1
            events.append((t + 0.5 + u, import_count, "arrive"))
            import_count += 1
        else:
            busy = False
            served += 1
        if queue and not busy:
            queue -= 1
            busy = True
            events.append((t + 0.8, import_count, "done"))
            import_count += 1
        log.append(f"{t:.3f} {kind:<7}|{queue:2d}")
    return served, log
def main():
    return simulate(42, 8.0)
""",
    "textstats": """
@njit
def stats(text):
    words = {}
    letters = {c: 0 for c in "abcdefghijklmnopqrstuvwxyz"}
    for line in text.splitlines():
        for w in line.lower().split():
            w = w.strip(".,;!?")
            if not w:
                continue
            words[w] = words.get(w, 0) + 1
            for c in w:
                if c in letters:
                    letters[c] += 1
    top = sorted(words.items(), key=lambda kv: (-kv[1], kv[0]))[:3]
    longest = max(words, key=len)
    unique = {w for w, n in words.items() if n == 1}
    return top, longest, len(unique), letters["e"], sorted(unique)
def main():
    return stats("The quick brown fox.\\nThe lazy dog; the end!\\nA fox, a dog.")
""",
    "rpn": """
@njit
def rpn(text):
    ops = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
    stack = []
    for tok in text.split():
        if tok in ops:
            b = stack.pop()
            a = stack.pop()
            stack.append(ops[tok](a, b))
        else:
            stack.append(float(tok))
    return stack[0]
def main():
    return rpn("3 4 + 2 * 7 /")
""",
    "vec2": """
from dataclasses import dataclass
@dataclass(frozen=True)
class Vec:
    x: float
    y: float
    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)
    def __sub__(self, o): return Vec(self.x - o.x, self.y - o.y)
    def __mul__(self, s): return Vec(self.x * s, self.y * s)
    def __rmul__(self, s): return Vec(self.x * s, self.y * s)
    def __neg__(self): return Vec(-self.x, -self.y)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
    @property
    def norm2(self): return self.x ** 2 + self.y ** 2
    @classmethod
    def unit(cls, i): return cls(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0)
    @staticmethod
    def dot(a, b): return a.x * b.x + a.y * b.y
@njit
def orbit(p, v, n, dt):
    for _ in range(n):
        a = -p * (1 / abs(p) ** 3)
        v = v + a * dt
        p = p + dt * v
    return p, p.norm2, Vec.dot(p, v), Vec.unit(1) - p, p == Vec(p.x, p.y), p != v
def main():
    return orbit(Vec(1.0, 0.0), Vec(0.0, 1.0), 50, 0.01)
""",
    "inherit": """
class Shape:
    sides = 0
    def __init__(self, name):
        self.name = name
    def area(self):
        return 0.0
    def describe(self):
        return f"{self.name} with {self.sides} sides has area {self.area():.2f}"
class Rect(Shape):
    sides = 4
    def __init__(self, w, h):
        super().__init__("rect")
        self.w = w
        self.h = h
    def area(self):
        return self.w * self.h
class Square(Rect):
    def __init__(self, a):
        super().__init__(a, a)
        self.name = "square"
@njit
def work():
    a, b = Rect(2.0, 3.0), Square(1.5)
    return a.describe(), b.describe(), a.area() + b.area(), isinstance(b, Rect)
def main():
    return work()
""",
    "inherit_arg": """
class Base:
    factor = 3
    def scale(self, x): return self.factor * x
    @classmethod
    def name(cls): return cls.factor + 1
    @staticmethod
    def twice(x): return 2 * x
class Derived(Base):
    factor = 5
    def __init__(self, k): self.k = k
    def scale(self, x): return super().scale(x) + self.k
    def __call__(self, x): return self.scale(x) + 1
    def __len__(self): return self.k
    def __getitem__(self, i): return i * self.k
    def __contains__(self, i): return i == self.k
    def __bool__(self): return self.k > 0
@njit
def use(d):
    return d.scale(2), d.name(), d.twice(4), d(3), len(d), d[4], 7 in d, 3 in d, (1 if d else 0), Derived.twice(1)
def main():
    return use(Derived(7))
""",
    "queue_sim": """
class Customer:
    def __init__(self, arrival, service):
        self.arrival = arrival
        self.service = service
        self.start = 0.0
class Server:
    def __init__(self):
        self.free_at = 0.0
        self.busy = 0.0
        self.served = []
    def serve(self, c):
        c.start = max(c.arrival, self.free_at)
        self.free_at = c.start + c.service
        self.busy += c.service
        self.served.append(c)
@njit
def simulate(n):
    servers = [Server() for _ in range(2)]
    for i in range(n):
        c = Customer(i * 0.7, 1.0 + (i * 37 % 11) / 10)
        best = min(servers, key=lambda s: s.free_at)
        best.serve(c)
    waits = [c.start - c.arrival for s in servers for c in s.served]
    return max(waits), sum(waits) / len(waits), [len(s.served) for s in servers]
def main(): return simulate(20)
""",
    "scheduler": """
from dataclasses import dataclass, field
@dataclass
class Task:
    name: str
    priority: int
    remaining: int
    log: list = field(default_factory=list)
    def run(self, t):
        self.remaining -= 1
        self.log.append(t)
        return self.remaining == 0
@njit
def schedule():
    tasks = [Task("a", 2, 3), Task("b", 1, 2), Task("c", 2, 1)]
    t = 0
    done = []
    while tasks:
        tasks.sort(key=lambda task: (-task.priority, task.name))
        task = tasks[0]
        if task.run(t):
            done.append(task.name)
            tasks.remove(task)
        t += 1
    return done, t
def main(): return schedule()
""",
    "inventory": """
class Item:
    def __init__(self, name, price, qty=0):
        self.name, self.price, self.qty = name, price, qty
    @property
    def total(self): return self.price * self.qty
    def __repr__(self): return f"Item({self.name!r}, {self.price}, {self.qty})"
class Inventory:
    def __init__(self):
        self.items = {}
    def add(self, name, price, qty):
        if name not in self.items:
            self.items[name] = Item(name, price)
        self.items[name].qty += qty
    def __contains__(self, name): return name in self.items
    def __getitem__(self, name): return self.items[name]
    def __len__(self): return len(self.items)
    def __iter__(self):
        for name in sorted(self.items.keys()):
            yield self.items[name]
    @property
    def value(self): return sum([i.total for i in self.items.values()])
@njit
def work():
    inv = Inventory()
    inv.add("bolt", 0.25, 100)
    inv.add("nut", 0.1, 50)
    inv.add("bolt", 0.25, 20)
    names = [i.name for i in inv]
    return inv.value, len(inv), "nut" in inv, inv["bolt"].qty, names, str(inv["nut"])
def main(): return work()
""",
    "counterclass": """
class Counter2:
    def __init__(self): self.counts = {}
    def __setitem__(self, k, v): self.counts[k] = v
    def __getitem__(self, k): return self.counts.get(k, 0)
    def __iadd__(self, words):
        for w in words: self[w] += 1
        return self
    def top(self, n): return sorted(self.counts.items(), key=lambda kv: (-kv[1], kv[0]))[:n]
@njit
def f(text):
    c = Counter2()
    c += text.split()
    c += ["b"]
    return c.top(2), c["zzz"], c["a"]
def main(): return f("a b a c b a")
""",
}


def run(source, name, njit):
    file = f"<program {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"np": np, "njit": njit, "__name__": __name__}
    exec(compile(source, file, "exec"), scope)
    return scope["main"]()


def plain(value):
    """With the attributes of instances in their place, and arrays as lists."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return plain(vars(value)) if hasattr(value, "__dict__") else (type(value).__name__, value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same(name):
    expected = run(PROGRAMS[name], name, lambda function: function)
    assert repr(plain(run(PROGRAMS[name], name, krait.njit))) == repr(plain(expected))
