/* strings.c: strings of one character, strings that are joined, and those that are compared.
 *
 * In: a code point, or strings.  Out: a string of it, a list of such, one string of two.  Those of one character of
 * ASCII are made once and never released: to walk a text makes few objects as a rule.  A text that a loop puts together
 * grows where it lies, as a list does: the time goes with its length, not with its square. */
#include "runtime/heap/heap.h"

#include <pthread.h> /* pthread_once */
#include <stddef.h>  /* offsetof */
#include <string.h>  /* memcmp */

enum { KEPT_CHARACTERS = 128 };

static struct KeptCharacter {
    _Alignas(HEAP_CONTENT) HeapHead head;
    _Alignas(HEAP_CONTENT) ListBody body;
    uint32_t code;
} kept[KEPT_CHARACTERS];
_Static_assert(offsetof(struct KeptCharacter, body) == HEAP_CONTENT, "the content lies behind the head");
static pthread_once_t kept_once = PTHREAD_ONCE_INIT;

static const ListBody *body_of(const HeapHead *string) {
    return (const ListBody *)((const char *)string + HEAP_CONTENT);
}

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
    const ListBody *from = body_of(string);
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

/* Of two texts of one kind, the first items that are the same, as far as `length`: words at a time. */
static int64_t common_items(const char *x, const char *y, int64_t length, int32_t item_bytes) {
    enum { WORD = 16 };
    int64_t bytes = length * item_bytes, at = 0;
    while (at + WORD <= bytes && memcmp(x + at, y + at, WORD) == 0) at += WORD;
    while (at < bytes && x[at] == y[at]) at++;
    return at / item_bytes;
}

int32_t krait_heap_lies_at(const HeapHead *string, const HeapHead *part, int64_t at) {
    const ListBody *x = body_of(string), *y = body_of(part);
    if (at < 0 || at > x->length || y->length > x->length - at) return 0;
    size_t bytes = (size_t)(y->length * y->item_bytes);
    return !bytes || memcmp((const char *)x->items + at * x->item_bytes, y->items, bytes) == 0;
}

int64_t krait_heap_order(const HeapHead *first, const HeapHead *second) {
    const ListBody *x = body_of(first), *y = body_of(second);
    int64_t length = x->length < y->length ? x->length : y->length;
    int64_t same = common_items(x->items, y->items, length, x->item_bytes);
    if (same == length) return (x->length > y->length) - (x->length < y->length);
    if (x->item_bytes == sizeof(uint8_t)) return ((const uint8_t *)x->items)[same] - ((const uint8_t *)y->items)[same];
    uint32_t a = ((const uint32_t *)x->items)[same], b = ((const uint32_t *)y->items)[same];
    return (a > b) - (a < b);
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
