/* rules_call.c: typing rules of calls, functions made in compiled code, cells and exceptions.
 *
 * In: the callee's type and the arguments, positional and by keyword.  Out: a call of a library function typed by its
 * rule, a call of an instance of a Python function with one operand per parameter, a conversion (calling a type), or an
 * exception instance.
 *
 * Constants as arguments.  An instance is made for types.  A constant is part of the request only where it decides
 * something: None, functions, types and strings (their type or text is their value), True and False given literally,
 * and literal ints or tuples of ints whose parameter reaches, inside the callee, an argument that must be a constant
 * (the shape of a shared array).  So the number of instances is bounded by what the program's text says, not by values
 * that loops produce. */
#include <errno.h>  /* ERANGE */
#include <stdlib.h> /* strtod, strtoll */
#include <string.h> /* strcmp, strncmp */

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
    if (type->kind == TY_STR) return true;
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

static bool bind_positional(Binding *b, size_t positional) {
    Typing *t = b->t;
    size_t next = 0, takes = 0;
    for (uint32_t p = 0; p < b->callee->nparams; p++) {
        if (!is_positional(&b->callee->params[p])) continue;
        takes++;
        if (next < positional) {
            b->facts[p] = t->args[next];
            b->values[p] = t->values[next];
            next++;
        }
    }
    for (uint32_t p = 0; p < b->callee->nparams; p++) {
        if (b->callee->params[p].kind != PARAM_VARARGS) continue;
        size_t count = positional - next;
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
    return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() takes %zu positional argument%s but %zu %s given", b->callee->name,
                       takes, takes == 1 ? "" : "s", positional, positional == 1 ? "was" : "were");
}

static bool bind_keywords(Binding *b, size_t positional) {
    Typing *t = b->t;
    for (size_t k = 0; k < t->nnames; k++) {
        uint32_t p = 0;
        for (; p < b->callee->nparams; p++) {
            const Param *param = &b->callee->params[p];
            if ((param->kind == PARAM_NORMAL || param->kind == PARAM_KEYWORD_ONLY) &&
                strcmp(param->name, t->names[k]) == 0)
                break;
        }
        if (p == b->callee->nparams)
            return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() got an unexpected keyword argument '%s'", b->callee->name,
                               t->names[k]);
        if (b->facts[p].type)
            return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() got multiple values for argument '%s'", b->callee->name,
                               t->names[k]);
        b->facts[p] = t->args[positional + k];
        b->values[p] = t->values[positional + k];
    }
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
 * inside the function itself among its own parameters, in the enclosing function at the place where it is made. */

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

/* Cell number `cell` of the function that the cell without items stood for, which is parameter `param` of it. */
static bool recover_cell(Binding *b, uint32_t param, uint32_t cell) {
    Typing *t = b->t;
    Value *value = NULL;
    if (t->in->inst->object == b->closure->object) {
        value = own_param(t->in, param);
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
    if (t->emit) b->values[param] = typing_make_extract(t, b->closure_value, 2 + cell);
    return true;
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
        if (param->has_default && param->fallback) {
            b->facts[p] = (Fact){param->fallback->type, param->fallback};
            if (t->emit) b->values[p] = typing_make_const(t, param->fallback);
            continue;
        }
        typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() missing a required %sargument: '%s'", b->callee->name,
                    keyword_only ? "keyword-only " : "", param->name);
        return typing_hint(t, "it is called with %zu argument%s here", t->nargs, t->nargs == 1 ? "" : "s");
    }
    return true;
}

static bool call_python(Typing *t, ObjRef function, const Type *closure, Value *closure_value) {
    Infer *in = t->in;
    const Func *callee = in->host->translate(in->host->self, function);
    if (!callee) {
        if (!in->quiet || in->diag->failed) diag_note(in->diag, in->func->source, t->at->span, "called from here");
        t->failed = true;
        return false;
    }
    UfuncShape shape;
    if (in->host->ufunc(in->host->self, function, &shape)) {
        if (!shape.count) return typing_call_vectorized(t, type_object(in->types, TY_PYFUNC, function));
        TRY(typing_check_core(t, &shape, callee->name));
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
        if (!signature.args)
            konsts[p] = request_constant(in, callee, p, b.facts[p]);
        else if (t->emit)
            b.values[p] = typing_declared_cast(t, b.values[p], signature.args[p]);
        if (signature.args) types[p] = signature.args[p];
    }
    FuncInst *inst = in->host->instance(in->host->self, function, types, konsts, (CallSite){in->inst, t->at});
    if (!inst) {
        if (in->diag->failed) diag_note(in->diag, in->func->source, t->at->span, "called from here");
        t->failed = true;
        return false;
    }
    if (signature.result && inst->result->kind != TY_BOTTOM)
        return typing_declared_result(t, inst, b.values, signature.result);
    t->inst = inst;
    t->call_args = b.values;
    return typing_result(t, inst->result, inst->result->kind == TY_BOTTOM ? NULL : inst->result_konst);
}

