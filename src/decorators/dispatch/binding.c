/* binding.c: the arguments of a call put in the order of the function's parameters, exactly as Python binds them.
 *
 * Order: positional parameters, keyword-only ones, the tuple of *args, then **keywords: the order of the code object's
 * local variables, which is that of the compiled function.  Messages are worded as the interpreter words them. */
#include "decorators/decorators.h"

int binding_init(Binding *binding, PyObject *function) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    binding->function = function;
    binding->names = PyCode_GetVarnames(code);
    if (!binding->names) return -1;
    binding->npositional = code->co_argcount;
    binding->npositional_only = code->co_posonlyargcount;
    binding->nkeyword_only = code->co_kwonlyargcount;
    binding->varargs = (code->co_flags & CO_VARARGS) != 0;
    binding->varkeywords = (code->co_flags & CO_VARKEYWORDS) != 0;
    binding->nparams = binding->npositional + binding->nkeyword_only + binding->varargs + binding->varkeywords;
    binding->ndirect = binding->nparams == binding->npositional ? binding->nparams : -1;
    return 0;
}

void binding_clear(Binding *binding) { Py_CLEAR(binding->names); }

static PyObject *function_name(const Binding *binding) {
    return ((PyFunctionObject *)binding->function)->func_qualname;
}

void binding_name_argument(const Binding *binding, Py_ssize_t parameter) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *name = PyTuple_GET_ITEM(binding->names, parameter), *text = value ? PyObject_Str(value) : NULL;
    PyObject *advice = text ? frontend_advise_for(text, name) : NULL;
    Py_XDECREF(text);
    if (!advice) { /* there is no memory for words, or there never were */
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
        return;
    }
    PyErr_Format(type, "%U(), argument '%U': %U", function_name(binding), name, advice);
    Py_DECREF(advice);
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
}

/* Notes it among the keyword arguments that no parameter has the name of: a list of names, one of values. */
static int add_more(PyObject *const more[2], PyObject *key, PyObject *value) {
    return PyList_Append(more[0], key) < 0 || PyList_Append(more[1], value) < 0 ? -1 : 0;
}

static int bind_keyword(const Binding *binding, PyObject *key, PyObject *value, PyObject **bound,
                        PyObject *const more[2]) {
    Py_ssize_t named = binding->npositional + binding->nkeyword_only;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(binding->names, i);
        if (name != key && !(PyUnicode_Check(key) && PyUnicode_Compare(name, key) == 0)) continue;
        if (i < binding->npositional_only && binding->varkeywords) break;
        if (i < binding->npositional_only) {
            PyErr_Format(PyExc_TypeError, "%U() got some positional-only arguments passed as keyword arguments: '%U'",
                         function_name(binding), key);
            return -1;
        }
        if (bound[i]) {
            PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", function_name(binding), key);
            return -1;
        }
        bound[i] = value;
        return 0;
    }
    if (binding->varkeywords) return add_more(more, key, value);
    PyObject *names = PyTuple_GetSlice(binding->names, 0, named);
    PyObject *meant = names ? errors_did_you_mean(key, names) : NULL;
    if (meant)
        PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%S'%U", function_name(binding), key,
                     meant);
    Py_XDECREF(names);
    Py_XDECREF(meant);
    return -1;
}

/* "'a'", "'a' and 'b'", "'a', 'b', and 'c'" */
static PyObject *list_names(PyObject *names) {
    Py_ssize_t count = PyList_GET_SIZE(names);
    PyObject *text = PyUnicode_FromString("");
    for (Py_ssize_t i = 0; text && i < count; i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : count == 2 ? " and " : ", and ";
        PyObject *longer = PyUnicode_FromFormat("%U%s'%U'", text, before, PyList_GET_ITEM(names, i));
        Py_SETREF(text, longer);
    }
    return text;
}

/* Of a kernel in a class: functions are bound to the instance, kernels are not. */
static bool begins_with_self(const Binding *binding) {
    return binding->npositional && binding->of_kernel &&
           PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(binding->names, 0), "self") == 0;
}

static int missing_arguments(const Binding *binding, PyObject **bound, Py_ssize_t from, Py_ssize_t to,
                             const char *kind) {
    PyObject *names = PyList_New(0);
    for (Py_ssize_t i = from; names && i < to; i++)
        if (!bound[i] && PyList_Append(names, PyTuple_GET_ITEM(binding->names, i)) < 0) Py_CLEAR(names);
    PyObject *text = names ? list_names(names) : NULL;
    if (text)
        PyErr_Format(PyExc_TypeError, "%U() missing %zd required %s argument%s: %U%s", function_name(binding),
                     PyList_GET_SIZE(names), kind, PyList_GET_SIZE(names) == 1 ? "" : "s", text,
                     begins_with_self(binding)
                         ? "; a kernel takes no instance by itself: pass it, Class.kernel[grid, block](instance, ...), "
                           "or define the kernel outside the class"
                         : "");
    Py_XDECREF(names);
    Py_XDECREF(text);
    return -1;
}

