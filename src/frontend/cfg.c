/* cfg.c: canonical instructions to a control-flow graph.
 *
 * Input: Bytecode.  Output: Cfg: the reachable blocks in reverse post-order, and which variables are certainly assigned
 * where.  Algorithm: 1. leaders: the first instruction, jump targets, handlers, what follows a jump; 2. edges to blocks
 * that only jump on are led to where these end, and past tests whose answer is known; 3. a block whose only successor
 * has no other predecessor, or does nothing but return, takes it in; 4. depth-first walk that visits the false side
 * first, so that in reverse post-order the true side and loop bodies come first whatever the compiler's jumps looked
 * like, and handlers last; 5. where dozens of ways come together, they do so in several steps.  Steps 2 and 3 are what
 * makes the graphs of different Python versions equal. */
#include "frontend/cfg.h"

#include <string.h> /* memcpy, memset */

static bool is_jump(InsnKind kind) { return insn_info[kind].argument == ARG_TARGET; }
static bool ends_flow(InsnKind kind) {
    return kind == INSN_RETURN || kind == INSN_RAISE || kind == INSN_RERAISE || kind == INSN_JUMP;
}

bool cfg_is_loop(InsnKind kind) {
    return kind == INSN_FOR || kind == INSN_FOR_KEEP || kind == INSN_DELEGATE || kind == INSN_DELEGATE_KEEP;
}

bool cfg_ends_in_loop(const Bytecode *code, const CfgBlock *block) {
    const CfgPart *part = block->tail;
    return part->last > part->first && cfg_is_loop(code->insns[part->last - 1].kind);
}

typedef struct Builder {
    Arena *arena;
    const Bytecode *code;
    CfgBlock **at;          /* the block that starts at each instruction */
    VEC(CfgBlock *) blocks; /* in the order of the code */
} Builder;

static void find_blocks(Builder *b) {
    const Bytecode *code = b->code;
    bool *leader = ARENA_ARRAY(b->arena, bool, code->count + 1);
    leader[0] = true;
    for (size_t i = 0; i < code->count; i++) {
        if (is_jump(code->insns[i].kind)) leader[code->insns[i].arg] = true;
        if (is_jump(code->insns[i].kind) || ends_flow(code->insns[i].kind)) leader[i + 1] = true;
    }
    for (size_t i = 0; i < code->nhandlers; i++) leader[code->handlers[i].target] = true;
    for (size_t i = 0; i < code->count; i++) {
        if (leader[i]) {
            CfgBlock *block = ARENA_NEW(b->arena, CfgBlock);
            block->part = (CfgPart){(uint32_t)i, (uint32_t)i + 1, NULL};
            block->tail = &block->part;
            vec_push(b->arena, &b->blocks, block);
        } else {
            vec_last(&b->blocks)->part.last = (uint32_t)i + 1;
        }
        b->at[i] = vec_last(&b->blocks);
    }
}

static void find_edges(Builder *b) {
    for (size_t i = 0; i < b->blocks.len; i++) {
        CfgBlock *block = b->blocks.data[i];
        const Insn *last = &b->code->insns[block->part.last - 1];
        CfgBlock *next = i + 1 < b->blocks.len ? b->blocks.data[i + 1] : NULL;
        CfgBlock *target = is_jump(last->kind) ? b->at[last->arg] : NULL;
        bool taken_first = last->kind == INSN_JUMP_IF_TRUE;
        if (last->kind == INSN_JUMP) {
            block->succs[block->nsuccs++] = target;
        } else if (target) {
            if (taken_first) block->succs[block->nsuccs++] = target;
            if (next) block->succs[block->nsuccs++] = next;
            if (!taken_first) block->succs[block->nsuccs++] = target;
        } else if (!ends_flow(last->kind) && next) {
            block->succs[block->nsuccs++] = next;
        }
    }
}

static void add_handler(Builder *b, CfgBlock *block, const Handler *row) {
    CfgBlock *handler = b->at[row->target];
    for (size_t i = 0; i < block->handlers.len; i++)
        if (block->handlers.data[i] == handler) return;
    handler->handles = row;
    vec_push(b->arena, &block->handlers, handler);
}

static void find_handlers(Builder *b) {
    for (size_t i = 0; i < b->blocks.len; i++)
        for (uint32_t at = b->blocks.data[i]->part.first; at < b->blocks.data[i]->part.last; at++) {
            const Handler *row = bytecode_handler(b->code, at);
            if (row) add_handler(b, b->blocks.data[i], row);
        }
}

