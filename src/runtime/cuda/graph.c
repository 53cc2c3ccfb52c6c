/* graph.c: cuda.graph(): launches and copies recorded once and run again with one call.
 *
 * In a block `with cuda.graph() as g:` what the thread queues is recorded in its order, whatever stream it names, and
 * not done.  A GPU records it itself (gpu_graph.c); for the host device each step is kept: a launch as the call it was,
 * a copy as addresses and a size.  The graph keeps alive what its steps use, and notes it as used where it is launched.
 *
 * A step: [launcher, arguments, node or 0, what it uses] of a launch; on the host device also (to, from, bytes) of a
 * copy, (function, arguments) of an elementwise call.  Of a block with a condition (graph_block.c): (loops, word,
 * steps, None).
 *
 * A GPU's graph copies page-locked memory alone: what the driver does for other memory it does while the host waits in
 * one of its calls, and nobody need do that.  So a copy of ordinary memory goes through locked memory of its own, which
 * a function of the host fills before it or empties after it, in the order of the graph. */
#include "runtime/cuda/graph.h"

#include <stdlib.h> /* malloc */
#include <string.h> /* memmove */

#include "runtime/cuda/device_array.h"

_Thread_local Capture *runtime_capture;

int graph_refuse(const char *what) {
    PyErr_Format(PyExc_RuntimeError, "%s cannot be recorded in a graph", what);
    return -1;
}

/* ---- what is recorded ---- */

int graph_check(const Device *device) {
    if (!runtime_capture || runtime_capture->device == device) return 0;
    PyErr_Format(PyExc_ValueError, "the graph records the work of GPU %d, and this is work of GPU %d",
                 runtime_capture->device->ordinal, device->ordinal);
    return -1;
}

int graph_keep(PyObject *object) { return PyList_Append(runtime_capture->kept, object); }

int graph_keep_array(DeviceArray *array) {
    if (graph_keep((PyObject *)array) < 0) return -1;
    DeviceArray *owner = device_array_owner(array);
    owner->known = true;
    owner->recorded++;
    return 0;
}

static void drop_code(PyObject *capsule) {
    KeptCode *code = PyCapsule_GetPointer(capsule, KEPT_CODE);
    code->let_go(code->holder);
    PyMem_Free(code);
}

int graph_keep_code(DeviceKernel *kernel, void *holder, void (*let_go)(void *holder)) {
    KeptCode *code = PyMem_Malloc(sizeof *code);
    PyObject *capsule = code ? PyCapsule_New(code, KEPT_CODE, drop_code) : PyErr_NoMemory();
    if (!capsule) {
        PyMem_Free(code);
        let_go(holder);
        return -1;
    }
    *code = (KeptCode){kernel && kernel->in_turn ? kernel : NULL, holder, let_go};
    int kept = graph_keep(capsule);
    Py_DECREF(capsule);
    return kept;
}

static void forget_all(PyObject *list);

static void forget(PyObject *item) {
    if (device_array_is(item)) device_array_owner((DeviceArray *)item)->recorded--;
    if (PyList_Check(item)) forget_all(PyList_GET_ITEM(item, STEP_KEPT));
    if (graph_is_block(item)) forget_all(PyTuple_GET_ITEM(item, BLOCK_STEPS));
}

/* The memory of its arrays may be freed again. */
static void forget_all(PyObject *list) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) forget(PyList_GET_ITEM(list, i));
}

void graph_drop(PyObject **list) {
    if (*list) forget_all(*list);
    Py_CLEAR(*list);
}

/* Without the list. */
static void drop_items(PyObject *list) {
    forget_all(list);
    PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, NULL);
}

/* ---- copies on a GPU ---- */

typedef struct Relay {
    DeviceLater later; /* first */
    Device *device;
    unsigned generation;
    void *locked, *memory;
    size_t bytes;
} Relay;

static void fill(void *relay) { memcpy(((Relay *)relay)->locked, ((Relay *)relay)->memory, ((Relay *)relay)->bytes); }
static void empty(void *relay) { memcpy(((Relay *)relay)->memory, ((Relay *)relay)->locked, ((Relay *)relay)->bytes); }

