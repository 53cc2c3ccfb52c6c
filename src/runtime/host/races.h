/* races.h: data races between the threads of a launch; private to runtime/host. */
#ifndef KRAIT_RUNTIME_HOST_RACES_H
#define KRAIT_RUNTIME_HOST_RACES_H

#include "runtime/host/host.h" /* HostThread, RaceReport */

/* What is remembered of a launch's accesses.  It runs on one core. */
typedef struct RaceWatch RaceWatch;
RaceWatch *race_watch_new(int64_t blocks, int64_t threads, size_t shared_bytes); /* NULL: no memory */
void race_watch_end(RaceWatch *watch, LaunchReport *report); /* fills raced, unwatched and race; frees it */
/* Whether memory is a local variable of some thread of the block (fibers.c). */
bool fiber_is_private(const HostThread *thread, const void *address);

#endif
