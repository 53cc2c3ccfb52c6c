/* handlers.c: try statements: where what is raised goes, and what handlers do.
 *
 * In: a block whose instructions lie in rows of the exception table.  Out: its parts: an instruction in a row that may
 * raise ends one, so that along the raise edge the variables are what they were before it; none in a row shares a part
 * with one outside.  A part of a loop that leads back unwinds too: signals are handled there.
 * A variable is written behind what its value is made of: a list that stood on the stack in parts is made where it is
 * stored.
 *
 * A handler starts with the exception, CAUGHT, on the stack that the row says is left.  Where the interpreter puts the
 * exception handled before, to be handled again when the handler ends, the stack has a slot of its own kind with the
 * one handled from here on: the topmost such slot is what a bare `raise` raises, and what was handled when another
 * exception was raised (CHAIN). */
#include "frontend/translate.h"

/* What the handler of a row finds on the stack below the exception. */
static bool enter_handler(Translator *t, CfgBlock *handler, const Handler *row) {
    if (t->stack.len < row->depth) return translate_malformed(t, "a handler needs more of the stack than there is");
    size_t length = t->stack.len;
    Slot *slots = ARENA_ARRAY(t->arena, Slot, length + 1), *before = t->stack.data;
    for (size_t i = 0; i < length; i++) slots[i] = before[i];
    slots[row->depth] = (Slot){.kind = SLOT_NULL};
    t->stack.data = slots;
    bool fine = translate_enter(t, handler, row->depth + row->pushes_place);
    t->stack.data = before;
    return fine;
}

bool translate_unwind(Translator *t, const Handler *row) {
    CfgBlock *handler = t->cfg.at[row->target];
    for (size_t i = 0; i < row->depth && i < t->stack.len; i++) translate_keep_slot(t, i);
    block_set_unwind(t->func, t->block, translate_ir_block(t, handler));
    return enter_handler(t, handler, row);
}

/* What follows stands in a block of its own. */
static Block *start_part(Translator *t) {
    Block *rest = block_new(t->func);
    ssa_add_block(&t->ssa, rest);
    block_jump(t->func, t->block, t->span, rest);
    ssa_seal(&t->ssa, rest);
    t->raises = false;
    t->looked_at = NULL;
    return rest;
}

void translate_begin_part(Translator *t, size_t at) {
    if (t->raises && bytecode_handler(&t->bytecode, at)) t->block = start_part(t);
}

bool translate_end_part(Translator *t) {
    const Value *value = t->looked_at ? t->looked_at->next : t->block->first;
    while (value && !op_may_raise(value->op)) value = value->next;
    if (!value) return true;
    const Handler *row = bytecode_handler(&t->bytecode, (size_t)(t->insn - t->bytecode.insns));
    if (row) {
        Block *rest = start_part(t);
        TRY(translate_unwind(t, row));
        t->block = rest;
    } else {
        t->raises = true;
    }
    return true;
}

/* The `try:`, of which the compiler leaves a NOP before the row; where its body stands on the same line there is none,
 * but perhaps the function's first instruction, and the body's begin is taken. */
static Span keyword_of(const Translator *t, const Handler *row) {
    const Insn *at = &t->bytecode.insns[row->start];
    bool keyword = row->start > 0 && at[-1].kind == INSN_NOP && at[-1].span.line;
    if (keyword && at[-1].span.line != t->func->span.line) at--;
    return at->span.line ? at->span : t->span;
}

/* The exception that is handled where the translator is; NULL: none. */
static const Slot *topmost_handled(const Translator *t) {
    for (size_t i = t->stack.len; i-- > 0;)
        if (t->stack.data[i].kind == SLOT_HANDLED) return &t->stack.data[i];
    return NULL;
}

void translate_start_handler(Translator *t, const Handler *row) {
    const Slot *handled = topmost_handled(t);
    if (handled && t->bytecode.chains) translate_append1(t, OP_CHAIN, handled->value);
    Value *caught = translate_append(t, OP_CAUGHT, NULL, 0);
    caught->span = keyword_of(t, row);
    translate_push_value(t, caught);
}

bool insn_push_handled(Translator *t) {
    Slot exception = translate_pop(t), handled = exception;
    handled.kind = SLOT_HANDLED;
    translate_push(t, handled);
    translate_push(t, exception);
    return exception.kind == SLOT_VALUE || translate_malformed(t, "a handler without an exception");
}

bool insn_matches(Translator *t) {
    Value *class = translate_pop_value(t);
    const Slot *exception = translate_peek(t, 1);
    if (!class || !exception) return false;
    translate_push_value(t, translate_append2(t, OP_MATCHES, exception->value, class));
    return true;
}

/* ---- with statements: the exit lies on the stack, and is called where the block ends ---- */

static Value *attribute(Translator *t, Value *of, const char *name) {
    Value *value = translate_append1(t, OP_GETATTR, of);
    value->imm.text = name;
    return value;
}

