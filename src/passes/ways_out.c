/* ways_out.c: on the way out of a function or into a handler, what raises releases what it loses.
 *
 * In: a function whose normal ways count their references, and the owners live before each value that may raise.  Out:
 * raise edges that lead through blocks that clean up.
 *
 * A block where the set of owners that are lost changes between two values that may raise is split; each part unwinds
 * to a chain of blocks that releases its set, one owner a block, the youngest first.  Sets share as much of the way out
 * as they can, or the blocks of n objects that live at a time would be their square: where the nearest part before or
 * behind that loses fewer loses nothing else, a part releases what is more and goes on there (the one before while
 * objects are made, the one behind while they die); of others those with a common beginning share the rest.
 *
 * What the phis of a handler get comes along: where ways that join in a chain bring several values, the block has a phi
 * of its own, whose value goes on to the handler.  References that a phi takes over are taken at the beginning. */
#include "passes/ownership.h"

#include <string.h> /* memcmp */

typedef VEC(Value **) Entries; /* for each edge that leads there, what the phis of the handler get */

typedef struct Way { /* into a handler */
    Block *handler;
    size_t nphis;
    bool *raised; /* by number of its predecessor: that edge was a raise edge, and is gone */
    Entries entries;
} Way;

typedef struct Cleanup { /* releases an owner and then what `rest` releases */
    Way *way;            /* where it goes at last; NULL: out of the function */
    struct Cleanup *rest;
    uint32_t owner;
    Block *block;
    Entries entries;
} Cleanup;

/* Part of a block in which the same owners are lost wherever something is raised. */
typedef struct Stretch {
    Value *first;
    const uint64_t *lost; /* less what the phis of a handler take over */
    uint32_t nlost;
    ValueList retains;               /* for the phis of a handler, before anything is released */
    Cleanup *out;                    /* NULL: nothing is lost */
    struct Stretch *before, *behind; /* the nearest that lose fewer; NULL: none */
    struct Stretch *alike;           /* another that loses as many */
} Stretch;

typedef VEC(Stretch) Stretches;

typedef struct Group { /* parts that go the same way, in the order of the function */
    Way *way;          /* NULL: out of the function */
    Stretches parts;
    size_t done;
} Group;

typedef struct Leaving {
    Placing *p;
    VEC(Cleanup *) cleanups;
    HashIndex index; /* of these, by what they release */
    VEC(Group) groups;
    size_t *group_of; /* by Block.order of a handler: 1 + its group; 0: none yet */
    Stretch **losing; /* parts by how many owners they lose, while ways out are found; else NULL each */
} Leaving;

/* ---- parts of blocks ---- */

static uint32_t count_lost(const Placing *p, const uint64_t *lost) {
    uint32_t count = 0;
    for (size_t w = 0; w < p->owners.words; w++) count += (uint32_t)__builtin_popcountll(lost[w]);
    return count;
}