/* The block that does nothing but go on to another one, or NULL. */
static CfgBlock *forwards_to(const Builder *b, const CfgBlock *block) {
    if (block->nsuccs != 1 || block->succs[0] == block) return NULL;
    for (uint32_t i = block->part.first; i < block->part.last; i++)
        if (b->code->insns[i].kind != INSN_NOP && b->code->insns[i].kind != INSN_JUMP) return NULL;
    return block->succs[0];
}

static void thread_jumps(Builder *b) {
    for (size_t i = 0; i < b->blocks.len; i++) {
        CfgBlock *block = b->blocks.data[i];
        for (uint32_t s = 0; s < block->nsuccs; s++) {
            CfgBlock *to = block->succs[s];
            size_t steps = 0; /* blocks may forward to each other in a circle: while True: pass */
            for (CfgBlock *next; steps < b->blocks.len && (next = forwards_to(b, to)) != NULL; steps++) to = next;
            if (steps < b->blocks.len) block->succs[s] = to;
        }
    }
}

/* Whether the block does nothing but ask for the truth of the top of the stack, which stays: the middle of `a and b or
 * c`. */
static bool only_tests(const Builder *b, const CfgBlock *block) {
    bool copied = false;
    for (uint32_t i = block->part.first; i < block->part.last; i++) {
        const Insn *insn = &b->code->insns[i];
        if (insn->kind == INSN_JUMP_IF_TRUE || insn->kind == INSN_JUMP_IF_FALSE) return copied && block->nsuccs == 2;
        if (insn->kind == INSN_COPY && insn->arg == 1 && !copied)
            copied = true;
        else if (insn->kind != INSN_NOP && !(insn->kind == INSN_TO_BOOL && copied))
            return false;
    }
    return false;
}

/* Whether a condition at the end of the block leaves the value it asked about on the stack. */
static bool keeps_tested(const Builder *b, const CfgBlock *block) {
    uint32_t last = block->part.last - 1;
    InsnKind kind = b->code->insns[last].kind;
    if (kind != INSN_JUMP_IF_TRUE && kind != INSN_JUMP_IF_FALSE) return false;
    while (last > block->part.first && b->code->insns[last - 1].kind == INSN_TO_BOOL) last--;
    const Insn *before = last > block->part.first ? &b->code->insns[last - 1] : NULL;
    return before && before->kind == INSN_COPY && before->arg == 1 && block->nsuccs == 2;
}

/* `a and b or c`: when a is false, the second test has its answer already.  The types of a and b need not join then. */
static void skip_repeated_tests(Builder *b) {
    for (size_t i = 0; i < b->blocks.len; i++) {
        CfgBlock *block = b->blocks.data[i];
        if (!keeps_tested(b, block)) continue;
        for (uint32_t s = 0; s < 2; s++)
            for (size_t steps = 0; steps < b->blocks.len && only_tests(b, block->succs[s]); steps++)
                block->succs[s] = block->succs[s]->succs[s];
    }
}

/* Marks what can be reached and counts edges; the stack of the walk is explicit: code may be long. */
static void count_preds(Builder *b) {
    CfgBlock **work = ARENA_ARRAY(b->arena, CfgBlock *, b->blocks.len);
    size_t n = 0;
    work[n++] = b->blocks.data[0];
    b->blocks.data[0]->reachable = true;
    while (n) {
        CfgBlock *block = work[--n];
        for (uint32_t s = 0; s < block->nsuccs + block->handlers.len; s++) {
            CfgBlock *to = cfg_next(block, s);
            to->npreds++;
            if (to->reachable) continue;
            to->reachable = true;
            work[n++] = to;
        }
    }
}

/* A block that only returns a variable or a constant.  Newer compilers copy such a block to every jump that leads
 * there. */
static bool is_small_exit(const Builder *b, const CfgBlock *block) {
    enum { MOST = 4 };
    uint32_t count = 0;
    if (block->nsuccs || block->part.next || block->handlers.len) return false;
    for (uint32_t i = block->part.first; i < block->part.last; i++) {
        InsnKind kind = b->code->insns[i].kind;
        count += kind != INSN_NOP;
        if (kind != INSN_NOP && kind != INSN_POP && kind != INSN_LOAD_LOCAL && kind != INSN_LOAD_CONST &&
            kind != INSN_RETURN)
            return false;
    }
    return count <= MOST;
}

