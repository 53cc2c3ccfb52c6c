/* verify_types.c: does a typed function keep what inference promises to lowering (docs/contracts.md)?
 *
 * Input: one value of a function whose form is sound.  Output: a fault for each promise that it breaks.  Types that
 * differ in being weak alone are one representation and pass for each other. */
#include "ir/verify.h"

/* Whether values of the two types are the same bytes with the same meaning. */
static bool same_form(const Type *a, const Type *b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->scalar != b->scalar || a->count != b->count || a->object != b->object ||
        a->func != b->func)
        return false;
    if (a->kind == TY_ARRAY || a->kind == TY_STRUCT) return false;
    if (a->kind == TY_SCALAR) return true;
    if (a->iter != b->iter || !a->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!same_form(a->items[i], b->items[i])) return false;
    return true;
}

static bool is_bool(const Type *type) { return type->kind == TY_SCALAR && type->scalar == SCALAR_BOOL; }

static void fault(Verifier *verifier, const Value *value, const char *what) {
    verify_fault(verifier, value->block, value, "%s", what);
}

/* Operand number `index` must have the form of `wanted`. */
static void want(Verifier *verifier, const Value *value, uint32_t index, const Type *wanted) {
    const Type *type = value->args[index]->type;
    if (same_form(type, wanted)) return;
    verify_fault(verifier, value->block, value, "operand %u is %s, not %s", (unsigned)index,
                 type_text(verifier->arena, type), type_text(verifier->arena, wanted));
}

static void want_kind(Verifier *verifier, const Value *value, uint32_t index, TypeKind kind, const char *name) {
    const Type *type = value->args[index]->type;
    if (type->kind == kind) return;
    verify_fault(verifier, value->block, value, "operand %u is %s, not %s", (unsigned)index,
                 type_text(verifier->arena, type), name);
}

/* What a generator is left with is what its type says, where nothing more is known of it: None. */
static void check_end_of_generator(Verifier *verifier, const Value *value) {
    const Type *generator = verifier->func->result;
    if (generator && generator->count > 2)
        want(verifier, value, 0, generator->items[2]);
    else
        want_kind(verifier, value, 0, TY_NONE, "None");
}

static void want_bool(Verifier *verifier, const Value *value, uint32_t index) {
    const Type *type = value->args[index]->type;
    if (is_bool(type)) return;
    verify_fault(verifier, value->block, value, "operand %u is %s, not bool", (unsigned)index,
                 type_text(verifier->arena, type));
}

static void want_result(Verifier *verifier, const Value *value, const Type *wanted) {
    if (same_form(value->type, wanted)) return;
    verify_fault(verifier, value->block, value, "the result is %s, not %s", type_text(verifier->arena, value->type),
                 type_text(verifier->arena, wanted));
}

static void check_arithmetic(Verifier *verifier, const Value *value) {
    const Type *type = value->type;
    if (type->kind != TY_SCALAR) return; /* tuples and views have their own rules */
    bool divides = value->op == OP_TRUEDIV || value->op == OP_FLOORDIV;
    if (divides && value->args[0]->type->kind == TY_TIME) { /* durations of one unit: a number */
        want(verifier, value, 1, value->args[0]->type);
        return;
    }
    want(verifier, value, 0, type);
    if (value->nargs < 2) return;
    bool int_power = value->op == OP_POW && value->args[1]->konst && type_is_integer(value->args[1]->type);
    if (!int_power) want(verifier, value, 1, type);
}

/* A Python int is compared by value with a Python float, and for equality with a complex number. */
static bool compared_by_value(const Value *value, const Type *a, const Type *b) {
    if (!a->weak || !b->weak) return false;
    bool is_complex = type_scalar_kind(a) == 'c' || type_scalar_kind(b) == 'c';
    return !is_complex || ((value->op == OP_EQ || value->op == OP_NE) && (type_is_integer(a) || type_is_integer(b)));
}

static void check_comparison(Verifier *verifier, const Value *value) {
    if (!is_bool(value->type)) fault(verifier, value, "the result is not bool");
    const Type *a = value->args[0]->type, *b = value->args[1]->type;
    if (a->kind != TY_SCALAR || b->kind != TY_SCALAR || same_form(a, b)) return;
    if (compared_by_value(value, a, b)) return;
    if (!type_is_integer(a) || !type_is_integer(b) || type_scalar_kind(a) == type_scalar_kind(b))
        verify_fault(verifier, value->block, value, "%s and %s are compared", type_text(verifier->arena, a),
                     type_text(verifier->arena, b));
}

