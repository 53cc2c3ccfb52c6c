/* library.c: the functions one module state knows, found by name.
 *
 * In: the rows of functions.def, and rows added while the program runs.  Out: the row of a name.
 * Algorithm: an open-addressed hash table of names, full at first with every name and key of the rows that Krait
 * brings; an added row is memory of its own that never moves, so that types and functions may point to it. */
#include "library/library.h"

#include <pthread.h> /* pthread_mutex_t */
#include <stdlib.h>  /* calloc, free */
#include <string.h>  /* memcmp, strcspn */

enum { AT_FIRST = 8192 }; /* entries; more than twice the names that Krait brings */

typedef struct Entry {
    const char *name; /* NULL: free; not terminated */
    size_t length;
    const FuncInfo *row;
} Entry;

struct Library {
    pthread_mutex_t lock;
    Entry *entries;
    size_t size, used; /* size is a power of two, at least half of it free */
    FuncInfo **added;  /* row FUNC_COUNT + i */
    size_t nadded, capacity;
};

/* Eight bytes at a time: a process that starts asks for some thousands. */
static size_t hash_name(const char *name, size_t length) {
    uint64_t hash = length, word;
    for (; length >= sizeof word; name += sizeof word, length -= sizeof word) {
        memcpy(&word, name, sizeof word);
        hash = hash_mix(hash, word);
    }
    word = 0;
    for (size_t i = 0; i < length; i++) word = word << 8 | (unsigned char)name[i];
    hash = hash_mix(hash, word);
    return (size_t)(hash ^ hash >> 32);
}

static Entry *find_entry(const Entry *entries, size_t size, const char *name, size_t length) {
    size_t at = hash_name(name, length) & (size - 1);
    while (entries[at].name && (entries[at].length != length || memcmp(entries[at].name, name, length) != 0))
        at = (at + 1) & (size - 1);
    return (Entry *)&entries[at];
}

static bool reserve(Library *library) {
    if (library->used * 2 < library->size) return true;
    size_t size = library->size ? library->size * 2 : AT_FIRST;
    Entry *entries = calloc(size, sizeof *entries);
    if (!entries) return false;
    for (size_t i = 0; i < library->size; i++) {
        const Entry *old = &library->entries[i];
        if (old->name) *find_entry(entries, size, old->name, old->length) = *old;
    }
    free(library->entries);
    library->entries = entries;
    library->size = size;
    return true;
}

/* The first row that has a name keeps it. */
static bool put(Library *library, const char *name, size_t length, const FuncInfo *row) {
    if (!length) return true;
    if (!reserve(library)) return false;
    Entry *entry = find_entry(library->entries, library->size, name, length);
    if (entry->name) return true;
    library->used++;
    *entry = (Entry){name, length, row};
    return true;
}

static bool put_row(Library *library, const FuncInfo *row) {
    for (const char *at = row->head.names; *at;) {
        size_t length = strcspn(at, " ");
        TRY(put(library, at, length, row));
        at += length + strspn(at + length, " ");
    }
    return put(library, row->head.key, strlen(row->head.key), row);
}

Library *library_new(void) {
    Library *library = calloc(1, sizeof *library);
    if (!library) return NULL;
    pthread_mutex_init(&library->lock, NULL);
    for (FuncId id = FUNC_NONE + 1; id < FUNC_COUNT; id++) {
        if (put_row(library, &func_info[id])) continue;
        library_free(library);
        return NULL;
    }
    return library;
}

void library_free(Library *library) {
    if (!library) return;
    for (size_t i = 0; i < library->nadded; i++) free(library->added[i]);
    free(library->added);
    free(library->entries);
    pthread_mutex_destroy(&library->lock);
    free(library);
}

const FuncInfo *library_find(const Library *library, const char *name, size_t length) {
    Library *locked = (Library *)library;
    if (!length) return NULL;
    pthread_mutex_lock(&locked->lock);
    const FuncInfo *row = find_entry(library->entries, library->size, name, length)->row;
    pthread_mutex_unlock(&locked->lock);
    return row;
}

const FuncHead *library_find_head(void *library, const char *name, size_t length) {
    const FuncInfo *row = library_find(library, name, length);
    return row ? &row->head : NULL;
}

const FuncInfo *library_row(const Library *library, FuncId id) {
    Library *locked = (Library *)library;
    if (id < FUNC_COUNT) return id == FUNC_NONE ? NULL : &func_info[id];
    pthread_mutex_lock(&locked->lock);
    const FuncInfo *row = id - FUNC_COUNT < library->nadded ? library->added[id - FUNC_COUNT] : NULL;
    pthread_mutex_unlock(&locked->lock);
    return row;
}

/* A row and its texts in one piece of memory. */
static FuncInfo *new_row(FuncId id, const char *name, ObjRef function, const char *doc) {
    size_t name_bytes = strlen(name) + 1, doc_bytes = strlen(doc) + 1;
    FuncInfo *row = calloc(1, sizeof *row + name_bytes + doc_bytes);
    if (!row) return NULL;
    char *own_name = (char *)(row + 1), *own_doc = own_name + name_bytes;
    memcpy(own_name, name, name_bytes);
    memcpy(own_doc, doc, doc_bytes);
    row->head = (FuncHead){
        .id = id, .key = own_name, .names = own_name, .least = 0, .most = FUNC_MANY, .effects = "RWX"};
    row->library = LIBRARY_ADDED;
    row->how = HOW_PYTHON;
    row->object = function;
    row->doc = own_doc;
    return row;
}

static const FuncInfo *add(Library *library, const char *name, ObjRef function, const char *doc, bool *taken) {
    *taken = library->size && find_entry(library->entries, library->size, name, strlen(name))->name;
    if (*taken) return NULL;
    if (library->nadded == library->capacity) {
        size_t capacity = library->capacity ? library->capacity * 2 : 8;
        FuncInfo **added = realloc(library->added, capacity * sizeof *added);
        if (!added) return NULL;
        library->added = added;
        library->capacity = capacity;
    }
    FuncInfo *row = new_row((FuncId)(FUNC_COUNT + library->nadded), name, function, doc);
    if (!row || !put_row(library, row)) {
        free(row);
        return NULL;
    }
    return library->added[library->nadded++] = row;
}

const FuncInfo *library_add(Library *library, const char *name, ObjRef function, const char *doc, bool *taken) {
    pthread_mutex_lock(&library->lock);
    const FuncInfo *row = add(library, name, function, doc, taken);
    pthread_mutex_unlock(&library->lock);
    return row;
}
