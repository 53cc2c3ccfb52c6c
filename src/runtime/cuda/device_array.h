/* device_array.h: what the files of DeviceArray share; private to this folder.
 *
 * device_array.c has the life of its objects, array_class.c the type as Python sees it, array_geometry.c extents and
 * strides, array_copy.c copies,
 * array_operators.c operators and methods that compute,
 * array_dlpack.c and array_exchange.c what other libraries are given and give, array_adopt.c which way theirs take,
 * array_interface.c by __cuda_array_interface__, array_views.c indexing and reshaping, array_make.c the functions of
 * krait.cuda that make one. */
#ifndef KRAIT_RUNTIME_CUDA_DEVICE_ARRAY_H
#define KRAIT_RUNTIME_CUDA_DEVICE_ARRAY_H

#define NO_IMPORT_ARRAY
#define PY_ARRAY_UNIQUE_SYMBOL krait_runtime_array_api
#define NPY_NO_DEPRECATED_API  NPY_2_0_API_VERSION
#include "runtime/cuda/device_memory.h"

#include <numpy/arrayobject.h>

/* ---- array_geometry.c ---- */

int64_t geometry_count(unsigned ndim, const int64_t *shape);
/* An int of the usual sizes, up to 60 bits, read where it lies; false: another object, or a larger int. */
static inline bool geometry_read_int(PyObject *number, int64_t *value) {
    const PyLongObject *digits = (const PyLongObject *)number;
    if (marshal_read_compact(number, value)) return true;
    if (!PyLong_CheckExact(number)) return false;
#if PY_VERSION_HEX >= 0x030C0000
    enum { TWO_DIGITS = 2 << _PyLong_NON_SIZE_BITS }; /* and not negative */
    if (digits->long_value.lv_tag != TWO_DIGITS) return false;
    const digit *two = digits->long_value.ob_digit;
#else
    if (Py_SIZE(number) != 2) return false;
    const digit *two = digits->ob_digit;
#endif
    *value = two[0] | (int64_t)two[1] << PyLong_SHIFT;
    return true;
}
/* The type of the items of a dtype at these addresses (marshal_element); NULL: TypeError, compiled code has none. */
const Type *geometry_element(const Runtime *runtime, PyArray_Descr *dtype, uintptr_t addresses);

/* ---- device_array.c ---- */

static inline int64_t *device_array_shape(DeviceArray *self) { return self->dims; }
static inline int64_t *device_array_strides(DeviceArray *self) { return self->dims + self->type->ndim; }
static inline const Type *device_array_item_type(const DeviceArray *self) { return type_element(self->type); }
static inline size_t device_array_item(const DeviceArray *self) { return type_size(device_array_item_type(self)); }
static inline bool device_array_contiguous(const DeviceArray *self) { return self->type->layout != LAYOUT_A; }

/* On memory that exists; base keeps it alive (NULL: the array will free `data` itself). */
DeviceArray *device_array_wrap(Runtime *runtime, Device *device, const Type *element, unsigned ndim,
                               const int64_t *shape, const int64_t *strides, void *data, bool readonly, PyObject *base);
/* On new memory of the device; NULL for a device: an exception is set already. */
DeviceArray *device_array_allocate(Runtime *runtime, Device *device, StreamUse on, const Type *element, unsigned ndim,
                                   const int64_t *shape, const int64_t *strides);
bool device_array_is(PyObject *object);
/* What an array has of memory; NULL: it is another's.  To give it back, behind the streams that use it, may take long
 * and lets other threads run: nobody must find it any more. */
typedef struct ArrayMemory {
    Device *device;
    void *data;
    size_t bytes;
    PyObject *base, *keeper; /* keeper: of a memory manager's memory, which then has no `data` */
    bool current;            /* the device was not reset since */
    StreamUse home, uses[STREAM_USES];
    unsigned nuses;
} ArrayMemory;
ArrayMemory device_array_leave(DeviceArray *self);
void device_array_give_back(const ArrayMemory *memory);
size_t device_array_owned_bytes(const DeviceArray *self);
/* Whether others use the array while this thread does without the GIL: unwatch says whether nobody did.  The array is
 * held meanwhile (device_array_hold). */
