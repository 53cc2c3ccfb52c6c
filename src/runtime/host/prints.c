/* prints.c: what the threads of a kernel print on the host device.
 *
 * In: the number of a print in the code, and its values.  Out: the prints one behind the other, those of a thread in
 * its order, as a GPU leaves them in the memory of the kernel's module; the launch has them printed when it is over. */
#include "runtime/host/host.h"

#include <stdlib.h> /* realloc */
#include <string.h> /* memcpy */

enum { UNIT = 8 };

void host_prints_init(HostPrints *prints) { *prints = (HostPrints){.lock = PTHREAD_MUTEX_INITIALIZER}; }

void host_prints_take(HostPrints *prints, char **bytes, size_t *used, bool *lost) {
    *bytes = prints->bytes;
    *used = prints->used;
    *lost = prints->lost;
    pthread_mutex_destroy(&prints->lock);
}

static bool make_room(HostPrints *prints, size_t more) {
    enum { LEAST = 4096 };
    if (prints->room - prints->used >= more) return true;
    size_t room = prints->room ? 2 * prints->room : LEAST;
    while (room - prints->used < more) room *= 2;
    char *bytes = realloc(prints->bytes, room);
    if (!bytes) return false;
    prints->bytes = bytes;
    prints->room = room;
    return true;
}

void krait_host_print(HostPrints *prints, int32_t site, const void *values, int32_t bytes) {
    PrintHead head = {site, (bytes + UNIT - 1) / UNIT * UNIT};
    size_t size = sizeof head + (size_t)head.bytes;
    pthread_mutex_lock(&prints->lock);
    if (make_room(prints, size)) {
        char *place = prints->bytes + prints->used;
        memcpy(place, &head, sizeof head);
        memset(place + sizeof head, 0, (size_t)head.bytes);
        memcpy(place + sizeof head, values, (size_t)bytes);
        prints->used += size;
    } else {
        prints->lost = true;
    }
    pthread_mutex_unlock(&prints->lock);
}
