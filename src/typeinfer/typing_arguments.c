/* typing_arguments.c: what rules ask about their arguments: by keyword or by place, given or not, which constants they
 * are, which types they have in common.
 *
 * In: the Typing of a call.  Out: its arguments in the order of the parameters; numbers, texts, shapes and dtypes that
 * are known when the function is compiled, or a refusal that says what must be. */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h"

static bool hint_params(Typing *t, const char *const *params, size_t count) {
    Buf names;
    buf_init(&names, t->in->arena);
    for (size_t i = 0; i < count; i++) buf_printf(&names, "%s%s", i ? ", " : "", params[i]);
    return typing_hint(t, "it takes %s", names.text);
}

bool typing_bind_keywords(Typing *t, const char *const *params, size_t least, size_t count) {
    size_t positional = t->nargs - t->nnames;
    Fact *args = ARENA_ARRAY(t->in->arena, Fact, count);
    Value **values = ARENA_ARRAY(t->in->arena, Value *, count);
    if (positional > count)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` takes at most %zu arguments, %zu given", typing_func_name(t),
                           count, positional);
    for (size_t i = 0; i < positional; i++) {
        args[i] = t->args[i];
        values[i] = t->values[i];
    }
    for (size_t k = 0; k < t->nnames; k++) {
        size_t i = 0;
        while (i < count && strcmp(params[i], t->names[k]) != 0) i++;
        if (i == count) {
            typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` has no parameter named '%s'", typing_func_name(t), t->names[k]);
            if (typing_hint_near(t, t->names[k], params, count)) return false;
            return hint_params(t, params, count);
        }
        if (args[i].type)
            return typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` got two values for its parameter '%s'", typing_func_name(t),
                               t->names[k]);
        args[i] = t->args[positional + k];
        values[i] = t->values[positional + k];
    }
    for (size_t i = 0; i < least; i++)
        if (!args[i].type)
            return typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` needs its argument '%s'", typing_func_name(t), params[i]);
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(t->in->arena, const Type *, count);
    t->nargs = count;
    t->nnames = 0;
    return true;
}

/* device= and like=, which make no other array here: None, or what stands for one. */
static bool check_place(Typing *t, size_t arg, bool device) {
    const Type *type = infer_content(t->args[arg].type);
    const Const *konst = t->args[arg].konst;
    if (typing_is_none(t, arg) || (!device && type->kind == TY_ARRAY)) return true;
    if (device && type->kind == TY_STR && konst && strcmp(konst->text, "cpu") == 0) return true;
    if (device)
        return typing_fail_arg(t, arg, DIAG_BAD_ARGUMENTS, "device not understood: only 'cpu' is allowed, not %s",
                               type->kind == TY_STR && konst ? arena_printf(t->in->arena, "'%s'", konst->text)
                                                             : typing_arg_text(t, arg));
    return typing_fail_arg(t, arg, DIAG_BAD_ARGUMENTS, "like= must be None or an array, not %s",
                           typing_arg_text(t, arg));
}

bool typing_take_places(Typing *t, const FuncInfo *row) {
    size_t positional = t->nargs - t->nnames, left = positional, count = 0;
    const char **names = ARENA_ARRAY(t->in->arena, const char *, t->nnames);
    Fact *args = ARENA_ARRAY(t->in->arena, Fact, t->nargs);
    Value **values = ARENA_ARRAY(t->in->arena, Value *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) {
        const char *name = i < positional ? "" : t->names[i - positional];
        bool device = row->takes_device && strcmp(name, "device") == 0;
        if (device || (row->takes_like && strcmp(name, "like") == 0)) {
            TRY(check_place(t, i, device));
            continue;
        }
        if (i >= positional) names[count++] = name, left++;
        args[i < positional ? i : left - 1] = t->args[i];
        values[i < positional ? i : left - 1] = t->values[i];
    }
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(t->in->arena, const Type *, t->nargs);
    t->names = names;
    t->nnames = count;
    t->nargs = left;
    return true;
}

