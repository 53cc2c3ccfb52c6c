/* dispatch.h: the path of a call: the arguments of a call find the specialisation that was compiled for their types.
 *
 *   binding.c      arguments -> parameters, as Python binds
 *   spec.c         one specialisation: unpacking plan, conversion and boxing
 *   watch.c        whether what it took as constants is still so
 *   lookup.c       fingerprint of the arguments' types -> specialisation
 *   specialise.c   argument types -> Code: compilation, locking, explicit signatures
 *   call.c         @jit: the call itself
 *
 * Few specialisations are tried in turn, which is as fast as it gets.  Many are looked up: each argument's type makes a
 * few bits of a fingerprint (runtime/marshal/fingerprint.c), which a hash table leads to candidates; unpacking decides,
 * since it checks every type anyway.  So a wrong candidate costs time, never a wrong call, and the fingerprint need not
 * tell all types apart.  Readers take no lock: an entry is complete before its fingerprint appears, a larger table
 * before the pointer to it; writers hold the GIL. */
#ifndef KRAIT_DECORATORS_DISPATCH_H
#define KRAIT_DECORATORS_DISPATCH_H

#include <Python.h> /* PyObject */

#include "decorators/options.h"      /* Options */
#include "driver/driver.h"           /* Code, Config */
#include "runtime/marshal/marshal.h" /* Marshal */

typedef struct Signature Signature;

/* ---- binding.c ---- */

typedef struct Binding { /* how Python binds a call's arguments to the function's parameters, in the order of its local
                            variables */
    Py_ssize_t ndirect;  /* so many positional arguments are the parameters as they stand; -1: no call's are */
    PyObject *function;  /* borrowed from the owner */
    PyObject *names;     /* tuple of local variables */
    Py_ssize_t npositional, npositional_only, nkeyword_only, nparams;
    bool varargs, varkeywords;
    bool of_kernel; /* which no instance is bound to */
} Binding;

int binding_init(Binding *binding, PyObject *function);
void binding_clear(Binding *binding);
/* True: the call's arguments are the parameters as they stand. */
static inline bool binding_direct(const Binding *binding, Py_ssize_t nargs, PyObject *kwnames) {
    return nargs == binding->ndirect && !kwnames;
}
/* Fills bound[nparams] with borrowed references; *rest, a new reference or NULL, keeps what *args and **keywords
 * are alive. */
/* Puts the function's name and the parameter's before the text of the exception that is set. */
void binding_name_argument(const Binding *binding, Py_ssize_t parameter);
int binding_fill(const Binding *binding, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **bound,
                 PyObject **rest);

/* ---- spec.c: one specialisation ---- */

typedef enum FastKind { FAST_OTHER, FAST_INT, FAST_FLOAT, FAST_TEXT, FAST_DEVICE_ARRAY } FastKind;

typedef struct SpecArgument { /* how one argument is unpacked, found once */
    const Type *type;
    const Type *asked; /* what the code was asked for with: it may hold less than `type` */
    MarshalTake *take;
    uint32_t offset;
    uint8_t fast;   /* FastKind */
    PyObject *text; /* FAST_TEXT: the str that it must equal */
} SpecArgument;

typedef struct FieldStamp { /* a field of a cell or a function, and what it held; the guard keeps both alive */
    PyObject *const *field;
    PyObject *value;
} FieldStamp;

typedef int32_t Entry(const void *args, void *result, void *exception);

/* One specialisation ready to be called. */
typedef struct Spec {
    Py_ssize_t references; /* under the GIL */
    Code *code;
    Entry *entry;         /* TARGET_HOST */
    void *extra;          /* of the owner: what a kernel keeps per specialisation */
    const Type *declared; /* result type of an explicit signature, or NULL */
    FastKind result;      /* FAST_INT, FAST_FLOAT: it becomes an object without a call through marshal */
    bool convert;         /* made for an explicit signature: arguments are converted */
    bool kept;            /* its Specialiser has not forgotten it */
    bool stale;           /* a guard failed at the last look */
    bool touched;         /* something that the guards look at was changed since */
    bool unwatched;       /* nobody tells of some guard's object: look every time */
    bool is_deep;         /* it needs more of the stack than any thread is sure to have */
    bool holds_lists;     /* some argument: it is a copy, written back and given up after the call; or ncaptured > 0 */
    uint32_t refused;     /* the argument that was not taken last */
    const char *refused_name; /* and its attribute; NULL: none */
    const Type *wanted;       /* which has this type in the code */
    bool met_twice;           /* that was an object with another type elsewhere among them */
    bool grown;               /* its types hold more than the arguments did that it was made for */
    bool outgrown;            /* what a global variable holds has another type now */
    uint32_t nwatches, nfields, narrays, nargs, ncaptured;
    struct Watch *watches;
    FieldStamp *fields;                                   /* looked at every time */
    const Guard **arrays;                                 /* of global arrays, likewise */
    size_t result_offset, exception_offset, buffer_bytes; /* args lie at 0 */
    void (*free_extra)(void *extra);
    SpecArgument args[]; /* and ncaptured behind them: Code.captured */
} Spec;

