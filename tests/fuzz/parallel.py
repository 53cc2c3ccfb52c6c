"""Functions with loops over `prange`: what each iteration computes for itself, reductions, and elements that belong to
one iteration."""

import numpy as np

import kinds
from kinds import Array
from statements import Statements

BODY = ("assign", "update", "pack", "branch", "count", "match", "merge", "tuple_of")
REDUCED = ("+=", "-=", "*=", "&=", "|=", "^=", "min", "max")
CHUNKS = (0, 1, 2, 7)  # iterations of one; 0: chosen by the loop


class Parallel(Statements):
    """Writes the body of a function that is compiled for several cores."""

    KINDS = (*Statements.KINDS, ("parallel", 24))

    def bounds(self):
        small, array = self.of_kind(int, 1), self.array(1)
        length = f"{array}.shape[0]" if array else "5"
        return self.chance.choice(["37", "2, 50, 3", "9, 0, -2", f"{small} & 31", "1", length])

    def put_parallel(self):
        if self.loops or self.depth > 1:
            return self.put_assign()
        totals = [self.reduction() for _ in range(self.chance.choice([0, 1, 1, 2, 3]))]
        item, out, i = self.chance.choice(kinds.ELEMENTS), self.fresh("o"), self.fresh("i")
        counts = self.fresh("c") if self.chance.random() < 0.3 else None
        self.put(f"{out} = np.zeros(50, np.{np.dtype(item).name})")
        if counts:
            self.put(f"{counts} = np.zeros(4, np.int64)")
        self.put(f"for {i} in prange({self.bounds()}):")
        before, frozen, ways = dict(self.variables), set(self.frozen), self.KINDS
        self.frozen |= set(self.variables)
        self.variables = {name: kind for name, kind in before.items() if name not in dict(totals)}
        with self.block():
            self.variables[i], self.frozen = int, self.frozen | {i}
            self.KINDS = [(kind, weight) for kind, weight in ways if kind in BODY]
            self.loops += 1
            self.statements(self.chance.choice([0, 1, 2, 3]))
            self.loops -= 1
            for name, operator in totals:
                self.put_steps(name, operator, before[name])
            if counts:
                self.put(f"{counts}[{self.of_kind(int)} & 3] += {self.of_kind(int)}")
            self.put(f"{out}[{i} % 50] = {self.of_kind(item)}")
        self.KINDS, self.variables, self.frozen = ways, before, frozen
        self.variables[out] = Array(item, 1)
        if counts:
            self.variables[counts] = Array(np.int64, 1)
        return None

    def reduction(self):
        """A variable that every iteration adds to, and how."""
        kind = self.chance.choice([int, int, float, *kinds.INTS, *kinds.FLOATS])
        operators = [one for one in REDUCED if one in ("+=", "min", "max") or kinds.is_integer(kind)]
        name, operator = self.fresh("s"), self.chance.choice(operators)
        start = kinds.literal(self.chance, int if kinds.is_integer(kind) else float)
        self.put(f"{name} = {start if kinds.is_weak(kind) else f'{kinds.name_of(kind)}({start})'}")
        self.variables[name] = kind
        return name, operator

    def put_steps(self, name, operator, kind):
        """One step, or several, some of them under a condition."""
        if self.chance.random() < 0.5:
            return self.put_step(name, operator, kind)
        for word in self.chance.choice([("if",), ("if", "else"), ("if", "elif"), ("if", "if")]):
            self.put("else:" if word == "else" else f"{word} {self.condition(2)}:")
            with self.block():
                for _ in range(self.chance.choice([1, 1, 2])):
                    self.put_step(name, operator, kind)
        return None

    def put_step(self, name, operator, kind):
        """Sums of floats are of small numbers, which no order rounds."""
        text = self.of_kind(kind)
        if kinds.is_floating(kind) and operator == "+=":
            text = f"{kinds.name_of(kind)}({self.of_kind(int)} & 15)"
        if operator in ("min", "max"):
            self.put(f"{name} = {operator}({name}, {text})")
        else:
            self.put(f"{name} {operator} {text}")
