/* recursive.c: types of instances that hold instances of their own class: lists that are linked, trees, graphs.
 *
 * Inside the type of an instance, an instance of a class that it is part of is written as that class alone (a shared
 * struct without items: a way back), so that the type is finite: Node(value: int, next: Node()?).  Within such a type
 * every class that it leads back to has one type.  What an attribute holds is its item with the ways back replaced by
 * what they stand for (type_attribute), and a type made of such items is written with ways back again
 * (type_object_of): of all ways to write it there is one, so that equal types stay one pointer. */
#include <stdlib.h> /* calloc */

#include "ir/ir.h"

enum { CLASSES_MOST = 8, MENTIONED_MOST = 64 };

/* ---- what a type mentions ---- */

bool type_mentions(const Type *type, ObjRef class) {
    if (type_is_shared(type) && type->object == class) return true;
    for (uint32_t i = 0; i < type->count; i++)
        if (type_mentions(type->items[i], class)) return true;
    return false;
}

static bool any_mentions(const Type *const *items, uint32_t count, ObjRef class) {
    for (uint32_t i = 0; i < count; i++)
        if (type_mentions(items[i], class)) return true;
    return false;
}

static bool has_objects(const Type *type) {
    for (uint32_t i = 0; i < type->count; i++)
        if (has_objects(type->items[i])) return true;
    return type_is_shared(type);
}

static const Type *way_back(TypeTable *table, const Type *object) {
    static const char *const none[] = {""};
    return type_shared_instance(table, object->object, object->title, none, NULL, 0);
}

/* The same kind of type with other items. */
static const Type *with_items(TypeTable *table, const Type *type, const Type *const *items) {
    Type like = *type;
    like.items = items;
    like.repr = NULL;
    return type_intern(table, &like);
}

typedef const Type *Change(void *self, const Type *object);

/* The type with another one for each that `change` is asked about: the instances that are not inside others. */
static const Type *map_objects(TypeTable *table, const Type *type, Change *change, void *self) {
    enum { FEW = 16 };
    const Type *few[FEW], *made = NULL;
    if (type_is_shared(type)) return change(self, type);
    if (!has_objects(type)) return type;
    const Type **items = type->count <= FEW ? few : calloc(type->count, sizeof *items);
    bool whole = items;
    for (uint32_t i = 0; whole && i < type->count; i++)
        whole = (items[i] = map_objects(table, type->items[i], change, self)) != NULL;
    if (whole) made = with_items(table, type, items);
    if (items != few) free(items);
    return made;
}

bool type_leads_back(const Type *object) { return any_mentions(object->items, object->count, object->object); }

/* ---- what an attribute holds ---- */

typedef struct Opening {
    TypeTable *table;
    const Type *whole; /* what is opened: the ways back lead to it, or to what they lie in */
    ObjRef path[MENTIONED_MOST];
    uint32_t depth;
} Opening;

static bool is_on_path(const Opening *o, ObjRef class) {
    for (uint32_t i = 0; i < o->depth; i++)
        if (o->path[i] == class) return true;
    return false;
}

static const Type *open_object(void *self, const Type *object) {
    Opening *o = self;
    const Type *items[OBJECT_MOST + 1], *from = object;
    if (is_on_path(o, object->object)) return way_back(o->table, object);
    if (type_is_back(object)) from = o->whole;
    if (from->object != object->object || o->depth == MENTIONED_MOST) return NULL;
    bool inside = from == o->whole || o->depth || any_mentions(from->items, from->count, o->whole->object);
    if (!inside) return object;
    o->path[o->depth++] = from->object;
    for (uint32_t i = 0; i < from->count; i++)
        if (!(items[i] = map_objects(o->table, from->items[i], open_object, o))) return NULL;
    o->depth--;
    return type_object_like(o->table, from, items);
}

const Type *type_attribute(const Type *object, unsigned field) {
    const Type *item = object->items[field];
    if (!type_mentions(item, object->object)) return item;
    Opening o = {.table = object->table, .whole = object};
    const Type *opened = map_objects(object->table, item, open_object, &o);
    return opened ? opened : type_simple(object->table, TY_BOTTOM);
}

/* ---- a type of such items ---- */

typedef struct Definition { /* of a class, with ways back for all the classes */
    const Type *like;
    const Type *items[OBJECT_MOST + 1];
    bool used; /* there are items */
} Definition;

typedef struct Folding {
    TypeTable *table;
    TypeJoin *join;
    void *self;
    uint32_t count; /* of classes that lead back to the first */
    Definition classes[CLASSES_MOST];
    uint32_t nmet; /* classes met at all, with those that each holds itself */
    ObjRef met[MENTIONED_MOST];
    uint64_t holds[MENTIONED_MOST];
    const Type *first[MENTIONED_MOST];
} Folding;

