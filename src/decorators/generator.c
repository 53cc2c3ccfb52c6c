/* generator.c: a generator of compiled code as an iterator of Python's.
 *
 * In: the object of the heap that a call of a compiled function with yield gave (lower_generator.c).  Out: a Generator,
 * which runs it on at each next(); it keeps the machine code, and the arguments, whose memory the code reads.  close()
 * and its end release what it holds, through the finally blocks it waits in.  Values are
 * sent to it by compiled code alone, which knows their type. */
#include "decorators/decorators.h"

#include <stdatomic.h>    /* atomic_load */
#include <stddef.h>       /* offsetof */
#include <structmember.h> /* T_PYSSIZET */

#include "runtime/heap/heap.h" /* heap_release */

typedef struct Generator {
    PyObject_HEAD
    HeapHead *object; /* NULL: given up */
    Code *code;
    const Marshal *marshal;
    PyObject *dispatcher; /* which owns the code as well, as long as it has not dropped it */
    PyObject *function, *args, *weakrefs;
} Generator;

static GeneratorBody *body_of(const Generator *self) { return heap_content(self->object); }

static ModuleState *state_of(const Generator *self) { return PyType_GetModuleState(Py_TYPE(self)); }

/* Asks for the next item, or closes, with an exception buffer that ends with the call. */
typedef int32_t Ask(HeapHead *object, void *exception);

/* Containers and instances that the code goes on with are what was boxed for this item alone: nobody keeps that. */
static PyObject *boxed_apart(const Generator *self, const Type *type, const void *item) {
    Origins origins;
    Marshal noting = *self->marshal;
    noting.origins = &origins;
    origins_begin(&origins);
    PyObject *object = marshal_box(&noting, type, item);
    origins_disown(&origins);
    origins_end(&origins);
    return object;
}

static PyObject *part_of(const Generator *self, uint32_t part) {
    const Type *type = self->code->result->items[part];
    const void *item = (char *)body_of(self) + type_generator_offset(self->code->result, part);
    marshal_retain(type, item);
    return marshal_holds_objects(type) ? boxed_apart(self, type, item) : marshal_box(self->marshal, type, item);
}

/* What the code raised, unless it is GeneratorExit of a generator that was closed. */
static void raise_status(const Generator *self, const void *exception, bool closing) {
    const GeneratorBody *body = body_of(self);
    errors_raise_site(state_of(self), self->code, body->status, exception, PyFunction_GET_GLOBALS(self->function));
    if (closing && PyErr_ExceptionMatches(PyExc_GeneratorExit)) {
        PyErr_Clear();
    } else if (PyErr_ExceptionMatches(PyExc_StopIteration)) { /* it would end the loop of who asks */
        PyObject *cause = errors_take();
        PyErr_SetString(PyExc_RuntimeError, "generator raised StopIteration");
        PyObject *raised = errors_take();
        if (raised) {
            PyException_SetCause(raised, Py_XNewRef(cause));
            PyException_SetContext(raised, Py_XNewRef(cause));
            PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
        }
        Py_XDECREF(raised);
        Py_XDECREF(cause);
    }
}

static GeneratorNext ask(Generator *self, Ask *how, bool closing) {
    enum { FEW = 1024 };
    _Alignas(16) char few[FEW];
    size_t bytes = self->code->exception_bytes + GENERATOR_BUFFER_BYTES;
    char *buffer = bytes <= sizeof few ? few : PyMem_Malloc(bytes);
    if (!buffer) return PyErr_NoMemory(), GENERATOR_NEXT_RAISED;
    Py_INCREF(self);
    host_exception_open(buffer);
    PythonCaller caller = {state_of(self), self->code, PyFunction_GET_GLOBALS(self->function), true, NULL, NULL};
    PythonCaller *before = python_calls_enter(&caller);
    GeneratorNext found = (GeneratorNext)how(self->object, buffer);
    python_calls_leave(&caller, before);
    if (found == GENERATOR_NEXT_RAISED) raise_status(self, buffer, closing);
    if (found == GENERATOR_NEXT_BUSY) PyErr_SetString(PyExc_ValueError, "generator already executing");
    if (buffer != few) PyMem_Free(buffer);
    Py_DECREF(self);
    return found;
}

/* The first time that there is no item, what it returned is told; NULL, with StopIteration or nothing. */
static PyObject *tell_returned(const Generator *self) {
    if (self->code->result->count <= GENERATOR_GIVEN) return NULL;
    PyObject *value = part_of(self, GENERATOR_GIVEN);
    PyObject *stop = value && value != Py_None ? PyObject_CallOneArg(PyExc_StopIteration, value) : NULL;
    if (stop) PyErr_SetObject(PyExc_StopIteration, stop);
    Py_XDECREF(stop);
    Py_XDECREF(value);
    return NULL;
}

static PyObject *generator_next(PyObject *object) {
    Generator *self = (Generator *)object;
    if (!self->object) return NULL;
    bool waits = body_of(self)->state == GENERATOR_WAITS;
    GeneratorNext found = ask(self, krait_heap_generator_next, false);
    if (found == GENERATOR_NEXT_NONE && waits) return tell_returned(self);
    return found == GENERATOR_NEXT_ITEM ? part_of(self, GENERATOR_ITEM) : NULL;
}

