/* array_copy.c: copies between device arrays and NumPy arrays.
 *
 * Contiguous memory of one dtype is copied as it lies; anything else goes through a NumPy array on the host, which
 * broadcasts and casts: correct, and not the way to compute with a device array, which is a kernel. */
#include <string.h> /* strcmp */

#include "runtime/cuda/device_array.h"
#include "runtime/cuda/graph.h"

static const StreamUse default_use = {NULL, NULL}; /* the default stream */

/* A copy without a stream has been made when it returns, unless it is recorded. */
static bool waits(StreamUse on) { return on.stream == NULL && !graph_recording(); }

/* Memory of the host that a recorded copy reads or writes stays there as long. */
static int keep_recorded(PyObject *array) { return runtime_capture ? graph_keep(array) : 0; }

/* ---- as a NumPy array of the same memory (host device) or of the same geometry (GPU) ---- */

PyArray_Descr *device_array_dtype(const DeviceArray *self) {
    return marshal_descr(self->runtime->marshal, device_array_item_type(self));
}

/* A NumPy array with this shape and these strides over `data`; base keeps data alive (may be NULL). */
PyObject *device_array_numpy_view(DeviceArray *self, void *data, PyObject *base, bool writable) {
    PyArray_Descr *dtype = device_array_dtype(self);
    PyObject *array = dtype ? PyArray_NewFromDescr(&PyArray_Type, dtype, self->type->ndim, device_array_shape(self),
                                                   device_array_strides(self), data, writable ? NPY_ARRAY_WRITEABLE : 0,
                                                   NULL)
                            : NULL;
    if (array && base && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(base)) < 0) Py_CLEAR(array);
    return array;
}

/* The bytes the array spans: from the lowest address of an element to the end of the highest. */
void device_array_extent(DeviceArray *self, char **low, size_t *bytes) {
    ByteRange range = strided_range(self->type->ndim, device_array_shape(self), device_array_strides(self),
                                    device_array_item(self));
    *low = (char *)self->head.data + range.low;
    *bytes = (size_t)(range.high - range.low);
}

static PyObject *copy_out(DeviceArray *self, StreamUse on, bool wait) {
    void *stream = on.stream;
    char *low;
    size_t bytes;
    (void)graph_recording(); /* that of a dropped graph ends here */
    device_array_extent(self, &low, &bytes);
    if (device_array_used(self, stream, on.keeper) < 0) return NULL;
    if (device_array_contiguous(self)) {
        PyArray_Descr *dtype = device_array_dtype(self);
        int order = self->type->layout == LAYOUT_F ? NPY_ARRAY_F_CONTIGUOUS : 0;
        PyObject *array = dtype ? PyArray_NewFromDescr(&PyArray_Type, dtype, self->type->ndim, device_array_shape(self),
                                                       NULL, NULL, order, NULL)
                                : NULL;
        if (array &&
            (keep_recorded(array) < 0 || device_copy(self->device, COPY_OUT, stream, wait,
                                                     PyArray_DATA((PyArrayObject *)array), self->head.data, bytes) < 0))
            Py_CLEAR(array);
        return array;
    }
    char *block = PyMem_Malloc(bytes ? bytes : 1);
    if (!block) return PyErr_NoMemory();
    PyObject *copy = NULL;
    if (device_copy(self->device, COPY_OUT, stream, true, block, low, bytes) == 0) {
        PyObject *view = device_array_numpy_view(self, block + ((char *)self->head.data - low), NULL, false);
        if (view) copy = PyArray_NewCopy((PyArrayObject *)view, NPY_CORDER);
        Py_XDECREF(view);
    }
    PyMem_Free(block);
    return copy;
}

/* Copies the array into a new NumPy array of the same geometry (C or F; C for any other), waiting for it unless a
 * stream was named. */
PyObject *device_array_copy_out(DeviceArray *self, StreamUse on, bool wait) {
    device_array_hold(self);
    PyObject *array = copy_out(self, on, wait);
    device_array_let_go(self);
    return array;
}

bool device_array_same_shape(DeviceArray *self, PyArrayObject *array) {
    bool same = PyArray_NDIM(array) == self->type->ndim;
    for (int i = 0; same && i < PyArray_NDIM(array); i++) same = PyArray_DIM(array, i) == device_array_shape(self)[i];
    return same;
}

static PyObject *stream_object(StreamUse on) {
    return on.keeper ? Py_NewRef(on.keeper) : PyLong_FromVoidPtr(on.stream);
}