bool typing_become_pyfunc(Typing *t, ObjRef function) { return call_python(t, function, NULL, NULL); }

/* ---- calling a type: a conversion ---- */

static bool zero_of(Typing *t, const Type *to) {
    return typing_become_const(t, typing_konst_cast(t->in, const_int(t->in->arena, t->in->types, 0), to));
}

static bool integer_from_text(Typing *t, const char *text, const Type *to) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if ((end == text || *end) && !t->in->device) return typing_number_from_text(t, to);
    if (end == text || *end) {
        typing_fail(t, DIAG_TYPING, "'%s' is not read as a whole number in compiled code", text);
        return typing_hint(t, "decimal digits with a sign are: int(\"-12\"); convert other text before the call");
    }
    const Const *konst = const_int(t->in->arena, t->in->types, value);
    if (errno == ERANGE || !typing_konst_fits(konst, to))
        return typing_fail(t, DIAG_TYPING, "'%s' does not fit %s", text, typing_text(t, to));
    return typing_become_const(t, typing_konst_cast(t->in, konst, to));
}

static bool number_from_text(Typing *t, const Type *to) {
    const Const *text = t->args[0].konst;
    char kind = scalar_info[to->scalar].kind, *end;
    if (!t->in->device && (!text || kind == 'c')) return typing_number_from_text(t, to);
    if (!text || kind == 'c') {
        typing_fail(t, DIAG_TYPING, "a str cannot be converted to %s in compiled code", typing_text(t, to));
        return typing_hint(t, "convert it before the call, and pass the number");
    }
    if (kind != 'f') return integer_from_text(t, text->text, to);
    double value = strtod(text->text, &end);
    if ((end == text->text || *end) && !t->in->device) return typing_number_from_text(t, to);
    if (end == text->text || *end)
        return typing_fail(t, DIAG_TYPING, "could not convert string to float: '%s'", text->text);
    return typing_become_const(t, typing_konst_cast(t->in, const_float(t->in->arena, t->in->types, value), to));
}

/* complex(re, im) */
static bool complex_from_parts(Typing *t, const Type *to) {
    const Type *part = type_scalar(t->in->types, to->scalar == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64,
                                   to->weak);
    for (size_t i = 0; i < 2; i++) {
        const Type *type = infer_content(t->args[i].type);
        if (type->kind != TY_SCALAR || scalar_info[type->scalar].kind == 'c') {
            typing_fail_arg(t, i, DIAG_TYPING, "a part of a complex number must be a real number, not %s",
                            typing_arg_text(t, i));
            return typing_hint(t, "add them: a + b * 1j");
        }
        typing_cast(t, i, part);
    }
    t->func = FUNC_MAKE_COMPLEX;
    t->is_call = true;
    const Const *re = t->args[0].konst ? typing_konst_cast(t->in, t->args[0].konst, part) : NULL;
    const Const *im = t->args[1].konst ? typing_konst_cast(t->in, t->args[1].konst, part) : NULL;
    Const *konst = NULL;
    if (re && im) {
        konst = ARENA_NEW(t->in->arena, Const);
        konst->type = to;
        konst->c.re = re->f;
        konst->c.im = im->f;
    }
    return typing_result(t, to, konst);
}

/* A constant float as an integer, NULL where the interpreter raises or a processor decides. */
static const Const *truncated(Infer *in, const Const *konst, const Type *to) {
    bool known = konst && konst->type->kind == TY_SCALAR && scalar_info[konst->type->scalar].kind == 'f' &&
                 konst->f > -9.2e18 && konst->f < 9.2e18;
    const Const *whole = known ? const_int(in->arena, in->types, (int64_t)konst->f) : NULL;
    return known && typing_konst_fits(whole, to) ? typing_konst_cast(in, whole, to) : NULL;
}

