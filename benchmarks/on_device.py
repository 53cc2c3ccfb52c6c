"""What the benchmarks of a GPU share: times of work on the device and of calls, addresses for the reference."""

import ctypes

from common import per_call

from krait import cuda


def address(array):
    return ctypes.c_void_p(array.device_ctypes_pointer.value)


def event_ms(work, repeat, warm=True):
    """Milliseconds of one on the device: events around `repeat` of them, after one that is not counted."""
    start, end = cuda.event(), cuda.event()
    if warm:
        work()
    start.record()
    for _ in range(repeat):
        work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repeat


def call_us(call, number):
    """What measures it: microseconds of one call on the host, with nothing under way on the device before."""

    def measure():
        cuda.synchronize()
        figure = per_call(call, number) / 1e3
        cuda.synchronize()
        return figure

    call()
    return measure
