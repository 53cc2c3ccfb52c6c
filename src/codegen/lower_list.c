/* lower_list.c: lists: displays, and the few operations that their methods, Python of the prelude, are made of; and
 * instances of users' classes, each a list of one item, its attributes.
 *
 * In: values of TY_LIST or STRUCT_OBJECT, whose one leaf is the object's head with OWNER_HEAP.  Out: accesses to its
 * ListBody (ir_abi.def).  What is put in gets a reference of its own, and what is taken out too: the list may lose the
 * item while it is used. */
#include <stddef.h> /* offsetof */
#include <string.h> /* strrchr */

#include "codegen/lower.h"

static LLVMValueRef body_of(Lower *l, LLVMValueRef list) {
    return l_offset(l, list, l_i64(l, HEAP_CONTENT - OWNER_HEAP)); /* of a list the bit is always set */
}

static LLVMValueRef head_of(Lower *l, LLVMValueRef list) { return l_offset(l, list, l_i64(l, -OWNER_HEAP)); }

static LLVMValueRef field(Lower *l, LLVMValueRef list, size_t at) {
    return l_offset(l, body_of(l, list), l_i64(l, (int64_t)at));
}

LLVMValueRef l_list_length(Lower *l, LLVMValueRef list) {
    LLVMValueRef length = l_raw_load(l, l->i64, field(l, list, offsetof(ListBody, length)), 8);
    l_metadata_range(l, length, 0, INT64_MAX);
    return length;
}

static const Type *item_of(const Type *list) { return list->items[0]; }

static int64_t item_bytes(const Type *list) {
    return l_has_bytes(item_of(list)) ? (int64_t)type_size(item_of(list)) : 0;
}

static LLVMValueRef item_at(Lower *l, const Type *type, LLVMValueRef list, LLVMValueRef index) {
    LLVMValueRef items = l_raw_load(l, l->ptr, field(l, list, offsetof(ListBody, items)), 8);
    return l_offset(l, items, l_nswmul(l, index, l_i64(l, item_bytes(type))));
}

/* An item with a reference of its own, of the type of the list's items. */
static void put_item(Lower *l, const Type *type, LLVMValueRef list, LLVMValueRef index, LLVMValueRef item) {
    if (!item_bytes(type)) return;
    l_count(l, OP_RETAIN, item_of(type), item);
    l_store(l, item_of(type), item, item_at(l, type, list, index));
}

LLVMValueRef l_list_item(Lower *l, const Type *type, LLVMValueRef list, LLVMValueRef index) {
    if (!item_bytes(type)) return LLVMGetUndef(l_type(l, item_of(type)));
    return l_load(l, item_of(type), item_at(l, type, list, index));
}

/* The last number of the hash table says how many entries live; without one all do. */
LLVMValueRef l_table_length(Lower *l, const Type *type, LLVMValueRef table) {
    LLVMValueRef slots = l_item(l, type, table, 1), all = l_list_length(l, l_item(l, type, table, 0));
    LLVMValueRef count = l_list_length(l, slots), memory = l_alloca(l, l->i64, "length");
    l_raw_store(l, all, memory, 8);
    LIf hashed;
    l_if(l, &hashed, l_icmp(l, LLVMIntNE, count, l_i64(l, 0)));
    LLVMValueRef last = l_list_item(l, type->items[1], slots, l_nswadd(l, count, l_i64(l, -1)));
    l_raw_store(l, last, memory, 8);
    l_endif(l, &hashed);
    LLVMValueRef length = l_raw_load(l, l->i64, memory, 8);
    l_metadata_range(l, length, 0, INT64_MAX);
    return length;
}

/* ---- new ones ---- */

