"""What Krait asks of a CUDA driver, on machines without a GPU: fake_driver.c stands for libcuda.so.1 and remembers the
order of things by the rules of the CUDA manual.  Each test is a program of its own: a process opens one driver."""

import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(not COMPILER, reason="no C compiler here")

PRELUDE = """
import ctypes, random
import numpy as np
import krait
from krait import cuda

fake = ctypes.CDLL("libcuda.so.1")
fake.fake_calls.restype = fake.fake_violations.restype = ctypes.c_char_p
fake.fake_stream.restype = ctypes.c_void_p

def calls():
    text = fake.fake_calls().decode().split("\\n")[:-1]
    fake.fake_forget()
    return text

def violations():
    return fake.fake_violations().decode().split("\\n")[:-1]

@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += y[i]
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("fake_driver.c")
    subprocess.run([COMPILER, "-std=c17", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", source], check=True)
    return folder


@pytest.fixture
def run(driver):
    def run(code, **environment):
        result = subprocess.run(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(code)], capture_output=True, text=True, timeout=300,
            env={**os.environ, "LD_LIBRARY_PATH": str(driver), "KRAIT_CUDA_DEVICE": "gpu",
                 "KRAIT_CUDA_MEMORY_CACHING": "0", **environment})
        assert result.returncode == 0, result.stdout + result.stderr

    return run


def test_host_arrays_travel_in_the_order_of_the_stream(run):
    run("""
        s = cuda.external_stream(fake.fake_stream(0))
        x, y = np.zeros(100), np.ones(100)
        add[1, 128, s](x, y)
        n = 2  # the stream's number in the log: 0 and 1 are the default streams
        around = [f"LaunchKernel {n}", f"MemcpyDtoHAsync {n}", f"MemFreeAsync {n}"]
        assert calls() == [f"MemAllocAsync {n}", f"MemcpyHtoDAsync {n}", *around]  # small ones go over together
        add[1, 128, s](np.zeros(3000), np.ones(3000))
        assert calls() == [f"MemAllocAsync {n}", f"MemcpyHtoDAsync {n}", f"MemcpyHtoDAsync {n}", *around]
        assert not violations() and fake.fake_live() == 0
    """)


def test_memory_is_freed_behind_the_stream_that_last_used_it(run):
    run("""
        x, y = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        s = cuda.external_stream(fake.fake_stream(0))
        calls()
        add[1, 128, s](x, y)
        assert calls() == ["LaunchKernel 2"]  # nothing but the launch
        del x
        freed = calls()  # by a stream that waits for the one that last used it
        number = freed[-1].removeprefix("MemFreeAsync ")
        assert f"StreamWaitEvent {number}" in freed[freed.index("EventRecord 2"):], freed
        assert not violations()
        del y
        assert not violations() and fake.fake_live() == 0
    """)


def test_memory_is_freed_behind_all_streams_that_used_it(run):
    run("""
        streams = [cuda.external_stream(fake.fake_stream(0)) for _ in range(7)]
        x, y = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        for s in streams:
            add[1, 128, s](x, y)
        view = x[10:20]
        del x
        view.copy_to_host(stream=streams[3])
        assert fake.fake_live() == 2
        del view, y
        assert not violations() and fake.fake_live() == 0, violations()
    """)


def test_memory_is_used_behind_its_allocation(run):
    run("""
        s, t = (cuda.external_stream(fake.fake_stream(0)) for _ in "st")
        x, y = cuda.device_array(100), cuda.device_array(100, stream=t)
        add[1, 128, s](x, y)
        y.copy_to_device(x, stream=t)
        del x, y
        assert not violations() and fake.fake_live() == 0, violations()
    """)


def test_a_stream_lives_as_long_as_memory_it_used(run):
    run("""
        s = cuda.stream()
        x, y = cuda.device_array(100), cuda.device_array(100)
        x.copy_to_device(y, stream=s)
        del s
        assert not any(line.startswith("StreamDestroy") for line in calls())
        del x, y
        done = calls()
        assert done == ["MemFreeAsync 2", "MemFreeAsync 2", "StreamDestroy 2"] and not violations(), done
    """)


def test_random_programs_keep_the_rules(run):
    run("""
        @krait.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        streams = [0] + [cuda.external_stream(fake.fake_stream(i % 2)) for i in range(12)]
        for seed in range(60):
            rng = random.Random(seed)
            arrays = [cuda.to_device(np.zeros(64)) for _ in range(3)]
            for _ in range(40):
                s, a, b = rng.choice(streams), rng.choice(arrays), rng.choice(arrays)
                what = rng.randrange(8)
                if what == 0:
                    arrays.append(cuda.device_array(64, stream=s))
                elif what == 1 and len(arrays) > 2:
                    del arrays[rng.randrange(len(arrays))]
                elif what == 2:
                    a.copy_to_device(b, stream=s)
                elif what == 3:
                    a.copy_to_host(stream=s)
                elif what == 4:
                    a[:32].copy_to_device(np.ones(32), stream=s)
                elif what == 5:
                    arrays.append(plus(a, b, stream=s))
                else:
                    add[1, 64, s](a, b)
                del a, b
            del arrays
            assert not violations(), (seed, violations())
            assert fake.fake_live() == 0, seed
    """)


def test_the_first_of_several_errors_is_raised(run):
    """Every entry point fails from the n-th call on, as after an access outside memory: each is a CudaError, the first
    one's, and nothing is kept."""
    run("""
        @cuda.jit
        def first(a, b, c, d, e):
            c[0] = a[0] + b[0]

        @krait.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        def work():
            x, y, big = np.zeros(100), np.ones(100), np.ones(10000)
            add[1, 128](x, y)
            add[1, 128](big[::100], y)  # travels as a compact copy
            first[1, 1](x, y, big, x[:50], y[::-1])
            d = cuda.to_device(x)
            add[1, 128](d, y)
            s, e = cuda.stream(), cuda.event()
            e.record(s), s.synchronize(), e.synchronize()
            d2 = cuda.device_array_like(d)
            d2.copy_to_device(d)
            d2[3:5] = 7
            d2[::2] = 1
            plus(x, y), plus(d, d2), plus(d, 2.0, out=d2)
            add[1, 128, s](x, y)
            d2.copy_to_host()
            cuda.pinned_array(5)

        work()
        failures = 0
        for n in range(1000):
            fake.fake_fail(b"*", n, 700)
            try:
                work()
                break
            except krait.errors.CudaError as error:
                failures += 1
                assert "the fake driver failed" in str(error) and error.__context__ is None
            finally:
                fake.fake_fail(b"", 0, 0)
        assert failures > 50
        texts = {"MemFreeAsync": "freeing", "MemcpyDtoHAsync": "copying from", "LaunchKernel": "launching",
                 "MemcpyHtoDAsync": "copying to", "MemAllocAsync": "allocating"}
        for name, text in texts.items():
            x, y = np.zeros(100), np.ones(100)
            fake.fake_fail(name.encode(), 0, 700)
            try:
                add[1, 128](x, y)
            except krait.errors.CudaError as error:
                assert text in str(error)
            else:
                raise AssertionError(name)
            add[1, 128](x, y)  # the next one is in order
    """)


def test_an_exception_under_way_survives_what_is_given_back(run):
    run("""
        class Loud:
            def __init__(self):
                self.kept = cuda.stream(), cuda.event(), cuda.pinned_array(3), cuda.device_array(3)
            def __iter__(self):
                kept = self.kept
                del self.kept
                yield 1
                raise KeyError("mine")

        for name in b"StreamDestroy", b"EventDestroy", b"MemFreeAsync":
            loud = Loud()
            fake.fake_fail(name, 0, 700)
            try:
                list(loud)
            except KeyError as error:
                assert error.args == ("mine",)
    """)


def test_a_device_is_asked_before_anything_uses_it(run):
    run("""
        device, = cuda.list_devices()
        assert device.total_memory == 2**30 and device.get_memory_info() == (2**30, 2**30)
        assert device.name == "fake" and device.compute_capability == (9, 0) and not device.is_host
        assert device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == 232448 and repr(device) == "<krait device 0 'fake'>"
        with device:
            assert cuda.get_current_device().id == 0
    """)


def test_streams_and_events(run):
    run("""
        s, first, last = cuda.stream(), cuda.event(), cuda.event()
        first.record(s), last.record(s), last.synchronize()
        assert first.elapsed_time(last) == 1 and s.query() and first.query()
        fake.fake_busy(1000)
        assert not s.query() and not first.query()
        fake.fake_busy(0)
        t = cuda.stream()
        first.wait(t)
        s.synchronize()
        assert calls() == ["EventRecord 2", "EventRecord 2", "StreamWaitEvent 3", "StreamSynchronize 2"]
        for name, action in (("StreamSynchronize", s.synchronize), ("EventRecord", lambda: first.record(s)),
                             ("EventCreate", cuda.event), ("StreamWaitEvent", lambda: first.wait(t)),
                             ("CtxSynchronize", cuda.synchronize)):
            fake.fake_fail(name.encode(), 0, 700)
            try:
                action()
            except krait.errors.CudaError:
                continue
            raise AssertionError(name)
    """)


def test_without_memory_pools(run):
    run("""
        x, y = cuda.to_device(np.zeros(100)), np.ones(100)
        s = cuda.external_stream(fake.fake_stream(0))
        add[1, 128, s](x, y)
        fake.fake_fail(b"MemFree", 0, 700)
        try:
            add[1, 128, s](x, y)
        except krait.errors.CudaError as error:
            assert "freeing" in str(error)
        else:
            raise AssertionError
        del x
        assert not any("Async" in line and "Mem" in line and "cpy" not in line for line in calls())
    """, FAKE_NO_POOLS="1")


def test_arguments_say_how_they_travel(run):
    run("""
        x, y = np.zeros(100), np.ones(100)
        s = cuda.external_stream(fake.fake_stream(0))
        add[1, 128, s](cuda.Out(x), cuda.In(y))
        there_and_back = ["MemAllocAsync 2", "MemcpyHtoDAsync 2", "LaunchKernel 2", "MemcpyDtoHAsync 2"]
        assert calls() == [*there_and_back, "MemFreeAsync 2"]
        add[1, 128, s](cuda.In(x), cuda.In(y))  # written, and nobody wants to see it
        assert "MemcpyDtoHAsync 2" not in calls()
        add[1, 128, s](cuda.Out(x[::2]), cuda.In(y[::2]))  # what lies between comes back: it goes there, too
        assert calls().count("MemcpyHtoDAsync 2") == 1
        assert not violations() and fake.fake_live() == 0
    """)


def test_page_locked_arrays_that_a_kernel_only_reads_may_be_written_next(run):
    """The GPU would read what the program has written since; small ones go by way of memory of the launch's own."""
    run("""
        out = cuda.to_device(np.zeros(4096))
        small, large, ordinary = cuda.pinned_array(100), cuda.pinned_array(4096), np.ones(4096)
        fake.fake_reads.argtypes = [ctypes.c_void_p]

        def is_read(array):
            return bool(fake.fake_reads(array.ctypes.data))

        s = cuda.external_stream(fake.fake_stream(0))
        device = cuda.device_array(4096)
        device.copy_to_device(large, stream=s)
        assert is_read(large)  # who names a stream waits for it
        s.synchronize()
        assert not is_read(large)
        for stream in 0, s:
            for array in small, large, ordinary:
                add[16, 256, stream](out, array)
                assert not is_read(array), (stream, array.size)
            for array in large, ordinary:
                add[16, 256, stream](out, cuda.In(array))
                add[16, 256, stream](array, out)
                assert not is_read(array), (stream, array.size)
        cuda.to_device(large), device.copy_to_device(large)
        device[:] = large
        assert not is_read(large)
        calls()
        add[16, 256](large, ordinary)
        done = calls()  # the copy back is waited for, and nothing else
        assert [c for c in done if "HtoD" in c] == 2 * ["MemcpyHtoDAsync 0"], done
        assert done.index("LaunchKernel 0") < done.index("MemcpyDtoHAsync 0"), done
        assert not violations()
    """)


def test_kernels_reach_mapped_and_managed_memory(run):
    run("""
        x, y = cuda.mapped_array(100), cuda.managed_array(100)
        calls()
        add[1, 128](x, y[::-1])
        assert calls() == ["LaunchKernel 0"]
        z = np.ones(100)
        with cuda.mapped(z) as d:
            add[1, 128](d, x)
            assert calls() == ["MemHostRegister", "LaunchKernel 0"]
        assert "MemHostUnregister" in calls()
        add[1, 128](z, x)
        assert "MemcpyHtoDAsync 0" in calls()  # no longer mapped
        del x, y
        assert fake.fake_live() == 0
    """)


def test_what_kernels_raised_and_printed_is_told_after_a_wait(run):
    run("""
        import contextlib, gc, io, struct, warnings

        @cuda.jit
        def noisy(x):
            print("x is", x[0], x.size, sep="; ")
            assert x[0] > 0, f"{x[0]} is not enough"

        def leave(raised, *prints, used=None):
            # what the kernel's code would write: DeviceNotes, PrintHeads
            notes, place = fake.fake_global(0), fake.fake_global(1)
            flag, = struct.unpack("<q", ctypes.string_at(notes, 8))
            text = b"".join(struct.pack("<iidq", 0, 16, *values) for values in prints)
            ctypes.memmove(place, text, len(text))
            head = struct.pack("<qiiiiiiiiqd", flag, raised, 1, 7, 8, 9, 1, 2, 3, used or len(text), 2.5)
            ctypes.memmove(notes, head, len(head))
            ctypes.c_int.from_address(flag).value = 1

        fake.fake_global.restype = ctypes.c_void_p
        d, e, s = cuda.to_device(np.ones(3)), cuda.event(), cuda.stream()
        e.record(s)
        noisy[1, 1](d)
        waits = [cuda.synchronize, d.copy_to_host, lambda: noisy[1, 1](np.ones(3)), s.synchronize, e.synchronize,
                 lambda: d[0]]
        for wait in waits:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                wait()
                assert out.getvalue() == ""
                leave(0, (1.5, 3), (2.0, 4))
                wait()
                wait()
            assert out.getvalue() == "x is; 1.5; 3\\nx is; 2.0; 4\\n", out.getvalue()
            leave(1)
            try:
                wait()
            except AssertionError as error:
                assert error.args == ("2.5 is not enough",)
                assert error.__notes__ == ["raised in block (7, 8, 9), thread (1, 2, 3) of kernel noisy"]
            else:
                raise RuntimeError(wait)
            wait()  # once
        leave(0, used=2**20 + 1)
        ctypes.memset(fake.fake_global(1), 255, 8)
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("always")
            cuda.synchronize()
        assert "noisy printed more than there is room for" in str(caught[0].message)
        leave(1)
        del noisy, waits, wait
        gc.collect()
        cuda.synchronize()  # nobody is left to say what it was
    """)


