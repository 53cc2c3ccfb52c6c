/* units.c: functions that are typed already: what one compilation has inferred of krait.prelude, later ones take.
 *
 * In: the typed functions of a job.  Out: copies of them, with all that they call, in a later job.
 *
 * A unit is a FuncInst in the table's own arena, typed, as inference leaves it and no pass has seen it; what its code
 * calls are units, too.  It is found by all that its types depend on: the function, the types and constants of its
 * parameters, the type expected of it, the options, and for what it was inferred (Setting).  Kept is what means the
 * same in every compilation: functions of the prelude, and those of one element of an array (worklist_row_function),
 * if they and their arguments mention no object but those that last as long as the module, and no global container.
 * Where users say what calls mean (krait.extending), nothing is kept or taken.
 *
 * What is kept lasts as long as the module.  A job shares its constants, names and types, and copies what passes change
 * (func_clone).  Two things in it are written to by any job, which is right because the interpreter's lock is held from
 * one write to the next, as in all of inference: what has been asked of the parameters of an untyped function
 * (Param.asked, needs_constant), which is the same for every job, and marks of values, which mean nothing to others.
 * A full table takes no more; without memory all is forgotten. */
#include "driver/units.h"

#include <stdlib.h> /* calloc */

enum { MOST_BYTES = 16 << 20 };

typedef struct Setting {
    Promotion promotion;
    bool device;
    int compute_capability;
} Setting;

struct Unit {
    FuncInst inst; /* types, constants, result, options; `untyped` of a function of the prelude, `func` with calls of
                      other units' inst */
    Setting setting;
    const Type *callee; /* of a function of one element: what it calls, with how many arguments; else NULL */
};

struct Units {
    Arena *arena;
    VEC(const Func *) functions; /* of the prelude, untyped */
    HashIndex function_index;    /* by Func.object */
    VEC(Unit *) units;
    HashIndex index;
    UnitCounts counts;
};

Units *units_new(void) {
    Units *units = calloc(1, sizeof *units);
    if (units && (units->arena = arena_new())) return units;
    free(units);
    return NULL;
}

void units_free(Units *units) {
    if (units) arena_free(units->arena);
    free(units);
}

void units_fail_after(Units *units, size_t n) { arena_fail_after(units->arena, n); }

UnitCounts units_counts(const Units *units) {
    UnitCounts counts = units->counts;
    counts.kept = units->units.len;
    counts.bytes = arena_bytes(units->arena);
    return counts;
}

static Setting setting_of(const Job *job) {
    return (Setting){job->config->promotion, job->config->kernel, job->config->codegen.compute_capability};
}

static bool same_setting(Setting a, Setting b) {
    return a.promotion == b.promotion && a.device == b.device && a.compute_capability == b.compute_capability;
}

/* ---- untyped functions ---- */

const Func *units_function(void *self, ObjRef function) {
    const Units *units = self;
    uint32_t i = hash_index_first(&units->function_index, hash_mix(0, function));
    while (i != HASH_INDEX_END && units->functions.data[i]->object != function)
        i = hash_index_next(&units->function_index, i);
    return i == HASH_INDEX_END ? NULL : units->functions.data[i];
}

/* ---- finding ---- */

/* What a function of one element calls; NULL: it is no such function. */
static const Type *callee_of(const Job *job, const Func *untyped) {
    for (size_t i = 0; i < job->row_functions.len; i++)
        if (job->row_functions.data[i].untyped == untyped) return job->row_functions.data[i].callee;
    return NULL;
}

static uint64_t hash_unit(const FuncInst *inst, const Type *callee) {
    uint64_t hash = hash_mix(hash_mix(inst->object, (uintptr_t)callee), inst->options);
    for (uint32_t i = 0; i < inst->untyped->nparams; i++) hash = hash_mix(hash, (uintptr_t)inst->types[i]);
    return hash_mix(hash, (uintptr_t)inst->expected);
}

static bool same_unit(const FuncInst *a, const FuncInst *b) {
    if (a->object != b->object || a->options != b->options || a->expected != b->expected) return false;
    for (uint32_t i = 0; i < a->untyped->nparams; i++) {
        const Const *x = a->konsts[i], *y = b->konsts[i];
        if (a->types[i] != b->types[i] || !x != !y || (x && !const_equal(x, y))) return false;
    }
    return true;
}

