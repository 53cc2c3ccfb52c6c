/* instance.c: instances of classes to objects of compiled code and back.
 *
 * An object is a list of one item on the heap: which attributes are set, and the attributes (types.h: STRUCT_OBJECT);
 * one that is not set holds what the class has under its name.
 * In: an instance whose attributes have these types; of a class of the library that the prelude has one for, what it
 * makes of it.  Out: an object that remembers where it came from; after the call the attributes that are others now are
 * assigned, and the prelude's class hands them on (origins.c).  One that has no origin becomes a new instance, whose
 * __init__ has run in compiled code; while the call lasts both are one, however they are reached. */
#include "runtime/marshal/marshal_private.h"

#include <limits.h> /* LLONG_MAX */
#include <string.h> /* memcmp, memcpy, memset */

static HeapHead *head_of(const void *from) {
    uintptr_t owner;
    memcpy(&owner, from, sizeof owner);
    return (HeapHead *)(owner & ~(uintptr_t)OWNER_BITS);
}

static bool is_set(const ListBody *object, uint32_t i) { return *(const int64_t *)object->items >> i & 1; }

static const char *place(const Type *body, const ListBody *object, uint32_t i) {
    return (const char *)object->items + type_item_offset(body, i);
}

/* ---- from Python ---- */

static bool is_float(const Type *type) {
    return type->kind == TY_SCALAR && type->weak && type->scalar == SCALAR_FLOAT64;
}

/* An attribute that is a float elsewhere, or later, may be an int now. */
static bool takes_int(const Type *item, PyObject *value, char *at) {
    bool optional = item->kind == TY_OPTIONAL;
    if (!PyLong_CheckExact(value) || !is_float(optional ? item->items[0] : item)) return false;
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow || (long long)(double)number != number || number == LLONG_MAX) return false;
    *(double *)at = (double)number;
    if (optional) ((uint8_t *)at)[type_item_offset(item, 1)] = 1;
    return true;
}

/* ---- attributes that the call changes to numbers or arrays of another type ---- */

static bool read_scalar(PyObject *value, Scalar *scalar, char *bytes) {
    int known = marshal_scalar_of_class(Py_TYPE(value));
    int64_t number;
    *scalar = PyBool_Check(value)           ? SCALAR_BOOL
              : PyLong_CheckExact(value)    ? SCALAR_INT64
              : PyFloat_CheckExact(value)   ? SCALAR_FLOAT64
              : PyComplex_CheckExact(value) ? SCALAR_COMPLEX128
              : known >= 0                  ? (Scalar)known
                                            : SCALAR_COUNT;
    if (*scalar == SCALAR_COUNT) return false;
    if (known >= 0) return memcpy(bytes, (char *)value + marshal_scalar_offset(*scalar), scalar_info[*scalar].bytes);
    if (*scalar == SCALAR_INT64) {
        if (marshal_read_int(value, &number) < 0) return PyErr_Clear(), false;
        return memcpy(bytes, &number, sizeof number);
    }
    if (*scalar == SCALAR_BOOL) return *bytes = value == Py_True, true;
    double parts[2] = {PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)};
    return memcpy(bytes, parts, scalar_info[*scalar].bytes);
}

/* Whether the other type has that very number, and is not of a lower kind. */
static bool scalar_fits(Scalar from, const char *bytes, Scalar to, char *at) {
    static const char ranks[] = "biufc";
    char made[16] = {0}, back[16] = {0};
    const char *low = strchr(ranks, scalar_info[from].kind), *high = strchr(ranks, scalar_info[to].kind);
    enum { EXACT = 53 };
    int64_t number;
    if (from == to) return memcpy(at, bytes, scalar_info[to].bytes);
    if (!low || !high || (*low == 'b') != (*high == 'b')) return false;
    if (scalar_info[from].bytes == sizeof number && strchr("iu", *low) && strchr("fc", *high)) {
        memcpy(&number, bytes, sizeof number);
        if (number > INT64_C(1) << EXACT || number < -(INT64_C(1) << EXACT)) return false;
    }
    if ((strchr("iu", *high) && strchr("fc", *low)) || (*high == 'f' && *low == 'c')) return false;
    if (!marshal_convert_scalar(from, bytes, to, made)) return false;
    bool exact = *high == 'c' ? scalar_info[to].bytes >= (*low == 'c' ? 1 : 2) * scalar_info[from].bytes
                              : marshal_convert_scalar(to, made, from, back) &&
                                    memcmp(back, bytes, scalar_info[from].bytes) == 0;
    if (!exact) return false;
    memcpy(at, made, scalar_info[to].bytes);
    return true;
}

