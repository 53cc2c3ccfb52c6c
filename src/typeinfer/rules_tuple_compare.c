/* rules_tuple_compare.c: typing rules of comparisons of tuples, and of `in`.
 *
 * In: two tuples, whose lengths are known from their types.  Out: operations on their items: all at once, where nobody
 * sees how many are compared; else a call of krait.prelude.comparing. */
#include "typeinfer/rules.h"

/* bool(x <op> y); strong: NULL, or set if x <op> y is a bool of NumPy's. */
static bool sub_compare(Typing *t, Op op, const Fact facts[2], Value *const values[2], Fact *fact, Value **value,
                        bool *strong) {
    TRY(typing_sub(t, &(SubOp){.op = op, .values = values, .facts = facts, .nargs = 2}, fact, value));
    Fact compared = *fact;
    if (strong) *strong |= compared.type->kind == TY_SCALAR && !compared.type->weak;
    return typing_sub(t, &(SubOp){.op = OP_TRUTH, .values = value, .facts = &compared, .nargs = 1}, fact, value);
}

static bool sub_logic(Typing *t, Op op, const Fact *a, Value *va, Fact *inout, Value **value) {
    Fact facts[2] = {*a, *inout};
    Value *values[2] = {va, *value};
    return typing_sub(t, &(SubOp){.op = op, .values = values, .facts = facts, .nargs = 2}, inout, value);
}

static Fact known_bool(Typing *t, bool value, Value **out) {
    const Const *konst = const_bool(t->in->arena, t->in->types, value);
    *out = t->emit ? typing_make_const(t, konst) : NULL;
    return (Fact){konst->type, konst};
}

/* x is y or x == y */
static bool sub_equal(Typing *t, const Fact facts[2], Value *const values[2], Fact *fact, Value **value) {
    if (!values[0] || values[0] != values[1]) return sub_compare(t, OP_EQ, facts, values, fact, value, NULL);
    *fact = known_bool(t, true, value);
    return true;
}

bool typing_equals_itself(Typing *t) {
    bool value = t->op == OP_EQ || t->op == OP_LE || t->op == OP_GE;
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, value));
}

/* Whether it costs nothing to compare two such items and nobody sees it: never an exception, no methods of users. */
static bool compares_quietly(const Type *type) {
    switch (type->kind) {
    case TY_SCALAR:
    case TY_STR:
    case TY_STRING:
    case TY_BYTES:
    case TY_CHARS:
    case TY_TIME: return true;
    case TY_TUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            if (!compares_quietly(type->items[i])) return false;
        return true;
    default: return false;
    }
}

/* None is equal to None alone, and has no order. */
static bool pair_compares_quietly(bool equality, const Type *a, const Type *b) {
    if (a->kind == TY_NONE || b->kind == TY_NONE)
        return equality && (a->kind == TY_NONE || compares_quietly(a)) && (b->kind == TY_NONE || compares_quietly(b));
    if (a->kind != TY_TUPLE || b->kind != TY_TUPLE || a->count != b->count)
        return compares_quietly(a) && compares_quietly(b);
    for (uint32_t i = 0; i < a->count; i++) TRY(pair_compares_quietly(equality, a->items[i], b->items[i]));
    return true;
}

/* How many pairs of items from the first-th on can be compared at once. */
static uint32_t quiet_run(bool equality, const Type *a, const Type *b, uint32_t first) {
    uint32_t common = a->count < b->count ? a->count : b->count, i = first;
    while (i < common && pair_compares_quietly(equality, a->items[i], b->items[i])) i++;
    return i - first;
}

/* A part of operand arg. */
static Fact part_of(Typing *t, size_t arg, uint32_t first, uint32_t count, Value **value) {
    Items part = typing_items_new(t->in, count);
    typing_items_add(t, &part, arg, first, first + count);
    Fact fact = typing_tuple_fact(t->in, part.facts, count);
    *value = t->emit ? typing_make_op(t, OP_TUPLE, fact.type, part.values, count) : NULL;
    return fact;
}

static void add_item(Items *items, Fact fact, Value *value) {
    items->facts[items->count] = fact;
    items->values[items->count++] = value;
}

