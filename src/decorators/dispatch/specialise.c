/* specialise.c: argument types to code that can be called.
 *
 * A Specialiser holds a function and the Specs made for it so far.  In: types of arguments.  Out: a Spec, compiled by
 * driver_compile unless an equal one is there whose guards hold.  One thread compiles for a function at a time;
 * others that want the same wait and find it made.  A thread that comes back while it compiles (a destructor that
 * calls the function) compiles on its own rather than wait for itself; after a fork a lock held by a thread that is
 * no longer there is made anew. */
#include "decorators/decorators.h"
#include "decorators/numpy_api.h"

#include <stdatomic.h> /* atomic_load */
#include <string.h>    /* memmove */
#include <unistd.h>    /* getpid */

enum { MAX_STALE = 16 }; /* specialisations whose guards failed, kept in case the old values come back */

/* ---- Specialiser ---- */

int specialiser_init(Specialiser *self, ModuleState *state, PyObject *owner, PyObject *function, PyObject *signatures,
                     const Options *options) {
    self->state = state;
    self->signatures = Py_XNewRef(signatures);
    self->identity = signatures || PyDict_GetItemString(options->given, "locals") ? owner : function;
    self->marshal = self->config.kernel ? &state->marshal : &state->host_marshal;
    self->options = *options;
    self->options.linked = Py_XNewRef(options->linked); /* anyone may change `given`, which is targetoptions */
    self->options.given = locals_resolved(state, function, options->given);
    self->function = Py_NewRef(function);
    self->can_compile = true;
    self->lock_process = getpid();
    options_config(options, &self->config);
    if (!self->options.given || binding_init(&self->binding, function) < 0) return -1;
    self->binding.of_kernel = self->config.kernel;
    self->lock = PyThread_allocate_lock();
    if (self->lock) return 0;
    PyErr_NoMemory();
    return -1;
}

static void drop_spec(Specialiser *self, Py_ssize_t at) {
    Spec *spec = self->specs[at];
    memmove(&self->specs[at], &self->specs[at + 1], (size_t)(self->nspecs - at - 1) * sizeof *self->specs);
    self->nspecs--;
    spec->kept = false;
    lookup_drop(self);
    spec_release(spec);
}

void specialiser_forget(Specialiser *self) {
    while (self->nspecs > 0) drop_spec(self, self->nspecs - 1);
}

void specialiser_clear(Specialiser *self) {
    specialiser_forget(self);
    PyMem_Free(self->specs);
    self->specs = NULL;
    binding_clear(&self->binding);
    Py_CLEAR(self->options.given);
    Py_CLEAR(self->options.linked);
    Py_CLEAR(self->signatures);
    Py_CLEAR(self->function);
    if (self->lock && self->lock_process == getpid()) PyThread_free_lock(self->lock);
    self->lock = NULL;
}

int specialiser_traverse(Specialiser *self, visitproc visit, void *arg) {
    Py_VISIT(self->function);
    Py_VISIT(self->binding.names);
    Py_VISIT(self->options.given);
    Py_VISIT(self->signatures);
    for (Py_ssize_t i = 0; i < self->nspecs; i++) {
        const Spec *spec = self->specs[i];
        Code *code = spec->code;
        int owners = atomic_load(&code->references) - atomic_load(&code->followers);
        if (spec->references > 1 || owners > 1) continue; /* others keep it, too */
        int result = code_traverse(code, visit, arg);
        if (result) return result;
    }
    return 0;
}

static bool enter(Specialiser *self) {
    unsigned long me = errors_thread();
    if (self->lock_process != getpid()) { /* forked: whoever held it is in the parent */
        PyThread_type_lock fresh = PyThread_allocate_lock();
        if (fresh) self->lock = fresh;
        self->lock_process = getpid();
        self->lock_owner = 0;
    }
    if (self->lock_owner == me) return false;
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    self->lock_owner = me;
    return true;
}

