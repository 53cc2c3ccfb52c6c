/* types_object.c: the types of compiled code as Python objects: krait.types, krait.float32, typeof().
 *
 * There is one object per Type; == takes Python's int, float, complex and bool for int64, float64, complex128 and
 * bool_, as programs do that compare what typeof gives.  type_classes.def gives their classes, type_names.def their
 * names.  A type indexed by slices is an array type (float32[:, ::1]), called with types it is a signature, called with
 * a value it converts the value. */
#include "decorators/decorators.h"

#include <stdlib.h> /* strtoul */
#include <string.h> /* strlen, strrchr */

#include "decorators/numpy_api.h" /* PyArray_DescrCheck */
#include "decorators/types.h"

typedef struct ClassRow {
    const char *name;
    TypeClass base;
    const char *doc;
} ClassRow;

static const ClassRow class_rows[TYPE_CLASS_COUNT] = {
#define TYPE_CLASS(id, name, base, doc) [TYPE_CLASS_##id] = {name, TYPE_CLASS_##base, doc},
#include "decorators/type_classes.def"
#undef TYPE_CLASS
};

static const struct {
    const char *name;
    Scalar scalar;
    bool weak;
} type_names[] = {
#define TYPE_NAME(name, scalar, weak) {#name, SCALAR_##scalar, weak},
#include "decorators/type_names.def"
#undef TYPE_NAME
};

/* Types without parameters that are no numbers. */
static const struct {
    const char *name;
    TypeKind kind;
} named_kinds[] = {{"unicode_type", TY_STRING}, {"bytes_type", TY_BYTES}, {"_deferred", TY_BOTTOM}};

static TypeClass class_of(const Type *type) {
    switch (type->kind) {
    case TY_SCALAR:
        switch (scalar_info[type->scalar].kind) {
        case 'b': return TYPE_CLASS_BOOLEAN;
        case 'f': return TYPE_CLASS_FLOAT;
        case 'c': return TYPE_CLASS_COMPLEX;
        default: return TYPE_CLASS_INTEGER;
        }
    case TY_ARRAY: return type->record ? TYPE_CLASS_RECORD : TYPE_CLASS_ARRAY;
    case TY_STRUCT:
        if (type_is_instance(type)) return TYPE_CLASS_INSTANCE;
        return type->form == STRUCT_VECTOR ? TYPE_CLASS_VECTOR : TYPE_CLASS_RECORD;
    case TY_LIST: return TYPE_CLASS_LIST;
    case TY_DICT: return TYPE_CLASS_DICT;
    case TY_SET: return TYPE_CLASS_SET;
    case TY_STR:
    case TY_STRING: return TYPE_CLASS_STRING;
    case TY_BYTES: return TYPE_CLASS_BYTES;
    case TY_BOTTOM: return TYPE_CLASS_OPEN;
    case TY_FUNC:
    case TY_PYFUNC:
    case TY_CLOSURE: return TYPE_CLASS_CALLABLE;
    case TY_NESTED: return TYPE_CLASS_NESTED;
    case TY_CHARS: return type->flag ? TYPE_CLASS_UNICODE_CHARS : TYPE_CLASS_CHARS;
    case TY_TIME: return type->flag ? TYPE_CLASS_TIMEDELTA : TYPE_CLASS_DATETIME;
    case TY_OPTIONAL: return TYPE_CLASS_OPTIONAL;
    case TY_NONE: return TYPE_CLASS_NONE;
    case TY_TUPLE:
        for (uint32_t i = 1; i < type->count; i++)
            if (type->items[i] != type->items[0]) return TYPE_CLASS_TUPLE;
        return type->count ? TYPE_CLASS_UNITUPLE : TYPE_CLASS_TUPLE;
    case TY_SLICE: return TYPE_CLASS_SLICE;
    case TY_RANGE: return TYPE_CLASS_RANGE;
    case TY_DTYPE: return TYPE_CLASS_DTYPE;
    case TY_CLASS: return TYPE_CLASS_NUMBER_CLASS;
    default: return TYPE_CLASS_OPAQUE;
    }
}

