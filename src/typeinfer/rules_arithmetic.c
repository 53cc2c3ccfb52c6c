/* rules_scalar.c: typing rules of numbers: arithmetic, comparison, identity; and of constants, parameters and
 * ends of blocks.
 *
 * In: facts of the operands.  Out: the type the operation computes in (promote.c), casts to it, its value if known.
 *
 * Folding.  Values that inference itself needs are folded here: Python ints and bools (indices, shapes, branches),
 * negation and conversions.  Everything else is left to LLVM.  A fold that would leave 64 bits is not made. */
#include <math.h>   /* isnan, fabsl */
#include <string.h> /* memcmp, strchr */

#include "typeinfer/infer.h"

/* ---- leaves ---- */

bool rule_const(Typing *t) {
    const Const *konst = t->at->konst;
    if (konst->too_big && konst->i >= 0) {
        typing_fail(t, DIAG_TYPING, "this Python int does not fit into 64 bits");
        return typing_hint(t, "ints are 64 bits wide in compiled code; use a float");
    }
    return typing_result(t, konst->type, konst);
}

bool rule_param(Typing *t) {
    const FuncInst *inst = t->in->inst;
    const Type *type = inst->types[t->imm];
    const Const *konst = inst->konsts ? inst->konsts[t->imm] : NULL;
    if (!konst && type_is_unit(type)) konst = const_of(t->in->arena, type);
    return typing_result(t, type, konst);
}

bool rule_phi(Typing *t) { return typing_result(t, t->at->type, t->at->konst); } /* solve.c joins */

bool rule_undef(Typing *t) { return typing_result(t, infer_bottom(t->in), NULL); }

bool rule_typed(Typing *t) { return typing_fail(t, DIAG_VERIFY, "%s before inference", op_info[t->op].text); }

/* ---- whole arrays ---- */

