/* device_memory.h: inside the runtime: what its Python types share, and memory of a device, be it a GPU or this
 * process. */
#ifndef KRAIT_RUNTIME_DEVICE_MEMORY_H
#define KRAIT_RUNTIME_DEVICE_MEMORY_H

#include "runtime/cuda/cu_driver.h" /* Cuda, CudaContext */

/* How a class of another library gives its arrays (array_adopt.c): by a table of C functions, by the getters of its
 * fields, by __cuda_array_interface__, by __dlpack__; not at all, or not all of them: an object may have an
 * __cuda_array_interface__ of its own. */
typedef enum ForeignProtocol {
    FOREIGN_TABLE,
    FOREIGN_FIELDS,
    FOREIGN_INTERFACE,
    FOREIGN_CAPSULE,
    FOREIGN_NONE,
    FOREIGN_OBJECTS
} ForeignProtocol;

/* The address may be another class's by now, or the class another: then its version is not this one. */
struct Foreign {
    const PyTypeObject *type;
    unsigned version; /* tp_version_tag: no two classes ever have the same, and one that is changed gets another */
    ForeignProtocol protocol;
    bool numpy; /* derived from NumPy's array */
    const struct DLExchange *table;
};

/* What __cuda_array_interface__ has, and its own name. */
#define INTERFACE_KEY_LIST                               \
    INTERFACE_KEY(INTERFACE, "__cuda_array_interface__") \
    INTERFACE_KEY(SHAPE, "shape")                        \
    INTERFACE_KEY(TYPESTR, "typestr")                    \
    INTERFACE_KEY(DATA, "data")                          \
    INTERFACE_KEY(STRIDES, "strides")                    \
    INTERFACE_KEY(DESCR, "descr")                        \
    INTERFACE_KEY(MASK, "mask")                          \
    INTERFACE_KEY(STREAM, "stream")
typedef enum InterfaceKey {
#define INTERFACE_KEY(key, name) KEY_##key,
    INTERFACE_KEY_LIST
#undef INTERFACE_KEY
        INTERFACE_KEYS
} InterfaceKey;

enum { FOREIGNS = 8, ORDINARY = 16, SHELLS = 8 };

/* One per module state; its Python functions find it through the module, its objects through a field. */
typedef struct Runtime {
    Marshal *marshal;
    Cuda *cuda;
    Device host;
    Foreign foreign[FOREIGNS];   /* the last found first */
    Foreign ordinary[ORDINARY];  /* classes that are none of arrays, the last found first */
    struct FieldReader *fields;  /* array_fields.c; NULL: no class has such */
    DeviceArray *shells[SHELLS]; /* for arrays of others during a launch; NULL: none yet */
    const Type *recent;          /* of the array that was made last: the next one is often like it */
    const Type *tensor_element;  /* of the tensor that was read last; NULL: none was */
    uint32_t tensor_dtype;       /* the bytes of its DLDataType */
    PyObject *field_dtype;       /* of the array that was read last by its fields; NULL: none was */
    const Type *field_element;
    PyObject *keys[INTERFACE_KEYS]; /* array_interface.c; and the typestr that was read last, of numbers: NULL: none */
    PyObject *typestr;
    const Type *typestr_element;
    ByteRange *locked; /* memory of the host that is locked for the host device */
    size_t nlocked;
    PyObject *allocator;     /* of another library: bytes -> (address, what keeps it); NULL: none */
    struct Callback *called; /* by streams, and not let go of (stream.c) */
    PyObject *dropped;       /* list: what callbacks would have ended; NULL: nothing yet */
    unsigned calling;        /* callbacks under way */
    bool collects;           /* without them garbage is collected */
    PyTypeObject *device_array, *stream, *event, *device, *graph, *graph_block;
} Runtime;

/* stream.c: in a function that the driver calls on this thread, else NULL.  It must not call the driver: what is let go
 * of there is given back later, by another thread. */
extern _Thread_local Runtime *runtime_calling __attribute__((tls_model("initial-exec")));
void runtime_keep_dropped(PyObject *object); /* the tp_finalize of what the driver has to be called for */
/* Whether the object, which nobody refers to, is kept for that. */
static inline bool runtime_keeps(PyObject *object) {
    return KRAIT_UNLIKELY(runtime_calling != NULL) && PyObject_CallFinalizerFromDealloc(object) < 0;
}

