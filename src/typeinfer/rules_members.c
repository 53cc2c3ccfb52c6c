/* rules_members.c: what the classes of users have: methods, static and class methods, properties, constants; operators
 * and functions that their special methods answer.
 *
 * In: an operation whose operand is an instance (or a class) of the user's.  Out: a call of the function that the
 * interpreter would call: of the left operand's class, then of the right one's, while what is called returns
 * NotImplemented. */
#include <string.h> /* memcpy, strcmp */

#include "library/library.h"
#include "typeinfer/rules.h"

static bool has_class(const Type *type) {
    return type->object && (type->kind == TY_STRUCT || type->kind == TY_TUPLE || typing_is_member(type));
}

/* ---- x.name ---- */

Member typing_member(Typing *t, const Type *type, const char *name, ObjRef after) {
    const InferHost *host = t->in->host;
    bool known = has_class(type) || type->kind == TY_OBJECT;
    return known ? host->member(host->self, type->object, after, name) : (Member){0};
}

bool typing_become_member(Typing *t, const Type *type, Member member) {
    bool instance = type->kind != TY_OBJECT;
    if (member.kind == MEMBER_VALUE && member.konst->captured) return typing_become_captured(t, member.konst->i);
    if (member.kind == MEMBER_VALUE) return typing_become_const(t, member.konst);
    if (member.kind == MEMBER_PROPERTY && instance) {
        t->op = OP_CALL;
        return typing_become_pyfunc(t, member.function);
    }
    return typing_result(t, member.konst->type, NULL);
}

static void drop_first(Typing *t) {
    t->args++;
    t->values++;
    t->to++;
    t->nargs--;
}

static bool is_field(const Type *type, const char *name) { return type->names && type_field(type, name) >= 0; }

bool typing_bind_receiver(Typing *t) {
    Value *getattr = t->values[0];
    Value *self = getattr && getattr->op == OP_GETATTR ? value_resolve(getattr->args[0]) : NULL;
    const Type *type = self && self->type ? infer_content(self->type) : NULL;
    bool user = type && (has_class(type) || type->kind == TY_OBJECT);
    bool field = user && !getattr->imm.object && has_class(type) && is_field(type, getattr->imm.text);
    MemberKind kind = !user || field ? MEMBER_NONE
                                     : typing_member(t, type, getattr->imm.text, getattr->imm.object).kind;
    bool method = user && !field && kind != MEMBER_STATIC && (kind != MEMBER_METHOD || type->kind != TY_OBJECT);
    if (!self || kind == MEMBER_PROPERTY || kind == MEMBER_VALUE || (user && !method)) return drop_first(t), true;
    t->values[0] = self;
    t->args[0] = (Fact){self->type, self->konst};
    const Type *content = infer_content(self->type);
    if (content != self->type) typing_as(t, 0, content);
    if (kind == MEMBER_CLASS && type->kind != TY_OBJECT) {
        const Const *class = const_of(t->in->arena, type_object(t->in->types, TY_OBJECT, type->object));
        t->args[0] = (Fact){class->type, class};
        if (t->emit) t->values[0] = typing_make_const(t, class);
    }
    if (!t->in->device) typing_settle_texts(t);
    if (kind == MEMBER_NONE && !typing_plain_member(t, 0)) return false;
    return true;
}

