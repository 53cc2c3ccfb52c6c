/* bounds.c: what an integer value lies between: its constant, the bounds that a pass has noted, or its type's. */
#include "ir/ir.h"

Bounds type_bounds(const Type *type) {
    const ScalarInfo *info = &scalar_info[type->scalar];
    if (info->kind == 'b') return (Bounds){0, 1};
    unsigned bits = 8u * info->bytes;
    if (info->kind == 'u') return (Bounds){0, bits == 64 ? INT64_MAX : ((int64_t)1 << bits) - 1};
    return (Bounds){INT64_MIN >> (64 - bits), INT64_MAX >> (64 - bits)};
}

Bounds value_bounds(const Value *value) {
    Bounds bounds = type_bounds(value->type);
    if (value->konst && type_is_integer(value->konst->type))
        return value->konst->i < bounds.lo ? bounds : (Bounds){value->konst->i, value->konst->i};
    return value->bounds ? *value->bounds : bounds;
}

bool value_counts_forward(const Value *value) { return value->flags & VF_FORWARD || value_is_nonnegative(value); }

bool value_fits(const Value *value, unsigned bits) {
    Bounds bounds = value_bounds(value);
    bool unknown = value->type->scalar == SCALAR_UINT64 && bounds.hi == INT64_MAX;
    return !unknown && bounds.lo >= INT64_MIN >> (64 - bits) && bounds.hi <= INT64_MAX >> (64 - bits);
}
