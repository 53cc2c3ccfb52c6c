/* rules_math.c: typing rules of the math and cmath modules.
 *
 * math: a strong float16, bfloat16 or float32 operand keeps its type when NumPy's promotion of all operands does
 * (math.sqrt(x32) is float32); everything else is computed in float64 and gives a Python float.  cmath gives Python
 * numbers. */
#include <math.h>
#include <string.h>

#include "typeinfer/rules_library.h" /* lib_* */

/* The type a math function gives for these operands; NULL: they are not real numbers. */
static const Type *math_type(Typing *t, size_t first, size_t count) {
    if (!lib_kinds(t, first, count, "biuf")) return NULL;
    const Type *type = promote_args(t, first, count);
    bool kept = type && !type->weak && (scalar_is_half((Scalar)type->scalar) || type->scalar == SCALAR_FLOAT32);
    return kept ? type : infer_float(t->in);
}

/* The type whose neighbours a function finds. */
static const Type *grid_type(Typing *t, size_t count) {
    const Type *type = math_type(t, 0, count);
    return type && type->scalar == SCALAR_BFLOAT16 ? infer_scalar(t->in, SCALAR_FLOAT32, false) : type;
}

bool rule_func_math(Typing *t) {
    bool ulp = t->func == FUNC_MATH_ULP;
    const Type *type = ulp ? grid_type(t, 1) : math_type(t, 0, t->nargs);
    if (!type) return typing_bad_operands(t);
    const Type *compute = ulp ? type : lib_compute(t->in, type);
    return lib_call(t, t->func, t->nargs, compute, compute, type);
}

bool rule_func_math_log(Typing *t) {
    const Type *type = math_type(t, 0, t->nargs);
    if (!type) return typing_bad_operands(t);
    const Type *compute = lib_compute(t->in, type);
    if (t->nargs == 1) return lib_call(t, t->func, 1, compute, compute, type);
    Value *value = NULL;
    if (t->emit) {
        Value *logs[2];
        for (int i = 0; i < 2; i++) {
            Value *arg = typing_make_cast(t, t->values[i], compute);
            logs[i] = lib_emit(t, t->func, &arg, 1, compute, compute);
        }
        value = typing_make_cast(t, lib_emit_op(t, OP_TRUEDIV, logs, 2, compute), type);
    }
    return typing_become(t, value, type);
}

bool rule_func_math_test(Typing *t) {
    const Type *type = math_type(t, 0, 1);
    if (!type) return typing_bad_operands(t);
    return lib_call(t, t->func, 1, lib_compute(t->in, type), infer_bool(t->in), infer_bool(t->in));
}

/* NumPy's integers have neither __floor__ nor __ceil__: math takes them as floats. */
bool rule_func_math_to_int(Typing *t) {
    const Type *argument = infer_content(t->args[0].type);
    bool numpy = lib_kinds(t, 0, 1, "iu") && !argument->weak && scalar_info[argument->scalar].bytes == 8;
    if (lib_kinds(t, 0, 1, "biu") && !numpy)
        return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], infer_int(t->in)) : NULL, infer_int(t->in));
    const Type *type = math_type(t, 0, 1);
    if (!type) return typing_bad_operands(t);
    if (numpy && t->emit && argument == t->args[0].type) /* what 64 bits with a sign cannot hold raises */
        t->values[0] = typing_make_cast(t, t->values[0], infer_int(t->in));
    return lib_call(t, t->func, 1, lib_compute(t->in, type), infer_int(t->in), infer_int(t->in));
}

bool rule_func_math_frexp(Typing *t) {
    const Type *type = math_type(t, 0, 1), *integer = infer_int(t->in);
    if (!type) return typing_bad_operands(t);
    const Type *compute = lib_compute(t->in, type);
    return lib_call(t, t->func, 1, compute, lib_pair(t->in, compute, integer), lib_pair(t->in, type, integer));
}

