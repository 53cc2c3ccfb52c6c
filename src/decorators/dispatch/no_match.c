/* no_match.c: what is said where an explicit signature does not fit the arguments, or what the function gives.
 *
 * In: types.  Out: a TypeError with both, and what to convert; or a refusal in the Diag of the compilation, with the
 * signature that would fit. */
#include "decorators/decorators.h"

/* What to do about the first argument that no conversion makes a parameter of `spec`. */
static void advise_conversion(const Specialiser *self, const Spec *spec, const Type *const *types, size_t count,
                              Buf *text) {
    PyObject *names = PyCode_GetVarnames((PyCodeObject *)((PyFunctionObject *)self->function)->func_code);
    for (size_t i = 0; names && i < count && spec->nargs == count; i++) {
        const Type *wanted = spec->args[i].type;
        if (typeinfer_signature_cost(&types[i], &spec->code->params[i], 1) >= 0) continue;
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, (Py_ssize_t)i));
        if (!name) break;
        bool arrays = types[i]->kind == TY_ARRAY && wanted->kind == TY_ARRAY && !wanted->record;
        if (arrays && types[i]->ndim != wanted->ndim)
            buf_printf(text, "`%s` has ndim %u, not %u: pass such an array, ", name, (unsigned)types[i]->ndim,
                       (unsigned)wanted->ndim);
        else if (arrays && type_element(wanted)->kind == TY_SCALAR)
            buf_printf(text, "convert the argument, %s.astype(np.%s), ", name,
                       type_text(text->arena, type_element(wanted)));
        else
            buf_printf(text, "convert `%s`, ", name);
        break;
    }
    Py_XDECREF(names);
    PyErr_Clear();
}

static const char *words(const Specialiser *self, Arena *arena, const Type *type) {
    return driver_words(&self->state->session, arena, type);
}

int specialiser_no_match(const Specialiser *self, const Type *const *types, size_t count, Arena *arena) {
    Buf text;
    bool arrays = false;
    buf_init(&text, arena);
    buf_printf(&text, "no signature of %s fits the arguments (",
               PyUnicode_AsUTF8(((PyFunctionObject *)self->function)->func_qualname));
    for (size_t i = 0; i < count; i++) {
        buf_printf(&text, "%s%s", i ? ", " : "", words(self, arena, types[i]));
        arrays = arrays || types[i]->kind == TY_ARRAY;
    }
    buf_puts(&text, "); there is");
    const Spec *last = NULL;
    for (Py_ssize_t k = 0; k < self->nspecs; k++) {
        if (self->specs[k]->stale) continue;
        buf_puts(&text, last ? " and (" : " (");
        last = self->specs[k];
        for (size_t i = 0; i < last->nargs; i++) {
            buf_printf(&text, "%s%s", i ? ", " : "", words(self, arena, last->args[i].type));
            arrays = arrays || last->args[i].type->kind == TY_ARRAY;
        }
        buf_puts(&text, ")");
    }
    buf_puts(&text, ": ");
    if (last) advise_conversion(self, last, types, count, &text);
    buf_puts(&text, "or decorate with the signature that is meant");
    if (arrays) buf_puts(&text, "; the last letter of an array is its order: C, F, or A for any");
    PyErr_SetString(PyExc_TypeError, text.text);
    return -1;
}

bool specialiser_result_fits(const Specialiser *self, const Code *code, const Type *declared, Diag *diag) {
    const Type *result = code->result;
    if (!declared || declared == result || typeinfer_conversion_cost(result, declared) > 0) return true;
    diag_fail(diag, DIAG_TYPING, NULL, (Span){0}, "the signature declares the result %s, the function returns %s",
              declared->kind == TY_NONE ? "void" : words(self, diag->arena, declared),
              words(self, diag->arena, result));
    if (declared->kind == TY_NONE)
        diag_hint(diag, "void(...) is for functions that return nothing: declare what it returns, as in "
                        "'float64(float64)'; or leave the type of the result out, as in '(float64,)'");
    else if (result->kind == TY_NONE)
        diag_hint(diag, "kernels return nothing: void(...); of a function, is `return` missing at its end?");
    else
        diag_hint(diag, "declare what it returns; or leave the type of the result out, as in '(float64, int32)', and "
                        "it is inferred");
    return false;
}
