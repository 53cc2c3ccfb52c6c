/* graph.h: work that is recorded instead of done: what the files that queue work ask while a thread is in a block of
 * `with cuda.graph()`. */
#ifndef KRAIT_RUNTIME_CUDA_GRAPH_H
#define KRAIT_RUNTIME_CUDA_GRAPH_H

#include "runtime/cuda/cuda.h" /* runtime_capture */
#include "runtime/device.h"

/* A block of if_ or while_ that is being recorded.  The capture owns it, whatever becomes of the Python object. */
typedef struct OpenBlock {
    struct OpenBlock *around;
    const PyObject *block; /* whose `with` ends it; borrowed, may be gone */
    bool loops;
    PyObject *word, *steps;
    void *outer_stream;
    PyObject *outer_steps; /* borrowed: of the graph, or of the block around */
} OpenBlock;

struct Capture {
    Device *device;
    unsigned generation;  /* of the device, when it began */
    void *stream;         /* of a GPU, which records what it is given; on the host device NULL */
    PyObject *kept;       /* list: what the recorded work uses; borrowed of the graph, as are its steps */
    PyObject *steps;      /* of the innermost block that is open, else of the graph */
    OpenBlock *innermost; /* NULL: none */
    bool spoiled;         /* a block of if_ or while_ was left by an exception: there is no whole graph */
    PyObject *recording;  /* the graph while a thread records it, borrowed until it is dropped */
    bool dropped;         /* nobody else has the graph any more: it is the thread's, which ends it */
    bool updating;        /* a recorded launch gets other arguments: on a GPU by gpu_graph_update instead of a launch */
    void *graph, *node;   /* of that launch, on a GPU */
};

/* The Python object. */
typedef struct Graph {
    PyObject_HEAD
    struct Runtime *runtime;
    Device *device; /* NULL: not recorded yet */
    unsigned generation;
    PyObject *kept, *steps;
    void *graph; /* of the device */
    Capture capture;
} Graph;

enum { STEP_LAUNCHER, STEP_ARGUMENTS, STEP_NODE, STEP_KEPT }; /* a list: the step of a launch (graph.c) */

enum { BLOCK_LOOPS, BLOCK_WORD, BLOCK_STEPS, BLOCK_PARTS = 4 }; /* a tuple: an if_ or while_ */
static inline bool graph_is_block(PyObject *step) {
    return PyTuple_Check(step) && PyTuple_GET_SIZE(step) == BLOCK_PARTS;
}

#define KEPT_CODE "krait.code" /* a capsule among what is kept */
typedef struct KeptCode {
    DeviceKernel *kernel; /* NULL: there are no turns */
    void *holder;
    void (*let_go)(void *holder);
} KeptCode;

/* graph_run.c */
PyObject *graph_launch(PyObject *object, PyObject *args, PyObject *kwargs);
int graph_check_ready(const Graph *self); /* to be launched or updated; -1: exception set */
void graph_drop(PyObject **list);         /* what is kept, or steps: takes the reference; NULL: nothing */

/* graph_update.c: a method and an attribute of the class. */
PyObject *graph_update(PyObject *object, PyObject *args, PyObject *kwargs);
PyObject *graph_launches(PyObject *object, void *unused);

/* The stream that work for `stream` goes to. */
static inline void *capture_stream(void *stream) {
    return KRAIT_UNLIKELY(runtime_capture != NULL) ? runtime_capture->stream : stream;
}

/* A copy in such a block; one that is waited for cannot be recorded.  -1: exception set. */
int graph_copy(Device *device, DeviceCopy kind, bool wait, void *to, const void *from, size_t bytes);
int graph_refuse(const char *what); /* -1, with the exception */

/* graph_block.c: `with graph.if_(word):` and while_; a step of one is (loops, word, steps, None).  NULL: exception
 * set. */
struct Runtime;
/* Ends the innermost block that is open; its step, if it is to be one.  -1: exception set. */
int graph_block_close(Capture *capture, bool keep);
PyObject *graph_block_new(struct Runtime *runtime, PyObject *graph, Capture *capture, PyObject *word, bool loops);

/* gpu_graph.c, gpu_condition.c: DeviceOps.graph_... of a GPU. */
int gpu_graph_begin(Device *device, void **stream);
int gpu_graph_last(Device *device, void *stream, void **node);
int gpu_graph_end(Device *device, void *stream, void **graph);
int gpu_graph_block(Device *device, void *stream, bool loops, const void *word, size_t bytes, void **inner);
int gpu_graph_block_end(Device *device, void *inner, bool loops, const void *word, size_t bytes);
int gpu_graph_run(Device *device, void *graph, void *stream, DeviceKernel *const *in_turn, size_t count);
int gpu_graph_close(Device *device, void *graph);

#endif
