/* lower_cast.c: conversions: between all scalar types as C and NumPy convert them on x86-64, and between the other
 * types as CAST asks for.
 *
 * Float to integer goes through int32 or int64 as NumPy's loops do, so that what does not fit gives the same bits; the
 * conversion is frozen, because LLVM calls its result poison then. */
#include <string.h> /* strstr */

#include "codegen/lower.h"

/* ---- scalars ---- */

/* A bfloat16 is the upper half of a float32, and the lower one says where to round. */
static LLVMValueRef upper_half(Lower *l, LLVMValueRef single) {
    LLVMValueRef bits = LLVMBuildBitCast(l->b, single, l->i32, ""), sixteen = l_i32(l, 16);
    LLVMValueRef upper = LLVMBuildLShr(l->b, bits, sixteen, ""), odd = l_and(l, upper, l_i32(l, 1));
    LLVMValueRef rounded = LLVMBuildLShr(l->b, l_add(l, bits, l_add(l, odd, l_i32(l, 0x7FFF))), sixteen, "");
    LLVMValueRef quiet = l_or(l, upper, l_i32(l, 0x40)), nan = l_isnan(l, single);
    return LLVMBuildBitCast(l->b, LLVMBuildTrunc(l->b, l_select(l, nan, quiet, rounded), l->i16, ""), l->bf16, "");
}

static LLVMValueRef single_to_half(Lower *l, LLVMValueRef single, Scalar to) {
    if (to == SCALAR_BFLOAT16 && !l->target->rounds_bfloat16) return upper_half(l, single);
    return LLVMBuildFPTrunc(l->b, single, l_scalar_type(l, to), "");
}

/* float64 to 16 bits in one rounding by way of float32 rounded to odd: the float32 keeps in its last bit whether
 * anything was lost. */
static LLVMValueRef double_to_half(Lower *l, LLVMValueRef value, Scalar to) {
    LLVMValueRef single = LLVMBuildFPTrunc(l->b, value, l->f32, ""), back = LLVMBuildFPExt(l->b, single, l->f64, "");
    LLVMValueRef bits = LLVMBuildBitCast(l->b, single, l->i32, "");
    LLVMValueRef inexact = LLVMBuildFCmp(l->b, LLVMRealONE, back, value, "");
    LLVMValueRef above = LLVMBuildFCmp(l->b, LLVMRealOGT, l_intrinsic(l, "llvm.fabs", l->f64, &back, 1),
                                       l_intrinsic(l, "llvm.fabs", l->f64, &value, 1), "");
    LLVMValueRef toward_zero = l_sub(l, bits, LLVMBuildZExt(l->b, above, l->i32, ""));
    LLVMValueRef odd = l_select(l, inexact, l_or(l, toward_zero, l_i32(l, 1)), bits);
    return single_to_half(l, LLVMBuildBitCast(l->b, odd, l->f32, ""), to);
}

/* An integer that float16 has, or one beside the largest, which becomes an infinity, too.  Of integers with few digits,
 * however large, LLVM takes the way to float16 and on to a wider float for exact. */
static LLVMValueRef within_half(Lower *l, LLVMValueRef value, bool is_signed) {
    enum { BEYOND = 65521 }; /* is nearer to 2^16 than to the largest finite number, 65504 */
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef most[] = {value, LLVMConstInt(type, BEYOND, false)};
    if (!is_signed) return l_intrinsic(l, "llvm.umin", type, most, 2);
    LLVMValueRef least[] = {l_intrinsic(l, "llvm.smin", type, most, 2), LLVMConstInt(type, (uint64_t)-BEYOND, true)};
    return l_intrinsic(l, "llvm.smax", type, least, 2);
}

/* An integer of any width that a float64 holds, or that is rounded as it would be: beyond 2^52 the last of the upper 53
 * bits keeps whether there is anything below. */
