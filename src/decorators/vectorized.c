/* vectorized.c: @vectorize: a function of scalars as a ufunc.
 *
 * With signatures and target 'cpu' or 'parallel' the result is a NumPy ufunc itself.  Without signatures, or for
 * target 'cuda', it is a Vectorized: a callable with a ufunc inside, which gets a loop for each combination of
 * operand types it meets.  NumPy does the rest: broadcasting, out=, where=, reduce, accumulate, outer, at. */
#include "decorators/inspect.h"
#include "decorators/vectorized.h"

#include <stddef.h>       /* offsetof */
#include <structmember.h> /* T_PYSSIZET */

static int vectorized_clear(PyObject *object) {
    Vectorized *self = (Vectorized *)object;
    vectorized_drop_loops(self);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->ufunc);
    specialiser_forget(&self->core);
    return 0;
}

/* Makes sure that the ufunc has the loop that these operands need.  -1: exception set. */
static int prepare(Vectorized *self, PyObject *const *operands, Py_ssize_t count) {
    const Type *types[MAX_OPERANDS];
    if (count != self->nin || self->core.signatures || !self->core.can_compile) return 0;
    if (vectorized_has_loop(self, operands)) return 0; /* most calls, of few elements too: before all else */
    for (Py_ssize_t i = 0; i < count; i++)
        if (!(types[i] = vectorized_operand_type(self->core.state, operands[i])))
            return PyErr_Occurred() ? -1 : 0; /* NumPy's to judge */
    if (!vectorized_resolve_types(self, types, count)) return 0;
    return vectorized_loop(self, types) ? 0 : -1;
}

/* ---- calls ---- */

/* What the object's class has under a name; NULL, without an exception: nothing. */
static PyObject *of_class(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString((PyObject *)Py_TYPE(object), name);
    if (!value) PyErr_Clear();
    return value;
}

bool vectorized_overrides(const ModuleState *state, PyObject *object) {
    if (!object || PyArray_CheckExact(object) || PyFloat_Check(object) || PyLong_Check(object) ||
        Py_IS_TYPE(object, state->marshal.device_array) || PyArray_IsScalar(object, Generic))
        return false;
    PyObject *own = of_class(object, "__array_ufunc__"), *interface = of_class(object, "__cuda_array_interface__");
    PyObject *numpys = own ? PyObject_GetAttrString((PyObject *)&PyArray_Type, "__array_ufunc__") : NULL;
    bool does = own && own != numpys && !interface;
    Py_XDECREF(own);
    Py_XDECREF(interface);
    Py_XDECREF(numpys);
    return does;
}

/* The loop that the keyword dtype asks for.  -1: exception set. */
static int prepare_dtype(Vectorized *self, PyObject *const *values, PyObject *kwnames) {
    const Type *types[MAX_OPERANDS];
    PyArray_Descr *descr = NULL;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "dtype") == 0 &&
            !PyArray_DescrConverter2(values[i], &descr))
            return -1;
    int scalar = descr ? marshal_scalar_of_typenum(descr->type_num) : -1;
    Py_XDECREF(descr);
    if (scalar < 0 || self->core.signatures || !self->core.can_compile) return 0;
    for (int i = 0; i < self->nin; i++) types[i] = type_scalar(self->core.state->session.types, (Scalar)scalar, false);
    return vectorized_loop(self, types) ? 0 : -1;
}

/* By NumPy's ufunc: of operands that have an __array_ufunc__, or with keywords that the kernel does not know. */
static PyObject *call_by_numpy(Vectorized *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                               bool overridden) {
    if (prepare(self, args, nargs > self->nin ? self->nin : nargs) < 0 ||
        prepare_dtype(self, args + nargs, kwnames) < 0)
        return NULL;
    CapturedHold held;
    if (captured_hold_on_host(&held, self->core.state, self->loops, self->nloops) < 0) return NULL;
    PyObject *ufunc = Py_NewRef(self->ufunc); /* a call may add loops, and so replace it */
    PyObject *result = overridden ? PyObject_Vectorcall(ufunc, args, (size_t)nargs, kwnames)
                                  : ufunc_by_way_of_host(ufunc, args, nargs, kwnames);
    if (!result) ufunc_explain(ufunc);
    Py_DECREF(ufunc);
    captured_release(&held, self->core.state);
    return result;
}