static PyObject *generator_close(PyObject *object, PyObject *unused) {
    Generator *self = (Generator *)object;
    (void)unused;
    if (self->object && ask(self, krait_heap_generator_close, true) == GENERATOR_NEXT_ITEM)
        PyErr_SetString(PyExc_RuntimeError, "generator ignored GeneratorExit");
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *generator_send(PyObject *object, PyObject *value) {
    if (value != Py_None)
        return PyErr_Format(PyExc_TypeError,
                            "a compiled generator takes no values from Python: `x = yield y` gives None there");
    PyObject *item = generator_next(object);
    if (!item && !PyErr_Occurred()) PyErr_SetNone(PyExc_StopIteration);
    return item;
}

/* ---- the class ---- */

static int generator_traverse(PyObject *object, visitproc visit, void *arg) {
    Generator *self = (Generator *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dispatcher);
    Py_VISIT(self->function);
    Py_VISIT(self->args);
    bool alone = self->code && atomic_load(&self->code->references) == 1;
    return alone ? code_traverse(self->code, visit, arg) : 0;
}

/* What it waits in is run when nothing is pending; what that raises is reported as Python's own generators do. */
static void generator_finalize(PyObject *object) {
    Generator *self = (Generator *)object;
    PyObject *pending = errors_take();
    if (self->object && body_of(self)->state == GENERATOR_WAITS) ask(self, krait_heap_generator_close, true);
    if (PyErr_Occurred()) PyErr_WriteUnraisable(object);
    if (pending) PyErr_SetObject((PyObject *)Py_TYPE(pending), pending);
    Py_XDECREF(pending);
}

static int generator_clear(PyObject *object) {
    Generator *self = (Generator *)object;
    HeapHead *held = self->object;
    self->object = NULL;
    if (held) heap_release(held);
    Code *code = self->code;
    self->code = NULL;
    if (code) {
        atomic_fetch_sub(&code->followers, 1);
        code_release(code);
    }
    Py_CLEAR(self->dispatcher);
    Py_CLEAR(self->args);
    return 0;
}

static void generator_free(PyObject *object) {
    Generator *self = (Generator *)object;
    if (PyObject_CallFinalizerFromDealloc(object) < 0) return;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    generator_clear(object);
    Py_CLEAR(self->function);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *generator_repr(PyObject *object) {
    return PyUnicode_FromFormat("<compiled generator %U at %p>",
                                ((PyFunctionObject *)((Generator *)object)->function)->func_qualname, object);
}

static PyObject *generator_name(PyObject *object, void *unused) {
    (void)unused;
    return PyObject_GetAttrString(((Generator *)object)->function, "__name__");
}

static PyMethodDef generator_methods[] = {
    {"close", generator_close, METH_NOARGS, "Ends it: its finally blocks run."},
    {"send", generator_send, METH_O, "send(None): the next item, as next() gives it."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef generator_attributes[] = {{"__name__", generator_name, NULL, "the name of its function", NULL},
                                             {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef generator_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Generator, weakrefs), READONLY, NULL}, {NULL, 0, 0, 0, NULL}};

static PyType_Slot generator_slots[] = {{Py_tp_doc, "What a call of a compiled function with yield gives."},
                                        {Py_tp_iter, PyObject_SelfIter},
                                        {Py_tp_iternext, generator_next},
                                        {Py_tp_methods, generator_methods},
                                        {Py_tp_members, generator_members},
                                        {Py_tp_getset, generator_attributes},
                                        {Py_tp_repr, generator_repr},
                                        {Py_tp_traverse, generator_traverse},
                                        {Py_tp_clear, generator_clear},
                                        {Py_tp_finalize, generator_finalize},
                                        {Py_tp_dealloc, generator_free},
                                        {0, NULL}};

static PyType_Spec generator_spec = {"krait.core.Generator", sizeof(Generator), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     generator_slots};

int generator_add(PyObject *module, ModuleState *state) {
    state->generator_class = module_add_class(module, &generator_spec, NULL, false);
    return state->generator_class ? 0 : -1;
}

/* What the containers among the arguments held when it was made may be taken out of them by Python meanwhile, and still
 * be yielded. */
PyObject *generator_new(Dispatcher *dispatcher, const Spec *spec, const Origins *origins, PyObject *const *args,
                        HeapHead *object) {
    const Specialiser *core = &dispatcher->core;
    PyTypeObject *class = core->state->generator_class;
    Py_ssize_t count = core->binding.nparams;
    size_t containers = origins ? origins->count : 0;
    PyObject *arrays = origins ? origins->replaced : NULL;
    PyObject *held = PyTuple_New(count + (Py_ssize_t)containers + (arrays != NULL));
    Generator *self = held ? (Generator *)class->tp_alloc(class, 0) : NULL;
    if (!self) {
        heap_release(object);
        Py_XDECREF(held);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) PyTuple_SET_ITEM(held, i, Py_XNewRef(args[i]));
    for (size_t i = 0; i < containers; i++)
        PyTuple_SET_ITEM(held, count + (Py_ssize_t)i, Py_NewRef(origins->all[i].object));
    if (arrays) PyTuple_SET_ITEM(held, count + (Py_ssize_t)containers, Py_NewRef(arrays));
    self->object = object;
    self->code = code_retain(spec->code);
    atomic_fetch_add(&self->code->followers, 1);
    self->dispatcher = Py_NewRef((PyObject *)dispatcher);
    self->marshal = core->marshal;
    self->function = Py_NewRef(core->function);
    self->args = held;
    return (PyObject *)self;
}