static LLVMValueRef int_to_half(Lower *l, LLVMValueRef value, bool is_signed, Scalar to) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (type == l->i64 && to == SCALAR_BFLOAT16) {
        LLVMValueRef low = l_and(l, value, l_i64(l, 0x7FF)), high = l_and(l, value, l_i64(l, ~INT64_C(0x7FF)));
        LLVMValueRef sticky = LLVMBuildZExt(l->b, l_icmp(l, LLVMIntNE, low, l_i64(l, 0)), l->i64, "");
        LLVMValueRef odd = l_or(l, high, LLVMBuildShl(l->b, sticky, l_i64(l, 11), ""));
        LLVMValueRef magnitude = l_select(l, l_and(l, l_i1(l, is_signed), l_icmp(l, LLVMIntSLT, value, l_i64(l, 0))),
                                          l_not(l, value), value);
        value = l_select(l, l_icmp(l, LLVMIntUGE, magnitude, l_i64(l, INT64_C(1) << 52)), odd, value);
    }
    if (to == SCALAR_FLOAT16 && LLVMGetIntTypeWidth(type) > 16) value = within_half(l, value, is_signed);
    LLVMTypeRef wide = LLVMGetIntTypeWidth(type) <= 16 || to == SCALAR_FLOAT16 ? l->f32 : l->f64;
    value = is_signed ? LLVMBuildSIToFP(l->b, value, wide, "") : LLVMBuildUIToFP(l->b, value, wide, "");
    return wide == l->f32 ? single_to_half(l, value, to) : double_to_half(l, value, to);
}

static LLVMValueRef int_to_float(Lower *l, LLVMValueRef value, bool is_signed, Scalar to) {
    if (scalar_is_half(to)) return int_to_half(l, value, is_signed, to);
    LLVMTypeRef type = l_scalar_type(l, to);
    return is_signed ? LLVMBuildSIToFP(l->b, value, type, "") : LLVMBuildUIToFP(l->b, value, type, "");
}

/* By its bits where the back end is not asked to: else LLVM takes what is made of the float32 back to bfloat16. */
static LLVMValueRef half_to_single(Lower *l, LLVMValueRef value, Scalar from) {
    if (from == SCALAR_FLOAT16 || l->target->rounds_bfloat16) return LLVMBuildFPExt(l->b, value, l->f32, "");
    LLVMValueRef bits = LLVMBuildZExt(l->b, LLVMBuildBitCast(l->b, value, l->i16, ""), l->i32, "");
    return LLVMBuildBitCast(l->b, LLVMBuildShl(l->b, bits, l_i32(l, 16), ""), l->f32, "");
}

static LLVMValueRef float_to_float(Lower *l, LLVMValueRef value, Scalar from, Scalar to) {
    if (from == to) return value;
    if (from == SCALAR_FLOAT64 && scalar_is_half(to)) return double_to_half(l, value, to);
    if (from == SCALAR_BFLOAT16 || (scalar_is_half(from) && scalar_is_half(to))) {
        value = half_to_single(l, value, from);
        if (to == SCALAR_FLOAT32) return value;
        from = SCALAR_FLOAT32;
    }
    if (scalar_is_half(to)) return single_to_half(l, value, to);
    return scalar_info[from].bytes < scalar_info[to].bytes ? LLVMBuildFPExt(l->b, value, l_scalar_type(l, to), "")
                                                           : LLVMBuildFPTrunc(l->b, value, l_scalar_type(l, to), "");
}

static LLVMValueRef frozen_to_int(Lower *l, LLVMValueRef value, LLVMTypeRef type) {
    return LLVMBuildFreeze(l->b, LLVMBuildFPToSI(l->b, value, type, ""), "");
}

static LLVMValueRef float_to_uint64(Lower *l, LLVMValueRef value) {
    LLVMValueRef half = l_float(LLVMTypeOf(value), 9223372036854775808.0);
    LLVMValueRef low = frozen_to_int(l, value, l->i64);
    LLVMValueRef high = frozen_to_int(l, LLVMBuildFSub(l->b, value, half, ""), l->i64);
    high = l_xor(l, high, l_i64(l, INT64_MIN));
    return l_select(l, LLVMBuildFCmp(l->b, LLVMRealOGE, value, half, ""), high, low);
}

static LLVMValueRef float_to_int(Lower *l, LLVMValueRef value, Scalar from, Scalar to) {
    if (scalar_is_half(from)) value = half_to_single(l, value, from);
    if (to == SCALAR_UINT64) return float_to_uint64(l, value);
    bool wide = to == SCALAR_INT64 || to == SCALAR_UINT32;
    value = frozen_to_int(l, value, wide ? l->i64 : l->i32);
    LLVMTypeRef type = l_scalar_type(l, to);
    return LLVMTypeOf(value) == type ? value : LLVMBuildTrunc(l->b, value, type, "");
}

static LLVMValueRef int_to_int(Lower *l, LLVMValueRef value, bool is_signed, Scalar to) {
    return LLVMBuildIntCast2(l->b, value, l_scalar_type(l, to), is_signed, "");
}