/* A number, or a tuple of them, in a type that holds what the function puts there. */
static bool takes_number(const Type *item, PyObject *value, char *at) {
    char bytes[16] = {0};
    Scalar scalar;
    if (item->kind == TY_OPTIONAL) {
        if (value != Py_None && !takes_number(item->items[0], value, at)) return false;
        return ((uint8_t *)at)[type_item_offset(item, 1)] = value != Py_None, true;
    }
    if (item->kind == TY_TUPLE) {
        if (item->object || !PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) != item->count) return false;
        for (uint32_t i = 0; i < item->count; i++)
            if (!takes_number(item->items[i], PyTuple_GET_ITEM(value, i), at + type_item_offset(item, i))) return false;
        return true;
    }
    if (item->kind != TY_SCALAR || item->object || !read_scalar(value, &scalar, bytes)) return false;
    return scalar_fits(scalar, bytes, (Scalar)item->scalar, at);
}

/* What an instance has before the call, where the function puts something wider there. */
static MarshalResult take_narrower(const Marshal *marshal, const Type *item, PyObject *value, char *at,
                                   MarshalResult result) {
    if (result != MARSHAL_MISMATCH || !marshal->grown) return result;
    if (item->kind == TY_ARRAY) return marshal_take_array(marshal, item, value, at, true);
    return takes_number(item, value, at) ? MARSHAL_OK : MARSHAL_MISMATCH;
}

static MarshalResult take_attribute(const Marshal *marshal, const Type *type, uint32_t i, PyObject *object,
                                    ListBody *body, bool convert) {
    const Type *item = type_attribute(type, i), *layout = type_object_body(type);
    PyObject *value = PyObject_GetAttrString(object, type->names[i]);
    char *at = (char *)body->items + type_item_offset(layout, i);
    if (!value && !PyErr_ExceptionMatches(PyExc_AttributeError)) return MARSHAL_ERROR;
    if (!value && marshal->origins) marshal->origins->untold |= item->kind != TY_BOTTOM;
    if (!value) return PyErr_Clear(), MARSHAL_OK;                /* reading it raises */
    bool kept = Py_REFCNT(value) > 1 && item->kind != TY_BOTTOM; /* a property that makes one up would not be */
    bool widened = kept && takes_int(item, value, at);
    MarshalResult result = !kept     ? MARSHAL_MISMATCH
                           : widened ? MARSHAL_OK
                                     : marshal_taker(item)(marshal, item, value, at, convert);
    bool narrower = kept && result == MARSHAL_MISMATCH;
    if (narrower) result = take_narrower(marshal, item, value, at, result);
    if ((widened || narrower) && marshal->origins) marshal->origins->untold = true;
    if (result == MARSHAL_MISMATCH && marshal->origins)
        marshal->origins->refused = type->names[i], marshal->origins->wanted = item;
    bool own = result == MARSHAL_OK && !frontend_is_of_class(object, type->names[i]);
    if (own) *(int64_t *)body->items |= INT64_C(1) << i;
    if (result == MARSHAL_OK && marshal_borrows(item)) /* which uses up the reference */
        return origins_keep(marshal, value) ? MARSHAL_OK : MARSHAL_ERROR;
    Py_DECREF(value);
    return result;
}

/* Whether a value is, or holds, what the code was asked for with. */
static bool is_asked(const Type *asked, PyObject *value) {
    if (asked->kind == TY_NONE) return value == Py_None;
    if (asked->kind == TY_BOTTOM || marshal_holds_nothing(asked)) return true;
    return value && PyLong_CheckExact(value) && asked->kind == TY_SCALAR && asked->weak && !asked->object &&
           asked->scalar == SCALAR_INT64;
}

static bool attribute_is_asked(const Type *asked, uint32_t i, PyObject *object) {
    PyObject *value = PyObject_GetAttrString(object, asked->names[i]);
    bool is = is_asked(asked->items[i], value);
    PyErr_Clear();
    Py_XDECREF(value);
    return is;
}

/* told: bit i says that attribute i has its type by itself.  asked: of these instances, or NULL. */
static MarshalResult take_attributes(const Marshal *marshal, const Type *type, PyObject *object, const void *from,
                                     bool convert, const Type *asked, uint64_t *told) {
    MarshalResult result = MARSHAL_OK;
    bool none = false, *untold = marshal->origins ? &marshal->origins->untold : &none;
    for (uint32_t i = 1; result == MARSHAL_OK && i < type->count; i++) {
        *untold = false;
        result = take_attribute(marshal, type, i, object, heap_content(head_of(from)), convert);
        if (!*untold || (asked && attribute_is_asked(asked, i, object))) *told |= UINT64_C(1) << i;
    }
    return result;
}

static uint64_t all_attributes(const Type *type) { return ((UINT64_C(2) << (type->count - 1)) - 1) & ~UINT64_C(1); }

