/* lower_raise.c: raising.
 *
 * On a target that raises, a raise site stores the exception's arguments to the exception buffer (layout of the site's
 * tuple) and leaves with status 1 + its number; each call on the way out adds its place to the trail in the buffer and
 * hands the status on.  In a block that unwinds the way leads to the handler, with the status in a local variable that
 * LLVM makes a register, and RESUME goes on from there; elsewhere the function returns the status.  On any other target
 * the thread ends. */
#include "codegen/lower.h"

/* Krait's own functions have no place that a user would know: no file. */
static bool is_internal(const Lower *l) { return l->func && l->func->source && l->func->source->internal; }

static RaiseSite site_at(const Lower *l, const Value *at) {
    RaiseSite site = {0};
    if (l->func && !is_internal(l)) {
        site.file = l->func->source ? l->func->source->file : NULL;
        site.function = l->func->source ? l->func->source->function : l->func->name;
    }
    if (at) site.span = at->span;
    return site;
}

static LLVMValueRef push_site(Lower *l, RaiseSite site) {
    vec_push(l->arena, &l->m->raise_sites, site);
    return l_i32(l, (int64_t)l->m->raise_sites.len);
}

/* Depth, `shown`, `chained` and `owes` of what is raised anew are zero, as one. */
enum { TRAIL_BEGINS = offsetof(RaiseTrail, depth) };
_Static_assert(offsetof(RaiseTrail, calls) - TRAIL_BEGINS == sizeof(int64_t) && TRAIL_BEGINS % 8 == 0 && !OWES_FIRST,
               "a trail begins by one store");

void l_begin_trail(Lower *l, LLVMValueRef trail, LLVMValueRef object) {
    l_raw_store(l, object, l_raised(l, trail), 8);
    l_raw_store(l, l_i64(l, 0), l_offset(l, trail, l_i64(l, TRAIL_BEGINS)), 8);
}

static LLVMValueRef trail_depth(Lower *l) { return l_offset(l, l->exception, l_i64(l, offsetof(RaiseTrail, depth))); }

LLVMValueRef l_raised(Lower *l, LLVMValueRef trail) {
    return l_offset(l, trail, l_i64(l, offsetof(RaiseTrail, object)));
}

LLVMValueRef l_take_raised(Lower *l) { return l_call_named(l, "krait_host_take_raised", l->ptr, NULL, 0); }

/* At least so many bytes of the buffer are used. */
static void need_buffer(Lower *l, size_t bytes) {
    if (bytes > l->m->exception_bytes) l->m->exception_bytes = bytes;
}

LLVMValueRef l_pending_site(Lower *l, ObjRef class) {
    const char *any = class ? NULL : "KeyboardInterrupt"; /* its object is asked for its class (lower_caught.c) */
    need_buffer(l, sizeof(RaiseTrail));
    return push_site(l, (RaiseSite){.class = class, .builtin = any, .pending = true});
}

/* The status of a site that raises, whose trail begins; *arguments is where the exception's arguments go. */
static LLVMValueRef add_site(Lower *l, RaiseSite site, LLVMValueRef *arguments) {
    need_buffer(l, sizeof(RaiseTrail) + (site.args ? type_size(site.args) : 0));
    bool taken = site.pending && l->m->options.entry != ENTRY_KERNEL; /* who launches a kernel finds it set */
    LLVMValueRef object = taken ? l_take_raised(l) : l_null(l->ptr);
    l_begin_trail(l, l->exception, object);
    *arguments = l_offset(l, l->exception, l_i64(l, sizeof(RaiseTrail)));
    return push_site(l, site);
}

/* The call at l->at is on the way of the exception that is in the buffer. */
void l_note_call(Lower *l) {
    l_raw_store(l, l_i8(l, 0), l_offset(l, l->exception, l_i64(l, offsetof(RaiseTrail, chained))), 1);
    if (is_internal(l)) return;
    LLVMValueRef number = push_site(l, site_at(l, l->at)), most = l_i32(l, TRAIL_CALLS - 1);
    LLVMValueRef depth = LLVMBuildLoad2(l->b, l->i32, trail_depth(l), "");
    LLVMValueRef place = l_select(l, l_icmp(l, LLVMIntULT, depth, most), depth, most);
    LLVMValueRef offset = LLVMBuildZExt(l->b, place, l->i64, "");
    offset = LLVMBuildMul(l->b, offset, l_i64(l, sizeof(int32_t)), "");
    offset = LLVMBuildAdd(l->b, offset, l_i64(l, offsetof(RaiseTrail, calls)), "");
    l_raw_store(l, number, l_offset(l, l->exception, offset), 4);
    l_raw_store(l, LLVMBuildAdd(l->b, place, l_i32(l, 1), ""), trail_depth(l), 4);
}

