"""cuda.graph(): what a block gives to the device is recorded, and done by launch(); on the device of this machine, be
it a GPU or the host."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import ON_HOST

from krait import cuda, errors, vectorize

# On a GPU in a process of its own, with a limit: what goes wrong in a recording may leave the driver waiting.
CHILD = os.environ.get("KRAIT_TEST_GRAPHS") == "1"
here = pytest.mark.skipif(not ON_HOST and not CHILD, reason="runs in a process of its own on a GPU")


@pytest.mark.skipif(ON_HOST or CHILD, reason="the tests of this file run in this process")
def test_on_the_gpu():
    environment = dict(os.environ, KRAIT_TEST_GRAPHS="1")
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", __file__], env=environment, check=True, timeout=120)



@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += y[i]


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


@vectorize(["float64(float64, float64)"], target="cuda")
def plus(a, b):
    return a + b


def device(*values, n=100):
    return [cuda.to_device(np.full(n, float(value))) for value in values]


@here
def test_nothing_is_done_before_the_launch():
    x, y = device(1, 2)
    with cuda.graph() as g:
        add[1, 128](x, y)
        scale[1, 128](x, 10.0)
    assert (x.copy_to_host() == 1).all()
    g.launch()
    assert (x.copy_to_host() == 30).all()
    g.launch()
    assert (x.copy_to_host() == 320).all()


@here
def test_twenty_kernels_in_their_order():
    (x,) = device(1)
    with cuda.graph() as g:
        for i in range(10):
            scale[1, 128](x, 2.0)
            add[1, 128](x, x)
    assert len(g.launches) == 20
    stream = cuda.stream()
    g.launch(stream)
    stream.synchronize()
    assert (x.copy_to_host() == 4.0**10).all()


@here
def test_copies_read_and_write_what_lies_there_at_the_launch():
    x, y = device(0, 1)
    source = np.arange(100.0)
    with cuda.graph() as g:
        x.copy_to_device(source)
        add[1, 128](x, y)
        y.copy_to_device(x)
        result = y.copy_to_host()
        fresh = cuda.to_device(source)
        scale[1, 128](fresh, 3.0)
    for factor in (1, 5):
        source[:] = factor * np.arange(100.0)
        y.copy_to_device(np.ones(100))
        g.launch()
        cuda.synchronize()
        np.testing.assert_array_equal(result, source + 1)
        np.testing.assert_array_equal(fresh.copy_to_host(), source * 3)


@here
def test_elementwise_calls_filling_and_operators():
    x, y, out = device(1, 2, 0)
    with cuda.graph() as g:
        x.fill(5)
        made = plus(x, y)
        plus(made, 1.0, out=out)
        x += out
        product = x * y
    assert (x.copy_to_host() == 1).all()
    g.launch()
    assert (out.copy_to_host() == 8).all() and (made.copy_to_host() == 7).all()
    assert (x.copy_to_host() == 13).all() and (product.copy_to_host() == 26).all()
    y.fill(3)
    g.launch()
    assert (product.copy_to_host() == 42).all()


@here
def test_other_arguments():
    x, y, z = device(1, 2, 3)
    with cuda.graph() as g:
        scale[1, 128](x, 2.0)
        add[1, 128](x, y)
        add[1, 128](y, x)
    g.update(0, factor=10.0)
    g.launch()
    assert (x.copy_to_host() == 12).all() and (y.copy_to_host() == 14).all()
    g.update(scale, z)
    g.update(1, z)
    g.update(2, y=z)
    g.launch()
    assert (z.copy_to_host() == 44).all() and (y.copy_to_host() == 58).all() and (x.copy_to_host() == 12).all()
    for arguments, named, error, words in [
        ((3,), {}, IndexError, "3 launches"),
        ((add,), {}, ValueError, "more than once"),
        ((plus,), {}, IndexError, "none of them"),
        ((0, z, 1.0, 2.0), {}, TypeError, "2 arguments"),
        ((0,), {"by": 1.0}, TypeError, "no parameter 'by'"),
    ]:
        with pytest.raises(error, match=words):
            g.update(*arguments, **named)


@cuda.jit
def count_to(x, started, limit):
    started[0] = 1
    while x[0] < limit:
        x[0] += 1


@here
@pytest.mark.skipif(not ON_HOST, reason="a GPU has the arguments itself")
def test_other_arguments_while_another_thread_launches():
    """The running launch has the arguments that it was started with, though nobody else has them any more."""
    x, y, started = cuda.to_device(np.zeros(1 << 22)), cuda.to_device(np.zeros(1)), cuda.to_device(np.zeros(1, "i8"))
    count_to[1, 1](x, started, 0.0)
    with cuda.graph() as g:
        count_to[1, 1](x, started, 3e8)
    started.copy_to_device(np.zeros(1, "i8"))
    thread = threading.Thread(target=g.launch)
    thread.start()
    while started.copy_to_host()[0] == 0:
        assert thread.is_alive()
    g.update(0, y, started, 5.0)
    del x
    others = [np.zeros(1 << 22) for _ in range(4)]
    thread.join(60)
    assert not thread.is_alive() and not any(array.any() for array in others)
    g.launch()
    assert y.copy_to_host()[0] == 5


@here
def test_a_graph_keeps_what_it_uses():
    x, y = device(1, 2)
    with cuda.graph() as g:
        add[1, 128](x[10:20], y[:10])
        result = x.copy_to_host()
    del x, y
    g.launch()
    cuda.synchronize()
    assert result[:10].sum() == 10 and result[10:20].sum() == 30


@here
def test_what_cannot_be_recorded():
    x, y = device(1, 2)
    stream, event = cuda.stream(), cuda.event()
    for action in (lambda: add[1, 128](x, np.ones(100)), lambda: float(x[0]),
                   lambda: x[::2].copy_to_host(), lambda: np.asarray(x), x.sum, x.max, lambda: x.item(3), x.tolist,
                   lambda: stream.add_callback(print), stream.synchronize, event.record, event.synchronize,
                   lambda: event.wait(stream), cuda.get_current_device().reset):
        with pytest.raises(RuntimeError, match="cannot be recorded"), cuda.graph():
            action()
    add[1, 128](x, y)  # nothing is recorded any more
    assert (x.copy_to_host() == 3).all()


@here
def test_a_block_that_raises_records_nothing():
    x, y = device(1, 2)
    g = cuda.graph()
    with pytest.raises(KeyError), g:
        add[1, 128](x, y)
        raise KeyError
    with pytest.raises(RuntimeError, match="not been recorded"):
        g.launch()
    assert (x.copy_to_host() == 1).all()


@here
def test_a_graph_whose_block_raised_is_recorded_anew():
    x, y = device(1, 2)
    g = cuda.graph()
    with pytest.raises(KeyError), g:
        add[1, 128](x, y)
        raise KeyError
    with g:
        scale[1, 128](x, 10.0)
    g.launch()
    assert len(g.launches) == 1 and (x.copy_to_host() == 10).all()


@here
def test_a_dropped_graph_records_no_more():
    """Neither what it had open nor its memory is used after it, and the thread's work is done again."""
    x, y = device(1, 2)
    word = cuda.to_device(np.ones(1, np.int32))

    def enter(part):
        g = cuda.graph().__enter__()
        add[1, 128](x, y)
        if part:
            g.if_(word).__enter__()
            g.while_(word).__enter__()
            add[1, 128](x, y)

    def in_a_cycle():
        g = cuda.graph().__enter__()
        add[1, 128](x, y)
        cycle = [g]
        cycle.append(cycle)

    others, expected = [], 1
    for drop in (lambda: enter(False), lambda: enter(True), lambda: (in_a_cycle(), gc.collect())):
        drop()
        others += [b"\xff" * size for size in range(100, 500)]
        add[1, 128](x, y)
        expected += 2
        assert (x.copy_to_host() == expected).all()
        drop()
        assert (x.copy_to_host() == expected).all()
        drop()
        x.copy_to_device(np.full(100, 3.0))
        expected = 3
        drop()
        with cuda.graph() as g:
            scale[1, 128](x, 2.0)
        g.launch()
        expected *= 2
        assert (x.copy_to_host() == expected).all()


