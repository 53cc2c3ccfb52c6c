"""The module itertools: generators, as its documentation has them; what is checked when one is made is checked before.

Tuples whose length is a literal have it in their type: the rows say `_fixed`.
"""

from krait.prelude.intrinsics import counted, tuple_of, with_item


def count(start=0, step=1):
    value = start
    while True:
        yield value
        value += step


def cycle(iterable):
    kept = []
    for item in iterable:
        kept.append(item)
        yield item
    while len(kept) > 0:
        for item in kept:
            yield item


def repeat(object, times=None):
    if times is None:
        while True:
            yield object
    else:
        for _ in range(times):
            yield object


def chain(*iterables):
    for iterable in iterables:
        for item in iterable:
            yield item


def chain_from(iterable):
    for each in iterable:
        for item in each:
            yield item


def islice(iterable, *bounds):
    start, stop, step = _slice_bounds(*bounds)
    if start < 0:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if stop is not None and stop < 0:
        words = "Stop argument" if len(bounds) == 1 else "Indices"
        raise ValueError(f"{words} for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if step < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    return _slice_items(iterable, start, stop, step)


def _slice_bounds(*bounds):
    if len(bounds) == 1:
        return 0, bounds[0], 1
    step = bounds[2] if len(bounds) == 3 else None
    return 0 if bounds[0] is None else bounds[0], bounds[1], 1 if step is None else step


def _slice_items(iterable, start, stop, step):
    # What is taken from an iterator is what the interpreter takes: up to stop, but no further.
    end = start if stop is None else max(start, stop)
    wanted = start
    at = 0
    if stop is None or end > 0:
        for item in iterable:
            if at == wanted and (stop is None or at < stop):
                yield item
                wanted += step
            at += 1
            if stop is not None and at >= end:
                break


def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate, iterable):
    dropping = True
    for item in iterable:
        if dropping and not predicate(item):
            dropping = False
        if not dropping:
            yield item


def filterfalse(function, iterable):
    for item in iterable:
        if function is None:
            if not item:
                yield item
        elif not function(item):
            yield item


def compress(data, selectors):
    for item, selected in zip(data, selectors):
        if selected:
            yield item


def starmap(function, iterable):
    for arguments in iterable:
        yield function(*arguments)


def accumulate(iterable, func=None, *, initial=None):
    started = initial is not None
    if initial is not None:
        total = initial
        yield total
    for item in iterable:
        if not started:
            total = item
            started = True
        elif func is None:
            total = total + item
        else:
            total = func(total, item)
        yield total


def pairwise(iterable):
    started = False
    for item in iterable:
        if started:
            yield last, item
        last = item
        started = True


def zip_longest(*iterables, fillvalue=None):
    lists = _as_lists(iterables)
    for i in range(_longest(lists)):
        yield _row(lists, i, fillvalue)


def _as_lists(iterables):
    if len(iterables) == 0:
        return ()
    return ([item for item in iterables[0]],) + _as_lists(iterables[1:])


def _longest(lists):
    if len(lists) == 0:
        return 0
    return max(len(lists[0]), _longest(lists[1:]))


def _row(lists, i, fill):
    if len(lists) == 0:
        return ()
    return (_item_or(lists[0], i, fill),) + _row(lists[1:], i, fill)


def _item_or(items, i, fill):
    if i < len(items):
        return items[i]
    return fill


def zipped_strictly(*iterables):
    """zip(strict=True)"""
    lists = _as_lists(iterables)
    lengths = _lengths(lists)
    least = min(lengths)
    for i in range(least):
        yield _items_at(lists, i)
    for k in range(len(lengths)):
        if lengths[0] != least and lengths[k] == least:
            raise ValueError(f"zip() argument {k + 1} is shorter than {_arguments(k)}")
        if lengths[0] == least and lengths[k] > least:
            raise ValueError(f"zip() argument {k + 1} is longer than {_arguments(k)}")


def _arguments(count):
    return "argument 1" if count == 1 else f"arguments 1-{count}"


def _lengths(lists):
    if len(lists) == 1:
        return (len(lists[0]),)
    return (len(lists[0]),) + _lengths(lists[1:])


def _items_at(lists, i):
    if len(lists) == 0:
        return ()
    return (lists[0][i],) + _items_at(lists[1:], i)


# ---- combinations ----
#
# Of tuples of a known length the way through the places is one of tuples, too; otherwise one of lists.


def product(*iterables):
    return _product(_as_lists(iterables))


def product_fixed(repeat, *iterables):
    return _product(_so_often(_as_lists(iterables), counted(0, repeat)))


def _so_often(lists, rounds):
    if len(rounds) == 0:
        return ()
    return lists + _so_often(lists, rounds[1:])


def _product(lists):
    if len(lists) == 0:
        return _each(((),))
    if len(lists) == 1:
        return _each_alone(lists[0])
    return _each_beside(_product(lists[:-1]), lists[-1])


def _each_alone(items):
    for item in items:
        yield (item,)


def _each_beside(heads, items):
    for head in heads:
        for item in items:
            yield head + (item,)


def product_repeated(repeat, *iterables):
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    lists = [[item for item in iterable] for iterable in iterables]
    return _product_of(lists * repeat)


def product_of(iterables):
    return _product_of([[item for item in iterable] for iterable in iterables])


def _product_of(pools):
    n = len(pools)
    places = [0] * n
    going = True
    for pool in pools:
        if len(pool) == 0:
            going = False
    while going:
        yield tuple_of([pools[i][places[i]] for i in range(n)])
        i = n - 1
        while i >= 0 and places[i] == len(pools[i]) - 1:
            places[i] = 0
            i -= 1
        going = i >= 0
        if going:
            places[i] += 1


