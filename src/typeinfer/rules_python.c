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

/* ---- binding arguments to parameters ---- */

typedef struct Binding {
    Typing *t;
    const Func *callee;
    const Type *closure; /* TY_CLOSURE, else NULL */
    Value *closure_value;
    Fact *facts;    /* one per parameter */
    Value **values; /* when emitting */
} Binding;

static bool is_positional(const Param *param) {
    return param->kind == PARAM_NORMAL || param->kind == PARAM_POSITIONAL_ONLY;
}

static bool bind_keywords(Binding *b, size_t positional);

static bool bind_positional(Binding *b, size_t positional) {
    Typing *t = b->t;
    size_t next = 0, takes = 0, needs = 0;
    for (uint32_t p = 0; p < b->callee->nparams; p++) {
        if (!is_positional(&b->callee->params[p])) continue;
        takes++;
        needs += !b->callee->params[p].has_default;
        if (next < positional) {
            b->facts[p] = t->args[next];
            b->values[p] = t->values[next];
            next++;
        }
    }
    for (uint32_t p = 0; p < b->callee->nparams; p++) {
        if (b->callee->params[p].kind != PARAM_VARARGS) continue;
        size_t count = positional - next;
        if (t->spreads) {
            b->facts[p] = t->args[next];
            b->values[p] = t->values[next++];
            break;
        }
        const Type **types = ARENA_ARRAY(t->in->arena, const Type *, count);
        const Const **konsts = ARENA_ARRAY(t->in->arena, const Const *, count);
        bool known = true;
        for (size_t i = 0; i < count; i++) {
            types[i] = t->args[next + i].type;
            konsts[i] = t->args[next + i].konst;
            known &= konsts[i] != NULL;
        }
        const Type *type = type_tuple(t->in->types, types, count);
        b->facts[p] = (Fact){type, known ? const_tuple(t->in->arena, t->in->types, konsts, count) : NULL};
        if (t->emit) b->values[p] = typing_make_op(t, OP_TUPLE, type, t->values + next, count);
        next = positional;
    }
    if (next == positional) return true;
    TRY(bind_keywords(b, positional)); /* a mistake there is told first, as the interpreter does */
    const char *from = needs < takes ? arena_printf(t->in->arena, "from %zu to ", needs) : "";
    return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() takes %s%zu positional argument%s but %zu %s given",
                       infer_shown_name(t->in, b->callee), from, takes, takes == 1 ? "" : "s", positional,
                       positional == 1 ? "was" : "were");
}

/* As the user called it: a function of the prelude may stand for a row that does not name it. */
static const char *called_as(const Binding *b) {
    const char *shown = infer_shown_name(b->t->in, b->callee);
    bool internal = b->callee->source && b->callee->source->internal;
    return internal && shown == b->callee->name && b->t->func != FUNC_NONE ? typing_func_name(b->t) : shown;
}

/* The names of the parameters, "a, b"; "": it has none. */
static const char *listed_params(const Binding *b) {
    Buf text;
    buf_init(&text, b->t->in->arena);
    buf_puts(&text, "");
    bool makes = strcmp(b->callee->name, "__init__") == 0; /* whose first parameter is the instance */
    for (uint32_t p = makes; p < b->callee->nparams; p++) {
        const Param *param = &b->callee->params[p];
        bool named = param->kind == PARAM_NORMAL || param->kind == PARAM_KEYWORD_ONLY;
        if (named) buf_printf(&text, "%s%s", text.len ? ", " : "", param->name);
    }
    return text.text;
}

static bool unexpected_keyword(Binding *b, const char *name) {
    Typing *t = b->t;
    const char **names = ARENA_ARRAY(t->in->arena, const char *, b->callee->nparams);
    for (uint32_t p = 0; p < b->callee->nparams; p++) {
        const Param *param = &b->callee->params[p];
        bool named = param->kind == PARAM_NORMAL || param->kind == PARAM_KEYWORD_ONLY;
        names[p] = named ? param->name : NULL;
        if (param->kind != PARAM_POSITIONAL_ONLY || strcmp(param->name, name) != 0) continue;
        typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() got some positional-only arguments passed as keyword arguments: '%s'",
                    called_as(b), name);
        return typing_hint(t, "give it by its place, without `%s=`", name);
    }
    typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() got an unexpected keyword argument '%s'", called_as(b), name);
    if (typing_hint_near(t, name, names, b->callee->nparams)) return false;
    const char *listed = listed_params(b);
    return *listed && typing_hint(t, "it takes %s", listed);
}

