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

static inline void twister_turn(Twister *mt) {
    for (int i = 0; i < TWISTER_WORDS; i++) {
        uint32_t y = (mt->state[i] & 0x80000000u) | (mt->state[(i + 1) % TWISTER_WORDS] & 0x7fffffffu);
        mt->state[i] = mt->state[(i + TWISTER_MIDDLE) % TWISTER_WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    mt->index = 0;
}

static inline uint32_t twister_word(Twister *mt) {
    if (mt->index >= TWISTER_WORDS) twister_turn(mt);
    uint32_t y = mt->state[mt->index++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

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
