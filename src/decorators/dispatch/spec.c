/* spec.c: one specialisation, ready to be called: where each argument lies, how a result becomes an object. */
#include "decorators/decorators.h"

static size_t align_up(size_t offset, size_t align) { return (offset + align - 1) / align * align; }

/* The commonest values: an int, or a float, of Python. */
static FastKind fast_number(const Type *type) {
    if (type->kind != TY_SCALAR || !type->weak || type->object) return FAST_OTHER;
    return type->scalar == SCALAR_INT64 ? FAST_INT : type->scalar == SCALAR_FLOAT64 ? FAST_FLOAT : FAST_OTHER;
}

Spec *spec_new(Code *code, const Type *declared, bool convert) {
    size_t nargs = code->nparams, all = nargs + code->ncaptured;
    Spec *spec = PyMem_Calloc(1, sizeof *spec + all * sizeof *spec->args);
    if (!spec) {
        code_release(code);
        return (Spec *)PyErr_NoMemory();
    }
    spec->references = 1;
    spec->code = code;
    spec->declared = declared;
    spec->result = declared ? FAST_OTHER : fast_number(code->result);
    spec->convert = convert;
    spec->nargs = (uint32_t)nargs;
    spec->ncaptured = (uint32_t)code->ncaptured;
    size_t offset = 0;
    for (size_t i = 0; i < all; i++) {
        SpecArgument *argument = &spec->args[i];
        const Type *type = code->params[i];
        offset = align_up(offset, type_align(type));
        *argument = (SpecArgument){
            .type = type, .asked = type, .take = marshal_taker(type), .offset = (uint32_t)offset};
        offset += type_size(type);
        spec->holds_lists |= i >= nargs || marshal_holds_objects(type);
        argument->fast = fast_number(type);
        if (type->kind == TY_ARRAY && !type->record && code->config.kernel) argument->fast = FAST_DEVICE_ARRAY;
        if (type->kind == TY_STR && code->param_konsts && code->param_konsts[i]) {
            argument->fast = FAST_TEXT;
            argument->text = PyUnicode_FromString(code->param_konsts[i]->text);
            if (!argument->text) {
                spec_release(spec);
                return NULL;
            }
        }
    }
    spec->result_offset = align_up(offset, 16);
    spec->exception_offset = align_up(spec->result_offset + type_size(code->result), 16);
    spec->buffer_bytes = spec->exception_offset + align_up(code->exception_bytes, 16) + 16;
    if (code->config.target == TARGET_HOST) {
        spec->entry = (Entry *)host_code_address(code->host);
        spec->is_deep = host_code_stack(code->host) > 0;
    }
    if (watch_guards(spec) == 0) return spec;
    spec_release(spec);
    return NULL;
}

bool spec_fits_stack(const Spec *spec, PyObject *function) {
    size_t needed = host_code_stack(spec->code->host), left = host_stack_left();
    if (left >= needed) return true;
    PyErr_Format(PyExc_RecursionError,
                 "%U() needs %zu KiB of the stack, and this thread has %zu KiB left: set threading.stack_size(2**23) "
                 "before the thread is made",
                 ((PyFunctionObject *)function)->func_qualname, needed >> 10, left >> 10);
    return false;
}

void spec_free(Spec *spec) {
    if (spec->free_extra) spec->free_extra(spec->extra);
    for (uint32_t i = 0; i < spec->nargs; i++) Py_XDECREF(spec->args[i].text);
    watch_end(spec);
    code_release(spec->code);
    PyMem_Free(spec);
}

void spec_give_up(const Spec *spec, const char *arguments) {
    for (uint32_t i = 0; i < spec->nargs + spec->ncaptured; i++)
        marshal_release(spec->args[i].type, arguments + spec->args[i].offset);
}

static MarshalResult convert_one(const Marshal *marshal, Spec *spec, uint32_t i, PyObject *object, char *to) {
    const SpecArgument *argument = &spec->args[i];
    MarshalResult result = argument->take(marshal, argument->type, object, to + argument->offset, true);
    if (result != MARSHAL_OK) spec->refused = i;
    return result;
}

MarshalResult spec_convert(const Marshal *marshal, Spec *spec, PyObject *const *bound, char *to) {
    MarshalResult result = MARSHAL_OK;
    for (uint32_t i = 0; result == MARSHAL_OK && i < spec->nargs; i++)
        result = convert_one(marshal, spec, i, bound[i], to);
    return result;
}

static bool may_write(const Spec *spec, uint32_t i) { return spec->code->written >> (i < 63 ? i : 63) & 1; }

/* Whether the code is that for the object's own type, which `type` of the code may hold more than.  Inference goes up
 * from what is asked for: asked for with anything between the two it comes to the same. */
