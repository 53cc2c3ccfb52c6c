/* typeof.c: the type that a Python value has in compiled code.
 *
 * Objects that have bytes are told apart here: numbers, arrays, tuples, None, ranges, members of enumerations, and on
 * the host bytes, generators of random numbers, containers (list.c, table.c) and instances (typeof_instance.c).  Every
 * other object (functions, types, exception classes, library functions) is a constant, and the frontend says which. */
#include <string.h> /* memcpy, strcmp */

#include "runtime/marshal/marshal_private.h"

static const Type *refuse_dtype(PyObject *dtype) {
    if (!PyErr_Occurred())
        PyErr_Format(
            PyExc_TypeError,
            "an array of dtype %S cannot be used in compiled code: the dtypes are bool, int8 to int64, uint8 "
            "to uint64, float16 to float64, complex64, complex128, texts, dates, and structs of them; convert it, "
            "a.astype(np.float64), or texts by a.astype(str)",
            dtype);
    return NULL;
}

static const Type *typeof_array(const Marshal *marshal, PyArrayObject *array) {
    PyObject *dtype = (PyObject *)PyArray_DESCR(array);
    if (!PyArray_ISNOTSWAPPED(array)) {
        PyErr_Format(PyExc_TypeError,
                     "an array of dtype %S, not in the byte order of this machine, cannot be used in compiled code: "
                     "convert it, a.astype(a.dtype.newbyteorder('='))",
                     dtype);
        return NULL;
    }
    const Type *element = marshal_element(marshal, PyArray_DESCR(array), frontend_addresses((PyObject *)array));
    if (!element) return refuse_dtype(dtype);
    if (PyArray_NDIM(array) > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_TypeError, "an array of %d dimensions cannot be used in compiled code: the most is %d",
                     PyArray_NDIM(array), TYPE_MAX_NDIM);
        return NULL;
    }
    const Type like = {.items = &element,
                       .readonly = !(PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE),
                       .unaligned = !(PyArray_FLAGS(array) & NPY_ARRAY_ALIGNED)};
    return type_view(marshal->types, &like, (unsigned)PyArray_NDIM(array), marshal_layout(array));
}

static const Type *typeof_record(const Marshal *marshal, PyVoidScalarObject *record) {
    const Type *type = marshal_element(marshal, (PyArray_Descr *)record->descr, (uintptr_t)record->obval);
    if (!type) return refuse_dtype((PyObject *)record->descr);
    return type_record(marshal->types, type, !(record->flags & NPY_ARRAY_WRITEABLE));
}

const Type *marshal_with_scratch(MakeType *make, const Marshal *marshal, PyObject *object, void *context) {
    Arena *const scratch = arena_new();
    if (!scratch) return (PyErr_NoMemory(), NULL);
    jmp_buf recovery;
    if (setjmp(recovery)) {
        arena_free(scratch);
        return (PyErr_NoMemory(), NULL);
    }
    arena_on_exhaustion(scratch, &recovery);
    const Type *type = make(marshal, object, scratch, context);
    arena_free(scratch);
    return type;
}

/* An instance of a namedtuple; any other subclass of tuple is taken for a tuple. */
static const Type *subclass_type(const Marshal *marshal, PyObject *tuple, Arena *scratch, void *items) {
    PyObject *names = frontend_keyword_names(tuple);
    if (names) {
        const Type *type = frontend_keywords_type(marshal->objects, marshal->types, scratch, Py_TYPE(tuple), names,
                                                  items);
        Py_DECREF(names);
        return type;
    }
    return frontend_tuple_type(marshal->objects, marshal->types, scratch, Py_TYPE(tuple), items,
                               (size_t)PyTuple_GET_SIZE(tuple));
}

static const Type *typeof_tuple(const Marshal *marshal, PyObject *tuple, Arena *arena) {
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    const Type *few[16], **items = few;
    const Type *type = NULL;
    if (Py_EnterRecursiveCall(" while typing a tuple")) return NULL;
    if (count > (Py_ssize_t)COUNT_OF(few)) {
        items = PyMem_Malloc((size_t)count * sizeof *items);
        if (!items) {
            PyErr_NoMemory();
            goto done;
        }
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const Const *item = NULL;
        items[i] = marshal_typeof_const(marshal, PyTuple_GET_ITEM(tuple, i), arena, &item);
        if (!items[i]) {
            marshal_name_part("x[%zd]", i);
            goto done;
        }
        if (items[i]->kind == TY_STR) { /* its text would be lost: a tuple argument is not a constant */
            if (!marshal->host) {
                PyErr_SetString(PyExc_TypeError,
                                "a str in a tuple cannot be an argument of a kernel: pass it on its own");
                goto done;
            }
            items[i] = type_simple(marshal->types, TY_STRING);
        }
    }
    type = PyTuple_CheckExact(tuple) ? type_tuple(marshal->types, items, (size_t)count)
                                     : marshal_with_scratch(subclass_type, marshal, tuple, items);
done:
    if (items != few) PyMem_Free(items);
    Py_LeaveRecursiveCall();
    return type;
}

