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
 * What raises loses the owners live before it, unless they live in the handler.  A block where that set changes between
 * two values that may raise is split; each part unwinds to a chain of blocks that releases its set, one owner a block,
 * the youngest first.  Sets share as much of the way out as they can, or the blocks of n objects that live at a time
 * would be their square: where the nearest part before or behind that loses fewer loses nothing else, a part releases
 * what is more and goes on there (the one before while objects are made, the one behind while they die); of others
 * those with a common beginning share the rest.
 *
 * A program that makes no objects and is given none stays as it is. */
#include "passes/owners.h"
#include "passes/private.h"

#include <string.h> /* memcpy */

typedef struct Way { /* into a handler, for parts of blocks that give its phis the same values */
    Block *handler;
    Value **phi_args;
} Way;

typedef struct Cleanup { /* releases an owner and then what `rest` releases */
    const Way *way;      /* where it goes at last; NULL: out of the function */
    const struct Cleanup *rest;
    uint32_t owner;
    Block *block;
} Cleanup;

typedef VEC(Value *) ValueList;

typedef struct Placing {
    Arena *arena;
    Func *func;
    const Type *none;
    Owners owners;
    uint64_t **lost; /* by Value.id: owners live before what may raise; NULL: it may not */
    VEC(Cleanup *) cleanups;
    HashIndex index;         /* of these, by what they release */
    struct Stretch **losing; /* parts by how many owners they lose, while ways out are found; else NULL each */
} Placing;

static uint64_t *new_set(const Placing *p) { return ARENA_ARRAY(p->arena, uint64_t, p->owners.words); }

static bool raises(const Value *value) { return value_effects(value, true) & EFFECT_RAISE; }

static Value *new_count(Placing *p, Op op, Span span, Value *of) {
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
    Value *release = new_count(p, OP_RELEASE, at->span, p->owners.values.data[owner]);
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
        value_insert_before(before, new_count(p, OP_RETAIN, value->span, taken));
    }
    if (may_raise) memcpy(p->lost[value->id] = new_set(p), live, p->owners.words * sizeof *live);
}

static void place_in_block(Placing *p, Block *block) {
    uint64_t *live = new_set(p), *used = new_set(p), *handled = block->unwinds ? new_set(p) : NULL;
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
        value_insert_before(behind, new_count(p, OP_RELEASE, value->span, value));
    }
}

/* ---- on edges ---- */

/* The references for phis on an edge where `live` are live before it, and what dies there. */
static uint64_t *edge_retains(Placing *p, const Block *to, Value *const *phi_args, const uint64_t *live,
                              ValueList *code) {
    uint64_t *dies = new_set(p);
    for (size_t w = 0; w < p->owners.words; w++) dies[w] = live[w] & ~p->owners.live_in[to->order][w];
    for (Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next) {
        Value *arg = *phi_args++;
        uint32_t number = owners_number(&p->owners, arg);
        if (!owners_number(&p->owners, phi)) continue;
        if (number && owners_bit(dies, number - 1)) {
            owners_drop(dies, number - 1);
            continue;
        }
        vec_push(p->arena, code, new_count(p, OP_RETAIN, phi->span, arg));
    }
    return dies;
}

/* All that happens on such an edge. */
static bool edge_code(Placing *p, const Block *to, Value *const *phi_args, const uint64_t *live, ValueList *code) {
    const uint64_t *dies = edge_retains(p, to, phi_args, live, code);
    bool retains = code->len > 0;
    for (uint32_t owner = owners_next(&p->owners, dies, 0); owner != OWNERS_END;
         owner = owners_next(&p->owners, dies, owner + 1))
        vec_push(p->arena, code, new_count(p, OP_RELEASE, to->first->span, p->owners.values.data[owner]));
    return retains;
}

static Value **args_along(Placing *p, const Block *to, size_t pred) {
    ValueList args = {0};
    for (const Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next)
        vec_push(p->arena, &args, phi->args[pred]);
    return args.data;
}

/* An empty block on its way to nowhere yet. */
static Block *edge_block(Placing *p, Span span, Op end) {
    Block *block = block_new(p->func);
    block_append(p->func, block, end, span, NULL, 0)->type = p->none;
    return block;
}

static void insert_all(Value *before, const ValueList *code) {
    for (size_t i = 0; i < code->len; i++) value_insert_before(before, code->data[i]);
}

static void place_on_edge(Placing *p, Block *from, size_t succ, const uint64_t *live) {
    Block *to = from->succs.data[succ];
    size_t pred = owners_edge(from, succ);
    ValueList code = {0};
    bool retains = edge_code(p, to, args_along(p, to, pred), live, &code);
    if (!code.len) return;
    if (block_normal_succs(from) == 1) {
        insert_all(from->last, &code);
    } else if (to->preds.len == 1 && !retains) {
        Value *first = to->first;
        while (first->op == OP_PHI) first = first->next;
        insert_all(first, &code);
    } else {
        Block *between = edge_block(p, from->last->span, OP_JUMP);
        insert_all(between->last, &code);
        vec_push(p->func->arena, &between->succs, to);
        vec_push(p->func->arena, &between->preds, from);
        to->preds.data[pred] = between;
        from->succs.data[succ] = between;
    }
}

