/* staging.c: host arrays as arguments of a GPU kernel: copied in before the launch, and back after it if the kernel
 * may have written them.
 *
 * Arrays whose memory overlaps form a group that travels as one piece, so that views of one array stay views of one
 * array.  The whole range of bytes is copied, unless a single array reaches over much more memory than it has
 * elements: then a compact copy travels. */
#include "decorators/kernel.h"
#include "decorators/numpy_api.h"

#include <stdlib.h> /* qsort */
#include <string.h> /* memcpy */

typedef struct StagedArray {
    const PlanArray *array;
    ArrayHead *head;
    uintptr_t low, high;
} StagedArray;

struct StagedGroup {
    char *host;
    size_t bytes, offset; /* in the device allocation */
    bool read, written;   /* travels to the GPU, and back */
    PyObject *compact;    /* the compact copy, or NULL */
    PyObject *original;   /* where it is copied back to */
};

enum { ALIGN = 256 };

static int by_address(const void *a, const void *b) {
    uintptr_t x = ((const StagedArray *)a)->low, y = ((const StagedArray *)b)->low;
    return x < y ? -1 : x > y;
}

/* Launches with host arrays have few as a rule, and those in order. */
static void sort_by_address(StagedArray *staged, size_t count) {
    enum { FEW = 8 };
    if (count > FEW) {
        qsort(staged, count, sizeof *staged, by_address);
        return;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && staged[k].low < staged[k - 1].low; k--) {
            StagedArray other = staged[k];
            staged[k] = staged[k - 1];
            staged[k - 1] = other;
        }
}

/* The memory range of an array, or an empty one. */
static void measure(StagedArray *staged) {
    const int64_t *shape = (const int64_t *)(staged->head + 1), *strides = shape + staged->array->type->ndim;
    const Type *type = staged->array->type;
    ByteRange range = strided_range(type->ndim, shape, strides, type_size(type_element(type)));
    staged->low = (uintptr_t)staged->head->data + (uintptr_t)range.low;
    staged->high = (uintptr_t)staged->head->data + (uintptr_t)range.high;
}

static bool is_sparse(const StagedArray *staged) {
    PyArrayObject *array = staged->head->owner;
    return staged->array->type->layout == LAYOUT_A && staged->high - staged->low > 4 * (size_t)PyArray_NBYTES(array);
}

static int make_compact(struct StagedGroup *group, StagedArray *staged) {
    PyArrayObject *original = staged->head->owner;
    unsigned ndim = staged->array->type->ndim;
    PyObject *compact = PyArray_NewCopy(original, NPY_CORDER);
    if (!compact) return -1;
    int64_t *strides = (int64_t *)(staged->head + 1) + ndim;
    for (unsigned i = 0; i < ndim; i++) strides[i] = PyArray_STRIDE((PyArrayObject *)compact, (int)i);
    group->compact = compact;
    group->original = Py_NewRef((PyObject *)original);
    staged->head->data = PyArray_DATA((PyArrayObject *)compact);
    measure(staged);
    return 0;
}

static bool says(const unsigned char *transfers, const StagedArray *staged, Transfer transfer) {
    return transfers && transfers[staged->array->argument] == 1 + transfer;
}

/* The bytes between the elements come back with them: only an array without gaps need not travel there first. */
static bool is_read(const unsigned char *transfers, const StagedArray *staged) {
    return !says(transfers, staged, TRANSFER_OUT) || staged->array->type->layout == LAYOUT_A;
}

/* Host arrays in order of address.  -1: an array lies on another GPU. */
static Py_ssize_t list_host_arrays(const Plan *plan, Device *device, char *buffer, const ModuleState *state,
                                   StagedArray *staged) {
    Py_ssize_t count = 0;
    for (uint32_t i = 0; i < plan->narrays; i++) {
        ArrayHead *head = (ArrayHead *)(buffer + plan->arrays[i].offset);
        if (PyObject_TypeCheck((PyObject *)head->owner, state->marshal.device_array)) {
            const Device *home = ((DeviceArray *)head->owner)->device;
            if (home == device || device_reaches(device, home)) continue;
            PyErr_Format(PyExc_ValueError, "a device array lies on device %d, the kernel runs on device %d",
                         home->ordinal, device->ordinal);
            return -1;
        }
        staged[count] = (StagedArray){&plan->arrays[i], head, 0, 0};
        measure(&staged[count]);
        if (staged[count].high > staged[count].low &&
            !cuda_reaches(state->cuda, (int64_t)staged[count].low, (int64_t)staged[count].high))
            count++;
    }
    sort_by_address(staged, (size_t)count);
    return count;
}

/* Gives each array its group; returns the bytes of all. */
static size_t form_groups(Staging *staging, StagedArray *staged, size_t count, size_t *group_of,
                          const unsigned char *transfers) {
    size_t total = 0;
    for (size_t i = 0; i < count;) {
        struct StagedGroup *group = &staging->groups[staging->ngroups];
        uintptr_t high = staged[i].high;
        size_t end = i + 1;
        while (end < count && staged[end].low < high) {
            if (staged[end].high > high) high = staged[end].high;
            end++;
        }
        if (end == i + 1 && is_sparse(&staged[i])) {
            if (make_compact(group, &staged[i]) < 0) return 0;
            high = staged[i].high;
        }
        group->host = (char *)staged[i].low;
        group->bytes = high - staged[i].low;
        group->offset = total + (uintptr_t)group->host % ALIGN; /* what is aligned here is aligned there */
        for (; i < end; i++) {
            group_of[i] = staging->ngroups;
            group->read |= is_read(transfers, &staged[i]);
            group->written |= staged[i].array->written && !says(transfers, &staged[i], TRANSFER_IN);
        }
        total = (group->offset + group->bytes + ALIGN - 1) / ALIGN * ALIGN;
        staging->ngroups++;
    }
    return total;
}

