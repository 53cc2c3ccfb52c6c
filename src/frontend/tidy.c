/* tidy.c: the clean-up after translation.
 *
 * Input: a Func whose blocks are complete.  Output: the same function without trivial phis, with the attributes of what
 * has turned out constant read, without checks that are settled, without constants nobody uses, with a call for each
 * cuda.threadIdx that is used as a value, without blocks that only jump; renumbered. The last steps also make the text
 * of one function the same for every Python version, whatever its compiler's jumps looked like. */
#include "frontend/translate.h"

/* Attributes of phis that have turned out to be constants. */
static bool fold_attributes(Translator *t) {
    for (size_t b = 0; b < t->func->blocks.len; b++) {
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next) {
            bool plain = value->op == OP_GETATTR && !value->imm.object;
            PyObject *holder = plain ? translate_attribute_holder(t, value->args[0]) : NULL;
            if (!holder) continue;
            PyObject *name = frontend_keep(t->frontend, PyUnicode_InternFromString(value->imm.text));
            if (!name) return frontend_python_failed(t->frontend, t->source, value->span, "no memory for a name");
            if (translate_is_class_method(t, value->args[0], holder, name)) continue;
            if (translate_lacks(t, holder, name)) continue;
            const Const *konst = translate_attribute_const(t, holder, name, value->span);
            TRY(konst);
            value->op = OP_CONST;
            value->nargs = 0;
            value->konst = konst;
            value->type = konst->type;
            value->imm.text = NULL;
            if (!translate_is_read_only_row(konst)) continue;
            Value *callee = value_new(t->func, OP_CONST, value->span, NULL, 0);
            callee->konst = konst;
            callee->type = konst->type;
            value_insert_before(value, callee);
            Value *call = value_new(t->func, OP_CALL, value->span, &callee, 1);
            value_insert_before(value, call);
            value_replace(t->func, value, call);
            value_remove(value);
            value = call;
        }
    }
    return true;
}

static void cut_after(Translator *t, Value *last) {
    Block *block = last->block;
    while (block_normal_succs(block)) block_remove_edge(t->func, block, block->succs.data[0]);
    while (last->next) value_remove(block->last);
    block_append(t->func, block, OP_UNREACHABLE, last->span, NULL, 0);
}

/* A check of what is known either says nothing, or nothing comes after it. */
static bool settle_checks(Translator *t) {
    bool cut = false;
    for (size_t b = 0; b < t->func->blocks.len; b++) {
        for (Value *value = t->func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            if (value->op != OP_CHECK_BOUND || value->args[0]->op != OP_CONST) continue;
            if (value->args[0]->konst->i) {
                value_remove(value);
                continue;
            }
            cut_after(t, value);
            cut = true;
            break;
        }
    }
    return cut;
}

static bool may_be_dead(Op op) {
    return op == OP_CONST || op == OP_UNDEF || op == OP_PHI || op == OP_TUPLE || op == OP_EXTRACT;
}

/* Constants, tuples and their items and phis that nothing uses.  Operations stay, even pure ones: their types are still
 * to be checked. */
static void remove_dead(Translator *t) {
    VEC(Value *) work = {0};
    for (size_t b = 0; b < t->func->blocks.len; b++) {
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next) {
            value->mark = may_be_dead(value->op) ? NULL : value;
            if (value->mark) vec_push(t->arena, &work, value);
        }
    }
    while (work.len) {
        Value *value = vec_pop(&work);
        for (uint32_t i = 0; i < value->nargs; i++) {
            if (value->args[i]->mark) continue;
            value->args[i]->mark = value;
            vec_push(t->arena, &work, value->args[i]);
        }
    }
    for (size_t b = 0; b < t->func->blocks.len; b++) {
        for (Value *value = t->func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            if (!value->mark) value_remove(value);
            value->mark = NULL;
        }
    }
}

/* What is left of cuda.threadIdx and its like is not read at once, as cuda.threadIdx.x is: a named tuple is made. */
static bool make_places(Translator *t) {
    for (size_t b = 0; b < t->func->blocks.len; b++) {
        for (Value *value = t->func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            bool is_object = value->op == OP_CONST && value->konst->type->kind == TY_OBJECT;
            const char *function = is_object ? frontend_made_by(t->frontend, value->konst->type->object) : NULL;
            if (!function) continue;
            ObjRef made = frontend_prelude(t->frontend, function);
            TRY(made);
            Value *callee = value_new(t->func, OP_CONST, value->span, NULL, 0);
            callee->type = type_object(t->types, TY_PYFUNC, made);
            callee->konst = const_of(t->arena, callee->type);
            value_insert_before(value, callee);
            Value *call = value_new(t->func, OP_CALL, value->span, &callee, 1);
            value_insert_before(value, call);
            value_replace(t->func, value, call);
            value_remove(value);
        }
    }
    return true;
}

/* ---- blocks ---- */

static bool has_pred(const Block *block, const Block *pred) {
    for (size_t i = 0; i < block->preds.len; i++)
        if (block->preds.data[i] == pred) return true;
    return false;
}

