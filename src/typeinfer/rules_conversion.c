/* rules_conversion.c: calls of a class of numbers, numpy.float32(x), int(x), complex(re, im): conversions; and of a
 * class of vectors, float32x4(x, y, z, w).
 *
 * In: the class and the arguments.  Out: their value as one of that class; texts that are known are read at once. */
#include <errno.h>  /* ERANGE */
#include <math.h>   /* NAN */
#include <stdlib.h> /* strtod, strtoll */
#include <string.h> /* strchr */

#include "typeinfer/rules.h"

/* ---- texts ---- */

static bool zero_of(Typing *t, const Type *to) {
    return typing_become_const(t, typing_konst_cast(t->in, const_int(t->in->arena, t->in->types, 0), to));
}

static bool integer_from_text(Typing *t, const char *text, const Type *to) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if ((end == text || *end) && !t->in->device) return typing_number_from_text(t, to);
    if (end == text || *end) {
        typing_fail(t, DIAG_TYPING, "'%s' is not read as a whole number in compiled code", text);
        return typing_hint(t, "decimal digits with a sign are: int(\"-12\"); convert other text before the call");
    }
    const Const *konst = const_int(t->in->arena, t->in->types, value);
    if (errno == ERANGE || !typing_konst_fits(konst, to))
        return typing_fail(t, DIAG_TYPING, "'%s' does not fit %s", text, typing_text(t, to));
    return typing_become_const(t, typing_konst_cast(t->in, konst, to));
}

static bool number_from_text(Typing *t, const Type *to) {
    const Const *text = t->args[0].konst;
    char kind = scalar_info[to->scalar].kind, *end;
    if (!t->in->device && (!text || kind == 'c')) return typing_number_from_text(t, to);
    if (!text || kind == 'c') {
        typing_fail(t, DIAG_TYPING, "a str cannot be converted to %s in compiled code", typing_text(t, to));
        return typing_hint(t, "convert it before the call, and pass the number");
    }
    if (kind != 'f') return integer_from_text(t, text->text, to);
    double value = strtod(text->text, &end);
    if ((end == text->text || *end) && !t->in->device) return typing_number_from_text(t, to);
    if (end == text->text || *end)
        return typing_fail(t, DIAG_TYPING, "could not convert string to float: '%s'", text->text);
    return typing_become_const(t, typing_konst_cast(t->in, const_float(t->in->arena, t->in->types, value), to));
}

/* ---- numbers ---- */

/* complex(re, im) */
static bool complex_from_parts(Typing *t, const Type *to) {
    const Type *part = type_scalar(t->in->types, to->scalar == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64,
                                   to->weak);
    for (size_t i = 0; i < 2; i++) {
        const Type *type = infer_content(t->args[i].type);
        if (type->kind != TY_SCALAR || scalar_info[type->scalar].kind == 'c') {
            typing_fail_arg(t, i, DIAG_TYPING, "a part of a complex number must be a real number, not %s",
                            typing_arg_text(t, i));
            return typing_hint(t, "add them: a + b * 1j");
        }
        typing_cast(t, i, part);
    }
    t->func = FUNC_MAKE_COMPLEX;
    t->is_call = true;
    const Const *re = t->args[0].konst ? typing_konst_cast(t->in, t->args[0].konst, part) : NULL;
    const Const *im = t->args[1].konst ? typing_konst_cast(t->in, t->args[1].konst, part) : NULL;
    Const *konst = NULL;
    if (re && im) {
        konst = ARENA_NEW(t->in->arena, Const);
        konst->type = to;
        konst->c.re = re->f;
        konst->c.im = im->f;
    }
    return typing_result(t, to, konst);
}

