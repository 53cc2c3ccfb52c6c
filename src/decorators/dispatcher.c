/* dispatcher.c: @jit and @njit: the decorators, and the class of what they make; dispatch/call.c is its call. */
#include "decorators/decorators.h"

#include <stddef.h>       /* offsetof */
#include <structmember.h> /* T_PYSSIZET */

/* ---- making one ---- */

int copy_function_attributes(PyObject *dict, PyObject *function) {
    static const char *const names[] = {"__module__", "__name__",        "__qualname__",
                                        "__doc__",    "__annotations__", "__type_params__"};
    PyObject *own = PyObject_GetAttrString(function, "__dict__");
    int result = own ? PyDict_Update(dict, own) : -1;
    Py_XDECREF(own);
    for (size_t i = 0; result == 0 && i < COUNT_OF(names); i++) {
        PyObject *value = PyObject_GetAttrString(function, names[i]);
        if (value)
            result = PyDict_SetItemString(dict, names[i], value);
        else if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        else
            result = -1;
        Py_XDECREF(value);
    }
    return result < 0 ? -1 : PyDict_SetItemString(dict, "__wrapped__", function);
}

/* A function that calls itself by name cannot be compiled while it is being decorated: its name is not bound yet. */
static bool names_itself(PyObject *function) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    PyObject *free = PyCode_GetFreevars(code);
    int found = PySequence_Contains(code->co_names, code->co_name) > 0 ||
                (free && PySequence_Contains(free, code->co_name) > 0);
    Py_XDECREF(free);
    PyErr_Clear();
    return found;
}

/* Whether a deferred type lies in it, as the one of a class's instances: calls alone tell what that is. */
static bool is_deferred(const Type *type) {
    bool inside = type->kind == TY_OPTIONAL || type->kind == TY_TUPLE || type->kind == TY_VARTUPLE ||
                  type->kind == TY_LIST || type->kind == TY_SET || type->kind == TY_DICT;
    for (uint32_t i = 0; inside && i < type->count; i++)
        if (is_deferred(type->items[i])) return true;
    return type->kind == TY_BOTTOM;
}

static bool waits_for_calls(PyObject *signatures) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(signatures); i++) {
        const Signature *signature = (const Signature *)PyList_GET_ITEM(signatures, i);
        if (signature->result && is_deferred(signature->result)) return true;
        for (Py_ssize_t k = 0; k < signature->count; k++)
            if (is_deferred(signature->args[k])) return true;
    }
    return false;
}

PyObject *jit_decorate(ModuleState *state, PyObject *function, PyObject *signatures, const Options *options) {
    if (Py_IS_TYPE(function, state->dispatcher_class)) function = ((Dispatcher *)function)->core.function;
    if (!PyFunction_Check(function)) return errors_no_function("njit", function);
    bool ahead = signatures && !waits_for_calls(signatures); /* compiled when it is defined */
    Dispatcher *self = (Dispatcher *)state->dispatcher_class->tp_alloc(state->dispatcher_class, 0);
    if (!self) return NULL;
    self->vectorcall = dispatcher_vectorcall;
    self->module = Py_NewRef(PyType_GetModule(state->dispatcher_class));
    self->dict = PyDict_New();
    self->core.config.target = TARGET_HOST;
    self->core.config.codegen.entry = ENTRY_FUNCTION;
    self->core.config.codegen.facts = FACTS_OF_CALLS;
    self->core.config.codegen.python_version = PY_VERSION_HEX >> 16;
    if (!self->dict || copy_function_attributes(self->dict, function) < 0 ||
        specialiser_init(&self->core, state, (PyObject *)self, function, ahead ? signatures : NULL, options) < 0)
        goto failed;
    if (signatures) {
        self->core.can_compile = !ahead;
        self->core.pending = ahead;
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(signatures); i++) {
            Signature *signature = (Signature *)PyList_GET_ITEM(signatures, i);
            if (signature->count == self->core.binding.nparams) continue;
            PyErr_Format(PyExc_TypeError, "the signature %R has %zd argument type%s, %U() has %zd parameter%s",
                         signature, signature->count, signature->count == 1 ? "" : "s",
                         ((PyFunctionObject *)function)->func_qualname, self->core.binding.nparams,
                         self->core.binding.nparams == 1 ? "" : "s");
            goto failed;
        }
        if (ahead && !names_itself(function) && specialiser_flush_pending(&self->core) < 0) goto failed;
    }
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

