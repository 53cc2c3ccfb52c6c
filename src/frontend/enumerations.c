/* enumerations.c: enumerations (enum.Enum): the types of their members, and what these have.
 *
 * In: a class, or a member.  Out: its type: of an enumeration of ints a number of that class, of any other a place
 * among the members as they are defined, of a Flag its bits; and tables of what all members have under a name, by
 * which compiled code finds what one that it does not know has. */
#include <string.h> /* strcmp */

#include "frontend/frontend_private.h"

bool frontend_is_enum(PyTypeObject *class) {
    PyObject *value;
    return frontend_holder(class, NULL, "_member_map_", &value);
}

static bool is_flag(PyTypeObject *class) {
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "enum"); /* both borrowed */
    PyObject *flag = module ? PyDict_GetItemString(PyModule_GetDict(module), "Flag") : NULL;
    return flag && PyType_Check(flag) && PyType_IsSubtype(class, (PyTypeObject *)flag);
}

/* What the class keeps of its members, borrowed from it: names in order, or members by name. */
static PyObject *kept_by(PyTypeObject *class, const char *name, PyTypeObject *kind) {
    PyObject *kept;
    frontend_holder(class, NULL, name, &kept);
    return kept && Py_IS_TYPE(kept, kind) ? kept : NULL;
}

static PyObject *names_of(PyTypeObject *class) { return kept_by(class, "_member_names_", &PyList_Type); }
static PyObject *map_of(PyTypeObject *class) { return kept_by(class, "_member_map_", &PyDict_Type); }

/* The type of a member of an enumeration whose members are ints; NULL: it is none, or no memory (exception set). */
const Type *frontend_enum_type(Objects *objects, TypeTable *types, PyTypeObject *class) {
    if (!PyType_IsSubtype(class, &PyLong_Type) || !frontend_is_enum(class)) return NULL;
    ObjRef ref = objects_ref(objects, (PyObject *)class);
    char title[CLASS_TITLE_BYTES];
    frontend_class_title(class, title);
    return ref ? type_enum(types, ref, title, is_flag(class)) : NULL;
}

const Type *frontend_member_type(Objects *objects, TypeTable *types, PyTypeObject *class) {
    if (PyType_IsSubtype(class, &PyLong_Type) || !names_of(class) || !map_of(class)) return NULL;
    ObjRef ref = objects_ref(objects, (PyObject *)class);
    char title[CLASS_TITLE_BYTES];
    frontend_class_title(class, title);
    return ref ? type_member(types, ref, title, is_flag(class)) : NULL;
}

/* ---- members and numbers ---- */

static PyObject *name_of(PyObject *member) {
    PyObject *name = PyObject_GetAttrString(member, "_name_");
    PyErr_Clear();
    return name;
}

/* The place of a name; members know their own. */
static Py_ssize_t place_of(PyObject *names, PyObject *name, PyObject *member) {
    PyObject *order = PyObject_GetAttrString(member, "_sort_order_");
    Py_ssize_t place = order && PyLong_CheckExact(order) ? PyLong_AsSsize_t(order) : -1;
    Py_XDECREF(order);
    PyErr_Clear();
    bool is = place >= 0 && place < PyList_GET_SIZE(names) && PyUnicode_Check(name) &&
              PyUnicode_Compare(PyList_GET_ITEM(names, place), name) == 0;
    return is ? place : PySequence_Index(names, name);
}

static bool read_bits(PyObject *member, int64_t *number) {
    PyObject *value = PyObject_GetAttrString(member, "_value_");
    int overflow = 0;
    *number = value && PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : -1;
    bool read = value && PyLong_Check(value) && !overflow;
    Py_XDECREF(value);
    PyErr_Clear();
    return read;
}

bool frontend_member_number(const Type *type, PyObject *member, int64_t *number) {
    if (type->flag) return read_bits(member, number);
    PyObject *names = names_of(Py_TYPE(member)), *name = names ? name_of(member) : NULL;
    *number = name ? place_of(names, name, member) : -1;
    Py_XDECREF(name);
    PyErr_Clear();
    return *number >= 0;
}

PyObject *frontend_member_at(const Type *type, PyTypeObject *class, int64_t number) {
    if (type->flag || type->kind == TY_SCALAR) return PyObject_CallFunction((PyObject *)class, "L", (long long)number);
    PyObject *names = names_of(class), *map = map_of(class);
    bool inside = names && map && number >= 0 && number < PyList_GET_SIZE(names);
    PyObject *member = inside ? PyDict_GetItemWithError(map, PyList_GET_ITEM(names, (Py_ssize_t)number)) : NULL;
    if (!member && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "%s has no member number %lld", class->tp_name, (long long)number);
    return Py_XNewRef(member);
}

PyObject *frontend_enum_member(Frontend *frontend, const Type *type, int64_t value) {
    PyTypeObject *class = (PyTypeObject *)objects_get(frontend->objects, type->object);
    PyObject *member = class ? frontend_keep(frontend, frontend_member_at(type, class, value)) : NULL;
    PyErr_Clear();
    return member;
}

const Const *frontend_member_const(Frontend *frontend, PyObject *member) {
    const Type *type = frontend_member_type(frontend->objects, frontend->types, Py_TYPE(member));
    int64_t number;
    if (!type || !frontend_member_number(type, member, &number)) return NULL;
    return const_enum(frontend->arena, type, number);
}

