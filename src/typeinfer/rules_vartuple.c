/* rules_vartuple.c: typing rules of tuples whose length is not in their type, as tuple(x) of a list gives them.
 *
 * In: such a tuple, or one of a known length that meets one, and what is done with it.  Out: the same of the list that
 * it is; what gives a tuple again is Python of the prelude (krait/prelude/lists.py).  Nobody changes that list, so that
 * both are one object.  f(*x) with such an x: the arguments are taken out of it, as many as f has parameters. */
#include "typeinfer/rules_library.h" /* lib_* */

bool typing_list_getitem(Typing *t);                          /* rules_list.c */
const Type *typing_common_item(Infer *in, const Type *tuple); /* rules_tuple.c */

static const Type *list_of(Infer *in, const Type *vartuple) {
    return type_with_items(in->types, TY_LIST, 0, vartuple->items, 1);
}

bool typing_as_list(Typing *t, size_t arg) {
    const Type *type = infer_content(t->args[arg].type);
    return type->kind != TY_VARTUPLE || typing_as(t, arg, list_of(t->in, type));
}

const Type *typing_vartuple_of(Typing *t, const Type *type) {
    if (type->kind == TY_VARTUPLE) return type;
    if (type->kind != TY_TUPLE || type->object || t->in->device) return NULL;
    const Type *item = typing_common_item(t->in, type);
    return item ? type_with_items(t->in->types, TY_VARTUPLE, 0, &item, 1) : NULL;
}

Value *typing_make_vartuple(Typing *t, Value *tuple, const Type *to) {
    uint32_t count = tuple->type->count;
    Value **items = ARENA_ARRAY(t->in->arena, Value *, count);
    t->keeps = !t->in->device; /* as what is put into any list */
    for (uint32_t i = 0; i < count; i++) items[i] = typing_make_cast(t, typing_make_extract(t, tuple, i), to->items[0]);
    Value *list = typing_make_op(t, OP_LIST, list_of(t->in, to), items, count);
    return typing_make_op(t, OP_CAST, to, &list, 1);
}

/* tuple_of(items) */
bool rule_func_tuple_of(Typing *t) {
    const Type *list = t->args[0].type;
    if (list->kind != TY_LIST) return typing_bad_operands(t);
    const Type *type = type_with_items(t->in->types, TY_VARTUPLE, 0, list->items, 1);
    return typing_become(t, t->emit ? typing_make_op(t, OP_CAST, type, t->values, 1) : NULL, type);
}

static bool become(Typing *t, const char *name) {
    t->op = OP_CALL;
    return typing_become_prelude(t, name);
}

/* Operand `arg`, a tuple, becomes the list of its items. */
static bool take_items(Typing *t, size_t arg, const Type *vartuple) {
    return typing_as(t, arg, vartuple) && typing_as_list(t, arg);
}

enum { MOST_ROUNDS = 200 };

static bool items_differ(const Type *tuple) {
    for (uint32_t i = 1; i < tuple->count; i++)
        if (tuple->items[i] != tuple->items[0]) return true;
    return false;
}

/* x.index(v), x.count(v) */
bool rule_func_tuple_method(Typing *t) {
    const Type *tuple = infer_content(t->args[0].type), *type = typing_vartuple_of(t, tuple);
    bool mixed = tuple->kind == TY_TUPLE && !t->in->device && items_differ(tuple); /* each is compared as it is, */
    mixed = mixed && (!type || tuple->count <= MOST_ROUNDS); /* unless the rounds become too many */
    if ((!type && !mixed) || t->nnames) return typing_bad_operands(t);
    if (mixed) return become(t, t->func == FUNC_TUPLE_INDEX ? "lists:mixed_index" : "lists:mixed_count");
    return take_items(t, 0, type) && typing_become_prelude(t, func_info[t->func].symbol);
}

bool typing_slice_any(Typing *t) {
    return take_items(t, 0, typing_vartuple_of(t, t->args[0].type)) && become(t, "lists:tuple_slice");
}

bool typing_vartuple_getitem(Typing *t) {
    const Type *index = infer_content(t->args[1].type);
    typing_as_list(t, 0);
    if (index->kind == TY_SLICE) return become(t, "lists:tuple_slice");
    return type_is_integer(index) ? become(t, "lists:tuple_item") : typing_list_getitem(t);
}

/* ---- two operands ---- */

static bool is_tuple(const Type *type) { return type->kind == TY_TUPLE || type->kind == TY_VARTUPLE; }

bool typing_is_of_any_length(const Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    int64_t times;
    if (a->kind == TY_VARTUPLE || b->kind == TY_VARTUPLE) return true;
    size_t number = type_is_integer(a) ? 0 : 1;
    bool product = t->op == OP_MUL && !t->in->device && type_is_integer(t->args[number].type);
    return product && t->args[1 - number].type->kind == TY_TUPLE && !typing_konst_is_int(t->args[number].konst, &times);
}

