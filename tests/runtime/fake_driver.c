/* fake_driver.c: a CUDA driver that remembers, for tests on machines without a GPU.
 *
 * Device memory is memory of this process; kernels do nothing.  What is kept is the order of things: every operation
 * has a place in its stream, and streams know how far they are behind each other (vector clocks), by the rules of the
 * CUDA manual: the legacy default stream and blocking streams wait for each other, events and synchronisation carry
 * places over, memory of the stream-ordered pool may be used between its allocation and its freeing alone.  What breaks
 * a rule is a line in fake_violations().  A kernel uses the allocations whose addresses stand among its parameters.
 * fake_fail(name, nth, error) makes a later call of that entry point fail; fake_busy(seconds) has the GPU compute;
 * fake_defer(1): functions of the host are called by a thread of the driver's, once something waits for the GPU.
 * FAKE_GPUS=2: there are two, each with a context; what is done with memory of one while the other's context is current
 * breaks a rule, too. */
#define _GNU_SOURCE /* clock_gettime */
#include <dirent.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STREAMS = 64,
    BLOCKS = 4096,
    LOG = 1 << 16,
    OK = 0,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600
};
enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901 };

typedef struct Clock {
    uint64_t at[STREAMS];
} Clock;

typedef struct Graph Graph;
struct Graph { /* what a stream was given while it captured */
    int nodes, nused, broken, nlaunched;
    void *launched[64]; /* functions */
    uint64_t used[256]; /* words of parameters, addresses of copies */
    Graph *around;      /* of the body of a conditional node */
};

typedef struct Stream {
    int number, blocking, alive;
    Graph *capture; /* NULL: work is done */
    Clock clock;
} Stream;

typedef struct Event {
    Clock clock;
} Event;

typedef struct Block {
    uint64_t address, bytes;
    int device;
    int live, pooled;
    int home;       /* stream of the allocation */
    uint64_t since; /* its place there */
    Clock used;     /* the last use by each stream */
} Block;

static Stream streams[STREAMS]; /* 0: the legacy default stream; 1: that of the thread */
static int nstreams;
static Clock host; /* what the host has waited for */
static Block blocks[BLOCKS];
static int nblocks;
static char calls[LOG], violations[LOG];
static struct {
    char name[32];
    int after, error;
} failure;

/* On a thread that calls a callback of cuStreamAddCallback nobody may call the driver. */
static _Thread_local int in_callback;

static void note(char *log, const char *text) {
    if (in_callback && log == calls) note(violations, "a callback calls the driver:");
    if (in_callback && log == calls) log = violations;
    if (strlen(log) + strlen(text) + 2 < LOG) strcat(strcat(log, text), "\n");
}

static void join(Clock *to, const Clock *from) {
    for (int i = 0; i < STREAMS; i++)
        if (from->at[i] > to->at[i]) to->at[i] = from->at[i];
}

static void start(void) {
    if (nstreams) return;
    for (int i = 0; i < 2; i++) streams[i] = (Stream){.number = i, .blocking = 1, .alive = 1};
    nstreams = 2;
}

static Stream *stream_of(void *handle) {
    start();
    uintptr_t value = (uintptr_t)handle;
    if (value <= 2) return &streams[value == 2];
    Stream *stream = handle;
    if (stream < streams || stream >= streams + nstreams) return NULL;
    return stream;
}

/* The next place in a stream: behind all that it waits for. */
static uint64_t step(Stream *stream) {
    join(&stream->clock, &host);
    if (stream->number == 0) {
        for (int i = 1; i < nstreams; i++)
            if (streams[i].blocking) join(&stream->clock, &streams[i].clock);
    } else if (stream->blocking) {
        join(&stream->clock, &streams[0].clock);
    }
    return ++stream->clock.at[stream->number];
}

/* The name "*": every entry point from then on, as after an access outside memory. */
static int failing(const char *name) {
    if (in_callback) note(calls, name);
    int all = strcmp(failure.name, "*") == 0;
    if ((!all && strcmp(name, failure.name) != 0) || failure.after-- > 0) return 0;
    if (!all) failure.name[0] = 0;
    if (all) failure.after = 0;
    return failure.error;
}

