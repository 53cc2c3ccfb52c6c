/* rules_attr.c: typing rules of attributes, x.name and x.name = v.
 *
 * In: the type of what stands before the dot and the name.  Out: what its row of ir_attrs.def says, by the row's rule;
 * else a method: of an instance the function of its class, or the library function numpy.ndarray.<name> or
 * numpy.generic.<name>; its first argument is that value (rule_call adds it). */
#include <string.h> /* strchr, strcmp, strlen, strncmp, strrchr */

#include "typeinfer/rules.h"

typedef bool AttrRule(Typing *t, const Type *type); /* type: of the operand, content of an Optional */

static bool unknown_attribute(Typing *t);

/* The names of the fields of a namedtuple. */
static bool hint_names(Typing *t, const Type *type) {
    Buf names;
    buf_init(&names, t->in->arena);
    if (type_is_bytes(type))
        return typing_hint(t, "of a bytes kernels have its numbers: x[i], x[1:], len(x), loops, x == y, 97 in x");
    if (type_is_keywords(type)) return typing_hint(t, "of such a dict there are get, keys, values, items and copy");
    for (uint32_t i = 0; type->names && i < type->count; i++) buf_printf(&names, "%s%s", i ? ", " : "", type->names[i]);
    return names.len && typing_hint(t, "it has %s", names.text);
}

const char *typing_class_of_methods(const Type *type) {
    switch (type->kind) {
    case TY_ARRAY: return "numpy.ndarray";
    case TY_FLAT: return "numpy.flatiter";
    case TY_LIST: return "builtins.list";
    case TY_SLICE: return "builtins.slice";
    case TY_TUPLE:
    case TY_VARTUPLE: return "builtins.tuple";
    case TY_DICT: return "builtins.dict";
    case TY_SET: return "builtins.set";
    case TY_BYTES: return "builtins.bytes";
    case TY_SCALAR:
    case TY_TIME: return "numpy.generic";
    case TY_RANDOM: return "numpy.random.Generator";
    case TY_GENERATOR: return "types.GeneratorType";
    default: return typing_is_text(type) ? "builtins.str" : NULL;
    }
}

/* What is advised for an attribute that values of a type lack: for this name, else one that is near, else for any. */
static bool hint_instead(Typing *t, const Type *type) {
    const char *class_name = typing_class_of_methods(type), *dot = class_name ? strrchr(class_name, '.') : NULL;
    const char *class_alone = type->kind == TY_ARRAY ? "array" : dot ? dot + 1 : "";
    const char *name = arena_printf(t->in->arena, "%s.%s", class_alone, t->text);
    const char *for_this = infer_advice(name, t->in->config->device, false), *for_any = typing_advice(t, name);
    if (for_this) return typing_hint(t, "%s", for_this);
    if (typing_hint_near_attribute(t, type, class_name)) return false;
    return for_any ? typing_hint(t, "%s", for_any) : false;
}

/* A module or a class that a variable holds: what is in it is for the interpreter to say. */
static bool object_lacks(Typing *t, const Type *type) {
    const InferHost *host = t->in->host;
    const char *hint = NULL;
    const char *words = t->in->quiet ? "" : host->no_attribute(host->self, type->object, t->text, &hint);
    typing_fail(t, DIAG_NO_ATTRIBUTE, "%s", words);
    return hint ? typing_hint(t, "%s", hint) : false;
}

/* A method, or what else the class of an instance has, that is named like it, as a hint; NULL: there is none. */
static const char *near_in_class(Typing *t, const Type *type) {
    static const char near[] = "did you mean";
    const char *hint = NULL;
    if (!t->in->quiet) t->in->host->no_attribute(t->in->host->self, type->object, t->text, &hint);
    return hint && strncmp(hint, near, sizeof near - 1) == 0 ? hint : NULL;
}

