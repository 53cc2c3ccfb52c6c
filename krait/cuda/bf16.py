"""Arithmetic and conversions of bfloat16 in kernels, under Numba's names."""

import numpy as _np

from .. import types as _types
from . import _halves

bfloat16 = _types.bfloat16

# Numba's names of integers, and CUDA's.
_NAMES = {"int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
          "int64": "ll", "uint64": "ull"}
_BITS = {"int16": _np.int16, "uint16": _np.uint16}


def _conversions():
    yield "float32_to_bfloat16", "the nearest bfloat16", lambda x: bfloat16(_np.float32(x))
    yield "float64_to_bfloat16", "the nearest bfloat16", lambda x: bfloat16(_np.float64(x))
    yield "bfloat16_to_float32", "the same number", lambda x: _np.float32(bfloat16(x))
    for mode, rounded in _halves.roundings(bfloat16).items():
        yield f"float32_to_bfloat16_{mode}", f"a bfloat16, rounded {_WAYS[mode]}", rounded
    for name, c_name in _NAMES.items():
        for mode in _halves.MODES:
            if not name.endswith("t8"):
                yield (f"{name}_to_bfloat16_{mode}", f"a bfloat16, rounded {_WAYS[mode]}",
                       _halves.of_integer(bfloat16, c_name, mode))
            if not name.endswith("t8") or mode == "rz":
                yield (f"bfloat16_to_{name}_{mode}", f"an integer, rounded {_WAYS[mode]}",
                       _halves.to_integer(bfloat16, c_name, mode))
    for name, integer in _BITS.items():
        yield f"bfloat16_as_{name}", "its bits", _halves.bits_of(bfloat16, integer)
        yield f"{name}_as_bfloat16", "the bfloat16 of these bits", _halves.of_bits(bfloat16, integer)


_WAYS = {"rn": "to nearest even", "rz": "towards zero", "rd": "down", "ru": "up"}
for _part in (_halves.arithmetic, _halves.comparisons, _halves.elementary):
    _halves.add_to(globals(), _part(bfloat16))
_halves.add_to(globals(), {name: (doc, function) for name, doc, function in _conversions()})
del _part
