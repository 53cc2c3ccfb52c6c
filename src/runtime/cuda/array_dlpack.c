/* array_dlpack.c: device arrays to other libraries and back by DLPack, without copying.
 *
 * Out: a capsule around a tensor that keeps the array alive until the taker calls its deleter; the taker's stream waits
 * for what Krait's streams were given on the array.  In: a device array whose base is the taken tensor.  Both forms of
 * the protocol are spoken: with a version (1.x) and without; producers whose class has a table of C functions are asked
 * through that (array_exchange.c).  On the host device arrays are memory of the CPU. */
#include "runtime/cuda/dlpack.h"

#include <stdlib.h> /* malloc: a deleter may be called without the GIL */

/* ---- out ---- */

static void end_loan(Lent *lent) {
    if (Py_IsInitialized()) { /* after its end the array is gone anyway */
        PyGILState_STATE gil = PyGILState_Ensure();
        device_array_owner((DeviceArray *)lent->array)->lent--;
        Py_DECREF(lent->array);
        PyGILState_Release(gil);
    }
    free(lent);
}

static void delete_plain(DLManaged *self) { end_loan(self->context); }
static void delete_versioned(DLVersioned *self) { end_loan(self->context); }

/* A capsule that nobody took: taking it changes its name. */
static void drop_capsule(PyObject *capsule) {
    const char *name = PyCapsule_GetName(capsule);
    if (!name || !strncmp(name, "used_", 5)) return;
    void *managed = PyCapsule_GetPointer(capsule, name);
    if (managed)
        end_loan(!strcmp(name, "dltensor") ? ((DLManaged *)managed)->context : ((DLVersioned *)managed)->context);
}

static uint8_t code_of(Scalar scalar) {
    if (scalar == SCALAR_BFLOAT16) return DL_BFLOAT;
    switch (scalar_info[scalar].kind) {
    case 'i': return DL_INT;
    case 'u': return DL_UINT;
    case 'f': return DL_FLOAT;
    case 'c': return DL_COMPLEX;
    default: return DL_BOOL;
    }
}

static int describe(DeviceArray *self, DLTensor *tensor, int64_t *dims) {
    unsigned ndim = self->type->ndim;
    int scalar = type_element_scalar(self->type);
    int64_t item = (int64_t)device_array_item(self);
    if (scalar < 0) {
        PyErr_SetString(PyExc_BufferError, "DLPack has no structs");
        return -1;
    }
    for (unsigned i = 0; i < ndim; i++) {
        dims[i] = device_array_shape(self)[i];
        dims[ndim + i] = device_array_strides(self)[i] / item;
        if (device_array_strides(self)[i] % item) {
            PyErr_SetString(PyExc_BufferError, "DLPack counts strides in elements, and this array's are no multiple");
            return -1;
        }
    }
    *tensor = (DLTensor){.data = self->head.data, .ndim = (int32_t)ndim, .shape = dims, .strides = dims + ndim};
    tensor->device.type = self->device->shares_memory ? DL_CPU : DL_CUDA;
    tensor->device.id = self->device->shares_memory ? 0 : self->device->ordinal;
    tensor->dtype.code = code_of((Scalar)scalar);
    tensor->dtype.bits = (uint8_t)(8 * item);
    tensor->dtype.lanes = 1;
    return 0;
}

/* NULL: exception set. */
Lent *dlpack_lend(DeviceArray *self, bool versioned, bool copied) {
    Lent *lent = malloc(sizeof *lent + 2 * self->type->ndim * sizeof(int64_t));
    if (!lent) return (Lent *)PyErr_NoMemory();
    DLTensor *tensor = versioned ? &lent->versioned.tensor : &lent->plain.tensor;
    if (describe(self, tensor, lent->dims) < 0) {
        free(lent);
        return NULL;
    }
    lent->array = Py_NewRef((PyObject *)self);
    device_array_owner(self)->lent++;
    if (versioned) {
        DLVersioned *to = &lent->versioned;
        to->major = DL_MAJOR;
        to->minor = DL_MINOR;
        to->context = lent;
        to->deleter = delete_versioned;
        to->flags = (self->type->readonly ? DL_READ_ONLY : 0) | (copied ? DL_IS_COPIED : 0);
    } else {
        lent->plain.context = lent;
        lent->plain.deleter = delete_plain;
    }
    return lent;
}

static PyObject *lend(DeviceArray *self, bool versioned, bool copied) {
    Lent *lent = dlpack_lend(self, versioned, copied);
    if (!lent) return NULL;
    PyObject *capsule = PyCapsule_New(lent, versioned ? "dltensor_versioned" : "dltensor", drop_capsule);
    if (!capsule) end_loan(lent);
    return capsule;
}

