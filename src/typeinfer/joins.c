/* joins.c: what meets where ways of the solver come together: at phis, and at the returns of a function.
 *
 * In: the facts of the operands that come over edges that can be taken.  Out: the fact that they have together
 * (lattice.c), or a refusal that names two of them.  A join keeps what it has seen; when all is settled, joins are made
 * anew from what holds then (solve.c says why). */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h" /* typeinfer_general */
#include "typeinfer/solver.h"

static bool edge_taken(const struct Solver *s, const Block *from, const Block *to) {
    const BlockState *state = &s->blocks[from->id];
    for (uint32_t i = 0; i < from->succs.len; i++)
        if (from->succs.data[i] == to && state->taken & 1u << i) return true;
    return false;
}

/* ---- phis ---- */

/* What a phi has its type of: an operand that is none, and not None, a few phis away. */
static const Value *origin(const Value *value, int depth) {
    for (uint32_t i = 0; value->op == OP_PHI && depth && i < value->nargs; i++) {
        const Value *from = origin(value_resolve(value->args[i]), depth - 1);
        if (from->op != OP_PHI && from->type && infer_content(from->type) == infer_content(value->type)) return from;
    }
    return value;
}

static const char *shown(Infer *in, const Value *value) {
    enum { DEPTH = 4 };
    const Value *from = origin(value, DEPTH);
    const char *type = infer_text(in, value->type);
    if (from->op == OP_PARAM && from->name) return arena_printf(in->arena, "%s (the argument `%s`)", type, from->name);
    return from->span.line ? arena_printf(in->arena, "%s (line %u)", type, from->span.line) : type;
}

/* Its name is that of another variable, which an expression takes on one way: X if n else Y. */
static bool is_expression(const Value *phi) {
    const char *first = NULL;
    for (uint32_t i = 0; i < phi->nargs; i++) {
        const char *name = phi->args[i]->name;
        if (!name) continue;
        if (first && strcmp(first, name) != 0) return !phi->name;
        first = name;
    }
    return false;
}

/* Where an expression that has no place of its own is used, in its block. */
static Span place_of_use(const Value *phi) {
    for (const Value *v = phi->next; v; v = v->next)
        for (uint32_t i = 0; v->span.line && i < v->nargs; i++)
            if (v->args[i] == phi) return v->span;
    return phi->span;
}

static bool no_join(Infer *in, Value *at, const char *name, const Value *a, const Value *b) {
    if (in->quiet) return false;
    bool expression = is_expression(at);
    Span span = expression ? place_of_use(at) : at->span;
    const char *what = name && !expression ? arena_printf(in->arena, "variable `%s`", name)
                       : expression        ? "an expression that takes one of two values"
                                           : "an expression";
    diag_fail(in->diag, DIAG_NO_UNIFY, in->func->source, span.line ? span : b->span,
              "%s is %s on one path and %s on another", what, shown(in, a), shown(in, b));
    if (a->type->kind == b->type->kind &&
        (a->type->kind == TY_FUNC || a->type->kind == TY_PYFUNC || a->type->kind == TY_CLOSURE))
        diag_hint(in->diag,
                  "which function is called must be known when this one is compiled: call each in its own branch");
    else
        diag_hint(in->diag, expression
                                ? "give both values one type, or write two branches, each with what is made of its own"
                                : "give it values of one type on every path, or use two names");
    return false;
}

/* What operand number i of `at` is there. */
static Fact operand_fact(Infer *in, const Value *at, uint32_t i) {
    const Value *arg = at->args[i];
    bool holds = arg->type->kind == TY_OPTIONAL && narrow_operand(in, at, i, arg);
    return (Fact){holds ? arg->type->items[0] : arg->type, arg->konst};
}

/* Joins *fact with the operands that come over edges taken; the operand that does not join, or NULL.  Promotion is not
 * associative: the highest kind of number comes first, as in numpy.result_type, so that the order of the paths does not
 * matter. */
static const Value *join_operands(Infer *in, const Value *phi, Fact *fact) {
    for (int rank = 0; rank < TYPEINFER_RANKS; rank++)
        for (uint32_t i = 0; i < phi->nargs; i++) {
            const Value *arg = phi->args[i];
            if (typeinfer_join_rank(arg->type) != rank) continue;
            if (!edge_taken(in->solver, phi->block->preds.data[i], phi->block) || arg->type->kind == TY_BOTTOM)
                continue;
            if (!typeinfer_fact_join(in, *fact, operand_fact(in, phi, i), fact)) return arg;
        }
    return NULL;
}

