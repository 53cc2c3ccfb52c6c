/* gpu_graph.c: recorded work of a GPU: a stream of its own captures what a thread queues, the driver makes a graph of
 * it that runs with one call.
 *
 * The stream does not wait for the default stream and captures relaxedly, so that a block may allocate memory, load
 * kernels and ask questions, which happens at once and is no part of the graph. */
#include "runtime/cuda/cu_driver.h"

#include <stdlib.h> /* calloc */

#include "runtime/cuda/graph.h"

typedef struct GpuGraph {
    void *graph, *executable;
} GpuGraph;

static CudaContext *context_of(Device *device) { return (CudaContext *)device; }

static int begin(CudaContext *context, void **stream) {
    enum { STREAM_NON_BLOCKING = 1, CAPTURE_RELAXED = 2 };
    const CuApi *api = &context->cuda->api;
    int error = gpu_wait_for_waits(context);
    if (error == CUDA_OK) error = api->StreamCreate(stream, STREAM_NON_BLOCKING);
    if (error != CUDA_OK) return error;
    error = api->StreamBeginCapture(*stream, CAPTURE_RELAXED);
    if (error != CUDA_OK) api->StreamDestroy(*stream);
    return error;
}

int gpu_graph_begin(Device *device, void **stream) { ON_GPU(context_of(device), begin(context_of(device), stream)); }

int gpu_graph_last(Device *device, void *stream, void **node) {
    int state = 0;
    uint64_t number = 0;
    void *graph = NULL;
    void *const *last = NULL;
    size_t count = 0;
    int error = context_of(device)->cuda->api.StreamGetCaptureInfo(stream, &state, &number, &graph, &last, &count);
    *node = error == CUDA_OK && count == 1 ? last[0] : NULL;
    return error;
}

static int end(const CuApi *api, void *stream, void **made) {
    GpuGraph *graph = calloc(1, sizeof *graph);
    void *captured = NULL;
    int error = api->StreamEndCapture(stream, &captured);
    api->StreamDestroy(stream);
    if (error == CUDA_OK && !graph) error = CUDA_NO_HOST_MEMORY;
    if (error == CUDA_OK && made) error = api->GraphInstantiate(&graph->executable, captured, 0);
    if (error != CUDA_OK || !made) {
        if (captured) api->GraphDestroy(captured);
        free(graph);
        return error;
    }
    graph->graph = captured; /* its nodes name the launches that get other arguments */
    *made = graph;
    return CUDA_OK;
}

int gpu_graph_end(Device *device, void *stream, void **made) { ON_GPU(context_of(device), end(api, stream, made)); }

static int run_in_turn(CudaContext *context, GpuGraph *graph, void *stream, DeviceKernel *const *in_turn,
                       size_t count) {
    const CuApi *api = &context->cuda->api;
    int error = CUDA_OK;
    pthread_mutex_lock(&context->turns);
    for (size_t i = 0; i < count && error == CUDA_OK; i++) error = gpu_turn_begin(api, in_turn[i], stream);
    if (error == CUDA_OK) error = api->GraphLaunch(graph->executable, stream);
    for (size_t i = 0; i < count && error == CUDA_OK; i++) error = gpu_turn_end(api, in_turn[i], stream);
    pthread_mutex_unlock(&context->turns);
    return error;
}

int gpu_graph_run(Device *device, void *graph, void *stream, DeviceKernel *const *in_turn, size_t count) {
    if (count) ON_GPU(context_of(device), run_in_turn(context_of(device), graph, stream, in_turn, count));
    ON_GPU(context_of(device), api->GraphLaunch(((GpuGraph *)graph)->executable, stream));
}

int gpu_graph_close(Device *device, void *graph) {
    const CuApi *api = &context_of(device)->cuda->api;
    int error = api->GraphExecDestroy(((GpuGraph *)graph)->executable);
    if (error == CUDA_OK) error = api->GraphDestroy(((GpuGraph *)graph)->graph);
    free(graph);
    return error;
}

int gpu_graph_update(CudaContext *context, void *graph, void *node, const CudaKernelNode *launch) {
    ON_GPU(context, api->GraphExecKernelNodeSetParams(((GpuGraph *)graph)->executable, node, launch));
}
