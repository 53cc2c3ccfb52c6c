"""Random expressions: their text and their type.

The productions are those of the Python language reference, chapter 6, and the calls of the library pages of Python and
NumPy; what each gives is asked of the interpreter (kinds.result), so that programs are typed.  `_join(value, type)`
marks the places where the documented rules convert a value: see documented.py.
"""

import ast
import builtins
import dis

import kinds
import numpy as np
from documented import is_constant
from kinds import Array, Tuple

ARITHMETIC = ("({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} // {})", "({} % {})")
BITS = ("({} & {})", "({} | {})", "({} ^ {})", "({} << {})", "({} >> {})", "({} << ({} & 7))", "({} >> ({} & 15))")
POWERS = ("({} ** 2)", "({} ** 3)", "({} ** -1)", "({} ** 0.5)", "({} ** ({} & 3))", "({} ** {})", "pow({}, 2)",
          "pow({}, ({} & 7), 13)")
UNARY = ("(-{})", "(+{})", "(~{})", "abs({})", "(not {})")
COMPARISONS = ("({} < {})", "({} <= {})", "({} == {})", "({} != {})", "({} > {})", "({} >= {})")
BUILTINS = ("round({})", "round({}, 1)", "round({}, -1)", "divmod({}, {})", "divmod({}, {})[0]", "divmod({}, {})[1]",
            "sum(({}, {}, {}))", "({}).real", "({}).imag", *(
                f"operator.{name}({{}}, {{}})" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_",
                                                            "or_", "xor", "lt", "le", "eq", "ne", "ge", "gt")),
            *(f"operator.{name}({{}})" for name in ("neg", "pos", "abs", "invert", "not_", "truth")))
CONVERSIONS = tuple(f"{kinds.name_of(kind)}({{}})" for kind in (*kinds.WEAK, *kinds.STRONG))
WHOLE = {f"{kinds.name_of(kind)}({{}})": kind for kind in kinds.INTS}
MATH = ("math.floor({})", "math.ceil({})", "math.trunc({})", "math.isnan({})", "math.isinf({})", "math.isfinite({})",
        "math.sqrt({})", "math.fabs({})", "math.copysign({}, {})", "math.fmod({}, {})", "math.remainder({}, {})",
        "math.hypot({}, {})", "math.isqrt({})", "math.gcd({}, {})", "math.lcm({}, {})", "math.factorial({} & 15)",
        "math.comb({} & 31, {} & 15)", "math.perm({} & 15, {} & 7)", "math.frexp({})[0]", "math.frexp({})[1]",
        "math.modf({})[0]", "math.modf({})[1]", "math.ldexp({}, {} & 31)", "math.sin({})",
        "math.exp({})", "math.log({})", "math.atan2({}, {})",
         "math.pow({}, {})", "math.degrees({})", "math.isclose({}, {})", "math.nextafter({}, {})",
        "math.ulp({})", "math.log2({})", "math.cbrt({})", "math.erf({})", "math.gamma({})", "math.tanh({})")
CMATH = ("cmath.sqrt({})", "cmath.isnan({})", "cmath.isinf({})", "cmath.isfinite({})", "cmath.phase({})",
         "cmath.polar({})[0]", "cmath.exp({})", "cmath.rect({}, {})", "cmath.isclose({}, {})")
