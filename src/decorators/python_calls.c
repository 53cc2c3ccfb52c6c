/* python_calls.c: the interpreter's functions for compiled code: print, formats, methods of str.
 *
 * In: a call of compiled code, of any thread, with the GIL or without (runtime/host/python.c): a text that says what is
 * called, and the arguments' bytes.  Out: the result's bytes, or the exception that was raised.
 *
 * The text is a word and the names of the last arguments, by keyword:
 *   print        a built-in function
 *   .upper       a method of the first argument
 *   =time.time   a function of a module
 *   %            an operator: the first argument % the second
 *   #            the numbers of the first argument's items in their order; the second: in reverse
 *   @12          the function that has this number: a block of objmode
 *   !            an exception of the class that is the first argument is raised
 * The interpreter sees copies: what it keeps of a list is not what compiled code goes on with. */
#include "decorators/decorators.h"

#include <stdlib.h> /* strtoul */
#include <string.h> /* memset, strcspn */

static _Thread_local PythonCaller *caller; /* the code that runs in this thread, if it may ask */

/* The state of who called the code; a thread of the pool has no caller: it asks *module, and keeps it. */
static ModuleState *find_state(PyObject **module) {
    *module = caller ? NULL : PyImport_ImportModule("krait._krait");
    return caller ? caller->state : *module ? PyModule_GetState(*module) : NULL;
}

/* The arguments' objects; one that fails leaves those before it for the caller to give up. */
static bool box_arguments(const Marshal *marshal, const Type *types, const char *from, PyObject **objects) {
    for (uint32_t i = 0; i < types->count; i++) {
        const char *at = from + type_item_offset(types, i);
        marshal_retain(types->items[i], at); /* boxing uses a reference up */
        if (!(objects[i] = marshal_box(marshal, types->items[i], at))) return false;
    }
    return true;
}

static PyObject *keyword_names(const char *what, size_t *count) {
    PyObject *names = PyList_New(0);
    for (what += strcspn(what, " "); names && *what; what += strcspn(what, " ")) {
        what++;
        PyObject *name = PyUnicode_FromStringAndSize(what, (Py_ssize_t)strcspn(what, " "));
        if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    *count = names ? (size_t)PyList_GET_SIZE(names) : 0;
    PyObject *tuple = names && *count ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    return tuple;
}

static PyObject *raise_exception(PyObject *const *objects, size_t count) {
    PyObject *exception = PyObject_Vectorcall(objects[0], objects + 1, count - 1, NULL);
    if (exception && PyExceptionInstance_Check(exception)) /* without a context: it may become a cause */
        PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(exception)), Py_NewRef(exception), NULL);
    else if (exception)
        PyErr_SetString(PyExc_TypeError, "exceptions must derive from BaseException");
    Py_XDECREF(exception);
    return NULL;
}

/* The object of a name like time.time, a new reference. */
static PyObject *named(const char *name, size_t length) {
    size_t dot = length;
    while (dot && name[dot - 1] != '.') dot--;
    PyObject *module_name = PyUnicode_FromStringAndSize(name, (Py_ssize_t)dot - 1);
    PyObject *word = PyUnicode_FromStringAndSize(name + dot, (Py_ssize_t)(length - dot));
    PyObject *module = module_name && word ? PyImport_Import(module_name) : NULL;
    PyObject *found = module ? PyObject_GetAttr(module, word) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(word);
    Py_XDECREF(module_name);
    return found;
}

static PyObject *call_named(const char *what, PyObject *const *objects, size_t count) {
    size_t nnames;
    PyObject *function = named(what, strcspn(what, " ")), *names = function ? keyword_names(what, &nnames) : NULL;
    PyObject *result = NULL;
    if (function && !PyErr_Occurred()) result = PyObject_Vectorcall(function, objects, count - nnames, names);
    Py_XDECREF(names);
    Py_XDECREF(function);
    return result;
}

static PyObject *call_word(const char *what, PyObject *const *objects, size_t count) {
    size_t named;
    PyObject *names = keyword_names(what, &named), *result = NULL;
    bool method = *what == '.';
    what += method;
    PyObject *word = PyErr_Occurred() ? NULL : PyUnicode_FromStringAndSize(what, (Py_ssize_t)strcspn(what, " "));
    if (word && method) {
        result = PyObject_VectorcallMethod(word, objects, count - named, names);
    } else if (word) {
        PyObject *function = PyDict_GetItemWithError(PyEval_GetBuiltins(), word);
        if (function) result = PyObject_Vectorcall(function, objects, count - named, names);
        if (!function && !PyErr_Occurred()) PyErr_Format(PyExc_SystemError, "no builtin %U", word);
    }
    Py_XDECREF(word);
    Py_XDECREF(names);
    return result;
}

