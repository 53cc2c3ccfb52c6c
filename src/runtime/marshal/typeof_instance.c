/* typeof_instance.c: the type of an instance whose attributes compiled code changes, and what types have in common.
 *
 * In: an instance of a class written in Python.  Out: its type, with room for the attributes that the functions of the
 * class assign, then for others that it has.  Instances of the class that are reached from there, along a linked list
 * or up and down a tree, have the same type (ir/recursive.c): they are kept until the first one's attributes are seen
 * to, and looked at in turn, so that a chain of any length and a ring are no matter. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcpy, strcmp */

/* ---- what two types have in common ---- */

static const Type *join_table(TypeTable *types, const Type *a, const Type *b) {
    const Type *key = marshal_join(types, type_key(a), type_key(b)), *value = NULL;
    if (key && a->kind == TY_DICT && !(value = marshal_join(types, type_dict_value(a), type_dict_value(b))))
        return NULL;
    return key ? type_table_of(types, key, value) : NULL;
}

static const Type *join_tuple(TypeTable *types, const Type *a, const Type *b) {
    const Type *items[16];
    if (a->count > COUNT_OF(items)) return NULL;
    for (uint32_t i = 0; i < a->count; i++) TRY(items[i] = marshal_join(types, a->items[i], b->items[i]));
    return type_tuple_like(types, a, items);
}

/* ---- attributes ---- */

static bool is_number(const Type *type) {
    bool number = type->kind == TY_SCALAR && type->weak && !type->object;
    return number && (type->scalar == SCALAR_INT64 || type->scalar == SCALAR_FLOAT64);
}

/* An attribute that is an int here and a float there is a float. */
static const Type *join_attribute(void *table, const Type *a, const Type *b) {
    const Type *x = a->kind == TY_OPTIONAL ? a->items[0] : a, *y = b->kind == TY_OPTIONAL ? b->items[0] : b;
    if (!is_number(x) || !is_number(y) || x == y) return marshal_join(table, a, b);
    const Type *number = type_scalar(table, SCALAR_FLOAT64, true);
    return x == a && y == b ? number : type_optional(table, number);
}

/* The place of a name among the attributes of an object; its count: it has none of it. */
static uint32_t place_of_name(const char *const *names, uint32_t count, const char *name) {
    uint32_t i = 1;
    while (i < count && strcmp(names[i], name) != 0) i++;
    return i;
}

/* Instances of one class have the attributes of both; which one has which, each says itself. */
static const Type *join_objects(TypeTable *types, const Type *a, const Type *b) {
    const char *names[OBJECT_MOST + 1];
    const Type *first[OBJECT_MOST + 1], *second[OBJECT_MOST + 1];
    uint32_t count = a->count;
    for (uint32_t i = 0; i < a->count; i++) names[i] = a->names[i];
    for (uint32_t i = 1; i < b->count; i++) {
        if (place_of_name(names, count, b->names[i]) < count) continue;
        if (count > OBJECT_MOST) return NULL;
        names[count++] = b->names[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = i ? place_of_name(b->names, b->count, names[i]) : 0;
        first[i] = i < a->count ? a->items[i] : type_simple(types, TY_BOTTOM);
        second[i] = other < b->count ? b->items[other] : type_simple(types, TY_BOTTOM);
    }
    const Type *like = type_shared_instance(types, a->object, a->title, names, first, count);
    return type_object_of(types, like, (const Type *const *[]){first, second}, 2, join_attribute, types);
}

const char *marshal_mixed_attribute(TypeTable *types, const Type *a, const Type *b) {
    for (uint32_t i = 1; i < a->count; i++) {
        uint32_t other = place_of_name(b->names, b->count, a->names[i]);
        if (other < b->count && !join_attribute(types, type_attribute(a, i), type_attribute(b, other)))
            return a->names[i];
    }
    return NULL;
}

const Type *marshal_join_items(const Marshal *marshal, const Type *a, const Type *b) {
    bool open = a->kind == b->kind && (type_is_container(a) || type_is_shared(a) || a->kind == TY_TUPLE);
    return open || (type_is_function(a) && type_is_function(b)) ? marshal_join(marshal->types, a, b) : NULL;
}

const Type *marshal_join(void *table, const Type *a, const Type *b) {
    TypeTable *types = table;
    const Type *item;
    if (a == b || b->kind == TY_BOTTOM) return a;
    if (a->kind == TY_BOTTOM) return b;
    if (a->kind == TY_NONE) return type_optional(types, b);
    if (b->kind == TY_NONE) return type_optional(types, a);
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL) {
        item = marshal_join(types, a->kind == TY_OPTIONAL ? a->items[0] : a, b->kind == TY_OPTIONAL ? b->items[0] : b);
        return item ? type_optional(types, item) : NULL;
    }
    if (type_is_function(a) && type_is_function(b)) return type_choice(types, a, b);
    if (a->kind != b->kind || a->object != b->object) return NULL;
    if (type_is_shared(a)) return type_is_back(a) || type_is_back(b) ? NULL : join_objects(types, a, b);
    if (a->count != b->count) return NULL;
    if (type_is_table(a)) return join_table(types, a, b);
    if (a->kind == TY_TUPLE) return join_tuple(types, a, b);
    if (a->kind != TY_LIST || !(item = marshal_join(types, a->items[0], b->items[0]))) return NULL;
    return type_with_items(types, TY_LIST, 0, &item, 1);
}

