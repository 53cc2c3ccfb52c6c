/* threads.c: loops over the threads of a block.
 *
 * threads_each: for z, y, x over the threads of a block, or of several that are neighbours along x, x innermost;
 * pass thread_order may have y innermost.  Where the loop stands in the HostThread that is hidden parameter 0.
 *
 * The regions of a kernel that runs once for a block (pass barriers): a CONTEXT is an array with a place for each
 * thread, THREADS such a loop around a call of the region, which is inlined.  What one thread of a region does
 * and another sees is separated by a barrier, so that the accesses of a region without memory of its own frame belong
 * to an access group that LLVM may take as parallel. */
#include <string.h> /* strlen */

#include "codegen_cpu/cpu.h"

void host_store_field(Lower *l, LLVMValueRef thread, size_t offset, LLVMValueRef value, unsigned align) {
    l_raw_store(l, value, host_offset(l, thread, offset), align);
}

/* for value in 0 .. count-1, i32, at least once; LLVM's induction variable analysis wants no more. */
typedef struct Axis {
    LLVMBasicBlockRef head; /* NULL: there is one round, and no loop */
    LLVMValueRef index, count;
} Axis;

static bool is_once(LLVMValueRef count) {
    return LLVMIsConstant(count) && LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) == 1;
}

static LLVMValueRef axis_begin(Lower *l, Axis *axis, LLVMValueRef count, const char *name) {
    LLVMBasicBlockRef before = l_here(l);
    axis->count = count;
    axis->head = NULL;
    if (is_once(count)) return axis->index = l_i32(l, 0);
    axis->head = l_block(l, name);
    l_jump(l, axis->head);
    l_enter(l, axis->head);
    axis->index = LLVMBuildPhi(l->b, l->i32, name);
    LLVMValueRef zero = l_i32(l, 0);
    LLVMAddIncoming(axis->index, &zero, &before, 1);
    return axis->index;
}

static void axis_end(Lower *l, Axis *axis, VectorWish wish, LLVMMetadataRef group) {
    if (!axis->head) return;
    LLVMValueRef next = LLVMBuildNUWAdd(l->b, axis->index, l_i32(l, 1), "");
    LLVMSetNSW(next, true);
    LLVMBasicBlockRef here = l_here(l), after = l_block(l, "after");
    LLVMAddIncoming(axis->index, &next, &here, 1);
    l_branch(l, l_icmp(l, LLVMIntSLT, next, axis->count), axis->head, after);
    host_loop_hints(l, LLVMGetBasicBlockTerminator(here), wish, group);
    l_enter(l, after);
}

/* The number in its block of the thread whose place in the innermost loop is `place`; *block is the joined block. */
LLVMValueRef threads_number(Lower *l, const Threads *t, LLVMValueRef place, LLVMValueRef *block) {
    LLVMValueRef inner = LLVMBuildURem(l->b, place, t->n[t->inner], "");
    *block = LLVMBuildUDiv(l->b, place, t->n[t->inner], "");
    LLVMValueRef x = t->inner == 0 ? inner : t->outer, y = t->inner == 0 ? t->outer : inner;
    return l_nswadd(l, x, l_nswmul(l, t->n[0], l_nswadd(l, y, l_nswmul(l, t->n[1], t->z))));
}

/* The innermost loop's first bad access becomes the run's, if it is the first there: of the first of the joined blocks,
 * and in that of the first thread.  The loop's own is of its lowest place, so of its lowest block. */
void threads_merge_bad(Lower *l, const Threads *t) {
    if (t->touches_nothing) return;
    LLVMValueRef bad = l_raw_load(l, l->i32, host_offset(l, t->here, offsetof(HostThread, bad)), 4), block;
    LIf any;
    l_if(l, &any, l_icmp(l, LLVMIntSLT, bad, l_i32(l, NO_BAD_ACCESS)));
    LLVMValueRef site = l_and(l, bad, l_i32(l, (1u << SITE_BITS) - 1));
    LLVMValueRef thread = threads_number(l, t, LLVMBuildLShr(l->b, bad, l_i32(l, SITE_BITS), ""), &block);
    LLVMValueRef key = LLVMBuildShl(l->b, LLVMBuildZExt(l->b, block, l->i64, ""), l_i64(l, THREAD_BITS), "");
    key = l_or(l, key, LLVMBuildZExt(l->b, thread, l->i64, ""));
    key = l_or(l, LLVMBuildShl(l->b, key, l_i64(l, SITE_BITS), ""), LLVMBuildZExt(l->b, site, l->i64, ""));
    LLVMValueRef address = host_offset(l, t->grid, offsetof(HostGrid, bad_access));
    LLVMValueRef args[] = {l_raw_load(l, l->i64, address, 8), key};
    l_raw_store(l, l_intrinsic(l, "llvm.smin", l->i64, args, 2), address, 8);
    l_endif(l, &any);
}

/* Whether a thread may divide and another not: accesses outside of arrays are left out. */
static bool may_divide(Lower *l) {
    bool may = false;
    for (size_t i = 0; !may && i < l->m->ninsts; i++) may = l_may_divide(l, l->m->insts[i]);
    return may;
}

