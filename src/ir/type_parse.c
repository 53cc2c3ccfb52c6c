/* type_parse.c: text as types: recursive descent over
 *   type = atom {"?"}
 *   atom = "(" [type {"," type} [","]] ")" | name | name "#" number | name ["#" number] "(" ... ")"
 * Input may be anything (tests, fuzzers): depth is limited, nothing is assumed. */
#include "ir/type_text.h"

#include <ctype.h>  /* isalnum */
#include <stdlib.h> /* strtoul */
#include <string.h> /* strncmp */

enum { TYPE_MAX_DEPTH = 100 };

typedef struct TypeParser {
    TypeTable *table;
    Arena *scratch;
    const char *at;
    int depth;
} TypeParser;

static const Type *parse_type(TypeParser *parser);

static void skip_space(TypeParser *parser) {
    while (*parser->at == ' ' || *parser->at == '\t') parser->at++;
}

static bool accept(TypeParser *parser, char c) {
    skip_space(parser);
    if (*parser->at != c) return false;
    parser->at++;
    return true;
}

static size_t word_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.') length++;
    return length;
}

bool type_text_is_word(const char *text) {
    return (isalpha((unsigned char)*text) || *text == '_') && !strchr(text, '.') && text[word_length(text)] == '\0';
}

static bool word_is(const char *word, size_t length, const char *text) {
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool parse_number(TypeParser *parser, uint32_t limit, uint32_t *number) {
    skip_space(parser);
    if (!isdigit((unsigned char)*parser->at)) return false;
    char *end;
    unsigned long long value = strtoull(parser->at, &end, 10);
    parser->at = end;
    *number = (uint32_t)value;
    return value <= limit;
}

typedef VEC(const Type *) TypeList;

/* "(" [type {"," type}] ")", a trailing comma allowed; the opening parenthesis has been read. */
static bool parse_list(TypeParser *parser, TypeList *list, bool *comma_last) {
    *comma_last = false;
    while (!accept(parser, ')')) {
        if (list->len && !*comma_last) return false;
        const Type *item = parse_type(parser);
        TRY(item);
        vec_push(parser->scratch, list, item);
        *comma_last = accept(parser, ',');
    }
    return true;
}

/* [", readonly"] [", unaligned"] ")" */
static bool parse_flags(TypeParser *parser, bool *readonly, bool *unaligned) {
    *readonly = *unaligned = false;
    while (accept(parser, ',')) {
        skip_space(parser);
        size_t length = word_length(parser->at);
        bool *flag = word_is(parser->at, length, "unaligned") ? unaligned : readonly;
        TRY(!*flag && !*unaligned && (flag == unaligned || word_is(parser->at, length, "readonly")));
        *flag = true;
        parser->at += length;
    }
    return accept(parser, ')');
}

static const Type *parse_array(TypeParser *parser) {
    uint32_t ndim;
    bool readonly, unaligned;
    TRY(accept(parser, '('));
    const Type *element = parse_type(parser);
    if (element && element->kind == TY_SCALAR) element = type_scalar(parser->table, (Scalar)element->scalar, false);
    TRY(element && type_can_be_element(element) && accept(parser, ',') && parse_number(parser, TYPE_MAX_NDIM, &ndim));
    TRY(accept(parser, ','));
    skip_space(parser);
    const char *letter = *parser->at ? strchr("CFA", *parser->at) : NULL;
    TRY(letter);
    ArrayLayout layout = *letter == 'C' ? LAYOUT_C : *letter == 'F' ? LAYOUT_F : LAYOUT_A;
    parser->at++;
    TRY(parse_flags(parser, &readonly, &unaligned));
    const Type like = {.items = &element, .readonly = readonly, .unaligned = unaligned};
    return type_view(parser->table, &like, ndim, layout);
}

static const Type *parse_ref(TypeParser *parser) {
    bool readonly, unaligned;
    TRY(accept(parser, '('));
    const Type *record = parse_type(parser);
    TRY(record && type_is_record(record) && parse_flags(parser, &readonly, &unaligned) && !unaligned);
    return type_record(parser->table, record, readonly);
}

/* ---- structs ---- */

static const char *parse_name(TypeParser *parser) {
    skip_space(parser);
    Buf name;
    if (*parser->at != '"') {
        size_t length = word_length(parser->at);
        const char *word = arena_strndup(parser->scratch, parser->at, length);
        parser->at += length;
        return type_text_is_word(word) ? word : NULL;
    }
    buf_init(&name, parser->scratch);
    for (parser->at++; *parser->at != '"'; parser->at++) {
        if (*parser->at == '\\') parser->at++;
        if (!*parser->at) return NULL;
        buf_putc(&name, *parser->at);
    }
    parser->at++;
    return name.text;
}

/* Items lie one behind the other or apart, within the struct. */
static bool struct_is_sound(const Type *type) {
    if (type->align == 0 || type->align & (type->align - 1) || type->bytes % type->align) return false;
    for (uint32_t i = 0; i < type->count; i++) {
        size_t size = type_size(type->items[i]);
        if (size > type->bytes || type->places[i] > type->bytes - size) return false;
    }
    return true;
}

/* "(" [name ":" type "@" offset {"," name ":" type "@" offset}] ";" size "," align ")" */
static const Type *parse_record(TypeParser *parser, StructForm form) {
    VEC(const char *) names = {0};
    VEC(uint32_t) places = {0};
    TypeList items = {0};
    uint32_t bytes, align;
    TRY(accept(parser, '('));
    while (!accept(parser, ';')) {
        TRY(!items.len || accept(parser, ','));
        const char *name = parse_name(parser);
        TRY(name && accept(parser, ':'));
        const Type *item = parse_type(parser);
        uint32_t offset;
        TRY(item && (item->kind == TY_NESTED || type_can_be_element(item)));
        TRY(accept(parser, '@') && parse_number(parser, UINT32_MAX, &offset));
        vec_push(parser->scratch, &names, name);
        vec_push(parser->scratch, &items, item);
        vec_push(parser->scratch, &places, offset);
    }
    TRY(items.len && parse_number(parser, INT32_MAX, &bytes) && accept(parser, ','));
    TRY(parse_number(parser, UINT8_MAX, &align) && accept(parser, ')'));
    const Type wanted = {.form = (uint8_t)form,
                         .align = (uint8_t)align,
                         .bytes = bytes,
                         .count = (uint32_t)items.len,
                         .items = items.data,
                         .names = names.data,
                         .places = places.data};
    return struct_is_sound(&wanted) ? type_struct(parser->table, &wanted) : NULL;
}

/* ["[" [count] unit "]"] */
static const Type *parse_time(TypeParser *parser, bool delta) {
    uint32_t count = 1;
    TimeUnit unit;
    if (!accept(parser, '[')) return type_time(parser->table, delta, TIME_GENERIC, 1);
    if (isdigit((unsigned char)*parser->at)) TRY(parse_number(parser, INT32_MAX, &count) && count);
    size_t length = word_length(parser->at);
    TRY(time_unit_find(parser->at, length, &unit));
    parser->at += length;
    TRY(accept(parser, ']'));
    return type_time(parser->table, delta, unit, count);
}

/* S10 or U10; NULL: it is none. */
static const Type *find_chars(TypeTable *table, const char *word, size_t length) {
    uint32_t count = 0;
    if (length < 2 || length > 4 || (*word != 'S' && *word != 'U')) return NULL;
    for (size_t i = 1; i < length; i++) {
        if (!isdigit((unsigned char)word[i])) return NULL;
        count = 10 * count + (uint32_t)(word[i] - '0');
    }
    return count && count <= CHARS_MAX_COUNT ? type_chars(table, *word == 'U', count) : NULL;
}

static const Type *parse_nested(TypeParser *parser) {
    uint32_t extents[TYPE_MAX_NDIM];
    unsigned ndim = 0;
    uint64_t bytes;
    TRY(accept(parser, '('));
    const Type *element = parse_type(parser);
    TRY(element && type_can_be_element(element));
    bytes = type_size(element);
    while (accept(parser, ',')) {
        TRY(ndim < TYPE_MAX_NDIM && parse_number(parser, INT32_MAX, &extents[ndim]));
        bytes *= extents[ndim++];
        TRY(bytes <= INT32_MAX);
    }
    TRY(ndim && accept(parser, ')'));
    return type_nested(parser->table, element, ndim, extents);
}

static const Type *parse_func(TypeParser *parser) {
    TRY(accept(parser, '('));
    skip_space(parser);
    size_t length = word_length(parser->at);
    const FuncHead *func = type_table_function(parser->table, parser->at, length);
    TRY(func);
    parser->at += length;
    TRY(accept(parser, ')'));
    return type_func(parser->table, func);
}

/* Scalars by name; NULL: it is not one. */
static const Type *find_scalar(TypeTable *table, const char *word, size_t length) {
    if (word_is(word, length, "bool_")) return type_scalar(table, SCALAR_BOOL, false);
    for (int scalar = 0; scalar < SCALAR_COUNT; scalar++) {
        const ScalarInfo *info = &scalar_info[scalar];
        if (info->weak_name && word_is(word, length, info->weak_name)) return type_scalar(table, (Scalar)scalar, true);
        if (word_is(word, length, info->name)) return type_scalar(table, (Scalar)scalar, false);
    }
    return NULL;
}

const Type *type_vector_named(TypeTable *table, const char *word, size_t length) {
    if (length < 3 || word[length - 2] != 'x' || word[length - 1] < '1' || word[length - 1] > '0' + VECTOR_MAX_COUNT)
        return NULL;
    const Type *item = find_scalar(table, word, length - 2);
    bool fits = item && !item->weak && strchr("iuf", type_scalar_kind(item));
    return fits ? type_vector(table, (Scalar)item->scalar, (unsigned)(word[length - 1] - '0')) : NULL;
}

/* The items of these kinds have a number or a form of their own. */
static bool items_fit(TypeKind kind, const TypeList *list) {
    switch (kind) {
    case TY_FLAT: return list->len == 1 && list->data[0]->kind == TY_ARRAY;
    case TY_DTYPE:
    case TY_CLASS: return list->len == 1 && (list->data[0]->kind == TY_SCALAR || list->data[0]->kind == TY_STRUCT);
    case TY_LIST:
    case TY_SET:
    case TY_VARTUPLE:
    case TY_CELL: return list->len == 1;
    case TY_DICT: return list->len == 2;
    case TY_SLICE: return list->len == 3;
    default: return true;
    }
}

static const Type *parse_kind(TypeParser *parser, TypeKind kind) {
    KindForm form = kind_text[kind].form;
    uint32_t object = 0;
    if (form == FORM_NAME) return type_simple(parser->table, kind);
    if (form == FORM_OBJECT || (form == FORM_OBJECT_ITEMS && (kind != TY_CLASS || *parser->at == '#')))
        TRY(accept(parser, '#') && parse_number(parser, UINT32_MAX, &object));
    if (form == FORM_OBJECT) return type_object(parser->table, kind, object);
    TypeList list = {0};
    bool comma_last;
    TRY(accept(parser, '(') && parse_list(parser, &list, &comma_last) && !comma_last && items_fit(kind, &list));
    if (form == FORM_TABLE) return type_table_of(parser->table, list.data[0], kind == TY_DICT ? list.data[1] : NULL);
    return type_with_items(parser->table, kind, object, list.data, list.len);
}

/* "#" number "(" [name ":" type {"," name ":" type}] ")" */
/* [title] "#" number: a class; the title is any text without "#". */
static bool parse_class(TypeParser *parser, const char **title, uint32_t *object) {
    skip_space(parser);
    size_t length = strcspn(parser->at, "#");
    *title = length ? arena_strndup(parser->scratch, parser->at, length) : NULL;
    parser->at += length;
    return accept(parser, '#') && parse_number(parser, UINT32_MAX, object) && *object;
}

static const Type *parse_named(TypeParser *parser, TypeKind kind, StructForm form, bool flag) {
    const char *title;
    uint32_t object;
    VEC(const char *) names = {0};
    TypeList items = {0};
    TRY(parse_class(parser, &title, &object) && accept(parser, '('));
    while (!accept(parser, ')')) {
        TRY(!items.len || accept(parser, ','));
        skip_space(parser);
        size_t length = word_length(parser->at);
        const char *name = arena_strndup(parser->scratch, parser->at, length);
        parser->at += length;
        bool bits = form == STRUCT_OBJECT && !names.len; /* which attributes are set: without a name */
        if (bits) parser->at -= length, name = "";
        TRY(bits || accept(parser, ':'));
        const Type *item = parse_type(parser);
        TRY(item);
        vec_push(parser->scratch, &names, name);
        vec_push(parser->scratch, &items, item);
    }
    const char *const *fields = names.len ? names.data : (const char *const[]){""};
    if (form == STRUCT_OBJECT) return type_shared_instance(parser->table, object, title, fields, items.data, items.len);
    if (kind == TY_STRUCT) return type_instance(parser->table, object, title, flag, fields, items.data, items.len);
    return type_named_tuple(parser->table, object, title, fields, items.data, items.len);
}

typedef const Type *MakeMember(TypeTable *table, ObjRef class, const char *title, bool flag);

static const Type *parse_enum(TypeParser *parser, MakeMember *make, bool flag) {
    const char *title;
    uint32_t object;
    TRY(parse_class(parser, &title, &object));
    return make(parser->table, object, title, flag);
}

static const Type *parse_word(TypeParser *parser) {
    const char *word = parser->at;
    size_t length = word_length(word);
    parser->at += length;
    if (word_is(word, length, "named")) return parse_named(parser, TY_TUPLE, STRUCT_INSTANCE, false);
    if (word_is(word, length, "instance")) return parse_named(parser, TY_STRUCT, STRUCT_INSTANCE, false);
    if (word_is(word, length, "shared")) return parse_named(parser, TY_STRUCT, STRUCT_OBJECT, false);
    if (word_is(word, length, "frozen")) return parse_named(parser, TY_STRUCT, STRUCT_INSTANCE, true);
    if (word_is(word, length, "enum")) return parse_enum(parser, type_enum, false);
    if (word_is(word, length, "flag")) return parse_enum(parser, type_enum, true);
    if (word_is(word, length, "member")) return parse_enum(parser, type_member, false);
    if (word_is(word, length, "bits")) return parse_enum(parser, type_member, true);
    if (word_is(word, length, "datetime64")) return parse_time(parser, false);
    if (word_is(word, length, "timedelta64")) return parse_time(parser, true);
    if (word_is(word, length, "ref")) return parse_ref(parser);
    if (word_is(word, length, "record")) return parse_record(parser, STRUCT_RECORD);
    if (word_is(word, length, "recordclass")) return parse_record(parser, STRUCT_RECORD_CLASS);
    const Type *found = find_scalar(parser->table, word, length);
    if (!found) found = type_vector_named(parser->table, word, length);
    if (!found) found = find_chars(parser->table, word, length);
    if (found) return found;
    for (size_t iter = 0; iter < COUNT_OF(iter_text); iter++)
        if (word_is(word, length, iter_text[iter])) {
            TypeList list = {0};
            bool comma_last;
            TRY(accept(parser, '(') && parse_list(parser, &list, &comma_last) && !comma_last);
            return type_iter(parser->table, (IterKind)iter, list.data, list.len);
        }
    for (int kind = 0; kind <= TY_OBJECT; kind++) {
        if (!kind_text[kind].name || !word_is(word, length, kind_text[kind].name)) continue;
        if (kind == TY_ARRAY) return parse_array(parser);
        if (kind == TY_NESTED) return parse_nested(parser);
        if (kind == TY_FUNC) return parse_func(parser);
        return parse_kind(parser, (TypeKind)kind);
    }
    return NULL;
}

static const Type *parse_tuple(TypeParser *parser) {
    TypeList list = {0};
    bool comma_last;
    TRY(parse_list(parser, &list, &comma_last));
    TRY(list.len != 1 || comma_last); /* (int) is no tuple */
    return type_tuple(parser->table, list.data, list.len);
}

static const Type *parse_type(TypeParser *parser) {
    if (++parser->depth > TYPE_MAX_DEPTH) return NULL;
    const Type *type = accept(parser, '(') ? parse_tuple(parser) : parse_word(parser);
    TRY(type);
    while (*parser->at == '?') {
        parser->at++;
        type = type_optional(parser->table, type);
    }
    parser->depth--;
    return type;
}

const Type *type_parse(TypeTable *table, Arena *scratch, const char *text, const char **end) {
    TypeParser parser = {.table = table, .scratch = scratch, .at = text};
    const Type *type = parse_type(&parser);
    if (end) *end = parser.at;
    return type;
}
