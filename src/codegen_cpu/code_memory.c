/* code_memory.c: where machine code lies.
 *
 * In: an object file, before it is linked; then the linker's questions for each of its sections.  Out: memory, which
 * runs when the object is linked and is free again when its code is dropped.
 *
 * A mapping of its own for each function, as LLVM's managers make them, or two (code, and the constants that it reads),
 * ends a process that has compiled thirty thousand: Linux allows 65,530 mappings, and whoever asks for memory next is
 * refused.  So code lies in slabs:
 *
 *   | code and constants of many objects, whole pages each |  | what code may write, likewise |
 *
 * Pages of the first half are written, then run, never both: they are writable while an object is linked there.  All
 * others that were ever used have one protection, so that the system keeps them as one mapping, whatever is dropped
 * between them: free pages keep it, too, and are emptied.
 *
 * The linker ends the process where it gets no memory (RuntimeDyld), hence all that an object may need is set aside
 * before, by its headers; what it did not take is given back when it is finished.  The sections of an object lie in one
 * slab, which is smaller than the reach of an address relative to code.
 *
 * Everything here is under the lock of the linker (orc.c), whose slabs they are. */
#include <elf.h>      /* Elf64_Ehdr */
#include <stdlib.h>   /* calloc */
#include <string.h>   /* memcpy */
#include <sys/mman.h> /* mmap */
#include <unistd.h>   /* sysconf */

#include "codegen_cpu/cpu.h"

enum {
    SLAB_CODE = 4 << 20, /* bytes; an object that is larger gets a slab of its own */
    SLAB_DATA = 1 << 20,
    RELOCATION_BYTES = 48, /* most that one may cost: a jump to where an address lies, and the address */
    SECTION_BYTES = 64,    /* behind a section: LLVM aligns the jumps that it adds there */
};

typedef struct Half { /* of a slab: pages */
    char *start;
    size_t pages, free; /* free: of them */
    size_t hint;        /* no page before it is free */
    unsigned char *taken;
} Half;

struct CodeSlab {
    CodeSlab *next;
    Half code, data;
    size_t mapped;
    unsigned char taken[]; /* of both halves */
};

typedef struct Run { /* pages of a half, and how many bytes of them are given out */
    Half *half;
    size_t first, pages, used;
} Run;

/* Of one object: what the linker calls back with. */
struct CodeMemory {
    CodeSlab **slabs, *slab; /* all, and the one that it lies in */
    Run code, data;
    bool runs; /* its pages are not written any more */
};

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t pages_for(size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes(); }

/* ---- what an object may need ---- */

typedef struct Need {
    size_t code, data; /* bytes */
} Need;

/* The sections that are loaded, room to align each, and for the jumps and addresses that the linker adds. */
static bool measure(const void *bytes, size_t size, Need *need) {
    const char *object = bytes;
    Elf64_Ehdr head;
    if (size < sizeof head) return false;
    memcpy(&head, object, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(Elf64_Shdr)) return false;
    if (head.e_shoff > size || head.e_shnum > (size - head.e_shoff) / sizeof(Elf64_Shdr)) return false;
    *need = (Need){0, 0};
    for (size_t i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, object + head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_RELA) need->code += section.sh_size / sizeof(Elf64_Rela) * RELOCATION_BYTES;
        if (!(section.sh_flags & SHF_ALLOC)) continue;
        size_t *half = section.sh_flags & SHF_WRITE ? &need->data : &need->code;
        *half += section.sh_size + section.sh_addralign + SECTION_BYTES;
    }
    return true;
}

/* ---- slabs ---- */

static CodeSlab *slab_new(CodeSlab **slabs, size_t code_pages, size_t data_pages) {
    size_t pages = code_pages + data_pages, bytes = pages * page_bytes();
    CodeSlab *slab = calloc(1, sizeof *slab + pages);
    char *memory = slab ? mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) return free(slab), NULL;
    char *data = memory + code_pages * page_bytes();
    if (mprotect(data, data_pages * page_bytes(), PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, bytes);
        return free(slab), NULL;
    }
    slab->mapped = bytes;
    slab->code = (Half){memory, code_pages, code_pages, 0, slab->taken};
    slab->data = (Half){data, data_pages, data_pages, 0, slab->taken + code_pages};
    slab->next = *slabs;
    *slabs = slab;
    return slab;
}

/* One that is empty is kept, for what is compiled next. */
static void slab_drop_if_empty(CodeSlab **slabs, CodeSlab *slab) {
    bool empty = slab->code.free == slab->code.pages && slab->data.free == slab->data.pages;
    if (!empty || (slab == *slabs && !slab->next)) return;
    CodeSlab **link = slabs;
    while (*link != slab) link = &(*link)->next;
    *link = slab->next;
    munmap(slab->code.start, slab->mapped);
    free(slab);
}

