/* parallel.c: loops over prange in functions with parallel=True become calls that may run on several cores.
 *
 * In: a typed program.  Out: the same without prange: each outermost loop over it is a call of a function made of the
 * loop (parallel_outline.c); any other prange is a range, or, in a copy of that function, such a call (Nesting).
 *
 * An iteration's blocks are those reached from the body without passing the header; who leaves them, by break or
 * return, is refused, since later iterations may have run already.  What variables carry from one iteration to the next
 * is parallel_carried.c's question, what they read of what others write parallel_meetings.c's.  A loop whose iterations
 * update the same items of an array (parallel_shared.c) other than as a reduction stays on one core, as does one that
 * calls the interpreter, one inside a try statement around it, one whose reduction depends on the order of iterations,
 * and one in a function that a parallel one calls if it may not be taken apart.  A loop inside a loop is spread where
 * the outer one leaves threads idle, if its results are the same then. */
#include "passes/parallel.h"

typedef VEC(Block *) Blocks;

/* Blocks reached from `start` without passing the header. */
static void reach(const ParallelLoop *loop, Block *start, bool *seen, Blocks *blocks) {
    Arena *arena = loop->func->arena;
    Blocks work = {0};
    if (start == loop->head) return;
    vec_push(arena, &work, start);
    seen[start->id] = true;
    while (work.len) {
        Block *block = vec_pop(&work);
        vec_push(arena, blocks, block);
        for (size_t i = 0; i < block->succs.len; i++) {
            Block *next = block->succs.data[i];
            if (next == loop->head || seen[next->id]) continue;
            seen[next->id] = true;
            vec_push(arena, &work, next);
        }
    }
}

/* The parts of the loop over loop->range; false: it is used in another way. */
static bool find_parts(ParallelLoop *loop) {
    const Func *func = loop->func;
    Value *take = NULL;
    uint32_t uses = 0;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                if (value->args[i] == loop->range) {
                    if (value->op == OP_ITER) loop->iter = value;
                    uses++;
                } else if (loop->iter && value->args[i] == loop->iter) {
                    if (value->op == OP_ITER_MORE) loop->more = value;
                    if (value->op == OP_ITER_TAKE) take = value;
                    uses++;
                }
            }
    if (!loop->iter || !loop->more || !take || uses != 3) return false;
    loop->head = loop->more->block;
    for (const Value *value = loop->head->first; value != loop->more; value = value->next)
        if (value->op != OP_PHI) return false;
    if (loop->more->next != loop->head->last || loop->head->last->op != OP_BRANCH) return false;
    loop->body = loop->head->succs.data[0];
    loop->exit = loop->head->succs.data[1];
    return take->block == loop->body && !loop->head->unwinds;
}

/* Whether a try statement around the loop handles what an iteration raises. */
static bool is_caught_around(const ParallelLoop *loop) {
    for (size_t b = 0; b < loop->func->blocks.len; b++) {
        const Block *block = loop->func->blocks.data[b], *handler = block_unwind(block);
        if (handler && loop->inside[handler->id] && !loop->inside[block->id]) return true;
        if (handler && loop->inside[block->id] && !loop->inside[handler->id]) return true;
    }
    return false;
}

/* The blocks of an iteration; *left: what leaves them other than at their end, or NULL. */
static void find_blocks(ParallelLoop *loop, const Value **left) {
    const Func *func = loop->func;
    Scratches *scratch = loop->scratch;
    bool *after = parallel_scratch(func->arena, &scratch->after, func->next_block * sizeof *after);
    Blocks blocks = {0}, beyond = {0};
    loop->inside = parallel_scratch(func->arena, &scratch->inside, func->next_block * sizeof *loop->inside);
    reach(loop, loop->body, loop->inside, &blocks);
    reach(loop, loop->exit, after, &beyond);
    *left = NULL;
    for (size_t b = 0; b < blocks.len; b++) {
        Block *block = blocks.data[b];
        vec_push(func->arena, &loop->blocks, block);
        if (block->last->op == OP_RETURN && !after[block->id]) *left = block->last;
        for (size_t i = 0; !after[block->id] && i < block->succs.len; i++)
            if (after[block->succs.data[i]->id]) *left = block->last;
    }
}

