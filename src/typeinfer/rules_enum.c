/* rules_enum.c: members of enumerations, and their classes.
 *
 * In: an operation with a member, which is a number in compiled code (ir_kinds.def: MEMBER; of an enumeration of ints
 * SCALAR), or with the class.  Out: of a member that is known what it has; of any other the item at its place in a
 * constant tuple of what all members have.  A class that is walked is the tuple of its members; one that is called or
 * indexed finds the place of a member (krait/prelude/enums.py). */
#include <string.h> /* strcmp, strlen, strncmp */

#include "typeinfer/rules_library.h" /* lib_emit_tuple */

bool typing_is_member(const Type *type) { return type->kind == TY_MEMBER || (type->kind == TY_SCALAR && type->object); }

static const Const *members(Typing *t, ObjRef class, MembersWhat what, const char *name) {
    const InferHost *host = t->in->host;
    const Const *all = class ? host->members(host->self, class, what, name) : NULL;
    t->failed |= t->in->diag->failed;
    return all;
}

static bool become_fact(Typing *t, Fact fact, Value *value) {
    return fact.konst ? typing_become_const(t, fact.konst) : typing_become(t, value, fact.type);
}

static void set_operand(Typing *t, size_t i, const Const *konst) {
    t->args[i] = (Fact){konst->type, konst};
    if (t->emit) t->values[i] = typing_make_const(t, konst);
}

/* ---- what one of them has ---- */

/* Where the member that is known stands among all; count: nowhere. */
static uint32_t place_of(const Const *all, const Const *konst) {
    uint32_t i = 0;
    while (i < all->type->count && all->items[i]->i != konst->i) i++;
    return i;
}

/* The item of `all` that belongs to operand `i`, a member. */
static bool item_of(Typing *t, size_t i, const Const *all, Fact *fact, Value **value) {
    Infer *in = t->in;
    const Type *type = t->args[i].type;
    const Const *each = type->kind == TY_SCALAR || t->args[i].konst ? members(t, type->object, MEMBERS, NULL) : NULL;
    uint32_t place = each && t->args[i].konst ? place_of(each, t->args[i].konst) : all->type->count;
    if (place < all->type->count) {
        *fact = (Fact){all->items[place]->type, all->items[place]};
        *value = t->emit ? typing_make_const(t, fact->konst) : NULL;
        return true;
    }
    Fact facts[4] = {{0}, {infer_int(in), NULL}, {all->type, all}, {0}};
    Value *values[4] = {NULL, t->emit ? typing_make_cast(t, t->values[i], infer_int(in)) : NULL, NULL, NULL};
    if (type->kind == TY_MEMBER) return typing_call_prelude(t, "enums:item_at", facts, values, 3, fact, value);
    TRY(each);
    facts[3] = (Fact){each->type, each};
    return typing_call_prelude(t, "enums:item_of_number", facts, values, 4, fact, value);
}

/* The name of any combination of flags. */
static bool name_of_bits(Typing *t, const Type *type) {
    const Const *names = members(t, type->object, MEMBERS_NAMES, NULL);
    const Const *named = members(t, type->object, MEMBERS_BY_NAME, NULL);
    const Const *each = members(t, type->object, MEMBERS, NULL);
    TRY(names && named && each);
    uint32_t count = named->type->count;
    const Const **bits = ARENA_ARRAY(t->in->arena, const Const *, count), **single = bits;
    for (uint32_t i = 0; i < count; i++)
        single[i] = const_int(t->in->arena, t->in->types,
                              place_of(each, named->items[i]) < each->type->count ? named->items[i]->i
                                                                                  : -named->items[i]->i);
    const Const *all = const_tuple(t->in->arena, t->in->types, bits, count);
    Fact facts[4] = {{0}, {infer_int(t->in), NULL}, {names->type, names}, {all->type, all}}, fact;
    Value *values[4] = {NULL, t->emit ? typing_make_cast(t, t->values[0], infer_int(t->in)) : NULL, NULL, NULL}, *value;
    TRY(typing_call_prelude(t, "enums:name_of_bits", facts, values, 4, &fact, &value));
    return become_fact(t, fact, value);
}