/* The ufunc that an operator is on arrays. */
static FuncId ufunc_of(Op op) {
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

static bool holds_numbers(const Type *array) { return array->kind == TY_ARRAY && type_is_scalar(type_element(array)); }

/* Whether both operands are numbers or arrays of them, one of them an array. */
static bool on_arrays(const Type *a, const Type *b) {
    return (holds_numbers(a) && (type_is_scalar(b) || holds_numbers(b))) || (type_is_scalar(a) && holds_numbers(b));
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
    if (t->op == OP_INVERT && content->kind == TY_SCALAR && content->flag) return flags_operation(t, content);
    if (holds_numbers(content)) return typing_map_operator(t, ufunc_of(t->op));
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
    return typing_hint(t,
                       "%s is for integers: int(...) %s int(...), or pass integers; the bits of a float are "
                       "those of x.view(np.int64)",
                       sign, sign);
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

bool typing_list_binary(Typing *t); /* rules_list.c */
bool typing_list_compare(Typing *t);
bool typing_binary_tuples(Typing *t); /* rules_tuple.c */

/* x ** 2, x ** -1 and x ** 0.5 of arrays of floats, which NumPy asks other ufuncs for; x ** 2 of arrays of bools, too,
 * so that it is int8. */
static FuncId easy_power(const Typing *t, const Type *base) {
    const Const *exponent = t->args[1].konst;
    if (t->op != OP_POW || !exponent || !holds_numbers(base) || !type_is_scalar(exponent->type)) return FUNC_NONE;
    char kind = type_scalar_kind(type_element(base));
    if (!strchr("fcb", kind) || !exponent->type->weak || exponent->type->object) return FUNC_NONE;
    if (kind == 'b') return exponent->type->scalar == SCALAR_INT64 && exponent->i == 2 ? FUNC_NP_SQUARE : FUNC_NONE;
    if (exponent->type->scalar == SCALAR_FLOAT64) return exponent->f == 0.5 ? FUNC_NP_SQRT : FUNC_NONE;
    if (exponent->type->scalar != SCALAR_INT64) return FUNC_NONE;
    return exponent->i == 2 ? FUNC_NP_SQUARE : exponent->i == -1 ? FUNC_NP_RECIPROCAL : FUNC_NONE;
}

bool rule_binary(Typing *t) {
    const Type *a = infer_content(t->args[0].type), *b = infer_content(t->args[1].type);
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR) {
        const Type *flag = flags_result(t->op, a, b);
        return flag ? flags_operation(t, flag) : binary_scalars(t, a, b);
    }
    if (a->kind == TY_TIME || b->kind == TY_TIME) return typing_binary_times(t, a, b);
    if (typing_is_text(a) || (typing_is_text(b) && t->op == OP_MUL)) return typing_string_binary(t);
    if (type_is_table(a) && a->kind == b->kind) return typing_table_binary(t);
    if (a->kind == TY_LIST || b->kind == TY_LIST) return typing_list_binary(t);
    if (a->kind == TY_TUPLE || b->kind == TY_TUPLE) return typing_binary_tuples(t);
    if (easy_power(t, a)) {
        FuncId func = easy_power(t, a);
        t->nargs = 1;
        return typing_map_operator(t, func);
    }
    if (a->kind == TY_ARRAY && b->kind == TY_ARRAY && t->op == OP_MATMUL)
        return typing_become_prelude(t, "products:matmul");
    if (on_arrays(a, b) && ufunc_of(t->op)) return typing_map_operator(t, ufunc_of(t->op));
    return typing_bad_operands(t);
}

/* ---- comparison ---- */

static bool decide(Op op, int order, bool *out) {
    switch (op) {
    case OP_LT: *out = order < 0; return true;
    case OP_LE: *out = order <= 0; return true;
    case OP_EQ: *out = order == 0; return true;
    case OP_NE: *out = order != 0; return true;
    case OP_GT: *out = order > 0; return true;
    case OP_GE: *out = order >= 0; return true;
    default: return false;
    }
}

/* False: no number on the line. */
static bool real_value(const Const *konst, long double *out) {
    char kind = type_scalar_kind(konst->type);
    if (konst->too_big || (kind != 'i' && kind != 'b' && kind != 'f')) return false;
    *out = kind == 'f' ? (long double)konst->f : (long double)konst->i;
    return kind != 'f' || !isnan(konst->f);
}

static const Const *fold_compare(Typing *t, const Type *result) {
    Infer *in = t->in;
    const Const *a = t->args[0].konst, *b = t->args[1].konst;
    bool value = false;
    if (!a || !b || !result->weak || a->type->kind != TY_SCALAR || b->type->kind != TY_SCALAR) return NULL;
    if (a->too_big || b->too_big) return NULL;
    if (type_is_integer(a->type) && type_is_integer(b->type)) {
        decide(t->op, (a->i > b->i) - (a->i < b->i), &value);
        return const_bool(in->arena, in->types, value);
    }
    long double x, y; /* holds every int64 and every double */
    if (!real_value(a, &x) || !real_value(b, &y)) return NULL;
    decide(t->op, (x > y) - (x < y), &value);
    return const_bool(in->arena, in->types, value);
}

static bool int_and(const Type *a, const Type *b, Scalar other) {
    return (a->scalar == SCALAR_INT64 && b->scalar == other) || (a->scalar == other && b->scalar == SCALAR_INT64);
}

/* A Python int and a Python float, or a complex number, compare by value in the interpreter, however large.  As floats
 * they compare right if one is a constant below 2**53. */
static bool compares_exactly(const Typing *t, const Type *a, const Type *b) {
    const Const *ka = t->args[0].konst, *kb = t->args[1].konst;
    long double x = 0x1p54L, y = 0x1p54L;
    bool exact = int_and(a, b, SCALAR_FLOAT64) ||
                 ((t->op == OP_EQ || t->op == OP_NE) && int_and(a, b, SCALAR_COMPLEX128));
    if (!a->weak || !b->weak || !exact || t->in->device) return false;
    if (ka) real_value(ka, &x);
    if (kb) real_value(kb, &y);
    return fabsl(x) >= 0x1p53L && fabsl(y) >= 0x1p53L;
}

/* A Python int that fits the other operand's integer type is compared in that type. */
static const Type *narrow_compare(const Type *a, const Type *b, const Const *ka, const Const *kb) {
    const Type *strong = a->weak ? b : a;
    const Const *konst = a->weak ? ka : kb;
    if (a->weak != b->weak && konst && konst->too_big && strong->scalar == SCALAR_UINT64) return strong;
    if (a->weak == b->weak || !konst || !type_is_integer(strong) || strong->scalar == SCALAR_BOOL) return NULL;
    const ScalarInfo *info = &scalar_info[strong->scalar];
    if (info->kind == 'u')
        return konst->i >= 0 && (info->bytes == 8 || konst->i >> (8 * info->bytes) == 0) ? strong : NULL;
    if (info->bytes == 8) return strong;
    int64_t limit = (int64_t)1 << (8 * info->bytes - 1);
    return konst->i >= -limit && konst->i < limit ? strong : NULL;
}

/* Complex numbers are ordered by the ufunc unless one is a NumPy scalar whose type holds the other, too; numpy.bool on
 * the left always asks the ufunc. */
static FuncId ordering_ufunc(const Typing *t, const Type *a, const Type *b, const Type *compute) {
    static const FuncId ufuncs[OP_COUNT] = {[OP_LT] = FUNC_NP_LESS,
                                            [OP_LE] = FUNC_NP_LESS_EQUAL,
                                            [OP_GT] = FUNC_NP_GREATER,
                                            [OP_GE] = FUNC_NP_GREATER_EQUAL};
    bool left_bool = !a->weak && a->scalar == SCALAR_BOOL, by_scalar = compute == a || (compute == b && !left_bool);
    return compute && type_scalar_kind(compute) == 'c' && !by_scalar ? ufuncs[t->op] : FUNC_NONE;
}

static bool compare_scalars(Typing *t, const Type *a, const Type *b) {
    BinaryTypes types;
    if (!promote_binary(t->in, t->op, a, b, &types)) return typing_bad_operands(t);
    const Type *compute = types.compute;
    FuncId ufunc = ordering_ufunc(t, a, b, compute);
    if (ufunc) {
        t->func = ufunc;
        return rule_func_ufunc_compare(t);
    }
    if (type_is_integer(a) && type_is_integer(b) && a->weak != b->weak) {
        const Type *narrow = narrow_compare(a, b, t->args[0].konst, t->args[1].konst);
        if (narrow) compute = narrow;
    }
    if (compares_exactly(t, a, b)) compute = NULL;
    typing_cast(t, 0, compute ? compute : a); /* by value: each keeps its own type */
    typing_cast(t, 1, compute ? compute : b);
    return typing_result(t, types.result, fold_compare(t, types.result));
}

bool typing_compare_tuples(Typing *t); /* rules_tuple.c */

/* Values without a run-time part are equal if they are the same. */
static bool compare_known(Typing *t, bool same) {
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, same == (t->op == OP_EQ)));
}

