/* rules_sequences.c: typing rules of the builtins over sequences, len, range, enumerate, zip, reversed, next and tuple,
 * and of isinstance and of complex made of its parts. */
#include <string.h> /* strcmp, strlen */

#include "typeinfer/rules.h"

const Type *typing_iterator_type(Typing *t, size_t arg, const Type **cast); /* rules_tuple.c */

static bool known_int(Typing *t, int64_t value) {
    return typing_become_const(t, const_int(t->in->arena, t->in->types, value));
}

/* The characters of a text, which is stored as UTF-8: bytes that continue one do not count. */
static int64_t text_length(const char *text) {
    int64_t count = 0;
    for (; *text; text++) count += (*text & 0xc0) != 0x80;
    return count;
}

bool rule_func_len(Typing *t) {
    Infer *in = t->in;
    const Type *type = infer_content(t->args[0].type);
    if (type != t->args[0].type) typing_as(t, 0, type);
    switch (type->kind) {
    case TY_TUPLE: return known_int(t, type->count);
    case TY_CHARS: {
        Value *length = t->emit ? typing_make_func(t, FUNC_CHARS_LENGTH, infer_int(in), t->values, 1) : NULL;
        return typing_become(t, length, infer_int(in));
    }
    case TY_STR: return t->args[0].konst ? known_int(t, text_length(t->args[0].konst->text)) : typing_bad_operands(t);
    case TY_STRING:
    case TY_BYTES:
    case TY_VARTUPLE:
    case TY_DICT:
    case TY_SET:
    case TY_LIST: return typing_result(t, infer_int(in), NULL);
    case TY_RANGE:
        t->flags |= VF_CHECKED; /* there may be more than an int64 counts */
        return typing_result(t, infer_int(in), NULL);
    case TY_FLAT: return typing_result(t, infer_int(in), NULL);
    case TY_ARRAY: {
        if (type->record) return known_int(t, type_element(type)->count);
        if (type->ndim == 0) return typing_fail(t, DIAG_TYPING, "len() of an array without dimensions");
        if (t->args[0].konst) return known_int(t, t->args[0].konst->array->shape[0]); /* a global array */
        if (!t->emit) return typing_result(t, infer_int(in), NULL);
        const Type **items = ARENA_ARRAY(in->arena, const Type *, type->ndim);
        for (unsigned i = 0; i < type->ndim; i++) items[i] = infer_int(in);
        Value *array = typing_make_cast(t, t->values[0], type);
        Value *shape = typing_make_getattr(t, "shape", type_tuple(in->types, items, type->ndim), array);
        return typing_become(t, typing_make_extract(t, shape, 0), infer_int(in));
    }
    default: return typing_bad_operands(t);
    }
}

/* range(stop), range(start, stop[, step]): always three ints afterwards. */
bool rule_func_range(Typing *t) {
    Infer *in = t->in;
    Fact *args = ARENA_ARRAY(in->arena, Fact, 3);
    Value **values = ARENA_ARRAY(in->arena, Value *, 3);
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "range() takes no keyword arguments");
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = infer_content(t->args[i].type);
        if (type_is_integer(type)) continue;
        typing_fail_arg(t, i, DIAG_TYPING, "range() takes ints, not %s", typing_arg_text(t, i));
        if (type->kind == TY_ARRAY || type->kind == TY_LIST)
            return typing_hint(t,
                               "count up to its length, len(...), and take the items by their numbers, x[i]; or loop "
                               "over the items themselves, for v in x");
        if (type_scalar_kind(type) != 'f') return typing_hint_operands(t, CALLED, "range");
        return typing_hint(t,
                           "use int(...) or // for a whole number; np.arange(start, stop, step) has steps of a float");
    }
    const int64_t fallback[3] = {0, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        size_t from = t->nargs == 1 ? (i == 1 ? 0 : 9) : i;
        if (from < t->nargs) {
            args[i] = t->args[from];
            values[i] = t->values[from];
        } else {
            args[i] = (Fact){infer_int(in), const_int(in->arena, in->types, fallback[i])};
            values[i] = t->emit ? typing_make_const(t, args[i].konst) : NULL;
        }
    }
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, 3);
    t->nargs = 3;
    for (size_t i = 0; i < 3; i++) typing_cast(t, i, infer_int(in));
    int64_t step;
    if (typing_konst_is_int(args[2].konst, &step)) {
        if (step == 0) return typing_fail(t, DIAG_TYPING, "range() arg 3 must not be zero");
        t->flags |= VF_UNCHECKED;
    } else if (in->py_errors) {
        t->flags |= VF_CHECKED;
    }
    return typing_result(t, type_simple(in->types, TY_RANGE), NULL);
}

