"""Two GPUs of one host: arrays, launches, copies, streams and exceptions stay where they belong."""

import threading

import numpy as np
import pytest
from conftest import ON_HOST, gpu_count

from krait import cuda, vectorize

pytestmark = pytest.mark.skipif(ON_HOST or gpu_count() < 2, reason="needs two GPUs")


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def on(device, array):
    with cuda.gpus[device]:
        return cuda.to_device(array)


def device_of(array):
    return array.__dlpack_device__()[1]


@pytest.fixture(autouse=True)
def first_gpu():
    cuda.select_device(0)
    yield
    cuda.select_device(0)


def test_a_launch_goes_to_the_gpu_of_its_arrays():
    for device in (1, 0, 1):
        x, y, out = (on(device, np.full(1000, value)) for value in (1.0, 2.0, 0.0))
        add[8, 128](x, y, out)
        assert cuda.get_current_device().id == 0 and device_of(out) == device
        assert (out.copy_to_host() == 3).all()


def test_host_arrays_go_where_the_device_arrays_are():
    x, out = on(1, np.arange(1000.0)), np.zeros(1000)
    add[8, 128](x, np.ones(1000), out)
    assert (out == np.arange(1000) + 1).all() and cuda.get_current_device().id == 0


def test_arrays_of_two_gpus_are_refused_before_anything_runs():
    x, y, out = on(0, np.ones(100)), on(1, np.ones(100)), on(0, np.zeros(100))
    with cuda.gpus[1], pytest.raises(ValueError, match="lie on different GPUs, 0 and 1"):
        add[1, 128](x, y, out)  # GPU 1 is never let reach GPU 0 here
    add[1, 128](x, x, out)  # nothing is broken
    assert (out.copy_to_host() == 2).all()


def test_copies_between_gpus():
    rng = np.random.default_rng(0)
    for count in (1, 1000, 3_000_001):
        values = rng.random(count)
        here, there = on(0, values), on(1, np.zeros(count))
        there.copy_to_device(here)
        assert (there.copy_to_host() == values).all() and device_of(there) == 1
        here.copy_to_device(on(1, values[::-1].copy()))
        assert (here.copy_to_host() == values[::-1]).all()


def test_a_kernel_that_wrote_is_waited_for_by_a_copy_to_the_other_gpu():
    x, out, there = on(0, np.ones(1 << 22)), on(0, np.zeros(1 << 22)), on(1, np.zeros(1 << 22))
    for _ in range(20):
        add[1 << 14, 256](x, out, out)
        there.copy_to_device(out)
    assert (there.copy_to_host() == 20).all()