/* The taker's stream, as the array API standard numbers them; -1: it asks for no order. */
static int order_stream(DeviceArray *self, PyObject *stream) {
    long long number = stream == Py_None ? 1 : PyLong_AsLongLong(stream);
    if (number == -1) return PyErr_Occurred() ? -1 : 0;
    if (number < -1) {
        PyErr_Format(PyExc_ValueError, "%lld is no stream: -1, 1, 2 or an address", number);
        return -1;
    }
    if (self->device->shares_memory) return 0;
    if (number == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "stream 0 is ambiguous: 1 is the legacy default stream, 2 that of the thread");
        return -1;
    }
    void *handle = number == 1 ? NULL : (void *)(uintptr_t)number;
    if (device_array_used(self, handle, NULL) < 0) return -1;
    DeviceArray *owner = device_array_owner(self);
    for (unsigned i = 0; i < owner->nuses; i++) {
        void *earlier = owner->uses[i].stream;
        if (earlier == handle) continue;
        int status;
        GIVE(self->device, status, self->device->ops->stream_order(self->device, handle, earlier));
        if (device_check(self->device, status, "making a stream wait for another") < 0) return -1;
    }
    return 0;
}

int dlpack_order(DeviceArray *self) { return order_stream(self, Py_None); }

/* An argument that is None or a pair of ints.  1: a pair; 0: None; -1: exception set. */
static int read_pair(PyObject *given, const char *name, int *first, int *second) {
    if (given == Py_None) return 0;
    if (PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 2 && PyIndex_Check(PyTuple_GET_ITEM(given, 0)) &&
        PyIndex_Check(PyTuple_GET_ITEM(given, 1)))
        return PyArg_ParseTuple(given, "ii", first, second) ? 1 : -1;
    PyErr_Format(PyExc_TypeError, "%s is None or a tuple of two ints, not %R", name, given);
    return -1;
}

/* dl_device=(kDLCPU, 0): the elements on the host.  0: it is this device, or any; 1: the host; -1: neither. */
static int wanted_device(const DeviceArray *self, PyObject *device) {
    int type, id, given = read_pair(device, "dl_device", &type, &id);
    if (given <= 0) return given;
    bool host = self->device->shares_memory;
    if (type == DL_CPU) return host ? 0 : 1;
    if (!host && type == DL_CUDA && id == self->device->ordinal) return 0;
    PyErr_SetString(PyExc_BufferError, "the array can be given on its own device and on the CPU only");
    return -1;
}

PyObject *device_array_dlpack(DeviceArray *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    int major = 0, minor;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    if (copy != Py_None && !PyBool_Check(copy))
        return PyErr_Format(PyExc_TypeError, "copy is None or a bool, not %R", copy);
    if (read_pair(version, "max_version", &major, &minor) < 0 || device_array_check_there(self) < 0) return NULL;
    int host = wanted_device(self, device);
    if (host < 0) return NULL;
    if (host) {
        if (copy == Py_False) {
            PyErr_SetString(PyExc_BufferError, "the array lies on a GPU: it cannot be given on the CPU without a copy");
            return NULL;
        }
        PyObject *array = device_array_copy_out(self, (StreamUse){NULL, NULL}, true);
        PyObject *capsule = array ? PyObject_CallMethod(array, "__dlpack__", NULL) : NULL;
        Py_XDECREF(array);
        return capsule;
    }
    DeviceArray *given = copy == Py_True ? (DeviceArray *)PyObject_CallMethod((PyObject *)self, "copy", NULL)
                                         : (DeviceArray *)Py_NewRef((PyObject *)self);
    if (!given) return NULL;
    PyObject *capsule = order_stream(given, stream) < 0 ? NULL : lend(given, major >= DL_MAJOR, copy == Py_True);
    Py_DECREF(given);
    return capsule;
}

PyObject *device_array_dlpack_device(DeviceArray *self, PyObject *unused) {
    (void)unused;
    bool host = self->device->shares_memory;
    return Py_BuildValue("(ii)", host ? DL_CPU : DL_CUDA, host ? 0 : self->device->ordinal);
}

/* ---- in ---- */

static void drop_plain(PyObject *holder) {
    DLManaged *managed = PyCapsule_GetPointer(holder, NULL);
    if (managed->deleter) managed->deleter(managed);
}

static void drop_versioned(PyObject *holder) {
    DLVersioned *managed = PyCapsule_GetPointer(holder, NULL);
    if (managed->deleter) managed->deleter(managed);
}

PyObject *dlpack_holder(DLVersioned *tensor) { return PyCapsule_New(tensor, NULL, drop_versioned); }

int dlpack_scalar(const DLTensor *tensor) {
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (tensor->dtype.lanes == 1 && code_of((Scalar)i) == tensor->dtype.code &&
            8 * scalar_info[i].bytes == tensor->dtype.bits)
            return i;
    PyErr_Format(PyExc_TypeError, "a device array cannot hold this tensor's elements (DLPack type code %d, %d bits)",
                 tensor->dtype.code, tensor->dtype.bits);
    return -1;
}

