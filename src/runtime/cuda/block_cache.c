/* block_cache.c: a set-associative table of free blocks: a set by the size, in it the blocks from the last given back
 * to the first.  Sizes are exact, so that tools that watch accesses see where each array ends. */
#include "runtime/cuda/block_cache.h"

#include <stdlib.h> /* getenv */
#include <string.h> /* memmove */

static CachedBlock *set_of(BlockCache *cache, size_t bytes) {
    return cache->sets[(uint64_t)bytes * UINT64_C(0x9E3779B97F4A7C15) >> 58];
}

_Static_assert(CACHE_SETS == 1 << (64 - 58), "the number of a set is the top bits of a product");

void block_cache_init(BlockCache *cache) {
    const char *asked = getenv("KRAIT_CUDA_MEMORY_CACHING");
    cache->off = asked && strcmp(asked, "0") == 0;
    pthread_mutex_init(&cache->lock, NULL);
}

uint64_t block_cache_take(BlockCache *cache, size_t bytes) {
    CachedBlock *set = set_of(cache, bytes);
    uint64_t address = 0;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < CACHE_WAYS && set[i].address; i++) {
        if (set[i].bytes != bytes) continue;
        address = set[i].address;
        memmove(&set[i], &set[i + 1], (CACHE_WAYS - 1 - i) * sizeof *set);
        set[CACHE_WAYS - 1] = (CachedBlock){0};
        break;
    }
    pthread_mutex_unlock(&cache->lock);
    return address;
}

uint64_t block_cache_put(BlockCache *cache, uint64_t address, size_t bytes) {
    CachedBlock *set = set_of(cache, bytes);
    pthread_mutex_lock(&cache->lock);
    uint64_t last = set[CACHE_WAYS - 1].address;
    memmove(&set[1], &set[0], (CACHE_WAYS - 1) * sizeof *set);
    set[0] = (CachedBlock){address, bytes};
    pthread_mutex_unlock(&cache->lock);
    return last;
}

uint64_t block_cache_drop(BlockCache *cache) {
    uint64_t address = 0;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < CACHE_SETS && !address; i++) {
        address = cache->sets[i][0].address;
        memmove(&cache->sets[i][0], &cache->sets[i][1], (CACHE_WAYS - 1) * sizeof **cache->sets);
        cache->sets[i][CACHE_WAYS - 1] = (CachedBlock){0};
    }
    pthread_mutex_unlock(&cache->lock);
    return address;
}

size_t block_cache_bytes(BlockCache *cache) {
    size_t bytes = 0;
    pthread_mutex_lock(&cache->lock);
    for (int set = 0; set < CACHE_SETS; set++)
        for (int way = 0; way < CACHE_WAYS; way++)
            if (cache->sets[set][way].address) bytes += cache->sets[set][way].bytes;
    pthread_mutex_unlock(&cache->lock);
    return bytes;
}
