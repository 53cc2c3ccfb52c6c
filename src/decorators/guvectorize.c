/* guvectorize.c: @guvectorize: a function of arrays and numbers as a generalised ufunc.
 *
 * In: a function whose last parameters receive its results, a layout such as "(m,n),(n)->(m)", perhaps signatures.
 * Out: a Gufunc: a callable with a generalised ufunc of NumPy inside, which does the rest: core dimensions,
 * broadcasting, out=, axes=, axis=, keepdims=, conversions.  Without signatures a loop is compiled for each combination
 * of operand types that calls give, results included, since nothing else says their types. */
#include "decorators/gufunc.h"
#include "decorators/inspect.h"

#include <stddef.h>       /* offsetof */
#include <string.h>       /* memcpy */
#include <structmember.h> /* T_PYSSIZET */

/* ---- loops ---- */

/* What a parameter is in compiled code: an array with the operand's core dimensions; an input without any is a number,
 * or an array of one where it is declared so; a result without any is an array of one. */
static const Type *param_type(const Gufunc *self, int i, const Type *element, bool as_array) {
    unsigned ndim = self->layout.ndim[i];
    if (ndim == 0 && i < self->layout.nin && !as_array) return element;
    return type_array(self->core.state->session.types, element, ndim ? ndim : 1, LAYOUT_A, false);
}

static int add_signature(Gufunc *self, const Signature *signature) {
    const Type *types[MAX_OPERANDS];
    int count = self->layout.nin + self->layout.nout;
    if (signature->count != count || (signature->result && signature->result->kind != TY_NONE)) {
        PyErr_Format(
            PyExc_TypeError,
            "the layout has %d inputs and %d results: a signature is void(...) with the types of all %d, not %R",
            self->layout.nin, self->layout.nout, count, signature);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const Type *type = signature->args[i];
        bool array = type->kind == TY_ARRAY;
        unsigned ndim = array ? type->ndim : 0, wanted = self->layout.ndim[i];
        bool one = wanted == 0 && ndim == 1, fits = ndim == wanted ? array || i < self->layout.nin : one;
        const Type *element = array ? type_element(type) : type;
        if (type_is_scalar(element) && !element->weak && fits) {
            types[i] = param_type(self, i, element, array);
            continue;
        }
        PyObject *text = type_to_text(type);
        if (text)
            PyErr_Format(PyExc_TypeError,
                         "parameter %R is %U in the signature, and has %u core dimensions in the layout%s",
                         PyTuple_GET_ITEM(self->core.binding.names, i), text, wanted,
                         wanted ? ": write as many colons in the signature, float64[:] for one, as there "
                                  "are names in the parentheses of the layout, (n)"
                         : i < self->layout.nin ? ": write the type of one number, float64, or a name into the "
                                                  "parentheses of the layout, (n)"
                                                : ": a result without any is an array of one item, float64[:]");
        Py_XDECREF(text);
        return -1;
    }
    return gufunc_add_loop(self, types);
}

static int add_signatures(Gufunc *self) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->core.signatures); i++)
        if (add_signature(self, (Signature *)PyList_GET_ITEM(self->core.signatures, i)) < 0) return -1;
    return 0;
}

/* ---- calls ---- */

static int results_missing(const Gufunc *self, Py_ssize_t given) {
    PyErr_Format(PyExc_TypeError,
                 "%U has no signatures, so its results say which types it computes: it takes %d inputs and %d results, "
                 "%zd were given\n  hint: pass arrays for the results, or declare signatures",
                 ((PyFunctionObject *)self->core.function)->func_qualname, self->layout.nin, self->layout.nout, given);
    return -1;
}

/* The operands of a call, results last, borrowed.  Those that come with out= are looked for there. */
static int find_operands(const Gufunc *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                         PyObject **operands) {
    Py_ssize_t count = self->layout.nin + self->layout.nout, given = nargs < count ? nargs : count;
    for (Py_ssize_t i = 0; i < given; i++) operands[i] = args[i];
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "out") != 0) continue;
        PyObject *out = args[nargs + i];
        bool tuple = PyTuple_Check(out);
        Py_ssize_t more = tuple ? PyTuple_GET_SIZE(out) : 1;
        for (Py_ssize_t k = 0; k < more && given < count; k++)
            operands[given++] = tuple ? PyTuple_GET_ITEM(out, k) : out;
    }
    for (Py_ssize_t i = 0; i < given; i++)
        if (operands[i] == Py_None) return results_missing(self, i);
    return given == count ? 0 : results_missing(self, given);
}

