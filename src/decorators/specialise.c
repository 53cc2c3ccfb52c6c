/* specialise.c: argument types to code that can be called.
 *
 * A Specialiser holds a function and the Specs made for it so far.  In: types of arguments.  Out: a Spec, compiled by
 * driver_compile unless an equal one is there whose guards hold.  One thread compiles for a function at a time;
 * others that want the same wait and find it made.  A thread that comes back while it compiles (a destructor that
 * calls the function) compiles on its own rather than wait for itself; after a fork a lock held by a thread that is
 * no longer there is made anew. */
#include "decorators/decorators.h"

#include <string.h> /* memcmp */
#include <unistd.h> /* getpid */

enum { MAX_STALE = 16 }; /* specialisations whose guards failed, kept in case the old values come back */

/* ---- Spec ---- */

static size_t align_up(size_t offset, size_t align) { return (offset + align - 1) / align * align; }

/* The dict whose version tells whether a guard's name was touched, or NULL. */
static PyObject *guard_dict(const Guard *guard) {
    if (guard->kind == GUARD_GLOBAL) return guard->holder;
    if (guard->kind == GUARD_ATTRIBUTE && PyModule_Check(guard->holder)) return PyModule_GetDict(guard->holder);
    return NULL;
}

static void add_stamp(Spec *spec, PyObject *dict) {
    for (uint32_t i = 0; i < spec->nstamps; i++)
        if (spec->stamps[i].dict == dict) return;
    spec->stamps[spec->nstamps++] = (GuardStamp){dict, 0};
}

static void take_stamps(Spec *spec) {
    for (uint32_t i = 0; i < spec->nstamps; i++) spec->stamps[i].version = dict_version(spec->stamps[i].dict);
}

bool spec_guards_slow(Spec *spec) {
    spec->stale = !guards_hold(spec->code->guards, spec->code->nguards);
    if (!spec->stale) take_stamps(spec);
    return !spec->stale;
}

static Spec *spec_new(Code *code, const Type *declared, bool convert) {
    size_t nargs = code->nparams;
    Spec *spec = PyMem_Calloc(1, sizeof *spec + nargs * sizeof *spec->args);
    GuardStamp *stamps = PyMem_Calloc(2 * code->nguards + 1, sizeof *stamps);
    FieldStamp *fields = PyMem_Calloc(code->nguards + 1, sizeof *fields);
    const Guard **arrays = PyMem_Calloc(code->nguards + 1, sizeof *arrays);
    if (!spec || !stamps || !fields || !arrays) {
        PyMem_Free(spec);
        PyMem_Free(stamps);
        PyMem_Free(fields);
        PyMem_Free(arrays);
        code_release(code);
        return (Spec *)PyErr_NoMemory();
    }
    spec->references = 1;
    spec->code = code;
    spec->stamps = stamps;
    spec->fields = fields;
    spec->arrays = arrays;
    spec->declared = declared;
    spec->convert = convert;
    spec->nargs = (uint32_t)nargs;
    size_t offset = 0;
    for (size_t i = 0; i < nargs; i++) {
        SpecArgument *argument = &spec->args[i];
        const Type *type = code->params[i];
        offset = align_up(offset, type_align(type));
        *argument = (SpecArgument){.type = type, .offset = (uint32_t)offset};
        offset += type_size(type);
        if (type->kind == TY_SCALAR && type->weak && type->scalar == SCALAR_INT64 && !type->object)
            argument->fast = FAST_INT;
        if (type->kind == TY_SCALAR && type->weak && type->scalar == SCALAR_FLOAT64) argument->fast = FAST_FLOAT;
        if (type->kind == TY_STR && code->param_konsts && code->param_konsts[i]) {
            argument->fast = FAST_TEXT;
            argument->text = PyUnicode_FromString(code->param_konsts[i]->text);
            if (!argument->text) {
                spec_release(spec);
                return NULL;
            }
        }
    }
    spec->result_offset = align_up(offset, 16);
    spec->exception_offset = align_up(spec->result_offset + type_size(code->result), 16);
    spec->buffer_bytes = spec->exception_offset + align_up(code->exception_bytes, 16) + 16;
    if (code->config.target == TARGET_HOST) spec->entry = (Entry *)host_code_address(code->host);
    for (size_t i = 0; i < code->nguards; i++) {
        const Guard *guard = &code->guards[i];
        PyObject *dict = guard_dict(guard);
        PyObject *const *field = guard_field(guard);
        if (dict)
            add_stamp(spec, dict);
        else if (field)
            spec->fields[spec->nfields++] = (FieldStamp){field, guard->value};
        else if (guard->kind == GUARD_ARRAY)
            spec->arrays[spec->narrays++] = guard;
        else
            spec->unstamped = true;
        if (guard->kind == GUARD_GLOBAL && guard->builtins && PyDict_Check(guard->builtins))
            add_stamp(spec, guard->builtins);
    }
    take_stamps(spec);
    return spec;
}

