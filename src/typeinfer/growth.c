/* growth.c: what lists, dicts and sets hold, where that is found out after they were made.
 *
 * In: a value, and the type that it must have: that of now with more in its containers.  Out: the types of the displays
 * that it may come from, of which everything else follows when the solver goes on.
 *
 * A display (`[]`, `{}`) starts with what it is made of and takes a type that holds both.  What holds nothing may also
 * lie inside (`[[] for i in range(n)]`), and then what is put into a value that came out of another one is known there,
 * too: the way back goes through variables, items and tuples, through iterators, and through operations, whose operands
 * that hold nothing in the same way are taken to be where it came from.  Where no operand is, the call is asked for
 * again, of a callee whose result has the type (FuncInst.expected); where it leads to a parameter, the callers find
 * what it would have to be (FuncInst.wanted).  Numbers join inside, too (wider.c): ints in a list in a list, where
 * floats are put in later, are made as floats, unless they came from the interpreter.  Whatever else a container holds
 * is of one type for all who see it.  What a generator is sent (type_sent) is found the same way: the call that makes
 * it gives one whose `yield` is that. */
#include "library/library.h" /* FUNC_LIST */
#include "typeinfer/rules.h"

/* Where a container is made, or an object: by a call of its class. */
static bool names_deferred(Value *value) { /* the type of what is put in */
    const Type *type = value_resolve(value)->type;
    return type && type->kind == TY_CLASS && type->items[0]->kind == TY_BOTTOM;
}

/* List.empty_list(type), Dict.empty(key type, type) */
static bool is_declared(const Value *value) {
    const Type *callee = value->op == OP_CALL ? value_resolve(value->args[0])->type : NULL;
    if (!callee || callee->kind != TY_FUNC) return false;
    return callee->func->id == FUNC_EMPTY_LIST || callee->func->id == FUNC_EMPTY_DICT;
}

static bool makes_empty(const Value *value) { /* list(), dict(), set(); List.empty_list(deferred type) */
    static const FuncId makers[] = {FUNC_LIST, FUNC_DICT, FUNC_SET};
    const Type *callee = value->op == OP_CALL ? value_resolve(value->args[0])->type : NULL;
    if (!callee || callee->kind != TY_FUNC || !value->type || !type_is_container(value->type)) return false;
    for (size_t i = 0; value->nargs == 1 && i < COUNT_OF(makers); i++)
        if (callee->func->id == makers[i]) return true;
    for (uint32_t k = 1; is_declared(value) && k < value->nargs; k++)
        if (names_deferred(value->args[k])) return true;
    return false;
}

static bool is_display(const Value *value) {
    if (makes_empty(value)) return true;
    bool calls = value->op == OP_CALL || value->op == OP_CALL_EX;
    if (calls && value->type && type_is_shared(value->type)) {
        const Type *callee = value_resolve(value->args[0])->type;
        return callee && callee->kind == TY_OBJECT;
    }
    return value->op == OP_LIST || value->op == OP_DICT || value->op == OP_SET;
}

static bool grows(const Type *type) { return type_is_container(type) || type_is_shared(type); }

static bool holds_nothing(const Type *container) {
    return (container->kind == TY_LIST ? container->items[0] : type_key(container))->kind == TY_BOTTOM;
}

/* The cell of a variable that functions made here assign, before anything else has. */
static bool is_empty_cell(const Type *type) { return type->kind == TY_CELL && type->items[0]->kind == TY_BOTTOM; }

bool typeinfer_is_open(const Type *type) {
    if (is_empty_cell(type)) return true;
    if (type_is_shared(type)) return true; /* attributes may be assigned what they do not hold yet */
    if (type_is_container(type) && holds_nothing(type)) return true;
    if (type->kind == TY_DICT) return typeinfer_is_open(type_dict_value(type));
    bool inside = type->kind == TY_LIST || type->kind == TY_VARTUPLE || type->kind == TY_TUPLE ||
                  type->kind == TY_OPTIONAL || type->kind == TY_ITER || type->kind == TY_CELL ||
                  type->kind == TY_CLOSURE;
    for (uint32_t i = 0; inside && i < type->count; i++)
        if (typeinfer_is_open(type->items[i])) return true;
    return false;
}

/* ---- types ---- */

static const Type *merged(Infer *in, const Type *a, const Type *b);

