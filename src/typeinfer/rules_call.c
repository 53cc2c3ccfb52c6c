/* rules_call.c: typing rules of calls: what is called, and by which rule.
 *
 * In: the callee's type and the arguments, positional and by keyword.  Out: a call of a library function typed by its
 * rule, of a function that users have added, of a Python function (rules_python.c), a conversion (rules_conversion.c),
 * an exception (rules_exception.c), or an instance of a namedtuple or a dataclass. */
#include <string.h> /* strlen, strncmp */

#include "library/library.h"
#include "typeinfer/rules.h"

/* ---- rows of the library ---- */

static void drop_callee(Typing *t) {
    t->args++;
    t->values++;
    t->to++;
    t->nargs--;
}

/* What users have said about a call of this row with the arguments of t; 0: nothing, or the call failed. */
static ObjRef overload_of(Typing *t, const FuncHead *func) {
    Infer *in = t->in;
    const Type **types = ARENA_ARRAY(in->arena, const Type *, t->nargs);
    const Const **konsts = ARENA_ARRAY(in->arena, const Const *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) {
        types[i] = t->args[i].type;
        konsts[i] = t->args[i].konst;
    }
    ObjRef function = 0;
    OverloadRequest request = {func, types, konsts, t->nargs, t->names, t->nnames, false};
    if (in->host->overload(in->host->self, &request, &function)) return function;
    diag_note(in->diag, in->func->source, t->at->span, "called from here");
    t->failed = true;
    return 0;
}

/* A call of a row that a user added: of the function that it stands for, or of what the overloads say. */
static bool call_added(Typing *t, const FuncInfo *row) {
    ObjRef function = row->object ? row->object : overload_of(t, &row->head);
    if (function) return typing_call_python(t, function, NULL, NULL);
    if (t->failed) return false;
    Buf types;
    buf_init(&types, t->in->arena);
    for (size_t i = 0; i < t->nargs; i++) {
        if (i) buf_puts(&types, ", ");
        buf_puts(&types, typing_text(t, t->args[i].type));
    }
    typing_fail(t, DIAG_BAD_ARGUMENTS, "no overload of `%s` takes (%s)", row->doc, types.len ? types.text : "");
    return typing_hint(t, "its @overload gave None for these types: pass what it takes, or let it give a function for "
                          "them, too");
}

/* A row that Krait brings may be overloaded, too: what users have said comes first. */
static bool call_row(Typing *t) {
    ObjRef function = overload_of(t, &func_info[t->func].head);
    if (function) return typing_call_python(t, function, NULL, NULL);
    return !t->failed && typing_call_library(t);
}

bool typing_attribute_overload(Typing *t) {
    const char *name = arena_printf(t->in->arena, "krait.extending.attribute.%s", t->text);
    const FuncHead *func = type_table_function(t->in->types, name, strlen(name));
    ObjRef function = func ? overload_of(t, func) : 0;
    return function && typing_call_python(t, function, NULL, NULL);
}

/* The function of the module operator that the operation is; NULL: none, or a user has said nothing of any. */
static const FuncHead *operator_of(const Typing *t, bool in_place) {
    bool calculates = op_is_binary(t->op) || t->op == OP_MATMUL || t->op == OP_NEG || t->op == OP_POS ||
                      t->op == OP_INVERT;
    bool compares = t->op >= OP_LT && t->op <= OP_GE;
    bool items = t->op == OP_GETITEM || t->op == OP_SETITEM || t->op == OP_DELITEM;
    if (!calculates && !compares && !items && t->op != OP_IN) return NULL;
    const char *text = t->op == OP_IN ? "contains" : op_info[t->op].text;
    const char *rest = !in_place && (t->op == OP_AND || t->op == OP_OR) ? "_" : "";
    const char *name = arena_printf(t->in->arena, "operator.%s%s%s", in_place ? "i" : "", text, rest);
    return type_table_function(t->in->types, name, strlen(name));
}

static void swap_operands(Typing *t) {
    Fact fact = t->args[0];
    Value *value = t->values[0];
    t->args[0] = t->args[1], t->values[0] = t->values[1];
    t->args[1] = fact, t->values[1] = value;
}

