/* versions.c: loops whose accesses are in range if a few numbers say so, before the first round.
 *
 * In: typed functions, with their intervals.  Out: such a loop exists twice, behind a guard: accesses of the one are
 * VF_UNCHECKED, the other raises as it always did.  Outer loops are looked at first, so that a nest whose guard can
 * stand before it all has one.  An access that nothing has to be asked for is VF_UNCHECKED without.
 *
 *     for i in range(n):              if n <= x.size and n <= y.size + 1: ... x[i], y[i - 1] unchecked
 *         s += x[i] * y[i - 1]        else: ... checked
 *
 * Where accesses are not checked, as in kernels, only their signs are asked for: indices of the one are not negative,
 * those of the other may count from the end.
 *
 *     for k in range(starts[row], starts[row + 1]):      if starts[row] >= 0: ... values[k] is at values + k
 *         s += values[k]                                 else: ... at values + (k < 0 ? k + values.size : k)
 *
 * What a loop loads, and takes for an index, nobody can ask about before it.  On a GPU, where a loop that leaves in its
 * middle neither unrolls nor has its loads in flight together, a loop over a range that does nothing but read goes on:
 * an index outside gives some other item, and is noted (VF_PUT_OFF); behind the loop MISSED asks whether there was one,
 * and then the copy does it all again, which raises.
 *
 *     for k in range(n):          if ...: for k in range(n): t += x[c[k]]  noted; if missed: do the other
 *         t += x[c[k]]            else: ... checked
 *
 * A function that may decline a call (Program.declines) does so where the guard of its first loops fails, and has no
 * copy of them; so that nothing is done twice, no memory may have been written to before.  Of a loop by itself the
 * guard then counts the rounds, too (Program.brief): one that ends soon need not look for signals, and is not walked in
 * strips (safepoints), which take a third of the time in which it is compiled.
 *
 * Where the guard fails, the copy raises where and how the loop did; LLVM neither unrolls nor vectorises it, since it
 * hardly ever runs for long.  Functions of the prelude are left alone: what they ask for is in range, and they are
 * compiled at first calls. */
#include "passes/index_limits.h"
#include "passes/loop_copy.h"
#include "passes/private.h"

enum { MOST_LOOPS = 128, MOST_VALUES = 300, MOST_QUESTIONS = 12 };

/* Of accesses that are put off. */
enum { MOST_PUT_OFF = 8 };

/* Of a loop that does not look for signals: what its rounds cost together, tens of milliseconds where they are slow;
 * what one costs, so that not most calls have more. */
enum { BRIEF_COST = SAFEPOINT_BUDGET * 64, BRIEF_ROUND = 1 << 12 };

typedef struct Question { /* limit < extent, or 0 <= limit */
    Limit limit, extent;
    bool below; /* else extent is 0 */
} Question;

typedef struct Guarding {
    Func *func;
    Arena *arena;
    Intervals s;
    LimitSearch search;
    Value **stand_ins;
    VEC(Question) questions;
    VEC(Value *) accesses; /* in range, or not negative, if all of them are answered with yes */
    VEC(Value *) put_off;  /* accesses of which it is found out behind the loop whether they are in range */
    bool rereads;          /* on a GPU, where accesses are checked: they may be put off */
    bool signs;            /* accesses are not checked: what is asked for is that they are not negative */
    bool meets;            /* a function of the program waits for other threads */
    bool declines;         /* the function may decline the call where nothing has been done */
    bool counts;           /* also because of a loop's rounds */
    uint64_t cost;         /* of a round of the loop */
    Value *brief;          /* its iterator, if the guard counts its rounds, else NULL */
} Guarding;

/* ---- what to ask ---- */

static bool limit_equal(const Limit *a, const Limit *b) {
    return term_equal(a->plus[0], b->plus[0]) && term_equal(a->plus[1], b->plus[1]) && term_equal(a->minus, b->minus) &&
           a->offset == b->offset;
}

/* Whether the terms are numbers of so few bits that their sums do not wrap. */
static bool is_small(Term term) {
    if (!term.value || term.axis >= 0) return true;
    Bounds bounds = value_bounds(term.value);
    return bounds.lo >= -((int64_t)1 << 60) && bounds.hi <= (int64_t)1 << 60;
}

