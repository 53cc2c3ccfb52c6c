/* ir.h: types, the SSA form of one function, its builder, printer, parser and verifier.  What a value of a type
 * consists of and how it lies in memory is repr.h.
 *
 * A Func is a control-flow graph of Blocks; a Block is a list of Values: first its phis, last one terminator.  A Value
 * is an operation, its operands and, once inferred, its Type.  The frontend builds untyped Funcs (types of constants
 * apart); inference clones one per specialisation, gives every Value a Type, makes conversions explicit and resolves
 * calls.  The tables ir_types.def, ir_ops.def and ir_attrs.def are the only lists of scalar types, operations and
 * attributes; library functions are named by pointers to rows that stand elsewhere.
 *
 * Types are interned: equal types are the same pointer, in every thread and every compilation of one TypeTable.  No
 * Python.h here: Python objects are named by an ObjRef, a number that only the frontend and the decorators can turn
 * into an object. */
#ifndef KRAIT_IR_H
#define KRAIT_IR_H

#include "base/base.h"  /* Arena, Span, Diag, VEC */
#include "ir/abi.h"     /* HostGrid, HostThread, HeapHead: shared with generated code */
#include "ir/repr.h"    /* Repr, Leaf: what values consist of */
#include "ir/strided.h" /* ArrayLayout */

/* ---- types ---- */

typedef enum Scalar {
#define SCALAR(name, text, numpy_char, kind, bytes, weak_name) SCALAR_##name,
#include "ir/ir_types.def"
#undef SCALAR
    SCALAR_COUNT
} Scalar;

typedef struct ScalarInfo {
    const char *name;
    char numpy_char, kind; /* kind: b i u f c */
    uint8_t bytes;
    const char *weak_name; /* NULL: no Python type has this value set */
} ScalarInfo;
extern const ScalarInfo scalar_info[SCALAR_COUNT];

/* A number that stands for a Python object that the process keeps alive (frontend.h: Objects).  0: none. */
typedef uint32_t ObjRef;

typedef enum TypeKind {
    TY_BOTTOM,   /* no value reaches here (yet) */
    TY_NONE,     /* None */
    TY_SCALAR,   /* scalar, weak; with an object a member of that enum.IntEnum, an int; flag: of an IntFlag */
    TY_TUPLE,    /* items; with an object an instance of that namedtuple class, a tuple; names: of its fields */
    TY_OPTIONAL, /* items[0] or None */
    TY_ARRAY,    /* items[0] is the element: any type of fixed size; ndim, layout, readonly.  record: no array, but one
                    record in memory, which its fields are read from and written to */
    TY_STRUCT,   /* items under names at offsets; form, bytes, align */
    TY_NESTED,   /* an array inside a struct: items[0], ndim, extents */
    TY_TIME,     /* a datetime64; flag: a timedelta64.  form: TimeUnit; bytes: units a tick */
    TY_CHARS,    /* an element of dtype S or U: bytes: characters, of the unsigned integer `scalar` */
    TY_FLAT,     /* a.flat; items[0] is the array type */
    TY_LIST,     /* items[0] is the type of each item; TY_BOTTOM: none is ever put in */
    TY_RANGE,    /* range object of Python ints */
    TY_SLICE,    /* items = types of start, stop, step: int or None */
    TY_ELLIPSIS, /* ... */
    TY_STR,      /* a constant str; the text is the constant's */
    TY_ITER,     /* an iterator; iter tells which; items = what it iterates over */
    TY_DTYPE,    /* a numpy.dtype; items[0] is the scalar its items are */
    TY_CLASS,  /* a class of numbers (np.float32, float); items[0] is the scalar it makes; object: a krait.types type */
    TY_FUNC,   /* library function: func */
    TY_PYFUNC, /* a Python function that can be compiled: object */
    TY_CLOSURE, /* a function made in compiled code: object is its code; items = defaults tuple, kwdefaults tuple, cell
                    types */
    TY_CELL,    /* a cell shared with inner functions; items[0] is the content */
    TY_EXC_CLASS, /* exception class: object */
    TY_EXC,       /* exception instance: object is its class; items = types of its arguments */
    TY_CAUGHT,    /* an exception that was caught, of any class */
    TY_TEXT,      /* a text that is not made yet: items = types of its template, a str, and of the values put into it */
    TY_OBJECT, /* a constant Python object compiled code can only take attributes of (a module, a namespace): object */
} TypeKind;

