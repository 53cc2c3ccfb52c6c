/* device_notes.c: what the threads of a kernel leave for the host to find: the first exception, and what they print.
 *
 * In: raise sites and print sites of a kernel.  Out: calls of two functions of the module, which the entry defines if
 * something calls them, and the globals that they write to: krait_device_notes, which begins with DeviceNotes
 * (ir_abi.def), and krait_prints.  The runtime reads them when it next waits for the device
 * (runtime/cuda/device_notes.c).
 *
 * The thread that takes DeviceNotes.raised from 0 to 1 is the first; a print takes its room by adding to
 * DeviceNotes.printed, and goes on counting where there is none left, so that the host knows of what is lost. */
#include <stddef.h> /* offsetof */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

enum { SPACE_GLOBAL = 1, NOTES_ALIGN = 16, PRINT_UNIT = 8 };

static const char note_raise[] = "krait_note_raise", print_room[] = "krait_print_room";

/* ---- calls ---- */

LLVMValueRef nvptx_note_raise(Lower *l, LLVMValueRef status) { return l_call_named(l, note_raise, l->ptr, &status, 1); }

void nvptx_print(Lower *l, LLVMValueRef site, const Type *type, LLVMValueRef values) {
    int64_t bytes = (int64_t)(type_size(type) + PRINT_UNIT - 1) / PRINT_UNIT * PRINT_UNIT;
    LLVMValueRef args[] = {site, l_i32(l, bytes)};
    LLVMValueRef room = l_call_named(l, print_room, l->ptr, args, 2);
    if (!l_has_bytes(type)) return;
    LIf given;
    l_if(l, &given, LLVMBuildIsNotNull(l->b, room, ""));
    l_store(l, type, values, room);
    l_endif(l, &given);
}

/* ---- the functions ---- */

LLVMValueRef nvptx_global(Lower *l, const char *name, uint64_t bytes) {
    LLVMValueRef global = LLVMGetNamedGlobal(l->module, name);
    if (!global) {
        LLVMTypeRef type = LLVMArrayType2(l->i8, bytes);
        global = LLVMAddGlobalInAddressSpace(l->module, type, name, SPACE_GLOBAL);
        LLVMSetInitializer(global, LLVMConstNull(type));
        LLVMSetAlignment(global, NOTES_ALIGN);
        LLVMSetExternallyInitialized(global, true);
    }
    return LLVMConstAddrSpaceCast(global, l->ptr);
}

LLVMValueRef nvptx_notes(Lower *l) {
    size_t arguments = l->m->exception_bytes > sizeof(RaiseTrail) ? l->m->exception_bytes - sizeof(RaiseTrail) : 0;
    return nvptx_global(l, NOTES_SYMBOL, sizeof(DeviceNotes) + arguments);
}

static LLVMValueRef field(Lower *l, LLVMValueRef notes, size_t offset) {
    return l_offset(l, notes, l_i64(l, (int64_t)offset));
}

LLVMValueRef nvptx_atomic(Lower *l, LLVMAtomicRMWBinOp op, LLVMValueRef pointer, LLVMValueRef value) {
    LLVMValueRef old = LLVMBuildAtomicRMW(l->b, op, pointer, value, LLVMAtomicOrderingMonotonic, false);
    unsigned scope = LLVMGetSyncScopeID(l->context, l->target->atomic_scope, strlen(l->target->atomic_scope));
    LLVMSetAtomicSyncScopeID(old, scope);
    return old;
}

/* The host looks at the rest only if its word says so, and after everything has run. */
static void raise_flag(Lower *l, LLVMValueRef notes) {
    LLVMValueRef flag = l_raw_load(l, l->ptr, field(l, notes, offsetof(DeviceNotes, flag)), 8);
    LLVMSetVolatile(l_raw_store(l, l_i32(l, 1), flag, 4), true);
}

