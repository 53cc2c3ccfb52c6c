/* decorators.h: what the files of this folder share.  The folder is the top of the house: it gives Python the compiler.
 *
 *   module.c        the extension module and its state
 *   errors.c        krait.errors; Diag and RaiseSite -> Python
 *   types_object.c  krait.types, typeof
 *   signature.c     signatures as types, text and lists
 *   options.c       keyword options of the decorators
 *   binding.c       arguments -> parameters, as Python binds
 *   specialise.c    argument types -> Code, guards, locking
 *   dispatcher.c    @jit: a function compiled for its arguments' types
 *   inspect.c       what dispatchers tell about their specialisations
 *   pickling.c      dispatchers in pickles, by reference or by value
 *   kernel.c        @cuda.jit; with launch.c, plan.c, staging.c, report.c: kernel[grid, block](...)
 *   intrinsics.c    krait.cuda's names for compiled code
 *   vectorized.c    @vectorize; with ufunc.c: NumPy ufuncs, and ufunc_cuda.c: elementwise kernels
 *   info.c          python -m krait info
 *   layers.c        addresses for the test doors (src/testing/)
 *
 * Everything runs with the GIL held; only specialise.c's compilation and the compiled code itself let other threads
 * run. */
#ifndef KRAIT_DECORATORS_H
#define KRAIT_DECORATORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h> /* PyObject */

#include "driver/driver.h"     /* Code, Config, Session */
#include "runtime/cuda/cuda.h" /* Marshal, Cuda */

/* ---- module state ---- */

typedef enum TypeClass {
#define TYPE_CLASS(id, name, base, doc) TYPE_CLASS_##id,
#include "decorators/type_classes.def"
#undef TYPE_CLASS
    TYPE_CLASS_COUNT
} TypeClass;

typedef enum ErrorClass {
#define ERROR_CLASS(id, name, bases, doc) ERROR_##id,
#include "decorators/error_classes.def"
#undef ERROR_CLASS
    ERROR_COUNT
} ErrorClass;

typedef struct ModuleState {
    Session session;               /* types and objects of every compilation */
    Marshal marshal, host_marshal; /* for kernels; for functions of the host */
    Cuda *cuda;
    PyObject *errors[ERROR_COUNT];
    uint64_t options_told; /* bit i: the user was told that row i of options.def has no effect */
    PyTypeObject *type_classes[TYPE_CLASS_COUNT];
    PyObject *type_objects; /* address of a Type -> its object */
    PyTypeObject *signature_class, *decorator_class, *dispatcher_class, *overload_class, *stats_class;
    PyTypeObject *kernel_class, *launcher_class, *intrinsic_class, *namespace_class, *vectorized_class;
} ModuleState;

ModuleState *module_state(PyObject *module);
/* The state behind an object whose class (or a base of it) was made with this module. */
ModuleState *module_state_of(PyObject *object);
extern struct PyModuleDef krait_module_def;

/* Each file adds its classes and functions.  -1: exception set. */
int errors_add(PyObject *module, ModuleState *state);
int types_add(PyObject *module, ModuleState *state);
int dispatcher_add(PyObject *module, ModuleState *state);
int intrinsics_add(PyObject *module, ModuleState *state);
int kernel_add(PyObject *module, ModuleState *state);
int vectorize_add(PyObject *module, ModuleState *state);
int info_add(PyObject *module, ModuleState *state);
PyTypeObject *module_add_class(PyObject *module, PyType_Spec *spec, PyObject *bases,
                               bool visible); /* borrowed by nobody: a new reference */

/* ---- errors.c ---- */

/* Raises what a Diag says; leaves a Python exception that is already set alone.  Always returns NULL. */
void *errors_raise_diag(ModuleState *state, Diag *diag);
/* Raises what compiled code raised: status - 1 numbers the site, `arguments` is the exception buffer.  globals: of
 * the function. */
void *errors_raise_site(ModuleState *state, const Code *code, int32_t status, const void *arguments, PyObject *globals);
/* Adds "file, line, in function" to the traceback of the exception that is set. */
void errors_add_traceback(const char *file, const char *function, uint32_t line, PyObject *globals);

/* ---- types_object.c ---- */

typedef struct TypeObject {
    PyObject_HEAD
    const Type *type;
} TypeObject;

PyObject *type_to_object(ModuleState *state, const Type *type); /* new reference to the one object of this type */
bool type_object_check(const ModuleState *state, PyObject *object);
/* What may stand for a type in a signature: our types, NumPy dtypes and scalar classes, int float complex bool None.
 * NULL: TypeError. */
const Type *type_from_object(ModuleState *state, PyObject *object);
const Type *type_from_name(ModuleState *state, const char *name, size_t length); /* NULL, no exception: no such name */
PyObject *type_names_list(void); /* a list of the names that type_from_name knows, for messages */

/* ---- signature.c ---- */

