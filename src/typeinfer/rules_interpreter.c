/* rules_interpreter.c: typing rules of functions that the interpreter calls for compiled code, and of copies.
 *
 * Rows say by letters what a function takes and gives: f float, i int, n None, F any iterable of Python floats, N any
 * of numbers; behind [ they may be left out. */
#include <string.h> /* strchr */

#include "typeinfer/rules_library.h" /* lib_* */

static bool refuse_in_kernels(Typing *t) {
    if (!t->in->device) return true;
    const char *name = func_info[t->func].head.names, *advice = typing_advice(t, strchr(name, '.') + 1);
    if (!advice) advice = typing_advice(t, name);
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "`%s` is not compiled in kernels", name);
    return advice ? typing_hint(t, "%s", advice) : false;
}

static const Type *result_of_letter(Infer *in, char letter) {
    return letter == 'f' ? infer_float(in) : letter == 'i' ? infer_int(in) : infer_none(in);
}

/* The items of operand 0 as a list. */
static bool listed(Typing *t, bool floats) {
    const Type *type = infer_content(t->args[0].type);
    if (type->kind != TY_LIST) {
        Fact facts[2] = {{type_func(t->in->types, &func_info[FUNC_LIST].head), NULL}, t->args[0]};
        Value *values[2] = {NULL, t->values[0]};
        facts[0].konst = const_of(t->in->arena, facts[0].type);
        if (t->emit) values[0] = typing_make_const(t, facts[0].konst);
        TRY(typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2}, &t->args[0],
                       &t->values[0]));
        type = t->args[0].type;
    }
    if (type->kind == TY_LIST && type->items[0]->kind == TY_BOTTOM) return true;
    const Type *item = type->kind == TY_LIST ? type->items[0] : NULL;
    bool number = item && item->kind == TY_SCALAR && !item->object && strchr("biuf", type_scalar_kind(item));
    if (number && (!floats || (item->weak && item->scalar == SCALAR_FLOAT64))) return true;
    typing_bad_operands(t);
    return typing_hint(t,
                       "it takes an iterable of %s in compiled code: [float(v) for v in values]; of an array, np.mean, "
                       "np.median, np.var and np.std",
                       floats ? "Python floats" : "numbers");
}

bool rule_func_interpreter(Typing *t) {
    const FuncInfo *row = &func_info[t->func];
    const char *letters = row->signature;
    TRY(refuse_in_kernels(t));
    for (size_t i = 0; i < t->nargs; i++) {
        letters += *letters == '[';
        if (*letters == 'F' || *letters == 'N') {
            if (i >= t->nargs - t->nnames) return typing_bad_operands(t);
            TRY(listed(t, *letters == 'F'));
        } else if (infer_content(t->args[i].type)->kind != TY_NONE) {
            if (!lib_kinds(t, i, 1, "biuf")) return typing_bad_operands(t);
            typing_as(t, i, *letters == 'i' ? infer_int(t->in) : infer_float(t->in));
        }
        letters += letters[1] != '>';
    }
    Buf what;
    buf_init(&what, t->in->arena);
    buf_printf(&what, "=%s", row->head.names);
    for (size_t i = 0; i < t->nnames; i++) buf_printf(&what, " %s", t->names[i]);
    return typing_call_interpreter(t, what.text, result_of_letter(t->in, strchr(row->signature, '>')[1]));
}

/* The type of what the interpreter gives: one, or a tuple of several. */
static const Type *declared_type(Typing *t, const Const *types) {
    const Type **items = ARENA_ARRAY(t->in->arena, const Type *, types->type->count + 1);
    for (uint32_t i = 0; i < types->type->count; i++) {
        const Type *type = types->items[i]->type;
        bool text = type->kind == TY_FUNC && strcmp(type->func->names, "builtins.str") == 0;
        items[i] = type->kind == TY_CLASS || type->kind == TY_DTYPE ? type_as_item(t->in->types, type->items[0])
                   : text                                           ? type_simple(t->in->types, TY_STRING)
                   : type->kind == TY_NONE                          ? type
                                                                    : NULL;
        if (items[i] && type_can_leave(items[i])) continue;
        if (items[i] && items[i]->kind == TY_OPTIONAL) {
            typing_fail(t, DIAG_TYPING,
                        "objmode declares an optional type, %s, for its result number %u, which is not "
                        "compiled",
                        typing_text(t, items[i]), (unsigned)i + 1);
            typing_hint(t, "declare %s, and a second variable, found='boolean', that says whether there is one",
                        typing_text(t, items[i]->items[0]));
            return NULL;
        }
        typing_fail(t, DIAG_TYPING, "the type that objmode declares for its result number %u is none of krait.types",
                    (unsigned)i + 1);
        typing_hint(t, "write it as in a signature: objmode(y='float64[:]', n=types.int64)");
        return NULL;
    }
    size_t count = types->type->count;
    return !count ? infer_none(t->in) : count == 1 ? items[0] : type_tuple(t->in->types, items, count);
}

