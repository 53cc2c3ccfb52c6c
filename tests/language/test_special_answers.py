"""What builtins make of what the special methods of a class give, and what they refuse."""

import operator
import re

import numpy as np
import pytest
from oracle import agree, make

from krait import njit
from krait.errors import KraitError


def using(method, body, use):
    text = f"class C:\n    def __init__(self, n):\n        self.n = n\n    def {method}(self):\n        return {body}\n"
    return make(f"{text}def f(n):\n    c = C(n)\n    return {use}", np=np, operator=operator)


@pytest.mark.parametrize("n", [3, -3])
@pytest.mark.parametrize(
    "method, body, use",
    [
        ("__len__", "np.int8(self.n)", "len(c)"),
        ("__len__", "self.n > 0", "len(c)"),
        ("__len__", "self.n", "1 if c else 2"),
        ("__len__", "np.uint64(2**63 - 1) + np.uint64(self.n > 0)", "len(c)"),
        ("__index__", "self.n > 0", "operator.index(c)"),
        ("__index__", "self.n", "(list(range(c)), 'abcdef'[c], [1, 2, 3, 4][c], np.arange(9)[c])"),
        ("__index__", "self.n", "(int(c), float(c), complex(c))"),
        ("__hash__", "self.n // 3", "hash(c)"),
        ("__hash__", "self.n > 0", "hash(c)"),
        ("__int__", "self.n > 0", "int(c)"),
        ("__float__", "np.float64(self.n)", "(float(c), complex(c))"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*strict subclass:DeprecationWarning")
def test_answers(method, body, use, n):
    agree(using(method, body, use), n)


@pytest.mark.parametrize(
    "method, body, use, words",
    [
        ("__len__", "2.5", "len(c)", "'float' object cannot be interpreted as an integer"),
        ("__len__", "np.float64(2)", "len(c)", "'numpy.float64' object cannot be interpreted as an integer"),
        ("__len__", "'abc'", "bool(c)", "'str' object cannot be interpreted as an integer"),
        ("__bool__", "self.n", "1 if c else 2", "__bool__ should return bool, returned int"),
        ("__bool__", "np.bool_(True)", "not c", "__bool__ should return bool, returned numpy.bool"),
        ("__index__", "np.int64(1)", "[1, 2][c]", "__index__ returned non-int (type numpy.int64)"),
        ("__hash__", "2.0", "{c: 1}", "__hash__ method should return an integer"),
        ("__int__", "2.5", "int(c)", "__int__ returned non-int (type float)"),
        ("__float__", "3", "float(c)", "__float__ returned non-float (type int)"),
        ("__complex__", "3.5", "complex(c)", "__complex__ returned non-complex (type float)"),
        ("__str__", "3", "f'{c}'", "__str__ returned non-string (type int)"),
        ("__repr__", "3", "repr(c)", "__repr__ returned non-string (type int)"),
    ],
)
def test_answers_of_another_class(method, body, use, words):
    f = using(method, body, use)
    with pytest.raises(TypeError) as interpreted:
        f(3)
    assert words in str(interpreted.value)
    with pytest.raises(KraitError, match=re.escape(words)):
        njit(f)(3)
