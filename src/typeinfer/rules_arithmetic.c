/* rules_arithmetic.c: typing rules of unary and binary operators.
 *
 * In: facts of the operands.  Out: the type the operation computes in (promote.c), casts to it, its value if known; of
 * arrays, the ufunc that the operator is.
 *
 * Folding.  Values that inference itself needs are folded here: Python ints and bools (indices, shapes, branches),
 * negation and conversions.  Everything else is left to LLVM.  A fold that would leave 64 bits is not made. */
#include <string.h> /* strchr */

#include "typeinfer/rules.h"

/* ---- whole arrays ---- */

/* The ufunc that an operator is on arrays. */
FuncId typing_ufunc_of(Op op) {
    static const FuncId ufuncs[OP_COUNT] = {
        [OP_NEG] = FUNC_NP_NEGATIVE,      [OP_POS] = FUNC_NP_POSITIVE,
        [OP_INVERT] = FUNC_NP_INVERT,     [OP_ADD] = FUNC_NP_ADD,
        [OP_SUB] = FUNC_NP_SUBTRACT,      [OP_MUL] = FUNC_NP_MULTIPLY,
        [OP_TRUEDIV] = FUNC_NP_DIVIDE,    [OP_FLOORDIV] = FUNC_NP_FLOOR_DIVIDE,
        [OP_MOD] = FUNC_NP_REMAINDER,     [OP_POW] = FUNC_NP_POWER,
        [OP_LSHIFT] = FUNC_NP_LEFT_SHIFT, [OP_RSHIFT] = FUNC_NP_RIGHT_SHIFT,
        [OP_AND] = FUNC_NP_BITWISE_AND,   [OP_OR] = FUNC_NP_BITWISE_OR,
        [OP_XOR] = FUNC_NP_BITWISE_XOR,   [OP_LT] = FUNC_NP_LESS,
        [OP_LE] = FUNC_NP_LESS_EQUAL,     [OP_EQ] = FUNC_NP_EQUAL,
        [OP_NE] = FUNC_NP_NOT_EQUAL,      [OP_GT] = FUNC_NP_GREATER,
        [OP_GE] = FUNC_NP_GREATER_EQUAL,
    };
    return ufuncs[op];
}

static bool is_number(const Type *type) { return type_is_scalar(type) || type->kind == TY_TIME; }

static bool holds_numbers(const Type *array) { return array->kind == TY_ARRAY && is_number(type_element(array)); }

/* Whether both operands are numbers, dates or durations, or arrays of them, one of them an array. */
bool typing_on_arrays(const Type *a, const Type *b) {
    return (holds_numbers(a) && (is_number(b) || holds_numbers(b))) || (is_number(a) && holds_numbers(b));
}

/* ---- unary ---- */

static const Const *known_int(Infer *in, const Type *type, int64_t value) {
    if (scalar_info[type->scalar].kind == 'b') return const_bool(in->arena, in->types, value != 0);
    return const_int(in->arena, in->types, value);
}

static const Const *fold_unary(Infer *in, Op op, const Const *konst, const Type *type) {
    if (!konst || konst->too_big || !type->weak) return NULL;
    if (scalar_info[type->scalar].kind == 'f' && op != OP_INVERT) {
        const Const *same = typing_konst_cast(in, konst, type);
        return same ? const_float(in->arena, in->types, op == OP_NEG ? -same->f : same->f) : NULL;
    }
    if (scalar_info[type->scalar].kind != 'i') return NULL;
    if (op == OP_INVERT) return known_int(in, type, ~konst->i);
    if (op == OP_POS) return known_int(in, type, konst->i);
    return konst->i == INT64_MIN ? NULL : known_int(in, type, -konst->i);
}

/* | & ^ of a member of an enum.IntFlag and an int give a member. */
static const Type *flags_result(Op op, const Type *a, const Type *b) {
    if ((op != OP_AND && op != OP_OR && op != OP_XOR) || !type_is_integer(a) || !type_is_integer(b)) return NULL;
    return a->flag && b->weak ? a : b->flag && a->weak ? b : NULL;
}

static bool flags_operation(Typing *t, const Type *flag) {
    for (size_t i = 0; i < t->nargs; i++) typing_cast(t, i, flag);
    return typing_result(t, flag, NULL);
}

