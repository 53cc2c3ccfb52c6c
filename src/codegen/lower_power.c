/* lower_power.c: x ** y.
 *
 * Integers: by squaring, wrapping; a constant exponent becomes multiplications.  Floats: the library's pow, save the
 * constant exponents that one correctly rounded operation stands for (0, 1, 2, -1, 0.5), as the manual says, and bools,
 * which choose between 1 and the base.  Other small whole exponents become multiplications where results need not be
 * those of pow to the last bit (constants: kernels on a GPU, fast math) or where pow rounds badly (integers on a GPU,
 * whose pow(3.0, 1.0) is not 3.0).  Complex: rtlib's functions, CPython's for Python's numbers and NumPy's for the
 * others. */
#include "codegen/lower.h"

/* base ** exponent by squaring; emit is the multiplication of the type. */
static LLVMValueRef power_by_multiplying(Lower *l, Scalar scalar, LLVMValueRef base, uint64_t exponent) {
    LLVMValueRef result = NULL;
    for (;;) {
        if (exponent & 1) result = result ? l_scalar_op(l, OP_MUL, scalar, result, base) : base;
        exponent >>= 1;
        if (!exponent) return result;
        base = l_scalar_op(l, OP_MUL, scalar, base, base);
    }
}

/* while exponent: if exponent & 1: result *= base; base *= base; exponent >>= 1.  A negative exponent gives what the
 * integer quotient 1 / base ** -exponent would be: 1 or -1 for base 1 and -1, else 0. */
LLVMValueRef l_int_power(Lower *l, LLVMValueRef base, LLVMValueRef exponent, bool is_signed) {
    LLVMTypeRef type = LLVMTypeOf(base);
    LLVMValueRef one = l_int(type, 1), zero = l_null(type);
    LLVMValueRef negative = is_signed ? l_icmp(l, LLVMIntSLT, exponent, zero) : l_i1(l, false);
    LLVMBasicBlockRef before = l_here(l), head = l_block(l, "pow"), body = l_block(l, "square"),
                      end = l_block(l, "powered");
    LLVMValueRef first = l_select(l, negative, zero, exponent);
    l_jump(l, head);
    l_enter(l, head);
    LLVMValueRef e = LLVMBuildPhi(l->b, type, ""), b = LLVMBuildPhi(l->b, type, ""), r = LLVMBuildPhi(l->b, type, "");
    l_branch(l, l_icmp(l, LLVMIntNE, e, zero), body, end);
    l_enter(l, body);
    LLVMValueRef odd = LLVMBuildTrunc(l->b, e, l->i1, "");
    LLVMValueRef next[] = {LLVMBuildLShr(l->b, e, one, ""), l_mul(l, b, b), l_select(l, odd, l_mul(l, r, b), r)};
    l_jump(l, head);
    LLVMValueRef phis[] = {e, b, r}, start[] = {first, base, one};
    for (int i = 0; i < 3; i++) {
        LLVMAddIncoming(phis[i], &start[i], &before, 1);
        LLVMAddIncoming(phis[i], &next[i], &body, 1);
    }
    l_enter(l, end);
    if (!is_signed) return r;
    LLVMValueRef minus_one = l_int(type, -1);
    LLVMValueRef is_minus_one = l_icmp(l, LLVMIntEQ, base, minus_one);
    LLVMValueRef even = l_not(l, LLVMBuildTrunc(l->b, exponent, l->i1, ""));
    LLVMValueRef unit = l_or(l, l_icmp(l, LLVMIntEQ, base, one), l_and(l, is_minus_one, even));
    LLVMValueRef inverse = l_select(l, unit, one, l_select(l, is_minus_one, minus_one, zero));
    return l_select(l, negative, inverse, r);
}

enum { SMALL_EXPONENT = 16 }; /* up to which multiplications are as exact as a device's pow */

/* Whether a constant whole exponent may become multiplications. */
static bool may_multiply(const Lower *l, Scalar scalar, int64_t exponent) {
    if (exponent >= -1 && exponent <= 2) return true;
    bool loose = (l->fastmath & (FASTMATH_CONTRACT | FASTMATH_REASSOC | FASTMATH_AFN)) != 0;
    return loose && scalar_info[scalar].kind == 'f' && exponent >= -SMALL_EXPONENT && exponent <= SMALL_EXPONENT;
}

