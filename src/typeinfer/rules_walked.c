/* rules_walked.c: dicts and sets that change while they are walked.
 *
 * A loop over a dict or a set, or over what keys(), values() or items() give, walks a list of what it holds.  Where
 * the loop puts something in or takes something out, it walks a generator instead, which looks at the size before it
 * goes on, as the interpreter does.  What is changed is found by what the program's text says: the same variable or
 * attribute. */
#include <string.h> /* strcmp */

#include "typeinfer/rules_library.h" /* lib_* */

static bool is_same(const Value *a, const Value *b) {
    a = value_resolve((Value *)a), b = value_resolve((Value *)b);
    if (a == b) return true;
    if (a->op != b->op || !a->nargs || !b->nargs) return false;
    if (a->op == OP_CELL_GET) return is_same(a->args[0], b->args[0]);
    return a->op == OP_GETATTR && strcmp(a->imm.text, b->imm.text) == 0 && is_same(a->args[0], b->args[0]);
}

static bool is_given(const Value *call, const Value *table) {
    const Value *callee = value_resolve(call->args[0]);
    if (callee->op == OP_CONST && callee->konst->type->kind == TY_FUNC) return false;
    for (uint32_t i = 1; i < call->nargs; i++)
        if (is_same(call->args[i], table)) return true;
    return false;
}

/* Whether this may change how many items the table has. */
static bool changes(const Value *value, const Value *table) {
    static const char *const methods[] = {
        "add",    "clear",      "difference_update",           "discard", "intersection_update", "pop", "popitem",
        "remove", "setdefault", "symmetric_difference_update", "update"};
    if (value->op == OP_CALL) return is_given(value, table);
    if (!value->nargs || !is_same(value->args[0], table)) return false;
    for (size_t i = 0; value->op == OP_GETATTR && i < COUNT_OF(methods); i++)
        if (strcmp(value->imm.text, methods[i]) == 0) return true;
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
    if (!changing) return rule_func_table_method(t);
    if (t->nnames || !type_is_table(t->args[0].type)) return typing_bad_operands(t);
    return typing_become_prelude(t, t->func == FUNC_DICT_KEYS     ? "tables:each_key"
                                    : t->func == FUNC_DICT_VALUES ? "tables:each_value"
                                                                  : "tables:each_item");
}
