/* array_class.c: what Python sees of a DeviceArray: the tables of its methods and attributes, and the attributes that
 * only say what the array is. */
#include "runtime/cuda/dlpack.h"

#include <structmember.h> /* T_PYSSIZET; PyMemberDef before 3.12 */

static PyObject *array_enter(DeviceArray *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self);
}

static Py_ssize_t array_length(PyObject *object) {
    DeviceArray *self = (DeviceArray *)object;
    if (device_array_check_there(self) < 0) return -1;
    if (self->type->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
        return -1;
    }
    return device_array_shape(self)[0];
}

static PyObject *array_is_c_contiguous(DeviceArray *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(self->type->layout == LAYOUT_C);
}

static PyObject *array_is_f_contiguous(DeviceArray *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(self->type->layout == LAYOUT_F || (self->type->layout == LAYOUT_C && self->type->ndim <= 1));
}

static PyObject *array_bind(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", NULL};
    PyObject *stream = NULL;
    StreamUse on; /* not kept: every operation takes its stream as an argument */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:bind", names, &stream) ||
        device_array_stream(self->device, stream, &on) < 0)
        return NULL;
    return Py_NewRef(self);
}

/* By identity: comparing arrays gives an array. */
static Py_hash_t array_hash(PyObject *object) { return PyBaseObject_Type.tp_hash(object); }

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
    return tuple_of(device_array_shape(self), self->type->ndim);
}

static PyObject *get_strides(DeviceArray *self, void *unused) {
    (void)unused;
    return tuple_of(device_array_strides(self), self->type->ndim);
}

static PyObject *get_dtype(DeviceArray *self, void *unused) {
    (void)unused;
    return (PyObject *)device_array_dtype(self);
}

static PyObject *get_ndim(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(self->type->ndim);
}

static PyObject *get_size(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(geometry_count(self->type->ndim, device_array_shape(self)));
}

static PyObject *get_nbytes(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(geometry_count(self->type->ndim, device_array_shape(self)) *
                               (int64_t)device_array_item(self));
}

static PyObject *get_itemsize(DeviceArray *self, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(device_array_item(self));
}

static PyObject *get_transposed(DeviceArray *self, void *unused) {
    (void)unused;
    PyObject *none = PyTuple_New(0), *result = none ? device_array_transpose(self, none, NULL) : NULL;
    Py_XDECREF(none);
    return result;
}

/* As ctypes has it: programs read its `value`. */
static PyObject *get_pointer(DeviceArray *self, void *unused) {
    (void)unused;
    device_array_owner(self)->known = true;
    return marshal_call_python("ctypes", "c_uint64", "(N)", PyLong_FromVoidPtr(self->head.data));
}

/* As an object of numba.cuda's memory management; krait.cuda._memory has its class. */
static PyObject *get_memory(DeviceArray *self, void *unused) {
    (void)unused;
    return marshal_call_python("krait.cuda._memory", "memory_of", "(O)", self);
}

/* Every operation takes its stream as an argument. */
static PyObject *get_stream(DeviceArray *self, void *unused) {
    (void)self, (void)unused;
    return PyLong_FromLong(0);
}

static PyObject *get_true(DeviceArray *self, void *unused) {
    (void)self, (void)unused;
    Py_RETURN_TRUE;
}

/* CUDA Array Interface, version 3; only memory of a GPU has one. */
static PyObject *get_cuda_array_interface(DeviceArray *self, void *unused) {
    (void)unused;
    if (self->device->shares_memory) {
        PyErr_SetString(PyExc_AttributeError,
                        "__cuda_array_interface__: this array lies in host memory (kernels run on the host device)");
        return NULL;
    }
    device_array_owner(self)->known = true;
    if (dlpack_order(self) < 0) return NULL; /* the stream it names is the default stream */
    PyObject *dtype = (PyObject *)device_array_dtype(self);
    PyObject *typestr = dtype ? PyObject_GetAttrString(dtype, "str") : NULL;
    PyObject *fields = dtype ? PyObject_GetAttrString(dtype, "descr") : NULL;
    Py_XDECREF(dtype);
    if (!typestr || !fields) {
        Py_XDECREF(typestr);
        Py_XDECREF(fields);
        return NULL;
    }
    PyObject *strides = self->type->layout == LAYOUT_C ? Py_NewRef(Py_None) : get_strides(self, NULL);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:(NO),s:i,s:i}", "shape", get_shape(self, NULL), "strides", strides,
                         "typestr", typestr, "descr", fields, "data", PyLong_FromVoidPtr(self->head.data),
                         self->type->readonly ? Py_True : Py_False, "version", 3, "stream", 1);
}

