/* array_share.c: device arrays that other processes open, and arrays on memory of other processes.
 *
 * Out: the name of the memory and the array's place in it, by which another process opens it.  Memory of the pool
 * cannot be shared: an array there moves, with its views, unless somebody outside knows its address.  In: a device
 * array whose base is the opened memory. */
#include "runtime/cuda/device_array.h"
#include <string.h> /* memcpy */

#include "runtime/cuda/graph.h"
#include "runtime/host/host.h" /* host_share_forget */

#define SHARED_NAME "krait.shared"

typedef struct Shared {
    DeviceLater later; /* first */
    Device *device;
    void *memory;
    unsigned generation;
    bool opened; /* it is another process's */
} Shared;

static void give_up(DeviceLater *later, bool idle) {
    Shared *shared = (Shared *)later;
    Device *device = shared->device;
    bool there = idle && shared->generation == device->generation;
    Py_BEGIN_ALLOW_THREADS if (there)(shared->opened ? device->ops->share_close
                                                     : device->ops->share_release)(device, shared->memory);
    Py_END_ALLOW_THREADS PyMem_Free(shared);
}

static void drop_shared(PyObject *capsule) {
    Shared *shared = PyCapsule_GetPointer(capsule, SHARED_NAME);
    device_when_idle(shared->device, &shared->later, give_up);
}

/* NULL: exception set; the memory is then still the caller's. */
static PyObject *hold(Device *device, void *memory, bool opened) {
    Shared *shared = PyMem_Malloc(sizeof *shared);
    if (!shared) return PyErr_NoMemory();
    *shared = (Shared){.device = device, .memory = memory, .generation = device->generation, .opened = opened};
    PyObject *capsule = PyCapsule_New(shared, SHARED_NAME, drop_shared);
    if (!capsule) PyMem_Free(shared);
    return capsule;
}

static int check_free(const DeviceArray *owner) {
    const char *why = owner->keeper ? "it is a memory manager's, whose get_ipc_handle() is to be asked"
                      : owner->known || owner->lent
                          ? "its address is known elsewhere (another library, a graph): take the handle first, or of a "
                            "copy"
                      : owner->busy ? "a launch or a copy of another thread uses it: take the handle before or after"
                                    : NULL;
    if (why) PyErr_Format(PyExc_BufferError, "the array has to move to memory that can be shared, and %s", why);
    return why ? -1 : 0;
}

static void release_shared(Device *device, void *memory) {
    Py_BEGIN_ALLOW_THREADS device->ops->share_release(device, memory);
    Py_END_ALLOW_THREADS
}

/* Memory that can be shared, with what the array has.  Other threads run meanwhile: what one of them had done with the
 * array would be lost, so it is copied again, unless they never leave it alone.  NULL: exception set. */
static void *copy_to_shared(DeviceArray *owner, size_t bytes) {
    enum { TRIES = 100 };
    Device *device = owner->device;
    void *memory = NULL;
    bool alone = false;
    int status;
    device_array_hold(owner);
    Py_BEGIN_ALLOW_THREADS status = device->ops->share_allocate(device, bytes, &memory);
    Py_END_ALLOW_THREADS bool allocated = status == 0;
    for (int i = 0; i < TRIES && status == 0 && !alone; i++) {
        ArrayQuiet quiet;
        device_array_watch(owner, &quiet);
        Py_BEGIN_ALLOW_THREADS status = device->ops->synchronise_all(device);
        if (status == 0) status = device->ops->copy(device, COPY_WITHIN, NULL, true, memory, owner->head.data, bytes);
        Py_END_ALLOW_THREADS alone = device_array_unwatch(owner);
    }
    device_array_let_go(owner);
    bool fine = device_check(device, status, "moving an array to memory that can be shared") == 0;
    if (fine && !alone)
        PyErr_SetString(PyExc_BufferError, "the array has to move to memory that can be shared, and other threads go "
                                           "on using it: take the handle before or after");
    if (fine && alone) return memory;
    if (allocated) release_shared(device, memory);
    return NULL;
}

/* 1: another thread has moved it; -1: exception set. */
static int check_still(const DeviceArray *owner) {
    if (device_array_check_there(owner) < 0) return -1;
    return owner->base ? 1 : check_free(owner);
}

static int move(DeviceArray *owner) {
    Device *device = owner->device;
    if (check_free(owner) < 0) return -1;
    if (runtime_capture) return graph_refuse("moving an array to memory that can be shared");
    void *memory = copy_to_shared(owner, device_array_owned_bytes(owner));
    if (!memory) return -1;
    int still = check_still(owner);
    PyObject *capsule = still == 0 ? hold(device, memory, false) : NULL;
    if (!capsule) {
        release_shared(device, memory);
        return still > 0 ? 0 : -1;
    }
    ptrdiff_t way = (char *)memory - (char *)owner->head.data;
    ArrayMemory left = device_array_leave(owner);
    DeviceArray *at = owner;
    do at->head.data = (char *)at->head.data + way;
    while ((at = at->next) != owner);
    owner->base = capsule;
    device_array_give_back(&left);
    return 0;
}

static const Shared *shared_of(const DeviceArray *owner) {
    bool shared = owner->base && PyCapsule_IsValid(owner->base, SHARED_NAME);
    return shared ? PyCapsule_GetPointer(owner->base, SHARED_NAME) : NULL;
}

static PyObject *named(const unsigned char name[DEVICE_NAME_BYTES], size_t offset) {
    return Py_BuildValue("(Nn)", PyBytes_FromStringAndSize((const char *)name, DEVICE_NAME_BYTES), (Py_ssize_t)offset);
}