static volatile int holding; /* waits for a context do not end */
void fake_hold(int hold) { holding = hold; }

static struct timespec idle; /* from when on nothing is running */

static int busy(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < idle.tv_sec || (now.tv_sec == idle.tv_sec && now.tv_nsec < idle.tv_nsec);
}

/* ---- functions of the host that the GPU gets to later ---- */

typedef struct Deferred {
    void (*function)(void *);
    void *context;
} Deferred;

static int deferring;
static volatile int deferred, awaited; /* functions that are not done; whether something waits for the GPU */
void fake_defer(int defer) { deferring = defer; }
int fake_deferred(void) { return deferred; }

static void *run_deferred(void *given) {
    Deferred *call = given;
    while (!awaited) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    call->function(call->context);
    free(call);
    __atomic_sub_fetch(&deferred, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void defer(void (*function)(void *), void *context) {
    pthread_t thread;
    Deferred *call = malloc(sizeof *call);
    *call = (Deferred){function, context};
    awaited = 0;
    __atomic_add_fetch(&deferred, 1, __ATOMIC_SEQ_CST);
    pthread_create(&thread, NULL, run_deferred, call);
    pthread_detach(thread);
}

/* An entry point that waits for the GPU: a function that needs what the caller holds is never done. */
static void await_deferred(const char *name) {
    char text[96];
    awaited = 1;
    for (int milliseconds = 0; deferred && milliseconds < 500; milliseconds++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (!deferred) return;
    snprintf(text, sizeof text, "%s waits for a function that cannot be called", name);
    note(violations, text);
}

/* Behind a function that is not done only so many operations find room; then they wait for it. */
static int room, queued;
void fake_room(int operations) { room = operations, queued = 0; }
static void enqueue(const char *name) {
    if (room && deferred && ++queued > room) await_deferred(name);
}

static Block *block_of(uint64_t address) {
    for (int i = nblocks; i-- > 0;)
        if (address >= blocks[i].address && address < blocks[i].address + blocks[i].bytes) return &blocks[i];
    return NULL;
}

/* Contexts are the addresses of these. */
static char contexts[2];
static _Thread_local char *current = &contexts[0];

static int current_device(void) { return (int)(current - contexts); }

/* [one][other]: kernels of the one reach memory of the other; that of a pool is another matter. */
static char peer_access[2][2], pool_access[2][2];

static void use(const char *what, Stream *stream, uint64_t address) {
    Block *block = block_of(address);
    char text[160];
    if (!block) return;
    if (block->device != current_device() &&
        !(block->pooled ? pool_access : peer_access)[current_device()][block->device]) {
        snprintf(text, sizeof text, "%s on GPU %d uses memory of GPU %d", what, current_device(), block->device);
        note(violations, text);
    }
    if (!block->live) {
        snprintf(text, sizeof text, "%s uses memory that was freed", what);
        note(violations, text);
    } else if (block->pooled && stream->clock.at[block->home] < block->since) {
        snprintf(text, sizeof text, "%s on stream %d uses memory before its allocation on stream %d", what,
                 stream->number, block->home);
        note(violations, text);
    }
    block->used.at[stream->number] = stream->clock.at[stream->number];
}

/* Work of a capturing stream becomes a node. */
static int capture(Stream *stream, const char *name, const uint64_t *words, size_t count) {
    char line[96];
    Graph *graph = stream->capture;
    snprintf(line, sizeof line, "captured %s", name);
    note(calls, line);
    graph->nodes++;
    while (graph->around) graph = graph->around;
    if (graph->broken) return CAPTURE_INVALIDATED;
    for (size_t i = 0; i < count && graph->nused < 256; i++) graph->used[graph->nused++] = words[i];
    return failing(name);
}

/* One operation: its place, a line in the log, a failure if one was asked for. */
#define OPERATION(name, handle)                                                  \
    Stream *stream = stream_of(handle);                                          \
    char line_[96];                                                              \
    snprintf(line_, sizeof line_, "%s %d", name, stream ? stream->number : -1);  \
    note(calls, line_);                                                          \
    int error_ = failing(name);                                                  \
    if (error_) return error_;                                                   \
    enqueue(name);                                                               \
    if (!stream || !stream->alive) return INVALID_HANDLE;                        \
    if (stream->capture) note(violations, name " waits for a capturing stream"); \
    step(stream)

#define CAPTURED(name, handle, words, count) \
    if (stream_of(handle) && stream_of(handle)->capture) return capture(stream_of(handle), name, words, count)

/* ---- what the tests ask ---- */

const char *fake_calls(void) { return calls; }
void fake_note(const char *text) { note(calls, text); }
const char *fake_violations(void) { return violations; }
void fake_busy(int seconds) { /* what streams have been given takes so long from now */
    clock_gettime(CLOCK_MONOTONIC, &idle);
    idle.tv_sec += seconds;
}
void fake_forget(void) { calls[0] = violations[0] = 0; }
int fake_live(void) {
    int live = 0;
    for (int i = 0; i < nblocks; i++) live += blocks[i].live;
    return live;
}
void fake_fail(const char *name, int nth, int error) {
    snprintf(failure.name, sizeof failure.name, "%s", name);
    failure.after = nth;
    failure.error = error;
}
void *fake_stream(int blocking) { /* of another library */
    start();
    Stream *stream = &streams[nstreams];
    *stream = (Stream){.number = nstreams++, .blocking = blocking, .alive = 1};
    return stream;
}

/* ---- devices and contexts ---- */

int cuInit(unsigned flags) {
    const char *given = getenv("FAKE_INIT");
    return (void)flags, given ? atoi(given) : OK;
}
int cuDriverGetVersion(int *version) { return *version = 13000, OK; }
int cuGetErrorName(int error, const char **text) { return (void)error, *text = "CUDA_ERROR_OF_THE_FAKE", OK; }
int cuGetErrorString(int error, const char **text) { return (void)error, *text = "the fake driver failed", OK; }
int cuDeviceGetCount(int *count) {
    const char *given = getenv("FAKE_GPUS");
    return *count = given ? atoi(given) : 1, OK;
}
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, OK; }
int cuDeviceGetName(char *name, int length, int device) {
    return (void)device, snprintf(name, (size_t)length, "fake"), OK;
}
int cuDeviceGetUuid_v2(void *uuid, int device) { return (void)device, memset(uuid, 0, 16), OK; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 8: *value = 49152; break;
    case 75: *value = 9; break;
    case 97: *value = 232448; break;
    case 115: *value = getenv("FAKE_NO_POOLS") == NULL; break;
    default: *value = attribute == 76 ? 0 : 1; break;
    }
    return OK;
}
/* How many threads there are while a context is made. */
static int threads_meanwhile;
int fake_threads_meanwhile(void) { return threads_meanwhile; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    threads_meanwhile = 0;
    while (tasks && (entry = readdir(tasks)) != NULL) threads_meanwhile += entry->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return *context = &contexts[device], OK;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, OK; }
static char pools[2]; /* their addresses are the pools */
int cuDeviceGetDefaultMemPool(void **pool, int device) { return *pool = &pools[device], OK; }
int cuMemPoolSetAccess(void *pool, const int *access, size_t count) { /* location, device, flags */
    if (count != 1 || access[0] != 1 || access[2] != 3) return 1;
    return pool_access[access[1]][(char *)pool - pools] = 1, OK;
}
int cuDevicePrimaryCtxReset_v2(int device) {
    await_deferred("DevicePrimaryCtxReset");
    for (int other = 0; other < 2; other++)
        peer_access[device][other] = peer_access[other][device] = pool_access[other][device] = 0;
    for (int i = 0; i < nblocks; i++) blocks[i].live = 0;
    for (int i = 2; i < nstreams; i++) streams[i].alive = 0, streams[i].capture = NULL;
    return OK;
}
int cuCtxSetCurrent(void *context) { return current = context, OK; }
int cuCtxGetCurrent(void **context) { return *context = current, OK; }
int cuCtxSynchronize(void) {
    await_deferred("CtxSynchronize");
    note(calls, "CtxSynchronize");
    start();
    while (holding) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int capturing = 0;
    for (int i = 0; i < nstreams; i++) {
        join(&host, &streams[i].clock);
        for (Graph *graph = streams[i].capture; graph; graph = graph->around) capturing = graph->broken = 1;
    }
    if (capturing) note(violations, "a wait for the context ends what is captured");
    return capturing ? CAPTURE_UNSUPPORTED : failing("CtxSynchronize");
}
int cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
    return (void)pool, (void)attribute, (void)value, OK;
}
int cuMemPoolTrimTo(void *pool, size_t keep) { return (void)pool, (void)keep, note(calls, "MemPoolTrimTo"), OK; }
int cuMemGetInfo_v2(size_t *left, size_t *total) { return *left = *total = 1 << 30, OK; }

