/* rules_signature.c: calls of functions that were given explicit signatures: the same one is chosen, and arguments and
 * result are converted in the same way, as in a call from the interpreter (decorators/dispatch/).
 *
 * Of several signatures, the one whose conversions cost least in sum; a tie goes to the earlier one.  On the host what
 * an integer type cannot hold raises OverflowError; in a kernel the low bits are kept, as in all its arithmetic. */
#include "typeinfer/rules_library.h"

static bool no_signature_fits(Typing *t, ObjRef function, const Func *callee, const Type *const *types) {
    Infer *in = t->in;
    InferSignature signature;
    Buf text;
    buf_init(&text, in->arena);
    for (size_t i = 0; i < callee->nparams; i++) buf_printf(&text, "%s%s", i ? ", " : "", typing_text(t, types[i]));
    buf_puts(&text, "); there is");
    for (size_t k = 0; in->host->signature(in->host->self, function, k, &signature); k++) {
        buf_puts(&text, k ? " and (" : " (");
        for (size_t i = 0; i < signature.count; i++)
            buf_printf(&text, "%s%s", i ? ", " : "", typing_text(t, signature.args[i]));
        buf_puts(&text, ")");
    }
    typing_fail(t, DIAG_TYPING, "no signature of %s fits the arguments (%s", callee->name, text.text);
    return typing_hint(t,
                       "convert the argument that differs, as by float(x) or x.astype(np.float64); or add the "
                       "signature that is meant to those of `%s`",
                       callee->name);
}

bool typing_choose_signature(Typing *t, ObjRef function, const Func *callee, const Type *const *types,
                             InferSignature *chosen) {
    Infer *in = t->in;
    InferSignature signature;
    int64_t best = -1;
    bool any = false;
    *chosen = (InferSignature){0};
    for (size_t k = 0; in->host->signature(in->host->self, function, k, &signature); k++) {
        int64_t cost = signature.count == callee->nparams
                           ? typeinfer_signature_cost(types, signature.args, signature.count)
                           : -1;
        any = true;
        if (cost < 0 || (best >= 0 && cost >= best)) continue;
        best = cost;
        *chosen = signature;
    }
    return !any || best >= 0 || no_signature_fits(t, function, callee, types);
}

static bool is_integer_of_numpy(const Type *type) {
    return type->kind == TY_SCALAR && (scalar_info[type->scalar].kind == 'i' || scalar_info[type->scalar].kind == 'u');
}

static Value *checked_cast(Typing *t, Value *value, const Type *to) {
    Value *cast = typing_make_op(t, OP_CAST, to, &value, 1);
    cast->flags |= VF_CHECKED;
    return cast;
}

/* As the constructor of `to` converts: what an integer type cannot hold raises, by way of a Python int. */
Value *typing_declared_cast(Typing *t, Value *value, const Type *to) {
    const Type *from = value->type, *wide = infer_int(t->in);
    if (from == to || from->kind != TY_SCALAR || !is_integer_of_numpy(to) || !t->in->int_range)
        return typing_make_cast(t, value, to);
    if (type_scalar_kind(from) == 'f')
        value = checked_cast(t, value, wide);
    else if (from->scalar == SCALAR_BOOL || from->scalar == to->scalar || from->scalar == SCALAR_UINT64)
        return typing_make_cast(t, value, to);
    else if (from != wide)
        value = typing_make_cast(t, value, wide);
    return to->scalar == SCALAR_INT64 ? typing_make_cast(t, value, to) : checked_cast(t, value, to);
}

bool typing_declared_result(Typing *t, FuncInst *inst, Value *const *args, const Type *declared) {
    const Type *result = inst->result;
    if (result != declared && !typeinfer_conversion_cost(result, declared))
        return typing_fail(t, DIAG_TYPING, "the signature declares the result %s, %s returns %s",
                           declared->kind == TY_NONE ? "void" : typing_text(t, declared), inst->untyped->name,
                           typing_text(t, result));
    if (!t->emit) return typing_become(t, NULL, declared);
    Value *call = typing_make_op(t, OP_CALL_INST, result, args, inst->untyped->nparams);
    call->imm.inst = inst;
    return typing_become(t, typing_declared_cast(t, call, declared), declared);
}
