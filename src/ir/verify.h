/* verify.h: what the parts of the verifier share: form (verify.c), raise edges (verify_unwind.c), types
 * (verify_types.c), references (verify_ownership.c).  Private to src/ir. */
#ifndef KRAIT_IR_VERIFY_H
#define KRAIT_IR_VERIFY_H

#include "ir/block_graph.h" /* Graph */

typedef struct Fault {
    const Block *block; /* NULL: of the whole function */
    const Value *value; /* NULL: of the block */
    const char *text;
} Fault;

typedef struct Verifier {
    const Func *func;
    Arena *arena;
    VEC(Fault) faults;
    const Block **blocks; /* by Block.id: those of the function */
    const Value **values; /* by Value.id: those that stand in a block */
    uint32_t *places;     /* by Value.id: their places among all of them */
} Verifier;

void verify_fault(Verifier *verifier, const Block *block, const Value *value, const char *format, ...)
    KRAIT_PRINTF(4, 5);
void verify_value_types(Verifier *verifier, const Value *value);
void verify_unwind(Verifier *verifier, const Graph *graph);
void verify_ownership(Verifier *verifier, const Graph *graph);

#endif