/* Each part is an int or None, as where something is indexed. */
static const Type *typeof_slice(const Marshal *marshal, const PySliceObject *slice) {
    static const char *const names[] = {"start", "stop", "step"};
    PyObject *parts[] = {slice->start, slice->stop, slice->step};
    const Type *types[COUNT_OF(parts)];
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        bool none = parts[i] == Py_None;
        types[i] = none ? type_simple(marshal->types, TY_NONE) : type_scalar(marshal->types, SCALAR_INT64, true);
        if (none || PyIndex_Check(parts[i])) continue;
        PyErr_Format(PyExc_TypeError, "a slice whose %s is of type %s" NO_ARGUMENT ": its parts are ints and None",
                     names[i], Py_TYPE(parts[i])->tp_name);
        return NULL;
    }
    return type_slice(marshal->types, types[0], types[1], types[2]);
}

/* What classes of other libraries have, and what to pass instead of their objects: the first that fits. */
static const struct {
    const char *name, *advice;
} advice_by_attribute[] = {
    {"iterrows", "; pass the columns that are needed as arrays, table['name'].to_numpy()"},
    {"__array__", "; make an array of it: np.asarray(...)"},
    {"timestamp", "; pass the numbers of it that are needed, as x.year or x.timestamp(), or np.datetime64(x, 's')"},
    {"toordinal", "; pass the numbers of it that are needed, as x.year or x.toordinal(), or np.datetime64(x, 'D')"},
    {"tzinfo", "; pass the numbers of it that are needed, as x.hour"},
    {"total_seconds", "; pass a number, x.total_seconds(), or np.timedelta64(x, 's')"},
    {"as_integer_ratio", "; pass a float, float(x), or, where that is not exact enough, ints, x.as_integer_ratio()"},
    {"__fspath__", "; pass its text, str(x)"},
    {"readline", "; read it before the call, and pass what was read, as a list of texts or an array"},
    {"gi_frame", "; pass what it yields, as a list, [v for v in x], or an array"},
    {"acquire", "; take it before the call"},
    {"hex", "; pass bytes(x), or an array of its numbers, np.frombuffer(x, np.uint8), which can be written to"},
    {"__call__", "; call it outside, and pass its result, or pass a function that is written in Python"},
    {"__getattr__",
     "; its class has a __getattr__, which compiled code cannot ask: take that away, or pass the attributes "
     "that are needed, x.name"},
};

static bool class_has(PyTypeObject *class, const char *name) {
    PyObject *text = PyUnicode_FromString(name);
    bool has = text && _PyType_Lookup(class, text);
    Py_XDECREF(text);
    PyErr_Clear();
    return has;
}

void marshal_name_part(const char *format, ...) {
    PyObject *class, *reason, *traceback;
    if (!PyErr_Occurred() || !PyErr_ExceptionMatches(PyExc_TypeError)) return;
    PyErr_Fetch(&class, &reason, &traceback);
    va_list args;
    va_start(args, format);
    PyObject *name = PyUnicode_FromFormatV(format, args), *text = name && reason ? PyObject_Str(reason) : NULL;
    va_end(args);
    PyObject *advice = text ? frontend_advise_for(text, name) : NULL;
    if (advice) Py_XSETREF(reason, Py_NewRef(advice));
    PyErr_Clear();
    Py_XDECREF(name), Py_XDECREF(text), Py_XDECREF(advice);
    PyErr_Restore(class, reason, traceback);
}

