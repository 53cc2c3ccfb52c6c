/* lower_scalar.c: arithmetic of scalars, with the interpreter's results.
 *
 * l_scalar_op is the plain operation, which never raises: integers wrap, x // 0 and x % 0 are 0 for integers and what
 * IEEE gives for floats (NumPy).  The lower_* functions add the checks that VF_CHECKED asks for.  float16 and
 * bfloat16 are computed in float32 and rounded, as NumPy does.  Floor division and modulo of floats follow
 * Objects/floatobject.c and npy_math (both compute the same); complex division follows Smith's method as CPython (weak
 * operands) or NumPy (strong ones) rounds it. */
#include "codegen/lower.h"

/* ---- integers ---- */

/* The exponent of a positive constant power of two, else -1. */
static int constant_log2(LLVMValueRef value) {
    if (!LLVMIsAConstantInt(value)) return -1;
    uint64_t bits = LLVMConstIntGetZExtValue(value);
    return bits && !(bits & (bits - 1)) ? __builtin_ctzll(bits) : -1;
}

/* Whether the loops of a ufunc divide integers as floats. */
static bool divides_as_floats(const Lower *l, LLVMValueRef b) {
    bool vectors = l->m->options.entry == ENTRY_UFUNC && l->target->vector_divisions && l->m->options.opt_level >= 2;
    return vectors && !LLVMIsAConstantInt(b) && LLVMGetIntTypeWidth(LLVMTypeOf(b)) <= l->target->vector_divisions();
}

static LLVMValueRef to_real(Lower *l, bool is_signed, LLVMValueRef a, LLVMTypeRef real) {
    return is_signed ? LLVMBuildSIToFP(l->b, a, real, "") : LLVMBuildUIToFP(l->b, a, real, "");
}

static LLVMValueRef to_whole(Lower *l, bool is_signed, LLVMValueRef a, LLVMTypeRef type) {
    return is_signed ? LLVMBuildFPToSI(l->b, a, type, "") : LLVMBuildFPToUI(l->b, a, type, "");
}

/* A divisor, which is not 0; where a condition says so, LLVM forgets what else has seen to it, and computes both sides
 * of the condition, which must set no flags: so it is at least 1 as a float, too. */
static LLVMValueRef to_divisor(Lower *l, bool is_signed, LLVMValueRef b, LLVMTypeRef real) {
    LLVMValueRef args[] = {to_real(l, is_signed, b, real), l_float(real, 1)};
    return is_signed ? args[0] : l_intrinsic(l, "llvm.maxnum", real, args, 2);
}

/* Of 64 bits: in two steps, each by a reciprocal that is too small, by 2^-50 of it, more than converting, dividing and
 * multiplying round.  So each partial quotient is no larger than what it is of, nor is anything too large for 64 bits;
 * the first leaves less than 2^16 divisors, the second less than two, of which one may be left to count. */
static LLVMValueRef long_quotient(Lower *l, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef inverse = l_fdiv(l, l_float(l->f64, 1 - 0x1p-50), to_divisor(l, is_signed, b, l->f64));
    LLVMValueRef quotient = l_null(type), rest = a;
    for (int step = 0; step < 2; step++) {
        LLVMValueRef part = to_whole(l, is_signed, l_fmul(l, to_real(l, is_signed, rest, l->f64), inverse), type);
        quotient = l_add(l, quotient, part);
        rest = l_sub(l, rest, l_mul(l, part, b));
    }
    if (!is_signed) return l_add(l, quotient, LLVMBuildZExt(l->b, l_icmp(l, LLVMIntUGE, rest, b), type, ""));
    LLVMValueRef falls = l_icmp(l, LLVMIntSLT, l_xor(l, a, b), l_null(type));
    LLVMValueRef last = l_select(l, falls, l_int(type, -1), l_int(type, 1));
    LLVMValueRef sizes[2] = {rest, b};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef args[] = {sizes[i], l_i1(l, false)};
        sizes[i] = l_intrinsic(l, "llvm.abs", type, args, 2);
    }
    return l_add(l, quotient, l_select(l, l_icmp(l, LLVMIntUGE, sizes[0], sizes[1]), last, l_null(type)));
}

/* a / b without its fraction.  As floats: of numbers below 2^N a quotient that is no integer is further from the next
 * one than 2^-N of it, more than rounding takes, for float32 has 24 bits and float64 has 53. */
