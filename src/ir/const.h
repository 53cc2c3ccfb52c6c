/* const.h: constants: what the program's text, or what inference has found out, says that a value is.
 *
 * They are made in an arena, mostly the function's, and nobody changes one.  Their text says their type, too. */
#ifndef KRAIT_IR_CONST_H
#define KRAIT_IR_CONST_H

#include "base/base.h" /* Arena, Buf, VEC */
#include "ir/types.h"  /* Type, ObjRef */

typedef struct ArrayConst { /* a global array: its memory is used where it lies on the host, copied into the module for
                               a GPU */
    void *data;
    void *owner; /* on the host: the PyObject *, which the code's guards keep alive */
    ObjRef object;
    const int64_t *shape, *strides;
    bool on_device; /* an array of a device: its memory is used where it lies there, too, and may be written to */
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
    /* A list, dict or set that a global variable holds: i is its number among the Captures of the compilation, and its
     * type is that of an object.  It is no value: block_append_const makes OP_CAPTURED of it. */
    bool captured;
};

/* The lists, dicts and sets of global variables and attributes that compiled code works on: each call is given them
 * behind its arguments. */
typedef struct Captured {
    ObjRef object;
    const Type *type;   /* as the first call finds it, with what compiled code puts in if it is empty */
    const Type *wanted; /* what inference finds that it would have to be; NULL: it may stay */
    bool looked_at;     /* inference has: the code holds for this type, even if no operation names it any more */
    uint32_t param;     /* 1 + which parameter of the first function it is, once pass captures has run; 0: none */
} Captured;
typedef VEC(Captured) Captures;

const Const *const_int(Arena *arena, TypeTable *types, int64_t value); /* weak int */
const Const *const_bool(Arena *arena, TypeTable *types, bool value);
const Const *const_float(Arena *arena, TypeTable *types, double value);
const Const *const_complex(Arena *arena, TypeTable *types, double re, double im);
const Const *const_str(Arena *arena, TypeTable *types, const char *text);
const Const *const_tuple(Arena *arena, TypeTable *types, const Const *const *items, size_t count);
const Const *const_typed_tuple(Arena *arena, const Type *type, const Const *const *items);
const Const *const_enum(Arena *arena, const Type *type, int64_t value);
const Const *const_chars(Arena *arena, const Type *type, const char *text); /* UTF-8, not copied */
const Const *const_none(Arena *arena, TypeTable *types);
/* The kinds whose type says it all: FUNC PYFUNC DTYPE CLASS OBJECT ... */
const Const *const_of(Arena *arena, const Type *type);
size_t const_item_count(const Const *konst);      /* how many items it consists of: of a tuple, a slice, a range */
bool const_equal(const Const *a, const Const *b); /* the same type and bits: 0.0 is not -0.0, a NaN is itself */
/* The text of a constant says its type too: 1 True 2.5 complex(1.0, 2.0) (weak), int8(1) float32(2.5)
 * complex64(1.0, 2.0) (strong), None, "text", (1, 2.5), slice(0, None, None), range(0, 10, 1), int(too_big),
 * array(float32, 1, C)[10; 4]@7 (shape; strides; object); for kinds whose type says it all the type's text. */
void const_print(Buf *buf, const Const *konst);
const Const *const_parse(Arena *arena, TypeTable *types, const char *text, const char **end); /* NULL: not a constant */
/* Shares the type alone: it may outlive the original.  NULL of NULL. */
const Const *const_copy(Arena *arena, const Const *konst);

#endif
