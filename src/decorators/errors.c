/* errors.c: krait.errors, and how failures become Python exceptions.
 *
 * Two ways in: a Diag (a compilation was refused) and the number of a RaiseSite (compiled code raised).  The second
 * gets a traceback entry that points at the Python source line, and nothing of ours. */
#include "decorators/decorators.h"

#include <string.h> /* strchr */

static const struct {
    const char *name, *bases, *doc;
} error_classes[ERROR_COUNT] = {
#define ERROR_CLASS(id, name, bases, doc) [ERROR_##id] = {name, bases, doc},
#include "decorators/error_classes.def"
#undef ERROR_CLASS
};

static PyObject *builtin(const char *name, size_t length) {
    PyObject *text = PyUnicode_FromStringAndSize(name, (Py_ssize_t)length);
    PyObject *found = text ? PyDict_GetItemWithError(PyEval_GetBuiltins(), text) : NULL;
    Py_XDECREF(text);
    if (!found && !PyErr_Occurred()) PyErr_Format(PyExc_SystemError, "no builtin %s", name);
    return found;
}

/* "KraitError builtins.NameError": names of this table made earlier, or of builtins. */
static PyObject *find_bases(ModuleState *state, int made, const char *names) {
    PyObject *bases = PyTuple_New(strchr(names, ' ') ? 2 : 1);
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); i++) {
        size_t length = strcspn(names, " ");
        PyObject *base = NULL;
        for (int k = 0; k < made && !base; k++)
            if (strlen(error_classes[k].name) == length && strncmp(error_classes[k].name, names, length) == 0)
                base = state->errors[k];
        size_t skip = strncmp(names, "builtins.", 9) == 0 ? 9 : 0;
        if (!base) base = builtin(names + skip, length - skip);
        if (!base) {
            Py_CLEAR(bases);
            break;
        }
        PyTuple_SET_ITEM(bases, i, Py_NewRef(base));
        names += length + 1;
    }
    return bases;
}

/* ---- CudaAPIError(code, msg) ---- */

/* An item of `args`, if there are both; a new reference.  NULL: there are not, or an exception is set. */
static PyObject *driver_error_item(PyObject *self, Py_ssize_t at) {
    PyObject *args = PyObject_GetAttrString(self, "args");
    PyObject *item = args && PyTuple_Check(args) && PyTuple_GET_SIZE(args) == 2 ? PyTuple_GET_ITEM(args, at) : NULL;
    Py_XINCREF(item);
    Py_XDECREF(args);
    return item;
}

static PyObject *driver_error_get(PyObject *self, void *which) {
    PyObject *item = driver_error_item(self, (Py_ssize_t)(intptr_t)which);
    if (item || PyErr_Occurred()) return item;
    Py_RETURN_NONE;
}

static PyObject *driver_error_text(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *item = driver_error_item(self, 1), *text = item ? PyObject_Str(item) : NULL;
    if (!item && !PyErr_Occurred()) text = ((PyTypeObject *)PyExc_BaseException)->tp_str(self);
    Py_XDECREF(item);
    return text;
}

/* What a class made by its name and bases has not. */
static int describe_driver_error(PyObject *class) {
    static PyGetSetDef attributes[] = {
        {"code", driver_error_get, NULL, PyDoc_STR("The number that CUDA has for the failure (CUresult), or None."),
         (void *)0},
        {"msg", driver_error_get, NULL, PyDoc_STR("The text of the exception."), (void *)1},
    };
    static PyMethodDef text = {"__str__", driver_error_text, METH_NOARGS, NULL};
    PyTypeObject *type = (PyTypeObject *)class;
    for (size_t i = 0; i <= COUNT_OF(attributes); i++) {
        bool method = i == COUNT_OF(attributes);
        PyObject *descriptor = method ? PyDescr_NewMethod(type, &text) : PyDescr_NewGetSet(type, &attributes[i]);
        int set = descriptor ? PyObject_SetAttrString(class, method ? text.ml_name : attributes[i].name, descriptor)
                             : -1;
        Py_XDECREF(descriptor);
        if (set < 0) return -1;
    }
    return 0;
}

static PyObject *error_text(PyObject *self, void *closure) { return (void)closure, PyObject_Str(self); }

