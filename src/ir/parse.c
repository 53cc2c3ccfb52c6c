/* parse.c: the text that print.c writes, read back as a function; tests write their inputs this way.
 *
 *   function = "func" NAME "(" [param {"," param}] ")" ["->" type] "{" NEWLINE {block} "}"
 *   param    = ["posonly" | "kwonly" | "cell" | "*"] name [":" type] ["is" const] ["=" (const | "...")]
 *   block    = "b" NUMBER ":" NEWLINE {line}
 *   line     = ["%" NUMBER [name] [":" type] "="] op {"." flag} ["[" imm "]"] [operand {"," operand}] {"," target}
 *              ["is" const] ["in" [NUMBER] ".." [NUMBER]] NEWLINE
 *   operand  = "%" NUMBER | name "=" "%" NUMBER | "b" NUMBER "%" NUMBER      (of a call; of a phi)
 *              const's operand is its constant
 *
 * One pass over the text makes values and blocks; one that is mentioned before it is defined is made empty and filled
 * in later.  Then edges are drawn, and phis put in the order of their block's predecessors, which the first phi of a
 * block decides.  Anything of this shape is accepted: whether it makes sense is the verifier's business. */
#include "ir/ir.h"

#include <ctype.h>  /* isalnum */
#include <stdlib.h> /* strtoull */
#include <string.h> /* strncmp */

enum { PARSE_MAX_NUMBER = 1 << 20 }; /* of a value or block */

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

/* ---- characters and words ---- */

static Span here(const Parser *parser) {
    uint32_t col = (uint32_t)(parser->at - parser->line_start);
    return (Span){parser->line, parser->line, col, col + 1};
}

static bool fail(Parser *parser, const char *what) {
    return diag_fail(parser->diag, DIAG_PARSE, parser->source, here(parser), "%s", what);
}

static void skip_space(Parser *parser) {
    while (*parser->at == ' ' || *parser->at == '\t') parser->at++;
    if (*parser->at == ';')
        while (*parser->at && *parser->at != '\n') parser->at++;
}

static bool accept(Parser *parser, const char *text) {
    skip_space(parser);
    size_t length = strlen(text);
    if (strncmp(parser->at, text, length) != 0) return false;
    parser->at += length;
    return true;
}

static bool expect(Parser *parser, const char *text) {
    if (accept(parser, text)) return true;
    return diag_fail(parser->diag, DIAG_PARSE, parser->source, here(parser), "expected `%s`", text);
}

/* The end of a line and all blank lines that follow. */
static bool expect_line_end(Parser *parser) {
    skip_space(parser);
    if (*parser->at == '\r') parser->at++;
    if (*parser->at != '\n') return fail(parser, "expected the end of the line");
    do {
        while (*parser->at == '\n') {
            parser->at++;
            parser->line++;
            parser->line_start = parser->at;
        }
        skip_space(parser);
        if (*parser->at == '\r') parser->at++;
    } while (*parser->at == '\n');
    return true;
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || (c & 0x80); }

static size_t name_length(const char *text) {
    size_t length = 0;
    while (is_name_char(text[length])) length++;
    return length;
}

/* Whether a whole word comes next: "is", "posonly". */
static bool at_word(Parser *parser, const char *word) {
    skip_space(parser);
    size_t length = name_length(parser->at);
    return length == strlen(word) && strncmp(parser->at, word, length) == 0;
}

static bool accept_word(Parser *parser, const char *word) {
    if (!at_word(parser, word)) return false;
    parser->at += strlen(word);
    return true;
}

