/* cache.c: the disk cache: one file for each piece of machine code, and no index.
 *
 * In: a key (cache.h) and a CodeImage.  Out: a file, or the image of one.
 *
 * A file is written under a name of its own and renamed when it is whole, so that any number of processes may fill
 * one folder without a lock; whoever dies leaves a file that nobody reads, removed when it is old.  An entry says how
 * long it is and carries a digest of itself: what is cut short, changed or from elsewhere is removed and counts as
 * missing.  The folder and its files belong to the user and can be written by nobody else, or there is no cache.  When
 * the files take more than the limit, those that were used longest ago go.
 *
 *   magic, version | key | stack bytes, label length, image size | digest | label | image      (numbers: native order)
 *
 * No GIL is needed.  Errors of the file system are never the user's errors: code is compiled, as without a cache. */
#include "driver/cache.h"

#include <dirent.h>           /* opendir */
#include <errno.h>            /* errno, EINTR, ELOOP */
#include <fcntl.h>            /* open */
#include <gnu/libc-version.h> /* gnu_get_libc_version */
#include <link.h>             /* dl_iterate_phdr */
#include <stdatomic.h>        /* atomic_fetch_add */
#include <stdio.h>            /* snprintf */
#include <stdlib.h>           /* getenv, qsort */
#include <string.h>           /* memcmp */
#include <sys/stat.h>         /* fstat */
#include <time.h>             /* time */
#include <unistd.h>           /* write, unlink */

enum {
    PATH_BYTES = 4096,
    CACHE_VERSION = 1,
    STALE_SECONDS = 3600,      /* a file that is still being written after so long belongs to nobody */
    STORES_BETWEEN_LOOKS = 32, /* at the size of the folder */
    DEFAULT_LIMIT = 512 << 20,
    MOST_IMAGE = 256 << 20
};

static const char magic[8] = {'K', 'R', 'A', 'I', 'T', 'I', 'M', 'G'}, suffix[] = ".krait", writing[] = ".part";

typedef struct Header {
    char magic[8];
    uint64_t version;
    CacheKey key;
    uint64_t stack_bytes, label_bytes, image_bytes;
    unsigned char digest[SHA256_BYTES]; /* of all that stands before and after it */
} Header;
_Static_assert(sizeof(Header) == 104, "no gaps: python -m krait cache reads it too");

/* ---- the folder ---- */

static bool is_private(const struct stat *status, mode_t kind) {
    return (status->st_mode & S_IFMT) == kind && status->st_uid == geteuid() && (status->st_mode & 022) == 0;
}

/* The folders on the way, too: ~/.cache itself may not be there. */
static void make_folders(char *path) {
    if (mkdir(path, 0700) == 0 || errno != ENOENT) return;
    for (char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end = 0;
        mkdir(path, 0700);
        *end = '/';
    }
    mkdir(path, 0700);
}

bool cache_wanted(const Config *config) {
    const char *all = getenv("KRAIT_CACHE");
    return config->cache || (all && strcmp(all, "1") == 0);
}

/* KRAIT_CACHE_DIR, where no shell may have seen to its ~, else krait in the user's folder of caches. */
static bool folder_name(char path[PATH_BYTES]) {
    const char *own = getenv("KRAIT_CACHE_DIR"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *off = getenv("KRAIT_CACHE");
    int length = -1;
    if (off && strcmp(off, "0") == 0) return false;
    if (own && strncmp(own, "~/", 2) == 0 && home && *home == '/')
        length = snprintf(path, PATH_BYTES, "%s%s", home, own + 1);
    else if (own && *own)
        length = snprintf(path, PATH_BYTES, "%s", own);
    else if (caches && *caches == '/')
        length = snprintf(path, PATH_BYTES, "%s/krait", caches);
    else if (home && *home == '/')
        length = snprintf(path, PATH_BYTES, "%s/.cache/krait", home);
    return length > 0 && length < PATH_BYTES - 128;
}

/* An open folder, made if need be; -1: none, or none that is private. */
static int open_folder(char path[PATH_BYTES], bool make) {
    struct stat status;
    if (!folder_name(path)) return -1;
    if (make) make_folders(path);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && fstat(folder, &status) == 0 && is_private(&status, S_IFDIR)) return folder;
    if (folder >= 0) close(folder);
    return -1;
}

bool driver_cache_folder(char *path, size_t size) {
    char full[PATH_BYTES];
    bool found = folder_name(full) && strlen(full) < size;
    if (found) memcpy(path, full, strlen(full) + 1);
    return found;
}

bool driver_cache_trouble(char *text, size_t size) {
    char path[PATH_BYTES];
    struct stat status;
    if (!folder_name(path)) return false;
    if (stat(path, &status) < 0) {
        if (errno == ENOENT) return false; /* it is made when something is stored */
        snprintf(text, size, "it cannot be read: %s", strerror(errno));
    } else if (!S_ISDIR(status.st_mode)) {
        snprintf(text, size, "it is no folder");
    } else if (status.st_uid != geteuid()) {
        snprintf(text, size, "it is another user's");
    } else if (status.st_mode & 022) {
        snprintf(text, size, "others may write to it (mode %o): chmod go-w makes it serve", status.st_mode & 0777u);
    } else {
        return false;
    }
    return true;
}