static void leave(Specialiser *self, bool entered) {
    if (!entered) return;
    self->lock_owner = 0;
    PyThread_release_lock(self->lock);
}

static bool same_constants(const Const *const *a, const Const *const *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const Const *x = a ? a[i] : NULL, *y = b ? b[i] : NULL;
        if (!x != !y || (x && !const_equal(x, y))) return false;
    }
    return true;
}

/* Even, as no fingerprint of arguments is: both are looked up in one table. */
static uint64_t key_of_types(const Type *const *types, size_t count) {
    uint64_t key = hash_mix(0, count);
    for (size_t i = 0; i < count; i++) key = hash_mix(key, (uintptr_t)types[i]);
    return (key | 2) & ~UINT64_C(1);
}

static uint64_t key_of_asked(const Spec *spec) {
    uint64_t key = hash_mix(0, spec->nargs);
    for (size_t i = 0; i < spec->nargs; i++) key = hash_mix(key, (uintptr_t)spec->args[i].asked);
    return (key | 2) & ~UINT64_C(1);
}

/* Those that the table does not have by their types yet. */
static void note_types(Specialiser *self) {
    for (; self->noted < self->nspecs; self->noted++) {
        Spec *spec = self->specs[self->noted];
        lookup_note(self, key_of_types(spec->code->params, spec->nargs), spec);
        lookup_note(self, key_of_asked(spec), spec);
    }
}

typedef struct Wanted {
    const Config *config;
    const Type *const *types;
    const Const *const *konsts;
    size_t count;
    bool convert;
} Wanted;

/* As those that it was made for, or those that its code has. */
static bool has_types(const Spec *spec, const Type *const *types) {
    for (uint32_t i = 0; i < spec->nargs; i++)
        if (types[i] != spec->args[i].asked && types[i] != spec->args[i].type) return false;
    return true;
}

static bool is_like(const Spec *spec, const Wanted *wanted) {
    return spec->nargs == wanted->count && spec->convert == wanted->convert &&
           config_fits(&spec->code->config, wanted->config) && has_types(spec, wanted->types) &&
           same_constants(spec->code->param_konsts, wanted->konsts, wanted->count);
}

/* If it is wanted, with a reference: guards may run anything, and that may drop it. */
static bool take_if_wanted(Spec *spec, const Wanted *wanted) {
    if (!is_like(spec, wanted)) return false;
    spec->references++;
    bool holds = spec_guards(spec);
    if (!holds) spec_release(spec);
    return holds;
}

/* A new reference; NULL: none. */
static Spec *find_spec(Specialiser *self, const Config *config, const Type *const *types, const Const *const *konsts,
                       size_t count, bool convert) {
    const Wanted wanted = {config, types, konsts, count, convert};
    size_t at = 0;
    if (self->nspecs <= FEW_SPECS) {
        for (Py_ssize_t i = 0; i < self->nspecs; i++) {
            Spec *spec = self->specs[i];
            if (take_if_wanted(spec, &wanted)) return spec;
        }
        return NULL;
    }
    note_types(self);
    for (Spec *spec; (spec = lookup_next(self, key_of_types(types, count), &at)) != NULL;)
        if (take_if_wanted(spec, &wanted)) return spec;
    return NULL;
}

/* Whether a look at all of them is due: it costs their number, so among many it is taken now and then. */
static bool is_due(const Specialiser *self) { return self->nspecs < 4 * MAX_STALE || self->nspecs % MAX_STALE == 0; }

static int keep_spec(Specialiser *self, Spec *spec) {
    Py_ssize_t stale = 0, count = is_due(self) ? self->nspecs : 0;
    for (Py_ssize_t i = 0; i < count; i++) stale += self->specs[i]->stale;
    for (Py_ssize_t i = 0; stale > MAX_STALE && i < self->nspecs;) {
        if (self->specs[i]->stale)
            drop_spec(self, i), stale--;
        else
            i++;
    }
    Spec **grown = PyMem_Realloc(self->specs, (size_t)(self->nspecs + 1) * sizeof *grown);
    if (!grown) {
        spec_release(spec);
        PyErr_NoMemory();
        return -1;
    }
    self->specs = grown;
    self->specs[self->nspecs++] = spec;
    spec->kept = true;
    return 0;
}