typedef enum Answer { NO, YES, ASK } Answer;

static Answer answer_of(const Question *q) {
    const Limit *limit = &q->limit, *extent = &q->extent;
    bool alone = !limit->plus[1].value && !limit->minus.value;
    if (alone && term_equal(limit->plus[0], extent->plus[0])) { /* both the same, or none */
        bool yes = q->below ? limit->offset < extent->offset : limit->offset >= 0;
        return yes ? YES : NO;
    }
    bool small = is_small(limit->plus[0]) && is_small(limit->plus[1]) && is_small(limit->minus);
    return (alone || small) && is_small(extent->plus[0]) ? ASK : NO;
}

static bool ask(Guarding *g, Question question) {
    Answer answer = answer_of(&question);
    if (answer != ASK) return answer == YES;
    for (size_t i = 0; i < g->questions.len; i++) {
        const Question *other = &g->questions.data[i];
        if (other->below == question.below && limit_equal(&other->limit, &question.limit) &&
            (!question.below || limit_equal(&other->extent, &question.extent)))
            return true;
    }
    if (g->questions.len == MOST_QUESTIONS) return false;
    vec_push(g->arena, &g->questions, question);
    return true;
}

/* Nothing is known of it but how wide it is: a number that was computed with a minus is negative for a purpose, and the
 * guard would fail.  What a comparison has left of a number before it was converted says nothing of a minus. */
static bool is_of_any_sign(Term term) {
    if (!term.value || term.axis >= 0) return true;
    const Value *value = term.value;
    while (value->op == OP_CAST && type_is_integer(value->args[0]->type)) value = value->args[0];
    Bounds bounds = value_bounds(value);
    return bounds.lo == -bounds.hi - 1 && ((uint64_t)bounds.hi & ((uint64_t)bounds.hi + 1)) == 0;
}

static bool ask_for_sign(Guarding *g, uint32_t node) {
    Limits lower = {0};
    if (g->s.known[node].range.lo >= 0 || g->s.known[node].forward) return true;
    if (!limits_find(&g->search, node, false, &lower)) return false;
    for (size_t i = 0; i < lower.len; i++) {
        const Limit *limit = &lower.data[i];
        if (limit->minus.value || !is_of_any_sign(limit->plus[0]) || !is_of_any_sign(limit->plus[1])) return false;
        if (!ask(g, (Question){.limit = *limit})) return false;
    }
    return true;
}

static bool ask_for_index(Guarding *g, const Value *array, unsigned axis, uint32_t node) {
    Limits upper = {0}, lower = {0};
    Limit extent;
    if (g->signs) return ask_for_sign(g, node);
    if (intervals_prove_inside(&g->s, array, axis, node)) return true;
    if (!limits_of_extent(&g->search, array, (int)axis, &extent)) return false;
    if (!limits_find(&g->search, node, true, &upper) || !limits_find(&g->search, node, false, &lower)) return false;
    for (size_t i = 0; i < lower.len; i++)
        if (!ask(g, (Question){.limit = lower.data[i]})) return false;
    for (size_t i = 0; i < upper.len; i++)
        if (!ask(g, (Question){.limit = upper.data[i], .extent = extent, .below = true})) return false;
    return true;
}

static bool is_element_access(const Value *value) {
    return (value->op == OP_GETITEM || value->op == OP_SETITEM) && !(value->flags & VF_UNCHECKED) &&
           value->args[0]->type->kind == TY_ARRAY && value->args[0]->type->ndim > 0 &&
           type_takes_element(value->args[0]->type, value->args[1]->type);
}

static bool has_node(const Guarding *g, const Value *value) { return value->id < g->search.known; }

static bool ask_for_access(Guarding *g, const Value *access) {
    const Value *array = access->args[0], *index = access->args[1];
    while (array->op == OP_CAST && array->args[0]->type->kind == TY_ARRAY) array = array->args[0];
    if (!has_node(g, access) || !has_node(g, array)) return false;
    uint32_t node = g->s.graph.nodes.data[access->id].args[1];
    if (index->type->kind != TY_TUPLE) return ask_for_index(g, array, 0, node);
    while (index->op == OP_CAST) index = index->args[0];
    if (index->op != OP_TUPLE || !has_node(g, index)) return false;
    for (uint32_t i = 0; i < index->nargs; i++)
        if (!ask_for_index(g, array, i, g->s.graph.nodes.data[index->id].args[i])) return false;
    return true;
}