/* A constant float as an integer, NULL where the interpreter raises or a processor decides. */
static const Const *truncated(Infer *in, const Const *konst, const Type *to) {
    bool known = konst && konst->type->kind == TY_SCALAR && scalar_info[konst->type->scalar].kind == 'f' &&
                 konst->f > -9.2e18 && konst->f < 9.2e18;
    const Const *whole = known ? const_int(in->arena, in->types, (int64_t)konst->f) : NULL;
    return known && typing_konst_fits(whole, to) ? typing_konst_cast(in, whole, to) : NULL;
}

/* numpy.int8(x) of a Python number: int(x), which raises for infinities and NaN, must lie in the range of the type. */
static bool convert_checked(Typing *t, const Type *to) {
    Value *value = t->values[0];
    if (t->emit) {
        value = typing_make_cast(t, value, infer_content(t->args[0].type));
        value = typing_make_cast(t, value, to);
        if (value->op == OP_CAST) value->flags |= VF_CHECKED;
    }
    return typing_become(t, t->emit ? value : NULL, to);
}

/* What the class says of None; NULL: NumPy's floats take it for NaN. */
static const char *words_for_none(const Type *to) {
    switch (scalar_info[to->scalar].kind) {
    case 'i':
    case 'u': return "TypeError: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'";
    case 'f': return to->weak ? "TypeError: float() argument must be a string or a real number, not 'NoneType'" : NULL;
    default:
        return to->weak ? "TypeError: complex() first argument must be a string or a number, not 'NoneType'" : NULL;
    }
}

/* NumPy's floats and complex numbers of None are not a number. */
static bool nan_of_none(Typing *t, const Type *to) {
    Arena *arena = t->in->arena;
    Const *nan = ARENA_NEW(arena, Const);
    nan->type = to;
    if (scalar_info[to->scalar].kind == 'c')
        nan->c.re = nan->c.im = NAN;
    else
        nan->f = NAN;
    if (t->args[0].type->kind == TY_NONE) return typing_become_const(t, nan);
    Fact *args = ARENA_ARRAY(arena, Fact, 2);
    Value **values = ARENA_ARRAY(arena, Value *, 2);
    args[0] = t->args[0], args[1] = (Fact){to, nan};
    if (t->emit) values[0] = t->values[0], values[1] = typing_make_const(t, nan);
    t->args = args, t->values = values, t->nargs = 2;
    return typing_become_prelude(t, "numbers:converted_or");
}

static bool convert(Typing *t, const Type *to) {
    Infer *in = t->in;
    bool maybe = t->args[0].type->kind == TY_NONE || t->args[0].type->kind == TY_OPTIONAL;
    if (maybe && !to->weak && strchr("fc", scalar_info[to->scalar].kind)) return nan_of_none(t, to);
    const Type *from = infer_content(t->args[0].type);
    if (from->kind == TY_SCALAR && to->scalar != SCALAR_BOOL) typing_need_value(t, 0, words_for_none(to));
    if (from->kind == TY_STRING && to->scalar != SCALAR_BOOL) return typing_number_from_text(t, to);
    if (from->kind == TY_STR && to->scalar != SCALAR_BOOL) return number_from_text(t, to);
    if (from->kind == TY_ARRAY && from->ndim == 0) {
        Fact facts[2] = {t->args[0], {type_tuple(in->types, NULL, 0), NULL}};
        Value *values[2] = {t->values[0], NULL};
        if (t->emit) values[1] = typing_make_op(t, OP_TUPLE, facts[1].type, NULL, 0);
        TRY(typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, &t->args[0],
                       &t->values[0]));
        from = t->args[0].type;
    }
    if (to->scalar == SCALAR_BOOL) {
        Fact fact;
        Value *value;
        TRY(typing_sub(t, &(SubOp){.op = OP_TRUTH, .values = t->values, .facts = t->args, .nargs = 1}, &fact, &value));
        t->args[0] = fact;
        t->values[0] = value;
        typing_cast(t, 0, to);
        return typing_become_arg(t, 0);
    }
    if (from->kind != TY_SCALAR) {
        typing_fail(t, DIAG_TYPING, "%s cannot be converted to %s", typing_arg_text(t, 0), typing_text(t, to));
        return from->kind == TY_ARRAY
                   ? typing_hint(t, "one element is converted, int(x[i]); all of them by x.astype(...)")
                   : false;
    }
    char kind = scalar_info[from->scalar].kind, to_kind = scalar_info[to->scalar].kind;
    if (kind == 'c' && to_kind != 'c') {
        typing_fail(t, DIAG_TYPING, "%s cannot be converted to %s", typing_arg_text(t, 0), typing_text(t, to));
        return typing_hint(t, "take its .real, .imag or abs()");
    }
    bool truncates = kind == 'f' && (to_kind == 'i' || to_kind == 'u');
    const Const *whole = truncates ? truncated(in, t->args[0].konst, to) : NULL;
    if (whole) return typing_become_const(t, whole);
    bool from_python = from->weak && (kind == 'f' || (kind == 'i' && !t->args[0].konst));
    bool raises = infer_ints_raise(in);
    if (raises && from_python && !to->weak && (to_kind == 'i' || to_kind == 'u')) return convert_checked(t, to);
    if (raises && truncates && to->weak) return typing_become_func(t, FUNC_MATH_TRUNC);
    typing_cast(t, 0, to);
    return typing_become_arg(t, 0);
}

