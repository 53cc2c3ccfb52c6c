/* device_array.c: DeviceArray, an array in device memory, with the names that Numba's has: the life of these
 * objects, and the streams that use them.
 *
 * A DeviceArray carries its shape, strides and pointer in the layout that compiled code wants (ir.h), so a launch
 * copies them.  Views share the memory of their base. */
#include "runtime/cuda/device_array.h"

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

static void describe(DeviceArray *self, const Type *element, unsigned ndim, const int64_t *shape,
                     const int64_t *strides, void *data, bool readonly) {
    uintptr_t addresses = (uintptr_t)data;
    for (unsigned i = 0; i < ndim; i++) addresses |= (uintptr_t)strides[i];
    const Type like = {.items = &element, .readonly = readonly, .unaligned = addresses % type_align(element) != 0};
    self->type = type_like(self->runtime, &like, ndim, strided_layout(ndim, shape, strides, type_size(element)));
    self->head = (ArrayHead){data, self};
    for (unsigned i = 0; i < ndim; i++) {
        self->dims[i] = shape[i];
        self->dims[ndim + i] = strides[i];
    }
}

/* A DeviceArray on memory that exists; base keeps it alive (NULL: the array will free `data` itself). */
DeviceArray *device_array_wrap(Runtime *runtime, Device *device, const Type *element, unsigned ndim,
                               const int64_t *shape, const int64_t *strides, void *data, bool readonly,
                               PyObject *base) {
    DeviceArray *self = PyObject_GC_NewVar(DeviceArray, runtime->device_array, 2 * (Py_ssize_t)ndim);
    if (!self) return NULL;
    self->weakrefs = NULL;
    self->base = Py_XNewRef(base);
    self->keeper = NULL;
    self->runtime = runtime;
    self->device = device;
    self->generation = device->generation;
    memset(self->uses, 0, sizeof self->uses);
    self->nuses = 0;
    self->quiet = NULL;
    self->home = (StreamUse){NULL, NULL};
    self->settled = true;
    self->known = false;
    self->recorded = 0;
    self->lent = self->busy = 0;
    join_ring(self);
    describe(self, element, ndim, shape, strides, data, readonly);
    PyObject_GC_Track(self);
    return self;
}

DeviceArray *device_array_of(Runtime *runtime, const ArrayFields *fields, PyObject *base) {
    return device_array_wrap(runtime, fields->device, fields->element, fields->ndim, fields->dims,
                             fields->dims + fields->ndim, fields->data, fields->readonly, base);
}

void device_array_become(DeviceArray *self, const ArrayFields *fields) {
    self->device = fields->device;
    self->generation = fields->device->generation;
    self->known = false;
    self->recorded = 0;
    describe(self, fields->element, fields->ndim, fields->dims, fields->dims + fields->ndim, fields->data,
             fields->readonly);
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
    PyObject *keeper = NULL;
    if (KRAIT_UNLIKELY(runtime->allocator != NULL)) {
        keeper = manager_memory(runtime, device, MANAGER_DEVICE, bytes, &data);
        if (PyErr_Occurred()) return NULL;
        if (keeper) on = (StreamUse){NULL, NULL};
    }
    if (!keeper && device_allocate(device, on.stream, (size_t)bytes, &data) < 0) return NULL;
    DeviceArray *self = device_array_wrap(runtime, device, element, ndim, shape, strides, data, false, NULL);
    if (!self) {
        if (keeper)
            Py_DECREF(keeper);
        else
            device_release(device, data, (size_t)bytes, &on.stream, 1);
        return NULL;
    }
    self->keeper = keeper;
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
    int status;
    GIVE(device, status, device->ops->stream_order(device, later, earlier));
    return device_check(device, status, "making a stream wait for another");
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
        if (put_behind(owner->device, stream, owner->home.stream) < 0) return -1;
        unsigned home = find_use(owner, owner->home.stream);
        if (home < owner->nuses) drop_use(owner, home);
    }
    if (owner->nuses < STREAM_USES) return 0;
    if (put_behind(owner->device, owner->uses[0].stream, owner->uses[STREAM_USES - 1].stream) < 0) return -1;
    if (owner->nuses == STREAM_USES) drop_use(owner, STREAM_USES - 1); /* other threads may have run */
    return 0;
}