void spec_free(Spec *spec) {
    if (spec->free_extra) spec->free_extra(spec->extra);
    for (uint32_t i = 0; i < spec->nargs; i++) Py_XDECREF(spec->args[i].text);
    PyMem_Free(spec->stamps);
    PyMem_Free(spec->fields);
    PyMem_Free(spec->arrays);
    code_release(spec->code);
    PyMem_Free(spec);
}

MarshalResult spec_convert(const Marshal *marshal, const Spec *spec, PyObject *const *bound, char *to) {
    for (uint32_t i = 0; i < spec->nargs; i++) {
        MarshalResult result = marshal_convert(marshal, spec->args[i].type, bound[i], to + spec->args[i].offset);
        if (result != MARSHAL_OK) return result;
    }
    return MARSHAL_OK;
}

/* The object of a result whose signature declares another type than inference found. */
static PyObject *box_declared(const ModuleState *state, const Type *from_type, const char *from, const Type *declared) {
    if (declared->kind == TY_OPTIONAL) {
        if (from_type->kind == TY_NONE) Py_RETURN_NONE;
        if (from_type->kind != TY_OPTIONAL) return box_declared(state, from_type, from, declared->items[0]);
        if (!from[type_item_offset(from_type, 1)]) Py_RETURN_NONE;
        return box_declared(state, from_type->items[0], from, declared->items[0]);
    }
    if (declared->kind == TY_NONE) Py_RETURN_NONE;
    if (from_type->kind == TY_SCALAR && declared->kind == TY_SCALAR) {
        char bytes[16];
        MarshalResult result = marshal_convert_result((Scalar)from_type->scalar, from, (Scalar)declared->scalar, bytes);
        if (result == MARSHAL_MISMATCH) goto refuse;
        return result == MARSHAL_OK ? marshal_box(&state->marshal, declared, bytes) : NULL;
    }
    if (from_type->kind == TY_TUPLE && declared->kind == TY_TUPLE && from_type->count == declared->count) {
        PyObject *tuple = PyTuple_New((Py_ssize_t)declared->count);
        for (uint32_t i = 0; tuple && i < declared->count; i++) {
            PyObject *item = box_declared(state, from_type->items[i], from + type_item_offset(from_type, i),
                                          declared->items[i]);
            if (item)
                PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
            else
                Py_CLEAR(tuple);
        }
        return tuple;
    }
    if (from_type->kind == TY_ARRAY && declared->kind == TY_ARRAY) return marshal_box(&state->marshal, from_type, from);
refuse:
    PyErr_SetString(PyExc_TypeError, "the result does not convert to the declared type");
    return NULL;
}

PyObject *spec_box(const ModuleState *state, const Spec *spec, const char *result) {
    if (!spec->declared || spec->declared == spec->code->result)
        return marshal_box(&state->marshal, spec->code->result, result);
    return box_declared(state, spec->code->result, result, spec->declared);
}

/* ---- Specialiser ---- */

int specialiser_init(Specialiser *self, ModuleState *state, PyObject *function, const Options *options) {
    self->state = state;
    self->marshal = self->config.kernel ? &state->marshal : &state->host_marshal;
    self->options = *options;
    Py_XINCREF(self->options.given);
    self->function = Py_NewRef(function);
    self->can_compile = true;
    self->lock_process = getpid();
    options_config(options, &self->config);
    self->object = objects_ref(state->session.objects, function);
    if (!self->object || binding_init(&self->binding, function) < 0) return -1;
    self->lock = PyThread_allocate_lock();
    if (self->lock) return 0;
    PyErr_NoMemory();
    return -1;
}

static void drop_spec(Specialiser *self, Py_ssize_t at) {
    Spec *spec = self->specs[at];
    memmove(&self->specs[at], &self->specs[at + 1], (size_t)(self->nspecs - at - 1) * sizeof *self->specs);
    self->nspecs--;
    spec_release(spec);
}

void specialiser_clear(Specialiser *self) {
    while (self->nspecs > 0) drop_spec(self, self->nspecs - 1);
    PyMem_Free(self->specs);
    self->specs = NULL;
    binding_clear(&self->binding);
    Py_CLEAR(self->options.given);
    Py_CLEAR(self->pending);
    Py_CLEAR(self->function);
    if (self->lock && self->lock_process == getpid()) PyThread_free_lock(self->lock);
    self->lock = NULL;
}