/* `block` raises what `next` raises.  moved: `next` itself is no more. */
static void merge_handlers(Builder *b, CfgBlock *block, const CfgBlock *next, bool moved) {
    for (size_t i = 0; i < next->handlers.len; i++) {
        size_t before = block->handlers.len;
        add_handler(b, block, next->handlers.data[i]->handles);
        if (block->handlers.len == before && moved) next->handlers.data[i]->npreds--;
    }
}

static void merge_chains(Builder *b) {
    CfgBlock *entry = b->blocks.data[0];
    for (size_t i = 0; i < b->blocks.len; i++) {
        CfgBlock *block = b->blocks.data[i];
        while (block->reachable && block->nsuccs == 1) {
            CfgBlock *next = block->succs[0];
            bool copied = next->npreds > 1 && is_small_exit(b, next);
            if (next == block || next == entry || (next->npreds != 1 && !copied)) break;
            block->tail->next = ARENA_NEW(b->arena, CfgPart);
            *block->tail->next = next->part;
            block->tail = next->tail == &next->part ? block->tail->next : next->tail;
            block->nsuccs = next->nsuccs;
            memcpy(block->succs, next->succs, sizeof block->succs);
            merge_handlers(b, block, next, !copied);
            next->npreds--;
            next->reachable = next->npreds > 0;
        }
    }
}

static void number_blocks(Builder *b, CfgBlock *entry, Cfg *cfg) {
    typedef struct Frame {
        CfgBlock *block;
        uint32_t left; /* successors still to visit */
    } Frame;
    Frame *stack = ARENA_ARRAY(b->arena, Frame, b->blocks.len + 1);
    CfgBlock **post = ARENA_ARRAY(b->arena, CfgBlock *, b->blocks.len + 1);
    size_t depth = 0, count = 0;
    entry->order = 1; /* here only: visited */
    stack[depth++] = (Frame){entry, entry->nsuccs + (uint32_t)entry->handlers.len};
    while (depth) {
        Frame *frame = &stack[depth - 1];
        if (frame->left == 0) {
            post[count++] = frame->block;
            depth--;
            continue;
        }
        CfgBlock *to = cfg_next(frame->block, --frame->left);
        if (to->order) continue;
        to->order = 1;
        stack[depth++] = (Frame){to, to->nsuccs + (uint32_t)to->handlers.len};
    }
    cfg->blocks = ARENA_ARRAY(b->arena, CfgBlock *, count);
    cfg->count = count;
    for (size_t i = 0; i < count; i++) {
        cfg->blocks[i] = post[count - 1 - i];
        cfg->blocks[i]->order = (uint32_t)i;
    }
}

typedef VEC(CfgBlock **) Ways; /* to one block, from such as stand before it: places among their successors */

static CfgBlock *add_meeting(Builder *b, CfgBlock *to) {
    CfgBlock *meeting = ARENA_NEW(b->arena, CfgBlock);
    meeting->tail = &meeting->part;
    meeting->reachable = true;
    meeting->succs[meeting->nsuccs++] = to;
    vec_push(b->arena, &b->blocks, meeting);
    return meeting;
}

/* Lets ways that follow one another meet in blocks between, and these again in others, until they are few. */
static void let_meet(Builder *b, CfgBlock *to, Ways ways) {
    enum { TOGETHER = 16 };
    while (ways.len > TOGETHER) {
        Ways meetings = {0};
        for (size_t first = 0; first < ways.len; first += TOGETHER) {
            CfgBlock *meeting = add_meeting(b, to);
            for (size_t i = first; i < ways.len && i < first + TOGETHER; i++, meeting->npreds++, to->npreds--)
                *ways.data[i] = meeting;
            to->npreds++;
            vec_push(b->arena, &meetings, meeting->succs);
        }
        ways = meetings;
    }
}

/* Where the ways out of dozens of branches come together, each variable that one of them writes would be joined with
 * itself from all others: of as many variables as branches the square of their number.  Says whether there were any. */
