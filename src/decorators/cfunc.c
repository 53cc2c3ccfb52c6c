/* cfunc.c: @cfunc: a function that C code can call by its address.
 *
 * In: a signature and a function.  Out: a CFunc: the address of machine code with the parameters and the result that C
 * would give it, and the same as a ctypes function.  An exception cannot leave through C: it is reported as one that
 * nobody can catch (sys.unraisablehook), and the result is zero. */
#include "decorators/decorators.h"
#include "decorators/inspect.h" /* inspect_stage */

#include <stddef.h>       /* offsetof */
#include <string.h>       /* memcpy */
#include <structmember.h> /* T_OBJECT_EX */

typedef struct CFunc {
    PyObject_HEAD
    HostCfunc head; /* what generated code sees: its address is in the code */
    PyObject *dict, *weakrefs, *module;
    Spec *spec;
    Specialiser core;
} CFunc;

/* Called by generated code, on any thread. */
static void cfunc_raise(HostUfunc *head, int32_t status, const void *exception) {
    CFunc *self = (CFunc *)((char *)head - offsetof(CFunc, head));
    PyGILState_STATE gil = PyGILState_Ensure();
    errors_raise_site(self->core.state, self->spec->code, status, exception,
                      PyFunction_GET_GLOBALS(self->core.function));
    PyErr_WriteUnraisable(self->core.function);
    PyGILState_Release(gil);
}

static void *address_of(const CFunc *self) { return host_code_address(self->spec->code->host); }

static PyObject *cfunc_address(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(address_of((CFunc *)object));
}

static PyObject *cfunc_native_name(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromFormat("krait_%S", ((PyFunctionObject *)((CFunc *)object)->core.function)->func_name);
}

/* ---- as a ctypes function ---- */

/* What C calls a scalar, and what ctypes does. */
static const struct {
    const char *c, *ctypes;
} names[SCALAR_COUNT] = {
    [SCALAR_BOOL] = {"_Bool", "c_bool"},
    [SCALAR_INT8] = {"signed char", "c_int8"},
    [SCALAR_INT16] = {"short", "c_int16"},
    [SCALAR_INT32] = {"int", "c_int32"},
    [SCALAR_INT64] = {"long", "c_int64"},
    [SCALAR_UINT8] = {"unsigned char", "c_uint8"},
    [SCALAR_UINT16] = {"unsigned short", "c_uint16"},
    [SCALAR_UINT32] = {"unsigned int", "c_uint32"},
    [SCALAR_UINT64] = {"unsigned long", "c_uint64"},
    [SCALAR_FLOAT32] = {"float", "c_float"},
    [SCALAR_FLOAT64] = {"double", "c_double"},
    [SCALAR_COMPLEX64] = {"float _Complex", NULL}, /* krait/_foreign.py has classes for those that ctypes lacks */
    [SCALAR_COMPLEX128] = {"double _Complex", NULL},
};

static const Type *signature_type(const CFunc *self, size_t i) { /* 0: of the result */
    const Code *code = self->spec->code;
    return i ? code->params[i - 1] : self->head.result ? self->head.result : code->result;
}

static PyObject *ctypes_type(PyObject *ctypes, const Type *type) {
    if (type->kind == TY_NONE) Py_RETURN_NONE;
    bool pointer = type->kind == TY_ARRAY;
    const Type *number = pointer ? type_element(type) : type;
    const char *name = type_is_scalar(number) ? names[number->scalar].ctypes : NULL;
    if (pointer && !name) return PyObject_GetAttrString(ctypes, "c_void_p");
    if (!name) return marshal_call_python("krait._foreign", "ctypes_number", "(s)", scalar_info[number->scalar].name);
    PyObject *item = PyObject_GetAttrString(ctypes, name);
    if (!item || !pointer) return item;
    PyObject *made = PyObject_CallMethod(ctypes, "POINTER", "O", item);
    Py_DECREF(item);
    return made;
}

