"""Random kernels, and their comparison with a simulation: on the host device, or on a GPU with every option.

What is computed is the same on every device: integers, and floats by operations whose results are exact or rounded
once, also where a GPU fuses a multiplication with an addition.
"""

import ast
import operator
import random
import warnings

import numpy as np

import documented
import expressions
import kinds
import oracle
from documented import HELPERS, Differs, Documented, _watch, _wrap, call, compiled_form, is_constant, render
from expressions import Routine, fitting
from functions import Program, load, refusal
from kinds import Array
from simulation import ATOMICS, BITS, Launch, Missed, Racy, Yields
from statements import Statements
from together import write_divergent, write_exchange, write_local, write_tree, write_warp

from krait import cuda, errors

ARITHMETIC = ("({} + {})", "({} - {})", "({} * {})", "({} // ({} | 1))", "({} % ({} | 1))", "({} // 3)", "({} % 5)")
EXACT = ("({} + 1)", "({} * 2)", "({} * 0.5)", "({} / 4)", "abs({})", "(-{})", "math.floor({})", "math.isnan({})",
         "np.sign({})", "np.floor({})", "np.minimum({}, {})", "np.maximum({}, {})", "np.signbit({})", "np.trunc({})",
         "np.square({} & 15)", "(~{})", "(not {})")
BITS_OF = ("cuda.popc({})", "cuda.clz({})", "cuda.ffs({})", "cuda.brev({})")
PARTS = ("({}).real", "({}).imag", "np.conjugate({})", "complex({}, {})")
# what devices round alike of complex numbers
OF_COMPLEX = {"({} + {})", "({} - {})", "({} + 1)", "({} * 2)", "({} * 0.5)", "(-{})", "(not {})", "({} == {})",
              "({} != {})", *PARTS, *expressions.CONVERSIONS}
ITEMS = kinds.OF_KERNELS
RECORD = np.dtype([("a", np.int32), ("b", np.float64), ("c", np.uint8), ("d", np.int16, 3), ("e", np.float16),
                   ("f", np.complex64), ("g", [("x", np.float32), ("y", np.int8)])], align=True)
FIELDS = {'["a"]': np.int32, '["b"]': np.float64, '["c"]': np.uint8, '["d"]': np.int16, '["e"]': np.float16,
          '["f"]': np.complex64, '["g"]["x"]': np.float32, '["g"]["y"]': np.int8}
kinds.MODULES["cuda"] = BITS  # what expressions are tried with


ATOMIC = (*kinds.INTS, *kinds.FLOATS)
WITH_MEMORY = ("atomic", "own", "own_atomic", "record")
WHOLE = {"int({})": int, **expressions.WHOLE}
SHIFTS = ("({} << {})", "({} >> {})")
COMMUTING = ("add", "sub", "max", "min", "and_", "or_", "xor")


