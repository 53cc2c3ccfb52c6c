/* device_array.c: DeviceArray, an array in device memory, with the names that Numba's has, and the functions that make
 * one.
 *
 * A DeviceArray carries its shape, strides and pointer in the layout that compiled code wants (ir.h), so a launch
 * copies them.  Views (slices, transposes, reshapes) share the memory of their base.  Anything elementwise beyond
 * copying contiguous memory goes through NumPy on the host: correct, and not the way to compute with a device array,
 * which is a kernel. */
#define NO_IMPORT_ARRAY
#define PY_ARRAY_UNIQUE_SYMBOL krait_runtime_array_api
#define NPY_NO_DEPRECATED_API  NPY_2_0_API_VERSION
#include "runtime/cuda/device_memory.h"

#include <numpy/arrayobject.h>
#include <stdlib.h>       /* llabs */
#include <structmember.h> /* T_OBJECT_EX; PyMemberDef before 3.12 */

/* ---- making one ---- */

static int64_t *shape_of(DeviceArray *self) { return self->dims; }

static int64_t *strides_of(DeviceArray *self) { return self->dims + self->type->ndim; }

static Scalar scalar_of(const DeviceArray *self) { return (Scalar)type_element(self->type)->scalar; }

static size_t item_size(const DeviceArray *self) { return scalar_info[scalar_of(self)].bytes; }

static int64_t count_items(unsigned ndim, const int64_t *shape) {
    int64_t count = 1;
    for (unsigned i = 0; i < ndim; i++) count *= shape[i];
    return count;
}

/* The Scalar of a NumPy dtype; -1 with TypeError if compiled code has none. */
static int scalar_of_dtype(PyArray_Descr *dtype) {
    if (PyDataType_ISNOTSWAPPED(dtype))
        for (int i = 0; i < SCALAR_COUNT; i++)
            if (scalar_info[i].kind == dtype->kind && scalar_info[i].bytes == PyDataType_ELSIZE(dtype)) return i;
    PyErr_Format(PyExc_TypeError, "a device array cannot hold elements of type %S", dtype);
    return -1;
}

