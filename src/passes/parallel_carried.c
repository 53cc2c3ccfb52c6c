/* parallel_carried.c: what a loop over prange carries from one iteration to the next.
 *
 * In: the blocks of an iteration, and the header, whose phis are the variables that change.  Out: a Carried for each.
 *
 * A phi's web is what depends on it and what its value of the next iteration depends on.  Without a web the variable is
 * assigned anew in each iteration: the last one's value is what is seen afterwards.  With one it is a reduction if the
 * web is made of phis of it alone and of one kind of operation, each of which puts one number more to the running one,
 * and nothing else in the loop looks at the running number: then iterations may run in any grouping.  Anything else is
 * refused. */
#include "passes/parallel.h"

#include <math.h> /* INFINITY */

bool parallel_in_web(const Web *web, const Value *value) {
    return value == web->phi || (web->depends[value->id] && web->feeds[value->id]);
}

static bool in_web(const Web *web, const Value *value) { return parallel_in_web(web, value); }

static void find_dependents(Web *web) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = 0; b < web->loop->blocks.len; b++)
            for (const Value *value = web->loop->blocks.data[b]->first; value; value = value->next) {
                if (web->depends[value->id]) continue;
                bool depends = false;
                for (uint32_t i = 0; i < value->nargs && !depends; i++)
                    depends = value->args[i] == web->phi || web->depends[value->args[i]->id];
                web->depends[value->id] = depends;
                changed |= depends;
            }
    }
}

static void find_feeders(Web *web) {
    VEC(Value *) work = {0};
    Arena *arena = web->loop->func->arena;
    vec_push(arena, &work, web->phi);
    while (work.len) {
        Value *value = vec_pop(&work);
        for (uint32_t i = 0; i < value->nargs; i++) {
            Value *arg = value->args[i];
            if (!web->depends[arg->id] || web->feeds[arg->id]) continue;
            web->feeds[arg->id] = true;
            vec_push(arena, &work, arg);
        }
    }
}

Web parallel_web(ParallelLoop *loop, Value *phi) {
    Web web = {loop, phi, ARENA_ARRAY(loop->func->arena, bool, loop->func->next_value),
               ARENA_ARRAY(loop->func->arena, bool, loop->func->next_value)};
    find_dependents(&web);
    find_feeders(&web);
    return web;
}

/* ---- refusals ---- */

static const char *variable(const Value *phi, const Value *at) {
    return phi->name ? phi->name : at && at->name ? at->name : "a variable";
}

static const char looked_at[] = "its value so far is used here";

static bool refuse(const Web *web, const Value *at, const char *what) {
    const ParallelLoop *loop = web->loop;
    diag_fail(loop->diag, DIAG_UNSUPPORTED, loop->func->source, at->span,
              "`%s` carries a value from one iteration of prange to the next: %s", variable(web->phi, at), what);
    bool truth = web->phi->type && type_is_scalar(web->phi->type) && type_scalar_kind(web->phi->type) == 'b';
    bool number = web->phi->type && type_is_scalar(web->phi->type) && type_is_integer(web->phi->type);
    const char *name = variable(web->phi, at);
    if (truth)
        diag_hint(
            loop->diag,
            "iterations run in any order: `%s = %s and ...` and `%s = %s or ...` are reductions where nothing else "
            "in the loop looks at `%s`; or use range",
            name, name, name, name, name);
    else
        diag_hint(loop->diag,
                  "iterations run in any order: use range, or a reduction (s += x, m = max(m, x)), or an array with an "
                  "item for each iteration%s",
                  !number             ? ""
                  : what == looked_at ? "; a mask collects items without a counter, x[x > 0] or np.flatnonzero(x > 0)"
                                      : "; np.argmax and np.argmin say where the largest and the smallest item stand");
    diag_note(loop->diag, loop->func->source, loop->range->span, "this loop");
    return false;
}

/* ---- reductions ---- */

