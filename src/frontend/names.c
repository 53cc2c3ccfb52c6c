/* names.c: globals, cells of finished functions and attributes of constant objects, each read with a guard.
 *
 * Input: where the name is looked up.  Output: the object it means now, borrowed from the guard or the Frontend; a
 * Guard in frontend->guards (guards.c).  Algorithm: the interpreter's own lookups.  An attribute of anything but a
 * module or class is read twice: one that is a new object every time could never be guarded. */
#include <string.h> /* strlen, strncmp */

#include "frontend/frontend_private.h"

/* ---- lookups ---- */

PyObject *name_global(Frontend *frontend, PyObject *globals, PyObject *builtins, PyObject *name) {
    PyObject *value = guard_find_global(globals, builtins, name);
    if (value) guard_add(frontend, (Guard){GUARD_GLOBAL, globals, builtins, name, value});
    return value;
}

PyObject *name_cell(Frontend *frontend, PyObject *cell) {
    PyObject *value = PyCell_GET(cell);
    if (value) guard_add(frontend, (Guard){GUARD_CELL, cell, NULL, NULL, value});
    return value;
}

void name_function(Frontend *frontend, PyObject *function) {
    for (GuardKind kind = GUARD_CODE; kind <= GUARD_KWDEFAULTS; kind++) {
        Guard guard = {kind, function, NULL, NULL, NULL};
        guard.value = *guard_field(&guard);
        guard_add(frontend, guard);
    }
}

PyObject *name_attribute(Frontend *frontend, PyObject *holder, PyObject *name, const Source *source, Span span) {
    PyObject *value = frontend_keep(frontend, PyObject_GetAttr(holder, name));
    if (!value) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        if (PyErr_Occurred())
            frontend_python_failed(frontend, source, span, "reading the attribute raised an exception");
        return NULL;
    }
    PyObject *lasting = objects_lasting(holder, PyUnicode_AsUTF8(name), value);
    if (lasting != value) return lasting;                             /* of a class that nobody changes */
    if (objects_is_intrinsic(frontend->objects, value)) return value; /* part of Krait: stays */
    Guard guard = {GUARD_ATTRIBUTE, holder, NULL, name, value};
    if (!PyModule_Check(holder) && !PyType_Check(holder) && !guards_hold(&guard, 1)) {
        bool method = PyMethod_Check(value) || PyCFunction_Check(value);
        diag_fail(frontend->diag, DIAG_UNSUPPORTED_OBJECT, source, span,
                  method ? "method '%s' of an object of type %s is not compiled"
                         : "attribute '%s' of an object of type %s is another object every time it is read",
                  PyUnicode_AsUTF8(name), Py_TYPE(holder)->tp_name);
        diag_hint(frontend->diag, !method ? "pass it as an argument"
                                  : PyUnicode_CompareWithASCIIString(name, "__enter__") == 0
                                      ? "enter it outside: with x: f(...)"
                                      : "call it outside, and pass the result as an argument");
        return NULL;
    }
    guard_add(frontend, guard);
    return value;
}

/* ---- advice ---- */

static const char *same_but_for_capitals(Frontend *frontend, PyObject *name, PyObject *candidates) {
    PyObject *folded = frontend_keep(frontend, PyObject_CallMethod(name, "casefold", NULL));
    PyObject *list = folded ? frontend_keep(frontend, PySequence_List(candidates)) : NULL;
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        PyObject *candidate = PyList_GET_ITEM(list, i);
        PyObject *other = frontend_keep(frontend, PyObject_CallMethod(candidate, "casefold", NULL));
        if (other && PyUnicode_Check(candidate) && PyUnicode_Compare(folded, other) == 0)
            return PyUnicode_AsUTF8(candidate);
        PyErr_Clear(); /* what is no text has no capitals */
    }
    return NULL;
}

/* Those that hold the name, or whose length differs by half of its at most: foo is not near floor. */
static PyObject *about_as_long(Frontend *frontend, PyObject *name, PyObject *candidates) {
    PyObject *all = frontend_keep(frontend, PySequence_List(candidates));
    PyObject *kept = all ? frontend_keep(frontend, PyList_New(0)) : NULL;
    Py_ssize_t length = PyObject_Length(name);
    for (Py_ssize_t i = 0; kept && i < PyList_GET_SIZE(all); i++) {
        PyObject *candidate = PyList_GET_ITEM(all, i);
        if (!PyUnicode_Check(candidate)) continue;
        Py_ssize_t more = PyUnicode_GET_LENGTH(candidate) - length;
        bool near = 2 * Py_ABS(more) <= length || PyUnicode_Contains(candidate, name) == 1;
        if (near && PyList_Append(kept, candidate) < 0) return NULL;
    }
    return kept;
}

