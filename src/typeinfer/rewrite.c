/* rewrite.c: from solved facts to typed SSA, and the door of the folder.
 *
 * In: a function whose values have facts.  Out: the form that docs/contracts.md promises to lowering.
 * Steps: 1. blocks that stop end in `unreachable`, branches with a known condition become jumps, unreached blocks go;
 *        2. every value in reverse post-order: its rule once more, with emit set, then typing_apply; a replaced value
 *           leaves a forward (Value.mark), and since definitions come before uses, operands are looked up through
 *           forwards;
 *        3. operands of phis are cast at the ends of the predecessors, or on the edges where that may raise;
 *        4. trivial phis and dead values go. */
#include "typeinfer/infer.h"

/* ---- 1. the graph ---- */

static void cut_after(Infer *in, Block *block, Value *stop) {
    Span span = stop->span;
    while (block->last != stop) value_remove(block->last);
    /* block_remove_edge edits a jump or branch that ends the block; there is none any more */
    for (size_t normal; (normal = block_normal_succs(block));)
        block_remove_edge(in->func, block, block->succs.data[normal - 1]);
    if (stop->op != OP_RAISE && stop->op != OP_RERAISE && stop->op != OP_RESUME && stop->op != OP_UNREACHABLE)
        block_append(in->func, block, OP_UNREACHABLE, span, NULL, 0)->type = infer_none(in);
}

/* A loop asks for an item without raising, unless that runs a generator. */
static bool asks_calmly(const Block *block) {
    const Value *end = block->last, *more = end->op == OP_BRANCH ? end->args[0] : NULL;
    if (!more || more->op != OP_ITER_MORE || type_walks_generator(more->args[0]->type)) return false;
    for (size_t s = 0; s < block_normal_succs(block); s++)
        if (block->succs.data[s]->order <= block->order) return false; /* signals are handled there */
    for (const Value *value = block->first; value; value = value->next)
        if (value != more && op_may_raise(value->op)) return false;
    return true;
}

static void prune(Infer *in) {
    Func *func = in->func;
    for (size_t b = 0; b < func->blocks.len; b++)
        if (func->blocks.data[b]->unwinds && asks_calmly(func->blocks.data[b]))
            block_set_unwind(func, func->blocks.data[b], NULL);
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        if (!solver_reached(in, block)) continue;
        Value *stop = solver_stop(in, block);
        if (stop) {
            cut_after(in, block, stop);
            continue;
        }
        Value *end = block->last;
        if (end->op != OP_BRANCH || !end->args[0]->konst) continue;
        bool taken = end->args[0]->konst->i != 0;
        if (block->succs.data[0] == block->succs.data[1])
            block_remove_edge(func, block, block->succs.data[0]);
        else
            block_remove_edge(func, block, block->succs.data[taken ? 1 : 0]);
    }
    func_compute_order(func);
}

/* ---- 2. values ---- */

/* The last value of a block that stops: a call that does not return, or a variable that is certainly unbound. */
static bool rewrite_stop(Infer *in, Value *value) {
    bool waits = false;
    for (uint32_t i = 0; i < value->nargs; i++) waits |= value_resolve(value->args[i])->type->kind == TY_BOTTOM;
    if (waits || value->op == OP_UNDEF) {
        value_remove(value);
        return true;
    }
    TypingSpace space;
    Typing t;
    typing_open(&t, in, value, &space);
    TRY(typing_run(&t));
    t.result = infer_none(in);
    typing_apply(&t);
    return true;
}

static bool rewrite_value(Infer *in, Value *value) {
    if (value->op == OP_PHI) return true;
    if (value->op == OP_UNDEF) return true;
    if (value->type->kind == TY_BOTTOM) return rewrite_stop(in, value);
    TypingSpace space;
    Typing t;
    typing_open(&t, in, value, &space);
    if (!typing_run(&t)) {
        FAIL_IF(!in->diag->failed, in->diag, TYPING, in->func->source, value->span, "this cannot be typed (%s)",
                op_info[value->op].text);
        return false;
    }
    const Type *solved = value->type;
    Value *stands = typing_apply(&t);
    FAIL_IF(stands->type != solved, in->diag, LOWERING, in->func->source, value->span, "%s was typed %s and became %s",
            op_info[t.op].text, type_text(in->arena, solved), type_text(in->arena, stands->type));
    return true;
}

/* ---- 3. phis ---- */

/* A phi that holds one known value on every path is that constant. */
static bool phi_is_known(const Value *phi) {
    return phi->konst && phi->type->kind != TY_BOTTOM && phi->konst->type == phi->type;
}

