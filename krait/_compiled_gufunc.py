"""Calls of guvectorize functions in compiled functions and kernels: loops over the outer dimensions.

In: a Gufunc, and the types of a call's operands, as inference has them.  Out: a function of the same operands, written
here as text, that compiled code calls instead: it checks the core dimensions, matches the outer ones, converts inputs
to the loop's types, makes the results that are not given, and calls the function with views at each place.
"""

import linecache

import numpy as np

from . import _krait
from ._device_gufunc import _arrays_of_one, _layout, _missing, core_function


_PYTHONS = {"bool": bool, "int": np.int64, "float": np.float64, "complex": np.complex128}


def _is_array(kind):
    return isinstance(kind, _krait.types["Array"])


def _kind(kind):
    """The NumPy dtype of the elements of an operand."""
    if _is_array(kind):
        kind = kind.dtype
    name = str(kind)
    return np.dtype(_PYTHONS[name] if name in _PYTHONS else getattr(np, name))


def _fits(kind, wanted, casting):
    if not _is_array(kind) and kind.weak and str(kind) != "bool":
        return np.result_type(wanted, {"int": 0, "float": 0.0, "complex": 0j}[str(kind)]) == wanted
    return np.can_cast(_kind(kind), wanted, casting)


class _Text:
    """The text of one function; operands are numbered, results last."""

    def __init__(self, gufunc, kinds, on_device):
        self.gufunc, self.name, self.on_device = gufunc, gufunc.__name__, on_device
        inputs, results = _layout(gufunc.signature)
        self.nin, self.dims = len(inputs), [*inputs, *results]
        self.kinds = [*kinds, *[None] * (len(self.dims) - len(kinds))]
        given = [getattr(kind, "ndim", 0) for kind in kinds]
        self.missing = _missing(gufunc.signature, inputs, given)
        self.there = [[dim for dim in dims if dim not in self.missing] for dims in self.dims]
        self.names = list(gufunc.py_func.__code__.co_varnames[: len(self.dims)])
        self.loop, self.dtypes = self.choose()
        self.ones = {k for k in _arrays_of_one(gufunc, self.loop) if k < self.nin and not self.dims[k]}
        self.outer = [0] * len(self.dims)
        for k, ndim in enumerate(given):
            self.outer[k] = ndim - len(self.there[k])
            if self.outer[k] < 0:
                few = f"{ndim} dimension{'s' * (ndim != 1)}" if ndim else "a number"
                raise TypeError(
                    f"{self.name}: operand {k} ({self.names[k]}) is {few}, the layout {gufunc.signature} has "
                    f"{len(self.there[k])} of it"
                )
        self.ndim = max(self.outer)
        for k in range(self.nin, len(kinds)):
            if self.outer[k] < self.ndim or not _is_array(kinds[k]):
                raise TypeError(
                    f"{self.name}: the result {self.names[k]} has {given[k]} dimensions, and the operands are "
                    f"broadcast to {self.ndim + len(self.there[k])}"
                )

    def choose(self):
        """The number of the loop that NumPy takes, and its dtypes; without signatures, the operands' own."""
        if not self.gufunc._signatures:
            if None in self.kinds:
                raise TypeError(
                    f"{self.name} has no signatures, so its results say which types it computes: pass arrays for them, "
                    "or declare signatures"
                )
            return 0, [_kind(kind) for kind in self.kinds]
        for casting in ("equiv", "safe"):
            for number, signature in enumerate(self.gufunc._signatures):
                dtypes = [_kind(kind) for kind in signature.args]
                if all(_fits(kind, dtype, casting) for kind, dtype in zip(self.kinds[: self.nin], dtypes)):
                    self.check_results(dtypes)
                    return number, dtypes
        have = ", ".join(map(str, self.kinds[: self.nin]))
        raise TypeError(f"{self.name} has no loop for operands of the types {have}")

    def check_results(self, dtypes):
        for name, kind, dtype in [*zip(self.names, self.kinds, dtypes)][self.nin :]:
            if kind is not None and not np.can_cast(dtype, _kind(kind), "same_kind"):
                raise TypeError(f"{self.name}: the result {name} of {dtype} cannot be cast to {_kind(kind)}")

    def no_arrays(self, what):
        if self.on_device:
            raise TypeError(
                f"{self.name}: {what}, and a kernel makes no arrays: give operands of the loop's types, and arrays for "
                "the results"
            )

    def dtype(self, k):
        return f"_np.{self.dtypes[k].name.replace('bool', 'bool_')}"

    def converted(self, k):
        """An operand as its loop takes it."""
        name, kind = self.names[k], self.kinds[k]
        is_array, other = _is_array(kind), _kind(kind) != self.dtypes[k]
        if k >= self.nin:
            if not other:
                return name if kind.ndim else f"{name}.reshape(1)"
            self.no_arrays(f"the result {name} is not of the type {self.dtypes[k]}")
            return f"_np.empty({name}.shape if {name}.ndim else 1, {self.dtype(k)})"
        if is_array and not kind.ndim:
            name, is_array = f"{name}[()]", False
        if is_array:
            if other:
                self.no_arrays(f"the operand {name} is not of the type {self.dtypes[k]}")
            return f"{name}.astype({self.dtype(k)})" if other else name
        if k in self.ones:
            self.no_arrays(f"the operand {name} is no array of one item")
            return f"_np.full(1, {name}, {self.dtype(k)})"
        return f"{self.dtype(k)}({name})" if other or not _is_array(kind) and kind.weak else name

    def operand_lines(self):
        """_p0, _p1, ...: with an axis of length one for each core dimension that is missing."""
        for k, kind in enumerate(self.kinds):
            if kind is None:
                continue
            yield f"    _p{k} = {self.converted(k)}"
            if self.missing.intersection(self.dims[k]):
                index = [":"] * self.outer[k] + ["None" if dim in self.missing else ":" for dim in self.dims[k]]
                yield f"    _p{k} = _p{k}[{', '.join(index)}]"

    def core_lines(self):
        """Checks of the core dimensions; fills self.sizes: the text of the size of each."""
        self.sizes = {}
        for k, kind in enumerate(self.kinds):
            for place, dim in enumerate(self.dims[k] if kind is not None else ()):
                if dim in self.missing:
                    continue
                have = f"_p{k}.shape[{self.outer[k] + place}]"
                if not dim.isdigit() and dim not in self.sizes:
                    self.sizes[dim] = f"_c{dim}"
                    yield f"    _c{dim} = {have}"
                    continue
                wanted = self.sizes.get(dim, dim)
                which = f"Input operand {k}" if k < self.nin else f"Output operand {k - self.nin}"
                where = f"{self.name}: {which} has a mismatch in its core dimension {place}, with gufunc signature "
                tail = f"{self.gufunc.signature} (size {{{have}}} is different from {{{wanted}}})"
                yield from (f"    if {have} != {wanted}:", f"        raise ValueError(f{where + tail!r})")

    def outer_lines(self):
        """_n0, _n1, ...: the outer shape; and for each operand and axis a factor of its index, 0 where it repeats."""
        start = [self.ndim - outer for outer in self.outer]
        for axis in range(self.ndim):
            yield f"    _n{axis} = 1"
            there = [k for k, kind in enumerate(self.kinds) if kind is not None and axis >= start[k]]
            for k in there:
                have, n = f"_p{k}.shape[{axis - start[k]}]", f"_n{axis}"
                if k >= self.nin:
                    continue
                text = f"{self.name}: operands could not be broadcast together: operand {k} ({self.names[k]}) has "
                text += f"{{{have}}} along outer axis {axis}, others {{{n}}}"
                yield from (f"    if {n} == 1:", f"        {n} = {have}", f"    elif {have} != 1 and {have} != {n}:")
                yield f"        raise ValueError(f{text!r})"
                yield f"    _f{k}_{axis} = 1 if {have} != 1 else 0"
            for turn, k in [(turn, k) for turn in (0, 1) for k in there if k >= self.nin]:
                have, n = f"_p{k}.shape[{axis - start[k]}]", f"_n{axis}"
                if not turn:  # inputs are broadcast to results
                    yield from (f"    if {n} == 1:", f"        {n} = {have}")
                    continue
                text = f"{self.name}: the result {self.names[k]} has {{{have}}} along outer axis {axis}, not {{{n}}}"
                yield from (f"    if {have} != {n}:", f"        raise ValueError(f{text!r})")

    def made_lines(self):
        """Results that nobody gave."""
        outer = [f"_n{axis}" for axis in range(self.ndim)]
        for k in range(self.nin, len(self.dims)):
            if self.kinds[k] is not None:
                continue
            self.no_arrays(f"there is no array for the result {self.names[k]}")
            unknown = [dim for dim in self.there[k] if not dim.isdigit() and dim not in self.sizes]
            if unknown:
                raise TypeError(
                    f"{self.name}: no operand says the size of core dimension {unknown[0]}: pass an array for the "
                    f"result {self.names[k]}"
                )
            core = ["1" if dim in self.missing else self.sizes.get(dim, dim) for dim in self.dims[k]]
            self.outer[k] = self.ndim
            yield f"    _p{k} = _np.empty(({''.join(n + ', ' for n in outer + core or ['1'])}), {self.dtype(k)})"

    def view(self, k):
        """The operand at the current place."""
        start, index = self.ndim - self.outer[k], []
        for axis in range(start, self.ndim):
            index.append(f"_i{axis} * _f{k}_{axis}" if k < self.nin else f"_i{axis}")
        if not self.dims[k] and (k >= self.nin or k in self.ones) and index:
            index[-1] = f"{index[-1]}:{index[-1]} + 1"
        if not index:
            return f"_p{k}"
        return f"_p{k}[{', '.join([*index, *[':'] * len(self.dims[k])])}]"

    def result(self, k):
        if self.kinds[k] is not None:
            return self.names[k]
        index = ["0" if dim in self.missing else ":" for dim in self.dims[k]]
        index = [":"] * self.ndim + index or ["0"]
        return f"_p{k}[{', '.join(index)}]" if "0" in index else f"_p{k}"

    def lines(self):
        numbers = range(len(self.dims))
        given = [name for name, kind in zip(self.names, self.kinds) if kind is not None]
        yield f"def gufunc({', '.join(given)}):"
        yield from self.operand_lines()
        yield from self.core_lines()
        yield from self.outer_lines()
        yield from self.made_lines()
        for axis in range(self.ndim):
            yield f"{'    ' * (axis + 1)}for _i{axis} in range(_n{axis}):"
        yield f"{'    ' * (self.ndim + 1)}_function({', '.join(map(self.view, numbers))})"
        yield from self.back_lines()
        if not self.on_device:
            yield f"    return {', '.join(map(self.result, numbers[self.nin :]))}"

    def back_lines(self):
        """Results, and inputs that the function writes to, as the caller has them."""
        written = self.gufunc.targetoptions.get("writable_args", ())
        written = {self.names.index(which) if isinstance(which, str) else which for which in written}
        for k, kind in enumerate(self.kinds):
            if (k >= self.nin or k in written) and _is_array(kind) and _kind(kind) != self.dtypes[k]:
                index = [":"] * self.outer[k] + ["0" if dim in self.missing else ":" for dim in self.dims[k]]
                yield f"    {self.names[k]}[...] = _p{k}[{', '.join(index or ['0'])}]"


def looped(gufunc, kinds, on_device):
    """The function that compiled code calls with operands of these types."""
    made, key = getattr(gufunc, "_compiled", None), (kinds, on_device)
    if made is None:
        made = gufunc._compiled = {}
    if key not in made:
        text = "\n".join(_Text(gufunc, kinds, on_device).lines()) + "\n"
        name = f"<guvectorize {gufunc.__qualname__}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        space = {"_np": np, "_function": core_function(gufunc)}
        exec(compile(text, name, "exec"), space)
        function = made[key] = space["gufunc"]
        function.__name__ = function.__qualname__ = gufunc.__name__
    return made[key]