/* C wins when an array is both, as a vector is; an array without elements is C. */
static ArrayLayout layout_of(unsigned ndim, const int64_t *shape, const int64_t *strides, int64_t item) {
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

static void fill_strides(unsigned ndim, const int64_t *shape, int64_t item, bool fortran, int64_t *strides) {
    int64_t stride = item;
    for (unsigned i = 0; i < ndim; i++) {
        unsigned axis = fortran ? i : ndim - 1 - i;
        strides[axis] = stride;
        stride *= shape[axis];
    }
}

/* Strides without gaps, the axes in the order of the magnitudes of other strides: as numpy.empty_like keeps the order
 * of an array that is neither C nor Fortran contiguous. */
static void fill_strides_like(unsigned ndim, const int64_t *shape, int64_t item, const int64_t *like,
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

/* A DeviceArray on memory that exists; base keeps it alive (NULL: the array will free `data` itself). */
static DeviceArray *wrap(Runtime *runtime, CudaContext *context, Scalar scalar, unsigned ndim, const int64_t *shape,
                         const int64_t *strides, void *data, bool readonly, PyObject *base) {
    DeviceArray *self = PyObject_GC_NewVar(DeviceArray, runtime->device_array, 2 * (Py_ssize_t)ndim);
    if (!self) return NULL;
    TypeTable *types = runtime->marshal->types;
    self->weakrefs = NULL;
    self->base = Py_XNewRef(base);
    self->runtime = runtime;
    self->context = context;
    memset(self->uses, 0, sizeof self->uses);
    self->nuses = 0;
    self->home = (StreamUse){NULL, NULL};
    self->settled = true;
    self->type = type_array(types, type_scalar(types, scalar, false), ndim,
                            layout_of(ndim, shape, strides, scalar_info[scalar].bytes), readonly);
    self->head = (ArrayHead){data, self};
    for (unsigned i = 0; i < ndim; i++) {
        self->dims[i] = shape[i];
        self->dims[ndim + i] = strides[i];
    }
    PyObject_GC_Track(self);
    return self;
}

static DeviceArray *allocate(Runtime *runtime, StreamUse on, Scalar scalar, unsigned ndim, const int64_t *shape,
                             const int64_t *strides) {
    CudaContext *context;
    void *data = NULL;
    int64_t bytes = scalar_info[scalar].bytes;
    for (unsigned i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(bytes, shape[i], &bytes)) {
            PyErr_SetString(PyExc_ValueError, "the array is too big");
            return NULL;
        }
    if (runtime_context(runtime, &context) < 0 || device_allocate(context, on.stream, (size_t)bytes, &data) < 0)
        return NULL;
    DeviceArray *self = wrap(runtime, context, scalar, ndim, shape, strides, data, false, NULL);
    if (!self) {
        device_release(context, data, &on.stream, 1);
        return NULL;
    }
    self->home = (StreamUse){on.stream, Py_XNewRef(on.keeper)};
    self->uses[0] = (StreamUse){on.stream, Py_XNewRef(on.keeper)};
    self->nuses = 1;
    self->settled = !context || !context->pools;
    return self;
}

static void drop_use(DeviceArray *owner, unsigned at) {
    Py_XDECREF(owner->uses[at].keeper);
    owner->nuses--;
    memmove(owner->uses + at, owner->uses + at + 1, (owner->nuses - at) * sizeof *owner->uses);
}

static unsigned find_use(const DeviceArray *owner, void *stream) {
    unsigned at = 0;
    while (at < owner->nuses && owner->uses[at].stream != stream) at++;
    return at;
}

/* A stream that is new to the array waits for the allocation, and so for all that its stream was given until now.  One
 * stream too many: the last waits for the one before it was used, and stands for it. */
static int make_room(DeviceArray *owner, void *stream) {
    if (!owner->settled && stream != owner->home.stream) {
        unsigned home = find_use(owner, owner->home.stream);
        if (device_order(owner->context, stream, owner->home.stream) < 0) return -1;
        if (home < owner->nuses) drop_use(owner, home);
    }
    if (owner->nuses < STREAM_USES) return 0;
    if (device_order(owner->context, owner->uses[0].stream, owner->uses[STREAM_USES - 1].stream) < 0) return -1;
    drop_use(owner, STREAM_USES - 1);
    return 0;
}

int device_array_used_elsewhere(DeviceArray *owner, void *stream, PyObject *keeper) {
    if (!owner->context || owner->base) return 0;
    unsigned at = find_use(owner, stream);
    if (at == owner->nuses) {
        if (make_room(owner, stream) < 0) return -1;
        at = owner->nuses++;
        owner->uses[at] = (StreamUse){stream, Py_XNewRef(keeper)};
    }
    StreamUse use = owner->uses[at]; /* to the front */
    memmove(owner->uses + 1, owner->uses, at * sizeof use);
    owner->uses[0] = use;
    return 0;
}

/* The host has waited for work on the array on this stream: its allocation is over. */
static void settle(DeviceArray *self) {
    DeviceArray *owner = self->base && Py_TYPE(self->base) == Py_TYPE(self) ? (DeviceArray *)self->base : self;
    owner->settled = true;
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
    DeviceArray *self = (DeviceArray *)object;
    Py_VISIT(self->base);
    Py_VISIT(self->home.keeper);
    for (unsigned i = 0; i < self->nuses; i++) Py_VISIT(self->uses[i].keeper);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int clear(PyObject *object) {
    (void)object; /* a base is never part of a cycle that only this could break: it is set once and owns no reference to
                     views */
    return 0;
}

static void dealloc(PyObject *object) {
    DeviceArray *self = (DeviceArray *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    void *streams[STREAM_USES];
    for (unsigned i = 0; i < self->nuses; i++) streams[i] = self->uses[i].stream;
    if (self->base)
        Py_DECREF(self->base);
    else
        device_release(self->context, self->head.data, streams, self->nuses);
    Py_XDECREF(self->home.keeper);
    for (unsigned i = 0; i < self->nuses; i++) Py_XDECREF(self->uses[i].keeper);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* ---- as a NumPy array of the same memory (host device) or of the same geometry (GPU) ---- */

static PyArray_Descr *dtype_of(const DeviceArray *self) {
    return PyArray_DescrFromType((unsigned char)scalar_info[scalar_of(self)].numpy_char);
}

/* A NumPy array with this shape and these strides over `data`; base keeps data alive (may be NULL). */
static PyObject *numpy_view(DeviceArray *self, void *data, PyObject *base, bool writable) {
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype_of(self), self->type->ndim, shape_of(self),
                                           strides_of(self), data, writable ? NPY_ARRAY_WRITEABLE : 0, NULL);
    if (array && base && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(base)) < 0) Py_CLEAR(array);
    return array;
}

/* The bytes the array spans: from the lowest address of an element to the end of the highest. */
static void extent(DeviceArray *self, char **low, size_t *bytes) {
    int64_t below = 0, above = 0;
    for (unsigned i = 0; i < self->type->ndim; i++) {
        int64_t reach = strides_of(self)[i] * (shape_of(self)[i] - 1);
        *(reach < 0 ? &below : &above) += reach;
    }
    bool empty = count_items(self->type->ndim, shape_of(self)) == 0;
    *low = (char *)self->head.data + (empty ? 0 : below);
    *bytes = empty ? 0 : (size_t)(above - below) + item_size(self);
}

static bool contiguous(const DeviceArray *self) { return self->type->layout != LAYOUT_A; }

/* Copies the array into a new NumPy array of the same geometry (C or F; C for any other), waiting for it unless a
 * stream was named. */
static PyObject *copy_out(DeviceArray *self, StreamUse on, bool wait) {
    void *stream = on.stream;
    char *low;
    size_t bytes;
    extent(self, &low, &bytes);
    if (device_array_used(self, stream, on.keeper) < 0) return NULL;
    if (contiguous(self)) {
        PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype_of(self), self->type->ndim, shape_of(self), NULL,
                                               NULL, self->type->layout == LAYOUT_F ? NPY_ARRAY_F_CONTIGUOUS : 0, NULL);
        if (array && device_copy_out(self->context, stream, wait, PyArray_DATA((PyArrayObject *)array), self->head.data,
                                     bytes) < 0)
            Py_CLEAR(array);
        return array;
    }
    char *block = PyMem_Malloc(bytes ? bytes : 1);
    if (!block) return PyErr_NoMemory();
    PyObject *copy = NULL;
    if (device_copy_out(self->context, stream, true, block, low, bytes) == 0) {
        PyObject *view = numpy_view(self, block + ((char *)self->head.data - low), NULL, false);
        if (view) copy = PyArray_NewCopy((PyArrayObject *)view, NPY_CORDER);
        Py_XDECREF(view);
    }
    PyMem_Free(block);
    return copy;
}

static int same_shape(DeviceArray *self, PyArrayObject *array) {
    bool same = PyArray_NDIM(array) == self->type->ndim;
    for (int i = 0; same && i < PyArray_NDIM(array); i++) same = PyArray_DIM(array, i) == shape_of(self)[i];
    return same;
}

/* Writes a NumPy array (broadcast and cast as NumPy assigns) into the device array. */
static int copy_in(DeviceArray *self, StreamUse on, PyObject *source) {
    void *stream = on.stream;
    char *low;
    size_t bytes;
    int status = -1;
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(source);
    PyArray_Descr *dtype = dtype_of(self);
    extent(self, &low, &bytes);
    if (!array || !dtype || device_array_used(self, stream, on.keeper) < 0) goto done;
    bool fortran = self->type->layout == LAYOUT_F;
    if (contiguous(self) && same_shape(self, array) && PyArray_EquivTypes(PyArray_DESCR(array), dtype) &&
        (fortran ? PyArray_IS_F_CONTIGUOUS(array) : PyArray_IS_C_CONTIGUOUS(array))) {
        status = device_copy_in(self->context, stream, stream == NULL, self->head.data, PyArray_DATA(array), bytes);
        if (status == 0 && !stream) settle(self);
        goto done;
    }
    char *block = PyMem_Malloc(bytes ? bytes : 1);
    if (!block) {
        PyErr_NoMemory();
        goto done;
    }
    /* elements between those of a strided view must survive: read, change, write back */
    if (contiguous(self) || device_copy_out(self->context, stream, true, block, low, bytes) == 0) {
        PyObject *view = numpy_view(self, block + ((char *)self->head.data - low), NULL, true);
        if (view && PyArray_CopyInto((PyArrayObject *)view, array) == 0)
            status = device_copy_in(self->context, stream, true, low, block, bytes);
        if (status == 0) settle(self);
        Py_XDECREF(view);
    }
    PyMem_Free(block);
done:
    Py_XDECREF(array);
    Py_XDECREF(dtype);
    return status;
}

/* Device to device, without the host when both lie contiguous in the same order. */
static int copy_across(DeviceArray *self, StreamUse on, DeviceArray *source) {
    char *low;
    size_t bytes;
    bool alike = self->type == source->type && contiguous(self) && self->context == source->context;
    for (unsigned i = 0; alike && i < self->type->ndim; i++) alike = shape_of(self)[i] == shape_of(source)[i];
    extent(self, &low, &bytes);
    if (alike) {
        if (device_array_used(source, on.stream, on.keeper) < 0 || device_array_used(self, on.stream, on.keeper) < 0)
            return -1;
        return device_copy_within(self->context, on.stream, self->head.data, source->head.data, bytes);
    }
    PyObject *host = copy_out(source, on, true);
    int status = host ? copy_in(self, on, host) : -1;
    Py_XDECREF(host);
    return status;
}

/* ---- methods ---- */

static int stream_argument(const Runtime *runtime, PyObject *stream, StreamUse *on) {
    *on = (StreamUse){NULL, stream == Py_None ? NULL : stream};
    return stream ? runtime_stream_handle(runtime->marshal, stream, &on->stream) : 0;
}

static const StreamUse default_use = {NULL, NULL}; /* the default stream */

static PyObject *array_copy_to_host(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    PyObject *into = Py_None, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:copy_to_host", names, &into, &stream) ||
        stream_argument(self->runtime, stream, &on) < 0)
        return NULL;
    if (into == Py_None) return copy_out(self, on, on.stream == NULL);
    if (!PyArray_Check(into)) {
        PyErr_Format(PyExc_TypeError, "copy_to_host() copies into a NumPy array, not %.100s", Py_TYPE(into)->tp_name);
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)into;
    if (!same_shape(self, array)) {
        PyErr_SetString(PyExc_ValueError, "copy_to_host(): the arrays differ in shape");
        return NULL;
    }
    PyArray_Descr *dtype = dtype_of(self);
    bool direct = contiguous(self) && PyArray_EquivTypes(PyArray_DESCR(array), dtype) && PyArray_ISWRITEABLE(array) &&
                  (self->type->layout == LAYOUT_F ? PyArray_IS_F_CONTIGUOUS(array) : PyArray_IS_C_CONTIGUOUS(array));
    Py_DECREF(dtype);
    if (direct) {
        if (device_array_used(self, on.stream, on.keeper) < 0 ||
            device_copy_out(self->context, on.stream, on.stream == NULL, PyArray_DATA(array), self->head.data,
                            (size_t)PyArray_NBYTES(array)) < 0)
            return NULL;
    } else {
        PyObject *copy = copy_out(self, on, true);
        int status = copy ? PyArray_CopyInto(array, (PyArrayObject *)copy) : -1;
        Py_XDECREF(copy);
        if (status < 0) return NULL;
    }
    return Py_NewRef(into);
}

static PyObject *array_copy_to_device(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    PyObject *source, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:copy_to_device", names, &source, &stream) ||
        stream_argument(self->runtime, stream, &on) < 0)
        return NULL;
    if (self->type->readonly) {
        PyErr_SetString(PyExc_ValueError, "copy_to_device(): the array is read-only");
        return NULL;
    }
    if (Py_TYPE(source) == self->runtime->device_array) {
        DeviceArray *other = (DeviceArray *)source;
        if (count_items(other->type->ndim, shape_of(other)) != count_items(self->type->ndim, shape_of(self))) {
            PyErr_SetString(PyExc_ValueError, "copy_to_device(): the arrays differ in size");
            return NULL;
        }
        if (copy_across(self, on, other) < 0) return NULL;
    } else {
        PyObject *array = PyArray_FROM_O(source);
        if (!array) return NULL;
        bool same = same_shape(self, (PyArrayObject *)array);
        int status = same ? copy_in(self, on, array) : -1;
        if (!same) PyErr_SetString(PyExc_ValueError, "copy_to_device(): the arrays differ in shape");
        Py_DECREF(array);
        if (status < 0) return NULL;
    }
    Py_RETURN_NONE;
}