static bool no_attribute(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    if (strcmp(t->text, "__enter__") == 0) {
        typing_fail(t, DIAG_NO_ATTRIBUTE, "%s is no context manager in compiled code", typing_arg_text(t, 0));
        return typing_hint(t, "with statements take instances of classes that define __enter__ and __exit__ in Python");
    }
    if (type->kind == TY_OBJECT) return object_lacks(t, type);
    typing_fail(t, DIAG_NO_ATTRIBUTE, "%s has no attribute `%s` in compiled code", typing_arg_text(t, 0), t->text);
    if (type->kind == TY_ARRAY && type_is_record(type_element(type))) return typing_hint_fields(t, type);
    if (type->kind == TY_TUPLE && type->object) return hint_names(t, type);
    if (type_is_instance(type) && typing_hint_near_attribute(t, type, NULL)) return false;
    const char *near = type_is_instance(type) ? near_in_class(t, type) : NULL;
    if (near) return typing_hint(t, "%s", near);
    if (type_is_instance(type))
        return typing_hint(
            t, "an instance has what __init__ assigns and what its class defines in Python; `%s` is neither", t->text);
    if (type->kind == TY_GENERATOR)
        return typing_hint(t, "of a generator items are taken, by next() and by loops, by send(), "
                              "until close() ends it: what it needs to know is told it by an instance, or a list, "
                              "that it is given");
    if (type->kind == TY_CHARS && scalar_info[type->scalar].bytes == 4)
        return typing_hint(t, "an item of an array of texts is a text of NumPy: str(names[i]) makes a str of it");
    if (typing_is_member(type)) return typing_hint(t, "a member has `name`, `value` and what its class defines");
    return hint_instead(t, type);
}

static bool known_int(Typing *t, int64_t value) {
    return typing_become_const(t, const_int(t->in->arena, t->in->types, value));
}

static bool known_text(Typing *t, const char *text) {
    return typing_become_const(t, const_str(t->in->arena, t->in->types, text));
}

/* Python's own numbers have few of the attributes of NumPy's. */
static bool is_python_number(const Type *type) { return type->kind == TY_SCALAR && type->weak; }

/* The scalar of the items of an array, a NumPy scalar, a dtype. */
static const Type *scalar_of(const Type *type) { return type->count ? type->items[0] : type; }

/* ---- any kind ---- */

/* The array that the operand is known to be, a global one; else NULL. */
static const ArrayConst *known_array(const Typing *t, const Type *type) {
    return type->kind == TY_ARRAY && t->args[0].konst ? t->args[0].konst->array : NULL;
}

static bool attr_an_int(Typing *t, const Type *type) {
    (void)type;
    return typing_result(t, infer_int(t->in), NULL);
}

static bool attr_size(Typing *t, const Type *type) {
    const ArrayConst *array = known_array(t, type);
    if (!array) return attr_an_int(t, type);
    int64_t size = 1;
    for (size_t i = 0; i < type->ndim; i++) size *= array->shape[i];
    return known_int(t, size);
}

static bool attr_itself(Typing *t, const Type *type) {
    return is_python_number(type) ? no_attribute(t) : typing_become_arg(t, 0);
}

static bool attr_no_axes(Typing *t, const Type *type) {
    return is_python_number(type) ? no_attribute(t) : known_int(t, 0);
}

static bool attr_one_item(Typing *t, const Type *type) {
    return is_python_number(type) ? no_attribute(t) : known_int(t, 1);
}

static bool attr_empty_shape(Typing *t, const Type *type) {
    if (is_python_number(type)) return no_attribute(t);
    return typing_become_const(t, const_tuple(t->in->arena, t->in->types, NULL, 0));
}

static bool attr_itemsize(Typing *t, const Type *type) {
    return is_python_number(type) ? no_attribute(t) : known_int(t, (int64_t)type_size(scalar_of(type)));
}

static bool attr_dtype(Typing *t, const Type *type) {
    if (is_python_number(type)) return no_attribute(t);
    const Type *scalar = infer_strong(t->in, scalar_of(type));
    return typing_become_const(t, const_of(t->in->arena, type_with_items(t->in->types, TY_DTYPE, 0, &scalar, 1)));
}

/* ---- slices ---- */