/* The one block from which the loop is entered; NULL: there are several. */
static Block *find_before(const ParallelLoop *loop) {
    Block *before = NULL;
    for (size_t i = 0; i < loop->head->preds.len; i++) {
        Block *pred = loop->head->preds.data[i];
        if (loop->inside[pred->id]) continue;
        if (before) return NULL;
        before = pred;
    }
    return before;
}

bool parallel_find_loop(ParallelLoop *loop, const Value **left) {
    TRY(find_parts(loop));
    find_blocks(loop, left);
    return (loop->before = find_before(loop)) != NULL;
}

/* Whether calls lead from the block to the interpreter, whose lock the thread that starts the loop may hold.  seen:
 * the functions that were looked at, by number. */
static bool calls_python(const Block *block, bool *seen) {
    for (const Value *value = block->first; value; value = value->next) {
        if (value_calls(value, FUNC_CALL_PYTHON) || value_calls(value, FUNC_RUN_PYTHON) ||
            value_calls(value, FUNC_EXCEPTION_NEW) || value_calls(value, FUNC_EXCEPTION_LIKE))
            return true;
        FuncInst *callee = value_callee(value);
        if (!callee || seen[callee->id]) continue;
        seen[callee->id] = true;
        for (size_t b = 0; b < callee->func->blocks.len; b++)
            if (calls_python(callee->func->blocks.data[b], seen)) return true;
    }
    return false;
}

static bool any_calls_python(const ParallelLoop *loop) {
    bool any = false;
    bool *seen = ARENA_ARRAY(loop->program->arena, bool, loop->program->count);
    for (size_t b = 0; b < loop->blocks.len && !any; b++) any = calls_python(loop->blocks.data[b], seen);
    return any;
}

static void note(const ParallelLoop *loop, const char *what) {
    pass_note(loop->program, loop->func, loop->range->span, 1, "the loop over prange %s", what);
}

/* It is no mistake, but the loop is left as it is, for this value. */
static bool stays(const ParallelLoop *loop, const Value *value, const char *why) {
    note(loop, arena_printf(loop->func->arena, "stays on one core: %s, line %u", why, (unsigned)value->span.line));
    return true;
}

static void note_spread(const ParallelLoop *loop) {
    bool nested = loop->inst->nesting == NESTING_SPREAD;
    note(loop, nested ? "runs on the cores that the loop around it leaves idle" : "runs on several cores");
    for (size_t c = 0; c < loop->carried.len; c++) {
        const Carried *carried = &loop->carried.data[c];
        if (carried->kind >= CARRY_REDUCE && carried->phi->name)
            pass_note(loop->program, loop->func, loop->range->span, 2, "`%s` is a reduction of it", carried->phi->name);
    }
    for (size_t k = 0; k < loop->privates.len; k++) {
        const char *name = loop->privates.data[k].array->name;
        pass_note(loop->program, loop->func, loop->range->span, 2, "%s%s%s is a reduction of it: each thread has one",
                  name ? "`" : "", name ? name : "an array", name ? "`" : "");
    }
}

static const Value *find_yield(const ParallelLoop *loop) {
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_YIELD) return value;
    return NULL;
}

static bool refuse(const ParallelLoop *loop, Span at, const char *why, const char *hint) {
    diag_fail(loop->diag, DIAG_UNSUPPORTED, loop->func->source, at, "%s", why);
    diag_hint(loop->diag, "%s", hint);
    diag_note(loop->diag, loop->func->source, loop->range->span, "this loop");
    return false;
}

/* Whether what the loop gives depends on what chunks there are: floats that are put together in another order. */
static bool rounds(const ParallelLoop *loop) {
    bool any = loop->privates.len > 0;
    for (size_t c = 0; c < loop->carried.len; c++) {
        const Carried *carried = &loop->carried.data[c];
        any |= carried->kind == CARRY_REDUCE && carried->op != OP_CALL_FUNC && !type_is_integer(carried->phi->type);
    }
    return any;
}

