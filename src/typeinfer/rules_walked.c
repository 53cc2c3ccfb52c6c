/* rules_walked.c: dicts and sets that change while they are walked.
 *
 * A loop over a dict or a set, or over what keys(), values() or items() give, walks a list of what it holds.  Where
 * the loop puts something in or takes something out, it walks a generator instead, which looks at the size before it
 * goes on, as the interpreter does.  What is changed is found by what the program's text says: the same variable or
 * attribute.
 *
 * A view that is kept, while anything that could change its dict happens, is an object of its own, which sees the
 * changes (krait/prelude/views.py); one that is looked at at once is a list.  In the prelude and where it is returned
 * to the interpreter it is a list, too: such compare as lists, views as sets or by identity.  Operators that are
 * written beside the call see a set (frontend/operands.c).  Where such a list goes anywhere else its type is noted;
 * once everything is typed, comparisons of such lists are refused. */
#include <string.h> /* strcmp */

#include "typeinfer/rules_library.h" /* lib_* */

static bool is_same(const Value *a, const Value *b) {
    a = value_resolve((Value *)a), b = value_resolve((Value *)b);
    if (a == b) return true;
    if (a->op != b->op || !a->nargs || !b->nargs) return false;
    if (a->op == OP_CELL_GET) return is_same(a->args[0], b->args[0]);
    return a->op == OP_GETATTR && strcmp(a->imm.text, b->imm.text) == 0 && is_same(a->args[0], b->args[0]);
}

static bool is_function_of_library(const Value *callee) {
    return callee->op == OP_CONST && callee->konst->type->kind == TY_FUNC;
}

static bool is_given(const Value *call, const Value *table) {
    const Value *callee = value_resolve(call->args[0]);
    if (is_function_of_library(callee)) return false;
    for (uint32_t i = 1; i < call->nargs; i++)
        if (is_same(call->args[i], table)) return true;
    return false;
}

/* Whether this may change how many items the table has. */
static bool changes(const Value *value, const Value *table) {
    if (value->op == OP_CALL) return is_given(value, table);
    if (!value->nargs || !is_same(value->args[0], table)) return false;
    if (value->op == OP_GETATTR) return func_changes_table(value->imm.text);
    return value->op == OP_SETITEM || value->op == OP_DELITEM || (value->flags & VF_INPLACE) != 0;
}

/* Marks the blocks on ways from `block`, along or against the edges, that do not lead through one of `ends`. */
static void mark_ways(Arena *arena, bool *marked, Block *block, bool along, Block *const ends[2]) {
    BlockList work = {0};
    vec_push(arena, &work, block);
    while (work.len) {
        Block *at = vec_pop(&work);
        if (marked[at->id] || at == ends[0] || at == ends[1]) continue;
        marked[at->id] = true;
        const BlockList *next = along ? &at->succs : &at->preds;
        for (size_t i = 0; i < next->len; i++) vec_push(arena, &work, next->data[i]);
    }
}

static bool block_changes(const Block *block, const Value *table) {
    for (const Value *value = block->first; value; value = value->next)
        if (changes(value, table)) return true;
    return false;
}

/* Whether the loop that walks `iter` changes the table. */
static bool loop_changes(Infer *in, const Value *iter, const Value *table) {
    Value *const *users;
    Block *header = NULL;
    uint32_t count = solver_users(in, iter, &users);
    for (uint32_t i = 0; i < count; i++)
        if (users[i]->op == OP_ITER_MORE) header = users[i]->block;
    if (!header || header == iter->block || !header->succs.len) return false;
    bool *ahead = ARENA_ARRAY(in->arena, bool, in->func->next_block);
    bool *behind = ARENA_ARRAY(in->arena, bool, in->func->next_block);
    Block *const ends[2] = {header, iter->block};
    mark_ways(in->arena, ahead, header->succs.data[0], true, ends);
    for (size_t i = 0; i < header->preds.len; i++) mark_ways(in->arena, behind, header->preds.data[i], false, ends);
    for (size_t b = 0; b < in->func->blocks.len; b++) {
        const Block *block = in->func->blocks.data[b];
        if (ahead[block->id] && behind[block->id] && block_changes(block, table)) return true;
    }
    return false;
}

bool typing_table_changes(Typing *t) {
    if (t->is_part || t->at->op != OP_ITER || !type_is_table(infer_content(t->args[0].type))) return false;
    if (t->emit) return type_walks_generator(t->at->type);
    return loop_changes(t->in, t->at, t->at->args[0]);
}

/* ---- views that are kept ---- */

