"""stencil: a function of an item's neighbours becomes a function of whole arrays.

In: a kernel, in which a[-1, 0] is the item one row up.  Out: a Stencil, whose call gives a new array.

The kernel's source is read again and its relative indices become absolute: a[-1, 0] is a[i - 1, j].  How far they reach
says how wide the border is, where there is no kernel to compute and the result is cval.  Around the kernel comes a
nest of loops, written here as text; both are ordinary functions that jit compiles, and that compiled functions call.
"""

import ast
import functools
import inspect
import linecache
import textwrap
import types

import numpy as np

from . import jit, prange

_INDEX = "_stencil_index{}"


class _Relative(ast.NodeTransformer):
    """Adds the place of the item to relative indices, and notes how far they reach: a list of (low, high)."""

    def __init__(self, function, arrays, neighborhood):
        self.function, self.arrays, self.given = function, arrays, neighborhood
        self.reach = [list(pair) for pair in neighborhood] if neighborhood else None
        self.ndim = len(neighborhood) if neighborhood else None

    def fail(self, node, text):
        error = SyntaxError(text)
        error.filename, error.lineno = self.function.__code__.co_filename, node.lineno
        raise error

    def offset(self, node):
        if any(isinstance(part, (ast.Slice, ast.Starred)) for part in ast.walk(node)):
            self.fail(node, "an index of a stencil's array is a number for each axis, no slice")
        try:
            names = inspect.getclosurevars(self.function)
            text = compile(ast.Expression(node), "<index>", "eval")
            value = eval(text, {**names.globals, **names.nonlocals})
        except Exception:
            return None
        if not isinstance(value, (int, np.integer)):
            self.fail(node, f"the index {value!r} is no int")
        return int(value)

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.arrays:
            return node
        if not isinstance(node.ctx, ast.Load):
            self.fail(node, "a stencil does not assign to its arrays")
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if self.ndim is None:
            self.ndim, self.reach = len(indices), [[0, 0] for _ in indices]
        if len(indices) != self.ndim:
            self.fail(node, f"here are {len(indices)} relative indices, elsewhere {self.ndim}")
        for axis, index in enumerate(indices):
            offset = self.offset(index)
            if offset is not None:
                low, high = self.reach[axis]
                if self.given and not low <= offset <= high:
                    self.fail(node, f"the index {offset} is outside the neighborhood {low} to {high} of axis {axis}")
                self.reach[axis] = [min(low, offset), max(high, offset)]
            elif not self.given:
                self.fail(node, "an index that is no constant: give stencil a neighborhood=((low, high), ...)")
        moved = [
            ast.BinOp(index, ast.Add(), ast.Name(_INDEX.format(axis), ast.Load()))
            for axis, index in enumerate(indices)
        ]
        node.slice = moved[0] if self.ndim == 1 else ast.Tuple(moved, ast.Load())
        return node


def _definition(function):
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        raise TypeError(f"the source of {function.__qualname__} cannot be read, and a stencil is made of it") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise TypeError("a stencil is made of a function that def defines")
    ast.increment_lineno(tree, first - 1)
    return node


def _kernel(function, standard_indexing, neighborhood):
    """The kernel with absolute indices, which come as further parameters; its relative arrays and their reach."""
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
        raise TypeError("the first parameter of a stencil is an array with relative indices")
    relative = _Relative(function, arrays, neighborhood)
    node.decorator_list = []
    relative.visit(node)
    node.args.args += [ast.arg(_INDEX.format(axis)) for axis in range(relative.ndim)]
    free = function.__code__.co_freevars
    outer = ast.FunctionDef(
        "outer", ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, []), [node], [], None
    )
    if hasattr(outer, "type_params"):
        outer.type_params = []
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, function.__code__.co_filename, "exec")
    for _ in range(2):
        code = next(const for const in code.co_consts if isinstance(const, types.CodeType))
    cells = dict(zip(free, function.__closure__ or ()))
    closure = tuple(cells[name] for name in code.co_freevars)
    kernel = types.FunctionType(code, function.__globals__, function.__name__, None, closure)
    return kernel, names, arrays, relative.reach