@here
def test_a_graph_is_dropped_while_another_is_recorded():
    """What it used is given back later: a wait for it would end the recording."""
    x, y = device(1, 2)
    source, mapped = np.full(100, 3.0), cuda.mapped_array(100)
    for _ in range(3):
        with cuda.graph() as g:  # from the second round on, the one before goes here
            x.copy_to_device(source)
            scale[1, 128](x, 10.0)
            result = x.copy_to_host()
            del mapped
            mapped = cuda.mapped_array(100)
            thread = threading.Thread(target=cuda.synchronize)
            thread.start()
            thread.join()
            add[1, 128](x, y)
        g.launch()
        cuda.synchronize()
        assert (x.copy_to_host() == 32).all() and (result == 30).all()


@here
def test_a_graph_that_another_thread_drops():
    x, y = device(1, 2)
    held = [cuda.graph()]
    held[0].__enter__()
    add[1, 128](x, y)
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert (x.copy_to_host() == 1).all()
    add[1, 128](x, y)
    assert (x.copy_to_host() == 3).all()


@here
def test_a_graph_is_recorded_by_one_thread():
    g, errors = cuda.graph(), []

    def enter():
        try:
            g.__enter__()
        except RuntimeError as error:
            errors.append(str(error))

    with g:
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    assert errors == ["another thread is recording this graph"]
    g.launch()


