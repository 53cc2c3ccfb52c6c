/* caught.c: exceptions that compiled code has caught: the interpreter's objects, their texts, contexts and causes.
 *
 * In: caught memory of codegen/lower_caught.c, a RaiseTrail with its status in front, or the exception buffer.  Out:
 * the trail has an object, whose traceback has the lines that it came through so far.
 *
 * As long as nothing asks who an exception is, it has no object: its site, its way and its arguments are all of it.
 * It gets one when it is kept in a variable, when another is raised while it is handled, and when its text is asked.
 *
 * A context is given as the interpreter gives it when it raises: what is handled becomes the context of what is raised,
 * and leaves the contexts of what is handled, if it is one of them.  What has left a function that handled nothing was
 * raised while the caller handled its own: the first that led to it, which RaiseTrail.owes names, gets that. */
#include "decorators/decorators.h"

/* ---- objects and their texts ---- */

static int32_t status_of(const void *caught) {
    int32_t status;
    memcpy(&status, caught, sizeof status);
    return status;
}

/* The object of an exception, which the trail owns; NULL: nobody is there who knows its site. */
static PyObject *object_of(RaiseTrail *trail, int32_t status) {
    const PythonCaller *caller = python_calls_now();
    if (!caller) return trail->object;
    if (trail->object) {
        errors_show_trail(caller->code, status, trail, caller->globals);
    } else {
        errors_raise_site(caller->state, caller->code, status, trail, caller->globals);
        trail->object = errors_take();
    }
    trail->shown = true;
    trail->depth = 0;
    return trail->object;
}

static PyObject *text_of(PyObject *exception, int64_t which) {
    PyObject *class = (PyObject *)Py_TYPE(exception);
    switch (which) {
    case 0: return PyObject_Str(exception);
    case 1: return PyObject_Repr(exception);
    default: return PyObject_GetAttrString(class, which == 2 ? "__name__" : "__qualname__");
    }
}

/* What was asked of the exception, a new reference, goes to compiled code. */
static bool take(const PythonCaller *caller, const Type *type, PyObject *asked, bool equal, char *to) {
    bool taken = asked && python_calls_take(&caller->state->host_marshal, type, asked, to, equal);
    Py_XDECREF(asked);
    return taken;
}

/* NULL: the exception, whose way it was, is not known. */
static PyObject *object_asked(void *caught, const PythonCaller *caller) {
    if (!caller) return PyErr_SetString(PyExc_RuntimeError, "the text of the exception is not known here"), NULL;
    return object_of(caught, status_of(caught));
}

PyObject *caught_object(void *caught) { return object_asked(caught, python_calls_now()); }

void *caught_text(void *caught, int64_t which, char *to) {
    PyGILState_STATE gil = PyGILState_Ensure();
    const PythonCaller *caller = python_calls_now();
    PyObject *exception = object_asked(caught, caller), *text = exception ? text_of(exception, which) : NULL;
    const Type *type = caller ? type_simple(caller->state->session.types, TY_STRING) : NULL;
    PyObject *raised = take(caller, type, text, false, to) ? NULL : errors_take();
    PyGILState_Release(gil);
    return raised;
}

/* Nothing checks an annotation: `x: float` may hold an int, `n: int` a bool, which is taken as what is annotated.  A
 * new reference: the object itself, if it is no such number. */
static PyObject *as_annotated(const Type *type, PyObject *object) {
    if (type->kind == TY_OPTIONAL && object != Py_None) type = type->items[0];
    bool whole = type->kind == TY_SCALAR && PyIndex_Check(object);
    if (whole && type->scalar == SCALAR_INT64 && !PyLong_CheckExact(object))
        return PyBool_Check(object) ? PyLong_FromLong(object == Py_True) : PyNumber_Index(object);
    if (whole && type->scalar == SCALAR_FLOAT64) return PyNumber_Float(object);
    bool real = type->kind == TY_SCALAR && type->scalar == SCALAR_COMPLEX128 && (whole || PyFloat_Check(object));
    if (real) return PyObject_CallOneArg((PyObject *)&PyComplex_Type, object);
    if (type->kind != TY_TUPLE || !PyTuple_Check(object) || PyTuple_GET_SIZE(object) != (Py_ssize_t)type->count)
        return Py_NewRef(object);
    PyObject *tuple = PyTuple_New((Py_ssize_t)type->count);
    for (uint32_t i = 0; tuple && i < type->count; i++) {
        PyObject *item = as_annotated(type->items[i], PyTuple_GET_ITEM(object, (Py_ssize_t)i));
        if (!item) Py_CLEAR(tuple);
        if (item) PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
    }
    return tuple;
}

