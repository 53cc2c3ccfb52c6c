/* abi.h: the structs that C code and generated code share, from ir_abi.def.  Part of ir.h. */
#ifndef KRAIT_IR_ABI_H
#define KRAIT_IR_ABI_H

#include <stdint.h> /* int32_t */

#define STRUCT(name)                          typedef struct name {
#define FIELD(structure, field, type, letter) type field;
#define END(name) \
    }             \
    name;
#include "ir/ir_abi.def"
#undef STRUCT
#undef FIELD
#undef END

/* What the letters say to generated code is what the C types are. */
enum { ABI_BYTES_p = sizeof(void *), ABI_BYTES_l = 8, ABI_BYTES_i = 4, ABI_BYTES_b = 1 };
#define STRUCT(name)
#define FIELD(structure, field, type, letter) \
    _Static_assert(sizeof(((structure *)0)->field) == ABI_BYTES_##letter, #structure "." #field);
#define END(name)
#include "ir/ir_abi.def"
#undef STRUCT
#undef FIELD
#undef END

enum { HEAP_CONTENT = 64 }; /* from a HeapHead to the object's content, which is aligned to as much */
_Static_assert(sizeof(HeapHead) <= HEAP_CONTENT, "the content lies behind the head");

/* GeneratorBody.closing (given up: nobody takes what it raises), .state; what asking for the next item finds. */
typedef enum GeneratorClosing { GENERATOR_CLOSED = 1, GENERATOR_GIVEN_UP } GeneratorClosing;
typedef enum GeneratorState {
    GENERATOR_WAITS,
    GENERATOR_RUNS,
    GENERATOR_ENDED,
    GENERATOR_RETURNED /* ended, but that it holds what it returned, until it is closed */
} GeneratorState;
typedef enum GeneratorNext {
    GENERATOR_NEXT_ITEM,
    GENERATOR_NEXT_NONE,
    GENERATOR_NEXT_RAISED, /* GeneratorBody.status */
    GENERATOR_NEXT_BUSY,   /* it runs already */
} GeneratorNext;

#endif
