/* raises.c: an exception's texts are known where it is raised.
 *
 * In: a typed function.  Out: raises whose exception is made, down to its texts, of operations and constants.
 *
 * A str is a constant: it has no form at run time, and a raise site names the texts of its exception.  Where an
 * exception, a tuple or a text in it was chosen by a phi, the phis that feed it are a web, whose other operands are its
 * leaves: next to each phi of the web comes a phi of the leaf's number; the raise becomes a comparison of that number
 * for each leaf, and behind it a raise of that leaf's texts, with the items that do have a form taken from the phi.
 * What cannot be told apart this way stays as it is.  Exceptions that are caught and kept, or made and raised more than
 * once, are marked (VF_OBJECT): who they are matters; those that a phi chooses, or a call gives, and that are raised
 * more than once, are made by the interpreter there and then.  Where no interpreter calls, what a caught exception says
 * is refused. */
#include "passes/private.h"

enum { MOST_LEAVES = 32, MOST_RAISES = 256 };

typedef VEC(Value *) Values;

typedef struct Web {
    Func *func;
    uint32_t *place; /* by Value.id: of a phi 1 + its place in phis, of a leaf in leaves; 0: not in the web */
    Values phis, numbers, leaves;
} Web;

static bool holds_text(const Type *type) {
    if (type->kind == TY_STR) return true;
    for (uint32_t i = 0; i < type->count; i++)
        if (holds_text(type->items[i])) return true;
    return false;
}

static bool has_items(const Value *value) { return value->op == OP_TUPLE || value->op == OP_FORMAT; }

/* Whether all texts of a value are known from the operations that make it. */
static bool is_known(const Value *value) {
    if (!holds_text(value->type) || value->op == OP_CONST) return true;
    if (!has_items(value)) return false;
    for (uint32_t i = 0; i < value->nargs; i++)
        if (!is_known(value->args[i])) return false;
    return true;
}

/* The first phi that chooses texts of a value; NULL: none. */
static Value *find_choice(Value *value) {
    if (!holds_text(value->type)) return NULL;
    if (value->op == OP_PHI) return value;
    Value *found = NULL;
    for (uint32_t i = 0; has_items(value) && i < value->nargs && !found; i++) found = find_choice(value->args[i]);
    return found;
}

/* ---- the web ---- */

static bool add_to_web(Web *web, Value *value) {
    if (web->place[value->id] || value->op == OP_UNDEF) return true;
    if (value->op == OP_PHI) {
        vec_push(web->func->arena, &web->phis, value);
        web->place[value->id] = (uint32_t)web->phis.len;
        return true;
    }
    if (!is_known(value) || web->leaves.len == MOST_LEAVES) return false;
    vec_push(web->func->arena, &web->leaves, value);
    web->place[value->id] = (uint32_t)web->leaves.len;
    return true;
}

static bool find_web(Web *web, Value *chosen) {
    add_to_web(web, chosen);
    for (size_t i = 0; i < web->phis.len; i++)
        for (uint32_t k = 0; k < web->phis.data[i]->nargs; k++) TRY(add_to_web(web, web->phis.data[i]->args[k]));
    return web->leaves.len > 0;
}

static Value *make_const(Func *func, Span span, int64_t number) {
    Value *value = value_new(func, OP_CONST, span, NULL, 0);
    value->konst = const_int(func->arena, func->types, number);
    value->type = value->konst->type;
    return value;
}

static Value *first_after_params(const Block *block) {
    Value *value = block->first;
    while (value->op == OP_PHI || value->op == OP_PARAM) value = value->next;
    return value;
}

static void number_phis(Web *web) {
    Func *func = web->func;
    for (size_t i = 0; i < web->phis.len; i++) {
        Value *number = block_add_phi(func, web->phis.data[i]->block, web->phis.data[i]->span);
        number->type = type_scalar(func->types, SCALAR_INT64, true);
        vec_push(func->arena, &web->numbers, number);
    }
    for (size_t i = 0; i < web->phis.len; i++) {
        const Value *phi = web->phis.data[i];
        Value **args = ARENA_ARRAY(func->arena, Value *, phi->nargs);
        for (uint32_t k = 0; k < phi->nargs; k++) {
            const Value *arg = phi->args[k];
            uint32_t place = web->place[arg->id];
            if (arg->op == OP_PHI) {
                args[k] = web->numbers.data[place - 1];
                continue;
            }
            args[k] = make_const(func, phi->span, place ? (int64_t)place - 1 : 0);
            value_insert_before(first_after_params(phi->block->preds.data[k]), args[k]); /* before anything raises */
        }
        phi_set_args(func, web->numbers.data[i], args, phi->nargs);
    }
}

