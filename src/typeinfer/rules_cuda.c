/* rules_cuda.c: typing rules of krait.cuda: what only kernels, and functions that kernels call, may use.
 *
 * Places and sizes are Python ints.  Atomics give the old element. */
#include <string.h>

#include "typeinfer/rules_library.h" /* lib_* */

/* False: refused, for this is no kernel. */
static bool in_kernel(Typing *t) {
    if (t->in->device) return true;
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "%s can only be used in kernels", typing_func_name(t));
    return typing_hint(t, "compile the function with krait.cuda.jit");
}

bool rule_func_cuda_grid(Typing *t) {
    int64_t ndim = 0;
    TRY(in_kernel(t));
    TRY(typing_const_int(t, 0, &ndim));
    if (ndim < 1 || ndim > 3) {
        typing_fail_arg(t, 0, DIAG_BAD_ARGUMENTS, "%s takes 1, 2 or 3 dimensions, not %lld", typing_func_name(t),
                        (long long)ndim);
        return typing_hint(t,
                           "a grid has no more: let one index stand for two, and take it apart, i, j = k // n, k %% n");
    }
    if (ndim == 1) return typing_result(t, infer_int(t->in), NULL);
    return typing_result(t, lib_uniform_tuple(t->in, infer_int(t->in), (size_t)ndim), NULL);
}

bool rule_func_cuda_special(Typing *t) {
    TRY(in_kernel(t));
    return typing_result(t, infer_int(t->in), NULL);
}

bool rule_func_cuda_none(Typing *t) {
    TRY(in_kernel(t));
    return typing_result(t, infer_none(t->in), NULL);
}

bool rule_func_cuda_syncgrid(Typing *t) {
    enum { TOGETHER_CAPABILITY = 60 };
    int capability = t->in->config->compute_capability;
    TRY(in_kernel(t));
    if (capability && capability < TOGETHER_CAPABILITY)
        return typing_fail(t, DIAG_UNSUPPORTED_TARGET, "%s needs a GPU of compute capability 6.0, this is for %d.%d",
                           typing_func_name(t), capability / 10, capability % 10);
    return typing_result(t, infer_none(t->in), NULL);
}

bool rule_func_cuda_sync_predicate(Typing *t) {
    TRY(in_kernel(t));
    if (!lib_kinds(t, 0, 1, "biuf")) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        Value *arg = typing_make_cast(t, t->values[0], lib_scalar(t, 0));
        Value *truth = typing_make_op(t, OP_TRUTH, infer_bool(t->in), &arg, 1);
        value = typing_make_func(t, t->func, infer_int(t->in), &truth, 1);
    }
    return typing_become(t, value, infer_int(t->in));
}

/* One integer argument, or none. */
bool rule_func_cuda_int_argument(Typing *t) {
    TRY(in_kernel(t));
    if (!lib_kinds(t, 0, t->nargs, "biu")) return typing_bad_operands(t);
    for (size_t i = 0; i < t->nargs; i++) typing_cast(t, i, infer_int(t->in));
    return typing_result(t, infer_none(t->in), NULL);
}

/* ---- what lanes of a warp do together ---- */

/* A mask of lanes and a value of one of `kinds`; the value's type, or NULL: refused. */
static const Type *warp_value(Typing *t, const char *kinds) {
    TRY(in_kernel(t));
    if (!lib_kinds(t, 0, 1, "iu") || !lib_kinds(t, 1, 1, kinds)) {
        typing_bad_operands(t);
        return NULL;
    }
    typing_cast(t, 0, infer_int(t->in));
    typing_cast(t, 1, lib_scalar(t, 1));
    return lib_scalar(t, 1);
}

/* A set of lanes, a bit for each: 32 of them, so that clz, popc(~lanes) and shifts are what they are in CUDA. */
static const Type *lanes_type(Typing *t) { return infer_scalar(t->in, SCALAR_UINT32, false); }

bool rule_func_cuda_shfl(Typing *t) {
    const Type *type = warp_value(t, "biufc");
    TRY(type);
    if (!lib_kinds(t, 2, 1, "iu")) return typing_bad_operands(t);
    typing_cast(t, 2, infer_int(t->in));
    return typing_result(t, type, NULL);
}

