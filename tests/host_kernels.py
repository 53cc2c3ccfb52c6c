"""Kernels that several tests of the host device launch, a function that several compile, processes for what may
hang."""

import os
import subprocess
import sys

from krait import cuda, int64


def run_in_child(code, **environment):
    """Runs Python text in a process of its own, with a time limit that a hang meets; returns what it printed."""
    result = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, KRAIT_CUDA_DEVICE="cpu", **environment),
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


def added_up(items):
    s = 0.0
    for item in items:
        s += item
    return s


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def block_sums(x, out):
    partial = cuda.shared.array(256, int64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = 0
    if i < x.size:
        partial[t] = x[i]
    cuda.syncthreads()
    width = 128
    while width > 0:
        if t < width:
            partial[t] += partial[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[cuda.blockIdx.x] = partial[0]


@cuda.jit
def early_exit(out):
    t = cuda.threadIdx.x
    if t >= 10:
        return
    out[t] = 1
    cuda.syncthreads()
    out[t] += out[(t + 1) % 10]
    cuda.syncthreads()
    out[t] += 100
