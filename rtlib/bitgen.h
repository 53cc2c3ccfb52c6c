/* bitgen.h: NumPy's bit generators, and functions over them that several files here call. */
#ifndef KRAIT_BITGEN_H
#define KRAIT_BITGEN_H

#include "rt.h"
#include "runtime/host/random_state.h" /* BitGenerator */

/* What random_binomial keeps between calls with the same arguments; made anew, it draws the same. */
typedef struct BinomialState {
    int32_t has;
    double psave;
    int64_t nsave;
    double rest[16];
} BinomialState;

int64_t random_binomial(BitGenerator *, double, int64_t, BinomialState *);

#endif