Spec *spec_new(Code *code, const Type *declared, bool convert); /* takes the Code; NULL: exception set */
void spec_free(Spec *spec);
static inline void spec_release(Spec *spec) {
    if (--spec->references == 0) spec_free(spec);
}

/* ---- watch.c: guards without looking at them ---- */

/* From here on the interpreter tells when a dict, a class or a function changes; before, dicts count their changes. */
#define KRAIT_WATCHERS (PY_VERSION_HEX >= 0x030C0000)

#if KRAIT_WATCHERS
typedef struct Watch { /* of a specialisation, on a name of a dict, on a class or a function */
    uint64_t key;
    Spec *spec;
    struct Watch *next, **before; /* in its list */
} Watch;
#else
typedef struct Watch { /* a dict that looked right when it had this version */
    PyObject *dict;
    uint64_t version;
} Watch;
#endif

/* -1: exception set. */
int watch_guards(Spec *spec);
void watch_end(Spec *spec);
/* Looks at all guards. */
bool watch_look(Spec *spec);

/* Whether nothing that a specialisation took as constants can have changed since the last look. */
static inline bool spec_unchanged(const Spec *spec) {
    if (spec->touched || spec->unwatched) return false;
#if !KRAIT_WATCHERS
    for (uint32_t i = 0; i < spec->nwatches; i++)
        if (((PyDictObject *)spec->watches[i].dict)->ma_version_tag != spec->watches[i].version) return false;
#endif
    for (uint32_t i = 0; i < spec->nfields; i++)
        if (*spec->fields[i].field != spec->fields[i].value) return false;
    for (uint32_t i = 0; i < spec->narrays; i++)
        if (!guard_array_holds(spec->arrays[i])) return false;
    return true;
}

/* Whether the frames of one that is deep fit what is left of the stack, beyond which the process would end; false: an
 * exception is set.  function: the user's, for its name. */
bool spec_fits_stack(const Spec *spec, PyObject *function);
/* Whether all of it is still so. */
static inline bool spec_guards(Spec *spec) { return !spec->outgrown && (spec_unchanged(spec) || watch_look(spec)); }

/* An argument's bytes, if it has exactly the specialisation's type. */
static inline MarshalResult spec_unpack_one(const Marshal *marshal, const SpecArgument *argument, PyObject *object,
                                            char *to) {
    if (argument->fast == FAST_FLOAT && PyFloat_CheckExact(object)) {
        *(double *)(to + argument->offset) = PyFloat_AS_DOUBLE(object);
        return MARSHAL_OK;
    }
    if (argument->fast == FAST_INT && marshal_read_compact(object, (int64_t *)(to + argument->offset)))
        return MARSHAL_OK;
    if (argument->fast == FAST_TEXT)
        return object == argument->text || (PyUnicode_Check(object) && PyUnicode_Compare(object, argument->text) == 0)
                   ? MARSHAL_OK
                   : MARSHAL_MISMATCH;
    if (argument->fast == FAST_DEVICE_ARRAY && Py_IS_TYPE(object, marshal->device_array) &&
        ((DeviceArray *)object)->type == argument->type) {
        marshal_describe_device_array((DeviceArray *)object, argument->type->ndim, to + argument->offset);
        return MARSHAL_OK;
    }
    return argument->take(marshal, argument->type, object, to + argument->offset, false);
}

/* The arguments' bytes. */
static inline MarshalResult spec_unpack(const Marshal *marshal, Spec *spec, PyObject *const *bound, char *to) {
    for (uint32_t i = 0; i < spec->nargs; i++) {
        MarshalResult result = spec_unpack_one(marshal, &spec->args[i], bound[i], to);
        if (KRAIT_UNLIKELY(result != MARSHAL_OK)) return spec->refused = i, result;
    }
    return MARSHAL_OK;
}
/* Either, for a call with containers among the arguments: those that the code may write to are met first, *written of
 * them, and that many are written back after the call.  What has not its type by itself (Origins.untold), as an empty
 * list, is taken by code alone that was made for such, unless `chosen`: what a call gives is not to depend on the calls
 * before it. */
MarshalResult spec_fill_containers(const Marshal *marshal, Spec *spec, PyObject *const *bound, char *to, bool convert,
                                   bool chosen, size_t *written);
void spec_give_up(const Spec *spec, const char *arguments); /* the copies, also of a call that was not made */
MarshalResult spec_convert(const Marshal *marshal, Spec *spec, PyObject *const *bound, char *to);
/* Result bytes to an object, by way of the declared type if there is one. */
PyObject *spec_box(const Marshal *marshal, const Spec *spec, const char *result);

/* ---- lookup.c ---- */

enum { FEW_SPECS = 4 };

