/* captures.c: lists, dicts and sets that global variables, attributes of modules and of classes hold; so are Generators
 * of NumPy, and a bytes, which may be a literal as well.
 *
 * In: such an object.  Out: its number among the captures of the compilation.  Compiled code works on it as on an
 * argument: each call hands it in behind the others, and what the call makes of it is written back.  So the object is
 * shared with the interpreter, and only that it is this one is guarded (names.c); of what type its items are is looked
 * at by each call. */
#include <string.h> /* strcmp */

#include "frontend/frontend_private.h"

static bool can_be_captured(const Frontend *frontend, PyObject *object) {
    bool known = PyList_CheckExact(object) || PyDict_CheckExact(object) || PySet_CheckExact(object) ||
                 PyBytes_CheckExact(object) ||
                 strcmp(Py_TYPE(object)->tp_name, "numpy.random._generator.Generator") == 0;
    return known && frontend->captures && !frontend->unguarded;
}

static const Const *capture_const(Frontend *frontend, size_t index) {
    Const *konst = ARENA_NEW(frontend->arena, Const);
    konst->type = type_object(frontend->types, TY_OBJECT, frontend->captures->data[index].object);
    konst->captured = true;
    konst->i = (int64_t)index;
    return konst;
}

/* It would not be an argument: the exception says why. */
static const Const *refuse(Frontend *frontend, const Source *source, Span span) {
    const char *what = "what this variable holds cannot be used in compiled code";
    if (!PyErr_Occurred() || !PyErr_ExceptionMatches(PyExc_TypeError))
        return frontend_python_failed(frontend, source, span, what), NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *message = frontend_keep(frontend, value ? PyObject_Str(value) : NULL);
    const char *why = message ? PyUnicode_AsUTF8(message) : NULL;
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    PyErr_Clear();
    diag_fail(frontend->diag, DIAG_UNSUPPORTED_OBJECT, source, span, "%s, as an argument could not be: %s", what,
              why ? why : "?");
    return NULL;
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