/* ---- raising a leaf ---- */

/* At the end of a block: `chosen`, with the texts that `leaf` has. */
static Value *rebuild(Func *func, Block *block, Value *chosen, const Value *leaf) {
    if (!holds_text(leaf->type)) return chosen;
    if (leaf->op == OP_CONST) return block_append_const(func, block, leaf->span, leaf->konst);
    Value **args = ARENA_ARRAY(func->arena, Value *, leaf->nargs);
    for (uint32_t i = 0; i < leaf->nargs; i++) {
        args[i] = block_append(func, block, OP_EXTRACT, leaf->span, &chosen, 1);
        args[i]->imm.i = i;
        args[i]->type = leaf->args[i]->type;
        args[i] = rebuild(func, block, args[i], leaf->args[i]);
    }
    Value *value = block_append(func, block, leaf->op, leaf->span, args, leaf->nargs);
    value->type = leaf->type;
    return value;
}

/* A value with `with` in the place of `chosen`. */
static Value *copy_with(Func *func, Block *block, Value *value, const Value *chosen, Value *with) {
    if (value == chosen) return with;
    if (!has_items(value) || !holds_text(value->type)) return value;
    Value **args = ARENA_ARRAY(func->arena, Value *, value->nargs);
    for (uint32_t i = 0; i < value->nargs; i++) args[i] = copy_with(func, block, value->args[i], chosen, with);
    Value *copy = block_append(func, block, value->op, value->span, args, value->nargs);
    copy->type = value->type;
    return copy;
}

static Value *raise_leaf(Func *func, Block *block, const Value *raise, Value *chosen, const Value *leaf) {
    Value *with = rebuild(func, block, chosen, leaf);
    Value *exception = copy_with(func, block, raise->args[0], chosen, with);
    Value *args[] = {exception, raise->nargs > 1 ? raise->args[1] : NULL};
    Value *copy = block_append(func, block, OP_RAISE, raise->span, args, raise->nargs);
    copy->type = raise->type;
    return copy;
}

/* The raise becomes one for each leaf of the web. */
static void choose(Web *web, Value *raise, Value *chosen, Values *raises) {
    Func *func = web->func;
    Block *block = raise->block;
    Value *number = web->numbers.data[web->place[chosen->id] - 1];
    value_remove(raise);
    Block *first = block;
    for (size_t i = 0; i < web->leaves.len; i++) {
        Block *here = block;
        if (i + 1 < web->leaves.len) {
            Value *wanted = block_append_const(func, block, raise->span,
                                               const_int(func->arena, func->types, (int64_t)i));
            Value *equal = block_append(func, block, OP_EQ, raise->span, (Value *[]){number, wanted}, 2);
            equal->type = type_scalar(func->types, SCALAR_BOOL, true);
            here = block_new(func);
            Block *others = block_new(func);
            block_branch(func, block, raise->span, equal, here, others);
            block->last->type = raise->type;
            block = others;
        }
        Value *copy = raise_leaf(func, here, raise, chosen, web->leaves.data[i]);
        if (here != first) block_unwind_like(func, here, first);
        vec_push(func->arena, raises, copy);
    }
    if (first->last->op != OP_RAISE) block_set_unwind(func, first, NULL);
}

static bool asks_interpreter(const Value *value) {
    return value_calls(value, FUNC_CAUGHT_TEXT) || value_calls(value, FUNC_CAUGHT_ATTR) ||
           value_calls(value, FUNC_EXCEPTION_LIKE);
}

/* What a caught exception says, the interpreter knows: it has to be the one that calls. */
static bool check_asked(const Program *program, const FuncInst *inst, const Value *value) {
    if (!asks_interpreter(value) || (program->called_once && !inst->outlined)) return true;
    diag_fail(program->diag, DIAG_UNSUPPORTED, inst->func->source, value->span,
              "texts and attributes of exceptions are not there in ufuncs, C functions and parallel loops");
    diag_hint(program->diag, "catch it there, and tell what happened by a number");
    return false;
}

/* ---- exceptions that are one object ---- */

