/* numpy_loops.c: tells runtime/host the inner loops of a NumPy ufunc, and NumPy's functions that sort.
 *
 * In: a ufunc and its name.  Out: one symbol for each of its loops without objects: "krait_numpy_loop_", the name, "_",
 * the type letters of inputs and outputs; for each dtype and way of sorting "krait_numpy_loop_sort_" (or argsort), the
 * way, "_", the type letter. */
#include "decorators/decorators.h"
#include "decorators/numpy_api.h"
#include "runtime/host/host.h" /* host_numpy_loop_add */

#include <stdio.h> /* snprintf */

static bool add_loop(const char *name, const PyUFuncObject *ufunc, int loop) {
    char symbol[64], letters[NPY_MAXARGS + 1];
    for (int i = 0; i < ufunc->nargs; i++) {
        int type = (unsigned char)ufunc->types[loop * ufunc->nargs + i];
        PyArray_Descr *dtype = PyArray_DescrFromType(type);
        if (!dtype) return false;
        letters[i] = dtype->type;
        Py_DECREF(dtype);
        if (letters[i] == 'O') return true;
    }
    letters[ufunc->nargs] = 0;
    int length = snprintf(symbol, sizeof symbol, HOST_NUMPY_LOOP "%s_%s", name, letters);
    if (length >= (int)sizeof symbol) return true; /* no name in the prelude is as long */
    void *data = ufunc->data ? (void *)ufunc->data[loop] : NULL;
    if (host_numpy_loop_add(symbol, (HostNumpyFunction *)ufunc->functions[loop], data)) return true;
    PyErr_NoMemory();
    return false;
}

/* bind_numpy_loops(name, ufunc) */
static PyObject *bind_numpy_loops(PyObject *module, PyObject *args) {
    const char *name;
    PyObject *object;
    (void)module;
    if (!PyArg_ParseTuple(args, "sO!:bind_numpy_loops", &name, &PyUFunc_Type, &object)) return NULL;
    const PyUFuncObject *ufunc = (const PyUFuncObject *)object;
    for (int i = 0; i < ufunc->ntypes; i++)
        if (!add_loop(name, ufunc, i)) return NULL;
    Py_INCREF(object); /* its loops stay */
    Py_RETURN_NONE;
}

/* ---- functions that sort ---- */

static bool add_sort(const char *what, const char *way, char letter, void (*function)(void)) {
    char symbol[64];
    snprintf(symbol, sizeof symbol, HOST_NUMPY_LOOP "%s_%s_%c", what, way, letter);
    return !function || host_numpy_loop_add(symbol, (HostNumpyFunction *)function, NULL);
}

static bool add_sorts(char letter, const PyArray_ArrFuncs *functions) {
    static const char *const ways[NPY_NSORTS] = {"quick", "heap", "stable"};
    bool added = true;
    for (int i = 0; i < NPY_NSORTS; i++)
        added = added && add_sort("sort", ways[i], letter, (void (*)(void))functions->sort[i]) &&
                add_sort("argsort", ways[i], letter, (void (*)(void))functions->argsort[i]);
    return added;
}

/* bind_numpy_sorts() */
static PyObject *bind_numpy_sorts(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    for (int type = NPY_BOOL; type <= NPY_HALF; type++) {
        PyArray_Descr *dtype = PyTypeNum_ISNUMBER(type) || type == NPY_BOOL ? PyArray_DescrFromType(type) : NULL;
        bool added = !dtype || add_sorts(dtype->type, PyDataType_GetArrFuncs(dtype));
        Py_XDECREF(dtype);
        if (!added) return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

static PyMethodDef loop_functions[] = {
    {"bind_numpy_loops", bind_numpy_loops, METH_VARARGS,
     "bind_numpy_loops(name, ufunc): compiled code may call the ufunc's inner loops"},
    {"bind_numpy_sorts", bind_numpy_sorts, METH_NOARGS,
     "bind_numpy_sorts(): compiled code may call NumPy's functions that sort"},
    {0},
};

int numpy_loops_add(PyObject *module, ModuleState *state) {
    (void)state;
    return PyModule_AddFunctions(module, loop_functions);
}
