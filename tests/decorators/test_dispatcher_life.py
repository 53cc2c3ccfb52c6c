"""jit and njit: recursion, threads, facts about specialisations, how long things live."""

import gc
import math
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from krait import cuda, errors, jit, typeof, types, vectorize
from krait.errors import TypingError
from oracle import difference


def plus(a, b):
    return a + b


# ---- recursion, threads ---------------------------------------------------------------------------------------------


def test_recursion():
    @jit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert fib(20) == 6765


def test_nogil_lets_threads_run():
    @jit(nogil=True)
    def spin(n):
        total = 0
        for i in range(n):
            total = total ^ (i * 7 + (total >> 3))
        return total

    spin(10)
    seen, during, done = [], [], threading.Event()

    def work():
        before = len(seen)
        spin(200_000_000)
        during.append(len(seen) - before)
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # nobody is made to give the GIL up: this thread runs only where spin lets go of it
    try:
        worker = threading.Thread(target=work)
        worker.start()
        while not done.is_set():
            seen.append(None)
            time.sleep(0)
        worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert during[0] > 0


def test_dispatchers_are_collected():
    def make():
        return jit(lambda x: x + 1)

    f = make()
    assert f(1) == 2
    reference = weakref.ref(f)
    del f
    gc.collect()
    assert reference() is None


# ---- facts ----------------------------------------------------------------------------------------------------------


def test_facts_about_specialisations():
    f = jit(plus)
    assert f.signatures == [] and f.overloads == {} and f.nopython_signatures == []
    f(1, 2.5)
    key = (typeof(1), typeof(2.5))
    assert f.signatures == [key]
    (signature,) = f.nopython_signatures
    assert signature.args == key
    assert signature.return_type is typeof(1.0)
    assert f.overloads[key].signature == signature
    assert f.stats.cache_misses == 1
    f(3, 4.5)
    assert f.stats.cache_hits == 1
    metadata = f.get_metadata(key)
    assert metadata["compile_seconds"] > 0
    assert set(metadata["pipeline_times"]) == {"frontend", "infer", "passes", "lower", "link", "optimise", "emit"}
    assert f.get_metadata()[key]["signature"] == signature
    with pytest.raises(KeyError):
        f.get_metadata((types.int8, types.int8))


def test_texts(capsys):
    f = jit(plus)
    f(1, 2)
    key = f.signatures[0]
    assert "define" in f.inspect_llvm()[key]
    assert "define" in f.inspect_llvm(key)
    assert "ret" in f.inspect_asm(key)
    f.inspect_types()
    assert "add" in capsys.readouterr().out


def test_compile_and_recompile():
    f = jit(plus)
    f.compile("(int, float)")
    f.compile((int, int))
    assert len(f.signatures) == 2
    f.recompile()
    assert len(f.signatures) == 2
    assert f(1, 2) == 3


RECOMPILED_WHILE_IT_RUNS = """
import numpy as np
from krait import jit, objmode

asked = [False]

def ask():
    if asked[0]:
        asked[0] = False
        f.recompile()

@jit
def f(x):
    with objmode():
        ask()
    return x

numbers = [1, 1.0, np.float32(1), np.int32(1), np.int8(1), np.int16(1)]
for number in numbers * 2:
    f(number)
for number in numbers:
    asked[0] = True
    f(number)
    other = [b"\\0" * n for n in range(200, 1600, 8) for _ in range(8)]  # in the place of what was freed
    assert f(number) == f(number) == number
    del other
"""


