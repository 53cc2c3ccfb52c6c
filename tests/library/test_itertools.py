"""itertools in compiled code, against the interpreter: what is given, in which order, how far iterators move."""

import itertools
import operator
import sys
from itertools import (
    accumulate,
    chain,
    combinations,
    combinations_with_replacement,
    compress,
    count,
    cycle,
    dropwhile,
    filterfalse,
    groupby,
    islice,
    pairwise,
    permutations,
    product,
    repeat,
    starmap,
    takewhile,
    tee,
    zip_longest,
)

import pytest
from oracle import agree


def case_count():
    s = 0
    for i in itertools.count(3):
        if i > 10:
            break
        s += i
    return s


def case_count_step():
    out = []
    for i in count(1.5, 0.5):
        if i > 4:
            break
        out.append(i)
    return out


def case_count_zip():
    return [(i, c) for i, c in zip(count(), 'abc')]


def case_cycle():
    out = []
    for i, x in zip(range(7), cycle([1, 2, 3])):
        out.append(x * i)
    return out


def case_cycle_next():
    c = cycle('ab')
    return next(c) + next(c) + next(c)


def case_repeat():
    return [x for x in repeat(5, 3)]


def case_repeat_map():
    return list(map(pow, [1, 2, 3], repeat(2)))


def case_chain():
    return [x for x in chain([1, 2], (3, 4), range(5, 7))]


def case_chain_list():
    return list(itertools.chain([1, 2], [3]))


def case_chain_from():
    return list(chain.from_iterable([[1, 2], [3], []]))


def case_chain_star():
    rows = [[1, 2], [3]]
    return list(chain(*rows))


def case_islice():
    return list(islice(range(100), 3, 20, 4))


def case_islice2():
    return list(islice(count(5), 4))


def case_islice3():
    it = iter([1, 2, 3, 4, 5])
    a = list(islice(it, 2))
    return (a, list(it))


def case_islice4():
    return list(islice([1, 2, 3, 4, 5], 2, None))


def case_islice5():
    return list(islice('abcdefg', 0, None, 2))


def case_takewhile():
    return list(takewhile(lambda x: x < 4, [1, 2, 3, 4, 1]))


def case_dropwhile():
    return list(dropwhile(lambda x: x < 4, [1, 2, 3, 4, 1]))


def case_zip_longest():
    return list(zip_longest([1, 2, 3], [4], fillvalue=0))


def case_zip_longest2():
    return [(a, b) for a, b in zip_longest([1, 2, 3], [4])]


def case_accumulate():
    return list(accumulate([1, 2, 3, 4]))


def case_accumulate2():
    return list(accumulate([1, 2, 3, 4], operator.mul))


def case_accumulate3():
    return list(accumulate([1, 2, 3, 4], lambda a, b: a * b, initial=10))


def case_accumulate4():
    return list(accumulate([3, 1, 4], max))


def case_product():
    return list(product([1, 2], 'ab'))


def case_product2():
    return list(product([0, 1], repeat=3))


def case_product3():
    s = 0
    for a, b, c in product(range(3), range(4), [1.5, 2]):
        s += a * b * c
    return s


def case_permutations():
    return list(permutations([1, 2, 3]))


def case_permutations2():
    return [p for p in permutations('abcd', 2)]


def case_permutations3():
    n = 0
    for p in permutations(range(4)):
        if p[0] < p[1]:
            n += p[3]
    return n


def case_combinations():
    return list(combinations([1, 2, 3, 4], 2))


def case_combinations3():
    return [a * b * c for a, b, c in combinations(range(6), 3)]


def case_combinations_var():
    tot = 0
    items = [1, 2, 3, 4]
    for r in range(len(items) + 1):
        for c in combinations(items, r):
            tot += sum(c)
    return tot


def case_cwr():
    return list(combinations_with_replacement([1, 2, 3], 2))


def case_pairwise():
    return [b - a for a, b in pairwise([1, 4, 9, 16])]


def case_starmap():
    return list(starmap(pow, [(2, 3), (3, 2)]))


def case_starmap2():
    return list(starmap(lambda a, b: a + b, zip([1, 2], [3, 4])))


def case_groupby():
    return [(k, len(list(g))) for k, g in groupby('aabbbc')]


def case_groupby2():
    out = []
    for k, g in groupby([1, 3, 2, 4, 5], key=lambda x: x % 2):
        out.append((k, sum(g)))
    return out


def case_groupby3():
    return ''.join([k + str(len(list(g))) for k, g in groupby('wwwbbw')])


