/* frontend.h: from a Python function object to untyped SSA.
 *
 *   code object --bc_py3XX.def--> canonical instructions --cfg--> blocks --abstract stack--> SSA (SSA construction
 * after Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013)
 *
 * Python objects stop here: globals, closure cells of finished functions and attributes of modules become constants,
 * each with a Guard that the dispatcher checks at a call.  Everything in this folder runs with the GIL held. */
#ifndef KRAIT_FRONTEND_H
#define KRAIT_FRONTEND_H

#include <Python.h> /* PyObject */

#include "ir/ir.h"           /* Func, Const, ObjRef */
#include "library/library.h" /* FuncInfo */

/* Objects: numbers for the Python objects that types, constants and code mention.  One per module state; equal objects
 * (by identity) get equal numbers.  Also maps library objects (math.sin, numpy.add, krait.cuda.grid) to rows of
 * the library. */
typedef struct Objects Objects;
Objects *objects_new(const Library *library);
void objects_free(Objects *objects);
int objects_traverse(Objects *objects, visitproc visit, void *arg);

/* Who keeps numbers, and the objects behind them, alive: a compilation, then the Code that it made.  An object that
 * nobody holds has no number; one that is held again gets another. */
typedef struct ObjHold {
    Objects *objects;
    uint32_t serial;
    ObjRef *refs;
    size_t count, capacity;
} ObjHold;
ObjRef objects_hold(Objects *objects, ObjHold *hold, PyObject *object);    /* 0 with MemoryError set on failure */
bool objects_hold_type(Objects *objects, ObjHold *hold, const Type *type); /* all that a type mentions */
void objects_let_go(ObjHold *hold);
int objects_traverse_hold(const ObjHold *hold, visitproc visit, void *arg);

ObjHold *objects_kept(Objects *objects);                /* the one that lasts as long as the module */
ObjRef objects_ref(Objects *objects, PyObject *object); /* held for good; 0 with MemoryError set on failure */
/* What the text of a function of krait.prelude means is held for good: an object, all that a type mentions. */
bool objects_keep(Objects *objects, ObjRef ref);
bool objects_keep_type(Objects *objects, const Type *type);
/* Whether all that the type mentions is Krait's or the interpreter's own, and then held for good. */
bool objects_last(Objects *objects, const Type *type);
PyObject *objects_get(const Objects *objects, ObjRef ref); /* borrowed; NULL: nobody holds it any more */
/* The Python function that it is, or that it was decorated from; borrowed; NULL: neither. */
PyObject *objects_function(const Objects *objects, ObjRef ref);

/* Signature number `index` of a decorated function that has explicit ones; false: it has no such. */
typedef struct ObjSignature {
    const Type *result; /* NULL: as inferred */
    const Type *const *args;
    size_t count;
} ObjSignature;
bool objects_signature(const Objects *objects, PyObject *decorated, size_t index, ObjSignature *signature);
/* Whether a decorated function is a ufunc; how many dimensions one call of it sees of each operand, results last. */
bool objects_ufunc(const Objects *objects, PyObject *decorated, UfuncShape *shape);
/* What it asks about calls of it in compiled code; of INLINING_ASKED about one call: 1, 0, or -1 with an exception. */
typedef enum Inlining { INLINING_AS_SEEN, INLINING_ALWAYS, INLINING_ASKED } Inlining;
Inlining objects_inlining(const Objects *objects, PyObject *decorated);
int objects_ask_inlining(const Objects *objects, PyObject *decorated, const FuncInst *caller, const Value *call);
/* The types that it declares of its variables: a dict, borrowed; NULL: none. */
PyObject *objects_locals(const Objects *objects, PyObject *decorated);
/* The type that an argument has, if the object is one; what it mentions is held by `hold`.  NULL: exception set. */
const Type *objects_type_of(const Objects *objects, ObjHold *hold, PyObject *object);
/* The function that compiled code calls for a call of a generalised ufunc, a new reference; NULL: exception set. */
PyObject *objects_looped(const Objects *objects, const LoopedRequest *request);
/* The array on a device that the object is, or that stands for an array of another library; *array: what it is.  A new
 * reference; NULL: it is none, or, with an exception set, it cannot be used. */
