"""Members of enumerations that are not known when a function is compiled: which one it is, and what it has."""


# ---- what a member has ----


def item_at(place, items):
    return items[place]


def item_of_number(number, items, numbers):
    for i in range(len(numbers)):
        if numbers[i] == number:
            return items[i]
    raise ValueError("no member of the enumeration has this number")


def name_of_bits(bits, names, numbers):
    # Of a name that stands for several flags the number is negative.
    name = None
    for i in range(len(numbers)):
        if abs(numbers[i]) == bits:
            return names[i]
        if numbers[i] > 0 and numbers[i] & bits:
            name = names[i] if name is None else name + "|" + names[i]
    return name


# ---- which member it is ----


def place_by_value(value, values, title):
    i = 0
    for each in values:
        if each == value:
            return i
        i += 1
    raise ValueError(f"{value!r} is not a valid {title}")


def bits_of_number(value, mask, title):
    width = mask.bit_length()
    every = 2**width - 1
    if -every - 1 <= value <= every and not value & (every ^ mask):
        return value if value >= 0 else every + 1 + value
    width = max(width, value.bit_length())
    given, allowed = bin(value)[2:].rjust(width, "0"), bin(mask)[2:].rjust(width, "0")
    raise ValueError(f"<flag '{title}'> invalid value {value}\n    given 0b0 {given}\n  allowed 0b0 {allowed}")


def known_bits(value, mask, title):
    every = 2 ** mask.bit_length() - 1
    if not -every - 1 <= value <= every or value & (every ^ mask):
        return value & mask
    return value if value >= 0 else every + 1 + value


def number_by_value(value, numbers, title):
    for number in numbers:
        if number == value:
            return number
    raise ValueError(f"{value!r} is not a valid {title}")


def number_by_name(name, names, numbers):
    for i in range(len(names)):
        if names[i] == name:
            return numbers[i]
    raise KeyError(name)
