/* rules_kernel_text.c: texts that kernels make: "%d: %g" % (i, x), "{}: {:g}".format(i, x), str(x), format(x, ".2f").
 *
 * In: a template that is known, and values.  Out: what an f-string is: a template in which every field is `{...}` and
 * stands for the next value.  The host makes the text, where it prints or raises it. */
#include <string.h> /* memchr, strchr, strcspn, strlen, strncmp, strpbrk, strspn */

#include "typeinfer/rules.h"

typedef struct Fields {
    Typing *t;
    Buf template;
    const Type **types; /* of the template, and of what is put into it */
    Value **values;     /* not while solving */
    size_t count, room;
} Fields;

static void fields_init(Fields *fields, Typing *t, size_t room) {
    *fields = (Fields){.t = t, .count = 1, .room = room + 1};
    fields->types = ARENA_ARRAY(t->in->arena, const Type *, room + 1);
    fields->values = ARENA_ARRAY(t->in->arena, Value *, room + 1);
    buf_init(&fields->template, t->in->arena);
}

static void put(Fields *fields, const Type *type, Value *value) {
    fields->types[fields->count] = type;
    fields->values[fields->count++] = value;
}

static void put_arg(Fields *fields, size_t arg) { put(fields, fields->t->args[arg].type, fields->t->values[arg]); }

/* A character of the text itself. */
static void put_char(Fields *fields, char c) {
    if (c == '{' || c == '}') buf_putc(&fields->template, c);
    buf_putc(&fields->template, c);
}

static bool fields_done(Fields *fields) {
    Typing *t = fields->t;
    const Const *template = const_str(t->in->arena, t->in->types, fields->template.text);
    fields->types[0] = template->type;
    const Type *text = type_with_items(t->in->types, TY_TEXT, 0, fields->types, fields->count);
    if (!t->emit) return typing_become(t, NULL, text);
    fields->values[0] = typing_make_const(t, template);
    return typing_become(t, typing_make_op(t, OP_FORMAT, text, fields->values, fields->count), text);
}

static bool refuse_field(Typing *t, const char *field, size_t length) {
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "a kernel does not put a value into a text by `%.*s`", (int)length, field);
    return typing_hint(t, "an f-string says the same: f\"{x:>8.3f}\"");
}

static const char *known_text(const Typing *t, size_t arg) {
    const Fact *fact = &t->args[arg];
    return fact->type->kind == TY_STR && fact->konst ? fact->konst->text : NULL;
}

/* It is an int, or stands for one: numpy.bool does not. */
static bool has_index(const Type *type) {
    char kind = type_is_scalar(type) ? type_scalar_kind(type) : 0;
    return kind == 'b' ? type->weak : kind == 'i' || kind == 'u';
}

/* ---- "..." % values ---- */

typedef struct Percent {
    bool left, zero, alternate;
    char sign; /* '+', ' ' or 0 */
    const char *width, *precision;
    int width_length, precision_length;
    char kind;
} Percent;

/* From behind the `%`; NULL: it is none that is understood.  Else what is behind it. */
static const char *read_percent(const char *at, Percent *percent) {
    *percent = (Percent){0};
    for (; *at && strchr("-0#+ ", *at); at++) {
        percent->left |= *at == '-';
        percent->zero |= *at == '0';
        percent->alternate |= *at == '#';
        if (*at == '+' || (*at == ' ' && !percent->sign)) percent->sign = *at;
    }
    percent->width = at;
    at += percent->width_length = (int)strspn(at, "0123456789");
    if (*at == '.') {
        percent->precision = ++at;
        at += percent->precision_length = (int)strspn(at, "0123456789");
    }
    at += *at && strchr("hlL", *at);
    percent->kind = *at;
    return *at && strchr("diouxXeEfFgGcrsa", *at) ? at + 1 : NULL;
}

/* The same for str.format, which takes a float of 16 or 32 bits for one of 64 unless it is told `!s`, and no sign of a
 * character.  `real`: a float, which a field of ints shows without its fraction, and never as -0. */
static void write_percent(Buf *out, const Percent *percent, bool text, bool real) {
    char kind = percent->kind;
    bool whole = strchr("diu", kind), written = strchr("rsa", kind), number = !written && kind != 'c';
    bool plain = !percent->width_length && !percent->precision;
    buf_putc(out, '{');
    if (written) buf_printf(out, "!%c", kind);
    if (written && plain) {
        buf_putc(out, '}');
        return;
    }
    buf_putc(out, ':');
    if (percent->width_length) buf_putc(out, percent->left ? '<' : number && percent->zero ? '=' : '>');
    if (number) {
        if (percent->sign) buf_putc(out, percent->sign);
        if (whole && real) buf_putc(out, 'z');
        if (percent->alternate) buf_putc(out, '#');
        if (percent->zero && !percent->left && percent->width_length) buf_putc(out, '0');
    }
    buf_printf(out, "%.*s", percent->width_length, percent->width);
    if (percent->precision)
        buf_printf(out, ".%.*s", percent->precision_length ? percent->precision_length : 1,
                   percent->precision_length ? percent->precision : "0");
    if (whole && real)
        buf_puts(out, ".0f");
    else if (!written && !text)
        buf_putc(out, whole ? 'd' : kind);
    buf_putc(out, '}');
}