/* ---- memory ---- */

enum { ALIGNMENT = 256 }; /* CUDA Programming Guide, 5.3.2: of any address that an allocation function gives */

static int allocate(uint64_t *pointer, size_t bytes, int home, uint64_t since, int pooled) {
    if (nblocks == BLOCKS) return 2;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded); /* never given back: an address names one allocation */
    *pointer = (uint64_t)(uintptr_t)(memory ? memset(memory, 0, rounded) : NULL);
    blocks[nblocks++] = (Block){*pointer, bytes, current_device(), 1, pooled, home, since, {{0}}};
    return *pointer ? OK : 2;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
    int error = failing("MemAlloc");
    return error ? error : allocate(pointer, bytes, 0, 0, 0);
}

int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *handle) {
    OPERATION("MemAllocAsync", handle);
    return allocate(pointer, bytes, stream->number, stream->clock.at[stream->number], 1);
}

int cuMemFree_v2(uint64_t pointer) { /* waits for everything */
    await_deferred("MemFree");
    note(calls, "MemFree");
    int error = failing("MemFree");
    Block *block = block_of(pointer);
    if (!error && block) block->live = 0;
    return error;
}

int cuMemFreeAsync(uint64_t pointer, void *handle) {
    OPERATION("MemFreeAsync", handle);
    Block *block = block_of(pointer);
    if (!block || !block->live) {
        note(violations, "memory is freed twice");
        return 1;
    }
    for (int i = 0; i < nstreams; i++)
        if (block->used.at[i] > stream->clock.at[i]) {
            char text[96];
            snprintf(text, sizeof text, "memory is freed on stream %d while stream %d may use it", stream->number, i);
            note(violations, text);
        }
    if (stream->clock.at[block->home] < block->since) note(violations, "memory is freed before its allocation");
    block->live = 0;
    return OK;
}

