/* kernel_inspect.c: what a kernel tells about its specialisations: types, text of every stage, what it needs of a GPU;
 * and its tables of methods and attributes.
 *
 * In: the specialisations hanging on a Kernel.  Out: Python objects; of all of them a dict by argument types. */
#include "decorators/inspect.h"
#include "decorators/kernel.h"

static Specialiser *core_of(PyObject *self) { return &((Kernel *)self)->core; }

/* PTX of what was compiled for a GPU; on the host device each specialisation is compiled to PTX for the compute
 * capability asked for. */
static PyObject *kernel_inspect_ptx(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"signature", "compute_capability", NULL};
    Kernel *self = (Kernel *)object;
    ModuleState *state = self->core.state;
    PyObject *signature = Py_None;
    int major = 0, minor = 0;
    const Device *device = runtime_device(state->runtime);
    Config config;
    if (!device) return NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O(ii):inspect_ptx", keywords, &signature, &major, &minor))
        return NULL;
    kernel_config(self, device, FACTS_ALL, &config);
    config.target = TARGET_NVPTX;
    if (major)
        config.codegen.compute_capability = 10 * major + minor;
    else if (!device->ptx_target)
        config.codegen.compute_capability = DEFAULT_CAPABILITY;
    Signature *wanted = signature == Py_None ? NULL : signature_from_object(state, signature);
    PyObject *dict = wanted || PyErr_Occurred() ? NULL : PyDict_New(), *result = NULL;
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < (wanted ? 1 : self->core.nspecs); i++) {
        const Spec *spec = wanted ? NULL : self->core.specs[i];
        if (spec && (spec->stale || (spec->code->config.codegen.facts & FACTS_ALL) != FACTS_ALL)) continue;
        const Type *const *types = wanted ? wanted->args : spec->code->params;
        size_t count = wanted ? (size_t)wanted->count : spec->nargs;
        PyObject *ptx = inspect_stage(&self->core, &config, types, count, "ptx");
        Signature *key = wanted || !ptx ? NULL : (Signature *)signature_new(state, NULL, types, (Py_ssize_t)count);
        PyObject *key_types = key ? PyObject_GetAttrString((PyObject *)key, "args") : NULL;
        if (key_types)
            PyDict_SetItem(dict, key_types, ptx);
        else
            result = Py_XNewRef(ptx);
        Py_XDECREF(key_types);
        Py_XDECREF(key);
        Py_XDECREF(ptx);
    }
    Py_XDECREF(wanted);
    if (PyErr_Occurred()) {
        Py_CLEAR(dict);
        Py_CLEAR(result);
    }
    return dict ? dict : result;
}

static PyObject *kernel_compile(PyObject *object, PyObject *given) {
    Kernel *self = (Kernel *)object;
    Config config;
    Signature *signature = signature_from_object(self->core.state, given);
    if (!signature) return NULL;
    Spec *spec = NULL;
    const Device *device = runtime_device(self->core.state->runtime);
    if (device) {
        kernel_config(self, device, FACTS_ALL, &config);
        spec = specialiser_compile(&self->core, &config, signature->args, NULL, (size_t)signature->count, NULL, false);
    }
    Py_DECREF(signature);
    PyObject *metadata = spec && plan_of(self, spec) ? inspect_spec_metadata(&self->core, spec) : NULL;
    if (spec) spec_release(spec);
    return metadata;
}

static PyObject *kernel_reduce(PyObject *self, PyObject *unused) {
    return (void)unused, pickle_declared(core_of(self), "cuda_jit", self);
}

/* ---- what a specialisation needs of a device ---- */

/* On the thread's device; *device: that.  NULL: exception set. */
static DeviceKernel *loaded_here(Specialiser *core, const Spec *spec, Device **device) {
    Kernel *kernel = kernel_of_core(core);
    *device = runtime_device(core->state->runtime);
    Plan *plan = *device ? plan_of(kernel, (Spec *)spec) : NULL;
    return plan ? plan_kernel(kernel, (Spec *)spec, plan, *device) : NULL;
}