typedef enum IterKind {
    ITER_RANGE,
    ITER_TUPLE,
    ITER_ARRAY,
    ITER_FLAT,
    ITER_LIST,
    ITER_ENUMERATE,
    ITER_ZIP,
    ITER_REVERSED
} IterKind;

enum { TYPE_MAX_NDIM = 32 };   /* more dimensions than this are refused (NumPy allows 64; nobody has used 33) */
enum { ITER_MAX_PARTS = 255 }; /* of a zip */

/* ---- library functions ----
 *
 * What the intermediate representation knows of one: its names and what it does.  The rows stand in src/library, and
 * each begins with this. */
typedef uint32_t FuncId; /* 0: none; library/library.h has the numbers */
typedef struct FuncHead {
    FuncId id;
    const char *key;     /* "MATH_SIN" */
    const char *names;   /* Python names it answers to, separated by spaces */
    uint8_t least, most; /* arguments; most 255: any number */
    bool checked;        /* raises where its call has VF_CHECKED */
    const char *effects; /* as in ir_ops.def */
} FuncHead;
/* The first of its names, as messages and dumps show it; the key of a row without names. */
const char *func_name(Arena *arena, const FuncHead *func);
/* Finds a function by one of its names or its key; NULL: none. */
typedef const FuncHead *FuncFinder(void *self, const char *name, size_t length);

/* What a struct stands for.  A record is never a value of its own: compiled code has a reference to it in memory. */
typedef enum StructForm {
    STRUCT_VECTOR,       /* a small vector of CUDA: items of one scalar, named x y z w */
    STRUCT_RECORD,       /* an item of an array of structured dtype, numpy.void */
    STRUCT_RECORD_CLASS, /* the same of dtype (numpy.record, ...): numpy.record */
    STRUCT_INSTANCE,     /* the attributes of an instance of a Python class, `object`; flag: an equal instance may stand
                            for it */
} StructForm;

/* As NumPy numbers them; 3 is none. */
typedef enum TimeUnit {
    TIME_YEAR,
    TIME_MONTH,
    TIME_WEEK,
    TIME_DAY = 4,
    TIME_HOUR,
    TIME_MINUTE,
    TIME_SECOND,
    TIME_MILLISECOND,
    TIME_MICROSECOND,
    TIME_NANOSECOND,
    TIME_PICOSECOND,
    TIME_FEMTOSECOND,
    TIME_ATTOSECOND,
    TIME_GENERIC, /* takes the unit of what it meets */
    TIME_UNIT_COUNT
} TimeUnit;

struct Type {
    TypeKind kind;
    uint8_t scalar;         /* Scalar, for TY_SCALAR */
    bool weak;              /* TY_SCALAR: a Python scalar (NEP 50) */
    uint8_t ndim;           /* TY_ARRAY */
    uint8_t layout;         /* ArrayLayout, for TY_ARRAY */
    bool readonly;          /* TY_ARRAY */
    bool record;            /* TY_ARRAY */
    bool unaligned;         /* TY_ARRAY: elements may lie at any address */
    uint8_t form, align;    /* TY_STRUCT: StructForm; what its address is a multiple of.  TY_TIME: TimeUnit */
    uint32_t bytes;         /* TY_STRUCT; TY_TIME: units a tick; TY_CHARS: characters */
    const uint32_t *places; /* TY_STRUCT: offset of each item; TY_NESTED: extent of each axis */
    uint8_t iter;           /* IterKind, for TY_ITER */
    const FuncHead *func;   /* TY_FUNC */
    ObjRef object;          /* TY_PYFUNC, TY_CLOSURE, TY_EXC_CLASS, TY_EXC, TY_OBJECT */
    const char *title;      /* of a class that is the object: its qualified name, for messages alone; may be NULL */
    bool flag;              /* TY_SCALAR with an object; TY_TIME */
    uint32_t count;         /* of items */
    const Type *const *items;
    const char *const *names; /* TY_STRUCT; TY_TUPLE with an object, "" where the class means something else by it */

    /* of types.c alone */
    struct TypeTable *table;
    const Repr *_Atomic repr; /* NULL: not asked for yet */
};

/* The interning table: internally locked, one per module state, freed with it.  Every constructor returns the one equal
 * Type. */
typedef struct TypeTable TypeTable;
TypeTable *type_table_new(void); /* NULL: no memory */
void type_table_free(TypeTable *table);
/* True once a constructor found no memory: it then gave the type TY_BOTTOM, and whatever was compiled with it is not to
 * be used. */
bool type_table_exhausted(TypeTable *table);
void type_table_fail_after(TypeTable *table, size_t n); /* tests only: as arena_fail_after */

