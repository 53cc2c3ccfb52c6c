/* rules_python.c: calls of functions written in Python.
 *
 * In: the function, the closure if it is one, and the arguments, positional and by keyword.  Out: a call of an instance
 * of the function with one operand for each of its parameters.
 *
 * Constants as arguments.  An instance is made for types.  A constant is part of the request only where it decides
 * something: None, functions, types and strings (their type or text is their value), True and False given literally,
 * and literal ints or tuples of ints whose parameter reaches, inside the callee, an argument that must be a constant
 * (the shape of a shared array).  So the number of instances is bounded by what the program's text says, not by values
 * that loops produce. */
#include <string.h> /* strcmp */

#include "typeinfer/binding.h"
#include "typeinfer/rules_library.h" /* typing_choose_signature */

/* ---- which parameters must be constants ---- */

enum { CONSTANT_DEPTH = 4 };

static bool param_needs_constant(Infer *in, const Func *func, uint32_t param, unsigned depth);

/* Whether operand number k of this call must be a constant. */
static bool operand_needs_constant(Infer *in, const Value *call, uint32_t k, unsigned depth) {
    const Type *callee = call->args[0]->konst ? call->args[0]->konst->type : NULL;
    bool keyword = k >= call->nargs - call->imm.nnames;
    if (!callee || k == 0) return false;
    if (callee->kind == TY_FUNC) {
        uint32_t constants = func_row(callee->func)->constants;
        return keyword ? constants != 0 : k <= 32 && (constants & 1u << (k - 1));
    }
    if (callee->kind != TY_PYFUNC || depth == 0) return false;
    const Func *inner = in->host->translate(in->host->self, callee->object);
    for (uint32_t p = 0; inner && p < inner->nparams; p++) {
        bool same = keyword ? strcmp(inner->params[p].name, call->imm.names[k - (call->nargs - call->imm.nnames)]) == 0
                            : p == k - 1;
        if (same) return param_needs_constant(in, inner, p, depth - 1);
    }
    return false;
}

/* Forward from the parameter through tuples and arithmetic, in the order of the text; loops add nothing that matters
 * here. */
static bool flows_to_constant(Infer *in, const Func *func, uint32_t param, unsigned depth) {
    bool *derived = ARENA_ARRAY(in->arena, bool, func->next_value);
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (value->op == OP_PARAM) {
                derived[value->id] = value->imm.i == param;
                continue;
            }
            bool any = false;
            for (uint32_t i = 0; i < value->nargs; i++) {
                if (!derived[value->args[i]->id]) continue;
                any = true;
                if (value->op == OP_CALL && operand_needs_constant(in, value, i, depth)) return true;
            }
            bool passes = (value->op >= OP_ADD && value->op <= OP_XOR) || value->op == OP_TUPLE ||
                          value->op == OP_EXTRACT || value->op == OP_TUPLE_CONCAT || value->op == OP_UNPACK ||
                          value->op == OP_GETITEM || value->op == OP_NEG;
            derived[value->id] = any && passes;
        }
    return false;
}

/* Asked at every call: each parameter of a function is looked at once for each depth. */
static bool param_needs_constant(Infer *in, const Func *func, uint32_t param, unsigned depth) {
    Param *p = &func->params[param];
    if (!(p->asked & 1u << depth)) {
        bool needs = flows_to_constant(in, func, param, depth);
        p->asked |= (uint8_t)(1u << depth);
        if (needs) p->needs_constant |= (uint8_t)(1u << depth);
    }
    return p->needs_constant >> depth & 1;
}

static bool holds_text(const Type *type) {
    if (type->kind == TY_STR || type_is_bytes(type)) return true;
    for (uint32_t i = 0; type->kind == TY_TUPLE && i < type->count; i++)
        if (holds_text(type->items[i])) return true;
    return false;
}

