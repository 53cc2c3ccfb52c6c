/* constants.c: what a Python object is in compiled code.
 *
 * Input: any Python object: a constant of the code, a global, an attribute of a module.  Output: a Const in the
 * compilation's arena. Algorithm: a row of questions, cheapest and most common first.  Numbers, strings and tuples
 * become values; classes of numbers TY_CLASS, dtypes TY_DTYPE, exception classes TY_EXC_CLASS, library functions
 * TY_FUNC, Python functions and dispatchers TY_PYFUNC; arrays are described, not copied; mutable containers are
 * refused; of anything else compiled code can only take attributes (TY_OBJECT). */
#define KRAIT_IMPORTS_NUMPY
#include "frontend/numpy_api.h"

#include "frontend/frontend_private.h"

#include <string.h> /* strlen */

/* NumPy's table of function pointers; constant from then on. */
bool constants_import_numpy(void) { return PyArray_ImportNumPyAPI() == 0; }

typedef struct Reading { /* one object being read */
    Frontend *frontend;
    const Source *source;
    Span span;
} Reading;

static const Const *read_constant(const Reading *r, PyObject *object);

static const Const *translate_refuse(const Reading *r, const char *what, const char *hint) {
    diag_fail(r->frontend->diag, DIAG_UNSUPPORTED_OBJECT, r->source, r->span, "%s", what);
    if (hint) diag_hint(r->frontend->diag, "%s", hint);
    return NULL;
}

static const Const *python_failed(const Reading *r, const char *what) {
    frontend_python_failed(r->frontend, r->source, r->span, what);
    return NULL;
}

static Const *new_const(const Reading *r, const Type *type) {
    Const *konst = ARENA_NEW(r->frontend->arena, Const);
    konst->type = type;
    return konst;
}

/* ---- numbers and text ---- */

static const Const *read_int(const Reading *r, PyObject *object) {
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow) return const_int(r->frontend->arena, r->frontend->types, value);
    Const *konst = new_const(r, type_scalar(r->frontend->types, SCALAR_INT64, true));
    konst->too_big = true;
    unsigned long long bits = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    if (PyErr_Occurred()) {
        PyErr_Clear();
        bits = 0;
    }
    konst->i = (int64_t)bits; /* negative: the bits of a number that uint64 holds */
    return konst;
}

/* A member of an enum.IntEnum; any other subclass of int is taken for an int. */
static const Const *read_int_subclass(const Reading *r, PyObject *object) {
    const Const *number = read_int(r, object);
    const Type *type = frontend_enum_type(r->frontend->objects, r->frontend->types, Py_TYPE(object));
    if (!type && PyErr_Occurred()) return python_failed(r, "no memory for an object's number");
    return type && !number->too_big ? const_enum(r->frontend->arena, type, number->i) : number;
}

static const Const *read_str(const Reading *r, PyObject *object) {
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (!text) return python_failed(r, "a string cannot be written as UTF-8");
    if ((size_t)length != strlen(text))
        return translate_refuse(r, "strings that contain a NUL character are not compiled",
                                "write chr(0) where it stands, or pass the string as an argument");
    return const_str(r->frontend->arena, r->frontend->types, arena_strndup(r->frontend->arena, text, (size_t)length));
}

static const Const *read_numpy_scalar(const Reading *r, PyObject *object) {
    PyArray_Descr *dtype = PyArray_DescrFromScalar(object);
    if (!dtype) return python_failed(r, "a NumPy scalar could not be read");
    Scalar scalar;
    bool known = frontend_scalar_of_dtype((PyObject *)dtype, &scalar);
    const Type *time = known ? NULL : frontend_element_type(r->frontend->types, (PyObject *)dtype, 0);
    Py_DECREF(dtype);
    if (time && time->kind == TY_TIME) {
        Const *ticks = new_const(r, time);
        ticks->i = ((PyDatetimeScalarObject *)object)->obval; /* of a timedelta64 the same */
        return ticks;
    }
    if (!known) {
        if (PyUnicode_Check(object)) return read_str(r, object);
        return translate_refuse(
            r, arena_printf(r->frontend->arena, "values of type %s are not compiled", Py_TYPE(object)->tp_name), NULL);
    }
    Const *konst = new_const(r, type_scalar(r->frontend->types, scalar, false));
    if (scalar_info[scalar].kind == 'b') {
        konst->i = PyObject_IsTrue(object);
    } else if (scalar_info[scalar].kind == 'f') {
        konst->f = PyFloat_AsDouble(object);
    } else if (scalar_info[scalar].kind == 'c') {
        Py_complex value = PyComplex_AsCComplex(object);
        konst->c.re = value.real;
        konst->c.im = value.imag;
    } else {
        PyObject *number = PyNumber_Index(object);
        if (number) konst->i = (int64_t)PyLong_AsUnsignedLongLongMask(number);
        Py_XDECREF(number);
    }
    return PyErr_Occurred() ? python_failed(r, "a NumPy scalar could not be read") : konst;
}

