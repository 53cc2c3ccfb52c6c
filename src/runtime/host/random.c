/* random.c: where the states lie that compiled code draws random numbers from.
 *
 * In: the addresses that decorators/random.c found in NumPy's and the standard library's objects, which live as long as
 * the process.  Out: the same, to the linker of compiled code (codegen_cpu/symbols.c), and new seeds.
 *
 * In a parallel loop each chunk of iterations draws from a stream of its own, which begins where the loop's seed (drawn
 * from the generator itself) and the chunk's number say: what is drawn does not depend on the number of threads. */
#include <stdatomic.h>

#include "runtime/host/host.h" /* HostRandom */

static struct {
    void *_Atomic state;
    void *_Atomic owner;
    HostRandomSeed *_Atomic seed;
} generators[HOST_RANDOM_COUNT];

void host_random_set(HostRandom which, void *state, void *owner, HostRandomSeed *seed) {
    atomic_store(&generators[which].owner, owner);
    atomic_store(&generators[which].seed, seed);
    atomic_store(&generators[which].state, state);
}

/* ---- streams of parallel loops ---- */

struct HostStream {
    uint64_t words[HOST_RANDOM_COUNT][4];
    BitGenerator bits;
    LegacyState numpy;
};
_Static_assert(sizeof(HostStream) <= HOST_STREAM_BYTES, "room for a stream");

static _Thread_local HostStream *stream; /* of the chunk that runs on this thread; NULL: none */

static uint64_t next_word(void *state) { return stream_word(state); }
static uint32_t next_half(void *state) { return (uint32_t)(stream_word(state) >> 32); }
static double next_double(void *state) { return stream_double(state); }

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
    own->bits = (BitGenerator){own->words[HOST_RANDOM_NUMPY], next_word, next_half, next_double, next_word};
    own->numpy = (LegacyState){.bits = &own->bits};
    stream = own;
    return before;
}

void host_stream_leave(HostStream *before) { stream = before; }

void *krait_host_numpy_stream(void) { return stream ? &stream->numpy : host_random_get(HOST_RANDOM_NUMPY); }
uint64_t *krait_host_stream_words(void) { return stream ? stream->words[HOST_RANDOM_NUMPY] : NULL; }

int32_t krait_host_python_word(uint32_t *word) {
    if (!stream) return 0;
    *word = next_half(stream->words[HOST_RANDOM_PYTHON]);
    return 1;
}

/* ---- the generators ---- */

void *host_random_get(HostRandom which) { return atomic_load(&generators[which].state); }

void krait_host_random_seed(int32_t which, int64_t seed) {
    if (stream) { /* of the chunk alone */
        start(stream->words[which], (uint64_t)seed);
        stream->numpy.has_gauss = 0;
        return;
    }
    HostRandomSeed *function = atomic_load(&generators[which].seed);
    if (function) function(atomic_load(&generators[which].owner), seed);
}
