/* library.h: what compiled code may call: one row per function, and the same lookup for rows that users add.
 *
 * functions.def lists the rows that Krait brings, a file for each Python library; func_info has them by FuncId.  A
 * Library is the set that one module state knows: those rows and the added ones, found by any of their names. */
#ifndef KRAIT_LIBRARY_H
#define KRAIT_LIBRARY_H

#include "ir/ir.h" /* FuncHead, Op, ObjRef */

/* ---- rows ---- */

enum {
#define FUNC(id, ...) FUNC_##id,
#include "library/functions.def"
#undef FUNC
    FUNC_COUNT /* ids from here on are of added rows */
};

enum { FUNC_MANY = 255 }; /* FuncHead.most: any number of arguments */
enum { FUNC_ERRORS = 3 }; /* errors that rtlib's check of a function may tell apart */

/* The Python library a row belongs to. */
typedef enum LibraryId {
    LIBRARY_NONE,
    LIBRARY_PYTHON,
    LIBRARY_MATH,
    LIBRARY_CMATH,
    LIBRARY_OPERATOR,
    LIBRARY_NUMPY,
    LIBRARY_RANDOM,
    LIBRARY_TIME,
    LIBRARY_STATISTICS,
    LIBRARY_TYPES,
    LIBRARY_COPY,
    LIBRARY_FUNCTOOLS,
    LIBRARY_DATACLASSES,
    LIBRARY_ITERTOOLS,
    LIBRARY_HEAPQ,
    LIBRARY_BISECT,
    LIBRARY_PRELUDE, /* for functions of krait.prelude alone */
    LIBRARY_KRAIT,
    LIBRARY_CUDA,
    LIBRARY_ADDED, /* by a user */
    LIBRARY_COUNT
} LibraryId;
typedef struct LibraryInfo {
    const char *prefix; /* of its names, with the dot: "math." */
    const char *title;
} LibraryInfo;
extern const LibraryInfo library_info[LIBRARY_COUNT];

/* A function that every platform brings: a row of platform_math.def. */
typedef enum MathId {
#define MATH(name, ...) MATH_##name,
#include "library/platform_math.def"
#undef MATH
    MATH_COUNT
} MathId;
typedef struct PlatformMath {
    const char *name;
    unsigned operands;
    const char *host64, *host32, *vector, *device64, *device32, *fast32;
} PlatformMath;
extern const PlatformMath platform_math[MATH_COUNT];
extern const struct PlatformSincos {
    const char *device64, *device32;
} platform_sincos;

typedef enum FuncHow {
    HOW_EXTERN,
    HOW_OP,
    HOW_RTLIB,
    HOW_HOSTED,
    HOW_EMIT,
    HOW_PRELUDE,
    HOW_TYPED,
    HOW_PYTHON
} FuncHow;
typedef enum FuncCheck {
    CHECK_NONE,
    CHECK_DOMAIN,
    CHECK_RANGE,
    CHECK_BOTH,
    CHECK_POW,
    CHECK_CALL,
    CHECK_FIRST
} FuncCheck;

typedef struct UfuncLoops {
    const char *types, *result, *integers; /* types NULL: not a ufunc */
} UfuncLoops;

typedef struct FuncRange {
    int64_t low, high; /* both 0: not known */
} FuncRange;

/* Which generator, whose state lies outside of compiled code, a function draws numbers from. */
typedef enum DrawnFrom { DRAWN_FROM_NONE, DRAWN_FROM_NUMPY, DRAWN_FROM_PYTHON, DRAWN_FROM_COUNT } DrawnFrom;

/* One row; functions.def tells what the columns mean. */
typedef struct FuncInfo {
    FuncHead head; /* what the intermediate representation knows of it; first, so that one is the other */
    LibraryId library;
    FuncHow how;
    MathId math;        /* EXTERN */
    Op op;              /* OP */
    const char *symbol; /* RTLIB HOSTED EMIT PRELUDE */
    ObjRef object;      /* PYTHON: the function that takes its place */
    const char *doc;
    FuncCheck check;
    const char *checker;                 /* CALL: its part of the name of rtlib's check */
    const char *errors[2 * FUNC_ERRORS]; /* CALL: class and text of error 1, of error 2 ... */
    UfuncLoops loops;
    FuncRange range;
    const char *signature; /* HOSTED, libdevice */
    DrawnFrom drawn_from;
    uint32_t index;             /* which argument is an index into argument 0; 0: none */
    uint32_t constants;         /* bit i: argument i must be a constant */
    const char *methods[2];     /* special methods of argument 0's class: it calls the first that is there; or NULL */
    const char *refused_method; /* that by which the class of a namedtuple or a member would answer; or NULL */
    const char *times;  /* a ufunc: the function of the prelude for dates and durations; NULL: its operation, or none */
    const char *spread; /* f(*x), x of no known length: the function of the prelude that is given x; NULL: none */
    uint32_t sequences; /* bit i: argument i is a sequence of items whose types may differ */
    uint32_t shapes;    /* bit i: argument i is a shape */
    bool takes_device;  /* device= */
    bool takes_like;    /* like= */
    bool is_indexed;    /* x[...], not x(...) */
    bool is_short;      /* on float32 a GPU computes it by a short sequence without branches */
    bool is_light;      /* a processor computes it of real numbers in a few cycles, without branches */
    bool elementwise;   /* a ufunc: takes whole arrays */
    bool takes_plain;   /* of a member of an enumeration, its text */
    bool is_static;     /* of a class, not told for which of its values it is called */
    bool takes_none;    /* a ufunc that has an answer for None, which NumPy takes for an object */
    bool vectors;       /* vector variants may stand for it */
    bool is_value;      /* read without a call */
} FuncInfo;
extern const FuncInfo func_info[FUNC_COUNT];

/* The row of a function that the intermediate representation names. */
static inline const FuncInfo *func_row(const FuncHead *head) { return (const FuncInfo *)head; }
static inline bool value_calls(const Value *value, FuncId func) {
    return value->op == OP_CALL_FUNC && value->imm.func->id == func;
}
/* The name that messages show: "sin" of the built-in functions, "math.sin" of the others. */
const char *func_shown_name(Arena *arena, const FuncInfo *info);

/* Whether dicts or sets have a method of that name that changes them. */
bool func_changes_table(const char *method);

/* Of a call of cuda.shared.array or cuda.local.array: what its constants ask for. */
typedef struct ArrayRequest {
    size_t bytes;       /* 0: shared memory whose size the launch says */
    unsigned alignment; /* of the first element */
} ArrayRequest;
enum { ARRAY_MAX_ALIGNMENT = 4096 };
ArrayRequest call_array_request(const Value *call);

/* ---- the set of a module state ---- */

/* Locked inside: any thread may ask and add. */
typedef struct Library Library;
Library *library_new(void); /* NULL: no memory */
void library_free(Library *library);
/* The row that answers to a full Python name ("math.sin"), or to the key of a row ("MATH_SIN"); NULL: none. */
const FuncInfo *library_find(const Library *library, const char *name, size_t length);
/* The same as a FuncFinder. */
const FuncHead *library_find_head(void *library, const char *name, size_t length);
const FuncInfo *library_row(const Library *library, FuncId id); /* NULL: no such row */
/* A row of the user's: calls of it become calls of a Python function, which is compiled in turn.  The texts are copied;
 * the row lives as long as the library.  NULL: no memory, or `name` is taken (*taken). */
const FuncInfo *library_add(Library *library, const char *name, ObjRef function, const char *doc, bool *taken);

#endif
