/* library.c: the rows of the library as dicts, the lookup by name, and rows added at run time, for the test
 * suite and the reference pages of the manual. */
#include "testing/testing.h"

static const char *symbol_of(const FuncInfo *info) {
    switch (info->how) {
    case HOW_EXTERN: return platform_math[info->math].name;
    case HOW_OP: return op_info[info->op].text;
    default: return info->symbol;
    }
}

static PyObject *loops_of(const FuncInfo *info) {
    if (!info->loops.types) return Py_NewRef(Py_None);
    return Py_BuildValue("(sss)", info->loops.types, info->loops.result, info->loops.integers);
}

static PyObject *range_of(const FuncInfo *info) {
    if (!info->range.low && !info->range.high) return Py_NewRef(Py_None);
    return Py_BuildValue("(LL)", (long long)info->range.low, (long long)info->range.high);
}

static PyObject *row_of(const FuncInfo *info) {
    static const char *const hows[] = {"EXTERN", "OP", "RTLIB", "HOSTED", "EMIT", "PRELUDE", "TYPED", "PYTHON"};
    static const char *const checks[] = {"NONE", "DOMAIN", "RANGE", "BOTH", "POW", "CALL", "FIRST"};
    _Static_assert(COUNT_OF(checks) == CHECK_FIRST + 1 && COUNT_OF(hows) == HOW_PYTHON + 1, "a name for each");
    const FuncHead *head = &info->head;
    PyObject *loops = loops_of(info), *range = range_of(info), *row = NULL;
    if (loops && range)
        row = Py_BuildValue("{sI ss ss ss si si ss ss sz ss sz ss sO sO sI sO sO sz}", "id", head->id, "key", head->key,
                            "names", head->names, "library", library_info[info->library].title, "least",
                            (int)head->least, "most", (int)head->most, "effects", head->effects, "how", hows[info->how],
                            "symbol", symbol_of(info), "check", checks[info->check], "checker", info->checker, "doc",
                            info->doc, "loops", loops, "range", range, "constants", (unsigned)info->constants,
                            "vectors", info->vectors ? Py_True : Py_False, "is_value",
                            info->is_value ? Py_True : Py_False, "signature", info->signature);
    Py_XDECREF(loops);
    Py_XDECREF(range);
    return row;
}

/* functions() -> every row, those added at run time last */
static PyObject *testing_functions(PyObject *module, PyObject *unused) {
    ModuleState *state = module_state(module);
    PyObject *rows = PyList_New(0);
    (void)unused;
    for (FuncId id = FUNC_NONE + 1; rows; id++) {
        const FuncInfo *info = library_row(state->session.library, id);
        PyObject *row = info ? row_of(info) : NULL;
        if (!row) break;
        if (PyList_Append(rows, row) < 0) Py_CLEAR(rows);
        Py_DECREF(row);
    }
    if (PyErr_Occurred()) Py_CLEAR(rows);
    return rows;
}

/* libraries() -> (prefix, title) of each */
static PyObject *testing_libraries(PyObject *module, PyObject *unused) {
    PyObject *list = PyList_New(0);
    (void)module, (void)unused;
    for (int i = LIBRARY_NONE + 1; list && i < LIBRARY_COUNT; i++) {
        PyObject *row = Py_BuildValue("(ss)", library_info[i].prefix, library_info[i].title);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* find_function(name) -> the key of its row, or None */
static PyObject *testing_find_function(PyObject *module, PyObject *name) {
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (!text) return NULL;
    const FuncInfo *info = library_find(module_state(module)->session.library, text, (size_t)length);
    if (!info) Py_RETURN_NONE;
    return PyUnicode_FromString(info->head.key);
}

/* add_function(name, object, implementation, doc): in compiled code, calls of object are calls of implementation */
static PyObject *testing_add_function(PyObject *module, PyObject *args) {
    Session *session = &module_state(module)->session;
    PyObject *object, *implementation;
    const char *name, *doc;
    bool taken;
    if (!PyArg_ParseTuple(args, "sOOs:add_function", &name, &object, &implementation, &doc)) return NULL;
    ObjRef function = objects_ref(session->objects, implementation);
    if (!function) return NULL;
    const FuncInfo *row = library_add(session->library, name, function, doc, &taken);
    if (!row && taken) return PyErr_Format(PyExc_ValueError, "there is a library function called %s", name);
    if (!row) return PyErr_NoMemory();
    if (!objects_add_function(session->objects, object, row)) return NULL;
    Py_RETURN_NONE;
}

PyMethodDef testing_library_methods[] = {
    {"functions", testing_functions, METH_NOARGS, "functions() -> every row of the library, as dicts"},
    {"libraries", testing_libraries, METH_NOARGS, "libraries() -> (prefix of the names, title) of each"},
    {"find_function", testing_find_function, METH_O, "find_function(name) -> the key of its row, or None"},
    {"add_function", testing_add_function, METH_VARARGS, "add_function(name, object, implementation, doc)"},
    {NULL, NULL, 0, NULL},
};