const Type *type_simple(TypeTable *table, TypeKind kind); /* the kinds without parameters */
/* weak is ignored where no Python type has the value set. */
const Type *type_scalar(TypeTable *table, Scalar scalar, bool weak);
const Type *type_tuple(TypeTable *table, const Type *const *items, size_t count);
const Type *type_named_tuple(TypeTable *table, ObjRef class, const char *title, const char *const *names,
                             const Type *const *items, size_t count);
/* A tuple of the class of `like`, with as many items. */
const Type *type_tuple_like(TypeTable *table, const Type *like, const Type *const *items);
const Type *type_enum(TypeTable *table, ObjRef class, const char *title, bool flag);
const Type *type_optional(TypeTable *table, const Type *content); /* of None or an Optional: itself */
/* element may be weak: the array's is strong.  F with one dimension is C, and so is any layout with none. */
const Type *type_array(TypeTable *table, const Type *element, unsigned ndim, ArrayLayout layout, bool readonly);
/* A view on an array: of the same elements. */
const Type *type_view(TypeTable *table, const Type *array, unsigned ndim, ArrayLayout layout);
/* What field number `field` of the structs in an array, or of one record, is in memory: a view. */
const Type *type_field_view(TypeTable *table, const Type *array, unsigned field);
/* One record in memory: an array without axes whose element is the value. */
const Type *type_record(TypeTable *table, const Type *structure, bool readonly);
/* count 1 to 4; alignment as CUDA's types of that name have it. */
const Type *type_vector(TypeTable *table, Scalar scalar, unsigned count);
enum { VECTOR_MAX_COUNT = 4 };
const Type *type_vector_named(TypeTable *table, const char *name, size_t length); /* "float32x4"; NULL: none */
/* Ticks of `count` units. */
const Type *type_time(TypeTable *table, bool delta, TimeUnit unit, uint32_t count);
/* With ticks that both are multiples of; NULL: there are none. */
const Type *type_time_common(TypeTable *table, bool delta, const Type *a, const Type *b);
int64_t time_factor(const Type *from, const Type *to); /* ticks of `to` in one of `from`; 0: no whole number */
const char *time_unit_name(TimeUnit unit);
bool time_unit_find(const char *name, size_t length, TimeUnit *unit);
/* An instance of a class with these attributes, laid out as a tuple of them. */
const Type *type_instance(TypeTable *table, ObjRef class, const char *title, bool flag, const char *const *names,
                          const Type *const *items, size_t count);
/* S, or wide U, of so many characters. */
const Type *type_chars(TypeTable *table, bool wide, uint32_t count);
enum { CHARS_MAX_COUNT = 256 }; /* longer ones are not compiled: each character is a leaf */
/* The struct that `like` says: form, count, items, names, places, bytes, align. */
const Type *type_struct(TypeTable *table, const Type *like);
const Type *type_nested(TypeTable *table, const Type *element, unsigned ndim, const uint32_t *extents);
const Type *type_slice(TypeTable *table, const Type *start, const Type *stop, const Type *step);
const Type *type_iter(TypeTable *table, IterKind iter, const Type *const *over, size_t count);
/* FLAT LIST DTYPE CLASS CLOSURE CELL EXC TEXT */
const Type *type_with_items(TypeTable *table, TypeKind kind, ObjRef object, const Type *const *items, size_t count);
const Type *type_object(TypeTable *table, TypeKind kind, ObjRef object); /* PYFUNC EXC_CLASS OBJECT */
const Type *type_func(TypeTable *table, const FuncHead *func);
/* Where the parsers of types and functions find library functions; none are known before. */
void type_table_set_functions(TypeTable *table, FuncFinder *find, void *self);
const FuncHead *type_table_function(const TypeTable *table, const char *name, size_t length); /* NULL: none */

/* What derives from what among exception classes: `all` are the class itself and its bases.  builtin: its name, if it
 * is one of the interpreter's, else NULL.  Nothing happens if the class is known. */
void type_table_add_exception(TypeTable *table, ObjRef class, const char *builtin, const ObjRef *all, size_t count);
/* Whether an exception of a class, or of the interpreter's class of that name, is one of `base`, which was added. */
bool type_table_exception_is(TypeTable *table, ObjRef class, const char *builtin, ObjRef base);