/* slice(stop), slice(start, stop[, step]): what is not given is None. */
bool rule_func_slice(Typing *t) {
    Infer *in = t->in;
    Fact *args = ARENA_ARRAY(in->arena, Fact, 3);
    Value **values = ARENA_ARRAY(in->arena, Value *, 3);
    if (t->nnames) return typing_fail(t, DIAG_BAD_ARGUMENTS, "slice() takes no keyword arguments");
    const Const *none = const_none(in->arena, in->types);
    for (size_t i = 0; i < 3; i++) {
        bool only = t->nargs == 1, given = only ? i == 1 : i < t->nargs;
        args[i] = given ? t->args[only ? 0 : i] : (Fact){none->type, none};
        values[i] = given ? t->values[only ? 0 : i] : t->emit ? typing_make_const(t, none) : NULL;
    }
    Fact fact;
    Value *value;
    TRY(typing_sub(t, &(SubOp){.op = OP_SLICE, .values = values, .facts = args, .nargs = 3}, &fact, &value));
    t->konst = fact.konst;
    return typing_become(t, value, fact.type);
}

/* The iterator of operand `arg` takes its place. */
static const Type *take_iterator(Typing *t, size_t arg) {
    if (typing_has_way(t, infer_content(t->args[arg].type))) {
        SubOp walks = {.op = OP_ITER, .values = &t->values[arg], .facts = &t->args[arg], .nargs = 1};
        TRY(typing_sub(t, &walks, &t->args[arg], &t->values[arg]));
        return t->args[arg].type->kind == TY_ITER ? t->args[arg].type : NULL;
    }
    const Type *cast, *iter = typing_iterator_type(t, arg, &cast);
    if (!iter) return NULL;
    if (t->emit && iter != t->args[arg].type) {
        Value *over = typing_make_cast(t, t->values[arg], cast);
        t->values[arg] = typing_make_op(t, OP_ITER, iter, &over, 1);
    }
    t->args[arg] = (Fact){iter, NULL};
    return iter;
}

/* next(it) and next(it, default): Python of the prelude, for which an iterator is a reference as for any function. */
bool rule_func_next(Typing *t) {
    if (t->nnames) return typing_fail(t, DIAG_TYPING, "next() takes no keyword arguments");
    if (t->args[0].type->kind == TY_ITER || (t->args[0].type->kind == TY_GENERATOR && take_iterator(t, 0)))
        return typing_become_prelude(t, t->nargs == 1 ? "builtin:next_item" : "builtin:next_item_or");
    const Type *type = infer_content(t->args[0].type);
    if (type_is_instance(type) && typing_member(t, type, "__next__", 0).kind == MEMBER_METHOD)
        return typing_become_prelude(t, t->nargs == 1 ? "iterators:next_of" : "iterators:next_of_or");
    typing_fail_arg(t, 0, DIAG_TYPING, "%s is not an iterator", typing_arg_text(t, 0));
    if (type_is_instance(type) && !typing_has_way(t, type))
        return typing_hint(t, "its class has no method __next__, which gives the next item or raises StopIteration");
    return typing_hint(t, "iter(x) gives one");
}

/* close_generator(it) */
bool rule_func_close_generator(Typing *t) {
    if (t->args[0].type->kind != TY_GENERATOR) return typing_bad_operands(t);
    return typing_result(t, infer_bool(t->in), NULL);
}

