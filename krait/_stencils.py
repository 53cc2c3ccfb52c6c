"""stencil: a function of an item's neighbours becomes a function of whole arrays.

In: a kernel, in which a[-1, 0] is the item one row up.  Out: a Stencil, whose call gives a new array.

The kernel's source is read again and its relative indices become absolute: a[-1, 0] is a[i - 1, j].  How far they reach
says how wide the border is.  There the result is cval, or in another mode what a second form of the kernel gives,
whose places outside are mapped to places inside.  Around the kernel comes a nest of loops, written as text
(_stencil_text.py); all are ordinary functions that jit compiles, and that compiled functions call.  For device arrays a
thread computes an item.
"""

import ast
import functools
import inspect
import linecache
import sys
import textwrap
import types

import numpy as np

from . import _krait, jit, prange
from ._stencil_text import Later, device_text, is_held, later_of, loops, refusal

_INDEX, _LENGTH, _PLACE, _NEAR = "_stencil_index{}", "_stencil_length{}", "_stencil_place", "_stencil_near{}"


# ---- places outside an array of n items, as numpy.pad has them in the modes edge, symmetric and wrap ----------------


def _nearest(i, n):
    return min(max(i, 0), n - 1)


def _reflect(i, n):
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def _wrap(i, n):
    return i % n


_PLACES = {"nearest": _nearest, "reflect": _reflect, "wrap": _wrap}


def _near(axis, ends):
    """What an index that is no constant goes through: the index itself, if it is in the neighborhood."""
    known = not any(isinstance(end, Later) for end in ends)
    of = f"{ends[0]} to {ends[1]} of axis {axis}" if known else f"of axis {axis}"
    text = (f"an index is outside the neighborhood {of}: make the neighborhood as wide as "
            "the indices reach, or change the index")

    def near(index, low, high):
        if index < low or index > high:
            raise IndexError(text)
        return index

    return near


