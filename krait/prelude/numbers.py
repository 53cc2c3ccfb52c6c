"""Methods of numbers."""


def is_integer(x):
    return bool(x - x == 0) and bool(x % 1 == 0)  # what is not finite has a difference that is none


def bit_length(x):
    left = -(x + 1) if x < 0 else x
    n = 1 if x < 0 and left & (left + 1) == 0 else 0  # -8 has a bit more than 7
    while left > 0:
        left >>= 1
        n += 1
    return n
