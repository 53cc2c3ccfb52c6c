/* ufunc_methods.c: what a NumPy ufunc that vectorize made has beside NumPy's methods.
 *
 * In: a ufunc with the loops of its decorator's signatures.  Out: the same, with the methods and attributes of a
 * Vectorized in its dict, so that a program need not tell the two apart.  The dict refers to the ufunc: garbage
 * collection ends both. */
#include "decorators/vectorized.h"

const char match_signature_doc[] =
    "match_signature(types, signature)\n--\n\nWhether a signature takes operands of these types, without a conversion.";

PyObject *ufunc_match_signature(ModuleState *state, PyObject *args) {
    PyObject *types, *given;
    if (!PyArg_ParseTuple(args, "OO:match_signature", &types, &given)) return NULL;
    PyObject *tuple = PySequence_Tuple(types);
    Signature *wanted = tuple ? signature_from_object(state, tuple) : NULL;
    Signature *signature = wanted ? signature_from_object(state, given) : NULL;
    bool same = signature && signature->count == wanted->count;
    for (Py_ssize_t i = 0; same && i < wanted->count; i++) same = signature->args[i] == wanted->args[i];
    PyObject *result = signature ? PyBool_FromLong(same) : NULL;
    Py_XDECREF(signature);
    Py_XDECREF(wanted);
    Py_XDECREF(tuple);
    return result;
}

/* ---- methods; self is the ufunc ---- */

static PyObject *build_ufunc(PyObject *ufunc, PyObject *unused) { return (void)unused, Py_NewRef(ufunc); }

static PyObject *disable_compile(PyObject *ufunc, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"val", NULL};
    int disable;
    (void)ufunc;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:disable_compile", keywords, &disable)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *add(PyObject *ufunc, PyObject *signature) {
    return PyErr_Format(
        PyExc_TypeError,
        "%R has the loops of its decorator's signatures, and gets no other: name %R there, or leave the "
        "signatures out, and loops are added as operands come",
        ufunc, signature);
}

static PyObject *match_signature(PyObject *ufunc, PyObject *args) {
    PyObject *list = PyObject_GetAttrString(ufunc, "_signatures"); /* made by the module whose state is wanted */
    PyObject *first = list && PyList_Check(list) && PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, 0) : NULL;
    PyObject *module = first ? PyType_GetModule(Py_TYPE(first)) : NULL;
    PyObject *result = module ? ufunc_match_signature(module_state(module), args) : NULL;
    if (!result && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "the ufunc has lost its signatures");
    Py_XDECREF(list);
    return result;
}

static PyMethodDef methods[] = {
    {"build_ufunc", build_ufunc, METH_NOARGS, "build_ufunc()\n--\n\nThe ufunc itself."},
    {"disable_compile", WITH_KEYWORDS(disable_compile), METH_VARARGS | METH_KEYWORDS,
     "disable_compile(val=True)\n--\n\nNo effect: the ufunc has the loops of its signatures."},
    {"add", add, METH_O, "add(signature)\n--\n\nRaises TypeError: the ufunc has the loops of its signatures."},
    {"match_signature", match_signature, METH_VARARGS, match_signature_doc},
};

static int note_methods(PyObject *ufunc) {
    int status = 0;
    for (size_t i = 0; status == 0 && i < COUNT_OF(methods); i++) {
        PyObject *method = PyCFunction_New(&methods[i], ufunc);
        status = method ? PyObject_SetAttrString(ufunc, methods[i].ml_name, method) : -1;
        Py_XDECREF(method);
    }
    return status;
}

static int note_names(PyObject *ufunc, PyObject *function) {
    static const char *const names[] = {"__module__", "__qualname__"};
    int status = PyObject_SetAttrString(ufunc, "__wrapped__", function);
    for (size_t i = 0; status == 0 && i < COUNT_OF(names); i++) {
        PyObject *value = PyObject_GetAttrString(function, names[i]);
        status = value ? PyObject_SetAttrString(ufunc, names[i], value) : -1;
        Py_XDECREF(value);
    }
    return status;
}

void ufunc_track(PyObject *ufunc) {
    if (PyObject_IS_GC(ufunc) && !PyObject_GC_IsTracked(ufunc)) PyObject_GC_Track(ufunc);
}

void ufunc_note(PyObject *ufunc, const Specialiser *core) {
    ufunc_track(ufunc);
    if (PyObject_SetAttrString(ufunc, "py_func", core->function) < 0 ||
        PyObject_SetAttrString(ufunc, "_signatures", core->signatures) < 0 ||
        PyObject_SetAttrString(ufunc, "targetoptions", core->options.given) < 0 ||
        PyObject_SetAttrString(ufunc, "ufunc", ufunc) < 0 || note_names(ufunc, core->function) < 0 ||
        note_methods(ufunc) < 0)
        PyErr_Clear();
}

/* ---- in a pickle ---- */

PyObject *ufunc_reduce_pickle(PyObject *module, PyObject *ufunc) {
    PyObject *parts[] = {NULL, NULL, NULL}, *result = NULL;
    static const char *const names[] = {"py_func", "_signatures", "targetoptions"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (!(parts[i] = PyObject_GetAttrString(ufunc, names[i]))) PyErr_Clear();
    if (parts[0] && parts[1] && parts[2] && PyFunction_Check(parts[0])) {
        Specialiser core = {.state = module_state(module), .function = parts[0], .options = {.given = parts[2]}};
        result = pickle_reference(parts[0], ufunc);
        if (!result && !PyErr_Occurred()) result = pickle_value(&core, "vectorize", Py_NewRef(parts[1]), ufunc);
    } else {
        result = Py_NewRef(Py_None);
    }
    for (size_t i = 0; i < COUNT_OF(names); i++) Py_XDECREF(parts[i]);
    return result;
}
