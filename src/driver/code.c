/* code.c: finished Code: what a job leaves behind, copied into an arena of its own, and its reference count. */
#include <stdatomic.h> /* atomic_fetch_add */
#include <string.h>    /* memcpy */

#include "driver/job.h"

enum { CODE_BYTES = 1024 }; /* of a small function: there may be thousands */

static const char *copy_text(Arena *arena, const char *text) { return text ? arena_strdup(arena, text) : NULL; }

static const Const *const *copy_consts(Arena *arena, const Const *const *konsts, size_t count) {
    const Const **copies = ARENA_ARRAY(arena, const Const *, count);
    for (size_t i = 0; konsts && i < count; i++) copies[i] = const_copy(arena, konsts[i]);
    return copies;
}

static const RaiseSite *copy_raise_sites(Arena *arena, const RaiseSite *sites, size_t count) {
    RaiseSite *copies = ARENA_ARRAY(arena, RaiseSite, count);
    for (size_t i = 0; i < count; i++) {
        copies[i] = sites[i];
        copies[i].builtin = copy_text(arena, sites[i].builtin);
        copies[i].format = copy_text(arena, sites[i].format);
        copies[i].file = copy_text(arena, sites[i].file);
        copies[i].function = copy_text(arena, sites[i].function);
        copies[i].konsts = sites[i].args ? copy_consts(arena, sites[i].konsts, sites[i].args->count) : NULL;
    }
    return copies;
}

static const AccessSite *copy_access_sites(Arena *arena, const AccessSite *sites, size_t count) {
    AccessSite *copies = ARENA_ARRAY(arena, AccessSite, count);
    for (size_t i = 0; i < count; i++) {
        copies[i] = sites[i];
        copies[i].file = copy_text(arena, sites[i].file);
        copies[i].function = copy_text(arena, sites[i].function);
        copies[i].array = copy_text(arena, sites[i].array);
        copies[i].index = copy_text(arena, sites[i].index);
    }
    return copies;
}

static const PrintSite *copy_print_sites(Arena *arena, const PrintSite *sites, size_t count) {
    PrintSite *copies = ARENA_ARRAY(arena, PrintSite, count);
    for (size_t i = 0; i < count; i++)
        copies[i] = (PrintSite){.args = sites[i].args,
                                .konsts = copy_consts(arena, sites[i].konsts, sites[i].args->count),
                                .separator = copy_text(arena, sites[i].separator),
                                .end = copy_text(arena, sites[i].end)};
    return copies;
}

static const DoubleNote *copy_doubles(Arena *arena, const DoubleNotes *notes) {
    DoubleNote *copies = ARENA_ARRAY(arena, DoubleNote, notes->len);
    for (size_t i = 0; i < notes->len; i++)
        copies[i] = (DoubleNote){copy_text(arena, notes->data[i].file), copy_text(arena, notes->data[i].function),
                                 copy_text(arena, notes->data[i].text), notes->data[i].line};
    return copies;
}

