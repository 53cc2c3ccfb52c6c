/* const.c: constants: made, compared, printed and read (the forms are listed in ir.h). */
#include "ir/ir.h"

#include <ctype.h>  /* isdigit */
#include <errno.h>  /* errno */
#include <locale.h> /* localeconv */
#include <math.h>   /* isfinite */
#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* strtod */
#include <string.h> /* memcmp */

static Const *const_new(Arena *arena, const Type *type) {
    Const *konst = ARENA_NEW(arena, Const);
    konst->type = type;
    return konst;
}

const Const *const_of(Arena *arena, const Type *type) { return const_new(arena, type); }

const Const *const_int(Arena *arena, TypeTable *types, int64_t value) {
    Const *konst = const_new(arena, type_scalar(types, SCALAR_INT64, true));
    konst->i = value;
    return konst;
}

const Const *const_bool(Arena *arena, TypeTable *types, bool value) {
    Const *konst = const_new(arena, type_scalar(types, SCALAR_BOOL, true));
    konst->i = value;
    return konst;
}

const Const *const_float(Arena *arena, TypeTable *types, double value) {
    Const *konst = const_new(arena, type_scalar(types, SCALAR_FLOAT64, true));
    konst->f = value;
    return konst;
}

const Const *const_complex(Arena *arena, TypeTable *types, double re, double im) {
    Const *konst = const_new(arena, type_scalar(types, SCALAR_COMPLEX128, true));
    konst->c.re = re;
    konst->c.im = im;
    return konst;
}

const Const *const_str(Arena *arena, TypeTable *types, const char *text) {
    Const *konst = const_new(arena, type_simple(types, TY_STR));
    konst->text = arena_strdup(arena, text);
    return konst;
}

const Const *const_none(Arena *arena, TypeTable *types) { return const_new(arena, type_simple(types, TY_NONE)); }

static const Const *const_items(Arena *arena, const Type *type, const Const *const *items, size_t count) {
    Const *konst = const_new(arena, type);
    const Const **copy = ARENA_ARRAY(arena, const Const *, count);
    if (count) memcpy(copy, items, count * sizeof *copy);
    konst->items = copy;
    return konst;
}

static const Type **item_types(Arena *arena, const Const *const *items, size_t count) {
    const Type **types = ARENA_ARRAY(arena, const Type *, count);
    for (size_t i = 0; i < count; i++) types[i] = items[i]->type;
    return types;
}

const Const *const_tuple(Arena *arena, TypeTable *types, const Const *const *items, size_t count) {
    const Type *type = type_tuple(types, item_types(arena, items, count), count);
    return const_items(arena, type, items, count);
}

const Const *const_typed_tuple(Arena *arena, const Type *type, const Const *const *items) {
    return const_items(arena, type, items, type->count);
}

const Const *const_enum(Arena *arena, const Type *type, int64_t value) {
    Const *konst = const_new(arena, type);
    konst->i = value;
    return konst;
}

const Const *const_chars(Arena *arena, const Type *type, const char *text) {
    Const *konst = const_new(arena, type);
    konst->text = text;
    return konst;
}

/* ---- comparing ---- */

size_t const_item_count(const Const *konst) {
    switch (konst->type->kind) {
    case TY_TUPLE:
    case TY_TEXT:
    case TY_SLICE: return konst->items ? konst->type->count : 0;
    case TY_RANGE: return konst->items ? 3 : 0;
    default: return 0;
    }
}

bool const_equal(const Const *a, const Const *b) {
    if (a == b) return true;
    if (!a || !b || a->type != b->type || a->too_big != b->too_big) return false;
    switch (a->type->kind) {
    case TY_SCALAR:
        switch (scalar_info[a->type->scalar].kind) {
        case 'f': return memcmp(&a->f, &b->f, sizeof a->f) == 0;
        case 'c': return memcmp(&a->c, &b->c, sizeof a->c) == 0;
        default: return a->i == b->i;
        }
    case TY_MEMBER:
    case TY_TIME: return a->i == b->i;
    case TY_CHARS:
    case TY_STR: return strcmp(a->text, b->text) == 0;
    case TY_ARRAY:
        return a->array == b->array ||
               (a->array && b->array && a->array->object == b->array->object && a->array->data == b->array->data);
    default: break;
    }
    size_t count = const_item_count(a);
    if (count != const_item_count(b)) return false;
    for (size_t i = 0; i < count; i++)
        if (!const_equal(a->items[i], b->items[i])) return false;
    return true;
}

/* ---- printing ---- */

