"""The texts of the functions that stencil makes: loops over whole arrays, and a CUDA kernel of a thread for an item.

In: names of the parameters, how far the kernel's indices reach, what stands at the border.  Out: text, in which
_kernel is the kernel with absolute indices, _edge the one that maps places outside, _prange, _np and _cval what they
say; krait/_stencils.py compiles it.
"""

import numpy as np

# ---- options whose values are known only when the compiled function runs that makes the stencil ---------------------


class Later:
    """In the place of such a value: it comes as a keyword argument of this name (src/frontend/made_ahead.c)."""

    def __init__(self, number):
        self.number, self.name = number, f"_later{number}"


def _reach_text(end, sign):
    """How far an end of a neighborhood reaches to its side, as an expression."""
    return f"max(0, {sign}{end.name})" if isinstance(end, Later) else str(max(0, -end if sign else end))


def _later_checks(reach, met):
    """What is asked of ends of a neighborhood that are known only now."""
    lines = []
    for axis, pair in enumerate(reach):
        for end, (beyond, side) in zip(pair, ((">", 0), ("<", 1))):
            if isinstance(end, Later):
                text = f"the index {met[axis][side]} is outside the neighborhood of axis {axis}"
                lines += [
                    f"    if not isinstance({end.name}, (int, _np.integer)):",
                    "        raise TypeError('neighborhood is a pair of ints (low, high) for each axis')",
                    f"    if {end.name} {beyond} {met[axis][side]}:",
                    f"        raise ValueError({text!r})",
                ]
    return lines


def later_of(groups):
    """The values of all groups that are known only when the function runs, in the order of their numbers."""
    later = {value.name: value for group in groups for value in group if isinstance(value, Later)}
    return sorted(later.values(), key=lambda value: value.number)


def loops(names, arrays, reach, met, keeps_border, maps, title, cval):
    """The text of the function of whole arrays."""
    first = arrays[0]
    args, axes = ", ".join(names), range(len(reach))
    index = [f"_i{axis}" for axis in axes]
    lowest, highest = ([_reach_text(pair[side], sign) for pair in reach] for side, sign in ((0, "-"), (1, "")))
    enough = ", ".join(f"{low} + {high} + 1" for low, high in zip(lowest, highest))
    ndim, of = len(reach), f"the stencil {title}"
    small = {name: f"_np.zeros(({enough},), {name}.dtype)" for name in arrays}
    later = "".join(f", {value.name}" for value in later_of((*reach, [cval])))
    ends = "".join(f", {end.name}" for end in later_of(reach))  # of the neighborhood: the kernel asks for them
    later = later and f", *{later}"
    over = " or ".join(f"_np.may_share_memory({name}, out)" for name in arrays)
    lines = [f"def stencil({args}, out=None{later}):", *_later_checks(reach, met)]
    for name in arrays:  # known when it is compiled
        indices = "1 index" if ndim == 1 else f"{ndim} indices"
        lines += [
            f"    if not hasattr({name}, 'ndim'):",
            f"        raise TypeError('{of} takes a NumPy array as {name}: np.array(...) makes one of a list')",
            f"    if {name}.ndim != {ndim}:",
            f"        raise TypeError('{of} has {indices} in {name}[...], and the array another number of dimensions'",
            f"                        ': pass one of {ndim}, or write an index for each of its axes')",
        ]
    for axis in axes:
        lines += [
            f"    _n{axis} = {first}.shape[{axis}]",
            f"    _low{axis} = min({lowest[axis]}, _n{axis})",
            f"    _high{axis} = max(_n{axis} - {highest[axis]}, _low{axis})",
        ]
    for name in arrays[1:]:
        for axis in axes:
            lines += [
                f"    if {name}.shape[{axis}] < _n{axis}:",
                f"        raise ValueError('{name} is smaller than {first}: pass arrays of one shape')",
            ]
    lines += [
        "    if out is None:",
        "        if " + " and ".join(f"_low{axis} < _high{axis}" for axis in axes) + ":",
        f"            _item = _kernel({args}, " + ", ".join(f"_low{axis}" for axis in axes) + f"{ends})",
        "        else:  # too small: of arrays just large enough, for the type of what the kernel gives",
        f"            _item = _kernel({', '.join(small.get(name, name) for name in names)}, {', '.join(lowest)}{ends})",
        "        if _item is None:",
        f"            raise TypeError('{of} returns nothing: end it with return and a number')",
        "        if isinstance(_item, tuple):",
        f"            raise TypeError('{of} returns a tuple: write a stencil for each of its items')",
        f"        _result = _np.empty({first}.shape, _np.full(1, _item).dtype)",
        "    else:",
        f"        if out.shape != {first}.shape:",
        f"            raise ValueError('out has another shape than {first}: make it by np.empty_like({first})')",
        "        _result = out",
        f"        if {over}:  # items are computed of what neighbours were",
        "            _result = out.copy()",
    ]
    nest = _mapped_nest(args, index, ends) if maps else _constant_nest(args, index, reach, keeps_border, cval, ends)
    lines += [
        *nest,
        "    if out is None:",
        "        return _result",
        f"    if {over}:",
        "        out[...] = _result",
        "    return out",
    ]
    return "\n".join(lines) + "\n"


