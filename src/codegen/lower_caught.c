/* lower_caught.c: exceptions that were caught: kept, told apart, raised again.
 *
 * A caught exception is memory of the function that caught it, a copy of the exception buffer with the status in front
 * (where the buffer has what recursive functions look at): other exceptions may be raised and caught while it is
 * handled.  A phi has memory of its own, into which what it is given is copied at the start of its block, so that
 * whatever a variable holds stays what it was when the handler runs again.  Each such memory has a reference to the
 * interpreter's object, if the exception has one, which is given up when other exceptions take its place and when the
 * function ends.
 *
 * Which class an exception has is known from the site that raised it, or its object is asked.  Sites are numbered as
 * they are generated, so a test reads from a table with a row for each status, which is made, like the size of the
 * copies, when the last site is known. */
#include <string.h> /* strcmp */

#include "codegen/lower.h"

enum { SAVED_FROM = offsetof(RaiseTrail, object) };

/* ---- copies ---- */

static void size_later(Lower *l, LLVMValueRef instruction, unsigned operand, int64_t less) {
    vec_push(l->arena, &l->m->caught_sizes, ((CaughtSize){instruction, operand, less}));
}

static LLVMValueRef new_memory(Lower *l) {
    LLVMBasicBlockRef here = l_here(l);
    LLVMMetadataRef where = LLVMGetCurrentDebugLocation2(l->b);
    LLVMSetCurrentDebugLocation2(l->b, NULL);
    l_enter(l, l->allocas);
    LLVMValueRef memory = LLVMBuildArrayAlloca(l->b, l->i8, l_i64(l, sizeof(RaiseTrail)), "caught");
    LLVMSetAlignment(memory, 16);
    size_later(l, memory, 0, 0);
    l_raw_store(l, l_null(l->ptr), l_raised(l, memory), 8);
    vec_push(l->arena, &l->s->caught, memory);
    l_enter(l, here);
    LLVMSetCurrentDebugLocation2(l->b, where);
    return memory;
}

static void copy(Lower *l, LLVMValueRef to, LLVMValueRef from, int64_t skipped) {
    LLVMValueRef offset = l_i64(l, skipped);
    LLVMValueRef call = LLVMBuildMemCpy(l->b, l_offset(l, to, offset), 8, l_offset(l, from, offset), 8, l_i64(l, 8));
    size_later(l, call, 2, skipped);
}

static LLVMValueRef object_of(Lower *l, LLVMValueRef trail) { return l_raw_load(l, l->ptr, l_raised(l, trail), 8); }

/* One more reference to the object `held`, one fewer to `dropped`; each may be none. */
static void count_objects(Lower *l, LLVMValueRef held, LLVMValueRef dropped) {
    LLVMValueRef objects[] = {held, dropped};
    l_call_named(l, "krait_host_hold_raised", l->v, objects, 2);
}

static void drop_object(Lower *l, LLVMValueRef object) {
    LIf some;
    l_if(l, &some, LLVMBuildIsNotNull(l->b, object, ""));
    count_objects(l, l_null(l->ptr), object);
    l_endif(l, &some);
}

void l_drop_raised(Lower *l, LLVMValueRef trail) { drop_object(l, object_of(l, trail)); }

/* What `to` held before is another exception, or the same. */
static void copy_held(Lower *l, LLVMValueRef to, LLVMValueRef from) {
    LLVMValueRef before = object_of(l, to), object = object_of(l, from);
    LIf changes;
    l_if(l, &changes, l_icmp(l, LLVMIntNE, before, object));
    count_objects(l, object, before);
    l_endif(l, &changes);
    copy(l, to, from, 0);
}

void l_exception_bytes_later(Lower *l, LLVMValueRef call, unsigned operand) { size_later(l, call, operand, 0); }

/* Every return of the function leads to one block, which is entered: the objects are given up once, in code that grows
 * with their number alone.  False: it never returns. */
static bool join_returns(Lower *l, LLVMValueRef *result) {
    LLVMBasicBlockRef last = LLVMGetLastBasicBlock(l->function), leave = l_block(l, "leave");
    bool any = false;
    *result = NULL;
    l_enter(l, leave);
    for (LLVMBasicBlockRef block = l->allocas, next; block; block = next) {
        next = block == last ? NULL : LLVMGetNextBasicBlock(block);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (!end || LLVMGetInstructionOpcode(end) != LLVMRet) continue;
        if (LLVMGetNumOperands(end)) {
            LLVMValueRef value = LLVMGetOperand(end, 0);
            if (!*result) *result = LLVMBuildPhi(l->b, LLVMTypeOf(value), "");
            LLVMAddIncoming(*result, &value, &block, 1);
        }
        LLVMInstructionEraseFromParent(end);
        l_enter(l, block);
        l_jump(l, leave);
        l_enter(l, leave);
        any = true;
    }
    if (!any) LLVMBuildUnreachable(l->b);
    return any;
}