/* A type that the class says is looked at as what a block of objmode gives. */
void *caught_attribute(void *caught, const char *name, const Type *type, char *to) {
    PyGILState_STATE gil = PyGILState_Ensure();
    const PythonCaller *caller = python_calls_now();
    PyObject *exception = object_asked(caught, caller);
    PyObject *attribute = exception ? PyObject_GetAttrString(exception, name) : NULL;
    const char *found = attribute ? Py_TYPE(attribute)->tp_name : NULL;
    bool taken = take(caller, type, attribute ? as_annotated(type, attribute) : NULL, true, to);
    Py_XDECREF(attribute);
    if (!taken && found && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "attribute '%s' of %s is of type %s, and not what the class annotates it with",
                     name, Py_TYPE(exception)->tp_name, found);
    PyObject *raised = taken ? NULL : errors_take();
    PyGILState_Release(gil);
    return raised;
}

/* ---- contexts ---- */

/* The context of an exception, whose owner keeps it; NULL: none, or what Python handles around the compiled code. */
static PyObject *context_of(PyObject *exception, PyObject *around) {
    PyObject *context = PyException_GetContext(exception);
    Py_XDECREF(context);
    return context == around ? NULL : context;
}

/* The last one on the way along the contexts, or `end` if that comes before; NULL: they lead in a circle. */
static PyObject *last_of(PyObject *exception, const PyObject *end, PyObject *around) {
    PyObject *behind = exception, *next;
    for (size_t i = 1; exception != end && (next = context_of(exception, around)); i++) {
        exception = next;
        if (i % 2 == 0) behind = context_of(behind, around);
        if (exception == behind) return NULL;
    }
    return exception;
}

/* Whose context is what callers handle; NULL: nobody's. */
static PyObject *owing(const RaiseTrail *trail, PyObject *around) {
    PyObject *object = trail->object, *last;
    switch ((TrailOwes)trail->owes) {
    case OWES_FIRST: return last_of(object, NULL, around);
    case OWES_ITSELF: return object;
    case OWES_OTHER: last = last_of(object, trail->owing, around); return last == trail->owing ? last : NULL;
    default: return NULL;
    }
}

static void owe(RaiseTrail *trail, PyObject *exception) {
    trail->owes = exception ? OWES_OTHER : OWES_NONE;
    trail->owing = exception;
}

/* False: it was a context of what is handled, and has left these. */
static bool set_context(PyObject *exception, PyObject *handled) {
    PyObject *at = handled, *behind = handled, *next;
    for (size_t i = 1; (next = context_of(at, NULL)) && next != exception; i++) {
        at = next;
        if (i % 2 == 0) behind = context_of(behind, NULL);
        if (at == behind) break;
    }
    Py_INCREF(handled); /* which the context may have been the last to hold */
    if (next == exception) PyException_SetContext(at, NULL);
    PyException_SetContext(exception, handled);
    return next != exception;
}

/* Where it is caught, too: it may be kept, and raised again where nobody handles anything. */
void caught_leave(const RaiseTrail *trail) {
    PyObject *around = PyErr_GetHandledException(), *first = around ? owing(trail, around) : NULL;
    if (first && first != around) set_context(first, around);
    Py_XDECREF(around);
}

void caught_keep(void *caught) {
    PyGILState_STATE gil = PyGILState_Ensure();
    if (object_of(caught, status_of(caught))) caught_leave(caught);
    PyGILState_Release(gil);
}

static void chain(RaiseTrail *trail, int32_t status, RaiseTrail *handled) {
    if (!python_calls_now()) return;
    PyObject *earlier = object_of(handled, status_of(handled)), *raised = object_of(trail, status);
    if (!raised || !earlier) return;
    PyObject *around = PyErr_GetHandledException();
    PyObject *first = owing(trail, around), *others = owing(handled, around);
    if (first && (first == earlier || set_context(first, earlier)))
        owe(trail, others);
    else
        owe(trail, NULL);
    Py_XDECREF(around);
}

void caught_chain(void *trail, int32_t status, void *handled) {
    PyGILState_STATE gil = PyGILState_Ensure();
    chain(trail, status, handled);
    PyGILState_Release(gil);
}

void caught_give_cause(void *trail, int32_t status, void *cause) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *of = python_calls_now() ? object_of(trail, status) : NULL;
    PyObject *is = of && cause ? object_of(cause, status_of(cause)) : NULL;
    if (of && (is || !cause)) PyException_SetCause(of, Py_XNewRef(is));
    PyGILState_Release(gil);
}
