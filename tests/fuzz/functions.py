"""Random programs of host functions, and their comparison with the interpreter."""

import linecache
import math
import random
import re

import numpy as np

import kinds
import oracle
from documented import HELPERS, Differs, compiled_form, interpreted_forms, to_the_end
from expressions import Routine
from kinds import Array, Tuple
from parallel import CHUNKS, Parallel
from statements import Statements

from krait import errors, njit, parallel_chunksize, prange

CALLS = 4  # sets of arguments for each program


class Program:
    """The text of a program, marked as documented.py says, and the arguments of its calls."""

    def __init__(self, source, calls):
        self.source, self.calls = source, calls

    def __str__(self):
        calls = "\n".join(f"#   f({', '.join(map(repr, call))})" for call in self.calls)
        return f"{compiled_form(self.source)}# called as\n{calls}\n"


def scalar_kind(chance):
    strong = chance.choice([kinds.STRONG, kinds.INTS])
    return chance.choice([int, int, float, float, bool, complex, chance.choice(strong), chance.choice(strong)])


def parameter_kind(chance):
    roll = chance.random()
    if roll < 0.55:
        return scalar_kind(chance)
    if roll < 0.92:
        return Array(chance.choice(kinds.ELEMENTS), chance.choice([0, 1, 1, 1, 2, 2, 3]))
    if roll < 0.96:
        return Tuple((scalar_kind(chance),) * chance.choice([1, 2, 3]))
    return Tuple(tuple(scalar_kind(chance) for _ in range(2)))


def write_routine(chance, name, routines, space):
    """A function at the top of the program: its lines and what calls need to know."""
    writer = Statements(chance, space["counter"])
    writer.variables = dict(space["globals"])
    writer.frozen = set(space["globals"])
    writer.routines = list(routines)
    parameters, texts = [], []
    for _ in range(chance.choice([1, 2, 2, 3])):
        way = chance.choice(["plain", "plain", "default", "keyword"])
        if parameters and way == "plain" and parameters[-1][2] != "plain":
            way = parameters[-1][2]
        if parameters and parameters[-1][2] == "keyword":
            way = "keyword"
        kind = scalar_kind(chance) if way == "plain" else chance.choice([int, float])
        parameters.append((writer.fresh("a"), kind, way))
        default = "" if way == "plain" else f"={kinds.literal(chance, kind)}"
        if way == "keyword" and "*" not in texts:
            texts.append("*")
        texts.append(parameters[-1][0] + default)
    writer.parameters({one: kind for one, kind, _ in parameters})
    writer.arguments = set()  # a call may pass constants
    writer.budget = chance.choice([0, 1, 3])
    if chance.random() < 0.4:
        writer.results = [scalar_kind(chance)]
    writer.statements(writer.budget)
    result = writer.results[0] if writer.results else None
    text = writer.of_kind(result) if result else None
    if not text:
        text, result = writer.scalar()
    writer.put(f"return {text}")
    return [f"def {name}({', '.join(texts)}):", *writer.lines], Routine(name, parameters, result)


def generate(seed):
    chance = random.Random(seed)
    writer = Parallel(chance) if chance.random() < 0.2 else Statements(chance)
    lines, routines = [], []
    space = {"counter": writer.counter, "globals": {}}
    for _ in range(chance.choice([0, 0, 1, 2])):
        kind, name = scalar_kind(chance), writer.fresh("G")
        lines.append(f"{name} = {text_of(kinds.number(chance, kind))}")
        space["globals"][name] = kind
    for _ in range(chance.choice([0, 0, 1, 2])):
        body, routine = write_routine(chance, writer.fresh("h"), routines, space)
        lines += body
        routines.append(routine)
    parameters = {writer.fresh("p"): parameter_kind(chance) for _ in range(chance.choice([1, 2, 3, 4]))}
    writer.variables = dict(space["globals"])
    writer.frozen = set(space["globals"])
    writer.parameters(parameters)
    writer.routines = routines
    writer.budget = chance.choice([2, 4, 6, 9, 13])
    if chance.random() < 0.3:
        writer.results = [scalar_kind(chance) for _ in range(chance.choice([1, 1, 2]))]
    writer.statements(writer.budget)
    writer.finish()
    lines += [f"def f({', '.join(parameters)}):", *writer.lines]
    calls = [arguments(chance, parameters.values()) for _ in range(CALLS)]
    return Program("\n".join(lines) + "\n", calls)


