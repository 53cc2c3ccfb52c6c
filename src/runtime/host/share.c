/* share.c: memory of the host device that other processes open: a file of the system's shared memory.
 *
 * The name goes with the owner, the memory with the last process that has it open.  The owner, and what it forks, hold
 * a lock on the file: a file without one was left by a process that was killed, and goes when others are made.  A
 * process knows itself what it has mapped: the file holds elements alone. */
#include <dirent.h>    /* opendir */
#include <errno.h>     /* EINTR */
#include <fcntl.h>     /* open */
#include <pthread.h>   /* pthread_mutex_t */
#include <stdatomic.h> /* atomic_fetch_add */
#include <stdio.h>     /* snprintf */
#include <stdlib.h>    /* malloc */
#include <string.h>    /* memcpy */
#include <sys/file.h>  /* flock */
#include <sys/mman.h>  /* mmap */
#include <sys/stat.h>  /* fstat */
#include <unistd.h>    /* ftruncate */

#include "base/base.h" /* clock_nanoseconds */
#include "runtime/host/host.h"

#define FOLDER "/dev/shm/"

enum { PATH_BYTES = 128, MADE_BETWEEN_SWEEPS = 64 };

/* What this process has mapped. */
typedef struct Mapped {
    struct Mapped *next;
    void *memory;
    size_t bytes;
    int file; /* of the owner, locked; -1: another process's */
    pid_t owner;
    char name[DEVICE_NAME_BYTES];
} Mapped;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Mapped *all; /* the system's names belong to the process */

static void take_lock(void) { pthread_mutex_lock(&lock); }
static void give_lock(void) { pthread_mutex_unlock(&lock); }
__attribute__((constructor(1000))) static void install_fork_handlers(void) {
    pthread_atfork(take_lock, give_lock, give_lock);
}

static bool path_of(const char *name, char *path) {
    bool plain = strncmp(name, "krait-", 6) == 0 && memchr(name, 0, DEVICE_NAME_BYTES) && !strchr(name, '/');
    return plain && snprintf(path, PATH_BYTES, FOLDER "%s", name) < PATH_BYTES;
}

static void forget_name(const Mapped *mapped) {
    char path[PATH_BYTES];
    if (mapped->file >= 0 && mapped->owner == getpid() && path_of(mapped->name, path)) unlink(path);
}

__attribute__((destructor)) static void forget_names(void) {
    for (const Mapped *at = all; at; at = at->next) forget_name(at);
}

void host_share_forget(void) {
    take_lock();
    forget_names();
    give_lock();
}

/* The file's memory, noted; the file stays the caller's.  NULL: no memory. */
static Mapped *map(int file, size_t bytes, const char *name) {
    Mapped *mapped = malloc(sizeof *mapped);
    void *start = mapped ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (start == MAP_FAILED) return free(mapped), NULL;
    *mapped = (Mapped){.memory = start, .bytes = bytes, .file = -1};
    memcpy(mapped->name, name, sizeof mapped->name);
    take_lock();
    mapped->next = all;
    all = mapped;
    give_lock();
    return mapped;
}

/* ---- what was left ---- */

static bool is_ours(int file, struct stat *status) {
    return fstat(file, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == geteuid();
}

/* As host_share_allocate names them, and nobody else. */
static bool is_made_here(const char *name) {
    long process;
    unsigned serial;
    unsigned long long made;
    int length = 0;
    return sscanf(name, "krait-%ld-%u-%llx%n", &process, &serial, &made, &length) == 3 && !name[length];
}

static void sweep(void) {
    DIR *folder = opendir(FOLDER);
    char path[PATH_BYTES], name[DEVICE_NAME_BYTES];
    struct stat status;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name) + 1;
        if (length > sizeof name || !is_made_here(entry->d_name)) continue;
        memcpy(name, entry->d_name, length);
        if (!path_of(name, path)) continue;
        int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        if (is_ours(file, &status) && flock(file, LOCK_EX | LOCK_NB) == 0) unlink(path);
        close(file);
    }
    if (folder) closedir(folder);
}