/* Page-locked memory, and the last copy from each piece of it: its stream, and its place there. */
static struct {
    char *start;
    size_t bytes;
    int stream;
    uint64_t read;
} locked[256];
static int find_locked(const void *pointer) { /* -1: it is ordinary */
    for (int i = 0; i < 256; i++)
        if (locked[i].start && (const char *)pointer >= locked[i].start &&
            (const char *)pointer < locked[i].start + locked[i].bytes)
            return i;
    return -1;
}
/* Whether the GPU may still read from there, as far as the host knows. */
int fake_reads(const void *pointer) {
    int at = find_locked(pointer);
    return at >= 0 && locked[at].read > host.at[locked[at].stream];
}
int cuMemAllocHost_v2(void **pointer, size_t bytes) {
    int at = 0;
    *pointer = calloc(1, bytes);
    while (at < 255 && locked[at].start) at++;
    locked[at].start = *pointer, locked[at].bytes = bytes, locked[at].read = 0;
    return OK;
}
int cuMemFreeHost(void *pointer) {
    int at = find_locked(pointer);
    if (at >= 0) locked[at].start = NULL;
    return await_deferred("MemFreeHost"), free(pointer), OK;
}
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return (void)flags, cuMemAllocHost_v2(pointer, bytes);
}
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags) {
    (void)flags;
    int error = failing("MemAllocManaged");
    return error ? error : allocate(pointer, bytes, 0, 0, 0);
}
int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer) {
    if (attribute == 9 && find_locked((void *)(uintptr_t)pointer) >= 0) return *(int *)value = 0, OK;
    if (attribute != 9 || !block_of(pointer)) return 1;
    return *(int *)value = block_of(pointer)->device, OK;
}
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
    (void)pointer, (void)bytes, (void)flags;
    note(calls, "MemHostRegister");
    return failing("MemHostRegister");
}
int cuMemHostUnregister(void *pointer) {
    await_deferred("MemHostUnregister");
    (void)pointer;
    note(calls, "MemHostUnregister");
    return OK;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *handle) {
    CAPTURED("MemcpyHtoDAsync", handle, &to, 1);
    OPERATION("MemcpyHtoDAsync", handle);
    use("a copy", stream, to);
    memcpy((void *)(uintptr_t)to, from, bytes);
    int at = find_locked(from);
    if (at >= 0) locked[at].stream = stream->number, locked[at].read = stream->clock.at[stream->number];
    return OK;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *handle) {
    CAPTURED("MemcpyDtoHAsync", handle, &from, 1);
    OPERATION("MemcpyDtoHAsync", handle);
    use("a copy", stream, from);
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return OK;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *handle) {
    CAPTURED("MemcpyDtoDAsync", handle, &to, 1);
    OPERATION("MemcpyDtoDAsync", handle);
    use("a copy", stream, from);
    use("a copy", stream, to);
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return OK;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
    await_deferred("MemcpyHtoD");
    int error = cuMemcpyHtoDAsync_v2(to, from, bytes, NULL);
    join(&host, &streams[0].clock);
    return error;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
    await_deferred("MemcpyDtoH");
    int error = cuMemcpyDtoHAsync_v2(to, from, bytes, NULL);
    join(&host, &streams[0].clock);
    return error;
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *handle) {
    OPERATION("MemsetD8Async", handle);
    use("filling", stream, to);
    memset((void *)(uintptr_t)to, value, count);
    return OK;
}

