/* rounds.c: loops over tuples whose items have no common type, and over literal_unroll(t), become their rounds.
 *
 * In: a rule that is about to iterate over a tuple.  Out: the solver is told that the loop of this iterator has so many
 * rounds; once it has settled it makes them (ir/rounds.c) and starts again, and each round's item has its own type and
 * is known where it is a literal.  Loops over enumerate(t) and zip(t, u, ...) of such tuples are made rounds, too. */
#include "typeinfer/infer.h"

static FuncId called_function(const Value *call) {
    if (call->op != OP_CALL || call->args[0]->op != OP_CONST) return FUNC_NONE;
    const Type *callee = call->args[0]->konst->type;
    return callee->kind == TY_FUNC ? callee->func->id : FUNC_NONE;
}

/* The `iter` that alone uses the value; NULL: there is none. */
static Value *only_iter(const Func *func, const Value *value) {
    Value *iter = NULL;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *user = func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                if (user->args[i] != value) continue;
                if (iter || user->op != OP_ITER) return NULL;
                iter = user;
            }
    return iter;
}

bool typing_is_unrolled(const Typing *t) {
    return t->in->quiet && t->at->op == OP_ITER && called_function(t->at->args[0]) == FUNC_LITERAL_UNROLL;
}

bool typing_ask_rounds(Typing *t, uint32_t count) {
    FuncId func = called_function(t->at);
    bool pairs = func == FUNC_ENUMERATE || func == FUNC_ZIP;
    if (!t->in->quiet || (t->at->op != OP_ITER && !pairs)) return false;
    Value *iter = pairs ? only_iter(t->in->func, t->at) : t->at;
    if (!iter || iter->flags & VF_OPERAND) return false;
    for (size_t i = 0; i < t->in->whole.len; i++)
        if (t->in->whole.data[i] == iter) return false;
    for (size_t i = 0; func == FUNC_ZIP && i < t->nargs; i++) {
        if (t->args[i].type->kind != TY_TUPLE) return false;
        if (t->args[i].type->count < count) count = t->args[i].type->count;
    }
    solver_ask_rounds(t->in, iter, count);
    return true;
}

/* ---- for a comprehension ---- */

/* Whether t->at gives what a comprehension walks over, and one of its arguments, all tuples, has items without a common
 * type. */
static bool pairs_are_mixed(Typing *t, size_t count) {
    bool mixed = false;
    for (size_t i = 0; i < count; i++) {
        if (!t->args[i].type || t->args[i].type->kind != TY_TUPLE) return false;
        mixed |= typing_is_mixed(t, i);
    }
    const Value *iter = mixed && !t->is_part ? only_iter(t->in->func, t->at) : NULL;
    return iter && iter->flags & VF_OPERAND;
}

static void add_item(Items *items, Fact fact, Value *value) {
    items->facts[items->count] = fact;
    items->values[items->count++] = value;
}

static void add_tuple(Typing *t, Items *to, const Items *items) {
    Fact fact = typing_tuple_fact(t->in, items->facts, items->count);
    add_item(to, fact, t->emit ? typing_make_op(t, OP_TUPLE, fact.type, items->values, items->count) : NULL);
}

/* zip(t, u, ...), enumerate(t) for a comprehension, whose function has the loop: the tuple of what they give.  False:
 * they are not of such tuples, and *made is false, or t failed. */
bool typing_zip_for_comprehension(Typing *t, size_t count, bool numbers, bool *made) {
    int64_t start = 0;
    bool counts = !numbers || (t->args[1].konst && typing_konst_is_int(t->args[1].konst, &start));
    *made = counts && pairs_are_mixed(t, count);
    if (!*made) return false;
    uint32_t rounds = t->args[0].type->count;
    for (size_t i = 1; i < count; i++)
        if (t->args[i].type->count < rounds) rounds = t->args[i].type->count;
    Items all = typing_items_new(t->in, rounds);
    for (uint32_t i = 0; i < rounds; i++) {
        Items pair = typing_items_new(t->in, count + numbers);
        const Const *number = const_int(t->in->arena, t->in->types, start + i);
        if (numbers) add_item(&pair, (Fact){number->type, number}, t->emit ? typing_make_const(t, number) : NULL);
        for (size_t k = 0; k < count; k++)
            add_item(&pair, typing_item_fact(t->args[k], i), t->emit ? typing_make_extract(t, t->values[k], i) : NULL);
        add_tuple(t, &all, &pair);
    }
    return typing_become_tuple(t, all.facts, all.values, all.count);
}

/* ---- items ---- */

static Value *put_before(Func *func, Value *at, Op op, Value *const *args, size_t nargs) {
    Value *value = value_new(func, op, at->span, args, nargs);
    value_insert_before(at, value);
    return value;
}

static Value *round_number(Func *func, Value *at, uint32_t round) {
    Value *value = put_before(func, at, OP_CONST, NULL, 0);
    value->konst = const_int(func->arena, func->types, round);
    value->type = value->konst->type;
    return value;
}

/* What the loop goes over: of a dict the names. */
static Value *walked(Func *func, Value *at, Value *over) {
    if (!over->type || !type_is_keywords(over->type)) return over;
    Value *names = put_before(func, at, OP_CONST, NULL, 0);
    names->konst = const_of(func->arena, type_func(func->types, &func_info[FUNC_KEYWORD_NAMES].head));
    names->type = names->konst->type;
    return put_before(func, at, OP_CALL, (Value *[]){names, over}, 2);
}

static Value *item_of(Func *func, Value *at, Value *over, uint32_t round) {
    Value *tuple = walked(func, at, over);
    return put_before(func, at, OP_GETITEM, (Value *[]){tuple, round_number(func, at, round)}, 2);
}

static void become(Func *func, Value *take, Op op, Value *const *args, size_t nargs) {
    Value *like = value_new(func, op, take->span, args, nargs);
    take->op = op;
    take->args = like->args;
    take->nargs = like->nargs;
}

static void round_item(Func *func, Value *take, Value *over, uint32_t round) {
    FuncId called = called_function(over);
    if (called == FUNC_ENUMERATE) {
        Value *pair[2] = {round_number(func, take, round), item_of(func, take, over->args[1], round)};
        if (over->nargs > 2) pair[0] = put_before(func, take, OP_ADD, (Value *[]){over->args[2], pair[0]}, 2);
        become(func, take, OP_TUPLE, pair, 2);
    } else if (called == FUNC_ZIP) {
        Value **items = ARENA_ARRAY(func->arena, Value *, over->nargs);
        for (uint32_t i = 1; i < over->nargs; i++) items[i - 1] = item_of(func, take, over->args[i], round);
        become(func, take, OP_TUPLE, items, over->nargs - 1);
    } else {
        Value *tuple = walked(func, take, over);
        become(func, take, OP_GETITEM, (Value *[]){tuple, round_number(func, take, round)}, 2);
    }
}

bool infer_make_rounds(Func *func, Value *iter, uint32_t count) {
    Value *over = iter->args[0];
    TRY(func_make_rounds(func, iter, count, round_item));
    FuncId called = called_function(over);
    if (called == FUNC_ENUMERATE || called == FUNC_ZIP) value_remove(over);
    func_compute_order(func);
    return true;
}
