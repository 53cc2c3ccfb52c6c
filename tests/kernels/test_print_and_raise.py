"""print, assert and raise in kernels, and checked kernels: the same text, exceptions and places on both devices.

PYTEST_DONT_REWRITE: kernels have assert statements of their own."""

import contextlib
import linecache
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from oracle import make

import krait
from krait import cuda, errors


def printed(capsys, kernel, grid, block, *arguments):
    """What a launch prints."""
    capsys.readouterr()
    kernel[grid, block](*arguments)
    cuda.synchronize()
    return capsys.readouterr().out


def test_print_writes_what_python_writes(capsys):
    def body(x, n, z):
        print("hello", x[0], n, 1.5, z, True, None)
        print(x[1], (n, (x[0], "text")), -0.0, 1e300, sep=" | ", end=";\n")
        print()
        print(n, sep=None, end=None, flush=True)
        print(f"n={n:4d} {x[0]!r} {{}} {x[1]:.3f}", f"{n}{n}", end="")

    arguments = np.array([0.1, 1 / 3], np.float32), 12, 2 - 1.5j
    text = printed(capsys, cuda.jit(body), 1, 1, *arguments)
    body(*arguments)
    assert text == capsys.readouterr().out


FORMATS = (
    '"thread %d: %f" % (i, x[i])', '"%5.2f|%-8d|%+d|%05d|%x|%#X|%e|%g" % (x[i], n[i], i, n[i], 255, 255, x[i], x[i])',
    '"%s %r %8s|%-8s|%.2s" % (x[i], n[i], i, n[i], "text")', '"%d" % x[i]', '"100%% {} %i" % i', '"%c%c" % (65, "b")',
    '"%08.3f|%+08.2f|%-+7.1f|% d" % (x[i], x[i], x[i], n[i])', '"%#o|%3c|%5d|%s" % (8, "z", n[i], (i, x[i]))',
    '"{} {:.3f}".format(i, x[i])', '"{1} {0} {a:>8.2f} {{}} {1!r}".format(i, n[i], a=x[i])', "str(x[i]), repr(n[i])",
    'format(x[i], ".2e"), format(i)', '"<" + str(i) + ">"', "hex(n[i]), bin(i), oct(i), ascii(x[i])",
    '"%+s|%s" % (x[i], x[i])', '"%05c|%+c|%#-3c|%c" % (65, 66, 67, 68)', '"{0001} {1}".format(i, n[i])',
)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_texts_are_made_as_python_makes_them(capsys, dtype):
    lines = "".join(f"    print({text})\n" for text in FORMATS)
    body = make(f"def body(x, n):\n    i = cuda.grid(1)\n{lines}", cuda=cuda)
    x, n = np.array([0.1, -2.25, 3e4], dtype), np.array([7, -3, 255], np.int32)
    for i in range(3):
        text = printed(capsys, cuda.jit(body), 1, 1, x[i:], n[i:])
        space = {"x": x[i:], "n": n[i:], "i": 0}
        assert text.splitlines() == [" ".join(map(str, value)) if isinstance(value, tuple) else value
                                     for value in (eval(expression, space) for expression in FORMATS)]


