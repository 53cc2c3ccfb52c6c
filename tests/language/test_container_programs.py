"""Programs with containers, as people write them: stock, cards, chains, checks, against the interpreter."""

import itertools
import math
import random
from collections import Counter, deque, namedtuple
from dataclasses import dataclass
from typing import List, Optional

import numpy as np
import pytest
from oracle import agree


class Inventory:
    def __init__(self):
        self._stock = {}

    def __getitem__(self, name):
        return self._stock.get(name, 0)

    def __setitem__(self, name, n):
        if n < 0:
            raise ValueError("negative stock")
        self._stock[name] = n

    def __contains__(self, name):
        return name in self._stock

    def __len__(self):
        return len(self._stock)

    def __iter__(self):
        return iter(sorted(self._stock))


def case_inventory():
    stock = Inventory()
    stock["nut"] = 4
    stock["bolt"] += 3
    try:
        stock["nut"] -= 9
    except ValueError as e:
        message = f"{e}"
    return [(name, stock[name]) for name in stock], len(stock), "nail" in stock, message


def case_elevator():
    floor, direction, stops, log = 0, 1, {5, 2, 8}, []
    while stops:
        if floor in stops:
            stops.remove(floor)
            log.append(floor)
        elif not any(f * direction > floor * direction for f in stops):
            direction = -direction
        floor += direction
    return log, floor


def case_knapsack():
    items = [("guitar", 15, 1), ("stereo", 30, 4), ("laptop", 20, 3)]
    best = [[0] * 5 for _ in range(len(items) + 1)]
    for i, (_, value, weight) in enumerate(items, start=1):
        for room in range(5):
            best[i][room] = best[i - 1][room]
            if weight <= room:
                best[i][room] = max(best[i][room], best[i - 1][room - weight] + value)
    chosen, room = [], 4
    for i in range(len(items), 0, -1):
        if best[i][room] != best[i - 1][room]:
            chosen.append(items[i - 1][0])
            room -= items[i - 1][2]
    return best[-1][-1], chosen


def case_walrus_search():
    numbers = [4, 9, 16, 25]
    if any((root := math.isqrt(n)) * root == n and n > 10 for n in numbers):
        found = root
    squares = [y for n in numbers if (y := n * n) > 100]
    return found, squares, y


def case_bills():
    bills = [Bill("ann", "food", 1250), Bill("bob", "taxi", 800), Bill("ann", "tea", 300)]
    paid = Counter()
    for b in bills:
        paid[b.who] += b.cents
    share = sum(paid.values()) // len(paid)
    return {who: f"{(cents - share) / 100:+.2f}" for who, cents in sorted(paid.items())}, bills[0]


Bill = namedtuple("Bill", "who what cents")


@dataclass(frozen=True)
class Card:
    rank: int
    suit: str

    def __str__(self):
        return "0A23456789TJQK"[self.rank] + self.suit


def case_cards():
    deck = [Card(r, s) for s in "CDHS" for r in range(1, 14)]
    random.seed(3)
    random.shuffle(deck)
    hand = sorted(deck[:5], key=lambda c: (c.suit, c.rank))
    suits = Counter(c.suit for c in hand)
    return [str(c) for c in hand], max(suits.values()), len(set(deck)), hand[0] == Card(hand[0].rank, hand[0].suit)


def case_markov():
    weather = {"sun": [("sun", 0.8), ("rain", 0.2)], "rain": [("sun", 0.4), ("rain", 0.6)]}
    p = {"sun": 1.0, "rain": 0.0}
    for _ in range(4):
        q = dict.fromkeys(p, 0.0)
        for state, chance in p.items():
            for target, odds in weather[state]:
                q[target] += chance * odds
        p = q
    return p


def case_optional_lookup():
    def find(people: List[str], name: str) -> Optional[int]:
        for i, p in enumerate(people):
            if p == name:
                return i
        return None

    at = find(["a", "b"], "b")
    return at if at is not None else -1, find(["a"], "z") is None


def case_round_robin():
    queues = deque([("a", 3), ("b", 1), ("c", 2)])
    order = []
    while queues:
        name, left = queues.popleft()
        order.append(name)
        if left > 1:
            queues.append((name, left - 1))
    return order, list(reversed(deque(order)))


def case_statistics():
    data = np.array([2.0, 4.0, 4.0, 5.0, 7.0, 9.0])
    ordered = sorted(data.tolist())
    middle = len(ordered) // 2
    median = (ordered[middle - 1] + ordered[middle]) / 2 if len(ordered) % 2 == 0 else ordered[middle]
    mode, count = Counter(ordered).most_common(1)[0]
    return data.mean(), median, mode, count, data.std()


def case_sudoku_row_checks():
    grid = [[5, 3, 4], [6, 7, 2], [1, 9, 8]]
    rows = [set(r) for r in grid]
    columns = [{row[i] for row in grid} for i in range(3)]
    box = set(itertools.chain(*grid))
    return len(box) == 9, all(len(r) == 3 for r in rows + columns)


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_containers(name):
    agree(globals()[name])