typedef struct ArrayQuiet {
    StreamUse uses[STREAM_USES];
    unsigned nuses;
} ArrayQuiet;
void device_array_watch(DeviceArray *owner, ArrayQuiet *quiet);
bool device_array_unwatch(DeviceArray *owner);
/* NULL if nobody uses the array's memory, else who does: it can then not be given back. */
const char *device_array_user(const DeviceArray *owner);
/* The host has waited for work on the array: its allocation is over. */
void device_array_settle(DeviceArray *self);
/* The stream that an argument names; NULL: the default stream. */
int device_array_stream(const Device *device, PyObject *stream, StreamUse *on);

/* Gives the memory back now: behind the streams that use it.  The array has no elements then, and is refused where it
 * is used. */
PyObject *device_array_free(DeviceArray *self, PyObject *unused);
PyObject *device_array_exit(DeviceArray *self, PyObject *args);
int device_array_traverse(PyObject *object, visitproc visit, void *arg);
int device_array_clear(PyObject *object);
void device_array_dealloc(PyObject *object);

/* Base keeps the memory alive. */
DeviceArray *device_array_of(Runtime *runtime, const ArrayFields *fields, PyObject *base);
/* An array on memory of another becomes one of other fields and as many dimensions. */
void device_array_become(DeviceArray *self, const ArrayFields *fields);

/* ---- array_adopt.c ---- */

/* An attribute that most classes have not; NULL: it has none, or an exception is set. */
PyObject *device_array_class_attribute(PyTypeObject *type, const char *name);
/* `later` goes on behind what `earlier` has been given; NULL: the default stream.  -1: exception set. */
int device_array_order(Device *device, void *later, void *earlier);
/* Whether the launch has asked this producer for its stream on the device; from now on it has.  seen: NULL is never. */
static inline bool device_array_asked(Producer *seen, const void *producer, const Device *device) {
    if (!seen) return false;
    bool asked = seen->producer == producer && seen->device == device;
    *seen = (Producer){producer, device};
    return asked;
}

/* ---- array_interface.c ---- */

/* What becomes of the work on the memory that the interface's stream was given. */
typedef enum InterfaceWait { INTERFACE_IGNORES, INTERFACE_WAITS, INTERFACE_ORDERS } InterfaceWait;

/* A device array on the memory of an object with __cuda_array_interface__, or its fields (-1: exception set);
 * INTERFACE_ORDERS: the work is put before the stream's.  `current`: the thread's device. */
PyObject *device_array_read_interface(Runtime *runtime, PyObject *object, InterfaceWait wait, void *stream);
int device_array_interface_fields(Runtime *runtime, PyObject *object, Device *current, InterfaceWait wait, void *stream,
                                  ArrayFields *fields);

/* ---- array_make.c ---- */

/* The device that memory lies on, `current` if it is nobody's or there is one GPU.  NULL: exception set. */
Device *device_array_home(Runtime *runtime, Device *current, const void *memory);
/* A shape as an int or a sequence of ints, checked.  -1: exception set. */
int device_array_read_shape(PyObject *object, PyArray_Dims *dims);
int device_array_read_order(const char *order, bool *fortran); /* -1: neither C nor F; exception set */

/* ---- array_copy.c ---- */

PyArray_Descr *device_array_dtype(const DeviceArray *self); /* new; NULL: exception set */
bool device_array_same_shape(DeviceArray *self, PyArrayObject *array);
/* A NumPy array with this shape and these strides over `data`; base keeps data alive (may be NULL). */
PyObject *device_array_numpy_view(DeviceArray *self, void *data, PyObject *base, bool writable);
/* Into a new NumPy array of the same geometry (C or F; C for any other), waiting for it unless a stream was named. */
PyObject *device_array_copy_out(DeviceArray *self, StreamUse on, bool wait);
/* From a NumPy array, broadcast and cast as NumPy assigns. */
int device_array_copy_in(DeviceArray *self, StreamUse on, PyObject *source);
int device_array_copy_across(DeviceArray *self, StreamUse on, DeviceArray *source);