static PyObject *make_ctypes(const CFunc *self) {
    const Code *code = self->spec->code;
    PyObject *ctypes = PyImport_ImportModule("ctypes"), *prototype = NULL, *function = NULL;
    PyObject *types = ctypes ? PyTuple_New((Py_ssize_t)code->nparams + 1) : NULL;
    for (size_t i = 0; types && i <= code->nparams; i++) {
        PyObject *type = ctypes_type(ctypes, signature_type(self, i));
        if (type)
            PyTuple_SET_ITEM(types, (Py_ssize_t)i, type);
        else
            Py_CLEAR(types);
    }
    PyObject *make = types ? PyObject_GetAttrString(ctypes, "CFUNCTYPE") : NULL;
    if (make) prototype = PyObject_Call(make, types, NULL);
    if (prototype)
        function = marshal_call_python("krait._foreign", "ctypes_function", "(ON)", prototype,
                                       PyLong_FromVoidPtr(address_of(self)));
    if (function && PyObject_SetAttrString(function, "_krait_cfunc", (PyObject *)self) < 0) Py_CLEAR(function);
    Py_XDECREF(prototype);
    Py_XDECREF(make);
    Py_XDECREF(types);
    Py_XDECREF(ctypes);
    return function;
}

/* Made anew each time: it keeps the machine code alive. */
static PyObject *cfunc_ctypes(PyObject *object, void *unused) {
    (void)unused;
    return make_ctypes((CFunc *)object);
}

/* ---- as a function of cffi ---- */

/* double(*)(int, double *) */
static PyObject *declaration(const CFunc *self) {
    size_t count = self->spec->code->nparams;
    PyObject *text = NULL;
    for (size_t i = 0; i <= count; i++) {
        const Type *type = signature_type(self, i);
        bool pointer = type->kind == TY_ARRAY, nothing = type->kind == TY_NONE;
        const Type *item = pointer ? type_element(type) : type;
        const char *name = nothing || !type_is_scalar(item) ? "void" : names[item->scalar].c;
        PyObject *more = PyUnicode_FromFormat("%V%s%s%s%s", text, "", i > 1 ? ", " : "", name ? name : "void",
                                              pointer ? " *" : "", i ? "" : "(*)(");
        Py_XDECREF(text);
        if (!(text = more)) return NULL;
    }
    PyObject *whole = PyUnicode_FromFormat("%U%s", text, count ? ")" : "void)");
    Py_DECREF(text);
    return whole;
}

/* Made anew each time: it keeps the machine code alive. */
static PyObject *cfunc_cffi(PyObject *object, void *unused) {
    (void)unused;
    PyObject *text = declaration((CFunc *)object);
    return text ? marshal_call_python("krait._foreign", "cffi_function", "(ON)", object, text) : NULL;
}

/* ---- what it tells ---- */

static PyObject *cfunc_inspect_llvm(PyObject *object, PyObject *unused) {
    (void)unused;
    CFunc *self = (CFunc *)object;
    const Code *code = self->spec->code;
    return inspect_stage(&self->core, &self->core.config, code->params, code->nparams, "opt");
}

/* ---- making one ---- */

static int cfunc_init(CFunc *self, ModuleState *state, PyObject *function, Signature *signature,
                      const Options *options) {
    self->head = (HostCfunc){{cfunc_raise}, signature->result};
    self->module = Py_NewRef(PyType_GetModule(state->cfunc_class));
    self->dict = PyDict_New();
    self->core.config.target = TARGET_HOST;
    self->core.config.codegen.entry = ENTRY_CFUNC;
    self->core.config.codegen.cfunc = &self->head;
    self->core.config.codegen.python_version = PY_VERSION_HEX >> 16;
    if (!self->dict || copy_function_attributes(self->dict, function) < 0 ||
        specialiser_init(&self->core, state, function, function, NULL, options) < 0)
        return -1;
    self->core.config.codegen.relocatable = false; /* an address of this process is in the code */
    Config config = self->core.config;
    config.decorating = true;
    Spec *spec = specialiser_for_signature(&self->core, &config, signature);
    self->spec = spec;
    return spec ? 0 : -1;
}

static PyObject *cfunc_apply(PyObject *module, PyObject *packed) {
    ModuleState *state = module_state(module);
    PyObject *function = PyTuple_GET_ITEM(packed, 0), *signatures = PyTuple_GET_ITEM(packed, 1);
    PyObject *kwargs = PyTuple_GET_ITEM(packed, 2);
    Options options;
    if (Py_IS_TYPE(function, state->dispatcher_class)) function = ((Dispatcher *)function)->core.function;
    if (!PyFunction_Check(function)) return errors_no_function("cfunc", function);
    if (options_parse(&options, OPTIONS_CFUNC, kwargs == Py_None ? NULL : kwargs) < 0) return NULL;
    CFunc *self = (CFunc *)state->cfunc_class->tp_alloc(state->cfunc_class, 0);
    if (self && cfunc_init(self, state, function, (Signature *)PyList_GET_ITEM(signatures, 0), &options) < 0)
        Py_CLEAR(self);
    Py_XDECREF(options.given);
    return (PyObject *)self;
}