/* The text of a type, as messages, dumps and tests show it, and back:
 *   int float complex bool (weak)   int8 ... complex128 bool_ (strong; strong bool prints as bool_)   None
 *   (int, float32) for a tuple, (int,) for one item   int?  for an Optional
 *   named app.P#7(x: int, y: float)  for a namedtuple   enum app.E#8  flag#9  for members of an IntEnum and an IntFlag
 *   array(float32, 2, C) array(float32, 1, C, readonly) array(float32, 1, A, unaligned)   float32x4
 *   record(x: float32 @ 0, "a b": nested(int8, 2, 3) @ 4; 16, 4) with size and alignment, recordclass(...) for
 *   numpy.record; ref(record(...)) ref(record(...), readonly) for one in memory
 *   instance app.P#7(x: int, y: float)  frozen#7(...) if an equal one may stand for it
 *   S3 U10   datetime64[25s] timedelta64[ns] timedelta64 (no unit)
 *   range  slice(int, None, None)  Ellipsis  str  flat(array(...))
 *   iter.range(int) iter.zip(a, b)   dtype(float32)   class(float32)  class#8(float32)   func(math.sin)
 *   pyfunc#3  closure#3(...)  cell(int)  exc#4(int)  text(str, int)  caught   exc_class#4  object#5  bottom */
void type_print(Buf *buf, const Type *type);
const char *type_text(Arena *arena, const Type *type);
/* NULL: not a type; *end, if end is not NULL, is what follows it. */
const Type *type_parse(TypeTable *table, Arena *scratch, const char *text, const char **end);

typedef struct Const Const;

/* A class whose call makes a named tuple or an instance with these attributes, as what a call needs to know of it. */
typedef struct StructClass {
    const char *title;
    bool tuple, frozen;
    size_t count, least;           /* fields; the first `least` have no default */
    const char *const *parameters; /* their names */
    const char *const *names;      /* as in Type.names */
    const Const *const *fallbacks; /* defaults; NULL: none */
} StructClass;

static inline bool type_is_scalar(const Type *type) { return type->kind == TY_SCALAR; }
static inline char type_scalar_kind(const Type *type) {
    return type->kind == TY_SCALAR ? scalar_info[type->scalar].kind : 0;
}
static inline bool type_is_integer(const Type *type) /* bool counts, as in Python */
{
    char kind = type_scalar_kind(type);
    return kind == 'i' || kind == 'u' || kind == 'b';
}
static inline const Type *type_element(const Type *array) { return array->items[0]; }
/* The scalar that the elements are; -1: they are no scalars. */
static inline int type_element_scalar(const Type *array) {
    return array->items[0]->kind == TY_SCALAR ? array->items[0]->scalar : -1;
}
static inline bool type_is_record(const Type *type) {
    return type->kind == TY_STRUCT && (type->form == STRUCT_RECORD || type->form == STRUCT_RECORD_CLASS);
}
/* Whether arrays of such elements exist. */
bool type_can_be_element(const Type *type);
/* Index of a field of a struct or a namedtuple; -1: it has none of that name. */
int type_field(const Type *type, const char *name);

/* What one element of an array is as a value: its type; a reference to a record. */
const Type *type_element_value(TypeTable *table, const Type *array);
/* What an iterator gives; NULL: nothing, ever.  array[i] of one int, what iterating over an array gives. */
const Type *type_iter_item(TypeTable *table, const Type *iter);
/* Items taken out of a list have references of their own, and the list may change while it is walked. */
bool type_walks_list(const Type *iter);
const Type *type_array_item(TypeTable *table, const Type *array);
/* Whether array[index] is one element: an integer for each axis. */
bool type_takes_element(const Type *array, const Type *index);

/* What a barrier tells of the predicates of the threads that meet. */
typedef enum BarrierVote { VOTE_COUNT, VOTE_ALL, VOTE_ANY } BarrierVote;

/* What the lanes of a warp do together: those of a mask meet, each brings a value and takes one away.  The rows of
 * cuda.def stand in this order. */
typedef enum WarpOp {
    WARP_MEET, /* and bring nothing */
    WARP_SHFL, /* the value of a lane: by number, so far down, so far up, exclusive or; its own where there is none */
    WARP_SHFL_UP,
    WARP_SHFL_DOWN,
    WARP_SHFL_XOR,
    WARP_ALL, /* 1 or 0: whether the value is not 0 in all, in any, in all or none */
    WARP_ANY,
    WARP_EQ,
    WARP_BALLOT,    /* the lanes whose value is not 0 */
    WARP_MATCH_ANY, /* the lanes that bring the same value */
    WARP_MATCH_ALL, /* all of them if they bring the same value, else 0 */
    WARP_ADD,       /* reductions of integers */
    WARP_AND,
    WARP_OR,
    WARP_XOR,
    WARP_MIN, /* signed */
    WARP_MAX,
    WARP_UMIN,
    WARP_UMAX,
    WARP_ACTIVE, /* the lanes that are here: needs no mask */
} WarpOp;