PyObject *device_array_method_to_host(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_method_to_device(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_to_numpy(DeviceArray *self, PyObject *args, PyObject *kwargs);

/* ---- array_dlpack.c ---- */

PyObject *device_array_dlpack(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_dlpack_device(DeviceArray *self, PyObject *unused);
PyObject *device_array_ask(Runtime *runtime, PyObject *object, void *stream); /* by __dlpack__ */

/* ---- array_exchange.c ---- */

/* The table of a class; NULL: none that is understood here, or an exception is set. */
const struct DLExchange *device_array_read_table(PyTypeObject *type);
/* The stream goes on behind the producer's. */
PyObject *device_array_from_table(Runtime *runtime, const struct DLExchange *table, PyObject *object, void *stream);
/* The fields alone, as long as nobody changes the object; only of a table that lends.  -1: exception set. */
bool device_array_table_lends(const struct DLExchange *table);
int device_array_borrow(Runtime *runtime, const struct DLExchange *table, PyObject *object, Device *current,
                        void *stream, Producer *seen, ArrayFields *fields);

/* ---- array_fields.c ---- */

/* Whether the fields of such an object can be read one by one; false with an exception, or without. */
bool device_array_has_fields(Runtime *runtime, PyTypeObject *type);
int device_array_read_fields(Runtime *runtime, PyObject *object, Device *current, void *stream, Producer *seen,
                             ArrayFields *fields);

/* ---- array_operators.c ---- */

/* Calls krait.cuda._<module>.<name> with arguments as Py_BuildValue makes a tuple of, on the device of the array: what
 * is made there lies where the array does. */
PyObject *device_array_operate(const DeviceArray *home, const char *module, const char *name, const char *format, ...);
#define ARRAY_METHOD(name, module, function, bound, signature, doc) \
    PyObject *device_array_compute_##name(PyObject *self, PyObject *args, PyObject *kwargs);
#include "runtime/cuda/array_methods.def"
#undef ARRAY_METHOD
PyObject *device_array_ufunc(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_host_view(DeviceArray *self, PyObject *unused);
PyObject *device_array_reduce(DeviceArray *self, PyObject *unused);
#define BINARY(slot, ufunc)                                         \
    PyObject *device_array_##slot(PyObject *left, PyObject *right); \
    PyObject *device_array_inplace_##slot(PyObject *left, PyObject *right);
#define TERNARY(slot, ufunc)                                                         \
    PyObject *device_array_##slot(PyObject *left, PyObject *right, PyObject *third); \
    PyObject *device_array_inplace_##slot(PyObject *left, PyObject *right, PyObject *third);
#define UNARY(slot, ufunc) PyObject *device_array_##slot(PyObject *self);
#include "runtime/cuda/array_operators.def"
#undef UNARY
#undef TERNARY
#undef BINARY
PyObject *device_array_compare(PyObject *left, PyObject *right, int op);
PyObject *device_array_int(PyObject *self);
PyObject *device_array_float(PyObject *self);
PyObject *device_array_index(PyObject *self);
int device_array_bool(PyObject *self);
PyObject *device_array_element(PyObject *self, Py_ssize_t number); /* for iteration */

/* ---- array_views.c ---- */

PyObject *device_array_getitem(PyObject *object, PyObject *key);
int device_array_setitem(PyObject *object, PyObject *key, PyObject *value);
PyObject *device_array_getitem_method(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_setitem_method(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_reshape(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_ravel(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_transpose(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_squeeze(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_view(DeviceArray *self, PyObject *args, PyObject *kwargs);
PyObject *device_array_split(DeviceArray *self, PyObject *args, PyObject *kwargs);

#endif
