/* numpy_loops.c: tells runtime/host the inner loops of a NumPy ufunc.
 *
 * In: a ufunc and its name.  Out: one symbol for each of its loops without objects: "krait_numpy_loop_", the name, "_",
 * the type letters of inputs and outputs. */
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

static PyMethodDef loop_functions[] = {
    {"bind_numpy_loops", bind_numpy_loops, METH_VARARGS,
     "bind_numpy_loops(name, ufunc): compiled code may call the ufunc's inner loops"},
    {0},
};

int numpy_loops_add(PyObject *module, ModuleState *state) {
    (void)state;
    return PyModule_AddFunctions(module, loop_functions);
}
