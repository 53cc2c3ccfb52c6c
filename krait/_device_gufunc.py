"""Calls of guvectorize(target='cuda') functions: a kernel with a thread for each call of the function.

In: operands as NumPy takes them, or on the device.  Out: results, on the device if any operand is.  Shapes are matched
here; the kernel, one for each number of outer dimensions, is written as text: it finds its place in the outer
dimensions, and calls the function with views of the operands there, which broadcast by index.

Where the core dimensions are long, several threads, the lanes, call the function for one place: if its outermost loop
has independent iterations they share these (pass core_loops), else the first one does it all.
"""

import inspect
import re

import numpy as np

from . import _krait, cuda
from ._core_axes import Places
from .prelude.intrinsics import core_spreads

_THREADS = 128
_LANES = 32  # next to each other in memory
_OF_KERNELS = {"fastmath", "promotion", "cache", "boundscheck"}  # options
_ENOUGH = 1 << 18  # threads for a GPU


def _layout(text):
    """The names of the core dimensions of each input and of each result."""
    sides = text.replace(" ", "").replace("?", "").split("->")
    inputs, results = (
        [[dim for dim in operand.split(",") if dim] for operand in re.findall(r"\(([^)]*)\)", side)] for side in sides
    )
    return inputs, results


def _missing(text, inputs, ndims):
    """The optional dimensions that are not there: an input with too few has none of its own."""
    optional, missing = set(re.findall(r"(\w+)\?", text)), set()
    for dims, ndim in zip(inputs, ndims):
        if ndim < len(dims):
            missing |= optional.intersection(dims)
    return missing


def _with_axes(array, dims, missing):
    """The array with an axis of length one for each core dimension that is not there."""
    shape = list(array.shape)
    for place, dim in zip(range(-len(dims), 0), dims):
        if dim in missing:
            shape.insert(len(shape) + place + 1, 1)
    if len(shape) == len(array.shape):
        return array
    return (array if array.is_c_contiguous() else array.copy()).reshape(tuple(shape))


def _without(shape, dims, missing):
    """The shape of an operand as a caller sees it."""
    split = len(shape) - len(dims)
    return shape[:split] + tuple(size for dim, size in zip(dims, shape[split:]) if dim not in missing)


def _arrays_of_one(gufunc, loop):
    """The inputs without core dimensions that the loop's signature declares as arrays nevertheless."""
    signatures = gufunc._signatures or []
    if loop >= len(signatures):
        return set()
    return {k for k, kind in enumerate(signatures[loop].args) if getattr(kind, "ndim", 0)}


def core_function(gufunc):
    """What is called for each place: the function, with the types that it declares of its variables."""
    declared = gufunc.targetoptions.get("locals")
    return _krait._compiled(gufunc.py_func, locals=declared) if declared else gufunc.py_func


def _operand(value):
    if cuda.is_cuda_array(value):
        return cuda.as_cuda_array(value)
    return value if isinstance(value, (int, float, complex)) else np.asarray(value)


def _fits(value, kind, casting):
    """Whether NumPy would give an operand to a loop that takes this type; Python's numbers have a kind, but no size."""
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        return np.result_type(kind, value) == kind
    return np.can_cast(np.asarray(value).dtype if isinstance(value, bool) else value.dtype, kind, casting)


def _asked(nin, nout, dtype, signature):
    """The dtype that each operand of the loop is to have, or None: any; of all of them, where nothing is asked for."""
    if dtype is not None and signature is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    if dtype is not None:
        signature = (*[None] * nin, *[dtype] * nout)
    if signature is None:
        return None
    kinds = signature.replace("->", "") if isinstance(signature, str) else tuple(signature)
    if len(kinds) != nin + nout:
        raise ValueError(f"a signature has the types of {nin} inputs and {nout} results, not of {len(kinds)} operands")
    return [None if kind is None else np.dtype(kind) for kind in kinds]