/* Constant: where the owners lie in each item. */
static LLVMValueRef owner_offsets(Lower *l, const Type *item, unsigned *count) {
    const Repr *repr = type_repr(item);
    LLVMValueRef *offsets = ARENA_ARRAY(l->arena, LLVMValueRef, repr->nleaves);
    *count = 0;
    for (uint32_t i = 0; i < repr->nleaves; i++)
        if (repr->leaves[i].kind == LEAF_OWNER) offsets[(*count)++] = l_i32(l, repr->leaves[i].offset);
    if (!*count) return l_null(l->ptr);
    LLVMValueRef table = LLVMConstArray2(l->i32, offsets, *count);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(table), "krait_owners");
    LLVMSetInitializer(global, table);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static void refuse_without_memory(Lower *l, LLVMValueRef condition) {
    l_raise_if(l, condition, "MemoryError", "", NULL, 0);
}

LLVMValueRef lower_list(Lower *l, const Value *value) {
    const Type *type = value->type;
    unsigned nowners;
    LLVMValueRef offsets = owner_offsets(l, item_of(type), &nowners);
    LLVMValueRef args[] = {l_i64(l, value->nargs), l_i32(l, item_bytes(type)), offsets, l_i32(l, nowners)};
    LLVMValueRef head = l_call_named(l, "krait_heap_list", l->ptr, args, 4);
    TRY(head);
    refuse_without_memory(l, l_icmp(l, LLVMIntEQ, head, l_null(l->ptr)));
    LLVMValueRef list = l_offset(l, head, l_i64(l, OWNER_HEAP));
    for (uint32_t i = 0; i < value->nargs; i++) {
        LLVMValueRef item = l_has_bytes(item_of(type))
                                ? l_convert(l, l_arg(l, value, i), l_arg_type(value, i), item_of(type))
                                : NULL;
        put_item(l, type, list, l_i64(l, i), item);
    }
    l_raw_store(l, l_i64(l, value->nargs), field(l, list, offsetof(ListBody, length)), 8);
    return list;
}

/* ---- items ---- */

LLVMValueRef lower_func_list_append(Lower *l, const Value *call) {
    const Type *type = l_arg_type(call, 0);
    LLVMValueRef list = l_arg(l, call, 0), length = l_list_length(l, list);
    LLVMValueRef capacity = l_raw_load(l, l->i64, field(l, list, offsetof(ListBody, capacity)), 8);
    LIf full;
    l_if(l, &full, l_icmp(l, LLVMIntEQ, length, capacity));
    LLVMValueRef head = head_of(l, list);
    LLVMValueRef failed = l_call_named(l, "krait_heap_list_grow", l->i32, &head, 1);
    refuse_without_memory(l, l_icmp(l, LLVMIntNE, failed, l_i32(l, 0)));
    l_endif(l, &full);
    put_item(l, type, list, length, item_bytes(type) ? l_arg(l, call, 1) : NULL);
    l_raw_store(l, l_nswadd(l, length, l_i64(l, 1)), field(l, list, offsetof(ListBody, length)), 8);
    return LLVMGetUndef(l->empty);
}

/* The index from the start, inside; else IndexError. */
static LLVMValueRef checked_index(Lower *l, const Value *call, LLVMValueRef list, const char *text) {
    LLVMValueRef length = l_list_length(l, list);
    LLVMValueRef index = l_wrap_index(l, l_arg(l, call, 1), length, value_counts_forward(call->args[1]));
    l_raise_if(l, l_icmp(l, LLVMIntUGE, index, length), "IndexError", text, NULL, 0);
    return index;
}

LLVMValueRef lower_func_list_get(Lower *l, const Value *call) {
    const Type *type = l_arg_type(call, 0);
    LLVMValueRef list = l_arg(l, call, 0), index = checked_index(l, call, list, "list index out of range");
    LLVMValueRef item = l_list_item(l, type, list, index);
    l_count(l, OP_RETAIN, item_of(type), item);
    return l_convert(l, item, item_of(type), call->type);
}