bool typing_bind_method(Typing *t) {
    Infer *in = t->in;
    const Type *function = t->result, *type = infer_content(t->args[0].type);
    bool user = has_class(type) || type->kind == TY_OBJECT;
    if (t->op != OP_GETATTR || t->konst || (function->kind != TY_PYFUNC && function->kind != TY_FUNC)) return true;
    if (function->kind == TY_FUNC && func_row(function->func)->is_static) return true;
    if (has_class(type) && !t->after && is_field(type, t->text)) return true;
    MemberKind kind = user ? typing_member(t, type, t->text, t->after).kind : MEMBER_NONE;
    if (kind == MEMBER_STATIC || (type->kind == TY_OBJECT && kind != MEMBER_CLASS)) return true;
    Fact *facts = ARENA_ARRAY(in->arena, Fact, 2);
    Value **values = ARENA_ARRAY(in->arena, Value *, 2);
    facts[0] = (Fact){function, const_of(in->arena, function)};
    facts[1] = t->args[0];
    if (kind == MEMBER_CLASS && type->kind != TY_OBJECT) {
        facts[1].konst = const_of(in->arena, type_object(in->types, TY_OBJECT, type->object));
        facts[1].type = facts[1].konst->type;
    }
    if (t->emit) {
        values[0] = typing_make_const(t, facts[0].konst);
        values[1] = kind == MEMBER_CLASS ? typing_make_const(t, facts[1].konst) : t->values[0];
        if (kind != MEMBER_CLASS && type != facts[1].type) values[1] = typing_make_cast(t, values[1], type);
    }
    if (kind != MEMBER_CLASS) facts[1].type = type;
    t->args = facts;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, 2);
    t->nargs = 2;
    t->op = OP_CALL;
    return typing_become_prelude(t, "partials:bound");
}

/* ---- special methods ---- */

typedef struct Attempt { /* one call of a special method */
    const char *name;
    Member method;
    size_t self; /* the operand whose class has it */
} Attempt;

/* The method of the class of operand `i`; one of tuple's own is none, and what is an int is not asked for an index. */
static bool attempt(Typing *t, const char *name, size_t i, Attempt *to) {
    const Type *type = i < t->nargs && t->args[i].type ? infer_content(t->args[i].type) : NULL;
    *to = (Attempt){.name = name, .self = i};
    if (!type || !name || !has_class(type)) return false;
    if (type_scalar_kind(type) && strcmp(name, "__index__") == 0) return false;
    to->method = typing_member(t, type, name, 0);
    return to->method.kind == MEMBER_METHOD;
}

bool typing_has_method(Typing *t, const char *name, size_t arg) {
    Attempt of;
    return attempt(t, name, arg, &of);
}

static bool is_not_implemented(Typing *t, const Type *type) {
    return type->kind == TY_OBJECT &&
           strcmp(t->in->host->object_name(t->in->host->self, type->object), "NotImplementedType") == 0;
}

/* Calls it with the operands, the one whose method it is first. */
static bool call_method(Typing *t, const Attempt *of, Fact *fact, Value **value) {
    Fact *facts = ARENA_ARRAY(t->in->arena, Fact, t->nargs + 1);
    Value **values = ARENA_ARRAY(t->in->arena, Value *, t->nargs + 1);
    facts[0] = (Fact){of->method.konst->type, of->method.konst};
    if (t->emit) values[0] = typing_make_const(t, of->method.konst);
    for (size_t i = 0; i < t->nargs; i++) {
        size_t from = i == 0 ? of->self : i == of->self ? 0 : i;
        if (i == 0) typing_as(t, from, infer_content(t->args[from].type));
        facts[i + 1] = t->args[from];
        values[i + 1] = t->values[from];
    }
    SubOp call = {.op = OP_CALL, .values = values, .facts = facts, .nargs = t->nargs + 1};
    return typing_sub(t, &call, fact, value) && typing_take_answer(t, of->name, fact, value);
}

/* Of what is not known yet nothing follows. */
static bool become_result(Typing *t, Fact fact, Value *value) {
    return fact.konst ? typing_become_const(t, fact.konst) : typing_become(t, value, fact.type);
}

/* What they give, tried in turn; *own: one of them has. */
static bool try_in_turn(Typing *t, const Attempt *attempts, size_t count, bool *own) {
    for (size_t i = 0; i < count && !*own; i++) {
        Fact fact;
        Value *value;
        TRY(call_method(t, &attempts[i], &fact, &value));
        *own = !is_not_implemented(t, fact.type);
        if (*own) become_result(t, fact, value);
    }
    return true;
}

