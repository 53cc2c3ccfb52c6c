/* dtypes.c: the type that items of a NumPy dtype have in compiled code.
 *
 * Input: a dtype in native byte order.  Output: a scalar, or for a structured dtype a struct with its fields where
 * NumPy has them.  NumPy packs structs unless it is asked not to, and says that packed ones need no alignment even
 * where their fields happen to lie well: the type says what holds.  Either every field, of structs inside too, lies at
 * a multiple of its alignment, or the whole is taken to lie anywhere. */
#include "frontend/numpy_api.h"

#include "frontend/frontend_private.h"

bool frontend_is_bfloat16_class(const PyTypeObject *class) {
    const char *name = strrchr(class->tp_name, '.');
    return strcmp(name ? name + 1 : class->tp_name, "bfloat16") == 0 && class->tp_base == &PyGenericArrType_Type;
}

/* A dtype that the package ml_dtypes has registered with NumPy. */
static bool is_bfloat16(const PyArray_Descr *descr) {
    return PyTypeNum_ISUSERDEF(descr->type_num) && descr->type == scalar_info[SCALAR_BFLOAT16].numpy_char &&
           PyDataType_ELSIZE(descr) == 2 && frontend_is_bfloat16_class(descr->typeobj);
}

bool frontend_scalar_of_dtype(PyObject *dtype, Scalar *scalar) {
    const PyArray_Descr *descr = (const PyArray_Descr *)dtype;
    if (descr->byteorder == NPY_OPPBYTE) return false;
    if (is_bfloat16(descr)) return *scalar = SCALAR_BFLOAT16, true;
    for (int i = 0; i < SCALAR_COUNT; i++) {
        if (scalar_info[i].kind != descr->kind || scalar_info[i].bytes != PyDataType_ELSIZE(descr)) continue;
        *scalar = (Scalar)i;
        return true;
    }
    return false;
}

typedef struct Layout { /* a dtype being read */
    TypeTable *types;
    bool packed; /* nothing is aligned */
    bool fits;   /* as far as seen, every field lies at a multiple of its alignment */
} Layout;

static const Type *read_item(Layout *layout, PyArray_Descr *descr);

static const Type *read_nested(Layout *layout, PyArray_Descr *descr) {
    PyArray_ArrayDescr *array = PyDataType_SUBARRAY(descr);
    const Type *element = read_item(layout, array->base);
    Py_ssize_t ndim = PyTuple_Check(array->shape) ? PyTuple_GET_SIZE(array->shape) : 1;
    uint32_t extents[TYPE_MAX_NDIM];
    if (!element || element->kind == TY_NESTED || ndim > TYPE_MAX_NDIM) return NULL;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *extent = PyTuple_Check(array->shape) ? PyTuple_GET_ITEM(array->shape, i) : array->shape;
        extents[i] = (uint32_t)PyLong_AsUnsignedLong(extent);
    }
    return PyErr_Occurred() ? NULL : type_nested(layout->types, element, (unsigned)ndim, extents);
}

typedef struct Field {
    const Type *item;
    const char *name;
    uint32_t place;
} Field;

static bool read_field(Layout *layout, PyArray_Descr *descr, Py_ssize_t index, Field *field) {
    PyObject *name = PyTuple_GET_ITEM(PyDataType_NAMES(descr), index);
    PyObject *entry = PyDict_GetItemWithError(PyDataType_FIELDS(descr), name); /* dtype, offset, perhaps title */
    if (!entry || !PyTuple_Check(entry) || !(field->name = PyUnicode_AsUTF8(name))) return false;
    long offset = PyLong_AsLong(PyTuple_GET_ITEM(entry, 1));
    if (offset < 0 || offset > INT32_MAX) return false;
    field->place = (uint32_t)offset;
    field->item = read_item(layout, (PyArray_Descr *)PyTuple_GET_ITEM(entry, 0));
    return field->item != NULL;
}