static bool meets_others(const Value *value) {
    return value->op == OP_CALL_FUNC && func_effects(value->imm.func) & EFFECT_SYNC;
}

/* Threads of a group that take different versions of a loop would not meet in it. */
static bool may_meet_others(const Guarding *g, const Value *value) {
    return meets_others(value) || (value->op == OP_CALL_INST && (g->signs || g->meets));
}

/* What can be asked before the loop, whose blocks are marked. */
static void ask_for_loop(Guarding *g, const Block *header) {
    uint32_t count = 0;
    g->search.header = header;
    g->questions.len = g->accesses.len = 0;
    g->cost = 1;
    for (size_t b = 0; b < g->func->blocks.len; b++) {
        const Block *block = g->func->blocks.data[b];
        if (!loop_has(header, block)) continue;
        for (Value *value = block->first; value; value = value->next, count++) {
            size_t before = g->questions.len;
            g->cost += safepoint_cost(value);
            if (may_meet_others(g, value)) count = MOST_VALUES;
            if (!is_element_access(value)) continue;
            if (ask_for_access(g, value))
                vec_push(g->arena, &g->accesses, value);
            else
                g->questions.len = before;
        }
    }
    if (count > MOST_VALUES) g->accesses.len = 0;
}

/* ---- what to ask behind the loop ---- */

/* Done twice it is done once: values of the function's own, which it holds no references to. */
static bool leaves_nothing(const Value *value) {
    if ((value->op == OP_ITER_MORE || value->op == OP_ITER_TAKE) && value->args[0]->op == OP_ITER &&
        value_calls(value->args[0]->args[0], FUNC_RANGE))
        return true;
    return !(value_effects(value, true) & (Effects)(EFFECT_WRITE | EFFECT_SYNC | EFFECT_NEW));
}

static bool is_settled(const Guarding *g, const Value *access) {
    for (size_t i = 0; i < g->accesses.len; i++)
        if (g->accesses.data[i] == access) return true;
    return false;
}

/* An element that is read; of an array that has one, which is asked. */
static bool put_off(Guarding *g, Value *access) {
    const Value *array = access->args[0];
    while (array->op == OP_CAST && array->args[0]->type->kind == TY_ARRAY) array = array->args[0];
    if (access->type->kind != TY_SCALAR || !has_node(g, access) || !has_node(g, array) ||
        g->put_off.len == MOST_PUT_OFF)
        return false;
    for (unsigned axis = 0; axis < array->type->ndim; axis++) {
        Question question = {.below = true};
        if (!limits_of_extent(&g->search, array, (int)axis, &question.extent) || !ask(g, question)) return false;
    }
    vec_push(g->arena, &g->put_off, access);
    return true;
}

/* It may be done again: it changes nothing, and ends whatever it reads. */
static bool may_do_again(Guarding *g, Value *value) {
    const Effects lasting = EFFECT_WRITE | EFFECT_SYNC | EFFECT_NEW | EFFECT_RAISE;
    if (is_element_access(value)) return value->op == OP_GETITEM && (is_settled(g, value) || put_off(g, value));
    if (value->op == OP_CALL_INST) return false;
    if (value->op == OP_ITER_MORE || value->op == OP_ITER_TAKE) return leaves_nothing(value);
    return !(value_effects(value, true) & lasting);
}

static bool is_innermost(const BackEdges *edges, const Block *header) {
    for (size_t e = 0; e < edges->len; e++)
        if (edges->data[e].header != header && loop_has(header, edges->data[e].header)) return false;
    return true;
}

static bool leaves_at_header(const Block *header, const Block *block) {
    bool stays = !block->unwinds;
    for (size_t s = 0; s < block->succs.len; s++) stays &= block == header || loop_has(header, block->succs.data[s]);
    return stays;
}

