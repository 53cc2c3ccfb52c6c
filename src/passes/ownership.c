/* ownership.c: places RETAIN and RELEASE, so that objects of the heap live as long as they are used.
 *
 * In: a typed program, unwinding where its handlers say so.  Out: where it makes objects, VF_OWNED on what gives or
 * takes a reference, RETAIN where one more is needed, RELEASE where an owner (owners.h) is used for the last time, on
 * every way: along raise edges too, through blocks that clean up.
 *
 * After Perceus (Reinking, Xie, de Moura, Leijen 2021) and mypyc: parameters are borrowed; RETURN, phis and cells take
 * a reference over, that of an owner used here for the last time, else a new one.  A block is walked backward with the
 * set of owners live behind each value: one that is used and not in the set dies there.  On an edge die the owners that
 * live at the end of the block and not along that edge.
 *
 * What raises loses the owners live before it, unless they live in the handler (ways_out.c).
 *
 * A program that makes no objects and is given none stays as it is. */
#include "passes/ownership.h"
#include "passes/private.h"

#include <string.h> /* memcpy */

uint64_t *ownership_set(const Placing *p) { return ARENA_ARRAY(p->arena, uint64_t, p->owners.words); }

static bool raises(const Value *value) { return value_effects(value, true) & EFFECT_RAISE; }

Value *ownership_count(Placing *p, Op op, Span span, Value *of) {
    Value *value = value_new(p->func, op, span, &of, 1);
    value->type = p->none;
    return value;
}

/* The operand whose reference the value takes over; NULL: none. */
static Value *taken_by(const Value *value) {
    Value *taken = NULL;
    if (value->op == OP_RETURN || (value->op == OP_CELL && value->nargs)) taken = value->args[0];
    if (value->op == OP_CELL_SET) taken = value->args[1];
    return taken && type_is_counted(taken->type) ? taken : NULL;
}

/* The first of two strings that are joined: its reference goes with it where it is used for the last time. */
static Value *grown_by(const Value *value) { return value_calls(value, FUNC_JOINED) ? value->args[0] : NULL; }

/* Whether a function has references to count: those it makes, and those taken over of what it borrows. */
static bool counts(const Placing *p) {
    bool any = p->owners.values.len > 0;
    for (size_t b = 0; b < p->func->blocks.len && !any; b++)
        for (const Value *value = p->func->blocks.data[b]->first; value && !any; value = value->next)
            any = taken_by(value) != NULL;
    return any;
}

static void mark_owners(const Placing *p) {
    for (size_t i = 0; i < p->owners.values.len; i++) p->owners.values.data[i]->flags |= VF_OWNED;
    for (size_t b = 0; b < p->func->blocks.len; b++)
        for (Value *value = p->func->blocks.data[b]->first; value; value = value->next)
            if (taken_by(value)) value->flags |= VF_OWNED;
}

/* ---- inside a block ---- */

/* `owner` dies at a value, behind all parameters if that is one; behind the end of a block there is nothing. */
static void release_at(Placing *p, Value *at, uint32_t owner) {
    Value *release = ownership_count(p, OP_RELEASE, at->span, p->owners.values.data[owner]);
    while (at->op == OP_PARAM && at->next && at->next->op == OP_PARAM) at = at->next;
    if (at->next)
        value_insert_before(at->next, release);
    else if (at->op == OP_RETURN)
        value_insert_before(at, release);
}

/* Adds to the live ones; those that were not are used for the last time. */
static void use(Placing *p, Value *at, const uint64_t *used, uint64_t *live, uint32_t moved) {
    for (uint32_t owner = owners_next(&p->owners, used, 0); owner != OWNERS_END;
         owner = owners_next(&p->owners, used, owner + 1)) {
        if (owners_bit(live, owner)) continue;
        owners_add(live, owner);
        if (owner + 1 != moved) release_at(p, at, owner);
    }
}