static uint32_t number_of(Folding *f, const Type *object) {
    uint32_t i = 0;
    while (i < f->nmet && f->met[i] != object->object) i++;
    if (i == MENTIONED_MOST) return i;
    if (i == f->nmet) f->met[f->nmet] = object->object, f->first[f->nmet] = object, f->holds[f->nmet++] = 0;
    return i;
}

/* Which classes hold which.  False: there are too many. */
static bool meet(Folding *f, uint32_t holder, const Type *type) {
    if (type_is_shared(type)) {
        uint32_t number = number_of(f, type);
        if (number == MENTIONED_MOST) return false;
        f->holds[holder] |= UINT64_C(1) << number;
        holder = number;
    }
    for (uint32_t i = 0; i < type->count; i++)
        if (!meet(f, holder, type->items[i])) return false;
    return true;
}

/* Those of them that lead back to the first. */
static bool choose_classes(Folding *f) {
    uint64_t back = 1;
    for (uint64_t before = 0; before != back;) {
        before = back;
        for (uint32_t i = 0; i < f->nmet; i++)
            if (f->holds[i] & back) back |= UINT64_C(1) << i;
    }
    for (uint32_t i = 0; i < f->nmet; i++) {
        if (!(back >> i & 1)) continue;
        if (f->count == CLASSES_MOST) return false;
        f->classes[f->count++].like = f->first[i];
    }
    return true;
}

static Definition *definition_of(Folding *f, ObjRef class) {
    for (uint32_t i = 0; i < f->count; i++)
        if (f->classes[i].like->object == class) return &f->classes[i];
    return NULL;
}

static bool define(Folding *f, Definition *of, const Type *like, const Type *const *items);

static const Type *fold_object(void *self, const Type *object) {
    Folding *f = self;
    Definition *of = definition_of(f, object->object);
    if (!of) return object;
    if (!type_is_back(object) && !define(f, of, object, object->items)) return NULL;
    return way_back(f->table, object);
}

/* The class has these items as well. */
static bool define(Folding *f, Definition *of, const Type *like, const Type *const *items) {
    if (!of->used) of->like = like;
    if (like->count != of->like->count || like->count > OBJECT_MOST + 1) return false;
    for (uint32_t i = 0; i < like->count; i++) {
        const Type *item = map_objects(f->table, items[i], fold_object, f);
        if (!item) return false;
        of->items[i] = of->items[i] ? f->join(f->self, of->items[i], item) : item;
        if (!of->items[i]) return false;
    }
    return of->used = true;
}

/* Classes that all hold each other are written in each other in every order. */
enum { WRITTEN_MOST = 1000 };

typedef struct Writing {
    Folding *f;
    uint32_t path;    /* bit i: class i is around */
    uint32_t written; /* so far */
} Writing;

static const Type *write_object(void *self, const Type *object) {
    Writing *w = self;
    Definition *of = definition_of(w->f, object->object);
    const Type *items[OBJECT_MOST + 1];
    if (!of) return object;
    uint32_t bit = 1u << (of - w->f->classes);
    if (w->path & bit) return object;
    if (!of->used || ++w->written > WRITTEN_MOST) return NULL;
    w->path |= bit;
    for (uint32_t i = 0; i < of->like->count; i++)
        if (!(items[i] = map_objects(w->f->table, of->items[i], write_object, w))) return NULL;
    w->path &= ~bit;
    return type_object_like(w->f->table, of->like, items);
}

static const Type *join_each(TypeTable *table, const Type *like, const Type *const *const *lists, size_t nlists,
                             TypeJoin *join, void *self) {
    const Type *items[OBJECT_MOST + 1];
    for (uint32_t i = 0; i < like->count; i++) {
        items[i] = lists[0][i];
        for (size_t k = 1; k < nlists; k++)
            if (!(items[i] = join(self, items[i], lists[k][i]))) return NULL;
    }
    return type_object_like(table, like, items);
}

const Type *type_object_of(TypeTable *table, const Type *like, const Type *const *const *lists, size_t nlists,
                           TypeJoin *join, void *self) {
    bool plain = true;
    if (like->count > OBJECT_MOST + 1) return NULL;
    for (size_t k = 0; k < nlists; k++) plain &= !any_mentions(lists[k], like->count, like->object);
    if (plain) return join_each(table, like, lists, nlists, join, self);
    Folding *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->table = table, f->join = join, f->self = self;
    bool fine = number_of(f, like) == 0;
    for (size_t k = 0; fine && k < nlists; k++)
        for (uint32_t i = 0; fine && i < like->count; i++) fine = meet(f, 0, lists[k][i]);
    fine = fine && choose_classes(f);
    for (size_t k = 0; fine && k < nlists; k++) fine = define(f, &f->classes[0], like, lists[k]);
    const Type *made = fine ? write_object(&(Writing){.f = f}, like) : NULL;
    free(f);
    return made;
}
