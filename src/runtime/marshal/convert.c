/* convert.c: Python values to the bytes of a declared type, as the constructors of that type convert them.
 *
 * A number is read into the widest C type of its kind (int64, uint64, double, complex) and stored as the declared
 * one.  Complex to real is no conversion; float to integer truncates.  What an integer type cannot hold raises
 * OverflowError, NaN ValueError: marshal_convert_scalar alone, which serves loops over arrays, keeps the low bits. */
#include "runtime/marshal/marshal_private.h"

#include <math.h> /* fabs, isnan, trunc, ldexp */

typedef struct Number {
    char kind; /* i u f c */
    int64_t i; /* also uint64 by its bits */
    double re, im;
} Number;

static double half_to_double(const void *from) { return PyFloat_Unpack2(from, 1); }

static void double_to_half(double value, void *to) {
    if (fabs(value) >= 65520.0 && !isinf(value))
        value = value < 0 ? -INFINITY : INFINITY; /* rounds past the largest finite one */
    PyFloat_Pack2(value, to, 1);
}

static double bfloat16_to_double(const void *from) {
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
    union {
        uint32_t bits;
        float value;
    } wide = {.bits = (uint32_t)bits << 16};
    return wide.value;
}

/* In one rounding: the odd last bit of a float32 keeps that something was lost before. */
static void double_to_bfloat16(double value, void *to) {
    union {
        float value;
        uint32_t bits;
    } single = {.value = (float)value};
    if (!isnan(value) && (double)single.value != value)
        single.bits = (single.bits - (fabs((double)single.value) > fabs(value))) | 1;
    uint32_t odd = single.bits >> 16 & 1;
    uint16_t upper = (uint16_t)(isnan(value) ? single.bits >> 16 | 0x40 : (single.bits + odd + 0x7FFF) >> 16);
    memcpy(to, &upper, sizeof upper);
}

static void load_number(Scalar scalar, const void *from, Number *number) {
    number->im = 0;
#define LOAD(T, K, field)                   \
    do {                                    \
        T value;                            \
        memcpy(&value, from, sizeof value); \
        number->kind = K;                   \
        number->field = value;              \
    } while (0)
    switch (scalar) {
    case SCALAR_BOOL: number->kind = 'i', number->i = *(const uint8_t *)from != 0; break;
    case SCALAR_INT8: LOAD(int8_t, 'i', i); break;
    case SCALAR_INT16: LOAD(int16_t, 'i', i); break;
    case SCALAR_INT32: LOAD(int32_t, 'i', i); break;
    case SCALAR_INT64: LOAD(int64_t, 'i', i); break;
    case SCALAR_UINT8: LOAD(uint8_t, 'i', i); break;
    case SCALAR_UINT16: LOAD(uint16_t, 'i', i); break;
    case SCALAR_UINT32: LOAD(uint32_t, 'i', i); break;
    case SCALAR_UINT64: LOAD(int64_t, 'u', i); break;
    case SCALAR_FLOAT16: number->kind = 'f', number->re = half_to_double(from); break;
    case SCALAR_FLOAT32: LOAD(float, 'f', re); break;
    case SCALAR_FLOAT64: LOAD(double, 'f', re); break;
    case SCALAR_COMPLEX64: {
        float parts[2];
        memcpy(parts, from, sizeof parts);
        *number = (Number){.kind = 'c', .re = parts[0], .im = parts[1]};
        break;
    }
    case SCALAR_COMPLEX128: {
        double parts[2];
        memcpy(parts, from, sizeof parts);
        *number = (Number){.kind = 'c', .re = parts[0], .im = parts[1]};
        break;
    }
    case SCALAR_BFLOAT16: number->kind = 'f', number->re = bfloat16_to_double(from); break;
    case SCALAR_COUNT: break;
    }
#undef LOAD
}

/* C leaves a float outside the range undefined; x86 gives the least integer, and so do we, everywhere. */
static int64_t double_to_int64(double value) {
    if (value >= -9223372036854775808.0 && value < 9223372036854775808.0) return (int64_t)value;
    return INT64_MIN;
}

static int64_t number_to_int(const Number *number, bool is_unsigned64) {
    if (number->kind != 'f') return number->i;
    if (is_unsigned64 && number->re >= 9223372036854775808.0 && number->re < 18446744073709551616.0)
        return (int64_t)(uint64_t)number->re;
    return double_to_int64(number->re);
}

static double number_to_double(const Number *number) {
    if (number->kind == 'i') return (double)number->i;
    if (number->kind == 'u') return (double)(uint64_t)number->i;
    return number->re;
}

/* One rounding, not two: an integer goes to float32 directly. */
static float number_to_float(const Number *number) {
    if (number->kind == 'i') return (float)number->i;
    if (number->kind == 'u') return (float)(uint64_t)number->i;
    return (float)number->re;
}

static bool store_number(Scalar scalar, const Number *number, void *to) {
    char kind = scalar_info[scalar].kind;
    if (number->kind == 'c' && kind != 'c') return false;
    switch (scalar) {
    case SCALAR_BOOL: *(uint8_t *)to = number->kind == 'f' ? number->re != 0 : number->i != 0; break;
    case SCALAR_FLOAT16: double_to_half(number_to_double(number), to); break;
    case SCALAR_BFLOAT16: double_to_bfloat16(number_to_double(number), to); break;
    case SCALAR_FLOAT32: *(float *)to = number_to_float(number); break;
    case SCALAR_FLOAT64: *(double *)to = number_to_double(number); break;
    case SCALAR_COMPLEX64:
        ((float *)to)[0] = number_to_float(number);
        ((float *)to)[1] = (float)number->im;
        break;
    case SCALAR_COMPLEX128:
        ((double *)to)[0] = number_to_double(number);
        ((double *)to)[1] = number->im;
        break;
    default: { /* integers: the low bytes (little endian) */
        int64_t value = number_to_int(number, scalar == SCALAR_UINT64);
        memcpy(to, &value, scalar_info[scalar].bytes);
        break;
    }
    }
    return true;
}