Putting parallel_putting(const Value *value) {
    switch (value->op) {
    case OP_ADD:
    case OP_SUB: return PUT_SUM;
    case OP_MUL:
    case OP_TRUEDIV: return PUT_PRODUCT;
    case OP_AND: return PUT_AND;
    case OP_OR: return PUT_OR;
    case OP_XOR: return PUT_XOR;
    case OP_CALL_FUNC: {
        static const FuncId funcs[] = {FUNC_PY_MIN,     FUNC_PY_MAX,  FUNC_NP_MINIMUM,
                                       FUNC_NP_MAXIMUM, FUNC_NP_FMIN, FUNC_NP_FMAX};
        for (size_t i = 0; i < COUNT_OF(funcs); i++)
            if (value_calls(value, funcs[i]) && value->nargs >= 2) return PUT_CALL;
        return PUT_NONE;
    }
    default: return PUT_NONE;
    }
}

/* max(s, x) of floats passes a NaN over, max(x, s) is the NaN, and then what comes next. */
bool parallel_is_ordered(const Value *value) {
    if (value_calls(value, FUNC_PY_MIN) || value_calls(value, FUNC_PY_MAX))
        return type_is_scalar(value->type) && type_scalar_kind(value->type) == 'f';
    return value->op == OP_SUB || value->op == OP_TRUEDIV;
}

static bool is_lower(const FuncHead *func) {
    return func && (func->id == FUNC_PY_MIN || func->id == FUNC_NP_MINIMUM || func->id == FUNC_NP_FMIN);
}

/* Sums begin with -0.0, for 0.0 would make 0.0 of -0.0. */
const Const *parallel_identity(Arena *arena, const Type *type, Putting putting, const FuncHead *func) {
    Const *konst = ARENA_NEW(arena, Const);
    char kind = type_scalar_kind(type);
    Bounds bounds = kind == 'f' || kind == 'c' ? (Bounds){0, 0} : type_bounds(type);
    konst->type = type;
    double number = putting == PUT_SUM ? -0.0 : putting == PUT_PRODUCT ? 1 : is_lower(func) ? INFINITY : -INFINITY;
    if (kind == 'f')
        konst->f = number;
    else if (kind == 'c')
        konst->c.re = number, konst->c.im = putting == PUT_SUM ? -0.0 : 0.0;
    else if (putting == PUT_CALL)
        konst->i = is_lower(func) ? (type->scalar == SCALAR_UINT64 ? -1 : bounds.hi) : bounds.lo;
    else
        konst->i = putting == PUT_PRODUCT ? 1 : putting == PUT_AND ? (kind == 'b' ? 1 : -1) : 0;
    return konst;
}

/* Whether a value of the web puts one number more to the running one, as the others do. */
static bool is_step(const Web *web, const Value *value, Putting *putting, const FuncHead **func) {
    Putting this = parallel_putting(value);
    uint32_t count = 0, which = 0;
    for (uint32_t i = 0; i < value->nargs; i++)
        if (in_web(web, value->args[i])) count++, which = i;
    if (this == PUT_NONE || count != 1) return false;
    if (which != 0 && parallel_is_ordered(value)) {
        if (this != PUT_CALL) return false;
        web->loop->ordered = value;
    }
    if (!type_is_scalar(value->type) || value->type != web->phi->type) return false;
    const FuncHead *head = this == PUT_CALL ? value->imm.func : NULL;
    if (*putting != PUT_NONE && (this != *putting || head != *func)) return false;
    *putting = this;
    *func = head;
    return true;
}

/* A phi of the web by which another value than the running number comes in: the variable is sometimes set anew, and
 * what the iterations before have put to it is lost.  NULL: none. */
static const Value *find_fresh(const Web *web) {
    const ParallelLoop *loop = web->loop;
    for (uint32_t i = 0; i < web->phi->nargs; i++)
        if (loop->inside[loop->head->preds.data[i]->id] && !in_web(web, web->phi->args[i])) return web->phi->args[i];
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value && value->op == OP_PHI; value = value->next)
            for (uint32_t i = 0; in_web(web, value) && i < value->nargs; i++)
                if (!in_web(web, value->args[i])) return value->args[i];
    return NULL;
}

