"""Dicts and sets.

Entries stand in the order in which they were put in: (hash, key, value) of a dict, (hash, item) of a set.  Of an entry
that was taken out the hash is DEAD; of one that came from Python it is UNKNOWN until the hash table is made.  The hash
table has a power of two of slots, each 0 or 1 + the number of an entry, then how many are used, how many changes there
were, how many entries live; it is empty until something is looked for.  Open addressing, linear probing.
"""

from krait.prelude.intrinsics import empty_like, key_hash, lists_of, truncate

DEAD = -1
UNKNOWN = -2


def rebuild(entries, slots):
    # Moves the living together and makes a table for twice as many and more.
    living = 0
    for i in range(len(entries)):
        entry = entries[i]
        if entry[0] == DEAD:
            continue
        if entry[0] == UNKNOWN:
            entries[living] = (key_hash(entry[1]),) + entry[1:]
        elif living != i:
            entries[living] = entry
        living += 1
    truncate(entries, living)
    size = 8
    while size < 3 * (living + 1):
        size *= 2
    changes = slots[-2] if len(slots) > 0 else 0
    truncate(slots, 0)
    for _ in range(size):
        slots.append(0)
    for i in range(living):
        at = entries[i][0] & (size - 1)
        while slots[at] != 0:
            at = (at + 1) & (size - 1)
        slots[at] = i + 1
    slots.append(living)
    slots.append(changes)
    slots.append(living)


def find(entries, slots, key, h):
    # The number of an entry, or -1.
    if len(slots) == 0:
        if len(entries) == 0:
            return -1
        rebuild(entries, slots)
    mask = len(slots) - 4
    at = h & mask
    while slots[at] != 0:
        i = slots[at] - 1
        if i < len(entries):
            entry = entries[i]
            if entry[0] == h and entry[1] == key:
                return i
        at = (at + 1) & mask
    return -1


def reserve(entries, slots, h):
    # A slot for the entry that is appended next.
    if len(slots) == 0 or 3 * slots[-3] >= 2 * (len(slots) - 3):
        rebuild(entries, slots)
    mask = len(slots) - 4
    at = h & mask
    while slots[at] != 0:
        at = (at + 1) & mask
    slots[at] = len(entries) + 1
    slots[-3] += 1
    slots[-2] += 1
    slots[-1] += 1


def take_out(entries, slots, i):
    slots[-2] += 1
    slots[-1] -= 1
    if i == len(entries) - 1:
        truncate(entries, i)
    else:
        entry = entries[i]
        entries[i] = (DEAD,) + entry[1:]


def missing(table, key=None):
    raise KeyError(key)


def has(table, key):
    entries, slots = lists_of(table)
    return find(entries, slots, key, key_hash(key)) >= 0


def contains(key, table):
    return has(table, key)


def contains_not(key, table):
    return not has(table, key)


def clear(table):
    entries, slots = lists_of(table)
    truncate(entries, 0)
    rebuild(entries, slots)
    slots[-2] += 1


def copy(table):
    entries, _ = lists_of(table)
    new = empty_like(table)
    to, _ = lists_of(new)
    for entry in entries:
        if entry[0] != DEAD:
            to.append((UNKNOWN,) + entry[1:])
    return new


def keys(table):
    entries, _ = lists_of(table)
    return [entry[1] for entry in entries if entry[0] != DEAD]


def delete(table, key):
    entries, slots = lists_of(table)
    i = find(entries, slots, key, key_hash(key))
    if i < 0:
        raise KeyError(key)
    take_out(entries, slots, i)


def last_living(entries):
    i = len(entries) - 1
    while i >= 0 and entries[i][0] == DEAD:
        i -= 1
    truncate(entries, i + 1)
    return i


# ---- dicts ----


def get_item(table, key):
    entries, slots = lists_of(table)
    i = find(entries, slots, key, key_hash(key))
    if i < 0:
        raise KeyError(key)
    return entries[i][2]


