/* watch.c: whether what a specialisation took as constants is still so, at the price of a flag.
 *
 * In: the guards of its code.  Out: Spec.touched, set when something they look at may have changed; the next call looks
 * at all of them (guards_hold) and clears it, or finds the specialisation stale.
 *
 * From CPython 3.12 on the interpreter tells: of each key that is set in a watched dict, of each change of a watched
 * class, of what a function consists of.  Its callbacks have no argument, so the table that leads from there to the
 * specialisations belongs to the process.  An entry's key is made of the object's address and the hash of a name: a
 * wrong one costs a look and no more.  Before 3.12 dicts count their changes, and what has no count is looked at every
 * time.  Cells, which nobody watches, are compared, and so are arrays.
 *
 * Everything runs with the GIL held. */
#include "decorators/decorators.h"

static PyObject *module_dict(const Guard *guard) {
    if (guard->kind != GUARD_ATTRIBUTE || !PyModule_Check(guard->holder)) return NULL;
    PyObject *dict = PyModule_GetDict(guard->holder);
    return PyDict_Contains(dict, guard->name) == 1 ? dict : NULL; /* else the module's __getattr__ made it */
}

#if KRAIT_WATCHERS

enum { FIRST_SIZE = 64, WHOLE = 1 }; /* WHOLE: in the place of a name's hash */

static struct {
    bool asked;                  /* for the numbers; -1: there was none left */
    int dicts, types, functions; /* numbers of the callbacks */
    size_t size, count;          /* lists, entries */
    Watch **lists;
} watched;

static uint64_t key_of(const void *object, uint64_t name) { return hash_mix(hash_mix(WHOLE, (uintptr_t)object), name); }

static void touch(uint64_t key) {
    Watch *watch = watched.size ? watched.lists[key & (watched.size - 1)] : NULL;
    for (; watch; watch = watch->next)
        if (watch->key == key) watch->spec->touched = true;
}

static void touch_all(void) {
    for (size_t i = 0; i < watched.size; i++)
        for (Watch *watch = watched.lists[i]; watch; watch = watch->next) watch->spec->touched = true;
}

/* Of a str its hash, which it keeps; a key of another class that equals it may have any hash. */
static int dict_changed(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value) {
    (void)value;
    if (event == PyDict_EVENT_DEALLOCATED) return 0; /* of a watched dict that no guard holds any more */
    if (key && PyUnicode_CheckExact(key))
        touch(key_of(dict, (uint64_t)PyObject_Hash(key)));
    else
        touch_all();
    return 0;
}

static int type_changed(PyTypeObject *type) { return touch(key_of(type, WHOLE)), 0; }

static int function_changed(PyFunction_WatchEvent event, PyFunctionObject *function, PyObject *value) {
    (void)value;
    if (event != PyFunction_EVENT_CREATE && event != PyFunction_EVENT_DESTROY) touch(key_of(function, WHOLE));
    return 0;
}

/* Other extensions may have taken all numbers: then nobody tells. */
static void ask_for_numbers(void) {
    if (watched.asked) return;
    watched.asked = true;
    watched.dicts = PyDict_AddWatcher(dict_changed);
    watched.types = PyType_AddWatcher(type_changed);
    watched.functions = PyFunction_AddWatcher(function_changed);
    PyErr_Clear();
}

/* ---- the table ---- */

static void link_in(Watch *watch) {
    Watch **list = &watched.lists[watch->key & (watched.size - 1)];
    watch->next = *list;
    watch->before = list;
    if (*list) (*list)->before = &watch->next;
    *list = watch;
}

static bool grow(void) {
    size_t old = watched.size;
    Watch **lists = watched.lists, **larger = PyMem_Calloc(old ? 2 * old : FIRST_SIZE, sizeof *larger);
    if (!larger) return PyErr_NoMemory(), false;
    watched.lists = larger;
    watched.size = old ? 2 * old : FIRST_SIZE;
    for (size_t i = 0; i < old; i++)
        for (Watch *watch = lists[i], *next; watch; watch = next) {
            next = watch->next;
            link_in(watch);
        }
    PyMem_Free(lists);
    return true;
}

static void add(Spec *spec, const void *object, uint64_t name) {
    Watch *watch = &spec->watches[spec->nwatches++];
    watch->key = key_of(object, name);
    watch->spec = spec;
    link_in(watch);
    watched.count++;
}

void watch_end(Spec *spec) {
    for (uint32_t i = 0; i < spec->nwatches; i++) {
        Watch *watch = &spec->watches[i];
        *watch->before = watch->next;
        if (watch->next) watch->next->before = watch->before;
        watched.count--;
    }
    PyMem_Free(spec->watches);
    PyMem_Free(spec->fields);
    PyMem_Free(spec->arrays);
}

/* ---- guards ---- */

static bool watch_name(Spec *spec, PyObject *dict, PyObject *name) {
    if (watched.dicts < 0 || !PyUnicode_CheckExact(name) || PyDict_Watch(watched.dicts, dict) < 0) return false;
    add(spec, dict, (uint64_t)PyObject_Hash(name));
    return true;
}

static bool never_changes(const PyTypeObject *type) { return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE); }

/* A class without a version does not tell of its next change. */
static bool tells(const PyTypeObject *type) {
    return never_changes(type) || (type->tp_version_tag != 0 && (type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG));
}

