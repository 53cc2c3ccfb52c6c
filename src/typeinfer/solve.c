/* solve.c: types and constants of all values of one function, by sparse conditional propagation.
 *
 * In: a clone of the untyped function.  Out: type and konst of every reached value; which edges can be taken; where a
 * block stops.
 *
 * Wegman and Zadeck, "Constant Propagation with Conditional Branches" (1991), with types beside the constants.  To be
 * done: blocks that became reachable, and values one of whose operands has a new fact; always the first in program
 * order, so that a join has seen every way to it, and a loop has settled, before what follows looks at it (a Python
 * number that becomes an int8 is not taken for an int64 by what is behind).  A value's fact is what its rule makes of
 * its operands' facts; phis join (lattice.c) what they held with the facts that come over edges that can be taken, and
 * since every cycle goes through a phi or a cell, whose facts only grow, this ends.
 *
 * Rules are not all monotone: numpy.sqrt of a Python float is float64, and of the float32 that the variable becomes in
 * a loop it is float32.  A join that met the first answer keeps it, though nothing gives it any more.  So when all is
 * settled, each phi and the result are joined anew from what holds now; where that is another type, the function is
 * solved once more, and the phis that had more than one type start with the one they ended with.
 *
 * A block stops at a value whose fact is bottom: a call of a function that has not returned yet or never does, or an
 * operation that is refused.  What follows is not reached.  At the first call of a function, all stops (pauses) until
 * that one was looked at: a loop behind it, which another way leads to, would settle without what it gives.  The solver
 * stays as it is until all functions of the compilation are solved: a call whose callee's result has changed is woken,
 * and the solving goes on from there, so that a function costs what its facts change, however many callees it waits
 * for.  When nothing changes any more, the first refusal in program order is repeated with its message. */
#include <string.h> /* memcmp, memcpy */

#include "typeinfer/rules.h" /* typeinfer_general */
#include "typeinfer/solver.h"

enum { MAX_STEPS_PER_VALUE = 400, MAX_SOLUTIONS = 8, MOST_HELD = 250 }; /* one type in another */

/* x of x.f(...), whose type the call depends on though that of x.f stays; else NULL. */
static const Value *receiver(const Value *value) {
    bool calls = value->op == OP_CALL || value->op == OP_CALL_EX;
    return calls && value->args[0]->op == OP_GETATTR ? value->args[0]->args[0] : NULL;
}

static void index_values(Infer *in, struct Solver *s) {
    Func *func = in->func;
    size_t total = 0;
    s->blocks = ARENA_ARRAY(in->arena, BlockState, func->next_block);
    s->place = ARENA_ARRAY(in->arena, uint32_t, func->next_value);
    s->first_user = ARENA_ARRAY(in->arena, uint32_t, func->next_value + 1);
    s->queued = ARENA_ARRAY(in->arena, bool, func->next_value);
    for (size_t b = 0; b < func->blocks.len; b++) {
        uint32_t place = 0;
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
            s->place[value->id] = place++;
            s->has_cells |= value->op == OP_CELL || value->op == OP_FUNCTION;
            value->mark = NULL;
            value->type = s->seeds[value->id] ? s->seeds[value->id] : infer_bottom(in);
            if (value->op != OP_CONST) value->konst = NULL;
            total += value->nargs;
            for (uint32_t i = 0; i < value->nargs; i++) s->first_user[value->args[i]->id + 1]++;
            if (!receiver(value)) continue;
            s->first_user[receiver(value)->id + 1]++;
            total++;
        }
    }
    for (uint32_t i = 0; i < func->next_value; i++) s->first_user[i + 1] += s->first_user[i];
    s->users = ARENA_ARRAY(in->arena, Value *, total);
    uint32_t *fill = ARENA_ARRAY(in->arena, uint32_t, func->next_value);
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs + (receiver(value) != NULL); i++) {
                uint32_t id = i < value->nargs ? value->args[i]->id : receiver(value)->id;
                s->users[s->first_user[id] + fill[id]++] = value;
            }
}

/* ---- what is to be done ---- */

static void push_work(Infer *in, Block *block, Value *value) {
    struct Solver *s = in->solver;
    uint64_t key = (uint64_t)block->order << 32 | (value ? s->place[value->id] + 1u : 0);
    vec_push(in->arena, &s->heap, ((Work){key, block, value}));
    Work *heap = s->heap.data;
    for (size_t at = s->heap.len - 1; at && heap[at].key < heap[(at - 1) / 2].key; at = (at - 1) / 2) {
        Work above = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = heap[at];
        heap[at] = above;
    }
}