static PyObject *call_cuda(Vectorized *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    const ModuleState *state = self->core.state;
    PyObject *out = NULL, *stream = NULL;
    bool others = false, overridden = false;
    for (Py_ssize_t i = 0; i < nargs && !overridden; i++) overridden = vectorized_overrides(state, args[i]);
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "out") == 0)
            out = args[nargs + i];
        else if (PyUnicode_CompareWithASCIIString(name, "stream") == 0)
            stream = args[nargs + i];
        else
            others = true;
    }
    if (overridden || vectorized_overrides(state, out)) return call_by_numpy(self, args, nargs, kwnames, true);
    if (others) return call_by_numpy(self, args, nargs, kwnames, false);
    if (nargs == self->nin + 1 && !out) out = args[--nargs];
    if (nargs != self->nin)
        return PyErr_Format(PyExc_TypeError, "%U takes %d arguments, %zd were given",
                            ((PyFunctionObject *)self->core.function)->func_qualname, self->nin, nargs);
    return ufunc_cuda_call(self, args, nargs, out, stream);
}

static PyObject *vectorized_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Vectorized *self = (Vectorized *)callable;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (self->target == UFUNC_CUDA) return call_cuda(self, args, nargs, kwnames);
    return call_by_numpy(self, args, nargs, kwnames, true);
}

/* reduce and its like: which positional arguments stand for the operands. */
typedef struct MethodRow {
    const char *name;
    int operands[2];               /* the same number twice: reductions */
    const char *module, *function; /* that do it for a device array */
} MethodRow;

static const MethodRow method_rows[] = {
    {"reduce", {0, 0}, "krait.cuda._reduction", "ufunc_reduce"},
    {"accumulate", {0, 0}, "krait.cuda._scan", "ufunc_accumulate"},
    {"reduceat", {0, 0}, "krait.cuda._ufunc_calls", "ufunc_reduceat"},
    {"outer", {0, 1}, "krait.cuda._ufunc_calls", "ufunc_outer"},
    {"at", {0, 2}, "krait.cuda._ufunc_calls", "ufunc_at"},
};

/* On a GPU there are kernels first; what the ufunc is asked, it is asked with their loops. */
static PyObject *get_from_ufunc(PyObject *object, void *name) {
    if (vectorized_loops_of_devices((Vectorized *)object) < 0) return NULL;
    return PyObject_GetAttrString(((Vectorized *)object)->ufunc, name);
}

/* Of dtypes alone, with the loops that there are. */
static PyObject *vectorized_resolve_dtypes(PyObject *object, PyObject *args, PyObject *kwargs) {
    PyObject *method = get_from_ufunc(object, "resolve_dtypes");
    PyObject *result = method ? PyObject_Call(method, args, kwargs) : NULL;
    Py_XDECREF(method);
    return result;
}

/* module.function(self, *args, **kwargs) */
static PyObject *reduce_on_device(Vectorized *self, const MethodRow *row, PyObject *args, PyObject *kwargs) {
    PyObject *module = PyImport_ImportModule(row->module);
    PyObject *function = module ? PyObject_GetAttrString(module, row->function) : NULL;
    PyObject *front = function ? PyTuple_Pack(1, self) : NULL, *all = front ? PySequence_Concat(front, args) : NULL;
    PyObject *result = all ? PyObject_Call(function, all, kwargs) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(front);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return result;
}

/* ufunc.method(*args, **kwargs), without the stream that target 'cuda' takes: the host has none. */
static PyObject *call_method(const Vectorized *self, const MethodRow *row, PyObject *args, PyObject *kwargs) {
    bool streams = self->target == UFUNC_CUDA && row == method_rows && kwargs && PyDict_GetItemString(kwargs, "stream");
    PyObject *method = PyObject_GetAttrString(self->ufunc, row->name);
    PyObject *keywords = streams ? PyDict_Copy(kwargs) : Py_XNewRef(kwargs), *result = NULL;
    bool failed = streams && (!keywords || PyDict_DelItemString(keywords, "stream") < 0);
    if (method && !failed) result = PyObject_Call(method, args, keywords);
    Py_XDECREF(keywords);
    Py_XDECREF(method);
    return result;
}

