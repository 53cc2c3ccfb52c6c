/* decorators.h: what the files of this folder share.  The folder is the top of the house: it gives Python the compiler.
 * README.md lists them.
 *
 * Everything runs with the GIL held; only dispatch/specialise.c's compilation and the compiled code itself let other
 * threads run. */
#ifndef KRAIT_DECORATORS_H
#define KRAIT_DECORATORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h> /* PyObject */

#include "decorators/dispatch/dispatch.h" /* Specialiser */
#include "decorators/options.h"           /* Options */
#include "driver/driver.h"                /* Code, Config, Session */
#include "runtime/cuda/cuda.h"            /* Marshal, Cuda */

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

/* How an argument of a launch travels when it says so: cuda.In, cuda.Out, cuda.InOut. */
typedef enum Transfer { TRANSFER_IN, TRANSFER_OUT, TRANSFER_INOUT, TRANSFER_COUNT } Transfer;

struct ModuleState {
    struct Runtime *runtime;       /* first: the runtime's functions find it there (RUNTIME_OF) */
    Marshal marshal, host_marshal; /* for kernels; for functions of the host */
    Session session;               /* types and objects of every compilation */
    Cuda *cuda;
    PyObject *errors[ERROR_COUNT];
    unsigned reports; /* REPORT_OCCUPANCY, REPORT_COPIES: what launches are warned of (krait.config) */
    bool interpreted; /* jit gives functions back as they are (krait.config.DISABLE_JIT) */
    PyTypeObject *type_classes[TYPE_CLASS_COUNT];
    PyObject *type_objects;                /* address of a Type -> its object */
    PyObject *overloads, *overload_finder; /* overloads.c; NULL: krait.extending is not imported */
    PyObject *cuda_names;                  /* cuda_names.c; NULL: krait.cuda is not imported */
    PyObject *launching;                   /* a ContextVar: the Launcher that a kernel is being compiled for */
    PyTypeObject *signature_class, *decorator_class, *dispatcher_class, *generator_class, *overload_class;
    PyTypeObject *kernel_class, *launcher_class, *intrinsic_class, *namespace_class, *vectorized_class, *gufunc_class,
        *cfunc_class;
    PyTypeObject *transfer_classes[TRANSFER_COUNT];
};

enum { REPORT_OCCUPANCY = 1, REPORT_COPIES = 2 };

ModuleState *module_state(PyObject *module);
/* The state behind an object whose class (or a base of it) was made with this module. */
ModuleState *module_state_of(PyObject *object);
extern struct PyModuleDef krait_module_def;

/* Each file adds its classes and functions.  -1: exception set. */
int errors_add(PyObject *module, ModuleState *state);
/* Whose raise sites are asked for while code runs that asks what was caught, and who keeps for it what it knows by its
 * address alone; entering gives who was asked before. */
typedef struct PythonCaller {
    ModuleState *state;
    const Code *code;
    PyObject *globals;
    bool pauses;            /* it goes on later: nothing is kept */
    PyObject *kept;         /* NULL, or a list: given up when the code is left */
    const Origins *origins; /* of the call's containers, which are written back when it is over; NULL: there are none */
} PythonCaller;
PythonCaller *python_calls_enter(PythonCaller *now);
void python_calls_leave(PythonCaller *now, PythonCaller *before);
const PythonCaller *python_calls_now(void); /* NULL: nobody is asked */
/* What the interpreter gave becomes bytes; equal: converted, if the value stays the same.  False: exception set. */
bool python_calls_take(const Marshal *marshal, const Type *type, PyObject *object, char *to, bool equal);
void python_calls_init(void); /* python_calls.c: compiled code may call the interpreter from now on */
uint32_t character_traits(uint32_t code, uint32_t asked); /* characters.c */
void interrupt_init(void);                                /* interrupt.c: compiled code looks for signals from now on */
int types_add(PyObject *module, ModuleState *state);
int dispatcher_add(PyObject *module, ModuleState *state);
int cuda_names_add(PyObject *module, ModuleState *state);
int kernel_add(PyObject *module, ModuleState *state);
int arguments_add(PyObject *module, ModuleState *state);
int vectorize_add(PyObject *module, ModuleState *state);
int guvectorize_add(PyObject *module, ModuleState *state);
int cfunc_add(PyObject *module, ModuleState *state);
int threads_add(PyObject *module, ModuleState *state);
int info_add(PyObject *module, ModuleState *state);
int random_add(PyObject *module, ModuleState *state);
int overloads_add(PyObject *module, ModuleState *state);
int generator_add(PyObject *module, ModuleState *state);
int numpy_loops_add(PyObject *module, ModuleState *state);
PyTypeObject *module_add_class(PyObject *module, PyType_Spec *spec, PyObject *bases,
                               bool visible); /* borrowed by nobody: a new reference */