/* A view with other geometry on the same memory. */
static PyObject *view_of(DeviceArray *self, Scalar scalar, unsigned ndim, const int64_t *shape, const int64_t *strides,
                         void *data) {
    return (PyObject *)wrap(self->runtime, self->context, scalar, ndim, shape, strides, data, self->type->readonly,
                            self->base ? self->base : (PyObject *)self);
}

/* Lets NumPy work out the geometry of an operation on a stand-in array of the same geometry that is never dereferenced,
 * and maps the result back. `result` is stolen. */
static PyObject *view_like(DeviceArray *self, PyObject *result) {
    if (!result) return NULL;
    PyArrayObject *array = (PyArrayObject *)result;
    PyObject *view = NULL;
    if (!PyArray_Check(result)) {
        PyErr_SetString(PyExc_IndexError, "a device array is indexed with integers, slices, Ellipsis and None only");
    } else {
        int scalar = scalar_of_dtype(PyArray_DESCR(array));
        if (scalar >= 0)
            view = view_of(self, (Scalar)scalar, (unsigned)PyArray_NDIM(array), PyArray_DIMS(array),
                           PyArray_STRIDES(array), PyArray_DATA(array));
    }
    Py_DECREF(result);
    return view;
}

static PyObject *stand_in(DeviceArray *self) { return numpy_view(self, self->head.data, NULL, true); }