/* What the value, or the handler of what it raises, uses; false: nothing, and `used` is as it was. */
static bool find_used(const Placing *p, const Value *value, const uint64_t *handled, uint64_t *used) {
    bool any = handled != NULL;
    for (uint32_t i = 0; i < value->nargs && !any; i++) any = owners_held(&p->owners, value->args[i]).count > 0;
    if (!any) return false;
    for (size_t w = 0; w < p->owners.words; w++) used[w] = handled ? handled[w] : 0;
    for (uint32_t i = 0; i < value->nargs; i++) {
        OwnerSet held = owners_held(&p->owners, value->args[i]);
        for (uint32_t k = 0; k < held.count; k++) owners_add(used, held.items[k]);
    }
    return true;
}

/* One value on the walk backward. */
static void place_at(Placing *p, Value *value, const uint64_t *handled, uint64_t *live, uint64_t *used) {
    uint32_t own = owners_number(&p->owners, value);
    if (own && !owners_bit(live, own - 1)) release_at(p, value, own - 1);
    if (own) owners_drop(live, own - 1);
    bool may_raise = raises(value);
    bool uses = find_used(p, value, may_raise ? handled : NULL, used);
    Value *taken = taken_by(value), *grown = grown_by(value);
    uint32_t moved = taken || grown ? owners_number(&p->owners, taken ? taken : grown) : 0;
    if (moved && owners_bit(live, moved - 1)) moved = 0;
    if (grown && moved) value->imm.func = &func_info[FUNC_GROWN].head;
    if (uses) use(p, value, used, live, moved);
    if (taken && !moved) {
        Value *before = value; /* what a return releases stands before it already */
        while (value->op == OP_RETURN && before->prev && before->prev->op == OP_RELEASE &&
               before->prev->id >= p->owners.nvalues)
            before = before->prev;
        value_insert_before(before, ownership_count(p, OP_RETAIN, value->span, taken));
    }
    if (may_raise) memcpy(p->lost[value->id] = ownership_set(p), live, p->owners.words * sizeof *live);
}

static void place_in_block(Placing *p, Block *block) {
    uint64_t *live = ownership_set(p), *used = ownership_set(p), *handled = block->unwinds ? ownership_set(p) : NULL;
    for (size_t s = 0; s < block_normal_succs(block); s++)
        owners_live_along(&p->owners, block->succs.data[s], owners_edge(block, s), live);
    if (handled) owners_live_along(&p->owners, block_unwind(block), owners_edge(block, block->succs.len - 1), handled);
    Value *value = block->last;
    for (Value *prev; value && value->op != OP_PHI; value = prev) {
        prev = value->prev;
        place_at(p, value, handled, live, used);
    }
    Value *behind = value ? value->next : block->first; /* the phis */
    for (; value; value = value->prev) {
        uint32_t own = owners_number(&p->owners, value);
        if (!own || owners_bit(live, own - 1)) continue;
        value_insert_before(behind, ownership_count(p, OP_RELEASE, value->span, value));
    }
}

/* ---- on edges ---- */

/* The references for phis on an edge where `live` are live before it, and what dies there. */
uint64_t *ownership_retains(Placing *p, const Block *to, Value *const *phi_args, const uint64_t *live,
                            ValueList *code) {
    uint64_t *dies = ownership_set(p);
    for (size_t w = 0; w < p->owners.words; w++) dies[w] = live[w] & ~p->owners.live_in[to->order][w];
    for (Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next) {
        Value *arg = *phi_args++;
        uint32_t number = owners_number(&p->owners, arg);
        if (!owners_number(&p->owners, phi)) continue;
        if (number && owners_bit(dies, number - 1)) {
            owners_drop(dies, number - 1);
            continue;
        }
        vec_push(p->arena, code, ownership_count(p, OP_RETAIN, phi->span, arg));
    }
    return dies;
}

/* All that happens on such an edge. */
static bool edge_code(Placing *p, const Block *to, Value *const *phi_args, const uint64_t *live, ValueList *code) {
    const uint64_t *dies = ownership_retains(p, to, phi_args, live, code);
    bool retains = code->len > 0;
    for (uint32_t owner = owners_next(&p->owners, dies, 0); owner != OWNERS_END;
         owner = owners_next(&p->owners, dies, owner + 1))
        vec_push(p->arena, code, ownership_count(p, OP_RELEASE, to->first->span, p->owners.values.data[owner]));
    return retains;
}

