/* spreads.c: dicts that are made to be taken apart: `options = {'a': 1, 'b': x}`, then `f(**options)`.
 *
 * In: a Func whose SSA is complete.  Out: such a display is keyword arguments instead (typeinfer/rules_keywords.c):
 * their names are known, and each value has its own type.  It is one if its keys are texts, nothing else is put in
 * afterwards, and all that is done with it is what keyword arguments can do, **x at least once; so is one that is put
 * into such a display, {**x, 'a': 1}, and the union x | y that a call takes apart.  The pairs of other displays that
 * nothing changes become their operands: they are keyword arguments as well if their values have no type in common. */
#include "frontend/translate.h"

#include <string.h> /* memset, strcmp */

static bool is_row(const Value *callee, FuncId id) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    return type && type->kind == TY_FUNC && type->func->id == id;
}

/* **value in a display */
static bool merges(const Value *user) {
    return user->op == OP_CALL && user->nargs == 3 && is_row(user->args[0], FUNC_DICT_MERGE);
}

/* What stands behind ** of the call, or is put into what does. */
static bool takes_apart(const Value *user, const Value *value) {
    if (merges(user)) return user->args[2] == value && user->args[1] != value && user->args[1]->mark;
    if (user->op == OP_OR && user->mark) return true;
    uint32_t first = user->nargs - user->imm.nnames;
    for (uint32_t i = first; user->op == OP_CALL_EX && i < user->nargs; i++)
        if (user->args[i] == value && strcmp(user->imm.names[i - first], SPREAD_NAME) == 0) return true;
    return false;
}

static bool is_text(const Value *value) { return value->op == OP_CONST && value->konst->type->kind == TY_STR; }

static bool puts_in(const Value *user, const Value *dict) {
    return (user->op == OP_SETITEM && user->args[0] == dict) || (merges(user) && user->args[1] == dict);
}

/* x.get, x.items */
static bool reads(const Value *user) {
    static const char *const methods[] = {"get", "keys", "values", "items"};
    for (size_t i = 0; user->op == OP_GETATTR && i < COUNT_OF(methods); i++)
        if (strcmp(user->imm.text, methods[i]) == 0) return true;
    return false;
}

static bool only_counts(const Value *user) {
    return user->op == OP_CALL && user->nargs == 2 && is_row(user->args[0], FUNC_LEN);
}

static bool only_reads(const Value *user, const Value *dict) {
    if (user->op == OP_GETITEM) return user->args[0] == dict && user->args[1] != dict;
    if (user->op == OP_IN || user->op == OP_NOT_IN) return user->args[1] == dict && user->args[0] != dict;
    if (user->op == OP_ITER || user->op == OP_TRUTH || user->op == OP_NOT) return true;
    if (only_counts(user)) return true;
    return reads(user);
}

/* What a dict has that changes it. */
static bool changes(const Value *user, const Value *dict) {
    if (user->op == OP_DELITEM || (user->op == OP_OR && user->flags & VF_INPLACE)) return user->args[0] == dict;
    return user->op == OP_GETATTR && func_changes_table(user->imm.text);
}

/* What is done with a dict whose values keep their types, whatever these are. */
static bool shows(const Value *user, const Value *dict) {
    switch (user->op) {
    case OP_OR:
    case OP_RETURN:
    case OP_YIELD:
    case OP_TUPLE:
    case OP_LIST:
    case OP_LIST_APPEND:
    case OP_PHI:
    case OP_FORMAT:
    case OP_ITER:
    case OP_TRUTH:
    case OP_NOT: return true;
    case OP_GETITEM: return user->args[0] == dict && is_text(user->args[1]);
    case OP_IN:
    case OP_NOT_IN: return user->args[1] == dict && user->args[0] != dict;
    case OP_GETATTR: return reads(user);
    case OP_CALL: return user->args[0]->op == OP_GETATTR && strcmp(user->args[0]->imm.text, "append") == 0;
    default: return false;
    }
}

typedef VEC(Value *) Puts;

