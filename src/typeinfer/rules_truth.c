/* rules_truth.c: typing rules of truth: `if x`, `not x`, bool(x).
 *
 * In: the operand.  Out: what column `truth` of ir_kinds.def says of its kind: known, that of its length, or a bool
 * that code finds; of an Optional, that of its content; of an array without axes, that of its element. */
#include "typeinfer/rules.h"

static bool truth_known(Typing *t, bool value) {
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, value == (t->op == OP_TRUTH)));
}

static Value *compare_with_none(Typing *t, Op op) {
    Value *pair[2] = {t->values[0], typing_make_const(t, const_none(t->in->arena, t->in->types))};
    return typing_make_op(t, op, infer_bool(t->in), pair, 2);
}

/* bool(optional): there is a value, and it is true.  Of what is missing only numbers are looked at: they are zero. */
static bool truth_of_optional(Typing *t) {
    Infer *in = t->in;
    const Type *content = t->args[0].type->items[0], *boolean = infer_bool(in);
    if (kind_truth[content->kind] == TRUTH_TRUE) {
        Op compare = t->op == OP_NOT ? OP_IS : OP_IS_NOT;
        return typing_become(t, t->emit ? compare_with_none(t, compare) : NULL, boolean);
    }
    if (content->kind != TY_TUPLE && !typing_missing_is_zero(content))
        return typing_become_prelude(t, t->op == OP_NOT ? "builtin:false_if_any" : "builtin:true_if_any");
    Fact fact = {content, NULL}, part;
    Value *there = NULL, *value = NULL, *both = NULL;
    if (t->emit) {
        there = compare_with_none(t, OP_IS_NOT);
        value = typing_make_op(t, OP_CAST, content, t->values, 1);
        value->flags |= VF_UNCHECKED;
    }
    TRY(typing_sub(t, &(SubOp){.op = OP_TRUTH, .values = &value, .facts = &fact, .nargs = 1}, &part, &value));
    if (t->emit) {
        both = typing_make_op(t, OP_AND, boolean, (Value *[]){there, value}, 2);
        if (t->op == OP_NOT) both = typing_make_op(t, OP_NOT, boolean, &both, 1);
    }
    return typing_become(t, both, boolean);
}

static bool truth_of_number(Typing *t, const Type *type) {
    Infer *in = t->in;
    const Const *konst = t->args[0].konst;
    const Const *as_bool = konst ? typing_konst_cast(in, konst, infer_bool(in)) : NULL;
    if (as_bool) return truth_known(t, as_bool->i != 0);
    if (t->op == OP_NOT || type->scalar != SCALAR_BOOL) return typing_result(t, infer_bool(in), NULL);
    typing_cast(t, 0, infer_bool(in));
    return typing_become_arg(t, 0);
}

static bool truth_of_length(Typing *t) {
    Infer *in = t->in;
    Value *length = t->emit ? typing_make_func(t, FUNC_LEN, infer_int(in), t->values, 1) : NULL;
    Fact fact = {infer_int(in), NULL}, part;
    Value *value;
    TRY(typing_sub(t, &(SubOp){.op = t->op, .values = &length, .facts = &fact, .nargs = 1}, &part, &value));
    return typing_become(t, value, part.type);
}

static bool truth_of_array(Typing *t, const Type *type) {
    if (type->ndim) {
        typing_fail(t, DIAG_TYPING, "the truth value of an array, %s, is ambiguous", typing_arg_text(t, 0));
        return typing_hint(
            t, "write np.any(...) or np.all(...) of it; for `and` and `or` item by item & and |, with parentheses, "
               "(x > 1) & (x < 3); whether it is empty, x.size == 0, whether it is there, x is None");
    }
    Fact fact[2] = {t->args[0], {type_tuple(t->in->types, NULL, 0), NULL}}, element;
    Value *pair[2] = {t->values[0], NULL}, *value;
    if (t->emit) pair[1] = typing_make_op(t, OP_TUPLE, fact[1].type, NULL, 0);
    TRY(typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = pair, .facts = fact, .nargs = 2}, &element, &value));
    if (element.type->kind == TY_ARRAY) { /* a record: it is what it was asked for */
        typing_fail(t, DIAG_TYPING, "a record, %s, is neither true nor false in compiled code", typing_arg_text(t, 0));
        return typing_hint(t, "ask one of its fields");
    }
    TRY(typing_sub(t, &(SubOp){.op = t->op, .values = &value, .facts = &element, .nargs = 1}, &element, &value));
    return typing_become(t, value, element.type);
}

static bool own_truth(Typing *t, const Type *type) {
    const Const *konst = t->args[0].konst;
    switch (type->kind) {
    case TY_SCALAR: return truth_of_number(t, type);
    case TY_OPTIONAL: return truth_of_optional(t);
    case TY_TUPLE: return truth_known(t, type->count > 0);
    case TY_MEMBER: return typing_truth_of_member(t, type);
    case TY_ARRAY: return truth_of_array(t, type);
    case TY_STR: return konst ? truth_known(t, konst->text[0] != 0) : typing_bad_operands(t);
    default: return typing_bad_operands(t);
    }
}

bool rule_truth(Typing *t) {
    const Type *type = t->args[0].type;
    switch (kind_truth[type->kind]) {
    case TRUTH_FALSE: return truth_known(t, false);
    case TRUTH_TRUE: return truth_known(t, true);
    case TRUTH_TESTED: return typing_result(t, infer_bool(t->in), NULL);
    case TRUTH_COUNT: return truth_of_length(t);
    case TRUTH_OWN: return own_truth(t, type);
    case TRUTH_REFUSED: break;
    }
    return typing_bad_operands(t);
}