static bool bind_keywords(Binding *b, size_t positional) {
    Typing *t = b->t;
    uint32_t rest = 0;
    while (rest < b->callee->nparams && b->callee->params[rest].kind != PARAM_VARKEYWORDS) rest++;
    bool *taken = ARENA_ARRAY(t->in->arena, bool, t->nnames), takes_all = rest < b->callee->nparams;
    for (size_t k = 0; k < t->nnames; k++) {
        uint32_t p = 0;
        for (; p < b->callee->nparams; p++) {
            const Param *param = &b->callee->params[p];
            if ((param->kind == PARAM_NORMAL || param->kind == PARAM_KEYWORD_ONLY) &&
                strcmp(param->name, t->names[k]) == 0)
                break;
        }
        if (p == b->callee->nparams && takes_all) continue;
        if (p == b->callee->nparams) return unexpected_keyword(b, t->names[k]);
        if (b->facts[p].type)
            return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() got multiple values for argument '%s'",
                               infer_shown_name(t->in, b->callee), t->names[k]);
        b->facts[p] = t->args[positional + k];
        b->values[p] = t->values[positional + k];
        taken[k] = true;
    }
    if (takes_all) b->facts[rest] = typing_rest_keywords(t, positional, taken, &b->values[rest]);
    return true;
}

/* Item `index` of the closure's tuple number `which` (0: defaults, 1: keyword defaults). */
static bool closure_default(Binding *b, uint32_t param, uint32_t which, uint32_t index) {
    const Type *tuple = b->closure->count > which ? b->closure->items[which] : NULL;
    if (!tuple || tuple->kind != TY_TUPLE || index >= tuple->count) return false;
    b->facts[param] = (Fact){tuple->items[index], NULL};
    if (b->t->emit)
        b->values[param] = typing_make_extract(b->t, typing_make_extract(b->t, b->closure_value, which), index);
    return true;
}

/* ---- functions that refer to themselves ----
 *
 * The cell of an inner function that calls itself would hold a closure that holds the cell: a type without end.  Such a
 * cell holds the closure without its items (rule_cell_set), and what it closes over is found again where it is called:
 * inside the function itself among its own parameters, in the enclosing function at the place where it is made, in
 * functions made inside it (a generator expression) in the cell that it comes from, if that is all it closes over. */

static bool is_selfless(const Type *closure) { return closure && closure->count == 0; }

/* The only place in this function where the closure is made; NULL: none, or several. */
static Value *place_made(Infer *in, const Type *closure) {
    Value *made = NULL;
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (Value *value = in->func->blocks.data[b]->first; value; value = value->next) {
            if (value->op != OP_FUNCTION || value->imm.object != closure->object) continue;
            if (made) return NULL;
            made = value;
        }
    return made;
}

static Value *own_param(Infer *in, uint32_t param) {
    Value *value = in->func->blocks.data[0]->first;
    while (value && value->op == OP_PARAM && value->imm.i != param) value = value->next;
    return value && value->op == OP_PARAM ? value : NULL;
}

/* The cell that the function was taken out of, if that is the one by which it calls itself; else NULL. */
static Value *own_cell(const Binding *b, uint32_t param) {
    Value *taken = b->closure_value ? value_resolve(b->closure_value) : NULL;
    bool own = taken && taken->op == OP_CELL_GET && taken->imm.text &&
               strcmp(taken->imm.text, b->callee->params[param].name) == 0;
    return own ? value_resolve(taken->args[0]) : NULL;
}

