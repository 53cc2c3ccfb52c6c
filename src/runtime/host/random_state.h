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

/* Of random.Random: a Mersenne Twister (Matsumoto and Nishimura, 1998). */
enum { TWISTER_WORDS = 624, TWISTER_MIDDLE = 397 };
typedef struct Twister {
    int index;
    uint32_t state[TWISTER_WORDS];
} Twister;

/* The words that come after those that are used up (random.c). */
void krait_host_twister_turn(uint32_t *words);

static inline uint32_t twister_tempered(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static inline uint32_t twister_word(Twister *mt) {
    if (mt->index >= TWISTER_WORDS) {
        krait_host_twister_turn(mt->state);
        mt->index = 0;
    }
    return twister_tempered(mt->state[mt->index++]);
}

/* The same of two words: a double from 0 up to, but not, 1. */
static inline double twister_double(uint32_t a, uint32_t b) {
    return ((a >> 5) * 67108864.0 + (b >> 6)) * (1.0 / 9007199254740992.0);
}

/* Of NumPy's bit generator MT19937, which has the index behind the words: drawn from in place where
 * decorators/random.c has seen that it lies so. */
typedef struct NumpyTwister {
    uint32_t state[TWISTER_WORDS];
    int index;
} NumpyTwister;

/* What chunks of parallel loops draw from: xoshiro256++ of Blackman and Vigna (2019). */
static inline uint64_t stream_word(uint64_t *s) {
    uint64_t sum = s[0] + s[3], word = ((sum << 23) | (sum >> 41)) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return word;
}

static inline double stream_double(uint64_t *s) { return (double)(stream_word(s) >> 11) * 0x1p-53; }

#endif