/* The one constant that a web of phis is set to, as found = True; NULL: there is another value, too. */
static const Const *find_flag(const Web *web) {
    const Const *flag = NULL;
    for (size_t b = 0; b <= web->loop->blocks.len; b++) {
        const Block *block = b < web->loop->blocks.len ? web->loop->blocks.data[b] : web->loop->head;
        for (const Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next)
            for (uint32_t i = 0; in_web(web, phi) && i < phi->nargs; i++) {
                const Value *value = phi->args[i];
                if (in_web(web, value) || (phi == web->phi && !web->loop->inside[block->preds.data[i]->id])) continue;
                if (!value->konst || (flag && !const_equal(flag, value->konst))) return NULL;
                flag = value->konst;
            }
    }
    bool known = flag && type_is_scalar(flag->type) && flag->type == web->phi->type;
    return known && (type_is_integer(flag->type) || type_scalar_kind(flag->type) == 'b') ? flag : NULL;
}

static bool is_reduction(const Web *web, Carried *carried) {
    static const Op ops[] = {[PUT_SUM] = OP_ADD, [PUT_PRODUCT] = OP_MUL, [PUT_CALL] = OP_CALL_FUNC,
                             [PUT_AND] = OP_AND, [PUT_OR] = OP_OR,       [PUT_XOR] = OP_XOR};
    const ParallelLoop *loop = web->loop;
    Putting putting = PUT_NONE;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (Value *value = loop->blocks.data[b]->first; value; value = value->next) {
            if (!in_web(web, value) || value->op == OP_PHI) continue;
            vec_push(loop->func->arena, &web->loop->steps, value);
            if (!is_step(web, value, &putting, &carried->func))
                return refuse(web, value,
                              value->type && value->type->kind == TY_ARRAY ? "every iteration changes the same array"
                                                                           : "this is no reduction that is known");
        }
    if (putting == PUT_NONE) return true; /* phis alone */
    const Value *fresh = find_fresh(web);
    if (fresh)
        return refuse(web, fresh->block && loop_has(loop, fresh) ? fresh : web->phi,
                      "it is set anew here, in some iterations, and what others have added to it is lost");
    carried->kind = CARRY_REDUCE;
    carried->op = ops[putting];
    carried->identity = parallel_identity(loop->func->arena, web->phi->type, putting, carried->func);
    return true;
}

/* ---- one variable ---- */

static bool is_seen_after(const ParallelLoop *loop, const Value *phi) {
    for (size_t b = 0; b < loop->func->blocks.len; b++) {
        const Block *block = loop->func->blocks.data[b];
        if (loop->inside[block->id] || block == loop->head) continue;
        for (const Value *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->args[i] == phi) return true;
    }
    return false;
}

/* What looks at the running value but does not become part of it; NULL: nothing. */
static const Value *find_onlooker(const Web *web) {
    for (size_t b = 0; b < web->loop->blocks.len; b++)
        for (const Value *value = web->loop->blocks.data[b]->first; value; value = value->next) {
            if (in_web(web, value)) continue;
            for (uint32_t i = 0; i < value->nargs; i++)
                if (in_web(web, value->args[i])) return value;
        }
    for (const Value *phi = web->loop->head->first; phi && phi->op == OP_PHI; phi = phi->next)
        for (uint32_t i = 0; phi != web->phi && i < phi->nargs; i++)
            if (in_web(web, phi->args[i])) return phi;
    return NULL;
}

/* Where a variable that keeps its value in other iterations is assigned: the end of the block that brings another value
 * to a phi of the web; the variable itself, if none has a place. */
static const Value *assigned_at(const Web *web, const Value *phi) {
    for (uint32_t i = 0; i < phi->nargs; i++) {
        const Block *pred = phi->block->preds.data[i];
        const Value *last = pred->last;
        if (web->loop->inside[pred->id] && !in_web(web, phi->args[i]) && last && last->span.line) return last;
    }
    return NULL;
}

static const Value *assigned_last(const Web *web) {
    const Value *found = assigned_at(web, web->phi);
    for (size_t b = 0; b < web->loop->blocks.len; b++)
        for (const Value *phi = web->loop->blocks.data[b]->first; !found && phi && phi->op == OP_PHI; phi = phi->next)
            if (in_web(web, phi)) found = assigned_at(web, phi);
    return found ? found : web->phi;
}