/* In place of a run of pairs, one pair that compares as they do: bools, or for an order a number and 0. */
static bool add_run(Typing *t, Items items[2], uint32_t first, uint32_t count) {
    bool equality = t->op == OP_EQ || t->op == OP_NE, less = t->op == OP_LT || t->op == OP_LE;
    Fact parts[2], facts[3], fact;
    Value *values[2], *answers[3] = {NULL, NULL, NULL}, *value;
    for (size_t k = 0; k < 2; k++) parts[k] = part_of(t, k, first, count, &values[k]);
    TRY(typing_sub(t, &(SubOp){.op = OP_EQ, .values = values, .facts = parts, .nargs = 2}, &facts[1], &answers[1]));
    if (equality) {
        add_item(&items[0], facts[1], answers[1]);
        fact = known_bool(t, true, &value);
        add_item(&items[1], fact, value);
        return true;
    }
    TRY(typing_sub(t, &(SubOp){.op = t->op, .values = values, .facts = parts, .nargs = 2}, &facts[2], &answers[2]));
    TRY(typing_call_prelude(t, less ? "comparing:place_if_less" : "comparing:place_if_greater", facts, answers, 3,
                            &fact, &value));
    add_item(&items[0], fact, value);
    const Const *zero = const_int(t->in->arena, t->in->types, 0);
    add_item(&items[1], (Fact){zero->type, zero}, t->emit ? typing_make_const(t, zero) : NULL);
    return true;
}

static void become_tuple_of(Typing *t, size_t arg, const Items *items) {
    t->args[arg] = typing_tuple_fact(t->in, items->facts, items->count);
    t->values[arg] = t->emit ? typing_make_op(t, OP_TUPLE, t->args[arg].type, items->values, items->count)
                             : t->values[arg];
}

/* Items that have to be compared from the first on, and no further than to the first that differ: a function of the
 * prelude does, which is given what stands between them as one number for each run. */
static bool compare_in_turn(Typing *t, bool equality) {
    static const char *const names[] = {"comparing:less",      "comparing:less_equal", "comparing:equal",
                                        "comparing:different", "comparing:greater",    "comparing:greater_equal"};
    const Type *types[2] = {t->args[0].type, t->args[1].type};
    uint32_t common = types[0]->count < types[1]->count ? types[0]->count : types[1]->count;
    Items items[2] = {typing_items_new(t->in, types[0]->count), typing_items_new(t->in, types[1]->count)};
    for (uint32_t i = 0, run; i < common; i += run ? run : 1) {
        run = quiet_run(equality, types[0], types[1], i);
        if (run > 1)
            TRY(add_run(t, items, i, run));
        else
            for (size_t k = 0; k < 2; k++) typing_items_add(t, &items[k], k, i, i + 1);
    }
    for (size_t k = 0; k < 2; k++) {
        Value *more;
        Fact fact = known_bool(t, true, &more);
        if (types[k]->count > common) add_item(&items[k], fact, more);
        if (items[k].count < types[k]->count || types[k]->count > common) become_tuple_of(t, k, &items[k]);
    }
    return typing_become_prelude(t, names[t->op - OP_LT]);
}

/* Lexicographic, from the last item: rest = (a_i < b_i) or (a_i == b_i and rest).  Items that are one value here are
 * one object, and equal, whatever they say themselves; insn_compare of the frontend has left out those that it saw.  An
 * order is what `<` of two items gives, or a bool if none differ: these join. */
bool typing_compare_tuples(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL) return typing_bad_operands(t);
    if (typing_is_one(t)) return typing_equals_itself(t);
    bool equality = t->op == OP_EQ || t->op == OP_NE;
    if (type_is_bytes(a) != type_is_bytes(b))
        return equality ? typing_become_const(t, const_bool(t->in->arena, t->in->types, t->op == OP_NE))
                        : typing_bad_operands(t);
    uint32_t common = a->count < b->count ? a->count : b->count;
    Op strict = t->op == OP_LE || t->op == OP_LT ? OP_LT : OP_GT;
    bool strong = false;
    Value *rest, *less;
    Fact rest_fact, less_fact;
    if (equality && a->count != b->count)
        return typing_become_const(t, const_bool(t->in->arena, t->in->types, t->op == OP_NE));
    if (quiet_run(equality, a, b, 0) < common) return compare_in_turn(t, equality);
    bool at_end = equality || (a->count == b->count ? t->op == OP_LE || t->op == OP_GE
                                                    : (a->count < b->count) == (strict == OP_LT));
    rest_fact = known_bool(t, at_end, &rest);
    for (uint32_t i = common; i-- > 0;) {
        Fact facts[2] = {typing_item_fact(t->args[0], i), typing_item_fact(t->args[1], i)};
        Value *values[2] = {NULL, NULL}, *same;
        Fact same_fact;
        if (t->emit) {
            values[0] = typing_make_extract(t, t->values[0], i);
            values[1] = typing_make_extract(t, t->values[1], i);
        }
        TRY(sub_equal(t, facts, values, &same_fact, &same));
        TRY(sub_logic(t, OP_AND, &same_fact, same, &rest_fact, &rest));
        if (equality) continue;
        TRY(sub_compare(t, strict, facts, values, &less_fact, &less, &strong));
        TRY(sub_logic(t, OP_OR, &less_fact, less, &rest_fact, &rest));
    }
    if (t->op == OP_NE)
        TRY(typing_sub(t, &(SubOp){.op = OP_NOT, .values = &rest, .facts = (Fact[]){rest_fact}, .nargs = 1}, &rest_fact,
                       &rest));
    if (strong) {
        const Type *type = infer_strong(t->in, rest_fact.type);
        if (t->emit) rest = typing_make_cast(t, rest, type);
        rest_fact = (Fact){type, rest_fact.konst ? typing_konst_cast(t->in, rest_fact.konst, type) : NULL};
    }
    t->konst = rest_fact.konst;
    return typing_become(t, rest, rest_fact.type);
}

