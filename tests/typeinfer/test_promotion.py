"""Which type arithmetic gives: every pair of scalar types and every operator, against NumPy and the interpreter."""

import itertools
import operator
import warnings

import numpy as np
import pytest

from krait import _testing

STRONG = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
WEAK = {"bool": True, "int": 3, "float": 3.0, "complex": 3 + 0j}
NAMES = [*WEAK, *STRONG]
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    ">": operator.gt, ">=": operator.ge,
}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
UFUNCS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide,
          "%": np.remainder, "**": np.power, "<<": np.left_shift, ">>": np.right_shift, "&": np.bitwise_and,
          "|": np.bitwise_or, "^": np.bitwise_xor}


def sample(name):
    return WEAK[name] if name in WEAK else np.dtype(name.rstrip("_")).type(3)


def strong_name(dtype):
    return "bool_" if dtype.name == "bool" else dtype.name


def name_of(value):
    kind = type(value)
    return kind.__name__ if kind in (bool, int, float, complex) else strong_name(value.dtype)


def compile_binary(symbol):
    scope = {}
    exec(f"def f(a, b):\n    return a {symbol} b\n", scope)
    return scope["f"]


def compiled_type(function, *types):
    """The result type of the compiled function, or TypeError."""
    try:
        text = _testing.stage(function, types, "typed")
    except Exception as error:
        if type(error).__name__ != "TypingError":
            raise
        return TypeError
    return text.split("{")[0].rsplit("->", 1)[1].strip()