static PyObject *forward(PyObject *object, PyObject *args, PyObject *kwargs, const MethodRow *row) {
    Vectorized *self = (Vectorized *)object;
    PyObject *operands[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        if (row->operands[i] < PyTuple_GET_SIZE(args)) operands[i] = PyTuple_GET_ITEM(args, row->operands[i]);
    PyTypeObject *device_array = self->core.state->marshal.device_array;
    bool both = row->operands[0] != row->operands[1] && operands[1];
    if (self->target == UFUNC_CUDA && operands[0] &&
        (Py_IS_TYPE(operands[0], device_array) || (both && Py_IS_TYPE(operands[1], device_array))))
        return reduce_on_device(self, row, args, kwargs);
    if (self->nin == 1 && operands[0] && prepare(self, operands, 1) < 0) return NULL;
    if (self->nin == 2 && operands[0] && operands[1] && prepare(self, operands, 2) < 0) return NULL;
    CapturedHold held;
    if (captured_hold_on_host(&held, self->core.state, self->loops, self->nloops) < 0) return NULL;
    PyObject *result = call_method(self, row, args, kwargs);
    captured_release(&held, self->core.state);
    return result;
}

#define FORWARD(name, number)                                                              \
    static PyObject *vectorized_##name(PyObject *self, PyObject *args, PyObject *kwargs) { \
        return forward(self, args, kwargs, &method_rows[number]);                          \
    }
FORWARD(reduce, 0)
FORWARD(accumulate, 1)
FORWARD(reduceat, 2)
FORWARD(outer, 3)
FORWARD(at, 4)
#undef FORWARD

/* Compiles for a signature, or for a tuple of types. */
static PyObject *vectorized_add(PyObject *object, PyObject *given) {
    Vectorized *self = (Vectorized *)object;
    Signature *signature = signature_from_object(self->core.state, given);
    Spec *spec = signature ? specialiser_for_signature(&self->core, &self->core.config, signature) : NULL;
    Py_XDECREF(signature);
    bool added = spec && vectorized_add_loop(self, spec) == 0 && vectorized_rebuild(self) == 0;
    if (spec) spec_release(spec);
    if (!added) return NULL;
    Py_RETURN_NONE;
}

/* ---- making one ---- */

int vectorized_read_identity(PyObject *options, int *identity) {
    PyObject *value = PyDict_GetItemString(options, "identity");
    *identity = PyUFunc_None;
    if (!value || value == Py_None) return 0;
    static const int of_number[] = {PyUFunc_MinusOne, PyUFunc_Zero, PyUFunc_One}; /* from -1 on */
    int overflow = 0;
    long number = PyLong_Check(value) ? PyLong_AsLongAndOverflow(value, &overflow) : 2;
    if (!overflow && number >= -1 && number <= 1) {
        *identity = of_number[number + 1];
        return 0;
    }
    if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "reorderable") == 0) {
        *identity = PyUFunc_ReorderableNone;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "option identity is 0, 1, -1, None or 'reorderable', not %R", value);
    return -1;
}

/* What a GPU computes raises nothing. */
static int check_error_model(PyObject *options, UfuncTarget target) {
    PyObject *model = PyDict_GetItemString(options, "error_model");
    if (target != UFUNC_CUDA || !model || PyUnicode_CompareWithASCIIString(model, "python") != 0) return 0;
    PyErr_SetString(PyExc_ValueError, "error_model='python' is for target 'cpu' and 'parallel': a function of a GPU's "
                                      "elements raises nothing");
    return -1;
}

int vectorized_read_target(PyObject *options, UfuncTarget *target) {
    static const char *const names[] = {[UFUNC_CPU] = "cpu", [UFUNC_PARALLEL] = "parallel", [UFUNC_CUDA] = "cuda"};
    PyObject *value = PyDict_GetItemString(options, "target");
    *target = UFUNC_CPU;
    if (!value) return 0;
    for (size_t i = 0; PyUnicode_Check(value) && i < COUNT_OF(names); i++) {
        *target = (UfuncTarget)i;
        if (PyUnicode_CompareWithASCIIString(value, names[i]) == 0) return check_error_model(options, *target);
    }
    PyErr_Format(PyExc_ValueError, "option target is 'cpu', 'parallel' or 'cuda', not %R", value);
    return -1;
}

