/* ufunc_geometry.c: how the operands of an elementwise launch lie: shapes broadcast to one, neighbouring axes that
 * every operand steps through evenly joined, axes of length one dropped; which forms of the kernel may take them. */
#include "decorators/ufunc_cuda.h"

#include <string.h> /* memcmp */

/* Array i of those whose shapes are broadcast: the inputs, and what the caller gave for results; NULL: none. */
static const DeviceArray *shaping_array(const UfuncCall *call, int i) {
    if (i < call->nin) return (DeviceArray *)call->operands[i];
    PyObject *out = call->out[i - call->nin];
    return ufunc_is_device_array(call->state, out) ? (DeviceArray *)out : NULL;
}

int ufunc_broadcast(UfuncCall *call) {
    int count = call->nin + call->nout;
    for (int i = 0; i < count; i++) {
        const DeviceArray *array = shaping_array(call, i);
        if (array && array->type->ndim > call->ndim) call->ndim = array->type->ndim;
    }
    for (int axis = 0; axis < call->ndim; axis++) call->shape[axis] = 1;
    for (int i = 0; i < count; i++) {
        const DeviceArray *array = shaping_array(call, i);
        int ndim = array ? array->type->ndim : 0;
        for (int k = 0; k < ndim; k++) {
            int64_t *length = &call->shape[call->ndim - ndim + k];
            if (array->dims[k] == *length || array->dims[k] == 1) continue;
            if (*length != 1) {
                PyErr_Format(PyExc_ValueError,
                             "operands could not be broadcast together: along axis %d there are lengths %lld and %lld",
                             call->ndim - ndim + k, (long long)*length, (long long)array->dims[k]);
                return -1;
            }
            *length = array->dims[k];
        }
    }
    return 0;
}

bool ufunc_same_shape(const UfuncCall *call, const DeviceArray *array) {
    return array->type->ndim == call->ndim &&
           (call->ndim == 0 || memcmp(array->dims, call->shape, (size_t)call->ndim * sizeof(int64_t)) == 0);
}

/* The addresses of an array's bytes: from *low to below *high. */
static void extent_of(const DeviceArray *array, intptr_t *low, intptr_t *high) {
    unsigned ndim = array->type->ndim;
    ByteRange range = strided_range(ndim, array->dims, array->dims + ndim, type_size(type_element(array->type)));
    *low = (intptr_t)array->head.data + (intptr_t)range.low;
    *high = (intptr_t)array->head.data + (intptr_t)range.high;
}

/* Whether a thread may read an input where another has written a result: they overlap other than element by element. */
bool ufunc_disturbs_inputs(const UfuncCall *call, const DeviceArray *out) {
    intptr_t low, high, from, beyond;
    unsigned ndim = out->type->ndim;
    extent_of(out, &low, &high);
    for (int i = 0; i < call->nin; i++) {
        const DeviceArray *in = (DeviceArray *)call->operands[i];
        if (!in) continue;
        extent_of(in, &from, &beyond);
        if (from >= high || low >= beyond) continue;
        bool same = in->head.data == out->head.data && in->type->ndim == ndim &&
                    type_size(type_element(in->type)) == type_size(type_element(out->type)) &&
                    (ndim == 0 || memcmp(in->dims, out->dims, 2u * ndim * sizeof(int64_t)) == 0);
        if (!same) return true;
    }
    return false;
}

static int64_t operand_stride(const UfuncCall *call, int operand, int axis) {
    const DeviceArray *array = (DeviceArray *)call->operands[operand];
    if (!array) return 0;
    int own = axis - (call->ndim - array->type->ndim);
    if (own < 0 || array->dims[own] == 1) return 0;
    return array->dims[array->type->ndim + own];
}

