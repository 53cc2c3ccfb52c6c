/* structs.c: classes whose instances have a type of their own in compiled code: namedtuples,
 * dataclasses and plain classes.
 *
 * In: a class.  Out: whether it is one, and the type of its instances.  Asked by the class alone, by what such classes
 * have: `_fields` and a `__new__` made together, `__dataclass_fields__`; a plain class is written in
 * Python, as are its bases, and has no way of its own to find attributes. */
#include <string.h> /* strcmp */

#include "frontend/frontend_private.h"

static PyObject *definer(PyTypeObject *class, const char *name) {
    PyObject *value;
    return (PyObject *)frontend_holder(class, NULL, name, &value);
}

void frontend_class_title(PyTypeObject *class, char title[CLASS_TITLE_BYTES]) {
    PyObject *module = PyObject_GetAttrString((PyObject *)class, "__module__");
    PyObject *name = PyObject_GetAttrString((PyObject *)class, "__qualname__");
    PyObject *whole = module && name ? PyUnicode_FromFormat("%S.%S", module, name) : NULL;
    const char *text = whole ? PyUnicode_AsUTF8(whole) : NULL;
    if (!text || strchr(text, '#')) text = class->tp_name;
    snprintf(title, CLASS_TITLE_BYTES, "%s", text);
    Py_XDECREF(module);
    Py_XDECREF(name);
    Py_XDECREF(whole);
    PyErr_Clear();
}

/* ---- namedtuples ---- */

bool frontend_is_named_tuple(PyTypeObject *class) {
    return class != &PyTuple_Type && PyType_IsSubtype(class, &PyTuple_Type) && definer(class, "_fields");
}

/* Whether the class means by a field's name that item, and nothing of its own. */
static bool field_is_plain(PyTypeObject *class, const char *name) {
    return definer(class, name) == definer(class, "_fields");
}

/* The fields' names, in the arena; NULL: it is no namedtuple of so many items. */
static const char *const *field_names(Arena *arena, PyTypeObject *class, Py_ssize_t count) {
    PyObject *fields;
    frontend_holder(class, NULL, "_fields", &fields);
    bool fits = fields && PyTuple_CheckExact(fields) && PyTuple_GET_SIZE(fields) == count;
    const char **names = fits ? ARENA_ARRAY(arena, const char *, count) : NULL;
    for (Py_ssize_t i = 0; names && i < count; i++) {
        PyObject *field = PyTuple_GET_ITEM(fields, i);
        const char *name = PyUnicode_Check(field) ? PyUnicode_AsUTF8(field) : NULL;
        names[i] = name && field_is_plain(class, name) ? arena_strdup(arena, name) : "";
    }
    PyErr_Clear();
    return names;
}

const Type *frontend_tuple_type(Objects *objects, TypeTable *types, Arena *arena, PyTypeObject *class,
                                const Type *const *items, size_t count) {
    const char *const *names = frontend_is_named_tuple(class) ? field_names(arena, class, (Py_ssize_t)count) : NULL;
    if (!names) return type_tuple(types, items, count);
    ObjRef ref = objects_ref(objects, (PyObject *)class);
    char title[CLASS_TITLE_BYTES];
    frontend_class_title(class, title);
    return ref ? type_named_tuple(types, ref, title, names, items, count) : NULL;
}

bool frontend_is_keywords(PyTypeObject *class) {
    return strcmp(class->tp_name, "Keywords") == 0 && definer(class, "__krait_original__") == (PyObject *)class;
}

PyObject *frontend_keyword_names(PyObject *tuple) {
    if (!frontend_is_keywords(Py_TYPE(tuple))) return NULL;
    PyObject *names = PyObject_GetAttrString(tuple, "_krait_names");
    PyErr_Clear();
    if (names && PyTuple_CheckExact(names) && PyTuple_GET_SIZE(names) == PyTuple_GET_SIZE(tuple)) return names;
    Py_XDECREF(names);
    return NULL;
}

const Type *frontend_keywords_type(Objects *objects, TypeTable *types, Arena *arena, PyTypeObject *class,
                                   PyObject *names, const Type *const *items) {
    size_t count = (size_t)PyTuple_GET_SIZE(names);
    const char **texts = ARENA_ARRAY(arena, const char *, count);
    ObjRef ref = objects_ref(objects, (PyObject *)class);
    for (size_t i = 0; ref && i < count; i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, (Py_ssize_t)i));
        if (!text) return NULL;
        texts[i] = arena_printf(arena, KEYWORD_MARK "%s", text);
    }
    return ref ? type_named_tuple(types, ref, KEYWORDS_TITLE, texts, items, count) : NULL;
}

