/* captures.c: lists, dicts, sets and collections that global variables, attributes of modules and of classes hold; so
 * are Generators of NumPy, and a bytes, which may be a literal as well.
 *
 * In: such an object.  Out: its number among the captures of the compilation.  Compiled code works on it as on an
 * argument: each call hands it in behind the others, and what the call makes of it is written back.  So the object is
 * shared with the interpreter, and only that it is this one is guarded (names.c); of what type its items are is looked
 * at by each call. */
#include <string.h> /* strcmp, strcspn, strlen, strspn, strstr */

#include "frontend/frontend_private.h"

bool frontend_forgets(PyObject *dict) {
    PyTypeObject *class = Py_TYPE(dict);
    if (class == &PyDict_Type || !(class->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
    return PyDict_GetItemString(frontend_class_dict(class), "__krait_forgets__") != NULL;
}

static bool can_be_captured(const Frontend *frontend, PyObject *object) {
    bool known = PyList_CheckExact(object) || PyDict_CheckExact(object) || PySet_CheckExact(object) ||
                 PyBytes_CheckExact(object) || (PyDict_Check(object) && frontend_forgets(object)) ||
                 frontend_stand_in(Py_TYPE(object)) ||
                 strcmp(Py_TYPE(object)->tp_name, "numpy.random._generator.Generator") == 0;
    return known && frontend->captures && !frontend->unguarded;
}

bool frontend_captures(Frontend *frontend, PyObject *object) {
    const Type *type = can_be_captured(frontend, object) ? objects_type_of(frontend->objects, &frontend->hold, object)
                                                         : NULL;
    PyErr_Clear(); /* who wants all of it is told */
    return type && !type_is_keywords(type);
}

static const Const *capture_const(Frontend *frontend, size_t index) {
    Const *konst = ARENA_NEW(frontend->arena, Const);
    konst->type = type_object(frontend->types, TY_OBJECT, frontend->captures->data[index].object);
    konst->captured = true;
    konst->i = (int64_t)index;
    return konst;
}

PyObject *frontend_advise_for(PyObject *text, PyObject *name) {
    static const char generic[] = "(?<![\\w.'])x(?!\\w)|(?<=\\()values\\b|(?<= in )values\\b";
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), at = PyUnicode_FindChar(text, ';', 0, length, 1);
    if (at < 0) return Py_NewRef(text);
    PyObject *re = PyImport_ImportModule("re");
    PyObject *fact = re ? PyUnicode_Substring(text, 0, at) : NULL, *advice = NULL, *own = NULL;
    if (fact) advice = PyUnicode_Substring(text, at, length);
    if (advice) own = PyObject_CallMethod(re, "sub", "sOO", generic, name, advice);
    PyObject *whole = own ? PyUnicode_Concat(fact, own) : NULL;
    Py_XDECREF(re), Py_XDECREF(fact), Py_XDECREF(advice), Py_XDECREF(own);
    return whole;
}

/* Why it would not be an argument, said of a variable; behind the first semicolon stands what to do. */
static const Const *refuse_as(Frontend *frontend, const Source *source, Span span, const char *why) {
    const char *at = strstr(why, NO_ARGUMENT), *name = frontend->named;
    const char *text = at ? arena_printf(frontend->arena, "%.*s cannot be used in compiled code%s", (int)(at - why),
                                         why, at + strlen(NO_ARGUMENT))
                          : why;
    size_t length = strcspn(text, ";");
    diag_fail(frontend->diag, DIAG_UNSUPPORTED_OBJECT, source, span, "%s%s%s%.*s", name ? "`" : "", name ? name : "",
              name ? "`: " : "", (int)length, text);
    if (text[length]) diag_hint(frontend->diag, "%s", text + length + 1 + strspn(text + length + 1, " "));
    return NULL;
}

/* It would not be an argument: the exception says why. */
static const Const *refuse(Frontend *frontend, const Source *source, Span span) {
    const char *what = "what this variable holds cannot be used in compiled code";
    if (!PyErr_Occurred() || !PyErr_ExceptionMatches(PyExc_TypeError))
        return frontend_python_failed(frontend, source, span, what), NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *message = frontend_keep(frontend, value ? PyObject_Str(value) : NULL);
    PyObject *name = frontend_keep(frontend, PyUnicode_FromString(frontend->named ? frontend->named : "values"));
    if (message && name && frontend->named) message = frontend_keep(frontend, frontend_advise_for(message, name));
    const char *why = message ? PyUnicode_AsUTF8(message) : NULL;
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    PyErr_Clear();
    return refuse_as(frontend, source, span, why ? why : "?");
}

static const Const *capture(Frontend *frontend, PyObject *object, const Source *source, Span span) {
    Captures *captures = frontend->captures;
    ObjRef ref = frontend_ref(frontend, object);
    for (size_t i = 0; ref && i < captures->len; i++)
        if (captures->data[i].object == ref) return capture_const(frontend, i);
    const Type *type = ref ? objects_type_of(frontend->objects, &frontend->hold, object) : NULL;
    if (!type) return refuse(frontend, source, span);
    vec_push(frontend->arena, captures, ((Captured){.object = ref, .type = type}));
    return capture_const(frontend, captures->len - 1);
}

const Const *frontend_value(Frontend *frontend, PyObject *object, const Source *source, Span span) {
    return can_be_captured(frontend, object) ? capture(frontend, object, source, span)
                                             : frontend_constant(frontend, object, source, span);
}