/* ---- instances of one class that refer to each other ---- */

/* Outlives what types it: instances of other classes, reached on the way, add to it, and each has a scratch arena. */
typedef struct Instances {
    PyObject **met; /* `count` references, in the order in which they were met */
    size_t count;
    PyObject **known; /* the same by address: places many, at most half of them taken */
    size_t places;
} Instances;

typedef struct Around { /* an instance whose attributes are being looked at */
    PyTypeObject *class;
    const Type *back;
    Instances instances; /* it, and others of its class that it leads to */
    const struct Around *outer;
} Around;

static PyObject **place_of(PyObject **known, size_t places, PyObject *object) {
    size_t at = ((uintptr_t)object >> 4) * (size_t)0x9E3779B97F4A7C15u >> 20 & (places - 1);
    while (known[at] && known[at] != object) at = (at + 1) & (places - 1);
    return &known[at];
}

static bool grow_instances(Instances *of) {
    size_t places = of->places ? 4 * of->places : 16;
    PyObject **known = PyMem_Calloc(places, sizeof *known);
    PyObject **met = known ? PyMem_Realloc(of->met, places / 2 * sizeof *met) : NULL;
    if (met) of->met = met;
    if (!met) {
        PyMem_Free(known);
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < of->count; i++) *place_of(known, places, met[i]) = met[i];
    PyMem_Free(of->known);
    of->known = known;
    of->places = places;
    return true;
}

static bool meet(Instances *of, PyObject *object) {
    if (2 * of->count >= of->places && !grow_instances(of)) return false;
    PyObject **place = place_of(of->known, of->places, object);
    if (!*place) *place = of->met[of->count++] = Py_NewRef(object);
    return true;
}

static void forget_instances(Instances *of) {
    for (size_t i = 0; i < of->count; i++) Py_DECREF(of->met[i]);
    PyMem_Free(of->met);
    PyMem_Free(of->known);
}

const Type *marshal_met_around(const Marshal *marshal, PyObject *object) {
    for (const Around *around = marshal->around; around; around = around->outer)
        if (around->class == Py_TYPE(object)) return meet(&((Around *)around)->instances, object) ? around->back : NULL;
    return NULL;
}

/* ---- what instances hold ---- */

typedef struct Attributes {
    const char *names[OBJECT_MOST + 1];
    size_t count;
    VEC(const Type *const *) lists; /* what the attributes of the instances hold, where they differ */
} Attributes;

/* Those that the instance has and that are not known yet; false: there are too many. */
static bool add_names(Attributes *of, PyObject *names) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        size_t at = 0;
        while (text && at < of->count && strcmp(of->names[at], text) != 0) at++;
        if (!text || at < of->count) continue;
        if (of->count == OBJECT_MOST) return false;
        of->names[of->count++] = text;
    }
    return true;
}

