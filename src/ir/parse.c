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
#include "ir/parse.h"

#include <ctype.h>  /* isdigit */
#include <stdlib.h> /* strtoll */
#include <string.h> /* strncmp */

/* ---- the first line ---- */

static const struct {
    const char *word;
    ParamKind kind;
} param_words[] = {{"posonly", PARAM_POSITIONAL_ONLY}, {"kwonly", PARAM_KEYWORD_ONLY}, {"cell", PARAM_CELL}};

/* The kind stands before the name; a parameter may itself be called `cell`. */
static ParamKind parse_param_kind(Parser *parser) {
    if (parser_accept(parser, "**")) return PARAM_VARKEYWORDS;
    if (parser_accept(parser, "*")) return PARAM_VARARGS;
    for (size_t i = 0; i < COUNT_OF(param_words); i++) {
        const char *before = parser->at;
        if (!parser_accept_word(parser, param_words[i].word)) continue;
        parser_skip_space(parser);
        if ((parser_is_name_char(*parser->at) || *parser->at == '"') && !parser_at_word(parser, "is"))
            return param_words[i].kind;
        parser->at = before;
    }
    return PARAM_NORMAL;
}

static bool parse_param(Parser *parser, Param *param, Value *value) {
    param->kind = parse_param_kind(parser);
    param->name = parser_accept_name(parser);
    if (!param->name) return parser_fail(parser, "expected the name of a parameter");
    if (parser_accept(parser, ":")) TRY(value->type = parser_type(parser));
    if (parser_accept_word(parser, "is")) TRY(value->konst = parser_const(parser));
    if (parser_accept(parser, "=")) {
        param->has_default = true;
        if (!parser_accept(parser, "...")) TRY(param->fallback = parser_const(parser));
    }
    return true;
}

static bool parse_signature(Parser *parser) {
    TRY(parser_expect(parser, "func "));
    parser_skip_space(parser);
    size_t length = strcspn(parser->at, "(\n");
    if (parser->at[length] != '(') return parser_fail(parser, "expected `(`");
    parser->func = func_new(parser->arena, parser->types, arena_strndup(parser->arena, parser->at, length), NULL);
    parser->at += length + 1;
    VEC(Param) params = {0};
    while (!parser_accept(parser, ")")) {
        if (params.len) TRY(parser_expect(parser, ","));
        Value *value = ARENA_NEW(parser->arena, Value);
        Param param = {0};
        TRY(parse_param(parser, &param, value));
        value->op = OP_PARAM;
        value->id = (uint32_t)params.len;
        value->imm.i = (int64_t)params.len;
        vec_push(parser->arena, &params, param);
        vec_push(parser->arena, &parser->values, (Named){value, parser_here(parser), true});
    }
    parser->func->params = params.data;
    parser->func->nparams = (uint32_t)params.len;
    if (parser_accept(parser, "->")) TRY(parser->func->result = parser_type(parser));
    return parser_expect(parser, "{") && parser_expect_line_end(parser);
}

/* ---- one line ---- */

static bool parse_flags(Parser *parser, Value *value, const char *flags, size_t length) {
    static const struct {
        const char *text;
        uint32_t flag;
    } known[] = {{".inplace", VF_INPLACE},   {".unchecked", VF_UNCHECKED}, {".forward", VF_FORWARD},
                 {".checked", VF_CHECKED},   {".nowrap", VF_NOWRAP},       {".shared", VF_SHARED},
                 {".implicit", VF_IMPLICIT}, {".owned", VF_OWNED},         {".looks", VF_LOOKS},
                 {".skipped", VF_SKIPPED},   {".inline", VF_INLINE},       {".brief", VF_BRIEF},
                 {".regroups", VF_REGROUPS}, {".put_off", VF_PUT_OFF}};
    for (const char *at = flags; at < flags + length;) {
        size_t i = 0;
        while (i < COUNT_OF(known) && strncmp(at, known[i].text, strlen(known[i].text)) != 0) i++;
        if (i == COUNT_OF(known)) return parser_fail(parser, "no such flag");
        value->flags |= known[i].flag;
        at += strlen(known[i].text);
    }
    return true;
}

static bool parse_op(Parser *parser, Value *value) {
    parser_skip_space(parser);
    size_t length = parser_name_length(parser->at), op_length = 0;
    while (op_length < length && parser->at[op_length] != '.') op_length++;
    value->op = op_find(parser->at, op_length);
    if (value->op == OP_COUNT) return parser_fail(parser, "no such operation");
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
    TRY(parser_expect(parser, "#") && parser_number(parser, UINT32_MAX, &id));
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
    parser_skip_space(parser);
    size_t length = parser_name_length(parser->at);
    value->imm.func = type_table_function(parser->types, parser->at, length);
    if (!value->imm.func) return parser_fail(parser, "no such library function");
    parser->at += length;
    return true;
}

