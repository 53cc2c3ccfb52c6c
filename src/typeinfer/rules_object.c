/* rules_object.c: instances of users' classes that lie on the heap and are shared by all who have them: made, their
 * attributes read and assigned.
 *
 * In: a call of a class written in Python; x.name and x.name = v.  Out: an object with room for each attribute that the
 * functions of the class assign (StructClass), on which __init__ is called.  What an attribute holds is found out where
 * it is assigned (growth.c), as with what is put into a list: a call makes an object whose attributes have no types
 * yet, __init__ wants them to have some, and is asked for again.  An attribute holds None and something else as an
 * Optional, numbers as what holds them all.
 *
 * What the class itself has under the name of an attribute is what one reads of an instance that has none of its own.
 * It lies in the instance's room from the start, without counting as set, and so the type of the attribute holds it,
 * too; not where __init__ assigns the attribute before anything can read it (assigned.c). */
#include "typeinfer/rules_library.h"

/* ---- types ---- */

static const Type *with_attribute(Infer *in, const Type *object, unsigned field, const Type *item) {
    const Type **items = ARENA_ARRAY(in->arena, const Type *, object->count);
    for (uint32_t i = 0; i < object->count; i++) items[i] = i == field ? item : object->items[i];
    return typeinfer_object(in, object, items);
}

/* ---- what the class has ---- */

/* Under the name of an attribute of its instances; false: nothing that is known. */
static bool class_value(Typing *t, const Type *object, uint32_t field, Fact *fact, Value **value) {
    const InferHost *host = t->in->host;
    Member member = host->member(host->self, object->object, 0, object->names[field]);
    if (member.kind != MEMBER_VALUE) return false;
    *fact = (Fact){member.konst->type, member.konst};
    *value = NULL;
    if (member.konst->captured) {
        fact->konst = NULL;
        *value = typing_make_captured(t, member.konst->i, &fact->type);
    } else if (t->emit)
        *value = typing_make_const(t, member.konst);
    return true;
}

/* The type of that in an attribute; NULL: there is nothing. */
static const Type *class_type(Typing *t, const Type *object, uint32_t field) {
    const InferHost *host = t->in->host;
    const Type *type;
    Member member = host->member(host->self, object->object, 0, object->names[field]);
    if (member.kind != MEMBER_VALUE) return NULL;
    if (!member.konst->captured) return typeinfer_general(t->in, member.konst->type);
    typing_make_captured(t, member.konst->i, &type);
    return type;
}

/* Whether what the class has can lie in the attribute, and so may be what is read. */
static bool holds_class_value(Typing *t, const Type *object, uint32_t field) {
    const Type *item = type_attribute(object, field), *type = class_type(t, object, field);
    return type && item->kind != TY_BOTTOM &&
           typeinfer_join(t->in->config->promotion, t->in->types, item, type) == item;
}

/* ---- x.name ---- */

bool typing_get_attribute(Typing *t, const Type *object, unsigned field) {
    const Type *item = type_attribute(object, field);
    if (item->kind == TY_BOTTOM && !t->emit) return typing_result(t, item, NULL);
    if (item->kind == TY_BOTTOM) {
        typing_fail(t, DIAG_NO_ATTRIBUTE, "what the attribute `%s` of %s holds is not known", object->names[field],
                    typing_arg_text(t, 0));
        return typing_hint(t, "assign it in __init__");
    }
    if (!t->emit) return typing_become(t, NULL, item);
    Value *args[2] = {typing_make_cast(t, t->values[0], object), typing_make_int(t, field)};
    Value *get = typing_make_func(t, FUNC_OBJECT_GET, item, args, 2);
    if (holds_class_value(t, object, field)) get->flags |= VF_UNCHECKED;
    return typing_become(t, get, item);
}

bool typing_has_attribute(Typing *t, const Type *object, unsigned field) {
    const Type *boolean = infer_bool(t->in);
    if (class_type(t, object, field)) return typing_become_const(t, const_bool(t->in->arena, t->in->types, true));
    if (!t->emit) return typing_become(t, NULL, boolean);
    Value *args[2] = {typing_make_cast(t, t->values[0], object), typing_make_int(t, field)};
    return typing_become(t, typing_make_func(t, FUNC_OBJECT_HAS, boolean, args, 2), boolean);
}

static bool refuse_type(Typing *t, const Type *object, unsigned field, const Type *item) {
    const Type *of_class = class_type(t, object, field);
    if (of_class && of_class == type_attribute(object, field)) {
        typing_fail(t, DIAG_NO_UNIFY, "the attribute `%s` of %s is assigned %s, and what its class has there is %s",
                    object->names[field], typing_arg_text(t, 0), typing_text(t, item), typing_text(t, of_class));
        return typing_hint(t, "an attribute has one type in compiled code: assign it in __init__, before anything else "
                              "is done with the instance, or give the class a value of that type");
    }
    typing_fail(t, DIAG_NO_UNIFY, "the attribute `%s` of %s is assigned %s and %s", object->names[field],
                typing_arg_text(t, 0), typing_text(t, type_attribute(object, field)), typing_text(t, item));
    return typing_hint(t,
                       "an attribute has one type in compiled code, and an object that came from outside keeps those "
                       "that it came with: convert the value, or set it to one of that type before the call");
}