class _Relative(ast.NodeTransformer):
    """Adds the place of the item to relative indices, and notes how far they reach: a list of (low, high)."""

    def __init__(self, function, arrays, neighborhood, mapped):
        self.function, self.arrays, self.given, self.mapped = function, arrays, neighborhood, mapped
        self.constants = {}
        self.near = {}  # name -> what an index of its axis goes through
        self.reach = [list(pair) for pair in neighborhood] if neighborhood else None
        self.met = [[0, 0] for _ in neighborhood or ()]  # what constant indices reach in a given neighborhood
        self.ndim = len(neighborhood) if neighborhood else None

    def fail(self, node, text):
        error = SyntaxError(text)
        error.filename, error.lineno = self.function.__code__.co_filename, node.lineno
        error.text = linecache.getline(error.filename, error.lineno) or None
        raise error

    def offset(self, node):
        """The number that an index is; None: it is no constant."""
        if any(isinstance(part, (ast.Slice, ast.Starred)) for part in ast.walk(node)):
            self.fail(node, "an index of a stencil's array is a number, or a slice, for each axis")
        try:
            names, locals_ = inspect.getclosurevars(self.function), self.function.__code__.co_varnames
            outside = {**names.globals, **names.nonlocals}  # attributes' names among them: a.k is no variable k
            known = {name: value for name, value in outside.items() if name not in locals_}
            text = compile(ast.Expression(node), "<index>", "eval")
            value = eval(text, {**known, **self.constants})
        except Exception:
            return None
        if not isinstance(value, (int, np.integer)):
            self.fail(node, f"the index {value!r} is no int: relative indices are whole numbers, as in a[-1]")
        return int(value)

    def note_constants(self, node):
        """Variables of the kernel that are assigned once, a constant."""
        parameters = [argument.arg for argument in node.args.posonlyargs + node.args.args]
        names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
        stored = parameters + [part.id for part in names if isinstance(part.ctx, ast.Store)]
        for statement in node.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(target, ast.Name) and len(statement.targets) == 1 and stored.count(target.id) == 1:
                try:
                    self.constants[target.id] = ast.literal_eval(statement.value)
                except ValueError:
                    pass

    def check(self, node, axis, offset):
        reach = (self.met if self.given else self.reach)[axis]
        reach[:] = min(reach[0], offset), max(reach[1], offset)
        if not self.given:
            return
        low, high = self.reach[axis]
        if not (isinstance(low, Later) or low <= offset) or not (isinstance(high, Later) or offset <= high):
            ends = " to ".join("a variable" if isinstance(end, Later) else str(end) for end in (low, high))
            self.fail(node, f"the index {offset} is outside the neighborhood {ends} of axis {axis}")

    @staticmethod
    def constant(node, value):
        """The number in place of what it was found by: a global that changes later changes neither it nor the reach."""
        return ast.copy_location(ast.Constant(value), node)

    def look_at(self, node, axis):
        """Notes how far an index of an axis reaches; gives the index to compile."""
        offset = self.offset(node)
        if offset is not None:
            self.check(node, axis, offset)
            return self.constant(node, offset)
        if not self.given:
            self.fail(node, "an index that is no constant: give stencil a neighborhood=((low, high), ...)")
        name = _NEAR.format(axis)
        self.near[name] = _near(axis, self.reach[axis])
        ends = [ast.Name(end.name, ast.Load()) if isinstance(end, Later) else ast.Constant(end)
                for end in self.reach[axis]]
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [node, *ends], []), node)

    def look_at_slice(self, node, axis):
        """Of a slice both ends: what lies between is inside the neighborhood; gives the slice to compile."""
        ends = [end and self.offset(end) for end in (node.lower, node.upper)]
        if not self.given:
            self.fail(node, "a slice of a stencil's array: give stencil a neighborhood=((low, high), ...)")
        if self.mapped:
            self.fail(node, "a slice goes with the mode 'constant': in others each neighbour is looked for by itself")
        step = self.offset(node.step) if node.step else 1
        if None in ends or ends[0] >= ends[1] or (step or 0) < 1:
            self.fail(node, "a slice of a stencil's array has constant ends, such as a[-1:2], and a step above 0")
        self.check(node, axis, ends[0])
        self.check(node, axis, ends[1] - 1)
        low, high = (self.constant(end, value) for end, value in zip((node.lower, node.upper), ends))
        return ast.Slice(low, high, node.step and self.constant(node.step, step))

    def moved(self, index, axis):
        """An index that counts from the place of the item."""
        if index is None:
            return None
        if isinstance(index, ast.Slice):
            return ast.Slice(self.moved(index.lower, axis), self.moved(index.upper, axis), index.step)
        return ast.BinOp(index, ast.Add(), ast.Name(_INDEX.format(axis), ast.Load()))

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.arrays:
            return node
        if not isinstance(node.ctx, ast.Load):
            self.fail(node, "a stencil does not assign to its arrays: return what is to stand here in the result")
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if self.ndim is None:
            self.ndim, self.reach = len(indices), [[0, 0] for _ in indices]
        if len(indices) != self.ndim:
            self.fail(node, f"here are {len(indices)} relative indices, elsewhere {self.ndim}: write one for each "
                            "axis, as in a[0, 1]; an array that is indexed as usual is named in standard_indexing")
        indices = [
            (self.look_at_slice if isinstance(index, ast.Slice) else self.look_at)(index, axis)
            for axis, index in enumerate(indices)
        ]
        moved = [self.moved(index, axis) for axis, index in enumerate(indices)]
        if self.mapped:
            moved = [
                ast.Call(ast.Name(_PLACE, ast.Load()), [index, ast.Name(_LENGTH.format(axis), ast.Load())], [])
                for axis, index in enumerate(moved)
            ]
        node.slice = moved[0] if self.ndim == 1 else ast.Tuple(moved, ast.Load())
        return node


def _unreadable(function, why="cannot be read"):
    return TypeError(f"the source of {function.__qualname__} {why}, and a stencil is made of it")


def _span(function):
    """Where the instructions of a function stand: (line, column) of the first and behind the last; None: not known."""
    places = [place for place in function.__code__.co_positions() if None not in place and place[2:] != (0, 0)]
    if not places:
        return None
    return min((first, low) for first, _, low, _ in places), max((last, high) for _, last, _, high in places)


def _lambda(function):
    """The definition that says the same as a lambda: the one of its file that stands where its instructions do."""
    lines, _ = inspect.findsource(function)
    found = [node for node in ast.walk(ast.parse("".join(lines))) if isinstance(node, ast.Lambda)]
    span, line = _span(function), function.__code__.co_firstlineno
    found = [
        node
        for node in found
        if (((node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)) == span)
        or (span is None and node.lineno == line)
    ]
    if len(found) != 1:
        raise _unreadable(function, "is not known to be one lambda of its file")
    node = ast.FunctionDef("stencil_kernel", found[0].args, [ast.Return(found[0].body)], [], None)
    if hasattr(node, "type_params"):
        node.type_params = []
    return ast.copy_location(node, found[0])


def _definition(function):
    try:
        if function.__name__ == "<lambda>":
            return _lambda(function)
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError):
        raise _unreadable(function) from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise TypeError("a stencil is made of a function that def or lambda defines")
    ast.increment_lineno(tree, first - 1)
    return node


