/* repr.h: the one representation of each type: the leaves that a value consists of and where they lie in memory.
 *
 * A leaf is what one register holds: a number, a pointer.  Code that generates, loads, stores, passes or copies values
 * is a loop over the leaves of their type; nothing but repr.c knows how a kind of type is laid out.  Part of ir.h.
 *
 * Layout, wherever C code meets generated code (ir_abi.def):
 *   scalar                    its NumPy size and alignment; bool is one byte; complex two parts, aligned as one part
 *   None, functions, types    no bytes
 *   tuple, slice, closure,
 *   exception instance        C struct of the items
 *   struct                    its items at their offsets, in its size
 *   S, U                      an integer for each character
 *   nested array              its size; no leaves: it is reached in memory alone
 *   Optional                  struct { content; uint8_t present; }
 *   range                     struct { int64_t start, stop, step; }
 *   array, flat               struct { void *data, *owner; int64_t shape[ndim], strides[ndim]; }
 *                             owner keeps the data alive: the PyObject * it came from, which the caller of the
 *                             compiled function holds, or with OWNER_HEAP the HeapHead * of the buffer, or of what
 *                             stands for a PyObject (HEAP_OUTSIDE), whose references are counted; NULL: nobody does
 *                             (on a GPU);
 *                             OWNER_VIEW is added to it once the array is a view made in compiled code;
 *                             strides in bytes.  Generated code neither reads nor writes strides that the layout of
 *                             the array implies: no leaf stands for them.
 *   dict, set                 C struct of the items, two lists; leaves of the dict or the set: axis 0 and 1
 *   list, string              the HeapHead * of its object (ListBody, ir_abi.def), with OWNER_HEAP
 *   cell, iterator            pointer into the memory of the function that made it; never leaves generated code */
#ifndef KRAIT_IR_REPR_H
#define KRAIT_IR_REPR_H

#include "base/base.h" /* Arena */

typedef struct Type Type;

typedef enum LeafKind {
    LEAF_SCALAR,  /* a number or bool, or one part of a complex number */
    LEAF_PRESENT, /* whether an Optional holds a value */
    LEAF_DATA,    /* pointer to an array's first element */
    LEAF_OWNER,
    LEAF_SHAPE,  /* extent of an axis */
    LEAF_STRIDE, /* bytes from one item of an axis to the next */
    LEAF_STATE,  /* pointer to a cell or an iterator's state */
} LeafKind;

typedef struct Leaf {
    uint8_t kind;   /* LeafKind */
    uint8_t scalar; /* Scalar as it lies in memory, if it is a number: all but the pointers */
    uint8_t axis;   /* SHAPE STRIDE */
    uint8_t align;
    uint32_t offset;
    const Type *array; /* DATA OWNER SHAPE STRIDE: the array, or of an owner the list, that it belongs to, else NULL */
} Leaf;

typedef struct Part { /* one item of a composite: count of its leaves from number first on */
    uint32_t first, count, offset;
} Part;

typedef struct Repr {
    size_t size, align; /* align is 1 for what has no bytes */
    uint32_t nleaves, nparts;
    const Leaf *leaves;
    const Part
        *parts; /* items of tuple, struct, slice, closure, exception; range: start, stop, step; Optional: content,
                   present */
} Repr;

/* More leaves than this are not compiled: inference refuses the value. */
enum { REPR_MAX_LEAVES = 1 << 16 };

const Repr *type_repr(const Type *type); /* computed at the first question, kept with the type */
/* For type_repr alone: what it keeps.  Lies in the arena or is constant; the items of the type have theirs already. */
const Repr *repr_make(Arena *arena, const Type *type);
size_t type_size(const Type *type);
size_t type_align(const Type *type);
/* Of an array's elements: complex numbers, whose parts need less, are one access where they lie as a whole does. */
size_t type_whole_align(const Type *element);
size_t type_item_offset(const Type *type, size_t index); /* of part `index` */
/* Whether bytes of the one are bytes of the other: names, alignment and class do not count. */
bool type_same_bytes(const Type *a, const Type *b);
size_t leaf_bytes(const Leaf *leaf);
bool leaf_is_pointer(const Leaf *leaf);
bool type_is_object(const Type *type);  /* a value is one object of the heap, its only leaf: a list, a string */
bool type_is_counted(const Type *type); /* its values refer to objects that may count references: a leaf is an owner */

/* The one C picture of an array in memory; shape and strides follow it: int64_t shape[ndim], strides[ndim]. */
typedef struct ArrayHead {
    void *data;
    void *owner;
} ArrayHead;
enum { OWNER_VIEW = 1, OWNER_HEAP = 2, OWNER_BITS = OWNER_VIEW | OWNER_HEAP };

/* A kernel's parameters on a GPU: the leaves of every argument in order, but owners, each at its natural alignment.
 * The launcher and the kernel's LLVM signature are both made from this list. */
typedef struct KernelParam {
    const Leaf *leaf;  /* its offset is in the argument's own bytes */
    uint32_t argument; /* number of the argument it belongs to */
    uint32_t to;       /* byte offset in the parameter buffer */
} KernelParam;
/* Returns the number of parameters; *params lies in the arena; *bytes is the size of the parameter buffer. */
size_t kernel_params(Arena *arena, const Type *const *types, size_t count, KernelParam **params, size_t *bytes);

#endif