bool rule_func_cuda_vote(Typing *t) {
    const Type *type = warp_value(t, "biuf"), *result = infer_bool(t->in);
    TRY(type);
    if (t->func == FUNC_CUDA_BALLOT_SYNC) result = lanes_type(t);
    Value *value = NULL;
    if (t->emit) {
        Value *predicate = typing_make_cast(t, t->values[1], type);
        Value *args[] = {typing_make_cast(t, t->values[0], infer_int(t->in)),
                         typing_make_op(t, OP_TRUTH, infer_bool(t->in), &predicate, 1)};
        value = typing_make_func(t, t->func, result, args, 2);
    }
    return typing_become(t, value, result);
}

bool rule_func_cuda_match(Typing *t) {
    enum { MATCH_CAPABILITY = 70 };
    int capability = t->in->config->compute_capability;
    if (capability && capability < MATCH_CAPABILITY)
        return typing_fail(t, DIAG_UNSUPPORTED_TARGET, "%s needs a GPU of compute capability 7.0, this is for %d.%d",
                           typing_func_name(t), capability / 10, capability % 10);
    TRY(warp_value(t, "biuf"));
    const Type *mask = lanes_type(t);
    return typing_result(t, t->func == FUNC_CUDA_MATCH_ANY_SYNC ? mask : lib_pair(t->in, mask, infer_bool(t->in)),
                         NULL);
}

bool rule_func_cuda_warp_reduce(Typing *t) {
    const Type *type = warp_value(t, "iu");
    TRY(type);
    return typing_result(t, type, NULL);
}

bool rule_func_cuda_lanes(Typing *t) {
    TRY(in_kernel(t));
    return typing_result(t, lanes_type(t), NULL);
}

/* ---- arrays ---- */

bool rule_func_cuda_array(Typing *t) {
    static const char *const params[] = {"shape", "dtype", "alignment"};
    int64_t shape[TYPE_MAX_NDIM], alignment = 0;
    size_t ndim = 0;
    TRY(in_kernel(t));
    TRY(typing_bind_keywords(t, params, 2, 3));
    if (!typing_const_shape(t, 0, shape, &ndim)) {
        if (t->in->diag->code == DIAG_NEEDS_CONSTANT)
            typing_hint(t, "use literals or global constants; for a size that the launch decides, %s",
                        t->func == FUNC_CUDA_SHARED_ARRAY
                            ? "cuda.shared.dynamic(shape, dtype) and kernel[grid, block, stream, bytes]"
                            : "pass an array that has a row for each thread, scratch = np.zeros((threads, n)), and "
                              "take the thread's own, scratch[cuda.grid(1)]");
        return false;
    }
    const Type *dtype = typing_const_element(t, 1);
    TRY(dtype);
    if (typing_given(t, 2) && !typing_is_none(t, 2)) {
        TRY(typing_const_int(t, 2, &alignment));
        if (alignment <= 0 || (alignment & (alignment - 1)))
            return typing_fail_arg(t, 2, DIAG_BAD_ARGUMENTS, "the alignment must be a power of two, not %lld",
                                   (long long)alignment);
        if (alignment > ARRAY_MAX_ALIGNMENT)
            return typing_fail_arg(t, 2, DIAG_BAD_ARGUMENTS, "the alignment is at most %d, not %lld",
                                   ARRAY_MAX_ALIGNMENT, (long long)alignment);
    }
    bool dynamic = t->func == FUNC_CUDA_SHARED_ARRAY && ndim == 1 && shape[0] == 0;
    int64_t bytes = (int64_t)type_size(dtype);
    for (size_t i = 0; i < ndim; i++) {
        if (shape[i] < 0 || (shape[i] == 0 && !dynamic))
            return typing_fail_arg(t, 0, DIAG_BAD_ARGUMENTS, "every dimension of %s must be positive, not %lld",
                                   typing_func_name(t), (long long)shape[i]);
        if (__builtin_mul_overflow(bytes, shape[i], &bytes) || bytes > INT32_MAX)
            return typing_fail_arg(t, 0, DIAG_BAD_ARGUMENTS, "%s is at most %d bytes", typing_func_name(t), INT32_MAX);
    }
    return typing_result(t, type_array(t->in->types, dtype, (unsigned)ndim, LAYOUT_C, false), NULL);
}

