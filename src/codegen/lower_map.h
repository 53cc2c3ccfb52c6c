/* lower_map.h: what the files that lower loops over whole arrays share: the operands of a map or a reduction as its
 * loops see them (lower_map.c), and destinations that lie over what is read (lower_overlap.c). */
#ifndef KRAIT_CODEGEN_LOWER_MAP_H
#define KRAIT_CODEGEN_LOWER_MAP_H

#include "codegen/lower.h"

typedef struct MapArray { /* an operand as the loops see it */
    const Type *type;
    LLVMValueRef data, shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
} MapArray;

typedef struct MapInput { /* not a destination: an array or a scalar */
    bool is_array;
    const Type *type; /* of the scalar, or of an element */
    LLVMValueRef scalar;
    MapArray array;
    int dest; /* it is this destination; -1: none */
} MapInput;

typedef struct Map {
    Value *const *operands; /* NULL: an assignment */
    const FuncInst *inst;   /* NULL: a conversion */
    unsigned ndim, ndests, ninputs;
    LLVMValueRef shape[TYPE_MAX_NDIM];
    MapArray *dests;
    MapInput *inputs;        /* as many as the function has parameters, then the mask */
    bool masked, apart;      /* apart: destinations lie apart from what is read */
    LLVMMetadataRef *scopes; /* of the destinations, which overlap nothing; NULL: they may */
    LLVMValueRef owned;      /* memory to be freed where the function raises, or NULL */
} Map;

static inline int64_t map_item_bytes(const MapArray *x) { return (int64_t)type_size(type_element(x->type)); }
static inline bool l_is_constant(LLVMValueRef value, int64_t number) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetSExtValue(value) == number;
}
static inline LLVMValueRef l_equal(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return a == b ? l_i1(l, true) : l_icmp(l, LLVMIntEQ, a, b);
}
static inline LLVMValueRef l_choose(Lower *l, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b) {
    return a == b ? a : l_select(l, condition, a, b);
}

MapArray map_array_of(Lower *l, const Type *type, LLVMValueRef value);
/* The strides over the axes of a domain: new leading axes, and those of length 1, stand still.  Leading axes that the
 * domain does not have are of length 1. */
void map_stretch(Lower *l, MapArray *x, unsigned ndim, LLVMValueRef const *shape);
const MapArray *map_array_at(const Map *m, unsigned operand); /* destinations first; NULL of a scalar */

/* Operand i of those that are read; the shape and the destinations are there. */
void map_open_input(Lower *l, Map *m, unsigned i, const Value *operand);

/* From the last axis to the first if the condition holds. */
void map_reverse_axes(Lower *l, Map *m, LLVMValueRef condition);
/* Where every array is in one piece, all axes are the innermost one. */
void map_join_axes(Lower *l, Map *m);
/* i1: whether, on the innermost axis, every array steps by one item, or stands still. */
LLVMValueRef map_steps_by_item(Lower *l, Map *m);

/* Calls back for the last axis of everything that the other axes have; at: addresses, of the destinations, then of the
 * inputs (NULL of scalars). */
typedef void MapRow(Lower *l, const Map *m, LLVMValueRef const *at, void *self);
void map_rows(Lower *l, const Map *m, MapRow *row, void *self);

/* Addresses `index` steps further along the last axis, which is there. */
void map_advance(Lower *l, const Map *m, LLVMValueRef index, LLVMValueRef const *at, LLVMValueRef *next);
/* So many elements along it; by_item: every array steps by one item, or stands still, and the loop has that shape. */
void map_line(Lower *l, const Map *m, LLVMValueRef const *at, LLVMValueRef count, bool by_item, LoopShape shape);

/* From here on the destinations overlap nothing that is read but themselves. */
void map_open_scopes(Lower *l, Map *m);

/* Whether two operands are one array: one value, or the same view of one. */
bool map_is_same(const Value *a, const Value *b);

/* A way round for destinations that lie over what is read so that writing one changes what is still to be read. */
typedef struct Detour {
    LLVMValueRef taken;  /* i1; constant false: there is none */
    LLVMValueRef memory; /* of the temporary arrays, or null */
    MapArray *asked;
    LLVMValueRef shape[TYPE_MAX_NDIM];
} Detour;
/* After open the destinations are temporaries where needed, and inputs that are destinations, too.  The result: whether
 * any destination and something else still have bytes in common. */
LLVMValueRef map_detour_open(Lower *l, Map *m, Detour *detour);
void map_detour_close(Lower *l, Map *m, const Detour *detour);

#endif
