/* parse_words.c: the words of the text of a function (parse.c): names, numbers, types, constants, and values and blocks
 * by number, which are made where they are first mentioned. */
#include "ir/parse.h"

#include <ctype.h>  /* isalnum */
#include <stdlib.h> /* strtoull */
#include <string.h> /* strncmp */

enum { PARSE_MAX_NUMBER = 1 << 20 }; /* of a value or block */

/* ---- characters and words ---- */

Span parser_here(const Parser *parser) {
    uint32_t col = (uint32_t)(parser->at - parser->line_start);
    return (Span){parser->line, parser->line, col, col + 1};
}

bool parser_fail(Parser *parser, const char *what) {
    return diag_fail(parser->diag, DIAG_PARSE, parser->source, parser_here(parser), "%s", what);
}

void parser_skip_space(Parser *parser) {
    while (*parser->at == ' ' || *parser->at == '\t') parser->at++;
    if (*parser->at == ';')
        while (*parser->at && *parser->at != '\n') parser->at++;
}

bool parser_accept(Parser *parser, const char *text) {
    parser_skip_space(parser);
    size_t length = strlen(text);
    if (strncmp(parser->at, text, length) != 0) return false;
    parser->at += length;
    return true;
}

bool parser_expect(Parser *parser, const char *text) {
    if (parser_accept(parser, text)) return true;
    return diag_fail(parser->diag, DIAG_PARSE, parser->source, parser_here(parser), "expected `%s`", text);
}

/* The end of a line and all blank lines that follow. */
bool parser_expect_line_end(Parser *parser) {
    parser_skip_space(parser);
    if (*parser->at == '\r') parser->at++;
    if (*parser->at != '\n') return parser_fail(parser, "expected the end of the line");
    do {
        while (*parser->at == '\n') {
            parser->at++;
            parser->line++;
            parser->line_start = parser->at;
        }
        parser_skip_space(parser);
        if (*parser->at == '\r') parser->at++;
    } while (*parser->at == '\n');
    return true;
}

bool parser_is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || (c & 0x80); }

size_t parser_name_length(const char *text) {
    size_t length = 0;
    while (parser_is_name_char(text[length])) length++;
    return length;
}

/* Whether a whole word comes next: "is", "posonly". */
bool parser_at_word(Parser *parser, const char *word) {
    parser_skip_space(parser);
    size_t length = parser_name_length(parser->at);
    return length == strlen(word) && strncmp(parser->at, word, length) == 0;
}

bool parser_accept_word(Parser *parser, const char *word) {
    if (!parser_at_word(parser, word)) return false;
    parser->at += strlen(word);
    return true;
}

/* A name as print_name writes it, plain or quoted; NULL: there is none. */
const char *parser_accept_name(Parser *parser) {
    parser_skip_space(parser);
    size_t length = parser_name_length(parser->at);
    if (length) {
        const char *name = arena_strndup(parser->arena, parser->at, length);
        parser->at += length;
        return name;
    }
    if (*parser->at != '"') return NULL;
    const char *end;
    const Const *text = const_parse(parser->arena, parser->types, parser->at, &end);
    if (!text) return NULL;
    parser->at = end;
    return text->text;
}

bool parser_number(Parser *parser, unsigned long long limit, uint32_t *number) {
    parser_skip_space(parser);
    if (!isdigit((unsigned char)*parser->at)) return parser_fail(parser, "expected a number");
    unsigned long long value = strtoull(parser->at, NULL, 10);
    if (value > limit) return parser_fail(parser, "the number is too large");
    while (isdigit((unsigned char)*parser->at)) parser->at++;
    *number = (uint32_t)value;
    return true;
}

const Type *parser_type(Parser *parser) {
    parser_skip_space(parser);
    const char *end;
    const Type *type = type_parse(parser->types, parser->arena, parser->at, &end);
    if (type)
        parser->at = end;
    else
        parser_fail(parser, "expected a type");
    return type;
}

const Const *parser_const(Parser *parser) {
    parser_skip_space(parser);
    const char *end;
    const Const *konst = const_parse(parser->arena, parser->types, parser->at, &end);
    if (konst)
        parser->at = end;
    else
        parser_fail(parser, "expected a constant");
    return konst;
}

/* ---- values and blocks by number ---- */

/* The entry for "%7" or "b7" whose number comes next; its object is NULL when new. */
Named *parser_mention(Parser *parser, bool block) {
    Span span = parser_here(parser);
    uint32_t number;
    TRY(parser_number(parser, PARSE_MAX_NUMBER, &number));
    span.end_col = parser_here(parser).col;
    if (block) {
        while (parser->blocks.len <= number) vec_push(parser->arena, &parser->blocks, (Named){0});
    } else {
        while (parser->values.len <= number) vec_push(parser->arena, &parser->values, (Named){0});
    }
    Named *named = block ? &parser->blocks.data[number] : &parser->values.data[number];
    if (!named->object) named->mentioned = span;
    if (!named->object && block) {
        Block *fresh = ARENA_NEW(parser->arena, Block);
        fresh->id = number;
        fresh->order = UINT32_MAX;
        named->object = fresh;
    } else if (!named->object) {
        Value *fresh = ARENA_NEW(parser->arena, Value);
        fresh->id = number;
        named->object = fresh;
    }
    return named;
}

Value *parser_value_ref(Parser *parser) {
    TRY(parser_expect(parser, "%"));
    Named *named = parser_mention(parser, false);
    return named ? named->object : NULL;
}

bool parser_at_block_ref(Parser *parser) {
    parser_skip_space(parser);
    if (*parser->at != 'b') return false;
    size_t length = parser_name_length(parser->at);
    for (size_t i = 1; i < length; i++)
        if (!isdigit((unsigned char)parser->at[i])) return false;
    return length > 1;
}

Block *parser_block_ref(Parser *parser) {
    if (!parser_at_block_ref(parser)) {
        parser_fail(parser, "expected a block");
        return NULL;
    }
    parser->at++;
    Named *named = parser_mention(parser, true);
    return named ? named->object : NULL;
}