static PyObject *make_fact(Specialiser *core, const Spec *spec, const void *context) {
    Device *device;
    DeviceKernel *loaded = loaded_here(core, spec, &device);
    int value;
    if (!loaded) return NULL;
    int status = device->ops->kernel_fact(loaded, *(const KernelFact *)context, &value);
    return device_check(device, status, "asking about a kernel") < 0 ? NULL : PyLong_FromLong(value);
}

typedef struct Shape { /* of a block */
    int threads;
    Py_ssize_t shared;
} Shape;

/* Blocks that a multiprocessor runs at once. */
static PyObject *make_active_blocks(Specialiser *core, const Spec *spec, const void *context) {
    const Shape *shape = context;
    Device *device;
    DeviceKernel *loaded = loaded_here(core, spec, &device);
    int blocks;
    if (!loaded) return NULL;
    int status = device->ops->blocks_at_once(loaded, shape->threads, (size_t)shape->shared, &blocks);
    return device_check(device, status, "asking how many blocks run at once") < 0 ? NULL : PyLong_FromLong(blocks);
}

static bool is_specialised(const Kernel *self) {
    return self->core.signatures && PyList_GET_SIZE(self->core.signatures) == 1;
}

/* Of a kernel for one signature the value, of any other a dict unless a signature is given. */
static PyObject *by_signature(Kernel *self, PyObject *signature, InspectMake *make, const void *context) {
    if (signature == Py_None && is_specialised(self)) signature = PyList_GET_ITEM(self->core.signatures, 0);
    return inspect_by_signature(&self->core, signature, make, context);
}

/* The same of what depends on the block. */
static PyObject *by_block(Kernel *self, PyObject *signature, InspectMake *make, long threads, Py_ssize_t shared) {
    if (threads < 1 || threads > MAX_BLOCK_THREADS || shared < 0)
        return PyErr_Format(PyExc_ValueError, "a block has 1 to %d threads", MAX_BLOCK_THREADS);
    Shape shape = {(int)threads, shared};
    return by_signature(self, signature, make, &shape);
}

static PyObject *kernel_fact(PyObject *object, PyObject *args, PyObject *kwargs, KernelFact fact) {
    static char *keywords[] = {"signature", NULL};
    PyObject *signature = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", keywords, &signature)) return NULL;
    return by_signature((Kernel *)object, signature, make_fact, &fact);
}

static PyObject *kernel_active_blocks(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"blocksize", "memsize", "signature", NULL};
    PyObject *signature = Py_None;
    int threads;
    Py_ssize_t shared = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i|nO:get_active_blocks_per_multiprocessor", keywords, &threads,
                                     &shared, &signature))
        return NULL;
    return by_block((Kernel *)object, signature, make_active_blocks, threads, shared);
}

static bool same_types(const Spec *a, const Spec *b) {
    bool same = !a->stale && !b->stale && a->nargs == b->nargs;
    for (uint32_t i = 0; same && i < a->nargs; i++) same = a->code->params[i] == b->code->params[i];
    return same;
}

/* Blocks that run at once on all multiprocessors, of whichever variant of the code a launch takes. */
static PyObject *make_cooperative_blocks(Specialiser *core, const Spec *spec, const void *context) {
    const Shape *shape = context;
    Device *device;
    int64_t least = INT64_MAX;
    for (Py_ssize_t i = 0; i < core->nspecs; i++) {
        if (!same_types(core->specs[i], spec)) continue;
        DeviceKernel *loaded = loaded_here(core, core->specs[i], &device);
        int64_t blocks = loaded ? device_blocks_at_once(loaded, shape->threads, (size_t)shape->shared) : -1;
        if (blocks < 0) return NULL;
        if (blocks < least) least = blocks;
    }
    return PyLong_FromLongLong(least);
}

/* Threads of a block, which is an int or a tuple of up to three; 0: too many. */
static long block_threads(PyObject *block) {
    long threads = 1;
    if (!PyTuple_Check(block)) return PyLong_AsLong(block);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(block) && !PyErr_Occurred(); i++) {
        long size = PyLong_AsLong(PyTuple_GET_ITEM(block, i));
        threads = size < 1 || size > MAX_BLOCK_THREADS ? 0 : threads * size;
    }
    return threads;
}

