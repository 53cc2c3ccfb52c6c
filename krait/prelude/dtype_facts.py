"""numpy.finfo and numpy.iinfo: their facts as named tuples, known when a function is compiled."""

from typing import NamedTuple

import numpy as np


class FloatFacts(NamedTuple):
    bits: int
    eps: np.floating
    epsneg: np.floating
    iexp: int
    machep: int
    max: np.floating
    maxexp: int
    min: np.floating
    minexp: int
    negep: int
    nexp: int
    nmant: int
    precision: int
    resolution: np.floating
    smallest_normal: np.floating
    smallest_subnormal: np.floating
    tiny: np.floating


class IntegerFacts(NamedTuple):
    bits: int
    kind: str
    max: int
    min: int


def _float_facts(dtype):
    facts = np.finfo(dtype)
    return FloatFacts(*(getattr(facts, name) for name in FloatFacts._fields))


def _integer_facts(dtype):
    facts = np.iinfo(dtype)
    return IntegerFacts(facts.bits, facts.kind, facts.max if facts.bits < 64 else dtype(facts.max), facts.min)


FLOAT16 = _float_facts(np.float16)
FLOAT32 = _float_facts(np.float32)
FLOAT64 = _float_facts(np.float64)
INT8 = _integer_facts(np.int8)
INT16 = _integer_facts(np.int16)
INT32 = _integer_facts(np.int32)
INT64 = IntegerFacts(64, "i", 2**63 - 1, -(2**63))
UINT8 = _integer_facts(np.uint8)
UINT16 = _integer_facts(np.uint16)
UINT32 = _integer_facts(np.uint32)
UINT64 = _integer_facts(np.uint64)


def finfo(dtype):
    if np.dtype(dtype).kind != "f" and np.dtype(dtype).kind != "c":
        raise ValueError(f"data type {np.dtype(dtype).name!r} not inexact")
    if np.dtype(dtype).name == "bfloat16":
        raise ValueError("data type 'bfloat16' not inexact")  # NumPy's own finfo knows its own types
    if np.dtype(dtype) == np.float16:
        return FLOAT16
    if np.dtype(dtype) == np.float32 or np.dtype(dtype) == np.complex64:
        return FLOAT32
    return FLOAT64


def iinfo(int_type):
    if np.dtype(int_type) == np.int8:
        return INT8
    if np.dtype(int_type) == np.int16:
        return INT16
    if np.dtype(int_type) == np.int32:
        return INT32
    if np.dtype(int_type) == np.int64:
        return INT64
    if np.dtype(int_type) == np.uint8:
        return UINT8
    if np.dtype(int_type) == np.uint16:
        return UINT16
    if np.dtype(int_type) == np.uint32:
        return UINT32
    if np.dtype(int_type) == np.uint64:
        return UINT64
    raise ValueError(f"Invalid integer data type {np.dtype(int_type).kind!r}.")