static bool slice_part(Typing *t, const Type *type, size_t part) {
    Fact item = typing_item_fact((Fact){type, t->args[0].konst}, part);
    if (item.konst) return typing_become_const(t, item.konst);
    if (item.type->kind == TY_NONE) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    return typing_result(t, item.type, NULL);
}

static bool attr_slice_start(Typing *t, const Type *type) { return slice_part(t, type, 0); }

static bool attr_slice_stop(Typing *t, const Type *type) { return slice_part(t, type, 1); }

static bool attr_slice_step(Typing *t, const Type *type) { return slice_part(t, type, 2); }

/* ---- arrays ---- */

static bool attr_axes(Typing *t, const Type *type) {
    const Type **items = ARENA_ARRAY(t->in->arena, const Type *, type->ndim);
    for (size_t i = 0; i < type->ndim; i++) items[i] = infer_int(t->in);
    return typing_result(t, type_tuple(t->in->types, items, type->ndim), NULL);
}

static bool attr_shape(Typing *t, const Type *type) {
    const ArrayConst *array = known_array(t, type);
    if (!array) return attr_axes(t, type);
    const Const **known = ARENA_ARRAY(t->in->arena, const Const *, type->ndim);
    for (size_t i = 0; i < type->ndim; i++) known[i] = const_int(t->in->arena, t->in->types, array->shape[i]);
    return typing_become_const(t, const_tuple(t->in->arena, t->in->types, known, type->ndim));
}

static bool attr_ndim(Typing *t, const Type *type) { return known_int(t, type->ndim); }

static bool attr_transposed(Typing *t, const Type *type) {
    if (type->ndim < 2) return typing_become_arg(t, 0);
    ArrayLayout layout = type->layout == LAYOUT_C ? LAYOUT_F : type->layout == LAYOUT_F ? LAYOUT_C : LAYOUT_A;
    return typing_result(t, type_view(t->in->types, type, type->ndim, layout), NULL);
}

static bool attr_matrix_transposed(Typing *t, const Type *type) {
    (void)type;
    t->op = OP_CALL;
    return typing_become_prelude(t, "stacks:method_matrix_transpose");
}

static bool attr_flat(Typing *t, const Type *type) {
    return typing_result(t, type_with_items(t->in->types, TY_FLAT, 0, &type, 1), NULL);
}

static bool attr_flat_base(Typing *t, const Type *type) { return typing_result(t, type->items[0], NULL); }

static bool attr_flags(Typing *t, const Type *type) {
    (void)type;
    t->op = OP_CALL;
    return typing_become_prelude(t, "walking:flags");
}

/* The real scalar of the parts of a complex one. */
static const Type *part_type(Infer *in, const Type *complex) {
    return type_scalar(in->types, complex->scalar == SCALAR_COMPLEX64 ? SCALAR_FLOAT32 : SCALAR_FLOAT64, complex->weak);
}

static bool part_of_array(Typing *t, const Type *type) {
    Infer *in = t->in;
    ArrayLayout layout = type->ndim ? LAYOUT_A : LAYOUT_C;
    const Type *part = part_type(in, type->items[0]);
    const Type like = {.items = &part, .readonly = type->readonly, .unaligned = type->unaligned};
    return typing_result(t, type_view(in->types, &like, type->ndim, layout), NULL);
}

static bool attr_real_part(Typing *t, const Type *type) {
    return type_scalar_kind(type->items[0]) == 'c' ? part_of_array(t, type) : typing_become_arg(t, 0);
}

static bool attr_imag_part(Typing *t, const Type *type) {
    if (type_scalar_kind(type->items[0]) == 'c') return part_of_array(t, type);
    return typing_fail(t, DIAG_UNSUPPORTED, "`imag` of an array of real numbers, %s, would be a new array of zeros",
                       typing_arg_text(t, 0));
}

/* ---- numbers ---- */

/* bool.real is an int, and so is that of a member of an enumeration. */
static const Type *as_number(Infer *in, const Type *type) {
    return type->weak && (type->scalar == SCALAR_BOOL || type->object) ? infer_int(in) : type;
}