/* Which blocks lead to the one that is translated, by id. */
static bool *leading_blocks(Translator *t) {
    VEC(Block *) todo = {0};
    bool *leads = ARENA_ARRAY(t->arena, bool, t->func->next_block);
    memset(leads, 0, t->func->next_block * sizeof *leads);
    vec_push(t->arena, &todo, t->block);
    while (todo.len) {
        const Block *block = todo.data[--todo.len];
        if (leads[block->id]) continue;
        leads[block->id] = true;
        for (uint32_t i = 0; i < block->preds.len; i++) vec_push(t->arena, &todo, block->preds.data[i]);
    }
    return leads;
}

/* What is put into a dict by the code so far, in order. */
static Puts puts_into(Translator *t, const Value *dict, const bool *leads) {
    Puts puts = {0};
    size_t b = t->func->blocks.len;
    while (b > 1 && t->func->blocks.data[b - 1] != dict->block) b--;
    for (b = b ? b - 1 : 0; b < t->func->blocks.len; b++)
        for (Value *user = t->func->blocks.data[b]->first; user; user = user->next)
            if (puts_in(user, dict) && (!leads || leads[user->block->id])) vec_push(t->arena, &puts, user);
    return puts;
}

/* The keyword arguments of a call as a display, where they lie on the stack as a dict that is one value: CPython fills
 * one in turn where they are many, and one where ways join among them is no display any more (translate_keep_slot).
 * The dict itself goes at the end: where the call stands twice, on two ways, both take what lies in it. */
bool translate_take_pairs(Translator *t, Slot *slot) {
    Value *dict = slot->kind == SLOT_VALUE && slot->value->op == OP_DICT ? slot->value : NULL;
    if (slot->kind == SLOT_MAP) return true;
    if (!dict) return translate_refuse(t, t->span, REFUSED_STAR_BRANCH);
    Puts puts = puts_into(t, dict, leading_blocks(t));
    Map *map = translate_new_pairs(t, puts.len);
    for (size_t i = 0; i < puts.len; i++) {
        const Value *put = puts.data[i];
        map->keys[i] = merges(put) ? NULL : put->args[1];
        map->names[i] = merges(put) ? NULL : translate_key_name(put->args[1]->konst);
        map->values[i] = put->args[2];
    }
    vec_push(t->arena, &t->taken, dict);
    *slot = (Slot){.kind = SLOT_MAP, .span = slot->span, .map = map};
    return true;
}

void translate_drop_taken(Translator *t) {
    for (size_t k = 0; k < t->taken.len; k++) {
        Value *dict = t->taken.data[k];
        if (!dict->block) continue; /* taken on another way, too */
        Puts puts = puts_into(t, dict, NULL);
        for (size_t i = 0; i < puts.len; i++) value_remove(puts.data[i]);
        value_remove(dict);
    }
}

typedef struct Display {
    VEC(Value *) puts; /* what puts something in, in order */
    bool fits;         /* these are texts and values, before all else */
    bool is_read;      /* all that is done with it is what keyword arguments can do */
    bool spread;
    bool changes; /* something is taken out, or put in behind something else */
    bool merges;  /* **x is among them */
    bool read;    /* something else has used it */
    bool passed;  /* it is not only returned, put into tuples and lists, and read by names that are known */
} Display;

static void look_at(Translator *t, Display *display, Value *user, const Value *dict) {
    if (takes_apart(user, dict)) {
        display->spread = display->read = true;
    } else if (puts_in(user, dict)) {
        display->fits &= user->block == dict->block && !display->read &&
                         (merges(user) || (is_text(user->args[1]) && user->args[2] != dict));
        display->merges |= merges(user);
        vec_push(t->arena, &display->puts, user);
    } else {
        display->read = true;
        display->is_read &= only_reads(user, dict);
        display->changes |= changes(user, dict);
        display->passed |= !shows(user, dict) && !only_counts(user);
    }
}

static void look_at_uses(Translator *t, Display *display, Value *user, const Value *dict) {
    for (uint32_t i = 0; i < user->nargs; i++)
        if (user->args[i] == dict) return look_at(t, display, user, dict);
}

/* Whoever uses it in another block comes behind the display's own. */
static Display uses_of(Translator *t, const Value *dict) {
    Display display = {.fits = true, .is_read = true};
    for (Value *user = dict->next; user; user = user->next) look_at_uses(t, &display, user, dict);
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (Value *user = t->func->blocks.data[b]->first; user && user->block != dict->block; user = user->next)
            look_at_uses(t, &display, user, dict);
    return display;
}