static LLVMValueRef whole_quotient(Lower *l, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    unsigned bits = LLVMGetIntTypeWidth(type);
    if (!divides_as_floats(l, b)) return is_signed ? LLVMBuildSDiv(l->b, a, b, "") : LLVMBuildUDiv(l->b, a, b, "");
    if (bits > 32) return long_quotient(l, is_signed, a, b);
    LLVMTypeRef real = bits <= 16 ? l->f32 : l->f64;
    LLVMValueRef quotient = l_fdiv(l, to_real(l, is_signed, a, real), to_divisor(l, is_signed, b, real));
    return to_whole(l, is_signed, quotient, type);
}

/* Quotient and remainder that no divisor makes undefined: x // 0 = x % 0 = 0, MIN // -1 = MIN, MIN % -1 = 0. */
static LLVMValueRef unsigned_divide(Lower *l, Op op, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef zero = l_icmp(l, LLVMIntEQ, b, l_null(type));
    LLVMValueRef divisor = l_select(l, zero, l_int(type, 1), b);
    if (op == OP_MOD && !divides_as_floats(l, b))
        return LLVMBuildURem(l->b, a, divisor, ""); /* x % 1 is the 0 wanted */
    LLVMValueRef quotient = whole_quotient(l, false, a, divisor);
    if (op == OP_MOD) return l_sub(l, a, l_mul(l, quotient, divisor));
    return l_select(l, zero, l_null(type), quotient);
}

static LLVMValueRef signed_divide(Lower *l, Op op, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef one = l_int(type, 1), none = l_null(type);
    int shift = constant_log2(b);
    if (shift >= 0 && (unsigned)shift < LLVMGetIntTypeWidth(type) - 1)
        return op == OP_MOD ? l_and(l, a, l_sub(l, b, one)) : LLVMBuildAShr(l->b, a, l_int(type, shift), "");
    /* -a by -1, as MIN has none, and 0 by 0 are that by 1 */
    LLVMValueRef easy = l_icmp(l, LLVMIntULT, l_add(l, b, one), l_int(type, 2));
    LLVMValueRef dividend = l_select(l, easy, l_and(l, LLVMBuildNeg(l->b, a, ""), b), a);
    LLVMValueRef divisor = l_select(l, easy, one, b), quotient = whole_quotient(l, true, dividend, divisor);
    LLVMValueRef remainder = l->target->math == MATH_HOST && !divides_as_floats(l, b)
                                 ? LLVMBuildSRem(l->b, dividend, divisor, "") /* of the same instruction */
                                 : l_sub(l, dividend, l_mul(l, quotient, divisor));
    LLVMValueRef inexact = l_icmp(l, LLVMIntNE, remainder, none);
    LLVMValueRef opposite = l_icmp(l, LLVMIntSLT, l_xor(l, remainder, divisor), none);
    LLVMValueRef adjust = l_and(l, inexact, opposite);
    if (op == OP_MOD) return l_add(l, remainder, l_select(l, adjust, divisor, none));
    return l_add(l, quotient, LLVMBuildSExt(l->b, adjust, type, ""));
}

/* A shift by the width or more gives 0, or -1 for a negative number shifted right; a negative count is a large one
 * (NumPy). */
static LLVMValueRef shift(Lower *l, Op op, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    int64_t width = LLVMGetIntTypeWidth(type);
    LLVMValueRef inside = l_icmp(l, LLVMIntULT, b, l_int(type, width));
    if (op == OP_RSHIFT && is_signed) return LLVMBuildAShr(l->b, a, l_select(l, inside, b, l_int(type, width - 1)), "");
    bool cut = l->target->short_counts && width > 32;
    LLVMValueRef count = cut ? l_and(l, b, l_int(type, width - 1)) : l_select(l, inside, b, l_null(type));
    LLVMValueRef shifted = op == OP_LSHIFT ? LLVMBuildShl(l->b, a, count, "") : LLVMBuildLShr(l->b, a, count, "");
    return l_select(l, inside, shifted, l_null(type));
}