static void refuse_object(const Marshal *marshal, PyObject *object) {
    const char *advice = "";
    if (PyList_Check(object))
        advice = "; make an array of it before the launch, np.array(x), in which results come back as well";
    if (PyDict_Check(object)) advice = "; pass the values that are needed as separate arguments, or as a tuple";
    if (PyAnySet_Check(object)) advice = "; make an array of it: np.array(sorted(x))";
    for (size_t i = 0; !*advice && i < COUNT_OF(advice_by_attribute); i++)
        if (class_has(Py_TYPE(object), advice_by_attribute[i].name)) advice = advice_by_attribute[i].advice;
    if (!*advice) advice = "; pass the numbers and arrays that it holds";
    const char *takes = marshal->host ? NO_ARGUMENT ": it takes numbers, texts, NumPy arrays, datetime64, tuples, "
                                                    "lists, dicts and sets of them, instances that hold such, None and "
                                                    "functions"
                                      : " cannot be an argument of a kernel: it takes numbers, NumPy arrays, device "
                                        "arrays, tuples and namedtuples of them, instances that hold such, None and "
                                        "functions";
    PyErr_Format(PyExc_TypeError, "a value of type %s%s%s", Py_TYPE(object)->tp_name, takes, advice);
}

static const Type *constant_in(const Marshal *marshal, PyObject *object, Arena *arena, void *into) {
    const Const **konst = into;
    Frontend frontend;
    Diag diag;
    jmp_buf recovery, *outer = arena_on_exhaustion(arena, &recovery);
    diag_init(&diag, arena);
    frontend_open(&frontend, arena, marshal->types, marshal->objects, &diag);
    if (setjmp(recovery)) { /* the frontend has references */
        frontend_close(&frontend);
        arena_on_exhaustion(arena, outer);
        return (PyErr_NoMemory(), NULL);
    }
    const Const *found = frontend_constant(&frontend, object, NULL, (Span){0});
    bool known = found && (found->type->kind != TY_OBJECT || PyModule_Check(object) || PyType_Check(object) ||
                           frontend_is_enum(Py_TYPE(object))); /* each member is a constant */
    const Type *type = known ? found->type : NULL;
    if (known) {
        ObjHold *hold = marshal->hold ? marshal->hold : objects_kept(marshal->objects);
        if (!objects_hold_type(marshal->objects, hold, type)) type = NULL;
        if (konst && type && type->kind == TY_STR)
            *konst = found; /* the only kind here whose type does not say it all */
    } else if (!PyErr_Occurred()) {
        refuse_object(marshal, object);
    }
    frontend_close(&frontend);
    arena_on_exhaustion(arena, outer);
    return type;
}

/* The objects compiled code knows as constants: functions, types, exception classes, strings.  TypeError for anything
 * else.  Without an arena of the caller, a scratch one is used. */
static const Type *typeof_constant(const Marshal *marshal, PyObject *object, Arena *arena, const Const **konst) {
    if (Py_TYPE(object) == &PyBaseObject_Type || PyList_Check(object) || PyDict_Check(object) ||
        PyAnySet_Check(object)) {
        refuse_object(marshal, object); /* before it gets a number */
        return NULL;
    }
    if (marshal->host && PyUnicode_CheckExact(object) &&
        PyUnicode_FindChar(object, 0, 0, PyUnicode_GET_LENGTH(object), 1) >= 0)
        return type_simple(marshal->types, TY_STRING); /* no constant: those end with a NUL */
    return arena ? constant_in(marshal, object, arena, konst)
                 : marshal_with_scratch(constant_in, marshal, object, konst);
}

bool marshal_declared_types(const Marshal *marshal, PyObject *container, Arena *arena, const Type **types,
                            size_t count) {
    if (PyList_CheckExact(container) || PyDict_CheckExact(container)) return false; /* the commonest, which have none */
    PyObject *declared = PyObject_GetAttrString(container, "_types");
    bool fine = declared && PyTuple_CheckExact(declared) && PyTuple_GET_SIZE(declared) == (Py_ssize_t)count;
    for (size_t i = 0; fine && i < count; i++) {
        const Type *type = typeof_constant(marshal, PyTuple_GET_ITEM(declared, (Py_ssize_t)i), arena, NULL);
        bool declares = type && type->kind == TY_CLASS;
        bool text = type && type->kind == TY_FUNC &&
                    typeof_constant(marshal, (PyObject *)&PyUnicode_Type, arena, NULL) == type;
        fine = declares || text;
        if (text) types[i] = type_simple(marshal->types, TY_STRING);
        if (declares) types[i] = type_as_item(marshal->types, type->items[0]);
    }
    PyErr_Clear();
    Py_XDECREF(declared);
    return fine;
}