static const char *method_name(Typing *t, const char *prefix, const char *name) {
    return arena_printf(t->in->arena, "__%s%s__", prefix, name);
}

static bool own_binary(Typing *t, bool *own) {
    const char *name = op_info[t->op].text;
    Attempt attempts[3];
    size_t count = 0;
    if (t->flags & VF_INPLACE) count += attempt(t, method_name(t, "i", name), 0, &attempts[count]);
    count += attempt(t, method_name(t, "", name), 0, &attempts[count]);
    count += attempt(t, method_name(t, "r", name), 1, &attempts[count]);
    return try_in_turn(t, attempts, count, own);
}

/* not of the truth of what a method gives */
static bool become_truth(Typing *t, Fact fact, Value *value, Op op) {
    if (fact.type->kind == TY_BOTTOM) return typing_result(t, fact.type, NULL);
    TRY(typing_sub(t, &(SubOp){.op = op, .values = &value, .facts = &fact, .nargs = 1}, &fact, &value));
    return become_result(t, fact, value);
}

/* Without an answer two objects are equal if they are one. */
static bool same_object(Typing *t, bool *own) {
    const Type *a = infer_content(t->args[0].type), *b = infer_content(t->args[1].type);
    if (!type_is_shared(a) || !type_is_shared(b)) return true;
    *own = true;
    return typing_become_op(t, t->op == OP_EQ ? OP_IS : OP_IS_NOT);
}

/* The comparison that a dataclass made of its fields: an object that it compares with itself is equal, whatever the
 * fields say.  It asks whether both are one (3.13), or compares tuples of the fields, where items that are one are
 * equal. */
static bool is_by_fields(Typing *t, ObjRef method) {
    const Func *func = t->in->host->translate(t->in->host->self, method);
    return func && func->by_fields;
}

/* An instance or None: what None has an answer for is asked where it is known which. */
static bool may_be_missing(const Typing *t, size_t i) {
    return t->args[i].type->kind == TY_OPTIONAL && has_class(infer_content(t->args[i].type));
}

static bool own_compare(Typing *t, bool *own) {
    const char *name = method_name(t, "", op_info[t->op].text),
               *other = method_name(t, "", op_info[op_mirrored(t->op)].text);
    Attempt attempts[2], fields;
    size_t count = attempt(t, name, 0, &attempts[0]);
    *own = typing_is_one(t) && attempt(t, t->op == OP_NE && !count ? "__eq__" : name, 0, &fields) &&
           is_by_fields(t, fields.method.function);
    if (*own) return typing_equals_itself(t);
    if ((t->op == OP_EQ || t->op == OP_NE) && may_be_missing(t, 0)) {
        *own = true;
        return typing_become_prelude(t, t->op == OP_EQ ? "builtin:own_equal_if_any" : "builtin:own_different_if_any");
    }
    count += attempt(t, other, 1, &attempts[count]);
    TRY(try_in_turn(t, attempts, count, own));
    if (*own || (t->op != OP_NE && t->op != OP_EQ)) return true;
    if (t->op == OP_EQ) return same_object(t, own);
    count = attempt(t, "__eq__", 0, &attempts[0]); /* != is the contrary of == */
    count += attempt(t, "__eq__", 1, &attempts[count]);
    for (size_t i = 0; i < count && !*own; i++) {
        Fact fact;
        Value *value;
        TRY(call_method(t, &attempts[i], &fact, &value));
        *own = !is_not_implemented(t, fact.type);
        if (*own) TRY(become_truth(t, fact, value, OP_NOT));
    }
    return *own || same_object(t, own);
}

static bool orders(Typing *t, const Type *type) {
    static const char *const names[] = {"__lt__", "__le__", "__gt__", "__ge__"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (typing_member(t, type, names[i], 0).kind) return true;
    return false;
}

/* may_be_one(x, y) */
bool rule_func_may_be_one(Typing *t) {
    bool may = type_is_instance(t->args[0].type) && t->args[0].type == t->args[1].type;
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, may));
}