static LLVMIntPredicate int_predicate(Op op, bool is_signed) {
    switch (op) {
    case OP_LT: return is_signed ? LLVMIntSLT : LLVMIntULT;
    case OP_LE: return is_signed ? LLVMIntSLE : LLVMIntULE;
    case OP_GT: return is_signed ? LLVMIntSGT : LLVMIntUGT;
    case OP_GE: return is_signed ? LLVMIntSGE : LLVMIntUGE;
    case OP_EQ: return LLVMIntEQ;
    default: return LLVMIntNE;
    }
}

LLVMValueRef l_compare_ints(Lower *l, Op op, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    return l_icmp(l, int_predicate(op, is_signed), a, b);
}

static LLVMValueRef int_op(Lower *l, Op op, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    if (op_is_comparison(op)) return l_compare_ints(l, op, is_signed, a, b);
    switch (op) {
    case OP_ADD: return l_add(l, a, b);
    case OP_SUB: return l_sub(l, a, b);
    case OP_MUL: return l_mul(l, a, b);
    case OP_FLOORDIV:
    case OP_MOD: return is_signed ? signed_divide(l, op, a, b) : unsigned_divide(l, op, a, b);
    case OP_LSHIFT:
    case OP_RSHIFT: return shift(l, op, is_signed, a, b);
    case OP_AND: return l_and(l, a, b);
    case OP_OR: return l_or(l, a, b);
    case OP_XOR: return l_xor(l, a, b);
    case OP_NEG: return LLVMBuildNeg(l->b, a, "");
    case OP_INVERT: return l_not(l, a);
    default: return NULL;
    }
}

/* bool_ as NumPy has it: + is or, * is and; Python's bool was cast to int by inference where it counts. */
static LLVMValueRef bool_op(Lower *l, Op op, LLVMValueRef a, LLVMValueRef b) {
    switch (op) {
    case OP_ADD: return l_or(l, a, b);
    case OP_MUL: return l_and(l, a, b);
    case OP_INVERT: return l_not(l, a);
    case OP_AND:
    case OP_OR:
    case OP_XOR: return int_op(l, op, false, a, b);
    default: return op_is_comparison(op) ? int_op(l, op, false, a, b) : NULL;
    }
}

/* ---- floats ---- */

static LLVMValueRef math1(Lower *l, const char *intrinsic, LLVMValueRef a) {
    return l_intrinsic(l, intrinsic, LLVMTypeOf(a), &a, 1);
}

static LLVMValueRef copysign_of(Lower *l, LLVMValueRef magnitude, LLVMValueRef sign) {
    LLVMValueRef args[] = {magnitude, sign};
    return l_intrinsic(l, "llvm.copysign", LLVMTypeOf(magnitude), args, 2);
}

/* a % b with the sign of b; *quotient (when wanted) gets floor(a / b) computed from it, so that q * b + r is a as
 * nearly as can be; of a division by zero, a / b alone sets flags, unless `both` are wanted. */
static LLVMValueRef float_divmod(Lower *l, Scalar scalar, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *quotient,
                                 bool both) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef zero = l_null(type), one = l_float(type, 1.0), by_zero = LLVMBuildFCmp(l->b, LLVMRealOEQ, b, zero, "");
    LLVMValueRef divisor = quotient ? l_select(l, by_zero, one, b) : b; /* a / 0 says it all */
    LLVMValueRef args[] = {a, both ? b : divisor};
    LLVMValueRef mod = lower_math(l, MATH_fmod, scalar, args, 2);
    if (!mod) return NULL;
    LLVMValueRef exact = LLVMBuildFCmp(l->b, LLVMRealOEQ, mod, zero, "");
    LLVMValueRef b_negative = LLVMBuildFCmp(l->b, LLVMRealOLT, b, zero, ""),
                 mod_negative = LLVMBuildFCmp(l->b, LLVMRealOLT, mod, zero, "");
    LLVMValueRef adjust = l_and(l, l_not(l, exact), LLVMBuildXor(l->b, b_negative, mod_negative, ""));
    LLVMValueRef result = l_select(l, adjust, l_fadd(l, mod, b), mod);
    result = l_select(l, exact, copysign_of(l, zero, b), result);
    if (quotient) {
        LLVMValueRef div = l_fdiv(l, l_fsub(l, a, mod), divisor);
        div = l_select(l, adjust, l_fsub(l, div, one), div);
        LLVMValueRef floor = math1(l, "llvm.floor", div);
        LLVMValueRef above = LLVMBuildFCmp(l->b, LLVMRealOGT, l_fsub(l, div, floor), l_float(type, 0.5), "");
        floor = l_select(l, above, l_fadd(l, floor, one), floor);
        LLVMValueRef plain = l_fdiv(l, a, b);
        LLVMValueRef nothing = LLVMBuildFCmp(l->b, LLVMRealOEQ, div, zero, "");
        floor = l_select(l, nothing, copysign_of(l, zero, plain), floor);
        *quotient = l_select(l, by_zero, plain, floor);
    }
    return result;
}

