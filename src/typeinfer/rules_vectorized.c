/* rules_vectorized.c: calls of the ufuncs that @vectorize and @guvectorize made, in compiled code.
 *
 * In: a call of one with scalars; arrays are rules_map.c's, which asks here for the types of the loop.  Out: a call of
 * an instance of its function for the loop's types, whose results are NumPy's scalars.
 *
 * The loop is the one that NumPy takes.  With signatures: the one of exactly these types, else the first that every
 * argument casts to safely, Python's numbers by their kind where a NumPy scalar of that kind is there too.  Without:
 * the arguments' own types; Python's numbers have the type that they take beside NumPy's. */
#include "typeinfer/rules_library.h"

#include <string.h> /* strcmp */

static const Type *scalar_of(const Typing *t, size_t arg) { return infer_content(t->args[arg].type); }

static bool is_exactly(const Typing *t, const InferSignature *signature) {
    for (size_t i = 0; i < t->nargs; i++)
        if (scalar_of(t, i)->weak || scalar_of(t, i)->scalar != signature->args[i]->scalar) return false;
    return true;
}

static bool declared_loop(Typing *t, const Type *callee, InferSignature *found, bool *any) {
    const InferHost *host = t->in->host;
    InferSignature signature;
    *any = false;
    for (size_t k = 0; host->signature(host->self, callee->object, k, &signature); k++) {
        bool exact = is_exactly(t, &signature);
        *any = true;
        if (!exact && (found->args || !lib_loop_takes(t, signature.args, t->nargs))) continue;
        *found = signature;
        if (exact) return true;
    }
    return found->args != NULL;
}

static bool own_loop(Typing *t, const Type **loop) {
    Infer *in = t->in;
    const Type *common = NULL;
    for (size_t i = 0; i < t->nargs; i++) {
        if (scalar_of(t, i)->weak) continue;
        common = common ? typeinfer_promote(PROMOTION_NUMPY2, in->types, common, scalar_of(t, i)) : scalar_of(t, i);
        if (!common) return typing_bad_operands(t);
    }
    for (size_t i = 0; i < t->nargs; i++) {
        loop[i] = scalar_of(t, i);
        if (loop[i]->weak && common) loop[i] = typeinfer_promote(PROMOTION_NUMPY2, in->types, loop[i], common);
        if (!loop[i]) return typing_bad_operands(t);
        loop[i] = infer_strong(in, loop[i]);
    }
    return true;
}

static bool no_loop(Typing *t, const Type *callee) {
    const InferHost *host = t->in->host;
    InferSignature signature;
    Buf text;
    typing_bad_operands(t);
    if (t->in->quiet) return false;
    buf_init(&text, t->in->arena);
    for (size_t k = 0; host->signature(host->self, callee->object, k, &signature); k++) {
        buf_puts(&text, k ? ", (" : "(");
        for (size_t i = 0; i < signature.count; i++)
            buf_printf(&text, "%s%s", i ? ", " : "", typing_text(t, signature.args[i]));
        buf_puts(&text, ")");
    }
    return typing_hint(t, "its signatures take %s", text.text);
}

bool typing_vectorized_loop(Typing *t, const Type *callee, const Type **loop, InferSignature *declared) {
    InferSignature found = {0};
    bool any;
    if (!lib_kinds(t, 0, t->nargs, "biufc")) return typing_bad_operands(t);
    bool fits = declared_loop(t, callee, &found, &any);
    if (declared) *declared = found;
    if (!any) return own_loop(t, loop);
    if (!fits) return no_loop(t, callee);
    for (size_t i = 0; i < t->nargs; i++) loop[i] = found.args[i];
    return true;
}

/* ---- a call with scalars ---- */

static size_t results_of(const Type *type) { return type->kind == TY_TUPLE ? type->count : 1; }

/* What a ufunc gives where its function gives `type`; NULL: these are no scalars. */
static const Type *strong_result(Infer *in, const Type *type) {
    if (type_is_scalar(type)) return infer_strong(in, type);
    if (type->kind != TY_TUPLE || type->count < 2) return NULL;
    const Type **items = ARENA_ARRAY(in->arena, const Type *, type->count);
    for (uint32_t i = 0; i < type->count; i++) {
        if (!type_is_scalar(type->items[i])) return NULL;
        items[i] = infer_strong(in, type->items[i]);
    }
    return type_tuple(in->types, items, type->count);
}