class Kernel(Statements):
    """Writes the parts of a kernel that need no barrier."""

    groups = ((ARITHMETIC, 24), (EXACT, 12), (expressions.BITS, 14), (expressions.COMPARISONS, 12),
              (expressions.CONVERSIONS[:2] + expressions.CONVERSIONS[5:13], 8), (expressions.CONVERSIONS, 4),
              (PARTS, 3), (BITS_OF, 4))
    KINDS = (("assign", 22), ("update", 16), ("pack", 4), ("branch", 12), ("count", 10), ("wait", 4), ("leave", 4),
             ("merge", 4), ("accumulate", 4), ("match", 1), ("tuple_of", 2), ("inner", 3), ("atomic", 4), ("own", 4),
             ("own_atomic", 3), ("record", 3))

    def index(self, name, axis, depth=0):
        number = self.of_kind(int, depth) if depth else self.variable(lambda kind: kind is int) or "2"
        return self.chance.choice(["0", "-1", *[f"{number} % {name}.shape[{axis}]"] * 3])

    def operand(self, template, text, kind):
        """What a float that no integer holds becomes is the device's matter, and so are shifts by negative numbers: few
        programs have them, whose threads are not compared."""
        if self.chance.random() < 0.03:
            return text
        if template in SHIFTS and kinds.is_weak(kind):
            return f"({text} & 31)"
        return fitting(text, kind, WHOLE[template]) if template in WHOLE and kinds.is_floating(kind) else text

    def meeting(self, *operands):
        """An int that joins a narrower type fits, as only functions raise where it does not."""
        return [(f"({text} & 15)" if kind is int and {other for _, other in operands} & set(kinds.INTS) else text, kind)
                for text, kind in operands]

    def allowed(self, template, operands):
        """Only products of integers: a GPU rounds a fused product of floats once."""
        alike = all(kinds.is_real(kind) for kind in operands) or template in OF_COMPLEX
        floats = any(kinds.is_floating(kind) for kind in operands)
        if template in BITS_OF and not kinds.is_integer(operands[0]):
            return False
        return alike and not (floats and template == "({} * {})") and super().allowed(template, operands)

    def augmented(self, mine, kind):
        """Products and powers of floats, which devices round in ways of their own, by bools alone."""
        if not kinds.is_real(mine) or not kinds.is_real(kind):
            return ("+=", "-=")
        inexact = (kinds.is_floating(mine) or kinds.is_floating(kind)) and kind is not bool
        left_out = ("*=", "**=") if inexact else ("<<=", ">>=") if kinds.is_weak(mine) and kinds.is_weak(kind) else ()
        return [operator for operator in super().augmented(mine, kind) if operator not in left_out]

    def put_atomic(self):
        operation = self.chance.choice(COMMUTING)
        name = f"acc{COMMUTING.index(operation) % 3}"
        if self.names_of_atomics.setdefault(name, operation) == operation:
            index = self.of_kind(int, 1)
            value = self.of_kind(self.accumulators[name])
            self.put(f"cuda.atomic.{operation}({name}, {index} % {name}.shape[0], {value})")

    def put_own_atomic(self):
        """An operation on an element of this thread's own gives the old value."""
        name, old = self.chance.choice(list(self.outputs)), self.fresh()
        item = self.outputs[name]
        if item not in ATOMIC:
            return
        operation = self.chance.choice(("add", "sub", "exch") if kinds.is_floating(item) else list(ATOMICS))
        values = [self.of_kind(item) for _ in range(2 if operation == "cas" else 1)]
        self.put(f"{old} = cuda.atomic.{operation}({name}, ({', '.join(self.place)},), {', '.join(values)})")
        self.variables[old] = item

    def put_record(self):
        """A field of this thread's own record, or of a record that has a name."""
        place, wraps = f"rec[{self.place[0]} % rec.shape[0]]", self.wraps or len(self.place) > 1
        if self.records and self.chance.random() < 0.5:
            place, wraps = self.chance.choice(self.records), False
        if self.chance.random() < 0.3:
            name = self.fresh("r")
            self.put(f"{name} = {place}")
            place = name
        for _ in range(self.chance.choice([1, 1, 2])):
            self.put_field(place, wraps)

    def put_field(self, place, wraps):
        field, kind = self.chance.choice(list(FIELDS.items()))
        target = place + field + (f"[{self.of_kind(int, 1)} % 3]" if field == '["d"]' else "")
        if self.chance.random() < 0.5:
            name = self.fresh()
            self.put(f"{name} = {target}")
            self.variables[name] = kind
        elif not wraps:
            self.put(f"{target} = {self.of_kind(kind)}")

    def put_own(self):
        """An element that belongs to this thread alone."""
        name = self.chance.choice(list(self.outputs))
        place = ", ".join(self.place)
        self.put(f"{name}[{place}] = {self.of_kind(self.outputs[name])}")
        if self.chance.random() < 0.4:
            target = self.fresh()
            self.put(f"{target} = {name}[{place}]")
            self.variables[target] = self.outputs[name]