static const Const *read_tuple(const Reading *r, PyObject *object) {
    Py_ssize_t count = PyTuple_GET_SIZE(object);
    const Const **items = ARENA_ARRAY(r->frontend->arena, const Const *, count);
    for (Py_ssize_t i = 0; i < count; i++) TRY(items[i] = read_constant(r, PyTuple_GET_ITEM(object, i)));
    if (PyTuple_CheckExact(object)) return const_tuple(r->frontend->arena, r->frontend->types, items, (size_t)count);
    const Type **types = ARENA_ARRAY(r->frontend->arena, const Type *, count);
    for (Py_ssize_t i = 0; i < count; i++) types[i] = items[i]->type;
    const Type *type = frontend_tuple_type(r->frontend->objects, r->frontend->types, r->frontend->arena,
                                           Py_TYPE(object), types, (size_t)count);
    return type ? const_typed_tuple(r->frontend->arena, type, items)
                : python_failed(r, "no memory for an object's number");
}

/* In kernels a bytes is the tuple of its numbers, of the class bytes.  On the host it is an object (captures.c). */
static const Const *read_bytes(const Reading *r, PyObject *object) {
    enum { MOST_BYTES = 256 };
    static const char *const no_name = "";
    Frontend *frontend = r->frontend;
    Py_ssize_t count = PyBytes_GET_SIZE(object);
    if (count > MOST_BYTES)
        return translate_refuse(r, "a bytes of more than 256 numbers is not compiled in kernels",
                                "make it an array outside: np.frombuffer(data, np.uint8)");
    const Const **items = ARENA_ARRAY(frontend->arena, const Const *, count);
    const Type **types = ARENA_ARRAY(frontend->arena, const Type *, count);
    const char **names = ARENA_ARRAY(frontend->arena, const char *, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        items[i] = const_int(frontend->arena, frontend->types, (unsigned char)PyBytes_AS_STRING(object)[i]);
        types[i] = items[i]->type;
        names[i] = no_name;
    }
    ObjRef class = frontend_ref(frontend, (PyObject *)&PyBytes_Type);
    if (!class) return python_failed(r, "no memory for an object's number");
    return const_typed_tuple(
        frontend->arena, type_named_tuple(frontend->types, class, TITLE_OF_BYTES, names, types, (size_t)count), items);
}

/* `x in {1, 2}`: the compiler makes it a frozenset; nothing but `in` ever sees it, for which a tuple does. */
static const Const *read_frozenset(const Reading *r, PyObject *object) {
    PyObject *tuple = frontend_keep(r->frontend, PySequence_Tuple(object));
    return tuple ? read_tuple(r, tuple) : python_failed(r, "a frozenset could not be read");
}

/* ---- arrays ---- */

static const Const *read_array(const Reading *r, PyObject *object) {
    PyArrayObject *array = (PyArrayObject *)object;
    Frontend *frontend = r->frontend;
    const Type *element = frontend_element_type(frontend->types, (PyObject *)PyArray_DESCR(array),
                                                frontend_addresses(object));
    if (!element || !PyArray_ISALIGNED(array)) {
        translate_refuse(r, "arrays of this dtype cannot be used in compiled code",
                         "convert the array with astype() first");
        return NULL;
    }
    int ndim = PyArray_NDIM(array);
    if (ndim > TYPE_MAX_NDIM) return translate_refuse(r, "arrays of more than 32 dimensions are not compiled", NULL);
    ArrayLayout layout = PyArray_IS_C_CONTIGUOUS(array)   ? LAYOUT_C
                         : PyArray_IS_F_CONTIGUOUS(array) ? LAYOUT_F
                                                          : LAYOUT_A;
    bool readonly = frontend->readonly_globals || !PyArray_ISWRITEABLE(array);
    ObjRef ref = frontend_ref(frontend, object);
    if (!ref || !name_array(frontend, object)) return python_failed(r, "no memory for an object's number");

    ArrayConst *described = ARENA_NEW(frontend->arena, ArrayConst);
    int64_t *shape = ARENA_ARRAY(frontend->arena, int64_t, ndim),
            *strides = ARENA_ARRAY(frontend->arena, int64_t, ndim);
    for (int i = 0; i < ndim; i++) {
        shape[i] = PyArray_DIM(array, i);
        strides[i] = PyArray_STRIDE(array, i);
    }
    *described = (ArrayConst){
        .data = PyArray_DATA(array), .owner = object, .object = ref, .shape = shape, .strides = strides};
    Const *konst = new_const(r, type_array(frontend->types, element, (unsigned)ndim, layout, readonly));
    konst->array = described;
    return konst;
}

