"""Strings: operators and methods, over their code points.  A list of code points is a string once nobody changes it."""

import array
import operator

import numpy as np

from krait.prelude import intrinsics
from krait.prelude.intrinsics import (
    append_codes,
    bytes_of,
    character,
    character_traits,
    codes,
    lies_at,
    order_of,
    reserve,
    slice_range,
    string_of,
)
from krait.prelude.lists import MOST, rounds_with_room

# CharacterTrait of src/runtime/host/host.h.
ALPHA, DECIMAL, DIGIT, NUMERIC, SPACE, UPPER, LOWER, TITLE, PRINTABLE = (1 << bit for bit in range(9))


def repeated(s, times):
    new = []
    if 0 < times <= MOST and len(s) > MOST // int(times):
        raise OverflowError("repeated string is too long")
    for _ in range(rounds_with_room(new, len(s), times)):
        append_codes(new, codes(s))
    return string_of(new)


def repeated_so_often(times, s):
    return repeated(s, times)


def equal(a, b):
    x = codes(a)
    y = codes(b)
    return len(x) == len(y) and lies_at(x, y, 0)


def not_equal(a, b):
    return not equal(a, b)


def less(a, b):
    return order_of(codes(a), codes(b)) < 0


def less_equal(a, b):
    return order_of(codes(a), codes(b)) <= 0


def greater(a, b):
    return order_of(codes(a), codes(b)) > 0


def greater_equal(a, b):
    return order_of(codes(a), codes(b)) >= 0


# ---- parts ----


def get_item(s, index):
    x = codes(s)
    n = len(x)
    at = index + n if index < 0 else index
    if at < 0 or at >= n:
        raise IndexError("string index out of range")
    return character(x[at])


def get_slice(s, which):
    x = codes(s)
    start, step, n = slice_range(which, len(x))
    if n == len(x) and step == 1:
        return s
    new = []
    for i in range(n):
        new.append(x[start + i * step])
    return string_of(new)


def code_of(s):
    x = codes(s)
    if len(x) != 1:
        raise TypeError(f"ord() expected a character, but string of length {len(x)} found")
    return int(x[0])


def character_of(code):
    if code < 0 or code > 0x10FFFF:
        raise ValueError("chr() arg not in range(0x110000)")
    return character(code)


def of_int(n):
    if n == -9223372036854775808:
        return "-9223372036854775808"
    digits = []
    rest = abs(n)
    while rest > 9:
        digits.append(np.uint32(48 + rest % 10))
        rest //= 10
    digits.append(np.uint32(48 + rest))
    if n < 0:
        digits.append(np.uint32(45))
    digits.reverse()
    return string_of(digits)


def number_of(s):
    # int(s): what is more than a sign and digits of ASCII, the interpreter reads or refuses.
    x = codes(s)
    first = 1 if len(x) > 1 and x[0] == 45 else 0
    if len(x) == 0 or len(x) > 18:
        return int(s, 10)
    number = 0
    for i in range(first, len(x)):
        digit = int(x[i]) - 48
        if digit < 0 or digit > 9:
            return int(s, 10)
        number = number * 10 + digit
    return -number if first else number


def isascii(s):
    for code in codes(s):
        if code > 127:
            return False
    return True


# ---- kinds of characters ----


def has_all(s, traits):
    for code in codes(s):
        if character_traits(code, traits) == 0:
            return False
    return True


def isalpha(s):
    return len(s) > 0 and has_all(s, ALPHA)


def isalnum(s):
    return len(s) > 0 and has_all(s, ALPHA | DECIMAL | DIGIT | NUMERIC)


def isdecimal(s):
    return len(s) > 0 and has_all(s, DECIMAL)


def isdigit(s):
    return len(s) > 0 and has_all(s, DIGIT)


def isnumeric(s):
    return len(s) > 0 and has_all(s, NUMERIC)


def isspace(s):
    return len(s) > 0 and has_all(s, SPACE)


