/* near_names.c: which name was probably meant, where a value has no attribute, or a function no parameter, of a name.
 *
 * In: the name, and those there are.  Out: the one that is the same but for capitals, or else the nearest one, by the
 * characters to be put in, left out, changed or exchanged with their neighbour; a third of them at most. */
#include <ctype.h>  /* tolower */
#include <string.h> /* strcspn, strncmp, strlen, strspn */

#include "typeinfer/infer.h"

enum { LONGEST = 40 }; /* characters of a name that is compared */

typedef struct Nearest {
    const char *name;
    const char *best;
    size_t length, most; /* the changes of the best, or more than are taken */
} Nearest;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t changes(const char *a, size_t na, const char *b, size_t nb) {
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= nb; j++) rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            bool exchanged = i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                             tolower((unsigned char)a[i - 2]) == y;
            if (exchanged) row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

static Nearest nearest_to(const char *name) {
    size_t length = strlen(name);
    return (Nearest){name, NULL, length, (length + 1) / 3 + 1};
}

static void offer(Nearest *nearest, Arena *arena, const char *name, size_t length) {
    if (!length || length > LONGEST || nearest->length > LONGEST || *name == '_' || *name == '.') return;
    if (length == nearest->length && strncmp(name, nearest->name, length) == 0)
        return; /* which others of the kind have */
    size_t count = changes(nearest->name, nearest->length, name, length);
    if (count >= nearest->most) return;
    nearest->most = count;
    nearest->best = arena_printf(arena, "%.*s", (int)length, name);
}

static bool hint_nearest(Typing *t, const Nearest *nearest) {
    if (!nearest->best) return false;
    typing_hint(t, "did you mean '%s'?", nearest->best);
    return true;
}

bool typing_hint_near(Typing *t, const char *name, const char *const *names, size_t count) {
    if (t->in->quiet) return false;
    Nearest nearest = nearest_to(name);
    for (size_t i = 0; i < count; i++)
        if (names[i]) offer(&nearest, t->in->arena, names[i], strlen(names[i]));
    return hint_nearest(t, &nearest);
}

/* Methods, the rows whose names start with that of the class and a dot. */
static void offer_methods(Nearest *nearest, Arena *arena, const char *class_name) {
    size_t prefix = strlen(class_name);
    for (FuncId id = FUNC_NONE + 1; id < FUNC_COUNT; id++)
        for (const char *at = func_info[id].head.names; at && *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            if (length > prefix && strncmp(at, class_name, prefix) == 0 && at[prefix] == '.')
                offer(nearest, arena, at + prefix + 1, length - prefix - 1);
            at += length;
        }
}

bool typing_hint_near_attribute(Typing *t, const Type *type, const char *class_name) {
    if (t->in->quiet) return false;
    Nearest nearest = nearest_to(t->text);
    for (size_t i = 0; i < ATTR_COUNT; i++)
        if (attr_info[i].kind == type->kind)
            offer(&nearest, t->in->arena, attr_info[i].name, strlen(attr_info[i].name));
    for (uint32_t i = 0; type->names && i < type->count; i++)
        offer(&nearest, t->in->arena, type->names[i], strlen(type->names[i]));
    if (class_name) offer_methods(&nearest, t->in->arena, class_name);
    return hint_nearest(t, &nearest);
}