static int compile_signatures(Vectorized *self) {
    Config config = self->core.config;
    Ahead ahead;
    config.decorating = true;
    int status = ahead_begin(&ahead, &self->core, &config, true);
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(self->core.signatures); i++) {
        Signature *signature = (Signature *)PyList_GET_ITEM(self->core.signatures, i);
        config.codegen.declared = signature->result;
        Spec *spec = specialiser_for_signature(&self->core, &config, signature);
        if (!spec || vectorized_add_loop(self, spec) < 0) status = -1;
        if (spec) spec_release(spec);
    }
    ahead_end(&ahead, &self->core);
    return status;
}

static PyObject *vectorize_decorate(ModuleState *state, PyObject *function, PyObject *signatures,
                                    const Options *options) {
    if (Py_IS_TYPE(function, state->dispatcher_class)) function = ((Dispatcher *)function)->core.function;
    if (signatures && !PyList_GET_SIZE(signatures)) signatures = NULL;
    if (!PyFunction_Check(function)) return errors_no_function("vectorize", function);
    Vectorized *self = (Vectorized *)state->vectorized_class->tp_alloc(state->vectorized_class, 0);
    if (!self) return NULL;
    bool has_locals = PyDict_GetItemString(options->given, "locals") != NULL;
    self->vectorcall = vectorized_vectorcall;
    self->module = Py_NewRef(PyType_GetModule(state->vectorized_class));
    self->dict = PyDict_New();
    self->core.config.target = TARGET_HOST;
    self->core.config.codegen.entry = ENTRY_UFUNC;
    self->core.config.codegen.python_version = PY_VERSION_HEX >> 16;
    if (!self->dict || vectorized_read_identity(options->given, &self->identity) < 0 ||
        vectorized_read_target(options->given, &self->target) < 0 ||
        copy_function_attributes(self->dict, function) < 0 ||
        specialiser_init(&self->core, state, self->target == UFUNC_CUDA && !has_locals ? function : (PyObject *)self,
                         function, signatures, options) < 0)
        goto failed;
    self->core.config.device_arrays = self->target == UFUNC_CUDA;
    self->nin = (int)self->core.binding.nparams;
    if (self->core.binding.varargs || self->core.binding.varkeywords || self->core.binding.nkeyword_only ||
        self->nin < 1 || self->nin >= MAX_OPERANDS) {
        PyErr_Format(PyExc_TypeError, "a vectorized function has 1 to %d positional parameters", MAX_OPERANDS - 1);
        goto failed;
    }
    if ((self->core.signatures && compile_signatures(self) < 0) || vectorized_rebuild(self) < 0) goto failed;
    if (self->core.signatures && self->target != UFUNC_CUDA) { /* NumPy's own object says it all */
        PyObject *ufunc = Py_NewRef(self->ufunc);
        ufunc_note(ufunc, &self->core);
        vectorized_clear((PyObject *)self); /* the code keeps it as what was decorated: no circle */
        Py_DECREF(self);
        return ufunc;
    }
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static PyObject *vectorize_apply(PyObject *module, PyObject *packed) {
    PyObject *signatures = PyTuple_GET_ITEM(packed, 1), *kwargs = PyTuple_GET_ITEM(packed, 2);
    Options options;
    if (options_parse(&options, OPTIONS_VECTORIZE, kwargs == Py_None ? NULL : kwargs) < 0) return NULL;
    PyObject *result = vectorize_decorate(module_state(module), PyTuple_GET_ITEM(packed, 0),
                                          signatures == Py_None ? NULL : signatures, &options);
    Py_XDECREF(options.given);
    return result;
}

/* vectorize(function), vectorize(signatures, **options), vectorize(**options) */
static PyObject *vectorize(PyObject *module, PyObject *args, PyObject *kwargs) {
    ModuleState *state = module_state(module);
    PyObject *first = Py_None, *signatures = NULL, *result = NULL;
    Options options;
    UfuncTarget target;
    int identity;
    if (options_parse(&options, OPTIONS_VECTORIZE, kwargs) < 0) return NULL;
    if (!PyArg_ParseTuple(args, "|O:vectorize", &first) || vectorized_read_target(options.given, &target) < 0 ||
        vectorized_read_identity(options.given, &identity) < 0)
        goto done;
    if (signature_looks_like(state, first)) {
        if ((signatures = signatures_from_object(state, first)))
            result = decorate_later(module, vectorize_apply, signatures, kwargs);
    } else if (first == Py_None) {
        result = decorate_later(module, vectorize_apply, NULL, kwargs);
    } else {
        result = vectorize_decorate(state, first, NULL, &options);
    }
done:
    Py_XDECREF(signatures);
    Py_XDECREF(options.given);
    return result;
}

/* ---- the class ---- */

#define OF_UFUNC(name, doc) {name, get_from_ufunc, NULL, doc, name}
static PyGetSetDef vectorized_getset[] = {
    OF_UFUNC("nin", "number of operands"),
    OF_UFUNC("nout", "number of results"),
    OF_UFUNC("nargs", "number of operands and results"),
    OF_UFUNC("ntypes", "number of loops compiled so far"),
    OF_UFUNC("types", "the loops, as NumPy writes them"),
    OF_UFUNC("identity", "what reduce starts from"),
    OF_UFUNC("signature", "None: it is elementwise"),
    MAX_BLOCKSIZE(Vectorized),
    {NULL, NULL, NULL, NULL, NULL},
};

/* The types of the loops so far, and whether there may be more: what a copy by value is told besides. */
static PyObject *loops_so_far(Vectorized *self) {
    PyObject *list = vectorized_loops_of_devices(self) < 0 ? NULL : PyList_New(0);
    for (Py_ssize_t i = 0; list && i < self->nloops; i++) {
        const Spec *spec = self->loops[i];
        PyObject *signature = signature_new(self->core.state, NULL, spec->code->params, (Py_ssize_t)spec->nargs);
        if (!signature || PyList_Append(list, signature) < 0) Py_CLEAR(list);
        Py_XDECREF(signature);
    }
    return list ? Py_BuildValue("(NO)", list, self->core.can_compile ? Py_True : Py_False) : NULL;
}

static PyObject *vectorized_reduce_pickle(PyObject *object, PyObject *unused) {
    Vectorized *self = (Vectorized *)object;
    PyObject *reduced = pickle_declared(&self->core, "vectorize", object), *loops;
    (void)unused;
    if (!reduced || !PyTuple_Check(reduced) || self->core.signatures) return reduced;
    if (!(loops = loops_so_far(self))) return Py_DECREF(reduced), NULL;
    PyObject *with_loops = Py_BuildValue("(OON)", PyTuple_GET_ITEM(reduced, 0), PyTuple_GET_ITEM(reduced, 1), loops);
    Py_DECREF(reduced);
    return with_loops;
}

static PyObject *vectorized_set_state(PyObject *object, PyObject *state) {
    PyObject *list;
    int may_compile;
    if (!PyArg_ParseTuple(state, "O!p:__setstate__", &PyList_Type, &list, &may_compile)) return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *done = vectorized_add(object, PyList_GET_ITEM(list, i));
        if (!done) return NULL;
        Py_DECREF(done);
    }
    ((Vectorized *)object)->core.can_compile = may_compile;
    Py_RETURN_NONE;
}

