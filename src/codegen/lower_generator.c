/* lower_generator.c: functions with yield, as coroutines of LLVM.
 *
 * In: a function with YIELDs.  Out: a function that makes the generator, an object of the heap (GeneratorBody,
 * ir_abi.def) with the item that was yielded last and the coroutine's frame behind it, and gives it back where it first
 * waits; LLVM's coro-split makes of the rest the function that runs on from there to the next YIELD (codegen_optimise).
 * Whatever lives across a YIELD LLVM keeps in the frame: variables, iterators, cells, caught exceptions.
 *
 * Who asks for an item runs the function with the exception buffer of its own (runtime/heap/generators.c).  So each use
 * of the buffer in here reads where it is now from a slot; the reads are put in when the function is done.  An
 * exception that leaves the function leaves its status in the body.  A generator that is given up while it waits is
 * closed: GeneratorExit is raised where it waits, so that what it holds is released on the way that raise edges say. */
#include <stddef.h> /* offsetof */

#include "codegen/lower.h"

typedef struct Coroutine {
    LLVMValueRef token, handle, owner;
    LLVMValueRef slot, buffer; /* of the exception buffer's address; what stands for it while the function is made */
    LLVMBasicBlockRef begins;  /* what is done once, before anything else */
    LLVMBasicBlockRef waits, ends; /* where the function is left for now, and for good */
} Coroutine;

static const Type *item_type(const Lower *l) { return l->inst->result->items[0]; }

static LLVMValueRef body_of(Lower *l, LLVMValueRef owner, size_t at) {
    return l_offset(l, owner, l_i64(l, HEAP_CONTENT - OWNER_HEAP + (int64_t)at));
}

/* ---- making ---- */

static LLVMValueRef token_of(Lower *l) {
    LLVMValueRef null = l_null(l->ptr), args[] = {l_i32(l, HEAP_CONTENT), null, null, null};
    return l_intrinsic(l, "llvm.coro.id", NULL, args, 4);
}

static LLVMValueRef no_token(Lower *l) { return LLVMConstNull(LLVMTokenTypeInContext(l->context)); }

/* The frame begins behind its parts, where memory is aligned as a content is. */
static size_t frame_offset(const Type *generator) {
    return (type_generator_offset(generator, generator->count) + HEAP_CONTENT - 1) / HEAP_CONTENT * HEAP_CONTENT;
}

/* What it was sent, which it holds no longer: None is what it gets, if nothing else is sent. */
static LLVMValueRef take_sent(Lower *l) {
    const Type *sent = type_sent(l->types, l->inst->result);
    if (!l_has_bytes(sent)) return LLVMGetUndef(l_type(l, sent));
    LLVMValueRef at = body_of(l, l->s->coroutine->owner, type_generator_offset(l->inst->result, GENERATOR_SENT));
    LLVMValueRef value = l_load(l, sent, at);
    l_store(l, sent, l_null(l_type(l, sent)), at);
    return value;
}

void lower_generator_open(Lower *l) {
    Coroutine *c = ARENA_NEW(l->arena, Coroutine);
    size_t frame = frame_offset(l->inst->result);
    l_attribute(l, l->function, -1, "presplitcoroutine", 0);
    l->m->has_generators = true;
    c->token = token_of(l);
    LLVMValueRef size = l_intrinsic(l, "llvm.coro.size", l->i64, NULL, 0);
    LLVMValueRef args[] = {l_add(l, size, l_i64(l, (int64_t)frame)), l_i64(l, 0)};
    LLVMValueRef head = l_call_named(l, "krait_heap_generator", l->ptr, args, 2);
    l_exception_bytes_later(l, head, 1);
    l_raise_if(l, l_icmp(l, LLVMIntEQ, head, l_null(l->ptr)), "MemoryError", "", NULL, 0);
    c->owner = l_offset(l, head, l_i64(l, OWNER_HEAP));
    LLVMValueRef memory[] = {c->token, body_of(l, c->owner, frame)};
    c->handle = l_intrinsic(l, "llvm.coro.begin", NULL, memory, 2);
    l_raw_store(l, c->handle, body_of(l, c->owner, offsetof(GeneratorBody, frame)), 8);
    l->s->coroutine = c;
    take_sent(l);
    c->slot = l_alloca(l, l->ptr, "buffer");
    c->begins = l_here(l);
    LLVMBasicBlockRef code = l_block(l, "code");
    l_jump(l, code);
    l_enter(l, code);
    l_raw_store(l, l->exception, c->slot, 8);
    c->buffer = l->exception = l_raw_load(l, l->ptr, c->slot, 8);
    c->waits = l_block(l, "waits");
    c->ends = l_block(l, "ends");
}

