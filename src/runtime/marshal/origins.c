/* origins.c: lists, dicts, sets and instances of a call: which object of the heap each of Python's has become.
 *
 * A container that is reached in two ways is one object inside as it is outside, and what the call makes of it one
 * container again.  Containers stand in the order in which they were met; few are searched in turn, more are found by
 * their address in a hash table of their numbers.  The table keeps both sides alive until the call is over: what
 * compiled code has taken out of another container may have changed, too, and may be the result. */
#include "runtime/marshal/marshal_private.h"

#include <string.h> /* memcpy */

static bool is_hashed(const Origins *origins) { return origins->places > 0; }

/* Where the number of the object is, plus 1, or 0 where it belongs: there is always room. */
static uint32_t *place_of(const Origins *origins, const PyObject *object) {
    size_t at = ((uintptr_t)object >> 4) * (size_t)0x9E3779B97F4A7C15u >> 20 & (origins->places - 1);
    while (origins->numbers[at] && origins->all[origins->numbers[at] - 1].object != object)
        at = (at + 1) & (origins->places - 1);
    return &origins->numbers[at];
}

static const Origin *find(const Origins *origins, const PyObject *object) {
    if (is_hashed(origins)) {
        uint32_t number = *place_of(origins, object);
        return number ? &origins->all[number - 1] : NULL;
    }
    for (size_t i = 0; i < origins->count; i++)
        if (origins->all[i].object == object) return &origins->all[i];
    return NULL;
}

/* Twice the room, and twice as many places as that. */
static bool grow(Origins *origins) {
    size_t room = 2 * origins->room;
    Origin *all = room < UINT32_MAX ? PyMem_Malloc(room * sizeof *all) : NULL;
    uint32_t *numbers = all ? PyMem_Calloc(2 * room, sizeof *numbers) : NULL;
    if (!numbers) {
        PyMem_Free(all);
        PyErr_NoMemory();
        return false;
    }
    memcpy(all, origins->all, origins->count * sizeof *all);
    if (origins->all != origins->few) PyMem_Free(origins->all);
    PyMem_Free(origins->numbers);
    origins->all = all;
    origins->numbers = numbers;
    origins->room = room;
    origins->places = 2 * room;
    for (size_t i = 0; i < origins->count; i++) *place_of(origins, all[i].object) = (uint32_t)i + 1;
    return true;
}

void origins_begin(Origins *origins) {
    origins->all = origins->few;
    origins->numbers = NULL;
    origins->count = origins->places = origins->first = 0;
    origins->busy = origins->differs = origins->untold = false;
    origins->refused = NULL;
    origins->replaced = NULL;
    origins->wanted = origins->asked = NULL;
    origins->room = ORIGINS_FEW;
}

void origins_end(Origins *origins) {
    for (size_t i = 0; i < origins->count; i++) {
        marshal_release(origins->all[i].type, origins->all[i].owners);
        Py_DECREF(origins->all[i].object);
        Py_XDECREF(origins->all[i].stand_in);
    }
    if (origins->all != origins->few) PyMem_Free(origins->all);
    PyMem_Free(origins->numbers);
    Py_XDECREF(origins->replaced);
}

void origins_disown(const Origins *origins) {
    for (size_t i = 0; i < origins->count; i++) {
        HeapHead *head = (HeapHead *)(origins->all[i].owners[0] & ~(uintptr_t)OWNER_BITS);
        ((ListBody *)heap_content(head))->origin = NULL;
    }
}

bool marshal_holds_nothing(const Type *type) {
    if (type->kind == TY_LIST) return type->items[0]->kind == TY_BOTTOM;
    return type_is_table(type) && type_key(type)->kind == TY_BOTTOM;
}

bool marshal_may_be_untold(const Type *type) {
    bool any = type_is_container(type) || type_is_shared(type) || type->kind == TY_OPTIONAL || type->kind == TY_CHOICE;
    for (uint32_t i = 0; !any && type->kind == TY_TUPLE && i < type->count; i++)
        any = marshal_may_be_untold(type->items[i]);
    return any;
}