/* All or nothing: what raises in a loop whose accesses are put off might come before one that raised first. */
static void put_off_accesses(Guarding *g, const BackEdges *edges, const Block *header) {
    size_t before = g->questions.len;
    bool all = safepoint_range(header) && is_innermost(edges, header);
    g->put_off.len = 0;
    for (size_t b = 0; all && b < g->func->blocks.len; b++) {
        Block *block = g->func->blocks.data[b];
        if (!loop_has(header, block)) continue;
        all = leaves_at_header(header, block);
        for (Value *value = block->first; all && value; value = value->next) all = may_do_again(g, value);
    }
    if (all) return;
    g->put_off.len = 0;
    g->questions.len = before;
}

/* ---- the guard ---- */

static Value *append_typed(Guarding *g, Block *block, Op op, const Type *type, Value *const *args, size_t nargs) {
    Value *value = block_append(g->func, block, op, g->search.header->last->span, args, nargs);
    value->type = type;
    return value;
}

static Value *append_int(Guarding *g, Block *block, Wide number) {
    const Const *konst = const_int(g->func->arena, g->func->types, (int64_t)number);
    return block_append_const(g->func, block, g->search.header->last->span, konst);
}

static Value *append_term(Guarding *g, Block *block, Term term) {
    TypeTable *types = g->func->types;
    const Type *number = type_scalar(types, SCALAR_INT64, true);
    Value *value = (Value *)term.value; /* an operand from now on */
    if (term.axis < 0) return value->type == number ? value : append_typed(g, block, OP_CAST, number, &value, 1);
    const Type **items = ARENA_ARRAY(g->arena, const Type *, value->type->ndim);
    for (unsigned i = 0; i < value->type->ndim; i++) items[i] = number;
    Value *shape = append_typed(g, block, OP_GETATTR, type_tuple(types, items, value->type->ndim), &value, 1);
    shape->imm.text = "shape";
    Value *extent = append_typed(g, block, OP_EXTRACT, number, &shape, 1);
    extent->imm.i = term.axis;
    return extent;
}

/* Sums of what is_small do not wrap. */
static Value *append_sum(Guarding *g, Block *block, Op op, Value *a, Value *b) {
    if (!a) return b;
    Value *sum = append_typed(g, block, op, a->type, (Value *[]){a, b}, 2);
    sum->flags |= VF_NOWRAP;
    return sum;
}

/* Without its offset. */
static Value *append_limit(Guarding *g, Block *block, const Limit *limit) {
    Value *sum = NULL;
    for (unsigned i = 0; i < 2; i++)
        if (limit->plus[i].value) sum = append_sum(g, block, OP_ADD, sum, append_term(g, block, limit->plus[i]));
    if (!limit->minus.value) return sum ? sum : append_int(g, block, 0);
    if (!sum) sum = append_int(g, block, 0);
    return append_sum(g, block, OP_SUB, sum, append_term(g, block, limit->minus));
}

static Value *append_question(Guarding *g, Block *block, const Question *q) {
    const Type *truth = type_scalar(g->func->types, SCALAR_BOOL, true);
    Value *limit = append_limit(g, block, &q->limit);
    if (!q->below)
        return append_typed(g, block, OP_GE, truth, (Value *[]){limit, append_int(g, block, -q->limit.offset)}, 2);
    Value *extent = append_limit(g, block, &q->extent);
    Wide offset = q->extent.offset - q->limit.offset;
    if (offset) extent = append_sum(g, block, OP_ADD, extent, append_int(g, block, offset));
    return append_typed(g, block, OP_LT, truth, (Value *[]){limit, extent}, 2);
}