static void check_items(Verifier *verifier, const Value *value) {
    TypeKind kind = value->type->kind;
    bool text = value->op == OP_FORMAT,
         composite = text ? kind == TY_TEXT
                          : kind == TY_TUPLE || kind == TY_STRUCT || kind == TY_EXC || type_is_table(value->type);
    if (text && (!value->nargs || value->args[0]->op != OP_CONST || value->args[0]->type->kind != TY_STR))
        fault(verifier, value, "the template is not a constant");
    if (!composite || value->type->count != value->nargs) {
        fault(verifier, value,
              text ? "the type is not a text of as many items" : "the type is not a tuple of as many items");
        return;
    }
    for (uint32_t i = 0; i < value->nargs; i++) want(verifier, value, i, value->type->items[i]);
}

static void check_extract(Verifier *verifier, const Value *value) {
    const Value *from = value->args[0];
    if (from->op == OP_UNPACK || from->op == OP_UNPACK_EX) return; /* may hold an array or an iterator */
    TypeKind kind = from->type->kind;
    bool other = kind == TY_STRUCT || kind == TY_CLOSURE || kind == TY_EXC || kind == TY_TEXT;
    if (!other) want_kind(verifier, value, 0, TY_TUPLE, "a tuple");
    if (!other && kind != TY_TUPLE) return;
    if (value->imm.i >= from->type->count)
        fault(verifier, value, "the tuple has no such item");
    else
        want_result(verifier, value, from->type->items[value->imm.i]);
}

static void check_field(Verifier *verifier, const Value *value) {
    const Type *of = value->args[0]->type;
    if (of->kind != TY_ARRAY || type_element(of)->kind != TY_STRUCT || value->imm.i < 0 ||
        value->imm.i >= type_element(of)->count)
        fault(verifier, value, "the operand has no such field");
    else
        want_result(verifier, value, type_field_view(of->table, of, (unsigned)value->imm.i));
}

/* A record may lie anywhere, or be read-only, and be put where neither is so. */
static bool is_same_record(const Type *a, const Type *b) {
    return a->kind == TY_ARRAY && b->kind == TY_ARRAY && a->record && b->record &&
           type_same_bytes(type_element(a), type_element(b));
}

static void check_item_access(Verifier *verifier, const Value *value) {
    const Type *array = value->args[0]->type, *index = value->args[1]->type;
    if (array->kind != TY_ARRAY) return;
    if (value->op == OP_SETITEM && array->readonly) fault(verifier, value, "the array is read-only");
    if (!type_takes_element(array, index)) return;
    if (value->op == OP_GETITEM)
        want_result(verifier, value, type_element_value(array->table, array));
    else if (!(value->flags & VF_CHECKED) &&
             !is_same_record(
                 value->args[2]->type,
                 type_element_value(array->table, array))) /* else a Python int, whose range is checked when it runs */
        want(verifier, value, 2, type_element_value(array->table, array));
}

static void check_call(Verifier *verifier, const Value *value) {
    const FuncInst *inst = value->imm.inst;
    if (inst->types)
        for (uint32_t i = 0; i < value->nargs; i++) want(verifier, value, i, inst->types[i]);
    if (inst->result && inst->result->kind != TY_BOTTOM) want_result(verifier, value, inst->result);
}

/* The contexts that get its results, then its arguments. */
static void check_threads(Verifier *verifier, const Value *value) {
    const FuncInst *inst = value->imm.inst;
    uint32_t results = (uint32_t)value->imm.i;
    if (!inst || !inst->types) return;
    for (uint32_t i = 0; i < results && i < value->nargs; i++) {
        if (value->args[i]->op != OP_CONTEXT) fault(verifier, value, "a result goes into no context");
        if (inst->result->kind != TY_TUPLE || inst->result->count != results)
            fault(verifier, value, "the function does not give as many results");
        else
            want(verifier, value, i, inst->result->items[i]);
    }
    for (uint32_t i = results; i < value->nargs; i++) want(verifier, value, i, inst->types[i - results]);
}

static void check_broadcast(Verifier *verifier, const Value *value) {
    for (uint32_t i = 0; i < value->nargs; i++) want_kind(verifier, value, i, TY_TUPLE, "a shape");
    if (value->type->kind != TY_TUPLE) fault(verifier, value, "the result is not a shape");
}

