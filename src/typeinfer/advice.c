/* advice.c: how messages name types and objects, and what they advise where something is not compiled yet.
 *
 * In: a type, or the full name of a library function ("numpy.zeros") or method ("array.sum").  Out: text.  Dumps show
 * functions and objects by number (type_print); a message shows the name that the user gave them. */
#include <string.h> /* strcspn, strncmp */

#include "typeinfer/infer.h"

static const char *object_name(Infer *in, const Type *type) {
    return in->host->object_name(in->host->self, type->object);
}

static void print_items(Infer *in, Buf *buf, const Type *type) {
    buf_putc(buf, '(');
    for (uint32_t i = 0; i < type->count; i++) {
        if (i) buf_puts(buf, ", ");
        buf_puts(buf, infer_text(in, type->items[i]));
    }
    buf_puts(buf, type->kind == TY_TUPLE && type->count == 1 && !type->object ? ",)" : ")");
}

const char *infer_text(Infer *in, const Type *type) {
    if (!type) return "nothing";
    if (in->quiet) return ""; /* nobody reads it */
    Buf buf;
    buf_init(&buf, in->arena);
    switch (type->kind) {
    case TY_PYFUNC:
    case TY_CLOSURE: buf_printf(&buf, "the function `%s`", object_name(in, type)); break;
    case TY_EXC_CLASS:
    case TY_OBJECT: buf_printf(&buf, "`%s`", object_name(in, type)); break;
    case TY_EXC:
        buf_puts(&buf, object_name(in, type));
        print_items(in, &buf, type);
        break;
    case TY_TUPLE:
        if (type->object) buf_puts(&buf, object_name(in, type));
        print_items(in, &buf, type);
        break;
    case TY_SCALAR:
        if (type->object)
            buf_puts(&buf, object_name(in, type));
        else
            type_print(&buf, type);
        break;
    case TY_STRING: buf_puts(&buf, "str"); break;
    case TY_DICT:
        buf_printf(&buf, "dict of %s to %s", infer_text(in, type_key(type)), infer_text(in, type_dict_value(type)));
        break;
    case TY_SET: buf_printf(&buf, "set of %s", infer_text(in, type_key(type))); break;
    case TY_LIST: buf_printf(&buf, "list of %s", infer_text(in, type->items[0])); break;
    case TY_OPTIONAL: buf_printf(&buf, "%s or None", infer_text(in, type->items[0])); break;
    default: type_print(&buf, type);
    }
    return buf.text;
}

const char *typing_text(Typing *t, const Type *type) { return infer_text(t->in, type); }

static const struct {
    const char *names, *in_functions, *in_kernels;
} advice[] = {
#define ADVICE(names, in_functions, in_kernels) {names, in_functions, in_kernels},
#include "typeinfer/advice.def"
#undef ADVICE
};

static bool fits(const char *names, const char *name) {
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        bool prefix = at[length - 1] == '.';
        if (strncmp(at, name, length) == 0 && (prefix || !name[length])) return true;
        at += length;
    }
    return false;
}

const char *typing_advice(Typing *t, const char *name) {
    for (size_t i = 0; i < COUNT_OF(advice); i++)
        if (fits(advice[i].names, name))
            return t->in->config->device && advice[i].in_kernels ? advice[i].in_kernels : advice[i].in_functions;
    return NULL;
}
