/* verify.c: is a function well formed?  All faults are collected and shown in the function's text, below the lines they
 * belong to.
 *
 * Rounds, each only if the rounds before leave it something to stand on: numbers of blocks and values are in range and
 * unique; each block, edge and value has its form; definitions dominate uses, along raise edges too (verify_unwind.c);
 * types fit (verify_types.c); references are given up once (verify_ownership.c).  The function is not touched. */
#include "ir/verify.h"

void verify_fault(Verifier *verifier, const Block *block, const Value *value, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Fault fault = {block, value, arena_vprintf(verifier->arena, format, args)};
    va_end(args);
    vec_push(verifier->arena, &verifier->faults, fault);
}

/* ---- numbers ---- */

static void check_numbers(Verifier *verifier) {
    const Func *func = verifier->func;
    const Block **blocks = verifier->blocks = ARENA_ARRAY(verifier->arena, const Block *, func->next_block);
    const Value **values = verifier->values = ARENA_ARRAY(verifier->arena, const Value *, func->next_value);
    uint32_t place = 0;
    verifier->places = ARENA_ARRAY(verifier->arena, uint32_t, func->next_value);
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Block *block = func->blocks.data[b];
        if (block->id >= func->next_block)
            verify_fault(verifier, block, NULL, "the block's number is out of range");
        else if (blocks[block->id])
            verify_fault(verifier, block, NULL, "another block has this number");
        else
            blocks[block->id] = block;
        const Value *prev = NULL;
        for (const Value *value = block->first; value; prev = value, value = value->next) {
            if (value->block != block) verify_fault(verifier, block, value, "the value does not know its block");
            if (value->prev != prev) verify_fault(verifier, block, value, "the value does not know the one before it");
            if (value->id >= func->next_value)
                verify_fault(verifier, block, value, "the number is out of range");
            else if (values[value->id])
                verify_fault(verifier, block, value, "another value has this number");
            else
                values[value->id] = value, verifier->places[value->id] = place++;
        }
        if (block->last != prev) verify_fault(verifier, block, NULL, "the block does not know its last value");
    }
    if (!func->blocks.len) verify_fault(verifier, NULL, NULL, "there is no entry block");
}

/* ---- blocks and edges ---- */

static size_t count_preds(const Block *block, const Block *pred) {
    size_t found = 0;
    for (size_t i = 0; i < block->preds.len; i++) found += block->preds.data[i] == pred;
    return found;
}

static bool block_in_func(const Verifier *verifier, const Block *block) {
    return block->id < verifier->func->next_block && verifier->blocks[block->id] == block;
}

static void check_edges(Verifier *verifier, const Block *block) {
    for (uint32_t i = 0; i < block->succs.len; i++) {
        const Block *succ = block->succs.data[i];
        if (!succ || !block_in_func(verifier, succ))
            verify_fault(verifier, block, NULL, "successor %u is not in the function", (unsigned)i);
        else if (count_preds(succ, block) != block_count_edges(block, succ))
            verify_fault(verifier, block, NULL, "b%u does not know the block as its predecessor", (unsigned)succ->id);
    }
    for (size_t i = 0; i < block->preds.len; i++) {
        const Block *pred = block->preds.data[i];
        if (!pred || !block_in_func(verifier, pred))
            verify_fault(verifier, block, NULL, "predecessor %zu is not in the function", i);
        else if (!block_count_edges(pred, block))
            verify_fault(verifier, block, NULL, "b%u does not know the block as its successor", (unsigned)pred->id);
    }
}

static size_t wanted_succs(Op op) { return op == OP_BRANCH ? 2 : op == OP_JUMP ? 1 : 0; }

static void check_block(Verifier *verifier, const Block *block) {
    check_edges(verifier, block);
    if (!block->last || !op_is_terminator(block->last->op)) {
        verify_fault(verifier, block, NULL,
                     "the block does not end in jump, branch, return, raise, resume or unreachable");
    } else if (block_normal_succs(block) != wanted_succs(block->last->op)) {
        verify_fault(verifier, block, block->last, "%s goes to %zu blocks, not %zu", op_info[block->last->op].text,
                     wanted_succs(block->last->op), block_normal_succs(block));
    }
    if (block->unwinds && block_count_edges(block, block_unwind(block)) > 1)
        verify_fault(verifier, block, NULL, "what is raised goes where the terminator goes");
    bool entry = block == verifier->func->blocks.data[0], past_phis = false;
    if (entry && block->preds.len) verify_fault(verifier, block, NULL, "the entry block has predecessors");
    for (const Value *value = block->first; value; value = value->next) {
        if (value->op == OP_PHI && past_phis) verify_fault(verifier, block, value, "a phi stands behind other values");
        if (value->op != OP_PHI) past_phis = true;
        if (op_is_terminator(value->op) && value != block->last)
            verify_fault(verifier, block, value, "%s stands before the end of the block", op_info[value->op].text);
    }
}