/* numpy.int8(x) of a Python number: int(x), which raises for infinities and NaN, must lie in the range of the type. */
static bool convert_checked(Typing *t, const Type *to) {
    Value *value = t->values[0];
    if (t->emit) {
        value = typing_make_cast(t, value, infer_content(t->args[0].type));
        value = typing_make_cast(t, value, to);
        if (value->op == OP_CAST) value->flags |= VF_CHECKED;
    }
    return typing_become(t, t->emit ? value : NULL, to);
}

static bool convert(Typing *t, const Type *to) {
    Infer *in = t->in;
    const Type *from = infer_content(t->args[0].type);
    if (from->kind == TY_STRING && to->scalar != SCALAR_BOOL) return typing_number_from_text(t, to);
    if (from->kind == TY_STR && to->scalar != SCALAR_BOOL) return number_from_text(t, to);
    if (from->kind == TY_ARRAY && from->ndim == 0) {
        Fact facts[2] = {t->args[0], {type_tuple(in->types, NULL, 0), NULL}};
        Value *values[2] = {t->values[0], NULL};
        if (t->emit) values[1] = typing_make_op(t, OP_TUPLE, facts[1].type, NULL, 0);
        TRY(typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, &t->args[0],
                       &t->values[0]));
        from = t->args[0].type;
    }
    if (to->scalar == SCALAR_BOOL) {
        Fact fact;
        Value *value;
        TRY(typing_sub(t, &(SubOp){.op = OP_TRUTH, .values = t->values, .facts = t->args, .nargs = 1}, &fact, &value));
        t->args[0] = fact;
        t->values[0] = value;
        typing_cast(t, 0, to);
        return typing_become_arg(t, 0);
    }
    if (from->kind != TY_SCALAR) {
        typing_fail(t, DIAG_TYPING, "%s cannot be converted to %s", typing_arg_text(t, 0), typing_text(t, to));
        return from->kind == TY_ARRAY ? typing_hint(t, "convert its elements one by one") : false;
    }
    char kind = scalar_info[from->scalar].kind, to_kind = scalar_info[to->scalar].kind;
    if (kind == 'c' && to_kind != 'c') {
        typing_fail(t, DIAG_TYPING, "%s cannot be converted to %s", typing_arg_text(t, 0), typing_text(t, to));
        return typing_hint(t, "take its .real, .imag or abs()");
    }
    bool truncates = kind == 'f' && (to_kind == 'i' || to_kind == 'u');
    const Const *whole = truncates ? truncated(in, t->args[0].konst, to) : NULL;
    if (whole) return typing_become_const(t, whole);
    bool from_python = from->weak && (kind == 'f' || (kind == 'i' && !t->args[0].konst));
    if (in->py_errors && from_python && !to->weak && (to_kind == 'i' || to_kind == 'u')) return convert_checked(t, to);
    if (truncates && to->weak && in->py_errors) return typing_become_func(t, FUNC_MATH_TRUNC);
    typing_cast(t, 0, to);
    return typing_become_arg(t, 0);
}

/* float32x4(x, y, z, w): each argument is a number or a vector, whose items are taken in order. */
static bool make_vector(Typing *t, const Type *to) {
    Value *items[VECTOR_MAX_COUNT];
    uint32_t count = 0;
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s takes no keyword arguments", typing_text(t, to));
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = infer_content(t->args[i].type);
        bool vector = type->kind == TY_STRUCT && type->form == STRUCT_VECTOR && type == t->args[i].type;
        const Type *item = vector ? type->items[0] : type;
        if (item->kind != TY_SCALAR || type_scalar_kind(item) == 'c') return typing_bad_operands(t);
        for (uint32_t k = 0; k < (vector ? type->count : 1); k++, count++)
            if (t->emit && count < to->count)
                items[count] = typing_make_cast(t, vector ? typing_make_extract(t, t->values[i], k) : t->values[i],
                                                to->items[0]);
    }
    if (count != to->count)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s is made of %u numbers, %u given", typing_text(t, to),
                           (unsigned)to->count, (unsigned)count);
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, to, items, count) : NULL, to);
}

