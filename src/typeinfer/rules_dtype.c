/* rules_dtype.c: typing rules of what NumPy tells about dtypes: result_type, promote_types, can_cast, issubdtype.
 *
 * In: dtypes, classes, texts that name them, arrays, numbers.  Out: constants. */
#include <string.h> /* strchr */

#include "typeinfer/rules_library.h" /* lib_scalar */

const Type *lib_promoted(Typing *t, const Type *a, const Type *b) {
    if (a->kind == TY_TIME && b->kind == TY_TIME)
        return a->flag == b->flag ? type_time_common(t->in->types, a->flag, a, b) : NULL;
    if (a->kind == TY_CHARS && b->kind == TY_CHARS && a->flag == b->flag) return a->bytes > b->bytes ? a : b;
    if (a == b && !type_is_scalar(a)) return a; /* records */
    bool numbers = type_is_scalar(a) && type_is_scalar(b);
    return numbers ? typeinfer_promote(t->in->config->promotion, t->in->types, a, b) : NULL;
}

const Type *lib_number_in(Typing *t, const Type *type) {
    const Type *common = NULL;
    switch (type->kind) {
    case TY_SCALAR: return infer_strong(t->in, type);
    case TY_ARRAY: return type_element(type);
    case TY_TIME: return type;
    case TY_LIST:
    case TY_TUPLE:
        for (uint32_t i = 0; i < type->count; i++) {
            const Type *number = lib_number_in(t, type->items[i]);
            if (number && common) number = lib_promoted(t, common, number);
            TRY(common = number);
        }
        return common;
    default: return NULL;
    }
}

/* The type of element that an argument of result_type stands for, or NULL. */
static const Type *promoted_type(Typing *t, size_t i) {
    const Type *type = t->args[i].type;
    if (typing_is_sequence(type)) return lib_number_in(t, type);
    if (type->kind == TY_OPTIONAL) return NULL; /* None would be one of its own */
    if (type->kind == TY_TIME) return type;     /* of a text, its own length decides */
    if (type->kind == TY_DTYPE && type->items[0]->kind != TY_SCALAR) return type->items[0];
    const Type *scalar = type->kind == TY_ARRAY ? type_element(type) : lib_scalar(t, i);
    return scalar ? scalar : infer_dtype(t->in, t->args[i]);
}

/* The dtype that NumPy gives an array of its arguments: arrays, numbers and dtypes.  Python's numbers alone have
 * NumPy's default types; beside others, which are promoted first, they adapt. */
bool rule_func_np_result_type(Typing *t) {
    const Type *common = NULL;
    for (int weak = 0; weak <= 1; weak++) {
        for (size_t i = 0; i < t->nargs; i++) {
            const Type *scalar = promoted_type(t, i);
            if (!scalar) return typing_bad_operands(t);
            if ((scalar->kind == TY_SCALAR && scalar->weak) != (weak == 1)) continue;
            common = common ? lib_promoted(t, common, scalar) : scalar;
            if (!common) return typing_bad_operands(t);
        }
    }
    const Type *strong = infer_strong(t->in, common);
    return typing_become_const(t, const_of(t->in->arena, type_with_items(t->in->types, TY_DTYPE, 0, &strong, 1)));
}

/* promote_types(type1, type2): of dtypes alone. */
bool rule_func_np_promote_types(Typing *t) {
    static const char *const params[] = {"type1", "type2"};
    TRY(typing_bind_keywords(t, params, 2, COUNT_OF(params)));
    const Type *types[2], *common;
    for (size_t i = 0; i < 2; i++) TRY(types[i] = typing_const_element(t, i));
    if (!(common = lib_promoted(t, types[0], types[1]))) return typing_bad_operands(t);
    return typing_become_const(t, const_of(t->in->arena, type_with_items(t->in->types, TY_DTYPE, 0, &common, 1)));
}

/* can_cast(from_, to, casting='safe') */
bool rule_func_np_can_cast(Typing *t) {
    static const char *const params[] = {"from_", "to", "casting"};
    Casting casting = CASTING_SAFE;
    TRY(typing_bind_keywords(t, params, 2, COUNT_OF(params)));
    const Type *given = infer_content(t->args[0].type);
    if (type_is_scalar(given) && given->weak) {
        typing_fail_arg(t, 0, DIAG_TYPING, "can_cast() does not support Python ints, floats, and complex");
        return typing_hint(t, "name the dtype: np.can_cast(np.int64, to), or compare with the limits of np.iinfo(to)");
    }
    bool value = given->kind == TY_ARRAY || given->kind == TY_SCALAR;
    const Type *from = !value ? typing_const_element(t, 0) : given->kind == TY_ARRAY ? type_element(given) : given;
    const Type *to = from ? typing_const_element(t, 1) : NULL;
    TRY(to);
    if (typing_given(t, 2)) TRY(lib_casting(t, 2, &casting));
    if (!type_is_scalar(from) || !type_is_scalar(to)) return typing_bad_operands(t);
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, lib_can_cast(from, to, casting)));
}

/* issubdtype(arg1, arg2): arg2 a dtype, or a class like numpy.floating. */
bool rule_func_np_issubdtype(Typing *t) {
    const InferHost *host = t->in->host;
    const Type *own, *dtype = infer_dtype(t->in, t->args[1]);
    TRY(own = typing_const_element(t, 0));
    if (dtype) return typing_become_const(t, const_bool(t->in->arena, t->in->types, own == dtype));
    if (own->kind == TY_SCALAR && own->scalar == SCALAR_BFLOAT16) return typing_bad_operands(t);
    ClassAnswer answer = host->is_instance(host->self, own, t->args[1].type);
    if (t->in->diag->failed) return false; /* the class raised an exception */
    if (answer == CLASS_YES || answer == CLASS_NO)
        return typing_become_const(t, const_bool(t->in->arena, t->in->types, answer == CLASS_YES));
    typing_bad_operands(t);
    return typing_hint(t, "it takes a dtype and one of NumPy's classes: np.issubdtype(x.dtype, np.floating)");
}
