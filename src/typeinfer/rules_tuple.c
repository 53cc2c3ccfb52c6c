/* rules_tuple.c: typing rules of tuples, slices and iterators.
 *
 * A tuple's length and the type of each item are in its type.  What depends on the item at run time (an index that is
 * not known, iteration) needs one type for all items: the tuple is then cast to a homogeneous one first, so lowering
 * sees only those.  Comparison, membership and concatenation become operations on the items. */
#include "typeinfer/infer.h"

/* ---- helpers ---- */

/* The fact of item i of a tuple. */
Fact typing_item_fact(Fact tuple, size_t i) {
    return (Fact){tuple.type->items[i], tuple.konst && tuple.konst->items ? tuple.konst->items[i] : NULL};
}

Fact typing_tuple_fact(Infer *in, const Fact *items, size_t count) {
    const Type **types = ARENA_ARRAY(in->arena, const Type *, count);
    const Const **konsts = ARENA_ARRAY(in->arena, const Const *, count);
    bool known = true;
    for (size_t i = 0; i < count; i++) {
        types[i] = items[i].type;
        konsts[i] = items[i].konst;
        known &= konsts[i] && konsts[i]->type == types[i];
    }
    return (Fact){type_tuple(in->types, types, count), known ? const_tuple(in->arena, in->types, konsts, count) : NULL};
}

/* The one type of all items; NULL: they do not join. */
const Type *typing_common_item(Infer *in, const Type *tuple) {
    const Type *joined = infer_bottom(in);
    for (uint32_t i = 0; i < tuple->count && joined; i++)
        joined = typeinfer_join(in->config->promotion, in->types, joined, tuple->items[i]);
    bool lengths = joined && joined->kind == TY_VARTUPLE; /* tuples of several lengths are walked one by one */
    for (uint32_t i = 0; lengths && i < tuple->count; i++)
        if (tuple->items[i] != joined) return NULL;
    return joined && !in->device ? typeinfer_general(in, joined) : joined;
}

const Type *typing_homogeneous_tuple(Infer *in, const Type *tuple, const Type *item) {
    const Type **items = ARENA_ARRAY(in->arena, const Type *, tuple->count);
    for (uint32_t i = 0; i < tuple->count; i++) items[i] = item;
    return type_tuple(in->types, items, tuple->count);
}

bool typing_become_item(Typing *t, size_t arg, size_t index) {
    Fact item = typing_item_fact(t->args[arg], index);
    t->konst = item.konst;
    return typing_become(t, t->emit ? typing_make_extract(t, t->values[arg], index) : NULL, item.type);
}

/* The type of a tuple: a text is an object at run time, where not all items are known. */
static const Type *without_known_texts(Typing *t, Fact fact) {
    return fact.konst || t->in->device ? fact.type : typeinfer_general(t->in, fact.type);
}

bool typing_become_tuple(Typing *t, const Fact *items, Value *const *values, size_t count) {
    Fact fact = typing_tuple_fact(t->in, items, count);
    const Type *general = without_known_texts(t, fact);
    t->konst = fact.konst;
    if (!t->emit) return typing_become(t, NULL, general);
    Value **made = ARENA_ARRAY(t->in->arena, Value *, count);
    for (size_t i = 0; i < count; i++) {
        made[i] = values[i];
        if (general->items[i] != fact.type->items[i]) made[i] = typing_make_cast(t, made[i], general->items[i]);
    }
    return typing_become(t, typing_make_op(t, OP_TUPLE, general, made, count), general);
}

Items typing_items_new(Infer *in, size_t count) {
    return (Items){ARENA_ARRAY(in->arena, Fact, count), ARENA_ARRAY(in->arena, Value *, count), 0};
}

void typing_items_add(Typing *t, Items *items, size_t arg, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        items->facts[items->count] = typing_item_fact(t->args[arg], i);
        items->values[items->count] = t->emit ? typing_make_extract(t, t->values[arg], i) : NULL;
        items->count++;
    }
}

/* ---- making and taking apart ---- */

bool rule_tuple(Typing *t) {
    Fact fact = typing_tuple_fact(t->in, t->args, t->nargs);
    const Type *general = without_known_texts(t, fact);
    for (uint32_t i = 0; i < general->count; i++)
        if (general->items[i] != fact.type->items[i]) typing_cast(t, i, general->items[i]);
    return typing_result(t, general, fact.konst);
}

