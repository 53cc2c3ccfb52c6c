/* parallel_truths.c: a bool of which a loop over prange asks on the way, and which stays what it has once become.
 *
 *   every = every and x[i] > 0       false once, it stays false; a chunk of iterations that begins with True gives what
 *   some = x[i] > 0 or some          the iterations before it and this chunk give together: both, or either
 *   if not some: some = f(x[i])
 *
 * In: a loop whose blocks and header are known.  Out: in loop->carried these variables, as reductions; what is not of
 * this form is left to parallel_carried.c.
 *
 * The web is made of phis, and of `and` or `or` of two values.  What else comes into them is the constant that stays,
 * or known to be that by a branch on itself, or comes by a way that a branch on the running value takes while that may
 * still change.  Nothing else may follow from these branches: what is done, up to where their ways have joined again,
 * only computes, and the other phis there get the same on every way.  What is computed may be so in more iterations
 * than one thread alone would come to: if it may raise, or an index is not proven to be inside its array, the loop
 * stays on one core. */
#include "passes/intervals.h"
#include "passes/parallel.h"

typedef struct Truths {
    ParallelLoop *loop;
    Web web;
    bool stays; /* the value that stays */
    VEC(const Block *) asking;
    bool grown;           /* the web, since `asking` was filled */
    bool *controlled;     /* by Block.id: reached or not as the running value says */
    Intervals *intervals; /* of the function, from the first index on that they are asked about; or NULL */
} Truths;

/* ---- branches on a truth ---- */

/* What a branch asks of; *negated: whether of its contrary. */
static const Value *asked_of(const Block *block, bool *negated) {
    const Value *asked = block->last && block->last->op == OP_BRANCH ? block->last->args[0] : NULL;
    *negated = false;
    while (asked && (asked->op == OP_CAST || asked->op == OP_TRUTH || asked->op == OP_NOT)) {
        *negated ^= asked->op == OP_NOT;
        asked = asked->args[0];
    }
    return asked;
}

/* Where a branch leads that asks of a value which is `truth`. */
static const Block *way_if(const Block *block, bool negated, bool truth) { return block->succs.data[truth == negated]; }

/* Whether an edge is passed only after that way of a branch. */
static bool follows(const Block *branch, const Block *way, const Block *pred, const Block *to) {
    if (way->preds.len == 1) return block_dominates(way, pred);
    return way == to && pred == branch && branch->succs.data[0] != branch->succs.data[1];
}

/* ---- what comes into the web ---- */

static bool is_asking(const Truths *t, const Block *block) {
    for (size_t i = 0; i < t->asking.len; i++)
        if (t->asking.data[i] == block) return true;
    return false;
}

static bool comes_rightly(const Truths *t, const Value *value, const Block *pred, const Block *to) {
    while (value->op == OP_CAST) value = value->args[0];
    if (value->konst && !value->konst->i == !t->stays) return true;
    for (size_t b = 0; b < t->loop->blocks.len; b++) {
        const Block *block = t->loop->blocks.data[b];
        bool negated;
        const Value *of = asked_of(block, &negated);
        if (of == value && follows(block, way_if(block, negated, t->stays), pred, to)) return true;
        if (is_asking(t, block) && follows(block, way_if(block, negated, !t->stays), pred, to)) return true;
    }
    return false;
}

/* A phi that is the variable where the branch on it has come together again, as of `False if not every else c`. */
static bool adopt(Truths *t, const Value *value) {
    if (value->op != OP_PHI || !loop_has(t->loop, value) || value->type != t->web.phi->type) return false;
    t->grown = t->web.depends[value->id] = t->web.feeds[value->id] = true;
    return true;
}

static bool check_phi(Truths *t, const Value *phi, bool *any) {
    for (uint32_t i = 0; i < phi->nargs; i++) {
        const Block *pred = phi->block->preds.data[i];
        if (!t->loop->inside[pred->id] || parallel_in_web(&t->web, phi->args[i])) continue;
        if (!comes_rightly(t, phi->args[i], pred, phi->block) && !adopt(t, phi->args[i])) return false;
        *any |= !phi->args[i]->konst;
    }
    return true;
}

