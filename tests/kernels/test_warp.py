"""What the lanes of a warp do together: on the GPU if there is one, else on the host device."""

import numpy as np
import pytest
from conftest import host_device

from krait import cuda, errors

FULL = 0xFFFFFFFF
TYPES = [np.bool_, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64,
         np.complex64, np.complex128]
INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]


def values_of(dtype, n=64):
    raw = np.random.default_rng(7).integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8)
    if np.dtype(dtype).kind in "fc":
        return (np.arange(n) * 1.25 - 20 + (0.5j if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    return raw % 2 > 0 if dtype is np.bool_ else raw.view(dtype)


# ---- shuffles ----


@cuda.jit
def shuffle(x, by_number, up, down, crosswise):
    i = cuda.grid(1)
    lane = cuda.laneid
    by_number[i] = cuda.shfl_sync(FULL, x[i], (lane * 5 + 3) % 32)
    up[i] = cuda.shfl_up_sync(FULL, x[i], 3)
    down[i] = cuda.shfl_down_sync(FULL, x[i], lane % 7)
    crosswise[i] = cuda.shfl_xor_sync(-1, x[i], 9)


@pytest.mark.parametrize("dtype", TYPES)
def test_shuffles_move_values_of_every_type(dtype):
    x = values_of(dtype)
    results = [np.zeros_like(x) for _ in range(4)]
    shuffle[1, 64](x, *results)
    i, lane = np.arange(64), np.arange(64) % 32
    warp = i - lane
    down = np.where(lane + lane % 7 < 32, i + lane % 7, i)
    sources = (warp + (lane * 5 + 3) % 32, np.where(lane < 3, i, i - 3), down, warp + (lane ^ 9))
    for got, source in zip(results, sources):
        np.testing.assert_array_equal(got, x[source])


@cuda.jit
def sum_of_warp(x, out):
    total = x[cuda.grid(1)]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(FULL, total, distance)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = total


def test_a_sum_by_shuffles():
    x = np.arange(256, dtype=np.float32)
    out = np.zeros(8, np.float32)
    sum_of_warp[2, 128](x, out)
    np.testing.assert_array_equal(out, x.reshape(8, 32).sum(axis=1))


@cuda.jit
def shuffle_in_half(x, out):
    i = cuda.threadIdx.x
    if i < 16:
        out[i] = cuda.shfl_xor_sync(0xFFFF, x[i], 1)
    else:
        out[i] = cuda.shfl_sync(0xFFFF0000, x[i], 16)


def test_two_parts_of_a_warp_exchange_apart():
    x = np.arange(32.0)
    out = np.zeros(32)
    shuffle_in_half[1, 32](x, out)
    assert out.tolist() == [float(i ^ 1) for i in range(16)] + [16.0] * 16


@cuda.jit(device=True)
def scan(value):
    for distance in (1, 2, 4, 8, 16):
        below = cuda.shfl_up_sync(FULL, value, distance)
        if cuda.laneid >= distance:
            value += below
    return value


@cuda.jit
def scans(x, out):
    i = cuda.grid(1)
    out[i] = scan(x[i]) + 1000 * scan(i % 2)


def test_a_device_function_scans_twice():
    x = np.arange(64)
    out = np.zeros(64, np.int64)
    scans[1, 64](x, out)
    odd_so_far = (np.arange(32) + 1) // 2
    np.testing.assert_array_equal(out.reshape(2, 32), x.reshape(2, 32).cumsum(axis=1) + 1000 * odd_so_far)


# ---- votes, matches, masks ----


@cuda.jit
def votes(x, out):
    i = cuda.threadIdx.x
    out[0, i] = cuda.all_sync(FULL, x[i] < 100)
    out[1, i] = cuda.any_sync(FULL, x[i] == 5)
    out[2, i] = cuda.eq_sync(FULL, x[i] > 31)
    out[3, i] = cuda.ballot_sync(FULL, x[i] % 3)
    out[4, i] = cuda.lanemask_lt()
    out[5, i] = cuda.popc(cuda.ballot_sync(FULL, x[i] % 2 == 0) & cuda.lanemask_lt())


def test_votes():
    x = np.arange(64)
    out = np.full((6, 64), -1, np.int64)
    votes[1, 64](x, out)
    lane = np.arange(64) % 32
    ballots = [sum(1 << k for k in range(32) if (w * 32 + k) % 3) for w in range(2)]
    assert out[0].tolist() == [1] * 64
    assert out[1].tolist() == [1] * 32 + [0] * 32
    assert out[2].tolist() == [1] * 64
    assert out[3].tolist() == [ballots[i // 32] for i in range(64)]
    np.testing.assert_array_equal(out[4], (1 << lane) - 1)
    np.testing.assert_array_equal(out[5], (lane + 1) // 2)


@cuda.jit
def matches(x, any_, all_, same):
    i = cuda.threadIdx.x
    any_[i] = cuda.match_any_sync(FULL, x[i])
    mask, equal = cuda.match_all_sync(FULL, x[i])
    all_[i] = mask
    same[i] = equal


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.float16, np.float32, np.float64])
def test_matches(dtype):
    x = np.concatenate([np.arange(32) % 5, np.full(32, 7)]).astype(dtype)
    any_, all_, same = np.zeros(64, np.uint32), np.zeros(64, np.uint32), np.ones(64, np.int8)
    matches[1, 64](x, any_, all_, same)
    groups = [sum(1 << k for k in range(32) if k % 5 == r) for r in range(5)]
    assert any_.tolist() == [groups[i % 5] for i in range(32)] + [FULL] * 32
    assert all_.tolist() == [0] * 32 + [FULL] * 32
    assert same.tolist() == [0] * 32 + [1] * 32


@cuda.jit
def active(x, out):
    i = cuda.threadIdx.x
    if x[i] > 0:
        mask = cuda.activemask()
        leader = cuda.ffs(mask) - 1
        out[i] = cuda.shfl_sync(mask, i, leader)
        cuda.syncwarp(mask)
    else:
        out[i] = -cuda.popc(cuda.activemask())


def test_lanes_that_run_together_are_active():
    x = np.array([i % 4 == 1 for i in range(64)], np.int32)
    out = np.zeros(64, np.int64)
    active[1, 64](x, out)
    assert out.tolist() == [(i // 32 * 32 + 1 if i % 4 == 1 else -24) for i in range(64)]


# ---- reductions ----


@cuda.jit
def reduce_all(x, out):
    i = cuda.threadIdx.x
    out[0, i] = cuda.reduce_add_sync(FULL, x[i])
    out[1, i] = cuda.reduce_min_sync(FULL, x[i])
    out[2, i] = cuda.reduce_max_sync(FULL, x[i])
    out[3, i] = cuda.reduce_and_sync(FULL, x[i])
    out[4, i] = cuda.reduce_or_sync(FULL, x[i])
    out[5, i] = cuda.reduce_xor_sync(FULL, x[i])


@cuda.jit
def reduce_some(x, out, mask):
    i = cuda.threadIdx.x
    if mask >> (i % 32) & 1:
        out[0, i] = cuda.reduce_add_sync(mask, x[i])
        out[1, i] = cuda.reduce_min_sync(mask, x[i])
        out[2, i] = cuda.reduce_max_sync(mask, x[i])
        out[3, i] = cuda.reduce_and_sync(mask, x[i])
        out[4, i] = cuda.reduce_or_sync(mask, x[i])
        out[5, i] = cuda.reduce_xor_sync(mask, x[i])


REDUCTIONS = (np.add, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_reductions(dtype):
    x = values_of(dtype)
    for mask in (FULL, 0x00FF1248, 1):
        out = np.zeros((6, 64), dtype)
        lanes = np.array([i for i in range(32) if mask >> i & 1])
        if mask == FULL:
            reduce_all[1, 64](x, out)
        else:
            reduce_some[1, 64](x, out, mask)
        for row, ufunc in zip(out, REDUCTIONS):
            for warp in (0, 32):
                expected = ufunc.reduce(x[warp + lanes], dtype=dtype)
                assert (row[warp + lanes] == expected).all(), (ufunc, mask)
                assert (np.delete(row[warp : warp + 32], lanes) == 0).all()


# ---- mistakes ----


@cuda.jit
def skips_a_shuffle(out):
    i = cuda.threadIdx.x
    if i < 16:
        out[i] = cuda.shfl_sync(FULL, i, 20)


@host_device
def test_a_lane_that_is_missed_is_named():
    first = skips_a_shuffle.py_func.__code__.co_firstlineno
    with pytest.raises(errors.LaunchError, match=r"thread \(0, 0, 0\) waits") as caught:
        skips_a_shuffle[1, 32](np.zeros(32))
    assert "thread (16, 0, 0) and 15 more ended without it" in str(caught.value)
    assert caught.traceback[-1].lineno + 1 == first + 4


def test_match_on_a_gpu_that_has_none():
    @cuda.jit
    def kernel(out):
        out[0] = cuda.match_any_sync(-1, out[0])

    assert "match.any" in kernel.inspect_ptx("void(i8[::1])", compute_capability=(7, 0))
    with pytest.raises(errors.UnsupportedError, match="needs a GPU of compute capability 7.0, this is for 6.1"):
        kernel.inspect_ptx("void(i8[::1])", compute_capability=(6, 1))


@pytest.mark.parametrize("text, message", [
    ("cuda.shfl_sync(1.5, i, 0)", "shfl_sync"),
    ("cuda.shfl_sync(-1, (i, i), 0)", "shfl_sync"),
    ("cuda.reduce_add_sync(-1, 0.5)", "reduce_add_sync"),
    ("cuda.match_any_sync(-1, 1j)", "match_any_sync"),
])
def test_what_is_no_lane_value_is_refused(text, message):
    scope = {"cuda": cuda}
    exec(f"def kernel(out):\n    i = cuda.threadIdx.x\n    out[i] = {text}", scope)
    with pytest.raises(errors.TypingError, match=message):
        cuda.jit(scope["kernel"])[1, 32](np.zeros(32))


def test_masks_have_32_bits():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        odd = cuda.ballot_sync(0xFFFFFFFF, i % 2)
        same = cuda.match_any_sync(0xFFFFFFFF, i // 8)
        every, agreed = cuda.match_all_sync(0xFFFFFFFF, 5)
        out[i, 0] = cuda.popc(~odd)
        out[i, 1] = 31 - cuda.clz(odd)
        out[i, 2] = cuda.popc(same & cuda.lanemask_lt())
        out[i, 3] = cuda.brev(same)
        out[i, 4] = ~every if agreed else 1
        out[i, 5] = ~cuda.activemask() & odd
        out[i, 6] = odd.itemsize

    out = np.zeros((32, 7), np.int64)
    kernel[1, 32](out)
    lanes = np.arange(32)
    assert (out[:, 0] == 16).all() and (out[:, 1] == 31).all()
    assert (out[:, 2] == lanes % 8).all()
    assert out[:, 3].tolist() == [0xFF000000 >> 8 * (i // 8) for i in range(32)]
    assert (out[:, 4:6] == 0).all() and (out[:, 6] == 4).all()
