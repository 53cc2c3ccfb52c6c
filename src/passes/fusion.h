/* fusion.h: the function of elements that two maps have together (fusion_body.c), for pass fusion alone. */
#ifndef KRAIT_PASSES_FUSION_H
#define KRAIT_PASSES_FUSION_H

#include "passes/private.h"

/* How many operands a fused map may read: more keep too many addresses alive in its loop. */
enum { FUSION_MAX_SOURCES = 16 };

/* The operands that a map or a reduction reads: its function has a parameter for each.  Others stand before them: the
 * destinations of a map, the shape of a reduction; and behind them: a mask. */
typedef struct Sources {
    Value *const *values;
    uint32_t count, before;
} Sources;
Sources fusion_sources(const Value *map);
/* Axes of what it goes through. */
static inline uint32_t fusion_axes(const Value *map) {
    return map->op == OP_REDUCE ? map->args[0]->type->count : map->args[0]->type->ndim;
}

/* Whether the function of a map computes a number of numbers alone, and does nothing else. */
bool fusion_is_pure(const Value *map);
/* Whether that costs no more than reading the number again. */
bool fusion_is_cheap(const Value *map);

/* Makes `reader` compute itself what it reads of `array`, which `writer` writes; false: it would read too much. */
bool fusion_absorb(Program *program, Value *reader, const Value *writer, const Value *array);

#endif
