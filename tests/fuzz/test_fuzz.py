"""A fixed number of random programs each time the suite runs.  Their seeds are drawn from the content of the sources:
every change of Krait meets programs that none met before, and whoever runs the suite on this content, anywhere, meets
the same ones.  `run.py` prints the first seed; `run.py SUBJECT --seed N --programs 1` repeats one program, and without
`--seed` it draws fresh ones.  What differs as the manual says (docs/manual/types.md) agrees; any other difference
fails."""

import collections
import importlib.util
import itertools
import os
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest

from portions import AGAIN, SHARE, drawn

HERE = pathlib.Path(__file__).resolve().parent
# As many as take a minute of one core together.
PROGRAMS = {"functions": 140, "objects": 60, "classes": 60, "kernels": 120, "arrays": 54}


def first_seed(subject):
    """Each subject and each CPython has its own."""
    return drawn(f"{subject} {sys.version_info.minor}")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("subject", PROGRAMS)
def test_random_programs(subject):
    programs = PROGRAMS[subject] // (SHARE if AGAIN else 1)
    command = [sys.executable, HERE / "run.py", subject, "--jobs", min(2, os.cpu_count()), "--minimise", 1,
               "--seed", first_seed(subject), "--programs", programs]
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_the_seeds_are_their_own():
    """Of each subject, and repeatable."""
    seeds = {subject: first_seed(subject) for subject in PROGRAMS}
    assert len(set(seeds.values())) == len(PROGRAMS)
    drawn.cache_clear()
    assert seeds == {subject: first_seed(subject) for subject in PROGRAMS}


def test_what_programs_of_classes_compare():
    """Values whose types the interpreter's comparison does not know: dates in lists, instances in exceptions."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import classes
    import oracle

    writer = classes.Writer(random.Random(1), itertools.count(), {})
    writer.samples = {"hours": np.datetime64(1, "h"), "seconds": np.datetime64(2, "s")}
    for unit in "hs":
        sample = [np.datetime64(1, unit)], (np.datetime64(3, unit), 1)
        for _ in range(20):
            assert classes.type_of(writer.run(writer.like(sample[0]))) == classes.type_of(sample[0])
            assert classes.type_of(writer.run(writer.like(sample[1]))) == classes.type_of(sample[1])

    def raised(number):
        return classes.plain(oracle.Raised(KeyError(collections.namedtuple("Pair", "a b")(1, number))))

    def instance(number):
        one = type("One", (), {"__module__": "fuzz"})()
        one.number = number
        return classes.plain((one, 1))

    assert classes.objects.difference((raised(2), "", ()), (raised(2), "", ())) is None
    assert classes.objects.difference((raised(2), "", ()), (raised(3), "", ()))
    assert instance(1) == instance(1) != instance(2)


def test_samples_that_grow_without_end():
    """A program adds a list to itself in a loop, and its handler takes every exception."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import sampled

    space = {"sampled": sampled}
    exec("""
def grow(x):
    for i in range(60):
        try:
            x += x
        except Exception:
            x = x
    return x
""", space)
    with pytest.raises(sampled.RunsOn), sampled.counted():
        space["grow"]([1, 2, 3])


def test_arrays_that_grow_without_end():
    """Each round makes the next one longer: neither the interpreter nor compiled code would come to an end."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import arrays
    from functions import Program

    source = """
def f(a, n):
    for _ in range(n):
        for _ in range(len(a)):
            a = np.append(a, a)
    return a
"""
    verdict = arrays.check(Program(source, [(np.ones(2), 1), (np.ones(3), 60)]))
    assert verdict == ("same", "")
    assert arrays.check(Program(source, [(np.ones(3), 60)]))[0] == "differs as documented"


def test_conditions_are_asked_each_way():
    """In a condition no types meet: 5e-324 is true, and the np.float16 of it is not.  As a value it is one."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    from functions import Program, check

    choice = "_join((np.float16(x) if x == 1 else x), np.float16)"
    for test in (choice, f"not {choice}", f"({choice} and x)", f"(x if x > 2 else {choice})"):
        for source in (f"    if {test}:\n        return 1\n    return 2\n", f"    return 1 if {test} else 2\n",
                       f"    assert {test}\n    return x\n", f"    return [0 for i in range(3) if {test}]\n"):
            assert check(Program("def f(x):\n" + source, [(5e-324,), (1.0,), (0.0,)])) == ("same", ""), source
    assert check(Program(f"def f(x):\n    return bool({choice})\n", [(5e-324,), (1.0,)])) == ("same", "")


