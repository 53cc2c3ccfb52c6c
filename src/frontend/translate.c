/* translate.c: one function from canonical instructions to untyped SSA.
 *
 * Input: a Python function.  Output: a Func, in the form docs/contracts.md lays down.
 * Algorithm: blocks of the control-flow graph are taken in reverse post-order.  Each starts with the stack that its
 * first predecessor left (slots that hold values are SSA variables, so that joins become phis), interprets its
 * instructions abstractly, and hands the stack on.  A block is sealed when all its predecessors are done.  A variable
 * that may be unassigned at a load has a shadow variable, true once it is assigned.  tidy.c has the clean-up at the
 * end. */
#include "frontend/translate.h"

#include <string.h> /* memcpy */

/* ---- refusals ---- */

bool translate_refuse(Translator *t, Span span, Refusal refusal) {
    diag_fail(t->diag, DIAG_UNSUPPORTED, t->source, span, "%s", refusal_info[refusal].text);
    if (refusal_info[refusal].hint) diag_hint(t->diag, "%s", refusal_info[refusal].hint);
    return false;
}

bool translate_malformed(Translator *t, const char *what) {
    return diag_fail(t->diag, DIAG_UNSUPPORTED_BYTECODE, t->source, t->span, "the bytecode cannot be read: %s", what);
}

/* ---- values ---- */

Value *translate_append(Translator *t, Op op, Value *const *args, size_t nargs) {
    return block_append(t->func, t->block, op, t->span, args, nargs);
}
Value *translate_append1(Translator *t, Op op, Value *a) { return translate_append(t, op, &a, 1); }
Value *translate_append2(Translator *t, Op op, Value *a, Value *b) {
    return translate_append(t, op, (Value *[]){a, b}, 2);
}
Value *translate_append3(Translator *t, Op op, Value *a, Value *b, Value *c) {
    return translate_append(t, op, (Value *[]){a, b, c}, 3);
}
Value *translate_append_const(Translator *t, const Const *konst) {
    return block_append_const(t->func, t->block, t->span, konst);
}

bool translate_is_read_only_row(const Const *konst) {
    return konst->type->kind == TY_FUNC && func_row(konst->type->func)->is_value;
}

/* The fields of a named tuple are attributes, as are func, args and keywords of a functools.partial, and so is what
 * belongs to a class that is a library function. */
static bool note_holder(Translator *t, Value *value, PyObject *object) {
    bool fields = PyTuple_Check(object) && !PyTuple_CheckExact(object);
    bool has = fields || frontend_is_partial(object) || object == (PyObject *)&PyLong_Type ||
               (PyType_Check(object) && value->op == OP_CONST && value->konst->type->kind == TY_FUNC);
    if (value->op != OP_CONST || !has) return true;
    return (value->imm.object = frontend_ref(t->frontend, object)) != 0;
}

static const Const *value_named(Translator *t, PyObject *object, const char *name, Span span) {
    t->frontend->named = name;
    const Const *konst = frontend_value(t->frontend, object, t->source, span);
    t->frontend->named = NULL;
    return konst;
}

/* A dict of which an item is taken that is known. */
static const Const *holder_const(Translator *t, PyObject *dict) {
    ObjRef ref = frontend_ref(t->frontend, dict);
    if (!ref) frontend_python_failed(t->frontend, t->source, t->span, "no memory for an object's number");
    return ref ? const_of(t->arena, type_object(t->types, TY_OBJECT, ref)) : NULL;
}

bool translate_push_named(Translator *t, PyObject *object, const char *name) {
    if (PyDict_CheckExact(object) && t->insn + 1 < t->bytecode.insns + t->bytecode.count &&
        t->insn[1].kind == INSN_MAP_SPREAD)
        return translate_push_pairs(t, object);
    if (PyFrozenSet_CheckExact(object) && t->insn + 1 < t->bytecode.insns + t->bytecode.count &&
        t->insn[1].kind == INSN_CONTAINS) /* as `x in {1, 2}`: nobody sees that it is a tuple */
        object = frontend_keep(t->frontend, PySequence_Tuple(object));
    if (!object) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a constant");
    const Const *konst = translate_looked_up(t, object) ? holder_const(t, object)
                                                        : value_named(t, object, name, t->span);
    TRY(konst);
    Value *value = translate_append_const(t, konst);
    if (translate_is_read_only_row(konst)) value = translate_append1(t, OP_CALL, value);
    TRY(note_holder(t, value, object));
    translate_push_value(t, value);
    return true;
}

bool translate_push_object(Translator *t, PyObject *object) { return translate_push_named(t, object, NULL); }

