/* advice.c: how messages name types and objects, and what they advise.
 *
 * In: a type; the full name of a library function ("numpy.zeros") or method ("array.sum") that is not compiled; an
 * operation that does not take its operands.  Out: text.  Dumps show
 * functions and objects by number (type_print); a message shows the name that the user gave them. */
#include <string.h> /* strcmp, strcspn, strncmp, strlen, strrchr, strspn */

#include "typeinfer/rules.h"

enum { MOST_WORDS = 240, MOST_NESTED = 8 }; /* characters of a message that a type may take; types within types */

/* Who says names, and where text goes. */
typedef struct Words {
    const InferHost *host;
    Buf *buf;
    unsigned depth; /* how many types it lies within */
} Words;

static void words(const Words *w, const Type *type);

static void print_object_name(const Words *w, const Type *type) {
    buf_puts(w->buf, w->host->object_name(w->host->self, type->object));
}

static void print_items(const Words *w, const Type *type) {
    buf_putc(w->buf, '(');
    for (uint32_t i = 0; i < type->count && w->buf->len <= MOST_WORDS; i++) {
        if (i) buf_puts(w->buf, ", ");
        words(w, type->items[i]);
    }
    buf_puts(w->buf, type->kind == TY_TUPLE && type->count == 1 && !type->object ? ",)" : ")");
}

static void print_container(const Words *w, const char *name, const Type *item) {
    if (item->kind == TY_BOTTOM) {
        buf_printf(w->buf, "an empty %s", name);
    } else {
        buf_printf(w->buf, "%s of ", name);
        words(w, item);
    }
}

static void print_dict(const Words *w, const Type *type) {
    print_container(w, "dict", type_key(type));
    if (type_key(type)->kind == TY_BOTTOM) return;
    buf_puts(w->buf, " to ");
    words(w, type_dict_value(type));
}

static void print_keywords(const Words *w, const Type *type) {
    buf_puts(w->buf, "dict {");
    for (uint32_t i = 0; i < type->count; i++) {
        buf_printf(w->buf, "%s%s: ", i ? ", " : "", type_keyword(type, i));
        words(w, type->items[i]);
    }
    buf_puts(w->buf, "}");
}

/* Without the places of the fields, which nobody wrote. */
static void print_fields(const Words *w, const Type *type) {
    buf_puts(w->buf, "struct(");
    for (uint32_t i = 0; i < type->count && w->buf->len <= MOST_WORDS; i++) {
        buf_printf(w->buf, "%s%s: ", i ? ", " : "", type->names[i]);
        words(w, type->items[i]);
    }
    buf_putc(w->buf, ')');
}

/* Of structs: an array, or one element of it. */
static void print_records(const Words *w, const Type *type) {
    if (!type->record) buf_puts(w->buf, "array(");
    print_fields(w, type->items[0]);
    if (!type->record) buf_printf(w->buf, ", %u, %c)", type->ndim, "CFA"[type->layout]);
}

/* Stops where there is more than anybody reads: types may hold one another in exponentially many ways. */
bool infer_is_function(const Type *type) {
    return type->kind == TY_FUNC || type->kind == TY_PYFUNC || type->kind == TY_CLOSURE;
}

/* A named tuple of this class of the prelude, "module:class", whatever classes of users are called. */
static bool is_of_prelude(const InferHost *host, const Type *type, const char *class) {
    return type->kind == TY_TUPLE && type->object && type->object == host->prelude(host->self, class);
}

/* x.method that is kept, which users know as the function alone. */
bool infer_is_method(const InferHost *host, const Type *type) {
    bool can = type->kind == TY_TUPLE && type->count == 2 && infer_is_function(type->items[0]);
    return can && is_of_prelude(host, type, "partials:Method");
}

const char *infer_example(const Type *type) {
    switch (type->kind) {
    case TY_STR:
    case TY_STRING: return "\"\"";
    case TY_LIST: return "[]";
    case TY_DICT: return "{}";
    case TY_SCALAR: break;
    default: return NULL;
    }
    if (!type->weak) return NULL;
    char kind = type_scalar_kind(type);
    return kind == 'b' ? "False" : kind == 'f' ? "0.0" : kind == 'i' ? "0" : NULL;
}

