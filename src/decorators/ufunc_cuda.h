/* ufunc_cuda.h: what the files of @vectorize(target='cuda') share: ufunc_cuda.c (the call and its launch),
 * ufunc_operands.c (arrays and numbers in, results out), ufunc_geometry.c (shapes and strides of the operands),
 * ufunc_host.c (the same on the host device). */
#ifndef KRAIT_DECORATORS_UFUNC_CUDA_H
#define KRAIT_DECORATORS_UFUNC_CUDA_H

#include "codegen_nvptx/codegen_nvptx.h" /* UfuncHead, UfuncOperand */
#include "decorators/vectorized.h"

enum { UFUNC_MIN_THREADS = 64, UFUNC_MAX_THREADS = 256 }; /* of a block; fewer leave places on a multiprocessor empty */

typedef struct UfuncCall {
    Vectorized *self;
    ModuleState *state;
    Device *device;
    void *stream;
    PyObject *stream_object; /* borrowed; keeps the stream alive */
    int nin, nout;
    Spec *spec;
    bool any_device;
    int ndim;
    UfuncHead head;
    const Type *types[MAX_OPERANDS];  /* as the kernel computes */
    PyObject *operands[MAX_OPERANDS]; /* owned; DeviceArray each, outputs last; NULL: the scalar in values */
    int64_t values[MAX_OPERANDS];     /* the bytes of a scalar that goes over with the launch */
    PyObject *out[MAX_OPERANDS];      /* borrowed: what the caller gave, or NULL */
    int64_t shape[TYPE_MAX_NDIM];
    UfuncOperand places[MAX_OPERANDS];
} UfuncCall;

static inline bool ufunc_is_device_array(const ModuleState *state, PyObject *object) {
    return object && Py_IS_TYPE(object, state->marshal.device_array);
}

PyObject *ufunc_call_module(const Vectorized *self, const char *name, PyObject *first, PyObject *second);

/* The signature whose loop takes operands of the call's types; NULL: exception set. */
const Spec *ufunc_choose_signature(const UfuncCall *call);

/* ---- ufunc_operands.c: -1 or NULL with an exception set ---- */

PyObject *ufunc_bring_in(UfuncCall *call, PyObject *object, const Type *type);
int ufunc_bring_scalar(UfuncCall *call, int i, PyObject *object, const Type *type); /* 0: it is no number */
int ufunc_check_writable(const ModuleState *state, PyObject *out);
int ufunc_read_out(UfuncCall *call, PyObject *out);
int ufunc_make_outputs(UfuncCall *call);
PyObject *ufunc_take_results(UfuncCall *call);

/* ---- ufunc_geometry.c ---- */

int ufunc_broadcast(UfuncCall *call); /* fills ndim and shape; -1: exception set */
bool ufunc_same_shape(const UfuncCall *call, const DeviceArray *array);
/* Whether a thread may read an input where another has written a result. */
bool ufunc_disturbs_inputs(const UfuncCall *call, const DeviceArray *out);
int ufunc_flatten(UfuncCall *call); /* fills head and places; -1: exception set */
bool ufunc_results_packed(const UfuncCall *call);
bool ufunc_can_use_lanes(const UfuncCall *call);
unsigned ufunc_most_threads(const UfuncCall *call);
bool ufunc_can_use_rows(const UfuncCall *call, unsigned *threads);

/* ---- ufunc_host.c ---- */

PyObject *ufunc_call_on_host(UfuncCall *call, PyObject *const *args, Py_ssize_t nargs, PyObject *out);

#endif
