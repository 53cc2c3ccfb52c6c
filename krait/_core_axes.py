"""The keywords axes, axis and keepdims of a guvectorize(target='cuda') function, which mean what NumPy says.

In: the layout, operands and the keywords.  Out: operands whose core dimensions are the last ones, as _device_gufunc.py
takes them, and a way back for what it gives.  Nothing is copied: all are views.
"""

import numpy as np


class Places:
    """Where the core dimensions of each operand lie.

    layout: names of the core dimensions of each input and of each result, without those that are missing."""

    def __init__(self, gufunc, inputs, results, axes, axis, keepdims):
        self.name, self.inputs, self.results = gufunc.__name__, inputs, results
        self.keepdims = _flag(keepdims)
        if axes is not None and axis is not None:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        if self.keepdims and (any(results) or any(len(dims) != len(inputs[0]) for dims in inputs)):
            raise TypeError(
                f"{self.name} does not support keepdims: its signature {gufunc.signature} requires operand types where "
                "all inputs have the same number of core dimensions and results have none"
            )
        kept = len(inputs[0]) if self.keepdims else None
        self.counts = [*map(len, inputs), *(len(dims) if kept is None else kept for dims in results)]
        if axis is not None:
            axes = self._same_axis(axis, gufunc.signature)
        elif axes is not None:
            axes = self._checked(axes)
        self.axes = axes or [tuple(range(-count, 0)) for count in self.counts]

    def _same_axis(self, axis, signature):
        names = {dim for dims in (*self.inputs, *self.results) for dim in dims}
        if len(names) != 1 or max(self.counts) > 1:
            raise TypeError(
                f"{self.name}: axis can only be used with a single shared core dimension, not with the {len(names)} "
                f"distinct ones implied by signature {signature}."
            )
        axis = _integer(axis)
        return [(axis,) * count for count in self.counts]

    def _checked(self, axes):
        if not isinstance(axes, list):
            raise TypeError("axes should be a list.")
        nin, all_of_them = len(self.inputs), len(self.counts)
        if len(axes) != all_of_them and (len(axes) != nin or any(self.results)):
            raise ValueError(
                f"axes should be a list with an entry for all {all_of_them} inputs and outputs; entries for outputs "
                "can only be omitted if none of them has core axes."
            )
        checked = []
        for number, count in enumerate(self.counts):
            if number >= len(axes):
                checked.append(tuple(range(-count, 0)))
                continue
            item = axes[number]
            if not isinstance(item, tuple):
                item = (_integer(item),)
                if count != 1:
                    raise np.exceptions.AxisError(
                        f"{self.name}: operand {number} has {count} core dimensions, but the axes item is a single "
                        "integer."
                    )
            if len(item) != count:
                raise np.exceptions.AxisError(
                    f"{self.name}: operand {number} has {count} core dimensions, but {len(item)} dimensions are "
                    "specified by axes tuple."
                )
            checked.append(tuple(map(_integer, item)))
        return checked

    def _axes_of(self, number, ndim):
        axes = self.axes[number]
        if ndim < len(axes):
            raise ValueError(f"{self.name}: operand {number} has {ndim} dimensions, the layout {len(axes)}")
        return np.lib.array_utils.normalize_axis_tuple(axes, ndim, "axes")

    def operand(self, number, value):
        """A view of an operand with its core dimensions last; of a result whose dimensions are kept: without them."""
        if value is None or not self.counts[number]:
            return value
        axes = self._axes_of(number, value.ndim)
        if number >= len(self.inputs) and self.keepdims:
            if any(value.shape[axis] != 1 for axis in axes):
                raise ValueError(f"{self.name}: a kept dimension of a result has another size than 1: {value.shape}")
            return value.squeeze(axes)
        order = [axis for axis in range(value.ndim) if axis not in axes] + list(axes)
        return value if order == sorted(order) else value.transpose(*order)

    def result(self, number, value):
        """What was computed, as the caller wants to see it."""
        count = self.counts[number]
        if not count:
            return value
        if self.keepdims:
            shape = np.shape(value)
            axes = self._axes_of(number, len(shape) + count)
            sizes = iter(shape)
            return _reshape(value, tuple(1 if axis in axes else next(sizes) for axis in range(len(shape) + count)))
        axes = self._axes_of(number, value.ndim)
        order, outer = [None] * value.ndim, iter(range(value.ndim - count))
        for place, axis in enumerate(axes):
            order[axis] = value.ndim - count + place
        order = [next(outer) if place is None else place for place in order]
        return value if order == sorted(order) else value.transpose(*order)


def _reshape(value, shape):
    return value.reshape(shape) if hasattr(value, "reshape") else np.reshape(value, shape)


def _integer(value):
    try:
        return value.__index__()
    except AttributeError:
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer") from None


def _flag(value):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError("'keepdims' must be a boolean")
    return bool(value)
