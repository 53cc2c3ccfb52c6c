/* runtime.h: what happens at a call: Python values to bytes and back (marshal), the CUDA driver behind dlopen, device
 * arrays, launches.
 *
 * Two halves, in that order.  marshal_*.c turns arguments into the layout of ir.h and results back; it serves host
 * calls, host-device and GPU launches alike.  cuda_*.c, device_array.c and launch.c are the GPU: libcuda.so.1 is opened
 * at first use (cu_api.def lists its symbols), its absence is an answer, not an error.  CUDA state hangs on a Cuda
 * object per module state and a context object per device. */
#ifndef KRAIT_RUNTIME_H
#define KRAIT_RUNTIME_H

#include <Python.h> /* PyObject */

#include "frontend/frontend.h" /* Objects (ObjRef of functions passed as arguments) */
#include "ir/ir.h"             /* Type, KernelLeaf */

/* ---- marshal ---- */

int marshal_import_numpy(void); /* before anything else here; -1: exception set */

typedef struct Marshal { /* what it needs to know; one per module state */
    TypeTable *types;
    Objects *objects;
    PyTypeObject *device_array; /* krait's DeviceArray type */
    bool host;                  /* for code that runs on the host as such: device arrays are refused */
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
/* The same, converting as C does for an explicit signature (int to float64, float64 to float32, C array where any
 * layout is declared). */
MarshalResult marshal_convert(const Marshal *marshal, const Type *type, PyObject *object, void *to);
bool marshal_convert_scalar(Scalar from_scalar, const void *from, Scalar to_scalar,
                            void *to); /* false: complex to real */
/* NumPy's names of our scalars, both ways; -1: compiled code has no such type (long long and long are both int64). */
int marshal_typenum(Scalar scalar);
int marshal_scalar_of_typenum(int typenum);
PyTypeObject *marshal_scalar_type(Scalar scalar);
int marshal_scalar_of_class(PyTypeObject *class);
/* A new Python object for a result: Python scalars for weak types, NumPy scalars for strong ones, tuples, None, arrays
 * as views on their owner. */
PyObject *marshal_box(const Marshal *marshal, const Type *type, const void *from);

/* ---- CUDA ---- */

typedef struct Cuda Cuda;               /* the driver library and its devices */
typedef struct CudaContext CudaContext; /* primary context of one device: pool, streams, loaded modules */
typedef struct CudaKernel CudaKernel;   /* one loaded entry in one context */

/* Opens libcuda.so.1.  Never fails: cuda_why_not() is NULL when there is a usable GPU, else a sentence for people. */
Cuda *cuda_new(void);
void cuda_free(Cuda *cuda);
const char *cuda_why_not(Cuda *cuda);
int cuda_device_count(Cuda *cuda);
int cuda_driver_version(Cuda *cuda);  /* 13000 for 13.0 */
int cuda_max_ptx_version(Cuda *cuda); /* 90 for 9.0: the newest PTX the driver accepts */

/* The calling thread's current device (0 unless it selected another); its primary context is retained at first use.
 * NULL: exception set. */
CudaContext *cuda_current(Cuda *cuda);
int cuda_select(Cuda *cuda, int device); /* -1: exception set */
int context_device(const CudaContext *context);
int context_compute_capability(const CudaContext *context); /* 90 */

/* Loads PTX (the driver's own compiler runs: its log goes into the exception) and finds the entry. */
CudaKernel *cuda_kernel_load(CudaContext *context, const char *ptx, const char *entry_name, int max_registers);
void cuda_kernel_free(CudaKernel *kernel);
int cuda_kernel_attribute(CudaKernel *kernel, int attribute); /* CUfunction_attribute; -1: exception set */
int cuda_kernel_best_block(CudaKernel *kernel,
                           size_t shared_bytes); /* threads a block for the best occupancy; -1: exception set */
/* No GIL games, no allocation, no context query beyond one thread-local compare.  params: buffer of kernel_leaves. */
int cuda_kernel_launch(CudaKernel *kernel, const unsigned grid[3], const unsigned block[3], void *stream,
                       unsigned shared_bytes, void *params, size_t params_bytes);

/* Where kernels run: KRAIT_CUDA_DEVICE=auto|gpu|cpu, read once.  1: on a GPU; 0: on the host device; -1: a GPU was
 * asked for and there is none (exception set).  cuda_choice_reason is the sentence that `krait info` and cuda.detect()
 * show. */
int cuda_use_gpu(Cuda *cuda);
const char *cuda_choice_reason(Cuda *cuda);

/* Memory of one launch, for host arrays given as arguments: allocated and freed in stream order.  -1: exception set. */
int cuda_stage_alloc(CudaContext *context, void *stream, size_t bytes, void **device);
int cuda_stage_in(CudaContext *context, void *stream, void *device, const void *host, size_t bytes);
int cuda_stage_out(CudaContext *context, void *stream, void *host, const void *device,
                   size_t bytes); /* returns when it has arrived */
int cuda_stage_free(CudaContext *context, void *stream, void *device);

/* ---- Python types of this folder: DeviceArray, Stream, Event, Device; created into the module by runtime_add_types
 * ---- */

/* An array in device memory.  From head on it is the layout of its type in ir.h, so unpacking it is a copy; head.owner
 * is the object itself. context NULL: the host device, whose memory is memory of this process. */
typedef struct DeviceArray {
    PyObject_VAR_HEAD PyObject *weakrefs;
    PyObject *base; /* what owns the memory of a view; NULL: this object does */
    struct Runtime *runtime;
    CudaContext *context;
    const Type *type; /* TY_ARRAY */
    ArrayHead head;
    int64_t dims[]; /* shape[ndim], strides[ndim] */
} DeviceArray;

/* The handle of a stream given to a launch: None and 0 are the default stream, else a Stream, an int or an object with
 * __cuda_stream__. -1: exception set. */
int runtime_stream_handle(const Marshal *marshal, PyObject *stream, void **handle);

/* Also adds the functions behind the names of krait.cuda that this folder serves: to_device device_array
 * device_array_like pinned_array stream event synchronize select_device get_current_device list_devices current_context
 * ...; sets marshal->device_array. */
int runtime_add_types(PyObject *module, Marshal *marshal, Cuda *cuda);

#endif
