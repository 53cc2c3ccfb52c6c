/* random.c: finds the states behind numpy.random's functions and the module random, for compiled code to draw from.
 *
 * In: the two objects.  Out: addresses inside them, told to runtime/host.
 * Neither library publishes the layout of these objects.  NumPy's RandomState holds a copy of its bit generator's
 * struct, whose address and content are known (the capsule gives it), and behind a pointer to that copy the second
 * number of a normal pair: the place is looked for by content, then tried by setting that number and looking.  The
 * state of its Mersenne Twister is 624 words and an index, where they are what get_state() says; if not, it is asked.
 * The standard library's Random is the object's head, an index and 624 words: compared with what getstate() says. */
#include "decorators/decorators.h"
#include "runtime/host/host.h" /* host_random_set */

#include <string.h> /* memcmp, memcpy */

/* As `owner.seed(seed)` does; what is refused was refused before (krait/prelude). */
static void seed_anew(void *owner, int64_t seed) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *done = seed == HOST_SEED_OF_SYSTEM ? PyObject_CallMethod(owner, "seed", NULL)
                                                 : PyObject_CallMethod(owner, "seed", "K", (unsigned long long)seed);
    if (!done) PyErr_WriteUnraisable(owner);
    Py_XDECREF(done);
    PyGILState_Release(gil);
}

static int not_found(const char *what) {
    PyErr_Format(PyExc_ImportError, "random numbers in compiled code: the state of %s is not where it is known to be",
                 what);
    return -1;
}

/* A pointer at `offset` of the object that leads into the object, to a struct that begins like the bit generator's. */
static bool points_to_copy(const char *object, Py_ssize_t bytes, Py_ssize_t offset, const void *generator) {
    enum { COMPARED = 5 * sizeof(void *) };
    const char *target;
    memcpy(&target, object + offset, sizeof target);
    return target > object && target + COMPARED <= object + bytes && memcmp(target, generator, COMPARED) == 0;
}

/* Whether the state shows what set_state says. */
static int shows_gauss(PyObject *random_state, const LegacyState *state) {
    PyObject *before = PyObject_CallMethod(random_state, "get_state", "O", Py_False);
    PyObject *changed = before ? PyDict_Copy(before) : NULL, *one = PyLong_FromLong(1),
             *number = PyFloat_FromDouble(0.3125);
    int shown = -1;
    if (changed && one && number && PyDict_SetItemString(changed, "has_gauss", one) == 0 &&
        PyDict_SetItemString(changed, "gauss", number) == 0) {
        PyObject *set = PyObject_CallMethod(random_state, "set_state", "O", changed);
        shown = set ? state->has_gauss == 1 && state->gauss == 0.3125 : -1;
        Py_XDECREF(set);
        PyObject *restored = set ? PyObject_CallMethod(random_state, "set_state", "O", before) : NULL;
        if (set && !restored) shown = -1;
        Py_XDECREF(restored);
    }
    Py_XDECREF(before);
    Py_XDECREF(changed);
    Py_XDECREF(one);
    Py_XDECREF(number);
    return shown;
}

/* Whether NumPy's Mersenne Twister lies at `mt` as get_state() says. */
static int shows_words(PyObject *random_state, const NumpyTwister *mt) {
    PyObject *state = PyObject_CallMethod(random_state, "get_state", NULL);
    bool named = state && PyTuple_Check(state) && PyTuple_GET_SIZE(state) > 2 &&
                 PyUnicode_Check(PyTuple_GET_ITEM(state, 0)) &&
                 PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(state, 0), "MT19937") == 0;
    int shown = state ? 0 : -1;
    Py_buffer words;
    if (named && PyObject_GetBuffer(PyTuple_GET_ITEM(state, 1), &words, PyBUF_C_CONTIGUOUS) < 0)
        shown = -1;
    else if (named) {
        shown = words.len == (Py_ssize_t)sizeof mt->state && memcmp(words.buf, mt->state, sizeof mt->state) == 0 &&
                PyLong_AsLong(PyTuple_GET_ITEM(state, 2)) == mt->index;
        PyBuffer_Release(&words);
    }
    Py_XDECREF(state);
    return shown;
}

static int find_words(PyObject *random_state, const BitGenerator *generator) {
    int shown = shows_words(random_state, generator->state);
    if (shown > 0) host_random_set_twister(generator->next_uint32);
    return shown < 0 ? -1 : 0;
}

static int find_numpy(PyObject *random_state) {
    PyObject *bits = PyObject_GetAttrString(random_state, "_bit_generator");
    PyObject *capsule = bits ? PyObject_GetAttrString(bits, "capsule") : NULL;
    const BitGenerator *generator = capsule ? PyCapsule_GetPointer(capsule, "BitGenerator") : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(bits);
    if (!generator) return -1;
    char *object = (char *)random_state;
    Py_ssize_t bytes = Py_TYPE(random_state)->tp_basicsize, last = bytes - (Py_ssize_t)sizeof(LegacyState);
    for (Py_ssize_t offset = (Py_ssize_t)sizeof(PyObject); offset <= last; offset += (Py_ssize_t)sizeof(void *)) {
        if (!points_to_copy(object, bytes, offset, generator)) continue;
        int shown = shows_gauss(random_state, (LegacyState *)(object + offset));
        if (shown < 0) return -1;
        if (!shown) continue;
        host_random_set(HOST_RANDOM_NUMPY, object + offset, random_state, seed_anew);
        return find_words(random_state, generator);
    }
    return not_found("numpy.random");
}

static int find_python(PyObject *random) {
    Twister *twister = (Twister *)((char *)random + sizeof(PyObject));
    PyObject *state = PyObject_CallMethod(random, "getstate", NULL);
    PyObject *words = state && PyTuple_Check(state) && PyTuple_GET_SIZE(state) > 1 ? PyTuple_GET_ITEM(state, 1) : NULL;
    bool same = words && PyTuple_Check(words) && PyTuple_GET_SIZE(words) == COUNT_OF(twister->state) + 1 &&
                (size_t)Py_TYPE(random)->tp_basicsize >= sizeof(PyObject) + sizeof(Twister);
    for (Py_ssize_t i = 0; same && i < (Py_ssize_t)COUNT_OF(twister->state); i++)
        same = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(words, i)) == twister->state[i];
    if (same) same = PyLong_AsLong(PyTuple_GET_ITEM(words, COUNT_OF(twister->state))) == twister->index;
    Py_XDECREF(state);
    if (PyErr_Occurred()) return -1;
    if (!same) return not_found("the module random");
    host_random_set(HOST_RANDOM_PYTHON, twister, random, seed_anew);
    return 0;
}

/* bind_random(RandomState, Random): both live as long as the process from now on. */
static PyObject *bind_random(PyObject *module, PyObject *args) {
    PyObject *random_state, *random;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO:bind_random", &random_state, &random)) return NULL;
    if (find_numpy(random_state) < 0 || find_python(random) < 0) return NULL;
    Py_INCREF(random_state);
    Py_INCREF(random);
    Py_RETURN_NONE;
}

static PyMethodDef random_functions[] = {
    {"bind_random", bind_random, METH_VARARGS,
     "bind_random(RandomState, Random): the objects whose states compiled code draws from"},
    {0},
};

int random_add(PyObject *module, ModuleState *state) {
    (void)state;
    return PyModule_AddFunctions(module, random_functions);
}
