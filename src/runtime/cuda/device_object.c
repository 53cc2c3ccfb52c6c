/* device_object.c: the Device type, the functions of krait.cuda that ask about devices, and runtime_add_types, which
 * puts this folder into the module.
 *
 * The host device is device 0 of a machine without a GPU (or with KRAIT_CUDA_DEVICE=cpu): it has a name, limits and no
 * compute capability of its own; it claims 8.0, the features its kernels may use. */
#include "runtime/cuda/device_memory.h"

#include <limits.h> /* INT_MAX */
#include <string.h> /* strcmp */

#include "runtime/cuda/graph.h" /* graph_refuse */
#include "runtime/host/host.h"  /* host_device_new */

typedef struct DeviceObject {
    PyObject_HEAD
    Runtime *runtime;
    Device *device;
} DeviceObject;

static Device *device_of(PyObject *object) { return ((DeviceObject *)object)->device; }

static PyObject *device_getattr(PyObject *object, PyObject *name) {
    Device *device = device_of(object);
    int number = device_attribute_number(name), value = 0;
    if (number < 0) return PyObject_GenericGetAttr(object, name);
    int status = device->ops->attribute(device, number, &value);
    return device_check(device, status, "asking about the GPU") < 0 ? NULL : PyLong_FromLong(value);
}

static PyObject *get_primary_context(PyObject *self, void *unused) {
    (void)unused;
    return device_primary_context(self, NULL);
}

static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    char name[256] = "";
    device_of(self)->ops->name(device_of(self), name, sizeof name);
    return PyUnicode_FromString(name);
}

static PyObject *get_capability(PyObject *self, void *unused) {
    (void)unused;
    int capability = device_of(self)->compute_capability;
    return Py_BuildValue("(ii)", capability / 10, capability % 10);
}

static PyObject *get_id(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(device_of(self)->ordinal);
}

static PyObject *get_uuid(PyObject *self, void *unused) {
    (void)unused;
    unsigned char b[16];
    char text[48];
    device_of(self)->ops->uuid(device_of(self), b);
    snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    return PyUnicode_FromString(text);
}

static PyObject *memory_info(PyObject *self, PyObject *unused) {
    (void)unused;
    size_t free_bytes = 0, total = 0;
    int status = device_of(self)->ops->memory(device_of(self), &free_bytes, &total);
    if (device_check(device_of(self), status, "asking for free memory") < 0) return NULL;
    return Py_BuildValue("(nn)", (Py_ssize_t)free_bytes, (Py_ssize_t)total);
}

/* _memory_report(): (arrays, bytes of arrays, most bytes of arrays, kept for the next ones, in use of the driver's
 * pool, in the pool, free, in all) */
static PyObject *memory_report(PyObject *self, PyObject *unused) {
    (void)unused;
    Device *device = device_of(self);
    DeviceKept kept;
    size_t free_bytes = 0, total = 0;
    int status = device->ops->memory_kept(device, &kept);
    if (status == 0) status = device->ops->memory(device, &free_bytes, &total);
    if (device_check(device, status, "asking about memory") < 0) return NULL;
    return Py_BuildValue("(LLLnnnnn)", (long long)device->arrays, (long long)device->array_bytes,
                         (long long)device->most_bytes, (Py_ssize_t)kept.kept, (Py_ssize_t)kept.pool_used,
                         (Py_ssize_t)kept.pool_bytes, (Py_ssize_t)free_bytes, (Py_ssize_t)total);
}

static PyObject *get_total_memory(PyObject *self, void *unused) {
    (void)unused;
    size_t free_bytes = 0, total = 0;
    int status = device_of(self)->ops->memory(device_of(self), &free_bytes, &total);
    return device_check(device_of(self), status, "asking for memory") < 0 ? NULL : PyLong_FromSize_t(total);
}

static PyObject *get_is_host(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(device_of(self)->shares_memory);
}

static PyObject *supports_from(PyObject *self, void *capability) {
    return PyBool_FromLong(device_of(self)->compute_capability >= (int)(intptr_t)capability);
}

/* Whether the process has begun to use it by way of Krait. */
static PyObject *get_used(PyObject *self, void *unused) {
    const Device *device = device_of(self);
    (void)unused;
    return PyBool_FromLong(device->shares_memory || ((const CudaContext *)device)->handle != NULL);
}

static PyObject *device_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return context_push(device_of(self)) < 0 ? NULL : Py_NewRef(self);
}

static PyObject *device_exit(PyObject *object, PyObject *args) {
    (void)object, (void)args;
    context_pop();
    Py_RETURN_NONE;
}

