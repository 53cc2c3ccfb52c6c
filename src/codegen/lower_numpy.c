/* lower_numpy.c: calls of the inner loops of NumPy's generalised ufuncs, and of NumPy's functions that sort.
 *
 * In: numpy_loop(name, sizes, steps, inputs, arrays...).  Out: whether the loop said that something was invalid.
 * A loop takes a pointer for each operand, the size of the outer loop and of each core dimension, and in bytes the
 * outer step of each operand, then the core steps (NumPy's C API, PyUFuncGenericFunction). */
#include <string.h> /* strcmp */

#include "codegen/lower.h"

/* Items of all sizes: the outer one and those of the core. */
static LLVMValueRef product_of(Lower *l, const Value *call, uint32_t arg) {
    const Type *tuple = l_arg_type(call, arg);
    LLVMValueRef product = l_i64(l, 1);
    for (uint32_t i = 0; i < tuple->count; i++)
        product = l_nswmul(l, product, l_item(l, tuple, l_arg(l, call, arg), i));
    return product;
}

/* Products do as much as their sizes say.  LAPACK does the cube of a matrix's size, or more: of some tens of rows on
 * every call looks, which is nothing beside it. */
static LLVMValueRef cost_of(Lower *l, const Value *call) {
    static const char *const products[] = {"matmul", "matvec", "vecmat", "vecdot"};
    LLVMValueRef product = product_of(l, call, 1);
    for (size_t i = 0; i < COUNT_OF(products); i++)
        if (strcmp(call->args[0]->konst->text, products[i]) == 0) return product;
    LLVMValueRef limited[] = {product, l_i64(l, SAFEPOINT_BUDGET)}; /* so that the cube is a number */
    LLVMValueRef items = l_intrinsic(l, "llvm.umin", l->i64, limited, 2);
    return l_nswmul(l, items, l_nswmul(l, items, items));
}

static LLVMValueRef spill_ints(Lower *l, const Value *call, uint32_t arg) {
    const Type *tuple = l_arg_type(call, arg);
    LLVMValueRef memory = l_alloca_bytes(l, 8 * (tuple->count ? tuple->count : 1), 8, "ints");
    for (uint32_t i = 0; i < tuple->count; i++)
        l_raw_store(l, l_item(l, tuple, l_arg(l, call, arg), i), l_offset(l, memory, l_i64(l, 8 * (int64_t)i)), 8);
    return memory;
}

LLVMValueRef lower_func_numpy_loop(Lower *l, const Value *call) {
    enum { FIRST = 4 };
    Buf letters = {.arena = l->arena};
    LLVMValueRef arrays = l_alloca_bytes(l, 8 * (call->nargs - FIRST), 8, "arrays");
    for (uint32_t i = FIRST; i < call->nargs; i++) {
        const Type *type = l_arg_type(call, i);
        buf_printf(&letters, "%c", scalar_info[type_element(type)->scalar].numpy_char);
        l_raw_store(l, l_array_data(l, l_arg(l, call, i)), l_offset(l, arrays, l_i64(l, 8 * (int64_t)(i - FIRST))), 8);
    }
    const char *symbol = arena_printf(l->arena, "krait_numpy_loop_%s_%s", call->args[0]->konst->text, letters.text);
    LLVMTypeRef type = LLVMFunctionType(l->v, NULL, 0, false);
    LLVMValueRef loop = LLVMGetNamedFunction(l->module, symbol);
    if (!loop) loop = l_declare(l, symbol, type);
    LLVMValueRef args[] = {loop, arrays, spill_ints(l, call, 1), spill_ints(l, call, 2)};
    LLVMValueRef invalid = l_call_named(l, "krait_host_numpy_loop", l->i32, args, 4);
    if (l_looks(l)) l_look(l, cost_of(l, call), NULL);
    return l_icmp(l, LLVMIntNE, invalid, l_i32(l, 0));
}

/* ---- functions that sort ---- */

static LLVMValueRef sort_function(Lower *l, const Value *call, const char *what) {
    char letter = scalar_info[type_element(l_arg_type(call, 1))->scalar].numpy_char;
    const char *symbol = arena_printf(l->arena, "krait_numpy_loop_%s_%s_%c", what, call->args[0]->konst->text, letter);
    LLVMValueRef function = LLVMGetNamedFunction(l->module, symbol);
    return function ? function : l_declare(l, symbol, LLVMFunctionType(l->v, NULL, 0, false));
}

enum { SORT_COST = 64 }; /* of an item, as the loops of the program count it */

static void look_behind_sort(Lower *l, LLVMValueRef items) {
    if (l_looks(l)) l_look(l, l_nswmul(l, items, l_i64(l, SORT_COST)), NULL);
}

static void raise_if_failed(Lower *l, LLVMValueRef failed) {
    l_raise_if(l, l_icmp(l, LLVMIntNE, failed, l_i32(l, 0)), "MemoryError", "no memory to sort in", NULL, 0);
}

LLVMValueRef lower_func_sort_line(Lower *l, const Value *call) {
    LLVMValueRef line = l_arg(l, call, 1), items = l_array_shape(l, l_arg_type(call, 1), line, 0);
    LLVMValueRef args[] = {sort_function(l, call, "sort"), l_array_data(l, line), items};
    raise_if_failed(l, l_call_named(l, "krait_host_numpy_sort", l->i32, args, 3));
    look_behind_sort(l, items);
    return LLVMGetUndef(l->empty);
}

LLVMValueRef lower_func_argsort_line(Lower *l, const Value *call) {
    LLVMValueRef line = l_arg(l, call, 1), items = l_array_shape(l, l_arg_type(call, 1), line, 0);
    LLVMValueRef args[] = {sort_function(l, call, "argsort"), l_array_data(l, line), l_array_data(l, l_arg(l, call, 2)),
                           items};
    raise_if_failed(l, l_call_named(l, "krait_host_numpy_argsort", l->i32, args, 4));
    look_behind_sort(l, items);
    return LLVMGetUndef(l->empty);
}
