/* cfg.h: the control-flow graph of canonical instructions; private to this folder. */
#ifndef KRAIT_FRONTEND_CFG_H
#define KRAIT_FRONTEND_CFG_H

#include "frontend/bytecode.h" /* Bytecode */
#include "ir/ir.h"             /* Block */

/* A run of instructions [first, last); a block is a chain of parts, of which only the last one's end jumps. */
typedef struct CfgPart {
    uint32_t first, last;
    struct CfgPart *next;
} CfgPart;

typedef struct CfgBlock CfgBlock;
struct CfgBlock {
    CfgPart part;
    CfgPart *tail;
    CfgBlock *succs[2]; /* of a condition: if true, if false; of a loop: body, exit */
    uint32_t nsuccs;
    VEC(CfgBlock *) handlers; /* where what its instructions raise goes, each once */
    const Handler *handles;   /* a row that leads here; NULL: none does */
    uint32_t npreds;          /* edges from reachable blocks, handlers counted */
    uint32_t order;           /* position in Cfg.blocks */
    bool reachable;
    uint64_t *bound; /* bit i: local i is assigned on every way here */

    /* the translator's */
    Block *block;
    uint32_t pending;   /* predecessors not translated yet */
    bool entered;       /* an edge to it was translated; depth and slots are known */
    struct Slot *slots; /* the stack at its start */
    uint32_t depth;
    bool takes_returned, keeps_iterator; /* behind `yield from`: starts with what the iterator on top returned */
    bool takes_item;                     /* body of a loop: starts with the next item of the iterator on top */
    Span take_span;
};

typedef struct Cfg {
    CfgBlock **at;     /* the block that starts at each instruction, of those that start one */
    CfgBlock **blocks; /* reachable, in reverse post-order; blocks[0] is the entry, which nothing jumps to */
    size_t count;
    size_t nwords;   /* of each bound set */
    uint64_t *saved; /* the locals that a SAVE_LOCAL takes: a store may restore them as unassigned */
} Cfg;

/* Number `i` of where control goes from a block: its successors, then its handlers. */
static inline CfgBlock *cfg_next(const CfgBlock *block, uint32_t i) {
    return i < block->nsuccs ? block->succs[i] : block->handlers.data[i - block->nsuccs];
}

/* Whether the instruction asks an iterator for its next item. */
bool cfg_is_loop(InsnKind kind);
bool cfg_ends_in_loop(const Bytecode *code, const CfgBlock *block);
void cfg_build(Arena *arena, const Bytecode *bytecode, Cfg *cfg);
/* Fills bound of each block; `assigned` has the locals that are assigned at the start, as a set of nlocals bits. */
void cfg_compute_bound(Arena *arena, const Bytecode *bytecode, Cfg *cfg, const uint64_t *assigned, size_t nlocals);
/* What one instruction does to such a set: a load that did not raise shows that the variable is assigned. */
void cfg_apply_bound(const Cfg *cfg, const Insn *insn, uint64_t *bound);

static inline bool bit_has(const uint64_t *bits, size_t i) { return bits[i / 64] >> (i % 64) & 1; }
static inline void bit_set(uint64_t *bits, size_t i) { bits[i / 64] |= (uint64_t)1 << (i % 64); }
static inline void bit_clear(uint64_t *bits, size_t i) { bits[i / 64] &= ~((uint64_t)1 << (i % 64)); }

#endif