static bool holds_only_ints(const Type *type) {
    if (type->kind != TY_TUPLE) return type_is_integer(type);
    for (uint32_t i = 0; i < type->count; i++)
        if (!holds_only_ints(type->items[i])) return false;
    return true;
}

/* The constant that is part of the request for an instance, or NULL. */
static const Const *request_constant(Infer *in, const Func *callee, uint32_t param, Fact fact) {
    if (!fact.konst) return NULL;
    if (callee->params[param].kind == PARAM_VARKEYWORDS)
        return fact.konst; /* it is handed on, maybe to what needs it */
    if (holds_text(fact.type)) return fact.konst;
    if (fact.type->kind == TY_SCALAR && fact.type->scalar == SCALAR_BOOL && fact.type->weak) return fact.konst;
    if (holds_only_ints(fact.type) && param_needs_constant(in, callee, param, CONSTANT_DEPTH)) return fact.konst;
    return NULL;
}

/* ---- the call ---- */

/* A text that is part of what is not known, as of (x, "y") for *args, is one made at run time. */
static void make_texts(Typing *t, const Type **type, Value **value) {
    const Type *general = t->in->device || !holds_text(*type) ? *type : typeinfer_general(t->in, *type);
    if (general == *type) return;
    if (t->emit) *value = typing_make_cast(t, *value, general);
    *type = general;
}

bool typing_points_into_frame(const Type *type) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++)
        if (repr->leaves[i].kind == LEAF_STATE) return true;
    return false;
}

/* What it yields is not known yet: the call would be typed as if that were nothing. */
static bool is_open_generator(const Type *type) {
    if (type->kind == TY_GENERATOR && type->items[0]->kind == TY_BOTTOM) return true;
    bool inside = type->kind == TY_ITER || type->kind == TY_TUPLE || type->kind == TY_OPTIONAL;
    for (uint32_t i = 0; inside && i < type->count; i++)
        if (is_open_generator(type->items[i])) return true;
    return false;
}

/* Until all that is known of other calls is settled. */
static bool waits_for_items(Typing *t) {
    OpenCalls *open = t->in->config->open;
    size_t i = 0;
    if (!open) return true;
    while (i < open->sites.len && (open->sites.data[i].caller != t->in->inst || open->sites.data[i].call != t->at)) i++;
    if (i == open->sites.len) vec_push(t->in->arena, &open->sites, ((CallSite){t->in->inst, t->at}));
    return i >= open->closed;
}

/* A generator may outlive the function that makes it: only one that is walked there may refer to what lies in its
 * frame. */
static bool check_generator(Typing *t, const Func *callee, const Type *const *types) {
    if (t->in->device) {
        typing_fail(t, DIAG_UNSUPPORTED, "%s() makes a generator, which kernels cannot", callee->name);
        return typing_hint(t, "write the loop where its items are used");
    }
    for (uint32_t p = 0; p < callee->nparams; p++) {
        if (!typing_points_into_frame(types[p])) continue;
        bool cell = callee->params[p].kind == PARAM_CELL, walked = t->at->flags & VF_WALKED && !t->is_part;
        if (walked && cell && typing_only_shares(types[p])) continue;
        typing_fail(t, DIAG_UNSUPPORTED,
                    cell ? "the generator %s() shares the changing variable `%s` with the function it is made in"
                         : "the generator %s() is given an iterator, its argument `%s`",
                    callee->name, callee->params[p].name);
        return typing_hint(t,
                           cell ? "use it up before the variable changes, or pass the variable to a generator function"
                                : "pass what is iterated over, a list, an array or another generator");
    }
    return true;
}

/* ---- tuples that grow with each call of a function by itself ----
 *
 * Such an argument has any length, for the function that calls and for its callers (FuncInst.wanted).  The prelude's
 * functions end: what they put together are shapes. */

/* A function that exchanges its arguments does not make them longer. */
static bool is_exchanged(const FuncInst *inst, const Type *type) {
    for (uint32_t q = 0; q < inst->untyped->nparams; q++)
        if (inst->types[q] == type) return true;
    return false;
}