/* ---- attributes ---- */

typedef enum AttrId {
#define ATTR(kind, name, rule, lower, doc) ATTR_##kind##_##name,
#include "ir/ir_attrs.def"
#undef ATTR
    ATTR_COUNT
} AttrId;

typedef struct AttrInfo {
    TypeKind kind;
    const char *name, *doc;
} AttrInfo;
extern const AttrInfo attr_info[ATTR_COUNT];
AttrId attr_find(TypeKind kind, const char *name); /* ATTR_COUNT: there is none */

/* The scalar that a text means as a NumPy dtype ("float32", "f4", "single"); false: another dtype, or none. */
bool scalar_of_dtype_text(const char *text, Scalar *scalar);

/* ---- constants ---- */

typedef struct ArrayConst { /* a global array: its memory is used where it lies on the host, copied into the module for
                               a GPU */
    void *data;
    void *owner; /* on the host: the PyObject *, which the code's guards keep alive */
    ObjRef object;
    const int64_t *shape, *strides;
} ArrayConst;

struct Const {
    const Type *type; /* always known */
    union {
        int64_t i; /* integers and bool; uint64 by its bits */
        double f;  /* floats of every width, exactly representable */
        struct {
            double re, im;
        } c;
        const char *text;          /* str, S, U */
        const Const *const *items; /* tuple, slice: type->count of them; range: start, stop, step */
        const ArrayConst *array;
    };
    /* A Python int beyond int64: with i < 0 these are its bits as a uint64, and it may become a uint64 or a float; any
     * other use is refused. */
    bool too_big;
};

/* ---- SSA ---- */

typedef enum Op {
#define OP(name, text, operands, rule, effects, doc) OP_##name,
#include "ir/ir_ops.def"
#undef OP
    OP_COUNT
} Op;

typedef struct OpInfo {
    const char *text;
    int operands; /* -1: any number */
    const char *rule, *effects, *doc;
} OpInfo;
extern const OpInfo op_info[OP_COUNT];
bool op_is_terminator(Op op); /* JUMP BRANCH RETURN RAISE RERAISE RESUME UNREACHABLE */
bool op_has_result(Op op);    /* false: it is executed for its effect alone (SETITEM, CHECK_BOUND, terminators ...) */
Op op_find(const char *text, size_t length); /* by its text; OP_COUNT: none */

/* What happens when a value is computed, besides computing it (effects.c): a set. */
typedef uint32_t Effects;
enum {
    EFFECT_READ = 1,     /* reads memory */
    EFFECT_WRITE = 2,    /* writes memory */
    EFFECT_RAISE = 4,    /* may raise */
    EFFECT_SYNC = 8,     /* waits for other threads */
    EFFECT_CONTROL = 16, /* ends its block */
    EFFECT_NEW = 32,     /* makes an object: its result holds a reference of its own */
    EFFECT_ALL = 31      /* but NEW, which operations say of themselves */
};

enum ValueFlags {
    VF_INPLACE = 1,   /* augmented assignment */
    VF_UNCHECKED = 2, /* it cannot raise: index in range, divisor not zero */
    VF_FORWARD = 4,   /* an index that is negative only if it has wrapped, and outside then (intervals) */
    VF_CHECKED = 8,   /* Python error model: raises where the interpreter raises; set by inference */
    VF_NOWRAP = 16,   /* integer add, sub, mul, neg: the result fits its type (intervals) */
    VF_SHARED = 32,   /* an iterator that more than the loop it was made for sees; pass iterators */
    VF_IMPLICIT = 64, /* of a return: the function's end, not a return statement */
    VF_OWNED = 128,   /* a reference goes with it: its result has one of its own; RETURN, CELL and CELL_SET take one
                         (ownership) */
};

/* What an integer lies between, both included. */
typedef struct Bounds {
    int64_t lo, hi;
} Bounds;

typedef struct Value Value;
typedef struct Block Block;
typedef struct Func Func;
typedef struct FuncInst FuncInst;