static Scalar part_of(Scalar complex) { return complex == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64; }

static LLVMValueRef complex_to(Lower *l, LLVMValueRef value, Scalar from, Scalar to) {
    LLVMValueRef re = l_extract(l, value, 0), im = l_extract(l, value, 1);
    if (scalar_info[to].kind == 'c')
        return l_complex(l, float_to_float(l, re, part_of(from), part_of(to)),
                         float_to_float(l, im, part_of(from), part_of(to)));
    if (to == SCALAR_BOOL) {
        LLVMValueRef zero = l_null(LLVMTypeOf(re));
        return l_or(l, LLVMBuildFCmp(l->b, LLVMRealUNE, re, zero, ""), LLVMBuildFCmp(l->b, LLVMRealUNE, im, zero, ""));
    }
    return l_cast_scalar(l, re, part_of(from), to);
}

LLVMValueRef l_cast_scalar(Lower *l, LLVMValueRef value, Scalar from, Scalar to) {
    if (from == to) return value;
    char from_kind = scalar_info[from].kind, to_kind = scalar_info[to].kind;
    if (from_kind == 'c') return complex_to(l, value, from, to);
    if (to_kind == 'c') {
        LLVMValueRef re = l_cast_scalar(l, value, from, part_of(to));
        return l_complex(l, re, l_null(LLVMTypeOf(re)));
    }
    if (to_kind == 'b') {
        if (from == SCALAR_BFLOAT16) value = half_to_single(l, value, from);
        LLVMValueRef zero = l_null(LLVMTypeOf(value));
        return from_kind == 'f' ? LLVMBuildFCmp(l->b, LLVMRealUNE, value, zero, "") : l_icmp(l, LLVMIntNE, value, zero);
    }
    if (from_kind == 'f') return to_kind == 'f' ? float_to_float(l, value, from, to) : float_to_int(l, value, from, to);
    return to_kind == 'f' ? int_to_float(l, value, from_kind == 'i', to) : int_to_int(l, value, from_kind == 'i', to);
}

LLVMValueRef l_cast(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    return l_convert(l, value, from, to);
}

/* ---- any types ---- */

static LLVMValueRef convert_array(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    if (from->ndim != to->ndim || type_element(from) != type_element(to)) return NULL;
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < from->ndim; i++) {
        shape[i] = l_array_shape(l, from, value, i);
        strides[i] = l_array_stride(l, from, value, i);
    }
    return l_array_make(l, to, l_array_data(l, value), l_array_owner(l, value), shape, strides);
}

static LLVMValueRef convert_items(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    if (from->count != to->count) return NULL;
    LLVMValueRef result = LLVMGetUndef(l_type(l, to));
    for (uint32_t i = 0; i < to->count; i++) {
        if (!l_has_bytes(to->items[i])) continue;
        LLVMValueRef item = l_has_bytes(from->items[i]) ? l_item(l, from, value, i)
                                                        : LLVMGetUndef(l_type(l, from->items[i]));
        TRY(item = l_convert(l, item, from->items[i], to->items[i]));
        result = l_set_item(l, to, result, i, item);
    }
    return result;
}

static LLVMValueRef to_optional(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    const Type *content = to->items[0];
    if (from->kind == TY_NONE) return LLVMConstNull(l_type(l, to));
    LLVMValueRef present = l_i1(l, true);
    if (from->kind == TY_OPTIONAL) {
        present = l_present(l, from, value);
        value = l_content(l, from, value);
        from = from->items[0];
    }
    TRY(value = l_convert(l, value, from, content));
    return l_make_items(l, to, (LLVMValueRef[]){value, present});
}

/* The value as another type of the same kind (or into an Optional); never raises. */
static int64_t number_of(const Type *choice, const Type *function) {
    uint32_t number = 0;
    while (number < choice->count && choice->items[number] != function) number++;
    return number;
}

/* A function, or one of several, as one of more. */
static LLVMValueRef to_choice(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    if (from->kind != TY_CHOICE) return l_i64(l, number_of(to, from));
    LLVMValueRef number = l_i64(l, number_of(to, from->items[0]));
    for (uint32_t i = 1; i < from->count; i++)
        number = l_select(l, l_icmp(l, LLVMIntEQ, value, l_i64(l, i)), l_i64(l, number_of(to, from->items[i])), number);
    return number;
}