/* What every refusal has: its text, and where in the source it is (errors_raise_diag), here unknown. */
static int describe_error(PyObject *class) {
    static PyGetSetDef text = {"msg", error_text, NULL, PyDoc_STR("The text of the exception."), NULL};
    PyObject *descriptor = PyDescr_NewGetSet((PyTypeObject *)class, &text);
    int set = descriptor ? PyObject_SetAttrString(class, "msg", descriptor) : -1;
    Py_XDECREF(descriptor);
    return set < 0 ? -1 : PyObject_SetAttrString(class, "loc", Py_None);
}

int errors_add(PyObject *module, ModuleState *state) {
    PyObject *all = PyDict_New();
    int result = -1;
    if (!all) return -1;
    for (int i = 0; i < ERROR_COUNT; i++) {
        char full[64];
        snprintf(full, sizeof full, "krait.errors.%s", error_classes[i].name);
        PyObject *bases = find_bases(state, i, error_classes[i].bases);
        if (!bases) goto done;
        state->errors[i] = PyErr_NewExceptionWithDoc(full, error_classes[i].doc, bases, NULL);
        Py_DECREF(bases);
        if (!state->errors[i] || PyDict_SetItemString(all, error_classes[i].name, state->errors[i]) < 0) goto done;
        if (i == ERROR_KRAIT && describe_error(state->errors[i]) < 0) goto done;
        if (i == ERROR_CUDA_API && describe_driver_error(state->errors[i]) < 0) goto done;
    }
    result = PyModule_AddObjectRef(module, "errors", all);
done:
    Py_DECREF(all);
    return result;
}

void *errors_with_arena(ArenaBody *body, void *context) {
    Arena *const arena = arena_new();
    jmp_buf recovery;
    if (!arena) return PyErr_NoMemory();
    if (setjmp(recovery)) {
        arena_free(arena);
        return PyErr_NoMemory();
    }
    arena_on_exhaustion(arena, &recovery);
    void *result = body(arena, context);
    arena_free(arena);
    return result;
}

PyObject *errors_did_you_mean(PyObject *name, PyObject *names) {
    PyObject *difflib = names ? PyImport_ImportModule("difflib") : NULL;
    PyObject *close = difflib ? PyObject_CallMethod(difflib, "get_close_matches", "OOi", name, names, 1) : NULL;
    bool found = close && PyList_Check(close) && PyList_GET_SIZE(close) > 0;
    PyErr_Clear();
    PyObject *text = found ? PyUnicode_FromFormat("; did you mean '%S'?", PyList_GET_ITEM(close, 0))
                           : PyUnicode_FromString("");
    Py_XDECREF(difflib);
    Py_XDECREF(close);
    return text;
}

void *errors_no_function(const char *decorator, PyObject *object) {
    const char *advice = "";
    if (PyCallable_Check(object)) advice = "; call it from a function that is compiled";
    if (PyType_Check(object))
        return PyErr_Format(PyExc_TypeError,
                            "%s compiles Python functions, not the class %s: remove the decorator here and put it on "
                            "the functions, which take instances whose attributes are numbers and arrays",
                            decorator, ((PyTypeObject *)object)->tp_name);
    if (strncmp(Py_TYPE(object)->tp_name, "krait.types.", strlen("krait.types.")) == 0)
        return PyErr_Format(PyExc_TypeError,
                            "%s is given the types of a signature apart: write result(arguments), as in "
                            "@%s(float64(float64, int32)) or @%s('float64(float64, int32)')",
                            decorator, decorator, decorator);
    if (PyUnicode_Check(object))
        return PyErr_Format(PyExc_TypeError,
                            "%s is given %R where a function is meant: several signatures stand in a list, @%s([...])",
                            decorator, object, decorator);
    if (PyMethod_Check(object)) advice = "; compile the function that it is made of, its __func__";
    if (!*advice)
        return PyErr_Format(PyExc_TypeError,
                            "%s compiles Python functions, and %R is of type %s: write @%s above the function, or with "
                            "options, which have names, @%s(option=...)",
                            decorator, object, Py_TYPE(object)->tp_name, decorator, decorator);
    return PyErr_Format(PyExc_TypeError, "%s compiles Python functions; %R is of type %s%s", decorator, object,
                        Py_TYPE(object)->tp_name, advice);
}

/* ---- a Diag: the compilation was refused ---- */