bool l_float_divmod(Lower *l, Scalar scalar, LLVMValueRef const *args, LLVMValueRef results[2]) {
    return (results[1] = float_divmod(l, scalar, args[0], args[1], &results[0], true)) != NULL;
}

static LLVMRealPredicate real_predicate(Op op) {
    switch (op) {
    case OP_LT: return LLVMRealOLT;
    case OP_LE: return LLVMRealOLE;
    case OP_GT: return LLVMRealOGT;
    case OP_GE: return LLVMRealOGE;
    case OP_EQ: return LLVMRealOEQ;
    default: return LLVMRealUNE;
    }
}

static LLVMValueRef float_op(Lower *l, Op op, Scalar scalar, LLVMValueRef a, LLVMValueRef b) {
    if (op_is_comparison(op)) return l_fcmp(l, real_predicate(op), a, b);
    switch (op) {
    case OP_ADD: return l_fadd(l, a, b);
    case OP_SUB: return l_fsub(l, a, b);
    case OP_MUL: return l_fmul(l, a, b);
    case OP_TRUEDIV: return l_fdiv(l, a, b);
    case OP_NEG: return l_fneg(l, a);
    case OP_MOD: return float_divmod(l, scalar, a, b, NULL, false);
    case OP_FLOORDIV: {
        LLVMValueRef quotient = NULL;
        return float_divmod(l, scalar, a, b, &quotient, false) ? quotient : NULL;
    }
    default: return NULL;
    }
}

static LLVMValueRef half_op(Lower *l, Op op, Scalar scalar, LLVMValueRef a, LLVMValueRef b) {
    if (op == OP_NEG) return LLVMTypeOf(a) == l->i16 ? l_xor(l, a, l_int(l->i16, 0x8000)) : l_fneg(l, a);
    a = l_cast_scalar(l, a, scalar, SCALAR_FLOAT32);
    if (b) b = l_cast_scalar(l, b, scalar, SCALAR_FLOAT32);
    LLVMValueRef result = op == OP_POW ? l_power(l, SCALAR_FLOAT32, a, b) : float_op(l, op, SCALAR_FLOAT32, a, b);
    if (!result || op_is_comparison(op)) return result;
    return l_cast_scalar(l, result, SCALAR_FLOAT32, scalar);
}

/* ---- complex ---- */

typedef struct Complex {
    LLVMValueRef re, im;
} Complex;

static Complex complex_parts(Lower *l, LLVMValueRef value) {
    return (Complex){l_extract(l, value, 0), l_extract(l, value, 1)};
}

static LLVMValueRef complex_multiply(Lower *l, Complex a, Complex b) {
    LLVMValueRef re = l_fsub(l, l_fmul(l, a.re, b.re), l_fmul(l, a.im, b.im));
    return l_complex(l, re, l_fadd(l, l_fmul(l, a.re, b.im), l_fmul(l, a.im, b.re)));
}

/* re * im + im * re is twice the product, exactly, whichever numbers they are. */
static LLVMValueRef complex_square(Lower *l, Complex a) {
    LLVMValueRef re = l_fsub(l, l_fmul(l, a.re, a.re), l_fmul(l, a.im, a.im)), half = l_fmul(l, a.re, a.im);
    return l_complex(l, re, l_fadd(l, half, half));
}

/* Smith's method: divide by the part of b that is larger.  Written once for both cases by exchanging what they
 * exchange.  NumPy multiplies by 1 / denominator, CPython divides by it; NumPy's x / 0 is (re / 0, im / 0). */