/* ---- kernels ---- */

static uintptr_t nmodules;
static char unloaded[4096];
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    int error = failing("ModuleLoadDataEx");
    for (unsigned i = 0; error && i < count; i++)
        if (options[i] == 5) strcpy(values[i], "ptxas says: line 7, too many registers"); /* ERROR_LOG_BUFFER */
    if (error) return error;
    if (strncmp(image, "machine code", 12) == 0) note(calls, "ModuleLoadDataEx of machine code");
    return (void)image, (void)count, (void)options, (void)values, *module = (void *)++nmodules, OK;
}
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state) {
    return (void)count, (void)options, (void)values, *state = &host, failing("LinkCreate");
}
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned count, int *options,
                     void **values) {
    char line[96];
    (void)state, (void)name, (void)count, (void)options, (void)values;
    snprintf(line, sizeof line, "LinkAddData %d: %.*s", type, (int)(size < 20 ? size : 20), (char *)data);
    if (type != 1) note(calls, line);
    return failing("LinkAddData");
}
int cuLinkComplete(void *state, void **binary, size_t *size) {
    static char code[] = "machine code";
    note(calls, "LinkComplete");
    return (void)state, *binary = code, *size = sizeof code, failing("LinkComplete");
}
int cuLinkDestroy(void *state) { return (void)state, OK; }
/* Every module has the globals that a kernel's exceptions and prints go to, for tests to write. */
static uint64_t globals[2][1 << 17];
void *fake_global(int which) { return globals[which]; }
int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name) {
    (void)module;
    int error = failing("ModuleGetGlobal");
    if (error) return error;
    *address = (uint64_t)globals[strcmp(name, "krait_device_notes") != 0];
    *bytes = strcmp(name, "krait_device_notes") == 0 ? 64 : sizeof globals[1];
    return OK;
}
int cuModuleUnload(void *module) {
    await_deferred("ModuleUnload");
    return unloaded[(uintptr_t)module % 4096] = 1, note(calls, "ModuleUnload"), OK;
}
/* A function belongs to the context in which its module was loaded. */
enum { FUNCTIONS = 256 };
static char functions[2][FUNCTIONS];
static uintptr_t homes[2][FUNCTIONS]; /* their modules */
static int nfunctions, launched;
int fake_launched(void) { return launched; } /* which function, the last time */
int cuModuleGetFunction(void **function, void *module, const char *name) {
    int number = nfunctions++ % FUNCTIONS;
    homes[current_device()][number] = (uintptr_t)module;
    return (void)name, *function = &functions[current_device()][number], OK;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    return (void)function, *value = attribute == 0 ? 1024 : attribute == 8 ? 49152 : 0, OK;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
    return (void)function, (void)attribute, (void)value, OK;
}
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, size_t (*shared)(int), size_t bytes,
                                     int limit) {
    return (void)function, (void)shared, (void)bytes, (void)limit, *grid = 1, *block = 256, OK;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function, int block, size_t bytes) {
    return (void)function, (void)block, (void)bytes, *count = 1, OK;
}
static char parameters[4096]; /* of the last launch */
static size_t parameter_bytes;
const char *fake_parameters(void) { return parameters; }
size_t fake_parameter_bytes(void) { return parameter_bytes; }
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *handle, void **params, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)params;
    if (!current) return INVALID_CONTEXT;
    launched = (int)((char *)function - functions[current_device()]);
    if (launched < 0 || launched >= FUNCTIONS) return INVALID_HANDLE;
    const uint64_t *words = extra ? extra[1] : NULL; /* else what `params` points to, of which the size is not known */
    parameter_bytes = extra ? *(size_t *)extra[3] : 0;
    size_t count = parameter_bytes / 8;
    if (words) memcpy(parameters, words, parameter_bytes);
    Graph *graph = stream_of(handle) ? stream_of(handle)->capture : NULL;
    while (graph && graph->around) graph = graph->around;
    if (graph && graph->nlaunched < 64) graph->launched[graph->nlaunched++] = function;
    CAPTURED("LaunchKernel", handle, words, count);
    OPERATION("LaunchKernel", handle);
    for (size_t i = 0; i < count; i++) use("a kernel", stream, words[i]);
    return OK;
}

