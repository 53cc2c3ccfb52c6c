"""What numpy.ndindex, ndenumerate and nditer give to loops, which count: how many items there are, and item
number n.  The operands come as the tuple that they are in the call (src/typeinfer/walks.c)."""

from krait.prelude.intrinsics import frozen, layout_of, packed, with_item
from krait.prelude.walking import in_memory_order, is_one, items_at, joint_shape_of, operands_of, shape_of, size_of


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
    return size_of(joint_shape_of(operands_of(operands[0])))


def nditer_item(number, operands):
    op = operands[0]
    if not isinstance(op, tuple):
        if layout_of(op) == "C":
            return frozen(packed(op, op.size, 0, "C")[number, ...])
    views = in_memory_order(operands_of(op))
    items = items_at(views, place_of(number, views[0].shape))
    return items[0] if is_one(op) else items