static void widen(Typing *t, ObjRef function, const Func *callee, uint32_t p, const Type **type) {
    Infer *in = t->in;
    FuncInst *inst = in->inst;
    if (inst->object != function || in->device || callee->prelude || p >= inst->untyped->nparams || !inst->types)
        return;
    const Type *own = inst->types[p], *joined;
    if (callee->params[p].kind == PARAM_CELL || own->kind != TY_TUPLE || (*type)->kind != TY_TUPLE) return;
    if (own->count >= (*type)->count || is_exchanged(inst, *type)) return;
    joined = typeinfer_join(in->config->promotion, in->types, own, *type);
    if (!joined || joined->kind != TY_VARTUPLE) return;
    *type = joined;
    if (!inst->caller || (inst->wanted && inst->wanted[p] == joined)) return;
    if (!inst->wanted) inst->wanted = ARENA_ARRAY(in->arena, const Type *, inst->untyped->nparams);
    inst->wanted[p] = joined;
    inst->wants = true;
}

/* What an instance has asked for; true: another one is meant. */
static bool take_wanted(const FuncInst *inst, uint32_t nparams, const Type **types) {
    bool other = false;
    for (uint32_t p = 0; inst->wanted && p < nparams; p++) {
        const Type *wanted = inst->wanted[p];
        if (!wanted || wanted->kind != TY_VARTUPLE || types[p]->kind != TY_TUPLE) continue;
        types[p] = wanted;
        other = true;
    }
    return other;
}

/* What the callee puts into an argument that holds nothing, which may be the default; or numbers of another type than
 * those that it holds, for which it is made otherwise if it can be. */
static bool fill_argument(Typing *t, const Param *param, Value *value, const Type *from, const Type *to) {
    Infer *in = t->in;
    if (value && typeinfer_unnamed(in, from) != from) return typeinfer_grow(in, value, to), true;
    if (value && !typeinfer_is_open(from) && typeinfer_wider(in, from, to) == to)
        return typing_widen_argument(t, param->name, value, from, to);
    if (value)
        typeinfer_fill(in, value, from, to);
    else if (param->fallback && param->fallback->captured && typeinfer_is_open(from))
        typeinfer_want_captured(in, param->fallback->i, to);
    return true;
}

/* What the callee puts into what it closes over, where the closure was made elsewhere: it is to hold that. */
static bool fill_closure(Binding *b, uint32_t param, const Type *to) {
    const Type *closure = b->closure;
    uint32_t cell = 2;
    if (b->values[param] || b->callee->params[param].kind != PARAM_CELL || !b->closure_value) return false;
    for (uint32_t p = 0; p < param; p++) cell += b->callee->params[p].kind == PARAM_CELL;
    if (cell >= closure->count) return false;
    const Type **items = ARENA_ARRAY(b->t->in->arena, const Type *, closure->count);
    for (uint32_t i = 0; i < closure->count; i++) items[i] = i == cell ? to : closure->items[i];
    const Type *filled = type_with_items(b->t->in->types, TY_CLOSURE, closure->object, items, closure->count);
    typeinfer_fill(b->t->in, value_resolve(b->closure_value), closure, filled);
    return true;
}

/* What the callee calls cannot be translated, which was met by looking ahead for what needs constants. */
static bool refuse_ahead(Typing *t, const Func *callee) {
    typeinfer_advise(t->in->config, t->in->diag);
    typeinfer_tell_of_library(t->in->func->source, t->at, callee->source, callee->name, t->in->diag);
    t->failed = true;
    return false;
}

