/* tables.c: the rows of ir_kinds.def, ir_types.def, ir_ops.def and ir_attrs.def as arrays, and what is asked about
 * them. */
#include "ir/type_text.h" /* kind_text */

#include <string.h> /* strcmp */

const KindText kind_text[TY_COUNT] = {
#define KIND(name, text, form, repr, leaves, values, truth, fields) {text, FORM_##form},
#include "ir/ir_kinds.def"
#undef KIND
};

const KindLeaves kind_leaves[TY_COUNT] = {
#define KIND(name, text, form, repr, leaves, values, truth, fields) LEAVES_##leaves,
#include "ir/ir_kinds.def"
#undef KIND
};

const KindValues kind_values[TY_COUNT] = {
#define KIND(name, text, form, repr, leaves, values, truth, fields) VALUES_##values,
#include "ir/ir_kinds.def"
#undef KIND
};

const KindTruth kind_truth[TY_COUNT] = {
#define KIND(name, text, form, repr, leaves, values, truth, fields) TRUTH_##truth,
#include "ir/ir_kinds.def"
#undef KIND
};

const ScalarInfo scalar_info[SCALAR_COUNT] = {
#define SCALAR(name, text, numpy_char, kind, bytes, weak_name) {text, numpy_char, kind, bytes, weak_name},
#include "ir/ir_types.def"
#undef SCALAR
};

enum { V = -1 }; /* ir_ops.def: any number of operands */
const OpInfo op_info[OP_COUNT] = {
#define INDEX(i) .index = i
#define NUMBER   .has_number = true
#define OP(name, shown, count, typing, letters, ...) \
    {.text = shown, .operands = count, .rule = #typing, .effects = letters, .doc = __VA_ARGS__},
#include "ir/ir_ops.def"
#undef OP
#undef NUMBER
#undef INDEX
};

const AttrInfo attr_info[ATTR_COUNT] = {
#define ATTR(kind, name, rule, lower, doc) {TY_##kind, #name, doc},
#include "ir/ir_attrs.def"
#undef ATTR
};

_Static_assert(SCALAR_INT8 + 3 == SCALAR_INT64 && SCALAR_UINT8 + 3 == SCALAR_UINT64, "integers stand by width");
_Static_assert(SCALAR_FLOAT16 + 2 == SCALAR_FLOAT64, "floats stand by width");

_Static_assert(OP_INVERT - OP_NEG == 2 && OP_XOR - OP_ADD == 12 && OP_GE - OP_LT == 5, "operators stand together");

const char *const reduction_text[REDUCTION_COUNT] = {
#define REDUCTION(name, text) text,
#include "ir/ir_reductions.def"
#undef REDUCTION
};

bool op_is_terminator(Op op) {
    return op == OP_JUMP || op == OP_BRANCH || op == OP_RETURN || op == OP_RAISE || op == OP_RERAISE ||
           op == OP_RESUME || op == OP_UNREACHABLE || op == OP_DECLINE;
}

bool op_has_result(Op op) {
    switch (op) {
    case OP_SETATTR:
    case OP_SETITEM:
    case OP_DELITEM:
    case OP_MAP:
    case OP_THREADS:
    case OP_CELL_SET:
    case OP_RETAIN:
    case OP_RELEASE:
    case OP_SAFEPOINT:
    case OP_CHECK_BOUND: return false;
    default: return !op_is_terminator(op);
    }
}

static bool text_is(const char *candidate, const char *text, size_t length) {
    return strncmp(candidate, text, length) == 0 && candidate[length] == 0;
}

Reduction reduction_find(const char *text, size_t length) {
    int which = 0;
    while (which < REDUCTION_COUNT && !text_is(reduction_text[which], text, length)) which++;
    return (Reduction)which;
}

Op op_find(const char *text, size_t length) {
    for (int op = 0; op < OP_COUNT; op++)
        if (text_is(op_info[op].text, text, length)) return (Op)op;
    return OP_COUNT;
}

Op op_mirrored(Op op) {
    switch (op) {
    case OP_LT: return OP_GT;
    case OP_LE: return OP_GE;
    case OP_GT: return OP_LT;
    case OP_GE: return OP_LE;
    default: return op;
    }
}

AttrId attr_find(TypeKind kind, const char *name) {
    int id = 0;
    while (id < ATTR_COUNT && (attr_info[id].kind != kind || strcmp(attr_info[id].name, name) != 0)) id++;
    return (AttrId)id;
}

AttrId value_attr(const Value *value) {
    return value->op == OP_GETATTR ? attr_find((TypeKind)value->args[0]->type->kind, value->imm.text) : ATTR_COUNT;
}

const char *func_name(Arena *arena, const FuncHead *func) {
    size_t length = strcspn(func->names, " ");
    return length ? arena_strndup(arena, func->names, length) : func->key;
}