/* Without signatures: makes sure that there is a loop for the operands' types. */
static int prepare(Gufunc *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, const Type **types) {
    PyObject *operands[MAX_OPERANDS];
    if (find_operands(self, args, nargs, kwnames, operands) < 0) return -1;
    for (int i = 0; i < self->layout.nin + self->layout.nout; i++) {
        const Type *type = vectorized_operand_type(self->core.state, operands[i]);
        if (!type && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "argument %R, a %s, is no array of numbers and no number",
                         PyTuple_GET_ITEM(self->core.binding.names, i), Py_TYPE(operands[i])->tp_name);
        if (!type) return -1;
        const Type *strong = type_scalar(self->core.state->session.types, (Scalar)type->scalar, false);
        types[i] = param_type(self, i, strong, false);
    }
    if (!self->core.can_compile) return 0; /* NumPy casts to the loops there are, or refuses */
    return gufunc_add_loop(self, types);
}

static bool says_loop(PyObject *kwnames) {
    static const char *const names[] = {"signature", "sig", "dtype"};
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++)
        for (size_t k = 0; k < COUNT_OF(names); k++)
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), names[k]) == 0) return true;
    return false;
}

/* signature=: the dtypes of the operands of these types. */
static PyObject *loop_signature(const Gufunc *self, const Type *const *types) {
    int count = self->layout.nin + self->layout.nout;
    PyObject *dtypes = PyTuple_New(count);
    for (int i = 0; dtypes && i < count; i++) {
        const Type *element = types[i]->kind == TY_ARRAY ? type_element(types[i]) : types[i];
        PyArray_Descr *dtype = PyArray_DescrFromType(marshal_typenum((Scalar)element->scalar));
        if (!dtype) Py_CLEAR(dtypes);
        if (dtypes) PyTuple_SET_ITEM(dtypes, i, (PyObject *)dtype);
    }
    return dtypes;
}

/* NumPy takes the first loop that inputs cast to, which is one of a call before: it is told which. */
static PyObject *call_loop(Gufunc *self, PyObject *const *args, size_t nargsf, PyObject *kwnames,
                           const Type *const *types) {
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), nkeys = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    PyObject *signature = loop_signature(self, types), *names = signature ? PyTuple_New(nkeys + 1) : NULL;
    PyObject *name = names ? PyUnicode_InternFromString("signature") : NULL, *result = NULL;
    PyObject **all = name ? PyMem_Malloc((size_t)(nargs + nkeys + 1) * sizeof *all) : NULL;
    if (all) {
        memcpy(all, args, (size_t)(nargs + nkeys) * sizeof *all);
        all[nargs + nkeys] = signature;
        for (Py_ssize_t i = 0; i < nkeys; i++) PyTuple_SET_ITEM(names, i, Py_NewRef(PyTuple_GET_ITEM(kwnames, i)));
        PyTuple_SET_ITEM(names, nkeys, Py_NewRef(name));
        result = PyObject_Vectorcall(self->ufunc, all, (size_t)nargs, names);
        if (!result) ufunc_explain(self->ufunc);
    } else if (name) {
        PyErr_NoMemory();
    }
    PyMem_Free(all);
    Py_XDECREF(name);
    Py_XDECREF(names);
    Py_XDECREF(signature);
    return result;
}