/* Whether the web has phis into which only what is allowed comes, and this is not a flag that constants set. */
static bool check_web(Truths *t) {
    bool any = t->asking.len > 0;
    if (!check_phi(t, t->web.phi, &any)) return false;
    for (size_t b = 0; b < t->loop->blocks.len; b++)
        for (const Value *value = t->loop->blocks.data[b]->first; value; value = value->next)
            if (parallel_in_web(&t->web, value) && value->op != (t->stays ? OP_OR : OP_AND) &&
                (value->op != OP_PHI || !check_phi(t, value, &any)))
                return false;
    return any;
}

/* ---- who sees it ---- */

/* Whether all that a value is used for is to ask. */
static bool only_asks(const Truths *t, const Value *value, unsigned depth) {
    enum { DEEPEST = 4 };
    if (depth > DEEPEST || (value->op != OP_CAST && value->op != OP_TRUTH && value->op != OP_NOT)) return false;
    for (size_t b = 0; b < t->loop->blocks.len; b++)
        for (const Value *user = t->loop->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++)
                if (user->args[i] == value && user->op != OP_BRANCH && !only_asks(t, user, depth + 1)) return false;
    return true;
}

static bool is_unseen(const Truths *t) {
    for (size_t b = 0; b <= t->loop->blocks.len; b++) {
        const Block *block = b < t->loop->blocks.len ? t->loop->blocks.data[b] : t->loop->head;
        for (const Value *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++)
                if (parallel_in_web(&t->web, value->args[i]) && !parallel_in_web(&t->web, value) &&
                    value->op != OP_BRANCH && !only_asks(t, value, 0))
                    return false;
    }
    return true;
}

/* ---- what follows from it ---- */

/* Marks the blocks of the iteration behind a block, but not through `wall`; whether they lead to the next iteration. */
static bool reach(const Truths *t, const Block *from, const Block *wall, bool *reached) {
    Arena *arena = t->loop->func->arena;
    VEC(const Block *) work = {0};
    bool ends = false;
    vec_push(arena, &work, from);
    while (work.len) {
        const Block *block = vec_pop(&work);
        for (size_t i = 0; i < block->succs.len; i++) {
            const Block *next = block->succs.data[i];
            ends |= next == t->loop->head;
            if (next == wall || !t->loop->inside[next->id] || reached[next->id]) continue;
            reached[next->id] = true;
            vec_push(arena, &work, next);
        }
    }
    return ends;
}

/* The block where all ways from a branch have joined again, the first; NULL: only the next iteration. */
static const Block *find_join(const Truths *t, const Block *branch, size_t nblocks) {
    Arena *arena = t->loop->func->arena;
    const Block *join = NULL;
    bool *all = ARENA_ARRAY(arena, bool, nblocks), *seen = ARENA_ARRAY(arena, bool, nblocks);
    reach(t, branch, NULL, all);
    for (size_t b = 0; b < t->loop->blocks.len; b++) {
        const Block *block = t->loop->blocks.data[b];
        if (!all[block->id] || block == branch) continue;
        for (size_t i = 0; i < nblocks; i++) seen[i] = false;
        if (!reach(t, branch, block, seen) && (!join || !seen[join->id])) join = block;
    }
    return join;
}

/* Whether a value is seen, other than by phis that are not. */
static bool is_seen(const Truths *t, const Value *value, unsigned depth) {
    enum { DEEPEST = 8 };
    const Func *func = t->loop->func;
    if (depth > DEEPEST) return true;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *user = func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++)
                if (user->args[i] == value && user != value && (user->op != OP_PHI || is_seen(t, user, depth + 1)))
                    return true;
    return false;
}

/* Whether the other phis where ways join get the same on each. */
static bool others_do_not_care(const Truths *t, const Block *block) {
    for (const Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next) {
        const Value *one = NULL;
        for (uint32_t i = 0; i < phi->nargs && !parallel_in_web(&t->web, phi); i++) {
            const Block *pred = block->preds.data[i];
            if (!t->controlled[pred->id] && !is_asking(t, pred)) continue;
            if (one && one != phi->args[i] && is_seen(t, phi, 0)) return false;
            one = phi->args[i];
        }
    }
    return true;
}