def test_peer_access_lets_a_kernel_read_the_other_gpu():
    context = cuda.current_context(0)
    if not context.can_access_peer(1):
        pytest.skip("the GPUs do not reach each other")
    context.enable_peer_access(1)
    context.enable_peer_access(1)  # once more is fine
    here, there = on(0, np.ones(100)), on(1, np.full(100, 2.0))
    view = cuda.from_cuda_array_interface({**there.__cuda_array_interface__}, owner=there)
    assert (view.copy_to_host() == 2).all() and here.size == 100
    for round in range(50):  # also large ones, whose launches take longer than the next call
        size = 100 if round % 2 else 1 << 22
        here, there, out = on(0, np.ones(size)), on(1, np.full(size, float(round))), on(1, np.zeros(size))
        add[(size + 127) // 128, 128](here, there, out)  # on GPU 0
        assert cuda.get_current_device().id == 0 and device_of(out) == 1
        with cuda.gpus[1]:
            add[(size + 127) // 128, 128](out, out, there)
        assert (there.copy_to_host() == 2 * (round + 1)).all()
    with cuda.gpus[1], pytest.raises(ValueError, match="lie on different GPUs"):
        add[1, 128](here, there, out)


def test_peer_access_lets_elementwise_functions_read_the_other_gpu():
    context = cuda.current_context(0)
    if not context.can_access_peer(1):
        pytest.skip("the GPUs do not reach each other")
    context.enable_peer_access(1)

    @vectorize(["float64(float64, float64)"], target="cuda")
    def plus(a, b):
        return a + b

    for round in range(30):
        size = 100 if round % 2 else 1 << 22
        here, there, out = on(0, np.ones(size)), on(1, np.full(size, float(round))), on(1, np.zeros(size))
        assert plus(here, there, out=out) is out and device_of(out) == 1
        assert device_of(there + here) == device_of(plus(there, here)) == 0
        with cuda.gpus[1]:
            out += out
        there += here
        assert (out.copy_to_host() == 2 * (round + 1)).all() and (there.copy_to_host() == round + 1).all()
    assert cuda.get_current_device().id == 0


def test_graphs_reach_the_other_gpu():
    context = cuda.current_context(0)
    if not context.can_access_peer(1):
        pytest.skip("the GPUs do not reach each other")
    context.enable_peer_access(1)
    size = 1 << 22
    here, there = on(0, np.ones(size)), on(1, np.zeros(size))
    with cuda.graph() as graph:
        for _ in range(4):
            add[(size + 127) // 128, 128](here, there, there)
    expected = 0
    for _ in range(20):
        graph.launch()
        with cuda.gpus[1]:
            add[(size + 127) // 128, 128](there, there, there)
        expected = (expected + 4) * 2
    assert (there.copy_to_host() == expected).all()


def test_each_thread_has_its_gpu():
    failures = []

    def work(device):
        try:
            cuda.select_device(device)
            for round in range(50):
                x, out = cuda.to_device(np.full(5000, float(round))), cuda.device_array(5000)
                add[40, 128](x, x, out)
                assert device_of(out) == device and cuda.get_current_device().id == device
                assert (out.copy_to_host() == 2 * round).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(device,)) for device in (0, 1, 0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and cuda.get_current_device().id == 0


def test_streams_and_events_of_the_other_gpu():
    with cuda.gpus[1]:
        stream, start, end = cuda.stream(), cuda.event(), cuda.event()
        x = cuda.to_device(np.ones(1 << 20), stream=stream)
        out = cuda.device_array(1 << 20, stream=stream)
        start.record(stream)
        add[1 << 12, 256, stream](x, x, out)
        end.record(stream)
    end.synchronize()
    assert start.elapsed_time(end) >= 0 and (out.copy_to_host(stream=stream) == 2).all()


def test_elementwise_functions_reductions_and_operators():
    @vectorize(["float64(float64, float64)"], target="cuda")
    def plus(a, b):
        return a + b

    x = on(1, np.arange(1000.0))
    total = plus(x, x)
    assert device_of(total) == 1 and (total.copy_to_host() == 2 * np.arange(1000)).all()
    assert x.sum() == 499500 and device_of(x * 2) == 1 and ((x * 2).copy_to_host() == 2 * np.arange(1000)).all()
    largest = cuda.Reduce(lambda a, b: max(a, b))
    assert largest(x) == 999
    assert cuda.get_current_device().id == 0


def test_everything_that_makes_an_array_makes_it_where_its_operand_is():
    values = np.arange(24.0).reshape(4, 6)
    x, rows = on(1, values), on(1, np.array([2, 0]))
    made = {
        "device_array_like": cuda.device_array_like(x), "copy": x.copy(), "astype": x.astype(np.int32),
        "sum of an axis": x.sum(axis=0), "mean": x.mean(axis=1), "argmax": x.argmax(axis=0), "compare": x > 3,
        "power": x**2, "negative": -x, "reflected": 2.0 - x, "numpy": np.sqrt(x), "take": x[[2, 0]],
        "take by an array": x[rows], "mask": x[values > 5], "ravel": x.T.ravel(), "flatten": x.flatten(),
        "cumsum": x.cumsum(axis=1), "clip": x.clip(2, 7), "scan": cuda.scan(lambda a, b: a + b)(x.ravel()),
    }
    assert {name: device_of(array) for name, array in made.items()} == dict.fromkeys(made, 1)
    for name, expected in {
        "sum of an axis": values.sum(axis=0), "mean": values.mean(axis=1), "argmax": values.argmax(axis=0),
        "compare": values > 3, "power": values**2, "numpy": np.sqrt(values), "take": values[[2, 0]],
        "mask": values[values > 5], "ravel": values.T.ravel(), "cumsum": values.cumsum(axis=1),
        "scan": np.cumsum(values),
    }.items():
        np.testing.assert_allclose(made[name].copy_to_host(), expected, rtol=1e-14, err_msg=name)
    x[1:3] = 7
    x[[0, 3]] = -1.0
    x += 1
    expected = values.copy()
    expected[1:3], expected[[0, 3]] = 7, -1
    np.testing.assert_array_equal(x.copy_to_host(), expected + 1)
    assert cuda.get_current_device().id == 0


def test_operands_on_two_gpus_are_refused():
    x, y = on(0, np.ones(10)), on(1, np.ones(10))
    for operation in (lambda: x + y, lambda: np.add(x, y), lambda: x.__iadd__(y), lambda: x > y):
        with cuda.gpus[1], pytest.raises(ValueError, match="different GPUs"):  # GPU 1 is never let reach GPU 0 here
            operation()
    x.copy_to_device(y)  # this is how they come together
    assert (x.copy_to_host() == 1).all()


def test_a_graph_records_one_gpu():
    x = on(1, np.ones(10))
    with pytest.raises(ValueError, match="records the work of GPU 0"), cuda.graph():
        add[1, 32](x, x, x)


def test_graphs_of_the_other_gpu():
    with cuda.gpus[1]:
        x, out = cuda.to_device(np.ones(256)), cuda.to_device(np.zeros(256))
        with cuda.graph() as graph:
            for _ in range(5):
                add[2, 128](x, out, out)
        graph.launch()
        graph.launch()
        cuda.synchronize()
    assert (out.copy_to_host() == 10).all()


def test_what_is_raised_and_printed_on_the_other_gpu_is_told_there(capsys):
    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        print("element", x[i])
        if x[i] < 0:
            raise ValueError(i, x[i])

    fine, bad = on(0, np.array([1.0])), on(1, np.array([-2.0]))
    k[1, 1](fine)
    k[1, 1](bad)
    cuda.synchronize()
    assert capsys.readouterr().out == "element 1.0\n"
    with cuda.gpus[1], pytest.raises(ValueError) as caught:
        cuda.synchronize()
    assert caught.value.args == (0, -2.0) and capsys.readouterr().out == "element -2.0\n"
    with pytest.raises(ValueError):
        k[1, 1](bad)
        bad.copy_to_host()


def test_memory_of_each_gpu_is_given_back():
    def used():
        cuda.synchronize()
        free, total = cuda.current_context().get_memory_info()
        return total - free

    with cuda.gpus[1]:
        warm = cuda.device_array(1 << 26, np.uint8)
        del warm
        before = used()
        for _ in range(50):
            block = cuda.device_array(1 << 26, np.uint8)
            del block
        assert used() <= before + (1 << 27)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_arrays_of_other_libraries_on_the_other_gpu(library):
    module = pytest.importorskip(library)
    if library == "torch":
        if not module.cuda.is_available() or module.cuda.device_count() < 2:
            pytest.skip("PyTorch sees fewer than two GPUs")
        x, out = (module.full((1000,), value, dtype=module.float64, device="cuda:1") for value in (1.0, 0.0))

        def host(array):
            return array.cpu().numpy()

    else:
        with module.cuda.Device(1):
            x, out = module.ones(1000), module.zeros(1000)
        host = module.asnumpy
    add[8, 128](x, x, out)
    with cuda.gpus[1]:
        cuda.synchronize()
    assert (host(out) == 2).all() and cuda.get_current_device().id == 0
    with cuda.gpus[1], pytest.raises(ValueError, match="different GPUs"):
        add[8, 128](x, on(0, np.ones(1000)), out)


def test_interleaved_launches_on_both():
    arrays = [[on(d, np.full(10000, float(i))) for i in range(4)] + [on(d, np.zeros(10000))] for d in (0, 1)]
    for round in range(30):
        for own in arrays:
            add[80, 128](own[round % 4], own[4], own[4])
    expected = sum(round % 4 for round in range(30))
    for own in arrays:
        assert (own[4].copy_to_host() == expected).all()