/* A device that has failed is reset at once.  -1: the handler of a signal raised. */
static int wait_before_reset(Device *device) {
    Py_BEGIN_ALLOW_THREADS if (device->ops->synchronise(device, NULL) == 0) device->ops->synchronise_all(device);
    Py_END_ALLOW_THREADS return PyErr_Occurred() ? -1 : 0;
}

/* A memory manager gives its memory back first. */
static int tell_manager(PyObject *self) {
    if (!((DeviceObject *)self)->runtime->allocator) return 0;
    PyObject *told = marshal_call_python("krait.cuda._memory", "about_to_reset", "(O)", self);
    Py_XDECREF(told);
    return told ? 0 : -1;
}

static PyObject *device_reset(PyObject *self, PyObject *unused) {
    (void)unused;
    if (graph_recording() && graph_refuse("a reset of the device") < 0) return NULL;
    Device *device = device_of(self);
    if (device->locked)
        return PyErr_Format(PyExc_RuntimeError,
                            "a reset would take the memory of %u arrays away, which cuda.pinned_array, mapped_array, "
                            "managed_array, pinned or mapped made or locked: delete them, or leave the blocks, first",
                            device->locked);
    for (int waited = 0; waited < 2; waited++) { /* the second time, for one that began during the wait */
        const char *doing = device->recordings > device->dropped ? "recording a graph of"
                            : device->busy                       ? "copying to or from, or launching on,"
                                                                 : NULL;
        if (doing)
            return PyErr_Format(PyExc_RuntimeError, "another thread is %s the device that is to be reset", doing);
        if (!waited && (wait_before_reset(device) < 0 || tell_manager(self) < 0)) return NULL;
    }
    if (device_check(device, device->ops->reset(device), "resetting the GPU") < 0) return NULL;
    device_was_reset(device);
    Py_RETURN_NONE;
}