typedef struct ObjDeviceArray {
    const Type *type;
    void *data;
    const int64_t *shape, *strides;
} ObjDeviceArray;
PyObject *objects_device_array(const Objects *objects, PyObject *object, ObjDeviceArray *array);
/* What the decorators know of what they made; context: their first argument. */
typedef struct ObjDecorated {
    bool (*signature)(void *context, PyObject *decorated, size_t index, ObjSignature *signature);
    bool (*ufunc)(void *context, PyObject *decorated, UfuncShape *shape);
    PyObject *(*locals)(void *context, PyObject *decorated);
    PyObject *(*looped)(void *context, PyObject *gufunc, const LoopedRequest *request);
    Inlining (*inlining)(void *context, PyObject *decorated);
    int (*ask_inlining)(void *context, PyObject *decorated, const FuncInst *caller, const Value *call);
    const Type *(*type_of)(void *context, ObjHold *hold, PyObject *object);
    PyObject *(*device_array)(void *context, PyObject *object, ObjDeviceArray *array);
    void *context;
} ObjDecorated;
void objects_set_decorated(Objects *objects, ObjDecorated decorated);

/* What users have said about a call: a new reference to a Python function; NULL: nothing, or an exception. */
typedef PyObject *ObjOverloadFind(void *context, const OverloadRequest *request);
void objects_set_overloads(Objects *objects, ObjOverloadFind *find, void *context);
PyObject *objects_overload(const Objects *objects, const OverloadRequest *request);
/* From now on calls may mean something else than Krait's own rows say. */
void objects_note_overload(Objects *objects);
bool objects_overloaded(const Objects *objects);

/* An object of this exact type stands for a library function that exists in compiled code only (cuda.grid); the
 * decorators layer creates the type (krait._krait.Intrinsic: attributes __name__ "krait.cuda.grid" and func, an int)
 * and registers it here. */
void objects_set_intrinsic_type(Objects *objects, PyTypeObject *intrinsic);
/* From now on the object stands for an added row of the library; false with MemoryError set on failure. */
bool objects_add_function(Objects *objects, PyObject *object, const FuncInfo *row);
const FuncInfo *objects_func(Objects *objects, PyObject *object); /* NULL: not a library function */
/* Instances of this class or its subclasses (krait.float32) stand for types; get tells which, or NULL for one that
 * makes no scalar. */
void objects_set_krait_type(Objects *objects, PyTypeObject *type, const Type *(*get)(PyObject *object));

/* What must still be so for a specialisation to be valid. */
typedef enum GuardKind {
    GUARD_GLOBAL,
    GUARD_CELL,
    GUARD_ATTRIBUTE,
    GUARD_MEMBER, /* what a class, or a base of it, has under a name, as it stands there */
    GUARD_CODE,   /* of a function that was compiled: its __code__, __defaults__, __kwdefaults__ */
    GUARD_DEFAULTS,
    GUARD_KWDEFAULTS,
    GUARD_SIZE, /* how many items a dict has: value is the number */
    GUARD_ARRAY /* an array that is a constant: its memory, shape, strides, dtype and flags */
} GuardKind;
typedef struct Guard {
    GuardKind kind;
    PyObject *holder;   /* dict of globals or keyword defaults, cell, function, array, or what has the attribute */
    PyObject *builtins; /* GUARD_GLOBAL: where the name is looked up next; GUARD_MEMBER: only bases behind this one */
    PyObject *name;     /* str; NULL for a cell or a function; dtype of an array */
    PyObject *value;    /* what it was; NULL: was unbound */
} Guard;

/* Everything the frontend needs for one compilation.  guards own their references; frontend_close drops them unless the
 * caller took them. */
typedef struct Frontend {
    Arena *arena;
    TypeTable *types;
    Objects *objects;
    Diag *diag;
    bool readonly_globals;     /* arrays found in globals may not be written to: a GPU works on a copy of them */
    bool reads_device_arrays;  /* arrays on a device among the globals are used where they lie; else refused */
    Captures *captures;        /* lists, dicts and sets found in globals; NULL: they are refused */
    ObjRef decorating;         /* a function whose own name is not bound yet: it means itself; 0: none */
    bool unguarded;            /* translating a function of krait.prelude: what its names mean is part of Krait */
    VEC(ObjRef) device_arrays; /* found in globals and closures of kernels: each once */
    VEC(Guard) guards;
    HashIndex guard_index;
    ObjHold hold; /* what got a number; like guards, the caller may take it */
    void *cache;  /* function -> Func: each is translated once per compilation */
    /* Asked before a function is translated: the Func that an earlier compilation has left; NULL: none. */
    const Func *(*left)(void *self, ObjRef function);
    void *left_self;
    PyObject *kept;    /* a list of the references that live until frontend_close */
    const char *named; /* by which name the code has the object that is looked at, for messages; or NULL */
} Frontend;

void frontend_open(Frontend *frontend, Arena *arena, TypeTable *types, Objects *objects, Diag *diag);
void frontend_close(Frontend *frontend);
/* The function (a PyFunctionObject, or the stand-in made for code nested in one) as untyped SSA. */
const Func *frontend_translate(Frontend *frontend, ObjRef function);
/* After a failure, once: copies the Sources that the Diag and its notes mention into the Diag's arena, with the text of
 * their file, for the line with the caret. */
