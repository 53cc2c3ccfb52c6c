/* pairs.c: the tree of a sum in pairs, for machine code of the host: what codegen/lower_pairs.c writes out elsewhere.
 *
 * In: how many terms there are, then the sums of the pieces, one after the other.  Out: how long the next piece is, at
 * the end the sum of all, each addition rounded as NumPy rounds it.  Written out in every sum, the tree would be most
 * of what LLVM has to look at. */
#include "codegen_cpu/cpu.h"

/* To the first piece of so many terms. */
static void descend(PairsState *state, int64_t count) {
    while (count > REDUCE_BLOCK) {
        int64_t left = (count >> 1) & -8;
        state->rights[state->depth++] = count - left;
        count = left;
    }
    state->need = count;
}

void host_pairs_open(PairsState *state, int64_t count) {
    state->depth = 0;
    state->total = -0.0;
    descend(state, count);
}

/* Two floats of 32 bits, added as doubles and rounded, are what their own sum rounds to. */
static double join(double left, double right, bool narrow) { return narrow ? (float)(left + right) : left + right; }

static void add(PairsState *state, double sum, bool narrow) {
    while (state->depth > 0) {
        int64_t top = state->depth - 1, right = state->rights[top];
        if (right) {
            state->sums[top] = sum;
            state->rights[top] = 0;
            descend(state, right);
            return;
        }
        sum = join(state->sums[top], sum, narrow);
        state->depth = top;
    }
    state->total = sum;
    state->need = 0;
}

void host_pairs_add_f32(PairsState *state, float sum) { add(state, (double)sum, true); }
void host_pairs_add_f64(PairsState *state, double sum) { add(state, sum, false); }