/* The first free pages in a row; false: there are not so many. */
static bool run_take(Half *half, size_t pages, Run *run) {
    *run = (Run){half, 0, pages, 0};
    if (half->free < pages) return false;
    while (half->hint < half->pages && half->taken[half->hint]) half->hint++;
    size_t first = half->hint, count = 0;
    while (count < pages && first + count < half->pages) {
        if (half->taken[first + count])
            first += count + 1, count = 0;
        else
            count++;
    }
    if (count < pages) return false;
    memset(half->taken + first, 1, pages);
    half->free -= pages;
    run->first = first;
    return true;
}

/* The last `pages` of a run are free again. */
static void run_shorten(Run *run, size_t pages) {
    if (!pages) return;
    size_t first = run->first + run->pages - pages;
    memset(run->half->taken + first, 0, pages);
    run->half->free += pages;
    run->pages -= pages;
    if (first < run->half->hint) run->half->hint = first;
}

static char *run_start(const Run *run) { return run->half->start + run->first * page_bytes(); }

static size_t run_bytes(const Run *run) { return run->pages * page_bytes(); }

static bool let_run(const Run *run) { return mprotect(run_start(run), run_bytes(run), PROT_READ | PROT_EXEC) == 0; }

static bool take_of(CodeSlab *slab, size_t code, size_t data, CodeMemory *memory) {
    memory->slab = slab;
    if (!run_take(&slab->code, code, &memory->code)) return false;
    if (run_take(&slab->data, data, &memory->data)) return true;
    run_shorten(&memory->code, code);
    return false;
}

/* ---- the door ---- */

CodeMemory *code_memory_take(CodeSlab **slabs, const void *object, size_t size) {
    Need need;
    CodeMemory *memory = measure(object, size, &need) ? calloc(1, sizeof *memory) : NULL;
    if (!memory) return NULL;
    memory->slabs = slabs;
    size_t code = pages_for(need.code), data = pages_for(need.data);
    bool found = false;
    for (CodeSlab *slab = *slabs; slab && !found; slab = slab->next) found = take_of(slab, code, data, memory);
    if (!found) {
        size_t usual = pages_for(SLAB_CODE), beside = pages_for(SLAB_DATA);
        CodeSlab *slab = slab_new(slabs, code > usual ? code : usual, data > beside ? data : beside);
        found = slab && take_of(slab, code, data, memory);
    }
    if (found && mprotect(run_start(&memory->code), run_bytes(&memory->code), PROT_READ | PROT_WRITE) == 0)
        return memory;
    if (found)
        code_memory_free(memory);
    else
        free(memory);
    return NULL;
}

void code_memory_free(void *self) {
    CodeMemory *memory = self;
    CodeSlab **slabs = memory->slabs, *slab = memory->slab;
    madvise(run_start(&memory->code), run_bytes(&memory->code), MADV_DONTNEED);
    madvise(run_start(&memory->data), run_bytes(&memory->data), MADV_DONTNEED);
    if (!memory->runs) let_run(&memory->code);
    run_shorten(&memory->code, memory->code.pages);
    run_shorten(&memory->data, memory->data.pages);
    free(memory);
    slab_drop_if_empty(slabs, slab);
}

static uint8_t *give(Run *run, size_t size, size_t alignment) {
    uintptr_t start = (uintptr_t)run_start(run), at = start + run->used;
    if (alignment) at = (at + alignment - 1) / alignment * alignment;
    if (at + size > start + run_bytes(run)) return NULL; /* cannot be: measure() */
    run->used = at + size - start;
    return (uint8_t *)at;
}

uint8_t *code_memory_section(void *self, uintptr_t size, unsigned alignment, unsigned number, const char *name) {
    (void)number, (void)name;
    return give(&((CodeMemory *)self)->code, size, alignment);
}

uint8_t *code_memory_data(void *self, uintptr_t size, unsigned alignment, unsigned number, const char *name,
                          int readonly) {
    CodeMemory *memory = self;
    (void)number;
    bool made_by_linker = strcmp(name, ".got") == 0; /* addresses: written before the code runs */
    return give(readonly || made_by_linker ? &memory->code : &memory->data, size, alignment);
}

/* The instructions are there: from now on they run, and are not written. */
int code_memory_finish(void *self, char **message) {
    CodeMemory *memory = self;
    Run *code = &memory->code;
    if (!let_run(code)) {
        *message = strdup("the system does not let memory become executable");
        return 1;
    }
    memory->runs = true;
    __builtin___clear_cache(run_start(code), run_start(code) + run_bytes(code));
    run_shorten(code, code->pages - pages_for(code->used));
    run_shorten(&memory->data, memory->data.pages - pages_for(memory->data.used));
    return 0;
}