static void entry_name(const CacheKey *key, char name[2 * SHA256_BYTES + sizeof suffix]) {
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(name + 2 * i, 3, "%02x", key->bytes[i]);
    memcpy(name + 2 * SHA256_BYTES, suffix, sizeof suffix);
}

/* ---- the key ---- */

typedef struct BuildId {
    uintptr_t inside; /* an address in this library */
    Sha256 *hash;
    bool found;
} BuildId;

/* What the linker says of the library's contents. */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *context) {
    BuildId *id = context;
    bool here = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        here |= segment->p_type == PT_LOAD && id->inside >= start && id->inside < start + segment->p_memsz;
    }
    for (int i = 0; here && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE) continue;
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
            const char *name = at + sizeof *note, *data = name + ((note->n_namesz + 3u) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                sha256_add(id->hash, data, note->n_descsz);
                id->found = true;
            }
            at = data + ((note->n_descsz + 3u) & ~3u);
        }
    }
    return here;
}

static bool add_build(Sha256 *hash) {
    BuildId id = {.inside = (uintptr_t)&magic, .hash = hash};
    dl_iterate_phdr(find_build_id, &id);
    return id.found;
}

static void add_text(Sha256 *hash, const char *text) { sha256_add(hash, text, strlen(text) + 1); }

bool cache_key(CacheKey *key, const Config *config, const char *module_text, Arena *arena) {
    char path[PATH_BYTES];
    Sha256 hash;
    if (!folder_name(path)) return false;
    sha256_init(&hash);
    if (!add_build(&hash)) return false;
    config_digest(&hash, arena, config);
    if (config->target == TARGET_HOST) {
        add_text(&hash, codegen_cpu_name());
        add_text(&hash, codegen_cpu_features());
        add_text(&hash, gnu_get_libc_version()); /* libmvec's functions */
    }
    add_text(&hash, module_text);
    sha256_end(&hash, key->bytes);
    return true;
}

/* ---- reading ---- */

static bool read_all(int file, char *to, size_t size) {
    while (size) {
        ssize_t part = read(file, to, size);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) return false;
        to += part, size -= (size_t)part;
    }
    return true;
}

static void digest_of(const Header *header, const char *rest, unsigned char digest[SHA256_BYTES]) {
    Sha256 hash;
    sha256_init(&hash);
    sha256_add(&hash, header, offsetof(Header, digest));
    sha256_add(&hash, rest, header->label_bytes + header->image_bytes);
    sha256_end(&hash, digest);
}

static bool is_whole(const Header *header, const CacheKey *key, uint64_t size) {
    return memcmp(header->magic, magic, sizeof magic) == 0 && header->version == CACHE_VERSION &&
           memcmp(&header->key, key, sizeof *key) == 0 && header->image_bytes <= MOST_IMAGE &&
           header->label_bytes <= PATH_BYTES && size == sizeof *header + header->label_bytes + header->image_bytes;
}

/* `rest` has room for `size` bytes.  *broken: it was read, and is no entry; what could not be read may be one. */
static bool read_entry(int file, const CacheKey *key, char *rest, size_t size, CodeImage *image, bool *broken) {
    struct stat status;
    Header header;
    unsigned char digest[SHA256_BYTES];
    if (fstat(file, &status) < 0 || (uint64_t)status.st_size != size) return false; /* another one by now */
    *broken = !is_private(&status, S_IFREG) || size < sizeof header;
    if (*broken || !read_all(file, (char *)&header, sizeof header)) return false;
    *broken = !is_whole(&header, key, size);
    if (*broken || !read_all(file, rest, header.label_bytes + header.image_bytes)) return false;
    digest_of(&header, rest, digest);
    *broken = memcmp(digest, header.digest, sizeof digest) != 0;
    if (*broken) return false;
    *image = (CodeImage){rest + header.label_bytes, header.image_bytes, header.stack_bytes};
    return true;
}

/* Nothing is open while memory is asked for: the arena may jump. */
bool cache_load(const CacheKey *key, Arena *arena, CodeImage *image) {
    char path[PATH_BYTES], name[2 * SHA256_BYTES + sizeof suffix];
    struct stat status;
    entry_name(key, name);
    if (!folder_name(path)) return false;
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s", name);
    if (stat(path, &status) < 0 || status.st_size < 0 || status.st_size > MOST_IMAGE) return false;
    size_t size = (size_t)status.st_size;
    char *rest = arena_alloc(arena, size + 1);
    int folder = open_folder(path, false);
    if (folder < 0) return false;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool broken = file < 0 && errno == ELOOP; /* a link */
    bool found = file >= 0 && read_entry(file, key, rest, size, image, &broken);
    if (found)
        futimens(file, NULL); /* used now */
    else if (broken)
        unlinkat(folder, name, 0);
    if (file >= 0) close(file);
    close(folder);
    return found;
}

