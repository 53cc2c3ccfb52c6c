/* lower_funcs.c: library functions that are neither one call nor an operation: min and max of several scalars, and
 * those that take all items of a tuple or an array at once (norm, fsum, sumprod).
 *
 * In: a CALL_FUNC with typed operands.  Out: its value.  Items go to rtlib as a pointer, a count and a stride. */
#include "codegen/lowering.h" /* Lower */

Emitter lower_func_emitter(FuncId func) {
#define EMITTER_EXTERN(f)  NULL
#define EMITTER_OP(name)   NULL
#define EMITTER_RTLIB(f)   NULL
#define EMITTER_HOSTED(f)  NULL
#define EMITTER_EMIT(f)    lower_func_##f
#define EMITTER_PRELUDE(f) NULL
#define EMITTER_TYPED      NULL
    static const Emitter emitters[FUNC_COUNT] = {
#define FUNC(id, rule, how, ...) [FUNC_##id] = EMITTER_##how,
#include "library/functions.def"
#undef FUNC
    };
    return func < FUNC_COUNT ? emitters[func] : NULL;
}

/* The first operand stays unless a later one is strictly beyond it, as in the interpreter: NaN is never beyond. */
static LLVMValueRef lower_func_extreme(Lower *l, const Value *call, Op beyond) {
    LLVMValueRef best = l_arg(l, call, 0);
    for (uint32_t i = 1; i < call->nargs; i++) {
        LLVMValueRef item = l_arg(l, call, i);
        best = l_select(l, l_scalar_op(l, beyond, (Scalar)call->type->scalar, item, best), item, best);
    }
    return best;
}

LLVMValueRef lower_func_min(Lower *l, const Value *call) { return lower_func_extreme(l, call, OP_LT); }
LLVMValueRef lower_func_max(Lower *l, const Value *call) { return lower_func_extreme(l, call, OP_GT); }

/* A tuple of float64 in memory. */
static LLVMValueRef spill_tuple(Lower *l, const Type *tuple, LLVMValueRef value) {
    LLVMValueRef memory = l_alloca_bytes(l, 8 * (tuple->count ? tuple->count : 1), 8, "items");
    for (uint32_t i = 0; i < tuple->count; i++)
        l_raw_store(l, l_item(l, tuple, value, i), l_offset(l, memory, l_i64(l, 8 * (int64_t)i)), 8);
    return memory;
}

LLVMValueRef lower_func_norm(Lower *l, const Value *call) {
    const Type *tuple = l_arg_type(call, 0);
    LLVMValueRef args[] = {spill_tuple(l, tuple, l_arg(l, call, 0)), l_i64(l, tuple->count)};
    return l_call_named(l, "krait_rt_norm", l->f64, args, 2);
}

LLVMValueRef lower_func_sumprod_float(Lower *l, const Value *call) {
    const Type *p = l_arg_type(call, 0), *q = l_arg_type(call, 1);
    LLVMValueRef args[] = {spill_tuple(l, p, l_arg(l, call, 0)), spill_tuple(l, q, l_arg(l, call, 1)),
                           l_i64(l, p->count)};
    return l_call_named(l, "krait_rt_sumprod", l->f64, args, 3);
}

/* fsum keeps its partial sums in memory of the caller: krait_rt_fsum_add per item, krait_rt_fsum_total at the end. */
enum { FSUM_BYTES = 8 * 64 };

LLVMValueRef lower_func_fsum(Lower *l, const Value *call) {
    const Type *type = l_arg_type(call, 0);
    LLVMValueRef items = l_arg(l, call, 0), state = l_alloca_bytes(l, FSUM_BYTES, 8, "fsum"),
                 out = l_alloca_bytes(l, 8, 8, "sum");
    l_call_named(l, "krait_rt_fsum_start", l->v, &state, 1);
    if (type->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < type->count; i++) {
            LLVMValueRef args[] = {state, l_item(l, type, items, i)};
            l_call_named(l, "krait_rt_fsum_add", l->v, args, 2);
        }
    } else {
        const Type *element = type_element(type);
        LFor each;
        LLVMValueRef index = l_for(l, &each, l_array_shape(l, type, items, 0));
        LLVMValueRef item = l_load_element(l, type, l_element(l, type, items, &index));
        LLVMValueRef args[] = {state, l_cast_scalar(l, item, (Scalar)element->scalar, SCALAR_FLOAT64)};
        l_call_named(l, "krait_rt_fsum_add", l->v, args, 2);
        l_endfor(l, &each);
    }
    LLVMValueRef total[] = {state, out};
    LLVMValueRef code = l_call_named(l, "krait_rt_fsum_total", l->i32, total, 2);
    if (call->flags & VF_CHECKED) l_math_errors(l, func_row(call->imm.func), code);
    return l_raw_load(l, l->f64, out, 8);
}

LLVMValueRef lower_func_select(Lower *l, const Value *call) {
    LLVMValueRef condition = l_truth(l, l_arg_type(call, 0), l_arg(l, call, 0));
    return l_select(l, condition, l_arg(l, call, 1), l_arg(l, call, 2));
}
