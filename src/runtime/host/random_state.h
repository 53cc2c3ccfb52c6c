/* random_state.h: the states of NumPy's and the standard library's random numbers, as they lie in memory: what rtlib
 * draws from, decorators/random.c finds and random.c hands on. */
#ifndef KRAIT_RUNTIME_HOST_RANDOM_STATE_H
#define KRAIT_RUNTIME_HOST_RANDOM_STATE_H

#include <stdint.h> /* uint64_t */

/* As in numpy/random/bitgen.h. */
typedef struct BitGenerator {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
} BitGenerator;

/* Of the RandomState behind numpy.random's functions: it keeps the second number of each normal pair. */
typedef struct LegacyState {
    BitGenerator *bits;
    int has_gauss;
    double gauss;
} LegacyState;

/* Of random.Random: a Mersenne Twister. */
enum { TWISTER_WORDS = 624 };
typedef struct Twister {
    int index;
    uint32_t state[TWISTER_WORDS];
} Twister;

#endif