bool marshal_convert_scalar(Scalar from_scalar, const void *from, Scalar to_scalar, void *to) {
    Number number;
    load_number(from_scalar, from, &number);
    return store_number(to_scalar, &number, to);
}

/* ---- with an exception for what does not fit ---- */

static bool is_integer(Scalar scalar) { return scalar_info[scalar].kind == 'i' || scalar_info[scalar].kind == 'u'; }

static bool fits(Scalar scalar, const Number *number) {
    int bits = 8 * scalar_info[scalar].bytes;
    bool is_signed = scalar_info[scalar].kind == 'i';
    if (number->kind == 'f') {
        double whole = trunc(number->re), limit = ldexp(1, is_signed ? bits - 1 : bits);
        return whole >= (is_signed ? -limit : 0) && whole < limit;
    }
    if (number->kind == 'u' && number->i < 0) return scalar == SCALAR_UINT64; /* beyond int64 */
    if (!is_signed) return number->i >= 0 && (bits == 64 || number->i < INT64_C(1) << bits);
    return bits == 64 || (number->i >= -(INT64_C(1) << (bits - 1)) && number->i < INT64_C(1) << (bits - 1));
}

/* In NumPy's words. */
static void does_not_fit(Scalar scalar, PyObject *object) {
    const char *what = object && PyFloat_Check(object) ? "float" : "Python integer";
    if (object) PyErr_Format(PyExc_OverflowError, "%s %R out of bounds for %s", what, object, scalar_info[scalar].name);
    Py_XDECREF(object);
}

static MarshalResult store_checked(Scalar scalar, const Number *number, void *to) {
    if (number->kind == 'c' || !is_integer(scalar) || fits(scalar, number))
        return store_number(scalar, number, to) ? MARSHAL_OK : MARSHAL_MISMATCH;
    if (number->kind == 'f' && isnan(number->re))
        PyErr_SetString(PyExc_ValueError, "cannot convert float NaN to integer");
    else if (number->kind == 'f' && isinf(number->re))
        PyErr_SetString(PyExc_OverflowError, "cannot convert float infinity to integer");
    else
        does_not_fit(scalar, number->kind == 'f'   ? PyFloat_FromDouble(number->re)
                             : number->kind == 'u' ? PyLong_FromUnsignedLongLong((uint64_t)number->i)
                                                   : PyLong_FromLongLong(number->i));
    return MARSHAL_ERROR;
}

MarshalResult marshal_convert_result(Scalar from_scalar, const void *from, Scalar to_scalar, void *to) {
    Number number;
    load_number(from_scalar, from, &number);
    return store_checked(to_scalar, &number, to);
}

/* bool too */
static MarshalResult read_int(PyObject *object, Scalar scalar, Number *number) {
    int overflow = 0;
    *number = (Number){.kind = 'i', .i = PyLong_AsLongLongAndOverflow(object, &overflow)};
    if (!overflow) return number->i == -1 && PyErr_Occurred() ? MARSHAL_ERROR : MARSHAL_OK;
    if (scalar == SCALAR_BOOL) {
        number->i = 1;
        return MARSHAL_OK;
    }
    if (!is_integer(scalar)) {
        *number = (Number){.kind = 'f', .re = PyLong_AsDouble(object)};
        return number->re == -1 && PyErr_Occurred() ? MARSHAL_ERROR : MARSHAL_OK;
    }
    *number = (Number){.kind = 'u', .i = (int64_t)PyLong_AsUnsignedLongLong(object)};
    if (!PyErr_Occurred()) return MARSHAL_OK;
    PyErr_Clear();
    does_not_fit(scalar, Py_NewRef(object));
    return MARSHAL_ERROR;
}

static MarshalResult read_number(PyObject *object, Scalar to, Number *number) {
    int scalar = marshal_scalar_of_class(Py_TYPE(object));
    if (scalar >= 0)
        load_number((Scalar)scalar, (char *)object + marshal_scalar_offset((Scalar)scalar), number);
    else if (PyLong_Check(object))
        return read_int(object, to, number);
    else if (PyFloat_Check(object))
        *number = (Number){.kind = 'f', .re = PyFloat_AS_DOUBLE(object)};
    else if (PyComplex_Check(object))
        *number = (Number){.kind = 'c', .re = PyComplex_RealAsDouble(object), .im = PyComplex_ImagAsDouble(object)};
    else
        return MARSHAL_MISMATCH;
    return MARSHAL_OK;
}

MarshalResult marshal_convert_number(const Type *type, PyObject *object, void *to) {
    Number number;
    if (type->scalar == SCALAR_FLOAT64 && PyFloat_CheckExact(object)) {
        *(double *)to = PyFloat_AS_DOUBLE(object);
        return MARSHAL_OK;
    }
    MarshalResult result = read_number(object, (Scalar)type->scalar, &number);
    return result == MARSHAL_OK ? store_checked((Scalar)type->scalar, &number, to) : result;
}