bool rule_unary(Typing *t) {
    const Type *content = infer_content(t->args[0].type);
    if (content->kind == TY_TIME) return typing_unary_time(t, content);
    if (content->kind == TY_MEMBER && t->op == OP_INVERT) return typing_invert_member(t, content);
    if (t->op == OP_INVERT && content->kind == TY_SCALAR && content->flag) return flags_operation(t, content);
    if (holds_numbers(content)) return typing_map_operator(t, typing_ufunc_of(t->op));
    const Type *type = promote_unary(t->in, t->op, content);
    if (!type) {
        typing_bad_operands(t);
        if (type_scalar_kind(content) == 'b') typing_hint(t, "use `not` or `~` on a NumPy bool");
        return false;
    }
    typing_cast(t, 0, type);
    if (t->op == OP_POS) return typing_become_arg(t, 0);
    return typing_result(t, type, fold_unary(t->in, t->op, t->args[0].konst, type));
}

/* ---- arithmetic ---- */

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static bool int_power(int64_t base, int64_t exponent, int64_t *out) {
    int64_t power = 1;
    if (exponent > 63 && base != 0 && base != 1 && base != -1) return false;
    for (int64_t i = 0; i < exponent && i < 64; i++)
        if (__builtin_mul_overflow(power, base, &power)) return false;
    *out = exponent > 63 && base == -1 ? (exponent % 2 ? -1 : 1) : power;
    return true;
}

static bool fold_ints(Op op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case OP_ADD: return !__builtin_add_overflow(a, b, out);
    case OP_SUB: return !__builtin_sub_overflow(a, b, out);
    case OP_MUL: return !__builtin_mul_overflow(a, b, out);
    case OP_FLOORDIV:
        if (b == 0 || (a == INT64_MIN && b == -1)) return false;
        *out = floor_div(a, b);
        return true;
    case OP_MOD:
        if (b == 0) return false;
        *out = b == -1 ? 0 : a - floor_div(a, b) * b;
        return true;
    case OP_POW: return b >= 0 && int_power(a, b, out);
    case OP_LSHIFT:
        if (b < 0 || b > 62 || a > INT64_MAX >> b || a < INT64_MIN >> b) return false;
        *out = (int64_t)((uint64_t)a << b);
        return true;
    case OP_RSHIFT:
        if (b < 0) return false;
        *out = a >> (b > 63 ? 63 : b);
        return true;
    case OP_AND: *out = a & b; return true;
    case OP_OR: *out = a | b; return true;
    case OP_XOR: *out = a ^ b; return true;
    default: return false;
    }
}

static bool fold_floats(Op op, double a, double b, double *out) {
    switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL: *out = a * b; return true;
    case OP_TRUEDIV: *out = b != 0 ? a / b : 0; return b != 0;
    default: return false;
    }
}

/* Python's numbers only: a strong result would need the rounding of its type. */
static const Const *fold_binary(Typing *t, const Type *result) {
    Infer *in = t->in;
    const Const *a = t->args[0].konst, *b = t->args[1].konst;
    if (!a || !b || !result->weak || a->type->kind != TY_SCALAR || b->type->kind != TY_SCALAR) return NULL;
    if (a->too_big || b->too_big) return NULL;
    char kind = scalar_info[result->scalar].kind;
    if (kind == 'f') {
        double value;
        const Const *x = typing_konst_cast(in, a, result), *y = typing_konst_cast(in, b, result);
        return x && y && fold_floats(t->op, x->f, y->f, &value) ? const_float(in->arena, in->types, value) : NULL;
    }
    int64_t value;
    if ((kind != 'i' && kind != 'b') || !fold_ints(t->op, a->i, b->i, &value)) return NULL;
    return known_int(in, result, value);
}

/* Constants of the program's text whose result Python would hold in more than 64 bits. */
static bool overflows(const Typing *t, const Type *result) {
    const Const *a = t->args[0].konst, *b = t->args[1].konst;
    int64_t value;
    if (!a || !b || !result->weak || scalar_info[result->scalar].kind != 'i' || a->too_big || b->too_big) return false;
    if (!type_is_integer(a->type) || !type_is_integer(b->type)) return false;
    switch (t->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: break;
    case OP_POW:
    case OP_LSHIFT:
        if (b->i < 0) return false;
        break;
    default: return false;
    }
    return !fold_ints(t->op, a->i, b->i, &value);
}