/* "name", or "_name_". */
static bool is_named(const char *name, const char *wanted) {
    size_t length = strlen(wanted);
    bool sunder = *name == '_' && strncmp(name + 1, wanted, length) == 0 && strcmp(name + 1 + length, "_") == 0;
    return sunder || strcmp(name, wanted) == 0;
}

bool typing_member_attribute(Typing *t, const Type *type, bool *known) {
    bool name = is_named(t->text, "name"), value = is_named(t->text, "value");
    const Type *number = infer_int(t->in);
    *known = true;
    typing_as(t, 0, type);
    if (value && (type->flag || type->kind == TY_SCALAR))
        return typing_become(t, t->emit ? typing_make_cast(t, t->values[0], number) : NULL, number);
    if (name && type->flag) return name_of_bits(t, type);
    const Const *all = members(t, type->object, MEMBERS_ATTRIBUTE, t->text);
    TRY(!t->failed);
    if (!all) return *known = false, true;
    Fact fact;
    Value *item;
    if (!typing_common_item(t->in, all->type) && !t->args[0].konst) {
        typing_fail(t, DIAG_TYPING, "`%s` of the members of %s has no common type", t->text, typing_text(t, type));
        return typing_hint(t,
                           "give all members values of one type, or ask which member it is first: "
                           "`if m is Class.A: ... Class.A.%s`",
                           t->text);
    }
    TRY(item_of(t, 0, all, &fact, &item));
    return become_fact(t, fact, item);
}

const Type *typing_plain_type(Typing *t, const Type *type) {
    const Const *all = type->kind == TY_MEMBER ? members(t, type->object, MEMBERS_PLAIN, NULL) : NULL;
    return all ? typing_common_item(t->in, all->type) : NULL;
}

bool typing_plain_member(Typing *t, size_t i) {
    const Type *type = t->args[i].type;
    const Const *all = type && type->kind == TY_MEMBER ? members(t, type->object, MEMBERS_PLAIN, NULL) : NULL;
    if (!all) return !t->failed;
    return item_of(t, i, all, &t->args[i], &t->values[i]);
}

/* ---- operators ---- */

static void as_numbers(Typing *t) {
    for (size_t i = 0; i < t->nargs; i++) typing_as(t, i, infer_int(t->in));
}

static bool become_known(Typing *t, bool value) {
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, value));
}

static bool both_known(const Typing *t) { return t->args[0].konst && t->args[1].konst; }

/* Which may be None. */
bool typing_identity_of_members(Typing *t, const Type *a, const Type *b) {
    Op op = t->op == OP_IS ? OP_EQ : OP_NE;
    if (infer_content(a) != infer_content(b) && a->kind == b->kind && a->kind == TY_OPTIONAL)
        return typing_fail(t, DIAG_TYPING, "%s and %s are members of two enumerations, or None", typing_arg_text(t, 0),
                           typing_arg_text(t, 1));
    if (infer_content(a) != infer_content(b)) return become_known(t, op == OP_NE);
    if (a == b && both_known(t)) return become_known(t, (t->args[0].konst->i == t->args[1].konst->i) == (op == OP_EQ));
    const Type *number = type_optional(t->in->types, infer_int(t->in));
    for (size_t i = 0; i < 2; i++) typing_as(t, i, t->args[i].type->kind == TY_OPTIONAL ? number : infer_int(t->in));
    return typing_become_op(t, op);
}

bool typing_compare_members(Typing *t, const Type *a, const Type *b, Op op) {
    if (op != OP_EQ && op != OP_NE) return typing_bad_operands(t);
    if (a != b) return become_known(t, op == OP_NE);
    if (both_known(t)) return become_known(t, (t->args[0].konst->i == t->args[1].konst->i) == (op == OP_EQ));
    as_numbers(t);
    return typing_become_op(t, op);
}

/* | & ^ of flags of one class. */
bool typing_binary_members(Typing *t, const Type *a, const Type *b) {
    bool bits = a == b && a->flag && (t->op == OP_AND || t->op == OP_OR || t->op == OP_XOR);
    if (!bits) return typing_bad_operands(t);
    Fact fact;
    Value *value;
    as_numbers(t);
    TRY(typing_sub(t, &(SubOp){.op = t->op, .values = t->values, .facts = t->args, .nargs = 2}, &fact, &value));
    if (fact.konst) return typing_become_const(t, const_enum(t->in->arena, a, fact.konst->i));
    return typing_become(t, t->emit ? typing_make_cast(t, value, a) : NULL, a);
}