static bool attr_real_number(Typing *t, const Type *type) {
    if (type_scalar_kind(type) == 'c') return typing_result(t, part_type(t->in, type), NULL);
    typing_cast(t, 0, as_number(t->in, type));
    return typing_become_arg(t, 0);
}

static bool attr_imag_number(Typing *t, const Type *type) {
    Infer *in = t->in;
    if (type_scalar_kind(type) == 'c') return typing_result(t, part_type(in, type), NULL);
    return typing_become_const(t, typing_konst_cast(in, const_int(in->arena, in->types, 0), as_number(in, type)));
}

static bool attr_numerator(Typing *t, const Type *type) {
    if (!type_is_integer(type) || !type->weak) return no_attribute(t);
    typing_cast(t, 0, as_number(t->in, type));
    return typing_become_arg(t, 0);
}

/* Of a member of an enumeration; its name is known only where the member is. */
static bool attr_enum_value(Typing *t, const Type *type) {
    if (!type->object) return no_attribute(t);
    typing_cast(t, 0, infer_int(t->in));
    return typing_become_arg(t, 0);
}

static bool attr_denominator(Typing *t, const Type *type) {
    return type_is_integer(type) && type->weak ? known_int(t, 1) : no_attribute(t);
}

/* ---- tuples ---- */

static bool attr_field_names(Typing *t, const Type *type) {
    if (!type->names) return unknown_attribute(t);
    const Const **names = ARENA_ARRAY(t->in->arena, const Const *, type->count);
    for (uint32_t i = 0; i < type->count; i++) names[i] = const_str(t->in->arena, t->in->types, type->names[i]);
    return typing_become_const(t, const_tuple(t->in->arena, t->in->types, names, type->count));
}

/* ---- dtypes and classes ---- */

static bool attr_dtype_type(Typing *t, const Type *type) {
    if (type->items[0]->kind != TY_SCALAR) return no_attribute(t);
    return typing_become_const(t, const_of(t->in->arena, type_with_items(t->in->types, TY_CLASS, 0, type->items, 1)));
}

static bool attr_dtype_name(Typing *t, const Type *type) {
    const Type *of = type->items[0];
    if (of->kind == TY_TIME) return known_text(t, type_text(t->in->arena, of));
    if (of->kind == TY_CHARS)
        return known_text(t, arena_printf(t->in->arena, "%s%zu", of->flag ? "str" : "bytes", 8 * type_size(of)));
    if (of->kind != TY_STRUCT) return known_text(t, scalar_info[of->scalar].name);
    const char *name = of->form == STRUCT_RECORD_CLASS ? "record" : "void";
    return known_text(t, arena_printf(t->in->arena, "%s%u", name, 8 * (unsigned)of->bytes));
}

/* Kind and character of what is no scalar. */
static const char *letter_of(const Type *element) {
    if (element->kind == TY_CHARS) return element->flag ? "U" : "S";
    return element->kind == TY_TIME ? (element->flag ? "m" : "M") : "V";
}

static bool attr_dtype_kind(Typing *t, const Type *type) {
    if (type->items[0]->kind != TY_SCALAR) return known_text(t, letter_of(type->items[0]));
    return known_text(t, arena_printf(t->in->arena, "%c", scalar_info[type->items[0]->scalar].kind));
}

static bool attr_dtype_char(Typing *t, const Type *type) {
    if (type->items[0]->kind != TY_SCALAR) return known_text(t, letter_of(type->items[0]));
    return known_text(t, arena_printf(t->in->arena, "%c", scalar_info[type->items[0]->scalar].numpy_char));
}