struct Value {
    Op op;
    uint32_t flags;
    uint32_t id; /* %id in dumps; unique in the function */
    uint32_t nargs;
    Value **args;
    const Type *type;   /* NULL: not inferred yet */
    const Const *konst; /* CONST: the constant; elsewhere: what inference proved it to be, or NULL */
    Block *block;
    Value *prev, *next;
    Span span;
    const char *name;     /* the Python variable it was stored to, for messages; may be NULL */
    const Bounds *bounds; /* of an integer, where tighter than its type's (pass intervals), else NULL */
    struct {
        int64_t i;        /* PARAM UNPACK UNPACK_EX EXTRACT NEW_ARRAY BROADCAST MAP; TRUEDIV: 1 if both were integers;
                             LIST: 1 if more than its operands is put in */
        const char *text; /* GETATTR SETATTR CELL_GET CHECK_BOUND */
        const char *const *names; /* CALL: keyword names */
        uint32_t nnames;
        ObjRef object;        /* FUNCTION */
        const FuncHead *func; /* CALL_FUNC */
        FuncInst *inst;       /* CALL_INST MAP */
    } imm;
    void *mark; /* scratch for the pass that runs */
};

typedef VEC(Block *) BlockList;

/* Where a block goes: to the successors that its terminator chooses from and, if it unwinds, last of all to the one
 * that what a value in it raises goes to (block_unwind), which is none of the others.  A block that does not unwind
 * leaves the function when something is raised.  Along the raise edge the handler sees of the block what stands before
 * the first value that may raise. */
struct Block {
    uint32_t id;
    Value *first, *last; /* phis first; last is the terminator once the block is complete */
    BlockList succs, preds;
    bool unwinds;
    Block *idom;    /* after func_compute_dominators */
    uint32_t order; /* position in reverse post-order, from 0; UINT32_MAX: unreachable */
    void *mark;
};

typedef enum ParamKind { PARAM_POSITIONAL_ONLY, PARAM_NORMAL, PARAM_VARARGS, PARAM_KEYWORD_ONLY, PARAM_CELL } ParamKind;
typedef struct Param {
    const char *name;
    ParamKind kind;
    bool has_default;
    bool assigned;         /* the function assigns to it: from there on it is a variable like others */
    const Const *fallback; /* the default when it is a constant known to the frontend; a closure's defaults come with
                              the closure */
    uint8_t asked,
        needs_constant; /* inference's: bit d, whether at call depth d it must be a constant (rules_call.c) */
} Param;

struct Func {
    Arena *arena;
    TypeTable *types;
    const char *name;
    const Source *source;
    Span span;     /* of the def line */
    ObjRef object; /* the Python function it came from; 0 for parsed text */
    Param *params; /* in the order of the code's local variables; cells of a closure last */
    uint32_t nparams;
    VEC(Block *) blocks; /* blocks.data[0] is the entry, which has no predecessors */
    uint32_t next_value, next_block;
    const Type *result; /* after inference */
};

/* A call that was typed with what was known of its callee's result then. */
typedef struct CallSite {
    FuncInst *caller;
    Value *call;
} CallSite;

/* One specialisation: a function with the types of its parameters.  Kept by the driver in the order found; number 0 is
 * the root. */
struct FuncInst {
    uint32_t id;
    ObjRef object;
    const Func *untyped;
    Func *func;               /* typed clone; NULL before its first inference */
    const Type *const *types; /* one per parameter of untyped */
    const Const *const
        *konsts;        /* one per parameter: constant it is known to be (literal shapes, None, bool), or NULL */
    const Type *result; /* TY_BOTTOM: not known yet */
    const Const *result_konst;
    uint64_t writes; /* bit i: what parameter i refers to may be written (63: any from there on); pass written */
    bool summarised; /* effects are known: effects_summarise ran */
    Effects effects; /* of a call */
    bool loops;      /* it has a loop, or calls a function that has: pass safepoints */
    bool recursive;  /* calls lead from it back to it: raises, where the depth is checked */
    uint8_t
        depth; /* of recursive functions: 0 looks at the stack and for signals; a copy that does not (pass recursion) */
    uint32_t height;         /* calls of the longest chain below it; of recursive functions of some chain */
    bool has_loop;           /* in its own body (pass loops) */
    bool never_returns;      /* every call ends by raising: calls of it are followed by UNREACHABLE */
    uint32_t options;        /* FuncOptions of its own decorator */
    bool outlined;           /* a part of its caller, as the source has it: pass parallel */
    FuncInst *piece, *join;  /* what a region of parallel iterations is made of (pass parallel), else NULL */
    struct Infer *inference; /* its solver while types may still grow, else NULL */
    VEC(CallSite) waiting;   /* to be typed again when result changes */
    VEC(FuncInst *) callers; /* whose typed code calls it, nearly each once; insts_find_calls */
    FuncInst *caller;        /* who asked for it first; NULL: the root */
    uint32_t changes;        /* of its result so far */
    bool queued;
};

