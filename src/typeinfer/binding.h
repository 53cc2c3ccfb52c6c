/* binding.h: the arguments of a call of a function written in Python, by its parameters (binding.c). */
#ifndef KRAIT_TYPEINFER_BINDING_H
#define KRAIT_TYPEINFER_BINDING_H

#include "typeinfer/infer.h"

typedef struct Binding {
    Typing *t;
    const Func *callee;
    const Type *closure; /* TY_CLOSURE, else NULL */
    Value *closure_value;
    Fact *facts;    /* one per parameter */
    Value **values; /* when emitting */
} Binding;

/* What t->args, the defaults and the closure give to each parameter; false: refused, in the interpreter's words. */
bool binding_of_call(Binding *b, Typing *t, const Func *callee, const Type *closure, Value *closure_value);

#endif