def test_made_smaller_types_of_joins_stay():
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import ast

    import minimise

    smaller = [ast.unparse(one) for one in minimise.candidates("y = _join(a.b + c if a else c, np.float16)\n")]
    assert "y = _join(a.b + c, np.float16)" in smaller and "y = _join(a + c if a else c, np.float16)" in smaller
    assert not [text for text in smaller if not text.endswith(", np.float16)")]
    one, other = (minimise.likeness("wrong", f"call 1: compiled code raised RuntimeError(), expected {name}('x',)")
                  for name in ("TypeError", "ZeroDivisionError"))
    assert one != other


def test_dates_that_overflow():
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import documented
    import oracle

    raised = oracle.outcome(lambda: np.timedelta64(2**62, "s") * 4, (), {})  # from NumPy 2.5 on
    words = "Overflow in timedelta64 * int64 multiplication"
    assert documented.overflows_dates(raised) == isinstance(raised, oracle.Raised)
    assert documented.overflows_dates(oracle.Raised(OverflowError(words)))
    assert not documented.overflows_dates(oracle.Raised(OverflowError("int too large")))


def test_what_ends_a_program_of_objects():
    """A loop over what it changes, though the program catches that; ints of 64 bits in what a function made."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import objects
    from functions import Program

    changes = """
def f(d):
    try:
        return [d.pop(k) for k in d]
    except Exception:
        return []
"""
    told = "differs as documented"
    assert objects.check(Program(changes, [({1: 2, 3: 4},)])) == (told, "a loop over what it changes")
    added = "def f(x):\n    return list(map(operator.add, x, x))\n"
    assert objects.check(Program(added, [([2**62 + 1],)])) == (told, "an int beyond 64 bits")
    wrapped = "def f(x):\n    return x + x, -x, x << 3\n"
    assert objects.check(Program(wrapped, [(2**62 + 1,), (-(2**63),)])) == ("same", "")


def test_of_a_kernel_only_threads_that_end_early_are_excused():
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    # By its path: other tests import a module of this name.
    spec = importlib.util.spec_from_file_location("random_kernels", HERE / "kernels.py")
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)

    def check(line, **options):
        source = f"def f(out0, acc0, x):\n    i = cuda.grid(1)\n    if i < out0.shape[0]:\n        {line}\n"
        arrays = [np.zeros(3, np.int8), np.zeros(1), np.array([1.0, 1e10, 2.0])]
        return kernels.check(kernels.Launched(source, arrays, (1, 1, 1), (4, 1, 1), options), False)

    assert check("out0[i] = np.int8(x[i])") == ("same", "")
    assert check("out0[i] = np.int8(x[i] * 1e10)")[0] == "differs as documented"
    assert check("out0[i] = 7 - 300 * (i + 1)") == ("same", "")  # the low bits
    assert check("out0[i] = 3 // (i - 1)") == ("same", "")
    assert check("out0[i] = 3 // (i - 1)", check=True) == ("same", "")  # raised by both
    assert check("out0[i] = math.floor(x[i] * math.inf)", check=True) == ("same", "")
    assert check("out0[i] = math.floor(x[i] * math.inf)") == ("same", "")

    theirs, ours = ((np.array([1, 2, 3], np.int8), np.zeros(1), np.zeros(3)) for _ in range(2))
    ours[0][:] = 1, 9, 9
    program = kernels.Launched("def f(out0, acc0, x):\n    pass\n", [], (1, 1, 1), (4, 1, 1), {})
    assert kernels.excuse(program, ours, theirs, [((1, 0, 0), ValueError()), ((3, 0, 0), ValueError())])
    assert list(theirs[0]) == [1, 9, 3]
