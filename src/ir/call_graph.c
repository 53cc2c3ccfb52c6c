/* call_graph.c: who calls whom, and which functions are recursive.
 *
 * In: the typed functions of a compilation.  Out: FuncInst.callers; FuncInst.recursive: calls lead from the function
 * back to it; FuncInst.height: of the longest chain of calls below it, but for recursion.
 *
 * Strongly connected components of the graph of calls, after Tarjan, "Depth-First Search and Linear Graph Algorithms"
 * (1972), with an explicit stack: one walk over all values, however long the chains of calls are.  A function is
 * recursive if its component has another one, or if it calls itself. */
#include "ir/ir.h"

typedef struct Place {
    uint32_t number, low; /* in the order of the walk, from 1; 0: not visited */
    bool open;            /* its component is not complete */
} Place;

typedef struct Walk { /* a function that is being looked at, and how far */
    FuncInst *inst;
    size_t block;
    const Value *at;
} Walk;

typedef struct Components {
    Arena *arena;
    Place *places; /* by FuncInst.id */
    uint32_t visited;
    VEC(Walk) walk;
    VEC(FuncInst *) open;
} Components;

/* The next function called; NULL: no more. */
static FuncInst *next_callee(Walk *walk) {
    const Func *func = walk->inst->func;
    for (;;) {
        while (!walk->at) {
            if (walk->block == func->blocks.len) return NULL;
            walk->at = func->blocks.data[walk->block++]->first;
        }
        const Value *value = walk->at;
        walk->at = value->next;
        if (value_callee(value)) return value_callee(value);
    }
}

static void visit(Components *c, FuncInst *inst) {
    Place *place = &c->places[inst->id];
    place->number = place->low = ++c->visited;
    place->open = true;
    vec_push(c->arena, &c->walk, (Walk){.inst = inst});
    vec_push(c->arena, &c->open, inst);
}

static void close_component(Components *c, FuncInst *first) {
    bool several = vec_last(&c->open) != first;
    FuncInst *inst;
    do {
        inst = vec_pop(&c->open);
        c->places[inst->id].open = false;
        inst->recursive |= several;
    } while (inst != first);
}

static void find_components(Components *c, FuncInst *start) {
    visit(c, start);
    while (c->walk.len) {
        FuncInst *inst = vec_last(&c->walk).inst, *callee = next_callee(&vec_last(&c->walk));
        Place *place = &c->places[inst->id];
        if (callee) {
            const Place *other = &c->places[callee->id];
            if (callee->height >= inst->height) inst->height = callee->height + 1;
            inst->recursive |= callee == inst;
            if (!callee->callers.len || vec_last(&callee->callers) != inst) vec_push(c->arena, &callee->callers, inst);
            if (!other->number)
                visit(c, callee);
            else if (other->open && other->number < place->low)
                place->low = other->number;
            continue;
        }
        if (place->low == place->number) close_component(c, inst);
        c->walk.len--;
        if (!c->walk.len) return;
        Place *caller = &c->places[vec_last(&c->walk).inst->id];
        if (place->low < caller->low) caller->low = place->low;
        FuncInst *above = vec_last(&c->walk).inst;
        if (inst->height >= above->height) above->height = inst->height + 1;
    }
}

void insts_find_calls(Arena *arena, FuncInst *const *insts, size_t count) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        most = insts[i]->id >= most ? insts[i]->id + 1 : most;
        insts[i]->callers.len = 0;
        insts[i]->recursive = false;
        insts[i]->height = 0;
    }
    Components components = {.arena = arena, .places = ARENA_ARRAY(arena, Place, most)};
    for (size_t i = 0; i < count; i++)
        if (!components.places[insts[i]->id].number) find_components(&components, insts[i]);
}