/* What a call of a namedtuple's class needs to know: as if it were a function of that many parameters. */
static StructClass *tuple_class(Frontend *frontend, PyTypeObject *class) {
    if (definer(class, "__new__") != definer(class, "_fields") || class->tp_init != PyBaseObject_Type.tp_init)
        return NULL;
    PyObject *fields, *defaults;
    frontend_holder(class, NULL, "_fields", &fields);
    frontend_holder(class, NULL, "_field_defaults", &defaults);
    if (!fields || !PyTuple_CheckExact(fields)) return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(fields);
    StructClass *info = ARENA_NEW(frontend->arena, StructClass);
    const Const **fallbacks = ARENA_ARRAY(frontend->arena, const Const *, count);
    const char **parameters = ARENA_ARRAY(frontend->arena, const char *, count);
    *info = (StructClass){.tuple = true, .count = (size_t)count, .least = (size_t)count, .fallbacks = fallbacks};
    info->parameters = parameters;
    info->names = field_names(frontend->arena, class, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(fields, i);
        PyObject *fallback = defaults && PyDict_Check(defaults) ? PyDict_GetItemWithError(defaults, name) : NULL;
        const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        PyErr_Clear();
        parameters[i] = arena_strdup(frontend->arena, text ? text : "");
        if (!fallback) continue;
        if (info->least > (size_t)i) info->least = (size_t)i;
        TRY(fallbacks[i] = frontend_constant(frontend, fallback, NULL, (Span){0}));
    }
    return info;
}

/* ---- instances ---- */

static PyObject *dataclass_fields(PyTypeObject *class) {
    PyObject *fields;
    frontend_holder(class, NULL, "__dataclass_fields__", &fields);
    return fields && PyDict_Check(fields) ? fields : NULL;
}

/* dataclasses lists ClassVar and InitVar there too. */
static bool is_field(PyObject *field) {
    PyObject *kind = PyObject_GetAttrString(field, "_field_type");
    PyObject *name = kind ? PyObject_GetAttrString(kind, "name") : NULL;
    bool is = name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "_FIELD") == 0;
    Py_XDECREF(kind);
    Py_XDECREF(name);
    PyErr_Clear();
    return is;
}

static PyObject *dataclass_names(PyObject *fields) {
    PyObject *names = PyList_New(0), *name, *field;
    for (Py_ssize_t at = 0; names && PyDict_Next(fields, &at, &name, &field);)
        if (is_field(field) && PyList_Append(names, name) < 0) Py_CLEAR(names);
    PyObject *tuple = names ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    return tuple;
}

static bool is_true(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    bool is = value == Py_True;
    Py_XDECREF(value);
    PyErr_Clear();
    return is;
}

/* Nobody can tell an instance from one with the same attributes. */
static bool is_frozen(PyTypeObject *class) {
    PyObject *parameters;
    frontend_holder(class, NULL, "__dataclass_params__", &parameters);
    return parameters && is_true(parameters, "frozen") && is_true(parameters, "eq");
}

/* So are all its bases but object: their instances are alike in memory. */
static bool is_written_in_python(PyTypeObject *class) {
    Py_ssize_t count = class->tp_mro ? PyTuple_GET_SIZE(class->tp_mro) : 0;
    bool python = count > 1;
    for (Py_ssize_t i = 0; python && i < count - 1; i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(class->tp_mro, i);
        python = (base->tp_flags & Py_TPFLAGS_HEAPTYPE) && base->tp_dealloc == class->tp_dealloc && base->tp_dict &&
                 PyDict_GetItemString(base->tp_dict, "__module__");
    }
    return python;
}

static bool is_plain(PyTypeObject *class) {
    static const char *const others[] = {
        "__array__", "__cuda_array_interface__", "__dlpack__", "__getattr__", "py_func", "_member_map_"};
    bool plain = is_written_in_python(class) && class->tp_getattro == PyObject_GenericGetAttr;
    for (size_t i = 0; plain && i < COUNT_OF(others); i++) plain = !definer(class, others[i]);
    return plain;
}

/* The names of an instance's dictionary that its attributes are found by: not those that a property of its class, or
 * another descriptor that is assigned to, answers before. */
static PyObject *seen_names(PyTypeObject *class, PyObject *dict) {
    PyObject *names = PyList_New(0), *name, *value, *found;
    for (Py_ssize_t at = 0; names && PyDict_Next(dict, &at, &name, &value);) {
        const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        bool hidden = text && frontend_holder(class, NULL, text, &found) && Py_TYPE(found)->tp_descr_set;
        if (!hidden && PyList_Append(names, name) < 0) Py_CLEAR(names);
    }
    PyObject *tuple = names ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    return tuple;
}

PyObject *frontend_instance_names(PyObject *object, bool *frozen) {
    PyTypeObject *class = Py_TYPE(object);
    PyObject *fields = PyType_Check(object) ? NULL : dataclass_fields(class);
    *frozen = false;
    if (fields) {
        *frozen = is_frozen(class);
        return dataclass_names(fields);
    }
    if (PyType_Check(object) || !is_plain(class)) return NULL;
    PyObject *dict = PyObject_GenericGetDict(object, NULL), *names = NULL;
    if (dict && PyDict_CheckExact(dict)) names = seen_names(class, dict);
    Py_XDECREF(dict);
    PyErr_Clear();
    return names;
}