static Value *emit_call(Typing *t, FuncInst *inst, const Type *result, const Type *const *loop) {
    Value **args = ARENA_ARRAY(t->in->arena, Value *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) args[i] = typing_make_cast(t, t->values[i], loop[i]);
    Value *call = typing_make_op(t, OP_CALL_INST, inst->result, args, t->nargs);
    call->imm.inst = inst;
    if (result->kind != TY_TUPLE) return typing_make_cast(t, call, result);
    Value **items = ARENA_ARRAY(t->in->arena, Value *, result->count);
    for (uint32_t i = 0; i < result->count; i++)
        items[i] = typing_make_cast(t, typing_make_extract(t, call, i), result->items[i]);
    return typing_make_op(t, OP_TUPLE, result, items, result->count);
}

static bool call_scalars(Typing *t, const Type *callee, const Func *func) {
    Infer *in = t->in;
    InferSignature declared;
    const Type **loop = ARENA_ARRAY(in->arena, const Type *, t->nargs);
    TRY(typing_vectorized_loop(t, callee, loop, &declared));
    const Const **konsts = ARENA_ARRAY(in->arena, const Const *, t->nargs);
    const InferRequest request = {callee->object, loop, konsts, NULL};
    FuncInst *inst = in->host->instance(in->host->self, &request, (CallSite){in->inst, t->at});
    if (!inst) return t->failed = true, false;
    const Type *own = inst->result;
    if (own->kind == TY_BOTTOM) { /* not known yet, or it always raises */
        t->inst = inst;
        t->call_args = ARENA_ARRAY(in->arena, Value *, t->nargs);
        for (size_t i = 0; i < t->nargs && t->emit; i++) t->call_args[i] = typing_make_cast(t, t->values[i], loop[i]);
        return typing_result(t, own, NULL);
    }
    const Type *result = strong_result(in, declared.result && declared.result->kind != TY_NONE ? declared.result : own);
    if (!result || results_of(result) != results_of(own))
        return typing_fail(t, DIAG_TYPING,
                           "a vectorized function returns a scalar or a tuple of scalars; `%s` returns %s", func->name,
                           typing_text(t, own));
    return typing_become(t, t->emit ? emit_call(t, inst, result, loop) : NULL, result);
}

bool typing_call_vectorized(Typing *t, const Type *callee) {
    const Func *func = t->in->host->translate(t->in->host->self, callee->object);
    t->called = func->name;
    t->is_call = true;
    if (t->nargs - t->nnames < func->nparams)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` takes %u argument%s, %zu given", func->name, func->nparams,
                           func->nparams == 1 ? "" : "s", t->nargs - t->nnames);
    bool scalars = t->nargs == func->nparams && !t->nnames && !typing_has_array(t);
    return scalars ? call_scalars(t, callee, func) : typing_map_vectorized(t, callee, func->nparams);
}

/* ---- generalised ufuncs ----
 *
 * Compiled code calls a function that is made for the operands' types: it checks the core dimensions and loops over the
 * outer ones (krait/_compiled_gufunc.py). */

/* The only keyword is out=, for what has one result: as if it were given by its place. */
static bool bind_out(Typing *t, const UfuncShape *shape, const char *name) {
    size_t positional = t->nargs - t->nnames, results = shape->count - shape->nin;
    if (t->nnames && (results > 1 || t->nnames > 1 || strcmp(t->names[0], "out") != 0)) {
        typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` does not take the keyword `%s` in compiled code", name, t->names[0]);
        return typing_hint(t, "operands are given by their places, results behind the inputs");
    }
    if (positional < shape->nin || t->nargs > shape->count)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` takes %u input%s and, if any, %zu result%s, not %zu operands",
                           name, shape->nin, shape->nin == 1 ? "" : "s", results, results == 1 ? "" : "s", t->nargs);
    return true;
}

bool typing_call_generalised(Typing *t, ObjRef gufunc, const UfuncShape *shape, const char *name) {
    Infer *in = t->in;
    TRY(bind_out(t, shape, name));
    const Type **types = ARENA_ARRAY(in->arena, const Type *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) {
        types[i] = infer_content(t->args[i].type);
        const Type *element = types[i]->kind == TY_ARRAY ? type_element(types[i]) : types[i];
        if (!type_is_scalar(element))
            return typing_fail_arg(t, i, DIAG_TYPING, "`%s` takes arrays of numbers and numbers, not %s", name,
                                   typing_arg_text(t, i));
    }
    const LoopedRequest request = {gufunc, name, types, t->nargs, in->device};
    ObjRef function;
    if (!in->host->looped(in->host->self, &request, &function)) {
        diag_note(in->diag, in->func->source, t->at->span, "called from here");
        return t->failed = true, false;
    }
    t->nnames = 0;
    return typing_become_pyfunc(t, function);
}
