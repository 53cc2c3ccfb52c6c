/* heap.c: test doors of runtime/heap.
 *
 *   heap(script)              a line each: "new a 100", "zero a 100", "refs b a c" (b refers to a and c, whose
 *                             references it takes),
 *                             "retain a", "release a", "share a", "stats"; gives a line each: the object's count, or
 *                             "released n" of how many objects were, last how many were never released
 *   heap_objects()            how many objects are in use, cycles that nobody uses being given up before
 *   heap_chain(length)        releases the first of a chain of objects; gives how many are left
 *   heap_threads(n, times)    n threads retain and release one shared object; gives its count and what is left after */
#include "testing/testing.h"

#include <pthread.h>

#include "runtime/heap/heap.h"

enum { NAMES = 26 };

static int64_t in_use(void) {
    HeapStats stats = heap_stats();
    return stats.allocated - stats.released;
}

static const char *stats_text(Arena *arena, const HeapStats *before) {
    HeapStats stats = heap_stats();
    return arena_printf(arena, "allocated %lld released %lld bytes %lld reused %lld",
                        (long long)(stats.allocated - before->allocated),
                        (long long)(stats.released - before->released), (long long)(stats.bytes - before->bytes),
                        (long long)(stats.reused - before->reused));
}

/* The count of a new object; cleared: what is not zero of its content says so. */
static const char *made(Arena *arena, HeapHead *object, bool cleared) {
    if (!object) return "no memory";
    char *content = heap_content(object);
    if ((uintptr_t)content % HEAP_CONTENT) return "not aligned";
    for (int64_t i = 0; cleared && i < object->bytes; i++)
        if (content[i]) return "not cleared";
    memset(content, 1, (size_t)object->bytes);
    return arena_printf(arena, "%d", object->count);
}

static const char *run_line(Arena *arena, const HeapStats *start, HeapHead **objects, const char *line, size_t length) {
    char verb[8], names[3] = {0};
    long long bytes = 0;
    char *text = arena_strndup(arena, line, length);
    int found = sscanf(text, "%7s %c %c %c", verb, &names[0], &names[1], &names[2]);
    if (found == 1 && strcmp(verb, "stats") == 0) return stats_text(arena, start);
    for (int i = 0; i < found - 1 && i < 1 + 2 * (verb[2] == 'f'); i++)
        if (names[i] < 'a' || names[i] > 'z') return NULL;
    HeapHead **object = found > 1 ? &objects[names[0] - 'a'] : NULL;
    bool zero = strcmp(verb, "zero") == 0;
    if (object && (zero || strcmp(verb, "new") == 0) && sscanf(text, "%*s %*c %lld", &bytes) == 1)
        return made(arena, *object = heap_new(HEAP_BUFFER, bytes, zero), zero);
    if (object && strcmp(verb, "refs") == 0) {
        if (!(*object = heap_new(HEAP_REFERENCES, (found - 2) * (int64_t)sizeof(HeapHead *), true))) return "no memory";
        for (int i = 0; i < found - 2; i++) ((HeapHead **)heap_content(*object))[i] = objects[names[i + 1] - 'a'];
        return arena_printf(arena, "%d", (*object)->count);
    }
    if (!object || !*object) return NULL;
    int64_t before = in_use();
    if (strcmp(verb, "retain") == 0)
        heap_retain(*object);
    else if (strcmp(verb, "share") == 0)
        heap_share(*object);
    else if (strcmp(verb, "release") == 0)
        heap_release(*object);
    else if (strcmp(verb, "count") != 0)
        return NULL;
    int64_t released = before - in_use();
    if (released) return arena_printf(arena, "released %lld", (long long)released);
    return arena_printf(arena, "%d", (*object)->count);
}

static PyObject *testing_heap(PyObject *self, PyObject *arg) {
    (void)self;
    const char *script = PyUnicode_AsUTF8(arg);
    Arena *arena = script ? arena_new() : NULL;
    HeapStats start = heap_stats();
    HeapHead *objects[NAMES] = {0};
    PyObject *lines = arena ? PyList_New(0) : NULL;
    while (lines && *script) {
        size_t length = strcspn(script, "\n");
        const char *answer = run_line(arena, &start, objects, script, length);
        PyObject *line = PyUnicode_FromString(answer ? answer : "not understood");
        if (!line || PyList_Append(lines, line) < 0) Py_CLEAR(lines);
        Py_XDECREF(line);
        script += length + (script[length] != 0);
    }
    int64_t lost = in_use() - (start.allocated - start.released);
    PyObject *last = lines ? PyLong_FromLongLong(lost) : NULL;
    if (last && PyList_Append(lines, last) < 0) Py_CLEAR(lines);
    Py_XDECREF(last);
    if (arena) arena_free(arena);
    return lines ? lines : PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static PyObject *testing_heap_chain(PyObject *self, PyObject *arg) {
    (void)self;
    long long length = PyLong_AsLongLong(arg);
    if (length < 0) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a length");
    int64_t before = in_use();
    HeapHead *first = NULL;
    for (long long i = 0; i < length; i++) {
        HeapHead *object = heap_new(HEAP_REFERENCES, sizeof(HeapHead *), false);
        if (!object) break;
        *(HeapHead **)heap_content(object) = first;
        first = object;
    }
    if (first) heap_release(first);
    return PyLong_FromLongLong(in_use() - before);
}

typedef struct Hammer {
    HeapHead *object;
    long times;
} Hammer;

static void *hammer(void *of) {
    const Hammer *work = of;
    for (long i = 0; i < work->times; i++) {
        heap_retain(work->object);
        heap_release(work->object);
    }
    heap_release(work->object); /* its own */
    return NULL;
}

static PyObject *testing_heap_threads(PyObject *self, PyObject *args) {
    (void)self;
    enum { MOST = 16 };
    int count;
    Hammer work = {0};
    if (!PyArg_ParseTuple(args, "il:heap_threads", &count, &work.times)) return NULL;
    pthread_t threads[MOST];
    int64_t before = in_use();
    work.object = count > 0 && count <= MOST ? heap_new(HEAP_BUFFER, 8, false) : NULL;
    if (!work.object) return PyErr_NoMemory();
    for (int i = 0; i < count; i++) heap_retain(work.object);
    heap_share(work.object);
    int started = 0;
    while (started < count && pthread_create(&threads[started], NULL, hammer, &work) == 0) started++;
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    for (int i = started; i < count; i++) heap_release(work.object);
    int left = work.object->count;
    heap_release(work.object);
    return Py_BuildValue("(iL)", left, (long long)(in_use() - before));
}

static PyObject *testing_heap_objects(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    heap_collect_cycles();
    return PyLong_FromLongLong(in_use());
}

PyMethodDef testing_heap_methods[] = {
    {"heap_objects", testing_heap_objects, METH_NOARGS, "heap_objects() -> objects in use in this process"},
    {"heap", testing_heap, METH_O, "heap(script) -> what each line gave, and how many objects were never released"},
    {"heap_chain", testing_heap_chain, METH_O, "heap_chain(length) -> objects left after the first was released"},
    {"heap_threads", testing_heap_threads, METH_VARARGS, "heap_threads(n, times) -> (count, objects left)"},
    {NULL, NULL, 0, NULL},
};