bool rule_func_math_modf(Typing *t) {
    const Type *type = math_type(t, 0, 1);
    if (!type) return typing_bad_operands(t);
    const Type *compute = lib_compute(t->in, type);
    return lib_call(t, t->func, 1, compute, lib_pair(t->in, compute, compute), lib_pair(t->in, type, type));
}

bool rule_func_math_ldexp(Typing *t) {
    const Type *type = math_type(t, 0, 1);
    if (!type || !lib_kinds(t, 1, 1, "biu")) return typing_bad_operands(t);
    const Type *compute = lib_compute(t->in, type);
    Value *value = NULL;
    if (t->emit) {
        Value *args[] = {typing_make_cast(t, t->values[0], compute),
                         typing_make_cast(t, t->values[1], infer_int(t->in))};
        value = lib_emit(t, t->func, args, 2, compute, type);
    }
    return typing_become(t, value, type);
}

/* float16 steps on its own grid, so nothing is computed in float32 here. */
bool rule_func_math_nextafter(Typing *t) {
    static const char *const params[] = {"x", "y", "steps"};
    TRY(typing_bind_keywords(t, params, 2, 3));
    const Type *type = grid_type(t, 2);
    if (!type) return typing_bad_operands(t);
    bool steps = typing_given(t, 2) && !typing_is_none(t, 2);
    if (steps && !lib_kinds(t, 2, 1, "biu")) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        Value *args[3] = {typing_make_cast(t, t->values[0], type), typing_make_cast(t, t->values[1], type), NULL};
        if (steps) args[2] = typing_make_cast(t, t->values[2], infer_int(t->in));
        value = lib_emit(t, steps ? FUNC_NEXTAFTER_STEPS : t->func, args, steps ? 3 : 2, type, type);
    }
    return typing_become(t, value, type);
}

bool rule_func_math_isclose(Typing *t) {
    static const char *const params[] = {"a", "b", "rel_tol", "abs_tol"};
    TRY(typing_bind_keywords(t, params, 2, 4));
    bool complex = t->func == FUNC_CMATH_ISCLOSE;
    const Type *type = complex ? infer_complex(t->in) : infer_float(t->in), *real = infer_float(t->in);
    if (!lib_kinds(t, 0, 2, complex ? "biufc" : "biuf")) return typing_bad_operands(t);
    for (size_t i = 2; i < 4; i++)
        if (typing_given(t, i) && !lib_kinds(t, i, 1, "biuf")) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        Value *args[4];
        for (size_t i = 0; i < 2; i++) args[i] = typing_make_cast(t, t->values[i], type);
        for (size_t i = 2; i < 4; i++)
            args[i] = typing_given(t, i) ? typing_make_cast(t, t->values[i], real)
                                         : lib_emit_const_float(t, i == 2 ? 1e-9 : 0.0);
        value = lib_emit(t, t->func, args, 4, infer_bool(t->in), infer_bool(t->in));
    }
    return typing_become(t, value, infer_bool(t->in));
}

bool rule_func_cmath_isclose(Typing *t) { return rule_func_math_isclose(t); }

/* ---- integers ---- */

bool rule_func_math_ints(Typing *t) {
    if (!lib_kinds(t, 0, t->nargs, "biu")) return typing_bad_operands(t);
    const Type *type = infer_int(t->in);
    bool large = t->func == FUNC_MATH_ISQRT && lib_scalar(t, 0)->scalar == SCALAR_UINT64;
    return lib_call(t, t->func, t->nargs, large ? infer_scalar(t->in, SCALAR_UINT64, false) : type, type, type);
}

bool rule_func_math_perm(Typing *t) {
    if (t->nargs == 2 && !typing_is_none(t, 1)) return rule_func_math_ints(t);
    if (!lib_kinds(t, 0, 1, "biu")) return typing_bad_operands(t);
    return lib_call(t, FUNC_MATH_FACTORIAL, 1, infer_int(t->in), infer_int(t->in), infer_int(t->in));
}