/* The divisor, shift count or exponent is a number for which the operation cannot raise. */
static bool harmless(Op op, const Const *right) {
    if (!right || right->type->kind != TY_SCALAR) return false;
    char kind = scalar_info[right->type->scalar].kind;
    if (kind == 'c') return op == OP_TRUEDIV && (right->c.re != 0 || right->c.im != 0);
    if (op == OP_POW || op == OP_LSHIFT || op == OP_RSHIFT)
        return kind == 'f' ? right->f >= 0 : kind == 'u' || right->i >= 0;
    return kind == 'f' ? right->f != 0 : right->i != 0;
}

/* In a checked kernel NumPy's integers are checked, too: what a division by zero gives there is hardly ever meant. */
static bool divides_by_zero(const Typing *t, const Type *compute) {
    return t->in->device && type_is_integer(compute) && (t->op == OP_FLOORDIV || t->op == OP_MOD);
}

/* Where the interpreter raises: division by zero and negative shift counts of Python's numbers; negative exponents of
 * ints, NumPy's too.  An int to a negative int power would be a float in the interpreter: with an exponent that is not
 * known, compiled code raises ValueError. */
static void mark_checks(Typing *t, const Type *compute) {
    bool integer = type_is_integer(compute);
    switch (t->op) {
    case OP_TRUEDIV:
    case OP_FLOORDIV:
    case OP_MOD:
    case OP_LSHIFT:
    case OP_RSHIFT:
        if (harmless(t->op, t->args[1].konst))
            t->flags |= VF_UNCHECKED;
        else if (t->in->py_errors && (compute->weak || divides_by_zero(t, compute)))
            t->flags |= VF_CHECKED;
        break;
    case OP_POW: {
        char exponent = type_scalar_kind(infer_content(t->args[1].type));
        bool harmless_power = harmless(t->op, t->args[1].konst) || exponent == 'u' || exponent == 'b';
        if (integer ? harmless_power : !compute->weak)
            t->flags |= VF_UNCHECKED;
        else if (t->in->py_errors || (integer && t->in->int_range))
            t->flags |= VF_CHECKED; /* floats: 0.0 ** -1, and results beyond their range */
        break;
    }
    default: break;
    }
}

/* x ** n with a literal int n: the exponent stays an int, whatever x is; a negative one makes a float of a Python int.
 */
static bool power_of_literal(Typing *t, BinaryTypes *types) {
    const Const *exponent = t->args[1].konst;
    if (t->op != OP_POW || !exponent || !t->args[1].type->weak || !type_is_integer(t->args[1].type)) return false;
    if (type_is_integer(types->compute) && types->compute->weak && exponent->i < 0)
        types->compute = types->result = infer_float(t->in);
    if (scalar_info[types->compute->scalar].kind == 'c') return false;
    if (type_is_integer(types->compute) && !types->compute->weak) return false; /* it must fit into that type */
    typing_cast(t, 0, types->compute);
    typing_cast(t, 1, infer_int(t->in));
    return true;
}

/* Of the operators of bits. */
static bool hint_at_bits(Typing *t, const Type *a, const Type *b) {
    const char *sign = typing_symbol(t->op);
    if (type_is_integer(a) && type_is_integer(b))
        return typing_hint(t, "no integer type holds both: convert one, np.int64(...) %s ... or np.uint64(...) %s ...",
                           sign, sign);
    const char *power = t->op == OP_XOR ? "a power is written x ** 2; " : "";
    return typing_hint(t,
                       "%s%s is for integers: int(...) %s int(...), or pass integers; the bits of a float are "
                       "those of np.float64(x).view(np.int64)",
                       power, sign, sign);
}

static bool binary_scalars(Typing *t, const Type *a, const Type *b) {
    BinaryTypes types;
    if (!promote_binary(t->in, t->op, a, b, &types)) {
        typing_bad_operands(t);
        if (t->op == OP_SUB && type_scalar_kind(a) == 'b') typing_hint(t, "NumPy bools do not subtract: use ^ or `!=`");
        if (t->op == OP_LSHIFT || t->op == OP_RSHIFT || t->op == OP_AND || t->op == OP_OR || t->op == OP_XOR)
            hint_at_bits(t, a, b);
        return false;
    }
    if (!power_of_literal(t, &types)) {
        typing_cast(t, 0, types.compute);
        typing_cast(t, 1, types.compute);
    }
    if (t->op == OP_TRUEDIV)
        t->imm = type_is_integer(a) && type_is_integer(b); /* the words of ZeroDivisionError differ */
    mark_checks(t, types.compute);
    if (overflows(t, types.result)) {
        typing_fail(t, DIAG_TYPING, "the result, a Python int, does not fit into 64 bits");
        return typing_hint(t, "ints are 64 bits wide in compiled code; use a float");
    }
    return typing_result(t, types.result, fold_binary(t, types.result));
}