static bool classify(ParallelLoop *loop, Value *phi, Carried *carried) {
    Web web = parallel_web(loop, phi);
    bool anew = true, seen = is_seen_after(loop, phi);
    *carried = (Carried){.phi = phi};
    for (uint32_t i = 0; i < phi->nargs; i++) anew = anew && phi->args[i] != phi && !web.depends[phi->args[i]->id];
    if (!anew) {
        TRY(is_reduction(&web, carried));
        if (carried->kind != CARRY_REDUCE && seen && (carried->identity = find_flag(&web))) carried->kind = CARRY_FLAG;
        if (carried->kind == CARRY_NOTHING && seen)
            return refuse(&web, assigned_last(&web), "it is assigned in some iterations only, and used after the loop");
    } else if (seen) {
        carried->kind = CARRY_LAST;
    }
    const Value *onlooker = find_onlooker(&web);
    if (onlooker)
        return refuse(&web, onlooker,
                      carried->kind == CARRY_REDUCE ? looked_at : "what the iteration before left is used here");
    if (carried->kind == CARRY_LAST && type_is_counted(phi->type))
        return refuse(&web, phi, "the array that the last iteration assigns is used after the loop");
    return true;
}

/* ---- variables of an iteration's own ---- */

static Value *before_the_loop(const ParallelLoop *loop, const Value *phi) {
    for (uint32_t i = 0; i < phi->nargs; i++)
        if (!loop->inside[loop->head->preds.data[i]->id]) return phi->args[i];
    return NULL;
}

/* Whether the phi tells if a variable that had no value before the loop has one: only joins and CHECK_BOUND look. */
static bool tells_of_assignment(ParallelLoop *loop, Value *phi, const Value *before) {
    bool is_false = before->op == OP_CONST && type_is_scalar(phi->type) && type_scalar_kind(phi->type) == 'b' &&
                    !before->konst->i && !phi->name;
    Web web = {loop, phi, ARENA_ARRAY(loop->func->arena, bool, is_false ? loop->func->next_value : 1), NULL};
    if (is_false) find_dependents(&web);
    for (size_t b = 0; is_false && b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            if (web.depends[value->id] && value->op != OP_PHI && value->op != OP_CHECK_BOUND) return false;
    return is_false;
}

static bool only_joined(const ParallelLoop *loop, const Value *phi) {
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->args[i] == phi && value->op != OP_PHI) return false;
    return true;
}

/* A variable that has no value before the loop, and whose last one nobody asks for after it, is each iteration's own:
 * an iteration that has not assigned it, as by an inner loop without a round, finds it unbound. */
static void make_own(ParallelLoop *loop, Value *phi) {
    Value *before = before_the_loop(loop, phi);
    if (!before || is_seen_after(loop, phi) || !only_joined(loop, phi)) return;
    if (before->op != OP_UNDEF && !tells_of_assignment(loop, phi, before)) return;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; value->op == OP_PHI && i < value->nargs; i++)
                if (value->args[i] == phi) value->args[i] = before;
}

bool parallel_find_carried(ParallelLoop *loop) {
    for (Value *phi = loop->head->first; phi && phi->op == OP_PHI; phi = phi->next) make_own(loop, phi);
    parallel_find_picks(loop);
    parallel_find_truths(loop);
    size_t picked = loop->carried.len;
    for (size_t i = 0; i < picked; i++) loop->carried.data[i].place = loop->nresults++;
    for (Value *phi = loop->head->first; phi && phi->op == OP_PHI; phi = phi->next) {
        Carried carried;
        bool known = false;
        for (size_t i = 0; i < picked && !known; i++) known = loop->carried.data[i].phi == phi;
        if (known) continue;
        TRY(classify(loop, phi, &carried));
        if (carried.kind != CARRY_NOTHING) carried.place = loop->nresults++;
        vec_push(loop->func->arena, &loop->carried, carried);
    }
    return true;
}