/* Basic indices only: NumPy would read memory for the others. */
static bool basic_index(PyObject *key) {
    if (PyTuple_Check(key)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
            if (PyTuple_Check(PyTuple_GET_ITEM(key, i)) || !basic_index(PyTuple_GET_ITEM(key, i))) return false;
        return true;
    }
    return key == Py_None || key == Py_Ellipsis || PySlice_Check(key) ||
           (PyIndex_Check(key) && !PyBool_Check(key) && !PyArray_Check(key));
}

/* The view that key selects, of no dimensions if key selects one element. */
static PyObject *select_view(DeviceArray *self, PyObject *key) {
    PyObject *with_ellipsis = NULL, *host = NULL, *result = NULL;
    if (!basic_index(key)) {
        PyErr_SetString(
            PyExc_IndexError,
            "a device array is indexed with integers, slices, Ellipsis and None; for more, copy it to the host or "
            "write a kernel");
        return NULL;
    }
    /* an Ellipsis at the end makes NumPy give a view, never a scalar read from memory */
    bool has_ellipsis = key == Py_Ellipsis;
    for (Py_ssize_t i = 0; PyTuple_Check(key) && i < PyTuple_GET_SIZE(key); i++)
        has_ellipsis |= PyTuple_GET_ITEM(key, i) == Py_Ellipsis;
    if (has_ellipsis) {
        with_ellipsis = Py_NewRef(key);
    } else {
        Py_ssize_t count = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 1;
        with_ellipsis = PyTuple_New(count + 1);
        for (Py_ssize_t i = 0; with_ellipsis && i < count; i++)
            PyTuple_SET_ITEM(with_ellipsis, i, Py_NewRef(PyTuple_Check(key) ? PyTuple_GET_ITEM(key, i) : key));
        if (with_ellipsis) PyTuple_SET_ITEM(with_ellipsis, count, Py_NewRef(Py_Ellipsis));
    }
    host = with_ellipsis ? stand_in(self) : NULL;
    if (host) result = PyObject_GetItem(host, with_ellipsis);
    Py_XDECREF(with_ellipsis);
    Py_XDECREF(host);
    return view_like(self, result);
}

static PyObject *array_getitem(PyObject *object, PyObject *key) {
    DeviceArray *view = (DeviceArray *)select_view((DeviceArray *)object, key);
    if (!view || view->type->ndim != 0) return (PyObject *)view;
    bool all = key == Py_Ellipsis; /* x[...] stays an array */
    for (Py_ssize_t i = 0; PyTuple_Check(key) && i < PyTuple_GET_SIZE(key); i++)
        all |= PyTuple_GET_ITEM(key, i) == Py_Ellipsis;
    if (all) return (PyObject *)view;
    PyObject *copy = copy_out(view, default_use, true);
    Py_DECREF(view);
    return copy ? PyArray_Return((PyArrayObject *)copy) : NULL;
}

static int assign(DeviceArray *self, PyObject *key, PyObject *value, StreamUse on) {
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a device array cannot be deleted");
        return -1;
    }
    if (self->type->readonly) {
        PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
        return -1;
    }
    DeviceArray *view = (DeviceArray *)select_view(self, key);
    if (!view) return -1;
    int status = Py_TYPE(value) == self->runtime->device_array ? copy_across(view, on, (DeviceArray *)value)
                                                               : copy_in(view, on, value);
    Py_DECREF(view);
    return status;
}

static int array_setitem(PyObject *object, PyObject *key, PyObject *value) {
    return assign((DeviceArray *)object, key, value, default_use);
}

static PyObject *array_getitem_method(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"item", "stream", NULL};
    PyObject *key, *stream = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:getitem", names, &key, &stream)) return NULL;
    return array_getitem((PyObject *)self, key);
}

static PyObject *array_setitem_method(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"key", "value", "stream", NULL};
    PyObject *key, *value, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:setitem", names, &key, &value, &stream) ||
        stream_argument(self->runtime, stream, &on) < 0 || assign(self, key, value, on) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static Py_ssize_t array_length(PyObject *object) {
    DeviceArray *self = (DeviceArray *)object;
    if (self->type->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
        return -1;
    }
    return shape_of(self)[0];
}

/* reshape, ravel, T: NumPy's method on the stand-in; a copy, which NumPy makes when the geometry has no view, is
 * refused. */
