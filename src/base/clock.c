/* clock.c: the one clock that stages are timed with. */
#include "base/base.h"

#include <time.h> /* clock_gettime */

int64_t clock_nanoseconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
