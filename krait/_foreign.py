"""Compiled functions as other libraries' objects."""


def cffi_function(cfunc, declaration):
    """A cfunc as a function pointer of cffi, which keeps it alive."""
    import cffi

    ffi = cffi.FFI()
    return ffi.gc(ffi.cast(declaration, cfunc.address), lambda pointer, alive=cfunc: None)
