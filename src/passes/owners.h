/* owners.h: who holds references to objects of the heap, and for how long: what pass ownership stands on.
 *
 * An owner is a value that holds a reference of its own, which somebody must give up: what makes an object, the result
 * of a call, a phi that chooses among such, a cell and what is taken out of one.  Any other value that refers to an
 * object borrows: it holds owners, and may be used as long as they live; a generator holds the cells that it shares as
 * well.  Parameters are borrowed from the caller and hold none; those of a generator, which outlives the call, are
 * owners. */
#ifndef KRAIT_PASSES_OWNERS_H
#define KRAIT_PASSES_OWNERS_H

#include "ir/ir.h" /* Func */

typedef struct OwnerSet { /* numbers of owners, in order */
    uint32_t count;
    const uint32_t *items;
} OwnerSet;

typedef struct Owners {
    Arena *arena;
    Func *func;
    VEC(Value *) values; /* by number: definitions come before uses */
    uint32_t *number;    /* by Value.id: 1 + number; 0: no owner */
    OwnerSet *held;      /* by Value.id; an owner holds itself */
    uint32_t nvalues;    /* ids from here on are of values that came later */
    size_t words;        /* of a set of bits by number */
    uint64_t **live_in;  /* by Block.order: the owners that are used later, phis of the block left out */
} Owners;

/* Sorts the blocks.  False: diag says what cannot be followed. */
bool owners_find(Owners *owners, Arena *arena, Func *func, Diag *diag);
bool owners_is_maker(const Value *value); /* its result is, by its operation, a new reference */
/* Adds what is used along the edge: live at the start of `to`, or by a phi of it.  `pred`: place of the edge there. */
void owners_live_along(const Owners *owners, const Block *to, size_t pred, uint64_t *live);
size_t owners_edge(const Block *from, size_t succ); /* the place of successor number `succ` among the preds there */

static inline bool owners_bit(const uint64_t *set, uint32_t number) { return set[number / 64] >> (number % 64) & 1; }
static inline void owners_add(uint64_t *set, uint32_t number) { set[number / 64] |= (uint64_t)1 << (number % 64); }
static inline void owners_drop(uint64_t *set, uint32_t number) { set[number / 64] &= ~((uint64_t)1 << (number % 64)); }
/* The first in the set from `number` on; OWNERS_END: none. */
#define OWNERS_END UINT32_MAX
static inline uint32_t owners_next(const Owners *owners, const uint64_t *set, uint32_t number) {
    uint64_t bits = number / 64 < owners->words ? set[number / 64] >> (number % 64) << (number % 64) : 0;
    for (size_t w = number / 64; w < owners->words; bits = ++w < owners->words ? set[w] : 0)
        if (bits) return (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(bits);
    return OWNERS_END;
}
static inline OwnerSet owners_held(const Owners *owners, const Value *value) {
    return value->id < owners->nvalues ? owners->held[value->id] : (OwnerSet){0};
}
/* 1 + the number of an owner; 0: it is none. */
static inline uint32_t owners_number(const Owners *owners, const Value *value) {
    return value->id < owners->nvalues ? owners->number[value->id] : 0;
}

#endif
