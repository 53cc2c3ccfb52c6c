/* threads.c: the threads of parallel loops, as Python sees them (compiled functions know the same names,
 * library/krait.def), and what launches are warned of. */
#include <stdlib.h> /* getenv */
#include <string.h> /* strcmp */

#include "decorators/decorators.h"
#include "runtime/host/host.h" /* host_threads */

static PyObject *get_num_threads(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromUnsignedLong(host_threads());
}

static PyObject *get_thread_id(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromUnsignedLong(host_thread_number());
}

static PyObject *set_num_threads(PyObject *module, PyObject *given) {
    unsigned most = host_device_workers();
    (void)module;
    if (!PyLong_Check(given)) return PyErr_Format(PyExc_TypeError, "the number of threads is an int, not %R", given);
    long count = PyLong_AsLong(given);
    if (count == -1 && PyErr_Occurred()) PyErr_Clear();
    if (count < 1 || count > (long)most)
        return PyErr_Format(PyExc_ValueError, "the number of threads is between 1 and %u, not %S", most, given);
    host_set_threads((unsigned)count);
    Py_RETURN_NONE;
}

static PyObject *get_parallel_chunksize(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLongLong(host_chunk());
}

static PyObject *set_parallel_chunksize(PyObject *module, PyObject *given) {
    (void)module;
    if (!PyLong_Check(given)) return PyErr_Format(PyExc_TypeError, "the size of a chunk is an int, not %R", given);
    int beyond = 0; /* the sign of what does not fit */
    int64_t size = PyLong_AsLongLongAndOverflow(given, &beyond);
    if (beyond > 0) return PyErr_Format(PyExc_ValueError, "the size of a chunk is less than 2**63, not %R", given);
    if (size < 0) return PyErr_Format(PyExc_ValueError, "chunksize must be greater than or equal to zero");
    int64_t before = host_chunk();
    host_set_chunk(size);
    return PyLong_FromLongLong(before);
}

static PyObject *threading_layer(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyUnicode_FromString("pool");
}

static PyObject *most_threads(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromUnsignedLong(host_device_workers());
}

/* reports(): what launches are warned of; reports(bits) sets it. */
static PyObject *reports(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    ModuleState *state = module_state(module);
    if (nargs > 0) {
        unsigned long bits = PyLong_AsUnsignedLong(args[0]);
        if (PyErr_Occurred()) return NULL;
        state->reports = (unsigned)bits;
    }
    return PyLong_FromUnsignedLong(state->reports);
}

/* interpreted(): whether jit gives functions back as they are; interpreted(flag) sets it. */
static PyObject *interpreted(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    ModuleState *state = module_state(module);
    int flag = nargs > 0 ? PyObject_IsTrue(args[0]) : state->interpreted;
    if (flag < 0) return NULL;
    state->interpreted = flag;
    return PyBool_FromLong(flag);
}

static bool asked(const char *name) {
    const char *text = getenv(name);
    return text && strcmp(text, "1") == 0;
}

static PyMethodDef functions[] = {
    {"reports", WITH_KEYWORDS(reports), METH_FASTCALL, NULL},
    {"interpreted", WITH_KEYWORDS(interpreted), METH_FASTCALL, NULL},
    {"get_num_threads", get_num_threads, METH_NOARGS,
     "get_num_threads()\n--\n\nHow many threads a parallel loop of this thread uses at most."},
    {"set_num_threads", set_num_threads, METH_O,
     "set_num_threads(n, /)\n--\n\nParallel loops of this thread use at most n threads; KRAIT_NUM_THREADS of them are "
     "there."},
    {"get_thread_id", get_thread_id, METH_NOARGS,
     "get_thread_id()\n--\n\nIn a compiled parallel loop the number of the thread that runs the iteration; 0 outside."},
    {"get_parallel_chunksize", get_parallel_chunksize, METH_NOARGS,
     "get_parallel_chunksize()\n--\n\nIterations of a chunk as set; 0: as it seems fit."},
    {"set_parallel_chunksize", set_parallel_chunksize, METH_O,
     "set_parallel_chunksize(n, /)\n--\n\nParallel loops of this thread hand out n iterations at a time, 0: as it "
     "seems "
     "fit.\nReturns what was set before."},
    {"threading_layer", threading_layer, METH_NOARGS,
     "threading_layer()\n--\n\nThe name of the threads that parallel loops run on: there is one kind, 'pool'."},
    {"_most_threads", most_threads, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* What the pool would pass over (pool.c) is told while it can be. */
static int check_number_of_threads(void) {
    const char *text = getenv("KRAIT_NUM_THREADS");
    char *end = NULL;
    if (!text || !*text || (strtol(text, &end, 10) >= 1 && !*end)) return 0;
    PyErr_Format(PyExc_ValueError, "KRAIT_NUM_THREADS is a number of threads from 1, not '%s'", text);
    return -1;
}

int threads_add(PyObject *module, ModuleState *state) {
    if (check_number_of_threads() < 0) return -1;
    state->reports = (asked("KRAIT_CUDA_LOW_OCCUPANCY_WARNINGS") ? REPORT_OCCUPANCY : 0) |
                     (asked("KRAIT_CUDA_WARN_ON_IMPLICIT_COPY") ? REPORT_COPIES : 0);
    state->interpreted = asked("KRAIT_DISABLE_JIT");
    return PyModule_AddFunctions(module, functions);
}
