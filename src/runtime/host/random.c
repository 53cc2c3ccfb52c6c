/* random.c: where the states lie that compiled code draws random numbers from.
 *
 * In: the addresses that decorators/random.c found in NumPy's and the standard library's objects, which live as long as
 * the process.  Out: the same, to the linker of compiled code (codegen_cpu/symbols.c), and new seeds.
 *
 * In a parallel loop each chunk of iterations draws from a stream of its own, which begins where the loop's seed (drawn
 * from the generator itself) and the chunk's number say: what is drawn does not depend on the number of threads. */
#include <stdatomic.h>
#include <stdlib.h> /* malloc */

#include "runtime/host/host.h" /* HostRandom */

static struct {
    void *_Atomic state;
    void *_Atomic owner;
    HostRandomSeed *_Atomic seed;
} generators[HOST_RANDOM_COUNT];

static HostRandomWord *_Atomic twister_next;

void host_random_set(HostRandom which, void *state, void *owner, HostRandomSeed *seed) {
    atomic_store(&generators[which].owner, owner);
    atomic_store(&generators[which].seed, seed);
    atomic_store(&generators[which].state, state);
}

void host_random_set_twister(HostRandomWord *next) { atomic_store(&twister_next, next); }
void *host_random_twister(void) { return &twister_next; }

/* ---- the Mersenne Twister ---- */

static inline uint32_t next_of(uint32_t word, uint32_t after, uint32_t far) {
    uint32_t y = (word & 0x80000000u) | (after & 0x7fffffffu);
    return far ^ (y >> 1) ^ (-(y & 1) & 0x9908b0dfu);
}

/* The loops are whole numbers of vectors. */
void krait_host_twister_turn(uint32_t *words) {
    enum { NEAR = TWISTER_WORDS - TWISTER_MIDDLE, WHOLE = NEAR / 4 * 4, LAST = TWISTER_WORDS - 1 };
    for (int i = 0; i < WHOLE; i++) words[i] = next_of(words[i], words[i + 1], words[i + TWISTER_MIDDLE]);
    for (int i = WHOLE; i < NEAR; i++) words[i] = next_of(words[i], words[i + 1], words[i + TWISTER_MIDDLE]);
    for (int i = NEAR; i < LAST; i++) words[i] = next_of(words[i], words[i + 1], words[i - NEAR]);
    words[LAST] = next_of(words[LAST], words[0], words[LAST - NEAR]);
}

/* ---- streams of parallel loops ---- */

struct HostStream {
    uint64_t words[HOST_RANDOM_COUNT][4];
    Twister
        *seeded[HOST_RANDOM_COUNT]; /* what an iteration has given a seed, which draws as the generator would; NULL */
    BitGenerator bits;
    LegacyState numpy;
};
_Static_assert(sizeof(HostStream) <= HOST_STREAM_BYTES, "room for a stream");

static _Thread_local HostStream *stream; /* of the chunk that runs on this thread; NULL: none */

static uint64_t next_word(void *state) { return stream_word(state); }
static uint32_t next_half(void *state) { return (uint32_t)(stream_word(state) >> 32); }
static double next_double(void *state) { return stream_double(state); }

static uint32_t twister_half(void *mt) { return twister_word(mt); }
static uint64_t twister_raw(void *mt) { return twister_word(mt); }

static uint64_t twister_whole(void *mt) {
    uint64_t high = twister_word(mt);
    return high << 32 | twister_word(mt);
}

static double twister_fraction(void *mt) {
    uint32_t a = twister_word(mt);
    return twister_double(a, twister_word(mt));
}

static void twister_start(Twister *mt, uint32_t seed) {
    for (uint32_t i = 0; i < TWISTER_WORDS; i++) {
        mt->state[i] = seed;
        seed = UINT32_C(1812433253) * (seed ^ (seed >> 30)) + i + 1;
    }
    mt->index = TWISTER_WORDS;
}