/* A starred operand without a known length: tuple(x), then + of all. */
static bool concat_any(Typing *t) {
    Infer *in = t->in;
    const Const *make = const_of(in->arena, type_func(in->types, &func_info[FUNC_TUPLE].head));
    Fact pair[2], facts[2] = {{make->type, make}};
    Value *values[2] = {NULL, NULL}, *both[2];
    if (t->emit) values[0] = typing_make_const(t, make);
    for (size_t i = 0; i < t->nargs; i++) {
        facts[1] = t->args[i], values[1] = t->values[i];
        size_t k = i > 0;
        TRY(typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2}, &pair[k], &both[k]));
        if (pair[k].type->kind == TY_BOTTOM) return false;
        if (k)
            TRY(typing_sub(t, &(SubOp){.op = OP_ADD, .values = both, .facts = pair, .nargs = 2}, &pair[0], &both[0]));
    }
    t->konst = pair[0].konst;
    return typing_become(t, both[0], pair[0].type);
}

bool rule_tuple_concat(Typing *t) {
    size_t total = 0;
    for (size_t i = 0; i < t->nargs; i++) {
        if (t->args[i].type->kind != TY_TUPLE && !t->in->device) return concat_any(t);
        if (t->args[i].type->kind != TY_TUPLE) {
            typing_fail_arg(t, i, DIAG_TYPING, "* needs a tuple here, not %s", typing_arg_text(t, i));
            return typing_hint(t, "the number of items must be known from the type");
        }
        total += t->args[i].type->count;
    }
    Items items = typing_items_new(t->in, total);
    for (size_t i = 0; i < t->nargs; i++) typing_items_add(t, &items, i, 0, t->args[i].type->count);
    return typing_become_tuple(t, items.facts, items.values, items.count);
}

/* Whether the slice is only made to index what takes any numbers: np.mgrid[0:1:5j]. */
static bool is_for_function(const Infer *in, const Value *made) {
    Value *const *users;
    uint32_t count = solver_users(in, made, &users);
    for (uint32_t i = 0; i < count; i++) {
        const Value *user = users[i], *indexed = user->args[0];
        if (user->op == OP_TUPLE && is_for_function(in, user)) continue;
        if (user->op != OP_GETITEM || indexed->op != OP_CONST || indexed->konst->type->kind != TY_FUNC) return false;
    }
    return count > 0;
}

/* Whether a bound stays the number it is: any but an int, and NumPy's ints where a function looks at their types. */
static bool keeps_number(const Typing *t, size_t i) {
    const Type *type = t->args[i].type, *made = t->at->type;
    if (!type_is_scalar(type) || (type_is_integer(type) && type->weak)) return false;
    if (!t->emit) return is_for_function(t->in, t->at);
    return !type_is_integer(type) || (made && made->kind == TY_SLICE && made->items[i] == type);
}

/* A bound that may be None becomes the int that stands for None in any sequence, as the step says. */
static bool bind_optional(Typing *t, size_t i) {
    static const char *const names[] = {"indexing:start_of", "indexing:stop_of", "indexing:step_of"};
    const Type *type = t->args[i].type;
    if (type->kind != TY_OPTIONAL || !type_is_integer(type->items[0])) return true;
    Fact facts[3] = {{0}, t->args[i], t->args[2]};
    Value *values[3] = {NULL, t->emit ? t->values[i] : NULL, t->emit ? t->values[2] : NULL};
    return typing_call_prelude(t, names[i], facts, values, i < 2 ? 3 : 2, &t->args[i], &t->values[i]);
}

bool rule_slice(Typing *t) {
    const Type *items[3];
    for (size_t i = 3; i-- > 0;) {
        TRY(bind_optional(t, i));
        if (t->args[i].type->kind == TY_BOTTOM) return typing_result(t, t->args[i].type, NULL);
    }
    const Const *konsts[3];
    bool known = true;
    for (size_t i = 0; i < 3; i++) {
        const Type *type = t->args[i].type;
        if (keeps_number(t, i)) {
            items[i] = type;
            known &= (konsts[i] = t->args[i].konst) != NULL;
            continue;
        }
        if (type->kind != TY_NONE && (!type_is_integer(type))) {
            typing_fail_arg(t, i, DIAG_BAD_INDEX, "a slice is made of ints, not %s", typing_arg_text(t, i));
            return typing_hint(t, "use int(...) or // for a whole number");
        }
        /* as an int a uint64 might wrap, which no slice of the interpreter does */
        bool stays = type->kind == TY_NONE || (type->scalar == SCALAR_UINT64 && !t->args[i].konst);
        items[i] = stays ? type : infer_int(t->in);
        if (type->kind != TY_NONE) typing_cast(t, i, items[i]);
        konsts[i] = t->args[i].konst ? typing_konst_cast(t->in, t->args[i].konst, items[i]) : NULL;
        known &= konsts[i] != NULL;
    }
    const Type *type = type_slice(t->in->types, items[0], items[1], items[2]);
    Const *konst = NULL;
    if (known) {
        const Const **copy = ARENA_ARRAY(t->in->arena, const Const *, 3);
        for (size_t i = 0; i < 3; i++) copy[i] = konsts[i];
        konst = ARENA_NEW(t->in->arena, Const);
        konst->type = type;
        konst->items = copy;
    }
    return typing_result(t, type, konst);
}

