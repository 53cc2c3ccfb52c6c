/* inlining.c: what decorated functions ask about calls of them in compiled code: the options inline and forceinline.
 *
 * In: a decorated function; of one whose `inline` is a function of the user's, a typed call.  Out: whether calls are to
 * become a copy of its body.  The user's function gets what _asked_to_inline of krait/extending.py makes of the call,
 * the caller and the callee; its answer concerns that one call. */
#include "decorators/decorators.h"

static PyObject *given_inline(void *context, PyObject *decorated) {
    PyObject *options = signature_options(context, decorated);
    return options ? PyDict_GetItemString(options, "inline") : NULL;
}

Inlining inlining_of_decorated(void *context, PyObject *decorated) {
    PyObject *options = signature_options(context, decorated), *value = given_inline(context, decorated);
    PyObject *forced = options ? PyDict_GetItemString(options, "forceinline") : NULL;
    if (forced == Py_True || value == Py_True) return INLINING_ALWAYS;
    if (!value || PyBool_Check(value)) return INLINING_AS_SEEN;
    if (!PyUnicode_Check(value)) return INLINING_ASKED;
    return PyUnicode_CompareWithASCIIString(value, "always") == 0 ? INLINING_ALWAYS : INLINING_AS_SEEN;
}

static PyObject *types_of(ModuleState *state, const Type *const *types, size_t count) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple && i < count; i++) {
        PyObject *type = type_to_object(state, types[i]);
        if (!type) Py_CLEAR(tuple);
        if (tuple) PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, type);
    }
    return tuple;
}

/* The operations of a block, by the names that dumps of typed IR have. */
static PyObject *operations(const Block *block) {
    PyObject *list = PyList_New(0);
    for (const Value *value = block->first; list && value; value = value->next) {
        PyObject *name = PyUnicode_FromString(op_info[value->op].text);
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* (name, file, line, types of the arguments, operations by block) */
static PyObject *function_told(ModuleState *state, const FuncInst *inst) {
    const Source *source = inst->untyped->source;
    PyObject *types = types_of(state, inst->types, inst->untyped->nparams), *blocks = PyList_New(0);
    for (size_t i = 0; blocks && inst->func && i < inst->func->blocks.len; i++) {
        PyObject *list = operations(inst->func->blocks.data[i]);
        if (!list || PyList_Append(blocks, list) < 0) Py_CLEAR(blocks);
        Py_XDECREF(list);
    }
    PyObject *told = types && blocks ? Py_BuildValue("(zzIOO)", inst->untyped->name, source ? source->file : NULL,
                                                     inst->untyped->span.line, types, blocks)
                                     : NULL;
    Py_XDECREF(types);
    Py_XDECREF(blocks);
    return told;
}

int inlining_asked(void *context, PyObject *decorated, const FuncInst *caller, const Value *call) {
    ModuleState *state = context;
    PyObject *question = given_inline(context, decorated), *extending = PyImport_ImportModule("krait.extending");
    PyObject *of_caller = extending ? function_told(state, caller) : NULL;
    PyObject *of_callee = of_caller ? function_told(state, call->imm.inst) : NULL;
    PyObject *answer = of_callee ? PyObject_CallMethod(extending, "_asked_to_inline", "OIOO", question, call->span.line,
                                                       of_caller, of_callee)
                                 : NULL;
    int inlined = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    Py_XDECREF(of_callee);
    Py_XDECREF(of_caller);
    Py_XDECREF(extending);
    return inlined;
}
