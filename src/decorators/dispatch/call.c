/* call.c: the call of a jitted function: unpack the arguments into a buffer on the C stack as the types of a
 * specialisation, check that what it froze still holds, call its entry, box the result.  Only arguments that no
 * specialisation takes lead on to specialise.c.  Besides the result, memory
 * is asked for only by arguments that are copied (lists, dicts, sets, instances) and by those that the stack's buffer
 * has no room for. */
#include "decorators/decorators.h"

#include <stddef.h> /* max_align_t */

#include "runtime/heap/heap.h" /* heap_release, heap_forget_cycles */

enum { STACK_BUFFER = 1024, MAX_STACK_PARAMS = 32 };

/* It runs when the call is over, and lists among the arguments, which are copies, have been written back. */
static PyObject *box_generator(Dispatcher *self, const Spec *spec, const Marshal *marshal, size_t written,
                               PyObject *const *bound, const char *result) {
    uintptr_t owner = *(const uintptr_t *)(const void *)result;
    HeapHead *object = (HeapHead *)(owner & ~(uintptr_t)OWNER_BITS);
    const Specialiser *core = &self->core;
    if (!written) return generator_new(self, spec, marshal->origins, bound, object);
    heap_release(object);
    return PyErr_Format(core->state->errors[ERROR_UNSUPPORTED],
                        "the generator %U() changes a list, dict or set among its arguments: what it does after the "
                        "call would not be seen\n  hint: change it in a function that calls this one, or pass an array",
                        ((PyFunctionObject *)core->function)->func_qualname);
}

/* Without the interpreter's lock, or by code that asks for the texts of its exceptions.  *kept: objects that the result
 * may refer to. */
static int32_t enter_unusual(Dispatcher *self, Spec *spec, const Marshal *marshal, char *buffer, void *result,
                             void *exception, PyObject **kept) {
    const bool tells = spec->code->tells_caught;
    int32_t status;
    PythonCaller caller = {self->core.state, spec->code, PyFunction_GET_GLOBALS(self->core.function), false, NULL,
                           marshal->origins};
    PythonCaller *before = tells ? python_calls_enter(&caller) : NULL;
    if (self->core.options.nogil) {
        if (!spec->holds_lists) heap_forget_cycles();
        PyThreadState *saved = PyEval_SaveThread();
        status = spec->entry(buffer, result, exception);
        PyEval_RestoreThread(saved);
    } else {
        status = spec->entry(buffer, result, exception);
    }
    *kept = Py_XNewRef(caller.kept);
    if (tells) python_calls_leave(&caller, before);
    return status;
}

/* In the place of a result: the code has left the call to another specialisation (FACTS_OF_CALLS). */
static PyObject *declined(Spec *spec) { return (PyObject *)spec; }

/* The buffer holds the arguments; of containers among them, the first `written` are written back.  Whoever calls this
 * keeps the specialisation alive: recompile() may drop it meanwhile. */
static PyObject *run_keeping(Dispatcher *self, Spec *spec, const Marshal *marshal, size_t written,
                             PyObject *const *bound, char *buffer, PyObject **given) {
    void *exception = buffer + spec->exception_offset;
    char *result = buffer + spec->result_offset;
    bool unusual = self->core.options.nogil || spec->code->tells_caught;
    if (KRAIT_UNLIKELY(spec->is_deep) && !spec_fits_stack(spec, self->core.function)) return NULL;
    int32_t status = KRAIT_UNLIKELY(unusual) ? enter_unusual(self, spec, marshal, buffer, result, exception, given)
                                             : spec->entry(buffer, result, exception);
    if (KRAIT_UNLIKELY(status == STATUS_DECLINED)) return declined(spec);
    bool kept = !written || marshal_write_back(marshal, written);
    if (KRAIT_UNLIKELY(status != 0))
        return errors_raise_site(self->core.state, spec->code, status, exception,
                                 PyFunction_GET_GLOBALS(self->core.function));
    const Type *type = spec->code->result;
    if (KRAIT_UNLIKELY(!kept)) return marshal_release(type, result), NULL;
    if (spec->result == FAST_INT) return PyLong_FromLongLong(*(int64_t *)result);
    if (spec->result == FAST_FLOAT) return PyFloat_FromDouble(*(double *)result);
    if (type->kind == TY_GENERATOR) return box_generator(self, spec, marshal, written || *given, bound, result);
    return spec_box(marshal, spec, result);
}

static PyObject *run(Dispatcher *self, Spec *spec, const Marshal *marshal, size_t written, PyObject *const *bound,
                     char *buffer) {
    PyObject *given = NULL;
    PyObject *result = run_keeping(self, spec, marshal, written, bound, buffer, &given);
    Py_XDECREF(given);
    return result;
}