static void free_relay(DeviceLater *later, bool idle) {
    Relay *relay = (Relay *)later;
    Device *device = relay->device;
    if (idle && relay->generation == device->generation) {
        Py_BEGIN_ALLOW_THREADS device->ops->unpin(device, PINNED_COPY, relay->locked);
        Py_END_ALLOW_THREADS
    }
    if (idle || relay->generation != device->generation) free(relay);
}

/* What copies through it may be running still. */
static void drop_relay(PyObject *capsule) {
    Relay *relay = PyCapsule_GetPointer(capsule, "krait.relay");
    device_when_idle(relay->device, &relay->later, free_relay);
}

/* NULL: exception set; kept by what is recorded. */
static Relay *make_relay(Device *device, void *memory, size_t bytes) {
    Relay *relay = malloc(sizeof *relay);
    if (!relay) return (Relay *)PyErr_NoMemory();
    *relay = (Relay){.device = device, .generation = device->generation, .memory = memory, .bytes = bytes};
    if (device_pin(device, PINNED_COPY, bytes, &relay->locked) < 0) {
        free(relay);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(relay, "krait.relay", drop_relay);
    if (!capsule) {
        device->ops->unpin(device, PINNED_COPY, relay->locked);
        free(relay);
        return NULL;
    }
    int kept = graph_keep(capsule);
    Py_DECREF(capsule); /* if it is not kept, this frees the relay */
    return kept < 0 ? NULL : relay;
}

static int record_copy(Device *device, DeviceCopy kind, void *to, const void *from, size_t bytes) {
    const DeviceOps *ops = device->ops;
    void *stream = runtime_capture->stream, *memory = kind == COPY_IN ? (void *)from : to;
    int ordinal = 0, status = bytes && kind != COPY_WITHIN ? ops->home(device, memory, &ordinal) : 0;
    Relay *relay = NULL;
    if (status == 0 && ordinal < 0 && !(relay = make_relay(device, memory, bytes))) return -1;
    if (status == 0 && relay && kind == COPY_IN) status = ops->stream_call(device, stream, fill, relay);
    if (status == 0)
        status = ops->copy(device, kind, stream, false, relay && kind == COPY_OUT ? relay->locked : to,
                           relay && kind == COPY_IN ? relay->locked : from, bytes);
    if (status == 0 && relay && kind == COPY_OUT) status = ops->stream_call(device, stream, empty, relay);
    return device_check(device, status, "recording a copy");
}

int graph_copy(Device *device, DeviceCopy kind, bool wait, void *to, const void *from, size_t bytes) {
    Capture *capture = runtime_capture;
    if (capture->innermost && kind != COPY_WITHIN)
        return graph_refuse("a copy between the host and the device in a block of if_ or while_");
    if (wait) return graph_refuse("a copy whose elements are needed at once, or that is no copy of contiguous memory,");
    if (!device->shares_memory) return record_copy(device, kind, to, from, bytes);
    PyObject *step = Py_BuildValue("(NNn)", PyLong_FromVoidPtr(to), PyLong_FromVoidPtr((void *)from), bytes);
    int result = step ? PyList_Append(capture->steps, step) : -1;
    Py_XDECREF(step);
    return result;
}

static PyObject *tuple_of(PyObject *const *items, Py_ssize_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(items[i]));
    return tuple;
}

int graph_add_call(PyObject *callable, PyObject *const *arguments, Py_ssize_t count) {
    PyObject *all = tuple_of(arguments, count), *step = all ? PyTuple_Pack(2, callable, all) : NULL;
    int result = step ? PyList_Append(runtime_capture->steps, step) : -1;
    Py_XDECREF(all);
    Py_XDECREF(step);
    return result;
}

Py_ssize_t graph_mark(void) { return PyList_GET_SIZE(runtime_capture->kept); }

int graph_add_launch(PyObject *launcher, PyObject *const *arguments, Py_ssize_t count, Py_ssize_t mark) {
    Capture *capture = runtime_capture;
    if (!capture) return graph_refuse("a launch whose arguments end the graph's block"); /* by their Python code */
    Device *device = capture->device;
    void *node = NULL;
    if (capture->updating) return 0; /* it is there already */
    if (!device->shares_memory &&
        device_check(device, device->ops->graph_last(device, capture->stream, &node), "recording a launch") < 0)
        return -1;
    PyObject *all = tuple_of(arguments, count), *used = PyList_GetSlice(capture->kept, mark, PY_SSIZE_T_MAX);
    PyObject *step = all && used ? Py_BuildValue("[OONO]", launcher, all, PyLong_FromVoidPtr(node), used) : NULL;
    int result = step ? PyList_Append(capture->steps, step) : -1;
    if (result == 0 && PyList_SetSlice(capture->kept, mark, PY_SSIZE_T_MAX, NULL) < 0) {
        PyList_SetSlice(capture->steps, PyList_GET_SIZE(capture->steps) - 1, PY_SSIZE_T_MAX, NULL);
        result = -1;
    }
    Py_XDECREF(all);
    Py_XDECREF(used);
    Py_XDECREF(step);
    return result;
}