/* A kernel that broadcasts and casts: from a device array, from a number, or from a host array by way of one. */
static int assign(DeviceArray *self, StreamUse on, PyArrayObject *array) {
    PyObject *stream = stream_object(on), *source;
    if (PyArray_NDIM(array))
        source = device_array_operate(self, "operators", "brought", "(ONO)", array, device_array_dtype(self), stream);
    else
        source = PyArray_Return((PyArrayObject *)Py_NewRef((PyObject *)array));
    PyObject *done = source ? device_array_operate(self, "operators", "assign", "(OOO)", self, source, stream) : NULL;
    Py_XDECREF(source);
    Py_XDECREF(stream);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* A contiguous array is made up on the host, and goes over in one piece. */
static int copy_in_whole(DeviceArray *self, StreamUse on, PyArrayObject *array, size_t bytes) {
    char *block = PyMem_Malloc(bytes ? bytes : 1);
    int status = -1;
    if (!block) {
        PyErr_NoMemory();
        return -1;
    }
    PyObject *view = device_array_numpy_view(self, block, NULL, true);
    if (view && PyArray_CopyInto((PyArrayObject *)view, array) == 0)
        status = device_copy(self->device, COPY_IN, on.stream, true, self->head.data, block, bytes);
    if (status == 0) device_array_settle(self);
    Py_XDECREF(view);
    PyMem_Free(block);
    return status;
}

static int copy_in(DeviceArray *self, StreamUse on, PyObject *source) {
    void *stream = on.stream;
    char *low;
    size_t bytes;
    int status = -1;
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(source);
    bool recorded = graph_recording(), wait = waits(on);
    PyArray_Descr *dtype = device_array_dtype(self);
    device_array_extent(self, &low, &bytes);
    if (!array || !dtype || device_array_used(self, stream, on.keeper) < 0) goto done;
    bool fortran = self->type->layout == LAYOUT_F;
    if (device_array_contiguous(self) && device_array_same_shape(self, array) &&
        PyArray_EquivTypes(PyArray_DESCR(array), dtype) &&
        (fortran ? PyArray_IS_F_CONTIGUOUS(array) : PyArray_IS_C_CONTIGUOUS(array))) {
        status = keep_recorded((PyObject *)array);
        if (status == 0)
            status = device_copy(self->device, COPY_IN, stream, wait, self->head.data, PyArray_DATA(array), bytes);
        if (status == 0 && wait) device_array_settle(self);
        goto done;
    }
    if (self->device->shares_memory && !recorded) {
        PyObject *view = device_array_numpy_view(self, self->head.data, NULL, true);
        if (view) status = PyArray_CopyInto((PyArrayObject *)view, array);
        Py_XDECREF(view);
    } else if (PyArray_NDIM(array) == 0 || !device_array_contiguous(self)) {
        status = assign(self, on, array);
    } else {
        status = copy_in_whole(self, on, array, bytes);
    }
done:
    Py_XDECREF(array);
    Py_XDECREF(dtype);
    return status;
}

/* Memory of others may be read-only, also to the processor. */
static int check_writable(const DeviceArray *self) {
    if (self->type->readonly) PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
    return self->type->readonly ? -1 : 0;
}

/* Writes a NumPy array (broadcast and cast as NumPy assigns) into the device array. */
int device_array_copy_in(DeviceArray *self, StreamUse on, PyObject *source) {
    if (check_writable(self) < 0) return -1;
    device_array_hold(self);
    int status = copy_in(self, on, source);
    device_array_let_go(self);
    return status;
}

/* What a GPU's copies do not see to: the array begins within the other, of the same size, or the other within it. */
static bool lies_across(const DeviceArray *self, const DeviceArray *source, size_t bytes) {
    const char *one = self->head.data, *other = source->head.data;
    return one != other && (one < other ? other - one : one - other) < (ptrdiff_t)bytes;
}

static int copy_across(DeviceArray *self, StreamUse on, DeviceArray *source) {
    char *low;
    size_t bytes;
    bool here = self->device == source->device, recorded = graph_recording();
    bool alike = device_array_contiguous(self) && device_array_contiguous(source) &&
                 type_element(self->type) == type_element(source->type) && self->type->ndim == source->type->ndim &&
                 (self->type->layout == source->type->layout || self->type->ndim <= 1);
    for (unsigned i = 0; alike && i < self->type->ndim; i++)
        alike = device_array_shape(self)[i] == device_array_shape(source)[i];
    device_array_extent(self, &low, &bytes);
    if (alike && !here) {
        int status;
        if (recorded) return graph_refuse("a copy between GPUs");
        Py_BEGIN_ALLOW_THREADS status = self->device->ops->copy_between(self->device, self->head.data, source->device,
                                                                        source->head.data, bytes);
        Py_END_ALLOW_THREADS return device_check(self->device, status, "copying from another GPU");
    }
    if (alike && (self->device->shares_memory || !lies_across(self, source, bytes))) {
        if (device_array_used(source, on.stream, on.keeper) < 0 || device_array_used(self, on.stream, on.keeper) < 0)
            return -1;
        return device_copy(self->device, COPY_WITHIN, on.stream, false, self->head.data, source->head.data, bytes);
    }
    if (here && (!self->device->shares_memory || recorded)) {
        PyObject *stream = stream_object(on);
        PyObject *done = stream ? device_array_operate(self, "operators", "assign", "(OOO)", self, source, stream)
                                : NULL;
        Py_XDECREF(stream);
        Py_XDECREF(done);
        return done ? 0 : -1;
    }
    PyObject *host = self->device->shares_memory ? device_array_numpy_view(source, source->head.data, NULL, false)
                                                 : device_array_copy_out(source, on, true);
    int status = host ? device_array_copy_in(self, on, host) : -1;
    Py_XDECREF(host);
    return status;
}

/* Device to device: as it lies if both lie alike, else by a kernel that broadcasts and casts; between devices then by
 * way of the host. */
int device_array_copy_across(DeviceArray *self, StreamUse on, DeviceArray *source) {
    if (check_writable(self) < 0) return -1;
    device_array_hold(self);
    device_array_hold(source);
    bool there = device_array_check_there(self) == 0 && device_array_check_there(source) == 0;
    int status = there ? copy_across(self, on, source) : -1;
    device_array_let_go(source);
    device_array_let_go(self);
    return status;
}

/* ---- methods ---- */

static void refuse_shapes(const char *what, DeviceArray *self, PyObject *array) {
    PyObject *here = PyObject_GetAttrString(array, "shape"), *there = PyObject_GetAttrString((PyObject *)self, "shape");
    if (here && there)
        PyErr_Format(PyExc_ValueError,
                     "%s(): the arrays differ in shape: %R on the device, %R on the host; pass an array of "
                     "the same shape%s",
                     what, there, here, strcmp(what, "copy_to_host") == 0 ? ", or none" : "");
    Py_XDECREF(here);
    Py_XDECREF(there);
}

PyObject *device_array_method_to_host(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    PyObject *into = Py_None, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:copy_to_host", names, &into, &stream) ||
        device_array_stream(self->device, stream, &on) < 0)
        return NULL;
    if (into == Py_None) return device_array_copy_out(self, on, waits(on));
    if (!PyArray_Check(into)) {
        PyErr_Format(PyExc_TypeError, "copy_to_host() copies into a NumPy array, not %.100s", Py_TYPE(into)->tp_name);
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)into;
    if (!device_array_same_shape(self, array)) {
        refuse_shapes("copy_to_host", self, into);
        return NULL;
    }
    PyArray_Descr *dtype = device_array_dtype(self);
    bool direct = device_array_contiguous(self) && PyArray_EquivTypes(PyArray_DESCR(array), dtype) &&
                  PyArray_ISWRITEABLE(array) &&
                  (self->type->layout == LAYOUT_F ? PyArray_IS_F_CONTIGUOUS(array) : PyArray_IS_C_CONTIGUOUS(array));
    Py_DECREF(dtype);
    if (direct) {
        if (device_array_used(self, on.stream, on.keeper) < 0 || keep_recorded(into) < 0) return NULL;
        device_array_hold(self);
        int status = device_copy(self->device, COPY_OUT, on.stream, waits(on), PyArray_DATA(array), self->head.data,
                                 (size_t)PyArray_NBYTES(array));
        device_array_let_go(self);
        if (status < 0) return NULL;
    } else {
        PyObject *copy = device_array_copy_out(self, on, true);
        int status = copy ? PyArray_CopyInto(array, (PyArrayObject *)copy) : -1;
        Py_XDECREF(copy);
        if (status < 0) return NULL;
    }
    return Py_NewRef(into);
}