/* An array, or one value that stands for an element at every place: a date, a duration or a text may, too. */
static bool is_operand_of_loop(const Type *type) {
    return type->kind == TY_ARRAY || type->kind == TY_SCALAR || type_can_be_element(type);
}

static void check_map(Verifier *verifier, const Value *value) {
    uint32_t dests = (uint32_t)value->imm.i;
    for (uint32_t i = 0; i < dests && i < value->nargs; i++) {
        const Type *dest = value->args[i]->type;
        want_kind(verifier, value, i, TY_ARRAY, "an array");
        if (dest->kind != TY_ARRAY) return;
        if (dest->readonly) fault(verifier, value, "a destination is read-only");
        if (dest->ndim != value->args[0]->type->ndim) fault(verifier, value, "the destinations differ in axes");
    }
    for (uint32_t i = dests; i < value->nargs; i++) {
        const Type *type = value->args[i]->type;
        if (!is_operand_of_loop(type))
            fault(verifier, value, "an operand is neither an array nor an element");
        else if (type->kind == TY_ARRAY && value->imm.inst && type->ndim > value->args[0]->type->ndim)
            fault(verifier, value, "an operand has more axes than the destination");
    }
}

static void check_reduce(Verifier *verifier, const Value *value) {
    want_kind(verifier, value, 0, TY_TUPLE, "a shape");
    if (value->type->kind != TY_SCALAR && !type_can_be_element(value->type))
        fault(verifier, value, "the result is no element");
    for (uint32_t i = 1; i < value->nargs; i++) {
        const Type *type = value->args[i]->type;
        if (!is_operand_of_loop(type))
            fault(verifier, value, "an operand is neither an array nor an element");
        else if (type->kind == TY_ARRAY && type->ndim > value->args[0]->type->count)
            fault(verifier, value, "an operand has more axes than the shape");
    }
}

static void check_cells(Verifier *verifier, const Value *value) {
    if (value->op == OP_CELL) {
        if (value->type->kind != TY_CELL)
            fault(verifier, value, "the type is not a cell");
        else if (value->nargs)
            want(verifier, value, 0, value->type->items[0]);
        return;
    }
    want_kind(verifier, value, 0, TY_CELL, "a cell");
    const Type *cell = value->args[0]->type;
    if (cell->kind != TY_CELL) return;
    if (value->op == OP_CELL_GET)
        want_result(verifier, value, cell->items[0]);
    else
        want(verifier, value, 1, cell->items[0]);
}

static void check_raise(Verifier *verifier, const Value *value) {
    TypeKind kind = value->args[0]->type->kind;
    bool fresh = value->op == OP_RAISE && (kind == TY_EXC || kind == TY_EXC_CLASS);
    if (!fresh && kind != TY_CAUGHT) fault(verifier, value, "the operand is not an exception");
    if (value->op != OP_RAISE || value->nargs < 2) return;
    const Type *cause = value->args[1]->type;
    if (cause->kind == TY_OPTIONAL) cause = cause->items[0];
    if (cause->kind != TY_CAUGHT && cause->kind != TY_NONE) fault(verifier, value, "the cause was not caught");
}

static void check_new_array(Verifier *verifier, const Value *value) {
    const Type *type = value->type, *extent = type_scalar(verifier->func->types, SCALAR_INT64, true);
    if (type->kind != TY_ARRAY || type->layout == LAYOUT_A || type->readonly) {
        fault(verifier, value, "the type is not that of a new array");
        return;
    }
    if (value->nargs != type->ndim) {
        fault(verifier, value, "an extent for each of the dimensions is needed");
        return;
    }
    for (uint32_t i = 0; i < value->nargs; i++) want(verifier, value, i, extent);
}

static void check_view(Verifier *verifier, const Value *value) {
    const Type *type = value->type, *number = type_scalar(verifier->func->types, SCALAR_INT64, true);
    if (type->kind != TY_ARRAY || !value->nargs || value->args[0]->type->kind != TY_ARRAY) {
        fault(verifier, value, "a view is an array on an array");
        return;
    }
    if (value->nargs != 2u + type->ndim * (type->layout == LAYOUT_A ? 2u : 1u)) {
        fault(verifier, value, "an offset, extents and, unless they are implied, strides are needed");
        return;
    }
    for (uint32_t i = 1; i < value->nargs; i++) want(verifier, value, i, number);
}

static bool holds_reference(const Type *type) {
    return type_is_counted(type) || (type->kind == TY_CELL && type_is_counted(type->items[0]));
}

