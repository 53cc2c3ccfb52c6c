/* parallel_picks.c: a variable that a loop over prange sets where a comparison with it says so, and those set with it.
 *
 *   if x[i] > best:                  best is the leader, at a companion: of two chunks of iterations the later one's
 *       best, at = x[i], i           best and at are taken if its best is greater, as the loop itself would take them
 *
 * In: a loop whose blocks and header are known.  Out: in loop->carried its leaders and companions; what is not of this
 * form is left to parallel_carried.c.
 *
 * A leader's web is made of phis alone.  Where another number than the running one w comes in, it comes by blocks that
 * follow a branch on the comparison of that number with w, and the branch leads past them to the same block with w.
 * Nothing else may follow from the comparison: these blocks neither write nor raise, and of the phis behind them those
 * that see which way was taken are the leader's or a companion's, whose web has a phi for each of the leader's. */
#include "passes/parallel.h"

typedef struct Site {
    Block *at;           /* where the ways join again */
    const Block *branch; /* which compares */
    const Value *compared;
    Value *phi, *running; /* the leader's phi there, and what it was */
} Site;

typedef struct Picks {
    ParallelLoop *loop;
    Web web; /* the leader's */
    Op op;   /* new op running */
    VEC(Value *) phis;
    VEC(Site) sites;
    VEC(Web) companions;
} Picks;

static bool is_header(const ParallelLoop *loop, const Value *phi) { return phi->block == loop->head; }

/* Whether that operand of a phi comes from the loop. */
static bool from_inside(const ParallelLoop *loop, const Value *phi, uint32_t i) {
    return !is_header(loop, phi) || loop->inside[loop->head->preds.data[i]->id];
}

/* ---- a web of phis ---- */

/* The phis of a web; false: it has other values, too. */
static bool list_phis(const ParallelLoop *loop, const Web *web, Value *phi, Picks *picks) {
    picks->phis.len = 0;
    vec_push(loop->func->arena, &picks->phis, phi);
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (Value *value = loop->blocks.data[b]->first; value; value = value->next) {
            if (!parallel_in_web(web, value)) continue;
            if (value->op != OP_PHI) return false;
            vec_push(loop->func->arena, &picks->phis, value);
        }
    return true;
}

/* ---- what is compared, and set ---- */

/* Two values that are computed in the same way, as x[i] twice. */
static bool is_same(const Value *a, const Value *b, unsigned depth) {
    enum { DEEPEST = 8 };
    if (a == b) return true;
    if (a->konst || b->konst) return a->konst && b->konst && const_equal(a->konst, b->konst);
    if (depth > DEEPEST || a->op != b->op || a->type != b->type || a->nargs != b->nargs || !a->nargs) return false;
    if (value_effects(a, true) & (EFFECT_WRITE | EFFECT_SYNC | EFFECT_NEW) || a->op == OP_PHI) return false;
    if (a->op == OP_CALL_INST || a->op == OP_MAP || a->op == OP_REDUCE || a->op == OP_ITER_TAKE) return false;
    if (a->op == OP_GETATTR ? value_attr(a) != value_attr(b) : a->imm.i != b->imm.i) return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!is_same(a->args[i], b->args[i], depth + 1)) return false;
    return true;
}

/* Whether a value is one, computed anew, that `of` is made of. */
static bool is_part(const Value *value, const Value *of, unsigned depth) {
    enum { DEEPEST = 8 };
    if (is_same(value, of, 0)) return true;
    for (uint32_t i = 0; depth < DEEPEST && of->op != OP_PHI && i < of->nargs; i++)
        if (is_part(value, of->args[i], depth + 1)) return true;
    return false;
}

/* Whether nothing between the comparison and the end of its block writes, so that what is computed anew is the same. */
static bool nothing_written_behind(const Value *compared, const Block *branch) {
    bool behind = false;
    for (const Value *value = branch->first; value; value = value->next) {
        if (behind && value_effects(value, true) & EFFECT_WRITE) return false;
        behind = behind || value == compared;
    }
    return true;
}

static bool is_comparison(const Value *value, Op *op) {
    *op = value->op;
    return *op == OP_LT || *op == OP_LE || *op == OP_GT || *op == OP_GE;
}

static Op turned(Op op) {
    return op == OP_LT ? OP_GT : op == OP_GT ? OP_LT : op == OP_LE ? OP_GE : op == OP_GE ? OP_LE : op;
}

static Op negated(Op op) {
    return op == OP_LT ? OP_GE : op == OP_GT ? OP_LE : op == OP_LE ? OP_GT : op == OP_GE ? OP_LT : op;
}

/* The comparison that the block branches on, of a running number and the one that is set where the branch goes as
 * `if_true` says; *op: how the new one compares with the running one. */