PyObject *type_to_object(ModuleState *state, const Type *type) {
    PyObject *key = PyLong_FromVoidPtr((void *)type);
    PyObject *object = key ? PyDict_GetItemWithError(state->type_objects, key) : NULL;
    Py_XINCREF(object);
    if (key && !object && !PyErr_Occurred()) {
        PyTypeObject *class = state->type_classes[class_of(type)];
        object = class->tp_alloc(class, 0);
        if (object) {
            ((TypeObject *)object)->type = type;
            if (PyDict_SetItem(state->type_objects, key, object) < 0) Py_CLEAR(object);
        }
    }
    Py_XDECREF(key);
    return object;
}

bool type_object_check(const ModuleState *state, PyObject *object) {
    return PyObject_TypeCheck(object, state->type_classes[TYPE_CLASS_TYPE]);
}

const Type *type_void_pointer(TypeTable *types) {
    return type_array(types, type_chars(types, false, 1), 1, LAYOUT_C, false);
}

const Type *type_from_name(ModuleState *state, const char *name, size_t length) {
    TypeTable *types = state->session.types;
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (strlen(type_names[i].name) == length && memcmp(type_names[i].name, name, length) == 0)
            return type_scalar(types, type_names[i].scalar, type_names[i].weak);
    if ((length == 4 && (memcmp(name, "void", 4) == 0 || memcmp(name, "none", 4) == 0 || memcmp(name, "None", 4) == 0)))
        return type_simple(types, TY_NONE);
    if (length == 7 && memcmp(name, "voidptr", 7) == 0) return type_void_pointer(types);
    for (size_t i = 0; i < COUNT_OF(named_kinds); i++)
        if (strlen(named_kinds[i].name) == length && memcmp(named_kinds[i].name, name, length) == 0)
            return type_simple(types, named_kinds[i].kind);
    return type_vector_named(types, name, length);
}

