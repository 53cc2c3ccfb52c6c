/* block_cache.h: small blocks of a GPU's memory that were given back, for the next request of the same size.
 *
 * Everything in it was last used by the default stream and is given to the default stream alone, so the order of that
 * stream is all that a new owner needs.  It has a lock of its own: devices are used without the GIL. */
#ifndef KRAIT_RUNTIME_CUDA_BLOCK_CACHE_H
#define KRAIT_RUNTIME_CUDA_BLOCK_CACHE_H

#include <pthread.h> /* pthread_mutex_t */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHED_BYTES = 1 << 18, CACHE_SETS = 64, CACHE_WAYS = 4 }; /* 64 MiB at most */

typedef struct CachedBlock {
    uint64_t address; /* 0: none */
    size_t bytes;
} CachedBlock;

typedef struct BlockCache {
    pthread_mutex_t lock;
    bool off; /* KRAIT_CUDA_MEMORY_CACHING=0: tools that watch every allocation want to see each */
    CachedBlock sets[CACHE_SETS][CACHE_WAYS]; /* by size; the block that came last is the first */
} BlockCache;

static inline bool block_cache_holds(const BlockCache *cache, size_t bytes) {
    return bytes <= CACHED_BYTES && !cache->off;
}
void block_cache_init(BlockCache *cache);
uint64_t block_cache_take(BlockCache *cache, size_t bytes);                  /* 0: there is none */
uint64_t block_cache_put(BlockCache *cache, uint64_t address, size_t bytes); /* the block that had to go, or 0 */
size_t block_cache_bytes(BlockCache *cache);
uint64_t block_cache_drop(BlockCache *cache); /* any block; 0: it is empty */

#endif