/* ---- errors.c ---- */

/* Raises what a Diag says; leaves a Python exception that is already set alone.  Always returns NULL. */
void *errors_raise_diag(ModuleState *state, Diag *diag);
/* Raises what compiled code raised: status - 1 numbers the site, `arguments` is the exception buffer.  globals: of
 * the function. */
void *errors_raise_site(ModuleState *state, const Code *code, int32_t status, const void *arguments, PyObject *globals);
/* The lines of a trail go into the traceback of its object. */
void errors_show_trail(const Code *code, int32_t status, const RaiseTrail *trail, PyObject *globals);
PyObject *errors_take(void);               /* the exception that is set, whole, and no longer set; NULL: none */
void errors_come_after(PyObject *earlier); /* the context of the one that is set, or itself where none is; steals */
/* The values of a tuple type that lie at `from`, those that are constants in `konsts`; NULL: exception set. */
PyObject *errors_values(const ModuleState *state, const Type *type, const Const *const *konsts, const void *from);
/* "; did you mean 'x'?" of the names (an iterable, borrowed; NULL: there are none), or ""; NULL: no memory. */
PyObject *errors_did_you_mean(PyObject *name, PyObject *names);
/* "jit compiles Python functions", and what to do with what is none; always NULL. */
void *errors_no_function(const char *decorator, PyObject *object);
/* Runs body with an arena of its own; NULL with a MemoryError when it is exhausted.  What body holds besides the arena
 * must hang on the context. */
typedef void *ArenaBody(Arena *arena, void *context);
void *errors_with_arena(ArenaBody *body, void *context);

/* ---- dispatch/large_stack.c ---- */

/* As errors_with_arena, in a thread of its own where this one has little of its stack left. */
void *errors_on_large_stack(ArenaBody *body, void *context);
/* body of each context, on so many threads at a time, this one included: users' code that it asks (overloads) sees
 * the context variables of the thread that it runs in.  What is raised is dropped, also what would end the program in
 * another thread than this one, where it is -1, exception set: whoever needs the outcome asks for it anew. */
int errors_at_once(ArenaBody *body, void *const *contexts, size_t count, unsigned threads);
/* Which thread this one works for: itself, or who waits for what it does there. */
unsigned long errors_thread(void);

/* ---- caught.c ---- */

/* As HostPython has them. */
void *caught_text(void *caught, int64_t which, char *to);
void *caught_attribute(void *caught, const char *name, const Type *type, char *to);
PyObject *caught_object(void *caught); /* borrowed from it; NULL: exception set */
void caught_keep(void *caught);
void caught_chain(void *trail, int32_t status, void *handled);
void caught_give_cause(void *trail, int32_t status, void *cause);
/* The object of a trail leaves compiled code: what Python handles there becomes the context that is owed. */
void caught_leave(const RaiseTrail *trail);

/* ---- traceback.c ---- */

/* Adds "file, line, in function", with the columns, to the traceback of the exception that is set. */
void traceback_add(const char *file, const char *function, Span span, PyObject *globals);

/* ---- types_object.c ---- */

typedef struct TypeObject {
    PyObject_HEAD
    const Type *type;
} TypeObject;

PyObject *type_to_object(ModuleState *state, const Type *type); /* new reference to the one object of this type */
PyObject *type_to_text(const Type *type);                       /* a str */
const Type *type_compared(const Type *type); /* the one of those that == of their objects finds equal */
bool type_object_check(const ModuleState *state, PyObject *object);
/* What may stand for a type in a signature: our types, NumPy dtypes and scalar classes, int float complex bool None.
 * NULL: TypeError. */
const Type *type_from_object(ModuleState *state, PyObject *object);
const Type *type_from_name(ModuleState *state, const char *name, size_t length); /* NULL, no exception: no such name */
const Type *type_void_pointer(TypeTable *types); /* of C: an array of characters whose length nobody knows */
PyObject *type_names_list(void);                 /* a list of the names that type_from_name knows, for messages */

/* ---- locals.c ---- */

/* The options of a function, their `locals` checked and as types; a new reference, NULL: exception set. */
PyObject *locals_resolved(ModuleState *state, PyObject *function, PyObject *options);