@here
def test_a_thread_that_ends_in_its_block_records_no_more():
    (x, y), left = device(1.0, 2.0), []
    add[1, 128](x, y)

    def leave_it():
        left.append(cuda.graph().__enter__())
        add[1, 128](x, y)

    thread = threading.Thread(target=leave_it)
    thread.start()
    thread.join()
    g = left.pop()
    with pytest.raises(RuntimeError, match="has not been recorded"):
        g.launch()
    with g:
        add[1, 128](x, y)
    assert (x.copy_to_host() == 3).all() and len(g.launches) == 1
    g.launch()
    assert (x.copy_to_host() == 5).all()


@here
def test_a_part_that_is_left_open_ends_with_the_graph():
    x, y = device(1, 2)
    word = cuda.to_device(np.ones(1, np.int32))
    with pytest.raises(RuntimeError, match="if_ or while_ is open in this graph"), cuda.graph() as g:
        outer = g.if_(word)
        outer.__enter__()
        g.while_(word).__enter__()
        add[1, 128](x, y)
    add[1, 128](x, y)
    assert (x.copy_to_host() == 3).all()
    with pytest.raises(RuntimeError, match="not been recorded"):
        g.launch()
    with pytest.raises(RuntimeError, match="not the block"):
        outer.__exit__(None, None, None)


@here
def test_a_part_that_an_exception_leaves_spoils_the_graph():
    """Also if it is caught: half a part is not what was written."""
    x, y = device(1, 2)
    word = cuda.to_device(np.ones(1, np.int32))
    g = cuda.graph()
    with pytest.raises(RuntimeError, match="an exception left a block of if_ or while_"), g:
        with pytest.raises(KeyError), g.if_(word):
            add[1, 128](x, y)
            raise KeyError
        add[1, 128](x, y)
    with pytest.raises(RuntimeError, match="not been recorded"):
        g.launch()
    assert (x.copy_to_host() == 1).all() and not g.launches


@here
def test_graphs_do_not_nest_and_are_recorded_once():
    with cuda.graph() as g, pytest.raises(RuntimeError, match="recording a graph already"):
        cuda.graph().__enter__()
    with pytest.raises(RuntimeError, match="is recorded"):
        g.__enter__()
    g.launch()  # nothing
    with pytest.raises(RuntimeError, match="part of another"), cuda.graph():
        g.launch()
    with pytest.raises(RuntimeError, match="not recording"):
        g.__exit__(None, None, None)


@here
def test_a_clustered_and_a_cooperative_launch():
    x, y = device(1, 2)
    add.configure(2, 64, cooperative=True)(x, y)
    scale.configure(2, 64, cluster=2, priority=0)(x, 2.0)
    assert (x.copy_to_host() == 6).all()
    with pytest.raises(ValueError, match="divide the grid"):
        add.configure(3, 64, cluster=2)
    with pytest.raises(ValueError, match="at most 16"):
        add.configure(32, 64, cluster=32)


@cuda.jit
def halve(word, x, count):
    if x[0] > 1:
        x[0] /= 2
        count[0] += 1
    word[0] = x[0] > 1