/* Page-locked memory the GPU reads while the program goes on, and may write to it: then it has to be waited for, unless
 * what is copied back is, anyway.  -1: exception set. */
static int must_wait(const Staging *staging, Device *device, const struct StagedGroup *group) {
    int ordinal = -1;
    for (size_t i = 0; i < staging->ngroups; i++)
        if (staging->groups[i].written) return 0;
    int status = device->ops->home(device, group->host, &ordinal);
    return device_check(device, status, "asking where memory lies") < 0 ? -1 : ordinal >= 0;
}

/* What is small goes by way of the stack, several as one piece: the driver has copied it when it returns. */
static int copy_groups_in(const Staging *staging, Device *device, void *stream) {
    enum { SMALL = 1 << 14 }; /* bytes */
    char piece[SMALL];
    size_t nread = 0;
    for (size_t i = 0; i < staging->ngroups; i++) nread += staging->groups[i].read;
    bool together = nread > 1 && staging->bytes <= SMALL;
    for (size_t i = 0; i < staging->ngroups; i++) {
        const struct StagedGroup *group = &staging->groups[i];
        bool small = group->bytes <= SMALL;
        char *to = (char *)staging->memory + group->offset, *by = together ? piece + group->offset : piece;
        if (!group->read) continue;
        if (together || small) memcpy(by, group->host, group->bytes);
        if (together) continue;
        int wait = small ? 0 : must_wait(staging, device, group);
        if (wait < 0 || device_copy(device, COPY_IN, stream, wait, to, small ? by : group->host, group->bytes) < 0)
            return -1;
    }
    return together ? device_copy(device, COPY_IN, stream, false, staging->memory, piece, staging->bytes) : 0;
}

/* -1: exception set. */
static int allocate(Staging *staging, Device *device, void *stream, const ModuleState *state) {
    if (runtime_has_manager(state->runtime)) {
        staging->keeper = manager_memory(state->runtime, device, MANAGER_DEVICE, (int64_t)staging->bytes,
                                         &staging->memory);
        if (staging->keeper) return manager_order(device, stream);
        if (PyErr_Occurred()) return -1;
    }
    return device_allocate(device, stream, staging->bytes, &staging->memory);
}

int staging_in(Staging *staging, const Plan *plan, Device *device, void *stream, char *buffer, const ModuleState *state,
               const unsigned char *transfers) {
    size_t most = plan->narrays + 1;
    *staging = (Staging){0};
    struct StagedGroup *groups = PyMem_Calloc(most, sizeof *groups + sizeof(StagedArray) + sizeof(size_t));
    if (!groups) return PyErr_NoMemory(), -1;
    StagedArray *staged = (StagedArray *)(groups + most); /* one block for all: it goes with the groups */
    size_t *group_of = (size_t *)(staged + most);
    staging->groups = groups;
    Py_ssize_t count = list_host_arrays(plan, device, buffer, state, staged);
    if (count < 0) return -1;
    staging->bytes = form_groups(staging, staged, (size_t)count, group_of, transfers);
    if (count > 0 && staging->bytes == 0) return -1;
    if (count > 0 && allocate(staging, device, stream, state) < 0) return -1;
    if (copy_groups_in(staging, device, stream) < 0) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        const struct StagedGroup *group = &staging->groups[group_of[i]];
        staged[i].head->data = (char *)staging->memory + group->offset + ((char *)staged[i].head->data - group->host);
    }
    return 0;
}

/* The way back; also cleans up after a failed staging_in or launch (copy_back false). */
int staging_out(Staging *staging, Device *device, void *stream, bool copy_back) {
    PyObject *type, *value, *traceback;
    int result = 0;
    PyErr_Fetch(&type, &value, &traceback);
    for (size_t i = 0; i < staging->ngroups; i++) {
        struct StagedGroup *group = &staging->groups[i];
        if (copy_back && group->written && result == 0) {
            result = device_copy_only(device, COPY_OUT, stream, true, group->host,
                                      (char *)staging->memory + group->offset, group->bytes);
            if (result == 0 && group->compact)
                result = PyArray_CopyInto((PyArrayObject *)group->original, (PyArrayObject *)group->compact);
        }
        Py_XDECREF(group->compact);
        Py_XDECREF(group->original);
    }
    int status = 0;
    if (staging->keeper)
        manager_give_back(device, staging->keeper, &stream, 1);
    else if (staging->memory)
        status = device_give_back(device, staging->memory, staging->bytes, &stream, 1);
    if (device_check(device, status, "freeing the memory of a launch") < 0) result = -1;
    PyMem_Free(staging->groups);
    if (type) PyErr_Restore(type, value, traceback);
    *staging = (Staging){0};
    return result;
}