static PyObject *kernel_cooperative_blocks(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"blockdim", "dynsmemsize", "signature", "dynsmem", NULL};
    PyObject *block, *signature = Py_None;
    Py_ssize_t shared = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|nOn:max_cooperative_grid_blocks", keywords, &block, &shared,
                                     &signature, &shared))
        return NULL;
    long threads = block_threads(block);
    if (PyErr_Occurred()) return NULL;
    return by_block((Kernel *)object, signature, make_cooperative_blocks, threads, shared);
}

#define FACT(name, fact)                                                                 \
    static PyObject *kernel_##name(PyObject *object, PyObject *args, PyObject *kwargs) { \
        return kernel_fact(object, args, kwargs, fact);                                  \
    }
FACT(get_regs_per_thread, KERNEL_REGISTERS)
FACT(get_shared_mem_per_block, KERNEL_SHARED_BYTES)
FACT(get_const_mem_size, KERNEL_CONST_BYTES)
FACT(get_local_mem_per_thread, KERNEL_LOCAL_BYTES)
FACT(get_max_threads_per_block, KERNEL_MAX_THREADS)

/* ---- machine code ---- */

/* Of PTX by the tools of a CUDA toolkit, where there is one: krait.cuda._sass. */
static PyObject *disassembled(PyObject *object, PyObject *args, PyObject *kwargs, bool graph) {
    PyObject *texts = kernel_inspect_ptx(object, args, kwargs);
    return texts ? marshal_call_python("krait.cuda._sass", "disassemble", "(Ni)", texts, graph) : NULL;
}

static PyObject *kernel_inspect_sass(PyObject *object, PyObject *args, PyObject *kwargs) {
    return disassembled(object, args, kwargs, false);
}
static PyObject *kernel_inspect_sass_cfg(PyObject *object, PyObject *args, PyObject *kwargs) {
    return disassembled(object, args, kwargs, true);
}

/* ---- kernels for one signature ---- */

static PyObject *types_of(ModuleState *state, PyObject *args) {
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *types = PyTuple_New(count);
    for (Py_ssize_t i = 0; types && i < count; i++) {
        const Type *type = marshal_typeof(&state->marshal, PyTuple_GET_ITEM(args, i));
        PyObject *item = type ? type_to_object(state, type) : NULL;
        if (item)
            PyTuple_SET_ITEM(types, i, item);
        else
            Py_CLEAR(types);
    }
    return types;
}

/* The kernel for just the types of these arguments: the same one each time. */
static PyObject *kernel_specialize(PyObject *object, PyObject *args) {
    Kernel *self = (Kernel *)object;
    ModuleState *state = self->core.state;
    if (is_specialised(self))
        return PyErr_Format(PyExc_RuntimeError, "%U is a kernel for one signature already",
                            ((PyFunctionObject *)self->core.function)->func_name);
    PyObject *types = types_of(state, args), *found = NULL, *jit = NULL, *decorate = NULL;
    if (!types) return NULL;
    if (!self->specialised && !(self->specialised = PyDict_New())) goto done;
    found = Py_XNewRef(PyDict_GetItemWithError(self->specialised, types));
    if (found || PyErr_Occurred()) goto done;
    if (!(jit = PyObject_GetAttrString(self->module, "cuda_jit"))) goto done;
    PyObject *one = PyTuple_Pack(1, types);
    decorate = one ? PyObject_Call(jit, one, self->core.options.given) : NULL;
    Py_XDECREF(one);
    found = decorate ? PyObject_CallOneArg(decorate, self->core.function) : NULL;
    if (found && PyDict_SetItem(self->specialised, types, found) < 0) Py_CLEAR(found);
done:
    Py_XDECREF(decorate);
    Py_XDECREF(jit);
    Py_DECREF(types);
    return found;
}

static PyObject *get_specialized(PyObject *self, void *closure) {
    return (void)closure, PyBool_FromLong(is_specialised((Kernel *)self));
}
static PyObject *get_specializations(PyObject *self, void *closure) {
    (void)closure;
    return ((Kernel *)self)->specialised ? PyDict_Copy(((Kernel *)self)->specialised) : PyDict_New();
}
static PyObject *get_extensions(PyObject *self, void *closure) {
    (void)closure;
    PyObject *given = PyDict_GetItemString(core_of(self)->options.given, "extensions");
    return given ? PySequence_List(given) : PyList_New(0);
}
static PyObject *kernel_recompile(PyObject *self, PyObject *unused) {
    kernel_forget_launchers((Kernel *)self);
    return (void)unused, inspect_recompile(core_of(self));
}

