/* table.c: Python's dicts and sets to those of compiled code and back.
 *
 * In: a dict whose keys have one type and whose values have one, or a set of items of one type.  Out: the entries,
 * whose hashes are not known yet, and no hash table: compiled code makes it when it first looks for something
 * (krait/prelude/tables.py).  As a list (list.c) the entries remember where they came from, which is written to after
 * the call if they changed, and which the result is where it is returned.  A dict of names and values of several types
 * is a tuple of these. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcmp, memcpy, strlen */

enum { DEAD = -1, UNKNOWN = -2 }; /* hashes, as in the prelude */

static HeapHead *list_at(const void *from, uint32_t which) {
    uintptr_t owner;
    memcpy(&owner, (const char *)from + which * sizeof owner, sizeof owner);
    return (HeapHead *)(owner & ~(uintptr_t)OWNER_BITS);
}

/* ---- the type ---- */

/* The type that all of them have; *known: of those before, TY_BOTTOM at first; *first: one that had it. */
static bool same_type(const Marshal *marshal, PyObject *object, MixedIn what, Arena *arena, const Type **known,
                      PyObject **first) {
    const Type *type = marshal_typeof_const(marshal, object, arena, NULL);
    if (type && type->kind == TY_STR) type = type_simple(marshal->types, TY_STRING);
    if (!type) marshal_name_part("v");
    const Type *joined = type ? marshal_join_items(marshal, *known, type) : NULL;
    if (joined) type = joined;
    if (type && (*known)->kind != TY_BOTTOM && type != *known && !joined) {
        marshal_refuse_mixed(what, *first, object);
        return false;
    }
    if (type && (*known)->kind == TY_BOTTOM) *first = object;
    if (type) *known = type;
    return type != NULL;
}

bool marshal_is_dict(PyObject *object) { return marshal_is_plain(object, &PyDict_Type); }

bool marshal_is_set(PyObject *object) { return marshal_is_plain(object, &PySet_Type); }

/* ---- a dict of values of several types: of names, and never written to ---- */

enum { MOST_NAMES = 64 }; /* loops over it are written out */

static bool are_names(PyObject *dict) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_CheckExact(dict) || PyDict_GET_SIZE(dict) > MOST_NAMES) return false;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (!PyUnicode_CheckExact(key)) return false;
        Py_ssize_t length = PyUnicode_GET_LENGTH(key);
        const char *text = PyUnicode_AsUTF8(key); /* NULL: a surrogate alone */
        if (!text) return PyErr_Clear(), false;
        if (PyUnicode_FindChar(key, 0, 0, length, 1) >= 0) return false;
    }
    return true;
}

static const Type *typeof_named(const Marshal *marshal, PyObject *dict, Arena *arena, void *context) {
    (void)context;
    PyObject *names = PySequence_Tuple(dict), *module = PyImport_ImportModule("krait.prelude.keywords"), *key, *value;
    PyObject *class = module ? PyObject_GetAttrString(module, "Keywords") : NULL;
    const Type *items[MOST_NAMES], *type = NULL;
    bool fine = names && class && PyTuple_GET_SIZE(names) <= MOST_NAMES;
    Py_ssize_t count = 0, at = 0;
    while (fine && PyDict_Next(dict, &at, &key, &value)) {
        items[count] = marshal_typeof_const(marshal, value, arena, NULL);
        if (items[count] && items[count]->kind == TY_STR) items[count] = type_simple(marshal->types, TY_STRING);
        if (!items[count]) marshal_name_part("x[%R]", key);
        fine = items[count++] != NULL;
    }
    if (fine)
        type = frontend_keywords_type(marshal->objects, marshal->types, arena, (PyTypeObject *)class, names, items);
    Py_XDECREF(names), Py_XDECREF(module), Py_XDECREF(class);
    return type;
}

bool marshal_is_named(const Type *type, uint32_t i, PyObject *name) {
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length), *known = type_keyword(type, i);
    if (!text) return PyErr_Clear(), false;
    return strlen(known) == (size_t)length && memcmp(text, known, (size_t)length) == 0;
}

static bool names_fit(const Type *type, PyObject *dict) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    uint32_t i = 0;
    while (i < type->count && PyDict_Next(dict, &at, &key, &value)) {
        if (!PyUnicode_Check(key) || !marshal_is_named(type, i++, key)) return false;
    }
    return i == type->count;
}

MarshalResult marshal_take_named(const Marshal *marshal, const Type *type, PyObject *dict, void *to, bool convert) {
    if (PyDict_GET_SIZE(dict) != (Py_ssize_t)type->count || !names_fit(type, dict)) return MARSHAL_MISMATCH;
    if (marshal_borrows(type) && !origins_keep(marshal, PyDict_Values(dict))) return MARSHAL_ERROR;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    MarshalResult result = MARSHAL_OK;
    for (uint32_t i = 0; result == MARSHAL_OK && i < type->count && PyDict_Next(dict, &at, &key, &value); i++)
        result = marshal_taker(type->items[i])(marshal, type->items[i], value, (char *)to + type_item_offset(type, i),
                                               convert);
    return result;
}