def test_notes_are_read_while_functions_of_the_host_run(run):
    run("""
        import gc, struct, sys, threading

        def leave(printed):
            notes, place = fake.fake_global(0), fake.fake_global(1)
            flag, = struct.unpack("<q", ctypes.string_at(notes, 8))
            ctypes.memmove(place, struct.pack("<iid", 0, 8, 1.5), 16)
            ctypes.memmove(notes, struct.pack("<qiiiiiiiiqd", flag, 0, 1, 7, 8, 9, 1, 2, 3, 16, 2.5), 56)
            ctypes.c_int.from_address(flag).value = 1

        fake.fake_global.restype = ctypes.c_void_p
        d, s, seen, kernels = cuda.to_device(np.ones(3)), cuda.stream(), [], []
        for _ in range(2):
            @cuda.jit
            def noisy(x):
                print(x[0])

            noisy[1, 1](d)
            kernels.append(noisy)
        del noisy

        def give_up():
            kernels.pop()
            gc.collect()

        def called(stream, status, argument):
            other = threading.Thread(target=give_up)  # the kernel whose notes are read just now
            other.start()
            other.join()
            seen.append(argument)

        class Out:
            def write(self, text):
                if text.strip() and not seen:
                    seen.append(text.strip())
                    fake.fake_defer(1)
                    s.add_callback(called, 7)

            def flush(self):
                pass

        sys.stdout = Out()
        leave(1.5)
        cuda.synchronize()
        sys.stdout = sys.__stdout__
        assert seen == ["1.5", 7], seen
        fake.fake_defer(0)
        cuda.synchronize()
        assert "ModuleUnload" in calls() and not violations(), violations()
    """)


def test_a_pinned_block_unlocks_what_it_locked(run):
    run("""
        fake.fake_fail(b"MemHostRegister", 1, 2)
        try:
            with cuda.pinned(np.ones(10), np.ones(10)):
                pass
        except krait.errors.CudaMemoryError:
            pass
        assert calls() == ["MemHostRegister", "MemHostRegister", "MemHostUnregister"]
    """)


def test_parts_of_device_arrays_are_written_by_kernels(run):
    run("""
        d = cuda.to_device(np.zeros((10, 10)))
        calls()
        d[:, 1] = 5
        d[:5] = d[5:, ::-1]
        d.fill(1)
        assert calls() == ["LaunchKernel 0"] * 3
        d[1:] = d[:-1]  # by way of memory of its own
        d + d.astype(np.float32)
        assert not any("DtoH" in line or "HtoD" in line for line in calls())
        d[:, 1] = np.arange(10)
        assert "MemcpyDtoH 0" not in calls() and not violations()
        del d
        assert fake.fake_live() == 0
    """)


def test_what_a_reset_took_is_not_given_back(run):
    run("""
        d, s, e = cuda.device_array(10), cuda.stream(), cuda.event()
        add[1, 32](cuda.to_device(np.ones(3)), cuda.to_device(np.ones(3)))
        launcher, on = add[1, 32, s], cuda.to_device(np.ones(3), stream=s)
        launcher(on, on)
        g = cuda.graph()
        cuda.close()
        calls()
        x = cuda.to_device(np.ones(3))
        for use in (s.synchronize, s.query, lambda: s.add_callback(print), lambda: e.record(), e.query, e.synchronize,
                    e.wait, lambda: e.elapsed_time(e), lambda: cuda.to_device(x, stream=s), lambda: launcher(x, x),
                    lambda: x.copy_to_host(stream=s), lambda: d.copy_to_host(), lambda: launcher(on, on)):
            try:
                use()
            except RuntimeError as error:
                assert "reset" in str(error), error
            else:
                raise AssertionError
        del x, use
        cuda.close()
        calls()
        del d, s, e, on, launcher
        assert calls() == [], calls()
        add[1, 32](cuda.to_device(np.ones(3)), cuda.to_device(np.ones(3)))
        assert "LaunchKernel 0" in calls() and not violations()
    """)


def test_a_reset_reaches_the_threads_that_used_the_device(run):
    run("""
        import queue, threading
        asked, told = queue.Queue(), queue.Queue()
        def work():
            while asked.get():
                x = cuda.to_device(np.ones(3))
                add[1, 32](x, x)
                told.put(x.copy_to_host().shape)
                del x
        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(3):
            asked.put(True)
            assert told.get(timeout=60) == (3,)
            cuda.get_current_device().reset()
        asked.put(False)
        thread.join()
        assert not violations(), violations()
    """)


def test_a_stream_is_of_its_gpu(run):
    run("""
        x = cuda.to_device(np.ones(3))
        here, there = cuda.stream(), None
        with cuda.gpus[1]:
            there, z, event = cuda.stream(), cuda.to_device(np.ones(3)), cuda.event()
        add[1, 8, there](z, z)  # the launch goes where the arrays lie
        calls()
        with cuda.graph() as g:
            add[1, 8](x, x)
        for use in (lambda: cuda.device_array(4, stream=there), lambda: cuda.to_device(np.ones(2), stream=there),
                    lambda: add[1, 8, there](x, x), lambda: add[1, 8, here](z, z), lambda: x.copy_to_host(stream=there),
                    lambda: event.record(here), lambda: g.launch(there),
                    lambda: cuda.device_array_like(z, stream=here)):
            try:
                use()
            except ValueError as error:
                assert "GPU 0" in str(error) and "GPU 1" in str(error), error
            else:
                raise AssertionError
        event.wait(here)  # a stream may wait for another GPU's event
        assert not violations(), violations()
    """, FAKE_GPUS="2")


def test_a_copy_between_parts_of_an_array_that_overlap_goes_over_other_memory(run):
    run("""
        x = cuda.to_device(np.arange(8.0))
        calls()
        x[1:] = x[:-1]
        made = calls()
        x[4:] = x[:4]
        assert "LaunchKernel 0" in made and calls() == ["MemcpyDtoDAsync 0"], made
        assert not violations(), violations()
    """)


def test_a_thread_of_the_driver_frees_nothing(run):
    """What the driver calls must not call it: neither what a callback has nor garbage is let go of there."""
    run("""
        import gc, threading, time

        class Watched:
            def __init__(self, name):
                self.name, self.array, self.me = name, cuda.device_array(8), self

            def __del__(self):
                freed.append((self.name, threading.current_thread() is threading.main_thread()))

        def called(stream, status, arg):
            seen.append(threading.current_thread() is threading.main_thread())
            for _ in range(3000):
                [[]]  # a collection is due
            for _ in range(2000):
                kept.append([])

        freed, seen, kept = [], [], []
        gc.collect()
        s, held = cuda.stream(), Watched("argument")
        held.me = None
        fake.fake_defer(1)
        gc.collect()
        Watched("garbage")  # not collected before so much more is made as the callback makes
        s.add_callback(called, held)
        del held
        s.synchronize()
        end = time.monotonic() + 20
        while fake.fake_deferred() or len(freed) < 2:
            assert time.monotonic() < end, (freed, seen)
            time.sleep(0.001)
            gc.collect()
        assert seen == [False] and gc.isenabled(), seen
        assert all(main for _, main in freed) and {name for name, _ in freed} == {"argument", "garbage"}, freed
        s.add_callback(lambda *given: seen.append(given[2]), 5)
        s.synchronize()
        while fake.fake_deferred():
            time.sleep(0.001)
        assert seen[1:] == [5] and not violations(), violations()
    """)


def test_what_a_callback_drops_is_given_back_later(run):
    """Arrays, streams, events, graphs, code, and locked memory: behind what uses them, by no thread of the driver's."""
    run("""
        import gc, time

        def make():
            x, y = cuda.to_device(np.zeros(64)), cuda.to_device(np.ones(64))
            side, event = cuda.stream(), cuda.event()
            x.copy_to_device(y, stream=side)
            event.record(side)
            with cuda.graph() as graph:
                add[1, 64](x, y)
            module = cuda.current_context().create_module_ptx("code")
            return [x, y[3:], side, event, graph, module, cuda.pinned_array(8), cuda.mapped_array(8)]

        def called(stream, status, arg):
            held.clear()
            made = np.zeros(3)
            seen.append(arg)

        def freed():
            return [line.split()[0] for line in fake.fake_calls().decode().split("\\n") if "Free" in line
                    or "Destroy" in line or "Unload" in line]

        add[1, 64](cuda.to_device(np.zeros(1)), cuda.to_device(np.zeros(1)))
        for defer in 0, 1:
            seen, held, s = [], make(), cuda.stream()
            gc.collect()
            live = fake.fake_live()
            calls()
            fake.fake_defer(defer)
            s.add_callback(called, 5)
            s.synchronize()
            end = time.monotonic() + 60
            wanted = {"MemFreeAsync", "StreamDestroy", "GraphExecDestroy", "ModuleUnload"}
            while fake.fake_deferred() or not wanted <= set(freed()) or fake.fake_live() > live - 2:
                assert time.monotonic() < end, (freed(), fake.fake_live(), live, violations())
                time.sleep(0.001)
            fake.fake_defer(0)
            assert seen == [5] and not violations(), violations()

        def free(stream, status, array):
            try:
                array.free()
            except RuntimeError as error:
                seen.append(str(error))

        x = cuda.to_device(np.ones(3))
        s.add_callback(free, x)
        assert "del it" in seen[-1] and (x.copy_to_host() == 1).all() and not violations(), (seen, violations())
        x.free()
    """)


def test_code_is_linked_and_launched_by_handle(run):
    run("""
        from krait.cuda.cudadrv import driver

        linker = driver.Linker.new(max_registers=40)
        linker.add_ptx(".version 6.0")
        linker.add(cuda.Cubin(b"cubin"))
        linker.add(cuda.Archive(b"archive"))
        calls()
        code = linker.complete()
        assert calls() == ["LinkAddData 0: cubin", "LinkAddData 4: archive", "LinkComplete"]
        assert code == b"machine code\\0"
        context = cuda.current_context()
        function = driver.load_module_image(context, code).get_function("name")
        assert function.attrs == function.read_func_attr_all() and function.device == context.device
        stream = cuda.stream()
        calls()
        for on in stream, stream.handle:
            driver.launch_kernel(function.handle, 1, 1, 1, 32, 1, 1, 0, on, [ctypes.c_int(3), ctypes.c_float(2)])
        driver.launch_kernel(function.handle, 1, 1, 1, 32, 1, 1, 0, None, ())
        assert calls() == ["LaunchKernel 2", "LaunchKernel 2", "LaunchKernel 0"]
        fake.fake_fail(b"LinkComplete", 0, 218)
        try:
            linker.complete()
        except krait.errors.CudaAPIError as error:
            assert error.code == 218 and "linking code" in str(error)
        else:
            raise AssertionError
        fake.fake_fail(b"LinkAddData", 0, 2)
        try:
            linker.complete()
        except MemoryError:
            pass
        assert not violations(), violations()
    """)


def test_code_for_aligned_rows_is_launched_where_rows_are_aligned(run, optimised):
    run("""
        @cuda.jit
        def rows(x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i, 0] * x[i, 1] + x[i, 2] * x[i, 3]

        out, whole = cuda.to_device(np.zeros(16, np.float32)), cuda.to_device(np.zeros(300, np.float32))
        def launched(x):
            rows[1, 32](x, out)
            return fake.fake_launched()

        even, wide, odd = whole[:64].reshape(16, 4), whole[:128].reshape(16, 8), whole[:80].reshape(16, 5)
        late, later = whole[1:65].reshape(16, 4), whole[4:68].reshape(16, 4)
        lent = type("Lent", (), {"__cuda_array_interface__": late.__cuda_array_interface__})()
        first, second = launched(even), launched(odd)
        assert first != second
        for _ in range(3):  # whichever way a launch takes
            assert [launched(x) for x in (even, wide, later)] == [first] * 3
            assert [launched(x) for x in (odd, late, lent)] == [second] * 3
        host = np.zeros((17, 4), np.float32)
        assert launched(host[:16]) == first and launched(host.ravel()[1:65].reshape(16, 4)) == second
        large = rows[2**20 + 1, 32]
        large(even, out)
        assert fake.fake_launched() not in (first, second) and not violations(), violations()
    """)


ROW_KERNELS = """
import threading
from typing import NamedTuple

class Pair(NamedTuple):
    words: object
    rows: object

@cuda.jit
def rows(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i, 0] * x[i, 1] + x[i, 2] * x[i, 3]

@cuda.jit
def inside(scale, pair, out):
    i = cuda.grid(1)
    if i < out.size:
        x, (n, named) = pair
        r = named.rows
        out[i] = scale * x[i] + (r[i, 0] * r[i, 1] + r[i, 2] * r[i, 3]) * n + named.words[i]

out, whole = cuda.to_device(np.zeros(16, np.float32)), cuda.to_device(np.zeros(300, np.float32))
even, odd, late = whole[:64].reshape(16, 4), whole[:80].reshape(16, 5), whole[1:65].reshape(16, 4)
gaps, none = whole[:128].reshape(16, 8)[:, :4], whole[:0].reshape(0, 4)

def launched(kernel, *arguments):
    kernel[1, 32](*arguments)
    return fake.fake_launched()
"""


def test_a_graph_has_the_code_for_the_rows_it_is_given(run, optimised):
    """It is asked again when it is recorded, and when it gets other arguments."""
    run(ROW_KERNELS + textwrap.dedent("""
        with cuda.graph() as graph:
            rows[1, 32](even, out)
            first = fake.fake_launched()
            rows[1, 32](odd, out)
            second = fake.fake_launched()
        assert first != second
        def updated(x):
            graph.update(0, x, out)
            return fake.fake_launched()
        for _ in range(2):
            assert [updated(x) for x in (late, even, odd, none)] == [second, first, second, first]
        assert [launched(rows, x, out) for x in (late, even)] == [second, first]
        graph.launch()
        assert not violations(), violations()
    """))


def test_rows_of_an_array_inside_of_tuples_are_its_own(run, optimised):
    """What is asked stands in the order of the arrays, wherever they are."""
    run(ROW_KERNELS + textwrap.dedent("""
        def of(words, r, x):
            return launched(inside, 2.0, (x, (3, Pair(words, r))), out)
        first, second = of(whole, even, whole), of(whole, late, whole)
        assert first != second
        for words in whole, whole[1:]:
            for x in whole, whole[3:]:
                assert [of(words, r, x) for r in (even, odd, late, even)] == [first, second, second, first]
        assert of(whole, gaps, whole) not in (first, second) and not violations(), violations()
    """))


def test_threads_get_the_code_for_their_rows_while_it_is_compiled(run, optimised):
    run(ROW_KERNELS + textwrap.dedent("""
        start, failed = threading.Barrier(6), []
        def work(number):
            try:
                start.wait()
                for x in (even, odd, late, none)[number % 4:]:
                    rows[1, 32](x, out)
            except BaseException as error:
                failed.append(error)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        first, second = launched(rows, even, out), launched(rows, odd, out)
        assert not failed and first != second and len(rows.overloads) >= 1, failed
        assert [launched(rows, x, out) for x in (late, none)] == [second, first] and not violations(), violations()
    """))


def test_rows_of_code_that_is_linked_are_not_those_of_the_kernel(run, optimised):
    run(ROW_KERNELS + textwrap.dedent("""
        text, _ = cuda.compile_ptx(rows.py_func, "void(float32[:, ::1], float32[::1])", cc=(9, 0))
        heading = "// aligned rows: 16 16\\n"
        assert "aligned rows" not in text  # what is compiled without a launch takes nothing for granted
        linked = ".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .func (.reg .b32 r) same(.reg .b32 a)"
        linked += "\\n{ mov.b32 r, a; ret; }\\n" + heading
        same = cuda.declare_device("same", "int32(int32)", link=[cuda.PTXSource(linked)])

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[same(i), 0]

        assert launched(kernel, even, out) == launched(kernel, odd, out) == launched(kernel, late, out)
        assert not violations(), violations()
    """))


def test_a_declared_function_may_wait_for_the_grid(run):
    run("""
        plain = cuda.declare_device("plain", "int32(int32)", link={cuda.PTXSource(".version 6.0\\n")})
        waits = cuda.declare_device("waits", "int32(int32)", cuda.PTXSource(".version 6.0\\n"), True, "c")

        @cuda.jit
        def ordinary(x):
            x[0] = plain(1)

        @cuda.jit
        def together(x):
            x[0] = waits(1)

        x = cuda.device_array(1, np.int32)
        ordinary[5000, 32](x)
        try:
            together[5000, 32](x)
        except ValueError as error:
            assert "wait for each other" in str(error)
        else:
            raise AssertionError
        together[1, 32](x)
    """)