static void check_params(Verifier *verifier) {
    const Func *func = verifier->func;
    const Block *entry = func->blocks.data[0];
    const Value *value = entry->first;
    for (uint32_t i = 0; i < func->nparams; i++, value = value->next) {
        if (value && value->op == OP_PARAM && value->imm.i == i && value->id == i) continue;
        verify_fault(verifier, entry, NULL, "value %u of the entry block is not parameter number %u", (unsigned)i,
                     (unsigned)i);
        return;
    }
    for (; value; value = value->next)
        if (value->op == OP_PARAM) verify_fault(verifier, entry, value, "a param stands behind the parameters");
    for (size_t b = 1; b < func->blocks.len; b++)
        for (value = func->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_PARAM)
                verify_fault(verifier, value->block, value, "a param stands outside the entry block");
}

/* ---- values ---- */

static void check_imm(Verifier *verifier, const Value *value) {
    const Block *block = value->block;
    switch (value->op) {
    case OP_CONST:
        if (!value->konst) verify_fault(verifier, block, value, "the constant is missing");
        break;
    case OP_UNPACK:
    case OP_UNPACK_EX:
    case OP_EXTRACT:
        if (value->imm.i < 0) verify_fault(verifier, block, value, "the number in brackets is negative");
        break;
    case OP_GETATTR:
    case OP_SETATTR:
    case OP_CELL_GET:
    case OP_CHECK_BOUND:
        if (!value->imm.text) verify_fault(verifier, block, value, "the name is missing");
        break;
    case OP_BROADCAST:
    case OP_MAP:
        if (value->imm.i < (value->op == OP_MAP) || value->imm.i > value->nargs)
            verify_fault(verifier, block, value, "the number of destinations is wrong");
        break;
    case OP_REDUCE:
        if (value->imm.i < 0 || value->imm.i >= REDUCTION_COUNT)
            verify_fault(verifier, block, value, "there is no such reduction");
        break;
    case OP_THREADS:
        if (value->imm.i < 0 || value->imm.i > value->nargs)
            verify_fault(verifier, block, value, "the number of results is wrong");
        if (!value->imm.inst) verify_fault(verifier, block, value, "the function is missing");
        break;
    case OP_CALL_INST:
        if (!value->imm.inst) verify_fault(verifier, block, value, "the function is missing");
        break;
    default: break;
    }
}

static void check_operand_count(Verifier *verifier, const Value *value, uint32_t least, uint32_t most) {
    if (value->nargs >= least && value->nargs <= most) return;
    const char *op = op_info[value->op].text;
    if (least == most)
        verify_fault(verifier, value->block, value, "%s takes %u operands, not %u", op, (unsigned)least,
                     (unsigned)value->nargs);
    else if (most == UINT32_MAX)
        verify_fault(verifier, value->block, value, "%s takes at least %u operands, not %u", op, (unsigned)least,
                     (unsigned)value->nargs);
    else
        verify_fault(verifier, value->block, value, "%s takes %u to %u operands, not %u", op, (unsigned)least,
                     (unsigned)most, (unsigned)value->nargs);
}

