/* typing.c: the one operation being typed: how rules answer and refuse, and how answers are applied.
 *
 * In: a Value with facts about its operands; out: the fact of its result and, in the second phase (t->emit), the
 * operation rewritten in place: operands cast, calls resolved, or another value in its place.  infer.h tells the
 * protocol; typing_arguments.c has what rules ask, typing_values.c what they build. */
#include <stdio.h>  /* vsnprintf */
#include <string.h> /* memcpy, strlen, strncmp */

#include "typeinfer/rules.h"

static InferRule *const op_rules[OP_COUNT] = {
#define OP(name, text, operands, rule, ...) [OP_##name] = rule_##rule,
#include "ir/ir_ops.def"
#undef OP
};

static InferRule *const func_rules[FUNC_COUNT] = {
#define FUNC(id, rule, ...) [FUNC_##id] = rule_func_##rule,
#include "library/functions.def"
#undef FUNC
};

/* ---- life of a Typing ---- */

static void make_room(Typing *t, size_t nargs, TypingSpace *space) {
    if (space && nargs <= TYPING_SMALL) {
        t->args = space->args;
        t->values = space->values;
        t->to = space->to;
        memset(space->to, 0, sizeof space->to);
        return;
    }
    t->args = ARENA_ARRAY(t->in->arena, Fact, nargs);
    t->values = ARENA_ARRAY(t->in->arena, Value *, nargs);
    t->to = ARENA_ARRAY(t->in->arena, const Type *, nargs);
}

void typing_open(Typing *t, Infer *in, Value *at, TypingSpace *space) {
    *t = (Typing){.in = in,
                  .at = at,
                  .op = at->op,
                  .nargs = at->nargs,
                  .names = at->imm.names,
                  .nnames = at->imm.nnames,
                  .emit = in->emit,
                  .flags = at->flags,
                  .imm = at->imm.i,
                  .text = at->imm.text,
                  .after = at->op == OP_GETATTR ? at->imm.object : 0};
    make_room(t, at->nargs, space);
    for (uint32_t i = 0; i < at->nargs; i++) {
        Value *solved = at->args[i], *value = value_resolve(solved);
        t->values[i] = value;
        /* The fact that was solved, though what took the value's place may be known better by now: both phases decide
         * alike. */
        t->args[i] = (Fact){solved->type, solved->konst};
        if (value->type->kind != TY_OPTIONAL || !narrow_operand(in, at, i, at->args[i])) continue;
        t->args[i] = (Fact){value->type->items[0], NULL};
        bool again = i && at->args[i - 1] == solved; /* one value stays one */
        if (in->emit) t->values[i] = again ? t->values[i - 1] : typing_make_content(t, value);
    }
}

/* Where a text that is not made yet stays so: an exception makes it when it is raised. */
static bool keeps_texts(const Typing *t) {
    bool exception = t->op == OP_CALL && infer_content(t->args[0].type)->kind == TY_EXC_CLASS;
    return t->in->device || t->op == OP_FORMAT || exception;
}

bool typing_run(Typing *t) {
    if (!keeps_texts(t)) typing_settle_texts(t);
    bool own = false, fine = typing_plain_chars(t) && typing_take_caught(t, &own);
    if (fine && !own) fine = typing_operator_overload(t, &own);
    if (fine && !own) fine = typing_walk_enums(t) && typing_walk_keywords(t) && typing_own_operation(t, &own);
    if (!fine || own) return fine && !t->failed;
    TRY(typing_refuse_own(t));
    typing_need_values(t);
    return op_rules[t->op](t) && !t->failed;
}

/* Lists and tuples among the operands of a ufunc are arrays. */
static bool read_sequences(Typing *t) {
    size_t positional = t->nargs - t->nnames, count = func_info[t->func].head.least;
    for (size_t i = 0; i < count && i < positional; i++)
        if (typing_is_sequence(infer_content(t->args[i].type)) || t->args[i].type->kind == TY_RANGE)
            TRY(typing_as_array(t, i));
    return true;
}

static bool has_kind(const Typing *t, TypeKind kind) {
    for (size_t i = 0; i < t->nargs; i++)
        if (infer_content(t->args[i].type)->kind == kind) return true;
    return false;
}

