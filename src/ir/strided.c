/* strided.c: what strides say: the bytes an array reaches, whether it is contiguous, the strides that make it so. */
#include "ir/ir.h"

#include <stdlib.h> /* llabs */

bool strided_is_empty(unsigned ndim, const int64_t *shape) {
    for (unsigned i = 0; i < ndim; i++)
        if (shape[i] == 0) return true;
    return false;
}

ByteRange strided_range(unsigned ndim, const int64_t *shape, const int64_t *strides, size_t item) {
    ByteRange range = {0, (int64_t)item};
    if (strided_is_empty(ndim, shape)) return (ByteRange){0, 0};
    for (unsigned i = 0; i < ndim; i++) {
        int64_t reach = (shape[i] - 1) * strides[i];
        *(reach < 0 ? &range.low : &range.high) += reach;
    }
    return range;
}

/* The axis whose items lie k-th nearest to each other. */
static unsigned axis_at(unsigned k, unsigned ndim, ArrayLayout layout) { return layout == LAYOUT_F ? k : ndim - 1 - k; }

void strided_pack(unsigned ndim, const int64_t *shape, size_t item, ArrayLayout layout, int64_t *strides) {
    int64_t stride = (int64_t)item;
    for (unsigned k = 0; k < ndim; k++) {
        unsigned axis = axis_at(k, ndim, layout);
        strides[axis] = stride;
        stride *= shape[axis] ? shape[axis] : 1;
    }
}

void strided_pack_like(unsigned ndim, const int64_t *shape, size_t item, const int64_t *like, int64_t *strides) {
    unsigned axes[TYPE_MAX_NDIM + 1]; /* from the one whose items are farthest apart */
    int64_t stride = (int64_t)item;
    for (unsigned i = 0; i < ndim; i++) {
        unsigned at = i;
        for (; at > 0 && llabs(like[axes[at - 1]]) < llabs(like[i]); at--) axes[at] = axes[at - 1];
        axes[at] = i;
    }
    for (unsigned i = ndim; i-- > 0;) {
        strides[axes[i]] = stride;
        stride *= shape[axes[i]];
    }
}

static bool is_packed(unsigned ndim, const int64_t *shape, const int64_t *strides, size_t item, ArrayLayout layout) {
    int64_t expected = (int64_t)item;
    for (unsigned k = 0; k < ndim; k++) {
        unsigned axis = axis_at(k, ndim, layout);
        if (shape[axis] != 1 && strides[axis] != expected) return false;
        expected *= shape[axis];
    }
    return true;
}

ArrayLayout strided_layout(unsigned ndim, const int64_t *shape, const int64_t *strides, size_t item) {
    if (strided_is_empty(ndim, shape) || is_packed(ndim, shape, strides, item, LAYOUT_C)) return LAYOUT_C;
    return is_packed(ndim, shape, strides, item, LAYOUT_F) ? LAYOUT_F : LAYOUT_A;
}
