"""Where machine code lies (codegen_cpu/code_memory.c): functions share mappings, and their memory is used again."""

import gc

import numpy as np
import pytest
from krait import njit, vectorize


def mappings():
    with open("/proc/self/maps") as file:
        return len(file.readlines())


def executable():
    """Bytes of memory without a file that may run."""
    total = 0
    with open("/proc/self/maps") as file:
        for line in file:
            fields = line.split()
            if "x" in fields[1] and len(fields) == 5:
                start, end = fields[0].split("-")
                total += int(end, 16) - int(start, 16)
    return total


def make(number):
    scope = {"np": np}
    exec(f"def f(x):\n    return np.sqrt(x * {number}.5) + {number}", scope)
    return njit(scope["f"])


def test_functions_share_mappings():
    made = [make(i) for i in range(20)]
    for function in made:
        function(2.0)
    before = mappings()
    for i in range(20, 320):
        made.append(make(i))
        made[-1](2.0)
    assert mappings() < before + 40  # one or two each were 300
    for i, function in enumerate(made):
        assert function(2.0) == np.sqrt(2.0 * (i + 0.5)) + i


def test_what_was_dropped_between_others_leaves_no_mappings():
    made = [make(i) for i in range(200)]
    for function in made:
        function(1.0)
    before = mappings()
    del made[::2], function
    gc.collect()
    assert mappings() < before + 20
    for i, function in enumerate(made):
        assert function(2.0) == np.sqrt(2.0 * (2 * i + 1.5)) + 2 * i + 1


def test_memory_is_used_again():
    def turn():
        made = [make(i) for i in range(50)]
        return [function(2.0) for function in made]

    first = turn()
    gc.collect()
    for _ in range(3):
        assert turn() == first
    gc.collect()
    before = executable()
    assert before >= 50 * 4096
    for _ in range(6):
        turn()
        gc.collect()
    assert executable() < before + 50 * 4096


@pytest.mark.parametrize("lines", [10, 3000])
def test_objects_of_any_size(lines):
    text = "def f(x, y):\n" + "".join(f"    x = x * {i}.25 + y[{i % 7}]\n" for i in range(lines)) + "    return x"
    scope = {}
    exec(text, scope)
    y = np.linspace(-1e-3, 1e-3, 7)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(njit(scope["f"])(0.0, y), scope["f"](0.0, y))


def test_tables_of_constants_and_addresses():
    table = np.arange(1000.0)

    @njit
    def look(i):
        return table[i] + (3, 1, 4, 1, 5, 9, 2, 6)[i % 8]

    @vectorize
    def sine(x):
        return np.sin(x)

    assert look(999) == table[999] + 6
    np.testing.assert_allclose(sine(table), np.sin(table), rtol=1e-14)