/* ---- signature.c ---- */

struct Signature {
    PyObject_HEAD
    const Type *result; /* NULL: as inferred */
    Py_ssize_t count;
    const Type **args; /* PyMem */
};

PyObject *signature_new(ModuleState *state, const Type *result, const Type *const *args, Py_ssize_t count);
/* One signature from text, a Signature or a tuple of types.  NULL: TypeError. */
Signature *signature_from_object(ModuleState *state, PyObject *object);
/* "; it is written unicode_type", of a class of Python that is no type of signatures, else where types are listed. */
const char *signature_advice(const char *name, size_t length);
/* Whether an object given to a decorator is a signature or a list of them; the list of Signatures then, else NULL
 * without an exception. */
PyObject *signatures_from_object(ModuleState *state, PyObject *object);
bool signature_looks_like(ModuleState *state, PyObject *object);
extern PyType_Spec signature_spec;
/* What the frontend asks (ObjDecorated; context: the ModuleState). */
bool signature_of_decorated(void *context, PyObject *decorated, size_t index, ObjSignature *signature);
bool signature_of_ufunc(void *context, PyObject *decorated, UfuncShape *shape);
PyObject *signature_options(void *context, PyObject *decorated); /* as given: a dict; borrowed, NULL: none */
PyObject *signature_locals(void *context, PyObject *decorated);  /* its option `locals`; borrowed, NULL: none */

/* inlining.c, for the frontend, too. */
Inlining inlining_of_decorated(void *context, PyObject *decorated);
int inlining_asked(void *context, PyObject *decorated, const FuncInst *caller, const Value *call);

/* guvectorize.c: the function that compiled code calls; NULL: TypeError, or another exception. */
PyObject *gufunc_looped(void *context, PyObject *gufunc, const LoopedRequest *request);

/* ---- dispatcher.c, kernel.c, pickling.c, inspect.c ---- */

/* What Dispatcher and Kernel begin with, so that one function tells of either what its Specialiser has. */
#define DISPATCHER_HEAD        \
    PyObject_HEAD              \
    vectorcallfunc vectorcall; \
    PyObject *dict, *weakrefs; \
    PyObject *module;          \
    Specialiser core;
typedef struct Dispatcher {
    DISPATCHER_HEAD
} Dispatcher;

/* What a call with these arguments gave, as an iterator; takes the reference.  origins: of the call. (generator.c) */
PyObject *generator_new(Dispatcher *dispatcher, const Spec *spec, const Origins *origins, PyObject *const *args,
                        HeapHead *object);
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
/* By reference or else by value, with the signatures that it was declared for. */
PyObject *pickle_declared(Specialiser *core, const char *decorator, PyObject *self);
PyObject *pickle_rebuild(PyObject *module, PyObject *args);

/* loading.c: the code on the device, by way of the disk cache where it is asked for.  NULL: exception set. */
DeviceKernel *code_load(const ModuleState *state, Device *device, const Code *code, const DeviceCode *how);
void code_unload(DeviceKernel *kernel); /* what linked code calls then is called first */
/* Puts what code_load gave (NULL: NULL) where others may have put theirs while it let go of the GIL: theirs stays. */
DeviceKernel *code_keep(DeviceKernel *made, DeviceKernel **place);

/* arguments.c: a device array on the memory of an array of another library, whose work the stream is put behind;
 * Py_None: it is none.  NULL: exception set. */
PyObject *arguments_foreign(const ModuleState *state, PyObject *object, void *stream);

/* captured.c: arrays on a device among the globals of a kernel. */
PyObject *captured_array(void *context, PyObject *object, ObjDeviceArray *array); /* for objects_device_array */
/* Those of the code are there, on the launch's device, and noted as used by the stream, before a launch on a GPU. */
int captured_note(const ModuleState *state, const Code *code, const Device *device, void *stream, PyObject *keeper);
/* They are there, and stay until they are let go of, whatever other threads do.  -1: exception set, none is held. */
int captured_hold(const ModuleState *state, const Code *code);
void captured_let_go(const ModuleState *state, const Code *code);
/* The same of several specialisations whose code runs on the host, which a GPU's memory is not for. */
typedef struct CapturedHold {
    Spec **specs; /* those that have such arrays; owned references */
    Py_ssize_t count;
} CapturedHold;
int captured_hold_on_host(CapturedHold *held, const ModuleState *state, Spec *const *specs, Py_ssize_t count);
void captured_release(CapturedHold *held, const ModuleState *state);

#endif