/* ---- waiting ---- */

static void come_back(Lower *l) {
    const Coroutine *c = l->s->coroutine;
    LLVMValueRef buffer = l_raw_load(l, l->ptr, body_of(l, c->owner, offsetof(GeneratorBody, exception)), 8);
    l_raw_store(l, buffer, c->slot, 8);
}

static void wait_as(Lower *l, GeneratorState state) {
    const Coroutine *c = l->s->coroutine;
    l_raw_store(l, l_i32(l, state), body_of(l, c->owner, offsetof(GeneratorBody, state)), 4);
    LLVMValueRef args[] = {no_token(l), l_i1(l, false)};
    LLVMValueRef way = l_intrinsic(l, "llvm.coro.suspend", NULL, args, 2);
    LLVMBasicBlockRef resumed = l_block(l, "resumed");
    LLVMValueRef to = LLVMBuildSwitch(l->b, way, c->waits, 1);
    LLVMAddCase(to, l_i8(l, 0), resumed);
    l_enter(l, resumed);
    come_back(l);
}

LLVMValueRef lower_yield(Lower *l, const Value *value) {
    const Coroutine *c = l->s->coroutine;
    const Type *type = item_type(l);
    LLVMValueRef item = body_of(l, c->owner, sizeof(GeneratorBody));
    bool gives = value->nargs && l_has_bytes(type);
    if (gives) l_count(l, OP_RETAIN, type, l_arg(l, value, 0));
    if (gives) l_store(l, type, l_arg(l, value, 0), item);
    wait_as(l, GENERATOR_WAITS);
    if (gives) l_count(l, OP_RELEASE, type, l_load(l, type, item));
    if (l->inst->recursive && l->target->recursion) lower_recursion(l);
    LLVMValueRef closing = l_raw_load(l, l->i32, body_of(l, c->owner, offsetof(GeneratorBody, closing)), 4);
    l_raise_if(l, l_icmp(l, LLVMIntNE, closing, l_i32(l, 0)), "GeneratorExit", "", NULL, 0);
    return value->nargs ? take_sent(l) : LLVMGetUndef(l->empty);
}

/* ---- the end ---- */

bool l_generator_ends(Lower *l, LLVMValueRef status) {
    const Coroutine *c = l->s->coroutine;
    if (!c) return false;
    l_raw_store(l, status, body_of(l, c->owner, offsetof(GeneratorBody, status)), 4);
    l_jump(l, c->ends);
    return true;
}

/* What it returns lies in it from now on.  An object is given up when the generator is, for which it runs once more. */
void lower_generator_return(Lower *l, const Value *value) {
    const Coroutine *c = l->s->coroutine;
    const Type *type = type_returned(l->types, l->inst->result);
    LLVMValueRef at = body_of(l, c->owner, type_generator_offset(l->inst->result, GENERATOR_GIVEN));
    if (l_has_bytes(type)) l_store(l, type, l_arg(l, value, 0), at);
    if (type_is_counted(type)) {
        wait_as(l, GENERATOR_RETURNED);
        l_count(l, OP_RELEASE, type, l_load(l, type, at));
    }
    l_generator_ends(l, l_i32(l, 0));
}

