/* ownership.h: what the files of pass ownership share: places of counts on edges, and the ways of what raises. */
#ifndef KRAIT_PASSES_OWNERSHIP_H
#define KRAIT_PASSES_OWNERSHIP_H

#include "passes/owners.h"

typedef VEC(Value *) ValueList;

typedef struct Placing {
    Arena *arena;
    Func *func;
    const Type *none;
    Owners owners;
    uint64_t **lost; /* by Value.id: owners live before what may raise; NULL: it may not */
} Placing;

uint64_t *ownership_set(const Placing *p);                        /* an empty one, of owners */
Value *ownership_count(Placing *p, Op op, Span span, Value *of);  /* RETAIN or RELEASE, in no block yet */
Block *ownership_block(Placing *p, Span span, Op end);            /* empty, on its way to nowhere yet */
void ownership_insert(Value *before, const ValueList *code);      /* all of it */
Value **ownership_args(Placing *p, const Block *to, size_t pred); /* of the phis, along that edge */
/* Adds the references for phis on an edge where `live` are live before it; gives the owners that die there. */
uint64_t *ownership_retains(Placing *p, const Block *to, Value *const *phi_args, const uint64_t *live, ValueList *code);

/* ways_out.c: what raises in the first `nblocks` blocks releases what it loses. */
void ownership_ways_out(Placing *p, size_t nblocks);

#endif