/* A call of a row with these operands, before a value. */
static Value *insert_call(Translator *t, Value *before, FuncId id, Value *const *operands, size_t count) {
    Value **args = ARENA_ARRAY(t->arena, Value *, 1 + count);
    args[0] = value_new(t->func, OP_CONST, before->span, NULL, 0);
    args[0]->konst = const_of(t->arena, type_func(t->types, &func_info[id].head));
    args[0]->type = args[0]->konst->type;
    value_insert_before(before, args[0]);
    for (size_t i = 0; i < count; i++) args[1 + i] = operands[i];
    Value *call = value_new(t->func, OP_CALL, before->span, args, 1 + count);
    value_insert_before(before, call);
    return call;
}

/* Pairs that stand together are one call with their names. */
static void replace_display(Translator *t, Value *dict, const Display *display) {
    size_t count = display->puts.len, i = 0;
    Value *made = NULL, **values = ARENA_ARRAY(t->arena, Value *, count);
    do {
        const char **names = ARENA_ARRAY(t->arena, const char *, count);
        uint32_t named = 0;
        Value *before = i < count ? display->puts.data[i] : dict;
        for (; i < count && !merges(display->puts.data[i]); i++) {
            before = display->puts.data[i];
            names[named] = before->args[1]->konst->text;
            values[named++] = before->args[2];
        }
        Value *part = NULL;
        if (named || !made) {
            part = insert_call(t, before, FUNC_NEW_KEYWORDS, values, named);
            part->imm.names = names;
            part->imm.nnames = named;
        }
        if (part) made = made ? insert_call(t, before, FUNC_JOINED_KEYWORDS, (Value *[]){made, part}, 2) : part;
        if (i < count) { /* ** */
            before = display->puts.data[i++];
            made = insert_call(t, before, FUNC_JOINED_KEYWORDS, (Value *[]){made, before->args[2]}, 2);
        }
    } while (i < count);
    made->name = dict->name;
    for (i = 0; i < count; i++) value_remove(display->puts.data[i]);
    value_replace(t->func, dict, made);
    value_remove(dict);
}

typedef VEC(Value *) Values;

static void add_candidate(Translator *t, Values *dicts, Value *value) {
    if ((value->op != OP_DICT && value->op != OP_OR) || !value->block || value->mark) return;
    value->mark = value;
    vec_push(t->arena, dicts, value);
}

/* What the calls take apart, and what that is made of. */
static void find_candidates(Translator *t, Values *dicts) {
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next) value->mark = NULL;
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (Value *call = t->func->blocks.data[b]->first; call; call = call->next)
            for (uint32_t i = 2; call->op == OP_CALL_EX && i < call->nargs; i++)
                if (takes_apart(call, call->args[i])) add_candidate(t, dicts, call->args[i]);
    for (size_t i = 0; i < dicts->len; i++) {
        Value *value = dicts->data[i];
        for (uint32_t k = 0; value->op == OP_OR && k < 2; k++) add_candidate(t, dicts, value->args[k]);
        for (Value *user = value->next; value->op == OP_DICT && user; user = user->next)
            if (merges(user) && user->args[1] == value) add_candidate(t, dicts, user->args[2]);
    }
}

/* ---- **name that is changed ---- */

static bool is_change(const Value *value) {
    return value->op == OP_CALL &&
           (is_row(value->args[0], FUNC_WITH_KEYWORD) || is_row(value->args[0], FUNC_WITHOUT_KEYWORD) ||
            is_row(value->args[0], FUNC_JOINED_KEYWORDS));
}

static void mark_behind(Block *block) {
    for (size_t s = 0; s < block->succs.len; s++) {
        Block *next = block->succs.data[s];
        if (next->mark) continue;
        next->mark = block;
        mark_behind(next);
    }
}

static bool uses(const Value *user, const Value *value) {
    for (uint32_t i = 0; i < user->nargs; i++)
        if (user->args[i] == value) return true;
    return false;
}

