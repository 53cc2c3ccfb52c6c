"""Programs as they are usually written: a queue that is simulated, sets that are united, a cache, a tokenizer,
matrices, accounts, searches in graphs, counted words, trees, sparse matrices, remembered results, a parser, a stack of
links."""

import heapq
from collections import Counter, defaultdict, deque

from oracle import agree_all


def test_a_queue():
    def simulate(n, seed):
        queue = deque()
        served = 0
        waited = 0.0
        x = seed
        next_arrival = 0.0
        free_at = 0.0
        while served < n:
            x = (x * 1103515245 + 12345) % 2147483648
            u = x / 2147483648.0
            if next_arrival <= free_at or len(queue) == 0:
                queue.append(next_arrival)
                next_arrival += 1.0 + u
            else:
                arrived = queue.popleft()
                start = max(free_at, arrived)
                waited += start - arrived
                free_at = start + 2.2 * u
                served += 1
        return served, waited, len(queue)

    agree_all(simulate, [(50, 7), (1, 1)])


class UnionFind:
    def __init__(self, n):
        self.parent = list(range(n))
        self.rank = [0] * n
        self.count = n

    def find(self, a):
        while self.parent[a] != a:
            self.parent[a] = self.parent[self.parent[a]]
            a = self.parent[a]
        return a

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.rank[a] < self.rank[b]:
            a, b = b, a
        self.parent[b] = a
        if self.rank[a] == self.rank[b]:
            self.rank[a] += 1
        self.count -= 1
        return True


def test_sets_are_united():
    def components(n, edges):
        u = UnionFind(n)
        kept = []
        for a, b in edges:
            if u.union(a, b):
                kept.append((a, b))
        return u.count, kept

    agree_all(components, [(6, [(0, 1), (1, 2), (0, 2), (3, 4)])])


class Entry:
    def __init__(self, key, value):
        self.key = key
        self.value = value
        self.prev = None
        self.next = None


class LRU:
    def __init__(self, capacity):
        self.capacity = capacity
        self.table = {}
        self.head = Entry(0, 0)
        self.tail = Entry(0, 0)
        self.head.next = self.tail
        self.tail.prev = self.head

    def _remove(self, node):
        node.prev.next = node.next
        node.next.prev = node.prev

    def _add(self, node):
        node.prev = self.tail.prev
        node.next = self.tail
        self.tail.prev.next = node
        self.tail.prev = node

    def get(self, key):
        if key not in self.table:
            return -1
        node = self.table[key]
        self._remove(node)
        self._add(node)
        return node.value

    def put(self, key, value):
        if key in self.table:
            self._remove(self.table[key])
        node = Entry(key, value)
        self.table[key] = node
        self._add(node)
        if len(self.table) > self.capacity:
            old = self.head.next
            self._remove(old)
            del self.table[old.key]


def test_a_cache_of_the_last_used():
    def run(n):
        cache = LRU(3)
        hits = 0
        for i in range(n):
            k = (i * i) % 7
            v = cache.get(k)
            if v == -1:
                cache.put(k, i)
            else:
                hits += v
        return hits, len(cache.table)

    agree_all(run, [(40,)])


