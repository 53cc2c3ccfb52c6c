/* generators.c: functions with yield, and generator expressions.
 *
 * A function with yield is translated as any other; each yield is an operation, and so is where it waits to be asked
 * for its first item.  A yield gives what the generator is sent, which inference learns from who sends it: most often
 * None.
 *
 * Generator expressions.  In: the canonical instructions of a <genexpr>, whose code is that of a generator.  Out:
 * those of a function that runs the loop at once: it returns the list of what would be yielded; where next() takes it,
 * of the first; or, where any() or all() takes it, the answer, as soon as that is known.  Where it is kept, in a
 * variable, an attribute, a display or as a result, it is a function with yield like any other, and so it is where its
 * items are taken one at a time and not all at once: by a loop, by `in`, as an argument of what is lazy itself, of a
 * function of the program or of a method that is not known to take all.
 * Which of them is noted in the flags of the code object, a copy of the one in the program. */
#include <string.h> /* strcmp */

#include "frontend/translate.h"

enum { /* bits that CPython has no flag for */
       FLAG_ANY = 1 << 28,
       FLAG_ALL = 1 << 29,
       FLAG_FIRST = FLAG_ANY | FLAG_ALL, /* next() */
       FLAG_KEPT = 1 << 30
};

static bool is_generator_expression(const PyCodeObject *code) {
    return PyUnicode_CompareWithASCIIString(code->co_name, "<genexpr>") == 0;
}

bool translate_is_kept_generator(const PyCodeObject *code) {
    return is_generator_expression(code) && code->co_flags & FLAG_KEPT;
}

bool translate_is_generator_expression(const PyCodeObject *code) {
    return is_generator_expression(code) && !(code->co_flags & FLAG_KEPT);
}

/* ---- functions with yield ---- */

bool insn_yield(Translator *t, bool gives) {
    Value *given = gives ? translate_pop_value(t) : NULL;
    if (gives) TRY(given);
    Value *sent = translate_append(t, OP_YIELD, &given, gives);
    translate_push_value(t, gives ? sent : translate_append_const(t, const_none(t->arena, t->types)));
    return true;
}

static Value *callee_of(Translator *t, FuncId id) {
    return translate_append_const(t, const_of(t->arena, type_func(t->types, &func_info[id].head)));
}

/* `yield from`: what the generator is sent goes on to what it yields from, which is below it on the stack. */
bool insn_pass_on(Translator *t) {
    Slot sent = translate_pop(t);
    const Slot *walked = translate_peek(t, 1);
    if (sent.kind != SLOT_VALUE) return true;
    if (!walked || walked->kind != SLOT_VALUE) return translate_malformed(t, "`yield from` without an iterator");
    translate_append3(t, OP_CALL, callee_of(t, FUNC_PASS_ON), walked->value, sent.value);
    return true;
}

Value *translate_returned_by(Translator *t, Value *walked) {
    return translate_append2(t, OP_CALL, callee_of(t, FUNC_RETURNED_BY), walked);
}

/* ---- the loop of a generator expression ---- */

/* What pushes the value that the generator is left with, or that a yield is given, is not there any more. */
static void replace_pop(Bytecode *bytecode, size_t at, InsnKind kind, int arg) {
    while (at < bytecode->count && bytecode->insns[at].kind != INSN_POP) at++;
    if (at == bytecode->count) return;
    bytecode->insns[at].kind = kind;
    bytecode->insns[at].arg = arg;
}

/* A generator that is kept is given what it walks over: it takes the iterator of it itself, where it begins. */
bool translate_kept_generator(Translator *t) {
    Insn *insns = t->bytecode.insns;
    for (size_t i = 0; i + 1 < t->bytecode.count; i++) {
        if (insns[i].kind != INSN_NOP || insns[i + 1].kind != INSN_LOAD_LOCAL || insns[i + 1].arg != 0) continue;
        insns[i] = insns[i + 1];
        insns[i + 1].kind = INSN_ITER;
        return true;
    }
    return translate_malformed(t, "a generator expression walks over nothing");
}

