/* array_geometry.c: what a device array can hold, and how many items (strides and layouts: ir/strided.h). */
#include "runtime/cuda/device_array.h"

int64_t geometry_count(unsigned ndim, const int64_t *shape) {
    int64_t count = 1;
    for (unsigned i = 0; i < ndim; i++) count *= shape[i];
    return count;
}

/* The Scalar of a NumPy dtype; -1 with TypeError if compiled code has none. */
int geometry_scalar(PyArray_Descr *dtype) {
    if (PyDataType_ISNOTSWAPPED(dtype))
        for (int i = 0; i < SCALAR_COUNT; i++)
            if (scalar_info[i].kind == dtype->kind && scalar_info[i].bytes == PyDataType_ELSIZE(dtype)) return i;
    PyErr_Format(PyExc_TypeError, "a device array cannot hold elements of type %S", dtype);
    return -1;
}