static void fill(Code *code, Job *job) {
    Arena *arena = code->arena;
    FuncInst *root = job->insts.data[0];
    size_t count = root->untyped->nparams;
    code->config = *job->config;
    code->config.codegen.entry_name = copy_text(arena, job->options.entry_name);
    ObjRef *captured = ARENA_ARRAY(arena, ObjRef, job->captures.len);
    for (size_t i = 0; i < job->captures.len; i++) {
        const Captured *capture = &job->captures.data[i];
        if (!capture->param) continue;
        captured[code->ncaptured++] = capture->object; /* in the order of their parameters */
    }
    code->captured = captured;
    code->nparams = count - code->ncaptured;
    code->ndevice_arrays = job->frontend.device_arrays.len;
    ObjRef *device_arrays = ARENA_ARRAY(arena, ObjRef, code->ndevice_arrays);
    for (size_t i = 0; i < code->ndevice_arrays; i++) device_arrays[i] = job->frontend.device_arrays.data[i];
    code->device_arrays = device_arrays;
    code->params = memcpy(ARENA_ARRAY(arena, const Type *, count), root->types, count * sizeof *root->types);
    code->param_konsts = copy_consts(arena, root->konsts, count);
    code->result = root->result;
    code->written = root->writes;
    for (size_t i = count; i-- > 0;) {
        const Param *param = &root->untyped->params[i];
        if (param->assigned) code->assigned = copy_text(arena, param->name);
        if (param->lost && root->types[i]->kind == TY_SCALAR) code->lost = copy_text(arena, param->name);
    }
    code->raise_sites = codegen_raise_sites(job->module, &code->nraise_sites);
    code->raise_sites = copy_raise_sites(arena, code->raise_sites, code->nraise_sites);
    code->access_sites = codegen_access_sites(job->module, &code->naccess_sites);
    code->access_sites = copy_access_sites(arena, code->access_sites, code->naccess_sites);
    code->print_sites = codegen_print_sites(job->module, &code->nprint_sites);
    code->print_sites = copy_print_sites(arena, code->print_sites, code->nprint_sites);
    code->doubles = copy_doubles(arena, &job->doubles);
    code->ndoubles = job->doubles.len;
    code->exception_bytes = codegen_exception_bytes(job->module);
    code->shared_bytes = codegen_shared_bytes(job->module);
    code->has_barriers = codegen_has_barriers(job->module);
    code->waits_for_grid = codegen_waits_for_grid(job->module);
    code->tells_caught = codegen_tells_caught(job->module);
    code->ufunc_lanes = codegen_ufunc_lanes(job->module);
    code->from_cache = job->from_cache;
    if (job->config->target == TARGET_NVPTX) {
        code->ptx = arena_strndup(arena, job->image.bytes, job->image.size);
        code->ptx_length = job->image.size;
    }
    code->typed_text = copy_text(arena, job->texts[DUMP_TYPED]);
    code->diagnostics = copy_text(arena, job->texts[DUMP_DIAGNOSTICS]);
    code->llvm_text = copy_text(arena, job->texts[DUMP_LLVM]);
    code->opt_text = copy_text(arena, job->texts[DUMP_OPT]);
    code->asm_text = copy_text(arena, job->texts[DUMP_ASM]);
    memcpy(code->nanoseconds, job->nanoseconds, sizeof code->nanoseconds);
    memcpy(code->pass_nanoseconds, job->pass_nanoseconds, sizeof code->pass_nanoseconds);
    /* last, since nothing after it can fail: what the job owned changes hands */
    Guard *guards = ARENA_ARRAY(arena, Guard, job->frontend.guards.len);
    for (size_t i = 0; i < job->frontend.guards.len; i++) guards[i] = job->frontend.guards.data[i];
    code->guards = guards;
    code->nguards = job->frontend.guards.len;
    job->frontend.guards.len = 0;
    code->host = job->host;
    job->host = NULL;
    code->hold = job->frontend.hold;
    job->frontend.hold = (ObjHold){0};
}

Code *code_from_job(Job *job) {
    Arena *arena = arena_new_sized(CODE_BYTES);
    if (!arena) longjmp(job->recovery, 1);
    jmp_buf recovery;
    if (setjmp(recovery) != 0) { /* the new arena is the only thing to give back */
        arena_free(arena);
        longjmp(job->recovery, 1);
    }
    arena_on_exhaustion(arena, &recovery);
    Code *code = ARENA_NEW(arena, Code);
    code->arena = arena;
    atomic_init(&code->references, 1);
    fill(code, job);
    arena_on_exhaustion(arena, NULL);
    return code;
}

Code *code_retain(Code *code) {
    atomic_fetch_add(&code->references, 1);
    return code;
}

void code_release(Code *code) {
    if (!code || atomic_fetch_sub(&code->references, 1) > 1) return;
    host_code_release(code->host);
    ObjHold hold = code->hold;
    guards_release((Guard *)code->guards, code->nguards);
    arena_free(code->arena);
    objects_let_go(&hold);
}

int code_traverse(const Code *code, visitproc visit, void *arg) {
    for (size_t i = 0; i < code->nguards; i++) {
        const Guard *guard = &code->guards[i];
        Py_VISIT(guard->holder);
        Py_VISIT(guard->builtins);
        Py_VISIT(guard->value);
    }
    return objects_traverse_hold(&code->hold, visit, arg);
}