static const Type *typeof_table(const Marshal *marshal, PyObject *object, Arena *arena) {
    const Type *key = type_simple(marshal->types, TY_BOTTOM), *value = key;
    PyObject *item, *mapped, *iterator, *first_key = NULL, *first_value = NULL;
    Py_ssize_t at = 0;
    bool fine = true;
    if (PyDict_Check(object)) {
        const Type *types[2];
        if (!PyDict_GET_SIZE(object) && marshal_declared_types(marshal, object, arena, types, 2))
            return type_table_of(marshal->types, types[0], types[1]);
        while (fine && PyDict_Next(object, &at, &item, &mapped))
            fine = same_type(marshal, item, MIXED_KEYS, arena, &key, &first_key) &&
                   same_type(marshal, mapped, MIXED_VALUES, arena, &value, &first_value);
        bool mixed = !fine && first_value && PyErr_ExceptionMatches(PyExc_TypeError) && are_names(object);
        if (!mixed) return fine ? type_table_of(marshal->types, key, value) : NULL;
        PyErr_Clear();
        return marshal_with_scratch(typeof_named, marshal, object, NULL);
    }
    if (!(iterator = PyObject_GetIter(object))) return NULL;
    while (fine && (item = PyIter_Next(iterator))) {
        fine = same_type(marshal, item, MIXED_SET, arena, &key, &first_key);
        Py_DECREF(item);
    }
    Py_DECREF(iterator);
    return fine && !PyErr_Occurred() ? type_table_of(marshal->types, key, NULL) : NULL;
}

const Type *marshal_typeof_table(const Marshal *marshal, PyObject *object, Arena *arena) {
    if (Py_EnterRecursiveCall(" while looking at what a dict or a set holds")) return NULL;
    const Type *type = typeof_table(marshal, object, arena);
    Py_LeaveRecursiveCall();
    return type;
}

/* ---- from Python ---- */

typedef struct Filling {
    const Marshal *marshal;
    const Type *entry;
    HeapHead *entries;
    bool convert;
    Telling telling;
} Filling;

static MarshalResult put_entry(Filling *f, PyObject *const *parts) {
    ListBody *list = heap_content(f->entries);
    if (list->length == list->capacity && krait_heap_list_grow(f->entries)) return PyErr_NoMemory(), MARSHAL_ERROR;
    char *entry = (char *)list->items + list->length * list->item_bytes;
    memset(entry, 0, (size_t)list->item_bytes);
    *(int64_t *)(entry + type_item_offset(f->entry, 0)) = UNKNOWN;
    list->length++; /* what is there of the entry is given up with the list */
    origins_tell_of_item(&f->telling);
    MarshalResult result = MARSHAL_OK;
    for (uint32_t i = 1; result == MARSHAL_OK && i < f->entry->count; i++) {
        const Type *type = f->entry->items[i];
        result = marshal_taker(type)(f->marshal, type, parts[i - 1], entry + type_item_offset(f->entry, i), f->convert);
    }
    return result;
}

static MarshalResult put_dict(Filling *f, PyObject *dict) {
    MarshalResult result = MARSHAL_OK;
    PyObject *parts[2];
    Py_ssize_t at = 0;
    while (result == MARSHAL_OK && PyDict_Next(dict, &at, &parts[0], &parts[1])) result = put_entry(f, parts);
    return result;
}

static MarshalResult put_set(Filling *f, PyObject *set) {
    PyObject *item, *iterator = PyObject_GetIter(set);
    MarshalResult result = iterator ? MARSHAL_OK : MARSHAL_ERROR;
    while (result == MARSHAL_OK && (item = PyIter_Next(iterator))) {
        result = put_entry(f, &item);
        Py_DECREF(item); /* the set has it */
    }
    Py_XDECREF(iterator);
    return result == MARSHAL_OK && PyErr_Occurred() ? MARSHAL_ERROR : result;
}

static MarshalResult take_table(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert,
                                bool declared) {
    MarshalResult result;
    if (origins_met(marshal, type, object, to, &result)) return result;
    const Type *entry = type->items[0]->items[0];
    Filling filling = {marshal, entry, marshal_new_list(entry, 0), convert, origins_tell(marshal, entry)};
    HeapHead *slots = filling.entries ? marshal_new_list(type->items[1]->items[0], 0) : NULL;
    if (!slots) {
        if (filling.entries) heap_release(filling.entries);
        return PyErr_NoMemory(), MARSHAL_ERROR;
    }
    bool kept = type->kind != TY_DICT || !marshal_borrows(type_dict_value(type)) ||
                origins_keep(marshal, PyDict_Values(object));
    result = !kept ? MARSHAL_ERROR : type->kind == TY_DICT ? put_dict(&filling, object) : put_set(&filling, object);
    bool empty = !((ListBody *)heap_content(filling.entries))->length;
    origins_told(&filling.telling, empty, declared || type_key(type)->kind == TY_BOTTOM);
    ((ListBody *)heap_content(filling.entries))->origin = marshal->copies ? NULL : object;
    uintptr_t owners[2] = {(uintptr_t)filling.entries | OWNER_HEAP, (uintptr_t)slots | OWNER_HEAP};
    if (result == MARSHAL_OK && !origins_note(marshal, type, object, owners)) result = MARSHAL_ERROR;
    if (result == MARSHAL_OK)
        memcpy(to, owners, sizeof owners);
    else
        marshal_release(type, owners);
    return result;
}