static int64_t mask_of(const Const *members) {
    int64_t mask = 0;
    for (uint32_t i = 0; members && i < members->type->count; i++) mask |= members->items[i]->i;
    return mask;
}

/* ~x: all flags that x has not. */
bool typing_invert_member(Typing *t, const Type *type) {
    const Const *named = type->flag ? members(t, type->object, MEMBERS_BY_NAME, NULL) : NULL;
    if (!named) return typing_bad_operands(t);
    const Const *all = const_int(t->in->arena, t->in->types, mask_of(named));
    Fact facts[2] = {{infer_int(t->in), NULL}, {all->type, all}}, fact;
    Value *values[2] = {NULL, NULL}, *value;
    typing_as(t, 0, infer_int(t->in));
    if (t->emit) values[0] = t->values[0], values[1] = typing_make_const(t, all);
    TRY(typing_sub(t, &(SubOp){.op = OP_INVERT, .values = values, .facts = facts, .nargs = 1}, &facts[0], &values[0]));
    TRY(typing_sub(t, &(SubOp){.op = OP_AND, .values = values, .facts = facts, .nargs = 2}, &fact, &value));
    return typing_become(t, t->emit ? typing_make_cast(t, value, type) : NULL, type);
}

bool typing_truth_of_member(Typing *t, const Type *type) {
    if (!type->flag) return become_known(t, t->op == OP_TRUTH);
    as_numbers(t);
    return typing_become_op(t, t->op);
}

/* a in b: b has all flags of a. */
bool typing_flags_contain(Typing *t, const Type *where) {
    const Type *what = infer_content(t->args[0].type);
    if (!where->flag || what != where) return typing_bad_operands(t);
    as_numbers(t);
    Op op = t->op == OP_IN ? OP_EQ : OP_NE;
    Fact facts[2] = {t->args[0], t->args[0]};
    Value *values[2] = {t->values[0], t->values[0]};
    TRY(typing_sub(t, &(SubOp){.op = OP_AND, .values = t->values, .facts = t->args, .nargs = 2}, &facts[0],
                   &values[0]));
    Fact fact;
    Value *value;
    TRY(typing_sub(t, &(SubOp){.op = op, .values = values, .facts = facts, .nargs = 2}, &fact, &value));
    return become_fact(t, fact, value);
}

/* ---- classes ---- */

const Const *typing_member_named(Typing *t, ObjRef class, const char *name) {
    const Const *names = members(t, class, MEMBERS_NAMES, NULL), *named = members(t, class, MEMBERS_BY_NAME, NULL);
    for (uint32_t i = 0; names && named && i < names->type->count; i++)
        if (strcmp(names->items[i]->text, name) == 0) return named->items[i];
    return NULL;
}

/* The member whose place, or number, a function of the prelude finds. */
static bool become_found(Typing *t, const char *finder, const Const *each, const Const *among, const char *title) {
    const Const *name = title ? const_str(t->in->arena, t->in->types, title) : NULL;
    Fact facts[4] = {{0}, t->args[1], {among->type, among}, {name ? name->type : NULL, name}}, fact;
    Value *values[4] = {NULL, t->values[1], NULL, NULL}, *value;
    const Type *type = each->items[0]->type;
    TRY(typing_call_prelude(t, finder, facts, values, title ? 4 : 3, &fact, &value));
    if (fact.type->kind == TY_BOTTOM) return typing_result(t, fact.type, NULL);
    return typing_become(t, t->emit ? typing_make_cast(t, value, type) : NULL, type);
}

/* The numbers of members, as ints. */
static const Const *numbers_of(Typing *t, const Const *each) {
    const Const **numbers = ARENA_ARRAY(t->in->arena, const Const *, each->type->count);
    for (uint32_t i = 0; i < each->type->count; i++)
        numbers[i] = const_int(t->in->arena, t->in->types, each->items[i]->i);
    return const_tuple(t->in->arena, t->in->types, numbers, each->type->count);
}

