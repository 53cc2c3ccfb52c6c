/* host_memory.c: memory of the host that a device copies fast, or that kernels reach where it lies: pinned, mapped and
 * managed arrays, and arrays of others while their pages are locked.
 *
 * Such an array is a NumPy array whose base is a capsule that gives the memory back.  What kernels reach is a range in
 * Cuda.reached: a launch takes an array within one as it is, and neither copies it nor waits. */
#include "runtime/cuda/device_array.h"
#include "runtime/host/host.h" /* HOST_LOCKED_ALREADY */

#include <stdlib.h> /* realloc */

#define HOLDER_NAME "krait.host_memory"

/* ---- the ranges ---- */

bool cuda_reaches(const Cuda *cuda, int64_t low, int64_t high) {
    for (size_t i = 0; i < cuda->nreached; i++)
        if (cuda->reached[i].low <= low && high <= cuda->reached[i].high) return true;
    return false;
}

static int add_range(ByteRange **ranges, size_t *count, void *memory, size_t bytes) {
    ByteRange *grown = realloc(*ranges, (*count + 1) * sizeof *grown);
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    *ranges = grown;
    grown[(*count)++] = (ByteRange){(int64_t)(intptr_t)memory, (int64_t)(intptr_t)memory + (int64_t)bytes};
    return 0;
}

static void drop_range(ByteRange *ranges, size_t *count, const void *memory) {
    for (size_t i = 0; i < *count; i++)
        if (ranges[i].low == (int64_t)(intptr_t)memory) {
            ranges[i] = ranges[--*count];
            return;
        }
}

/* ---- what gives memory back ---- */

typedef struct Holder {
    DeviceLater later; /* first */
    Runtime *runtime;
    Device *device;
    void *memory;
    unsigned generation;
    DevicePinned kind;
    bool reached;     /* in the ranges */
    bool noted;       /* in those of locked memory */
    bool pending;     /* is given back when the device is idle, or a callback has ended, */
    bool orphaned;    /* and freed then: the capsule is gone */
    PyObject *locked; /* an array of somebody else's, whose pages are locked; NULL: the memory is our own */
    PyObject *keeper; /* what a memory manager gave: the memory, or that the pages are locked, is its */
} Holder;

static void give_back_now(Holder *holder) {
    Device *device = holder->device;
    void *memory = holder->memory;
    bool there = device->shares_memory || holder->generation == device->generation; /* it may have waited for long */
    holder->memory = NULL;
    if (holder->keeper) there = false;
    Py_BEGIN_ALLOW_THREADS if (there && holder->locked) device->ops->unlock(device, memory);
    if (there && !holder->locked) device->ops->unpin(device, holder->kind, memory);
    Py_END_ALLOW_THREADS Py_CLEAR(holder->keeper);
    Py_CLEAR(holder->locked);
}

static void give_back_idle(DeviceLater *later, bool idle) {
    Holder *holder = (Holder *)later;
    (void)idle;
    give_back_now(holder);
    holder->pending = false;
    if (holder->orphaned) PyMem_Free(holder);
}

static void give_back(Holder *holder) {
    if (!holder->memory || holder->pending) return;
    holder->device->locked--;
    holder->pending = holder->reached || runtime_calling; /* kernels may still be using it */
    Cuda *cuda = holder->runtime->cuda;
    if (holder->noted) drop_range(holder->runtime->locked, &holder->runtime->nlocked, holder->memory);
    if (holder->reached) drop_range(cuda->reached, &cuda->nreached, holder->memory);
    if (holder->pending)
        device_when_idle(holder->device, &holder->later, give_back_idle);
    else
        give_back_now(holder);
}

static void free_holder(PyObject *capsule) {
    Holder *holder = PyCapsule_GetPointer(capsule, HOLDER_NAME);
    give_back(holder);
    holder->orphaned = true;
    if (holder->pending) return;
    Py_CLEAR(holder->keeper); /* of no bytes */
    Py_CLEAR(holder->locked);
    PyMem_Free(holder);
}

