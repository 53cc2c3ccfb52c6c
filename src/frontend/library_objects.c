/* library_objects.c: which library function an object is.
 *
 * Input: Python objects.  Output: rows of the library.
 * Algorithm: library functions are found by identity in a table of their own, filled by following the names of
 * functions.def (module in sys.modules, then attributes); names whose module is not imported yet are tried again when
 * sys.modules has changed. */
#include "frontend/objects.h"

#include <string.h> /* memcmp, memcpy, strcspn */

bool objects_list_names(Objects *objects) {
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (int func = FUNC_NONE + 1; func < FUNC_COUNT; func++) {
            for (const char *at = func_info[func].head.names; *at;) {
                size_t length = strcspn(at, " ");
                if (length && pass) objects->names[count] = (ObjName){at, (uint32_t)length, (FuncId)func, false};
                count += length != 0;
                at += length + (at[length] == ' ');
            }
        }
        if (!pass && !(objects->names = PyMem_Calloc(count + 1, sizeof *objects->names))) return false;
    }
    objects->nnames = count;
    return true;
}

void objects_set_intrinsic_type(Objects *objects, PyTypeObject *intrinsic) { objects->intrinsic = intrinsic; }

void objects_set_krait_type(Objects *objects, PyTypeObject *type, const Type *(*get)(PyObject *object)) {
    objects->krait_type = type;
    objects->krait_type_get = get;
}

const Type *objects_krait_type(const Objects *objects, PyObject *object) {
    return objects->krait_type && PyObject_TypeCheck(object, objects->krait_type) ? objects->krait_type_get(object)
                                                                                  : NULL;
}

bool objects_is_intrinsic(const Objects *objects, PyObject *object) {
    return objects->intrinsic && Py_IS_TYPE(object, objects->intrinsic);
}

/* An attribute on the way of a full name.  Of a module it is what lies there already: asking some for a submodule would
 * import it, and what nobody has imported nobody can name. */
static PyObject *attribute_on_the_way(PyObject *object, const char *name) {
    if (!PyModule_Check(object)) return PyObject_GetAttrString(object, name);
    return Py_XNewRef(PyDict_GetItemString(PyModule_GetDict(object), name));
}

PyObject *objects_lasting(PyObject *holder, const char *name, PyObject *value) {
    if (!value || !PyType_Check(holder) || !PyCFunction_Check(value)) return value;
    PyObject *names = PyObject_GetAttrString(holder, "__dict__");
    PyObject *lasting = names ? PyMapping_GetItemString(names, name) : NULL;
    Py_XDECREF(names);
    Py_XDECREF(lasting); /* the class holds it */
    PyErr_Clear();
    return lasting && Py_IS_TYPE(lasting, &PyClassMethodDescr_Type) ? lasting : value;
}

/* What a part of a full name stands for that others follow: the longest prefix that is an imported module, then
 * attributes.  New reference or NULL, without an exception. */
static PyObject *resolve_holder(const char *name, size_t length) {
    char text[128];
    if (length >= sizeof text) return NULL;
    memcpy(text, name, length);
    text[length] = 0;
    PyObject *modules = PyImport_GetModuleDict(), *object; /* borrowed */
    size_t module = length;
    while (!(object = PyDict_GetItemString(modules, text))) {
        do
            if (module-- == 0) return NULL;
        while (text[module] != '.');
        text[module] = 0;
    }
    Py_INCREF(object);
    while (object && module < length) {
        char *part = text + module + 1; /* it ends where a dot was, or the text */
        memcpy(text, name, length);
        module += 1 + strcspn(part, ".");
        text[module] = 0;
        Py_SETREF(object, attribute_on_the_way(object, part));
    }
    if (!object) PyErr_Clear();
    return object;
}

/* Many names have the same holder. */
typedef struct Holder {
    const char *text; /* NULL: not used yet */
    size_t length;
    PyObject *object; /* NULL: there is none */
} Holder;
enum { HOLDERS = 64 };

