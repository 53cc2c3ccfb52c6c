"""From function objects to SSA: opcode tables, decoding, control flow, names, constants, guards, refusals."""

import dis
import enum
import importlib
import math
import opcode
import pathlib
import re
import subprocess
import sys
import types

import frontend_cases
import numpy as np
import pytest

from krait import _testing

VERSION = sys.version_info[:2]


def ir(function, **options):
    return _testing.frontend("ir", function, **options)


def body(function):
    """The lines of a function of one block, without numbers of objects."""
    lines = ir(function).splitlines()
    assert lines[1] == "b0:" and not any(line.startswith("b1") for line in lines), "\n".join(lines)
    return [line.strip() for line in lines[2:-1]]


# ---- golden text -----------------------------------------------------------------------------------------------------

CASES = {name: f for name, f in vars(frontend_cases).items() if isinstance(f, types.FunctionType)}

# Where the compilers of the versions arrange the same code in different ways that the frontend cannot bring together.
DIFFERENT = {("matching", (3, 12))}


@pytest.mark.parametrize("name", CASES)
def test_golden(name, golden):
    text = ir(CASES[name])
    nested = _testing.frontend("nested", CASES[name])
    suffix = "-%d.%d" % VERSION if (name, VERSION) in DIFFERENT else ""
    golden(re.sub(r"#\d+", "#N", text + nested), f"frontend/{name}{suffix}.ir")


def test_text_is_a_function_of_the_code():
    for function in CASES.values():
        assert ir(function) == ir(function)


# ---- opcode tables ---------------------------------------------------------------------------------------------------