static void check_operands(Verifier *verifier, const Value *value) {
    switch (value->op) {
    case OP_PHI:
        if (value->nargs != value->block->preds.len)
            verify_fault(verifier, value->block, value, "phi has %u operands for %zu predecessors",
                         (unsigned)value->nargs, value->block->preds.len);
        break;
    case OP_CALL: check_operand_count(verifier, value, 1 + value->imm.nnames, UINT32_MAX); break;
    case OP_CALL_EX: check_operand_count(verifier, value, 2 + value->imm.nnames, 2 + value->imm.nnames); break;
    case OP_FUNCTION: check_operand_count(verifier, value, 2, UINT32_MAX); break;
    case OP_CELL: check_operand_count(verifier, value, 0, 1); break;
    case OP_RAISE: check_operand_count(verifier, value, 1, 2); break;
    case OP_CALL_FUNC: {
        const FuncHead *func = value->imm.func;
        if (!func)
            verify_fault(verifier, value->block, value, "there is no such library function");
        else
            check_operand_count(verifier, value, func->least, func->most == 255 ? UINT32_MAX : func->most);
        break;
    }
    case OP_CALL_INST:
        if (value->imm.inst && value->imm.inst->untyped && value->imm.inst->types)
            check_operand_count(verifier, value, value->imm.inst->untyped->nparams, value->imm.inst->untyped->nparams);
        break;
    case OP_THREADS: {
        const FuncInst *inst = value->imm.inst;
        uint32_t count = (uint32_t)value->imm.i + (inst && inst->untyped ? inst->untyped->nparams : 0);
        if (inst && inst->types) check_operand_count(verifier, value, count, count);
        break;
    }
    case OP_MAP: {
        const FuncInst *inst = value->imm.inst;
        uint32_t least = (uint32_t)value->imm.i + (inst && inst->untyped ? inst->untyped->nparams : 1);
        if (!inst || inst->types) check_operand_count(verifier, value, least, least + 1);
        break;
    }
    case OP_REDUCE: {
        const FuncInst *inst = value->imm.inst;
        uint32_t count = 1 + (inst && inst->untyped ? inst->untyped->nparams : 1);
        if (!inst || inst->types) check_operand_count(verifier, value, count, count);
        break;
    }
    default:
        if (op_info[value->op].operands >= 0)
            check_operand_count(verifier, value, (uint32_t)op_info[value->op].operands,
                                (uint32_t)op_info[value->op].operands);
        break;
    }
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Value *arg = value->args[i];
        if (!arg)
            verify_fault(verifier, value->block, value, "operand %u is missing", (unsigned)i);
        else if (!arg->block || !block_in_func(verifier, arg->block))
            verify_fault(verifier, value->block, value, "operand %u (%%%u) was removed", (unsigned)i,
                         (unsigned)arg->id);
        else if (!op_has_result(arg->op))
            verify_fault(verifier, value->block, value, "operand %u has no result", (unsigned)i);
    }
}

/* ---- dominance ---- */

static bool stands_before(const Verifier *verifier, const Value *a, const Value *b) {
    bool stands = a->id < verifier->func->next_value && verifier->values[a->id] == a;
    return stands && verifier->places[a->id] < verifier->places[b->id];
}

static void check_dominance(Verifier *verifier, const Graph *graph, const Value *value) {
    uint32_t use = graph->position[value->block->id];
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Value *arg = value->args[i];
        uint32_t def = graph->position[arg->block->id], at = use;
        if (value->op == OP_PHI) at = graph->position[value->block->preds.data[i]->id];
        if (at == UINT32_MAX) continue; /* from an unreachable block */
        bool fine = def != UINT32_MAX && graph_dominates(graph, def, at);
        if (fine && def == at && value->op != OP_PHI) fine = stands_before(verifier, arg, value);
        if (!fine)
            verify_fault(verifier, value->block, value, "operand %u (%%%u) is not defined on every way here",
                         (unsigned)i, (unsigned)arg->id);
    }
}

/* ---- all of it ---- */

static void annotate(void *self, Buf *buf, const Block *block, const Value *value) {
    const Verifier *verifier = self;
    for (size_t i = 0; i < verifier->faults.len; i++) {
        const Fault *fault = &verifier->faults.data[i];
        if (fault->block == block && fault->value == value) buf_printf(buf, "  ; fault: %s\n", fault->text);
    }
}

static void verify_all(Verifier *verifier, bool typed) {
    const Func *func = verifier->func;
    check_numbers(verifier);
    if (verifier->faults.len) return;
    check_params(verifier);
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Block *block = func->blocks.data[b];
        check_block(verifier, block);
        for (const Value *value = block->first; value; value = value->next) {
            check_operands(verifier, value);
            check_imm(verifier, value);
        }
    }
    if (verifier->faults.len) return;
    Graph graph = {0};
    graph_order(&graph, verifier->arena, func);
    graph_dominators(&graph);
    for (uint32_t i = 0; i < graph.count; i++)
        for (const Value *value = graph.blocks[i]->first; value; value = value->next) {
            check_dominance(verifier, &graph, value);
            if (typed) verify_value_types(verifier, value);
        }
    verify_unwind(verifier, &graph);
    if (typed && !verifier->faults.len) verify_ownership(verifier, &graph);
}

bool func_verify(const Func *func, bool typed, Diag *diag) {
    Verifier verifier = {.func = func, .arena = diag->arena};
    verify_all(&verifier, typed);
    if (!verifier.faults.len) return true;
    Buf buf;
    buf_init(&buf, diag->arena);
    func_print_annotated(&buf, func, &(Annotator){&verifier, annotate});
    return diag_fail(diag, DIAG_VERIFY, func->source, func->span,
                     "the intermediate representation of %s has %zu fault%s:\n%s", func->name, verifier.faults.len,
                     verifier.faults.len == 1 ? "" : "s", buf.text);
}