/* Those of what was met last and of the instances that are met on the way, one after the other: they may refer to each
 * other in a chain of any length.  What is of the first one's type leads back to it, or is led to by it along such a
 * way: of these an attribute has its type if one of them says so, of others, each of which may stand for itself, if all
 * do. */
static MarshalResult take_waiting(const Marshal *marshal, size_t first, bool convert) {
    Origins *origins = marshal->origins;
    MarshalResult result = MARSHAL_OK;
    origins->all[first].waits = true;
    if (origins->busy) return MARSHAL_OK;
    const Type *type = origins->all[first].type, *asked = origins->asked;
    if (asked && (asked->object != type->object || asked->count != type->count || asked == type)) asked = NULL;
    bool untold = origins->untold;
    uint64_t told_by_any = 0;
    origins->busy = true;
    origins->first = first;
    for (size_t i = first; result == MARSHAL_OK && i < origins->count; i++) {
        Origin origin = origins->all[i];
        uint64_t told = 0;
        if (!origin.waits) continue;
        origins->all[i].waits = false;
        PyObject *from = origin.stand_in ? origin.stand_in : origin.object;
        result = take_attributes(marshal, origin.type, from, origin.owners, convert, origin.type == type ? asked : NULL,
                                 &told);
        origins->all[i].untold = told != all_attributes(origin.type);
        if (origin.type == type) told_by_any |= told;
        untold |= origin.type != type && origins->all[i].untold;
    }
    origins->busy = false;
    origins->untold = untold || told_by_any != all_attributes(type);
    return result;
}

/* The attributes of the instance that was noted last, or of what stands for it. */
static MarshalResult take_contents(const Marshal *marshal, const Type *type, PyObject *object, PyObject *stand_in,
                                   const void *to, bool convert) {
    uint64_t told = 0;
    if (!marshal->origins)
        return take_attributes(marshal, type, stand_in ? stand_in : object, to, convert, NULL, &told);
    size_t last = marshal->origins->count - 1;
    marshal->origins->all[last].stand_in = Py_XNewRef(stand_in);
    return take_waiting(marshal, last, convert);
}

static MarshalResult take_new(const Marshal *marshal, const Type *type, PyObject *object, PyObject *stand_in, void *to,
                              bool convert) {
    HeapHead *head = marshal_new_list(type_object_body(type), 1);
    if (!head) return PyErr_NoMemory(), MARSHAL_ERROR;
    ListBody *body = heap_content(head);
    memset(body->items, 0, (size_t)body->item_bytes);
    body->length = 1;
    if (type_leads_back(type)) krait_heap_may_cycle(head);
    MarshalResult result = marshal_hand_over(marshal, type, object, head, MARSHAL_OK, to);
    if (result != MARSHAL_OK) return result;
    result = take_contents(marshal, type, object, stand_in, to, convert);
    if (result != MARSHAL_OK) memset(to, 0, sizeof(uintptr_t)), heap_release(head);
    return result;
}

MarshalResult marshal_take_instance(const Marshal *marshal, const Type *type, PyObject *object, void *to,
                                    bool convert) {
    PyObject *class = objects_get(marshal->objects, type->object), *stand_in = NULL;
    MarshalResult result = MARSHAL_OK;
    bool stands = class && class != (PyObject *)Py_TYPE(object) && frontend_stand_in(Py_TYPE(object)) == class;
    if (!stands && class != (PyObject *)Py_TYPE(object)) return MARSHAL_MISMATCH;
    if (origins_met(marshal, type, object, to, &result)) return result;
    if (stands && !(stand_in = marshal_stand_for(object))) return MARSHAL_ERROR;
    result = take_new(marshal, type, object, stand_in, to, convert);
    Py_XDECREF(stand_in);
    return result;
}

/* ---- to Python ---- */

/* Functions, classes and other constants, which the type says or a number among those of the type. */
bool marshal_is_constant(const Type *item) {
    if (item->kind == TY_OPTIONAL) item = item->items[0];
    return item->kind == TY_CHOICE || (type_size(item) == 0 && marshal_taker(item) == marshal_take_constant);
}

bool marshal_is_same_constant(const Marshal *marshal, const Type *item, const char *at, PyObject *now) {
    char taken[64] = {0};
    if (!marshal_is_constant(item) || type_size(item) > sizeof taken) return false;
    bool same = marshal_taker(item)(marshal, item, now, taken, false) == MARSHAL_OK &&
                memcmp(taken, at, type_size(item)) == 0;
    PyErr_Clear();
    return same;
}

/* Whether the instance has that attribute already: an array is the same one, an int the same number, and so is a
 * number that the call takes as a wider one; of a function it may have what wraps it, as a partial or a decorator
 * does. */
