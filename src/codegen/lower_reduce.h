/* lower_reduce.h: the order in which sums of floats are added (lower_pairs.c), for lower_reduce.c alone. */
#ifndef KRAIT_CODEGEN_LOWER_REDUCE_H
#define KRAIT_CODEGEN_LOWER_REDUCE_H

#include "codegen/lower.h"
#include "codegen/target.h" /* REDUCE_BLOCK */

/* A sum in pairs under way: pieces of at most REDUCE_BLOCK terms, from the first to the last. */
typedef struct Pairs {
    LLVMTypeRef type;
    LLVMValueRef need; /* where the length of the next piece lies (i64); 0: there is none */
    LLVMValueRef depth,
        rights;        /* of pieces that wait: how many; terms of what stands right of each, 0 if that is next */
    LLVMValueRef sums; /* what stands left of it, once that is known */
} Pairs;

/* Memory for sums in pairs, which pairs_close gives back. */
void pairs_open(Lower *l, Pairs *pairs, LLVMTypeRef type, LLVMValueRef count);
void pairs_close(Lower *l, const Pairs *pairs);
/* Takes the sum of a piece; what lies at *total is the sum of all once there is no next piece. */
void pairs_add(Lower *l, const Pairs *pairs, LLVMValueRef sum, LLVMValueRef total);

#endif
