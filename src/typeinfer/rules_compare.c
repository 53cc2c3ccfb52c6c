/* rules_compare.c: typing rules of comparison and identity: x < y, x == y, x is y.
 *
 * In: facts of the operands.  Out: the type that numbers are compared in, or that each keeps its own and they are
 * compared by value; the answer where it is known. */
#include <math.h>   /* isnan, fabsl */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h"

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

/* Values without a run-time part are equal if they are the same. */
static bool compare_known(Typing *t, bool same) {
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, same == (t->op == OP_EQ)));
}

/* None == x, x != None where x may be None. */
static bool compare_with_none(Typing *t) {
    bool first = t->args[0].type->kind == TY_NONE;
    const Type *other = t->args[first ? 1 : 0].type;
    if (t->op != OP_EQ && t->op != OP_NE) return typing_bad_operands(t);
    if (other->kind == TY_ARRAY && !other->record)
        return typing_become_prelude(t, t->op == OP_EQ ? "creation:equals_none" : "creation:differs_from_none");
    if (other->kind != TY_OPTIONAL) return compare_known(t, other->kind == TY_NONE);
    return typing_become_op(t, t->op == OP_EQ ? OP_IS : OP_IS_NOT);
}

/* Whether the operand is None, or is not; an operand that is no Optional is there. */
static Value *emit_presence(Typing *t, size_t arg, Op op) {
    Value *pair[2] = {t->values[arg], typing_make_const(t, const_none(t->in->arena, t->in->types))};
    return typing_make_op(t, op, infer_bool(t->in), pair, 2);
}

bool typing_missing_is_zero(const Type *type) {
    const Type *content = infer_content(type);
    return (content->kind == TY_SCALAR && !content->object) || content->kind == TY_TIME;
}

/* x == y where one may be None raises for no value: both are None, or both are there and equal. */
static bool equal_optionals(Typing *t) {
    const Type *boolean = infer_bool(t->in);
    if (!typing_missing_is_zero(t->args[0].type) || !typing_missing_is_zero(t->args[1].type))
        return typing_become_prelude(t, t->op == OP_EQ ? "builtin:equal_if_any" : "builtin:different_if_any");
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

static TypeKind element_kind(const Type *type) {
    return type->kind == TY_ARRAY && !type->record ? type_element(type)->kind : type->kind;
}

/* NumPy's numbers compare with a list as arrays do: with an array of it. */
static bool compares_as_array(const Type *number, const Type *items) {
    return number->kind == TY_SCALAR && !number->weak && !number->object && typing_is_sequence(items);
}

/* A list is no set.  Whether it is a view of a dict is known when all is typed, until when this is not said. */
static bool differs_unless_view(Typing *t) {
    const Const *answer = const_bool(t->in->arena, t->in->types, t->op == OP_NE);
    return typing_become(t, t->emit ? typing_make_const(t, answer) : NULL, answer->type);
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
    TRY(typing_arrays_of_sequences(t, infer_content(a), infer_content(b)));
    if (compares_as_array(a, b)) TRY(typing_as_array(t, 1));
    if (compares_as_array(b, a)) TRY(typing_as_array(t, 0));
    a = infer_content(t->args[0].type);
    b = infer_content(t->args[1].type);
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR) return compare_scalars(t, a, b);
    if (typing_has_array(t) && (element_kind(a) == TY_CHARS || element_kind(b) == TY_CHARS))
        return typing_compare_char_arrays(t, a, b);
    if (a->kind == TY_MEMBER || b->kind == TY_MEMBER) return typing_compare_members(t, a, b, t->op);
    bool arrays = typing_on_arrays(a, b);
    if (!arrays && (a->kind == TY_TIME || b->kind == TY_TIME)) return typing_compare_times(t, a, b);
    if (a->kind == TY_CHARS || b->kind == TY_CHARS) return typing_compare_chars(t, a, b);
    if (type_is_keywords(a) || type_is_keywords(b)) return typing_compare_keywords(t);
    if (a->kind == TY_TUPLE && b->kind == TY_TUPLE) return typing_compare_tuples(t);
    if (typing_meet_lengths(t)) return typing_list_compare(t);
    if (t->failed) return false;
    bool lists = a->kind == TY_LIST || b->kind == TY_LIST;
    if (lists && (a->kind == b->kind || type_is_table(a) || type_is_table(b)) && typing_compares_view(t)) return false;
    if (lists && a->kind == b->kind) return typing_list_compare(t);
    bool equality = t->op == OP_EQ || t->op == OP_NE;
    if (equality && a->kind == TY_STR && b->kind == TY_STR && t->args[0].konst && t->args[1].konst)
        return compare_known(t, strcmp(t->args[0].konst->text, t->args[1].konst->text) == 0);
    if ((typing_is_text(a) && typing_is_text(b)) || (a->kind == TY_BYTES && b->kind == TY_BYTES))
        return typing_string_compare(t);
    if (type_is_table(a) && a->kind == b->kind) return typing_table_compare(t);
    if (equality && a->kind == b->kind && type_is_unit(a)) return compare_known(t, a == b);
    if (equality && a->kind == TY_CLOSURE && b->kind == TY_CLOSURE && a->object != b->object)
        return compare_known(t, false);
    if (equality && lists && (type_is_table(a) || type_is_table(b))) return differs_unless_view(t);
    if (equality && a->kind != b->kind && a->kind != TY_ARRAY && b->kind != TY_ARRAY) return compare_known(t, false);
    if (arrays) return typing_map_operator(t, typing_ufunc_of(t->op));
    return typing_bad_operands(t);
}