/* ---- the decorator object: jit(signatures, **options) waits for its function ---- */

typedef struct Decorator {
    PyObject_HEAD
    PyCFunction decorate; /* (module, (function, signatures or None, kwargs)) */
    PyObject *module, *signatures, *kwargs;
} Decorator;

PyObject *decorate_later(PyObject *module, PyCFunction decorate, PyObject *signatures, PyObject *kwargs) {
    ModuleState *state = module_state(module);
    Decorator *self = PyObject_GC_New(Decorator, state->decorator_class);
    if (!self) return NULL;
    self->decorate = decorate;
    self->module = Py_NewRef(module);
    self->signatures = Py_XNewRef(signatures);
    self->kwargs = kwargs ? PyDict_Copy(kwargs) : NULL;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

static PyObject *decorator_call(PyObject *callable, PyObject *args, PyObject *kwargs) {
    Decorator *self = (Decorator *)callable;
    PyObject *function;
    if ((kwargs && PyDict_GET_SIZE(kwargs)) || !PyArg_ParseTuple(args, "O:decorator", &function)) return NULL;
    PyObject *packed = PyTuple_Pack(3, function, self->signatures ? self->signatures : Py_None,
                                    self->kwargs ? self->kwargs : Py_None);
    PyObject *result = packed ? self->decorate(self->module, packed) : NULL;
    Py_XDECREF(packed);
    return result;
}

static int decorator_traverse(PyObject *object, visitproc visit, void *arg) {
    Decorator *self = (Decorator *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->module);
    Py_VISIT(self->signatures);
    Py_VISIT(self->kwargs);
    return 0;
}

static void decorator_dealloc(PyObject *object) {
    Decorator *self = (Decorator *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->module);
    Py_XDECREF(self->signatures);
    Py_XDECREF(self->kwargs);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyType_Slot decorator_slots[] = {
    {Py_tp_doc, "A decorator with its options; call it with the function."},
    {Py_tp_call, decorator_call},
    {Py_tp_traverse, decorator_traverse},
    {Py_tp_dealloc, decorator_dealloc},
    {0, NULL},
};

static PyType_Spec decorator_spec = {"krait._krait.Decorator", sizeof(Decorator), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     decorator_slots};

/* ---- jit, njit ---- */

/* The function itself where nothing is to be compiled (krait.config.DISABLE_JIT). */
static PyObject *decorated(ModuleState *state, PyObject *function, PyObject *signatures, const Options *options) {
    if (state->interpreted && PyFunction_Check(function)) return Py_NewRef(function);
    return jit_decorate(state, function, signatures, options);
}

static PyObject *jit_apply(PyObject *module, PyObject *packed) {
    ModuleState *state = module_state(module);
    PyObject *signatures = PyTuple_GET_ITEM(packed, 1), *kwargs = PyTuple_GET_ITEM(packed, 2);
    Options options;
    if (options_parse(&options, OPTIONS_JIT, kwargs == Py_None ? NULL : kwargs) < 0) return NULL;
    PyObject *result = decorated(state, PyTuple_GET_ITEM(packed, 0), signatures == Py_None ? NULL : signatures,
                                 &options);
    Py_XDECREF(options.given);
    return result;
}

/* jit(function), jit(signature(s), **options), jit(**options), jit(function, **options) */
static PyObject *jit(PyObject *module, PyObject *args, PyObject *kwargs) {
    ModuleState *state = module_state(module);
    PyObject *first = Py_None, *signatures = NULL, *result = NULL, *second = Py_None;
    Options options;
    if (options_parse(&options, OPTIONS_JIT, kwargs) < 0) return NULL; /* a wrong option is told at once */
    if (!PyArg_ParseTuple(args, "|OO:jit", &first, &second)) goto done;
    if (signature_looks_like(state, first)) {
        if (!(signatures = signatures_from_object(state, first))) goto done;
        result = second == Py_None ? decorate_later(module, jit_apply, signatures, kwargs)
                                   : decorated(state, second, signatures, &options);
    } else if (first == Py_None) {
        result = decorate_later(module, jit_apply, NULL, kwargs);
    } else {
        result = decorated(state, first, NULL, &options);
    }
done:
    Py_XDECREF(signatures);
    Py_XDECREF(options.given);
    return result;
}

/* _compiled(function, signature, **options): what the package itself needs compiled, whatever users have disabled. */
static PyObject *compiled(PyObject *module, PyObject *args, PyObject *kwargs) {
    ModuleState *state = module_state(module);
    PyObject *function, *signature = Py_None, *result = NULL;
    Options options;
    if (options_parse(&options, OPTIONS_JIT, kwargs) < 0) return NULL;
    if (PyArg_ParseTuple(args, "O|O:_compiled", &function, &signature)) {
        PyObject *list = signature == Py_None ? NULL : signatures_from_object(state, signature);
        if (list || signature == Py_None) result = jit_decorate(state, function, list, &options);
        Py_XDECREF(list);
    }
    Py_XDECREF(options.given);
    return result;
}

/* ---- the class ---- */

static int dispatcher_traverse(PyObject *object, visitproc visit, void *arg) {
    Dispatcher *self = (Dispatcher *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->module);
    return specialiser_traverse(&self->core, visit, arg);
}

static int dispatcher_clear(PyObject *object) {
    Dispatcher *self = (Dispatcher *)object;
    Py_CLEAR(self->dict);
    specialiser_forget(&self->core);
    return 0;
}

static void dispatcher_dealloc(PyObject *object) {
    Dispatcher *self = (Dispatcher *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    Py_CLEAR(self->dict);
    specialiser_clear(&self->core);
    Py_CLEAR(self->module);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *dispatcher_get(PyObject *self, PyObject *instance, PyObject *owner) {
    (void)owner;
    return !instance || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *dispatcher_repr(PyObject *self) {
    return PyUnicode_FromFormat("Dispatcher(%R)", ((Dispatcher *)self)->core.function);
}

static PyMemberDef dispatcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Dispatcher, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Dispatcher, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Dispatcher, weakrefs), READONLY, NULL},
    {"py_func", T_OBJECT_EX, offsetof(Dispatcher, core.function), READONLY, "the Python function"},
    {"targetoptions", T_OBJECT_EX, offsetof(Dispatcher, core.options.given), READONLY,
     "the options as given to the decorator"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot dispatcher_slots[] = {
    {Py_tp_doc, "A function compiled for the types of its arguments; jit makes it."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, dispatcher_get},
    {Py_tp_repr, dispatcher_repr},
    {Py_tp_traverse, dispatcher_traverse},
    {Py_tp_clear, dispatcher_clear},
    {Py_tp_dealloc, dispatcher_dealloc},
    {Py_tp_members, dispatcher_members},
    {Py_tp_methods, inspect_methods},
    {Py_tp_getset, inspect_getset},
    {0, NULL},
};

static PyType_Spec dispatcher_spec = {"krait.Dispatcher", sizeof(Dispatcher), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                          Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                      dispatcher_slots};

static PyObject *make_signature(PyObject *module, PyObject *args) {
    ModuleState *state = module_state(module);
    PyObject *types, *result;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &types, &result)) return NULL;
    Signature *signature = signature_from_object(state, types);
    if (signature && result != Py_None && !(signature->result = type_from_object(state, result))) Py_CLEAR(signature);
    return (PyObject *)signature;
}

/* A signature as decorators take one, as a Signature. */
static PyObject *read_signature(PyObject *module, PyObject *given) {
    return (PyObject *)signature_from_object(module_state(module), given);
}

static PyMethodDef functions[] = {
    {"jit", WITH_KEYWORDS(jit), METH_VARARGS | METH_KEYWORDS, jit_doc},
    {"_compiled", WITH_KEYWORDS(compiled), METH_VARARGS | METH_KEYWORDS, NULL},
    {"_options", options_list, METH_NOARGS, NULL},
    {"_signature", make_signature, METH_VARARGS, NULL},
    {"_read_signature", read_signature, METH_O, NULL},
    {"_rebuild", pickle_rebuild, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int dispatcher_add(PyObject *module, ModuleState *state) {
    if (!(state->signature_class = module_add_class(module, &signature_spec, NULL, true))) return -1;
    if (!(state->decorator_class = module_add_class(module, &decorator_spec, NULL, false))) return -1;
    if (!(state->dispatcher_class = module_add_class(module, &dispatcher_spec, NULL, true))) return -1;
    if (inspect_add(module, state) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