static PyObject *array_repr(PyObject *object) {
    DeviceArray *self = (DeviceArray *)object;
    PyObject *shape = get_shape(self, NULL), *dtype = (PyObject *)device_array_dtype(self), *text = NULL;
    if (shape && dtype)
        text = PyUnicode_FromFormat("<krait DeviceArray %S %S on %s>", shape, dtype, self->device->what);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return text;
}

static PyObject *get_flags(DeviceArray *self, void *unused) {
    (void)unused; /* of a NumPy array of the same geometry, which is never read */
    PyObject *array = device_array_numpy_view(self, self->head.data, NULL, !self->type->readonly);
    PyObject *flags = array ? PyObject_GetAttrString(array, "flags") : NULL;
    Py_XDECREF(array);
    return flags;
}

static PyObject *get_base(DeviceArray *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->base ? self->base : self->keeper ? self->keeper : Py_None);
}

static PyMethodDef methods[] = {
    {"copy_to_host", WITH_KEYWORDS(device_array_method_to_host), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("copy_to_host($self, ary=None, stream=0)\n--\n\nThe elements as a NumPy array, new or `ary`.  With a "
               "stream the copy is queued there.")},
    {"copy_to_device", WITH_KEYWORDS(device_array_method_to_device), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("copy_to_device($self, ary, stream=0)\n--\n\nOverwrites the elements with those of a host or device "
               "array of the same shape.")},
    {"reshape", WITH_KEYWORDS(device_array_reshape), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A view of another shape and the same size.")},
    {"ravel", WITH_KEYWORDS(device_array_ravel), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("ravel($self, order='C', stream=0)\n--\n\nA view of one dimension.")},
    {"transpose", WITH_KEYWORDS(device_array_transpose), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "A view with the axes reversed or permuted: transpose(1, 0), transpose((1, 0)), transpose(axes=(1, 0)).")},
    {"squeeze", WITH_KEYWORDS(device_array_squeeze), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("squeeze($self, axis=None, stream=0)\n--\n\nA view without axes of length one.")},
    {"view", WITH_KEYWORDS(device_array_view), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("view($self, dtype)\n--\n\nThe same bytes as elements of another type.")},
    {"split", WITH_KEYWORDS(device_array_split), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("split($self, section, stream=0)\n--\n\nViews of `section` elements each; the last may be shorter.")},
    {"free", (PyCFunction)device_array_free, METH_NOARGS,
     PyDoc_STR("free($self)\n--\n\nGives the memory back now, behind the streams that use it; the array is of no use "
               "then.")},
    {"__enter__", (PyCFunction)array_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)device_array_exit, METH_VARARGS, NULL},
    {"bind", WITH_KEYWORDS(array_bind), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("bind($self, stream=0)\n--\n\nThe array itself.")},
    {"getitem", WITH_KEYWORDS(device_array_getitem_method), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("getitem($self, item, stream=0)\n--\n\nself[item]")},
    {"setitem", WITH_KEYWORDS(device_array_setitem_method), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("setitem($self, key, value, stream=0)\n--\n\nself[key] = value")},
    {"is_c_contiguous", (PyCFunction)array_is_c_contiguous, METH_NOARGS,
     PyDoc_STR("Whether the elements lie in C order without gaps.")},
    {"is_f_contiguous", (PyCFunction)array_is_f_contiguous, METH_NOARGS,
     PyDoc_STR("Whether the elements lie in Fortran order without gaps.")},