/* A name as print_name writes it, plain or quoted; NULL: there is none. */
static const char *accept_name(Parser *parser) {
    skip_space(parser);
    size_t length = name_length(parser->at);
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

static bool parse_number(Parser *parser, unsigned long long limit, uint32_t *number) {
    skip_space(parser);
    if (!isdigit((unsigned char)*parser->at)) return fail(parser, "expected a number");
    unsigned long long value = strtoull(parser->at, NULL, 10);
    if (value > limit) return fail(parser, "the number is too large");
    while (isdigit((unsigned char)*parser->at)) parser->at++;
    *number = (uint32_t)value;
    return true;
}

static const Type *parse_type(Parser *parser) {
    skip_space(parser);
    const char *end;
    const Type *type = type_parse(parser->types, parser->arena, parser->at, &end);
    if (type)
        parser->at = end;
    else
        fail(parser, "expected a type");
    return type;
}

static const Const *parse_const(Parser *parser) {
    skip_space(parser);
    const char *end;
    const Const *konst = const_parse(parser->arena, parser->types, parser->at, &end);
    if (konst)
        parser->at = end;
    else
        fail(parser, "expected a constant");
    return konst;
}

/* ---- values and blocks by number ---- */

/* The entry for "%7" or "b7" whose number comes next; its object is NULL when new. */
static Named *parse_mention(Parser *parser, bool block) {
    Span span = here(parser);
    uint32_t number;
    TRY(parse_number(parser, PARSE_MAX_NUMBER, &number));
    span.end_col = here(parser).col;
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

static Value *parse_value_ref(Parser *parser) {
    TRY(expect(parser, "%"));
    Named *named = parse_mention(parser, false);
    return named ? named->object : NULL;
}

static bool at_block_ref(Parser *parser) {
    skip_space(parser);
    if (*parser->at != 'b') return false;
    size_t length = name_length(parser->at);
    for (size_t i = 1; i < length; i++)
        if (!isdigit((unsigned char)parser->at[i])) return false;
    return length > 1;
}

static Block *parse_block_ref(Parser *parser) {
    if (!at_block_ref(parser)) {
        fail(parser, "expected a block");
        return NULL;
    }
    parser->at++;
    Named *named = parse_mention(parser, true);
    return named ? named->object : NULL;
}

/* ---- the first line ---- */

static const struct {
    const char *word;
    ParamKind kind;
} param_words[] = {{"posonly", PARAM_POSITIONAL_ONLY}, {"kwonly", PARAM_KEYWORD_ONLY}, {"cell", PARAM_CELL}};

/* The kind stands before the name; a parameter may itself be called `cell`. */
static ParamKind parse_param_kind(Parser *parser) {
    if (accept(parser, "*")) return PARAM_VARARGS;
    for (size_t i = 0; i < COUNT_OF(param_words); i++) {
        const char *before = parser->at;
        if (!accept_word(parser, param_words[i].word)) continue;
        skip_space(parser);
        if ((is_name_char(*parser->at) || *parser->at == '"') && !at_word(parser, "is")) return param_words[i].kind;
        parser->at = before;
    }
    return PARAM_NORMAL;
}

static bool parse_param(Parser *parser, Param *param, Value *value) {
    param->kind = parse_param_kind(parser);
    param->name = accept_name(parser);
    if (!param->name) return fail(parser, "expected the name of a parameter");
    if (accept(parser, ":")) TRY(value->type = parse_type(parser));
    if (accept_word(parser, "is")) TRY(value->konst = parse_const(parser));
    if (accept(parser, "=")) {
        param->has_default = true;
        if (!accept(parser, "...")) TRY(param->fallback = parse_const(parser));
    }
    return true;
}

static bool parse_signature(Parser *parser) {
    TRY(expect(parser, "func "));
    skip_space(parser);
    size_t length = strcspn(parser->at, "(\n");
    if (parser->at[length] != '(') return fail(parser, "expected `(`");
    parser->func = func_new(parser->arena, parser->types, arena_strndup(parser->arena, parser->at, length), NULL);
    parser->at += length + 1;
    VEC(Param) params = {0};
    while (!accept(parser, ")")) {
        if (params.len) TRY(expect(parser, ","));
        Value *value = ARENA_NEW(parser->arena, Value);
        Param param = {0};
        TRY(parse_param(parser, &param, value));
        value->op = OP_PARAM;
        value->id = (uint32_t)params.len;
        value->imm.i = (int64_t)params.len;
        vec_push(parser->arena, &params, param);
        vec_push(parser->arena, &parser->values, (Named){value, here(parser), true});
    }
    parser->func->params = params.data;
    parser->func->nparams = (uint32_t)params.len;
    if (accept(parser, "->")) TRY(parser->func->result = parse_type(parser));
    return expect(parser, "{") && expect_line_end(parser);
}

/* ---- one line ---- */

static bool parse_flags(Parser *parser, Value *value, const char *flags, size_t length) {
    static const struct {
        const char *text;
        uint32_t flag;
    } known[] = {{".inplace", VF_INPLACE},   {".unchecked", VF_UNCHECKED}, {".forward", VF_FORWARD},
                 {".checked", VF_CHECKED},   {".nowrap", VF_NOWRAP},       {".shared", VF_SHARED},
                 {".implicit", VF_IMPLICIT}, {".owned", VF_OWNED},         {".looks", VF_LOOKS}};
    for (const char *at = flags; at < flags + length;) {
        size_t i = 0;
        while (i < COUNT_OF(known) && strncmp(at, known[i].text, strlen(known[i].text)) != 0) i++;
        if (i == COUNT_OF(known)) return fail(parser, "no such flag");
        value->flags |= known[i].flag;
        at += strlen(known[i].text);
    }
    return true;
}

static bool parse_op(Parser *parser, Value *value) {
    skip_space(parser);
    size_t length = name_length(parser->at), op_length = 0;
    while (op_length < length && parser->at[op_length] != '.') op_length++;
    value->op = op_find(parser->at, op_length);
    if (value->op == OP_COUNT) return fail(parser, "no such operation");
    TRY(parse_flags(parser, value, parser->at + op_length, length - op_length));
    parser->at += length;
    return true;
}

/* name#3 of a compiled function: a stand-in with this number and name, one per number. */
static bool parse_inst(Parser *parser, Value *value) {
    size_t length = strcspn(parser->at, "#]\n");
    const char *name = arena_strndup(parser->arena, parser->at, length);
    parser->at += length;
    uint32_t id;
    TRY(expect(parser, "#") && parse_number(parser, UINT32_MAX, &id));
    for (size_t i = 0; i < parser->insts.len; i++)
        if (parser->insts.data[i]->id == id) value->imm.inst = parser->insts.data[i];
    if (value->imm.inst) return true;
    FuncInst *inst = ARENA_NEW(parser->arena, FuncInst);
    inst->id = id;
    inst->untyped = func_new(parser->arena, parser->types, name, NULL);
    vec_push(parser->arena, &parser->insts, inst);
    value->imm.inst = inst;
    return true;
}

static bool parse_func_ref(Parser *parser, Value *value) {
    skip_space(parser);
    size_t length = name_length(parser->at);
    value->imm.func = type_table_function(parser->types, parser->at, length);
    if (!value->imm.func) return fail(parser, "no such library function");
    parser->at += length;
    return true;
}

/* ", f#3", or nothing. */
static bool parse_inst_if_any(Parser *parser, Value *value) {
    skip_space(parser);
    if (*parser->at != ',') return true;
    parser->at++;
    skip_space(parser);
    return parse_inst(parser, value);
}

static bool parse_imm(Parser *parser, Value *value) {
    uint32_t number = 0, second = 0;
    if (op_has_number(value->op)) {
        TRY(expect(parser, "[") && parse_number(parser, UINT32_MAX, &number));
        value->imm.i = number;
        return expect(parser, "]");
    }
    switch (value->op) {
    case OP_UNPACK_EX:
        TRY(expect(parser, "[") && parse_number(parser, 255, &number));
        TRY(expect(parser, ",") && parse_number(parser, UINT32_MAX, &second));
        value->imm.i = (int64_t)number + ((int64_t)second << 8);
        break;
    case OP_GETATTR:
    case OP_SETATTR:
    case OP_CELL_GET:
    case OP_CHECK_BOUND:
        TRY(expect(parser, "["));
        value->imm.text = accept_name(parser);
        if (!value->imm.text) return fail(parser, "expected a name");
        break;
    case OP_FUNCTION:
        TRY(expect(parser, "[") && expect(parser, "object#") && parse_number(parser, UINT32_MAX, &number));
        value->imm.object = number;
        break;
    case OP_CALL_FUNC: TRY(expect(parser, "[") && parse_func_ref(parser, value)); break;
    case OP_CALL_INST: TRY(expect(parser, "[") && parse_inst(parser, value)); break;
    case OP_MAP:
        TRY(expect(parser, "[") && parse_number(parser, UINT32_MAX, &number));
        value->imm.i = number;
        TRY(parse_inst_if_any(parser, value));
        break;
    case OP_REDUCE: {
        TRY(expect(parser, "["));
        skip_space(parser);
        size_t length = name_length(parser->at);
        value->imm.i = reduction_find(parser->at, length);
        if (value->imm.i == REDUCTION_COUNT) return fail(parser, "no such reduction");
        parser->at += length;
        TRY(parse_inst_if_any(parser, value));
        break;
    }
    default: return true;
    }
    return expect(parser, "]");
}

typedef struct Operands {
    VEC(Value *) values;
    VEC(Block *) labels;
    VEC(const char *) names;
} Operands;

/* One operand; *more says whether the line goes on with another. */
static bool parse_operand(Parser *parser, const Value *value, Operands *operands) {
    if (value->op == OP_PHI) {
        Block *label = parse_block_ref(parser);
        TRY(label);
        vec_push(parser->arena, &operands->labels, label);
    } else if (value->op == OP_CALL || value->op == OP_CALL_EX) {
        const char *name = *parser->at != '%' ? accept_name(parser) : NULL;
        if (name)
            vec_push(parser->arena, &operands->names, name);
        else if (operands->names.len)
            return fail(parser, "expected a keyword");
        if (name) TRY(expect(parser, "="));
    }
    Value *operand = parse_value_ref(parser);
    TRY(operand);
    vec_push(parser->arena, &operands->values, operand);
    return true;
}

static bool parse_target(Parser *parser) {
    Block *target = parse_block_ref(parser);
    TRY(target);
    vec_push(parser->arena, &parser->block->succs, target);
    return true;
}

static bool parse_operands(Parser *parser, Value *value) {
    Operands operands = {0};
    skip_space(parser);
    Span span = here(parser);
    for (bool more = *parser->at && *parser->at != '\n' && *parser->at != '\r' && !at_word(parser, "is") &&
                     !at_word(parser, "in");
         more;) {
        bool target = value->op != OP_PHI && at_block_ref(parser) && op_is_terminator(value->op);
        TRY(target ? parse_target(parser) : parse_operand(parser, value, &operands));
        more = accept(parser, ",");
        skip_space(parser);
    }
    value->args = operands.values.data;
    value->nargs = (uint32_t)operands.values.len;
    value->imm.names = operands.names.data;
    if (value->op == OP_CALL || value->op == OP_CALL_EX) value->imm.nnames = (uint32_t)operands.names.len;
    span.end_col = here(parser).col;
    if (value->op == OP_PHI) vec_push(parser->arena, &parser->phis, (PhiLabels){value, operands.labels.data, span});
    return true;
}

/* The value that the line defines, or a new one without a number; *defined tells which. */
static Value *parse_result(Parser *parser, bool *defined) {
    *defined = accept(parser, "%");
    if (!*defined) return ARENA_NEW(parser->arena, Value);
    Span span = here(parser);
    Named *named = parse_mention(parser, false);
    TRY(named);
    if (named->defined) {
        diag_fail(parser->diag, DIAG_PARSE, parser->source, span, "the value is defined twice");
        return NULL;
    }
    named->defined = true;
    Value *value = named->object;
    value->name = accept_name(parser);
    if (accept(parser, ":")) TRY(value->type = parse_type(parser));
    TRY(expect(parser, "="));
    return value;
}

static int64_t parse_bound(Parser *parser, int64_t otherwise) {
    skip_space(parser);
    if (*parser->at != '-' && !isdigit((unsigned char)*parser->at)) return otherwise;
    char *end;
    int64_t bound = strtoll(parser->at, &end, 10);
    parser->at = end;
    return bound;
}

/* 0..99 */
static bool parse_bounds(Parser *parser, Value *value) {
    if (!value->type || !type_is_integer(value->type)) return fail(parser, "bounds are of integers");
    Bounds *bounds = ARENA_NEW(parser->arena, Bounds);
    *bounds = type_bounds(value->type);
    bounds->lo = parse_bound(parser, bounds->lo);
    TRY(expect(parser, ".."));
    bounds->hi = parse_bound(parser, bounds->hi);
    value->bounds = bounds;
    return true;
}

static bool parse_line(Parser *parser) {
    if (!parser->block) return fail(parser, "expected a block");
    bool defined;
    skip_space(parser);
    Span span = here(parser);
    Value *value = parse_result(parser, &defined);
    TRY(value && parse_op(parser, value));
    if (defined != op_has_result(value->op))
        return fail(parser, defined ? "the operation has no result" : "the operation has a result: give it a number");
    TRY(parse_imm(parser, value));
    if (value->op == OP_CONST) {
        TRY(value->konst = parse_const(parser));
        if (!value->type) value->type = value->konst->type;
    } else {
        TRY(parse_operands(parser, value));
        if (accept_word(parser, "is")) TRY(value->konst = parse_const(parser));
    }
    if (accept_word(parser, "in")) TRY(parse_bounds(parser, value));
    span.end_col = here(parser).col;
    value->span = span;
    block_put_last(parser->block, value);
    if (!defined) vec_push(parser->arena, &parser->unnumbered, value);
    return expect_line_end(parser);
}

static bool parse_block_head(Parser *parser) {
    parser->at++;
    Named *named = parse_mention(parser, true);
    TRY(named);
    if (named->defined) return fail(parser, "the block is defined twice");
    named->defined = true;
    parser->block = named->object;
    vec_push(parser->arena, &parser->func->blocks, parser->block);
    if (parser->func->blocks.len == 1)
        for (uint32_t i = 0; i < parser->func->nparams; i++)
            block_put_last(parser->block, parser->values.data[i].object);
    parser->block->unwinds = accept_word(parser, "unwind");
    if (parser->block->unwinds) TRY(parse_target(parser));
    if (accept_word(parser, "unroll")) {
        uint32_t rounds;
        TRY(parse_number(parser, UINT8_MAX, &rounds));
        parser->block->unroll = (uint8_t)rounds;
        parser->block->unroll_whole = accept_word(parser, "whole");
    }
    return expect(parser, ":") && expect_line_end(parser);
}

/* ---- putting it together ---- */

static bool check_defined(Parser *parser) {
    for (size_t i = 0; i < parser->values.len; i++) {
        const Named *named = &parser->values.data[i];
        if (named->object && !named->defined)
            return diag_fail(parser->diag, DIAG_PARSE, parser->source, named->mentioned, "%%%zu is not defined", i);
    }
    for (size_t i = 0; i < parser->blocks.len; i++) {
        const Named *named = &parser->blocks.data[i];
        if (named->object && !named->defined)
            return diag_fail(parser->diag, DIAG_PARSE, parser->source, named->mentioned, "b%zu is not defined", i);
    }
    return true;
}

/* Where `block` stands among the predecessors from `first` on. */
static size_t find_pred(const Block *of, const Block *block, size_t first) {
    while (first < of->preds.len && of->preds.data[first] != block) first++;
    return first;
}

/* Sorts operands and labels of a phi as its block's predecessors stand; the first phi of a block sorts the predecessors
 * instead. */
static bool order_phi(Parser *parser, const PhiLabels *labels) {
    Value *phi = labels->phi;
    Block *block = phi->block;
    bool first = phi->prev == NULL || phi->prev->op != OP_PHI;
    for (uint32_t i = 0; i < phi->nargs; i++) {
        size_t at = first ? find_pred(block, labels->blocks[i], i) : i;
        if (first && at < block->preds.len) {
            block->preds.data[at] = block->preds.data[i];
            block->preds.data[i] = labels->blocks[i];
            continue;
        }
        uint32_t from = i;
        while (!first && i < block->preds.len && from < phi->nargs && labels->blocks[from] != block->preds.data[i])
            from++;
        if (first || i >= block->preds.len || from == phi->nargs)
            return diag_fail(parser->diag, DIAG_PARSE, parser->source, labels->span,
                             "the operands do not fit the predecessors of b%u", (unsigned)block->id);
        Value *arg = phi->args[i];
        Block *label = labels->blocks[i];
        phi->args[i] = phi->args[from];
        labels->blocks[i] = labels->blocks[from];
        phi->args[from] = arg;
        labels->blocks[from] = label;
    }
    return true;
}

static bool finish(Parser *parser) {
    Func *func = parser->func;
    TRY(check_defined(parser));
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        if (block->unwinds) { /* named first, in the block's head */
            for (size_t i = 1; i < block->succs.len; i++) {
                Block *handler = block->succs.data[i - 1];
                block->succs.data[i - 1] = block->succs.data[i];
                block->succs.data[i] = handler;
            }
        }
        for (size_t i = 0; i < block->succs.len; i++) vec_push(parser->arena, &block->succs.data[i]->preds, block);
    }
    for (size_t i = 0; i < parser->phis.len; i++) TRY(order_phi(parser, &parser->phis.data[i]));
    func->next_value = (uint32_t)parser->values.len;
    func->next_block = (uint32_t)parser->blocks.len;
    for (size_t i = 0; i < parser->unnumbered.len; i++) parser->unnumbered.data[i]->id = func->next_value++;
    return true;
}

Func *func_parse(Arena *arena, TypeTable *types, const char *text, Diag *diag) {
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){.file = "<ir>", .text = arena_strdup(arena, text), .first_line = 1};
    Parser parser = {.arena = arena, .types = types, .diag = diag, .source = source, .line = 1};
    parser.at = parser.line_start = source->text;
    skip_space(&parser);
    if (*parser.at == '\n') TRY(expect_line_end(&parser));
    TRY(parse_signature(&parser));
    while (!accept(&parser, "}")) {
        if (at_block_ref(&parser))
            TRY(parse_block_head(&parser));
        else
            TRY(parse_line(&parser));
    }
    skip_space(&parser);
    if (*parser.at) TRY(expect_line_end(&parser));
    if (*parser.at) {
        fail(&parser, "expected the end of the text");
        return NULL;
    }
    TRY(finish(&parser));
    return parser.func;
}