int specialiser_traverse(Specialiser *self, visitproc visit, void *arg) {
    Py_VISIT(self->function);
    Py_VISIT(self->binding.names);
    Py_VISIT(self->options.given);
    Py_VISIT(self->pending);
    return 0;
}

bool specialise_config_equal(const Config *a, const Config *b) {
    const CodegenOptions *x = &a->codegen, *y = &b->codegen;
    return a->target == b->target && a->kernel == b->kernel && a->promotion == b->promotion && x->entry == y->entry &&
           x->noalias == y->noalias && x->compute_capability == y->compute_capability &&
           x->ufunc.rows == y->ufunc.rows && x->ufunc.two_axes == y->ufunc.two_axes &&
           x->ufunc.immediate == y->ufunc.immediate;
}

static bool enter(Specialiser *self) {
    unsigned long me = PyThread_get_thread_ident();
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

static Spec *find_spec(const Specialiser *self, const Config *config, const Type *const *types,
                       const Const *const *konsts, size_t count, bool convert) {
    for (Py_ssize_t i = 0; i < self->nspecs; i++) {
        Spec *spec = self->specs[i];
        if (spec->nargs != count || spec->convert != convert || !specialise_config_equal(&spec->code->config, config))
            continue;
        if (count && memcmp(spec->code->params, types, count * sizeof *types) != 0) continue;
        if (same_constants(spec->code->param_konsts, konsts, count) && spec_guards(spec)) return spec;
    }
    return NULL;
}

static int keep_spec(Specialiser *self, Spec *spec) {
    Py_ssize_t stale = 0;
    for (Py_ssize_t i = 0; i < self->nspecs; i++) stale += self->specs[i]->stale;
    for (Py_ssize_t i = 0; stale > MAX_STALE && i < self->nspecs; i++)
        if (self->specs[i]->stale) {
            drop_spec(self, i);
            break;
        }
    Spec **grown = PyMem_Realloc(self->specs, (size_t)(self->nspecs + 1) * sizeof *grown);
    if (!grown) {
        spec_release(spec);
        PyErr_NoMemory();
        return -1;
    }
    self->specs = grown;
    self->specs[self->nspecs++] = spec;
    return 0;
}

static bool check_declared(const Specialiser *self, const Code *code, const Type *declared, Diag *diag) {
    if (!declared || declared->kind == TY_NONE || declared == code->result ||
        typeinfer_conversion_cost(code->result, declared) > 0)
        return true;
    (void)self;
    return diag_fail(diag, DIAG_TYPING, NULL, (Span){0},
                     "the signature declares the result %s, the function returns %s", type_text(diag->arena, declared),
                     type_text(diag->arena, code->result));
}

/* The compilation itself; the lock is held. */
static Spec *compile(Specialiser *self, const Config *config, const Type *const *types, const Const *const *konsts,
                     size_t count, const Type *declared, bool convert) {
    ModuleState *state = self->state;
    Arena *arena = arena_new();
    Spec *spec = NULL;
    Code *code = NULL;
    Diag diag;
    if (!arena) return (Spec *)PyErr_NoMemory();
    diag_init(&diag, arena);
    code = driver_compile(&state->session, config, self->object, types, konsts, count, &diag);
    if (code && !check_declared(self, code, declared, &diag)) {
        code_release(code);
        code = NULL;
    }
    if (code) {
        self->misses++;
        spec = spec_new(code, declared, convert);
        if (spec && keep_spec(self, spec) < 0) spec = NULL;
    } else {
        errors_raise_diag(state, &diag);
    }
    arena_free(arena);
    return spec;
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
    PyObject *pending = self->pending;
    if (!pending) return 0;
    self->pending = NULL;
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(pending); i++)
        if (!specialiser_for_signature(self, &self->config, (Signature *)PyList_GET_ITEM(pending, i))) result = -1;
    if (result < 0) self->pending = Py_NewRef(pending); /* the same error next time */
    Py_DECREF(pending);
    return result;
}

static int no_match(const Specialiser *self, const Type *const *types, size_t count, Arena *arena) {
    Buf text;
    buf_init(&text, arena);
    buf_printf(&text, "no signature of %s fits the arguments (",
               PyUnicode_AsUTF8(((PyFunctionObject *)self->function)->func_qualname));
    for (size_t i = 0; i < count; i++) buf_printf(&text, "%s%s", i ? ", " : "", type_text(arena, types[i]));
    buf_puts(&text, "); there is");
    for (Py_ssize_t k = 0; k < self->nspecs; k++) {
        if (self->specs[k]->stale) continue;
        buf_puts(&text, " (");
        for (size_t i = 0; i < self->specs[k]->nargs; i++)
            buf_printf(&text, "%s%s", i ? ", " : "", type_text(arena, self->specs[k]->args[i].type));
        buf_puts(&text, ")");
    }
    PyErr_SetString(PyExc_TypeError, text.text);
    return -1;
}