/* Gives one of Krait's exceptions the attribute loc. */
static int locate(const ModuleState *state, PyObject *error, const Diag *diag) {
    if (!diag->source || diag->source->internal || !diag->span.line) return 0;
    if (!PyObject_TypeCheck(error, (PyTypeObject *)state->errors[ERROR_KRAIT])) return 0;
    PyObject *place = marshal_call_python("krait.errors", "Location", "(sII)", diag->source->file, diag->span.line,
                                          diag->span.col);
    int result = place ? PyObject_SetAttrString(error, "loc", place) : -1;
    Py_XDECREF(place);
    return result;
}

void *errors_raise_diag(ModuleState *state, Diag *diag) {
    if (PyErr_Occurred()) return NULL; /* an interrupt or MemoryError met while compiling */
    if (diag->code == DIAG_MEMORY) return PyErr_NoMemory();
    const char *name = diag_exception_name(diag->code);
    PyObject *class = NULL;
    for (int i = 0; i < ERROR_COUNT && !class; i++)
        if (strcmp(error_classes[i].name, name) == 0) class = state->errors[i];
    if (!class) class = builtin(name, strlen(name));
    const char *text = diag_render(diag);
    PyObject *error = class ? PyObject_CallFunction(class, "s", text ? text : "compilation failed") : NULL;
    if (error && locate(state, error, diag) == 0) PyErr_SetObject(class, error);
    Py_XDECREF(error);
    return NULL;
}

/* ---- a RaiseSite: compiled code raised ---- */

static PyObject *constant_object(const ModuleState *state, const Const *konst) {
    const Type *type = konst->type;
    switch (type->kind) {
    case TY_STR: return PyUnicode_FromString(konst->text);
    case TY_SCALAR:
        if (!type->weak) break;
        if (type->scalar == SCALAR_INT64) return PyLong_FromLongLong(konst->i);
        if (type->scalar == SCALAR_BOOL) return PyBool_FromLong(konst->i != 0);
        if (type->scalar == SCALAR_FLOAT64) return PyFloat_FromDouble(konst->f);
        return PyComplex_FromDoubles(konst->c.re, konst->c.im);
    default: return marshal_box(&state->marshal, type, "");
    }
    PyErr_SetString(PyExc_SystemError, "a constant that is no Python scalar");
    return NULL;
}

static PyObject *argument_object(const ModuleState *state, const Type *type, const Const *konst, const char *from);

/* The items of a type that is a struct of them: constants, or from the buffer. */
static PyObject *argument_items(const ModuleState *state, const Type *type, const Const *const *konsts,
                                const char *from) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)type->count);
    for (uint32_t i = 0; tuple && i < type->count; i++) {
        PyObject *item = argument_object(state, type->items[i], konsts ? konsts[i] : NULL,
                                         from + type_item_offset(type, i));
        if (item)
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
        else
            Py_CLEAR(tuple);
    }
    return marshal_as_class(&state->marshal, type, tuple);
}

/* template.format(*values), of a tuple of them all; takes the reference. */
static PyObject *formatted(PyObject *items) {
    PyObject *format = items ? PyObject_GetAttrString(PyTuple_GET_ITEM(items, 0), "format") : NULL;
    PyObject *values = format ? PyTuple_GetSlice(items, 1, PyTuple_GET_SIZE(items)) : NULL;
    PyObject *text = values ? PyObject_CallObject(format, values) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(format);
    Py_XDECREF(items);
    return text;
}

/* An argument of an exception: a constant, or from the buffer; of a tuple, each item. */
static PyObject *argument_object(const ModuleState *state, const Type *type, const Const *konst, const char *from) {
    const Const *const *parts = konst && konst->type->kind == type->kind ? konst->items : NULL;
    if (type->kind == TY_TUPLE) return argument_items(state, type, parts, from);
    if (type->kind == TY_TEXT) return formatted(argument_items(state, type, parts, from));
    bool constant = konst && (konst->type->kind == TY_STR ||
                              (konst->type->kind == TY_SCALAR && konst->type->weak && !konst->type->object));
    if (konst && konst->type->kind == TY_SCALAR && konst->type->object)
        return marshal_box(&state->marshal, konst->type, &konst->i);
    return constant ? constant_object(state, konst) : marshal_box(&state->marshal, type, from);
}