static void words(const Words *outer, const Type *type) {
    Buf *buf = outer->buf;
    const Words inner = {outer->host, buf, outer->depth + 1}, *w = &inner;
    if (buf->len > MOST_WORDS) return;
    if (inner.depth > MOST_NESTED) {
        buf_puts(buf, "...");
        return;
    }
    switch (type->kind) {
    case TY_FUNC: buf_printf(buf, "the function `%s`", func_name(buf->arena, type->func)); break;
    case TY_PYFUNC:
    case TY_CLOSURE:
        buf_puts(buf, "the function `");
        print_object_name(w, type);
        buf_putc(buf, '`');
        break;
    case TY_EXC_CLASS:
    case TY_OBJECT:
        buf_putc(buf, '`');
        print_object_name(w, type);
        buf_putc(buf, '`');
        break;
    case TY_EXC:
        print_object_name(w, type);
        print_items(w, type);
        break;
    case TY_TUPLE:
        if (type_is_keywords(type)) {
            print_keywords(w, type);
            break;
        }
        if (infer_is_method(w->host, type)) {
            words(w, type->items[0]);
            break;
        }
        if (type->object) print_object_name(w, type);
        print_items(w, type);
        break;
    case TY_STRUCT:
        if (type_is_record(type)) {
            print_fields(w, type);
        } else if (!type_is_instance(type)) {
            type_print(buf, type);
        } else {
            buf_puts(buf, "an instance of ");
            print_object_name(w, type);
        }
        break;
    case TY_ARRAY:
        if (type_is_record(type->items[0]))
            print_records(w, type);
        else
            type_print(buf, type);
        break;
    case TY_MEMBER: print_object_name(w, type); break;
    case TY_SCALAR:
        if (type->object)
            print_object_name(w, type);
        else
            type_print(buf, type);
        break;
    case TY_TEXT:
    case TY_STRING: buf_puts(buf, "str"); break;
    case TY_ITER: buf_puts(buf, "an iterator"); break;
    case TY_RANGE: buf_puts(buf, "range"); break;
    case TY_DICT: print_dict(w, type); break;
    case TY_SET: print_container(w, "set", type_key(type)); break;
    case TY_VARTUPLE: print_container(w, "tuple", type->items[0]); break;
    case TY_LIST: print_container(w, "list", type->items[0]); break;
    case TY_OPTIONAL:
        words(w, type->items[0]);
        buf_puts(buf, " or None");
        break;
    default: type_print(buf, type);
    }
}

const char *typeinfer_words(const InferHost *host, Arena *arena, const Type *type) {
    Buf buf;
    buf_init(&buf, arena);
    words(&(Words){host, &buf, 0}, type);
    return buf.len > MOST_WORDS ? arena_printf(arena, "%.*s...", MOST_WORDS, buf.text) : buf.text;
}

const char *infer_text(Infer *in, const Type *type) {
    if (!type) return "nothing";
    return in->quiet ? "" : typeinfer_words(in->host, in->arena, type); /* "": nobody reads it */
}

const char *typing_text(Typing *t, const Type *type) { return infer_text(t->in, type); }

static const struct {
    const char *names, *in_functions, *in_kernels;
} advice[] = {
#define ADVICE(names, in_functions, in_kernels) {names, in_functions, in_kernels},
#include "typeinfer/advice.def"
#undef ADVICE
};

static bool fits(const char *names, const char *name, bool prefixes) {
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        bool prefix = prefixes && at[length - 1] == '.';
        if (strncmp(at, name, length) == 0 && (prefix || !name[length])) return true;
        at += length;
    }
    return false;
}

const char *infer_advice(const char *name, bool device, bool prefixes) {
    for (size_t i = 0; i < COUNT_OF(advice); i++)
        if (fits(advice[i].names, name, prefixes))
            return device && advice[i].in_kernels ? advice[i].in_kernels : advice[i].in_functions;
    return NULL;
}

const char *typing_advice(Typing *t, const char *name) { return infer_advice(name, t->in->config->device, true); }