typedef MarshalResult Fill(const Marshal *marshal, Spec *spec, PyObject *const *bound, char *to);

/* MARSHAL_OK: the call was made and *result is its outcome, an object or NULL with an exception. */
static MarshalResult try_call_with_containers(Dispatcher *self, Spec *spec, Fill *fill, PyObject *const *bound,
                                              bool chosen, char *buffer, PyObject **result) {
    Origins origins;
    Marshal marshal = *self->core.marshal;
    size_t written = 0;
    if (self->core.options.nogil) heap_forget_cycles();
    origins_begin(&origins);
    marshal.origins = &origins;
    marshal.grown = spec->grown;
    bool convert = fill == spec_convert;
    MarshalResult filled = spec_fill_containers(&marshal, spec, bound, buffer, convert, chosen || convert, &written);
    if (filled == MARSHAL_OK) *result = run(self, spec, &marshal, written, bound, buffer);
    spec_give_up(spec, buffer);
    spec->refused_name = origins.refused;
    spec->wanted = origins.wanted;
    spec->met_twice = origins.differs;
    origins_end(&origins);
    return filled;
}

static void name_refused(const Dispatcher *self, const Spec *spec) {
    if (spec->refused < spec->nargs) binding_name_argument(&self->core.binding, spec->refused);
}

static MarshalResult try_call(Dispatcher *self, Spec *spec, Fill *fill, PyObject *const *bound, bool chosen,
                              PyObject **result) {
    char *heap = PyMem_Calloc(1, spec->buffer_bytes + 64); /* lists that were not filled in yet are none */
    if (!heap) return PyErr_NoMemory(), MARSHAL_ERROR;
    char *buffer = (char *)(((uintptr_t)heap + 63) & ~(uintptr_t)63);
    MarshalResult filled;
    if (spec->holds_lists) {
        filled = try_call_with_containers(self, spec, fill, bound, chosen, buffer, result);
    } else if ((filled = fill(self->core.marshal, spec, bound, buffer)) == MARSHAL_OK) {
        *result = run(self, spec, self->core.marshal, 0, bound, buffer);
    }
    if (filled == MARSHAL_ERROR) name_refused(self, spec);
    PyMem_Free(heap);
    return filled;
}

static MarshalResult try_call_on_stack(Dispatcher *self, Spec *spec, Fill *fill, PyObject *const *bound, bool chosen,
                                       PyObject **result) {
    _Alignas(64) char buffer[STACK_BUFFER];
    if (KRAIT_UNLIKELY(spec->buffer_bytes > sizeof buffer || spec->holds_lists))
        return try_call(self, spec, fill, bound, chosen, result);
    MarshalResult filled = fill(self->core.marshal, spec, bound, buffer);
    if (filled == MARSHAL_OK) *result = run(self, spec, self->core.marshal, 0, bound, buffer);
    if (filled == MARSHAL_ERROR) name_refused(self, spec);
    return filled;
}

/* The same; what has declined the call is not asked again.  chosen: the types of all arguments have led to it. */
static MarshalResult call_spec(Dispatcher *self, Spec *spec, Fill *fill, PyObject *const *bound, bool chosen,
                               PyObject **result) {
    MarshalResult filled = try_call_on_stack(self, spec, fill, bound, chosen, result);
    if (!KRAIT_UNLIKELY(filled == MARSHAL_OK && *result == declined(spec))) return filled;
    *result = NULL;
    Spec *general = specialiser_generalise(&self->core, spec);
    if (!general) return MARSHAL_ERROR;
    filled = try_call_on_stack(self, general, fill, bound, true, result);
    spec_release(general);
    return filled;
}

static void refuse_attribute(const Spec *spec, PyObject *name) {
    PyObject *wanted = type_to_text(spec->wanted);
    if (wanted)
        PyErr_Format(PyExc_TypeError,
                     "%U() puts a value of type %U into the attribute '%s', which holds one of another type before the "
                     "call, and an attribute has one type in compiled code: set it to a value of type %U before the "
                     "call, or convert what is put into it",
                     name, wanted, spec->refused_name, wanted);
    Py_XDECREF(wanted);
}

/* It was made for these arguments, and does not take them. */
static void refuse_arguments(const Dispatcher *self, const Spec *spec) {
    PyObject *name = ((PyFunctionObject *)self->core.function)->func_qualname;
    if (spec->convert && !spec->outgrown)
        PyErr_Format(PyExc_TypeError, "an argument of %U() does not convert to its declared type", name);
    else if (spec->met_twice)
        PyErr_Format(PyExc_TypeError,
                     "an object is reached in two ways among the arguments of %U(), and what is put into it has two "
                     "types: pass two objects, or put values of one type into it",
                     name);
    else if (spec->refused_name)
        refuse_attribute(spec, name);
    else
        PyErr_Format(PyExc_TypeError,
                     "%U() puts values of another type into an argument than it holds: convert the one or the other",
                     name);
    if (spec->refused < spec->nargs) binding_name_argument(&self->core.binding, spec->refused);
}

