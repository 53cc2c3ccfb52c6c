/* dlpack.h: the structures of DLPack, for the files that speak it: array_dlpack.c by capsules, array_exchange.c by
 * tables of C functions. */
#ifndef KRAIT_RUNTIME_CUDA_DLPACK_H
#define KRAIT_RUNTIME_CUDA_DLPACK_H

#include <string.h> /* memcpy */

#include "runtime/cuda/device_array.h"

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };                   /* DLDeviceType */
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 }; /* DLDataTypeCode */
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2, DL_MAJOR = 1, DL_MINOR = 0 };

/* The structures of dlpack.h. */
typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* in elements; strides NULL: C order */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManaged {
    DLTensor tensor;
    void *context;
    void (*deleter)(struct DLManaged *self);
} DLManaged;

typedef struct DLVersioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct DLVersioned *self);
    uint64_t flags;
    DLTensor tensor;
} DLVersioned;

_Static_assert(sizeof(DLTensor) == 48 && sizeof(DLManaged) == 64 && sizeof(DLVersioned) == 80, "layout of dlpack.h");

typedef struct Lent { /* what a taker holds */
    union {
        DLManaged plain;
        DLVersioned versioned;
    };
    PyObject *array;
    int64_t dims[]; /* shape, strides in elements */
} Lent;

/* array_dlpack.c.  NULL, -1: exception set. */
Lent *dlpack_lend(DeviceArray *self, bool versioned, bool copied);
int dlpack_order(DeviceArray *self); /* puts the default stream behind all that use the array */
int dlpack_scalar(const DLTensor *tensor);
Device *dlpack_device(Runtime *runtime, Device *current, const DLTensor *tensor); /* `current`: the thread's */
/* The type of its elements; NULL: exception set. */
const Type *dlpack_element(Runtime *runtime, const DLTensor *tensor);
/* -1: exception set. */
int dlpack_refuse_dimensions(void);
static inline int dlpack_read(Runtime *runtime, Device *current, const DLTensor *tensor, bool readonly,
                              ArrayFields *fields) {
    unsigned ndim = (unsigned)tensor->ndim;
    if (KRAIT_UNLIKELY(ndim > TYPE_MAX_NDIM)) return dlpack_refuse_dimensions();
    if (!current) return -1;
    uint32_t dtype;
    _Static_assert(sizeof dtype == sizeof tensor->dtype, "layout of DLDataType");
    memcpy(&dtype, &tensor->dtype, sizeof dtype);
    bool as_before = dtype == runtime->tensor_dtype && runtime->tensor_element;
    bool here = tensor->device.type == DL_CUDA && tensor->device.id == current->ordinal && !current->shares_memory;
    fields->element = as_before ? runtime->tensor_element : dlpack_element(runtime, tensor);
    if (KRAIT_UNLIKELY(!fields->element)) return -1;
    fields->device = here ? current : dlpack_device(runtime, current, tensor);
    if (KRAIT_UNLIKELY(!fields->device)) return -1;
    fields->data = (char *)tensor->data + tensor->byte_offset;
    fields->ndim = ndim;
    fields->readonly = readonly;
    int64_t item = (int64_t)scalar_info[fields->element->scalar].bytes, *dims = fields->dims;
    for (unsigned i = 0; i < ndim; i++) dims[i] = tensor->shape[i];
    if (KRAIT_UNLIKELY(!tensor->strides)) strided_pack(ndim, tensor->shape, (size_t)item, LAYOUT_C, dims + ndim);
    for (unsigned i = 0; tensor->strides && i < ndim; i++) dims[ndim + i] = tensor->strides[i] * item;
    return 0;
}
/* A capsule that keeps a tensor, until the deleter is called with it; and an array on what is kept so. */
PyObject *dlpack_holder(DLVersioned *tensor);
PyObject *dlpack_wrap(Runtime *runtime, const DLTensor *tensor, bool readonly, PyObject *holder);

#endif