# What can stand in the code that PyCode_GetCode gives: neither pseudo instructions nor instrumented ones.
OPCODES = {name: number for name, number in dis.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED_")}


def caches_of(name, number):
    caches = opcode._inline_cache_entries
    return caches.get(name, 0) if isinstance(caches, dict) else caches[number]


@pytest.mark.parametrize("name", OPCODES)
def test_opcode_has_a_row(name):
    row = _testing.opcode(OPCODES[name], 0, False)
    assert row is not None, f"{name} is neither translated nor refused"
    assert row[0] == name
    assert row[1] == caches_of(name, OPCODES[name])
    assert row[2] is None or len(row[2]) > 10, "a refusal says why"


def test_no_row_for_what_does_not_exist():
    for number in set(range(256)) - set(OPCODES.values()):
        assert _testing.opcode(number, 0, False) is None


@pytest.mark.parametrize("name", OPCODES)
@pytest.mark.parametrize("jump", [False, True])
def test_stack_effect(name, jump):
    number = OPCODES[name]
    takes_arg = number in dis.hasarg if hasattr(dis, "hasarg") else number >= dis.HAVE_ARGUMENT
    checked = 0
    for arg in range(64) if takes_arg else [0]:
        _, _, refused, effect = _testing.opcode(number, arg, jump)
        if refused:
            continue
        if name == "BUILD_SLICE" and arg not in (2, 3):
            continue  # there are no others, and CPython's table does not count them
        if name in ("PRECALL", "CALL") and VERSION == (3, 11):
            expected = {"PRECALL": 0, "CALL": -1 - arg}[name]  # 3.11 books the arguments on PRECALL
            assert dis.stack_effect(dis.opmap["PRECALL"], arg) + dis.stack_effect(dis.opmap["CALL"], arg) == -1 - arg
        elif name == "RETURN_GENERATOR":
            expected = 1  # what the next instruction pops; 3.11 does not count it
        else:
            expected = dis.stack_effect(number, arg if takes_arg else None, jump=jump)
        assert effect == expected, f"{name} {arg}"
        checked += 1
    assert checked or refused


# ---- positions, and every function of some libraries -----------------------------------------------------------------

MODULES = """ast calendar colorsys dataclasses datetime decimal difflib dis email.message fractions functools heapq
    inspect json.decoder json.encoder logging pickle random statistics subprocess tarfile textwrap threading tokenize
    traceback typing unittest.case zipfile numpy.lib._function_base_impl numpy.linalg._linalg numpy.ma.core""".split()


def nested_codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested_codes(constant)


def codes_of(module):
    path = module.__file__
    yield from nested_codes(compile(pathlib.Path(path).read_text(encoding="utf-8"), path, "exec"))


@pytest.mark.parametrize("name", MODULES)
def test_positions(name):
    for code in codes_of(importlib.import_module(name)):
        expected = [tuple(part or 0 for part in position) for position in code.co_positions()]
        assert _testing.positions(code) == expected, code


@pytest.mark.parametrize("name", MODULES)
def test_library_functions(name):
    """Each becomes SSA that the verifier accepts, or is refused with a place and a reason."""
    module = importlib.import_module(name)
    for code in codes_of(module):
        if not code.co_flags & inspect_flag("OPTIMIZED"):
            continue
        cells = tuple(types.CellType(1) for _ in code.co_freevars)
        function = types.FunctionType(code, vars(module), closure=cells)
        assert _testing.frontend("bytecode", function)
        for row in ("ir", "nested"):
            try:
                _testing.frontend(row, function)
            except ValueError as refusal:
                kind, text = str(refusal).split(":", 1)
                assert kind in ("UNSUPPORTED", "UNSUPPORTED_OBJECT", "NAME", "NO_ATTRIBUTE", "PYTHON"), str(refusal)
                assert "File" in text and ", line " in text, str(refusal)


def inspect_flag(name):
    return next(number for number, text in dis.COMPILER_FLAG_NAMES.items() if text == name)


# ---- source ranges ---------------------------------------------------------------------------------------------------


def ranges(function):
    """(operation, variable or None, source text it covers) of each value."""
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    found = []
    for line in _testing.frontend("spans", function).splitlines():
        op, name, span = line.split()
        first, col, last, end = map(int, re.fullmatch(r"(\d+):(\d+)-(\d+):(\d+)", span).groups())
        text = lines[first - 1].encode()[col:end].decode() if first == last else lines[first - 1].strip()
        found.append((op, None if name == "-" else name, text))
    return found


def test_ranges():
    def distance(x, y):
        größe = x * x + y[0]
        for z in range(x):
            größe += z
        return math.sqrt(größe)

    found = ranges(distance)
    assert ("mul", None, "x * x") in found
    assert ("add", "größe", "x * x + y[0]") in found
    assert ("getitem", None, "y[0]") in found
    assert ("call", None, "range(x)") in found
    assert ("iter_take", "z", "range(x)") in found
    assert ("add", "größe", "größe += z") in found
    assert ("call", None, "math.sqrt(größe)") in found
    assert ("const", None, "math.sqrt") in found


# ---- constants -------------------------------------------------------------------------------------------------------

Color = enum.Enum("Color", "RED GREEN")
Level = enum.IntEnum("Level", "LOW HIGH")
Options = types.SimpleNamespace(size=8, inner=types.SimpleNamespace(rate=0.5))


class Settings:
    steps = 12


class Point(tuple):
    x = property(lambda self: self[0])


def constant(value):
    """How a global with this value reads in IR."""
    namespace = {"value": value}
    exec("def f(): return value", namespace)
    first, last = body(namespace["f"])
    assert last == "return %0"
    return re.sub(r"#\d+", "#N", re.sub("^%0( value)? = const ", "", first))  # arrays keep their name


@pytest.mark.parametrize(
    "value, text",
    [
        (3, "3"),
        (-(2**63), "-9223372036854775808"),
        (2**63, "int(too_big)"),
        (True, "True"),
        (2.5, "2.5"),
        (-0.0, "-0.0"),
        (1 + 2j, "complex(1.0, 2.0)"),
        (None, "None"),
        (..., "Ellipsis"),
        ("text", '"text"'),
        ((), "()"),
        ((1, (2.5, None)), "(1, (2.5, None))"),
        (np.float32(0.1), "float32(0.10000000149011612)"),
        (np.float16(0.5), "float16(0.5)"),
        (np.float64(2.5), "float64(2.5)"),
        (np.int8(-3), "int8(-3)"),
        (np.uint64(2**64 - 1), "uint64(18446744073709551615)"),
        (np.longlong(5), "int64(5)"),
        (np.bool_(True), "bool_(True)"),
        (np.complex64(1 - 2j), "complex64(1.0, -2.0)"),
        (np.complex128(1j), "complex128(0.0, 1.0)"),
        (int, "class(int)"),
        (float, "class(float)"),
        (complex, "class(complex)"),
        (bool, "class(bool)"),
        (np.float32, "class(float32)"),
        (np.bool_, "class(bool_)"),
        (np.longlong, "class(int64)"),
        (np.dtype("<i2"), "dtype(int16)"),
        (Level.HIGH, f"enum {__name__}.Level#N(2)"),
        (Color.RED, "member tests.frontend.test_frontend.Color#N(0)"),
        (math, "object#N"),
        (Settings, "object#N"),
        ("".join, "object#N"),
        (ValueError, "exc_class#N"),
        (math.sin, "func(math.sin)"),
        (len, "func(builtins.len)"),
        (range, "func(builtins.range)"),
        (np.add, "func(numpy.add)"),
        (body, "pyfunc#N"),
    ],
)
def test_constant(value, text):
    assert constant(value) == text


def test_constant_arrays():
    address = r"@\d+"
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert re.fullmatch(r"array\(float32, 2, C\)\[3, 4; 16, 4\]" + address, constant(array))
    assert re.fullmatch(r"array\(float32, 2, F\)\[4, 3; 4, 16\]" + address, constant(array.T))
    assert re.fullmatch(r"array\(float32, 2, A\)\[3, 2; 16, 8\]" + address, constant(array[:, ::2]))
    array.flags.writeable = False
    assert re.fullmatch(r"array\(float32, 2, C, readonly\)\[3, 4; 16, 4\]" + address, constant(array))


def test_arrays_in_globals_of_kernels_are_read_only():
    namespace = {"value": np.zeros(3)}
    exec("def f(): return value", namespace)
    assert "array(float64, 1, C, readonly)" in ir(namespace["f"], readonly_globals=True)
    assert "array(float64, 1, C)[" in ir(namespace["f"])


@pytest.mark.parametrize(
    "value",
    [[1], {}, {1}, b"x", bytearray(b"x"), np.zeros(2, "O"), np.zeros(2, ">f8"), np.zeros(2, ">M8[s]"),
     np.longdouble(1), np.ma.zeros(3), np.zeros((1,) * 33), "\ud800", "a\0b"],
    ids=lambda value: type(value).__name__,
)
def test_refused_constant(value):
    with pytest.raises(ValueError, match="^(UNSUPPORTED_OBJECT|PYTHON): "):
        constant(value)


def test_attributes_of_constants():
    def f():
        values = Options.size, Options.inner.rate, Settings.steps, Color.GREEN.value, math.pi
        return values, np.linalg, POINT.x, POINT[1]

    texts = [line.split(" = ")[1] for line in body(f)[:-1]]
    assert texts[:5] == ["const 8", "const 0.5", "const 12", "const 2", f"const {math.pi!r}"]
    assert texts[5] == "tuple %0, %1, %2, %3, %4"
    assert texts[6].startswith("const object#")
    assert texts[7:10] == ["const 3", "const (3, 4)", "const 1"]


POINT = Point((3, 4))


def test_krait_names():
    from krait import cuda, float32

    def f():
        cuda.syncthreads()
        i = cuda.threadIdx.x + cuda.blockIdx.y * cuda.warpsize
        d = cuda.blockDim
        return i, cuda.grid(1), d.z, float32(2)

    text = "\n".join(body(f))
    assert "%0 = const func(krait.cuda.syncthreads)\n%1 = call %0\n" in text
    assert re.search(r"%(\d+) = const func\(krait.cuda.threadIdx.x\)\n%\d+ = call %\1\n", text)
    assert re.search(r"%(\d+) = const func\(krait.cuda.blockDim.z\)\n%\d+ = call %\1\n", text)
    assert re.search(r"const class#\d+\(float32\)", text) and "object#" not in text


def test_attribute_of_what_turns_out_constant():
    def f(n):
        module = math
        for _ in range(n):
            if n > 3:
                n -= 1
            n = module.floor(n)  # a phi of one value until the loop is complete
        return n

    assert "const func(math.floor)" in ir(f) and "getattr" not in ir(f)


def test_decorated_functions():
    class Dispatcher:
        def __init__(self, function):
            self.py_func = function

        def __call__(self, *args):
            return self.py_func(*args)

    namespace = {"Dispatcher": Dispatcher}
    exec("@Dispatcher\ndef even(n): return n == 0 or odd(n - 1)", namespace)
    exec("@Dispatcher\ndef odd(n): return n != 0 and even(n - 1)", namespace)
    even, odd = namespace["even"].py_func, namespace["odd"].py_func
    number = re.search(r"const pyfunc#(\d+)", ir(odd))[1]
    assert re.search(r"const pyfunc#(\d+)", ir(odd))[1] == number
    assert re.search(r"const pyfunc#(\d+)", ir(even))[1] != number


def test_closure_of_a_finished_function():
    def make(scale, table):
        def f(x):
            inner = lambda y: y * scale
            return inner(x) + scale, table

        return f

    text = ir(make(3, (1, 2)))
    assert "cell %" not in text and text.count("const 3") == 2 and "const (1, 2)" in text
    with pytest.raises(ValueError, match=r"^UNSUPPORTED_OBJECT: .* list(.|\n)*\^\^\^\^\^\n"):
        ir(make(3, []))


def test_assignment_to_a_variable_of_a_finished_function():
    def make():
        count = 0

        def direct():
            nonlocal count
            count += 1

        def within():
            def inner():
                nonlocal count
                count = 3

            inner()
            return count

        return direct, within

    for function in make():
        with pytest.raises(ValueError, match="^UNSUPPORTED: assigning to 'count' is not compiled"):
            ir(function)


def test_variable_of_the_enclosing_function_not_assigned_yet():
    def f():
        return late

    with pytest.raises(ValueError, match="^NAME: variable 'late' of the enclosing function is not assigned yet"):
        ir(f)
    late = 3
    assert "const 3" in ir(f)


# ---- guards ----------------------------------------------------------------------------------------------------------


def guarded(source, **namespace):
    exec(source, namespace)
    return namespace, _testing.frontend("ir", namespace["f"], guards=True)


def test_guard_of_a_global():
    namespace, guards = guarded("def f(): return limit + missing_here(limit)", limit=1000, missing_here=abs)
    assert _testing.guards_hold(guards)
    namespace["limit"] = int("1000")  # another object of the same value
    assert _testing.guards_hold(guards)
    for other in (1001, 1000.0, True, "1000"):
        namespace["limit"] = other
        assert not _testing.guards_hold(guards)
    namespace["limit"] = 1000
    assert _testing.guards_hold(guards)
    del namespace["limit"]
    assert not _testing.guards_hold(guards)


@pytest.mark.parametrize("value, same, other", [
    (0.0, float("0.0"), -0.0),
    (float("nan"), float("nan"), 1.0),
    (1j, complex("1j"), complex(-0.0, 1)),
    ((1, (2.0, "x")), (1, (2.0, "".join("x"))), (1, (2, "x"))),
    ("text", "".join(["te", "xt"]), "Text"),
])
def test_guard_compares_what_compiled_code_can_see(value, same, other):
    namespace, guards = guarded("def f(): return value", value=value)
    namespace["value"] = same
    assert _testing.guards_hold(guards)
    namespace["value"] = other
    assert not _testing.guards_hold(guards)


def test_guard_of_an_array_is_its_identity():
    array = np.arange(3)
    namespace, guards = guarded("def f(): return value", value=array)
    array[0] = 7  # compiled code reads the same memory
    assert _testing.guards_hold(guards)
    namespace["value"] = array.copy()
    assert not _testing.guards_hold(guards)


def test_guard_of_a_builtin_that_is_hidden():
    namespace, guards = guarded("def f(x): return abs(x)")
    assert _testing.guards_hold(guards)
    namespace["abs"] = len
    assert not _testing.guards_hold(guards)
    del namespace["abs"]
    assert _testing.guards_hold(guards)


def test_guard_of_attributes():
    module = types.ModuleType("module")
    module.value, module.inner = 3, types.SimpleNamespace(rate=2.5)
    namespace, guards = guarded("def f(x): return module.value + module.inner.rate", module=module)
    assert _testing.guards_hold(guards)
    module.value = 4
    assert not _testing.guards_hold(guards)
    module.value = 3
    module.inner.rate = 2.25
    assert not _testing.guards_hold(guards)
    module.inner.rate = 2.5
    assert _testing.guards_hold(guards)
    del module.value
    assert not _testing.guards_hold(guards)


def test_guard_of_a_cell():
    def make():
        value = 3

        def f():
            return value

        def change(to):
            nonlocal value
            value = to

        return f, change

    f, change = make()
    guards = _testing.frontend("ir", f, guards=True)
    assert _testing.guards_hold(guards)
    change(4)
    assert not _testing.guards_hold(guards)
    change(3)
    assert _testing.guards_hold(guards)


def test_guards_keep_and_release_their_objects():
    import gc
    import weakref

    class Holder:
        pass

    holder = Holder()
    holder.value = 3
    namespace, guards = guarded("def f(): return holder.value", holder=holder)
    assert _testing.guards_hold(guards)
    before = sys.getrefcount(holder)
    del guards
    assert sys.getrefcount(holder) < before


# ---- refusals --------------------------------------------------------------------------------------------------------

REFUSED = {
    "exception group": ("def f(x):\n    try:\n        x()\n    except* ValueError:\n        pass", 4, None, "except*"),
    "async": ("async def f(x):\n    return 1", 1, None, "asynchronous"),
    "class": ("def f():\n    class C:\n        pass", 2, None, "class definitions"),
    "**mapping": ("def f(g, d):\n    return g(1, **{d: 1})", 2, "g(1, **{d: 1})", "the names of keyword arguments"),
    "global": ("def f():\n    global g\n    g = 3", 3, "g", "global variable"),
    "del global": ("def f():\n    global g\n    del g", 3, "g", "global variable"),
    "del attribute": ("def f(x):\n    del x.y", 2, "x.y", "del of an attribute"),
    "del cell": ("def f(x):\n    del x\n    return lambda: x", 2, "x", "inner function uses"),
    "pattern": ("def f(x, c):\n    match x:\n        case c():\n            return 1", 3, "c()", "of this pattern"),
    "name": ("def f(x):\n    return x + lenght(x)", 2, "lenght", "'lenght' is not defined"),
    "attribute": ("def f(x):\n    return KeyError.sinus(x)", 2, "KeyError.sinus", "KeyError has no attribute 'sinus'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name, tmp_path):
    source, line, marked, message = REFUSED[name]
    path = tmp_path / "refused.py"
    path.write_text(source)
    namespace = {"math": math}
    exec(compile(source, str(path), "exec"), namespace)
    with pytest.raises(ValueError, match=message) as refusal:
        ir(namespace["f"])
    text = str(refusal.value)
    assert f'File "{path}", line {line}, in f' in text
    assert source.splitlines()[line - 1].strip() in text
    if marked:
        lines = text.splitlines()
        shown, carets = next((a, b) for a, b in zip(lines, lines[1:]) if b.strip() and not b.strip("^ "))
        start = len(carets) - len(carets.lstrip())
        assert shown[start : len(carets)] == marked
    assert "^" in text or marked is None


RAISING = [(-1, 2.5), (-3.25, 1), (1, 0), (0, 0.0), (0.5, False), (-1, True), (np.float32(-0.1), 2), (-2.5, np.int8(3))]


@pytest.mark.parametrize("args", RAISING, ids=str)
def test_raised_texts(args):
    """f-strings in exceptions are what the interpreter makes of them."""
    from krait import jit

    with pytest.raises((ValueError, AssertionError)) as expected:
        frontend_cases.raised_text(*args)
    with pytest.raises(type(expected.value)) as raised:
        jit(frontend_cases.raised_text)(*args)
    assert raised.value.args == expected.value.args


def test_refusals_give_advice():
    def misspelt(x):
        return KeyError.with_tracebac(x)

    with pytest.raises(ValueError, match="did you mean 'with_traceback'?"):
        ir(misspelt)
    namespace = {"length_of_all": 3}
    exec("def f(x): return lenght_of_all", namespace)
    with pytest.raises(ValueError, match="did you mean 'length_of_all'?"):
        ir(namespace["f"])


def test_what_is_never_reached_is_not_refused():
    namespace = {"DEBUG": False}
    exec("def f(x):\n    if DEBUG:\n        del x.y; print([x], undefined)\n    return x", namespace)
    assert body(namespace["f"]) == ["return %0"]
    namespace["DEBUG"] = True
    with pytest.raises(ValueError, match="^UNSUPPORTED: del of an attribute"):
        ir(namespace["f"])


def test_exceptions_of_properties_are_reported_and_those_of_imports_raised(tmp_path, monkeypatch):
    class Bad:
        @property
        def value(self):
            raise ZeroDivisionError("on purpose")

    namespace = {"bad": Bad()}
    (tmp_path / "module_that_raises.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    exec("def f(): return bad.value\ndef g():\n    import module_that_raises", namespace)
    with pytest.raises(ValueError, match="^PYTHON: .*ZeroDivisionError: on purpose"):
        ir(namespace["f"])
    assert 'const "division by zero"' in ir(namespace["g"])


def test_keyboard_interrupt_is_not_swallowed():
    class Bad:
        @property
        def value(self):
            raise KeyboardInterrupt

    namespace = {"bad": Bad()}
    exec("def f(): return bad.value", namespace)
    with pytest.raises(KeyboardInterrupt):
        ir(namespace["f"])


# ---- size and memory -------------------------------------------------------------------------------------------------


def test_long_functions():
    """EXTENDED_ARG in arguments and jumps; no recursion over blocks."""
    lines = ["def f(x):", "    while x:"]
    lines += [f"        v{i} = x + {i}.5\n        if v{i} > x: x -= v{i}" for i in range(2000)]
    namespace = {}
    exec("\n".join(lines + ["    return x"]), namespace)
    text = ir(namespace["f"])
    assert text.count("sub.inplace") == 2000 and text.count("1999.5") == 1


def test_many_joins():
    """A variable assigned first and used last, with thousands of joins between."""
    joins = [f"    if x > {i}: x += {i}" for i in range(20000)]
    lines = ["def f(x, y):", "    z = y + 1"] + joins + ["    return z + x"]
    namespace = {}
    exec("\n".join(lines), namespace)
    spans = _testing.frontend("spans", namespace["f"])
    assert spans.count("phi x") == 20000 and "phi z" not in spans


def test_deep_nesting():
    depth = 19  # CPython allows 20 nested blocks
    lines = ["def f(x):", "    s = 0"]
    lines += [" " * (4 + i) + f"for i{i} in range(x):" for i in range(depth)]
    lines += [" " * (4 + depth) + "s += i0 * i18", "    return s"]
    namespace = {}
    exec("\n".join(lines), namespace)
    assert ir(namespace["f"]).count("iter_take") == depth


def test_code_that_has_run_is_read_as_written():
    def f(a, n):
        s = 0
        for i in range(n):
            s += a[i] * 2.0 if a[i] > 1 else len(a)
        return s

    before = ir(f)
    for _ in range(2000):
        f((1.0, 2.0, 3.0), 3)  # specialises
    assert ir(f) == before
    sys.settrace(lambda *_: None)  # instruments, from 3.12 on
    try:
        f((1.0, 2.0, 3.0), 3)
        assert ir(f) == before
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("name", ["closure", "star_calls", "maybe_unbound", "constants", "importing"])
def test_exhausted_memory(name):
    """The n-th allocation fails, for every n: a MemoryError, and the next attempt succeeds."""
    expected = ir(CASES[name])
    for n in range(1, 5000):
        try:
            text = ir(CASES[name], fail_after=n)
        except MemoryError:
            continue
        assert text == expected
        break
    else:
        pytest.fail("never enough memory")


def test_no_references_leak():
    def f(x):
        return math.sin(x) + Options.inner.rate, f, lambda: x

    objects = [f, Options, Options.inner, math, vars(math)["sin"]]
    for _ in range(3):
        ir(f)
    before = [sys.getrefcount(o) for o in objects]
    for _ in range(50):
        ir(f)
    assert [sys.getrefcount(o) for o in objects] == before


def test_names_of_the_library_import_nothing():
    """NumPy imports some of its modules when they are first asked for."""
    code = (
        "import sys, numpy as np, krait\n"
        "lazy = [m for m in ('numpy.fft', 'numpy.polynomial', 'numpy.random') if m not in sys.modules]\n"
        "krait.njit(lambda x: x.sum())(np.ones(3))\n"
        "assert not [m for m in lazy if m in sys.modules], sys.modules.keys()\n"
        "from numpy import fft\n"
        "x = np.arange(4.0)\n"
        "assert np.array_equal(krait.njit(lambda x: np.fft.fft(x))(x), fft.fft(x))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_names_of_the_library_are_found_in_a_module_that_takes_the_place_of_another():
    code = (
        "import sys, types, krait\n"
        "sys.modules.pop('cmath', None)\n"
        "sys.modules['standing_in'] = types.ModuleType('standing_in')\n"
        "def helper(x): return x\n"
        "krait.njit(lambda x: helper(x))(1)\n"
        "del sys.modules['standing_in']\n"
        "import cmath\n"
        "assert krait.njit(lambda x: cmath.sqrt(x))(-4 + 0j) == 2j\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)