/* A value that `%d`, `%x`, `%c`, `%g`, ... does not take; in the interpreter's words. */
static bool refuse_value(Typing *t, char kind, const Type *type) {
    bool whole = strchr("diu", kind);
    if (kind == 'c')
        typing_fail(t, DIAG_TYPING, "%%c requires int or char, not %s", type_text(t->in->arena, type));
    else if (whole || strchr("oxX", kind))
        typing_fail(t, DIAG_TYPING, "%%%c format: %s is required, not %s", kind, whole ? "a real number" : "an integer",
                    type_text(t->in->arena, type));
    else
        typing_fail(t, DIAG_TYPING, "`%%%c`: must be real number, not %s", kind, type_text(t->in->arena, type));
    return typing_hint(t, "%%s takes any value");
}

/* A float as `%d` shows it; not as an int, which has no infinity and ends at 2**63. */
static Value *without_fraction(Typing *t, Value *value) {
    const Type *real = infer_scalar(t->in, SCALAR_FLOAT64, true);
    if (!t->emit) return NULL;
    value = typing_make_cast(t, value, real);
    return typing_make_func(t, FUNC_NP_TRUNC, real, &value, 1);
}

/* One value of `"..." % (...)`. */
static bool put_percent(Fields *fields, const Percent *percent, const Type *type, Value *value, const char *field,
                        size_t length) {
    Typing *t = fields->t;
    char kind = percent->kind, of = type_is_scalar(type) ? type_scalar_kind(type) : 0;
    bool text = kind == 'c' && type->kind == TY_STR, whole = strchr("diu", kind), integer = strchr("oxXc", kind);
    if ((whole || integer) && percent->precision) return refuse_field(t, field, length);
    if (strchr("rsa", kind) || text) {
        write_percent(&fields->template, percent, text, false);
        put(fields, type, value);
        return true;
    }
    bool real = of == 'f', number = of && strchr("biuf", of);
    if (integer ? !has_index(type) : !number) return refuse_value(t, kind, type);
    write_percent(&fields->template, percent, false, real);
    if (whole && real)
        put(fields, infer_scalar(t->in, SCALAR_FLOAT64, true), without_fraction(t, value));
    else
        put(fields, type, value);
    return true;
}

static bool wrong_count(Typing *t, size_t fields, size_t values) {
    typing_fail(t, DIAG_TYPING, "the text has %zu field%s, and there %s %zu value%s", fields, fields == 1 ? "" : "s",
                values == 1 ? "is" : "are", values, values == 1 ? "" : "s");
    return typing_hint(t, "\"%%d: %%g\" %% (i, x): a value for each field; %%%% is a percent sign");
}

static size_t count_percents(const char *text) {
    size_t count = 0;
    for (; (text = strchr(text, '%')) != NULL; text++) {
        if (text[1] == '%')
            text++;
        else
            count++;
    }
    return count;
}

/* The operand 0 is known. */
static bool percent_text(Typing *t, const char *text) {
    const Type *right = t->args[1].type;
    bool tuple = right->kind == TY_TUPLE;
    size_t count = tuple ? right->count : 1, wanted = count_percents(text), at = 0;
    Fields fields;
    if (wanted != count) return wrong_count(t, wanted, count);
    fields_init(&fields, t, count);
    while (*text) {
        if (*text != '%' || text[1] == '%') {
            text += *text == '%';
            put_char(&fields, *text++);
            continue;
        }
        Percent percent;
        const char *end = read_percent(text + 1, &percent);
        if (!end) return refuse_field(t, text, strcspn(text, " ,;:\n"));
        const Type *type = tuple ? right->items[at] : right;
        Value *value = !t->emit ? NULL : tuple ? typing_make_extract(t, t->values[1], at) : t->values[1];
        TRY(put_percent(&fields, &percent, type, value, text, (size_t)(end - text)));
        text = end;
        at++;
    }
    return fields_done(&fields);
}

/* ---- "...".format(values) ---- */

typedef struct Numbering {
    size_t next;
    char kind; /* of the fields until now: 'a'utomatic, 'm'anual, 0: neither yet */
} Numbering;

