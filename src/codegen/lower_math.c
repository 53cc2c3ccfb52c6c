/* lower_math.c: calls of library functions that are functions: the C library's or the device's (EXTERN), and rtlib's
 * (RTLIB).
 *
 * In: a CALL_FUNC with typed operands, or a row of platform_math.def with values.  Out: the value, after the checks
 * that raise what the interpreter raises (column CHECK of functions.def, where the call has VF_CHECKED).
 *
 * Calling convention of rtlib.  krait_rt_<symbol>_<letter>; the letter is the first operand's: e f d float16 to
 * float64, F D complex, l int64, L uint64.  Operands go by value: integers as int64 (bool too), a complex as its two
 * parts.  A real result is returned: a bool as int32, integers as int64.  A complex result is written through a last
 * pointer, re then im.  A pair is written through two pointers, integers as int64.  A check function has the operands,
 * then the result's numbers by value, and returns int32. */
#include <math.h>   /* frexp */
#include <string.h> /* strlen */

#include "codegen/lower.h"

/* ---- vector variants of the C library ---- */

typedef struct VectorIsa {
    char letter;    /* in libmvec's names */
    unsigned bytes; /* of a vector */
} VectorIsa;

/* The instruction sets libmvec has variants for and this processor runs. */
static unsigned vector_isas(VectorIsa out[3]) {
    unsigned count = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    out[count++] = (VectorIsa){'b', 16};
    if (__builtin_cpu_supports("avx2")) out[count++] = (VectorIsa){'d', 32};
    if (__builtin_cpu_supports("avx512f")) out[count++] = (VectorIsa){'e', 64};
#endif
    (void)out;
    return count;
}

/* Adds a function to llvm.compiler.used, so that its declaration outlives the passes that have not met its use yet. */
static void keep_declaration(Lower *l, LLVMValueRef function) {
    if (LLVMGetFirstUse(function)) return;
    LLVMValueRef old = LLVMGetNamedGlobal(l->module, "llvm.compiler.used");
    VEC(LLVMValueRef) kept = {0};
    if (old) {
        LLVMValueRef items = LLVMGetInitializer(old);
        for (int i = 0; i < LLVMGetNumOperands(items); i++)
            vec_push(l->arena, &kept, LLVMGetOperand(items, (unsigned)i));
        LLVMDeleteGlobal(old);
    }
    vec_push(l->arena, &kept, function);
    LLVMValueRef array = LLVMConstArray2(l->ptr, kept.data, kept.len);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(array), "llvm.compiler.used");
    LLVMSetInitializer(global, array);
    LLVMSetLinkage(global, LLVMAppendingLinkage);
    LLVMSetSection(global, "llvm.metadata");
}

/* A vector variant may be off by 4 units in the last place.  What the interpreter computes by the C library's scalar
 * functions (math, powers of Python numbers) keeps its bits; NumPy, ufuncs and kernels round in their own way. */
bool l_has_vectors(const Lower *l, const PlatformMath *row) {
    if (!row->vector[0]) return false;
    if (l->target->math != MATH_HOST || l->m->options.opt_level < 2) return false;
    if (!strncmp(row->vector, "krait_", strlen("krait_"))) return true; /* they have the scalar's bits */
    if (l->m->options.entry != ENTRY_FUNCTION || (l->fastmath & FASTMATH_AFN)) return true;
    return l->at && l->at->op == OP_CALL_FUNC && func_row(l->at->imm.func)->vectors;
}