bool typing_given(const Typing *t, size_t arg) { return arg < t->nargs && t->args[arg].type; }

bool typing_is_none(const Typing *t, size_t arg) { return typing_given(t, arg) && t->args[arg].type->kind == TY_NONE; }

static bool needs_constant(Typing *t, size_t arg, const char *what) {
    const Value *value = t->values[arg];
    const char *name = value ? value->name : NULL;
    if (value && !name && value->op == OP_GETATTR && value->args[0]->name)
        name = arena_printf(t->in->arena, "%s.%s", value->args[0]->name, value->imm.text);
    typing_fail_arg(t, arg, DIAG_NEEDS_CONSTANT, "%s must be known when the function is compiled, and %s%s%s is not",
                    what, name ? "`" : "", name ? name : "it", name ? "`" : "");
    typing_hint(t, "use a literal, a global constant, or a variable that only ever holds one");
    return false;
}

bool typing_konst_is_int(const Const *konst, int64_t *out) {
    if (!konst || !type_is_integer(konst->type) || konst->too_big) return false;
    *out = konst->i;
    return true;
}

bool typing_const_int(Typing *t, size_t arg, int64_t *out) {
    const Type *type = t->args[arg].type;
    if (!type_is_integer(type)) {
        typing_fail_arg(t, arg, DIAG_WRONG_KIND, "an int is needed here, not %s", typing_arg_text(t, arg));
        return typing_hint(t, "give a whole number%s",
                           typing_is_text(type) ? ", without quotes" : ", as 0 or int(...)");
    }
    return typing_konst_is_int(t->args[arg].konst, out) || needs_constant(t, arg, "this int");
}

bool typing_const_bool(Typing *t, size_t arg, bool *out) {
    int64_t i;
    if (type_scalar_kind(t->args[arg].type) != 'b')
        return typing_fail_arg(t, arg, DIAG_WRONG_KIND, "True or False is needed here, not %s",
                               typing_arg_text(t, arg));
    if (!typing_konst_is_int(t->args[arg].konst, &i)) return needs_constant(t, arg, "this bool");
    *out = i != 0;
    return true;
}

bool typing_const_str(Typing *t, size_t arg, const char **out) {
    if (t->args[arg].type->kind != TY_STR)
        return typing_fail_arg(t, arg, DIAG_WRONG_KIND, "a str is needed here, not %s", typing_arg_text(t, arg));
    if (!t->args[arg].konst) return needs_constant(t, arg, "this str");
    *out = t->args[arg].konst->text;
    return true;
}

bool typing_refuse_shape(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    typing_fail_arg(t, arg, DIAG_WRONG_KIND, "a shape is an int or a tuple of ints, not %s", typing_arg_text(t, arg));
    if (type->kind == TY_TUPLE && type->count == 1 && type->items[0]->kind == TY_TUPLE)
        return typing_hint(t, "a tuple too many: the lengths are arguments of their own here, (rows, columns)");
    return typing_hint(t, "write whole numbers, as 16 or (16, 16): // in place of /, or int(...)");
}

bool typing_const_shape(Typing *t, size_t arg, int64_t *shape, size_t *ndim) {
    const Type *type = t->args[arg].type;
    const Const *konst = t->args[arg].konst;
    if (type_is_integer(type)) {
        *ndim = 1;
        return typing_const_int(t, arg, shape);
    }
    bool fits = type->kind == TY_TUPLE && type->count <= TYPE_MAX_NDIM;
    for (uint32_t i = 0; fits && i < type->count; i++) fits = type_is_integer(type->items[i]);
    if (!fits) return typing_refuse_shape(t, arg);
    if (!konst) return needs_constant(t, arg, "a shape");
    *ndim = type->count;
    for (uint32_t i = 0; i < type->count; i++)
        if (!typing_konst_is_int(konst->items[i], &shape[i])) return needs_constant(t, arg, "a shape");
    return true;
}

