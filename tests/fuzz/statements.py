"""Random statements (the Python language reference, chapters 7 and 8) and functions made of them.

Every variable has one type from its first assignment on; a place where two types meet is written with `_join`.  Loops
end by construction: they count, or walk over something whose length no statement changes.
"""

import contextlib
import itertools

import kinds
from expressions import Expressions, Routine, powers_by_a_loop
from kinds import Array, Tuple

AUGMENTED = ("+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=")


class Statements(Expressions):
    """Writes the body of one function, line by line."""

    def __init__(self, chance, counter=None):
        super().__init__(chance)
        self.lines = []
        self.depth = 1
        self.loops = 0
        self.budget = 0
        self.counter = counter or itertools.count()
        self.results = None  # the kinds that every return gives, where there are early ones
        self.unbound = {}  # variables that some paths do not assign
        self.frozen = set()  # variables that must not be assigned: loops depend on them, or they may be read-only

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    def fresh(self, letter="v"):
        return f"{letter}{next(self.counter)}"

    @contextlib.contextmanager
    def block(self):
        """An indented suite; what it assigns first may be unbound after it."""
        before, length = dict(self.variables), len(self.lines)
        self.depth += 1
        yield
        if len(self.lines) == length:
            self.put("pass")
        self.depth -= 1
        new = {name: kind for name, kind in self.variables.items() if name not in before}
        self.unbound.update(new)
        self.variables = before

    # ---- the choice of a statement ----

    KINDS = (("assign", 22), ("update", 18), ("pack", 5), ("branch", 12), ("count", 9), ("walk", 9), ("wait", 3),
             ("leave", 4), ("store", 9), ("store_slice", 6), ("update_array", 6), ("view", 4), ("inner", 4),
             ("check", 2), ("early", 3), ("merge", 4), ("accumulate", 4), ("risk", 1), ("match", 1), ("tuple_of", 3),
             ("try", 3))

    def statements(self, number):
        names, weights = zip(*self.KINDS)
        for _ in range(number):
            if self.budget <= 0:
                return
            self.budget -= 1
            getattr(self, "put_" + self.chance.choices(names, weights)[0])()

    # ---- simple statements ----

    def put_assign(self):
        text, kind = self.scalar()
        target = self.variable(lambda one: one is kind) if self.chance.random() < 0.4 else None
        if not target or target in self.frozen:
            target = self.fresh()
        if self.chance.random() < 0.05:
            other = self.fresh()
            self.put(f"{target} = {other} = {text}")
            self.variables[other] = kind
        elif self.chance.random() < 0.05:
            self.put(f"{target}: int = {text}")
        else:
            self.put(f"{target} = {text}")
        self.variables[target] = kind

    def put_update(self):
        target = self.variable(kinds.is_scalar)
        if not target or target in self.frozen:
            return self.put_assign()
        text, kind = self.scalar(2)
        mine = self.variables[target]
        operator = self.chance.choice(self.augmented(mine, kind))
        if operator == "**=" and self.may_be_constant_power(mine, text, kind):
            operator = "*="
        if kinds.result("{} " + operator[:-1] + " {}", mine, kind) is mine:
            return self.put(f"{target} {operator} {text}")
        return self.put(f"{target} = {self.of_kind(mine)}")

    def augmented(self, mine, kind):
        """The operators of augmented assignments to a variable or an item."""
        return AUGMENTED[:-1] if powers_by_a_loop(mine, kind) else AUGMENTED

    def put_pack(self):
        """Tuples are packed and unpacked."""
        one, other = self.scalar(2), self.scalar(2)
        first, second = self.fresh(), self.fresh()
        if self.chance.random() < 0.3:
            text, kind = self.scalar(1)
            third = self.fresh()
            self.put(f"({first}, {third}), {second} = ({one[0]}, {text}), {other[0]}")
            self.variables[third] = kind
        else:
            self.put(f"{first}, {second} = {one[0]}, {other[0]}")
        self.variables |= {first: one[1], second: other[1]}
        if one[1] is other[1] and not self.loops and self.chance.random() < 0.3:
            self.put(f"{first}, {second} = {second}, {first}")

    def put_tuple_of(self):
        items = [self.scalar(2) for _ in range(self.chance.choice([1, 2, 2, 3]))]
        name = self.fresh("t")
        self.put(f"{name} = ({', '.join(text for text, _ in items)},)")
        self.variables[name] = Tuple(tuple(kind for _, kind in items))

    def put_check(self):
        message = self.chance.choice(["", ', "no"', f", {self.real(1)}"])
        self.put(f"assert {self.condition(2)}{message}" if self.chance.random() < 0.5 else f"if {self.condition(2)}:")
        if self.lines[-1].endswith(":"):
            error = self.chance.choice(["ValueError", "IndexError", "KeyError", "TypeError", "RuntimeError"])
            arguments = self.chance.choice(["", "()", '("bad", 3)', f"({self.real(1)})", '("text")'])
            self.put(f"    raise {error}{arguments}")

    def put_early(self):
        if self.results is None:
            return self.put_assign()
        self.put(f"if {self.condition(2)}:")
        self.put(f"    return {self.result_text()}")
        return None

    def put_risk(self):
        """A variable that some path leaves unbound."""
        names = [name for name, kind in self.unbound.items() if kinds.is_scalar(kind)]
        if not names:
            return self.put_assign()
        name = self.chance.choice(names)
        target = self.fresh()
        self.put(f"{target} = {name}")
        self.variables[target] = self.unbound[name]
        return None

    def put_leave(self):
        if not self.loops:
            return self.put_assign()
        self.put(f"if {self.condition(2)}:")
        self.put(f"    {self.chance.choice(['break', 'continue'])}")
        return None

    # ---- compound statements ----

    def put_branch(self):
        self.put(f"if {self.condition(3)}:")
        with self.block():
            self.statements(self.chance.choice([1, 1, 2]))
        while self.chance.random() < 0.25:
            self.put(f"elif {self.condition(2)}:")
            with self.block():
                self.statements(1)
        if self.chance.random() < 0.5:
            self.put("else:")
            with self.block():
                self.statements(self.chance.choice([1, 2]))

    def put_try(self):
        """What is assigned before the exception stays, and finally is walked through on every way out."""
        name = self.fresh()
        self.put(f"{name} = {self.of_kind(int)}")
        self.variables[name] = int
        self.put("try:")
        with self.block():
            self.statements(1)
            self.put(f"{name} += {self.of_kind(int, 1)}" if self.chance.random() < 0.5 else f"{name} = 3 // {name}")
            self.statements(1)
        ways = self.chance.choice(["except", "except", "finally", "both"])
        if ways != "finally":
            error = self.chance.choice(["ZeroDivisionError", "(IndexError, ZeroDivisionError)", "ArithmeticError",
                                        "Exception", "LookupError"])
            self.put(f"except {error}:")
            with self.block():
                self.statements(1)
                self.put(self.chance.choice([f"{name} = -{name}", "raise", f"{name} ^= 5"]))
            if self.chance.random() < 0.3:
                self.put("else:")
                with self.block():
                    self.statements(1)
        if ways != "except":
            self.put("finally:")
            with self.block():
                self.put(f"{name} = {name} + 1")

    def put_match(self):
        text, name = self.of_kind(int), self.fresh()
        self.put(f"match {text} & 3:")
        for pattern in ("0", "1 | 2", "_"):
            self.depth += 1
            self.put(f"case {pattern}:")
            with self.block():
                self.put(f"{name} = {self.of_kind(float)}")
            self.depth -= 1
        self.variables[name] = float

    def loop(self, header, targets, frozen=()):
        """A loop whose header assigns the targets (name -> kind); sometimes it has an else."""
        self.put(header)
        added = set(frozen) - self.frozen
        self.frozen |= added
        self.loops += 1
        with self.block():
            self.variables |= targets
            self.statements(self.chance.choice([1, 2, 2, 3]))
        self.loops -= 1
        self.frozen -= added
        if self.chance.random() < 0.15:
            self.put("else:")
            with self.block():
                self.statements(1)

    def put_count(self):
        small, i = self.of_kind(int, 1), self.fresh("i")
        bounds = self.chance.choice(["3", "2, 5", "5, 0, -1", "-4, 4, 3", f"{small} & 3", f"{small} & 3, 6",
                                     f"6, {small} & 3, -2", f"0, 4, ({small} & 1) + 1", "0"])
        self.loop(f"for {i} in range({bounds}):", {i: int})

    def put_walk(self):
        """for over arrays, tuples, enumerate, zip and reversed."""
        name = self.variable(lambda kind: self.walked(kind) is not None)
        if not name:
            return self.put_count()
        kind = self.walked(self.variables[name])
        one, other = self.fresh(), self.fresh("i")
        ways = [(f"for {one} in {name}:", {one: kind}),
                (f"for {other}, {one} in enumerate({name}):", {one: kind, other: int}),
                (f"for {other}, {one} in enumerate({name}, 3):", {one: kind, other: int}),
                (f"for {one} in reversed({name}):", {one: kind}),
                (f"for {other}, {one} in zip(range(4), {name}):", {one: kind, other: int})]
        if isinstance(self.variables[name], Array):
            ways += [(f"for {one} in {name}[::-1]:", {one: kind})]
        second = self.variable(lambda one: self.walked(one) is not None)
        both = {one: kind, other: self.walked(self.variables[second])}
        ways.append((f"for {one}, {other} in zip({name}, {second}):", both))
        header, targets = self.chance.choice(ways)
        return self.loop(header, targets, frozen=(name, second))

    @staticmethod
    def walked(kind):
        """What a loop over something of this kind gives, if compiled code can walk over it."""
        if isinstance(kind, Array) and kind.ndim:
            return kind.item if kind.ndim == 1 else Array(kind.item, kind.ndim - 1)
        if isinstance(kind, Tuple) and len(set(kind.items)) == 1 and kinds.is_scalar(kind.items[0]):
            return kind.items[0]
        return None

    def put_wait(self):
        n = self.fresh("n")
        self.put(f"{n} = {self.chance.choice(['3', '5', f'({self.of_kind(int, 1)} & 3)'])}")
        self.variables[n] = int
        self.frozen.add(n)
        condition = self.chance.choice([f"{n} > 0", f"{n}", f"{n} > 0 and {self.condition(2)}"])
        self.put(f"while {condition}:")
        self.loops += 1
        with self.block():
            self.put(f"{n} -= 1")
            self.statements(self.chance.choice([1, 2, 3]))
        self.loops -= 1

    def put_merge(self):
        """Two types meet after a branch."""
        one, other = self.meeting(self.scalar(2), self.scalar(2))
        kind, joins = self.joining((one, other))
        condition = self.unknown() if joins else self.condition(2)
        if not kind or not condition:
            return self.put_assign()
        name = self.fresh()
        for head, (text, _) in ((f"if {condition}:", one), ("else:", other)):
            self.put(head)
            self.put(f"    {name} = {text}")
        if joins:
            self.put(f"{name} = _join({name}, {kinds.name_of(kind)})")
        self.variables[name] = kind
        return None

    def put_accumulate(self):
        """A weak number becomes strong in a loop."""
        array = self.variable(lambda kind: isinstance(kind, Array) and kind.ndim == 1)
        if not array:
            return self.put_count()
        weak = self.chance.choice([int, float])
        operator = self.chance.choice(["+", "-", "*"])
        name, i, item = self.fresh(), self.fresh("i"), self.variables[array].item
        kind = kinds.joined(weak, item)
        template = "({} " + operator + " {})"
        if not kind or not self.allowed(template, [kind, item]) or kinds.result(template, kind, item) is not kind:
            return self.put_count()
        self.put(f"{name} = {kinds.literal(self.chance, weak)}")
        self.put(f"{name} = _join({name}, {kinds.name_of(kind)})")
        self.variables[name] = kind
        self.frozen.add(name)
        self.put(f"for {i} in range({array}.size):")
        with self.block():
            self.put(f"{name} {operator}= {array}[{i}]")
            self.variables[i] = int
            self.loops += 1
            self.statements(self.chance.choice([0, 0, 1]))
            self.loops -= 1
        self.frozen.discard(name)
        return None

    # ---- arrays ----

    def array(self, least=0):
        return self.variable(lambda kind: isinstance(kind, Array) and kind.ndim >= least)

    def put_store(self):
        name = self.array()
        if not name:
            return self.put_assign()
        kind = self.variables[name]
        index = ", ".join(self.index(name, axis, 1) for axis in range(kind.ndim)) or "()"
        text, value = self.scalar(2)
        operator = self.chance.choice(self.augmented(kind.item, value))
        if self.chance.random() < 0.4 and kinds.result("{} " + operator[:-1] + " {}", kind.item, value) is kind.item:
            return self.put(f"{name}[{index}] {operator} {text}")
        if not kinds.runs("{}[0] = {}", Array(kind.item, 1), value):
            text, value = self.of_kind(kind.item), kind.item
        return self.put(f"{name}[{index}] = {self.stored(text, value, kind.item)}")

    def slice(self):
        ends = ["", "", "1", "-1", "2", "-2"]
        small = self.variable(lambda kind: kind is int)
        ends += [small] if small else []
        step = self.chance.choice(["", "", ":2", ":-1", ":-1", ":-2", ":3"])
        return f"{self.chance.choice(ends)}:{self.chance.choice(ends)}{step}"

    def slices(self, ndim):
        """An index that keeps all dimensions."""
        items = [self.slice() for _ in range(self.chance.randint(0, ndim))]
        if len(items) < ndim and self.chance.random() < 0.3:
            items.insert(self.chance.randint(0, len(items)), "...")
        return ", ".join(items) or "..."

    def shifted(self, name, ndim):
        """Two views of an array, of one shape, that may overlap."""
        pairs = [("1:", ":-1"), (":-1", "1:"), (":", "::-1"), ("::-1", ":"), ("2:", ":-2"), (":", ":1"), (":", "-1:"),
                 (":", ":")]
        picked = [self.chance.choice(pairs) for _ in range(ndim)]
        return tuple(f"{name}[{', '.join(pair[side] for pair in picked)}]" for side in (0, 1))

    def put_store_slice(self):
        name = self.array(1)
        if not name:
            return self.put_store()
        kind = self.variables[name]
        if self.chance.random() < 0.4:
            to, of = self.shifted(name, kind.ndim)
            return self.put(f"{to} = {of}")
        to = f"{name}[{self.slices(kind.ndim)}]"
        other = self.array()
        if self.chance.random() < 0.4 and kinds.runs("{}[...] = {}", kind, self.variables[other]):
            if self.variables[other].ndim <= kind.ndim:
                return self.put(f"{to} = {self.stored(other, self.variables[other].item, kind.item)}")
        text, value = self.scalar(2)
        if not kinds.runs("{}[...] = {}", kind, value):
            text, value = self.of_kind(kind.item), kind.item
        return self.put(f"{to} = {self.stored(text, value, kind.item)}")

    def put_update_array(self):
        name = self.array(1)
        if not name:
            return self.put_store()
        kind = self.variables[name]
        operator = self.chance.choice(AUGMENTED[:-1] if not kinds.is_integer(kind.item) else AUGMENTED)
        if kind.item in kinds.COMPLEXES:  # NumPy's loops fuse complex products where the processor can
            operator = self.chance.choice(AUGMENTED[:2])
        roll = self.chance.random()
        if roll < 0.4:
            to, of = self.shifted(name, kind.ndim)
            if to.endswith(", ".join([":"] * kind.ndim) + "]"):
                to = name
            if kinds.runs("{} " + operator + " {}", kind, kind):
                return self.put(f"{to} {operator} {of}")
        other = self.array()
        if roll < 0.7 and kinds.runs("{} " + operator + " {}", kind, self.variables[other]):
            return self.put(f"{name}[{self.slices(kind.ndim)}] {operator} {other}")
        text, value = self.scalar(2)
        if kinds.runs("{} " + operator + " {}", kind, value):
            return self.put(f"{name}[{self.slices(kind.ndim)}] {operator} {text}")
        return self.put_store_slice()

    def put_view(self):
        name = self.array(1)
        if not name:
            return self.put_assign()
        kind, view = self.variables[name], self.fresh("w")
        text, ndim = self.chance.choice([(f"{name}[{self.slices(kind.ndim)}]", kind.ndim), (f"{name}.T", kind.ndim),
                                         (f"{name}[{self.index(name, 0)}, ...]", kind.ndim - 1),
                                         (f"{name}[None]", kind.ndim + 1)])
        if ndim > 3:
            return self.put_assign()
        self.put(f"{view} = {text}")
        self.variables[view] = Array(kind.item, ndim)
        return None

    # ---- functions ----

    def put_inner(self):
        """A function or a lambda that closes over this one's variables."""
        if self.loops:
            return self.put_assign()
        name, parameter = self.fresh("g"), self.fresh("a")
        kind = self.chance.choice([int, float, *kinds.STRONG])
        inner = type(self)(self.chance, self.counter)
        inner.variables = {one: it for one, it in self.variables.items() if one not in self.frozen} | {parameter: kind}
        inner.depth = self.depth + 1
        if self.chance.random() < 0.5:
            text, result = inner.scalar(2)
            self.put(f"{name} = lambda {parameter}: {text}")
        else:
            target = self.variable(kinds.is_scalar) if self.depth == 1 else None
            if target and target not in self.frozen and self.chance.random() < 0.4:
                inner.put(f"nonlocal {target}")
                inner.put(f"{target} = {inner.of_kind(self.variables[target])}")
            text, result = inner.scalar(3)
            inner.put(f"return {text}")
            self.put(f"def {name}({parameter}):")
            self.lines += inner.lines
        routine = Routine(name, [(parameter, kind, "plain")], result)
        for _ in range(self.chance.choice([1, 1, 2])):
            target = self.fresh()
            self.put(f"{target} = {self.call_of(routine)[0]}")
            self.variables[target] = result
        return None

    def result_text(self):
        texts = [self.of_kind(kind) for kind in self.results]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def parameters(self, parameters):
        """Brings the parameters (name -> kind) into scope; some are never assigned."""
        self.variables |= parameters
        self.arguments = {name for name in parameters if self.chance.random() < 0.5}
        self.frozen |= self.arguments

    def finish(self):
        """The last return."""
        if self.results:
            return self.put(f"return {self.result_text()}")
        names = list(self.variables)
        names = self.chance.sample(names, min(len(names), 6))
        extra = self.scalar(2)[0]
        return self.put(f"return ({', '.join([*names, extra])},)")
