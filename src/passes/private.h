/* private.h: what the files of passes/ share: the functions that the table names. */
#ifndef KRAIT_PASSES_PRIVATE_H
#define KRAIT_PASSES_PRIVATE_H

#include "library/library.h" /* value_calls, FUNC_* */
#include "passes/passes.h"   /* Program */

#define EACH(name)                     bool pass_##name(Program *program, FuncInst *inst)
#define WHOLE(name)                    bool pass_##name(Program *program)
#define PASS(name, over, targets, doc) over(name);
#include "passes/passes.def"
#undef PASS
#undef EACH
#undef WHOLE

/* looks.c: whether a value works on all items of an array, so that how long it takes is not known from the program. */
bool looks_walks_an_array(const Value *value);

/* local_arrays.c: whether a value of the type may refer to memory that is in a function's frame. */
bool type_may_refer(const Type *type);

/* safepoints.c: about how long a value takes, in simple operations. */
uint64_t safepoint_cost(const Value *value); /* safepoint_find_looping has run */
void safepoint_find_looping(Program *program);
/* The iterator over a range of three numbers that the header of a loop asks, and nothing else ends it late; NULL. */
Value *safepoint_range(const Block *header);

#endif
