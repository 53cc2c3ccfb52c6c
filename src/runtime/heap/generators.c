/* generators.c: generators of compiled code: made, asked for their next item, closed.
 *
 * In: an object with a GeneratorBody (ir_abi.def), behind which generated code (codegen/lower_generator.c) keeps the
 * item and the frame of an LLVM coroutine, whose first word is the function that runs it on.  Whoever asks lends its
 * exception buffer.  A generator that nobody refers to any more is closed before its memory is given back: it runs once
 * more, raises GeneratorExit where it waits, and gives up what it holds. */
#include "runtime/heap/heap.h"

#include <stdlib.h> /* malloc */
#include <string.h> /* memset */

_Static_assert(sizeof(GeneratorBody) % 16 == 0, "the item lies behind it");

HeapHead *krait_heap_generator(int64_t bytes, int64_t exception_bytes) {
    HeapHead *object = heap_new(HEAP_GENERATOR, bytes, false);
    if (object) *(GeneratorBody *)heap_content(object) = (GeneratorBody){.exception_bytes = exception_bytes};
    return object;
}

typedef void Resume(void *frame);

static GeneratorNext run(GeneratorBody *body, void *exception) {
    Resume *const *frame = body->frame;
    body->exception = exception;
    body->status = 0;
    body->state = GENERATOR_RUNS;
    body->started = 1;
    (*frame)(body->frame);
    if (body->state == GENERATOR_WAITS) return GENERATOR_NEXT_ITEM;
    return body->status ? GENERATOR_NEXT_RAISED : GENERATOR_NEXT_NONE;
}

int32_t krait_heap_generator_next(HeapHead *object, void *exception) {
    GeneratorBody *body = heap_content(object);
    if (body->state == GENERATOR_ENDED || body->state == GENERATOR_RETURNED) return GENERATOR_NEXT_NONE;
    return body->state == GENERATOR_RUNS ? GENERATOR_NEXT_BUSY : run(body, exception);
}

static GeneratorNext close_generator(HeapHead *object, void *exception, GeneratorClosing why) {
    GeneratorBody *body = heap_content(object);
    if (body->state == GENERATOR_ENDED) return GENERATOR_NEXT_NONE;
    if (body->state == GENERATOR_RETURNED && why == GENERATOR_CLOSED) return GENERATOR_NEXT_NONE;
    if (body->state == GENERATOR_RUNS) return GENERATOR_NEXT_BUSY;
    body->closing = why;
    GeneratorNext next = run(body, exception);
    body->state = GENERATOR_ENDED;
    return next;
}

int32_t krait_heap_generator_close(HeapHead *object, void *exception) {
    return close_generator(object, exception, GENERATOR_CLOSED);
}

/* Functions that call themselves look at the buffer's first words: how deep the stack may go, and how many calls are
 * left before they look for signals. */
void heap_generator_drop(HeapHead *object) {
    enum { FEW = 1024 };
    _Alignas(16) char few[FEW];
    const GeneratorBody *body = heap_content(object);
    size_t bytes = (size_t)body->exception_bytes + GENERATOR_BUFFER_BYTES;
    char *buffer = bytes <= sizeof few ? few : malloc(bytes);
    if (!buffer) return;
    memset(buffer, 0, GENERATOR_BUFFER_BYTES);
    ((int64_t *)(void *)buffer)[1] = INT64_MAX;
    close_generator(object, buffer, GENERATOR_GIVEN_UP);
    if (buffer != few) free(buffer);
}