const Type *infer_dtype(Infer *in, Fact fact) {
    const Type *type = fact.type;
    Scalar named;
    if ((type->kind == TY_DTYPE || type->kind == TY_CLASS) && type->items[0]->kind == TY_SCALAR)
        return infer_strong(in, type->items[0]);
    if (type->kind == TY_STR && fact.konst && scalar_of_dtype_text(fact.konst->text, &named))
        return infer_scalar(in, named, false);
    return NULL;
}

const Type *typing_const_element(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    const Const *text = type->kind == TY_STR ? t->args[arg].konst : NULL;
    const Type *time = text ? type_time_named(t->in->types, text->text) : NULL;
    if (time) return time;
    bool names = type->kind == TY_DTYPE || type->kind == TY_CLASS;
    bool other = names && type->items[0]->kind != TY_SCALAR && type->items[0]->kind != TY_ARRAY;
    return other ? type->items[0] : typing_const_dtype(t, arg);
}

static bool hint_near_dtype(Typing *t, const char *text) {
    const char *names[SCALAR_COUNT];
    for (size_t i = 0; i < SCALAR_COUNT; i++) names[i] = scalar_info[i].name;
    return typing_hint_near(t, text, names, SCALAR_COUNT);
}

const Type *typing_const_dtype(Typing *t, size_t arg) {
    const Type *scalar = infer_dtype(t->in, t->args[arg]);
    if (scalar) return scalar;
    const Const *text = t->args[arg].type->kind == TY_STR ? t->args[arg].konst : NULL;
    typing_fail_arg(t, arg, DIAG_WRONG_KIND, "a type of numbers (float32, np.int64, ...) is needed here, not %s",
                    text ? arena_printf(t->in->arena, "'%s'", text->text) : typing_arg_text(t, arg));
    if (t->args[arg].type->kind == TY_LIST)
        return typing_hint(t, "a struct is made outside, point = np.dtype([...]), and named here"), NULL;
    if (arg == 1 && type_is_integer(t->args[0].type) && type_is_integer(t->args[1].type))
        return typing_hint(t, "several lengths are one argument, a tuple: (rows, columns)"), NULL;
    if (text && hint_near_dtype(t, text->text)) return NULL;
    typing_hint(t, "types are bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and complex128, as "
                   "np.float32 or as text, 'float32'");
    return NULL;
}

bool typing_is_one(const Typing *t) { return t->nargs == 2 && t->values[0] && t->values[0] == t->values[1]; }

/* ---- types ---- */

const Type *infer_scalar(Infer *in, Scalar scalar, bool weak) { return type_scalar(in->types, scalar, weak); }
const Type *infer_int(Infer *in) { return type_scalar(in->types, SCALAR_INT64, true); }
const Type *infer_float(Infer *in) { return type_scalar(in->types, SCALAR_FLOAT64, true); }
const Type *infer_complex(Infer *in) { return type_scalar(in->types, SCALAR_COMPLEX128, true); }
const Type *infer_bool(Infer *in) { return type_scalar(in->types, SCALAR_BOOL, true); }
const Type *infer_none(Infer *in) { return type_simple(in->types, TY_NONE); }
const Type *infer_bottom(Infer *in) { return type_simple(in->types, TY_BOTTOM); }
const Type *infer_strong(Infer *in, const Type *scalar) {
    return scalar->kind == TY_SCALAR ? type_scalar(in->types, (Scalar)scalar->scalar, false) : scalar;
}
const Type *infer_content(const Type *type) { return type->kind == TY_OPTIONAL ? type->items[0] : type; }

const Type *promote_args(Typing *t, size_t first, size_t count) {
    const Type *common = NULL;
    for (size_t i = first; i < first + count; i++) {
        const Type *type = infer_content(t->args[i].type);
        if (type->kind != TY_SCALAR) return NULL;
        common = common ? typeinfer_promote(t->in->config->promotion, t->in->types, common, type)
                        : infer_scalar(t->in, (Scalar)type->scalar, type->weak);
        if (!common) return NULL;
    }
    return common;
}