/* Whether the operand is looked at here and does not go on to anywhere. */
static bool only_looks(const Infer *in, const Value *user, const Value *view) {
    const Value *callee = user->op == OP_CALL ? value_resolve(user->args[0]) : NULL;
    switch (user->op) {
    case OP_ITER:
    case OP_TRUTH:
    case OP_NOT:
    case OP_IS:
    case OP_IS_NOT:
    case OP_GETITEM:
    case OP_GETATTR:
    case OP_UNPACK:
    case OP_UNPACK_EX:
    case OP_FORMAT: return true;
    case OP_IN:
    case OP_NOT_IN: return user->args[1] == view && user->args[0] != view;
    case OP_CALL: return is_function_of_library(callee);
    case OP_RETURN: return in->leaves; /* the interpreter has it */
    default: return false;
    }
}

/* What gives the items of its operands when they are taken from it. */
static bool is_lazy(const Value *user) {
    const Value *callee = user->op == OP_CALL ? value_resolve(user->args[0]) : NULL;
    if (!callee || !is_function_of_library(callee)) return false;
    switch ((int)callee->konst->type->func->id) {
    case FUNC_ITER:
    case FUNC_ZIP:
    case FUNC_ENUMERATE:
    case FUNC_REVERSED:
    case FUNC_PY_MAP:
    case FUNC_PY_FILTER: return true;
    default: return false;
    }
}

/* Whether what is asked of it runs nothing of the program's: no class has a say in it, and no generator. */
static bool runs_nothing(const Value *operand, const Value *view, const Value *table) {
    return (operand == view && !is_lazy(view)) || value_resolve((Value *)operand)->op == OP_CONST ||
           is_same(operand, table);
}

/* A call of a method of the table itself that changes nothing, as the next of its views. */
static bool only_asks(const Value *call, const Value *table) {
    const Value *method = value_resolve(call->args[0]);
    return method->op == OP_GETATTR && is_same(method->args[0], table) && !func_changes_table(method->imm.text);
}

/* Whether the table of the view may be changed here, by whatever name: by a call, a subscript, an operator, an
 * attribute, since all of these may be methods of a class.  The text alone says so: types are not known yet. */
static bool may_change(const Value *value, const Value *view, const Value *table) {
    uint32_t first = 0;
    switch (value->op) {
    case OP_CONST:
    case OP_TUPLE:
    case OP_LIST:
    case OP_LIST_APPEND:
    case OP_SLICE:
    case OP_FUNCTION:
    case OP_CELL:
    case OP_CELL_GET:
    case OP_CELL_SET:
    case OP_IS:
    case OP_IS_NOT:
    case OP_EXTRACT:
    case OP_CHECK_BOUND: return false;
    case OP_CALL:
        if (!is_function_of_library(value_resolve(value->args[0])) && !only_asks(value, table)) return true;
        first = 1;
        break;
    case OP_GETATTR:
    case OP_TRUTH:
    case OP_NOT:
    case OP_ITER:
    case OP_UNPACK:
    case OP_UNPACK_EX: break;
    default: return true;
    }
    for (uint32_t i = first; i < value->nargs; i++)
        if (!runs_nothing(value->args[i], view, table)) return true;
    return false;
}

static bool asks_class(const Value *user) {
    const Value *callee = user->op == OP_CALL ? value_resolve(user->args[0]) : NULL;
    const FuncHead *func = callee && is_function_of_library(callee) ? callee->konst->type->func : NULL;
    return func && (func->id == FUNC_TYPE || func->id == FUNC_ISINSTANCE);
}

static bool all_at_once(Infer *in, const Value *view, const Value *table);

/* Whether the view of the table is looked at here at once, before anything may have changed that. */
static bool at_once(Infer *in, const Value *user, const Value *view, const Value *table) {
    if (!only_looks(in, user, view) || user->block != view->block || (user->op == OP_CALL && asks_class(user)))
        return false;
    const Value *between = view->next;
    while (between && between != user && !may_change(between, view, table)) between = between->next;
    if (between != user) return false;
    return is_lazy(user) ? all_at_once(in, user, table) : user->op != OP_ITER || !loop_changes(in, user, table);
}

static bool all_at_once(Infer *in, const Value *view, const Value *table) {
    Value *const *users;
    uint32_t count = solver_users(in, view, &users);
    for (uint32_t i = 0; i < count; i++)
        if (!at_once(in, users[i], view, table)) return false;
    return true;
}

/* Whether what the call gives of the table is there while that may change; the prelude's code does not. */
static bool outlives_changes(Typing *t, const Value *table) {
    return !t->in->device && !t->in->func->prelude && !all_at_once(t->in, t->at, table);
}