/* What one is sent the other is sent, too. */
static const Type *merged_generators(Infer *in, const Type *a, const Type *b) {
    const Type *item, *sent, *returned;
    TRY(item = merged(in, a->items[0], b->items[0]));
    TRY(returned = merged(in, type_returned(in->types, a), type_returned(in->types, b)));
    TRY(sent = typeinfer_join(in->config->promotion, in->types, type_sent(in->types, a), type_sent(in->types, b)));
    return type_generator(in->types, item, sent, returned);
}

/* Both at once, where they differ in what holds nothing; NULL: they differ in something else. */
static const Type *merged(Infer *in, const Type *a, const Type *b) {
    if (a == b || b->kind == TY_BOTTOM) return a;
    if (a->kind == TY_BOTTOM) return b;
    if (a->kind == TY_NONE) return type_optional(in->types, b);
    if (a->kind == TY_OPTIONAL) {
        const Type *content = merged(in, a->items[0], infer_content(b));
        return content ? type_optional(in->types, content) : NULL;
    }
    if (a->kind == TY_GENERATOR && b->kind == TY_GENERATOR) return merged_generators(in, a, b);
    if (a->kind != b->kind || a->count != b->count || a->object != b->object) return NULL;
    if (a->kind == TY_TUPLE && !type_has_names_of(a, b)) return NULL;
    if (type_is_shared(a)) return typeinfer_join(in->config->promotion, in->types, a, b);
    if (type_is_table(a)) {
        const Type *key, *value = NULL;
        TRY(key = merged(in, type_key(a), type_key(b)));
        if (a->kind == TY_DICT) TRY(value = merged(in, type_dict_value(a), type_dict_value(b)));
        return type_table_of(in->types, key, value);
    }
    if (!a->count) return NULL;
    const Type **items = ARENA_ARRAY(in->arena, const Type *, a->count);
    for (uint32_t i = 0; i < a->count; i++) TRY(items[i] = merged(in, a->items[i], b->items[i]));
    return typeinfer_with_items(in, a, items);
}

/* A display takes numbers of several types as one that holds them all. */
static const Type *grown(Infer *in, const Type *old, const Type *more) {
    const Type *key, *value = NULL;
    if (old->kind != more->kind) return NULL;
    if (type_is_shared(old)) return merged(in, old, more);
    if (old->kind == TY_LIST) {
        TRY(key = typeinfer_join(in->config->promotion, in->types, old->items[0], more->items[0]));
        return type_with_items(in->types, TY_LIST, 0, &key, 1);
    }
    TRY(key = typeinfer_join(in->config->promotion, in->types, type_key(old), type_key(more)));
    if (old->kind == TY_DICT)
        TRY(value = typeinfer_join(in->config->promotion, in->types, type_dict_value(old), type_dict_value(more)));
    return type_table_of(in->types, key, value);
}

/* The same of what is put into a container, given as a container of that. */
static bool holds_by_cast(Infer *in, const Type *container, const Type *more) {
    if (!type_is_container(container) || typeinfer_is_open(container) || container->kind != more->kind) return false;
    if (container->kind == TY_LIST) return typeinfer_takes(in, container->items[0], more->items[0]);
    if (!typeinfer_takes(in, type_key(container), type_key(more))) return false;
    return container->kind == TY_SET || typeinfer_takes(in, type_dict_value(container), type_dict_value(more));
}

typedef struct Filling {
    Infer *in;
    const Type *hole, *with; /* a container that holds nothing, and what it becomes */
} Filling;

/* The first container in which they differ. */
static bool find_filling(Filling *f, const Type *from, const Type *to) {
    if (from->kind == TY_OPTIONAL) return find_filling(f, from->items[0], infer_content(to));
    to = infer_content(to);
    if (to->kind == TY_DICT && typeinfer_unnamed(f->in, from) == to) return f->hole = from, f->with = to, true;
    if (from == to || from->kind != to->kind) return false;
    if (type_is_shared(from) || is_empty_cell(from)) return f->hole = from, f->with = to, true;
    if (type_is_container(from) && holds_nothing(from)) return f->hole = from, f->with = to, true;
    if (typeinfer_holds_narrower(from, to)) return f->hole = from, f->with = to, true;
    if (from->kind == TY_GENERATOR) return f->hole = from, f->with = to, true; /* what it is sent */
    if (from->kind == TY_DICT) return find_filling(f, type_dict_value(from), type_dict_value(to));
    for (uint32_t i = 0; i < from->count && i < to->count; i++)
        if (find_filling(f, from->items[i], to->items[i])) return true;
    return false;
}