static bool attr_dtype_str(Typing *t, const Type *type) {
    if (type->items[0]->kind == TY_STRUCT)
        return known_text(t, arena_printf(t->in->arena, "|V%u", (unsigned)type->items[0]->bytes));
    if (type->items[0]->kind == TY_CHARS)
        return known_text(t, arena_printf(t->in->arena, "%c%s", type->items[0]->flag ? '<' : '|',
                                          type_text(t->in->arena, type->items[0])));
    if (type->items[0]->kind == TY_TIME) {
        const char *unit = strchr(type_text(t->in->arena, type->items[0]), '[');
        return known_text(t, arena_printf(t->in->arena, "<%s8%s", letter_of(type->items[0]), unit ? unit : ""));
    }
    const ScalarInfo *info = &scalar_info[type->items[0]->scalar];
    return known_text(t, arena_printf(t->in->arena, "%c%c%u", info->bytes == 1 ? '|' : '<', info->kind, info->bytes));
}

static bool attr_dtype_alignment(Typing *t, const Type *type) {
    if (type->items[0]->kind == TY_STRUCT) return no_attribute(t); /* what the dtype says is not what memory has */
    return known_int(t, (int64_t)type_align(type->items[0]));
}

/* NumPy's class of bools is called bool, as Python's is. */
static bool attr_class_name(Typing *t, const Type *type) {
    const Type *scalar = type->items[0];
    return known_text(t, scalar->weak ? scalar_info[scalar->scalar].weak_name : scalar_info[scalar->scalar].name);
}

/* ---- x.name ---- */

static AttrRule *const attr_rules[ATTR_COUNT] = {
#define ATTR(kind, name, rule, lower, doc) attr_##rule,
#include "ir/ir_attrs.def"
#undef ATTR
};

/* What users have said about a name (krait.extending); of a method the call finds out whether it is for the type. */
static const FuncHead *added_method(Typing *t) {
    const char *name = arena_printf(t->in->arena, "krait.extending.method.%s", t->text);
    return type_table_function(t->in->types, name, strlen(name));
}

/* Of an instance that comes before what its class has, which may be for the interpreter alone: a method that calls a
 * compiled function, which calls the method (structref). */
static bool attribute_of_users(Typing *t, const Type *type, bool *known) {
    const InferHost *host = t->in->host;
    *known = false;
    if (!host->overloads || !type_is_instance(type) || t->after) return true;
    *known = typing_attribute_overload(t);
    const FuncHead *func = *known || t->failed ? NULL : added_method(t);
    if (!func) return !t->failed;
    ObjRef said = 0;
    OverloadRequest request = {func, &type, (const Const *const[]){NULL}, 1, NULL, 0, true};
    TRY(host->overload(host->self, &request, &said));
    *known = said != 0;
    return !*known || typing_result(t, type_func(t->in->types, func), NULL);
}

static bool unknown_attribute(Typing *t) {
    const FuncHead *func = added_method(t);
    if (func) return typing_result(t, type_func(t->in->types, func), NULL);
    if (typing_attribute_overload(t)) return true;
    return !t->failed && no_attribute(t);
}

/* NumPy's, or one that @vectorize made. */
static bool is_ufunc(const Typing *t, const Type *type) {
    const InferHost *host = t->in->host;
    UfuncShape shape;
    if (type->kind == TY_FUNC) return func_row(type->func)->elementwise;
    return type->kind == TY_PYFUNC && host->ufunc(host->self, type->object, &shape) && !shape.count;
}

/* What a ufunc says of itself; for the prelude of one that a user made, `_any_order`: whether it may be reduced over
 * several axes at once, and `_types`, the items of the list that `types` gives anew each time. */
static bool ufunc_attribute(Typing *t, const Type *type, bool *known) {
    const InferHost *host = t->in->host;
    const Const *konst = NULL;
    UfuncShape shape;
    *known = true;
    if (type->kind == TY_PYFUNC && strcmp(t->text, "_any_order") == 0) {
        if (host->ufunc(host->self, type->object, &shape) && !shape.count)
            konst = const_bool(t->in->arena, t->in->types, shape.any_order);
    } else if (type->kind == TY_PYFUNC || type->kind == TY_FUNC) {
        bool items = strcmp(t->text, "_types") == 0;
        konst = host->ufunc_attribute(host->self, type, items ? "types" : t->text);
        if (konst && strcmp(t->text, "types") == 0) return typing_become_prelude(t, "ufuncs:types");
    }
    if (konst) return typing_become_const(t, konst);
    return *known = false;
}