static PyObject *kernel_disable_compile(PyObject *self, PyObject *args, PyObject *kwargs) {
    return inspect_disable_compile(core_of(self), args, kwargs);
}

/* ---- for another program ---- */

typedef struct Exported {
    Kernel *kernel;
    const Config *config;
    const Signature *signature;
} Exported;

static void *compile_exported(Arena *arena, void *context) {
    const Exported *e = context;
    ModuleState *state = e->kernel->core.state;
    Diag diag;
    diag_init(&diag, arena);
    Code *code = driver_compile(&state->session, e->config, e->kernel->core.identity, e->signature->args, NULL,
                                (size_t)e->signature->count, &diag);
    if (!code) return errors_raise_diag(state, &diag);
    PyObject *result = type_to_object(state, code->result), *pair = NULL;
    if (result) pair = Py_BuildValue("(s#N)", code->ptx, (Py_ssize_t)code->ptx_length, result);
    code_release(code);
    return pair;
}

/* export(signature, capability, name, status_result) -> (PTX, type of the result): an entry of that name. */
static PyObject *kernel_export(PyObject *object, PyObject *args) {
    Kernel *self = (Kernel *)object;
    PyObject *given;
    const char *name;
    int capability, status_result;
    Config config;
    if (!PyArg_ParseTuple(args, "Oisp:_export", &given, &capability, &name, &status_result)) return NULL;
    Signature *signature = signature_from_object(self->core.state, given);
    if (!signature) return NULL;
    config = self->core.config;
    config.target = TARGET_NVPTX;
    config.codegen.compute_capability = capability;
    config.codegen.status_result = status_result;
    config.codegen.exported = true;
    config.codegen.entry_name = name;
    PyObject *result = errors_with_arena(compile_exported, &(Exported){self, &config, signature});
    Py_DECREF(signature);
    return result;
}

/* Of a device function for one signature: krait.cuda._compilation makes it. */
static PyObject *kernel_compile_device(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"args", "return_type", NULL};
    PyObject *types, *result = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:compile_device", keywords, &types, &result)) return NULL;
    return marshal_call_python("krait.cuda._compilation", "compile_device", "(OOO)", self, types, result);
}