bool rule_extract(Typing *t) {
    const Type *type = t->args[0].type;
    size_t i = (size_t)t->imm;
    if (typing_is_starred(t) && type->kind == TY_TUPLE && i < type->count) return typing_become_rest(t, i);
    if (type->kind != TY_TUPLE || i >= type->count)
        return typing_fail(t, DIAG_VERIFY, "extract of item %zu of %s", i, typing_text(t, type));
    return typing_become_item(t, 0, i);
}

/* ---- tuple[i] ---- */

static bool getitem_slice(Typing *t, const Type *tuple, const Const *slice) {
    if (!slice && typing_vartuple_of(t, tuple)) return typing_slice_any(t);
    if (!slice) {
        typing_fail_arg(t, 1, DIAG_NEEDS_CONSTANT, "a slice of a tuple must be known when the function is compiled");
        return typing_hint(t, "use literal bounds");
    }
    int64_t n = tuple->count, step = 1, start, stop;
    if (slice->items[2]->type->kind != TY_NONE) step = slice->items[2]->i;
    if (step == 0) return typing_fail(t, DIAG_BAD_INDEX, "slice step cannot be zero");
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    int64_t bounds[2];
    for (int k = 0; k < 2; k++) {
        if (slice->items[k]->type->kind == TY_NONE) {
            bounds[k] = (k == 0) == (step > 0) ? low : high;
            continue;
        }
        bounds[k] = slice->items[k]->i;
        if (bounds[k] < 0) bounds[k] += n;
        if (bounds[k] < low) bounds[k] = low;
        if (bounds[k] > high) bounds[k] = high;
    }
    start = bounds[0], stop = bounds[1];
    Items items = typing_items_new(t->in, tuple->count);
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step)
        typing_items_add(t, &items, 0, (size_t)i, (size_t)i + 1);
    if (type_is_bytes(tuple)) return typing_become_bytes(t, tuple, &items);
    return typing_become_tuple(t, items.facts, items.values, items.count);
}

bool typing_getitem_tuple(Typing *t, const Type *tuple) {
    const Type *index = infer_content(t->args[1].type);
    int64_t i;
    if (index->kind == TY_SLICE) return getitem_slice(t, tuple, t->args[1].konst);
    if (!type_is_integer(index))
        return typing_fail(t, DIAG_BAD_INDEX, "a tuple is indexed by an int or a slice, not by %s",
                           typing_arg_text(t, 1));
    if (typing_konst_is_int(t->args[1].konst, &i)) {
        if (i < -(int64_t)tuple->count || i >= (int64_t)tuple->count)
            return typing_fail(t, DIAG_BAD_INDEX, "index %lld is out of range for a tuple of %u items", (long long)i,
                               tuple->count);
        size_t at = (size_t)(i < 0 ? i + tuple->count : i);
        return typing_become_item(t, 0, at);
    }
    const Type *item = typing_common_item(t->in,
                                          tuple); /* of an empty tuple: bottom, for the index is always out of range */
    if (!item) {
        typing_fail_arg(t, 1, DIAG_NEEDS_CONSTANT, "%s is indexed by %s, but its items have no common type",
                        typing_arg_text(t, 0), typing_arg_text(t, 1));
        return typing_hint(t, "use a literal index");
    }
    typing_cast(t, 0, typing_homogeneous_tuple(t->in, tuple, item));
    typing_cast(t, 1, infer_int(t->in));
    return typing_result(t, item, NULL);
}

/* ---- + * and comparison ---- */

enum { MAX_REPEATED = 4096 };

