"""The pass `intervals` on random programs: what it says of their numbers holds whatever wraps, and results are those of
an interpreter that wraps as compiled code does."""

import random
import re

import numpy as np
import pytest
from oracle import make

from krait import _testing, errors, jit


# ---- random programs -------------------------------------------------------------------------------------------------

WIDTHS = {"int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint16": 16, "uint32": 32}


class Stop(Exception):
    """The program raises here, or leaves what is defined."""


def wrapped(value, kind):
    bits = WIDTHS[kind]
    value &= (1 << bits) - 1
    return value if kind[0] == "u" or value < 1 << (bits - 1) else value - (1 << bits)


def common(a, b):
    """The type of an operation, and its operands' values in it."""
    (x, p), (y, q) = a, b
    if p == q:
        return p, x, y
    if "int" in (p, q):
        kind = q if p == "int" else p
    else:
        kind = str(np.result_type(np.dtype(p), np.dtype(q)))
    if (p == "int" and wrapped(x, kind) != x) or (q == "int" and wrapped(y, kind) != y):
        raise Stop
    return kind, x, y


def compute(op, a, b):
    """The machine's number that compiled code must give: exact, then wrapped."""
    kind, x, y = common(a, b)
    bits = WIDTHS[kind]
    if op in ("//", "%") and y == 0:
        if kind == "int":
            raise Stop
        return 0, kind
    if op in ("<<", ">>") and not 0 <= y < bits:
        if kind == "int" and y < 0:
            raise Stop
        return (-1 if op == ">>" and x < 0 else 0), kind
    exact = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "//": lambda: x // y, "%": lambda: x % y,
             "<<": lambda: x << y, ">>": lambda: x >> y, "&": lambda: x & y, "|": lambda: x | y, "^": lambda: x ^ y}
    return wrapped(exact[op](), kind), kind


