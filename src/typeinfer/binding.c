/* binding.c: which parameter of a function written in Python gets which argument of a call.
 *
 * In: the arguments, positional ones first, then those by keyword; the closure of an inner function.  Out: a fact for
 * each parameter of the callee, and its value: an argument, *args as a tuple, **kwargs, a default, a cell. */
#include "typeinfer/binding.h"

#include <string.h> /* strcmp */

#include "typeinfer/rules.h" /* typing_rest_keywords */

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

bool binding_of_call(Binding *b, Typing *t, const Func *callee, const Type *closure, Value *closure_value) {
    Fact *facts = ARENA_ARRAY(t->in->arena, Fact, callee->nparams);
    *b = (Binding){t, callee, closure, closure_value, facts, ARENA_ARRAY(t->in->arena, Value *, callee->nparams)};
    size_t positional = t->nargs - t->nnames;
    TRY(bind_positional(b, positional));
    TRY(bind_keywords(b, positional));
    return bind_defaults(b);
}
