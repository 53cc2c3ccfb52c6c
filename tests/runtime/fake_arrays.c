/* fake_arrays.c: arrays as CuPy and tensors as PyTorch have them, for tests without these: a base class of CuPy's name
 * whose fields are getters and a C function that tells the current stream; a class with a table of DLPack's that lends.
 * array(address, GPU, dtype, ndim, size, shape, strides, whether it is contiguous in C order);
 * tensor(address, GPU, rows, columns, stride of a row, stride of a column) of float32, strides in elements. */
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

/* ---- tensors ---- */

typedef struct Tensor {
    PyObject_HEAD
    unsigned long long address;
    int gpu;
    long long dims[4];
} Tensor;

typedef struct Lent { /* DLTensor */
    unsigned long long data;
    int32_t type, gpu, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    long long *shape, *strides;
    uint64_t offset;
} Lent;

static Py_ssize_t asked; /* for the current stream */

static int tensor_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    Tensor *self = (Tensor *)object;
    long long *dims = self->dims;
    (void)kwargs;
    return PyArg_ParseTuple(args, "KiLLLL", &self->address, &self->gpu, &dims[0], &dims[1], &dims[2], &dims[3]) - 1;
}

static int lend(void *object, Lent *lent) {
    Tensor *self = object;
    *lent = (Lent){self->address, 2, self->gpu, 2, 2, 32, 1, self->dims, self->dims + 2, 0};
    return 0;
}

static int tensor_stream(int32_t type, int32_t gpu, void **current) {
    (void)type, (void)gpu;
    asked++;
    return *current = (void *)stream, 0;
}

static PyObject *questions(PyObject *self, PyObject *unused) {
    return (void)self, (void)unused, PyLong_FromSsize_t(asked);
}

static struct { /* DLPackExchangeAPI */
    uint32_t major, minor;
    void *before, *allocate, *take, *give;
    int (*lend)(void *, Lent *);
    int (*current_stream)(int32_t, int32_t, void **);
} table = {1, 3, NULL, NULL, NULL, NULL, lend, tensor_stream};

static PyTypeObject tensor_class = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fake_arrays.tensor",
                                    .tp_basicsize = sizeof(Tensor), .tp_flags = Py_TPFLAGS_DEFAULT,
                                    .tp_init = tensor_init, .tp_new = PyType_GenericNew};

static PyMethodDef functions[] = {{"questions", questions, METH_NOARGS, NULL},

                                  {"set_stream", set_stream, METH_O, NULL},
                                  {"interfaces", interfaces, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "fake_arrays", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_fake_arrays(void) {
    PyObject *module = PyModule_Create(&definition);
    PyObject *capsule = PyCapsule_New((void *)(intptr_t)current_stream, "intptr_t (void)", NULL);
    PyObject *lends = PyCapsule_New(&table, "dlpack_exchange_api", NULL);
    if (!module || !capsule || PyType_Ready(&memory_class) < 0 || PyType_Ready(&array_class) < 0) return NULL;
    tensor_class.tp_dict = Py_BuildValue("{sN}", "__dlpack_c_exchange_api__", lends);
    if (PyType_Ready(&tensor_class) < 0) return NULL;
    PyModule_AddObjectRef(module, "tensor", (PyObject *)&tensor_class);
    PyModule_AddObjectRef(module, "MemoryPointer", (PyObject *)&memory_class);
    PyModule_AddObjectRef(module, "array", (PyObject *)&array_class);
    PyModule_AddObject(module, "__pyx_capi__", Py_BuildValue("{sN}", "get_current_stream_ptr", capsule));
    return module;
}
