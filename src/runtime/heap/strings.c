/* strings.c: strings of one character.
 *
 * In: a code point, or a string.  Out: a string of it, a list of such.  Those of ASCII are made once and never
 * released: to walk a text makes few objects as a rule. */
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
