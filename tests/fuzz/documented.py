"""The documented differences between compiled and interpreted code (docs/manual/types.md), recognised exactly.

A program is written once, with marks.  `compiled_form` takes the marks out: this is what the compiler gets.
`interpreted_form` turns every place where the manual says that compiled code differs into a call that does what the
manual says, or ends the run with `Differs`, where compiled code is free (an int left 64 bits, a float does not fit the
integer that C would convert it to).  What remains is compared without any tolerance.
"""

import ast
import dataclasses
import functools
import operator

import numpy as np

import oracle

INT64 = range(-(2**63), 2**63)
MOST = {str: 10**5, list: 2000, np.ndarray: 10**5}  # characters, items and elements


class Differs(BaseException):
    """From here on the manual lets compiled code differ; no program catches it."""

    last = None  # that was raised: a `finally` that raises something else loses it

    def __init__(self, text):
        super().__init__(text)
        Differs.last = self


class TooMuch(Differs):
    """Neither way of running comes to an end in reasonable time."""

    def __init__(self):
        super().__init__("a loop that makes too much of something")


def to_the_end(run):
    """What a run gives, unless anything in it differs as documented."""
    Differs.last = None
    result = run()
    if Differs.last:
        raise Differs.last
    return result


def overflows_dates(outcome):
    """From 2.5 on NumPy raises for dates and durations that int64 does not hold; those of compiled code wrap."""
    raised = isinstance(outcome, oracle.Raised) and outcome.kind is OverflowError
    return raised and str(outcome.error).startswith(("Overflow in ", "Overflow when converting between datetime64"))


def _wrap(value):
    """Python ints have 64 bits: what an operator gives wraps."""
    if type(value) is int and value not in INT64:
        return (value + 2**63) % 2**64 - 2**63
    return _watch(value)


def _watch(value):
    """What a function gives of Python ints may have no 64 bits: many raise then."""
    if type(value) is int and value not in INT64:
        raise Differs("an int beyond 64 bits")
    if type(value) in MOST and (value.size if type(value) is np.ndarray else len(value)) > MOST[type(value)]:
        raise TooMuch
    if type(value) in (tuple, list):
        for item in value:
            _watch(item)
    if type(value) in (set, dict):
        _keyed(tuple(value))
    return value


def _join(value, kind):
    """Where branches meet, a weak and a strong type join to the strong one, an int and a float to a float.  An int that
    does not fit raises where the variable is used."""
    try:
        return value if type(value) is kind else kind(value)
    except OverflowError:
        raise Differs("an int that does not fit the type of a join") from None


def _join_ways(value, kind, *ways):
    """A Python int that may be known when the function is compiled, and that the type cannot hold, counts as an int64:
    both ways of a conditional expression decide."""
    for way in ways:
        try:
            number = way()
        except Exception:
            continue
        if type(number) is int and np.dtype(kind).kind in "iu":
            info = np.iinfo(kind)
            if not info.min <= number <= info.max:
                raise Differs("an int that does not fit the type of a join")
    return _join(value, kind)


def _is_weak_real(value):
    return type(value) in (bool, int, float)


def _pow(base, exponent, constant=False):
    """int ** int is an int unless the exponent is a constant, and float ** float a float."""
    if isinstance(base, int) and isinstance(exponent, int) and not constant:
        if exponent < 0 and base:
            raise ValueError("an int to a negative power is a float, which the result of int ** int cannot be in "
                             "compiled code: make one operand a float")
        if exponent > 64:
            return _wrap(pow(int(base), exponent, 2**64))
    if _is_weak_real(base) and _is_weak_real(exponent) and base < 0 and np.isfinite([base, exponent]).all():
        if exponent != int(exponent):
            text = "a negative number to a fractional power is complex, which the result of float ** float cannot be "
            raise ValueError(text + "in compiled code: make one operand complex")
    value = operator.pow(base, exponent)
    return _easy_power(base, exponent, value) if constant else _wrap(value)


def _easy_power(base, exponent, value):
    """A float to the constant power 2, -1 or 0.5 is rounded correctly, as pow need not be."""
    kind = type(value)
    if exponent not in (2, -1, 0.5) or not isinstance(value, (float, np.floating)) or not np.isfinite(value):
        return _wrap(value)
    base = kind(base)
    return kind(base * base if exponent == 2 else kind(1) / base if exponent == -1 else np.sqrt(base + kind(0)))


