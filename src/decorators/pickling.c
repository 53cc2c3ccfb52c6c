/* pickling.c: dispatchers and kernels in a pickle.
 *
 * By reference, when importing the function's module finds the very object (as pickle does with functions); else by
 * value: the code object (marshal), defaults, contents of the closure and those globals that the code names, and the
 * dispatcher is decorated anew where it is unpickled.  Modules among the globals travel by name, the function's own
 * name as a placeholder. */
#include "decorators/decorators.h"

#include <marshal.h> /* PyMarshal_WriteObjectToString */

/* A str, if sys.modules[function.__module__].<__qualname__> is `self`; NULL without an exception otherwise. */
PyObject *pickle_reference(PyObject *function, PyObject *self) {
    PyObject *module_name = PyObject_GetAttrString(function, "__module__");
    PyObject *qualname = PyObject_GetAttrString(function, "__qualname__");
    PyObject *module = module_name && PyUnicode_Check(module_name)
                           ? PyDict_GetItemWithError(PyImport_GetModuleDict(), module_name)
                           : NULL;
    PyObject *found = Py_XNewRef(module), *parts, *dot = PyUnicode_FromString(".");
    parts = found && qualname && dot ? PyUnicode_Split(qualname, dot, -1) : NULL;
    for (Py_ssize_t i = 0; parts && found && i < PyList_GET_SIZE(parts); i++)
        Py_SETREF(found, PyObject_GetAttr(found, PyList_GET_ITEM(parts, i)));
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    PyObject *result = found == self && !PyErr_Occurred() ? Py_NewRef(qualname) : NULL;
    Py_XDECREF(found);
    Py_XDECREF(parts);
    Py_XDECREF(dot);
    Py_XDECREF(module_name);
    Py_XDECREF(qualname);
    return result;
}

/* ("module", name) for a module, ("self",) for the object being pickled, ("value", object) for the rest. */
static PyObject *wrap(PyObject *value, PyObject *self) {
    if (value == self) return Py_BuildValue("(s)", "self");
    if (PyModule_Check(value)) return Py_BuildValue("(sN)", "module", PyObject_GetAttrString(value, "__name__"));
    return Py_BuildValue("(sO)", "value", value);
}

static PyObject *unwrap(PyObject *wrapped, PyObject *self) {
    const char *kind = PyUnicode_AsUTF8(PyTuple_GET_ITEM(wrapped, 0));
    if (!kind) return NULL;
    if (*kind == 's') return Py_NewRef(self);
    PyObject *content = PyTuple_GET_ITEM(wrapped, 1);
    if (*kind == 'v') return Py_NewRef(content);
    PyObject *package = PyImport_Import(content); /* the top of a dotted name */
    Py_XDECREF(package);
    return package ? Py_XNewRef(PyDict_GetItemWithError(PyImport_GetModuleDict(), content)) : NULL;
}