/* All that is compiled together, typed; number 0 of insts is the root.  Passes change it and note facts in it. */
typedef struct Program {
    Arena *arena;
    TypeTable *types;
    Diag *diag;
    FuncInst **insts;
    size_t count;
    bool parallel;      /* loops over prange may use several cores */
    bool index_raises;  /* an index outside an array raises (value_effects) */
    bool uninterrupted; /* code does not look for signals */
    unsigned
        inner_axis;    /* of a kernel on the host: 0 or 1, the axis of the innermost loop over threads (thread_order) */
    bool joins_blocks; /* its neighbouring blocks along that axis may run as one (thread_order) */
} Program;

/* What code may spend between two safepoints, in simple operations: passes/safepoints.c. */
enum { SAFEPOINT_BUDGET = 1 << 20 };

enum FuncOptions { OPT_PYTHON_ERRORS = 1, OPT_BOUNDSCHECK = 2, OPT_INLINE = 4, OPT_DEVICE = 8 };

Effects op_effects(Op op); /* of the row: the most that any such value may do */
/* The same; what its column CHECK says raises only where VF_CHECKED is set. */
Effects func_effects(const FuncHead *func);
/* From the row, the operand types and the flags; before inference from the row alone.  index_raises: an index outside
 * an array raises; else the access is left out, or nobody knows what happens. */
Effects value_effects(const Value *value, bool index_raises);
/* FuncInst.callers and recursive of all functions of a compilation, which are typed. */
void insts_find_calls(Arena *arena, FuncInst *const *insts, size_t count);
/* FuncInst.effects of all functions of a compilation, which are typed and numbered as they stand. */
void effects_summarise(Arena *arena, FuncInst *const *insts, size_t count, bool index_raises);

/* The compiled function that the value calls, or NULL. */
static inline FuncInst *value_callee(const Value *value) {
    return value->op == OP_CALL_INST || value->op == OP_MAP ? value->imm.inst : NULL;
}
/* Of a map: whether its last operand is a mask. */
static inline bool map_is_masked(const Value *map) {
    uint32_t sources = map->imm.inst ? map->imm.inst->untyped->nparams : 1;
    return map->nargs > (uint32_t)map->imm.i + sources;
}

Bounds type_bounds(const Type *type); /* of an integer type, as of a value of it */
/* Of an integer: what is known, at least what its type says; hi of a uint64 is INT64_MAX where it may be more. */
Bounds value_bounds(const Value *value);
static inline bool value_is_nonnegative(const Value *value) { return value_bounds(value).lo >= 0; }
bool value_counts_forward(const Value *value);      /* as an index: VF_FORWARD, or not negative */
bool value_fits(const Value *value, unsigned bits); /* into a signed integer of that many bits */

/* Builder: appends to a block, keeps preds and succs in step. */
Func *func_new(Arena *arena, TypeTable *types, const char *name, const Source *source);
Block *block_new(Func *func);
Value *value_new(Func *func, Op op, Span span, Value *const *args, size_t nargs); /* not yet in a block */
Value *block_append(Func *func, Block *block, Op op, Span span, Value *const *args, size_t nargs);
Value *block_append_const(Func *func, Block *block, Span span, const Const *konst);
Value *block_add_phi(Func *func, Block *block, Span span); /* operands are set by phi_set_args once preds are known */
void phi_set_args(Func *func, Value *phi, Value *const *args, size_t nargs);
void value_insert_before(Value *at, Value *value);
void value_remove(Value *value);
void value_replace(Func *func, Value *old, Value *with); /* every use */
static inline Block *block_unwind(const Block *block)    /* NULL: out of the function */
{
    return block->unwinds ? block->succs.data[block->succs.len - 1] : NULL;
}
/* Successors without the one for what is raised. */
static inline size_t block_normal_succs(const Block *block) { return block->succs.len - block->unwinds; }
size_t block_count_edges(const Block *from, const Block *to);
void block_add_edge(Func *func, Block *from, Block *to);
/* For a new predecessor, its last: each phi has the operand that it has for the one at `like`. */
void block_repeat_operands(Func *func, Block *block, size_t like);
void block_set_unwind(Func *func, Block *block, Block *handler); /* NULL: it does not unwind */
/* What `to` raises goes where what `from` raises goes, with the same operands for phis. */
void block_unwind_like(Func *func, Block *to, const Block *from);
void block_jump(Func *func, Block *from, Span span, Block *to);
void block_branch(Func *func, Block *from, Span span, Value *condition, Block *if_true, Block *if_false);
/* Also drops the phis' operands; a branch becomes a jump, a jump `unreachable`; a raise edge leaves it as it is. */
void block_remove_edge(Func *func, Block *from, Block *to);