bool solver_visit_phi(Infer *in, Value *phi) {
    Fact fact = {phi->type, phi->konst};
    const Value *seen = NULL, *arg = join_operands(in, phi, &fact);
    if (arg && phi->type->kind != TY_BOTTOM) { /* perhaps of a list that holds something else since it was seen */
        fact = (Fact){infer_bottom(in), NULL};
        arg = join_operands(in, phi, &fact);
    }
    if (arg && solver_agree_on_names(in, phi->args, phi->nargs)) {
        solver_set_fact(in, phi, (Fact){infer_bottom(in), NULL}); /* it is looked at again */
        return false;
    }
    if (arg) {
        const char *name = phi->name ? phi->name : arg->name;
        for (uint32_t k = 0; k < phi->nargs && !seen; k++)
            if (phi->args[k] != arg && phi->args[k]->type->kind != TY_BOTTOM &&
                !typeinfer_join(in->config->promotion, in->types, phi->args[k]->type, arg->type))
                seen = phi->args[k];
        return no_join(in, phi, name, seen ? seen : phi, arg);
    }
    /* A phi that was known not to be constant stays so. */
    if (phi->type->kind != TY_BOTTOM && !phi->konst) fact.konst = NULL;
    if (fact.konst && fact.konst->type != fact.type) fact.konst = NULL;
    for (uint32_t i = 0; (type_is_container(fact.type) || type_is_shared(fact.type)) && i < phi->nargs; i++)
        if (phi->args[i]->type->kind == fact.type->kind) typeinfer_grow(in, phi->args[i], fact.type);
    solver_set_fact(in, phi, fact);
    return true;
}

/* ---- bools that meet other numbers ---- */

enum { MIXED_DEPTH = 6 };

/* A value of this kind, a bool or another number, that may be what `value` is; NULL: none. */
static const Value *value_among(Infer *in, const Value *value, bool boolean, int depth) {
    value = value_resolve((Value *)value);
    const Type *type = value->type ? infer_content(value->type) : NULL;
    bool number = type && type->kind == TY_SCALAR && type->weak && !type->object;
    if (!number || depth == 0) return NULL;
    if (value->op != OP_PHI) return (type->scalar == SCALAR_BOOL) == boolean ? value : NULL;
    const Value *found = NULL;
    for (uint32_t i = 0; i < value->nargs && !found; i++)
        if (edge_taken(in->solver, value->block->preds.data[i], value->block))
            found = value_among(in, value->args[i], boolean, depth - 1);
    return found;
}

bool typing_refuse_mixed(Typing *t, size_t arg) {
    Infer *in = t->in;
    const Value *value = t->is_part || t->emit ? NULL : t->values[arg];
    if (!value || in->device || in->func->prelude || value_resolve((Value *)value)->op != OP_PHI) return true;
    const Value *boolean = value_among(in, value, true, MIXED_DEPTH);
    const Value *number = boolean ? value_among(in, value, false, MIXED_DEPTH) : NULL;
    if (!number) return true;
    typing_fail_arg(t, arg, DIAG_NO_UNIFY, "%s is %s on one path and %s on another, which is seen here",
                    value->name ? arena_printf(in->arena, "`%s`", value->name) : "an expression", shown(in, boolean),
                    shown(in, number));
    return typing_hint(t, "in compiled code it is a number on both: convert one of them, int(x) or bool(x), or do this "
                          "in each branch");
}

/* ---- returns ---- */

/* "int (`y`, line 3)", "array(float64, 1, C) (the argument `x`)", or "int". */
static const char *returned(Infer *in, const Value *value, bool with_line) {
    const char *type = infer_text(in, value->type);
    if (value->op == OP_PARAM && value->name)
        return arena_printf(in->arena, "%s (the argument `%s`)", type, value->name);
    if (value->name && value->span.line)
        return arena_printf(in->arena, "%s (`%s`, line %u)", type, value->name, value->span.line);
    return with_line ? shown(in, value) : type;
}

static bool hint_at_results(Typing *t, const Value *before, const Value *now) {
    const Type *a = before->type, *b = now->type;
    bool array = a->kind == TY_ARRAY || b->kind == TY_ARRAY, tuple = a->kind == TY_TUPLE || b->kind == TY_TUPLE;
    bool scalar = a->kind == TY_SCALAR || b->kind == TY_SCALAR;
    if (array && scalar)
        return typing_hint(
            t, "return an array on every path, np.zeros_like(x) or the empty x[:0]; or None in place of the "
               "number, for which the caller tests");
    if (tuple && scalar) return typing_hint(t, "return a tuple on every path, (x, x), or a number on every path");
    bool variable = before->name && now->name && strcmp(before->name, now->name) == 0;
    if (variable && before->op != OP_PARAM && now->op != OP_PARAM && before->span.line && now->span.line)
        return typing_hint(t, "give `%s` values of one type in lines %u and %u, or None in place of one of them",
                           now->name, now->span.line, before->span.line);
    return typing_hint(t, "return values of one type on every path, or None where there is nothing to return");
}