/* krait/_device_gufunc.py: a kernel with a thread for each call of the function. */
static PyObject *call_cuda(Gufunc *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *module = PyImport_ImportModule("krait._device_gufunc");
    PyObject *function = module ? PyObject_GetAttrString(module, "call") : NULL, *result = NULL;
    Py_ssize_t count = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    PyObject **all = function ? PyMem_Malloc((size_t)(count + 1) * sizeof *all) : NULL;
    if (all) {
        all[0] = (PyObject *)self;
        for (Py_ssize_t i = 0; i < count; i++) all[i + 1] = args[i];
        result = PyObject_Vectorcall(function, all, (size_t)(nargs + 1), kwnames);
    } else if (function) {
        PyErr_NoMemory();
    }
    PyMem_Free(all);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return result;
}

/* krait/_compiled_gufunc.py: loops over the outer dimensions around the function. */
PyObject *gufunc_looped(void *context, PyObject *gufunc, const LoopedRequest *request) {
    PyObject *module = PyImport_ImportModule("krait._compiled_gufunc");
    PyObject *types = module ? PyTuple_New((Py_ssize_t)request->count) : NULL, *found = NULL;
    for (size_t i = 0; types && i < request->count; i++) {
        PyObject *type = type_to_object(context, request->types[i]);
        if (type)
            PyTuple_SET_ITEM(types, (Py_ssize_t)i, type);
        else
            Py_CLEAR(types);
    }
    if (types)
        found = PyObject_CallMethod(module, "looped", "OOO", gufunc, types, request->device ? Py_True : Py_False);
    Py_XDECREF(types);
    Py_XDECREF(module);
    return found;
}

/* Whether NumPy is to ask an operand, or what is to take the results, what it does of ufuncs. */
static bool is_overridden(const Gufunc *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    const ModuleState *state = self->core.state;
    bool overridden = false;
    for (Py_ssize_t i = 0; i < nargs && !overridden; i++) overridden = vectorized_overrides(state, args[i]);
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames) && !overridden; i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "out") != 0) continue;
        PyObject *out = args[nargs + i];
        Py_ssize_t more = PyTuple_Check(out) ? PyTuple_GET_SIZE(out) : 1;
        for (Py_ssize_t k = 0; k < more && !overridden; k++)
            overridden = vectorized_overrides(state, PyTuple_Check(out) ? PyTuple_GET_ITEM(out, k) : out);
    }
    return overridden;
}

static PyObject *gufunc_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Gufunc *self = (Gufunc *)callable;
    const Type *types[MAX_OPERANDS];
    bool any_types = !self->core.signatures, is_cuda = self->target == UFUNC_CUDA;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if ((any_types || is_cuda) && is_overridden(self, args, nargs, kwnames))
        return PyObject_Vectorcall(self->ufunc, args, nargsf, kwnames);
    if (any_types && prepare(self, args, nargs, kwnames, types) < 0) return NULL;
    if (is_cuda) return call_cuda(self, args, nargs, kwnames);
    gufunc_check_guards(self);
    if (any_types && self->core.can_compile && !says_loop(kwnames))
        return call_loop(self, args, nargsf, kwnames, types);
    PyObject *result = PyObject_Vectorcall(self->ufunc, args, nargsf, kwnames);
    if (!result) ufunc_explain(self->ufunc);
    return result;
}

/* Compiles a loop for a signature. */
static PyObject *gufunc_add(PyObject *object, PyObject *given) {
    Gufunc *self = (Gufunc *)object;
    Signature *signature = signature_from_object(self->core.state, given);
    int added = signature ? add_signature(self, signature) : -1;
    Py_XDECREF(signature);
    if (added < 0) return NULL;
    Py_RETURN_NONE;
}

/* ---- making one ---- */

/* writable_args: numbers or names of inputs. */
static int read_writable(Gufunc *self) {
    PyObject *given = PyDict_GetItemString(self->core.options.given, "writable_args");
    PyObject *list = given ? PySequence_Fast(given, "option writable_args is a tuple of parameters' numbers or names")
                           : NULL;
    if (!given) return 0;
    for (Py_ssize_t k = 0; list && k < PySequence_Fast_GET_SIZE(list); k++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, k);
        long number = PyLong_Check(item) ? PyLong_AsLong(item) : -1;
        for (int i = 0; PyUnicode_Check(item) && i < self->layout.nin; i++)
            if (PyUnicode_Compare(PyTuple_GET_ITEM(self->core.binding.names, i), item) == 0) number = i;
        if (number >= 0 && number < self->layout.nin) {
            self->writable |= 1u << number;
            continue;
        }
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "writable_args: %R is not the number or the name of an input", item);
        Py_CLEAR(list);
    }
    if (!list) return -1;
    Py_DECREF(list);
    return 0;
}