PyObject *translate_attribute_holder(Translator *t, const Value *x) {
    if (x->op != OP_CONST) return NULL;
    if (x->imm.object) return objects_get(t->frontend->objects, x->imm.object);
    if ((x->konst->type->kind == TY_SCALAR || x->konst->type->kind == TY_MEMBER) && x->konst->type->object)
        return frontend_enum_member(t->frontend, x->konst->type, x->konst->i);
    TypeKind kind = x->konst->type->kind;
    return kind == TY_OBJECT || kind == TY_EXC_CLASS ? objects_get(t->frontend->objects, x->konst->type->object) : NULL;
}

const Const *translate_attribute_const(Translator *t, PyObject *holder, PyObject *name, Span span) {
    PyObject *object = name_attribute(t->frontend, holder, name, t->source, span);
    if (object) return value_named(t, object, PyUnicode_AsUTF8(name), span);
    if (t->diag->failed) return NULL;
    const char *hint, *words = name_missing(t->frontend, holder, name, &hint);
    diag_fail(t->diag, DIAG_NO_ATTRIBUTE, t->source, span, "%s", words);
    if (hint) diag_hint(t->diag, "%s", hint);
    return NULL;
}

bool translate_lacks(Translator *t, PyObject *holder, PyObject *name) {
    return holder && PyModule_Check(holder) && !name_attribute(t->frontend, holder, name, t->source, t->span) &&
           !t->diag->failed;
}

bool translate_is_class_method(Translator *t, const Value *x, PyObject *holder, PyObject *name) {
    if (!PyType_Check(holder) || x->konst->type->kind != TY_OBJECT) return false;
    PyObject *value = frontend_keep(t->frontend, PyObject_GetAttr(holder, name));
    PyErr_Clear();
    return value && PyMethod_Check(value) && PyType_Check(PyMethod_GET_SELF(value));
}

Value *translate_constant_attribute(Translator *t, Value *x, PyObject *name, bool *failed) {
    PyObject *holder = translate_attribute_holder(t, x);
    *failed = false;
    if (!holder || translate_is_class_method(t, x, holder, name)) return NULL;
    const Const *konst = translate_attribute_const(t, holder, name, t->span);
    *failed = !konst;
    if (!konst) return NULL;
    Value *value = translate_append_const(t, konst);
    PyObject *object = name_attribute(t->frontend, holder, name, t->source, t->span);
    *failed = !object || !note_holder(t, value, object);
    if (*failed) return NULL;
    return translate_is_read_only_row(konst) ? translate_append1(t, OP_CALL, value) : value;
}

bool translate_declared(Translator *t, size_t local, Value **value) {
    PyObject *name = PyTuple_GET_ITEM(t->code->co_localsplusnames, (Py_ssize_t)local);
    PyObject *object = t->locals ? PyDict_GetItemWithError(t->locals, name) : NULL;
    const Const *konst = object ? frontend_constant(t->frontend, object, t->source, t->span) : NULL;
    if (!konst) return !object && !PyErr_Occurred();
    const Type *type = konst->type;
    if (type->kind != TY_CLASS || !type->count || !type_is_scalar(type->items[0])) return true; /* as it is inferred */
    *value = translate_append2(t, OP_CALL, translate_append_const(t, konst), *value);
    return true;
}

/* ---- the stack ---- */

void translate_push(Translator *t, Slot slot) { vec_push(t->arena, &t->stack, slot); }
void translate_push_value(Translator *t, Value *value) {
    translate_push(t, (Slot){.kind = SLOT_VALUE, .span = t->span, .value = value});
}

Slot translate_pop(Translator *t) {
    if (t->stack.len) return vec_pop(&t->stack);
    t->underflow = true;
    return (Slot){.kind = SLOT_NULL};
}

Slot *translate_peek(Translator *t, int depth) {
    if (depth >= 1 && (size_t)depth <= t->stack.len) return &t->stack.data[t->stack.len - (size_t)depth];
    t->underflow = true;
    return NULL;
}

Value *translate_slot_value(Translator *t, Slot slot, bool sequence) {
    switch (slot.kind) {
    case SLOT_VALUE: return slot.value;
    case SLOT_FUNCTION: return translate_function_value(t, slot.function);
    case SLOT_LIST: return sequence ? translate_list_value(t, slot.list) : translate_new_list(t, slot.list);
    case SLOT_MAP: return translate_new_map(t, slot.map);
    case SLOT_TEXT: return translate_text_value(t, slot.text);
    case SLOT_NONE: return translate_append_const(t, const_none(t->arena, t->types));
    default: translate_malformed(t, "a value is missing on the stack"); return NULL;
    }
}