# of NumPy's functions those that every machine rounds alike
NUMPY = ("np.sqrt({})", "np.floor({})", "np.ceil({})", "np.trunc({})", "np.rint({})", "np.fabs({})", "np.absolute({})",
         "np.sign({})", "np.signbit({})", "np.square({})", "np.reciprocal({})", "np.negative({})", "np.positive({})",
         "np.conjugate({})", "np.isnan({})", "np.isinf({})", "np.isfinite({})", "np.logical_not({})",
         "np.logical_and({}, {})", "np.logical_or({}, {})", "np.logical_xor({}, {})", "np.minimum({}, {})",
         "np.maximum({}, {})", "np.fmin({}, {})", "np.fmax({}, {})", "np.copysign({}, {})", "np.nextafter({}, {})",
         "np.spacing({})", "np.fmod({}, {})", "np.remainder({}, {})", "np.floor_divide({}, {})", "np.add({}, {})",
         "np.subtract({}, {})", "np.multiply({}, {})", "np.true_divide({}, {})", "np.divmod({}, {})[1]",
         "np.gcd({}, {})", "np.lcm({}, {})", "np.heaviside({}, {})", "np.bitwise_and({}, {})", "np.bitwise_or({}, {})",
         "np.bitwise_xor({}, {})", "np.invert({})", "np.left_shift({}, {} & 7)", "np.right_shift({}, {} & 7)",
         "np.less({}, {})", "np.less_equal({}, {})", "np.equal({}, {})", "np.not_equal({}, {})", "np.greater({}, {})",
         "np.bitwise_count({})", "np.modf({})[0]", "np.frexp({})[0]", "np.frexp({})[1]", "np.ldexp({}, {} & 15)",
         "np.power({}, {} & 3)")

GROUPS = ((ARITHMETIC, 34), (BITS, 8), (POWERS, 5), (UNARY, 9), (COMPARISONS, 9), (BUILTINS, 5), (CONVERSIONS, 7),
          (MATH, 6), (CMATH, 1), (NUMPY, 8))


