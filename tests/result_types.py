"""What tests of inference share: functions from their text, the typed form and the result type of a function."""

import math
import textwrap

import numpy as np

from krait import _testing

F32 = "array(float32, 1, C)"
F32_2 = "array(float32, 2, C)"


def typed(function, *types, **options):
    return _testing.stage(function, types, "typed", **options)


def result(function, *types, **options):
    """The result type of a function."""
    return typed(function, *types, **options).split(" {\n")[0].rsplit("-> ", 1)[1]


def make(source, name="f", **scope):
    scope = {"np": np, "math": math, **scope}
    exec(textwrap.dedent(source), scope)
    return scope[name]