/* An instance in memory is laid out as its type says, so that it is never one of another type. */
static bool lies_otherwise(const Type *from, const Type *to) {
    if (from == to || from->kind != to->kind) return false;
    if (type_is_shared(from)) return true;
    for (uint32_t i = 0; i < from->count && i < to->count; i++)
        if (lies_otherwise(from->items[i], to->items[i])) return true;
    return false;
}


LLVMValueRef l_convert(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    if (from == to) return value;
    LLVMValueRef result = NULL;
    if (type_is_scalar(from) && type_is_scalar(to))
        return l_cast_scalar(l, value, from->scalar, to->scalar);
    else if (from->kind == TY_CHARS && to->kind == TY_CHARS)
        return l_chars_convert(l, value, from, to);
    else if (from->kind == TY_TIME && to->kind == TY_TIME)
        return l_time_convert(l, value, from, to);
    else if ((to->kind == TY_TIME || to->kind == TY_MEMBER) && type_is_integer(from))
        return l_cast_scalar(l, value, from->scalar, SCALAR_INT64);
    else if (to->kind == TY_CHOICE && from->kind != TY_OPTIONAL)
        result = to_choice(l, value, from, to);
    else if ((from->kind == TY_CHOICE || from->kind == TY_MEMBER) && type_is_integer(to))
        result = value;
    else if (to->kind == TY_OPTIONAL)
        result = to_optional(l, value, from, to);
    else if (from->kind == TY_OPTIONAL)
        result = l_convert(l, l_content(l, from, value), from->items[0], to);
    else if (from->kind == TY_ARRAY && to->kind == TY_ARRAY)
        result = convert_array(l, value, from, to);
    else if (from->kind == to->kind &&
             (from->kind == TY_TUPLE || from->kind == TY_CLOSURE || from->kind == TY_SLICE || from->kind == TY_EXC))
        result = convert_items(l, value, from, to);
    else if ((type_is_container(from) || type_is_shared(from)) && lies_otherwise(from, to))
        result = NULL;
    else if (type_is_object(from) && type_is_object(to))
        result = value; /* a string and its code points */
    else if (type_is_table(from) && to->kind == TY_TUPLE)
        result = value; /* its lists */
    else if (from->kind == to->kind && LLVMTypeOf(value) == l_type(l, to))
        result = value; /* cells, flats and the like: the same representation */
    else if (!l_has_bytes(to))
        result = LLVMGetUndef(l_type(l, to));
    if (!result && !l->diag->failed) l_fail(l, "no conversion from %s to %s", l_type_text(l, from), l_type_text(l, to));
    return result;
}

/* One test where the number is finite; which error it is comes after. */
static void check_float_to_int(Lower *l, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef magnitude = l_intrinsic(l, "llvm.fabs", type, &value, 1);
    LLVMValueRef finite = l_fcmp(l, LLVMRealOLT, magnitude, l_float(type, __builtin_inf()));
    LLVMBasicBlockRef not_finite = l_block(l, "not_finite"), fine = l_block(l, "fine");
    l_branch_unlikely(l, l_not(l, finite), not_finite, fine);
    l_enter(l, not_finite);
    l_raise_if(l, l_isnan(l, value), "ValueError", "cannot convert float NaN to integer", NULL, 0);
    l_jump(l, l_raise_block(l, "OverflowError", "cannot convert float infinity to integer", NULL, 0));
    l_enter(l, fine);
}

/* numpy.int8(x) of a Python float: int(x) has to fit C's long (unsigned long for unsigned types of that width or of
 * half of it), then the type.  The value has been rounded towards zero. */
static void check_float_fits(Lower *l, LLVMValueRef value, Scalar to) {
    const ScalarInfo *info = &scalar_info[to];
    bool is_unsigned = info->kind == 'u', far = is_unsigned && info->bytes >= 4;
    double long_end = 9223372036854775808.0,
           values = info->bytes == 8 ? 2 * long_end : (double)(1ull << (8 * info->bytes));
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef below = l_fcmp(l, LLVMRealOLT, value, l_float(type, -long_end)),
                 above = l_fcmp(l, LLVMRealOGE, value, l_float(type, far ? 2 * long_end : long_end));
    l_raise_if(l, l_or(l, below, above), "OverflowError", "Python int too large to convert to C long", NULL, 0);
    below = l_fcmp(l, LLVMRealOLT, value, l_float(type, is_unsigned ? 0.0 : -values / 2));
    above = l_fcmp(l, LLVMRealOGE, value, l_float(type, is_unsigned ? values : values / 2));
    LLVMValueRef beyond = l_fcmp(l, LLVMRealOGE, value, l_float(type, long_end)), whole = float_to_uint64(l, value);
    const char *text = "Python integer %s out of bounds for %s";
    l_raise_if(l, l_and(l, above, beyond), "OverflowError", arena_printf(l->arena, text, "%llu", info->name), &whole,
               1);
    l_raise_if(l, l_or(l, below, above), "OverflowError", arena_printf(l->arena, text, "%lld", info->name), &whole, 1);
}