PyObject *type_names_list(void) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < COUNT_OF(type_names); i++) {
        PyObject *name = PyUnicode_FromString(type_names[i].name);
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

const Type *type_from_object(ModuleState *state, PyObject *object) {
    TypeTable *types = state->session.types;
    if (type_object_check(state, object)) return ((TypeObject *)object)->type;
    if (object == Py_None) return type_simple(types, TY_NONE);
    if (object == (PyObject *)&PyLong_Type) return type_scalar(types, SCALAR_INT64, true);
    if (object == (PyObject *)&PyFloat_Type) return type_scalar(types, SCALAR_FLOAT64, true);
    if (object == (PyObject *)&PyComplex_Type) return type_scalar(types, SCALAR_COMPLEX128, true);
    if (object == (PyObject *)&PyBool_Type) return type_scalar(types, SCALAR_BOOL, true);
    if (PyType_Check(object)) {
        int scalar = marshal_scalar_of_class((PyTypeObject *)object);
        if (scalar >= 0) return type_scalar(types, (Scalar)scalar, false);
    }
    if (PyArray_DescrCheck(object)) return types_of_dtype(state, object);
    const char *name = PyType_Check(object) ? ((PyTypeObject *)object)->tp_name : "", *dot = strrchr(name, '.');
    name = dot ? dot + 1 : name;
    PyErr_Format(PyExc_TypeError, "%R is not a type of compiled code%s", object, signature_advice(name, strlen(name)));
    return NULL;
}

/* ---- attributes ---- */

static void *text_of(Arena *arena, void *type) { return PyUnicode_FromString(type_text(arena, type)); }

PyObject *type_to_text(const Type *type) { return errors_with_arena(text_of, (void *)type); }

static PyObject *type_object_repr(PyObject *self) { return types_get_name(self, NULL); }

static PyObject *no_attribute(PyObject *self, const char *name) {
    PyErr_Format(PyExc_AttributeError, "type %R has no attribute '%s'", self, name);
    return NULL;
}

static PyObject *get_bitwidth(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    if (type->kind != TY_SCALAR) return no_attribute(self, "bitwidth");
    return PyLong_FromLong(scalar_info[type->scalar].kind == 'b' ? 1 : 8 * scalar_info[type->scalar].bytes);
}

static PyObject *get_signed(PyObject *self, void *closure) {
    char kind = type_scalar_kind(((TypeObject *)self)->type);
    (void)closure;
    if (kind != 'i' && kind != 'u') return no_attribute(self, "signed");
    return PyBool_FromLong(kind == 'i');
}

/* The least int of an integer type, or, with a closure, the greatest. */
static PyObject *get_limit(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    char kind = type_scalar_kind(type);
    if (kind != 'i' && kind != 'u') return no_attribute(self, closure ? "maxval" : "minval");
    unsigned long long greatest = ~0ull >> (64 - 8 * scalar_info[type->scalar].bytes);
    if (kind == 'u') return PyLong_FromUnsignedLongLong(closure ? greatest : 0);
    long long half = (long long)(greatest >> 1);
    return PyLong_FromLongLong(closure ? half : -half - 1);
}

static PyObject *get_dtype(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    if (type->record) type = type_element(type);
    if (type->kind == TY_ARRAY || class_of(type) == TYPE_CLASS_UNITUPLE || class_of(type) == TYPE_CLASS_VECTOR)
        return type_to_object(module_state_of(self), type->items[0]);
    if (type->kind == TY_NESTED || type->kind == TY_LIST) return type_to_object(module_state_of(self), type->items[0]);
    if (type->kind == TY_SET) return type_to_object(module_state_of(self), type_key(type));
    if (type->kind == TY_SCALAR || type->kind == TY_TIME || type->kind == TY_CHARS ||
        (type->kind == TY_STRUCT && !type_is_instance(type)))
        return (PyObject *)marshal_descr(&module_state_of(self)->marshal, type);
    return no_attribute(self, "dtype");
}

static PyObject *get_ndim(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    return type->kind == TY_ARRAY || type->kind == TY_NESTED ? PyLong_FromLong(type->ndim) : no_attribute(self, "ndim");
}

static PyObject *get_shape(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    return type->kind == TY_NESTED ? types_extents(type) : no_attribute(self, "shape");
}

static PyObject *get_layout(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    return type->kind == TY_ARRAY ? PyUnicode_FromStringAndSize(&"CFA"[type->layout], 1) : no_attribute(self, "layout");
}

static PyObject *get_mutable(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    return type->kind == TY_ARRAY ? PyBool_FromLong(!type->readonly) : no_attribute(self, "mutable");
}

static PyObject *get_count(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    bool counts = type->kind == TY_TUPLE || class_of(type) == TYPE_CLASS_VECTOR;
    return counts ? PyLong_FromLong((long)type->count) : no_attribute(self, "count");
}

static PyObject *get_types(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    if (type->kind != TY_TUPLE) return no_attribute(self, "types");
    PyObject *tuple = PyTuple_New((Py_ssize_t)type->count);
    for (uint32_t i = 0; tuple && i < type->count; i++) {
        PyObject *item = type_to_object(module_state_of(self), type->items[i]);
        if (item)
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_type(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    (void)closure;
    return type->kind == TY_OPTIONAL ? type_to_object(module_state_of(self), type->items[0])
                                     : no_attribute(self, "type");
}

static PyObject *get_python_class(PyObject *self, void *closure) {
    const Type *type = ((TypeObject *)self)->type;
    bool has = (type->kind == TY_STRUCT || type->kind == TY_TUPLE) && type->object;
    PyObject *class = has ? objects_get(module_state_of(self)->session.objects, type->object) : NULL;
    (void)closure;
    return class ? Py_NewRef(class) : no_attribute(self, "python_class");
}

static PyObject *get_weak(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((TypeObject *)self)->type->kind == TY_SCALAR && ((TypeObject *)self)->type->weak);
}

static PyGetSetDef type_getset[] = {
    {"name", types_get_name, NULL, "the type as text", NULL},
    {"bitwidth", get_bitwidth, NULL, "bits of a scalar", NULL},
    {"signed", get_signed, NULL, "whether an integer type has a sign", NULL},
    {"minval", get_limit, NULL, "the least int of an integer type", NULL},
    {"maxval", get_limit, NULL, "the greatest int of an integer type", "greatest"},
    {"weak", get_weak, NULL, "whether it is the type of a Python scalar, which gives way to the other operand's type",
     NULL},
    {"dtype", get_dtype, NULL, "element type of an array or a UniTuple; NumPy's dtype of a scalar", NULL},
    {"ndim", get_ndim, NULL, "dimensions of an array", NULL},
    {"layout", get_layout, NULL, "'C', 'F', or 'A' for any strides", NULL},
    {"mutable", get_mutable, NULL, "whether an array may be written", NULL},
    {"count", get_count, NULL, "items of a tuple", NULL},
    {"types", get_types, NULL, "the types of a tuple's items", NULL},
    {"type", get_type, NULL, "what an Optional holds when it is not None", NULL},
    {"key_type", types_get_key, NULL, "of a dict: the type of its keys", NULL},
    {"value_type", types_get_value, NULL, "of a dict: the type of its values", NULL},
    {"python_class", get_python_class, NULL, "the class of an instance or a named tuple", NULL},
    {"shape", get_shape, NULL, "extents of a nested array", NULL},
    {"size", types_get_size, NULL, "bytes of a record", NULL},
    {"aligned", types_get_aligned, NULL, "whether every field of a record lies at a multiple of its alignment", NULL},
    {"members", types_get_members, NULL, "names and types of the fields of a record", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- float32[:, ::1] ---- */

/* 0: `:`, 1: `::1`, -1: neither. */
static int slice_step(PyObject *object) {
    if (!PySlice_Check(object)) return -1;
    PySliceObject *slice = (PySliceObject *)object;
    if (slice->start != Py_None || slice->stop != Py_None) return -1;
    if (slice->step == Py_None) return 0;
    return PyLong_Check(slice->step) && PyLong_AsLong(slice->step) == 1 ? 1 : -1;
}

static PyObject *type_subscript(PyObject *self, PyObject *key) {
    ModuleState *state = module_state_of(self);
    const Type *element = ((TypeObject *)self)->type;
    Py_ssize_t ndim = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 1;
    ArrayLayout layout = LAYOUT_A;
    if (!type_can_be_element(element)) {
        PyErr_Format(PyExc_TypeError, "%R is no element type of an array", self);
        return NULL;
    }
    if (ndim > TYPE_MAX_NDIM) goto bad;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        int step = slice_step(PyTuple_Check(key) ? PyTuple_GET_ITEM(key, i) : key);
        if (step < 0 || (step == 1 && i != 0 && i != ndim - 1) || (step == 1 && layout != LAYOUT_A)) goto bad;
        if (step == 1) layout = i == ndim - 1 ? LAYOUT_C : LAYOUT_F;
    }
    if (ndim == 0) layout = LAYOUT_C;
    return type_to_object(state, type_array(state->session.types, element, (unsigned)ndim, layout, false));
bad:
    PyErr_Format(
        PyExc_TypeError,
        "an array type is written %R[:], %R[::1], %R[:, :], %R[:, ::1] or %R[::1, :], with one slice per dimension",
        self, self, self, self, self);
    return NULL;
}

/* ---- calls: a signature, or a conversion ---- */

PyObject *types_signature(ModuleState *state, const Type *result, PyObject *args) {
    const Type *few[16], **types = few;
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *signature = NULL;
    if (count > (Py_ssize_t)COUNT_OF(few) && !(types = PyMem_Malloc((size_t)count * sizeof *types)))
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        types[i] = type_from_object(state, PyTuple_GET_ITEM(args, i));
        if (!types[i]) goto done;
    }
    signature = signature_new(state, result, types, count);
done:
    if (types != few) PyMem_Free(types);
    return signature;
}

static PyObject *type_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    ModuleState *state = module_state_of(self);
    const Type *type = ((TypeObject *)self)->type;
    bool types_only = true;
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "a type takes no keyword arguments");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *item = PyTuple_GET_ITEM(args, i);
        types_only &= type_object_check(state, item) || PyType_Check(item) || item == Py_None;
        if (Py_IS_TYPE(item, state->signature_class))
            return PyErr_Format(PyExc_TypeError,
                                "%R is no type of an argument: a function is an argument as it is, and "
                                "code is compiled for each; leave the signature around it out, @njit",
                                item);
    }
    if (types_only) return types_signature(state, type, args);
    if (type->kind != TY_SCALAR || PyTuple_GET_SIZE(args) != 1) {
        PyErr_Format(PyExc_TypeError, "%R is called with types, which makes a signature%s", self,
                     type->kind == TY_SCALAR ? ", or with one value, which it converts" : "");
        return NULL;
    }
    /* the interpreter converts as compiled code does: both mean NumPy's (or Python's) constructor */
    static PyTypeObject *const python[] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
    TypeClass class = class_of(type);
    PyTypeObject *constructor = type->weak ? python[class - TYPE_CLASS_BOOLEAN]
                                           : marshal_scalar_type((Scalar)type->scalar);
    return constructor ? PyObject_CallOneArg((PyObject *)constructor, PyTuple_GET_ITEM(args, 0)) : NULL;
}

