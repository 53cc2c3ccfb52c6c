/* objects.c: numbers for Python objects.
 *
 * Input: Python objects.  Output: ObjRef numbers; what decorators know of what they made.
 * Algorithm: an open-addressed hash table from an object's address to its number.  An object has its number as long as
 * some ObjHold holds it, so that its address stays its own; the last one to let go takes it out of the table, and the
 * number is never given again. */
#include "frontend/objects.h"

#include <string.h> /* strlen, strncmp */

/* ---- hash table ---- */

size_t object_hash(const void *address) {
    uint64_t bits = (uint64_t)(uintptr_t)address >> 4;
    return (size_t)(bits * 0x9E3779B97F4A7C15u >> 20);
}

static ObjEntry *table_find(const ObjTable *table, const PyObject *object) {
    size_t mask = table->size - 1;
    size_t at = object_hash(object) & mask;
    while (table->entries[at].object && table->entries[at].object != object) at = (at + 1) & mask;
    return &table->entries[at];
}

static bool table_reserve(ObjTable *table) {
    if (table->size && table->used * 2 < table->size) return true;
    ObjTable larger = {.size = table->size ? table->size * 2 : 64, .used = table->used};
    larger.entries = PyMem_Calloc(larger.size, sizeof(ObjEntry));
    if (!larger.entries) return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->entries[i].object) *table_find(&larger, table->entries[i].object) = table->entries[i];
    PyMem_Free(table->entries);
    *table = larger;
    return true;
}

uint32_t object_number(const ObjTable *table, const PyObject *object) {
    return table->size ? table_find(table, object)->number : 0;
}

bool object_set_number(ObjTable *table, PyObject *object, uint32_t number) {
    if (!table_reserve(table)) return false;
    ObjEntry *entry = table_find(table, object);
    table->used += entry->object == NULL;
    *entry = (ObjEntry){object, number};
    return true;
}

/* The entries behind it that were pushed along by it move up. */
static void table_remove(ObjTable *table, const PyObject *object) {
    size_t mask = table->size - 1, hole = (size_t)(table_find(table, object) - table->entries);
    table->entries[hole] = (ObjEntry){0};
    table->used--;
    for (size_t at = (hole + 1) & mask; table->entries[at].object; at = (at + 1) & mask) {
        size_t wanted = object_hash(table->entries[at].object) & mask;
        if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
        table->entries[hole] = table->entries[at];
        table->entries[at] = (ObjEntry){0};
        hole = at;
    }
}

bool objects_reserve(void **data, size_t item, size_t count, size_t *capacity) {
    if (count < *capacity) return true;
    size_t larger = *capacity ? *capacity * 2 : 32;
    void *moved = PyMem_Realloc(*data, larger * item);
    if (!moved) return false;
    *data = moved;
    *capacity = larger;
    return true;
}

/* ---- life ---- */

Objects *objects_new(const Library *library) {
    Objects *objects = PyMem_Calloc(1, sizeof *objects);
    if (!objects) return (Objects *)PyErr_NoMemory();
    objects->functions = library;
    if (!constants_import_numpy() || !objects_list_names(objects)) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        objects_free(objects);
        return NULL;
    }
    return objects;
}

void objects_free(Objects *objects) {
    if (!objects) return;
    objects_let_go(&objects->kept);
    for (size_t i = 0; i < objects->nlibrary; i++) Py_CLEAR(objects->library_objects[i]);
    PyMem_Free(objects->known);
    PyMem_Free(objects->library_objects);
    PyMem_Free(objects->names);
    PyMem_Free(objects->numbers.entries);
    PyMem_Free(objects->library.entries);
    PyMem_Free(objects->nested.entries);
    PyMem_Free(objects);
}

int objects_traverse(Objects *objects, visitproc visit, void *arg) {
    for (size_t i = 0; objects && i < objects->nlibrary; i++) Py_VISIT(objects->library_objects[i]);
    return objects ? objects_traverse_hold(&objects->kept, visit, arg) : 0;
}

/* ---- numbers ---- */

static ObjKnown *known(const Objects *objects, ObjRef ref) {
    return ref && ref <= objects->count ? &objects->known[ref - 1] : NULL;
}