def is_held(value, dtype):
    """Whether an item of the type is the value: exactly if it is whole, else as near as it gets, not infinite."""
    try:
        if dtype.kind == "b":
            return value in (0, 1)
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            return int(value) == value and info.min <= int(value) <= info.max
        with np.errstate(over="ignore"):
            return bool(np.isfinite(dtype.type(value))) or not np.isfinite(complex(value))
    except (TypeError, ValueError, OverflowError):  # complex numbers; NaN; infinities and what is beyond the floats
        return False


def refusal(value):
    advice = "let the kernel give a wider type (a float), or give another cval"
    what = "cval" if value is None else f"cval is {value!r}, which"
    return f"{what}{' is a number that' if value is None else ''} the result does not hold: {advice}"


def _constant_nest(args, index, reach, keeps_border, cval, ends):
    """Loops over the items whose neighbours are inside, and cval at the others."""
    lines, indent, ndim = [], "    ", len(index)
    if isinstance(cval, Later):
        lines += [
            f"    _cval = 0 if {cval.name} is None else {cval.name}",
            "    if _result.dtype.kind in 'biu':",
            "        if _np.full(1, _cval).astype(_result.dtype)[0] != _cval:",
            f"            raise TypeError({refusal(None)!r})",
        ]
    for dtype in map(np.dtype, "" if isinstance(cval, Later) else "?bhilBHILefd"):
        if not is_held(cval, dtype):
            lines += [
                f"    if _result.dtype.kind == {dtype.kind!r} and _result.dtype.itemsize == {dtype.itemsize}:",
                f"        raise TypeError({refusal(cval)!r})",
            ]
    for axis in range(ndim):
        before, after = "".join(f"{i}, " for i in index[:axis]), ", :" * (ndim - axis - 1)
        border = [
            f"{indent}_result[{before}:_low{axis}{after}] = _cval",
            f"{indent}_result[{before}_high{axis}:{after}] = _cval",
        ]
        if keeps_border:  # of an array that the caller gave
            border = [f"{indent}if out is None:", *("    " + line for line in border)]
        lines += border if reach[axis] != [0, 0] else []
        lines.append(f"{indent}for {index[axis]} in {'range' if axis else '_prange'}(_low{axis}, _high{axis}):")
        indent += "    "
    return [*lines, f"{indent}_result[{', '.join(index)}] = _kernel({args}, {', '.join(index)}{ends})"]


def _mapped_nest(args, index, ends):
    """Loops over all items; the innermost has a part whose neighbours are inside, where the other axes' are."""
    last, indent = len(index) - 1, "    "
    lines = []
    for axis in range(last):
        lines.append(f"{indent}for {index[axis]} in {'range' if axis else '_prange'}(_n{axis}):")
        indent += "    "
    inside = " and ".join(f"_low{axis} <= {index[axis]} < _high{axis}" for axis in range(last)) or "True"
    place, lengths = ", ".join(index), ", ".join(f"_n{axis}" for axis in range(last + 1))
    edge = f"_result[{place}] = _edge({args}, {place}, {lengths}{ends})"
    lines += [
        f"{indent}_inside = {inside}",
        f"{indent}_from = _low{last} if _inside else _n{last}",
        f"{indent}_to = _high{last} if _inside else _n{last}",
        f"{indent}for {index[last]} in range(_from):",
        f"{indent}    {edge}",
        f"{indent}for {index[last]} in {'range' if last else '_prange'}(_from, _to):",
        f"{indent}    _result[{place}] = _kernel({args}, {place}{ends})",
        f"{indent}for {index[last]} in range(_to, _n{last}):",
        f"{indent}    {edge}",
    ]
    return lines


def device_text(names, arrays, reach, keeps_border, maps):
    """The text of a CUDA kernel: a thread for each item."""
    args, axes = ", ".join(names), range(len(reach))
    index = [f"_i{axis}" for axis in axes]
    place, lengths = ", ".join(index), ", ".join(f"_n{axis}" for axis in axes)
    lines = [f"def stencil({args}, _result):", "    _rest = _grid(1)", "    if _rest < _result.size:"]
    for axis in reversed(axes):
        lines += [
            f"        _n{axis} = _result.shape[{axis}]",
            f"        _i{axis} = _rest % _n{axis}",
            f"        _rest //= _n{axis}",
        ]
    inside = " and ".join(
        f"{max(0, -low)} <= _i{axis} < _n{axis} - {max(0, high)}" for axis, (low, high) in zip(axes, reach)
    )
    lines += [f"        if {inside}:", f"            _result[{place}] = _kernel({args}, {place})"]
    if maps:
        lines += ["        else:", f"            _result[{place}] = _edge({args}, {place}, {lengths})"]
    elif not keeps_border:
        lines += ["        else:", f"            _result[{place}] = _cval"]
    return "\n".join(lines) + "\n"