static bool part_joins(Builder *b, const Cfg *cfg) {
    enum { MANY_WAYS = 32 };
    Ways *ways = ARENA_ARRAY(b->arena, Ways, cfg->count);
    bool any = false;
    for (size_t i = 0; i < cfg->count; i++)
        for (uint32_t s = 0; s < cfg->blocks[i]->nsuccs; s++) {
            const CfgBlock *to = cfg->blocks[i]->succs[s];
            if (to->npreds > MANY_WAYS && to->order > i && !to->handles && !cfg_ends_in_loop(b->code, to))
                vec_push(b->arena, &ways[to->order], &cfg->blocks[i]->succs[s]);
        }
    for (size_t i = 0; i < cfg->count; i++) {
        any |= ways[i].len > MANY_WAYS;
        if (ways[i].len > MANY_WAYS) let_meet(b, cfg->blocks[i], ways[i]);
    }
    for (size_t i = 0; any && i < cfg->count; i++) cfg->blocks[i]->order = 0;
    return any;
}

void cfg_build(Arena *arena, const Bytecode *bytecode, Cfg *cfg) {
    Builder b = {.arena = arena, .code = bytecode, .at = ARENA_ARRAY(arena, CfgBlock *, bytecode->count + 1)};
    find_blocks(&b);
    find_edges(&b);
    find_handlers(&b);
    thread_jumps(&b);
    skip_repeated_tests(&b);
    count_preds(&b);
    merge_chains(&b);
    CfgBlock *entry = b.blocks.data[0];
    if (entry->npreds) { /* a loop back to the first instruction: give the function an entry of its own */
        CfgBlock *start = ARENA_NEW(arena, CfgBlock);
        start->tail = &start->part;
        start->succs[start->nsuccs++] = entry;
        entry->npreds++;
        entry = start;
    }
    number_blocks(&b, entry, cfg);
    if (part_joins(&b, cfg)) number_blocks(&b, entry, cfg);
    cfg->at = b.at;
}

/* ---- which variables are certainly assigned: a forward data-flow problem, met by intersection ---- */

void cfg_apply_bound(const Cfg *cfg, const Insn *insn, uint64_t *bound) {
    size_t local = (size_t)insn->arg;
    if (insn->kind == INSN_STORE_LOCAL || insn->kind == INSN_LOAD_LOCAL || insn->kind == INSN_MAKE_CELL) {
        if (!bit_has(cfg->saved, local)) bit_set(bound, local);
    } else if (insn->kind == INSN_DELETE_LOCAL || insn->kind == INSN_SAVE_LOCAL) {
        bit_clear(bound, local);
    }
}

static bool meet_bound(uint64_t *in, const uint64_t *out, size_t words) {
    bool progress = false;
    for (size_t w = 0; w < words; w++) {
        progress |= (in[w] & ~out[w]) != 0;
        in[w] &= out[w];
    }
    return progress;
}

void cfg_compute_bound(Arena *arena, const Bytecode *bytecode, Cfg *cfg, const uint64_t *assigned, size_t nlocals) {
    size_t words = cfg->nwords = nlocals / 64 + 1;
    uint64_t *out = ARENA_ARRAY(arena, uint64_t, words);
    cfg->saved = ARENA_ARRAY(arena, uint64_t, words);
    for (size_t i = 0; i < bytecode->count; i++)
        if (bytecode->insns[i].kind == INSN_SAVE_LOCAL) bit_set(cfg->saved, (size_t)bytecode->insns[i].arg);
    for (size_t i = 0; i < cfg->count; i++) {
        cfg->blocks[i]->bound = ARENA_ARRAY(arena, uint64_t, words);
        memset(cfg->blocks[i]->bound, 0xff, words * sizeof *out); /* not reached yet: everything */
    }
    memcpy(cfg->blocks[0]->bound, assigned, words * sizeof *out);
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < cfg->count; i++) {
            CfgBlock *block = cfg->blocks[i];
            memcpy(out, block->bound, words * sizeof *out);
            for (const CfgPart *part = &block->part; part; part = part->next)
                for (uint32_t at = part->first; at < part->last; at++) {
                    const Handler *row = block->handlers.len ? bytecode_handler(bytecode, at) : NULL;
                    if (row) progress |= meet_bound(cfg->at[row->target]->bound, out, words);
                    cfg_apply_bound(cfg, &bytecode->insns[at], out);
                }
            for (uint32_t s = 0; s < block->nsuccs; s++) progress |= meet_bound(block->succs[s]->bound, out, words);
        }
    }
}