/* The globals that a code object and the ones nested in it name. */
static int collect_globals(PyCodeObject *code, PyObject *globals, PyObject *self, PyObject *collected) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names); i++) {
        PyObject *name = PyTuple_GET_ITEM(code->co_names, i), *value = PyDict_GetItemWithError(globals, name);
        if (!value) continue;
        PyObject *wrapped = wrap(value, self);
        int failed = !wrapped || PyDict_SetItem(collected, name, wrapped) < 0;
        Py_XDECREF(wrapped);
        if (failed) return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *nested = PyTuple_GET_ITEM(code->co_consts, i);
        if (PyCode_Check(nested) && collect_globals((PyCodeObject *)nested, globals, self, collected) < 0) return -1;
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *collect_closure(PyObject *function, PyObject *self) {
    PyObject *closure = PyFunction_GET_CLOSURE(function);
    Py_ssize_t count = closure ? PyTuple_GET_SIZE(closure) : 0;
    PyObject *contents = PyTuple_New(count);
    for (Py_ssize_t i = 0; contents && i < count; i++) {
        PyObject *value = PyCell_GET(PyTuple_GET_ITEM(closure, i));
        PyObject *item = value ? wrap(value, self) : Py_NewRef(Py_None);
        if (item)
            PyTuple_SET_ITEM(contents, i, item);
        else
            Py_CLEAR(contents);
    }
    return contents;
}

PyObject *pickle_value(Specialiser *core, const char *decorator, PyObject *signatures, PyObject *self) {
    PyFunctionObject *function = (PyFunctionObject *)core->function;
    PyObject *code = PyMarshal_WriteObjectToString(function->func_code, Py_MARSHAL_VERSION);
    PyObject *globals = PyDict_New(), *contents = collect_closure(core->function, self), *reduced = NULL;
    PyObject *owner = PyType_GetModule(core->state->dispatcher_class);
    PyObject *rebuild = owner ? PyObject_GetAttrString(owner, "_rebuild") : NULL;
    PyObject *name = PyObject_GetAttrString(core->function, "__module__");
    if (code && globals && contents && rebuild && name &&
        collect_globals((PyCodeObject *)function->func_code, function->func_globals, self, globals) == 0)
        reduced = Py_BuildValue("O(sOOOOOOOOOO)", rebuild, decorator, code, name, function->func_qualname,
                                function->func_defaults ? function->func_defaults : Py_None,
                                function->func_kwdefaults ? function->func_kwdefaults : Py_None, contents, globals,
                                function->func_doc ? function->func_doc : Py_None, signatures, core->options.given);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    Py_XDECREF(contents);
    Py_XDECREF(rebuild);
    Py_XDECREF(name);
    Py_DECREF(signatures);
    return reduced;
}

PyObject *pickle_declared(Specialiser *core, const char *decorator, PyObject *self) {
    PyObject *reference = pickle_reference(core->function, self);
    if (reference || PyErr_Occurred()) return reference;
    return pickle_value(core, decorator, Py_NewRef(core->signatures ? core->signatures : Py_None), self);
}

/* ---- the way back ---- */

typedef struct Parts {
    const char *decorator;
    PyObject *code, *module_name, *qualname, *defaults, *keyword_defaults, *contents, *globals, *doc, *signatures,
        *options;
} Parts;

static PyObject *new_globals(const Parts *parts) {
    PyObject *globals = PyDict_New();
    PyObject *builtins = PyEval_GetBuiltins();
    if (!globals || PyDict_SetItemString(globals, "__builtins__", builtins) < 0 ||
        PyDict_SetItemString(globals, "__name__", parts->module_name) < 0)
        Py_CLEAR(globals);
    return globals;
}

static PyObject *new_cells(Py_ssize_t count) {
    PyObject *cells = PyTuple_New(count);
    for (Py_ssize_t i = 0; cells && i < count; i++) {
        PyObject *cell = PyCell_New(NULL);
        if (cell)
            PyTuple_SET_ITEM(cells, i, cell);
        else
            Py_CLEAR(cells);
    }
    return cells;
}

static PyObject *new_function(const Parts *parts, PyObject *globals, PyObject *cells) {
    PyObject *code = PyMarshal_ReadObjectFromString(PyBytes_AS_STRING(parts->code), PyBytes_GET_SIZE(parts->code));
    PyObject *function = code ? PyFunction_New(code, globals) : NULL;
    Py_XDECREF(code);
    if (!function) return NULL;
    if ((PyTuple_GET_SIZE(cells) && PyFunction_SetClosure(function, cells) < 0) ||
        (parts->defaults != Py_None && PyFunction_SetDefaults(function, parts->defaults) < 0) ||
        (parts->keyword_defaults != Py_None && PyFunction_SetKwDefaults(function, parts->keyword_defaults) < 0) ||
        PyObject_SetAttrString(function, "__qualname__", parts->qualname) < 0 ||
        PyObject_SetAttrString(function, "__doc__", parts->doc) < 0 ||
        PyObject_SetAttrString(function, "__module__", parts->module_name) < 0)
        Py_CLEAR(function);
    return function;
}

/* Globals and cells get their contents last: some are the new dispatcher itself. */
static int fill(const Parts *parts, PyObject *globals, PyObject *cells, PyObject *self) {
    PyObject *name, *wrapped;
    Py_ssize_t position = 0;
    while (PyDict_Next(parts->globals, &position, &name, &wrapped)) {
        PyObject *value = unwrap(wrapped, self);
        int failed = !value || PyDict_SetItem(globals, name, value) < 0;
        Py_XDECREF(value);
        if (failed) return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); i++) {
        wrapped = PyTuple_GET_ITEM(parts->contents, i);
        if (wrapped == Py_None) continue;
        PyObject *value = unwrap(wrapped, self);
        if (!value) return -1;
        int failed = PyCell_Set(PyTuple_GET_ITEM(cells, i), value);
        Py_DECREF(value);
        if (failed < 0) return -1;
    }
    return 0;
}

PyObject *pickle_rebuild(PyObject *module, PyObject *args) {
    Parts parts;
    if (!PyArg_ParseTuple(args, "sO!OOOOO!O!OOO", &parts.decorator, &PyBytes_Type, &parts.code, &parts.module_name,
                          &parts.qualname, &parts.defaults, &parts.keyword_defaults, &PyTuple_Type, &parts.contents,
                          &PyDict_Type, &parts.globals, &parts.doc, &parts.signatures, &parts.options))
        return NULL;
    PyObject *globals = new_globals(&parts), *cells = new_cells(PyTuple_GET_SIZE(parts.contents));
    PyObject *function = globals && cells ? new_function(&parts, globals, cells) : NULL;
    PyObject *decorate = function ? PyObject_GetAttrString(module, parts.decorator) : NULL;
    PyObject *empty = decorate ? PyTuple_New(0) : NULL;
    PyObject *first = empty && parts.signatures != Py_None ? PyTuple_Pack(1, parts.signatures) : Py_XNewRef(empty);
    PyObject *decorator = NULL, *self = NULL;
    /* the function's globals must be there before explicit signatures are compiled: what is not the dispatcher itself
     * goes in first */
    if (first && fill(&parts, globals, cells, Py_None) == 0) decorator = PyObject_Call(decorate, first, parts.options);
    if (decorator) self = PyObject_CallOneArg(decorator, function);
    if (self && fill(&parts, globals, cells, self) < 0) Py_CLEAR(self);
    Py_XDECREF(decorator);
    Py_XDECREF(first);
    Py_XDECREF(empty);
    Py_XDECREF(decorate);
    Py_XDECREF(function);
    Py_XDECREF(cells);
    Py_XDECREF(globals);
    return self;
}