const Type *marshal_refuse_attribute(PyObject *object, const char *name) {
    PyObject *class = NULL, *reason = NULL, *traceback = NULL;
    bool collection = frontend_result_converter((PyObject *)Py_TYPE(object)) != NULL; /* of which the items are told */
    if (PyErr_Occurred() && (collection || !PyErr_ExceptionMatches(PyExc_TypeError))) return NULL;
    if (name) marshal_name_part("x.%s", name);
    PyErr_Fetch(&class, &reason, &traceback);
    PyErr_Format(PyExc_TypeError,
                 reason ? "a value of type %s" NO_ARGUMENT ", because of its attribute '%s': %S"
                        : "a value of type %s" NO_ARGUMENT ", because of its attribute '%s': "
                          "attributes are numbers, texts, NumPy arrays, tuples, lists and dicts of them, None and such "
                          "instances",
                 Py_TYPE(object)->tp_name, name ? name : "?", reason);
    Py_XDECREF(class), Py_XDECREF(reason), Py_XDECREF(traceback);
    return NULL;
}

/* Whether there is anything in its values that a program can change: what is done to a list would have to be done to
 * the attribute's too.  Texts are not changed, and arrays are those of the attribute. */
static bool holds_changing(const Type *type) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++) {
        const Type *of = repr->leaves[i].kind == LEAF_OWNER ? repr->leaves[i].array : NULL;
        if (of && of->kind != TY_ARRAY && of->kind != TY_STRING && of->kind != TY_BYTES) return true;
    }
    return false;
}

/* An instance whose attributes all have types; none holds a list. */
static const Type *typeof_instance(const Marshal *marshal, PyObject *object, PyObject *names, bool frozen) {
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    const Type **items = PyMem_Calloc((size_t)count + 1, sizeof *items), *type = NULL;
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    bool entered = items && texts && !Py_EnterRecursiveCall(" while typing an instance"), fine = entered;
    if (!items || !texts) PyErr_NoMemory();
    for (Py_ssize_t i = 0; fine && i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *value = PyObject_GetAttr(object, name);
        texts[i] = PyUnicode_AsUTF8(name);
        items[i] = value ? marshal_typeof(marshal, value) : NULL;
        if (items[i] && items[i]->kind == TY_STR && marshal->host) items[i] = type_simple(marshal->types, TY_STRING);
        fine = items[i] && texts[i] && items[i]->kind != TY_STR && !holds_changing(items[i]);
        if (!fine) marshal_refuse_attribute(object, texts[i]);
        Py_XDECREF(value);
    }
    if (entered) Py_LeaveRecursiveCall();
    ObjRef class = fine ? objects_ref(marshal->objects, (PyObject *)Py_TYPE(object)) : 0;
    char title[CLASS_TITLE_BYTES];
    if (class) frontend_class_title(Py_TYPE(object), title);
    if (class) type = type_instance(marshal->types, class, title, frozen, texts, items, (size_t)count);
    PyMem_Free(items);
    PyMem_Free(texts);
    return type;
}

/* Whether a value of a user's class can be taken for the plain one that the class derives from; members of enumerations
 * and namedtuples keep their class. */
static bool can_stand_for_plain(PyObject *object) {
    PyTypeObject *const plains[] = {&PyLong_Type, &PyFloat_Type, &PyComplex_Type, &PyUnicode_Type,  &PyTuple_Type,
                                    &PyList_Type, &PyDict_Type,  &PySet_Type,     &PyFrozenSet_Type};
    PyTypeObject *class = Py_TYPE(object);
    if (frontend_is_enum(class) || frontend_is_named_tuple(class) || frontend_is_keywords(class)) return true;
    for (size_t i = 0; i < COUNT_OF(plains); i++) {
        const char *name = PyType_IsSubtype(class, plains[i]) ? frontend_overrides(class, plains[i]) : NULL;
        if (!name) continue;
        PyErr_Format(PyExc_TypeError,
                     "a value of type %s" NO_ARGUMENT ", where it would be a plain %s: its "
                     "class has its own %s; pass a plain %s, %s(x)",
                     class->tp_name, plains[i]->tp_name, name, plains[i]->tp_name, plains[i]->tp_name);
        return false;
    }
    return true;
}

static const Type *typeof_object(const Marshal *marshal, PyObject *object, PyObject *names) {
    if (Py_EnterRecursiveCall(" while typing an instance")) return NULL;
    const Type *type = marshal_typeof_instance(marshal, object);
    if (!type && !PyErr_Occurred()) type = typeof_instance(marshal, object, names, false);
    Py_LeaveRecursiveCall();
    return type;
}

