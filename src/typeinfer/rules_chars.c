/* rules_chars.c: typing rules of elements of dtype S and U: comparison, and what is stored into one.
 *
 * Two of one width are compared in the length of the longer; a str that is known counts as a U of its length.  For all
 * else but being kept, a length and truth, an element is the str, or the bytes, that the interpreter makes of it; and
 * what is stored of those is the element that NumPy makes. */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h"

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

/* ---- elements as str and bytes ---- */

static bool is_plain(const Type *type) { return typing_is_text(type) || type->kind == TY_BYTES; }

static void make_plain(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    if (!type || type->kind != TY_CHARS) return;
    t->args[arg] = (Fact){type_simple(t->in->types, type->flag ? TY_STRING : TY_BYTES), NULL};
    if (!t->emit) return;
    const char *class = type->flag ? "=builtins.str" : "=builtins.bytes";
    Value *args[] = {typing_make_const(t, const_str(t->in->arena, t->in->types, class)), t->values[arg]};
    t->values[arg] = typing_make_func(t, FUNC_CALL_PYTHON, t->args[arg].type, args, COUNT_OF(args));
}

/* Of the attributes of NumPy's scalars an element has those that are about its memory; the others are of its text. */
static bool is_of_scalars(const char *name) {
    static const char *const names[] = {"dtype", "itemsize", "nbytes",  "ndim",  "shape",
                                        "size",  "item",     "tobytes", "tolist"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* int(x), float(x); the functions and methods that take texts, and know no elements. */
static bool takes_plain(const Typing *t) {
    static const char str[] = "builtins.str.", bytes[] = "builtins.bytes";
    const Type *callee = t->args[0].type;
    if (callee->kind != TY_FUNC) return callee->kind == TY_CLASS;
    switch (callee->func->id) {
    case FUNC_ORD:
    case FUNC_ENUMERATE:
    case FUNC_ZIP:
    case FUNC_LIST:
    case FUNC_REVERSED: return true;
    default: break;
    }
    const char *names = func_info[callee->func->id].head.names;
    return strncmp(names, str, sizeof str - 1) == 0 || strncmp(names, bytes, sizeof bytes - 1) == 0;
}

void typing_plain_receiver(Typing *t, const char *names) {
    static const char str[] = "builtins.str.", bytes[] = "builtins.bytes.";
    bool method = strncmp(names, str, sizeof str - 1) == 0 || strncmp(names, bytes, sizeof bytes - 1) == 0;
    if (method && t->nargs && !t->in->device) make_plain(t, 0);
}

bool typing_plain_chars(Typing *t) {
    bool any = false, plain = false, array = false;
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = t->args[i].type;
        any |= type && type->kind == TY_CHARS;
        plain |= type && is_plain(type) && !(type->kind == TY_STR && t->args[i].konst);
        array |= type && type->kind == TY_ARRAY;
    }
    if (!any || t->in->device || array) return true;
    switch (t->op) {
    case OP_GETATTR:
        if (!is_of_scalars(t->text)) make_plain(t, 0);
        return true;
    case OP_GETITEM:
    case OP_ITER:
    case OP_MOD: make_plain(t, 0); return true;
    case OP_CALL:
        for (size_t i = 1; i < t->nargs && takes_plain(t); i++) make_plain(t, i);
        return true;
    case OP_IN:
    case OP_NOT_IN:
        if (!is_plain(t->args[0].type) && !is_plain(t->args[1].type) && t->args[1].type->kind != TY_CHARS) return true;
        break;
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NE:
    case OP_GT:
    case OP_GE:
        if (!plain) return true;
        break;
    case OP_ADD:
    case OP_MUL: break;
    default: return true;
    }
    for (size_t i = 0; i < t->nargs; i++) make_plain(t, i);
    return true;
}

/* maker(1, x, dtype)[0] */
static bool make_chars(Typing *t, size_t arg, const Type *element, const char *maker) {
    const Type *type = t->args[arg].type, *integer = infer_int(t->in);
    if (type->kind != (element->flag ? TY_STRING : TY_BYTES)) return false;
    t->args[arg] = (Fact){element, NULL};
    if (!t->emit) return true;
    const char *dtype = arena_printf(t->in->arena, "%c%u", element->flag ? 'U' : 'S', (unsigned)element->bytes);
    Value *name = typing_make_const(t, const_str(t->in->arena, t->in->types, dtype));
    const Type *line = type_array(t->in->types, element, 1, LAYOUT_C, false);
    Value *args[] = {typing_make_const(t, const_str(t->in->arena, t->in->types, maker)), typing_make_int(t, 1),
                     t->values[arg], typing_make_cast(t, name, type_simple(t->in->types, TY_STRING))};
    Fact facts[] = {{line, NULL}, {integer, const_int(t->in->arena, t->in->types, 0)}}, fact;
    Value *pair[] = {typing_make_func(t, FUNC_CALL_PYTHON, line, args, COUNT_OF(args)), typing_make_int(t, 0)};
    return typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = pair, .facts = facts, .nargs = 2}, &fact,
                      &t->values[arg]);
}

bool typing_store_plain(Typing *t, size_t arg, const Type *element) {
    return make_chars(t, arg, element, "=numpy.full");
}

/* Arrays of them, with each other, with an element or with a str that is known. */
bool typing_compare_char_arrays(Typing *t, const Type *a, const Type *b) {
    for (size_t i = 0; i < 2; i++) {
        const Type *type = i ? b : a, *chars = type->kind == TY_ARRAY ? type_element(type) : chars_of(t, i);
        const Type *other = i ? a : b, *element = other->kind == TY_ARRAY ? type_element(other) : NULL;
        if (!chars && element && element->kind == TY_CHARS && !t->in->device && element->bytes < CHARS_MAX_COUNT) {
            chars = type_chars(t->in->types, element->flag, element->bytes + 1); /* a longer one equals none */
            if (!make_chars(t, i, chars, "=krait._chars.compared")) chars = NULL;
        }
        if (!chars || chars->kind != TY_CHARS) {
            typing_bad_operands(t);
            return typing_hint(t, "compare with a text that is known when the function is compiled, or item by item");
        }
        if (type->kind == TY_STR) TRY(typing_cast_chars(t, i, chars));
    }
    return typing_map_operator(t, typing_ufunc_of(t->op));
}
