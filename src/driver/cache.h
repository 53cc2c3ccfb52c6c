/* cache.h: compiled code on disk; private to this folder.
 *
 * The key of an entry is made of all that decides about machine code: the module as lowering left it, which holds the
 * function, its callees and what they captured, the options, the target and the processor, and this build of Krait.
 * So nothing is ever out of date: what has changed has another key. */
#ifndef KRAIT_DRIVER_CACHE_H
#define KRAIT_DRIVER_CACHE_H

#include "driver/driver.h" /* Config */

typedef struct CacheKey {
    unsigned char bytes[SHA256_BYTES];
} CacheKey;

/* Whether code is to be kept: the function asks for it, or KRAIT_CACHE=1 asks for all. */
bool cache_wanted(const Config *config);
/* False: there is no cache (switched off, or no folder that is the user's own). */
bool cache_key(CacheKey *key, const Config *config, const char *module_text, Arena *arena);
/* All of a Config that decides about machine code. */
void config_digest(Sha256 *hash, Arena *arena, const Config *config);
/* The image, in the arena; false: there is none, or none that is whole. */
bool cache_load(const CacheKey *key, Arena *arena, CodeImage *image);
/* label: what people read of it.  Failing to store is no failure. */
void cache_store(const CacheKey *key, const CodeImage *image, const char *label);

#endif