static PyObject *through_numpy(DeviceArray *self, const char *method, PyObject *args, PyObject *kwargs) {
    PyObject *host = stand_in(self), *bound = host ? PyObject_GetAttrString(host, method) : NULL, *result = NULL;
    if (bound && (!strcmp(method, "reshape") || !strcmp(method, "ravel")) && !contiguous(self))
        PyErr_Format(PyExc_ValueError, "%s() needs a contiguous device array", method);
    else if (bound)
        result = PyObject_Call(bound, args, kwargs);
    Py_XDECREF(bound);
    if (result && (!PyArray_Check(result) || PyArray_DATA((PyArrayObject *)result) != self->head.data)) {
        Py_CLEAR(result);
        PyErr_Format(PyExc_ValueError, "%s() of this device array would need a copy", method);
    }
    Py_XDECREF(host);
    return view_like(self, result);
}

static PyObject *array_reshape(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    PyObject *options = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
    if (options && self->type->layout == LAYOUT_F && self->type->ndim > 1 && !PyDict_GetItemString(options, "order")) {
        PyObject *order = PyUnicode_FromString("A"); /* elements in memory order, as Numba does */
        if (!order || PyDict_SetItemString(options, "order", order) < 0) Py_CLEAR(options);
        Py_XDECREF(order);
    }
    PyObject *result = options ? through_numpy(self, "reshape", args, options) : NULL;
    Py_XDECREF(options);
    return result;
}

static PyObject *array_ravel(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"order", "stream", NULL};
    const char *order = "C";
    PyObject *stream = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|sO:ravel", names, &order, &stream)) return NULL;
    PyObject *numpy_args = Py_BuildValue("(s)", self->type->layout == LAYOUT_F && order[0] != 'C' ? "F" : order);
    PyObject *result = numpy_args ? through_numpy(self, "ravel", numpy_args, NULL) : NULL;
    Py_XDECREF(numpy_args);
    return result;
}

static PyObject *array_transpose(DeviceArray *self, PyObject *args) {
    return through_numpy(self, "transpose", args, NULL);
}

static PyObject *array_squeeze(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    return through_numpy(self, "squeeze", args, kwargs);
}

static PyObject *array_view(DeviceArray *self, PyObject *args) { return through_numpy(self, "view", args, NULL); }

static PyObject *array_split(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"section", "stream", NULL};
    Py_ssize_t section;
    PyObject *stream = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|O:split", names, &section, &stream)) return NULL;
    if (section <= 0 || self->type->ndim != 1) {
        PyErr_SetString(PyExc_ValueError, "split() cuts an array of one dimension into sections of a positive length");
        return NULL;
    }
    PyObject *list = PyList_New(0);
    for (Py_ssize_t start = 0; list && start < shape_of(self)[0]; start += section) {
        PyObject *from = PyLong_FromSsize_t(start), *to = PyLong_FromSsize_t(start + section);
        PyObject *slice = from && to ? PySlice_New(from, to, NULL) : NULL;
        PyObject *part = slice ? select_view(self, slice) : NULL;
        if (!part || PyList_Append(list, part) < 0) Py_CLEAR(list);
        Py_XDECREF(part);
        Py_XDECREF(slice);
        Py_XDECREF(from);
        Py_XDECREF(to);
    }
    return list;
}

static PyObject *array_is_c_contiguous(DeviceArray *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(self->type->layout == LAYOUT_C);
}

static PyObject *array_is_f_contiguous(DeviceArray *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(self->type->layout == LAYOUT_F || (self->type->layout == LAYOUT_C && self->type->ndim <= 1));
}

static PyObject *array_bind(DeviceArray *self, PyObject *args) {
    (void)args; /* every operation takes its stream as an argument */
    return Py_NewRef(self);
}

static PyObject *array_to_numpy(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy)) return NULL;
    if (copy == Py_False) {
        PyErr_SetString(PyExc_ValueError, "a device array cannot become a NumPy array without a copy");
        return NULL;
    }
    PyObject *array = copy_out(self, default_use, true);
    if (!array || dtype == Py_None) return array;
    PyObject *cast = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    return cast;
}

/* ---- attributes ---- */

static PyObject *tuple_of(const int64_t *values, unsigned count) {
    PyObject *tuple = PyTuple_New(count);
    for (unsigned i = 0; tuple && i < count; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (!value)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, value);
    }
    return tuple;
}

static PyObject *get_shape(DeviceArray *self, void *unused) {
    (void)unused;
    return tuple_of(shape_of(self), self->type->ndim);
}

static PyObject *get_strides(DeviceArray *self, void *unused) {
    (void)unused;
    return tuple_of(strides_of(self), self->type->ndim);
}

static PyObject *get_dtype(DeviceArray *self, void *unused) {
    (void)unused;
    return (PyObject *)dtype_of(self);
}

static PyObject *get_ndim(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(self->type->ndim);
}

static PyObject *get_size(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(count_items(self->type->ndim, shape_of(self)));
}

static PyObject *get_nbytes(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(count_items(self->type->ndim, shape_of(self)) * (int64_t)item_size(self));
}

static PyObject *get_itemsize(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(item_size(self));
}

static PyObject *get_transposed(DeviceArray *self, void *unused) {
    (void)unused;
    PyObject *none = PyTuple_New(0), *result = none ? array_transpose(self, none) : NULL;
    Py_XDECREF(none);
    return result;
}

static PyObject *get_pointer(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(self->head.data);
}