/* ---- keeping the folder small ---- */

typedef struct Found {
    char name[2 * SHA256_BYTES + sizeof suffix];
    time_t used;
    off_t size;
} Found;

static int by_use(const void *a, const void *b) {
    time_t x = ((const Found *)a)->used, y = ((const Found *)b)->used;
    return x < y ? -1 : x > y;
}

/* The folder may be one that other files lie in, too: only names as entry_name and cache_store make them are ours. */
static bool is_entry_name(const char *name) {
    return strspn(name, "0123456789abcdef") == (size_t)2 * SHA256_BYTES &&
           strcmp(name + (size_t)2 * SHA256_BYTES, suffix) == 0;
}

static bool is_part_name(const char *name) {
    static const char *const digits[] = {"0123456789", "0123456789", "0123456789abcdef"};
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        size_t length = strspn(name, digits[i]);
        if (!length || (i > 0 && name[-1] != '-')) return false;
        name += length + (name[length] == '-');
    }
    return strcmp(name, writing) == 0;
}

static off_t size_limit(void) {
    const char *text = getenv("KRAIT_CACHE_SIZE"); /* in MiB */
    long long megabytes = text ? strtoll(text, NULL, 10) : 0;
    return megabytes > 0 && megabytes < 1 << 20 ? (off_t)megabytes << 20 : DEFAULT_LIMIT;
}

/* Entries, and old files of writers that are gone are removed on the way. */
static Found *list_entries(DIR *stream, int folder, size_t *count, off_t *total) {
    Found *list = NULL;
    size_t room = 0;
    time_t now = time(NULL);
    struct stat status;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        bool part = is_part_name(entry->d_name), ours = is_entry_name(entry->d_name);
        if ((!part && !ours) || fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) continue;
        if (part && now - status.st_mtime > STALE_SECONDS) unlinkat(folder, entry->d_name, 0);
        if (!ours) continue;
        if (*count == room) {
            Found *grown = realloc(list, (room = 2 * room + 64) * sizeof *list);
            if (!grown) break;
            list = grown;
        }
        Found *found = &list[(*count)++];
        memcpy(found->name, entry->d_name, sizeof found->name);
        found->used = status.st_mtime;
        found->size = status.st_size;
        *total += status.st_size;
    }
    return list;
}

/* To nine tenths of the limit, what was used longest ago first. */
static void make_room(int folder, off_t limit) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    size_t count = 0;
    off_t total = 0;
    if (!stream) {
        if (again >= 0) close(again);
        return;
    }
    Found *list = list_entries(stream, folder, &count, &total);
    if (total > limit) {
        qsort(list, count, sizeof *list, by_use);
        for (size_t i = 0; i < count && total > limit / 10 * 9; i++)
            if (unlinkat(folder, list[i].name, 0) == 0) total -= list[i].size;
    }
    free(list);
    closedir(stream);
}

/* ---- writing ---- */

static bool write_all(int file, const char *from, size_t size) {
    while (size) {
        ssize_t part = write(file, from, size);
        if (part <= 0) return false;
        from += part, size -= (size_t)part;
    }
    return true;
}

static bool write_entry(int file, const CacheKey *key, const CodeImage *image, const char *label) {
    Header header = {.version = CACHE_VERSION,
                     .key = *key,
                     .stack_bytes = image->stack_bytes,
                     .label_bytes = strlen(label),
                     .image_bytes = image->size};
    Sha256 hash;
    if (header.label_bytes > PATH_BYTES) header.label_bytes = PATH_BYTES;
    memcpy(header.magic, magic, sizeof magic);
    sha256_init(&hash);
    sha256_add(&hash, &header, offsetof(Header, digest));
    sha256_add(&hash, label, header.label_bytes);
    sha256_add(&hash, image->bytes, image->size);
    sha256_end(&hash, header.digest);
    return write_all(file, (const char *)&header, sizeof header) && write_all(file, label, header.label_bytes) &&
           write_all(file, image->bytes, image->size);
}

void cache_store(const CacheKey *key, const CodeImage *image, const char *label) {
    static _Atomic unsigned serial; /* of files of this process */
    char path[PATH_BYTES], name[2 * SHA256_BYTES + sizeof suffix], part[64];
    int folder = image->size > MOST_IMAGE ? -1 : open_folder(path, true);
    if (folder < 0) return;
    unsigned number = atomic_fetch_add(&serial, 1);
    snprintf(part, sizeof part, "%ld-%u-%llx%s", (long)getpid(), number, (unsigned long long)clock_nanoseconds(),
             writing);
    entry_name(key, name);
    int file = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = file >= 0 && write_entry(file, key, image, label);
    if (file >= 0) written = close(file) == 0 && written;
    if (file >= 0 && (!written || renameat(folder, part, folder, name) < 0)) unlinkat(folder, part, 0);
    if (number % STORES_BETWEEN_LOOKS == 0) make_room(folder, size_limit());
    close(folder);
}
