/* typeinfer.h: from untyped SSA and parameter types to typed SSA.
 *
 * The lattice (drawn in typeinfer/lattice.c) has TY_BOTTOM below every type; joining only goes up, so the worklist
 * ends.  Next to its type a value may carry a constant (int, bool, None, str, function), joined like the flat constant
 * lattice: that is how shapes that must be literal, tuple indices and branches on `x is None` are decided while types
 * are (Wegman and Zadeck, "Constant Propagation with Conditional Branches", 1991).
 *
 * Inference of one FuncInst: clone inst->untyped, solve, going on whenever a callee's result has changed, then rewrite
 * so that lowering only reads: conversions become CAST, calls become CALL_FUNC or CALL_INST with one operand per
 * parameter, branches never taken are removed, VF_CHECKED marks what raises.  No Python, no GIL needed, except inside
 * the host's callbacks, which see to that themselves. */
#ifndef KRAIT_TYPEINFER_H
#define KRAIT_TYPEINFER_H

#include "ir/ir.h" /* Func, FuncInst, Type */

typedef enum Promotion { PROMOTION_NUMPY2, PROMOTION_NUMBA } Promotion;

/* An explicit signature of a function, which calls of it obey wherever they stand. */
typedef struct InferSignature {
    const Type *result; /* NULL: as inferred */
    const Type *const *args;
    size_t count;
} InferSignature;

/* Which instance of a function is asked for. */
typedef struct InferRequest {
    ObjRef function;
    const Type *const *types;   /* one per Param, defaults filled, *args packed into a tuple */
    const Const *const *konsts; /* NULLs among them, or NULL */
    const Type *expected;       /* the type that its result is to have, where its body leaves that open; or NULL */
} InferRequest;

/* What inference asks of the driver. */
typedef struct InferHost {
    void *self;
    /* The untyped form of a Python function (TY_PYFUNC or TY_CLOSURE object); NULL: diag says why. */
    const Func *(*translate)(void *self, ObjRef function);
    /* The instance; created and queued if new.  Its result is TY_BOTTOM until inferred; when it changes, the call is
     * woken. */
    FuncInst *(*instance)(void *self, const InferRequest *request, CallSite site);
    /* The same for the function that calls another one with `count` arguments: of one element, of a ufunc.  callee: a
     * TY_FUNC, of which whoever asks knows what it gives, so that nobody is woken; or the TY_PYFUNC of a ufunc. */
    FuncInst *(*row_instance)(void *self, const Type *callee, const Type *const *types, const Const *const *konsts,
                              size_t count, CallSite site);
    /* Whether the function is a ufunc that a user made. */
    bool (*ufunc)(void *self, ObjRef function, UfuncShape *shape);
    /* The function of the same operands that loops over the outer dimensions of a call of a generalised ufunc; false:
     * diag says why there is none. */
    bool (*looped)(void *self, const LoopedRequest *request, ObjRef *function);
    /* Signature number `index` of a decorated function; false: it has no more. */
    bool (*signature)(void *self, ObjRef function, size_t index, InferSignature *signature);
    /* A function of krait.prelude by "module:function"; 0: diag says why. */
    ObjRef (*prelude)(void *self, const char *name);
    /* The named tuple that a call of this object makes; NULL: it makes none. */
    const StructClass *(*struct_class)(void *self, ObjRef object);
    /* What the class has under that name, behind `after` in the order of resolution if that is not 0: super(). */
    Member (*member)(void *self, ObjRef class, ObjRef after, const char *name);
    /* Whether the user's class, of which the values of a type are, has this special method itself. */
    bool (*answers_itself)(void *self, const Type *type, const char *name);
    /* What all members of an enumeration have, a constant tuple; NULL: the class is none, or one of them has not. */
    const Const *(*members)(void *self, ObjRef class, MembersWhat what, const char *attribute);
    /* What a call of an enumeration needs to know; false: it finds its members in a way of its own. */
    bool (*enum_class)(void *self, ObjRef class, EnumClass *enumeration);
    /* The Python function that stands for a call, as users have said; 0: none.  False: diag says what went wrong. */
    bool (*overload)(void *self, const OverloadRequest *request, ObjRef *function);
    bool overloads; /* they have said something */
    /* Class name of an exception or other object, for messages. */
    const char *(*object_name)(void *self, ObjRef object);
    /* Whether values of a type are instances of the class that a constant of type `meant` is; CLASS_NOT_ONE: it is
     * none. */
    ClassAnswer (*is_instance)(void *self, const Type *type, const Type *meant);
    /* Whether the class that a constant of a type is derives from it; CLASS_UNKNOWN: that is no class. */
    ClassAnswer (*is_subclass)(void *self, const Type *type, const Type *meant);
    /* Whether a sequence pattern of a match statement takes values of a type. */
    bool (*is_sequence)(void *self, const Type *type);
    /* The class of the values of a type, a constant; NULL: it is not known. */
    const Const *(*class_of)(void *self, const Type *type);
    /* `__name__` and the like of the class or function that a constant of this type is; NULL: it has none. */
    const char *(*name_of)(void *self, const Type *type, const char *attribute);
    /* The type that a class of exceptions, a constant of type `class`, annotates an attribute with; NULL: none. */
    const Type *(*declared)(void *self, const Type *class, const char *name);
    /* What the ufunc that a constant of this type is says of itself, `nin` ...; `types` as a tuple; NULL: nothing. */
    const Const *(*ufunc_attribute)(void *self, const Type *type, const char *attribute);
    /* In words that the object has no such attribute, or none that compiled code takes; *hint: what to do, or NULL. */
    const char *(*no_attribute)(void *self, ObjRef object, const char *name, const char **hint);
} InferHost;