static Unit *find(const Units *units, const FuncInst *inst, const Type *callee, Setting setting) {
    uint32_t i = hash_index_first(&units->index, hash_unit(inst, callee));
    for (; i != HASH_INDEX_END; i = hash_index_next(&units->index, i)) {
        Unit *unit = units->units.data[i];
        bool same = unit->callee == callee && unit->inst.untyped->nparams == inst->untyped->nparams;
        if (same && same_setting(unit->setting, setting) && same_unit(&unit->inst, inst)) return unit;
    }
    return NULL;
}

/* ---- taking ---- */

typedef VEC(FuncInst *) Taken;

static void fill(Job *job, FuncInst *inst, const Unit *unit, Taken *taken) {
    inst->unit = unit;
    inst->result = unit->inst.result;
    inst->result_konst = unit->inst.result_konst;
    vec_push(job->arena, taken, inst);
    job->session->units->counts.taken++;
}

static const Func *untyped_of(Job *job, const Unit *unit) {
    if (unit->callee) return worklist_row_function(job, unit->callee, unit->inst.untyped->nparams);
    return frontend_translate(&job->frontend, unit->inst.object);
}

/* The job's instance of a unit that another one calls. */
static FuncInst *take_callee(Job *job, const Unit *unit, FuncInst *caller, Taken *taken) {
    const Func *untyped = untyped_of(job, unit);
    const InferRequest request = {unit->inst.object, unit->inst.types, unit->inst.konsts, unit->inst.expected};
    FuncInst *inst = untyped ? worklist_find(job, untyped, &request) : NULL;
    if (inst || !untyped) return inst;
    inst = worklist_add(job, untyped, &request, caller);
    fill(job, inst, unit, taken);
    return inst;
}

bool units_take(Job *job, FuncInst *inst) {
    const Units *units = job->session->units;
    Taken taken = {0};
    if (!inst->caller || !units || objects_overloaded(job->session->objects)) return false;
    const Type *callee = inst->object ? NULL : callee_of(job, inst->untyped);
    const Unit *unit = find(units, inst, callee, setting_of(job));
    if (!unit) return false;
    fill(job, inst, unit, &taken);
    while (taken.len) {
        FuncInst *next = vec_pop(&taken);
        next->func = func_clone(job->arena, next->unit->inst.func);
        for (size_t b = 0; b < next->func->blocks.len; b++)
            for (Value *value = next->func->blocks.data[b]->first; value; value = value->next) {
                if (!value_callee(value)) continue;
                value->imm.inst = take_callee(job, (const Unit *)value->imm.inst, next, &taken);
                TRY(value->imm.inst); /* the Diag says why */
            }
    }
    return true;
}

/* ---- keeping ---- */

static bool const_lasts(Objects *objects, const Const *konst) {
    if (!konst) return true;
    if (konst->captured || konst->type->kind == TY_ARRAY || !objects_last(objects, konst->type)) return false;
    for (size_t i = 0; i < const_item_count(konst); i++) TRY(const_lasts(objects, konst->items[i]));
    return true;
}

static bool func_lasts(Objects *objects, const Func *func) {
    for (uint32_t i = 0; i < func->nparams; i++) TRY(const_lasts(objects, func->params[i].fallback));
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (value->op == OP_CAPTURED || !const_lasts(objects, value->konst)) return false;
            if (value->type && !objects_last(objects, value->type)) return false;
        }
    return true;
}

/* What the text of a function of the prelude mentions is held for good.  False: no memory. */
static bool hold_mentioned(Objects *objects, const Func *func) {
    TRY(objects_keep(objects, func->object));
    for (uint32_t i = 0; i < func->nparams; i++)
        if (func->params[i].fallback) TRY(objects_keep_type(objects, func->params[i].fallback->type));
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            TRY(objects_keep(objects, value->imm.object));
            if (value->konst) TRY(objects_keep_type(objects, value->konst->type));
        }
    return true;
}

static bool keep_function(Units *units, Objects *objects, const Func *untyped) {
    if (units_function(units, untyped->object)) return true;
    TRY(hold_mentioned(objects, untyped));
    if (!func_lasts(objects, untyped)) return true;
    vec_push(units->arena, &units->functions, func_copy(units->arena, untyped));
    hash_index_add(&units->function_index, units->arena, hash_mix(0, untyped->object));
    return true;
}

static bool may_be_kept(Job *job, const FuncInst *inst) {
    Objects *objects = job->session->objects;
    const Type *callee = inst->object ? NULL : callee_of(job, inst->untyped);
    bool ours = inst->object ? units_function(job->session->units, inst->object) != NULL
                             : callee && callee->kind == TY_FUNC && func_row(callee->func)->library != LIBRARY_ADDED;
    if (!inst->caller || !ours || inst->wanted || (inst->expected && !objects_last(objects, inst->expected)))
        return false;
    for (uint32_t i = 0; i < inst->untyped->nparams; i++)
        if (!objects_last(objects, inst->types[i]) || !const_lasts(objects, inst->konsts[i])) return false;
    return const_lasts(objects, inst->result_konst) && func_lasts(objects, inst->func);
}