def write_records(chance, writer):
    """Records of a thread's own, in local memory."""
    name, k = writer.fresh("l"), writer.fresh("i")
    writer.put(f"{name} = cuda.local.array(2, RECORD)")
    writer.put(f"for {k} in range(2):")
    for field, kind in FIELDS.items():
        for place in ([field + f"[{i}]" for i in range(3)] if field == '["d"]' else [field]):
            writer.put(f"    {name}[{k}]{place} = {writer.of_kind(kind, 1)}")
    writer.records.append(f"{name}[{writer.of_kind(int, 1)} & 1]")


def write_device_function(chance, writer):
    """A function that the kernel calls."""
    name, inner = writer.fresh("h"), Kernel(chance, writer.counter)
    accepted = [chance.choice([int, float, *ITEMS]) for _ in range(chance.choice([1, 2]))]
    parameters = [(inner.fresh("a"), kind, "plain") for kind in accepted]
    inner.parameters({one: kind for one, kind, _ in parameters})
    inner.arguments = set()  # a call may pass constants
    inner.KINDS = [(kind, weight) for kind, weight in Kernel.KINDS if kind not in WITH_MEMORY]
    inner.budget = chance.choice([0, 1, 3])
    inner.statements(inner.budget)
    text, result = inner.scalar()
    inner.put(f"return {text}")
    head = f"def {name}({', '.join(one for one, _, _ in parameters)}):"
    return [head, *inner.lines], Routine(name, parameters, result)


class Launched(Program):
    """A kernel with its arrays and its grid."""

    def __init__(self, source, arrays, grid, block, options, tasks=None):
        super().__init__(source, [])
        self.arrays, self.grid, self.block, self.options, self.tasks = arrays, grid, block, options, tasks

    def __str__(self):
        arrays = ", ".join(map(repr, self.arrays))
        launch = f"[{self.grid}, {self.block}]" if self.tasks is None else f".forall({self.tasks})"
        return compiled_form(self.source) + f"# cuda.jit(**{self.options})(f){launch}({arrays})\n"

    def launched(self, kernel):
        return kernel[self.grid, self.block] if self.tasks is None else kernel.forall(self.tasks)


def some_options(chance):
    if chance.random() < 0.4:
        return {}
    return {name: chance.choice(values) for name, values in
            (("opt", [0, 1, 2, 3]), ("debug", [False, True]), ("lineinfo", [False, True]), ("check", [False, True]),
             ("max_registers", [None, 16, 64]), ("launch_bounds", [64, (64, 2)])) if chance.random() < 0.5}


def some_record(chance):
    """The items of a record, arrays inside as tuples."""
    def some(field):
        if field.names:
            return tuple(some(field[name]) for name in field.names)
        one = kinds.number(chance, field.base.type)
        return [one, *(kinds.number(chance, field.base.type) for _ in range(2))] if field.shape else one

    return some(RECORD)


