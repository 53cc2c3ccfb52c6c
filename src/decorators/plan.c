/* plan.c: what a launch knows about a specialisation: where arrays lie among its arguments, which may be written, and
 * how the argument bytes become the GPU's parameter buffer (repr.h: kernel_params), which facts hold of a call.  Made
 * at the first launch, kept with the specialisation. */
#include "decorators/kernel.h"

#include "codegen_nvptx/codegen_nvptx.h" /* codegen_nvptx_rows */
#include "decorators/facts.h"
#include "driver/driver.h"

#include <string.h> /* memcpy */

static void plan_free(void *extra) {
    Plan *plan = extra;
    for (int i = 0; plan->loaded && i < plan->ndevices; i++)
        if (plan->loaded[i]) code_unload(plan->loaded[i]);
    PyMem_Free(plan->loaded);
    PyMem_Free(plan->arrays);
    PyMem_Free(plan->ints);
    PyMem_Free(plan->words);
    PyMem_Free(plan->quick);
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
                                                    .align = (uint32_t)type_align(type_element(leaf->array)),
                                                    .whole = (uint32_t)type_whole_align(type_element(leaf->array)) - 1,
                                                    .offset = (uint32_t)(offset + leaf->offset),
                                                    .argument = argument,
                                                    .ndim = leaf->array->ndim,
                                                    .strided = leaf->array->layout == LAYOUT_A,
                                                    .written = written && !leaf->array->readonly};
    }
}

static void ask_for_rows(Plan *plan, const Code *code) {
    for (uint32_t i = 0; code->ptx && i < plan->narrays; i++) {
        unsigned asks = codegen_nvptx_rows(code->ptx, i);
        plan->arrays[i].rows = asks ? asks - 1 : 0;
    }
}

/* What the pass `intervals` takes for granted of an argument's type under FACT_SMALL. */
static bool is_wide_int(const Type *type) { return type_is_integer(type) && type->scalar == SCALAR_INT64; }

typedef struct Moving {
    Plan *plan;
    const Spec *spec;
} Moving;

