/* stored_generators.c: generator expressions that are kept while a variable that they read changes.
 *
 * In: a function whose types are settled, and the calls that make such generators (VF_COPIES): they were given what the
 * variable held, which is right as long as every later use is seen.  Out: true, or a refusal where one is put into what
 * others may hold as well: a list, a dict, an instance, a cell; or leaves the function whose own variable it is not
 * (VF_STAYS).
 *
 * What is made with the generator and still holds one is followed from operands to results.  It is put away where it
 * is an operand beside one whose type says that generators lie in it. */
#include "typeinfer/infer.h"

static bool holds_generator(const Type *type) {
    if (type->kind == TY_GENERATOR) return true;
    for (uint32_t i = 0; i < type->count; i++)
        if (holds_generator(type->items[i])) return true;
    return false;
}

/* Whether it is, or has inside, what a generator may have been put into. */
static bool is_store(const Type *type) {
    bool changes = type->kind == TY_LIST || type->kind == TY_DICT || type->kind == TY_CELL || type_is_shared(type);
    if (changes) return holds_generator(type);
    for (uint32_t i = 0; i < type->count; i++)
        if (is_store(type->items[i])) return true;
    return false;
}

/* What is called has the object before the dot as an operand. */
static const Value *operand_of(const Value *user, uint32_t i) {
    const Value *operand = user->args[i];
    return i == 0 && user->op == OP_CALL && operand->op == OP_GETATTR ? operand->args[0] : operand;
}

static bool is_put_away(const Value *user, uint32_t item, const Value *made) {
    if (user->op == OP_RETURN || user->op == OP_YIELD) return made->flags & VF_STAYS;
    if (user->op == OP_PHI) return false;
    for (uint32_t i = 0; i < user->nargs; i++)
        if (i != item && is_store(operand_of(user, i)->type)) return true;
    return false;
}

/* Where what `made` gives is put away; NULL: nowhere. */
static const Value *find_store(Infer *in, const Value *made) {
    VEC(const Value *) work = {0};
    bool *seen = ARENA_ARRAY(in->arena, bool, in->func->next_value);
    vec_push(in->arena, &work, made);
    while (work.len) {
        const Value *value = vec_pop(&work);
        Value *const *users;
        uint32_t nusers = solver_users(in, value, &users);
        for (uint32_t u = 0; u < nusers; u++) {
            const Value *user = users[u];
            for (uint32_t i = 0; i < user->nargs; i++)
                if (user->args[i] == value && is_put_away(user, i, made)) return user;
            if (seen[user->id] || !holds_generator(user->type)) continue;
            seen[user->id] = true;
            vec_push(in->arena, &work, user);
        }
    }
    return NULL;
}

bool typeinfer_check_stored(Infer *in) {
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (const Value *made = in->func->blocks.data[b]->first; made; made = made->next) {
            const Value *store = made->flags & VF_COPIES && holds_generator(made->type) ? find_store(in, made) : NULL;
            if (!store) continue;
            diag_fail(in->diag, DIAG_UNSUPPORTED, in->func->source, store->span,
                      "a generator expression is kept here that shares a changing variable with the function it is "
                      "made in");
            diag_hint(in->diag, "keep a list of its items, [...], or pass the variable to a generator function");
            return false;
        }
    return true;
}