/* Two types that a variable that inner functions share has here and elsewhere. */
bool infer_fail_contents(Typing *t, const char *name, const Type *here, const Type *elsewhere) {
    if (here->kind == TY_CLOSURE && elsewhere->kind == TY_CLOSURE && here->object == elsewhere->object) {
        typing_fail(t, DIAG_UNSUPPORTED, "the inner function `%s` reaches itself through other inner functions", name);
        return typing_hint(t, "define functions that call each other at module level");
    }
    typing_fail(t, DIAG_NO_UNIFY, "variable `%s`, shared with an inner function, is %s here and %s elsewhere", name,
                typing_text(t, here), typing_text(t, elsewhere));
    bool functions = here->kind == TY_CLOSURE && elsewhere->kind == TY_CLOSURE;
    return typing_hint(t,
                       functions ? "give the two functions two names" : "give it values of one type, or use two names");
}

/* ---- operands that an operation does not take ---- */

typedef enum What {
    COORDINATES, /* cuda.threadIdx and its like */
    PLACE,       /* the value of one of them (krait.prelude.kernel_places.Dim3) */
    NAMED,       /* a function that a variable holds */
    FUNCTION,
    CHANGED,  /* what a method gives that changes its object: a.append(v) */
    LEFT_OUT, /* a parameter that is None */
    BEGUN,    /* a variable that is None */
    NOTHING,  /* None */
    WHOLE_ARRAY,
    ATTRIBUTE_ARRAY, /* x.T */
    NO_ITEMS,        /* a list in which nothing was put */
    ITEMS,           /* a list */
    SEVERAL,         /* a tuple */
    COMPLEX,
    TEXT,
    TEXT_ARRAY,    /* of NumPy's texts */
    ITEM_OF_TEXTS, /* of such an array, of dtype U */
    ELEMENT,
    NUMBER,
    INSTANCE,
    MEMBER,       /* of an enumeration */
    FROZEN,       /* an instance of a frozen dataclass */
    NAMED_FIELDS, /* a namedtuple */
    CLASS,
    MADE_ONE_BY_ONE, /* a generator */
    UNORDERED,       /* a set */
    BYTES_AND_TEXT,
    PRODUCT_WITH_NUMBER, /* a @ 2.0 */
    REPEATED_BY_FLOAT,   /* a list, times a float */
    TAKEN_IN_LOOP,       /* what a loop takes out of what it walks */
    FIRST_NUMBER,        /* a number that is the first argument, */
    SECOND_NUMBER,       /* or the second */
    ITERATOR,            /* of zip, map and their like */
    DEVICE_ARRAY,
    OBJECT,         /* of the interpreter */
    TIME_AND_FLOAT, /* a date or a duration, with a float */
} What;

static const struct {
    Where where;
    What what;
    const char *names, *in_functions, *in_kernels;
} operand_advice[] = {
#define OPERAND(where, what, names, in_functions, in_kernels) {where, what, names, in_functions, in_kernels},
#include "typeinfer/operand_advice.def"
#undef OPERAND
};

