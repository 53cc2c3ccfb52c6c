/* texts.c: f-strings.
 *
 * Input: the canonical instructions format, convert and string.  Output: a constant str where every value is a
 * constant, formatted here by Python itself.  Else a Text: a template for str.format and the values it is applied to.
 * There are no strings at run time, so a Text may only be an argument of an exception: there it becomes a `format`, and
 * the text is made when the exception is. */
#include "frontend/translate.h"

#include <string.h> /* strpbrk */

bool translate_refuse_text(Translator *t, Span span) {
    diag_fail(t->diag, DIAG_UNSUPPORTED, t->source, span,
              "f-strings of values that are not constants are compiled only as arguments of an exception");
    diag_hint(t->diag,
              "in an exception write it where that is raised, raise ValueError(f\"...\"); other text is made after the "
              "call, from the values that it returns");
    return false;
}

/* ---- constants ---- */

/* The Python object of a constant; a new reference, NULL without exception where there is none. */
static PyObject *const_object(const Value *value) {
    if (value->op != OP_CONST || value->konst->too_big) return NULL;
    const Const *konst = value->konst;
    if (konst->type->kind == TY_NONE) return Py_NewRef(Py_None);
    if (konst->type->kind == TY_STR) return PyUnicode_FromString(konst->text);
    if (konst->type->kind != TY_SCALAR || !konst->type->weak) return NULL;
    switch (type_scalar_kind(konst->type)) {
    case 'b': return PyBool_FromLong(konst->i != 0);
    case 'i': return PyLong_FromLongLong(konst->i);
    case 'f': return PyFloat_FromDouble(konst->f);
    default: return PyComplex_FromDoubles(konst->c.re, konst->c.im);
    }
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

/* A constant, converted and formatted; false: diag says why not. */
static bool push_formatted(Translator *t, PyObject *object, int how, const char *spec) {
    PyObject *converted = frontend_keep(t->frontend, convert(object, how));
    PyObject *format = frontend_keep(t->frontend, PyUnicode_FromString(spec));
    PyObject *text = converted && format ? frontend_keep(t->frontend, PyObject_Format(converted, format)) : NULL;
    if (text) return translate_push_object(t, text);
    return frontend_python_failed(t->frontend, t->source, t->span, "the constant cannot be formatted");
}

/* ---- templates ---- */

static bool push_text(Translator *t, const char *template, Value **values, size_t count, char converted) {
    Text *text = ARENA_NEW(t->arena, Text);
    *text = (Text){template, values, count, converted};
    translate_push(t, (Slot){.kind = SLOT_TEXT, .span = t->span, .text = text});
    return true;
}

/* One value: "{!r:spec}". */
static bool push_field(Translator *t, Value *value, char conversion, const char *spec) {
    if (strpbrk(spec, "{}")) return translate_refuse_text(t, t->span);
    char how[3] = {conversion ? '!' : 0, conversion, 0};
    Value **values = ARENA_ARRAY(t->arena, Value *, 1);
    values[0] = value;
    return push_text(t, arena_printf(t->arena, "{%s%s%s}", how, *spec ? ":" : "", spec), values, 1, conversion);
}

static const char conversions[] = {0, 's', 'r', 'a'};

/* arg: 1 str, 2 repr, 3 ascii first; 4: a format is on top. */
bool insn_format(Translator *t, int arg) {
    Slot on_top = arg & 4 ? translate_pop(t) : (Slot){.kind = SLOT_NULL}, slot = translate_pop(t);
    const char *spec = arg & 4 ? const_text(&on_top) : "";
    if (!spec) return translate_refuse_text(t, t->span);
    if (slot.kind == SLOT_TEXT) { /* converted before */
        if (!slot.text->converted) return translate_refuse_text(t, t->span);
        return push_field(t, slot.text->values[0], slot.text->converted, spec);
    }
    Value *value = translate_slot_value(t, slot, false);
    TRY(value);
    PyObject *object = frontend_keep(t->frontend, const_object(value));
    if (object) return push_formatted(t, object, arg & 3, spec);
    if (PyErr_Occurred()) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a constant");
    return push_field(t, value, conversions[arg & 3], spec);
}

bool insn_convert(Translator *t, int how) {
    Value *value = translate_pop_value(t);
    TRY(value);
    PyObject *object = frontend_keep(t->frontend, const_object(value));
    if (object) return push_formatted(t, object, how, "");
    if (PyErr_Occurred()) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a constant");
    return push_field(t, value, conversions[how & 3], "");
}

static void put_escaped(Buf *buf, const char *text) {
    for (; *text; text++) {
        if (*text == '{' || *text == '}') buf_putc(buf, *text);
        buf_putc(buf, *text);
    }
}

bool insn_string(Translator *t, int count) {
    Slot *parts = ARENA_ARRAY(t->arena, Slot, count);
    size_t nvalues = 0;
    bool constant = true;
    for (int i = count; i-- > 0;) {
        parts[i] = translate_pop(t);
        bool is_text = parts[i].kind == SLOT_TEXT;
        if (!is_text && !const_text(&parts[i])) return translate_refuse_text(t, parts[i].span);
        constant &= !is_text;
        nvalues += is_text ? parts[i].text->count : 0;
    }
    Buf buf;
    buf_init(&buf, t->arena);
    buf_puts(&buf, "");
    Value **values = ARENA_ARRAY(t->arena, Value *, nvalues);
    nvalues = 0;
    for (int i = 0; i < count; i++) {
        if (constant) {
            buf_puts(&buf, const_text(&parts[i]));
        } else if (parts[i].kind == SLOT_TEXT) {
            buf_puts(&buf, parts[i].text->template);
            for (size_t v = 0; v < parts[i].text->count; v++) values[nvalues++] = parts[i].text->values[v];
        } else {
            put_escaped(&buf, const_text(&parts[i]));
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