/* Whether the iterator's range has so few numbers: of an iterator like it, which is asked for what it has left. */
static Value *append_count(Guarding *g, Block *block) {
    const Type *truth = type_scalar(g->func->types, SCALAR_BOOL, true);
    const Value *range = g->brief->args[0];
    int64_t most = (int64_t)(BRIEF_COST / g->cost < BRIEF_ROUNDS ? BRIEF_COST / g->cost : BRIEF_ROUNDS);
    Value *again = append_typed(g, block, range->op, range->type, range->args, range->nargs);
    again->imm = range->imm;
    again->flags = range->flags;
    Value *iterator = append_typed(g, block, OP_ITER, g->brief->type, &again, 1);
    Value *left = append_typed(g, block, OP_ITER_LEFT, type_scalar(g->func->types, SCALAR_INT64, true), &iterator, 1);
    Value *rounds = append_typed(g, block, OP_STRIP_LENGTH, left->type, &left, 1);
    rounds->imm.i = most + 1;
    return append_typed(g, block, OP_LE, truth, (Value *[]){rounds, append_int(g, block, most)}, 2);
}

static void append_questions(Guarding *g, const TwoLoops *loops) {
    Value *all = g->brief ? append_count(g, loops->guard) : NULL;
    for (size_t i = 0; i < g->questions.len; i++) {
        Value *answer = append_question(g, loops->guard, &g->questions.data[i]);
        all = all ? append_typed(g, loops->guard, OP_AND, all->type, (Value *[]){all, answer}, 2) : answer;
    }
    block_branch(g->func, loops->guard, g->search.header->last->span, all, loops->enter, loops->copy);
    loops->guard->last->type = type_simple(g->func->types, TY_NONE);
}

/* The copy comes after the loop, too, where an access has missed. */
static void append_again(Guarding *g, Block *header, const TwoLoops *loops) {
    Block *again = block_new(g->func);
    size_t s = loop_has(header, header->succs.data[0]) ? 1 : 0;
    Block *join = header->succs.data[s];
    for (size_t i = 0; i < g->put_off.len; i++) g->put_off.data[i]->flags |= VF_UNCHECKED | VF_PUT_OFF;
    const Type *truth = type_scalar(g->func->types, SCALAR_BOOL, true);
    Value *missed = append_typed(g, again, OP_MISSED, truth, NULL, 0);
    append_typed(g, again, OP_BRANCH, type_simple(g->func->types, TY_NONE), &missed, 1);
    vec_push(g->func->arena, &again->succs, loops->copy);
    vec_push(g->func->arena, &again->succs, join);
    vec_push(g->func->arena, &again->preds, header);
    vec_push(g->func->arena, &loops->copy->preds, again);
    header->succs.data[s] = again;
    for (size_t p = 0; p < join->preds.len; p++)
        if (join->preds.data[p] == header) join->preds.data[p] = again;
}

/* ---- whether to decline ---- */

static bool all_leave_nothing(const Block *block) {
    for (const Value *value = block->first; value; value = value->next)
        if (!leaves_nothing(value)) return false;
    return !block->unwinds;
}

/* Whether nothing has been done wherever control flow comes to the loop, whose blocks are marked.  In a loop around it
 * that is also what its own rounds have done before it is entered again. */
static bool nothing_done(const Guarding *g, Block *header) {
    BlockList work = {0};
    bool *seen = ARENA_ARRAY(g->arena, bool, g->func->next_block);
    vec_push(g->arena, &work, header);
    for (bool entering = true; work.len; entering = false) {
        const Block *block = vec_pop(&work);
        for (size_t p = 0; p < block->preds.len; p++) {
            Block *from = block->preds.data[p];
            if (seen[from->id] || (entering && loop_has(header, from))) continue;
            if (!all_leave_nothing(from)) return false;
            seen[from->id] = true;
            vec_push(g->arena, &work, from);
        }
    }
    return true;
}

/* Whether a loop of the others is inside this one, or may be around it. */
static bool is_alone(const BackEdges *edges, BackEdge edge) {
    for (size_t e = 0; e < edges->len; e++) {
        const Block *header = edges->data[e].header, *latch = edges->data[e].latch;
        if (header == edge.header) continue;
        if (loop_has(edge.header, header)) return false;
        if (header->order < edge.header->order && edge.header->order <= latch->order) return false;
    }
    return true;
}

static Value *find_brief(const Guarding *g, const BackEdges *edges, BackEdge edge) {
    Value *iterator = g->counts && g->cost <= BRIEF_ROUND ? safepoint_range(edge.header) : NULL;
    if (!iterator || !iterator->args[0]->args[2]->konst) return NULL;
    return is_alone(edges, edge) ? iterator : NULL;
}