void frontend_attach_source(Frontend *frontend);
/* Canonical instructions of a function as text, one a line: what KRAIT_DUMP=bytecode and the golden tests show. */
const char *frontend_disassemble(Frontend *frontend, ObjRef function);

/* The constant a Python object is in compiled code (also used for arguments that are functions, types or None).
 * NULL: diag says why not.  Arrays are described, not copied. */
const Const *frontend_constant(Frontend *frontend, PyObject *object, const Source *source, Span span);
/* The same where it becomes a value: a list, dict or set is captured. */
const Const *frontend_value(Frontend *frontend, PyObject *object, const Source *source, Span span);

/* Classes whose instances have types of their own (structs.c).  frontend_tuple_type: of a tuple of that class with
 * items of these types; NULL: exception set.  frontend_enum_type: of an enumeration of ints; NULL: it is none (or no
 * memory, exception set).  frontend_struct_class: what a call of the class makes; NULL: neither a
 * named tuple nor an instance that is its attributes. */
enum { CLASS_TITLE_BYTES = 128 }; /* what is longer is cut off */
void frontend_class_title(
    PyTypeObject *class,
    char title[CLASS_TITLE_BYTES]); /* The class of the scalars of ml_dtypes, by which NumPy has bfloat16. */
bool frontend_is_bfloat16_class(const PyTypeObject *class);
/* "module.Name", for messages */
bool frontend_is_named_tuple(PyTypeObject *class);
/* The names of keyword arguments that a call from Python gives (krait/prelude/keywords.py), a new reference; NULL: the
 * tuple is none. */
PyObject *frontend_keyword_names(PyObject *tuple);
bool frontend_is_keywords(PyTypeObject *class);
PyObject *objects_library_object(const Objects *objects, FuncId func); /* that was seen as it; borrowed, or NULL */
bool frontend_is_cached(PyObject *object); /* what functools.lru_cache makes (krait/prelude/caching.py) */
bool frontend_forgets(PyObject *dict);     /* a dict that compiled code gets, and gives nothing back to */
bool frontend_is_partial(
    PyObject *object); /* a functools.partial: it stands for a function (krait/prelude/partials.py) */
const Type *frontend_keywords_type(Objects *objects, TypeTable *types, Arena *arena, PyTypeObject *class,
                                   PyObject *names, const Type *const *items);
const Type *frontend_tuple_type(Objects *objects, TypeTable *types, Arena *arena, PyTypeObject *class,
                                const Type *const *items, size_t count);
/* Enumerations (enumerations.c).  The type of the members of one of ints, and of any other; NULL: it is none (or
 * exception set).  A member of such a type and its number: a new reference, or an exception; false: it has none. */
bool frontend_is_enum(PyTypeObject *class);
const Type *frontend_enum_type(Objects *objects, TypeTable *types, PyTypeObject *class);
const Type *frontend_member_type(Objects *objects, TypeTable *types, PyTypeObject *class);
PyObject *frontend_member_at(const Type *type, PyTypeObject *class, int64_t number);
bool frontend_member_number(const Type *type, PyObject *member, int64_t *number);
/* What all members have, a constant tuple; NULL: it is no enumeration, or one of them has nothing that can be one. */
const Const *frontend_members(Frontend *frontend, ObjRef class, MembersWhat what, const char *attribute);
/* False: the class finds its members in a way of its own. */
bool frontend_enum_class(Frontend *frontend, ObjRef class, EnumClass *enumeration);
/* The names of the attributes of an instance of a dataclass, or of a plain class written in Python: a new tuple;
 * whether an equal instance may stand for it.  NULL: it is none (or exception set). */
PyObject *frontend_instance_names(PyObject *object, bool *frozen);
/* Whether compiled code makes and changes instances of the class as shared objects; the names of the attributes that
 * they may have, the first empty (NULL: it does not, or there are too many).  (attributes.c) */
bool frontend_makes_objects(PyTypeObject *class);
/* Whether the instance has nothing of its own under the name, and is asked for what its class has, a constant or a
 * container. */
bool frontend_is_of_class(PyObject *object, const char *name);
bool frontend_is_numpys(PyObject *function); /* written in Python, a part of NumPy */
const char *const *frontend_attributes(Arena *arena, PyTypeObject *class, size_t *count);
const StructClass *frontend_struct_class(Frontend *frontend, ObjRef ref);
/* What the class has under that name, behind `after` in the order of resolution if that is not 0.  (members.c) */
Member frontend_member(Frontend *frontend, ObjRef class, ObjRef after, const char *name);

/* Where a user's class differs from what compiled code would take its values for (overrides.c).  frontend_overrides:
 * the first name that a subclass of `plain` has otherwise; NULL: a value of it may stand for a plain one.
 * frontend_answers_itself: whether a namedtuple's or an enumeration's class, or that of a constant, has a special
 * method of the user's.  */