/* An instance of the class that `from` leads to; NULL: none, or it is far. */
static const Type *find_object(const Type *from, ObjRef class, int depth) {
    const Type *found = NULL;
    if (type_is_shared(from) && from->object == class) return from;
    if (depth == 0) return NULL;
    for (uint32_t i = 0; i < from->count && !found; i++)
        found = find_object(type_is_shared(from) ? type_attribute(from, i) : from->items[i], class, depth - 1);
    return found;
}

/* Where each of two classes leads to the other, the type of the one says what the other holds. */
static const Type *filled_around(const Filling *f, const Type *type) {
    enum { FAR = 8 };
    bool around = type_is_shared(type) && type_is_shared(f->hole) && type->object != f->hole->object &&
                  type_mentions(type, f->hole->object) && type_mentions(f->hole, type->object);
    const Type *with = around ? find_object(f->with, type->object, FAR) : NULL;
    return with ? typeinfer_join(f->in->config->promotion, f->in->types, type, with) : NULL;
}

static const Type *filled(const Filling *f, const Type *type) {
    const Type *around = filled_around(f, type);
    if (type == f->hole) return f->with;
    if (around) return around;
    if (!typeinfer_is_open(type) && typeinfer_is_open(f->hole)) return type;
    if (type->kind == TY_DICT) return type_table_of(f->in->types, type_key(type), filled(f, type_dict_value(type)));
    const Type **items = ARENA_ARRAY(f->in->arena, const Type *, type->count);
    for (uint32_t i = 0; i < type->count; i++) items[i] = filled(f, type->items[i]);
    const Type *made = typeinfer_with_items(f->in, type, items);
    return made ? made : type;
}

/* ---- the way back ---- */

typedef struct Growth {
    Infer *in;
    bool *seen; /* by Value.id */
    VEC(struct Step {
        Value *value;
        const Type *want;
    })
    work;
} Growth;

static void want(Growth *g, Value *value, const Type *type) {
    vec_push(g->in->arena, &g->work, ((struct Step){value, type}));
}

/* The iterator over what gives such items; NULL: it cannot be said. */
static const Type *iterator_of(Infer *in, const Type *iter, const Type *item) {
    const Type *over[ITER_MAX_PARTS];
    uint32_t first = iter->iter == ITER_ENUMERATE;
    if (iter->iter == ITER_LIST || (iter->iter == ITER_REVERSED && iter->items[0]->kind == TY_LIST)) {
        const Type *list = type_with_items(in->types, TY_LIST, 0, &item, 1);
        return type_iter(in->types, (IterKind)iter->iter, &list, 1);
    }
    bool parts = iter->iter == ITER_ENUMERATE || iter->iter == ITER_ZIP;
    if (!parts || item->kind != TY_TUPLE || item->count != iter->count + first) return NULL;
    for (uint32_t i = 0; i < iter->count; i++) {
        bool same = item->items[first + i] == type_iter_item(in->types, iter->items[i]);
        over[i] = same ? iter->items[i] : iterator_of(in, iter->items[i], item->items[first + i]);
        TRY(over[i]);
    }
    return type_iter(in->types, (IterKind)iter->iter, over, iter->count);
}

/* One of the program's: what it gives it says itself. */
static bool calls_a_function(const Value *value) {
    const Type *callee = value->op == OP_CALL || value->op == OP_CALL_EX ? value_resolve(value->args[0])->type : NULL;
    return callee && callee->kind != TY_FUNC && callee->kind != TY_BOTTOM;
}

/* Operands of an operation that hold nothing where its result does; of a method what it is called on.  False: none. */
static bool want_operands(Growth *g, Value *value, const Type *type) {
    Filling filling = {.in = g->in};
    bool any = false;
    if (!find_filling(&filling, value->type, type)) return false;
    bool asks = typeinfer_is_open(filling.hole) || type_is_keywords(filling.hole);
    if (!asks && calls_a_function(value)) return false; /* arguments are not all alike */
    for (uint32_t i = 0; i < value->nargs; i++) {
        Value *operand = value_resolve(value->args[i]);
        if (operand->op == OP_GETATTR) operand = value_resolve(operand->args[0]);
        const Type *more = operand->type ? filled(&filling, operand->type) : NULL;
        if (!more || more == operand->type) continue;
        want(g, operand, more);
        any = true;
    }
    return any;
}