/* NULL: exception set; the memory is then still the caller's. */
static PyObject *hold(const Holder *given, size_t bytes) {
    Holder *holder = PyMem_Malloc(sizeof *holder);
    if (!holder) return PyErr_NoMemory();
    *holder = *given;
    PyObject *capsule = PyCapsule_New(holder, HOLDER_NAME, free_holder);
    if (!capsule) {
        PyMem_Free(holder);
        return NULL;
    }
    Runtime *runtime = holder->runtime;
    Cuda *cuda = runtime->cuda;
    if ((!holder->reached || add_range(&cuda->reached, &cuda->nreached, holder->memory, bytes) == 0) &&
        (!holder->noted || add_range(&runtime->locked, &runtime->nlocked, holder->memory, bytes) == 0)) {
        Py_XINCREF(holder->locked);
        Py_XINCREF(holder->keeper);
        if (holder->memory) holder->device->locked++;
        return capsule;
    }
    holder->memory = NULL;
    holder->locked = holder->keeper = NULL;
    Py_DECREF(capsule);
    return NULL;
}

/* ---- new arrays ---- */

/* own: not of a memory manager. */
static PyObject *array_in(Runtime *runtime, DevicePinned kind, PyArray_Dims shape, PyArray_Descr *dtype, bool fortran,
                          bool own) {
    static const ManagerMemory asked[] = {[PINNED_COPY] = MANAGER_PINNED,
                                          [PINNED_COMBINED] = MANAGER_COMBINED,
                                          [PINNED_MAPPED] = MANAGER_MAPPED,
                                          [PINNED_MANAGED] = MANAGER_MANAGED,
                                          [PINNED_MANAGED_HOST] = MANAGER_MANAGED_HOST};
    PyObject *keeper = NULL;
    Device *device = runtime_device(runtime);
    void *memory = NULL;
    int64_t bytes = PyDataType_ELSIZE(dtype);
    for (int i = 0; i < shape.len; i++)
        if (__builtin_mul_overflow(bytes, shape.ptr[i], &bytes)) {
            PyErr_SetString(PyExc_ValueError, "the array is too big");
            return NULL;
        }
    if (PyDataType_REFCHK(dtype)) {
        PyErr_SetString(PyExc_TypeError, "an array of Python objects cannot lie in such memory");
        return NULL;
    }
    if (!device) return NULL;
    if (runtime->allocator && !own && !(keeper = manager_memory(runtime, device, asked[kind], bytes, &memory)) &&
        PyErr_Occurred())
        return NULL;
    if (!keeper && device_pin(device, kind, (size_t)bytes, &memory) < 0) return NULL;
    PyObject *holder = hold(&(Holder){.runtime = runtime,
                                      .device = device,
                                      .memory = memory,
                                      .generation = device->generation,
                                      .kind = kind,
                                      .reached = kind >= PINNED_MAPPED && !device->shares_memory,
                                      .keeper = keeper},
                            (size_t)bytes);
    if (!holder && !keeper) device->ops->unpin(device, kind, memory);
    Py_XDECREF(keeper);
    if (!holder) return NULL;
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef(dtype), shape.len, shape.ptr, NULL,
                                           memory, NPY_ARRAY_WRITEABLE | (fortran ? NPY_ARRAY_F_CONTIGUOUS : 0), NULL);
    if (!array || PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(holder)) < 0) Py_CLEAR(array);
    Py_DECREF(holder);
    return array;
}

