/* structs.c: classes whose instances have a type of their own in compiled code: namedtuples and enumerations of ints.
 *
 * In: a class.  Out: whether it is one, and the type of its instances.  Asked by the class alone, by what such classes
 * have: `_fields` and a `__new__` made together, `_member_map_`. */
#include <string.h> /* strcmp */

#include "frontend/frontend_private.h"

/* The class in the order of resolution that has this name itself, and what it has there; NULL: none.  Borrowed. */
static PyObject *find_attribute(PyTypeObject *class, const char *name, PyObject **value) {
    *value = NULL;
    for (Py_ssize_t i = 0; class->tp_mro && i < PyTuple_GET_SIZE(class->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(class->tp_mro, i);
        if (base->tp_dict && (*value = PyDict_GetItemString(base->tp_dict, name))) return (PyObject *)base;
    }
    return NULL;
}

static PyObject *definer(PyTypeObject *class, const char *name) {
    PyObject *value;
    return find_attribute(class, name, &value);
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
    find_attribute(class, "_fields", &fields);
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
    return ref ? type_named_tuple(types, ref, names, items, count) : NULL;
}

/* What a call of a namedtuple's class needs to know: as if it were a function of that many parameters. */
const StructClass *frontend_struct_class(Frontend *frontend, ObjRef ref) {
    PyObject *object = objects_get(frontend->objects, ref);
    PyTypeObject *class = (PyTypeObject *)object;
    if (!object || !PyType_Check(object) || !frontend_is_named_tuple(class) ||
        definer(class, "__new__") != definer(class, "_fields") || class->tp_init != PyBaseObject_Type.tp_init)
        return NULL;
    PyObject *fields, *defaults;
    find_attribute(class, "_fields", &fields);
    find_attribute(class, "_field_defaults", &defaults);
    if (!fields || !PyTuple_CheckExact(fields)) return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(fields);
    StructClass *info = ARENA_NEW(frontend->arena, StructClass);
    const Const **fallbacks = ARENA_ARRAY(frontend->arena, const Const *, count);
    const char **parameters = ARENA_ARRAY(frontend->arena, const char *, count);
    *info = (StructClass){.count = (size_t)count, .least = (size_t)count, .fallbacks = fallbacks};
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

/* ---- enumerations ---- */

bool frontend_is_enum(PyTypeObject *class) { return definer(class, "_member_map_"); }

static bool is_flag(PyTypeObject *class) {
    for (Py_ssize_t i = 0; class->tp_mro && i < PyTuple_GET_SIZE(class->tp_mro); i++)
        if (strcmp(((PyTypeObject *)PyTuple_GET_ITEM(class->tp_mro, i))->tp_name, "Flag") == 0) return true;
    return false;
}

PyObject *frontend_enum_member(Frontend *frontend, const Type *type, int64_t value) {
    PyObject *class = objects_get(frontend->objects, type->object);
    PyObject *member = class ? frontend_keep(frontend, PyObject_CallFunction(class, "L", (long long)value)) : NULL;
    PyErr_Clear();
    return member;
}

/* The type of a member of an enumeration whose members are ints; NULL: it is none, or no memory (exception set). */
const Type *frontend_enum_type(Objects *objects, TypeTable *types, PyTypeObject *class) {
    if (!PyType_IsSubtype(class, &PyLong_Type) || !frontend_is_enum(class)) return NULL;
    ObjRef ref = objects_ref(objects, (PyObject *)class);
    return ref ? type_enum(types, ref, is_flag(class)) : NULL;
}