def text_of(value):
    """repr, but for what has no literal."""
    if isinstance(value, np.generic) and not isinstance(value, (np.bool_, np.complexfloating)):
        inner = f'"{value}"' if isinstance(value, np.floating) and not np.isfinite(value) else f"{value.item()!r}"
        return f"{kinds.name_of(type(value))}({inner})"
    if isinstance(value, np.bool_):
        return f"np.bool_({bool(value)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, (complex, np.complexfloating)):
        return f'{kinds.name_of(type(value))}(complex("{complex(value)}"))'
    return repr(value)


def arguments(chance, types):
    """A value of each type; arrays of equal type may be views of one array."""
    made, bases = [], {}
    for kind in types:
        if isinstance(kind, Tuple):
            made.append(tuple(kinds.number(chance, item) for item in kind.items))
        elif isinstance(kind, Array):
            if kind in bases and chance.random() < 0.6:
                array = bases[kind]
                array = array[tuple(slice(None, None, chance.choice([1, 1, -1])) for _ in range(kind.ndim))]
            else:
                shape = tuple(chance.choice([0, 1, 2, 3, 3, 4, 5]) for _ in range(kind.ndim))
                array = bases[kind] = kinds.spread(chance, shape, kind.item)
            if kind.ndim and chance.random() < 0.01:
                array = array[...]
                array.flags.writeable = False
            made.append(array)
        else:
            made.append(kinds.number(chance, kind))
    return tuple(made)


# ---- running ----


def load(source, names):
    """The function f of a program, whose lines are known to tracebacks."""
    filename = f"<fuzz {len(linecache.cache)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    space = {**kinds.MODULES, "__name__": "fuzz", **names}
    exec(compile(source, filename, "exec"), space)
    return space["f"], filename


def check(program):
    """One program: ("same" | "differs as documented" | "refused" | "wrong", text)."""
    compiled, filename = load(compiled_form(program.source), {"prange": prange})
    forms = [load(form, {**HELPERS, "prange": range}) for form in interpreted_forms(program.source)]
    try:
        dispatcher = njit(parallel="prange" in program.source)(compiled)
        return check_calls(dispatcher, [function for function, _ in forms], program.calls)
    finally:
        for name in (filename, *(name for _, name in forms)):
            linecache.cache.pop(name, None)


def check_calls(compiled, interpreted, calls):
    verdict = ("same", "")
    for number, call in enumerate(calls):
        ours_in = oracle.copy_argument(call)
        with parallel_chunksize(CHUNKS[number % len(CHUNKS)]):
            ours = oracle.outcome(compiled, ours_in, {})
        if isinstance(ours, oracle.Raised) and isinstance(ours.error, errors.KraitError):
            return refusal(ours.error)
        try:
            faults = [fault for apart, form in enumerate(interpreted)
                      if (fault := difference(ours, ours_in, form, call, apart))]
        except Differs as documented:
            verdict = ("differs as documented", str(documented)) if verdict[0] == "same" and number == 0 else verdict
            continue
        if len(faults) == len(interpreted):
            return "wrong", f"call {number}: {faults[0]}"
    return verdict


def difference(ours, ours_in, interpreted, call, apart=False):
    """What a call of the compiled function did that the interpreted one does not; None: it is the same."""
    theirs_in = oracle.copy_argument(call)
    theirs = to_the_end(lambda: oracle.outcome(interpreted, theirs_in, {}))
    if apart:
        theirs = met(ours, theirs)
    try:
        oracle.compare_outcomes(ours, theirs)
        for i, (our, their) in enumerate(zip(ours_in, theirs_in)):
            oracle.assert_same(our, their, f"argument {i} after the call")
        shared = oracle.shared_with(ours, ours_in) == oracle.shared_with(theirs, theirs_in)
        assert shared, "another argument's memory was returned"
    except AssertionError as error:
        return str(error)
    return None


def met(ours, theirs):
    """What one of two ends of a function gives, where its type meets that of the other end's result."""
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and len(ours) == len(theirs):
        return tuple(map(met, ours, theirs))
    if isinstance(ours, oracle.Raised) and isinstance(ours.error, OverflowError) and isinstance(theirs, tuple):
        out = re.search(r"Python integer (-?\d+) out of bounds", str(ours.error))
        return ours if out and int(out[1]) in [item for item in theirs if type(item) is int] else theirs
    if type(ours) is type(theirs) or not kinds.kind_of(ours) or not kinds.kind_of(theirs):
        return theirs
    numbers = not isinstance(ours, (tuple, np.ndarray)) and not isinstance(theirs, (tuple, np.ndarray))
    if not numbers or kinds.joined(type(ours), type(theirs)) is not type(ours):
        return theirs
    try:
        return type(ours)(theirs)
    except OverflowError:
        return theirs


def refusal(error):
    text = str(error)
    if isinstance(error, errors.LoweringError):
        return "wrong", f"{type(error).__name__}: {text}"
    return "refused", text