LLVMValueRef lower_func_list_set(Lower *l, const Value *call) {
    const Type *type = l_arg_type(call, 0);
    LLVMValueRef list = l_arg(l, call, 0), index = checked_index(l, call, list, "list assignment index out of range");
    if (!item_bytes(type)) return LLVMGetUndef(l->empty);
    LLVMValueRef old = l_list_item(l, type, list, index);
    put_item(l, type, list, index, l_arg(l, call, 2));
    l_count(l, OP_RELEASE, item_of(type), old);
    return LLVMGetUndef(l->empty);
}

LLVMValueRef lower_func_list_reserve(Lower *l, const Value *call) {
    LLVMValueRef args[] = {head_of(l, l_arg(l, call, 0)), l_arg(l, call, 1)};
    LLVMValueRef failed = l_call_named(l, "krait_heap_list_reserve", l->i32, args, 2);
    refuse_without_memory(l, l_icmp(l, LLVMIntNE, failed, l_i32(l, 0)));
    return LLVMGetUndef(l->empty);
}

LLVMValueRef lower_func_append_codes(Lower *l, const Value *call) {
    LLVMValueRef args[] = {head_of(l, l_arg(l, call, 0)), head_of(l, l_arg(l, call, 1))};
    LLVMValueRef failed = l_call_named(l, "krait_heap_list_append_all", l->i32, args, 2);
    refuse_without_memory(l, l_icmp(l, LLVMIntNE, failed, l_i32(l, 0)));
    return LLVMGetUndef(l->empty);
}

/* Each is a call, not a loop: programs compare texts at many places. */
enum { READS_ALL = 0x55 }; /* the attribute memory(read): LLVM's two bits for each of four kinds of memory */

static LLVMValueRef compare_codes(Lower *l, const char *symbol, LLVMTypeRef result, LLVMValueRef *args,
                                  unsigned count) {
    for (unsigned i = 0; i < 2; i++) args[i] = head_of(l, args[i]);
    LLVMValueRef call = l_call_named(l, symbol, result, args, count);
    TRY(call);
    l_call_attribute(l, call, -1, "memory", READS_ALL);
    return call;
}

LLVMValueRef lower_func_lies_at(Lower *l, const Value *call) {
    LLVMValueRef args[] = {l_arg(l, call, 0), l_arg(l, call, 1), l_arg(l, call, 2)};
    LLVMValueRef found = compare_codes(l, "krait_heap_lies_at", l->i32, args, COUNT_OF(args));
    TRY(found);
    return l_icmp(l, LLVMIntNE, found, l_i32(l, 0));
}

LLVMValueRef lower_func_order_of(Lower *l, const Value *call) {
    LLVMValueRef args[] = {l_arg(l, call, 0), l_arg(l, call, 1)};
    return compare_codes(l, "krait_heap_order", l->i64, args, COUNT_OF(args));
}

LLVMValueRef lower_func_list_truncate(Lower *l, const Value *call) {
    LLVMValueRef args[] = {head_of(l, l_arg(l, call, 0)), l_arg(l, call, 1)};
    l_call_named(l, "krait_heap_list_truncate", l->v, args, 2);
    return LLVMGetUndef(l->empty);
}

/* ---- instances of classes ---- */

LLVMValueRef lower_func_object_new(Lower *l, const Value *call) {
    const Type *body = type_object_body(call->type);
    unsigned nowners;
    LLVMValueRef offsets = owner_offsets(l, body, &nowners), bytes = l_i64(l, (int64_t)type_size(body));
    LLVMValueRef args[] = {l_i64(l, 1), l_i32(l, (int64_t)type_size(body)), offsets, l_i32(l, nowners)};
    LLVMValueRef head = l_call_named(l, "krait_heap_list", l->ptr, args, 4);
    TRY(head);
    refuse_without_memory(l, l_icmp(l, LLVMIntEQ, head, l_null(l->ptr)));
    LLVMValueRef list = l_offset(l, head, l_i64(l, OWNER_HEAP));
    LLVMValueRef item = l_raw_load(l, l->ptr, field(l, list, offsetof(ListBody, items)), 8);
    LLVMBuildMemSet(l->b, item, l_i8(l, 0), bytes, 8);
    l_raw_store(l, l_i64(l, 1), field(l, list, offsetof(ListBody, length)), 8);
    if (type_leads_back(call->type)) l_call_named(l, "krait_heap_may_cycle", l->v, &head, 1);
    return list;
}