static LLVMValueRef complex_divide(Lower *l, Complex a, Complex b, bool numpy) {
    LLVMTypeRef type = LLVMTypeOf(a.re);
    LLVMValueRef abs_re = math1(l, "llvm.fabs", b.re), abs_im = math1(l, "llvm.fabs", b.im);
    LLVMValueRef by_re = LLVMBuildFCmp(l->b, LLVMRealOGE, abs_re, abs_im, "");
    LLVMValueRef large = l_select(l, by_re, b.re, b.im), small = l_select(l, by_re, b.im, b.re);
    LLVMValueRef ratio = l_fdiv(l, small, large);
    LLVMValueRef denominator = l_fadd(l, large, l_fmul(l, small, ratio));
    LLVMValueRef are = l_select(l, by_re, a.re, a.im), aim = l_select(l, by_re, a.im, a.re);
    LLVMValueRef re = l_fadd(l, are, l_fmul(l, aim, ratio)); /* a.re + a.im * ratio, or a.re * ratio + a.im */
    LLVMValueRef cross = l_fmul(l, are, ratio);
    LLVMValueRef im = l_select(l, by_re, l_fsub(l, aim, cross), l_fsub(l, l_fmul(l, a.im, ratio), a.re));
    if (!numpy) return l_complex(l, l_fdiv(l, re, denominator), l_fdiv(l, im, denominator));
    LLVMValueRef scale = l_fdiv(l, l_float(type, 1.0), denominator);
    LLVMValueRef zero = l_and(l, LLVMBuildFCmp(l->b, LLVMRealOEQ, abs_re, l_null(type), ""),
                              LLVMBuildFCmp(l->b, LLVMRealOEQ, abs_im, l_null(type), ""));
    re = l_select(l, zero, l_fdiv(l, a.re, abs_re), l_fmul(l, re, scale));
    im = l_select(l, zero, l_fdiv(l, a.im, abs_re), l_fmul(l, im, scale));
    return l_complex(l, re, im);
}

/* Order is lexicographic, as NumPy's. */
static LLVMValueRef complex_compare(Lower *l, Op op, Complex a, Complex b) {
    if (op == OP_EQ) return l_and(l, l_fcmp(l, LLVMRealOEQ, a.re, b.re), l_fcmp(l, LLVMRealOEQ, a.im, b.im));
    if (op == OP_NE) return l_or(l, l_fcmp(l, LLVMRealUNE, a.re, b.re), l_fcmp(l, LLVMRealUNE, a.im, b.im));
    LLVMRealPredicate strict = op == OP_LT || op == OP_LE ? LLVMRealOLT : LLVMRealOGT;
    LLVMValueRef first = l_fcmp(l, strict, a.re, b.re);
    return l_or(l, first, l_and(l, l_fcmp(l, LLVMRealOEQ, a.re, b.re), l_fcmp(l, real_predicate(op), a.im, b.im)));
}

static LLVMValueRef complex_op(Lower *l, Op op, Scalar scalar, LLVMValueRef x, LLVMValueRef y) {
    Complex a = complex_parts(l, x), b = {0};
    if (y) b = complex_parts(l, y);
    if (op_is_comparison(op)) return complex_compare(l, op, a, b);
    switch (op) {
    case OP_ADD: return l_complex(l, l_fadd(l, a.re, b.re), l_fadd(l, a.im, b.im));
    case OP_SUB: return l_complex(l, l_fsub(l, a.re, b.re), l_fsub(l, a.im, b.im));
    case OP_MUL: return x == y ? complex_square(l, a) : complex_multiply(l, a, b);
    case OP_TRUEDIV: return complex_divide(l, a, b, true);
    case OP_NEG: return l_complex(l, l_fneg(l, a.re), l_fneg(l, a.im));
    case OP_POW: return l_power(l, scalar, x, y);
    default: return NULL;
    }
}

LLVMValueRef l_scalar_op(Lower *l, Op op, Scalar scalar, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef result;
    char kind = scalar_info[scalar].kind;
    if (op == OP_POS) return a;
    if (scalar_is_half(scalar))
        result = half_op(l, op, scalar, a, b);
    else if (kind == 'c')
        result = complex_op(l, op, scalar, a, b);
    else if (op == OP_POW && kind != 'b')
        result = l_power(l, scalar, a, b);
    else if (kind == 'b')
        result = bool_op(l, op, a, b);
    else if (kind == 'f')
        result = float_op(l, op, scalar, a, b);
    else
        result = int_op(l, op, kind == 'i', a, b);
    if (!result && !l->diag->failed) l_fail(l, "%s has no `%s`", scalar_info[scalar].name, op_info[op].doc);
    return result;
}

/* ---- unary ---- */