static LLVMValueRef literal_power(Lower *l, Scalar scalar, LLVMValueRef base, int64_t exponent) {
    LLVMTypeRef type = LLVMTypeOf(base);
    if (scalar_is_half(scalar)) {
        LLVMValueRef wide = literal_power(l, SCALAR_FLOAT32, l_cast_scalar(l, base, scalar, SCALAR_FLOAT32), exponent);
        return l_cast_scalar(l, wide, SCALAR_FLOAT32, scalar);
    }
    if (exponent == 0) return l_float(type, 1.0);
    uint64_t magnitude = exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent;
    LLVMValueRef power = power_by_multiplying(l, scalar, base, magnitude);
    return exponent < 0 ? l_fdiv(l, l_float(type, 1.0), power) : power;
}

/* Where vectors may stand for pow, which are off by up to 4 units in the last place: so is a product of five, of 4
 * times half a unit of 1, as each rounding may be, and the square of an inverse by 3.  The inverse comes first, since
 * the square may be too small, or too large, where the power is not. */
static LLVMValueRef loose_power(Lower *l, Scalar scalar, LLVMValueRef base, int64_t exponent) {
    if (exponent < -2 || exponent > 5 || !l_has_vectors(l, &platform_math[MATH_pow])) return NULL;
    if (exponent >= 0) return literal_power(l, scalar, base, exponent);
    return literal_power(l, scalar, l_fdiv(l, l_float(LLVMTypeOf(base), 1.0), base), -exponent);
}

static LLVMValueRef constant_power(Lower *l, LLVMValueRef base, LLVMValueRef exponent) {
    LLVMTypeRef type = LLVMTypeOf(base);
    LLVMBool inexact = false;
    double known = LLVMConstRealGetDouble(exponent, &inexact);
    if (known == 0.5) { /* unlike a square root, pow gives 0.0 for -0.0 and infinity for -infinity */
        LLVMValueRef root = l_intrinsic(l, "llvm.sqrt", type, &base, 1), infinity = l_float(type, __builtin_inf());
        root = l_intrinsic(l, "llvm.fabs", type, &root, 1);
        return l_select(l, l_fcmp(l, LLVMRealOEQ, base, l_float(type, -__builtin_inf())), infinity, root);
    }
    Scalar scalar = type == l->f32 ? SCALAR_FLOAT32 : SCALAR_FLOAT64;
    bool small = known >= -SMALL_EXPONENT && known <= SMALL_EXPONENT && known == (int64_t)known;
    if (!small) return NULL;
    return may_multiply(l, scalar, (int64_t)known) ? literal_power(l, scalar, base, (int64_t)known)
                                                   : loose_power(l, scalar, base, (int64_t)known);
}

/* The integer that was made a float; NULL: it was none. */
static LLVMValueRef whole_number(LLVMValueRef number, bool *is_signed) {
    while (LLVMIsAFPExtInst(number) || LLVMIsAFPTruncInst(number)) number = LLVMGetOperand(number, 0);
    *is_signed = LLVMIsASIToFPInst(number) != NULL;
    if (!*is_signed && !LLVMIsAUIToFPInst(number)) return NULL;
    LLVMValueRef whole = LLVMGetOperand(number, 0), narrow = LLVMIsAZExtInst(whole);
    return narrow && LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(narrow, 0))) == 1 ? LLVMGetOperand(narrow, 0)
                                                                                     : whole;
}

/* pow by operations that round correctly: to a constant, and to a bool.  NULL for any other exponent. */
LLVMValueRef l_easy_power(Lower *l, LLVMValueRef base, LLVMValueRef exponent) {
    if (LLVMIsAConstantFP(exponent)) return constant_power(l, base, exponent);
    bool is_signed;
    LLVMValueRef whole = whole_number(exponent, &is_signed);
    if (!whole || LLVMTypeOf(whole) != l->i1) return NULL;
    return l_select(l, whole, base, l_float(LLVMTypeOf(base), 1.0));
}

/* pow to an integer on a device: whether it is small enough to multiply, and its magnitude.  NULL: any other exponent,
 * and the host's, whose pow is as good. */
LLVMValueRef l_whole_exponent(Lower *l, LLVMValueRef exponent, WholeExponent *out) {
    bool is_signed;
    LLVMValueRef whole = l->target->math == MATH_HOST ? NULL : whole_number(exponent, &is_signed);
    if (!whole) return NULL;
    LLVMTypeRef type = LLVMTypeOf(whole);
    out->negative = is_signed ? l_icmp(l, LLVMIntSLT, whole, l_null(type)) : l_i1(l, false);
    out->magnitude = l_select(l, out->negative, l_sub(l, l_null(type), whole), whole);
    return l_icmp(l, LLVMIntULE, out->magnitude, l_int(type, SMALL_EXPONENT));
}

