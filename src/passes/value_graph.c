/* value_graph.c: values with a name for each branch that speaks of them (value_graph.h).
 *
 * In: a typed function.  Out: its graph.  Algorithm: one walk down the dominator tree with the current node of every
 * value, as in the renaming of SSA construction.  Entering a block by the only edge of a branch makes nodes for the
 * integers that its condition compares, which hold until the walk leaves that part of the tree; an edge to a block with
 * other predecessors makes them for the operands that its phis take along that edge.  A condition is a comparison of
 * integers, the truth of one, `not`, or `&` and `|` of such; what is known of a converted integer is known of the
 * original too, if the conversion keeps all values. */
#include "passes/value_graph.h"

#include "passes/interval.h" /* interval_of_type */

enum { MAX_CONDITION_DEPTH = 8 };

typedef struct Renamed { /* to be undone */
    uint32_t value, node;
} Renamed;

typedef struct Builder {
    ValueGraph *graph;
    Arena *arena;
    uint32_t *current; /* by Value.id */
    VEC(Renamed) undo;
} Builder;

static uint32_t add_node(Builder *b, ValueNode node) {
    vec_push(b->arena, &b->graph->nodes, node);
    uint32_t number = (uint32_t)(b->graph->nodes.len - 1);
    vec_push(b->arena, &b->graph->order, number);
    return number;
}

static void rename_value(Builder *b, const Value *value, uint32_t node) {
    vec_push(b->arena, &b->undo, (Renamed){value->id, b->current[value->id]});
    b->current[value->id] = node;
}

static void undo_to(Builder *b, size_t length) {
    while (b->undo.len > length) {
        Renamed last = vec_pop(&b->undo);
        b->current[last.value] = last.node;
    }
}

/* ---- what a condition says ---- */

static Op opposite(Op relation) {
    switch (relation) {
    case OP_LT: return OP_GE;
    case OP_GE: return OP_LT;
    case OP_GT: return OP_LE;
    case OP_LE: return OP_GT;
    case OP_EQ: return OP_NE;
    default: return OP_EQ;
    }
}

static bool is_number(const Value *value) {
    return type_is_integer(value->type) && type_scalar_kind(value->type) != 'b';
}

/* `value` stands in `relation` to node `other`, from here on; so do the integers that it was converted from. */
static void refine(Builder *b, const Value *value, Op relation, uint32_t other) {
    for (;;) {
        ValueNode node = {.value = value, .relation = relation, .source = b->current[value->id], .other = other};
        rename_value(b, value, add_node(b, node));
        if (value->op != OP_CAST || !is_number(value->args[0])) return;
        const Value *from = value->args[0];
        if (!interval_within(interval_of_type(from->type), interval_of_type(value->type))) return;
        value = from;
    }
}

static void assume_comparison(Builder *b, const Value *compared, bool truth) {
    const Value *x = compared->args[0], *y = compared->args[1];
    if (!is_number(x) || !is_number(y)) return;
    Op relation = truth ? compared->op : opposite(compared->op);
    uint32_t x_node = b->current[x->id], y_node = b->current[y->id];
    refine(b, x, relation, y_node);
    refine(b, y, op_mirrored(relation), x_node);
}

static void assume(Builder *b, const Value *condition, bool truth, unsigned depth) {
    if (depth == 0) return;
    switch (condition->op) {
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NE:
    case OP_GT:
    case OP_GE: assume_comparison(b, condition, truth); return;
    case OP_NOT:
    case OP_TRUTH:
        if (is_number(condition->args[0]))
            refine(b, condition->args[0], (condition->op == OP_TRUTH) == truth ? OP_NE : OP_EQ, b->graph->zero);
        else
            assume(b, condition->args[0], (condition->op == OP_TRUTH) == truth, depth - 1);
        return;
    case OP_CAST: /* of what two NumPy scalars give, a bool_ */
        if (type_is_scalar(condition->args[0]->type) && type_scalar_kind(condition->args[0]->type) == 'b')
            assume(b, condition->args[0], truth, depth - 1);
        return;
    case OP_AND:
    case OP_OR:
        if (type_scalar_kind(condition->type) != 'b' || (condition->op == OP_AND) != truth) return;
        assume(b, condition->args[0], truth, depth - 1);
        assume(b, condition->args[1], truth, depth - 1);
        return;
    default: return;
    }
}

/* What the edge says, if it is one way of a branch. */
static void assume_edge(Builder *b, const Block *from, const Block *to) {
    const Value *end = from->last;
    if (end->op != OP_BRANCH || from->succs.data[0] == from->succs.data[1] || to == block_unwind(from)) return;
    assume(b, end->args[0], to == from->succs.data[0], MAX_CONDITION_DEPTH);
}

/* ---- the walk ---- */