def _choose(gufunc, operands, asked, casting):
    """The number of a loop, and the dtypes of its inputs and results: of the one with just these inputs, else of the
    first that they convert to safely, as NumPy chooses; where dtypes are asked for, of the first that has them."""
    rules = ("equiv",) if casting in ("no", "equiv") else ("equiv", "safe")
    for rule in rules if asked is None else (casting,):
        for number, loop in enumerate(gufunc.types):
            dtypes = [np.dtype(kind) for kind in loop.replace("->", "")]
            if any(wish is not None and wish != kind for wish, kind in zip(asked or (), dtypes)):
                continue
            if all(_fits(value, kind, rule) for value, kind in zip(operands, dtypes)):
                return number, dtypes
    have = ", ".join(str(getattr(value, "dtype", type(value).__name__)) for value in operands)
    wish = f" that is {[kind and kind.name for kind in asked]}, by the casting rule '{casting}'" if asked else ""
    raise TypeError(f"{gufunc.__name__} has no loop for operands of the types {have}{wish}")


def _match(layout, shapes, name):
    """Sizes of the core dimensions, and the outer shape of all operands together."""
    sizes, outer = {}, []
    for number, (dims, shape) in enumerate(zip(layout, shapes)):
        if shape is None:
            continue
        if len(shape) < len(dims):
            raise ValueError(f"{name}: operand {number} has {len(shape)} dimensions, the layout {len(dims)}")
        split = len(shape) - len(dims)
        for dim, size in zip(dims, shape[split:]):
            wanted = int(dim) if dim.isdigit() else sizes.setdefault(dim, size)
            if size != wanted:
                raise ValueError(f"{name}: core dimension {dim} of operand {number} has size {size}, not {wanted}")
        outer.append(shape[:split])
    return sizes, np.broadcast_shapes(*outer)


def _write(ndim, inputs, results, outer, ones, lanes):
    """The kernel's text; outer: how many outer dimensions each operand has; ones: which numbers are arrays of one;
    lanes: whether several threads call the function for one place."""
    names = [f"a{k}" for k in range(len(outer))]
    sizes = [f"n{axis}" for axis in range(ndim)]
    lines = [f"def gufunc({', '.join(['count', *sizes, *names])}):"]
    if lanes:
        lines += ["    lane, first = cuda.grid(2)", "    alone = not core_spreads()"]
        lines += ["    if alone and lane > 0:", "        return"]
        lines.append("    for place in range(first, count, cuda.gridsize(2)[1]):")
    else:
        lines += ["    place = cuda.grid(1)", "    if place < count:"]
    for axis in reversed(range(ndim)):
        lines += [f"        i{axis} = place % n{axis}", f"        place //= n{axis}"]
    views = []
    for k, (name, own, dims) in enumerate(zip(names, outer, [*inputs, *results])):
        index = [f"i{ndim - own + axis} if {name}.shape[{axis}] != 1 else 0" for axis in range(own)]
        if not dims and (k >= len(inputs) or k in ones):
            lines.append(f"        j{k} = {index[-1]}")
            index[-1] = f"j{k}:j{k} + 1"
        views.append(f"{name}[{', '.join(index)}]" if index else name if dims else f"{name}[()]")
    lines.append(f"        function({', '.join(views)})")
    return "\n".join(lines) + "\n"


def _kernel(gufunc, ndim, inputs, results, outer, ones, lanes):
    cache, key = getattr(gufunc, "_kernels", None), (ndim, *outer, *sorted(ones), lanes)
    if cache is None:
        cache = gufunc._kernels = {}
    if key not in cache:
        space = {"cuda": cuda, "function": core_function(gufunc), "core_spreads": core_spreads}
        text = _write(ndim, inputs, results, outer, ones, lanes)
        exec(compile(text, f"<guvectorize {gufunc.__name__}>", "exec"), space)
        options = {name: value for name, value in gufunc.targetoptions.items() if name in _OF_KERNELS}
        cache[key] = cuda.jit(**options)(space["gufunc"])
    return cache[key]