def test_takers_by_interface_and_by_table_wait_for_it(run):
    """They go on behind the default stream, which side streams do not keep in order with."""
    run("""
        x, y = cuda.to_device(np.zeros(8)), cuda.to_device(np.ones(8))
        s = cuda.external_stream(fake.fake_stream(0))
        add[1, 8, s](x, y)
        calls()
        assert x.__cuda_array_interface__["stream"] == 1
        assert calls() == ["EventRecord 2", "StreamWaitEvent 0"]

        point = ctypes.pythonapi.PyCapsule_GetPointer
        point.restype, point.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = point(cuda.DeviceArray.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
        _, _, _, take, _, _, _ = (ctypes.c_void_p * 7).from_address(table)
        take = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))(take)
        taken = ctypes.c_void_p()
        z = cuda.to_device(np.zeros(8))
        add[1, 8, s](z, y)
        calls()
        assert take(z, ctypes.byref(taken)) == 0
        assert calls() == ["EventRecord 2", "StreamWaitEvent 0"]
        deleter = ctypes.c_void_p.from_address(taken.value + 16).value
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(deleter)(taken)
        del z
        assert not violations(), violations()
    """)


def test_read_only_memory_is_not_written(run):
    run("""
        import operator

        d = cuda.to_device(np.zeros(8))

        class Theirs:
            __cuda_array_interface__ = {
                "shape": (8,), "typestr": "<f8", "version": 3, "data": (d.device_ctypes_pointer.value, True)}

        r = cuda.as_cuda_array(Theirs())
        assert not r.flags.writeable
        plus = krait.vectorize(["float64(float64, float64)"], target="cuda")(lambda a, b: a + b)
        calls()
        for write in (lambda: operator.iadd(r, 1), lambda: np.add(d, 1, out=r), lambda: plus(d, d, out=r),
                      lambda: plus(d, d, out=Theirs()), lambda: cuda.to_device(np.ones(8), to=r),
                      lambda: r.copy_to_device(d), lambda: r.copy_to_device(np.ones(8)), lambda: d.clip(0, 1, out=r),
                      lambda: r.fill(1), lambda: np.cumsum(d, out=r)):
            try:
                write()
            except (ValueError, krait.errors.TypingError) as error:
                assert "read-only" in str(error), error
            else:
                raise AssertionError("written")
        assert not d.copy_to_host().any() and not violations()
    """)


def test_takers_of_memory_wait_for_it(run):
    run("""
        s = cuda.external_stream(fake.fake_stream(0))
        d = cuda.device_array(10, stream=s)
        calls()
        capsule = d.__dlpack__()
        assert calls() == ["EventRecord 2", "StreamWaitEvent 0"]
        back = cuda.from_dlpack(capsule)
        add[1, 32](back, back)
        del d, capsule, back
        assert not violations() and fake.fake_live() == 0
    """)


def test_memory_is_gathered_before_there_is_none(run):
    run("""
        fake.fake_fail(b"MemAllocAsync", 0, 2)
        d = cuda.device_array(10)  # the second attempt
        assert calls() == ["MemAllocAsync 0", "CtxSynchronize", "MemPoolTrimTo", "MemAllocAsync 0"]

        class Cycle:
            pass

        import gc
        gc.set_threshold(0)
        cycle = Cycle()
        cycle.self, cycle.array = cycle, d
        del cycle, d
        assert fake.fake_live() == 1
        fake.fake_fail(b"*", 0, 2)
        try:
            cuda.device_array(10)
        except krait.errors.CudaMemoryError as error:
            assert "free device arrays" in str(error) and isinstance(error, MemoryError)
        else:
            assert False
        fake.fake_fail(b"", 0, 0)
        assert "MemFreeAsync 0" in calls()  # the collector was asked
    """)


def test_each_operation_asks_the_driver_for_nothing_but_itself(run):
    run("""
        from krait import vectorize

        @vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        x, y, out = (cuda.to_device(np.ones(512)) for _ in range(3))
        s = cuda.external_stream(fake.fake_stream(0))
        host, launcher, on_stream = np.ones(512), add[1, 512], add[1, 512, s]
        operations = {
            "a launch": (lambda: launcher(x, y), ["LaunchKernel 0"]),
            "a launch with its configuration": (lambda: add[1, 512](x, y), ["LaunchKernel 0"]),
            "a launch on a stream": (lambda: on_stream(x, y), ["LaunchKernel 2"]),
            "an elementwise launch": (lambda: plus(x, 1.5, out=out), ["LaunchKernel 0"]),
            "to_device": (lambda: cuda.to_device(host), ["MemcpyHtoDAsync 0"]),
            "copy_to_host": (lambda: x.copy_to_host(), ["MemcpyDtoHAsync 0"]),
            "copy_to_device": (lambda: x.copy_to_device(host), ["MemcpyHtoDAsync 0"]),
            "device to device": (lambda: x.copy_to_device(y), ["MemcpyDtoDAsync 0"]),
            "an array of a size that was there": (lambda: cuda.device_array(512), []),
            "a launch with a host array": (
                lambda: launcher(x, host),
                ["MemcpyHtoDAsync 0", "LaunchKernel 0"]),
            "a view": (lambda: x[10:20], []),
        }
        for name, (operation, expected) in operations.items():
            for _ in range(3):
                operation()  # compiles, loads, orders streams
            calls()
            for _ in range(5):
                operation()
            assert calls() == 5 * expected, name
        assert not violations(), violations()
    """, KRAIT_CUDA_MEMORY_CACHING="1")


def test_blocks_given_back_are_kept_for_the_default_stream(run):
    run("""
        def allocations():
            return [line for line in calls() if line.startswith(("MemAlloc", "MemFree"))]

        s = cuda.external_stream(fake.fake_stream(0))
        address = lambda array: array.device_ctypes_pointer.value
        x = cuda.device_array(100)
        first = address(x)
        allocations()
        del x
        x = cuda.device_array(200, np.float32)  # as many bytes
        assert address(x) == first and not allocations()
        other = cuda.device_array(100, stream=s)  # another stream gets memory of its own
        assert address(other) != first and allocations() == ["MemAllocAsync 2"]
        add[1, 128, s](x, other)
        del x  # another stream used it: the driver's again
        assert [line.split()[0] for line in allocations()] == ["MemFreeAsync"]
        many = [cuda.device_array(100) for _ in range(20)]
        assert len({address(array) for array in many}) == 20
        allocations()
        del many
        assert allocations() == 16 * ["MemFreeAsync 0"]  # four stay
        big = cuda.device_array(1 << 16)
        allocations()
        del big
        assert allocations() == ["MemFreeAsync 0"]  # what is large does not
        del other
        assert not violations(), violations()
    """, KRAIT_CUDA_MEMORY_CACHING="1")


def test_what_is_kept_goes_before_memory_is_short(run):
    run("""
        x = cuda.device_array(100)
        del x
        assert fake.fake_live() == 1
        fake.fake_fail(b"MemAllocAsync", 0, 2)
        y = cuda.device_array(200)
        assert fake.fake_live() == 1 and "MemFreeAsync 0" in calls()
        del y
        cuda.get_current_device().reset()
        z = cuda.device_array(200)
        assert fake.fake_live() == 1  # not what lay there before the reset
        assert not violations(), violations()
    """, KRAIT_CUDA_MEMORY_CACHING="1")


# ---- waits, and signals that end them ------------------------------------------------------------------------------

WAITS = {
    "a stream": "s.synchronize()",
    "the device": "cuda.synchronize()",
    "an event": "event.synchronize()",
    "a small result": "small.copy_to_host()",
    "a large result": "large.copy_to_host()",
    "a result behind a stream": "small.copy_to_host(stream=s), s.synchronize()",
    "host arrays of a launch": "add[1, 128](np.zeros(100), np.ones(100))",
    "host arrays of a launch on a stream": "add[1, 128, s](np.zeros(100), np.ones(100))",
    "a large array for the device": "cuda.to_device(np.zeros(100_000))",
}


@pytest.mark.parametrize("name", WAITS)
def test_a_signal_ends_a_wait_for_the_gpu(run, name):
    run(f"""
        import os, signal, threading
        s, event = cuda.stream(), cuda.event()
        small, large = cuda.to_device(np.ones(9)), cuda.to_device(np.ones(99_999))
        event.record(s)
        add[1, 128](np.zeros(100), np.ones(100))
        fake.fake_busy(1000)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            {WAITS[name]}
        except KeyboardInterrupt as caught:
            assert type(caught) is KeyboardInterrupt and caught.__context__ is None
        else:
            raise SystemExit("the wait ended without KeyboardInterrupt")
        fake.fake_busy(0)
        assert (small.copy_to_host() == 1).all() and (large.copy_to_host() == 1).all()
        del small, large, event
        cuda.synchronize()
        assert not violations() and fake.fake_live() == 0, violations()
    """)


NEEDS = {  # what may have to wait for the GPU, with what it needs
    "a full GPU": ("", "fake.fake_fail(b'MemAllocAsync', 0, 2); cuda.device_array(10)"),
    "a launch with host arrays": ("", "fake.fake_fail(b'MemAllocAsync', 0, 2); add[1, 32](np.ones(9), np.ones(9))"),
    "a ufunc": ("plus(x, x)", "fake.fake_fail(b'MemAllocAsync', 0, 2); plus(x, x)"),
    "an operator": ("x + x", "fake.fake_fail(b'MemAllocAsync', 0, 2); x + x"),
    "a small array": ("", "cuda.to_device(np.ones(10))"),
    "a small result": ("", "x.copy_to_host()"),
    "a copy": ("", "x.copy_to_device(np.ones(100))"),
    "one element": ("", "x[3]"),
    "one element set": ("", "x[3] = 5"),
    "memory to share": ("", "x.get_ipc_handle()"),
    "shared memory given back": ("y = cuda.to_device(np.ones(9)); y.get_ipc_handle()", "del y"),
    "a failure to give back": ("", "fake.fake_fail(b'MemFreeAsync', 0, 1); del x"),
    "a pinned array given back": ("y = cuda.pinned_array(10)", "del y"),
    "a mapped array given back": ("y = cuda.mapped_array(10)", "del y"),
    "a managed array given back": ("y = cuda.managed_array(10)", "del y"),
    "a block with pinned memory": ("y = np.ones(10)", "with cuda.pinned(y): pass"),
    "a kernel given back": ("k = cuda.jit(lambda x: None); k[1, 1](x)", "del k; gc.collect()"),
    "a graph given back": ("with cuda.graph() as g: add[1, 32](x, x)", "del g"),
    "a reset": ("", "cuda.get_current_device().reset()"),
}


@pytest.mark.parametrize("pools", [True, False])
def test_what_waits_for_the_gpu_lets_its_callbacks_run(run, pools):
    run(f"""
        import gc

        @krait.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        s = cuda.stream()
        for name, (before, work) in {NEEDS}.items():
            x, seen = cuda.to_device(np.ones(100)), []
            names = dict(globals())
            exec(before, names)
            gc.collect()
            cuda.synchronize()
            calls()
            fake.fake_defer(1)
            s.add_callback(lambda stream, status, argument: seen.append(argument), 7)
            exec(work if {pools} else work.replace("Async", ""), names)
            cuda.synchronize()
            assert seen == [7] and not violations(), (name, violations())
            fake.fake_defer(0)
            fake.fake_fail(b"", 0, 0)
    """, **({} if pools else {"FAKE_NO_POOLS": "1"}))


@pytest.mark.parametrize("operation", [
    "add[1, 8, s](x, y)", "add[1, 8](x, y)", "x.copy_to_device(h)", "plus(x, 1.0, out=y)", "cuda.device_array(8)",
    "cuda.to_device(h)", "x[2] = 5", "e.record(s)", "x.copy_to_device(h, stream=s)", "add[1, 8](x, h)",
    "y.copy_to_device(x)", "g.launch()", "e.wait(s)", "add[1, 8, cuda.stream()](x, y)"])
def test_what_finds_no_room_behind_a_callback_lets_it_run(run, operation):
    """The driver takes about a thousand launches, then a call waits for room, which a callback in Python may have to
    make: it needs the interpreter's lock."""
    run(f"""
        @krait.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        x, y, h = cuda.to_device(np.zeros(8)), cuda.to_device(np.ones(8)), np.ones(8)
        s, e, seen = cuda.stream(), cuda.event(), []
        with cuda.graph() as g:
            add[1, 8](x, y)
        {operation}  # compiles, loads
        for _ in range(3):
            fake.fake_defer(1), fake.fake_room(5)
            s.add_callback(lambda stream, status, argument: seen.append(status))
            for _ in range(10):
                {operation}
            cuda.synchronize()
            fake.fake_defer(0)
        assert seen == [0, 0, 0] and not violations(), (seen, violations())
    """)


def test_callbacks_and_futures_are_told_of_failures(run):
    run("""
        import asyncio

        s, seen = cuda.stream(), []
        s.add_callback(lambda stream, status, argument: seen.append((stream is s, status, argument)), "first")
        fake.fake_fail(b"Callback", 0, 700)
        s.add_callback(lambda stream, status, argument: seen.append((stream is s, status, argument)))
        assert seen == [(True, 0, "first"), (True, 700, None)]

        async def wait():
            return await asyncio.wait_for(s.async_done(), 20)

        assert asyncio.run(wait()) is s
        fake.fake_fail(b"StreamQuery", 0, 700)
        try:
            asyncio.run(wait())
        except krait.errors.CudaError as error:
            assert "a kernel accessed memory outside an array" in str(error)
        else:
            raise AssertionError
    """)


def test_other_threads_run_while_one_waits_for_the_gpu(run):
    run("""
        import threading
        small = cuda.to_device(np.ones(9))
        fake.fake_busy(1000)
        seen = []
        waiting = threading.Thread(target=lambda: seen.append(small.copy_to_host()))
        waiting.start()
        assert not seen and waiting.is_alive()  # this thread has the lock again, though the other waits
        fake.fake_busy(0)
        waiting.join()
        assert (seen[0] == 1).all()
    """)


CUPY = """
import sys, types
import fake_arrays

modules = {name: types.ModuleType(name) for name in ("cupy", "cupy.cuda", "cupy.cuda.memory")}
modules["cupy.cuda.memory"].MemoryPointer = fake_arrays.MemoryPointer
sys.modules.update(modules, **{"cupy.cuda.stream": fake_arrays})
fake.fake_parameters.restype = ctypes.POINTER(ctypes.c_char)
fake.fake_parameter_bytes.restype = ctypes.c_size_t

class ndarray(fake_arrays.array):
    __slots__ = ()

def theirs(like, address, device=0, cls=ndarray):
    "An array like one of NumPy, but on that memory."
    return cls(address, device, like.dtype, like.ndim, like.size, like.shape, like.strides, like.flags.c_contiguous)

def ours(like, address):
    return cuda.from_cuda_array_interface({
        "shape": like.shape, "strides": like.strides, "typestr": like.dtype.str, "data": (address, False),
        "version": 3}, sync=False)

def parameters(kernel, *arguments):
    kernel[1, 32](*arguments)
    return fake.fake_parameters()[:fake.fake_parameter_bytes()]
"""