void *compilation_run(Arena *arena, void *context) {
    Compilation *c = context;
    ModuleState *state = c->self->state;
    Diag diag;
    diag_init(&diag, arena);
    c->code = driver_compile(&state->session, c->config, c->self->identity, c->types, c->konsts, c->count, &diag);
    c->fine = c->code && specialiser_result_fits(c->self, c->code, c->declared, &diag);
    if (c->fine) return c->code;
    return errors_raise_diag(state, &diag);
}

/* What the function computes in float64 is told once for each place, as Python's own warnings are. */
static int warn_of_doubles(const Specialiser *self, const Code *code) {
    PyObject *globals = PyFunction_GET_GLOBALS(self->function), *category = self->state->errors[ERROR_WARNING];
    PyObject *registry = code->ndoubles ? PyDict_GetItemString(globals, "__warningregistry__") : NULL;
    if (code->ndoubles && !registry) {
        registry = PyDict_New();
        if (!registry || PyDict_SetItemString(globals, "__warningregistry__", registry) < 0)
            return Py_XDECREF(registry), -1;
        Py_DECREF(registry);
    }
    for (size_t i = 0; i < code->ndoubles; i++) {
        const DoubleNote *note = &code->doubles[i];
        PyObject *text = PyUnicode_FromFormat("%s computes in float64: %s", note->function, note->text);
        PyObject *file = text ? PyUnicode_DecodeFSDefault(note->file) : NULL;
        int told = file ? PyErr_WarnExplicitObject(category, text, file, (int)note->line, NULL, registry) : -1;
        Py_XDECREF(file);
        Py_XDECREF(text);
        if (told < 0) return -1;
    }
    return 0;
}

/* What it was asked for with: the types of arguments, and of what global variables hold now.  These may hold less than
 * its code makes of them. */
static void note_asked(const Specialiser *self, Spec *spec, const Type *const *types) {
    for (uint32_t i = 0; i < spec->nargs + spec->ncaptured; i++) {
        const Type *type = i < spec->nargs ? types[i] : NULL;
        PyObject *object = type ? NULL : objects_get(self->marshal->objects, spec->code->captured[i - spec->nargs]);
        if (object) type = marshal_typeof(self->marshal, object);
        if (!type) PyErr_Clear();
        if (type) spec->args[i].asked = type;
        spec->grown |= type != spec->args[i].type;
    }
}

/* The compilation itself; the lock is held.  A new reference. */
static Spec *compile(Specialiser *self, const Config *config, const Type *const *types, const Const *const *konsts,
                     size_t count, const Type *declared, bool convert) {
    Compilation compilation = {self, config, types, konsts, count, declared, NULL, false};
    compilation.code = ahead_take(&compilation);
    if (!compilation.code && !errors_on_large_stack(compilation_run, &compilation)) {
        code_release(compilation.code);
        return NULL;
    }
    self->misses++;
    Spec *spec = spec_new(compilation.code, declared, convert);
    if (!spec) return NULL;
    spec->references++; /* the caller's: warnings may run anything */
    note_asked(self, spec, types);
    if (keep_spec(self, spec) == 0 && warn_of_doubles(self, spec->code) == 0) return spec;
    spec_release(spec);
    return NULL;
}

Spec *specialiser_compile(Specialiser *self, const Config *config, const Type *const *types, const Const *const *konsts,
                          size_t count, const Type *declared, bool convert) {
    bool entered = enter(self);
    Spec *spec = find_spec(self, config, types, konsts, count, convert);
    if (!spec) spec = compile(self, config, types, konsts, count, declared, convert);
    leave(self, entered);
    return spec;
}

