/* lower_operands.c: what is there when an operation is lowered: constants, values generated before, declared functions.
 *
 * Constants of our types as LLVM values: numbers, texts, arrays (the target has their elements), and tuples of them. */
#include "codegen/lower.h"

/* ---- constants ---- */

static LLVMValueRef const_scalar(Lower *l, const Const *konst) {
    LLVMTypeRef type = l_type(l, konst->type);
    if (konst->too_big) return l_fail(l, "an int beyond 64 bits cannot be used in compiled code"), NULL;
    switch (type_scalar_kind(konst->type)) {
    case 'f':
        if (type == l->i16) return l_cast_scalar(l, l_float(l->f32, konst->f), SCALAR_FLOAT32, SCALAR_BFLOAT16);
        return l_float(type, konst->f);
    case 'c': {
        LLVMTypeRef part = konst->type->scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64;
        return l_complex(l, l_float(part, konst->c.re), l_float(part, konst->c.im));
    }
    case 'b': return l_i1(l, konst->i != 0);
    default: return l_int(type, konst->i);
    }
}

static LLVMValueRef const_array(Lower *l, const Const *konst) {
    const Type *type = konst->type;
    LLVMValueRef data = l->target->const_array(l, l->at, type, konst->array);
    if (!data) return NULL;
    l->m->captures_memory |= konst->array->on_device;
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_i64(l, konst->array->shape[i]);
        strides[i] = l_i64(l, konst->array->strides[i]);
    }
    LLVMValueRef owner = l->target->shares_memory ? l_address(l, konst->array->owner) : LLVMConstNull(l->ptr);
    return l_array_make(l, type, data, owner, shape, strides);
}

LLVMValueRef l_const(Lower *l, const Const *konst) {
    const Type *type = konst->type;
    if (type->kind == TY_SCALAR) return const_scalar(l, konst);
    if (type->kind == TY_TIME || type->kind == TY_MEMBER) return l_i64(l, konst->i);
    if (type->kind == TY_CHARS) return l_chars_const(l, konst);
    if (type->kind == TY_ARRAY) return const_array(l, konst);
    if (!l_has_bytes(type)) return LLVMGetUndef(l->empty);
    if (type->kind != TY_TUPLE && type->kind != TY_SLICE && type->kind != TY_RANGE)
        return l_fail(l, "a constant %s cannot be used here", l_type_text(l, type)), NULL;
    uint32_t count = type_repr(type)->nparts;
    LLVMValueRef *items = ARENA_ARRAY(l->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) TRY(items[i] = l_const(l, konst->items[i]));
    return l_make_items(l, type, items);
}

/* ---- values and functions ---- */

LoweredFunction *lower_lookup(Lower *l, const FuncInst *inst) {
    if (inst->id >= l->s->nfunctions || !l->s->functions[inst->id].function) {
        l_fail(l, "function number %u was never declared", inst->id);
        return NULL;
    }
    return &l->s->functions[inst->id];
}

LLVMValueRef l_value(Lower *l, const Value *value) {
    LLVMValueRef known = l->s->values[value->id];
    if (known) return known;
    if (value->op == OP_CONST || (value->konst && !l_has_bytes(value->type))) {
        return value->konst ? l_const(l, value->konst) : LLVMGetUndef(l_type(l, value->type));
    }
    if (!l_has_bytes(value->type)) return LLVMGetUndef(l_type(l, value->type));
    l_fail(l, "%%%u (%s) is used before it is generated", value->id, op_info[value->op].text);
    return LLVMGetUndef(l_type(l, value->type)); /* the caller goes on; lower_block looks at diag */
}
