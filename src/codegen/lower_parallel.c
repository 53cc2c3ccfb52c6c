/* lower_parallel.c: a region of parallel iterations: a FuncInst with a piece (passes/parallel_outline.c).
 *
 * In: region(count, results, outer values...).  Out: instead of what its body says, a call of krait_host_parallel
 * (runtime/host) with two C functions made here and the values in memory: the piece, which runs iterations from ..
 * to-1, and the join.  Heap objects among the outer values are marked as shared first: from then on their references
 * are counted atomically. */
#include "codegen/lower.h"

static LLVMValueRef add_function(Lower *l, const char *name, LLVMTypeRef result, LLVMTypeRef *params, unsigned count) {
    LLVMValueRef function = LLVMAddFunction(l->module, name, LLVMFunctionType(result, params, count, false));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    l_attribute(l, function, -1, "nounwind", 0);
    return function;
}

static const Type *outer_tuple(Lower *l, const FuncInst *region) {
    return type_tuple(l->types, region->types + 2, region->untyped->nparams - 2);
}

/* int32_t piece(outer values, from, to, results, exception) */
static LLVMValueRef piece_function(Lower *l, const FuncInst *region) {
    LLVMTypeRef params[] = {l->ptr, l->i64, l->i64, l->ptr, l->ptr};
    LLVMValueRef function = add_function(l, "krait_piece", l->i32, params, 5);
    const Type *outer = outer_tuple(l, region);
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, region->untyped->nparams), status = NULL;
    l_begin(l, function);
    l->exception = LLVMGetParam(function, 4);
    l->target->begin_call(l);
    args[0] = LLVMGetParam(function, 1);
    args[1] = LLVMGetParam(function, 2);
    for (uint32_t i = 0; i < outer->count; i++)
        if (l_has_bytes(outer->items[i]))
            args[2 + i] = l_load(l, outer->items[i],
                                 l_offset(l, LLVMGetParam(function, 0), l_i64(l, (int64_t)type_item_offset(outer, i))));
    LLVMValueRef result = l_call_inst(l, region->piece, args, &status);
    TRY(result);
    LIf fine;
    if (status) l_if(l, &fine, l_icmp(l, LLVMIntEQ, status, l_i32(l, 0)));
    if (l_has_bytes(region->result)) l_store(l, region->result, result, LLVMGetParam(function, 3));
    if (status) l_endif(l, &fine);
    LLVMBuildRet(l->b, status ? status : l_i32(l, 0));
    l_end(l);
    return function;
}

/* void join(results so far, results of one more chunk) */
static LLVMValueRef join_function(Lower *l, const FuncInst *region) {
    LLVMTypeRef params[] = {l->ptr, l->ptr};
    LLVMValueRef function = add_function(l, "krait_join", l->v, params, 2), status = NULL;
    l_begin(l, function);
    l->exception = l_null(l->ptr); /* it raises nothing */
    LLVMValueRef args[] = {l_load(l, region->result, LLVMGetParam(function, 0)),
                           l_load(l, region->result, LLVMGetParam(function, 1))};
    LLVMValueRef result = l_call_inst(l, region->join, args, &status);
    TRY(result);
    l_store(l, region->result, result, LLVMGetParam(function, 0));
    LLVMBuildRetVoid(l->b);
    l_end(l);
    return function;
}

/* An int64 of the module, which begins as zero. */
static LLVMValueRef add_counter(Lower *l, const char *name) {
    LLVMValueRef global = LLVMAddGlobal(l->module, l->i64, name);
    LLVMSetInitializer(global, l_i64(l, 0));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    return global;
}

/* How large the exception buffer is, is known when everything is lowered. */
static LLVMValueRef exception_bytes(Lower *l) {
    LLVMValueRef global = LLVMGetNamedGlobal(l->module, "krait_exception_bytes");
    return l_raw_load(l, l->i64, global ? global : add_counter(l, "krait_exception_bytes"), 8);
}

void lower_parallel_finish(Lower *l) {
    LLVMValueRef global = LLVMGetNamedGlobal(l->module, "krait_exception_bytes");
    if (!global) return;
    LLVMSetInitializer(global, l_i64(l, (int64_t)l->m->exception_bytes));
    LLVMSetGlobalConstant(global, true);
}

/* ---- the names that krait has for threads ---- */

static LLVMValueRef ask(Lower *l, const char *symbol) {
    return LLVMBuildZExt(l->b, l_call_named(l, symbol, l->i32, NULL, 0), l->i64, "");
}

/* Pass core_loops says so where it is True. */
LLVMValueRef lower_func_core_spreads(Lower *l, const Value *call) {
    (void)call;
    return l_i1(l, false);
}

LLVMValueRef lower_func_chunk_spreads(Lower *l, const Value *call) {
    (void)call;
    return l_icmp(l, LLVMIntNE, l_call_named(l, "krait_host_chunk_spreads", l->i32, NULL, 0), l_i32(l, 0));
}

LLVMValueRef lower_func_get_thread_id(Lower *l, const Value *call) {
    (void)call;
    return ask(l, "krait_host_thread_number");
}

LLVMValueRef lower_func_get_num_threads(Lower *l, const Value *call) {
    (void)call;
    return ask(l, "krait_host_threads");
}

LLVMValueRef lower_func_get_parallel_chunksize(Lower *l, const Value *call) {
    (void)call;
    return l_call_named(l, "krait_host_chunk", l->i64, NULL, 0);
}