int specialiser_flush_pending(Specialiser *self) {
    if (!self->pending) return 0;
    self->pending = false;
    for (Py_ssize_t i = 0; !self->pending && i < PyList_GET_SIZE(self->signatures); i++) {
        Spec *spec = specialiser_for_signature(self, &self->config, (Signature *)PyList_GET_ITEM(self->signatures, i));
        self->pending = !spec; /* the same error next time */
        if (spec) spec_release(spec);
    }
    return self->pending ? -1 : 0;
}

/* Explicit signatures: the one whose conversions cost least in sum.  A tie goes to the earlier one.  New reference. */
static Spec *best_match(Specialiser *self, const Config *config, const Type *const *types, size_t count, Arena *arena) {
    Spec *best = NULL;
    int64_t best_cost = INT64_MAX;
    for (Py_ssize_t k = 0; k < self->nspecs; k++) {
        Spec *spec = self->specs[k];
        if (spec->nargs != count || !config_fits(&spec->code->config, config) || spec->stale) continue;
        int64_t sum = typeinfer_signature_cost(types, spec->code->params, count);
        if (sum >= 0 && sum < best_cost) {
            best = spec;
            best_cost = sum;
        }
    }
    if (best)
        best->references++;
    else
        specialiser_no_match(self, types, count, arena);
    return best;
}

/* `fresh`, which was made last, takes the place of `old` in the order of declaration; unless what ran meanwhile has
 * changed the list. */
static void replace_spec(Specialiser *self, Spec *old, Spec *fresh) {
    if (self->nspecs == 0 || self->specs[self->nspecs - 1] != fresh) return;
    for (Py_ssize_t i = 0; i < self->nspecs; i++) {
        if (self->specs[i] != old) continue;
        self->specs[i] = fresh;
        self->specs[--self->nspecs] = NULL;
        old->kept = false;
        lookup_drop(self);
        spec_release(old);
        return;
    }
}

Spec *specialiser_generalise(Specialiser *self, Spec *old) {
    const Code *code = old->code;
    Config config = self->config;
    Spec *fresh = NULL;
    bool entered = enter(self);
    if (!old->kept) /* another thread has, or it was forgotten */
        fresh = find_spec(self, &config, code->params, code->param_konsts, old->nargs, old->convert);
    if (fresh && fresh->code->config.codegen.facts & FACTS_OF_CALLS) {
        spec_release(fresh);
        fresh = NULL;
    }
    if (!fresh) {
        config.codegen.facts = code->config.codegen.facts & ~(uint32_t)FACTS_OF_CALLS;
        fresh = compile(self, &config, code->params, code->param_konsts, old->nargs, old->declared, old->convert);
        for (uint32_t i = 0; fresh && i < fresh->nargs; i++) fresh->args[i].asked = old->args[i].asked;
        if (fresh) fresh->grown = old->grown, replace_spec(self, old, fresh);
    }
    leave(self, entered);
    return fresh;
}

/* Explicit signatures whose guards no longer hold are compiled again. */
static int refresh_declared(Specialiser *self, const Config *config) {
    for (Py_ssize_t k = 0; k < self->nspecs; k++) {
        Spec *old = self->specs[k];
        if (!config_fits(&old->code->config, config)) continue;
        old->references++;
        bool holds = spec_guards(old);
        Py_ssize_t before = self->nspecs;
        Spec *fresh = holds ? NULL
                            : specialiser_compile(self, config, old->code->params, old->code->param_konsts, old->nargs,
                                                  old->declared, old->convert);
        if (fresh && self->nspecs > before) replace_spec(self, old, fresh);
        spec_release(old);
        if (!holds && !fresh) return -1;
        if (fresh) spec_release(fresh);
    }
    return 0;
}