/* ---- what the members have ---- */

/* What a str or a float that is a member too is as such. */
static PyObject *plain_of(PyObject *member) {
    if (PyFloat_Check(member)) return PyFloat_FromDouble(PyFloat_AS_DOUBLE(member));
    return PyUnicode_Check(member) ? PyUnicode_FromObject(member) : NULL;
}

/* Nobody assigns the name and the value of a member. */
static bool lasts(const char *name) {
    static const char *const lasting[] = {"name", "value", "_name_", "_value_"};
    for (size_t i = 0; i < COUNT_OF(lasting); i++)
        if (strcmp(name, lasting[i]) == 0) return true;
    return false;
}

static PyObject *attribute_of(Frontend *frontend, PyObject *member, const char *name) {
    PyObject *text = frontend_keep(frontend, PyUnicode_InternFromString(name));
    if (!text) return NULL;
    if (lasts(name)) return frontend_keep(frontend, PyObject_GetAttr(member, text));
    PyObject *found = _PyType_Lookup(Py_TYPE(member), text);
    if (found && (PyFunction_Check(found) || Py_IS_TYPE(found, &PyMethodDescr_Type))) return NULL;
    return name_attribute(frontend, member, text, NULL, (Span){0});
}

/* Of one member; NULL: it has nothing of the kind that can be a constant. */
static const Const *one(Frontend *frontend, MembersWhat what, PyObject *name, PyObject *member, const char *attribute) {
    PyObject *object = what == MEMBERS_NAMES       ? name
                       : what == MEMBERS_PLAIN     ? frontend_keep(frontend, plain_of(member))
                       : what == MEMBERS_ATTRIBUTE ? attribute_of(frontend, member, attribute)
                                                   : member;
    bool unfit = !object || PyList_Check(object) || PyDict_Check(object) || PyAnySet_Check(object);
    return unfit ? NULL : frontend_constant(frontend, object, NULL, (Span){0});
}

const Const *frontend_members(Frontend *frontend, ObjRef class, MembersWhat what, const char *attribute) {
    PyTypeObject *enumeration = (PyTypeObject *)objects_get(frontend->objects, class);
    bool is_class = enumeration && PyType_Check((PyObject *)enumeration) && frontend_is_enum(enumeration);
    PyObject *map = is_class ? map_of(enumeration) : NULL, *names = is_class ? names_of(enumeration) : NULL;
    if (!map || !names) return NULL;
    bool by_name = what == MEMBERS_NAMES || what == MEMBERS_BY_NAME; /* two names may be of one member */
    PyObject *all = frontend_keep(frontend, by_name ? PyDict_Keys(map) : PyList_GetSlice(names, 0, PY_SSIZE_T_MAX));
    Py_ssize_t count = all ? PyList_GET_SIZE(all) : 0;
    const Const **items = ARENA_ARRAY(frontend->arena, const Const *, count);
    bool found = count > 0;
    for (Py_ssize_t i = 0; found && i < count; i++) {
        PyObject *name = PyList_GET_ITEM(all, i), *member = PyDict_GetItemWithError(map, name);
        found = member && (items[i] = one(frontend, what, name, member, attribute));
    }
    PyErr_Clear();
    return found ? const_tuple(frontend->arena, frontend->types, items, (size_t)count) : NULL;
}

/* Flags get copies of functions of the module. */
bool frontend_is_of_enum(PyTypeObject *holder, PyObject *found) {
    char title[CLASS_TITLE_BYTES];
    frontend_class_title(holder, title);
    PyObject *module = found && PyFunction_Check(found) ? ((PyFunctionObject *)found)->func_module : NULL;
    return strncmp(title, "enum.", strlen("enum.")) == 0 ||
           (module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "enum") == 0);
}

/* Whether flags do that with bits without a name. */
static bool boundary_is(PyTypeObject *class, const char *wanted) {
    PyObject *boundary = PyObject_GetAttrString((PyObject *)class, "_boundary_");
    PyObject *name = boundary && boundary != Py_None ? PyObject_GetAttrString(boundary, "name") : NULL;
    bool is = name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, wanted) == 0;
    Py_XDECREF(name);
    Py_XDECREF(boundary);
    PyErr_Clear();
    return is;
}

/* A class that looks for members in a way of its own is asked outside. */
static bool finds_itself(PyTypeObject *class) {
    PyObject *missing;
    PyTypeObject *holder = frontend_holder(class, NULL, "_missing_", &missing);
    return holder && !frontend_is_of_enum(holder, missing);
}

bool frontend_enum_class(Frontend *frontend, ObjRef class, EnumClass *enumeration) {
    PyTypeObject *object = (PyTypeObject *)objects_get(frontend->objects, class);
    if (!object || !PyType_Check((PyObject *)object) || finds_itself(object)) return false;
    PyObject *title = frontend_keep(frontend, PyObject_GetAttrString((PyObject *)object, "__qualname__"));
    const char *text = title && PyUnicode_Check(title) ? PyUnicode_AsUTF8(title) : NULL;
    PyErr_Clear();
    TRY(text);
    *enumeration = (EnumClass){.title = arena_strdup(frontend->arena, text),
                               .strict = boundary_is(object, "STRICT"),
                               .conforms = boundary_is(object, "CONFORM")};
    return true;
}
