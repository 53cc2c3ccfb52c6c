/* fake_arrays.c: arrays as CuPy has them, for tests without CuPy: a base class of its name whose fields are getters and
 * a C function that tells the current stream.
 * array(address, GPU, dtype, ndim, size, shape, strides, whether it is contiguous in C order). */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

typedef struct Memory {
    PyObject_HEAD
    PyObject *ptr, *device_id;
} Memory;

typedef struct Array {
    PyObject_HEAD
    PyObject *data, *dtype, *ndim, *size, *shape, *strides, *contiguous;
} Array;

static Py_ssize_t dicts; /* made for __cuda_array_interface__ */
static intptr_t stream;

#define FIELD(class, name)                                          \
    static PyObject *class##_##name(PyObject *self, void *unused) { \
        return (void)unused, Py_NewRef(((class *)self)->name);      \
    }
FIELD(Memory, ptr)
FIELD(Memory, device_id)
FIELD(Array, data)
FIELD(Array, dtype)
FIELD(Array, ndim)
FIELD(Array, size)
FIELD(Array, shape)
FIELD(Array, strides)
FIELD(Array, contiguous)

static PyObject *interface(PyObject *object, void *unused) {
    Array *self = (Array *)object;
    (void)unused;
    dicts++;
    PyObject *typestr = PyObject_GetAttrString(self->dtype, "str");
    return Py_BuildValue("{sO sN sO s(OO) si sn}", "shape", self->shape, "typestr", typestr, "strides", self->strides,
                         "data", ((Memory *)self->data)->ptr, Py_False, "version", 3, "stream",
                         (Py_ssize_t)(stream ? stream : 1));
}

static PyGetSetDef memory_fields[] = {{"ptr", Memory_ptr, NULL, NULL, NULL},
                                      {"device_id", Memory_device_id, NULL, NULL, NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyGetSetDef array_fields[] = {{"data", Array_data, NULL, NULL, NULL},
                                     {"dtype", Array_dtype, NULL, NULL, NULL},
                                     {"ndim", Array_ndim, NULL, NULL, NULL},
                                     {"size", Array_size, NULL, NULL, NULL},
                                     {"shape", Array_shape, NULL, NULL, NULL},
                                     {"strides", Array_strides, NULL, NULL, NULL},
                                     {"_c_contiguous", Array_contiguous, NULL, NULL, NULL},
                                     {"__cuda_array_interface__", interface, NULL, NULL, NULL},
                                     {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject memory_class = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cupy.cuda.memory.MemoryPointer",
                                    .tp_basicsize = sizeof(Memory), .tp_flags = Py_TPFLAGS_DEFAULT,
                                    .tp_getset = memory_fields};

static int array_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    Array *self = (Array *)object;
    PyObject *ptr, *device_id;
    (void)kwargs;
    Memory *memory = PyObject_New(Memory, &memory_class);
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &ptr, &device_id, &self->dtype, &self->ndim, &self->size, &self->shape,
                          &self->strides, &self->contiguous))
        return -1;
    Py_INCREF(args); /* it has them all; never given back */
    memory->ptr = ptr;
    memory->device_id = device_id;
    self->data = (PyObject *)memory;
    return 0;
}

static PyTypeObject array_class = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cupy._core.core._ndarray_base",
                                   .tp_basicsize = sizeof(Array),
                                   .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                   .tp_init = array_init,
                                   .tp_new = PyType_GenericNew,
                                   .tp_getset = array_fields};

static intptr_t current_stream(void) { return stream; }
static PyObject *set_stream(PyObject *self, PyObject *number) {
    (void)self;
    stream = (intptr_t)PyLong_AsVoidPtr(number);
    Py_RETURN_NONE;
}
static PyObject *interfaces(PyObject *self, PyObject *unused) {
    return (void)self, (void)unused, PyLong_FromSsize_t(dicts);
}

static PyMethodDef functions[] = {
    {"set_stream", set_stream, METH_O, NULL}, {"interfaces", interfaces, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "fake_arrays", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_fake_arrays(void) {
    PyObject *module = PyModule_Create(&definition);
    PyObject *capsule = PyCapsule_New((void *)(intptr_t)current_stream, "intptr_t (void)", NULL);
    if (!module || !capsule || PyType_Ready(&memory_class) < 0 || PyType_Ready(&array_class) < 0) return NULL;
    PyModule_AddObjectRef(module, "MemoryPointer", (PyObject *)&memory_class);
    PyModule_AddObjectRef(module, "array", (PyObject *)&array_class);
    PyModule_AddObject(module, "__pyx_capi__", Py_BuildValue("{sN}", "get_current_stream_ptr", capsule));
    return module;
}
