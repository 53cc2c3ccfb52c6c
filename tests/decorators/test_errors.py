"""What a user reads when something is refused or raised: text, line, caret, types, traceback; nothing internal."""

import linecache
import pickle
import sys
import traceback
import warnings

import numpy as np
import pytest
from conftest import host_device

import krait
from krait import cuda, errors, jit
from krait.errors import KraitError, LoweringError, TypingError, UnsupportedError


def make(source, name="f", filename="<user code>"):
    """The function `name` of a source text that tracebacks can show."""
    filename = f"{filename[:-1]} {abs(hash(source))}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    scope = {"jit": jit, "np": np, "krait": krait}
    exec(compile(source, filename, "exec"), scope)
    return scope[name]


def refusal(source, *args, name="f"):
    with pytest.raises(KraitError) as caught:
        jit(make(source, name))(*args)
    return caught


# ---- the classes ----------------------------------------------------------------------------------------------------


def test_classes():
    for name in ("TypingError", "UnsupportedError", "LoweringError", "CudaError", "LaunchError"):
        assert issubclass(getattr(errors, name), KraitError)
        assert getattr(errors, name).__module__ == "krait.errors"
    assert issubclass(errors.NameError, NameError) and issubclass(errors.NameError, KraitError)
    assert issubclass(errors.OutOfBoundsWarning, errors.KraitWarning) and issubclass(
        errors.OutOfBoundsWarning, RuntimeWarning
    )
    assert not issubclass(TypingError, UnsupportedError) and not issubclass(LoweringError, TypingError)
    assert pickle.loads(pickle.dumps(TypingError("text"))).args == ("text",)


# ---- refusals -------------------------------------------------------------------------------------------------------


def test_a_typing_error_shows_the_place():
    caught = refusal("def f(x):\n    y = x + 1\n    return y.nothing * 2\n", 3)
    text = str(caught.value)
    lines = text.splitlines()
    assert type(caught.value) is TypingError
    assert "nothing" in lines[0] and "int" in lines[0]
    place = next(i for i, line in enumerate(lines) if "File" in line)
    assert "line 3, in f" in lines[place]
    assert lines[place + 1].strip() == "return y.nothing * 2"
    under = lines[place + 1][lines[place + 2].index("^") : lines[place + 2].rindex("^") + 1]
    assert under == "y.nothing"


def test_operand_types_are_named():
    text = str(refusal("def f(a, b):\n    return a + b\n", 1, None).value)
    assert "+" in text and "int" in text and "None" in text


def test_the_chain_of_calls_is_told():
    text = str(refusal("def g(x):\n    return x.nothing\ndef f(a):\n    return g(a) + 1\n", 1.5).value)
    assert text.index("in g") < text.index("in f")
    assert "return g(a) + 1" in text and "float" in text


def test_a_traceback_has_no_frame_of_ours():
    caught = refusal("def f(x):\n    return x.nothing\n", 3)
    files = [entry.path for entry in caught.traceback]
    assert all(str(path) == __file__ for path in files)


@pytest.mark.parametrize(
    "source",
    [
        "async def f(x):\n    return x\n",
        "def f(x):\n    class A: pass\n    return x\n",
    ],
)
def test_unsupported_parts_of_python(source):
    with pytest.raises(UnsupportedError) as caught:
        f = jit(make(source))
        f() if "**" in source else f(1)
    assert "File" in str(caught.value)


def test_an_undefined_name():
    caught = refusal("def f(x):\n    return x + missing\n", 1)
    assert isinstance(caught.value, NameError)
    assert "missing" in str(caught.value)


def test_the_error_comes_again_at_each_call():
    f = jit(make("def f(x):\n    return x.nothing\n"))
    for _ in range(3):
        with pytest.raises(TypingError):
            f(1)
    assert f.signatures == []


# ---- exceptions of compiled code ------------------------------------------------------------------------------------

RAISING = """
class Own(Exception):
    pass

def inner(x):
    if x > 2:
        raise ValueError("too large", x, 2.5)
    return x

def f(x):
    if x == -1:
        raise Own
    if x == -2:
        raise Own("text")
    if x == -3:
        raise KeyError
    if x == -4:
        return 1 // (x + 4)
    return inner(x) + 1
"""


@pytest.mark.parametrize("x", [3, -1, -2, -3, -4])
def test_exceptions_are_the_interpreters(x):
    function = make(RAISING)
    compiled = jit(function)
    with pytest.raises(Exception) as theirs:
        function(x)
    with pytest.raises(Exception) as ours:
        compiled(x)
    assert type(ours.value) is type(theirs.value)
    assert ours.value.args == theirs.value.args
    lines = [[(e.name, e.lineno, str(e.path)) for e in caught.traceback][1:] for caught in (ours, theirs)]
    assert lines[0] == lines[1]