bool insn_enter_with(Translator *t) {
    Value *manager = translate_pop_value(t);
    TRY(manager);
    Value *enter = attribute(t, manager, "__enter__");
    translate_push_value(t, attribute(t, manager, "__exit__"));
    translate_push_value(t, translate_append1(t, OP_CALL, enter));
    return true;
}

/* Below the exception on top lie the one that was handled before, the place of the raise, and the exit. */
bool insn_exit_with(Translator *t) {
    const Slot *exception = translate_peek(t, 1), *leave = translate_peek(t, 4);
    if (!exception || !leave || exception->kind != SLOT_VALUE || leave->kind != SLOT_VALUE)
        return translate_malformed(t, "a with statement without its exit");
    Value *raised = exception->value, *args[] = {leave->value, NULL, raised, NULL};
    args[1] = attribute(t, raised, "__class__");
    args[3] = attribute(t, raised, "__traceback__");
    translate_push_value(t, translate_append(t, OP_CALL, args, COUNT_OF(args)));
    return true;
}

/* ---- raised again ---- */

static bool is_on_stack(const Translator *t, const Value *value) {
    for (size_t i = 0; i < t->stack.len; i++)
        if (translate_holds_value(&t->stack.data[i]) && t->stack.data[i].value == value) return true;
    return false;
}

bool translate_reraise(Translator *t) {
    Slot exception = translate_pop(t);
    if (exception.kind != SLOT_VALUE) return translate_malformed(t, "nothing is raised again");
    if (exception.value->op == OP_CAUGHT && exception.value == t->block->last && !is_on_stack(t, exception.value)) {
        value_remove(exception.value);
        return translate_append(t, OP_RESUME, NULL, 0) != NULL;
    }
    return translate_append1(t, OP_RERAISE, exception.value) != NULL;
}

/* `raise` alone. */
static bool raise_handled(Translator *t) {
    const Slot *handled = topmost_handled(t);
    if (handled) return translate_append1(t, OP_RERAISE, handled->value) != NULL;
    const Const *class = frontend_constant(t->frontend, PyExc_RuntimeError, t->source, t->span);
    TRY(class);
    Value *text = translate_append_const(t, const_str(t->arena, t->types, "No active exception to reraise"));
    Value *made = translate_append2(t, OP_CALL, translate_append_const(t, class), text);
    return translate_append1(t, OP_RAISE, made) != NULL;
}

/* An exception that is made here and goes nowhere else, into no variable: its texts are known where it is raised. */
static void note_raised(const Translator *t, Value *exception) {
    const Insn *before = t->insn - 1;
    while (before > t->bytecode.insns && before->kind == INSN_NOP) before--;
    bool called = before->kind == INSN_CALL || before->kind == INSN_CALL_EX;
    if (exception->op == OP_CALL && called) exception->flags |= VF_RAISED;
}

bool translate_raise(Translator *t, int count) {
    if (count == 0) return raise_handled(t);
    Value *cause = count == 2 ? translate_pop_value(t) : NULL;
    if (count == 2) TRY(cause);
    Value *exception = translate_pop_value(t);
    TRY(exception);
    note_raised(t, cause ? cause : exception);
    return (cause ? translate_append2(t, OP_RAISE, exception, cause) : translate_append1(t, OP_RAISE, exception)) !=
           NULL;
}

/* ---- raised when the function is compiled ---- */

/* The text of a pending exception that is made of one text; NULL: it is another. */
static const char *text_of_error(Translator *t, PyObject *error) {
    PyObject *args = error && PyExceptionInstance_Check(error) ? PyObject_GetAttrString(error, "args") : NULL;
    bool one = args && PyTuple_Check(args) && PyTuple_GET_SIZE(args) == 1 && PyUnicode_Check(PyTuple_GET_ITEM(args, 0));
    const char *text = one ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0)) : NULL;
    if (text) text = arena_strdup(t->arena, text);
    Py_XDECREF(args);
    return text;
}

bool translate_raise_pending(Translator *t, const char *what) {
    PyObject *class, *error, *traceback;
    bool may = frontend_may_put_into_words();
    PyErr_Fetch(&class, &error, &traceback);
    if (may) PyErr_NormalizeException(&class, &error, &traceback);
    const char *text = may ? text_of_error(t, error) : NULL;
    const Const *raised = text ? frontend_constant(t->frontend, class, t->source, t->span) : NULL;
    ObjRef raises = raised ? frontend_prelude(t->frontend, "builtin:raises") : 0;
    if (!raised && !t->diag->failed) {
        PyErr_Restore(class, error, traceback);
        return frontend_python_failed(t->frontend, t->source, t->span, what);
    }
    Py_XDECREF(class), Py_XDECREF(error), Py_XDECREF(traceback);
    TRY(raises);
    Value *words = translate_append_const(t, const_str(t->arena, t->types, text));
    const Const *callee = const_of(t->arena, type_object(t->types, TY_PYFUNC, raises));
    Value *operands[] = {translate_append_const(t, callee), translate_append_const(t, raised), words};
    translate_push_value(t, translate_append(t, OP_CALL, operands, COUNT_OF(operands)));
    return true;
}