/* For any texts, if the function is content with that, else for those that the arguments are. */
static Spec *compile_texts(Specialiser *self, const Config *config, const Type **types, const Const **konsts,
                           size_t count) {
    const Type *any_types[64];
    const Const *no_konsts[64];
    bool texts = false;
    for (size_t i = 0; i < count && count <= COUNT_OF(any_types); i++) {
        bool text = types[i]->kind == TY_STR;
        any_types[i] = text ? type_simple(self->state->session.types, TY_STRING) : types[i];
        no_konsts[i] = text ? NULL : konsts[i];
        texts |= text;
    }
    if (texts && self->marshal->host && !self->wants_texts) {
        Spec *spec = specialiser_compile(self, config, any_types, no_konsts, count, NULL, false);
        if (spec || !PyErr_ExceptionMatches(self->state->errors[ERROR_KRAIT])) return spec;
        PyErr_Clear();
        spec = specialiser_compile(self, config, types, konsts, count, NULL, false);
        self->wants_texts = spec != NULL;
        return spec;
    }
    return specialiser_compile(self, config, types, konsts, count, NULL, false);
}

/* Loops over such an array would decline the call. */
static bool has_long_array(PyObject *const *bound, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (PyArray_Check(bound[i]) && PyArray_SIZE((PyArrayObject *)bound[i]) > BRIEF_ROUNDS) return true;
    return false;
}

Spec *specialiser_for_arguments(Specialiser *self, const Config *config, PyObject *const *bound) {
    size_t count = (size_t)self->binding.nparams;
    Arena *const arena = arena_new();
    Spec *spec = NULL;
    ObjHold hold = {0}; /* what the types mention, until the specialisation holds it */
    Marshal marshal = *self->marshal;
    jmp_buf recovery;
    if (!arena) return (Spec *)PyErr_NoMemory();
    marshal.hold = &hold;
    if (setjmp(recovery)) {
        objects_let_go(&hold);
        arena_free(arena);
        return (Spec *)PyErr_NoMemory();
    }
    arena_on_exhaustion(arena, &recovery);
    const Type **types = ARENA_ARRAY(arena, const Type *, count);
    const Const **konsts = ARENA_ARRAY(arena, const Const *, count);
    for (size_t i = 0; i < count; i++) {
        types[i] = marshal_typeof_const(&marshal, bound[i], arena, &konsts[i]);
        if (!types[i]) {
            binding_name_argument(&self->binding, (Py_ssize_t)i);
            goto done;
        }
    }
    Config fitting = *config;
    if (has_long_array(bound, count)) fitting.codegen.facts &= ~(uint32_t)FACT_BRIEF;
    if (self->can_compile)
        spec = compile_texts(self, &fitting, types, konsts, count);
    else if (refresh_declared(self, config) == 0)
        spec = best_match(self, config, types, count, arena);
done:
    objects_let_go(&hold);
    arena_free(arena);
    return spec;
}

Spec *specialiser_for_signature(Specialiser *self, const Config *config, const Signature *signature) {
    if (signature->count != self->binding.nparams) {
        PyErr_Format(PyExc_TypeError, "the signature has %zd argument type%s, %U() has %zd parameter%s",
                     signature->count, signature->count == 1 ? "" : "s",
                     ((PyFunctionObject *)self->function)->func_qualname, self->binding.nparams,
                     self->binding.nparams == 1 ? "" : "s");
        return NULL;
    }
    size_t count = (size_t)signature->count;
    Spec *known = self->disabled ? find_spec(self, config, signature->args, NULL, count, true) : NULL;
    if (known) return known;
    if (self->disabled)
        return (Spec *)PyErr_Format(PyExc_RuntimeError, "%U() is not compiled for %R: disable_compile() was called",
                                    ((PyFunctionObject *)self->function)->func_qualname, signature);
    return specialiser_compile(self, config, signature->args, NULL, count, signature->result, true);
}