bool translate_generator_loop(Translator *t) {
    Bytecode *bytecode = &t->bytecode;
    size_t count = bytecode->count;
    int flags = t->code->co_flags;
    bool any = flags & FLAG_ANY, all = flags & FLAG_ALL, first = any && all, list = first || (!any && !all);
    Insn *insns = ARENA_ARRAY(t->arena, Insn, count + 2);
    for (size_t i = 0; i < count; i++) insns[i] = bytecode->insns[i];
    bytecode->insns = insns;
    for (size_t i = 0; i < count; i++) {
        if (insns[i].kind == INSN_START_GENERATOR) {
            insns[i].kind = list ? INSN_LIST : INSN_NOP;
            insns[i].arg = 0;
            replace_pop(bytecode, i, INSN_NOP, 0);
        } else if (insns[i].kind == INSN_YIELD) {
            insns[i].kind = list ? INSN_COLLECT : any ? INSN_JUMP_IF_TRUE : INSN_JUMP_IF_FALSE;
            insns[i].arg = list ? 0 : (int)count;
            replace_pop(bytecode, i, first ? INSN_JUMP : INSN_NOP, first ? (int)count : 0);
        } else if (i + 1 < count && insns[i + 1].kind == INSN_RETURN && insns[i].kind == INSN_LOAD_CONST) {
            insns[i].kind = list ? INSN_NOP : INSN_LOAD_BOOL;
            insns[i].arg = all;
        }
    }
    insns[count] = insns[count + 1] = insns[count - 1]; /* where an answer leads */
    insns[count].kind = first ? INSN_COLLECTED : INSN_LOAD_BOOL;
    insns[count].arg = first ? 0 : any;
    insns[count + 1].kind = INSN_RETURN;
    insns[count + 1].arg = 0;
    bytecode->count = count + (list && !first ? 0 : 2);
    bytecode->nhandlers = 0; /* they are for what is thrown into a generator */
    return true;
}

bool insn_collect(Translator *t) { return insn_list_append(t, (int)t->stack.len - 1, false); }

bool insn_load_bool(Translator *t, int value) {
    translate_push_value(t, translate_append_const(t, const_bool(t->arena, t->types, value != 0)));
    return true;
}

/* ---- who takes it ---- */

/* The function of which what is made above it on the stack is the first argument. */
static FuncId callee_below(Translator *t, size_t below) {
    FuncId found = FUNC_NONE;
    for (size_t i = 1; i <= 2; i++) {
        if (below < i) return FUNC_NONE;
        const Slot *slot = &t->stack.data[below - i];
        if (slot->kind == SLOT_NULL) continue;
        const Const *konst = slot->kind == SLOT_VALUE && slot->value->op == OP_CONST ? slot->value->konst : NULL;
        if (!konst || konst->type->kind != TY_FUNC || found) return FUNC_NONE;
        found = konst->type->func->id;
    }
    return found;
}

static bool is_only_argument(const Translator *t) {
    const Insn *next = t->insn + 1;
    while (next->kind == INSN_NOP) next++;
    return next->kind == INSN_CALL && next->arg == 1;
}

/* next(x for ...): of the list, which ends with its first item, that one. */
Value *translate_argument_of(Translator *t, const Value *callee, Value *argument) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    const Value *called = argument->op == OP_CALL ? argument->args[0] : NULL;
    if (!type || type->kind != TY_FUNC || type->func->id != FUNC_NEXT || !called || called->op != OP_FUNCTION)
        return argument;
    PyObject *function = objects_get(t->frontend->objects, called->imm.object);
    bool generator = function && PyFunction_Check(function) &&
                     translate_is_generator_expression((PyCodeObject *)PyFunction_GET_CODE(function));
    return generator ? translate_append1(t, OP_ITER, argument) : argument;
}

/* A copy of the code with these flags too; NULL: an exception is set. */
static PyObject *with_flags(Translator *t, PyObject *code, int flags) {
    PyObject *replace = PyObject_GetAttrString(code, "replace"), *nothing = PyTuple_New(0), *copy = NULL;
    PyObject *names = Py_BuildValue("{s:i}", "co_flags", ((PyCodeObject *)code)->co_flags | flags);
    if (replace && nothing && names) copy = PyObject_Call(replace, nothing, names);
    Py_XDECREF(names);
    Py_XDECREF(nothing);
    Py_XDECREF(replace);
    return frontend_keep(t->frontend, copy);
}

/* Whether what is made now goes into a variable, or is returned. */
static bool is_kept(const Insn *next) {
    return next->kind == INSN_STORE_LOCAL || next->kind == INSN_STORE_CELL || next->kind == INSN_RETURN;
}

/* Whether what is made now becomes an item of what is made next. */
static bool is_put_in(const Insn *next) {
    static const InsnKind displays[] = {INSN_TUPLE, INSN_LIST, INSN_MAP, INSN_KEY_MAP, INSN_LIST_APPEND, INSN_MAP_ADD};
    for (size_t i = 0; i < COUNT_OF(displays); i++)
        if (next->kind == displays[i]) return true;
    return false;
}

