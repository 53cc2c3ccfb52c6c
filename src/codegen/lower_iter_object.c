/* lower_iter_object.c: iterators that more than one loop sees, as objects in memory.
 *
 * In: values with VF_SHARED, and iterators that come from elsewhere (parameters, phis, items of tuples).  The value is
 * a pointer to an object in the frame of the function that made it; its type says what lies there:
 *
 *   range, reversed(range)                 next, number of items left, step
 *   tuple, array, flat, list, reversed   number of the next item, how many there are, what is iterated over
 *   enumerate                              next number, the object of its part
 *   zip                                    the objects of its parts, the items taken from them
 *   generator                              the generator itself (lower_generator.c)
 *
 * A zip takes its items when it is asked for more, one part after the other, and stops at the first that has none, as
 * the interpreter does: parts may be one object, or be asked for items by others too.  A generator that is asked again
 * gives up the item it yielded before, and a list may be changed by what runs meanwhile: the zip has references of its
 * own to what it has taken, which it gives up where a later part has no item, or raises. */
#include "codegen/lower.h"

enum {
    AT_NEXT = 0,
    AT_LEFT = 8,
    AT_STEP = 16,
    RANGE_BYTES = 24,
    AT_NUMBER = 0,
    AT_LENGTH = 8,
    AT_SOURCE = 16,
    AT_PART = 8,
    ENUMERATE_BYTES = 16,
    POINTER = 8,
};

static LLVMValueRef field(Lower *l, LLVMValueRef object, size_t at) {
    return at ? l_offset(l, object, l_i64(l, (int64_t)at)) : object;
}

static LLVMValueRef get(Lower *l, LLVMTypeRef type, LLVMValueRef object, size_t at) {
    return l_raw_load(l, type, field(l, object, at), 8);
}

static void put(Lower *l, LLVMValueRef value, LLVMValueRef object, size_t at) {
    l_raw_store(l, value, field(l, object, at), 8);
}

static bool is_range(const Type *iter) {
    return iter->iter == ITER_RANGE || (iter->iter == ITER_REVERSED && iter->items[0]->kind == TY_RANGE);
}

/* ---- making ---- */

static LLVMValueRef make_range(Lower *l, const Type *iter, LLVMValueRef range) {
    LLVMValueRef object = l_alloca_bytes(l, RANGE_BYTES, 8, "iterator");
    LLVMValueRef start = l_extract(l, range, 0), step = l_extract(l, range, 2);
    LLVMValueRef length = l_range_length(l, start, l_extract(l, range, 1), step);
    if (iter->iter == ITER_REVERSED) {
        start = l_add(l, start, l_mul(l, l_sub(l, length, l_i64(l, 1)), step));
        step = l_sub(l, l_i64(l, 0), step);
    }
    put(l, start, object, AT_NEXT);
    put(l, length, object, AT_LEFT);
    put(l, step, object, AT_STEP);
    return object;
}

static LLVMValueRef length_of(Lower *l, const Type *over, LLVMValueRef value) {
    if (over->kind == TY_TUPLE) return l_i64(l, over->count);
    if (over->kind == TY_LIST) return l_list_length(l, value);
    return over->kind == TY_FLAT ? l_array_size(l, over->items[0], value) : l_array_shape(l, over, value, 0);
}

static LLVMValueRef make_numbered(Lower *l, const Type *over, LLVMValueRef value) {
    LLVMValueRef object = l_alloca_bytes(l, AT_SOURCE + type_size(over), 8, "iterator");
    put(l, l_i64(l, 0), object, AT_NUMBER);
    put(l, length_of(l, over, value), object, AT_LENGTH);
    if (l_has_bytes(over)) l_store(l, over, value, field(l, object, AT_SOURCE));
    return object;
}

