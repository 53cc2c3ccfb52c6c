/* strings.c: strings of one character, and strings that are joined.
 *
 * In: a code point, or strings.  Out: a string of it, a list of such, one string of two.  Those of one character of
 * ASCII are made once and never released: to walk a text makes few objects as a rule.  A text that a loop puts together
 * grows where it lies, as a list does: the time goes with its length, not with its square. */
#include "runtime/heap/heap.h"

#include <pthread.h> /* pthread_once */
#include <stddef.h>  /* offsetof */

enum { KEPT_CHARACTERS = 128 };

static struct KeptCharacter {
    _Alignas(HEAP_CONTENT) HeapHead head;
    _Alignas(HEAP_CONTENT) ListBody body;
    uint32_t code;
} kept[KEPT_CHARACTERS];
_Static_assert(offsetof(struct KeptCharacter, body) == HEAP_CONTENT, "the content lies behind the head");
static pthread_once_t kept_once = PTHREAD_ONCE_INIT;

static void make_kept(void) {
    for (uint32_t code = 0; code < KEPT_CHARACTERS; code++) {
        struct KeptCharacter *character = &kept[code];
        character->code = code;
        character->head = (HeapHead){.count = HEAP_FOREVER, .kind = HEAP_LIST, .bytes = sizeof(ListBody)};
        character->body = (ListBody){.length = 1, .items = &character->code, .item_bytes = sizeof character->code};
    }
}

HeapHead *krait_heap_character(uint32_t code) {
    if (code < KEPT_CHARACTERS) {
        pthread_once(&kept_once, make_kept);
        return &kept[code].head;
    }
    HeapHead *object = krait_heap_list(1, sizeof code, NULL, 0);
    if (!object) return NULL;
    ListBody *string = heap_content(object);
    *(uint32_t *)string->items = code;
    string->length = 1;
    return object;
}

HeapHead *krait_heap_characters(const HeapHead *string) {
    static const int32_t first = 0;
    const ListBody *from = (const ListBody *)((const char *)string + HEAP_CONTENT);
    HeapHead *object = krait_heap_list(from->length, sizeof(uintptr_t), &first, 1);
    if (!object) return NULL;
    ListBody *list = heap_content(object);
    for (; list->length < from->length; list->length++) {
        HeapHead *character = krait_heap_character(((const uint32_t *)from->items)[list->length]);
        if (!character) {
            heap_release(object);
            return NULL;
        }
        ((uintptr_t *)list->items)[list->length] = (uintptr_t)character | OWNER_HEAP;
    }
    return object;
}

HeapHead *krait_heap_joined(HeapHead *first, HeapHead *second) {
    const ListBody *x = heap_content(first), *y = heap_content(second);
    if (!x->length || !y->length) {
        HeapHead *same = x->length ? first : second;
        heap_retain(same);
        return same;
    }
    int64_t length;
    if (__builtin_add_overflow(x->length, y->length, &length)) return NULL;
    HeapHead *joined = krait_heap_list(length, x->item_bytes, NULL, 0);
    if (!joined) return NULL;
    krait_heap_list_append_all(joined, first); /* there is room */
    krait_heap_list_append_all(joined, second);
    return joined;
}

HeapHead *krait_heap_grown(HeapHead *first, HeapHead *second) {
    const ListBody *list = heap_content(first);
    if (heap_is_unique(first) && list->length && !list->origin)
        return krait_heap_list_append_all(first, second) ? NULL : first;
    HeapHead *joined = krait_heap_joined(first, second);
    if (joined) heap_release(first);
    return joined;
}