/* Whether all its items are taken at once, without a call. */
static bool is_used_up(const Insn *next) {
    static const InsnKind takers[] = {INSN_UNPACK, INSN_UNPACK_EX, INSN_LIST_EXTEND, INSN_SET_UPDATE, INSN_POP};
    for (size_t i = 0; i < COUNT_OF(takers); i++)
        if (next->kind == takers[i]) return true;
    return false;
}

/* A method may put its argument where it is asked later, but these, of texts and collections, take it whole. */
static bool is_keeping_method(const Value *method) {
    static const char *const whole[] = {"join",
                                        "extend",
                                        "extendleft",
                                        "update",
                                        "union",
                                        "intersection",
                                        "difference",
                                        "symmetric_difference",
                                        "intersection_update",
                                        "difference_update",
                                        "symmetric_difference_update",
                                        "issubset",
                                        "issuperset",
                                        "isdisjoint",
                                        "fromkeys",
                                        "subtract"};
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        if (strcmp(method->imm.text, whole[i]) == 0) return false;
    return true;
}

/* Whether it takes what it is given item by item, as far as somebody asks for more, or keeps it; to NumPy a generator
 * is an object, not its items. */
static bool is_lazy(const Value *callee) {
    static const FuncId lazy[] = {FUNC_ZIP, FUNC_ENUMERATE, FUNC_ITER, FUNC_PY_MAP, FUNC_PY_FILTER};
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    if (!type || type->kind != TY_FUNC) return callee->op == OP_FUNCTION || (type && type->kind == TY_PYFUNC);
    for (size_t i = 0; i < COUNT_OF(lazy); i++)
        if (type->func->id == lazy[i]) return true;
    LibraryId library = func_info[type->func->id].library;
    return library == LIBRARY_ITERTOOLS || library == LIBRARY_NUMPY;
}

/* Whether its items are taken one at a time, while other code runs.  The empty place beside what is called stands above
 * it or below it (bc_py3*.def): where the other neighbour is lazy as well, nothing but time is lost. */
static bool is_taken_by_and_by(const Translator *t, const Insn *next) {
    size_t below = t->stack.len - 2, at = below;
    if (next->kind == INSN_ITER || next->kind == INSN_CONTAINS || is_put_in(next)) return true;
    while (at > 0 && t->stack.data[at - 1].kind != SLOT_NULL) at--;
    if (!at) return !is_used_up(next);
    const Value *method = at >= 2 ? t->stack.data[at - 2].value : NULL;
    const Slot *above = &t->stack.data[at]; /* an argument, or what is called where the attribute is none that is */
    bool is_method = method && t->stack.data[at - 2].kind == SLOT_VALUE && method->op == OP_GETATTR;
    if (is_method && (at == below || above->kind != SLOT_VALUE || above->value->op != OP_CONST))
        return is_keeping_method(method);
    for (size_t i = 0; at && i < 2; i++) {
        size_t place = i ? at : at - 2; /* the empty one is at - 1 */
        const Slot *slot = at + i >= 2 && place < below ? &t->stack.data[place] : NULL;
        if (slot && slot->kind == SLOT_VALUE && is_lazy(slot->value)) return true;
    }
    return false;
}

/* ---- variables that change while it runs ----
 *
 * A generator reads the variables that it shares when it is asked for an item.  One that is walked where it is made,
 * and goes nowhere else, refers to their cells (VF_WALKED).  Any other one may be left when the function is: it gets
 * what a variable holds, if nothing assigns to that before the generator, or what was made with it, is used for the
 * last time; or else is refused by inference.  Where it lies in a list, an instance or a cell, its last use is not
 * seen: inference, which knows what holds generators, refuses that where the variable is assigned later (VF_COPIES). */

/* Where control comes to: by the number of a value, and of a block that it enters. */
typedef struct Reached {
    bool *values, *blocks;
} Reached;

static Reached reached_new(Translator *t) {
    return (Reached){ARENA_ARRAY(t->arena, bool, t->func->next_value),
                     ARENA_ARRAY(t->arena, bool, t->func->next_block)};
}

/* Adds what control comes to from behind `from`, as far as `stop`. */
static void add_reached(Translator *t, Reached *reached, const Value *from, const Value *stop) {
    VEC(const Block *) work = {0};
    const Block *block = from->block;
    const Value *at = from->next;
    while (block) {
        for (; at && at != stop; at = at->next) reached->values[at->id] = true;
        if (at) reached->values[at->id] = true;
        for (size_t s = 0; !at && s < block->succs.len; s++) {
            const Block *next = block->succs.data[s];
            if (reached->blocks[next->id]) continue;
            reached->blocks[next->id] = true;
            vec_push(t->arena, &work, next);
        }
        block = work.len ? vec_pop(&work) : NULL;
        at = block ? block->first : NULL;
    }
}

