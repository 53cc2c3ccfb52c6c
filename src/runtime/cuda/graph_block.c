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
    bool loops, entered;
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
    if (runtime_capture != capture || self->entered) {
        PyErr_SetString(PyExc_RuntimeError, self->entered ? "a block of a graph is entered once"
                                                          : "if_ and while_ stand in the block that records the graph");
        return NULL;
    }
    if (graph_check(word_of(self)->device) < 0 || device_array_used(word_of(self), NULL, NULL) < 0) return NULL;
    OpenBlock *open = PyMem_Malloc(sizeof *open);
    PyObject *steps = open ? PyList_New(0) : PyErr_NoMemory();
    void *inner = NULL;
    int status = steps ? device->ops->graph_block(device, capture->stream, self->loops, word_of(self)->head.data,
                                                  device_array_item(word_of(self)), &inner)
                       : 0;
    if (!steps ||
        device_check(device, status, "recording an if or while (drivers of CUDA 12.4 and later have them)") < 0) {
        Py_XDECREF(steps);
        PyMem_Free(open);
        return NULL;
    }
    *open = (OpenBlock){.around = capture->innermost,
                        .block = object,
                        .loops = self->loops,
                        .word = Py_NewRef(self->word),
                        .steps = steps,
                        .outer_stream = capture->stream,
                        .outer_steps = capture->steps};
    self->entered = true;
    capture->innermost = open;
    capture->stream = inner;
    capture->steps = steps;
    return Py_NewRef(object);
}

int graph_block_close(Capture *capture, bool keep) {
    OpenBlock *open = capture->innermost;
    Device *device = capture->device;
    DeviceArray *word = (DeviceArray *)open->word;
    void *inner = capture->stream;
    capture->innermost = open->around;
    capture->stream = open->outer_stream;
    capture->steps = open->outer_steps;
    int status = device->ops->graph_block_end(device, inner, open->loops, word->head.data, device_array_item(word));
    int result = keep ? device_check(device, status, "recording an if or while") : 0;
    PyObject *step = keep && result == 0 ? Py_BuildValue("(iOOO)", open->loops, word, open->steps, Py_None) : NULL;
    if (keep) result = step ? PyList_Append(capture->steps, step) : -1;
    if (!keep || result < 0)
        graph_drop(&open->steps);
    else
        Py_DECREF(open->steps);
    Py_XDECREF(step);
    Py_DECREF(open->word);
    PyMem_Free(open);
    return result;
}

/* What an exception leaves half recorded is no step; who catches it within the graph's block has no whole graph. */
static PyObject *block_exit(PyObject *object, PyObject *args) {
    Capture *capture = ((GraphBlock *)object)->capture;
    bool raised = PyTuple_GET_SIZE(args) > 0 && PyTuple_GET_ITEM(args, 0) != Py_None;
    if (runtime_capture != capture || !((GraphBlock *)object)->entered || !capture->innermost ||
        capture->innermost->block != object) {
        PyErr_SetString(PyExc_RuntimeError, "this is not the block that the thread is recording");
        return NULL;
    }
    int closed = graph_block_close(capture, !raised);
    capture->spoiled |= raised || closed < 0;
    if (closed < 0) return NULL;
    Py_RETURN_NONE;
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((GraphBlock *)object)->graph);
    Py_VISIT(((GraphBlock *)object)->word);
    return 0;
}

static int clear(PyObject *object) {
    Py_CLEAR(((GraphBlock *)object)->graph);
    Py_CLEAR(((GraphBlock *)object)->word);
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
    self->entered = false;
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
