"""Values that are None on some way: what needs a value raises what the interpreter raises, in its words; what takes
None compares, is shown and is passed on."""

import numpy as np
import pytest
from oracle import agree_all, make

from krait import njit
from krait.errors import TypingError

SAMPLES = {
    "list": ("[n, 2]", """a, b = x
a, *b = x
for i in x: pass
x[0]
x[0] = 3
del x[0]
x.append(1)
x.pop()
x.count(1)
x.sort()
x + x
x + [1]
[1] + x
x * 2
2 * x
x < x
x < [1]
[1] < x
len(x)
1 in x
1 not in x
list(x)
sorted(x)
sum(x)
max(x)
x[1:]
set(x)
x += [1]
enumerate(x)
[i for i in x]
zip(x, x)
reversed(x)
any(x)
x[0] += 1
x == [1, 2]
x != x
str(x)"""),
    "int": ("n", """x + 1
1 + x
x - 1
x * 2
x / 2
x // 2
x % 2
x ** 2
2 ** x
-x
+x
~x
abs(x)
x < 1
1 < x
x <= x
range(x)
float(x)
int(x)
complex(x)
x & 1
x << 1
[1, 2][x]
(3, 4)[x]
'ab'[x]
'a' * x
[1] * x
x += 1
x %= 2
x **= 2
0.5 * x
x / 0.5
x.bit_length()
x == 1
'%s' % x
f'{x:d}'
f'{x}'
format(x, '5')
max(x, 3)
max(3, x)
min(x, 3)
min(3, x)
max(x, 3, 4)
max(x, x)
divmod(x, 3)
divmod(3, x)
divmod(2.5, x)
math.sqrt(x)
math.floor(x)
math.hypot(x, 1)
math.isnan(x)
math.log(2, x)
math.gcd(x, 3)
math.factorial(x)
math.ldexp(1.0, x)
[1, 2, 3][x:]
[1, 2, 3][:x]
[1, 2, 3][::x]
[1, 2, 3][x::-1]
[1, 2, 3][:x:-1]
'abc'[x:]
'abc'[:x]
'abc'[x:x]
(1, 2, 3)[x:]
np.arange(5)[x:]
np.arange(5)[:x]
np.arange(5)[::x]
np.arange(12).reshape(3, 4)[x:, ::x]
np.sqrt(x)
np.maximum(x, 3)
np.minimum(3.0, x)
np.fmax(x, 3)
np.add(x, 3)
np.add(3.5, x)
np.power(x, 2)
np.less(x, 3)
np.bitwise_and(1, x)
np.negative(x)
np.absolute(x)
np.sin(x)
np.deg2rad(x)
np.floor(x)
np.gcd(x, 3)
np.isnan(x)
np.isfinite(x)
np.signbit(x)
np.divmod(x, 3)
np.ldexp(x, 3)
np.copysign(1.0, x)"""),
    "text": ("'ab' * n", """x + 'a'
'a' + x
x * 2
len(x)
x[0]
x[0:1]
x.upper()
x.split()
for i in x: pass
'a' in x
x < 'a'
'a' < x
x == x
x == 'ab'
'ab' != x
int(x)
list(x)
sorted(x)
'a b'.split(x)
'a b'.strip(x)
'a b'.replace('a', x)
'a'.ljust(3, x)
f'{x:>3}'
x += x"""),
    "dict": ("{n: 2}", """x[1]
x[1] = 2
del x[1]
x.get(1)
x.items()
x.update({1: 2})
for k in x: pass
len(x)
1 in x
x | x
x | {1: 2}
x |= {1: 2}
list(x)
x == x"""),
    "set": ("{n}", """x | {1}
{1} | x
x - {1}
x.add(1)
1 in x
len(x)
for k in x: pass
x <= {1}
x &= {1}
{1}.union(x)
sorted(x)
x < x
x == {1}"""),
    "tuple": ("(n, 2)", """a, b = x
a, *b = x
x[0]
for i in x: pass
len(x)
x + (1,)
(1,) + x
x < (1, 2)
(1, 2) < x
1 in x
x == x
max(x)
list(x)
x[1:]
sum(x)"""),
}  # fmt: skip


def is_statement(text):
    return text.startswith(("for ", "del ")) or " = " in text or any(f" {op}= " in text for op in "+ % ** | &".split())


@pytest.mark.parametrize("kind", SAMPLES)
def test_what_needs_a_value_says_what_the_interpreter_says(kind):
    sample, texts = SAMPLES[kind]
    for text in texts.split("\n"):
        line = text if is_statement(text) else f"r = {text}"
        agree_all(make(f"def f(n):\n    x = {sample}\n    if n > 1:\n        x = None\n    {line}\n    return n"),
                  [(1,), (2,)])


@pytest.mark.parametrize("value", ["1", "2.5", "'ab'", "[1, 2]", "['a']", "{1: 'a'}", "{'a'}", "(1, 'a')", "[[1], []]"])
def test_what_may_be_missing_on_both_sides_compares(value):
    agree_all(make(f"""def f(a, b):
    x = y = {value}
    if a:
        x = None
    if b:
        y = None
    return x == y, x != y, {value} == y, x != {value}"""), [(a, b) for a in (0, 1) for b in (0, 1)])