static bool is_made_for(const Marshal *marshal, const SpecArgument *argument, PyObject *object) {
    if (marshal_holds_nothing(argument->asked)) return true;
    if (type_is_container(argument->type) && PyObject_Size(object) == 0) return false;
    ObjHold hold = {0}; /* no longer than it takes to look */
    Marshal looking = *marshal;
    looking.hold = &hold;
    const Type *type = marshal_typeof(&looking, object);
    objects_let_go(&hold);
    if (!type) PyErr_Clear();
    return type && (type == argument->asked || type == argument->type);
}

/* What a global variable holds; of another type than it was compiled for, it needs other code. */
static MarshalResult fill_captured(const Marshal *marshal, Spec *spec, uint32_t i, char *to) {
    PyObject *object = objects_get(marshal->objects, spec->code->captured[i - spec->nargs]);
    MarshalResult result = spec_unpack_one(marshal, &spec->args[i], object, to);
    if (result == MARSHAL_OK && marshal->origins->untold && !is_made_for(marshal, &spec->args[i], object))
        result = MARSHAL_MISMATCH;
    if (result == MARSHAL_MISMATCH) spec->outgrown = spec->stale = true;
    return result;
}

MarshalResult spec_fill_containers(const Marshal *marshal, Spec *spec, PyObject *const *bound, char *to, bool convert,
                                   bool chosen, size_t *written) {
    bool *untold = &marshal->origins->untold;
    for (int writes = 1; writes >= 0; writes--) {
        for (uint32_t i = 0; i < spec->nargs + spec->ncaptured; i++) {
            if (may_write(spec, i) != writes) continue;
            *untold = false;
            marshal->origins->asked = spec->args[i].asked;
            MarshalResult result = i >= spec->nargs ? fill_captured(marshal, spec, i, to)
                                   : convert        ? convert_one(marshal, spec, i, bound[i], to)
                                                    : spec_unpack_one(marshal, &spec->args[i], bound[i], to);
            spec->refused = i;
            if (result != MARSHAL_OK) return result;
            if (*untold && !chosen && i < spec->nargs && !is_made_for(marshal, &spec->args[i], bound[i]))
                return MARSHAL_MISMATCH;
        }
        if (writes) *written = marshal->origins->count;
    }
    return MARSHAL_OK;
}

/* The object of a result whose signature declares another type than inference found. */
static PyObject *box_declared(const Marshal *marshal, const Type *from_type, const char *from, const Type *declared) {
    if (from_type == declared) return marshal_box(marshal, from_type, from); /* as an item of a tuple */
    if (declared->kind == TY_OPTIONAL) {
        if (from_type->kind == TY_NONE) Py_RETURN_NONE;
        if (from_type->kind != TY_OPTIONAL) return box_declared(marshal, from_type, from, declared->items[0]);
        if (!from[type_item_offset(from_type, 1)]) Py_RETURN_NONE;
        return box_declared(marshal, from_type->items[0], from, declared->items[0]);
    }
    if (from_type->kind == TY_SCALAR && declared->kind == TY_SCALAR) {
        char bytes[16];
        MarshalResult result = marshal_convert_result((Scalar)from_type->scalar, from, (Scalar)declared->scalar, bytes);
        if (result == MARSHAL_MISMATCH) goto refuse;
        return result == MARSHAL_OK ? marshal_box(marshal, declared, bytes) : NULL;
    }
    if (from_type->kind == TY_TUPLE && declared->kind == TY_TUPLE && from_type->count == declared->count) {
        PyObject *tuple = PyTuple_New((Py_ssize_t)declared->count);
        for (uint32_t i = 0; i < declared->count; i++) {
            const char *at = from + type_item_offset(from_type, i);
            if (!tuple) {
                marshal_release(from_type->items[i], at);
                continue;
            }
            PyObject *item = box_declared(marshal, from_type->items[i], at, declared->items[i]);
            if (item)
                PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
            else
                Py_CLEAR(tuple);
        }
        return tuple;
    }
    if (from_type->kind == TY_ARRAY && declared->kind == TY_ARRAY) return marshal_box(marshal, from_type, from);
refuse:
    marshal_release(from_type, from);
    PyErr_SetString(PyExc_TypeError, "the result does not convert to the declared type");
    return NULL;
}

static PyObject *box(const Marshal *marshal, const Spec *spec, const char *result) {
    if (!spec->declared || spec->declared == spec->code->result)
        return marshal_box(marshal, spec->code->result, result);
    return box_declared(marshal, spec->code->result, result, spec->declared);
}

PyObject *spec_box(const Marshal *marshal, const Spec *spec, const char *result) {
    if (marshal->origins || !marshal_holds_objects(spec->code->result)) return box(marshal, spec, result);
    Origins origins;
    Marshal noting = *marshal;
    noting.origins = &origins;
    origins_begin(&origins);
    PyObject *object = box(&noting, spec, result);
    origins_end(&origins);
    return object;
}
