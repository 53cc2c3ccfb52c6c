"""Writes functions with sample values at hand: an expression that the interpreter refuses for them, or whose value has
no type that programs compute with, is not written, and a variable keeps the type of its first value."""

import contextlib
import itertools
import random
import re
import sys
import warnings

import kinds
import numpy as np
from functions import Program


MOST_LINES = 10**4  # that a function of a program may run for a sample
CHANGED = ("changed size during iteration", "keys changed during iteration")
MOST_ITEMS = 10**5  # of what such a function has in a variable: a list that is added to itself doubles with each round


class RunsOn(BaseException):
    """A sample keeps a loop going; no handler that a program may have takes it."""


def short_range(*bounds):
    numbers = range(*bounds)
    if len(numbers) > MOST_LINES:
        raise RunsOn
    return numbers


def has_grown(variables):
    return any(isinstance(one, (str, list, tuple)) and len(one) > MOST_ITEMS for one in variables.values())


@contextlib.contextmanager
def counted(most=MOST_LINES, end=RunsOn, changed=RunsOn):
    """What runs meanwhile has so many lines, and then that exception: a loop over a list that it makes longer has no
    end.  So it is with what grows beyond all measure; `changed` ends a loop over a dict or a set that it changes."""
    lines = itertools.count(1)

    def trace(frame, event, given):
        if event == "exception" and str(given[1]).endswith(CHANGED):
            raise changed()
        if event == "line":
            number = next(lines)
            if number > most or number % 16 == 0 and has_grown(frame.f_locals):
                raise end()
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


class Sampled:
    """The body of one function, line by line; `samples` holds a value of each variable in scope."""

    KINDS = ()  # (statement, weight): put_<statement> writes it

    def __init__(self, chance, counter, functions):
        self.chance, self.counter, self.functions = chance, counter, functions
        self.samples, self.lines, self.depth, self.loops = {}, [], 1, 0
        self.frozen = set()  # variables that loops depend on

    # ---- what a family of programs says of its values ----

    def type_of(self, value):
        """What a variable must keep, or None if programs do not compute with such."""
        raise NotImplementedError

    def twin(self, value):
        """A copy whose changes the value does not see."""
        raise NotImplementedError

    def slot(self, letter, depth):
        """The text that stands for <letter> in a template."""
        raise NotImplementedError

    # ---- expressions ----

    def run(self, text, way=eval):
        """What an expression gives for the samples, or a statement leaves of them; None if it raises."""
        samples = {name: self.twin(sample) for name, sample in self.samples.items()}
        space = {**kinds.MODULES, "range": short_range, **self.functions, **samples}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                with counted() if self.functions else contextlib.nullcontext():
                    value = way(text, space)
        except (Exception, RunsOn):
            return None
        return space if way is exec else value

    def fresh(self, letter="v"):
        return f"{letter}{next(self.counter)}"

    def variable(self, accepts):
        names = [name for name, value in self.samples.items() if accepts(value)]
        return self.chance.choice(names) if names else None

    def filled(self, template, depth):
        return re.sub(r"<([A-Z])>", lambda found: self.slot(found[1], depth), template)

    def written(self, groups, depth):
        """A text of one of the groups: (templates, weight), a template being a text or what writes one."""
        templates, weights = zip(*groups)
        template = self.chance.choice(self.chance.choices(templates, weights)[0])
        return self.filled(template, depth) if isinstance(template, str) else template(self, depth)

    def expression(self, groups, accepts, depth):
        """A text whose value is accepted, or None."""
        for _ in range(8):
            called = self.functions and self.chance.random() < 0.1
            text = self.call() if called else self.written(groups, depth)
            value = self.run(text) if text else None
            if self.type_of(value) and accepts(value):
                return text
        return None

    def call(self):
        name = self.chance.choice(list(self.functions))
        return f"{name}({', '.join(self.like(sample) for sample in self.functions[name].samples)})"

    # ---- statements ----

    def statements(self, number):
        names, weights = zip(*self.KINDS)
        for _ in range(number):
            getattr(self, "put_" + self.chance.choices(names, weights)[0])()

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    def put_if_it_runs(self, text):
        if self.run(text, exec):
            self.put(text)

    @contextlib.contextmanager
    def block(self, head):
        """What a suite assigns first is not there after it."""
        self.put(head)
        before, length = dict(self.samples), len(self.lines)
        self.depth += 1
        yield
        if len(self.lines) == length:
            self.put("pass")
        self.depth -= 1
        self.samples = before

    def bind(self, text):
        """The name of a variable for the value of a text: a new one, or one that has had such values."""
        value = self.run(text)
        kind = self.type_of(value)
        if not kind:
            return None
        old = self.variable(lambda one: self.type_of(one) == kind) if self.chance.random() < 0.3 else None
        name = old if old and old not in self.frozen else self.fresh()
        self.samples[name] = value
        return name

    def put_assign(self):
        text = self.any()
        name = self.bind(text)
        if name:
            self.put(f"{name} = {text}")

    def put_branch(self):
        with self.block(f"if {self.condition()}:"):
            self.statements(self.chance.choice([1, 2]))
        if self.chance.random() < 0.5:
            with self.block("else:"):
                self.statements(1)

    def loop(self, head, names):
        self.loops += 1
        with self.block(head):
            self.samples |= names
            self.frozen |= set(names)
            self.statements(self.chance.choice([1, 2, 3]))
        self.loops -= 1

    def put_count(self):
        if self.loops < 2:
            name = self.fresh("i")
            self.loop(f"for {name} in range({self.slot('N', 0)}):", {name: 1})

    def put_wait(self):
        if self.loops > 1:
            return
        name = self.fresh("n")
        self.put(f"{name} = 3")
        self.samples[name] = 3
        self.frozen.add(name)
        self.loops += 1
        with self.block(f"while {name} > 0 and {self.condition()}:"):
            self.put(f"{name} -= 1")
            self.statements(2)
        self.loops -= 1

    def put_leave(self):
        if self.loops:
            self.put(f"if {self.condition()}:")
            self.put(f"    {self.chance.choice(['break', 'continue'])}")

    def finish(self, most):
        names = self.chance.sample(list(self.samples), min(len(self.samples), most))
        texts = [*names, self.any()]
        self.put(f"return {texts[0] if len(texts) == 1 else '(' + ', '.join(texts) + ')'}")


def program(seed, write, parameter, sizes, calls):
    """Functions, and f that may call them, by `write` of a family of programs: f has one of `sizes` statements, and
    parameters of the types that `parameter` draws, which `calls` gives arguments."""
    chance, counter, functions, lines = random.Random(seed), itertools.count(), {}, []
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        name = f"h{next(counter)}"
        types = [parameter(chance) for _ in range(chance.choice([1, 2]))]
        body, samples = write(chance, name, counter, dict(functions), types, chance.choice([0, 1, 3]), 0)
        space = {**kinds.MODULES, **functions}
        exec("\n".join([*lines, *body]), space)
        lines += body
        functions = {**functions, name: space[name]}
        functions[name].samples = samples
    types = [parameter(chance) for _ in range(chance.choice([1, 2, 2, 3]))]
    body, _ = write(chance, "f", counter, functions, types, chance.choice(sizes), 4)
    return Program("\n".join([*lines, *body]) + "\n", calls(chance, types))