bool rule_func_cuda_array_like(Typing *t) {
    TRY(in_kernel(t));
    if (t->args[0].type->kind != TY_ARRAY) return typing_bad_operands(t);
    if (!t->args[0].konst) {
        typing_fail_arg(t, 0, DIAG_NEEDS_CONSTANT, "%s takes a global array, not %s", typing_func_name(t),
                        typing_arg_text(t, 0));
        return typing_hint(t, "make the array a global variable or one the kernel closes over");
    }
    return typing_become_arg(t, 0);
}

/* ---- atomics ---- */

/* Which element types an atomic operation takes, as NumPy type characters. */
static const char *atomic_types(FuncId func) {
    switch (func) {
    case FUNC_CUDA_ATOMIC_AND:
    case FUNC_CUDA_ATOMIC_OR:
    case FUNC_CUDA_ATOMIC_XOR: return "bhilBHIL";
    case FUNC_CUDA_ATOMIC_INC:
    case FUNC_CUDA_ATOMIC_DEC: return "BHIL";
    case FUNC_CUDA_ATOMIC_ADD:
    case FUNC_CUDA_ATOMIC_SUB: return "bhilBHILEefdFD";
    default: return "bhilBHILEefd";
    }
}

static bool is_index(const Type *type, unsigned ndim) {
    if (type_is_integer(type)) return ndim == 1;
    if (type->kind != TY_TUPLE || type->count != ndim) return false;
    for (uint32_t i = 0; i < type->count; i++)
        if (!type_is_integer(type->items[i])) return false;
    return true;
}

/* Of which types elements may be. */
static void hint_at_types(Typing *t, const char *types) {
    Buf names;
    buf_init(&names, t->in->arena);
    for (size_t i = 0; i < SCALAR_COUNT; i++)
        if (strchr(types, scalar_info[i].numpy_char))
            buf_printf(&names, "%s%s", names.len ? ", " : "", scalar_info[i].name);
    typing_hint(t, "its elements are of one of these types: %s; x.astype(...) converts an array before the launch",
                names.text);
}

/* Checks array and, if it is given, index; the element type, one of `types`, or NULL: refused. */
static const Type *accessed_element(Typing *t, bool indexed, bool writes, const char *types) {
    const Type *array = t->args[0].type;
    if (array->kind != TY_ARRAY || (!indexed && array->ndim != 1)) {
        typing_bad_operands(t);
        return NULL;
    }
    const Type *element = type_element(array);
    if (writes && array->readonly) {
        typing_fail_arg(t, 0, DIAG_READONLY, "%s writes to a read-only array", typing_func_name(t));
        return NULL;
    }
    if (element->kind != TY_SCALAR || array->unaligned || !strchr(types, scalar_info[element->scalar].numpy_char)) {
        typing_fail_arg(t, 0, DIAG_TYPING, "%s does not work on elements of type %s", typing_func_name(t),
                        typing_text(t, element));
        hint_at_types(t, types);
        return NULL;
    }
    if (indexed && !is_index(t->args[1].type, array->ndim)) {
        typing_fail_arg(t, 1, DIAG_BAD_INDEX, "%s needs one integer for each of the %u dimensions, not %s",
                        typing_func_name(t), array->ndim, typing_arg_text(t, 1));
        if (array->ndim == 1)
            typing_hint(t, "the array has 1 dimension: its index is an int, i, and int(...) makes one of a float");
        else
            typing_hint(t, "the array has %u dimensions: its index is a tuple of as many ints, %s", array->ndim,
                        array->ndim == 2 ? "(i, j)" : "(i, j, k)");
        return NULL;
    }
    return element;
}

static bool atomic(Typing *t, size_t values) {
    TRY(in_kernel(t));
    const Type *element = accessed_element(t, true, true, atomic_types(t->func));
    TRY(element);
    if (!lib_kinds(t, 2, values, type_scalar_kind(element) == 'c' ? "biufc" : "biuf")) return typing_bad_operands(t);
    if (type_is_scalar(t->args[1].type)) typing_cast(t, 1, infer_int(t->in));
    for (size_t i = 2; i < 2 + values; i++) typing_cast(t, i, element);
    return typing_result(t, element, NULL);
}

bool rule_func_cuda_atomic(Typing *t) { return atomic(t, 1); }
bool rule_func_cuda_atomic_cas(Typing *t) { return atomic(t, 2); }