/* has_order(x, y) */
bool rule_func_has_order(Typing *t) {
    bool known = true;
    for (size_t i = 0; i < 2; i++) {
        const Type *type = t->args[i].type, *other = t->args[1 - i].type;
        if (type->kind == TY_NONE) known = false;
        if (type_is_instance(type) && !orders(t, type))
            known &= type_is_instance(other) && other != type && orders(t, other);
    }
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, known));
}

static bool own_truth(Typing *t, bool *own) {
    Attempt of;
    Fact fact;
    Value *value;
    if (t->args[0].type->kind == TY_OPTIONAL) return true; /* of its content in turn */
    if (!attempt(t, "__bool__", 0, &of) && !attempt(t, "__len__", 0, &of)) {
        const Type *type = t->args[0].type;
        if (type->kind != TY_STRUCT || !has_class(type)) return true;
        *own = true;
        return typing_become_const(t, const_bool(t->in->arena, t->in->types, t->op == OP_TRUTH));
    }
    *own = true;
    TRY(call_method(t, &of, &fact, &value));
    return become_truth(t, fact, value, t->op);
}

bool typing_has_way(Typing *t, const Type *type) {
    return type_is_instance(type) && (typing_member(t, type, "__iter__", 0).kind == MEMBER_METHOD ||
                                      typing_member(t, type, "__getitem__", 0).kind == MEMBER_METHOD);
}

static bool own_contains(Typing *t, bool *own) {
    Attempt of;
    Fact fact;
    Value *value;
    *own = true;
    if (!attempt(t, "__contains__", 1, &of)) {
        *own = typing_has_way(t, infer_content(t->args[1].type));
        if (!*own) return true;
        return typing_become_prelude(t, t->op == OP_IN ? "builtin:is_among" : "builtin:is_not_among");
    }
    TRY(call_method(t, &of, &fact, &value));
    return become_truth(t, fact, value, t->op == OP_IN ? OP_TRUTH : OP_NOT);
}

static bool own_single(Typing *t, const char *name, bool *own) {
    Attempt of;
    return !attempt(t, name, 0, &of) || try_in_turn(t, &of, 1, own);
}

/* A generator of the prelude over what is walked by its method __next__, or by its indices. */
static bool walk_by(Typing *t, const char *name, Fact *fact, Value **value) {
    Fact facts[2] = {{NULL, NULL}, *fact};
    Value *values[2] = {NULL, *value};
    return typing_call_prelude(t, name, facts, values, 2, fact, value);
}

static bool own_iter(Typing *t, bool *own) {
    Attempt of;
    Fact fact = t->args[0];
    Value *value = t->values[0];
    bool iter = attempt(t, "__iter__", 0, &of);
    bool indexed = !iter && type_is_instance(infer_content(fact.type)) && attempt(t, "__getitem__", 0, &of);
    if (!iter && !indexed) return true;
    *own = true;
    if (iter) TRY(call_method(t, &of, &fact, &value));
    if (fact.type->kind == TY_BOTTOM) return typing_result(t, fact.type, NULL);
    if (indexed) TRY(walk_by(t, "iterators:each_indexed", &fact, &value));
    if (iter && typing_member(t, fact.type, "__next__", 0).kind == MEMBER_METHOD)
        TRY(walk_by(t, "iterators:each_next", &fact, &value));
    if (fact.type->kind == TY_BOTTOM) return typing_result(t, fact.type, NULL);
    if (type_is_instance(fact.type) && (!iter || typing_member(t, fact.type, "__iter__", 0).kind != MEMBER_METHOD))
        return typing_fail(t, DIAG_TYPING, "what __iter__() of %s returns is no iterator", typing_arg_text(t, 0));
    TRY(typing_sub(t, &(SubOp){.op = OP_ITER, .values = &value, .facts = &fact, .nargs = 1}, &fact, &value));
    return typing_become(t, value, fact.type);
}