PyMethodDef kernel_methods[] = {
#include "decorators/inspect_methods.def"
    {"configure", WITH_KEYWORDS(kernel_configure), METH_VARARGS | METH_KEYWORDS,
     "configure(griddim, blockdim, stream=0, sharedmem=0, *, cooperative=False, cluster=None, programmatic=False, "
     "priority=None)\n--\n\nThe same as kernel[griddim, blockdim, stream, "
     "sharedmem]."},
    {"forall", WITH_KEYWORDS(kernel_forall), METH_VARARGS | METH_KEYWORDS,
     "forall(ntasks, tpb=0, stream=0, sharedmem=0)\n--\n\nA launcher with at least one thread for each task; tpb "
     "threads a block, or what suits."},
    {"inspect_lto_ptx", WITH_KEYWORDS(kernel_inspect_ptx), METH_VARARGS | METH_KEYWORDS,
     "inspect_lto_ptx(signature=None, compute_capability=None)\n--\n\nThe same as inspect_ptx: a kernel is optimised "
     "with "
     "all that it calls before it is PTX."},
    {"inspect_ptx", WITH_KEYWORDS(kernel_inspect_ptx), METH_VARARGS | METH_KEYWORDS,
     "inspect_ptx(signature=None, compute_capability=None)\n--\n\nPTX for this GPU, or for the compute capability "
     "given; no GPU is needed."},
    {"inspect_sass", WITH_KEYWORDS(kernel_inspect_sass), METH_VARARGS | METH_KEYWORDS,
     "inspect_sass(signature=None, compute_capability=None)\n--\n\nMachine code of a GPU, by the tools of a CUDA "
     "toolkit: ptxas and cuobjdump or nvdisasm."},
    {"inspect_sass_cfg", WITH_KEYWORDS(kernel_inspect_sass_cfg), METH_VARARGS | METH_KEYWORDS,
     "inspect_sass_cfg(signature=None, compute_capability=None)\n--\n\nIts blocks and the jumps between them, in the "
     "language DOT, by ptxas and nvdisasm."},
    {"get_active_blocks_per_multiprocessor", WITH_KEYWORDS(kernel_active_blocks), METH_VARARGS | METH_KEYWORDS,
     "get_active_blocks_per_multiprocessor(blocksize, memsize=0, signature=None)\n--\n\nBlocks that a multiprocessor "
     "runs at once; a cooperative grid has no more than that for each."},
    {"max_cooperative_grid_blocks", WITH_KEYWORDS(kernel_cooperative_blocks), METH_VARARGS | METH_KEYWORDS,
     "max_cooperative_grid_blocks(blockdim, dynsmemsize=0, signature=None)\n--\n\nBlocks that run at once: a grid "
     "whose blocks wait for each other has no more."},
    {"get_regs_per_thread", WITH_KEYWORDS(kernel_get_regs_per_thread), METH_VARARGS | METH_KEYWORDS,
     "get_regs_per_thread(signature=None)\n--\n\nRegisters of a thread; 0 on the host device."},
    {"get_shared_mem_per_block", WITH_KEYWORDS(kernel_get_shared_mem_per_block), METH_VARARGS | METH_KEYWORDS,
     "get_shared_mem_per_block(signature=None)\n--\n\nBytes of static shared memory."},
    {"get_const_mem_size", WITH_KEYWORDS(kernel_get_const_mem_size), METH_VARARGS | METH_KEYWORDS,
     "get_const_mem_size(signature=None)\n--\n\nBytes of constant memory; 0 on the host device."},
    {"get_local_mem_per_thread", WITH_KEYWORDS(kernel_get_local_mem_per_thread), METH_VARARGS | METH_KEYWORDS,
     "get_local_mem_per_thread(signature=None)\n--\n\nBytes of local memory; on the host device, of the stack."},
    {"get_max_threads_per_block", WITH_KEYWORDS(kernel_get_max_threads_per_block), METH_VARARGS | METH_KEYWORDS,
     "get_max_threads_per_block(signature=None)\n--\n\nMost threads that a block may have."},
    {"specialize", kernel_specialize, METH_VARARGS,
     "specialize(*args)\n--\n\nThe kernel for the types of these arguments alone; RuntimeError of one that is "
     "for one signature already."},
    {"recompile", kernel_recompile, METH_NOARGS, "recompile()\n--\n\nCompiles every specialisation again."},
    {"disable_compile", WITH_KEYWORDS(kernel_disable_compile), METH_VARARGS | METH_KEYWORDS,
     "disable_compile(val=True)\n--\n\nFrom now on only what is compiled already is launched."},
    {"_export", kernel_export, METH_VARARGS,
     "_export(signature, capability, name, status_result)\n--\n\n"
     "PTX with an entry of that name, and the type of its result."},
    {"compile", kernel_compile, METH_O,
     "compile(signature)\n--\n\nCompiles for argument types now, for the device kernels run on."},
    {"compile_device", WITH_KEYWORDS(kernel_compile_device), METH_VARARGS | METH_KEYWORDS,
     "compile_device(args, return_type=None)\n--\n\nA device function for types of arguments: its signature, its name "
     "and its PTX for the device kernels run on; no program has to be launched."},
    {"__reduce__", kernel_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyObject *get_device(PyObject *self, void *closure) {
    return (void)closure, PyBool_FromLong(core_of(self)->options.device);
}

PyGetSetDef kernel_getset[] = {
#define ATTRIBUTE(name, doc) {#name, inspect_get_##name, NULL, doc, NULL},
#include "decorators/inspect_attributes.def"
#undef ATTRIBUTE
    {"specialized", get_specialized, NULL, "whether it is compiled for one signature alone", NULL},
    {"specializations", get_specializations, NULL, "dict from argument types to what specialize gave", NULL},
    {"extensions", get_extensions, NULL, "list of the objects that replace arguments at a launch", NULL},
    {"device", get_device, NULL, "whether it is a device function", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
