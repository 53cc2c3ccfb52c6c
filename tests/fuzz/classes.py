"""Random programs of namedtuples, dataclasses, instances of plain classes, generators, dates and durations, beside what
objects.py knows, and their comparison with the interpreter.

The classes and generators of a program stand before its function; the arguments are texts that make them, since each
form of a program (documented.py) has classes of its own.
"""

import copy
import dataclasses
import itertools
import random
from collections import namedtuple

import kinds
import numpy as np
import object_values as values
import objects
import oracle
from documented import HELPERS, Differs, compiled_form, interpreted_forms, overflows_dates
from functions import Program, load, refusal
from objects import CALLS, ENDS
from sampled import counted

from krait import _testing, njit

NAMES = {"namedtuple": namedtuple, "dataclass": dataclasses.dataclass}
KINDS = ("namedtuple", "frozen", "frozen", "dataclass", "plain")
FIELDS = (int, int, float, float, bool, np.float32, np.int8, (tuple, int, float))
UNITS = ("D", "s", "h", "ms")
# What is said of an instance: @ its name, % a field, $m a call of one of its methods, $s one like it.
OF_INSTANCES = ("@.%", "@.%", "@.%", "$m", "$m", "getattr(@, '%')", "hasattr(@, '%')", "isinstance(@, $c)",
                "(@.%, @.%)", "getattr(@, 'missing', <I>)", "(@ is None)", "(@ == $s)", "(@ != @)", "(@ is @)")
OF_RETURNED = ("(@ if <B> else $s)", "$s", "$s", "[@, $s]", "(@, <I>)")
OF_TUPLES = ("@[0]", "@[-1]", "len(@)", "bool(@ < $s)", "(@ == $s)", "(@ != @)", "list(@[:1])", "{@: <I>}",
             "@ + (<I>,)")
OPERATORS = (("__add__", "(@ + <I>)"), ("__rmul__", "(<I> * @)"), ("__sub__", "(@ - <I>)"), ("__mod__", "(@ % <I>)"),
             ("__call__", "@(<I>)"), ("__xor__", "(@ ^ <I>)"))
DURATIONS = ("(@ + $s)", "(@ - $s)", "(-@)", "(@ * <I>)", "(@ // <I>)", "(@ / $s)", "(@ // $s)", "(@ % $s)")
DATES = ("(@ - $s)", "(@ + np.timedelta64(<I>, '~'))", "(@ - np.timedelta64(<N>, '~'))",
         "np.datetime64('2024-02-28')", "np.datetime64('2024-02-28') + np.timedelta64(<N>, 'D')")
TIMES = ("(@ < $s)", "(@ == $s)", "(@ != @)", "(@ >= $s)", "@.astype(np.int64)", "np.isnat(@)", "(@ if <B> else $s)",
         "int(@.astype(np.int64) % 7)", "[@, $s]", "(@, <I>)")


def is_time(value):
    return isinstance(value, (np.datetime64, np.timedelta64))


def is_instance(value):
    return hasattr(type(value), "described")


def holds_others(value):
    """Whether it is a tuple or a list of which object_values knows no literal."""
    return type(value) in (tuple, list) and any(is_instance(item) or is_time(item) or holds_others(item)
                                                for item in value)


def type_of(value, deepest=6):
    """As object_values.type_of, with instances and times, which tuples and lists may hold."""
    if is_instance(value):
        return type(value)
    if is_time(value):
        return None if np.isnat(value) else (type(value), value.dtype.str)
    if type(value) is tuple and any(is_instance(item) or is_time(item) for item in value):
        items = tuple(type_of(item) for item in value)
        return None if None in items else (tuple, *items)
    if type(value) is list and value and (is_instance(value[0]) or is_time(value[0])):
        items = {type_of(item) for item in value}
        return (list, *items) if len(items) == 1 and None not in items else None
    return values.type_of(value, deepest)


class Described:
    """A class of a program: its kind, its fields and its methods (name -> what one gives)."""

    def __init__(self, name, kind, fields):
        self.name, self.kind, self.fields, self.methods = name, kind, fields, []
        self.said = []  # templates of its properties, constants and operators
        self.returned = kind in ("namedtuple", "frozen")

    def head(self):
        if self.kind == "namedtuple":
            return [f"class {self.name}(namedtuple('{self.name}', '{' '.join(self.fields)}')):", "    __slots__ = ()"]
        if self.kind == "plain":
            inits = [f"        self.{name} = {name}" for name in self.fields]
            return [f"class {self.name}:", f"    def __init__(self, {', '.join(self.fields)}):", *inits]
        mark = "@dataclass(frozen=True)" if self.kind == "frozen" else "@dataclass"
        return [mark, f"class {self.name}:", *(f"    {name}: {kinds.name_of(one) if isinstance(one, type) else 'tuple'}"
                                              for name, one in self.fields.items())]

    def text(self, chance):
        """A call that makes one."""
        items = [values.text_of(values.value(chance, kind)) for kind in self.fields.values()]
        return f"{self.name}({', '.join(items)})"