static bool is_listed(const Attributes *of, const Type *const *items) {
    for (size_t i = of->lists.len; i > 0 && i + 8 > of->lists.len; i--)
        if (memcmp(of->lists.data[i - 1], items, (OBJECT_MOST + 1) * sizeof *items) == 0) return true;
    return false;
}

/* What the attributes of one of the instances hold; NULL, or the name of the one that is refused. */
static const char *look_at(const Marshal *marshal, PyObject *object, Attributes *of, Arena *arena) {
    const Type **items = ARENA_ARRAY(arena, const Type *, OBJECT_MOST + 1);
    bool frozen;
    PyObject *names = frontend_instance_names(object, &frozen);
    bool few = names && add_names(of, names);
    Py_XDECREF(names); /* the instance keeps the texts */
    if (!few) return of->count > 1 ? of->names[1] : "";
    for (size_t i = 0; i <= OBJECT_MOST; i++) items[i] = type_simple(marshal->types, TY_BOTTOM);
    items[0] = type_scalar(marshal->types, SCALAR_INT64, true);
    for (size_t i = 1; i < of->count; i++) {
        PyObject *value = PyObject_GetAttrString(object, of->names[i]);
        if (value) items[i] = marshal_typeof(marshal, value);
        if (value && items[i] && items[i]->kind == TY_STR) items[i] = type_simple(marshal->types, TY_STRING);
        Py_XDECREF(value);
        if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        if (!items[i] || PyErr_Occurred()) return of->names[i];
    }
    if (!is_listed(of, items)) vec_push(arena, &of->lists, items);
    return NULL;
}

/* The attribute that has types without a common one. */
static const char *find_mixed(TypeTable *types, const Attributes *of) {
    for (size_t i = 1; i < of->count; i++) {
        const Type *joined = of->lists.data[0][i];
        for (size_t k = 1; joined && k < of->lists.len; k++)
            joined = join_attribute(types, joined, of->lists.data[k][i]);
        if (!joined) return of->names[i];
    }
    return of->names[of->count - 1];
}

static const Type *type_of_all(const Marshal *marshal, Around *around, Attributes *of, Arena *arena) {
    const Instances *instances = &around->instances;
    const char *refused = NULL;
    Marshal inner = *marshal;
    inner.around = around;
    for (size_t i = 0; !refused && i < instances->count; i++) refused = look_at(&inner, instances->met[i], of, arena);
    if (refused) return marshal_refuse_attribute(instances->met[0], refused);
    const Type *like = type_shared_instance(marshal->types, around->back->object, around->back->title, of->names,
                                            of->lists.data[0], of->count);
    if (!like) return (PyErr_NoMemory(), NULL);
    const Type *type = type_object_of(marshal->types, like, of->lists.data, of->lists.len, join_attribute,
                                      marshal->types);
    if (type) return type;
    PyErr_SetString(PyExc_TypeError, "the instances that refer to each other hold values of several types there");
    return marshal_refuse_attribute(instances->met[0], find_mixed(marshal->types, of));
}

static const Type *type_around(const Marshal *marshal, PyObject *object, Arena *arena, void *context) {
    static const char *const none[] = {""};
    Around *around = context;
    size_t count;
    const char *const *known = frontend_attributes(arena, around->class, &count);
    if (!known) return NULL;
    Attributes *of = ARENA_NEW(arena, Attributes);
    of->count = count;
    memcpy(of->names, known, count * sizeof *known);
    ObjRef class = objects_ref(marshal->objects, (PyObject *)around->class);
    if (!class) return marshal_refuse_attribute(object, NULL);
    char title[CLASS_TITLE_BYTES];
    frontend_class_title(around->class, title);
    around->back = type_shared_instance(marshal->types, class, title, none, NULL, 0);
    if (!around->back) return (PyErr_NoMemory(), NULL);
    return meet(&around->instances, object) ? type_of_all(marshal, around, of, arena) : NULL;
}

const Type *marshal_typeof_instance(const Marshal *marshal, PyObject *object) {
    Around around = {.class = Py_TYPE(object), .outer = marshal->around};
    const Type *type = marshal_with_scratch(type_around, marshal, object, &around);
    forget_instances(&around.instances);
    return type;
}
