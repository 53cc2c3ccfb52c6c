/* rules_control.c: typing rules of what stands at the ends of blocks, and of what has no operands: constants,
 * parameters. */
#include "typeinfer/rules.h"

/* ---- leaves ---- */

bool rule_const(Typing *t) {
    const Const *konst = t->at->konst;
    if (konst->too_big && konst->i >= 0) {
        typing_fail(t, DIAG_TYPING, "this Python int does not fit into 64 bits");
        return typing_hint(t, "ints are 64 bits wide in compiled code; use a float");
    }
    return typing_result(t, konst->type, konst);
}

bool rule_param(Typing *t) {
    const FuncInst *inst = t->in->inst;
    const Type *type = inst->types[t->imm];
    const Const *konst = inst->konsts ? inst->konsts[t->imm] : NULL;
    if (!konst && type_is_unit(type)) konst = const_of(t->in->arena, type);
    return typing_result(t, type, konst);
}

bool rule_captured(Typing *t) {
    const Captures *captures = t->in->config->captures;
    if (!captures || (uint64_t)t->imm >= captures->len) return typing_fail(t, DIAG_VERIFY, "nothing is captured here");
    captures->data[t->imm].looked_at = true;
    return typing_result(t, captures->data[t->imm].type, NULL);
}

bool rule_phi(Typing *t) { return typing_result(t, t->at->type, t->at->konst); } /* solve.c joins */

bool rule_undef(Typing *t) { return typing_result(t, infer_bottom(t->in), NULL); }

bool rule_typed(Typing *t) { return typing_fail(t, DIAG_VERIFY, "%s before inference", op_info[t->op].text); }

/* ---- ends of blocks ---- */

/* What a generator is left with, which lies in it and in no frame. */
static bool end_generator(Typing *t) {
    Infer *in = t->in;
    const Type *given = typeinfer_general(in, t->args[0].type);
    typing_as(t, 0, given);
    if (typing_points_into_frame(given)) {
        typing_fail(t, DIAG_UNSUPPORTED, "an iterator or a changing variable cannot be returned by a generator");
        return typing_hint(t, "return what it is made of");
    }
    const Type *returned = in->emit ? type_returned(in->types, in->result.type) : given;
    if (typeinfer_join(in->config->promotion, in->types, returned, given) != returned) {
        typing_fail(t, DIAG_TYPING, "the generator %s returns %s here, and %s elsewhere", in->func->name,
                    typing_text(t, given), typing_text(t, returned));
        return typing_hint(t, "return values of one type on every path");
    }
    if (in->emit) t->to[0] = returned;
    return typing_result(t, infer_none(in), NULL);
}

bool rule_control(Typing *t) {
    Infer *in = t->in;
    if (t->op == OP_RETURN && in->func->generator) return end_generator(t);
    if (t->op == OP_RETURN) {
        if (in->leaves) typing_as(t, 0, typeinfer_general(in, t->args[0].type));
        if (!in->emit) TRY(solver_return(t, t->args[0]));
        if (in->emit) t->to[0] = in->result.type;
    }
    return typing_result(t, infer_none(in), NULL);
}

/* What is yielded joins as what is returned does: the result of the function is a generator of that. */
bool rule_yield(Typing *t) {
    Infer *in = t->in;
    if (in->device) {
        typing_fail(t, DIAG_UNSUPPORTED, "generators are not compiled in kernels");
        return typing_hint(t, "write the loop where its items are used");
    }
    if (!t->nargs) return typing_result(t, infer_none(in), NULL);
    typing_as(t, 0, typeinfer_general(in, t->args[0].type));
    if (typing_points_into_frame(t->args[0].type)) {
        typing_fail(t, DIAG_UNSUPPORTED, "an iterator or a changing variable cannot be yielded");
        return typing_hint(t, "yield what it is made of");
    }
    if (in->emit)
        t->to[0] = in->result.type->items[0];
    else
        TRY(solver_return(t, t->args[0]));
    return typing_result(t, infer_sent(in), NULL);
}

bool rule_check_bound(Typing *t) {
    const Const *bound = t->args[0].konst;
    if (bound && bound->i) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    return typing_result(t, bound ? infer_bottom(t->in) : infer_none(t->in), NULL);
}