static bool is_there(const Marshal *marshal, const Type *item, const char *at, PyObject *now) {
    char taken[64] = {0};
    if (item->kind == TY_ARRAY) return now && ((const ArrayHead *)at)->owner == (void *)now;
    if (!now || type_size(item) > sizeof taken) return false;
    if (marshal_is_same_constant(marshal, item, at, now)) return true;
    bool number = takes_int(item, now, taken) || (marshal->grown && takes_number(item, now, taken));
    return number && memcmp(taken, at, type_size(item)) == 0;
}

static bool assign(const Marshal *marshal, const Type *type, const ListBody *body, PyObject *object) {
    const Type *layout = type_object_body(type);
    for (uint32_t i = 1; i < type->count; i++) {
        const char *at = place(layout, body, i);
        bool own = is_set(body, i) && !frontend_is_of_class(object, type->names[i]);
        PyObject *now = own ? PyObject_GetAttrString(object, type->names[i]) : NULL;
        const Type *item = type_attribute(type, i);
        bool there = is_there(marshal, item, at, now);
        Py_XDECREF(now);
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
        PyErr_Clear();
        if (!is_set(body, i) || there) continue;
        marshal_retain(item, at); /* boxing uses a reference up */
        PyObject *value = marshal_box(marshal, item, at);
        bool done = value && PyObject_SetAttrString(object, type->names[i], value) == 0;
        Py_XDECREF(value);
        if (!done) return false;
    }
    return true;
}

/* An instance without attributes. */
static PyObject *bare_instance(const Marshal *marshal, const Type *type) {
    PyTypeObject *class = (PyTypeObject *)objects_get(marshal->objects, type->object);
    PyObject *empty = class ? PyTuple_New(0) : NULL, *object = empty ? class->tp_new(class, empty, NULL) : NULL;
    Py_XDECREF(empty);
    return object;
}

/* As with what is taken, one after the other. */
static bool assign_waiting(const Marshal *marshal, size_t first) {
    Origins *origins = marshal->origins;
    bool done = true;
    origins->all[first].waits = true;
    if (origins->busy) return true;
    origins->busy = true;
    for (size_t i = first; done && i < origins->count; i++) {
        Origin origin = origins->all[i];
        if (!origin.waits) continue;
        origins->all[i].waits = false;
        done = assign(marshal, origin.type, heap_content(head_of(origin.owners)), origin.object);
    }
    origins->busy = false;
    return done;
}

/* Without a table of what the call has met the way goes as deep as the instances do. */
static bool assign_at_once(const Marshal *marshal, const Type *type, const ListBody *body, PyObject *object) {
    if (Py_EnterRecursiveCall(" while an instance is made")) return false;
    bool done = assign(marshal, type, body, object);
    Py_LeaveRecursiveCall();
    return done;
}

static PyObject *converted_instance(const Marshal *marshal, const Type *type, ListBody *body, const void *from,
                                    PyObject *converter) {
    PyObject *bare = bare_instance(marshal, type), *object = NULL;
    if (bare && assign_at_once(marshal, type, body, bare)) object = PyObject_CallOneArg(converter, bare);
    Py_XDECREF(bare);
    if (!object || marshal->copies) return object;
    body->origin = object;
    if (origins_note(marshal, type, object, from)) return object;
    body->origin = NULL;
    Py_CLEAR(object);
    return object;
}

static PyObject *new_instance(const Marshal *marshal, const Type *type, ListBody *body, const void *from) {
    PyObject *class = objects_get(marshal->objects, type->object);
    PyObject *converter = class ? frontend_result_converter(class) : NULL;
    if (converter) return converted_instance(marshal, type, body, from, converter);
    PyObject *object = bare_instance(marshal, type);
    if (!object) return NULL;
    if (!marshal->copies) body->origin = object; /* until the call is over this is what it is */
    bool done = marshal->copies || !marshal->origins
                    ? assign_at_once(marshal, type, body, object)
                    : origins_note(marshal, type, object, from) && assign_waiting(marshal, marshal->origins->count - 1);
    if (!done) Py_CLEAR(object);
    if (!done && !marshal->copies) body->origin = NULL;
    return object;
}

PyObject *marshal_box_instance(const Marshal *marshal, const Type *type, const void *from) {
    HeapHead *head = head_of(from);
    ListBody *body = heap_content(head);
    PyObject *object = body->origin && !marshal->copies ? Py_NewRef((PyObject *)body->origin)
                                                        : new_instance(marshal, type, body, from);
    heap_release(head);
    return object;
}

bool marshal_write_back_instance(const Marshal *marshal, const Type *type, const void *from, PyObject *object) {
    return assign(marshal, type, heap_content(head_of(from)), object);
}