typedef struct Attribute {
    int id, unused, value[16];
} Attribute;

typedef struct LaunchConfig {
    unsigned grid[3], block[3], shared;
    void *stream;
    Attribute *attributes;
    unsigned count;
} LaunchConfig;

int cuLaunchKernelEx(const LaunchConfig *config, void *function, void **params, void **extra) {
    char line[96];
    for (unsigned i = 0; i < config->count; i++) {
        const Attribute *attribute = &config->attributes[i];
        snprintf(line, sizeof line, "attribute %d %d %d %d", attribute->id, attribute->value[0], attribute->value[1],
                 attribute->value[2]);
        note(calls, line);
    }
    const unsigned *g = config->grid, *b = config->block;
    return cuLaunchKernel(function, g[0], g[1], g[2], b[0], b[1], b[2], config->shared, config->stream, params, extra);
}

/* ---- graphs ---- */

int cuStreamBeginCapture_v2(void *handle, int mode) {
    Stream *stream = stream_of(handle);
    if (stream->number == 0 || mode != 2) return 1;
    note(calls, "StreamBeginCapture");
    int error = failing("StreamBeginCapture");
    if (!error) stream->capture = calloc(1, sizeof *stream->capture);
    return error;
}
int cuStreamGetCaptureInfo_v2(void *handle, int *state, uint64_t *number, void **graph, void *const **last,
                              size_t *count) {
    static void *nodes[1];
    Stream *stream = stream_of(handle);
    if (!stream->capture) return 1;
    nodes[0] = (void *)(uintptr_t)stream->capture->nodes;
    return *state = 1, *number = 1, *graph = stream->capture, *last = nodes, *count = 1, OK;
}
int cuStreamEndCapture(void *handle, void **graph) {
    Stream *stream = stream_of(handle);
    *graph = stream->capture && stream->capture->broken ? NULL : stream->capture;
    stream->capture = NULL;
    note(calls, "StreamEndCapture");
    return *graph ? failing("StreamEndCapture") : CAPTURE_INVALIDATED;
}
int cuGraphConditionalHandleCreate(uint64_t *handle, Graph *graph, void *context, unsigned value, unsigned flags) {
    (void)context, (void)value;
    if (flags != 1) return 1;
    return *handle = 1000 + (uint64_t)graph->nodes, failing("GraphConditionalHandleCreate");
}
typedef struct NodeParameters {
    int type, unused[3];
    uint64_t handle;
    int kind;
    unsigned count;
    Graph **bodies;
    void *context;
} NodeParameters;
int cuGraphAddNode(void **node, Graph *graph, void *const *before, size_t count, NodeParameters *given) {
    char line[96];
    (void)before;
    if (given->type != 13 || given->count != 1 || count != 1) return 1;
    snprintf(line, sizeof line, "conditional node %s", given->kind ? "while" : "if");
    note(calls, line);
    Graph **bodies = calloc(1, sizeof *bodies); /* never given back: as large as its tests */
    bodies[0] = calloc(1, sizeof **bodies);
    bodies[0]->around = graph;
    given->bodies = bodies;
    *node = (void *)(uintptr_t)++graph->nodes;
    return failing("GraphAddNode");
}
int cuStreamUpdateCaptureDependencies(void *handle, void **nodes, size_t count, unsigned flags) {
    return stream_of(handle)->capture && nodes && count == 1 && flags == 1 ? OK : 1;
}
int cuStreamBeginCaptureToGraph(void *handle, Graph *graph, void *const *before, const void *edges, size_t count,
                                int mode) {
    (void)before, (void)edges;
    if (count || mode != 2 || !graph->around) return 1;
    note(calls, "StreamBeginCaptureToGraph");
    int error = failing("StreamBeginCaptureToGraph");
    if (!error) stream_of(handle)->capture = graph;
    return error;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    return (void)flags, *executable = graph, failing("GraphInstantiate");
}
int cuGraphLaunch(void *executable, void *handle) {
    OPERATION("GraphLaunch", handle);
    Graph *graph = executable;
    for (int i = 0; i < graph->nused; i++) use("a graph", stream, graph->used[i]);
    for (int i = 0; i < graph->nlaunched; i++)
        if (unloaded[homes[0][(char *)graph->launched[i] - functions[0]] % 4096])
            note(violations, "a graph launches a function whose module was unloaded");
    return OK;
}
int cuGraphExecDestroy(void *executable) { return (void)executable, note(calls, "GraphExecDestroy"), OK; }
int cuGraphDestroy(void *graph) { return free(graph), OK; }
typedef struct KernelNode {
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
} KernelNode;
int cuGraphExecKernelNodeSetParams_v2(void *executable, void *node, const KernelNode *launch) {
    char line[96];
    Graph *graph = executable;
    const uint64_t *words = launch->extra[1];
    launched = (int)((char *)launch->function - functions[0]);
    snprintf(line, sizeof line, "node %d of %d", (int)(uintptr_t)node, graph->nodes);
    note(calls, line);
    for (size_t i = 0; i < *(size_t *)launch->extra[3] / 8 && graph->nused < 256; i++)
        graph->used[graph->nused++] = words[i];
    return failing("GraphExecKernelNodeSetParams");
}