/* CUDA Array Interface, version 3; only memory of a GPU has one. */
static PyObject *get_cuda_array_interface(DeviceArray *self, void *unused) {
    (void)unused;
    if (!self->context) {
        PyErr_SetString(PyExc_AttributeError,
                        "__cuda_array_interface__: this array lies in host memory (kernels run on the host device)");
        return NULL;
    }
    const ScalarInfo *info = &scalar_info[scalar_of(self)];
    char typestr[8];
    snprintf(typestr, sizeof typestr, "%c%c%u", info->bytes == 1 ? '|' : '<', info->kind, info->bytes);
    PyObject *strides = self->type->layout == LAYOUT_C ? Py_NewRef(Py_None) : get_strides(self, NULL);
    return Py_BuildValue("{s:N,s:N,s:s,s:(NO),s:i,s:i}", "shape", get_shape(self, NULL), "strides", strides, "typestr",
                         typestr, "data", PyLong_FromVoidPtr(self->head.data),
                         self->type->readonly ? Py_True : Py_False, "version", 3, "stream", 1);
}

static PyObject *array_repr(PyObject *object) {
    DeviceArray *self = (DeviceArray *)object;
    PyObject *shape = get_shape(self, NULL);
    PyObject *text = shape ? PyUnicode_FromFormat("<krait DeviceArray %S %s on %s>", shape,
                                                  scalar_info[scalar_of(self)].name,
                                                  self->context ? "the GPU" : "the host device")
                           : NULL;
    Py_XDECREF(shape);
    return text;
}

