"""Threads with small stacks: what does not fit there is an exception with words, and what fits runs."""

import os
import subprocess
import sys
import textwrap

import pytest

# The interpreter's own functions need more of a stack where a sanitizer stands before them, compiled code as well.
SMALL = 64 if "asan" in os.environ.get("LD_PRELOAD", "") else 32

PROGRAM = """
import sys
import threading

import numpy as np
from krait import cuda, njit


@njit
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def wide(count):
    lines = [f"    a{i} = x * {i}.5" for i in range(count)]
    lines += ["    for k in range(n):", *(f"        a{i} = a{i} * 1.5 + k" for i in range(count)), "    s = 0.0"]
    space = {}
    exec("\\n".join(["def f(x, n):", *lines, *(f"    s += a{i}" for i in range(count)), "    return s"]), space)
    return space["f"]


@njit
def twice(x):
    return np.sort(x).sum() * 2


def within(kib, function, *args):
    def run():
        try:
            print(function(*args))
        except Exception as error:
            print(type(error).__name__, str(error).split("\\n")[0])

    threading.stack_size(kib << 10)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    sys.stdout.flush()
"""


def printed(code):
    done = subprocess.run([sys.executable, "-c", PROGRAM + textwrap.dedent(code)], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout.splitlines()


def test_endless_recursion_is_recursion_error_on_any_stack():
    code = "depth(3)\n" + "".join(f"within({kib}, depth, 10**6)\n" for kib in (32, 64, 256, 8192))
    assert printed(code) == ["RecursionError maximum recursion depth exceeded"] * 4
    assert printed("depth(3)\nwithin(64, depth, 50)") == ["50"]


def test_frames_that_do_not_fit_are_refused_with_words():
    """3,000 numbers that live across a loop: a frame of more than 24 KiB."""
    lines = printed("""
        f = njit(wide(3000))
        f(1.0, 3)
        within(32, f, 1.0, 0)
        within(1024, f, 0.0, 0)
        """)
    assert lines[0].startswith("RecursionError f() needs ") and "of the stack, and this thread has" in lines[0]
    assert lines[1] == "0.0"


def test_frames_of_ufuncs_that_do_not_fit_are_refused_with_words():
    lines = printed(f"""
        from krait import guvectorize, vectorize

        inner = njit(wide(3000))
        ufunc = vectorize(["float64(float64)"])(lambda x: inner(x, 2))

        @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
        def each(x, y):
            for i in range(x.size):
                y[i] = inner(x[i], 2)

        for function in (ufunc, each):
            function(np.zeros(3))
            within({SMALL}, function, np.zeros(3))
            within(1024, function, np.zeros(2))
        """)
    assert all(" needs " in line and line.startswith("RecursionError ") for line in lines[::2])
    assert len(lines) == 4 and lines[1] == lines[3]


def test_a_thread_with_a_small_stack_compiles():
    """What raises while that happens is raised there."""
    lines = printed("""
        @njit
        def refused(x):
            return x.nothing

        x = np.arange(4.0)
        within(64, twice, x)
        within(64, refused, x)
        within(512, twice, x.astype(np.float32))
        """)
    refusal = "TypingError `x` (array(float64, 1, C)) has no attribute `nothing` in compiled code"
    assert lines == ["12.0", refusal, "12.0"]


@pytest.mark.parametrize("kib", [64, 8192])
def test_a_kernel_is_launched_from_any_thread(kib):
    lines = printed(f"""
        @cuda.jit
        def fill(out):
            i = cuda.grid(1)
            out[i] = i

        def launch(out):
            fill[1, 4](out)
            return out.tolist()

        launch(np.zeros(4))
        within({kib}, launch, np.zeros(4))
        """)
    assert lines == ["[0.0, 1.0, 2.0, 3.0]"]


@pytest.mark.parametrize("kib", [64, 8192])
def test_what_is_read_while_compiling_may_call_the_function(kib):
    """A thread with a small stack has another one compile, which must not wait for the first."""
    lines = printed(f"""
        class Settings:
            reads = 0

            @property
            def value(self):
                Settings.reads += 1
                if Settings.reads < 3:
                    f(2.0)
                return 3.0

        settings = Settings()

        @njit
        def f(x):
            return x + settings.value

        within({kib}, f, 1.0)
        """)
    assert len(lines) == 1