@pytest.fixture(scope="module")
def cupy_module(tmp_path_factory):
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").exists():
        pytest.skip("no Python.h here")
    folder = tmp_path_factory.mktemp("arrays")
    target = folder / ("fake_arrays" + sysconfig.get_config_var("EXT_SUFFIX"))
    source = Path(__file__).with_name("fake_arrays.c")
    subprocess.run([COMPILER, "-std=c17", "-shared", "-fPIC", f"-I{include}", "-o", target, source], check=True)
    return f"import sys; sys.path.insert(0, {str(folder)!r})\n" + CUPY


def test_arrays_of_cupy_are_read_field_by_field(run, cupy_module):
    run(cupy_module + textwrap.dedent("""
        @cuda.jit
        def touch(x, y):
            if x.size:
                y[...] = x.shape[0] if x.ndim else 1

        memory = cuda.to_device(np.zeros(4096, np.uint8))
        address = memory.__cuda_array_interface__["data"][0]
        base = np.zeros((6, 8), np.float32)
        shapes = [base, base.T, base[::2], base[:, 1:5], base[0], base[0, ::-2], base[:0], np.zeros(()), base[2:, 3],
                  np.zeros(5, np.complex128), np.zeros((2, 3, 4), np.int16), np.zeros((2, 3, 4), "i8", order="F")]
        for _ in range(2):  # the second time in shells of the first
            for place, like in enumerate(shapes * 2):
                at = address + 16 * place
                expected = parameters(touch, ours(like, at), ours(shapes[0], address))
                assert parameters(touch, theirs(like, at), theirs(shapes[0], address)) == expected, like.shape
                assert parameters(touch, ours(like, at), theirs(shapes[0], address)) == expected, like.shape
        assert fake_arrays.interfaces() == 0 and not violations()

        # a class with an interface of its own is asked for it
        class Other(ndarray):
            @property
            def __cuda_array_interface__(self):
                asked.append(1)
                return {**super().__cuda_array_interface__, "data": (address + 64, False)}

        asked = []
        other = parameters(touch, theirs(base, address, cls=Other), ours(base, address))
        assert other == parameters(touch, ours(base, address + 64), ours(base, address)) and asked

        # their stream comes first
        s, t = (cuda.external_stream(fake.fake_stream(0)) for _ in "st")
        fake_arrays.set_stream(int(s))
        x = theirs(base, address)
        calls()
        touch[1, 32, t](x, ours(base, address))
        assert calls()[-3:] == ["EventRecord 2", "StreamWaitEvent 3", "LaunchKernel 3"]
        touch[1, 32, s](x, ours(base, address))
        assert calls() == ["LaunchKernel 2"]
        fake_arrays.set_stream(0)

        # a graph keeps them
        import sys
        with cuda.graph() as g:
            before = sys.getrefcount(x)
            touch[1, 32](x, x)
            assert sys.getrefcount(x) > before
        del g
        # more of them than there are shells
        names = [f"a{i}" for i in range(14)]
        scope = {"cuda": cuda}
        exec(f"def many({', '.join(names)}):\\n    a0[0] = " + " + ".join(f"{name}[0]" for name in names), scope)
        many, lines = cuda.jit(scope["many"]), [np.zeros(n + 1) for n in range(14)]
        assert parameters(many, *(theirs(line, address + 8 * i) for i, line in enumerate(lines))) == parameters(
            many, *(ours(line, address + 8 * i) for i, line in enumerate(lines)))
    """))


def test_a_launch_of_arrays_of_two_gpus_where_one_reaches_the_other(run):
    run("""
        def on(device, value):
            with cuda.gpus[device]:
                return cuda.to_device(np.full(100, value))

        def refused(*args, launcher=add[1, 128]):
            try:
                launcher(*args)
            except ValueError as error:
                assert "lie on different GPUs, 0 and 1" in str(error), error
                return True

        here, there = on(0, 1.0), on(1, 2.0)
        assert refused(here, there)
        cuda.current_context(0).enable_peer_access(1)
        add[1, 128](here, there)
        calls()
        add[1, 128](here, there)
        # GPU 0 goes behind the array on GPU 1, and that array behind the launch
        assert calls() == ["EventRecord 0", "StreamWaitEvent 0", "LaunchKernel 0", "EventRecord 0",
                           "StreamWaitEvent 0"]
        with cuda.gpus[1]:
            assert refused(here, there)  # the other way was not let
        ours = add[1, 128, cuda.stream()]
        with cuda.gpus[1]:
            theirs = add[1, 128, cuda.stream()]
            ours(here, there)  # goes where the stream is
            try:
                ours(there, there)
            except ValueError as error:
                assert "the stream is one of GPU 0, and this is work of GPU 1" in str(error)
            else:
                raise AssertionError
        assert refused(here, there, launcher=theirs)
        add[1, 128](np.zeros(100), here), add[1, 128](there, there), add[1, 128](here, here)
        host = np.zeros(100)

        @cuda.jit
        def three(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + y[0][i]

        three[1, 128](here, (there, 1), host)  # in a tuple, and with a host array
        assert not violations(), violations()
        del here, there
        cuda.gpus[1].reset()
        assert refused(on(0, 1.0), on(1, 2.0))  # what it reached is gone
        cuda.current_context(0).enable_peer_access(1)
        add[1, 128](on(0, 1.0), on(1, 2.0))
        assert not violations(), violations()
    """, FAKE_GPUS="2")


def test_elementwise_functions_of_arrays_of_two_gpus_where_one_reaches_the_other(run):
    """As launches: where the thread's GPU, or the stream's, reaches all, and behind what is under way there."""
    run("""
        from krait import vectorize

        @vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        def on(device, value, dtype=np.float64):
            with cuda.gpus[device]:
                return cuda.to_device(np.full(100, value, dtype))

        def refused(call):
            try:
                call()
            except ValueError as error:
                assert "lie on different GPUs, " in str(error), error
                return True

        here, there, out, single = on(0, 1.0), on(1, 2.0), on(1, 0.0), on(1, 1.0, np.float32)
        mixed = [lambda: plus(here, there), lambda: plus(there, here, out=out), lambda: here + there,
                 lambda: there * here, lambda: here > there, lambda: np.add(there, here), lambda: there.__iadd__(here),
                 lambda: np.add(here, here, out=there), lambda: plus(here, single), lambda: single - here]
        assert all(map(refused, mixed))
        cuda.current_context(0).enable_peer_access(1)
        for call in mixed:
            result = call()
            assert result.shape == (100,)
        plus(there, here, out=out)
        calls()
        plus(there, here, out=out)
        assert calls() == ["EventRecord 0", "StreamWaitEvent 0"] * 2 + ["LaunchKernel 0"] + [
            "EventRecord 0", "StreamWaitEvent 0"] * 2
        assert (here + there).__dlpack_device__()[1] == 0 == plus(there, here).__dlpack_device__()[1]
        stream = cuda.stream()
        plus(here, there, out=out, stream=stream)
        with cuda.gpus[1]:
            assert all(map(refused, mixed))  # the other way was not let
            plus(here, there, out=out, stream=stream)  # goes where the stream is
            assert cuda.get_current_device().id == 1
        plus(there, there), there + there  # all on one: there
        assert (there + there).__dlpack_device__()[1] == 1 and cuda.get_current_device().id == 0
        assert not violations(), violations()
    """, FAKE_GPUS="2")


def test_graphs_of_arrays_of_two_gpus_where_one_reaches_the_other(run):
    run("""
        from krait import vectorize

        @vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        def on(device, value):
            with cuda.gpus[device]:
                return cuda.to_device(np.full(100, value))

        def record(here, there):
            with cuda.graph() as graph:
                add[1, 128](here, there)
                plus(here, there, out=there)
            return graph

        here, there = on(0, 1.0), on(1, 2.0)
        try:
            record(here, there)
        except ValueError as error:
            assert "lie on different GPUs" in str(error)
        else:
            raise AssertionError
        cuda.current_context(0).enable_peer_access(1)
        calls()
        graph = record(here, there)
        assert "EventRecord 0" not in calls()  # what is recorded waits for nothing
        for stream in (None, cuda.stream()):
            made = calls()
            graph.launch() if stream is None else graph.launch(stream)
            made = [call for call in calls() if call.split()[0] in ("EventRecord", "StreamWaitEvent", "GraphLaunch")]
            before, behind = "\\n".join(made).split("GraphLaunch")
            assert before.count("StreamWaitEvent") and behind.count("EventRecord") and behind.count("StreamWaitEvent")
        with cuda.gpus[1]:
            try:
                record(here, there)
            except ValueError as error:
                assert "lie on different GPUs" in str(error)
            else:
                raise AssertionError
        assert not violations(), violations()
        cuda.gpus[1].reset()
        try:
            graph.launch()
        except RuntimeError as error:
            assert "is gone" in str(error)
        else:
            raise AssertionError
    """, FAKE_GPUS="2")


def test_arrays_of_cupy_on_the_other_gpu(run, cupy_module):
    run(cupy_module + textwrap.dedent("""
        with cuda.gpus[1]:
            there = cuda.to_device(np.zeros(100))
        here = cuda.to_device(np.zeros(100))
        like = np.zeros(100)
        x = theirs(like, there.__cuda_array_interface__["data"][0], 1)
        y = theirs(like, here.__cuda_array_interface__["data"][0], 0)
        for _ in range(2):
            add[1, 128](x, x), add[1, 128](y, y)
        assert not violations(), violations()
        try:
            add[1, 128](x, y)
        except ValueError as error:
            assert "lie on different GPUs" in str(error)
        else:
            raise AssertionError
    """), FAKE_GPUS="2")


def test_launches_that_are_made_again(run):
    """What a kernel is launched with again goes a shorter way than its first launch: the same parameters, the same of
    its two variants, the same errors."""
    run("""
        fake.fake_parameters.restype = ctypes.POINTER(ctypes.c_char)
        fake.fake_parameter_bytes.restype = ctypes.c_size_t

        def touch(x, y, a):
            if x.size:
                y[...] = x.shape[0] if a == 1 else 0

        def launched(kernel, *arguments):
            calls()
            kernel[1, 32](*arguments)
            assert calls().count("LaunchKernel 0") == 1  # beside what the collector unloads
            return fake.fake_parameters()[:fake.fake_parameter_bytes()], fake.fake_launched()

        memory = cuda.to_device(np.zeros(4096))
        grid, cube = memory.reshape(64, 64), memory.reshape(16, 16, 16)
        arrays = [memory, memory[::2], grid, grid.T, grid[:, 3:7], grid[5], cube, cube[1:, ::2], memory[:0], grid[:0],
                  memory.view("f4"), memory[100:200]]
        numbers = [0.5, 7, -3, 2**29, 2**30, 2**31, -2**40, True, np.float32(1.5), np.int8(-4), np.int64(2**40),
                   np.int64(5), np.uint64(2**63), 1.5 + 2j, np.complex64(3j)]
        pairs = [(x, y) for x in arrays for y in arrays]
        for a in numbers:
            for x, y in pairs[::5] if a == 0.5 else pairs[::70]:
                kernel = cuda.jit(touch)
                first = launched(kernel, x, y, a)
                number = first[1]
                for again in range(3):
                    assert launched(kernel, x, y, a) == first, (a, x.shape, y.shape, again)

        # whether arrays overlap and are small is looked at each time
        kernel = cuda.jit(touch)
        apart, overlapping = (memory[:100], memory[100:], 0.5), (memory[:101], memory[100:], 0.5)
        variants = [launched(kernel, *arguments)[1] for arguments in (apart, overlapping) * 3]
        assert len(set(variants)) == 2 and variants == variants[:2] * 3
        kernel = cuda.jit(touch)
        variants = [launched(kernel, memory, grid[0], a)[1] for a in (3, 2**30, 3, 2**30, 3, 2**40)]
        assert len(set(variants)) == 1  # an array and a part of it
        kernel = cuda.jit(touch)
        variants = [launched(kernel, memory[64:], grid[0], a)[1] for a in (3, 2**30, 3, 2**30, np.int64(3), 3, 2**40)]
        assert variants[0] == variants[2] == variants[5] != variants[1] == variants[3] == variants[6]

        # as are the globals, the types, what was freed
        step = 1
        @cuda.jit
        def steps(x):
            x[0] += step
        steps[1, 1](memory), steps[1, 1](memory)
        one = fake.fake_launched()
        step = 2
        steps[1, 1](memory), steps[1, 1](memory)
        assert fake.fake_launched() != one
        short = cuda.to_device(np.ones(10))
        launcher = add[1, 32]
        for _ in range(3):
            launcher(short, memory)
        launcher(memory, np.ones(4096)), launcher(memory.view("i8"), memory)
        short.free()
        for _ in range(2):
            try:
                launcher(short, memory)
            except RuntimeError as error:
                assert "memory is gone" in str(error)
            else:
                raise AssertionError
        fake.fake_fail(b"LaunchKernel", 0, 701)
        try:
            launcher(memory, memory)
        except krait.errors.CudaError as error:
            assert "launching a grid of (1, 1, 1)" in str(error)
        else:
            raise AssertionError
        for wrong in (), (memory,), (memory, memory, 1):
            try:
                launcher(*wrong)
            except TypeError:
                continue
            raise AssertionError(wrong)
        launcher(y=memory, x=memory), launcher(memory, y=memory)
        assert not violations(), violations()
        cuda.close()
        for _ in range(2):
            try:
                launcher(memory, memory)
            except RuntimeError as error:
                assert "memory is gone" in str(error)
            else:
                raise AssertionError
        memory = cuda.to_device(np.ones(100))
        launcher(memory, memory)
    """)


def test_signatures_convert_in_launches_that_are_made_again(run):
    run("""
        fake.fake_parameters.restype = ctypes.POINTER(ctypes.c_char)
        fake.fake_parameter_bytes.restype = ctypes.c_size_t

        @cuda.jit("void(float32, int8, float64[::1])")
        def declared(a, n, x):
            x[0] = a + n

        import struct
        x = cuda.to_device(np.ones(3))
        for a, n in [(1, 2), (1.5, 2), (np.float64(1.5), np.int64(2)), (np.float32(2), True)] * 2:
            declared[1, 1](a, n, x)
            got = struct.unpack("fbxxxQq", fake.fake_parameters()[:fake.fake_parameter_bytes()])
            assert got == (float(a), int(n), x.__cuda_array_interface__["data"][0], 3), (a, n)
        for a, n in [("text", 2), (1.5, 2**70), (2j, 1)] * 2:
            try:
                declared[1, 1](a, n, x)
            except (TypeError, OverflowError):
                continue
            raise AssertionError((a, n))
    """)


