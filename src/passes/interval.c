/* interval.c: arithmetic on intervals (interval.h).
 *
 * Sums, products, quotients and shifts are monotone in each operand where the other keeps its sign, so their extremes
 * lie at the corners of the operands' bounds.  Bitwise operations are bounded by the highest bit in use. */
#include "passes/interval.h"

#define WIDE_MAX ((Wide)(~(unsigned __int128)0 >> 1))
#define WIDE_MIN (-WIDE_MAX - 1)

static const Interval everything = {WIDE_MIN, WIDE_MAX};

static Wide least(Wide a, Wide b) { return a < b ? a : b; }
static Wide most(Wide a, Wide b) { return a > b ? a : b; }

Interval interval_join(Interval a, Interval b) {
    if (interval_is_empty(a)) return b;
    if (interval_is_empty(b)) return a;
    return interval_of(least(a.lo, b.lo), most(a.hi, b.hi));
}

Interval interval_meet(Interval a, Interval b) {
    if (interval_is_empty(a) || interval_is_empty(b)) return INTERVAL_EMPTY;
    Interval both = interval_of(most(a.lo, b.lo), least(a.hi, b.hi));
    return interval_is_empty(both) ? INTERVAL_EMPTY : both;
}

Interval interval_of_type(const Type *type) {
    const ScalarInfo *info = &scalar_info[type->scalar];
    unsigned bits = 8u * info->bytes;
    if (info->kind == 'b') return interval_of(0, 1);
    if (info->kind == 'u') return interval_of(0, ((Wide)1 << bits) - 1);
    return interval_of(-((Wide)1 << (bits - 1)), ((Wide)1 << (bits - 1)) - 1);
}

Interval interval_wrapped(Interval exact, const Type *type) {
    Interval all = interval_of_type(type);
    return interval_is_empty(exact) || interval_within(exact, all) ? exact : all;
}

/* ---- sums and products ---- */

static Wide sum(Wide a, Wide b) {
    Wide result;
    if (!__builtin_add_overflow(a, b, &result)) return result;
    return a > 0 ? WIDE_MAX : WIDE_MIN;
}

static Wide negated(Wide a) { return a == WIDE_MIN ? WIDE_MAX : -a; }

static Wide product(Wide a, Wide b) {
    Wide result;
    if (!__builtin_mul_overflow(a, b, &result)) return result;
    return (a < 0) == (b < 0) ? WIDE_MAX : WIDE_MIN;
}

static Interval corners(Wide (*f)(Wide, Wide), Interval a, Interval b) {
    Wide w = f(a.lo, b.lo), x = f(a.lo, b.hi), y = f(a.hi, b.lo), z = f(a.hi, b.hi);
    return interval_of(least(least(w, x), least(y, z)), most(most(w, x), most(y, z)));
}

static Interval negative(Interval a) { return interval_of(negated(a.hi), negated(a.lo)); }

/* ---- quotients and remainders, rounded down; by zero they are 0 ---- */

