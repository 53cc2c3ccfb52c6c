/* barriers.h: what the files of the pass `barriers` share: barriers.c (whether a kernel can be taken apart at its
 * barriers), barrier_shape.c (where its threads are together), barrier_values.c (what is the same for all of them),
 * barrier_regions.c and barrier_driver.c (the functions that it becomes), barrier_block.c (for which blocks). */
#ifndef KRAIT_PASSES_BARRIERS_H
#define KRAIT_PASSES_BARRIERS_H

#include "passes/parallel.h" /* ParallelSite, parallel_append */

/* A piece of the way that all threads of a block go together: it begins at its leader and ends at a barrier, at a
 * branch that takes all threads the same way, where several such ways meet, or where the kernel ends. */
typedef struct Segment {
    Block *leader, *last;
    BlockList blocks; /* those that all go through, and those between in which they may go apart */
    Block *next;      /* the leader that follows; NULL: `last` says by its branch or by the kernel's end */
    Block *driver;    /* what stands for it in the function of the block */
} Segment;

/* What is known of a block of the kernel, by Block.id. */
typedef struct Place {
    bool live;      /* it may come to the kernel's end */
    bool together;  /* all threads come here together */
    bool between;   /* threads may go apart here, or come back several times */
    bool parts;     /* its branch leads to barriers: all threads must go the same way */
    bool forced;    /* and so it is to be, though there is no barrier */
    bool leads;     /* it begins a segment */
    bool barrier;   /* it ends with a barrier and a jump */
    uint32_t after; /* the block through which all ways from here lead (its immediate postdominator); NO_BLOCK */
    uint32_t steps; /* ways by which all threads come here */
    Segment *segment;
} Place;

enum { NO_BLOCK = UINT32_MAX };

typedef struct Split {
    Program *program;
    FuncInst *inst;
    Func *func; /* a copy of the kernel's, taken apart; its blocks and values are numbered as they stand */
    Arena *arena;
    size_t nblocks;
    bool leaving;            /* some threads may leave by a return statement and be missed nowhere */
    Place *places;           /* by Block.id */
    VEC(Segment *) segments; /* in reverse post-order of their leaders */
    /* by Value.id */
    bool *varies; /* it may differ from thread to thread, or is computed where they are apart */
    bool *local;  /* it refers to memory of the thread's frame */
    bool *kept;   /* it is kept for each thread from one segment to others */
} Split;

static inline Place *place_of(const Split *split, const Block *block) { return &split->places[block->id]; }

/* barrier_shape.c: places and segments of a function that stands in reverse post-order.  False: it cannot be taken
 * apart. */
bool barriers_find_shape(Split *split);
/* The blocks between a branch and the place where its ways meet, each once; itself if they lead back to it.  seen: by
 * Block.id, the last branch that came by, its Block.id + 1. */
void barriers_between(const Split *split, const Block *branch, uint32_t *seen, BlockList *found);
/* barrier_values.c: varies and local.  False: threads may part on their way to a barrier. */
bool barriers_find_varying(Split *split);
/* Loops whose rounds are the same for all threads and that hold no barrier are to be gone through together too: the
 * loops over threads are then the inner ones.  True: there is one more, and the shape has to be found again. */
bool barriers_force_loops(Split *split);
/* Whether the value is found again where it is needed, from what a thread knows of its place and what is the same for
 * all. */
bool barriers_is_cheap(const Split *split, const Value *value);
/* Whether there can be a CONTEXT for it. */
bool barriers_can_keep(const Split *split, const Value *value);
/* Arrays of a thread's own that are used in several segments: all those of a block are one array. */
void barriers_keep_arrays(Split *split);
bool barriers_is_kept_array(const Split *split, const Value *value);
const Type *barriers_kept_arrays(const Split *split, const Value *array); /* the type of that */
/* Whether a function surely keeps nothing in memory of its own. */
bool barriers_is_frameless(const Func *func);
/* barrier_block.c: Program.block. */
void barriers_find_block(const Split *split);

typedef VEC(Value *) ValueList;

typedef struct Region Region;
typedef struct Made { /* what stands for a value of the kernel in the region that was made last */
    const Region *in;
    Value *value;
} Made;

struct Region {
    Segment *segment;
    ValueList needs, gives;
    const Value **gives_for; /* the values whose contexts get them: themselves, or phis */
    bool acts;               /* it does more than to compute what nobody keeps */
    bool leaves;             /* a thread may leave in it */
    bool notes, asks;        /* it gives whether the thread has left, or needs it: after what `gives` and `needs` say */
    FuncInst *inst;          /* NULL: there is nothing to do */
    /* while it is made */
    Func *func;
    Block *params, *start, *end, *out; /* end: of the segment; out: of the region, also for who leaves or has left */
    Made *made;                        /* by the kernel's Value.id; one table for all regions */
    Block **blocks;                    /* by the kernel's Block.id */
};

typedef struct Make {
    Split *split;
    ParallelSite site;
    Func *func; /* of the block */
    Region *regions;
    Value **values;   /* by the kernel's Value.id: in the function of the block */
    Value **contexts; /* the same */
    Value *left;      /* whether a thread has left, a context; NULL: none may */
    uint32_t *seen;   /* the same: the last region that needed it, its number + 1 */
} Make;

/* barrier_regions.c: what a region needs, and gives.  False: it would have to be kept and cannot be. */
bool regions_note_needs(Make *make, uint32_t number);
void regions_make(Make *make, Region *region);
/* barrier_driver.c: the functions.  False: what would have to be kept cannot be. */
bool barriers_make_regions(Split *split);

#endif