/* Tells LLVM's loop vectoriser which vector functions stand for this call, where the system has them. */
static void describe_vectors(Lower *l, LLVMValueRef call, const PlatformMath *row, const char *symbol,
                             LLVMTypeRef type) {
    VectorIsa isas[3];
    unsigned count = row->vector[0] ? vector_isas(isas) : 0, width = type == l->f32 ? 4 : 8;
    const char *params = row->operands == 2 ? "vv" : "v", *suffix = type == l->f32 ? "f" : "";
    Buf text;
    buf_init(&text, l->arena);
    for (unsigned i = 0; i < count; i++) {
        unsigned lanes = isas[i].bytes / width;
        const char *name = arena_printf(l->arena, "_ZGV%cN%u%s_%s%s", isas[i].letter, lanes, params, row->vector,
                                        suffix);
        if (!l->target->knows(l->m, name)) continue;
        LLVMTypeRef vector = LLVMVectorType(type, lanes), types[] = {vector, vector};
        LLVMValueRef variant = l_declare(l, name, LLVMFunctionType(vector, types, row->operands, false));
        l_attribute(l, variant, -1, "memory", 0);
        l_attribute(l, variant, -1, "willreturn", 0);
        keep_declaration(l, variant);
        buf_printf(&text, "%s_ZGV_LLVM_N%u%s_%s(%s)", text.len ? "," : "", lanes, params, symbol, name);
    }
    if (!text.len) return;
    const char *key = "vector-function-abi-variant";
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(l->context, key, (unsigned)strlen(key), text.text,
                                                           (unsigned)text.len);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, attribute);
}

/* ---- EXTERN ---- */

static const char *symbol_for(const Lower *l, const PlatformMath *row, bool single) {
    if (l->target->math == MATH_HOST) return single ? row->host32 : row->host64;
    if (single && row->fast32[0] && (l->fastmath & FASTMATH_AFN) && l->target->math == MATH_LIBDEVICE)
        return row->fast32;
    return single ? row->device32 : row->device64;
}

/* LLVM rewrites calls of functions it knows: 2.0 ** x becomes exp2(x), whose last bit differs, and fmod(nan, x) a
 * number.  As in rtlib, which is compiled freestanding, the C library alone says what its functions give. */
static void keep_bits(Lower *l, LLVMValueRef call) {
    if (l->target->math != MATH_HOST || l->fastmath == FASTMATH_ALL) return;
    unsigned kind = LLVMGetEnumAttributeKindForName("nobuiltin", strlen("nobuiltin"));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(l->context, kind, 0));
}

static LLVMValueRef call_function(Lower *l, const PlatformMath *row, LLVMTypeRef type, LLVMValueRef const *args) {
    const char *symbol = symbol_for(l, row, type == l->f32);
    LLVMValueRef function = LLVMGetNamedFunction(l->module, symbol);
    if (!function) {
        LLVMTypeRef types[] = {type, type};
        function = l_declare(l, symbol, LLVMFunctionType(type, types, row->operands, false));
        l_attribute(l, function, -1, "memory", 0); /* errno is nobody's business */
        l_attribute(l, function, -1, "willreturn", 0);
    }
    LLVMValueRef call = l_call(l, function, args, row->operands);
    l_call_attribute(l, call, -1, "memory", 0); /* a library that is linked says it of no function */
    l_call_attribute(l, call, -1, "willreturn", 0);
    if (l_has_vectors(l, row)) {
        describe_vectors(l, call, row, symbol, type);
        if (!strncmp(symbol, "krait_rt_", strlen("krait_rt_"))) l_call_attribute(l, call, -1, "noinline", 0);
    } else {
        keep_bits(l, call);
    }
    return call;
}

/* pow, by multiplying where that is exact. */
static LLVMValueRef call_power(Lower *l, const PlatformMath *row, LLVMTypeRef type, LLVMValueRef const *args) {
    LLVMValueRef easy = l_easy_power(l, args[0], args[1]);
    WholeExponent whole;
    LLVMValueRef small = easy ? NULL : l_whole_exponent(l, args[1], &whole);
    if (!small) return easy ? easy : call_function(l, row, type, args);
    LIf f;
    l_if(l, &f, small);
    LLVMValueRef multiplied = l_whole_power(l, args[0], whole);
    l_else(l, &f);
    LLVMValueRef called = call_function(l, row, type, args);
    l_endif(l, &f);
    return l_if_phi(l, &f, multiplied, called);
}

/* fmod by a power of two that is at least 1: what is left of whole multiples, each step exact.  Where x is less than
 * it, 0 is divided, so that no quotient is too small to be a number.  NULL: another divisor. */
