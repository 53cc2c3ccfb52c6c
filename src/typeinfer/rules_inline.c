/* rules_inline.c: instructions given as text: cuda.inline_ptx, krait.extending.inline_llvm, cuda.on_gpu.
 *
 * Arguments: the text and the type of the result, both known when the function is compiled, then the operands.  An
 * operand is a number, or an array, of which the address of the first element is passed.  What a text names beyond its
 * operands is refused here, before LLVM would end the process. */
#include <ctype.h>  /* isdigit */
#include <stdlib.h> /* strtoul */
#include <string.h> /* strchr */

#include "typeinfer/rules_library.h"

bool rule_func_cuda_on_gpu(Typing *t) {
    bool gpu = t->in->device && t->in->config->compute_capability != 0;
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, gpu));
}

static bool is_operand(const Type *type, bool result) {
    if (type->kind == TY_ARRAY) return !result;
    return type->kind == TY_SCALAR && type_scalar_kind(type) != 'c';
}

static bool check_operands(Typing *t) {
    for (size_t i = 2; i < t->nargs; i++)
        if (!is_operand(t->args[i].type, false)) {
            typing_fail_arg(t, i, DIAG_TYPING, "%s takes numbers and arrays, not %s", typing_func_name(t),
                            typing_arg_text(t, i));
            return typing_hint(t, "pass the parts of a tuple or a complex number one by one");
        }
    return true;
}

/* The result: a strong scalar, or None. */
static const Type *inline_result(Typing *t) {
    if (t->args[1].type->kind == TY_NONE) return t->args[1].type;
    const Type *type = typing_const_dtype(t, 1);
    if (type && !is_operand(type, true)) {
        typing_fail_arg(t, 1, DIAG_TYPING, "%s gives a number that is not complex, or None", typing_func_name(t));
        return NULL;
    }
    return type;
}

/* Every $ is $$ or the number of an operand. */
static bool check_placeholders(Typing *t, const char *text, size_t count) {
    for (const char *at = strchr(text, '$'); at; at = strchr(at, '$')) {
        char *end = (char *)at + 2;
        if (at[1] != '$' && (!isdigit((unsigned char)at[1]) || strtoul(at + 1, &end, 10) >= count)) {
            typing_fail_arg(t, 0, DIAG_BAD_ARGUMENTS, "`%.4s` in the PTX text names no operand: there are $0 to $%zu",
                            at, count ? count - 1 : 0);
            return typing_hint(t, "$0 is the result if there is one, the operands follow; a dollar sign is $$");
        }
        at = end;
    }
    return true;
}

bool rule_func_inline_ptx(Typing *t) {
    const char *text;
    const Type *result;
    if (!t->in->device || !t->in->config->compute_capability) {
        typing_fail(t, DIAG_UNSUPPORTED_TARGET, "PTX text runs on a GPU, and this is compiled for the host%s",
                    t->in->device ? " device" : "");
        return typing_hint(t, "take krait.extending.intrinsic(ptx=...), whose Python function runs there, or ask "
                              "cuda.on_gpu()");
    }
    TRY(typing_const_str(t, 0, &text));
    TRY(result = inline_result(t));
    TRY(check_operands(t));
    TRY(check_placeholders(t, text, t->nargs - 2 + (result->kind != TY_NONE)));
    return typing_result(t, result, NULL);
}

/* What functions of C take and give as themselves, whoever compiled them; with Numba's abi a complex number is two
 * arguments, and lies where the result goes.  Floats of 16 bits are structs. */
static bool is_plain(const Type *type, bool result, bool numba) {
    if (type->kind != TY_SCALAR) return type->kind == (result ? TY_NONE : TY_ARRAY);
    char kind = type_scalar_kind(type);
    return kind == 'c' ? numba : kind != 'f' || scalar_info[type->scalar].bytes >= 4;
}

/* inline_result, or a complex number. */
static const Type *declared_result(Typing *t) {
    const Type *type = infer_dtype(t->in, t->args[1]);
    return type && type_is_scalar(type) && type_scalar_kind(type) == 'c' ? type : inline_result(t);
}

bool rule_func_cuda_declared(Typing *t) {
    const char *text;
    const Type *result;
    TRY(typing_const_str(t, 0, &text) && typing_const_str(t, 3, &text) && typing_const_str(t, 2, &text));
    bool numba = strstr(text, "numba") != NULL;
    TRY(result = declared_result(t));
    bool plain = is_plain(result, true, numba);
    for (size_t i = 4; i < t->nargs; i++) plain &= is_plain(t->args[i].type, false, numba);
    if (plain) return typing_result(t, result, NULL);
    typing_fail(t, DIAG_TYPING,
                "functions of other compilers take and give bools, integers, floats of 32 and 64 bits, with abi "
                "'numba' complex numbers, and arrays as their address");
    return typing_hint(t, "pass a float16 as an array of one, and the parts of a complex number as two floats");
}

bool rule_func_cuda_no_fallback(Typing *t) {
    const char *name;
    TRY(typing_const_str(t, 0, &name));
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "`%s` is defined in PTX, which the host%s does not run", name,
                t->in->device ? " device" : "");
    return typing_hint(t, "give declare_device a Python function that does the same: fallback=...");
}

bool rule_func_inline_llvm(Typing *t) {
    const char *text;
    const Type *result;
    TRY(typing_const_str(t, 0, &text));
    TRY(result = inline_result(t));
    TRY(check_operands(t));
    return typing_result(t, result, NULL);
}