/* As random.seed(number): the seed's halves are a key. */
static void twister_start_by_key(Twister *mt, uint64_t number) {
    const uint32_t key[] = {(uint32_t)number, (uint32_t)(number >> 32)};
    uint32_t *s = mt->state, length = key[1] ? 2 : 1, i = 1, j = 0;
    twister_start(mt, 19650218);
    for (uint32_t n = 2 * TWISTER_WORDS - 1; n > 0; n--) {
        bool first = n >= TWISTER_WORDS;
        uint32_t mixed = (s[i - 1] ^ (s[i - 1] >> 30)) * (first ? UINT32_C(1664525) : UINT32_C(1566083941));
        s[i] = (s[i] ^ mixed) + (first ? key[j] + j : -i);
        if (first) j = (j + 1) % length;
        if (++i < TWISTER_WORDS) continue;
        s[0] = s[TWISTER_WORDS - 1];
        i = 1;
    }
    s[0] = 0x80000000u;
}

/* Steele, Lea and Flood: SplitMix64 (2014). */
static void start(uint64_t *words, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        words[i] = z ^ (z >> 31);
    }
}

HostStream *host_stream_enter(void *room, const int64_t *seeds, int64_t chunk) {
    HostStream *own = room, *before = stream;
    for (int which = 0; which < HOST_RANDOM_COUNT; which++) {
        uint64_t mixed[4];
        start(mixed, (uint64_t)seeds[which]);
        start(own->words[which], mixed[0] ^ ((uint64_t)chunk * UINT64_C(0xd1342543de82ef95)));
    }
    for (int which = 0; which < HOST_RANDOM_COUNT; which++) own->seeded[which] = NULL;
    own->bits = (BitGenerator){own->words[HOST_RANDOM_NUMPY], next_word, next_half, next_double, next_word};
    own->numpy = (LegacyState){.bits = &own->bits};
    stream = own;
    return before;
}

void host_stream_leave(HostStream *before) {
    for (int which = 0; which < HOST_RANDOM_COUNT; which++) free(stream->seeded[which]);
    stream = before;
}

/* A seed of the chunk alone, or its own numbers again.  Where there is no memory its numbers begin as the seed
 * says. */
static void seed_stream(HostRandom which, int64_t seed) {
    const bool numpys = which == HOST_RANDOM_NUMPY, given = seed != HOST_SEED_OF_SYSTEM;
    Twister *mt = stream->seeded[which];
    if (numpys) stream->numpy.has_gauss = 0;
    if (given && !mt) mt = stream->seeded[which] = malloc(sizeof *mt);
    if (!given || !mt) {
        free(mt);
        stream->seeded[which] = NULL;
        if (given) start(stream->words[which], (uint64_t)seed);
        if (numpys)
            stream->bits = (BitGenerator){stream->words[HOST_RANDOM_NUMPY], next_word, next_half, next_double,
                                          next_word};
    } else if (numpys) {
        twister_start(mt, (uint32_t)seed);
        stream->bits = (BitGenerator){mt, twister_whole, twister_half, twister_fraction, twister_raw};
    } else {
        twister_start_by_key(mt, (uint64_t)seed);
    }
}

void *krait_host_numpy_stream(void) { return stream ? &stream->numpy : host_random_get(HOST_RANDOM_NUMPY); }
uint64_t *krait_host_stream_words(void) { return stream ? stream->words[HOST_RANDOM_NUMPY] : NULL; }

int32_t krait_host_python_word(uint32_t *word) {
    if (!stream) return 0;
    Twister *mt = stream->seeded[HOST_RANDOM_PYTHON];
    *word = mt ? twister_word(mt) : next_half(stream->words[HOST_RANDOM_PYTHON]);
    return 1;
}

/* ---- the generators ---- */

void *host_random_get(HostRandom which) { return atomic_load(&generators[which].state); }

void krait_host_random_seed(int32_t which, int64_t seed) {
    if (stream) {
        seed_stream((HostRandom)which, seed);
        return;
    }
    HostRandomSeed *function = atomic_load(&generators[which].seed);
    if (function) function(atomic_load(&generators[which].owner), seed);
}
