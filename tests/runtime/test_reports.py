"""What is told on request: profiler ranges, performance warnings; settings by Numba's names; blocks that the device
chooses."""

import os
import shutil
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from conftest import ON_HOST

import krait
from krait import cuda
from krait.errors import PerformanceWarning

COMPILER = shutil.which("cc") or shutil.which("gcc")
NVTX = """
#include <stdio.h>
int nvtxRangePushA(const char *text) { return fprintf(stderr, "push %s\\n", text), 0; }
int nvtxRangePop(void) { return fprintf(stderr, "pop\\n"), 0; }
void nvtxMarkA(const char *text) { fprintf(stderr, "mark %s\\n", text); }
"""
PROGRAM = """
from krait import cuda

@cuda.profile_range("function")
def work():
    cuda.profile_mark("here")
    return 3

with cuda.profile_range("outer"):
    assert work() == 3
try:
    with cuda.profile_range("fails"):
        raise KeyError
except KeyError:
    pass
"""


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.mark.skipif(not COMPILER, reason="no C compiler here")
def test_ranges_go_to_the_profiler(tmp_path):
    (tmp_path / "nvtx.c").write_text(NVTX)
    library = tmp_path / "libnvToolsExt.so.1"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, tmp_path / "nvtx.c"], check=True)
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    told = [line for line in done.stderr.splitlines() if line.split()[0] in ("push", "pop", "mark")]
    assert told == ["push outer", "push function", "mark here", "pop", "pop", "push fails", "pop"]


def test_ranges_without_a_profiler(tmp_path):
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 0 and "push" not in done.stderr


def test_nothing_is_told_unless_asked_for():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        double[1, 32](np.ones(32))


def test_low_occupancy_is_told():
    assert krait.config is cuda.config and krait.config.CUDA_LOW_OCCUPANCY_WARNINGS == 0
    kernel = cuda.jit(double.py_func)
    krait.config.CUDA_LOW_OCCUPANCY_WARNINGS = 1
    try:
        with pytest.warns(PerformanceWarning, match="kernel double: a grid of 2 blocks leaves most of a GPU idle"):
            kernel[2, 32]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kernel[128, 32], kernel[2, 32], kernel.forall(100)  # large; known; not chosen by the user
    finally:
        krait.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    assert krait.config.CUDA_LOW_OCCUPANCY_WARNINGS == 0


def test_implicit_copies_are_told():
    kernel = cuda.jit(double.py_func)
    cuda.config.CUDA_WARN_ON_IMPLICIT_COPY = True
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            kernel[1, 32](cuda.to_device(np.ones(32)))
            assert not told
            for _ in range(3):
                kernel[1, 32](np.ones(32))
        assert len(told) == (0 if ON_HOST else 1)  # where memory is shared nothing is copied
        assert all("host arrays are copied" in str(one.message) for one in told)
    finally:
        cuda.config.CUDA_WARN_ON_IMPLICIT_COPY = 0


@pytest.mark.parametrize("name", ["zzz", "TBB", "", None, 3])
def test_a_threading_layer_that_is_none(name):
    with pytest.raises(ValueError, match="no threading layer is named .*: there are 'pool', .*'omp', 'tbb'"):
        krait.config.THREADING_LAYER = name
    assert krait.config.THREADING_LAYER == "pool"


@pytest.mark.parametrize("name", ["default", "safe", "threadsafe", "forksafe", "workqueue", "omp", "tbb"])
def test_threading_layers_by_the_names_numba_has(name):
    try:
        krait.config.THREADING_LAYER = name
        assert krait.config.THREADING_LAYER == name and krait.threading_layer() == "pool"
    finally:
        krait.config.reload_config()
    assert krait.config.THREADING_LAYER == "pool"


def test_settings_from_the_environment(tmp_path):
    program = textwrap.dedent("""
        import krait, os, warnings
        from krait import config, cuda
        import krait.cuda.config
        assert krait.cuda.config is config
        assert config.CUDA_LOW_OCCUPANCY_WARNINGS == 1 and config.CUDA_WARN_ON_IMPLICIT_COPY == 0
        assert config.NUMBA_NUM_THREADS == config.NUMBA_DEFAULT_NUM_THREADS == 3
        assert config.DISABLE_CUDA == 1 and config.CACHE_DIR == os.environ["KRAIT_CACHE_DIR"]
        config.CACHE_DIR = "/nowhere/else"
        assert os.environ["KRAIT_CACHE_DIR"] == "/nowhere/else"
        config.THREADING_LAYER = "tbb"
        config.DISABLE_JIT = True
        config.reload_config()
        assert config.THREADING_LAYER == "pool" and not config.DISABLE_JIT and config.CUDA_DEFAULT_PTX_CC == (7, 5)
        @cuda.jit
        def k(x):
            x[0] = 1
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            k[1, 1]
        assert len(told) == 1
    """)
    subprocess.run([sys.executable, "-c", program], check=True, env={
        **os.environ, "KRAIT_CUDA_LOW_OCCUPANCY_WARNINGS": "1", "KRAIT_NUM_THREADS": "3", "KRAIT_CUDA_DEVICE": "cpu",
        "KRAIT_CACHE_DIR": str(tmp_path)})


@pytest.mark.parametrize("stream", [0, None])
def test_a_block_is_chosen(stream):
    @cuda.jit
    def count(x):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            x[i] += 1 if cuda.blockDim.x >= 32 and cuda.gridDim.x == 7 else 100

    x = cuda.to_device(np.zeros(5000))
    count[7, None, stream](x)
    assert (x.copy_to_host() == 1).all()
    with pytest.raises(TypeError):
        count[None, 32]
