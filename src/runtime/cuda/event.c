/* event.c: Event, with the names that Numba's has, on a GPU and on the host device.
 *
 * What it does is done by the functions of its Device. */
#include "runtime/cuda/device_memory.h"
#include "runtime/cuda/graph.h"

typedef struct Event {
    PyObject_HEAD
    Runtime *runtime;
    Device *device;
    void *handle;
    unsigned generation;
    bool timing, recorded;
} Event;

static void event_dealloc(PyObject *object) {
    Event *self = (Event *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (runtime_keeps(object)) return;
    if (self->handle && self->generation == self->device->generation)
        self->device->ops->event_close(self->device, self->handle);
    PyObject_Free(object);
    Py_DECREF(type);
}

static int check_event(const Event *self) { return device_check_life(self->device, self->generation, "event"); }

static PyObject *event_record(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", NULL};
    Event *self = (Event *)object;
    PyObject *stream = Py_None;
    void *handle;
    int status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:record", names, &stream) || check_event(self) < 0 ||
        runtime_stream_handle(stream, self->device, &handle) < 0 || (graph_recording() && graph_refuse("an event") < 0))
        return NULL;
    GIVE(self->device, status, self->device->ops->event_record(self->device, self->handle, handle));
    if (device_check(self->device, status, "recording an event") < 0) return NULL;
    self->recorded = true;
    Py_RETURN_NONE;
}

static PyObject *event_synchronize(PyObject *object, PyObject *unused) {
    (void)unused;
    Event *self = (Event *)object;
    int status;
    if (check_event(self) < 0 || (graph_recording() && graph_refuse("a wait for an event") < 0)) return NULL;
    Py_BEGIN_ALLOW_THREADS status = self->device->ops->event_synchronise(self->device, self->handle);
    Py_END_ALLOW_THREADS if (device_waited(self->device, status, "waiting for an event") < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *event_query(PyObject *object, PyObject *unused) {
    (void)unused;
    Event *self = (Event *)object;
    bool done;
    if (check_event(self) < 0) return NULL;
    int status = self->device->ops->event_done(self->device, self->handle, &done);
    return device_check(self->device, status, "asking an event") < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *event_wait(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", NULL};
    Event *self = (Event *)object;
    PyObject *stream = Py_None;
    void *handle;
    int status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:wait", names, &stream) || check_event(self) < 0 ||
        runtime_stream_handle(stream, NULL, &handle) < 0 ||
        (graph_recording() && graph_refuse("a stream that waits for an event") < 0))
        return NULL;
    GIVE(self->device, status, self->device->ops->event_hold(self->device, self->handle, handle));
    if (device_check(self->device, status, "making a stream wait for an event") < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *elapsed(PyObject *first, PyObject *second) {
    Event *start = (Event *)first, *end = (Event *)second;
    if (Py_TYPE(second) != Py_TYPE(first)) {
        PyErr_SetString(PyExc_TypeError, "elapsed time is between two events");
        return NULL;
    }
    if (check_event(start) < 0 || check_event(end) < 0) return NULL;
    if (!start->timing || !end->timing || !start->recorded || !end->recorded) {
        PyErr_SetString(PyExc_RuntimeError,
                        "both events must have been made with timing=True and recorded: start.record(), the work, "
                        "end.record(), end.synchronize()");
        return NULL;
    }
    double milliseconds = 0;
    int status = start->device->ops->event_elapsed(start->device, start->handle, end->handle, &milliseconds);
    return device_check(start->device, status, "measuring between events") < 0 ? NULL
                                                                               : PyFloat_FromDouble(milliseconds);
}

static PyMethodDef event_methods[] = {
    {"record", WITH_KEYWORDS(event_record), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("record($self, stream=0)\n--\n\nMarks the point the stream has reached.")},
    {"synchronize", event_synchronize, METH_NOARGS, PyDoc_STR("Waits until the event has happened.")},
    {"query", event_query, METH_NOARGS, PyDoc_STR("Whether the event has happened.")},
    {"wait", WITH_KEYWORDS(event_wait), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("wait($self, stream=0)\n--\n\nLets the stream go on only after the event.")},
    {"elapsed_time", elapsed, METH_O,
     PyDoc_STR("elapsed_time($self, evtend)\n--\n\nMilliseconds from this event to another.")},
    {NULL, NULL, 0, NULL},
};

static PyObject *event_context(PyObject *object, void *unused) {
    (void)unused;
    return device_context_of(((Event *)object)->runtime, ((Event *)object)->device);
}

static PyObject *event_handle(PyObject *object, void *unused) {
    (void)unused;
    return device_handle_object(((Event *)object)->handle);
}

static PyGetSetDef event_getset[] = {
    {"handle", event_handle, NULL, PyDoc_STR("Address of the driver's event, a ctypes.c_void_p."), NULL},
    {"context", event_context, NULL, PyDoc_STR("The context of its device."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot event_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A mark in a stream; made by cuda.event().")},
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_finalize, runtime_keep_dropped},
    {Py_tp_methods, event_methods},
    {Py_tp_getset, event_getset},
    {0, NULL},
};

PyType_Spec event_spec = {"krait.cuda.Event", sizeof(Event), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                          event_slots};

/* ---- functions of krait.cuda ---- */

static PyObject *make_event(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"timing", NULL};
    Runtime *runtime = RUNTIME_OF(module);
    Device *device;
    int timing = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:event", names, &timing) || !(device = runtime_device(runtime)))
        return NULL;
    Event *self = PyObject_New(Event, runtime->event);
    if (!self) return NULL;
    self->runtime = runtime;
    self->device = device;
    self->handle = NULL;
    self->generation = device->generation;
    self->timing = timing;
    self->recorded = false;
    if (device_check(device, device->ops->event_open(device, timing, &self->handle), "making an event") < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *event_elapsed_time(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"evtstart", "evtend", NULL};
    PyObject *first, *second;
    Runtime *runtime = RUNTIME_OF(module);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:event_elapsed_time", names, &first, &second)) return NULL;
    if (Py_TYPE(first) != runtime->event) {
        PyErr_SetString(PyExc_TypeError, "elapsed time is between two events");
        return NULL;
    }
    return elapsed(first, second);
}

PyMethodDef event_functions[] = {
    {"event", WITH_KEYWORDS(make_event), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("event(timing=True)\n--\n\nA new event.")},
    {"event_elapsed_time", WITH_KEYWORDS(event_elapsed_time), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("event_elapsed_time(evtstart, evtend)\n--\n\nMilliseconds between two recorded events.")},
    {NULL, NULL, 0, NULL},
};