/* A sweep reads the whole folder: often at first, then for each 64th file. */
static void sweep_now_and_then(void) {
    static _Atomic unsigned made;
    unsigned number = atomic_fetch_add(&made, 1);
    if ((number & (number - 1)) == 0 || number % MADE_BETWEEN_SWEEPS == 0) sweep();
}

/* ---- DeviceOps.share_... ---- */

/* A signal is no failure. */
static bool lock_file(int file) {
    int status;
    while ((status = flock(file, LOCK_EX)) < 0 && errno == EINTR) continue;
    return status == 0;
}

/* Sets errno. */
static bool make_room(int file, size_t bytes) {
    while ((errno = posix_fallocate(file, 0, (off_t)bytes)) == EINTR) continue;
    return errno == 0;
}

/* What errno says, as a status. */
static int system_status(void) {
    return errno == ENOMEM || errno == ENOSPC ? HOST_NO_MEMORY : HOST_SYSTEM | errno << HOST_ERRNO_SHIFT;
}

/* A locked file of a name that nobody has, -1: none (errno).  Another process may sweep it before it is locked: then
 * there is another. */
static int make_file(char name[DEVICE_NAME_BYTES], char path[PATH_BYTES]) {
    static _Atomic unsigned serial;
    struct stat status;
    for (;;) {
        memset(name, 0, DEVICE_NAME_BYTES);
        snprintf(name, DEVICE_NAME_BYTES, "krait-%ld-%u-%llx", (long)getpid(), atomic_fetch_add(&serial, 1),
                 (unsigned long long)clock_nanoseconds());
        path_of(name, path);
        int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file < 0) return -1;
        bool locked = lock_file(file);
        int error = errno;
        if (locked && fstat(file, &status) == 0 && status.st_nlink > 0) return file;
        unlink(path);
        close(file);
        errno = error;
        if (!locked) return -1;
    }
}

int host_share_allocate(Device *device, size_t bytes, void **memory) {
    char name[DEVICE_NAME_BYTES], path[PATH_BYTES];
    (void)device;
    if (!bytes) bytes = 1;
    sweep_now_and_then();
    int file = make_file(name, path);
    if (file < 0) return system_status();
    /* room is made now: a signal would come at the first use of what is not there */
    Mapped *mapped = make_room(file, bytes) ? map(file, bytes, name) : NULL;
    if (!mapped) {
        int failed = system_status();
        unlink(path);
        close(file);
        return failed;
    }
    mapped->owner = getpid();
    mapped->file = file;
    *memory = mapped->memory;
    return 0;
}

/* Where the list refers to it, or the list's end; under the lock. */
static Mapped **place_of(const void *memory) {
    Mapped **at = &all;
    while (*at && (*at)->memory != memory) at = &(*at)->next;
    return at;
}

int host_share_close(Device *device, void *memory) {
    (void)device;
    take_lock();
    Mapped **at = place_of(memory), *mapped = *at;
    if (mapped) *at = mapped->next;
    give_lock();
    if (!mapped) return HOST_NOT_THERE;
    forget_name(mapped);
    munmap(memory, mapped->bytes);
    if (mapped->file >= 0) close(mapped->file);
    free(mapped);
    return 0;
}

int host_share_release(Device *device, void *memory) { return host_share_close(device, memory); }

int host_share_name(Device *device, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset) {
    (void)device;
    take_lock();
    const Mapped *mapped = *place_of(memory);
    if (mapped) memcpy(name, mapped->name, DEVICE_NAME_BYTES);
    give_lock();
    *offset = 0;
    return mapped ? 0 : HOST_NOT_THERE;
}

int host_share_open(Device *device, const unsigned char name[DEVICE_NAME_BYTES], void **memory, size_t *bytes) {
    char path[PATH_BYTES];
    struct stat status;
    (void)device;
    if (!path_of((const char *)name, path)) return HOST_NOT_THERE;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return errno == ENOENT || errno == ELOOP ? HOST_NOT_THERE : system_status();
    bool whole = is_ours(file, &status) && status.st_size > 0;
    Mapped *mapped = whole ? map(file, (size_t)status.st_size, (const char *)name) : NULL;
    int failed = whole ? system_status() : HOST_NOT_THERE;
    close(file);
    if (!mapped) return failed;
    *memory = mapped->memory;
    *bytes = mapped->bytes;
    return 0;
}