/* zip(a, b), enumerate(a): iterators over their arguments. */
static bool want_walked(Growth *g, Value *value, const Type *type) {
    const Type *have = value->type;
    if (value->op != OP_CALL || have->kind != TY_ITER || value->nargs != have->count + 1) return false;
    for (uint32_t i = 0; i < have->count; i++) {
        Value *operand = value_resolve(value->args[1 + i]);
        if (have->items[i] == type->items[i]) continue;
        if (operand->type == have->items[i])
            want(g, operand, type->items[i]);
        else if (operand->type == have->items[i]->items[0])
            want(g, operand, type->items[i]->items[0]);
        else
            return false;
    }
    return true;
}

/* t[1], an item of a tuple; false: it is none, or which one is not known. */
static bool want_item_of_tuple(Growth *g, Value *value, const Type *type) {
    const Type *tuple = value_resolve(value->args[0])->type;
    int64_t at = value->imm.i;
    if (tuple->kind != TY_TUPLE) return false;
    if (value->op == OP_GETITEM) {
        const Const *index = value_resolve(value->args[1])->konst;
        if (!index || !typing_konst_is_int(index, &at)) return false;
        if (at < 0) at += tuple->count;
    }
    if (at < 0 || at >= tuple->count) return false;
    const Type **items = ARENA_ARRAY(g->in->arena, const Type *, tuple->count);
    for (uint32_t i = 0; i < tuple->count; i++) items[i] = i == at ? type : tuple->items[i];
    want(g, value->args[0], type_tuple_like(g->in->types, tuple, items));
    return true;
}

/* x.name, an attribute of an object. */
static bool want_attribute(Growth *g, Value *value, const Type *type) {
    const Type *object = infer_content(value_resolve(value->args[0])->type);
    int field = type_is_shared(object) && value->imm.text ? type_field(object, value->imm.text) : -1;
    if (field < 1) return false;
    const Type **items = ARENA_ARRAY(g->in->arena, const Type *, object->count);
    for (uint32_t i = 0; i < object->count; i++) items[i] = (int)i == field ? type : object->items[i];
    const Type *whole = typeinfer_object(g->in, object, items);
    if (whole) want(g, value->args[0], whole);
    return whole;
}

/* The callers are asked for another argument, of the function that the interpreter calls the driver; this instance is
 * of no use to them. */
static bool ask_callers(Infer *in, const Value *param, const Type *type) {
    FuncInst *inst = in->inst;
    if (!inst->caller && (in->device || !merged(in, param->type, type)))
        return false; /* its numbers are what they are */
    const Type *before = inst->wanted ? inst->wanted[param->imm.i] : NULL, *both = NULL;
    if (before && type_is_shared(type)) both = merged(in, before, type);
    if (before && !inst->caller && type_is_container(type)) both = grown(in, before, type);
    if (before && !both) both = typeinfer_wider(in, before, type);
    if (both) type = both;
    if (!inst->wanted) inst->wanted = ARENA_ARRAY(in->arena, const Type *, inst->untyped->nparams);
    if (inst->wanted[param->imm.i] != type) inst->wants = true;
    inst->wanted[param->imm.i] = type;
    return false;
}

/* So is whoever calls the first function, of what a global variable holds. */
bool typeinfer_want_captured(Infer *in, int64_t index, const Type *type) {
    Captured *capture = &in->config->captures->data[index];
    const Type *both = capture->wanted ? grown(in, capture->wanted, type) : type;
    if (!merged(in, capture->type, type)) return false;
    if (both) capture->wanted = both;
    return false;
}

/* What the class of an instance has under the name of an attribute that is no field: a list, dict or set that every
 * call is given; NULL: it is nothing such. */
static const Const *held_by_class(const Infer *in, const Value *getattr) {
    const Type *type = infer_content(value_resolve(getattr->args[0])->type);
    if (!type_is_instance(type) || !type->object || (type->names && type_field(type, getattr->imm.text) >= 0))
        return NULL;
    Member member = in->host->member(in->host->self, type->object, getattr->imm.object, getattr->imm.text);
    return member.kind == MEMBER_VALUE && member.konst->captured ? member.konst : NULL;
}