/* Whatever calls something that cannot be kept cannot, either. */
static bool *find_kept(Job *job) {
    size_t count = job->insts.len;
    bool *kept = ARENA_ARRAY(job->arena, bool, count);
    VEC(FuncInst *) work = {0};
    for (size_t i = 0; i < count; i++) {
        FuncInst *inst = job->insts.data[i];
        kept[i] = inst->unit || may_be_kept(job, inst);
        if (!kept[i]) vec_push(job->arena, &work, inst);
    }
    while (work.len) {
        const FuncInst *inst = vec_pop(&work);
        for (size_t i = 0; i < inst->callers.len; i++) {
            FuncInst *caller = inst->callers.data[i];
            if (!kept[caller->id]) continue;
            kept[caller->id] = false;
            vec_push(job->arena, &work, caller);
        }
    }
    return kept;
}

static Unit *make_unit(Job *job, const FuncInst *inst) {
    Arena *arena = job->session->units->arena;
    Unit *unit = ARENA_NEW(arena, Unit);
    uint32_t count = inst->untyped->nparams;
    const Type **types = ARENA_ARRAY(arena, const Type *, count);
    const Const **konsts = ARENA_ARRAY(arena, const Const *, count);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = inst->types[i];
        konsts[i] = const_copy(arena, inst->konsts[i]);
    }
    unit->setting = setting_of(job);
    unit->callee = inst->object ? NULL : callee_of(job, inst->untyped);
    unit->inst = (FuncInst){
        .object = inst->object,
        .untyped = inst->object ? units_function(job->session->units, inst->object) : func_copy(arena, inst->untyped),
        .func = func_copy(arena, inst->func),
        .types = types,
        .konsts = konsts,
        .expected = inst->expected,
        .options = inst->options,
        .result = inst->never_returns ? type_simple(job->session->types, TY_BOTTOM) : inst->result,
        .result_konst = const_copy(arena, inst->result_konst),
    };
    return unit;
}

static bool keep(Job *job) {
    Units *units = job->session->units;
    size_t count = job->insts.len;
    const Unit **unit = ARENA_ARRAY(job->arena, const Unit *, count);
    for (size_t i = 0; i < count; i++) {
        const FuncInst *inst = job->insts.data[i];
        if (inst->object && inst->untyped->prelude) TRY(keep_function(units, job->session->objects, inst->untyped));
    }
    const bool *kept = find_kept(job);
    VEC(Unit *) made = {0};
    for (size_t i = 0; i < count; i++) {
        const FuncInst *inst = job->insts.data[i];
        unit[i] = inst->unit;
        if (!kept[i] || inst->unit) continue;
        Unit *new_unit = make_unit(job, inst);
        unit[i] = new_unit;
        vec_push(job->arena, &made, new_unit);
    }
    for (size_t i = 0; i < made.len; i++) {
        const Func *func = made.data[i]->inst.func;
        for (size_t b = 0; b < func->blocks.len; b++)
            for (Value *value = func->blocks.data[b]->first; value; value = value->next)
                if (value_callee(value)) value->imm.inst = (FuncInst *)&unit[value->imm.inst->id]->inst;
        vec_push(units->arena, &units->units, made.data[i]);
        hash_index_add(&units->index, units->arena, hash_unit(&made.data[i]->inst, made.data[i]->callee));
    }
    return true;
}

/* Running out of memory leaves the lists half written: all is forgotten, and what is in the arena lasts for those that
 * share it. */
bool units_keep(Job *job) {
    Units *units = job->session->units;
    if (!units || objects_overloaded(job->session->objects)) return true;
    if (arena_bytes(units->arena) > MOST_BYTES) return true;
    jmp_buf recovery, *outer = arena_on_exhaustion(job->arena, &recovery);
    arena_on_exhaustion(units->arena, &recovery);
    if (setjmp(recovery) != 0) {
        *units = (Units){.arena = units->arena, .counts = units->counts};
        arena_on_exhaustion(units->arena, NULL);
        arena_on_exhaustion(job->arena, outer);
        longjmp(job->recovery, 1);
    }
    bool fine = keep(job);
    arena_on_exhaustion(units->arena, NULL);
    arena_on_exhaustion(job->arena, outer);
    return fine;
}