static PyObject *holder_of(Holder holders[HOLDERS], const char *text, size_t length) {
    size_t hash = length;
    for (size_t i = 0; i < length; i++) hash = 31 * hash + (unsigned char)text[i];
    Holder *holder = &holders[hash % HOLDERS];
    if (holder->text && holder->length == length && memcmp(holder->text, text, length) == 0) return holder->object;
    Py_XSETREF(holder->object, resolve_holder(text, length));
    holder->text = text;
    holder->length = length;
    return holder->object;
}

/* New reference or NULL, without an exception. */
static PyObject *resolve_name(Holder holders[HOLDERS], const ObjName *name) {
    char last[128];
    size_t holds = name->length;
    while (holds && name->text[holds - 1] != '.') holds--;
    size_t length = name->length - holds;
    PyObject *holder = holds && length < sizeof last ? holder_of(holders, name->text, holds - 1) : NULL;
    if (!holder) return NULL;
    memcpy(last, name->text + holds, length);
    last[length] = 0;
    PyObject *value = PyObject_GetAttrString(holder, last), *lasting = Py_XNewRef(objects_lasting(holder, last, value));
    Py_XDECREF(value);
    if (!lasting) PyErr_Clear();
    return lasting;
}

static bool library_add_object(Objects *objects, PyObject *object, FuncId func) {
    if (object_number(&objects->library, object)) return true; /* the first row that names it */
    if (!objects_reserve((void **)&objects->library_objects, sizeof(PyObject *), objects->nlibrary,
                         &objects->library_capacity) ||
        !object_set_number(&objects->library, object, func))
        return false;
    objects->library_objects[objects->nlibrary++] = Py_NewRef(object);
    return true;
}

/* A number for what is in sys.modules.  Its size does not do: a program may take a module out, and import another. */
static uint64_t modules_imported(void) {
    PyObject *name, *module;
    Py_ssize_t at = 0;
    uint64_t all = 0;
    while (PyDict_Next(PyImport_GetModuleDict(), &at, &name, &module))
        all = (all ^ object_hash(name) ^ (uintptr_t)module) * 0x9E3779B97F4A7C15u;
    return all;
}

/* Reading an attribute may let another thread in, which may do the same: nothing but library_add_object changes the
 * tables. */
static void find_library_names(Objects *objects) {
    Holder holders[HOLDERS] = {{NULL, 0, NULL}};
    uint64_t modules = modules_imported();
    if (modules == objects->modules) return;
    for (size_t i = 0; i < objects->nnames; i++) {
        if (objects->names[i].found) continue;
        PyObject *object = resolve_name(holders, &objects->names[i]);
        if (object && library_add_object(objects, object, objects->names[i].func)) objects->names[i].found = true;
        Py_XDECREF(object);
    }
    for (size_t i = 0; i < HOLDERS; i++) Py_XDECREF(holders[i].object);
    objects->modules = modules;
}

bool objects_add_function(Objects *objects, PyObject *object, const FuncInfo *row) {
    if (object_number(&objects->library, object)) {
        PyErr_Format(PyExc_ValueError, "%R is a library function already", object);
        return false;
    }
    if (!library_add_object(objects, object, row->head.id)) return PyErr_NoMemory() != NULL;
    return true;
}

PyObject *objects_library_object(const Objects *objects, FuncId func) {
    for (size_t i = 0; i < objects->nlibrary; i++)
        if (object_number(&objects->library, objects->library_objects[i]) == (uint32_t)func)
            return objects->library_objects[i];
    return NULL;
}

const FuncInfo *objects_func(Objects *objects, PyObject *object) {
    if (objects_is_intrinsic(objects, object)) {
        PyObject *number = PyObject_GetAttrString(object, "func");
        long func = number ? PyLong_AsLong(number) : 0;
        Py_XDECREF(number);
        PyErr_Clear();
        return func > FUNC_NONE && func < FUNC_COUNT ? &func_info[func] : NULL;
    }
    uint32_t func = object_number(&objects->library, object);
    if (!func) {
        find_library_names(objects);
        func = object_number(&objects->library, object);
    }
    return func ? library_row(objects->functions, func) : NULL;
}
