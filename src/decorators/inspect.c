/* inspect.c: what a dispatcher or a kernel tells about its specialisations: signatures, overloads, text of every
 * stage, timings.
 *
 * Texts are not kept by ordinary compilations; asking for one compiles the specialisation once more with
 * Config.keep_text. */
#include "decorators/decorators.h"
#include "decorators/inspect.h"
#include "decorators/kernel.h"

#include <limits.h> /* PATH_MAX */

static PyObject *types_tuple(ModuleState *state, const Type *const *types, size_t count) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple && i < count; i++) {
        PyObject *item = type_to_object(state, types[i]);
        if (item)
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *spec_key(Specialiser *core, const Spec *spec) {
    return types_tuple(core->state, spec->code->params, spec->nargs);
}

static PyObject *spec_signature(Specialiser *core, const Spec *spec) {
    return signature_new(core->state, spec->declared ? spec->declared : spec->code->result, spec->code->params,
                         spec->nargs);
}

/* A list of one object for each types of which there is a specialisation that is not out of date: kernels may have two,
 * with and without the facts of a launch. */
static PyObject *list_specs(Specialiser *core, PyObject *(*make)(Specialiser *, const Spec *)) {
    if (specialiser_flush_pending(core) < 0) return NULL;
    PyObject *list = PyList_New(0), *seen = PySet_New(NULL);
    for (Py_ssize_t i = 0; list && i < core->nspecs; i++) {
        if (core->specs[i]->stale) continue;
        const Spec *spec = core->specs[i]; /* of types that == takes for one there may be two */
        PyObject *key = PyBytes_FromStringAndSize((const char *)spec->code->params,
                                                  (Py_ssize_t)(spec->nargs * sizeof *spec->code->params));
        int known = key && seen ? PySet_Contains(seen, key) : -1;
        PyObject *item = known ? NULL : make(core, spec);
        if (known < 0 || (!known && (!item || PySet_Add(seen, key) < 0 || PyList_Append(list, item) < 0)))
            Py_CLEAR(list);
        Py_XDECREF(item);
        Py_XDECREF(key);
    }
    Py_XDECREF(seen);
    return list;
}

PyObject *inspect_signatures(Specialiser *core) { return list_specs(core, spec_key); }
PyObject *inspect_nopython_signatures(Specialiser *core) { return list_specs(core, spec_signature); }

/* ---- metadata ---- */

/* dict[name of step i] = seconds. */
static bool add_time(PyObject *times, const char *name, int64_t nanoseconds) {
    PyObject *seconds = PyFloat_FromDouble((double)nanoseconds * 1e-9);
    bool fine = seconds && PyDict_SetItemString(times, name, seconds) == 0;
    Py_XDECREF(seconds);
    return fine;
}

static PyObject *stage_times(const Code *code, double *total) {
    PyObject *times = PyDict_New();
    for (int i = 0; times && i < STAGE_COUNT; i++) {
        *total += (double)code->nanoseconds[i] * 1e-9;
        if (!add_time(times, stage_names[i], code->nanoseconds[i])) Py_CLEAR(times);
    }
    return times;
}

static PyObject *pass_times(const Code *code) {
    PyObject *times = PyDict_New();
    for (int i = 0; times && i < PASS_COUNT; i++)
        if (!add_time(times, pass_info[i].name, code->pass_nanoseconds[i])) Py_CLEAR(times);
    return times;
}

PyObject *inspect_spec_metadata(Specialiser *core, const Spec *spec) {
    const Code *code = spec->code;
    double total = 0;
    PyObject *stages = stage_times(code, &total), *passes = pass_times(code), *signature = spec_signature(core, spec);
    PyObject *metadata = NULL;
    if (stages && passes && signature)
        metadata = Py_BuildValue("{sOsOsOsdsnsssOsO}", "signature", signature, "pipeline_times", stages, "pass_times",
                                 passes, "compile_seconds", total, "guards", (Py_ssize_t)code->nguards, "target",
                                 code->config.target == TARGET_NVPTX ? "nvptx" : "host", "has_barriers",
                                 code->has_barriers ? Py_True : Py_False, "from_cache",
                                 code->from_cache ? Py_True : Py_False);
    Py_XDECREF(stages);
    Py_XDECREF(passes);
    Py_XDECREF(signature);
    return metadata;
}

typedef struct Overload {
    PyObject_HEAD
    PyObject *signature, *metadata;
    PyObject *kernel; /* NULL: of a function */
    bool cooperative; /* its blocks wait for each other */
} Overload;

PyObject *inspect_overload(Specialiser *core, const Spec *spec) {
    Overload *self = (Overload *)core->state->overload_class->tp_alloc(core->state->overload_class, 0);
    if (!self) return NULL;
    self->signature = spec_signature(core, spec);
    self->metadata = inspect_spec_metadata(core, spec);
    self->cooperative = spec->code->waits_for_grid;
    if (core->config.kernel) self->kernel = Py_NewRef((PyObject *)kernel_of_core(core));
    if (!self->signature || !self->metadata) Py_CLEAR(self);
    return (PyObject *)self;
}

static void overload_dealloc(PyObject *object) {
    PyTypeObject *class = Py_TYPE(object);
    Py_XDECREF(((Overload *)object)->signature);
    Py_XDECREF(((Overload *)object)->metadata);
    Py_XDECREF(((Overload *)object)->kernel);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *overload_repr(PyObject *object) {
    return PyUnicode_FromFormat("<specialisation %R>", ((Overload *)object)->signature);
}

static PyObject *overload_signature(PyObject *object, void *closure) {
    (void)closure;
    return Py_NewRef(((Overload *)object)->signature);
}

static PyObject *overload_metadata(PyObject *object, void *closure) {
    (void)closure;
    return Py_NewRef(((Overload *)object)->metadata);
}

static PyObject *overload_types(PyObject *object, void *closure) {
    (void)closure;
    return PyObject_GetAttrString(((Overload *)object)->signature, "args");
}

static PyObject *overload_cooperative(PyObject *object, void *closure) {
    (void)closure;
    return PyBool_FromLong(((Overload *)object)->cooperative);
}

static PyObject *overload_objectmode(PyObject *object, void *closure) {
    return (void)object, (void)closure, Py_NewRef(Py_False);
}

/* The method of the kernel, which takes the signature. */
static PyObject *kernel_method(const Overload *self, const char *name) {
    if (!self->kernel) return PyErr_Format(PyExc_AttributeError, "%R is no kernel's", self);
    return PyObject_GetAttrString(self->kernel, name);
}

/* What the method that the closure names says of this signature. */
static PyObject *overload_fact(PyObject *object, void *closure) {
    PyObject *method = kernel_method((Overload *)object, closure);
    PyObject *value = method ? PyObject_CallOneArg(method, ((Overload *)object)->signature) : NULL;
    Py_XDECREF(method);
    return value;
}

/* That method, for this signature. */
static PyObject *overload_method(PyObject *object, void *closure) {
    PyObject *method = kernel_method((Overload *)object, closure), *bound = NULL;
    PyObject *functools = method ? PyImport_ImportModule("functools") : NULL;
    PyObject *partial = functools ? PyObject_GetAttrString(functools, "partial") : NULL;
    PyObject *args = partial ? PyTuple_Pack(1, method) : NULL;
    PyObject *keywords = args ? Py_BuildValue("{sO}", "signature", ((Overload *)object)->signature) : NULL;
    if (keywords) bound = PyObject_Call(partial, args, keywords);
    Py_XDECREF(keywords);
    Py_XDECREF(args);
    Py_XDECREF(partial);
    Py_XDECREF(functools);
    Py_XDECREF(method);
    return bound;
}

/* What krait.cuda._overloads says, a function of that name, of the specialisation of a kernel. */
static PyObject *overload_told(PyObject *object, void *closure) {
    if (!((Overload *)object)->kernel) return PyErr_Format(PyExc_AttributeError, "%R is no kernel's", object);
    return marshal_call_python("krait.cuda._overloads", closure, "(O)", object);
}

static PyObject *overload_kernel(PyObject *object, void *closure) {
    (void)closure;
    PyObject *kernel = ((Overload *)object)->kernel;
    return Py_NewRef(kernel ? kernel : Py_None);
}

#define TOLD(name, doc)        {#name, overload_told, NULL, doc, #name}
#define KERNEL_FACT(name, doc) {#name, overload_fact, NULL, doc, "get_" #name}
#define KERNEL_METHOD(name)    {#name, overload_method, NULL, "the kernel's, for this signature", #name}
static PyGetSetDef overload_getset[] = {
    {"signature", overload_signature, NULL, "argument types and result type", NULL},
    {"argument_types", overload_types, NULL, "argument types", NULL},
    {"metadata", overload_metadata, NULL, "how it was compiled", NULL},
    {"objectmode", overload_objectmode, NULL, "whether the interpreter's objects are computed with: never", NULL},
    {"cooperative", overload_cooperative, NULL, "whether blocks of a grid wait for each other", NULL},
    KERNEL_FACT(regs_per_thread, "registers of a thread"),
    KERNEL_FACT(shared_mem_per_block, "bytes of static shared memory"),
    KERNEL_FACT(const_mem_size, "bytes of constant memory"),
    KERNEL_FACT(local_mem_per_thread, "bytes of local memory"),
    KERNEL_FACT(max_threads_per_block, "most threads of a block"),
    {"kernel", overload_kernel, NULL, "the kernel that it belongs to; None: of a function", NULL},
    TOLD(entry_name, "name of the entry in its PTX"),
    TOLD(library, "its code: name, get_llvm_str(), get_asm_str()"),
    TOLD(bind, "bind(): loads it on the device of this thread"),
    TOLD(launch, "launch(args, griddim, blockdim, stream=0, sharedmem=0): runs it"),
    KERNEL_METHOD(inspect_types),
    KERNEL_METHOD(inspect_lto_ptx),
    KERNEL_METHOD(inspect_llvm),
    KERNEL_METHOD(inspect_asm),
    KERNEL_METHOD(inspect_ptx),
    KERNEL_METHOD(inspect_sass),
    KERNEL_METHOD(inspect_sass_cfg),
    KERNEL_METHOD(get_active_blocks_per_multiprocessor),
    KERNEL_METHOD(get_max_threads_per_block),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *overload_cooperative_blocks(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"blockdim", "dynsmemsize", "dynsmem", NULL};
    const Overload *self = (Overload *)object;
    PyObject *block;
    Py_ssize_t shared = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|nn:max_cooperative_grid_blocks", keywords, &block, &shared,
                                     &shared))
        return NULL;
    if (!self->kernel) return PyErr_Format(PyExc_TypeError, "%R is no kernel's", object);
    return PyObject_CallMethod(self->kernel, "max_cooperative_grid_blocks", "OnO", block, shared, self->signature);
}