static const char *closest(Frontend *frontend, PyObject *name, PyObject *candidates) {
    candidates = about_as_long(frontend, name, candidates);
    if (!candidates) return NULL;
    PyObject *difflib = frontend_keep(frontend, PyImport_ImportModule("difflib"));
    PyObject *close = difflib ? frontend_keep(frontend, PyObject_CallMethod(difflib, "get_close_matches", "OOi", name,
                                                                            candidates, 1))
                              : NULL;
    PyObject *best = close && PyList_Check(close) && PyList_GET_SIZE(close) ? PyList_GET_ITEM(close, 0) : NULL;
    return best && PyUnicode_Check(best) ? PyUnicode_AsUTF8(best) : NULL;
}

/* What C for GPUs says without a prefix, words of other languages, numbers wider than any that is compiled, and what
 * NumPy had once. */
static const struct {
    const char *c, *here;
} of_c[] = {
    {"__syncthreads", "cuda.syncthreads()"},
    {"__syncwarp", "cuda.syncwarp()"},
    {"__threadfence", "cuda.threadfence()"},
    {"threadIdx", "cuda.threadIdx, or i = cuda.grid(1) for the number of the thread in the grid"},
    {"blockIdx", "cuda.blockIdx, or i = cuda.grid(1) for the number of the thread in the grid"},
    {"blockDim", "cuda.blockDim, or i = cuda.grid(1) for the number of the thread in the grid"},
    {"gridDim", "cuda.gridDim, or cuda.gridsize(1) for how many threads there are"},
    {"__shared__", "cuda.shared.array(shape, dtype)"},
    {"__constant__", "cuda.const.array_like(array)"},
    {"atomicAdd", "cuda.atomic.add(array, index, value)"},
    {"atomicSub", "cuda.atomic.sub(array, index, value)"},
    {"atomicExch", "cuda.atomic.exch(array, index, value)"},
    {"atomicMax", "cuda.atomic.max(array, index, value)"},
    {"atomicMin", "cuda.atomic.min(array, index, value)"},
    {"atomicCAS", "cuda.atomic.cas(array, index, old, value)"},
    {"atomic_add", "cuda.atomic.add(array, index, value)"},
    {"atomic_sub", "cuda.atomic.sub(array, index, value)"},
    {"atomic_exch", "cuda.atomic.exch(array, index, value)"},
    {"atomic_max", "cuda.atomic.max(array, index, value)"},
    {"atomic_min", "cuda.atomic.min(array, index, value)"},
    {"atomic_cas", "cuda.atomic.cas(array, index, old, value)"},
    {"dim3", "a tuple: kernel[(blocks_x, blocks_y), (threads_x, threads_y)](...)"},
    {"warpSize", "cuda.warpsize"},
    {"laneId", "cuda.laneid"},
    {"NULL", "None"},
    {"nullptr", "None"},
    {"null", "None"},
    {"nil", "None"},
    {"printf", "print(...), which takes the values, and no format: print(f\"{x:.3f}\")"},
    {"sizeof", "x.nbytes of an array, x.itemsize of its elements"},
    {"malloc", "np.empty(n), or in a kernel cuda.local.array(shape, dtype)"},
    {"double", "float(...), or np.float64 for NumPy's type"},
    {"unicode", "str(...)"},
    {"long", "int(...), or np.int64 for NumPy's type"},
    {"end", "x[-1] for the last item, x[n:] for all from one on"},
    {"numel", "x.size"},
    {"isempty", "x.size == 0, or len(x) == 0"},
    {"disp", "print(...)"},
    {"fprintf", "print(...), which takes the values, and no format: print(f\"{x:.3f}\")"},
    {"rand", "np.random.random(), or np.random.rand(rows, columns)"},
    {"randn", "np.random.randn(rows, columns)"},
    {"gaussian", "np.random.normal(loc, scale)"},
    {"float128", "np.float64, the widest float that is compiled"},
    {"longdouble", "np.float64, the widest float that is compiled"},
    {"int", "int(...), or np.int64 for NumPy's type"},
    {"float", "float(...), or np.float64 for NumPy's type"},
    {"complex", "complex(...), or np.complex128 for NumPy's type"},
    {"complex256", "np.complex128, the widest complex number that is compiled"},
};

static const char *word_of_c(PyObject *name) {
    for (size_t i = 0; i < COUNT_OF(of_c); i++)
        if (PyUnicode_CompareWithASCIIString(name, of_c[i].c) == 0) return of_c[i].here;
    return NULL;
}

/* The name among the candidates (an iterable of str; a new reference) that is most like this one, as a hint; NULL: none
 * is like it. */