/* list(range(len(keys))).sort(key=keys.__getitem__, reverse=reverse) */
static PyObject *order_of(PyObject *keys, PyObject *reverse) {
    PyObject *order = PyList_New(PyList_GET_SIZE(keys)), *names = Py_BuildValue("(ss)", "key", "reverse"), *done = NULL;
    PyObject *sort = order ? PyObject_GetAttrString(order, "sort") : NULL;
    PyObject *key = PyObject_GetAttrString(keys, "__getitem__"), *number = Py_None;
    for (Py_ssize_t i = 0; order && number && i < PyList_GET_SIZE(keys); i++)
        if ((number = PyLong_FromSsize_t(i))) PyList_SET_ITEM(order, i, number);
    if (sort && key && names && number) done = PyObject_Vectorcall(sort, (PyObject *[]){key, reverse}, 0, names);
    Py_XDECREF(key);
    Py_XDECREF(sort);
    Py_XDECREF(names);
    if (!done) Py_CLEAR(order);
    Py_XDECREF(done);
    return order;
}

static PyObject *call(const ModuleState *state, const char *what, PyObject *const *objects, size_t count) {
    switch (*what) {
    case '@':
        return PyObject_Vectorcall(objects_get(state->host_marshal.objects, (ObjRef)strtoul(what + 1, NULL, 10)),
                                   objects, count, NULL);
    case '!': return raise_exception(objects, count);
    case '#': return order_of(objects[0], objects[1]);
    case '=': return call_named(what + 1, objects, count);
    case '%': return PyNumber_Remainder(objects[0], objects[1]);
    default: return call_word(what, objects, count);
    }
}

/* A function of krait._objmode of two objects: 1 true, 0 false, -1 exception set. */
static int ask(const char *function, PyObject *one, PyObject *other) {
    PyObject *answer = marshal_call_python("krait._objmode", function, "(OO)", one, other);
    int is = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is;
}

/* What a block of objmode gives: converted, if the value and its kind stay the same, as those of NumPy's scalars and of
 * an array whose layout is not told. */
static MarshalResult take_equal(const Marshal *marshal, const Type *type, PyObject *object, char *to) {
    memset(to, 0, type_size(type)); /* a None leaves what it would hold as it is, and references there are counted */
    MarshalResult taken = marshal_unpack(marshal, type, object, to); /* takes True for an int */
    if (taken == MARSHAL_MISMATCH) taken = marshal_convert(marshal, type, object, to);
    if (taken == MARSHAL_ERROR &&
        (PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_ValueError))) {
        PyErr_Clear();
        taken = MARSHAL_MISMATCH;
    }
    if (taken != MARSHAL_OK) return taken;
    marshal_retain(type, to); /* boxing uses a reference up */
    PyObject *back = marshal_box(marshal, type, to);
    int same = back ? ask("equals", object, back) : -1;
    Py_XDECREF(back);
    if (same == 1) return MARSHAL_OK;
    marshal_release(type, to);
    return same ? MARSHAL_ERROR : MARSHAL_MISMATCH;
}

bool python_calls_take(const Marshal *marshal, const Type *type, PyObject *object, char *to, bool equal) {
    MarshalResult taken = MARSHAL_OK;
    if (type->kind != TY_NONE)
        taken = equal ? take_equal(marshal, type, object, to) : marshal_unpack(marshal, type, object, to);
    if (taken == MARSHAL_MISMATCH)
        PyErr_Format(
            PyExc_TypeError,
            "the interpreter gave a value of type %s, which is not expected here: declare that type, or convert the "
            "value to the one that is declared",
            Py_TYPE(object)->tp_name);
    return taken == MARSHAL_OK;
}

static bool holds_arrays(const Type *type) {
    bool holds = type->kind == TY_ARRAY;
    for (uint32_t i = 0; i < type->count && !holds; i++) holds = holds_arrays(type->items[i]);
    return holds;
}

/* Whether a value refers to an object of Python's that it does not own: a Generator, arrays in a list. */
static bool borrows(const Type *type) {
    if (type->kind == TY_RANDOM) return true;
    if (type->kind != TY_TUPLE && type->kind != TY_OPTIONAL) return type->kind != TY_ARRAY && holds_arrays(type);
    bool holds = false;
    for (uint32_t i = 0; i < type->count && !holds; i++) holds = borrows(type->items[i]);
    return holds;
}

/* A Generator is the address of its bit generator: who called the code keeps the object until it is left.  So it is
 * with arrays that a list holds. */
