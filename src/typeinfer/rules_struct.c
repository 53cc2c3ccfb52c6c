/* rules_struct.c: typing rules of records: their fields by name, by number and by attribute, whole records assigned.
 *
 * A record is a reference, an array without axes; an operation FIELD makes a view on one field of it, or of each struct
 * of an array.  Reading a number is an element of that view, writing one an assignment to it, so that conversions,
 * checks and accesses outside are those of arrays.  Records of the same bytes are copied; from a tuple, or a record of
 * other types, each field is assigned, by position. */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h"

static bool has_records(const Type *type) { return type->kind == TY_ARRAY && type_is_record(type_element(type)); }

/* ---- which field ---- */

bool typing_hint_fields(Typing *t, const Type *type) {
    const Type *of = type_element(type);
    Buf names;
    buf_init(&names, t->in->arena);
    for (uint32_t i = 0; i < of->count; i++) buf_printf(&names, "%s'%s'", i ? ", " : "", of->names[i]);
    return typing_hint(t, "the fields are %s", names.text);
}

static bool no_field(Typing *t, const Type *type, const char *name) {
    typing_fail(t, DIAG_BAD_INDEX, "%s has no field '%s'", typing_arg_text(t, 0), name);
    return typing_hint_fields(t, type);
}

bool typing_find_field(Typing *t, const Type *type, Fact index, int *field) {
    int64_t number;
    *field = -1;
    if (!has_records(type)) return true;
    uint32_t count = type_element(type)->count;
    if (index.type->kind == TY_STR && index.konst) {
        *field = type_field(type_element(type), index.konst->text);
        return *field >= 0 || no_field(t, type, index.konst->text);
    }
    if (!type->record || index.type->kind == TY_ELLIPSIS || (index.type->kind == TY_TUPLE && !index.type->count))
        return true;
    if (!typing_konst_is_int(index.konst, &number)) {
        typing_fail(t, DIAG_NEEDS_CONSTANT,
                    "a record is indexed by a field known when the function is compiled, not by %s",
                    typing_arg_text(t, 1));
        return typing_hint(t, "write the name: r['name'] or r.name");
    }
    if (number < -(int64_t)count || number >= (int64_t)count)
        return typing_fail(t, DIAG_BAD_INDEX, "index %lld is out of range for a record of %u fields", (long long)number,
                           (unsigned)count);
    *field = (int)(number < 0 ? number + count : number);
    return true;
}

/* Names that NumPy's own attributes and methods have beside those that compiled code knows. */
static bool is_taken(const Type *element, const char *name) {
    static const char *const taken[] = {
        "all",       "any",   "argmax", "argmin",    "argsort",  "astype",      "base",     "byteswap", "choose",
        "clip",      "conj",  "copy",   "ctypes",    "cumprod",  "cumsum",      "data",     "device",   "diagonal",
        "dot",       "dump",  "dumps",  "field",     "fill",     "flags",       "flatten",  "getfield", "item",
        "mT",        "max",   "mean",   "min",       "nonzero",  "partition",   "pprint",   "prod",     "ptp",
        "put",       "ravel", "repeat", "reshape",   "resize",   "round",       "setfield", "setflags", "sort",
        "squeeze",   "std",   "sum",    "swapaxes",  "take",     "tobytes",     "tofile",   "tolist",   "trace",
        "transpose", "var",   "view",   "conjugate", "compress", "searchsorted"};
    for (size_t i = 0; element->form == STRUCT_RECORD_CLASS && i < COUNT_OF(taken); i++)
        if (strcmp(taken[i], name) == 0) return true;
    return false;
}

int typing_attribute_field(const Type *type, const char *name) {
    return has_records(type) && !is_taken(type_element(type), name) ? type_field(type_element(type), name) : -1;
}

/* ---- reading ---- */

static Fact whole(Typing *t, const Type *view, Value **index) {
    const Type *type = view->ndim ? type_simple(t->in->types, TY_ELLIPSIS) : type_tuple(t->in->types, NULL, 0);
    const Const *konst = view->ndim ? const_of(t->in->arena, type) : const_tuple(t->in->arena, t->in->types, NULL, 0);
    *index = t->emit ? typing_make_const(t, konst) : NULL;
    return (Fact){type, konst};
}

/* The field of the record or array `of`, as a view on memory. */
static Fact field_view(Typing *t, Fact of, Value *value, unsigned field, Value **view) {
    const Type *type = type_field_view(t->in->types, of.type, field);
    *view = t->emit ? typing_make_op_imm(t, OP_FIELD, type, &value, 1, field) : NULL;
    return (Fact){type, NULL};
}