/* Of what was met before.  What an instance leads to is judged with it (instance.c); reached from elsewhere, it is not
 * known what it would be alone. */
static bool is_untold_here(const Origins *origins, const Origin *origin) {
    bool judged = origins->busy && (size_t)(origin - origins->all) >= origins->first;
    const Type *type = origin->type, *items = type_is_table(type) ? type->items[0]->items[0] : type->items[0];
    return origin->untold || (!judged && (type_is_shared(type) || marshal_may_be_untold(items)));
}

bool origins_met(const Marshal *marshal, const Type *type, PyObject *object, void *to, MarshalResult *result) {
    const Origin *origin = marshal->origins ? find(marshal->origins, object) : NULL;
    if (!origin) return false;
    *result = origin->type == type ? MARSHAL_OK : MARSHAL_MISMATCH;
    if (*result != MARSHAL_OK) return marshal->origins->differs = true;
    marshal->origins->untold |= is_untold_here(marshal->origins, origin);
    memcpy(to, origin->owners, type_size(type));
    marshal_retain(type, to);
    return true;
}

bool origins_note(const Marshal *marshal, const Type *type, PyObject *object, const void *from) {
    Origins *origins = marshal->origins;
    if (!origins) return true;
    if (origins->count == origins->room && !grow(origins)) return false;
    Origin *origin = &origins->all[origins->count];
    *origin = (Origin){.object = Py_NewRef(object), .type = type, .untold = origins->untold};
    memcpy(origin->owners, from, type_size(type));
    marshal_retain(type, from);
    origins->count++;
    if (is_hashed(origins)) *place_of(origins, object) = (uint32_t)origins->count;
    return true;
}

bool marshal_borrows(const Type *type) {
    if (type->kind == TY_ARRAY || type->kind == TY_RANDOM) return true;
    bool any = false, plain = type->kind == TY_TUPLE || type->kind == TY_OPTIONAL || type->kind == TY_STRUCT;
    for (uint32_t i = 0; !any && plain && !type_is_shared(type) && i < type->count; i++)
        any = marshal_borrows(type->items[i]);
    return any;
}

bool origins_keep(const Marshal *marshal, PyObject *held) {
    Origins *origins = marshal->origins;
    if (origins && !origins->replaced) origins->replaced = PyList_New(0);
    bool kept = held && origins && origins->replaced && PyList_Append(origins->replaced, held) == 0;
    Py_XDECREF(held);
    return kept || (held && !origins);
}

/* What a collection of the library holds, of which compiled code may have given some away. */
static bool keep_collection(const Marshal *marshal, const Origin *origin) {
    bool borrowed = false;
    for (uint32_t i = 1; i < origin->type->count; i++) {
        const Type *part = type_attribute(origin->type, i);
        borrowed |= part->kind == TY_LIST && marshal_borrows(part->items[0]);
        borrowed |= part->kind == TY_DICT && marshal_borrows(type_dict_value(part));
    }
    PyObject *object = origin->object;
    return !borrowed || origins_keep(marshal, PyDict_Check(object) ? PyDict_Values(object) : PySequence_List(object));
}

static bool write_back(const Marshal *marshal, const Origin *origin) {
    PyObject *object = origin->stand_in ? origin->stand_in : origin->object;
    if (type_is_shared(origin->type)) return marshal_write_back_instance(marshal, origin->type, origin->owners, object);
    return (origin->type->kind == TY_LIST ? marshal_write_back_list : marshal_write_back_table)(marshal, origin->type,
                                                                                                origin->owners);
}

/* Each by itself: what it holds has a place of its own here, or is new.  What stands for objects of the library has all
 * that it holds before they get it. */
bool marshal_write_back(const Marshal *marshal, size_t count) {
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        Origin origin = marshal->origins->all[i]; /* new ones may be noted */
        done = write_back(marshal, &origin);
    }
    for (size_t i = 0; done && i < count; i++) {
        Origin origin = marshal->origins->all[i];
        if (origin.stand_in)
            done = keep_collection(marshal, &origin) && marshal_write_back_collection(origin.stand_in, origin.object);
    }
    return done;
}