/* The types of the lists that stand for views of dicts and may be compared anywhere (rules_walked.c). */
typedef VEC(const Type *) KeptViews;

/* Calls that are given a generator of which nothing is known yet that it yields: they wait.  The first `closed` of them
 * wait no longer, since all else is settled: it yields nothing. */
typedef struct OpenCalls {
    VEC(CallSite) sites;
    size_t closed;
} OpenCalls;

typedef struct InferConfig {
    Promotion promotion;
    bool device;            /* compiling for a kernel: library rows of krait.cuda are allowed */
    Captures *captures;     /* what OP_CAPTURED names; what is put into an empty one becomes Captured.wanted */
    int compute_capability; /* of the GPU that it is for; 0: for the host device */
    const InferHost *host;
    bool elementwise; /* the root is a ufunc: None, if it may give that, is an error */
    KeptViews *views;
    OpenCalls *open;
} InferConfig;

/* The type as a message shows it: "float32", "list of int", "an instance of Point".  Of the host object_name and
 * prelude are asked. */
const char *typeinfer_words(const InferHost *host, Arena *arena, const Type *type);

/* Solves an instance from inst->untyped and inst->types, as far as its callees' results are known; sets inst->result
 * and result_konst.  A call whose result is still TY_BOTTOM leaves its block's rest unreached, as in recursion.  Where
 * inst->pauses says so, it stops and sets nothing.  Called again, after that or a wake, it goes on where it stood. */
bool typeinfer_run(const InferConfig *config, Arena *arena, TypeTable *types, FuncInst *inst, Diag *diag);

/* The callee of this call has a new result: its caller is to be run again. */
void typeinfer_wake(const CallSite *site);
/* What holds what it was, round after round or call after call, has a larger type whenever it is looked at. */
bool typeinfer_refuse_endless(Diag *diag, const Source *source, Span span, const char *what);
/* When all results are settled: refuses what cannot be typed, or makes inst->func the typed function. */
bool typeinfer_complete(FuncInst *inst);

/* Once the worklist is empty: completes the root (number 0 of `insts`) and what typed code calls, drops the others
 * (asked for while types were still growing), numbers the rest, notes who calls whom, and refuses a
 * function that calls itself without end.  Calls of a function that never returns stay CALL_INST of type None,
 * followed by UNREACHABLE; its result becomes None. */
bool typeinfer_finish(const InferConfig *config, Arena *arena, TypeTable *types, FuncInst **insts, size_t *count,
                      Diag *diag);
/* What to do instead of calling the function of Python's library in which something was refused. */
void typeinfer_advise(const InferConfig *config, Diag *diag);
/* Says it of the user's call, in place of a line of Python's library that is called there, which the user has not
 * written. */
void typeinfer_tell_of_library(const Source *user, const Value *call, const Source *source, const char *function,
                               Diag *diag);
/* Adds "in the call of f with (...)" for the calls that led to an instance, to a failure met in it, and which function
 * of Krait's own the user called, if it is in one; returns false. */
bool typeinfer_note_callers(const FuncInst *inst, const InferConfig *config, Diag *diag);

/* NumPy 2's (NEP 50) common type of two scalar types, weak or strong; NULL: none. */
const Type *typeinfer_promote(Promotion promotion, TypeTable *types, const Type *a, const Type *b);
/* Least upper bound of any two types where control flow meets; NULL: they do not join. */
const Type *typeinfer_join(Promotion promotion, TypeTable *types, const Type *a, const Type *b);
/* Whether a value of type `from` may be passed where `to` is declared (explicit signatures); 0 no, else the smaller the
 * better. */
int typeinfer_conversion_cost(const Type *from, const Type *to);
/* The same for all arguments of a call, in sum; 0: exactly these; -1: some do not convert. */
int64_t typeinfer_signature_cost(const Type *const *from, const Type *const *to, size_t count);

#endif