def _ipow(base, exponent, constant=False):
    if not isinstance(base, np.ndarray):
        return _pow(base, exponent, constant)
    try:
        return operator.ipow(base, exponent)
    except ValueError as error:  # an integer to a negative power
        if "negative integer powers" in str(error):
            raise Differs("what is left of an array whose power raised") from None
        raise


def _round(value, digits=None):
    """NumPy rounds integers to tens by floats, and what does not fit is converted as C does."""
    if isinstance(value, np.integer) and digits is not None and abs(int(value)) > np.iinfo(value).max // 2:
        raise Differs("a float that does not fit an integer")
    return round(value) if digits is None else round(value, digits)


def _lshift(value, count):
    if isinstance(value, int) and isinstance(count, int) and count > 64:
        return 0
    return _wrap(value << count)


def _ilshift(value, count):
    return operator.ilshift(value, count) if isinstance(value, np.ndarray) else _lshift(value, count)


def _fits(value, dtype):
    """Whether C defines the conversion of a float, or of an array of floats, to an integer type."""
    value = np.asarray(value)
    if dtype.kind not in "iu" or value.dtype.kind not in "fc":
        return True
    info, whole = np.iinfo(dtype), np.trunc(value.real.astype(np.longdouble))
    return bool(np.all((whole >= info.min) & (whole <= info.max)))


def _cast(kind, value):
    """np.int8(x): of a float that does not fit, what C gives."""
    if isinstance(value, (np.floating, np.complexfloating)) and not _fits(value, np.dtype(kind)):
        raise Differs("a float that does not fit an integer")
    return kind(value)


def _python_int(value):
    """A Python int has to be made of the number."""
    if type(value) is np.uint64 and int(value) not in INT64:
        raise Differs("a uint64 that an int of 64 bits cannot hold")
    return value


def _whole(function, value, *more):
    """An int of a float that 64 bits cannot hold."""
    result = function(value, *more)
    if type(result) is int and result not in INT64 and isinstance(value, (float, np.floating)):
        raise OverflowError("cannot convert float to integer: an int of compiled code has 64 bits")
    return _watch(result)


def _sum(items, start=0):
    """Each partial sum is a value; that of no items is one of their type."""
    total, items = start, list(items)
    if not items and type(start) is int:
        raise Differs("the type of the sum of nothing")
    for item in items:
        total = _wrap(total + item)
    return total if type(total) is int else sum(items, start)


def _abs(value):
    """Of a complex NaN the interpreter looks at an error that an earlier function of C may have left."""
    abs(0j)
    return abs(value)


def _signed(value):
    """Nobody says which sign a NaN has that was computed."""
    if value != value:
        raise Differs("the sign of a NaN")
    return value


def _listed(items):
    """The array of an empty list has the type that the list's items would have."""
    if type(items) is list and not items:
        raise Differs("the dtype of an empty list")
    return items


def _stored(value, array, key=None):
    """array[key] = value: a float stored into an array of integers is converted as C does.  Values that a mask puts
    where they lie themselves are read before any is written, and an empty value fits an empty place or does not."""
    if type(array) is list and len(array) > MOST[list]:
        raise TooMuch
    masked = isinstance(key, np.ndarray) and key.dtype == bool and isinstance(value, np.ndarray)
    if masked and (np.may_share_memory(value, array) or (not value.size and value.ndim > 1)):
        raise Differs("what a mask puts where it lies itself, or nothing of many axes")
    if hasattr(array, "dtype") and isinstance(key, str):
        array = array[key]
    if hasattr(array, "dtype") and not isinstance(value, tuple) and not _fits(value, array.dtype):
        raise Differs("a float that does not fit an integer")
    return value


def _complex_ufunc(name, *values):
    """NumPy's own of complex numbers differ between processors in the last bit: theirs fuse multiplication and addition
    where they can.  Compiled code rounds each operation."""
    result = getattr(np, name)(*values)
    if not any(isinstance(value, (complex, np.complexfloating)) for value in values):
        return result
    if not all(np.isscalar(value) and np.isfinite(value) for value in values):
        return result
    if name == "absolute":
        real = type(result)
        return real(np.hypot(real(values[0].real), real(values[0].imag)))
    kind = type(result)
    part = type(result.real)
    a, b = (kind(values[0]), kind(values[-1]))
    with np.errstate(all="ignore"):
        real = part(a.real * b.real) - part(a.imag * b.imag)
        imag = part(a.real * b.imag) + part(a.imag * b.real)
    return kind(complex(real, imag))


