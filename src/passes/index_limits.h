/* index_limits.h: how far an index inside a loop may go, in values from outside of the loop. */
#ifndef KRAIT_PASSES_INDEX_LIMITS_H
#define KRAIT_PASSES_INDEX_LIMITS_H

#include "passes/intervals.h"

typedef struct Term {   /* a number: a value, or the extent of an array along an axis */
    const Value *value; /* NULL: 0 */
    int axis;           /* -1: the value itself */
} Term;

typedef struct Limit { /* plus[0] + plus[1] - minus + offset */
    Term plus[2], minus;
    Wide offset;
} Limit;
typedef VEC(Limit) Limits;

typedef struct LimitSearch {
    Intervals *s;
    const Block *header;     /* of the loop, whose blocks are marked (loop_edges.h); orders and dominators
                                are up to date */
    Value *const *stand_ins; /* by Value.id: what stands for the value behind a loop that exists twice, or NULL */
    uint32_t known;          /* length of stand_ins */
} LimitSearch;

/* In every round the number of the node is at most (upper) or at least one of the limits, of which there may be none
 * where that is known to hold for 0 from below.  False: nobody knows. */
bool limits_find(const LimitSearch *search, uint32_t node, bool upper, Limits *limits);
/* The extent of an array, which may be made inside the loop; false: it is not known outside. */
bool limits_of_extent(const LimitSearch *search, const Value *array, int axis, Limit *extent);
static inline bool term_equal(Term a, Term b) { return a.value == b.value && a.axis == b.axis; }

#endif