bool typing_binary_tuples(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    int64_t times;
    if (type_is_bytes(a) || type_is_bytes(b)) return typing_repeat_bytes(t);
    if (t->op == OP_ADD && a->kind == TY_TUPLE && b->kind == TY_TUPLE) {
        t->op = OP_TUPLE_CONCAT;
        return rule_tuple_concat(t);
    }
    size_t tuple = a->kind == TY_TUPLE ? 0 : 1;
    if (t->op == OP_MUL && type_is_integer(t->args[1 - tuple].type) && t->args[tuple].type->kind == TY_TUPLE) {
        if (!typing_const_int(t, 1 - tuple, &times)) return false;
        size_t count = t->args[tuple].type->count;
        if (times < 0) times = 0;
        if (count && times > MAX_REPEATED / (int64_t)count)
            return typing_fail(t, DIAG_UNSUPPORTED, "a tuple of more than %d items", MAX_REPEATED);
        Items items = typing_items_new(t->in, count * (size_t)times);
        for (int64_t i = 0; i < times; i++) typing_items_add(t, &items, tuple, 0, count);
        return typing_become_tuple(t, items.facts, items.values, items.count);
    }
    return typing_bad_operands(t);
}

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
    Value *found;
    Fact fact = known_bool(t, false, &found);
    for (uint32_t i = 0; i < where->count; i++) {
        Fact facts[2] = {t->args[0], typing_item_fact(t->args[1], i)}, same_fact;
        Value *values[2] = {t->values[0], NULL}, *same;
        if (t->emit) values[1] = typing_make_extract(t, t->values[1], i);
        TRY(sub_equal(t, facts, values, &same_fact, &same));
        TRY(sub_logic(t, OP_OR, &same_fact, same, &fact, &found));
    }
    if (t->op == OP_NOT_IN)
        TRY(typing_sub(t, &(SubOp){.op = OP_NOT, .values = &found, .facts = (Fact[]){fact}, .nargs = 1}, &fact,
                       &found));
    t->konst = fact.konst;
    return typing_become(t, found, fact.type);
}

/* ---- iteration ---- */

/* The type of iter(x); NULL: x cannot be iterated over (refused).  *cast: what x becomes first. */
const Type *typing_iterator_type(Typing *t, size_t arg, const Type **cast) {
    Infer *in = t->in;
    if (!typing_walked(t, arg)) return NULL;
    const Type *type = infer_content(t->args[arg].type);
    *cast = type;
    switch (type->kind) {
    case TY_ITER: return type;
    case TY_RANGE: return type_iter(in->types, ITER_RANGE, (const Type *[]){infer_int(in)}, 1);
    case TY_STR:
    case TY_STRING:
        if (typing_walk_known(t, arg)) return NULL;
        if (in->device) break;
        *cast = typing_characters_type(in);
        return type_iter(in->types, ITER_LIST, cast, 1);
    case TY_LIST: return type_iter(in->types, ITER_LIST, &type, 1);
    case TY_GENERATOR: return type_iter(in->types, ITER_GENERATOR, &type, 1);
    case TY_FLAT: return type_iter(in->types, ITER_FLAT, &type, 1);
    case TY_ARRAY:
        if (type->ndim) return type_iter(in->types, ITER_ARRAY, &type, 1);
        typing_fail_arg(t, arg, DIAG_TYPING, "iteration over an array without dimensions");
        return NULL;
    case TY_TUPLE: {
        const Type *item = typing_common_item(in, type);
        if (!item && typing_ask_rounds(t, type->count)) return NULL;
        if (!item) {
            typing_fail_arg(t, arg, DIAG_TYPING, "the items of %s have no common type to iterate over",
                            typing_arg_text(t, arg));
            typing_hint(
                t, "loop over them with for, which makes a round of each, take them by literal indices, or convert "
                   "them to one type");
            return NULL;
        }
        *cast = typing_homogeneous_tuple(in, type, item);
        return type_iter(in->types, ITER_TUPLE, cast, 1);
    }
    default: break;
    }
    typing_fail_arg(t, arg, DIAG_TYPING, "%s cannot be iterated over", typing_arg_text(t, arg));
    typing_hint(t, type->kind == TY_SCALAR ? "it is one number: range(...) counts up to it; a loop over the elements "
                                             "takes the array"
                                           : "loops run over range, tuples, arrays, enumerate, zip and reversed");
    return NULL;
}

bool rule_iter(Typing *t) {
    if (typing_is_unrolled(t) && t->args[0].type->kind == TY_TUPLE && typing_ask_rounds(t, t->args[0].type->count))
        return false;
    const Type *cast, *iter = typing_iterator_type(t, 0, &cast);
    if (!iter) return false;
    if (cast != t->args[0].type) typing_cast(t, 0, cast);
    if (iter == t->args[0].type) return typing_become_arg(t, 0);
    return typing_result(t, iter, NULL);
}

bool rule_iter_more(Typing *t) {
    const Type *iter = t->args[0].type;
    if (iter->kind != TY_ITER) return typing_fail(t, DIAG_VERIFY, "iter_more of %s", typing_text(t, iter));
    if (!type_iter_item(t->in->types, iter))
        return typing_become_const(t, const_bool(t->in->arena, t->in->types, false));
    return typing_result(t, infer_bool(t->in), NULL);
}

bool rule_iter_take(Typing *t) {
    const Type *iter = t->args[0].type, *item = iter->kind == TY_ITER ? type_iter_item(t->in->types, iter) : NULL;
    if (!item) return typing_fail(t, DIAG_VERIFY, "iter_take of %s", typing_text(t, iter));
    return typing_result(t, item, NULL);
}