typedef struct Attribute { /* of the instance that is operand 0 of a call */
    const Type *type;
    int64_t number;
    LLVMValueRef bits, place; /* where: which attributes are set; this one */
} Attribute;

static Attribute attribute_of(Lower *l, const Value *call) {
    const Type *object = l_arg_type(call, 0), *body = type_object_body(object);
    int64_t number = call->args[1]->konst->i;
    LLVMValueRef item = l_raw_load(l, l->ptr, field(l, l_arg(l, call, 0), offsetof(ListBody, items)), 8);
    LLVMValueRef place = l_offset(l, item, l_i64(l, (int64_t)type_item_offset(body, (size_t)number)));
    return (Attribute){object->items[number], number, item, place};
}

/* "Account" of "module.Account" */
static const char *object_title(const Type *object) {
    const char *dot = object->title ? strrchr(object->title, '.') : NULL;
    return dot ? dot + 1 : object->title ? object->title : "?";
}

LLVMValueRef lower_func_object_address(Lower *l, const Value *call) {
    return LLVMBuildPtrToInt(l->b, l_arg(l, call, 0), l->i64, "");
}

LLVMValueRef lower_func_object_has(Lower *l, const Value *call) {
    Attribute of = attribute_of(l, call);
    LLVMValueRef bit = l_and(l, l_raw_load(l, l->i64, of.bits, 8), l_i64(l, INT64_C(1) << of.number));
    return l_icmp(l, LLVMIntNE, bit, l_i64(l, 0));
}

LLVMValueRef lower_func_object_get(Lower *l, const Value *call) {
    Attribute of = attribute_of(l, call);
    const Type *object = l_arg_type(call, 0);
    const char *text = arena_printf(l->arena, "'%s' object has no attribute '%s'", object_title(object),
                                    object->names[of.number]);
    if (!(call->flags & VF_UNCHECKED)) {
        LLVMValueRef bit = l_and(l, l_raw_load(l, l->i64, of.bits, 8), l_i64(l, INT64_C(1) << of.number));
        l_raise_if(l, l_icmp(l, LLVMIntEQ, bit, l_i64(l, 0)), "AttributeError", text, NULL, 0);
    }
    if (!l_has_bytes(of.type)) return LLVMGetUndef(l_type(l, of.type));
    LLVMValueRef value = l_load(l, of.type, of.place);
    l_count(l, OP_RETAIN, of.type, value);
    return value;
}

/* What lies there says nothing of whether it is set. */
static LLVMValueRef put_attribute(Lower *l, const Value *call, Attribute of) {
    if (!l_has_bytes(of.type)) return LLVMGetUndef(l->empty);
    LLVMValueRef old = l_load(l, of.type, of.place), value = l_arg(l, call, 2);
    l_count(l, OP_RETAIN, of.type, value);
    l_store(l, of.type, value, of.place);
    l_count(l, OP_RELEASE, of.type, old);
    return LLVMGetUndef(l->empty);
}

LLVMValueRef lower_func_object_set(Lower *l, const Value *call) {
    Attribute of = attribute_of(l, call);
    LLVMValueRef bits = l_raw_load(l, l->i64, of.bits, 8);
    l_raw_store(l, l_or(l, bits, l_i64(l, INT64_C(1) << of.number)), of.bits, 8);
    return put_attribute(l, call, of);
}

LLVMValueRef lower_func_object_default(Lower *l, const Value *call) {
    return put_attribute(l, call, attribute_of(l, call));
}
