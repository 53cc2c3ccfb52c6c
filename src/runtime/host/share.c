/* share.c: memory of the host device that other processes open: a file of the system's shared memory.
 *
 * The first page says how the file is named and how much is mapped; what is shared begins behind it.  The name goes
 * with the owner, the memory with the last process that has it open. */
#include <fcntl.h>     /* open */
#include <stdatomic.h> /* atomic_fetch_add */
#include <stdio.h>     /* snprintf */
#include <string.h>    /* memcpy */
#include <sys/mman.h>  /* mmap */
#include <sys/stat.h>  /* fstat */
#include <unistd.h>    /* ftruncate */

#include "base/base.h" /* clock_nanoseconds */
#include "runtime/host/host.h"

enum { HEAD_BYTES = 4096 };

typedef struct Head {
    char name[DEVICE_NAME_BYTES];
    size_t mapped;
} Head;

static Head *head_of(const void *memory) { return (Head *)((char *)memory - HEAD_BYTES); }

static bool path_of(const char *name, char *path, size_t size) {
    bool plain = strncmp(name, "krait-", 6) == 0 && memchr(name, 0, DEVICE_NAME_BYTES) && !strchr(name, '/');
    return plain && snprintf(path, size, "/dev/shm/%s", name) < (int)size;
}

static void *map(int file, size_t bytes) {
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return start == MAP_FAILED ? NULL : start;
}

int host_share_allocate(Device *device, size_t bytes, void **memory) {
    static _Atomic unsigned serial;
    char name[DEVICE_NAME_BYTES] = "", path[128];
    (void)device;
    snprintf(name, sizeof name, "krait-%ld-%u-%llx", (long)getpid(), atomic_fetch_add(&serial, 1),
             (unsigned long long)clock_nanoseconds());
    path_of(name, path, sizeof path);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return HOST_NO_MEMORY;
    size_t mapped = bytes + HEAD_BYTES;
    /* room now, and not a signal at the first use of what is not there */
    Head *head = posix_fallocate(file, 0, (off_t)mapped) == 0 ? map(file, mapped) : NULL;
    close(file);
    if (!head) {
        unlink(path);
        return HOST_NO_MEMORY;
    }
    memcpy(head->name, name, sizeof name);
    head->mapped = mapped;
    *memory = (char *)head + HEAD_BYTES;
    return 0;
}

int host_share_close(Device *device, void *memory) {
    (void)device;
    munmap(head_of(memory), head_of(memory)->mapped);
    return 0;
}

int host_share_release(Device *device, void *memory) {
    char path[128];
    if (path_of(head_of(memory)->name, path, sizeof path)) unlink(path);
    return host_share_close(device, memory);
}

int host_share_name(Device *device, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset) {
    (void)device;
    memcpy(name, head_of(memory)->name, DEVICE_NAME_BYTES);
    *offset = 0;
    return 0;
}

int host_share_open(Device *device, const unsigned char name[DEVICE_NAME_BYTES], void **memory) {
    char path[128];
    struct stat status;
    (void)device;
    if (!path_of((const char *)name, path, sizeof path)) return HOST_NOT_THERE;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return HOST_NOT_THERE;
    bool whole = fstat(file, &status) == 0 && status.st_size >= HEAD_BYTES;
    Head *head = whole ? map(file, (size_t)status.st_size) : NULL;
    close(file);
    if (!head) return whole ? HOST_NO_MEMORY : HOST_NOT_THERE;
    *memory = (char *)head + HEAD_BYTES;
    return 0;
}
