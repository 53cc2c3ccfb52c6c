/* rows.c: the rows of functions.def and platform_math.def as arrays. */
#include "library/library.h"

#include <string.h> /* strcmp, strlen, strncmp, strrchr */

const LibraryInfo library_info[LIBRARY_COUNT] = {
    [LIBRARY_NONE] = {"", ""},
    [LIBRARY_PYTHON] = {"builtins.", "Built-in functions"},
    [LIBRARY_MATH] = {"math.", "math"},
    [LIBRARY_CMATH] = {"cmath.", "cmath"},
    [LIBRARY_OPERATOR] = {"operator.", "operator"},
    [LIBRARY_NUMPY] = {"numpy.", "NumPy"},
    [LIBRARY_RANDOM] = {"random.", "random"},
    [LIBRARY_TIME] = {"time.", "time"},
    [LIBRARY_STATISTICS] = {"statistics.", "statistics"},
    [LIBRARY_TYPES] = {"types.", "types"},
    [LIBRARY_COPY] = {"copy.", "copy"},
    [LIBRARY_FUNCTOOLS] = {"functools.", "functools"},
    [LIBRARY_DATACLASSES] = {"dataclasses.", "dataclasses"},
    [LIBRARY_ITERTOOLS] = {"itertools.", "itertools"},
    [LIBRARY_HEAPQ] = {"heapq.", "heapq"},
    [LIBRARY_BISECT] = {"bisect.", "bisect"},
    [LIBRARY_PRELUDE] = {"krait.prelude.", "krait.prelude"},
    [LIBRARY_KRAIT] = {"krait.", "krait"},
    [LIBRARY_CUDA] = {"krait.cuda.", "krait.cuda"},
    [LIBRARY_ADDED] = {"", "Added functions"},
};

const PlatformMath platform_math[MATH_COUNT] = {
#define MATH(name, operands, host64, host32, vector, device64, device32, fast32, open64, open32) \
    {#name, operands, host64, host32, vector, device64, device32, fast32},
#include "library/platform_math.def"
#undef MATH
};

#define SINCOS(both64, both32) const struct PlatformSincos platform_sincos = {both64, both32};
#include "library/platform_math.def"
#undef SINCOS

/* ---- the columns of functions.def ---- */

#define MANY                   FUNC_MANY
#define ROW_EXTERN(f)          .how = HOW_EXTERN, .math = MATH_##f
#define ROW_OP(name)           .how = HOW_OP, .op = OP_##name
#define ROW_RTLIB(f)           .how = HOW_RTLIB, .symbol = #f
#define ROW_HOSTED(f)          .how = HOW_HOSTED, .symbol = #f
#define ROW_EMIT(f)            .how = HOW_EMIT, .symbol = #f
#define ROW_PRELUDE(f)         .how = HOW_PRELUDE, .symbol = f
#define ROW_TYPED              .how = HOW_TYPED
#define CHECK(what)            .head.checked = true, .check = CHECK_##what
#define CHECK_BY(f, ...)       .head.checked = true, .check = CHECK_CALL, .checker = #f, .errors = {__VA_ARGS__}
#define CHECK_FIRST_BY(f, ...) .head.checked = true, .check = CHECK_FIRST, .checker = #f, .errors = {__VA_ARGS__}
#define MATH_ERRORS            "ValueError", "math domain error", "OverflowError", "math range error"
#define INT_ERRORS                                                                                                    \
    "OverflowError", "cannot convert float infinity to integer", "ValueError", "cannot convert float NaN to integer", \
        "OverflowError", "cannot convert float to integer: an int of compiled code has 64 bits"
#define LOOPS(types, result, integers) .elementwise = true, .loops = {types, result, integers}
#define ELEMENTWISE                    .elementwise = true
#define VECTORS                        .vectors = true
#define SIGNATURE(text)                .signature = text
#define DRAWN_FROM(generator)          .drawn_from = DRAWN_FROM_##generator
#define INDEX(i)                       .index = i
#define CONSTANT(i)                    .constants = 1u << (i)
#define SEQUENCES(i, j)                .sequences = 1u << (i) | 1u << (j)
#define SHAPE(i)                       .shapes = 1u << (i)
#define ON_DEVICE                      .takes_device = true
#define LIKE                           .takes_like = true
#define TIMES(f)                       .times = f
#define SPREAD(f)                      .spread = f
#define INDEXED                        .is_indexed = true
#define PLAIN                          .takes_plain = true
#define STATIC                         .is_static = true
#define TAKES_NONE                     .takes_none = true
#define CONSTANTS                      .constants = UINT32_MAX
#define VALUE                          .is_value = true
#define SHORT                          .is_short = true
#define LIGHT                          .is_light = true
#define METHOD(name, other)            .methods = {name, other}
#define REFUSES(name)                  .refused_method = name
#define RESULT(low, high)              .range = {low, high}
#define MOST_OF_FLOAT                  (INT64_MAX - 1023) /* below 2**63, whole */
#define OWN_LIBRARY_(library)          LIBRARY_##library
#define OWN_LIBRARY(library)           OWN_LIBRARY_(library)

const FuncInfo func_info[FUNC_COUNT] = {
#define FUNC(row, rule, way, py_names, fewest, largest, writes, ...) \
    [FUNC_##row] = {.head.id = FUNC_##row,                           \
                    .head.key = #row,                                \
                    .head.names = py_names,                          \
                    .head.least = fewest,                            \
                    .head.most = largest,                            \
                    .head.effects = writes,                          \
                    .library = OWN_LIBRARY(LIBRARY),                 \
                    ROW_##way,                                       \
                    .doc = __VA_ARGS__},
#include "library/functions.def"
#undef FUNC
};

_Static_assert(FUNC_NONE == 0, "FuncId 0 must say `no function`");

const char *func_shown_name(Arena *arena, const FuncInfo *info) {
    const char *name = func_name(arena, &info->head);
    return info->library == LIBRARY_PYTHON && *info->head.names ? name + strlen(library_info[LIBRARY_PYTHON].prefix)
                                                                : name;
}

bool func_changes_table(const char *method) {
    for (FuncId id = FUNC_DICT; id <= FUNC_SET_ISDISJOINT; id++) {
        const FuncHead *row = &func_info[id].head;
        const char *dot = strrchr(row->names, '.');
        if (strcmp(dot + 1, method) == 0 && func_effects(row) & EFFECT_WRITE) return true;
    }
    return false;
}

ArrayRequest call_array_request(const Value *call) {
    enum { USUAL_ALIGNMENT = 16 }; /* allows 128-bit accesses */
    const Const *shape = call->args[0]->konst, *alignment = call->nargs > 2 ? call->args[2]->konst : NULL;
    ArrayRequest request = {type_size(type_element(call->type)), USUAL_ALIGNMENT};
    for (unsigned i = 0; i < call->type->ndim; i++)
        request.bytes *= (size_t)(shape->type->kind == TY_TUPLE ? shape->items[i]->i : shape->i);
    if (alignment && alignment->type->kind == TY_SCALAR && alignment->i > USUAL_ALIGNMENT)
        request.alignment = (unsigned)alignment->i;
    return request;
}
