/* ufunc_kernel.c: the elementwise kernel of a vectorised function: one thread an element, or UFUNC_LANES elements with
 * wide accesses.
 *
 * In: the lowered root, scalar in, scalar (or a tuple of scalars) out.  Out: the kernel that codegen_nvptx.h describes.
 *
 * The number of the thread, or UFUNC_LANES times it, is split into coordinates by the axes' lengths, innermost first,
 * with multiplications by reciprocals that the launcher computed; each coordinate moves every operand by its stride.
 * Whether the axes are one or six is a branch all threads take alike.
 *
 * In the form for rows (UfuncForm) the grid has a row of blocks for each row of elements, so that the coordinate along
 * axis 0 needs no division and what the outer axes add is the same in a whole block; coordinates and strides are of 32
 * bits; which inputs are single values is known.  For as soon as the body has a division, such a kernel is limited by
 * the instructions it issues rather than by memory.
 *
 * In UFUNC_VECTOR mode an operand that moves along axis 0 is read or written as one vector, one that does not is read
 * once.  That pays where memory is the limit.  A body with branches, divisions or long calls is better off with a
 * thread for each element: its lanes would run one after the other in a quarter of the threads. */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

typedef struct Operand {
    const Type *type;
    LLVMValueRef data, strides[UFUNC_MAX_NDIM];
} Operand;

typedef struct Kernel {
    const FuncInst *root;
    unsigned nin, count; /* inputs; operands */
    Operand operands[UFUNC_MAX_OPERANDS];
    LLVMValueRef size, mode, ndim, shape[UFUNC_MAX_NDIM], reciprocal[UFUNC_MAX_NDIM], immediate, packed, rows;
    LLVMBasicBlockRef leave;
} Kernel;

static bool find_operands(Lower *l, Kernel *k, const FuncInst *root) {
    const Func *f = root->untyped;
    bool tuple = root->result->kind == TY_TUPLE;
    k->root = root;
    k->nin = f->nparams;
    k->count = k->nin + (tuple ? root->result->count : 1);
    FAIL_IF(k->count > UFUNC_MAX_OPERANDS, l->diag, UNSUPPORTED, f->source, f->span,
            "a vectorised function has at most %d arguments and results", UFUNC_MAX_OPERANDS);
    for (unsigned i = 0; i < k->count; i++) {
        const Type *type = i < k->nin ? root->types[i] : tuple ? root->result->items[i - k->nin] : root->result;
        FAIL_IF(!type_is_scalar(type), l->diag, TYPING, f->source, f->span,
                "%s of a vectorised function must be a scalar, not %s%s", i < k->nin ? "an argument" : "the result",
                type_text(l->arena, type), i < k->nin ? "" : ": return a number, or a tuple of numbers");
        k->operands[i].type = type;
    }
    return true;
}

static LLVMValueRef low_half(Lower *l, LLVMValueRef number) { return LLVMBuildTrunc(l->b, number, l->i32, ""); }

static void add_kernel(Lower *l, Kernel *k) {
    unsigned head = sizeof(UfuncHead) / 8, each = sizeof(UfuncOperand) / 8, count = head + each * k->count;
    LLVMTypeRef *params = ARENA_ARRAY(l->arena, LLVMTypeRef, count);
    for (unsigned i = 0; i < count; i++) params[i] = i >= head && (i - head) % each == 0 ? l->ptr : l->i64;
    LLVMValueRef kernel = nvptx_add_kernel(l, params, count);
    l_begin(l, kernel);
    l->nhidden = 0;
    l->exception = NULL;
    k->size = LLVMGetParam(kernel, 0);
    k->mode = low_half(l, LLVMGetParam(kernel, 1));
    k->ndim = low_half(l, LLVMGetParam(kernel, 2));
    for (unsigned d = 0; d < UFUNC_MAX_NDIM; d++) {
        k->shape[d] = LLVMGetParam(kernel, 3 + d);
        k->reciprocal[d] = LLVMGetParam(kernel, 3 + UFUNC_MAX_NDIM + d);
    }
    k->immediate = low_half(l, LLVMGetParam(kernel, 3 + 2 * UFUNC_MAX_NDIM));
    k->packed = low_half(l, LLVMGetParam(kernel, 4 + 2 * UFUNC_MAX_NDIM));
    k->rows = low_half(l, LLVMGetParam(kernel, 5 + 2 * UFUNC_MAX_NDIM));
    for (unsigned i = 0; i < k->count; i++) {
        k->operands[i].data = LLVMGetParam(kernel, head + each * i);
        for (unsigned d = 0; d < UFUNC_MAX_NDIM; d++)
            k->operands[i].strides[d] = LLVMGetParam(kernel, head + each * i + 1 + d);
    }
}