/* The driver may wait: without the GIL. */
static int name_memory(Device *device, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset) {
    int status;
    Py_BEGIN_ALLOW_THREADS status = device->ops->share_name(device, memory, name, offset);
    Py_END_ALLOW_THREADS return device_check(device, status, "sharing memory with other processes");
}

/* share_array(array): (name, bytes from the beginning of the memory to the first element) */
PyObject *device_array_share(PyObject *module, PyObject *object) {
    unsigned char name[DEVICE_NAME_BYTES];
    size_t offset = 0;
    if (Py_TYPE(object) != RUNTIME_OF(module)->device_array)
        return PyErr_Format(PyExc_TypeError, "a device array is shared, not %.100s", Py_TYPE(object)->tp_name);
    DeviceArray *self = (DeviceArray *)object, *owner = device_array_owner(self);
    if (device_array_check_there(self) < 0 || (!owner->base && move(owner) < 0)) return NULL;
    const Shared *shared = shared_of(owner);
    Device *device = self->device;
    if (!shared && device->shares_memory) {
        PyErr_SetString(PyExc_BufferError, "memory of another library cannot be shared: take the handle of a copy");
        return NULL;
    }
    ptrdiff_t within = shared ? (char *)self->head.data - (char *)shared->memory : 0;
    device_array_hold(self); /* the memory stays meanwhile */
    int status = name_memory(device, shared ? shared->memory : self->head.data, name, &offset);
    device_array_let_go(self);
    return status < 0 ? NULL : named(name, shared ? (size_t)within : offset);
}

/* share_memory(address): the same of memory of the driver. */
PyObject *device_array_share_memory(PyObject *module, PyObject *address) {
    unsigned char name[DEVICE_NAME_BYTES];
    size_t offset = 0;
    Device *device = runtime_device(RUNTIME_OF(module));
    void *memory = device ? PyLong_AsVoidPtr(address) : NULL;
    if (!device || PyErr_Occurred()) return NULL;
    if (device->shares_memory) {
        PyErr_SetString(PyExc_BufferError, "memory of another library cannot be shared: take the handle of an array");
        return NULL;
    }
    return name_memory(device, memory, name, &offset) < 0 ? NULL : named(name, offset);
}

/* forget_shared(): at the end of a process that runs no destructors: what it shares has no name any more. */
PyObject *device_array_forget_shared(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    host_share_forget();
    Py_RETURN_NONE;
}

/* Whether all elements lie in `bytes` bytes, of which `offset` are before the first; no sum may overflow. */
static bool lies_within(unsigned ndim, const npy_intp *shape, const int64_t *strides, size_t item, Py_ssize_t offset,
                        size_t bytes) {
    int64_t low = offset, high = offset, way;
    if (strided_is_empty(ndim, shape)) return (size_t)offset <= bytes;
    for (unsigned i = 0; i < ndim; i++) {
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &way)) return false;
        if (__builtin_add_overflow(way < 0 ? low : high, way, way < 0 ? &low : &high)) return false;
    }
    return low >= 0 && !__builtin_add_overflow(high, (int64_t)item, &high) && (uint64_t)high <= bytes;
}

/* open_shared(name, offset, shape, dtype, strides): a device array on memory of another process. */
PyObject *device_array_open_shared(PyObject *module, PyObject *args) {
    Runtime *runtime = RUNTIME_OF(module);
    Device *device = runtime_device(runtime);
    PyArray_Dims shape = {NULL, 0}, strides = {NULL, 0};
    PyObject *shape_object, *strides_object, *capsule = NULL, *result = NULL;
    PyArray_Descr *dtype = NULL;
    Py_buffer name = {0};
    Py_ssize_t offset;
    void *memory = NULL;
    size_t bytes = 0;
    int64_t steps[TYPE_MAX_NDIM + 1];
    const Type *element;
    if (!device || !PyArg_ParseTuple(args, "y*nOO&O:open_shared", &name, &offset, &shape_object, PyArray_DescrConverter,
                                     &dtype, &strides_object))
        goto done;
    if (name.len != DEVICE_NAME_BYTES || offset < 0) {
        PyErr_Format(PyExc_ValueError, "a handle has %d bytes", DEVICE_NAME_BYTES);
        goto done;
    }
    if (device_array_read_shape(shape_object, &shape) < 0 || !(element = geometry_element(runtime, dtype, 0)))
        goto done;
    strided_pack((unsigned)shape.len, shape.ptr, type_size(element), LAYOUT_C, steps);
    if (strides_object != Py_None) {
        if (!PyArray_IntpConverter(strides_object, &strides)) goto done;
        if (strides.len != shape.len) {
            PyErr_SetString(PyExc_ValueError, "there is a stride for each dimension");
            goto done;
        }
        memcpy(steps, strides.ptr, sizeof(int64_t) * (size_t)shape.len);
    }
    int status = device->ops->share_open(device, name.buf, &memory, &bytes);
    if (device_check(device, status, "opening memory of another process") < 0) goto done;
    if (!(capsule = hold(device, memory, true))) {
        device->ops->share_close(device, memory);
        goto done;
    }
    if (!lies_within((unsigned)shape.len, shape.ptr, steps, type_size(element), offset, bytes)) {
        PyErr_Format(PyExc_ValueError, "an array of this shape, dtype and offset does not lie in the %zu bytes shared",
                     bytes);
        goto done;
    }
    result = (PyObject *)device_array_wrap(runtime, device, element, (unsigned)shape.len, shape.ptr, steps,
                                           (char *)memory + offset, false, capsule);
done:
    if (name.obj) PyBuffer_Release(&name);
    Py_XDECREF(capsule);
    Py_XDECREF(dtype);
    PyDimMem_FREE(shape.ptr);
    PyDimMem_FREE(strides.ptr);
    return result;
}