/* Without a loop: what LLVM knows of the exponent's bits leaves out multiplications. */
LLVMValueRef l_whole_power(Lower *l, LLVMValueRef base, WholeExponent exponent) {
    LLVMTypeRef type = LLVMTypeOf(exponent.magnitude);
    LLVMValueRef one = l_float(LLVMTypeOf(base), 1.0), power = one, factor = base;
    for (int bit = 1; bit <= SMALL_EXPONENT; bit *= 2) {
        LLVMValueRef masked = l_and(l, exponent.magnitude, l_int(type, bit));
        if (bit > 1) factor = l_fmul(l, factor, factor);
        LLVMValueRef product = bit > 1 ? l_fmul(l, power, factor) : base;
        power = l_select(l, l_icmp(l, LLVMIntNE, masked, l_null(type)), product, power);
    }
    LIf f;
    l_if(l, &f, exponent.negative);
    LLVMValueRef inverse = l_fdiv(l, one, power);
    l_endif(l, &f);
    return l_if_phi(l, &f, inverse, power);
}

LLVMValueRef l_power(Lower *l, Scalar scalar, LLVMValueRef base, LLVMValueRef exponent) {
    LLVMValueRef args[] = {base, exponent};
    switch (scalar_info[scalar].kind) {
    case 'i':
    case 'u':
        if (LLVMIsAConstantInt(exponent)) {
            int64_t n = LLVMConstIntGetSExtValue(exponent);
            if (n == 0) return l_int(LLVMTypeOf(base), 1);
            if (n > 0) return power_by_multiplying(l, scalar, base, (uint64_t)n);
        }
        return l_int_power(l, base, exponent, scalar_info[scalar].kind == 'i');
    case 'f':
        if (scalar_is_half(scalar)) return l_scalar_op(l, OP_POW, scalar, base, exponent);
        return lower_math(l, MATH_pow, scalar, args, 2);
    default: return lower_math(l, MATH_pow, scalar, args, 2);
    }
}

static LLVMValueRef is_finite(Lower *l, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef magnitude = l_intrinsic(l, "llvm.fabs", type, &value, 1);
    return LLVMBuildFCmp(l->b, LLVMRealOLT, magnitude, l_float(type, __builtin_inf()), "");
}

/* CPython: 0.0 ** -1 is an error, a finite base and exponent with an infinite result is another. */
static void check_zero_base(Lower *l, const Value *value, LLVMValueRef base, LLVMValueRef negative) {
    if (!(value->flags & VF_CHECKED) || type_scalar_kind(value->type) != 'f') return;
    LLVMValueRef zero = l_not(l, l_truth(l, value->type, base));
    l_raise_if(l, l_and(l, zero, negative), "ZeroDivisionError", "0.0 cannot be raised to a negative power", NULL, 0);
}

static void check_overflow(Lower *l, const Value *value, LLVMValueRef base, LLVMValueRef exponent,
                           LLVMValueRef result) {
    if (!(value->flags & VF_CHECKED) || value->type->scalar != SCALAR_FLOAT64 || !value->type->weak) return;
    LLVMTypeRef type = LLVMTypeOf(result);
    LLVMValueRef magnitude = l_intrinsic(l, "llvm.fabs", type, &result, 1);
    LLVMValueRef infinite = LLVMBuildFCmp(l->b, LLVMRealOEQ, magnitude, l_float(type, __builtin_inf()), "");
    LLVMValueRef over = l_and(l, infinite, is_finite(l, base));
    if (exponent) over = l_and(l, over, is_finite(l, exponent));
    l_raise_errno_if(l, over, "OverflowError", 34, "Numerical result out of range");
}

/* The interpreter's answer is a complex number, which the type of the result cannot be. */
static void check_fractional(Lower *l, const Value *value, LLVMValueRef base, LLVMValueRef exponent,
                             LLVMValueRef result) {
    if (!(value->flags & VF_CHECKED) || !value->type->weak) return;
    LLVMValueRef no_number = LLVMBuildFCmp(l->b, LLVMRealUNO, result, result, "");
    LLVMValueRef numbers = LLVMBuildFCmp(l->b, LLVMRealORD, base, exponent, "");
    l_raise_if(l, l_and(l, no_number, numbers), "ValueError",
               "a negative number to a fractional power is complex, which the result of float ** float cannot be in "
               "compiled code: make one operand complex",
               NULL, 0);
}

