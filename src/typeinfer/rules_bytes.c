/* rules_bytes.c: typing rules of bytes and strings that kernels know.
 *
 * A bytes is the tuple of its numbers, of the class bytes (frontend/constants.c): most rules are those of tuples.  A
 * string is a constant: its characters are strings that are known, where the index is, and a loop over it becomes its
 * rounds. */
#include <string.h> /* strstr */

#include "typeinfer/rules.h"

enum { MAX_REPEATED = 4096 };

/* ---- bytes ---- */

bool typing_become_bytes(Typing *t, const Type *like, const Items *items) {
    Fact fact = typing_tuple_fact(t->in, items->facts, items->count);
    const char **names = ARENA_ARRAY(t->in->arena, const char *, items->count);
    for (size_t i = 0; i < items->count; i++) names[i] = "";
    const Type *type = type_named_tuple(t->in->types, like->object, like->title, names, fact.type->items, items->count);
    if (fact.konst) t->konst = const_typed_tuple(t->in->arena, type, fact.konst->items);
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, type, items->values, items->count) : NULL, type);
}

bool typing_repeat_bytes(Typing *t) {
    size_t at = type_is_bytes(t->args[0].type) ? 0 : 1;
    const Type *type = t->args[at].type, *other = t->args[1 - at].type;
    bool adds = t->op == OP_ADD && type_is_bytes(other), repeats = t->op == OP_MUL && type_is_integer(other);
    int64_t times = 1;
    if (!adds && !repeats) return typing_bad_operands(t);
    if (repeats) TRY(typing_const_int(t, 1 - at, &times));
    if (times < 0) times = 0;
    if (type->count && times > MAX_REPEATED / (int64_t)type->count)
        return typing_fail(t, DIAG_UNSUPPORTED, "a bytes of more than %d numbers", MAX_REPEATED);
    Items items = typing_items_new(t->in, type->count * (size_t)times + (adds ? other->count : 0));
    for (int64_t i = 0; i < times; i++)
        typing_items_add(t, &items, adds ? 0 : at, 0, t->args[adds ? 0 : at].type->count);
    if (adds) typing_items_add(t, &items, 1, 0, t->args[1].type->count);
    return typing_become_bytes(t, type, &items);
}

/* ---- strings ---- */

static uint32_t bytes_of_character(const char *text) {
    unsigned char first = (unsigned char)*text;
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* Of valid UTF-8. */
static uint32_t characters_of(const char *text) {
    uint32_t count = 0;
    for (; *text; text += bytes_of_character(text)) count++;
    return count;
}

static const char *known_text(const Typing *t, size_t arg) {
    const Const *konst = t->args[arg].type->kind == TY_STR ? t->args[arg].konst : NULL;
    return t->in->device && konst ? konst->text : NULL;
}

bool typing_walk_known(Typing *t, size_t arg) {
    const char *text = known_text(t, arg);
    return text && typing_ask_rounds(t, characters_of(text));
}

/* text[i] */
bool typing_known_character(Typing *t, bool *known) {
    const char *text = known_text(t, 0);
    int64_t index, count = text ? characters_of(text) : 0;
    *known = text && typing_konst_is_int(t->args[1].konst, &index);
    if (!*known) return true;
    if (index < -count || index >= count)
        return typing_fail(t, DIAG_BAD_INDEX, "index %lld is out of range for a string of %lld characters",
                           (long long)index, (long long)count);
    for (index += index < 0 ? count : 0; index > 0; index--) text += bytes_of_character(text);
    const char *character = arena_strndup(t->in->arena, text, bytes_of_character(text));
    return typing_become_const(t, const_str(t->in->arena, t->in->types, character));
}

/* part in text */
bool typing_known_contains(Typing *t, bool *known) {
    const char *part = known_text(t, 0), *text = known_text(t, 1);
    *known = part && text;
    if (!*known) return true;
    bool found = strstr(text, part) != NULL;
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, found == (t->op == OP_IN)));
}