def test_a_call_that_recompiles_what_it_runs(tmp_path):
    """Of more specialisations than are tried in turn the last one that was called is asked first the next time."""
    program = tmp_path / "program.py"
    program.write_text(RECOMPILED_WHILE_IT_RUNS)
    done = subprocess.run([sys.executable, program], env={**os.environ, "PYTHONMALLOC": "malloc"}, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_disable_compile():
    f = jit(plus)
    assert f(1, 2) == 3
    f.disable_compile()
    with pytest.raises(TypeError, match="no signature"):
        f(1j, 2)
    with pytest.raises(RuntimeError, match=r"plus\(\) is not compiled for \(complex, int\): disable_compile"):
        f.compile("(complex, int)")
    assert f(1, 2) == 3
    assert len(f.signatures) == 1
    f.disable_compile(False)
    f.compile("(complex, int)")
    assert f(1j, 2) == 2 + 1j


def test_what_is_compiled_may_be_asked_for_after_disable_compile():
    f = jit("(int64, int64)")(plus)
    f.disable_compile()
    assert f.compile("(int64, int64)").signature.args == f.nopython_signatures[0].args


def test_device_arrays_are_for_kernels():
    from krait import cuda

    x = cuda.to_device(np.arange(3.0))
    with pytest.raises(TypeError, match="copy_to_host"):
        jit(lambda a: a[0])(x)
    with pytest.raises(TypeError):
        jit("f8(f8[:])")(lambda a: a[0])(x)
    f = jit(lambda a: a[0])
    assert f(np.arange(3.0)) == 0
    with pytest.raises(TypeError, match="argument 'a'"):
        f(x)


# ---- life ------------------------------------------------------------------------------------------------------------


def uncalled(i):
    return jit(lambda x: x + i)


def called(i):
    f = jit(lambda x: x + i)
    assert jit(lambda x: f(x))(1) == f(1) == i + 1
    return f


def with_signature(i):
    f = jit("int64(int64)")(lambda x: x + i)
    assert jit(lambda x: f(x))(1) == i + 1
    return f


def calling_itself(i):
    @jit
    def f(n):
        return i if n == 0 else f(n - 1)

    assert f(3) == i
    return f


def of_its_own_globals(i):
    scope = {"jit": jit, "i": i}
    exec("@jit\ndef f(x):\n    return x + i", scope)
    assert scope["f"](1) == i + 1
    return scope["f"]


def given_as_argument(i):
    f = jit(lambda x: x + i)
    assert jit(lambda g, x: g(x))(f, 1) == i + 1
    return f


def with_a_function_inside(i):
    @jit
    def f(x):
        def g(y):
            return x + y + i

        return g(1)

    assert f(2) == i + 3
    return f


def kernel(i):
    @cuda.jit
    def k(out):
        out[0] = i

    out = np.zeros(1)
    k[1, 1](out)
    assert out[0] == i
    return k


@pytest.mark.parametrize(
    "make", [uncalled, called, with_signature, calling_itself, of_its_own_globals, given_as_argument,
             with_a_function_inside, kernel], ids=lambda make: make.__name__,
)
def test_a_function_dies_with_its_last_reference(make):
    dead = [weakref.ref(make(i)) for i in range(5)]
    functions = [weakref.ref(make(i).py_func) for i in range(5)]
    gc.collect()
    assert [ref() for ref in dead + functions] == [None] * 10


@pytest.mark.parametrize("options", [{}, {"target": "cuda"}], ids=str)
@pytest.mark.parametrize("signatures", [[], ["float64(float64)"]], ids=str)
def test_a_ufunc_dies_with_its_last_reference(signatures, options):
    def make():
        def f(x):
            return x * 2

        u = vectorize(signatures, **options)(f)
        np.testing.assert_array_equal(u(np.arange(3.0)), [0, 2, 4])
        return weakref.ref(f)

    dead = [make() for _ in range(5)]
    gc.collect()
    assert [ref() for ref in dead] == [None] * 5


def test_a_captured_array_lives_as_long_as_the_code_that_uses_it():
    def make():
        data = np.arange(1000.0)
        return jit(lambda i: data[i]), weakref.ref(data)

    f, array = make()
    assert f(3) == 3.0
    del f
    gc.collect()
    assert array() is None


def test_a_callee_lives_as_long_as_the_code_that_calls_it():
    scope = {"jit": jit}
    exec("@jit\ndef g(x):\n    return x + 1\n@jit\ndef f(x):\n    return g(x)", scope)
    assert scope["f"](1) == 2
    died = weakref.ref(scope["g"])
    del scope["g"]
    gc.collect()
    assert died() is not None  # the guard compares with it
    with pytest.raises(errors.NameError):
        scope["f"](1)


# ---- many specialisations --------------------------------------------------------------------------------------------


def many_arguments(count):
    leaves = (1, 2.5, True, 1j, np.int8(3), np.float32(0.5), None)
    found = [(a, b, c) for a in leaves for b in leaves for c in leaves]
    return found[:count]


def test_each_of_many_specialisations_is_found_again():
    @jit
    def f(t, scale):
        return t

    arguments = many_arguments(60)
    for a in arguments:
        assert f(a, 1) == a
    assert f.stats.cache_misses == len(arguments)
    for a in [*arguments[::-1], *arguments[::7], *arguments]:
        result = f(a, 1)
        assert result == a and [type(x) for x in result] == [type(x) for x in a]
    assert f.stats.cache_misses == len(arguments)
    f.recompile()
    assert [f(a, 1) for a in arguments] == arguments
    assert len(f.signatures) == len(arguments)


def test_arguments_of_one_type_find_one_specialisation():
    """All texts, a subclass of int, both of NumPy's 64-bit integers: one type each, however they are told apart."""

    class Int(int):
        pass

    @jit
    def f(kind, x):
        return x

    for kind in ("a", "b", "c", "d", "e", "f", np.float32, np.dtype("f4"), np.int8, math.sin):
        for x in (1, 2.5, Int(3), np.longlong(4), np.int64(5)):
            for again in range(3):
                assert f("".join(kind) if isinstance(kind, str) else kind, x) == x
    assert len(f.signatures) == 3 * 5


def test_many_specialisations_and_a_global_that_changes():
    scope = {"jit": jit, "c": 0}
    exec("@jit\ndef f(t):\n    return c", scope)
    arguments = many_arguments(12)
    for c in (1, 2, 3, 1, 2):
        scope["c"] = c
        assert [scope["f"](a) for a in arguments] == [c] * len(arguments)


def test_many_signatures_and_what_fits_one():
    scalars = [types.int8, types.int16, types.int32, types.int64, types.float32, types.float64, types.complex128]
    f = jit([(t,) for t in scalars])(lambda x: x)
    for _ in range(3):
        for t in scalars:
            assert f(t(1)).dtype == t(1).dtype
        assert f(np.uint8(200)).dtype == np.int16
        assert f(np.float16(2)).dtype == np.float32
        with pytest.raises(TypeError, match="fits the arguments"):
            f(None)


def test_many_specialisations_of_a_kernel():
    @cuda.jit
    def k(out, t):
        out[0] = t[0]

    arguments = [a for a in many_arguments(200) if isinstance(a[0], (int, float, np.generic))][:24]
    for _ in range(3):
        for a in arguments:
            out = np.zeros(1)
            k[1, 1](out, a)
            assert out[0] == a[0]
    assert len(k.signatures) == len(arguments)


# ---- types of variables ----------------------------------------------------------------------------------------------


def test_locals_convert_what_is_assigned():
    def summed(x):
        total = 0
        for i in range(len(x)):
            total += x[i]
        return total

    x = np.full(1000, 0.1)
    narrow = jit(locals={"total": types.float32})(summed)
    expected = np.float32(0)
    for value in x:
        expected = np.float32(expected + value)
    assert difference(narrow(x), expected) is None and difference(jit(summed)(x), summed(x)) is None

    @jit("float64(float64)", locals={"y": types.int32})
    def truncated(x):
        y = x
        return y + 0.5

    assert truncated(3.75) == 3.5 == jit(lambda x: truncated(x))(3.75)  # also where it is called from

    @jit(locals={"n": types.float64})
    def counted(n):
        for _ in range(n):
            pass
        return n

    with pytest.raises(TypingError):
        counted(3)  # n is a float
    assert jit(locals={"n": types.float64})(lambda n: n // 2)(7).dtype == np.float64


@pytest.mark.parametrize("declared", ["float32", np.float32, np.dtype("f4"), types.float32], ids=repr)
def test_what_stands_for_a_type_in_locals(declared):
    given = {"y": declared}

    @jit(locals=given)
    def rounded(x):
        y = x * 1.1
        return y

    given["y"] = given["x"] = None  # a copy was taken
    assert difference(rounded(0.3), np.float32(0.3 * 1.1)) is None
    assert rounded.targetoptions["locals"] == {"y": types.float32}


def test_locals_of_a_variable_that_an_inner_function_sees():
    @jit(locals={"y": types.float32})
    def captured(x):
        y = x * 1.1

        def inner():
            return y

        return inner()

    assert difference(captured(0.3), np.float32(0.3 * 1.1)) is None


@pytest.mark.parametrize("decorator", [jit, vectorize], ids=["jit", "vectorize"])
@pytest.mark.parametrize("declared, message", [
    ({"total": 3}, "3 is not a type that 'total' can be declared as"),
    ({"total": None}, "None is not a type that 'total' can be declared as"),
    ({"total": "garbage"}, "'garbage' is not a type that 'total' can be declared as"),
    ({"total": types.float32[:]}, "types of arrays and of other objects are inferred"),
])
def test_locals_that_would_do_nothing(decorator, declared, message):
    def f(x):
        total = x
        return total

    with pytest.raises(TypeError, match=message):
        decorator(locals=declared)(f)


@pytest.mark.parametrize("decorator", [jit, vectorize], ids=["jit", "vectorize"])
@pytest.mark.parametrize("name, message", [
    ("totl", "f has no variable 'totl'; did you mean 'total'\\?"),
    ("len", "f has no variable 'len'$"),
])
def test_a_name_in_locals_that_is_no_variable_is_passed_over(decorator, name, message):
    def f(x):
        total = x
        return total

    with pytest.warns(errors.KraitWarning, match=message):
        made = decorator(locals={name: types.float32, "total": types.int64})(f)
    assert made(2.5) == 2


def test_locals_of_ufuncs_and_what_is_no_type():
    @vectorize(["float64(float64)"], locals={"y": types.int64})
    def whole(x):
        y = x
        return y

    assert whole(np.array([1.5, -2.5])).tolist() == [1.0, -2.0]
    assert jit(lambda x: whole(x) + 0.5)(1.75) == 1.5
    with pytest.raises(TypeError, match="option locals is a dict"):
        jit(locals=["y"])
    with pytest.raises(TypeError, match="names of variables as keys, not 1"):
        jit(locals={1: types.int64})


def test_names_of_numbas_config():
    from krait import config

    assert config.NUMBA_NUM_THREADS == config.KRAIT_NUM_THREADS == config.NUMBA_DEFAULT_NUM_THREADS >= 1
    assert config.THREADING_LAYER == "pool" and config.DISABLE_JIT == 0 and config.CUDA_LOG_LEVEL == ""
    config.reload_config()
    with pytest.raises(AttributeError, match="has no attribute 'NOBODY'"):
        config.NOBODY
