/* marshal_private.h: what the files of this folder share: how NumPy names our scalars, and how arrays are read. */
#ifndef KRAIT_RUNTIME_MARSHAL_PRIVATE_H
#define KRAIT_RUNTIME_MARSHAL_PRIVATE_H

#include "runtime/marshal/numpy_api.h"
#include "runtime/marshal/marshal.h" /* Marshal */
#include "runtime/heap/heap.h"       /* HeapHead */

/* Where a NumPy scalar object keeps its value. */
size_t marshal_scalar_offset(Scalar scalar);

/* True for arrays whose memory compiled code may use: ndarray itself, numpy.memmap and numpy.recarray, whose items are
 * those of an ndarray. */
bool marshal_is_array_subclass(PyObject *object);
static inline bool marshal_is_array(PyObject *object) {
    return PyArray_CheckExact(object) || marshal_is_array_subclass(object);
}
static inline ArrayLayout marshal_layout(PyArrayObject *array) {
    if (PyArray_FLAGS(array) & NPY_ARRAY_C_CONTIGUOUS) return LAYOUT_C;
    return PyArray_FLAGS(array) & NPY_ARRAY_F_CONTIGUOUS ? LAYOUT_F : LAYOUT_A;
}

/* The columns of kinds.def.  Boxing uses up the references of what it boxes, also where it fails. */
typedef PyObject *MarshalBox(const Marshal *marshal, const Type *type, const void *from);
#define MARSHAL(kind, take, box) MarshalTake marshal_take_##take;
#include "runtime/marshal/kinds.def"
#undef MARSHAL
#define MARSHAL(kind, take, box) MarshalBox marshal_box_##box;
#include "runtime/marshal/kinds.def"
#undef MARSHAL

/* The types that a list or a dict of krait.typed without items was made for; false: it was for none. */
bool marshal_declared_types(const Marshal *marshal, PyObject *container, Arena *arena, const Type **types,
                            size_t count);
/* Dicts and sets, and instances of their subclasses that hold and give what they hold as they do. */
/* An instance of the class, or of one that differs from it in nothing that compiled code does. */
bool marshal_is_plain(PyObject *object, PyTypeObject *plain);
bool marshal_is_dict(PyObject *object);
bool marshal_is_set(PyObject *object);
const Type *marshal_typeof_table(const Marshal *marshal, PyObject *object, Arena *arena); /* table.c */
/* What the value is now into the container that it came from. */
bool marshal_write_back_table(const Marshal *marshal, const Type *type, const void *from);
MarshalResult marshal_take_instance(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert);
PyObject *marshal_box_instance(const Marshal *marshal, const Type *type, const void *from); /* instance.c */
/* typeof.c: calls `make` with an arena of its own, which ends with the call; NULL: an exception is set.  When the arena
 * is exhausted `make` is left from within: it holds no reference while it allocates there. */
typedef const Type *MakeType(const Marshal *marshal, PyObject *object, Arena *scratch, void *context);
const Type *marshal_with_scratch(MakeType *make, const Marshal *marshal, PyObject *object, void *context);
/* NULL, with a TypeError that names the attribute and has the words of the one that is set. */
const Type *marshal_refuse_attribute(PyObject *object, const char *name);
/* Behind a TypeError about a part of a value `x`: what it advises is said of that part, "x[2]". */
void marshal_name_part(const char *format, ...);
/* typeof_instance.c: NULL without an exception: compiled code does not know the attributes of its class. */
const Type *marshal_typeof_instance(const Marshal *marshal, PyObject *object);
/* Its type, if an instance of its class is being typed that leads to it; NULL: none, or an exception is set. */
const Type *marshal_met_around(const Marshal *marshal, PyObject *object);
/* Of the TypeTable: what holds both, without a value being converted; NULL: nothing does. */
const Type *marshal_join(void *types, const Type *a, const Type *b);
/* Of the items of one container, which have two types: of what may hold nothing, of instances of one class, of tuples
 * of such, of functions.  NULL: those have nothing in common. */
const Type *marshal_join_items(const Marshal *marshal, const Type *a, const Type *b);
/* The attribute of instances of one class that has two types without a common one; NULL: none. */
const char *marshal_mixed_attribute(TypeTable *types, const Type *a, const Type *b);
/* mixed.c: TypeError: the container holds items of several types, two of which are these. */
typedef enum MixedIn { MIXED_LIST, MIXED_SET, MIXED_KEYS, MIXED_VALUES } MixedIn;
/* table.c: a dict as the values that its names have; whether a str is the name of value i. */
bool marshal_is_named(const Type *type, uint32_t i, PyObject *name);
MarshalResult marshal_take_named(const Marshal *marshal, const Type *type, PyObject *dict, void *to, bool convert);
void marshal_refuse_mixed(MixedIn what, PyObject *first, PyObject *other);
/* Assigns what the value's attributes are now to the instance. */
bool marshal_write_back_instance(const Marshal *marshal, const Type *type, const void *from, PyObject *object);
/* Whether values of the type are functions, classes or other constants, and whether the object, kept in a container, is
 * what the value is.  (instance.c) */