/* ---- leaving ---- */

/* Returns early with a status; the result is not looked at then. */
static void return_status(Lower *l, LLVMValueRef status) {
    if (!l->may_raise) {
        l_fail(l, "an exception raised in a function that does not raise");
        LLVMBuildUnreachable(l->b);
        return;
    }
    if (l_generator_ends(l, status)) return;
    lower_status(l, status);
}

static LLVMValueRef pending_of(Lower *l) {
    if (!l->s->pending) l->s->pending = l_alloca(l, l->i32, "pending");
    return l->s->pending;
}

void l_leave(Lower *l, LLVMValueRef status) {
    if (!l->s->landing) {
        return_status(l, status);
        return;
    }
    l_raw_store(l, status, pending_of(l), 4);
    l_jump(l, l->s->landing);
}

/* One LLVM block for each raise edge, wherever in the block the raises are: phis of the handler have it as the
 * predecessor. */
void lower_landing(Lower *l, const Block *block) {
    if (!block->unwinds) return;
    l_enter(l, l->s->landing);
    l_jump(l, l->s->starts[block_unwind(block)->id]);
}

LLVMValueRef l_pending(Lower *l) { return l_raw_load(l, l->i32, pending_of(l), 4); }

void lower_resume(Lower *l) { l_leave(l, l_pending(l)); }

/* ---- sites ---- */

static const Type *tuple_of_ints(Lower *l, unsigned count) {
    const Type **items = ARENA_ARRAY(l->arena, const Type *, count);
    for (unsigned i = 0; i < count; i++) items[i] = type_scalar(l->types, SCALAR_INT64, true);
    return type_tuple(l->types, items, count);
}

/* The thread ends here; what it raised is told when the host next waits for the device. */
static void note_raise(Lower *l, RaiseSite site, LLVMValueRef arguments) {
    need_buffer(l, sizeof(RaiseTrail) + (site.args ? type_size(site.args) : 0));
    LLVMValueRef room = l->target->note_raise(l, push_site(l, site));
    if (!arguments || !l_has_bytes(site.args)) return;
    LIf first;
    l_if(l, &first, LLVMBuildIsNotNull(l->b, room, ""));
    l_store(l, site.args, arguments, room);
    l_endif(l, &first);
}

/* Where every exception of this function starts: its arguments, of the type that the site says, into the buffer, and
 * away.  NULL: constants alone; cause: what comes after `from`, or NULL. */
static void raise_site_from(Lower *l, RaiseSite site, LLVMValueRef arguments, const Value *cause) {
    if (!l->target->raises) {
        if (l->target->note_raise && l->m->options.entry == ENTRY_KERNEL) note_raise(l, site, arguments);
        l->target->end_thread(l);
    } else {
        LLVMValueRef place, status = add_site(l, site, &place);
        if (arguments && l_has_bytes(site.args)) l_store(l, site.args, arguments, place);
        if (cause) l_give_cause(l, l->exception, status, cause);
        l_leave(l, status);
    }
}

static void raise_site(Lower *l, RaiseSite site, LLVMValueRef arguments) { raise_site_from(l, site, arguments, NULL); }

/* args are i64 values for the %lld of format. */
static RaiseSite builtin_site(Lower *l, const char *builtin, const char *format, unsigned count) {
    RaiseSite site = site_at(l, l->at);
    site.builtin = builtin;
    site.format = format;
    site.args = tuple_of_ints(l, count);
    return site;
}

static LLVMValueRef builtin_arguments(Lower *l, RaiseSite site, LLVMValueRef const *args, unsigned count) {
    LLVMValueRef arguments = LLVMGetUndef(l_type(l, site.args));
    for (unsigned i = 0; i < count; i++) arguments = l_set_item(l, site.args, arguments, i, args[i]);
    return arguments;
}

static void raise_builtin(Lower *l, const char *builtin, const char *format, LLVMValueRef const *args, unsigned count) {
    RaiseSite site = builtin_site(l, builtin, format, count);
    raise_site(l, site, builtin_arguments(l, site, args, count));
}

/* A block that raises; the builder stays where it is. */
LLVMBasicBlockRef l_raise_block(Lower *l, const char *builtin, const char *format, LLVMValueRef const *args,
                                unsigned count) {
    LLVMBasicBlockRef here = l_here(l), block = l_block(l, "raise");
    l_enter(l, block);
    raise_builtin(l, builtin, format, args, count);
    l_enter(l, here);
    return block;
}