def may_not_fit(text, kind):
    """Whether the compiler may know that this int does not fit: it takes such a constant for an int64."""
    names = {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    variables = names - set(kinds.MODULES) - set(dir(builtins))
    if variables:
        return any(name.startswith("G") for name in variables)
    try:
        value = eval(text, dict(kinds.MODULES))
    except (ArithmeticError, ValueError):
        return True
    return not np.iinfo(kind).min <= value <= np.iinfo(kind).max


def powers_by_a_loop(base, exponent):
    """Whether NumPy computes the power by the loop of its arrays, which machines round in ways of their own: it does so
    for numbers of two types, one of them its own."""
    floats = kinds.is_floating(base) or kinds.is_floating(exponent)
    return floats and base is not exponent and not (kinds.is_weak(base) and kinds.is_weak(exponent))


def kind_when_folded(text, kind):
    """A power of constants is what the interpreter's compiler makes of it, if it does: (-0.5) ** 0.5 is complex."""
    if kind is not float or not is_constant(ast.parse(text, mode="eval").body):
        return kind
    folded = compile(text, "constants", "eval")
    whole = all(step.opname in ("RESUME", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE")
                for step in dis.get_instructions(folded))
    return type(eval(folded)) if whole else kind


def fitting(text, kind, whole):
    """A float of any kind, or an array of such, as what an integer type holds."""
    info = np.iinfo(np.int64 if whole is int else whole)
    most = min(float(info.max) * 0.75, float(np.finfo(kind).max) / 2)
    return f"np.fmin(np.fmax({text}, {-most if info.min else -0.5}), {most})"


class Routine:
    """A function that a program has defined: its name, parameters (name, kind, "plain" | "default" | "keyword")."""

    def __init__(self, name, parameters, result):
        self.name, self.parameters, self.result = name, parameters, result


class Expressions:
    """Writes expressions of the variables in scope."""

    groups = GROUPS

    def __init__(self, chance):
        self.chance = chance
        self.variables = {}  # name -> kind
        self.arguments = set()  # the parameters that are never assigned
        self.routines = []
        self.chosen = {}  # text of a conditional expression -> itself without its mark, what it chooses from

    def variable(self, accepts):
        """The name of a variable whose kind is accepted, or None."""
        names = [name for name, kind in self.variables.items() if accepts(kind)]
        return self.chance.choice(names) if names else None

    def allowed(self, template, operands):
        """math's functions keep float16 and float32, as documented: there the interpreter is no oracle.  Powers of
        floats are not rounded alike on every machine."""
        if template.startswith("np.power") and any(map(kinds.is_floating, operands)):
            return False
        if "**" in template and len(operands) == 2 and powers_by_a_loop(*operands):
            return False
        return not (template.startswith("math.") and {kinds.np.float16, kinds.np.float32} & set(operands))

    def operand(self, template, text, kind):
        """The text of an operand of a template.  What a float that no integer type holds becomes is the machine's
        matter, where the interpreter does not raise: few programs have them, as those calls are not compared."""
        return self.stored(text, kind, WHOLE[template]) if template in WHOLE and not kinds.is_weak(kind) else text

    def stored(self, text, kind, item):
        """The text of what becomes an item of an array of this type."""
        fits = kinds.is_floating(kind) and item in kinds.INTS and self.chance.random() > 0.03
        return fitting(text, kind, item) if fits else text

    def may_be_constant_power(self, base, exponent, kind):
        """An int to a negative power is a float if the exponent is a constant, and an error otherwise."""
        return {base, kind} <= {int, bool} and exponent not in self.arguments

    # ---- leaves ----

    def leaf(self):
        roll = self.chance.random()
        name = self.variable(kinds.is_scalar)
        if name and roll < 0.6:
            return name, self.variables[name]
        if roll < 0.75 and (found := self.item()):
            return found
        if name and roll < 0.8:
            return name, self.variables[name]
        if roll < 0.84 and (name := self.variable(lambda kind: isinstance(kind, Array))):
            return self.about_an_array(name)
        kind = self.chance.choice([int, int, float, float, bool, complex])
        return kinds.literal(self.chance, kind), kind

    def about_an_array(self, name):
        kind = self.variables[name]
        texts = [f"{name}.size", f"{name}.ndim"]
        if kind.ndim:
            texts += [f"len({name})", f"{name}.shape[{self.chance.randrange(kind.ndim)}]"]
        return self.chance.choice(texts), int

    def index(self, name, axis, depth=0):
        """An index of an axis: in bounds most of the time."""
        number = self.of_kind(int, depth) if depth else self.variable(lambda kind: kind is int) or "2"
        return self.chance.choice(["0", "-1", "1", number, *[f"{number} % max({name}.shape[{axis}], 1)"] * 4])

    def item(self):
        """An element of an array or a tuple."""
        name = self.variable(lambda kind: isinstance(kind, (Array, Tuple)))
        if not name:
            return None
        kind = self.variables[name]
        if isinstance(kind, Tuple):
            scalars = [i for i, item in enumerate(kind.items) if kinds.is_scalar(item)]
            if not scalars:
                return None
            i = self.chance.choice(scalars)
            return f"{name}[{self.chance.choice([i, i - len(kind.items)])}]", kind.items[i]
        index = ", ".join(self.index(name, axis) for axis in range(kind.ndim)) or "()"
        return f"{name}[{index}]", kind.item

    # ---- whole expressions ----

    def scalar(self, depth=3):
        """The text of an expression and its kind, a scalar."""
        if depth <= 0 or self.chance.random() < 0.12:
            return self.leaf()
        for _ in range(6):
            roll = self.chance.random()
            found = (self.choice(depth) if roll < 0.12 else self.extreme(depth) if roll < 0.17
                     else self.call(depth) if roll < 0.25 else self.chain(depth) if roll < 0.28
                     else self.operation(depth))
            if found and kinds.is_scalar(found[1]):
                return found
        return self.leaf()

    def operation(self, depth):
        groups, weights = zip(*self.groups)
        template = self.chance.choice(self.chance.choices(groups, weights)[0])
        operands = [self.scalar(depth - 1) for _ in range(template.count("{}"))]
        types = [kind for _, kind in operands]
        if template == "({} ** {})" and self.may_be_constant_power(types[0], *operands[1]):
            return None
        # A call that a function returns may lie in both branches of what it is given: it is typed for each.
        met = [types, *([kind] for text, _ in operands if text in self.chosen for _, kind in self.chosen[text][1])]
        kind = kinds.result(template, *types) if all(self.allowed(template, each) for each in met) else None
        text = template.format(*(self.operand(template, *one) for one in operands))
        return (text, kind_when_folded(text, kind)) if kind else None

    def unknown(self):
        """A condition that no compiler knows, or None: it asks about an argument that is never assigned."""
        names = [name for name in self.arguments if kinds.is_real(self.variables.get(name))]
        if not names:
            return None
        return f"{self.chance.choice(names)} {self.chance.choice(['> 0', '== 1', '< 1', '!= 1'])}"

    def meeting(self, *operands):
        """The (text, kind) of values one of which will be chosen."""
        return operands

    def joining(self, operands):
        """The kind of a value that is one of these (text, kind), and whether types join there."""
        types = [kind for _, kind in operands]
        kind = kinds.joined(*types)
        if kind in kinds.INTS and any(weak is int and may_not_fit(text, kind) for text, weak in operands):
            kind = None
        return kind, any(one is not types[0] for one in types)

    def choice(self, depth):
        """a if c else b; a and b; a or b.  Where one conditional expression chooses another, all meet in one place."""
        one, other = self.meeting(self.scalar(depth - 1), self.scalar(depth - 1))
        kind, joins = self.joining((one, other))
        if kind and not joins and self.chance.random() < 0.4:
            return f"({one[0]} {self.chance.choice(['and', 'or'])} {other[0]})", kind
        (first, left), (second, right) = (self.chosen.get(it[0], (it[0], [it])) for it in (one, other))
        kind, joins = self.joining([*left, *right])
        condition = self.unknown() if joins else self.condition(depth - 1)
        if not kind or not condition:
            return None
        text = f"({first} if {condition} else {second})"
        marked = f"_join({text}, {kinds.name_of(kind)})" if joins else text
        self.chosen[marked] = text, [*left, *right]
        return marked, kind

    def extreme(self, depth):
        """min and max of values of one type."""
        text, kind = self.scalar(depth - 1)
        if not kinds.is_real(kind):
            return None
        others = [self.of_kind(kind, depth - 1) for _ in range(self.chance.choice([1, 1, 2]))]
        return f"{self.chance.choice(['min', 'max'])}({', '.join([text, *others])})", kind

    def chain(self, depth):
        operators = [self.chance.choice(["<", "<=", ">", ">=", "==", "!="]) for _ in range(2)]
        one, two, three = (self.real(depth - 2) for _ in range(3))
        return f"bool({one} {operators[0]} {two} {operators[1]} {three})", bool

    def call(self, depth):
        routines = [routine for routine in self.routines if kinds.is_scalar(routine.result)]
        if not routines:
            return None
        return self.call_of(self.chance.choice(routines), depth)

    def call_of(self, routine, depth=2):
        arguments, named = [], False
        for name, kind, way in routine.parameters:
            if way != "plain" and self.chance.random() < 0.4:
                named = True
                continue
            text = self.of_kind(kind, depth - 1)
            named |= way == "keyword" or (way == "default" and self.chance.random() < 0.5)
            arguments.append(f"{name}={text}" if named else text)
        return f"{routine.name}({', '.join(arguments)})", routine.result

    def real(self, depth):
        for _ in range(4):
            text, kind = self.scalar(depth)
            if kinds.is_real(kind):
                return text
        return kinds.literal(self.chance, self.chance.choice([int, float]))

    def condition(self, depth):
        """An expression asked for its truth."""
        if self.chance.random() < 0.15:
            return self.scalar(depth)[0]
        operator = self.chance.choice(["<", "<=", ">", ">=", "==", "!="])
        text = f"{self.real(depth - 1)} {operator} {self.real(depth - 1)}"
        roll = self.chance.random()
        if roll < 0.1:
            return f"not {text}"
        if roll < 0.25:
            return f"({text} {self.chance.choice(['and', 'or'])} {self.real(depth - 1)} > {self.real(depth - 1)})"
        return text

    def of_kind(self, kind, depth=2):
        """The text of an expression of this kind; an array or a tuple is a variable, or None."""
        if not kinds.is_scalar(kind):
            return self.variable(lambda one: one == kind)
        for _ in range(3):
            text, found = self.scalar(depth)
            if found is kind:
                return text
        name = self.variable(lambda one: one is kind)
        if name and self.chance.random() < 0.6:
            return name
        template = f"{kinds.name_of(kind)}({{}})"
        if kinds.result(template, found) is kind:
            return template.format(self.operand(template, text, found))
        weak = complex if issubclass(kind, (complex, kinds.np.complexfloating)) else int
        value = kinds.literal(self.chance, weak)
        return value if kind is int else f"{kinds.name_of(kind)}({value})"
