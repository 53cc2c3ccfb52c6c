/* lower_count.c: references counted: RETAIN and RELEASE, for every owner in a value.
 *
 * In: a value whose type has owners (repr.h), or a cell.  Out: for each owner whose word has OWNER_HEAP, one reference
 * more or less.  Only one thread sees most objects: their counts are changed here; for the rest, and to release an
 * object, the heap is called (heap.h says what counts mean).  On the way of what is raised the heap does all of it. */
#include <stddef.h> /* offsetof */

#include "codegen/lower.h"

static void call_heap(Lower *l, const char *symbol, LLVMValueRef object) { l_call_named(l, symbol, l->v, &object, 1); }

static void retain_object(Lower *l, LLVMValueRef object, LLVMValueRef at, LLVMValueRef count) {
    LIf own;
    l_if_likely(l, &own, l_icmp(l, LLVMIntULT, count, l_i32(l, INT32_MAX)));
    l_raw_store(l, LLVMBuildNSWAdd(l->b, count, l_i32(l, 1), ""), at, 4);
    l_else(l, &own);
    call_heap(l, "krait_heap_retain", object);
    l_endif(l, &own);
}

static void release_object(Lower *l, LLVMValueRef object, LLVMValueRef at, LLVMValueRef count) {
    LIf others;
    l_if(l, &others, l_icmp(l, LLVMIntSGT, count, l_i32(l, 0)));
    l_raw_store(l, LLVMBuildNSWSub(l->b, count, l_i32(l, 1), ""), at, 4);
    l_else(l, &others);
    call_heap(l, "krait_heap_release", object);
    l_endif(l, &others);
}

static void share_object(Lower *l, LLVMValueRef object, LLVMValueRef at, LLVMValueRef count) {
    (void)at, (void)count;
    call_heap(l, "krait_heap_share", object);
}

typedef void Change(Lower *l, LLVMValueRef object, LLVMValueRef at, LLVMValueRef count);

static void change_owner(Lower *l, Change *change, LLVMValueRef owner) {
    if (change == release_object && l->s->after_raise) {
        call_heap(l, "krait_heap_give_up", owner);
        return;
    }
    LLVMValueRef bits = LLVMBuildPtrToInt(l->b, owner, l->i64, "");
    LIf heap;
    l_if(l, &heap, l_icmp(l, LLVMIntNE, l_and(l, bits, l_i64(l, OWNER_HEAP)), l_i64(l, 0)));
    LLVMValueRef parts[] = {owner, l_i64(l, ~(int64_t)OWNER_BITS)};
    LLVMValueRef object = l_intrinsic2(l, "llvm.ptrmask", l->ptr, l->i64, parts, 2);
    LLVMValueRef at = l_offset(l, object, l_i64(l, offsetof(HeapHead, count)));
    LLVMValueRef count = l_raw_load(l, l->i32, at, 4);
    change(l, object, at, count);
    l_endif(l, &heap);
}

/* For every owner in a value. */
static void change_owners(Lower *l, Change *change, const Type *type, LLVMValueRef value) {
    if (!type_is_counted(type)) return;
    if (type_is_object(type)) {
        change_owner(l, change, value);
        return;
    }
    LIf present;
    switch (type->kind) {
    case TY_ARRAY: change_owner(l, change, l_array_owner(l, value)); return;
    case TY_FLAT: change_owners(l, change, type->items[0], value); return;
    case TY_OPTIONAL: /* without a value the owner is anything */
        l_if(l, &present, l_present(l, type, value));
        change_owners(l, change, type->items[0], l_content(l, type, value));
        l_endif(l, &present);
        return;
    default:
        for (uint32_t i = 0; i < type->count; i++)
            if (type_is_counted(type->items[i])) change_owners(l, change, type->items[i], l_item(l, type, value, i));
        return;
    }
}

void l_count(Lower *l, Op op, const Type *type, LLVMValueRef value) {
    change_owners(l, op == OP_RETAIN ? retain_object : release_object, type, value);
}

void l_share(Lower *l, const Type *type, LLVMValueRef value) { change_owners(l, share_object, type, value); }

LLVMValueRef lower_count(Lower *l, const Value *value) {
    const Value *of = value->args[0];
    if (of->type->kind == TY_CELL)
        l_release_cell(l, of->type->items[0], l_value(l, of));
    else
        l_count(l, value->op, of->type, l_value(l, of));
    return LLVMGetUndef(l->empty);
}