LLVMValueRef lower_func_set_num_threads(Lower *l, const Value *call) {
    LLVMValueRef count = l_arg(l, call, 0), most = ask(l, "krait_host_most_threads");
    LLVMValueRef outside = l_or(l, l_icmp(l, LLVMIntSLT, count, l_i64(l, 1)), l_icmp(l, LLVMIntSGT, count, most));
    LLVMValueRef shown[] = {most, count};
    l_raise_if(l, outside, "ValueError", "the number of threads is between 1 and %lld, not %lld", shown, 2);
    LLVMValueRef narrow = LLVMBuildTrunc(l->b, count, l->i32, "");
    l_call_named(l, "krait_host_set_threads", l->v, &narrow, 1);
    return LLVMGetUndef(l->empty);
}

LLVMValueRef lower_func_set_parallel_chunksize(Lower *l, const Value *call) {
    LLVMValueRef count = l_arg(l, call, 0), before = l_call_named(l, "krait_host_chunk", l->i64, NULL, 0);
    l_raise_if(l, l_icmp(l, LLVMIntSLT, count, l_i64(l, 0)), "ValueError",
               "chunksize must be greater than or equal to zero", NULL, 0);
    l_call_named(l, "krait_host_set_chunk", l->v, &count, 1);
    return before;
}

/* ---- the region ---- */

/* Whether anything here may draw from the generator.  That is looked for once, not for each of many regions. */
static bool draws(const Lower *l, DrawnFrom generator) {
    Module *m = l->m;
    for (size_t i = 0; !m->knows_drawn && i < m->ninsts; i++)
        for (size_t b = 0; b < m->insts[i]->func->blocks.len; b++)
            for (const Value *value = m->insts[i]->func->blocks.data[b]->first; value; value = value->next)
                if (value->op == OP_CALL_FUNC) m->drawn_from |= 1u << func_row(value->imm.func)->drawn_from;
    m->knows_drawn = true;
    return m->drawn_from >> generator & 1;
}

/* Two int64 in memory: a seed for the numbers drawn from each generator, itself drawn from it.  NULL: none are. */
static LLVMValueRef draw_seeds(Lower *l) {
    static const struct {
        DrawnFrom from;
        const char *draw;
    } generators[] = {{DRAWN_FROM_NUMPY, "krait_rt_numpy_double_v"}, {DRAWN_FROM_PYTHON, "krait_rt_python_double_v"}};
    LLVMValueRef seeds = NULL;
    for (unsigned i = 0; i < COUNT_OF(generators); i++) {
        if (!draws(l, generators[i].from)) continue;
        if (!seeds) seeds = l_alloca_bytes(l, sizeof(int64_t) * COUNT_OF(generators), 8, "seeds");
        l_raw_store(l, l_call_named(l, generators[i].draw, l->f64, NULL, 0), l_offset(l, seeds, l_i64(l, 8 * i)), 8);
    }
    return seeds ? seeds : l_null(l->ptr);
}

/* Whether an iteration takes so little that few of them make no chunk: nothing in it loops or is called. */
static bool is_light(const FuncInst *piece) {
    size_t headers = 0;
    for (size_t b = 0; b < piece->func->blocks.len; b++)
        for (const Value *value = piece->func->blocks.data[b]->first; value; value = value->next) {
            headers += value->op == OP_ITER_MORE;
            if (value->op == OP_CALL_INST) return false;
        }
    return headers <= 1;
}

bool lower_parallel(Lower *l, const FuncInst *region) {
    LLVMValueRef piece = piece_function(l, region), join = l_null(l->ptr);
    TRY(piece);
    if (region->join) TRY(join = join_function(l, region));
    LoweredFunction *lowered;
    TRY(lowered = lower_lookup(l, region));
    const Type *outer = outer_tuple(l, region);
    l->inst = region;
    l->func = region->func;
    l->may_raise = lower_may_raise(l, region);
    l->s->values = ARENA_ARRAY(l->arena, LLVMValueRef, region->func->next_value);
    l_begin(l, lowered->function);
    lower_params(l);
    LLVMValueRef *params = ARENA_ARRAY(l->arena, LLVMValueRef, region->untyped->nparams);
    for (const Value *value = region->func->blocks.data[0]->first; value && value->op == OP_PARAM; value = value->next)
        params[value->imm.i] = l->s->values[value->id];
    LLVMValueRef context = l_alloca_bytes(l, type_size(outer) + 8, 16, "outer");
    LLVMValueRef results = l_alloca_bytes(l, type_size(region->result) + 8, 16, "results");
    for (uint32_t i = 0; i < outer->count; i++) {
        if (!l_has_bytes(outer->items[i])) continue;
        l_share(l, outer->items[i], params[2 + i]);
        l_store(l, outer->items[i], params[2 + i], l_offset(l, context, l_i64(l, (int64_t)type_item_offset(outer, i))));
    }
    if (l_has_bytes(region->result)) l_store(l, region->result, params[1], results);
    LLVMValueRef args[] = {piece,
                           join,
                           l_i64(l, (int64_t)type_size(region->result)),
                           exception_bytes(l),
                           l_i32(l, is_light(region->piece)),
                           add_counter(l, "krait_nanoseconds"),
                           params[0],
                           context,
                           results,
                           l->exception,
                           draw_seeds(l)};
    LLVMValueRef status = l_call_named(l, "krait_host_parallel", l->i32, args, COUNT_OF(args));
    if (l->may_raise) {
        LIf raised;
        l_if(l, &raised, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)));
        l->s->landing = NULL;
        l_leave(l, status);
        l_enter(l, raised.end);
    }
    lower_result(l, region, l_has_bytes(region->result) ? l_load(l, region->result, results) : NULL);
    l_end(l);
    l->inst = NULL;
    l->func = NULL;
    return !l->diag->failed;
}