static bool keep(PyObject *object) {
    if (!caller || caller->pauses) {
        PyErr_Format(PyExc_RuntimeError,
                     "a value of type %s cannot be made here, in a parallel loop or in a generator: make it outside, "
                     "and pass it as an argument",
                     Py_TYPE(object)->tp_name);
        return false;
    }
    if (!caller->kept && !(caller->kept = PyList_New(0))) return false;
    return PyList_Append(caller->kept, object) == 0;
}

/* Whether the interpreter has what may be changed of a value as a copy. */
static bool is_copied(const Type *type) {
    switch (type->kind) {
    case TY_NONE:
    case TY_SCALAR:
    case TY_STRING:
    case TY_BYTES:
    case TY_TIME:
    case TY_ARRAY: return false;
    default: return true;
    }
}

/* Whether the objects that a block of objmode got still are what compiled code has; else an exception is set. */
static bool are_unchanged(const Marshal *marshal, const Type *types, const char *from, PyObject **objects) {
    int same = 1;
    for (uint32_t i = 0; i < types->count && same == 1; i++) {
        if (!is_copied(types->items[i])) continue;
        const char *at = from + type_item_offset(types, i);
        marshal_retain(types->items[i], at);
        PyObject *now = marshal_box(marshal, types->items[i], at);
        same = now ? ask("unchanged", objects[i], now) : -1;
        Py_XDECREF(now);
    }
    if (same == 0)
        PyErr_SetString(PyExc_RuntimeError,
                        "a block of objmode has changed a list, dict, set or instance of the function, of which it has "
                        "a copy: let it assign a new one to a variable that it declares, or change it behind the "
                        "block; arrays are shared");
    return same == 1;
}

/* What the containers among the arguments of the call hold: their contents are copied when it begins, and written back
 * when it is over.  A new reference, or NULL: an exception is set. */
static PyObject *contents_of_arguments(void) {
    const Origins *origins = caller->origins;
    PyObject *objects = PyList_New(0), *contents = NULL;
    bool filled = objects;
    for (size_t i = 0; filled && i < origins->count; i++) filled = PyList_Append(objects, origins->all[i].object) == 0;
    if (filled) contents = marshal_call_python("krait._objmode", "contents", "(O)", objects);
    Py_XDECREF(objects);
    return contents;
}

/* Whether a block of objmode has left the arguments of the call as they were; else an exception is set. */
static bool are_left_alone(PyObject *contents) {
    int same = ask("left_alone", contents, Py_None);
    if (same == 0)
        PyErr_SetString(
            PyExc_RuntimeError,
            "a block of objmode has changed a list, dict, set or instance that is an argument of the "
            "call, of which compiled code has a copy until the call is over: change it in compiled code, or "
            "before or after the call; arrays are shared");
    return same == 1;
}

static PyObject *call_block(const ModuleState *state, const char *what, PyObject *const *objects, size_t count) {
    if (!caller || !caller->origins || !caller->origins->count) return call(state, what, objects, count);
    PyObject *contents = contents_of_arguments(), *result = contents ? call(state, what, objects, count) : NULL;
    if (result && !are_left_alone(contents)) Py_CLEAR(result);
    Py_XDECREF(contents);
    return result;
}

/* A list, dict, set or instance that a block of objmode got is a copy: where it gives that back, the function's own is
 * meant. */
static void give_own(const Type *type, PyObject *object, char *to, const Type *types, const char *arguments,
                     PyObject *const *objects) {
    if (type->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < type->count && PyTuple_Check(object); i++)
            give_own(type->items[i], PyTuple_GET_ITEM(object, i), to + type_item_offset(type, i), types, arguments,
                     objects);
        return;
    }
    for (uint32_t i = 0; i < types->count; i++) {
        if (objects[i] != object || types->items[i] != type || !is_copied(type)) continue;
        marshal_release(type, to);
        memcpy(to, arguments + type_item_offset(types, i), type_size(type));
        marshal_retain(type, to);
        return;
    }
}

static bool call_boxed(const char *what, const Type *types, const char *arguments, const Type *type, char *to) {
    PyObject *module;
    ModuleState *state = find_state(&module);
    PyObject **objects = PyMem_Calloc(types->count + 1, sizeof *objects), *result = NULL;
    bool done = false;
    if (state && objects) {
        Marshal marshal = state->host_marshal;
        Origins origins; /* what is reached in two ways is one object there, and one that comes back */
        origins_begin(&origins);
        marshal.copies = true;
        Marshal plain = marshal;
        if (*what == '=' || *what == '@') marshal.origins = &origins, marshal.copied = PyDict_New();
        if (box_arguments(&marshal, types, arguments, objects))
            result = (*what == '@' ? call_block : call)(state, what, objects, types->count);
        if (result && *what == '@' && !are_unchanged(&plain, types, arguments, objects)) Py_CLEAR(result);
        bool taken = result && python_calls_take(&marshal, type, result, to, *what == '@');
        done = taken && marshal_own_outside(type, to) &&
               (!borrows(type) || keep(result)); /* longer than what was called */
        if (taken && !done && type->kind != TY_NONE) marshal_release(type, to);
        origins_end(&origins);
        Py_XDECREF(marshal.copied);
    } else if (!objects) {
        PyErr_NoMemory();
    }
    if (done && *what == '@') give_own(type, result, to, types, arguments, objects);
    for (uint32_t i = 0; objects && i < types->count; i++) Py_XDECREF(objects[i]);
    Py_XDECREF(result);
    PyMem_Free(objects);
    Py_XDECREF(module);
    return done;
}