/* Whether a value raises an exception that is made here, or has the interpreter make it. */
static bool asks_for_object(const Value *value) {
    bool asks = value->op == OP_RAISE || value_calls(value, FUNC_EXCEPTION_NEW);
    return asks && value->nargs && value->args[0]->type->kind == TY_EXC;
}

/* The exception, made here and in a variable, that a value raises, or has the interpreter make; NULL: none. */
static Value *made_for(const Value *value) {
    Value *made = asks_for_object(value) ? value->args[0] : NULL;
    return made && made->op == OP_TUPLE && !(made->flags & VF_RAISED) ? made : NULL;
}

static Value *item_of(Func *func, Value *made, uint32_t i, Value *before) {
    if (made->op == OP_TUPLE) return made->args[i];
    Value *item = value_new(func, OP_EXTRACT, made->span, &made, 1);
    item->imm.i = i;
    item->type = made->type->items[i];
    value_insert_before(before, item);
    return item;
}

static Value *new_object(Func *func, Span span, Value *made, Value *before) {
    uint32_t count = made->type->count;
    Value **args = ARENA_ARRAY(func->arena, Value *, count + 2);
    args[0] = made;
    args[1] = value_new(func, OP_CONST, span, NULL, 0);
    args[1]->konst = const_of(func->arena, type_object(func->types, TY_EXC_CLASS, made->type->object));
    args[1]->type = args[1]->konst->type;
    for (uint32_t i = 0; i < count; i++) args[2 + i] = item_of(func, made, i, before);
    Value *object = value_new(func, OP_CALL_FUNC, span, args, count + 2);
    object->imm.func = &func_info[FUNC_EXCEPTION_NEW].head;
    object->type = type_simple(func->types, TY_CAUGHT);
    value_insert_before(before, args[1]);
    value_insert_before(before, object);
    return object;
}

/* What is raised in two places, or from two, or where it may be caught, is the same exception each time. */
static void make_one(Program *program, Func *func) {
    uint8_t *uses = ARENA_ARRAY(program->arena, uint8_t, func->next_value);
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            Value *made = made_for(value);
            if (!made) continue;
            if (uses[made->id] < 2) uses[made->id]++;
            if (block_unwind(value->block) && made->block != value->block) uses[made->id] = 2;
            if (uses[made->id] == 2) made->flags |= VF_OBJECT, program->keeps_raised = true;
        }
    for (size_t b = 0; b < func->blocks.len; b++) {
        Value *last = func->blocks.data[b]->last, *made = made_for(last);
        if (made && last->op == OP_RAISE && made->flags & VF_OBJECT) /* from its first raise on */
            last->args[0] = new_object(func, last->span, made, last);
    }
}

/* ---- objects that a phi chooses ---- */

/* Exceptions that a variable has from a call, or from more than one place: what makes them, and the phis and casts on
 * the way. */
typedef struct Joined {
    Func *func;
    Values asks, values; /* `asks` raise one of `values`, or have the interpreter make it */
    Value **object;      /* by Value.id: one of `values`, while they are collected, then its object */
} Joined;

static bool is_made(const Type *type) {
    return type->kind == TY_EXC || (type->kind == TY_OPTIONAL && type->items[0]->kind == TY_EXC);
}

static bool is_way(const Value *value) { return value->op == OP_PHI || value->op == OP_CAST; }

static bool is_source(const Value *value) {
    return value->type->kind == TY_EXC && (value->op == OP_TUPLE || value->op == OP_CALL_INST);
}

static void join(Joined *joined, Value *value) {
    if (!is_made(value->type) || joined->object[value->id]) return;
    joined->object[value->id] = value;
    vec_push(joined->func->arena, &joined->values, value);
}

/* What a raised one may be; not, if one of that comes from where it has no object (a list, a caller). */
static void join_all(Joined *joined, Value *raised) {
    size_t before = joined->values.len;
    bool fine = true;
    join(joined, raised);
    for (size_t i = before; i < joined->values.len && fine; i++) {
        Value *value = joined->values.data[i];
        fine = is_way(value) || is_source(value) || value->op == OP_UNDEF;
        for (uint32_t k = 0; is_way(value) && k < value->nargs; k++) join(joined, value->args[k]);
    }
    for (; !fine && joined->values.len > before; joined->values.len--)
        joined->object[joined->values.data[joined->values.len - 1]->id] = NULL;
}