static bool cast_may_overflow(const Infer *in, const Type *from, const Type *to) {
    if (from->kind != TY_TUPLE || to->kind != TY_TUPLE)
        return typing_may_overflow(in, infer_content(from), infer_content(to));
    for (uint32_t i = 0; i < from->count && i < to->count; i++)
        if (cast_may_overflow(in, from->items[i], to->items[i])) return true;
    return false;
}

/* A block of its own for the way from predecessor number `pred`, if that has another way to go: what may raise must not
 * happen there. */
static void split_edge(Infer *in, Block *to, uint32_t pred) {
    Block *from = to->preds.data[pred];
    if ((from->succs.len < 2 && block_unwind(from) != to) || block_count_edges(from, to) > 1) return;
    Block *between = block_new(in->func);
    block_append(in->func, between, OP_JUMP, from->last->span, NULL, 0)->type = infer_none(in);
    vec_push(in->func->arena, &between->succs, to);
    vec_push(in->func->arena, &between->preds, from);
    size_t edge = 0;
    while (from->succs.data[edge] != to) edge++;
    from->succs.data[edge] = between;
    to->preds.data[pred] = between;
}

/* A text that is put together (TY_TEXT), as the string that phis take: made once, where the program puts it together,
 * and not on each way to each phi, which may go round in a loop. */
static Value *string_of(Infer *in, Value *text, const Type *string, Value **casts) {
    if (casts[text->id]) return casts[text->id];
    Typing t = {.in = in, .at = text->next, .emit = true};
    return casts[text->id] = typing_make_cast(&t, text, string);
}

/* A constant is cast where it stands, once for all raise edges that bring it to phis: with a block of its own on each
 * of them, the ways to the handler would have nothing in common.  NULL: that may raise, or make an object. */
static Value *cast_constant(Infer *in, Value *konst, const Type *type, Value **casts) {
    Value *known = casts[konst->id];
    if (known && known->type == type) return known;
    if (type_is_counted(type) || cast_may_overflow(in, konst->type, type)) return NULL;
    Typing t = {.in = in, .at = konst->next, .emit = true, .wraps = true};
    return casts[konst->id] = typing_make_cast(&t, konst, type);
}

static void cast_phi_operands(Infer *in, Value *phi, Value **casts) {
    for (uint32_t i = 0; i < phi->nargs; i++) {
        Value *arg = value_resolve(phi->args[i]);
        const Type *string = infer_content(phi->type);
        if (arg->type->kind == TY_TEXT && string->kind == TY_STRING) arg = string_of(in, arg, string, casts);
        bool raised = block_unwind(phi->block->preds.data[i]) == phi->block; /* behind the raise nothing is defined */
        Value *cast = raised && arg->op == OP_CONST ? cast_constant(in, arg, phi->type, casts) : NULL;
        if (cast) arg = cast;
        if (raised ? arg->type != phi->type : cast_may_overflow(in, arg->type, phi->type))
            split_edge(in, phi->block, i);
        Value *end = phi->block->preds.data[i]->last;
        Typing t = {.in = in, .at = end, .emit = true, .wraps = true};
        if (arg->type->kind == TY_BOTTOM) { /* undefined on this path */
            arg = value_new(in->func, OP_UNDEF, phi->span, NULL, 0);
            arg->type = phi->type;
            value_insert_before(end, arg);
        } else if (arg->type != phi->type) {
            if (arg->type->kind == TY_OPTIONAL && phi->type->kind != TY_OPTIONAL) arg = typing_make_content(&t, arg);
            arg = typing_make_cast(&t, arg, phi->type);
        }
        phi->args[i] = arg;
    }
}

static void rewrite_phis(Infer *in) {
    for (size_t b = 0; b < in->func->blocks.len; b++) {
        Block *block = in->func->blocks.data[b];
        Value *after = block->first;
        while (after && after->op == OP_PHI) after = after->next;
        for (Value *phi = block->first, *next; phi && phi->op == OP_PHI; phi = next) {
            next = phi->next;
            if (phi_is_known(phi)) {
                Typing t = {.in = in, .at = after, .emit = true};
                Value *konst = typing_make_const(&t, phi->konst);
                konst->name = phi->name;
                konst->span = phi->span;
                phi->mark = konst;
                value_remove(phi);
            }
        }
    }
    Value **casts = ARENA_ARRAY(in->arena, Value *, in->func->next_value);
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (Value *phi = in->func->blocks.data[b]->first, *next; phi && phi->op == OP_PHI; phi = next) {
            next = phi->next;
            if (phi->type->kind == TY_BOTTOM)
                value_remove(phi); /* only unbound values: what may use it are phis, which take OP_UNDEF for it */
            else
                cast_phi_operands(in, phi, casts);
        }
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (Value *value = in->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) value->args[i] = value_resolve(value->args[i]);
    func_compute_order(in->func); /* edges may have been split */
}