/* array_adopt.c: NULL: no array, or an exception is set. */
const Foreign *device_array_foreign(Runtime *runtime, PyObject *object);
void device_array_drop_fields(struct FieldReader *fields); /* NULL: nothing */
/* array_interface.c: Runtime.keys; -1: exception set. */
int device_array_make_keys(Runtime *runtime);
void device_array_drop_keys(Runtime *runtime);

/* idle.c, with the GIL: the action is called when the device has done all that it was given: now, or once no thread
 * records a graph. */
void device_when_idle(Device *device, DeviceLater *later, void (*action)(DeviceLater *later, bool idle));
/* A thread does record one: when none does any more. */
void device_when_not_recorded(Device *device, DeviceLater *later, void (*action)(DeviceLater *later, bool idle));
void device_settle(Device *device);            /* does what was put off, if nothing stands against it any more */
void device_records(Device *device);           /* a thread begins to record a graph; */
void device_recorded(Device *device);          /* it has ended */
void device_defer(Device *device, bool begin); /* what frees would wait for is put off until this has ended, too, */
void device_now(Device *device);               /* or until now, unless a graph is recorded */
void device_was_reset(Device *device);         /* which ends those that were dropped */

int device_pin(Device *device, DevicePinned kind, size_t bytes, void **memory); /* -1: exception set */
/* Errors have nowhere to go. */
void device_release(Device *device, void *memory, size_t bytes, void *const *streams, size_t count);

/* device_array.c */
extern PyType_Spec device_array_spec;
PyObject *device_array_to_device(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *device_array_empty(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *device_array_empty_like(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *device_array_copy_to_host(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *device_array_from_interface(PyObject *module, PyObject *args, PyObject *kwargs);

PyObject *device_array_share(PyObject *module, PyObject *object);
PyObject *device_array_share_memory(PyObject *module, PyObject *address);
PyObject *device_array_open_shared(PyObject *module, PyObject *args);
PyObject *device_array_forget_shared(PyObject *module, PyObject *unused);
PyObject *device_array_exchange_table(void); /* a capsule: __dlpack_c_exchange_api__ of the class */
PyObject *device_array_from_dlpack(PyObject *module, PyObject *object);

/* stream.c, event.c, device_object.c, host_memory.c, graph.c */
extern PyType_Spec stream_spec, event_spec, device_spec, graph_spec, graph_block_spec;
PyObject *graph_new(PyObject *module, PyObject *unused);
extern PyMethodDef stream_functions[], event_functions[], device_functions[], host_memory_functions[];
extern PyMethodDef module_functions[]; /* modules.c */

PyObject *cuda_error_table(PyObject *module, PyObject *unused); /* cu_errors.c: its rows */

/* The state of the module begins with it. */
/* status = what the call gives; behind a callback that wants the GIL without it. */
#define GIVE(device, status, call)                   \
    do {                                             \
        if ((device)->callbacks == 0) {              \
            (status) = (call);                       \
        } else {                                     \
            Py_BEGIN_ALLOW_THREADS(status) = (call); \
            Py_END_ALLOW_THREADS                     \
        }                                            \
    } while (0)

#define RUNTIME_OF(module) (*(Runtime **)PyModule_GetState(module))
#define NEEDS_GPU          "this needs a GPU: kernels run on the host device here (%s)"

/* device_object.c: as Python sees it; NULL for no device: an exception is set already. */
PyObject *device_object(Runtime *runtime, Device *device);
/* device_names.c */
int device_attribute_number(PyObject *name); /* CUdevice_attribute; -1: it has no such name */
PyObject *device_attribute_table(PyObject *module, PyObject *unused);
PyObject *device_dir(PyObject *device, PyObject *unused);
PyObject *device_primary_context(PyObject *device, PyObject *unused);
PyObject *device_context_of(Runtime *runtime, Device *device);
PyObject *device_handle_object(void *handle); /* of a stream or an event, as a ctypes.c_void_p */
/* device_memory.c: whether `what`, a stream or an event, was made since the last reset of its device.  -1: exception
 * set. */
int device_check_life(const Device *home, unsigned generation, const char *what);
PyObject *device_from_identity(PyObject *class, PyObject *identity);

#endif