static LLVMValueRef remainder_by_power(Lower *l, LLVMTypeRef type, LLVMValueRef const *args) {
    if (l->target->math != MATH_HOST || !LLVMIsAConstantFP(args[1])) return NULL;
    LLVMBool loses;
    int exponent;
    double divisor = LLVMConstRealGetDouble(args[1], &loses), size = fabs(divisor);
    if (!isfinite(divisor) || size < 1 || frexp(size, &exponent) != 0.5) return NULL;
    LLVMValueRef x = args[0], magnitude = l_intrinsic(l, "llvm.fabs", type, &x, 1);
    LLVMValueRef less = l_fcmp(l, LLVMRealOLT, magnitude, l_float(type, size));
    LLVMValueRef divided = l_fmul(l, l_select(l, less, l_null(type), x), l_float(type, 1 / size));
    LLVMValueRef whole = l_fmul(l, l_intrinsic(l, "llvm.trunc", type, &divided, 1), l_float(type, size));
    LLVMValueRef signs[] = {l_fsub(l, x, whole), x};
    return l_intrinsic(l, "llvm.copysign", type, signs, 2);
}

static LLVMValueRef call_math(Lower *l, const PlatformMath *row, LLVMTypeRef type, LLVMValueRef const *args) {
    LLVMValueRef easy = row == &platform_math[MATH_fmod] ? remainder_by_power(l, type, args) : NULL;
    return easy ? easy : (row == &platform_math[MATH_pow] ? call_power : call_function)(l, row, type, args);
}

/* A complex function by the name of its real row: rtlib's krait_rt_c<row>. */
static LLVMValueRef call_complex(Lower *l, const char *row, Scalar scalar, LLVMValueRef const *args, unsigned count) {
    LLVMTypeRef part = scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64;
    unsigned bytes = scalar_info[scalar].bytes / 2;
    LLVMValueRef flat[5], out = l_alloca_bytes(l, 2 * bytes, bytes, "complex");
    for (unsigned i = 0; i < count; i++)
        flat[2 * i] = l_extract(l, args[i], 0), flat[2 * i + 1] = l_extract(l, args[i], 1);
    flat[2 * count] = out;
    l_call_named(l, arena_printf(l->arena, "krait_rt_c%s_%c", row, scalar_info[scalar].numpy_char), l->v, flat,
                 2 * count + 1);
    return l_complex(l, l_raw_load(l, part, out, bytes), l_raw_load(l, part, l_offset(l, out, l_i64(l, bytes)), bytes));
}

LLVMValueRef lower_math(Lower *l, MathId id, Scalar scalar, LLVMValueRef const *args, unsigned count) {
    const PlatformMath *row = &platform_math[id];
    if (row->operands != count || count > 2) return l_fail(l, "%s takes %u arguments", row->name, row->operands), NULL;
    switch (scalar_info[scalar].kind) {
    case 'c': return call_complex(l, row->name, scalar, args, count);
    case 'f': break;
    default: return l_fail(l, "%s is called with a %s", row->name, scalar_info[scalar].name), NULL;
    }
    if (!scalar_is_half(scalar)) return call_math(l, row, l_scalar_type(l, scalar), args);
    LLVMValueRef wide[2];
    for (unsigned i = 0; i < count; i++) wide[i] = l_cast_scalar(l, args[i], scalar, SCALAR_FLOAT32);
    return l_cast_scalar(l, call_math(l, row, l->f32, wide), SCALAR_FLOAT32, scalar);
}

/* ---- RTLIB ---- */

enum { MAX_FLAT = 16 };

typedef struct FlatCall { /* operands, and for a check the results, as rtlib takes them */
    LLVMValueRef values[MAX_FLAT];
    unsigned count;
} FlatCall;

