/* hash_index.c: finds the items of a growing list by hash.
 *
 * In: the hash of each item, in the order of the list.  Out: the numbers of the items with a given hash, newest first;
 * which of them is meant, the caller sees by looking at the item.  Chains through arrays: the head of each chain by
 * the low bits of the hash, the next item by the item's number; the heads are made anew, twice as many, when there are
 * as many items. */
#include "base/base.h"

enum { FIRST_HEADS = 16 };

static void link_item(HashIndex *index, uint32_t item) {
    uint32_t *head = &index->heads[index->links.data[item].hash & (index->nheads - 1)];
    index->links.data[item].next = *head;
    *head = item;
}

static void grow_heads(HashIndex *index, Arena *arena) {
    index->nheads = index->nheads ? 2 * index->nheads : FIRST_HEADS;
    index->heads = ARENA_ARRAY(arena, uint32_t, index->nheads);
    for (size_t i = 0; i < index->nheads; i++) index->heads[i] = HASH_INDEX_END;
    for (size_t i = 0; i < index->links.len; i++) link_item(index, (uint32_t)i);
}

void hash_index_add(HashIndex *index, Arena *arena, uint64_t hash) {
    if (index->links.len == index->nheads) grow_heads(index, arena);
    vec_push(arena, &index->links, (HashLink){hash, HASH_INDEX_END});
    link_item(index, (uint32_t)index->links.len - 1);
}

/* The first item of the chain from `item` on that has this hash. */
static uint32_t first_from(const HashIndex *index, uint32_t item, uint64_t hash) {
    while (item != HASH_INDEX_END && index->links.data[item].hash != hash) item = index->links.data[item].next;
    return item;
}

uint32_t hash_index_first(const HashIndex *index, uint64_t hash) {
    return index->nheads ? first_from(index, index->heads[hash & (index->nheads - 1)], hash) : HASH_INDEX_END;
}

uint32_t hash_index_next(const HashIndex *index, uint32_t item) {
    return first_from(index, index->links.data[item].next, index->links.data[item].hash);
}