Value *translate_pop_value(Translator *t) { return translate_slot_value(t, translate_pop(t), false); }
Value *translate_pop_sequence(Translator *t) { return translate_slot_value(t, translate_pop(t), true); }

bool translate_pop_values(Translator *t, Value **values, size_t count) {
    while (count) TRY(values[--count] = translate_pop_value(t));
    return true;
}

/* ---- edges ---- */

static size_t stack_var(const Translator *t, size_t depth) { return 2 * t->nlocals + depth; }

bool translate_holds_value(const Slot *slot) { return slot->kind == SLOT_VALUE || slot->kind == SLOT_HANDLED; }

void translate_keep_slot(Translator *t, size_t i) {
    if (translate_holds_value(&t->stack.data[i])) ssa_write(&t->ssa, t->block, stack_var(t, i), t->stack.data[i].value);
}

void translate_settle_texts(Translator *t) {
    for (size_t i = 0; i < t->stack.len; i++) {
        Slot *slot = &t->stack.data[i];
        if (slot->kind == SLOT_TEXT)
            *slot = (Slot){.kind = SLOT_VALUE, .span = slot->span, .value = translate_text_value(t, slot->text)};
    }
}

/* Before the block's last value: what leaves it on the stack becomes SSA variables. */
static bool flush_stack(Translator *t) {
    translate_settle_texts(t);
    for (size_t i = 0; i < t->stack.len; i++) {
        Slot *slot = &t->stack.data[i];
        if (slot->kind == SLOT_FUNCTION) {
            Value *value = translate_function_value(t, slot->function);
            TRY(value);
            *slot = (Slot){.kind = SLOT_VALUE, .span = slot->span, .value = value};
        }
        translate_keep_slot(t, i);
    }
    return true;
}

Block *translate_ir_block(Translator *t, CfgBlock *block) {
    if (!block->block) {
        block->block = block_new(t->func);
        ssa_add_block(&t->ssa, block->block);
    }
    return block->block;
}

bool translate_enter(Translator *t, CfgBlock *to, size_t depth) {
    if (!to->entered) {
        to->entered = true;
        to->depth = (uint32_t)depth;
        to->slots = ARENA_ARRAY(t->arena, Slot, depth);
        for (size_t i = 0; i < depth; i++) to->slots[i] = t->stack.data[i];
        return true;
    }
    if (to->depth != depth) return translate_malformed(t, "the depth of the stack depends on the way");
    for (size_t i = 0; i < depth; i++) {
        const Slot *there = &to->slots[i], *here = &t->stack.data[i];
        if (there->kind == here->kind && (translate_holds_value(here) || there->value == here->value)) continue;
        for (int s = 0; s < 2; s++) { /* a or [] */
            const Slot *slot = s ? there : here;
            if (slot->kind == SLOT_LIST) return translate_refuse(t, slot->span, REFUSED_LIST);
            if (slot->kind == SLOT_MAP) return translate_refuse(t, slot->span, REFUSED_DICT);
        }
        return translate_malformed(t, "what is on the stack depends on the way");
    }
    return true;
}

static Value *new_container(Translator *t, const Slot *slot) {
    return slot->kind == SLOT_LIST ? translate_new_list(t, slot->list) : translate_new_map(t, slot->map);
}

/* A list or a dict that a loop fills is one. */
static void make_lists(Translator *t) {
    for (size_t i = 0; i < t->stack.len; i++) {
        Slot *slot = &t->stack.data[i];
        if (slot->kind != SLOT_LIST && slot->kind != SLOT_MAP) continue;
        Value *value = new_container(t, slot);
        if (slot->kind == SLOT_LIST) value->imm.i = 1;
        *slot = (Slot){.kind = SLOT_VALUE, .span = slot->span, .value = value};
    }
}

/* `a or []`, `[] if c else x`: what one way brings to where others come together with it, on top of the stack. */
static bool make_answer(Translator *t) {
    Slot *top = t->stack.len ? &vec_last(&t->stack) : NULL;
    if (!top || (top->kind != SLOT_LIST && top->kind != SLOT_MAP)) return true;
    Value *value = new_container(t, top);
    TRY(value);
    *top = (Slot){.kind = SLOT_VALUE, .span = top->span, .value = value};
    return true;
}

static bool go_to(Translator *t, CfgBlock *to) {
    if (cfg_ends_in_loop(&t->bytecode, to)) make_lists(t);
    if (to->npreds > 1) TRY(make_answer(t));
    TRY(flush_stack(t));
    block_jump(t->func, t->block, t->span, translate_ir_block(t, to));
    return translate_enter(t, to, t->stack.len);
}

