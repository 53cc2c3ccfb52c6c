"""Functions that the frontend tests translate; tests/golden/frontend has what each becomes on every Python version."""

import math

import numpy as np

FACTOR = 3
POINT = (1, (2.5, "a"))


def saxpy(a, x, y, i):
    if i < x.size:
        y[i] = a * x[i] + y[i]


def operators(a, b):
    return -a + ~b, +a - b, a * b / a // b % a ** b @ a, a << b >> a & b | a ^ b


def inplace(a, b):
    a += b
    a[b] *= 2
    a.flat //= 3
    return a


def comparisons(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b, a in b, a not in b


def chained(a, b, c):
    return a < b <= c


def boolean(a, b, c):
    return a and b or not c


def conditional(a, b):
    return a if b > 0 else -a


def branches(a):
    if a > 10:
        b = 1
    elif a is None:
        b = 2
    else:
        b = 3
    return b


def walrus(a):
    if (n := a + 1) > 3:
        return n
    return a


def while_loop(a, n):
    i = 0
    while i < n:
        a += i
        i += 1
    return a


def while_else(a):
    while a > 1:
        if a == 7:
            break
        a //= 2
    else:
        a = 0
    return a


def for_range(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += i
    return total


def for_else(x):
    for v in x:
        if v < 0:
            break
    else:
        return 1
    return v


def nested_loops(n):
    s = 0
    for i in range(n):
        for j in range(i):
            s += i * j
    return s


def forever(a):
    while True:
        a += 1
        if a > 10:
            return a


def never():
    while True:
        pass


def unpacking(t):
    a, (b, c) = t
    d, *e, f = b
    return a, c, d, e, f


def swapping(a, b, c, d):
    a, b = b, a
    a, b, c, d = d, c, b, a
    return a, b, c, d


def slicing(a, i):
    return a[i:], a[:i], a[1:i:2], a[..., None], a[i, 1:2]


def slice_store(a, b):
    a[1:3] = b
    a[::2] += 1
    del a[0]


def calls(f, a):
    return f(), f(a), f(a, b=1, c=2), f.m(a)


def star_calls(f, t, a):
    return f(*t), f(a, *t), f(*t, k=a), f(*t, *a, i=1, j=2)


def star_tuple(t, a):
    return (*t,), (a, *t, 1, 2, *a)


def parameters(a, /, b=2, *rest, c, d=2.5):
    return a + b + c + d + rest[0]


def maybe_unbound(n):
    for i in range(n):
        pass
    return i


def never_bound(a):
    b = c
    c = a
    return b


def deleted(a, b):
    if b:
        del a
    return a


def asserting(a):
    assert a > 0
    assert a < 10, "too large"
    return a


def raising(a):
    if a < 0:
        raise ValueError
    if a > 9:
        raise ValueError("too large", a)
    return a


def constants():
    return FACTOR, POINT, math.pi, None, True, ..., "text", 1j, np.float32(2.5), np.int8(-3)


def library(x):
    return math.sin(x), np.float32(x), int(x), len(x), min(x, 1)


def local_module(x):
    m = math
    return m.sqrt(x)


def closure(n):
    total = 0

    def add(x, y=n, *, z=1):
        nonlocal total
        total += x * y + z
        return total

    add(1)
    return add(2, z=3)


def lambdas(f, a):
    g = lambda x: x + a
    return f(g, 1 if a else 2), (lambda: 0)()


def inner_of_inner(a):
    def outer(b):
        def inner(c):
            return a + b + c

        return inner(1)

    return outer(2)


def annotated(a: int) -> float:
    b: float = a

    def f(x: np.ndarray[int], y: "str" = 1) -> tuple[int, int]:
        return x

    return f(b)


def docstring(a):
    """Says what it does."""
    "and more"
    return a


def literals(a):
    for x in [1, 2, a]:
        if x in {3, 4} or x in [5, a]:
            return x
    [b, c] = [a, 1]
    return b - c


def constant_text(a):
    if a:
        raise ValueError(f"more than {FACTOR!r:>3} of {math.pi:.2f}")


def raised_text(a, b):
    if a < 0:
        raise ValueError(f"{a!r:>5} of {{b}} {b:.2f}{FACTOR}", f"{b}")
    assert b, f"{a if a else FACTOR} and {b=}"


def dead_branch(a):
    if __debug__:
        return a
    return undefined_name


def importing(x):
    from math import cos as c
    import math
    return c(x) + math.sin(x)


def store_attribute(a, b):
    a.flat = b


def many_exits(a):
    for i in range(3):
        if a == i:
            return i
        if a > i:
            return None
    return -1


def matching(a):
    match a:
        case 1 | 2:
            return 10
        case x if x > 5:
            return x
    return 0


def trying(a, i):
    x = 1
    try:
        x = a[i]
        x = a[i + 1]
    except (IndexError, KeyError):
        if x is None:
            raise
    finally:
        a[0] = x
    return x