#define ARRAY_METHOD(name, module, function, bound, signature, doc) \
    {#name, WITH_KEYWORDS(device_array_compute_##name), METH_VARARGS | METH_KEYWORDS, PyDoc_STR(doc)},
#include "runtime/cuda/array_methods.def"
#undef ARRAY_METHOD
    {"__array_ufunc__", WITH_KEYWORDS(device_array_ufunc), METH_VARARGS | METH_KEYWORDS, NULL},
    {"_host_view", (PyCFunction)device_array_host_view, METH_NOARGS, NULL},
    {"__reduce__", (PyCFunction)device_array_reduce, METH_NOARGS, NULL},
    {"__dlpack__", WITH_KEYWORDS(device_array_dlpack), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA capsule that "
               "another library takes the memory from.")},
    {"__dlpack_device__", (PyCFunction)device_array_dlpack_device, METH_NOARGS,
     PyDoc_STR("(device type, number) as DLPack has them.")},
    {"__array__", WITH_KEYWORDS(device_array_to_numpy), METH_VARARGS | METH_KEYWORDS, PyDoc_STR("A copy on the host.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"shape", (getter)get_shape, NULL, PyDoc_STR("Elements along each axis."), NULL},
    {"strides", (getter)get_strides, NULL, PyDoc_STR("Bytes from one element to the next along each axis."), NULL},
    {"dtype", (getter)get_dtype, NULL, PyDoc_STR("NumPy dtype of the elements."), NULL},
    {"ndim", (getter)get_ndim, NULL, PyDoc_STR("Number of axes."), NULL},
    {"size", (getter)get_size, NULL, PyDoc_STR("Number of elements."), NULL},
    {"nbytes", (getter)get_nbytes, NULL, PyDoc_STR("Bytes of all elements."), NULL},
    {"alloc_size", (getter)get_nbytes, NULL, PyDoc_STR("The same as nbytes."), NULL},
    {"itemsize", (getter)get_itemsize, NULL, PyDoc_STR("Bytes of one element."), NULL},
    {"flags", (getter)get_flags, NULL, PyDoc_STR("As numpy.ndarray.flags."), NULL},
    {"base", (getter)get_base, NULL, PyDoc_STR("What owns the memory of a view, else None."), NULL},
    {"T", (getter)get_transposed, NULL, PyDoc_STR("A view with the axes reversed."), NULL},
    {"device_ctypes_pointer", (getter)get_pointer, NULL, PyDoc_STR("Address of the first element, a ctypes.c_uint64."),
     NULL},
    {"gpu_data", (getter)get_memory, NULL, PyDoc_STR("The memory, a cuda.MemoryPointer."), NULL},
    {"stream", (getter)get_stream, NULL, PyDoc_STR("0: operations are on the default stream unless they name one."),
     NULL},
    {"__cuda_memory__", (getter)get_true, NULL, PyDoc_STR("True: it is memory of a device."), NULL},
    {"__cuda_ndarray__", (getter)get_true, NULL, PyDoc_STR("True: it is an array in memory of a device."), NULL},
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
    {Py_tp_dealloc, device_array_dealloc},
    {Py_tp_finalize, runtime_keep_dropped},
    {Py_tp_traverse, device_array_traverse},
    {Py_tp_clear, device_array_clear},
    {Py_tp_repr, array_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
#define BINARY(slot, ufunc) {Py_nb_##slot, device_array_##slot}, {Py_nb_inplace_##slot, device_array_inplace_##slot},
#define TERNARY             BINARY
#define UNARY(slot, ufunc)  {Py_nb_##slot, device_array_##slot},
#include "runtime/cuda/array_operators.def"
#undef UNARY
#undef TERNARY
#undef BINARY
    {Py_nb_int, device_array_int},
    {Py_nb_float, device_array_float},
    {Py_nb_index, device_array_index},
    {Py_nb_bool, device_array_bool},
    {Py_tp_richcompare, device_array_compare},
    {Py_tp_hash, array_hash},
    {Py_sq_item, device_array_element},
    {Py_mp_length, array_length},
    {Py_mp_subscript, device_array_getitem},
    {Py_mp_ass_subscript, device_array_setitem},
    {0, NULL},
};

PyType_Spec device_array_spec = {
    .name = "krait.cuda.DeviceArray",
    .basicsize = offsetof(DeviceArray, dims),
    .itemsize = sizeof(int64_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
