/* narrow.c: where an Optional is known to hold a value, and a caught exception to be of a class.
 *
 * In: a use of a value in a block.  Out: whether every way there passes a test that the value is not None.
 *
 *   if x is None: return 0          if x: ...             x = None
 *   return x + 1                    (x is not None)       if x is None: x = 1      the join is an int, not an Optional
 *
 * From the block of the use up the dominator tree: where an immediate dominator branches on `v is None`, `v is not
 * None`, `v` or `not v` and the way down starts with the side on which v is there (a block that only this edge enters),
 * the value is.  The answer depends on the untyped graph alone, so solve and rewrite get the same one; it is kept for
 * each operand, because rewrite prunes the graph. */
#include "typeinfer/infer.h"

struct Narrowing {
    uint32_t nvalues;
    uint64_t *asked, *known; /* by Value.id: one bit for each of the first 64 operands */
    const Type **declared;   /* by Value.id, of what reads an attribute of a caught exception */
};

/* The side (0 true, 1 false) on which the branch at the end of `block` says that `value` is there; -1: it does not ask.
 */
static int side_with_value(const Block *block, const Value *value) {
    const Value *end = block->last;
    if (end->op != OP_BRANCH) return -1;
    const Value *test = end->args[0];
    int side = 0;
    while (test->op == OP_NOT || test->op == OP_TRUTH) {
        if (test->op == OP_NOT) side = 1 - side;
        if (test->args[0] == value) return side;
        test = test->args[0];
    }
    if (test->op != OP_IS && test->op != OP_IS_NOT) return -1;
    bool none_last = test->args[1]->konst && test->args[1]->konst->type->kind == TY_NONE;
    bool none_first = test->args[0]->konst && test->args[0]->konst->type->kind == TY_NONE;
    if (!(none_last && test->args[0] == value) && !(none_first && test->args[1] == value)) return -1;
    return test->op == OP_IS_NOT ? side : 1 - side;
}

static bool edge_has_value(const Block *from, const Block *to, const Value *value) {
    int side = side_with_value(from, value);
    return side >= 0 && from->succs.data[side] == to && from->succs.data[1 - side] != to;
}

static bool block_has_value(const Block *block, const Value *value) {
    for (const Block *at = block; at->idom && at != value->block; at = at->idom)
        if (at->preds.len == 1 && edge_has_value(at->preds.data[0], at, value)) return true;
    return false;
}

void narrow_open(Infer *in) {
    struct Narrowing *narrowing = ARENA_NEW(in->arena, struct Narrowing);
    narrowing->nvalues = in->func->next_value;
    in->narrowing = narrowing;
}

bool narrow_operand(Infer *in, const Value *at, uint32_t operand, const Value *value) {
    struct Narrowing *n = in->narrowing;
    if (!n || at->id >= n->nvalues || operand >= 64) return false;
    if (!n->asked) { /* most functions have no Optional */
        if (in->emit) return false;
        n->asked = ARENA_ARRAY(in->arena, uint64_t, n->nvalues);
        n->known = ARENA_ARRAY(in->arena, uint64_t, n->nvalues);
        func_compute_dominators(in->func);
    }
    uint64_t bit = (uint64_t)1 << operand;
    if (!(n->asked[at->id] & bit) && !in->emit) {
        const Block *block = at->op == OP_PHI ? at->block->preds.data[operand] : at->block;
        bool known = block_has_value(block, value) || (at->op == OP_PHI && edge_has_value(block, at->block, value));
        n->asked[at->id] |= bit;
        if (known) n->known[at->id] |= bit;
    }
    return n->known[at->id] & bit;
}

/* ---- caught exceptions ---- */

/* The classes that the branch at the end of `from` has asked for, where it leads to `to` if the exception is of one of
 * them; NULL: it does not ask. */
static const Value *classes_asked(const Block *from, const Block *to, const Value *caught) {
    const Value *end = from->last, *test = end->op == OP_BRANCH ? end->args[0] : NULL;
    int side = 0;
    for (; test && (test->op == OP_NOT || test->op == OP_TRUTH); test = test->args[0]) side ^= test->op == OP_NOT;
    if (!test || from->succs.data[side] != to || from->succs.data[1 - side] == to) return NULL;
    if (test->op == OP_MATCHES) return test->args[0] == caught ? test->args[1] : NULL;
    const Const *callee = test->op == OP_CALL ? test->args[0]->konst : NULL;
    bool asks = callee && callee->type->kind == TY_FUNC && callee->type->func->id == FUNC_ISINSTANCE;
    return asks && test->nargs == 3 && test->args[1] == caught ? test->args[2] : NULL;
}

static const Type *declared_by(const Infer *in, const Type *classes, const char *name) {
    const Type *type = NULL;
    if (classes->kind == TY_EXC_CLASS) return in->host->declared(in->host->self, classes, name);
    for (uint32_t i = 0; classes->kind == TY_TUPLE && i < classes->count; i++) {
        const Type *each = declared_by(in, classes->items[i], name);
        if (!each || (type && each != type)) return NULL;
        type = each;
    }
    return type;
}

static const Type *declared_by_value(const Infer *in, const Value *classes, const char *name) {
    const Type *type = NULL;
    if (classes->konst) return declared_by(in, classes->konst->type, name);
    for (uint32_t i = 0; classes->op == OP_TUPLE && i < classes->nargs; i++) {
        const Type *each = declared_by_value(in, classes->args[i], name);
        if (!each || (type && each != type)) return NULL;
        type = each;
    }
    return type;
}

const Type *narrow_declared(Infer *in, const Value *at, const Value *caught, const char *name) {
    struct Narrowing *n = in->narrowing;
    if (!n || at->id >= n->nvalues) return NULL;
    if (!n->declared) {
        if (in->emit) return NULL;
        n->declared = ARENA_ARRAY(in->arena, const Type *, n->nvalues);
        if (!n->asked) func_compute_dominators(in->func);
    }
    for (const Block *b = at->block; !in->emit && !n->declared[at->id] && b->idom && b != caught->block; b = b->idom) {
        const Value *classes = b->preds.len == 1 ? classes_asked(b->preds.data[0], b, caught) : NULL;
        if (classes) n->declared[at->id] = declared_by_value(in, classes, name);
    }
    return n->declared[at->id];
}