static void note_device_array(Frontend *frontend, ObjRef array) {
    for (size_t i = 0; i < frontend->device_arrays.len; i++)
        if (frontend->device_arrays.data[i] == array) return;
    vec_push(frontend->arena, &frontend->device_arrays, array);
}

/* An array that lies on a device already: kernels use its memory there.  NULL: it is none, or something has failed. */
static const Const *read_device_array(const Reading *r, PyObject *object) {
    Frontend *frontend = r->frontend;
    ObjDeviceArray found;
    PyObject *array = objects_device_array(frontend->objects, object, &found);
    if (!array && PyErr_Occurred()) /* it is raised as it is, as of an argument */
        diag_fail(frontend->diag, DIAG_PYTHON, r->source, r->span, "an array on a device could not be read");
    if (!array) return NULL;
    ObjRef ref = frontend_ref(frontend, array), own = array == object ? ref : frontend_ref(frontend, object);
    Py_DECREF(array);
    if (!ref || !own) return python_failed(r, "no memory for an object's number");
    note_device_array(frontend, ref);
    ArrayConst *described = ARENA_NEW(frontend->arena, ArrayConst);
    *described = (ArrayConst){.data = found.data,
                              .owner = array,
                              .object = ref,
                              .shape = found.shape,
                              .strides = found.strides,
                              .on_device = true};
    Const *konst = new_const(r, found.type);
    konst->array = described;
    return konst;
}

/* ---- types ---- */

static const Const *class_of(const Reading *r, Scalar scalar, bool weak) {
    const Type *made = type_scalar(r->frontend->types, scalar, weak);
    return const_of(r->frontend->arena, type_with_items(r->frontend->types, TY_CLASS, 0, &made, 1));
}

static const Const *dtype_of(const Reading *r, const Type *made) {
    return const_of(r->frontend->arena, type_with_items(r->frontend->types, TY_DTYPE, 0, &made, 1));
}

static const Const *read_dtype(const Reading *r, PyObject *object) {
    const Type *made = frontend_element_type(r->frontend->types, object, 0);
    if (!made && PyErr_Occurred()) return python_failed(r, "a dtype could not be read");
    return made ? dtype_of(r, made) : translate_refuse(r, "this dtype cannot be used in compiled code", NULL);
}

/* A class of NumPy scalars (numpy.float32); numpy.floating and other abstract ones are not among them. */
static bool scalar_of_class(PyObject *class, Scalar *scalar) {
    if (frontend_is_bfloat16_class((PyTypeObject *)class)) return *scalar = SCALAR_BFLOAT16, true;
    static const int numbers[] = {NPY_BOOL,  NPY_BYTE,   NPY_SHORT,  NPY_INT,    NPY_LONG,      NPY_LONGLONG,
                                  NPY_UBYTE, NPY_USHORT, NPY_UINT,   NPY_ULONG,  NPY_ULONGLONG, NPY_HALF,
                                  NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        PyArray_Descr *dtype = PyArray_DescrFromType(numbers[i]);
        bool found = dtype && (PyObject *)dtype->typeobj == class &&
                     frontend_scalar_of_dtype((PyObject *)dtype, scalar);
        Py_XDECREF(dtype);
        if (found) return true;
    }
    return false;
}

/* The classes of the interpreter keep their numbers: most functions meet some, and the table keeps what it is told. */
static ObjRef exception_ref(const Reading *r, PyObject *class) {
    bool user = ((PyTypeObject *)class)->tp_flags & Py_TPFLAGS_HEAPTYPE;
    return user ? frontend_ref(r->frontend, class) : objects_ref(r->frontend->objects, class);
}