/* Two types that no type joins: of one statement, which two paths come to, or of two. */
static bool no_result(Typing *t, const Value *now, const Value *at) {
    Infer *in = t->in;
    const Value *first = in->solver->first_return, *before = first->args[0];
    if (in->quiet) return false;
    if (first->span.line == at->span.line)
        typing_fail(t, DIAG_NO_UNIFY, "what is returned is %s on one path and %s on another",
                    returned(in, before, true), returned(in, now, true));
    else
        typing_fail(t, DIAG_NO_UNIFY, "the function returns %s in line %u and %s in line %u",
                    returned(in, before, false), first->span.line, returned(in, now, false), at->span.line);
    return hint_at_results(t, before, now);
}

static bool holds_cell(const Type *type) {
    for (uint32_t i = 0; i < type->count; i++)
        if (type->items[i]->kind == TY_CELL || holds_cell(type->items[i])) return true;
    return false;
}

static bool makes_cells(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_CELL) return true;
    return false;
}

/* Of a comprehension Python makes a function (until 3.11). */
static bool is_part_of_caller(const Func *func) { return *func->name == '<' && strcmp(func->name, "<lambda>") != 0; }

/* A cell is memory of the function that makes it.  One that a function was given, by its caller or a callee, outlives
 * it. */
static bool returns_cell(Typing *t, const Type *type) {
    if (!holds_cell(type) || !makes_cells(t->in->func)) return false;
    if (is_part_of_caller(t->in->func)) {
        typing_fail(t, DIAG_UNSUPPORTED,
                    "functions that are made in a comprehension and use its variable cannot be its items: all of them "
                    "would share that one variable, as it is after the last round");
        typing_hint(t, "give each function the value of its own round: a default, lambda x, i=i: ..., or make it in "
                       "another function that takes the value");
        return true;
    }
    typing_fail(t, DIAG_UNSUPPORTED,
                "a function that shares a changing variable with the one that made it cannot be returned");
    typing_hint(t, "assign the variable once, before the inner function, or keep it in an array");
    return true;
}

/* The first value of the function, or the next behind `value`, that gives a result: a return statement, of a generator
 * a yield.  NULL: there is none. */
static const Value *next_result(const Func *func, const Value *value, size_t *b) {
    for (;; value = NULL) {
        if (!value && *b == func->blocks.len) return NULL;
        const Block *block = value ? value->block : func->blocks.data[(*b)++];
        value = value ? value->next : func->generator ? block->first : block->last;
        for (; value; value = value->next)
            if (value->op == (func->generator ? OP_YIELD : OP_RETURN) && value->nargs) return value;
    }
}

/* What one return statement gives and holds nothing is what the others give; one that did not join may now. */
static void fill_returns(Infer *in) {
    const struct Solver *s = in->solver;
    size_t b = 0;
    for (const Value *at = NULL; (at = next_result(in->func, at, &b));) {
        if (!s->blocks[at->block->id].reached) continue;
        Value *value = value_resolve(at->args[0]);
        typeinfer_fill(in, value, value->type, s->result.type);
        if (s->blocks[at->block->id].stop == at) solver_wake(in, s->blocks[at->block->id].stop);
    }
}

/* Joins what was returned with what is.  A list that grew is not what it was when it was seen: then all returns are
 * joined anew. */
static bool join_result(Infer *in, Fact fact, Fact *joined) {
    struct Solver *s = in->solver;
    if (typeinfer_fact_join(in, s->result, fact, joined)) return true;
    Fact anew = solver_join_returns(in);
    if (anew.type == s->result.type || !typeinfer_fact_join(in, anew, fact, joined)) return false;
    s->result = anew;
    return s->moved = true;
}

/* Dicts that several return statements give, and that have names in some of them. */
static bool agree_on_results(Infer *in) {
    VEC(Value *) given = {0};
    size_t b = 0;
    for (const Value *at = NULL; (at = next_result(in->func, at, &b));)
        if (solver_sees(in->solver, at)) vec_push(in->arena, &given, at->args[0]);
    return solver_agree_on_names(in, given.data, (uint32_t)given.len);
}