def set_item(table, key, value):
    entries, slots = lists_of(table)
    h = key_hash(key)
    i = find(entries, slots, key, h)
    if i >= 0:
        entry = entries[i]
        entries[i] = (h, entry[1], value)
        slots[-2] += 1
    else:
        reserve(entries, slots, h)
        entries.append((h, key, value))


def get(table, key):
    entries, slots = lists_of(table)
    i = find(entries, slots, key, key_hash(key))
    if i < 0:
        return None
    return entries[i][2]


def get_or(table, key, default):
    entries, slots = lists_of(table)
    i = find(entries, slots, key, key_hash(key))
    if i < 0:
        return default
    return entries[i][2]


def get_or_no_items(table, key):
    entries, slots = lists_of(table)
    i = find(entries, slots, key, key_hash(key))
    if i < 0:
        return []
    return entries[i][2]


def get_or_no_members(table, key):
    entries, slots = lists_of(table)
    i = find(entries, slots, key, key_hash(key))
    if i < 0:
        return set()
    return entries[i][2]


def pop(table, key):
    value = get_item(table, key)
    delete(table, key)
    return value


def pop_or(table, key, default):
    entries, slots = lists_of(table)
    i = find(entries, slots, key, key_hash(key))
    if i < 0:
        return default
    value = entries[i][2]
    take_out(entries, slots, i)
    return value


def setdefault(table, key, value):
    entries, slots = lists_of(table)
    h = key_hash(key)
    i = find(entries, slots, key, h)
    if i >= 0:
        return entries[i][2]
    reserve(entries, slots, h)
    entries.append((h, key, value))
    return value


def popitem(table):
    entries, slots = lists_of(table)
    if len(slots) == 0 and len(entries) > 0:
        rebuild(entries, slots)
    i = last_living(entries)
    if i < 0:
        raise KeyError("popitem(): dictionary is empty")
    pair = entries[i][1:]
    take_out(entries, slots, i)
    return pair


def values(table):
    entries, _ = lists_of(table)
    return [entry[2] for entry in entries if entry[0] != DEAD]


def items(table):
    entries, _ = lists_of(table)
    return [entry[1:] for entry in entries if entry[0] != DEAD]


# ---- walked by a loop that changes the table ----


def check_size(table, size):
    if len(table) != size:
        if isinstance(table, dict):
            raise RuntimeError("dictionary changed size during iteration")
        raise RuntimeError("Set changed size during iteration")


def each_entry(table, size):
    # As it is when its turn comes: a value may have been replaced.
    entries, _ = lists_of(table)
    check_size(table, size)
    i = 0
    while i < len(entries):
        entry = entries[i]
        i += 1
        if entry[0] != DEAD:
            yield entry
            check_size(table, size)


def keys_of_size(table, size):
    for entry in each_entry(table, size):
        yield entry[1]


def values_of_size(table, size):
    for entry in each_entry(table, size):
        yield entry[2]


def items_of_size(table, size):
    for entry in each_entry(table, size):
        yield entry[1:]


# The size is that when the iterator is made, not when it is asked first.


def each_key(table):
    return keys_of_size(table, len(table))


def each_value(table):
    return values_of_size(table, len(table))


def each_item(table):
    return items_of_size(table, len(table))


def fromkeys(keys, value=None):
    new = {}
    for key in keys:
        new[key] = value
    return new


def dict_from(more):
    new = {}
    new.update(more)
    return new


def dict_from_both(more, named):
    new = dict(more)
    new.update(named)
    return new


def list_of(walked):
    return list(walked)


def dict_update(table, more):
    if isinstance(more, dict):
        for key, value in items(more):
            table[key] = value
    else:
        for key, value in more:
            table[key] = value


def dict_joined(table, more):
    dict_update(table, more)
    return table


def dict_union(a, b):
    new = {}
    for key, value in items(a):
        new[key] = value
    for key, value in items(b):
        new[key] = value
    return new


def dict_equal(a, b):
    if a is b:
        return True
    if len(a) != len(b):
        return False
    for key, value in items(a):
        if key not in b or b[key] != value:
            return False
    return True