/* By the one specialisation for these arguments.  Of several signatures the one that fits may be found to be outgrown
 * only here, by its captures: then there is other code for it the second time. */
static PyObject *call_chosen(Dispatcher *self, PyObject *const *bound, uint64_t fingerprint, bool again) {
    PyObject *result = NULL;
    Spec *spec = specialiser_for_arguments(&self->core, &self->core.config, bound);
    if (!spec) return NULL;
    if (fingerprint && spec->kept) lookup_note(&self->core, fingerprint, spec);
    MarshalResult filled = call_spec(self, spec, spec->convert ? spec_convert : spec_unpack, bound, true, &result);
    bool refused = filled == MARSHAL_MISMATCH, outgrown = refused && spec->outgrown;
    if (refused && (!outgrown || again)) refuse_arguments(self, spec);
    spec_release(spec);
    return outgrown && !again ? call_chosen(self, bound, fingerprint, true) : result;
}

static PyObject *call_slow(Dispatcher *self, PyObject *const *bound, uint64_t fingerprint) {
    return specialiser_flush_pending(&self->core) < 0 ? NULL : call_chosen(self, bound, fingerprint, false);
}

/* MARSHAL_MISMATCH: it is not for these arguments, or what it froze has changed. */
static inline MarshalResult try_spec(Dispatcher *self, Spec *spec, Fill *fill, PyObject *const *bound,
                                     PyObject **result) {
    MarshalResult filled = MARSHAL_MISMATCH;
    spec->references++;                    /* guards and conversions may run anything, and that may drop it */
    bool chosen = !self->core.can_compile; /* by the signatures, in their order */
    if (spec_guards(spec)) filled = call_spec(self, spec, fill, bound, chosen, result);
    spec_release(spec);
    self->core.hits += filled == MARSHAL_OK;
    return filled;
}

static PyObject *call_one_of_many(Dispatcher *self, PyObject *const *bound) {
    Specialiser *core = &self->core;
    PyObject *result = NULL;
    size_t at = 0;
    MarshalResult tried = core->recent ? try_spec(self, core->recent, spec_unpack, bound, &result) : MARSHAL_MISMATCH;
    if (tried != MARSHAL_MISMATCH) return result;
    uint64_t fingerprint = lookup_fingerprint(core, bound);
    for (Spec *spec; (spec = lookup_next(core, fingerprint, &at)) != NULL;) {
        spec->references++; /* the call may drop it */
        tried = try_spec(self, spec, spec_unpack, bound, &result);
        if (tried == MARSHAL_OK && core->nspecs > FEW_SPECS && spec->kept) core->recent = spec;
        spec_release(spec);
        if (tried != MARSHAL_MISMATCH) return result;
    }
    return call_slow(self, bound, fingerprint);
}

static PyObject *call_bound(Dispatcher *self, PyObject *const *bound) {
    Specialiser *core = &self->core;
    bool convert = !core->can_compile && core->nspecs == 1; /* one signature: no choice */
    if (KRAIT_UNLIKELY(core->nspecs > FEW_SPECS)) return call_one_of_many(self, bound);
    for (Py_ssize_t i = 0; i < core->nspecs; i++) {
        PyObject *result = NULL;
        MarshalResult tried = try_spec(self, core->specs[i], convert ? spec_convert : spec_unpack, bound, &result);
        if (tried != MARSHAL_MISMATCH) return result;
    }
    return call_slow(self, bound, 0);
}

static PyObject *call_general(Dispatcher *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *few[MAX_STACK_PARAMS], **bound = few, *rest = NULL, *result = NULL;
    size_t nparams = (size_t)self->core.binding.nparams;
    if (nparams > COUNT_OF(few) && !(bound = PyMem_Malloc(nparams * sizeof *bound))) return PyErr_NoMemory();
    if (binding_fill(&self->core.binding, args, nargs, kwnames, bound, &rest) == 0) result = call_bound(self, bound);
    Py_XDECREF(rest);
    if (bound != few) PyMem_Free(bound);
    return result;
}

PyObject *dispatcher_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Dispatcher *self = (Dispatcher *)callable;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (KRAIT_UNLIKELY(!binding_direct(&self->core.binding, nargs, kwnames)))
        return call_general(self, args, nargs, kwnames);
    return call_bound(self, args);
}