/* By operation; every operand has a type. */
static void check_op(Verifier *verifier, const Value *value) {
    if (op_is_unary(value->op) || op_is_binary(value->op)) {
        check_arithmetic(verifier, value);
        return;
    }
    if (op_is_comparison(value->op)) {
        check_comparison(verifier, value);
        return;
    }
    switch (value->op) {
    case OP_CONST: want_result(verifier, value, value->konst->type); return;
    case OP_PHI:
        for (uint32_t i = 0; i < value->nargs; i++) want(verifier, value, i, value->type);
        return;
    case OP_NOT:
    case OP_TRUTH:
    case OP_IS:
    case OP_IS_NOT:
    case OP_IN:
    case OP_NOT_IN:
    case OP_ITER_MORE:
    case OP_MISSED:
        if (!is_bool(value->type)) fault(verifier, value, "the result is not bool");
        if (value->op == OP_ITER_MORE) want_kind(verifier, value, 0, TY_ITER, "an iterator");
        return;
    case OP_ITER_LEFT:
    case OP_ITER_TAKE: want_kind(verifier, value, 0, TY_ITER, "an iterator"); return;
    case OP_ITER:
        if (value->type->kind != TY_ITER) fault(verifier, value, "the type is not an iterator");
        return;
    case OP_VIEW: check_view(verifier, value); return;
    case OP_NEW_ARRAY: check_new_array(verifier, value); return;
    case OP_RETAIN:
    case OP_RELEASE:
        if (!holds_reference(value->args[0]->type)) fault(verifier, value, "the operand refers to nothing on the heap");
        return;
    case OP_SLICE:
        if (value->type->kind != TY_SLICE) fault(verifier, value, "the type is not a slice");
        return;
    case OP_FORMAT:
    case OP_TUPLE: check_items(verifier, value); return;
    case OP_EXTRACT: check_extract(verifier, value); return;
    case OP_FIELD: check_field(verifier, value); return;
    case OP_GETITEM:
    case OP_SETITEM: check_item_access(verifier, value); return;
    case OP_CELL:
    case OP_CELL_GET:
    case OP_CELL_SET: check_cells(verifier, value); return;
    case OP_BRANCH:
    case OP_CHECK_BOUND: want_bool(verifier, value, 0); return;
    case OP_RETURN:
        if (verifier->func->generator)
            check_end_of_generator(verifier, value);
        else if (verifier->func->result)
            want(verifier, value, 0, verifier->func->result);
        return;
    case OP_YIELD:
        if (!verifier->func->generator) fault(verifier, value, "the function is no generator's");
        if (value->nargs && verifier->func->result) want(verifier, value, 0, verifier->func->result->items[0]);
        return;
    case OP_MATCHES: want_kind(verifier, value, 0, TY_CAUGHT, "a caught exception"); return;
    case OP_CHAIN: want_kind(verifier, value, 0, TY_CAUGHT, "a caught exception"); return;
    case OP_RERAISE:
    case OP_RAISE: check_raise(verifier, value); return;
    case OP_BROADCAST: check_broadcast(verifier, value); return;
    case OP_MAP: check_map(verifier, value); return;
    case OP_REDUCE: check_reduce(verifier, value); return;
    case OP_THREADS: check_threads(verifier, value); return;
    case OP_CALL_INST: check_call(verifier, value); return;
    case OP_CALL:
    case OP_CALL_EX: fault(verifier, value, "the call is not resolved"); return;
    default: return;
    }
}

static bool type_has_values(const Type *type) {
    bool has = type->kind != TY_BOTTOM;
    if (type->kind == TY_TUPLE)
        for (uint32_t i = 0; i < type->count && has; i++) has = type_has_values(type->items[i]);
    return has;
}

/* What takes an item of a list that nothing was ever put into stands where no value reaches. */
static bool is_reached(const Value *value) {
    for (uint32_t i = 0; i < value->nargs; i++)
        if (value->args[i]->type && !type_has_values(value->args[i]->type)) return false;
    return true;
}

void verify_value_types(Verifier *verifier, const Value *value) {
    if (op_has_result(value->op)) {
        if (!value->type) {
            fault(verifier, value, "the value has no type");
            return;
        }
        bool never_returns = value->op == OP_CALL_INST && value->imm.inst->never_returns;
        if (value->type->kind == TY_BOTTOM && !never_returns && is_reached(value))
            fault(verifier, value, "no value reaches here");
    }
    for (uint32_t i = 0; i < value->nargs; i++)
        if (!value->args[i]->type) return; /* said where it is defined */
    check_op(verifier, value);
}