/* Items of a list take its type of items when it is made: a Python int among NumPy's integers is cast, to be checked.
 * Only now: what is made of the items instead, as np.array([x, y]), takes them as they are. */
static void cast_items(Infer *in) {
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (Value *value = in->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; value->op == OP_LIST && value->type->kind == TY_LIST && i < value->nargs; i++) {
                Typing t = {.in = in, .at = value, .emit = true};
                if (typing_may_overflow(in, value->args[i]->type, value->type->items[0]))
                    value->args[i] = typing_make_cast(&t, value->args[i], value->type->items[0]);
            }
}

/* Where a Python int joins a narrower NumPy integer.  Only now: a check on a variable that nobody reads any more would
 * have kept it alive. */
static void check_joins(Infer *in) {
    for (size_t b = 0; in->int_range && b < in->func->blocks.len; b++)
        for (Value *value = in->func->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_CAST && !(value->flags & VF_FORWARD) &&
                typing_may_overflow(in, value->args[0]->type, value->type))
                value->flags |= VF_CHECKED;
}

/* What is left untyped has no use. */
static void settle_undefined(Infer *in) {
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (Value *value = in->func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            if (value->op == OP_UNDEF && (!value->type || value->type->kind == TY_BOTTOM)) value_remove(value);
        }
}

/* A value that no code can hold. */
static bool check_sizes(const Infer *in) {
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (const Value *value = in->func->blocks.data[b]->first; value; value = value->next)
            FAIL_IF(value->type && type_repr(value->type)->nleaves > REPR_MAX_LEAVES, in->diag, UNSUPPORTED,
                    in->func->source, value->span, "a value that consists of more than %d numbers", REPR_MAX_LEAVES);
    return true;
}

static bool fits(const Const *konst) {
    bool tuple = konst->type->kind == TY_TUPLE && konst->items;
    for (uint32_t i = 0; tuple && i < konst->type->count; i++) TRY(fits(konst->items[i]));
    return !konst->too_big || konst->type->kind != TY_SCALAR || konst->type->scalar != SCALAR_INT64;
}

/* An int of more than 64 bits that is left as one: nothing has made a float or an np.uint64 of it. */
static bool check_ints(const Infer *in) {
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (const Value *value = in->func->blocks.data[b]->first; value; value = value->next) {
            if (value->op != OP_CONST || fits(value->konst)) continue;
            diag_fail(in->diag, DIAG_TYPING, in->func->source, value->span,
                      "this Python int does not fit into 64 bits");
            diag_hint(in->diag, "ints are 64 bits wide in compiled code; use a float, or np.uint64(...)");
            return false;
        }
    return true;
}

bool typeinfer_rewrite(Infer *in) {
    in->emit = true;
    in->quiet = false;
    prune(in);
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (Value *value = in->func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            TRY(rewrite_value(in, value));
        }
    rewrite_phis(in);
    settle_undefined(in);
    func_remove_trivial_phis(in->func);
    func_remove_dead(in->func);
    settle_undefined(in);
    cast_items(in);
    check_joins(in);
    func_renumber(in->func);
    TRY(check_sizes(in) && check_ints(in));
    in->func->result = in->result.type->kind == TY_BOTTOM ? infer_none(in) : in->result.type;
    return true;
}

/* ---- the door ---- */

static Infer *open_inference(const InferConfig *config, Arena *arena, TypeTable *types, FuncInst *inst, Diag *diag) {
    Infer *in = ARENA_NEW(arena, Infer);
    *in = (Infer){.config = config,
                  .host = config->host,
                  .arena = arena,
                  .types = types,
                  .diag = diag,
                  .inst = inst,
                  .func = func_clone(arena, inst->untyped),
                  .device = config->device,
                  .leaves = !inst->caller && !config->device,
                  .py_errors = (inst->options & OPT_PYTHON_ERRORS) != 0};
    in->int_range = !config->device && promote_rules(in)->int_range;
    inst->func = in->func;
    solver_open(in);
    return in;
}

bool typeinfer_run(const InferConfig *config, Arena *arena, TypeTable *types, FuncInst *inst, Diag *diag) {
    if (!inst->inference) inst->inference = open_inference(config, arena, types, inst, diag);
    Infer *in = inst->inference;
    TRY(solver_run(in));
    if (inst->pauses) return true;
    inst->result = in->result.type;
    inst->result_konst = in->result.konst;
    return true;
}

void typeinfer_wake(const CallSite *site) { solver_wake(site->caller->inference, site->call); }

bool typeinfer_complete(FuncInst *inst) {
    Infer *in = inst->inference;
    if (inst->unit) return true;
    inst->inference = NULL;
    return solver_report(in) && typeinfer_check_stored(in) && typeinfer_rewrite(in);
}