/* The same as a value: an item that is no array is taken out of its memory. */
static bool field_value(Typing *t, Fact of, Value *from, unsigned field, Fact *fact, Value **value) {
    Value *values[2];
    Fact facts[2];
    facts[0] = field_view(t, of, from, field, &values[0]);
    if (!of.type->record || facts[0].type->record || facts[0].type->ndim) {
        *fact = facts[0];
        *value = values[0];
        return true;
    }
    facts[1] = whole(t, facts[0].type, &values[1]);
    return typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, fact, value);
}

bool typing_get_field(Typing *t, const Type *type, unsigned field) {
    Fact fact;
    Value *value, *of = t->emit ? typing_make_cast(t, t->values[0], type) : NULL;
    TRY(field_value(t, (Fact){type, NULL}, of, field, &fact, &value));
    return typing_become(t, value, fact.type);
}

/* ---- writing ---- */

static bool assign_field(Typing *t, Fact of, Value *to, unsigned field, Fact fact, Value *value) {
    Value *values[3] = {NULL, NULL, value}, *done;
    Fact facts[3] = {{0}, {0}, fact}, none;
    facts[0] = field_view(t, of, to, field, &values[0]);
    facts[1] = whole(t, facts[0].type, &values[1]);
    return typing_sub(t, &(SubOp){.op = OP_SETITEM, .values = values, .facts = facts, .nargs = 3}, &none, &done);
}

bool typing_set_field(Typing *t, const Type *type, unsigned field, size_t arg) {
    Value *of = t->emit ? typing_make_cast(t, t->values[0], type) : NULL;
    TRY(assign_field(t, (Fact){type, NULL}, of, field, t->args[arg], t->values[arg]));
    return typing_become_const(t, const_none(t->in->arena, t->in->types));
}

static bool same_names(const Type *a, const Type *b) {
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->names && strcmp(a->names[i], b->names[i]) != 0) return false;
        if (!same_names(a->items[i], b->items[i])) return false;
    }
    return true;
}

/* NumPy does not look at alignment and class. */
bool typing_same_dtype(const Type *a, const Type *b) { return type_same_bytes(a, b) && same_names(a, b); }

bool typing_store_record(Typing *t, const Type *element, bool is_view) {
    const Type *from = infer_content(t->args[2].type);
    if (from != t->args[2].type) typing_cast(t, 2, from);
    bool record = has_records(from), fits = record && (is_view || from->ndim == 0);
    if (fits && type_same_bytes(type_element(from), element)) return true;
    uint32_t count = record ? type_element(from)->count : from->count;
    if (!(fits && from->record) && from->kind != TY_TUPLE) {
        typing_fail_arg(t, 2, DIAG_TYPING, "%s cannot be stored into a record", typing_arg_text(t, 2));
        return typing_hint(t, "assign a record, a tuple with an item for each field, or the fields one by one");
    }
    if (count != element->count)
        return typing_fail_arg(t, 2, DIAG_TYPING, "a record of %u fields cannot be made of %u items",
                               (unsigned)element->count, (unsigned)count);
    Value *to, *source = t->emit ? typing_make_cast(t, t->values[2], from) : NULL;
    Fact target;
    TRY(typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = t->values, .facts = t->args, .nargs = 2}, &target, &to));
    for (uint32_t i = 0; i < count; i++) {
        Fact item = {0};
        Value *value = NULL;
        if (record)
            TRY(field_value(t, (Fact){from, NULL}, source, i, &item, &value));
        else
            item = typing_item_fact(t->args[2], i), value = t->emit ? typing_make_extract(t, source, i) : NULL;
        TRY(assign_field(t, target, to, i, item, value));
    }
    return typing_become_const(t, const_none(t->in->arena, t->in->types));
}

/* ---- a record as a sequence of its fields ---- */

bool typing_unpack_record(Typing *t, const Type *type) {
    uint32_t count = type_element(type)->count;
    const Type **types = ARENA_ARRAY(t->in->arena, const Type *, count);
    Value **values = ARENA_ARRAY(t->in->arena, Value *, count),
          *of = t->emit ? typing_make_cast(t, t->values[0], type) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        Fact item;
        TRY(field_value(t, (Fact){type, NULL}, of, i, &item, &values[i]));
        types[i] = item.type;
    }
    const Type *tuple = type_tuple(t->in->types, types, count);
    return typing_become(t, t->emit ? typing_make_op(t, OP_TUPLE, tuple, values, count) : NULL, tuple);
}
