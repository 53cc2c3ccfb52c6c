/* strided.h: the geometry of arrays in memory: an address, extents, strides in bytes.  Part of ir.h. */
#ifndef KRAIT_IR_STRIDED_H
#define KRAIT_IR_STRIDED_H

#include "base/base.h" /* int64_t */

typedef enum ArrayLayout { LAYOUT_C, LAYOUT_F, LAYOUT_A } ArrayLayout; /* A: any strides; ndim <= 1 contiguous is C */

/* Where the bytes of all elements lie, counted from the first element: from `low` to before `high`; both 0 if there is
 * no element. */
typedef struct ByteRange {
    int64_t low, high;
} ByteRange;

ByteRange strided_range(unsigned ndim, const int64_t *shape, const int64_t *strides, size_t item);
bool strided_is_empty(unsigned ndim, const int64_t *shape);
/* The strides of a contiguous array, C or F; an axis without items counts as one with one. */
void strided_pack(unsigned ndim, const int64_t *shape, size_t item, ArrayLayout layout, int64_t *strides);
/* Strides without gaps, the axes in the order of the magnitudes of other strides: as numpy.empty_like keeps the order
 * of an array that is neither C nor Fortran contiguous. */
void strided_pack_like(unsigned ndim, const int64_t *shape, size_t item, const int64_t *like, int64_t *strides);
/* C wins when an array is both, as a vector is; an array without elements is C. */
ArrayLayout strided_layout(unsigned ndim, const int64_t *shape, const int64_t *strides, size_t item);

#endif