def generate(seed):
    chance = random.Random(seed)
    writer = Kernel(chance)
    ndim = chance.choice([1, 1, 2])
    block = (chance.choice([1, 5, 31, 32, 33, 64]), 1, 1) if ndim == 1 else chance.choice([(4, 3, 1), (8, 8, 1)])
    grid = (chance.choice([1, 2, 3]), chance.choice([1, 2]) if ndim == 2 else 1, 1)
    lines, parameters, arrays = [], [], []
    for _ in range(chance.choice([0, 0, 1, 2])):
        body, routine = write_device_function(chance, writer)
        lines += body
        writer.routines.append(routine)
    reach = [g * b - chance.choice([0, 0, 1, 3]) for g, b in zip(grid[:ndim], block[:ndim])]
    shape = tuple(max(n, 1) for n in reach)
    writer.outputs, writer.names_of_atomics, writer.records = {}, {}, []
    writer.place = ["i", "j"][:ndim]
    for name in ("out0", "out1"):
        writer.outputs[name] = chance.choice(ITEMS)
        arrays.append(np.zeros(shape, writer.outputs[name]))
    writer.accumulators = {name: chance.choice(kinds.INTS) for name in ("acc0", "acc1", "acc2")}
    for item in writer.accumulators.values():
        arrays.append(np.array([kinds.number(chance, item) for _ in range(chance.choice([1, 3, 8]))], item))
    writer.wraps = chance.random() < 0.3  # then threads share records
    records = 3 if writer.wraps else int(np.prod(np.multiply(grid, block)))
    arrays.append(np.array([some_record(chance) for _ in range(records)], RECORD))
    inputs = {}
    for name in ("in0", "in1"):
        inputs[name] = Array(chance.choice(ITEMS), chance.choice([1, 1, 2]))
        lengths = tuple(chance.choice([2, 3, 7]) for _ in range(inputs[name].ndim))
        arrays.append(kinds.spread(chance, lengths, inputs[name].item))
    numbers = {"n": int, "x": chance.choice(ITEMS)}
    arrays += [kinds.number(chance, kind) for kind in numbers.values()]
    parameters = ["out0", "out1", *writer.accumulators, "rec", *inputs, *numbers]
    writer.put(f"{', '.join(writer.place)} = cuda.grid({ndim})")
    writer.parameters(inputs | numbers)
    writer.frozen |= set(inputs) | set(writer.place)
    writer.variables |= dict.fromkeys(writer.place, int)
    writer.arguments -= set(inputs)
    meets = 0
    if ndim == 1:
        meets = chance.choice([0, 1, 1, 2, 3])
        parts = [write_exchange, write_exchange, write_tree] + [write_warp] * (4 if block[0] % 32 == 0 else 0)
        for _ in range(meets):
            chance.choice(parts)(chance, writer, block[0])
        if chance.random() < 0.05:
            meets += 1
            write_divergent(chance, writer)
    writer.put("if " + " and ".join(f"{i} < out0.shape[{axis}]" for axis, i in enumerate(writer.place)) + ":")
    with writer.block():
        if chance.random() < 0.3:
            write_local(chance, writer)
        if chance.random() < 0.1:
            write_records(chance, writer)
        writer.budget = chance.choice([2, 4, 7])
        writer.statements(writer.budget)
        for name, item in writer.outputs.items():
            writer.put(f"{name}[{', '.join(writer.place)}] = {writer.of_kind(item)}")
    lines += [f"def f({', '.join(parameters)}):", *writer.lines]
    by_tasks = ndim == 1 and not meets and chance.random() < 0.4  # the block is nobody's matter then
    return Launched("\n".join(lines) + "\n", arrays, grid, block, some_options(chance), shape[0] if by_tasks else None)


# ---- running ----


def _wrapped(kind, value, of=int):
    """A Python int as a number of NumPy's: in kernels what does not fit wraps."""
    if not isinstance(value, of) or type(value) is bool or not issubclass(kind, np.integer):
        return value
    bits, value = 8 * np.dtype(kind).itemsize, int(value) & 2**64 - 1
    value &= 2**bits - 1
    return kind(value - 2**bits if np.iinfo(kind).min and value >> (bits - 1) else value)


def _cast(kind, value):
    return documented._cast(kind, _wrapped(kind, value))


def _join(value, kind):
    return documented._join(_wrapped(kind, value), kind)


def _extreme(function, *values):
    return documented._extreme(function, *(_wrapped(type(values[-1 - i]), one) for i, one in enumerate(values)))


def _stored(value, array, key=None):
    value = documented._stored(value, array, key)
    kind = getattr(array[key] if isinstance(key, str) else array, "dtype", None)
    return value if kind is None else _wrapped(kind.type, value, (int, np.integer))


def is_whole(number):
    return isinstance(number, (int, np.integer, np.bool_))