/* map and chain give items, as a generator does, and nothing else. */
static bool is_no_generator(Typing *t, const Type *type) {
    if (type->kind != TY_GENERATOR || t->is_part || t->at->op != OP_GETATTR) return false;
    const char *class = typing_iterator_class(t, value_resolve(t->at->args[0]));
    if (!class) return false;
    typing_fail(t, DIAG_NO_ATTRIBUTE, "'%s' object has no attribute '%s'", class, t->text);
    typing_hint(t,
                "its items are taken by next() and by loops; a generator, (f(x) for x in xs), has send() and close()");
    return true;
}

static bool method(Typing *t, const Type *type) {
    if (is_no_generator(t, type)) return false;
    bool known, fine = ufunc_attribute(t, type, &known);
    if (known) return fine;
    const char *class_name = is_ufunc(t, type) ? "numpy.ufunc" : typing_class_of_methods(type);
    if (!class_name) return unknown_attribute(t);
    const char *name = arena_printf(t->in->arena, "%s.%s", class_name, t->text);
    const FuncHead *func = type_table_function(t->in->types, name, strlen(name));
    const char *const narrower[] = {type_is_integer(type)           ? "numpy.integer"
                                    : type_scalar_kind(type) == 'f' ? "builtins.float"
                                                                    : NULL,
                                    type_is_integer(type) && type->weak ? "builtins.int" : NULL};
    for (size_t i = 0; i < COUNT_OF(narrower) && !func; i++) {
        if (!narrower[i]) continue;
        name = arena_printf(t->in->arena, "%s.%s", narrower[i], t->text);
        func = type_table_function(t->in->types, name, strlen(name));
    }
    if (!func) return unknown_attribute(t);
    return typing_result(t, type_func(t->in->types, func), NULL);
}

/* p.x of a namedtuple or a struct, or what its class has. */
static bool field_of(Typing *t, const Type *type, AttrId attr) {
    int field = t->after ? -1 : type_field(type, t->text);
    if (field > 0 && type_is_shared(type)) return typing_get_attribute(t, type, (unsigned)field);
    if (field >= 0) return typing_become_item(t, 0, (size_t)field);
    bool known, fine = attribute_of_users(t, type, &known);
    if (known || !fine) return fine;
    Member member = typing_member(t, type, t->text, t->after);
    if (member.kind) return typing_become_member(t, type, member);
    return attr < ATTR_COUNT ? attr_rules[attr](t, type) : unknown_attribute(t);
}

/* x.__class__ is type(x). */
static bool class_of_instance(Typing *t, const Type *type) {
    const Const *class = t->in->host->class_of(t->in->host->self, type);
    return class ? typing_become_const(t, class) : no_attribute(t);
}

/* C.__name__, f.__name__: texts, of what is known. */
static const Const *name_of(Typing *t, const Type *type) {
    static const char *const names[] = {"__name__", "__qualname__", "__module__"};
    const char *text = NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(t->text, names[i]) == 0) text = t->in->host->name_of(t->in->host->self, type, names[i]);
    return text ? const_str(t->in->arena, t->in->types, text) : NULL;
}

static bool attribute(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    const Const *name = name_of(t, type);
    if (name) return typing_become_const(t, name);
    if (strcmp(t->text, "__class__") == 0 && type->kind != TY_OBJECT) return class_of_instance(t, type);
    AttrId attr = attr_find(type->kind, t->text);
    bool has_fields = (type->kind == TY_TUPLE && type->object) || type->kind == TY_STRUCT;
    if (has_fields) {
        typing_as(t, 0, type);
        return field_of(t, type, attr);
    }
    bool of_enum = typing_is_member(type), asks = of_enum || type->kind == TY_OBJECT;
    Member member = asks ? typing_member(t, type, t->text, t->after) : (Member){0};
    if (member.kind) return typing_become_member(t, type, member);
    const Const *named = type->kind == TY_OBJECT ? typing_member_named(t, type->object, t->text) : NULL;
    if (named) return typing_become_const(t, named);
    if (of_enum && attr == ATTR_COUNT) {
        bool known;
        if (!typing_member_attribute(t, type, &known) || known) return !t->failed;
        type = typing_plain_type(t, type) ? typing_plain_type(t, type) : type;
    }
    int field = attr == ATTR_COUNT ? typing_attribute_field(type, t->text) : -1;
    if (field >= 0) return typing_get_field(t, type, (unsigned)field);
    if (type != t->args[0].type && !of_enum) typing_cast(t, 0, type);
    return attr < ATTR_COUNT ? attr_rules[attr](t, type) : method(t, type);
}

