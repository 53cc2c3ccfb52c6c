/* doubles.c: which operations of a kernel compute in float64: option fp64='warn'.
 *
 * In: the typed functions of a job, as inference left them.  Out: a note for each place where a float64 is computed,
 * compared or converted, one for each text in a line, in the order of the source.  Loads, stores and copies cost no
 * arithmetic and are left out.  What functions of the prelude compute is noted where they are called from. */
#include "driver/job.h"

#include <string.h> /* strcmp */

typedef struct Doubles {
    Job *job;
    bool *known, *computes; /* by FuncInst.id, of prelude functions */
} Doubles;

static bool is_double(const Type *type) {
    return type && type->kind == TY_SCALAR && (type->scalar == SCALAR_FLOAT64 || type->scalar == SCALAR_COMPLEX128);
}

/* A computed operand or result is a float64. */
static bool computes_double(const Value *value) {
    bool computed = op_is_unary(value->op) || op_is_binary(value->op) || op_is_comparison(value->op) ||
                    value->op == OP_TRUTH || value->op == OP_NOT || value->op == OP_CALL_FUNC;
    bool copies = value->op == OP_CALL_FUNC && func_effects(value->imm.func) & EFFECT_SYNC;
    bool has = is_double(value->type);
    if (value->op == OP_CAST)
        return is_double(value->type) != is_double(value->args[0]->type) && !value->args[0]->konst;
    for (uint32_t i = 0; i < value->nargs; i++) has |= is_double(value->args[i]->type);
    return computed && !copies && has;
}

static bool calls_doubles(Doubles *d, const Value *value);

static bool function_computes(Doubles *d, const FuncInst *inst) {
    if (d->known[inst->id]) return d->computes[inst->id];
    d->known[inst->id] = true; /* recursion: not on account of itself */
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next)
            d->computes[inst->id] |= computes_double(value) || calls_doubles(d, value);
    return d->computes[inst->id];
}

static bool calls_doubles(Doubles *d, const Value *value) {
    const FuncInst *callee = value_callee(value);
    return callee && (callee->untyped->prelude || !callee->object) && function_computes(d, callee);
}

/* ---- words ---- */

/* 2.0 that became a float64 is 2.0. */
static const Const *as_written(Doubles *d, const Const *konst) {
    bool real = konst->type->scalar == SCALAR_FLOAT64;
    return real ? const_float(d->job->arena, d->job->session->types, konst->f) : konst;
}

static void operand_text(Doubles *d, Buf *text, const Value *operand) {
    if (operand->op == OP_CAST) operand = operand->args[0];
    if (operand->name)
        buf_printf(text, "`%s` (%s)", operand->name, type_text(d->job->arena, operand->type));
    else if (operand->konst && operand->konst->type->kind == TY_SCALAR)
        const_print(text, as_written(d, operand->konst));
    else
        buf_puts(text, type_text(d->job->arena, operand->type));
}

static const char *operation_text(Doubles *d, const Value *value) {
    Buf text;
    buf_init(&text, d->job->arena);
    if (value->op == OP_CALL_FUNC)
        buf_printf(&text, "`%s`", func_name(d->job->arena, value->imm.func));
    else if (value_callee(value))
        buf_printf(&text, "a call of `%s`", value_callee(value)->untyped->name);
    else if (value->op == OP_CAST)
        buf_printf(&text, "the conversion to %s", type_text(d->job->arena, value->type));
    else
        buf_printf(&text, "`%s`", op_info[value->op].doc);
    const char *between = " of ";
    for (uint32_t i = 0; i < value->nargs; i++) {
        buf_puts(&text, between);
        operand_text(d, &text, value->args[i]);
        between = i + 2 == value->nargs ? " and " : ", ";
    }
    return text.text;
}

/* ---- places ---- */

/* A conversion is told with what computes of it in the same line. */
static bool is_told_with_user(const Func *func, const Value *cast) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *user = func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++)
                if (user->args[i] == cast && user->op != OP_CAST && computes_double(user)) return true;
    return false;
}

static void note(Doubles *d, DoubleNotes *notes, const Func *func, const Value *value) {
    const char *file = func->source ? func->source->file : "?", *text = operation_text(d, value);
    for (size_t i = 0; i < notes->len; i++)
        if (notes->data[i].line == value->span.line && !strcmp(notes->data[i].text, text) &&
            !strcmp(notes->data[i].file, file))
            return;
    vec_push(d->job->arena, notes, ((DoubleNote){file, func->name, text, value->span.line}));
}

static bool is_above(const DoubleNote *a, const DoubleNote *b) {
    int files = strcmp(a->file, b->file);
    return files ? files < 0 : a->line < b->line;
}

/* Those of one line stay in the order in which they were found. */
static void sort_notes(DoubleNotes *notes) {
    for (size_t i = 1; i < notes->len; i++) {
        DoubleNote note = notes->data[i];
        size_t at = i;
        for (; at && is_above(&note, &notes->data[at - 1]); at--) notes->data[at] = notes->data[at - 1];
        notes->data[at] = note;
    }
}

void doubles_find(Job *job) {
    size_t count = job->insts.len;
    Doubles d = {job, ARENA_ARRAY(job->arena, bool, count + 1), ARENA_ARRAY(job->arena, bool, count + 1)};
    for (size_t i = 0; i < count; i++) {
        const FuncInst *inst = job->insts.data[i];
        if (inst->untyped->prelude || !inst->object) continue;
        for (size_t b = 0; b < inst->func->blocks.len; b++)
            for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
                bool tells = computes_double(value) || calls_doubles(&d, value);
                if (tells && !(value->op == OP_CAST && is_told_with_user(inst->func, value)))
                    note(&d, &job->doubles, inst->func, value);
            }
    }
    sort_notes(&job->doubles);
}