Value **ownership_args(Placing *p, const Block *to, size_t pred) {
    ValueList args = {0};
    for (const Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next)
        vec_push(p->arena, &args, phi->args[pred]);
    return args.data;
}

/* An empty block on its way to nowhere yet. */
Block *ownership_block(Placing *p, Span span, Op end) {
    Block *block = block_new(p->func);
    block_append(p->func, block, end, span, NULL, 0)->type = p->none;
    return block;
}

void ownership_insert(Value *before, const ValueList *code) {
    for (size_t i = 0; i < code->len; i++) value_insert_before(before, code->data[i]);
}

static void place_on_edge(Placing *p, Block *from, size_t succ, const uint64_t *live) {
    Block *to = from->succs.data[succ];
    size_t pred = owners_edge(from, succ);
    ValueList code = {0};
    bool retains = edge_code(p, to, ownership_args(p, to, pred), live, &code);
    if (!code.len) return;
    if (block_normal_succs(from) == 1) {
        ownership_insert(from->last, &code);
    } else if (to->preds.len == 1 && !retains) {
        Value *first = to->first;
        while (first->op == OP_PHI) first = first->next;
        ownership_insert(first, &code);
    } else {
        Block *between = ownership_block(p, from->last->span, OP_JUMP);
        ownership_insert(between->last, &code);
        vec_push(p->func->arena, &between->succs, to);
        vec_push(p->func->arena, &between->preds, from);
        to->preds.data[pred] = between;
        from->succs.data[succ] = between;
    }
}

static void place_on_edges(Placing *p, Block *block) {
    uint64_t *live = ownership_set(p);
    for (size_t s = 0; s < block_normal_succs(block); s++)
        owners_live_along(&p->owners, block->succs.data[s], owners_edge(block, s), live);
    for (size_t s = 0; s < block_normal_succs(block); s++) place_on_edge(p, block, s, live);
}

/* ---- all of it ---- */

/* Raise edges that nothing goes along would keep owners alive. */
static void drop_raise_edges(Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        const Value *value = block->unwinds ? block->first : NULL;
        while (value && !raises(value)) value = value->next;
        if (block->unwinds && !value) block_set_unwind(func, block, NULL);
    }
}

static bool place(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    Placing p = {.arena = program->arena, .func = func, .none = type_simple(program->types, TY_NONE)};
    drop_raise_edges(func);
    TRY(owners_find(&p.owners, program->arena, func, program->diag));
    if (!counts(&p) && !func->generator) return true;
    mark_owners(&p);
    p.lost = ARENA_ARRAY(program->arena, uint64_t *, func->next_value);
    size_t nblocks = func->blocks.len;
    for (size_t b = 0; b < nblocks; b++) place_in_block(&p, func->blocks.data[b]);
    for (size_t b = 0; b < nblocks; b++) place_on_edges(&p, func->blocks.data[b]);
    ownership_ways_out(&p, nblocks);
    func_compute_order(func);
    func_renumber(func);
    return true;
}

/* Arrays that came from Python have no counts; lists and the like are objects wherever they came from. */
static bool holds_list(const Type *type) {
    if (type_is_object(type)) return true;
    for (uint32_t i = 0; i < type->count; i++)
        if (holds_list(type->items[i])) return true;
    return false;
}

static bool has_objects(const FuncInst *inst) {
    const Func *func = inst->func;
    if (func->generator) return true;
    for (uint32_t i = 0; i < inst->untyped->nparams; i++)
        if (holds_list(inst->types[i])) return true;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value_effects(value, true) & EFFECT_NEW) return true;
    return false;
}

bool pass_ownership(Program *program) {
    bool any = false;
    for (size_t i = 0; i < program->count && !any; i++) any = has_objects(program->insts[i]);
    for (size_t i = 0; any && i < program->count; i++) TRY(place(program, program->insts[i]));
    return true;
}