@pytest.mark.parametrize("text, words", [
    ('"%d %d" % (n,)', "the text has 2 fields, and there is 1 value"),
    ('"%d" % (n, n)', "the text has 1 field, and there are 2 values"),
    ('"%q" % n', "does not put a value into a text by `%q`"),
    ('"%x" % (1.5 * n)', "%x format: an integer is required, not float"),
    ('"%(a)d" % n', "does not put a value into a text by `%"), ('"{} {}".format(n)', "no value for the field `{}`"),
    ('"{0.real}".format(n)', "does not put a value into a text by `{0.real}`"),
    ('"{:{}}".format(n, 5)', "does not put a value into a text by"), ('"}".format(n)', "into a text by `}`"),
    ('"{"  .format(n)', "into a text by `{`"), ('"{a}".format(b=n)', "no value for the field `{a}`"),
])
def test_formats_that_no_kernel_has_are_refused(text, words):
    kernel = cuda.jit(make(f"def body(n):\n    print({text})\n", np=np))
    with pytest.raises(errors.KraitError, match=re.escape(words)):
        kernel[1, 1](3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_as_ints_lose_their_fraction_and_nothing_else(capsys, dtype):
    """An infinity and a nan have no such form: Python raises, a kernel shows what they are."""
    def body(x, b):
        for i in range(x.size):
            print("%d|%+d|%6i|%-6d|%06d|% d" % (x[i], x[i], x[i], x[i], x[i], x[i]))
        print("%d %x %c" % (b[0], True, True))

    largest = np.finfo(dtype).max
    x, b = np.array([0.0, -0.0, 0.5, -0.75, 1.5, 2.5, -1.99, 1234.5, largest, -largest], dtype), np.array([True])
    text = printed(capsys, cuda.jit(body), 1, 1, x, b)
    body(x, b)
    assert text == capsys.readouterr().out
    text = printed(capsys, cuda.jit(body), 1, 1, np.array([np.inf, -np.inf, np.nan], dtype), b)
    assert [line.split("|")[0] for line in text.splitlines()[:3]] == ["inf", "-inf", "nan"]


def test_every_kind_of_number_is_printed(capsys):
    def body(x):
        for i in range(x.size):
            print(x[i])

    kernel = cuda.jit(body)
    for dtype in "?bhilBHILefdFD":
        x = np.array([0, 1, 100], dtype)
        text = printed(capsys, kernel, 1, 1, x)
        body(x)
        assert text == capsys.readouterr().out


def test_threads_print_whole_lines_each_in_its_order(capsys):
    @cuda.jit
    def k(n):
        i = cuda.grid(1)
        for step in range(n):
            print("thread", i, "step", step)

    lines = printed(capsys, k, 7, 33, 3).splitlines()
    assert sorted(lines) == sorted(f"thread {i} step {step}" for i in range(7 * 33) for step in range(3))
    for i in range(7 * 33):
        assert [line for line in lines if line.startswith(f"thread {i} ")] == [f"thread {i} step {s}" for s in range(3)]


def test_device_functions_print_between_barriers(capsys):
    @cuda.jit(device=True)
    def tell(what, value):
        print(what, value)
        return value

    @cuda.jit
    def k():
        s = cuda.shared.array(64, np.int32)
        t = cuda.threadIdx.x
        s[t] = t
        cuda.syncthreads()
        if t == 0:
            tell("last", s[63])
        cuda.syncthreads()
        if t == 1:
            tell("first", s[0])

    assert printed(capsys, k, 1, 64).splitlines() == ["last 63", "first 0"]


def test_much_is_printed_or_its_loss_is_told(capsys):
    @cuda.jit
    def k():
        print("line", cuda.grid(1))

    threads, most = 2**17, 2**20 // 16
    on_gpu = cuda.is_available()
    with pytest.warns(errors.KraitWarning, match="k printed more than") if on_gpu else contextlib.nullcontext():
        lines = printed(capsys, k, threads // 256, 256).splitlines()
    assert len(set(lines)) == len(lines) == (most if on_gpu else threads)
    assert all(re.fullmatch(r"line \d+", line) for line in lines)


@pytest.mark.parametrize("body, text", [
    (lambda x: print(x), "print does not take `x`"),
    (lambda x: print(x[0], file=None), "print has no parameter 'file'"),
    (lambda x: print(x[0], sep=x[0]), "a str is needed here"),
])
def test_what_print_does_not_take_is_refused(body, text):
    with pytest.raises(errors.KraitError, match=re.escape(text)):
        cuda.jit(body)[1, 1](np.zeros(3))


# ---- raise and assert ----


def raised(kernel, grid, block, *arguments):
    with pytest.raises(Exception) as caught:
        kernel[grid, block](*arguments)
        cuda.synchronize()
    return caught.value


def line_of(error):
    """The innermost line in the traceback."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno).strip()


class Refused(ValueError):
    pass


def test_what_a_thread_raises_is_raised_at_the_next_wait():
    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        if x[i] > 2:
            raise Refused("too large", x[i], i)
        x[i] = -1

    d = cuda.to_device(np.array([1.0, 2.0, 3.0, 1.0]))
    error = raised(k, 2, 2, d)
    assert type(error) is Refused and error.args == ("too large", 3.0, 2)
    assert type(error.args[1]) is np.float64 and type(error.args[2]) is int
    assert error.__notes__ == ["raised in block (1, 0, 0), thread (0, 0, 0) of kernel k"]
    assert line_of(error) == 'raise Refused("too large", x[i], i)'
    cuda.synchronize()  # once
    assert d.copy_to_host()[2] == 3
    k[1, 2](d)  # the kernel goes on working
    error = raised(k, 4, 1, cuda.to_device(np.full(4, 5.0)))
    assert error.args[:2] == ("too large", 5.0)


def test_assert_in_a_device_function_with_a_message_made_there():
    @cuda.jit(device=True)
    def root(x, i):
        assert x >= 0, f"element {i} is {x:.1f}"
        return x**0.5

    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        x[i] = root(x[i], i)

    error = raised(k, 1, 4, np.array([4.0, 1.0, 9.0, -2.5]))
    assert type(error) is AssertionError and error.args == ("element 3 is -2.5",)
    assert line_of(error).startswith("assert x >= 0")
    x = np.array([4.0, 9.0])
    k[1, 2](x)
    assert x.tolist() == [2, 3]


def test_one_of_many_that_raise_is_told():
    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        if i % 3 == 0:
            raise IndexError(i)

    error = raised(k, 64, 128, cuda.to_device(np.zeros(1)))
    assert error.args[0] % 3 == 0
    block, thread = map(int, re.findall(r"\((\d+), 0, 0\)", error.__notes__[0]))
    assert 128 * block + thread == error.args[0]
    cuda.synchronize()


def test_streams_events_and_copies_tell():
    @cuda.jit
    def k(x):
        assert x[0] != 1

    d, stream, event = cuda.to_device(np.ones(1)), cuda.stream(), cuda.event()
    for wait in (cuda.synchronize, d.copy_to_host, stream.synchronize, event.synchronize):
        with pytest.raises(AssertionError):
            k[1, 1, stream](d)
            event.record(stream)
            wait()


# ---- checked kernels ----


@pytest.mark.parametrize("options", [{"check": True}, {"debug": True, "opt": False}])
def test_checked_kernels(options):
    jit = cuda.jit(**options)

    @jit
    def outside(x, n):
        x[cuda.grid(1), n] = 1

    error = raised(outside, 1, 4, np.zeros((3, 2)), 1)
    assert type(error) is IndexError and str(error) == "index 3 is out of bounds for axis 0 with size 3"
    assert line_of(error) == "x[cuda.grid(1), n] = 1" and "thread (3, 0, 0)" in error.__notes__[0]
    assert str(raised(outside, 1, 1, np.zeros((3, 2)), -3)) == "index -3 is out of bounds for axis 1 with size 2"
    x = np.zeros((3, 2))
    outside[1, 3](x, -1)
    assert x.tolist() == [[0, 1]] * 3

    @jit
    def divide(x, y):
        i = cuda.grid(1)
        x[i] = x[i] // y[i]

    error = raised(divide, 1, 3, np.arange(3), np.array([1, 1, 0]))
    assert type(error) is ZeroDivisionError and "thread (2, 0, 0)" in error.__notes__[0]
    x = np.array([7, -7, 9])
    divide[1, 3](x, np.array([2, 2, -2]))
    assert x.tolist() == [3, -4, -5]

    @jit
    def remainder(x, n):
        x[0] = 5 % n

    assert type(raised(remainder, 1, 1, np.zeros(1), 0)) is ZeroDivisionError

    @jit
    def floats(x, y):
        x[0] = x[0] / y[0]

    x = np.ones(1)
    floats[1, 1](x, np.zeros(1))
    assert x[0] == np.inf


def test_the_environment_checks_every_kernel(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import numpy as np
from krait import cuda

@cuda.jit
def k(x):
    x[cuda.grid(1)] = 1

@cuda.jit(check=False)
def unchecked(x, y):
    x[0] = x[0] // y[0]

unchecked[1, 1](np.ones(1, np.int64), np.zeros(1, np.int64))
try:
    k[1, 8](np.zeros(4))
except IndexError as error:
    assert "size 4" in str(error)
else:
    raise SystemExit(1)
""")
    subprocess.run([sys.executable, program], env=dict(os.environ, KRAIT_CHECK="1"), check=True)


def test_only_what_raises_notes_it():
    def body(x, n):
        x[n] = 1

    def ptx(**options):
        return cuda.compile_ptx(body, (krait.float64[::1], krait.int64), **options)[0]

    assert "krait_device_notes" not in ptx()
    assert "krait_note_raise" in ptx(debug=True) and "exit" in ptx(debug=True)


def test_an_error_while_printing_does_not_hide_what_was_raised(monkeypatch):
    class Closed:
        def write(self, text):
            raise OSError("closed")

        def flush(self):
            pass

    @cuda.jit
    def k(x):
        print(x[0])
        if x[0] > 2:
            raise Refused("too large", x[0])

    monkeypatch.setattr(sys, "stdout", Closed())
    error = raised(k, 1, 1, cuda.to_device(np.array([3.0])))
    assert type(error) is Refused and error.args == ("too large", 3.0)
    assert type(error.__context__) is OSError
    error = raised(k, 1, 1, cuda.to_device(np.array([1.0])))
    assert type(error) is OSError and error.__context__ is None
