/* texts.c: f-strings.
 *
 * Input: the canonical instructions format, convert and string.  Output: a constant str where every value is a
 * constant, formatted here by Python itself.  Else a Text: a template for str.format and the values it is applied to.
 * There are no strings at run time, so a Text may only be an argument of an exception: the call of the class then has,
 * in its place, the template (FRONTEND_TEMPLATE_MARK) and the values, and frontend_expand_templates makes the text when
 * the exception is made. */
#include "frontend/translate.h"

#include <stdlib.h> /* strtol */
#include <string.h> /* strncmp, strpbrk */

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

Value *translate_text_template(Translator *t, const Text *text) {
    const char *marked = arena_printf(t->arena, FRONTEND_TEMPLATE_MARK "%zu:%s", text->count, text->template);
    return translate_append_const(t, const_str(t->arena, t->types, marked));
}

/* ---- when the exception is made ---- */

/* The text of a template and the values after it: items i + 1 ... of the tuple; *taken: how many.  NULL without
 * exception: no template. */
static PyObject *expand(PyObject *arguments, Py_ssize_t i, Py_ssize_t *taken) {
    PyObject *item = PyTuple_GET_ITEM(arguments, i);
    const char *text = PyUnicode_Check(item) ? PyUnicode_AsUTF8(item) : NULL;
    if (!text || strncmp(text, FRONTEND_TEMPLATE_MARK, strlen(FRONTEND_TEMPLATE_MARK)) != 0) return NULL;
    char *colon;
    *taken = (Py_ssize_t)strtol(text + strlen(FRONTEND_TEMPLATE_MARK), &colon, 10);
    if (*colon != ':' || *taken > PyTuple_GET_SIZE(arguments) - i - 1) return NULL;
    PyObject *template = PyUnicode_FromString(colon + 1);
    PyObject *format = template ? PyObject_GetAttrString(template, "format") : NULL;
    PyObject *values = format ? PyTuple_GetSlice(arguments, i + 1, i + 1 + *taken) : NULL;
    PyObject *result = values ? PyObject_CallObject(format, values) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(format);
    Py_XDECREF(template);
    return result;
}

PyObject *frontend_expand_templates(PyObject *arguments) {
    PyObject *list = PyList_New(0), *result = NULL;
    if (!list) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); i++) {
        Py_ssize_t taken = 0;
        PyObject *item = expand(arguments, i, &taken);
        if (!item && PyErr_Occurred()) goto done;
        if (!item) item = Py_NewRef(PyTuple_GET_ITEM(arguments, i));
        int status = PyList_Append(list, item);
        Py_DECREF(item);
        if (status < 0) goto done;
        i += taken;
    }
    result = PyList_AsTuple(list);
done:
    Py_DECREF(list);
    return result;
}