@here
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_a_loop_runs_as_long_as_its_word_is_not_zero(dtype):
    word, x, count = cuda.to_device(np.ones(1, dtype)), cuda.to_device(np.zeros(1)), cuda.to_device(np.zeros(1, "i8"))
    with cuda.graph() as g:
        with g.while_(word):
            halve[1, 1](word, x, count)
        scale[1, 1](x, 10.0)
    total = 0
    for start, rounds in ((8.0, 3), (1000.0, 10), (0.5, 0)):
        x.copy_to_device(np.array([start]))
        word.copy_to_device(np.ones(1, dtype))
        g.launch()
        total += rounds
        assert count.copy_to_host()[0] == total
        assert x.copy_to_host()[0] == start / 2**rounds * 10
    word.copy_to_device(np.zeros(1, dtype))
    x.copy_to_device(np.array([64.0]))
    g.launch()
    assert count.copy_to_host()[0] == total and x.copy_to_host()[0] == 640


@here
def test_a_part_is_done_if_its_word_is_not_zero():
    word, x, y = cuda.to_device(np.zeros(1, np.int64)), *device(1, 2)
    with cuda.graph() as g:
        with g.if_(word):
            add[1, 128](x, y)
            x.copy_to_device(x * 2.0)
        add[1, 128](y, y)
    expected_x, expected_y = 1, 2
    for value in (0, 1, 256, 0, 2**40):
        word.copy_to_device(np.array([value]))
        g.launch()
        if value:
            expected_x = (expected_x + expected_y) * 2
        expected_y *= 2
        assert (x.copy_to_host() == expected_x).all() and (y.copy_to_host() == expected_y).all(), value


@here
def test_parts_within_parts():
    outer, inner = cuda.to_device(np.ones(1, np.int32)), cuda.to_device(np.ones(1, np.bool_))
    x, (count, each) = cuda.to_device(np.array([8.0])), [cuda.to_device(np.zeros(1, "i8")) for _ in range(2)]

    @cuda.jit
    def next_round(outer, inner, x, each):
        each[0] += 1
        x[0] = 8
        inner[0] = True
        outer[0] = each[0] < 4

    with cuda.graph() as g:
        with g.while_(outer):
            with g.while_(inner):
                halve[1, 1](inner, x, count)
            next_round[1, 1](outer, inner, x, each)
            with g.if_(outer):
                scale[1, 1](x, 1.0)
    g.launch()
    assert each.copy_to_host()[0] == 4 and count.copy_to_host()[0] == 12


@here
def test_what_parts_refuse():
    word, x, y = cuda.to_device(np.zeros(1, np.int64)), *device(1, 2)
    with cuda.graph() as g:
        scale[1, 128](x, 3.0)
        with g.if_(word):
            add[1, 128](x, y)
            with pytest.raises(RuntimeError, match="a copy between the host and the device in a block"):
                x.copy_to_device(np.ones(100))
        for wrong in (np.ones(1), cuda.to_device(np.ones(1)), cuda.to_device(np.ones(2, "i8")), 1):
            with pytest.raises(TypeError, match="a device array of one int or bool"):
                g.if_(wrong)
        block = g.if_(word)
    with pytest.raises(RuntimeError, match="stand in the block that records"), block:
        pass
    with pytest.raises(IndexError, match="outside blocks"):
        g.update(add, x, x)
    g.update(scale, factor=2.0)
    g.launch()
    assert (x.copy_to_host() == 2).all() and len(g.launches) == 1
    with pytest.raises(KeyError), cuda.graph() as broken, broken.while_(word):
        raise KeyError
    g.launch()  # nothing is left open
    assert (x.copy_to_host() == 4).all()


# ---- what is refused, on whatever device ---------------------------------------------------------------------------


@cuda.jit
def add_pair(out, pair):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pair[0][i] + pair[1][i]


@here
@pytest.mark.parametrize("wrap", [cuda.In, cuda.Out, cuda.InOut, lambda array: array])
def test_host_arrays_are_refused_however_they_come(wrap):
    out, host = cuda.to_device(np.zeros(4)), np.arange(4.0)
    with pytest.raises(RuntimeError, match="host arrays cannot be recorded"), cuda.graph():
        add_pair[1, 4](wrap(host), (out, out))
    with pytest.raises(RuntimeError, match="host arrays cannot be recorded"), cuda.graph():
        add_pair[1, 4](out, (out, host))
    assert (host == np.arange(4.0)).all() and (out.copy_to_host() == 0).all()
    out.free()  # nothing keeps it