static const char *suggestion(Frontend *frontend, PyObject *name, PyObject *candidates) {
    const char *word = word_of_c(name);
    candidates = frontend_keep(frontend, candidates);
    if (word) return arena_printf(frontend->arena, "write %s", word);
    const char *text = candidates ? same_but_for_capitals(frontend, name, candidates) : NULL;
    if (!text && candidates) text = closest(frontend, name, candidates);
    PyErr_Clear();
    return text ? arena_printf(frontend->arena, "did you mean '%s'?", text) : NULL;
}

/* The name as the modules here have it, where C writes __syncwarp, make_float4 or sqrtf. */
static const char *without_c(Frontend *frontend, const char *name) {
    static const char *const prefixes[] = {"__", "make_"};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return name + strlen(prefixes[i]);
    size_t length = strlen(name);
    return length > 3 && name[length - 1] == 'f' ? arena_printf(frontend->arena, "%.*s", (int)length - 1, name) : NULL;
}

/* A name that NumPy, math or Krait has, used without it, or looked for elsewhere.  NULL: none of them has it. */
static const char *module_that_has(Frontend *frontend, const char *text) {
    static const struct {
        const char *module, *prefix, *import;
    } modules[] = {{"numpy", "np.", "import numpy as np"},
                   {"math", "math.", "import math"},
                   {"krait", "", NULL},
                   {"krait.cuda", "cuda.", "from krait import cuda"}};
    for (size_t i = 0; *text && *text != '_' && i < COUNT_OF(modules); i++) {
        PyObject *module = frontend_keep(frontend, PyImport_ImportModule(modules[i].module));
        PyObject *found = module ? frontend_keep(frontend, PyObject_GetAttrString(module, text)) : NULL;
        PyErr_Clear();
        if (!found || PyModule_Check(found)) continue;
        const char *import = modules[i].import;
        if (!import) import = arena_printf(frontend->arena, "from krait import %s", text);
        return arena_printf(frontend->arena, "write %s%s, with `%s`", modules[i].prefix, text, import);
    }
    return NULL;
}

static const char *hint_at_module(Frontend *frontend, PyObject *name) {
    const char *text = PyUnicode_AsUTF8(name), *hint = text ? module_that_has(frontend, text) : NULL;
    const char *plain = text && !hint ? without_c(frontend, text) : NULL;
    PyErr_Clear();
    return plain ? module_that_has(frontend, plain) : hint;
}

static bool is_module_of_the_library(PyObject *name) {
    PyObject *names = PySys_GetObject("stdlib_module_names");
    bool is = names && PySequence_Contains(names, name) == 1;
    PyErr_Clear();
    return is;
}

/* A module that is used and was not imported. */
static bool hint_at_import(Frontend *frontend, PyObject *name) {
    static const char *const imports[][2] = {
        {"np", "import numpy as np"}, {"numpy", "import numpy"},    {"cuda", "from krait import cuda"},
        {"krait", "import krait"},    {"nb", "import krait as nb"}, {"numba", "import krait as numba"},
    };
    const char *import = NULL;
    for (size_t i = 0; !import && i < COUNT_OF(imports); i++)
        if (PyUnicode_CompareWithASCIIString(name, imports[i][0]) == 0) import = imports[i][1];
    if (!import && is_module_of_the_library(name))
        import = arena_printf(frontend->arena, "import %s", PyUnicode_AsUTF8(name));
    if (import) diag_hint(frontend->diag, "it is a module: write `%s` at the top of the file", import);
    return import;
}

void name_suggest_global(Frontend *frontend, PyObject *name, PyObject *candidates) {
    candidates = frontend_keep(frontend, candidates);
    const char *module = word_of_c(name) ? NULL : hint_at_module(frontend, name);
    if (module) diag_hint(frontend->diag, "%s", module);
    if (module || (!word_of_c(name) && hint_at_import(frontend, name))) return;
    const char *hint = suggestion(frontend, name, Py_XNewRef(candidates));
    diag_hint(frontend->diag, "%s",
              hint ? hint
                   : "neither the function nor its module has a variable of that name: define it, or import it, before "
                     "the call");
}

/* ---- attributes that are not there ---- */

/* "module math", "class Point", "an object of type Point" */
static const char *holder_text(Frontend *frontend, PyObject *holder) {
    if (objects_is_intrinsic(frontend->objects, holder))
        return arena_printf(frontend->arena, "`%s`", frontend_name_of(frontend, holder));
    const char *what = PyModule_Check(holder) ? "module" : PyType_Check(holder) ? "class" : "an object of type";
    PyObject *named = PyModule_Check(holder) || PyType_Check(holder) ? holder : (PyObject *)Py_TYPE(holder);
    PyObject *label = frontend_keep(frontend, PyObject_GetAttrString(named, "__name__"));
    const char *text = label && PyUnicode_Check(label) ? PyUnicode_AsUTF8(label) : NULL;
    PyErr_Clear();
    return arena_printf(frontend->arena, "%s %s", what, text ? text : "?");
}