static Work pop_work(struct Solver *s) {
    Work first = s->heap.data[0], last = vec_pop(&s->heap);
    Work *heap = s->heap.data;
    size_t at = 0, count = s->heap.len;
    for (size_t below = 1; below < count; below = 2 * at + 1) {
        if (below + 1 < count && heap[below + 1].key < heap[below].key) below++;
        if (last.key <= heap[below].key) break;
        heap[at] = heap[below];
        at = below;
    }
    if (count) heap[at] = last;
    return first;
}

static void enqueue(Infer *in, Value *value) {
    struct Solver *s = in->solver;
    if (s->queued[value->id] || !solver_sees(s, value)) return;
    s->queued[value->id] = true;
    push_work(in, value->block, value);
}

bool typeinfer_refuse_endless(Diag *diag, const Source *source, Span span, const char *what) {
    diag_fail(diag, DIAG_UNSUPPORTED, source, span, "the type of %s grows without end: it holds what it was before",
              what);
    diag_hint(diag, "keep what grows in a list of numbers or of tuples");
    return false;
}

static void refuse_endless(Infer *in, const Value *value) {
    if (in->diag->failed) return;
    const char *what = value->name ? arena_printf(in->arena, "`%s`", value->name) : "what this gives";
    typeinfer_refuse_endless(in->diag, in->func->source, value->span.line ? value->span : in->func->span, what);
}

void solver_set_fact(Infer *in, Value *value, Fact fact) {
    struct Solver *s = in->solver;
    if (fact.type->depth > MOST_HELD) refuse_endless(in, value);
    bool same_konst = value->konst == fact.konst ||
                      (value->konst && fact.konst && const_equal(value->konst, fact.konst));
    if (value->type == fact.type && same_konst) return;
    bool joins = value->op == OP_PHI || value->op == OP_CELL || value->op == OP_LIST || value->op == OP_DICT ||
                 value->op == OP_SET;
    if (joins && value->type != fact.type && value->type->kind != TY_BOTTOM) {
        s->seeds[value->id] = fact.type;
        s->moved = true;
    }
    value->type = fact.type;
    value->konst = fact.konst;
    s->changed = true;
    for (uint32_t u = s->first_user[value->id]; u < s->first_user[value->id + 1]; u++) enqueue(in, s->users[u]);
}

static void take_edge(Infer *in, Block *from, uint32_t which) {
    struct Solver *s = in->solver;
    BlockState *state = &s->blocks[from->id];
    if (state->taken & 1u << which) return;
    state->taken |= (uint8_t)(1u << which);
    Block *to = from->succs.data[which];
    if (!s->blocks[to->id].reached) {
        s->blocks[to->id].reached = true;
        push_work(in, to, NULL);
        return;
    }
    for (Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next) enqueue(in, phi);
}

/* ---- what growth.c asks ---- */

void solver_set_type(Infer *in, Value *value, const Type *type) { solver_set_fact(in, value, (Fact){type, NULL}); }

uint32_t solver_users(const Infer *in, const Value *value, Value *const **users) {
    const struct Solver *s = in->solver;
    *users = &s->users[s->first_user[value->id]];
    return s->first_user[value->id + 1] - s->first_user[value->id];
}

bool solver_expect(Infer *in, Value *call, const Type *type) {
    bool known = call->imm.inst || call->type->kind == TY_BOTTOM; /* not known yet whether it is compiled code's */
    if (!known || in->expected[call->id] == type) return false;
    in->expected[call->id] = type;
    enqueue(in, call);
    return true;
}

/* ---- cells ---- */

/* Whether a closure of this function stands somewhere inside a type. */
static bool holds_closure(const Type *type, ObjRef function) {
    for (uint32_t i = 0; i < type->count; i++) {
        const Type *item = type->items[i];
        if ((item->kind == TY_CLOSURE && item->object == function) || holds_closure(item, function)) return true;
    }
    return false;
}

bool solver_cell_set(Typing *t, Value *cell, const Type *content) {
    Infer *in = t->in;
    const Type *old = cell->type->items[0];
    const Type *joined = typeinfer_join(in->config->promotion, in->types, old, content);
    const char *name = cell->name ? cell->name : t->at->name ? t->at->name : "?";
    if (content->kind == TY_CLOSURE && holds_closure(content, content->object)) {
        typing_fail(t, DIAG_UNSUPPORTED, "the inner function `%s` reaches itself through other inner functions", name);
        return typing_hint(t, "define functions that call each other at module level");
    }
    if (!joined) return infer_fail_contents(t, name, content, old);
    if (!in->device) joined = typeinfer_general(in, joined);
    if (joined == old) return true;
    if (cell->op != OP_CELL) {
        typeinfer_grow(in, cell, type_with_items(in->types, TY_CELL, 0, &joined, 1)); /* the callers' */
        if (old->kind == TY_BOTTOM)
            return typing_fail(t, DIAG_NO_UNIFY, "what `%s` of the enclosing function holds is not known there", name);
        typing_fail(t, DIAG_NO_UNIFY,
                    "variable `%s` of the enclosing function holds %s there and cannot become %s here", name,
                    typing_text(t, old), typing_text(t, content));
        return typing_hint(t, "give it a value of type %s where it is first assigned", typing_text(t, joined));
    }
    solver_set_fact(in, cell, (Fact){type_with_items(in->types, TY_CELL, 0, &joined, 1), NULL});
    return true;
}