/* np.equal and np.not_equal take None for an object, which equals itself alone, as the operators do. */
static bool compare_objects(Typing *t, Op op) {
    const SubOp compare = {.op = op, .values = t->emit ? t->values : NULL, .facts = t->args, .nargs = 2};
    Fact fact;
    Value *answer = NULL;
    TRY(typing_sub(t, &compare, &fact, &answer));
    if (!type_is_scalar(fact.type)) return typing_become(t, answer, fact.type);
    const Type *result = infer_strong(t->in, fact.type);
    return typing_become(t, t->emit ? typing_make_cast(t, answer, result) : NULL, result);
}

static bool compares_objects(const Typing *t) {
    const FuncInfo *row = &func_info[t->func];
    bool equality = row->how == HOW_OP && (row->op == OP_EQ || row->op == OP_NE);
    if (!row->elementwise || !equality || t->nargs != 2 || t->nnames) return false;
    for (size_t i = 0; i < 2; i++)
        if (t->args[i].type->kind == TY_NONE || t->args[i].type->kind == TY_OPTIONAL) return true;
    return false;
}

/* Whether the first argument is what stands before the dot: it is none of those that a user counts. */
static bool is_method(const Typing *t, const FuncHead *info) {
    const Type *first = t->nargs && t->args[0].type ? infer_content(t->args[0].type) : NULL;
    const char *class = first ? typing_class_of_methods(first) : NULL;
    size_t length = class ? strlen(class) : 0;
    if (!class || !info->least || func_info[t->func].is_static) return false;
    return strncmp(info->names, class, length) == 0 && info->names[length] == '.';
}