/* For the default stream first, which waits for the others, since a signal ends that wait. */
static PyObject *wait_for_all(Device *device) {
    int status;
    if (graph_recording() && graph_refuse("a wait for the device") < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS status = device->ops->synchronise(device, NULL);
    if (status == 0) status = device->ops->synchronise_all(device);
    Py_END_ALLOW_THREADS if (device_waited(device, status, "waiting for the GPU") < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *device_wait(PyObject *self, PyObject *unused) {
    (void)unused;
    return wait_for_all(device_of(self));
}

/* _defer(begin): frees that would wait are put off, until as many have ended. */
static PyObject *device_defer_frees(PyObject *self, PyObject *begin) {
    device_defer(device_of(self), PyObject_IsTrue(begin) == 1);
    Py_RETURN_NONE;
}

/* _reach(other, enable): whether kernels of this device reach the other's memory. */
static PyObject *device_reach(PyObject *self, PyObject *args) {
    PyObject *other;
    int enable;
    bool can = false;
    if (!PyArg_ParseTuple(args, "O!p:_reach", Py_TYPE(self), &other, &enable)) return NULL;
    int status = device_of(self)->ops->reach(device_of(self), device_of(other), enable, &can);
    return device_check(device_of(self), status, "asking for another GPU's memory") < 0 ? NULL : PyBool_FromLong(can);
}

static PyObject *device_compare(PyObject *one, PyObject *other, int op) {
    if (Py_TYPE(one) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((device_of(one) == device_of(other)) == (op == Py_EQ));
}

static Py_hash_t device_hash(PyObject *self) { return device_of(self)->ordinal; }

static PyObject *device_repr(PyObject *object) {
    PyObject *name = get_name(object, NULL);
    PyObject *text = name ? PyUnicode_FromFormat("<krait device %d '%U'>", device_of(object)->ordinal, name) : NULL;
    Py_XDECREF(name);
    return text;
}

static void device_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyGetSetDef device_getset[] = {
    {"name", get_name, NULL, PyDoc_STR("Name of the device."), NULL},
    {"id", get_id, NULL, PyDoc_STR("Its number."), NULL},
    {"compute_capability", get_capability, NULL, PyDoc_STR("(major, minor)"), NULL},
    {"uuid", get_uuid, NULL, PyDoc_STR("\"GPU-...\""), NULL},
    {"total_memory", get_total_memory, NULL, PyDoc_STR("Bytes of memory."), NULL},
    {"primary_context", get_primary_context, NULL, PyDoc_STR("Its context, a cuda.Context."), NULL},
    {"_used", get_used, NULL, NULL, NULL},
    {"is_host", get_is_host, NULL, PyDoc_STR("Whether this is the host device: kernels run on the cores."), NULL},
    {"supports_float16", supports_from, NULL, PyDoc_STR("Whether float16 arithmetic is available."),
     (void *)(intptr_t)53},
    {"supports_bfloat16", supports_from, NULL, PyDoc_STR("Whether bfloat16 arithmetic is available."),
     (void *)(intptr_t)80},
    {"supports_fp8", supports_from, NULL, PyDoc_STR("Whether 8-bit floating point arithmetic is available."),
     (void *)(intptr_t)89},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef device_methods[] = {
    {"get_memory_info", memory_info, METH_NOARGS, PyDoc_STR("(free, total) bytes of memory.")},
    {"reset", device_reset, METH_NOARGS,
     PyDoc_STR("reset($self)\n--\n\nFrees all that lies on the device and unloads its kernels: arrays, streams, events "
               "and graphs made before are gone, those of other libraries of the process, too.  Refused (RuntimeError) "
               "while another thread copies or launches on it, or records a graph, and while arrays of the host lie in "
               "its memory (pinned, mapped, managed) or are locked.")},
    {"synchronize", device_wait, METH_NOARGS, PyDoc_STR("Waits until the device has finished everything queued.")},
    {"get_primary_context", device_primary_context, METH_NOARGS,
     PyDoc_STR("get_primary_context($self)\n--\n\nIts context, a cuda.Context.")},
    {"release_primary_context", device_reset, METH_NOARGS,
     PyDoc_STR("release_primary_context($self)\n--\n\nThe same as reset().")},
    {"from_identity", device_from_identity, METH_O | METH_CLASS,
     PyDoc_STR("from_identity($type, identity)\n--\n\nThe device of that number.")},
    {"__dir__", device_dir, METH_NOARGS, NULL},
    {"_defer", device_defer_frees, METH_O, NULL},
    {"_reach", device_reach, METH_VARARGS, NULL},
    {"_memory_report", memory_report, METH_NOARGS, NULL},
    {"__enter__", device_enter, METH_NOARGS, NULL},
    {"__exit__", device_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot device_slots[] = {
    {Py_tp_doc,
     (void *)PyDoc_STR(
         "A device kernels can run on; attributes of the driver by their names, such as MULTIPROCESSOR_COUNT.")},
    {Py_tp_dealloc, device_dealloc},
    {Py_tp_getattro, device_getattr},
    {Py_tp_repr, device_repr},
    {Py_tp_richcompare, device_compare},
    {Py_tp_hash, device_hash},
    {Py_tp_getset, device_getset},
    {Py_tp_methods, device_methods},
    {0, NULL},
};

PyType_Spec device_spec = {"krait.cuda.Device", sizeof(DeviceObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           device_slots};

/* ---- functions of krait.cuda ---- */

PyObject *device_object(Runtime *runtime, Device *device) {
    DeviceObject *self = device ? PyObject_New(DeviceObject, runtime->device) : NULL;
    if (self) {
        self->runtime = runtime;
        self->device = device;
    }
    return (PyObject *)self;
}

static PyObject *list_devices(PyObject *module, PyObject *unused) {
    (void)unused;
    Runtime *runtime = RUNTIME_OF(module);
    int gpu = cuda_use_gpu(runtime->cuda);
    int count = gpu == 1 ? cuda_device_count(runtime->cuda) : 1;
    PyObject *list = gpu < 0 ? NULL : PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *device = device_object(runtime, gpu == 1 ? cuda_device(runtime->cuda, i) : &runtime->host);
        if (!device)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, device);
    }
    return list;
}

static PyObject *get_current_device(PyObject *module, PyObject *unused) {
    (void)unused;
    Runtime *runtime = RUNTIME_OF(module);
    return device_object(runtime, runtime_device(runtime));
}

static PyObject *select_device(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"device_id", NULL};
    Runtime *runtime = RUNTIME_OF(module);
    long id;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "l:select_device", names, &id)) return NULL;
    int gpu = cuda_use_gpu(runtime->cuda);
    if (gpu == 1 && (id < 0 || id > INT_MAX)) return PyErr_Format(PyExc_ValueError, "there is no device %ld", id);
    if (gpu < 0 || (gpu == 1 && cuda_select(runtime->cuda, (int)id) < 0)) return NULL;
    if (gpu == 0 && id != 0) {
        PyErr_Format(PyExc_ValueError, "there is no device %ld: kernels run on the host device, which is number 0", id);
        return NULL;
    }
    return device_object(runtime, runtime_device(runtime));
}

static PyObject *synchronize(PyObject *module, PyObject *unused) {
    (void)unused;
    Device *device = runtime_device(RUNTIME_OF(module));
    return device ? wait_for_all(device) : NULL;
}

/* home_of(*objects): the device on which the device arrays among them lie, and arrays of other libraries that tell
 * (DLPack); the thread's if there is none. */
static PyObject *home_of(PyObject *module, PyObject *const *objects, Py_ssize_t count) {
    enum { DL_CUDA = 2 };
    Runtime *runtime = RUNTIME_OF(module);
    Device *home = runtime_home(runtime, objects, count);
    for (Py_ssize_t i = 0; home && !home->shares_memory && i < count; i++) {
        int type = 0, ordinal = 0;
        if (!device_array_foreign(runtime, objects[i])) {
            if (PyErr_Occurred()) return NULL;
            continue;
        }
        PyObject *told = PyObject_CallMethod(objects[i], "__dlpack_device__", NULL);
        if (told && PyArg_ParseTuple(told, "ii", &type, &ordinal) && type == DL_CUDA && ordinal >= 0 &&
            ordinal < cuda_device_count(runtime->cuda))
            home = cuda_device(runtime->cuda, ordinal);
        Py_XDECREF(told);
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
        PyErr_Clear(); /* what cannot be used is refused when it is */
    }
    return device_object(runtime, home);
}

static PyObject *set_allocator(PyObject *module, PyObject *allocator) {
    Py_XSETREF(RUNTIME_OF(module)->allocator, allocator == Py_None ? NULL : Py_NewRef(allocator));
    Py_RETURN_NONE;
}

static PyObject *is_available(PyObject *module, PyObject *unused) {
    (void)unused;
    int gpu = cuda_use_gpu(RUNTIME_OF(module)->cuda);
    PyErr_Clear();
    return PyBool_FromLong(gpu == 1);
}

static PyObject *choice_reason(PyObject *module, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(cuda_choice_reason(RUNTIME_OF(module)->cuda));
}

static PyObject *driver_version(PyObject *module, PyObject *unused) {
    (void)unused;
    int version = cuda_driver_version(RUNTIME_OF(module)->cuda);
    if (!version) Py_RETURN_NONE;
    return Py_BuildValue("(ii)", version / 1000, version % 1000 / 10);
}

static PyObject *profile(PyObject *module, bool start) {
    Device *device = runtime_device(RUNTIME_OF(module));
    if (!device) return NULL;
    device->ops->profile(device, start);
    Py_RETURN_NONE;
}

static PyObject *profile_start(PyObject *module, PyObject *unused) {
    (void)unused;
    return profile(module, true);
}

static PyObject *profile_stop(PyObject *module, PyObject *unused) {
    (void)unused;
    return profile(module, false);
}

PyMethodDef device_functions[] = {
    {"driver_errors", cuda_error_table, METH_NOARGS, NULL},
    {"device_attributes", device_attribute_table, METH_NOARGS, NULL},
    {"to_device", WITH_KEYWORDS(device_array_to_device), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("to_device(obj, stream=0, copy=True, to=None)\n--\n\nA device array with the elements of `obj` "
               "(anything NumPy makes an array of).")},
    {"device_array", WITH_KEYWORDS(device_array_empty), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("device_array(shape, dtype=numpy.float64, strides=None, order='C', stream=0)\n--\n\nA new device array; "
               "its elements are undefined.")},
    {"device_array_like", WITH_KEYWORDS(device_array_empty_like), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "device_array_like(ary, stream=0)\n--\n\nA new device array of the shape, dtype and order of another array.")},
    {"copy_to_host", WITH_KEYWORDS(device_array_copy_to_host), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("copy_to_host(array, ary=None, stream=0)\n--\n\narray.copy_to_host(ary, stream)")},
    {"as_cuda_array", WITH_KEYWORDS(device_array_from_interface), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("as_cuda_array(obj, sync=True)\n--\n\nA device array on the memory of an object with "
               "__cuda_array_interface__.")},
    {"from_dlpack", device_array_from_dlpack, METH_O,
     PyDoc_STR("from_dlpack(obj)\n--\n\nA device array on the memory of an object with __dlpack__.")},
    {"list_devices", list_devices, METH_NOARGS, PyDoc_STR("list_devices()\n--\n\nThe devices kernels can run on.")},
    {"get_current_device", get_current_device, METH_NOARGS,
     PyDoc_STR("get_current_device()\n--\n\nThe device of the calling thread.")},
    {"select_device", WITH_KEYWORDS(select_device), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("select_device(device_id)\n--\n\nMakes a device the calling thread's.")},
    {"synchronize", synchronize, METH_NOARGS,
     PyDoc_STR("synchronize()\n--\n\nWaits until the device has finished everything queued.")},
    {"graph", graph_new, METH_NOARGS,
     PyDoc_STR("graph()\n--\n\nA new graph: what a `with` block of it gives to the device is recorded, and done by "
               "its launch().")},
    {"home_of", WITH_KEYWORDS(home_of), METH_FASTCALL, NULL},
    {"share_array", device_array_share, METH_O, NULL},
    {"open_shared", device_array_open_shared, METH_VARARGS, NULL},
    {"share_memory", device_array_share_memory, METH_O, NULL},
    {"forget_shared", device_array_forget_shared, METH_NOARGS, NULL},
    {"set_allocator", set_allocator, METH_O, NULL},
    {"is_available", is_available, METH_NOARGS, PyDoc_STR("is_available()\n--\n\nWhether kernels run on a GPU.")},
    {"choice_reason", choice_reason, METH_NOARGS,
     PyDoc_STR("choice_reason()\n--\n\nWhy kernels run where they do, one sentence.")},
    {"driver_version", driver_version, METH_NOARGS,
     PyDoc_STR("driver_version()\n--\n\n(major, minor) of the CUDA version the driver supports, or None.")},
    {"profile_start", profile_start, METH_NOARGS,
     PyDoc_STR("profile_start()\n--\n\nTells a profiler to begin recording.")},
    {"profile_stop", profile_stop, METH_NOARGS, PyDoc_STR("profile_stop()\n--\n\nTells a profiler to stop recording.")},
    {NULL, NULL, 0, NULL},
};

/* ---- into the module ---- */

void runtime_free(struct Runtime *runtime) {
    if (!runtime) return;
    Py_XDECREF(runtime->device_array);
    Py_XDECREF(runtime->stream);
    Py_XDECREF(runtime->event);
    Py_XDECREF(runtime->device);
    Py_XDECREF(runtime->graph);
    Py_XDECREF(runtime->graph_block);
    Py_XDECREF(runtime->allocator);
    Py_XDECREF(runtime->dropped);
    free(runtime->locked);
    for (size_t i = 0; i < SHELLS; i++) Py_XDECREF((PyObject *)runtime->shells[i]);
    Py_XDECREF(runtime->field_dtype);
    device_array_drop_keys(runtime);
    device_array_drop_fields(runtime->fields);
    PyMem_Free(runtime);
}

static int add_type(PyObject *module, PyTypeObject **slot, PyType_Spec *spec) {
    *slot = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *slot ? PyModule_AddType(module, *slot) : -1;
}

static int add_functions(PyObject *module, PyObject *name, PyMethodDef *functions) {
    for (PyMethodDef *function = functions; function->ml_name; function++) {
        PyObject *object = PyCFunction_NewEx(function, module, name);
        int added = object ? PyModule_AddObjectRef(module, function->ml_name, object) : -1;
        Py_XDECREF(object);
        if (added < 0) return -1;
    }
    return 0;
}

/* The class takes no attributes from Python. */
static int add_exchange_table(PyTypeObject *type) {
    PyObject *table = device_array_exchange_table();
    int status = table ? PyDict_SetItemString(type->tp_dict, "__dlpack_c_exchange_api__", table) : -1;
    Py_XDECREF(table);
    PyType_Modified(type);
    return status;
}

int runtime_add_types(PyObject *module, Marshal *marshal, Cuda *cuda) {
    Runtime *runtime = PyMem_Calloc(1, sizeof *runtime);
    if (!runtime) {
        PyErr_NoMemory();
        return -1;
    }
    RUNTIME_OF(module) = runtime;
    runtime->marshal = marshal;
    runtime->cuda = cuda;
    runtime->host = host_device_new();
    PyObject *name = PyUnicode_FromString("krait.cuda");
    int status = name ? device_array_make_keys(runtime) : -1;
    if (status == 0) status = add_type(module, &runtime->device_array, &device_array_spec);
    if (status == 0) status = add_type(module, &runtime->stream, &stream_spec);
    if (status == 0) status = add_type(module, &runtime->event, &event_spec);
    if (status == 0) status = add_type(module, &runtime->device, &device_spec);
    if (status == 0) status = add_type(module, &runtime->graph, &graph_spec);
    if (status == 0) status = add_type(module, &runtime->graph_block, &graph_block_spec);
    if (status == 0) status = add_exchange_table(runtime->device_array);
    if (status == 0) status = add_functions(module, name, device_functions);
    if (status == 0) status = add_functions(module, name, stream_functions);
    if (status == 0) status = add_functions(module, name, event_functions);
    if (status == 0) status = add_functions(module, name, host_memory_functions);
    if (status == 0) status = add_functions(module, name, module_functions);
    marshal->device_array = runtime->device_array;
    Py_XDECREF(name);
    return status;
}
