/* ssa.h: variables to SSA while blocks are being filled; private to this folder. */
#ifndef KRAIT_FRONTEND_SSA_H
#define KRAIT_FRONTEND_SSA_H

#include "ir/ir.h" /* Func, Block, Value */

typedef struct Ssa {
    Arena *arena;
    Func *func;
    size_t nvars;
    const char *const *names; /* [nvars], for phis; NULL entries: none */
} Ssa;

void ssa_init(Ssa *ssa, Func *func, size_t nvars, const char *const *names);
void ssa_add_block(Ssa *ssa, Block *block); /* before the block is read or written */
void ssa_write(Ssa *ssa, Block *block, size_t var, Value *value);
/* The variable's value at the present end of the block; NULL: not written on the way that leads here from the entry. */
Value *ssa_read(Ssa *ssa, Block *block, size_t var);
/* Every predecessor of the block is known now. */
void ssa_seal(Ssa *ssa, Block *block);

#endif