static void drop_all(Lower *l) {
    for (size_t i = 0; i < l->s->caught.len; i++) drop_object(l, object_of(l, l->s->caught.data[i]));
}

/* Before the function returns; of a generator's here, where it ends. */
void lower_drop_caught(Lower *l) {
    struct LowerState *s = l->s;
    if (!s->caught.len) return;
    if (s->coroutine) {
        drop_all(l);
        return;
    }
    LLVMSetCurrentDebugLocation2(l->b, NULL);
    LLVMValueRef result;
    if (!join_returns(l, &result)) return;
    drop_all(l);
    if (result)
        LLVMBuildRet(l->b, result);
    else
        LLVMBuildRetVoid(l->b);
}

/* ---- values ---- */

/* Exceptions are the interpreter's only where it calls the function. */
static bool has_interpreter(const Lower *l) { return l->m->options.entry == ENTRY_FUNCTION && !l->inst->outlined; }

static void keep(Lower *l, LLVMValueRef memory) { l_call_named(l, "krait_host_keep_raised", l->v, &memory, 1); }

/* The buffer's reference is the memory's from here on.  One that goes on, in another variable or raised by name, has
 * to be the same object wherever it comes: it gets that here.  Objects may be others' as well: the lines of the way
 * here are theirs. */
LLVMValueRef lower_caught(Lower *l, const Value *value) {
    LLVMValueRef memory = new_memory(l);
    drop_object(l, object_of(l, memory));
    l_raw_store(l, l_pending(l), memory, 4);
    copy(l, memory, l->exception, SAVED_FROM);
    if (!has_interpreter(l)) return memory;
    if (value->flags & VF_OBJECT) {
        l->m->tells_caught = true;
        keep(l, memory);
    } else if (l->m->keeps_raised) {
        LIf some;
        l_if(l, &some, LLVMBuildIsNotNull(l->b, object_of(l, memory), ""));
        keep(l, memory);
        l_endif(l, &some);
    }
    return memory;
}

static LLVMValueRef with_pointer(Lower *l, const Type *type, LLVMValueRef value, LLVMValueRef pointer) {
    return type->kind == TY_CAUGHT ? pointer : l_set_item(l, type, value, 0, pointer);
}

/* What a phi is given may hold nothing: a variable without a value, None. */
LLVMValueRef lower_caught_arrives(Lower *l, const Type *type, LLVMValueRef value) {
    LLVMValueRef memory = new_memory(l);
    LLVMValueRef from = type->kind == TY_CAUGHT ? value : l_content(l, type, value);
    LLVMValueRef holds = type->kind == TY_CAUGHT ? l_icmp(l, LLVMIntNE, from, l_null(l->ptr))
                                                 : l_present(l, type, value);
    copy_held(l, memory, l_select(l, holds, from, memory));
    return with_pointer(l, type, value, memory);
}

LLVMValueRef lower_caught_stays(Lower *l, const Type *type, LLVMValueRef value) {
    LLVMValueRef memory = new_memory(l);
    copy_held(l, memory, type->kind == TY_CAUGHT ? value : l_content(l, type, value));
    return with_pointer(l, type, value, memory);
}

static LLVMValueRef status_of(Lower *l, LLVMValueRef caught) { return l_raw_load(l, l->i32, caught, 4); }

static void store_flag(Lower *l, LLVMValueRef trail, size_t offset, int value) {
    l_raw_store(l, l_i8(l, value), l_offset(l, trail, l_i64(l, (int64_t)offset)), 1);
}

LLVMValueRef lower_made(Lower *l) {
    LLVMValueRef memory = new_memory(l);
    drop_object(l, object_of(l, memory));
    l_raw_store(l, l_null(l->ptr), l_raised(l, memory), 8);
    return memory;
}

/* What the interpreter has raised just now, as if it had been caught. */
LLVMValueRef l_caught_new(Lower *l, LLVMValueRef memory, ObjRef class) {
    if (!memory) memory = lower_made(l);
    l_raw_store(l, l_pending_site(l, class), memory, 4);
    l_begin_trail(l, memory, l_take_raised(l));
    store_flag(l, memory, offsetof(RaiseTrail, shown), 1); /* its site has no line */
    return memory;
}

