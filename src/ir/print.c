/* print.c: a function as text (the form is described in ir.h; parse.c reads it).
 *
 * What is printed is what there is: a function that is not finished or not consistent prints too, with "?" where
 * something is missing, because the verifier shows faults in this text. */
#include "ir/block_graph.h"

#include <ctype.h>  /* isalnum */
#include <string.h> /* strlen */

static const struct {
    uint32_t flag;
    const char *text;
} flag_text[] = {
    {VF_INPLACE, ".inplace"},   {VF_UNCHECKED, ".unchecked"}, {VF_FORWARD, ".forward"},   {VF_CHECKED, ".checked"},
    {VF_NOWRAP, ".nowrap"},     {VF_SHARED, ".shared"},       {VF_IMPLICIT, ".implicit"}, {VF_OWNED, ".owned"},
    {VF_LOOKS, ".looks"},       {VF_SKIPPED, ".skipped"},     {VF_INLINE, ".inline"},     {VF_BRIEF, ".brief"},
    {VF_REGROUPS, ".regroups"}, {VF_PUT_OFF, ".put_off"},
};

/* An attribute or variable name; quoted if it is not made of the characters of names and dots. */
static void print_name(Buf *buf, const char *name) {
    bool plain = *name != 0;
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.' && !(*at & 0x80)) plain = false;
    if (plain)
        buf_puts(buf, name);
    else
        const_print(buf, &(Const){.type = &(Type){.kind = TY_STR}, .text = name});
}

static void print_inst(Buf *buf, const FuncInst *inst) {
    const char *name = inst && inst->untyped && inst->untyped->name ? inst->untyped->name : "";
    if (inst)
        buf_printf(buf, "%s#%u", name, (unsigned)inst->id);
    else
        buf_putc(buf, '?');
}

static void print_imm(Buf *buf, const Value *value) {
    long long i = (long long)value->imm.i;
    if (op_info[value->op].has_number) {
        buf_printf(buf, "[%lld]", i);
        return;
    }
    switch (value->op) {
    case OP_UNPACK_EX: buf_printf(buf, "[%lld, %lld]", i & 255, i >> 8); return;
    case OP_GETATTR:
    case OP_SETATTR:
    case OP_CELL_GET:
    case OP_CHECK_BOUND:
        buf_putc(buf, '[');
        print_name(buf, value->imm.text ? value->imm.text : "?");
        buf_putc(buf, ']');
        return;
    case OP_CAST:
        if (!value->imm.text) return;
        buf_putc(buf, '[');
        print_name(buf, value->imm.text);
        buf_putc(buf, ']');
        return;
    case OP_FUNCTION: buf_printf(buf, "[object#%u]", (unsigned)value->imm.object); return;
    case OP_CALL_FUNC: buf_printf(buf, "[%s]", value->imm.func ? func_name(buf->arena, value->imm.func) : "?"); return;
    case OP_CALL_INST:
        buf_putc(buf, '[');
        print_inst(buf, value->imm.inst);
        buf_putc(buf, ']');
        return;
    case OP_REDUCE:
        buf_printf(buf, "[%s", i >= 0 && i < REDUCTION_COUNT ? reduction_text[i] : "?");
        if (value->imm.inst) buf_puts(buf, ", "), print_inst(buf, value->imm.inst);
        buf_putc(buf, ']');
        return;
    case OP_THREADS:
    case OP_MAP:
        buf_printf(buf, "[%lld", i);
        if (value->imm.inst) buf_puts(buf, ", "), print_inst(buf, value->imm.inst);
        buf_putc(buf, ']');
        return;
    default: return;
    }
}

static void print_ref(Buf *buf, const Value *value) {
    if (value)
        buf_printf(buf, "%%%u", (unsigned)value->id);
    else
        buf_putc(buf, '?');
}

static void print_block_ref(Buf *buf, const Block *block) {
    if (block)
        buf_printf(buf, "b%u", (unsigned)block->id);
    else
        buf_puts(buf, "b?");
}

static void print_args(Buf *buf, const Value *value) {
    bool phi = value->op == OP_PHI;
    uint32_t keywords = value->op == OP_CALL || value->op == OP_CALL_EX ? value->imm.nnames : 0;
    for (uint32_t i = 0; i < value->nargs; i++) {
        buf_puts(buf, i ? ", " : " ");
        if (phi) {
            const Block *block = value->block;
            print_block_ref(buf, block && i < block->preds.len ? block->preds.data[i] : NULL);
            buf_putc(buf, ' ');
        }
        if (i + keywords >= value->nargs) buf_printf(buf, "%s=", value->imm.names[i + keywords - value->nargs]);
        print_ref(buf, value->args[i]);
    }
}