/* Leads the predecessors of a block that only jumps to where it jumps.  The block is unreachable then. */
static bool skip_block(Translator *t, Block *block) {
    if (block == t->func->blocks.data[0] || !block->preds.len || block->first != block->last ||
        block->first->op != OP_JUMP || block->unwinds)
        return false;
    Block *to = block->succs.data[0];
    for (size_t i = 0; i < block->preds.len; i++) /* two edges from one block could not have different phi operands */
        if (to == block || has_pred(to, block->preds.data[i]) || block_count_edges(block->preds.data[i], block) > 1)
            return false;
    size_t place = 0;
    while (to->preds.data[place] != block) place++;
    for (size_t i = 0; i < block->preds.len; i++) {
        Block *pred = block->preds.data[i];
        for (uint32_t s = 0; s < pred->succs.len; s++)
            if (pred->succs.data[s] == block) pred->succs.data[s] = to;
        vec_push(t->arena, &to->preds, pred);
        block_repeat_operands(t->func, to, place);
    }
    block->preds.len = 0;
    block_remove_edge(t->func, block, to);
    return true;
}

static bool raises(const Block *block) {
    const Value *value = block->first;
    while (value && !op_may_raise(value->op)) value = value->next;
    return value != NULL;
}

/* A block takes in its only successor if that has no other predecessor, and nothing gets another handler. */
static bool merge_block(Block *block) {
    Block *next = block->succs.len == 1 && !block->unwinds ? block->succs.data[0] : NULL;
    if (!next || next == block || next->preds.len != 1 || next->first->op == OP_PHI) return false;
    if (next->unwinds && raises(block)) return false;
    value_remove(block->last);
    for (Value *value = next->first; value; value = value->next) value->block = block;
    next->first->prev = block->last;
    if (block->last)
        block->last->next = next->first;
    else
        block->first = next->first;
    block->last = next->last;
    block->succs = next->succs;
    block->unwinds = next->unwinds;
    if (next->left.line) block->left = next->left;
    for (size_t s = 0; s < next->succs.len; s++) {
        Block *to = next->succs.data[s];
        for (size_t i = 0; i < to->preds.len; i++)
            if (to->preds.data[i] == next) to->preds.data[i] = block;
    }
    next->first = next->last = NULL;
    next->succs = (BlockList){0};
    next->preds.len = 0;
    return true;
}

static void simplify_blocks(Translator *t) {
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t b = 0; b < t->func->blocks.len; b++) {
            Block *block = t->func->blocks.data[b];
            if (!block->first) continue; /* merged away */
            progress |= skip_block(t, block);
            while (merge_block(block)) progress = true;
        }
    }
}

/* ---- parameters changed for nothing ---- */

/* `total += x` of a parameter, which nothing reads afterwards: of a number, the caller sees nothing of it. */
static void note_lost(Translator *t) {
    Func *func = t->func;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) value->mark = NULL;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) value->args[i]->mark = value;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t p = 0; value->flags & VF_INPLACE && !value->mark && value->name && p < func->nparams; p++)
                func->params[p].lost |= value->name == func->params[p].name;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) value->mark = NULL;
}

/* ---- attributes that are kept ---- */

/* Whether a value that is walked, counted or looked through is as good as another one with the same items. */
static bool only_looks(const Value *user, uint32_t operand) {
    static const FuncId ids[] = {FUNC_LEN,    FUNC_SORTED, FUNC_LIST,   FUNC_SET,      FUNC_TUPLE, FUNC_ENUMERATE,
                                 FUNC_PY_ANY, FUNC_PY_ALL, FUNC_PY_SUM, FUNC_REVERSED, FUNC_ZIP};
    if (user->op == OP_ITER || user->op == OP_TRUTH || user->op == OP_NOT) return true;
    if (user->op == OP_IN || user->op == OP_NOT_IN) return operand == 1;
    const Type *callee = user->op == OP_CALL && user->args[0]->op == OP_CONST ? user->args[0]->konst->type : NULL;
    for (size_t i = 0; callee && callee->kind == TY_FUNC && operand && i < COUNT_OF(ids); i++)
        if (callee->func->id == ids[i]) return true;
    return false;
}

/* An attribute that is only called binds no object to a method; what a call gives may be walked alone. */
static void note_kept(Translator *t) {
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (const Value *user = t->func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                bool called = i == 0 && (user->op == OP_CALL || user->op == OP_CALL_EX);
                if (user->args[i]->op == OP_GETATTR && !called) user->args[i]->flags |= VF_KEPT;
                if (user->args[i]->op == OP_CALL && !only_looks(user, i)) user->args[i]->flags |= VF_KEPT;
            }
}

/* ---- all of it ---- */

bool frontend_tidy(Translator *t) {
    func_compute_order(t->func);
    func_remove_trivial_phis(t->func);
    cells_settle(t);
    translate_settle_generators(t);
    TRY(frontend_settle_spreads(t));
    TRY(fold_attributes(t));
    if (settle_checks(t)) {
        func_compute_order(t->func);
        func_remove_trivial_phis(t->func);
    }
    note_lost(t);
    remove_dead(t);
    TRY(make_places(t));
    note_kept(t);
    simplify_blocks(t);
    func_compute_order(t->func);
    func_renumber(t->func);
    for (size_t b = 0; b < t->func->blocks.len; b++) t->func->blocks.data[b]->mark = NULL;
#ifdef KRAIT_DEBUG
    return func_verify(t->func, false, t->diag);
#else
    return true;
#endif
}