static bool call_class(Typing *t, const Type *class_type) {
    const Type *to = class_type->items[0];
    if (to->kind == TY_STRUCT && to->form == STRUCT_VECTOR) return make_vector(t, to);
    if (to->kind != TY_SCALAR)
        return typing_fail(t, DIAG_NOT_CALLABLE, "%s cannot be called", typing_text(t, class_type));
    bool complex = scalar_info[to->scalar].kind == 'c';
    static const char *const parts[2] = {"real", "imag"};
    if (t->nnames && complex) {
        t->func = FUNC_MAKE_COMPLEX;
        TRY(typing_bind_keywords(t, parts, 0, 2));
        for (size_t i = 0; i < 2; i++)
            if (!t->args[i].type) {
                t->args[i] = (Fact){infer_int(t->in), const_int(t->in->arena, t->in->types, 0)};
                t->values[i] = t->emit ? typing_make_const(t, t->args[i].konst) : NULL;
            }
    }
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s takes no keyword arguments", typing_text(t, to));
    if (t->nargs == 0) return zero_of(t, to);
    if (t->nargs == 1) return convert(t, to);
    if (t->nargs == 2 && complex) return complex_from_parts(t, to);
    bool based = t->nargs == 2 && scalar_info[to->scalar].kind == 'i' && to->weak;
    if (based && typing_is_text(t->args[0].type)) return typing_number_from_text(t, to);
    return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s takes at most %d argument%s, %zu given", typing_text(t, to),
                       complex ? 2 : 1, complex ? "s" : "", t->nargs);
}

/* ---- exceptions ---- */

/* An instance is a tuple of its arguments with the type of its class. */
static bool call_exception(Typing *t, const Type *class_type) {
    const Type **types = ARENA_ARRAY(t->in->arena, const Type *, t->nargs);
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "exceptions take no keyword arguments in compiled code");
    bool counted = false; /* then the interpreter makes it when it is raised (rule_raise) */
    for (size_t i = 0; i < t->nargs; i++) counted |= type_is_counted(t->args[i].type);
    for (size_t i = 0; i < t->nargs; i++) {
        if (counted && !t->in->device) typing_as(t, i, typeinfer_general(t->in, t->args[i].type));
        types[i] = t->args[i].type;
    }
    const Type *type = type_with_items(t->in->types, TY_EXC, class_type->object, types, t->nargs);
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, type, t->values, t->nargs) : NULL, type);
}

bool rule_format(Typing *t) {
    const Type **types = ARENA_ARRAY(t->in->arena, const Type *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) types[i] = t->args[i].type;
    return typing_result(t, type_with_items(t->in->types, TY_TEXT, 0, types, t->nargs), NULL);
}

/* ---- call ---- */

static void drop_callee(Typing *t) {
    t->args++;
    t->values++;
    t->to++;
    t->nargs--;
}

/* What users have said about a call of this row with the arguments of t; 0: nothing, or the call failed. */
static ObjRef overload_of(Typing *t, const FuncHead *func) {
    Infer *in = t->in;
    const Type **types = ARENA_ARRAY(in->arena, const Type *, t->nargs);
    const Const **konsts = ARENA_ARRAY(in->arena, const Const *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) {
        types[i] = t->args[i].type;
        konsts[i] = t->args[i].konst;
    }
    ObjRef function = 0;
    OverloadRequest request = {func, types, konsts, t->nargs, t->names, t->nnames};
    if (in->host->overload(in->host->self, &request, &function)) return function;
    diag_note(in->diag, in->func->source, t->at->span, "called from here");
    t->failed = true;
    return 0;
}

/* A call of a row that a user added: of the function that it stands for, or of what the overloads say. */
static bool call_added(Typing *t, const FuncInfo *row) {
    ObjRef function = row->object ? row->object : overload_of(t, &row->head);
    if (function) return call_python(t, function, NULL, NULL);
    if (t->failed) return false;
    Buf types;
    buf_init(&types, t->in->arena);
    for (size_t i = 0; i < t->nargs; i++) {
        if (i) buf_puts(&types, ", ");
        buf_puts(&types, typing_text(t, t->args[i].type));
    }
    return typing_fail(t, DIAG_BAD_ARGUMENTS, "no overload of `%s` takes (%s)", row->doc, types.len ? types.text : "");
}