def test_the_source_line_is_shown():
    compiled = jit(make(RAISING))
    try:
        compiled(3)
    except ValueError:
        text = traceback.format_exc()
    assert 'raise ValueError("too large", x, 2.5)' in text and "in inner" in text


def test_index_errors_are_numpys():
    def f(a, i):
        return a[i]

    a = np.arange(3.0)
    for i in (3, -4, 2**40):
        with pytest.raises(IndexError) as theirs:
            f(a, i)
        with pytest.raises(IndexError) as ours:
            jit(f)(a, i)
        assert ours.value.args == theirs.value.args


def test_error_model_numpy_does_not_raise():
    f = jit(error_model="numpy")(lambda a, b: a / b)
    assert f(1.0, 0.0) == np.inf
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        jit(lambda a, b: a / b)(1.0, 0.0)


def test_boundscheck_can_be_switched_off():
    f = jit(boundscheck=False)(lambda a, i: a[i])
    memory = np.arange(10.0)
    assert f(memory[:5], 7) == 7.0


def test_raising_does_not_leak():
    import gc

    f = jit(make("def f(a):\n    raise ValueError('no', a[0])\n"))
    gc.collect()
    import sys

    a = np.arange(3.0)
    before = sys.getrefcount(a)
    for _ in range(100):
        try:
            f(a)
        except ValueError:
            pass
    assert sys.getrefcount(a) == before


# ---- options --------------------------------------------------------------------------------------------------------


def test_unknown_options_are_refused_at_once():
    with pytest.raises(TypeError, match="jit has no option 'fastmaths'; its options are .*fastmath.*boundscheck"):
        jit(fastmaths=True)
    with pytest.raises(TypeError, match="vectorize has no option"):
        krait.vectorize(device=True)


@pytest.mark.parametrize(
    "options",
    [
        dict(fastmath="fast"),
        dict(fastmath={"nothing"}),
        dict(error_model="c"),
        dict(boundscheck="yes"),
        dict(inline="maybe"),
        dict(nopython=None),
        dict(forceobj=True),
        dict(nogil=None),
        dict(debug=[]),
    ],
    ids=lambda options: next(iter(options)),
)
def test_bad_values_are_refused_at_once(options):
    with pytest.raises(TypeError, match=next(iter(options))):
        jit(**options)