static ObjRef number_of(Objects *objects, PyObject *object) {
    uint32_t number = object_number(&objects->numbers, object);
    if (number) return number;
    if (!objects_reserve((void **)&objects->known, sizeof *objects->known, objects->count, &objects->capacity) ||
        !object_set_number(&objects->numbers, object, (uint32_t)objects->count + 1)) {
        PyErr_NoMemory();
        return 0;
    }
    objects->known[objects->count++] = (ObjKnown){.object = object};
    return (ObjRef)objects->count;
}

ObjRef objects_hold(Objects *objects, ObjHold *hold, PyObject *object) {
    if (!hold->serial) *hold = (ObjHold){.objects = objects, .serial = ++objects->nholds};
    ObjRef ref = number_of(objects, object);
    if (!ref || objects->known[ref - 1].last_hold == hold->serial) return ref;
    if (!objects_reserve((void **)&hold->refs, sizeof *hold->refs, hold->count, &hold->capacity)) {
        if (!objects->known[ref - 1].holds) table_remove(&objects->numbers, object);
        PyErr_NoMemory();
        return 0;
    }
    hold->refs[hold->count++] = ref;
    objects->known[ref - 1].holds++;
    objects->known[ref - 1].last_hold = hold->serial;
    Py_INCREF(object);
    return ref;
}

bool objects_hold_type(Objects *objects, ObjHold *hold, const Type *type) {
    PyObject *object = objects_get(objects, type->object);
    if (object && !objects_hold(objects, hold, object)) return false;
    for (uint32_t i = 0; i < type->count; i++) TRY(objects_hold_type(objects, hold, type->items[i]));
    return true;
}

static void let_go(Objects *objects, ObjRef ref) {
    ObjKnown *entry = &objects->known[ref - 1];
    PyObject *object = entry->object;
    if (--entry->holds == 0) {
        table_remove(&objects->numbers, object);
        PyObject *code = entry->nested ? PyFunction_GET_CODE(object) : NULL;
        if (code && object_number(&objects->nested, code) == ref) table_remove(&objects->nested, code);
        entry->object = NULL;
    }
    Py_DECREF(object); /* last: it may run anything */
}

void objects_let_go(ObjHold *hold) {
    ObjHold taken = *hold;
    *hold = (ObjHold){0};
    while (taken.count > 0) let_go(taken.objects, taken.refs[--taken.count]);
    PyMem_Free(taken.refs);
}

int objects_traverse_hold(const ObjHold *hold, visitproc visit, void *arg) {
    for (size_t i = 0; i < hold->count; i++) Py_VISIT(hold->objects->known[hold->refs[i] - 1].object);
    return 0;
}

ObjRef objects_ref(Objects *objects, PyObject *object) {
    ObjRef ref = object_number(&objects->numbers, object);
    if (ref && objects->known[ref - 1].kept) return ref;
    ref = objects_hold(objects, &objects->kept, object);
    if (ref) objects->known[ref - 1].kept = true;
    return ref;
}

/* A part of Krait's own library, or a class of the interpreter that nobody can change. */
static bool is_fixed(PyObject *object) {
    PyObject *module = NULL;
    if (PyFunction_Check(object)) module = ((PyFunctionObject *)object)->func_module;
    if (PyType_Check(object)) {
        if (!PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE)) return true;
        if (frontend_original(object) != object) return true; /* what stands for a class of Python's library */
        module = PyDict_GetItemString(frontend_class_dict((PyTypeObject *)object), "__module__");
    }
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    PyErr_Clear();
    return name && strncmp(name, "krait.prelude.", strlen("krait.prelude.")) == 0;
}

bool objects_keep(Objects *objects, ObjRef ref) {
    PyObject *object = objects_get(objects, ref);
    if (!object) return true;
    TRY(objects_ref(objects, object));
    return objects->known[ref - 1].ours = true;
}

bool objects_keep_type(Objects *objects, const Type *type) {
    TRY(objects_keep(objects, type->object));
    for (uint32_t i = 0; i < type->count; i++) TRY(objects_keep_type(objects, type->items[i]));
    return true;
}

