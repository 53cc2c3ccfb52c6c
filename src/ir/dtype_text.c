/* dtype_text.c: which scalar a text means as a NumPy dtype: "float32", "f4", "<f4", "single", "f".
 *
 * In: a text.  Out: a Scalar, or false: another dtype, or none.  Names are those of NumPy 2 on machines whose C long
 * has 64 bits; byte order is that of the machine, little endian. */
#include <stdlib.h> /* strtoul */
#include <string.h> /* strcmp */

#include "ir/ir.h"

static const struct {
    const char *name;
    uint8_t scalar;
} aliases[] = {
    {"bool_", SCALAR_BOOL},         {"int", SCALAR_INT64},          {"int_", SCALAR_INT64},
    {"intp", SCALAR_INT64},         {"long", SCALAR_INT64},         {"longlong", SCALAR_INT64},
    {"intc", SCALAR_INT32},         {"short", SCALAR_INT16},        {"byte", SCALAR_INT8},
    {"uint", SCALAR_UINT64},        {"uintp", SCALAR_UINT64},       {"ulong", SCALAR_UINT64},
    {"ulonglong", SCALAR_UINT64},   {"uintc", SCALAR_UINT32},       {"ushort", SCALAR_UINT16},
    {"ubyte", SCALAR_UINT8},        {"half", SCALAR_FLOAT16},       {"single", SCALAR_FLOAT32},
    {"float", SCALAR_FLOAT64},      {"double", SCALAR_FLOAT64},     {"csingle", SCALAR_COMPLEX64},
    {"complex", SCALAR_COMPLEX128}, {"cdouble", SCALAR_COMPLEX128},
};

/* The letters that are names of a type's letter. */
static const char letters[][2] = {{'q', 'l'}, {'n', 'l'}, {'p', 'l'}, {'Q', 'L'}, {'N', 'L'}, {'P', 'L'}};

static bool scalar_of_letter(char letter, Scalar *scalar) {
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (letter == letters[i][0]) letter = letters[i][1];
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (letter == scalar_info[i].numpy_char) return *scalar = (Scalar)i, true;
    return false;
}

/* "f4": kind and bytes. */
static bool scalar_of_kind(const char *text, Scalar *scalar) {
    if (!*text || text[1] < '1' || text[1] > '9') return false;
    char *end;
    unsigned long bytes = strtoul(text + 1, &end, 10);
    for (int i = 0; i < SCALAR_COUNT && !*end; i++)
        if (scalar_info[i].kind == *text && scalar_info[i].bytes == bytes) return *scalar = (Scalar)i, true;
    return false;
}

bool scalar_of_dtype_text(const char *text, Scalar *scalar) {
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (strcmp(scalar_info[i].name, text) == 0) return *scalar = (Scalar)i, true;
    for (size_t i = 0; i < COUNT_OF(aliases); i++)
        if (strcmp(aliases[i].name, text) == 0) return *scalar = (Scalar)aliases[i].scalar, true;
    if (*text && strchr("<=|", *text)) text++;
    return *text && !text[1] ? scalar_of_letter(*text, scalar) : scalar_of_kind(text, scalar);
}
