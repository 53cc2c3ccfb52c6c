/* solver.h: what solve.c and joins.c share: the state of the solver of one function. */
#ifndef KRAIT_SOLVER_H
#define KRAIT_SOLVER_H

#include "typeinfer/infer.h"

typedef struct BlockState {
    bool reached;
    uint8_t taken; /* bit i: the edge to successor i */
    Value *stop;   /* evaluation stops here; NULL: not */
} BlockState;

typedef struct Work {
    uint64_t key; /* order of the block, place of the value in it */
    Block *block;
    Value *value; /* NULL: the whole block */
} Work;

struct Solver {
    BlockState *blocks;   /* by Block.id */
    uint32_t *place;      /* by Value.id: position in its block */
    uint32_t *first_user; /* by Value.id: start in users; users of id i: users[first_user[i] .. first_user[i+1]-1] */
    Value **users;
    bool *queued;       /* by Value.id */
    const Type **seeds; /* by Value.id: the type that a phi or cell starts with; NULL: bottom */
    VEC(Work) heap;     /* of what is to be done, the least key first */
    size_t steps;
    bool changed; /* a fact, since the flag was cleared */
    bool moved;   /* a phi or cell went from one type to another, since the joins were last looked at */
    bool has_cells;
    Value *rounds_of; /* an iter whose loop is to become its rounds; NULL: none */
    uint32_t rounds;
    Fact result; /* of the function */
    Value *first_return;
};

static inline bool solver_sees(const struct Solver *s, const Value *value) {
    const BlockState *state = &s->blocks[value->block->id];
    return state->reached && (!state->stop || s->place[value->id] <= s->place[state->stop->id]);
}

/* A new fact wakes who uses the value. */
void solver_set_fact(Infer *in, Value *value, Fact fact);

/* ---- joins.c ---- */

/* The fact of a phi; false: its operands have no type together. */
bool solver_visit_phi(Infer *in, Value *phi);
/* What the returns give together, now. */
Fact solver_join_returns(Infer *in);
/* What a call of a generator's function gives, where that is what it yields. */
Fact solver_generator_result(Infer *in, Fact yielded);
/* Whether a phi or the result has another type than what holds now gives it; phis start with that one then. */
bool solver_joins_are_stale(Infer *in);

/* ---- named_numbers.c ---- */

/* An operation is refused: its operands become dicts, where they have names for numbers. */
void solver_unname_operands(Infer *in, const Value *at);
/* Values that do not join, and may once some of them have names, or have not any more; false: nothing changed. */
bool solver_agree_on_names(Infer *in, Value *const *values, uint32_t count);

#endif