def isprintable(s):
    return has_all(s, PRINTABLE)


def in_one_case(s, case, other):
    found = False
    for code in codes(s):
        traits = character_traits(code, case | other)
        if traits & other:
            return False
        if traits & case:
            found = True
    return found


def isupper(s):
    return in_one_case(s, UPPER, LOWER | TITLE)


def islower(s):
    return in_one_case(s, LOWER, UPPER | TITLE)


def istitle(s):
    found = inside = False
    for code in codes(s):
        traits = character_traits(code, UPPER | LOWER | TITLE)
        begins = traits & (UPPER | TITLE) != 0
        if begins == inside and traits != 0:
            return False
        inside = traits != 0
        found |= inside
    return found


def shifted(s, first, last, by):
    # Of ASCII, with the letters from first to last moved.
    if len(s) == 1:
        code = int(codes(s)[0])
        return character(code + by if first <= code <= last else code)
    new = []
    reserve(new, len(s))
    for code in codes(s):
        new.append(np.uint32(int(code) + by if first <= code <= last else code))
    return string_of(new)


def upper(s):
    return shifted(s, 97, 122, -32) if isascii(s) else intrinsics.upper(s)


def lower(s):
    return shifted(s, 65, 90, 32) if isascii(s) else intrinsics.lower(s)


# ---- searching ----


def is_at(x, y, at):
    # With at inside: most places are told by one item.
    return (len(y) == 0 or x[at] == y[0]) and lies_at(x, y, at)


def part(length, start, end):
    # The bounds that optional ones mean, as slices take them.
    first = 0 if start is None else start
    last = length if end is None else end
    if first < 0:
        first = max(first + length, 0)
    if last < 0:
        last = max(last + length, 0)
    return first, min(last, length)


def find(s, sub, start=None, end=None):
    x = codes(s)
    y = codes(sub)
    first, last = part(len(x), start, end)
    for at in range(first, last - len(y) + 1):
        if is_at(x, y, at):
            return at
    return -1


def rfind(s, sub, start=None, end=None):
    x = codes(s)
    y = codes(sub)
    first, last = part(len(x), start, end)
    for at in range(last - len(y), first - 1, -1):
        if is_at(x, y, at):
            return at
    return -1


def index(s, sub, start=None, end=None):
    at = find(s, sub, start, end)
    if at < 0:
        raise ValueError("substring not found")
    return at


def rindex(s, sub, start=None, end=None):
    at = rfind(s, sub, start, end)
    if at < 0:
        raise ValueError("substring not found")
    return at


def count(s, sub, start=None, end=None):
    x = codes(s)
    y = codes(sub)
    first, last = part(len(x), start, end)
    if first > last:
        return 0
    if len(y) == 0:
        return last - first + 1
    n = 0
    at = first
    while at <= last - len(y):
        if is_at(x, y, at):
            n += 1
            at += len(y)
        else:
            at += 1
    return n


def piece(x, start, end):
    if end - start == 1:
        return character(x[start])
    new = []
    reserve(new, end - start)
    for i in range(start, end):
        new.append(x[i])
    return string_of(new)


def split_words(x, most):
    parts = []
    at = 0
    while True:
        while at < len(x) and character_traits(x[at], SPACE):
            at += 1
        if at == len(x):
            return parts
        start = at
        if len(parts) == most:
            at = len(x)
        while at < len(x) and not character_traits(x[at], SPACE):
            at += 1
        parts.append(piece(x, start, at))


def split(s, sep=None, maxsplit=-1):
    if maxsplit is None:  # raised where it runs, as by the methods that the interpreter is asked for
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    x = codes(s)
    most = operator.index(maxsplit)
    if most < 0:
        most = len(x) + 1
    if sep is None:
        return split_words(x, most)
    y = codes(sep)
    if len(y) == 0:
        raise ValueError("empty separator")
    parts = []
    start = at = 0
    while len(parts) < most and at <= len(x) - len(y):
        if is_at(x, y, at):
            parts.append(piece(x, start, at))
            at += len(y)
            start = at
        else:
            at += 1
    parts.append(piece(x, start, len(x)))
    return parts