/* A scalar, or the address that a Generator is, as rtlib takes it. */
static bool flat_push(Lower *l, FlatCall *flat, const Type *type, LLVMValueRef value) {
    if (type->kind == TY_RANDOM && flat->count < MAX_FLAT) {
        flat->values[flat->count++] = value;
        return true;
    }
    if (!type_is_scalar(type) || flat->count + 2 > MAX_FLAT) {
        l_fail(l, "a library function is called with a %s", type_text(l->arena, type));
        return false;
    }
    switch (type_scalar_kind(type)) {
    case 'c':
        flat->values[flat->count++] = l_extract(l, value, 0);
        flat->values[flat->count++] = l_extract(l, value, 1);
        return true;
    case 'f': flat->values[flat->count++] = value; return true;
    default:
        flat->values[flat->count++] = l_cast_scalar(l, value, (Scalar)type->scalar,
                                                    type->scalar == SCALAR_UINT64 ? SCALAR_UINT64 : SCALAR_INT64);
        return true;
    }
}

static LLVMTypeRef rtlib_type(Lower *l, const Type *type) {
    return type_scalar_kind(type) == 'f' ? l_scalar_type(l, (Scalar)type->scalar) : l->i64;
}

/* The value of a result of `type` that rtlib returned or stored. */
static LLVMValueRef rtlib_result(Lower *l, const Type *type, LLVMValueRef raw) {
    if (type->scalar == SCALAR_BOOL) return l_icmp(l, LLVMIntNE, raw, l_null(LLVMTypeOf(raw)));
    if (type_scalar_kind(type) == 'f') return raw;
    return l_cast_scalar(l, raw, SCALAR_INT64, (Scalar)type->scalar);
}

static LLVMValueRef rtlib_pair(Lower *l, const char *symbol, FlatCall *flat, const Type *pair) {
    LLVMValueRef out[2], items[2];
    for (unsigned i = 0; i < 2; i++) flat->values[flat->count + i] = out[i] = l_alloca_bytes(l, 8, 8, "item");
    l_call_named(l, symbol, l->v, flat->values, flat->count + 2);
    for (unsigned i = 0; i < 2; i++)
        items[i] = rtlib_result(l, pair->items[i], l_raw_load(l, rtlib_type(l, pair->items[i]), out[i], 8));
    return l_make_items(l, pair, items);
}

static LLVMValueRef rtlib_complex(Lower *l, const char *symbol, FlatCall *flat, const Type *type) {
    LLVMTypeRef part = type->scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64;
    unsigned bytes = scalar_info[type->scalar].bytes / 2;
    LLVMValueRef out = l_alloca_bytes(l, 2 * bytes, bytes, "complex");
    flat->values[flat->count] = out;
    l_call_named(l, symbol, l->v, flat->values, flat->count + 1);
    return l_complex(l, l_raw_load(l, part, out, bytes), l_raw_load(l, part, l_offset(l, out, l_i64(l, bytes)), bytes));
}

static LLVMValueRef call_rtlib(Lower *l, const char *name, char letter, FlatCall *flat, const Type *type) {
    const char *symbol = arena_printf(l->arena, "krait_rt_%s_%c", name, letter);
    if (flat->count + 2 > MAX_FLAT) return l_fail(l, "%s has too many arguments", name), NULL;
    if (type->kind == TY_TUPLE && type->count == 2) return rtlib_pair(l, symbol, flat, type);
    if (!type_is_scalar(type)) return l_fail(l, "%s gives a %s", name, type_text(l->arena, type)), NULL;
    if (type_scalar_kind(type) == 'c') return rtlib_complex(l, symbol, flat, type);
    LLVMTypeRef result = type->scalar == SCALAR_BOOL ? l->i32 : rtlib_type(l, type);
    return rtlib_result(l, type, l_call_named(l, symbol, result, flat->values, flat->count));
}

/* Letter of the version for operands whose first is of this type. */
static char rtlib_letter(const Type *type) {
    if (type->kind == TY_RANDOM) return 'g';
    switch (type_scalar_kind(type)) {
    case 'f':
    case 'c': return scalar_info[type->scalar].numpy_char;
    default: return type->scalar == SCALAR_UINT64 ? 'L' : 'l';
    }
}

/* ---- checks ---- */