static void find_joined(Joined *joined) {
    Func *func = joined->func;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (asks_for_object(value) && value->args[0]->op != OP_TUPLE) join_all(joined, value->args[0]);
}

/* Whether one of them may be raised more than once: from two places, or where it may be caught. */
static bool comes_again(Joined *joined) {
    Func *func = joined->func;
    bool caught = false;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (!asks_for_object(value) || !joined->object[value->args[0]->id]) continue;
            caught |= block_unwind(value->block) != NULL;
            vec_push(func->arena, &joined->asks, value);
        }
    return caught || joined->asks.len > 1;
}

static const Type *object_type(Func *func, const Type *type) {
    const Type *caught = type_simple(func->types, TY_CAUGHT);
    return type->kind == TY_OPTIONAL ? type_optional(func->types, caught) : caught;
}

/* The object of an operand; what says that there is none stays. */
static Value *object_of(const Joined *joined, Value *value) {
    return is_made(value->type) ? joined->object[value->id] : value;
}

static void give_object(Joined *joined, Value *value) {
    Func *func = joined->func;
    Value *object;
    if (value->op == OP_PHI) {
        object = block_add_phi(func, value->block, value->span);
    } else if (is_source(value)) {
        object = new_object(func, value->span, value, value->next); /* as the interpreter does: it may raise here */
    } else {
        object = value_new(func, value->op, value->span, NULL, 0);
        object->flags = value->flags;
        value_insert_before(value->next, object);
    }
    object->type = object_type(func, value->type);
    object->name = value->name;
    joined->object[value->id] = object;
}

/* Such a variable has objects, each from where it is made on. */
static bool make_joined(Program *program, Func *func) {
    Joined joined = {.func = func, .object = ARENA_ARRAY(program->arena, Value *, func->next_value)};
    find_joined(&joined);
    if (!comes_again(&joined)) return false;
    for (size_t i = 0; i < joined.values.len; i++) give_object(&joined, joined.values.data[i]);
    for (size_t i = 0; i < joined.values.len; i++) {
        const Value *value = joined.values.data[i];
        Value **args = ARENA_ARRAY(func->arena, Value *, value->nargs + 1);
        for (uint32_t k = 0; is_way(value) && k < value->nargs; k++) args[k] = object_of(&joined, value->args[k]);
        if (is_way(value)) phi_set_args(func, joined.object[value->id], args, value->nargs);
    }
    for (size_t i = 0; i < joined.asks.len; i++) {
        Value *ask = joined.asks.data[i], *object = joined.object[ask->args[0]->id];
        if (ask->op == OP_RAISE) {
            ask->args[0] = object;
            continue;
        }
        value_replace(func, ask, object);
        value_remove(ask);
    }
    return program->keeps_raised = true;
}

/* What is caught and is asked nothing but its class and its text, or goes on by `raise` alone, is nowhere else. */
static void note_kept(Program *program, const Value *value) {
    switch (value->op) {
    case OP_MATCHES:
    case OP_CHAIN:
    case OP_RERAISE:
    case OP_IS:
    case OP_IS_NOT:
    case OP_TRUTH:
    case OP_NOT: return;
    default:
        if (asks_interpreter(value)) return;
    }
    for (uint32_t i = 0; i < value->nargs; i++)
        if (value->args[i]->op == OP_CAUGHT) value->args[i]->flags |= VF_OBJECT, program->keeps_raised = true;
}

bool pass_raises(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    Values raises = {0};
    bool changed = false;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            TRY(check_asked(program, inst, value));
            note_kept(program, value);
        }
    if (program->called_once && !inst->outlined) {
        changed = make_joined(program, func);
        make_one(program, func);
    }
    for (size_t b = 0; b < func->blocks.len; b++)
        if (func->blocks.data[b]->last->op == OP_RAISE) vec_push(program->arena, &raises, func->blocks.data[b]->last);
    for (size_t i = 0; i < raises.len && raises.len < MOST_RAISES; i++) {
        Value *chosen = raises.data[i]->nargs ? find_choice(raises.data[i]->args[0]) : NULL;
        Web web = {.func = func};
        if (!chosen) continue;
        web.place = ARENA_ARRAY(program->arena, uint32_t, func->next_value);
        if (!find_web(&web, chosen)) continue;
        number_phis(&web);
        choose(&web, raises.data[i], chosen, &raises);
        changed = true;
    }
    if (!changed) return true;
    func_remove_dead(func);
    func_compute_order(func);
    return true;
}