bool typing_operator_overload(Typing *t, bool *own) {
    *own = false;
    if (!t->in->host->overloads || t->nargs == 0 || t->nargs > 3) return true;
    bool in_place = t->at && t->at->flags & VF_INPLACE;
    for (int tried = !in_place; tried < 2 && !*own; tried++) {
        const FuncHead *func = operator_of(t, tried == 0);
        if (!func) continue;
        if (t->op == OP_IN) swap_operands(t); /* contains(y, x) */
        ObjRef function = overload_of(t, func);
        *own = function != 0;
        if (t->failed || (function && !typing_call_python(t, function, NULL, NULL))) return false;
        if (t->op == OP_IN && !function) swap_operands(t);
    }
    return true;
}

/* ---- calls ---- */

/* Whether the object is what functools.lru_cache or cache makes of a function. */
static bool keeps_results(Typing *t, const Type *type) {
    const InferHost *host = t->in->host;
    const Const *class = host->class_of(host->self, type);
    const char *name = class ? host->name_of(host->self, class->type, "__name__") : NULL;
    return name && strcmp(name, "_lru_cache_wrapper") == 0;
}

static bool not_callable(Typing *t, const Type *type) {
    if (t->in->quiet) return typing_fail(t, DIAG_NOT_CALLABLE, "not callable");
    if (type->kind == TY_OBJECT && keeps_results(t, type)) {
        typing_fail(t, DIAG_NOT_CALLABLE,
                    "`%s` keeps its results by functools.lru_cache, which is not compiled in kernels",
                    t->in->host->object_name(t->in->host->self, type->object));
        return typing_hint(t, "take the decorator away, or keep the results in a dict that is passed along: "
                              "if n in memo: return memo[n]");
    }
    if (type->kind == TY_OBJECT) {
        const char *name = t->in->host->object_name(t->in->host->self, type->object);
        const char *advice = typing_advice(t, name);
        const Const *its_class = t->in->host->class_of(t->in->host->self, type);
        const char *kind = its_class ? t->in->host->name_of(t->in->host->self, its_class->type, "__name__") : NULL;
        if (!advice && kind && strcmp(kind, "module") == 0) {
            typing_fail(t, DIAG_NOT_CALLABLE, "the module `%s` cannot be called", name);
            return typing_hint(t, "call a function of it, with its name behind a dot: %s.name(...)", name);
        }
        static const char builtins[] = "builtins.";
        size_t prefix = strncmp(name, builtins, sizeof builtins - 1) == 0 ? sizeof builtins - 1 : 0;
        typing_fail(t, DIAG_NOT_CALLABLE, "`%s` is not compiled%s", name + prefix, advice ? "" : " yet");
        const StructClass *class = t->in->device ? t->in->host->struct_class(t->in->host->self, type->object) : NULL;
        if (class && !advice)
            return typing_hint(t,
                               "kernels make instances of dataclasses and namedtuples alone: make it one, @dataclass "
                               "class %s: with its fields and no __init__; or make the instance outside, and pass it",
                               name + prefix);
        return typing_hint(t, "%s",
                           advice ? advice
                                  : "functions written in Python are compiled; call this one outside, and pass its "
                                    "result as an argument");
    }
    typing_fail(t, DIAG_NOT_CALLABLE, "%s cannot be called", typing_arg_text(t, 0));
    return typing_hint_operands(t, CALLEE, "");
}

