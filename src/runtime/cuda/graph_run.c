/* graph_run.c: a recorded graph is launched: by a GPU with one call, on the host device step by step.
 *
 * In: a graph, a stream.  Out: what it was recorded to do is queued, or done; streams that use its arrays are noted.
 * Kernels whose blocks wait for each other are launched one at a time, in graphs as elsewhere (DeviceOps.graph_run). */
#include "runtime/cuda/device_array.h"
#include "runtime/cuda/graph.h"

/* What a launch of a graph is for: its stream; and gets: the kernels whose launches take turns. */
typedef struct GraphRun {
    const Runtime *runtime;
    void *stream;
    PyObject *keeper;
    DeviceKernel **in_turn;
    size_t count;
    PyObject *held; /* list: who has these, for another thread's update() may let them go; NULL: nobody yet */
    Device *device;
    PyObject *visited; /* list: arrays of other devices; NULL: none yet */
} GraphRun;

static int note_code(GraphRun *run, PyObject *capsule) {
    const KeptCode *code = PyCapsule_GetPointer(capsule, KEPT_CODE);
    if (!code->kernel) return 0;
    for (size_t i = 0; i < run->count; i++)
        if (run->in_turn[i] == code->kernel) return 0;
    DeviceKernel **grown = PyMem_Realloc(run->in_turn, (run->count + 1) * sizeof *grown);
    if (!grown) return PyErr_NoMemory(), -1;
    run->in_turn = grown;
    grown[run->count++] = code->kernel;
    if (!run->held && !(run->held = PyList_New(0))) return -1;
    return PyList_Append(run->held, capsule);
}

static int note_array(GraphRun *run, PyObject *used) {
    DeviceArray *array = (DeviceArray *)used;
    if (array->device == run->device) return device_array_used(array, run->stream, run->keeper);
    if (!run->visited && !(run->visited = PyList_New(0))) return -1;
    if (PyList_Append(run->visited, used) < 0) return -1;
    return device_array_visited(array, run->device, run->stream, false);
}

/* What arrays of other devices are used for later goes behind the graph. */
static int leave_visited(const GraphRun *run) {
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && run->visited && i < PyList_GET_SIZE(run->visited); i++)
        status = device_array_visited((DeviceArray *)PyList_GET_ITEM(run->visited, i), run->device, run->stream, true);
    return status;
}

static int note_uses(PyObject *kept, GraphRun *run) {
    int status = 0;
    Py_INCREF(kept); /* another thread's update() puts another list in its place */
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(kept); i++) {
        PyObject *used = PyList_GET_ITEM(kept, i);
        if (Py_IS_TYPE(used, run->runtime->device_array))
            status = note_array(run, used);
        else if (PyCapsule_IsValid(used, KEPT_CODE))
            status = note_code(run, used);
    }
    Py_DECREF(kept);
    return status;
}

static int run_steps(PyObject *steps);

/* As long as the word is not zero; an `if` once. */
static int run_block(PyObject *const *parts) {
    int more = PyObject_IsTrue(parts[BLOCK_WORD]);
    while (more == 1) {
        if (run_steps(parts[BLOCK_STEPS]) < 0 || PyErr_CheckSignals() < 0) return -1;
        more = PyObject_IsTrue(parts[BLOCK_LOOPS]) == 1 ? PyObject_IsTrue(parts[BLOCK_WORD]) : 0;
    }
    return more;
}

static int run_step(PyObject *step) {
    PyObject *const *parts = PySequence_Fast_ITEMS(step);
    if (graph_is_block(step)) return run_block(parts);
    if (PyList_Check(step) || PyTuple_GET_SIZE(step) == 2) {
        PyObject *arguments = Py_NewRef(parts[STEP_ARGUMENTS]); /* another thread's update() may replace them */
        PyObject *result = PyObject_CallObject(parts[STEP_LAUNCHER], arguments);
        Py_DECREF(arguments);
        Py_XDECREF(result);
        return result ? 0 : -1;
    }
    memmove(PyLong_AsVoidPtr(parts[0]), PyLong_AsVoidPtr(parts[1]), PyLong_AsSize_t(parts[2]));
    return 0;
}

static int run_steps(PyObject *steps) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(steps); i++)
        if (run_step(PyList_GET_ITEM(steps, i)) < 0) return -1;
    return 0;
}

/* Of launches, also those in blocks. */
static int note_steps(PyObject *steps, GraphRun *run) {
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(steps); i++) {
        PyObject *step = PyList_GET_ITEM(steps, i);
        if (PyList_Check(step)) status = note_uses(PyList_GET_ITEM(step, STEP_KEPT), run);
        if (graph_is_block(step)) status = note_steps(PyTuple_GET_ITEM(step, BLOCK_STEPS), run);
    }
    return status;
}

int graph_check_ready(const Graph *self) {
    const char *why = !self->device ? "the graph has not been recorded"
                      : self->generation != self->device->generation
                          ? "the device was reset since the graph was recorded"
                      : graph_recording() ? "a graph cannot be part of another"
                                          : NULL;
    if (why) PyErr_SetString(PyExc_RuntimeError, why);
    return why ? -1 : 0;
}

static int run_graph(Graph *self, GraphRun *run) {
    Device *device = self->device;
    int status;
    if (note_uses(self->kept, run) < 0) return -1;
    if (device->shares_memory) return run_steps(self->steps);
    if (note_steps(self->steps, run) < 0) return -1;
    GIVE(device, status, device->ops->graph_run(device, self->graph, run->stream, run->in_turn, run->count));
    return device_check(device, status, "launching a graph") < 0 ? -1 : leave_visited(run);
}

PyObject *graph_launch(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", NULL};
    Graph *self = (Graph *)object;
    PyObject *stream = Py_None;
    GraphRun run = {.runtime = self->runtime};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:launch", names, &stream) || graph_check_ready(self) < 0 ||
        runtime_stream_handle(stream, self->device, &run.stream) < 0)
        return NULL;
    run.keeper = stream == Py_None ? NULL : stream;
    run.device = self->device;
    int status = run_graph(self, &run);
    PyMem_Free(run.in_turn);
    Py_XDECREF(run.held);
    Py_XDECREF(run.visited);
    if (status < 0) return NULL;
    Py_RETURN_NONE;
}
