/* array_views.c: indexing, slicing, transposing and reshaping of device arrays: views on the memory of their base.
 *
 * NumPy works the geometry out, on an array of the same shape and strides whose memory is never touched. */
#include "runtime/cuda/device_array.h"

#include <string.h> /* strcmp */

static const StreamUse default_use = {NULL, NULL}; /* the default stream */

/* A view with other geometry on the same memory. */
static PyObject *view_of(DeviceArray *self, const Type *element, unsigned ndim, const int64_t *shape,
                         const int64_t *strides, void *data) {
    return (PyObject *)device_array_wrap(self->runtime, self->device, element, ndim, shape, strides, data,
                                         self->type->readonly, self->base ? self->base : (PyObject *)self);
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
        const Type *element = geometry_element(self->runtime, PyArray_DESCR(array), frontend_addresses(result));
        if (element)
            view = view_of(self, element, (unsigned)PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
                           PyArray_DATA(array));
    }
    Py_DECREF(result);
    return view;
}

static PyObject *stand_in(DeviceArray *self) {
    if (device_array_check_there(self) < 0) return NULL;
    return device_array_numpy_view(self, self->head.data, NULL, true);
}

/* Basic indices only: NumPy would read memory for the others. */
static bool basic_index(const DeviceArray *self, PyObject *key) {
    if (PyTuple_Check(key)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
            if (PyTuple_Check(PyTuple_GET_ITEM(key, i)) || !basic_index(self, PyTuple_GET_ITEM(key, i))) return false;
        return true;
    }
    return key == Py_None || key == Py_Ellipsis || PySlice_Check(key) ||
           (PyIndex_Check(key) && !PyBool_Check(key) && !PyArray_Check(key) && Py_TYPE(key) != Py_TYPE(self));
}

/* The view that key selects, of no dimensions if key selects one element. */
static PyObject *device_array_select(DeviceArray *self, PyObject *key) {
    PyObject *with_ellipsis = NULL, *host = NULL, *result = NULL;
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

/* a['x']: a view on a field of its structs. */
static PyObject *field_of(DeviceArray *self, PyObject *name) {
    PyObject *host = stand_in(self), *view = host ? PyObject_GetItem(host, name) : NULL;
    Py_XDECREF(host);
    return view_like(self, view);
}

static PyObject *get_item(PyObject *object, PyObject *key, StreamUse on) {
    if (PyUnicode_Check(key)) return field_of((DeviceArray *)object, key);
    if (!basic_index((DeviceArray *)object, key))
        return device_array_operate((DeviceArray *)object, "operators", "take", "(OOO)", object, key,
                                    on.keeper ? on.keeper : Py_None);
    DeviceArray *view = (DeviceArray *)device_array_select((DeviceArray *)object, key);
    if (!view || view->type->ndim != 0) return (PyObject *)view;
    bool all = key == Py_Ellipsis; /* x[...] stays an array */
    for (Py_ssize_t i = 0; PyTuple_Check(key) && i < PyTuple_GET_SIZE(key); i++)
        all |= PyTuple_GET_ITEM(key, i) == Py_Ellipsis;
    if (all) return (PyObject *)view;
    PyObject *copy = device_array_copy_out(view, on, true);
    Py_DECREF(view);
    return copy ? PyArray_Return((PyArrayObject *)copy) : NULL;
}

PyObject *device_array_getitem(PyObject *object, PyObject *key) { return get_item(object, key, default_use); }

/* `key` may be any that NumPy takes. */
static int assign(DeviceArray *self, PyObject *key, PyObject *value, StreamUse on) {
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a device array cannot be deleted");
        return -1;
    }
    if (self->type->readonly) {
        PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
        return -1;
    }
    if (!PyUnicode_Check(key) && !basic_index(self, key)) {
        PyObject *stream = on.keeper ? on.keeper : Py_None;
        PyObject *done = device_array_operate(self, "operators", "put", "(OOOO)", self, key, value, stream);
        Py_XDECREF(done);
        return done ? 0 : -1;
    }
    DeviceArray *view = (DeviceArray *)(PyUnicode_Check(key) ? field_of(self, key) : device_array_select(self, key));
    if (!view) return -1;
    int status = Py_TYPE(value) == self->runtime->device_array
                     ? device_array_copy_across(view, on, (DeviceArray *)value)
                     : device_array_copy_in(view, on, value);
    Py_DECREF(view);
    return status;
}

int device_array_setitem(PyObject *object, PyObject *key, PyObject *value) {
    return assign((DeviceArray *)object, key, value, default_use);
}

PyObject *device_array_getitem_method(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"item", "stream", NULL};
    PyObject *key, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:getitem", names, &key, &stream) ||
        device_array_stream(self->device, stream, &on) < 0)
        return NULL;
    return get_item((PyObject *)self, key, on);
}

PyObject *device_array_setitem_method(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"key", "value", "stream", NULL};
    PyObject *key, *value, *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:setitem", names, &key, &value, &stream) ||
        device_array_stream(self->device, stream, &on) < 0 || assign(self, key, value, on) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* T, squeeze, view: NumPy's method on the stand-in. */