static LLVMValueRef make_enumerate(Lower *l, const Value *call) {
    LLVMValueRef object = l_alloca_bytes(l, ENUMERATE_BYTES, 8, "iterator");
    put(l, call->nargs > 1 ? l_arg(l, call, 1) : l_i64(l, 0), object, AT_NUMBER);
    put(l, l_arg(l, call, 0), object, AT_PART);
    return object;
}

static LLVMValueRef make_zip(Lower *l, const Value *call) {
    const Type *items = type_iter_item(l->types, call->type);
    LLVMValueRef object = l_alloca_bytes(l, POINTER * call->nargs + (items ? type_size(items) : 0), 8, "iterator");
    for (uint32_t i = 0; i < call->nargs; i++) put(l, l_arg(l, call, i), object, POINTER * i);
    return object;
}

LLVMValueRef l_iter_object(Lower *l, const Value *value) {
    const Type *iter = value->type;
    if (iter->iter == ITER_ENUMERATE) return make_enumerate(l, value);
    if (iter->iter == ITER_ZIP) return make_zip(l, value);
    const Type *over = l_arg_type(value, 0);
    return is_range(iter) ? make_range(l, iter, l_arg(l, value, 0)) : make_numbered(l, over, l_arg(l, value, 0));
}

/* ---- using ---- */

typedef struct Fetched { /* an item that a zip has taken, while it asks its other parts */
    const struct Fetched *before;
    const Type *type;
    LLVMValueRef at;
} Fetched;

static void give_up(Lower *l, const Fetched *until) {
    for (const Fetched *of = l->s->fetched; of != until; of = of->before)
        l_count(l, OP_RELEASE, of->type, l_load(l, of->type, of->at));
}

void l_give_up_fetched(Lower *l) { give_up(l, NULL); }

/* Stores the item; *to: notes it, if it is counted. */
static void hold(Lower *l, const Type *type, LLVMValueRef item, LLVMValueRef at, bool counted, Fetched *to) {
    if (!item || !l_has_bytes(type)) return;
    l_store(l, type, item, at);
    if (!counted || !type_is_counted(type)) return;
    *to = (Fetched){l->s->fetched, type, at};
    l->s->fetched = to;
}

/* Takes an item of each part; i1: whether all had one. */
static LLVMValueRef fetch(Lower *l, const Type *zip, LLVMValueRef object, bool counted) {
    const Type *items = type_iter_item(l->types, zip);
    const Fetched *before = l->s->fetched;
    Fetched *fetched = ARENA_ARRAY(l->arena, Fetched, zip->count);
    LLVMBasicBlockRef end = l_block(l, "fetched");
    LLVMValueRef *answers = ARENA_ARRAY(l->arena, LLVMValueRef, zip->count + 1);
    LLVMBasicBlockRef *from = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, zip->count + 1);
    for (uint32_t i = 0; i < zip->count; i++) {
        LLVMValueRef part = get(l, l->ptr, object, POINTER * i);
        LLVMValueRef more = l_iter_object_more(l, zip->items[i], part, counted);
        LLVMBasicBlockRef take = l_block(l, "take"), none = l_block(l, "none");
        l_branch(l, more, take, none);
        l_enter(l, none);
        give_up(l, before);
        answers[i] = l_i1(l, false);
        from[i] = l_here(l);
        l_jump(l, end);
        l_enter(l, take);
        LLVMValueRef item = l_iter_object_take(l, zip->items[i], part, counted);
        LLVMValueRef at = field(l, object, POINTER * zip->count + (items ? type_item_offset(items, i) : 0));
        if (items) hold(l, items->items[i], item, at, counted, &fetched[i]);
    }
    l->s->fetched = before;
    answers[zip->count] = l_i1(l, true);
    from[zip->count] = l_here(l);
    l_jump(l, end);
    LLVMMoveBasicBlockAfter(end, l_here(l));
    l_enter(l, end);
    LLVMValueRef phi = LLVMBuildPhi(l->b, l->i1, "");
    LLVMAddIncoming(phi, answers, from, zip->count + 1);
    return phi;
}