def _operated(name, one, other):
    """What an operator gives.  A sum, product or quotient that a GPU may fuse with a sum that takes it is exact but
    where it leaves the range of normal numbers."""
    one, other = _wrapped(type(other), one), _wrapped(type(one), other)
    result = documented._lshift(one, other) if name == "lshift" else _wrap(getattr(operator, name)(one, other))
    finite = all(is_whole(item) or np.isfinite(item) for item in (one, other))
    if name in FUSED and isinstance(result, (float, complex, np.inexact)) and finite:
        tiny, parts = np.finfo(type(result)).tiny, [result.real, result.imag]
        small = [part for part in [*parts, one.real, one.imag] if part and abs(part) < tiny]
        if np.isinf(parts).any() or (name != "add" and (small or (one and other and not result))):
            raise Differs("a float that is rounded once where a GPU fuses")
    return result


def _checked(name, one, other):
    """Kernels that are checked raise for NumPy's integers, too."""
    if name in ("floordiv", "mod") and is_whole(one) and is_whole(other) and not other:
        raise ZeroDivisionError
    return _operated(name, one, other)


def _unchecked(name, one, other):
    """Others raise nothing: Python's own numbers are divided as NumPy's are."""
    try:
        return _operated(name, one, other)
    except ZeroDivisionError:
        if name != "truediv" and is_whole(one):
            return 0
        of = complex if isinstance(one, complex) else float
        return of(getattr(operator, name)(np.dtype(of).type(one), other))


def _whole(function, *values):
    """Others give the lower bits of what 64 bits do not hold, and 0 for what is no number.  Only int() of a float is
    what the device converts to."""
    try:
        result = function(*values)
    except (OverflowError, ValueError):
        if function is not int:
            return 0
        raise Differs("a float that does not fit an integer") from None
    return _watch(result) if function is int and isinstance(values[0], (float, np.floating)) else _wrap(result)


def _compared(name, one, other):
    """Kernels compare an int and a float as floats."""
    numbers = [float(number) if type(number) is int and type(across) in (float, complex) else number
               for number, across in ((one, other), (other, one))]
    return documented._ordered(getattr(operator, name)(*numbers), one, other)


CHECKED = {"_operated": _checked, "_compared": _compared, "_stored": _stored, "_join": _join, "_extreme": _extreme}
UNCHECKED = {**CHECKED, "_operated": _unchecked, "_whole": _whole, "_cast": _cast,
             "_python_int": lambda number: number}
OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
             ast.Mod: "mod", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "lshift",
             ast.RShift: "rshift"}
COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
FUSED = ("add", "mul", "truediv")


class Operated(Documented):
    """... and where kernels compute otherwise than functions, or a GPU rounds once."""

    def operated(self, node, one, other):
        return call("_operated", ast.Constant(OPERATORS[type(node.op)]), one, other)

    def visit_Compare(self, node):
        if len(node.ops) > 1 or type(node.ops[0]) not in COMPARISONS:
            return super().visit_Compare(node)
        self.generic_visit(node)
        return call("_compared", ast.Constant(COMPARISONS[type(node.ops[0])]), node.left, *node.comparators)

    def visit_BinOp(self, node):
        done = super().visit_BinOp(node)
        folded = is_constant(node.left) and is_constant(node.right)
        return self.operated(node, node.left, node.right) if type(node.op) in OPERATORS and not folded else done

    def in_steps(self, node):
        steps = super().in_steps(node)
        if type(node.op) in OPERATORS:
            item = ast.Name("_item", ast.Load())
            steps[1] = ast.Assign([ast.Name("_item", ast.Store())], self.operated(node, item, node.value))
        return steps

    def visit_AugAssign(self, node):
        done = super().visit_AugAssign(node)
        if not isinstance(node.target, ast.Name) or type(node.op) not in OPERATORS:
            return done
        return ast.Assign([node.target], self.operated(node, ast.Name(node.target.id, ast.Load()), node.value))


