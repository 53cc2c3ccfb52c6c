/* parallel_places.h: between parallel_places.c, which finds what iterations access, and parallel_meetings.c, which asks
 * whether two of them come to the same item. */
#ifndef KRAIT_PASSES_PARALLEL_PLACES_H
#define KRAIT_PASSES_PARALLEL_PLACES_H

#include "passes/parallel.h"

typedef enum AxisKind {
    AXIS_UNKNOWN,
    AXIS_LINEAR, /* (factor * item + offset) * scale + base + rest */
    AXIS_EACH,   /* the same, base the item of an inner loop of the same rounds in every iteration */
    AXIS_ALL,    /* the whole axis */
} AxisKind;

typedef struct Axis {
    AxisKind kind;
    bool open; /* of a view that begins there: an index is still to be added */
    int64_t factor, offset, rest;
    const Value *scale, *base; /* NULL: 1, and rest is 0; none */
} Axis;

typedef struct Place {
    const Value *array, *access;
    bool written, certain; /* certain: in every iteration */
    bool called, sure;     /* access is the call of a function that does it; sure: in each of its calls */
    unsigned count;
    Axis axes[TYPE_MAX_NDIM]; /* what is missing is AXIS_ALL */
} Place;

typedef struct Places {
    ParallelLoop *loop;
    const Value *item; /* of the range: what this iteration takes */
    VEC(Place) found;
    uint32_t looked; /* values of functions that are called */
} Places;

/* Fills places->found. */
void places_find(Places *places);
/* Whether a block is in every iteration. */
bool places_certain(const ParallelLoop *loop, const Block *block);
/* Whether a value is the same in every iteration: from outside, or lengths and sums of such. */
bool places_outer(const ParallelLoop *loop, const Value *value);
/* The range of the inner loop whose item is taken or asked for, if it is the same in every iteration; or NULL. */
const Value *places_range(const ParallelLoop *loop, const Value *item);
bool places_same_number(const Value *a, const Value *b);
/* Of two values that are the same in every iteration: whether they are one, or made in the same way. */
bool places_same(const Value *a, const Value *b);
bool places_same_scale(const Value *a, const Value *b);

#endif
