/* dump.c: the texts of the stages: KRAIT_DUMP=bytecode,ir,typed,diagnostics,llvm,opt,asm,ptx, the names of passes, or
 * all prints them on stderr (diagnostics: what became of parallel code); the inspect functions of a dispatcher and the
 * tests keep them. */
#include <stdio.h>  /* fprintf, fputs */
#include <stdlib.h> /* getenv */
#include <string.h> /* strchr, strncmp */

#include "driver/job.h"

static const char *dump_name(int dump) {
    static const char *const names[DUMP_COUNT] = {
        [DUMP_BYTECODE] = "bytecode", [DUMP_IR] = "ir",   [DUMP_TYPED] = "typed", [DUMP_DIAGNOSTICS] = "diagnostics",
        [DUMP_LLVM] = "llvm",         [DUMP_OPT] = "opt", [DUMP_ASM] = "asm",     [DUMP_PTX] = "ptx",
    };
    return names[dump] ? names[dump] : pass_info[dump - DUMP_PASS].name;
}

static int dump_of(const char *name, size_t length) {
    for (int i = 0; i < DUMP_COUNT; i++)
        if (strlen(dump_name(i)) == length && strncmp(dump_name(i), name, length) == 0) return i;
    return -1;
}

bool driver_prints(void) {
    const char *dump = getenv("KRAIT_DUMP"), *notes = getenv("KRAIT_NOTES");
    return (dump && *dump) || (notes && *notes && *notes != '0');
}

int dump_named(const char *name) { return dump_of(name, strlen(name)); }

static void explain_names(const char *unknown, size_t length) {
    fprintf(stderr, "krait: KRAIT_DUMP knows ");
    for (int i = 0; i < DUMP_COUNT; i++) fprintf(stderr, "%s, ", dump_name(i));
    fprintf(stderr, "and all, not '%.*s'\n", (int)length, unknown);
}

uint64_t dump_from_environment(void) {
    uint64_t set = 0;
    const char *text = getenv("KRAIT_DUMP");
    while (text && *text) {
        const char *comma = strchr(text, ',');
        size_t length = comma ? (size_t)(comma - text) : strlen(text);
        int dump = dump_of(text, length);
        if (dump >= 0)
            set |= DUMP_BIT(dump);
        else if (length == 3 && strncmp(text, "all", 3) == 0)
            set = UINT64_MAX;
        else if (length)
            explain_names(text, length);
        text = comma ? comma + 1 : NULL;
    }
    return set;
}

void dump_text(Job *job, Dump dump, const char *text) {
    job->texts[dump] = text;
    if (text && job->printed & DUMP_BIT(dump)) {
        fprintf(stderr, "---- %s: %s ----\n", job->options.entry_name ? job->options.entry_name : "krait",
                dump_name(dump));
        fputs(text, stderr);
        if (*text && text[strlen(text) - 1] != '\n') fputc('\n', stderr);
    }
}

void dump_program(Job *job, Dump dump) {
    if (!dump_wanted(job, dump)) return;
    Buf text;
    buf_init(&text, job->arena);
    program_print(&text, &job->program);
    dump_text(job, dump, text.text);
}

void dump_ptx_of_host(const Session *session, const Config *config, PyObject *function, const Type *const *types,
                      size_t count) {
    Config gpu = *config;
    gpu.target = TARGET_NVPTX;
    gpu.codegen.compute_capability = DEFAULT_CAPABILITY;
    gpu.codegen.ptx_version = 0;
    Arena *const arena = arena_new();
    jmp_buf recovery;
    Diag diag;
    if (!arena) return;
    if (setjmp(recovery)) { /* no text, then */
        arena_free(arena);
        return;
    }
    arena_on_exhaustion(arena, &recovery);
    diag_init(&diag, arena);
    const char *text = driver_stage_text(session, &gpu, function, types, count, dump_name(DUMP_PTX), &diag);
    fprintf(stderr, "---- %s: %s, for compute capability %d.%d: it runs on the host device here ----\n",
            config->codegen.entry_name ? config->codegen.entry_name : "krait", dump_name(DUMP_PTX),
            DEFAULT_CAPABILITY / 10, DEFAULT_CAPABILITY % 10);
    fputs(text ? text : "not compiled for a GPU\n", stderr);
    arena_free(arena);
}