/* Whether the `yield` of a generator, operand 0, gives what is sent, operand 1: where it is made it learns that. */
static bool takes_sent(Typing *t) {
    Infer *in = t->in;
    const Type *of = t->args[0].type, *generator = of->kind == TY_ITER ? of->items[0] : of;
    const Type *before = type_sent(in->types, generator), *given = typeinfer_general(in, t->args[1].type);
    const Type *sent = typeinfer_join(in->config->promotion, in->types, before, given);
    if (sent == before) return typing_as(t, 1, before), true;
    const Type *grown = sent ? type_generator(in->types, generator->items[0], sent, type_returned(in->types, generator))
                             : NULL;
    const Type *iterator = grown && of->kind == TY_ITER ? type_iter(in->types, ITER_GENERATOR, &grown, 1) : grown;
    if (iterator && !in->emit) typeinfer_grow(in, t->values[0], iterator);
    typing_fail_arg(t, 1, DIAG_TYPING, "%s is sent to a generator whose `yield` gives %s", typing_arg_text(t, 1),
                    before->kind == TY_NONE ? "None" : typing_text(t, before));
    return typing_hint(t, "a generator is sent values of one type, and made where that is seen: by a call of its "
                          "function, in a variable or an attribute");
}

/* it.send(value) */
bool rule_func_generator_send(Typing *t) {
    if (t->nargs == 2 && t->args[1].type->kind == TY_NONE) {
        t->nargs = 1;
        return rule_func_next(t);
    }
    return t->nargs == 2 && t->args[0].type->kind == TY_GENERATOR
               ? takes_sent(t) && typing_become_prelude(t, "builtin:send")
               : typing_bad_operands(t);
}

static bool is_over_generator(const Type *type) {
    return type->kind == TY_GENERATOR || (type->kind == TY_ITER && type->iter == ITER_GENERATOR);
}

/* send_generator(it, value) */
bool rule_func_send_generator(Typing *t) {
    if (!is_over_generator(t->args[0].type)) return typing_bad_operands(t);
    TRY(takes_sent(t));
    t->to[1] = type_sent(t->in->types, t->args[0].type);
    return typing_result(t, infer_bool(t->in), NULL);
}

/* map, chain and their like give items as a generator does, which stands for them here, and nothing else: the class of
 * what the value makes, NULL if it is none of these. */
const char *typing_iterator_class(Typing *t, const Value *made) {
    static const char *const classes[] = {"map", "filter", "zip", "enumerate", "reversed"};
    static const char builtins[] = "builtins.", itertools[] = "itertools.";
    const Type *callee = made->op == OP_CALL ? value_resolve(made->args[0])->type : NULL;
    if (!callee || callee->kind != TY_FUNC) return NULL;
    const char *name = func_name(t->in->arena, callee->func);
    if (strncmp(name, itertools, sizeof itertools - 1) == 0) return name;
    for (size_t i = 0; i < COUNT_OF(classes) && strncmp(name, builtins, sizeof builtins - 1) == 0; i++)
        if (strcmp(name + sizeof builtins - 1, classes[i]) == 0) return classes[i];
    return NULL;
}

/* pass_on(it, value): of `yield from it`. */
bool rule_func_pass_on(Typing *t) {
    if (t->args[1].type->kind == TY_NONE) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    if (!is_over_generator(t->args[0].type)) return typing_become_prelude(t, "builtin:pass_to_iterator");
    return typing_become_prelude(t, "builtin:pass_on");
}

/* returned_by(it): None of what is no generator. */
bool rule_func_returned_by(Typing *t) {
    const Type *returned = is_over_generator(t->args[0].type) ? type_returned(t->in->types, t->args[0].type) : NULL;
    if (!returned || returned->kind == TY_NONE) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    return typing_result(t, returned, NULL);
}

/* literal_unroll(t): the tuple; a loop over it becomes its rounds (rounds.c). */
bool rule_func_literal_unroll(Typing *t) {
    if (t->args[0].type->kind == TY_TUPLE) return typing_become_arg(t, 0);
    typing_fail_arg(t, 0, DIAG_TYPING, "literal_unroll takes a tuple, not %s", typing_arg_text(t, 0));
    return typing_hint(t, "the number of rounds must be known when the function is compiled: write a tuple");
}

/* literally(x): x.  Where the value is known whoever asks finds it by itself, and says so where it needs it. */
bool rule_func_literally(Typing *t) { return typing_become_arg(t, 0); }