PyObject *device_array_method_to_device(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    PyObject *source, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:copy_to_device", names, &source, &stream) ||
        device_array_stream(self->device, stream, &on) < 0)
        return NULL;
    if (device_array_check_there(self) < 0) return NULL;
    if (self->type->readonly) {
        PyErr_SetString(PyExc_ValueError, "copy_to_device(): the array is read-only");
        return NULL;
    }
    if (Py_TYPE(source) == self->runtime->device_array) {
        DeviceArray *other = (DeviceArray *)source;
        if (device_array_check_there(other) < 0) return NULL;
        if (geometry_count(other->type->ndim, device_array_shape(other)) !=
            geometry_count(self->type->ndim, device_array_shape(self))) {
            PyErr_SetString(PyExc_ValueError, "copy_to_device(): the arrays differ in size");
            return NULL;
        }
        if (device_array_copy_across(self, on, other) < 0) return NULL;
    } else {
        PyObject *array = PyArray_FROM_O(source);
        if (!array) return NULL;
        bool same = device_array_same_shape(self, (PyArrayObject *)array);
        int status = same ? device_array_copy_in(self, on, array) : -1;
        if (!same) refuse_shapes("copy_to_device", self, array);
        Py_DECREF(array);
        if (status < 0) return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *device_array_to_numpy(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy)) return NULL;
    if (copy == Py_False) {
        PyErr_SetString(PyExc_ValueError, "a device array cannot become a NumPy array without a copy");
        return NULL;
    }
    PyObject *array = device_array_copy_out(self, default_use, true);
    if (!array || dtype == Py_None) return array;
    PyObject *cast = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    return cast;
}
