/* array_guard.c: guards on arrays that compiled code knows from globals and closures.
 *
 * Compiled code has the address, shape, strides, dtype and flags of such an array built in; all of them can change in
 * place (a.shape = ..., a.resize(...), a.flags.writeable = ...).  Input: an array.  Output: a Guard that keeps it alive
 * and knows what they were; the check compares them, before the code touches the memory. */
#define NO_IMPORT_ARRAY
#define NPY_NO_DEPRECATED_API  NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION     NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL krait_frontend_array_api
#include "frontend/frontend_private.h"

#include <string.h> /* memcmp */

#include <numpy/arrayobject.h> /* PyArrayObject */

typedef struct ArrayState { /* what the guard's value, a bytes object, holds */
    void *data;
    int flags, ndim;
    npy_intp axes[]; /* shape, strides */
} ArrayState;

enum {
    KNOWN_FLAGS = NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS,
};

bool guard_array_holds(const Guard *guard) {
    PyArrayObject *array = (PyArrayObject *)guard->holder;
    const ArrayState *was = (const ArrayState *)PyBytes_AS_STRING(guard->value);
    size_t ndim = (size_t)was->ndim;
    return PyArray_DATA(array) == was->data && (PyArray_FLAGS(array) & KNOWN_FLAGS) == was->flags &&
           PyArray_NDIM(array) == was->ndim && (PyObject *)PyArray_DESCR(array) == guard->name &&
           (ndim == 0 || (memcmp(PyArray_DIMS(array), was->axes, ndim * sizeof *was->axes) == 0 &&
                          memcmp(PyArray_STRIDES(array), was->axes + ndim, ndim * sizeof *was->axes) == 0));
}

bool name_array(Frontend *frontend, PyObject *object) {
    PyArrayObject *array = (PyArrayObject *)object;
    size_t ndim = (size_t)PyArray_NDIM(array);
    Py_ssize_t bytes = (Py_ssize_t)(sizeof(ArrayState) + 2 * ndim * sizeof(npy_intp));
    PyObject *value = frontend_keep(frontend, PyBytes_FromStringAndSize(NULL, bytes));
    if (!value) return false;
    ArrayState *state = (ArrayState *)PyBytes_AS_STRING(value);
    state->data = PyArray_DATA(array);
    state->flags = PyArray_FLAGS(array) & KNOWN_FLAGS;
    state->ndim = (int)ndim;
    for (size_t i = 0; i < ndim; i++) {
        state->axes[i] = PyArray_DIM(array, (int)i);
        state->axes[ndim + i] = PyArray_STRIDE(array, (int)i);
    }
    guard_add(frontend, (Guard){GUARD_ARRAY, object, NULL, (PyObject *)PyArray_DESCR(array), value});
    return true;
}