/* Whether an int64 lies outside an integer type. */
static LLVMValueRef is_outside(Lower *l, LLVMValueRef value, Scalar to) {
    if (to == SCALAR_INT64) return l_i1(l, false);
    if (to == SCALAR_UINT64) return l_icmp(l, LLVMIntSLT, value, l_i64(l, 0));
    int64_t values = (int64_t)1 << (8 * scalar_info[to].bytes);
    if (scalar_info[to].kind == 'i') value = l_add(l, value, l_i64(l, values / 2));
    return l_icmp(l, LLVMIntUGE, value, l_i64(l, values));
}

/* For an item of a range: whether one of the range's ends lies outside, which does not change while a loop runs; LLVM
 * then splits the loop, and the one that runs as a rule has no check.  NULL: it is no such item. */
static LLVMValueRef end_is_outside(Lower *l, const Value *item, Scalar to) {
    const Value *iterator = item->op == OP_ITER_TAKE ? item->args[0] : NULL;
    if (!iterator || iterator->op != OP_ITER || iterator->args[0]->type->kind != TY_RANGE) return NULL;
    LLVMValueRef range = l_value(l, iterator->args[0]);
    return l_or(l, is_outside(l, l_extract(l, range, 0), to), is_outside(l, l_extract(l, range, 1), to));
}

LLVMValueRef l_int_outside(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    LLVMValueRef wide = l_cast_scalar(l, value, from->scalar, SCALAR_INT64), outside = is_outside(l, wide, to->scalar);
    return from->scalar == SCALAR_UINT64 ? l_or(l, outside, l_icmp(l, LLVMIntSLT, wide, l_i64(l, 0))) : outside;
}

void l_check_int_range(Lower *l, LLVMValueRef value, const Type *from, const Type *to, const Value *item) {
    Scalar scalar = to->scalar;
    LLVMValueRef wide = l_cast_scalar(l, value, from->scalar, SCALAR_INT64);
    if (from->scalar == SCALAR_UINT64)
        l_raise_if(l, l_icmp(l, LLVMIntSLT, wide, l_i64(l, 0)), "OverflowError",
                   "Python int too large to convert to C long", NULL, 0);
    if (scalar == SCALAR_INT64) return;
    LLVMValueRef outside = is_outside(l, wide, scalar), rarely = item ? end_is_outside(l, item, scalar) : NULL;
    if (rarely) outside = l_and(l, rarely, outside);
    const char *text = arena_printf(l->arena, "Python integer %%lld out of bounds for %s", scalar_info[scalar].name);
    l_raise_if(l, outside, "OverflowError", text, &wide, 1);
}

/* imm.text: "TypeError: ...", if inference knew what the interpreter says; as a format it has %% for each %. */
static void raise_for_none(Lower *l, const Value *value, LLVMValueRef is_none) {
    const char *known = value->imm.text, *words = known ? strstr(known, ": ") : NULL;
    Buf text;
    buf_init(&text, l->arena);
    for (const char *at = words ? words + 2 : ""; *at; at++) buf_printf(&text, *at == '%' ? "%%%%" : "%c", *at);
    if (!words) buf_printf(&text, "a value of type %s is needed here, not None", l_type_text(l, value->type));
    const char *class = words ? arena_printf(l->arena, "%.*s", (int)(words - known), known) : "TypeError";
    l_raise_if(l, is_none, class, text.text, NULL, 0);
}

