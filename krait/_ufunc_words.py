"""What NumPy's refusals of a ufunc's operands leave out: which types the ufunc has, and what to convert.

In: the text of an exception that a call raised, and the ufunc.  Out: the text with what to do, or None: it is about
something else.
"""

import re

import numpy as np

MOST = 4  # types that are listed


def explained(text, ufunc):
    if "did not contain a loop with signature" in text or "not supported for the input types" in text:
        inputs = dict.fromkeys(types.split("->")[0] for types in ufunc.types)
        if any(kind in text for kind in ("StrDType", "ObjectDType", "BytesDType")) or not inputs:
            return f"{text}; {ufunc.__name__} takes numbers and arrays of numbers, no texts and no objects"
        there = [f"({', '.join(np.dtype(code).name for code in codes)})" for codes in inputs]
        there[MOST:] = ["..."] if len(there) > MOST else []
        last = np.dtype(list(inputs)[-1][0]).name
        return (f"{text}; {ufunc.__name__} has {' and '.join(there)}: convert the operand, x.astype(np.{last}), or "
                "decorate with the signature that is meant")
    match = re.search(r"Output operand (\d+) has core dimension (\d+) unspecified", text)
    if match:
        return (f"{text}; no input says how long it is: give the array of the result, {ufunc.__name__}(..., "
                "out=np.empty(...))")
    return None
