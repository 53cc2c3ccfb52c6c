/* texts.c: f-strings.
 *
 * Input: the canonical instructions format, convert and string.  Output: a constant str where every value is a
 * constant, formatted here by Python itself.  Else a Text: a template for str.format and the values it is applied to,
 * which becomes a `format`: an exception that has it as an argument makes the text when it is raised. */
#include "frontend/translate.h"

#include <string.h> /* strpbrk */

static bool refuse_text(Translator *t) {
    diag_fail(t->diag, DIAG_UNSUPPORTED, t->source, t->span, "a format with braces in it is not compiled");
    diag_hint(t->diag, "put the values in parts of their own");
    return false;
}

/* ---- constants ---- */

PyObject *translate_const_object(const Const *konst) {
    if (konst->too_big) return NULL;
    if (konst->type->kind == TY_NONE) return Py_NewRef(Py_None);
    if (konst->type->kind == TY_STR) return PyUnicode_FromString(konst->text);
    if (konst->type->kind != TY_SCALAR || !konst->type->weak) return NULL;
    if (konst->type->object) return NULL; /* a member of an enumeration, whose class may have words of its own */
    switch (type_scalar_kind(konst->type)) {
    case 'b': return PyBool_FromLong(konst->i != 0);
    case 'i': return PyLong_FromLongLong(konst->i);
    case 'f': return PyFloat_FromDouble(konst->f);
    default: return PyComplex_FromDoubles(konst->c.re, konst->c.im);
    }
}

static PyObject *const_object(const Value *value) {
    return value->op == OP_CONST ? translate_const_object(value->konst) : NULL;
}

static PyObject *convert(PyObject *object, int how) {
    switch (how) {
    case 1: return PyObject_Str(object);
    case 2: return PyObject_Repr(object);
    case 3: return PyObject_ASCII(object);
    default: return Py_NewRef(object);
    }
}

static const char *const_text(const Slot *slot) {
    if (slot->kind != SLOT_VALUE || slot->value->op != OP_CONST || slot->value->konst->type->kind != TY_STR)
        return NULL;
    return slot->value->konst->text;
}

/* A constant, converted and formatted. */
static bool push_formatted(Translator *t, PyObject *object, int how, const char *spec) {
    PyObject *converted = frontend_keep(t->frontend, convert(object, how));
    PyObject *format = frontend_keep(t->frontend, PyUnicode_FromString(spec));
    PyObject *text = converted && format ? frontend_keep(t->frontend, PyObject_Format(converted, format)) : NULL;
    if (text) return translate_push_object(t, text);
    return translate_raise_pending(t, "the constant cannot be formatted");
}

/* ---- templates ---- */

static bool push_text(Translator *t, const char *template, Value **values, size_t count, char converted) {
    Text *text = ARENA_NEW(t->arena, Text);
    *text = (Text){template, values, count, converted};
    translate_push(t, (Slot){.kind = SLOT_TEXT, .span = t->span, .text = text});
    return true;
}

/* One value, "{!r:spec}", and the values that its format has. */
static bool push_field(Translator *t, Value *value, char conversion, const char *spec, const Text *more) {
    if (more ? strstr(spec, "{{") || strstr(spec, "}}") : strpbrk(spec, "{}") != NULL) return refuse_text(t);
    char how[3] = {conversion ? '!' : 0, conversion, 0};
    size_t count = 1 + (more ? more->count : 0);
    Value **values = ARENA_ARRAY(t->arena, Value *, count);
    values[0] = value;
    for (size_t i = 1; i < count; i++) values[i] = more->values[i - 1];
    return push_text(t, arena_printf(t->arena, "{%s%s%s}", how, *spec ? ":" : "", spec), values, count, conversion);
}

/* What a slot adds to a text, if it is not known: a text itself, or a string; NULL: it is known. */
static const Text *text_of(Translator *t, Slot slot) {
    if (slot.kind == SLOT_TEXT) return slot.text;
    if (slot.kind != SLOT_VALUE || const_text(&slot)) return NULL;
    Text *text = ARENA_NEW(t->arena, Text);
    Value **value = ARENA_NEW(t->arena, Value *);
    *value = slot.value;
    *text = (Text){"{}", value, 1, 0};
    return text;
}

static const char conversions[] = {0, 's', 'r', 'a'};

/* arg: 1 str, 2 repr, 3 ascii first; 4: a format is on top. */
bool insn_format(Translator *t, int arg) {
    Slot on_top = arg & 4 ? translate_pop(t) : (Slot){.kind = SLOT_NULL}, slot = translate_pop(t);
    const Text *more = arg & 4 ? text_of(t, on_top) : NULL;
    const char *spec = more ? more->template : arg & 4 ? const_text(&on_top) : "";
    if (!spec) return refuse_text(t);
    if (slot.kind == SLOT_TEXT && slot.text->converted) /* before */
        return push_field(t, slot.text->values[0], slot.text->converted, spec, more);
    Value *value = translate_slot_value(t, slot, false);
    TRY(value);
    PyObject *object = frontend_keep(t->frontend, const_object(value));
    if (object && !more) return push_formatted(t, object, arg & 3, spec);
    if (PyErr_Occurred()) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a constant");
    return push_field(t, value, conversions[arg & 3], spec, more);
}

bool insn_convert(Translator *t, int how) {
    Value *value = translate_pop_value(t);
    TRY(value);
    PyObject *object = frontend_keep(t->frontend, const_object(value));
    if (object) return push_formatted(t, object, how, "");
    if (PyErr_Occurred()) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a constant");
    return push_field(t, value, conversions[how & 3], "", NULL);
}

static void put_escaped(Buf *buf, const char *text) {
    for (; *text; text++) {
        if (*text == '{' || *text == '}') buf_putc(buf, *text);
        buf_putc(buf, *text);
    }
}

bool insn_string(Translator *t, int count) {
    const char **known = ARENA_ARRAY(t->arena, const char *, count);
    const Text **texts = ARENA_ARRAY(t->arena, const Text *, count);
    size_t nvalues = 0;
    bool constant = true;
    for (int i = count; i-- > 0;) {
        Slot part = translate_pop(t);
        known[i] = const_text(&part);
        texts[i] = known[i] ? NULL : text_of(t, part);
        if (!known[i] && !texts[i]) return translate_malformed(t, "a part of an f-string is missing");
        constant &= known[i] != NULL;
        nvalues += known[i] ? 0 : texts[i]->count;
    }
    Buf buf;
    buf_init(&buf, t->arena);
    buf_puts(&buf, "");
    Value **values = ARENA_ARRAY(t->arena, Value *, nvalues);
    nvalues = 0;
    for (int i = 0; i < count; i++) {
        if (constant) {
            buf_puts(&buf, known[i]);
        } else if (known[i]) {
            put_escaped(&buf, known[i]);
        } else {
            buf_puts(&buf, texts[i]->template);
            for (size_t v = 0; v < texts[i]->count; v++) values[nvalues++] = texts[i]->values[v];
        }
    }
    if (!constant) return push_text(t, buf.text, values, nvalues, 0);
    translate_push_value(t, translate_append_const(t, const_str(t->arena, t->types, buf.text)));
    return true;
}

Value *translate_text_value(Translator *t, const Text *text) {
    Value **operands = ARENA_ARRAY(t->arena, Value *, text->count + 1);
    operands[0] = translate_append_const(t, const_str(t->arena, t->types, text->template));
    for (size_t i = 0; i < text->count; i++) operands[i + 1] = text->values[i];
    return translate_append(t, OP_FORMAT, operands, text->count + 1);
}