static void place_on_edges(Placing *p, Block *block) {
    uint64_t *live = new_set(p);
    for (size_t s = 0; s < block_normal_succs(block); s++)
        owners_live_along(&p->owners, block->succs.data[s], owners_edge(block, s), live);
    for (size_t s = 0; s < block_normal_succs(block); s++) place_on_edge(p, block, s, live);
}

/* ---- where raises go ---- */

/* One more predecessor of the handler, with these operands of its phis. */
static void enter_handler(Placing *p, Block *from, Block *handler, Value *const *phi_args, bool raised) {
    if (raised)
        block_set_unwind(p->func, from, handler);
    else
        block_add_edge(p->func, from, handler);
    for (Value *phi = handler->first; phi && phi->op == OP_PHI; phi = phi->next) {
        Value **args = ARENA_ARRAY(p->func->arena, Value *, phi->nargs + 1);
        memcpy(args, phi->args, phi->nargs * sizeof *args);
        args[phi->nargs] = *phi_args++;
        phi_set_args(p->func, phi, args, phi->nargs + 1);
    }
}

static Cleanup *cleanup_of(Placing *p, const Way *way, const Cleanup *rest, uint32_t owner) {
    uint64_t hash = hash_mix(hash_mix(hash_mix(0, (uint64_t)(uintptr_t)way), (uint64_t)(uintptr_t)rest), owner);
    for (uint32_t i = hash_index_first(&p->index, hash); i != HASH_INDEX_END; i = hash_index_next(&p->index, i)) {
        Cleanup *known = p->cleanups.data[i];
        if (known->way == way && known->rest == rest && known->owner == owner) return known;
    }
    Cleanup *cleanup = ARENA_NEW(p->arena, Cleanup);
    Value *of = p->owners.values.data[owner];
    *cleanup = (Cleanup){way, rest, owner, edge_block(p, of->span, way || rest ? OP_JUMP : OP_RESUME)};
    value_insert_before(cleanup->block->last, new_count(p, OP_RELEASE, of->span, of));
    if (rest)
        block_add_edge(p->func, cleanup->block, rest->block);
    else if (way)
        enter_handler(p, cleanup->block, way->handler, way->phi_args, false);
    vec_push(p->arena, &p->cleanups, cleanup);
    hash_index_add(&p->index, p->arena, hash);
    return cleanup;
}

/* What stands from `at` on goes to a block of its own. */
static Block *split_before(Placing *p, Value *at) {
    Block *block = at->block, *rest = block_new(p->func);
    rest->first = at;
    rest->last = block->last;
    rest->succs = block->succs;
    block->last = at->prev;
    block->last->next = NULL;
    at->prev = NULL;
    block->succs = (BlockList){0};
    for (Value *value = at; value; value = value->next) value->block = rest;
    for (size_t s = 0; s < rest->succs.len; s++)
        for (size_t i = 0; i < rest->succs.data[s]->preds.len; i++)
            if (rest->succs.data[s]->preds.data[i] == block) rest->succs.data[s]->preds.data[i] = rest;
    block_jump(p->func, block, at->span, rest);
    block->last->type = p->none;
    return rest;
}

/* Part of a block in which the same owners are lost wherever something is raised. */
typedef struct Stretch {
    Value *first;
    const uint64_t *lost; /* less what the phis of a handler take over */
    uint32_t nlost;
    ValueList retains;               /* for the phis of a handler, before anything is released */
    const Cleanup *out;              /* NULL: nothing is lost */
    struct Stretch *before, *behind; /* the nearest that lose fewer; NULL: none */
    struct Stretch *alike;           /* another that loses as many */
} Stretch;

typedef VEC(Stretch) Stretches;

static uint32_t count_lost(const Placing *p, const uint64_t *lost) {
    uint32_t count = 0;
    for (size_t w = 0; w < p->owners.words; w++) count += (uint32_t)__builtin_popcountll(lost[w]);
    return count;
}

static void find_parts(Placing *p, const Block *block, const Way *way, Stretches *parts) {
    const uint64_t *lost = NULL;
    for (Value *value = block->first; value; value = value->next) {
        const uint64_t *here = value->id < p->owners.nvalues ? p->lost[value->id] : NULL;
        if (!here || (lost && memcmp(lost, here, p->owners.words * sizeof *here) == 0)) continue;
        Stretch part = {.first = lost ? value : block->first, .lost = here};
        if (way) part.lost = edge_retains(p, way->handler, way->phi_args, here, &part.retains);
        part.nlost = count_lost(p, part.lost);
        vec_push(p->arena, parts, part);
        lost = here;
    }
}

static void find_neighbours(Stretches *parts) {
    Stretch *all = parts->data;
    for (size_t i = 0; i < parts->len; i++) {
        Stretch *before = i ? &all[i - 1] : NULL;
        while (before && before->nlost >= all[i].nlost) before = before->before;
        all[i].before = before;
    }
    for (size_t i = parts->len; i-- > 0;) {
        Stretch *behind = i + 1 < parts->len ? &all[i + 1] : NULL;
        while (behind && behind->nlost >= all[i].nlost) behind = behind->behind;
        all[i].behind = behind;
    }
}

