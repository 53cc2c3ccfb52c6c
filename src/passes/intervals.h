/* intervals.h: what the files of the pass `intervals` share: what is known of every node of a value graph. */
#ifndef KRAIT_PASSES_INTERVALS_H
#define KRAIT_PASSES_INTERVALS_H

#include "passes/interval.h"
#include "passes/value_graph.h"

/* A length: the extent of an array along an axis. */
typedef uint32_t LengthId;
enum { NO_LENGTH = UINT32_MAX };

typedef struct Known {
    Interval range;  /* empty: no value was seen yet */
    LengthId length; /* the value is at most this length + offset; NO_LENGTH: no such is known */
    Wide offset;
    bool forward; /* VF_FORWARD */
} Known;

typedef struct Lengths { /* numbers for the lengths that a function speaks of */
    uint32_t *
        *of_array; /* by Value.id: one number for each axis, 0: none yet, else 1 + LengthId; NULL: no axis has one */
    VEC(const Value *) arrays; /* by LengthId */
} Lengths;

typedef struct Intervals {
    Arena *arena;
    ValueGraph graph;
    Known *known;   /* by node */
    Known any_int;  /* what is known of every Python int */
    Interval *sums; /* by node: what interval_sums.c has found; NULL: nothing */
    const FuncInst *inst;
    bool small; /* Program.small */
    Lengths lengths;
} Intervals;

static inline const ValueNode *node_at(const Intervals *s, uint32_t node) { return &s->graph.nodes.data[node]; }
static inline const Known *arg_at(const Intervals *s, const ValueNode *node, uint32_t index) {
    return &s->known[node->args[index]];
}

/* interval_rules.c */
Known intervals_of_node(Intervals *s, uint32_t node); /* from what is known of its operands */
Known intervals_of_type(const Type *type);            /* of an integer type */
/* How far at most the value is above a length; false: nobody knows. */
bool intervals_above_length(const Known *known, LengthId length, Wide *offset);
LengthId intervals_length(Intervals *s, const Value *array, unsigned axis);
/* interval_sums.c: phis that are sums of a loop get bounds; whether some are tighter than what is known. */
bool intervals_bound_sums(Intervals *s);

/* intervals.c */
Intervals intervals_of(Program *program, const FuncInst *inst);
/* interval_facts.c */
/* Whether the number, where it is used, is an index within an extent. */
bool intervals_prove_inside(Intervals *s, const Value *array, unsigned axis, uint32_t node);
bool intervals_prove_access(Intervals *s, const Value *access); /* the same of each number of an access to an item */
void intervals_note(Intervals *s, Func *func);                  /* flags and bounds */

#endif