/* `current`: the thread's. */
Device *dlpack_device(Runtime *runtime, Device *current, const DLTensor *tensor) {
    int type = tensor->device.type, id = tensor->device.id;
    if (current->shares_memory) {
        if (type == DL_CPU) return current;
        cuda_refuse(NEEDS_GPU, cuda_choice_reason(runtime->cuda));
        return NULL;
    }
    if (type == DL_CUDA && id == current->ordinal) return current;
    if (type == DL_CUDA_HOST || type == DL_CUDA_MANAGED) return current;
    if (type == DL_CUDA && id >= 0 && id < cuda_device_count(runtime->cuda)) return cuda_device(runtime->cuda, id);
    PyErr_SetString(PyExc_BufferError, "the tensor lies on no GPU: to_device() copies it there");
    return NULL;
}

const Type *dlpack_element(Runtime *runtime, const DLTensor *tensor) {
    int scalar = dlpack_scalar(tensor);
    if (scalar < 0) return NULL;
    memcpy(&runtime->tensor_dtype, &tensor->dtype, sizeof runtime->tensor_dtype);
    return runtime->tensor_element = type_scalar(runtime->marshal->types, (Scalar)scalar, false);
}

int dlpack_refuse_dimensions(void) {
    PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
    return -1;
}

PyObject *dlpack_wrap(Runtime *runtime, const DLTensor *tensor, bool readonly, PyObject *holder) {
    ArrayFields fields;
    if (dlpack_read(runtime, runtime_device(runtime), tensor, readonly, &fields) < 0) return NULL;
    return (PyObject *)device_array_of(runtime, &fields, holder);
}

static PyObject *take(Runtime *runtime, PyObject *capsule) {
    bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    if (!versioned && !PyCapsule_IsValid(capsule, "dltensor")) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__() gave no capsule, or one that is taken already");
        return NULL;
    }
    void *managed = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
    if (versioned && ((DLVersioned *)managed)->major > DL_MAJOR) {
        PyErr_Format(PyExc_BufferError, "the tensor follows DLPack %u, versions up to %d are understood here",
                     (unsigned)((DLVersioned *)managed)->major, DL_MAJOR);
        return NULL;
    }
    const DLTensor *tensor = versioned ? &((DLVersioned *)managed)->tensor : &((DLManaged *)managed)->tensor;
    PyObject *holder = PyCapsule_New(managed, NULL, NULL);
    if (!holder) return NULL;
    bool readonly = versioned && ((DLVersioned *)managed)->flags & DL_READ_ONLY;
    PyObject *array = dlpack_wrap(runtime, tensor, readonly, holder);
    if (array) { /* from here on it is ours */
        PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
        PyCapsule_SetDestructor(holder, versioned ? drop_versioned : drop_plain);
    }
    Py_DECREF(holder);
    return array;
}

/* As the array API standard numbers streams: the legacy default stream is 1. */
static PyObject *stream_number(void *stream) { return PyLong_FromVoidPtr(stream ? stream : (void *)1); }

/* The producer makes the stream wait for its work.  Producers of before 1.0 know no max_version. */
static PyObject *capsule_of(Runtime *runtime, PyObject *object, void *stream) {
    Device *device = runtime_device(runtime);
    PyObject *method = device ? PyObject_GetAttrString(object, "__dlpack__") : NULL, *none = PyTuple_New(0);
    PyObject *capsule = NULL, *options = device && device->shares_memory
                                             ? PyDict_New()
                                             : Py_BuildValue("{s:N}", "stream", stream_number(stream));
    PyObject *version = Py_BuildValue("(ii)", DL_MAJOR, DL_MINOR);
    if (method && none && options && version && PyDict_SetItemString(options, "max_version", version) == 0) {
        capsule = PyObject_Call(method, none, options);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            if (PyDict_DelItemString(options, "max_version") == 0) capsule = PyObject_Call(method, none, options);
        }
    }
    Py_XDECREF(version);
    Py_XDECREF(options);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

PyObject *device_array_ask(Runtime *runtime, PyObject *object, void *stream) {
    PyObject *capsule = PyCapsule_CheckExact(object) ? Py_NewRef(object) : capsule_of(runtime, object, stream);
    PyObject *array = capsule ? take(runtime, capsule) : NULL;
    Py_XDECREF(capsule);
    return array;
}

PyObject *device_array_from_dlpack(PyObject *self, PyObject *object) {
    Runtime *runtime = RUNTIME_OF(self);
    if (Py_TYPE(object) == runtime->device_array) return Py_NewRef(object);
    const Foreign *known = device_array_foreign(runtime, object);
    if (!known && PyErr_Occurred()) return NULL;
    if (known && known->table) return device_array_from_table(runtime, known->table, object, NULL);
    return device_array_ask(runtime, object, NULL);
}