/* What both become; NULL: nothing. */
static const Type *meeting(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    return is_tuple(a) && is_tuple(b) ? typeinfer_join(t->in->config->promotion, t->in->types, a, b) : NULL;
}

bool typing_tuples_meet(Typing *t, const Type *a, const Type *b) {
    if (!is_tuple(a) || !is_tuple(b) || (a->kind == TY_TUPLE && b->kind == TY_TUPLE)) return true;
    if (typeinfer_join(t->in->config->promotion, t->in->types, a, b)) return true;
    typing_fail(t, DIAG_NO_UNIFY, "%s and %s are put together, and the items of a tuple of any length have one type",
                typing_text(t, a), typing_text(t, b));
    const Type *x = typing_vartuple_of(t, a), *y = typing_vartuple_of(t, b);
    bool numbers = x && y && x->items[0]->kind == TY_SCALAR && y->items[0]->kind == TY_SCALAR;
    return typing_hint(t, "convert the items of both to one type, as (*[%s(v) for v in x], ...), or keep two tuples",
                       numbers ? "float" : "str");
}

bool typing_vartuple_binary(Typing *t) {
    t->flags &= ~(uint32_t)VF_INPLACE;
    if (t->op == OP_ADD && !typing_tuples_meet(t, t->args[0].type, t->args[1].type)) return false;
    const Type *both = t->op == OP_ADD ? meeting(t) : NULL;
    if (both) return take_items(t, 0, both) && take_items(t, 1, both) && become(t, "lists:tuples_joined");
    size_t number = type_is_integer(t->args[0].type) ? 0 : 1;
    const Type *tuple = typing_vartuple_of(t, t->args[1 - number].type);
    if (t->op != OP_MUL || !tuple || !type_is_integer(t->args[number].type)) return typing_bad_operands(t);
    TRY(take_items(t, 1 - number, tuple));
    if (number == 0) {
        Fact fact = t->args[0];
        Value *value = t->values[0];
        t->args[0] = t->args[1], t->values[0] = t->values[1];
        t->args[1] = fact, t->values[1] = value;
    }
    return become(t, "lists:tuple_repeated");
}

bool typing_meet_lengths(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    if (!is_tuple(a) || !is_tuple(b) || (a->kind == TY_TUPLE && b->kind == TY_TUPLE)) return false;
    const Type *both = meeting(t);
    if (!both) return typing_bad_operands(t);
    return take_items(t, 0, both) && take_items(t, 1, both);
}

/* ---- f(*x) ---- */

enum { SPREAD_MOST = 64 };
typedef struct Spread {
    Typing *t;
    Fact items; /* x */
    Value *value;
    Fact *args;
    Value **values;
    size_t count;
} Spread;

/* Calls a function of the prelude on x and constants. */
static bool call_on_items(Spread *s, const char *function, const Const *const *konsts, size_t count, Fact *fact,
                          Value **value) {
    Typing *t = s->t;
    Infer *in = t->in;
    enum { MOST = 8 };
    ObjRef ref = in->host->prelude(in->host->self, function);
    TRY(ref);
    Fact facts[MOST] = {{type_object(in->types, TY_PYFUNC, ref), NULL}, s->items};
    Value *values[MOST] = {NULL, s->value};
    facts[0].konst = const_of(in->arena, facts[0].type);
    if (t->emit) values[0] = typing_make_const(t, facts[0].konst);
    for (size_t i = 0; i < count; i++) {
        facts[2 + i] = (Fact){konsts[i]->type, konsts[i]};
        values[2 + i] = t->emit ? typing_make_const(t, konsts[i]) : NULL;
    }
    return typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2 + count}, fact, value);
}

/* For what it raises. */
static bool check_spread(Spread *s, const char *function, const Const *const *konsts, size_t count) {
    Fact none;
    Value *done;
    return call_on_items(s, function, konsts, count, &none, &done);
}

/* x[index], or the default where x has fewer items, is the next argument. */
static bool add_or_default(Spread *s, int64_t index, const Const *fallback) {
    const Const *konsts[] = {const_int(s->t->in->arena, s->t->in->types, index), fallback};
    size_t i = s->count++;
    return call_on_items(s, "applying:item_or", konsts, COUNT_OF(konsts), &s->args[i], &s->values[i]);
}

/* x[index] is the next argument. */
static bool add_indexed(Spread *s, const Const *index) {
    Typing *t = s->t;
    Fact facts[2] = {s->items, {index->type, index}};
    Value *values[2] = {s->value, t->emit ? typing_make_const(t, index) : NULL};
    size_t i = s->count++;
    return typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, &s->args[i],
                      &s->values[i]);
}