static bool read_branch(const Picks *picks, const Block *branch, bool if_true, const Value *set, Site *site, Op *op) {
    Value *asked = branch->last->op == OP_BRANCH ? branch->last->args[0] : NULL;
    while (asked && (asked->op == OP_CAST || asked->op == OP_TRUTH) && asked->block == branch) asked = asked->args[0];
    if (!asked || asked->block != branch || !is_comparison(asked, op)) return false;
    bool second = parallel_in_web(&picks->web, asked->args[1]);
    const Value *number = asked->args[second ? 0 : 1];
    site->compared = asked;
    site->running = asked->args[second ? 1 : 0];
    if (!parallel_in_web(&picks->web, site->running) || parallel_in_web(&picks->web, number)) return false;
    if (number->type != site->running->type || !is_same(number, set, 0)) return false;
    if (number != set && (number->block != branch || !nothing_written_behind(number, branch))) return false;
    if (!second) *op = turned(*op);
    if (!if_true) *op = negated(*op);
    return if_true || type_scalar_kind(number->type) != 'f'; /* `not` makes something else of a NaN */
}

/* ---- where it is set ---- */

/* Whether all that the block does is to compute, and lead on to `next` or to the join. */
static bool only_computes(const Block *block, const Block *next, const Block *join, const Value *set) {
    if (block->unwinds) return false;
    for (size_t i = 0; i < block->succs.len; i++)
        if (block->succs.data[i] != next && block->succs.data[i] != join) return false;
    for (const Value *value = block->first; value; value = value->next) {
        Effects effects = value_effects(value, true);
        if (value->op == OP_PHI || effects & (EFFECT_WRITE | EFFECT_SYNC | EFFECT_NEW)) return false;
        if (effects & EFFECT_RAISE && !is_part(value, set, 0)) return false;
    }
    return true;
}

static Value *operand_from(const Value *phi, const Block *pred) {
    for (uint32_t i = 0; i < phi->nargs; i++)
        if (phi->block->preds.data[i] == pred) return phi->args[i];
    return NULL;
}

/* Whether the running number comes to the phi where the branch, or a block behind it, leads past what is set. */
static bool passes_running(const Site *site, const Block *block) {
    for (; block != site->branch; block = block->preds.data[0]) {
        const Block *above = block->preds.data[0];
        for (size_t i = 0; i < above->succs.len; i++)
            if (above->succs.data[i] == site->at && operand_from(site->phi, above) != site->running) return false;
    }
    return true;
}

/* The branch above the edge by which another number comes to the phi; false: this has not the form. */
static bool find_site(Picks *picks, Value *phi, uint32_t edge) {
    const ParallelLoop *loop = picks->loop;
    const Value *set = phi->args[edge];
    Block *first = phi->block->preds.data[edge];
    Site site = {.at = phi->block, .phi = phi};
    const Block *next = site.at;
    for (Block *block = first; block->preds.len == 1 && loop->inside[block->id];
         next = block, block = block->preds.data[0]) {
        Block *above = block->preds.data[0];
        Op op;
        if (!only_computes(block, next, site.at, set) || !loop->inside[above->id] || above->unwinds) return false;
        if (above->succs.len != 2) continue;
        bool if_true = above->succs.data[0] == block;
        if (above->succs.data[if_true] != site.at || !read_branch(picks, above, if_true, set, &site, &op)) continue;
        site.branch = above;
        if (!passes_running(&site, first) || (picks->op != OP_PHI && picks->op != op)) return false;
        picks->op = op;
        vec_push(loop->func->arena, &picks->sites, site);
        return true;
    }
    return false;
}

/* Where another number than the running one comes to a phi of the web. */
static bool find_sites_at(Picks *picks, Value *phi) {
    for (uint32_t i = 0; i < phi->nargs; i++)
        if (from_inside(picks->loop, phi, i) && !parallel_in_web(&picks->web, phi->args[i]) &&
            !find_site(picks, phi, i))
            return false;
    return true;
}

/* ---- who sees it ---- */

/* Whether a value is the comparison of a site, or its truth. */
static bool is_asked(const Picks *picks, const Value *value) {
    for (size_t i = 0; i < picks->sites.len; i++) {
        const Site *site = &picks->sites.data[i];
        for (const Value *asked = site->branch->last->args[0];; asked = asked->args[0]) {
            if (asked == value) return true;
            if (asked == site->compared) break;
        }
    }
    return false;
}

/* Whether the web, and what its comparisons say, is used for nothing but to compare. */
static bool is_unseen(const Picks *picks, const Web *web) {
    const ParallelLoop *loop = picks->loop;
    for (size_t b = 0; b <= loop->blocks.len; b++) {
        const Block *block = b < loop->blocks.len ? loop->blocks.data[b] : loop->head;
        for (const Value *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                const Value *used = value->args[i];
                bool asks = is_asked(picks, value) && web == &picks->web;
                if (parallel_in_web(web, used) && !parallel_in_web(web, value) && !asks) return false;
                if (is_asked(picks, used) && !is_asked(picks, value) && value->op != OP_BRANCH) return false;
            }
    }
    return true;
}

/* ---- companions ---- */

static Value *phi_in(const Picks *picks, const Web *web, const Block *block, size_t *count) {
    Value *found = NULL;
    for (Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next)
        if (parallel_in_web(web, phi) && (block != picks->loop->head || phi == web->phi)) found = phi, ++*count;
    return found;
}