def _loops(names, arrays, reach, keeps_border):
    """The text of the function of whole arrays."""
    first, ndim = arrays[0], len(reach)
    args, axes = ", ".join(names), range(ndim)
    index = [f"_i{axis}" for axis in axes]
    lowest = [str(max(0, -low)) for low, _ in reach]
    enough = ", ".join(str(max(0, -low) + max(0, high) + 1) for low, high in reach)
    small = {name: f"_np.zeros(({enough},), {name}.dtype)" for name in arrays}
    lines = [f"def stencil({args}, out=None):"]
    for axis, (low, high) in enumerate(reach):
        lines += [
            f"    _n{axis} = {first}.shape[{axis}]",
            f"    _low{axis} = min({max(0, -low)}, _n{axis})",
            f"    _high{axis} = max(_n{axis} - {max(0, high)}, _low{axis})",
        ]
    for name in arrays[1:]:
        for axis in axes:
            lines += [
                f"    if {name}.shape[{axis}] < _n{axis}:",
                f"        raise ValueError('{name} is smaller than {first}, whose neighbours it is asked for')",
            ]
    lines += [
        "    if out is None:",
        "        if " + " and ".join(f"_low{axis} < _high{axis}" for axis in axes) + ":",
        f"            _item = _kernel({args}, " + ", ".join(f"_low{axis}" for axis in axes) + ")",
        "        else:  # too small: of arrays just large enough, for the type of what the kernel gives",
        f"            _item = _kernel({', '.join(small.get(name, name) for name in names)}, {', '.join(lowest)})",
        f"        _result = _np.empty({first}.shape, _np.full(1, _item).dtype)",
        "    else:",
        "        _result = out",
    ]
    indent = "    "
    for axis in axes:
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
    lines += [f"{indent}_result[{', '.join(index)}] = _kernel({args}, {', '.join(index)})", "    return _result"]
    return "\n".join(lines) + "\n"


class Stencil:
    """A function of an item's neighbours, called with whole arrays; stencil makes it."""

    def __init__(self, function, cval, neighborhood, standard_indexing, options):
        functools.update_wrapper(self, function)
        self.kernel, self.neighborhood = function, neighborhood
        moved, names, arrays, reach = _kernel(function, standard_indexing, neighborhood)
        text, name = _loops(names, arrays, reach, cval is None), f"<stencil {function.__qualname__}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        space = {"_np": np, "_prange": prange, "_kernel": moved, "_cval": 0 if cval is None else cval}
        exec(compile(text, name, "exec"), space)
        self.py_func = space["stencil"]  # what compiled functions call
        self.py_func.__name__ = self.py_func.__qualname__ = function.__name__
        # what the kernel's own constants reach is inside; a neighborhood is the user's word
        self._compiled = jit(boundscheck=neighborhood is not None, **options)(self.py_func)

    def __call__(self, *args, out=None):
        return self._compiled(*args) if out is None else self._compiled(*args, out)

    def __repr__(self):
        return f"Stencil({self.kernel!r})"


def stencil(func_or_mode="constant", *, cval=None, neighborhood=None, standard_indexing=(), **options):
    """Makes a function of an item's neighbours a function of whole arrays.

    cval: what the result has where a neighbour would be outside, 0 by default.  neighborhood: a pair (low, high) for
    each axis, where indices are no constants.  standard_indexing: arrays that are indexed as usual.  Options of jit,
    such as parallel, hold for the loops."""
    if neighborhood is not None:
        neighborhood = tuple((int(low), int(high)) for low, high in neighborhood)
    standard_indexing = (standard_indexing,) if isinstance(standard_indexing, str) else tuple(standard_indexing)

    def decorate(function):
        return Stencil(getattr(function, "py_func", function), cval, neighborhood, standard_indexing, options)

    if not isinstance(func_or_mode, str):
        return decorate(func_or_mode)
    if func_or_mode != "constant":
        raise ValueError(f"the mode of a stencil is 'constant', not {func_or_mode!r}")
    return decorate