static char *copy_text(PyObject *text) {
    Py_ssize_t length = 0;
    const char *utf8 = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &length) : "";
    char *copy = utf8 ? PyMem_Malloc((size_t)length + 1) : NULL;
    if (copy)
        memcpy(copy, utf8, (size_t)length + 1);
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    return copy;
}

static int check_parameters(const Gufunc *self) {
    const Binding *binding = &self->core.binding;
    int count = self->layout.nin + self->layout.nout;
    if (!binding->varargs && !binding->varkeywords && !binding->nkeyword_only && binding->nparams == count) return 0;
    PyErr_Format(PyExc_TypeError,
                 "%U has %zd parameters, and the layout %d input%s and %d result%s: write a parameter, without * and "
                 "default, for each of the %d, the results last, as arrays to write into; or put what is missing into "
                 "the layout, '(n),(n)->(n)'",
                 ((PyFunctionObject *)self->core.function)->func_qualname, (Py_ssize_t)binding->nparams,
                 self->layout.nin, self->layout.nin == 1 ? "" : "s", self->layout.nout,
                 self->layout.nout == 1 ? "" : "s", count);
    return -1;
}

static int gufunc_init(Gufunc *self, ModuleState *state, PyObject *function, PyObject *signatures,
                       const Options *options) {
    PyObject *text = PyDict_GetItemString(options->given, "layout");
    const char *layout = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    const PyFunctionObject *named = (PyFunctionObject *)function;
    int identity;
    self->vectorcall = gufunc_vectorcall;
    self->module = Py_NewRef(PyType_GetModule(state->gufunc_class));
    self->dict = PyDict_New();
    self->core.config.target = TARGET_HOST;
    self->core.config.codegen.entry = ENTRY_GUFUNC;
    self->core.config.codegen.python_version = PY_VERSION_HEX >> 16;
    if (!layout && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "guvectorize needs a layout, such as '(m,n),(n)->(m)', after the signatures");
    if (!layout || !self->dict || gufunc_layout_parse(&self->layout, layout) < 0 ||
        vectorized_read_identity(options->given, &identity) < 0 ||
        vectorized_read_target(options->given, &self->target) < 0 ||
        copy_function_attributes(self->dict, function) < 0 ||
        specialiser_init(&self->core, state, function, function, signatures, options) < 0)
        return -1;
    self->core.config.device_arrays = self->target == UFUNC_CUDA;
    bool has_locals = PyDict_GetItemString(self->core.options.given, "locals") != NULL;
    self->core.identity = has_locals ? (PyObject *)self : function; /* the function as it stands, else */
    if (check_parameters(self) < 0 || read_writable(self) < 0) return -1;
    if (!(self->name = copy_text(named->func_name)) || !(self->doc = copy_text(named->func_doc))) return -1;
    if (gufunc_make(self, layout, identity) < 0) return -1;
    return signatures ? add_signatures(self) : 0;
}