/* ---- the block ---- */

static int end_recording(Graph *self, bool keep);

/* What a thread records when it ends, it records no more. */
static void thread_ends(PyObject *capsule) {
    (void)capsule;
    if (runtime_capture && runtime_capture->recording) end_recording((Graph *)runtime_capture->recording, false);
}

/* Python clears the dict of a thread's state when the thread ends, and in it.  -1: exception set. */
static int watch_thread(void) {
    static const char name[] = "krait.recording";
    PyObject *dict = PyThreadState_GetDict();
    if (!dict || PyDict_GetItemString(dict, name)) return 0;
    PyObject *capsule = PyCapsule_New((void *)name, name, thread_ends);
    int result = capsule ? PyDict_SetItemString(dict, name, capsule) : -1;
    Py_XDECREF(capsule);
    return result;
}

static PyObject *graph_enter(PyObject *object, PyObject *unused) {
    (void)unused;
    Graph *self = (Graph *)object;
    Device *device = runtime_device(self->runtime);
    if (!device) return NULL;
    if (graph_recording() || self->device || self->capture.recording) {
        PyErr_SetString(PyExc_RuntimeError, runtime_capture ? "this thread is recording a graph already"
                                            : self->device  ? "this graph is recorded: a new one is cuda.graph()"
                                                            : "another thread is recording this graph");
        return NULL;
    }
    if (watch_thread() < 0) return NULL;
    self->capture = (Capture){.device = device,
                              .generation = device->generation,
                              .kept = self->kept,
                              .steps = self->steps,
                              .recording = object};
    device_records(device);
    int status;
    Py_BEGIN_ALLOW_THREADS status = device->ops->graph_begin(device, &self->capture.stream);
    Py_END_ALLOW_THREADS if (status != 0) {
        self->capture.recording = NULL;
        device_check(device, status, "recording a graph");
        device_recorded(device);
        return NULL;
    }
    runtime_capture = &self->capture;
    return Py_NewRef(object);
}

/* Of the thread that records it, with what is open in it.  A graph that is not kept is as it was before.  The status is
 * the device's.  One that nobody has any more may be of an earlier generation, which ended it. */
static int end_recording(Graph *self, bool keep) {
    Capture *capture = &self->capture;
    Device *device = capture->device;
    int status = 0;
    while (capture->innermost) graph_block_close(capture, false);
    runtime_capture = NULL;
    if (capture->generation == device->generation) {
        status = device->ops->graph_end(device, capture->stream, keep ? &self->graph : NULL);
        device->dropped -= capture->dropped;
        device_recorded(device);
    }
    if (!keep || status != 0) {
        drop_items(self->steps);
        drop_items(self->kept);
    }
    bool dropped = capture->dropped;
    capture->recording = NULL;
    capture->dropped = false;
    if (dropped) Py_DECREF(self);
    return status;
}

bool graph_still_records(void) {
    if (!runtime_capture->dropped) return true;
    end_recording((Graph *)runtime_capture->recording, false);
    return false;
}

static PyObject *graph_exit(PyObject *object, PyObject *args) {
    Graph *self = (Graph *)object;
    Device *device = self->capture.device;
    bool raised = PyTuple_GET_SIZE(args) > 0 && PyTuple_GET_ITEM(args, 0) != Py_None;
    if (!device || runtime_capture != &self->capture) {
        PyErr_SetString(PyExc_RuntimeError, "this thread is not recording this graph");
        return NULL;
    }
    const char *why = self->capture.innermost ? "a block of if_ or while_ is open in this graph: it is not recorded"
                      : self->capture.spoiled
                          ? "an exception left a block of if_ or while_ in this graph: it is not recorded"
                          : NULL;
    int status = end_recording(self, !raised && !why);
    if (raised) Py_RETURN_NONE;
    if (why) {
        PyErr_SetString(PyExc_RuntimeError, why);
        return NULL;
    }
    if (device_check(device, status, "recording a graph") < 0) return NULL;
    self->device = device;
    self->generation = device->generation;
    Py_RETURN_NONE;
}

