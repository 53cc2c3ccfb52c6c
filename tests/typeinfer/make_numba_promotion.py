"""Writes numba_promotion.json: the types Numba gives, asked of Numba itself.

    pip install numba==0.68.1 && python tests/typeinfer/make_numba_promotion.py

Run by hand when another version of Numba is to be followed; the tests read the file and need no Numba.  "binary" has
the result of each operator for each pair of types, "unary" of each type, "ufunc" that of NumPy's functions of scalars,
"join" the type of a variable that holds one type on one path and another on the other.  null: Numba refuses.
"""

import json
import operator
import warnings
from pathlib import Path

import numba
import numpy as np
from numba import types
from numba.core.registry import cpu_target

# Python's bool, int, float and complex are these types in Numba; float16 has no arithmetic on the host there.
NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
         "complex64", "complex128"]  # fmt: skip
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
UFUNCS = ["sqrt", "exp", "sin", "absolute", "square", "negative", "floor", "sign", "reciprocal", "isnan", "invert"]
UFUNCS_OF_TWO = ["add", "subtract", "multiply", "true_divide", "floor_divide", "remainder", "power", "maximum", "fmin",
                 "arctan2", "less", "bitwise_and"]  # fmt: skip


def numba_type(name):
    return types.boolean if name == "bool" else getattr(types, name)


def answer(context, function, *names):
    """The result type's name, or None where Numba refuses."""
    try:
        signature = context.resolve_function_type(
            context.resolve_value_type(function), tuple(map(numba_type, names)), {}
        )
    except Exception:
        return None
    return str(signature.return_type) if signature and str(signature.return_type) in NAMES else None


def main():
    warnings.simplefilter("ignore")
    context = cpu_target.typing_context
    context.refresh()
    pairs = [(a, b) for a in NAMES for b in NAMES]
    table = {
        "numba": numba.__version__,
        "binary": {s: {f"{a} {b}": answer(context, f, a, b) for a, b in pairs} for s, f in BINARY.items()},
        "unary": {s: {a: answer(context, f, a) for a in NAMES} for s, f in UNARY.items()},
        "ufunc": {s: {a: answer(context, getattr(np, s), a) for a in NAMES} for s in UFUNCS}
        | {s: {f"{a} {b}": answer(context, getattr(np, s), a, b) for a, b in pairs} for s in UFUNCS_OF_TWO},
        "join": {},
    }
    for a, b in pairs:
        joined = context.unify_types(numba_type(a), numba_type(b))
        table["join"][f"{a} {b}"] = str(joined) if str(joined) in NAMES else None
    path = Path(__file__).with_name("numba_promotion.json")
    path.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