/* ---- functions of the library that ask a method ---- */

/* bool(x), str(x), repr(x) where x may be None. */
static const char *call_if_any(const Typing *t) {
    const Type *callee = t->args[0].type;
    if (t->nargs != 2 || !may_be_missing(t, 1)) return NULL;
    if (callee->kind == TY_CLASS && type_scalar_kind(callee->items[0]) == 'b') return "builtin:true_if_any";
    if (callee->kind != TY_FUNC) return NULL;
    return callee->func->id == FUNC_STR    ? "builtin:str_if_any"
           : callee->func->id == FUNC_REPR ? "builtin:repr_if_any"
                                           : NULL;
}

enum { MOST_NAMES = 3 };

/* The methods that a builtin or a class of numbers asks, in their order; NULL behind the last. */
static void methods_asked(const Typing *t, const char *names[MOST_NAMES + 1]) {
    static const char *const of_classes[][MOST_NAMES + 1] = {
        {"b", "__bool__"},
        {"i", "__int__", "__index__"},
        {"f", "__float__", "__index__"},
        {"c", "__complex__", "__float__", "__index__"},
    };
    const Type *callee = t->args[0].type;
    const char *const *methods = callee->kind == TY_FUNC ? func_row(callee->func)->methods : NULL;
    for (size_t i = 0; methods && i < COUNT_OF(func_info->methods); i++) names[i] = methods[i];
    bool number = callee->kind == TY_CLASS && t->nargs == 2 && callee->items[0]->kind == TY_SCALAR;
    if (!number || !callee->items[0]->weak) return;
    for (size_t i = 0; i < COUNT_OF(of_classes); i++)
        if (*of_classes[i][0] == type_scalar_kind(callee->items[0]))
            memcpy(names, of_classes[i] + 1, MOST_NAMES * sizeof *names);
}

/* float(x.__index__()): what another method gives is converted in turn. */
static bool convert_in_turn(Typing *t, const Attempt *of, Fact class) {
    Fact facts[2] = {class}, fact;
    Value *values[2] = {t->emit ? typing_make_const(t, class.konst) : NULL}, *value;
    TRY(call_method(t, of, &facts[1], &values[1]));
    if (facts[1].type->kind == TY_BOTTOM) return typing_result(t, facts[1].type, NULL);
    SubOp call = {.op = OP_CALL, .values = values, .facts = facts, .nargs = 2};
    return typing_sub(t, &call, &fact, &value) && become_result(t, fact, value);
}

static bool own_call(Typing *t, bool *own) {
    const char *names[MOST_NAMES + 1] = {NULL}, *if_any = call_if_any(t);
    Fact callee = t->args[0];
    Attempt of;
    methods_asked(t, names);
    if (if_any) {
        drop_first(t);
        *own = true;
        return typing_become_prelude(t, if_any);
    }
    for (size_t i = 0; names[i]; i++) {
        if (!attempt(t, names[i], 1, &of)) continue;
        drop_first(t);
        of.self = 0;
        *own = callee.type->kind == TY_CLASS && i > 0;
        return *own ? convert_in_turn(t, &of, callee) : try_in_turn(t, &of, 1, own);
    }
    return true;
}

