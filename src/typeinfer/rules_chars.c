/* rules_chars.c: typing rules of elements of dtype S and U: comparison, and what is stored into one.
 *
 * Two of one width are compared in the length of the longer; a str that is known counts as a U of its length. */
#include <string.h> /* strlen */

#include "typeinfer/infer.h"

/* Characters of valid UTF-8. */
static uint32_t count_of(const char *text) {
    uint32_t count = 0;
    for (; *text; text++) count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* The text of a bytes that a kernel knows, of ASCII alone; NULL: it is none. */
static const char *text_of_bytes(const Typing *t, const Const *bytes) {
    if (!bytes || !type_is_bytes(bytes->type)) return NULL;
    char *text = arena_alloc(t->in->arena, bytes->type->count + 1);
    for (uint32_t i = 0; i < bytes->type->count; i++) {
        int64_t number = bytes->items[i]->i;
        if (number <= 0 || number >= 0x80) return NULL;
        text[i] = (char)number;
    }
    text[bytes->type->count] = 0;
    return text;
}

/* The characters that an operand is; NULL: it is none. */
static const Type *chars_of(Typing *t, size_t arg) {
    const Type *type = infer_content(t->args[arg].type);
    if (type->kind == TY_CHARS) return type;
    if (text_of_bytes(t, t->args[arg].konst)) {
        uint32_t length = t->args[arg].type->count;
        return length <= CHARS_MAX_COUNT ? type_chars(t->in->types, false, length ? length : 1) : NULL;
    }
    if (type->kind != TY_STR || !t->args[arg].konst) return NULL;
    uint32_t count = count_of(t->args[arg].konst->text);
    return count <= CHARS_MAX_COUNT ? type_chars(t->in->types, true, count ? count : 1) : NULL;
}

bool typing_cast_chars(Typing *t, size_t arg, const Type *to) {
    const Type *type = chars_of(t, arg);
    if (!type || type->flag != to->flag) return false;
    const char *text = text_of_bytes(t, t->args[arg].konst);
    if (t->args[arg].type->kind != TY_STR && !text) {
        typing_cast(t, arg, to);
        return true;
    }
    const Const *konst = const_chars(t->in->arena, to, text ? text : t->args[arg].konst->text);
    t->args[arg] = (Fact){to, konst};
    if (t->emit) t->values[arg] = typing_make_const(t, konst);
    return true;
}

bool typing_compare_chars(Typing *t, const Type *a, const Type *b) {
    a = chars_of(t, 0);
    b = chars_of(t, 1);
    if (!a || !b || a->flag != b->flag) return typing_bad_operands(t);
    const Type *longer = a->bytes > b->bytes ? a : b;
    if (!typing_cast_chars(t, 0, longer) || !typing_cast_chars(t, 1, longer)) return typing_bad_operands(t);
    return typing_result(t, infer_scalar(t->in, SCALAR_BOOL, true), NULL);
}

/* Arrays of them, with each other, with an element or with a str that is known. */
bool typing_compare_char_arrays(Typing *t, const Type *a, const Type *b) {
    for (size_t i = 0; i < 2; i++) {
        const Type *type = i ? b : a, *chars = type->kind == TY_ARRAY ? type_element(type) : chars_of(t, i);
        if (!chars || chars->kind != TY_CHARS) {
            typing_bad_operands(t);
            return typing_hint(t, "compare with a text that is known when the function is compiled, or item by item");
        }
        if (type->kind == TY_STR) TRY(typing_cast_chars(t, i, chars));
    }
    return typing_map_operator(t, typing_ufunc_of(t->op));
}