bool typing_call_enum(Typing *t, ObjRef class, bool *is) {
    const InferHost *host = t->in->host;
    const Const *each = members(t, class, MEMBERS, NULL);
    EnumClass of;
    *is = each && t->nargs == 2 && !t->nnames && host->enum_class(host->self, class, &of);
    if (!*is) return !t->failed;
    const Type *type = each->items[0]->type, *given = infer_content(t->args[1].type);
    if (given == type && given == t->args[1].type) return typing_become_arg(t, 1);
    if (type->flag && type->kind == TY_SCALAR && type_is_integer(given)) {
        typing_as(t, 1, infer_int(t->in));
        return typing_become(t, t->emit ? typing_make_cast(t, t->values[1], type) : NULL, type);
    }
    if (type->flag && !of.strict && !of.conforms) return *is = false, true;
    if (type->flag) {
        const Const *mask = const_int(t->in->arena, t->in->types, mask_of(members(t, class, MEMBERS_BY_NAME, NULL)));
        return become_found(t, of.strict ? "enums:bits_of_number" : "enums:known_bits", each, mask, of.title);
    }
    const Const *among = type->kind == TY_SCALAR ? numbers_of(t, each)
                                                 : members(t, class, MEMBERS_ATTRIBUTE, "_value_");
    TRY(among);
    if (t->args[1].type->kind == TY_TEXT) typing_settle_texts(t);
    return become_found(t, type->kind == TY_SCALAR ? "enums:number_by_value" : "enums:place_by_value", each, among,
                        of.title);
}

bool typing_index_enum(Typing *t, ObjRef class, bool *is) {
    const Const *each = members(t, class, MEMBERS, NULL), *names = members(t, class, MEMBERS_NAMES, NULL);
    const Const *named = members(t, class, MEMBERS_BY_NAME, NULL);
    *is = each && names && named && typing_is_text(infer_content(t->args[1].type));
    if (!*is) return !t->failed;
    const Const *numbers = numbers_of(t, named);
    Fact facts[4] = {{0}, t->args[1], {names->type, names}, {numbers->type, numbers}}, fact;
    Value *values[4] = {NULL, t->values[1], NULL, NULL}, *value;
    const Type *type = each->items[0]->type;
    TRY(typing_call_prelude(t, "enums:number_by_name", facts, values, 4, &fact, &value));
    if (fact.type->kind == TY_BOTTOM) return typing_result(t, fact.type, NULL);
    return typing_become(t, t->emit ? typing_make_cast(t, value, type) : NULL, type);
}

/* Operations that walk their operands: a class among these is the tuple of its members. */
bool typing_walks(const Typing *t) {
    static const FuncId walking[] = {FUNC_LEN,    FUNC_LIST,     FUNC_TUPLE,  FUNC_SET,        FUNC_ENUMERATE,
                                     FUNC_ZIP,    FUNC_REVERSED, FUNC_PY_SUM, FUNC_ITER,       FUNC_DICT_FROMKEYS,
                                     FUNC_PY_MAX, FUNC_PY_MIN,   FUNC_SORTED, FUNC_LIST_EXTEND};
    if (t->op == OP_ITER || t->op == OP_TUPLE_CONCAT || t->op == OP_UNPACK || t->op == OP_UNPACK_EX) return true;
    const Type *callee = t->op == OP_CALL && t->nargs ? t->args[0].type : NULL;
    for (size_t i = 0; callee && callee->kind == TY_FUNC && i < COUNT_OF(walking); i++)
        if (callee->func->id == walking[i]) return true;
    return false;
}

bool typing_walk_enums(Typing *t) {
    bool walked = typing_walks(t);
    for (size_t i = 0; walked && i < t->nargs; i++) {
        const Type *type = t->args[i].type;
        const Const *each = type && type->kind == TY_OBJECT ? members(t, type->object, MEMBERS, NULL) : NULL;
        if (each) set_operand(t, i, each);
    }
    return !t->failed;
}

bool typing_enum_contains(Typing *t, ObjRef class, bool *is) {
    const Const *each = members(t, class, MEMBERS, NULL);
    *is = each && infer_content(t->args[0].type) == each->items[0]->type && t->args[0].type->kind != TY_OPTIONAL;
    return *is ? become_known(t, t->op == OP_IN) : !t->failed;
}
