/* plan.c: what a launch knows about a specialisation: where arrays lie among its arguments, which may be written, and
 * how the argument bytes become the GPU's parameter buffer (repr.h: kernel_params), which facts hold of a call.  Made
 * at the first launch, kept with the specialisation. */
#include "decorators/kernel.h"

#include "driver/driver.h"

#include <string.h> /* memcpy */

static void plan_free(void *extra) {
    Plan *plan = extra;
    for (int i = 0; i < plan->ndevices; i++)
        if (plan->loaded[i]) cuda_kernel_free(plan->loaded[i]);
    PyMem_Free(plan->loaded);
    PyMem_Free(plan->arrays);
    PyMem_Free(plan->ints);
    PyMem_Free(plan->moves);
    PyMem_Free(plan);
}

/* An array is where its data leaf is: alone, in a tuple, in an instance. */
static uint32_t count_arrays(const Type *type) {
    const Repr *repr = type_repr(type);
    uint32_t count = 0;
    for (uint32_t i = 0; i < repr->nleaves; i++) count += repr->leaves[i].kind == LEAF_DATA;
    return count;
}

static void list_arrays(Plan *plan, const Type *type, uint32_t argument, size_t offset, bool written) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++) {
        const Leaf *leaf = &repr->leaves[i];
        if (leaf->kind != LEAF_DATA) continue;
        plan->arrays[plan->narrays++] = (PlanArray){.type = leaf->array,
                                                    .item = type_size(type_element(leaf->array)),
                                                    .offset = (uint32_t)(offset + leaf->offset),
                                                    .argument = argument,
                                                    .written = written && !leaf->array->readonly};
    }
}

/* What the pass `intervals` takes for granted of an argument's type under FACT_SMALL. */
static bool is_wide_int(const Type *type) { return type_is_integer(type) && type->scalar == SCALAR_INT64; }

typedef struct Moving {
    Plan *plan;
    const Spec *spec;
} Moving;

/* Neighbouring parameters that are neighbours in the parameter buffer too are one move.  NULL: exception set. */
static void *make_moves(Arena *arena, void *context) {
    const Moving *moving = context;
    Plan *plan = moving->plan;
    const Spec *spec = moving->spec;
    KernelParam *params = NULL;
    size_t count = kernel_params(arena, spec->code->params, spec->nargs, &params, &plan->params_bytes);
    plan->moves = PyMem_Calloc(count + 1, sizeof *plan->moves);
    if (!plan->moves) return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++) {
        const Leaf *leaf = params[i].leaf;
        PlanMove move = {spec->args[params[i].argument].offset + leaf->offset, params[i].to,
                         (uint32_t)leaf_bytes(leaf)};
        PlanMove *last = plan->nmoves ? &plan->moves[plan->nmoves - 1] : NULL;
        if (last && last->from + last->bytes == move.from && last->to + last->bytes == move.to)
            last->bytes += move.bytes;
        else
            plan->moves[plan->nmoves++] = move;
    }
    return plan;
}

static int list_moves(Plan *plan, const Spec *spec) {
    if (!errors_with_arena(make_moves, &(Moving){plan, spec})) return -1;
    if (plan->params_bytes <= MAX_PARAMS_BYTES) return 0;
    PyErr_Format(PyExc_ValueError, "the arguments of the kernel take %zu bytes, a GPU passes at most %d",
                 plan->params_bytes, MAX_PARAMS_BYTES);
    return -1;
}

/* `out += x[i]` with a number for `out`: the caller sees nothing of it, in the interpreter as here. */
static int warn_without_effect(const Kernel *kernel, const Code *code) {
    if (!code->assigned) return 0;
    return PyErr_WarnFormat(kernel->core.state->errors[ERROR_WARNING], 1,
                            "kernel %U writes to none of its arguments: assigning to the parameter '%s' changes a "
                            "variable of the thread; pass an array, of one element if need be, and write %s[0] = ...",
                            ((PyFunctionObject *)kernel->core.function)->func_qualname, code->assigned, code->assigned);
}

Plan *plan_of(Kernel *kernel, Spec *spec) {
    if (spec->extra) return spec->extra;
    Plan *plan = PyMem_Calloc(1, sizeof *plan);
    uint32_t count = 0, nwritten = 0;
    if (!plan) return (Plan *)PyErr_NoMemory();
    for (uint32_t i = 0; i < spec->nargs; i++) count += count_arrays(spec->args[i].type);
    plan->arrays = PyMem_Calloc(count + 1, sizeof *plan->arrays);
    plan->ints = PyMem_Calloc(spec->nargs + 1, sizeof *plan->ints);
    plan->ndevices = spec->code->ptx ? cuda_device_count(kernel->core.state->cuda) : 0;
    plan->loaded = PyMem_Calloc((size_t)plan->ndevices + 1, sizeof *plan->loaded);
    if (!plan->arrays || !plan->ints || !plan->loaded) {
        PyErr_NoMemory();
        goto failed;
    }
    for (uint32_t i = 0; i < spec->nargs; i++)
        if (is_wide_int(spec->args[i].type)) plan->ints[plan->nints++] = spec->args[i].offset;
    for (uint32_t i = 0; i < spec->nargs; i++)
        list_arrays(plan, spec->args[i].type, i, spec->args[i].offset, (spec->code->written >> (i < 63 ? i : 63)) & 1);
    for (uint32_t i = 0; i < plan->narrays; i++) nwritten += plan->arrays[i].written;
    if (nwritten == 0 && warn_without_effect(kernel, spec->code) < 0) goto failed;
    plan->may_overlap = nwritten > 0 && plan->narrays > 1;
    if (spec->code->ptx && list_moves(plan, spec) < 0) goto failed;
    spec->extra = plan;
    spec->free_extra = plan_free;
    return plan;
failed:
    plan_free(plan);
    return NULL;
}