def case_groupby4():
    return [k for k, g in groupby([1, 1, 2, 2, 1])]


def case_groupby5():
    return [(k, [x for x in g]) for k, g in groupby([1, 1, 2, 2, 1])]


def case_compress():
    return list(compress('abcd', [1, 0, True, 0]))


def case_filterfalse():
    return list(filterfalse(lambda x: x % 2, range(6)))


def case_filterfalse2():
    return list(filterfalse(None, [0, 1, 2, 0]))


def case_tee():
    a, b = tee([1, 2, 3])
    next(b)
    return [(x, y) for x, y in zip(a, b)]


def case_zipstar():
    rows = [[1, 2, 3], [4, 5, 6]]
    return list(zip(*rows))


def case_zipstar2():
    rows = [[1, 2, 3], [4, 5, 6]]
    return [list(r) for r in zip(*rows)]


def case_zipstar3():
    pairs = [(1, 'a'), (2, 'b')]
    a, b = zip(*pairs)
    return (a, b)


def case_zipstar4():
    m = ['abc', 'def']
    return [''.join(c) for c in zip(*m)]


def case_zipstar5():
    g = [[1, 2], [3, 4], [5, 6]]
    return [list(r) for r in zip(*g[::-1])]


def case_map4():
    return list(map(lambda a, b, c, d: a + b + c + d, [1], [2], [3], [4]))


def case_map_lazy():
    m = map(str, count())
    return next(m) + next(m)


def case_groups_are_gone():
    return [(k, list(g)) for k, g in list(groupby([1, 1, 2]))]


def case_islice_takes_no_more():
    it = iter(range(20))
    a = list(islice(it, 1, 9, 3))
    return (a, list(it))


def case_islice_none():
    return list(islice([1, 2, 3], None)), list(islice([1, 2, 3, 4], None, 3)), list(islice([1, 2, 3], 1, None, None))


def case_islice_bad():
    return list(islice([1], -1))


def case_islice_step():
    return list(islice([1], 0, 1, 0))


def case_product_of_nothing():
    return (list(product()), list(product([1, 2], repeat=0)), list(product([1], [2][:0], [3])))


def case_too_many():
    return (list(combinations([1, 2], 3)), list(permutations([1], 2)), list(combinations_with_replacement([1][:0], 2)))


def case_none_of_them():
    return (list(combinations([1, 2], 0)), list(permutations([1, 2], 0)), list(combinations_with_replacement([1], 0)))


def case_lengths():
    out = []
    for r in range(4):
        out.append(list(combinations([1, 2, 3], r)))
        out.append(list(permutations([4, 5, 6], r)))
        out.append(list(combinations_with_replacement([1, 2], r)))
        out.append([c for c in product([0, 1], repeat=r)])
    return len(out)


def case_lengths_of_numbers():
    return [(c, d) for r in range(4) for c, d in zip(combinations([1, 2, 3], r), permutations([1, 2, 3], r))]


def case_shared_iterator():
    it = iter([1, 2, 3, 4, 5, 6])
    return ([(a, b) for a, b in zip(it, islice(it, 2))], list(it))


def case_lazily():
    seen = [0]

    def note(x):
        seen.append(x)
        return x < 3
    out = list(takewhile(note, count(1)))
    return (out, seen)


def case_tee_three():
    a, b, c = tee((x * x for x in range(4)), 3)
    (next(a), next(a), next(b))
    return (list(a), list(b), list(c))


def case_pipeline():
    evens = (x for x in count() if x % 2 == 0)
    return list(islice(map(lambda x: x * x, evens), 5))


def case_enumerated():
    return (list(islice(enumerate(cycle('ab'), 5), 5)), [x for x in chain(enumerate('ab'), zip(range(2), 'cd'))])


def case_until():
    xs = [3, 2, 1, 0, 9]
    return list(iter(xs.pop, 0)) if False else list(takewhile(lambda x: x, xs))


def case_zip_strict():
    return list(zip([1, 2], 'ab', strict=True)), list(zip([1], [2, 3], strict=False))


def case_zip_shorter():
    return list(zip([1, 2], [3], strict=True))


def case_zip_longer():
    return list(zip([1], 'a', [1, 2], strict=True))


def case_zip_shorter_than_two():
    return list(zip([1, 2], 'ab', [1], strict=True))


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_itertools(name):
    agree(globals()[name])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="itertools.batched came with 3.12")
def test_batched():
    def f():
        return list(itertools.batched([1, 2, 3, 4, 5], 2)), list(itertools.batched("abc", 5))

    agree(f)
