/* rules_threads.c: typing rules of what krait has for the threads of parallel loops (library/krait.def). */
#include "typeinfer/infer.h"

static bool on_host(Typing *t) {
    if (!t->in->device) return true;
    return typing_fail(t, DIAG_UNSUPPORTED,
                       "a kernel's threads are cuda.threadIdx and cuda.blockIdx; parallel loops are "
                       "a matter of functions on the host");
}

bool rule_func_thread_number(Typing *t) {
    if (!on_host(t)) return false;
    return typing_result(t, infer_int(t->in), NULL);
}

bool rule_func_core_spreads(Typing *t) { return typing_result(t, type_scalar(t->in->types, SCALAR_BOOL, true), NULL); }

/* set_num_threads(n), set_parallel_chunksize(n) */
bool rule_func_set_threads(Typing *t) {
    if (!on_host(t)) return false;
    if (!type_is_integer(t->args[0].type))
        return typing_fail_arg(t, 0, DIAG_TYPING, "a number of threads or iterations is an int, not %s",
                               typing_arg_text(t, 0));
    typing_cast(t, 0, infer_int(t->in));
    bool gives = t->func == FUNC_SET_CHUNKSIZE;
    return typing_result(t, gives ? infer_int(t->in) : type_simple(t->in->types, TY_NONE), NULL);
}
