/* gpu_condition.c: parts of a graph that a GPU does if, or as long as, a word of its memory is not zero.
 *
 * A kernel reads the word and sets the value of the conditional node behind it; the node's body is recorded by a stream
 * of its own, and ends with that kernel if it is to be done again.  The device function that sets the value is the
 * driver's, which links it when it loads the kernel. */
#include "runtime/cuda/cu_driver.h"

#include <string.h> /* memset */

#include "runtime/cuda/graph.h"

static const char condition_ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry krait_condition(.param .u64 handle, .param .u64 word, .param .u32 bytes)\n"
    "{\n"
    ".reg .pred %p<3>;\n"
    ".reg .b32 %r<5>;\n"
    ".reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [handle];\n"
    "ld.param.u64 %rd2, [word];\n"
    "ld.param.u32 %r1, [bytes];\n"
    "cvta.to.global.u64 %rd3, %rd2;\n"
    "mov.u32 %r3, 0;\n"
    "next:\n"
    "ld.global.u8 %r2, [%rd3];\n"
    "or.b32 %r3, %r3, %r2;\n"
    "add.s64 %rd3, %rd3, 1;\n"
    "sub.u32 %r1, %r1, 1;\n"
    "setp.ne.u32 %p1, %r1, 0;\n"
    "@%p1 bra next;\n"
    "setp.ne.u32 %p2, %r3, 0;\n"
    "selp.u32 %r4, 1, 0, %p2;\n"
    "{\n"
    ".param .b64 to;\n"
    ".param .b32 value;\n"
    "st.param.b64 [to], %rd1;\n"
    "st.param.b32 [value], %r4;\n"
    "call.uni cudaGraphSetConditional, (to, value);\n"
    "}\n"
    "ret;\n"
    "}\n";

enum { NON_BLOCKING = 1, RELAXED = 2, SET = 1, CONDITIONAL = 13, ASSIGN_DEFAULT = 1 };

/* The node that a body's stream belongs to, by the stream: until its end. */
typedef struct Body {
    void *stream;
    uint64_t handle;
    unsigned generation; /* of the device */
} Body;

enum { MOST_NESTED = 16 };
static _Thread_local struct { /* a thread records one graph at a time */
    Body bodies[MOST_NESTED];
    int count;
} open_bodies;

static int load_condition(CudaContext *context) {
    const CuApi *api = &context->cuda->api;
    void *module = NULL;
    if (context->condition) return CUDA_OK;
    int error = api->ModuleLoadDataEx(&module, condition_ptx, 0, NULL, NULL);
    return error == CUDA_OK ? api->ModuleGetFunction(&context->condition, module, "krait_condition") : error;
}

/* As a node of what the stream records. */
static int ask(CudaContext *context, void *stream, uint64_t handle, const void *word, size_t bytes) {
    struct {
        uint64_t handle, word;
        uint32_t bytes, unused;
    } params = {handle, (uint64_t)word, (uint32_t)bytes, 0};
    size_t size = sizeof params - sizeof params.unused;
    void *extra[] = {(void *)1, &params, (void *)2, &size, NULL}; /* CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END */
    return context->cuda->api.LaunchKernel(context->condition, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra);
}

/* What the stream is given next comes after these nodes of this graph. */
static int place(const CuApi *api, void *stream, void **graph, void *const **last, size_t *count) {
    int state = 0;
    uint64_t number = 0;
    return api->StreamGetCaptureInfo(stream, &state, &number, graph, last, count);
}

static int begin(CudaContext *context, void *stream, bool loops, const void *word, size_t bytes, void **inner) {
    const CuApi *api = &context->cuda->api;
    CudaConditionalNode parameters;
    void *graph = NULL, *node = NULL;
    void *const *last = NULL;
    size_t count = 0;
    if (!api->GraphConditionalHandleCreate || !api->GraphAddNode || !api->StreamUpdateCaptureDependencies ||
        !api->StreamBeginCaptureToGraph || open_bodies.count == MOST_NESTED)
        return CUDA_NOT_SUPPORTED;
    memset(&parameters, 0, sizeof parameters);
    parameters.type = CONDITIONAL;
    parameters.kind = loops;
    parameters.count = 1;
    parameters.context = context->handle;
    int error = load_condition(context);
    if (error == CUDA_OK) error = place(api, stream, &graph, &last, &count);
    if (error == CUDA_OK)
        error = api->GraphConditionalHandleCreate(&parameters.handle, graph, context->handle, 0, ASSIGN_DEFAULT);
    if (error == CUDA_OK) error = ask(context, stream, parameters.handle, word, bytes);
    if (error == CUDA_OK) error = place(api, stream, &graph, &last, &count);
    if (error == CUDA_OK) error = api->GraphAddNode(&node, graph, last, count, &parameters);
    if (error == CUDA_OK) error = api->StreamUpdateCaptureDependencies(stream, &node, 1, SET);
    if (error == CUDA_OK) error = api->StreamCreate(inner, NON_BLOCKING);
    if (error != CUDA_OK) return error;
    error = api->StreamBeginCaptureToGraph(*inner, parameters.bodies[0], NULL, NULL, 0, RELAXED);
    if (error != CUDA_OK)
        api->StreamDestroy(*inner);
    else
        open_bodies.bodies[open_bodies.count++] = (Body){*inner, parameters.handle, context->device.generation};
    return error;
}

int gpu_graph_block(Device *device, void *stream, bool loops, const void *word, size_t bytes, void **inner) {
    ON_GPU((CudaContext *)device, begin((CudaContext *)device, stream, loops, word, bytes, inner));
}

static int end(CudaContext *context, void *inner, uint64_t handle, bool loops, const void *word, size_t bytes) {
    void *graph = NULL;
    int error = loops ? ask(context, inner, handle, word, bytes) : CUDA_OK;
    int ended = context->cuda->api.StreamEndCapture(inner, &graph);
    context->cuda->api.StreamDestroy(inner);
    return error == CUDA_OK ? ended : error;
}

int gpu_graph_block_end(Device *device, void *inner, bool loops, const void *word, size_t bytes) {
    Body body = open_bodies.bodies[--open_bodies.count];
    if (body.generation != device->generation) return CUDA_OK; /* it is gone */
    ON_GPU((CudaContext *)device, end((CudaContext *)device, inner, body.handle, loops, word, bytes));
}
