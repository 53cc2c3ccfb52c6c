/* numpy.c: the correspondence between our scalar types and NumPy's, in both directions, as tables.
 *
 * A bfloat16 is NumPy's by way of the package ml_dtypes, which is imported where an object of that type is first made;
 * an object that is there already is known by its class. */
#define KRAIT_IMPORTS_NUMPY
#include "runtime/marshal/marshal_private.h"

int marshal_import_numpy(void) {
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    return 0;
}

const uint8_t marshal_scalars_of_typenums[MARSHAL_TYPENUMS] = {
    [NPY_BOOL] = 1 + SCALAR_BOOL,          [NPY_BYTE] = 1 + SCALAR_INT8,        [NPY_SHORT] = 1 + SCALAR_INT16,
    [NPY_INT] = 1 + SCALAR_INT32,          [NPY_LONG] = 1 + SCALAR_INT64,       [NPY_LONGLONG] = 1 + SCALAR_INT64,
    [NPY_UBYTE] = 1 + SCALAR_UINT8,        [NPY_USHORT] = 1 + SCALAR_UINT16,    [NPY_UINT] = 1 + SCALAR_UINT32,
    [NPY_ULONG] = 1 + SCALAR_UINT64,       [NPY_ULONGLONG] = 1 + SCALAR_UINT64, [NPY_HALF] = 1 + SCALAR_FLOAT16,
    [NPY_FLOAT] = 1 + SCALAR_FLOAT32,      [NPY_DOUBLE] = 1 + SCALAR_FLOAT64,   [NPY_CFLOAT] = 1 + SCALAR_COMPLEX64,
    [NPY_CDOUBLE] = 1 + SCALAR_COMPLEX128,
};
_Static_assert(sizeof(long) == 8, "NumPy's long is int64");

/* The class ml_dtypes.bfloat16, which lives as long as its module; NULL: exception set. */
static PyTypeObject *bfloat16_class(void) {
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    PyObject *class = module ? PyObject_GetAttrString(module, "bfloat16") : NULL;
    Py_XDECREF(module);
    if (!class && PyErr_ExceptionMatches(PyExc_ImportError))
        PyErr_SetString(PyExc_ImportError,
                        "a bfloat16 is an object of Python's by the package ml_dtypes, which is not installed\n  hint: "
                        "pip install ml_dtypes, or keep its bits in an array of uint16 and use a.view(bfloat16) in "
                        "compiled code");
    Py_XDECREF(class);
    return (PyTypeObject *)class;
}

static PyArray_Descr *bfloat16_descr(void) {
    PyTypeObject *class = bfloat16_class();
    PyArray_Descr *descr = NULL;
    return class && PyArray_DescrConverter((PyObject *)class, &descr) ? descr : NULL;
}

PyArray_Descr *marshal_scalar_descr(Scalar scalar) {
    return scalar == SCALAR_BFLOAT16 ? bfloat16_descr() : PyArray_DescrFromType(marshal_typenum(scalar));
}

int marshal_typenum(Scalar scalar) {
    static const int typenums[SCALAR_COUNT] = {
        [SCALAR_BOOL] = NPY_BOOL,           [SCALAR_INT8] = NPY_INT8,
        [SCALAR_INT16] = NPY_INT16,         [SCALAR_INT32] = NPY_INT32,
        [SCALAR_INT64] = NPY_INT64,         [SCALAR_UINT8] = NPY_UINT8,
        [SCALAR_UINT16] = NPY_UINT16,       [SCALAR_UINT32] = NPY_UINT32,
        [SCALAR_UINT64] = NPY_UINT64,       [SCALAR_FLOAT16] = NPY_FLOAT16,
        [SCALAR_FLOAT32] = NPY_FLOAT32,     [SCALAR_FLOAT64] = NPY_FLOAT64,
        [SCALAR_COMPLEX64] = NPY_COMPLEX64, [SCALAR_COMPLEX128] = NPY_COMPLEX128,
        [SCALAR_BFLOAT16] = NPY_NOTYPE,
    };
    return typenums[scalar];
}

PyTypeObject *marshal_scalar_type(Scalar scalar) {
    switch (scalar) {
    case SCALAR_BOOL: return &PyBoolArrType_Type;
    case SCALAR_INT8: return &PyInt8ArrType_Type;
    case SCALAR_INT16: return &PyInt16ArrType_Type;
    case SCALAR_INT32: return &PyInt32ArrType_Type;
    case SCALAR_INT64: return &PyInt64ArrType_Type;
    case SCALAR_UINT8: return &PyUInt8ArrType_Type;
    case SCALAR_UINT16: return &PyUInt16ArrType_Type;
    case SCALAR_UINT32: return &PyUInt32ArrType_Type;
    case SCALAR_UINT64: return &PyUInt64ArrType_Type;
    case SCALAR_FLOAT16: return &PyHalfArrType_Type;
    case SCALAR_FLOAT32: return &PyFloat32ArrType_Type;
    case SCALAR_FLOAT64: return &PyFloat64ArrType_Type;
    case SCALAR_COMPLEX64: return &PyComplex64ArrType_Type;
    case SCALAR_COMPLEX128: return &PyComplex128ArrType_Type;
    case SCALAR_BFLOAT16: return bfloat16_class();
    case SCALAR_COUNT: break;
    }
    return NULL;
}

size_t marshal_scalar_offset(Scalar scalar) {
    static const uint8_t offsets[SCALAR_COUNT] = {
        [SCALAR_BOOL] = offsetof(PyBoolScalarObject, obval),
        [SCALAR_INT8] = offsetof(PyByteScalarObject, obval),
        [SCALAR_INT16] = offsetof(PyShortScalarObject, obval),
        [SCALAR_INT32] = offsetof(PyIntScalarObject, obval),
        [SCALAR_INT64] = offsetof(PyLongScalarObject, obval),
        [SCALAR_UINT8] = offsetof(PyUByteScalarObject, obval),
        [SCALAR_UINT16] = offsetof(PyUShortScalarObject, obval),
        [SCALAR_UINT32] = offsetof(PyUIntScalarObject, obval),
        [SCALAR_UINT64] = offsetof(PyULongScalarObject, obval),
        [SCALAR_FLOAT16] = offsetof(PyHalfScalarObject, obval),
        [SCALAR_FLOAT32] = offsetof(PyFloatScalarObject, obval),
        [SCALAR_FLOAT64] = offsetof(PyDoubleScalarObject, obval),
        [SCALAR_COMPLEX64] = offsetof(PyCFloatScalarObject, obval),
        [SCALAR_COMPLEX128] = offsetof(PyCDoubleScalarObject, obval),
        [SCALAR_BFLOAT16] = sizeof(PyObject),
    };
    return offsets[scalar];
}

int marshal_scalar_of_class(PyTypeObject *class) {
    for (int scalar = 0; scalar < SCALAR_BFLOAT16; scalar++) {
        if (class == marshal_scalar_type((Scalar)scalar)) return scalar;
    }
    if (frontend_is_bfloat16_class(class)) return SCALAR_BFLOAT16;
    if (class == &PyLongLongArrType_Type) return SCALAR_INT64;
    if (class == &PyULongLongArrType_Type) return SCALAR_UINT64;
    return -1;
}

bool marshal_is_array_subclass(PyObject *object) {
    const char *name = Py_TYPE(object)->tp_name;
    return PyArray_Check(object) && (strcmp(name, "memmap") == 0 || strcmp(name, "recarray") == 0);
}
