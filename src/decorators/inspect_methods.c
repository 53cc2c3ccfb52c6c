/* inspect_methods.c: what a Dispatcher tells about its specialisations, as Python's methods and attributes; those
 * that a Kernel has, too, work on either. */
#include "decorators/decorators.h"
#include "decorators/inspect.h"

static Specialiser *core_of(PyObject *self) { return &((Dispatcher *)self)->core; }

PyObject *inspect_get_signatures(PyObject *self, void *closure) {
    return (void)closure, inspect_signatures(core_of(self));
}
PyObject *inspect_get_nopython_signatures(PyObject *self, void *closure) {
    return (void)closure, inspect_nopython_signatures(core_of(self));
}
PyObject *inspect_get_overloads(PyObject *self, void *closure) {
    return (void)closure, inspect_overloads(core_of(self));
}
PyObject *inspect_get_stats(PyObject *self, void *closure) { return (void)closure, inspect_stats(core_of(self)); }

/* What the Python function has under the name that the closure is. */
static PyObject *of_function(PyObject *self, void *closure) {
    return PyObject_GetAttrString(core_of(self)->function, closure);
}

PyGetSetDef inspect_getset[] = {
    {"__code__", of_function, NULL, "the Python function's", "__code__"},
    {"__defaults__", of_function, NULL, "the Python function's", "__defaults__"},
    {"__kwdefaults__", of_function, NULL, "the Python function's", "__kwdefaults__"},
#define ATTRIBUTE(name, doc) {#name, inspect_get_##name, NULL, doc, NULL},
#include "decorators/inspect_attributes.def"
#undef ATTRIBUTE
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *text_method(PyObject *self, PyObject *args, PyObject *kwargs, InspectKind kind, const char *format) {
    static char *keywords[] = {"signature", NULL};
    PyObject *signature = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, keywords, &signature)) return NULL;
    return inspect_text(core_of(self), kind, signature);
}

PyObject *inspect_method_llvm(PyObject *self, PyObject *args, PyObject *kwargs) {
    return text_method(self, args, kwargs, INSPECT_LLVM, "|O:inspect_llvm");
}

PyObject *inspect_method_asm(PyObject *self, PyObject *args, PyObject *kwargs) {
    return text_method(self, args, kwargs, INSPECT_ASM, "|O:inspect_asm");
}

PyObject *inspect_method_types(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"file", "signature", "pretty", NULL};
    PyObject *file = Py_None, *signature = Py_None;
    int pretty = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOp:inspect_types", keywords, &file, &signature, &pretty))
        return NULL;
    return inspect_print_types(core_of(self), file, signature);
}

/* (file, line, place in the text, the line of text): what "file:line: function: ..." is sorted by. */
static PyObject *with_place(PyObject *text, Py_ssize_t place) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), colon = PyUnicode_FindChar(text, ':', 0, length, 1);
    for (; colon >= 0; colon = PyUnicode_FindChar(text, ':', colon + 1, length, 1)) {
        long line = 0;
        Py_ssize_t at = colon + 1;
        for (; at < length && Py_UNICODE_ISDIGIT(PyUnicode_READ_CHAR(text, at)); at++)
            line = 10 * line + Py_UNICODE_TODECIMAL(PyUnicode_READ_CHAR(text, at));
        if (at == colon + 1 || at == length || PyUnicode_READ_CHAR(text, at) != ':') continue;
        PyObject *file = PyUnicode_Substring(text, 0, colon);
        return file ? Py_BuildValue("(NlnO)", file, line, place, text) : NULL;
    }
    return Py_BuildValue("(slnO)", "", 0L, place, text);
}

/* The lines of at most that level, which each begins with, without it, in the order of the source. */
static PyObject *lines_of_level(PyObject *text, int level) {
    PyObject *lines = PyUnicode_Splitlines(text, 1), *kept = lines ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; kept && i < PyList_GET_SIZE(lines); i++) {
        PyObject *line = PyList_GET_ITEM(lines, i);
        if ((int)(PyUnicode_READ_CHAR(line, 0) - '0') > level) continue;
        PyObject *rest = PyUnicode_Substring(line, 2, PyUnicode_GET_LENGTH(line));
        PyObject *placed = rest ? with_place(rest, i) : NULL;
        if (!placed || PyList_Append(kept, placed) < 0) Py_CLEAR(kept);
        Py_XDECREF(placed);
        Py_XDECREF(rest);
    }
    if (kept && PyList_Sort(kept) < 0) Py_CLEAR(kept);
    for (Py_ssize_t i = 0; kept && i < PyList_GET_SIZE(kept); i++) {
        PyObject *placed = PyList_GET_ITEM(kept, i);
        PyList_SET_ITEM(kept, i, Py_NewRef(PyTuple_GET_ITEM(placed, 3)));
        Py_DECREF(placed);
    }
    PyObject *nothing = kept ? PyUnicode_FromString("") : NULL, *all = nothing ? PyUnicode_Join(nothing, kept) : NULL;
    Py_XDECREF(nothing);
    Py_XDECREF(kept);
    Py_XDECREF(lines);
    return all;
}