/* The function that dataclasses made for the class, or NULL: calling it may do anything. */
static PyCodeObject *made_init(PyTypeObject *class, PyObject **defaults) {
    PyObject *init;
    frontend_holder(class, NULL, "__init__", &init);
    bool plain = init && PyFunction_Check(init) && !definer(class, "__post_init__") &&
                 class->tp_new == PyBaseObject_Type.tp_new && definer(class, "__init__") == (PyObject *)class;
    PyCodeObject *code = plain ? (PyCodeObject *)PyFunction_GET_CODE(init) : NULL;
    if (!code || PyUnicode_CompareWithASCIIString(code->co_filename, "<string>") != 0 || code->co_kwonlyargcount)
        return NULL;
    *defaults = PyFunction_GET_DEFAULTS(init);
    return code;
}

/* One parameter for each attribute, in their order. */
static bool takes_all(PyCodeObject *code, PyObject *names) {
    PyObject *variables = PyCode_GetVarnames(code);
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    bool all = variables && code->co_argcount == count + 1;
    for (Py_ssize_t i = 0; all && i < count; i++)
        all = PyUnicode_Compare(PyTuple_GET_ITEM(variables, i + 1), PyTuple_GET_ITEM(names, i)) == 0;
    Py_XDECREF(variables);
    return all;
}

static StructClass *dataclass(Frontend *frontend, PyTypeObject *class) {
    PyObject *defaults, *names = frontend_keep(frontend, dataclass_names(dataclass_fields(class)));
    PyCodeObject *code = names ? made_init(class, &defaults) : NULL;
    if (!code || !takes_all(code, names)) return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(names), given = defaults ? PyTuple_GET_SIZE(defaults) : 0;
    const Const **fallbacks = ARENA_ARRAY(frontend->arena, const Const *, count);
    const char **parameters = ARENA_ARRAY(frontend->arena, const char *, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        parameters[i] = arena_strdup(frontend->arena, text ? text : "");
        if (i < count - given) continue;
        PyObject *fallback = PyTuple_GET_ITEM(defaults, i - (count - given));
        if (strcmp(Py_TYPE(fallback)->tp_name, "_HAS_DEFAULT_FACTORY_CLASS") == 0) return NULL;
        TRY(fallbacks[i] = frontend_constant(frontend, fallback, NULL, (Span){0}));
    }
    StructClass *info = ARENA_NEW(frontend->arena, StructClass);
    *info = (StructClass){.frozen = is_frozen(class),
                          .count = (size_t)count,
                          .least = (size_t)(count - given),
                          .parameters = parameters,
                          .names = parameters,
                          .fallbacks = fallbacks};
    return info;
}

/* A call of the class makes an object and calls __init__, and attributes are assigned as of any object. */
bool frontend_makes_objects(PyTypeObject *class) {
    return is_plain(class) && !is_frozen(class) && class->tp_new == PyBaseObject_Type.tp_new &&
           class->tp_setattro == PyObject_GenericSetAttr && !class->tp_finalize &&
           Py_TYPE(class)->tp_call == PyType_Type.tp_call && !PyType_HasFeature(class, Py_TPFLAGS_IS_ABSTRACT) &&
           !PyExceptionClass_Check((PyObject *)class) && !frontend_is_named_tuple(class);
}

/* What NumPy's own __init__ does is not compiled: without it there would be an object without attributes. */
static bool is_made_by_numpy(PyTypeObject *class) {
    PyObject *init = PyObject_GetAttrString((PyObject *)class, "__init__");
    bool numpys = init && PyFunction_Check(init) && frontend_is_numpys(init);
    Py_XDECREF(init);
    PyErr_Clear();
    return numpys;
}

/* By these a class may make and end its instances, and find and set their attributes, in a way of its own. */
static void guard_ways(Frontend *frontend, PyObject *class) {
    static const char *const ways[] = {"__new__",          "__init__",    "__setattr__",
                                       "__getattribute__", "__getattr__", "__del__"};
    for (size_t i = 0; i < COUNT_OF(ways); i++) frontend_class_has(frontend, class, NULL, ways[i]);
}

const StructClass *frontend_struct_class(Frontend *frontend, ObjRef ref) {
    PyObject *object = objects_get(frontend->objects, ref);
    PyTypeObject *class = (PyTypeObject *)object;
    if (!object || !PyType_Check(object)) return NULL;
    guard_ways(frontend, object);
    StructClass *info = frontend_is_named_tuple(class) ? tuple_class(frontend, class)
                        : dataclass_fields(class)      ? dataclass(frontend, class)
                                                       : NULL;
    size_t count;
    const char *const *attributes = is_made_by_numpy(class) ? NULL
                                                            : frontend_attributes(frontend->arena, class, &count);
    if (attributes && !info) info = ARENA_NEW(frontend->arena, StructClass);
    if (attributes) info->attributes = attributes, info->nattributes = count;
    char title[CLASS_TITLE_BYTES];
    frontend_class_title(class, title);
    if (info) info->title = arena_strdup(frontend->arena, title);
    return info;
}
