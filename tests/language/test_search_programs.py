"""Programs of searching and counting as they are usually written, with itertools and tuples as states, compared with
the interpreter."""

import heapq
from collections import Counter, defaultdict, deque
from itertools import chain, combinations, groupby, pairwise, permutations, product

import pytest
from oracle import agree

T = """199
200
208
210
200
207
240"""


def case_sonar():
    d = [int(x) for x in T.splitlines()]
    return (sum((b > a for a, b in pairwise(d))), sum((d[i + 3] > d[i] for i in range(len(d) - 3))))


def case_triangles():
    rows = [[5, 10, 25], [3, 4, 5]]
    cols = [list(c) for c in zip(*rows)]
    return (sum((1 for r in rows if all((a + b > c for a, b, c in permutations(r))))), cols)


def case_tsp():
    dist = {('a', 'b'): 3, ('b', 'c'): 4, ('a', 'c'): 9}
    names = ['a', 'b', 'c']

    def d(x, y):
        return dist[x, y] if (x, y) in dist else dist[y, x]
    least = min(sum(d(x, y) for x, y in pairwise(p)) for p in permutations(names))
    return least, max(sum(d(p[i], p[i + 1]) for i in range(2)) for p in permutations(names))


def case_life():
    cells = {(0, 1), (1, 1), (2, 1)}
    for _ in range(3):
        n = Counter()
        for x, y in cells:
            for dx, dy in product((-1, 0, 1), repeat=2):
                if dx or dy:
                    n[x + dx, y + dy] += 1
        cells = {c for c, k in n.items() if k == 3 or (k == 2 and c in cells)}
    return sorted(cells)


def case_puzzle():
    start = tuple([1, 2, 0, 3])
    goal = tuple([0, 1, 2, 3])
    q = deque([(start, 0)])
    seen = {start}
    while q:
        s, d = q.popleft()
        if s == goal:
            return d
        z = s.index(0)
        r, c = divmod(z, 2)
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            nr, nc = (r + dr, c + dc)
            if 0 <= nr < 2 and 0 <= nc < 2:
                l = list(s)
                k = nr * 2 + nc
                l[z], l[k] = (l[k], l[z])
                n = tuple(l)
                if n not in seen:
                    seen.add(n)
                    q.append((n, d + 1))
    return -1


def case_looksay():
    s = '1'
    for _ in range(6):
        s = ''.join([str(len(list(g))) + k for k, g in groupby(s)])
    return s


def case_paths():
    g = {'start': ['A', 'b'], 'A': ['start', 'b', 'end'], 'b': ['start', 'A', 'end'], 'end': ['A', 'b']}

    def go(node, seen):
        if node == 'end':
            return 1
        n = 0
        for k in g[node]:
            if k == 'start' or (k.islower() and k in seen):
                continue
            n += go(k, seen + (k,))
        return n
    return go('start', ('start',))


def case_knap():
    items = [(3, 4), (4, 5), (2, 3)]
    best = 0
    for r in range(len(items) + 1):
        for c in combinations(items, r):
            if sum((w for w, v in c)) <= 6:
                best = max(best, sum((v for w, v in c)))
    return best


def case_grid():
    g = ['#..', '..#', '###']
    pts = [(r, c) for r, row in enumerate(g) for c, ch in enumerate(row) if ch == '#']
    rot = [''.join(col) for col in zip(*g[::-1])]
    return (pts, rot, sum((row.count('#') for row in g)))


def case_anagram():
    d = defaultdict(list)
    for w in ['tea', 'eat', 'ate', 'bat']:
        d[''.join(sorted(w))].append(w)
    return (sorted((len(v) for v in d.values())), max(d.values(), key=len))


def case_dijkstra():
    g = defaultdict(list)
    for a, b, w in [('a', 'b', 1), ('b', 'c', 2), ('a', 'c', 9)]:
        g[a].append((b, w))
        g[b].append((a, w))
    dist = {}
    q = [(0, 'a')]
    while q:
        d, u = heapq.heappop(q)
        if u in dist:
            continue
        dist[u] = d
        for v, w in g[u]:
            if v not in dist:
                heapq.heappush(q, (d + w, v))
    return dist


def case_queens():
    n = 6
    found = 0
    for p in permutations(range(n)):
        if len({p[i] + i for i in range(n)}) == n and len({p[i] - i for i in range(n)}) == n:
            found += 1
    return found


def case_subsets():
    s = [1, 2, 3]
    return [list(c) for c in chain.from_iterable((combinations(s, r) for r in range(len(s) + 1)))]


def case_cycle():
    seen = {}
    state = tuple([0, 2, 7, 0])
    step = 0
    while state not in seen:
        seen[state] = step
        l = list(state)
        i = l.index(max(l))
        k = l[i]
        l[i] = 0
        while k:
            i = (i + 1) % 4
            l[i] += 1
            k -= 1
        state = tuple(l)
        step += 1
    return (step, step - seen[state])


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_search_programs(name):
    agree(globals()[name])