/* A short decimal text that reads back as the same double, whatever the locale; never taken for an integer. */
static void print_double(Buf *buf, double value) {
    if (!isfinite(value)) {
        buf_puts(buf, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    bool plain = true;
    for (const char *at = text; *at; at++) {
        bool ours = isdigit((unsigned char)*at) || *at == '-' || *at == '+';
        if (!ours) plain = false;
        if (ours || *at == 'e')
            buf_putc(buf, *at);
        else if (isdigit((unsigned char)at[-1]))
            buf_putc(buf, '.'); /* what the locale writes there, maybe some bytes */
    }
    if (plain) buf_puts(buf, ".0");
}

static void print_string(Buf *buf, const char *text) {
    buf_putc(buf, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buf_printf(buf, "\\%c", c);
        else if (c == '\n')
            buf_puts(buf, "\\n");
        else if (c < 0x20 || c == 0x7F)
            buf_printf(buf, "\\x%02x", c);
        else
            buf_putc(buf, (char)c);
    }
    buf_putc(buf, '"');
}

static void print_numbers(Buf *buf, const int64_t *numbers, unsigned count) {
    for (unsigned i = 0; i < count; i++) buf_printf(buf, "%s%lld", i ? ", " : "", (long long)numbers[i]);
}

static void print_scalar(Buf *buf, const Const *konst) {
    const Type *type = konst->type;
    char kind = scalar_info[type->scalar].kind;
    bool bare = type->weak && kind != 'c' && !konst->too_big && !type->object; /* 1, 2.5, True */
    if (!bare) {
        type_print(buf, type);
        buf_putc(buf, '(');
    }
    if (konst->too_big) {
        buf_puts(buf, "too_big");
    } else if (kind == 'f') {
        print_double(buf, konst->f);
    } else if (kind == 'c') {
        print_double(buf, konst->c.re);
        buf_puts(buf, ", ");
        print_double(buf, konst->c.im);
    } else if (kind == 'b') {
        buf_puts(buf, konst->i ? "True" : "False");
    } else if (kind == 'u') {
        buf_printf(buf, "%llu", (unsigned long long)konst->i);
    } else {
        buf_printf(buf, "%lld", (long long)konst->i);
    }
    if (!bare) buf_putc(buf, ')');
}

static void print_items(Buf *buf, const char *before, const Const *konst) {
    size_t count = const_item_count(konst);
    buf_printf(buf, "%s(", before);
    for (size_t i = 0; i < count; i++) {
        if (i) buf_puts(buf, ", ");
        const_print(buf, konst->items[i]);
    }
    buf_puts(buf, count == 1 && !*before ? ",)" : ")");
}

void const_print(Buf *buf, const Const *konst) {
    switch (konst->type->kind) {
    case TY_SCALAR: print_scalar(buf, konst); return;
    case TY_MEMBER:
    case TY_TIME:
        type_print(buf, konst->type);
        buf_printf(buf, "(%lld)", (long long)konst->i);
        return;
    case TY_CHARS:
        type_print(buf, konst->type);
        buf_putc(buf, '(');
        print_string(buf, konst->text);
        buf_putc(buf, ')');
        return;
    case TY_STR: print_string(buf, konst->text); return;
    case TY_TUPLE:
        if (konst->type->object) type_print(buf, konst->type);
        print_items(buf, "", konst);
        return;
    case TY_SLICE: print_items(buf, "slice", konst); return;
    case TY_RANGE: print_items(buf, "range", konst); return;
    case TY_ARRAY:
        type_print(buf, konst->type);
        if (!konst->array) return;
        buf_putc(buf, '[');
        print_numbers(buf, konst->array->shape, konst->type->ndim);
        buf_puts(buf, "; ");
        print_numbers(buf, konst->array->strides, konst->type->ndim);
        buf_printf(buf, "]@%u", (unsigned)konst->array->object);
        return;
    default: type_print(buf, konst->type); return;
    }
}

/* ---- parsing ---- */

typedef struct ConstParser {
    Arena *arena;
    TypeTable *types;
    const char *at;
    int depth;
} ConstParser;

enum { CONST_MAX_DEPTH = 100 };
typedef VEC(const Const *) ConstList;

static const Const *parse_const(ConstParser *parser);

static void skip_space(ConstParser *parser) {
    while (*parser->at == ' ' || *parser->at == '\t') parser->at++;
}

static bool accept(ConstParser *parser, char c) {
    skip_space(parser);
    if (*parser->at != c) return false;
    parser->at++;
    return true;
}

static bool accept_word(ConstParser *parser, const char *word) {
    skip_space(parser);
    size_t length = strlen(word);
    if (strncmp(parser->at, word, length) != 0) return false;
    char after = parser->at[length];
    if (isalnum((unsigned char)after) || after == '_' || after == '.') return false;
    parser->at += length;
    return true;
}

/* How many characters of the text make a number, and whether it is a float's. */
static size_t number_length(const char *text, bool *is_float) {
    size_t at = text[0] == '-' || text[0] == '+';
    *is_float = false;
    if (strncmp(text + at, "inf", 3) == 0 || strncmp(text + at, "nan", 3) == 0) {
        *is_float = true;
        return isalnum((unsigned char)text[at + 3]) || text[at + 3] == '_' ? 0 : at + 3;
    }
    if (!isdigit((unsigned char)text[at])) return 0;
    for (;; at++) {
        char c = text[at];
        if (c == '.' || c == 'e')
            *is_float = true;
        else if ((c == '-' || c == '+') && text[at - 1] == 'e')
            continue;
        else if (!isdigit((unsigned char)c))
            return at;
    }
}

static bool parse_double(ConstParser *parser, double *value) {
    skip_space(parser);
    bool is_float;
    size_t length = number_length(parser->at, &is_float);
    char text[400];
    size_t out = 0;
    TRY(length && length < sizeof text / 2);
    for (size_t i = 0; i < length; i++) {
        const char *point = parser->at[i] == '.' ? localeconv()->decimal_point : NULL;
        for (; point && *point && out < sizeof text - 1; point++) text[out++] = *point;
        if (!point) text[out++] = parser->at[i];
    }
    text[out] = 0;
    char *end;
    *value = strtod(text, &end);
    parser->at += length;
    return *end == 0;
}

static bool parse_int(ConstParser *parser, bool is_signed, int64_t *value) {
    skip_space(parser);
    bool is_float;
    size_t length = number_length(parser->at, &is_float);
    TRY(length && !is_float);
    errno = 0;
    *value = is_signed ? (int64_t)strtoll(parser->at, NULL, 10) : (int64_t)strtoull(parser->at, NULL, 10);
    TRY(errno == 0);
    parser->at += length;
    return true;
}

static bool parse_numbers(ConstParser *parser, int64_t *numbers, unsigned count) {
    for (unsigned i = 0; i < count; i++) TRY((i == 0 || accept(parser, ',')) && parse_int(parser, true, &numbers[i]));
    return true;
}

static const Const *parse_array(ConstParser *parser, const Type *type) {
    ArrayConst *array = ARENA_NEW(parser->arena, ArrayConst);
    int64_t *shape = ARENA_ARRAY(parser->arena, int64_t, type->ndim);
    int64_t *strides = ARENA_ARRAY(parser->arena, int64_t, type->ndim);
    int64_t object;
    array->shape = shape;
    array->strides = strides;
    TRY(parse_numbers(parser, shape, type->ndim) && accept(parser, ';'));
    TRY(parse_numbers(parser, strides, type->ndim) && accept(parser, ']'));
    TRY(accept(parser, '@') && parse_int(parser, true, &object));
    array->object = (ObjRef)object;
    Const *konst = const_new(parser->arena, type);
    konst->array = array;
    return konst;
}

static const Const *parse_string(ConstParser *parser) {
    Buf buf;
    buf_init(&buf, parser->arena);
    buf_puts(&buf, "");
    while (*parser->at != '"') {
        char c = *parser->at++;
        TRY(c);
        if (c == '\\') {
            c = *parser->at++;
            if (c == 'n') {
                c = '\n';
            } else if (c == 'x') {
                char digits[3] = {parser->at[0], parser->at[0] ? parser->at[1] : 0, 0}, *end;
                c = (char)strtoul(digits, &end, 16);
                TRY(c && end == digits + 2);
                parser->at += 2;
            } else {
                TRY(c == '"' || c == '\\');
            }
        }
        buf_putc(&buf, c);
    }
    parser->at++;
    return const_str(parser->arena, parser->types, buf.text);
}

/* The rest of a list after "("; *comma_last as in a tuple of one. */
static bool parse_list(ConstParser *parser, ConstList *list, bool *comma_last) {
    *comma_last = false;
    while (!accept(parser, ')')) {
        TRY(list->len == 0 || *comma_last);
        const Const *item = parse_const(parser);
        TRY(item);
        vec_push(parser->arena, list, item);
        *comma_last = accept(parser, ',');
    }
    return true;
}

/* name "(" value ")": a strong scalar, a complex, an integer that is too big; the type and "(" have been read. */
static const Const *parse_typed_scalar(ConstParser *parser, const Type *type) {
    Const *konst = const_new(parser->arena, type);
    switch (scalar_info[type->scalar].kind) {
    case 'f': TRY(parse_double(parser, &konst->f)); break;
    case 'c':
        TRY(parse_double(parser, &konst->c.re) && accept(parser, ',') && parse_double(parser, &konst->c.im));
        break;
    case 'b':
        konst->i = accept_word(parser, "True");
        TRY(konst->i || accept_word(parser, "False"));
        break;
    default:
        konst->too_big = accept_word(parser, "too_big");
        TRY(konst->too_big || parse_int(parser, scalar_info[type->scalar].kind == 'i', &konst->i));
        break;
    }
    TRY(accept(parser, ')'));
    return konst;
}

static const Const *parse_chars(ConstParser *parser, const Type *type) {
    const Const *text = parse_string(parser);
    TRY(text && accept(parser, ')'));
    return const_chars(parser->arena, type, text->text);
}

static const Const *parse_time(ConstParser *parser, const Type *type) {
    Const *konst = const_new(parser->arena, type);
    TRY(parse_int(parser, true, &konst->i) && accept(parser, ')'));
    return konst;
}

static const Const *parse_number(ConstParser *parser, bool is_float) {
    if (is_float) {
        double value;
        return parse_double(parser, &value) ? const_float(parser->arena, parser->types, value) : NULL;
    }
    int64_t value;
    return parse_int(parser, true, &value) ? const_int(parser->arena, parser->types, value) : NULL;
}

/* slice(0, None, None) and range(0, 10, 1), whose items are values, not types. */
static const Const *parse_triple(ConstParser *parser, bool slice) {
    ConstList list = {0};
    bool comma_last;
    TRY(accept(parser, '(') && parse_list(parser, &list, &comma_last) && list.len == 3 && !comma_last);
    const Type *type = slice ? type_slice(parser->types, list.data[0]->type, list.data[1]->type, list.data[2]->type)
                             : type_simple(parser->types, TY_RANGE);
    return const_items(parser->arena, type, list.data, 3);
}

/* named#7(x: int)(1,): the type, then the items. */
static const Const *parse_named_tuple(ConstParser *parser, const Type *type) {
    ConstList list = {0};
    bool comma_last;
    TRY(parse_list(parser, &list, &comma_last) && list.len == type->count);
    for (size_t i = 0; i < list.len; i++) TRY(list.data[i]->type == type->items[i]);
    return const_typed_tuple(parser->arena, type, list.data);
}

static const Const *parse_const_inner(ConstParser *parser) {
    skip_space(parser);
    bool is_float;
    if (number_length(parser->at, &is_float)) return parse_number(parser, is_float);
    if (accept(parser, '"')) return parse_string(parser);
    if (accept_word(parser, "True")) return const_bool(parser->arena, parser->types, true);
    if (accept_word(parser, "False")) return const_bool(parser->arena, parser->types, false);
    if (accept_word(parser, "slice")) return parse_triple(parser, true);
    if (accept_word(parser, "range")) return parse_triple(parser, false);
    if (accept(parser, '(')) {
        ConstList list = {0};
        bool comma_last;
        TRY(parse_list(parser, &list, &comma_last) && (list.len != 1 || comma_last));
        return const_tuple(parser->arena, parser->types, list.data, list.len);
    }
    const Type *type = type_parse(parser->types, parser->arena, parser->at, &parser->at);
    TRY(type);
    switch (type->kind) {
    case TY_SCALAR: return accept(parser, '(') ? parse_typed_scalar(parser, type) : NULL;
    case TY_MEMBER:
    case TY_TIME: return accept(parser, '(') ? parse_time(parser, type) : NULL;
    case TY_CHARS: return accept(parser, '(') && accept(parser, '"') ? parse_chars(parser, type) : NULL;
    case TY_TUPLE: return accept(parser, '(') ? parse_named_tuple(parser, type) : NULL;
    case TY_ARRAY: return accept(parser, '[') ? parse_array(parser, type) : const_of(parser->arena, type);
    case TY_STR: return NULL;
    default: return const_of(parser->arena, type);
    }
}

static const Const *parse_const(ConstParser *parser) {
    if (++parser->depth > CONST_MAX_DEPTH) return NULL;
    const Const *konst = parse_const_inner(parser);
    parser->depth--;
    return konst;
}

const Const *const_parse(Arena *arena, TypeTable *types, const char *text, const char **end) {
    ConstParser parser = {.arena = arena, .types = types, .at = text};
    const Const *konst = parse_const(&parser);
    if (end) *end = parser.at;
    return konst;
}
