/* graph_update.c: recorded launches of a graph, as Python sees them, and other arguments for one.
 *
 * In: a launch by its number or its kernel, arguments.  Out: the step has them.  The launch is made again for that,
 * which refuses what a recording refuses; on a GPU it is given to the graph instead of a stream (gpu_graph_update), on
 * the host device to nobody.  Another thread may be launching or updating the graph meanwhile. */
#include "runtime/cuda/graph.h"

/* A recorded launch by its number, or by the kernel if it is launched once; borrowed. */
static PyObject *find_launch(const Graph *self, PyObject *which) {
    Py_ssize_t wanted = PyIndex_Check(which) ? PyNumber_AsSsize_t(which, PyExc_IndexError) : -1, number = 0;
    PyObject *found = NULL;
    if (wanted == -1 && PyErr_Occurred()) return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->steps); i++) {
        PyObject *step = PyList_GET_ITEM(self->steps, i);
        if (!PyList_Check(step)) continue;
        PyObject *kernel = PyObject_GetAttrString(PyList_GET_ITEM(step, STEP_LAUNCHER), "kernel");
        if (!kernel) return NULL;
        Py_DECREF(kernel); /* the launcher has it */
        if (kernel == which && found) {
            PyErr_Format(PyExc_ValueError, "the graph launches %R more than once: name the launch by its number",
                         which);
            return NULL;
        }
        if (kernel == which || number == wanted) found = step;
        number++;
    }
    if (!found)
        PyErr_Format(PyExc_IndexError,
                     "the graph has %zd launches of kernels outside blocks of if_ and while_, %R is none of them",
                     number, which);
    return found;
}

static PyObject *parameter_names(PyObject *launcher) {
    static const char *const way[] = {"kernel", "py_func", "__code__", "co_varnames"};
    PyObject *at = Py_NewRef(launcher);
    for (size_t i = 0; at && i < COUNT_OF(way); i++) Py_SETREF(at, PyObject_GetAttrString(at, way[i]));
    return at;
}

/* The arguments of a launch with others in the place of some; a new reference. */
static PyObject *merge_arguments(PyObject *step, PyObject *given, PyObject *named) {
    PyObject *old = PyList_GET_ITEM(step, STEP_ARGUMENTS), *name, *value;
    Py_ssize_t count = PyTuple_GET_SIZE(old), at = 0;
    if (PyTuple_GET_SIZE(given) - 1 > count)
        return PyErr_Format(PyExc_TypeError, "the launch has %zd arguments, %zd were given", count,
                            PyTuple_GET_SIZE(given) - 1);
    PyObject *list = PySequence_List(old), /* first: another thread's update() may replace them */
        *names = list ? parameter_names(PyList_GET_ITEM(step, STEP_LAUNCHER)) : NULL;
    if (!names) Py_CLEAR(list);
    for (Py_ssize_t i = 1; list && i < PyTuple_GET_SIZE(given); i++)
        if (PyList_SetItem(list, i - 1, Py_NewRef(PyTuple_GET_ITEM(given, i))) < 0) Py_CLEAR(list);
    while (list && named && PyDict_Next(named, &at, &name, &value)) {
        Py_ssize_t place = PySequence_Contains(names, name) == 1 ? PySequence_Index(names, name) : count;
        if (place >= count) {
            PyErr_Format(PyExc_TypeError, "the kernel has no parameter %R", name);
            Py_CLEAR(list);
        } else if (PyList_SetItem(list, place, Py_NewRef(value)) < 0) {
            Py_CLEAR(list);
        }
    }
    PyObject *merged = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(names);
    Py_XDECREF(list);
    return merged;
}

static int update_step(Graph *self, PyObject *step, PyObject *arguments) {
    PyObject *kept = PyList_New(0);
    if (!kept) return -1;
    Capture capture = {.device = self->device,
                       .kept = kept,
                       .steps = self->steps,
                       .updating = true,
                       .graph = self->graph,
                       .node = PyLong_AsVoidPtr(PyList_GET_ITEM(step, STEP_NODE))};
    runtime_capture = &capture; /* this thread's: others may update the graph, too */
    PyObject *result = PyObject_CallObject(PyList_GET_ITEM(step, STEP_LAUNCHER), arguments);
    runtime_capture = NULL;
    if (result) { /* what was kept goes below */
        PyObject *before = Py_NewRef(PyList_GET_ITEM(step, STEP_KEPT));
        PyList_SetItem(step, STEP_KEPT, kept);
        kept = before;
    }
    graph_drop(&kept);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

PyObject *graph_update(PyObject *object, PyObject *args, PyObject *kwargs) {
    Graph *self = (Graph *)object;
    if (PyTuple_GET_SIZE(args) < 1) {
        PyErr_SetString(PyExc_TypeError, "update() takes the number of a launch or its kernel, then arguments");
        return NULL;
    }
    if (graph_check_ready(self) < 0) return NULL;
    PyObject *step = find_launch(self, PyTuple_GET_ITEM(args, 0));
    PyObject *arguments = Py_XNewRef(step) ? merge_arguments(step, args, kwargs) : NULL;
    int status = arguments ? update_step(self, step, arguments) : -1;
    if (status == 0) PyList_SetItem(step, STEP_ARGUMENTS, Py_NewRef(arguments));
    Py_XDECREF(arguments);
    Py_XDECREF(step);
    if (status < 0) return NULL;
    Py_RETURN_NONE;
}

PyObject *graph_launches(PyObject *object, void *unused) {
    (void)unused;
    PyObject *steps = ((Graph *)object)->steps, *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(steps); i++) {
        PyObject *step = PyList_GET_ITEM(steps, i);
        if (!PyList_Check(step)) continue;
        PyObject *pair = PyTuple_Pack(2, PyList_GET_ITEM(step, STEP_LAUNCHER), PyList_GET_ITEM(step, STEP_ARGUMENTS));
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}