class Made:
    """An argument that each form of a program makes of its own classes."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


class Writer(objects.Writer):
    """Writes the body of one function of instances, generators and times."""

    type_of = staticmethod(type_of)

    def call(self):
        names = [name for name, one in self.functions.items() if hasattr(one, "samples")]
        if not names:
            return None
        name = self.chance.choice(names)
        text = f"{name}({', '.join(self.like(sample) for sample in self.functions[name].samples)})"
        if not self.functions[name].yields:
            return text
        return self.chance.choice(["list({})", "list({})", "sum({})", "max({})", "[x for x in {}]", "tuple({})",
                                   "len(list({}))", "sorted({})", "list(zip({}, range(3)))",
                                   "list(enumerate({}))", "next({})", "any({})"]).format(text)

    def said(self, depth):
        """What is said of an instance or a time."""
        name = self.variable(lambda value: is_instance(value) or is_time(value))
        if not name:
            return None
        sample = self.samples[name]
        if is_time(sample):
            table = DATES if isinstance(sample, np.datetime64) else DURATIONS
            template = self.chance.choice(table + TIMES).replace("~", np.datetime_data(sample.dtype)[0])
        else:
            template = self.chance.choice(self.of_instance(type(sample).described))
        while "$s" in template:
            template = template.replace("$s", self.like(sample), 1)
        return self.filled(template.replace("@", name), depth)

    def of_instance(self, described):
        table = OF_INSTANCES + (OF_RETURNED if described.returned else ())
        table += OF_TUPLES if described.kind == "namedtuple" else ()
        table += tuple(described.said) * 2
        table = [one for one in table if "$m" not in one or described.methods]
        field = self.chance.choice(list(described.fields))
        method = f"@.{self.chance.choice(described.methods)}(<I>)" if described.methods else ""
        return [one.replace("%", field).replace("$m", method).replace("$c", described.name) for one in table]

    def container(self, letter):
        """What is printed is no instance: the interpreter writes its class as it pleases."""
        if letter != "V":
            return super().container(letter)
        return self.variable(lambda value: values.type_of(value) and values.is_printable(value)) or "3"

    GROUPS = (*objects.Writer.GROUPS, ((said,), 90))

    def like(self, sample):
        if holds_others(sample):
            items = "".join(f"{self.like(item)}, " for item in sample)
            return f"[{items}]" if type(sample) is list else f"({items})"
        if not is_instance(sample) and not is_time(sample):
            return super().like(sample)
        name = self.variable(lambda value: type_of(value) == type_of(sample))
        if name and (self.chance.random() < 0.6 or is_instance(sample) and not type(sample).described.returned):
            return name
        if is_time(sample):
            return f"np.{type(sample).__name__}({int(sample.astype(np.int64))}, '{np.datetime_data(sample.dtype)[0]}')"
        fields = [self.like(getattr(sample, field)) for field in type(sample).described.fields]
        return f"{type(sample).described.name}({', '.join(fields)})"

    KINDS = (*objects.Writer.KINDS, ("over", 12), ("class_match", 8), ("taken", 4), ("kept", 6), ("maybe", 6))

    def put_over(self):
        """A loop over a generator."""
        names = [name for name, one in self.functions.items() if getattr(one, "yields", None) is not None]
        if not names or self.loops > 1:
            return
        name, x = self.chance.choice(names), self.fresh("x")
        made = f"{name}({', '.join(self.like(sample) for sample in self.functions[name].samples)})"
        head = self.chance.choice([f"for {x} in {made}:", f"for {x}, {self.fresh('y')} in zip({made}, range(4)):"])
        self.loop(head, {x: self.functions[name].yields})

    def put_class_match(self):
        name = self.variable(is_instance)
        if not name:
            return
        sample, target, result = self.samples[name], self.fresh(), self.any(1)
        kept = self.run(result)
        if not type_of(kept):
            return
        described = type(sample).described
        field, x = self.chance.choice(list(described.fields)), self.fresh("x")
        self.put(f"match {name}:")
        with self.block_of():
            with self.block(f"case {described.name}({field}={x}){self.chance.choice(['', f' if {x}'])}:"):
                self.samples[x] = getattr(sample, field)
                self.put(f"{target} = {self.of_type(kept)}")
            with self.block("case _:"):
                self.put(f"{target} = {self.of_type(kept)}")
        self.samples[target] = kept

    def put_taken(self):
        """A namedtuple taken apart."""
        name = self.variable(lambda value: is_instance(value) and isinstance(value, tuple))
        if name:
            names = [self.fresh() for _ in self.samples[name]]
            self.put(f"{', '.join(names)}, = {name}")
            self.samples |= dict(zip(names, self.samples[name]))

    def put_kept(self):
        """A generator expression in a variable, taken twice."""
        name = self.variable(lambda value: values.has_order(value) and len(value) > 0)
        if not name or self.loops > 1:
            return
        sample, x, g, before = self.samples[name], self.fresh("x"), self.fresh("g"), dict(self.samples)
        self.samples[x] = next(iter(sample))
        made = f"({self.near(x, 1)} for {x} in {name})"
        self.samples = before
        ways = ["list(@)", "sum(@)", "next(@)", "[x for x in @]", "sorted(@)", "any(@)", "max(@)", "list(zip(@, @))",
                "dict(enumerate(@))", "next(@, None) is None", "(@ is @)"]
        first = self.chance.choice(ways).replace("@", g)
        taken, left = self.fresh(), self.fresh()
        after = self.run(f"{g} = {made}\n{taken} = {first}\n{left} = len(list({g}))", exec)
        if after and self.type_of(after[taken]):
            self.put(f"{g} = {made}")
            self.put(f"{taken} = {first}")
            self.put(f"{left} = len(list({g}))")
            self.samples |= {taken: after[taken], left: after[left]}

    def put_maybe(self):
        """An instance, or None, which has no attributes."""
        name = self.variable(is_instance)
        if not name:
            return
        sample, maybe, found, error = self.samples[name], self.fresh("n"), self.fresh(), self.fresh("e")
        field = self.chance.choice(list(type(sample).described.fields))
        self.put(f"{maybe} = None")
        self.put(f"if {self.condition()}:")
        self.put(f"    {maybe} = {name}")
        text = self.fresh()
        self.put(f"{text} = ''")
        with self.block("try:"):
            self.put(f"{found} = {maybe}.{field}")
        with self.block(f"except AttributeError as {error}:"):
            self.put(f"{text} = str({error})")
            self.put(f"{found} = {self.like(getattr(sample, field))}")
        self.samples |= {found: getattr(sample, field), text: ""}

    def finish(self, most):
        before = self.samples
        self.samples = {name: value for name, value in before.items()
                        if not is_instance(value) or type(value).described.returned}
        super().finish(most)
        self.samples = before


# ---- programs ----


def write_class(chance, counter, space):
    kind, number = chance.choice(KINDS), next(counter)
    fields = {f"m{number}{letter}": chance.choice(FIELDS) for letter in "abc"[: chance.choice([1, 2, 2, 3])]}
    described = Described(f"{kind.capitalize()}{number}", kind, fields)
    lines = described.head()
    for _ in range(chance.choice([0, 0, 1])):
        name = f"K{next(counter)}"
        lines.append(f"    {name} = {values.text_of(values.value(chance, chance.choice([int, float, str, bool])))}")
        described.said += [f"@.{name}", f"{described.name}.{name}"]
    exec("\n".join(lines), space)
    instance = eval(described.text(chance), space)
    type(instance).described = described
    for _ in range(chance.choice([0, 1, 1, 2])):
        name, writer = f"do{next(counter)}", Writer(chance, counter, {})
        writer.samples, writer.depth, writer.frozen = {"self": instance, "k": 2}, 2, {"self", "k"}
        writer.KINDS = [row for row in Writer.KINDS if row[0] not in ("inner", "change", "tell", "early")]
        writer.statements(chance.choice([0, 0, 1, 2]))
        lines += [f"    def {name}(self, k):", *writer.lines, f"        return {writer.any(1)}"]
        described.methods.append(name)
    for _ in range(chance.choice([0, 0, 1])):
        name, writer = f"q{next(counter)}", Writer(chance, counter, {})
        writer.samples, writer.depth, writer.frozen = {"self": instance}, 2, {"self"}
        lines += ["    @property", f"    def {name}(self):", f"        return {writer.any(2)}"]
        described.said.append(f"@.{name}")
    for _ in range(chance.choice([0, 0, 1])):
        special, template = chance.choice(OPERATORS)
        writer = Writer(chance, counter, {})
        writer.samples, writer.depth, writer.frozen = {"self": instance, "k": 2}, 2, {"self", "k"}
        lines += [f"    def {special}(self, k):", f"        return {writer.any(2)}"]
        described.said.append(template)
    exec("\n".join(lines), space)
    space[described.name].described = described
    return described, lines


def write_generator(chance, counter, known):
    name, x = f"g{next(counter)}", f"x{next(counter)}"
    writer = Writer(chance, counter, known)
    types = [values.parameter(chance) for _ in range(chance.choice([1, 2]))]
    given = {f"p{next(counter)}": values.value(chance, kind) for kind in types}
    writer.samples, writer.depth, writer.loops = dict(given) | {x: 1}, 2, 2
    writer.frozen = {*given, x}
    writer.KINDS = [row for row in Writer.KINDS if row[0] not in ("inner", "early")]
    writer.statements(chance.choice([0, 1, 2]))
    text = writer.any(1)
    yields = writer.run(text)
    if not values.type_of(yields):
        return None
    lines = [f"def {name}({', '.join(given)}):", f"    for {x} in range({chance.choice([0, 1, 2, 3, 5])}):",
             *writer.lines, f"        yield {text}"]
    return name, lines, list(given.values()), yields


def some_time(chance):
    unit = chance.choice(UNITS)
    kind = chance.choice(["datetime64", "datetime64", "timedelta64"])
    return Made(f"np.{kind}({chance.choice([0, 1, -5, 59, 365, 20000, -800, 86399])}, '{unit}')"), (kind, unit)


def generate(seed):
    chance, counter, lines = random.Random(seed), itertools.count(), []
    space, known, classes = {**kinds.MODULES, **NAMES, "__name__": "fuzz"}, {}, []
    for _ in range(chance.choice([0, 1, 1, 2])):
        described, body = write_class(chance, counter, space)
        known[described.name] = space[described.name]
        classes.append(described)
        lines += body
    for _ in range(chance.choice([0, 0, 1, 1])):
        written = write_generator(chance, counter, dict(known))
        if written:
            name, body, samples, yields = written
            exec("\n".join([*lines, *body]), {**space})
            lines += body
            exec("\n".join(body), space)
            known[name] = space[name]
            known[name].samples, known[name].yields = samples, yields
    writer, makers = Writer(chance, counter, known), []
    for _ in range(chance.choice([1, 2, 3])):
        roll = chance.random()
        if classes and roll < 0.6:
            makers.append(lambda one=chance.choice(classes): Made(one.text(chance)))
        elif roll < 0.75:
            kind = some_time(chance)[1]
            makers.append(lambda kind=kind: Made(f"np.{kind[0]}({chance.choice([0, 1, -5, 59, 20000])}, '{kind[1]}')"))
        else:
            makers.append(lambda kind=values.parameter(chance): values.value(chance, kind))
    calls = [tuple(make() for make in makers) for _ in range(CALLS)]
    names = [f"p{next(counter)}" for _ in makers]
    writer.samples = dict(zip(names, made(calls[0], space)))
    writer.statements(chance.choice([1, 2, 3, 5, 7]))
    writer.finish(4)
    lines += [f"def f({', '.join(names)}):", *writer.lines]
    return Program("\n".join(lines) + "\n", calls)


def made(call, space):
    return [eval(one.text, space) if isinstance(one, Made) else copy.deepcopy(one) for one in call]


# ---- running ----


def plain(result):
    """Instances as what they hold, times as their unit and number, exceptions as their arguments."""
    if isinstance(result, oracle.Raised):
        result.error.args = tuple(map(plain, result.error.args))
        return result
    if is_time(result):
        return type(result).__name__, result.dtype.str, int(result.astype(np.int64))
    if dataclasses.is_dataclass(result):
        return (type(result).__name__, *(plain(getattr(result, f.name)) for f in dataclasses.fields(result)))
    if type(result).__module__ == "fuzz" and hasattr(result, "__dict__") and not isinstance(result, tuple):
        return (type(result).__name__, *((name, plain(item)) for name, item in vars(result).items()))
    if isinstance(result, tuple):
        return (type(result).__name__, *map(plain, result))
    if isinstance(result, list):
        return list(map(plain, result))
    if isinstance(result, dict):
        return {plain(key): plain(item) for key, item in result.items()}
    return result


def outcome(function, arguments):
    result, printed = objects.outcome(function, arguments)
    return plain(result), printed, ()


def check(program):
    function, _ = load(compiled_form(program.source), NAMES)
    forms = [load(form, {**HELPERS, **NAMES})[0] for form in interpreted_forms(program.source)]
    compiled, verdict = njit(function), ("same", "")
    for number, call in enumerate(program.calls):
        try:
            with counted(10**5, *ENDS):
                theirs = [outcome(form, made(call, form.__globals__)) for form in forms]
        except Differs as documented:
            verdict = ("differs as documented", str(documented)) if number == 0 else verdict
            continue
        if any(overflows_dates(end[0]) for end in theirs):
            continue
        given, objects_before = made(call, function.__globals__), _testing.heap_objects()
        ours = outcome(compiled, given)
        if isinstance(ours[0], oracle.Raised) and getattr(type(ours[0].error), "__module__", "") == "krait.errors":
            return refusal(ours[0].error)
        faults = [objects.difference(ours, their) for their in theirs]
        ours = None
        if None in faults and _testing.heap_objects() > objects_before:
            faults = ["an object of the heap was never released"]
        if None not in faults:
            return "wrong", f"call {number}: {faults[0]}"
    return verdict

