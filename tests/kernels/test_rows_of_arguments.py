"""Values of kernels that read neighbours in rows, whatever the arrays: where they begin, how long their rows are, where
they stand among the arguments, and by which way a launch comes about.  On a GPU one access takes several neighbours
where a launch sees that it may: an array that only seems to be aligned is an error there."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

from krait import cuda

ROWS = 40
WHOLE = np.arange(1000, dtype=np.float32)
#         where it begins, elements of a row
PLACES = [(0, 4), (1, 4), (4, 4), (2, 4), (0, 5), (3, 5), (0, 6), (2, 6), (0, 8), (8, 12)]


class Pair(NamedTuple):
    left: object
    right: object


def turn(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        a, b, c, d = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = b, c, d, a


turned = cuda.jit(turn)


def host_view(start, columns):
    return WHOLE[start:start + ROWS * columns].reshape(ROWS, columns)


def view(start, columns):
    return cuda.to_device(WHOLE)[start:start + ROWS * columns].reshape(ROWS, columns)


def target(start=0, columns=4):
    return cuda.to_device(np.zeros(ROWS * columns + start, np.float32))[start:].reshape(ROWS, columns)


def expected(start, columns):
    return host_view(start, columns)[:, [1, 2, 3, 0]]


def check(out, start, columns):
    np.testing.assert_array_equal(out.copy_to_host()[:, :4], expected(start, columns), str((start, columns)))


def test_results_that_begin_anywhere():
    for start, columns in PLACES:
        for at, width in PLACES:
            out = target(at, width)
            turned[2, 32](view(start, columns), out)
            check(out, start, columns)


def test_rows_in_a_graph_that_gets_other_arguments():
    first, out = view(0, 4), target()
    with cuda.graph() as graph:
        turned[2, 32](first, out)
        turned[2, 32](out, target())
    for start, columns in PLACES + PLACES[:2]:
        graph.update(0, x=view(start, columns))
        graph.launch()
        check(out, start, columns)
    for at, width in PLACES:
        out = target(at, width)
        graph.update(0, first, out)
        graph.launch()
        check(out, 0, 4)


def test_a_graph_is_recorded_with_rows_that_are_not_aligned():
    for places in (PLACES[1], PLACES[0]), (PLACES[0], PLACES[1]):
        outs = [target(), target(1)]
        with cuda.graph() as graph:
            for place, out in zip(places, outs):
                turned[2, 32](view(*place), out)
        graph.launch()
        for place, out in zip(places, outs):
            check(out, *place)


def test_rows_of_arrays_in_tuples():
    @cuda.jit
    def kernel(scale, pair, named, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            x, (n, y) = pair
            for k in range(4):
                out[i, k] = scale * x[i, k] + n * y[i, k] + named.left[i] + named.right[i, k]

    left = WHOLE[1:1 + ROWS]
    for place in PLACES:
        for other in PLACES[:6]:
            for third in PLACES[:3]:
                out = target()
                named = Pair(cuda.to_device(WHOLE)[1:1 + ROWS], view(*third))
                kernel[2, 32](2.0, (view(*place), (3, view(*other))), named, out)
                want = 2 * host_view(*place)[:, :4] + 3 * host_view(*other)[:, :4] + left[:, None]
                np.testing.assert_array_equal(out.copy_to_host(), want + host_view(*third)[:, :4])


def test_rows_of_views_that_have_gaps_and_of_columns():
    for start, columns in PLACES:
        x = view(start, columns)
        for part, host in ((x[::2], host_view(start, columns)[::2]), (x[:, ::-1], host_view(start, columns)[:, ::-1]),
                           (x[1:], host_view(start, columns)[1:]), (x[3:, :4], host_view(start, columns)[3:, :4])):
            if part.shape[1] < 4:
                continue
            out = cuda.to_device(np.zeros((part.shape[0], 4), np.float32))
            turned[2, 32](part, out)
            np.testing.assert_array_equal(out.copy_to_host(), host[:, [1, 2, 3, 0]])
    host = np.asfortranarray(host_view(0, 8))
    out = target()
    turned[2, 32](cuda.to_device(host), out)
    np.testing.assert_array_equal(out.copy_to_host(), host[:, [1, 2, 3, 0]])


@pytest.mark.parametrize("place", PLACES)
def test_rows_of_host_arrays_that_share_memory(place):
    """They go to a GPU as one piece: where the first of them begins is where no access needs to."""

    @cuda.jit
    def kernel(words, x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            for k in range(4):
                out[i, k] = x[i, k] + words[i]

    start, columns = place
    for before in 1, 2, 3:
        both, out = np.arange(2000, dtype=np.float32), np.zeros((ROWS, 4), np.float32)
        words, x = both[before:before + ROWS], both[16 + start:16 + start + ROWS * columns].reshape(ROWS, columns)
        x.flags.writeable = words.flags.writeable = before != 2
        kernel[2, 32](words, x, out)
        np.testing.assert_array_equal(out, x[:, :4] + words[:, None])
        kernel[2, 32](words, x[:0], out[:0])
        kernel[2, 32](words, x, out[::-1])
        np.testing.assert_array_equal(out[::-1], x[:, :4] + words[:, None])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.complex64, np.bool_])
def test_rows_of_elements_of_other_sizes(dtype):
    kernel = cuda.jit(turn)
    whole = (np.arange(1000) % 251).astype(dtype)
    for start, columns in PLACES:
        x = whole[start:start + ROWS * columns].reshape(ROWS, columns)
        for at in range(4):
            out = cuda.to_device(np.zeros(ROWS * 4 + at, dtype))[at:].reshape(ROWS, 4)
            kernel[2, 32](cuda.to_device(whole)[start:start + ROWS * columns].reshape(ROWS, columns), out)
            np.testing.assert_array_equal(out.copy_to_host(), x[:, [1, 2, 3, 0]], str((start, columns, at)))


def test_rows_of_arrays_without_elements():
    for columns in 0, 4, 5:
        for at in 0, 1:
            none = cuda.to_device(np.zeros(1, np.float32))[at:at].reshape(0, columns)
            turned[1, 32](none, cuda.to_device(np.zeros((0, 4), np.float32)))


def test_fields_of_records_are_neighbours_too():
    for names in ("abcd", "abcdef", "abcdefgh"):
        dtype = np.dtype([(name, np.float32) for name in names])

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < out.shape[0]:
                r = x[i]
                out[i] = r.a + 2 * r.b + 4 * r.c + 8 * r.d

        for start in range(4):
            host = np.arange(start + 32 * len(names), dtype=np.float32)[start:].view(dtype)
            copied = cuda.to_device(np.arange(start + 32 * len(names), dtype=np.float32))[start:].view(dtype)
            want = host["a"] + 2 * host["b"] + 4 * host["c"] + 8 * host["d"]
            for x in host, copied, host[::2], copied[::2]:
                out = np.zeros(x.shape[0], np.float32)
                kernel[1, 32](x, out)
                np.testing.assert_array_equal(out, want if x.shape[0] == 32 else want[::2])


def test_threads_that_launch_for_the_first_time_with_rows_of_each_kind():
    kernel = cuda.jit(turn)
    start, failed = threading.Barrier(6), []

    def work(number):
        try:
            start.wait()
            for place in PLACES[number:] + PLACES[:number]:
                out = target(number % 2)
                kernel[2, 32](view(*place), out)
                check(out, *place)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