static bool is_one_of(const Value *callee, const FuncId *ids, size_t count) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    for (size_t i = 0; type && type->kind == TY_FUNC && i < count; i++)
        if (type->func->id == ids[i]) return true;
    return false;
}

static bool is_code_of_comprehension(const PyCodeObject *code) {
    const char *name = PyUnicode_AsUTF8(code->co_name);
    return name && *name == '<' && strcmp(name, "<lambda>") != 0;
}

/* Whether it is the function of a comprehension (until CPython 3.12) or of a generator expression; *kept: which makes a
 * generator. */
static bool is_comprehension(Translator *t, const Value *made, bool *kept) {
    PyObject *function = objects_get(t->frontend->objects, made->imm.object);
    if (!function || !PyFunction_Check(function)) return false;
    const PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    *kept = translate_is_kept_generator(code);
    return is_code_of_comprehension(code);
}

/* Its one parameter is what it walks over: an iterator, of which it takes the iterator that it is; of a tuple whose
 * items have no common type, the tuple itself (rule_iter). */
bool translate_walks_parameter(const Translator *t) {
    return t->nested && is_code_of_comprehension(t->code) && !translate_is_kept_generator(t->code);
}

void translate_note_walked(Translator *t, Value *call) {
    bool kept;
    if (call->op != OP_CALL || call->nargs != 2 || call->args[0]->op != OP_FUNCTION || call->args[1]->op != OP_ITER)
        return;
    if (is_comprehension(t, call->args[0], &kept)) call->args[1]->flags |= VF_OPERAND;
}

static bool is_walked(Translator *t, const Value *made);

/* Whether the use takes items and keeps nothing, or is one of what is made of it and used so itself. */
static bool only_walks(Translator *t, const Value *user, uint32_t operand) {
    static const FuncId all[] = {FUNC_LIST,   FUNC_TUPLE,  FUNC_SET,    FUNC_PY_SUM, FUNC_SORTED,  FUNC_NEXT,
                                 FUNC_PY_ANY, FUNC_PY_ALL, FUNC_PY_MAX, FUNC_PY_MIN, FUNC_PASS_ON, FUNC_RETURNED_BY};
    bool kept;
    switch (user->op) {
    case OP_ITER_MORE:
    case OP_ITER_TAKE: return true;
    case OP_IN:
    case OP_NOT_IN: return operand == 1;
    case OP_ITER: break;
    case OP_CALL:
        if (operand && user->args[0]->op == OP_FUNCTION) {
            if (!is_comprehension(t, user->args[0], &kept)) return false;
            if (!kept) return true;
            break;
        }
        if (!operand || user->args[0]->op != OP_CONST || user->args[0]->konst->type->kind != TY_FUNC) return false;
        if (is_one_of(user->args[0], all, COUNT_OF(all))) return true;
        if (!is_lazy(user->args[0])) return false;
        break;
    default: return false;
    }
    return is_walked(t, user);
}

static bool is_walked(Translator *t, const Value *made) {
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (const Value *user = t->func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++)
                if (user->args[i] == made && !only_walks(t, user, i)) return false;
    return true;
}

/* How a value is made with that of a call.  What came through a phi may be of an earlier call. */
typedef enum MadeWith { NOT_MADE, MADE_NOW, MADE_BEFORE } MadeWith;

/* Marks what is made with the value, directly or not. */
static void mark_made_with(Translator *t, const Value *value, MadeWith *made) {
    made[value->id] = MADE_NOW;
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t b = 0; b < t->func->blocks.len; b++)
            for (const Value *user = t->func->blocks.data[b]->first; user; user = user->next) {
                MadeWith most = made[user->id];
                for (uint32_t i = 0; i < user->nargs; i++)
                    if (made[user->args[i]->id] > most) most = made[user->args[i]->id];
                if (most && user->op == OP_PHI) most = MADE_BEFORE;
                progress |= most != made[user->id];
                made[user->id] = most;
            }
    }
}

/* What may happen to a cell between the call and the last use of what it made. */
typedef enum Change {
    CHANGE_NONE,
    CHANGE_LATER, /* it is assigned, when nothing that is seen is used any more */
    CHANGE_SEEN
} Change;