/* ---- identity ---- */

static bool identity_known(Typing *t, bool same) {
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, same == (t->op == OP_IS)));
}

/* Of instances of one class, of which one may be None: whether they are one object, or both None. */
static bool optional_identity(Typing *t, const Type *first, const Type *second) {
    if (!t->emit || first == second) return typing_result(t, infer_bool(t->in), NULL);
    return typing_fail(t, DIAG_TYPING, "%s and %s are instances of one class whose attributes have different types",
                       typing_arg_text(t, 0), typing_arg_text(t, 1));
}

/* One was made here, the other caught: it may be the one that was made. */
static bool perhaps_caught(const Type *a, const Type *b) {
    return (a->kind == TY_EXC && b->kind == TY_CAUGHT) || (a->kind == TY_CAUGHT && b->kind == TY_EXC);
}

bool rule_identity(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    if (typing_is_one(t)) return identity_known(t, true);
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
    if (typing_is_member(infer_content(a)) && typing_is_member(infer_content(b)))
        return typing_identity_of_members(t, a, b);
    bool bools = type_scalar_kind(a) == 'b' && type_scalar_kind(b) == 'b' && a->weak && b->weak;
    if (bools) return typing_become_op(t, t->op == OP_IS ? OP_EQ : OP_NE);
    bool optional = a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL;
    if (a->kind != b->kind && !optional && !perhaps_caught(a, b)) return identity_known(t, false);
    if (type_is_container(a) && a->kind == b->kind && a != b) return identity_known(t, false);
    const Type *first = infer_content(a), *second = infer_content(b);
    if (type_is_shared(first) && type_is_shared(second) && first->object == second->object && optional)
        return optional_identity(t, first, second);
    if (type_is_shared(a) && a != b) return identity_known(t, false);
    if ((type_is_container(a) || type_is_shared(a)) && a == b) return typing_result(t, infer_bool(t->in), NULL);
    /* __eq__ of a dataclass asks this before it compares the fields (3.13), where the answer makes no difference: an
     * object that is compared with itself never comes here (typing_own_operation), and fields equal themselves.  A NaN
     * alone does not, of which nobody knows here what objects it lies in: it equals nothing. */
    if (t->in->func->by_fields && type_is_instance(a) && a->object == b->object) return identity_known(t, false);
    typing_fail(t, DIAG_TYPING, "whether %s and %s are one object is not known in compiled code", typing_arg_text(t, 0),
                typing_arg_text(t, 1));
    return typing_hint(t, "compare values with ==; `is` is for None, True, False and functions");
}