/* A row that Krait brings may be overloaded, too: what users have said comes first. */
static bool call_row(Typing *t) {
    ObjRef function = overload_of(t, &func_info[t->func].head);
    if (function) return call_python(t, function, NULL, NULL);
    return !t->failed && typing_call_library(t);
}

bool typing_attribute_overload(Typing *t) {
    const char *name = arena_printf(t->in->arena, "krait.extending.attribute.%s", t->text);
    const FuncHead *func = type_table_function(t->in->types, name, strlen(name));
    ObjRef function = func ? overload_of(t, func) : 0;
    return function && call_python(t, function, NULL, NULL);
}

/* f of x.f(...): x is the first argument. */
static void bind_self(Typing *t) {
    Value *getattr = t->values[0], *self = value_resolve(getattr->args[0]);
    t->values[0] = self;
    t->args[0] = (Fact){self->type, self->konst};
    if (!t->in->device) typing_settle_texts(t);
}

static bool not_callable(Typing *t, const Type *type) {
    if (t->in->quiet) return typing_fail(t, DIAG_NOT_CALLABLE, "not callable");
    if (type->kind == TY_OBJECT) {
        const char *name = t->in->host->object_name(t->in->host->self, type->object);
        const char *advice = typing_advice(t, name);
        static const char builtins[] = "builtins.";
        size_t prefix = strncmp(name, builtins, sizeof builtins - 1) == 0 ? sizeof builtins - 1 : 0;
        typing_fail(t, DIAG_NOT_CALLABLE, "`%s` is not compiled yet", name + prefix);
        return typing_hint(t, "%s",
                           advice ? advice
                                  : "functions written in Python are compiled; call this one outside, and pass its "
                                    "result as an argument");
    }
    typing_fail(t, DIAG_NOT_CALLABLE, "%s cannot be called", typing_arg_text(t, 0));
    return type->kind == TY_ARRAY ? typing_hint(t, "its elements are taken with brackets: x[i]") : false;
}

/* P(1, y=2): an instance of a namedtuple is a tuple of its fields, one of a dataclass a struct of them. */
static bool call_object(Typing *t, const Type *callee) {
    Infer *in = t->in;
    const StructClass *class = in->host->struct_class(in->host->self, callee->object);
    if (!class) return not_callable(t, callee);
    drop_callee(t);
    TRY(typing_bind_keywords(t, class->parameters, class->least, class->count));
    const Type **types = ARENA_ARRAY(in->arena, const Type *, class->count);
    const Const **konsts = ARENA_ARRAY(in->arena, const Const *, class->count);
    Value **values = ARENA_ARRAY(in->arena, Value *, class->count);
    bool known = true;
    for (size_t i = 0; i < class->count; i++) {
        bool given = typing_given(t, i);
        konsts[i] = given ? t->args[i].konst : class->fallbacks[i];
        types[i] = given ? t->args[i].type : konsts[i]->type;
        if (t->emit) values[i] = given ? t->values[i] : typing_make_const(t, konsts[i]);
        known &= konsts[i] && konsts[i]->type == types[i];
    }
    const Type *type = class->tuple ? type_named_tuple(in->types, callee->object, class->title, class->names, types,
                                                       class->count)
                                    : type_instance(in->types, callee->object, class->title, class->frozen,
                                                    class->names, types, class->count);
    t->konst = known && class->tuple ? const_typed_tuple(in->arena, type, konsts) : NULL;
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, type, values, class->count) : NULL, type);
}

/* The callee is operand 0, the arguments follow. */
static bool call_value(Typing *t) {
    const Type *callee = infer_content(t->args[0].type);
    Value *value = t->values[0];
    switch (callee->kind) {
    case TY_FUNC:
        if (value && value->op == OP_GETATTR)
            bind_self(t);
        else
            drop_callee(t);
        if (func_row(callee->func)->how == HOW_PYTHON) return call_added(t, func_row(callee->func));
        t->func = callee->func->id;
        return call_row(t);
    case TY_PYFUNC:
        if (value && value->op == OP_GETATTR)
            bind_self(t);
        else
            drop_callee(t);
        return call_python(t, callee->object, NULL, NULL);
    case TY_CLOSURE:
        if (t->emit && callee != t->args[0].type) value = typing_make_cast(t, value, callee);
        drop_callee(t);
        return call_python(t, callee->object, callee, value);
    case TY_CLASS: drop_callee(t); return call_class(t, callee);
    case TY_EXC_CLASS: drop_callee(t); return call_exception(t, callee);
    case TY_OBJECT: return call_object(t, callee);
    default: return not_callable(t, callee);
    }
}

