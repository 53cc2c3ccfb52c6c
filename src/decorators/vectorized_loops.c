/* vectorized_loops.c: the loops of a Vectorized: which one operands take, made where there is none yet.
 *
 * In: operands, or their types.  Out: the specialisation, added to the ufunc, which NumPy has anew for that. */
#include "decorators/vectorized.h"

#include <string.h> /* memcmp, strchr */

/* ---- types of operands ---- */

const Type *vectorized_operand_type(const ModuleState *state, PyObject *object) {
    const Marshal *marshal = &state->marshal;
    int scalar = -1;
    if (!PyArray_CheckExact(object) && PyObject_TypeCheck(object, marshal->device_array)) {
        scalar = type_element_scalar(((DeviceArray *)object)->type);
    } else if (PyFloat_CheckExact(object)) {
        return type_scalar(marshal->types, SCALAR_FLOAT64, true);
    } else if (PyArray_Check(object)) {
        scalar = marshal_scalar_of_typenum(PyArray_TYPE((PyArrayObject *)object));
    } else if (PyArray_IsScalar(object, Generic)) {
        scalar = marshal_scalar_of_class(Py_TYPE(object));
    } else if (PyBool_Check(object)) {
        scalar = SCALAR_BOOL;
    } else if (PyLong_Check(object)) {
        return type_scalar(marshal->types, SCALAR_INT64, true);
    } else if (PyFloat_Check(object)) {
        return type_scalar(marshal->types, SCALAR_FLOAT64, true);
    } else if (PyComplex_Check(object)) {
        return type_scalar(marshal->types, SCALAR_COMPLEX128, true);
    } else { /* sequences, and what says of itself how it is an array; an array of objects of anything else */
        PyObject *array = PyArray_FROM_O(object);
        if (array) scalar = marshal_scalar_of_typenum(PyArray_TYPE((PyArrayObject *)array));
        Py_XDECREF(array);
    }
    return scalar < 0 ? NULL : type_scalar(marshal->types, (Scalar)scalar, false);
}

bool vectorized_resolve_types(Vectorized *self, const Type **types, Py_ssize_t count) {
    TypeTable *table = self->core.state->session.types;
    const Type *common = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (types[i]->weak) continue;
        bool same = !common || common == types[i];
        if (!(common = same ? types[i] : typeinfer_promote(PROMOTION_NUMPY2, table, common, types[i]))) return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!types[i]->weak) continue;
        const Type *type = common ? typeinfer_promote(PROMOTION_NUMPY2, table, types[i], common) : types[i];
        if (!type) return false;
        types[i] = type_scalar(table, (Scalar)type->scalar, false);
    }
    return true;
}

/* ---- loops ---- */

static int kind_rank(const Type *type) {
    static const char kinds[] = "buifc";
    return (int)(strchr(kinds, scalar_info[type->scalar].kind) - kinds) * 32 + scalar_info[type->scalar].bytes;
}

/* NumPy takes the first loop that operands cast to safely, so narrow types come first. */
static bool comes_before(const Spec *a, const Spec *b) {
    for (uint32_t i = 0; i < a->nargs; i++) {
        int x = kind_rank(a->code->params[i]), y = kind_rank(b->code->params[i]);
        if (x != y) return x < y;
    }
    return false;
}

int vectorized_rebuild(Vectorized *self) {
    const Type *types[MAX_OPERANDS];
    int nin = self->nin, nout = 1;
    if (self->nloops && !ufunc_types(self->loops[0], types, &nin, &nout)) nout = 1;
    PyObject *ufunc = ufunc_new(&self->core, self->loops, self->nloops, nin, nout, self->identity,
                                self->target == UFUNC_PARALLEL);
    if (!ufunc) return -1;
    Py_XSETREF(self->ufunc, ufunc);
    return 0;
}

static void drop_loop(Vectorized *self, Py_ssize_t at) {
    Spec *spec = self->loops[at];
    memmove(&self->loops[at], &self->loops[at + 1], (size_t)(self->nloops - at - 1) * sizeof *self->loops);
    self->nloops--;
    spec_release(spec);
}