/* What the prelude makes of an object of the library's. */
static const Type *typeof_stand_in(const Marshal *marshal, PyObject *object) {
    PyObject *stand_in = marshal_stand_for(object);
    if (!stand_in) return NULL;
    bool entered = !Py_EnterRecursiveCall(" while looking at what a collection holds");
    const Type *type = entered ? marshal_typeof_instance(marshal, stand_in) : NULL;
    if (entered) Py_LeaveRecursiveCall();
    Py_DECREF(stand_in);
    return type;
}

const Type *marshal_typeof_const(const Marshal *marshal, PyObject *object, Arena *arena, const Const **konst) {
    TypeTable *types = marshal->types;
    if (PyBool_Check(object)) return type_scalar(types, SCALAR_BOOL, true);
    if (PyArray_IsScalar(object, Generic)) {
        if (marshal_is_record(object)) return typeof_record(marshal, (PyVoidScalarObject *)object);
        if (marshal_is_time(object)) return marshal_time(marshal, object);
        int scalar = marshal_scalar_of_class(Py_TYPE(object));
        if (scalar >= 0) return type_scalar(types, (Scalar)scalar, false);
        PyErr_Format(PyExc_TypeError, "a NumPy scalar of type %s cannot be an argument of compiled code",
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    if (PyLong_CheckExact(object)) return type_scalar(types, SCALAR_INT64, true);
    if (marshal->host && frontend_stand_in(Py_TYPE(object))) return typeof_stand_in(marshal, object);
    if (!can_stand_for_plain(object)) return NULL;
    if (PyLong_Check(object)) {
        const Type *type = frontend_enum_type(marshal->objects, types, Py_TYPE(object));
        return type || PyErr_Occurred() ? type : type_scalar(types, SCALAR_INT64, true);
    }
    if (frontend_is_enum(Py_TYPE(object))) {
        const Type *type = frontend_member_type(marshal->objects, types, Py_TYPE(object));
        return type || PyErr_Occurred() ? type : typeof_constant(marshal, object, arena, konst);
    }
    if (PyFloat_Check(object)) return type_scalar(types, SCALAR_FLOAT64, true);
    if (PyComplex_Check(object)) return type_scalar(types, SCALAR_COMPLEX128, true);
    if (marshal_is_array(object)) return typeof_array(marshal, (PyArrayObject *)object);
    if (PyArray_Check(object)) {
        bool masked = class_has(Py_TYPE(object), "mask");
        PyErr_Format(PyExc_TypeError, "%s, a subclass of numpy.ndarray, cannot be used in compiled code: pass %s",
                     Py_TYPE(object)->tp_name,
                     masked ? "a.filled(value), or a.data and np.ma.getmaskarray(a) as two arrays" : "np.asarray(a)");
        return NULL;
    }
    if (marshal->device_array && PyObject_TypeCheck(object, marshal->device_array)) {
        if (!marshal->host) return ((DeviceArray *)object)->type;
        PyErr_SetString(PyExc_TypeError, "a device array cannot be an argument of a function compiled for the host: "
                                         "pass a.copy_to_host(), or use it in a kernel");
        return NULL;
    }
    if (object == Py_None) return type_simple(types, TY_NONE);
    if (PyTuple_Check(object)) return typeof_tuple(marshal, object, arena);
    if (PyList_Check(object) && marshal->host) return marshal_typeof_list(marshal, object, arena);
    if ((marshal_is_dict(object) || marshal_is_set(object)) && marshal->host)
        return marshal_typeof_table(marshal, object, arena);
    if (PyBytes_CheckExact(object) && marshal->host) return type_simple(types, TY_BYTES);
    if (PySlice_Check(object)) return typeof_slice(marshal, (const PySliceObject *)object);
    if (PyRange_Check(object)) return type_simple(types, TY_RANGE);
    if (marshal->host && marshal_is_generator(object)) return type_simple(types, TY_RANDOM);
    if (frontend_is_partial(object) || frontend_is_cached(object))
        return typeof_constant(marshal, object, arena, konst);
    bool frozen;
    const Type *met = marshal_met_around(marshal, object);
    if (met || PyErr_Occurred()) return met;
    PyObject *names = frontend_instance_names(object, &frozen);
    if (!names) return PyErr_Occurred() ? NULL : typeof_constant(marshal, object, arena, konst);
    bool shared = marshal->host && !frozen && frontend_makes_objects(Py_TYPE(object));
    const Type *type = shared ? typeof_object(marshal, object, names) : typeof_instance(marshal, object, names, frozen);
    Py_DECREF(names);
    return type;
}

const Type *marshal_typeof(const Marshal *marshal, PyObject *object) {
    return marshal_typeof_const(marshal, object, NULL, NULL);
}