static PyObject *gufunc_decorate(ModuleState *state, PyObject *function, PyObject *signatures, const Options *options) {
    if (Py_IS_TYPE(function, state->dispatcher_class)) function = ((Dispatcher *)function)->core.function;
    if (signatures && !PyList_GET_SIZE(signatures)) signatures = NULL;
    if (!PyFunction_Check(function)) return errors_no_function("guvectorize", function);
    Gufunc *self = (Gufunc *)state->gufunc_class->tp_alloc(state->gufunc_class, 0);
    if (self && gufunc_init(self, state, function, signatures, options) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *guvectorize_apply(PyObject *module, PyObject *packed) {
    PyObject *signatures = PyTuple_GET_ITEM(packed, 1), *kwargs = PyTuple_GET_ITEM(packed, 2);
    Options options;
    if (options_parse(&options, OPTIONS_GUVECTORIZE, kwargs == Py_None ? NULL : kwargs) < 0) return NULL;
    PyObject *result = gufunc_decorate(module_state(module), PyTuple_GET_ITEM(packed, 0),
                                       signatures == Py_None ? NULL : signatures, &options);
    Py_XDECREF(options.given);
    return result;
}

/* What can be told before there is a function. */
static int check_options(PyObject *kwargs) {
    Options options;
    UfuncTarget target;
    GufuncLayout parsed;
    int identity, result = -1;
    if (options_parse(&options, OPTIONS_GUVECTORIZE, kwargs) < 0) return -1;
    PyObject *text = PyDict_GetItemString(options.given, "layout");
    const char *layout = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    if (!layout && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError,
                        "guvectorize takes signatures and a layout, or a layout alone: guvectorize(['void(float64[:], "
                        "float64[:])'], '(n)->(n)')");
    if (layout && gufunc_layout_parse(&parsed, layout) == 0 && vectorized_read_target(options.given, &target) == 0 &&
        vectorized_read_identity(options.given, &identity) == 0)
        result = 0;
    Py_XDECREF(options.given);
    return result;
}

/* guvectorize(signatures, layout, **options), guvectorize(layout, **options) */
static PyObject *guvectorize(PyObject *module, PyObject *args, PyObject *kwargs) {
    ModuleState *state = module_state(module);
    PyObject *first = NULL, *second = NULL, *signatures = NULL, *result = NULL;
    if (!PyArg_ParseTuple(args, "|OO:guvectorize", &first, &second)) return NULL;
    PyObject *options = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
    bool layout_alone = first && !second && options && !PyDict_GetItemString(options, "layout");
    PyObject *layout = layout_alone ? first : second;
    if (second && options && PyDict_GetItemString(options, "layout")) {
        PyErr_SetString(PyExc_TypeError, "guvectorize() got multiple values for argument 'layout'");
        goto done;
    }
    if (!options || (layout && PyDict_SetItemString(options, "layout", layout) < 0) || check_options(options) < 0)
        goto done;
    if (first && !layout_alone && first != Py_None && !(signatures = signatures_from_object(state, first))) goto done;
    result = decorate_later(module, guvectorize_apply, signatures, options);
done:
    Py_XDECREF(signatures);
    Py_XDECREF(options);
    return result;
}

/* ---- the class ---- */

static PyObject *get_from_ufunc(PyObject *object, void *name) {
    return PyObject_GetAttrString(((Gufunc *)object)->ufunc, name);
}

static PyObject *gufunc_is_dynamic(PyObject *object, void *unused) {
    return (void)unused, PyBool_FromLong(!((Gufunc *)object)->core.signatures);
}

#define OF_UFUNC(name, doc) {name, get_from_ufunc, NULL, doc, name}
static PyGetSetDef gufunc_getset[] = {
    OF_UFUNC("nin", "number of inputs"),
    OF_UFUNC("nout", "number of results"),
    OF_UFUNC("nargs", "number of inputs and results"),
    OF_UFUNC("ntypes", "number of loops compiled so far"),
    OF_UFUNC("types", "the loops, as NumPy writes them"),
    OF_UFUNC("identity", "what a reduction would start from"),
    OF_UFUNC("signature", "the layout"),
    OF_UFUNC("reduce", "NumPy's, which no generalised ufunc has: calls raise"),
    OF_UFUNC("accumulate", "as reduce"),
    OF_UFUNC("reduceat", "as reduce"),
    OF_UFUNC("outer", "as reduce"),
    OF_UFUNC("at", "as reduce"),
    MAX_BLOCKSIZE(Gufunc),
    {"is_dynamic", gufunc_is_dynamic, NULL, "whether loops are added as operand types come", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *gufunc_reduce_pickle(PyObject *object, PyObject *unused) {
    return (void)unused, pickle_declared(&((Gufunc *)object)->core, "guvectorize", object);
}

static int gufunc_traverse(PyObject *object, visitproc visit, void *arg) {
    Gufunc *self = (Gufunc *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->module);
    Py_VISIT(self->ufunc);
    return specialiser_traverse(&self->core, visit, arg);
}

static int gufunc_clear(PyObject *object) {
    Gufunc *self = (Gufunc *)object;
    Py_CLEAR(self->dict);
    Py_CLEAR(self->ufunc);
    return 0;
}

static void gufunc_dealloc(PyObject *object) {
    Gufunc *self = (Gufunc *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    gufunc_clear(object);
    while (self->nloops > 0) {
        GufuncLoop *loop = self->loops[--self->nloops];
        for (int form = 0; form < GUFUNC_FORMS; form++)
            if (loop->forms[form]) spec_release(loop->forms[form]);
        PyMem_Free(loop);
    }
    PyMem_Free(self->loops);
    PyMem_Free(self->typenums);
    PyMem_Free(self->name);
    PyMem_Free(self->doc);
    specialiser_clear(&self->core);
    Py_CLEAR(self->module);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *gufunc_repr(PyObject *self) {
    return PyUnicode_FromFormat("Gufunc(%R)", ((Gufunc *)self)->core.function);
}

static PyMemberDef gufunc_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Gufunc, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Gufunc, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Gufunc, weakrefs), READONLY, NULL},
    {"py_func", T_OBJECT_EX, offsetof(Gufunc, core.function), READONLY, "the Python function"},
    {"ufunc", T_OBJECT_EX, offsetof(Gufunc, ufunc), READONLY, "the generalised ufunc of NumPy inside"},
    {"targetoptions", T_OBJECT_EX, offsetof(Gufunc, core.options.given), READONLY,
     "the options as given to the decorator"},
    {"_signatures", T_OBJECT, offsetof(Gufunc, core.signatures), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *gufunc_disable_compile(PyObject *object, PyObject *args, PyObject *kwargs) {
    return inspect_disable_compile(&((Gufunc *)object)->core, args, kwargs);
}

static PyObject *gufunc_build_ufunc(PyObject *object, PyObject *unused) {
    (void)unused;
    ((Gufunc *)object)->core.can_compile = false;
    return Py_NewRef(object);
}

static PyObject *gufunc_match_signature(PyObject *object, PyObject *args) {
    return ufunc_match_signature(((Gufunc *)object)->core.state, args);
}

static PyMethodDef gufunc_methods[] = {
    {"disable_compile", WITH_KEYWORDS(gufunc_disable_compile), METH_VARARGS | METH_KEYWORDS,
     "disable_compile(val=True)\n--\n\nNew types of operands make no loop: they are cast to those there are, "
     "or refused."},
    {"build_ufunc", gufunc_build_ufunc, METH_NOARGS,
     "build_ufunc()\n--\n\nThe function itself, with the loops it has: as after disable_compile()."},
    {"match_signature", gufunc_match_signature, METH_VARARGS, match_signature_doc},
    {"add", gufunc_add, METH_O, "add(signature)\n--\n\nCompiles a loop for a signature now."},
    {"__reduce__", gufunc_reduce_pickle, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot gufunc_slots[] = {
    {Py_tp_doc, "A function of arrays that is called over the other dimensions of its operands; guvectorize makes it."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getset, gufunc_getset},
    {Py_tp_repr, gufunc_repr},
    {Py_tp_traverse, gufunc_traverse},
    {Py_tp_clear, gufunc_clear},
    {Py_tp_dealloc, gufunc_dealloc},
    {Py_tp_members, gufunc_members},
    {Py_tp_methods, gufunc_methods},
    {0, NULL},
};

static PyType_Spec gufunc_spec = {"krait.Gufunc", sizeof(Gufunc), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                      Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  gufunc_slots};

static PyMethodDef functions[] = {
    {"guvectorize", WITH_KEYWORDS(guvectorize), METH_VARARGS | METH_KEYWORDS, guvectorize_doc},
    {NULL, NULL, 0, NULL},
};

int guvectorize_add(PyObject *module, ModuleState *state) {
    if (!(state->gufunc_class = module_add_class(module, &gufunc_spec, NULL, true))) return -1;
    return PyModule_AddFunctions(module, functions);
}