static int check_scalars(Vectorized *self, const Spec *spec) {
    const Type *types[MAX_OPERANDS];
    int nin, nout;
    if (ufunc_types(spec, types, &nin, &nout)) return ufunc_check_types(types, nin + nout);
    PyObject *result = type_to_text(spec->code->result);
    if (result)
        PyErr_Format(self->core.state->errors[ERROR_TYPING],
                     "a vectorized function takes scalars and returns a scalar or a tuple of scalars; %U returns %U",
                     ((PyFunctionObject *)self->core.function)->func_qualname, result);
    Py_XDECREF(result);
    return -1;
}

int vectorized_add_loop(Vectorized *self, Spec *spec) {
    if (check_scalars(self, spec) < 0) return -1;
    if (self->nloops && spec->nargs != self->loops[0]->nargs) {
        PyErr_SetString(PyExc_TypeError, "the signatures of a vectorized function have one number of arguments");
        return -1;
    }
    Spec **grown = PyMem_Realloc(self->loops, (size_t)(self->nloops + 1) * sizeof *grown);
    Py_ssize_t at = self->nloops;
    if (!grown) return PyErr_NoMemory(), -1;
    self->loops = grown;
    spec->references++;
    while (!self->core.signatures && at > 0 && comes_before(spec, grown[at - 1])) {
        grown[at] = grown[at - 1];
        at--;
    }
    grown[at] = spec;
    self->nloops++;
    return 0;
}

static bool is_for(const Spec *spec, PyObject *const *operands, int count) {
    for (int i = 0; i < count; i++) {
        if (!PyArray_CheckExact(operands[i])) return false;
        int scalar = marshal_scalar_of_typenum(PyArray_TYPE((PyArrayObject *)operands[i]));
        if (scalar != (int)spec->code->params[i]->scalar) return false;
    }
    return true;
}

bool vectorized_has_loop(const Vectorized *self, PyObject *const *operands) {
    for (Py_ssize_t i = 0; i < self->nloops; i++)
        if (is_for(self->loops[i], operands, self->nin)) return spec_guards(self->loops[i]);
    return false;
}

/* Borrowed; NULL: none, or the one there was is of other globals. */
static Spec *find_loop(Vectorized *self, const Type *const *types) {
    for (Py_ssize_t i = 0; i < self->nloops; i++) {
        Spec *spec = self->loops[i];
        if (memcmp(spec->code->params, types, (size_t)self->nin * sizeof *types) != 0) continue;
        if (spec_guards(spec)) return spec;
        drop_loop(self, i); /* a global has changed: compiled anew */
        break;
    }
    return NULL;
}

static Spec *make_loop(Vectorized *self, const Type *const *types) {
    Spec *spec = specialiser_compile(&self->core, &self->core.config, types, NULL, (size_t)self->nin, NULL, false);
    bool added = spec && vectorized_add_loop(self, spec) == 0 && vectorized_rebuild(self) == 0;
    if (spec) spec_release(spec); /* the loop has it */
    return added ? spec : NULL;
}

Spec *vectorized_loop(Vectorized *self, const Type *const *types) {
    Spec *known = find_loop(self, types);
    if (known || self->core.signatures) return known;
    if (self->core.can_compile) return make_loop(self, types);
    PyErr_SetString(PyExc_TypeError, "the function is compiled for no more types (disable_compile)");
    return NULL;
}

int vectorized_loops_of_devices(Vectorized *self) {
    Py_ssize_t count = self->core.signatures ? 0 : self->core.nspecs; /* those there are now */
    for (Py_ssize_t i = 0; i < count; i++) {
        const Type *types[MAX_OPERANDS];
        Spec *spec = self->core.specs[i];
        if (spec->code->config.target != TARGET_NVPTX || (int)spec->nargs != self->nin || !spec_guards(spec)) continue;
        memcpy(types, spec->code->params, (size_t)self->nin * sizeof *types);
        if (!find_loop(self, types) && !make_loop(self, types)) return -1;
    }
    return 0;
}

void vectorized_drop_loops(Vectorized *self) {
    while (self->nloops > 0) drop_loop(self, self->nloops - 1);
}