def _kernel(function, standard_indexing, neighborhood, place=None):
    """The kernel with absolute indices, which come as further parameters; its relative arrays, their reach, and what
    constant indices reach in a given neighborhood.  With a function of places outside, the lengths of the axes are
    parameters, too, and at last the ends of the neighborhood that only a run tells."""
    node = _definition(function)
    names = [argument.arg for argument in node.args.args]
    unknown = set(standard_indexing) - set(names)
    if unknown or node.args.vararg or node.args.kwonlyargs or node.args.defaults:
        raise TypeError(
            f"standard_indexing names {sorted(unknown)}, which are no parameters"
            if unknown
            else "a stencil has positional parameters without defaults"
        )
    taken = {
        part.value.id for part in ast.walk(node) if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
    }
    arrays = [name for name in names if name in taken and name not in standard_indexing]
    if not arrays or names[0] != arrays[0]:
        raise TypeError(f"{function.__name__} never indexes its first parameter by a relative index, as in a[0] or "
                        "a[-1]: a stencil computes with neighbours of an item; without them use vectorize")
    relative = _Relative(function, arrays, neighborhood, place is not None)
    node.decorator_list = []
    relative.note_constants(node)
    relative.visit(node)
    node.args.args += [ast.arg(_INDEX.format(axis)) for axis in range(relative.ndim)]
    if place:
        node.args.args += [ast.arg(_LENGTH.format(axis)) for axis in range(relative.ndim)]
    node.args.args += [ast.arg(end.name) for end in later_of(relative.reach)]
    free = (*function.__code__.co_freevars, _PLACE, *relative.near)
    outer = ast.FunctionDef(
        "outer", ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, []), [node], [], None
    )
    if hasattr(outer, "type_params"):
        outer.type_params = []
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, function.__code__.co_filename, "exec")
    for _ in range(2):
        code = next(const for const in code.co_consts if isinstance(const, types.CodeType))
    cells = {**dict(zip(free, function.__closure__ or ())), _PLACE: types.CellType(place)}
    cells |= {name: types.CellType(near) for name, near in relative.near.items()}
    closure = tuple(cells[name] for name in code.co_freevars)
    kernel = types.FunctionType(code, function.__globals__, function.__name__, None, closure)
    return kernel, names, arrays, relative.reach, relative.met


def _options(options):
    try:
        return jit(**options)
    except TypeError as error:
        own = "stencil has no option", "its options are cval, neighborhood, standard_indexing and those of jit,"
        raise TypeError(str(error).replace("jit has no option", own[0]).replace("its options are", own[1])) from None


def _is_device_array(value):
    return type(value) is _krait.DeviceArray


def _overlap(value, out):
    """Whether these are arrays of a device some of whose memory may be the same."""
    if not _is_device_array(value) or not _is_device_array(out):
        return False
    from .cuda._copies import device_extents

    (low, high), (out_low, out_high) = device_extents(value), device_extents(out)
    return low < out_high and out_low < high


