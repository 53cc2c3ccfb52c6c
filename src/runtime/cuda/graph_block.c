/* graph_block.c: `with graph.if_(word):` and `with graph.while_(word):`: steps of a graph that are done if, or as long
 * as, the one element of a device array is not zero when the graph gets there.
 *
 * In: what the thread gives to the device within the block.  Out: one step of the graph around it. */
#include "runtime/cuda/graph.h"

#include "runtime/cuda/device_array.h"

typedef struct GraphBlock {
    PyObject_HEAD
    Capture *capture; /* of the graph */
    PyObject *graph, *word;
    bool loops, open;
    PyObject *steps;
    void *inner, *outer_stream;
    PyObject *outer_steps; /* borrowed: of the graph, or of the block around this one */
} GraphBlock;

static DeviceArray *word_of(const GraphBlock *self) { return (DeviceArray *)self->word; }

static bool is_word(const DeviceArray *word) {
    int scalar = type_element_scalar(word->type);
    char kind = scalar < 0 ? 0 : scalar_info[scalar].kind;
    return geometry_count(word->type->ndim, word->dims) == 1 && kind && strchr("iub", kind);
}

static PyObject *block_enter(PyObject *object, PyObject *unused) {
    (void)unused;
    GraphBlock *self = (GraphBlock *)object;
    Capture *capture = self->capture;
    Device *device = capture->device;
    if (runtime_capture != capture || self->steps) {
        PyErr_SetString(PyExc_RuntimeError, self->steps ? "a block of a graph is entered once"
                                                        : "if_ and while_ stand in the block that records the graph");
        return NULL;
    }
    if (graph_check(word_of(self)->device) < 0 || device_array_used(word_of(self), NULL, NULL) < 0) return NULL;
    PyObject *steps = PyList_New(0);
    int status = steps ? device->ops->graph_block(device, capture->stream, self->loops, word_of(self)->head.data,
                                                  device_array_item(word_of(self)), &self->inner)
                       : 0;
    if (!steps ||
        device_check(device, status, "recording an if or while (drivers of CUDA 12.4 and later have them)") < 0) {
        Py_XDECREF(steps);
        return NULL;
    }
    self->steps = steps;
    self->outer_stream = capture->stream;
    self->outer_steps = capture->steps;
    self->open = true;
    capture->stream = self->inner;
    capture->steps = steps;
    capture->depth++;
    return Py_NewRef(object);
}

static PyObject *block_exit(PyObject *object, PyObject *args) {
    GraphBlock *self = (GraphBlock *)object;
    Capture *capture = self->capture;
    Device *device = capture->device;
    bool raised = PyTuple_GET_SIZE(args) > 0 && PyTuple_GET_ITEM(args, 0) != Py_None;
    if (!self->open || runtime_capture != capture || capture->steps != self->steps) {
        PyErr_SetString(PyExc_RuntimeError, "this is not the block that the thread is recording");
        return NULL;
    }
    self->open = false;
    capture->stream = self->outer_stream;
    capture->steps = self->outer_steps;
    capture->depth--;
    int status = device->ops->graph_block_end(device, self->inner, self->loops, word_of(self)->head.data,
                                              device_array_item(word_of(self)));
    if (raised) Py_RETURN_NONE;
    if (device_check(device, status, "recording an if or while") < 0) return NULL;
    PyObject *step = Py_BuildValue("(iOOO)", self->loops, self->word, self->steps, Py_None);
    int added = step ? PyList_Append(capture->steps, step) : -1;
    Py_XDECREF(step);
    if (added < 0) return NULL;
    Py_RETURN_NONE;
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((GraphBlock *)object)->graph);
    Py_VISIT(((GraphBlock *)object)->word);
    Py_VISIT(((GraphBlock *)object)->steps);
    return 0;
}

static int clear(PyObject *object) {
    Py_CLEAR(((GraphBlock *)object)->graph);
    Py_CLEAR(((GraphBlock *)object)->word);
    Py_CLEAR(((GraphBlock *)object)->steps);
    return 0;
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

PyObject *graph_block_new(Runtime *runtime, PyObject *graph, Capture *capture, PyObject *word, bool loops) {
    if (Py_TYPE(word) != runtime->device_array || !is_word((DeviceArray *)word))
        return PyErr_Format(PyExc_TypeError, "if_ and while_ take a device array of one int or bool, not %.100s",
                            Py_TYPE(word)->tp_name);
    GraphBlock *self = PyObject_GC_New(GraphBlock, runtime->graph_block);
    if (!self) return NULL;
    self->capture = capture;
    self->graph = Py_NewRef(graph);
    self->word = Py_NewRef(word);
    self->loops = loops;
    self->open = false;
    self->steps = self->outer_steps = NULL;
    self->inner = self->outer_stream = NULL;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"__enter__", block_enter, METH_NOARGS, NULL},
    {"__exit__", block_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A part of a graph with a condition; made by Graph.if_ and Graph.while_.")},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec graph_block_spec = {
    "krait.cuda.GraphBlock", sizeof(GraphBlock), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};
