/* assigned.c: which attributes __init__ assigns before anybody can look for them.
 *
 * In: the function, not typed yet, and the class.  Out: the numbers of the attributes, as bits, that an instance has of
 * its own whenever something reads them; what the class has under such a name is then never seen.
 *
 * Forward along the edges, a block begins with what all blocks before it have assigned; a handler with what the block
 * in its try statement began with.  Whoever else gets the object (a call, a variable that may be another object, a
 * property) may look for everything that is not assigned by then.  A method that is called on it, or that of a base by
 * super(), is followed instead. */
#include <string.h> /* memset */

#include "typeinfer/rules.h"

enum { METHOD_DEPTH = 6 };

typedef struct Follow { /* one function that gets the object as its first argument */
    Typing *t;
    const Type *object;
    const Func *func;
    uint64_t *missed; /* attributes that may have been looked for too early */
    int depth;
} Follow;

static uint64_t assigned_by(const Follow *outer, ObjRef function, uint64_t before);

static bool is_self(const Value *value) {
    value = value_resolve((Value *)value);
    return value->op == OP_PARAM && value->imm.i == 0;
}

static uint64_t bit_of(const Type *object, const char *name) {
    int field = type_field(object, name);
    return field > 0 ? UINT64_C(1) << field : 0;
}

static Member member_named_by(const Follow *f, const Value *getattr) {
    const InferHost *host = f->t->in->host;
    return host->member(host->self, f->object->object, getattr->imm.object, getattr->imm.text);
}

/* self.method, which is no attribute of the object. */
static bool is_method_of_self(const Follow *f, const Value *value) {
    if (value->op != OP_GETATTR || !is_self(value->args[0])) return false;
    bool attribute = !value->imm.object && bit_of(f->object, value->imm.text);
    return !attribute && member_named_by(f, value).kind == MEMBER_METHOD;
}

/* What is assigned behind the value, where `set` is before it. */
static uint64_t behind(const Follow *f, const Value *value, uint64_t set) {
    uint64_t attribute = value->imm.text && value->nargs && is_self(value->args[0]) ? bit_of(f->object, value->imm.text)
                                                                                    : 0;
    bool own = attribute && !value->imm.object;
    if (own && value->op == OP_SETATTR && !is_self(value->args[1])) return set | attribute;
    if (own && value->op == OP_GETATTR) return *f->missed |= attribute & ~set, set;
    if (is_method_of_self(f, value)) return set;
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Value *arg = value_resolve(value->args[i]);
        if (i == 0 && value->op == OP_CALL && is_method_of_self(f, arg)) {
            set = assigned_by(f, member_named_by(f, arg).function, set);
            continue;
        }
        if (is_self(arg) || is_method_of_self(f, arg)) *f->missed |= ~set;
    }
    return set;
}

static uint64_t behind_block(const Follow *f, const Block *block, uint64_t set) {
    for (const Value *value = block->first; value; value = value->next) set = behind(f, value, set);
    return set;
}

/* What all ways to the block have assigned, given what each block ends with. */
static uint64_t before_block(const Block *block, const uint64_t *begins, const uint64_t *ends, uint64_t first) {
    uint64_t set = block->preds.len ? ~UINT64_C(0) : first;
    for (size_t i = 0; i < block->preds.len; i++) {
        const Block *pred = block->preds.data[i];
        bool handles = pred->unwinds && pred->succs.data[pred->succs.len - 1] == block;
        set &= handles ? begins[pred->id] & ends[pred->id] : ends[pred->id];
    }
    return set;
}

static uint64_t assigned_by(const Follow *outer, ObjRef function, uint64_t before) {
    const InferHost *host = outer->t->in->host;
    Arena *arena = outer->t->in->arena;
    const Func *func = function && outer->depth ? host->translate(host->self, function) : NULL;
    if (!func || func->generator || !func->nparams) return *outer->missed |= ~before, before;
    Follow f = {outer->t, outer->object, func, outer->missed, outer->depth - 1};
    uint64_t *begins = ARENA_ARRAY(arena, uint64_t, func->next_block), result = ~UINT64_C(0), none = 0;
    uint64_t *ends = ARENA_ARRAY(arena, uint64_t, func->next_block), *missed = f.missed;
    memset(begins, 0xFF, func->next_block * sizeof *begins);
    memset(ends, 0xFF, func->next_block * sizeof *ends);
    f.missed = &none; /* while sets shrink */
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t b = 0; b < func->blocks.len; b++) {
            const Block *block = func->blocks.data[b];
            begins[block->id] = before_block(block, begins, ends, before);
            uint64_t now = behind_block(&f, block, begins[block->id]);
            moved |= now != ends[block->id];
            ends[block->id] = now;
        }
    }
    f.missed = missed;
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Block *block = func->blocks.data[b];
        behind_block(&f, block, begins[block->id]);
        if (block->last->op == OP_RETURN) result &= ends[block->id];
    }
    return result;
}

uint64_t typing_surely_assigned(Typing *t, const Type *object, ObjRef init) {
    uint64_t missed = 0;
    Follow f = {.t = t, .object = object, .missed = &missed, .depth = METHOD_DEPTH};
    uint64_t assigned = init ? assigned_by(&f, init, 0) : 0;
    return assigned & ~missed;
}