class Program:
    """A random function of integers, as text and as something that can be run here, value by value."""

    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.names = 0
        self.kinds = [self.choose.choice(list(WIDTHS)) for _ in range(3)]
        self.params = ["p0", "p1", "p2"]
        self.body = self.statements(2, list(self.params))
        self.values = {}

    def leaf(self, known):
        if self.choose.random() < 0.7:
            return ("name", self.choose.choice(known))
        return ("number", self.choose.choice([0, 1, 2, 3, 5, 7, 10, 63, 100, 127]))

    def expression(self, known, depth=2):
        kind = self.choose.random()
        if depth == 0 or kind < 0.15:
            return self.leaf(known)
        if kind < 0.75:
            op = self.choose.choice(["+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "&", "%", "+"])
            return ("op", op, self.expression(known, depth - 1), self.expression(known, depth - 1))
        if kind < 0.85:
            return ("unary", self.choose.choice(["-", "~", "abs"]), self.expression(known, depth - 1))
        if kind < 0.92:
            to = self.choose.choice(["int", "np.int8", "np.int64", "np.uint16"])
            return ("cast", to, self.expression(known, depth - 1))
        return ("extreme", self.choose.choice(["min", "max"]), ("int", self.expression(known, depth - 1)),
                ("int", self.expression(known, depth - 1)))

    def statements(self, depth, known):
        lines = []
        for _ in range(self.choose.randint(2, 4)):
            kind = self.choose.random()
            self.names += 1
            name = f"v{self.names}"
            if depth == 0 or kind < 0.6:
                lines.append(("set", name, self.expression(known)))
                known.append(name)
            elif kind < 0.8:
                relation = self.choose.choice(["<", "<=", "==", "!=", ">", ">="])
                sides = [self.statements(depth - 1, list(known)) for _ in range(2)]
                lines.append(("if", relation, self.leaf(known), self.leaf(known), *sides))
            elif kind < 0.9:
                bounds = [self.leaf(known) for _ in range(2)]
                inside = self.statements(depth - 1, [*known, name])
                lines.append(("for", name, bounds, self.choose.choice([1, 2, -1]), inside))
            else:
                limit = self.choose.choice([3, 6, 20])
                inside = self.statements(depth - 1, [*known, name])
                lines.append(("while", name, limit, self.choose.choice([1, 3]), inside))
        return lines

    # -- as text --

    def text_of(self, e):
        if e[0] in ("name", "number"):
            return str(e[1])
        if e[0] == "int":
            return f"int({self.text_of(e[1])})"
        parts = [self.text_of(part) for part in e[2:]]
        if e[0] == "op":
            return f"({parts[0]} {e[1]} {parts[1]})"
        if e[0] == "unary" and e[1] != "abs":
            return f"({e[1]}{parts[0]})"
        return f"{e[1]}({', '.join(parts)})"

    def lines_of(self, statements, indent):
        for s in statements:
            if s[0] == "set":
                yield f"{indent}{s[1]} = {self.text_of(s[2])}"
            elif s[0] == "if":
                yield f"{indent}if {self.text_of(s[2])} {s[1]} {self.text_of(s[3])}:"
                yield from self.lines_of(s[4], indent + "    ")
                yield f"{indent}else:"
                yield from self.lines_of(s[5], indent + "    ")
            elif s[0] == "for":
                start, stop = (self.text_of(part) for part in s[2])
                yield f"{indent}for {s[1]} in range(int({start}) % 10, int({stop}) % 20, {s[3]}):"
                yield from self.lines_of(s[4], indent + "    ")
            else:
                yield f"{indent}{s[1]} = 0"
                yield f"{indent}while {s[1]} < {s[2]}:"
                yield from self.lines_of(s[4], indent + "    ")
                yield f"{indent}    {s[1]} += {s[3]}"

    def text(self):
        last = [s[1] for s in self.body if s[0] == "set"] or self.params
        return "\n".join([f"def f({', '.join(self.params)}):", *self.lines_of(self.body, "    "),
                          f"    return ({', '.join(last)},)"])

    # -- as values --

    def value_of(self, e, scope):
        if e[0] == "name":
            return scope[e[1]]
        if e[0] == "number":
            return e[1], "int"
        if e[0] == "int":
            return self.value_of(e[1], scope)[0], "int"
        parts = [self.value_of(part, scope) for part in e[2:]]
        if e[0] == "op":
            return compute(e[1], *parts)
        if e[0] == "unary":
            value, kind = parts[0]
            return wrapped({"-": -value, "~": ~value, "abs": abs(value)}[e[1]], kind), kind
        if e[0] == "extreme":
            return (min if e[1] == "min" else max)(parts[0][0], parts[1][0]), "int"
        kind = e[1].removeprefix("np.")
        value = wrapped(parts[0][0], kind)
        if kind != "int" and parts[0][1] == "int" and value != parts[0][0]:
            raise Stop
        return value, kind

    def store(self, scope, name, value):
        scope[name] = value
        self.values.setdefault(name, []).append(value[0])

    def execute(self, statements, scope):
        compare = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b,
                   "!=": lambda a, b: a != b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
        for s in statements:
            if s[0] == "set":
                self.store(scope, s[1], self.value_of(s[2], scope))
            elif s[0] == "if":
                x, y = self.value_of(s[2], scope), self.value_of(s[3], scope)
                self.execute(s[4] if compare[s[1]](x[0], y[0]) else s[5], dict(scope))
            elif s[0] == "for":
                start, stop = (self.value_of(part, scope)[0] for part in s[2])
                for i in range(start % 10, stop % 20, s[3]):
                    self.store(scope, s[1], (i, "int"))
                    self.execute(s[4], dict(scope))
            else:
                self.store(scope, s[1], (0, "int"))
                while scope[s[1]][0] < s[2]:
                    self.execute(s[4], dict(scope))
                    self.store(scope, s[1], (scope[s[1]][0] + s[3], "int"))

    def run(self, args):
        """The result, or None where the program stops early; values of all variables are collected."""
        scope = {name: (value, kind) for name, value, kind in zip(self.params, args, self.kinds)}
        try:
            self.execute(self.body, scope)
        except Stop:
            return None
        last = [s[1] for s in self.body if s[0] == "set"] or self.params
        return tuple(scope[name] for name in last)


def arguments(choose, kinds):
    for kind in kinds:
        bits = WIDTHS[kind]
        edges = [0, 1, 2, 7, (1 << (bits - 1)) - 1, 1 << (bits - 1)]
        edge = choose.choice([*edges, choose.getrandbits(bits), choose.getrandbits(4)])
        yield wrapped(choose.choice([edge, -edge]), kind)


def bounds_by_name(text):
    """The union of what the values of one variable lie between; absent where one of them may be anything."""
    bounds, unknown = {}, set()
    for name, rest in re.findall(r"%\d+ (v\d+)(?:: \w+)? = (.*)", text):
        match = re.search(r" in (-?\d*)\.\.(-?\d*)$", rest)
        if rest.startswith("const") or " is " in rest:
            continue
        if not match:
            unknown.add(name)
            continue
        low, high = (int(part) if part else None for part in match.groups())
        old = bounds.get(name)
        if old:
            low = None if low is None or old[0] is None else min(low, old[0])
            high = None if high is None or old[1] is None else max(high, old[1])
        bounds[name] = low, high
    return {name: pair for name, pair in bounds.items() if name not in unknown}


@pytest.mark.parametrize("start", range(0, 160, 20))
def test_random_programs_stay_within_their_intervals(start):
    """Every value that a variable takes lies between its bounds, and compiled code that relies on them gives it."""
    run = 0
    for seed in range(start, start + 20):
        program = Program(seed)
        function = make(program.text(), "f", np=np)
        compiled = jit(function)
        try:
            bounds = bounds_by_name(_testing.stage(function, program.kinds, "intervals"))
        except errors.TypingError:
            continue  # a constant that does not fit
        run += 1
        for trial in range(8):
            args = list(arguments(random.Random(seed * 100 + trial), program.kinds))
            program.values = {}
            wanted = program.run(args)
            for name, (low, high) in bounds.items():
                for value in program.values.get(name, ()):
                    message = f"{name} = {value} is not in {low}..{high} for {args}:\n{program.text()}"
                    assert (low is None or low <= value) and (high is None or value <= high), message
            if wanted is None:
                continue
            given = [value if kind == "int" else np.dtype(kind).type(value) for value, kind in zip(args, program.kinds)]
            got = compiled(*given)
            assert [int(x) for x in got] == [value for value, _ in wanted], f"{args}:\n{program.text()}"
            assert [type(x).__name__ for x in got] == [kind for _, kind in wanted], f"{args}:\n{program.text()}"
    assert run >= 10