bool typing_binary_tuples(Typing *t); /* rules_tuple.c */

/* x ** 2, x ** -1 and x ** 0.5 of arrays of floats, which NumPy asks other ufuncs for; x ** 2 of arrays of bools, too,
 * so that it is int8. */
static FuncId easy_power(const Typing *t, const Type *base) {
    const Const *exponent = t->args[1].konst;
    if (t->op != OP_POW || !exponent || !holds_numbers(base) || !type_is_scalar(exponent->type)) return FUNC_NONE;
    char kind = type_scalar_kind(type_element(base));
    if (!kind || !strchr("fcb", kind) || !exponent->type->weak || exponent->type->object) return FUNC_NONE;
    if (kind == 'b') return exponent->type->scalar == SCALAR_INT64 && exponent->i == 2 ? FUNC_NP_SQUARE : FUNC_NONE;
    if (exponent->type->scalar == SCALAR_FLOAT64) return exponent->f == 0.5 ? FUNC_NP_SQRT : FUNC_NONE;
    if (exponent->type->scalar != SCALAR_INT64) return FUNC_NONE;
    return exponent->i == 2 ? FUNC_NP_SQUARE : exponent->i == -1 ? FUNC_NP_RECIPROCAL : FUNC_NONE;
}

bool typing_arrays_of_sequences(Typing *t, const Type *a, const Type *b) {
    if (b->kind == TY_ARRAY && typing_is_sequence(a)) return typing_as_array(t, 0);
    return a->kind != TY_ARRAY || !typing_is_sequence(b) || typing_as_array(t, 1);
}

bool rule_binary(Typing *t) {
    const Type *a = infer_content(t->args[0].type), *b = infer_content(t->args[1].type);
    if (typing_is_sequence(a) && b->kind == TY_ARRAY) t->flags &= ~(uint32_t)VF_INPLACE; /* x += y of a list is x + y */
    TRY(typing_arrays_of_sequences(t, a, b));
    a = infer_content(t->args[0].type), b = infer_content(t->args[1].type);
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR) {
        const Type *flag = flags_result(t->op, a, b);
        return flag ? flags_operation(t, flag) : binary_scalars(t, a, b);
    }
    bool arrays = typing_on_arrays(a, b) && typing_ufunc_of(t->op);
    if (!arrays && (a->kind == TY_TIME || b->kind == TY_TIME)) return typing_binary_times(t, a, b);
    if (typing_is_text(a) || (typing_is_text(b) && t->op == OP_MUL)) return typing_string_binary(t);
    bool adds = t->op == OP_ADD && a->kind == TY_BYTES && b->kind == TY_BYTES;
    bool repeats = t->op == OP_MUL && (a->kind == TY_BYTES ? b : a)->kind == TY_SCALAR &&
                   (a->kind == TY_BYTES || b->kind == TY_BYTES);
    if (adds) return typing_join(t);
    if (repeats) {
        t->op = OP_CALL;
        return typing_become_prelude(t, a->kind == TY_BYTES ? "strings:bytes_repeated" : "strings:repeated_bytes");
    }
    if (a->kind == TY_MEMBER || b->kind == TY_MEMBER) return typing_binary_members(t, a, b);
    if (type_is_table(a) && a->kind == b->kind) return typing_table_binary(t);
    if (typing_is_of_any_length(t)) return typing_vartuple_binary(t);
    if (a->kind == TY_LIST || b->kind == TY_LIST) return typing_list_binary(t);
    if (a->kind == TY_TUPLE || b->kind == TY_TUPLE) return typing_binary_tuples(t);
    if (easy_power(t, a)) {
        FuncId func = easy_power(t, a);
        t->nargs = 1;
        return typing_map_operator(t, func);
    }
    if (a->kind == TY_ARRAY && b->kind == TY_ARRAY && t->op == OP_MATMUL)
        return typing_become_prelude(t, t->flags & VF_INPLACE ? "products:matmul_in_place"
                                        : t->in->device       ? "kernel_arrays:matmul"
                                                              : "products:matmul");
    if (arrays) return typing_map_operator(t, typing_ufunc_of(t->op));
    return typing_bad_operands(t);
}
