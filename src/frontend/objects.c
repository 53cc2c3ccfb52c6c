/* objects.c: numbers for Python objects, and which library function an object is.
 *
 * Input: Python objects.  Output: ObjRef numbers, rows of the library.
 * Algorithm: an open-addressed hash table from an object's address to its number.  An object has its number as long as
 * some ObjHold holds it, so that its address stays its own; the last one to let go takes it out of the table, and the
 * number is never given again.  Library functions are found by identity in a second table, filled by following the
 * names of functions.def (module in sys.modules, then attributes); names whose module is not imported yet are tried
 * again when sys.modules has changed. */
#include "frontend/frontend_private.h"

#include <string.h> /* memchr, strchr, strncmp */

typedef struct Entry {
    PyObject *object; /* NULL: free */
    uint32_t number;
} Entry;

typedef struct Table { /* object address -> number; size is a power of two, at least half of it free */
    Entry *entries;
    size_t size, used;
} Table;

typedef struct Known { /* what stands behind an ObjRef */
    PyObject *object;  /* each hold has a reference of its own; NULL: gone */
    uint32_t holds;
    uint32_t last_hold; /* serial number of the last one */
    bool nested;        /* a stand-in for code nested in a function */
    bool kept;          /* held for good */
    bool ours;          /* the text of Krait's own functions means it */
} Known;

typedef struct LibraryName { /* one name of one row of functions.def */
    const char *text;
    uint32_t length;
    FuncId func;
    bool found; /* its object is in `library` */
} LibraryName;

struct Objects {
    const Library *functions;
    Table numbers, library;
    Table nested; /* code nested in a function -> its last stand-in */
    ObjHold kept; /* for good */
    uint32_t nholds;
    Known *known; /* known[ref - 1] */
    size_t count, capacity;
    PyObject **library_objects; /* strong: keeps addresses in `library` theirs */
    size_t nlibrary, library_capacity;
    LibraryName *names;
    size_t nnames;
    uint64_t modules; /* modules_imported() when the names not found were last tried */
    PyTypeObject *intrinsic, *krait_type;
    const Type *(*krait_type_get)(PyObject *);
    ObjDecorated decorated;
    ObjOverloadFind *overload_find; /* NULL: nobody may say anything yet */
    void *overload_context;
    bool overloaded; /* somebody has said something */
};

/* ---- hash table ---- */

static size_t hash_address(const void *address) {
    uint64_t bits = (uint64_t)(uintptr_t)address >> 4;
    return (size_t)(bits * 0x9E3779B97F4A7C15u >> 20);
}

static Entry *table_find(const Table *table, const PyObject *object) {
    size_t mask = table->size - 1;
    size_t at = hash_address(object) & mask;
    while (table->entries[at].object && table->entries[at].object != object) at = (at + 1) & mask;
    return &table->entries[at];
}

static bool table_reserve(Table *table) {
    if (table->size && table->used * 2 < table->size) return true;
    Table larger = {.size = table->size ? table->size * 2 : 64, .used = table->used};
    larger.entries = PyMem_Calloc(larger.size, sizeof(Entry));
    if (!larger.entries) return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->entries[i].object) *table_find(&larger, table->entries[i].object) = table->entries[i];
    PyMem_Free(table->entries);
    *table = larger;
    return true;
}

/* 0: not there. */
static uint32_t table_get(const Table *table, const PyObject *object) {
    return table->size ? table_find(table, object)->number : 0;
}

static bool table_put(Table *table, PyObject *object, uint32_t number) {
    if (!table_reserve(table)) return false;
    Entry *entry = table_find(table, object);
    table->used += entry->object == NULL;
    *entry = (Entry){object, number};
    return true;
}

/* The entries behind it that were pushed along by it move up. */
static void table_remove(Table *table, const PyObject *object) {
    size_t mask = table->size - 1, hole = (size_t)(table_find(table, object) - table->entries);
    table->entries[hole] = (Entry){0};
    table->used--;
    for (size_t at = (hole + 1) & mask; table->entries[at].object; at = (at + 1) & mask) {
        size_t wanted = hash_address(table->entries[at].object) & mask;
        if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
        table->entries[hole] = table->entries[at];
        table->entries[at] = (Entry){0};
        hole = at;
    }
}

/* Room for one more item in an array of PyMem memory. */
static bool array_reserve(void **data, size_t item, size_t count, size_t *capacity) {
    if (count < *capacity) return true;
    size_t larger = *capacity ? *capacity * 2 : 32;
    void *moved = PyMem_Realloc(*data, larger * item);
    if (!moved) return false;
    *data = moved;
    *capacity = larger;
    return true;
}

/* ---- life ---- */