/* ---- streams and events ---- */

int cuStreamCreateWithPriority(void **handle, unsigned flags, int priority) {
    char line[48];
    snprintf(line, sizeof line, "StreamCreate of priority %d", priority);
    note(calls, line);
    return *handle = fake_stream(!(flags & 1)), OK;
}
int cuStreamCreate(void **handle, unsigned flags) { return *handle = fake_stream(!(flags & 1)), OK; }
int cuStreamDestroy_v2(void *handle) {
    int error = failing("StreamDestroy");
    if (error) return error;
    Stream *stream = stream_of(handle);
    char text[32];
    snprintf(text, sizeof text, "StreamDestroy %d", stream->number);
    note(calls, text);
    stream->alive = 0;
    return OK;
}
int cuStreamSynchronize(void *handle) {
    await_deferred("StreamSynchronize");
    OPERATION("StreamSynchronize", handle);
    join(&host, &stream->clock);
    return OK;
}
static int not_ready(void) {
    awaited = 1;
    return busy() || deferred;
}
int cuStreamQuery(void *handle) {
    if (not_ready()) return NOT_READY;
    Stream *stream = stream_of(handle);
    int error = failing("StreamQuery");
    if (error || !stream) return error ? error : INVALID_HANDLE;
    join(&host, &stream->clock);
    return OK;
}
int cuLaunchHostFunc(void *handle, void (*function)(void *), void *context) {
    CAPTURED("LaunchHostFunc", handle, NULL, 0);
    OPERATION("LaunchHostFunc", handle);
    if (deferring)
        defer(function, context);
    else
        function(context);
    return OK;
}
/* A callback is called also where work before it has failed. */
typedef struct Added {
    void (*callback)(void *, int, void *);
    void *stream, *context;
} Added;
static void call_added(void *given) {
    Added added = *(Added *)given;
    free(given);
    int status = failing("Callback");
    in_callback = 1;
    added.callback(added.stream, status, added.context);
    in_callback = 0;
}
int cuStreamAddCallback(void *handle, void (*callback)(void *, int, void *), void *context, unsigned flags) {
    (void)flags;
    if (stream_of(handle) && stream_of(handle)->capture) return CAPTURE_UNSUPPORTED;
    OPERATION("StreamAddCallback", handle);
    Added *added = malloc(sizeof *added);
    *added = (Added){callback, handle, context};
    if (deferring)
        defer(call_added, added);
    else
        call_added(added);
    return OK;
}
int cuStreamWaitEvent(void *handle, void *event, unsigned flags) {
    (void)flags;
    OPERATION("StreamWaitEvent", handle);
    join(&stream->clock, &((Event *)event)->clock);
    return OK;
}
int cuEventCreate(void **event, unsigned flags) {
    *event = NULL;
    int error = failing("EventCreate");
    if (error) return error;
    return (void)flags, *event = calloc(1, sizeof(Event)), OK;
}
int cuEventDestroy_v2(void *event) {
    int error = failing("EventDestroy");
    if (error) return error;
    return free(event), OK;
}
int cuEventRecord(void *event, void *handle) {
    OPERATION("EventRecord", handle);
    ((Event *)event)->clock = stream->clock;
    return OK;
}
int cuEventQuery(void *event) {
    if (not_ready()) return NOT_READY;
    join(&host, &((Event *)event)->clock);
    return OK;
}
int cuEventSynchronize(void *event) {
    await_deferred("EventSynchronize");
    int error = failing("EventSynchronize");
    if (error) return error;
    join(&host, &((Event *)event)->clock);
    return OK;
}
int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
    return (void)from, (void)to, *milliseconds = 1, OK;
}
int cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes) {
    char *to_home = to_context, *from_home = from_context;
    if (block_of(to)->device != to_home - contexts || block_of(from)->device != from_home - contexts)
        note(violations, "a copy between GPUs names the wrong ones");
    return memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes), OK;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer) { return *can = device != peer, OK; }
