/* prelude.c: what the driver asks the frontend on behalf of inference: functions of the package krait.prelude by name,
 * and names for messages.
 *
 * The prelude is Python in the supported subset; its modules are imported when a compilation first needs them. */
#include "frontend/frontend_private.h"

#include <string.h> /* strchr, strncmp */

/* A defect of Krait, unless what is set is raised as it is. */
static bool python_failed(Frontend *frontend, const char *what) {
    if (PyErr_Occurred() && !frontend_may_put_into_words()) {
        diag_fail(frontend->diag, DIAG_PYTHON, NULL, (Span){0}, "%s", what);
        return false;
    }
    PyErr_Clear();
    return diag_fail(frontend->diag, DIAG_LOWERING, NULL, (Span){0}, "%s", what);
}

ObjRef frontend_prelude(Frontend *frontend, const char *name) {
    const char *colon = strchr(name, ':');
    FAIL_IF(!colon, frontend->diag, LOWERING, NULL, ((Span){0}), "'%s' does not name a prelude function", name);
    const char *module_name = arena_printf(frontend->arena, "krait.prelude.%.*s", (int)(colon - name), name);
    const char *failure = arena_printf(frontend->arena, "the prelude function %s could not be loaded", name);
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *function = module ? PyObject_GetAttrString(module, colon + 1) : NULL;
    ObjRef ref = function ? objects_ref(frontend->objects, function) : 0;
    Py_XDECREF(function);
    Py_XDECREF(module);
    if (!ref) python_failed(frontend, failure);
    return ref;
}

static const char ORIGINAL[] = "__krait_original__";

static PyObject *own_member(PyObject *class, const char *name) {
    PyObject *dict = PyType_Check(class) ? frontend_class_dict((PyTypeObject *)class) : NULL;
    return dict ? PyDict_GetItemString(dict, name) : NULL;
}

/* A class of the prelude in place of one of the library's: borrowed.  An import may call a function of the program's,
 * which has put it in the place of the interpreter's own: it is asked for once, not by every argument. */
static PyObject *prelude_class(const char *path, const char *name) {
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), path);
    PyObject *ours = module && PyModule_Check(module) ? PyDict_GetItemString(PyModule_GetDict(module), name) : NULL;
    if (ours) return ours;
    module = PyImport_ImportModule(path); /* which keeps what it defines */
    ours = module && PyModule_Check(module) ? PyDict_GetItemString(PyModule_GetDict(module), name) : NULL;
    Py_XDECREF(module);
    PyErr_Clear();
    return ours;
}

PyObject *frontend_stand_in(PyTypeObject *class) {
    static const char collections[] = "krait.prelude.collections", deques[] = "krait.prelude.deques",
                      buffers[] = "krait.prelude.buffers";
    static const struct {
        const char *name, *module;
    } known[] = {{"collections.deque", deques},
                 {"collections.OrderedDict", collections},
                 {"collections.defaultdict", collections},
                 {"Counter", collections},
                 {"frozenset", collections},
                 {"bytearray", buffers},
                 {"memoryview", buffers},
                 {"array.array", buffers}};
    size_t i = 0;
    while (i < COUNT_OF(known) && strcmp(class->tp_name, known[i].name) != 0) i++;
    if (i == COUNT_OF(known)) return NULL;
    const char *dot = strrchr(known[i].name, '.');
    PyObject *ours = prelude_class(known[i].module, dot ? dot + 1 : known[i].name);
    return ours && own_member(ours, ORIGINAL) == (PyObject *)class ? ours : NULL;
}

PyObject *frontend_original(PyObject *class) {
    PyObject *original = own_member(class, ORIGINAL);
    return original ? original : class;
}

PyObject *frontend_result_converter(PyObject *class) { return own_member(class, "__krait_result__"); }

/* Takes the exception that is set; its class and its words, in the arena. */
static const char *exception_words(Frontend *frontend, const char **class) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    const char *words = arena_strdup(frontend->arena, utf8 ? utf8 : "?");
    *class = arena_strdup(frontend->arena, value ? Py_TYPE(value)->tp_name : "?");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return words;
}