LLVMValueRef lower_unary(Lower *l, const Value *value) {
    if (value->op == OP_TRUTH || value->op == OP_NOT) {
        LLVMValueRef truth;
        TRY(truth = lower_truth(l, value));
        return value->op == OP_TRUTH ? truth : l_not(l, truth);
    }
    if (value->type->kind == TY_TIME) return lower_time_negative(l, value);
    if (!type_is_scalar(value->type))
        return l_fail(l, "%s has no `%s`", l_type_text(l, value->type), op_info[value->op].doc), NULL;
    LLVMValueRef narrow = lower_narrow(l, value);
    return narrow ? narrow : l_scalar_op(l, value->op, value->type->scalar, l_arg(l, value, 0), NULL);
}

/* ---- binary operations with the interpreter's exceptions ---- */

static LLVMValueRef is_zero(Lower *l, const Type *type, LLVMValueRef value) {
    return l_not(l, l_truth(l, type, value));
}

/* CPython's words differ between int and float operands; inference has given a `/` of ints floats, and a mark. */
static const char *zero_division_text(const Lower *l, const Value *value) {
    bool is_int = type_is_integer(value->type);
    if (type_scalar_kind(value->type) == 'c') return "complex division by zero";
    switch (value->op) {
    case OP_FLOORDIV: return is_int ? "integer division or modulo by zero" : "float floor division by zero";
    case OP_MOD:
        if (is_int) return "integer modulo by zero";
        return l->m->options.python_version >= 0x030D ? "float modulo by zero" : "float modulo";
    default: return value->imm.i ? "division by zero" : "float division by zero";
    }
}

static void check_binary(Lower *l, const Value *value, LLVMValueRef b) {
    if (!(value->flags & VF_CHECKED)) return;
    switch (value->op) {
    case OP_TRUEDIV:
    case OP_FLOORDIV:
    case OP_MOD:
        if (!(value->flags & VF_UNCHECKED))
            l_raise_if(l, is_zero(l, value->type, b), "ZeroDivisionError", zero_division_text(l, value), NULL, 0);
        return;
    case OP_LSHIFT:
    case OP_RSHIFT:
        if (type_scalar_kind(value->type) == 'i' && !(value->flags & VF_UNCHECKED))
            l_raise_if(l, l_icmp(l, LLVMIntSLT, b, l_null(LLVMTypeOf(b))), "ValueError", "negative shift count", NULL,
                       0);
        return;
    default: return;
    }
}

static LLVMValueRef nonnegative_divide(Lower *l, const Value *value, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef checked = (value->flags & (VF_CHECKED | VF_UNCHECKED)) ? b : NULL;
    if (!checked) return unsigned_divide(l, value->op, a, b);
    return value->op == OP_MOD ? LLVMBuildURem(l->b, a, b, "") : LLVMBuildUDiv(l->b, a, b, "");
}

/* A Python int or bool that inference made a float for a division. */
typedef struct IntOperand {
    LLVMValueRef number; /* as i64; NULL: it was none */
    bool halved;         /* a constant beyond int64 */
    bool exact;          /* known to be a float, too */
} IntOperand;

enum { EXACT_BITS = 53 }; /* all ints up to 2**53 are floats */

static IntOperand known_int_operand(Lower *l, double number) {
    IntOperand result = {.exact = __builtin_fabs(number) <= 0x1p53};
    result.halved = number >= 0x1p63 || number < -0x1p63;
    if (result.halved) number /= 2;
    if (number < 0x1p63 && number >= -0x1p63) result.number = l_i64(l, (int64_t)number);
    return result;
}

static IntOperand int_operand(Lower *l, const Value *operand) {
    const Const *known = operand->op == OP_CONST ? operand->konst : NULL;
    if (known && known->type->kind == TY_SCALAR && known->type->scalar == SCALAR_FLOAT64)
        return known_int_operand(l, known->f);
    const Value *from = operand->op == OP_CAST ? operand->args[0] : NULL;
    if (!from || !type_is_integer(from->type) || !from->type->weak) return (IntOperand){0};
    int64_t limit = (int64_t)1 << EXACT_BITS;
    return (IntOperand){.number = l_cast_scalar(l, l_value(l, from), from->type->scalar, SCALAR_INT64),
                        .exact = from->bounds && from->bounds->lo >= -limit && from->bounds->hi <= limit};
}