/* The attribute holds this as well: the type of the object where it is made follows. */
static bool put(Typing *t, const Type *object, unsigned field, const Type *item) {
    Infer *in = t->in;
    const Type *old = type_attribute(object, field);
    const Type *joined = typeinfer_join(in->config->promotion, in->types, old, item), *whole;
    if (!joined) joined = typing_widen(t, old, 1);
    if (joined == old || item->kind == TY_BOTTOM) return true;
    if (!joined || t->emit) return refuse_type(t, object, field, item); /* emitting: no object grew */
    if (!(whole = with_attribute(in, object, field, joined))) return refuse_type(t, object, field, item);
    const Value *stays = typeinfer_grow(in, t->values[0], whole);
    /* who called with the object will call with another one */
    bool asked = stays && stays->op == OP_PARAM && in->inst->wanted && in->inst->wanted[stays->imm.i];
    return !stays || asked || refuse_type(t, object, field, item);
}

bool typing_set_attribute(Typing *t, const Type *object, unsigned field) {
    const Type *item = typeinfer_general(t->in, t->args[1].type);
    TRY(put(t, object, field, item));
    if (!t->emit) typeinfer_fill(t->in, t->values[1], item, type_attribute(object, field));
    if (t->emit) {
        Value *args[3] = {typing_make_cast(t, t->values[0], object), typing_make_int(t, field), NULL};
        args[2] = typing_make_cast(t, t->values[1], type_attribute(object, field));
        typing_make_func(t, FUNC_OBJECT_SET, infer_none(t->in), args, 3);
    }
    return typing_become_const(t, const_none(t->in->arena, t->in->types));
}

/* ---- C(...) ---- */

static const Type *empty_object(Typing *t, ObjRef ref, const StructClass *class, Member init) {
    Infer *in = t->in;
    const Type **items = ARENA_ARRAY(in->arena, const Type *, class->nattributes);
    const Type *bare, *type;
    for (size_t i = 0; i < class->nattributes; i++) items[i] = i ? infer_bottom(in) : infer_int(in);
    bare = type_shared_instance(in->types, ref, class->title, class->attributes, items, class->nattributes);
    uint64_t assigned = typing_surely_assigned(t, bare, init.kind == MEMBER_METHOD ? init.function : 0);
    for (uint32_t i = 1; i < bare->count; i++)
        if (!(assigned >> i & 1) && (type = class_type(t, bare, i))) items[i] = type;
    return type_object_like(in->types, bare, items);
}

static Value *make_object(Typing *t, const Type *type) {
    Value *object = typing_make_func(t, FUNC_OBJECT_NEW, type, NULL, 0);
    for (uint32_t i = 1; i < type->count; i++) {
        Fact fact;
        Value *value;
        if (!holds_class_value(t, type, i) || !class_value(t, type, i, &fact, &value)) continue;
        Value *args[3] = {object, typing_make_int(t, i), typing_make_cast(t, value, type_attribute(type, i))};
        typing_make_func(t, FUNC_OBJECT_DEFAULT, infer_none(t->in), args, 3);
    }
    return object;
}

/* __init__ of the object with the arguments of the call. */
static bool call_init(Typing *t, Member init, const Type *type, Value *object) {
    size_t nargs = t->nargs + 1; /* the class is operand 0 */
    Fact *facts = ARENA_ARRAY(t->in->arena, Fact, nargs), none;
    Value **values = ARENA_ARRAY(t->in->arena, Value *, nargs), *done;
    facts[0] = (Fact){init.konst->type, init.konst};
    if (t->emit) values[0] = typing_make_const(t, init.konst);
    facts[1] = (Fact){type, NULL};
    values[1] = object;
    for (size_t i = 1; i < t->nargs; i++) {
        facts[i + 1] = t->args[i];
        values[i + 1] = t->values[i];
    }
    return typing_sub(
        t,
        &(SubOp){
            .op = OP_CALL, .values = values, .facts = facts, .nargs = nargs, .names = t->names, .nnames = t->nnames},
        &none, &done);
}

bool typing_make_instance(Typing *t, const Type *callee, const StructClass *class) {
    const InferHost *host = t->in->host;
    Value *at = t->at;
    Member init = host->member(host->self, callee->object, 0, "__init__");
    if (t->is_part)
        return typing_fail(t, DIAG_UNSUPPORTED,
                           "an instance of a class is made in the middle of another "
                           "operation: write the call in a function of your own");
    const Type *type = at->type && type_is_shared(at->type) ? at->type : empty_object(t, callee->object, class, init);
    if (!t->emit && type != at->type) solver_set_type(t->in, at, type);
    Value *object = t->emit ? make_object(t, type) : at;
    if (init.kind != MEMBER_METHOD && t->nargs > 1)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() takes no arguments", class->title);
    for (const Type *before = NULL; init.kind == MEMBER_METHOD && before != type;) {
        before = type;
        TRY(call_init(t, init, type, object));
        if (!t->emit) type = at->type; /* it may have grown */
    }
    return typing_become(t, t->emit ? object : NULL, type);
}