/* 1 true, 0 false, -1 not known here. */
static int const_truth(const Value *value) {
    if (value->op != OP_CONST || value->konst->too_big) return -1;
    const Type *type = value->konst->type;
    if (type->kind == TY_NONE) return 0;
    if (type_is_integer(type)) return value->konst->i != 0;
    return -1;
}

static bool gives_bool(Op op) {
    return op_is_comparison(op) || op == OP_IS || op == OP_IS_NOT || op == OP_IN || op == OP_NOT_IN || op == OP_NOT ||
           op == OP_MATCHES;
}

static bool branch(Translator *t) {
    CfgBlock *const *succs = t->cfg_block->succs;
    Value *value = translate_pop_sequence(t);
    TRY(value);
    int known = const_truth(value);
    if (known >= 0 && t->cfg_block->nsuccs == 2) return go_to(t, succs[!known]);
    Value *condition = value->op == OP_TRUTH ? value : translate_append1(t, OP_TRUTH, value);
    if (!gives_bool(value->op)) TRY(translate_end_part(t)); /* a class may answer, and raise */
    if (t->cfg_block->nsuccs != 2) return translate_malformed(t, "a condition at the end of the code");
    if (succs[0] == succs[1]) return go_to(t, succs[0]);
    TRY(flush_stack(t));
    block_branch(t->func, t->block, t->span, condition, translate_ir_block(t, succs[0]),
                 translate_ir_block(t, succs[1]));
    return translate_enter(t, succs[0], t->stack.len) && translate_enter(t, succs[1], t->stack.len);
}

/* The iterator is on top; the body takes the item. */
static bool loop(Translator *t, InsnKind kind) {
    CfgBlock *const *succs = t->cfg_block->succs;
    Slot *top = translate_peek(t, 1);
    if (!top || top->kind != SLOT_VALUE || t->cfg_block->nsuccs != 2)
        return translate_malformed(t, "a loop without an iterator");
    t->span = top->span; /* what is iterated over */
    if (succs[0] == succs[1] || succs[0]->npreds != 1) return translate_malformed(t, "a jump into the body of a loop");
    Value *more = translate_append1(t, OP_ITER_MORE, top->value);
    TRY(flush_stack(t));
    block_branch(t->func, t->block, t->span, more, translate_ir_block(t, succs[0]), translate_ir_block(t, succs[1]));
    succs[0]->takes_item = true;
    succs[0]->take_span = t->span;
    TRY(translate_enter(t, succs[0], t->stack.len));
    bool delegates = kind == INSN_DELEGATE || kind == INSN_DELEGATE_KEEP;
    if (delegates && succs[1]->npreds != 1) return translate_malformed(t, "a jump behind a `yield from`");
    succs[1]->takes_returned = delegates;
    succs[1]->keeps_iterator = kind == INSN_DELEGATE_KEEP;
    if (kind == INSN_FOR) translate_pop(t);
    if (kind == INSN_FOR_KEEP) translate_push(t, (Slot){.kind = SLOT_NULL});
    return translate_enter(t, succs[1], t->stack.len);
}

/* What __iter__ gives an iterator over, by `return iter(x)`: whoever asks walks over that. */
static Value *walked(const Translator *t, Value *value) {
    const Value *callee = value->op == OP_CALL && value->nargs == 2 ? value->args[0] : NULL;
    bool calls = callee && callee->op == OP_CONST && callee->konst && callee->konst->type->kind == TY_FUNC &&
                 callee->konst->type->func->id == FUNC_ITER;
    return calls && strcmp(t->func->name, "__iter__") == 0 ? value->args[1] : value;
}

/* The instruction that ends the block; for any other, the way on. */
static bool translate_end(Translator *t) {
    switch (t->insn ? t->insn->kind : INSN_NOP) {
    case INSN_JUMP_IF_TRUE:
    case INSN_JUMP_IF_FALSE: return branch(t);
    case INSN_FOR:
    case INSN_FOR_KEEP:
    case INSN_DELEGATE:
    case INSN_DELEGATE_KEEP: return loop(t, t->insn->kind);
    case INSN_RAISE: return translate_raise(t, t->insn->arg);
    case INSN_RERAISE: return translate_reraise(t);
    case INSN_RETURN: {
        Value *value = translate_pop_value(t);
        Value *end = value ? translate_append1(t, OP_RETURN, walked(t, value)) : NULL;
        if (end && t->insn->arg) end->flags |= VF_IMPLICIT;
        return end != NULL;
    }
    default:
        if (t->cfg_block->nsuccs != 1) return translate_malformed(t, "the code ends without return");
        return go_to(t, t->cfg_block->succs[0]);
    }
}