def test_a_tokenizer():
    def tokenize(text):
        tokens = []
        i = 0
        while i < len(text):
            c = text[i]
            if c.isspace():
                i += 1
            elif c.isdigit():
                start = i
                while i < len(text) and (text[i].isdigit() or text[i] == '.'):
                    i += 1
                tokens.append(('number', text[start:i]))
            elif c.isalpha() or c == '_':
                start = i
                while i < len(text) and (text[i].isalnum() or text[i] == '_'):
                    i += 1
                tokens.append(('name', text[start:i]))
            elif c in '+-*/()=':
                tokens.append(('op', c))
                i += 1
            else:
                raise ValueError(f'unexpected {c!r} at {i}')
        return tokens

    agree_all(tokenize, [('x1 = 3.5*(y_2 + 42)',), ('a ? b',)])


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    def __getitem__(self, key):
        i, j = key
        return self.rows[i][j]

    def __setitem__(self, key, value):
        i, j = key
        self.rows[i][j] = value

    def __add__(self, other):
        return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])

    def __mul__(self, k):
        return Matrix([[k * a for a in r] for r in self.rows])
    __rmul__ = __mul__

    def __matmul__(self, other):
        n, m = self.shape
        p = other.shape[1]
        out = [[0.0] * p for _ in range(n)]
        for i in range(n):
            for j in range(p):
                out[i][j] = sum(self[i, k] * other[k, j] for k in range(m))
        return Matrix(out)

    def __eq__(self, other):
        return self.rows == other.rows

    def transpose(self):
        return Matrix([list(c) for c in zip(*self.rows)])

    @classmethod
    def identity(cls, n):
        return cls([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __repr__(self):
        return f'Matrix({self.rows})'


def test_matrices():
    def run(n):
        a = Matrix([[float(i * j + 1) for j in range(n)] for i in range(n)])
        b = a @ a + 2 * a
        b[0, 0] = -1.0
        trace = 0.0
        for i in range(len(b)):
            trace += b[i, i]
        total = 0.0
        for row in b:
            total += sum(row)
        return trace, total, b == a, a @ Matrix.identity(n) == a, repr(b)

    agree_all(run, [(3,)])


class InsufficientFunds(Exception):
    def __init__(self, needed, balance):
        super().__init__(f'needs {needed}, has {balance}')
        self.needed = needed
        self.balance = balance


class Account:
    interest = 0.05

    def __init__(self, owner, balance=0.0):
        self.owner = owner
        self._balance = balance
        self.history = []

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, value):
        if value < 0:
            raise ValueError('negative balance')
        self._balance = value

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError('amount must be positive')
        self.balance += amount
        self.history.append(('deposit', amount))

    def withdraw(self, amount):
        if amount > self._balance:
            raise InsufficientFunds(amount, self._balance)
        self.balance -= amount
        self.history.append(('withdraw', amount))

    def __str__(self):
        return f'{self.owner}: {self._balance:.2f}'


class Savings(Account):
    def add_interest(self):
        self.deposit(self.balance * self.interest)


def test_accounts():
    def run(x):
        a = Savings('ann', 100.0)
        a.deposit(x)
        failed = ''
        try:
            a.withdraw(1e6)
        except InsufficientFunds as e:
            failed = str(e)
        try:
            a.balance = -1.0
        except ValueError as e:
            failed += ' ' + str(e)
        a.add_interest()
        return a.balance, failed, str(a), a.history

    agree_all(run, [(50.0,), (-1.0,)])


def test_a_search_in_breadth():
    def bfs(graph, start):
        distance = {start: 0}
        queue = deque([start])
        order = []
        while queue:
            node = queue.popleft()
            order.append(node)
            for other in graph[node]:
                if other not in distance:
                    distance[other] = distance[node] + 1
                    queue.append(other)
        return order, distance

    by_letter = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["a"]}
    agree_all(bfs, [({0: [1, 2], 1: [3], 2: [3], 3: [4], 4: [0]}, 0), (by_letter, "a")])


def test_shortest_ways():
    def dijkstra(graph, source):
        dist = {node: float('inf') for node in graph}
        dist[source] = 0.0
        previous = {}
        heap = [(0.0, source)]
        while heap:
            d, u = heapq.heappop(heap)
            if d > dist[u]:
                continue
            for v, w in graph[u].items():
                if d + w < dist[v]:
                    dist[v] = d + w
                    previous[v] = u
                    heapq.heappush(heap, (d + w, v))
        return dist, previous

    ways = {"a": {"b": 1.0, "c": 4.0}, "b": {"c": 2.0, "d": 6.0}, "c": {"d": 3.0}, "d": {"a": 1.0}}
    agree_all(dijkstra, [(ways, "a")])


def test_words_are_counted():
    def count(text):
        words = text.lower().split()
        c = Counter(words)
        by_length = defaultdict(list)
        total = defaultdict(int)
        for w in words:
            by_length[len(w)].append(w)
            total[w[0]] += len(w)
        longest = max(words, key=len)
        return c['the'], c['zzz'], len(c), sorted(c.items()), by_length[3], dict(total), longest

    agree_all(count, [('The cat and the dog and the bird',)])