def _has_both_zeros(*arrays):
    numbers = [array.astype(float).ravel() for array in map(np.asarray, arrays) if array.dtype.kind in "biuf"]
    signs = np.signbit(np.concatenate([np.empty(0), *(array[array == 0] for array in numbers)]))
    return signs.any() and not signs.all()


def _extreme(function, array, *more, **keywords):
    """The greatest or least of two arrays or of an array's elements: nobody says which of two zeros."""
    result = function(array, *more, **keywords)
    if (np.asarray(result) == 0).any() and _has_both_zeros(array, *more):
        raise Differs("which of two zeros is greater")
    return result


def _parts(value):
    """What is compared where it is; None: it is itself."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return value if isinstance(value, (list, tuple, set)) else None


def _has_nan(value):
    parts = _parts(value)
    return value != value if parts is None else any(map(_has_nan, parts))


def _held(value):
    """A NaN in what is compared equals itself for the interpreter, where it is one object."""
    if _parts(value) is not None and _has_nan(value):
        raise Differs("a NaN in what is compared")
    return value


def _sorted(items, **how):
    """What is sorted may hold NaN, but not in what it holds: there it may be equal to itself."""
    key = how.get("key") or (lambda item: item)

    def looked_at(item):
        value = key(item)
        if type(items) is set and _parts(value) is None and value != value:
            raise Differs("an order of sets")  # which it leaves as it is
        return value if type(value) is set else _held(value)

    return sorted(items, **{**how, "key": looked_at})


def _sortable(items):
    for item in items:
        _held(item)
    return items


def _range(*bounds):
    numbers = range(*bounds)
    if len(numbers) > 10**6:
        raise TooMuch
    return numbers


def _keyed(value):
    """What is put into a dict or a set, or looked for there."""
    if isinstance(value, (float, np.floating)) and value != value:
        raise Differs("a key that is NaN")
    if type(value) is tuple:
        for item in value:
            _keyed(item)
    return value


def _holds_strong(value):
    """Whether items are NumPy's numbers; None: there are none, and nobody knows what they would be."""
    if not isinstance(value, (list, tuple)):
        return isinstance(value, np.generic)
    found = [_holds_strong(item) for item in value]
    return True if True in found else None if not found or None in found else False


def _ordered(truth, *operands):
    """Of lists and tuples of NumPy's numbers `<` gives what it gives of the first two items that differ, a bool of
    NumPy's, or a bool of Python's if there are none: these join."""
    if not all(isinstance(one, (list, tuple)) for one in operands):
        return truth
    strong = [_holds_strong(one) for one in operands]
    if operands[0] is operands[1] and True in strong:
        raise Differs("the type of the order of a value and itself")
    if None in strong and True not in strong:
        raise Differs("the type of an order of empty lists")
    return np.bool_(truth) if True in strong else truth


def _picked(value, index):
    """The items of a tuple have one type where the index is not a constant."""
    return _alike(value)[index]


def _polyval(p, x):
    """The type of the result is not known by how many coefficients there are."""
    if np.size(p) == 0:
        raise Differs("the type of a polynomial without coefficients")
    return np.polyval(p, x)


def _alike(value):
    if isinstance(value, tuple) and len(set(map(type, value))) > 1:
        raise Differs("the common type of a tuple's items")
    return value