@pytest.mark.parametrize(
    "options",
    [
        dict(fastmath=True),
        dict(fastmath={"nnan", "contract"}),
        dict(error_model="numpy"),
        dict(boundscheck=False),
        dict(inline="always"),
        dict(nogil=True),
        dict(debug=True),
        dict(cache=True),
        dict(parallel=True),
        dict(nopython=True),
        dict(nopython=False),
        dict(boundscheck=None),
        dict(forceobj=False),
        dict(looplift=True),
        dict(no_cpython_wrapper=True),
        dict(no_cfunc_wrapper=True),
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_are_accepted(options):
    f = jit(**options)(lambda x: x * 2.0 + 1.0)
    assert f(2.0) == 5.0
    assert f.targetoptions == options


NO_EFFECT = {"nopython", "looplift", "no_cpython_wrapper", "no_cfunc_wrapper", "lto"}  # what they ask for is so anyway


def copied(x, out):
    out[:] = x


DECORATORS = {
    "jit": lambda **options: krait.jit(**options),
    "cuda.jit": lambda **options: cuda.jit(**options),
    "vectorize": lambda **options: krait.vectorize(["float64(float64)"], **options),
    "guvectorize": lambda **options: krait.guvectorize(
        ["void(float64[:], float64[:])"], **{"layout": "(n)->(n)", **options})(copied),
}


@pytest.mark.parametrize("number, decorator", list(enumerate(DECORATORS)))
def test_each_option_has_an_effect_or_says_that_it_has_none(number, decorator):
    """A decorator takes those that its help lists, and refuses the others by name, with the names that there are."""
    for name, *takes, doc in krait._krait._options():
        assert doc.startswith("no effect") == (name in NO_EFFECT), name
        if takes[number]:
            with pytest.raises((TypeError, ValueError, UnsupportedError), match=f"{name}|layout"):
                DECORATORS[decorator](**{name: object()})
        else:
            with pytest.raises(TypeError, match=f"{decorator} has no option '{name}'.*its options are nopython, "):
                DECORATORS[decorator](**{name: True})


def test_no_option_is_without_effect_silently():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit(cache=True, inline="always", forceinline=True, parallel={"fusion": True})(lambda x: x)
        cuda.jit(lineinfo=True, cache=False, inline="never")


# ---- the frames of a traceback ---------------------------------------------------------------------------------------


def frames(call):
    """The function and the text of the line of each frame below this one."""
    with pytest.raises(Exception) as caught:  # noqa: B017
        call()
    entries = traceback.extract_tb(caught.value.__traceback__)[1:]
    return type(caught.value), str(caught.value), [(e.name, e.line) for e in entries if e.name != "<lambda>"]


def as_interpreted(source, *args):
    """The frames of compiled functions are those of the interpreter, also where one is inlined into another."""
    run = make(source)
    compiled = jit(run)
    expected = frames(lambda: run(*args))
    assert frames(lambda: compiled(*args)) == expected
    return expected[2]


def test_each_compiled_frame_is_in_the_traceback():
    source = """
def h(a, i):
    return a[2 * i]

def g(a, i):
    x = 1
    if i < 0:
        return h(a, -i)
    return h(a, i) + x

def f(a, i):
    return (g(a, 0) +
            g(a, i))
"""
    assert [name for name, _ in as_interpreted(source, np.zeros(3), 5)] == ["f", "g", "h"]
    as_interpreted(source, np.zeros(3), -5)


def test_frames_of_raise_and_of_numbers():
    source = """
def h(a, b):
    if b > 10:
        raise ValueError("too large", b)
    assert b != 7
    return a // b

def f(a, b):
    return h(a, b) + 1
"""
    for b in (0, 7, 11):
        assert [name for name, _ in as_interpreted(source, 1, b)] == ["f", "h"]


def test_frames_of_recursion():
    source = """
def f(n):
    if n == 0:
        return 1 // n
    return f(n - 1)
"""
    assert len(as_interpreted(source, 9)) == 10
    run = jit(make(source))
    names = frames(lambda: run(40))[2]
    assert len(names) == 16 and set(names) == {("f", "return 1 // n"), ("f", "return f(n - 1)")}


def test_frames_of_a_ufunc():
    source = """
def g(x):
    if x > 2:
        raise ValueError("too large")
    return x

def f(x):
    return g(x) * 2
"""
    u = krait.vectorize(["float64(float64)"])(make(source))
    assert [name for name, _ in frames(lambda: u(np.arange(5.0)))[2]] == ["f", "g"]


def test_lines_of_a_source_that_is_no_file():
    source = """
def f(a, i):
    b = i * 2
    return a[b]
"""
    assert as_interpreted(source, np.zeros(3), 10) == [("f", "return a[b]")]


CELL = """
import numpy as np
from krait import cfunc, cuda, guvectorize, njit, stencil, vectorize

table = np.arange(3)

@njit
def plain(i):
    b = i * 2
    return table[b]

@njit
def outer(i):
    return plain(i) + 1

@vectorize
def elementwise(i):
    b = i * 2
    return table[b]

@vectorize(["int64(int64)"])
def declared(i):
    b = i * 2
    return table[b]

@guvectorize(["void(int64[:], int64[:])"], "(n)->()")
def row(i, out):
    b = i[0] * 2
    out[0] = table[b]

@njit(parallel=True)
def spread(i):
    b = i * 2
    return np.full(3, table[b])

@njit
def yields(i):
    b = i * 2
    yield table[b]

@cuda.jit(check=True)
def kernel(i):
    b = i[0] * 2
    i[0] = table[b]

@cuda.jit(device=True)
def device(i):
    b = i * 2
    return table[b]

@cuda.jit(check=True)
def calling(i):
    i[0] = device(i[0])

@stencil(neighborhood=((-1, 1),), standard_indexing=("t",))
def near(i, t):
    b = i[0] * 2
    return t[b]
"""
TOLD_AT = {  # a call -> the innermost line of the cell
    "plain(9)": "return table[b]",
    "outer(9)": "return table[b]",
    "elementwise(np.array([9]))": "return table[b]",
    "declared(np.array([9]))": "return table[b]",
    "row(np.array([[9]]))": "out[0] = table[b]",
    "spread(9)": "return np.full(3, table[b])",
    "next(yields(9))": "yield table[b]",
    "kernel[1, 1](np.array([9])); cuda.synchronize()": "i[0] = table[b]",
    "calling[1, 1](np.array([9])); cuda.synchronize()": "return table[b]",
    "near(np.full(5, 9), table)": "return t[b]",
}


@host_device
@pytest.mark.parametrize("name", ["<ipython-input-7-0123456789ab>", "/tmp/ipykernel_71/2718281828.py"])
def test_lines_of_a_notebook_in_every_kind(name):
    """As IPython enters the text of a cell: under a name that is no file."""
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(True), name)
    scope = {}
    exec(compile(CELL, name, "exec"), scope)
    told = {}
    for call in TOLD_AT:
        with pytest.raises(IndexError, match="18 is out of bounds for axis 0 with size 3") as caught:
            exec(call, scope)
        in_cell = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == name]
        told[call] = in_cell[-1].line if in_cell else None
    assert told == TOLD_AT