static bool refuse_count(Typing *t, const FuncHead *info) {
    const char *name = typing_func_name(t), *doc = func_info[t->func].doc;
    unsigned self = is_method(t, info), least = info->least - self, most = info->most - self;
    const char *counts = info->most == FUNC_MANY ? arena_printf(t->in->arena, "at least %u", least)
                         : most == 0             ? "no"
                         : least == most         ? arena_printf(t->in->arena, "%u", least)
                                                 : arena_printf(t->in->arena, "%u to %u", least, most);
    bool one = info->most == FUNC_MANY ? least == 1 : most == 1;
    typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` takes %s argument%s, %zu given", name, counts, one ? "" : "s",
                t->nargs - self);
    return typing_hint(t, "%s%s%s", name, *doc == '(' ? "" : ": ", doc);
}

bool typing_call_library(Typing *t) {
    const FuncHead *info = &func_info[t->func].head;
    t->is_call = true;
    if (compares_objects(t)) return compare_objects(t, func_info[t->func].op) && !t->failed;
    if (func_info[t->func].elementwise) TRY(read_sequences(t));
    if (func_info[t->func].elementwise && (t->nnames || typing_has_array(t))) return typing_map(t) && !t->failed;
    if (t->nnames && (func_info[t->func].takes_device || func_info[t->func].takes_like))
        TRY(typing_take_places(t, &func_info[t->func]));
    if (t->nargs < info->least || (info->most != FUNC_MANY && t->nargs > info->most)) return refuse_count(t, info);
    const FuncInfo *row = &func_info[t->func];
    if (row->elementwise) typing_need_values(t);
    if (row->elementwise && row->how == HOW_OP && has_kind(t, TY_CHARS)) return typing_become_op(t, row->op);
    if (row->times && t->nargs == 2 && has_kind(t, TY_TIME)) TRY(typing_align_times(t));
    if (row->elementwise && has_kind(t, TY_TIME) && (row->times || row->how == HOW_OP))
        return (row->times ? typing_become_prelude(t, row->times) : typing_become_op(t, row->op)) && !t->failed;
    return func_rules[t->func](t) && !t->failed;
}

bool typing_sub(Typing *t, const SubOp *sub, Fact *fact, Value **value) {
    TypingSpace space;
    Typing part = {.in = t->in,
                   .at = t->at,
                   .op = sub->op,
                   .nargs = sub->nargs,
                   .emit = t->emit,
                   .flags = sub->flags,
                   .imm = sub->imm,
                   .text = sub->text,
                   .names = sub->names,
                   .nnames = sub->nnames,
                   .is_part = true};
    make_room(&part, sub->nargs, &space);
    for (size_t i = 0; i < sub->nargs; i++) {
        part.values[i] = sub->values ? sub->values[i] : NULL;
        part.args[i] = sub->facts[i];
    }
    if (t->emit) {
        part.at = value_new(t->in->func, sub->op, t->at->span, sub->values, sub->nargs);
        part.at->flags = sub->flags;
        part.at->imm.i = sub->imm;
        part.at->imm.text = sub->text;
        part.at->imm.names = sub->names;
        part.at->imm.nnames = (uint32_t)sub->nnames;
        value_insert_before(t->at, part.at);
    }
    if (!typing_run(&part)) {
        t->failed = true;
        return false;
    }
    *fact = (Fact){part.result, part.konst};
    *value = t->emit ? typing_apply(&part) : NULL;
    bool never_returns = *value && (*value)->op == OP_CALL_INST && (*value)->type->kind == TY_BOTTOM;
    if (never_returns) (*value)->type = infer_none(t->in);
    return true;
}

/* ---- answers ---- */

bool typing_result(Typing *t, const Type *type, const Const *konst) {
    t->result = type;
    t->konst = konst;
    return true;
}

bool typing_konst_fits(const Const *konst, const Type *to) {
    const ScalarInfo *info = &scalar_info[to->scalar];
    int64_t i = konst->i;
    if (konst->type->kind == TY_SCALAR && !konst->type->weak && konst->type->scalar == SCALAR_UINT64)
        return i >= 0 || !to->weak || to->scalar != SCALAR_INT64;
    if (konst->type->kind != TY_SCALAR || !konst->type->weak || scalar_info[konst->type->scalar].kind != 'i')
        return true;
    if (konst->too_big) return info->kind == 'f' || info->kind == 'c' || to->scalar == SCALAR_UINT64;
    if (info->kind == 'i')
        return info->bytes == 8 ||
               (i >= -((int64_t)1 << (8 * info->bytes - 1)) && i < (int64_t)1 << (8 * info->bytes - 1));
    if (info->kind == 'u') return i >= 0 && (info->bytes == 8 || i < (int64_t)1 << (8 * info->bytes));
    return true;
}

void typing_cast(Typing *t, size_t arg, const Type *type) {
    t->to[arg] = type;
    const Const *konst = t->args[arg].konst;
    if (konst && type->kind == TY_SCALAR && !typing_konst_fits(konst, type)) {
        if (konst->too_big || !konst->type->weak)
            typing_fail_arg(t, arg, DIAG_TYPING, "the Python int %llu is out of bounds for %s",
                            (unsigned long long)konst->i, type->weak ? "64 bits" : typing_text(t, type));
        else
            typing_fail_arg(t, arg, DIAG_TYPING, "the Python int %lld is out of bounds for %s", (long long)konst->i,
                            typing_text(t, type));
        typing_hint(t, "the interpreter raises OverflowError here; convert one operand to a wider type first");
    }
}

bool typing_become_op(Typing *t, Op op) {
    t->op = op;
    t->is_call = false;
    t->func = FUNC_NONE;
    return typing_run(t);
}

bool typing_become_func(Typing *t, FuncId func) {
    t->func = func;
    return typing_call_library(t);
}

bool typing_become_prelude(Typing *t, const char *name) {
    ObjRef object = t->in->host->prelude(t->in->host->self, name);
    if (!object) {
        t->failed = true;
        return false;
    }
    return typing_become_pyfunc(t, object);
}

bool typing_become_captured(Typing *t, int64_t index) {
    const Type *type;
    Value *value = typing_make_captured(t, index, &type);
    return typing_become(t, value, type);
}

bool typing_become_const(Typing *t, const Const *konst) {
    t->result = konst->type;
    t->konst = konst;
    if (t->emit) t->value = typing_make_const(t, konst);
    return true;
}

bool typing_become_arg(Typing *t, size_t arg) {
    t->result = t->to[arg] ? t->to[arg] : t->args[arg].type;
    t->konst = t->args[arg].konst && t->result != t->args[arg].type
                   ? typing_konst_cast(t->in, t->args[arg].konst, t->result)
                   : t->args[arg].konst;
    if (t->emit) t->value = typing_make_cast(t, t->values[arg], t->result);
    return true;
}

bool typing_become(Typing *t, Value *value, const Type *type) {
    t->result = type;
    t->value = value;
    return true;
}

/* ---- refusals ---- */

static bool fail_at(Typing *t, Span span, DiagCode code, const char *format, va_list args) {
    t->failed = true;
    if (t->in->quiet) return false;
    diag_fail(t->in->diag, code, t->in->func->source, span, "%s", arena_vprintf(t->in->arena, format, args));
    return false;
}

bool typing_fail(Typing *t, DiagCode code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_at(t, t->at->span, code, format, args);
    va_end(args);
    return false;
}

bool typing_fail_arg(Typing *t, size_t arg, DiagCode code, const char *format, ...) {
    Value *value = arg < t->nargs ? t->values[arg] : NULL;
    Span span = value && value->span.line ? value->span : t->at->span;
    va_list args;
    /* A variable is defined elsewhere: the caret belongs under its use, which only the operation knows. */
    if (value && value->name) span = t->at->span;
    va_start(args, format);
    fail_at(t, span, code, format, args);
    va_end(args);
    return false;
}

bool typing_hint(Typing *t, const char *format, ...) {
    if (t->in->quiet) return false;
    va_list args;
    va_start(args, format);
    diag_hint(t->in->diag, "%s", arena_vprintf(t->in->arena, format, args));
    va_end(args);
    return false;
}

const char *typing_arg_text(Typing *t, size_t arg) {
    Value *value = t->values[arg];
    const Type *type = t->args[arg].type;
    if (t->in->quiet) return "";
    if (value && value->name) return arena_printf(t->in->arena, "`%s` (%s)", value->name, typing_text(t, type));
    if (value && value->op == OP_GETATTR && value->args[0]->name && type && type->kind != TY_OBJECT)
        return arena_printf(t->in->arena, "`%s.%s` (%s)", value->args[0]->name, value->imm.text, typing_text(t, type));
    if (t->args[arg].konst && type->kind == TY_SCALAR && !type->object) {
        Buf buf;
        buf_init(&buf, t->in->arena);
        const_print(&buf, t->args[arg].konst);
        return arena_printf(t->in->arena, "%s (%s)", buf.text, typing_text(t, type));
    }
    return typing_text(t, type);
}

bool typing_too_many_indices(Typing *t, unsigned ndim, unsigned taken) {
    typing_fail(t, DIAG_BAD_INDEX, "too many indices: %s has %u dimension%s, but %u were indexed",
                typing_arg_text(t, 0), ndim, ndim == 1 ? "" : "s", taken);
    const Value *index = t->values[1] ? value_resolve(t->values[1]) : NULL;
    if (!index || !index->name || t->args[1].type->kind != TY_TUPLE)
        return typing_hint(t, "give no more than %u, or pass an array of %u dimensions", ndim, taken);
    const char *name = index->name;
    if (t->in->device && ndim == 1)
        return typing_hint(t,
                           "`%s` is a tuple of %u (line %u): one index is %s = cuda.grid(1); for an array of 2 "
                           "dimensions write i, j = cuda.grid(2)",
                           name, taken, index->span.line, name);
    return typing_hint(t,
                       "`%s` is a tuple of %u (line %u): index by its items, %s[0], or pass an array of %u "
                       "dimensions",
                       name, taken, index->span.line, name, taken);
}

const char *typing_func_name(Typing *t) {
    return t->called ? t->called : func_shown_name(t->in->arena, &func_info[t->func]);
}

const char *typing_symbol(Op op) {
    static const char *const symbols[OP_COUNT] = {
        [OP_NEG] = "unary -", [OP_POS] = "unary +", [OP_INVERT] = "~",  [OP_NOT] = "not",     [OP_ADD] = "+",
        [OP_SUB] = "-",       [OP_MUL] = "*",       [OP_TRUEDIV] = "/", [OP_FLOORDIV] = "//", [OP_MOD] = "%",
        [OP_POW] = "**",      [OP_MATMUL] = "@",    [OP_LSHIFT] = "<<", [OP_RSHIFT] = ">>",   [OP_AND] = "&",
        [OP_OR] = "|",        [OP_XOR] = "^",       [OP_LT] = "<",      [OP_LE] = "<=",       [OP_EQ] = "==",
        [OP_NE] = "!=",       [OP_GT] = ">",        [OP_GE] = ">=",     [OP_IN] = "in",       [OP_NOT_IN] = "not in",
    };
    return symbols[op] ? symbols[op] : op_info[op].text;
}

static bool is_order(Op op) { return op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE; }

/* What a function of NumPy written in Python has to compute of a text: the function that it asks first is nothing to
 * the user, who knows the one called and its arguments. */
static bool refuse_text(Typing *t) {
    static const char numpy[] = "numpy.";
    if (!t->is_call || !t->in->func->prelude || strncmp(typing_func_name(t), numpy, sizeof numpy - 1) != 0)
        return false;
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = t->args[i].type ? infer_content(t->args[i].type) : NULL;
        if (!type || (!typing_is_text(type) && type->kind != TY_BYTES)) continue;
        typing_fail(t, DIAG_TYPING, "a number, or an array of numbers, is needed in place of %s", typing_text(t, type));
        return typing_hint(t, "int(text) and float(text) make numbers of text"), true;
    }
    return false;
}

bool typing_bad_operands(Typing *t) {
    if (t->in->quiet) return typing_fail(t, DIAG_TYPING, "bad operands");
    if (refuse_text(t)) return false;
    Buf list;
    buf_init(&list, t->in->arena);
    size_t given = t->nargs;
    while (given && !t->args[given - 1].type) given--;
    for (size_t i = 0; i < given; i++)
        buf_printf(&list, "%s%s", i == 0 ? "" : i + 1 == given ? " and " : ", ", typing_arg_text(t, i));
    if (t->is_call) {
        const char *name = typing_func_name(t);
        typing_fail(t, DIAG_TYPING, "`%s` does not take %s", name, given ? list.text : "no argument");
        return typing_hint_operands(t, CALLED, name);
    }
    if (t->nargs == 1)
        typing_fail(t, DIAG_TYPING, "unsupported operand type for %s: %s", typing_symbol(t->op), list.text);
    else
        typing_fail(t, DIAG_TYPING, "unsupported operand types for %s%s: %s", typing_symbol(t->op),
                    t->flags & VF_INPLACE ? "=" : "", list.text);
    return typing_hint_operands(t, is_order(t->op) ? ORDER : OPERATOR,
                                arena_printf(t->in->arena, "__%s__", op_info[t->op].text));
}

/* ---- applying ---- */

/* A value can be replaced by its constant if nothing else happens when it is computed. */
static bool folds(const Typing *t) {
    if (!t->konst || t->op == OP_CONST || t->op == OP_UNDEF || !op_has_result(t->op)) return false;
    if (t->inst) return false;
    if (t->is_call) return !(func_effects(&func_info[t->func].head) & ~(Effects)EFFECT_READ);
    return !(op_effects(t->op) & ~(Effects)(EFFECT_READ | EFFECT_RAISE)) && !(t->flags & VF_CHECKED);
}

/* A parameter that is known stays, as the signature does; uses see the constant, which stands behind the parameters. */
static Value *apply_param(Typing *t) {
    Value *param = t->at, *after = param;
    param->type = t->result;
    if (!t->konst) return param;
    while (after->op == OP_PARAM) after = after->next;
    Typing behind = *t;
    behind.at = after;
    Value *konst = typing_make_const(&behind, t->konst);
    konst->name = param->name;
    konst->span = param->span;
    param->mark = konst;
    return konst;
}

static bool is_index(const Typing *t, size_t arg) {
    return arg != 0 && (arg == op_info[t->op].index || (t->is_call && arg == func_info[t->func].index));
}

Value *typing_apply(Typing *t) {
    Value *at = t->at;
    if (t->op == OP_PARAM) return apply_param(t);
    Value *stands = t->value;
    if (!stands && folds(t)) stands = typing_make_const(t, t->konst);
    if (stands) {
        if (!stands->name && stands->op != OP_PARAM) stands->name = at->name;
        if (stands->span.line == 0) stands->span = at->span;
        at->mark = stands;
        value_remove(at);
        return stands;
    }
    at->type = t->result;
    at->konst = t->konst;
    at->flags |= t->flags;
    at->imm.i = t->imm;
    if (t->inst) {
        at->op = OP_CALL_INST;
        at->imm.inst = t->inst;
        at->args = t->call_args;
        at->nargs = t->inst->untyped->nparams;
        return at;
    }
    size_t nargs = t->nargs;
    while (t->is_call && nargs > 0 && !t->args[nargs - 1].type) nargs--;
    Value **args = ARENA_ARRAY(t->in->arena, Value *, nargs);
    for (size_t i = 0; i < nargs; i++) {
        Value *value = t->args[i].type ? t->values[i] : typing_make_const(t, const_none(t->in->arena, t->in->types));
        t->casts_index = is_index(t, i);
        args[i] = t->to[i] ? typing_make_cast(t, value, t->to[i]) : value;
    }
    at->args = args;
    at->nargs = (uint32_t)nargs;
    at->op = t->is_call ? OP_CALL_FUNC : t->op;
    at->imm.func = t->is_call ? &func_info[t->func].head : NULL;
    return at;
}
