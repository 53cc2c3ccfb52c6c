/* interval.h: arithmetic on intervals of integers: what an operation gives for any operands within bounds.
 *
 * Bounds are exact and wider than any type, so that what leaves the type shows: interval_of_op gives what the operation
 * would be without wrapping, save where generated code defines it (division by zero, large shifts), and
 * interval_wrapped what is left of that in a type: the same, or all its values. */
#ifndef KRAIT_PASSES_INTERVAL_H
#define KRAIT_PASSES_INTERVAL_H

#include "ir/ir.h" /* Type, Op */

typedef __int128 Wide;

typedef struct Interval {
    Wide lo, hi; /* lo > hi: empty, no value was seen yet */
} Interval;

#define INTERVAL_EMPTY ((Interval){1, 0})
static inline bool interval_is_empty(Interval a) { return a.lo > a.hi; }
static inline bool interval_equal(Interval a, Interval b) { return a.lo == b.lo && a.hi == b.hi; }
static inline bool interval_within(Interval a, Interval b) { return a.lo >= b.lo && a.hi <= b.hi; }
static inline bool interval_has(Interval a, Wide value) { return a.lo <= value && value <= a.hi; }
static inline Interval interval_of(Wide lo, Wide hi) { return (Interval){lo, hi}; }

Interval interval_join(Interval a, Interval b);
Interval interval_meet(Interval a, Interval b);
Interval interval_of_type(const Type *type); /* integers and bools */
Interval interval_wrapped(Interval exact, const Type *type);
/* Of one (b is ignored) or two operands; everything if nothing is known of the operation. */
Interval interval_of_op(Op op, Interval a, Interval b);
Interval interval_absolute(Interval a);
Interval interval_power(Interval base, uint64_t exponent);
/* What is left of a where it stands in that relation to some value of b: `a < b` ... */
Interval interval_where(Interval a, Op relation, Interval b);

#endif