/* Fields are numbered by the text or in their order, not both. */
static bool numbered_alike(Typing *t, Numbering *numbering, char kind) {
    bool automatic = kind == 'a';
    if (numbering->kind && numbering->kind != kind)
        return typing_fail(t, DIAG_TYPING, "cannot switch from %s to %s",
                           automatic ? "manual field specification" : "automatic field numbering",
                           automatic ? "automatic field numbering" : "manual field specification");
    numbering->kind = kind;
    return true;
}

/* The argument that a field of `length` characters names; 0: none. */
static size_t named_arg(const Typing *t, const char *name, size_t length, Numbering *numbering) {
    size_t places = t->nargs - t->nnames; /* the text itself is the first */
    if (length == 0 || strspn(name, "0123456789") >= length) {
        size_t at = numbering->next;
        if (length == 0) numbering->next++;
        if (length > 0)
            for (at = 0; length && at < places; length--) at = at * 10 + (size_t)(*name++ - '0');
        return at + 1 < places ? at + 1 : 0;
    }
    for (size_t i = 0; i < t->nnames; i++)
        if (strlen(t->names[i]) == length && !strncmp(t->names[i], name, length)) return places + i;
    return 0;
}

static bool format_text(Typing *t, const char *text) {
    static const char name_letters[] = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t room = 0;
    Numbering numbering = {0};
    for (const char *at = text; *at; at++) room += *at == '{';
    Fields fields;
    fields_init(&fields, t, room);
    while (*text) {
        if (*text != '{' || text[1] == '{') {
            if (*text == '}' && text[1] != '}') return refuse_field(t, text, 1);
            text += *text == '{' || *text == '}';
            put_char(&fields, *text++);
            continue;
        }
        size_t length = strcspn(text, "}"), name = strcspn(text + 1, "!:}");
        if (strspn(text + 1, "0123456789") >= name) TRY(numbered_alike(t, &numbering, name ? 'm' : 'a'));
        size_t arg = named_arg(t, text + 1, name, &numbering);
        bool plain = text[length] && !memchr(text + 1, '{', length - 1) && name == strspn(text + 1, name_letters);
        if (!plain) return refuse_field(t, text, length + 1);
        if (!arg) {
            typing_fail(t, DIAG_TYPING, "there is no value for the field `%.*s`", (int)length + 1, text);
            return typing_hint(t, "a text is written {{ and }} for braces of its own");
        }
        buf_printf(&fields.template, "{%.*s}", (int)(length - 1 - name), text + 1 + name);
        put_arg(&fields, arg);
        text += length + 1;
    }
    return fields_done(&fields);
}

/* ---- the door ---- */

/* One value, in the template. */
static bool single(Typing *t, const char *template) {
    Fields fields;
    fields_init(&fields, t, 1);
    buf_puts(&fields.template, template);
    put_arg(&fields, 0);
    return fields_done(&fields);
}

static bool joined(Typing *t) {
    Fields fields;
    fields_init(&fields, t, 2);
    buf_puts(&fields.template, "{}{}");
    put_arg(&fields, 0);
    put_arg(&fields, 1);
    return fields_done(&fields);
}

bool typing_kernel_text(Typing *t, bool *made) {
    static const struct {
        FuncId func;
        const char *template;
        bool of_ints; /* else of any value */
    } rows[] = {
        {FUNC_STR, "{!s}", false}, {FUNC_REPR, "{!r}", false}, {FUNC_ASCII, "{!a}", false},
        {FUNC_HEX, "{:#x}", true}, {FUNC_OCT, "{:#o}", true},  {FUNC_BIN, "{:#b}", true},
    };
    const char *text = t->nargs ? known_text(t, 0) : NULL;
    *made = t->in->device && t->nargs;
    if (!*made) return true;
    if (t->op == OP_MOD && text) return percent_text(t, text);
    if (t->op == OP_ADD && typing_is_text(t->args[0].type) && typing_is_text(t->args[1].type)) return joined(t);
    if (t->op == OP_CALL && t->func == FUNC_STR_FORMAT && text) return format_text(t, text);
    if (t->op == OP_CALL && t->func == FUNC_FORMAT && t->nargs <= 2) {
        const char *spec = t->nargs == 2 ? known_text(t, 1) : "";
        if (spec && !strpbrk(spec, "{}")) return single(t, *spec ? arena_printf(t->in->arena, "{:%s}", spec) : "{}");
    }
    for (size_t i = 0; t->op == OP_CALL && i < COUNT_OF(rows); i++) {
        if (rows[i].func != t->func || t->nargs != 1) continue;
        if (rows[i].of_ints && !has_index(t->args[0].type))
            return typing_fail(t, DIAG_TYPING, "'%s' object cannot be interpreted as an integer",
                               type_text(t->in->arena, t->args[0].type));
        return single(t, rows[i].template);
    }
    *made = false;
    return true;
}
