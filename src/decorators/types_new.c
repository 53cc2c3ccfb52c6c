/* types_new.c: the constructors of krait.types: Array(dtype, ndim, layout), Tuple(types), UniTuple(dtype, count) and
 * the others; those of records and of their fields are in types_struct.c. */
#include "decorators/types.h"

#include <string.h> /* strchr, strlen */

static PyObject *new_array(ModuleState *state, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"dtype", "ndim", "layout", "readonly", "name", "aligned", NULL};
    PyObject *dtype, *name;
    int ndim, readonly = 0, aligned = 1;
    const char *layout = "C";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Oi|spOp:Array", keywords, &dtype, &ndim, &layout, &readonly, &name,
                                     &aligned))
        return NULL;
    const Type *element = type_from_object(state, dtype);
    if (!element) return NULL;
    if (!type_can_be_element(element) || ndim < 0 || ndim > TYPE_MAX_NDIM || strlen(layout) != 1 ||
        !strchr("CFA", *layout)) {
        PyErr_SetString(
            PyExc_TypeError,
            "Array(dtype, ndim, layout): dtype is an element type such as float32, layout is 'C', 'F' or 'A'");
        return NULL;
    }
    ArrayLayout order = *layout == 'C' || (ndim <= 1 && *layout == 'F') ? LAYOUT_C
                        : *layout == 'F'                                ? LAYOUT_F
                                                                        : LAYOUT_A;
    Type made = *type_array(state->session.types, element, (unsigned)ndim, order, readonly != 0);
    made.unaligned = !aligned;
    made.repr = NULL;
    return type_to_object(state, type_intern(state->session.types, &made));
}

static PyObject *new_tuple(ModuleState *state, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"types", NULL};
    PyObject *sequence, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Tuple", keywords, &sequence)) return NULL;
    PyObject *items = PySequence_Tuple(sequence);
    if (!items) return NULL;
    Signature *signature = (Signature *)types_signature(state, NULL, items); /* the same reading of a list of types */
    if (signature)
        result = type_to_object(state, type_tuple(state->session.types, signature->args, (size_t)signature->count));
    Py_XDECREF(signature);
    Py_DECREF(items);
    return result;
}

static PyObject *new_unituple(ModuleState *state, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"dtype", "count", NULL};
    PyObject *dtype;
    Py_ssize_t count;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "On:UniTuple", keywords, &dtype, &count)) return NULL;
    const Type *item = type_from_object(state, dtype);
    if (!item) return NULL;
    if (count < 0 || count > 1000) return PyErr_Format(PyExc_ValueError, "a tuple type of %zd items", count);
    const Type *items[1000];
    for (Py_ssize_t i = 0; i < count; i++) items[i] = item;
    return type_to_object(state, type_tuple(state->session.types, items, (size_t)count));
}

static PyObject *new_vector(ModuleState *state, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"dtype", "count", NULL};
    PyObject *dtype;
    int count;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Oi:Vector", keywords, &dtype, &count)) return NULL;
    const Type *item = type_from_object(state, dtype);
    if (!item) return NULL;
    if (item->weak || !strchr("iuf", type_scalar_kind(item)) || count < 1 || count > VECTOR_MAX_COUNT)
        return PyErr_Format(PyExc_TypeError, "Vector(dtype, count): dtype is an integer or float type, count 1 to %d",
                            VECTOR_MAX_COUNT);
    return type_to_object(state, type_vector(state->session.types, (Scalar)item->scalar, (unsigned)count));
}

static PyObject *new_optional(ModuleState *state, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"type", NULL};
    PyObject *content;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Optional", keywords, &content)) return NULL;
    const Type *type = type_from_object(state, content);
    return type ? type_to_object(state, type_optional(state->session.types, type)) : NULL;
}

/* ListType(dtype), Set(dtype), DictType(key_type, value_type) */
static PyObject *new_container(ModuleState *state, TypeKind kind, PyObject *args, PyObject *kwargs) {
    static char *of_items[] = {"dtype", "reflected", NULL}, *of_pairs[] = {"key_type", "value_type", NULL};
    PyObject *first, *second = NULL;
    const Type *key, *value = NULL;
    TypeTable *table = state->session.types;
    int fine = kind == TY_DICT ? PyArg_ParseTupleAndKeywords(args, kwargs, "OO:DictType", of_pairs, &first, &second)
                               : PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", of_items, &first, &second);
    if (!fine || !(key = type_from_object(state, first))) return NULL;
    if (kind == TY_DICT && !(value = type_from_object(state, second))) return NULL;
    key = type_as_item(table, key);
    if (kind == TY_LIST) return type_to_object(state, type_with_items(table, TY_LIST, 0, &key, 1));
    return type_to_object(state, type_table_of(table, key, value ? type_as_item(table, value) : NULL));
}

static const struct {
    TypeClass class;
    TypeKind kind;
} containers[] = {{TYPE_CLASS_LIST, TY_LIST}, {TYPE_CLASS_DICT, TY_DICT}, {TYPE_CLASS_SET, TY_SET}};

PyObject *types_new(PyTypeObject *class, PyObject *args, PyObject *kwargs) {
    PyObject *module = PyType_GetModuleByDef(class, &krait_module_def);
    if (!module) return NULL;
    ModuleState *state = module_state(module);
    /* A program's own, for instances of a class of its: what these hold is found when they come. */
    if (types_is_derived(class)) return types_make_derived(state, class, NULL);
    if (class == state->type_classes[TYPE_CLASS_ARRAY]) return new_array(state, args, kwargs);
    if (class == state->type_classes[TYPE_CLASS_TUPLE]) return new_tuple(state, args, kwargs);
    if (class == state->type_classes[TYPE_CLASS_UNITUPLE]) return new_unituple(state, args, kwargs);
    bool delta = class == state->type_classes[TYPE_CLASS_TIMEDELTA];
    if (delta || class == state->type_classes[TYPE_CLASS_DATETIME]) return types_new_time(state, delta, args, kwargs);
    bool wide = class == state->type_classes[TYPE_CLASS_UNICODE_CHARS];
    if (wide || class == state->type_classes[TYPE_CLASS_CHARS]) return types_new_chars(state, wide, args, kwargs);
    if (class == state->type_classes[TYPE_CLASS_RECORD]) return types_new_record(state, args, kwargs);
    if (class == state->type_classes[TYPE_CLASS_NESTED]) return types_new_nested(state, args, kwargs);
    if (class == state->type_classes[TYPE_CLASS_VECTOR]) return new_vector(state, args, kwargs);
    if (class == state->type_classes[TYPE_CLASS_OPTIONAL]) return new_optional(state, args, kwargs);
    for (size_t i = 0; i < COUNT_OF(containers); i++)
        if (class == state->type_classes[containers[i].class])
            return new_container(state, containers[i].kind, args, kwargs);
    if (class == state->type_classes[TYPE_CLASS_CALLABLE]) /* code is compiled for each function that comes */
        return type_to_object(state, type_simple(state->session.types, TY_BOTTOM));
    PyErr_Format(PyExc_TypeError, "%s has no constructor: its instances have names, such as krait.float32",
                 class->tp_name);
    return NULL;
}