/* None == x, x != None where x may be None. */
static bool compare_with_none(Typing *t) {
    bool first = t->args[0].type->kind == TY_NONE;
    const Type *other = t->args[first ? 1 : 0].type;
    if (t->op != OP_EQ && t->op != OP_NE) return typing_bad_operands(t);
    if (other->kind != TY_OPTIONAL) return compare_known(t, other->kind == TY_NONE);
    return typing_become_op(t, t->op == OP_EQ ? OP_IS : OP_IS_NOT);
}

/* Whether the operand is None, or is not; an operand that is no Optional is there. */
static Value *emit_presence(Typing *t, size_t arg, Op op) {
    Value *pair[2] = {t->values[arg], typing_make_const(t, const_none(t->in->arena, t->in->types))};
    return typing_make_op(t, op, infer_bool(t->in), pair, 2);
}

/* x == y where one may be None raises for no value: both are None, or both are there and equal.  What a missing value
 * holds is zero, so its comparison has a meaningless but harmless answer. */
static bool equal_optionals(Typing *t) {
    const Type *boolean = infer_bool(t->in);
    Fact facts[2], fact;
    Value *values[2] = {t->values[0], t->values[1]}, *answer;
    for (size_t i = 0; i < 2; i++) {
        bool optional = t->args[i].type->kind == TY_OPTIONAL;
        facts[i] = optional ? (Fact){infer_content(t->args[i].type), NULL} : t->args[i];
        if (optional && t->emit) values[i] = typing_make_content(t, t->values[i]);
    }
    TRY(typing_sub(t, &(SubOp){.op = OP_EQ, .values = values, .facts = facts, .nargs = 2}, &fact, &answer));
    Fact equal = fact;
    TRY(typing_sub(t, &(SubOp){.op = OP_TRUTH, .values = &answer, .facts = &equal, .nargs = 1}, &fact, &answer));
    if (!t->emit) return typing_become(t, NULL, boolean);
    bool both = true;
    for (size_t i = 0; i < 2; i++) {
        both &= t->args[i].type->kind == TY_OPTIONAL;
        if (t->args[i].type->kind != TY_OPTIONAL) continue;
        answer = typing_make_op(t, OP_AND, boolean, (Value *[]){emit_presence(t, i, OP_IS_NOT), answer}, 2);
    }
    if (both) {
        Value *missing[2] = {emit_presence(t, 0, OP_IS), emit_presence(t, 1, OP_IS)};
        answer = typing_make_op(t, OP_OR, boolean, (Value *[]){typing_make_op(t, OP_AND, boolean, missing, 2), answer},
                                2);
    }
    if (t->op == OP_NE) answer = typing_make_op(t, OP_NOT, boolean, &answer, 1);
    return typing_become(t, answer, boolean);
}

/* NumPy takes the other operand for what it means as a dtype: a class, a text; None means float64. */
static bool compare_dtypes(Typing *t) {
    const Type *meant[2];
    for (int i = 0; i < 2; i++) {
        const Type *type = t->args[i].type;
        meant[i] = type->kind == TY_NONE ? infer_scalar(t->in, SCALAR_FLOAT64, false)
                   : type->kind == TY_DTYPE && type->items[0]->kind != TY_SCALAR ? type->items[0]
                                                                                 : infer_dtype(t->in, t->args[i]);
    }
    return compare_known(t, meant[0] && meant[1] && typing_same_dtype(meant[0], meant[1]));
}