/* What a function of the user's that answers for types has raised, in its own words. */
static bool overload_failed(Frontend *frontend, const OverloadRequest *request) {
    if (!frontend_may_put_into_words()) return python_failed(frontend, "an overload was interrupted");
    const FuncInfo *row = func_row(request->func); /* what a user added is documented by its name */
    const char *class, *words = exception_words(frontend, &class);
    if (strcmp(class, "TypingError") == 0) /* which is about the user's code, as the words are */
        return diag_fail(frontend->diag, DIAG_TYPING, NULL, (Span){0}, "%s", words);
    return diag_fail(frontend->diag, DIAG_TYPING, NULL, (Span){0}, "an overload of `%s` raised %s: %s",
                     row->library == LIBRARY_ADDED ? row->doc : func_shown_name(frontend->arena, row), class, words);
}

bool frontend_overload(Frontend *frontend, const OverloadRequest *request, ObjRef *function) {
    PyObject *found = objects_overload(frontend->objects, request);
    *function = 0;
    if (!found) return !PyErr_Occurred() || overload_failed(frontend, request);
    *function = frontend_ref(frontend, found);
    Py_DECREF(found);
    return *function != 0;
}

Inlining frontend_inlining(Frontend *frontend, ObjRef function) {
    return objects_inlining(frontend->objects, objects_get(frontend->objects, function));
}

bool frontend_ask_inlining(Frontend *frontend, const FuncInst *caller, const Value *call, bool *inlined) {
    const FuncInst *callee = call->imm.inst;
    PyObject *decorated = objects_get(frontend->objects, callee->object);
    int answer = objects_ask_inlining(frontend->objects, decorated, caller, call);
    *inlined = answer > 0;
    if (answer >= 0) return true;
    if (!frontend_may_put_into_words()) return python_failed(frontend, "a function `inline` was interrupted");
    const char *class, *words = exception_words(frontend, &class);
    return diag_fail(frontend->diag, DIAG_TYPING, caller->untyped->source, call->span,
                     "the function that option inline of `%s` names raised %s: %s", callee->untyped->name, class,
                     words);
}

bool frontend_looped(Frontend *frontend, const LoopedRequest *request, ObjRef *function) {
    PyObject *found = objects_looped(frontend->objects, request);
    *function = found ? frontend_ref(frontend, found) : 0;
    Py_XDECREF(found);
    if (*function) return true;
    const char *failure = arena_printf(frontend->arena, "no loops could be made for a call of `%s`", request->name);
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return python_failed(frontend, failure);
    const char *class, *words = exception_words(frontend, &class);
    return diag_fail(frontend->diag, DIAG_TYPING, NULL, (Span){0}, "%s", words);
}

/* NULL: there is none, or it is no text. */
static const char *text_attribute(Frontend *frontend, PyObject *object, const char *attribute) {
    PyObject *value = PyObject_GetAttrString(object, attribute);
    const char *utf8 = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
    value = frontend_keep(frontend, value);
    PyErr_Clear();
    return utf8 && value ? arena_strdup(frontend->arena, utf8) : NULL;
}

const char *frontend_object_name(Frontend *frontend, ObjRef ref) {
    PyObject *object = objects_get(frontend->objects, ref);
    return object ? frontend_name_of(frontend, object) : "?";
}

const char *frontend_name_of(Frontend *frontend, PyObject *object) {
    const char *name = text_attribute(frontend, object, "__qualname__");
    if (!name) name = text_attribute(frontend, object, "__name__");
    if (!name) return arena_strdup(frontend->arena, Py_TYPE(object)->tp_name);
    const char *module = text_attribute(frontend, object, "__module__");
    bool library = module && (strncmp(module, "numpy", 5) == 0 || strcmp(module, "builtins") == 0);
    return library && !PyExceptionClass_Check(object) ? arena_printf(frontend->arena, "%s.%s", module, name) : name;
}