LOST = (Differs, OverflowError, ZeroDivisionError, ValueError)  # of kernels that raise nothing, nobody knows the rest


def simulate(program, arrays):
    """Runs the kernel in plain Python on these arrays: what ends it early, if anything does, and the threads that end
    early for themselves: (place in the grid, why)."""
    tree = ast.parse(program.source)
    tree.body[-1] = Yields(tree.body[-1]).visit(tree.body[-1])
    tree.body[-1].body.append(ast.parse("if False:\n    yield").body[0])
    launch = Launch(program.grid, program.block, LOST)
    own = CHECKED if checked(program.options) else UNCHECKED
    kernel, _ = load(render(Operated().visit(tree)), {**HELPERS, **own, "cuda": launch, "RECORD": RECORD})
    seen = [launch.elements(item) if isinstance(item, np.ndarray) else item for item in arrays]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            launch.run(kernel, seen)
        except (Racy, Missed, *LOST) as end:
            return end, launch.faults
    return None, launch.faults


def excuse(program, ours, theirs, faults):
    """What threads that ended early would have written is unknown: elements of their own, and what all of them add to.
    Whether something is left to compare."""
    names = [parameter.arg for parameter in ast.parse(program.source).body[-1].args.args]
    left = np.ones(theirs[0].shape, bool)
    for place in {place for place, _ in faults}:
        for name, our, their in zip(names, ours, theirs):
            own = place[: our.ndim] if name.startswith("out") else place[:1] if name == "rec" else None
            if name.startswith("acc"):
                their[...] = our
            elif own and all(i < n for i, n in zip(own, our.shape)):
                their[own] = our[own]
                if their is theirs[0]:
                    left[own] = False
    return left.any()


def device():
    """Where kernels run."""
    return f"the GPU {cuda.get_current_device().name}" if cuda.is_available() else "the host device"


def checked(options):
    return options.get("check") or options.get("debug")  # then kernels raise as functions do


def check(program, gpu):
    theirs = oracle.copy_argument(tuple(program.arrays))
    end, faults = simulate(program, theirs)
    if gpu and isinstance(end, Missed):
        return "differs as documented", "a barrier that some threads miss"  # on a GPU nobody knows what comes of it
    function, _ = load(compiled_form(program.source), {"cuda": cuda, "RECORD": RECORD})
    ours = oracle.copy_argument(tuple(program.arrays))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program.launched(cuda.jit(**program.options)(function))(*ours)
    except errors.LaunchError as error:
        return ("same", "") if end and "barrier" in str(error) else ("wrong", f"LaunchError: {error}")
    except errors.KraitError as error:
        return refusal(error)
    except (ArithmeticError, ValueError, IndexError) as error:
        return raised(program, error, [end, *(why for _, why in faults)])
    if isinstance(end, Missed):
        return "wrong", "a barrier that some threads miss was accepted"
    if end:
        return "differs as documented", f"{type(end).__name__} {end}"
    left = excuse(program, ours, theirs, faults)
    for i, (our, their) in enumerate(zip(ours, theirs)):
        text = oracle.difference(our, their, f"argument {i} with {program.options}")
        if text:
            return "wrong", text
    if not left:
        return "differs as documented", f"every thread: {type(faults[0][1]).__name__} {faults[0][1]}"
    raising = [why for _, why in faults if isinstance(why, Exception)]
    if checked(program.options) and raising:
        return "wrong", f"nothing was raised, expected {raising[0]!r} with {program.options}"
    return "same", ""


def raised(program, error, ends):
    """What is said of an exception: one of the threads raises it, if the kernel is checked."""
    if checked(program.options):
        if any(type(error) is type(end) for end in ends):
            return "same", ""
        if any(isinstance(end, (Differs, Racy)) for end in ends):
            return "differs as documented", f"{type(error).__name__} {error}"
    return "wrong", f"{type(error).__name__} {error} with {program.options}"