def contains(sub, s):
    return find(s, sub) >= 0


def contains_not(sub, s):
    return find(s, sub) < 0


def starts_at(s, prefix, start, end):
    x = codes(s)
    y = codes(prefix)
    first, last = part(len(x), start, end)
    return len(y) <= last - first and lies_at(x, y, first)


def ends_at(s, suffix, start, end):
    x = codes(s)
    y = codes(suffix)
    first, last = part(len(x), start, end)
    return len(y) <= last - first and lies_at(x, y, last - len(y))


def startswith(s, prefix, start=None, end=None):
    if isinstance(prefix, tuple):
        for each in prefix:
            if starts_at(s, each, start, end):
                return True
        return False
    return starts_at(s, prefix, start, end)


def endswith(s, suffix, start=None, end=None):
    if isinstance(suffix, tuple):
        for each in suffix:
            if ends_at(s, each, start, end):
                return True
        return False
    return ends_at(s, suffix, start, end)


# ---- bytes ----


def byte_numbers(b):
    return [int(number) for number in codes(b)]


def byte_at(b, i):
    numbers = codes(b)
    if i < -len(numbers) or i >= len(numbers):
        raise IndexError("index out of range")
    return int(numbers[i])


def bytes_slice(b, which):
    numbers = codes(b)
    start, step, n = slice_range(which, len(numbers))
    if n == len(numbers) and step == 1:
        return b
    new = []
    for i in range(n):
        new.append(numbers[start + i * step])
    return bytes_of(new)


def bytes_repeated(b, times):
    new = []
    if 0 < times <= MOST and len(b) > MOST // int(times):
        raise OverflowError("repeated bytes are too long")
    for _ in range(rounds_with_room(new, len(b), times)):
        append_codes(new, codes(b))
    return bytes_of(new)


def repeated_bytes(times, b):
    return bytes_repeated(b, times)


def bytes_from(source=b"", encoding=None, errors=None):
    if isinstance(source, str):
        if encoding is None:
            raise TypeError("string argument without an encoding")
        return source.encode(encoding, "strict" if errors is None else errors)
    if encoding is not None:
        raise TypeError("encoding without a string argument")
    if errors is not None:
        raise TypeError("errors without a string argument")
    if isinstance(source, bytes):
        return source
    new = []
    if isinstance(source, (int, np.integer)):
        if source < 0:
            raise ValueError("negative count")
        for _ in range(source):
            new.append(np.uint8(0))
        return bytes_of(new)
    if isinstance(source, (np.ndarray, np.generic)):
        return source.tobytes()
    if isinstance(source, (bytearray, memoryview, array.array)):
        return source._array.tobytes()
    for item in source:
        number = operator.index(item)
        if number < 0 or number > 255:
            raise ValueError("bytes must be in range(0, 256)")
        new.append(np.uint8(number))
    return bytes_of(new)


def bytes_contains(part, b):
    if not isinstance(part, int):
        return b.find(part) >= 0
    if part < 0 or part > 255:
        raise ValueError("byte must be in range(0, 256)")
    for number in codes(b):
        if number == part:
            return True
    return False


def bytes_contains_not(part, b):
    return not bytes_contains(part, b)


def maketrans(x, y=None, z=None):
    if y is None:
        return {code_of(key) if isinstance(key, str) else key: value for key, value in x.items()}
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    if z is None:
        return {code_of(x[i]): code_of(y[i]) for i in range(len(x))}
    return _without(x, y, z)


def _without(x, y, z):
    table = {0: None}
    table.clear()
    for i in range(len(x)):
        table[code_of(x[i])] = code_of(y[i])
    for character in z:
        table[code_of(character)] = None
    return table