static void append_decline(Guarding *g, const TwoLoops *loops) {
    append_typed(g, loops->copy, OP_DECLINE, type_simple(g->func->types, TY_NONE), NULL, 0);
}

/* Whoever calls it does not know of declining but the interpreter. */
static bool is_called(const Program *program, const FuncInst *callee) {
    for (size_t i = 0; i < program->count; i++)
        for (size_t b = 0; b < program->insts[i]->func->blocks.len; b++)
            for (const Value *value = program->insts[i]->func->blocks.data[b]->first; value; value = value->next)
                if (value_callee(value) == callee) return true;
    return false;
}

/* ---- all loops ---- */

static bool in_loop(Guarding *g, const BackEdges *edges, BackEdge edge) {
    if (!loop_mark_blocks(g->arena, g->func, edge)) return false;
    ask_for_loop(g, edge.header);
    TwoLoops loops;
    if (g->rereads) put_off_accesses(g, edges, edge.header);
    bool may_decline = g->declines && nothing_done(g, edge.header);
    g->brief = may_decline ? find_brief(g, edges, edge) : NULL;
    bool asks = g->brief || ((g->accesses.len || g->put_off.len) && g->questions.len), declines = asks && may_decline;
    if (declines && !loop_guard(g->func, edge, &loops)) return false;
    if (asks && !declines && !loop_copy(g->func, edge, g->stand_ins, g->search.known, &loops)) return false;
    for (size_t i = 0; i < g->accesses.len && !g->signs; i++) g->accesses.data[i]->flags |= VF_UNCHECKED;
    if (!asks) return false;
    append_questions(g, &loops);
    if (g->put_off.len) append_again(g, edge.header, &loops);
    if (g->brief) g->brief->flags |= VF_BRIEF;
    if (declines) append_decline(g, &loops);
    func_compute_order(g->func);
    func_compute_dominators(g->func);
    return true;
}

static bool has_accesses(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (is_element_access(value)) return true;
    return false;
}

/* Outer loops first. */
static void sort_edges(BackEdges *edges) {
    for (size_t i = 1; i < edges->len; i++)
        for (size_t k = i; k > 0 && edges->data[k].header->order < edges->data[k - 1].header->order; k--) {
            BackEdge edge = edges->data[k];
            edges->data[k] = edges->data[k - 1];
            edges->data[k - 1] = edge;
        }
}

static bool has_meeting(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (meets_others(value)) return true;
    return false;
}

static void in_function(Program *program, FuncInst *inst, bool meets) {
    Guarding g = {.func = inst->func, .arena = program->arena, .signs = !program->index_raises, .meets = meets};
    g.rereads = program->index_raises && program->small; /* a kernel of a GPU */
    g.declines = program->declines && inst == program->insts[0] && !inst->func->generator && !is_called(program, inst);
    g.counts = g.declines && program->brief && !program->uninterrupted;
    if (inst->func->prelude || !(g.counts || has_accesses(inst->func))) return;
    func_compute_order(inst->func);
    BackEdges edges = loop_back_edges(program->arena, inst->func);
    if (!edges.len || edges.len > MOST_LOOPS) return;
    g.s = intervals_of(program, inst);
    g.stand_ins = ARENA_ARRAY(program->arena, Value *, inst->func->next_value);
    g.search = (LimitSearch){.s = &g.s, .stand_ins = g.stand_ins, .known = inst->func->next_value};
    sort_edges(&edges);
    bool any = false;
    for (size_t e = 0; e < edges.len; e++) any |= in_loop(&g, &edges, edges.data[e]);
    if (!any) return;
    func_renumber(inst->func);
    Intervals again = intervals_of(program, inst); /* what the guards have checked */
    intervals_note(&again, inst->func);
}

bool pass_versions(Program *program) {
    bool meets = false;
    if (program->brief) safepoint_find_looping(program); /* of what a round calls */
    for (size_t i = 0; i < program->count; i++) meets |= has_meeting(program->insts[i]->func);
    for (size_t i = 0; i < program->count; i++) in_function(program, program->insts[i], meets);
    return true;
}
