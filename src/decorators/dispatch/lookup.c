/* lookup.c: from the fingerprint of the arguments' types to specialisations.
 *
 * Open addressing with linear probing.  An entry is written before its fingerprint, a larger table before the pointer
 * to it, so that a reader without a lock sees what is whole.  Arguments of one type may have several fingerprints (two
 * dtype objects that are equal): each gets an entry when it first comes by.  The types themselves are noted in the same
 * table, as even numbers, by who compiles (specialise.c). */
#include "decorators/decorators.h"

#include <stdatomic.h> /* atomic_load_explicit */

enum { FIRST_SIZE = 16 };

uint64_t lookup_fingerprint(const Specialiser *core, PyObject *const *bound) {
    uint64_t fingerprint = 0;
    for (Py_ssize_t i = 0; i < core->binding.nparams; i++)
        fingerprint = marshal_fingerprint(core->marshal, bound[i], fingerprint);
    return fingerprint | 1;
}

static const SpecTable *table_of(const Specialiser *core) {
    return atomic_load_explicit(&core->table, memory_order_acquire);
}

Spec *lookup_next(const Specialiser *core, uint64_t fingerprint, size_t *at) {
    const SpecTable *table = table_of(core);
    for (size_t step = *at; table && step < table->size; step++) {
        const SpecEntry *entry = &table->entries[(fingerprint + step) & (table->size - 1)];
        uint64_t found = atomic_load_explicit(&entry->fingerprint, memory_order_acquire);
        if (!found) return NULL;
        if (found != fingerprint) continue;
        *at = step + 1;
        return entry->spec;
    }
    return NULL;
}

static void insert(SpecTable *table, uint64_t fingerprint, Spec *spec) {
    size_t at = fingerprint & (table->size - 1);
    while (table->entries[at].fingerprint) at = (at + 1) & (table->size - 1);
    table->entries[at].spec = spec;
    atomic_store_explicit(&table->entries[at].fingerprint, fingerprint, memory_order_release);
    table->used++;
}

static SpecTable *larger(const SpecTable *old) {
    size_t size = old ? 2 * old->size : FIRST_SIZE;
    SpecTable *table = PyMem_Calloc(1, sizeof *table + size * sizeof *table->entries);
    if (!table) return NULL;
    table->size = size;
    for (size_t i = 0; old && i < old->size; i++)
        if (old->entries[i].fingerprint) insert(table, old->entries[i].fingerprint, old->entries[i].spec);
    return table;
}

void lookup_note(Specialiser *core, uint64_t fingerprint, Spec *spec) {
    size_t at = 0;
    for (const Spec *known; (known = lookup_next(core, fingerprint, &at)) != NULL;)
        if (known == spec) return;
    SpecTable *table = atomic_load(&core->table);
    if (!table || 2 * table->used >= table->size) {
        SpecTable *grown = larger(table);
        if (!grown) return; /* only slower */
        atomic_store_explicit(&core->table, grown, memory_order_release);
        PyMem_Free(table); /* at once: nobody reads it while this thread has the GIL */
        table = grown;
    }
    insert(table, fingerprint, spec);
}

void lookup_drop(Specialiser *core) {
    core->recent = NULL;
    core->noted = 0;
    PyMem_Free(atomic_exchange(&core->table, NULL));
}
