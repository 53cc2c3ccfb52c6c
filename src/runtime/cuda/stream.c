/* stream.c: Stream, with the names that Numba's has, on a GPU and on the host device.
 *
 * What it does is done by the functions of its Device. */
#include "runtime/cuda/device_memory.h"
#include "runtime/cuda/graph.h"

#include <structmember.h> /* T_PYSSIZET */

typedef struct Stream {
    PyObject_HEAD
    PyObject *weakrefs;
    Runtime *runtime;
    Device *device;
    void *handle;
    unsigned generation; /* of the device, when the stream was made */
    bool owned;          /* destroyed with the object; not so the default streams and external ones */
} Stream;

static PyObject *stream_new(Runtime *runtime, Device *device, void *handle, bool owned) {
    Stream *self = PyObject_New(Stream, runtime->stream);
    if (!self) return NULL;
    self->weakrefs = NULL;
    self->runtime = runtime;
    self->device = device;
    self->handle = handle;
    self->generation = device->generation;
    self->owned = owned;
    return (PyObject *)self;
}

static void stream_dealloc(PyObject *object) {
    Stream *self = (Stream *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (runtime_keeps(object)) return;
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    if (self->owned && self->generation == self->device->generation)
        self->device->ops->stream_close(self->device, self->handle);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* -1: the object raised something else than that it has no such attribute. */
static int attribute_if_any(PyObject *object, const char *name, PyObject **found) {
    *found = PyObject_GetAttrString(object, name);
    if (!*found && !PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return *found != NULL;
}

/* What an object of another library says its stream's address is; NULL: it is no stream, or an exception is set. */
static PyObject *foreign_handle(PyObject *stream) {
    static const char *const attributes[] = {"cuda_stream", "ptr"}; /* PyTorch, CuPy */
    PyObject *found = NULL, *number = NULL;
    int there = attribute_if_any(stream, "__cuda_stream__", &found);
    if (there > 0) {
        PyObject *pair = PyCallable_Check(found) ? PyObject_CallNoArgs(found) : Py_NewRef(found);
        if (pair && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2) number = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
        if (!pair) there = -1;
        Py_XDECREF(pair);
        Py_DECREF(found);
    }
    for (size_t i = 0; !number && there >= 0 && i < COUNT_OF(attributes); i++)
        there = attribute_if_any(stream, attributes[i], &number);
    return number;
}

Device *runtime_stream_device(PyObject *object) {
    bool made = Py_TYPE(object)->tp_dealloc == stream_dealloc && ((Stream *)object)->owned;
    return made ? ((Stream *)object)->device : NULL;
}

int runtime_stream_check(PyObject *object, const Device *device) {
    enum { LAST_FIXED = 2 }; /* the default streams are those of any device */
    if (Py_TYPE(object)->tp_dealloc != stream_dealloc) return 0;
    const Stream *stream = (Stream *)object;
    if ((uintptr_t)stream->handle <= LAST_FIXED && !stream->owned) return 0;
    if (device_check_life(stream->device, stream->generation, "stream") < 0) return -1;
    if (!device || !stream->owned || stream->device == device) return 0;
    PyErr_Format(PyExc_ValueError, "the stream is one of GPU %d, and this is work of GPU %d", stream->device->ordinal,
                 device->ordinal);
    return -1;
}

int runtime_stream_handle(PyObject *stream, const Device *device, void **handle) {
    *handle = NULL;
    if (stream == Py_None) return 0;
    if (PyLong_Check(stream)) {
        *handle = PyLong_AsVoidPtr(stream);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (Py_TYPE(stream)->tp_dealloc == stream_dealloc) {
        *handle = ((Stream *)stream)->handle;
        return runtime_stream_check(stream, device);
    }
    PyObject *number = foreign_handle(stream);
    if (number && PyLong_Check(number))
        *handle = PyLong_AsVoidPtr(number);
    else if (!PyErr_Occurred())
        PyErr_Format(
            PyExc_TypeError,
            "a stream is one that cuda.stream() makes, 0, an address or an object with __cuda_stream__, not %.100s%s",
            Py_TYPE(stream)->tp_name,
            PyCallable_Check(stream)       ? ": call it, cuda.stream()"
            : PyObject_CheckBuffer(stream) ? ": arguments of a kernel stand in the parentheses, kernel[grid, block](x)"
                                           : "");
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *stream_synchronize(PyObject *object, PyObject *unused) {
    (void)unused;
    Stream *self = (Stream *)object;
    if (graph_recording() && graph_refuse("a wait for a stream") < 0) return NULL;
    if (runtime_stream_check(object, NULL) < 0 || device_synchronise(self->device, self->handle) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *stream_done(PyObject *object, PyObject *unused) {
    (void)unused;
    Stream *self = (Stream *)object;
    bool done;
    if (runtime_stream_check(object, NULL) < 0) return NULL;
    int status = self->device->ops->stream_done(self->device, self->handle, &done);
    if (device_check(self->device, status, "asking a stream") < 0) return NULL;
    return done && self->device->ops->look(self->device) < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *stream_enter(PyObject *object, PyObject *unused) {
    (void)unused;
    return Py_NewRef(object);
}

static PyObject *stream_exit(PyObject *object, PyObject *args) {
    (void)args;
    return stream_synchronize(object, NULL);
}

static PyObject *stream_protocol(PyObject *object, PyObject *unused) {
    (void)unused;
    return Py_BuildValue("(iN)", 0, PyLong_FromVoidPtr(((Stream *)object)->handle));
}

/* ---- callbacks ---- */

typedef struct Callback {
    struct Callback *next;
    PyObject *function, *stream, *argument;
} Callback;

static void free_callback(Callback *callback) {
    Py_XDECREF(callback->function);
    Py_XDECREF(callback->stream);
    Py_XDECREF(callback->argument);
    PyMem_Free(callback);
}

_Thread_local Runtime *runtime_calling;

/* Without memory for the list the driver is called, and refuses: what it has stays with it. */
void runtime_keep_dropped(PyObject *object) {
    Runtime *runtime = runtime_calling;
    if (!runtime) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if ((!runtime->dropped && !(runtime->dropped = PyList_New(0))) || PyList_Append(runtime->dropped, object) < 0)
        PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

static int free_called(void *context) {
    Runtime *runtime = context;
    if (runtime_calling) return 0;
    while (runtime->called) {
        Callback *callback = runtime->called;
        runtime->called = callback->next;
        free_callback(callback);
    }
    Py_CLEAR(runtime->dropped);
    for (int i = 0; i < runtime->cuda->device_count; i++) device_settle(cuda_device(runtime->cuda, i));
    return 0;
}

/* The driver's thread must make no call of the driver, which deallocations do: what the callback has, and what its code
 * drops (runtime_keeps, must_not_wait), is let go of by the main thread, or by the next that adds one.  For the same
 * reason no garbage is collected in a callback. */
static void hand_back(Callback *callback) {
    Stream *stream = (Stream *)callback->stream;
    Runtime *runtime = stream->runtime;
    if (--runtime->calling == 0 && runtime->collects) PyGC_Enable();
    bool first = !runtime->called;
    callback->next = runtime->called;
    runtime->called = callback;
    if (stream->device->shares_memory)
        free_called(runtime);
    else if (first)
        Py_AddPendingCall(free_called, runtime); /* may have no room */
}

static PyObject *call_back(const Callback *callback, int status) {
    Runtime *runtime = ((Stream *)callback->stream)->runtime;
    if (runtime->calling++ == 0) runtime->collects = PyGC_Disable();
    return PyObject_CallFunction(callback->function, "OiO", callback->stream, status, callback->argument);
}

/* On a thread of the driver's, or in the call itself on the host device: its exception has nowhere to go. */
static void run_callback(void *context, int status) {
    Callback *callback = context;
    if (!Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Device *device = ((Stream *)callback->stream)->device;
    device->callbacks--;
    if (!device->shares_memory) runtime_calling = ((Stream *)callback->stream)->runtime;
    PyObject *result = call_back(callback, status);
    if (!result) PyErr_WriteUnraisable(callback->function);
    Py_XDECREF(result);
    PyGILState_Release(gil); /* it may run code, of a thread's own variables: before garbage is collected again */
    gil = PyGILState_Ensure();
    hand_back(callback);
    PyGILState_Release(gil);
    runtime_calling = NULL;
}

static PyObject *stream_add_callback(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"callback", "arg", NULL};
    Stream *self = (Stream *)object;
    PyObject *function, *argument = Py_None;
    int status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:add_callback", names, &function, &argument) ||
        runtime_stream_check(object, NULL) < 0 || (graph_recording() && graph_refuse("a callback") < 0))
        return NULL;
    free_called(self->runtime);
    Callback *callback = PyMem_Malloc(sizeof *callback);
    if (!callback) return PyErr_NoMemory();
    *callback = (Callback){NULL, Py_NewRef(function), Py_NewRef(object), Py_NewRef(argument)};
    self->device->callbacks++;
    Py_BEGIN_ALLOW_THREADS status = self->device->ops->stream_notify(self->device, self->handle, run_callback,
                                                                     callback);
    Py_END_ALLOW_THREADS if (status == 0) Py_RETURN_NONE;
    self->device->callbacks--;
    free_callback(callback);
    device_raise(self->device, status, "adding a callback");
    return NULL;
}

/* async_done(): krait.cuda._streams has it, for it needs asyncio. */
static PyObject *stream_async_done(PyObject *object, PyObject *unused) {
    (void)unused;
    return marshal_call_python("krait.cuda._streams", "future_of", "(O)", object);
}

static PyObject *stream_handle(PyObject *object, void *unused) {
    (void)unused;
    return device_handle_object(((Stream *)object)->handle);
}

static PyObject *stream_int(PyObject *object) { return PyLong_FromVoidPtr(((Stream *)object)->handle); }

static PyObject *stream_repr(PyObject *object) {
    Stream *self = (Stream *)object;
    if (self->device->shares_memory) return PyUnicode_FromFormat("<krait stream on %s>", self->device->what);
    return self->handle ? PyUnicode_FromFormat("<krait stream %p>", self->handle)
                        : PyUnicode_FromString("<krait default stream>");
}

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS,
     PyDoc_STR("Waits until everything queued on the stream has finished.")},
    {"query", stream_done, METH_NOARGS, PyDoc_STR("Whether everything queued on the stream has finished.")},
    {"auto_synchronize", stream_enter, METH_NOARGS,
     PyDoc_STR("A context manager that waits for the stream when its block ends.")},
    {"add_callback", WITH_KEYWORDS(stream_add_callback), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("add_callback($self, callback, arg=None)\n--\n\nCalls callback(stream, status, arg) when the stream has "
               "got there, status other than 0 if its work failed; the callback must not use the device.")},
    {"async_done", stream_async_done, METH_NOARGS,
     PyDoc_STR("async_done($self)\n--\n\nAn awaitable: done when all that is queued so far has finished.")},
    {"__enter__", stream_enter, METH_NOARGS, NULL},
    {"__exit__", stream_exit, METH_VARARGS, NULL},
    {"__cuda_stream__", stream_protocol, METH_NOARGS, PyDoc_STR("(version, address), the protocol of CUDA Python.")},
    {NULL, NULL, 0, NULL},
};

static PyObject *stream_context(PyObject *object, void *unused) {
    (void)unused;
    return device_context_of(((Stream *)object)->runtime, ((Stream *)object)->device);
}

static PyObject *stream_external(PyObject *object, void *unused) {
    enum { LAST_FIXED = 2 };
    (void)unused;
    return PyBool_FromLong(!((Stream *)object)->owned && (uintptr_t)((Stream *)object)->handle > LAST_FIXED);
}

static PyGetSetDef stream_getset[] = {
    {"handle", stream_handle, NULL, PyDoc_STR("Address of the driver's stream, a ctypes.c_void_p."), NULL},
    {"context", stream_context, NULL, PyDoc_STR("The context of its device."), NULL},
    {"external", stream_external, NULL, PyDoc_STR("Whether another library made it (cuda.external_stream)."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef stream_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Stream, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A queue of work for a device; made by cuda.stream().")},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_finalize, runtime_keep_dropped},
    {Py_tp_repr, stream_repr},
    {Py_nb_int, stream_int},
    {Py_nb_index, stream_int},
    {Py_tp_methods, stream_methods},
    {Py_tp_members, stream_members},
    {Py_tp_getset, stream_getset},
    {0, NULL},
};

PyType_Spec stream_spec = {"krait.cuda.Stream", sizeof(Stream), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           stream_slots};

/* ---- functions of krait.cuda ---- */

static PyObject *make_stream(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"priority", NULL};
    Runtime *runtime = RUNTIME_OF(module);
    void *handle = NULL;
    int priority = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|i:stream", names, &priority)) return NULL;
    Device *device = runtime_device(runtime);
    if (!device || device_check(device, device->ops->stream_open(device, priority, &handle), "making a stream") < 0)
        return NULL;
    return stream_new(runtime, device, handle, true);
}

static PyObject *fixed_stream(PyObject *module, uintptr_t handle) {
    Runtime *runtime = RUNTIME_OF(module);
    Device *device = runtime_device(runtime);
    return device ? stream_new(runtime, device, (void *)handle, false) : NULL;
}

static PyObject *default_stream(PyObject *module, PyObject *unused) {
    (void)unused;
    return fixed_stream(module, 0);
}

static PyObject *legacy_default_stream(PyObject *module, PyObject *unused) {
    (void)unused;
    return fixed_stream(module, 1); /* CU_STREAM_LEGACY */
}

static PyObject *per_thread_default_stream(PyObject *module, PyObject *unused) {
    (void)unused;
    return fixed_stream(module, 2); /* CU_STREAM_PER_THREAD */
}

static PyObject *external_stream(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"ptr", NULL};
    PyObject *address;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:external_stream", names, &address)) return NULL;
    void *handle = PyLong_AsVoidPtr(address);
    return PyErr_Occurred() ? NULL : fixed_stream(module, (uintptr_t)handle);
}

PyMethodDef stream_functions[] = {
    {"stream", WITH_KEYWORDS(make_stream), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("stream(priority=0)\n--\n\nA new stream: work queued on it runs in order, beside that of other streams, "
               "and before that of streams with a higher number for their priority.")},
    {"default_stream", default_stream, METH_NOARGS,
     PyDoc_STR("default_stream()\n--\n\nThe stream that is used when none is named.")},
    {"legacy_default_stream", legacy_default_stream, METH_NOARGS,
     PyDoc_STR("legacy_default_stream()\n--\n\nCUDA's legacy default stream.")},
    {"per_thread_default_stream", per_thread_default_stream, METH_NOARGS,
     PyDoc_STR("per_thread_default_stream()\n--\n\nCUDA's default stream of the calling thread.")},
    {"external_stream", WITH_KEYWORDS(external_stream), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("external_stream(ptr)\n--\n\nA stream that another library made, by its address; not destroyed here.")},
    {NULL, NULL, 0, NULL},
};