/* Handlers, and those who ask generators, want to know what an exception's class derives from. */
static bool note_exception(const Reading *r, PyTypeObject *class, ObjRef ref) {
    PyObject *order = class->tp_mro;
    size_t count = 0, most = (size_t)PyTuple_GET_SIZE(order);
    ObjRef *all = ARENA_ARRAY(r->frontend->arena, ObjRef, most);
    for (size_t i = 0; i < most; i++) {
        PyObject *base = PyTuple_GET_ITEM(order, (Py_ssize_t)i);
        if (!PyExceptionClass_Check(base)) continue;
        if (!(all[count++] = exception_ref(r, base))) return python_failed(r, "no memory for an object's number");
    }
    bool builtin = !(class->tp_flags & Py_TPFLAGS_HEAPTYPE) && !strchr(class->tp_name, '.');
    type_table_add_exception(r->frontend->types, ref, builtin ? class->tp_name : NULL, all, count);
    PyTypeObject *base = class->tp_base;
    if (!base || !PyExceptionClass_Check((PyObject *)base)) return true;
    ObjRef base_ref = exception_ref(r, (PyObject *)base);
    if (!base_ref) return python_failed(r, "no memory for an object's number");
    return note_exception(r, base, base_ref);
}

static const Const *read_class(const Reading *r, PyObject *object) {
    TypeTable *types = r->frontend->types;
    PyObject *stand_in = frontend_stand_in((PyTypeObject *)object);
    if (stand_in) object = stand_in;
    if (object == (PyObject *)&PyLong_Type) return class_of(r, SCALAR_INT64, true);
    if (object == (PyObject *)&PyFloat_Type) return class_of(r, SCALAR_FLOAT64, true);
    if (object == (PyObject *)&PyComplex_Type) return class_of(r, SCALAR_COMPLEX128, true);
    if (object == (PyObject *)&PyBool_Type) return class_of(r, SCALAR_BOOL, true);
    Scalar scalar;
    if (PyType_IsSubtype((PyTypeObject *)object, &PyGenericArrType_Type) && scalar_of_class(object, &scalar))
        return class_of(r, scalar, false);
    const FuncInfo *func = objects_func(r->frontend->objects, object);
    if (func) return const_of(r->frontend->arena, type_func(r->frontend->types, &func->head));
    ObjRef ref = frontend_ref(r->frontend, object);
    if (!ref) return python_failed(r, "no memory for an object's number");
    if (!PyExceptionClass_Check(object)) return const_of(r->frontend->arena, type_object(types, TY_OBJECT, ref));
    TRY(note_exception(r, (PyTypeObject *)object, ref));
    return const_of(r->frontend->arena, type_object(types, TY_EXC_CLASS, ref));
}

/* ---- functions and the rest ---- */

/* Identity is that of the function, and of the decorated one where calls of it are not as those of the function: where
 * it has signatures, is a ufunc, declares types of variables, or asks to be inlined. */
static const Const *read_function(const Reading *r, PyObject *function, PyObject *decorated) {
    Frontend *frontend = r->frontend;
    ObjSignature signature;
    bool own = objects_signature(frontend->objects, decorated, 0, &signature) ||
               objects_ufunc(frontend->objects, decorated, &(UfuncShape){0}) ||
               objects_locals(frontend->objects, decorated) ||
               objects_inlining(frontend->objects, decorated) != INLINING_AS_SEEN;
    ObjRef ref = frontend_ref(frontend, own ? decorated : function);
    if (!ref) return python_failed(r, "no memory for an object's number");
    return const_of(frontend->arena, type_object(frontend->types, TY_PYFUNC, ref));
}

/* What a jitted function stands for, or NULL.  Modules, classes and arrays are not asked: they may have an attribute of
 * that name. */
static PyObject *py_func_of(const Reading *r, PyObject *object) {
    if (PyModule_Check(object) || PyType_Check(object) || !PyCallable_Check(object)) return NULL;
    PyObject *function = PyObject_GetAttrString(object, "py_func");
    if (!function) PyErr_Clear();
    function = function ? frontend_keep(r->frontend, function) : NULL;
    return function && PyFunction_Check(function) ? function : NULL;
}

bool frontend_is_partial(PyObject *object) { return strcmp(Py_TYPE(object)->tp_name, "functools.partial") == 0; }

bool frontend_is_cached(PyObject *object) {
    return strcmp(Py_TYPE(object)->tp_name, "functools._lru_cache_wrapper") == 0;
}

/* What a functools.partial, or a function with functools.lru_cache, stands for, or NULL: it is none, or the diagnostic
 * says what failed. */