bool typing_call_python(Typing *t, ObjRef function, const Type *closure, Value *closure_value) {
    Infer *in = t->in;
    const Func *callee = in->host->translate(in->host->self, function);
    if (!callee) {
        if (!in->quiet || in->diag->failed) diag_note(in->diag, in->func->source, t->at->span, "called from here");
        const Source *met = in->diag->source;
        if (in->diag->failed) typeinfer_advise(in->config, in->diag);
        if (in->diag->failed && met && met->function)
            typeinfer_tell_of_library(in->func->source, t->at, met, met->function, in->diag);
        t->failed = true;
        return false;
    }
    UfuncShape shape;
    if (in->host->ufunc(in->host->self, function, &shape)) {
        if (!shape.count) return typing_call_vectorized(t, type_object(in->types, TY_PYFUNC, function));
        return typing_call_generalised(t, function, &shape, callee->name);
    }
    Binding b;
    TRY(binding_of_call(&b, t, callee, closure, closure_value));
    const Type **types = ARENA_ARRAY(in->arena, const Type *, callee->nparams);
    const Const **konsts = ARENA_ARRAY(in->arena, const Const *, callee->nparams);
    InferSignature signature;
    for (uint32_t p = 0; p < callee->nparams; p++) types[p] = b.facts[p].type;
    TRY(typing_choose_signature(t, function, callee, types, &signature));
    for (uint32_t p = 0; p < callee->nparams; p++) {
        if (!signature.args) {
            konsts[p] = request_constant(in, callee, p, b.facts[p]);
            if (in->diag->failed) return refuse_ahead(t, callee);
            if (!konsts[p]) make_texts(t, &types[p], &b.values[p]);
            continue;
        }
        if (t->emit) b.values[p] = typing_declared_cast(t, b.values[p], signature.args[p]);
        types[p] = signature.args[p];
    }
    for (uint32_t p = 0; !signature.args && p < callee->nparams; p++) {
        widen(t, function, callee, p, &types[p]);
        if (types[p]->kind == TY_VARTUPLE) konsts[p] = NULL;
    }
    if (callee->generator) TRY(check_generator(t, callee, types));
    for (uint32_t p = 0; p < callee->nparams; p++)
        if (is_open_generator(types[p]) && waits_for_items(t)) return typing_result(t, infer_bottom(in), NULL);
    const Type *expected = !t->is_part && t->at->id < in->nexpected ? in->expected[t->at->id] : NULL;
    if (callee->generator && expected) /* of its body only what `yield` gives is not known otherwise */
        expected = expected->count > 1 ? type_generator(in->types, infer_none(in), expected->items[1], NULL) : NULL;
    const InferRequest request = {function, types, konsts, expected};
    FuncInst *inst = in->host->instance(in->host->self, &request, (CallSite){in->inst, t->at});
    if (inst && take_wanted(inst, callee->nparams, types)) {
        for (uint32_t p = 0; p < callee->nparams; p++)
            if (types[p]->kind == TY_VARTUPLE) konsts[p] = NULL;
        inst = in->host->instance(in->host->self, &request, (CallSite){in->inst, t->at});
    }
    for (uint32_t p = 0; t->emit && p < callee->nparams; p++)
        if (types[p]->kind == TY_VARTUPLE) b.values[p] = typing_make_cast(t, b.values[p], types[p]);
    if (!inst) {
        if (in->diag->failed) diag_note(in->diag, in->func->source, t->at->span, "called from here");
        t->failed = true;
        return false;
    }
    for (uint32_t p = 0; !t->emit && inst->wanted && p < callee->nparams; p++)
        if (inst->wanted[p] && !fill_closure(&b, p, inst->wanted[p]))
            TRY(fill_argument(t, &callee->params[p], b.values[p], types[p], inst->wanted[p]));
    if (signature.result && inst->result->kind != TY_BOTTOM)
        return typing_declared_result(t, inst, b.values, signature.result);
    t->inst = inst;
    t->call_args = b.values;
    return typing_result(t, inst->result, inst->result->kind == TY_BOTTOM ? NULL : inst->result_konst);
}

bool typing_become_pyfunc(Typing *t, ObjRef function) { return typing_call_python(t, function, NULL, NULL); }
