"""Random programs of Python's own objects: texts, lists, tuples, dicts, sets, exceptions, match, inner functions and
comprehensions, and their comparison with the interpreter: results, exceptions, arguments after the call, what was
printed, and what is left on the heap.

Written from Python's library and language reference, not from what compiled code takes: what is refused is counted.
"""

import contextlib
import copy
import functools
import io

import object_tables as tables
import oracle
from documented import HELPERS, Differs, compiled_form, interpreted_forms, to_the_end
from functions import load, refusal
from object_parts import Further
from object_values import has_order, is_a, is_hashable, is_printable, parameter, text_of, type_of, value
from sampled import Sampled, counted, program

from krait import _testing, njit

CALLS = 4
# a loop over a dict or a set runs over what is there when it starts, as the manual says
ENDS = [functools.partial(Differs, why) for why in ("a program without an end", "a loop over what it changes")]


class Writer(Further, Sampled):
    """Writes the body of one function of objects."""

    type_of, twin = staticmethod(type_of), staticmethod(copy.deepcopy)

    # letter of a slot: groups to write from, which values fit, and what stands there if nothing else does
    SLOTS = {"T": ([(tables.TEXTS, 1)], is_a(str), ("'abc'", "'a b'", "''")),
             "I": ([(tables.INTS, 1)], is_a(int), ("0", "1", "-1", "2", "3")),
             "F": ([(tables.FLOATS, 1)], is_a(float), ("0.5", "2.0", "-1.25", "1e20")),
             "B": ([(tables.TRUTHS, 1)], is_a(bool), ("True", "False")),
             "L": ([(tables.LISTS, 1)], is_a(list), ("[1, 2]", "['b', 'a']", "[0.5]")),
             "D": ([(tables.DICTS, 1)], is_a(dict), ("{1: 2}", "{'a': 0.5}")),
             "E": ([(tables.SETS, 1)], is_a(set), ("{1, 2}", "{'a'}")),
             "U": ([(tables.TUPLES, 1)], is_a(tuple), ("(1, 2)", "(1, 'a')"))}

    # ---- expressions ----

    def slot(self, letter, depth):
        chance = self.chance
        if letter in self.SLOTS:
            groups, accepts, fallback = self.SLOTS[letter]
            name = self.variable(accepts)
            if depth > 0 and chance.random() > (0.6 if name else 0.3):
                return self.expression(groups, accepts, depth - 1) or name or chance.choice(fallback)
            return name if name and chance.random() < 0.85 else chance.choice(fallback)
        if letter == "C":
            return repr(chance.choice(tables.CHARACTERS))
        if letter == "N":
            name = self.variable(is_a(int))
            return chance.choice(["0", "1", "2", "3", "7", f"({name or 3} & 3)"])
        if letter == "S":
            return self.slot(chance.choice("IFIFB"), depth)
        if letter == "K":
            ends = ["", "", "1", "-1", "2", "-2", self.variable(is_a(int)) or "3"]
            return f"{chance.choice(ends)}:{chance.choice(ends)}{chance.choice(['', '', '', ':2', ':-1', ':-2'])}"
        if letter == "Q":
            return chance.choice(tables.SPECIFICATIONS)
        return self.container(letter)

    def container(self, letter):
        """A variable that fits a slot, or what stands for one."""
        accepts, fallback = {
            "V": (is_printable, "3"), "Z": (is_a(str, list, dict, set, tuple), "'abc'"),
            "O": (is_a(list, dict, set, tuple), "[1]"),
            "M": (lambda value: type_of(value) == (list, str), "['b', 'a']"),
            "J": (lambda value: type_of(value) == (list, int), "[3, 1]")}[letter]
        return self.variable(accepts) or fallback

    def related(self, depth, table=tables.RELATED):
        """What is said of, or done to, a variable that holds others."""
        name = self.variable(lambda value: type(value) in table)
        if not name:
            return None
        sample = self.samples[name]
        template = self.chance.choice(table[type(sample)])
        if name in self.frozen and any(change in template for change in (".pop", ".setdefault")):
            return None
        mixed = type(sample) is tuple and not has_order(sample)
        fits = not (mixed and template in tables.OF_ONE_TYPE) and (is_printable(sample) or template not in tables.SHOWN)
        return self.about(name, template, depth) if fits else None

    def about(self, name, template, depth):
        """The templates' @, $i and $k of a variable."""
        sample = self.samples[name]
        items = list(sample.values() if isinstance(sample, dict) else sample)
        for mark, values in (("$i", items), ("$k", list(sample)), ("$s", [sample])):
            while mark in template:
                template = template.replace(mark, self.like(self.chance.choice(values)), 1)
        return self.filled(template.replace("@", name), depth)

    def comprehension(self, depth):
        """A comprehension, a generator expression, or a function of each item."""
        name = self.variable(lambda value: has_order(value) and len(value) > 0)
        if not name or depth <= 0:
            return None
        sample, x, before = self.samples[name], self.fresh("x"), dict(self.samples)
        head, over = (x, name) if self.chance.random() < 0.8 else (f"{self.fresh('i')}, {x}", f"enumerate({name})")
        self.samples[x] = next(iter(sample))
        if type(sample) is dict and self.chance.random() < 0.5:
            y = self.fresh("y")
            head, over = f"{x}, {y}", f"{name}.items()"
            self.samples[y] = sample[self.samples[x]]
        item, other, test = self.near(x, depth), self.near(x, depth), self.filled("<B>", 1)
        if x not in test:
            test = self.filled(f"{item} == {item}", 0)
        printed, self.samples = is_printable(self.run(item)), before
        walk = f"for {head} in {over}" + (f" if {test}" if self.chance.random() < 0.4 else "")
        ways = [f"[{item} {walk}]", f"[{item} {walk}]", f"{{{item}: {other} {walk}}}", f"{{{item} {walk}}}",
                f"sum({item} {walk})",
                f"any({test} {walk})", f"all({test} {walk})", f"sum([{item} {walk}])", f"max([{item} {walk}])",
                f"[[{item} for _ in range(2)] {walk}]", f"[({item}, {other}) {walk}]"]
        ways += [f"','.join(str({item}) {walk})"] if printed else []
        if head == x:
            given = f"{name}, key=lambda {x}: {item}"
            ways += [f"list(map(lambda {x}: {item}, {name}))", f"list(filter(lambda {x}: {test}, {name}))",
                     f"sorted({given})", f"sorted({given}, reverse=True)", f"max({given})", f"min({given})",
                     f"sorted({item} {walk})"]
        return self.chance.choice(ways)

    def near(self, x, depth):
        """An expression of a variable."""
        for _ in range(6):
            text = self.related(depth - 1) if self.chance.random() < 0.3 else self.any(depth - 1)
            if text and x in text and type_of(self.run(text)):
                return text
        return x

    GROUPS = tuple((table, 10) for table in (tables.TEXTS, tables.INTS, tables.FLOATS, tables.TRUTHS, tables.LISTS,
                                             tables.TUPLES, tables.DICTS, tables.SETS))
    GROUPS += ((related,), 30), ((comprehension,), 16)

    def any(self, depth=2):
        return self.expression(self.GROUPS, lambda value: True, depth) or "1"

    def condition(self):
        return self.slot("B", 2)

    def like(self, sample):
        """A text of a value of the sample's type."""
        wanted = self.type_of(sample)
        name = self.variable(lambda value: self.type_of(value) == wanted)
        if name and self.chance.random() < 0.6:
            return name
        letter = {str: "T", int: "I", float: "F", bool: "B"}.get(type(sample))
        if letter and self.chance.random() < 0.5:
            return self.slot(letter, 0)
        return text_of(sample)

    def of_type(self, sample):
        text = self.expression(self.GROUPS, lambda value: self.type_of(value) == self.type_of(sample), 1)
        return text if text and self.chance.random() < 0.7 else self.like(sample)

    # ---- statements ----

    KINDS = (("assign", 30), ("change", 16), ("update", 10), ("branch", 8), ("count", 6), ("walk", 12), ("wait", 3),
             ("attempt", 9), ("check", 4), ("unpack", 5), ("leave", 3), ("build", 6), ("match", 4), ("inner", 4),
             ("tell", 3), ("early", 3), ("walrus", 2), ("maybe", 4), ("star", 2), ("made", 3), ("generator", 4),
             ("lazy", 3), ("manager", 1), ("tables", 2))

    def put_change(self):
        name = self.variable(is_a(list, dict, set))
        if not name or name in self.frozen:
            return
        text = self.about(name, self.chance.choice(tables.CHANGES[type(self.samples[name])]), 1)
        after = self.run(text, exec)
        kept = self.type_of(self.samples[name])
        if after and (not after[name] or self.type_of(after[name]) == kept is not None):
            self.put(text)
            if after[name]:
                self.samples[name] = after[name]

    def put_update(self):
        name = self.variable(is_a(str, int, float, tuple, list, set))
        if not name or name in self.frozen:
            return
        operator = self.chance.choice(["+=", "+=", "-=", "*=", "//=", "%=", "&=", "|="])
        text = f"{name} {operator} {self.like(self.samples[name])}"
        after = self.run(text, exec)
        if after and self.type_of(after[name]) == self.type_of(self.samples[name]):
            self.put(text)

    def put_walk(self):
        walked = self.variable(lambda value: has_order(value) and len(value) > 0)
        if not walked or self.loops > 1 or walked in self.frozen:
            return
        sample, x, y = self.samples[walked], self.fresh("x"), self.fresh("y")
        first = next(iter(sample))
        ways = [(f"for {x} in {walked}:", {x: first}), (f"for {y}, {x} in enumerate({walked}, 1):", {x: first, y: 1}),
                (f"for {x}, {y} in zip({walked}, range(3)):", {x: first, y: 1})]
        if type(sample) is dict:
            ways += [(f"for {x}, {y} in {walked}.items():", {x: first, y: sample[first]})] * 3
            ways += [(f"for {y} in {walked}.values():", {y: sample[first]})]
        else:
            ways += [(f"for {x} in reversed({walked}):", {x: first}), (f"for {x} in {walked}[::-1]:", {x: first})]
        if type(first) is tuple and len(first) == 2:
            ways += [(f"for {x}, {y} in {walked}:", {x: first[0], y: first[1]})] * 2
        head, names = self.chance.choice(ways)
        added = {walked} - self.frozen
        self.frozen |= added
        self.loop(head, names)
        self.frozen -= added
        if self.chance.random() < 0.15:
            with self.block("else:"):
                self.statements(1)

    def put_attempt(self):
        """try with values: bound on every way, returned from, raised again."""
        chosen, way = self.any(1), self.chance.random()
        name = self.bind(chosen)
        if not name:
            return
        sample = self.samples[name]
        if way < 0.6:
            self.put(f"{name} = {chosen}")
        else:
            del self.samples[name]
        with self.block("try:"):
            self.statements(self.chance.choice([1, 2]))
            if self.chance.random() < 0.4:
                self.put_check()
            self.put(f"{name} = {self.of_type(sample)}")
        if way >= 0.6 or self.chance.random() < 0.75:
            self.handlers(name, sample, always=way >= 0.6)
        else:
            with self.block("finally:"):
                self.statements(1)
        self.samples[name] = sample

    def handlers(self, name, sample, always):
        for _ in range(self.chance.choice([1, 1, 2])):
            error = self.fresh("e")
            with self.block(f"except {self.chance.choice(tables.ERRORS)}{self.chance.choice(['', f' as {error}'])}:"):
                self.statements(self.chance.choice([0, 1]))
                if self.lines[-1].strip().endswith(f" as {error}:") and self.chance.random() < 0.4:
                    said = self.bind(repr("ab"))
                    self.put(f"{said} = str({error})")
                self.put(f"{name} = {self.of_type(sample)}")
                if self.chance.random() < 0.15:
                    again = f"raise KeyError({self.slot('T', 0)})"
                    self.put(self.chance.choice(["raise", "raise ValueError('again')", again]))
        if always:
            with self.block("except Exception:"):
                self.put(f"{name} = {self.of_type(sample)}")
        for head in ("else:", "finally:"):
            if self.chance.random() < 0.3:
                with self.block(head):
                    self.statements(1)

    def put_check(self):
        self.put(f"if {self.condition()}:")
        with self.block_of():
            self.put(f"raise {self.filled(self.chance.choice(tables.RAISED), 0)}")

    @contextlib.contextmanager
    def block_of(self):
        self.depth += 1
        yield
        self.depth -= 1

    def put_unpack(self):
        name = self.variable(lambda value: type(value) in (tuple, list) and len(value) > 1)
        if not name:
            return
        sample, names = self.samples[name], [self.fresh() for _ in self.samples[name]][:3]
        if type(sample) is tuple and len(sample) == len(names):
            nested = isinstance(sample[0], tuple) and len(sample[0]) == 2 and self.chance.random() < 0.7
            inner = [self.fresh(), self.fresh()]
            self.put(f"{', '.join([f'({inner[0]}, {inner[1]})' if nested else names[0], *names[1:]])} = {name}")
            self.samples |= dict(zip(inner, sample[0])) if nested else {names[0]: sample[0]}
            self.samples |= dict(zip(names[1:], sample[1:]))
        elif type(sample) is list:
            self.put(f"{names[0]}, *{names[1]} = {name}")
            self.samples |= {names[0]: sample[0], names[1]: sample[1:]}

    def put_build(self):
        """What is empty at first is filled by a loop."""
        walked = self.variable(lambda value: has_order(value) and len(value) > 0)
        if not walked or self.loops > 1:
            return
        name, x, before = self.fresh(), self.fresh("x"), dict(self.samples)
        first = self.samples[x] = next(iter(self.samples[walked]))
        key, item = self.near(x, 1), self.near(x, 1)
        test = f"if {self.condition()}: " if self.chance.random() < 0.3 else ""
        one, other = self.run(key), self.run(item)
        self.samples = before
        ways = [("[]", f"{name}.append({item})", [other]), ("[]", f"{name}.insert(0, {item})", [other]),
                ("[]", f"{name} += [{item}]", [other])]
        if is_hashable(one):
            ways += [("{}", f"{name}[{key}] = {item}", {one: other}), ("set()", f"{name}.add({key})", {one}),
                     ("{}", f"{name}[{key}] = {name}.get({key}, 0) + 1", {one: 1}),
                     ("{}", f"{name}.setdefault({key}, []).append({item})", {one: [other]})]
        if type(first) is str:
            ways += [("''", f"{name} += {x}", "ab")]
        empty, step, sample = self.chance.choice(ways)
        if not type_of(sample):
            return
        self.put(f"{name} = {empty}")
        self.put(f"for {x} in {walked}:")
        self.put(f"    {test}{step}")
        self.samples[name] = sample

    def put_match(self):
        name = self.variable(lambda value: type(value) in tables.PATTERNS and type_of(value))
        result = self.any(1)
        sample = self.run(result)
        if not name or not type_of(sample):
            return
        subject, target = self.samples[name], self.fresh()
        patterns = self.chance.sample(tables.PATTERNS[type(subject)][:-1], 2)
        self.put(f"match {name}:")
        for pattern in (*patterns, "_"):
            x, y = self.fresh("x"), self.fresh("y")
            names = {}
            if isinstance(subject, (list, tuple)) and "{x}" in pattern and not isinstance(subject, tuple):
                names = {x: subject[0]} | ({y: subject} if "{y}" in pattern else {})
            elif "{x}" in pattern and not isinstance(subject, tuple):
                names = {x: subject}
            with self.block_of(), self.block(f"case {pattern.format(x=x, y=y)}:"):
                self.samples |= names
                self.statements(self.chance.choice([0, 0, 1]))
                self.put(f"{target} = {self.of_type(sample)}")
        self.samples[target] = sample

    def put_inner(self):
        """A function that closes over this one's variables."""
        if self.loops or self.depth > 1:
            return
        name, x = self.fresh("g"), self.fresh("a")
        sample = self.chance.choice([1, 2.5, "ab", [1, 2], ("a", 1)])
        inner = type(self)(self.chance, self.counter, dict(self.functions))
        inner.samples, inner.depth, inner.frozen = {**self.samples, x: sample}, 2, set(self.samples) | set(self.frozen)
        inner.KINDS = [row for row in self.KINDS if row[0] not in ("early", "leave", "update", "change", "unpack")]
        target = self.variable(is_a(int, str))
        if target and target not in self.frozen and self.chance.random() < 0.4:
            inner.put(f"nonlocal {target}")
            inner.put(f"{target} = {inner.of_type(self.samples[target])}")
        inner.statements(self.chance.choice([0, 1]))
        text = inner.any()
        result = inner.run(text)
        if not type_of(result):
            return
        inner.put(f"return {text}")
        default = f"={text_of(sample)}" if self.chance.random() < 0.3 else ""
        self.put(f"def {name}({x}{default}):")
        self.lines += inner.lines
        for _ in range(self.chance.choice([1, 2])):
            given = self.like(sample)
            if self.chance.random() < 0.3:
                given = "" if default else f"{x}={given}"
            bound = self.fresh()
            self.put(f"{bound} = {name}({given})")
            self.samples[bound] = result

    def put_tell(self):
        names = [self.slot("V", 0) for _ in range(self.chance.choice([1, 2]))]
        extra = self.chance.choice(["", "", ", sep='-'", ", end='!'"])
        self.put(f"print({', '.join(names)}{extra})")

    def put_early(self):
        if self.results is not None:
            self.put(f"if {self.condition()}:")
            self.put(f"    return {self.result_text()}")

    def put_maybe(self):
        """A variable that is None on some way, and what is done with it."""
        name, text, test = self.fresh("m"), self.slot("I", 1), self.condition()
        if self.chance.random() < 0.5:
            self.put(f"{name} = {text} if {test} else None")
        else:
            self.put(f"{name} = None")
            self.put(f"if {test}:")
            self.put(f"    {name} = {text}")
        for _ in range(self.chance.choice([1, 1, 2, 3])):
            self.samples[name] = 2
            said = self.filled(self.chance.choice(tables.MAYBE).replace("@", name), 1)
            bound = self.bind(said)
            del self.samples[name]
            if bound:
                self.put(f"{bound} = {said}")

    def put_star(self):
        """A function of the program is called with a starred tuple, or by keywords."""
        names = [name for name, function in self.functions.items() if hasattr(function, "samples")]
        if not names:
            return
        name = self.chance.choice(names)
        given = [self.like(sample) for sample in self.functions[name].samples]
        packed = self.fresh("t")
        bound = self.bind(f"{name}({', '.join(given)})")
        if bound and self.chance.random() < 0.6:
            self.put(f"{packed} = ({''.join(text + ', ' for text in given)})")
            self.put(f"{bound} = {name}(*{packed})")
        elif bound:
            names = self.functions[name].__code__.co_varnames
            self.put(f"{bound} = {name}({', '.join(f'{one}={text}' for one, text in zip(names, given))})")

    def put_walrus(self):
        name, text = self.fresh(), self.slot("I", 2)
        with self.block(f"if ({name} := {text}) > {self.slot('I', 0)}:"):
            self.samples[name] = 1
            self.statements(1)
        self.samples[name] = 1

    results = None  # samples of what every return gives, where there are early ones

    def result_text(self):
        texts = [self.of_type(sample) for sample in self.results]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def finish(self, most):
        if self.results is None:
            super().finish(most)
        else:
            self.put(f"return {self.result_text()}")