/* " in 0..99"; a bound that is the type's is left out. */
static void print_bounds(Buf *buf, const Value *value) {
    if (!value->bounds || !value->type || !type_is_integer(value->type)) return;
    Bounds type = type_bounds(value->type);
    buf_puts(buf, " in ");
    if (value->bounds->lo != type.lo) buf_printf(buf, "%lld", (long long)value->bounds->lo);
    buf_puts(buf, "..");
    if (value->bounds->hi != type.hi) buf_printf(buf, "%lld", (long long)value->bounds->hi);
}

static void print_value(Buf *buf, const Value *value) {
    buf_puts(buf, "  ");
    if (op_has_result(value->op)) {
        print_ref(buf, value);
        if (value->name) {
            buf_putc(buf, ' ');
            print_name(buf, value->name);
        }
        /* The text of a constant says its type. */
        if (value->type && !(value->op == OP_CONST && value->konst && value->konst->type == value->type)) {
            buf_puts(buf, ": ");
            type_print(buf, value->type);
        }
        buf_puts(buf, " = ");
    }
    buf_puts(buf, op_info[value->op].text);
    for (size_t i = 0; i < COUNT_OF(flag_text); i++)
        if (value->flags & flag_text[i].flag) buf_puts(buf, flag_text[i].text);
    print_imm(buf, value);
    print_args(buf, value);
    if (value->konst) {
        buf_puts(buf, value->op == OP_CONST ? " " : " is ");
        const_print(buf, value->konst);
    }
    print_bounds(buf, value);
    if (value->block && value->block->last == value)
        for (size_t i = 0; i < block_normal_succs(value->block); i++) {
            buf_puts(buf, i || value->nargs ? ", " : " ");
            print_block_ref(buf, value->block->succs.data[i]);
        }
    buf_putc(buf, '\n');
}

/* The OP_PARAM of parameter number `index`, if it stands where it belongs; it is then shown in the first line alone. */
static const Value *canonical_param(const Func *func, uint32_t index) {
    const Value *value = func->blocks.len ? func->blocks.data[0]->first : NULL;
    for (uint32_t i = 0; value && value->op == OP_PARAM && value->id == i && value->imm.i == i;
         i++, value = value->next)
        if (i == index) return value;
    return NULL;
}

static void print_signature(Buf *buf, const Func *func) {
    static const char *const before[] = {
        [PARAM_POSITIONAL_ONLY] = "posonly ", [PARAM_NORMAL] = "",        [PARAM_VARARGS] = "*",
        [PARAM_KEYWORD_ONLY] = "kwonly ",     [PARAM_VARKEYWORDS] = "**", [PARAM_CELL] = "cell ",
    };
    buf_printf(buf, "func %s(", func->name ? func->name : "");
    for (uint32_t i = 0; i < func->nparams; i++) {
        const Param *param = &func->params[i];
        const Value *value = canonical_param(func, i);
        buf_printf(buf, "%s%s", i ? ", " : "", before[param->kind]);
        print_name(buf, param->name ? param->name : "");
        if (value && value->type) {
            buf_puts(buf, ": ");
            type_print(buf, value->type);
        }
        if (value && value->konst) {
            buf_puts(buf, " is ");
            const_print(buf, value->konst);
        }
        if (param->fallback) {
            buf_puts(buf, " = ");
            const_print(buf, param->fallback);
        } else if (param->has_default) {
            buf_puts(buf, " = ...");
        }
    }
    buf_putc(buf, ')');
    if (func->result) {
        buf_puts(buf, " -> ");
        type_print(buf, func->result);
    }
    buf_puts(buf, " {\n");
}

void func_print_annotated(Buf *buf, const Func *func, const Annotator *annotator) {
    print_signature(buf, func);
    if (annotator) annotator->annotate(annotator->self, buf, NULL, NULL);
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Block *block = func->blocks.data[b];
        print_block_ref(buf, block);
        if (block->unwinds) {
            buf_puts(buf, " unwind ");
            print_block_ref(buf, block_unwind(block));
        }
        if (block->unroll == UNROLL_NEVER)
            buf_puts(buf, " unroll never");
        else if (block->unroll)
            buf_printf(buf, " unroll %u%s", block->unroll, block->unroll_whole ? " whole" : "");
        buf_puts(buf, ":\n");
        if (annotator) annotator->annotate(annotator->self, buf, block, NULL);
        for (const Value *value = block->first; value; value = value->next) {
            bool in_signature = b == 0 && value->op == OP_PARAM && value->imm.i >= 0 && value->imm.i < func->nparams &&
                                canonical_param(func, (uint32_t)value->imm.i) == value && !value->flags;
            if (!in_signature) print_value(buf, value);
            if (annotator) annotator->annotate(annotator->self, buf, block, value);
        }
    }
    buf_puts(buf, "}\n");
}

void func_print(Buf *buf, const Func *func) { func_print_annotated(buf, func, NULL); }