bool threads_each(Lower *l, Threads *t, ThreadBody *body, void *self) {
    static const size_t fields[] = {offsetof(HostThread, x), offsetof(HostThread, y)};
    static const char *const names[] = {"x", "y"};
    t->inner = l->m->inner_axis;
    for (int axis = 0; axis < 3; axis++) t->n[axis] = l->target->special(l, (Special)(SPECIAL_BLOCK_DIM_X + axis));
    LLVMValueRef length = t->n[t->inner];
    if (l->m->joins_blocks)
        length = l_nswmul(l, length, l_raw_load(l, l->i32, host_offset(l, t->grid, offsetof(HostGrid, joined)), 4));
    Axis z, outer, inner;
    t->z = axis_begin(l, &z, t->n[2], "z");
    host_store_field(l, t->here, offsetof(HostThread, z), t->z, 4);
    t->outer = axis_begin(l, &outer, t->n[1 - t->inner], names[1 - t->inner]);
    host_store_field(l, t->here, fields[1 - t->inner], t->outer, 4);
    host_store_field(l, t->here, offsetof(HostThread, bad), l_i32(l, INT32_MAX), 4);
    LLVMValueRef row = l_nswmul(l, l_nswadd(l, l_nswmul(l, t->z, t->n[1 - t->inner]), t->outer), t->n[t->inner]);
    t->place = axis_begin(l, &inner, length, names[t->inner]);
    t->number = l_nswadd(l, row, t->place);
    host_store_field(l, t->here, fields[t->inner], t->place, 4);
    host_store_field(l, t->here, offsetof(HostThread, place), t->place, 4);
    TRY(body(l, t, self));
    axis_end(l, &inner, t->plain || may_divide(l) ? VECTOR_NOT : VECTOR_WHEREVER, t->group);
    threads_merge_bad(l, t);
    axis_end(l, &outer, VECTOR_MAY, NULL);
    axis_end(l, &z, VECTOR_MAY, NULL);
    return true;
}

/* ---- regions ---- */

enum { CACHE_LINE = 64, MANY_REGIONS = 24 }; /* more are not made vectors of: LLVM's time grows with the square */

/* A part of the memory that a launch has for a block (krait_host_kept): a thread's stack may be small.
 * Contexts lie a cache line apart modulo the size of a page: else a store to one would look to the processor like one
 * to the next. */
LLVMValueRef threads_context(Lower *l, const Value *value) {
    ArrayRequest array = {.bytes = type_size(value->type) * MAX_BLOCK_THREADS};
    if (value->op != OP_CONTEXT) array = call_array_request(value);
    size_t unit = array.alignment > CACHE_LINE ? array.alignment : CACHE_LINE, bytes = array.bytes;
    size_t start = (l->m->kept_bytes + unit - 1) / unit * unit;
    l->m->kept_bytes = start + bytes + CACHE_LINE;
    LLVMValueRef grid = l_raw_load(l, l->ptr, host_offset(l, l->hidden[0], offsetof(HostThread, grid)), 8);
    LLVMValueRef args[] = {grid, l_i64(l, (int64_t)start)};
    LLVMValueRef kept = l_call_named(l, "krait_host_kept", l->ptr, args, 2);
    TRY(kept);
    l_call_attribute(l, kept, 0, "noalias", 0);
    l_call_attribute(l, kept, 0, "align", unit);
    l_call_attribute(l, kept, 0, "dereferenceable", bytes);
    l_call_attribute(l, kept, -1, "nounwind", 0);
    l_call_attribute(l, kept, -1, "willreturn", 0);
    return kept;
}

static LLVMValueRef own_place(Lower *l, const Threads *t, const Value *context) {
    LLVMValueRef number = LLVMBuildZExt(l->b, t->number, l->i64, "");
    return l_offset(l, l_value(l, context), l_nswmul(l, number, l_i64(l, (int64_t)type_size(context->type))));
}

static bool one_region(Lower *l, Threads *t, void *self) {
    const Value *threads = self;
    const FuncInst *inst = threads->imm.inst;
    uint32_t results = (uint32_t)threads->imm.i;
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, threads->nargs), status = NULL, result, block;
    for (uint32_t i = results; i < threads->nargs; i++) {
        const Value *arg = threads->args[i];
        if (!l_has_bytes(arg->type)) continue;
        args[i - results] = arg->op == OP_CONTEXT ? l_load(l, arg->type, own_place(l, t, arg)) : l_value(l, arg);
    }
    TRY(result = l_call_inst(l, inst, args, &status));
    if (status) {
        t->group = NULL; /* a loop with two exits is not made of vectors */
        LIf raised;
        l_if(l, &raised, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)));
        threads_merge_bad(l, t);
        host_store_field(l, t->grid, offsetof(HostGrid, raised_thread), threads_number(l, t, t->place, &block), 4);
        l_leave(l, status);
        l_enter(l, raised.end);
    }
    for (uint32_t i = 0; i < results; i++) {
        const Value *context = threads->args[i];
        l_store(l, context->type, l_item(l, inst->result, result, i), own_place(l, t, context));
    }
    if (t->group) host_mark_accesses(l, t->group, true);
    return true;
}

LLVMValueRef threads_region(Lower *l, const Value *value) {
    Threads t = {.here = l->hidden[0], .plain = l->m->ninsts > MANY_REGIONS};
    t.grid = l_raw_load(l, l->ptr, host_offset(l, t.here, offsetof(HostThread, grid)), 8);
    t.touches_nothing = !(value->imm.inst->effects & (EFFECT_READ | EFFECT_WRITE));
    if (value->imm.inst->frameless) t.group = host_access_group(l);
    l_attribute(l, l_function_of(l, value->imm.inst), -1, "alwaysinline", 0);
    TRY(threads_each(l, &t, one_region, (void *)(uintptr_t)value));
    return l_null(l->empty);
}