/* enumerate(x, start=0): an iterator and the first number. */
bool rule_func_enumerate(Typing *t) {
    static const char *const params[2] = {"iterable", "start"};
    Infer *in = t->in;
    if (typing_is_for_generator(t)) return typing_become_prelude(t, "iterators:each_numbered");
    TRY(typing_bind_keywords(t, params, 1, 2));
    if (!t->args[1].type) {
        t->args[1] = (Fact){infer_int(in), const_int(in->arena, in->types, 0)};
        t->values[1] = t->emit ? typing_make_const(t, t->args[1].konst) : NULL;
    }
    if (!type_is_integer(infer_content(t->args[1].type)))
        return typing_fail_arg(t, 1, DIAG_TYPING, "enumerate() counts from an int, not %s", typing_arg_text(t, 1));
    bool made, done = typing_zip_for_comprehension(t, 1, true, &made);
    if (made) return done;
    typing_cast(t, 1, infer_int(in));
    const Type *iter = take_iterator(t, 0);
    if (!iter) return false;
    return typing_result(t, type_iter(in->types, ITER_ENUMERATE, &iter, 1), NULL);
}

/* zip(..., strict=True); false: no such keyword, or t failed. */
static bool zip_is_strict(Typing *t) {
    if (!t->nnames) return false;
    const Const *strict = t->args[t->nargs - 1].konst;
    if (t->nnames > 1 || strcmp(t->names[0], "strict") != 0 || !strict || !type_is_integer(strict->type)) {
        static const char *const known[] = {"strict"};
        typing_fail(t, DIAG_UNSUPPORTED, "zip() takes no keyword argument but a literal strict in compiled code");
        if (typing_hint_near(t, t->names[0], known, 1)) return false;
        return typing_hint(t, "compare the lengths before the loop");
    }
    t->nargs--;
    t->nnames = 0;
    return strict->i != 0;
}

bool rule_func_zip(Typing *t) {
    if (zip_is_strict(t) && t->nargs > 0) return typing_become_prelude(t, "itertools:zipped_strictly");
    if (t->failed) return false;
    if (typing_is_for_generator(t)) return typing_become_prelude(t, "iterators:each_zipped");
    bool made, done = typing_zip_for_comprehension(t, t->nargs, false, &made);
    if (made) return done;
    const Type **iters = ARENA_ARRAY(t->in->arena, const Type *, t->nargs);
    if (t->nargs > ITER_MAX_PARTS)
        return typing_fail(t, DIAG_UNSUPPORTED, "zip() of more than %d iterables is not compiled", ITER_MAX_PARTS);
    for (size_t i = 0; i < t->nargs; i++) {
        iters[i] = take_iterator(t, i);
        if (!iters[i]) return false;
    }
    return typing_result(t, type_iter(t->in->types, ITER_ZIP, iters, t->nargs), NULL);
}

bool rule_func_reversed(Typing *t) {
    if (typing_is_for_generator(t)) return typing_become_prelude(t, "iterators:each_backwards");
    if (typing_is_mixed(t, 0)) { /* a loop over it becomes its rounds */
        Items items = typing_items_new(t->in, t->args[0].type->count);
        for (size_t i = t->args[0].type->count; i-- > 0;) typing_items_add(t, &items, 0, i, i + 1);
        return typing_become_tuple(t, items.facts, items.values, items.count);
    }
    const Type *cast, *iter = typing_iterator_type(t, 0, &cast);
    if (!iter) return false;
    if (cast->kind != TY_RANGE && cast->kind != TY_TUPLE && cast->kind != TY_ARRAY && cast->kind != TY_LIST)
        return typing_bad_operands(t);
    typing_cast(t, 0, cast);
    return typing_result(t, type_iter(t->in->types, ITER_REVERSED, &cast, 1), NULL);
}

/* tuple(x): a tuple stays; of what has no length in its type, one whose length is known when the code runs. */
bool rule_func_tuple_from(Typing *t) {
    if (t->nargs == 0) return typing_become_const(t, const_tuple(t->in->arena, t->in->types, NULL, 0));
    const Type *type = t->args[0].type;
    if (type->kind == TY_TUPLE) {
        typing_cast(t, 0, type_tuple(t->in->types, type->items, type->count));
        return typing_become_arg(t, 0);
    }
    if (type->kind == TY_VARTUPLE) return typing_become_arg(t, 0);
    if (!t->in->device) return typing_become_prelude(t, "lists:tuple_from");
    typing_bad_operands(t);
    return typing_hint(t, "the length of a tuple must be known when a kernel is compiled: write its items out, "
                          "(x[0], x[1])");
}

