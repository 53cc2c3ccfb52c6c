/* signature.c: signatures: result type and argument types, from types, tuples, text and lists of them.
 *
 * Text:  signature = type [ '(' types ')' ] | '(' types ')'        type = name | constructor '(' ... ')' , then any
 * number of '[' slices ']'
 *        constructor = Tuple '((' types '))' | UniTuple '(' type ',' count ')' | Optional '(' type ')'
 *                      | ListType '(' type ')' | Set '(' type ')' | DictType '(' type ',' type ')'
 * read by a parser of one function per line. */
#include "decorators/gufunc.h"     /* Gufunc */
#include "decorators/kernel.h"     /* Kernel */
#include "decorators/vectorized.h" /* Vectorized */

#include <ctype.h>  /* isalnum */
#include <stdlib.h> /* strtol */
#include <string.h> /* memcpy, strlen, strncmp */

/* ---- the object ---- */

/* A record as an argument or a result is a reference to one. */
static const Type *as_value(ModuleState *state, const Type *type) {
    return type_is_record(type) ? type_record(state->session.types, type, false) : type;
}

PyObject *signature_new(ModuleState *state, const Type *result, const Type *const *args, Py_ssize_t count) {
    Signature *self = (Signature *)state->signature_class->tp_alloc(state->signature_class, 0);
    if (!self) return NULL;
    self->result = result ? as_value(state, result) : NULL;
    self->count = count;
    self->args = PyMem_Malloc(((size_t)count + 1) * sizeof *self->args);
    if (!self->args) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) self->args[i] = as_value(state, args[i]);
    return (PyObject *)self;
}

