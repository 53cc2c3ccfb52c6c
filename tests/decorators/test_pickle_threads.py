"""Dispatchers in pickles, in several threads at once, in forked and spawned processes, and re-entered."""

import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from krait import cuda, jit, types, vectorize
from krait.errors import TypingError

OFFSET = 100


@jit
def by_reference(x):
    return x + OFFSET


@cuda.jit
def kernel_by_reference(x):
    x[cuda.grid(1)] = 7


# ---- pickles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_importable_functions_by_reference(protocol):
    assert pickle.loads(pickle.dumps(by_reference, protocol)) is by_reference
    assert pickle.loads(pickle.dumps(kernel_by_reference, protocol)) is kernel_by_reference
    assert pickle.loads(pickle.dumps(cuda.atomic.add, protocol)) is cuda.atomic.add


def test_local_functions_by_value():
    factor = 3

    @jit(fastmath=True)
    def local(x, y=2, *, z=1):
        "Text."
        return (x * factor + y * z + OFFSET) / np.float64(1)

    copy = pickle.loads(pickle.dumps(local))
    assert copy is not local
    assert copy(1) == local(1) == 105
    assert copy(1, 5, z=2) == local(1, 5, z=2)
    assert copy.__doc__ == "Text." and copy.__name__ == "local" and copy.__qualname__ == local.__qualname__
    assert copy.targetoptions == {"fastmath": True}


def test_recursive_local_function():
    @jit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert pickle.loads(pickle.dumps(fib))(10) == 55


def test_signatures_travel():
    local = jit(["float32(float32)", "int64(int64)"])(lambda x: x + x)
    copy = pickle.loads(pickle.dumps(local))
    assert copy.signatures == local.signatures
    with pytest.raises(TypeError):
        copy(1j)


def test_local_kernels_and_vectorized_functions():
    def make():
        @cuda.jit
        def kernel(x, k):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = k

        return kernel, vectorize(lambda a, b: a * b)

    kernel, product = pickle.loads(pickle.dumps(make()))
    x = np.zeros(3)
    kernel[1, 4](x, 5.0)
    assert (x == 5).all()
    assert product(3, 4) == 12


@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_local_ufuncs_with_signatures(target):
    scale = 10

    @vectorize(["float32(float32, float32)", "float64(float64, float64)"], target=target, locals={"c": types.int32})
    def truncated(a, b):
        """a + b, without its fraction"""
        c = a + b
        return c * scale

    copy = pickle.loads(pickle.dumps(truncated))
    assert copy.types == truncated.types == ["ff->f", "dd->d"] and copy is not truncated
    assert copy(np.float64(1.5), 2.0) == 30 == truncated(np.float64(1.5), 2.0)
    assert copy.__doc__ == truncated.__doc__ and copy.targetoptions == truncated.targetoptions
    assert pickle.loads(pickle.dumps(np.add)) is np.add and pickle.loads(pickle.dumps(by_name)) is by_name


@vectorize(["int64(int64)"])
def by_name(a):
    return a + 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(method, tmp_path):
    code = f"""
        import multiprocessing, pickle, sys
        import numpy as np
        from krait import guvectorize, jit, stencil, vectorize

        def work(function, value):
            return function(value)

        def ufuncs():
            yield vectorize(["int64(int64)"])(lambda x: x * 2)
            yield vectorize(["int64(int64)"], target="parallel")(lambda x: x * 2)
            yield vectorize(lambda x: x * 2, target="cuda")
            @guvectorize(["void(int64[:], int64[:])"], "(n)->(n)")
            def doubled(x, out):
                out[:] = x * 2
            yield doubled
            yield stencil(lambda a: a[0] * 2)

        @vectorize(["int64(int64)"])
        def double(x):
            return x * 2

        if __name__ == "__main__":
            local = jit(lambda x: x * 2)
            local(1)
            x = np.arange(2)
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                print(pool.starmap(work, [(local, i) for i in range(4)]))
                print(pool.map(double, range(3)))
                print([pool.apply(f, (x,)).tolist() for f in ufuncs()])
        """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    doubled = [np.int64(2 * i) for i in range(3)]
    assert done.stdout == f"[0, 2, 4, 6]\n{doubled}\n{[[0, 2]] * 5}\n", done.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_while_another_thread_compiles():
    f = jit(lambda x: x + 1)
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            jit(lambda x: x * 2 + 1)(3.5)
            f.recompile()

    thread = threading.Thread(target=churn)
    f(1)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = 0 if (f(1), f(2.5), jit(lambda x: x - 1)(3)) == (2, 3.5, 2) else 2
                finally:
                    os._exit(status)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()


# ---- threads --------------------------------------------------------------------------------------------------------


def run_in_threads(count, target):
    barrier = threading.Barrier(count)
    failures = []

    def body(index):
        barrier.wait()
        try:
            target(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_a_process_ends_while_another_thread_compiles():
    """Of a daemon thread nobody waits; LLVM's tables are not taken away under it."""
    program = textwrap.dedent("""
        import threading
        import krait

        compiled = threading.Event()

        def work():
            for i in range(100_000):
                krait.njit(lambda a: sum([a * k for k in range(7)]) + i)(3.0)
                compiled.set()

        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        compiled.wait()
    """)
    for _ in range(8):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr


def test_one_specialisation_is_compiled_once():
    for _ in range(10):
        f = jit(lambda a, b: a * b + a)
        results = [None] * 8

        def call(index):
            results[index] = f(3, 4)

        run_in_threads(8, call)
        assert results == [15] * 8
        assert f.stats.cache_misses == 1


def test_many_specialisations_at_once():
    f = jit(lambda a, b: a * b + a)
    scalars = [np.int8(3), np.int64(3), np.float32(3), np.float64(3), 3, 3.0, np.uint16(3), 3 + 0j]

    def call(index):
        for _ in range(20):
            for k in range(len(scalars)):
                value = scalars[(index + k) % len(scalars)]
                assert f(value, value) == 12

    run_in_threads(8, call)
    assert len(f.signatures) == len(scalars)
    assert f.stats.cache_misses == len(scalars)


def test_many_functions_at_once():
    def call(index):
        for k in range(10):
            scope = {}
            exec(f"def f(x):\n    return x * {index} + {k}", scope)
            assert jit(scope["f"])(7) == 7 * index + k

    run_in_threads(6, call)


def test_errors_in_threads():
    f = jit(lambda x: x.nothing)

    def call(index):
        with pytest.raises(TypingError, match="nothing"):
            f(index)

    run_in_threads(6, call)


def test_recompile_during_calls():
    f = jit(nogil=True)(lambda x: x + 1)
    f(1)
    stop = threading.Event()

    def calls(index):
        if index == 0:
            for _ in range(30):
                f.recompile()
            stop.set()
        else:
            while not stop.is_set():
                assert f(41) == 42

    run_in_threads(4, calls)


def test_reentry_from_a_destructor():
    f = jit(lambda x: x + 1)
    seen = []

    class Caller:
        def __del__(self):
            seen.append(f(2.5))

    for dtype in "bhilBHILfd":
        cycle = Caller()
        cycle.self = cycle
        del cycle
        f(np.dtype(dtype).type(3))
        gc.collect()
    assert seen == [3.5] * 10