static PyObject *partial_function_of(const Reading *r, PyObject *object) {
    bool cached = frontend_is_cached(object) && r->frontend->captures;
    if (!cached && !frontend_is_partial(object)) return NULL;
    const char *name = cached ? "krait.prelude.caching" : "krait.prelude.partials";
    PyObject *module = frontend_keep(r->frontend, PyImport_ImportModule(name));
    PyObject *function = module ? PyObject_CallMethod(module, "function_of", "O", object) : NULL;
    if (!function && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        translate_refuse(
            r,
            cached ? "a function with **keywords that keeps its results by functools.lru_cache is not compiled"
                   : "a functools.partial whose keyword arguments have names that are none is not compiled",
            "take the decorator away");
    } else if (!function) {
        python_failed(r, "a function that stands for another could not be made");
    }
    return function ? frontend_keep(r->frontend, function) : NULL;
}

/* A function of C: an object of ctypes or cffi, or what a module that cffi has made calls it by. */
static bool is_foreign(PyObject *object) {
    static const char *const classes[] = {"_ctypes.CFuncPtr", "_ctypes.PyCFuncPtr", "_cffi_backend._CDataBase",
                                          "_cffi_backend.CData"};
    PyObject *of = PyCFunction_Check(object) ? PyCFunction_GET_SELF(object) : NULL;
    if (of && strcmp(Py_TYPE(of)->tp_name, "_cffi_backend.Lib") == 0) return true;
    for (PyTypeObject *class = Py_TYPE(object); class; class = class->tp_base)
        for (size_t i = 0; i < COUNT_OF(classes); i++)
            if (strcmp(class->tp_name, classes[i]) == 0) return true;
    return false;
}

/* The Python function that it stands for (krait/_foreign.py), on the host; NULL: the diagnostic says why not. */
static const Const *read_foreign(const Reading *r, PyObject *object) {
    static const char alone[] = "functions of ctypes and cffi run on the host alone, not in kernels";
    if (r->frontend->readonly_globals)
        return translate_refuse(r, alone,
                                "write the function in Python, or call a function that declare_device has made");
    PyObject *module = frontend_keep(r->frontend, PyImport_ImportModule("krait._foreign"));
    PyObject *made = module ? PyObject_CallMethod(module, "function_of", "O", object) : NULL;
    made = made ? frontend_keep(r->frontend, made) : NULL;
    if (made && PyFunction_Check(made)) return read_function(r, made, NULL);
    const char *why, *hint;
    if (!made || !PyArg_ParseTuple(made, "ss", &why, &hint))
        return python_failed(r, "a function that stands for another could not be made");
    return translate_refuse(r, arena_printf(r->frontend->arena, "%s", why),
                            arena_printf(r->frontend->arena, "%s", hint));
}

/* NumPy's own Python code works on array objects in ways that compiled code does not have: a refusal should name the
 * function that the user called, not a line of NumPy. */
bool frontend_is_numpys(PyObject *function) {
    PyObject *module = ((PyFunctionObject *)function)->func_module;
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    if (!name) PyErr_Clear();
    return name && (strcmp(name, "numpy") == 0 || strncmp(name, "numpy.", 6) == 0);
}

static const Const *read_other(const Reading *r, PyObject *object) {
    Frontend *frontend = r->frontend;
    const Type *made = objects_krait_type(frontend->objects, object);
    if (made && (made->kind == TY_TIME || (made->kind == TY_STRUCT && made->form != STRUCT_VECTOR)))
        return dtype_of(r, made);
    if (made && made->kind == TY_STRING) return read_class(r, (PyObject *)&PyUnicode_Type); /* unicode_type: str */
    if (made) {
        ObjRef ref = frontend_ref(frontend, object);
        if (!ref) return python_failed(r, "no memory for an object's number");
        return const_of(frontend->arena, type_with_items(frontend->types, TY_CLASS, ref, &made, 1));
    }
    const FuncInfo *func = objects_func(frontend->objects, object);
    if (func) return const_of(frontend->arena, type_func(frontend->types, &func->head));
    if (PyFunction_Check(object) && !frontend_is_numpys(object)) return read_function(r, object, NULL);
    PyObject *function = py_func_of(r, object);
    if (function) return read_function(r, function, object);
    PyObject *applied = partial_function_of(r, object);
    if (applied || r->frontend->diag->failed) return applied ? read_function(r, applied, NULL) : NULL;
    if (is_foreign(object)) return read_foreign(r, object);
    const char *hint =
        "pass it as an argument (to a kernel as an array or a tuple), or make it a tuple, which is a constant";
    const char *what = arena_printf(frontend->arena, "an object of type %s cannot be used in compiled code",
                                    Py_TYPE(object)->tp_name);
    bool dict = PyDict_Check(object);
    if (dict && !PyDict_CheckExact(object)) /* it finds keys in a way of its own */
        return translate_refuse(r, what, "keep a plain dict there, dict(d), or make it in the function");
    if (PyList_Check(object) || dict || PyAnySet_Check(object)) return translate_refuse(r, what, hint);
    if (PyBytes_Check(object) || PyByteArray_Check(object) || PyArray_Check(object))
        return translate_refuse(r, what, hint);
    const Const *array = frontend->reads_device_arrays ? read_device_array(r, object) : NULL;
    if (array || frontend->diag->failed) return array;
    ObjRef ref = frontend_ref(frontend, object);
    if (!ref) return python_failed(r, "no memory for an object's number");
    return const_of(frontend->arena, type_object(frontend->types, TY_OBJECT, ref));
}