CudaKernel *plan_kernel(Kernel *kernel, Spec *spec, Plan *plan, CudaContext *context) {
    int device = context_device(context);
    if (KRAIT_UNLIKELY(!plan->loaded[device] || cuda_kernel_gone(plan->loaded[device]))) {
        cuda_kernel_free(plan->loaded[device]);
        const Code *code = spec->code;
        CudaKernel *loaded = cuda_kernel_load(context, code->ptx, code->config.codegen.entry_name,
                                              kernel->core.options.max_registers);
        if (loaded && kernel->core.options.has_carveout &&
            cuda_kernel_set_carveout(loaded, kernel->core.options.carveout) < 0) {
            cuda_kernel_free(loaded);
            loaded = NULL;
        }
        plan->loaded[device] = loaded;
    }
    return plan->loaded[device];
}

typedef struct Extent {
    uintptr_t low, high; /* the first byte, one past the last */
} Extent;

static inline Extent extent_of(const PlanArray *array, const char *buffer) {
    const ArrayHead *head = (const ArrayHead *)(buffer + array->offset);
    const int64_t *shape = (const int64_t *)(head + 1);
    uintptr_t data = (uintptr_t)head->data;
    if (array->type->ndim == 1 && array->type->layout != LAYOUT_A)
        return (Extent){data, data + (size_t)shape[0] * array->item};
    ByteRange range = strided_range(array->type->ndim, shape, shape + array->type->ndim, array->item);
    return (Extent){data + (uintptr_t)range.low, data + (uintptr_t)range.high};
}

/* An array without elements overlaps nothing: its extent is empty. */
static bool meets(Extent one, Extent other) {
    return one.low < other.high && other.low < one.high && one.low < one.high && other.low < other.high;
}

/* Whether an array that may be written shares memory with another argument. */
static bool overlaps(const Plan *plan, const char *buffer) {
    enum { FEW = 16 };
    Extent extents[FEW];
    if (!plan->may_overlap) return false;
    for (uint32_t i = 0; i < plan->narrays && i < FEW; i++) extents[i] = extent_of(&plan->arrays[i], buffer);
    for (uint32_t i = 0; i < plan->narrays; i++) {
        Extent one = i < FEW ? extents[i] : extent_of(&plan->arrays[i], buffer);
        for (uint32_t k = 0; k < i; k++) {
            if (!plan->arrays[i].written && !plan->arrays[k].written) continue;
            if (meets(one, k < FEW ? extents[k] : extent_of(&plan->arrays[k], buffer))) return true;
        }
    }
    return false;
}

static bool is_small_array(const PlanArray *array, const char *buffer) {
    const int64_t *shape = (const int64_t *)(buffer + array->offset + sizeof(ArrayHead));
    int64_t item = (int64_t)type_size(type_element(array->type)), count = 1;
    for (unsigned i = 0; i < array->type->ndim; i++) {
        if (shape[i] > SMALL_COUNT) return false;
        count *= shape[i];
        if (count > SMALL_COUNT) return false;
    }
    if (array->type->layout != LAYOUT_A) return count <= INT32_MAX / (item ? item : 1);
    ByteRange range = strided_range(array->type->ndim, shape, shape + array->type->ndim, (size_t)item);
    return range.low > INT32_MIN && range.high - range.low <= INT32_MAX;
}

static bool is_small(const Plan *plan, const char *buffer, const Dims *grid) {
    for (int axis = 0; axis < 3; axis++)
        if (grid->x[axis] > SMALL_BLOCKS) return false;
    for (uint32_t i = 0; i < plan->nints; i++) {
        int64_t number;
        memcpy(&number, buffer + plan->ints[i], sizeof number);
        if (number <= -SMALL_COUNT || number >= SMALL_COUNT) return false;
    }
    for (uint32_t i = 0; i < plan->narrays; i++)
        if (!is_small_array(&plan->arrays[i], buffer)) return false;
    return true;
}

uint32_t plan_facts(const Plan *plan, const char *buffer, const Dims *grid) {
    return (overlaps(plan, buffer) ? 0 : FACT_NOALIAS) | (is_small(plan, buffer, grid) ? FACT_SMALL : 0);
}

void plan_pack(const Plan *plan, const char *buffer, char *params) {
    for (uint32_t i = 0; i < plan->nmoves; i++) {
        const PlanMove *move = &plan->moves[i];
        if (move->bytes == 8)
            memcpy(params + move->to, buffer + move->from, 8);
        else
            memcpy(params + move->to, buffer + move->from, move->bytes);
    }
}