/* As long as it is quiet, no stream is the one of the last use: who uses the array comes by here. */
void device_array_watch(DeviceArray *owner, ArrayQuiet *quiet) {
    memcpy(quiet->uses, owner->uses, sizeof quiet->uses);
    quiet->nuses = owner->nuses;
    owner->quiet = quiet;
    owner->uses[0].stream = quiet;
    owner->nuses = 0;
}

bool device_array_unwatch(DeviceArray *owner) {
    ArrayQuiet *quiet = owner->quiet;
    if (!quiet) return false;
    memcpy(owner->uses, quiet->uses, sizeof quiet->uses);
    owner->nuses = quiet->nuses;
    owner->quiet = NULL;
    return true;
}

int device_array_used_elsewhere(DeviceArray *owner, void *stream, PyObject *keeper) {
    if (owner->base) return 0;
    if (KRAIT_UNLIKELY(owner->quiet != NULL)) device_array_unwatch(owner);
    unsigned at = find_use(owner, stream);
    if (at == owner->nuses) {
        if (make_room(owner, stream) < 0) return -1;
        at = find_use(owner, stream);
    }
    if (at == STREAM_USES) return device_array_used_elsewhere(owner, stream, keeper);
    if (at == owner->nuses) owner->uses[owner->nuses++] = (StreamUse){stream, Py_XNewRef(keeper)};
    StreamUse use = owner->uses[at]; /* to the front */
    memmove(owner->uses + 1, owner->uses, at * sizeof use);
    owner->uses[0] = use;
    return 0;
}