/* P(1, y=2): an instance of a namedtuple is a tuple of its fields, one of a dataclass a struct of them. */
static bool call_object(Typing *t, const Type *callee) {
    Infer *in = t->in;
    bool is_enum;
    if (!typing_call_enum(t, callee->object, &is_enum) || is_enum) return !t->failed;
    const StructClass *class = in->host->struct_class(in->host->self, callee->object);
    if (!class || (t->in->device && !class->names)) return not_callable(t, callee);
    if (class->attributes && !t->in->device) return typing_make_instance(t, callee, class);
    drop_callee(t);
    TRY(typing_bind_keywords(t, class->parameters, class->least, class->count));
    const Type **types = ARENA_ARRAY(in->arena, const Type *, class->count);
    const Const **konsts = ARENA_ARRAY(in->arena, const Const *, class->count);
    Value **values = ARENA_ARRAY(in->arena, Value *, class->count);
    bool known = true;
    for (size_t i = 0; i < class->count; i++) {
        bool given = typing_given(t, i);
        konsts[i] = given ? t->args[i].konst : class->fallbacks[i];
        types[i] = given ? t->args[i].type : konsts[i]->type;
        if (t->emit) values[i] = given ? t->values[i] : typing_make_const(t, konsts[i]);
        known &= konsts[i] && konsts[i]->type == types[i];
        if (class->tuple || in->device) continue;
        types[i] = typeinfer_general(in, types[i]); /* which text it is, is not known of an instance */
        if (t->emit) values[i] = typing_make_cast(t, values[i], types[i]);
    }
    const Type *type = class->tuple ? type_named_tuple(in->types, callee->object, class->title, class->names, types,
                                                       class->count)
                                    : type_instance(in->types, callee->object, class->title, class->frozen,
                                                    class->names, types, class->count);
    t->konst = known && class->tuple ? const_typed_tuple(in->arena, type, konsts) : NULL;
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, type, values, class->count) : NULL, type);
}

/* One of several functions: Python of the prelude tells which, and calls it. */
static bool call_choice(Typing *t, const Type *choice) {
    Infer *in = t->in;
    size_t count = t->nargs - 1;
    if (t->nnames) {
        typing_fail(t, DIAG_UNSUPPORTED,
                    "which function is called is only known when the code runs, and so are its parameters' names");
        return typing_hint(t, "pass the arguments by position, or call each function in its own branch");
    }
    const Const **functions = ARENA_ARRAY(in->arena, const Const *, choice->count);
    for (uint32_t i = 0; i < choice->count; i++) functions[i] = const_of(in->arena, choice->items[i]);
    const Const *all = const_tuple(in->arena, in->types, functions, choice->count);
    Fact *facts = ARENA_ARRAY(in->arena, Fact, 3);
    Value **values = ARENA_ARRAY(in->arena, Value *, 3);
    facts[0] = (Fact){infer_int(in), NULL};
    facts[1] = (Fact){all->type, all};
    facts[2] = typing_tuple_fact(in, t->args + 1, count);
    facts[2].konst = NULL;
    if (t->emit) {
        values[0] = typing_make_cast(t, typing_make_cast(t, t->values[0], choice), infer_int(in));
        values[1] = typing_make_const(t, all);
        values[2] = typing_make_op(t, OP_TUPLE, facts[2].type, t->values + 1, count);
    }
    t->args = facts;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, 3);
    t->nargs = 3;
    return typing_become_prelude(t, "applying:call_chosen");
}

/* Whether p._replace, or another attribute, is what namedtuple writes into its classes. */
static bool is_of_namedtuple(Typing *t, const Type *callee, const char *name) {
    static const char attribute[] = "__module__";
    const Value *getattr = t->values[0];
    if (!getattr || getattr->op != OP_GETATTR || strcmp(getattr->imm.text, name) != 0) return false;
    const Type *type = infer_content(value_resolve(getattr->args[0])->type);
    const char *module = t->in->host->name_of(t->in->host->self, callee, attribute);
    return type->kind == TY_TUPLE && type->object && module && strcmp(module, "collections") == 0;
}

/* p._replace(x=1): a tuple of the same class with other fields. */
static bool replace_fields(Typing *t) {
    Infer *in = t->in;
    const Type *like = infer_content(t->args[0].type);
    const Type **types = ARENA_ARRAY(in->arena, const Type *, like->count);
    Value **values = ARENA_ARRAY(in->arena, Value *, like->count);
    if (t->nargs != t->nnames + 1) return typing_fail(t, DIAG_BAD_ARGUMENTS, "_replace() takes fields by name alone");
    for (uint32_t i = 0; i < like->count; i++) {
        types[i] = like->items[i];
        if (t->emit) values[i] = typing_make_extract(t, t->values[0], i);
    }
    for (size_t k = 0; k < t->nnames; k++) {
        int field = type_field(like, t->names[k]);
        if (field < 0)
            return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s has no field `%s`", typing_arg_text(t, 0), t->names[k]);
        types[field] = t->args[1 + k].type;
        values[field] = t->values[1 + k];
    }
    const Type *type = type_tuple_like(in->types, like, types);
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, type, values, like->count) : NULL, type);
}