static void find_parts(Placing *p, const Block *block, const Way *way, Value *const *args, Stretches *parts) {
    const uint64_t *lost = NULL;
    for (Value *value = block->first; value; value = value->next) {
        const uint64_t *here = value->id < p->owners.nvalues ? p->lost[value->id] : NULL;
        if (!here || (lost && memcmp(lost, here, p->owners.words * sizeof *here) == 0)) continue;
        Stretch part = {.first = lost ? value : block->first, .lost = here};
        if (way) part.lost = ownership_retains(p, way->handler, args, here, &part.retains);
        part.nlost = count_lost(p, part.lost);
        vec_push(p->arena, parts, part);
        lost = here;
    }
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

/* ---- what they release ---- */

static Cleanup *cleanup_of(Leaving *l, Way *way, Cleanup *rest, uint32_t owner) {
    Placing *p = l->p;
    uint64_t hash = hash_mix(hash_mix(hash_mix(0, (uint64_t)(uintptr_t)way), (uint64_t)(uintptr_t)rest), owner);
    for (uint32_t i = hash_index_first(&l->index, hash); i != HASH_INDEX_END; i = hash_index_next(&l->index, i)) {
        Cleanup *known = l->cleanups.data[i];
        if (known->way == way && known->rest == rest && known->owner == owner) return known;
    }
    Cleanup *cleanup = ARENA_NEW(p->arena, Cleanup);
    Value *of = p->owners.values.data[owner];
    *cleanup = (Cleanup){way, rest, owner, ownership_block(p, of->span, way || rest ? OP_JUMP : OP_RESUME), {0}};
    value_insert_before(cleanup->block->last, ownership_count(p, OP_RELEASE, of->span, of));
    vec_push(p->arena, &l->cleanups, cleanup);
    hash_index_add(&l->index, p->arena, hash);
    return cleanup;
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

static void find_way_out(Leaving *l, Way *way, Stretch *part) {
    const Stretch *next = loses_all_of(l->p, part, part->before) ? part->before : NULL;
    bool longer = part->behind && (!next || part->behind->nlost > next->nlost);
    if (longer && loses_all_of(l->p, part, part->behind)) next = part->behind;
    part->out = next ? next->out : NULL;
    for (uint32_t owner = owners_next(&l->p->owners, part->lost, 0); owner != OWNERS_END;
         owner = owners_next(&l->p->owners, part->lost, owner + 1))
        if (!next || !owners_bit(next->lost, owner)) part->out = cleanup_of(l, way, part->out, owner);
}

/* Of parts that go the same way.  Those that lose fewer first: others go on there. */
static void find_ways_out(Leaving *l, Way *way, Stretches *parts) {
    uint32_t most = 0;
    for (size_t i = 0; i < parts->len; i++)
        if (parts->data[i].nlost > most) most = parts->data[i].nlost;
    find_neighbours(parts);
    for (size_t i = parts->len; i-- > 0;) {
        Stretch *part = &parts->data[i];
        part->alike = l->losing[part->nlost];
        l->losing[part->nlost] = part;
    }
    for (size_t n = 0; n <= most; n++) {
        for (Stretch *part = l->losing[n]; part; part = part->alike) find_way_out(l, way, part);
        l->losing[n] = NULL;
    }
}

/* ---- edges ---- */

static Way *new_way(const Placing *p, Block *handler) {
    Way *way = ARENA_NEW(p->arena, Way);
    *way = (Way){.handler = handler, .raised = ARENA_ARRAY(p->arena, bool, handler->preds.len)};
    for (const Value *phi = handler->first; phi && phi->op == OP_PHI; phi = phi->next) way->nphis++;
    return way;
}

/* That of the parts of a block. */
static size_t group_of(Leaving *l, const Block *block) {
    const Block *handler = block_unwind(block);
    if (!handler) return 0;
    size_t *known = &l->group_of[handler->order];
    if (!*known) {
        vec_push(l->p->arena, &l->groups, ((Group){.way = new_way(l->p, block_unwind(block))}));
        *known = l->groups.len;
    }
    return *known - 1;
}

/* The raise edge of a block goes, and leaves what it brought to the phis of the handler. */
static Value **leave_edge(Placing *p, Block *block, const Way *way) {
    if (!way) return NULL;
    size_t pred = owners_edge(block, block->succs.len - 1);
    way->raised[pred] = true;
    Value **args = ownership_args(p, way->handler, pred);
    block->succs.len--;
    block->unwinds = false;
    return args;
}

static void drop_raise_edges(const Way *way) {
    Block *handler = way->handler;
    size_t npreds = handler->preds.len, kept = 0;
    for (size_t i = 0; i < npreds; i++) {
        if (way->raised[i]) continue;
        handler->preds.data[kept] = handler->preds.data[i];
        for (Value *phi = handler->first; phi && phi->op == OP_PHI; phi = phi->next) phi->args[kept] = phi->args[i];
        kept++;
    }
    handler->preds.len = kept;
    for (Value *phi = handler->first; phi && phi->op == OP_PHI; phi = phi->next) phi->nargs = (uint32_t)kept;
}

/* An edge from `from`, a raise edge if it is `part`, to where the releases begin, or to the handler. */
static void leave_part(Placing *p, Block *part, Way *way, Value **args, const Stretch *stretch) {
    Block *from = part, *to = stretch->out ? stretch->out->block : way ? way->handler : NULL;
    if (stretch->retains.len) {
        from = ownership_block(p, part->last->span, OP_JUMP);
        ownership_insert(from->last, &stretch->retains);
        block_set_unwind(p->func, part, from);
        block_add_edge(p->func, from, to);
    } else {
        block_set_unwind(p->func, part, to);
    }
    if (way) vec_push(p->arena, stretch->out ? &stretch->out->entries : &way->entries, args);
}

/* What those that come into a block bring: the one value, or a phi of them, like the handler's. */
static Value *join(Placing *p, Block *block, const Value *like, const Entries *entries, size_t number) {
    bool several = false;
    for (size_t i = 1; i < entries->len && !several; i++)
        several = entries->data[i][number] != entries->data[0][number];
    if (!several) return entries->data[0][number];
    Value **args = ARENA_ARRAY(p->arena, Value *, entries->len);
    for (size_t i = 0; i < entries->len; i++) args[i] = entries->data[i][number];
    Value *phi = block_add_phi(p->func, block, like->span);
    phi->type = like->type;
    phi->flags = like->flags;
    phi->name = like->name;
    phi_set_args(p->func, phi, args, entries->len);
    return phi;
}

/* When all edges that lead to it are known. */
static void leave_cleanup(Placing *p, Cleanup *cleanup) {
    Way *way = cleanup->way;
    Block *to = cleanup->rest ? cleanup->rest->block : way ? way->handler : NULL;
    if (to) block_add_edge(p->func, cleanup->block, to);
    if (!way) return;
    Value **args = ARENA_ARRAY(p->arena, Value *, way->nphis);
    const Value *phi = way->handler->first;
    for (size_t i = 0; i < way->nphis; i++, phi = phi->next)
        args[i] = join(p, cleanup->block, phi, &cleanup->entries, i);
    vec_push(p->arena, cleanup->rest ? &cleanup->rest->entries : &way->entries, args);
}

/* The phis of a handler get what came behind the edges that were kept. */
static void enter_handler(Placing *p, const Way *way) {
    size_t number = 0, count = way->handler->preds.len, kept = count - way->entries.len;
    for (Value *phi = way->handler->first; phi && phi->op == OP_PHI; phi = phi->next, number++) {
        Value **args = ARENA_ARRAY(p->arena, Value *, count);
        for (size_t i = 0; i < count; i++) args[i] = i < kept ? phi->args[i] : way->entries.data[i - kept][number];
        phi_set_args(p->func, phi, args, count);
    }
}

void ownership_ways_out(Placing *p, size_t nblocks) {
    Leaving l = {.p = p, .group_of = ARENA_ARRAY(p->arena, size_t, nblocks)};
    size_t *group = ARENA_ARRAY(p->arena, size_t, nblocks), *nparts = ARENA_ARRAY(p->arena, size_t, nblocks);
    Value ***args = ARENA_ARRAY(p->arena, Value **, nblocks);
    vec_push(p->arena, &l.groups, ((Group){0})); /* of those without a handler */
    for (size_t b = 0; b < nblocks; b++) {
        Block *block = p->func->blocks.data[b];
        group[b] = group_of(&l, block);
        Group *of = &l.groups.data[group[b]];
        size_t before = of->parts.len;
        args[b] = leave_edge(p, block, of->way);
        find_parts(p, block, of->way, args[b], &of->parts);
        nparts[b] = of->parts.len - before;
    }
    l.losing = ARENA_ARRAY(p->arena, Stretch *, p->owners.values.len + 1);
    for (size_t g = 0; g < l.groups.len; g++) {
        if (l.groups.data[g].way) drop_raise_edges(l.groups.data[g].way);
        find_ways_out(&l, l.groups.data[g].way, &l.groups.data[g].parts);
    }
    for (size_t b = 0; b < nblocks; b++) {
        Group *of = &l.groups.data[group[b]];
        Stretch *parts = of->parts.data + of->done;
        of->done += nparts[b];
        for (size_t i = nparts[b]; i-- > 0;) { /* the last is taken off first: no value changes its block twice */
            Block *part = i ? split_before(p, parts[i].first) : p->func->blocks.data[b];
            leave_part(p, part, of->way, args[b], &parts[i]);
        }
    }
    for (size_t i = l.cleanups.len; i-- > 0;) leave_cleanup(p, l.cleanups.data[i]); /* what goes on there came later */
    for (size_t g = 0; g < l.groups.len; g++)
        if (l.groups.data[g].way) enter_handler(p, l.groups.data[g].way);
}