static PyMethodDef methods[] = {
    {"copy_to_host", (PyCFunction)(void (*)(void))array_copy_to_host, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("copy_to_host($self, ary=None, stream=0)\n--\n\nThe elements as a NumPy array, new or `ary`.  With a "
               "stream the copy is queued there.")},
    {"copy_to_device", (PyCFunction)(void (*)(void))array_copy_to_device, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("copy_to_device($self, ary, stream=0)\n--\n\nOverwrites the elements with those of a host or device "
               "array of the same shape.")},
    {"reshape", (PyCFunction)(void (*)(void))array_reshape, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A view of another shape and the same size.")},
    {"ravel", (PyCFunction)(void (*)(void))array_ravel, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("ravel($self, order='C', stream=0)\n--\n\nA view of one dimension.")},
    {"transpose", (PyCFunction)array_transpose, METH_VARARGS, PyDoc_STR("A view with the axes reversed or permuted.")},
    {"squeeze", (PyCFunction)(void (*)(void))array_squeeze, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A view without axes of length one.")},
    {"view", (PyCFunction)array_view, METH_VARARGS,
     PyDoc_STR("view($self, dtype)\n--\n\nThe same bytes as elements of another type.")},
    {"split", (PyCFunction)(void (*)(void))array_split, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("split($self, section, stream=0)\n--\n\nViews of `section` elements each; the last may be shorter.")},
    {"bind", (PyCFunction)array_bind, METH_VARARGS, PyDoc_STR("bind($self, stream=0)\n--\n\nThe array itself.")},
    {"getitem", (PyCFunction)(void (*)(void))array_getitem_method, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("getitem($self, item, stream=0)\n--\n\nself[item]")},
    {"setitem", (PyCFunction)(void (*)(void))array_setitem_method, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("setitem($self, key, value, stream=0)\n--\n\nself[key] = value")},
    {"is_c_contiguous", (PyCFunction)array_is_c_contiguous, METH_NOARGS,
     PyDoc_STR("Whether the elements lie in C order without gaps.")},
    {"is_f_contiguous", (PyCFunction)array_is_f_contiguous, METH_NOARGS,
     PyDoc_STR("Whether the elements lie in Fortran order without gaps.")},
    {"__array__", (PyCFunction)(void (*)(void))array_to_numpy, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A copy on the host.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"shape", (getter)get_shape, NULL, PyDoc_STR("Elements along each axis."), NULL},
    {"strides", (getter)get_strides, NULL, PyDoc_STR("Bytes from one element to the next along each axis."), NULL},
    {"dtype", (getter)get_dtype, NULL, PyDoc_STR("NumPy dtype of the elements."), NULL},
    {"ndim", (getter)get_ndim, NULL, PyDoc_STR("Number of axes."), NULL},
    {"size", (getter)get_size, NULL, PyDoc_STR("Number of elements."), NULL},
    {"nbytes", (getter)get_nbytes, NULL, PyDoc_STR("Bytes of all elements."), NULL},
    {"itemsize", (getter)get_itemsize, NULL, PyDoc_STR("Bytes of one element."), NULL},
    {"T", (getter)get_transposed, NULL, PyDoc_STR("A view with the axes reversed."), NULL},
    {"device_ctypes_pointer", (getter)get_pointer, NULL, PyDoc_STR("Address of the first element, an int."), NULL},
    {"__cuda_array_interface__", (getter)get_cuda_array_interface, NULL, PyDoc_STR("CUDA Array Interface, version 3."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DeviceArray, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("An array in device memory; made by cuda.to_device and cuda.device_array.")},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_repr, array_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    {Py_mp_length, array_length},
    {Py_mp_subscript, array_getitem},
    {Py_mp_ass_subscript, array_setitem},
    {0, NULL},
};

PyType_Spec device_array_spec = {
    .name = "krait.cuda.DeviceArray",
    .basicsize = offsetof(DeviceArray, dims),
    .itemsize = sizeof(int64_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

/* ---- functions of krait.cuda ---- */

PyObject *device_array_to_device(PyObject *capsule, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"obj", "stream", "copy", "to", NULL};
    Runtime *runtime = RUNTIME_OF(capsule);
    PyObject *source, *stream = NULL, *into = Py_None;
    int copy = 1;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OpO:to_device", names, &source, &stream, &copy, &into) ||
        stream_argument(runtime, stream, &on) < 0)
        return NULL;
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(source);
    if (!array) return NULL;
    PyObject *result = NULL;
    int scalar = scalar_of_dtype(PyArray_DESCR(array));
    if (scalar >= 0 && into == Py_None) {
        int64_t strides[NPY_MAXDIMS];
        unsigned ndim = (unsigned)PyArray_NDIM(array);
        if (ndim > TYPE_MAX_NDIM)
            PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
        else {
            fill_strides(ndim, PyArray_DIMS(array), scalar_info[scalar].bytes,
                         PyArray_IS_F_CONTIGUOUS(array) && !PyArray_IS_C_CONTIGUOUS(array), strides);
            result = (PyObject *)allocate(runtime, on, (Scalar)scalar, ndim, PyArray_DIMS(array), strides);
        }
    } else if (scalar >= 0) {
        if (Py_TYPE(into) == runtime->device_array)
            result = Py_NewRef(into);
        else
            PyErr_SetString(PyExc_TypeError, "to_device(): `to` must be a device array");
    }
    if (result && copy) {
        if (!same_shape((DeviceArray *)result, array)) {
            PyErr_SetString(PyExc_ValueError, "to_device(): `obj` and `to` differ in shape");
            Py_CLEAR(result);
        } else if (copy_in((DeviceArray *)result, on, (PyObject *)array) < 0) {
            Py_CLEAR(result);
        }
    }
    Py_DECREF(array);
    return result;
}

/* shape as an int or a sequence of ints, checked. */
static int read_shape(PyObject *object, PyArray_Dims *dims) {
    if (!PyArray_IntpConverter(object, dims)) return -1;
    for (int i = 0; i < dims->len; i++)
        if (dims->ptr[i] < 0) {
            PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed");
            return -1;
        }
    if (dims->len > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
        return -1;
    }
    return 0;
}

PyObject *device_array_empty(PyObject *capsule, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", "stream", NULL};
    Runtime *runtime = RUNTIME_OF(capsule);
    PyObject *shape_object, *dtype_object = NULL, *strides_object = Py_None, *stream = NULL, *result = NULL;
    PyArray_Descr *dtype = NULL;
    PyArray_Dims shape = {NULL, 0}, strides = {NULL, 0};
    const char *order = "C";
    StreamUse on;
    int scalar;
    int64_t packed[TYPE_MAX_NDIM + 1];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOsO:device_array", names, &shape_object, &dtype_object,
                                     &strides_object, &order, &stream))
        return NULL;
    if (stream_argument(runtime, stream, &on) < 0 || read_shape(shape_object, &shape) < 0) goto done;
    if (dtype_object ? !PyArray_DescrConverter(dtype_object, &dtype) : !(dtype = PyArray_DescrFromType(NPY_DOUBLE)))
        goto done;
    scalar = scalar_of_dtype(dtype);
    if (scalar < 0) goto done;
    fill_strides((unsigned)shape.len, shape.ptr, scalar_info[scalar].bytes, order[0] == 'F', packed);
    if (strides_object != Py_None) { /* like Numba: only a permutation of packed strides can be asked for */
        if (!PyArray_IntpConverter(strides_object, &strides)) goto done;
        int64_t other[TYPE_MAX_NDIM + 1];
        fill_strides((unsigned)shape.len, shape.ptr, scalar_info[scalar].bytes, order[0] != 'F', other);
        bool same = strides.len == shape.len && !memcmp(strides.ptr, packed, sizeof(int64_t) * (size_t)shape.len);
        bool swapped = strides.len == shape.len && !memcmp(strides.ptr, other, sizeof(int64_t) * (size_t)shape.len);
        if (!same && !swapped) {
            PyErr_SetString(PyExc_ValueError,
                            "device_array(): strides must be those of a C or a Fortran contiguous array");
            goto done;
        }
        memcpy(packed, strides.ptr, sizeof(int64_t) * (size_t)shape.len);
    }
    result = (PyObject *)allocate(runtime, on, (Scalar)scalar, (unsigned)shape.len, shape.ptr, packed);
done:
    PyDimMem_FREE(shape.ptr);
    PyDimMem_FREE(strides.ptr);
    Py_XDECREF(dtype);
    return result;
}

PyObject *device_array_empty_like(PyObject *capsule, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ary", "stream", NULL};
    Runtime *runtime = RUNTIME_OF(capsule);
    PyObject *like, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device_array_like", names, &like, &stream) ||
        stream_argument(runtime, stream, &on) < 0)
        return NULL;
    int64_t strides[NPY_MAXDIMS];
    if (Py_TYPE(like) == runtime->device_array) {
        DeviceArray *array = (DeviceArray *)like;
        fill_strides_like(array->type->ndim, shape_of(array), (int64_t)item_size(array), strides_of(array), strides);
        return (PyObject *)allocate(runtime, on, scalar_of(array), array->type->ndim, shape_of(array), strides);
    }
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(like);
    int scalar = array ? scalar_of_dtype(PyArray_DESCR(array)) : -1;
    PyObject *result = NULL;
    if (scalar >= 0 && PyArray_NDIM(array) <= TYPE_MAX_NDIM) {
        fill_strides_like((unsigned)PyArray_NDIM(array), PyArray_DIMS(array), scalar_info[scalar].bytes,
                          PyArray_STRIDES(array), strides);
        result = (PyObject *)allocate(runtime, on, (Scalar)scalar, (unsigned)PyArray_NDIM(array), PyArray_DIMS(array),
                                      strides);
    } else if (scalar >= 0) {
        PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
    }
    Py_XDECREF(array);
    return result;
}

