/* cu_errors.c: failures of the driver's calls in words: the driver's own text, its name for them, what can be done
 * (cu_errors.def).
 *
 * The host device's statuses are numbers of the same table, so that what is said of one device is said of the other. */
#include "runtime/cuda/device_memory.h"

#include <stdio.h>  /* snprintf */
#include <string.h> /* strlen */

enum { GOES_ON, ENDS };

typedef struct CudaErrorRow {
    int number;
    const char *name, *hint;
    bool ends; /* the context is of no use any more */
} CudaErrorRow;

static const CudaErrorRow rows[] = {
#define CU_ERROR(number, name, after, hint) {number, "CUDA_ERROR_" #name, hint, after},
#include "runtime/cuda/cu_errors.def"
#undef CU_ERROR
};

static const CudaErrorRow *find(int number) {
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].number == number) return &rows[i];
    return NULL;
}

void cuda_explain(Cuda *cuda, int error, char *text, size_t size) {
    const CudaErrorRow *row = find(error);
    const char *name = NULL, *what = NULL;
    cuda->api.GetErrorName(error, &name);
    cuda->api.GetErrorString(error, &what);
    if (!name && row) name = row->name;
    if (name)
        snprintf(text, size, "%s (%s)", what ? what : "it failed", name);
    else
        snprintf(text, size, "%s (CUresult %d)", what ? what : "it failed", error);
}

static void add(char *text, size_t size, const char *format, ...) KRAIT_PRINTF(3, 4);
static void add(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

const char *cuda_hint(int error) {
    const CudaErrorRow *row = find(error);
    return row ? row->hint : "";
}

void cuda_advise(const Cuda *cuda, int error, char *text, size_t size) {
    const CudaErrorRow *row = find(error);
    text[0] = 0;
    if (cuda && cuda_was_forked(cuda)) {
        add(text, size,
            "; CUDA was initialised before this process was forked, and does not survive a fork: use the 'spawn' or "
            "'forkserver' start method of multiprocessing, or touch the GPU in the children only");
        return;
    }
    if (row && row->hint[0]) add(text, size, "; %s", row->hint);
    if (row && row->ends) add(text, size, ". The process must be restarted before it can use the GPU again");
}

PyObject *cuda_error_table(PyObject *module, PyObject *unused) {
    PyObject *table = PyTuple_New((Py_ssize_t)COUNT_OF(rows));
    (void)module, (void)unused;
    for (size_t i = 0; table && i < COUNT_OF(rows); i++) {
        const CudaErrorRow *row = &rows[i];
        PyObject *item = Py_BuildValue("(issO)", row->number, row->name, row->hint, row->ends ? Py_True : Py_False);
        if (item)
            PyTuple_SET_ITEM(table, (Py_ssize_t)i, item);
        else
            Py_CLEAR(table);
    }
    return table;
}
