/* lower_libdevice.c: calls of krait.cuda.libdevice.
 *
 * In: a CALL_FUNC of a row of libdevice.def, its operands in the row's types.  Out: its value.  On a GPU they are calls
 * of libdevice, elsewhere of rtlib's functions of the same meaning (rtlib/libdevice.c). */
#include <string.h> /* strlen */

#include "codegen/lowering.h" /* Lower */

enum { MAX_ARGUMENTS = 4, MAX_RESULTS = 2 };

LLVMValueRef lower_func_libdevice(Lower *l, const Value *call) {
    const FuncInfo *info = func_row(call->imm.func);
    LLVMValueRef args[MAX_ARGUMENTS + MAX_RESULTS], items[MAX_RESULTS];
    const char *prefix = l->target->math == MATH_LIBDEVICE ? "__nv_" : "krait_nv_";
    const char *name = strrchr(info->head.names, '.') + 1;
    bool pair = call->type->kind == TY_TUPLE;
    unsigned count = call->nargs,
             written = info->signature[count + 1] == '*' ? 0 : 1; /* the first result that is not returned */
    for (unsigned i = 0; i < count; i++) args[i] = l_arg(l, call, i);
    for (unsigned i = written; pair && i < MAX_RESULTS; i++)
        items[i] = args[count++] = l_alloca_value(l, call->type->items[i], "result");
    LLVMTypeRef type = !written ? l->v : l_type(l, pair ? call->type->items[0] : call->type);
    LLVMValueRef result = l_call_named(l, arena_printf(l->arena, "%s%s", prefix, name), type, args, count);
    if (!pair) return result;
    if (written) items[0] = result;
    for (unsigned i = written; i < MAX_RESULTS; i++) items[i] = l_load(l, call->type->items[i], items[i]);
    return l_make_items(l, call->type, items);
}