static int print_diagnostics(PyObject *text, int level) {
    PyObject *lines = lines_of_level(text, level), *file = PySys_GetObject("stdout");
    const char *none = "nothing in the function runs on several cores: it has no parallel=True, or no loop over prange "
                       "and no expression of whole arrays\n";
    PyObject *shown = lines && !PyUnicode_GET_LENGTH(lines) ? PyUnicode_FromString(none) : Py_XNewRef(lines);
    int failed = !shown || (file && file != Py_None && PyFile_WriteObject(shown, file, Py_PRINT_RAW) < 0);
    Py_XDECREF(shown);
    Py_XDECREF(lines);
    return failed ? -1 : 0;
}

static PyObject *method_parallel_diagnostics(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"signature", "level", NULL};
    PyObject *signature = Py_None, *key, *value;
    int level = 1, failed = 0;
    Py_ssize_t position = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Oi:parallel_diagnostics", keywords, &signature, &level))
        return NULL;
    if (level < 1 || level > 4) return PyErr_Format(PyExc_ValueError, "level is 1 to 4, not %d", level);
    PyObject *texts = inspect_text(core_of(self), INSPECT_DIAGNOSTICS, signature);
    if (!texts) return NULL;
    if (!PyDict_Check(texts)) failed = print_diagnostics(texts, level);
    while (PyDict_Check(texts) && !failed && PyDict_Next(texts, &position, &key, &value))
        failed = print_diagnostics(value, level);
    Py_DECREF(texts);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

PyObject *inspect_method_metadata(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"signature", NULL};
    PyObject *signature = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:get_metadata", keywords, &signature)) return NULL;
    return inspect_metadata(core_of(self), signature);
}

static PyObject *method_compile(PyObject *self, PyObject *given) {
    Specialiser *core = core_of(self);
    Signature *signature = signature_from_object(core->state, given);
    if (!signature) return NULL;
    Spec *spec = specialiser_flush_pending(core) < 0 ? NULL : specialiser_for_signature(core, &core->config, signature);
    Py_DECREF(signature);
    PyObject *overload = spec ? inspect_overload(core, spec) : NULL;
    if (spec) spec_release(spec);
    return overload;
}

static PyObject *method_get_overload(PyObject *self, PyObject *signature) {
    return inspect_by_signature(core_of(self), signature, inspect_make_overload, NULL);
}

static PyObject *method_typeof(PyObject *self, PyObject *value) {
    (void)self;
    return marshal_call_python("krait._krait", "typeof", "(O)", value);
}

static PyObject *method_recompile(PyObject *self, PyObject *unused) {
    return (void)unused, inspect_recompile(core_of(self));
}

static PyObject *method_disable_compile(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *done = inspect_disable_compile(core_of(self), args, kwargs);
    if (done) core_of(self)->disabled = !core_of(self)->can_compile;
    return done;
}

/* What is compiled from now on is kept on disk, as with cache=True. */
static PyObject *method_enable_caching(PyObject *self, PyObject *unused) {
    Specialiser *core = core_of(self);
    (void)unused;
    core->options.cache = core->config.cache = true;
    Py_RETURN_NONE;
}

static PyObject *method_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    Specialiser *core = core_of(self);
    PyObject *reference = pickle_reference(core->function, self);
    if (reference || PyErr_Occurred()) return reference;
    PyObject *signatures = core->can_compile ? Py_NewRef(Py_None) : inspect_nopython_signatures(core);
    return signatures ? pickle_value(core, "jit", signatures, self) : NULL;
}

PyMethodDef inspect_methods[] = {
#include "decorators/inspect_methods.def"
    {"parallel_diagnostics", WITH_KEYWORDS(method_parallel_diagnostics), METH_VARARGS | METH_KEYWORDS,
     "parallel_diagnostics(signature=None, level=1)\n--\n\nPrints what runs on several cores and what does not; from "
     "level 2 on what was made one loop, from level 3 on why something was not."},
    {"compile", method_compile, METH_O, "compile(signature)\n--\n\nCompiles for a signature now."},
    {"get_compile_result", method_compile, METH_O,
     "get_compile_result(signature)\n--\n\nThe specialisation for a signature, compiled unless it is there."},
    {"get_overload", method_get_overload, METH_O,
     "get_overload(signature)\n--\n\nThe specialisation for a signature; KeyError: nothing was compiled for it."},
    {"typeof_pyval", method_typeof, METH_O, "typeof_pyval(value)\n--\n\nThe type that a value has as an argument."},
    {"recompile", method_recompile, METH_NOARGS, "recompile()\n--\n\nCompiles every specialisation again."},
    {"disable_compile", WITH_KEYWORDS(method_disable_compile), METH_VARARGS | METH_KEYWORDS,
     "disable_compile(val=True)\n--\n\nFrom now on only what is compiled already is called; arguments are converted."},
    {"enable_caching", method_enable_caching, METH_NOARGS, "enable_caching()\n--\n\nFrom now on as with cache=True."},
    {"__reduce__", method_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
