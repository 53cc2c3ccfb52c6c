/* marshal.h: Python values to the layout of repr.h and back, for host calls and for launches on either device. */
#ifndef KRAIT_RUNTIME_MARSHAL_H
#define KRAIT_RUNTIME_MARSHAL_H

#include <Python.h> /* PyObject */

#include "frontend/frontend.h" /* Objects (ObjRef of functions passed as arguments) */
#include "ir/ir.h"             /* Type */
#include "runtime/device.h"    /* Device */

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function /* in a PyMethodDef, with METH_KEYWORDS */

int marshal_import_numpy(void); /* before anything else here; -1: exception set */

/* The lists, dicts, sets and instances of one call, and the objects of the heap that they have become (origins.c). */
enum { ORIGINS_FEW = 8 };
typedef struct Origin {
    PyObject *object;    /* a reference, as of the objects below */
    const Type *type;    /* TY_LIST, TY_DICT, TY_SET, or that of an instance */
    uintptr_t owners[2]; /* the bytes of its value */
    PyObject *stand_in;  /* an instance of a class of the prelude, which has what the object holds; or NULL */
    bool waits;          /* an instance whose attributes are still to be taken, or to be assigned */
    bool untold;         /* it has not the type by itself (Origins.untold) */
} Origin;
typedef struct Origins {
    size_t count, room; /* of all */
    Origin *all;        /* in the order in which they were met */
    size_t places;      /* of numbers; 0: they are searched in turn */
    uint32_t *numbers;  /* by address: 1 + number in all, or 0 */
    bool differs;       /* one was met again as what has another type */
    /* What was taken last does not have its type by itself: an empty list was taken as one of floats, None as an int or
     * None, an int as the float that other instances have there.  Set where such is met, and cleared by who looks. */
    bool untold;
    const Type *asked;   /* with which the code was asked for that the arguments may be for; NULL: nobody asks */
    size_t first;        /* while busy: the instance that led to all that is met meanwhile */
    const char *refused; /* the attribute that was not taken last; NULL: none */
    const Type *wanted;  /* which the code takes there */
    PyObject *replaced;  /* a list of what containers held, arrays, before they were written back; NULL: nothing */
    bool busy;           /* somebody sees to the instances that wait: those that are met meanwhile wait as well */
    Origin few[ORIGINS_FEW];
} Origins;
void origins_begin(Origins *origins);
void origins_end(Origins *origins);
/* Before that, where what was boxed lives on in compiled code: next time it is boxed anew. */
void origins_disown(const Origins *origins);

typedef struct Marshal { /* what it needs to know; one per module state, and one per call that has containers */
    TypeTable *types;
    Objects *objects;
    PyObject *dtypes;           /* dict: address of a struct type -> a dtype whose items it is */
    PyTypeObject *device_array; /* krait's DeviceArray type */
    bool host;                  /* for code that runs on the host as such: device arrays are refused */
    PyObject *heap_memory;      /* NumPy's handler of buffers that compiled code made: a capsule (heap_array.c) */
    bool copies;                /* lists are copied, also those that came from Python and go back to it */
    PyObject *copied;           /* with copies: a dict, address of a list, dict or set -> its copy; NULL: nobody asks */
    Origins *origins;           /* of the call; NULL: each time that a container is met it is another one */
    const struct Around *around; /* instances that are being typed, whose attributes the value is reached by */
    bool grown;    /* the call puts wider numbers, or arrays of any layout, into attributes than they may hold before */
    ObjHold *hold; /* keeps what marshal_typeof gives a number; NULL: held for good */
} Marshal;

/* The type an argument has in compiled code, and the constant it is if its type alone does not say it (NULL otherwise).
 * NULL with a TypeError set that names the Python type and a way out: unsupported. */
const Type *marshal_typeof(const Marshal *marshal, PyObject *object);
/* The same; the constant of a str lies in the arena and goes to *konst.  Both may be NULL. */
const Type *marshal_typeof_const(const Marshal *marshal, PyObject *object, Arena *arena, const Const **konst);

/* Writes the value's bytes if the object has exactly this type; MARSHAL_MISMATCH (no exception set) if it has another.
 * This is the hot path: no allocation, no attribute look-up for int, float, bool, complex, NumPy scalars, NumPy arrays
 * and device arrays.  For an array, owner is the object itself, borrowed. */
typedef enum MarshalResult { MARSHAL_OK, MARSHAL_MISMATCH, MARSHAL_ERROR } MarshalResult;
MarshalResult marshal_unpack(const Marshal *marshal, const Type *type, PyObject *object, void *to);
/* The same for an explicit signature, converting as the type's constructor does (int to float64, float64 to float32,
 * C array where any layout is declared); MARSHAL_ERROR: OverflowError or ValueError, an integer type cannot hold it. */
MarshalResult marshal_convert(const Marshal *marshal, const Type *type, PyObject *object, void *to);
/* What does either for values of a type, so that who unpacks many of them finds it once. */
typedef MarshalResult MarshalTake(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert);
MarshalTake *marshal_taker(const Type *type);
/* A scalar to another type, the same way; MARSHAL_MISMATCH: complex to real. */
MarshalResult marshal_convert_result(Scalar from_scalar, const void *from, Scalar to_scalar, void *to);
/* The same as C does, for loops over arrays: an integer keeps the low bits.  False: complex to real. */
bool marshal_convert_scalar(Scalar from_scalar, const void *from, Scalar to_scalar, void *to);
/* Bits that tell types apart, mixed into those of the arguments before; equal types have equal ones nearly always. */
uint64_t marshal_fingerprint(const Marshal *marshal, PyObject *object, uint64_t fingerprint);
/* The dtype of elements of a type; a new reference, NULL: exception set. */
struct _PyArray_Descr *marshal_descr(const Marshal *marshal, const Type *element);
/* The type of the items of a dtype in memory at these addresses (frontend_element_type), whose dtype it stays. */
const Type *marshal_element(const Marshal *marshal, struct _PyArray_Descr *descr, uintptr_t addresses);
/* Whether they are of that type. */
bool marshal_element_is(const Marshal *marshal, const Type *element, struct _PyArray_Descr *descr, uintptr_t addresses);
/* Whether items of the struct are such vectors, if they lie as vectors must. */
bool marshal_is_vector(const Type *vector, const Type *given);
/* The dtype of a scalar type; a new reference, NULL: exception set. */
struct _PyArray_Descr *marshal_scalar_descr(Scalar scalar);
/* NumPy's names of our scalars, both ways; -1: compiled code has no such type (long long and long are both int64).
 * bfloat16 has no number of NumPy's own. */