/* ", f#3", or nothing. */
static bool parse_inst_if_any(Parser *parser, Value *value) {
    parser_skip_space(parser);
    if (*parser->at != ',') return true;
    parser->at++;
    parser_skip_space(parser);
    return parse_inst(parser, value);
}

static bool parse_imm(Parser *parser, Value *value) {
    uint32_t number = 0, second = 0;
    if (op_info[value->op].has_number) {
        TRY(parser_expect(parser, "[") && parser_number(parser, UINT32_MAX, &number));
        value->imm.i = number;
        return parser_expect(parser, "]");
    }
    switch (value->op) {
    case OP_UNPACK_EX:
        TRY(parser_expect(parser, "[") && parser_number(parser, 255, &number));
        TRY(parser_expect(parser, ",") && parser_number(parser, UINT32_MAX, &second));
        value->imm.i = (int64_t)number + ((int64_t)second << 8);
        break;
    case OP_GETATTR:
    case OP_SETATTR:
    case OP_CELL_GET:
    case OP_CHECK_BOUND:
        TRY(parser_expect(parser, "["));
        value->imm.text = parser_accept_name(parser);
        if (!value->imm.text) return parser_fail(parser, "expected a name");
        break;
    case OP_CAST:
        if (!parser_accept(parser, "[")) return true;
        value->imm.text = parser_accept_name(parser);
        if (!value->imm.text) return parser_fail(parser, "expected what it raises");
        break;
    case OP_FUNCTION:
        TRY(parser_expect(parser, "[") && parser_expect(parser, "object#") &&
            parser_number(parser, UINT32_MAX, &number));
        value->imm.object = number;
        break;
    case OP_CALL_FUNC: TRY(parser_expect(parser, "[") && parse_func_ref(parser, value)); break;
    case OP_CALL_INST: TRY(parser_expect(parser, "[") && parse_inst(parser, value)); break;
    case OP_THREADS:
    case OP_MAP:
        TRY(parser_expect(parser, "[") && parser_number(parser, UINT32_MAX, &number));
        value->imm.i = number;
        TRY(parse_inst_if_any(parser, value));
        break;
    case OP_REDUCE: {
        TRY(parser_expect(parser, "["));
        parser_skip_space(parser);
        size_t length = parser_name_length(parser->at);
        value->imm.i = reduction_find(parser->at, length);
        if (value->imm.i == REDUCTION_COUNT) return parser_fail(parser, "no such reduction");
        parser->at += length;
        TRY(parse_inst_if_any(parser, value));
        break;
    }
    default: return true;
    }
    return parser_expect(parser, "]");
}

typedef struct Operands {
    VEC(Value *) values;
    VEC(Block *) labels;
    VEC(const char *) names;
} Operands;

/* One operand; *more says whether the line goes on with another. */
static bool parse_operand(Parser *parser, const Value *value, Operands *operands) {
    if (value->op == OP_PHI) {
        Block *label = parser_block_ref(parser);
        TRY(label);
        vec_push(parser->arena, &operands->labels, label);
    } else if (value->op == OP_CALL || value->op == OP_CALL_EX) {
        bool spread = parser_accept(parser, SPREAD_NAME);
        const char *name = spread ? SPREAD_NAME : *parser->at != '%' ? parser_accept_name(parser) : NULL;
        if (name)
            vec_push(parser->arena, &operands->names, name);
        else if (operands->names.len)
            return parser_fail(parser, "expected a keyword");
        if (name) TRY(parser_expect(parser, "="));
    }
    Value *operand = parser_value_ref(parser);
    TRY(operand);
    vec_push(parser->arena, &operands->values, operand);
    return true;
}

static bool parse_target(Parser *parser) {
    Block *target = parser_block_ref(parser);
    TRY(target);
    vec_push(parser->arena, &parser->block->succs, target);
    return true;
}

static bool parse_operands(Parser *parser, Value *value) {
    Operands operands = {0};
    parser_skip_space(parser);
    Span span = parser_here(parser);
    for (bool more = *parser->at && *parser->at != '\n' && *parser->at != '\r' && !parser_at_word(parser, "is") &&
                     !parser_at_word(parser, "in");
         more;) {
        bool target = value->op != OP_PHI && parser_at_block_ref(parser) && op_is_terminator(value->op);
        TRY(target ? parse_target(parser) : parse_operand(parser, value, &operands));
        more = parser_accept(parser, ",");
        parser_skip_space(parser);
    }
    value->args = operands.values.data;
    value->nargs = (uint32_t)operands.values.len;
    value->imm.names = operands.names.data;
    if (value->op == OP_CALL || value->op == OP_CALL_EX) value->imm.nnames = (uint32_t)operands.names.len;
    span.end_col = parser_here(parser).col;
    if (value->op == OP_PHI) vec_push(parser->arena, &parser->phis, (PhiLabels){value, operands.labels.data, span});
    return true;
}