/* cfunc(signature, **options) */
static PyObject *cfunc(PyObject *module, PyObject *args, PyObject *kwargs) {
    ModuleState *state = module_state(module);
    PyObject *first;
    if (!PyTuple_GET_SIZE(args)) {
        PyErr_SetString(PyExc_TypeError, "cfunc takes the signature first: @cfunc('float64(float64)')");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O:cfunc", &first)) return NULL;
    if (PyFunction_Check(first))
        return PyErr_Format(PyExc_TypeError, "cfunc takes the signature first: @cfunc('float64(float64)') above %U",
                            ((PyFunctionObject *)first)->func_name);
    if (PyList_Check(first) || !signature_looks_like(state, first))
        return PyErr_Format(PyExc_TypeError, "cfunc takes one signature, such as 'float64(float64)', not %R", first);
    PyObject *signatures = signatures_from_object(state, first);
    PyObject *result = signatures ? decorate_later(module, cfunc_apply, signatures, kwargs) : NULL;
    Py_XDECREF(signatures);
    return result;
}

/* ---- the class ---- */

static PyObject *cfunc_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    return PyObject_Call(((CFunc *)object)->core.function, args, kwargs);
}

static int cfunc_traverse(PyObject *object, visitproc visit, void *arg) {
    CFunc *self = (CFunc *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->module);
    return specialiser_traverse(&self->core, visit, arg);
}

static int cfunc_clear(PyObject *object) {
    Py_CLEAR(((CFunc *)object)->dict);
    return 0;
}

static void cfunc_dealloc(PyObject *object) {
    CFunc *self = (CFunc *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    cfunc_clear(object);
    if (self->spec) spec_release(self->spec);
    specialiser_clear(&self->core);
    Py_CLEAR(self->module);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *cfunc_repr(PyObject *self) {
    return PyUnicode_FromFormat("CFunc(%R)", ((CFunc *)self)->core.function);
}

static PyGetSetDef cfunc_getset[] = {
    {"address", cfunc_address, NULL, "of the machine code, as long as this object lives", NULL},
    {"ctypes", cfunc_ctypes, NULL, "the same as a function of ctypes, which keeps the code", NULL},
    {"cffi", cfunc_cffi, NULL, "the same as a function pointer of cffi, which keeps the code", NULL},
    {"native_name", cfunc_native_name, NULL, "the symbol of the machine code", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef cfunc_methods[] = {
    {"inspect_llvm", cfunc_inspect_llvm, METH_NOARGS, "inspect_llvm()\n--\n\nThe code before it is machine code."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef cfunc_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(CFunc, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CFunc, weakrefs), READONLY, NULL},
    {"py_func", T_OBJECT_EX, offsetof(CFunc, core.function), READONLY, "the Python function"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot cfunc_slots[] = {
    {Py_tp_doc, "A function that C code can call by its address; cfunc makes it."},
    {Py_tp_call, cfunc_call},
    {Py_tp_getset, cfunc_getset},
    {Py_tp_methods, cfunc_methods},
    {Py_tp_members, cfunc_members},
    {Py_tp_repr, cfunc_repr},
    {Py_tp_traverse, cfunc_traverse},
    {Py_tp_clear, cfunc_clear},
    {Py_tp_dealloc, cfunc_dealloc},
    {0, NULL},
};

static PyType_Spec cfunc_spec = {"krait.CFunc", sizeof(CFunc), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 cfunc_slots};

static PyMethodDef functions[] = {
    {"cfunc", WITH_KEYWORDS(cfunc), METH_VARARGS | METH_KEYWORDS,
     "cfunc(signature, **options)\n--\n\nCompiles a function for C code to call: the object has its address, and a "
     "ctypes "
     "function.\n\nsignature: 'float64(float64, int32)'; a pointer is CPointer(float64).  Options are those of jit."},
    {NULL, NULL, 0, NULL},
};

int cfunc_add(PyObject *module, ModuleState *state) {
    if (!(state->cfunc_class = module_add_class(module, &cfunc_spec, NULL, true))) return -1;
    return PyModule_AddFunctions(module, functions);
}