/* Fills head and places: axis 0 is the innermost. */
int ufunc_flatten(UfuncCall *call) {
    int count = call->nin + call->nout;
    call->head = (UfuncHead){.size = 1, .mode = UFUNC_STRIDED, .ndim = 0, .immediate = call->head.immediate};
    for (int i = 0; i < count; i++) {
        const DeviceArray *array = (DeviceArray *)call->operands[i];
        call->places[i] = (UfuncOperand){.data = array ? array->head.data : NULL};
    }
    for (int axis = call->ndim - 1; axis >= 0; axis--) {
        int64_t length = call->shape[axis];
        int last = (int)call->head.ndim - 1;
        call->head.size *= length;
        if (length == 1) continue;
        bool joins = last >= 0;
        for (int i = 0; joins && i < count; i++)
            joins = operand_stride(call, i, axis) == call->places[i].strides[last] * call->head.shape[last];
        if (joins) {
            call->head.shape[last] *= length;
            continue;
        }
        if (call->head.ndim == UFUNC_MAX_NDIM) {
            PyErr_Format(PyExc_ValueError, "the operands have more than %d axes that cannot be joined", UFUNC_MAX_NDIM);
            return -1;
        }
        call->head.shape[call->head.ndim] = length;
        for (int i = 0; i < count; i++) call->places[i].strides[call->head.ndim] = operand_stride(call, i, axis);
        call->head.ndim++;
    }
    for (int axis = 0; axis < call->head.ndim; axis++)
        call->head.reciprocal[axis] = ufunc_reciprocal(call->head.shape[axis]);
    if (call->head.ndim == 0) {
        call->head.ndim = 1;
        call->head.shape[0] = 1;
    }
    return 0;
}

/* Whether the results lie in memory in the order in which threads are numbered, without gaps. */
bool ufunc_results_packed(const UfuncCall *call) {
    for (int i = call->nin; i < call->nin + call->nout; i++) {
        int64_t stride = scalar_info[call->types[i]->scalar].bytes;
        for (int axis = 0; axis < call->head.ndim; axis++) {
            if (call->head.shape[axis] > 1 && call->places[i].strides[axis] != stride) return false;
            stride *= call->head.shape[axis];
        }
    }
    return true;
}

/* Whether neighbours in the innermost axis may be taken UFUNC_LANES at a time, with wide accesses. */
bool ufunc_can_use_lanes(const UfuncCall *call) {
    if (call->head.ndim > 1 && call->head.shape[0] % UFUNC_LANES) return false;
    if (call->head.size < UFUNC_LANES || call->spec->code->ufunc_lanes == 1) return false;
    for (int i = 0; i < call->nin + call->nout; i++) {
        const UfuncOperand *place = &call->places[i];
        int64_t item = scalar_info[call->types[i]->scalar].bytes;
        if (place->strides[0] == 0 && i < call->nin) continue; /* read as one element */
        if (place->strides[0] != item || (uintptr_t)place->data % 16) return false;
        for (int axis = 1; axis < call->head.ndim; axis++)
            if (place->strides[axis] % 16) return false;
    }
    return true;
}

/* Of a block: what suits, or what the user allows. */
unsigned ufunc_most_threads(const UfuncCall *call) {
    unsigned wanted = call->self->max_blocksize;
    return wanted && wanted < UFUNC_MAX_THREADS ? wanted : UFUNC_MAX_THREADS;
}

/* Whether the grid may have a row of blocks for each row of elements: where the numbers are small enough and blocks of
 * *threads do not stand out over the end of the rows by more than an eighth. */
bool ufunc_can_use_rows(const UfuncCall *call, unsigned *threads) {
    const UfuncHead *head = &call->head;
    int64_t least = INT64_MAX;
    if (head->size > INT32_MAX) return false;
    for (int i = 0; i < call->nin + call->nout; i++)
        for (int axis = 0; axis < head->ndim; axis++) {
            int64_t stride = call->places[i].strides[axis];
            if (stride > INT32_MAX || stride < INT32_MIN) return false;
        }
    for (unsigned width = ufunc_most_threads(call); width >= UFUNC_MIN_THREADS; width -= UFUNC_MIN_THREADS) {
        int64_t covered = (head->shape[0] + width - 1) / width * width;
        if (covered >= least) continue;
        least = covered;
        *threads = width;
    }
    return least != INT64_MAX && least - head->shape[0] <= head->shape[0] / 8;
}