static LLVMValueRef is_exact_float(Lower *l, IntOperand operand) {
    if (operand.exact) return l_i1(l, true);
    LLVMValueRef limit = l_i64(l, (int64_t)1 << EXACT_BITS);
    return l_icmp(l, LLVMIntULE, l_add(l, operand.number, limit), l_i64(l, (int64_t)2 << EXACT_BITS));
}

/* Beyond 2**53 ints are not all floats: rounding them first and the quotient then is not what the interpreter does. */
static LLVMValueRef python_int_divide(Lower *l, const Value *value, LLVMValueRef a, LLVMValueRef b) {
    if (!value->imm.i || (l->fastmath & ~(uint32_t)FASTMATH_CONTRACT) || !value->type->weak) return NULL;
    IntOperand n = int_operand(l, value->args[0]), d = int_operand(l, value->args[1]);
    if (!n.number || !d.number || (n.exact && d.exact)) return NULL;
    LIf f;
    l_if_likely(l, &f, l_and(l, is_exact_float(l, n), is_exact_float(l, d)));
    LLVMValueRef plain = l_fdiv(l, a, b);
    l_else(l, &f);
    LLVMValueRef rounded = l_call_named(l, "krait_rt_truediv_l", l->f64, (LLVMValueRef[]){n.number, d.number}, 2);
    if (!rounded) return NULL;
    if (n.halved != d.halved) rounded = l_fmul(l, rounded, l_float(l->f64, n.halved ? 2.0 : 0.5));
    l_endif(l, &f);
    return l_if_phi(l, &f, plain, rounded);
}

/* An operation of integers that does not wrap, said to LLVM; NULL: this one may. */
static LLVMValueRef unwrapped(Lower *l, const Value *value, LLVMValueRef a, LLVMValueRef b) {
    bool is_signed = type_scalar_kind(value->type) == 'i';
    LLVMValueRef result;
    if (!(value->flags & VF_NOWRAP)) return NULL;
    switch (value->op) {
    case OP_ADD: result = l_add(l, a, b); break;
    case OP_SUB: result = l_sub(l, a, b); break;
    case OP_MUL: result = l_mul(l, a, b); break;
    default: return NULL;
    }
    if (!LLVMIsAInstruction(result)) return result; /* folded */
    bool nonnegative = value_is_nonnegative(value->args[0]) && value_is_nonnegative(value->args[1]);
    LLVMSetNSW(result, is_signed);
    LLVMSetNUW(result, !is_signed || (nonnegative && value_is_nonnegative(value)));
    return result;
}

LLVMValueRef lower_binary(Lower *l, const Value *value) {
    const Type *type = value->type;
    if (value->args[0]->type->kind == TY_TIME || value->args[1]->type->kind == TY_TIME)
        return lower_time_binary(l, value);
    if (!type_is_scalar(type)) return l_fail(l, "%s has no `%s`", l_type_text(l, type), op_info[value->op].doc), NULL;
    LLVMValueRef a = l_arg(l, value, 0), b = l_arg(l, value, 1);
    check_binary(l, value, b);
    LLVMValueRef narrow = lower_narrow(l, value);
    if (narrow) return narrow;
    char kind = type_scalar_kind(type);
    LLVMValueRef plain = unwrapped(l, value, a, b);
    if (plain) return plain;
    if (kind == 'i' && (value->op == OP_FLOORDIV || value->op == OP_MOD) && value_is_nonnegative(value->args[0]) &&
        value_is_nonnegative(value->args[1]))
        return nonnegative_divide(l, value, a, b);
    if (kind == 'f' && value->op == OP_TRUEDIV) {
        LLVMValueRef quotient = python_int_divide(l, value, a, b);
        if (quotient) return quotient;
    }
    if (kind == 'c' && value->op == OP_TRUEDIV && type->weak)
        return complex_divide(l, complex_parts(l, a), complex_parts(l, b), false);
    uint32_t before = l->fastmath;
    if (value->flags & VF_REGROUPS) l->fastmath |= FASTMATH_REASSOC;
    LLVMValueRef result = l_scalar_op(l, value->op, type->scalar, a, b);
    l->fastmath = before;
    return result;
}

LLVMValueRef lower_func_make_complex(Lower *l, const Value *call) {
    return l_complex(l, l_arg(l, call, 0), l_arg(l, call, 1));
}