/* Begins the definition if something calls the function. */
static LLVMValueRef begin(Lower *l, const char *name) {
    LLVMValueRef function = LLVMGetNamedFunction(l->module, name);
    if (!function) return NULL;
    LLVMSetLinkage(function, LLVMInternalLinkage);
    l_attribute(l, function, -1, "noinline", 0);
    l_attribute(l, function, -1, "nounwind", 0);
    l_attribute(l, function, -1, "cold", 0);
    l_begin(l, function);
    return function;
}

static void define_note_raise(Lower *l) {
    static const struct {
        Special special;
        size_t offset;
    } places[] = {
        {SPECIAL_BLOCK_X, offsetof(DeviceNotes, block_x)},   {SPECIAL_BLOCK_Y, offsetof(DeviceNotes, block_y)},
        {SPECIAL_BLOCK_Z, offsetof(DeviceNotes, block_z)},   {SPECIAL_THREAD_X, offsetof(DeviceNotes, thread_x)},
        {SPECIAL_THREAD_Y, offsetof(DeviceNotes, thread_y)}, {SPECIAL_THREAD_Z, offsetof(DeviceNotes, thread_z)},
    };
    LLVMValueRef function = begin(l, note_raise);
    if (!function) return;
    LLVMValueRef notes = nvptx_notes(l), room = field(l, notes, sizeof(DeviceNotes)), one = l_i32(l, 1);
    LLVMValueRef before = nvptx_atomic(l, LLVMAtomicRMWBinOpXchg, field(l, notes, offsetof(DeviceNotes, raised)), one);
    LIf first;
    l_if(l, &first, l_icmp(l, LLVMIntEQ, before, l_i32(l, 0)));
    l_raw_store(l, LLVMGetParam(function, 0), field(l, notes, offsetof(DeviceNotes, status)), 4);
    for (size_t i = 0; i < COUNT_OF(places); i++)
        l_raw_store(l, l->target->special(l, places[i].special), field(l, notes, places[i].offset), 4);
    raise_flag(l, notes);
    l_endif(l, &first);
    LLVMBuildRet(l->b, l_if_phi(l, &first, room, l_null(l->ptr)));
    l_end(l);
}

static void define_print_room(Lower *l) {
    LLVMValueRef function = begin(l, print_room);
    if (!function) return;
    LLVMValueRef notes = nvptx_notes(l), prints = nvptx_global(l, PRINTS_SYMBOL, PRINT_BYTES);
    LLVMValueRef site = LLVMGetParam(function, 0), bytes = LLVMGetParam(function, 1);
    LLVMValueRef size = l_add(l, LLVMBuildZExt(l->b, bytes, l->i64, ""), l_i64(l, sizeof(PrintHead)));
    LLVMValueRef from = nvptx_atomic(l, LLVMAtomicRMWBinOpAdd, field(l, notes, offsetof(DeviceNotes, printed)), size);
    raise_flag(l, notes);
    LIf fits, starts;
    l_if(l, &fits, l_icmp(l, LLVMIntULE, l_add(l, from, size), l_i64(l, PRINT_BYTES)));
    LLVMValueRef head = l_offset(l, prints, from);
    l_raw_store(l, site, field(l, head, offsetof(PrintHead, site)), 4);
    l_raw_store(l, bytes, field(l, head, offsetof(PrintHead, bytes)), 4);
    LLVMValueRef room = field(l, head, sizeof(PrintHead));
    l_else(l, &fits); /* what lay there before is no print */
    l_if(l, &starts, l_icmp(l, LLVMIntULT, from, l_i64(l, PRINT_BYTES)));
    l_raw_store(l, l_i32(l, -1), field(l, l_offset(l, prints, from), offsetof(PrintHead, site)), 4);
    l_endif(l, &starts);
    l_endif(l, &fits);
    LLVMBuildRet(l->b, l_if_phi(l, &fits, room, l_null(l->ptr)));
    l_end(l);
}

void nvptx_define_notes(Lower *l) {
    define_note_raise(l);
    define_print_room(l);
}