static int vectorized_traverse(PyObject *object, visitproc visit, void *arg) {
    Vectorized *self = (Vectorized *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->module);
    Py_VISIT(self->ufunc);
    return specialiser_traverse(&self->core, visit, arg);
}


static void vectorized_dealloc(PyObject *object) {
    Vectorized *self = (Vectorized *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    vectorized_clear(object);
    PyMem_Free(self->loops);
    specialiser_clear(&self->core);
    Py_CLEAR(self->module);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *vectorized_repr(PyObject *self) {
    return PyUnicode_FromFormat("Vectorized(%R)", ((Vectorized *)self)->core.function);
}

static PyMemberDef vectorized_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Vectorized, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Vectorized, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Vectorized, weakrefs), READONLY, NULL},
    {"py_func", T_OBJECT_EX, offsetof(Vectorized, core.function), READONLY, "the Python function"},
    {"targetoptions", T_OBJECT_EX, offsetof(Vectorized, core.options.given), READONLY,
     "the options as given to the decorator"},
    {"_signatures", T_OBJECT, offsetof(Vectorized, core.signatures), READONLY, "those of the decorator, or None"},
    {"ufunc", T_OBJECT_EX, offsetof(Vectorized, ufunc), READONLY, "the NumPy ufunc of the loops compiled so far"},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *vectorized_disable_compile(PyObject *object, PyObject *args, PyObject *kwargs) {
    return inspect_disable_compile(&((Vectorized *)object)->core, args, kwargs);
}