/* Whether the web of a phi of the header has a phi for each of the leader's, which get the same at the same edges. */
static bool is_companion(const Picks *picks, const Web *web) {
    const ParallelLoop *loop = picks->loop;
    size_t count = 0;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            if (parallel_in_web(web, value) && (value->op != OP_PHI || ++count > picks->phis.len)) return false;
    if (count + 1 != picks->phis.len) return false;
    for (size_t p = 0; p < picks->phis.len; p++) {
        const Value *theirs = picks->phis.data[p];
        size_t here = 0, there = 0;
        const Value *ours = phi_in(picks, web, theirs->block, &here);
        phi_in(picks, &picks->web, theirs->block, &there);
        if (here != 1 || there != 1) return false;
        for (uint32_t i = 0; i < ours->nargs; i++) {
            if (!from_inside(loop, ours, i)) continue;
            const Value *one = ours->args[i], *other = theirs->args[i];
            if (parallel_in_web(web, one) != parallel_in_web(&picks->web, other)) return false;
            if (parallel_in_web(web, one) && one->block != other->block) return false;
        }
    }
    return is_unseen(picks, web);
}

static bool is_simple(const Value *phi, const char *kinds) {
    char kind = phi->type && type_is_scalar(phi->type) ? type_scalar_kind(phi->type) : 0;
    while (kind && *kinds && *kinds != kind) kinds++;
    return kind && *kinds;
}

static void find_companions(Picks *picks) {
    for (Value *phi = picks->loop->head->first; phi && phi->op == OP_PHI; phi = phi->next) {
        if (phi == picks->web.phi || !is_simple(phi, "biuf")) continue;
        Web web = parallel_web(picks->loop, phi);
        if (is_companion(picks, &web)) vec_push(picks->loop->func->arena, &picks->companions, web);
    }
}

static bool is_of_companion(const Picks *picks, const Value *phi) {
    for (size_t i = 0; i < picks->companions.len; i++)
        if (parallel_in_web(&picks->companions.data[i], phi)) return true;
    return false;
}

/* Whether the other phis at a site get the same, whichever way is taken. */
static bool others_do_not_care(const Picks *picks, const Site *site) {
    for (const Value *phi = site->at->first; phi && phi->op == OP_PHI; phi = phi->next) {
        if (phi == site->phi || is_of_companion(picks, phi)) continue;
        const Value *past = operand_from(phi, site->branch);
        for (uint32_t i = 0; i < phi->nargs; i++)
            for (const Block *block = site->at->preds.data[i]; block != site->branch; block = block->preds.data[0]) {
                if (block->preds.len != 1) break;
                if (block->preds.data[0] == site->branch && phi->args[i] != past) return false;
            }
    }
    return true;
}

/* ---- the leader ---- */

static bool find_leader(Picks *picks, Value *phi) {
    ParallelLoop *loop = picks->loop;
    if (!is_simple(phi, "iuf")) return false;
    picks->web = parallel_web(loop, phi);
    picks->op = OP_PHI;
    if (!list_phis(loop, &picks->web, phi, picks)) return false;
    for (size_t i = 0; i < picks->phis.len; i++)
        if (!find_sites_at(picks, picks->phis.data[i])) return false;
    if (!picks->sites.len || !is_unseen(picks, &picks->web)) return false;
    if (picks->op == OP_LT || picks->op == OP_GT)
        find_companions(picks); /* of equal ones the first: a chunk without
                                                                             any has what is never taken */
    for (size_t i = 0; i < picks->sites.len; i++)
        if (!others_do_not_care(picks, &picks->sites.data[i])) return false;
    return true;
}

static const Const *zero(Arena *arena, const Type *type) {
    Const *konst = ARENA_NEW(arena, Const);
    konst->type = type;
    return konst;
}

static bool is_carried(const ParallelLoop *loop, const Value *phi) {
    for (size_t i = 0; i < loop->carried.len; i++)
        if (loop->carried.data[i].phi == phi) return true;
    return false;
}

void parallel_find_picks(ParallelLoop *loop) {
    Arena *arena = loop->func->arena;
    for (Value *phi = loop->head->first; phi && phi->op == OP_PHI; phi = phi->next) {
        Picks picks = {.loop = loop};
        if (is_carried(loop, phi) || !find_leader(&picks, phi)) continue;
        bool larger = picks.op == OP_GT || picks.op == OP_GE;
        const FuncHead *func = &func_info[larger ? FUNC_PY_MAX : FUNC_PY_MIN].head;
        Carried carried = {.phi = phi, .kind = CARRY_PICK, .op = picks.op, .leader = phi};
        carried.identity = parallel_identity(arena, phi->type, PUT_CALL, func);
        vec_push(arena, &loop->carried, carried);
        for (size_t i = 0; i < picks.companions.len; i++) {
            carried.phi = picks.companions.data[i].phi;
            carried.identity = zero(arena, carried.phi->type);
            if (!is_carried(loop, carried.phi)) vec_push(arena, &loop->carried, carried);
        }
    }
}