/* Where the loop is left: a `break` that leads to a return statement is a copy of that, which stands behind the loop.
 */
static Span left_at(const Value *left) {
    bool copied = left->op == OP_RETURN && left->block->left.line;
    return copied ? left->block->left : left->span;
}

static bool take_apart(ParallelLoop *loop) {
    const Value *left;
    if (!find_parts(loop)) return true;
    find_blocks(loop, &left);
    if (is_caught_around(loop)) return note(loop, "stays on one core: it is part of a try statement"), true;
    if (any_calls_python(loop)) return note(loop, "stays on one core: the interpreter is called in it"), true;
    if (!(loop->before = find_before(loop))) return true;
    if (left)
        return refuse(
            loop, left_at(left), "a prange loop is left by break or return, and later iterations may have run already",
            "use range; or run all iterations, and note what each finds, found[i] = ..., to look through behind "
            "the loop");
    const Value *yield = find_yield(loop);
    if (yield)
        return refuse(loop, yield->span, "a prange loop yields, and its iterations run on several threads in no order",
                      "use range, or write what the iterations give into an array and yield that behind the loop");
    parallel_update_in_place(loop);
    if (!parallel_find_carried(loop)) return false;
    if (loop->ordered)
        return stays(loop, loop->ordered,
                     "min and max of floats with the running number second depend on the order where there is a NaN");
    if (loop->short_cut)
        return stays(loop, loop->short_cut, "what is left out as the iterations before say may raise or write");
    const Value *maybe;
    TRY(parallel_find_meeting(loop, &maybe));
    if (maybe) return stays(loop, maybe, "an iteration may meet here what another one writes");
    const Value *shared = parallel_find_shared(loop);
    if (!shared && loop->inst->nesting == NESTING_SPREAD && rounds(loop)) {
        note(loop,
             "is a range: it lies in another one, and its sums of floats would depend on how many cores are idle");
        return true;
    }
    if (!shared) return note_spread(loop), parallel_outline(loop);
    return stays(loop, shared, "iterations update the same items");
}

static bool blocks_before(const Value *a, const Value *b) { return a->block->order < b->block->order; }

/* The first call of prange in the order of the code, so that outer loops come before those inside them. */
static Value *first_prange(const Func *func) {
    Value *first = NULL;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value_calls(value, FUNC_PRANGE) && (!first || blocks_before(value, first))) first = value;
    return first;
}

/* A function that the parallel one calls may have been written for one core: what is refused there stays a range. */
static bool in_function(Program *program, FuncInst *inst) {
    Scratches scratch = {0};
    for (Value *range; (range = first_prange(inst->func));) {
        Diag quiet;
        diag_init(&quiet, program->arena);
        range->imm.func = &func_info[FUNC_RANGE].head;
        if (!(program->parallel & PARALLEL_LOOPS)) continue;
        if (inst->outlined && inst->nesting != NESTING_SPREAD) {
            if (inst->nesting == NESTING_NONE)
                pass_note(program, inst->func, range->span, 1,
                          "the loop over prange is a range: it lies in another one");
            continue;
        }
        func_compute_order(inst->func);
        ParallelLoop loop = {.program = program,
                             .diag = inst->id == 0 ? program->diag : &quiet,
                             .inst = inst,
                             .func = inst->func,
                             .scratch = &scratch,
                             .range = range};
        if (take_apart(&loop)) continue;
        if (inst->id == 0) return false;
        note(&loop, arena_printf(program->arena, "stays on one core: %s", quiet.message));
    }
    return true;
}

bool pass_parallel(Program *program) {
    size_t count = program->count;
    if (program->parallel) {
        TRY(pass_written(program)); /* which lists calls change */
        effects_summarise(program->arena, program->insts, count, program->index_raises);
    }
    for (size_t i = 0; i < program->count; i++) TRY(in_function(program, program->insts[i]));
    for (size_t i = 0; i < count; i++) program->insts[i]->summarised = false; /* other passes change them */
    return true;
}