def _lanes(gufunc, count, length):
    """How many threads call the function for each of `count` places, where the longest core dimension has a length."""
    if length < _LANES or gufunc.targetoptions.get("writable_args"):
        return 1
    host = cuda.get_current_device().is_host
    enough = 4 * _krait.get_num_threads() if host else _ENOUGH
    lanes = 1 if host else _LANES
    while lanes < length and count * lanes < enough:
        lanes *= 2
    return lanes


def _grid(count, lanes, most=_THREADS):
    """Blocks and threads, along x the lanes; most: threads of a block."""
    threads = min(_THREADS, most)
    if lanes == 1:
        return (count + threads - 1) // threads, threads
    along = min(lanes, 1 << threads.bit_length() - 1)
    beside = threads // along
    return (lanes // along, min((count + beside - 1) // beside, 65535)), (along, beside)


def _reach(array):
    """The first byte of an array in memory, and the one behind its last."""
    start = array.device_ctypes_pointer.value or 0
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides)]
    return start + sum(min(0, step) for step in steps), start + sum(max(0, step) for step in steps) + array.itemsize


def _overlap(one, other):
    if 0 in one.shape or 0 in other.shape:
        return False
    (low, high), (first, last) = _reach(one), _reach(other)
    return low < last and first < high


def _begun(target, shape, dtype, stream):
    """An array for a result, with what the given one holds: a core function may leave items as they are."""
    if target is None or target.shape != shape or target.dtype != dtype:
        return cuda.device_array(shape, dtype, stream=stream)
    host = np.asarray(target)
    return cuda.to_device(np.array(host, order="C"), stream=stream)


_NOT_GIVEN = object()


def call(gufunc, *args, out=None, stream=0, axes=_NOT_GIVEN, axis=_NOT_GIVEN, keepdims=False, **others):
    loop = {"dtype": None, "signature": None, "casting": "same_kind"}
    for name in others.keys() - loop.keys():
        raise TypeError(
            f"{gufunc.__name__} of target 'cuda' takes the keywords out, stream, axes, axis, keepdims, "
            f"{', '.join(loop)}, not {name}"
        )
    loop.update(others)
    inputs, results = _layout(gufunc.signature)
    nin, nout = len(inputs), len(results)
    given = [*args[nin:], *(out if isinstance(out, tuple) else () if out is None else (out,))]
    if len(args) < nin or len(given) not in (0, nout):
        raise TypeError(f"{gufunc.__name__} takes {nin} inputs and, if any, {nout} results, not {len(args)} operands")
    given = given or [None] * nout
    casting = loop["casting"]
    how = stream, _asked(nin, nout, loop["dtype"], loop["signature"]), casting
    np.can_cast(int, int, casting)  # a rule that there is not is an error
    with _krait.home_of(*args[:nin], *given):
        if axes is _NOT_GIVEN and axis is _NOT_GIVEN and keepdims is False:
            return _run(gufunc, inputs, results, args[:nin], given, *how)
        if axes is None:
            raise TypeError("axes should be a list.")
        if axis is None:
            raise TypeError("'NoneType' object cannot be interpreted as an integer")
        chosen = (None if keyword is _NOT_GIVEN else keyword for keyword in (axes, axis))
        return _run_along(gufunc, inputs, results, args[:nin], given, how, *chosen, keepdims)


def _run_along(gufunc, inputs, results, args, given, how, axes, axis, keepdims):
    """A call whose core dimensions are not the last ones, or stay as dimensions of one item."""
    nin = len(inputs)
    operands = [_operand(value) for value in args]
    missing = _missing(gufunc.signature, inputs, map(np.ndim, operands))
    there = [[[dim for dim in dims if dim not in missing] for dims in side] for side in (inputs, results)]
    places = Places(gufunc, *there, axes, axis, keepdims)
    targets = [value if value is None or isinstance(value, np.ndarray) else _operand(value) for value in given]
    moved = [places.operand(number, value) for number, value in enumerate([*operands, *targets])]
    made = _run(gufunc, inputs, results, moved[:nin], moved[nin:], *how)
    made = made if isinstance(made, tuple) else (made,)
    seen = [
        places.result(nin + number, value) if target is None else target
        for number, (value, target) in enumerate(zip(made, targets))
    ]
    return seen[0] if len(seen) == 1 else tuple(seen)