/* Memory of others is used in the order of its device's default stream.  What a graph records visits when it runs. */
int device_array_visited(DeviceArray *array, Device *device, void *stream, bool after) {
    DeviceArray *owner = device_array_owner(array);
    Device *home = owner->device;
    if (device_array_check_there(array) < 0) return -1;
    if (runtime_capture) return after ? 0 : graph_keep_array(array);
    if (owner->quiet) device_array_unwatch(owner);
    unsigned count = owner->base ? 0 : owner->nuses;
    void *streams[STREAM_USES + 1] = {NULL};
    for (unsigned i = 0; i < count; i++) streams[i] = owner->uses[i].stream;
    if (!owner->base && !owner->settled && !after) streams[count++] = owner->home.stream;
    for (unsigned i = 0; i < (count ? count : 1); i++) {
        int status;
        if (after)
            GIVE(home, status, home->ops->order_between(home, streams[i], device, stream));
        else
            GIVE(home, status, device->ops->order_between(device, stream, home, streams[i]));
        if (device_check(home, status, "making a stream wait for one of another GPU") < 0) return -1;
    }
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

ArrayMemory device_array_leave(DeviceArray *self) {
    bool current = self->generation == self->device->generation; /* a reset has taken the rest of a GPU's away */
    bool owns = !self->base && (current || (self->device->shares_memory && self->head.data));
    ArrayMemory memory = {.device = self->device, .base = self->base, .home = self->home, .nuses = self->nuses};
    for (unsigned i = 0; i < self->nuses; i++) memory.uses[i] = self->uses[i];
    memory.keeper = self->keeper;
    if (owns) {
        memory.data = self->keeper ? NULL : self->head.data;
        memory.bytes = device_array_owned_bytes(self);
    }
    memory.current = current;
    if (owns && current) {
        self->device->arrays--;
        self->device->array_bytes -= (int64_t)memory.bytes;
    }
    self->base = self->keeper = NULL;
    self->home.keeper = NULL;
    self->nuses = 0;
    return memory;
}

typedef struct LateRelease {
    DeviceLater later; /* first */
    Device *device;
    unsigned generation;
    void *memory;
    size_t bytes;
} LateRelease;

static void release_late(DeviceLater *later, bool idle) {
    LateRelease *late = (LateRelease *)later;
    (void)idle;
    if (late->generation == late->device->generation) device_release(late->device, late->memory, late->bytes, NULL, 0);
    free(late);
}

/* false: there is no memory to remember it in. */
static bool put_off(Device *device, void *memory, size_t bytes) {
    LateRelease *late = malloc(sizeof *late);
    if (!late) return false;
    *late = (LateRelease){.device = device, .generation = device->generation, .memory = memory, .bytes = bytes};
    device_when_not_recorded(device, &late->later, release_late);
    return true;
}

void device_array_give_back(const ArrayMemory *memory) {
    void *streams[STREAM_USES];
    Device *device = memory->device;
    for (unsigned i = 0; i < memory->nuses; i++) streams[i] = memory->uses[i].stream;
    bool waits = memory->data && !device->shares_memory && device->frees_late && device->deferring > 0;
    if (memory->data && !(waits && put_off(device, memory->data, memory->bytes)))
        device_release(device, memory->data, memory->bytes, streams, memory->nuses);
    if (memory->keeper) manager_give_back(memory->device, memory->keeper, streams, memory->current ? memory->nuses : 0);
    Py_XDECREF(memory->base);
    Py_XDECREF(memory->home.keeper);
    for (unsigned i = 0; i < memory->nuses; i++) Py_XDECREF(memory->uses[i].keeper);
}

const char *device_array_user(const DeviceArray *owner) {
    return owner->busy            ? "a launch or a copy that is running"
           : owner->lent          ? "another library"
           : owner->recorded      ? "a graph"
           : owner->next != owner ? "a view"
                                  : NULL;
}

PyObject *device_array_free(DeviceArray *self, PyObject *unused) {
    (void)unused;
    if (device_array_owner(self) != self) {
        PyErr_SetString(PyExc_ValueError, "a view does not own its memory: free its base");
        return NULL;
    }
    if (runtime_calling) {
        PyErr_SetString(PyExc_RuntimeError, "a function that a stream calls back cannot free an array now: del it, and "
                                            "its memory is given back when the function has ended");
        return NULL;
    }
    const char *user = device_array_user(self);
    if (user) return PyErr_Format(PyExc_BufferError, "the array's memory is in use by %s", user);
    ArrayMemory memory = device_array_leave(self);
    self->head.data = NULL;
    memset(self->dims, 0, self->type->ndim * sizeof *self->dims);
    self->generation = self->device->generation - 1;
    device_array_give_back(&memory);
    Py_RETURN_NONE;
}

PyObject *device_array_exit(DeviceArray *self, PyObject *args) {
    PyObject *done = device_array_free(self, NULL);
    bool raised = PyTuple_GET_SIZE(args) > 0 && PyTuple_GET_ITEM(args, 0) != Py_None;
    if (done || !raised) return done;
    PyErr_Clear(); /* the block's own exception is what matters; the memory goes with the array */
    Py_RETURN_NONE;
}

int device_array_traverse(PyObject *object, visitproc visit, void *arg) {
    DeviceArray *self = (DeviceArray *)object;
    Py_VISIT(self->base);
    Py_VISIT(self->keeper);
    Py_VISIT(self->home.keeper);
    for (unsigned i = 0; i < self->nuses; i++) Py_VISIT(self->uses[i].keeper);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

int device_array_clear(PyObject *object) {
    (void)object; /* a base is never part of a cycle that only this could break: it is set once and owns no reference to
                     views */
    return 0;
}

void device_array_dealloc(PyObject *object) {
    DeviceArray *self = (DeviceArray *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (runtime_keeps(object)) return;
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    leave_ring(self);
    ArrayMemory memory = device_array_leave(self);
    PyObject_GC_Del(object);
    device_array_give_back(&memory);
    Py_DECREF(type);
}

bool device_array_is(PyObject *object) { return Py_TYPE(object)->tp_dealloc == device_array_dealloc; }

int device_array_stream(const Device *device, PyObject *stream, StreamUse *on) {
    *on = (StreamUse){NULL, stream == Py_None ? NULL : stream};
    return stream ? runtime_stream_handle(stream, device, &on->stream) : 0;
}