/* ---- evaluation ---- */

static bool is_bottom(const Value *value) { return value->type->kind == TY_BOTTOM; }

/* What holds nothing and is taken for something that does, does, too. */
static void fill_operands(const Typing *t) {
    for (size_t i = 0; i < t->nargs; i++)
        if (t->to[i]) typeinfer_fill(t->in, t->values[i], t->args[i].type, t->to[i]);
}

/* The fact of a value; false: its block stops here. */
static bool visit(Infer *in, Value *value) {
    if (value->op == OP_PHI) return solver_visit_phi(in, value);
    if (value->op == OP_UNDEF) return true;
    for (uint32_t i = 0; i < value->nargs; i++)
        if (is_bottom(value->args[i])) return solver_set_fact(in, value, (Fact){infer_bottom(in), NULL}), false;
    TypingSpace space;
    Typing t;
    typing_open(&t, in, value, &space);
    if (!typing_run(&t)) {
        if (t.failed) solver_unname_operands(in, value);
        solver_set_fact(in, value, (Fact){infer_bottom(in), value->op == OP_CONST ? value->konst : NULL});
        return false;
    }
    value->imm.inst = t.inst;
    fill_operands(&t);
    solver_set_fact(in, value, (Fact){t.result, t.konst});
    if (value->op == OP_GETATTR && t.result->kind == TY_FUNC) /* the call sees what the method is of */
        for (uint32_t u = in->solver->first_user[value->id]; u < in->solver->first_user[value->id + 1]; u++)
            enqueue(in, in->solver->users[u]);
    return t.result->kind != TY_BOTTOM;
}

static void leave_block(Infer *in, Block *block) {
    const Value *end = block->last;
    if (end->op == OP_JUMP) take_edge(in, block, 0);
    if (end->op != OP_BRANCH) return;
    const Const *condition = end->args[0]->konst;
    if (!condition || condition->i) take_edge(in, block, 0);
    if (!condition || !condition->i) take_edge(in, block, 1);
}

static void run_block(Infer *in, Block *block, Value *from) {
    BlockState *state = &in->solver->blocks[block->id];
    if (block->unwinds) take_edge(in, block, (uint32_t)block->succs.len - 1); /* something in it may raise */
    for (Value *value = from; value; value = value->next) {
        state->stop = value; /* so far; users in the rest of the block are visited anyway */
        if (!visit(in, value)) return;
    }
    state->stop = NULL;
    leave_block(in, block);
}

static void revisit(Infer *in, Value *value) {
    BlockState *state = &in->solver->blocks[value->block->id];
    if (!solver_sees(in->solver, value)) return;
    bool fine = visit(in, value);
    if (!fine) {
        state->stop = value;
    } else if (state->stop == value) {
        if (value->next)
            run_block(in, value->block, value->next);
        else
            state->stop = NULL, leave_block(in, value->block);
    } else if (value == value->block->last) {
        leave_block(in, value->block);
    }
}

static bool propagate(Infer *in) {
    struct Solver *s = in->solver;
    size_t limit = ((size_t)in->func->next_value + 16) * MAX_STEPS_PER_VALUE;
    while (s->heap.len && !in->inst->pauses) {
        if (in->diag->failed) return false; /* a callee could not be translated */
        FAIL_IF(s->steps++ > limit, in->diag, LOWERING, in->func->source, in->func->span,
                "the types of %s do not settle", in->func->name);
        Work work = pop_work(s);
        if (!work.value) {
            run_block(in, work.block, work.block->first);
            continue;
        }
        s->queued[work.value->id] = false;
        revisit(in, work.value);
    }
    return !in->diag->failed;
}

/* The call of an inner function that refers to itself depends on cells that are not its operands (binding.c): with
 * cells about, everything is looked at again until that changes nothing. */