/* ---- __context__ and __cause__ ---- */

LLVMValueRef lower_chain(Lower *l, const Value *value) {
    if (!has_interpreter(l)) return LLVMGetUndef(l_type(l, value->type));
    l->m->tells_caught = true;
    LLVMValueRef place = l_offset(l, l->exception, l_i64(l, offsetof(RaiseTrail, chained)));
    LIf anew;
    l_if(l, &anew, l_icmp(l, LLVMIntEQ, l_raw_load(l, l->i8, place, 1), l_i8(l, 0)));
    LLVMValueRef args[] = {l->exception, l_pending(l), l_arg(l, value, 0)};
    l_call_named(l, "krait_host_chain_raised", l->v, args, COUNT_OF(args));
    l_raw_store(l, l_i8(l, 1), place, 1);
    l_endif(l, &anew);
    return LLVMGetUndef(l_type(l, value->type));
}

void l_give_cause(Lower *l, LLVMValueRef trail, LLVMValueRef status, const Value *cause) {
    const Type *type = cause->type;
    LLVMValueRef other = l_null(l->ptr);
    if (!has_interpreter(l)) return;
    if (type->kind == TY_OPTIONAL)
        other = l_select(l, l_present(l, type, l_value(l, cause)), l_content(l, type, l_value(l, cause)), other);
    else if (type->kind == TY_CAUGHT)
        other = l_value(l, cause);
    LLVMValueRef args[] = {trail, status, other};
    l->m->tells_caught = true;
    l_call_named(l, "krait_host_cause_raised", l->v, args, COUNT_OF(args));
}

/* As if it had not been caught; `noted`: as `raise e` does, which is one more line of the traceback. */
void lower_raise_caught(Lower *l, LLVMValueRef caught, bool noted, const Value *cause) {
    if (cause) l_give_cause(l, caught, status_of(l, caught), cause); /* what is raised stays the one that is handled */
    LLVMValueRef object = object_of(l, caught);
    LIf some;
    l_if(l, &some, LLVMBuildIsNotNull(l->b, object, ""));
    count_objects(l, object, l_null(l->ptr));
    l_endif(l, &some);
    copy(l, l->exception, caught, SAVED_FROM);
    if (noted)
        l_note_call(l);
    else
        store_flag(l, l->exception, offsetof(RaiseTrail, chained), 1); /* RERAISE: its context stays what it is */
    if (noted) store_flag(l, l->exception, offsetof(RaiseTrail, owes), OWES_ITSELF);
    l_leave(l, status_of(l, caught));
}

/* The interpreter, which calls this (pass raises), makes the exception from its site, and its text. */
LLVMValueRef lower_func_caught_text(Lower *l, const Value *call) {
    l->m->tells_caught = true;
    LLVMValueRef args[] = {l_arg(l, call, 0), l_arg(l, call, 1), l_alloca(l, l->ptr, "text")};
    LLVMValueRef raised = l_call_named(l, "krait_host_caught_text", l->i32, args, COUNT_OF(args));
    TRY(raised);
    l_raise_raised(l, raised);
    return l_load(l, call->type, args[2]);
}

LLVMValueRef lower_func_caught_attr(Lower *l, const Value *call) {
    l->m->tells_caught = true;
    LLVMValueRef to = l_take_scratch(l, NULL, type_size(call->type) + 1, "attribute");
    LLVMValueRef args[] = {l_arg(l, call, 0), l_cstring(l, l_arg_const(call, 1)->text), l_address(l, call->type), to};
    LLVMValueRef raised = l_call_named(l, "krait_host_caught_attribute", l->i32, args, COUNT_OF(args));
    TRY(raised);
    l_raise_raised(l, raised);
    LLVMValueRef got = l_load(l, call->type, to);
    l_give_scratch(l, to);
    return got;
}

/* ---- classes ---- */

static void find_classes(Lower *l, const Type *type, ClassTable *table) {
    if (type->kind == TY_EXC_CLASS) vec_push(l->arena, &table->classes, type->object);
    for (uint32_t i = 0; type->kind == TY_TUPLE && i < type->count; i++) find_classes(l, type->items[i], table);
}

static LLVMTypeRef table_type(Lower *l, size_t rows) { return LLVMArrayType2(l->i8, rows); }