static PyMethodDef overload_methods[] = {
    {"max_cooperative_grid_blocks", WITH_KEYWORDS(overload_cooperative_blocks), METH_VARARGS | METH_KEYWORDS,
     "max_cooperative_grid_blocks(blockdim, dynsmemsize=0)\n--\n\nOf a kernel: how many blocks run at once; dynsmem is "
     "another name of dynsmemsize."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot overload_slots[] = {
    {Py_tp_methods, overload_methods}, {Py_tp_doc, "One specialisation of a compiled function."},
    {Py_tp_dealloc, overload_dealloc}, {Py_tp_repr, overload_repr},
    {Py_tp_getset, overload_getset},   {0, NULL},
};

static PyType_Spec overload_spec = {"krait._krait.Overload", sizeof(Overload), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, overload_slots};

/* The specialisation for these types, or, unless `exact`, for those that == takes for them; NULL: none. */
static const Spec *spec_for(const Specialiser *core, const Signature *wanted, bool exact) {
    for (Py_ssize_t i = 0; i < core->nspecs; i++) {
        const Spec *spec = core->specs[i];
        bool same = !spec->stale && spec->nargs == wanted->count;
        for (uint32_t k = 0; same && k < spec->nargs; k++) {
            const Type *has = spec->code->params[k], *asked = wanted->args[k];
            same = has == asked || (!exact && type_compared(has) == type_compared(asked));
        }
        if (same) return spec;
    }
    return NULL;
}

/* {types: value} of every specialisation, or the value of the one that `signature` names. */
PyObject *inspect_by_signature(Specialiser *core, PyObject *signature, InspectMake *make, const void *context) {
    if (specialiser_flush_pending(core) < 0) return NULL;
    if (signature && signature != Py_None) {
        Signature *wanted = signature_from_object(core->state, signature);
        if (!wanted) return NULL;
        const Spec *spec = spec_for(core, wanted, true);
        if (!spec) spec = spec_for(core, wanted, false);
        Py_DECREF(wanted);
        return spec ? make(core, spec, context)
                    : PyErr_Format(PyExc_KeyError, "nothing was compiled for %R", signature);
    }
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict && i < core->nspecs; i++) {
        if (core->specs[i]->stale) continue;
        PyObject *key = spec_key(core, core->specs[i]), *value = key ? make(core, core->specs[i], context) : NULL;
        if (!value || PyDict_SetItem(dict, key, value) < 0) Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *inspect_make_overload(Specialiser *core, const Spec *spec, const void *context) {
    return (void)context, inspect_overload(core, spec);
}
static PyObject *make_metadata(Specialiser *core, const Spec *spec, const void *context) {
    return (void)context, inspect_spec_metadata(core, spec);
}

PyObject *inspect_overloads(Specialiser *core) { return inspect_by_signature(core, NULL, inspect_make_overload, NULL); }
PyObject *inspect_metadata(Specialiser *core, PyObject *signature) {
    return inspect_by_signature(core, signature, make_metadata, NULL);
}

/* ---- texts ---- */

typedef struct StageRequest {
    const Specialiser *core;
    const Config *config;
    const Type *const *types;
    size_t count;
    const char *stage;
} StageRequest;

static void *stage_text(Arena *arena, void *context) {
    const StageRequest *r = context;
    Diag diag;
    diag_init(&diag, arena);
    const char *text = driver_stage_text(&r->core->state->session, r->config, r->core->identity, r->types, r->count,
                                         r->stage, &diag);
    return text ? PyUnicode_FromString(text) : errors_raise_diag(r->core->state, &diag);
}

PyObject *inspect_stage(const Specialiser *core, const Config *config, const Type *const *types, size_t count,
                        const char *stage) {
    return errors_with_arena(stage_text, &(StageRequest){core, config, types, count, stage});
}

typedef struct TextRequest {
    const Specialiser *core;
    const Spec *spec;
    InspectKind kind;
} TextRequest;

static void *kept_text(Arena *arena, void *context) {
    const TextRequest *r = context;
    Config config = r->spec->code->config;
    Diag diag;
    diag_init(&diag, arena);
    config.keep_text = true;
    Code *code = driver_compile(&r->core->state->session, &config, r->core->identity, r->spec->code->params,
                                r->spec->code->param_konsts, r->spec->nargs, &diag);
    if (!code) return errors_raise_diag(r->core->state, &diag);
    const char *const texts[] = {[INSPECT_TYPES] = code->typed_text,
                                 [INSPECT_LLVM] = code->opt_text,
                                 [INSPECT_ASM] = code->asm_text,
                                 [INSPECT_DIAGNOSTICS] = code->diagnostics};
    PyObject *text = PyUnicode_FromString(texts[r->kind] ? texts[r->kind] : "");
    code_release(code);
    return text;
}

static PyObject *make_text(Specialiser *core, const Spec *spec, const void *context) {
    const InspectText *which = context;
    if (which->kind == INSPECT_ASM && spec->code->ptx)
        return PyUnicode_FromStringAndSize(spec->code->ptx, (Py_ssize_t)spec->code->ptx_length);
    return errors_with_arena(kept_text, &(TextRequest){core, spec, which->kind});
}

PyObject *inspect_text(Specialiser *core, InspectKind kind, PyObject *signature) {
    InspectText which = {kind};
    return inspect_by_signature(core, signature, make_text, &which);
}

/* {types: text} of the one that `signature` names. */
static PyObject *typed_text_of(Specialiser *core, PyObject *signature) {
    Signature *wanted = signature_from_object(core->state, signature);
    PyObject *key = wanted ? types_tuple(core->state, wanted->args, (size_t)wanted->count) : NULL;
    PyObject *text = key ? inspect_text(core, INSPECT_TYPES, signature) : NULL;
    PyObject *texts = text ? Py_BuildValue("{OO}", key, text) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(key);
    Py_XDECREF(wanted);
    return texts;
}

/* Writes the typed form of every specialisation, or of one, to `file` (sys.stdout unless given). */
PyObject *inspect_print_types(Specialiser *core, PyObject *file, PyObject *signature) {
    PyObject *texts = signature == Py_None ? inspect_text(core, INSPECT_TYPES, NULL) : typed_text_of(core, signature);
    PyObject *key, *value;
    Py_ssize_t position = 0;
    if (!texts) return NULL;
    if (!file || file == Py_None) file = PySys_GetObject("stdout");
    while (file && file != Py_None && PyDict_Next(texts, &position, &key, &value)) {
        PyObject *line = PyUnicode_FromFormat("# %U %R\n%U\n", ((PyFunctionObject *)core->function)->func_qualname, key,
                                              value);
        int failed = !line || PyFile_WriteObject(line, file, Py_PRINT_RAW) < 0;
        Py_XDECREF(line);
        if (failed) {
            Py_DECREF(texts);
            return NULL;
        }
    }
    Py_DECREF(texts);
    Py_RETURN_NONE;
}

/* ---- counts; compiling again ---- */

PyObject *inspect_stats(const Specialiser *core) {
    char folder[PATH_MAX];
    bool cached = core->options.cache && driver_cache_folder(folder, sizeof folder);
    PyObject *path = cached ? PyUnicode_DecodeFSDefault(folder) : Py_NewRef(Py_None);
    return path ? marshal_call_python("krait._inspect", "Stats", "(NLL)", path, core->hits, core->misses) : NULL;
}

PyObject *inspect_disable_compile(Specialiser *core, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"val", NULL};
    int disable = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:disable_compile", keywords, &disable)) return NULL;
    core->can_compile = !disable;
    Py_RETURN_NONE;
}

PyObject *inspect_recompile(Specialiser *core) {
    Py_ssize_t count = core->nspecs;
    Spec **old = core->specs;
    core->specs = NULL;
    core->nspecs = 0;
    lookup_drop(core);
    bool failed = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        Spec *spec = old[i];
        spec->kept = false;
        Spec *fresh = failed
                          ? NULL
                          : specialiser_compile(core, &spec->code->config, spec->code->params, spec->code->param_konsts,
                                                spec->nargs, spec->declared, spec->convert);
        failed = !fresh;
        if (fresh) spec_release(fresh);
        spec_release(spec);
    }
    PyMem_Free(old);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* ---- the classes ---- */

int inspect_add(PyObject *module, ModuleState *state) {
    state->overload_class = module_add_class(module, &overload_spec, NULL, false);
    return state->overload_class ? 0 : -1;
}