def test_tensors_are_lent_by_a_table(run, cupy_module):
    run(cupy_module + textwrap.dedent("""
        @cuda.jit
        def touch(x, y):
            y[0, 0] = x.shape[0]

        memory = cuda.to_device(np.zeros(4096, np.uint8))
        address = memory.__cuda_array_interface__["data"][0]
        base = np.zeros((6, 8), np.float32)

        def tensor(like, at, gpu=0):
            return fake_arrays.tensor(at, gpu, *like.shape, *(stride // like.itemsize for stride in like.strides))

        shapes = [base, base.T, base[::2], base[:, 1:5], base[:0], base[:1], base[:, :1]]
        for _ in range(2):
            for place, like in enumerate(shapes * 2):
                at = address + 16 * place
                expected = parameters(touch, ours(like, at), ours(base, address))
                for _ in range(2):
                    assert parameters(touch, tensor(like, at), tensor(base, address)) == expected, like.shape
                    assert parameters(touch, ours(like, at), tensor(base, address)) == expected, like.shape
                    assert parameters(touch, theirs(like, at), tensor(base, address)) == expected, like.shape

        # their stream comes first, once a launch
        s, t = (cuda.external_stream(fake.fake_stream(0)) for _ in "st")
        x = tensor(base, address)
        touch[1, 32, t](x, x)
        fake_arrays.set_stream(int(s))
        calls()
        asked = fake_arrays.questions()
        touch[1, 32, t](x, x)
        done = calls()
        assert done == ["EventRecord 2", "StreamWaitEvent 3", "LaunchKernel 3"], done
        assert fake_arrays.questions() == asked + 1
        touch[1, 32, s](x, x)
        assert calls() == ["LaunchKernel 2"]
        touch[1, 32, t](x, theirs(base, address))  # two libraries
        assert calls() == ["EventRecord 2", "StreamWaitEvent 3"] * 2 + ["LaunchKernel 3"]
        fake_arrays.set_stream(0)
        asked = fake_arrays.questions()
        other = tensor(base, address, 1)
        touch[1, 32](other, other)
        assert fake_arrays.questions() > asked
        try:
            touch[1, 32](x, other)
        except ValueError as error:
            assert "lie on different GPUs" in str(error)
        else:
            raise AssertionError
    """), FAKE_GPUS="2")


def test_a_graph_records_and_runs_with_one_call(run):
    run("""
        @krait.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        x, y, out = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100)), cuda.device_array(100)
        host = np.ones(100)
        s = cuda.external_stream(fake.fake_stream(0))
        add[1, 128](x, y), plus(x, y, out=out)
        calls()
        with cuda.graph() as g:
            x.copy_to_device(host)
            add[1, 128](x, y)
            add[1, 128, s](y, x)  # whatever stream it names
            plus(x, 2.0, out=out)
            new = plus(x, y)  # its memory is there at once
            result = x.copy_to_host()
        copy, launch = "captured Memcpy", "captured LaunchKernel"
        host_call = "captured LaunchHostFunc"  # ordinary memory goes through locked memory of the graph's own
        assert calls() == ["StreamBeginCapture", host_call, copy + "HtoDAsync", launch, launch, launch,
                           "MemAllocAsync 0", launch, copy + "DtoHAsync", host_call, "StreamEndCapture",
                           "StreamDestroy 3"]
        g.launch()
        assert calls() == ["GraphLaunch 0"]
        g.launch(s)
        assert calls()[-1] == "GraphLaunch 2"
        g.launch(s)
        assert calls() == ["GraphLaunch 2"]
        del x, y, out, new  # the graph has them
        g.launch(s)
        assert fake.fake_live() == 4 and not violations(), violations()
        del g
        assert fake.fake_live() == 0 and "GraphExecDestroy" in calls() and not violations(), violations()
    """)


def test_what_is_given_back_while_a_graph_is_recorded_does_not_end_the_recording(run):
    """A wait for the whole device would: it comes when the block has ended, and before the memory is given up."""
    run("""
        import threading

        x, y, host = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100)), np.ones(100)
        add[1, 128](x, y)

        def record():
            with cuda.graph() as g:
                x.copy_to_device(host)
                add[1, 128](x, y)
            g.launch()
            return g

        def another_thread(action):
            thread = threading.Thread(target=action)
            thread.start(), thread.join()

        with cuda.mapped(np.ones(100)) as d:
            add[1, 128](x, d)
            block = cuda.mapped(np.ones(100))
            block.__enter__()
        held = [record(), cuda.mapped_array(100), cuda.managed_array(100), cuda.to_device(np.ones(100))]
        held[-1].get_ipc_handle()
        for drop in (held.pop, lambda: another_thread(held.pop), held.pop, held.pop,
                     lambda: block.__exit__(None, None, None), lambda: another_thread(cuda.synchronize)):
            with cuda.graph() as g:
                calls()
                drop()
                done = calls()
                assert "CtxSynchronize" not in done and "GraphExecDestroy" not in done, done
                assert not any("FreeHost" in line or "Unregister" in line for line in done), done
                add[1, 128](x, y)
            g.launch()
            assert not violations(), violations()
        calls()
        with cuda.graph() as g:  # the graph before is dropped here
            add[1, 128](x, y)
            assert "GraphExecDestroy" not in calls()
        assert "GraphExecDestroy" in calls()
        try:
            with cuda.graph():
                cuda.synchronize()
        except RuntimeError as error:
            assert "a wait for the device cannot be recorded" in str(error)
        else:
            raise AssertionError
        g.launch()
        del g, x, y, d
        assert not violations() and fake.fake_live() == 0, violations()
    """)


def test_a_recording_begins_behind_a_wait_for_the_device(run):
    """The wait would end it, though it began before."""
    run("""
        import threading, time

        x, y = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        add[1, 128](x, y)
        graphs, failed = [], []

        def record():
            try:
                with cuda.graph() as g:
                    add[1, 128](x, y)
                graphs.append(g)
            except BaseException as error:
                failed.append(error)

        calls()
        fake.fake_hold(1)
        waiting = threading.Thread(target=cuda.synchronize)
        waiting.start()
        while "CtxSynchronize" not in fake.fake_calls().decode():
            time.sleep(0.001)
        recording = threading.Thread(target=record)
        recording.start()
        time.sleep(0.1)
        assert "StreamBeginCapture" not in fake.fake_calls().decode()
        fake.fake_hold(0)
        waiting.join(), recording.join()
        assert not failed and not violations(), (failed, violations())
        graphs[0].launch()
        with cuda.graph() as g:  # and one that has begun is not waited for
            another = threading.Thread(target=cuda.synchronize)
            another.start(), another.join()
            add[1, 128](x, y)
        g.launch()
        assert not violations(), violations()
    """)


def test_code_is_unloaded_when_no_graph_is_recorded(run):
    run("""
        import gc, threading

        def touch(x):
            x[0] = 1

        def another_thread(action):
            thread = threading.Thread(target=action)
            thread.start(), thread.join()

        x, y = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        context = cuda.current_context()
        kernel, module = cuda.jit(touch), context.create_module_image(b"machine code")
        kernel[1, 1](x), add[1, 128](x, y)
        held = [kernel]
        del kernel
        with cuda.graph() as g:
            add[1, 128](x, y)
            calls()
            context.unload_module(module)
            another_thread(lambda: (held.clear(), gc.collect()))
            assert "ModuleUnload" not in calls()
            try:
                another_thread(lambda: context.reset())
                cuda.close()
            except RuntimeError as error:
                assert "a reset of the device cannot be recorded" in str(error)
            else:
                raise AssertionError
        assert calls().count("ModuleUnload") == 2
        g.launch()
        assert not violations(), violations()
    """)


def test_a_thread_that_ends_records_no_more(run):
    run("""
        import threading

        x, y = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        add[1, 128](x, y)
        graphs, errors = [], []

        def leave_it():
            graphs.append(cuda.graph().__enter__())
            add[1, 128](x, y)

        def reset():
            try:
                cuda.get_current_device().reset()
            except RuntimeError as error:
                errors.append(str(error))

        thread = threading.Thread(target=leave_it)
        thread.start(), thread.join()
        assert calls()[-2:] == ["StreamEndCapture", "StreamDestroy 2"]
        pinned = cuda.mapped_array(10)
        calls()
        del pinned  # given back at once
        assert "CtxSynchronize" in calls()
        try:
            graphs[0].launch()
        except RuntimeError as error:
            assert "has not been recorded" in str(error)
        else:
            raise AssertionError
        with graphs[0] as g:
            add[1, 128](x, y)
            thread = threading.Thread(target=reset)
            thread.start(), thread.join()
        assert errors == ["another thread is recording a graph of the device that is to be reset"]
        g.launch()
        assert not violations(), violations()
    """)


def test_a_device_is_reset_though_a_thread_has_dropped_what_it_records(run):
    run("""
        import contextlib, threading

        word, x, y = cuda.to_device(np.ones(1, np.int32)), cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        add[1, 128](x, y)
        dropped, done, seen = threading.Event(), threading.Event(), []

        def drop_it():
            g = cuda.graph().__enter__()
            g.if_(word).__enter__()
            add[1, 128](x, y)
            del g
            dropped.set(), done.wait()
            calls()
            other = cuda.to_device(np.ones(1, np.int32))
            seen.extend(calls())
            with cuda.graph() as g, contextlib.ExitStack() as stack:
                for _ in range(16):  # as many as there can be: none is open still
                    stack.enter_context(g.if_(other))
            seen.append("recorded")

        thread = threading.Thread(target=drop_it)
        thread.start(), dropped.wait()
        later = cuda.mapped_array(10)
        del later  # when nothing is recorded
        calls()
        cuda.get_current_device().reset()
        assert not any("EndCapture" in line for line in calls())
        pinned = cuda.mapped_array(10)
        del pinned
        assert "CtxSynchronize" in calls()  # at once
        done.set(), thread.join()
        assert seen[0] == "MemAllocAsync 0", seen  # and nothing of the recording, which is gone
        assert seen[-1] == "recorded"
        with cuda.graph() as g:
            pass
        g.launch()
        assert not violations(), violations()
    """)


def test_the_context_of_others_is_current_again(run):
    run("""
        def current():
            context = ctypes.c_void_p()
            assert fake.cuCtxGetCurrent(ctypes.byref(context)) == 0
            return context.value

        def touch(x):
            x[0] = 1

        x = cuda.to_device(np.zeros(100))
        here = current()
        with cuda.gpus[1]:
            assert current() != here
            there = cuda.to_device(np.zeros(100))
            kernel = cuda.jit(touch)
            kernel[1, 1](there)
            module = cuda.current_context().create_module_image(b"machine code")
        assert current() == here
        there.fill(1), add[1, 128](there[:5], there[5:10]), there + there
        cuda.to_device(np.zeros(3))
        assert current() == here
        function = module.get_function("f")
        module.get_global_symbol("krait_device_notes")
        assert current() == here
        calls()
        del module, function, kernel
        import gc
        gc.collect()
        assert calls().count("ModuleUnload") == 2 and current() == here
        fake.cuCtxSetCurrent(None)  # of a thread that another library has left without one
        with cuda.gpus[1]:
            there = current()
        add[1, 128](x, x)
        for context in there, here, there:  # another library goes on with another GPU
            fake.cuCtxSetCurrent(ctypes.c_void_p(context))
            y = cuda.to_device(np.ones(100))
            add[1, 128](x, y), x + y, y.copy_to_host(), cuda.synchronize()
            add[1, 128](np.zeros(100), y)
            with cuda.graph() as graph:
                add[1, 128](x, y)
            graph.launch()
            cuda.pinned_array(10), cuda.current_context().get_memory_info(), (y + y).get_ipc_handle()
            kernel = cuda.jit(touch)
            kernel[1, 1](y)
            assert current() == context and not violations(), violations()
        fake.cuCtxSetCurrent(ctypes.c_void_p(here))
        for context in there, None, there:  # right after a launch that found its own
            add[1, 128](x, x), fake.cuCtxSetCurrent(ctypes.c_void_p(context))
            add[1, 128](x, x)
            assert current() in (context, here) and not violations(), violations()
        import threading
        made = []
        thread = threading.Thread(target=lambda: made.append((cuda.to_device(np.ones(3)), current())))
        thread.start(), thread.join()
        assert made[0][1] == here  # a thread that nobody has used keeps its device
        del x, y, made, graph, kernel
        gc.collect()
        assert not violations(), violations()
    """, FAKE_GPUS="2")


def test_modules_of_others_say_what_they_take(run):
    run("""
        context = cuda.current_context()
        for image in (5, None, [1, 2], np.float64(3), object()):
            for make in (context.create_module_image, context.create_module_ptx):
                try:
                    make(image)
                except TypeError as error:
                    assert f"{make.__name__}() takes" in str(error) and type(image).__name__ in str(error), error
                else:
                    raise AssertionError(image)
        for image in (b"", "", bytearray()):
            try:
                context.create_module_image(image)
            except ValueError as error:
                assert "no code" in str(error)
            else:
                raise AssertionError(image)
        for image in (b"machine code", bytearray(b"machine code"), memoryview(b"machine code"), ".version 8.0"):
            module = context.create_module_image(image)
            for name in (5, None, b"f"):
                for ask in (module.get_function, module.get_global_symbol):
                    try:
                        ask(name)
                    except TypeError as error:
                        assert "str" in str(error), error
                    else:
                        raise AssertionError(name)
            context.unload_module(module)
            try:
                module.get_function("f")
            except RuntimeError as error:
                assert "the module is unloaded" in str(error)
        for wrong in (5, None, "module"):
            try:
                context.unload_module(wrong)
            except TypeError as error:
                assert "unload_module() takes" in str(error)
            else:
                raise AssertionError(wrong)
    """)


def test_a_recorded_launch_gets_other_arguments(run):
    run("""
        x, y, z = (cuda.to_device(np.ones(100)) for _ in range(3))
        with cuda.graph() as g:
            add[1, 128](x, y)
            add[2, 64](y, x)
        assert [arguments for _, arguments in g.launches] == [(x, y), (y, x)]
        calls()
        g.update(1, y=z)
        assert calls() == ["node 2 of 2"] and g.launches[1][1] == (y, z)
        g.update(0, z)
        assert calls() == ["node 1 of 2"] and g.launches[0][1] == (z, y)
        g.launch()
        assert calls() == ["GraphLaunch 0"]
        for arguments, error in (((2,), IndexError), ((add,), ValueError), ((0, x, y, z), TypeError),
                                 ((0, x, np.ones(3)), RuntimeError)):
            try:
                g.update(*arguments)
            except error:
                continue
            raise AssertionError(arguments)
        del x, y, z, arguments
        assert fake.fake_live() == 2  # x is in no launch any more
        del g
        assert fake.fake_live() == 0 and not violations(), violations()
    """)


def test_what_a_graph_does_not_record(run):
    run("""
        x, host = cuda.to_device(np.zeros(100)), np.ones(100)
        stream, event = cuda.stream(), cuda.event()
        with cuda.gpus[1]:
            z = cuda.to_device(np.ones(100))
        refused = [lambda: add[1, 128](x, host), lambda: int(x[0]), lambda: x.copy_to_device(np.ones(100, np.int8)),
                   lambda: x[::2].copy_to_host(), lambda: cuda.graph().__enter__(), lambda: x.sum(), lambda: x.item(3),
                   lambda: stream.add_callback(print), stream.synchronize, event.record, event.synchronize,
                   lambda: event.wait(stream), lambda: x.copy_to_device(z)]
        for action in refused:
            try:
                with cuda.graph():
                    action()
            except RuntimeError as error:
                assert "graph" in str(error)
            else:
                raise AssertionError
        calls()
        add[1, 128](x, x)
        assert calls() == ["LaunchKernel 0"]  # the thread records no more
        for name in "StreamBeginCapture", "StreamEndCapture", "GraphInstantiate":
            fake.fake_fail(name.encode(), 0, 700)
            try:
                with cuda.graph() as g:
                    add[1, 128](x, x)
            except krait.errors.CudaError:
                pass
            else:
                raise AssertionError(name)
        del x, z
        g = None
        assert fake.fake_live() == 0 and not violations(), violations()
    """, FAKE_GPUS="2")


def test_attributes_of_launches(run):
    run("""
        x = cuda.to_device(np.zeros(100))
        add[1, 128](x, x)
        calls()
        add.configure(4, 32, cooperative=True)(x, x)
        assert calls() == ["attribute 2 1 0 0", "LaunchKernel 0"]
        add.configure((4, 2), 32, cluster=(2, 1), programmatic=True, priority=-1)(x, x)
        assert calls() == ["attribute 6 1 0 0", "attribute 8 -1 0 0", "attribute 4 2 1 1", "LaunchKernel 0"]
        cuda.stream(priority=-1)
        assert calls()[0] == "StreamCreate of priority -1"
    """)