/* "it has add, and_, cas, ..." */
static const char *what_there_is(Frontend *frontend, PyObject *holder) {
    PyObject *names = frontend_keep(frontend, PyObject_Dir(holder));
    Buf text;
    buf_init(&text, frontend->arena);
    for (Py_ssize_t i = 0; names && PyList_Check(names) && i < PyList_GET_SIZE(names); i++) {
        PyObject *item = PyList_GET_ITEM(names, i);
        const char *name = PyUnicode_Check(item) ? PyUnicode_AsUTF8(item) : NULL;
        if (name && *name != '_') buf_printf(&text, "%s%s", text.len ? ", " : "it has ", name);
    }
    PyErr_Clear();
    return text.len ? text.text : NULL;
}

const char *name_missing(Frontend *frontend, PyObject *holder, PyObject *name, const char **hint) {
    bool module = PyModule_Check(holder);
    *hint = NULL;
    if (module && !word_of_c(name)) *hint = hint_at_module(frontend, name);
    if (!*hint && module && is_module_of_the_library(name))
        *hint = arena_printf(frontend->arena, "it is a module of its own: write `import %s` at the top of the file",
                             PyUnicode_AsUTF8(name));
    if (!*hint) *hint = suggestion(frontend, name, PyObject_Dir(holder));
    if (!*hint && objects_is_intrinsic(frontend->objects, holder)) *hint = what_there_is(frontend, holder);
    if (!*hint && module)
        *hint = "none of its names is like that one: look for what is meant in its documentation, or write a function";
    return arena_printf(frontend->arena, "%s has no attribute '%s'", holder_text(frontend, holder),
                        PyUnicode_AsUTF8(name));
}

const char *frontend_made_by(Frontend *frontend, ObjRef ref) {
    static const struct {
        const char *name, *function;
    } made[] = {
        {"krait.cuda.threadIdx", "kernel_places:threadIdx"},
        {"krait.cuda.blockIdx", "kernel_places:blockIdx"},
        {"krait.cuda.blockDim", "kernel_places:blockDim"},
        {"krait.cuda.gridDim", "kernel_places:gridDim"},
    };
    PyObject *object = objects_get(frontend->objects, ref);
    if (!object || !objects_is_intrinsic(frontend->objects, object)) return NULL;
    PyObject *name = frontend_keep(frontend, PyObject_GetAttrString(object, "__name__"));
    for (size_t i = 0; name && i < COUNT_OF(made); i++)
        if (PyUnicode_CompareWithASCIIString(name, made[i].name) == 0) return made[i].function;
    PyErr_Clear();
    return NULL;
}

/* The first attribute of a class that is the user's, not the interpreter's; NULL: it has none. */
static const char *an_attribute(Frontend *frontend, PyObject *class) {
    PyObject *names = frontend_keep(frontend, PyObject_Dir(class));
    for (Py_ssize_t i = 0; names && PyList_Check(names) && i < PyList_GET_SIZE(names); i++) {
        const char *text = PyUnicode_Check(PyList_GET_ITEM(names, i)) ? PyUnicode_AsUTF8(PyList_GET_ITEM(names, i))
                                                                      : "_";
        if (text && *text != '_') return text;
    }
    PyErr_Clear();
    return NULL;
}

const char *frontend_no_attribute(Frontend *frontend, ObjRef ref, const char *attribute, const char **hint) {
    PyObject *holder = objects_get(frontend->objects, ref);
    PyObject *name = frontend_keep(frontend, PyUnicode_FromString(attribute));
    PyObject *found = holder && name ? frontend_keep(frontend, PyObject_GetAttr(holder, name)) : NULL;
    PyErr_Clear();
    if (holder && name && !found) return name_missing(frontend, holder, name, hint);
    const char *example = holder && PyType_Check(holder) ? an_attribute(frontend, holder) : NULL;
    *hint = "read it outside, and pass what is needed of it as an argument";
    if (example)
        *hint = arena_printf(frontend->arena,
                             "take what is needed by its name, %s.%s, or read it outside and pass that "
                             "as an argument",
                             ((PyTypeObject *)holder)->tp_name, example);
    return arena_printf(frontend->arena, "attribute '%s' of %s, of type %s, is not compiled", attribute,
                        holder ? holder_text(frontend, holder) : "?", found ? Py_TYPE(found)->tp_name : "?");
}