bool rule_compare(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    if (a->kind == TY_DTYPE || b->kind == TY_DTYPE) {
        if (t->op == OP_EQ || t->op == OP_NE) return compare_dtypes(t);
        return typing_bad_operands(t);
    }
    if (a->kind == TY_NONE || b->kind == TY_NONE) return compare_with_none(t);
    if ((t->op == OP_EQ || t->op == OP_NE) && (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL))
        return equal_optionals(t);
    a = infer_content(a);
    b = infer_content(b);
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR) return compare_scalars(t, a, b);
    if (a->kind == TY_TIME || b->kind == TY_TIME) return typing_compare_times(t, a, b);
    if (a->kind == TY_CHARS || b->kind == TY_CHARS) return typing_compare_chars(t, a, b);
    if (a->kind == TY_TUPLE && b->kind == TY_TUPLE) return typing_compare_tuples(t);
    if (a->kind == TY_LIST && b->kind == TY_LIST) return typing_list_compare(t);
    bool equality = t->op == OP_EQ || t->op == OP_NE;
    if (equality && a->kind == TY_STR && b->kind == TY_STR && t->args[0].konst && t->args[1].konst)
        return compare_known(t, strcmp(t->args[0].konst->text, t->args[1].konst->text) == 0);
    if (typing_is_text(a) && typing_is_text(b)) return typing_string_compare(t);
    if (type_is_table(a) && a->kind == b->kind) return typing_table_compare(t);
    if (equality && a->kind == b->kind && type_is_unit(a)) return compare_known(t, a == b);
    if (equality && a->kind == TY_CLOSURE && b->kind == TY_CLOSURE && a->object != b->object)
        return compare_known(t, false);
    if (equality && a->kind != b->kind && a->kind != TY_ARRAY && b->kind != TY_ARRAY) return compare_known(t, false);
    if (on_arrays(a, b)) return typing_map_operator(t, ufunc_of(t->op));
    return typing_bad_operands(t);
}

/* ---- identity ---- */

static bool identity_known(Typing *t, bool same) {
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, same == (t->op == OP_IS)));
}

bool rule_identity(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    if (a->kind == TY_NONE || b->kind == TY_NONE) {
        size_t other = a->kind == TY_NONE ? 1 : 0;
        const Type *type = t->args[other].type;
        if (type->kind != TY_OPTIONAL) return identity_known(t, type->kind == TY_NONE);
        if (other == 1) { /* the Optional stands first */
            Value *pair[2] = {t->values[1], t->values[0]};
            return typing_become(t, t->emit ? typing_make_op(t, t->op, infer_bool(t->in), pair, 2) : NULL,
                                 infer_bool(t->in));
        }
        return typing_result(t, infer_bool(t->in), NULL);
    }
    if (type_is_unit(a) && type_is_unit(b)) return identity_known(t, a == b);
    bool members = a->kind == TY_SCALAR && b->kind == TY_SCALAR && (a->object || b->object);
    if (members && a != b) return identity_known(t, false);
    if (members) return typing_become_op(t, t->op == OP_IS ? OP_EQ : OP_NE);
    bool bools = type_scalar_kind(a) == 'b' && type_scalar_kind(b) == 'b' && a->weak && b->weak;
    if (bools) return typing_become_op(t, t->op == OP_IS ? OP_EQ : OP_NE);
    if (a->kind != b->kind && a->kind != TY_OPTIONAL && b->kind != TY_OPTIONAL) return identity_known(t, false);
    if (type_is_container(a) && a->kind == b->kind && a != b) return identity_known(t, false);
    if (type_is_container(a) && a == b) return typing_result(t, infer_bool(t->in), NULL);
    typing_fail(t, DIAG_TYPING, "whether %s and %s are one object is not known in compiled code", typing_arg_text(t, 0),
                typing_arg_text(t, 1));
    return typing_hint(t, "compare values with ==; `is` is for None, True, False and functions");
}

/* ---- ends of blocks ---- */

bool rule_control(Typing *t) {
    Infer *in = t->in;
    if (t->op == OP_RETURN) {
        if (in->leaves) typing_as(t, 0, typeinfer_general(in, t->args[0].type));
        if (!in->emit) TRY(solver_return(t, t->args[0]));
        if (in->emit) t->to[0] = in->result.type;
    }
    return typing_result(t, infer_none(in), NULL);
}

bool rule_check_bound(Typing *t) {
    const Const *bound = t->args[0].konst;
    if (bound && bound->i) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    return typing_result(t, bound ? infer_bottom(t->in) : infer_none(t->in), NULL);
}