/* Strides may be those of the other order only: there are no gaps in such an array. */
static int read_order(PyObject *strides_object, const PyArray_Dims *shape, const PyArray_Descr *dtype, bool *fortran) {
    PyArray_Dims strides = {NULL, 0};
    int64_t packed[TYPE_MAX_NDIM + 1];
    if (strides_object == Py_None) return 0;
    if (!PyArray_IntpConverter(strides_object, &strides)) return -1;
    bool fits = false;
    for (int order = 0; order < 2 && !fits; order++) {
        strided_pack((unsigned)shape->len, shape->ptr, (unsigned)PyDataType_ELSIZE(dtype), order ? LAYOUT_F : LAYOUT_C,
                     packed);
        fits = strides.len == shape->len && !memcmp(strides.ptr, packed, sizeof(int64_t) * (size_t)shape->len);
        if (fits) *fortran = order == 1;
    }
    PyDimMem_FREE(strides.ptr);
    if (fits) return 0;
    PyErr_SetString(PyExc_ValueError, "strides must be those of a C or a Fortran contiguous array");
    return -1;
}

static PyObject *new_array(PyObject *module, PyObject *args, PyObject *kwargs, const char *format, char **names,
                           DevicePinned kind, DevicePinned other) {
    PyObject *shape_object, *dtype_object = NULL, *stream = NULL, *strides = Py_None, *array = NULL;
    PyArray_Dims shape = {NULL, 0};
    PyArray_Descr *dtype = NULL;
    const char *order = "C";
    int portable = 0, choice = kind == PINNED_MANAGED;
    bool fortran;
    StreamUse on; /* nothing has to wait for such memory */
    bool fine = kind == PINNED_MAPPED
                    ? PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &shape_object, &dtype_object, &strides,
                                                  &order, &stream, &portable, &choice)
                    : PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &shape_object, &dtype_object, &strides,
                                                  &order, &stream, &choice);
    if (!fine) return NULL;
    if (kind != PINNED_MANAGED) choice = !choice; /* write-combined memory is the other kind */
    if (device_array_stream(NULL, stream, &on) == 0 && device_array_read_order(order, &fortran) == 0 &&
        device_array_read_shape(shape_object, &shape) == 0 &&
        (dtype_object ? PyArray_DescrConverter(dtype_object, &dtype)
                      : (dtype = PyArray_DescrFromType(NPY_DOUBLE)) != NULL) &&
        read_order(strides, &shape, dtype, &fortran) == 0)
        array = array_in(RUNTIME_OF(module), choice ? kind : other, shape, dtype, fortran, false);
    PyDimMem_FREE(shape.ptr);
    Py_XDECREF(dtype);
    return array;
}

static PyObject *pinned_array(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", "stream", "wc", NULL};
    return new_array(module, args, kwargs, "O|OOsOp:pinned_array", names, PINNED_COPY, PINNED_COMBINED);
}

static PyObject *mapped_array(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", "stream", "portable", "wc", NULL};
    return new_array(module, args, kwargs, "O|OOsOpp:mapped_array", names, PINNED_MAPPED, PINNED_MAPPED);
}

static PyObject *managed_array(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "strides", "order", "stream", "attach_global", NULL};
    return new_array(module, args, kwargs, "O|OOsOp:managed_array", names, PINNED_MANAGED, PINNED_MANAGED_HOST);
}

/* own_memory(kind, bytes): bytes of that DevicePinned, whatever memory manager there is. */
static PyObject *own_memory(PyObject *module, PyObject *args) {
    int kind;
    npy_intp bytes;
    if (!PyArg_ParseTuple(args, "in:own_memory", &kind, &bytes)) return NULL;
    PyArray_Descr *dtype = PyArray_DescrFromType(NPY_UINT8);
    PyObject *array = dtype ? array_in(RUNTIME_OF(module), (DevicePinned)kind, (PyArray_Dims){&bytes, 1}, dtype, false,
                                       true)
                            : NULL;
    Py_XDECREF(dtype);
    return array;
}

/* ---- arrays of others, for a while ---- */

/* The host device locks nothing, and refuses what a GPU's driver refuses: to lock a page twice.  -1: exception set. */
static int check_unlocked(const Runtime *runtime, Device *device, const void *memory, size_t bytes) {
    int64_t low = (int64_t)(intptr_t)memory, high = low + (int64_t)bytes;
    for (size_t i = 0; i < runtime->nlocked; i++)
        if (low < runtime->locked[i].high && runtime->locked[i].low < high)
            return device_raise(device, HOST_LOCKED_ALREADY, "locking pages of memory");
    return 0;
}