int cuCtxEnablePeerAccess(void *context, unsigned flags) {
    enum { ENABLED_ALREADY = 704 };
    char *enabled = &peer_access[current_device()][(char *)context - contexts];
    return (void)flags, *enabled ? ENABLED_ALREADY : (*enabled = 1, OK);
}
int cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
    uint64_t used = 0;
    for (int i = 0; i < nblocks; i++) used += blocks[i].live && blocks[i].pooled ? blocks[i].bytes : 0;
    return (void)pool, *(uint64_t *)value = attribute == 7 ? used : 1 << 20, OK;
}
/* A name is the address: "another process" is this one. */
typedef struct IpcName {
    uint64_t address, zeros[7];
} IpcName;
int cuMemGetAddressRange_v2(uint64_t *start, size_t *bytes, uint64_t pointer) {
    Block *block = block_of(pointer);
    if (!block) return 1;
    return *start = block->address, *bytes = block->bytes, OK;
}
int cuIpcGetMemHandle(IpcName *name, uint64_t pointer) {
    Block *block = block_of(pointer);
    if (!block || block->pooled) return 1;
    return *name = (IpcName){.address = pointer}, note(calls, "IpcGetMemHandle"), OK;
}
int cuIpcOpenMemHandle_v2(uint64_t *pointer, IpcName name, unsigned flags) {
    if (flags != 1 || !block_of(name.address)) return 1;
    return *pointer = name.address, note(calls, "IpcOpenMemHandle"), failing("IpcOpenMemHandle");
}
int cuIpcCloseMemHandle(uint64_t pointer) { return (void)pointer, note(calls, "IpcCloseMemHandle"), OK; }
int cuProfilerStart(void) { return OK; }
int cuProfilerStop(void) { return OK; }