@here
def test_a_launch_that_cannot_be_compiled_is_refused_where_it_is_recorded():
    out = cuda.to_device(np.zeros(4))
    with pytest.raises(errors.KraitError), cuda.graph():
        add_pair[1, 4](out, 5)
    with pytest.raises(ValueError, match="shared memory"), cuda.graph():
        add_pair[1, 4, 0, 10**6](out, (out, out))


@here
def test_update_refuses_what_a_recording_refuses_and_leaves_the_graph():
    out, host = cuda.to_device(np.zeros(4)), np.arange(4.0)
    one, two = cuda.to_device(host), cuda.to_device(10 * host)
    with cuda.graph() as graph:
        add_pair[1, 4](out, (one, two))
    for wrong, error in (({"pair": (one, host)}, RuntimeError), ({"out": cuda.Out(host)}, RuntimeError),
                         ({"pair": 7}, errors.KraitError)):
        with pytest.raises(error):
            graph.update(add_pair, **wrong)
    graph.launch()
    assert (out.copy_to_host() == 11 * host).all()
    graph.update(add_pair, pair=(two, two))
    assert (out.copy_to_host() == 11 * host).all()  # not until it is launched
    graph.launch()
    assert (out.copy_to_host() == 20 * host).all()


@here
def test_memory_of_a_graph_is_freed_when_the_graph_is_gone_and_not_before():
    def arrays():
        return [cuda.to_device(np.arange(4.0)) for _ in range(6)]

    out, one, two, operand, word, copied = arrays()
    word = cuda.to_device(np.zeros(1, np.int32))
    with cuda.graph() as graph:
        add_pair[1, 4](out, (one, two))
        copied.copy_to_device(one)
        plus(operand, operand, out=operand)
        with graph.if_(word):
            add_pair[1, 4](out, (out[:], copied))
    for array in out, one, two, operand, word, copied:
        with pytest.raises(BufferError, match="a graph"):
            array.free()
    graph.launch()
    other = cuda.to_device(np.zeros(4))
    graph.update(0, other)
    graph.update(0, other)
    with pytest.raises(BufferError, match="a graph"):
        other.free()
    del graph
    gc.collect()
    for array in out, one, two, operand, word, copied, other:
        array.free()


@here
def test_memory_of_a_graph_that_was_not_recorded_is_freed():
    out, one = cuda.to_device(np.zeros(4)), cuda.to_device(np.ones(4))
    word = cuda.to_device(np.zeros(1, np.int32))
    with pytest.raises(KeyError), cuda.graph() as graph:
        add_pair[1, 4](out, (one, one))
        with graph.while_(word):
            add_pair[1, 4](out, (one, one))
            raise KeyError
    for array in out, one, word:
        array.free()


@pytest.mark.parametrize("signatures", [(), (["float32(float32, float32)"],)])
def test_elementwise_calls_are_refused_where_they_are_recorded(signatures):
    """As the call itself is; and what was recorded before can be launched."""
    @vectorize(*signatures, target="cuda")
    def plus(a, b):
        return a + b

    x, ints, longer = (cuda.to_device(np.ones(n, dtype)) for n, dtype in ((4, "f4"), (4, "i4"), (5, "f4")))
    for arrays, out in ((x, x), ints), ((x, x), longer), ((x, longer), x):
        with pytest.raises((TypeError, ValueError)) as outside:
            plus(*arrays, out=out)
        with cuda.graph() as graph:
            plus(x, x, out=x)
            with pytest.raises(outside.type) as recorded:
                plus(*arrays, out=out)
        assert str(recorded.value).split("(")[0] == str(outside.value).split("(")[0]
        before = x.copy_to_host()
        graph.launch()
        assert (x.copy_to_host() == 2 * before).all() and (longer.copy_to_host() == 1).all()
    with cuda.graph() as graph:
        plus(x, x, out=(x,))
    assert (x.copy_to_host() == 8).all()
    graph.launch()
    assert (x.copy_to_host() == 16).all()