/* float32x4(x, y, z, w): each argument is a number or a vector, whose items are taken in order. */
static bool make_vector(Typing *t, const Type *to) {
    Value *items[VECTOR_MAX_COUNT];
    uint32_t count = 0;
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s takes no keyword arguments", typing_text(t, to));
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = infer_content(t->args[i].type);
        bool vector = type->kind == TY_STRUCT && type->form == STRUCT_VECTOR && type == t->args[i].type;
        const Type *item = vector ? type->items[0] : type;
        if (item->kind != TY_SCALAR || type_scalar_kind(item) == 'c') return typing_bad_operands(t);
        for (uint32_t k = 0; k < (vector ? type->count : 1); k++, count++)
            if (t->emit && count < to->count)
                items[count] = typing_make_cast(t, vector ? typing_make_extract(t, t->values[i], k) : t->values[i],
                                                to->items[0]);
    }
    if (count != to->count)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s is made of %u numbers, %u given", typing_text(t, to),
                           (unsigned)to->count, (unsigned)count);
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, to, items, count) : NULL, to);
}

/* ---- the call ---- */

bool typing_call_class(Typing *t, const Type *class_type) {
    const Type *to = class_type->items[0];
    if (to->kind == TY_STRUCT && to->form == STRUCT_VECTOR) return make_vector(t, to);
    if (to->kind != TY_SCALAR)
        return typing_fail(t, DIAG_NOT_CALLABLE, "%s cannot be called", typing_text(t, class_type));
    bool complex = scalar_info[to->scalar].kind == 'c';
    static const char *const parts[2] = {"real", "imag"};
    if (t->nnames && complex) {
        t->func = FUNC_MAKE_COMPLEX;
        TRY(typing_bind_keywords(t, parts, 0, 2));
        for (size_t i = 0; i < 2; i++)
            if (!t->args[i].type) {
                t->args[i] = (Fact){infer_int(t->in), const_int(t->in->arena, t->in->types, 0)};
                t->values[i] = t->emit ? typing_make_const(t, t->args[i].konst) : NULL;
            }
    }
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s takes no keyword arguments", typing_text(t, to));
    if (t->nargs == 0) return zero_of(t, to);
    if (t->nargs == 1) return convert(t, to);
    if (t->nargs == 2 && complex) return complex_from_parts(t, to);
    bool based = t->nargs == 2 && scalar_info[to->scalar].kind == 'i' && to->weak;
    if (based && typing_is_text(t->args[0].type)) return typing_number_from_text(t, to);
    return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s takes at most %d argument%s, %zu given", typing_text(t, to),
                       complex ? 2 : 1, complex ? "s" : "", t->nargs);
}
