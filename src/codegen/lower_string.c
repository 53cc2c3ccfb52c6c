/* lower_string.c: strings: texts of the program, characters, and calls of the interpreter.
 *
 * In: values of TY_STRING, which are lists of code points (lower_list.c), and constants.  Out: a text of the program is
 * an object that lies in the module and is never released; what the interpreter does for compiled code (formats, print,
 * most methods) is one call, with the arguments in memory. */
#include <stddef.h> /* offsetof */

#include "codegen/lower.h"

/* The code point that UTF-8 begins with; the text is valid. */
static uint32_t decode(const char **text) {
    const unsigned char *at = (const unsigned char *)*text;
    unsigned more = at[0] < 0x80 ? 0 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
    uint32_t code = more ? at[0] & (0x3fu >> more) : at[0];
    for (unsigned i = 1; i <= more; i++) code = code << 6 | (at[i] & 0x3fu);
    *text += more + 1;
    return code;
}

static LLVMValueRef global_of(Lower *l, LLVMValueRef initial, const char *name) {
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(initial), name);
    LLVMSetInitializer(global, initial);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetAlignment(global, HEAP_CONTENT);
    return global;
}

/* The fields of HeapHead, of its size, then those of ListBody. */
LLVMValueRef l_const_string(Lower *l, const Const *konst) {
    if (!konst) return l_fail(l, "a str that is not known"), NULL;
    VEC(LLVMValueRef) codes = {0};
    for (const char *at = konst->text; *at;) vec_push(l->arena, &codes, l_i32(l, decode(&at)));
    LLVMValueRef none = l_null(l->ptr), length = l_i64(l, (int64_t)codes.len);
    LLVMValueRef items = codes.len ? global_of(l, LLVMConstArray2(l->i32, codes.data, codes.len), "codes") : none;
    if (codes.len) LLVMSetGlobalConstant(items, true);
    LLVMValueRef fields[] = {l_i32(l, INT32_MIN),
                             l_i32(l, 0),
                             l_i64(l, sizeof(ListBody)),
                             none,
                             none,
                             LLVMConstNull(LLVMArrayType2(l->i8, HEAP_CONTENT - offsetof(HeapHead, before))),
                             length,
                             length,
                             items,
                             none,
                             l_i32(l, sizeof(uint32_t)),
                             l_i32(l, 0)};
    LLVMValueRef object = global_of(l, LLVMConstStructInContext(l->context, fields, COUNT_OF(fields), false), "string");
    return l_offset(l, object, l_i64(l, OWNER_HEAP));
}

static LLVMValueRef raise_without_memory(Lower *l, LLVMValueRef head) {
    TRY(head);
    l_raise_if(l, l_icmp(l, LLVMIntEQ, head, l_null(l->ptr)), "MemoryError", "", NULL, 0);
    return l_offset(l, head, l_i64(l, OWNER_HEAP));
}

static LLVMValueRef new_object(Lower *l, const char *symbol, LLVMValueRef from) {
    return raise_without_memory(l, l_call_named(l, symbol, l->ptr, &from, 1));
}

LLVMValueRef lower_func_character(Lower *l, const Value *call) {
    return new_object(l, "krait_heap_character", LLVMBuildTrunc(l->b, l_arg(l, call, 0), l->i32, ""));
}

LLVMValueRef lower_func_characters(Lower *l, const Value *call) {
    return new_object(l, "krait_heap_characters", l_offset(l, l_arg(l, call, 0), l_i64(l, -OWNER_HEAP)));
}

static LLVMValueRef join(Lower *l, const Value *call, const char *symbol) {
    LLVMValueRef args[] = {l_offset(l, l_arg(l, call, 0), l_i64(l, -OWNER_HEAP)),
                           l_offset(l, l_arg(l, call, 1), l_i64(l, -OWNER_HEAP))};
    LLVMValueRef head = l_call_named(l, symbol, l->ptr, args, COUNT_OF(args));
    return raise_without_memory(l, head);
}

LLVMValueRef lower_func_joined(Lower *l, const Value *call) { return join(l, call, "krait_heap_joined"); }