const char *frontend_overrides(PyTypeObject *class, PyTypeObject *plain);
bool frontend_answers_itself(Frontend *frontend, const Type *type, const char *name);
/* Whether what a class has under a name is the module enum's. */
bool frontend_is_of_enum(PyTypeObject *holder, PyObject *found);

/* The class of the values of a type, as `type(x)` gives it: borrowed; NULL: compiled code cannot tell.  (classes.c) */
PyObject *frontend_class_of(Frontend *frontend, const Type *type);
const Const *frontend_class_constant(Frontend *frontend, const Type *type); /* the same as a constant */
/* __name__, __qualname__ or __module__ of the class or function that a constant of the type is; NULL: it has none. */
const char *frontend_own_name(Frontend *frontend, const Type *type, const char *attribute);
/* The type that a class of exceptions, the constant of a type, annotates an attribute with; NULL: none that compiled
 * code takes.  (annotations.c) */
const Type *frontend_declared(Frontend *frontend, const Type *class, const char *name);
/* What the ufunc that a constant of the type is says of itself, such as `nin`; `types` as a tuple; NULL: nothing. */
const Const *frontend_ufunc_attribute(Frontend *frontend, const Type *type, const char *attribute);
/* Whether they are instances of the class, or of one of the union, that a constant of type `meant` is. */
ClassAnswer frontend_is_instance(Frontend *frontend, const Type *type, const Type *meant);
/* Whether the class that a constant of type `type` is derives from that; CLASS_UNKNOWN: it is no class. */
ClassAnswer frontend_is_subclass(Frontend *frontend, const Type *type, const Type *meant);
bool frontend_is_sequence(Frontend *frontend, const Type *type); /* to a sequence pattern of a match statement */

/* The type of the items of a dtype, in an array whose address and strides are multiples of what `addresses`, all of
 * them or-ed together, says (0: aligned).  NULL: compiled code has none, or no memory (exception set).  (dtypes.c) */
const Type *frontend_element_type(TypeTable *types, PyObject *dtype, uintptr_t addresses);
uintptr_t frontend_addresses(PyObject *array);

/* The class of krait.prelude that compiled code has in place of one of the library's: borrowed; NULL: it has that one.
 * (prelude.c) */
PyObject *frontend_original(PyObject *class); /* the library's class that one of the prelude stands for, or itself */
PyObject *frontend_stand_in(PyTypeObject *class);
/* By which an instance of a class of krait.prelude becomes one of the library's; borrowed; NULL: it is what it is. */
PyObject *frontend_result_converter(PyObject *class);

/* For the driver, which inference asks: a function of the package krait.prelude by "module:function" (0: diag says why
 * not), and the name of an object's class or function for messages (in the arena). */
ObjRef frontend_prelude(Frontend *frontend, const char *name);
/* What the decorator of a function says about calls of it, and what its user's function answers about one; false: that
 * one failed. */
Inlining frontend_inlining(Frontend *frontend, ObjRef function);
bool frontend_ask_inlining(Frontend *frontend, const FuncInst *caller, const Value *call, bool *inlined);
/* False: what the user said about this call failed.  *function: 0, or the function that stands for it. */
bool frontend_overload(Frontend *frontend, const OverloadRequest *request, ObjRef *function);
/* False: a generalised ufunc does not take these operands. */
bool frontend_looped(Frontend *frontend, const LoopedRequest *request, ObjRef *function);
const char *frontend_object_name(Frontend *frontend, ObjRef object);
/* Behind what an object is, in the exceptions that say why it has no type (objects_type_of). */
#define NO_ARGUMENT " cannot be an argument of compiled code"
/* Such a text where it is known by which name the code has the object: with that in place of `x` and `values` in what
 * it advises.  A new reference; NULL: exception set. */
PyObject *frontend_advise_for(PyObject *text, PyObject *name);
/* As InferHost.no_attribute. */
const char *frontend_no_attribute(Frontend *frontend, ObjRef object, const char *name, const char **hint);

/* True if every guard still holds.  A guard whose object was replaced by an equal int, float, bool, complex, str or
 * tuple holds. */
bool guards_hold(const Guard *guards, size_t count);
bool guard_array_holds(const Guard *guard); /* GUARD_ARRAY; runs no Python code */
/* Where a guard's value lies in its holder, to compare without a call; NULL: it is looked up by name. */
PyObject *const *guard_field(const Guard *guard);
void guards_release(Guard *guards, size_t count);

/* For layers that know no Python.h: let other threads run while LLVM works. */
void *frontend_release_gil(void);
void frontend_acquire_gil(void *saved);

#endif
