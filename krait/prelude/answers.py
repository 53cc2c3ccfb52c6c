"""What builtins make of what the special methods that they call give (src/typeinfer/own_answers.c)."""

MOST = 0x7FFFFFFFFFFFFFFF


def length(n):
    if n < 0:
        raise ValueError("__len__() should return >= 0")
    if n > MOST:
        raise OverflowError("cannot fit 'int' into an index-sized integer")
    return int(n)


def whole(n):
    return int(n)


def hashed(n):
    return -2 if n == -1 else int(n)


def real(x):
    return float(x)


def complex_number(z):
    return complex(z)
