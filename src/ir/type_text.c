/* type_text.c: types as text (the forms are listed in types.h; how a kind is written stands in ir_kinds.def). */
#include "ir/type_text.h"

#include <string.h> /* strcspn */

const char *const iter_text[] = {
    [ITER_RANGE] = "iter.range",       [ITER_TUPLE] = "iter.tuple",         [ITER_ARRAY] = "iter.array",
    [ITER_FLAT] = "iter.flat",         [ITER_ENUMERATE] = "iter.enumerate", [ITER_ZIP] = "iter.zip",
    [ITER_REVERSED] = "iter.reversed", [ITER_LIST] = "iter.list",           [ITER_GENERATOR] = "iter.generator",
};

/* The word, the class and its number. */
static void print_class(Buf *buf, const char *what, const Type *type) {
    buf_printf(buf, "%s%s%s#%u", what, type->title ? " " : "", type->title ? type->title : "", (unsigned)type->object);
}

static void print_named(Buf *buf, const Type *type) {
    const char *what = type->kind == TY_TUPLE ? "named"
                       : type_is_shared(type) ? "shared"
                       : type->flag           ? "frozen"
                                              : "instance";
    print_class(buf, what, type);
    buf_putc(buf, '(');
    for (uint32_t i = 0; i < type->count; i++) {
        if (i) buf_puts(buf, ", ");
        if (*type->names[i] || type->kind == TY_TUPLE) buf_printf(buf, "%s: ", type->names[i]);
        type_print(buf, type->items[i]);
    }
    buf_putc(buf, ')');
}

/* A name of a field may be any text. */
static void print_name(Buf *buf, const char *name) {
    if (type_text_is_word(name)) {
        buf_puts(buf, name);
        return;
    }
    buf_putc(buf, '"');
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') buf_putc(buf, '\\');
        buf_putc(buf, *name);
    }
    buf_putc(buf, '"');
}

static void print_struct(Buf *buf, const Type *type) {
    if (type_is_instance(type)) {
        print_named(buf, type);
        return;
    }
    if (type->form == STRUCT_VECTOR) {
        buf_printf(buf, "%sx%u", scalar_info[type->items[0]->scalar].name, (unsigned)type->count);
        return;
    }
    buf_puts(buf, type->form == STRUCT_RECORD ? "record(" : "recordclass(");
    for (uint32_t i = 0; i < type->count; i++) {
        if (i) buf_puts(buf, ", ");
        print_name(buf, type->names[i]);
        buf_puts(buf, ": ");
        type_print(buf, type->items[i]);
        buf_printf(buf, " @ %u", (unsigned)type->places[i]);
    }
    buf_printf(buf, "; %u, %u)", (unsigned)type->bytes, type->align);
}

static void print_array(Buf *buf, const Type *type) {
    buf_puts(buf, type->record ? "ref(" : "array(");
    type_print(buf, type->items[0]);
    if (!type->record) buf_printf(buf, ", %u, %c", type->ndim, "CFA"[type->layout]);
    buf_printf(buf, "%s%s)", type->readonly ? ", readonly" : "", type->unaligned ? ", unaligned" : "");
}

static void print_nested(Buf *buf, const Type *type) {
    buf_puts(buf, "nested(");
    type_print(buf, type->items[0]);
    for (unsigned i = 0; i < type->ndim; i++) buf_printf(buf, ", %u", (unsigned)type->places[i]);
    buf_putc(buf, ')');
}

static void print_time(Buf *buf, const Type *type) {
    buf_puts(buf, type->flag ? "timedelta64" : "datetime64");
    if (type->form == TIME_GENERIC) return;
    buf_putc(buf, '[');
    if (type->bytes != 1) buf_printf(buf, "%u", (unsigned)type->bytes);
    buf_printf(buf, "%s]", time_unit_name((TimeUnit)type->form));
}

static const char *scalar_text(const Type *type) {
    if (type->weak) return scalar_info[type->scalar].weak_name;
    return type->scalar == SCALAR_BOOL ? "bool_" : scalar_info[type->scalar].name;
}

static void print_items(Buf *buf, const Type *type) {
    buf_putc(buf, '(');
    for (uint32_t i = 0; i < type->count; i++) {
        if (i) buf_puts(buf, ", ");
        type_print(buf, type->items[i]);
    }
    if (type->kind == TY_TUPLE && type->count == 1) buf_putc(buf, ',');
    buf_putc(buf, ')');
}

/* What it holds; how it lies in memory is the same for all. */
static void print_table(Buf *buf, const Type *type) {
    buf_putc(buf, '(');
    type_print(buf, type_key(type));
    if (type->kind == TY_DICT) {
        buf_puts(buf, ", ");
        type_print(buf, type_dict_value(type));
    }
    buf_putc(buf, ')');
}

static void print_func(Buf *buf, const FuncHead *func) {
    buf_puts(buf, "func(");
    size_t length = strcspn(func->names, " ");
    if (length)
        buf_write(buf, func->names, length);
    else
        buf_puts(buf, func->key);
    buf_putc(buf, ')');
}

void type_print(Buf *buf, const Type *type) {
    switch (type->kind) {
    case TY_SCALAR:
        if (type->object)
            print_class(buf, type->flag ? "flag" : "enum", type);
        else
            buf_puts(buf, scalar_text(type));
        return;
    case TY_TUPLE:
        if (type->object)
            print_named(buf, type);
        else
            print_items(buf, type);
        return;
    case TY_OPTIONAL:
        type_print(buf, type->items[0]);
        buf_putc(buf, '?');
        return;
    case TY_ARRAY: print_array(buf, type); return;
    case TY_STRUCT: print_struct(buf, type); return;
    case TY_NESTED: print_nested(buf, type); return;
    case TY_TIME: print_time(buf, type); return;
    case TY_MEMBER: print_class(buf, type->flag ? "bits" : "member", type); return;
    case TY_CHARS: buf_printf(buf, "%c%u", type->flag ? 'U' : 'S', (unsigned)type->bytes); return;
    case TY_ITER:
        buf_puts(buf, iter_text[type->iter]);
        print_items(buf, type);
        return;
    case TY_FUNC: print_func(buf, type->func); return;
    default: break;
    }
    KindForm form = kind_text[type->kind].form;
    buf_puts(buf, kind_text[type->kind].name);
    if (form == FORM_OBJECT || (form == FORM_OBJECT_ITEMS && (type->object || type->kind != TY_CLASS)))
        buf_printf(buf, "#%u", (unsigned)type->object);
    if (form == FORM_ITEMS || form == FORM_OBJECT_ITEMS) print_items(buf, type);
    if (form == FORM_TABLE) print_table(buf, type);
}

const char *type_text(Arena *arena, const Type *type) {
    Buf buf;
    buf_init(&buf, arena);
    type_print(&buf, type);
    return buf.text;
}
