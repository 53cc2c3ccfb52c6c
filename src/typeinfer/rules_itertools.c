/* rules_itertools.c: typing rules of itertools, and of what becomes a generator because one is given it.
 *
 * In: calls of itertools, iter, zip, enumerate, reversed, map and filter, and of operator.itemgetter and attrgetter.
 * Out: calls of the prelude's functions (krait/prelude/itertools.py, builtin.py, getters.py).  A generator outlives the
 * loop it is made for, so that what it walks over is an object: an iterator that is only made for one is a generator
 * itself. */
#include <string.h> /* strcmp */

#include "typeinfer/rules_library.h" /* lib_* */

/* ---- iterators that generators are given ---- */

static bool makes_generator(const Infer *in, const Value *call);

/* Whether a call of this function may give what it is given to a generator. */
static bool keeps_iterators(const Infer *in, const Value *call) {
    const Value *callee = call->op == OP_CALL ? value_resolve(call->args[0]) : NULL;
    if (!callee || (callee->op != OP_CONST && callee->op != OP_FUNCTION)) return false;
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    if (!type || type->kind == TY_PYFUNC) {
        const Func *function = in->host->translate(in->host->self, type ? type->object : callee->imm.object);
        return function && function->generator;
    }
    if (type->kind != TY_FUNC || type->func->id >= FUNC_COUNT) return false;
    if (func_info[type->func->id].library == LIBRARY_ITERTOOLS) return true;
    return makes_generator(in, call);
}

static bool is_any_of(const Type *function, const FuncId *ids, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (function->func->id == ids[i]) return true;
    return false;
}

static bool is_for_generator(const Infer *in, const Value *made) {
    Value *const *users;
    uint32_t count = solver_users(in, made, &users);
    for (uint32_t i = 0; i < count; i++)
        if (keeps_iterators(in, users[i])) return true;
    return false;
}

/* zip(...) and the like become generators where one is given them. */
static bool makes_generator(const Infer *in, const Value *call) {
    static const FuncId ids[] = {FUNC_ZIP, FUNC_ENUMERATE, FUNC_REVERSED, FUNC_ITER, FUNC_PY_MAP, FUNC_PY_FILTER};
    return is_any_of(value_resolve(call->args[0])->konst->type, ids, COUNT_OF(ids)) && is_for_generator(in, call);
}

/* An iterator does not leave the function that makes it, a generator does: `return iter(self.items)`.  A generator
 * gives items of one type. */
static bool is_returned(Typing *t) {
    Value *const *users;
    bool returned = false;
    uint32_t count = solver_users(t->in, t->at, &users);
    for (uint32_t i = 0; i < count; i++) returned |= users[i]->op == OP_RETURN;
    for (size_t i = 0; returned && i < t->nargs; i++) {
        const Type *over = infer_content(t->args[i].type);
        for (uint32_t k = 1; over->kind == TY_TUPLE && k < over->count; k++)
            if (over->items[k] != over->items[0]) return false;
    }
    return returned;
}

bool typing_is_for_generator(Typing *t) {
    if (t->in->device || t->is_part) return false;
    return t->emit ? t->at->type->kind == TY_GENERATOR : is_for_generator(t->in, t->at) || is_returned(t);
}

/* ---- map and filter: lists, but lazy where an iterable may have no end, or next() takes the items ---- */

static bool is_asked_next(const Infer *in, const Value *made) {
    Value *const *users;
    uint32_t count = solver_users(in, made, &users);
    for (uint32_t i = 0; i < count; i++) {
        const Value *callee = users[i]->op == OP_CALL ? value_resolve(users[i]->args[0]) : NULL;
        bool known = callee && callee->op == OP_CONST && callee->konst->type->kind == TY_FUNC;
        if (known && callee->konst->type->func->id == FUNC_NEXT) return true;
    }
    return false;
}

static bool is_lazy(Typing *t) {
    if (t->in->device) return false;
    for (size_t i = 1; i < t->nargs; i++)
        if (t->args[i].type->kind == TY_GENERATOR) return true;
    if (t->is_part) return false;
    if (t->emit) return t->at->type->kind == TY_GENERATOR;
    return is_for_generator(t->in, t->at) || is_asked_next(t->in, t->at);
}