MarshalResult marshal_take_dict(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    const Type *types[2];
    if (!marshal_is_dict(object)) return MARSHAL_MISMATCH;
    bool declared = !PyDict_GET_SIZE(object) && marshal_declared_types(marshal, object, NULL, types, 2);
    if (declared && (types[0] != type_key(type) || types[1] != type_dict_value(type))) return MARSHAL_MISMATCH;
    return take_table(marshal, type, object, to, convert, declared);
}

MarshalResult marshal_take_set(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    return marshal_is_set(object) ? take_table(marshal, type, object, to, convert, false) : MARSHAL_MISMATCH;
}

/* ---- to Python ---- */

static PyObject *box_part(const Marshal *marshal, const Type *entry, const char *from, uint32_t i) {
    const char *at = from + type_item_offset(entry, i);
    marshal_retain(entry->items[i], at); /* boxing uses a reference up */
    return marshal_box(marshal, entry->items[i], at);
}

/* The value of a key, or what the dict that is written to has there for the same constant. */
static PyObject *box_value(const Marshal *marshal, const Type *entry, const char *from, PyObject *key,
                           PyObject *before) {
    const char *at = from + type_item_offset(entry, 2);
    bool constant = before && marshal_is_constant(entry->items[2]);
    PyObject *now = constant ? Py_XNewRef(PyDict_GetItemWithError(before, key)) : NULL;
    if (now && marshal_is_same_constant(marshal, entry->items[2], at, now)) return now;
    Py_XDECREF(now);
    return PyErr_Occurred() ? NULL : box_part(marshal, entry, from, 2);
}

/* What lives of the entries, into an empty dict or set; before: the dict that it is written to then, or NULL. */
static bool fill(const Marshal *marshal, const Type *type, const ListBody *entries, PyObject *object,
                 PyObject *before) {
    const Type *entry = type->items[0]->items[0];
    bool fine = true;
    for (int64_t i = 0; fine && i < entries->length; i++) {
        const char *at = (const char *)entries->items + i * entries->item_bytes;
        if (*(const int64_t *)(at + type_item_offset(entry, 0)) == DEAD) continue;
        PyObject *key = box_part(marshal, entry, at, 1);
        PyObject *value = key && type->kind == TY_DICT ? box_value(marshal, entry, at, key, before) : NULL;
        fine = key &&
               (type->kind == TY_DICT ? value && PyDict_SetItem(object, key, value) == 0 : PySet_Add(object, key) == 0);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return fine;
}

static PyObject *box_table(const Marshal *marshal, const Type *type, const void *from) {
    ListBody *entries = heap_content(list_at(from, 0));
    PyObject *object = marshal->copies ? marshal_find_copy(marshal, list_at(from, 0)) : NULL;
    if (entries->origin && !marshal->copies) {
        object = Py_NewRef((PyObject *)entries->origin);
    } else if (!object) {
        object = type->kind == TY_DICT ? PyDict_New() : PySet_New(NULL);
        if (object && !fill(marshal, type, entries, object, NULL)) Py_CLEAR(object);
        if (object && !marshal->copies && !origins_note(marshal, type, object, from)) Py_CLEAR(object);
        if (marshal->copies) object = marshal_note_copy(marshal, list_at(from, 0), object);
        if (!marshal->copies) entries->origin = object; /* until the call is over this is what it is */
    }
    marshal_release(type, from);
    return object;
}

PyObject *marshal_box_dict(const Marshal *marshal, const Type *type, const void *from) {
    return box_table(marshal, type, from);
}

PyObject *marshal_box_set(const Marshal *marshal, const Type *type, const void *from) {
    return box_table(marshal, type, from);
}

bool marshal_write_back_table(const Marshal *marshal, const Type *type, const void *from) {
    const ListBody *entries = heap_content(list_at(from, 0));
    PyObject *origin = entries->origin;
    const ListBody *slots = heap_content(list_at(from, 1));
    bool changed = slots->length && ((const int64_t *)slots->items)[slots->length - 2];
    if (!changed || frontend_forgets(origin)) return true;
    PyObject *fresh = type->kind == TY_DICT ? PyDict_New() : PySet_New(NULL);
    bool done = fresh && fill(marshal, type, entries, fresh, type->kind == TY_DICT ? origin : NULL);
    if (done && type->kind == TY_DICT) {
        PyDict_Clear(origin);
        done = PyDict_Update(origin, fresh) == 0;
    } else if (done) {
        done = PySet_Clear(origin) == 0;
        PyObject *updated = done ? PyObject_CallMethod(origin, "update", "O", fresh) : NULL;
        done = updated != NULL;
        Py_XDECREF(updated);
    }
    Py_XDECREF(fresh);
    return done;
}