bool rule_getattr(Typing *t) {
    TRY(attribute(t));
    return !(t->flags & VF_KEPT) || typing_bind_method(t);
}

/* ---- x.name = v ---- */

/* x.field = v of a record, or of an array of them; x.real = v, x.imag = v, x.flat = v: all of the view is assigned. */
static bool refuse_assignment(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    if (type_is_shared(type)) {
        typing_fail(t, DIAG_NO_ATTRIBUTE, "%s has no attribute `%s` that can be assigned in compiled code",
                    typing_arg_text(t, 0), t->text);
        if (typing_member(t, type, t->text, 0).kind == MEMBER_PROPERTY)
            return typing_hint(t, "the property has no setter: write one, @%s.setter", t->text);
        return typing_hint(t, "assigned is what functions of the class assign, as in self.%s = ... in __init__",
                           t->text);
    }
    typing_fail(t, DIAG_TYPING, "attributes of %s cannot be assigned in compiled code", typing_arg_text(t, 0));
    return typing_hint_operands(t, ASSIGNED, t->text);
}

/* x.name = v, where the class has a property with a setter: its call. */
static bool call_setter(Typing *t, const Type *type, const Const *setter) {
    typing_as(t, 0, type);
    Fact facts[3] = {{setter->type, setter}, t->args[0], t->args[1]}, done;
    Value *values[3] = {t->emit ? typing_make_const(t, setter) : NULL, t->values[0], t->values[1]}, *value;
    TRY(typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 3}, &done, &value));
    if (done.type->kind == TY_BOTTOM) return typing_result(t, done.type, NULL);
    return typing_become_const(t, const_none(t->in->arena, t->in->types));
}

bool rule_setattr(Typing *t) {
    Infer *in = t->in;
    const Type *type = infer_content(t->args[0].type);
    Member member = type_is_shared(type) ? typing_member(t, type, t->text, 0) : (Member){0};
    if (member.kind == MEMBER_PROPERTY && member.setter) return call_setter(t, type, member.setter);
    AttrId attr = attr_find(type->kind, t->text);
    int field = type_is_shared(type) ? type_field(type, t->text)
                : attr == ATTR_COUNT ? typing_attribute_field(type, t->text)
                                     : -1;
    if (field > 0 && type_is_shared(type)) return typing_set_attribute(t, type, (unsigned)field);
    if (field >= 0) return type->readonly ? typing_read_only(t) : typing_set_field(t, type, (unsigned)field, 1);
    if (attr != ATTR_ARRAY_real && attr != ATTR_ARRAY_imag && attr != ATTR_ARRAY_flat) return refuse_assignment(t);
    Fact facts[3] = {{NULL, NULL}, {type_simple(in->types, TY_ELLIPSIS), NULL}, t->args[1]}, done;
    Value *values[3] = {NULL, NULL, t->values[1]}, *value;
    facts[1].konst = const_of(in->arena, facts[1].type);
    TRY(typing_sub(t, &(SubOp){.op = OP_GETATTR, .values = t->values, .facts = t->args, .nargs = 1, .text = t->text},
                   &facts[0], &values[0]));
    if (t->emit) values[1] = typing_make_const(t, facts[1].konst);
    TRY(typing_sub(t, &(SubOp){.op = OP_SETITEM, .values = values, .facts = facts, .nargs = 3}, &done, &value));
    return typing_become_const(t, const_none(in->arena, in->types));
}