static PyObject *vectorized_build_ufunc(PyObject *object, PyObject *unused) {
    (void)unused;
    ((Vectorized *)object)->core.can_compile = false;
    return Py_NewRef(object);
}

static PyObject *vectorized_match_signature(PyObject *object, PyObject *args) {
    return ufunc_match_signature(((Vectorized *)object)->core.state, args);
}

static PyMethodDef vectorized_methods[] = {
    {"reduce", WITH_KEYWORDS(vectorized_reduce), METH_VARARGS | METH_KEYWORDS, "numpy.ufunc.reduce"},
    {"accumulate", WITH_KEYWORDS(vectorized_accumulate), METH_VARARGS | METH_KEYWORDS, "numpy.ufunc.accumulate"},
    {"reduceat", WITH_KEYWORDS(vectorized_reduceat), METH_VARARGS | METH_KEYWORDS, "numpy.ufunc.reduceat"},
    {"outer", WITH_KEYWORDS(vectorized_outer), METH_VARARGS | METH_KEYWORDS, "numpy.ufunc.outer"},
    {"at", WITH_KEYWORDS(vectorized_at), METH_VARARGS | METH_KEYWORDS, "numpy.ufunc.at"},
    {"resolve_dtypes", WITH_KEYWORDS(vectorized_resolve_dtypes), METH_VARARGS | METH_KEYWORDS,
     "numpy.ufunc.resolve_dtypes: of the loops compiled so far"},
    {"add", vectorized_add, METH_O, "add(signature)\n--\n\nCompiles a loop for a signature now."},
    {"disable_compile", WITH_KEYWORDS(vectorized_disable_compile), METH_VARARGS | METH_KEYWORDS,
     "disable_compile(val=True)\n--\n\nNew types of operands make no loop: they are cast to those there are, "
     "or refused."},
    {"build_ufunc", vectorized_build_ufunc, METH_NOARGS,
     "build_ufunc()\n--\n\nThe function itself, with the loops it has: as after disable_compile()."},
    {"match_signature", vectorized_match_signature, METH_VARARGS, match_signature_doc},
    {"__reduce__", vectorized_reduce_pickle, METH_NOARGS, NULL},
    {"__setstate__", vectorized_set_state, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot vectorized_slots[] = {
    {Py_tp_doc, "A function of scalars that works on arrays element by element; vectorize makes it."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getset, vectorized_getset},
    {Py_tp_repr, vectorized_repr},
    {Py_tp_traverse, vectorized_traverse},
    {Py_tp_clear, vectorized_clear},
    {Py_tp_dealloc, vectorized_dealloc},
    {Py_tp_members, vectorized_members},
    {Py_tp_methods, vectorized_methods},
    {0, NULL},
};

static PyType_Spec vectorized_spec = {"krait.Vectorized", sizeof(Vectorized), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                          Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                      vectorized_slots};

static PyMethodDef functions[] = {
    {"vectorize", WITH_KEYWORDS(vectorize), METH_VARARGS | METH_KEYWORDS, vectorize_doc},
    {"_reduce_ufunc", ufunc_reduce_pickle, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};


int vectorize_add(PyObject *module, ModuleState *state) {
    if (!(state->vectorized_class = module_add_class(module, &vectorized_spec, NULL, true))) return -1;
    return PyModule_AddFunctions(module, functions);
}