/* ---- the class ---- */

static int traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Graph *)object)->kept);
    Py_VISIT(((Graph *)object)->steps);
    for (const OpenBlock *open = ((Graph *)object)->capture.innermost; open; open = open->around) {
        Py_VISIT(open->word);
        Py_VISIT(open->steps);
    }
    return 0;
}

static int clear(PyObject *object) {
    graph_drop(&((Graph *)object)->kept);
    graph_drop(&((Graph *)object)->steps);
    return 0;
}

/* A thread records into it still: it is that thread's now, which ends the recording with its next call. */
static void finalize(PyObject *object) {
    Capture *capture = &((Graph *)object)->capture;
    if (!capture->recording) return;
    capture->dropped = true;
    capture->device->dropped++;
    Py_INCREF(object);
}

/* What is left of a graph that is gone and may be running still. */
typedef struct Remains {
    DeviceLater later; /* first */
    Device *device;
    unsigned generation;
    void *graph;
    PyObject *kept, *steps;
} Remains;

static void bury(DeviceLater *later, bool idle) {
    Remains *remains = (Remains *)later;
    Device *device = remains->device;
    if (idle && remains->generation == device->generation) device->ops->graph_close(device, remains->graph);
    graph_drop(&remains->kept);
    graph_drop(&remains->steps);
    free(remains);
}

static void dealloc(PyObject *object) {
    Graph *self = (Graph *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (PyObject_CallFinalizerFromDealloc(object) < 0) return;
    PyObject_GC_UnTrack(object);
    Remains *remains = self->graph ? malloc(sizeof *remains) : NULL;
    if (remains) { /* else, out of memory, the device keeps it */
        *remains = (Remains){.device = self->device,
                             .generation = self->generation,
                             .graph = self->graph,
                             .kept = self->kept,
                             .steps = self->steps};
        self->kept = self->steps = NULL;
        device_when_idle(self->device, &remains->later, bury);
    }
    clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

PyObject *graph_new(PyObject *module, PyObject *unused) {
    (void)unused;
    Runtime *runtime = RUNTIME_OF(module);
    Graph *self = PyObject_GC_New(Graph, runtime->graph);
    if (!self) return NULL;
    self->runtime = runtime;
    self->device = NULL;
    self->graph = NULL;
    self->generation = 0;
    self->capture = (Capture){0};
    self->kept = PyList_New(0);
    self->steps = PyList_New(0);
    PyObject_GC_Track(self);
    if (!self->kept || !self->steps) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *graph_if(PyObject *object, PyObject *word) {
    return graph_block_new(((Graph *)object)->runtime, object, &((Graph *)object)->capture, word, false);
}

static PyObject *graph_while(PyObject *object, PyObject *word) {
    return graph_block_new(((Graph *)object)->runtime, object, &((Graph *)object)->capture, word, true);
}

static PyMethodDef methods[] = {
    {"if_", graph_if, METH_O,
     PyDoc_STR(
         "if_($self, word)\n--\n\nA block whose steps are done if the one element of the device array `word` is not "
         "zero when the graph gets there.")},
    {"while_", graph_while, METH_O,
     PyDoc_STR("while_($self, word)\n--\n\nA block whose steps are done as long as that element is not zero.")},
    {"launch", WITH_KEYWORDS(graph_launch), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("launch($self, stream=0)\n--\n\nRuns what was recorded, in its order.")},
    {"update", WITH_KEYWORDS(graph_update), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("update($self, launch, *args, **kwargs)\n--\n\nGives a recorded launch, named by its number or its "
               "kernel, other arguments; those that are not given stay.")},
    {"__enter__", graph_enter, METH_NOARGS, NULL},
    {"__exit__", graph_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"launches", graph_launches, NULL, PyDoc_STR("(launcher, arguments) of each recorded launch of a kernel."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("Launches and copies that are recorded in a `with` block and run with one call; made "
                                  "by cuda.graph().")},
    {Py_tp_finalize, finalize},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec graph_spec = {
    "krait.cuda.Graph", sizeof(Graph), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};