/* interpreted(body, types, *values): the text names the function by its number. */
bool rule_func_interpreted(Typing *t) {
    Infer *in = t->in;
    if (t->in->device || t->in->func->generator) {
        typing_fail(t, DIAG_UNSUPPORTED, "objmode is for functions on the host without `yield`");
        return typing_hint(t, "let the interpreter do it before the call, and pass what it gives");
    }
    const Type *result = declared_type(t, t->args[1].konst);
    TRY(result);
    Value **args = ARENA_ARRAY(in->arena, Value *, t->nargs);
    for (size_t i = 2; i < t->nargs; i++) {
        const Type *type = typeinfer_general(in, t->args[i].type);
        if (!type_can_leave(type)) {
            typing_fail_arg(t, i, DIAG_TYPING, "%s cannot be given to a block of objmode", typing_arg_text(t, i));
            return typing_hint(t, "numbers, strings, arrays, and tuples, lists, dicts and sets of them can");
        }
        if (t->emit) args[i - 1] = typing_make_cast(t, t->values[i], type);
    }
    if (!t->emit) return typing_become(t, NULL, result);
    const char *what = arena_printf(in->arena, "@%u", (unsigned)t->args[0].konst->type->object);
    args[0] = typing_make_const(t, const_str(in->arena, in->types, what));
    return typing_become(t, typing_make_func(t, FUNC_RUN_PYTHON, result, args, t->nargs - 1), result);
}

/* numpy.random.default_rng(seed=None): who called the code keeps the Generator until it is left; what is suspended, as
 * generators are, is left before it is done. */
bool rule_func_default_rng(Typing *t) {
    static const char *const params[] = {"seed"};
    const Type *generator = type_simple(t->in->types, TY_RANDOM);
    TRY(refuse_in_kernels(t));
    TRY(typing_bind_keywords(t, params, 0, COUNT_OF(params)));
    if (t->in->func->generator) {
        typing_fail(t, DIAG_UNSUPPORTED, "a numpy.random.Generator is not made in a function with `yield`");
        return typing_hint(t, "make it outside, and pass it as an argument");
    }
    if (!typing_given(t, 0) || typing_is_none(t, 0)) {
        t->nargs = 0;
        return typing_call_interpreter(t, "=numpy.random.default_rng", generator);
    }
    const Type *seed = infer_content(t->args[0].type);
    if (seed->kind == TY_RANDOM) return typing_become_arg(t, 0);
    const Type *item = seed->kind == TY_ARRAY || seed->kind == TY_LIST ? seed->items[0] : seed;
    if (!type_is_integer(item)) return typing_bad_operands(t);
    return typing_call_interpreter(t, "=numpy.random.default_rng", generator);
}

/* ---- copies ---- */

/* Whether nobody can tell a copy from the value itself. */
static bool is_never_changed(const Type *type) {
    switch (type->kind) {
    case TY_NONE:
    case TY_SCALAR:
    case TY_TIME:
    case TY_MEMBER:
    case TY_STR:
    case TY_STRING:
    case TY_BYTES:
    case TY_RANGE: return true;
    case TY_OPTIONAL:
    case TY_TUPLE:
    case TY_VARTUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            if (!is_never_changed(type->items[i])) return false;
        return true;
    default: return false;
    }
}

/* Of what the interpreter makes copies as good as those that compiled code would make. */
static bool is_plain(const Type *type) {
    if (is_never_changed(type)) return true;
    if (type->kind == TY_DICT) return is_plain(type_key(type)) && is_plain(type_dict_value(type));
    if (type->kind == TY_SET) return is_plain(type_key(type));
    bool holds = type->kind == TY_LIST || type->kind == TY_TUPLE || type->kind == TY_VARTUPLE ||
                 type->kind == TY_OPTIONAL;
    for (uint32_t i = 0; holds && i < type->count; i++)
        if (!is_plain(type->items[i])) return false;
    return holds;
}

/* What is put in later says the types: its copy has them by then. */
static bool holds_nothing(const Type *type) {
    bool table = type->kind == TY_DICT || type->kind == TY_SET;
    return (table && type_key(type)->kind == TY_BOTTOM) || (type->kind == TY_LIST && type->items[0]->kind == TY_BOTTOM);
}

static bool refuse_copy(Typing *t) {
    typing_bad_operands(t);
    return typing_hint(t, "%s", typing_advice(t, "copy.copy"));
}

bool rule_func_copy(Typing *t) {
    const Type *type = t->args[0].type;
    TRY(refuse_in_kernels(t));
    if (is_never_changed(type)) return typing_become_arg(t, 0);
    bool copies = type_is_container(type) || type->kind == TY_ARRAY;
    return copies ? typing_become_prelude(t, "builtin:copy_of") : refuse_copy(t);
}

bool rule_func_deepcopy(Typing *t) {
    const Type *type = t->args[0].type;
    TRY(refuse_in_kernels(t));
    if (is_never_changed(type)) return typing_become_arg(t, 0);
    if ((type->kind == TY_ARRAY && !type->record) || holds_nothing(type))
        return typing_become_prelude(t, "builtin:copy_of");
    if (!is_plain(type)) return refuse_copy(t);
    return typing_call_interpreter(t, "=copy.deepcopy", type);
}