/* What is an index by its method __index__() becomes the int that it is, if the operation takes one. */
static bool index_operands(Typing *t) {
    const Type *of = t->args[0].type ? infer_content(t->args[0].type) : NULL;
    bool indexes = t->op == OP_GETITEM || t->op == OP_SETITEM || t->op == OP_DELITEM;
    bool counts = t->op == OP_CALL && of && of->kind == TY_FUNC && of->func->id == FUNC_RANGE;
    if (!counts && (!indexes || !of || of->kind == TY_DICT || type_is_instance(of))) return true;
    for (size_t i = 1; i < (counts ? t->nargs : 2); i++) {
        Attempt method;
        if (!attempt(t, "__index__", i, &method)) continue;
        Fact facts[2] = {{method.method.konst->type, method.method.konst}, t->args[i]};
        Value *values[2] = {t->emit ? typing_make_const(t, method.method.konst) : NULL, t->values[i]};
        SubOp call = {.op = OP_CALL, .values = values, .facts = facts, .nargs = 2};
        TRY(typing_sub(t, &call, &t->args[i], &t->values[i]));
        TRY(typing_take_answer(t, "__index__", &t->args[i], &t->values[i]));
    }
    return true;
}

bool typing_call_instance(Typing *t, const Type *type) {
    Member member = typing_member(t, type, "__call__", 0);
    if (member.kind != MEMBER_METHOD) return false;
    typing_as(t, 0, type);
    return typing_call_python(t, member.function, NULL, NULL);
}

/* ---- the operation at hand ---- */

/* What no method does, although the tuple that stands for one would; NULL: it may be done.  *arg: to which operand. */
static const char *undone(const Typing *t, size_t *arg) {
    *arg = 0;
    switch (t->op) {
    case OP_UNPACK:
    case OP_UNPACK_EX: return "cannot be unpacked";
    case OP_ITER: return "cannot be iterated over";
    case OP_GETITEM: return "cannot be indexed";
    case OP_FORMAT: return "has no text in compiled code";
    case OP_CALL: break;
    default: return t->op >= OP_LT && t->op <= OP_GE && t->op != OP_EQ && t->op != OP_NE ? "has no order" : NULL;
    }
    *arg = 1;
    if (t->args[0].type->kind != TY_FUNC) return NULL;
    switch ((int)t->args[0].type->func->id) {
    case FUNC_LEN: return "has no length";
    case FUNC_LIST:
    case FUNC_TUPLE: return "cannot be iterated over";
    case FUNC_STR:
    case FUNC_REPR:
    case FUNC_PRINT: return "has no text in compiled code";
    default: return NULL;
    }
}

static bool refuse_of_method(Typing *t) {
    size_t first, count = t->op == OP_FORMAT || t->op == OP_CALL ? t->nargs : 1;
    const char *what = undone(t, &first);
    for (size_t i = first; what && i < count; i++) {
        if (!t->args[i].type || !infer_is_method(t->in->host, infer_content(t->args[i].type))) continue;
        return typing_fail_arg(t, i, DIAG_TYPING, "%s is a method, which %s", typing_arg_text(t, i), what);
    }
    return true;
}

bool typing_own_operation(Typing *t, bool *own) {
    bool any = false;
    *own = false;
    for (size_t i = 0; i < t->nargs; i++) any |= t->args[i].type && has_class(infer_content(t->args[i].type));
    if (!any) return true;
    TRY(refuse_of_method(t) && index_operands(t));
    switch (t->op) {
    case OP_TRUTH:
    case OP_NOT: return own_truth(t, own);
    case OP_IN:
    case OP_NOT_IN: return own_contains(t, own);
    case OP_GETITEM: return own_single(t, "__getitem__", own);
    case OP_SETITEM: return own_single(t, "__setitem__", own);
    case OP_DELITEM: return own_single(t, "__delitem__", own);
    case OP_ITER: return own_iter(t, own);
    case OP_NEG:
    case OP_POS:
    case OP_INVERT: return own_single(t, method_name(t, "", op_info[t->op].text), own);
    case OP_FORMAT: return typing_texts_of_instances(t);
    case OP_CALL: return typing_texts_of_instances(t) && own_call(t, own);
    default: break;
    }
    if (t->op >= OP_LT && t->op <= OP_GE) return own_compare(t, own);
    return (!op_is_binary(t->op) && t->op != OP_MATMUL) || own_binary(t, own);
}
