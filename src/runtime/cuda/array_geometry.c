/* array_geometry.c: extents, strides and layouts of device arrays. */
#include "runtime/cuda/device_array.h"

#include <stdlib.h> /* llabs */

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

/* C wins when an array is both, as a vector is; an array without elements is C. */
ArrayLayout geometry_layout(unsigned ndim, const int64_t *shape, const int64_t *strides, int64_t item) {
    bool c = true, f = true;
    int64_t expected = item;
    for (unsigned i = 0; i < ndim; i++)
        if (shape[i] == 0) return LAYOUT_C;
    for (unsigned i = ndim; i-- > 0;) {
        c = c && (shape[i] == 1 || strides[i] == expected);
        expected *= shape[i];
    }
    expected = item;
    for (unsigned i = 0; i < ndim; i++) {
        f = f && (shape[i] == 1 || strides[i] == expected);
        expected *= shape[i];
    }
    return c ? LAYOUT_C : f ? LAYOUT_F : LAYOUT_A;
}

void geometry_fill_strides(unsigned ndim, const int64_t *shape, int64_t item, bool fortran, int64_t *strides) {
    int64_t stride = item;
    for (unsigned i = 0; i < ndim; i++) {
        unsigned axis = fortran ? i : ndim - 1 - i;
        strides[axis] = stride;
        stride *= shape[axis];
    }
}

/* Strides without gaps, the axes in the order of the magnitudes of other strides: as numpy.empty_like keeps the order
 * of an array that is neither C nor Fortran contiguous. */
void geometry_fill_strides_like(unsigned ndim, const int64_t *shape, int64_t item, const int64_t *like,
                                int64_t *strides) {
    unsigned axes[TYPE_MAX_NDIM + 1]; /* from the one whose elements are farthest apart */
    for (unsigned i = 0; i < ndim; i++) {
        unsigned at = i;
        for (; at > 0 && llabs(like[axes[at - 1]]) < llabs(like[i]); at--) axes[at] = axes[at - 1];
        axes[at] = i;
    }
    for (unsigned i = ndim; i-- > 0;) {
        strides[axes[i]] = item;
        item *= shape[axes[i]];
    }
}