bool rule_func_make_complex(Typing *t) { return typing_result(t, infer_complex(t->in), NULL); }

/* numpy.dtype(x); of None: float64 */
bool rule_func_dtype(Typing *t) {
    const Type *scalar = typing_is_none(t, 0) ? infer_scalar(t->in, SCALAR_FLOAT64, false) : typing_const_element(t, 0);
    if (!scalar) return false;
    return typing_become_const(t, const_of(t->in->arena, type_with_items(t->in->types, TY_DTYPE, 0, &scalar, 1)));
}

/* ---- classes ---- */

typedef ClassAnswer Ask(void *self, const Type *type, const Type *meant);

/* How the values of a type, or the class that it is, answer to the classes: to all, some, or none of several. */
static bool ask_classes(Typing *t, Ask *ask, const Type *type, const Type *classes, bool *is) {
    const InferHost *host = t->in->host;
    bool instance = ask == host->is_instance;
    bool many = classes->kind == TY_TUPLE;
    *is = false;
    for (uint32_t i = 0; i < (many ? classes->count : 1); i++) {
        const Type *meant = many ? classes->items[i] : classes;
        bool inner = false;
        if (meant->kind == TY_TUPLE) {
            TRY(ask_classes(t, ask, type, meant, &inner));
            *is |= inner;
            continue;
        }
        ClassAnswer answer = ask(host->self, type, meant);
        if (t->in->diag->failed) return false; /* the class raised an exception */
        if (answer == CLASS_NOT_ONE) {
            typing_fail_arg(t, 1, DIAG_TYPING, "%s() arg 2 must be a class, a tuple of classes or a union, not %s",
                            instance ? "isinstance" : "issubclass", typing_text(t, meant));
            return typing_hint(t, "use int, float, tuple, numpy.ndarray, a class of your own, or a tuple of such");
        }
        if (answer == CLASS_UNKNOWN)
            return typing_fail_arg(t, 0, DIAG_TYPING,
                                   instance ? "the class of %s is not known in compiled code"
                                            : "issubclass() arg 1 must be a class that is known, not %s",
                                   typing_arg_text(t, 0));
        *is |= answer == CLASS_YES;
    }
    return true;
}

/* isinstance(x, C): of an Optional whose content and None answer differently it is asked when the code runs. */
bool rule_func_isinstance(Typing *t) {
    const Type *type = t->args[0].type, *classes = t->args[1].type, *content = infer_content(type);
    bool is, none_is;
    TRY(typing_refuse_mixed(t, 0));
    Ask *ask = t->in->host->is_instance;
    TRY(ask_classes(t, ask, content, classes, &is));
    if (type == content) return typing_become_const(t, const_bool(t->in->arena, t->in->types, is));
    TRY(ask_classes(t, ask, infer_none(t->in), classes, &none_is));
    if (is == none_is) return typing_become_const(t, const_bool(t->in->arena, t->in->types, is));
    Value *there = NULL;
    if (t->emit) {
        Value *pair[2] = {t->values[0], typing_make_const(t, const_none(t->in->arena, t->in->types))};
        there = typing_make_op(t, is ? OP_IS_NOT : OP_IS, infer_bool(t->in), pair, 2);
    }
    return typing_become(t, there, infer_bool(t->in));
}

/* issubclass(D, C); of type(e) of a caught exception: rules_caught.c. */
bool rule_func_issubclass(Typing *t) {
    bool is;
    TRY(ask_classes(t, t->in->host->is_subclass, t->args[0].type, t->args[1].type, &is));
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, is));
}

/* type(x), of one argument. */
bool rule_func_class_of(Typing *t) {
    const InferHost *host = t->in->host;
    const Type *type = t->args[0].type;
    TRY(typing_refuse_mixed(t, 0));
    const Const *class = type->kind == TY_OPTIONAL ? NULL : host->class_of(host->self, type);
    if (class) return typing_become_const(t, class);
    typing_fail_arg(t, 0, DIAG_TYPING, "the class of %s is not known when the function is compiled",
                    typing_arg_text(t, 0));
    return type->kind == TY_OPTIONAL ? typing_hint(t, "test it with `is None` first, or with isinstance()") : false;
}