/* The value that the line defines, or a new one without a number; *defined tells which. */
static Value *parse_result(Parser *parser, bool *defined) {
    *defined = parser_accept(parser, "%");
    if (!*defined) return ARENA_NEW(parser->arena, Value);
    Span span = parser_here(parser);
    Named *named = parser_mention(parser, false);
    TRY(named);
    if (named->defined) {
        diag_fail(parser->diag, DIAG_PARSE, parser->source, span, "the value is defined twice");
        return NULL;
    }
    named->defined = true;
    Value *value = named->object;
    value->name = parser_accept_name(parser);
    if (parser_accept(parser, ":")) TRY(value->type = parser_type(parser));
    TRY(parser_expect(parser, "="));
    return value;
}

static int64_t parse_bound(Parser *parser, int64_t otherwise) {
    parser_skip_space(parser);
    if (*parser->at != '-' && !isdigit((unsigned char)*parser->at)) return otherwise;
    char *end;
    int64_t bound = strtoll(parser->at, &end, 10);
    parser->at = end;
    return bound;
}

/* 0..99 */
static bool parse_bounds(Parser *parser, Value *value) {
    if (!value->type || !type_is_integer(value->type)) return parser_fail(parser, "bounds are of integers");
    Bounds *bounds = ARENA_NEW(parser->arena, Bounds);
    *bounds = type_bounds(value->type);
    bounds->lo = parse_bound(parser, bounds->lo);
    TRY(parser_expect(parser, ".."));
    bounds->hi = parse_bound(parser, bounds->hi);
    value->bounds = bounds;
    return true;
}

static bool parse_line(Parser *parser) {
    if (!parser->block) return parser_fail(parser, "expected a block");
    bool defined;
    parser_skip_space(parser);
    Span span = parser_here(parser);
    Value *value = parse_result(parser, &defined);
    TRY(value && parse_op(parser, value));
    if (defined != op_has_result(value->op))
        return parser_fail(parser,
                           defined ? "the operation has no result" : "the operation has a result: give it a number");
    TRY(parse_imm(parser, value));
    if (value->op == OP_CONST) {
        TRY(value->konst = parser_const(parser));
        if (!value->type) value->type = value->konst->type;
    } else {
        TRY(parse_operands(parser, value));
        if (parser_accept_word(parser, "is")) TRY(value->konst = parser_const(parser));
    }
    if (parser_accept_word(parser, "in")) TRY(parse_bounds(parser, value));
    span.end_col = parser_here(parser).col;
    value->span = span;
    block_put_last(parser->block, value);
    if (!defined) vec_push(parser->arena, &parser->unnumbered, value);
    return parser_expect_line_end(parser);
}

static bool parse_block_head(Parser *parser) {
    parser->at++;
    Named *named = parser_mention(parser, true);
    TRY(named);
    if (named->defined) return parser_fail(parser, "the block is defined twice");
    named->defined = true;
    parser->block = named->object;
    vec_push(parser->arena, &parser->func->blocks, parser->block);
    if (parser->func->blocks.len == 1)
        for (uint32_t i = 0; i < parser->func->nparams; i++)
            block_put_last(parser->block, parser->values.data[i].object);
    parser->block->unwinds = parser_accept_word(parser, "unwind");
    if (parser->block->unwinds) TRY(parse_target(parser));
    if (parser_accept_word(parser, "unroll")) {
        uint32_t rounds = UNROLL_NEVER;
        if (!parser_accept_word(parser, "never")) TRY(parser_number(parser, UNROLL_NEVER - 1, &rounds));
        parser->block->unroll = (uint8_t)rounds;
        parser->block->unroll_whole = parser_accept_word(parser, "whole");
    }
    return parser_expect(parser, ":") && parser_expect_line_end(parser);
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
    parser_skip_space(&parser);
    if (*parser.at == '\n') TRY(parser_expect_line_end(&parser));
    TRY(parse_signature(&parser));
    while (!parser_accept(&parser, "}")) {
        if (parser_at_block_ref(&parser))
            TRY(parse_block_head(&parser));
        else
            TRY(parse_line(&parser));
    }
    parser_skip_space(&parser);
    if (*parser.at) TRY(parser_expect_line_end(&parser));
    if (*parser.at) {
        parser_fail(&parser, "expected the end of the text");
        return NULL;
    }
    TRY(finish(&parser));
    return parser.func;
}
