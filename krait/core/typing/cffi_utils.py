"""Types of cffi as types of compiled code, under the name that they have in Numba."""

from ... import types


def _number(ctype):
    import cffi

    ffi = cffi.FFI()
    named = {"_Bool": types.boolean, "float": types.float32, "double": types.float64, "char": types.int8,
             "_cffi_float_complex_t": types.complex64, "_cffi_double_complex_t": types.complex128}
    if ctype.cname in named:
        return named[ctype.cname]
    try:
        kind = "int" if int(ffi.cast(ctype, -1)) < 0 else "uint"
    except TypeError:  # a character
        raise TypeError(f"{ctype.cname} has no type in compiled code") from None
    found = getattr(types, f"{kind}{8 * ffi.sizeof(ctype)}", None)
    if found is None or "long double" in ctype.cname:
        raise TypeError(f"{ctype.cname} has no type in compiled code")
    return found


def _field(ctype, use_record_dtype):
    if ctype.kind != "array":
        return map_type(ctype, use_record_dtype)
    shape = []
    while ctype.kind == "array":
        shape.append(ctype.length)
        ctype = ctype.item
    return types.NestedArray(dtype=map_type(ctype, use_record_dtype), shape=tuple(shape))


def _record(ctype, use_record_dtype):
    import cffi

    if not use_record_dtype:
        raise TypeError(f"{ctype.cname}: a structure is a Record where use_record_dtype=True")
    if any(field.bitsize >= 0 for _, field in ctype.fields):
        raise ValueError(f"{ctype.cname}: a field of some bits has no type")
    fields = [
        (name, {"type": _field(field.type, use_record_dtype), "offset": field.offset}) for name, field in ctype.fields
    ]
    ffi = cffi.FFI()
    aligned = all(field.offset % ffi.alignof(field.type) == 0 for _, field in ctype.fields)
    return types.Record(fields, size=ffi.sizeof(ctype), aligned=aligned)


def map_type(cffi_type, use_record_dtype=False):
    """The type that a type of cffi (`ffi.typeof("...")`) is in compiled code: a number, a CPointer, voidptr, the
    signature of a function, or, with `use_record_dtype`, a Record.

    Raises TypeError for what has none, ValueError for fields of some bits."""
    kind = cffi_type.kind
    if kind == "void":
        return types.void
    if kind == "function":
        arguments = [map_type(argument, use_record_dtype) for argument in cffi_type.args]
        return map_type(cffi_type.result, use_record_dtype)(*arguments)
    if kind == "pointer" and cffi_type.item.kind == "function":
        return map_type(cffi_type.item, use_record_dtype)
    if kind == "pointer":
        item = cffi_type.item
        return types.voidptr if item.kind == "void" else types.CPointer(map_type(item, use_record_dtype))
    if kind == "struct":
        return _record(cffi_type, use_record_dtype)
    if kind in ("primitive", "enum"):
        return _number(cffi_type)
    raise TypeError(f"{cffi_type.cname} has no type in compiled code")