def interpreted_type(function, *values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return name_of(function(*values))
        except TypeError:
            return TypeError


def as_result_type_argument(name):
    return WEAK[name] if name in WEAK else np.dtype(name.rstrip("_"))


@pytest.mark.parametrize("a", NAMES)
def test_common_type_is_numpys(a):
    for b in NAMES:
        got = _testing.run("promote", f"({a}, {b})")
        if a in WEAK and b in WEAK:
            wanted = type(sample(a) + sample(b)).__name__ if (a, b) != ("bool", "bool") else "bool"
        else:
            wanted = strong_name(np.result_type(as_result_type_argument(a), as_result_type_argument(b)))
        assert got == wanted, (a, b)


@pytest.mark.parametrize("symbol", BINARY)
def test_operator_gives_the_interpreters_type(symbol):
    function, wrong = compile_binary(symbol), []
    for a, b in itertools.product(NAMES, NAMES):
        got = compiled_type(function, a, b)
        wanted = interpreted_type(BINARY[symbol], sample(a), sample(b))
        if got != wanted:
            wrong.append(f"{a} {symbol} {b}: compiled {got}, interpreted {wanted}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("symbol", UFUNCS)
def test_operator_gives_the_type_its_ufunc_resolves_to(symbol):
    """NumPy's scalars and its ufuncs agree, so compiled code and array code do."""
    function, wrong = compile_binary(symbol), []
    for a, b in itertools.product(NAMES, NAMES):
        if a in WEAK and b in WEAK:
            continue
        if (a, b) == ("complex", "float64"):  # np.float64 is a float: Python's complex comes first, no ufunc is asked
            continue
        python = [{"int": int, "float": float, "complex": complex}.get(n) or np.dtype(n.rstrip("_"))
                  for n in (a, b)]
        try:
            wanted = strong_name(UFUNCS[symbol].resolve_dtypes((*python, None))[-1])
        except TypeError:
            wanted = TypeError
        got = compiled_type(function, a, b)
        if got != wanted:
            wrong.append(f"{a} {symbol} {b}: compiled {got}, {UFUNCS[symbol].__name__} gives {wanted}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("symbol", UNARY)
def test_unary_operator_gives_the_interpreters_type(symbol):
    scope = {}
    exec(f"def f(a):\n    return {symbol}a\n", scope)
    for a in NAMES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ~True is deprecated
            wanted = interpreted_type(UNARY[symbol], sample(a))
        assert compiled_type(scope["f"], a) == wanted, a


@pytest.mark.parametrize("symbol", ["+", "*", "/", "<", "&"])
def test_literal_operand_does_not_widen(symbol):
    """A literal is weak too: x + 1, 1 + x, x + 1.0 keep what the interpreter keeps."""
    for literal, a in itertools.product(("1", "1.0", "True"), NAMES):
        scope = {}
        exec(f"def f(a):\n    return a {symbol} {literal}\ndef g(a):\n    return {literal} {symbol} a\n", scope)
        for function in (scope["f"], scope["g"]):
            assert compiled_type(function, a) == interpreted_type(function, sample(a)), (a, symbol, literal)


# ---- joining where control flow meets ----

JOINS = [
    ("int", "float", "float"), ("int", "float32", "float32"), ("float", "int64", "float64"), ("bool", "int", "int"),
    ("int8", "uint8", "int16"), ("float", "complex64", "complex64"), ("int", "bool_", "int64"),
    ("None", "int", "int?"), ("int?", "float32", "float32?"), ("int?", "None", "int?"), ("None", "None", "None"),
    ("(int, float)", "(float32, int)", "(float32, float)"), ("(int,)", "(int, int)", "tuple(int)"), ("()", "()", "()"),
    ("array(float32, 2, C)", "array(float32, 2, F)", "array(float32, 2, A)"),
    ("array(float32, 2, C)", "array(float32, 2, C, readonly)", "array(float32, 2, C, readonly)"),
    ("array(float32, 2, C)", "array(float64, 2, C)", "none"), ("array(float32, 1, C)", "array(float32, 2, C)", "none"),
    ("array(float32, 1, C)", "float32", "none"), ("None", "array(int8, 1, C)", "array(int8, 1, C)?"),
    ("func(math.sin)", "func(math.cos)", "choice(func(math.sin), func(math.cos))"),
    ("func(math.sin)", "func(math.sin)", "func(math.sin)"),
    ("dtype(int8)", "dtype(int16)", "none"), ("int", "(int,)", "none"), ("range", "range", "range"),
    ("flat(array(int8, 2, C))", "flat(array(int8, 2, F))", "flat(array(int8, 2, A))"),
    ("bottom", "float32", "float32"),
]


@pytest.mark.parametrize("a, b, wanted", JOINS)
def test_join(a, b, wanted):
    assert _testing.run("join", f"({a}, {b})") == wanted
    assert _testing.run("join", f"({b}, {a})") == wanted


def test_join_is_idempotent_and_only_goes_up():
    types = NAMES + ["None", "int?", "float32?", "(int, float32)", "array(int8, 2, C)", "array(int8, 2, A, readonly)"]
    for a, b in itertools.product(types, types):
        joined = _testing.run("join", f"({a}, {b})")
        if joined == "none":
            continue
        assert _testing.run("join", f"({a}, {joined})") == joined, (a, b)
        assert _testing.run("join", f"({joined}, {b})") == joined, (a, b)


# ---- Numba's rules, for libraries written against them ----

def test_numba_promotion_widens_integers_and_literals():
    def infer(symbol, a, b):
        text = f"func f(a: {a}, b: {b}) {{\nb0:\n  %2 = {symbol} %0, %1\n  return %2\n}}\n"
        return _testing.run("infer_numba", text).split("{")[0].rsplit("->", 1)[1].strip()

    assert infer("add", "int8", "int8") == "int64"
    assert infer("add", "uint8", "uint8") == "uint64"
    assert infer("add", "uint64", "int64") == "int64"
    assert infer("mul", "float32", "float32") == "float32"
    assert infer("mul", "float32", "float") == "float64"
    assert infer("mul", "float32", "int") == "float64"
    assert infer("add", "float32", "int16") == "float32"
    assert infer("truediv", "int32", "int32") == "float64"
    assert infer("add", "bool_", "bool_") == "int64"
    assert infer("and", "bool_", "bool_") == "bool_"
    assert infer("mul", "complex64", "float64") == "complex128"


# ---- arguments of declared types ----

def cost(a, b):
    return int(_testing.run("conversion_cost", f"({a}, {b})"))


def test_conversion_prefers_what_loses_nothing():
    assert cost("int", "int") == 1
    assert cost("int", "int64") < cost("int", "float64") < cost("float", "int64")
    assert cost("float32", "float64") < cost("float64", "float32")
    assert cost("int8", "int16") < cost("int8", "int64") < cost("int8", "float32")
    assert cost("int", "float64") < cost("int", "int32")
    assert cost("complex64", "float32") == 0
    assert cost("(int, int)", "(int, float)") > cost("(int, int)", "(int, int)")
    assert cost("(int,)", "(int, int)") == 0
    assert cost("array(float32, 2, C)", "array(float32, 2, A)") > cost("array(float32, 2, C)", "array(float32, 2, C)")
    assert cost("array(float32, 2, A)", "array(float32, 2, C)") == 0
    assert cost("array(float32, 1, C, readonly)", "array(float32, 1, C)") == 0
    assert cost("None", "int?") > 0 and cost("int", "None") == 0