static PyObject *through_numpy(DeviceArray *self, const char *method, PyObject *args, PyObject *kwargs) {
    PyObject *host = stand_in(self), *bound = host ? PyObject_GetAttrString(host, method) : NULL, *view = NULL;
    PyObject *result = bound ? PyObject_Call(bound, args, kwargs) : NULL;
    if (result && (!PyArray_Check(result) || PyArray_DATA((PyArrayObject *)result) != self->head.data)) {
        Py_CLEAR(result);
        PyErr_Format(PyExc_ValueError, "%s() of this device array would need a copy", method);
    }
    if (result) view = view_like(self, result);
    Py_XDECREF(bound);
    Py_XDECREF(host);
    return view;
}

/* A view where there is one: NumPy says so without reading memory.  NULL without an exception: it would be a copy, or
 * this NumPy (2.0) cannot say. */
static PyObject *reshaped_view(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    PyObject *options = kwargs ? PyDict_Copy(kwargs) : PyDict_New(), *view = NULL;
    if (options && PyDict_SetItemString(options, "copy", Py_False) == 0)
        view = through_numpy(self, "reshape", args, options);
    Py_XDECREF(options);
    if (!view && (PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError))) PyErr_Clear();
    return view;
}

/* NumPy's reshape: of what has no view, a view on a copy that lies in the order asked for. */
PyObject *device_array_reshape(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    PyObject *view = reshaped_view(self, args, kwargs);
    if (view || PyErr_Occurred()) return view;
    PyObject *given = kwargs ? PyDict_GetItemString(kwargs, "order") : NULL;
    const char *order = given ? PyUnicode_AsUTF8(given) : "C";
    if (!order) return NULL;
    bool lies_so = self->type->layout == (*order == 'F' ? LAYOUT_F : LAYOUT_C);
    DeviceArray *source = lies_so ? (DeviceArray *)Py_NewRef((PyObject *)self)
                                  : (DeviceArray *)device_array_operate(self, "operators", "copy", "(Os)", self, order);
    if (source) view = through_numpy(source, "reshape", args, kwargs);
    Py_XDECREF(source);
    return view;
}

PyObject *device_array_ravel(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"order", "stream", NULL};
    const char *order = "C";
    PyObject *stream = NULL;
    StreamUse on; /* a copy, where there has to be one, is in order with what used the array */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|sO:ravel", names, &order, &stream) ||
        device_array_stream(self->device, stream, &on) < 0)
        return NULL;
    if (!order[0] || order[1] || !strchr("CFAK", *order))
        return PyErr_Format(PyExc_ValueError, "order must be one of 'C', 'F', 'A' or 'K', not '%.20s'", order);
    bool in_memory = *order == 'A' || *order == 'K';
    PyObject *flat = Py_BuildValue("(i)", -1);
    PyObject *options = Py_BuildValue("{s:s}", "order",
                                      *order == 'F' || (in_memory && self->type->layout == LAYOUT_F) ? "F" : "C");
    PyObject *result = flat && options ? device_array_reshape(self, flat, options) : NULL;
    Py_XDECREF(flat);
    Py_XDECREF(options);
    return result;
}

/* Of one argument, or of none. */
static PyObject *through_numpy_with(DeviceArray *self, const char *method, PyObject *argument) {
    PyObject *args = argument ? PyTuple_Pack(1, argument) : PyTuple_New(0);
    PyObject *view = args ? through_numpy(self, method, args, NULL) : NULL;
    Py_XDECREF(args);
    return view;
}

PyObject *device_array_transpose(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"axes", NULL};
    PyObject *axes = NULL;
    if (!kwargs || PyDict_GET_SIZE(kwargs) == 0) return through_numpy(self, "transpose", args, NULL);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:transpose", names, &axes)) return NULL;
    return through_numpy_with(self, "transpose", axes);
}

PyObject *device_array_squeeze(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"axis", "stream", NULL};
    PyObject *axis = Py_None, *stream = NULL;
    StreamUse on; /* a view is no work */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:squeeze", names, &axis, &stream) ||
        device_array_stream(self->device, stream, &on) < 0)
        return NULL;
    return through_numpy_with(self, "squeeze", axis == Py_None ? NULL : axis);
}

PyObject *device_array_view(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", NULL};
    PyObject *dtype;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:view", names, &dtype)) return NULL;
    return through_numpy_with(self, "view", dtype);
}

PyObject *device_array_split(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"section", "stream", NULL};
    Py_ssize_t section;
    PyObject *stream = NULL;
    StreamUse on;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|O:split", names, &section, &stream) ||
        device_array_stream(self->device, stream, &on) < 0)
        return NULL;
    if (section <= 0 || self->type->ndim != 1) {
        PyErr_SetString(PyExc_ValueError, "split() cuts an array of one dimension into sections of a positive length");
        return NULL;
    }
    if (device_array_check_there(self) < 0) return NULL;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t start = 0; list && start < device_array_shape(self)[0]; start += section) {
        PyObject *from = PyLong_FromSsize_t(start), *to = PyLong_FromSsize_t(start + section);
        PyObject *slice = from && to ? PySlice_New(from, to, NULL) : NULL;
        PyObject *part = slice ? device_array_select(self, slice) : NULL;
        if (!part || PyList_Append(list, part) < 0) Py_CLEAR(list);
        Py_XDECREF(part);
        Py_XDECREF(slice);
        Py_XDECREF(from);
        Py_XDECREF(to);
    }
    return list;
}