/* gcd and lcm of any number of integers: from left to right, starting with the neutral element. */
bool rule_func_math_fold(Typing *t) {
    const Type *type = infer_int(t->in);
    if (!lib_kinds(t, 0, t->nargs, "biu")) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        value = typing_make_int(t, t->func == FUNC_MATH_LCM ? 1 : 0);
        for (size_t i = 0; i < t->nargs; i++) {
            Value *args[] = {value, typing_make_cast(t, t->values[i], type)};
            value = lib_emit(t, t->func, args, 2, type, type);
        }
    }
    return typing_become(t, value, type);
}

/* ---- several floats ---- */

bool rule_func_math_hypot(Typing *t) {
    const Type *type = t->nargs ? math_type(t, 0, t->nargs) : infer_float(t->in), *real = infer_float(t->in);
    if (!type) return typing_bad_operands(t);
    if (!t->nargs) return typing_become_const(t, const_float(t->in->arena, t->in->types, 0.0));
    if (t->nargs == 1) return lib_call(t, FUNC_MATH_FABS, 1, lib_compute(t->in, type), lib_compute(t->in, type), type);
    if (t->nargs == 2 && type != real)
        return lib_call(t, FUNC_NP_HYPOT, 2, lib_compute(t->in, type), lib_compute(t->in, type), type);
    if (t->nargs == 2) return lib_call(t, FUNC_NORM2, 2, real, real, real);
    Value *value = NULL;
    if (t->emit) {
        Value *tuple = lib_emit_tuple(t, real, 0, t->nargs);
        value = lib_emit(t, FUNC_NORM, &tuple, 1, real, type);
    }
    return typing_become(t, value, type);
}

/* A tuple whose items are all real numbers. */
static bool is_real_tuple(const Type *type) {
    if (type->kind != TY_TUPLE) return false;
    for (uint32_t i = 0; i < type->count; i++)
        if (!type_is_scalar(type->items[i]) || type_scalar_kind(type->items[i]) == 'c') return false;
    return true;
}

static bool is_real_vector(const Type *type) {
    return type->kind == TY_ARRAY && type->ndim == 1 && type_scalar_kind(type_element(type)) != 'c';
}

/* What is walked over to know its items. */
static bool is_iterated(const Type *type) {
    return type->kind != TY_ARRAY && type->kind != TY_TUPLE && type->kind != TY_SCALAR;
}

static bool is_point(const Type *type) { return is_real_vector(type) || is_real_tuple(type) || is_iterated(type); }

/* Item `index` of tuple operand `arg` as a Python float. */
static Value *typing_tuple_item(Typing *t, size_t arg, size_t index, const Type *to) {
    return typing_make_cast(t, typing_make_extract(t, t->values[arg], index), to);
}

bool rule_func_math_dist(Typing *t) {
    const Type *p = t->args[0].type, *q = t->args[1].type, *real = infer_float(t->in);
    if (is_real_vector(p) && is_real_vector(q)) return typing_become_prelude(t, "math_more:dist");
    if (!is_real_tuple(p) || !is_real_tuple(q)) {
        if (t->in->device || !is_point(p) || !is_point(q)) return typing_bad_operands(t);
        return typing_become_prelude(t, "math_more:dist_of");
    }
    if (p->count != q->count)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "both points must have the same number of dimensions: %s and %s",
                           typing_arg_text(t, 0), typing_arg_text(t, 1));
    Value *value = NULL;
    if (t->emit) {
        Value **items = ARENA_ARRAY(t->in->arena, Value *, p->count);
        for (uint32_t i = 0; i < p->count; i++) {
            Value *args[] = {typing_tuple_item(t, 0, i, real), typing_tuple_item(t, 1, i, real)};
            items[i] = typing_make_op(t, OP_SUB, real, args, 2);
        }
        Value *tuple = typing_make_op(t, OP_TUPLE, lib_uniform_tuple(t->in, real, p->count), items, p->count);
        value = lib_emit(t, FUNC_NORM, &tuple, 1, real, real);
    }
    return typing_become(t, value, real);
}

/* The operand of an internal row is already a tuple of floats. */
bool rule_func_vector_float(Typing *t) { return typing_result(t, infer_float(t->in), NULL); }