static LLVMValueRef magnitude_compare(Lower *l, LLVMRealPredicate predicate, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef magnitude = l_intrinsic(l, "llvm.fabs", type, &x, 1);
    return LLVMBuildFCmp(l->b, predicate, magnitude, LLVMConstReal(type, __builtin_inf()), "");
}

/* DOMAIN, RANGE, BOTH, POW: from operands and result alone, behind one unlikely branch. */
static void check_result(Lower *l, FuncCheck check, const FlatCall *args, LLVMValueRef result) {
    LIf strange;
    l_if(l, &strange, magnitude_compare(l, LLVMRealUEQ, result));
    LLVMValueRef finite = l_i1(l, true), numbers = l_i1(l, true), nan = l_isnan(l, result);
    for (unsigned i = 0; i < args->count; i++) {
        if (LLVMGetTypeKind(LLVMTypeOf(args->values[i])) == LLVMIntegerTypeKind) continue;
        finite = l_and(l, finite, magnitude_compare(l, LLVMRealOLT, args->values[i]));
        numbers = l_and(l, numbers, l_not(l, l_isnan(l, args->values[i])));
    }
    LLVMValueRef domain = l_and(l, nan, numbers), infinite = l_and(l, l_not(l, nan), finite), zero = NULL;
    if (check == CHECK_POW)
        zero = LLVMBuildFCmp(l->b, LLVMRealOEQ, args->values[0], l_null(LLVMTypeOf(args->values[0])), "");
    if (check == CHECK_DOMAIN) domain = l_or(l, domain, infinite);
    if (zero) domain = l_or(l, domain, l_and(l, infinite, zero));
    if (check != CHECK_RANGE) l_raise_if(l, domain, "ValueError", "math domain error", NULL, 0);
    if (check != CHECK_DOMAIN) l_raise_if(l, infinite, "OverflowError", "math range error", NULL, 0);
    l_endif(l, &strange);
}

void l_math_errors(Lower *l, const FuncInfo *info, LLVMValueRef code) {
    for (unsigned e = 0; e < FUNC_ERRORS && info->errors[2 * e]; e++)
        l_raise_if(l, l_icmp(l, LLVMIntEQ, code, l_i32(l, (int)e + 1)), info->errors[2 * e], info->errors[2 * e + 1],
                   NULL, 0);
}

static LLVMValueRef call_check(Lower *l, const char *what, const FuncInfo *info, char letter, const FlatCall *flat) {
    const char *symbol = arena_printf(l->arena, "krait_rt_%s_%s_%c", what, info->checker, letter);
    return l_call_named(l, symbol, l->i32, flat->values, flat->count);
}

/* CALL: rtlib's own check says which error it is. */
static bool check_call(Lower *l, const FuncInfo *info, char letter, FlatCall *flat, const Type *type,
                       LLVMValueRef result) {
    if (type->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < type->count; i++) TRY(flat_push(l, flat, type->items[i], l_item(l, type, result, i)));
    } else {
        TRY(flat_push(l, flat, type, result));
    }
    LLVMValueRef code = call_check(l, "check", info, letter, flat);
    LIf strange;
    l_if(l, &strange, l_icmp(l, LLVMIntNE, code, l_i32(l, 0)));
    l_math_errors(l, info, code);
    l_endif(l, &strange);
    return true;
}

/* FIRST: one test where nothing is wrong, which the function itself makes, too. */
static void check_first(Lower *l, const FuncInfo *info, char letter, const FlatCall *flat) {
    LLVMBasicBlockRef strange = l_block(l, "strange"), fine = l_block(l, "fine");
    LLVMValueRef fits = l_icmp(l, LLVMIntNE, call_check(l, "fits", info, letter, flat), l_i32(l, 0));
    l_branch_unlikely(l, l_not(l, fits), strange, fine);
    l_enter(l, strange);
    l_math_errors(l, info, call_check(l, "check", info, letter, flat));
    LLVMBuildUnreachable(l->b); /* it is one of them */
    l_enter(l, fine);
}

/* The platform's function that a call of rtlib's comes to, if there is more to know of it here: pow, which some
 * exponents need not, and the host's fmod and gamma functions, which have vectors, as its pow has. */