/* Whether something but the variable holds what is changed: it would not see the change. */
static const Value *holder_of(Translator *t, const Value *change) {
    const Value *old = change->args[1], *holder = NULL;
    for (size_t b = 0; b < t->func->blocks.len; b++) t->func->blocks.data[b]->mark = NULL;
    mark_behind(change->block);
    for (size_t b = 0; b < t->func->blocks.len && !holder; b++) {
        const Block *block = t->func->blocks.data[b];
        bool behind = block->mark;
        for (const Value *user = block->first; user && !holder; user = user->next) {
            behind |= user == change;
            if (user == change || user->op == OP_PHI || !uses(user, old)) continue;
            bool row = user->op == OP_CALL && user->nargs > 1 && user->args[1] == old &&
                       (is_change(user) || is_row(user->args[0], FUNC_KEYWORD_POP) ||
                        is_row(user->args[0], FUNC_KEYWORD_DEFAULT));
            if (behind || !(row || takes_apart(user, old) || only_reads(user, old))) holder = user;
        }
    }
    for (size_t b = 0; b < t->func->blocks.len; b++) t->func->blocks.data[b]->mark = NULL;
    return holder;
}

static bool check_changes(Translator *t) {
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (const Value *value = t->func->blocks.data[b]->first; value; value = value->next) {
            const Value *holder = is_change(value) ? holder_of(t, value) : NULL;
            if (!holder) continue;
            diag_fail(t->diag, DIAG_UNSUPPORTED, t->source, value->span,
                      "the keyword arguments are changed here, and something else than `%s` holds them",
                      value->args[1]->name ? value->args[1]->name : "**");
            diag_note(t->diag, t->source, holder->span, "here");
            diag_hint(t->diag, "make a dict of them first, dict(x), and change that");
            return false;
        }
    return true;
}

/* ---- displays whose values may be of several types ---- */

/* The pairs of a display that nothing changes become its operands, so that it can be keyword arguments if they have no
 * type in common: only inference knows.  It is made where the last pair is put in. */
static bool stand_together(const Value *dict, const Value *last) {
    for (const Value *value = dict->next; value != last; value = value->next)
        if (value->op != OP_CONST && value->op != OP_SETITEM) return false;
    return true;
}

static void note_pairs(Translator *t, Value *dict) {
    Display display = uses_of(t, dict);
    size_t count = display.puts.len, operands = 2 * count;
    if (!count || !display.fits || display.changes || display.merges) return;
    Value **pairs = ARENA_ARRAY(t->arena, Value *, operands), *last = display.puts.data[count - 1];
    if (dict->block->unwinds && !stand_together(dict, last)) return; /* a handler may see a part of it */
    value_remove(dict);
    value_insert_before(last, dict);
    for (size_t i = 0; i < count; i++) {
        Value *put = display.puts.data[i];
        pairs[2 * i] = put->args[1];
        pairs[2 * i + 1] = put->args[2];
        put->flags |= VF_OPERAND;
        if (put == last) continue;
        value_remove(put);
        value_insert_before(last, put);
    }
    dict->args = pairs;
    dict->nargs = (uint32_t)operands;
    if (!display.passed) dict->flags |= VF_OPERAND;
}

static void note_all_pairs(Translator *t) {
    Values dicts = {0};
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_DICT) vec_push(t->arena, &dicts, value);
    for (size_t i = 0; i < dicts.len; i++) note_pairs(t, dicts.data[i]);
}

bool frontend_settle_spreads(Translator *t) {
    if (t->code->co_flags & CO_VARKEYWORDS) TRY(check_changes(t));
    Values dicts = {0};
    find_candidates(t, &dicts);
    for (size_t i = dicts.len; i-- > 0;) { /* what is put in before what it is put into */
        Value *value = dicts.data[i];
        Display display = uses_of(t, value);
        if (!display.fits || !display.is_read || !display.spread) continue;
        if (value->op == OP_OR) {
            Value *joined = insert_call(t, value, FUNC_JOINED_KEYWORDS, value->args, 2);
            joined->mark = value;
            joined->name = value->name;
            value_replace(t->func, value, joined);
            value_remove(value);
        } else {
            replace_display(t, value, &display);
        }
    }
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (Value *value = t->func->blocks.data[b]->first; value; value = value->next) value->mark = NULL;
    note_all_pairs(t);
    return true;
}