void l_raise_if(Lower *l, LLVMValueRef condition, const char *builtin, const char *format, LLVMValueRef const *args,
                unsigned count) {
    if (LLVMIsAConstantInt(condition) && LLVMConstIntGetZExtValue(condition) == 0) return;
    LLVMBasicBlockRef raise = l_raise_block(l, builtin, format, args, count), fine = l_block(l, "fine");
    l_branch_unlikely(l, condition, raise, fine);
    l_enter(l, fine);
}

/* The arguments of the last one go to the buffer in any case; others have none. */
void l_raise_first(Lower *l, LLVMValueRef any, const RaiseWhen *raises, unsigned count) {
    LLVMBasicBlockRef raise = l_block(l, "raise"), fine = l_block(l, "fine");
    l_branch_unlikely(l, any, raise, fine);
    l_enter(l, raise);
    const RaiseWhen *last = &raises[count - 1];
    RaiseSite site = builtin_site(l, last->builtin, last->format, last->count);
    LLVMValueRef place, status = add_site(l, site, &place);
    if (last->count) l_store(l, site.args, builtin_arguments(l, site, last->args, last->count), place);
    for (unsigned i = count - 1; i-- > 0;) {
        LLVMValueRef number = push_site(l, builtin_site(l, raises[i].builtin, raises[i].format, 0));
        status = l_select(l, raises[i].condition, number, status);
    }
    l_leave(l, status);
    l_enter(l, fine);
}

void l_raise_interrupt(Lower *l) {
    RaiseSite site = site_at(l, l->at);
    site.builtin = "KeyboardInterrupt";
    site.pending = true;
    need_buffer(l, sizeof(RaiseTrail));
    l_leave(l, push_site(l, site));
}

/* A site for each class, one behind the other, so that the status follows from the row. */
void l_raise_raised(Lower *l, LLVMValueRef row) {
    static const char *const names[] = {
#define EXCEPTION(name, base) #name,
#include "ir/ir_exceptions.def"
#undef EXCEPTION
    };
    LLVMBasicBlockRef raise = l_block(l, "raise"), fine = l_block(l, "fine");
    l_branch_unlikely(l, l_icmp(l, LLVMIntNE, row, l_i32(l, 0)), raise, fine);
    l_enter(l, raise);
    RaiseSite site = site_at(l, l->at);
    site.pending = true;
    site.builtin = names[0];
    LLVMValueRef place, first = add_site(l, site, &place);
    for (size_t i = 1; i < COUNT_OF(names); i++) {
        site.builtin = names[i];
        push_site(l, site);
    }
    l_leave(l, LLVMBuildAdd(l->b, row, LLVMBuildSub(l->b, first, l_i32(l, 1), ""), ""));
    l_enter(l, fine);
}

void l_raise_errno_if(Lower *l, LLVMValueRef condition, const char *builtin, int number, const char *text) {
    const Type *items[] = {type_scalar(l->types, SCALAR_INT64, true), type_simple(l->types, TY_STR)};
    const Const **konsts = ARENA_ARRAY(l->arena, const Const *, 2);
    konsts[0] = const_int(l->arena, l->types, number);
    konsts[1] = const_str(l->arena, l->types, text);
    LLVMBasicBlockRef raise = l_block(l, "raise"), fine = l_block(l, "fine");
    l_branch_unlikely(l, condition, raise, fine);
    l_enter(l, raise);
    RaiseSite site = site_at(l, l->at);
    site.builtin = builtin;
    site.args = type_tuple(l->types, items, 2);
    site.konsts = konsts;
    raise_site(l, site, NULL);
    l_enter(l, fine);
}

/* The variables of x[i], for messages. */
static void name_access(AccessSite *site, const Value *at) {
    if (at->op != OP_GETITEM && at->op != OP_SETITEM) return;
    const Value *index = at->args[1];
    if (index->op == OP_TUPLE && site->axis < index->nargs) index = index->args[site->axis];
    site->array = at->args[0]->name;
    site->index = index->name;
}

uint32_t l_access_site(Lower *l, const Value *at, unsigned axis) {
    AccessSite site = {.span = at->span, .axis = axis};
    name_access(&site, at);
    if (l->func && l->func->source) {
        site.file = l->func->source->file;
        site.function = l->func->source->function;
    }
    vec_push(l->arena, &l->m->access_sites, site);
    return (uint32_t)(l->m->access_sites.len - 1);
}

void l_watch(Lower *l, const Value *at, LLVMValueRef pointer, const Type *element, RaceAccess kind) {
    if (!l->m->options.races || !l->target->watch) return;
    l->target->watch(l, at, pointer, element ? type_size(element) : 0, kind);
}

