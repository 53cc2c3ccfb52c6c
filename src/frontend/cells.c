/* cells.c: variables shared with inner functions that never change become plain values.
 *
 * Input: a Func after clean-up.  Output: the same without the cells whose content is known wherever they are used:
 * cells made with their content (parameters, variables of finished functions) that nobody assigns to, and those with
 * one assignment that comes before every use and is in no loop.  An inner function then closes over the value itself,
 * may be returned, and what is known about the value (its type, that it is a function) is known there too.
 *
 * Its other variables stay cells: memory of the function that makes them, which it must not outlive. */
#include "frontend/translate.h"

typedef struct CellUses {
    Value *set;        /* the only assignment */
    size_t sets;       /* how many */
    VEC(Value *) uses; /* all others */
    bool unseen;       /* it may change where we do not see it */
} CellUses;

bool cells_function_assigns(Translator *t, const Value *made, uint32_t index) {
    PyObject *function = objects_get(t->frontend->objects, made->imm.object);
    if (!function || !PyFunction_Check(function)) return true;
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    int local = code->co_nlocalsplus - code->co_nfreevars + (int)index;
    if (local >= code->co_nlocalsplus) return true;
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(code->co_localsplusnames, local));
    return !name || translate_assigns_free(t, code, name);
}

/* An operand of `user` is a cell. */
static void note_use(Translator *t, Value *user, uint32_t operand, CellUses *found) {
    bool reads = user->op == OP_CELL_GET;
    bool closes = user->op == OP_FUNCTION && operand >= 2 && !cells_function_assigns(t, user, operand - 2);
    if (user->op == OP_CELL_SET && operand == 0) {
        found->set = user;
        found->sets++;
    } else if (reads || closes) {
        vec_push(t->arena, &found->uses, user);
    } else {
        found->unseen = true;
    }
}

/* Of all cells at once, by Value.id; also the places of values among all, in `place`. */
static CellUses *find_uses(Translator *t, uint32_t *place) {
    CellUses *found = ARENA_ARRAY(t->arena, CellUses, t->func->next_value);
    uint32_t count = 0;
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next) {
            place[value->id] = ++count;
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->args[i]->op == OP_CELL) note_use(t, value, i, &found[value->args[i]->id]);
        }
    return found;
}

static bool in_loop(Translator *t, const Block *block) {
    VEC(const Block *) work = {0};
    bool *seen = ARENA_ARRAY(t->arena, bool, t->func->next_block);
    vec_push(t->arena, &work, block);
    while (work.len) {
        const Block *at = vec_pop(&work);
        for (uint32_t s = 0; s < at->succs.len; s++) {
            const Block *next = at->succs.data[s];
            if (next == block) return true;
            if (seen[next->id]) continue;
            seen[next->id] = true;
            vec_push(t->arena, &work, next);
        }
    }
    return false;
}

static bool comes_before(const Value *first, const Value *second, const uint32_t *place) {
    if (first->block == second->block) return place[first->id] < place[second->id];
    return block_dominates(first->block, second->block);
}

/* What the cell holds at every use; NULL: that is not certain. */
static Value *only_content(Translator *t, const Value *cell, const CellUses *found, const uint32_t *place) {
    if (found->unseen) return NULL;
    if (cell->nargs) return found->sets ? NULL : cell->args[0];
    if (found->sets != 1 || found->set->args[1] == cell || in_loop(t, found->set->block)) return NULL;
    for (size_t i = 0; i < found->uses.len; i++)
        if (!comes_before(found->set, found->uses.data[i], place)) return NULL;
    return found->set->args[1];
}

/* What reads the cell, and the cell itself, leave a forward to the content. */
static bool settle(Translator *t, Value *cell, const CellUses *found, const uint32_t *place) {
    Value *content = only_content(t, cell, found, place);
    if (!content) return false;
    for (size_t i = 0; i < found->uses.len; i++)
        if (found->uses.data[i]->op == OP_CELL_GET) found->uses.data[i]->mark = content;
    cell->mark = content;
    if (found->set) found->set->mark = content;
    return true;
}

/* Values with a forward go, and what used them uses what these lead to. */
static void follow_forwards(Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            for (uint32_t i = 0; i < value->nargs; i++) value->args[i] = value_resolve(value->args[i]);
            if (value->mark) value_remove(value);
        }
}

void cells_settle(Translator *t) {
    VEC(Value *) cells = {0};
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_CELL) vec_push(t->arena, &cells, value);
    if (!cells.len) return;
    func_compute_order(t->func);
    func_compute_dominators(t->func);
    uint32_t *place = ARENA_ARRAY(t->arena, uint32_t, t->func->next_value);
    const CellUses *found = find_uses(t, place);
    bool any = false;
    for (size_t i = 0; i < cells.len; i++) any |= settle(t, cells.data[i], &found[cells.data[i]->id], place);
    if (any) follow_forwards(t->func);
}