class Stencil:
    """A function of an item's neighbours, called with whole arrays; stencil makes it."""

    def __init__(self, function, mode, cval, neighborhood, standard_indexing, options):
        function = getattr(function, "py_func", function)
        functools.update_wrapper(self, function)
        self.kernel, self.mode, self.neighborhood = function, mode, neighborhood
        self._made_of = mode, cval, neighborhood, standard_indexing, options
        moved, *self._parts = _kernel(function, standard_indexing, neighborhood)
        maps, self._keeps_border = mode != "constant", cval is None
        self._cval = 0 if cval is None else cval
        self._space = {"_np": np, "_prange": prange, "_kernel": moved, "_cval": self._cval}
        if maps:
            self._space["_edge"] = _kernel(function, standard_indexing, neighborhood, _PLACES[mode])[0]
        # what compiled functions call
        text = loops(*self._parts, self._keeps_border, maps, function.__name__, self._cval)
        self.py_func = self._made(text)
        # what the kernel's own constants reach is inside; a neighborhood is the user's word, other arrays' indices, too
        checked = neighborhood is not None or bool(standard_indexing)
        self._compiled = _options({"boundscheck": checked, **options})(self.py_func)
        self._later = tuple(value.number for value in later_of((*self._parts[2], [self._cval])))
        self._on_device = {}  # whether a border is kept -> CUDA kernel

    def _made(self, text):
        name, space = f"<stencil {self.kernel.__qualname__}>", dict(self._space)
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        exec(compile(text, name, "exec"), space)
        function = space["stencil"]
        function.__name__ = function.__qualname__ = self.kernel.__name__
        return function

    def __call__(self, *args, out=None, stream=None):
        if _is_device_array(out) or any(map(_is_device_array, args)):
            return self._launch(args, out, stream or 0)
        if stream:
            raise TypeError(f"stream is for arrays on a device, and the stencil {self.kernel.__name__} has none: "
                            "copy them there by cuda.to_device(array, stream)")
        if out is None:
            return self._compiled(*args)
        return self._compiled(*args, out)

    def _launch(self, args, out, stream):
        """The same on the device, for arguments that lie there, in the order of this stream."""
        from . import cuda

        names, arrays, reach, _ = self._parts
        if len(args) != len(names):
            raise TypeError(f"{self.kernel.__name__} takes {len(names)} arguments, {len(args)} were given")
        shape = args[0].shape
        for name, value in zip(names, args):
            if name in arrays and getattr(value, "ndim", None) != len(reach):
                of = f"the stencil {self.kernel.__name__}"
                raise TypeError(f"{of} takes an array of {len(reach)} dimensions as {name}")
            if name in arrays and any(n < m for n, m in zip(value.shape, shape)):
                raise ValueError(f"{name} is smaller than {arrays[0]}: pass arrays of one shape")
        if out is not None and out.shape != shape:
            raise ValueError(f"out has another shape than {arrays[0]}: make it by cuda.device_array_like({arrays[0]})")
        if any(_overlap(value, out) for value in args):
            out.copy_to_device(self._launch(args, out.copy(stream=stream), stream), stream=stream)
            return out
        keeps = self._keeps_border and out is not None
        if keeps not in self._on_device:
            self._space["_grid"] = cuda.grid
            text = device_text(*self._parts[:3], keeps, self.mode != "constant")
            self._on_device[keeps] = cuda.jit(self._made(text))
        if out is None:
            out = cuda.device_array(shape, self._result_dtype(args), stream=stream)
        if self.mode == "constant" and not is_held(self._cval, out.dtype):
            raise TypeError(refusal(self._cval))
        if out.size:
            self._on_device[keeps].forall(out.size, stream=stream)(*args, out)
        return out

    def _result_dtype(self, args):
        """What the kernel gives, for arrays of these dtypes that are just large enough."""
        names, arrays, reach, _ = self._parts
        enough = tuple(max(0, -low) + max(0, high) + 1 for low, high in reach)
        sample = [
            np.zeros(enough if name in arrays else value.shape, value.dtype) if hasattr(value, "dtype") and np.ndim(
                value) else value
            for name, value in zip(names, args)
        ]
        return self._compiled(*sample).dtype

    def __repr__(self):
        return f"Stencil({self.kernel!r})"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        """By its name, where it is found by that; else by what it was made of, as a dispatcher goes."""
        place = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            place = getattr(place, name, None)
        return self.__qualname__ if place is self else (Stencil, (jit(self.kernel), *self._made_of))


def _end(end):
    return end if isinstance(end, Later) else int(end)


def stencil(func_or_mode="constant", *, cval=None, neighborhood=None, standard_indexing=(), **options):
    """Makes a function of an item's neighbours a function of whole arrays.

    mode: what a neighbour outside the array is.  'constant': the result there is cval, 0 by default; 'nearest': the
    nearest item; 'reflect': the item as far inside, as in a mirror at the edge; 'wrap': that of the other end.
    neighborhood: a pair (low, high) for
    each axis, where indices are no constants.  standard_indexing: arrays that are indexed as usual.  Options of jit,
    such as parallel, hold for the loops."""
    if isinstance(neighborhood, Later):
        raise TypeError("the neighborhood of a stencil made in compiled code is written as tuples, ((-w, w),), so "
                        "that its number of axes is known when the function is compiled")
    if neighborhood is not None:
        try:
            neighborhood = tuple((_end(low), _end(high)) for low, high in neighborhood)
        except (TypeError, ValueError):
            raise TypeError("neighborhood is a pair (low, high) for each axis, as in ((-1, 1),) or "
                            f"((-1, 1), (-1, 1)), not {neighborhood!r}") from None
    if cval is not None and not isinstance(cval, (int, float, complex, np.number, np.bool_, Later)):
        raise TypeError(f"cval is the number that stands at the border, as in cval=0.0, not {cval!r}")
    standard_indexing = (standard_indexing,) if isinstance(standard_indexing, str) else tuple(standard_indexing)

    mode = func_or_mode if isinstance(func_or_mode, str) else "constant"
    if mode not in ("constant", *_PLACES):
        raise ValueError(f"the mode of a stencil is 'constant', 'nearest', 'reflect' or 'wrap', not {mode!r}")
    if mode != "constant" and cval is not None:
        raise ValueError(f"cval is for the mode 'constant': in {mode!r} every item is computed")

    def decorate(function):
        return Stencil(function, mode, cval, neighborhood, standard_indexing, options)

    decorate._made_ahead = {}
    return decorate if isinstance(func_or_mode, str) else decorate(func_or_mode)


# compiled code has it called when it is compiled (src/frontend/made_ahead.c), with these in the place of what runs tell
stencil._made_ahead = {"cval": Later, "neighborhood": Later}