def _run(gufunc, inputs, results, args, given, stream, asked, casting):
    nin, nout = len(inputs), len(results)
    operands = [_operand(value) for value in args]
    targets = [value if value is None or isinstance(value, np.ndarray) else _operand(value) for value in given]
    loop, dtypes = _choose(gufunc, operands, asked, casting)
    ones = {k for k in _arrays_of_one(gufunc, loop) if k < nin and not inputs[k]}
    shapes = [*map(np.shape, operands), *(None if value is None else value.shape for value in targets)]
    missing = _missing(gufunc.signature, inputs, map(len, shapes))
    there = [[dim for dim in dims if dim not in missing] for dims in (*inputs, *results)]
    sizes, outer = _match(there, shapes, gufunc.__name__)
    sizes.update(dict.fromkeys(missing, 1))
    on_device = any(cuda.is_cuda_array(value) for value in (*operands, *targets))
    arrays = []
    for value, dtype in zip(operands, dtypes):
        if cuda.is_cuda_array(value) and value.dtype == dtype:
            arrays.append(value)
        else:
            host = np.asarray(value)
            arrays.append(cuda.to_device(np.array(host, dtype), stream=stream))
    made = []
    for dims, target, dtype in zip(results, targets, dtypes[nin:]):
        try:
            shape = outer + tuple(int(dim) if dim.isdigit() else sizes[dim] for dim in dims)
        except KeyError as error:
            raise ValueError(f"{gufunc.__name__}: no operand says the size of core dimension {error}") from None
        seen = _without(shape, dims, missing)
        if target is not None and not np.can_cast(dtype, target.dtype, casting):
            raise TypeError(f"{gufunc.__name__}: a result is {dtype}, which does not go into {target.dtype}")
        if target is not None and target.shape != seen:
            raise ValueError(f"{gufunc.__name__}: a result has the shape {seen}, not {target.shape}")
        fits = target is not None and cuda.is_cuda_array(target) and target.dtype == dtype and seen == shape
        fits = fits and not any(_overlap(target, array) for array in (*arrays, *made))
        made.append(target if fits else _begun(target, shape, dtype, stream))
    count = int(np.prod(outer, dtype=np.int64))
    if count:
        # a number needs an axis to be written through
        passed = [_with_axes(array, dims, missing) for dims, array in zip(inputs, arrays)]
        passed = [array.reshape(1) if k in ones and not array.shape else array for k, array in enumerate(passed)]
        passed += [array if dims or outer else array.reshape(1) for dims, array in zip(results, made)]
        places = [len(array.shape) - len(dims) for dims, array in zip([*inputs, *results], passed)]
        shape = outer if outer or (all(results) and not ones) else (1,)
        lanes = _lanes(gufunc, count, max((sizes.get(dim, 1) for dims in results for dim in dims), default=1))
        kernel = _kernel(gufunc, len(shape), inputs, results, tuple(places), ones, lanes > 1)
        kernel[(*_grid(count, lanes, gufunc.max_blocksize), stream)](count, *shape, *passed)
    names = list(inspect.signature(gufunc.py_func).parameters)
    for which in gufunc.targetoptions.get("writable_args", ()):
        number = names.index(which) if isinstance(which, str) else which
        if isinstance(operands[number], np.ndarray):
            operands[number][...] = np.asarray(arrays[number])
    for number, (target, array, dims) in enumerate(zip(targets, made, results)):
        array = array.reshape(_without(array.shape, dims, missing)) if missing else array
        if target is None:
            made[number] = array if on_device else np.asarray(array)[()]
        elif array is not target:
            host = np.asarray(array)
            if isinstance(target, np.ndarray):
                target[...] = host
            else:
                target.copy_to_device(host.astype(target.dtype))
            made[number] = target
    return made[0] if nout == 1 else tuple(made)
