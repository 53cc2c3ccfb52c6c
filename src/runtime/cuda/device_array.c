/* device_array.c: DeviceArray, an array in device memory, with the names that Numba's has: the type, the life of its
 * objects and the streams that use them.
 *
 * A DeviceArray carries its shape, strides and pointer in the layout that compiled code wants (ir.h), so a launch
 * copies them.  Views share the memory of their base. */
#include "runtime/cuda/device_array.h"

#include <stdio.h>        /* snprintf */
#include <structmember.h> /* T_OBJECT_EX; PyMemberDef before 3.12 */

/* type_view, without a search for a type like the last one. */
static const Type *type_like(Runtime *runtime, const Type *like, unsigned ndim, ArrayLayout layout) {
    const Type *recent = runtime->recent;
    if (recent && type_element(recent) == like->items[0] && recent->ndim == ndim && recent->layout == layout &&
        recent->readonly == like->readonly && recent->unaligned == like->unaligned && !recent->record)
        return recent;
    return runtime->recent = type_view(runtime->marshal->types, like, ndim, layout);
}

static void join_ring(DeviceArray *self) {
    DeviceArray *owner = device_array_owner(self);
    self->next = self->before = self;
    if (owner == self) return;
    self->before = owner;
    self->next = owner->next;
    owner->next->before = self;
    owner->next = self;
}

static void leave_ring(DeviceArray *self) {
    self->next->before = self->before;
    self->before->next = self->next;
}

/* A DeviceArray on memory that exists; base keeps it alive (NULL: the array will free `data` itself). */
DeviceArray *device_array_wrap(Runtime *runtime, Device *device, const Type *element, unsigned ndim,
                               const int64_t *shape, const int64_t *strides, void *data, bool readonly,
                               PyObject *base) {
    DeviceArray *self = PyObject_GC_NewVar(DeviceArray, runtime->device_array, 2 * (Py_ssize_t)ndim);
    if (!self) return NULL;
    self->weakrefs = NULL;
    self->base = Py_XNewRef(base);
    self->runtime = runtime;
    self->device = device;
    self->generation = device->generation;
    memset(self->uses, 0, sizeof self->uses);
    self->nuses = 0;
    self->home = (StreamUse){NULL, NULL};
    self->settled = true;
    self->known = self->recorded = false;
    self->lent = self->busy = 0;
    join_ring(self);
    uintptr_t addresses = (uintptr_t)data;
    for (unsigned i = 0; i < ndim; i++) addresses |= (uintptr_t)strides[i];
    const Type like = {.items = &element, .readonly = readonly, .unaligned = addresses % type_align(element) != 0};
    self->type = type_like(runtime, &like, ndim, strided_layout(ndim, shape, strides, type_size(element)));
    self->head = (ArrayHead){data, self};
    for (unsigned i = 0; i < ndim; i++) {
        self->dims[i] = shape[i];
        self->dims[ndim + i] = strides[i];
    }
    PyObject_GC_Track(self);
    return self;
}

/* Memory of the device's memory manager (cuda.set_memory_manager), which asks for the thread's device. */
static DeviceArray *allocate_elsewhere(Runtime *runtime, Device *device, const Type *element, unsigned ndim,
                                       const int64_t *shape, const int64_t *strides, int64_t bytes) {
    if (context_push(device) < 0) return NULL;
    PyObject *pair = PyObject_CallFunction(runtime->allocator, "L", (long long)bytes);
    context_pop();
    bool fits = pair && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2;
    void *data = fits ? PyLong_AsVoidPtr(PyTuple_GET_ITEM(pair, 0)) : NULL;
    DeviceArray *self = NULL;
    if (fits && !PyErr_Occurred())
        self = device_array_wrap(runtime, device, element, ndim, shape, strides, data, false,
                                 PyTuple_GET_ITEM(pair, 1));
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a memory manager gives an address and what keeps the memory");
    Py_XDECREF(pair);
    return self;
}

DeviceArray *device_array_allocate(Runtime *runtime, Device *device, StreamUse on, const Type *element, unsigned ndim,
                                   const int64_t *shape, const int64_t *strides) {
    void *data = NULL;
    int64_t bytes = (int64_t)type_size(element);
    if (!device) return NULL;
    for (unsigned i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(bytes, shape[i], &bytes)) {
            PyErr_SetString(PyExc_ValueError, "the array is too big");
            return NULL;
        }
    if (KRAIT_UNLIKELY(runtime->allocator != NULL))
        return allocate_elsewhere(runtime, device, element, ndim, shape, strides, bytes);
    if (device_allocate(device, on.stream, (size_t)bytes, &data) < 0) return NULL;
    DeviceArray *self = device_array_wrap(runtime, device, element, ndim, shape, strides, data, false, NULL);
    if (!self) {
        device_release(device, data, (size_t)bytes, &on.stream, 1);
        return NULL;
    }
    self->home = (StreamUse){on.stream, Py_XNewRef(on.keeper)};
    self->uses[0] = (StreamUse){on.stream, Py_XNewRef(on.keeper)};
    self->nuses = 1;
    self->settled = device->shares_memory;
    device->arrays++;
    device->array_bytes += bytes;
    if (device->array_bytes > device->most_bytes) device->most_bytes = device->array_bytes;
    return self;
}