/* x[first:] */
static const Const *slice_from(Infer *in, int64_t first) {
    const Const **parts = ARENA_ARRAY(in->arena, const Const *, 3);
    parts[0] = const_int(in->arena, in->types, first);
    parts[1] = parts[2] = const_none(in->arena, in->types);
    Const *slice = ARENA_NEW(in->arena, Const);
    *slice = (Const){.type = type_slice(in->types, parts[0]->type, parts[1]->type, parts[2]->type), .items = parts};
    return slice;
}

typedef struct Accepted { /* the positional parameters of a function */
    const Const **names;  /* of those without a default */
    const Const **defaults;
    int64_t least, most;
    bool rest; /* and it has *args */
} Accepted;

/* An int beside a float would become one. */
static bool stands_beside(const Type *item, const Type *fallback) {
    return item == fallback || fallback->kind == TY_NONE || (typing_is_text(item) && typing_is_text(fallback));
}

/* False: a default is made anew by each function, or may change, or is no value as the items are. */
static bool read_accepted(Infer *in, const Func *callee, const Type *item, Accepted *of) {
    *of = (Accepted){ARENA_ARRAY(in->arena, const Const *, callee->nparams),
                     ARENA_ARRAY(in->arena, const Const *, callee->nparams), 0, 0, false};
    for (uint32_t p = 0; p < callee->nparams; p++) {
        const Param *param = &callee->params[p];
        of->rest |= param->kind == PARAM_VARARGS;
        if (param->kind != PARAM_NORMAL && param->kind != PARAM_POSITIONAL_ONLY) continue;
        if (param->has_default && (!param->fallback || param->fallback->captured)) return false;
        if (param->has_default && !stands_beside(item, param->fallback->type)) return false;
        of->defaults[of->most++] = param->has_default ? param->fallback : NULL;
        if (!param->has_default) of->names[of->least++] = const_str(in->arena, in->types, param->name);
    }
    return true;
}

/* The arguments of a function of Python: as many as it has parameters, and the rest. */
static bool spread_python(Spread *s, ObjRef object) {
    Typing *t = s->t;
    Infer *in = t->in;
    const Func *callee = in->host->translate(in->host->self, object);
    Accepted of;
    const Type *item = typing_vartuple_of(t, infer_content(s->items.type))->items[0];
    if (!callee || !read_accepted(in, callee, item, &of) || of.most > SPREAD_MOST) return false;
    const Const *konsts[] = {const_str(in->arena, in->types, callee->source->function),
                             const_tuple(in->arena, in->types, of.names, (size_t)of.least),
                             const_int(in->arena, in->types, of.most)};
    TRY(check_spread(s, of.rest ? "applying:check_least" : "applying:check_count", konsts, of.rest ? 2 : 3));
    for (int64_t i = 0; i < of.most; i++)
        TRY(of.defaults[i] ? add_or_default(s, i, of.defaults[i]) : add_indexed(s, const_int(in->arena, in->types, i)));
    t->spreads = of.rest;
    return !of.rest || add_indexed(s, slice_from(in, of.most));
}

bool typing_spread(Typing *t) {
    const Type *callee = infer_content(t->args[0].type);
    size_t keywords = t->nargs - 2;
    Spread s = {t,
                t->args[1],
                t->values[1],
                ARENA_ARRAY(t->in->arena, Fact, SPREAD_MOST + 2 + keywords),
                ARENA_ARRAY(t->in->arena, Value *, SPREAD_MOST + 2 + keywords),
                1};
    s.args[0] = t->args[0], s.values[0] = t->values[0];
    if (callee->kind == TY_FUNC && func_row(callee->func)->spread) {
        typing_as_list(t, 1);
        s.args[s.count] = t->args[1], s.values[s.count++] = t->values[1];
        t->spreads = true;
        const Type *row = t->args[1].type->items[0];
        t->spreads_mixed = callee->func->id == FUNC_ZIP && row->kind == TY_TUPLE && !typing_common_item(t->in, row);
    } else if (callee->kind != TY_PYFUNC && callee->kind != TY_CLOSURE) {
        return false;
    } else if (!spread_python(&s, callee->object)) {
        return false;
    }
    for (size_t k = 0; k < keywords; k++) {
        s.args[s.count] = t->args[2 + k];
        s.values[s.count++] = t->values[2 + k];
    }
    t->args = s.args;
    t->values = s.values;
    t->to = ARENA_ARRAY(t->in->arena, const Type *, s.count);
    t->nargs = s.count;
    t->op = OP_CALL;
    return true;
}