bool rule_func_math_fsum(Typing *t) {
    const Type *type = t->args[0].type, *real = infer_float(t->in);
    if (is_iterated(type) && !t->in->device) return typing_become_prelude(t, "math_more:fsum_of");
    if (!is_real_vector(type) && !is_real_tuple(type)) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        Value *arg = t->values[0];
        if (type->kind == TY_TUPLE) {
            Value **items = ARENA_ARRAY(t->in->arena, Value *, type->count);
            for (uint32_t i = 0; i < type->count; i++) items[i] = typing_tuple_item(t, 0, i, real);
            arg = typing_make_op(t, OP_TUPLE, lib_uniform_tuple(t->in, real, type->count), items, type->count);
        }
        value = lib_emit(t, t->func, &arg, 1, real, real);
    }
    return typing_become(t, value, real);
}

/* Python floats are summed with extended precision, Python ints exactly, anything else one product after the other. */
bool rule_func_math_sumprod(Typing *t) {
    const Type *p = t->args[0].type, *q = t->args[1].type, *real = infer_float(t->in);
    if (!is_real_tuple(p) || !is_real_tuple(q)) {
        if (!is_real_vector(p) && !is_real_tuple(p)) return typing_bad_operands(t);
        if (!is_real_vector(q) && !is_real_tuple(q)) return typing_bad_operands(t);
        return typing_become_prelude(t, "math_more:sumprod");
    }
    bool any_float = false, all_weak = true;
    for (uint32_t i = 0; i < p->count; i++)
        any_float = any_float || type_scalar_kind(p->items[i]) == 'f', all_weak = all_weak && p->items[i]->weak;
    for (uint32_t i = 0; i < q->count; i++)
        any_float = any_float || type_scalar_kind(q->items[i]) == 'f', all_weak = all_weak && q->items[i]->weak;
    if (!any_float || !all_weak || p->count != q->count) return typing_become_prelude(t, "math_more:sumprod");
    Value *value = NULL;
    if (t->emit) {
        Value *tuples[2];
        for (size_t arg = 0; arg < 2; arg++) {
            Value **items = ARENA_ARRAY(t->in->arena, Value *, p->count);
            for (uint32_t i = 0; i < p->count; i++) items[i] = typing_tuple_item(t, arg, i, real);
            tuples[arg] = typing_make_op(t, OP_TUPLE, lib_uniform_tuple(t->in, real, p->count), items, p->count);
        }
        value = lib_emit(t, FUNC_SUMPROD_FLOAT, tuples, 2, real, real);
    }
    return typing_become(t, value, real);
}

/* ---- cmath ---- */

static bool cmath_call(Typing *t, const Type *result) {
    if (!lib_kinds(t, 0, 1, "biufc")) return typing_bad_operands(t);
    return lib_call(t, t->func, 1, infer_complex(t->in), result, result);
}

bool rule_func_cmath(Typing *t) { return cmath_call(t, infer_complex(t->in)); }
bool rule_func_cmath_real(Typing *t) { return cmath_call(t, infer_float(t->in)); }
bool rule_func_cmath_test(Typing *t) { return cmath_call(t, infer_bool(t->in)); }
bool rule_func_cmath_polar(Typing *t) { return cmath_call(t, lib_pair(t->in, infer_float(t->in), infer_float(t->in))); }

bool rule_func_cmath_log(Typing *t) {
    if (!lib_kinds(t, 0, t->nargs, "biufc")) return typing_bad_operands(t);
    const Type *type = infer_complex(t->in);
    return lib_call(t, t->nargs == 1 ? t->func : FUNC_CMATH_LOG_BASE, t->nargs, type, type, type);
}

bool rule_func_cmath_rect(Typing *t) {
    if (!lib_kinds(t, 0, 2, "biuf")) return typing_bad_operands(t);
    return lib_call(t, t->func, 2, infer_float(t->in), infer_complex(t->in), infer_complex(t->in));
}
