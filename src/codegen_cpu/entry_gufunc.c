/* entry_gufunc.c: ENTRY_GUFUNC: the inner loop of a generalised ufunc around the root.
 *
 * In: the lowered root, whose parameters are scalars and arrays and whose result is None.  Out: a function
 *
 *     int32_t loop(char *const *args, int64_t const *count, int64_t const *steps, void *exception)
 *
 * that calls the root `count` times: for the i-th, parameter k lies i * steps[k] bytes behind args[k].  Behind one step
 * for each parameter `steps` has, for each that is an array and in their order, its extents and its strides; those of
 * layout C are not read.  It returns 0, or the status of the first call that raised.
 *
 * A root that walks short rows has its calls in two loops.  In the one all extents are known to be small, so that LLVM
 * sees that a row ends before it is time to look for signals: what it takes to see that in each row would be half the
 * time of a row of a few elements. */
#include "codegen_cpu/cpu.h"

enum {
    FEW_ITEMS = 32,  /* of rows that are short */
    SHORT_ROOT = 128 /* values of a root that stands in two loops: both are compiled */
};

typedef struct Gufunc {
    const FuncInst *root;
    uint32_t nparams;
    LLVMValueRef *base, *step;       /* one for each parameter */
    LLVMValueRef **shape, **strides; /* of those that are arrays */
} Gufunc;

static LLVMValueRef item(Lower *l, LLVMValueRef table, LLVMTypeRef type, uint32_t number) {
    return l_raw_load(l, type, l_offset(l, table, l_i64(l, (int64_t)number * 8)), 8);
}

static bool check_params(Lower *l, const FuncInst *root) {
    const Func *f = root->untyped;
    for (uint32_t i = 0; i < f->nparams; i++)
        FAIL_IF(!type_is_scalar(root->types[i]) && root->types[i]->kind != TY_ARRAY, l->diag, TYPING, f->source,
                f->span, "parameter %s of a generalised ufunc is a number or an array, not %s", f->params[i].name,
                type_text(l->arena, root->types[i]));
    return true;
}

static void load_geometry(Lower *l, Gufunc *g, LLVMValueRef args, LLVMValueRef steps) {
    uint32_t next = g->nparams;
    for (uint32_t i = 0; i < g->nparams; i++) {
        const Type *type = g->root->types[i];
        g->base[i] = item(l, args, l->ptr, i);
        g->step[i] = item(l, steps, l->i64, i);
        if (type->kind != TY_ARRAY) continue;
        g->shape[i] = ARENA_ARRAY(l->arena, LLVMValueRef, type->ndim);
        g->strides[i] = ARENA_ARRAY(l->arena, LLVMValueRef, type->ndim);
        for (uint32_t axis = 0; axis < type->ndim; axis++) {
            g->shape[i][axis] = item(l, steps, l->i64, next + axis);
            l_metadata_range(l, g->shape[i][axis], 0, INT64_MAX);
            g->strides[i][axis] = item(l, steps, l->i64, next + type->ndim + axis);
        }
        next += 2 * type->ndim;
    }
}

/* Call number `index` of the root. */
static bool one_call(Lower *l, const Gufunc *g, LLVMValueRef index) {
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, g->nparams), status = NULL;
    for (uint32_t i = 0; i < g->nparams; i++) {
        const Type *type = g->root->types[i];
        LLVMValueRef at = l_offset(l, g->base[i], l_nswmul(l, index, g->step[i]));
        args[i] = type->kind == TY_ARRAY ? l_array_make(l, type, at, l_null(l->ptr), g->shape[i], g->strides[i])
                                         : l_load(l, type, at);
    }
    TRY(l_call_inst(l, g->root, args, &status));
    if (!status) return true;
    LIf raised;
    l_if(l, &raised, l_icmp(l, LLVMIntNE, status, l_i32(l, 0)));
    LLVMBuildRet(l->b, status);
    l_enter(l, raised.end);
    return true;
}

static bool all_calls(Lower *l, const Gufunc *g, LLVMValueRef count) {
    LFor loop;
    LLVMValueRef index = l_for(l, &loop, count);
    TRY(one_call(l, g, index));
    l_endfor(l, &loop);
    return true;
}

/* Whether no array has more than a few items; NULL: it makes no difference. */
static LLVMValueRef are_few(Lower *l, const Gufunc *g) {
    LLVMValueRef few = NULL;
    size_t values = 0;
    const Func *f = g->root->func;
    for (size_t b = 0; b < f->blocks.len; b++)
        for (const Value *value = f->blocks.data[b]->first; value; value = value->next) values++;
    if (!g->root->reaches_loop || l->m->options.uninterrupted || values > SHORT_ROOT) return NULL;
    for (uint32_t i = 0; i < g->nparams; i++) {
        const Type *type = g->root->types[i];
        if (type->kind != TY_ARRAY) continue;
        if (type->ndim > 1) return NULL; /* loops in loops have twins that do not look (passes/safepoint_twins.c) */
        LLVMValueRef is_few = l_icmp(l, LLVMIntSLE, g->shape[i][0], l_i64(l, FEW_ITEMS));
        few = few ? l_and(l, few, is_few) : is_few;
    }
    return few;
}

bool host_entry_gufunc(Lower *l, const FuncInst *root) {
    TRY(check_params(l, root));
    uint32_t count = root->untyped->nparams;
    Gufunc g = {.root = root,
                .nparams = count,
                .base = ARENA_ARRAY(l->arena, LLVMValueRef, count),
                .step = ARENA_ARRAY(l->arena, LLVMValueRef, count),
                .shape = ARENA_ARRAY(l->arena, LLVMValueRef *, count),
                .strides = ARENA_ARRAY(l->arena, LLVMValueRef *, count)};
    LLVMTypeRef params[] = {l->ptr, l->ptr, l->ptr, l->ptr};
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, l->i32, params, 4);
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = LLVMGetParam(function, 3);
    host_note_stack_limit(l, l->exception, THREAD_RECURSION);
    load_geometry(l, &g, LLVMGetParam(function, 0), LLVMGetParam(function, 2));
    LLVMValueRef calls = l_raw_load(l, l->i64, LLVMGetParam(function, 1), 8), few = are_few(l, &g);
    if (few) {
        LIf shorts;
        l_if(l, &shorts, few);
        TRY(all_calls(l, &g, calls));
        l_else(l, &shorts);
        TRY(all_calls(l, &g, calls));
        l_endif(l, &shorts);
    } else {
        TRY(all_calls(l, &g, calls));
    }
    LLVMBuildRet(l->b, l_i32(l, 0));
    l_end(l);
    return true;
}
