"""Dicts and sets that change while they are walked: what raises in the interpreter raises, what does not goes on."""

import pytest
from oracle import agree


class Holder:
    def __init__(self):
        self.table = {1: 1, 2: 2}


def case_a_key_more():
    d = {1: 1}
    for k in d:
        d[k + 1] = 1


def case_an_item_more():
    s = {1}
    for k in s:
        s.add(k + 1)


def case_a_key_less():
    d = {1: 1, 2: 2}
    for k in d:
        if k == 1:
            del d[2]
    return d


def case_the_last_key_less():
    d = {1: 1, 2: 2}
    for k in d:
        if k == 2:
            d.pop(1)
    return d


def case_items():
    d = {1: 1, 2: 2}
    for k, v in d.items():
        d[k + 10] = v


def case_values():
    d = {1: 1, 2: 2}
    for v in d.values():
        d.setdefault(v + 5, 1)


def case_keys():
    d = {1: 1, 2: 2}
    for k in d.keys():
        d.update({k + 7: 1})


def case_caught():
    d = {1: 1, 2: 2}
    seen = [0]
    try:
        for k in d:
            seen.append(k)
            d[k + 10] = 1
    except RuntimeError as e:
        return seen, str(e), d


def case_other_values():
    d = {1: 1, 2: 2}
    for k in d:
        d[k] = 5
    for k, v in d.items():
        d[k] = v + 1
    return d


def case_left_at_once():
    d = {1: 1, 2: 2}
    for k in d:
        del d[k]
        break
    return d


def case_a_copy_is_walked():
    d = {1: 1, 2: 2}
    for k in list(d):
        del d[k]
    s = {1, 2, 3}
    for x in sorted(s):
        s.discard(x)
    return d, len(s)


def case_by_a_function():
    d = {1: 1, 2: 2}

    def put(table, k):
        table[k] = 1

    for k in d:
        put(d, k + 5)


def case_an_attribute():
    holder = Holder()
    for k in holder.table:
        holder.table[k + 5] = 1


def case_another_table():
    d = {1: 1, 2: 2}
    e = {3: 3}
    for k in d:
        e[k] = 1
    return d, e


def case_walked_twice():
    d = {1: 1}
    n = 0
    for i in range(3):
        for k in d:
            n += k
        d[i + 5] = i
    return n, d


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_walked_tables(name):
    agree(globals()[name])