bool rule_call(Typing *t) { return call_value(t); }

/* f(*args, k=v): the tuple's items become arguments. */
bool rule_call_ex(Typing *t) {
    Infer *in = t->in;
    const Type *tuple = t->args[1].type;
    if (tuple->kind != TY_TUPLE) {
        typing_fail_arg(t, 1, DIAG_BAD_ARGUMENTS, "* needs a tuple here, not %s", typing_arg_text(t, 1));
        return typing_hint(t, "the number of arguments must be known when the function is compiled");
    }
    size_t keywords = t->nargs - 2, nargs = 1 + tuple->count + keywords;
    Fact *args = ARENA_ARRAY(in->arena, Fact, nargs);
    Value **values = ARENA_ARRAY(in->arena, Value *, nargs);
    args[0] = t->args[0];
    values[0] = t->values[0];
    for (uint32_t i = 0; i < tuple->count; i++) {
        args[1 + i] = (Fact){tuple->items[i], t->args[1].konst ? t->args[1].konst->items[i] : NULL};
        values[1 + i] = t->emit ? typing_make_extract(t, t->values[1], i) : NULL;
    }
    for (size_t k = 0; k < keywords; k++) {
        args[1 + tuple->count + k] = t->args[2 + k];
        values[1 + tuple->count + k] = t->values[2 + k];
    }
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, nargs);
    t->nargs = nargs;
    t->op = OP_CALL;
    return call_value(t);
}

/* ---- functions made here, and their cells ---- */

bool rule_function(Typing *t) {
    const Type **items = ARENA_ARRAY(t->in->arena, const Type *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) items[i] = t->args[i].type;
    return typing_result(t, type_with_items(t->in->types, TY_CLOSURE, t->at->imm.object, items, t->nargs), NULL);
}

/* The content is the join of all that is ever put in; solver_cell_set widens it. */
bool rule_cell(Typing *t) {
    Infer *in = t->in;
    const Type *known = t->at->type, *content = known && known->kind == TY_CELL ? known->items[0] : infer_bottom(in);
    if (t->nargs) {
        const Type *joined = typeinfer_join(in->config->promotion, in->types, content, t->args[0].type);
        if (!joined) {
            typing_fail(t, DIAG_NO_UNIFY, "variable `%s`, shared with an inner function, is %s here and %s elsewhere",
                        t->at->name ? t->at->name : "?", typing_text(t, t->args[0].type), typing_text(t, content));
            return typing_hint(t, "give it values of one type, or use two names");
        }
        content = joined;
        typing_cast(t, 0, content);
    }
    return typing_result(t, type_with_items(in->types, TY_CELL, 0, &content, 1), NULL);
}

bool rule_cell_get(Typing *t) {
    const Type *cell = t->args[0].type;
    if (cell->kind != TY_CELL)
        return typing_become_arg(t, 0); /* a variable that never changes is closed over as its value */
    return typing_result(t, cell->items[0], NULL);
}

/* Whether the value is a function made here that closes over this cell. */
static bool refers_to(const Value *function, const Value *cell) {
    if (!function || function->op != OP_FUNCTION) return false;
    for (uint32_t i = 2; i < function->nargs; i++)
        if (value_resolve(function->args[i]) == cell) return true;
    return false;
}

bool rule_cell_set(Typing *t) {
    const Type *cell = t->args[0].type, *content = t->args[1].type;
    if (cell->kind != TY_CELL) return typing_fail(t, DIAG_VERIFY, "cell_set of %s", typing_text(t, cell));
    bool itself = refers_to(t->values[1], t->values[0]);
    if (itself) content = type_with_items(t->in->types, TY_CLOSURE, content->object, NULL, 0);
    if (!t->emit)
        TRY(solver_cell_set(t, t->values[0], content));
    else if (itself)
        t->values[1] = typing_make_op(t, OP_UNDEF, content, NULL, 0);
    else
        typing_cast(t, 1, cell->items[0]);
    return typing_result(t, infer_none(t->in), NULL);
}