static Change find_change(Translator *t, const Value *cell, const MadeWith *made, const Reached *after_call,
                          const Value *call) {
    Reached now = reached_new(t), ever = reached_new(t);
    bool later = false;
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (const Value *set = t->func->blocks.data[b]->first; set; set = set->next) {
            for (uint32_t i = 2; set->op == OP_FUNCTION && i < set->nargs; i++)
                if (set->args[i] == cell && cells_function_assigns(t, set, i - 2)) return CHANGE_SEEN;
            if (set->op != OP_CELL_SET || set->args[0] != cell || !after_call->values[set->id]) continue;
            later = true;
            add_reached(t, &now, set, call);
            add_reached(t, &ever, set, NULL);
        }
    for (size_t b = 0; later && b < t->func->blocks.len; b++)
        for (const Value *user = t->func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                MadeWith with = made[user->args[i]->id];
                if (with && (with == MADE_NOW ? now : ever).values[user->id]) return CHANGE_SEEN;
            }
    return later ? CHANGE_LATER : CHANGE_NONE;
}

static bool is_cell(const Translator *t, const Value *value) {
    return value->op == OP_CELL || (value->op == OP_PARAM && t->func->params[value->imm.i].kind == PARAM_CELL);
}

static void settle_generator(Translator *t, MadeGenerator generator) {
    Value *function = generator.function, *call = generator.call;
    MadeWith *made = NULL;
    if (!call->block) return;
    if (is_walked(t, call)) {
        call->flags |= VF_WALKED;
        return;
    }
    Reached after_call = reached_new(t);
    for (uint32_t i = 2; i < function->nargs; i++) {
        Value *cell = function->args[i];
        if (!is_cell(t, cell)) continue;
        if (!made) {
            mark_made_with(t, call, made = ARENA_ARRAY(t->arena, MadeWith, t->func->next_value));
            add_reached(t, &after_call, call, call);
        }
        Change change = find_change(t, cell, made, &after_call, call);
        if (change == CHANGE_SEEN) continue;
        if (change == CHANGE_LATER) call->flags |= VF_COPIES;
        if (cell->op == OP_PARAM) call->flags |= VF_COPIES | VF_STAYS;
        Value *content = value_new(t->func, OP_CELL_GET, call->span, &cell, 1);
        content->imm.text = content->name = cell->op == OP_PARAM ? t->func->params[cell->imm.i].name : cell->name;
        value_insert_before(function, content);
        function->args[i] = content;
    }
}

void translate_settle_generators(Translator *t) {
    for (size_t i = 0; i < t->generators.len; i++) settle_generator(t, t->generators.data[i]);
}

void translate_note_generator(Translator *t, Value *call) {
    bool generates = t->generates;
    t->generates = false;
    if (!generates || call->op != OP_CALL || call->nargs != 2 || call->args[0]->op != OP_FUNCTION) return;
    vec_push(t->arena, &t->generators, ((MadeGenerator){call, call->args[0]}));
}

/* Before the call that makes a generator: its code becomes that of what takes it.  *answers: the call's value is what
 * the next call would give. */
bool translate_taken_by(Translator *t, bool *answers) {
    *answers = false;
    if (t->stack.len < 2) return true;
    Slot *function = &t->stack.data[t->stack.len - 2];
    if (function->kind != SLOT_FUNCTION || !is_generator_expression((PyCodeObject *)function->function->code))
        return true;
    FuncId taker = callee_below(t, t->stack.len - 2);
    const Insn *next = t->insn + 1;
    while (next->kind == INSN_NOP) next++;
    bool walks = t->stack.data[t->stack.len - 1].kind == SLOT_VALUE &&
                 t->stack.data[t->stack.len - 1].value->op == OP_ITER;
    bool keeps = walks && (is_kept(next) || is_taken_by_and_by(t, next));
    *answers = is_only_argument(t) && (taker == FUNC_PY_ANY || taker == FUNC_PY_ALL);
    int flag = *answers             ? (taker == FUNC_PY_ANY ? FLAG_ANY : FLAG_ALL)
               : taker == FUNC_NEXT ? FLAG_FIRST
               : keeps              ? FLAG_KEPT
                                    : 0;
    if (!flag) return true;
    PyObject *code = with_flags(t, function->function->code, flag);
    if (!code) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a function");
    t->generates = flag == FLAG_KEPT;
    function->function->code = code;
    Slot *walked = &t->stack.data[t->stack.len - 1];
    if (flag == FLAG_KEPT) walked->value = walked->value->args[0]; /* the generator asks for its iterator */
    return true;
}