static int fill_defaults(const Binding *binding, PyObject **bound) {
    PyObject *defaults = PyFunction_GET_DEFAULTS(binding->function);
    PyObject *keyword_defaults = PyFunction_GET_KW_DEFAULTS(binding->function);
    Py_ssize_t ndefaults = defaults ? PyTuple_GET_SIZE(defaults) : 0;
    Py_ssize_t first = binding->npositional - ndefaults, named = binding->npositional + binding->nkeyword_only;
    bool missing = false, missing_keyword = false;
    for (Py_ssize_t i = 0; i < binding->npositional; i++) {
        if (!bound[i] && i >= first) bound[i] = PyTuple_GET_ITEM(defaults, i - first);
        missing |= !bound[i];
    }
    if (missing) return missing_arguments(binding, bound, 0, binding->npositional, "positional");
    for (Py_ssize_t i = binding->npositional; i < named; i++) {
        if (!bound[i] && keyword_defaults)
            bound[i] = PyDict_GetItemWithError(keyword_defaults, PyTuple_GET_ITEM(binding->names, i));
        if (PyErr_Occurred()) return -1;
        missing_keyword |= !bound[i];
    }
    if (missing_keyword) return missing_arguments(binding, bound, binding->npositional, named, "keyword-only");
    return 0;
}

static int too_many(const Binding *binding, Py_ssize_t nargs, PyObject *const *bound) {
    PyObject *defaults = PyFunction_GET_DEFAULTS(binding->function);
    Py_ssize_t ndefaults = defaults ? PyTuple_GET_SIZE(defaults) : 0, most = binding->npositional, keyword_only = 0;
    char takes[64], given[128];
    for (Py_ssize_t i = 0; i < binding->nkeyword_only; i++) keyword_only += bound[binding->npositional + i] != NULL;
    if (ndefaults)
        snprintf(takes, sizeof takes, "from %zd to %zd positional arguments", most - ndefaults, most);
    else
        snprintf(takes, sizeof takes, "%zd positional argument%s", most, most == 1 ? "" : "s");
    if (keyword_only)
        snprintf(given, sizeof given, "%zd positional argument%s (and %zd keyword-only argument%s) were", nargs,
                 nargs == 1 ? "" : "s", keyword_only, keyword_only == 1 ? "" : "s");
    else
        snprintf(given, sizeof given, "%zd %s", nargs, nargs == 1 ? "was" : "were");
    PyErr_Format(PyExc_TypeError, "%U() takes %s but %s given", function_name(binding), takes, given);
    return -1;
}

/* The tuple of *args and what **keywords is, as far as the function has them; NULL: it failed. */
static PyObject *make_rest(const Binding *binding, PyObject *const *extra, Py_ssize_t nextra, PyObject *const more[2]) {
    PyObject *args = PyTuple_New(nextra), *keywords = NULL;
    for (Py_ssize_t i = 0; args && i < nextra; i++) PyTuple_SET_ITEM(args, i, Py_NewRef(extra[i]));
    PyObject *module = args && binding->varkeywords ? PyImport_ImportModule("krait.prelude.keywords") : NULL;
    if (module) keywords = PyObject_CallMethod(module, "given", "OO", more[0], more[1]);
    PyObject *rest = !args || (binding->varkeywords && !keywords) ? NULL : PyTuple_New(2);
    Py_XDECREF(module);
    if (rest) {
        PyTuple_SET_ITEM(rest, 0, args);
        PyTuple_SET_ITEM(rest, 1, keywords ? keywords : Py_NewRef(Py_None));
        return rest;
    }
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return NULL;
}

static int fill(const Binding *binding, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **bound,
                PyObject **rest, PyObject *const more[2]) {
    Py_ssize_t nkeywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0, last = binding->nparams;
    Py_ssize_t npositional = nargs < binding->npositional ? nargs : binding->npositional;
    for (Py_ssize_t i = 0; i < binding->nparams; i++) bound[i] = i < npositional ? args[i] : NULL;
    for (Py_ssize_t i = 0; i < nkeywords; i++)
        if (bind_keyword(binding, PyTuple_GET_ITEM(kwnames, i), args[nargs + i], bound, more) < 0) return -1;
    if (!binding->varargs && nargs > binding->npositional) return too_many(binding, nargs, bound);
    if (binding->varargs || binding->varkeywords) {
        *rest = make_rest(binding, args + npositional, nargs - npositional, more);
        if (!*rest) return -1;
        if (binding->varkeywords) bound[--last] = PyTuple_GET_ITEM(*rest, 1);
        if (binding->varargs) bound[--last] = PyTuple_GET_ITEM(*rest, 0);
    }
    if (fill_defaults(binding, bound) == 0) return 0;
    Py_CLEAR(*rest);
    return -1;
}

int binding_fill(const Binding *binding, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **bound,
                 PyObject **rest) {
    PyObject *more[2] = {NULL, NULL};
    *rest = NULL;
    if (!binding->varkeywords) return fill(binding, args, nargs, kwnames, bound, rest, more);
    int status = (more[0] = PyList_New(0)) && (more[1] = PyList_New(0))
                     ? fill(binding, args, nargs, kwnames, bound, rest, more)
                     : -1;
    Py_XDECREF(more[0]);
    Py_XDECREF(more[1]);
    return status;
}