/* Words first: nearly all parameters are of 8 bytes, or of several.  NULL: exception set. */
static void *make_moves(Arena *arena, void *context) {
    enum { WORD = 8 };
    const Moving *moving = context;
    Plan *plan = moving->plan;
    const Spec *spec = moving->spec;
    KernelParam *params = NULL;
    size_t count = kernel_params(arena, spec->code->params, spec->nargs, &params, &plan->params_bytes), words = 0;
    for (size_t i = 0; i < count; i++) words += leaf_bytes(params[i].leaf) / WORD;
    plan->words = PyMem_Calloc(words + count + 1, sizeof *plan->words);
    if (!plan->words) return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++) {
        const Leaf *leaf = params[i].leaf;
        uint32_t from = (uint32_t)(spec->args[params[i].argument].offset + leaf->offset), to = (uint32_t)params[i].to;
        uint32_t left = (uint32_t)leaf_bytes(leaf);
        for (; left >= WORD; left -= WORD, from += WORD, to += WORD)
            plan->words[plan->nwords++] = (PlanMove){from, to, WORD};
        if (left) plan->words[words + plan->nmoves++] = (PlanMove){from, to, left};
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
static int warn_without_effect(const Kernel *kernel, const Code *code, bool writes) {
    const char *name = code->lost ? code->lost : writes ? NULL : code->assigned;
    if (!name) return 0;
    return PyErr_WarnFormat(kernel->core.state->errors[ERROR_WARNING], 1,
                            "kernel %U%s: assigning to the parameter '%s' changes a variable of the thread%s; pass an "
                            "array, of one element if need be, and write %s[0] = ..., or cuda.atomic.add(%s, 0, ...) "
                            "where several threads add",
                            ((PyFunctionObject *)kernel->core.function)->func_qualname,
                            writes ? "" : " writes to none of its arguments", name,
                            code->lost ? ", which nothing reads" : "", name, name);
}

Plan *plan_make(Kernel *kernel, Spec *spec) {
    Plan *plan = PyMem_Calloc(1, sizeof *plan);
    uint32_t count = 0, nwritten = 0;
    if (!plan) return (Plan *)PyErr_NoMemory();
    plan->kernel = kernel;
    plan->code = spec->code;
    plan->ncaptured = (uint32_t)spec->code->ndevice_arrays;
    for (uint32_t i = 0; i < spec->nargs; i++) count += count_arrays(spec->args[i].type);
    plan->arrays = PyMem_Calloc(count + 1, sizeof *plan->arrays);
    plan->ints = PyMem_Calloc(spec->nargs + 1, sizeof *plan->ints);
    plan->ndevices = runtime_device_count(kernel->core.state->runtime);
    plan->packs = spec->code->ptx != NULL;
    plan->facts = spec->code->config.codegen.facts & FACTS_ALL;
    plan->loaded = PyMem_Calloc((size_t)plan->ndevices + 1, sizeof *plan->loaded);
    if (!plan->arrays || !plan->ints || !plan->loaded) {
        PyErr_NoMemory();
        goto failed;
    }
    for (uint32_t i = 0; i < spec->nargs; i++)
        if (is_wide_int(spec->args[i].type)) plan->ints[plan->nints++] = spec->args[i].offset;
    for (uint32_t i = 0; i < spec->nargs; i++)
        list_arrays(plan, spec->args[i].type, i, spec->args[i].offset, (spec->code->written >> (i < 63 ? i : 63)) & 1);
    ask_for_rows(plan, spec->code);
    for (uint32_t i = 0; i < plan->narrays; i++) {
        nwritten += plan->arrays[i].written;
        plan->arrays[i].written_before = i == 0                        ? -1
                                         : plan->arrays[i - 1].written ? (int32_t)i - 1
                                                                       : plan->arrays[i - 1].written_before;
    }
    if (warn_without_effect(kernel, spec->code, nwritten > 0 || spec->code->nprint_sites > 0) < 0) goto failed;
    plan->may_overlap = nwritten > 0 && plan->narrays > 1;
    if (list_moves(plan, spec) < 0 || (plan->packs && quick_prepare(plan, spec) < 0)) goto failed;
    if (spec->extra) { /* what the warning ran has launched it */
        plan_free(plan);
        return spec->extra;
    }
    spec->extra = plan;
    spec->free_extra = plan_free;
    return plan;
failed:
    plan_free(plan);
    return NULL;
}

DeviceKernel *plan_load(Kernel *kernel, Spec *spec, Plan *plan, Device *device) {
    DeviceKernel **loaded = &plan->loaded[device->ordinal];
    const Code *code = spec->code;
    const Options *options = &kernel->core.options;
    bool notes = code->nraise_sites || code->nprint_sites;
    DeviceKernel *gone = *loaded;
    *loaded = NULL;
    if (gone) code_unload(gone);
    DeviceKernel *made = code_load(kernel->core.state, device, code,
                                   &(DeviceCode){.ptx = code->ptx,
                                                 .entry = code->config.codegen.entry_name,
                                                 .host = code->host ? host_code_kernel(code->host) : NULL,
                                                 .max_registers = options->max_registers,
                                                 .has_carveout = options->has_carveout,
                                                 .carveout = options->carveout,
                                                 .barriers = code->has_barriers,
                                                 .watches_races = code->config.codegen.races,
                                                 .waits_for_grid = code->waits_for_grid,
                                                 .prints = code->nprint_sites > 0,
                                                 .reader = notes ? device_notes_read : NULL,
                                                 .owner = plan,
                                                 .params_bytes = plan->params_bytes,
                                                 .shared_bytes = code->shared_bytes,
                                                 .exception_bytes = code->exception_bytes});
    return code_keep(made, loaded);
}

/* ---- facts: what holds of this call's arguments ---- */

static bool small_ints(const Plan *plan, const char *buffer) {
    for (uint32_t i = 0; i < plan->nints; i++) {
        int64_t number;
        memcpy(&number, buffer + plan->ints[i], sizeof number);
        if (number <= -SMALL_COUNT || number >= SMALL_COUNT) return false;
    }
    return true;
}

uint32_t plan_facts(const Plan *plan, const char *buffer, bool small_grid) {
    enum { FEW = 32 };
    Extent few[FEW], *extents = few;
    bool small = small_grid && small_ints(plan, buffer), apart = true;
    uintptr_t between = 0;
    if (KRAIT_UNLIKELY(plan->narrays > FEW) && !(extents = PyMem_Malloc(plan->narrays * sizeof *extents)))
        return 0; /* without memory nothing is known */
    for (uint32_t i = 0; i < plan->narrays; i++) {
        const PlanArray *array = &plan->arrays[i];
        const ArrayHead *head = (const ArrayHead *)(buffer + array->offset);
        const int64_t *dims = (const int64_t *)(head + 1);
        small &= facts_measure(array, head->data, dims, &extents[i]);
        between |= facts_between_rows(head->data, array->ndim, dims, array->item, array->rows);
        if (plan->may_overlap && apart) apart = !facts_overlap(plan->arrays, extents, i);
    }
    if (extents != few) PyMem_Free(extents);
    return facts_variant(small, apart, between == 0);
}