enum { NO, YES, ASK }; /* what a class table says of a status; ASK: the object knows */

/* The table that says of each status whether it stands for one of the classes; handlers of the same share it. */
static LLVMValueRef class_table(Lower *l, const Type *classes) {
    ClassTable table = {.type = classes};
    uint64_t hash = hash_mix(0, (uint64_t)(uintptr_t)classes);
    HashIndex *index = &l->m->class_index;
    for (uint32_t i = hash_index_first(index, hash); i != HASH_INDEX_END; i = hash_index_next(index, i))
        if (l->m->class_tables.data[i].type == classes) return l->m->class_tables.data[i].global;
    if (classes) find_classes(l, classes, &table);
    table.global = LLVMAddGlobal(l->module, table_type(l, 0), "classes");
    vec_push(l->arena, &l->m->class_tables, table);
    hash_index_add(index, l->arena, hash);
    return table.global;
}

/* The row of a status: NO, YES or ASK. */
static LLVMValueRef row_of(Lower *l, LLVMValueRef status, const Type *classes) {
    LLVMValueRef row = l_offset(l, class_table(l, classes), LLVMBuildZExt(l->b, status, l->i64, ""));
    return l_raw_load(l, l->i8, row, 1);
}

/* The status tells the class of what compiled code raises; of what the interpreter or the handler of a signal raised
 * it tells no more than a class above it: then its object is asked. */
LLVMValueRef lower_matches(Lower *l, const Value *value) {
    const Type *classes = value->args[1]->type;
    LLVMValueRef row = row_of(l, status_of(l, l_arg(l, value, 0)), classes), found = l_alloca(l, l->i32, "matches");
    l_raw_store(l, LLVMBuildZExt(l->b, row, l->i32, ""), found, 4);
    LIf asked;
    l_if(l, &asked, l_icmp(l, LLVMIntEQ, row, l_i8(l, ASK)));
    LLVMValueRef args[] = {object_of(l, l_arg(l, value, 0)), l_address(l, classes)};
    LLVMValueRef answer = l_call_named(l, "krait_host_raised_is", l->i32, args, COUNT_OF(args));
    TRY(answer);
    l_raw_store(l, answer, found, 4);
    l_endif(l, &asked);
    return l_icmp(l, LLVMIntNE, l_raw_load(l, l->i32, found, 4), l_i32(l, NO));
}

LLVMValueRef l_is_stop(Lower *l, LLVMValueRef status) {
    return l_icmp(l, LLVMIntEQ, row_of(l, status, NULL), l_i8(l, YES));
}

/* A site where the interpreter raises names a class above that of the object, but for KeyboardInterrupt, which stands
 * for all that is no Exception and for whatever handlers of signals raise. */
static int site_row(const Lower *l, const RaiseSite *site, const ClassTable *table) {
    if (!table->type) return type_table_exception_named(l->types, site->class, site->builtin, "StopIteration");
    bool any = site->pending && site->builtin && strcmp(site->builtin, "KeyboardInterrupt") == 0;
    for (size_t i = 0; i < table->classes.len && !any; i++)
        if (type_table_exception_is(l->types, site->class, site->builtin, table->classes.data[i])) return YES;
    return site->pending ? ASK : NO;
}

/* Every site is known. */
void lower_finish_caught(Lower *l) {
    const Module *m = l->m;
    size_t rows = m->raise_sites.len + 1;
    LLVMValueRef *row = ARENA_ARRAY(l->arena, LLVMValueRef, rows);
    for (size_t t = 0; t < m->class_tables.len; t++) {
        const ClassTable *table = &m->class_tables.data[t];
        row[0] = l_i8(l, 0);
        for (size_t i = 1; i < rows; i++) row[i] = l_i8(l, site_row(l, &m->raise_sites.data[i - 1], table));
        LLVMValueRef global = LLVMAddGlobal(l->module, table_type(l, rows), "classes");
        LLVMSetInitializer(global, LLVMConstArray2(l->i8, row, rows));
        LLVMSetGlobalConstant(global, true);
        LLVMSetLinkage(global, LLVMPrivateLinkage);
        LLVMReplaceAllUsesWith(table->global, global);
        LLVMDeleteGlobal(table->global);
    }
    for (size_t i = 0; i < m->caught_sizes.len; i++) {
        const CaughtSize *size = &m->caught_sizes.data[i];
        LLVMSetOperand(size->instruction, size->operand, l_i64(l, (int64_t)m->exception_bytes - size->less));
    }
}
