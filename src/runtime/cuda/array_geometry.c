/* array_geometry.c: what a device array can hold, and how many items (strides and layouts: ir/strided.h). */
#include "runtime/cuda/device_array.h"

int64_t geometry_count(unsigned ndim, const int64_t *shape) {
    int64_t count = 1;
    for (unsigned i = 0; i < ndim; i++) count *= shape[i];
    return count;
}

const Type *geometry_element(const Runtime *runtime, PyArray_Descr *dtype, uintptr_t addresses) {
    const Type *element = PyDataType_ISNOTSWAPPED(dtype) ? marshal_element(runtime->marshal, dtype, addresses) : NULL;
    if (!element && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "a device array cannot hold elements of type %S: make an array of numbers, as np.array(values, "
                     "np.float64)",
                     dtype);
    return element;
}