/* ---- pickling, by text ---- */

static PyObject *type_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    if (PyObject_TypeCheck(self, module_state_of(self)->type_classes[TYPE_CLASS_OPAQUE]))
        return PyErr_Format(PyExc_TypeError, "type %R stands for an object of this process and cannot be pickled",
                            self);
    PyObject *module = PyType_GetModule(Py_TYPE(self));
    PyObject *make = module ? PyObject_GetAttrString(module, "_type_from_text") : NULL;
    PyObject *text = make ? type_to_text(((TypeObject *)self)->type) : NULL;
    return text ? Py_BuildValue("N(N)", make, text) : NULL;
}

typedef struct Parsing {
    ModuleState *state;
    const char *text;
} Parsing;

static void *parse_text(Arena *arena, void *context) {
    const Parsing *parsing = context;
    const char *end = NULL;
    const Type *type = type_parse(parsing->state->session.types, arena, parsing->text, &end);
    return type && *end == '\0' ? type_to_object(parsing->state, type) : NULL;
}

static PyObject *types_from_text(PyObject *module, PyObject *text) {
    Parsing parsing = {module_state(module), PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL};
    PyObject *type = parsing.text ? errors_with_arena(parse_text, &parsing) : NULL;
    if (!type && !PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%R is not a type", text);
    return type;
}

static PyMethodDef type_methods[] = {
    {"define", types_define, METH_O, "define($self, type, /)\n--\n\nOf a deferred type: what it stands for."},
    {"__reduce__", type_reduce, METH_NOARGS, NULL},
    {"typeof", types_typeof_field, METH_O, "typeof($self, name, /)\n--\n\nOf a record: the type of a field."},
    {"offset", types_offset_of_field, METH_O,
     "offset($self, name, /)\n--\n\nOf a record: where a field lies, in bytes."},
    {NULL, NULL, 0, NULL},
};

/* ---- module functions ---- */

static PyObject *types_typeof(PyObject *module, PyObject *object) {
    ModuleState *state = module_state(module);
    PyTypeObject *device = state->marshal.device_array; /* an argument of kernels alone */
    bool on_device = device && PyObject_TypeCheck(object, device);
    const Type *type = marshal_typeof(on_device ? &state->marshal : &state->host_marshal, object);
    if (type && type->kind == TY_STR) type = type_simple(state->session.types, TY_STRING);
    return type ? type_to_object(state, type) : NULL;
}

static PyMethodDef functions[] = {
    {"from_dtype", types_from_dtype, METH_O,
     "from_dtype(dtype, /)\n--\n\nThe type that items of a NumPy dtype have in compiled code."},
    {"typeof", types_typeof, METH_O, "typeof(value)\n--\n\nThe type that a value has as an argument of compiled code."},
    {"_type_from_text", types_from_text, METH_O, NULL},
    {"_type_as", types_as, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_classes(PyObject *module, ModuleState *state, PyObject *names) {
    for (int i = 0; i < TYPE_CLASS_COUNT; i++) {
        char full[64];
        snprintf(full, sizeof full, "krait.types.%s", class_rows[i].name);
        PyType_Slot root[] = {
            {Py_tp_doc, (void *)class_rows[i].doc},
            {Py_tp_new, types_new},
            {Py_tp_init, types_init},
            {Py_tp_call, type_call},
            {Py_tp_repr, type_object_repr},
            {Py_tp_richcompare, types_compare},
            {Py_tp_hash, types_hash},
            {Py_mp_subscript, type_subscript},
            {Py_tp_getset, type_getset},
            {Py_tp_methods, type_methods},
            {0, NULL},
        };
        PyType_Slot rest[2 + TYPES_MAX_OWN_SLOTS + 1] = {{Py_tp_doc, (void *)class_rows[i].doc},
                                                         {Py_tp_new, types_new}};
        types_own_slots((TypeClass)i, rest + 2);
        PyType_Spec spec = {full, sizeof(TypeObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
                            i == TYPE_CLASS_TYPE ? root : rest};
        PyObject *base = i == TYPE_CLASS_TYPE ? NULL : (PyObject *)state->type_classes[class_rows[i].base];
        PyObject *class = PyType_FromModuleAndSpec(module, &spec, base);
        state->type_classes[i] = (PyTypeObject *)class;
        if (!class || PyDict_SetItemString(names, class_rows[i].name, class) < 0) return -1;
    }
    return 0;
}

static int add_name(ModuleState *state, PyObject *names, const char *name, const Type *type) {
    PyObject *object = type_to_object(state, type);
    int result = object ? PyDict_SetItemString(names, name, object) : -1;
    Py_XDECREF(object);
    return result;
}

/* What a type object stands for where compiled code names it: scalars and vectors can be constructed there, records and
 * times are what arrays are made of, others what a container is for. */
static const Type *type_made(PyObject *object) {
    const Type *type = ((TypeObject *)object)->type;
    bool item = (type->kind == TY_STRUCT && !type_is_instance(type)) || type->kind == TY_TIME;
    bool held = type->kind == TY_ARRAY || type_is_container(type) || type->kind == TY_TUPLE ||
                type->kind == TY_STRING || type->kind == TY_BYTES || type->kind == TY_BOTTOM;
    return type->kind == TY_SCALAR || item || held ? type : NULL;
}

/* float32x4 and the others. */
static int add_vectors(ModuleState *state, PyObject *names) {
    for (int scalar = 0; scalar < SCALAR_COUNT; scalar++) {
        if (!strchr("iuf", scalar_info[scalar].kind)) continue;
        for (unsigned count = 1; count <= VECTOR_MAX_COUNT; count++) {
            char name[32];
            snprintf(name, sizeof name, "%sx%u", scalar_info[scalar].name, count);
            if (add_name(state, names, name, type_vector(state->session.types, (Scalar)scalar, count)) < 0) return -1;
        }
    }
    return 0;
}

int types_add(PyObject *module, ModuleState *state) {
    PyObject *names = PyDict_New();
    int result = -1;
    state->type_objects = PyDict_New();
    if (!names || !state->type_objects || add_classes(module, state, names) < 0) goto done;
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (!type_names[i].weak && add_name(state, names, type_names[i].name,
                                            type_scalar(state->session.types, type_names[i].scalar, false)) < 0)
            goto done;
    objects_set_krait_type(state->session.objects, state->type_classes[TYPE_CLASS_TYPE], type_made);
    const Type *none = type_simple(state->session.types, TY_NONE);
    if (add_vectors(state, names) < 0 || add_name(state, names, "none", none) < 0 ||
        add_name(state, names, "void", none) < 0 ||
        add_name(state, names, "voidptr", type_void_pointer(state->session.types)) < 0)
        goto done;
    for (size_t i = 0; i < COUNT_OF(named_kinds); i++)
        if (add_name(state, names, named_kinds[i].name, type_simple(state->session.types, named_kinds[i].kind)) < 0)
            goto done;
    if (PyModule_AddObjectRef(module, "types", names) < 0) goto done;
    result = PyModule_AddFunctions(module, functions);
done:
    Py_XDECREF(names);
    return result;
}