typedef struct SpecEntry {
    _Atomic uint64_t fingerprint; /* 0: free */
    Spec *spec;                   /* borrowed from Specialiser.specs */
} SpecEntry;

typedef struct SpecTable { /* open addressing; at least half of it free */
    size_t size, used;
    SpecEntry entries[];
} SpecTable;

typedef struct Specialiser Specialiser;
/* Of the arguments' types; never 0. */
uint64_t lookup_fingerprint(const Specialiser *core, PyObject *const *bound);
/* The next specialisation that was found with this fingerprint; *at: 0 to begin with.  NULL: no more. */
Spec *lookup_next(const Specialiser *core, uint64_t fingerprint, size_t *at);
/* Arguments with this fingerprint take this specialisation.  Without memory nothing is noted. */
void lookup_note(Specialiser *core, uint64_t fingerprint, Spec *spec);
void lookup_drop(Specialiser *core); /* forgets everything */

/* ---- specialise.c ---- */

/* A function and its specialisations. */
struct Specialiser {
    ModuleState *state;     /* of module, which the owner keeps alive */
    const Marshal *marshal; /* one of the state's */
    Spec **specs;           /* in the order made */
    Py_ssize_t nspecs;
    Spec *recent;         /* the last that the table gave; NULL: none */
    PyObject *signatures; /* list of Signatures as given to the decorator, or NULL */
    PyObject *function;   /* strong */
    PyObject *identity;   /* what is compiled: the function, or the owner if it has signatures, which calls obey */
    Binding binding;
    Options options;
    Config config;
    _Atomic(SpecTable *) table; /* where there are more than FEW_SPECS */
    Py_ssize_t noted;           /* so many of these are in the table by their types, too */
    bool can_compile;           /* false: explicit signatures only */
    bool wants_texts;           /* strings among the arguments are constants: with any the function is refused */
    bool disabled;              /* disable_compile(): nothing is compiled for a signature, either */
    bool pending;               /* the signatures are not compiled yet */
    PyThread_type_lock lock;
    unsigned long lock_owner; /* thread that compiles; 0: none */
    long lock_process;
    int64_t hits, misses;
    struct Ahead *ahead; /* code that was made ahead; NULL: none */
};

/* What is compiled, and what comes of it. */
typedef struct Compilation {
    Specialiser *self;
    const Config *config;
    const Type *const *types;
    const Const *const *konsts;
    size_t count;
    const Type *declared;
    Code *code;
    bool fine; /* else the code is none that is wanted */
} Compilation;

/* An ArenaBody whose context is a Compilation; NULL: exception set. */
void *compilation_run(Arena *arena, void *compilation);

/* ahead.c: compiles for all signatures at the same time, for specialiser_for_signature to find; to be ended with
 * ahead_end.  declares: a signature's result is part of its configuration (CodegenOptions.declared).  -1: interrupted.
 */
typedef struct Ahead {
    Compilation *compilations; /* PyMem */
    Config *configs;           /* PyMem */
    size_t count;
} Ahead;

int ahead_begin(Ahead *ahead, Specialiser *self, const Config *config, bool declares);
void ahead_end(Ahead *ahead, Specialiser *self);
Code *ahead_take(const Compilation *wanted); /* NULL: it is not there */

/* signatures: a list of Signatures, or NULL; owner: the object whose part it is. */
int specialiser_init(Specialiser *self, ModuleState *state, PyObject *owner, PyObject *function, PyObject *signatures,
                     const Options *options);
void specialiser_forget(Specialiser *self); /* every specialisation */
void specialiser_clear(Specialiser *self);
int specialiser_traverse(Specialiser *self, visitproc visit, void *arg);
/* What gives a Spec gives a new reference: what Python code runs meanwhile may make the function forget it.  NULL:
 * exception set. */
/* The specialisation for these types, compiled now if there is none.  declared/convert: for an explicit signature. */
Spec *specialiser_compile(Specialiser *self, const Config *config, const Type *const *types, const Const *const *konsts,
                          size_t count, const Type *declared, bool convert);
/* The specialisation for these arguments. */
Spec *specialiser_for_arguments(Specialiser *self, const Config *config, PyObject *const *bound);
/* Compiles for a signature. */
Spec *specialiser_for_signature(Specialiser *self, const Config *config, const Signature *signature);
/* What takes the place of a specialisation that has declined a call: code without FACTS_OF_CALLS. */
Spec *specialiser_generalise(Specialiser *self, Spec *old);
int specialiser_flush_pending(Specialiser *self);
/* Raises a TypeError that says which signatures there are; -1.  no_match.c */
int specialiser_no_match(const Specialiser *self, const Type *const *types, size_t count, Arena *arena);
/* Whether what the code gives can be converted to the declared result; false: diag says why not. */
bool specialiser_result_fits(const Specialiser *self, const Code *code, const Type *declared, Diag *diag);

/* ---- call.c ---- */

PyObject *dispatcher_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames);

#endif