def test_large_copies_of_ordinary_memory_go_in_chunks(run):
    run("""
        s = cuda.external_stream(fake.fake_stream(0))
        for stream, n in ((0, 0), (s, 2)):
            for count in (2 << 20, (5 << 20) + 12345):  # two chunks of 8 MiB; five and a part
                x = np.arange(count, dtype=np.float64)
                d = cuda.device_array(count)
                calls()
                d.copy_to_device(x, stream=stream)
                chunks = -(-x.nbytes // (8 << 20))
                assert [line for line in calls() if "HtoD" in line] == chunks * [f"MemcpyHtoDAsync {n}"]
                back = d.copy_to_host(stream=stream)
                assert [line for line in calls() if "DtoH" in line] == chunks * [f"MemcpyDtoHAsync {n}"]
                assert (back == x).all()
                del d
        x = np.zeros(4 << 20)
        d = cuda.device_array(x.size)
        for name in "MemHostAlloc", "EventRecord", "EventSynchronize", "MemcpyHtoDAsync":
            fake.fake_fail(name.encode(), 0, 700)
            try:
                d.copy_to_device(x)
                assert name == "MemHostAlloc"  # the chunks are there
            except krait.errors.CudaError:
                pass
            fake.fake_fail(b"", 0, 0)
        d.copy_to_device(np.ones(4 << 20))
        assert d.copy_to_host().min() == 1
        assert not violations(), violations()
    """)


def test_work_is_done_where_the_arrays_lie(run):
    """Two GPUs: whatever is done with an array happens on its GPU, and so lie the results."""
    run("""
        def device_of(array):
            return array.__dlpack_device__()[1]

        def current():
            context = ctypes.c_void_p()
            assert fake.cuCtxGetCurrent(ctypes.byref(context)) == 0
            return context.value

        @krait.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        @krait.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")
        def double(x, out):
            for i in range(x.size):
                out[i] = 2 * x[i]

        with cuda.gpus[1]:
            x, y = cuda.to_device(np.ones((4, 6))), cuda.to_device(np.ones((4, 6)))
            where, line = cuda.to_device(np.array([2, 0])), cuda.to_device(np.ones(5000))
        here, context = cuda.to_device(np.ones((4, 6))), current()
        largest, running = cuda.Reduce(lambda a, b: max(a, b)), cuda.scan(lambda a, b: a + b)
        operations = {
            "a launch": lambda: add[1, 32](line, line),
            "with a host array": lambda: add[1, 32](line, np.ones(5000)),
            "like": lambda: cuda.device_array_like(x), "copy": x.copy, "astype": lambda: x.astype("f4"),
            "operators": lambda: x + 2 * y, "reflected": lambda: 1 - x, "in place": lambda: x.__iadd__(y),
            "of two types": lambda: x + x.astype("f4"), "compare": lambda: x > y, "power": lambda: x**2,
            "unary": lambda: -x, "numpy": lambda: np.hypot(x, y), "out": lambda: np.add(x, y, out=x),
            "vectorize": lambda: plus(x, 1.0), "vectorize with out": lambda: plus(x, y, out=y),
            "guvectorize": lambda: double(x), "reduce": lambda: plus.reduce(x),
            "accumulate": lambda: plus.accumulate(x),
            "sum": x.sum, "sum of an axis": lambda: x.sum(axis=1), "mean": lambda: x.mean(axis=0), "std": x.std,
            "argmax": lambda: x.argmax(axis=0), "any": x.any, "long": line.sum, "cumsum": lambda: x.cumsum(axis=1),
            "cuda.reduce": lambda: largest(line), "cuda.scan": lambda: running(line),
            "take": lambda: x[[2, 0]], "take by an array": lambda: x[where], "mask": lambda: x[np.eye(4, 6) > 0],
            "put": lambda: x.__setitem__([0, 1], 5.0), "assign": lambda: x.__setitem__(slice(1, 3), y[:2]),
            "part": lambda: x.__setitem__((slice(None), 1), np.arange(4.0)), "fill": lambda: x.fill(3),
            "transposed": lambda: x.T.ravel(), "element": lambda: x[1, 2], "to the host": x.copy_to_host,
            "clip": lambda: x.clip(0, 1), "round": x.round, "flatten": x.flatten, "item": lambda: x.item(3),
            "pickle": x.__reduce__, "dlpack": lambda: cuda.from_dlpack(x.__dlpack__()),
            "from the other GPU": lambda: x.copy_to_device(here),
        }
        for name, operation in operations.items():
            result = operation()
            if isinstance(result, cuda.DeviceArray):
                assert device_of(result) == 1, name
            del result
            assert not violations(), (name, violations())
            assert cuda.get_current_device().id == 0 and current() == context, name
        assert device_of(cuda.device_array(3)) == 0
        for name, mixed in {"operator": lambda: x + here, "numpy": lambda: np.add(here, x),
                            "in place": lambda: here.__iadd__(x), "vectorize": lambda: plus(x, here),
                            "out": lambda: plus(x, 1.0, out=here), "guvectorize": lambda: double(x, here),
                            "a launch": lambda: add[1, 32](line, here.ravel()),
                            "scan": lambda: running(line, out=here.ravel())}.items():
            try:
                mixed()
            except ValueError as error:
                assert "lie on different GPUs" in str(error), (name, error)
            else:
                raise AssertionError(name)
        assert not violations() and cuda.get_current_device().id == 0
        try:
            with cuda.graph():
                add[1, 32](line, line)
        except ValueError as error:
            assert "records the work of GPU 0, and this is work of GPU 1" in str(error)
        else:
            raise AssertionError("graph")
        del x, y, where, line, here, operations, mixed, operation
        assert not violations(), violations()
    """, FAKE_GPUS="2")


def test_an_interface_is_read_in_every_form_in_the_first_launch_and_in_later_ones(run):
    run("""
        class Theirs:
            def __init__(self, interface):
                self.interface = interface
            @property
            def __cuda_array_interface__(self):
                if isinstance(self.interface, Exception):
                    raise self.interface
                return self.interface

        @cuda.jit
        def more(x):
            x[0, 0] += 1

        fake.fake_parameters.restype = ctypes.c_void_p
        array = cuda.to_device(np.ones((4, 8)))
        at = array.__cuda_array_interface__["data"][0]
        plain = {"shape": (4, 8), "typestr": "<f8", "data": (at, False), "version": 3}
        packed, lying = [at, 4, 8], {"shape": (2, 4), "data": (at + 64, False), "strides": (-64, 8)}
        for change, words in [({}, packed), ({"shape": [4, 8]}, packed), ({"shape": (np.int64(4), 1)}, [at, 4, 1]),
                              ({"strides": None, "mask": None, "stream": None, "descr": None}, packed),
                              ({"strides": (64, 8)}, packed), ({"strides": (8, 32)}, packed),
                              (lying, [at + 64, 2, 4, 2 ** 64 - 64, 8]), ({"typestr": "<i4"}, packed),
                              ({"typestr": np.str_("<f4")}, packed), ({"shape": (0, 3), "data": (0, 0)}, [0, 0, 3])]:
            for _ in range(3):
                more[1, 1](Theirs({**plain, **change}))
                assert list((ctypes.c_uint64 * len(words)).from_address(fake.fake_parameters())) == words, change
        for change, error, text in [
                ({"strides": (8,)}, ValueError, "1 strides for 2 dimensions"), ({"mask": array}, Exception, "masked"),
                ({"shape": (-1, 2)}, ValueError, "negative"), ({"data": [at, False]}, ValueError, "malformed"),
                ({"typestr": ">f8"}, TypeError, "cannot hold"), ({"typestr": "no"}, TypeError, "no"),
                ({"stream": 0}, ValueError, "is no stream"), ({"shape": (1,) * 33}, ValueError, "more than 32"),
                (5, TypeError, "has no __cuda_array_interface__"), (KeyError("mine"), KeyError, "mine"),
                (AttributeError("mine"), TypeError, "has no __cuda_array_interface__")]:
            for _ in range(2):
                try:
                    more[1, 1](Theirs({**plain, **change} if isinstance(change, dict) else change))
                except error as raised:
                    assert text in str(raised), raised
                else:
                    raise AssertionError(change)
        for name in "shape", "typestr", "data":
            try:
                more[1, 1](Theirs({key: plain[key] for key in plain if key != name}))
            except ValueError as raised:
                assert f"lacks '{name}'" in str(raised)
            else:
                raise AssertionError(name)
        assert not violations(), violations()
    """)


def test_what_an_interface_raises_but_once_ends_the_launch(run):
    run("""
        class Theirs:
            def __init__(self, array):
                self.array, self.raises = array, None

            @property
            def __cuda_array_interface__(self):
                if self.raises:
                    error, self.raises = self.raises, None
                    raise error
                return {**self.array.__cuda_array_interface__, "stream": None}

        x, y = Theirs(cuda.to_device(np.zeros(100))), cuda.to_device(np.ones(100))
        for _ in range(3):
            add[1, 128](x, y)
        calls()
        x.raises = KeyboardInterrupt()
        try:
            add[1, 128](x, y)
        except KeyboardInterrupt:
            assert not any(call.startswith("LaunchKernel") for call in calls())
        else:
            raise AssertionError("it was passed over")

        class Undecided:
            def __bool__(self):
                raise KeyError("mine")

        fields = y.__cuda_array_interface__
        try:
            cuda.from_cuda_array_interface({**fields, "data": (fields["data"][0], Undecided())})
        except KeyError as error:
            assert error.args == ("mine",)
        else:
            raise AssertionError("it was passed over")
    """)


def test_an_object_may_have_an_interface_of_its_own(run):
    run("""
        class Described:
            def __init__(self, array):
                self.__cuda_array_interface__ = array.__cuda_array_interface__

        @cuda.jit
        def first(holder, x):
            x[0] = holder.value

        class Holder:
            def __init__(self):
                self.value = 2.5

        x = cuda.to_device(np.ones(100))
        for _ in range(2):
            calls()
            add[1, 128](Described(x), x)
            assert calls() == ["LaunchKernel 0"]
            first[1, 1](Holder(), x)  # another object with attributes
        assert cuda.is_cuda_array(Described(x)) and cuda.as_cuda_array(Described(x)).shape == (100,)
        assert not violations(), violations()

        class Proxy:
            def __getattr__(self, name):
                raise KeyError(name)

        try:
            add[1, 128](Proxy(), x)
        except KeyError:
            pass
        else:
            raise AssertionError
    """)


def test_arrays_of_other_libraries_on_the_other_gpu(run):
    run("""
        class Theirs:
            "As CuPy has it."
            def __init__(self, array, stream=1):
                self.array, self.stream = array, stream
            @property
            def __cuda_array_interface__(self):
                return {**self.array.__cuda_array_interface__, "stream": self.stream}
            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        @krait.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        with cuda.gpus[1]:
            x, s = Theirs(cuda.to_device(np.ones(100))), cuda.stream()
        here = Theirs(cuda.to_device(np.ones(100)))
        cuda.get_current_device()
        calls()
        add[1, 128](x, x)
        assert calls() == ["LaunchKernel 0"] and not violations(), violations()
        assert plus(x, x).__dlpack_device__()[1] == 1 and not violations()
        assert cuda.Reduce(lambda a, b: a + b)(x) is not None and not violations(), violations()
        for mixed in (lambda: add[1, 128](x, here), lambda: plus(x, here)):
            try:
                mixed()
            except ValueError as error:
                assert "lie on different GPUs" in str(error)
            else:
                raise AssertionError
        assert cuda.get_current_device().id == 0
        # the producer's stream comes first, on the launch's stream, and the host does not wait
        x.stream, t = int(s), cuda.external_stream(fake.fake_stream(0))
        calls()
        add[1, 128, t](x, x)
        assert calls() == ["EventRecord 2", "StreamWaitEvent 3", "EventRecord 2", "StreamWaitEvent 3",
                           "LaunchKernel 3"] and not violations()
    """, FAKE_GPUS="2")


def test_interfaces_of_structs_and_what_is_malformed(run):
    run("""
        class Theirs:
            def __init__(self, of, **changed):
                self.of, self.changed = of, changed
            @property
            def __cuda_array_interface__(self):
                return {**self.of.__cuda_array_interface__, **self.changed}

        pair = np.dtype([("a", np.int32), ("b", np.float64)], align=True)
        x = cuda.to_device(np.zeros(5, pair))
        y = cuda.as_cuda_array(Theirs(x))
        assert y.dtype.fields["b"][1] == 8 and y.dtype.itemsize == 16 and y.shape == (5,) and y.strides == (16,)
        m = cuda.to_device(np.zeros((3, 2)))
        assert cuda.as_cuda_array(Theirs(m, strides=(16, 8), stream=None)).shape == (3, 2)
        wrong = [(Theirs(x, descr=[("a", "<i4")]), "'descr' and 'typestr'"),
                 (Theirs(m, strides=(16,)), "1 strides for 2"),
                 (Theirs(m, strides=(16, 8, 8)), "3 strides for 2"), (Theirs(m, stream=0), "0 is no stream"),
                 (Theirs(m, stream=-1), "-1 is no stream")]
        for object, words in wrong:
            try:
                cuda.as_cuda_array(object)
            except ValueError as error:
                assert words in str(error), error
            else:
                raise AssertionError(words)
    """)


def test_linked_code_calls_when_it_is_loaded_and_before_it_goes(run):
    run("""
        text = ".version 6.0\\n.visible .func (.param .b64 r) twice(.param .b64 x)\\n{\\nret;\\n}\\n"
        seen = []

        def setup(module):
            seen.append(("setup", module.handle.value, module.get_function("other").device.id))
            fake.fake_note(b"setup")

        def teardown(module):
            seen.append(("teardown", module.handle.value))
            fake.fake_note(b"teardown")

        code = cuda.PTXSource(text, setup_callback=setup, teardown_callback=teardown)
        twice = cuda.declare_device("twice", "float64(float64)", link=[code, cuda.PTXSource(".version 6.0")], abi="c")

        def linked(x):
            x[0] = twice(x[0])

        x = cuda.to_device(np.ones(10))
        kernel = cuda.jit(linked)
        calls()
        kernel[1, 1](x)
        kernel[1, 1](x)
        assert calls() == ["setup", "LaunchKernel 0", "LaunchKernel 0"]
        assert len(seen) == 1 and seen[0][0] == "setup" and seen[0][2] == 0
        calls()
        del kernel
        import gc
        gc.collect()
        assert calls() == ["teardown", "ModuleUnload"] and seen[1:] == [("teardown", seen[0][1])]

        def refuses(module):
            raise RuntimeError("not this one")

        refused = cuda.declare_device("twice", "float64(float64)", abi="c",
                                      link=cuda.PTXSource(text, setup_callback=refuses))

        @cuda.jit
        def other(x):
            x[0] = refused(x[0])

        for _ in range(2):
            calls()
            try:
                other[1, 1](x)
            except RuntimeError as error:
                assert str(error) == "not this one"
            else:
                raise AssertionError
            assert not any("Launch" in call for call in calls())
    """)


