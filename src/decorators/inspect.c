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

/* A list of one object per specialisation that is not out of date. */
static PyObject *list_specs(Specialiser *core, PyObject *(*make)(Specialiser *, const Spec *)) {
    if (specialiser_flush_pending(core) < 0) return NULL;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < core->nspecs; i++) {
        if (core->specs[i]->stale) continue;
        PyObject *item = make(core, core->specs[i]);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
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
} Overload;

static PyObject *new_overload(Specialiser *core, const Spec *spec) {
    Overload *self = (Overload *)core->state->overload_class->tp_alloc(core->state->overload_class, 0);
    if (!self) return NULL;
    self->signature = spec_signature(core, spec);
    self->metadata = inspect_spec_metadata(core, spec);
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

static PyGetSetDef overload_getset[] = {
    {"signature", overload_signature, NULL, "argument types and result type", NULL},
    {"metadata", overload_metadata, NULL, "how it was compiled", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *overload_cooperative_blocks(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"blockdim", "dynsmemsize", NULL};
    const Overload *self = (Overload *)object;
    PyObject *block;
    Py_ssize_t shared = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:max_cooperative_grid_blocks", keywords, &block, &shared))
        return NULL;
    if (!self->kernel) return PyErr_Format(PyExc_TypeError, "%R is no kernel's", object);
    return PyObject_CallMethod(self->kernel, "max_cooperative_grid_blocks", "OnO", block, shared, self->signature);
}

static PyMethodDef overload_methods[] = {
    {"max_cooperative_grid_blocks", (PyCFunction)(void (*)(void))overload_cooperative_blocks,
     METH_VARARGS | METH_KEYWORDS,
     "max_cooperative_grid_blocks(blockdim, dynsmemsize=0)\n--\n\nOf a kernel: how many blocks run at once."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot overload_slots[] = {
    {Py_tp_methods, overload_methods}, {Py_tp_doc, "One specialisation of a compiled function."},
    {Py_tp_dealloc, overload_dealloc}, {Py_tp_repr, overload_repr},
    {Py_tp_getset, overload_getset},   {0, NULL},
};

static PyType_Spec overload_spec = {"krait._krait.Overload", sizeof(Overload), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, overload_slots};

/* {types: value} of every specialisation, or the value of the one that `signature` names. */
PyObject *inspect_by_signature(Specialiser *core, PyObject *signature, InspectMake *make, const void *context) {
    if (specialiser_flush_pending(core) < 0) return NULL;
    if (signature && signature != Py_None) {
        Signature *wanted = signature_from_object(core->state, signature);
        if (!wanted) return NULL;
        PyObject *result = NULL;
        for (Py_ssize_t i = 0; i < core->nspecs && !result; i++) {
            const Spec *spec = core->specs[i];
            bool same = !spec->stale && spec->nargs == wanted->count;
            for (uint32_t k = 0; same && k < spec->nargs; k++) same = spec->code->params[k] == wanted->args[k];
            if (same && !(result = make(core, spec, context))) break;
        }
        Py_DECREF(wanted);
        if (!result && !PyErr_Occurred()) PyErr_Format(PyExc_KeyError, "nothing was compiled for %R", signature);
        return result;
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

static PyObject *make_overload(Specialiser *core, const Spec *spec, const void *context) {
    return (void)context, new_overload(core, spec);
}
static PyObject *make_metadata(Specialiser *core, const Spec *spec, const void *context) {
    return (void)context, inspect_spec_metadata(core, spec);
}

PyObject *inspect_overloads(Specialiser *core) { return inspect_by_signature(core, NULL, make_overload, NULL); }
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

/* Writes the typed form of every specialisation to `file` (sys.stdout unless given). */
PyObject *inspect_print_types(Specialiser *core, PyObject *file) {
    PyObject *texts = inspect_text(core, INSPECT_TYPES, NULL), *key, *value;
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

/* ---- the methods of Dispatcher ---- */

static Specialiser *core_of(PyObject *self) { return &((Dispatcher *)self)->core; }

static PyObject *get_signatures(PyObject *self, void *closure) {
    return (void)closure, inspect_signatures(core_of(self));
}
static PyObject *get_nopython_signatures(PyObject *self, void *closure) {
    return (void)closure, inspect_nopython_signatures(core_of(self));
}
static PyObject *get_overloads(PyObject *self, void *closure) {
    return (void)closure, inspect_overloads(core_of(self));
}

static PyObject *get_stats(PyObject *self, void *closure) { return (void)closure, inspect_stats(core_of(self)); }

PyObject *inspect_stats(const Specialiser *core) {
    PyObject *stats = PyStructSequence_New(core->state->stats_class);
    if (!stats) return NULL;
    char folder[PATH_MAX];
    bool cached = core->options.cache && driver_cache_folder(folder, sizeof folder);
    PyStructSequence_SET_ITEM(stats, 0, cached ? PyUnicode_DecodeFSDefault(folder) : Py_NewRef(Py_None));
    PyStructSequence_SET_ITEM(stats, 1, PyLong_FromLongLong(core->hits));
    PyStructSequence_SET_ITEM(stats, 2, PyLong_FromLongLong(core->misses));
    return stats;
}

PyGetSetDef inspect_getset[] = {
    {"signatures", get_signatures, NULL, "list of tuples of argument types, one per specialisation", NULL},
    {"nopython_signatures", get_nopython_signatures, NULL, "list of signatures with their result types", NULL},
    {"overloads", get_overloads, NULL, "dict from argument types to specialisation", NULL},
    {"stats", get_stats, NULL, "calls that found a specialisation, and compilations", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *text_method(PyObject *self, PyObject *args, PyObject *kwargs, InspectKind kind, const char *format) {
    static char *keywords[] = {"signature", NULL};
    PyObject *signature = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, keywords, &signature)) return NULL;
    return inspect_text(core_of(self), kind, signature);
}

static PyObject *method_inspect_llvm(PyObject *self, PyObject *args, PyObject *kwargs) {
    return text_method(self, args, kwargs, INSPECT_LLVM, "|O:inspect_llvm");
}

static PyObject *method_inspect_asm(PyObject *self, PyObject *args, PyObject *kwargs) {
    return text_method(self, args, kwargs, INSPECT_ASM, "|O:inspect_asm");
}

static PyObject *method_inspect_types(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"file", "signature", "pretty", NULL};
    PyObject *file = Py_None, *signature = Py_None;
    int pretty = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOp:inspect_types", keywords, &file, &signature, &pretty))
        return NULL;
    return inspect_print_types(core_of(self), file);
}

/* The lines of at most that level, which each begins with, without it. */
static PyObject *lines_of_level(PyObject *text, int level) {
    PyObject *lines = PyUnicode_Splitlines(text, 1), *kept = lines ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; kept && i < PyList_GET_SIZE(lines); i++) {
        PyObject *line = PyList_GET_ITEM(lines, i);
        if ((int)(PyUnicode_READ_CHAR(line, 0) - '0') > level) continue;
        PyObject *rest = PyUnicode_Substring(line, 2, PyUnicode_GET_LENGTH(line));
        if (!rest || PyList_Append(kept, rest) < 0) Py_CLEAR(kept);
        Py_XDECREF(rest);
    }
    PyObject *nothing = kept ? PyUnicode_FromString("") : NULL, *all = nothing ? PyUnicode_Join(nothing, kept) : NULL;
    Py_XDECREF(nothing);
    Py_XDECREF(kept);
    Py_XDECREF(lines);
    return all;
}

static int print_diagnostics(PyObject *text, int level) {
    PyObject *lines = lines_of_level(text, level), *file = PySys_GetObject("stdout");
    const char *none = "nothing in the function runs on several cores: it has no parallel=True, or no loop over prange "
                       "and no expression of whole arrays\n";
    PyObject *shown = lines && !PyUnicode_GET_LENGTH(lines) ? PyUnicode_FromString(none) : Py_XNewRef(lines);
    int failed = !shown || (file && file != Py_None && PyFile_WriteObject(shown, file, Py_PRINT_RAW) < 0);
    Py_XDECREF(shown);
    Py_XDECREF(lines);
    return failed ? -1 : 0;
}

static PyObject *method_parallel_diagnostics(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"signature", "level", NULL};
    PyObject *signature = Py_None, *key, *value;
    int level = 1, failed = 0;
    Py_ssize_t position = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Oi:parallel_diagnostics", keywords, &signature, &level))
        return NULL;
    if (level < 1 || level > 4) return PyErr_Format(PyExc_ValueError, "level is 1 to 4, not %d", level);
    PyObject *texts = inspect_text(core_of(self), INSPECT_DIAGNOSTICS, signature);
    if (!texts) return NULL;
    if (!PyDict_Check(texts)) failed = print_diagnostics(texts, level);
    while (PyDict_Check(texts) && !failed && PyDict_Next(texts, &position, &key, &value))
        failed = print_diagnostics(value, level);
    Py_DECREF(texts);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *method_get_metadata(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"signature", NULL};
    PyObject *signature = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:get_metadata", keywords, &signature)) return NULL;
    return inspect_metadata(core_of(self), signature);
}

static PyObject *method_compile(PyObject *self, PyObject *given) {
    Specialiser *core = core_of(self);
    Signature *signature = signature_from_object(core->state, given);
    if (!signature) return NULL;
    Spec *spec = specialiser_flush_pending(core) < 0 ? NULL : specialiser_for_signature(core, &core->config, signature);
    Py_DECREF(signature);
    return spec ? new_overload(core, spec) : NULL;
}

/* Forgets every specialisation and compiles the same ones again, with today's globals. */
static PyObject *method_recompile(PyObject *self, PyObject *unused) {
    return (void)unused, inspect_recompile(core_of(self));
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
        failed = failed || !specialiser_compile(core, &spec->code->config, spec->code->params, spec->code->param_konsts,
                                                spec->nargs, spec->declared, spec->convert);
        spec_release(spec);
    }
    PyMem_Free(old);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *method_disable_compile(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"val", NULL};
    int disable = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:disable_compile", keywords, &disable)) return NULL;
    core_of(self)->can_compile = !disable;
    core_of(self)->disabled = disable;
    Py_RETURN_NONE;
}

static PyObject *method_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    Specialiser *core = core_of(self);
    PyObject *reference = pickle_reference(core->function, self);
    if (reference || PyErr_Occurred()) return reference;
    PyObject *signatures = core->can_compile ? Py_NewRef(Py_None) : inspect_nopython_signatures(core);
    return signatures ? pickle_value(core, "jit", signatures, self) : NULL;
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function
PyMethodDef inspect_methods[] = {
    {"inspect_llvm", WITH_KEYWORDS(method_inspect_llvm), METH_VARARGS | METH_KEYWORDS,
     "inspect_llvm(signature=None)\n--\n\nOptimised LLVM IR of a specialisation, or a dict of all."},
    {"inspect_asm", WITH_KEYWORDS(method_inspect_asm), METH_VARARGS | METH_KEYWORDS,
     "inspect_asm(signature=None)\n--\n\nAssembly of a specialisation, or a dict of all."},
    {"inspect_types", WITH_KEYWORDS(method_inspect_types), METH_VARARGS | METH_KEYWORDS,
     "inspect_types(file=None, signature=None, pretty=False)\n--\n\nPrints the typed form of every specialisation."},
    {"get_metadata", WITH_KEYWORDS(method_get_metadata), METH_VARARGS | METH_KEYWORDS,
     "get_metadata(signature=None)\n--\n\nTimes of the stages and other facts of a specialisation, or a dict of all."},
    {"parallel_diagnostics", WITH_KEYWORDS(method_parallel_diagnostics), METH_VARARGS | METH_KEYWORDS,
     "parallel_diagnostics(signature=None, level=1)\n--\n\nPrints what runs on several cores and what does not; from "
     "level 2 on what was made one loop, from level 3 on why something was not."},
    {"compile", method_compile, METH_O, "compile(signature)\n--\n\nCompiles for a signature now."},
    {"recompile", method_recompile, METH_NOARGS, "recompile()\n--\n\nCompiles every specialisation again."},
    {"disable_compile", WITH_KEYWORDS(method_disable_compile), METH_VARARGS | METH_KEYWORDS,
     "disable_compile(val=True)\n--\n\nFrom now on only what is compiled already is called; arguments are converted."},
    {"__reduce__", method_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int inspect_add(PyObject *module, ModuleState *state) {
    static PyStructSequence_Field fields[] = {{"cache_path", "with cache=True, the folder of compiled code, else None"},
                                              {"cache_hits", "calls that found a specialisation"},
                                              {"cache_misses", "compilations"},
                                              {NULL, NULL}};
    static PyStructSequence_Desc description = {"krait._krait.Stats", "Counts of a dispatcher.", fields, 3};
    if (!(state->overload_class = module_add_class(module, &overload_spec, NULL, false))) return -1;
    state->stats_class = PyStructSequence_NewType(&description);
    return state->stats_class ? 0 : -1;
}