/* Constants are made in the function's arena. */
const Const *const_int(Arena *arena, TypeTable *types, int64_t value); /* weak int */
const Const *const_bool(Arena *arena, TypeTable *types, bool value);
const Const *const_float(Arena *arena, TypeTable *types, double value);
const Const *const_complex(Arena *arena, TypeTable *types, double re, double im);
const Const *const_str(Arena *arena, TypeTable *types, const char *text);
const Const *const_tuple(Arena *arena, TypeTable *types, const Const *const *items, size_t count);
const Const *const_typed_tuple(Arena *arena, const Type *type, const Const *const *items);
const Const *const_enum(Arena *arena, const Type *type, int64_t value);
const Const *const_chars(Arena *arena, const Type *type, const char *text); /* UTF-8; what is too long is cut off */
const Const *const_none(Arena *arena, TypeTable *types);
/* The kinds whose type says it all: FUNC PYFUNC DTYPE CLASS OBJECT ... */
const Const *const_of(Arena *arena, const Type *type);
bool const_equal(const Const *a, const Const *b); /* the same type and bits: 0.0 is not -0.0, a NaN is itself */
/* The text of a constant says its type too: 1 True 2.5 complex(1.0, 2.0) (weak), int8(1) float32(2.5)
 * complex64(1.0, 2.0) (strong), None, "text", (1, 2.5), slice(0, None, None), range(0, 10, 1), int(too_big),
 * array(float32, 1, C)[10; 4]@7 (shape; strides; object); for kinds whose type says it all the type's text. */
void const_print(Buf *buf, const Const *konst);
const Const *const_parse(Arena *arena, TypeTable *types, const char *text, const char **end); /* NULL: not a constant */

/* Analyses and clean-ups, one file each. */
void func_clear_marks(Func *func); /* of its values */
/* Constants, names and types are shared with the original; marks are NULL. */
Func *func_clone(Arena *arena, const Func *func);
void func_renumber(Func *func);      /* values and blocks count from 0 in the order in which they stand */
void func_compute_order(Func *func); /* sorts blocks in reverse post-order; drops unreachable ones and their edges */
/* After func_compute_order.  Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001). */
void func_compute_dominators(Func *func);
bool func_remove_trivial_phis(Func *func); /* progress */
bool func_remove_dead(Func *func);         /* values nobody uses that value_is_removable; progress */
/* Whether nobody would notice if an unused value were not computed.  Conservative before inference: what may raise
 * stays. */
bool value_is_removable(const Value *value);

/* Text.  func_print and func_parse are inverse on everything but spans and objects.
 *   func add(x: int, y: float32 = 1.0, kwonly z, *rest, cell c) -> float32 {
 *   b0:
 *     %5: float32 = cast %0
 *     %6 total: float32 = add.inplace %5, %1
 *     branch %7, b1, b2
 *   b1:
 *     ...
 *     %9: float32 = phi b0 %6, b1 %8
 *     return %9
 *   }
 * Parameters are %0 ... of the OP_PARAM values that open the entry block, one per parameter in order.  "%6 total": name
 * is what the value was stored to.  Flags follow the operation (.inplace .unchecked .forward .checked .nowrap), imm
 * stands in brackets (getattr[shape] extract[1] unpack_ex[1, 2] call_func[math.sin] call_inst[f#3] map[1, f#3]
 * function[object#3]),
 * keywords before their operands (call %1, %2, key=%3), a constant that inference proved after "is" (%4: int = add %1,
 * %2 is 5), bounds after "in" (%4: int = add %1, %2 in 0..99; 0.. and ..99 where the other is the type's).  A default
 * that is not known is "= ...".  Operations without a result have no number. From ";" to the end of the line is a
 * comment. */
void func_print(Buf *buf, const Func *func);
Func *func_parse(Arena *arena, TypeTable *types, const char *text, Diag *diag);
/* Checks form (one terminator, phis, dominance, operand counts) and, if typed, types.  False: diag holds the function's
 * text with every fault written at the line it belongs to. */
bool func_verify(const Func *func, bool typed, Diag *diag);
/* Every function of a program, each below the facts that passes noted about it, as comments. */
void program_print(Buf *buf, const Program *program);
bool program_verify(const Program *program); /* every function's typed form; false: program->diag */

#endif