LLVMValueRef l_iter_object_more(Lower *l, const Type *iter, LLVMValueRef object, bool counted) {
    if (!type_iter_item(l->types, iter)) return l_i1(l, false);
    if (is_range(iter)) return l_icmp(l, LLVMIntNE, get(l, l->i64, object, AT_LEFT), l_i64(l, 0));
    if (iter->iter == ITER_ENUMERATE)
        return l_iter_object_more(l, iter->items[0], get(l, l->ptr, object, AT_PART), counted);
    if (iter->iter == ITER_ZIP) return fetch(l, iter, object, counted);
    if (iter->iter == ITER_GENERATOR) return l_generator_more(l, object);
    LLVMValueRef length = iter->iter == ITER_LIST
                              ? l_list_length(l, l_load(l, iter->items[0], field(l, object, AT_SOURCE)))
                              : get(l, l->i64, object, AT_LENGTH);
    return l_icmp(l, LLVMIntSLT, get(l, l->i64, object, AT_NUMBER), length);
}

static LLVMValueRef take_of_range(Lower *l, LLVMValueRef object) {
    LLVMValueRef item = get(l, l->i64, object, AT_NEXT);
    put(l, l_add(l, item, get(l, l->i64, object, AT_STEP)), object, AT_NEXT);
    put(l, l_sub(l, get(l, l->i64, object, AT_LEFT), l_i64(l, 1)), object, AT_LEFT);
    return item;
}

static LLVMValueRef take_of_enumerate(Lower *l, const Type *iter, LLVMValueRef object, bool counted) {
    const Type *type = type_iter_item(l->types, iter);
    LLVMValueRef items[2] = {get(l, l->i64, object, AT_NUMBER)};
    put(l, l_add(l, items[0], l_i64(l, 1)), object, AT_NUMBER);
    TRY(items[1] = l_iter_object_take(l, iter->items[0], get(l, l->ptr, object, AT_PART), counted));
    return l_make_items(l, type, items);
}

static LLVMValueRef take_of_one(Lower *l, const Type *iter, const Type *item, LLVMValueRef object) {
    const Type *over = iter->count ? iter->items[0] : NULL;
    if (is_range(iter)) return take_of_range(l, object);
    if (iter->iter == ITER_GENERATOR) return l_generator_item(l, over, object);
    LLVMValueRef number = get(l, l->i64, object, AT_NUMBER), source = field(l, object, AT_SOURCE);
    put(l, l_nswadd(l, number, l_i64(l, 1)), object, AT_NUMBER);
    if (iter->iter == ITER_REVERSED)
        number = l_nswsub(l, l_nswsub(l, get(l, l->i64, object, AT_LENGTH), l_i64(l, 1)), number);
    if (over->kind == TY_FLAT) return l_flat_item(l, over->items[0], l_load(l, over, source), number);
    if (over->kind == TY_ARRAY) return l_array_item(l, over, l_load(l, over, source), number, item);
    if (over->kind == TY_LIST) return l_list_item(l, over, l_load(l, over, source), number);
    if (!l_has_bytes(item)) return LLVMGetUndef(l_type(l, item));
    return l_load(l, item, l_offset(l, source, l_nswmul(l, number, l_i64(l, (int64_t)type_size(item)))));
}

LLVMValueRef l_iter_object_take(Lower *l, const Type *iter, LLVMValueRef object, bool counted) {
    const Type *type = type_iter_item(l->types, iter);
    if (!type) return l_fail(l, "an item is taken of %s", l_type_text(l, iter)), NULL;
    if (iter->iter == ITER_ENUMERATE) return take_of_enumerate(l, iter, object, counted);
    if (iter->iter == ITER_ZIP) return l_load(l, type, field(l, object, POINTER * iter->count));
    LLVMValueRef item = take_of_one(l, iter, type, object);
    if (counted && item && l_has_bytes(type)) l_count(l, OP_RETAIN, type, item);
    return item;
}