bool solver_return(Typing *t, Fact fact) {
    Infer *in = t->in;
    struct Solver *s = in->solver;
    Fact joined;
    if (returns_cell(t, fact.type)) return false;
    const Type *before = s->result.type;
    if (!join_result(in, fact, &joined)) {
        t->failed = true;
        if (agree_on_results(in)) return false;
        return no_result(t, t->values[0], t->at);
    }
    if (s->result.type->kind != TY_BOTTOM && !s->result.konst) joined.konst = NULL;
    bool changed = before != joined.type;
    s->result = joined;
    if (changed) fill_returns(in);
    typeinfer_fill(in, t->values[0], fact.type, joined.type);
    if (!s->first_return) s->first_return = t->at;
    if (in->inst->expected && !in->func->generator) typeinfer_grow(in, t->values[0], in->inst->expected);
    return true;
}

/* ---- joins that kept what nothing gives any more ---- */

/* Joins the phi from what its operands are now; true if that is another type than it has.  It starts with that one. */
static bool rejoin(Infer *in, const Value *phi) {
    Fact fact = {infer_bottom(in), NULL};
    if (join_operands(in, phi, &fact) || fact.type->kind == TY_BOTTOM) return false;
    const Type **seed = &in->solver->seeds[phi->id];
    if (phi->type->kind == TY_VARTUPLE) return false; /* it never has a known length again */
    if (*seed) *seed = fact.type;
    return fact.type != phi->type;
}

/* What the returns give together, now: as join_operands. */
Fact solver_join_returns(Infer *in) {
    struct Solver *s = in->solver;
    Fact result = {infer_bottom(in), NULL};
    bool general = in->leaves || in->func->generator;
    if (s->result.type->kind == TY_VARTUPLE) return s->result; /* it never has a known length again */
    for (int rank = 0; rank < TYPEINFER_RANKS; rank++) {
        size_t b = 0;
        for (const Value *at = NULL; (at = next_result(in->func, at, &b));) {
            if (!solver_sees(s, at) || at->args[0]->type->kind == TY_BOTTOM) continue;
            Fact given = operand_fact(in, at, 0);
            const Type *type = general ? typeinfer_general(in, given.type) : given.type;
            if (type != given.type) given = (Fact){type, NULL};
            if (typeinfer_join_rank(given.type) != rank) continue;
            if (!typeinfer_fact_join(in, result, given, &result)) return s->result;
        }
    }
    return result;
}

/* What the return statements of a generator give together. */
static const Type *join_ends(Infer *in) {
    const Type *joined = infer_bottom(in);
    for (size_t b = 0; b < in->func->blocks.len; b++) {
        const Value *end = in->func->blocks.data[b]->last;
        if (end->op != OP_RETURN || !solver_sees(in->solver, end)) continue;
        const Type *given = typeinfer_general(in, value_resolve(end->args[0])->type);
        const Type *more = typeinfer_join(in->config->promotion, in->types, joined, given);
        if (more) joined = more; /* the cast that has no way is refused where it is made (rule_control) */
    }
    return joined->kind == TY_BOTTOM ? infer_none(in) : joined;
}

const Type *infer_sent(Infer *in) {
    return in->inst->expected ? type_sent(in->types, in->inst->expected) : infer_none(in);
}

/* A call makes a generator of what is yielded: of nothing that is known, as long as nothing is; of None, if it returns
 * without ever yielding anything. */
Fact solver_generator_result(Infer *in, Fact yielded) {
    bool ends = false, waits = false;
    for (size_t b = 0; b < in->func->blocks.len; b++) {
        const Block *block = in->func->blocks.data[b];
        const BlockState *state = &in->solver->blocks[block->id];
        ends |= block->last->op == OP_RETURN && solver_sees(in->solver, block->last);
        waits |= state->reached && state->stop;
    }
    bool empty = yielded.type->kind == TY_BOTTOM && ends && !waits;
    const Type *item = empty ? infer_none(in) : yielded.type;
    return (Fact){type_generator(in->types, item, infer_sent(in), join_ends(in)), NULL};
}

bool solver_joins_are_stale(Infer *in) {
    struct Solver *s = in->solver;
    bool stale = false;
    s->moved = false;
    for (size_t b = 0; b < in->func->blocks.len; b++) {
        const Block *block = in->func->blocks.data[b];
        if (!s->blocks[block->id].reached) continue;
        for (const Value *phi = block->first; phi && phi->op == OP_PHI && solver_sees(s, phi); phi = phi->next)
            stale |= rejoin(in, phi);
    }
    return stale || solver_join_returns(in).type != s->result.type;
}