static const Type *make_struct(Layout *layout, PyArray_Descr *descr, const Field *fields, Py_ssize_t count,
                               void *room) {
    const Type **items = room;
    const char **names = (const char **)(items + count);
    uint32_t *places = (uint32_t *)(names + count), align = 1, bytes = (uint32_t)PyDataType_ELSIZE(descr);
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t needs = layout->packed ? 1 : (uint32_t)type_align(fields[i].item);
        items[i] = fields[i].item;
        names[i] = fields[i].name;
        places[i] = fields[i].place;
        layout->fits &= places[i] % needs == 0;
        if (needs > align) align = needs;
    }
    layout->fits &= bytes % align == 0;
    bool plain = descr->typeobj == &PyVoidArrType_Type;
    return type_struct(layout->types, &(Type){.form = plain ? STRUCT_RECORD : STRUCT_RECORD_CLASS,
                                              .align = (uint8_t)align,
                                              .bytes = bytes,
                                              .count = (uint32_t)count,
                                              .items = items,
                                              .names = names,
                                              .places = places});
}

static const Type *read_struct(Layout *layout, PyArray_Descr *descr) {
    Py_ssize_t count = PyTuple_GET_SIZE(PyDataType_NAMES(descr));
    if (!count || PyDataType_ELSIZE(descr) > INT32_MAX) return NULL;
    Field *fields = PyMem_Calloc((size_t)count, sizeof *fields);
    void *room = PyMem_Calloc((size_t)count, sizeof(Type *) + sizeof(char *) + sizeof(uint32_t));
    const Type *type = NULL;
    bool fine = fields && room;
    if (!fine) PyErr_NoMemory();
    for (Py_ssize_t i = 0; fine && i < count; i++) fine = read_field(layout, descr, i, &fields[i]);
    if (fine) type = make_struct(layout, descr, fields, count, room);
    PyMem_Free(fields);
    PyMem_Free(room);
    return type;
}

static const Type *read_chars(TypeTable *types, PyArray_Descr *descr) {
    bool wide = descr->kind == 'U';
    npy_intp count = PyDataType_ELSIZE(descr) / (wide ? 4 : 1);
    if (descr->byteorder == NPY_OPPBYTE || count < 1 || count > CHARS_MAX_COUNT) return NULL;
    return type_chars(types, wide, (uint32_t)count);
}

static const Type *read_time(TypeTable *types, PyArray_Descr *descr) {
    const PyArray_DatetimeMetaData *meta = &((PyArray_DatetimeDTypeMetaData *)PyDataType_C_METADATA(descr))->meta;
    if (descr->byteorder == NPY_OPPBYTE) return NULL;
    return type_time(types, descr->kind == 'm', (TimeUnit)meta->base, (uint32_t)meta->num);
}

static const Type *read_item(Layout *layout, PyArray_Descr *descr) {
    Scalar scalar;
    if (descr->kind == 'S' || descr->kind == 'U') return read_chars(layout->types, descr);
    if (descr->kind == 'M' || descr->kind == 'm') return read_time(layout->types, descr);
    if (PyDataType_HASSUBARRAY(descr)) return read_nested(layout, descr);
    if (PyDataType_HASFIELDS(descr)) return read_struct(layout, descr);
    return frontend_scalar_of_dtype((PyObject *)descr, &scalar) ? type_scalar(layout->types, scalar, false) : NULL;
}

const Type *frontend_element_type(TypeTable *types, PyObject *dtype, uintptr_t addresses) {
    Layout layout = {.types = types, .fits = true};
    const Type *type = read_item(&layout, (PyArray_Descr *)dtype);
    if (type && type->kind == TY_STRUCT && (!layout.fits || addresses % type->align)) {
        layout.packed = true;
        type = read_item(&layout, (PyArray_Descr *)dtype);
    }
    return type && type->kind != TY_NESTED ? type : NULL;
}

uintptr_t frontend_addresses(PyObject *array) {
    PyArrayObject *of = (PyArrayObject *)array;
    uintptr_t bits = (uintptr_t)PyArray_DATA(of);
    for (int i = 0; i < PyArray_NDIM(of); i++) bits |= (uintptr_t)PyArray_STRIDE(of, i);
    return bits;
}