def _taken(pool, places):
    if len(places) == 0:
        return ()
    return (pool[places[0]],) + _taken(pool, places[1:])


def combinations_fixed(iterable, r):
    return _combinations([item for item in iterable], counted(0, r), True)


def combinations_with_replacement_fixed(iterable, r):
    return _combinations([item for item in iterable], counted(0, r), False)


def _combinations(pool, places, apart):
    # apart: each place lies behind the one before it; else it may be the same.
    r = len(places)
    n = len(pool)
    if r == 0:
        yield ()
    elif r == 2:
        for i in range(n):
            for j in range(i + apart, n):
                yield pool[i], pool[j]
    else:
        for i in range(r):
            places = with_item(places, i, apart * i)
        going = n >= (r if apart else 1)
        while going:
            yield _taken(pool, places)
            i = _last_to_move(places, n, apart)
            going = i >= 0
            if going:
                place = places[i] + 1
                for j in range(i, r):
                    places = with_item(places, j, place + apart * (j - i))


def _last_to_move(places, n, apart):
    i = len(places) - 1
    last = n - 1
    while i >= 0 and places[i] == last:
        i -= 1
        last -= apart
    return i


def combinations(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations_of([item for item in iterable], r, True)


def combinations_with_replacement(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations_of([item for item in iterable], r, False)


def _combinations_of(pool, r, apart):
    places = [apart * i for i in range(r)]
    going = r <= len(pool) if apart else len(pool) > 0 or r == 0
    while going:
        yield tuple_of([pool[i] for i in places])
        i = _last_to_move(places, len(pool), apart)
        going = i >= 0
        if going:
            place = places[i] + 1
            for j in range(i, r):
                places[j] = place + apart * (j - i)


def permutations(iterable, r=None):
    pool = [item for item in iterable]
    length = len(pool) if r is None else r
    if length < 0:
        raise ValueError("r must be non-negative")
    return _permutations_of(pool, length)


def _permutations_of(pool, r):
    n = len(pool)
    order = list(range(n))
    cycles = list(range(n, max(n - r, 0), -1))
    going = r <= n
    while going:
        yield tuple_of([pool[order[i]] for i in range(r)])
        going = _permute(order, cycles)


def permutations_fixed(iterable, r):
    return _permutations([item for item in iterable], counted(0, r))


def _permutations(pool, places):
    r = len(places)
    n = len(pool)
    order = list(range(n))
    cycles = list(range(n, max(n - r, 0), -1))
    going = r <= n
    while going:
        yield _taken_in(pool, order, places)
        going = _permute(order, cycles)


def _taken_in(pool, order, places):
    if len(places) == 0:
        return ()
    return (pool[order[places[0]]],) + _taken_in(pool, order, places[1:])


def _permute(order, cycles):
    # The next order, as the interpreter has it; False after the last one.
    n = len(order)
    for i in range(len(cycles) - 1, -1, -1):
        cycles[i] -= 1
        if cycles[i] > 0:
            j = n - cycles[i]
            order[i], order[j] = order[j], order[i]
            return True
        order.append(order.pop(i))
        cycles[i] = n - i
    return False


def batched(iterable, n, *, strict=False):
    if n < 1:
        raise ValueError("n must be at least one")
    return _batches(iterable, n, strict)


def _batches(iterable, n, strict):
    batch = []
    for item in iterable:
        batch.append(item)
        if len(batch) == n:
            yield tuple_of(batch)
            batch = []
    if len(batch) > 0:
        if strict:
            raise ValueError("batched(): incomplete batch")
        yield tuple_of(batch)


def columns(rows):
    """zip(*rows)"""
    lists = [[item for item in row] for row in rows]
    n = 0
    for i in range(len(lists)):
        n = len(lists[i]) if i == 0 else min(n, len(lists[i]))
    for k in range(n):
        yield tuple_of([items[k] for items in lists])


def mixed_columns(rows):
    """zip(*rows), as many columns as each row, a tuple, has items, of a type of their own"""
    if len(rows) == 0:
        raise ValueError("not enough values to unpack (expected at least 1, got 0)")
    return _mixed_columns(rows)


def _mixed_columns(rows):
    if len(rows[0]) == 0:
        return ()
    return (tuple_of([row[0] for row in rows]),) + _mixed_columns([row[1:] for row in rows])


def columns_longest(rows, *, fillvalue=None):
    """zip_longest(*rows)"""
    lists = [[item for item in row] for row in rows]
    n = 0
    for items in lists:
        n = max(n, len(items))
    for k in range(n):
        yield tuple_of([_item_or(items, k, fillvalue) for items in lists])


# ---- groups and copies ----


def groupby(iterable, key=None):
    items = []
    turn = [0]
    started = False
    for item in iterable:
        value = _key_of(item, key)
        if not started:
            last = value
            started = True
        elif not last == value:
            turn[0] += 1
            yield last, _group(items, turn, turn[0])
            items = []
            last = value
        items.append(item)
    if started:
        turn[0] += 1
        yield last, _group(items, turn, turn[0])
        turn[0] += 1


def _key_of(item, key):
    if key is None:
        return item
    return key(item)


def _group(items, turn, number):
    # A group has no items once the next is asked for.
    for item in items:
        if turn[0] != number:
            break
        yield item


def tee(iterable, n=2):
    return _tees(_each(iterable), [], counted(0, n))


def _tees(source, taken, rounds):
    if len(rounds) == 0:
        return ()
    return (_tee(source, taken),) + _tees(source, taken, rounds[1:])


def _each(iterable):
    for item in iterable:
        yield item


def _tee(source, taken):
    at = 0
    going = True
    while going:
        if at == len(taken):
            going = False
            for item in source:
                taken.append(item)
                going = True
                break
        if going:
            yield taken[at]
            at += 1