bool rule_func_lazy(Typing *t) {
    bool map = t->func == FUNC_PY_MAP;
    if (is_lazy(t)) return typing_become_prelude(t, map ? "iterators:each_mapped" : "iterators:each_filtered");
    return typing_become_prelude(t, func_info[t->func].symbol);
}

/* iter(x), and iter(function, sentinel) */
bool rule_func_iter(Typing *t) {
    if (t->nargs == 2) return typing_become_prelude(t, "iterators:each_until");
    if (typing_is_kept_iterator(t)) return typing_become_prelude(t, "tables:each_key");
    if (typing_is_for_generator(t) && t->args[0].type->kind != TY_GENERATOR && t->args[0].type->kind != TY_ITER)
        return typing_become_prelude(t, "iterators:each_of");
    return typing_become_op(t, OP_ITER);
}

/* ---- lengths of tuples ---- */

static const char *with_suffix(Typing *t, const char *suffix) {
    return arena_printf(t->in->arena, "%s%s", func_info[t->func].symbol, suffix);
}

static bool on_host(Typing *t) {
    if (!t->in->device) return true;
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "%s cannot be used in kernels", typing_func_name(t));
    const char *advice = typing_advice(t, typing_func_name(t));
    return typing_hint(t, "%s", advice ? advice : "write the loops out");
}

/* combinations(x, r) and the like: of a literal r, tuples of r items. */
bool rule_func_combinations(Typing *t) {
    int64_t r;
    TRY(on_host(t));
    bool known = t->nargs == 2 && typing_konst_is_int(t->args[1].konst, &r) && r >= 0;
    return typing_become_prelude(t, known ? with_suffix(t, "_fixed") : func_info[t->func].symbol);
}

/* product(*iterables, repeat=n): the number comes first. */
bool rule_func_product(Typing *t) {
    TRY(on_host(t));
    if (!t->nnames) return typing_become_prelude(t, func_info[t->func].symbol);
    int64_t repeat;
    size_t last = t->nargs - 1;
    if (t->nnames > 1 || strcmp(t->names[0], "repeat") != 0)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "`itertools.product` takes no keyword but `repeat`");
    Fact fact = t->args[last];
    Value *value = t->values[last];
    for (size_t i = last; i > 0; i--) t->args[i] = t->args[i - 1], t->values[i] = t->values[i - 1];
    t->args[0] = fact, t->values[0] = value;
    t->nnames = 0;
    bool known = typing_konst_is_int(fact.konst, &repeat) && repeat >= 0;
    return typing_become_prelude(t, with_suffix(t, known ? "_fixed" : "_repeated"));
}

/* ---- itemgetter, attrgetter ---- */

static bool plain(const char *text) {
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || *text == ',' || *text == '\n' || (unsigned char)*text < ' ') return false;
    return true;
}

/* itemgetter(1, 0), attrgetter("x"): a function of the prelude, made for what the program's text says. */
bool rule_func_getter(Typing *t) {
    bool items = t->func == FUNC_OPERATOR_ITEMGETTER;
    Buf name;
    buf_init(&name, t->in->arena);
    buf_puts(&name, items ? "getters:item:" : "getters:attr:");
    for (size_t i = 0; i < t->nargs; i++) {
        const Const *konst = t->args[i].konst;
        int64_t number;
        bool text = konst && konst->type->kind == TY_STR && plain(konst->text) && *konst->text;
        if (i) buf_putc(&name, ',');
        if (items && typing_konst_is_int(konst, &number)) {
            buf_printf(&name, "%lld", (long long)number);
        } else if (text) {
            buf_printf(&name, items ? "\"%s\"" : "%s", konst->text);
        } else {
            typing_fail_arg(t, i, DIAG_NEEDS_CONSTANT, "%s takes literal %s in compiled code", typing_func_name(t),
                            items ? "ints and texts" : "names");
            return typing_hint(t, "write a lambda: lambda x: %s", items ? "x[i]" : "x.name");
        }
    }
    ObjRef getter = t->in->host->prelude(t->in->host->self, name.text);
    if (!getter) return t->failed = true, false;
    return typing_become_const(t, const_of(t->in->arena, type_object(t->in->types, TY_PYFUNC, getter)));
}