/* type(e)(...) */
static void raise_like(void *caught, const Type *types, const char *arguments) {
    PyObject *module, **objects = PyMem_Calloc(types->count + 1, sizeof *objects), *exception = caught_object(caught);
    ModuleState *state = find_state(&module);
    if (!objects) PyErr_NoMemory();
    if (state && objects && exception) {
        Marshal marshal = state->host_marshal;
        marshal.copies = true;
        objects[0] = Py_NewRef((PyObject *)Py_TYPE(exception));
        if (box_arguments(&marshal, types, arguments, objects + 1)) raise_exception(objects, types->count + 1);
    }
    for (uint32_t i = 0; objects && i <= types->count; i++) Py_XDECREF(objects[i]);
    PyMem_Free(objects);
    Py_XDECREF(module);
}

static void *call_python(const char *what, const Type *types, const char *arguments, const Type *result, char *to) {
    PyGILState_STATE gil = PyGILState_Ensure();
    bool like = *what == '~', done = false;
    if (like)
        raise_like(to, types, arguments);
    else
        done = call_boxed(what, types, arguments, result, to);
    PyObject *raised = done ? NULL : errors_take();
    PyGILState_Release(gil);
    return raised;
}

/* The last row that it is of: bases come first.  KeyboardInterrupt stands for what is no Exception, such as
 * SystemExit. */
static int32_t row_of(const void *raised) {
    PyObject *const classes[] = {
#define EXCEPTION(name, base) PyExc_##name,
#include "ir/ir_exceptions.def"
#undef EXCEPTION
    };
    PyGILState_STATE gil = PyGILState_Ensure();
    int32_t row = 0, interrupt = 0;
    for (int32_t i = 0; i < (int32_t)COUNT_OF(classes); i++) {
        if (PyErr_GivenExceptionMatches((PyObject *)raised, classes[i])) row = i + 1;
        if (classes[i] == PyExc_KeyboardInterrupt) interrupt = i + 1;
    }
    PyGILState_Release(gil);
    return row ? row : interrupt;
}

/* Threads that are none of the interpreter's have nothing set. */
static void *raised_here(void) {
    if (!PyGILState_GetThisThreadState()) return NULL;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *raised = errors_take();
    PyGILState_Release(gil);
    return raised;
}

static void hold(void *held, void *dropped) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_XINCREF((PyObject *)held);
    Py_XDECREF((PyObject *)dropped);
    PyGILState_Release(gil);
}

static bool is_one_of(const ModuleState *state, PyObject *exception, const Type *classes) {
    if (classes->kind == TY_EXC_CLASS)
        return PyErr_GivenExceptionMatches(exception, objects_get(state->host_marshal.objects, classes->object));
    for (uint32_t i = 0; classes->kind == TY_TUPLE && i < classes->count; i++)
        if (is_one_of(state, exception, classes->items[i])) return true;
    return false;
}

/* The threads that help with a loop have no object of what has stopped them. */
static bool raised_is(const void *raised, const Type *classes) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *module;
    ModuleState *state = find_state(&module);
    PyObject *exception = raised ? (PyObject *)raised : PyExc_KeyboardInterrupt;
    bool is = state && is_one_of(state, exception, classes);
    Py_XDECREF(module);
    PyGILState_Release(gil);
    return is;
}

/* ---- who called the code ---- */

const PythonCaller *python_calls_now(void) { return caller; }

PythonCaller *python_calls_enter(PythonCaller *now) {
    PythonCaller *before = caller;
    caller = now;
    return before;
}

void python_calls_leave(PythonCaller *now, PythonCaller *before) {
    caller = before;
    Py_CLEAR(now->kept);
}

void python_calls_init(void) {
    static const HostPython python = {.call = call_python,
                                      .row_of = row_of,
                                      .raised = raised_here,
                                      .hold = hold,
                                      .is = raised_is,
                                      .caught_text = caught_text,
                                      .caught_attribute = caught_attribute,
                                      .keep = caught_keep,
                                      .chain = caught_chain,
                                      .give_cause = caught_give_cause,
                                      .traits = character_traits};
    host_set_python(&python);
}