def dict_not_equal(a, b):
    return not dict_equal(a, b)


# ---- sets ----


def add(table, item):
    entries, slots = lists_of(table)
    h = key_hash(item)
    if find(entries, slots, item, h) < 0:
        reserve(entries, slots, h)
        entries.append((h, item))


def discard(table, item):
    entries, slots = lists_of(table)
    i = find(entries, slots, item, key_hash(item))
    if i >= 0:
        take_out(entries, slots, i)


def set_pop(table):
    entries, slots = lists_of(table)
    if len(slots) == 0 and len(entries) > 0:
        rebuild(entries, slots)
    i = last_living(entries)
    if i < 0:
        raise KeyError("pop from an empty set")
    item = entries[i][1]
    take_out(entries, slots, i)
    return item


def set_from(iterable):
    new = set()
    for item in iterable:
        new.add(item)
    return new


def as_set(iterable):
    if isinstance(iterable, set):
        return iterable
    return set_from(iterable)


def set_update(table, *others):
    update_each(table, others)


def update_each(table, others):
    if len(others) > 0:
        for item in others[0]:
            table.add(item)
        update_each(table, others[1:])


def set_joined(table, more):
    for item in keys(more):
        table.add(item)
    return table


def union_of_two(a, b):
    new = set()
    for item in a:
        new.add(item)
    for item in b:
        new.add(item)
    return new


def union(table, *others):
    return union_each(copy(table), others)


def union_each(table, others):
    if len(others) == 0:
        return table
    return union_each(union_of_two(table, others[0]), others[1:])


def selected(a, b, wanted):
    new = empty_like(a)
    for item in keys(a):
        if (item in b) == wanted:
            new.add(item)
    return new


def intersection_of_two(a, b):
    return selected(a, b, True)


def difference_of_two(a, b):
    return selected(a, b, False)


def intersection(table, *others):
    return selected_each(copy(table), others, True)


def difference(table, *others):
    return selected_each(copy(table), others, False)


def selected_each(table, others, wanted):
    if len(others) == 0:
        return table
    return selected_each(selected(table, as_set(others[0]), wanted), others[1:], wanted)


def symmetric_difference(a, b):
    other = as_set(b)
    new = selected(a, other, False)
    for item in keys(other):
        if item not in a:
            new.add(item)
    return new


def keep_only(table, other, wanted):
    for item in keys(table):
        if (item in other) != wanted:
            discard(table, item)
    return table


def kept(table, other):
    return keep_only(table, other, True)


def dropped(table, other):
    return keep_only(table, copy(other), False)


def exchanged(table, more):
    for item in keys(more):
        if item in table:
            discard(table, item)
        else:
            table.add(item)
    return table


def intersection_update(table, *others):
    keep_only_each(table, others, True)


def difference_update(table, *others):
    keep_only_each(table, others, False)


def keep_only_each(table, others, wanted):
    if len(others) > 0:
        keep_only(table, set_from(others[0]), wanted)
        keep_only_each(table, others[1:], wanted)


def is_subset(a, b):
    if a is b:  # whose items are found there, a NaN too
        return True
    other = as_set(b)
    for item in keys(a):
        if item not in other:
            return False
    return True


def is_superset(a, b):
    if a is b:
        return True
    for item in b:
        if item not in a:
            return False
    return True


def is_proper_subset(a, b):
    return len(a) < len(b) and is_subset(a, b)


def is_proper_superset(a, b):
    return len(a) > len(b) and is_superset(a, b)


def set_equal(a, b):
    return len(a) == len(b) and is_subset(a, b)


def set_not_equal(a, b):
    return not set_equal(a, b)


def is_disjoint(a, b):
    for item in b:
        if item in a:
            return False
    return True


# ---- patterns of match statements ----


def match_keys(table, keys):
    for key in keys:
        if key not in table:
            return None
    return values_under(table, keys)


def values_under(table, keys):
    if len(keys) == 0:
        return ()
    return (table[keys[0]],) + values_under(table, keys[1:])