/* Where a thread's element is: in the form for rows its number along axis 0 and in the product of the outer axes, both
 * i32; else its number in the order of the result, i64. */
typedef struct Place {
    LLVMValueRef column, row, number; /* column NULL: number alone counts */
} Place;

/* number / shape[axis], by the reciprocal: the high half of the product. */
static LLVMValueRef divide(Lower *l, const Kernel *k, LLVMValueRef number, unsigned axis) {
    LLVMTypeRef wide = LLVMIntTypeInContext(l->context, 128);
    LLVMValueRef product = LLVMBuildNUWMul(l->b, LLVMBuildZExt(l->b, number, wide, ""),
                                           LLVMBuildZExt(l->b, k->reciprocal[axis], wide, ""), "");
    return LLVMBuildTrunc(l->b, LLVMBuildLShr(l->b, product, LLVMConstInt(wide, 64, false), ""), LLVMTypeOf(number),
                          "");
}

/* As the instruction: text works on the operands in the order of its constraints and has no effect but its result. */
static LLVMValueRef assembly(Lower *l, const char *text, const char *constraints, LLVMTypeRef result,
                             LLVMValueRef *operands, unsigned count) {
    LLVMTypeRef types[3];
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(operands[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), false, false,
                                         LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(l->b, type, code, operands, count, "");
}

/* offset + coordinate * stride, in bytes: one instruction, which LLVM takes apart if left to itself, where the place is
 * known to be small. */
static LLVMValueRef advance(Lower *l, LLVMValueRef offset, LLVMValueRef coordinate, LLVMValueRef stride) {
    if (LLVMTypeOf(coordinate) == l->i64) return l_nswadd(l, offset, l_nswmul(l, coordinate, stride));
    LLVMValueRef operands[] = {coordinate, low_half(l, stride), offset};
    return assembly(l, "mad.wide.s32 $0, $1, $2, $3;", "=l,r,r,l", l->i64, operands, 3);
}

/* The pointers of operands first ... beyond - 1 at a place: nested branches on ndim, one level an axis. */
static void locate(Lower *l, Kernel *k, const Place *place, unsigned first, unsigned beyond, LLVMValueRef *at) {
    LLVMBasicBlockRef done = l_block(l, "located"), from[UFUNC_MAX_NDIM];
    LLVMValueRef offset[UFUNC_MAX_OPERANDS], incoming[UFUNC_MAX_OPERANDS][UFUNC_MAX_NDIM];
    unsigned from_axis = place->column ? 1 : 0, ways = 0;
    LLVMValueRef number = place->column ? place->row : place->number;
    for (unsigned i = first; i < beyond; i++)
        offset[i] = place->column ? advance(l, l_i64(l, 0), place->column, k->operands[i].strides[0]) : l_i64(l, 0);
    for (unsigned d = from_axis;; d++) {
        bool end = d + 1 == UFUNC_MAX_NDIM || (place->column && l->m->options.ufunc.two_axes);
        LLVMBasicBlockRef last = l_block(l, "axis.last"), more = end ? NULL : l_block(l, "axis.more");
        if (more)
            l_branch(l, l_icmp(l, LLVMIntSGT, k->ndim, l_i32(l, d + 1)), more, last);
        else
            l_jump(l, last);
        l_enter(l, last);
        for (unsigned i = first; i < beyond; i++)
            incoming[i][ways] = advance(l, offset[i], number, k->operands[i].strides[d]);
        from[ways++] = l_here(l);
        l_jump(l, done);
        if (!more) break;
        l_enter(l, more);
        if (d == 0) number = l_and(l, number, l_i64(l, UINT32_MAX)); /* as it is: ufunc_reciprocal; LLVM is told */
        LLVMValueRef quotient = divide(l, k, number, d);
        LLVMValueRef coordinate = l_sub(l, low_half(l, number),
                                        l_mul(l, low_half(l, quotient), low_half(l, k->shape[d])));
        if (!place->column) coordinate = LLVMBuildZExt(l->b, coordinate, l->i64, "");
        for (unsigned i = first; i < beyond; i++)
            offset[i] = advance(l, offset[i], coordinate, k->operands[i].strides[d]);
        number = quotient;
    }
    l_enter(l, done);
    for (unsigned i = first; i < beyond; i++) {
        at[i] = LLVMBuildPhi(l->b, l->i64, "");
        LLVMAddIncoming(at[i], incoming[i], from, ways);
    }
    for (unsigned i = first; i < beyond; i++) at[i] = l_offset(l, k->operands[i].data, at[i]);
}

/* The value whose bytes are the low ones of an i64. */
static LLVMValueRef from_bits(Lower *l, const Type *type, LLVMValueRef bits) {
    if (scalar_info[type->scalar].kind == 'c') {
        LLVMValueRef high = LLVMBuildLShr(l->b, bits, l_i64(l, 32), "");
        LLVMValueRef re = LLVMBuildBitCast(l->b, LLVMBuildTrunc(l->b, bits, l->i32, ""), l->f32, "");
        return l_complex(l, re, LLVMBuildBitCast(l->b, LLVMBuildTrunc(l->b, high, l->i32, ""), l->f32, ""));
    }
    LLVMTypeRef target = l_scalar_type(l, (Scalar)type->scalar);
    if (type_is_integer(type)) return target == l->i64 ? bits : LLVMBuildTrunc(l->b, bits, target, "");
    LLVMTypeRef integer = LLVMIntTypeInContext(l->context, 8u * scalar_info[type->scalar].bytes);
    return LLVMBuildBitCast(l->b, integer == l->i64 ? bits : LLVMBuildTrunc(l->b, bits, integer, ""), target, "");
}

/* One element of input `i`, from memory or as it stands among the parameters. */
static LLVMValueRef load_element(Lower *l, const Kernel *k, unsigned i, LLVMValueRef at) {
    const Operand *operand = &k->operands[i];
    if (scalar_info[operand->type->scalar].bytes > UFUNC_IMMEDIATE_BYTES) return l_load(l, operand->type, at);
    LLVMValueRef value = from_bits(l, operand->type, operand->strides[UFUNC_MAX_NDIM - 1]);
    const UfuncForm *form = &l->m->options.ufunc;
    if (form->rows) return form->immediate >> i & 1 ? value : l_load(l, operand->type, at);
    LIf immediate;
    l_if(l, &immediate, l_icmp(l, LLVMIntNE, l_and(l, k->immediate, l_i32(l, 1u << i)), l_i32(l, 0)));
    l_else(l, &immediate);
    LLVMValueRef loaded = l_load(l, operand->type, at);
    l_endif(l, &immediate);
    return l_if_phi(l, &immediate, value, loaded);
}

/* One result per operand after the inputs. */
static bool call_body(Lower *l, Kernel *k, LLVMValueRef const *inputs, LLVMValueRef *results) {
    LLVMValueRef status = NULL;
    LLVMValueRef result = l_call_inst(l, k->root, inputs, &status);
    TRY(result);
    bool tuple = k->root->result->kind == TY_TUPLE;
    for (unsigned i = k->nin; i < k->count; i++)
        results[i - k->nin] = tuple ? l_item(l, k->root->result, result, i - k->nin) : result;
    return true;
}

/* A copy that LLVM takes for another number: what is computed from it is not kept in registers from before. */
static LLVMValueRef another(Lower *l, LLVMValueRef number) {
    bool wide = LLVMTypeOf(number) == l->i64;
    return assembly(l, wide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", wide ? "=l,l" : "=r,r", LLVMTypeOf(number),
                    &number, 1);
}

/* As locate, for the results: the n-th in memory where they lie without gaps. */
static void locate_results(Lower *l, Kernel *k, const Place *place, LLVMValueRef *at) {
    LLVMValueRef packed[UFUNC_MAX_OPERANDS];
    if (place->column) {
        locate(l, k, place, k->nin, k->count, at);
        return;
    }
    LIf simple;
    l_if(l, &simple, l_icmp(l, LLVMIntNE, k->packed, l_i32(l, 0)));
    for (unsigned i = k->nin; i < k->count; i++) {
        int64_t bytes = scalar_info[k->operands[i].type->scalar].bytes;
        packed[i] = l_offset(l, k->operands[i].data, l_nswmul(l, place->number, l_i64(l, bytes)));
    }
    l_else(l, &simple);
    locate(l, k, place, k->nin, k->count, at);
    l_endif(l, &simple);
    for (unsigned i = k->nin; i < k->count; i++) at[i] = l_if_phi(l, &simple, packed[i], at[i]);
}

/* Where the results go is found after they are computed: registers decide how many threads run at once, and with them
 * how much memory is under way. */
static bool one_element(Lower *l, Kernel *k, const Place *place) {
    LLVMValueRef at[UFUNC_MAX_OPERANDS], inputs[UFUNC_MAX_OPERANDS], results[UFUNC_MAX_OPERANDS];
    locate(l, k, place, 0, k->nin, at);
    for (unsigned i = 0; i < k->nin; i++) inputs[i] = load_element(l, k, i, at[i]);
    TRY(call_body(l, k, inputs, results));
    Place again = {0};
    if (place->column)
        again = (Place){.column = another(l, place->column), .row = another(l, place->row)};
    else
        again.number = another(l, place->number);
    locate_results(l, k, &again, at);
    for (unsigned i = k->nin; i < k->count; i++) l_store(l, k->operands[i].type, results[i - k->nin], at[i]);
    l_jump(l, k->leave);
    return true;
}

/* ---- lanes ---- */

static bool is_complex(const Type *type) { return scalar_info[type->scalar].kind == 'c'; }

/* A vector of UFUNC_LANES elements in memory; complex elements are two parts each. */
static LLVMTypeRef lanes_type(Lower *l, const Type *type, LLVMTypeRef *part, unsigned *parts) {
    *parts = is_complex(type) ? 2 : 1;
    *part = is_complex(type) ? (type->scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64)
                             : l_memory_type(l, (Scalar)type->scalar);
    return LLVMVectorType(*part, UFUNC_LANES * *parts);
}

static unsigned lanes_align(const Type *type) {
    unsigned bytes = UFUNC_LANES * scalar_info[type->scalar].bytes;
    return bytes < 16 ? bytes : 16;
}

static LLVMValueRef lane_of(Lower *l, const Type *type, LLVMValueRef vector, unsigned lane) {
    if (is_complex(type))
        return l_complex(l, LLVMBuildExtractElement(l->b, vector, l_i32(l, 2 * lane), ""),
                         LLVMBuildExtractElement(l->b, vector, l_i32(l, 2 * lane + 1), ""));
    LLVMValueRef value = LLVMBuildExtractElement(l->b, vector, l_i32(l, lane), "");
    return type->scalar == SCALAR_BOOL ? LLVMBuildTrunc(l->b, value, l->i1, "") : value;
}

static LLVMValueRef with_lane(Lower *l, const Type *type, LLVMValueRef vector, unsigned lane, LLVMValueRef value) {
    if (is_complex(type)) {
        vector = LLVMBuildInsertElement(l->b, vector, l_extract(l, value, 0), l_i32(l, 2 * lane), "");
        return LLVMBuildInsertElement(l->b, vector, l_extract(l, value, 1), l_i32(l, 2 * lane + 1), "");
    }
    if (type->scalar == SCALAR_BOOL) value = LLVMBuildZExt(l->b, value, l->i8, "");
    return LLVMBuildInsertElement(l->b, vector, value, l_i32(l, lane), "");
}

/* The lanes of an input: one wide load, or, where the operand does not move along axis 0, one element in every lane. */
static LLVMValueRef load_lanes(Lower *l, const Kernel *k, unsigned i, LLVMValueRef at) {
    const Operand *operand = &k->operands[i];
    LLVMTypeRef part;
    unsigned parts;
    LLVMTypeRef vector_type = lanes_type(l, operand->type, &part, &parts);
    LLVMValueRef moves = l_icmp(l, LLVMIntNE, operand->strides[0], l_i64(l, 0));
    LIf wide;
    l_if(l, &wide, moves);
    LLVMValueRef vector = l_raw_load(l, vector_type, at, lanes_align(operand->type));
    l_else(l, &wide);
    LLVMValueRef one = load_element(l, k, i, at), splat = LLVMGetUndef(vector_type);
    for (unsigned lane = 0; lane < UFUNC_LANES; lane++) splat = with_lane(l, operand->type, splat, lane, one);
    l_endif(l, &wide);
    return l_if_phi(l, &wide, vector, splat);
}

static bool many_elements(Lower *l, Kernel *k, LLVMValueRef number) {
    LLVMValueRef at[UFUNC_MAX_OPERANDS], lanes[UFUNC_MAX_OPERANDS], inputs[UFUNC_MAX_OPERANDS],
        results[UFUNC_MAX_OPERANDS];
    locate(l, k, &(Place){.number = number}, 0, k->count, at);
    for (unsigned i = 0; i < k->nin; i++) lanes[i] = load_lanes(l, k, i, at[i]);
    for (unsigned i = k->nin; i < k->count; i++) {
        LLVMTypeRef part;
        unsigned parts;
        lanes[i] = LLVMGetUndef(lanes_type(l, k->operands[i].type, &part, &parts));
    }
    for (unsigned lane = 0; lane < UFUNC_LANES; lane++) {
        for (unsigned i = 0; i < k->nin; i++) inputs[i] = lane_of(l, k->operands[i].type, lanes[i], lane);
        TRY(call_body(l, k, inputs, results));
        for (unsigned i = k->nin; i < k->count; i++)
            lanes[i] = with_lane(l, k->operands[i].type, lanes[i], lane, results[i - k->nin]);
    }
    for (unsigned i = k->nin; i < k->count; i++) l_raw_store(l, lanes[i], at[i], lanes_align(k->operands[i].type));
    l_jump(l, k->leave);
    return true;
}

/* The elements left over at the end of a single axis whose length is no multiple of UFUNC_LANES: this thread takes them
 * one by one. */
static bool tail(Lower *l, Kernel *k, LLVMValueRef first) {
    LLVMBasicBlockRef finished = k->leave;
    LFor loop;
    LLVMValueRef index = l_for(l, &loop, l_nswsub(l, k->size, first));
    LLVMBasicBlockRef next = l_block(l, "next");
    k->leave = next;
    TRY(one_element(l, k, &(Place){.number = l_nswadd(l, first, index)}));
    l_enter(l, next);
    l_endfor(l, &loop);
    l_jump(l, finished);
    k->leave = finished;
    return true;
}

enum { FEW_CALLS = 2 };

/* A function of float32 that is a short sequence without branches: four of them in a thread still wait for memory. */
static bool is_short_call(const Value *call) {
    return type_is_scalar(call->type) && call->type->scalar == SCALAR_FLOAT32 && func_row(call->imm.func)->is_short;
}

/* Whether memory is what limits the body: straight-line code of operations that take a few cycles. */
static bool is_light(const FuncInst *root) {
    unsigned calls = 0;
    if (root->func->blocks.len != 1) return false;
    for (const Value *value = root->func->blocks.data[0]->first; value; value = value->next) {
        switch (value->op) {
        case OP_TRUEDIV:
        case OP_FLOORDIV:
        case OP_MOD:
        case OP_POW:
        case OP_CALL_INST: return false;
        case OP_CALL_FUNC: {
            FuncHow how = func_row(value->imm.func)->how;
            if (how == HOW_OP || how == HOW_TYPED) break;
            if (!is_short_call(value) || ++calls > FEW_CALLS) return false;
            break;
        }
        default: break;
        }
    }
    return true;
}

/* Emits the vector mode; the builder is left where one thread is to take one element. */
static bool vector_mode(Lower *l, Kernel *k, LLVMValueRef number) {
    LLVMBasicBlockRef vector = l_block(l, "vector"), strided = l_block(l, "strided");
    l_branch(l, l_icmp(l, LLVMIntEQ, k->mode, l_i32(l, UFUNC_VECTOR)), vector, strided);
    l_enter(l, vector);
    LLVMValueRef first = l_nswmul(l, number, l_i64(l, UFUNC_LANES));
    LLVMBasicBlockRef inside = l_block(l, "inside"), whole = l_block(l, "whole"), rest = l_block(l, "rest");
    l_branch(l, l_icmp(l, LLVMIntSLT, first, k->size), inside, k->leave);
    l_enter(l, inside);
    l_branch(l, l_icmp(l, LLVMIntSLE, l_nswadd(l, first, l_i64(l, UFUNC_LANES)), k->size), whole, rest);
    l_enter(l, whole);
    TRY(many_elements(l, k, first));
    l_enter(l, rest);
    TRY(tail(l, k, first));
    l_enter(l, strided);
    return true;
}

/* The form with rows of blocks: one element a thread. */
static bool row_form(Lower *l, Kernel *k) {
    const Target *target = l->target;
    LLVMValueRef column = l_nswadd(
        l, target->special(l, SPECIAL_THREAD_X),
        l_nswmul(l, target->special(l, SPECIAL_BLOCK_X), target->special(l, SPECIAL_BLOCK_DIM_X)));
    LLVMValueRef row = l_nswadd(
        l, target->special(l, SPECIAL_BLOCK_Y),
        l_nswmul(l, target->special(l, SPECIAL_BLOCK_Z), target->special(l, SPECIAL_GRID_DIM_Y)));
    LLVMBasicBlockRef element = l_block(l, "element");
    LLVMValueRef inside = l_and(l, l_icmp(l, LLVMIntSLT, column, low_half(l, k->shape[0])),
                                l_icmp(l, LLVMIntSLT, row, k->rows));
    l_branch(l, inside, element, k->leave);
    l_enter(l, element);
    return one_element(l, k, &(Place){.column = column, .row = row});
}

/* The form for all other shapes. */
static bool general_form(Lower *l, Kernel *k) {
    const Target *target = l->target;
    LLVMValueRef block = LLVMBuildZExt(l->b, target->special(l, SPECIAL_BLOCK_X), l->i64, "");
    LLVMValueRef width = LLVMBuildZExt(l->b, target->special(l, SPECIAL_BLOCK_DIM_X), l->i64, "");
    LLVMValueRef thread = LLVMBuildZExt(l->b, target->special(l, SPECIAL_THREAD_X), l->i64, "");
    LLVMValueRef number = l_nswadd(l, l_nswmul(l, block, width), thread);
    if (l->m->ufunc_lanes > 1) TRY(vector_mode(l, k, number));
    LLVMBasicBlockRef element = l_block(l, "element");
    l_branch(l, l_icmp(l, LLVMIntSLT, number, k->size), element, k->leave);
    l_enter(l, element);
    return one_element(l, k, &(Place){.number = number});
}

bool nvptx_ufunc_entry(Lower *l, const FuncInst *root) {
    Kernel k = {0};
    TRY(find_operands(l, &k, root));
    add_kernel(l, &k);
    k.leave = l_block(l, "leave");
    l->m->ufunc_lanes = is_light(root) ? UFUNC_LANES : 1;
    TRY(l->m->options.ufunc.rows ? row_form(l, &k) : general_form(l, &k));
    l_enter(l, k.leave);
    LLVMBuildRetVoid(l->b);
    l_end(l);
    return true;
}