# ---- errors in Krait's own functions: the user's call is what is shown -----------------------------------------------

ROWS, PAIR = np.ones((2, 3)), np.ones(2)
RAISED_IN_LIBRARY = [
    ("np.zeros((2, a))", -1),
    ("np.linspace(0, 1, a)", -3),
    ("np.concatenate((a, b))", ROWS, np.ones((2, 2))),
    ("np.stack((a, b))", PAIR, np.ones(3)),
    ("a @ b", ROWS, ROWS),
    ("np.dot(a, b)", ROWS, ROWS),
    ("np.dot(a, b)", ROWS, PAIR),
    ("np.dot(a, b)", PAIR, np.ones((3, 3))),
    ("np.inner(a, b)", PAIR, np.ones(3)),
    ("np.cross(a, b)", np.ones(4), np.ones(4)),
    ("a.reshape(4, 4)", ROWS),
    ("a.reshape(-1, 4)", ROWS),
    ("np.reshape(a, 5)", ROWS),
    ("np.split(a, 4)", np.ones(5)),
    ("np.linalg.inv(a)", np.zeros((2, 2))),
    ("np.linalg.solve(a, b)", ROWS, PAIR),
    ("a.max()", np.ones(0)),
    ("np.argmin(a)", np.ones(0)),
    ("np.max(a, axis=0)", np.ones((0, 3))),
    ("np.random.randint(5, a)", 3),
    ("np.random.choice(a)", ROWS),
    ("np.random.normal(0, a)", -1.0),
    ("[1, 2].index(a)", 9),
    ("[1, 2].pop(a)", 9),
    ("a + b", PAIR, np.ones(3)),
]
FOUND_IN_LIBRARY = [
    ("a.sum(axis=7)", ROWS),
    ("np.stack((a, a), axis=5)", PAIR),
    ("np.vander(a)", ROWS),
]


def user_frames(call, file):
    """The exception, and line and columns of its frames in the file: none of ours are left."""
    with pytest.raises(Exception) as caught:  # noqa: B017
        call()
    entries = traceback.extract_tb(caught.value.__traceback__)
    assert not [entry.filename for entry in entries if "prelude" in entry.filename]
    return caught.value, [(e.lineno, e.colno, e.end_colno) for e in entries if e.filename == file]


def calls_of(expression):
    run = make(f"def g(a, b):\n    t = {expression}\n    return t\n\ndef f(a=0, b=0):\n    return g(a, b)\n")
    return run, run.__code__.co_filename


@pytest.mark.parametrize("expression, args", [(case[0], case[1:]) for case in RAISED_IN_LIBRARY])
def test_what_library_functions_raise_is_shown_at_the_call_of_them(expression, args):
    run, file = calls_of(expression)
    (ours, places), (theirs, expected) = (user_frames(lambda f=f: f(*args), file) for f in (jit(run), run))
    assert (type(ours), str(ours), places) == (type(theirs), str(theirs), expected)
    assert len(places) == 2


@pytest.mark.parametrize("expression, args", [(case[0], case[1:]) for case in FOUND_IN_LIBRARY])
def test_what_is_refused_in_library_functions_is_told_at_the_call_of_them(expression, args):
    run, file = calls_of(expression)
    with pytest.raises(TypingError) as caught:
        jit(run)(*args)
    lines = str(caught.value).split("\n")
    assert lines[1:4] == [f'  File "{file}", line 2, in g', f"    t = {expression}", "        " + "^" * len(expression)]
    assert "in the call of g with" in str(caught.value)
    assert [line for line in lines if "prelude" in line] == []
    advised = any(line.startswith("  hint: ") for line in lines)  # else it ends in where it was found
    assert (".py, line " in lines[-1] and lines[-1].endswith("of Krait")) != advised


def test_refusals_say_where_they_are():
    @krait.njit
    def f(x):
        return x.foo

    with pytest.raises(krait.errors.TypingError) as caught:
        f(1)
    line = f.py_func.__code__.co_firstlineno + 2
    assert caught.value.loc.filename == __file__ and caught.value.loc.line == line and caught.value.loc.col == 15
    assert caught.value.msg == str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.loc == caught.value.loc and again.msg == caught.value.msg
    own = krait.errors.NumbaValueError("own")
    assert own.msg == "own" and own.loc is None and krait.errors.CudaAPIError(2, "full").msg == "full"
    assert issubclass(krait.errors.NumbaDeprecationWarning, DeprecationWarning)
    assert issubclass(krait.errors.NumbaPendingDeprecationWarning, PendingDeprecationWarning)