static bool watch_type(Spec *spec, PyTypeObject *type) {
    if (never_changes(type)) return true;
    if (!tells(type) || PyType_Watch(watched.types, (PyObject *)type) < 0) return false;
    add(spec, type, WHOLE);
    return true;
}

/* An attribute of a class that is read as it stands there: no descriptor, no metaclass of its own has made it. */
static bool watch_class(Spec *spec, const Guard *guard) {
    if (!PyType_Check(guard->holder) || watched.types < 0) return false;
    PyTypeObject *type = (PyTypeObject *)guard->holder, *meta = Py_TYPE(type);
    if (meta->tp_getattro != PyType_Type.tp_getattro || _PyType_Lookup(type, guard->name) != guard->value ||
        _PyType_Lookup(meta, guard->name))
        return false;
    return watch_type(spec, type) && watch_type(spec, meta);
}

static bool watch_member(Spec *spec, const Guard *guard) {
    return watched.types >= 0 && watch_type(spec, (PyTypeObject *)guard->holder);
}

static bool watch_function(Spec *spec, const Guard *guard) {
    if (watched.functions < 0) return false;
    if (guard->kind == GUARD_CODE) add(spec, guard->holder, WHOLE); /* and for the others */
    return true;
}

static bool watch_guard(Spec *spec, const Guard *guard) {
    PyObject *dict = module_dict(guard);
    switch (guard->kind) {
    case GUARD_GLOBAL:
        return watch_name(spec, guard->holder, guard->name) &&
               (!guard->builtins ||
                (PyDict_CheckExact(guard->builtins) && watch_name(spec, guard->builtins, guard->name)));
    case GUARD_ATTRIBUTE: return dict ? watch_name(spec, dict, guard->name) : watch_class(spec, guard);
    case GUARD_MEMBER: return watch_member(spec, guard);
    case GUARD_CODE:
    case GUARD_DEFAULTS:
    case GUARD_KWDEFAULTS: return watch_function(spec, guard);
    default: return false;
    }
}

/* Of a class that lost its version meanwhile nobody would tell. */
static bool still_told(const Code *code) {
    for (size_t i = 0; i < code->nguards; i++) {
        const Guard *guard = &code->guards[i];
        if (guard->kind == GUARD_ATTRIBUTE && PyType_Check(guard->holder) &&
            !(tells((PyTypeObject *)guard->holder) && tells(Py_TYPE(guard->holder))))
            return false;
        if (guard->kind == GUARD_MEMBER && !tells((PyTypeObject *)guard->holder)) return false;
    }
    return true;
}

static bool make_room(size_t entries) {
    ask_for_numbers();
    while (watched.count + entries > watched.size)
        if (!grow()) return false;
    return true;
}

#else

static bool watch_dict(Spec *spec, PyObject *dict) {
    for (uint32_t i = 0; i < spec->nwatches; i++)
        if (spec->watches[i].dict == dict) return true;
    spec->watches[spec->nwatches++] = (Watch){dict, 0};
    return true;
}

static bool watch_guard(Spec *spec, const Guard *guard) {
    PyObject *dict = module_dict(guard);
    if (guard->kind == GUARD_GLOBAL)
        return watch_dict(spec, guard->holder) &&
               (!guard->builtins || (PyDict_CheckExact(guard->builtins) && watch_dict(spec, guard->builtins)));
    if (guard->kind == GUARD_SIZE) return watch_dict(spec, guard->holder);
    return dict && watch_dict(spec, dict);
}

void watch_end(Spec *spec) {
    PyMem_Free(spec->watches);
    PyMem_Free(spec->fields);
    PyMem_Free(spec->arrays);
}

static bool still_told(const Code *code) { return (void)code, true; }
static bool make_room(size_t entries) { return (void)entries, true; }

#endif

int watch_guards(Spec *spec) {
    const Code *code = spec->code;
    spec->watches = PyMem_Calloc(2 * code->nguards + 1, sizeof *spec->watches);
    spec->fields = PyMem_Calloc(code->nguards + 1, sizeof *spec->fields);
    spec->arrays = PyMem_Calloc(code->nguards + 1, sizeof *spec->arrays);
    spec->touched = true; /* nobody watched since the frontend read them */
    if (!spec->watches || !spec->fields || !spec->arrays) return PyErr_NoMemory(), -1;
    if (!make_room(2 * code->nguards)) return -1;
    for (size_t i = 0; i < code->nguards; i++) {
        const Guard *guard = &code->guards[i];
        if (guard->kind == GUARD_ARRAY) {
            spec->arrays[spec->narrays++] = guard;
        } else if (!watch_guard(spec, guard)) {
            PyObject *const *field = guard_field(guard);
            if (field)
                spec->fields[spec->nfields++] = (FieldStamp){field, guard->value};
            else
                spec->unwatched = true;
        }
    }
    PyErr_Clear(); /* of what cannot be watched */
    return 0;
}

/* What the guards run may change what they look at: touched again. */
bool watch_look(Spec *spec) {
    spec->touched = false;
#if !KRAIT_WATCHERS
    for (uint32_t i = 0; i < spec->nwatches; i++)
        spec->watches[i].version = ((PyDictObject *)spec->watches[i].dict)->ma_version_tag;
#endif
    spec->stale = !guards_hold(spec->code->guards, spec->code->nguards);
    if (spec->stale || !still_told(spec->code)) spec->touched = true;
    return !spec->stale;
}