def test_machine_code_is_linked_by_the_driver(run, tmp_path):
    program = """
        import io
        twice = cuda.declare_device("twice", "float64(float64)", link=cuda.Cubin(b"a cubin"))
        codes = [cuda.Archive(b"an archive"), cuda.Object(io.BytesIO(b"ob")), cuda.Fatbin(b"f")]
        thrice = cuda.declare_device("thrice", "float64(float64)", link=codes)

        @cuda.jit
        def linked(x):
            x[0] = twice(x[0]) + thrice(x[0])

        x = cuda.to_device(np.ones(10))
        calls()
        linked[1, 1](x)
        done = calls()
        added = ["LinkAddData 0: a cubin", "LinkAddData 4: an archive", "LinkAddData 3: ob", "LinkAddData 2: f"]
        assert sorted(done[:4]) == sorted(added) and done[4:6] == [
            "LinkComplete", "ModuleLoadDataEx of machine code"], done
        assert done[-1] == "LaunchKernel 0"
        for name in "LinkCreate", "LinkAddData", "LinkComplete":
            again = cuda.jit(linked.py_func)
            fake.fake_fail(name.encode(), 0, 209)
            try:
                again[1, 1](x)
            except krait.errors.CudaError:
                continue
            raise AssertionError(name)
    """
    run(program, KRAIT_CACHE="0")
    run(program.replace("@cuda.jit\n", "@cuda.jit(cache=True)\n"), KRAIT_CACHE_DIR=str(tmp_path))


LINKED_LTO = """
    source = cuda.LTOIR(b"lto code")
    twice = cuda.declare_device("twice", "float64(float64)", link=[source, cuda.Archive(b"archive")])

    @cuda.jit(lto=True, max_registers=40)
    def linked(x):
        x[0] = twice(x[0])

    x = cuda.to_device(np.ones(10))
    calls()
    linked[1, 1](x)
    done = calls()
    assert done[0].startswith("nvJitLink -arch=sm_") and done[0].endswith(" -lto -maxrregcount=40"), done
    assert done[1:4] == ["nvJitLinkAddData 3: lto code", "nvJitLinkAddData 6: archive",
                         "ModuleLoadDataEx of machine code"], done
    assert done[-1] == "LaunchKernel 0" and not violations()
    wrong = cuda.declare_device("wrong", "float64(float64)", link=cuda.LTOIR(b"wrong"))

    @cuda.jit
    def refused(x):
        x[0] = wrong(x[0])

    try:
        refused[1, 1](x)
    except krait.errors.CudaError as error:
        assert str(error) == "nvJitLink: error: wrong input", error
    else:
        raise AssertionError
"""


def test_lto_ir_is_linked_by_nvjitlink(run, driver, tmp_path):
    source = Path(__file__).with_name("fake_nvjitlink.c")
    library = driver / "libnvJitLink.so"
    subprocess.run([COMPILER, "-std=c17", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source], check=True)
    try:
        run(LINKED_LTO)
        kept = LINKED_LTO.replace("cuda.jit(lto", "cuda.jit(cache=True, lto")
        run(kept, KRAIT_CACHE_DIR=str(tmp_path))
        # linked once: other processes, though not those with another linker, load what came of it
        a, b = kept.index("    assert done[0].startswith"), kept.index("    assert done[-1]")
        again = kept[:a] + '    assert done[0] == "ModuleLoadDataEx of machine code", done\n' + kept[b:]
        run(again, KRAIT_CACHE_DIR=str(tmp_path))
        run(kept, KRAIT_CACHE_DIR=str(tmp_path), FAKE_LINKER="1")
        run(again, KRAIT_CACHE_DIR=str(tmp_path), FAKE_LINKER="1")
        for entry in tmp_path.glob("*.krait"):
            entry.write_bytes(entry.read_bytes()[:-1] + b"?")
        run(kept, KRAIT_CACHE_DIR=str(tmp_path))
        # what the driver takes no more is linked anew
        calls = "    calls()\n    linked"
        refused = kept.replace(calls, "    fake.fake_fail(b'ModuleLoadDataEx', 0, 209)\n" + calls)
        run(refused, KRAIT_CACHE_DIR=str(tmp_path))
    finally:
        library.unlink()


def test_lto_ir_without_nvjitlink_is_refused(run):
    run("""
        from krait.cuda import _toolkit

        _toolkit._VERSIONS = ()
        try:
            cuda.jit(link=cuda.LTOIR(b"lto code"))
        except krait.errors.UnsupportedError as error:
            assert "linking LTO-IR needs libnvJitLink, which is not found" in str(error), error
            assert "pip install nvidia-nvjitlink" in str(error), error
        else:
            raise AssertionError
    """)


def test_machine_code_of_the_driver_is_kept_with_the_cache(run, tmp_path):
    """The PTX is compiled by the driver once; other processes load what came of it, unless it is damaged."""
    program = textwrap.dedent("""
        @cuda.jit(cache=True)
        def kept(x, y):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += y[i]

        @krait.vectorize(["float64(float64, float64)"], target="cuda", cache=True)
        def plus(a, b):
            return a + b

        x = cuda.to_device(np.ones(10))
        calls()
        kept[1, 32](x, x)
        plus(x, x)
        done = [call for call in calls() if "Link" in call or "machine code" in call]
    """)
    linked = ["LinkComplete", "ModuleLoadDataEx of machine code"] * 2
    folder = tmp_path / "cache"
    run(program + f"assert done == {linked}, done", KRAIT_CACHE_DIR=str(folder))
    entries = list(folder.glob("*.krait"))
    assert sum(b"GPU machine code of" in entry.read_bytes() for entry in entries) == 2
    run(program + f"assert done == {linked[1::2]}, done", KRAIT_CACHE_DIR=str(folder))
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    run(program + f"assert done == {linked}, done", KRAIT_CACHE_DIR=str(folder))
    run(program + f"assert done == {linked[1::2]}, done", KRAIT_CACHE_DIR=str(folder))
    # what the driver does not take any more is compiled anew
    run("fake.fake_fail(b'ModuleLoadDataEx', 0, 209)\n" + program +
        "assert done == ['LinkComplete'] + ['ModuleLoadDataEx of machine code'] * 2, done", KRAIT_CACHE_DIR=str(folder))
    run(program + "assert done == [], done", KRAIT_CACHE="0")


def test_arrays_are_freed_at_once_and_refused_then(run):
    run("""
        s = cuda.external_stream(fake.fake_stream(0))
        x, y = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        add[1, 128, s](x, y)
        calls()
        x.free()
        x.free()
        assert sum("MemFreeAsync" in call for call in calls()) == 1 and not violations() and fake.fake_live() == 1
        with cuda.device_array(100) as z:
            assert fake.fake_live() == 2
        assert fake.fake_live() == 1 and z.size == 0
        for use in (lambda: add[1, 128](x, y), lambda: x + y, lambda: x.copy_to_host(), lambda: y.copy_to_device(x),
                    lambda: x.sum(), lambda: np.add(y, x), x.get_ipc_handle, lambda: x.__dlpack__()):
            try:
                use()
            except RuntimeError as error:
                assert "gone" in str(error), error
            else:
                raise AssertionError
        cuda.close()
        try:
            add[1, 128](y, y)
        except RuntimeError as error:
            assert "its device was reset" in str(error)
        else:
            raise AssertionError
    """)


def test_arrays_that_kernels_capture_are_looked_at_by_each_launch(run):
    """As arguments are: they are there, on the launch's GPU, and freed behind the streams of the launches."""
    run("""
        import gc

        def capturing(array):
            @cuda.jit
            def kernel(out):
                i = cuda.grid(1)
                if i < array.size:
                    out[i] += array[i]

            return kernel

        def refused(launch, error, text):
            for _ in range(2):
                calls()
                try:
                    launch()
                except error as caught:
                    assert type(caught) is error and text in str(caught), caught
                else:
                    raise AssertionError(text)
                assert not any("LaunchKernel" in call for call in calls())

        out, host = cuda.to_device(np.zeros(100)), np.zeros(100)
        streams = [cuda.external_stream(fake.fake_stream(0)) for _ in range(3)]
        for free in (False, True):
            array = cuda.to_device(np.ones(100))
            kernel = capturing(array)
            for _ in range(2):
                for number, s in enumerate(streams):
                    calls()
                    kernel[1, 128, s](out)
                    assert calls()[-1] == f"LaunchKernel {number + 2}"
            kernel[1, 128, streams[0]](host)
            calls()
            if free:
                array.free()
                done = calls()
                for launch in (lambda: kernel[1, 128](out), lambda: kernel[1, 128, streams[1]](out),
                               lambda: kernel[1, 128](host), lambda: kernel.forall(100)(out)):
                    refused(launch, RuntimeError, "memory is gone")
                refused(lambda: capturing(array)[1, 128](out), RuntimeError, "memory is gone")
            else:
                kernel = array = None
                gc.collect()  # launchers and their kernel
                done = calls()
            number = int(next(call for call in done if "MemFreeAsync" in call).split()[-1])
            for stream in (2, 3, 4):
                assert stream == number or f"StreamWaitEvent {number}" in done[done.index(f"EventRecord {stream}"):]
            assert fake.fake_live() == 1 and not violations(), violations()

        # a view, whose base stays as long as it is there
        base = cuda.to_device(np.ones(100))
        part = base[::2]
        kernel = capturing(part)
        kernel[1, 128, streams[0]](out)
        refused(base.free, BufferError, "in use by a view")
        del base, part
        calls()
        kernel[1, 128, streams[0]](out)
        kernel[1, 128](out)
        kernel = None
        gc.collect()
        assert any("MemFreeAsync" in call for call in calls()) and not violations() and fake.fake_live() == 1

        # a graph keeps it
        array = cuda.to_device(np.ones(100))
        kernel = capturing(array)
        for _ in range(2):  # compiled while it is recorded, then known
            with cuda.graph() as g:
                kernel[1, 128](out)
            refused(array.free, BufferError, "in use by a graph")
            g.update(0, out)
        del array, kernel
        gc.collect()
        calls()
        g.launch(streams[1])
        assert fake.fake_live() == 2
        del g
        gc.collect()
        done = calls()
        number = next(call for call in done if "MemFreeAsync" in call).split()[-1]
        assert number == "3" or f"StreamWaitEvent {number}" in done[done.index("EventRecord 3"):], done
        assert fake.fake_live() == 1 and not violations(), violations()

        # functions of elements
        array = cuda.to_device(np.ones(100))
        @krait.vectorize(target="cuda")
        def plus(x):
            return x + array[3]

        plus(out, stream=streams[0])
        calls()
        array.free()
        assert "EventRecord 2" in calls()
        refused(lambda: plus(out), RuntimeError, "memory is gone")
        array = cuda.to_device(np.ones(100))  # another array: other code
        plus(out)

        # the other GPU
        with cuda.gpus[1]:
            there, target = cuda.to_device(np.ones(100)), cuda.to_device(np.zeros(100))
        kernel = capturing(there)
        for _ in range(3):
            kernel[1, 128](target)
        calls()
        for launch in (lambda: kernel[1, 128](out), lambda: kernel[1, 128](host)):
            refused(launch, ValueError, "GPUs, 0 and 1")
        kernel[1, 128](target)
        assert any("LaunchKernel" in call for call in calls())
        with cuda.gpus[1]:
            kernel[1, 128](host)
            refused(lambda: kernel[1, 128](out), ValueError, "GPUs, 0 and 1")

        kernel = capturing(out)
        kernel[1, 128](out), kernel[1, 128](out)
        cuda.close()
        fresh = cuda.to_device(np.zeros(100))
        calls()
        refused(lambda: kernel[1, 128](fresh), RuntimeError, "its device was reset")
        assert not violations(), violations()
    """, FAKE_GPUS="2")


def test_memory_report(run):
    run("""
        report = cuda.memory_report()
        x, y = cuda.device_array(1000), cuda.device_array(10, "u1")
        view = x[:10]
        now = cuda.memory_report()
        assert (now.arrays - report.arrays, now.array_bytes - report.array_bytes) == (2, 8010)
        assert now.pool_used == 8010 and now.pool_bytes == now.pool_used or now.pool_bytes == 2**20
        assert "2 device arrays" in str(now) and now.total == 2**30
        del x, view
        after = cuda.memory_report()
        assert after.arrays == 1 and after.array_bytes == 10 and after.most_bytes == 8010
    """)


def test_arrays_move_to_memory_that_can_be_shared(run):
    run("""
        x = cuda.to_device(np.arange(10.0))
        part = x[2:5]
        handle = part.get_ipc_handle()
        done = calls()
        assert done.index("CtxSynchronize") < done.index("MemcpyDtoDAsync 0") < done.index("IpcGetMemHandle"), done
        assert (x.copy_to_host() == np.arange(10)).all() and (part.copy_to_host() == [2, 3, 4]).all()
        add[1, 32](x, x), add[1, 32](part, part)
        with handle as there:
            assert (there.copy_to_host() == [2, 3, 4]).all() and there.shape == (3,)
        assert "IpcOpenMemHandle" in calls()
        x.get_ipc_handle()
        assert [call for call in calls() if "Ipc" in call or "cpy" in call] == ["IpcGetMemHandle"]  # it is there
        known = cuda.to_device(np.ones(3))
        known.__cuda_array_interface__
        try:
            known.get_ipc_handle()
        except BufferError as error:
            assert "its address is known elsewhere" in str(error)
        else:
            raise AssertionError
        fake.fake_fail(b"IpcOpenMemHandle", 0, 201)
        try:
            handle.open()
        except krait.errors.CudaError as error:
            assert "opening memory of another process" in str(error)
        del x, part, there, handle, known
        assert fake.fake_live() == 0 and not violations(), violations()
    """)


def test_an_array_moves_while_other_threads_run(run):
    """What one of them has done with the array meanwhile moves with it."""
    run("""
        import threading, time

        x, ones, made = cuda.to_device(np.zeros(10)), cuda.to_device(np.ones(10)), []
        streams = [0, cuda.stream(), cuda.external_stream(fake.fake_stream(0))]
        for stream in streams:
            add[1, 32, stream](x, ones)
        for stream in streams:
            y = x.copy()
            calls()
            fake.fake_hold(1)
            taking = threading.Thread(target=lambda: made.append(y.get_ipc_handle()))
            taking.start()
            while "CtxSynchronize" not in "".join(calls()):  # it waits, and this thread has the lock
                time.sleep(0.001)
            y.copy_to_device(ones, stream=stream)
            fake.fake_hold(0)
            taking.join()
            assert (y.copy_to_host() == 1).all() and len(made) == 1, (stream, y.copy_to_host())
            copies = [call for call in calls() if "DtoD" in call]
            assert len(copies) == 3, (stream, copies)  # one of them is this thread's
            made.clear(), add[1, 32, stream](y, ones)
        del x, y, ones
        assert not violations(), violations()
    """)


def test_an_array_that_is_never_left_alone_does_not_move(run):
    run("""
        import sys, threading

        x, told = cuda.to_device(np.ones(10)), []

        def take():
            try:
                x.get_ipc_handle()
            except BufferError as error:
                told.append(str(error))

        sys.setswitchinterval(1e-6)
        taking = threading.Thread(target=take)
        taking.start()
        while taking.is_alive():
            x.copy_to_device(np.ones(10))
        assert (x.copy_to_host() == 1).all() and fake.fake_live() == 1
        assert all("it: take the handle before or after" in text for text in told), told
        handle = x.get_ipc_handle()
        assert (x.copy_to_host() == 1).all() and not violations(), violations()
    """)