int marshal_typenum(Scalar scalar);
enum { MARSHAL_TYPENUMS = 24 };
extern const uint8_t marshal_scalars_of_typenums[MARSHAL_TYPENUMS]; /* one more than the Scalar; 0: there is none */
static inline int marshal_scalar_of_typenum(int typenum) {
    return (unsigned)typenum < MARSHAL_TYPENUMS ? (int)marshal_scalars_of_typenums[typenum] - 1 : -1;
}
/* NULL: exception set. */
PyTypeObject *marshal_scalar_type(Scalar scalar);
int marshal_scalar_of_class(PyTypeObject *class);
/* A new Python object for a result: Python scalars for weak types, NumPy scalars for strong ones, tuples, None, arrays
 * as views on their owner, or as owners of what compiled code made.  Uses up the result's references to the heap. */
PyObject *marshal_box(const Marshal *marshal, const Type *type, const void *from);
/* The tuple as an instance of the namedtuple that the type says; steals it and passes NULL on. */
PyObject *marshal_as_class(const Marshal *marshal, const Type *type, PyObject *tuple);
/* Gives up the references to the heap that a value holds and that no object is made of. */
void marshal_release(const Type *type, const void *from);
/* Takes one more of each. */
void marshal_retain(const Type *type, const void *from);
/* The objects of Python's that own the arrays of a value are kept until compiled code gives the arrays up, not by the
 * caller.  Not those in lists, dicts, sets and instances.  False: exception set. */
bool marshal_own_outside(const Type *type, void *at);
bool marshal_holds_nothing(const Type *type); /* the type of an empty list, dict or set */
bool marshal_holds_objects(const Type *type); /* lists, strings: each call makes and gives up copies of them */
/* After a call: the first `count` containers of marshal->origins as the code left them, into Python's. */
bool marshal_write_back(const Marshal *marshal, size_t count);
PyObject *marshal_heap_memory(void); /* a new Marshal.heap_memory */

/* A Python int of few digits; false: another object, or a larger int. */
static inline bool marshal_read_compact(PyObject *object, int64_t *value) {
    if (!PyLong_CheckExact(object)) return false;
#if PY_VERSION_HEX >= 0x030C0000
    if (!PyUnstable_Long_IsCompact((PyLongObject *)object)) return false;
    *value = PyUnstable_Long_CompactValue((PyLongObject *)object);
#else
    if ((size_t)(Py_SIZE(object) + 1) > 2) return false;
    *value = Py_SIZE(object) * (int64_t)((PyLongObject *)object)->ob_digit[0];
#endif
    return true;
}

/* An array in device memory.  From head on it is the layout of its type in repr.h, so unpacking it is a copy;
 * head.owner is the object itself. */
typedef struct StreamUse {
    void *stream;
    PyObject *keeper; /* keeps the stream alive; NULL: one that is always there, or an address */
} StreamUse;

enum { STREAM_USES = 4 };

typedef struct DeviceArray {
    PyObject_VAR_HEAD const Type *type; /* TY_ARRAY; first what every launch looks at */
    Device *device;
    PyObject *base;      /* what owns the memory of a view; NULL: this object does, or the keeper */
    unsigned generation; /* of the device, when the array was made; with another one its memory is gone */
    unsigned nuses;
    /* Of an array that owns its memory: the streams that may still use it, the last first; the memory is freed behind
     * what they have been given. */
    StreamUse uses[STREAM_USES];
    PyObject *weakrefs;
    PyObject *keeper; /* what a memory manager gave with the memory */
    struct Runtime *runtime;
    struct ArrayQuiet *quiet;          /* somebody wants to know whether it is used; NULL: nobody does */
    StreamUse home;                    /* where it was allocated */
    bool settled;                      /* the allocation is over for every stream, not only in the order of home */
    bool known;                        /* its address is known outside: the memory cannot be moved */
    unsigned recorded;                 /* how often it stands in what graphs keep */
    unsigned busy;                     /* calls that use it and may run without the GIL: it neither moves nor goes */
    unsigned lent;                     /* how often DLPack has given the memory to somebody who has it still */
    struct DeviceArray *next, *before; /* a ring: the array that owns the memory, and its views */
    ArrayHead head;
    int64_t dims[]; /* shape[ndim], strides[ndim] */
} DeviceArray;

/* What a function of a module in Python gives; the format is that of a tuple, "(Oi)" (python_call.c).  NULL: exception
 * set. */
PyObject *marshal_call_python(const char *module_name, const char *name, const char *format, ...);

/* Its bytes as an argument; it owns itself, borrowed. */
static inline void marshal_describe_device_array(DeviceArray *array, unsigned ndim, void *to) {
    int64_t *dims = (int64_t *)((ArrayHead *)to + 1);
    *(ArrayHead *)to = (ArrayHead){array->head.data, array};
    for (unsigned i = 0; i < 2 * ndim; i++) dims[i] = array->dims[i];
}

#endif