static void drop_use(DeviceArray *owner, unsigned at) {
    Py_XDECREF(owner->uses[at].keeper);
    owner->nuses--;
    memmove(owner->uses + at, owner->uses + at + 1, (owner->nuses - at) * sizeof *owner->uses);
}

static int put_behind(Device *device, void *later, void *earlier) {
    return device_check(device, device->ops->stream_order(device, later, earlier), "making a stream wait for another");
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
        if (put_behind(owner->device, stream, owner->home.stream) < 0) return -1;
        if (home < owner->nuses) drop_use(owner, home);
    }
    if (owner->nuses < STREAM_USES) return 0;
    if (put_behind(owner->device, owner->uses[0].stream, owner->uses[STREAM_USES - 1].stream) < 0) return -1;
    drop_use(owner, STREAM_USES - 1);
    return 0;
}

int device_array_used_elsewhere(DeviceArray *owner, void *stream, PyObject *keeper) {
    if (owner->base) return 0;
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
void device_array_settle(DeviceArray *self) { device_array_owner(self)->settled = true; }

int device_array_gone(void) {
    PyErr_SetString(PyExc_RuntimeError, "the array's memory is gone: it was freed, or its device was reset");
    return -1;
}

size_t device_array_owned_bytes(const DeviceArray *self) {
    return (size_t)geometry_count(self->type->ndim, self->dims) * device_array_item(self);
}

void device_array_release(DeviceArray *self) {
    void *streams[STREAM_USES];
    for (unsigned i = 0; i < self->nuses; i++) streams[i] = self->uses[i].stream;
    if (!self->base && self->generation == self->device->generation) {
        size_t bytes = device_array_owned_bytes(self);
        device_release(self->device, self->head.data, bytes, streams, self->nuses);
        self->device->arrays--;
        self->device->array_bytes -= (int64_t)bytes;
    }
    unsigned nuses = self->nuses;
    self->nuses = 0;
    Py_CLEAR(self->base);
    Py_CLEAR(self->home.keeper);
    for (unsigned i = 0; i < nuses; i++) Py_XDECREF(self->uses[i].keeper);
}

const char *device_array_user(const DeviceArray *owner) {
    return owner->busy            ? "a launch or a copy that is running"
           : owner->lent          ? "another library"
           : owner->recorded      ? "a graph"
           : owner->next != owner ? "a view"
                                  : NULL;
}

/* Gives the memory back now: behind the streams that use it.  The array has no elements then, and is refused where it
 * is used. */
static PyObject *array_free(DeviceArray *self, PyObject *unused) {
    (void)unused;
    if (device_array_owner(self) != self) {
        PyErr_SetString(PyExc_ValueError, "a view does not own its memory: free its base");
        return NULL;
    }
    const char *user = device_array_user(self);
    if (user) return PyErr_Format(PyExc_BufferError, "the array's memory is in use by %s", user);
    device_array_release(self);
    self->head.data = NULL;
    memset(self->dims, 0, self->type->ndim * sizeof *self->dims);
    self->generation = self->device->generation - 1;
    Py_RETURN_NONE;
}

static PyObject *array_enter(DeviceArray *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self);
}