def _root(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _added(function, array, *more, **keywords):
    """A reduction of floats: where NumPy laid out a new array in other than C order, the last bits differ.  What
    adds up into an array of another shape may write anywhere: compiled code raises."""
    if function.__name__ in ("cumsum", "cumprod") and "out" in keywords:
        if np.shape(function(array, *more, **{**keywords, "out": None})) != np.shape(keywords["out"]):
            raise Differs("a running sum into an array of another shape")
    result = function(array, *more, **keywords)
    if isinstance(array, np.ndarray) and array.ndim > 1 and np.asarray(result).dtype.kind == "f":
        root = _root(array)
        if root.flags.owndata and not root.flags.c_contiguous:
            try:
                oracle.assert_same(function(np.array(array, order="C"), *more, **keywords), result)
            except AssertionError:
                raise Differs("the order of a sum") from None
    return result


COMPLEX_UFUNCS = ("absolute", "abs", "multiply", "square")
ELEMENTWISE_EXTREMES = ("maximum", "minimum", "fmax", "fmin")
EXTREMES = ("max", "min", "amax", "amin", "nanmax", "nanmin", "ptp")
ADDING = ("sum", "mean", "var", "std", "average", "nansum", "trace", "prod", "cumsum", "cumprod")
OF_PYTHON_INTS = ("gcd", "lcm", "comb", "perm", "factorial", "floor", "ceil", "trunc", "ldexp")
WHOLE = ("int", "round", "math.floor", "math.ceil", "math.trunc")
STORING = {"insert": 2, "put": 2, "put_along_axis": 2, "place": 2, "putmask": 2, "fill_diagonal": 1}  # argument
KEYED = ("add", "discard", "remove", "get", "pop", "setdefault")
KNOWN = (_wrap, _watch, _join, _join_ways, _pow, _ipow, _round, _lshift, _ilshift, _cast, _abs, _sum, _signed, _listed,
         _stored, _complex_ufunc, _python_int, _extreme, _added, _held, _sorted, _sortable, _whole, _picked,
         _keyed, _ordered, _range, _alike, _polyval)
HELPERS = {f.__name__: f for f in KNOWN}


def call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def is_join(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_join"


class Plain(ast.NodeTransformer):
    """Takes the marks out."""

    def visit_Call(self, node):
        self.generic_visit(node)
        return node.args[0] if is_join(node) else node

    def visit_Assign(self, node):
        mark = is_join(node.value)
        self.generic_visit(node)
        if mark and isinstance(node.value, ast.Name) and node.value.id == getattr(node.targets[0], "id", None):
            return None
        return node


WAYS_OUT = (ast.Return, ast.Raise, ast.Assert)


class Apart(ast.NodeTransformer):
    """Where the last conditional expression of a return, raise or assert is followed by little else, the interpreter's
    compiler makes two ways out of it, on which the types have not met; so it does, if asked (`before`), with that of
    a statement that a return or raise follows."""

    def __init__(self, before=False):
        self.before = before

    def visit_way_out(self, node):
        joins = [call for call in ast.walk(node) if is_join(call) and isinstance(call.args[0], ast.IfExp)]
        if joins:
            self.take_out(max(joins, key=lambda call: (call.end_lineno, call.end_col_offset, -call.col_offset)), node)
        return node

    visit_Return = visit_Raise = visit_Assert = visit_way_out

    def visit(self, node):
        for _, block in ast.iter_fields(node):
            if self.before and isinstance(block, list):
                for statement, following in zip(block, block[1:]):
                    if isinstance(following, WAYS_OUT):
                        self.visit_last(statement)
        return super().visit(node)

    def visit_last(self, statement):
        """What runs last of a statement, on each of its ways."""
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
            self.visit_way_out(statement)
        for block in (getattr(statement, name, None) for name in ("body", "orelse")):
            if isinstance(block, list) and block:
                self.visit_last(block[-1])
        for branch in (*getattr(statement, "cases", ()), *getattr(statement, "handlers", ())):
            self.visit_last(branch.body[-1])

    def take_out(self, join, where):
        choice = join.args[0]
        for parent in ast.walk(where):
            for field, value in ast.iter_fields(parent):
                if value is join:
                    setattr(parent, field, choice)
                elif isinstance(value, list):
                    value[:] = [choice if item is join else item for item in value]
        for branch in (choice.body, choice.orelse):
            if is_join(branch) and isinstance(branch.args[0], ast.IfExp):
                self.take_out(branch, choice)


def condition(node):
    """A condition as the interpreter's compiler jumps by it: each way of a conditional expression is asked for its own
    truth, and its type meets no other."""
    if is_join(node) and isinstance(node.args[0], ast.IfExp):
        node = node.args[0]
    if isinstance(node, ast.IfExp):
        node.body, node.orelse = condition(node.body), condition(node.orelse)
    elif isinstance(node, ast.BoolOp):
        node.values = [condition(value) for value in node.values]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.operand = condition(node.operand)
    return node


def by_jumps(tree):
    for node in ast.walk(tree):
        for field in ("test", "guard"):
            if getattr(node, field, None):
                setattr(node, field, condition(getattr(node, field)))
        if isinstance(node, ast.comprehension):
            node.ifs = [condition(test) for test in node.ifs]
    return tree


def is_constant(node):
    """As the interpreter's compiler folds it."""
    if isinstance(node, ast.BinOp):
        return is_constant(node.left) and is_constant(node.right)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and is_constant(node.operand))


class Documented(ast.NodeTransformer):
    """Calls the helpers above where the manual names a difference."""

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            return self.ordered(node)
        if not any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops):
            node.left, *node.comparators = [one if isinstance(one, ast.Constant) else call("_held", one)
                                            for one in (node.left, *node.comparators)]
        return node

    def ordered(self, node):
        """left < right, each computed once."""
        compare = ast.parse("lambda _x, _y: _ordered(_x < _y, _x, _y)", mode="eval").body
        compare.body.args[0].ops = node.ops
        left, right = (one if isinstance(one, ast.Constant) else call("_held", one)
                       for one in (node.left, *node.comparators))
        return ast.Call(compare, [left, right], [])

    def visit_watched(self, node):
        self.generic_visit(node)
        return call("_watch", node)

    visit_Set = visit_SetComp = visit_Dict = visit_DictComp = visit_watched

    def visit_Subscript(self, node):
        self.generic_visit(node)
        plain = isinstance(node.ctx, ast.Load) and not isinstance(node.slice, (ast.Slice, ast.Tuple))
        return call("_picked", node.value, node.slice) if plain and not is_constant(node.slice) else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if is_constant(node.left) and is_constant(node.right):
            return node  # the interpreter's compiler computes it
        if isinstance(node.op, ast.Pow):
            return call("_pow", node.left, node.right, ast.Constant(is_constant(node.right)))
        return call("_lshift", node.left, node.right) if isinstance(node.op, ast.LShift) else call("_wrap", node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return node if is_constant(node) else call("_wrap", node)

    def reduction(self, node):
        """f(x, ...) or x.f(...), looked at on the way; None: it is no reduction."""
        function = node.func
        if not isinstance(function, ast.Attribute) or any(isinstance(one, ast.Starred) for one in node.args):
            return None
        module = isinstance(function.value, ast.Name) and function.value.id in ("np", "math", "cmath", "operator")
        if (module and function.value.id != "np") or ast.unparse(function).startswith("cuda."):
            return None
        names = EXTREMES + ELEMENTWISE_EXTREMES if module else EXTREMES
        helper = "_extreme" if function.attr in names else "_added" if function.attr in ADDING else None
        if not helper:
            return None
        method = f"lambda _x, *a, **k: _x.{function.attr}(*a, **k)"
        call_of = function if module else ast.parse(method, mode="eval").body
        arguments = node.args if module else [function.value, *node.args]
        return ast.Call(ast.Name(helper, ast.Load()), [call_of, *arguments], node.keywords)

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        node.args = [call("_watch", one) if isinstance(one, ast.BinOp) and is_constant(one) else one
                     for one in node.args]
        if is_join(node) and isinstance(node.args[0], ast.IfExp):
            ways = [ast.Lambda(ast.parse("lambda: 0", mode="eval").body.args, way)
                    for way in (node.args[0].body, node.args[0].orelse)]
            return call("_watch", call("_join_ways", *node.args, *ways))
        if isinstance(function, ast.Name) and function.id in ("max", "min", "list", "sorted", "set") and node.args:
            node.args = [call("_alike", node.args[0]), *node.args[1:]]
        if isinstance(function, ast.Name) and function.id == "sorted":
            function.id = "_sorted"
        if isinstance(function, ast.Attribute) and function.attr in ("index", "count", "remove"):
            function.value = call("_held", function.value)
        of_module = isinstance(function, ast.Attribute) and ast.unparse(function.value) == "np"
        if isinstance(function, ast.Attribute) and function.attr == "sort" and not of_module:
            function.value = call("_sortable", function.value)
        if isinstance(function, ast.Attribute) and function.attr in ("append", "extend", "insert") and not of_module:
            function.value = call("_watch", function.value)
        if isinstance(function, ast.Attribute) and function.attr in KEYED and node.args:
            node.args[0] = call("_keyed", node.args[0])
        reduction = self.reduction(node)
        if reduction:
            return call("_watch", reduction)
        if isinstance(function, ast.Attribute) and function.attr in OF_PYTHON_INTS:
            node.args = [call("_python_int", one) for one in node.args]
        if isinstance(function, ast.Name) and function.id == "range":
            node.args = [call("_python_int", one) for one in node.args]
            function.id = "_range"
        if isinstance(function, ast.Attribute) and function.attr in ("copysign", "signbit"):
            node.args[-1] = call("_signed", node.args[-1])
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "np":
            kind = getattr(np, function.attr)
            if isinstance(kind, type) and issubclass(kind, np.integer) and kind is not np.timedelta64:
                return call("_cast", function, *node.args)
            if function.attr in ("array", "asarray"):
                node.args[0] = call("_listed", node.args[0])
            if function.attr == "polyval":
                return call("_watch", call("_polyval", *node.args))
            if function.attr in STORING and len(node.args) > STORING[function.attr]:
                place = STORING[function.attr]
                node.args[place] = call("_stored", node.args[place], node.args[0])
            if function.attr in COMPLEX_UFUNCS and not node.keywords:
                return call("_complex_ufunc", ast.Constant(kind.__name__), *node.args)
        whole = ast.unparse(function) in WHOLE and node.args
        if isinstance(function, ast.Name) and function.id == "round":
            function.id = "_round"
        if whole:
            return call("_whole", function, *node.args)
        if isinstance(function, ast.Name) and function.id == "pow" and len(node.args) == 2:
            return call("_pow", *node.args, ast.Constant(is_constant(node.args[1])))
        if isinstance(function, ast.Name) and function.id in ("sum", "abs"):
            return call("_wrap", call("_" + function.id, *node.args))
        return call("_watch", node)

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            array = ast.parse(ast.unparse(target.value), mode="eval").body
            twice = any(isinstance(one, (ast.Slice, ast.Call)) for one in ast.walk(target.slice))
            key = [] if twice else [target.slice]
            node.value = call("_stored", node.value, array, *key)
        return node

    def in_steps(self, node):
        """array[place] += value as what it means, so that what is stored is seen."""
        target, array = ast.unparse(node.target), ast.unparse(node.target.value)
        steps = ast.parse(f"_item = {target}\n_item += 0\n{target} = _stored(_wrap(_item), {array})").body
        steps[1].op, steps[1].value = node.op, node.value
        return steps

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            if isinstance(node.op, ast.Pow):
                old = ast.parse(ast.unparse(node.target), mode="eval").body
                return ast.Assign([node.target], call("_ipow", old, node.value, ast.Constant(is_constant(node.value))))
            once = any(isinstance(one, ast.Call) for one in ast.walk(node.target))  # what it gives another time is new
            return self.in_steps(node) if isinstance(node.target, ast.Subscript) and not once else node
        name = ast.Name(node.target.id, ast.Load())
        if isinstance(node.op, ast.Pow):
            return ast.Assign([node.target], call("_ipow", name, node.value, ast.Constant(is_constant(node.value))))
        if isinstance(node.op, ast.LShift):
            return ast.Assign([node.target], call("_ilshift", name, node.value))
        return [node, ast.Assign([node.target], call("_wrap", name))]


def render(tree):
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@functools.lru_cache(1)
def compiled_form(source):
    tree = Plain().visit(ast.parse(source))
    for node in ast.walk(tree):  # a block of which only a mark was left
        for field in ("body",):
            if isinstance(getattr(node, field, None), list) and not getattr(node, field):
                setattr(node, field, [ast.Pass()])
    return render(tree)


def interpreted_forms(source):
    """One for every way in which types may meet."""
    trees = [by_jumps(ast.parse(source))]
    if "_join(" in source:
        trees += [way.visit(by_jumps(ast.parse(source))) for way in (Apart(), Apart(before=True))]
    return list(dict.fromkeys(render(Documented().visit(tree)) for tree in trees))