static LLVMValueRef float_power(Lower *l, const Value *value, LLVMValueRef base) {
    const Value *operand = value->args[1];
    Scalar scalar = value->type->scalar;
    const Const *known = operand->op == OP_CONST ? operand->konst : NULL;
    if (known && type_is_integer(known->type)) {
        check_zero_base(l, value, base, l_i1(l, known->i < 0));
        if (may_multiply(l, scalar, known->i)) {
            LLVMValueRef power = literal_power(l, scalar, base, known->i);
            check_overflow(l, value, base, NULL, power);
            return power;
        }
    }
    LLVMValueRef exponent = l_cast(l, l_value(l, operand), operand->type, value->type);
    if (!known || !type_is_integer(known->type)) {
        LLVMValueRef wide = scalar_is_half(scalar) ? l_cast_scalar(l, exponent, scalar, SCALAR_FLOAT32) : exponent;
        LLVMValueRef negative = LLVMBuildFCmp(l->b, LLVMRealOLT, wide, l_null(LLVMTypeOf(wide)), "");
        check_zero_base(l, value, base, l_and(l, negative, is_finite(l, wide))); /* 0.0 ** -inf is inf */
    }
    LLVMValueRef power;
    TRY(power = l_scalar_op(l, OP_POW, scalar, base, exponent));
    check_overflow(l, value, base, exponent, power);
    check_fractional(l, value, base, exponent, power);
    return power;
}

static LLVMValueRef python_complex_power(Lower *l, const Value *value, LLVMValueRef base, LLVMValueRef exponent) {
    LLVMValueRef out = l_alloca_bytes(l, 16, 8, "complex");
    LLVMValueRef args[] = {l_extract(l, base, 0), l_extract(l, base, 1), l_extract(l, exponent, 0),
                           l_extract(l, exponent, 1), out};
    LLVMValueRef error;
    TRY(error = l_call_named(l, "krait_rt_pypow_D", l->i32, args, 5));
    if (value->flags & VF_CHECKED) {
        l_raise_if(l, l_icmp(l, LLVMIntEQ, error, l_i32(l, 1)), "ZeroDivisionError",
                   "0.0 to a negative or complex power", NULL, 0);
        l_raise_if(l, l_icmp(l, LLVMIntEQ, error, l_i32(l, 2)), "OverflowError", "complex exponentiation", NULL, 0);
    }
    return l_load(l, value->type, out);
}

/* An int to a negative int power is a float in the interpreter, which the type of the result cannot be. */
static void check_int_exponent(Lower *l, const Value *value, LLVMValueRef base, LLVMValueRef exponent) {
    LLVMValueRef zero = l_null(LLVMTypeOf(exponent)), negative = l_icmp(l, LLVMIntSLT, exponent, zero);
    if (value->type->weak)
        l_raise_if(l, l_and(l, negative, l_icmp(l, LLVMIntEQ, base, zero)), "ZeroDivisionError",
                   "0.0 cannot be raised to a negative power", NULL, 0);
    const char *text = value->type->weak ? "an int to a negative power is a float, which the result of int ** int "
                                           "cannot be in compiled code: make one operand a float"
                                         : "Integers to negative integer powers are not allowed.";
    l_raise_if(l, negative, "ValueError", text, NULL, 0);
}

LLVMValueRef lower_power(Lower *l, const Value *value) {
    const Type *type = value->type;
    if (!type_is_scalar(type)) return l_fail(l, "%s has no `x ** y`", l_type_text(l, type)), NULL;
    const Value *operand = value->args[1];
    LLVMValueRef base = l_cast(l, l_arg(l, value, 0), value->args[0]->type, type);
    if (type_scalar_kind(type) == 'f') return float_power(l, value, base);
    LLVMValueRef exponent = l_cast(l, l_value(l, operand), operand->type, type);
    if (type->scalar == SCALAR_COMPLEX128 && type->weak) return python_complex_power(l, value, base, exponent);
    bool is_signed = type_scalar_kind(type) == 'i';
    if ((value->flags & VF_CHECKED) && is_signed && !(value->flags & VF_UNCHECKED))
        check_int_exponent(l, value, base, exponent);
    return l_scalar_op(l, OP_POW, type->scalar, base, exponent);
}
