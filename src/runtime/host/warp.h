/* warp.h: what lanes that have met take away; private to runtime/host. */
#ifndef KRAIT_RUNTIME_HOST_WARP_H
#define KRAIT_RUNTIME_HOST_WARP_H

#include "runtime/host/host.h" /* WarpOp, WARP_SIZE */

typedef struct WarpLane {
    int64_t value; /* what it brings; of less than 64 bits extended by its sign for MIN and MAX, else by zeros */
    int32_t operand;
    int64_t result;
} WarpLane;

/* Sets the results of the lanes in `present`. */
void warp_results(WarpOp op, uint32_t present, WarpLane lanes[WARP_SIZE]);

#endif
