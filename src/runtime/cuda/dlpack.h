/* dlpack.h: the structures of DLPack, for the files that speak it: array_dlpack.c by capsules, array_exchange.c by
 * tables of C functions. */
#ifndef KRAIT_RUNTIME_CUDA_DLPACK_H
#define KRAIT_RUNTIME_CUDA_DLPACK_H

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
int dlpack_read(Runtime *runtime, Device *current, const DLTensor *tensor, bool readonly, ArrayFields *fields);
/* A capsule that keeps a tensor, until the deleter is called with it; and an array on what is kept so. */
PyObject *dlpack_holder(DLVersioned *tensor);
PyObject *dlpack_wrap(Runtime *runtime, const DLTensor *tensor, bool readonly, PyObject *holder);

#endif
