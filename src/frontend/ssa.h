/* ssa.h: variables to SSA while blocks are being filled; private to this folder. */
#ifndef KRAIT_FRONTEND_SSA_H
#define KRAIT_FRONTEND_SSA_H

#include "ir/ir.h" /* Func, Block, Value */

typedef struct SsaPhi { /* a phi whose operands are still to be found */
    Block *block;
    size_t var;
    Value *phi;
} SsaPhi;

typedef struct Ssa {
    Arena *arena;
    Func *func;
    const char *const *names; /* of each variable, for phis; NULL: none */
    VEC(SsaPhi) work;
    size_t nsealed;  /* blocks that are sealed */
    bool unassigned; /* a read found a way without a write: the rule was broken */
} Ssa;

void ssa_init(Ssa *ssa, Func *func, const char *const *names);
void ssa_add_block(Ssa *ssa, Block *block); /* before the block is read or written */
void ssa_write(Ssa *ssa, Block *block, size_t var, Value *value);
/* The variable's value at the present end of the block; NULL: not written on the way that leads here from the entry. */
Value *ssa_read(Ssa *ssa, Block *block, size_t var);
/* Every predecessor of the block is known now. */
void ssa_seal(Ssa *ssa, Block *block);

#endif
