/* parse.h: the text of a function being read; between parse.c and parse_words.c. */
#ifndef KRAIT_IR_PARSE_H
#define KRAIT_IR_PARSE_H

#include "ir/ir.h"

typedef struct PhiLabels {
    Value *phi;
    Block **blocks; /* one per operand */
    Span span;
} PhiLabels;

typedef struct Named { /* a value or block that was mentioned */
    void *object;
    Span mentioned;
    bool defined;
} Named;

typedef struct Parser {
    Arena *arena;
    TypeTable *types;
    Diag *diag;
    Source *source;
    const char *at, *line_start;
    uint32_t line;
    Func *func;
    Block *block;
    VEC(Named) values, blocks;
    VEC(PhiLabels) phis;
    VEC(FuncInst *) insts;
    VEC(Value *) unnumbered;
} Parser;

/* ---- characters and words; spaces and comments before them are passed over ---- */

Span parser_here(const Parser *parser);
bool parser_fail(Parser *parser, const char *what); /* false */
void parser_skip_space(Parser *parser);
bool parser_accept(Parser *parser, const char *text); /* false: something else comes next */
bool parser_expect(Parser *parser, const char *text); /* false: refused */
bool parser_expect_line_end(Parser *parser);          /* and all blank lines that follow */
bool parser_is_name_char(char c);
size_t parser_name_length(const char *text);
bool parser_at_word(Parser *parser, const char *word); /* whether a whole word comes next: "is", "posonly" */
bool parser_accept_word(Parser *parser, const char *word);
const char *parser_accept_name(Parser *parser); /* as print_name writes it, plain or quoted; NULL: there is none */
bool parser_number(Parser *parser, unsigned long long limit, uint32_t *number);
const Type *parser_type(Parser *parser);
const Const *parser_const(Parser *parser);

/* ---- values and blocks by number ---- */

Named *parser_mention(Parser *parser, bool block); /* of "%7" or "b7", whose number comes next */
Value *parser_value_ref(Parser *parser);
bool parser_at_block_ref(Parser *parser);
Block *parser_block_ref(Parser *parser);

#endif
