"""Arguments whose special methods raise, lie, or change an array while it is unpacked: an exception or the value that
the object stores, and the next call is right."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import host_device

from krait import cuda, jit


def boom(*_):
    raise RuntimeError("boom")


class RaisingInt(int):
    __index__ = __int__ = __eq__ = __hash__ = boom


class RaisingFloat(float):
    __float__ = boom


class RaisingTuple(tuple):
    __len__ = __getitem__ = __iter__ = boom


class RaisingList(list):
    __len__ = __getitem__ = __iter__ = boom


class RaisingInterface:
    __cuda_array_interface__ = property(boom)


class NegativeShape:
    __cuda_array_interface__ = {"shape": (-1,), "typestr": "<f8", "data": (0, False), "version": 3}


class NoShape:
    __cuda_array_interface__ = {"shape": "abc", "typestr": 5, "data": None, "version": "x"}


class NoCapsule:
    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *_, **__):
        return 7


class RaisingAttributes:
    def __getattribute__(self, name):
        raise RuntimeError(name)


class Resizing:
    "Frees the memory of the argument before it, while the arguments are read."

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        self.array.resize(100_000, refcheck=False)
        raise AttributeError


class RaisingMeta(type):
    __eq__ = __hash__ = boom


def raising_meta():
    return RaisingMeta("Class", (), {})()


def resizing():
    return Resizing(np.zeros(4))


A = np.zeros(4)
VALUES = [(RaisingInt, 3), (RaisingFloat, 2.0), (RaisingTuple, (1, 2)), (RaisingList, [1, 2])]
REFUSED = [RaisingInterface, NegativeShape, NoShape, NoCapsule, RaisingAttributes, resizing]

second = jit(lambda x, y: y)


@cuda.jit
def kernel(x, y):
    x[0] = 7


@host_device
@pytest.mark.parametrize("kind, value", VALUES, ids=lambda what: getattr(what, "__name__", ""))
def test_a_subclass_with_methods_of_its_own_is_refused_and_none_is_called(kind, value):
    with pytest.raises(TypeError, match="pass a plain " + type(value).__name__):
        second(A, kind(value))
    assert second(A, 1) == 1


@host_device
def test_a_class_that_cannot_be_compared_is_known_by_what_it_is():
    hostile = raising_meta()
    assert type(second(A, hostile)) is type(hostile) and second(A, 1) == 1
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        kernel[hostile, 4](A, 1)


@host_device
@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_what_lies_or_raises_is_refused(make):
    hostile = make()
    array = hostile.array if make is resizing else A.copy()
    for call in (lambda: second(array, hostile), lambda: kernel[1, 4](array, hostile),
                 lambda: kernel[hostile, 4](array, 1), lambda: kernel[1, 4, 0, hostile](array, 1)):
        with pytest.raises((TypeError, ValueError, BufferError, RuntimeError)):
            call()
    kernel[1, 4](array, 1)
    assert array[0] == 7 and second(array, 1) == 1


FORGETS = """
import types
import numpy as np
from krait import cuda, extending, njit
from krait.cuda import launchconfig

def ask(x):
    pass

@extending.overload(ask)
def typing(x):
    launch = launchconfig.ensure_current_launch_config()
    launch.pre_launch_callbacks.append(lambda kernel, launcher: kernel.recompile())
    return lambda x: None

@cuda.jit
def asks(x):
    ask(1)
    x[cuda.grid(1)] += 1

class Module(types.ModuleType):
    forget = []

    def __getattr__(self, name):
        if name != "five":
            raise AttributeError(name)
        while self.forget:
            self.forget.pop()()
        return 5

module = Module("module")

@cuda.jit
def reads(x):
    x[cuda.grid(1)] += module.five

@njit
def sums(x):
    return x + module.five

x = np.zeros(4)
for _ in range(2):
    asks[1, 4](x)  # the first launch compiles, and a function that it has called back forgets what was made
assert (x == 2).all(), x
for _ in range(3):
    reads[1, 4](x)
    assert sums(1) == 6
    module.forget[:] = [reads.recompile]
    reads[1, 4](x)
    module.forget[:] = [sums.recompile]
    assert sums.compile("int64(int64)") and sums(1) == 6
assert (x == 32).all(), x
"""


def test_code_that_runs_in_a_launch_may_forget_what_is_launched():
    environment = {**os.environ, "PYTHONMALLOC": "debug"}  # what was freed is overwritten
    done = subprocess.run([sys.executable, "-c", FORGETS], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