static PyObject *array_exit(DeviceArray *self, PyObject *args) {
    PyObject *done = array_free(self, NULL);
    bool raised = PyTuple_GET_SIZE(args) > 0 && PyTuple_GET_ITEM(args, 0) != Py_None;
    if (done || !raised) return done;
    PyErr_Clear(); /* the block's own exception is what matters; the memory goes with the array */
    Py_RETURN_NONE;
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
    leave_ring(self);
    device_array_release(self);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

bool device_array_is(PyObject *object) { return Py_TYPE(object)->tp_dealloc == dealloc; }

int device_array_stream(const Runtime *runtime, PyObject *stream, StreamUse *on) {
    *on = (StreamUse){NULL, stream == Py_None ? NULL : stream};
    return stream ? runtime_stream_handle(runtime->marshal, stream, &on->stream) : 0;
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

static PyObject *array_bind(DeviceArray *self, PyObject *args) {
    (void)args; /* every operation takes its stream as an argument */
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
    PyObject *none = PyTuple_New(0), *result = none ? device_array_transpose(self, none) : NULL;
    Py_XDECREF(none);
    return result;
}

/* As ctypes has it: programs read its `value`. */
static PyObject *get_pointer(DeviceArray *self, void *unused) {
    (void)unused;
    PyObject *ctypes = PyImport_ImportModule("ctypes");
    device_array_owner(self)->known = true;
    PyObject *pointer = ctypes ? PyObject_CallMethod(ctypes, "c_uint64", "N", PyLong_FromVoidPtr(self->head.data))
                               : NULL;
    Py_XDECREF(ctypes);
    return pointer;
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
    return Py_NewRef(self->base ? self->base : Py_None);
}

static PyMethodDef methods[] = {
    {"copy_to_host", (PyCFunction)(void (*)(void))device_array_method_to_host, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("copy_to_host($self, ary=None, stream=0)\n--\n\nThe elements as a NumPy array, new or `ary`.  With a "
               "stream the copy is queued there.")},
    {"copy_to_device", (PyCFunction)(void (*)(void))device_array_method_to_device, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("copy_to_device($self, ary, stream=0)\n--\n\nOverwrites the elements with those of a host or device "
               "array of the same shape.")},
    {"reshape", (PyCFunction)(void (*)(void))device_array_reshape, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A view of another shape and the same size.")},
    {"ravel", (PyCFunction)(void (*)(void))device_array_ravel, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("ravel($self, order='C', stream=0)\n--\n\nA view of one dimension.")},
    {"transpose", (PyCFunction)device_array_transpose, METH_VARARGS,
     PyDoc_STR("A view with the axes reversed or permuted.")},
    {"squeeze", (PyCFunction)(void (*)(void))device_array_squeeze, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A view without axes of length one.")},
    {"view", (PyCFunction)device_array_view, METH_VARARGS,
     PyDoc_STR("view($self, dtype)\n--\n\nThe same bytes as elements of another type.")},
    {"split", (PyCFunction)(void (*)(void))device_array_split, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("split($self, section, stream=0)\n--\n\nViews of `section` elements each; the last may be shorter.")},
    {"free", (PyCFunction)array_free, METH_NOARGS,
     PyDoc_STR("free($self)\n--\n\nGives the memory back now, behind the streams that use it; the array is of no use "
               "then.")},
    {"__enter__", (PyCFunction)array_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)array_exit, METH_VARARGS, NULL},
    {"bind", (PyCFunction)array_bind, METH_VARARGS, PyDoc_STR("bind($self, stream=0)\n--\n\nThe array itself.")},
    {"getitem", (PyCFunction)(void (*)(void))device_array_getitem_method, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("getitem($self, item, stream=0)\n--\n\nself[item]")},
    {"setitem", (PyCFunction)(void (*)(void))device_array_setitem_method, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("setitem($self, key, value, stream=0)\n--\n\nself[key] = value")},
    {"is_c_contiguous", (PyCFunction)array_is_c_contiguous, METH_NOARGS,
     PyDoc_STR("Whether the elements lie in C order without gaps.")},
    {"is_f_contiguous", (PyCFunction)array_is_f_contiguous, METH_NOARGS,
     PyDoc_STR("Whether the elements lie in Fortran order without gaps.")},
#define ARRAY_METHOD(name, module, function, bound, signature, doc) \
    {#name, (PyCFunction)(void (*)(void))device_array_compute_##name, METH_VARARGS | METH_KEYWORDS, PyDoc_STR(doc)},
#include "runtime/cuda/array_methods.def"
#undef ARRAY_METHOD
    {"__array_ufunc__", (PyCFunction)(void (*)(void))device_array_ufunc, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_host_view", (PyCFunction)device_array_host_view, METH_NOARGS, NULL},
    {"__reduce__", (PyCFunction)device_array_reduce, METH_NOARGS, NULL},
    {"__dlpack__", (PyCFunction)(void (*)(void))device_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA capsule that "
               "another library takes the memory from.")},
    {"__dlpack_device__", (PyCFunction)device_array_dlpack_device, METH_NOARGS,
     PyDoc_STR("(device type, number) as DLPack has them.")},
    {"__array__", (PyCFunction)(void (*)(void))device_array_to_numpy, METH_VARARGS | METH_KEYWORDS,
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
    {"flags", (getter)get_flags, NULL, PyDoc_STR("As numpy.ndarray.flags."), NULL},
    {"base", (getter)get_base, NULL, PyDoc_STR("What owns the memory of a view, else None."), NULL},
    {"T", (getter)get_transposed, NULL, PyDoc_STR("A view with the axes reversed."), NULL},
    {"device_ctypes_pointer", (getter)get_pointer, NULL, PyDoc_STR("Address of the first element, a ctypes.c_uint64."),
     NULL},
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