def test_parts_of_graphs_with_conditions(run):
    run("""
        word = cuda.to_device(np.ones(1, np.int32))
        x, y = cuda.to_device(np.zeros(100)), cuda.to_device(np.ones(100))
        add[1, 128](x, y)
        calls()
        with cuda.graph() as g:
            with g.if_(word):
                add[1, 128](x, y)
                with g.while_(word):
                    add[1, 128](y, x)
            add[1, 128](x, x)
        done = [line for line in calls() if "Capture" in line or "captured" in line or "conditional" in line]
        begin, kernel, end = "StreamBeginCaptureToGraph", "captured LaunchKernel", "StreamEndCapture"
        assert done == ["StreamBeginCapture", kernel, "conditional node if", begin, kernel, kernel,
                        "conditional node while", begin, kernel, kernel, end, end, kernel, end], done
        g.launch()
        del x, y, word, g
        assert not violations() and fake.fake_live() == 0, violations()

        # what fails leaves nothing open
        word, x = cuda.to_device(np.ones(1, np.int32)), cuda.to_device(np.zeros(100))
        for name in (b"GraphConditionalHandleCreate", b"GraphAddNode", b"StreamBeginCaptureToGraph"):
            fake.fake_fail(name, 0, 801)
            try:
                with cuda.graph() as g, g.while_(word):
                    add[1, 128](x, x)
            except krait.errors.CudaError as error:
                assert "drivers of CUDA 12.4 and later" in str(error)
            else:
                raise AssertionError(name)
            with cuda.graph() as g, g.while_(word):
                add[1, 128](x, x)
            g.launch()
        assert not violations(), violations()
    """)


def test_a_recording_that_is_dropped_or_left_open_is_ended(run):
    run("""
        import gc

        word, x = cuda.to_device(np.ones(1, np.int32)), cuda.to_device(np.zeros(100))
        add[1, 128](x, x)

        def left(how):
            g = cuda.graph().__enter__()
            g.if_(word).__enter__()
            g.while_(word).__enter__()
            add[1, 128](x, x)
            if how == "open":
                try:
                    g.__exit__(None, None, None)
                except RuntimeError as error:
                    assert "is open in this graph" in str(error)

        for how in ("dropped", "open") * 3:
            calls()
            left(how)
            add[1, 128](x, x)
            done = [line for line in calls() if "EndCapture" in line or "Launch" in line or "Destroy" in line]
            tail = [line.split()[0] for line in done[-7:]]
            assert tail == ["StreamEndCapture", "StreamDestroy"] * 3 + ["LaunchKernel"], done
        g = cuda.graph()
        try:
            with g:
                try:
                    with g.if_(word):
                        add[1, 128](x, x)
                        raise KeyError
                except KeyError:
                    pass
                add[1, 128](x, x)
        except RuntimeError as error:
            assert "an exception left a block" in str(error)
        else:
            raise AssertionError
        del word, x, g
        assert not violations() and fake.fake_live() == 0, violations()
    """)


def test_what_the_driver_says_against_a_kernel_is_told(run):
    run("""
        x = cuda.to_device(np.ones(10))
        fake.fake_fail(b"ModuleLoadDataEx", 0, 218)
        try:
            add[1, 32](x, x)
        except krait.errors.CudaError as error:
            text = str(error)
            assert "did not accept the kernel: ptxas says: line 7, too many registers" in text, text
            assert "the fake driver failed (CUDA_ERROR_OF_THE_FAKE)" in text
        else:
            raise AssertionError
        add[1, 32](x, x)  # the next one is in order
    """)


def test_modules_of_others(run):
    run("""
        context, fake.fake_global.restype = cuda.current_context(), ctypes.c_void_p
        for module in (context.create_module_ptx(".version 7.0"), context.create_module_image(b"machine code")):
            function = module.get_function("f")
            assert function.handle and function.maxthreads == 1024 and function.module is module
            memory, size = module.get_global_symbol("krait_device_notes")
            assert size == 64 and memory.device_pointer_value == fake.fake_global(0) and memory.owner is module
            context.unload_module(module)
            for use in (lambda: module.get_function("f"), lambda: module.get_global_symbol("g")):
                try:
                    use()
                except RuntimeError as error:
                    assert "is unloaded" in str(error)
                else:
                    raise AssertionError
            context.unload_module(module)  # again
        for name in (b"ModuleLoadDataEx", b"ModuleGetGlobal"):
            fake.fake_fail(name, 0, 218)
            try:
                context.create_module_ptx("x").get_global_symbol("g")
            except krait.errors.CudaError as error:
                assert name != b"ModuleLoadDataEx" or "ptxas says: line 7" in str(error)
            else:
                raise AssertionError(name)
        for wrong in (5, "x", None):
            try:
                krait._krait.module_load(wrong)
            except TypeError:
                continue
            raise AssertionError(wrong)
    """)


def test_the_compiler_is_made_ready_while_the_driver_makes_its_context(run):
    """By a thread beside it, once; it gets no signals, and neither a fork nor the end of the process hurts it."""
    run("""
        import os, sys

        x = cuda.device_array(4)
        assert fake.fake_threads_meanwhile() == 2, fake.fake_threads_meanwhile()

        children = []
        for i in range(4):  # one of them, at least, begins while the thread compiles
            child = os.fork()
            if child == 0:
                assert krait.njit(lambda a: a * 2 + i)(20) == 40 + i
                os._exit(0)
            children.append(child)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        cuda.get_current_device().reset()
        cuda.device_array(4)  # a context of its own
        add[1, 4](np.ones(4), np.ones(4))

        program = "from krait import cuda; cuda.device_array(4)"  # it ends while the thread compiles
        import subprocess
        for _ in range(4):
            subprocess.run([sys.executable, "-c", program], check=True, timeout=100)
    """, KRAIT_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1")


# A sanitizer's own tables find no room in memory that is limited.
LIMITED = pytest.param("memory is limited", marks=pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""),
                                                                     reason="the sanitizer needs more"))


@pytest.mark.parametrize("why", ["one core", "all code is kept on disk", LIMITED, "no GPU is used"])
def test_nothing_is_made_ready_where_it_does_not_help(run, why, tmp_path):
    environment = {"one core": {"KRAIT_NUM_THREADS": "1"}, "no GPU is used": {"KRAIT_CUDA_DEVICE": "cpu"},
                   "all code is kept on disk": {"KRAIT_CACHE": "1", "KRAIT_CACHE_DIR": str(tmp_path)}}.get(why, {})
    run(f"""
        import resource

        if {why == "memory is limited"}:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 40, resource.RLIM_INFINITY))
        cuda.device_array(4)
        assert fake.fake_threads_meanwhile() <= 1
    """, **{"KRAIT_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", **environment})


@pytest.mark.parametrize("error,told", [(3, "'spawn'"), (803, "error 803"), (100, None), (34, None)])
def test_a_driver_that_does_not_start_is_told(run, error, told):
    run(f"""
        import warnings
        x = np.zeros(3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                add[1, 32](x, np.ones(3))
        texts = [str(warning.message) for warning in caught if warning.category is krait.errors.KraitWarning]
        assert (x == 2).all() and len(texts) == {0 if told is None else 1}, texts
        assert all("kernels run on this machine's cores" in text and {str(told)!r} in text for text in texts), texts
    """, FAKE_INIT=str(error), KRAIT_CUDA_DEVICE="auto")


def test_a_fork_is_explained(run):
    """The driver fails in a child of a process that used it; the child is told why, and ends in order."""
    run("""
        import os

        x = cuda.to_device(np.ones(10))
        add[1, 32](x, x)
        child = os.fork()
        if child == 0:
            fake.fake_fail(b"*", 0, 3)
            told = []
            for use in (lambda: add[1, 32](x, x), x.copy_to_host, lambda: cuda.device_array(1 << 20)):
                try:
                    use()
                except krait.errors.CudaError as error:
                    told.append("does not survive a fork: use the 'spawn'" in str(error))
            del x
            os._exit(0 if told == [True] * 3 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        add[1, 32](x, x)
        assert (x.copy_to_host() == 1).all() and not violations()
    """)


def test_a_ufunc_for_a_gpu_tells_and_pickles_the_types_it_has_kernels_for(run):
    run("""
        import pickle

        @krait.vectorize(target="cuda")
        def minus(a, b):
            return a - b

        function = minus
        del minus  # goes by value
        function(5.0, 3.0), function(5, 3), function(np.ones((3, 2))[:, :1], 2.0)
        assert function.types == ["ll->l", "dd->d"] and function.ntypes == 2
        function.disable_compile()
        copy = pickle.loads(pickle.dumps(function))
        assert copy.types == function.types
        copy(5, 3), copy(5.0, 3.0)
        for one in copy, function:  # others are cast to these, as NumPy casts operands to the loops of a ufunc
            assert one(np.float32(5), np.float32(3)).dtype == np.float64 and one(np.int8(5), 3).dtype == np.int64
            assert one(np.ones(3, np.uint32), 2).dtype == np.int64 and one(np.ones(3, np.uint64), 2).dtype == np.float64
            try:
                one(1j, 2)
            except TypeError as error:
                assert "disable_compile" in str(error)
            else:
                raise AssertionError
        assert copy.types == function.types == ["ll->l", "dd->d"]
    """)


def test_each_failure_of_the_driver_has_its_number_and_its_hint(run):
    """A CudaAPIError as Numba's, with `code` and `msg`; where the context is of no use any more, that is said."""
    run("""
        from krait.errors import CudaAPIError, CudaMemoryError

        for number, name, hint, ends in krait._krait.driver_errors():
            fake.fake_fail(b"*", 0, number)
            try:
                cuda.event()
            except CudaAPIError as error:
                assert error.code == number and error.msg == str(error) and hint in error.msg, name
                assert ("must be restarted" in error.msg) == ends, name
                assert isinstance(error, CudaMemoryError) == (number == 2), name
            else:
                raise AssertionError(name)
        fake.fake_fail(b"*", 0, 12345)
        try:
            cuda.event()
        except CudaAPIError as error:
            assert error.code == 12345 and "making an event: the fake driver failed" in str(error)
        fake.fake_fail(b"", 0, 0)
    """)


def test_a_driver_that_does_not_start_says_what_can_be_done(run):
    run("""
        errors = {number: hint for number, _, hint, _ in krait._krait.driver_errors()}
        try:
            cuda.device_array(3)
        except cuda.CudaSupportError as error:
            assert errors[803] in str(error) and "(error 803)" in str(error)
        else:
            raise AssertionError
    """, FAKE_INIT="803")


def test_memory_of_a_manager_is_given_back_behind_the_streams_that_used_it(run):
    """It gives and takes in the order of the default stream; launches with host arrays take theirs from it, too."""
    run("""
        class Manager(cuda.HostOnlyCUDAMemoryManager):
            interface_version = 1
            made = 0
            get_ipc_handle = get_memory_info = None

            def memalloc(self, size):
                Manager.made += 1
                pointer = ctypes.c_uint64()
                assert fake.cuMemAllocAsync(ctypes.byref(pointer), ctypes.c_size_t(size), None) == 0
                return cuda.MemoryPointer(self.context, pointer, size,
                                          finalizer=lambda: fake.cuMemFreeAsync(pointer, None))

        cuda.set_memory_manager(Manager)
        streams = [cuda.external_stream(fake.fake_stream(0)) for _ in range(6)]
        for count in range(7):
            x, y = cuda.to_device(np.zeros(100)), cuda.device_array(100, stream=streams[0])
            for s in streams[:count]:
                add[1, 128, s](x, y)
            view = x[:10]
            view.copy_to_host(stream=streams[-1])
            del x, y
            assert fake.fake_live() == 1
            del view
            assert fake.fake_live() == 0 and not violations(), (count, violations())
        made = Manager.made
        for s in 0, streams[0]:
            add[1, 128, s](np.zeros(100), np.ones(100))
            add[1, 128, s](cuda.In(np.zeros(100)), np.ones(100))
        assert Manager.made == made + 4 and fake.fake_live() == 0 and not violations(), violations()
        fake.fake_fail(b"LaunchKernel", 0, 700)
        try:
            add[1, 128](np.zeros(100), np.ones(100))
        except krait.errors.CudaAPIError:
            assert fake.fake_live() == 0
        fake.fake_fail(b"EventRecord", 0, 400)  # the stream is gone: then for all that there is
        x = cuda.to_device(np.zeros(100))
        add[1, 128, streams[0]](x, x)
        del x
        assert fake.fake_live() == 0 and not violations(), violations()
    """)


def test_a_graph_keeps_the_code_that_it_launches(run):
    """A kernel whose globals change again and again gives up its old code, which the graph launches still."""
    run("""
        import gc
        FACTOR = 0

        @cuda.jit
        def scaled(x):
            x[0] = FACTOR

        @krait.vectorize(["float64(float64)"], target="cuda")
        def twice(x):
            return 2 * x

        x = cuda.to_device(np.zeros(3))
        with cuda.graph() as graph:
            scaled[1, 1](x)
            twice(x, out=x)
        recorded = calls()
        for FACTOR in range(1, 30):
            scaled[1, 1](x)
        assert "ModuleUnload" in calls()  # of those in between
        del scaled, twice
        gc.collect()
        calls()
        graph.launch()
        assert not violations(), violations()
        assert calls() == ["GraphLaunch 0"]
        del graph
        gc.collect()
        assert calls().count("ModuleUnload") >= 2
    """)


def test_graphs_whose_blocks_wait_for_each_other_take_turns(run):
    """The launches of such a kernel share the word that its blocks count in: never two at once, on whatever streams."""
    run("""
        @cuda.jit
        def meets(x):
            cuda.cg.this_grid().sync()
            x[0] = 1

        x = cuda.to_device(np.zeros(3))
        s, t = (cuda.external_stream(fake.fake_stream(0)) for _ in "st")
        calls()
        meets[1, 1, s](x)
        assert [line for line in calls() if "LaunchKernel" not in line and "attribute" not in line] == ["EventRecord 2"]
        graphs = []
        for _ in range(2):
            with cuda.graph() as graph:
                meets[1, 1](x)
                meets[1, 1](x)
            graphs.append(graph)
        calls()
        for graph, number, stream in (graphs[0], 2, s), (graphs[1], 3, t), (graphs[0], 2, s):
            graph.launch(stream)
            done = [line for line in calls() if "Graph" in line or line.startswith(("StreamWait", "EventRecord"))]
            assert done[-3:] == [f"StreamWaitEvent {number}", f"GraphLaunch {number}", f"EventRecord {number}"], done
        meets[1, 1, t](x)
        done = calls()
        assert done[0] == "StreamWaitEvent 3" and done[-1] == "EventRecord 3" and not violations(), done
    """)


@pytest.mark.parametrize("pools", [True, False])
def test_frees_that_would_wait_are_put_off_in_a_block_that_asks_for_it(run, pools):
    run("""
        import gc

        def waits():
            return [line for line in calls() if line in ("CtxSynchronize", "MemFree", "GraphExecDestroy")]

        def drop():
            x, y = cuda.to_device(np.zeros(100)), cuda.device_array(100)
            with cuda.graph() as graph:
                x.copy_to_device(y)
            m = cuda.mapped_array(100)
            calls()

        drop()
        assert "CtxSynchronize" in waits()
        with cuda.defer_cleanup():
            with cuda.defer_cleanup():
                drop()
                gc.collect()
            assert waits() == []
        done = waits()
        assert "CtxSynchronize" in done and "GraphExecDestroy" in done and fake.fake_live() == 0, done
        with cuda.defer_cleanup():
            drop()
            fake.fake_fail(b"MemAllocAsync" if POOLS else b"MemAlloc", 0, 2)
            cuda.device_array(100)
            assert "GraphExecDestroy" in waits()  # out of memory
        assert not violations() and fake.fake_live() == 0
    """.replace("POOLS", str(pools)), **({} if pools else {"FAKE_NO_POOLS": "1"}))