static void read_values(Builder *b, const Block *block) {
    for (const Value *value = block->first; value; value = value->next) {
        ValueNode *node = &b->graph->nodes.data[value->id];
        uint32_t *args = ARENA_ARRAY(b->arena, uint32_t, value->nargs);
        for (uint32_t i = 0; i < value->nargs; i++)
            args[i] = value->op == OP_PHI ? value->args[i]->id : b->current[value->args[i]->id];
        *node = (ValueNode){value, args, value->nargs, .relation = OP_COUNT, .source = NO_NODE, .other = NO_NODE};
        vec_push(b->arena, &b->graph->order, value->id);
    }
}

static void read_phi_operands(Builder *b, const Block *from, uint32_t *const *phi_args) {
    for (uint32_t s = 0; s < from->succs.len; s++) {
        const Block *to = from->succs.data[s];
        if (!to->first || to->first->op != OP_PHI) continue;
        size_t undo = b->undo.len;
        assume_edge(b, from, to);
        for (size_t p = 0; p < to->preds.len; p++)
            for (const Value *phi = to->first; to->preds.data[p] == from && phi->op == OP_PHI; phi = phi->next)
                phi_args[phi->id][p] = b->current[phi->args[p]->id];
        undo_to(b, undo);
    }
}

typedef struct Visit {
    const Block *block;
    size_t undo;
    const Block *next; /* child to be entered */
} Visit;

typedef struct Tree { /* of dominators, by Block.id; children in the order of the blocks */
    const Block **child, **sibling;
} Tree;

static Tree tree_of(const Func *func, Arena *arena) {
    Tree tree = {ARENA_ARRAY(arena, const Block *, func->next_block),
                 ARENA_ARRAY(arena, const Block *, func->next_block)};
    for (size_t i = func->blocks.len; i-- > 1;) {
        const Block *block = func->blocks.data[i];
        tree.sibling[block->id] = tree.child[block->idom->id];
        tree.child[block->idom->id] = block;
    }
    return tree;
}

static void enter(Builder *b, const Block *block, uint32_t *const *phi_args) {
    if (block->preds.len == 1) assume_edge(b, block->preds.data[0], block);
    read_values(b, block);
    read_phi_operands(b, block, phi_args);
}

static void walk(Builder *b, const Func *func, uint32_t *const *phi_args) {
    Tree tree = tree_of(func, b->arena);
    ValueGraph *graph = b->graph;
    graph->before = ARENA_ARRAY(b->arena, uint32_t, func->next_block);
    graph->behind = ARENA_ARRAY(b->arena, uint32_t, func->next_block);
    VEC(Visit) stack = {0};
    uint32_t clock = 0;
    const Block *next = func->blocks.data[0];
    while (next || stack.len) {
        if (next) {
            vec_push(b->arena, &stack, (Visit){next, b->undo.len, tree.child[next->id]});
            graph->before[next->id] = clock++;
            enter(b, next, phi_args);
        }
        Visit *top = &vec_last(&stack);
        next = top->next;
        if (next) {
            top->next = tree.sibling[next->id];
        } else {
            graph->behind[top->block->id] = clock++;
            undo_to(b, top->undo);
            stack.len--;
        }
    }
}

ValueGraph value_graph_of(Func *func, Arena *arena) {
    func_compute_order(func);
    func_compute_dominators(func);
    ValueGraph graph = {.arena = arena};
    Builder b = {.graph = &graph, .arena = arena, .current = ARENA_ARRAY(arena, uint32_t, func->next_value)};
    uint32_t **phi_args = ARENA_ARRAY(arena, uint32_t *, func->next_value);
    for (uint32_t id = 0; id < func->next_value; id++) {
        vec_push(arena, &graph.nodes, (ValueNode){.relation = OP_COUNT});
        b.current[id] = id;
    }
    graph.zero = add_node(&b, (ValueNode){.relation = OP_COUNT, .source = NO_NODE, .other = NO_NODE});
    for (size_t i = 0; i < func->blocks.len; i++)
        for (const Value *phi = func->blocks.data[i]->first; phi && phi->op == OP_PHI; phi = phi->next)
            phi_args[phi->id] = ARENA_ARRAY(arena, uint32_t, phi->nargs);
    walk(&b, func, phi_args);
    for (size_t i = 0; i < func->blocks.len; i++)
        for (const Value *phi = func->blocks.data[i]->first; phi && phi->op == OP_PHI; phi = phi->next)
            graph.nodes.data[phi->id].args = phi_args[phi->id];
    return graph;
}

bool value_graph_dominates(const ValueGraph *graph, const Block *above, const Block *below) {
    return graph->before[above->id] <= graph->before[below->id] && graph->behind[below->id] <= graph->behind[above->id];
}