static void want_part(Growth *g, Value *part, const Type *type) {
    const Type *now = value_resolve(part)->type;
    bool has_parts = type_is_container(now) || now->kind == TY_TUPLE || now->kind == TY_GENERATOR;
    if (typeinfer_is_open(now) || (now != type && has_parts)) want(g, part, type);
}

/* One step; false: it leads nowhere. */
static bool step(Growth *g, Value *value, const Type *type) {
    Infer *in = g->in;
    if (makes_empty(value) || (is_display(value) && type_is_shared(type))) { /* its __init__ is called with that one */
        solver_set_type(in, value, type);
        solver_wake(in, value);
        return true;
    }
    if (value->op == OP_DICT && type_is_keywords(type)) {
        for (uint32_t i = 0; i < value->nargs; i += 2) want_part(g, value->args[i + 1], type->items[i / 2]);
        return true;
    }
    switch (value->op) {
    case OP_DICT:
    case OP_SET: solver_set_type(in, value, type); return true; /* what puts the parts in wants them */
    case OP_LIST:
        solver_set_type(in, value, type);
        for (uint32_t i = 0; i < value->nargs; i++) want_part(g, value->args[i], type->items[0]);
        return true;
    case OP_PARAM: return ask_callers(in, value, type);
    case OP_ITER:
        if (value_resolve(value->args[0])->type->kind != TY_GENERATOR || type->kind != TY_ITER) break;
        want(g, value->args[0], type->items[0]);
        return true;
    case OP_CAPTURED: return typeinfer_want_captured(in, value->imm.i, type);
    case OP_PHI:
        for (uint32_t i = 0; i < value->nargs; i++) /* what is no container comes over an edge that is never taken */
            if (value_resolve(value->args[i])->type->kind != TY_OBJECT) want(g, value->args[i], type);
        return true;
    case OP_TUPLE:
    case OP_FUNCTION: /* a closure is a tuple of its defaults and of what it closes over */
        for (uint32_t i = 0; i < value->nargs; i++) want(g, value->args[i], type->items[i]);
        return true;
    case OP_GETITEM:
    case OP_EXTRACT:
        if (want_item_of_tuple(g, value, type)) return true;
        break;
    case OP_GETATTR: {
        const Const *held = held_by_class(in, value);
        if (held) return typeinfer_want_captured(in, held->i, type);
        if (want_attribute(g, value, type)) return true;
        break;
    }
    case OP_ITER_TAKE: {
        const Type *iter = iterator_of(in, value_resolve(value->args[0])->type, type);
        if (!iter) break;
        want(g, value->args[0], iter);
        return true;
    }
    case OP_OR: /* of dicts with names, which become dicts */
        if (!type_is_keywords(value->type)) break;
        for (uint32_t i = 0; i < value->nargs; i++) want(g, value->args[i], type);
        return true;
    case OP_CELL: {
        Value *const *users;
        uint32_t count = solver_users(in, value, &users);
        for (uint32_t i = 0; i < count; i++)
            if (users[i]->op == OP_CELL_SET && users[i]->args[0] == value) want(g, users[i]->args[1], type->items[0]);
        if (value->nargs) want(g, value->args[0], type->items[0]);
        if (is_empty_cell(value->type)) solver_set_type(in, value, type);
        return true;
    }
    default: break;
    }
    if (value->nargs == 1 && value_resolve(value->args[0])->type == value->type)
        return want(g, value->args[0], type), true;
    if (want_walked(g, value, type)) return true;
    bool passed = want_operands(g, value, type), made = solver_expect(in, value, type); /* a call may give either */
    return passed || made;
}