/* Explicit signatures: the one whose conversions cost least in sum.  A tie goes to the earlier one. */
static Spec *best_match(Specialiser *self, const Config *config, const Type *const *types, size_t count, Arena *arena) {
    Spec *best = NULL;
    int64_t best_cost = INT64_MAX;
    for (Py_ssize_t k = 0; k < self->nspecs; k++) {
        Spec *spec = self->specs[k];
        int64_t sum = 0;
        if (spec->nargs != count || !specialise_config_equal(&spec->code->config, config) || spec->stale) continue;
        for (size_t i = 0; i < count && sum >= 0; i++) {
            int cost = types[i] == spec->args[i].type ? 0 : typeinfer_conversion_cost(types[i], spec->args[i].type);
            if (types[i] != spec->args[i].type && cost <= 0)
                sum = -1;
            else
                sum += cost;
        }
        if (sum >= 0 && sum < best_cost) {
            best = spec;
            best_cost = sum;
        }
    }
    if (!best) no_match(self, types, count, arena);
    return best;
}

/* Explicit signatures whose guards no longer hold are compiled again. */
static int refresh_declared(Specialiser *self, const Config *config) {
    for (Py_ssize_t k = 0; k < self->nspecs; k++) {
        Spec *old = self->specs[k];
        if (!specialise_config_equal(&old->code->config, config) || spec_guards(old)) continue;
        Py_ssize_t before = self->nspecs;
        old->references++;
        Spec *fresh = specialiser_compile(self, config, old->code->params, old->code->param_konsts, old->nargs,
                                          old->declared, old->convert);
        if (fresh && self->nspecs > before) { /* takes the old one's place in the order of declaration */
            for (Py_ssize_t i = 0; i < self->nspecs; i++)
                if (self->specs[i] == old) {
                    self->specs[i] = fresh;
                    self->specs[--self->nspecs] = NULL;
                    spec_release(old);
                    break;
                }
        }
        spec_release(old);
        if (!fresh) return -1;
    }
    return 0;
}

Spec *specialiser_for_arguments(Specialiser *self, const Config *config, PyObject *const *bound) {
    size_t count = (size_t)self->binding.nparams;
    Arena *arena = arena_new();
    Spec *spec = NULL;
    jmp_buf recovery;
    if (!arena) return (Spec *)PyErr_NoMemory();
    if (setjmp(recovery)) {
        arena_free(arena);
        return (Spec *)PyErr_NoMemory();
    }
    arena_on_exhaustion(arena, &recovery);
    const Type **types = ARENA_ARRAY(arena, const Type *, count);
    const Const **konsts = ARENA_ARRAY(arena, const Const *, count);
    for (size_t i = 0; i < count; i++) {
        types[i] = marshal_typeof_const(self->marshal, bound[i], arena, &konsts[i]);
        if (!types[i]) {
            PyObject *type, *value, *traceback, *name = PyTuple_GET_ITEM(self->binding.names, i);
            PyErr_Fetch(&type, &value, &traceback);
            PyErr_Format(type, "%U(), argument '%U': %S", ((PyFunctionObject *)self->function)->func_qualname, name,
                         value);
            Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
            goto done;
        }
    }
    if (self->can_compile)
        spec = specialiser_compile(self, config, types, konsts, count, NULL, false);
    else if (refresh_declared(self, config) == 0)
        spec = best_match(self, config, types, count, arena);
done:
    arena_free(arena);
    return spec;
}

Spec *specialiser_for_signature(Specialiser *self, const Config *config, const Signature *signature) {
    if (signature->count != self->binding.nparams) {
        PyErr_Format(PyExc_TypeError, "the signature has %zd argument types, %U() has %zd parameters", signature->count,
                     ((PyFunctionObject *)self->function)->func_qualname, self->binding.nparams);
        return NULL;
    }
    size_t count = (size_t)signature->count;
    if (self->disabled && !find_spec(self, config, signature->args, NULL, count, true))
        return (Spec *)PyErr_Format(PyExc_RuntimeError, "%U() is not compiled for %R: disable_compile() was called",
                                    ((PyFunctionObject *)self->function)->func_qualname, signature);
    return specialiser_compile(self, config, signature->args, NULL, count, signature->result, true);
}