# ---- programs ----

def write(chance, name, counter, functions, types, statements, most):
    """A function: its lines, and its samples."""
    writer = Writer(chance, counter, functions)
    given = {f"p{next(counter)}": value(chance, kind) for kind in types}
    writer.samples = dict(given)
    if chance.random() < 0.3:
        writer.results = [value(chance, parameter(chance)) for _ in range(chance.choice([1, 1, 2]))]
    writer.statements(statements)
    writer.finish(most)
    return [f"def {name}({', '.join(given)}):", *writer.lines], list(given.values())


def generate(seed):
    return program(seed, write, parameter, [1, 2, 3, 5, 7],
                   lambda chance, types: [tuple(value(chance, kind) for kind in types) for _ in range(CALLS)])


# ---- running ----


def comparable(result):
    """Compared item by item, types included; sets in one order."""
    if isinstance(result, dict):
        return ("dict", *((comparable(key), comparable(item)) for key, item in result.items()))
    if isinstance(result, set):
        return ("set", *sorted(map(comparable, result), key=repr))
    if isinstance(result, (list, tuple)):
        return (type(result).__name__, *map(comparable, result))
    return result


def outcome(function, call):
    """What a call gave, its arguments after it, and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        result = to_the_end(lambda: oracle.outcome(function, call, {}))
    return result, printed.getvalue()


def check(program):
    compiled, _ = load(compiled_form(program.source), {})
    forms = [load(form, HELPERS)[0] for form in interpreted_forms(program.source)]
    compiled, verdict = njit(compiled), ("same", "")
    for number, call in enumerate(program.calls):
        try:
            with counted(10**5, *ENDS):
                theirs = [(*outcome(form, given), given) for form in forms for given in [copy.deepcopy(call)]]
        except Differs as documented:
            verdict = ("differs as documented", str(documented)) if number == 0 else verdict
            continue
        given = copy.deepcopy(call)
        objects = _testing.heap_objects()
        ours = (*outcome(compiled, given), given)
        if isinstance(ours[0], oracle.Raised) and getattr(type(ours[0].error), "__module__", "") == "krait.errors":
            return refusal(ours[0].error)
        faults = [difference(ours, their) for their in theirs]
        ours = None
        if None in faults and _testing.heap_objects() > objects:
            faults = ["an object of the heap was never released"]
        if None not in faults:
            return "wrong", f"call {number}: {faults[0]}"
    return verdict


def settled(raised):
    """The exception; a text in which a set may stand, which prints in an order of its own, as its characters."""
    error = copy.copy(raised.error)
    error.args = tuple("".join(sorted(one)) if isinstance(one, str) and "{" in one else one for one in error.args)
    return oracle.Raised(error)


def difference(ours, theirs):
    results = [settled(one) if isinstance(one, oracle.Raised) else comparable(one) for one in (ours[0], theirs[0])]
    try:
        oracle.compare_outcomes(*results)
        oracle.assert_same(comparable(ours[2]), comparable(theirs[2]), "the arguments after the call")
        assert ours[1] == theirs[1], f"printed {ours[1]!r}, expected {theirs[1]!r}"
    except AssertionError as error:
        return str(error)
    return None