def test_a_call_on_none_raises_before_its_arguments_are_computed():
    agree_all(make("""def f(n, log):
    x = [1]
    if n:
        x = None
    try:
        x.append(log.append(n) or 2)
    except AttributeError:
        log.append(7)
    return x, log"""), [(0, [3]), (1, [3])])


@pytest.mark.parametrize("text", ["f'{x:d}'", "f'{x:>3}'", "f'{x:c}'", "f'{x:.2f}'", "f'{x!r:>9}'", "f'{x:>{x}}'",
                                  "'{:d}'.format(x)", "format(x, 'd')", "'%d' % x"])  # fmt: skip
def test_a_text_that_nobody_reads_raises_what_making_it_raises(text):
    large = 2**62  # as a width: more than there is, however freely a machine gives memory
    agree_all(make(f"def f(x):\n    r = {text}\n    return 1"), [("a",), (2,), (large,), (2.5,), (True,)])


def test_an_order_of_tuples_and_lists_joins_what_its_items_give_and_a_bool():
    one, two = np.int64(1), np.int64(2)
    for a, b in [((one, two), (two, one)), ([one], [two]), ((1, one), (1, two)), ((1, 2), (1, 3)), (("a",), ("b",))]:
        agree_all(make("def f(a, b): return a < b, a >= b, a == b, a != b"), [(a, b)])
    same = make("def f(a, b): return a < b")
    for value in ((one, two), [one, two]):
        assert type(njit(same)(value, value)) is np.bool_ and not njit(same)(value, value)


def test_functions_close_over_texts_wherever_they_are_called():
    agree_all(make("""def g(p):
    return sorted(p, key=lambda x: p), sorted(p, key=lambda x, y='c': y + x), list(map(lambda x: x + p, p))

def f(n):
    return g('b;a'), g('a')"""), [(1,)])


@pytest.mark.parametrize("value", ["1", "0", "0.0", "'ab'", "''", "[n]", "{n: 1}", "{n}", "(n, 1)", "[[1]] * n", "B(n)",
                                   "L(n)", "P(n)"])  # fmt: skip
def test_the_truth_of_what_may_be_missing(value):
    agree_all(make(f"""class B:
    def __init__(self, v): self.v = v
    def __bool__(self): return self.v > 0

class L(B):
    def __bool__(self): return self.v > 1
    def __len__(self): return self.v

class P:
    def __init__(self, v): self.v = v

def given(x, c): return x if c else None

def f(n, c):
    x = given({value}, c)
    y = given({value}, c) or given({value}, 1)
    seen = 0
    while x and seen < 2:
        seen += 1
    return 1 if x else 2, not x, bool(x), seen, y is None"""), [(n, c) for n in (0, 1) for c in (0, 1)])


def test_instances_that_may_be_missing_compare_and_are_shown():
    agree_all(make("""class S:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return o is not None and self.v == o.v
    def __str__(self): return f's{self.v}'
    def __repr__(self): return f'S({self.v})'

def f(a, b):
    x = S(1)
    y = S(a)
    if a > 1:
        x = None
    if b > 1:
        y = None
    return x == y, x != y, x == None, str(x), repr(y), f'{x} {y}', bool(x)"""), [(1, 1), (1, 2), (2, 1), (2, 2)])


def test_texts_are_kept_in_frozen_dataclasses():
    agree_all(make("""from dataclasses import dataclass

@dataclass(frozen=True)
class R:
    a: str
    b: int = 1

def same(x): return x

def f(n):
    r = R("ab")
    a, b = r.a, same(R(b=n, a="c")).a
    for i in range(n):
        a, b = b + r.a, a
    return a, b, {r.a: n}, r.a[n], f"{r.a:>5}", [R("d")][0].a == "d" """), [(0,), (1,)])


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "complex64", "complex128"])
def test_numpys_floats_of_none_are_no_numbers(kind):
    source = f"""def f(n):
    x = 2.5
    if n:
        x = None
    return np.{kind}(x), np.{kind}(None)"""
    agree_all(make(source), [(0,), (1,)])


def test_none_is_not_rounded():
    agree_all(make("""def f(n):
    x = 2.5
    if n:
        x = None
    return round(x)"""), [(0,), (1,)])


@pytest.mark.parametrize("text", ["np.full_like(x, 2)", "np.zeros_like(x)", "np.empty_like(x)", "np.result_type(x)"])
def test_what_only_needs_the_type_of_a_value_needs_a_value(text):
    """The interpreter makes arrays of objects of None."""
    compiled = njit(make(f"def f(n):\n    x = 2\n    if n > 1:\n        x = None\n    return {text}"))
    with pytest.raises((TypeError, TypingError)):
        compiled(2)


@pytest.mark.parametrize("kind", ["equal", "not_equal"])
def test_numpys_equality_takes_none(kind):
    source = f"""def f(n, a):
    x = 2
    y = 2.5
    if n > 1:
        x = None
    if n > 2:
        y = None
    of_numbers = np.{kind}(x, 2), np.{kind}(2.5, y), np.{kind}(x, y)
    return of_numbers, np.{kind}(x, None), np.{kind}(None, None), np.{kind}(a, None)"""
    agree_all(make(source), [(1, np.arange(3.0)), (2, np.float32(1)), (3, 7), (1, np.arange(4))])