static void signature_dealloc(PyObject *self) {
    PyTypeObject *class = Py_TYPE(self);
    PyMem_Free(((Signature *)self)->args);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyObject *signature_args(PyObject *self, void *closure) {
    Signature *signature = (Signature *)self;
    PyObject *tuple = PyTuple_New(signature->count);
    (void)closure;
    for (Py_ssize_t i = 0; tuple && i < signature->count; i++) {
        PyObject *item = type_to_object(module_state_of(self), signature->args[i]);
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *signature_result(PyObject *self, void *closure) {
    const Type *result = ((Signature *)self)->result;
    (void)closure;
    if (!result) Py_RETURN_NONE;
    return type_to_object(module_state_of(self), result);
}

static void *text_of(Arena *arena, void *context) {
    const Signature *signature = context;
    Buf text;
    buf_init(&text, arena);
    buf_putc(&text, '(');
    for (Py_ssize_t i = 0; i < signature->count; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", type_text(arena, signature->args[i]));
    if (signature->count == 1) buf_putc(&text, ',');
    buf_printf(&text, ")%s%s", signature->result ? " -> " : "",
               signature->result ? type_text(arena, signature->result) : "");
    return PyUnicode_FromString(text.text);
}

static PyObject *signature_repr(PyObject *self) { return errors_with_arena(text_of, self); }

static const Type *compared(const Type *type) { return type ? type_compared(type) : NULL; }

static PyObject *signature_compare(PyObject *self, PyObject *other, int op) {
    Signature *a = (Signature *)self, *b = (Signature *)other;
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(self) != Py_TYPE(other)) Py_RETURN_NOTIMPLEMENTED;
    bool equal = compared(a->result) == compared(b->result) && a->count == b->count;
    for (Py_ssize_t i = 0; equal && i < a->count; i++) equal = compared(a->args[i]) == compared(b->args[i]);
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t signature_hash(PyObject *self) {
    Signature *signature = (Signature *)self;
    size_t hash = (size_t)compared(signature->result) / 16;
    for (Py_ssize_t i = 0; i < signature->count; i++) hash = hash * 1000003 ^ (size_t)compared(signature->args[i]) / 16;
    return hash == (size_t)-1 ? -2 : (Py_hash_t)hash;
}

static PyObject *signature_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *args = signature_args(self, NULL), *result = signature_result(self, NULL), *reduced = NULL;
    PyObject *make = PyObject_GetAttrString(PyType_GetModule(Py_TYPE(self)), "_signature");
    if (args && result && make) reduced = Py_BuildValue("O(OO)", make, args, result);
    Py_XDECREF(args);
    Py_XDECREF(result);
    Py_XDECREF(make);
    return reduced;
}

static PyGetSetDef signature_getset[] = {
    {"args", signature_args, NULL, "types of the arguments", NULL},
    {"return_type", signature_result, NULL, "type of the result; None: as inferred", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef signature_methods[] = {
    {"__reduce__", signature_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot signature_slots[] = {
    {Py_tp_doc, "Argument types and, perhaps, a result type: float32(float32, int64)."},
    {Py_tp_dealloc, signature_dealloc},
    {Py_tp_repr, signature_repr},
    {Py_tp_richcompare, signature_compare},
    {Py_tp_hash, signature_hash},
    {Py_tp_getset, signature_getset},
    {Py_tp_methods, signature_methods},
    {0, NULL},
};

PyType_Spec signature_spec = {"krait.types.Signature", sizeof(Signature), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              signature_slots};

/* ---- text ---- */

typedef struct Parser {
    ModuleState *state;
    const char *text, *at;
} Parser;

enum { MAX_TYPES = 256 };

static void *syntax_error(Parser *parser, const char *expected) {
    bool word = isalnum((unsigned char)*parser->at);
    bool element = strncmp(expected, "an element", strlen("an element")) == 0;
    bool in_brackets = *expected == '\'' && expected[1] == ':';
    const char *pointer = *parser->at == '*' ? "; there are no pointers, an array is written float32[:]"
                          : element          ? ": Python's int and float are written with their sizes there, int64[:]"
                          : in_brackets      ? "; an array is written float64[:], of two axes float64[:, :]"
                          : word             ? "; types are separated by commas, as in float64(float64, int32)"
                                             : "";
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "signature '%s': %s is expected at position %zd%s", parser->text, expected,
                     (Py_ssize_t)(parser->at - parser->text), pointer);
    return NULL;
}

/* What is written for classes of Python, which are no types of signatures. */
static const struct {
    const char *name, *advice;
} python_names[] = {
    {"str", "; it is written unicode_type"},
    {"string", "; it is written unicode_type"},
    {"bytes", "; it is written bytes_type"},
    {"list", "; a list is written ListType(float64)"},
    {"List", "; a list is written ListType(float64)"},
    {"dict", "; a dict is written DictType(int64, float64)"},
    {"tuple", "; a tuple is written Tuple((int64, float64)), or UniTuple(float64, 3)"},
    {"array", "; an array is written float64[:], of two axes float64[:, :]"},
    {"ndarray", "; an array is written float64[:], of two axes float64[:, :]"},
};

const char *signature_advice(const char *name, size_t length) {
    for (size_t i = 0; i < COUNT_OF(python_names); i++)
        if (strlen(python_names[i].name) == length && memcmp(python_names[i].name, name, length) == 0)
            return python_names[i].advice;
    return "; krait.types lists them";
}

/* A name that is no type's, with the type's name that is most like it. */
static void *unknown_type(Parser *parser, const char *name, size_t length) {
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)length, "replace");
    PyObject *names = type_names_list();
    PyObject *meant = text ? errors_did_you_mean(text, names) : NULL;
    if (meant)
        PyErr_Format(PyExc_TypeError, "signature '%s': '%U' is no type%U%s", parser->text, text, meant,
                     PyUnicode_GET_LENGTH(meant) ? "" : signature_advice(name, length));
    Py_XDECREF(text);
    Py_XDECREF(names);
    Py_XDECREF(meant);
    return NULL;
}

static bool accept(Parser *parser, char c) {
    while (isspace((unsigned char)*parser->at)) parser->at++;
    if (*parser->at != c) return false;
    parser->at++;
    return true;
}

static const Type *parse_type(Parser *parser);

/* types = [ type { ',' type } [ ',' ] ] ')' */
static Py_ssize_t parse_types(Parser *parser, const Type **types) {
    Py_ssize_t count = 0;
    while (!accept(parser, ')')) {
        if (count && !accept(parser, ',')) return syntax_error(parser, "',' or ')'"), -1;
        if (accept(parser, ')')) break;
        if (count == MAX_TYPES) return syntax_error(parser, "an end"), -1;
        if (!(types[count] = parse_type(parser))) return -1;
        count++;
    }
    return count;
}

static const Type *parse_constructor(Parser *parser, const char *name, size_t length) {
    TypeTable *table = parser->state->session.types;
    const Type *types[MAX_TYPES], *type;
    if (length == 8 && (memcmp(name, "Optional", 8) == 0 || memcmp(name, "optional", 8) == 0)) {
        if (!accept(parser, '(') || !(type = parse_type(parser)) || !accept(parser, ')'))
            return syntax_error(parser, "Optional(type)");
        return type_optional(table, type);
    }
    if (length == 8 && memcmp(name, "UniTuple", 8) == 0) {
        if (!accept(parser, '(') || !(type = parse_type(parser)) || !accept(parser, ','))
            return syntax_error(parser, "UniTuple(type, count)");
        char *end;
        long count = strtol(parser->at, &end, 10);
        if (end == parser->at || count < 0 || count > MAX_TYPES) return syntax_error(parser, "a count");
        parser->at = end;
        if (!accept(parser, ')')) return syntax_error(parser, "')'");
        for (long i = 0; i < count; i++) types[i] = type;
        return type_tuple(table, types, (size_t)count);
    }
    if (length == 8 && memcmp(name, "CPointer", 8) == 0) { /* of C code: an array whose length nobody knows */
        if (!accept(parser, '(') || !(type = parse_type(parser)) || !accept(parser, ')') || !type_is_scalar(type))
            return syntax_error(parser, "CPointer(number)");
        return type_array(table, type, 1, LAYOUT_C, false);
    }
    bool dict = length == 8 && memcmp(name, "DictType", 8) == 0, set = length == 3 && memcmp(name, "Set", 3) == 0;
    if (dict || set || (length == 8 && memcmp(name, "ListType", 8) == 0)) {
        if (!accept(parser, '(')) return syntax_error(parser, "'('");
        Py_ssize_t count = parse_types(parser, types);
        if (count != (dict ? 2 : 1)) return count < 0 ? NULL : syntax_error(parser, dict ? "two types" : "one type");
        for (Py_ssize_t i = 0; i < count; i++) types[i] = type_as_item(table, types[i]);
        return dict || set ? type_table_of(table, types[0], dict ? types[1] : NULL)
                           : type_with_items(table, TY_LIST, 0, types, 1);
    }
    if (length == 5 && memcmp(name, "Tuple", 5) == 0) {
        bool list = false;
        if (!accept(parser, '(') || !(accept(parser, '(') || (list = accept(parser, '['))))
            return syntax_error(parser, "Tuple((types))");
        if (list) return syntax_error(parser, "'('");
        Py_ssize_t count = parse_types(parser, types);
        if (count < 0 || !accept(parser, ')')) return syntax_error(parser, "')'");
        return type_tuple(table, types, (size_t)count);
    }
    parser->at = name;
    return length ? unknown_type(parser, name, length) : syntax_error(parser, "the name of a type");
}

/* slices = slice { ',' slice } ']'    slice = ':' | '::1' */
static const Type *parse_slices(Parser *parser, const Type *element) {
    unsigned ndim = 0;
    int contiguous = -1;
    if (!type_can_be_element(element)) return syntax_error(parser, "an element type before '[', as int64 or float64,");
    do {
        if (!accept(parser, ':')) return syntax_error(parser, "':' or '::1'");
        if (accept(parser, ':')) {
            if (!accept(parser, '1') || contiguous >= 0) return syntax_error(parser, "'::1', once");
            contiguous = (int)ndim;
        }
        ndim++;
    } while (accept(parser, ',') && ndim < TYPE_MAX_NDIM);
    if (!accept(parser, ']')) return syntax_error(parser, "']'");
    ArrayLayout layout = contiguous < 0 ? LAYOUT_A : contiguous == (int)ndim - 1 ? LAYOUT_C : LAYOUT_F;
    if (contiguous > 0 && layout == LAYOUT_F) return syntax_error(parser, "'::1' first or last");
    return type_array(parser->state->session.types, element, ndim, layout, false);
}

/* datetime64[ns] */
static bool is_time(const char *name, size_t length) {
    return (length == 10 && memcmp(name, "datetime64", 10) == 0) ||
           (length == 11 && memcmp(name, "timedelta64", 11) == 0);
}

static const Type *parse_type(Parser *parser) {
    while (isspace((unsigned char)*parser->at)) parser->at++;
    const char *name = parser->at;
    while (isalnum((unsigned char)*parser->at) || *parser->at == '_' || *parser->at == '.') parser->at++;
    size_t length = (size_t)(parser->at - name);
    for (const char *dot; (dot = memchr(name, '.', length)) != NULL;) { /* types.float32, krait.float32 */
        length -= (size_t)(dot + 1 - name);
        name = dot + 1;
    }
    const Type *type = type_from_name(parser->state, name, length);
    if (!type && is_time(name, length)) /* it needs no memory to be read */
        type = type_parse(parser->state->session.types, NULL, name, &parser->at);
    if (!type) type = parse_constructor(parser, name, length);
    while (type && accept(parser, '[')) type = parse_slices(parser, type);
    return type;
}

/* "float64" alone: a result without arguments. */
static void *missing_arguments(Parser *parser) {
    PyErr_Format(PyExc_TypeError,
                 "signature '%s': the types of the arguments are missing: write result(arguments), like "
                 "'float64(float64, int32)'",
                 parser->text);
    return NULL;
}

/* "float64[:], int64, float64[:]": arguments alone, behind the first comma. */
static Signature *parse_arguments(Parser *parser, const Type *first) {
    const Type *types[MAX_TYPES] = {first};
    Py_ssize_t count = 1;
    do {
        while (isspace((unsigned char)*parser->at)) parser->at++;
        if (!*parser->at) break; /* a comma at the end, as in a tuple of one */
        if (count == MAX_TYPES) return syntax_error(parser, "fewer types");
        if (!(types[count++] = parse_type(parser))) return NULL;
    } while (accept(parser, ','));
    while (isspace((unsigned char)*parser->at)) parser->at++;
    if (*parser->at) return syntax_error(parser, "',' or the end");
    return (Signature *)signature_new(parser->state, NULL, types, count);
}

static Signature *parse_signature(ModuleState *state, const char *text) {
    Parser parser = {state, text, text};
    const Type *types[MAX_TYPES], *result = NULL;
    if (!accept(&parser, '(')) {
        if (!(result = parse_type(&parser))) return NULL;
        if (accept(&parser, ',')) return parse_arguments(&parser, result);
        if (!accept(&parser, '(')) return missing_arguments(&parser);
    }
    Py_ssize_t count = parse_types(&parser, types);
    if (count < 0) return NULL;
    while (isspace((unsigned char)*parser.at)) parser.at++;
    if (*parser.at) return syntax_error(&parser, "the end");
    return (Signature *)signature_new(state, result, types, count);
}

/* ---- objects ---- */

Signature *signature_from_object(ModuleState *state, PyObject *object) {
    if (Py_IS_TYPE(object, state->signature_class)) return (Signature *)Py_NewRef(object);
    if (PyUnicode_Check(object)) {
        const char *text = PyUnicode_AsUTF8(object);
        return text ? parse_signature(state, text) : NULL;
    }
    if (PyTuple_Check(object)) {
        const Type *types[MAX_TYPES];
        Py_ssize_t count = PyTuple_GET_SIZE(object);
        if (count > MAX_TYPES) return (Signature *)PyErr_Format(PyExc_TypeError, "a signature of %zd types", count);
        for (Py_ssize_t i = 0; i < count; i++)
            if (!(types[i] = type_from_object(state, PyTuple_GET_ITEM(object, i)))) return NULL;
        return (Signature *)signature_new(state, NULL, types, count);
    }
    PyErr_Format(PyExc_TypeError,
                 "%R is not a signature: write 'float32(float32, int64)', float32(float32, int64) or a tuple of types",
                 object);
    return NULL;
}

bool signature_looks_like(ModuleState *state, PyObject *object) {
    return PyUnicode_Check(object) || PyTuple_Check(object) || PyList_Check(object) ||
           Py_IS_TYPE(object, state->signature_class);
}

PyObject *signatures_from_object(ModuleState *state, PyObject *object) {
    PyObject *list = PyList_New(0);
    Py_ssize_t count = PyList_Check(object) ? PyList_GET_SIZE(object) : 1;
    for (Py_ssize_t i = 0; list && i < count; i++) {
        Signature *signature = signature_from_object(state, PyList_Check(object) ? PyList_GET_ITEM(object, i) : object);
        if (!signature || PyList_Append(list, (PyObject *)signature) < 0) Py_CLEAR(list);
        Py_XDECREF(signature);
    }
    return list;
}

/* ---- what a decorated function declares ---- */

static const Specialiser *core_of(const ModuleState *state, PyObject *decorated) {
    if (Py_IS_TYPE(decorated, state->dispatcher_class)) return &((Dispatcher *)decorated)->core;
    if (Py_IS_TYPE(decorated, state->kernel_class)) return &((Kernel *)decorated)->core;
    if (Py_IS_TYPE(decorated, state->vectorized_class)) return &((Vectorized *)decorated)->core;
    return NULL;
}

/* What vectorized.c has put into a ufunc, which keeps it: borrowed. */
static PyObject *noted(PyObject *ufunc, const char *name) {
    if (!Py_IS_TYPE(ufunc, &PyUFunc_Type)) return NULL;
    PyObject *found = PyObject_GetAttrString(ufunc, name);
    if (!found) PyErr_Clear();
    Py_XDECREF(found);
    return found;
}

static PyObject *declared_signatures(const ModuleState *state, PyObject *decorated) {
    const Specialiser *core = core_of(state, decorated);
    if (core) return core->signatures;
    PyObject *list = noted(decorated, "_signatures");
    return list && PyList_Check(list) ? list : NULL;
}

PyObject *signature_options(void *context, PyObject *decorated) {
    const ModuleState *state = context;
    const Specialiser *core = core_of(state, decorated);
    if (Py_IS_TYPE(decorated, state->gufunc_class)) core = &((Gufunc *)decorated)->core;
    PyObject *options = core ? core->options.given : noted(decorated, "targetoptions");
    return options && PyDict_Check(options) ? options : NULL;
}

PyObject *signature_locals(void *context, PyObject *decorated) {
    PyObject *options = signature_options(context, decorated);
    PyObject *locals = options ? PyDict_GetItemString(options, "locals") : NULL;
    return locals && PyDict_Check(locals) && PyDict_GET_SIZE(locals) ? locals : NULL;
}

bool signature_of_decorated(void *context, PyObject *decorated, size_t index, ObjSignature *signature) {
    PyObject *list = declared_signatures(context, decorated);
    if (!list || index >= (size_t)PyList_GET_SIZE(list)) return false;
    const Signature *item = (const Signature *)PyList_GET_ITEM(list, (Py_ssize_t)index);
    *signature = (ObjSignature){item->result, item->args, (size_t)item->count};
    return true;
}

static bool of_elementwise(UfuncShape *shape, int identity) {
    shape->any_order = identity != PyUFunc_None;
    return true;
}

/* Every ufunc that is asked about has a Python function behind it (constants.c): @vectorize has made it. */
bool signature_of_ufunc(void *context, PyObject *decorated, UfuncShape *shape) {
    const ModuleState *state = context;
    *shape = (UfuncShape){0};
    if (Py_IS_TYPE(decorated, state->vectorized_class))
        return of_elementwise(shape, ((Vectorized *)decorated)->identity);
    if (Py_IS_TYPE(decorated, &PyUFunc_Type))
        return !((PyUFuncObject *)decorated)->core_enabled &&
               of_elementwise(shape, ((PyUFuncObject *)decorated)->identity);
    if (!Py_IS_TYPE(decorated, state->gufunc_class)) return false;
    const GufuncLayout *layout = &((Gufunc *)decorated)->layout;
    *shape = (UfuncShape){.count = (unsigned)(layout->nin + layout->nout), .nin = (unsigned)layout->nin};
    memcpy(shape->ndim, layout->ndim, shape->count);
    return true;
}