Value *typeinfer_grow(Infer *in, Value *value, const Type *type) {
    Growth g = {.in = in, .seen = ARENA_ARRAY(in->arena, bool, in->func->next_value)};
    want(&g, value, type);
    while (g.work.len) {
        struct Step next = vec_pop(&g.work);
        Value *at = value_resolve(next.value);
        if (g.seen[at->id] || at->type->kind == TY_NONE) continue;
        g.seen[at->id] = true;
        if (at->type->kind == TY_BOTTOM && at->op == OP_CALL) solver_expect(in, at, infer_content(next.want));
        if (at->type->kind == TY_BOTTOM) continue; /* not reached yet, but for what a call gives that is asked now */
        if (at->type->kind != TY_OPTIONAL) next.want = infer_content(next.want);
        const Type *joined = grows(at->type) ? grown(in, at->type, next.want) : NULL;
        if (joined == at->type) continue; /* numbers of another type are converted */
        if (!is_display(at)) joined = merged(in, at->type, next.want);
        bool cast = !joined && !is_display(at) && at->op != OP_PHI && holds_by_cast(in, at->type, next.want);
        const Type *unnamed = typeinfer_unnamed(in, at->type);
        if (!joined && unnamed != at->type && typeinfer_unnamed(in, next.want) == next.want) {
            joined = unnamed == next.want ? unnamed : typeinfer_wider(in, unnamed, next.want);
            if (joined && at->op == OP_DICT) in->expected[at->id] = joined; /* which it stays */
        }
        if (cast && (typeinfer_same_bits(at->type, next.want) || is_declared(at))) continue;
        if (cast && at->op == OP_PARAM && in->inst->caller) { /* which the callers know whether they can */
            ask_callers(in, at, typeinfer_wider(in, at->type, next.want));
            continue;
        }
        if (!joined) joined = typeinfer_wider(in, at->type, next.want);
        if (!joined) return at;
        if (joined != at->type && !step(&g, at, joined)) return at;
    }
    return NULL;
}

void typeinfer_fill(Infer *in, Value *value, const Type *from, const Type *to) {
    Filling filling = {.in = in};
    const Type *closure = from->kind == TY_CELL ? from->items[0] : from;
    if (value && value->type == from && closure->kind == TY_CLOSURE) {
        typeinfer_grow(in, value, to); /* it may hold several that are empty, each to become something else */
        return;
    }
    if (!value || !value->type || !find_filling(&filling, from, to)) return;
    if (!typeinfer_is_open(value->type) && filling.hole->kind != TY_GENERATOR) return;
    typeinfer_grow(in, value, filled(&filling, value->type));
}

/* ---- what rules ask ---- */

/* A display in which the values of several names have no type in common: each keeps its own. */
static bool becomes_keywords(Typing *t, Value *display) {
    solver_set_type(t->in, display, typing_keywords_of_pairs(t->in, display));
    solver_wake(t->in, display);
    return true;
}

static bool is_of_pairs(const Typing *t, const Value *display, const Type *more) {
    return t->flags & VF_OPERAND && display->op == OP_DICT && display->type->kind == TY_DICT &&
           value_resolve(t->at->args[0]) == display &&
           (type_key(display->type) == type_key(more) || holds_nothing(display->type));
}

bool solver_put(Typing *t, Value *container, const Type *more) {
    Value *display = value_resolve(container);
    if (is_of_pairs(t, display, more) && typeinfer_keeps_numbers(t->in, display)) return becomes_keywords(t, display);
    Value *stays = typeinfer_grow(t->in, container, more);
    if (!stays || (is_of_pairs(t, stays, more) && becomes_keywords(t, stays))) return true;
    if (is_display(stays) || !type_is_container(stays->type) || !typeinfer_is_open(stays->type)) {
        return more->kind == TY_LIST ? typing_refuse_item(t, stays, container->type, more->items[0])
                                     : typing_refuse_entry(t, container->type, more);
    }
    const char *kind = more->kind == TY_LIST ? "list" : more->kind == TY_DICT ? "dict" : "set";
    if (stays->op == OP_PARAM && !t->in->inst->caller) {
        typing_fail(t, DIAG_NO_UNIFY,
                    "the argument `%s` is an empty %s, which says nothing about the items that are put "
                    "into it here",
                    stays->name, kind);
        return typing_hint(t, "make it in the function, or pass one that has a type: %s",
                           more->kind == TY_LIST   ? "krait.typed.List.empty_list(krait.types.float64)"
                           : more->kind == TY_DICT ? "krait.typed.Dict.empty(krait.types.int64, krait.types.float64)"
                                                   : "a set that is not empty");
    }
    typing_fail(t, DIAG_NO_UNIFY, "what items this %s has is not known where it is made", kind);
    return typing_hint(t,
                       "put an item in where it is made, or make it in this function; one that a class has is named by "
                       "the class or the instance, Class.name or self.name");
}

bool solver_list_put(Typing *t, Value *list, const Type *item) {
    return solver_put(t, list, type_with_items(t->in->types, TY_LIST, 0, &item, 1));
}