bool objects_last(Objects *objects, const Type *type) {
    const ObjKnown *entry = known(objects, type->object);
    bool lasts = !entry || entry->ours || (entry->object && is_fixed(entry->object));
    if (lasts && entry && !objects_keep(objects, type->object)) PyErr_Clear(), lasts = false; /* no memory */
    if (!lasts) return false;
    for (uint32_t i = 0; i < type->count; i++) TRY(objects_last(objects, type->items[i]));
    return true;
}

ObjHold *objects_kept(Objects *objects) { return &objects->kept; }

PyObject *objects_get(const Objects *objects, ObjRef ref) {
    ObjKnown *entry = known(objects, ref);
    return entry ? entry->object : NULL;
}

PyObject *objects_function(const Objects *objects, ObjRef ref) {
    PyObject *object = objects_get(objects, ref);
    if (!object || PyFunction_Check(object)) return object;
    PyObject *function = PyObject_GetAttrString(object, "py_func");
    if (!function && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    Py_XDECREF(function); /* the decorated object keeps it */
    return function && PyFunction_Check(function) ? function : NULL;
}

bool objects_is_nested(const Objects *objects, ObjRef ref) {
    ObjKnown *entry = known(objects, ref);
    return entry && entry->nested;
}

/* The stand-in for a code object nested in a function: a function without closure, made once for each code and globals.
 */
ObjRef objects_nested(Objects *objects, ObjHold *hold, PyObject *code, PyObject *globals) {
    PyObject *function = objects_get(objects, object_number(&objects->nested, code));
    if (function && PyFunction_GET_GLOBALS(function) == globals) return objects_hold(objects, hold, function);
    function = PyFunction_New(code, globals);
    ObjRef ref = function ? objects_hold(objects, hold, function) : 0;
    Py_XDECREF(function);
    if (!ref) return 0;
    if (!object_set_number(&objects->nested, code, ref)) {
        PyErr_NoMemory();
        return 0;
    }
    objects->known[ref - 1].nested = true;
    return ref;
}

/* ---- decorated functions ---- */

void objects_set_decorated(Objects *objects, ObjDecorated decorated) { objects->decorated = decorated; }

void objects_set_overloads(Objects *objects, ObjOverloadFind *find, void *context) {
    objects->overload_find = find;
    objects->overload_context = context;
}

void objects_note_overload(Objects *objects) { objects->overloaded = true; }
bool objects_overloaded(const Objects *objects) { return objects->overloaded; }

PyObject *objects_overload(const Objects *objects, const OverloadRequest *request) {
    return objects->overload_find ? objects->overload_find(objects->overload_context, request) : NULL;
}

bool objects_signature(const Objects *objects, PyObject *decorated, size_t index, ObjSignature *signature) {
    const ObjDecorated *known = &objects->decorated;
    return decorated && known->signature && known->signature(known->context, decorated, index, signature);
}

bool objects_ufunc(const Objects *objects, PyObject *decorated, UfuncShape *shape) {
    const ObjDecorated *known = &objects->decorated;
    return decorated && known->ufunc && known->ufunc(known->context, decorated, shape);
}

const Type *objects_type_of(const Objects *objects, ObjHold *hold, PyObject *object) {
    return objects->decorated.type_of(objects->decorated.context, hold, object);
}

PyObject *objects_looped(const Objects *objects, const LoopedRequest *request) {
    const ObjDecorated *known = &objects->decorated;
    return known->looped(known->context, objects_get(objects, request->gufunc), request);
}

Inlining objects_inlining(const Objects *objects, PyObject *decorated) {
    const ObjDecorated *known = &objects->decorated;
    return decorated && known->inlining ? known->inlining(known->context, decorated) : INLINING_AS_SEEN;
}

int objects_ask_inlining(const Objects *objects, PyObject *decorated, const FuncInst *caller, const Value *call) {
    return objects->decorated.ask_inlining(objects->decorated.context, decorated, caller, call);
}

PyObject *objects_device_array(const Objects *objects, PyObject *object, ObjDeviceArray *array) {
    const ObjDecorated *known = &objects->decorated;
    return known->device_array ? known->device_array(known->context, object, array) : NULL;
}

PyObject *objects_locals(const Objects *objects, PyObject *decorated) {
    const ObjDecorated *known = &objects->decorated;
    return decorated && known->locals ? known->locals(known->context, decorated) : NULL;
}