PyObject *errors_values(const ModuleState *state, const Type *type, const Const *const *konsts, const void *from) {
    return argument_items(state, type, konsts, from);
}

/* The exception's arguments: one object per item of the site's tuple type. */
static PyObject *site_arguments(const ModuleState *state, const RaiseSite *site, const char *buffer) {
    return site->args ? argument_items(state, site->args, site->konsts, buffer) : PyTuple_New(0);
}

/* site->format has %lld or %llu for each integer of 64 bits in the buffer, at most eight. */
static PyObject *site_text(const char *format, const char *buffer) {
    char text[512];
    size_t used = 0, number = 0;
    for (const char *c = format; *c && used + 24 < sizeof text; c++) {
        if (strncmp(c, "%ll", 3) == 0) {
            long long value;
            memcpy(&value, buffer + 8 * number++, sizeof value);
            used += (size_t)snprintf(text + used, sizeof text - used, c[3] == 'u' ? "%llu" : "%lld", value);
            c += 3;
        } else {
            if (*c == '%' && c[1] == '%') c++;
            text[used++] = *c;
        }
    }
    return PyUnicode_FromStringAndSize(text, (Py_ssize_t)used);
}

/* The lines that the exception came through: where it was raised, then each call on the way out. */
static void add_trail(const Code *code, const RaiseSite *site, const RaiseTrail *trail, PyObject *globals) {
    for (int32_t i = 0; site; i++) { /* functions of elements and Krait's own have no place to show */
        if (site->file && (i > 0 || !trail->shown))
            traceback_add(site->file, site->function ? site->function : "?", site->span, globals);
        bool more = i < trail->depth && i < TRAIL_CALLS && (size_t)trail->calls[i] <= code->nraise_sites;
        site = more ? &code->raise_sites[trail->calls[i] - 1] : NULL;
    }
}

PyObject *errors_take(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!type) return NULL;
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(traceback);
    Py_DECREF(type);
    return value;
}

void errors_come_after(PyObject *earlier) {
    PyObject *exception = earlier ? errors_take() : NULL;
    if (exception) {
        PyException_SetContext(exception, earlier);
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    } else if (earlier) {
        PyErr_SetObject((PyObject *)Py_TYPE(earlier), earlier);
        Py_DECREF(earlier);
    }
}

static void raise_object(PyObject *exception) {
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(exception)), Py_NewRef(exception), PyException_GetTraceback(exception));
}

void errors_show_trail(const Code *code, int32_t status, const RaiseTrail *trail, PyObject *globals) {
    if (status < 1 || (size_t)status > code->nraise_sites) return;
    raise_object(trail->object);
    add_trail(code, &code->raise_sites[status - 1], trail, globals);
    Py_XDECREF(errors_take());
}

void *errors_raise_site(ModuleState *state, const Code *code, int32_t status, const void *exception_buffer,
                        PyObject *globals) {
    const RaiseTrail *trail = exception_buffer;
    const char *arguments = (const char *)(trail + 1);
    if (status < 1 || (size_t)status > code->nraise_sites) {
        PyErr_Format(state->errors[ERROR_LOWERING], "compiled code returned the unknown status %d", (int)status);
        return NULL;
    }
    const RaiseSite *site = &code->raise_sites[status - 1];
    PyObject *exception = NULL, *args = NULL;
    if (trail->object) {
        exception = trail->object;
        caught_leave(trail);
        raise_object(exception);
        goto done;
    }
    if (site->pending && PyErr_Occurred()) goto done;
    PyObject *class = site->builtin ? builtin(site->builtin, strlen(site->builtin))
                                    : objects_get(state->session.objects, site->class);
    if (!class) goto done;
    if (site->format && *site->format) {
        PyObject *text = site_text(site->format, arguments);
        args = text ? PyTuple_Pack(1, text) : NULL;
        Py_XDECREF(text);
    } else {
        args = site_arguments(state, site, arguments);
    }
    if (!args) goto done;
    exception = PyObject_CallObject(class, args);
    if (!exception) goto done;
    if (PyExceptionInstance_Check(exception))
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    else
        PyErr_SetString(PyExc_TypeError, "exceptions must derive from BaseException");
done:
    if (PyErr_Occurred()) add_trail(code, site, trail, globals);
    Py_XDECREF(exception);
    Py_XDECREF(args);
    return NULL;
}