/* Whether an index is proven to be inside, so that nothing is raised, or read beyond the array where none checks. */
static bool is_inside(Truths *t, const Value *value) {
    if (!t->intervals) {
        t->intervals = ARENA_NEW(t->loop->func->arena, Intervals);
        *t->intervals = intervals_of(t->loop->program, t->loop->inst);
    }
    return intervals_prove_access(t->intervals, value);
}

static bool may_raise(Truths *t, const Value *value) {
    if (value->op == OP_GETITEM && !(value_effects(value, false) & EFFECT_RAISE)) return !is_inside(t, value);
    bool divides = op_is_binary(value->op) && value->args[1]->konst && type_is_integer(value->args[1]->type) &&
                   value->args[1]->konst->i;
    return value_effects(value, true) & EFFECT_RAISE && !divides;
}

/* Whether what a block does is to compute; what may raise or writes elsewhere is noted. */
static bool only_computes(Truths *t, const Block *block) {
    if (block->unwinds) return false;
    for (const Value *value = block->first; value; value = value->next) {
        Effects effects = value_effects(value, true);
        if (value->op == OP_SETITEM || value->op == OP_SETATTR || effects & EFFECT_SYNC) return false;
        if (effects & EFFECT_WRITE || may_raise(t, value)) t->loop->short_cut = value;
    }
    return true;
}

static bool only_decides(Truths *t) {
    size_t nblocks = 0;
    for (size_t b = 0; b < t->loop->func->blocks.len; b++)
        if (t->loop->func->blocks.data[b]->id >= nblocks) nblocks = t->loop->func->blocks.data[b]->id + 1;
    t->controlled = ARENA_ARRAY(t->loop->func->arena, bool, nblocks);
    bool *joins = ARENA_ARRAY(t->loop->func->arena, bool, nblocks);
    for (size_t i = 0; i < t->asking.len; i++) {
        const Block *join = find_join(t, t->asking.data[i], nblocks);
        joins[join ? join->id : t->loop->head->id] = true;
        reach(t, t->asking.data[i], join, t->controlled);
    }
    for (size_t b = 0; b <= t->loop->blocks.len; b++) {
        const Block *block = b < t->loop->blocks.len ? t->loop->blocks.data[b] : t->loop->head;
        if (t->controlled[block->id] && !only_computes(t, block)) return false;
        if ((joins[block->id] || t->controlled[block->id]) && !others_do_not_care(t, block)) return false;
    }
    return true;
}

/* ---- the variable ---- */

static void find_asking(Truths *t) {
    t->asking.len = 0;
    for (size_t b = 0; b < t->loop->blocks.len; b++) {
        bool negated;
        const Value *of = asked_of(t->loop->blocks.data[b], &negated);
        if (of && parallel_in_web(&t->web, of)) vec_push(t->loop->func->arena, &t->asking, t->loop->blocks.data[b]);
    }
}

static bool is_truth(ParallelLoop *loop, Value *phi, bool stays) {
    Truths t = {.loop = loop, .web = parallel_web(loop, phi), .stays = stays};
    do {
        t.grown = false;
        find_asking(&t);
        if (!check_web(&t)) return false;
    } while (t.grown);
    return is_unseen(&t) && only_decides(&t);
}

void parallel_find_truths(ParallelLoop *loop) {
    Arena *arena = loop->func->arena;
    func_compute_order(loop->func);
    func_compute_dominators(loop->func);
    for (Value *phi = loop->head->first; phi && phi->op == OP_PHI; phi = phi->next) {
        if (!phi->type || !type_is_scalar(phi->type) || type_scalar_kind(phi->type) != 'b') continue;
        const Value *before = loop->short_cut;
        bool every = is_truth(loop, phi, false);
        if (!every) {
            loop->short_cut = before;
            if (!is_truth(loop, phi, true)) {
                loop->short_cut = before;
                continue;
            }
        }
        Carried carried = {.phi = phi, .kind = CARRY_REDUCE, .op = every ? OP_AND : OP_OR};
        carried.identity = parallel_identity(arena, phi->type, every ? PUT_AND : PUT_OR, NULL);
        vec_push(arena, &loop->carried, carried);
    }
}