bool rule_func_cuda_compare_and_swap(Typing *t) {
    TRY(in_kernel(t));
    const Type *element = accessed_element(t, false, true, atomic_types(t->func));
    TRY(element);
    if (!lib_kinds(t, 1, 2, "biuf")) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        Value *args[] = {t->values[0], typing_make_int(t, 0), typing_make_cast(t, t->values[1], element),
                         typing_make_cast(t, t->values[2], element)};
        value = typing_make_func(t, FUNC_CUDA_ATOMIC_CAS, element, args, 4);
    }
    return typing_become(t, value, element);
}

/* ---- loads and stores with a hint for the caches ---- */

static const char cached_types[] = "?bhilBHILEefd";

bool rule_func_cuda_cached_load(Typing *t) {
    TRY(in_kernel(t));
    const Type *element = accessed_element(t, true, false, cached_types);
    TRY(element);
    if (type_is_scalar(t->args[1].type)) typing_cast(t, 1, infer_int(t->in));
    return typing_result(t, element, NULL);
}

bool rule_func_cuda_cached_store(Typing *t) {
    TRY(in_kernel(t));
    const Type *element = accessed_element(t, true, true, cached_types);
    TRY(element);
    if (!lib_kinds(t, 2, 1, "biuf")) return typing_bad_operands(t);
    if (type_is_scalar(t->args[1].type)) typing_cast(t, 1, infer_int(t->in));
    typing_cast(t, 2, element);
    return typing_result(t, infer_none(t->in), NULL);
}

/* ---- integer and selection instructions ---- */

bool rule_func_cuda_bits(Typing *t) {
    TRY(in_kernel(t));
    if (!lib_kinds(t, 0, 1, "iu")) return typing_bad_operands(t);
    typing_cast(t, 0, lib_scalar(t, 0));
    if (t->func == FUNC_CUDA_BREV) return typing_result(t, lib_scalar(t, 0), NULL);
    return typing_result(t, infer_int(t->in), NULL);
}

/* Of three floats of 16 bits, where the GPU has it. */
bool rule_func_cuda_native_fma(Typing *t) {
    TRY(in_kernel(t));
    if (!lib_kinds(t, 0, 3, "f")) return typing_bad_operands(t);
    const Type *type = lib_scalar(t, 0);
    if (!scalar_is_half((Scalar)type->scalar)) return typing_bad_operands(t);
    for (size_t i = 0; i < 3; i++) typing_cast(t, i, type);
    return typing_result(t, type, NULL);
}

/* ---- libdevice: strong types, as the row says ---- */

static const Type *type_of_letter(Infer *in, char letter) {
    Scalar scalar = 0;
    while (scalar_info[scalar].numpy_char != letter) scalar++;
    return infer_scalar(in, scalar, false);
}

bool rule_func_libdevice(Typing *t) {
    const FuncInfo *info = &func_info[t->func];
    TRY(in_kernel(t));
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = type_of_letter(t->in, info->signature[i]);
        if (!lib_kinds(t, i, 1, type_scalar_kind(type) == 'f' ? "biuf" : "biu")) return typing_bad_operands(t);
        typing_cast(t, i, type);
    }
    const char *results = info->signature + t->nargs + 1;
    if (*results == '*') results++;
    const Type *first = type_of_letter(t->in, results[0]);
    return typing_result(t, results[1] ? lib_pair(t->in, first, type_of_letter(t->in, results[1])) : first, NULL);
}

bool rule_func_cuda_selp(Typing *t) {
    TRY(in_kernel(t));
    const Type *type = lib_kinds(t, 1, 2, "biufc") ? promote_args(t, 1, 2) : NULL;
    if (!type || !lib_kinds(t, 0, 1, "biufc")) return typing_bad_operands(t);
    Value *value = NULL;
    if (t->emit) {
        Value *condition = typing_make_cast(t, t->values[0], lib_scalar(t, 0));
        Value *args[] = {typing_make_op(t, OP_TRUTH, infer_bool(t->in), &condition, 1),
                         typing_make_cast(t, t->values[1], type), typing_make_cast(t, t->values[2], type)};
        value = typing_make_func(t, t->func, type, args, 3);
    }
    return typing_become(t, value, type);
}