static bool loses_all_of(const Placing *p, const Stretch *part, const Stretch *of) {
    bool all = of != NULL;
    for (size_t w = 0; w < p->owners.words && all; w++) all = !(of->lost[w] & ~part->lost[w]);
    return all;
}

static void find_way_out(Placing *p, const Way *way, Stretch *part) {
    const Stretch *next = loses_all_of(p, part, part->before) ? part->before : NULL;
    bool longer = part->behind && (!next || part->behind->nlost > next->nlost);
    if (longer && loses_all_of(p, part, part->behind)) next = part->behind;
    part->out = next ? next->out : NULL;
    for (uint32_t owner = owners_next(&p->owners, part->lost, 0); owner != OWNERS_END;
         owner = owners_next(&p->owners, part->lost, owner + 1))
        if (!next || !owners_bit(next->lost, owner)) part->out = cleanup_of(p, way, part->out, owner);
}

/* Of parts that go the same way.  Those that lose fewer first: others go on there. */
static void find_ways_out(Placing *p, const Way *way, Stretches *parts) {
    uint32_t most = 0;
    for (size_t i = 0; i < parts->len; i++)
        if (parts->data[i].nlost > most) most = parts->data[i].nlost;
    find_neighbours(parts);
    for (size_t i = parts->len; i-- > 0;) {
        Stretch *part = &parts->data[i];
        part->alike = p->losing[part->nlost];
        p->losing[part->nlost] = part;
    }
    for (size_t n = 0; n <= most; n++) {
        for (Stretch *part = p->losing[n]; part; part = part->alike) find_way_out(p, way, part);
        p->losing[n] = NULL;
    }
}

static void unwind_part(Placing *p, Block *part, const Way *way, const Stretch *stretch) {
    Block *from = part;
    if (stretch->retains.len) {
        from = edge_block(p, part->last->span, OP_JUMP);
        insert_all(from->last, &stretch->retains);
        block_set_unwind(p->func, part, from);
    }
    if (!stretch->out && way)
        enter_handler(p, from, way->handler, way->phi_args, from == part);
    else if (from == part)
        block_set_unwind(p->func, part, stretch->out ? stretch->out->block : NULL);
    else
        block_add_edge(p->func, from, stretch->out->block);
}

/* The parts of a block, each with its way.  The last is taken off first: no value changes its block twice. */
static void unwind_parts(Placing *p, Block *block, const Way *way, const Stretch *parts, size_t nparts) {
    block_set_unwind(p->func, block, NULL);
    for (size_t i = nparts; i-- > 0;) unwind_part(p, i ? split_before(p, parts[i].first) : block, way, &parts[i]);
}

static bool same_way(const Way *a, const Way *b) {
    bool same = a->handler == b->handler;
    const Value *phi = a->handler->first;
    for (size_t i = 0; same && phi && phi->op == OP_PHI; phi = phi->next, i++) same = a->phi_args[i] == b->phi_args[i];
    return same;
}

/* Into which handler what a block raises goes, `last` if that is the same way; NULL: out of the function. */
static const Way *find_way(Placing *p, const Block *block, const Way *last) {
    Block *handler = block_unwind(block);
    if (!handler) return NULL;
    Way *way = ARENA_NEW(p->arena, Way);
    *way = (Way){handler, args_along(p, handler, owners_edge(block, block->succs.len - 1))};
    return last && same_way(last, way) ? last : way;
}

/* Parts of blocks that follow each other, but for blocks that go other ways, share what they release. */
typedef struct Group {
    const Way *way;
    Stretches parts;
    size_t done;
} Group;

static void place_on_raises(Placing *p, size_t nblocks) {
    VEC(Group) groups = {0};
    size_t *group = ARENA_ARRAY(p->arena, size_t, nblocks), *nparts = ARENA_ARRAY(p->arena, size_t, nblocks);
    vec_push(p->arena, &groups, ((Group){0})); /* of those without a handler */
    for (size_t b = 0; b < nblocks; b++) {
        const Block *block = p->func->blocks.data[b];
        const Way *last = groups.data[groups.len - 1].way, *way = find_way(p, block, last);
        if (way && way != last) vec_push(p->arena, &groups, ((Group){.way = way}));
        group[b] = way ? groups.len - 1 : 0;
        Stretches *parts = &groups.data[group[b]].parts;
        size_t before = parts->len;
        find_parts(p, block, way, parts);
        nparts[b] = parts->len - before;
    }
    p->losing = ARENA_ARRAY(p->arena, Stretch *, p->owners.values.len + 1);
    for (size_t g = 0; g < groups.len; g++) find_ways_out(p, groups.data[g].way, &groups.data[g].parts);
    for (size_t b = 0; b < nblocks; b++) {
        Group *of = &groups.data[group[b]];
        unwind_parts(p, p->func->blocks.data[b], of->way, &of->parts.data[of->done], nparts[b]);
        of->done += nparts[b];
    }
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
    place_on_raises(&p, nblocks);
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
