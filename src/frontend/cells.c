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

/* False: the cell may change where we do not see it. */
static bool find_uses(Translator *t, const Value *cell, CellUses *found) {
    *found = (CellUses){0};
    for (size_t b = 0; b < t->func->blocks.len; b++) {
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next) {
            for (uint32_t i = 0; i < value->nargs; i++) {
                if (value->args[i] != cell) continue;
                bool reads = value->op == OP_CELL_GET;
                bool closes = value->op == OP_FUNCTION && i >= 2 && !cells_function_assigns(t, value, i - 2);
                if (value->op == OP_CELL_SET && i == 0) {
                    found->set = value;
                    found->sets++;
                } else if (reads || closes) {
                    vec_push(t->arena, &found->uses, value);
                } else {
                    return false;
                }
            }
        }
    }
    return true;
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

static bool comes_before(const Value *first, const Value *second) {
    if (first->block != second->block) {
        const Block *block = second->block->idom;
        while (block && block != first->block) block = block->idom;
        return block != NULL;
    }
    const Value *value = first->next;
    while (value && value != second) value = value->next;
    return value != NULL;
}

/* What the cell holds at every use; NULL: that is not certain. */
static Value *only_content(Translator *t, const Value *cell, const CellUses *found) {
    if (cell->nargs) return found->sets ? NULL : cell->args[0];
    if (found->sets != 1 || found->set->args[1] == cell || in_loop(t, found->set->block)) return NULL;
    for (size_t i = 0; i < found->uses.len; i++)
        if (!comes_before(found->set, found->uses.data[i])) return NULL;
    return found->set->args[1];
}

static bool settle(Translator *t, Value *cell) {
    CellUses found;
    Value *content = find_uses(t, cell, &found) ? only_content(t, cell, &found) : NULL;
    if (!content) return false;
    if (found.set) value_remove(found.set);
    for (size_t i = 0; i < found.uses.len; i++) {
        Value *use = found.uses.data[i];
        if (use->op != OP_CELL_GET) continue;
        value_replace(t->func, use, content);
        value_remove(use);
    }
    value_replace(t->func, cell, content);
    value_remove(cell);
    return true;
}

void cells_settle(Translator *t) {
    bool progress = false, any = false;
    for (size_t b = 0; b < t->func->blocks.len && !any; b++)
        for (Value *value = t->func->blocks.data[b]->first; value && !any; value = value->next)
            any = value->op == OP_CELL;
    if (!any) return;
    func_compute_order(t->func);
    func_compute_dominators(t->func);
    do {
        progress = false;
        for (size_t b = 0; b < t->func->blocks.len && !progress; b++)
            for (Value *value = t->func->blocks.data[b]->first; value && !progress; value = value->next)
                progress = value->op == OP_CELL && settle(t, value);
    } while (progress);
}