typedef struct Signature {
    PyObject_HEAD
    const Type *result; /* NULL: as inferred */
    Py_ssize_t count;
    const Type **args; /* PyMem */
} Signature;

PyObject *signature_new(ModuleState *state, const Type *result, const Type *const *args, Py_ssize_t count);
/* One signature from text, a Signature or a tuple of types.  NULL: TypeError. */
Signature *signature_from_object(ModuleState *state, PyObject *object);
/* Whether an object given to a decorator is a signature or a list of them; the list of Signatures then, else NULL
 * without an exception. */
PyObject *signatures_from_object(ModuleState *state, PyObject *object);
bool signature_looks_like(ModuleState *state, PyObject *object);
extern PyType_Spec signature_spec;

/* ---- options.c ---- */

typedef struct Options {
    uint32_t fastmath;
    bool python_errors, boundscheck, nogil, debug, cache, device, lineinfo, parallel;
    int opt_level, max_registers, max_threads, min_blocks;
    int inlining; /* 0 as the optimiser sees fit, 1 always */
    Promotion promotion;
    PyObject *given; /* dict of the options as given: targetoptions */
} Options;

/* What help() shows of the decorators (docs.c). */
extern const char jit_doc[], kernel_doc[], vectorize_doc[];
typedef enum OptionsFor { OPTIONS_JIT = 1, OPTIONS_KERNEL = 2, OPTIONS_VECTORIZE = 4 } OptionsFor;
/* Defaults, then kwargs (may be NULL).  -1: TypeError names the valid options. */
int options_parse(ModuleState *state, Options *options, OptionsFor whom, PyObject *kwargs);
PyObject *options_list(PyObject *module, PyObject *unused);
void options_config(const Options *options, Config *config);

/* ---- binding.c ---- */

typedef struct Binding { /* how Python binds a call's arguments to the function's parameters, in the order of its local
                            variables */
    PyObject *function;  /* borrowed from the owner */
    PyObject *names;     /* tuple of local variables */
    Py_ssize_t npositional, npositional_only, nkeyword_only, nparams;
    bool varargs;
} Binding;

int binding_init(Binding *binding, PyObject *function);
void binding_clear(Binding *binding);
/* True: the call's arguments are the parameters as they stand. */
static inline bool binding_direct(const Binding *binding, Py_ssize_t nargs, PyObject *kwnames) {
    return nargs == binding->nparams && !kwnames && !binding->varargs && binding->nkeyword_only == 0;
}
/* Fills bound[nparams] with borrowed references; *rest, a new reference or NULL, keeps the tuple of *args alive. */
int binding_fill(const Binding *binding, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **bound,
                 PyObject **rest);

/* ---- specialise.c ---- */

typedef enum FastKind { FAST_OTHER, FAST_INT, FAST_FLOAT, FAST_TEXT } FastKind;

typedef struct SpecArgument {
    const Type *type;
    uint32_t offset;
    uint8_t fast;   /* FastKind */
    PyObject *text; /* FAST_TEXT: the str that it must equal */
} SpecArgument;

typedef struct GuardStamp { /* a dict that looked right when it had this version */
    PyObject *dict;
    uint64_t version;
} GuardStamp;

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
    const Type *declared; /* result type of an explicit signature, or NULL */
    bool convert;         /* made for an explicit signature: arguments are converted */
    bool stale;           /* a guard failed at the last look */
    uint32_t nstamps, nfields, narrays, nargs;
    GuardStamp *stamps;
    FieldStamp *fields;
    const Guard **arrays;                                 /* of global arrays, looked at every time */
    bool unstamped;                                       /* some guard has no stamp: look every time */
    size_t result_offset, exception_offset, buffer_bytes; /* args lie at 0 */
    void *extra;                                          /* of the owner: what a kernel keeps per specialisation */
    void (*free_extra)(void *extra);
    SpecArgument args[];
} Spec;

void spec_free(Spec *spec);
static inline void spec_release(Spec *spec) {
    if (--spec->references == 0) spec_free(spec);
}
bool spec_guards_slow(Spec *spec);

#if PY_VERSION_HEX < 0x030E0000
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the field is there until 3.14, which has another way */
static inline uint64_t dict_version(PyObject *dict) { return ((PyDictObject *)dict)->ma_version_tag; }
#pragma GCC diagnostic pop
#else
static inline uint64_t dict_version(PyObject *dict) {
    (void)dict;
    return 0;
}
#endif

/* A global that a specialisation froze may have changed; a dict whose version did not change needs no look. */
static inline bool spec_guards(Spec *spec) {
    for (uint32_t i = 0; i < spec->nstamps; i++)
        if (dict_version(spec->stamps[i].dict) != spec->stamps[i].version) return spec_guards_slow(spec);
    for (uint32_t i = 0; i < spec->nfields; i++)
        if (*spec->fields[i].field != spec->fields[i].value) return spec_guards_slow(spec);
    for (uint32_t i = 0; i < spec->narrays; i++)
        if (!guard_array_holds(spec->arrays[i])) return spec_guards_slow(spec);
    return spec->unstamped || PY_VERSION_HEX >= 0x030E0000 ? spec_guards_slow(spec) : true;
}

