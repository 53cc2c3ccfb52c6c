/* rules_sorting.c: typing rules of what the prelude sorts by (krait/prelude/sorting.py): NumPy's functions for a dtype.
 *
 * In: how ("quick", "heap" or "stable") and an array of one axis whose items lie together.  Out: calls of the host. */
#include "typeinfer/rules_library.h" /* lib_* */

static bool is_line(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    bool line = type->kind == TY_ARRAY && type->ndim == 1 && type->layout != LAYOUT_A;
    return (line && lib_is_numpys(t, arg)) || typing_bad_operands(t);
}

static bool knows_way(Typing *t) {
    const char *way;
    if (t->in->device) return typing_fail(t, DIAG_UNSUPPORTED_TARGET, "arrays cannot be sorted in kernels");
    return typing_const_str(t, 0, &way);
}

/* sort_line(way, line) */
bool rule_func_sort_line(Typing *t) {
    TRY(knows_way(t));
    TRY(is_line(t, 1));
    if (t->args[1].type->readonly) {
        typing_fail_arg(t, 1, DIAG_READONLY, "the array that is to be sorted is read-only");
        return typing_hint(t, "sort a copy: numpy.sort(x)");
    }
    return typing_result(t, infer_none(t->in), NULL);
}

/* numpy_order(line, kind, order): NumPy's argsort of an array of one axis, of texts or records. */
bool rule_func_numpy_order(Typing *t) {
    const Type *line = t->args[0].type;
    if (line->kind != TY_ARRAY || line->ndim != 1 || type_element(line)->kind == TY_SCALAR)
        return typing_bad_operands(t);
    for (size_t i = 1; i < 3; i++) typing_as(t, i, typeinfer_general(t->in, t->args[i].type));
    const Type *places = type_array(t->in->types, infer_scalar(t->in, SCALAR_INT64, false), 1, LAYOUT_C, false);
    return typing_call_interpreter(t, "=numpy.argsort kind order", places);
}

/* argsort_line(way, line, places): places, which stand in order, are put into the order of the items. */
bool rule_func_argsort_line(Typing *t) {
    TRY(knows_way(t));
    TRY(is_line(t, 1));
    TRY(is_line(t, 2));
    if (type_element(t->args[2].type)->scalar != SCALAR_INT64) return typing_bad_operands(t);
    return typing_result(t, infer_none(t->in), NULL);
}
