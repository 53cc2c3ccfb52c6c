/* warp.c: what the lanes of a warp take away from an operation they do together.
 *
 * In: the lanes that met, with what each brought.  Out: each one's result.  What a GPU leaves undefined, the value of a
 * lane that did not come, is here the lane's own. */
#include "runtime/host/warp.h"

static bool is_present(uint32_t present, int32_t lane) { return lane >= 0 && lane < WARP_SIZE && present >> lane & 1; }

/* The lane whose value it takes. */
static int32_t source_of(WarpOp op, int32_t lane, int32_t operand) {
    switch (op) {
    case WARP_SHFL_UP: return lane - operand;
    case WARP_SHFL_DOWN: return lane + operand;
    case WARP_SHFL_XOR: return lane ^ operand;
    default: return operand;
    }
}

static void shuffle(WarpOp op, uint32_t present, WarpLane *lanes) {
    for (int32_t i = 0; i < WARP_SIZE; i++) {
        int32_t source = source_of(op, i, lanes[i].operand);
        if (is_present(present, i)) lanes[i].result = lanes[is_present(present, source) ? source : i].value;
    }
}

static void match_any(uint32_t present, WarpLane *lanes) {
    for (int32_t i = 0; i < WARP_SIZE; i++) {
        uint32_t same = 0;
        for (int32_t k = 0; k < WARP_SIZE; k++)
            if (is_present(present, k) && lanes[k].value == lanes[i].value) same |= 1u << k;
        lanes[i].result = same;
    }
}

static int64_t combine(WarpOp op, int64_t a, int64_t b) {
    switch (op) {
    case WARP_AND: return a & b;
    case WARP_OR: return a | b;
    case WARP_XOR: return a ^ b;
    case WARP_MIN: return b < a ? b : a;
    case WARP_MAX: return b > a ? b : a;
    case WARP_UMIN: return (uint64_t)b < (uint64_t)a ? b : a;
    case WARP_UMAX: return (uint64_t)b > (uint64_t)a ? b : a;
    default: return (int64_t)((uint64_t)a + (uint64_t)b);
    }
}

static int64_t reduce(WarpOp op, uint32_t present, const WarpLane *lanes) {
    int32_t first = __builtin_ctz(present);
    int64_t total = lanes[first].value;
    for (int32_t i = first + 1; i < WARP_SIZE; i++)
        if (is_present(present, i)) total = combine(op, total, lanes[i].value);
    return total;
}

/* The result that all lanes share. */
static int64_t common(WarpOp op, uint32_t present, const WarpLane *lanes) {
    uint32_t ballot = 0;
    bool same = true;
    int64_t first = lanes[__builtin_ctz(present)].value;
    for (int32_t i = 0; i < WARP_SIZE; i++) {
        if (!is_present(present, i)) continue;
        if (lanes[i].value) ballot |= 1u << i;
        same = same && lanes[i].value == first;
    }
    switch (op) {
    case WARP_ALL: return ballot == present;
    case WARP_ANY: return ballot != 0;
    case WARP_EQ: return ballot == present || ballot == 0;
    case WARP_BALLOT: return ballot;
    case WARP_MATCH_ALL: return same ? present : 0;
    case WARP_ACTIVE: return present;
    default: return reduce(op, present, lanes);
    }
}

void warp_results(WarpOp op, uint32_t present, WarpLane lanes[WARP_SIZE]) {
    if (op == WARP_MEET || !present) return;
    if (op >= WARP_SHFL && op <= WARP_SHFL_XOR) {
        shuffle(op, present, lanes);
    } else if (op == WARP_MATCH_ANY) {
        match_any(present, lanes);
    } else {
        int64_t result = common(op, present, lanes);
        for (int32_t i = 0; i < WARP_SIZE; i++) lanes[i].result = result;
    }
}
