/* captures.c: lists, dicts and sets of global variables come in as parameters.
 *
 * In: a program whose functions name them, OP_CAPTURED.  Out: a program in which the first function has a parameter for
 * each whose type inference has looked at, behind its own, and hands them down to the functions that use them, or call
 * one that does; Captured.param says which.  So each call compares its type with what the code was made for, even if no
 * operation is left that names it: none is of a loop over what was empty.  From here on they are as what a call was
 * given: borrowed, and written to or not (pass written).
 *
 * What is called by a loop over elements gets elements alone: there it is refused. */
#include <string.h> /* memcpy */

#include "passes/private.h"

typedef struct Handing {
    Program *program;
    Captures *captures;
    bool **needs; /* by number of the function in program->insts, then by number of the capture */
} Handing;

static bool *needs_of(const Handing *h, const FuncInst *inst) { return h->needs[inst->id]; }

static bool has_any(const Handing *h, const FuncInst *inst) {
    for (size_t k = 0; k < h->captures->len; k++)
        if (needs_of(h, inst)[k]) return true;
    return false;
}

static bool note_needs(const Handing *h, const FuncInst *inst) {
    bool more = false;
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            const FuncInst *callee = value_callee(value);
            for (size_t k = 0; k < h->captures->len; k++) {
                bool uses = value->op == OP_CAPTURED ? (size_t)value->imm.i == k : callee && needs_of(h, callee)[k];
                if (uses && !needs_of(h, inst)[k]) more = needs_of(h, inst)[k] = true;
            }
        }
    return more;
}

static void find_needs(Handing *h) {
    const Program *program = h->program;
    size_t most = 0;
    for (size_t i = 0; i < program->count; i++) most = program->insts[i]->id >= most ? program->insts[i]->id + 1 : most;
    h->needs = ARENA_ARRAY(program->arena, bool *, most);
    for (size_t i = 0; i < most; i++) h->needs[i] = ARENA_ARRAY(program->arena, bool, h->captures->len);
    for (size_t k = 0; k < h->captures->len; k++) needs_of(h, program->insts[0])[k] = h->captures->data[k].looked_at;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = program->count; i-- > 0;) more |= note_needs(h, program->insts[i]);
    }
}

static bool check_calls(const Handing *h, const FuncInst *inst) {
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            const FuncInst *callee = value_callee(value);
            if (!callee || value->op == OP_CALL_INST || !has_any(h, callee)) continue;
            diag_fail(h->program->diag, DIAG_UNSUPPORTED, inst->func->source, value->span,
                      "a function of elements, %s, uses a list, dict or set of a global variable",
                      callee->untyped->name);
            diag_hint(h->program->diag, "make it a tuple or an array, which is a constant, or call it in a loop");
            return false;
        }
    return true;
}

/* ---- parameters ---- */

static void add_params(const Handing *h, FuncInst *inst, Value **params) {
    Arena *arena = h->program->arena;
    uint32_t count = inst->untyped->nparams, more = count;
    size_t most = count + h->captures->len;
    Func *untyped = ARENA_NEW(arena, Func);
    const Type **types = ARENA_ARRAY(arena, const Type *, most);
    const Const **konsts = ARENA_ARRAY(arena, const Const *, most);
    *untyped = *inst->untyped;
    untyped->params = ARENA_ARRAY(arena, Param, most);
    if (count) memcpy(untyped->params, inst->untyped->params, count * sizeof *untyped->params);
    for (uint32_t i = 0; i < count; i++) types[i] = inst->types[i], konsts[i] = inst->konsts ? inst->konsts[i] : NULL;
    Value *first = inst->func->blocks.data[0]->first;
    while (first->op == OP_PARAM) first = first->next;
    for (size_t k = 0; k < h->captures->len; k++) {
        if (!needs_of(h, inst)[k]) continue;
        params[k] = value_new(inst->func, OP_PARAM, inst->func->span, NULL, 0);
        params[k]->type = types[more] = h->captures->data[k].type;
        params[k]->imm.i = more;
        value_insert_before(first, params[k]);
        untyped->params[more++] = (Param){.name = "captured", .kind = PARAM_NORMAL};
    }
    untyped->nparams = inst->func->nparams = more;
    inst->untyped = untyped;
    inst->func->params = untyped->params;
    inst->types = types;
    inst->konsts = konsts;
}

static void hand_down(const Handing *h, Value *call, Value *const *params) {
    Value **args = ARENA_ARRAY(h->program->arena, Value *, call->nargs + h->captures->len);
    uint32_t count = call->nargs;
    if (count) memcpy(args, call->args, count * sizeof *args);
    for (size_t k = 0; k < h->captures->len; k++)
        if (needs_of(h, call->imm.inst)[k]) args[count++] = params[k];
    call->args = args;
    call->nargs = count;
}

static void change(const Handing *h, FuncInst *inst) {
    Value **params = ARENA_ARRAY(h->program->arena, Value *, h->captures->len);
    add_params(h, inst, params);
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (Value *value = inst->func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            if (value->op == OP_CALL_INST && has_any(h, value->imm.inst)) hand_down(h, value, params);
            if (value->op != OP_CAPTURED) continue;
            value_replace(inst->func, value, params[value->imm.i]);
            value_remove(value);
        }
    func_renumber(inst->func);
}

bool pass_captures(Program *program) {
    Handing h = {.program = program, .captures = program->captures};
    if (!h.captures || !h.captures->len) return true;
    find_needs(&h);
    const FuncInst *root = program->insts[0];
    uint32_t param = root->untyped->nparams;
    for (size_t i = 0; i < program->count; i++) TRY(check_calls(&h, program->insts[i]));
    for (size_t k = 0; k < h.captures->len; k++) h.captures->data[k].param = needs_of(&h, root)[k] ? ++param : 0;
    for (size_t i = 0; i < program->count; i++)
        if (has_any(&h, program->insts[i])) change(&h, program->insts[i]);
    return true;
}