/* Cell number `cell` of the function that the cell without items stood for, which is parameter `param` of it. */
static bool recover_cell(Binding *b, uint32_t param, uint32_t cell) {
    Typing *t = b->t;
    Value *value = NULL;
    if (t->in->inst->object == b->closure->object) {
        value = own_param(t->in, param);
    } else if (own_cell(b, param)) {
        value = own_cell(b, param);
    } else {
        Value *made = place_made(t->in, b->closure);
        if (made && 2 + cell < made->nargs) value = value_resolve(made->args[2 + cell]);
    }
    if (!value) {
        typing_fail(t, DIAG_UNSUPPORTED,
                    "the inner function %s, which refers to itself, is called from another function", b->callee->name);
        return typing_hint(t, "define the recursive function at module level");
    }
    b->facts[param] = (Fact){value->type, NULL};
    b->values[param] = value;
    return true;
}

static bool bind_cell(Binding *b, uint32_t param, uint32_t cell) {
    Typing *t = b->t;
    if (is_selfless(b->closure)) return recover_cell(b, param, cell);
    if (!b->closure || 2 + cell >= b->closure->count)
        return typing_fail(t, DIAG_VERIFY, "%s() needs the variables it closes over", b->callee->name);
    b->facts[param] = (Fact){b->closure->items[2 + cell], NULL};
    if (t->emit) {
        b->values[param] = typing_make_extract(t, b->closure_value, 2 + cell);
        return true;
    }
    const Value *made = b->closure_value ? value_resolve(b->closure_value) : NULL;
    if (made && made->op == OP_FUNCTION && 2 + cell < made->nargs) b->values[param] = made->args[2 + cell];
    return true;
}

/* Constants among the defaults of a function that refers to itself are those of its parameters. */
static bool unknown_default(const Binding *b, const Param *param) {
    typing_fail(b->t, DIAG_UNSUPPORTED,
                "the default of `%s` is not known in a call of the inner function %s, "
                "which refers to itself",
                param->name, b->callee->name);
    return typing_hint(b->t, "give the argument in each call, or a default that is a constant");
}

static bool bind_defaults(Binding *b) {
    Typing *t = b->t;
    uint32_t defaults = 0, keyword_defaults = 0, cells = 0;
    for (uint32_t p = 0; p < b->callee->nparams; p++) {
        const Param *param = &b->callee->params[p];
        bool keyword_only = param->kind == PARAM_KEYWORD_ONLY;
        uint32_t index = !param->has_default ? 0 : keyword_only ? keyword_defaults++ : defaults++;
        if (param->kind == PARAM_CELL) {
            TRY(bind_cell(b, p, cells++));
            continue;
        }
        if (b->facts[p].type) continue;
        if (param->has_default && b->closure && closure_default(b, p, keyword_only, index)) continue;
        if (param->has_default && param->fallback && param->fallback->captured) {
            b->values[p] = typing_make_captured(t, param->fallback->i, &b->facts[p].type);
            continue;
        }
        if (param->has_default && param->fallback) {
            b->facts[p] = (Fact){param->fallback->type, param->fallback};
            if (t->emit) b->values[p] = typing_make_const(t, param->fallback);
            continue;
        }
        if (param->has_default && is_selfless(b->closure)) return unknown_default(b, param);
        typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() missing a required %sargument: '%s'",
                    infer_shown_name(t->in, b->callee), keyword_only ? "keyword-only " : "", param->name);
        if (p == 0 && strcmp(param->name, "self") == 0)
            return typing_hint(t, "it is a method: call it of an instance, x.%s(...), which is then its `self`",
                               b->callee->name);
        return typing_hint(t, "it takes %s, and is called with %zu argument%s here", listed_params(b), t->nargs,
                           t->nargs == 1 ? "" : "s");
    }
    return true;
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
    size_t positional = t->nargs - t->nnames;
    Binding b = {t,
                 callee,
                 closure,
                 closure_value,
                 ARENA_ARRAY(in->arena, Fact, callee->nparams),
                 ARENA_ARRAY(in->arena, Value *, callee->nparams)};
    TRY(bind_positional(&b, positional));
    TRY(bind_keywords(&b, positional));
    TRY(bind_defaults(&b));
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
