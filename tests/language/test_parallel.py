"""prange and parallel=True: loops on several cores give what the interpreter gives, the same bits on any number of
cores, or are refused with the line that stands in the way."""

import functools
import os
import pickle
import random
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import krait
from krait import errors, get_num_threads, get_thread_id, njit, prange, set_num_threads
from oracle import difference
from portions import examples

SIZES = (0, 1, 2, 7, 1000, 1024, 1025, 5000, 70_000)


def parallel(function):
    return njit(parallel=True)(function)


# ---- what loops compute ----------------------------------------------------------------------------------------------


def sums(x):
    total = 0
    for i in prange(len(x)):
        total += x[i]
    return total


def counts(x):
    count, last, even = 0, -1, 0
    for i in prange(x.shape[0]):
        if x[i] > 500:
            count += 1
        elif x[i] % 2 == 0:
            even -= 1
        last = i
    return count, even, last


def extremes(x):
    low, high = 10**6, -(10**6)
    for i in prange(3, len(x), 2):
        low = min(low, x[i])
        high = max(high, x[i] - i)
    return low, high


def bits(x):
    a, b, c = -1, 0, 5
    for i in prange(len(x)):
        a &= x[i] | 8
        b |= x[i]
        c ^= x[i]
    return a, b, c


def rows(x):
    total = 0
    for i in prange(len(x) // 10):
        largest = x[10 * i]
        for j in range(10):
            largest = max(largest, x[10 * i + j])
            total += j
        x[10 * i] = largest
    return total


def downwards(x):
    total = 0
    for i in prange(len(x) - 1, -1, -3):
        total += x[i] * i
        x[i] = i
    return total


def a_step_of_run_time(x):
    step = int(x[0]) + 3 if len(x) else 3
    total = 0
    for i in prange(-5, len(x), step):
        if i >= 0:
            total += x[i]
    return total


def nested(x):
    total = 0
    for i in prange(len(x) // 100):
        for j in prange(100):
            total += x[100 * i + j] * j
    return total


def twice(x):
    total = 0
    for i in prange(len(x)):
        x[i] += 1
    for i in prange(len(x)):
        total += x[i]
    for _ in range(3):
        for i in prange(len(x)):
            total += 1
    return total


def helper(x, i):
    s = 0
    for k in range(i % 5):
        s += x[i] + k
    return s


def calls(x):
    product = 1
    total = 0
    for i in prange(len(x)):
        total += helper(x, i)
        product *= -1 if x[i] % 2 else 1
    return total, product


def differences(x):
    total = 100
    for i in prange(len(x)):
        if i % 3 == 0:
            continue
        total -= x[i]
    else:
        total -= 7
    return total


def private(x):
    t = 3
    for i in prange(len(x)):
        t = x[i] * 2
        u = t + 1
        x[i] = u
    return t


LOOPS = [sums, counts, extremes, bits, rows, downwards, a_step_of_run_time, nested, twice, calls, differences, private]


@functools.cache
def compiled(function):
    return parallel(function)


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", SIZES)
def test_integers_agree_with_the_interpreter(function, size):
    x = np.random.default_rng(size).integers(0, 1000, size)
    ours, theirs = x.copy(), x.copy()
    got, expected = compiled(function)(ours), function(theirs)
    np.testing.assert_array_equal(np.array(got), np.array(expected))
    np.testing.assert_array_equal(ours, theirs)


def float_sums(x, y):
    dot, largest, product, count = 0.0, -np.inf, 1.0, np.float32(0)
    for i in prange(len(x)):
        dot += x[i] * y[i]
        largest = max(largest, x[i])
        product *= 1 + y[i] * 1e-9
        count += np.float32(1)
    return dot, largest, product, count


def complex_sum(x, y):
    total = 1j
    for i in prange(len(x)):
        total += complex(x[i], y[i])
    return total


@pytest.mark.parametrize("size", SIZES)
def test_floats_agree_to_rounding_and_repeat_exactly(size):
    x, y = np.random.default_rng(size).uniform(0, 1, (2, size))
    for function in (float_sums, complex_sum):
        got = compiled(function)(x, y)
        np.testing.assert_allclose(np.array(got), np.array(function(x, y)), rtol=size * np.finfo(float).eps)
        for threads in (1, get_num_threads()):
            before = get_num_threads()
            set_num_threads(threads)
            try:
                assert difference(compiled(function)(x, y), got) is None
            finally:
                set_num_threads(before)


BITS = """
import sys
sys.path[:0] = {path!r}
import numpy as np
from test_parallel import compiled, float_sums
x, y = np.random.default_rng(5).uniform(0, 1, (2, 100_003))
print([value.hex() for value in map(float, compiled(float_sums)(x, y))])
"""


def test_every_number_of_threads_gives_the_same_bits():
    path = [os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__))]
    texts = {
        subprocess.run(
            [sys.executable, "-c", BITS.format(path=path)],
            env={**os.environ, "KRAIT_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2, 3, 16)
    }
    assert len(texts) == 1


@st.composite
def random_loop(draw):
    """A function of two reductions and an array, whose parts are drawn."""
    start, step = draw(st.integers(-3, 5)), draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
    ends = (start, "len(x)") if step > 0 else ("len(x) - 1", start - 1)
    put = draw(st.sampled_from(["s += {}", "s -= {}", "s ^= {}", "s |= {}", "s = max(s, {})", "s = min({}, s)"]))
    term = draw(st.sampled_from(["x[k]", "x[k] * i", "i", "x[k] // (abs(i) + 1)", "k - x[k]"]))
    condition = draw(st.sampled_from(["True", "x[k] % 3 == 0", "i > 4", "not i % 2"]))
    lines = [
        "def loop(x, y, s):",
        "    t = 0",
        f"    for i in prange({ends[0]}, {ends[1]}, {step}):",
        "        k = i % len(x)",
        f"        if {condition}:",
        "            " + put.format(term),
        f"        y[i + 3] = {draw(st.sampled_from(['s_', 'k', 'x[k] + 1', 'i * i']))}".replace("s_", "i"),
        "        t += 1",
        "    return s, t",
    ]
    return "\n".join(lines)


@given(random_loop(), st.integers(1, 3000), st.integers(-5, 5))
@settings(max_examples=examples(40))
def test_random_loops_agree_with_the_interpreter(source, size, first):
    namespace = {"prange": prange}
    exec(source, namespace)
    loop = namespace["loop"]
    x = np.random.default_rng(size).integers(-50, 50, size)
    ours, theirs = np.zeros((2, size + 10), np.int64)
    got, expected = parallel(loop)(x, ours, first), loop(x, theirs, first)
    np.testing.assert_array_equal(np.array(got), np.array(expected), source)
    np.testing.assert_array_equal(ours, theirs)


def test_arrays_made_in_iterations_and_before():
    @parallel
    def f(n):
        table = np.arange(n)
        total = 0
        for i in prange(n):
            row = np.zeros(i % 7 + 1)
            row[:] = table[i]
            for value in row:
                total += value
        return total, table

    total, table = f(3000)
    assert total == sum((i % 7 + 1) * i for i in range(3000))
    np.testing.assert_array_equal(table, np.arange(3000))


# ---- exceptions, interrupts ------------------------------------------------------------------------------------------


def test_the_first_exception_counts_and_says_where():
    @parallel
    def f(x):
        total = 0.0
        for i in prange(len(x)):
            if x[i] < 0:
                raise ValueError("negative", i)
            total += x[i]
        return total

    x = np.ones(300_000)
    x[[100_000, 200_000, 299_999]] = -1
    for _ in range(5):
        with pytest.raises(ValueError) as caught:
            f(x)
        assert caught.value.args == ("negative", 100_000)
        frames = [frame.name for frame in caught.traceback]
        assert frames[-1] == "f" and frames.count("f") == 1
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        parallel(sums_beyond)(np.ones(3))


def sums_beyond(x):
    total = 0.0
    for i in prange(len(x) + 1):
        total += x[i]
    return total


def test_a_try_statement_around_sees_what_is_raised():
    @parallel
    def f(x):
        done = 0
        try:
            for i in prange(len(x)):
                if x[i] == 7:
                    raise ValueError
                done += 1
        except ValueError:
            return -1
        return done

    try:
        f(np.zeros(3))
    except errors.UnsupportedError:
        pytest.skip("try is not compiled")
    assert f(np.zeros(3)) == 3 and f(np.full(3, 7.0)) == -1


# ---- what is refused -------------------------------------------------------------------------------------------------


REFUSED = {
    "uses the item before": (
        """
        before = 0.0
        for i in prange(len(x)):
            x[i] -= before
            before = x[i]
        """,
        "`before` carries a value .* what the iteration before left is used here",
        "x[i] -= before",
    ),
    "a running sum": (
        """
        s = 0.0
        for i in prange(len(x)):
            s += x[i]
            x[i] = s
        """,
        "`s` carries a value .* its value so far is used here",
        "x[i] = s",
    ),
    "two ways of adding": (
        """
        s = 1.0
        for i in prange(len(x)):
            s += x[i]
            s *= 2
        return s
        """,
        "`s` carries a value .* no reduction that is known",
        "s *= 2",
    ),
    "the wrong way round": (
        """
        s = 1.0
        for i in prange(len(x)):
            s = x[i] - s
        return s
        """,
        "`s` carries a value .* no reduction",
        "s = x[i] - s",
    ),
    "one of two": (
        """
        a, b = 0.0, 1.0
        for i in prange(len(x)):
            a, b = b, a
        return a
        """,
        "carries a value",
        None,
    ),
    "sometimes assigned": (
        """
        last = -1.0
        for i in prange(len(x)):
            if x[i] > 2:
                last = x[i]
        return last
        """,
        "`last` carries a value .* assigned in some iterations only",
        None,
    ),
    "break": (
        """
        for i in prange(len(x)):
            if x[i] > 2:
                break
        """,
        "left by break or return",
        None,
    ),
    "return": (
        """
        for i in prange(len(x)):
            if x[i] > 2:
                return i
        """,
        "left by break or return",
        "return i",
    ),
    "a list from outside": (
        """
        items = [1.0]
        for i in prange(2):
            items.append(x[i])
        return len(items)
        """,
        "a list made outside a prange loop is changed",
        "items.append",
    ),
    "an item of a list from outside": (
        """
        items = [1.0, 2.0]
        for i in prange(2):
            items[i] = x[i]
        return items[0]
        """,
        "a list made outside a prange loop is changed",
        "items[i] = x[i]",
    ),
    "a dict from outside, which is only read": (
        """
        found, total = {0: 1.5, 1: 2.5}, 0.0
        for i in prange(2):
            total += found[i]
        return total
        """,
        "a dict made outside a prange loop is changed or looked into in it",
        "found[i]",
    ),
    "a variable of inner functions": (
        """
        total = 0.0
        def current():
            return total
        for i in prange(2):
            total = x[i]
        return current()
        """,
        "`total`, which inner functions share, is assigned in a prange loop(.|\\n)*hint: pass it to the inner function",
        "total = x[i]",
    ),
    "an iterator from outside": (
        """
        items = iter(x)
        for i in prange(2):
            x[i] = next(items)
        """,
        "an iterator made outside",
        "prange(2)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_iterations_hand_on_is_refused(name, tmp_path):
    body, message, line = REFUSED[name]
    source = "from krait import prange\ndef f(x):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    (tmp_path / "refused.py").write_text(source)
    namespace = {}
    exec(compile(source, str(tmp_path / "refused.py"), "exec"), namespace)
    with pytest.raises(errors.UnsupportedError, match=message) as caught:
        parallel(namespace["f"])(np.arange(5.0))
    text = str(caught.value)
    assert "prange(" in text and (line is None or line in text)
    x, y = np.arange(5.0), np.arange(5.0)
    assert njit(namespace["f"])(x) == namespace["f"](y)  # one core needs none of this
    np.testing.assert_array_equal(x, y)


def test_a_loop_that_yields_is_refused_and_what_is_yielded_behind_it_is_not():
    def inside(x):
        for i in prange(len(x)):
            yield x[i] * 2

    def behind(x):
        y = np.empty(len(x))
        yield -1.0
        for i in prange(len(x)):
            y[i] = x[i] * 2
        yield y.sum()

    x = np.arange(1000.0)
    with pytest.raises(errors.UnsupportedError, match="a prange loop yields(.|\\n)*yield x(.|\\n)*hint: use range"):
        parallel(inside)(x)
    assert list(njit(inside)(x)) == list(inside(x))
    assert list(parallel(behind)(x)) == list(behind(x))


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_numbers_of_threads():
    most = get_num_threads()
    assert 1 <= most and krait.threading_layer() == "pool" and get_thread_id() == 0
    for bad, error in ((0, ValueError), (most + 1, ValueError), (10**30, ValueError), ("two", TypeError)):
        with pytest.raises(error):
            set_num_threads(bad)

    @parallel
    def used(n, ids):
        for i in prange(n):
            ids[i] = get_thread_id()
        return get_num_threads()

    @njit
    def within(n):
        set_num_threads(n)
        return get_num_threads()

    ids = np.full(50_000, -1)
    assert used(50_000, ids) == most and ids.min() >= 0 and ids.max() < most
    assert within(1) == 1 == get_num_threads()
    assert used(50_000, ids) == 1 and (ids == 0).all()
    with pytest.raises(ValueError, match=f"between 1 and {most}, not 0"):
        within(0)
    set_num_threads(most)
    others = []
    thread = threading.Thread(target=lambda: (set_num_threads(1), others.append(get_num_threads())))
    thread.start(), thread.join()
    assert others == [1] and get_num_threads() == most  # each thread has its own


def test_sizes_of_chunks():
    @parallel
    def f(n, ids):
        total = 0
        for i in prange(n):
            ids[i] = i
            total += i
        return total

    assert krait.get_parallel_chunksize() == 0
    for size in (1, 3, 100, 10**6):
        with krait.parallel_chunksize(size):
            assert krait.get_parallel_chunksize() == size
            ids = np.zeros(1000, int)
            assert f(1000, ids) == sum(range(1000)) and (ids == np.arange(1000)).all()
    assert krait.get_parallel_chunksize() == 0 == krait.set_parallel_chunksize(4)
    assert njit(lambda: krait.set_parallel_chunksize(0))() == 4
    with pytest.raises(ValueError):
        krait.set_parallel_chunksize(-1)


def test_many_threads_at_once():
    x = np.arange(100_000)
    results = []
    threads = [threading.Thread(target=lambda: results.append(compiled(sums)(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [x.sum()] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_threads_of_its_own():
    code = """
    import os, sys, numpy as np
    from krait import njit, prange
    @njit(parallel=True)
    def sums(x):
        total = 0
        for i in prange(len(x)):
            total += x[i]
        return total
    x = np.arange(200_000)
    assert sums(x) == x.sum()
    child = os.fork()
    if child == 0:
        os._exit(0 if sums(x) == x.sum() else 1)
    assert os.waitpid(child, 0)[1] == 0 and sums(x) == x.sum()
    """
    environment = {**os.environ, "KRAIT_NUM_THREADS": "4"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=60, env=environment)


def test_prange_elsewhere_is_a_range():
    assert list(prange(3)) == [0, 1, 2] and prange(1, 7, 2) == range(1, 7, 2)
    x = np.arange(100)
    assert njit(sums)(x) == x.sum()
    again = pickle.loads(pickle.dumps(compiled(sums)))
    assert again(x) == x.sum()
    inner = compiled(sums)
    outer = parallel(lambda x: inner(x) + 1)
    assert outer(x) == x.sum() + 1


def test_a_callee_that_cannot_be_spread_stays_on_one_core():
    @njit
    def running(x):
        s = 0
        for i in prange(len(x)):
            s += x[i]
            x[i] = s
        return s

    x = np.ones(100, int)
    assert parallel(lambda x: running(x))(x) == 100 and (x == np.arange(1, 101)).all()


# ---- how many threads there are --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_number_of_threads_that_is_none(text):
    done = subprocess.run([sys.executable, "-c", "import krait"], capture_output=True, text=True,
                          env={**os.environ, "KRAIT_NUM_THREADS": text})  # fmt: skip
    assert f"ValueError: KRAIT_NUM_THREADS is a number of threads from 1, not '{text}'" in done.stderr


def test_the_number_of_threads_is_set_before_it_is_used():
    code = """
        import krait
        try:
            krait.config.NUMBA_NUM_THREADS = 10**30  # more than there can be: it counts nothing
        except ValueError as told:
            print(told)
        krait.config.NUMBA_NUM_THREADS = 3
        assert krait.get_num_threads() == 3 == krait.config.KRAIT_NUM_THREADS
        krait.config.NUMBA_NUM_THREADS = 3
        for number, error in [(4, RuntimeError), (0, ValueError), ("3", TypeError)]:
            try:
                krait.config.NUMBA_NUM_THREADS = number
            except error as told:
                print(told)
        assert krait.get_num_threads() == 3
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    most, first, second, _ = done.stdout.splitlines()
    assert most == f"the number of threads is at least 1 and at most 1024, not {10**30}"
    assert first.startswith("there are 3 threads already")
    assert second == "the number of threads is at least 1 and at most 1024, not 0"


# ---- random numbers --------------------------------------------------------------------------------------------------


def pi_numpy(n):
    hits = 0
    for i in prange(n):
        x, y = np.random.rand(), np.random.random()
        hits += x * x + y * y < 1
    return 4 * hits / n


def draws_of_both(n, out):
    for i in prange(n):
        out[i, 0] = np.random.standard_normal()
        out[i, 1] = random.random()
        out[i, 2] = np.random.randint(0, 1000)


def test_monte_carlo_in_parallel_loops():
    f = compiled(pi_numpy)
    np.random.seed(7)
    first, second = f(400_000), f(400_000)
    assert first != second and abs(first - np.pi) < 0.02 and abs(second - np.pi) < 0.02
    set_num_threads(1)
    try:
        np.random.seed(7)
        assert (f(400_000), f(400_000)) == (first, second)
    finally:
        set_num_threads(krait.config.NUMBA_NUM_THREADS)


def test_numbers_drawn_in_chunks_differ_and_repeat():
    f, seen = compiled(draws_of_both), []
    for _ in range(2):
        np.random.seed(3)
        random.seed(3)
        out = np.zeros((20_000, 3))
        f(len(out), out)
        seen.append(out)
    np.testing.assert_array_equal(*seen)
    out = seen[0]
    assert len(np.unique(out[:, 0])) == len(out) and len(np.unique(out[:, 1])) == len(out)
    assert abs(out[:, 0].mean()) < 0.05 and abs(out[:, 0].std() - 1) < 0.05
    assert abs(out[:, 1].mean() - 0.5) < 0.02 and abs(out[:, 2].mean() - 499.5) < 20
    state = np.random.get_state()[2]
    f(len(out), out)
    assert np.random.get_state()[2] == state + 2  # one number of the generator itself: the seed of the loop


def test_loops_of_numpy_in_an_iteration_draw_no_numbers():
    @parallel
    def f(a):
        total = 0.0
        for i in prange(len(a)):
            total += np.dot(a[i], a[i])
        return total

    a = np.arange(30.0).reshape(6, 5)
    np.random.seed(7)
    assert f(a) == np.sum(a * a)
    assert np.random.random() == np.random.RandomState(7).random()


def test_seeding_in_an_iteration_is_the_chunks_own():
    @parallel
    def f(n, out):
        for i in prange(n):
            np.random.seed(i)
            out[i] = np.random.rand()

    np.random.seed(3)
    np.random.rand()  # fills the state
    before = np.random.get_state()[1].copy()
    out, again = np.zeros((2, 3000))
    f(3000, out)
    f(3000, again)
    np.testing.assert_array_equal(out, again)
    assert len(np.unique(out)) == 3000
    assert (np.random.get_state()[1] == before).all()  # not seeded: at most moved on


# ---- items of arrays that iterations share ---------------------------------------------------------------------------


def histogram(k, n):
    h = np.zeros(n, np.int64)
    for i in prange(k.size):
        h[k[i]] += 1
    return h


def column_sums(x):
    total = np.zeros(x.shape[1])
    for i in prange(x.shape[0]):
        total += x[i]
    return total


def running_extremes(k, x):
    best = np.full(4, -np.inf)
    for i in prange(x.size):
        if x[i] > best[k[i]]:
            best[k[i]] = x[i]
    return best


def outer_sums(x):
    total = np.zeros((2, x.shape[1]))
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            total[1][j] += x[i, j]
    return total


def neighbours_in_groups(x):
    total = np.zeros(x.size // 4 + 1)
    for i in prange(x.size):
        total[i // 4] += x[i]
    return total


@pytest.mark.parametrize("threads", [1, 2])
def test_items_that_iterations_update_together(threads):
    rng, before = np.random.default_rng(1), get_num_threads()
    k, x, rows = rng.integers(0, 4, 300_000), rng.random(300_000), rng.integers(0, 9, (300_000, 4)).astype(float)
    set_num_threads(min(threads, before))
    try:
        np.testing.assert_array_equal(parallel(histogram)(k, 4), np.bincount(k))
        np.testing.assert_array_equal(parallel(column_sums)(rows), rows.sum(0))
        np.testing.assert_array_equal(parallel(outer_sums)(rows)[1], rows.sum(0))
        np.testing.assert_array_equal(parallel(running_extremes)(k, x), [x[k == i].max() for i in range(4)])
        whole = np.floor(x * 100)
        np.testing.assert_array_equal(parallel(neighbours_in_groups)(whole)[:-1], whole.reshape(-1, 4).sum(1))
    finally:
        set_num_threads(before)


def test_items_of_its_own_leave_a_loop_parallel():
    """What the pass makes of loops: a call of the loop's function, or a range."""
    code = """
        import numpy as np
        from krait import njit, prange

        @njit(parallel=True)
        def own(a, b, out, seen):
            for i in prange(out.shape[0]):
                seen[2 * i + 1] = 1
                out[i] += a[i]
                for j in range(out.shape[1]):
                    out[i, j] += b[i] * out[i, j]
                    out[i][j] -= 1.0

        @njit(parallel=True)
        def common(k, h):
            for i in prange(k.size):
                if h[k[i]] < 5:
                    h[k[i]] += 1

        x, one = np.ones((4, 3)), np.ones(4)
        own(x, one, 2 * x, np.zeros(8))
        assert (x == 1).all()
        common(np.zeros(4, np.int64), one)
        assert one[0] == 5
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "KRAIT_DUMP": "parallel"})
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    first, second = text.index("krait_own"), text.index("krait_common")
    assert "call_inst[own#" in text[first:second] and "call_inst" not in text[second:]


# ---- arrays that iterations only put something to: each block of them has its own ------------------------------------


def sum_of_rows(x, k):
    total = np.zeros(x.shape[1], x.dtype)
    for i in prange(x.shape[0]):
        total += x[i] * 2 + 1
        total -= x[i]
    return total


def product_of_rows(x, k):
    product = np.ones(x.shape[1], x.dtype)
    for i in prange(x.shape[0]):
        product *= x[i]
    return product


def made_anew(x, k):
    total, low, high = np.zeros(x.shape[1], x.dtype), x[0].copy(), x[0].copy()
    for i in prange(x.shape[0]):
        total = total + x[i]
        low = np.minimum(x[i], low)
        high = np.maximum(high, x[i])
    return total, low, high


def bits_of_rows(x, k):
    both, either, odd = np.full(x.shape[1], -1), np.zeros(x.shape[1], np.int64), np.zeros(x.shape[1], np.int64)
    for i in prange(x.shape[0]):
        both &= k[i] | 16
        either |= k[i]
        odd ^= k[i]
    return both, either, odd


def counts_of_pairs(x, k):
    pairs, seen = np.zeros((9, 9), np.int32), 0
    for i in prange(k.size - 1):
        pairs[k[i], k[i + 1]] += 1
        seen += 1
    return pairs, seen


def extremes_of_narrow_ones(x, k):
    small, flags = x.astype(np.int8), x > 20
    low, high, some = small[0].copy(), small[0].copy(), flags[0].copy()
    least, most, any_, largest = small[0, 0], small[0, 0], flags[0, 0], small[0, 0]
    for i in prange(x.shape[0]):
        low = np.minimum(low, small[i])
        high = np.fmax(small[i], high)
        some = np.maximum(some, flags[i])
        least = np.fmin(least, small[i, 0])
        most = np.maximum(small[i, 0], most)
        any_ = np.maximum(any_, flags[i, 0])
        largest = max(largest, small[i, 0], small[i, 1])
    return low, high, some, least, most, any_, largest


def logic_of_rows(x, k):
    flags = x > 20
    every, some, odd = np.ones(x.shape[1], np.bool_), np.zeros(x.shape[1], np.bool_), flags[0].copy()
    all_, any_ = np.True_, np.False_
    for i in prange(x.shape[0]):
        every = np.logical_and(every, flags[i])
        some = np.logical_or(flags[i], some)
        odd = np.logical_xor(odd, flags[i])
        all_ = np.logical_and(flags[i, 0], all_)
        any_ = np.logical_or(any_, flags[i, 0])
    return every, some, odd, all_, any_


def extremes_of_groups(x, k):
    high, low = np.full(9, -1, x.dtype), np.full(9, 10**6, x.dtype)
    for i in prange(k.size):
        high[k[i]] = max(high[k[i]], x[i, 0])
        low[k[i]] = min(x[i, 0], low[k[i]])
    return high, low


def sums_of_groups(x, k):
    total = np.zeros((9, x.shape[1]), x.dtype)
    for i in prange(k.size):
        total[k[i]] += x[i]
        total[k[i], 0] -= 1
    return total


def columns_one_by_one(x, k):
    total = np.zeros(x.shape[1], x.dtype)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            total[j] += x[i, j]
    return total


def of_the_caller(x, k):
    for i in prange(1, k.size):
        x[0] += x[0] * 0 + k[i]
    return x


def one_number(x, k):
    total = np.zeros(3, x.dtype)
    last = 0
    for i in prange(k.size):
        total[1] += x[i, 0]
        total[-1] -= k[i]
        last = i
    return total, last


REDUCTIONS = [sum_of_rows, product_of_rows, made_anew, bits_of_rows, counts_of_pairs, extremes_of_narrow_ones,
              logic_of_rows, extremes_of_groups, sums_of_groups, columns_one_by_one, one_number]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", (1, 7, 64, 1000, 20_000))
def test_arrays_as_reductions(function, size, order):
    rng = np.random.default_rng(size)
    x, k = np.asarray(rng.integers(1, 50, (size, 5)), order=order), rng.integers(0, 9, size)
    before = x.copy()
    got, expected = compiled(function)(x, k), function(x, k)
    for ours, theirs in zip(got, expected) if isinstance(got, tuple) else [(got, expected)]:
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
def test_arrays_as_reductions_run_on_several_cores(function, capsys):
    compiled(function)(np.ones((3, 5), np.int64), np.ones(3, np.int64))
    compiled(function).parallel_diagnostics(level=2)
    text = capsys.readouterr().out
    assert "the loop over prange runs on several cores" in text and "is a reduction of it: each thread has one" in text


def test_arrays_as_reductions_of_floats_are_the_same_on_any_number_of_threads():
    x, k = np.random.default_rng(4).random((50_000, 5)), np.random.default_rng(5).integers(0, 9, 50_000)
    for function in (sum_of_rows, sums_of_groups, columns_one_by_one):
        several = compiled(function)(x, k)
        np.testing.assert_allclose(several, function(x, k), rtol=1e-10)
        before = get_num_threads()
        set_num_threads(1)
        try:
            np.testing.assert_array_equal(compiled(function)(x, k), several)
        finally:
            set_num_threads(before)


def aliased(x, base):
    total = base
    for i in prange(len(x)):
        total = total + x[i]
    total[0] = 77
    return total, base


def aliased_in_rounds(x, base):
    total, low = base, base
    for n in range(3):
        for i in prange(n * len(x) // 2):
            total = total + x[i]
            low = np.minimum(low, x[i])
        total[n] += n
        low[1] -= 5
    return total, base, low


@pytest.mark.parametrize("size", (0, 1, 2, 3000))
@pytest.mark.parametrize("function", [aliased, aliased_in_rounds], ids=lambda f: f.__name__)
def test_an_array_made_anew_is_the_one_before_if_there_is_no_round(function, size):
    x = np.random.default_rng(size).integers(0, 9, (size, 3)).astype(float)
    for ours, theirs in zip(compiled(function)(x, np.arange(3.0)), function(x, np.arange(3.0))):
        np.testing.assert_array_equal(ours, theirs)


def max_of_groups_item_first(x, k):
    high = np.zeros(9)
    for i in prange(k.size):
        high[k[i]] = max(x[i, 0], high[k[i]])
    return high


def min_of_groups_array_first(x, k):
    low = np.zeros(9)
    for i in prange(k.size):
        low[k[i]] = min(low[k[i]], x[i, 0])
    return low


def columns_item_first(x, k):
    low = np.zeros(x.shape[1])
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            low[j] = min(x[i, j], low[j])
    return low


def extremes_item_first(x, k):
    low, high = 0.0, -0.0
    for i in prange(x.shape[0]):
        low = min(x[i, 0], low)
        high = max(x[i, 1], high)
    return low, high


def extremes_number_first(x, k):
    low, high = 0.0, -0.0
    for i in prange(x.shape[0]):
        low = min(low, x[i, 0])
        high = max(high, x[i, 1])
    return low, high


ORDERED = {max_of_groups_item_first: True, columns_item_first: True, extremes_item_first: True,
           min_of_groups_array_first: False, extremes_number_first: False}


@pytest.mark.parametrize("function", ORDERED, ids=lambda f: f.__name__)
def test_the_order_of_numbers_counts_where_one_is_nan(function, capsys):
    """max(x, s) forgets what was before a NaN."""
    rng = np.random.default_rng(7)
    x, k = rng.uniform(-9, 9, (40_000, 2)), rng.integers(0, 9, 40_000)
    for every in (10**6, 1000, 13):
        x[every // 2 :: every] = np.nan
        x[:20_000] *= 3  # what comes later is no extreme
        np.testing.assert_array_equal(compiled(function)(x, k), function(x, k))
    zeros = np.where(np.arange(80_000).reshape(-1, 2) % 4 < 2, 0.0, -0.0)
    np.testing.assert_array_equal(np.signbit(compiled(function)(zeros, k)), np.signbit(function(zeros, k)))
    compiled(function).parallel_diagnostics(level=2)
    assert ("the loop over prange stays on one core" in capsys.readouterr().out) == ORDERED[function]


def test_what_reads_the_array_besides_stays_in_order(capsys):
    x, k = np.arange(60.0).reshape(12, 5), np.arange(12) % 4

    def read(x, k):
        total, seen = np.zeros(5), np.zeros(12)
        for i in prange(12):
            total += x[i]
            seen[i] = total[0]
        return total, seen

    def two_operations(x, k):
        total = np.ones(5)
        for i in prange(12):
            total += x[i]
            total *= 2
        return total, total

    def another_name(x, k):
        total = np.ones(8)
        part = total[1:6]
        for i in prange(12):
            total[k[i]] += 1
            part += x[i] * total[0]
        return total, total

    for function in (read, two_operations, another_name, lambda x, k: (of_the_caller(x.copy(), k), k)):
        for ours, theirs in zip(parallel(function)(x, k), function(x, k)):
            np.testing.assert_array_equal(ours, theirs)
    f = parallel(read)
    f(x, k)
    f.parallel_diagnostics()
    assert "stays on one core: iterations update the same items" in capsys.readouterr().out


def test_exceptions_beside_arrays_as_reductions():
    @parallel
    def counted(k, h):
        for i in prange(k.size):
            h[k[i]] += 1

    k, h = np.zeros(10_000, np.int64), np.zeros(4, np.int64)
    k[7000] = 4
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        counted(k, h)
    k[7000] = 3
    h[:] = 0
    counted(k, h)
    assert h.tolist() == [9999, 0, 0, 1]

    @parallel
    def wider(x):
        total = np.zeros(1)
        for i in prange(x.shape[0]):
            total = total + x[i]
        return total

    with pytest.raises(ValueError, match="broadcast"):
        wider(np.ones((3, 4)))
    assert wider(np.ones((3, 1))) == 3 and wider(np.ones((0, 4))).shape == (1,)

    @parallel
    def wider_in_order(x):
        total = np.zeros(1)
        for i in range(x.shape[0]):
            total = total + x[i]
        return total

    assert wider_in_order(np.ones((3, 4))).tolist() == [3, 3, 3, 3]


# ---- the end of a process --------------------------------------------------------------------------------------------

ENDS = {
    "while a daemon thread is in a loop": """
        def forever():
            while True:
                sums(x)
        threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.2)
        """,
    "in atexit": "atexit.register(lambda: sums(x))",
    "in a forked child": """
        child = os.fork()
        assert sums(x) == 600_000
        if child == 0:
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """,
    "in threads at once": """
        threads = [threading.Thread(target=lambda: [sums(x) for _ in range(20)]) for _ in range(4)]
        [thread.start() for thread in threads]
        child = os.fork()
        if child == 0:
            assert sums(x) == 600_000
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        [thread.join() for thread in threads]
        """,
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("end", ENDS)
def test_processes_end_quietly(end):
    begin = """
        import atexit, os, sys, threading, time, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        import numpy as np
        from krait import njit, prange
        @njit(parallel=True, nogil=True)
        def sums(x):
            total = 0.0
            for i in prange(len(x)):
                total += x[i]
            return total
        x = np.full(300_000, 2.0)
        assert sums(x) == 600_000
        """
    code = textwrap.dedent(begin) + textwrap.dedent(ENDS[end])
    environment = {**os.environ, "KRAIT_NUM_THREADS": "4"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- variables of an iteration's own ----


@njit(parallel=True)
def last_round(h, rounds):
    out = np.zeros(h)
    for i in prange(h):
        for k in range(rounds):
            last = k * 2.0
            row = np.full(2, last + i)
        out[i] = last + row.sum()
    return out


@njit(parallel=True)
def signs(x):
    out = np.zeros(x.size)
    for i in prange(x.size):
        if x[i] > 0:
            sign = 1.0
        elif x[i] < 0:
            sign = -1.0
        if x[i] != 0:
            out[i] = sign
    return out


def test_what_an_inner_loop_or_a_branch_assigns_is_the_iterations_own():
    np.testing.assert_array_equal(last_round(50, 3), last_round.py_func(50, 3))
    x = np.arange(-20.0, 20.0)
    np.testing.assert_array_equal(signs(x), signs.py_func(x))
    with pytest.raises(UnboundLocalError, match="last"):  # and nothing that another iteration left
        last_round(50, 0)


def test_what_the_iteration_before_left_is_refused():
    @njit(parallel=True)
    def shifted(x):
        out = np.zeros(x.size)
        for i in prange(x.size):
            if i > 0:
                out[i] = before
            before = x[i]
        return out

    with pytest.raises(errors.UnsupportedError, match="what the iteration before left is used here"):
        shifted(np.arange(3.0))


PROCESSES = """
import multiprocessing, sys
import numpy as np
from krait import guvectorize, njit, prange, vectorize

@njit(parallel=True)
def sums(x):
    total = 0.0
    for i in prange(len(x)):
        total += x[i]
    return total

@vectorize(["float64(float64)"], target="parallel")
def plus(x):
    return x + 1

@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="parallel")
def doubled(x, out):
    for i in range(len(x)):
        out[i] = 2 * x[i]

def work(n):
    x = np.arange(float(n))
    return sums(x) == x.sum(), bool((plus(x) == x + 1).all()), bool((doubled(x.reshape(-1, 10)).ravel() == 2 * x).all())

if __name__ == "__main__":
    sizes = [100_000, 200_000, 300_000, 10]
    assert all(map(all, map(work, sizes)))
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert all(map(all, pool.map(work, sizes * 3)))
    assert all(map(all, map(work, sizes)))
    print("fine")
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_parallel_loops_in_other_processes(method, tmp_path):
    (tmp_path / "program.py").write_text(PROCESSES)
    environment = {**os.environ, "KRAIT_NUM_THREADS": "4", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, str(tmp_path / "program.py"), method], capture_output=True, text=True,
                          timeout=170, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


SHARED = [[1, 2], [3]]
STREAM = np.random.default_rng(5)


def test_what_lies_within_what_is_outside_is_changed_in_order():
    @njit(parallel=True)
    def within(items, n):
        for i in prange(n):
            x = items
            x[0].append(i)

    @njit(parallel=True)
    def of_the_module(n):
        for i in prange(n):
            SHARED[1].append(i)

    @njit(parallel=True)
    def of_a_dict(table, n):
        for i in prange(n):
            table[i % 2].append(i)

    @njit(parallel=True)
    def its_own(items):
        for i in prange(len(items)):
            items[i].append(i)

    n = 50_000
    items, table = [[1, 2], [3]], {0: [0], 1: [1]}
    within(items, n), of_the_module(n), of_a_dict(table, n)
    assert items == [[1, 2, *range(n)], [3]] and SHARED == [[1, 2], [3, *range(n)]]
    assert table == {0: [0, *range(0, n, 2)], 1: [1, *range(1, n, 2)]}
    many = [[0] for _ in range(500)]
    its_own(many)
    assert many == [[0, i] for i in range(500)]


def test_a_generator_from_outside_draws_in_order():
    @njit(parallel=True)
    def given(out, rng):
        for i in prange(out.size):
            out[i] = rng.random()

    @njit(parallel=True)
    def of_the_module(out):
        for i in prange(out.size):
            out[i] = STREAM.random()

    ours, theirs = np.zeros(200_000), np.random.default_rng(5).random(200_000)
    given(ours, np.random.default_rng(5))
    assert (ours == theirs).all()
    of_the_module(ours)
    assert (ours == theirs).all()


# ---- seeds that iterations give ------------------------------------------------------------------------------------


def seeded_by_iteration(n, k):
    out = np.zeros((n, 8))
    for i in prange(n):
        np.random.seed(i * k)
        out[i, 0] = np.random.rand()
        out[i, 1] = np.random.normal()
        out[i, 2] = np.random.randint(0, 100)
        out[i, 3] = np.random.standard_gamma(2.5)
        out[i, 4] = np.random.poisson(3.0)
        out[i, 5] = np.random.binomial(10, 0.3)
        out[i, 6] = np.random.permutation(9)[3]
        out[i, 7] = np.random.normal(5.0, 0.5)  # the second of a pair
    return out


def python_seeded_by_iteration(n, k):
    out = np.zeros((n, 5))
    for i in prange(n):
        random.seed(i * k)
        out[i, 0] = random.random()
        out[i, 1] = random.gauss(0, 1)
        out[i, 2] = random.randint(0, 100)
        out[i, 3] = random.expovariate(2.0)
        out[i, 4] = random.getrandbits(20)
    return out


@njit
def seeded_draw(i):
    np.random.seed(i)
    return np.random.rand()


def seeded_in_a_function(n, k):
    out = np.zeros(n)
    for i in prange(n):
        out[i] = seeded_draw(i * k)
    return out


@pytest.mark.parametrize("function, k", [(seeded_by_iteration, 1), (seeded_by_iteration, 85899345),
                                         (python_seeded_by_iteration, 3), (python_seeded_by_iteration, 2**40 + 7),
                                         (python_seeded_by_iteration, -3), (seeded_in_a_function, 5)])  # fmt: skip
def test_an_iteration_that_gives_a_seed_draws_what_the_interpreter_draws(function, k):
    most, expected, compiled = get_num_threads(), function(50, k), njit(parallel=True)(function)
    try:
        for count in {1, most}:
            set_num_threads(count)
            np.testing.assert_allclose(compiled(50, k), expected, rtol=1e-12)
    finally:
        set_num_threads(most)


def test_a_seed_of_the_system_in_an_iteration_is_no_constant():
    @njit(parallel=True)
    def drawn(n):
        out = np.zeros(n)
        for i in prange(n):
            np.random.seed(7)
            np.random.seed()
            out[i] = np.random.rand()
        return out

    assert len(np.unique(drawn(200))) > 100 and not np.array_equal(drawn(200), drawn(200))