LLVMValueRef lower_func_grown(Lower *l, const Value *call) { return join(l, call, "krait_heap_grown"); }

LLVMValueRef lower_func_character_traits(Lower *l, const Value *call) {
    LLVMValueRef args[] = {LLVMBuildTrunc(l->b, l_arg(l, call, 0), l->i32, ""),
                           LLVMBuildTrunc(l->b, l_arg(l, call, 1), l->i32, "")};
    LLVMValueRef traits = l_call_named(l, "krait_host_character_traits", l->i32, args, COUNT_OF(args));
    TRY(traits);
    l_call_attribute(l, traits, -1, "memory", 0);
    return LLVMBuildZExt(l->b, traits, l->i64, "");
}

/* Operands from number `first` on go to the interpreter: 0, or what it raises, by its row in ir_exceptions.def, counted
 * from 1.  Calls share their memory: where a function is inlined, LLVM ends the life of each local variable at each
 * return. */
static LLVMValueRef call_host(Lower *l, const Value *call, uint32_t first, const char *what, LLVMValueRef to) {
    uint32_t count = call->nargs - first;
    const Type **types = ARENA_ARRAY(l->arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++) types[i] = l_arg_type(call, first + i);
    const Type *tuple = type_tuple(l->types, types, count);
    LLVMValueRef arguments = l_take_scratch(l, NULL, type_size(tuple) + 1, "arguments");
    for (uint32_t i = 0; i < count; i++)
        if (l_has_bytes(types[i]))
            l_store(l, types[i], l_arg(l, call, first + i),
                    l_offset(l, arguments, l_i64(l, (int64_t)type_item_offset(tuple, i))));
    LLVMValueRef args[] = {l_cstring(l, what), l_address(l, tuple), arguments, l_address(l, call->type), to};
    LLVMValueRef raised = l_call_named(l, "krait_host_python", l->i32, args, COUNT_OF(args));
    l_give_scratch(l, arguments);
    return raised;
}

/* Operand 0 says what is called; the rest are its arguments. */
LLVMValueRef lower_func_call_python(Lower *l, const Value *call) {
    const Type *result = call->type;
    LLVMValueRef to = l_take_scratch(l, NULL, type_size(result) + 1, "result");
    LLVMValueRef raised = call_host(l, call, 1, l_arg_const(call, 0)->text, to);
    TRY(raised);
    l_raise_raised(l, raised);
    LLVMValueRef got = l_has_bytes(result) ? l_load(l, result, to) : LLVMGetUndef(l_type(l, result));
    l_give_scratch(l, to);
    bool may_borrow = result->kind == TY_RANDOM || call->imm.func->id == FUNC_RUN_PYTHON;
    if (may_borrow) l->m->tells_caught = true; /* who called keeps the object */
    return got;
}

/* Operand 0 is the exception that was caught, the rest are the arguments: type(e)(...). */
LLVMValueRef lower_func_exception_like(Lower *l, const Value *call) {
    l->m->tells_caught = true;
    TRY(call_host(l, call, 1, "~", l_arg(l, call, 0)));
    return l_caught_new(l, NULL, 0);
}

/* Operand 0 is the exception without an object, 1 its class, the rest its arguments. */
LLVMValueRef lower_func_exception_new(Lower *l, const Value *call) {
    ObjRef class = l_arg_type(call, 1)->object;
    const Value *made = call->args[0];
    l->m->tells_caught |= l->m->keeps_raised;
    if (!(made->flags & VF_OBJECT)) {
        TRY(call_host(l, call, 1, "!", l_null(l->ptr)));
        return l_caught_new(l, NULL, class);
    }
    LLVMValueRef memory = l->s->made[made->id];
    LIf first;
    l_if(l, &first, LLVMBuildIsNull(l->b, l_raw_load(l, l->ptr, l_raised(l, memory), 8), ""));
    TRY(call_host(l, call, 1, "!", l_null(l->ptr)));
    l_caught_new(l, memory, class);
    l_endif(l, &first);
    return memory;
}