class Tree:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None

    def insert(self, value):
        if value < self.value:
            if self.left is None:
                self.left = Tree(value)
            else:
                self.left.insert(value)
        else:
            if self.right is None:
                self.right = Tree(value)
            else:
                self.right.insert(value)

    def __contains__(self, value):
        if value == self.value:
            return True
        child = self.left if value < self.value else self.right
        return child is not None and value in child


def height(t):
    if t is None:
        return 0
    return 1 + max(height(t.left), height(t.right))


def in_order(t, out):
    if t is not None:
        in_order(t.left, out)
        out.append(t.value)
        in_order(t.right, out)


def test_a_tree():
    def run(values):
        root = Tree(values[0])
        for v in values[1:]:
            root.insert(v)
        out = []
        in_order(root, out)
        return out, height(root), 5 in root, 99 in root

    agree_all(run, [([5, 2, 8, 1, 9, 3],)])


class Sparse:
    def __init__(self, n):
        self.n = n
        self.data = {}

    def __setitem__(self, key, value):
        if value == 0.0:
            self.data.pop(key, None)
        else:
            self.data[key] = value

    def __getitem__(self, key):
        return self.data.get(key, 0.0)

    def __contains__(self, key):
        return key in self.data

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data.items())

    def dot(self, x):
        y = [0.0] * self.n
        for (i, j), v in self.data.items():
            y[i] += v * x[j]
        return y


def test_a_sparse_matrix():
    def run(n):
        s = Sparse(n)
        for i in range(n):
            s[i, i] = 2.0
            if i > 0:
                s[i, i - 1] = -1.0
        s[0, 0] = 0.0
        total = 0.0
        for key, v in s:
            total += v
        return s.dot([1.0] * n), (0, 0) in s, len(s), s[1, 0], s[0, 0], total

    agree_all(run, [(4,)])


def fib(n, memo):
    if n in memo:
        return memo[n]
    if n < 2:
        return n
    r = fib(n - 1, memo) + fib(n - 2, memo)
    memo[n] = r
    return r


def test_remembered_results():
    def run(n):
        return fib(n, {})

    agree_all(run, [(50,), (1,)])


class Parser:
    def __init__(self, text):
        self.text = text
        self.pos = 0

    def peek(self):
        while self.pos < len(self.text) and self.text[self.pos] == ' ':
            self.pos += 1
        return self.text[self.pos] if self.pos < len(self.text) else ''

    def expect(self, c):
        if self.peek() != c:
            raise SyntaxError(f'expected {c}')
        self.pos += 1

    def expression(self):
        value = self.term()
        while (op := self.peek()) in ('+', '-') and op:
            self.pos += 1
            if op == '+':
                value += self.term()
            else:
                value -= self.term()
        return value

    def term(self):
        value = self.factor()
        while True:
            op = self.peek()
            if op == '*':
                self.pos += 1
                value *= self.factor()
            elif op == '/':
                self.pos += 1
                value /= self.factor()
            else:
                return value

    def factor(self):
        c = self.peek()
        if c == '(':
            self.pos += 1
            value = self.expression()
            self.expect(')')
            return value
        if c == '-':
            self.pos += 1
            return -self.factor()
        start = self.pos
        while self.pos < len(self.text) and (self.text[self.pos].isdigit() or self.text[self.pos] == '.'):
            self.pos += 1
        if start == self.pos:
            raise SyntaxError('number expected')
        return float(self.text[start:self.pos])


def test_a_parser():
    def evaluate(text):
        return Parser(text).expression()

    agree_all(evaluate, [('1 + 2 * (3 - 4) / 8',), ('(1',), ('-3*-(2+1)',)])


class Link:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class Stack:
    def __init__(self):
        self.head = None
        self.size = 0

    def push(self, v):
        self.head = Link(v, self.head)
        self.size += 1

    def pop(self):
        if self.head is None:
            raise IndexError('pop from empty stack')
        v = self.head.value
        self.head = self.head.next
        self.size -= 1
        return v


def reverse(head):
    previous = None
    while head is not None:
        head.next, previous, head = previous, head, head.next
    return previous


def test_a_stack_of_links():
    def run(n):
        s = Stack()
        for i in range(n):
            s.push(i * i)
        a = s.pop()
        s.head = reverse(s.head)
        out = []
        node = s.head
        while node:
            out.append(node.value)
            node = node.next
        return a, out, s.size

    agree_all(run, [(6,), (0,)])