/* ---- raise and check_bound ---- */

/* E(a, b) is the struct of its arguments; operand 0 is the class. */
LLVMValueRef lower_exception(Lower *l, const Value *call) {
    if (call->type->kind != TY_EXC)
        return l_fail(l, "a call of %s is not compiled", l_type_text(l, call->args[0]->type)), NULL;
    LLVMValueRef value = LLVMGetUndef(l_type(l, call->type));
    for (uint32_t i = 0; i < call->type->count && i + 1 < call->nargs; i++)
        if (l_has_bytes(call->type->items[i])) value = l_set_item(l, call->type, value, i, l_arg(l, call, i + 1));
    return value;
}

/* What is known of a value that has no bytes when the function runs: texts and other constants, or a tuple or a text to
 * be made in which some items are such (the others NULL). */
static const Const *known_parts(Lower *l, const Value *value) {
    if (value->op == OP_CONST || (value->konst && !l_has_bytes(value->type))) return value->konst;
    if (value->op != OP_FORMAT && (value->op != OP_TUPLE || value->type->kind != TY_TUPLE)) return NULL;
    Const *known = ARENA_NEW(l->arena, Const);
    const Const **items = ARENA_ARRAY(l->arena, const Const *, value->nargs);
    bool any = false;
    for (uint32_t i = 0; i < value->nargs; i++) any |= (items[i] = known_parts(l, value->args[i])) != NULL;
    known->type = value->type;
    known->items = items;
    return any ? known : NULL;
}

/* Inference leaves E(a, b) as the tuple of its arguments; a call has the class first. */
static const Const *const *constant_args(Lower *l, const Value *exception, uint32_t count) {
    const Const **konsts = ARENA_ARRAY(l->arena, const Const *, count);
    uint32_t first = exception->op == OP_CALL;
    if (exception->op != OP_CALL && exception->op != OP_TUPLE) return konsts;
    for (uint32_t i = 0; i < count && i + first < exception->nargs; i++)
        konsts[i] = known_parts(l, exception->args[i + first]);
    return konsts;
}

/* ---- print ---- */

/* Operands: separator and end, texts; then the values. */
LLVMValueRef lower_func_kernel_print(Lower *l, const Value *call) {
    enum { FIRST = 2 };
    uint32_t count = call->nargs - FIRST;
    const Type **types = ARENA_ARRAY(l->arena, const Type *, count);
    const Const **konsts = ARENA_ARRAY(l->arena, const Const *, count);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = l_arg_type(call, i + FIRST);
        konsts[i] = known_parts(l, call->args[i + FIRST]);
    }
    PrintSite site = {.args = type_tuple(l->types, types, count),
                      .konsts = konsts,
                      .separator = l_arg_const(call, 0)->text,
                      .end = l_arg_const(call, 1)->text};
    LLVMValueRef values = LLVMGetUndef(l_type(l, site.args));
    for (uint32_t i = 0; i < count; i++)
        if (l_has_bytes(types[i])) values = l_set_item(l, site.args, values, i, l_arg(l, call, i + FIRST));
    vec_push(l->arena, &l->m->print_sites, site);
    l->target->print(l, l_i32(l, (int64_t)l->m->print_sites.len - 1), site.args, values);
    return LLVMGetUndef(l_type(l, call->type));
}

bool lower_raise(Lower *l, const Value *value) {
    const Value *exception = value->nargs ? value->args[0] : NULL;
    if (!exception) {
        l_fail(l, "`raise` without an exception is not compiled yet");
        return false;
    }
    const Value *cause = value->nargs > 1 ? value->args[1] : NULL;
    const Type *type = exception->type;
    if (type->kind == TY_CAUGHT) {
        lower_raise_caught(l, l_value(l, exception), value->op == OP_RAISE, cause);
        return true;
    }
    RaiseSite site = site_at(l, value);
    site.class = type->object;
    uint32_t count = type->kind == TY_EXC ? type->count : 0;
    site.args = type_tuple(l->types, type->items, count);
    site.konsts = constant_args(l, exception, count);
    raise_site_from(l, site, count ? l_value(l, exception) : NULL, cause);
    return true;
}

LLVMValueRef lower_check_bound(Lower *l, const Value *value) {
    const char *name = value->imm.text ? value->imm.text : "?";
    const char *text = arena_printf(l->arena,
                                    "cannot access local variable '%s' where it is not associated with a value", name);
    l_raise_if(l, l_not(l, l_arg(l, value, 0)), "UnboundLocalError", text, NULL, 0);
    return LLVMGetUndef(l_type(l, value->type));
}