static bool become_call(Typing *t, const char *in, const char *not_in) {
    const char *name = t->op == OP_IN ? in : not_in;
    t->op = OP_CALL;
    return typing_become_prelude(t, name);
}

bool typing_list_contains(Typing *t); /* rules_list.c */

/* The item is one of these of the tuple, or what was found already holds. */
static bool add_among(Typing *t, uint32_t from, uint32_t to, Fact *fact, Value **found) {
    for (uint32_t i = from; i < to; i++) {
        Fact facts[2] = {t->args[0], typing_item_fact(t->args[1], i)}, same_fact;
        Value *values[2] = {t->values[0], NULL}, *same;
        if (t->emit) values[1] = typing_make_extract(t, t->values[1], i);
        TRY(sub_equal(t, facts, values, &same_fact, &same));
        TRY(sub_logic(t, OP_OR, &same_fact, same, fact, found));
    }
    return true;
}

/* One of all of them.  Each run of items is a chain of its own: in one of thousands, LLVM looks at each link beside all
 * others, and in a tree it follows many ways down from each. */
static bool is_among(Typing *t, uint32_t count, Fact *fact, Value **found) {
    enum { RUN = 64 };
    *fact = known_bool(t, false, found);
    for (uint32_t from = 0; from < count; from += RUN) {
        Value *in_run;
        Fact run = known_bool(t, false, &in_run);
        TRY(add_among(t, from, from + RUN < count ? from + RUN : count, &run, &in_run));
        TRY(sub_logic(t, OP_OR, &run, in_run, fact, found));
    }
    return true;
}

/* Whether a class may say in Python what equals its instances: then one item is asked behind the other, up to the first
 * that does. */
static bool has_instances(const Type *tuple) {
    bool any = false;
    for (uint32_t i = 0; i < tuple->count; i++) any |= type_is_instance(infer_content(tuple->items[i]));
    return any;
}

bool rule_contains(Typing *t) {
    typing_as_list(t, 1);
    const Type *where = t->args[1].type;
    if (where->kind == TY_LIST) return typing_list_contains(t);
    if (where->kind == TY_MEMBER || (where->kind == TY_SCALAR && where->flag)) return typing_flags_contain(t, where);
    if (where->kind == TY_OBJECT) {
        bool is;
        if (!typing_enum_contains(t, where->object, &is) || is) return !t->failed;
    }
    if (where->kind == TY_BYTES && (t->args[0].type->kind == TY_BYTES || type_is_integer(t->args[0].type)))
        return become_call(t, "strings:bytes_contains", "strings:bytes_contains_not");
    if (typing_is_text(where)) return typing_string_contains(t);
    if (type_is_table(where)) return typing_table_contains(t);
    if (where->kind == TY_RANGE && type_is_integer(t->args[0].type))
        return become_call(t, "builtin:in_range", "builtin:not_in_range");
    if (where->kind == TY_RANGE && type_scalar_kind(t->args[0].type) == 'f')
        return become_call(t, "builtin:float_in_range", "builtin:float_not_in_range");
    if (where->kind == TY_ARRAY && t->args[0].type->kind == TY_SCALAR)
        return become_call(t, "walking:contains", "walking:contains_not");
    if (where->kind == TY_ARRAY && t->args[0].type->kind == TY_ARRAY)
        return become_call(t, "walking:contains_array", "walking:contains_no_array");
    if (where->kind == TY_GENERATOR || where->kind == TY_ITER)
        return become_call(t, "builtin:in_walked", "builtin:not_in_walked");
    if (where->kind != TY_TUPLE) {
        typing_bad_operands(t);
        return typing_hint(t, "membership is compiled for tuples, lists and arrays, and of ints and floats in ranges");
    }
    if (type_is_bytes(where) && !type_is_integer(t->args[0].type)) {
        typing_bad_operands(t);
        return typing_hint(t, "in a kernel a number can be looked for in a bytes: 97 in b\"abc\"");
    }
    if (has_instances(where)) return become_call(t, "builtin:in_tuple", "builtin:not_in_tuple");
    Value *found;
    Fact fact;
    TRY(is_among(t, where->count, &fact, &found));
    if (t->op == OP_NOT_IN)
        TRY(typing_sub(t, &(SubOp){.op = OP_NOT, .values = &found, .facts = (Fact[]){fact}, .nargs = 1}, &fact,
                       &found));
    t->konst = fact.konst;
    return typing_become(t, found, fact.type);
}