/* Whether the view is kept while its dict may change: it is an object of its own then (krait/prelude/views.py). */
static bool is_kept(Typing *t) {
    if (t->is_part || t->at->op != OP_CALL) return false;
    if (t->emit) return type_is_instance(t->at->type);
    const Value *callee = value_resolve(t->at->args[0]);
    const Value *table = callee->op == OP_GETATTR ? callee->args[0] : t->at->nargs > 1 ? t->at->args[1] : NULL;
    return table && outlives_changes(t, table);
}

bool typing_is_kept_iterator(Typing *t) {
    if (t->is_part || t->at->op != OP_CALL || !type_is_table(infer_content(t->args[0].type))) return false;
    if (t->emit) return t->at->type->kind == TY_GENERATOR;
    return t->at->nargs == 2 && outlives_changes(t, t->at->args[1]);
}

static void note_kept(Typing *t) {
    const Type *dict = infer_content(t->args[0].type);
    if (t->emit || dict->kind != TY_DICT || type_key(dict)->kind == TY_BOTTOM) return;
    Value *const *users;
    uint32_t count = t->is_part ? 0 : solver_users(t->in, t->at, &users);
    bool looks = !t->is_part;
    for (uint32_t i = 0; looks && i < count; i++) looks = only_looks(t->in, users[i], t->at);
    if (looks) return;
    const Type *pair[2] = {type_key(dict), type_dict_value(dict)};
    const Type *item = t->func == FUNC_DICT_KEYS     ? pair[0]
                       : t->func == FUNC_DICT_VALUES ? pair[1]
                                                     : type_tuple(t->in->types, pair, 2);
    vec_push(t->in->arena, t->in->config->views, type_with_items(t->in->types, TY_LIST, 0, &item, 1));
}

bool typing_compares_view(Typing *t) {
    for (size_t arg = 0; t->emit && arg < 2; arg++) {
        const Type *type = infer_content(t->args[arg].type);
        for (size_t i = 0; i < t->in->config->views->len; i++) {
            if (t->in->config->views->data[i] != type) continue;
            typing_fail(t, DIAG_UNSUPPORTED,
                        "%s is compared, which may be what keys(), values() or items() of a dict gave: views are no "
                        "lists and compare in another way",
                        typing_arg_text(t, arg));
            typing_hint(t, "make a list or a set of the view before it is stored, passed on or returned: "
                           "list(d.values()), set(d.keys())");
            return true;
        }
    }
    return false;
}

/* Views are not added, and not repeated. */
static bool refuse_arithmetic(Typing *t) {
    Value *const *users;
    uint32_t count = t->is_part || t->emit ? 0 : solver_users(t->in, t->at, &users);
    for (uint32_t i = 0; i < count; i++) {
        if (users[i]->op != OP_ADD && users[i]->op != OP_MUL) continue;
        typing_fail(t, DIAG_TYPING, "unsupported operand of %s: a view of a dict", op_info[users[i]->op].text);
        return !typing_hint(t, "make a list of it, as in list(d.keys()) + list(e.keys())");
    }
    return false;
}

/* keys(), values() and items(). */
bool rule_func_table_view(Typing *t) {
    const Value *callee = t->at->op == OP_CALL ? value_resolve(t->at->args[0]) : NULL;
    bool changing = false;
    if (!t->is_part && t->emit) {
        changing = t->at->type->kind == TY_GENERATOR;
    } else if (!t->is_part && callee && callee->op == OP_GETATTR) {
        Value *const *users;
        uint32_t count = solver_users(t->in, t->at, &users);
        changing = count == 1 && users[0]->op == OP_ITER && loop_changes(t->in, users[0], callee->args[0]);
    }
    bool kept = !changing && is_kept(t);
    if (!kept) note_kept(t);
    if (refuse_arithmetic(t)) return false;
    if (!changing && !kept) return rule_func_table_method(t);
    if (t->nnames || !type_is_table(t->args[0].type)) return typing_bad_operands(t);
    if (kept)
        return typing_become_prelude(t, t->func == FUNC_DICT_KEYS     ? "views:kept_keys"
                                        : t->func == FUNC_DICT_VALUES ? "views:kept_values"
                                                                      : "views:kept_items");
    return typing_become_prelude(t, t->func == FUNC_DICT_KEYS     ? "tables:each_key"
                                    : t->func == FUNC_DICT_VALUES ? "tables:each_value"
                                                                  : "tables:each_item");
}