static Wide quotient(Wide a, Wide b) {
    if (b == -1) return negated(a);
    Wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static Interval floordiv(Interval a, Interval b) {
    Interval result = interval_has(b, 0) ? interval_of(0, 0) : INTERVAL_EMPTY;
    Interval below = interval_meet(b, interval_of(WIDE_MIN, -1)), above = interval_meet(b, interval_of(1, WIDE_MAX));
    if (!interval_is_empty(below)) result = interval_join(result, corners(quotient, a, below));
    if (!interval_is_empty(above)) result = interval_join(result, corners(quotient, a, above));
    return result;
}

/* The sign is that of the divisor; what is smaller than a positive divisor stays. */
static Interval modulo(Interval a, Interval b) {
    Interval result = interval_has(b, 0) ? interval_of(0, 0) : INTERVAL_EMPTY;
    if (b.hi > 0) result = interval_join(result, interval_of(0, a.lo >= 0 ? least(a.hi, b.hi - 1) : b.hi - 1));
    if (b.lo < 0) result = interval_join(result, interval_of(a.hi <= 0 ? most(a.lo, b.lo + 1) : b.lo + 1, 0));
    return result;
}

/* ---- shifts: a count below zero or beyond the width is a large one ---- */

enum { LARGE = 100 };

static Interval shift_count(Interval b) {
    if (b.lo < 0) return interval_of(0, LARGE);
    return interval_of(least(b.lo, LARGE), least(b.hi, LARGE));
}

static Wide shifted_left(Wide a, Wide count) { return product(a, (Wide)1 << count); }
static Wide shifted_right(Wide a, Wide count) { return a >> count; }

/* ---- bits ---- */

/* The largest number with as many bits as a, a >= 0. */
static Wide filled(Wide a) {
    Wide mask = 0;
    while (mask < a) mask = mask << 1 | 1;
    return mask;
}

/* A number with the bits of which all of these, inverted where negative, have theirs. */
static Wide magnitude(Interval a) { return filled(most(a.hi < 0 ? ~a.hi : a.hi, a.lo < 0 ? ~a.lo : a.lo)); }

static Interval bits_and(Interval a, Interval b) {
    if (a.lo >= 0 && b.lo >= 0) return interval_of(0, least(a.hi, b.hi));
    if (a.lo >= 0) return interval_of(0, a.hi);
    if (b.lo >= 0) return interval_of(0, b.hi);
    return interval_of(-1 - filled(~least(a.lo, b.lo)), most(a.hi, b.hi));
}

static Interval bits_or(Interval a, Interval b) {
    if (a.lo >= 0 && b.lo >= 0) return interval_of(most(a.lo, b.lo), filled(most(a.hi, b.hi)));
    Wide hi = a.hi < 0 || b.hi < 0 ? -1 : filled(most(a.hi, b.hi));
    return interval_of(least(a.lo, b.lo), hi);
}

static Interval bits_xor(Interval a, Interval b) {
    Wide bits = most(magnitude(a), magnitude(b));
    return interval_of(a.lo >= 0 && b.lo >= 0 ? 0 : -1 - bits, bits);
}

/* ---- all of them ---- */

Interval interval_of_op(Op op, Interval a, Interval b) {
    bool unary = op == OP_NEG || op == OP_POS || op == OP_INVERT;
    if (interval_is_empty(a) || (!unary && interval_is_empty(b))) return INTERVAL_EMPTY;
    switch (op) {
    case OP_POS: return a;
    case OP_NEG: return negative(a);
    case OP_INVERT: return interval_of(~a.hi, ~a.lo);
    case OP_ADD: return interval_of(sum(a.lo, b.lo), sum(a.hi, b.hi));
    case OP_SUB: return interval_of(sum(a.lo, negated(b.hi)), sum(a.hi, negated(b.lo)));
    case OP_MUL: return corners(product, a, b);
    case OP_FLOORDIV: return floordiv(a, b);
    case OP_MOD: return modulo(a, b);
    case OP_LSHIFT: {
        Interval shifted = corners(shifted_left, a, shift_count(b));
        return b.lo < 0 || b.hi > LARGE ? interval_join(shifted, interval_of(0, 0)) : shifted;
    }
    case OP_RSHIFT: return corners(shifted_right, a, b.lo < 0 ? interval_of(0, LARGE) : shift_count(b));
    case OP_AND: return bits_and(a, b);
    case OP_OR: return bits_or(a, b);
    case OP_XOR: return bits_xor(a, b);
    default: return everything;
    }
}

Interval interval_absolute(Interval a) {
    if (interval_is_empty(a) || a.lo >= 0) return a;
    return interval_of(a.hi < 0 ? -a.hi : 0, most(a.hi, -a.lo));
}

Interval interval_power(Interval base, uint64_t exponent) {
    if (interval_is_empty(base)) return base;
    if (exponent > 64 && !interval_within(base, interval_of(-1, 1))) return everything;
    uint64_t count = exponent > 64 ? 64 + exponent % 2 : exponent; /* of -1, 0 and 1 only whether it is odd counts */
    Interval from = count % 2 ? base : interval_absolute(base);
    Wide lo = 1, hi = 1;
    for (uint64_t i = 0; i < count; i++) lo = product(lo, from.lo), hi = product(hi, from.hi);
    return interval_of(lo, hi);
}

Interval interval_where(Interval a, Op relation, Interval b) {
    if (interval_is_empty(a) || interval_is_empty(b)) return INTERVAL_EMPTY;
    switch (relation) {
    case OP_LT: return interval_meet(a, interval_of(WIDE_MIN, sum(b.hi, -1)));
    case OP_LE: return interval_meet(a, interval_of(WIDE_MIN, b.hi));
    case OP_GT: return interval_meet(a, interval_of(sum(b.lo, 1), WIDE_MAX));
    case OP_GE: return interval_meet(a, interval_of(b.lo, WIDE_MAX));
    case OP_EQ: return interval_meet(a, b);
    case OP_NE:
        if (b.lo != b.hi) return a;
        if (a.lo == b.lo) a.lo++;
        if (a.hi == b.lo) a.hi--;
        return interval_is_empty(a) ? INTERVAL_EMPTY : a;
    default: return a;
    }
}