PyObject *device_array_copy_to_host(PyObject *capsule, PyObject *args, PyObject *kwargs) {
    Runtime *runtime = RUNTIME_OF(capsule);
    PyObject *first = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (!first || Py_TYPE(first) != runtime->device_array) {
        PyErr_SetString(PyExc_TypeError, "copy_to_host() takes a device array, then what its method takes");
        return NULL;
    }
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
    PyObject *result = rest ? array_copy_to_host((DeviceArray *)first, rest, kwargs) : NULL;
    Py_XDECREF(rest);
    return result;
}

/* ---- memory of others: the CUDA Array Interface (version 3), as CuPy, PyTorch and Numba give it ---- */

static PyObject *interface_item(PyObject *interface, const char *name, bool needed) {
    PyObject *item = PyDict_GetItemString(interface, name);
    if (!item && needed) PyErr_Format(PyExc_ValueError, "__cuda_array_interface__ lacks '%s'", name);
    return item;
}

PyObject *device_array_from_interface(PyObject *capsule, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"obj", "sync", NULL};
    Runtime *runtime = RUNTIME_OF(capsule);
    PyObject *object, *interface = NULL, *shape_object, *data, *typestr, *strides_object, *result = NULL;
    PyArray_Dims shape = {NULL, 0}, strides = {NULL, 0};
    PyArray_Descr *dtype = NULL;
    CudaContext *context;
    int sync = 1, scalar;
    int64_t packed[TYPE_MAX_NDIM + 1];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:as_cuda_array", names, &object, &sync)) return NULL;
    if (Py_TYPE(object) == runtime->device_array) return Py_NewRef(object);
    if (runtime_context(runtime, &context) < 0) return NULL;
    if (!context) {
        PyErr_Format(PyExc_RuntimeError, NEEDS_GPU, cuda_choice_reason(runtime->cuda));
        return NULL;
    }
    interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (!interface || !PyDict_Check(interface)) {
        PyErr_Format(PyExc_TypeError, "%.100s has no __cuda_array_interface__", Py_TYPE(object)->tp_name);
        goto done;
    }
    PyObject *mask = PyDict_GetItemString(interface, "mask");
    if (mask && mask != Py_None) {
        PyErr_SetString(PyExc_NotImplementedError, "masked device arrays are not supported");
        goto done;
    }
    shape_object = interface_item(interface, "shape", true);
    data = shape_object ? interface_item(interface, "data", true) : NULL;
    typestr = data ? interface_item(interface, "typestr", true) : NULL;
    if (!typestr || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2 || read_shape(shape_object, &shape) < 0 ||
        !PyArray_DescrConverter(typestr, &dtype) || (scalar = scalar_of_dtype(dtype)) < 0)
        goto done;
    fill_strides((unsigned)shape.len, shape.ptr, scalar_info[scalar].bytes, false, packed);
    strides_object = interface_item(interface, "strides", false);
    if (strides_object && strides_object != Py_None) {
        if (!PyArray_IntpConverter(strides_object, &strides)) goto done;
        for (int i = 0; i < shape.len && i < strides.len; i++) packed[i] = strides.ptr[i];
    }
    PyObject *stream = PyDict_GetItemString(interface, "stream");
    if (sync && stream && stream != Py_None && device_synchronise(context, PyLong_AsVoidPtr(stream), false) < 0)
        goto done;
    void *pointer = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
    if (!PyErr_Occurred())
        result = (PyObject *)wrap(runtime, context, (Scalar)scalar, (unsigned)shape.len, shape.ptr, packed, pointer,
                                  PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) == 1, object);
done:
    if (!result && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__ is malformed");
    PyDimMem_FREE(shape.ptr);
    PyDimMem_FREE(strides.ptr);
    Py_XDECREF(dtype);
    Py_XDECREF(interface);
    return result;
}

/* ---- page-locked host memory ---- */

static void free_pinned(PyObject *holder) {
    CudaContext *context = PyCapsule_GetContext(holder);
    void *memory = PyCapsule_GetPointer(holder, NULL);
    if (context) context_quietly(context, context->cuda->api.MemFreeHost, memory);
}

PyObject *device_array_pinned(PyObject *capsule, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", NULL};
    Runtime *runtime = RUNTIME_OF(capsule);
    PyObject *shape_object, *dtype_object = NULL, *strides = Py_None, *array = NULL, *holder = NULL;
    PyArray_Descr *dtype = NULL;
    PyArray_Dims shape = {NULL, 0};
    const char *order = "C";
    CudaContext *context;
    void *memory = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOs:pinned_array", names, &shape_object, &dtype_object, &strides,
                                     &order) ||
        runtime_context(runtime, &context) < 0)
        return NULL;
    if (read_shape(shape_object, &shape) < 0 ||
        (dtype_object ? !PyArray_DescrConverter(dtype_object, &dtype) : !(dtype = PyArray_DescrFromType(NPY_DOUBLE))))
        goto done;
    if (context) {
        size_t bytes = (size_t)(count_items((unsigned)shape.len, shape.ptr) * PyDataType_ELSIZE(dtype));
        int error = context->cuda->api.MemAllocHost(&memory, bytes ? bytes : 1);
        if (error != CUDA_OK) {
            cuda_raise(context->cuda, error, "allocating page-locked memory");
            goto done;
        }
        holder = PyCapsule_New(memory, NULL, free_pinned);
        if (!holder || PyCapsule_SetContext(holder, context) < 0) goto done;
    }
    array = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef(dtype), shape.len, shape.ptr, NULL, memory,
                                 NPY_ARRAY_WRITEABLE | (order[0] == 'F' ? NPY_ARRAY_F_CONTIGUOUS : 0), NULL);
    if (array && holder && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(holder)) < 0) Py_CLEAR(array);
done:
    PyDimMem_FREE(shape.ptr);
    Py_XDECREF(dtype);
    Py_XDECREF(holder);
    return array;
}