/* A function and its specialisations. */
typedef struct Specialiser {
    ModuleState *state;     /* of module, which the owner keeps alive */
    const Marshal *marshal; /* one of the state's */
    PyObject *function;     /* strong */
    ObjRef object;
    Binding binding;
    Options options;
    Config config;
    Spec **specs;
    Py_ssize_t nspecs;
    bool can_compile;  /* false: explicit signatures only */
    bool disabled;     /* disable_compile(): nothing is compiled for a signature, either */
    PyObject *pending; /* list of Signatures not compiled yet, or NULL */
    PyThread_type_lock lock;
    unsigned long lock_owner; /* thread that compiles; 0: none */
    long lock_process;
    int64_t hits, misses;
} Specialiser;

int specialiser_init(Specialiser *self, ModuleState *state, PyObject *function, const Options *options);
void specialiser_clear(Specialiser *self);
int specialiser_traverse(Specialiser *self, visitproc visit, void *arg);
/* The specialisation for these types, compiled now if there is none.  declared/convert: for an explicit signature.
 * Borrowed. */
Spec *specialiser_compile(Specialiser *self, const Config *config, const Type *const *types, const Const *const *konsts,
                          size_t count, const Type *declared, bool convert);
/* The specialisation for these arguments.  Borrowed; NULL: exception set. */
Spec *specialiser_for_arguments(Specialiser *self, const Config *config, PyObject *const *bound);
/* Compiles for a signature.  Borrowed. */
Spec *specialiser_for_signature(Specialiser *self, const Config *config, const Signature *signature);
int specialiser_flush_pending(Specialiser *self);
bool specialise_config_equal(const Config *a, const Config *b);

/* The arguments' bytes, if they have exactly the specialisation's types. */
static inline MarshalResult spec_unpack(const Marshal *marshal, const Spec *spec, PyObject *const *bound, char *to) {
    for (uint32_t i = 0; i < spec->nargs; i++) {
        const SpecArgument *argument = &spec->args[i];
        PyObject *object = bound[i];
        if (argument->fast == FAST_FLOAT && PyFloat_CheckExact(object)) {
            *(double *)(to + argument->offset) = PyFloat_AS_DOUBLE(object);
            continue;
        }
#if PY_VERSION_HEX >= 0x030C0000
        if (argument->fast == FAST_INT && PyLong_CheckExact(object) &&
            PyUnstable_Long_IsCompact((PyLongObject *)object)) {
            *(int64_t *)(to + argument->offset) = PyUnstable_Long_CompactValue((PyLongObject *)object);
            continue;
        }
#else
        if (argument->fast == FAST_INT && PyLong_CheckExact(object) && (size_t)(Py_SIZE(object) + 1) <= 2) {
            *(int64_t *)(to + argument->offset) = Py_SIZE(object) * (int64_t)((PyLongObject *)object)->ob_digit[0];
            continue;
        }
#endif
        if (argument->fast == FAST_TEXT) {
            if (object == argument->text || (PyUnicode_Check(object) && PyUnicode_Compare(object, argument->text) == 0))
                continue;
            return MARSHAL_MISMATCH;
        }
        MarshalResult result = marshal_unpack(marshal, argument->type, object, to + argument->offset);
        if (result != MARSHAL_OK) return result;
    }
    return MARSHAL_OK;
}
MarshalResult spec_convert(const Marshal *marshal, const Spec *spec, PyObject *const *bound, char *to);
/* Result bytes to an object, by way of the declared type if there is one. */
PyObject *spec_box(const ModuleState *state, const Spec *spec, const char *result);

/* ---- dispatcher.c, kernel.c, pickling.c, inspect.c ---- */

typedef struct Dispatcher {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *dict, *weakrefs;
    PyObject *module;
    Specialiser core;
} Dispatcher;

PyObject *jit_decorate(ModuleState *state, PyObject *function, PyObject *signatures, const Options *options);
/* Name, docstring, module and so on of the function, as functools.wraps does. */
int copy_function_attributes(PyObject *dict, PyObject *function);
PyObject *decorate_later(PyObject *module, PyCFunction decorate, PyObject *signatures, PyObject *kwargs);
extern PyMethodDef inspect_methods[];
extern PyGetSetDef inspect_getset[];
int inspect_add(PyObject *module, ModuleState *state);
/* By reference: a str, or NULL without an exception when `self` cannot be imported.  By value: steals signatures;
 * `decorator` is the name of the function of this module that decorates anew. */
PyObject *pickle_reference(PyObject *function, PyObject *self);
PyObject *pickle_value(Specialiser *core, const char *decorator, PyObject *signatures, PyObject *self);
PyObject *pickle_rebuild(PyObject *module, PyObject *args);

#endif