/* np.int32(math.floor(x)) of a float32: the int of 64 bits is not made where these are slow.  NULL: it is. */
static LLVMValueRef low_bits_of_rounded(Lower *l, const Value *value) {
    static const struct {
        FuncId func;
        const char *symbol;
    } rounded[] = {
        {FUNC_MATH_FLOOR, "krait_rt_floor_low_f"},
        {FUNC_MATH_CEIL, "krait_rt_ceil_low_f"},
        {FUNC_MATH_TRUNC, "krait_rt_trunc_low_f"},
        {FUNC_ROUND_INT, "krait_rt_round_low_f"},
    };
    const Value *call = value->args[0];
    const Type *to = value->type;
    bool asked = call->op == OP_CALL_FUNC && !((call->flags | value->flags) & VF_CHECKED) && call->nargs == 1;
    bool short_of = type_is_integer(to) && to->scalar != SCALAR_BOOL && scalar_info[to->scalar].bytes <= 4;
    if (!l->target->slow_wide || !asked || !short_of || !type_is_scalar(call->args[0]->type) ||
        call->args[0]->type->scalar != SCALAR_FLOAT32)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(rounded); i++) {
        if (rounded[i].func != call->imm.func->id) continue;
        LLVMValueRef x = l_arg(l, call, 0);
        return l_cast_scalar(l, l_rtlib(l, rounded[i].symbol, l->i32, &x, 1), SCALAR_INT32, to->scalar);
    }
    return NULL;
}

/* Of a Python int that is put into a container of floats: a float has 53 binary digits between the first that is not
 * zero and the last. */
static void check_exact(Lower *l, LLVMValueRef number) {
    enum { DIGITS = 53 };
    LLVMValueRef first[] = {number, l_i1(l, false)}, last[] = {number, l_i1(l, false)};
    first[0] = l_intrinsic(l, "llvm.abs", l->i64, first, 2);
    LLVMValueRef around = l_add(l, l_intrinsic(l, "llvm.ctlz", l->i64, first, 2),
                                l_intrinsic(l, "llvm.cttz", l->i64, last, 2));
    l_raise_if(l, l_icmp(l, LLVMIntSLT, around, l_i64(l, 64 - DIGITS)), "OverflowError",
               "the int %lld, put among floats, is no float: float(n) is the nearest", &number, 1);
}

LLVMValueRef lower_cast(Lower *l, const Value *value) {
    const Type *from = value->args[0]->type, *to = value->type;
    LLVMValueRef low = low_bits_of_rounded(l, value);
    if (low) return low;
    if (from->kind == TY_STR && to->kind == TY_STRING) return l_const_string(l, value->args[0]->konst);
    if (to->kind == TY_NONE && from->kind != TY_NONE && from->kind != TY_OPTIONAL)
        return l_fail(l, "%s where there can be only None", l_type_text(l, from)), NULL;
    LLVMValueRef operand = l_arg(l, value, 0);
    if (from->kind == TY_OPTIONAL && to->kind != TY_OPTIONAL && to->kind != TY_NONE && !(value->flags & VF_UNCHECKED)) {
        raise_for_none(l, value, l_not(l, l_present(l, from, operand)));
    }
    if ((value->flags & VF_CHECKED) && type_scalar_kind(from) == 'f' && type_is_integer(to) &&
        to->scalar != SCALAR_BOOL) {
        bool bits = LLVMTypeOf(operand) == l->i16; /* a bfloat16, by its bits */
        check_float_to_int(l, bits ? half_to_single(l, operand, SCALAR_BFLOAT16) : operand);
        if (from->weak && !to->weak) {
            operand = l_intrinsic(l, "llvm.trunc", LLVMTypeOf(operand), &operand, 1);
            check_float_fits(l, operand, to->scalar);
        }
    }
    if ((value->flags & VF_CHECKED) && type_is_integer(from) && type_scalar_kind(to) == 'f' &&
        !l_is_narrow(l, value->args[0]))
        check_exact(l, operand);
    bool into_numpy = type_is_scalar(from) && from->weak && from->scalar == SCALAR_INT64 && type_is_integer(to) &&
                      !to->weak && to->scalar != SCALAR_BOOL;
    bool from_uint64 = type_is_scalar(from) && from->scalar == SCALAR_UINT64 && to->weak && to->scalar == SCALAR_INT64;
    if ((value->flags & VF_CHECKED) && (into_numpy || from_uint64))
        l_check_int_range(l, operand, from, to, value->args[0]);
    if (l_is_narrow(l, value->args[0]) && type_is_scalar(to) && type_scalar_kind(to) == 'f')
        return l_cast_scalar(l, l_narrowed(l, operand), SCALAR_INT32, to->scalar);
    return l_convert(l, operand, from, to);
}