/* A value of a user's class that compiled code would take for a plain one, but whose class answers otherwise. */
static const Const *refuse_own(const Reading *r, PyObject *object, PyTypeObject *plain, const char *name) {
    return translate_refuse(r,
                            arena_printf(r->frontend->arena,
                                         "an object of type %s cannot be used in compiled code, where "
                                         "it would be a plain %s: its class has its own %s",
                                         Py_TYPE(object)->tp_name, plain->tp_name, name),
                            arena_printf(r->frontend->arena, "use the plain value: %s(x)", plain->tp_name));
}

/* A value of a subclass: what the plain class makes of it. */
static const Const *read_subclass(const Reading *r, PyObject *object) {
    static PyTypeObject *const plains[] = {&PyLong_Type, &PyFloat_Type, &PyUnicode_Type, &PyComplex_Type,
                                           &PyTuple_Type};
    bool member = frontend_is_enum(Py_TYPE(object)), taken = frontend_is_named_tuple(Py_TYPE(object));
    for (size_t i = member || taken ? COUNT_OF(plains) : 0; i < COUNT_OF(plains); i++) {
        bool is = PyObject_TypeCheck(object, plains[i]);
        const char *name = is ? frontend_overrides(Py_TYPE(object), plains[i]) : NULL;
        if (name) return refuse_own(r, object, plains[i], name);
    }
    if (PyTuple_Check(object) && !member) return read_tuple(r, object);
    if (PyLong_Check(object)) return read_int_subclass(r, object);
    const Const *konst = member ? frontend_member_const(r->frontend, object) : NULL;
    if (member) return konst || PyErr_Occurred() ? konst : read_other(r, object);
    if (PyFloat_Check(object)) return const_float(r->frontend->arena, r->frontend->types, PyFloat_AS_DOUBLE(object));
    if (PyUnicode_Check(object)) return read_str(r, object);
    if (!PyComplex_Check(object)) return read_other(r, object);
    Py_complex value = PyComplex_AsCComplex(object);
    return const_complex(r->frontend->arena, r->frontend->types, value.real, value.imag);
}

static const Const *read_constant(const Reading *r, PyObject *object) {
    Arena *arena = r->frontend->arena;
    TypeTable *types = r->frontend->types;
    if (object == Py_None) return const_none(arena, types);
    if (PyBool_Check(object)) return const_bool(arena, types, object == Py_True);
    if (PyLong_CheckExact(object)) return read_int(r, object);
    if (PyFloat_CheckExact(object)) return const_float(arena, types, PyFloat_AS_DOUBLE(object));
    if (PyUnicode_CheckExact(object)) return read_str(r, object);
    if (PyTuple_CheckExact(object)) return read_tuple(r, object);
    if (PyType_Check(object) && !objects_krait_type(r->frontend->objects, object)) return read_class(r, object);
    if (PyObject_TypeCheck(object, &PyGenericArrType_Type)) return read_numpy_scalar(r, object);
    if (PyArray_CheckExact(object)) return read_array(r, object);
    if (PyArray_DescrCheck(object)) return read_dtype(r, object);
    if (object == Py_Ellipsis) return const_of(arena, type_simple(types, TY_ELLIPSIS));
    if (PyBytes_CheckExact(object) && r->frontend->readonly_globals) return read_bytes(r, object);
    if (PyFrozenSet_CheckExact(object)) return read_frozenset(r, object);
    return read_subclass(r, object);
}

const Const *frontend_constant(Frontend *frontend, PyObject *object, const Source *source, Span span) {
    return read_constant(&(Reading){frontend, source, span}, object);
}
