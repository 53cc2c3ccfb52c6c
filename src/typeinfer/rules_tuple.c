/* rules_tuple.c: typing rules of tuples, slices and iterators.
 *
 * A tuple's length and the type of each item are in its type.  What depends on the item at run time (an index that is
 * not known, iteration) needs one type for all items: the tuple is then cast to a homogeneous one first, so lowering
 * sees only those.  Concatenation becomes operations on the items; comparison: rules_tuple_compare.c. */
#include "typeinfer/rules.h"

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

/* apart: bools are no numbers. */
static const Type *common_item(Infer *in, const Type *tuple, bool apart) {
    const Type *joined = infer_bottom(in);
    for (uint32_t i = 0; i < tuple->count && joined; i++) {
        const Type *item = tuple->items[i];
        joined = apart ? typeinfer_join_items(in, joined, item)
                       : typeinfer_join(in->config->promotion, in->types, joined, item);
    }
    bool lengths = joined && joined->kind == TY_VARTUPLE; /* tuples of several lengths are walked one by one */
    for (uint32_t i = 0; lengths && i < tuple->count; i++)
        if (tuple->items[i] != joined) return NULL;
    return joined && !in->device ? typeinfer_general(in, joined) : joined;
}

/* The one type of all items, which a loop over them keeps as they are; NULL: they do not join. */
const Type *typing_common_item(Infer *in, const Type *tuple) { return common_item(in, tuple, true); }

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
    Value *tuple = typing_make_op(t, OP_TUPLE, general, made, count);
    tuple->konst = fact.konst; /* a method of it asks again */
    return typing_become(t, tuple, general);
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

/* Whether print alone is given what is made: print("items:", *items). */
static bool is_for_print(const Infer *in, const Value *made) {
    Value *const *users;
    uint32_t count = solver_users(in, made, &users);
    for (uint32_t i = 0; i < count; i++) {
        const Value *callee = value_resolve(users[i]->args[0]);
        const Type *type = users[i]->op == OP_CALL_EX && callee->op == OP_CONST ? callee->konst->type : NULL;
        if (!type || type->kind != TY_FUNC || type->func->id != FUNC_PRINT) return false;
    }
    return count > 0;
}

/* A starred operand without a known length: tuple(x), then + of all.  Where they are printed, of their texts: items of
 * several types lie in no tuple of any length. */
static bool concat_any(Typing *t) {
    Infer *in = t->in;
    const Const *make = const_of(in->arena, type_func(in->types, &func_info[FUNC_TUPLE].head));
    ObjRef texts = t->nargs > 1 && is_for_print(in, t->at) ? in->host->prelude(in->host->self, "lists:texts_of") : 0;
    if (texts) make = const_of(in->arena, type_object(in->types, TY_PYFUNC, texts));
    Fact pair[2], facts[2] = {{make->type, make}};
    Value *values[2] = {NULL, NULL}, *both[2];
    if (t->emit) values[0] = typing_make_const(t, make);
    for (size_t i = 0; i < t->nargs; i++) {
        facts[1] = t->args[i], values[1] = t->values[i];
        size_t k = i > 0;
        TRY(typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2}, &pair[k], &both[k]));
        if (pair[k].type->kind == TY_BOTTOM) return false;
        if (k && !typing_tuples_meet(t, pair[0].type, pair[1].type)) return false;
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
    if (!type_is_integer(index)) return typing_refuse_number(t, "a tuple");
    if (typing_konst_is_int(t->args[1].konst, &i)) {
        if (i < -(int64_t)tuple->count || i >= (int64_t)tuple->count)
            return typing_fail(t, DIAG_BAD_INDEX, "index %lld is out of range for a tuple of %u items", (long long)i,
                               tuple->count);
        size_t at = (size_t)(i < 0 ? i + tuple->count : i);
        return typing_become_item(t, 0, at);
    }
    const Type *item = common_item(t->in, tuple, false); /* of an empty tuple bottom: every index is out of range */
    if (!item) {
        typing_fail_arg(t, 1, DIAG_NEEDS_CONSTANT, "%s is indexed by %s, but its items have no common type",
                        typing_arg_text(t, 0), typing_arg_text(t, 1));
        return typing_hint(t, "use a literal index");
    }
    typing_cast(t, 0, typing_homogeneous_tuple(t->in, tuple, item));
    typing_cast(t, 1, infer_int(t->in));
    return typing_result(t, item, NULL);
}

/* ---- + and * ---- */

enum { MAX_REPEATED = 4096 };

bool typing_binary_tuples(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    int64_t times;
    if (type_is_bytes(a) || type_is_bytes(b)) return typing_repeat_bytes(t);
    if (type_is_keywords(a) || type_is_keywords(b)) return typing_bad_operands(t);
    if (t->op == OP_ADD && a->kind == TY_TUPLE && b->kind == TY_TUPLE) {
        t->op = OP_TUPLE_CONCAT;
        return rule_tuple_concat(t);
    }
    size_t tuple = a->kind == TY_TUPLE ? 0 : 1;
    if (t->op == OP_MUL && type_is_integer(t->args[1 - tuple].type) && t->args[tuple].type->kind == TY_TUPLE) {
        /* Of a namedtuple and a number that is not known a product is meant. */
        if (t->args[tuple].type->object && !t->args[1 - tuple].konst) return typing_bad_operands(t);
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

/* ---- iteration ---- */

/* Whether it is a tuple of which only rounds can be made. */
bool typing_is_mixed(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    return type->kind == TY_TUPLE && !type_is_keywords(type) && !typing_common_item(t->in, type);
}

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
        if (!item && !(item = common_item(in, type, false))) {
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
    if (t->flags & VF_OPERAND && typing_is_mixed(t, 0)) return typing_become_arg(t, 0); /* its loop becomes rounds */
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
