/* attributes.c: classes whose instances compiled code makes and changes, and which attributes these have.
 *
 * In: a class written in Python.  Out: the names that its functions, and those of its bases, assign as attributes of
 * anything, in the order in which they stand there, __init__ first: room for one that no instance gets costs nothing.
 * A name under which the class has a property is none of them: what is assigned to it goes to the property.
 */
#include <string.h> /* strcmp */

#include "frontend/bytecode.h"
#include "frontend/frontend_private.h"

typedef VEC(const char *) Names;

static void add_name(Arena *arena, Names *names, const char *name) {
    for (size_t i = 0; i < names->len; i++)
        if (strcmp(names->data[i], name) == 0) return;
    vec_push(arena, names, arena_strdup(arena, name));
}

/* A slot is room for the attribute itself. */
static bool is_descriptor(PyTypeObject *class, const char *name) {
    PyObject *value;
    return frontend_holder(class, NULL, name, &value) && Py_TYPE(value)->tp_descr_set &&
           !Py_IS_TYPE(value, &PyMemberDescr_Type);
}

static void add_assigned(Arena *arena, Names *names, PyTypeObject *class, PyObject *function) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    PyObject *units = PyCode_GetCode(code);
    Bytecode bytecode;
    const char *why;
    Py_XDECREF(units); /* kept by the code; the arena may jump past whoever holds another reference */
    bool read = units && bytecode_decode(arena, code, units, &bytecode, &why);
    for (size_t i = 0; read && i < bytecode.count; i++) {
        if (bytecode.insns[i].kind != INSN_STORE_ATTR) continue;
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(code->co_names, bytecode.insns[i].arg));
        if (name && !is_descriptor(class, name)) add_name(arena, names, name);
    }
}

/* Those of a property, or of a method of the class or a static one; borrowed from it, which is what the class has. */
static void add_wrapped(Arena *arena, Names *names, PyTypeObject *class, PyObject *wrapper) {
    static const char *const of_property[] = {"fget", "fset"}, *const of_method[] = {"__func__"};
    bool property = Py_IS_TYPE(wrapper, &PyProperty_Type);
    const char *const *parts = property ? of_property : of_method;
    if (!property && !Py_IS_TYPE(wrapper, &PyStaticMethod_Type) && !Py_IS_TYPE(wrapper, &PyClassMethod_Type)) return;
    for (size_t i = 0; i < (property ? COUNT_OF(of_property) : COUNT_OF(of_method)); i++) {
        PyObject *function = PyObject_GetAttrString(wrapper, parts[i]);
        Py_XDECREF(function); /* kept by the wrapper */
        if (function && PyFunction_Check(function)) add_assigned(arena, names, class, function);
        PyErr_Clear();
    }
}

/* Of each class in the order of resolution, its __init__, or all its functions but that. */
static void add_of_classes(Arena *arena, Names *names, PyTypeObject *class, bool init) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(class->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(class->tp_mro, i);
        PyObject *dict = frontend_class_dict(base), *name, *value;
        for (Py_ssize_t at = 0; dict && PyDict_Next(dict, &at, &name, &value);) {
            if ((PyUnicode_CompareWithASCIIString(name, "__init__") == 0) != init) continue;
            if (PyFunction_Check(value))
                add_assigned(arena, names, class, value);
            else
                add_wrapped(arena, names, class, value);
        }
    }
}

const char *const *frontend_attributes(Arena *arena, PyTypeObject *class, size_t *count) {
    Names names = {0};
    if (!frontend_makes_objects(class)) return NULL;
    vec_push(arena, &names, "");
    add_of_classes(arena, &names, class, true);
    add_of_classes(arena, &names, class, false);
    PyErr_Clear();
    *count = names.len;
    return names.len <= OBJECT_MOST ? names.data : NULL;
}