/* lock_memory(array, mapped, keeper=None): the holder of the array's locked pages; with mapped, (holder, device array
 * on them).  keeper: what a memory manager gave that has locked them. */
static PyObject *lock_memory(PyObject *module, PyObject *args) {
    Runtime *runtime = RUNTIME_OF(module);
    Device *device = runtime_device(runtime);
    PyArrayObject *array;
    PyObject *keeper = Py_None;
    int mapped;
    if (!device || !PyArg_ParseTuple(args, "O!p|O:lock_memory", &PyArray_Type, &array, &mapped, &keeper)) return NULL;
    if (keeper == Py_None) keeper = NULL;
    const Type *element = geometry_element(runtime, PyArray_DESCR(array), frontend_addresses((PyObject *)array));
    if (!element) return NULL;
    if (!PyArray_ISONESEGMENT(array)) {
        PyErr_SetString(PyExc_ValueError, "only a contiguous array can be page-locked");
        return NULL;
    }
    size_t bytes = (size_t)PyArray_NBYTES(array);
    void *memory = PyArray_DATA(array);
    bool locks = bytes > 0; /* no page holds an empty array */
    bool noted = locks && !keeper && device->shares_memory;
    if (noted && check_unlocked(runtime, device, memory, bytes) < 0) return NULL;
    if (locks && !keeper &&
        device_check(device, device->ops->lock(device, memory, bytes), "locking pages of memory") < 0)
        return NULL;
    PyObject *holder = hold(&(Holder){.runtime = runtime,
                                      .device = device,
                                      .memory = locks ? memory : NULL,
                                      .generation = device->generation,
                                      .reached = locks && mapped && !device->shares_memory,
                                      .noted = noted,
                                      .locked = (PyObject *)array,
                                      .keeper = keeper},
                            bytes);
    if (!holder) {
        if (locks && !keeper) device->ops->unlock(device, memory);
        return NULL;
    }
    if (!mapped) return holder;
    bool readonly = !PyArray_ISWRITEABLE(array);
    PyObject *view = (PyObject *)device_array_wrap(runtime, device, element, (unsigned)PyArray_NDIM(array),
                                                   PyArray_DIMS(array), PyArray_STRIDES(array), memory, readonly,
                                                   holder);
    return view ? Py_BuildValue("(NN)", holder, view) : (Py_DECREF(holder), NULL);
}

static PyObject *unlock_memory(PyObject *module, PyObject *object) {
    (void)module;
    Holder *holder = PyCapsule_GetPointer(object, HOLDER_NAME);
    if (!holder) return NULL;
    give_back(holder);
    Py_RETURN_NONE;
}

PyMethodDef host_memory_functions[] = {
    {"pinned_array", WITH_KEYWORDS(pinned_array), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("pinned_array(shape, dtype=numpy.float64, strides=None, order='C', stream=0, wc=False)\n--\n\nA NumPy "
               "array in page-locked memory, which copies faster; wc: for writing only.")},
    {"mapped_array", WITH_KEYWORDS(mapped_array), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "mapped_array(shape, dtype=numpy.float64, strides=None, order='C', stream=0, portable=False, wc=False)"
         "\n--\n\nA NumPy array that kernels reach where it lies: nothing is copied; synchronise before reading.")},
    {"managed_array", WITH_KEYWORDS(managed_array), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("managed_array(shape, dtype=numpy.float64, strides=None, order='C', stream=0, attach_global=True)"
               "\n--\n\nA NumPy array in memory that the driver moves between host and GPU; synchronise before "
               "reading.")},
    {"own_memory", own_memory, METH_VARARGS, NULL},
    {"lock_memory", lock_memory, METH_VARARGS, NULL},
    {"unlock_memory", unlock_memory, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