static bool is_coordinates(const char *name) {
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool is_parameter(const Value *value) {
    return value && value_resolve((Value *)value)->op == OP_PARAM && value_resolve((Value *)value)->name;
}

/* i = cuda.grid */
static bool is_variable(const Value *value) {
    const Value *is = value ? value_resolve((Value *)value) : NULL;
    return is && is->name && is->span.line && is->op != OP_PARAM;
}

static const char *object_name(Typing *t, const Type *type) {
    return t->in->host->object_name(t->in->host->self, type->object);
}

static bool is_text(const Type *type) { return type->kind == TY_STR || type->kind == TY_STRING; }

static bool has_operand(const Typing *t, bool (*is)(const Type *)) {
    for (size_t i = 0; i < t->nargs; i++)
        if (t->args[i].type && is(t->args[i].type)) return true;
    return false;
}

static bool is_item_of_texts(const Type *type) {
    return type->kind == TY_CHARS && scalar_info[type->scalar].bytes == 4;
}

static bool is_bytes(const Type *type) { return type->kind == TY_BYTES; }

static bool is_float(const Type *type) { return type_scalar_kind(type) == 'f'; }

/* a.sort(), which gives None */
static bool is_change(const Value *value) {
    static const char *const methods = "append extend insert remove sort reverse clear add discard update fill resize";
    const Value *is = value ? value_resolve((Value *)value) : NULL, *callee = is && is->nargs ? is->args[0] : NULL;
    return is && is->op == OP_CALL && callee->op == OP_GETATTR && fits(methods, callee->imm.text, false);
}

static bool is_attribute(const Value *value) { return value && value->op == OP_GETATTR && value->args[0]->name; }

/* The variable whose element a value is; NULL: it is none, or not of an array that has a name. */
static const char *array_of_element(const Value *value) {
    const Value *is = value ? value_resolve((Value *)value) : NULL;
    if (!is || is->op != OP_GETITEM || !is->args[0]->type || is->args[0]->type->kind != TY_ARRAY) return NULL;
    return value_resolve(is->args[0])->name;
}

static bool is_what(Typing *t, size_t arg, const Type *type, What what) {
    switch (what) {
    case COORDINATES: return type->kind == TY_OBJECT && is_coordinates(object_name(t, type));
    case PLACE: return is_of_prelude(t->in->host, type, "kernel_places:Dim3");
    case NAMED: return infer_is_function(type) && is_variable(t->values[arg]);
    case FUNCTION: return infer_is_function(type) || infer_is_method(t->in->host, type);
    case CHANGED: return type->kind == TY_NONE && is_change(t->values[arg]);
    case LEFT_OUT: return type->kind == TY_NONE && is_parameter(t->values[arg]);
    case BEGUN: return type->kind == TY_NONE && t->values[arg] && t->values[arg]->name;
    case NOTHING: return type->kind == TY_NONE;
    case ATTRIBUTE_ARRAY: return type->kind == TY_ARRAY && is_attribute(t->values[arg]);
    case WHOLE_ARRAY: return type->kind == TY_ARRAY && !type->record;
    case NO_ITEMS: return type->kind == TY_LIST && type->items[0]->kind == TY_BOTTOM;
    case ITEMS: return type->kind == TY_LIST;
    case SEVERAL: return type->kind == TY_TUPLE;
    case COMPLEX: return type_scalar_kind(type) == 'c';
    case TEXT: return is_text(type);
    case TEXT_ARRAY: return type->kind == TY_ARRAY && type_element(type)->kind == TY_CHARS;
    case ITEM_OF_TEXTS: return has_operand(t, is_item_of_texts);
    case ELEMENT: return type->kind == TY_SCALAR && array_of_element(t->values[arg]);
    case NUMBER: return type->kind == TY_SCALAR;
    case MEMBER: return type->kind == TY_MEMBER;
    case INSTANCE: return type_is_instance(type);
    case FROZEN: return type_is_instance(type) && type->flag;
    case NAMED_FIELDS: return type->kind == TY_TUPLE && type->object && type->names;
    case CLASS: return type->kind == TY_OBJECT && t->in->host->struct_class(t->in->host->self, type->object);
    case MADE_ONE_BY_ONE: return type->kind == TY_GENERATOR;
    case FIRST_NUMBER: return arg == 0 && type->kind == TY_SCALAR;
    case SECOND_NUMBER: return arg == 1 && type->kind == TY_SCALAR;
    case ITERATOR: return type->kind == TY_ITER;
    case DEVICE_ARRAY: return type->kind == TY_OBJECT && strcmp(object_name(t, type), "krait.cuda.DeviceArray") == 0;
    case OBJECT: return type->kind == TY_OBJECT;
    case TIME_AND_FLOAT: return type->kind == TY_TIME && has_operand(t, is_float);
    case UNORDERED: return type->kind == TY_SET;
    case BYTES_AND_TEXT: return has_operand(t, is_bytes) && has_operand(t, is_text);
    case PRODUCT_WITH_NUMBER: return t->op == OP_MATMUL && type->kind == TY_SCALAR;
    case REPEATED_BY_FLOAT: return t->op == OP_MUL && type->kind == TY_LIST && has_operand(t, is_float);
    case TAKEN_IN_LOOP: return t->values[arg] && value_resolve(t->values[arg])->op == OP_ITER_TAKE;
    }
    return false;
}

/* As the source says it, where a name does: "x", "x.shape", "cuda.grid"; else "x". */
static const char *operand_name(Typing *t, size_t arg) {
    static const char package[] = "krait.";
    const Type *type = t->args[arg].type;
    const Value *value = t->values[arg] ? value_resolve(t->values[arg]) : NULL;
    if ((type->kind == TY_FUNC || infer_is_method(t->in->host, type)) && is_attribute(value))
        return arena_printf(t->in->arena, "%s.%s", value->args[0]->name, value->imm.text);
    if (type->kind == TY_FUNC) {
        const char *name = func_name(t->in->arena, type->func);
        return strncmp(name, package, sizeof package - 1) == 0 ? name + sizeof package - 1 : name;
    }
    bool value_of_class = type->kind == TY_STRUCT || type->kind == TY_TUPLE || type->kind == TY_MEMBER;
    if (type->object && !value_of_class) return object_name(t, type);
    if (value && value->name) return value->name;
    if (is_attribute(value)) return arena_printf(t->in->arena, "%s.%s", value->args[0]->name, value->imm.text);
    return "x";
}

/* "`i` (line 3)" */
static const char *variable_text(Typing *t, size_t arg) {
    const Value *value = t->values[arg] ? value_resolve(t->values[arg]) : NULL;
    return value && value->name ? arena_printf(t->in->arena, "`%s` (line %u)", value->name, value->span.line) : "it";
}

static const char *filled_in(Typing *t, const char *text, size_t arg, const char *called) {
    const char *dot = strrchr(called, '.'), *operand = operand_name(t, arg);
    Buf buf;
    buf_init(&buf, t->in->arena);
    for (; *text; text++) {
        if (*text == '@')
            buf_puts(&buf, operand);
        else if (*text == '$')
            buf_puts(&buf, dot ? dot + 1 : called);
        else if (*text == '%')
            buf_puts(&buf, variable_text(t, arg));
        else if (*text == '#')
            buf_puts(&buf, array_of_element(t->values[arg]));
        else
            buf_putc(&buf, *text);
    }
    return buf.text;
}

bool typing_hint_operands(Typing *t, Where where, const char *called) {
    if (t->in->quiet) return false;
    for (size_t arg = 0; arg < t->nargs; arg++) {
        const Type *type = t->args[arg].type ? infer_content(t->args[arg].type) : NULL;
        for (size_t i = 0; type && i < COUNT_OF(operand_advice); i++) {
            const char *names = operand_advice[i].names;
            bool here = operand_advice[i].where == where || operand_advice[i].where == ANYWHERE ||
                        (operand_advice[i].where == OPERATOR && where == ORDER);
            if (!here || !is_what(t, arg, type, operand_advice[i].what) || (names && !fits(names, called, true)))
                continue;
            bool device = t->in->config->device && operand_advice[i].in_kernels;
            const char *text = device ? operand_advice[i].in_kernels : operand_advice[i].in_functions;
            return typing_hint(t, "%s", filled_in(t, text, arg, called));
        }
    }
    return false;
}

bool typing_refuse_number(Typing *t, const char *what) {
    const Type *index = infer_content(t->args[1].type);
    typing_fail(t, DIAG_BAD_INDEX, "%s is indexed by an int or a slice, not by %s", what, typing_arg_text(t, 1));
    if (type_is_instance(index))
        return typing_hint(t, "take a number of it: an attribute, or x.__index__() where its class has that");
    return type_scalar_kind(index) == 'f' ? typing_hint(t, "use int(...) or // for a whole number") : false;
}

bool typing_refuse_index(Typing *t, const Type *type) {
    if (type->kind == TY_PYFUNC) {
        const char *name = t->in->host->object_name(t->in->host->self, type->object);
        typing_fail(t, DIAG_BAD_INDEX, "`%s` can be called in compiled code, but not be indexed or launched", name);
        return typing_hint(t,
                           t->in->device ? "a kernel is launched from Python: launch %s after this one; or "
                                           "decorate %s with @cuda.jit(device=True), and call it here, %s(...)"
                                         : "a kernel is launched from Python: leave the decorator off this function; "
                                           "or make %s a function of one element, with @njit, and call it in a loop, "
                                           "%s(...)",
                           name, name, name);
    }
    typing_fail(t, DIAG_BAD_INDEX, "%s cannot be indexed", typing_arg_text(t, 0));
    if (type->kind == TY_SCALAR)
        return typing_hint(t, t->in->config->elementwise && !t->in->inst->caller
                                  ? "vectorize gives the function one element at a time: leave out the index; for "
                                    "whole arrays use krait.guvectorize or krait.njit"
                                  : "it is one number: leave out the index, or pass the array that is meant");
    return typing_hint_operands(t, INDEXED, "");
}