/* Every single name of every row. */
static bool list_names(Objects *objects) {
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (int func = FUNC_NONE + 1; func < FUNC_COUNT; func++) {
            for (const char *at = func_info[func].head.names; *at;) {
                size_t length = strcspn(at, " ");
                if (length && pass) objects->names[count] = (LibraryName){at, (uint32_t)length, (FuncId)func, false};
                count += length != 0;
                at += length + (at[length] == ' ');
            }
        }
        if (!pass && !(objects->names = PyMem_Calloc(count + 1, sizeof *objects->names))) return false;
    }
    objects->nnames = count;
    return true;
}

Objects *objects_new(const Library *library) {
    Objects *objects = PyMem_Calloc(1, sizeof *objects);
    if (!objects) return (Objects *)PyErr_NoMemory();
    objects->functions = library;
    if (!constants_import_numpy() || !list_names(objects)) {
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

static Known *known(const Objects *objects, ObjRef ref) {
    return ref && ref <= objects->count ? &objects->known[ref - 1] : NULL;
}

static ObjRef number_of(Objects *objects, PyObject *object) {
    uint32_t number = table_get(&objects->numbers, object);
    if (number) return number;
    if (!array_reserve((void **)&objects->known, sizeof *objects->known, objects->count, &objects->capacity) ||
        !table_put(&objects->numbers, object, (uint32_t)objects->count + 1)) {
        PyErr_NoMemory();
        return 0;
    }
    objects->known[objects->count++] = (Known){.object = object};
    return (ObjRef)objects->count;
}

ObjRef objects_hold(Objects *objects, ObjHold *hold, PyObject *object) {
    if (!hold->serial) *hold = (ObjHold){.objects = objects, .serial = ++objects->nholds};
    ObjRef ref = number_of(objects, object);
    if (!ref || objects->known[ref - 1].last_hold == hold->serial) return ref;
    if (!array_reserve((void **)&hold->refs, sizeof *hold->refs, hold->count, &hold->capacity)) {
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
    Known *entry = &objects->known[ref - 1];
    PyObject *object = entry->object;
    if (--entry->holds == 0) {
        table_remove(&objects->numbers, object);
        PyObject *code = entry->nested ? PyFunction_GET_CODE(object) : NULL;
        if (code && table_get(&objects->nested, code) == ref) table_remove(&objects->nested, code);
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
    ObjRef ref = table_get(&objects->numbers, object);
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
    const Known *entry = known(objects, type->object);
    bool lasts = !entry || entry->ours || (entry->object && is_fixed(entry->object));
    if (lasts && entry && !objects_keep(objects, type->object)) PyErr_Clear(), lasts = false; /* no memory */
    if (!lasts) return false;
    for (uint32_t i = 0; i < type->count; i++) TRY(objects_last(objects, type->items[i]));
    return true;
}

ObjHold *objects_kept(Objects *objects) { return &objects->kept; }

PyObject *objects_get(const Objects *objects, ObjRef ref) {
    Known *entry = known(objects, ref);
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
    Known *entry = known(objects, ref);
    return entry && entry->nested;
}

/* The stand-in for a code object nested in a function: a function without closure, made once for each code and globals.
 */
ObjRef objects_nested(Objects *objects, ObjHold *hold, PyObject *code, PyObject *globals) {
    PyObject *function = objects_get(objects, table_get(&objects->nested, code));
    if (function && PyFunction_GET_GLOBALS(function) == globals) return objects_hold(objects, hold, function);
    function = PyFunction_New(code, globals);
    ObjRef ref = function ? objects_hold(objects, hold, function) : 0;
    Py_XDECREF(function);
    if (!ref) return 0;
    if (!table_put(&objects->nested, code, ref)) {
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

/* ---- library functions ---- */

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
static PyObject *resolve_name(Holder holders[HOLDERS], const LibraryName *name) {
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
    if (table_get(&objects->library, object)) return true; /* the first row that names it */
    if (!array_reserve((void **)&objects->library_objects, sizeof(PyObject *), objects->nlibrary,
                       &objects->library_capacity) ||
        !table_put(&objects->library, object, func))
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
        all = (all ^ hash_address(name) ^ (uintptr_t)module) * 0x9E3779B97F4A7C15u;
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
    if (table_get(&objects->library, object)) {
        PyErr_Format(PyExc_ValueError, "%R is a library function already", object);
        return false;
    }
    if (!library_add_object(objects, object, row->head.id)) return PyErr_NoMemory() != NULL;
    return true;
}

PyObject *objects_library_object(const Objects *objects, FuncId func) {
    for (size_t i = 0; i < objects->nlibrary; i++)
        if (table_get(&objects->library, objects->library_objects[i]) == (uint32_t)func)
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
    uint32_t func = table_get(&objects->library, object);
    if (!func) {
        find_library_names(objects);
        func = table_get(&objects->library, object);
    }
    return func ? library_row(objects->functions, func) : NULL;
}