bool marshal_is_constant(const Type *item);
bool marshal_is_same_constant(const Marshal *marshal, const Type *item, const char *at, PyObject *now);
/* collections.c: the instance of the prelude's class for one of the library's: a new reference; NULL: exception set.
 * And what it holds after the call, into that one: false: exception set. */
PyObject *marshal_stand_for(PyObject *given);
bool marshal_write_back_collection(PyObject *made, PyObject *given);
bool marshal_is_buffer(PyObject *object); /* bytearray, memoryview, array.array */
PyObject *marshal_array_of_buffer(PyObject *given);
bool marshal_write_back_list(const Marshal *marshal, const Type *type, const void *from); /* list.c */
/* origins.c: whether this call has met the container, whose value is then copied; MARSHAL_MISMATCH: as another type. */
bool origins_met(const Marshal *marshal, const Type *type, PyObject *object, void *to, MarshalResult *result);
/* Whether there are values of the type that do not have it by themselves (Origins.untold). */
bool marshal_may_be_untold(const Type *type);
/* Whether a container has its type by itself: one of its items does, each of which is judged when the next one comes;
 * one without items does where it was declared. */
typedef struct Telling {
    Origins *origins; /* NULL: nobody asks */
    bool parts;       /* items may not have theirs by themselves */
    bool met, told, before;
} Telling;
static inline Telling origins_tell(const Marshal *marshal, const Type *item) {
    Origins *origins = marshal->origins;
    return (Telling){origins, origins && marshal_may_be_untold(item), false, false, origins && origins->untold};
}
static inline void origins_tell_of_item(Telling *telling) {
    if (!telling->parts) return;
    telling->told |= telling->met && !telling->origins->untold;
    telling->origins->untold = false;
    telling->met = true;
}
static inline void origins_told(Telling *telling, bool empty, bool declared) {
    if (!telling->origins) return;
    origins_tell_of_item(telling);
    bool told = empty ? declared : !telling->parts || telling->told;
    telling->origins->untold = telling->before || !told;
}
/* From now on it is this value, and it lives until the call is over.  False: exception set. */
bool origins_note(const Marshal *marshal, const Type *type, PyObject *object, const void *from);
/* Whether values of the type refer to Python's objects, arrays, without a reference of their own.  What a container
 * holds of such when it is taken lives on until the call is over: compiled code may put it elsewhere, or return it, and
 * other threads, or Python's code that the call runs, may take it out of the container meanwhile.  origins_keep uses
 * the reference up; false: an exception is set. */
bool marshal_borrows(const Type *type);
bool origins_keep(const Marshal *marshal, PyObject *held);
/* Marshal.copied: the copy of an object of the heap, a new reference or NULL; notes one, which it gives. */
PyObject *marshal_find_copy(const Marshal *marshal, const HeapHead *head);
PyObject *marshal_note_copy(const Marshal *marshal, const HeapHead *head, PyObject *copy);
HeapHead *marshal_new_list(const Type *item, Py_ssize_t capacity); /* NULL: no memory */
/* The filled object, which notes where it came from, becomes the value at `to`; released unless all went well. */
MarshalResult marshal_hand_over(const Marshal *marshal, const Type *type, PyObject *object, HeapHead *head,
                                MarshalResult result, void *to);
const Type *marshal_typeof_list(const Marshal *marshal, PyObject *list, Arena *arena); /* list.c */
/* heap_array.c: makes an ndarray whose data is the content of a buffer its owner, and an ndarray of a whole buffer.
 * Both use up one reference. */
void heap_array_own(const Marshal *marshal, PyObject *array);
PyObject *heap_array_of_buffer(const Marshal *marshal, HeapHead *buffer); /* NULL: MemoryError, nothing used up */

PyObject *marshal_numpy_class(const char *name); /* dtypes.c: numpy.<name>, a new reference; NULL: an error is set */

/* A numpy.void with fields: a record in memory. */
static inline bool marshal_is_record(PyObject *object) {
    return PyArray_IsScalar(object, Void) && PyDataType_HASFIELDS(((PyVoidScalarObject *)object)->descr);
}

/* A datetime64 or a timedelta64; the class of the one has the form of the other's. */
static inline bool marshal_is_time(PyObject *object) {
    return PyArray_IsScalar(object, Datetime) || PyArray_IsScalar(object, Timedelta);
}

/* A numpy.random.Generator, whose class NumPy makes no part of its C API. */
static inline bool marshal_is_generator(PyObject *object) {
    return strcmp(Py_TYPE(object)->tp_name, "numpy.random._generator.Generator") == 0;
}

const Type *marshal_time(const Marshal *marshal, PyObject *object); /* its type */

/* An int of at most 64 bits; -1: OverflowError set. */
int marshal_read_int(PyObject *object, int64_t *value);

/* convert.c: a number as the constructor of the type converts it. */
MarshalResult marshal_convert_number(const Type *type, PyObject *object, void *to);

#endif