static bool ends_block(InsnKind kind) {
    return kind == INSN_JUMP_IF_TRUE || kind == INSN_JUMP_IF_FALSE || cfg_is_loop(kind) || kind == INSN_RAISE ||
           kind == INSN_RERAISE || kind == INSN_RETURN;
}

/* ---- blocks ---- */

static bool translate_straight(Translator *t) {
    size_t expected = t->stack.len + (size_t)insn_effect(t->insn->kind, t->insn->arg, false);
    TRY(translate_insn(t));
    cfg_apply_bound(&t->cfg, t->insn, t->bound);
    if (t->underflow || t->stack.len != expected)
        return translate_malformed(t, "an instruction moves the stack in an unexpected way");
    return true;
}

static void start_block(Translator *t, CfgBlock *block) {
    t->cfg_block = block;
    t->block = translate_ir_block(t, block);
    t->raises = false;
    t->insn = NULL;
    memcpy(t->bound, block->bound, t->cfg.nwords * sizeof *t->bound);
    t->stack.len = 0;
    for (size_t i = 0; i < block->depth; i++) {
        translate_push(t, block->slots[i]);
        if (translate_holds_value(&block->slots[i]))
            vec_last(&t->stack).value = ssa_read(&t->ssa, t->block, stack_var(t, i));
    }
    if (block->handles) translate_start_handler(t, block->handles);
    if (block->takes_returned) {
        Value *walked = block->keeps_iterator ? vec_last(&t->stack).value : translate_pop(t).value;
        translate_push_value(t, translate_returned_by(t, walked));
    }
    if (!block->takes_item) return;
    t->span = block->take_span;
    translate_push_value(t, translate_append1(t, OP_ITER_TAKE, vec_last(&t->stack).value));
}

/* The end of a block: a raise, what asks for an item, or a way back, inside a try statement has a handler. */
static bool end_block(Translator *t, const CfgBlock *block, size_t at) {
    TRY(translate_end(t));
    const Handler *row = bytecode_handler(&t->bytecode, at);
    Op end = t->block->last->op;
    bool unwinds = row && (end == OP_RAISE || end == OP_RERAISE || end == OP_RESUME ||
                           cfg_is_loop(t->bytecode.insns[at].kind));
    for (uint32_t s = 0; row && s < block->nsuccs; s++) unwinds |= block->succs[s]->order <= block->order;
    return !unwinds || translate_unwind(t, row);
}

static bool translate_block(Translator *t, CfgBlock *block) {
    size_t last = 0;
    start_block(t, block);
    for (const CfgPart *part = &block->part; part; part = part->next) {
        for (uint32_t at = part->first; at < part->last; at++) {
            t->insn = &t->bytecode.insns[last = at];
            if (t->insn->span.line) t->span = t->insn->span;
            if (t->insn->kind == INSN_POP) t->block->left = t->span;
            translate_begin_part(t, at);
            t->looked_at = t->block->last;
            if (ends_block(t->insn->kind)) return end_block(t, block, at); /* only the last of all does */
            if (t->insn->kind != INSN_JUMP) TRY(translate_straight(t) && translate_end_part(t));
        }
    }
    return end_block(t, block, last);
}

static bool translate_blocks(Translator *t) {
    for (size_t i = 0; i < t->cfg.count; i++) t->cfg.blocks[i]->pending = t->cfg.blocks[i]->npreds;
    t->cfg.blocks[0]->entered = true;
    for (size_t i = 0; i < t->cfg.count; i++) {
        CfgBlock *block = t->cfg.blocks[i];
        if (block->entered) TRY(translate_block(t, block)); /* else no branch that is taken leads here */
        for (uint32_t s = 0; s < block->nsuccs + block->handlers.len; s++) {
            CfgBlock *to = cfg_next(block, s);
            if (--to->pending == 0 && to->block) ssa_seal(&t->ssa, to->block);
        }
    }
    return true;
}

/* ---- all of it ---- */

static bool translate(Translator *t, ObjRef ref) {
    TRY(translate_open(t, ref));
    TRY(translate_blocks(t));
    translate_drop_taken(t);
    return t->ssa.unassigned ? translate_malformed(t, "a variable is read before it has a value") : frontend_tidy(t);
}

const Func *translate_function(Frontend *frontend, ObjRef ref) {
    Translator t = {.frontend = frontend, .arena = frontend->arena, .types = frontend->types, .diag = frontend->diag};
    bool fine = translate(&t, ref);
    frontend->unguarded = false;
    return fine ? t.func : NULL;
}