static bool settle(Infer *in) {
    struct Solver *s = in->solver;
    do {
        TRY(propagate(in));
        if (in->inst->pauses) return true;
        s->changed = false;
        for (size_t b = 0; s->has_cells && b < in->func->blocks.len; b++)
            for (Value *value = in->func->blocks.data[b]->first; value; value = value->next) enqueue(in, value);
        TRY(propagate(in));
    } while (s->changed && !in->inst->pauses);
    return true;
}

bool solver_report(Infer *in) {
    in->quiet = false;
    for (size_t b = 0; b < in->func->blocks.len; b++) {
        Block *block = in->func->blocks.data[b];
        Value *stop = in->solver->blocks[block->id].stop;
        if (!in->solver->blocks[block->id].reached || !stop) continue;
        bool waits = false;
        for (uint32_t i = 0; i < stop->nargs; i++) waits |= is_bottom(stop->args[i]);
        if (stop->op == OP_PHI)
            TRY(solver_visit_phi(in, stop));
        else if (!waits) {
            TypingSpace space;
            Typing t;
            typing_open(&t, in, stop, &space);
            if (typing_run(&t)) continue;
            FAIL_IF(!in->diag->failed, in->diag, TYPING, in->func->source, stop->span, "this cannot be typed (%s)",
                    op_info[stop->op].text);
            return false;
        }
    }
    return true;
}

/* Rounds of loops are values with new numbers. */
static void make_room_for_expected(Infer *in) {
    const Type **expected = in->expected;
    if (in->nexpected == in->func->next_value) return;
    in->expected = ARENA_ARRAY(in->arena, const Type *, in->func->next_value);
    if (expected) memcpy(in->expected, expected, in->nexpected * sizeof *expected);
    in->nexpected = in->func->next_value;
}

static void start(Infer *in, const Type **seeds) {
    struct Solver *s = in->solver = ARENA_NEW(in->arena, struct Solver);
    s->result = (Fact){infer_bottom(in), NULL};
    s->seeds = seeds;
    index_values(in, s);
    narrow_open(in);
    make_room_for_expected(in);
    Block *entry = in->func->blocks.data[0];
    s->blocks[entry->id].reached = true;
    push_work(in, entry, NULL);
}

void solver_open(Infer *in) {
    func_compute_order(in->func);
    start(in, ARENA_ARRAY(in->arena, const Type *, in->func->next_value));
}

void solver_ask_rounds(Infer *in, Value *iter, uint32_t count) {
    in->solver->rounds_of = iter;
    in->solver->rounds = count;
}

static bool make_rounds(Infer *in) {
    Value *iter = in->solver->rounds_of;
    uint32_t rounds = in->solver->rounds;
    return rounds == WALK ? infer_make_walk(in, iter) : infer_make_rounds(in->func, iter, rounds);
}

/* Settles, and does so anew whenever a loop has become its rounds, or cannot: its items then have one type, if any. */
static bool settle_rounds(Infer *in) {
    TRY(settle(in));
    while (in->solver->rounds_of && !in->inst->pauses) {
        size_t count = in->func->next_value;
        const Type **seeds = in->solver->seeds;
        const Value *iter = in->solver->rounds_of;
        bool walk = in->solver->rounds == WALK;
        if (!make_rounds(in)) {
            if (walk) break;
            vec_push(in->arena, &in->whole, iter);
        }
        const Type **more = ARENA_ARRAY(in->arena, const Type *, in->func->next_value);
        memcpy(more, seeds, count * sizeof *more);
        start(in, more);
        TRY(settle(in));
    }
    return true;
}

bool solver_run(Infer *in) {
    const Type **before = NULL;
    size_t count = 0;
    in->quiet = true;
    TRY(settle_rounds(in));
    if (in->inst->pauses) return true;
    for (int solutions = 1; solutions < MAX_SOLUTIONS && in->solver->moved && solver_joins_are_stale(in); solutions++) {
        const Type **seeds = in->solver->seeds;
        if (count != in->func->next_value) before = ARENA_ARRAY(in->arena, const Type *, in->func->next_value);
        count = in->func->next_value;
        if (memcmp(before, seeds, count * sizeof *seeds) == 0) break; /* nothing would start otherwise */
        memcpy(before, seeds, count * sizeof *seeds);
        start(in, seeds);
        in->solver->moved = true; /* look again */
        TRY(settle_rounds(in));
        if (in->inst->pauses) return true;
    }
    in->result = solver_join_returns(in);
    if (in->func->generator) in->result = solver_generator_result(in, in->result);
    return true;
}

void solver_wake(Infer *in, Value *call) { enqueue(in, call); }

bool solver_reached(const Infer *in, const Block *block) { return in->solver->blocks[block->id].reached; }
Value *solver_stop(const Infer *in, const Block *block) { return in->solver->blocks[block->id].stop; }