static MathId platform_function(const Lower *l, const Value *call) {
    if (type_scalar_kind(call->type) != 'f') return MATH_COUNT;
    if (value_calls(call, FUNC_NP_POWER) || value_calls(call, FUNC_NP_FLOAT_POWER)) return MATH_pow;
    if (l->target->math != MATH_HOST) return MATH_COUNT;
    if (value_calls(call, FUNC_MATH_GAMMA)) return MATH_tgamma;
    if (value_calls(call, FUNC_MATH_LGAMMA)) return MATH_lgamma;
    return value_calls(call, FUNC_NP_FMOD) ? MATH_fmod : MATH_COUNT;
}

bool l_calls_inexact_vectors(const Lower *l, const Value *value) {
    if (value->op == OP_POW) return true;
    if (value->op != OP_CALL_FUNC) return false;
    const FuncInfo *info = func_row(value->imm.func);
    MathId id = info->how == HOW_EXTERN ? info->math : platform_function(l, value);
    if (id == MATH_COUNT || !platform_math[id].vector[0]) return info->vectors;
    return strncmp(platform_math[id].vector, "krait_", strlen("krait_")) != 0;
}

/* abs of a complex number of the host, hypot of its parts, which has vectors. */
static bool is_modulus(const Lower *l, const Value *call) {
    bool is_abs = value_calls(call, FUNC_NP_ABSOLUTE) || value_calls(call, FUNC_PY_ABS);
    return is_abs && l->target->math == MATH_HOST && type_scalar_kind(call->args[0]->type) == 'c';
}

/* divmod of floats of the host, whose fmod has vectors. */
static bool is_divmod(const Lower *l, const Value *call) {
    bool is_one = value_calls(call, FUNC_PY_DIVMOD) || value_calls(call, FUNC_NP_DIVMOD);
    if (!is_one || l->target->math != MATH_HOST || type_scalar_kind(call->type->items[0]) != 'f') return false;
    Scalar scalar = (Scalar)call->type->items[0]->scalar;
    return !scalar_is_half(scalar) && l_arg_type(call, 0)->scalar == scalar && l_arg_type(call, 1)->scalar == scalar;
}

static LLVMValueRef lower_divmod(Lower *l, const Value *call, LLVMValueRef const *args) {
    LLVMValueRef results[2];
    TRY(l_float_divmod(l, (Scalar)call->type->items[0]->scalar, args, results));
    return l_make_items(l, call->type, results);
}

LLVMValueRef lower_library(Lower *l, const Value *call) {
    const FuncInfo *info = func_row(call->imm.func);
    FlatCall flat = {0};
    LLVMValueRef args[2] = {0}, result;
    for (uint32_t i = 0; i < call->nargs; i++) {
        LLVMValueRef arg = l_arg(l, call, i);
        TRY(arg);
        if (i < 2) args[i] = arg;
        TRY(flat_push(l, &flat, l_arg_type(call, i), arg));
    }
    const Type *first = call->nargs ? l_arg_type(call, 0) : NULL;
    char letter = first ? rtlib_letter(first) : 'v';
    bool checked = call->flags & VF_CHECKED && info->check != CHECK_NONE;
    if (checked && info->check == CHECK_FIRST) check_first(l, info, letter, &flat);
    MathId id = info->how == HOW_EXTERN ? info->math : platform_function(l, call);
    if (is_modulus(l, call))
        result = lower_math(l, MATH_hypot, (Scalar)call->type->scalar, flat.values, 2);
    else if (is_divmod(l, call))
        result = lower_divmod(l, call, args);
    else if (id < MATH_COUNT)
        result = lower_math(l, id, (Scalar)first->scalar, args, call->nargs);
    else
        result = call_rtlib(l, info->symbol, letter, &flat, call->type);
    TRY(result);
    if (!checked || info->check == CHECK_FIRST) return result;
    if (info->check == CHECK_CALL)
        TRY(check_call(l, info, letter, &flat, call->type, result));
    else if (type_scalar_kind(call->type) == 'f')
        check_result(l, info->check, &flat, result);
    return result;
}
