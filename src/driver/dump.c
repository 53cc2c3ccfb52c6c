/* dump.c: the texts of the stages: KRAIT_DUMP=bytecode,ir,typed,llvm,opt,asm,ptx (or all) prints them on stderr, the
 * inspect functions of a dispatcher and the tests keep them. */
#include <stdio.h>  /* fprintf, fputs */
#include <stdlib.h> /* getenv */
#include <string.h> /* strchr, strncmp */

#include "driver/job.h"

static const char *const dump_names[DUMP_COUNT] = {
    [DUMP_BYTECODE] = "bytecode", [DUMP_IR] = "ir",   [DUMP_TYPED] = "typed", [DUMP_LLVM] = "llvm",
    [DUMP_OPT] = "opt",           [DUMP_ASM] = "asm", [DUMP_PTX] = "ptx",
};

static int dump_of(const char *name, size_t length) {
    for (int i = 0; i < DUMP_COUNT; i++)
        if (strlen(dump_names[i]) == length && strncmp(dump_names[i], name, length) == 0) return i;
    return -1;
}

int dump_named(const char *name) { return dump_of(name, strlen(name)); }

uint32_t dump_from_environment(void) {
    uint32_t set = 0;
    const char *text = getenv("KRAIT_DUMP");
    while (text && *text) {
        const char *comma = strchr(text, ',');
        size_t length = comma ? (size_t)(comma - text) : strlen(text);
        int dump = dump_of(text, length);
        if (dump >= 0)
            set |= 1u << dump;
        else if (length == 3 && strncmp(text, "all", 3) == 0)
            set |= (1u << DUMP_COUNT) - 1;
        else if (length)
            fprintf(stderr, "krait: KRAIT_DUMP knows bytecode, ir, typed, llvm, opt, asm, ptx and all, not '%.*s'\n",
                    (int)length, text);
        text = comma ? comma + 1 : NULL;
    }
    return set;
}

void dump_text(Job *job, Dump dump, const char *text) {
    job->texts[dump] = text;
    if (text && job->printed & 1u << dump) {
        fprintf(stderr, "---- %s: %s ----\n", job->options.entry_name ? job->options.entry_name : "krait",
                dump_names[dump]);
        fputs(text, stderr);
        if (*text && text[strlen(text) - 1] != '\n') fputc('\n', stderr);
    }
}

const char *dump_all_functions(Job *job) {
    Buf text;
    buf_init(&text, job->arena);
    for (size_t i = 0; i < job->insts.len; i++) {
        if (i) buf_putc(&text, '\n');
        func_print(&text, job->insts.data[i]->func);
    }
    return text.text;
}