/* Of one type, the items are the values of any other dict. */
static bool has_fields_of_two_types(Typing *t) {
    const Type *type = t->args[0].type;
    if (t->nargs != 1 || type->kind != TY_TUPLE || !type->names) return false;
    for (uint32_t i = 1; i < type->count; i++)
        if (typeinfer_general(t->in, type->items[i]) != typeinfer_general(t->in, type->items[0])) return true;
    return false;
}

/* The callee is operand 0, the arguments follow. */
static bool call_value(Typing *t) {
    const Type *callee = infer_content(t->args[0].type);
    Value *value = t->values[0];
    switch (callee->kind) {
    case TY_FUNC:
        if (func_row(callee->func)->is_static)
            drop_callee(t);
        else
            typing_bind_receiver(t);
        typing_plain_receiver(t, func_row(callee->func)->head.names);
        if (func_row(callee->func)->how == HOW_PYTHON) return call_added(t, func_row(callee->func));
        t->func = callee->func->id;
        if (t->spreads)
            return typing_become_prelude(t, t->spreads_mixed ? "itertools:mixed_columns" : func_info[t->func].spread);
        return call_row(t);
    case TY_PYFUNC:
        if (is_of_namedtuple(t, callee, "_replace")) return typing_bind_receiver(t) && replace_fields(t);
        bool fields = is_of_namedtuple(t, callee, "_asdict");
        typing_bind_receiver(t);
        if (fields && has_fields_of_two_types(t)) return typing_become_fields(t);
        return typing_call_python(t, callee->object, NULL, NULL);
    case TY_CLOSURE:
        if (t->emit && callee != t->args[0].type) value = typing_make_cast(t, value, callee);
        drop_callee(t);
        return typing_call_python(t, callee->object, callee, value);
    case TY_CHOICE: return call_choice(t, callee);
    case TY_CLASS: drop_callee(t); return typing_call_class(t, callee);
    case TY_EXC_CLASS: drop_callee(t); return typing_call_exception(t, callee);
    case TY_OBJECT: return call_object(t, callee);
    default: return typing_call_instance(t, callee) || (!t->failed && not_callable(t, callee));
    }
}

bool rule_call(Typing *t) { return call_value(t); }

/* f(*args, k=v, **x): the items of the tuple, and what x holds, become arguments. */
bool rule_call_ex(Typing *t) {
    Infer *in = t->in;
    TRY(typing_take_apart(t));
    const Type *tuple = t->args[1].type;
    if (tuple->kind == TY_VARTUPLE && typing_spread(t)) return call_value(t);
    if (tuple->kind != TY_TUPLE) {
        if (t->failed) return false;
        if (tuple->kind != TY_VARTUPLE && tuple->kind != TY_LIST) {
            typing_fail_arg(t, 1, DIAG_BAD_ARGUMENTS, "* needs a tuple here, not %s", typing_arg_text(t, 1));
            return typing_hint(t, "the number of arguments must be known when the function is compiled");
        }
        typing_fail_arg(t, 1, DIAG_BAD_ARGUMENTS,
                        "how many arguments `*` takes out of a list, or a tuple of any length, is not known when the "
                        "function is compiled");
        return typing_hint(t, "give what is called one parameter for the whole list, f(items), or name the arguments, "
                              "f(x[0], x[1])");
    }
    size_t keywords = t->nargs - 2, nargs = 1 + tuple->count + keywords;
    Fact *args = ARENA_ARRAY(in->arena, Fact, nargs);
    Value **values = ARENA_ARRAY(in->arena, Value *, nargs);
    args[0] = t->args[0];
    values[0] = t->values[0];
    for (uint32_t i = 0; i < tuple->count; i++) {
        args[1 + i] = (Fact){tuple->items[i], t->args[1].konst ? t->args[1].konst->items[i] : NULL};
        values[1 + i] = t->emit ? typing_make_extract(t, t->values[1], i) : NULL;
    }
    for (size_t k = 0; k < keywords; k++) {
        args[1 + tuple->count + k] = t->args[2 + k];
        values[1 + tuple->count + k] = t->values[2 + k];
    }
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, nargs);
    t->nargs = nargs;
    t->op = OP_CALL;
    return call_value(t);
}
