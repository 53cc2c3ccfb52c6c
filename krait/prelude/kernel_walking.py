"""What numpy.ndindex, ndenumerate and nditer give to loops, which count: how many items there are, and item
number n.  The operands come as the tuple that they are in the call (src/typeinfer/walks.c)."""

from krait.prelude.intrinsics import frozen, layout_of, packed, with_item
from krait.prelude.walking import in_memory_order, shape_of, size_of


def place_of(number, shape):
    place = shape
    for axis in range(len(shape) - 1, 0, -1):
        place = with_item(place, axis, number % shape[axis])
        number //= shape[axis]
    if len(shape) > 0:
        place = with_item(place, 0, number)
    return place


def checked(shape):
    for axis in range(len(shape)):
        if shape[axis] < 0:
            raise ValueError("negative dimensions are not allowed")
    return shape


def ndindex_length(operands):
    return size_of(checked(shape_of(operands)))


def ndindex_item(number, operands):
    return place_of(number, shape_of(operands))


def ndenumerate_length(operands):
    return operands[0].size


def ndenumerate_item(number, operands):
    place = place_of(number, operands[0].shape)
    return place, operands[0][place]


def nditer_length(operands):
    if operands[0].size == 0:
        raise ValueError("Iteration of zero-sized operands is not enabled")
    return operands[0].size


def nditer_item(number, operands):
    a = operands[0]
    if layout_of(a) == "C":
        return frozen(packed(a, a.size, 0, "C")[number, ...])
    a = frozen(in_memory_order(a))
    return a[place_of(number, a.shape) + (...,)]