/* Before the instruction; of a phi, at the end of the block that the operand comes from. */
static void read_buffer_at(Lower *l, LLVMValueRef user, unsigned operand) {
    LLVMValueRef before = user;
    if (LLVMGetInstructionOpcode(user) == LLVMPHI)
        before = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, operand));
    LLVMPositionBuilderBefore(l->b, before);
    LLVMSetOperand(user, operand, l_raw_load(l, l->ptr, l->s->coroutine->slot, 8));
}

static void read_buffer_anew(Lower *l) {
    LLVMValueRef buffer = l->s->coroutine->buffer;
    LLVMSetCurrentDebugLocation2(l->b, NULL);
    for (LLVMUseRef use; (use = LLVMGetFirstUse(buffer));) {
        LLVMValueRef user = LLVMGetUser(use);
        for (unsigned i = 0, count = (unsigned)LLVMGetNumOperands(user); i < count; i++)
            if (LLVMGetOperand(user, i) == buffer) read_buffer_at(l, user, i);
    }
}

/* Local variables that have a value from the start get it once they lie in the frame. */
static void move_first_values(Lower *l) {
    LLVMPositionBuilderBefore(l->b, LLVMGetBasicBlockTerminator(l->s->coroutine->begins));
    for (LLVMValueRef at = LLVMGetFirstInstruction(l->allocas), next; at; at = next) {
        next = LLVMGetNextInstruction(at);
        if (LLVMGetInstructionOpcode(at) == LLVMAlloca) continue;
        LLVMInstructionRemoveFromParent(at);
        LLVMInsertIntoBuilder(l->b, at);
    }
}

/* Of a generator that is given up: what it raised, if that is an object of the interpreter's. */
static void drop_what_nobody_takes(Lower *l) {
    LLVMValueRef owner = l->s->coroutine->owner, given_up = l_i32(l, GENERATOR_GIVEN_UP);
    LLVMValueRef closing = l_raw_load(l, l->i32, body_of(l, owner, offsetof(GeneratorBody, closing)), 4);
    LLVMValueRef status = l_raw_load(l, l->i32, body_of(l, owner, offsetof(GeneratorBody, status)), 4);
    LLVMValueRef raised = l_icmp(l, LLVMIntNE, status, l_i32(l, 0));
    LIf nobody;
    l_if(l, &nobody, LLVMBuildAnd(l->b, l_icmp(l, LLVMIntEQ, closing, given_up), raised, ""));
    l_drop_raised(l, l->exception);
    l_endif(l, &nobody);
}

void lower_generator_close(Lower *l) {
    const Coroutine *c = l->s->coroutine;
    LLVMSetCurrentDebugLocation2(l->b, NULL);
    l_enter(l, c->ends);
    l_raw_store(l, l_i32(l, GENERATOR_ENDED), body_of(l, c->owner, offsetof(GeneratorBody, state)), 4);
    drop_what_nobody_takes(l);
    lower_drop_caught(l);
    l_jump(l, c->waits);
    l_enter(l, c->waits);
    LLVMValueRef args[] = {c->handle, l_i1(l, false), no_token(l)};
    l_intrinsic(l, "llvm.coro.end", NULL, args, 3);
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(l->function));
    LLVMValueRef leaves[] = {l_i32(l, 0), c->owner};
    LLVMBuildRet(l->b, l->may_raise ? l_make(l, type, leaves, 2) : c->owner);
    read_buffer_anew(l);
    move_first_values(l);
    l->s->coroutine = NULL;
}

/* ---- using one ---- */

/* What the generator raised.  StopIteration would end the loop of somebody who asks for items further out. */
static void hand_on(Lower *l, LLVMValueRef status) {
    LLVMBasicBlockRef error = l_raise_block(l, "RuntimeError", "generator raised StopIteration", NULL, 0);
    LLVMBasicBlockRef stops = l_block(l, "stops"), other = l_block(l, "other");
    l_branch_unlikely(l, l_is_stop(l, status), stops, other);
    l_enter(l, stops);
    l_drop_raised(l, l->exception);
    l_jump(l, error);
    l_enter(l, other);
    l_note_call(l);
    l_leave(l, status);
}

/* It runs on by this function of the runtime.  i1: whether it has yielded another item. */
static LLVMValueRef run_on(Lower *l, LLVMValueRef owner, const char *by) {
    LLVMValueRef args[] = {l_offset(l, owner, l_i64(l, -OWNER_HEAP)), l->exception};
    LLVMValueRef found = l_call_named(l, by, l->i32, args, 2);
    LLVMValueRef busy = l_icmp(l, LLVMIntEQ, found, l_i32(l, GENERATOR_NEXT_BUSY));
    if (l->s->fetched) {
        LIf gives_up;
        l_if(l, &gives_up, busy);
        l_give_up_fetched(l);
        l_endif(l, &gives_up);
    }
    l_raise_if(l, busy, "ValueError", "generator already executing", NULL, 0);
    LLVMBasicBlockRef raised = l_block(l, "raised"), fine = l_block(l, "fine");
    l_branch_unlikely(l, l_icmp(l, LLVMIntEQ, found, l_i32(l, GENERATOR_NEXT_RAISED)), raised, fine);
    l_enter(l, raised);
    LLVMValueRef status = l_raw_load(l, l->i32, body_of(l, owner, offsetof(GeneratorBody, status)), 4);
    l_give_up_fetched(l);
    hand_on(l, status);
    l_enter(l, fine);
    return l_icmp(l, LLVMIntEQ, found, l_i32(l, GENERATOR_NEXT_ITEM));
}

LLVMValueRef l_generator_more(Lower *l, LLVMValueRef owner) { return run_on(l, owner, "krait_heap_generator_next"); }

LLVMValueRef lower_func_close_generator(Lower *l, const Value *call) {
    return run_on(l, l_arg(l, call, 0), "krait_heap_generator_close");
}

/* send_generator(it, value): it is given that, if it waits and has run before; i1: whether it has. */
LLVMValueRef lower_func_send_generator(Lower *l, const Value *call) {
    const Type *generator = l_arg_type(call, 0)->kind == TY_ITER ? l_arg_type(call, 0)->items[0] : l_arg_type(call, 0);
    const Type *sent = type_sent(l->types, generator);
    LLVMValueRef owner = l_arg(l, call, 0);
    LLVMValueRef state = l_raw_load(l, l->i32, body_of(l, owner, offsetof(GeneratorBody, state)), 4);
    LLVMValueRef started = l_raw_load(l, l->i32, body_of(l, owner, offsetof(GeneratorBody, started)), 4);
    LLVMValueRef waits = l_icmp(l, LLVMIntEQ, state, l_i32(l, GENERATOR_WAITS));
    LLVMValueRef has_run = l_icmp(l, LLVMIntNE, started, l_i32(l, 0));
    LIf takes;
    l_if(l, &takes, LLVMBuildAnd(l->b, waits, has_run, ""));
    if (l_has_bytes(sent)) {
        l_count(l, OP_RETAIN, sent, l_arg(l, call, 1));
        l_store(l, sent, l_arg(l, call, 1), body_of(l, owner, type_generator_offset(generator, GENERATOR_SENT)));
    }
    l_endif(l, &takes);
    return has_run;
}

/* returned_by(it): what it returned, of one that has ended; a reference of its own. */
LLVMValueRef lower_func_returned_by(Lower *l, const Value *call) {
    const Type *generator = l_arg_type(call, 0)->kind == TY_ITER ? l_arg_type(call, 0)->items[0] : l_arg_type(call, 0);
    const Type *type = type_returned(l->types, generator);
    if (!l_has_bytes(type)) return LLVMGetUndef(l_type(l, type));
    LLVMValueRef value = l_load(l, type,
                                body_of(l, l_arg(l, call, 0), type_generator_offset(generator, GENERATOR_GIVEN)));
    l_count(l, OP_RETAIN, type, value);
    return value;
}

LLVMValueRef l_generator_item(Lower *l, const Type *generator, LLVMValueRef owner) {
    const Type *item = generator->items[0];
    if (!l_has_bytes(item)) return LLVMGetUndef(l_type(l, item));
    return l_load(l, item, body_of(l, owner, sizeof(GeneratorBody)));
}
