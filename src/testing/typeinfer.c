/* typeinfer.c: the test doors of typeinfer: rows that ir.c runs. */
#include "testing/trial.h"

/* ---- inference of one function of IR text, whose parameters carry their types and, after "is", constants ---- */

static const Func *no_function(void *trial, ObjRef function) {
    diag_fail(&((Trial *)trial)->diag, DIAG_PARSE, NULL, (Span){0}, "the text cannot call pyfunc#%u", function);
    return NULL;
}

static FuncInst *no_instance(void *trial, const InferRequest *request, CallSite site) {
    (void)site;
    no_function(trial, request->function);
    return NULL;
}

/* A function of elements is named, not inferred. */
static FuncInst *row_instance(void *self, const Type *callee, const Type *const *types, const Const *const *konsts,
                              size_t count, CallSite site) {
    Trial *trial = self;
    Func *untyped = ARENA_NEW(trial->arena, Func);
    FuncInst *inst = ARENA_NEW(trial->arena, FuncInst);
    (void)types, (void)konsts, (void)site;
    untyped->name = callee->func->key;
    untyped->nparams = (uint32_t)count;
    inst->untyped = untyped;
    return inst;
}

static bool no_ufunc(void *trial, ObjRef function, UfuncShape *shape) {
    (void)trial, (void)function, (void)shape;
    return false;
}

static bool no_looped(void *trial, const LoopedRequest *request, ObjRef *function) {
    (void)trial, (void)request, (void)function;
    return false;
}

static bool no_signature(void *trial, ObjRef function, size_t index, InferSignature *signature) {
    (void)trial, (void)function, (void)index, (void)signature;
    return false;
}

static ObjRef no_prelude(void *trial, const char *name) {
    diag_fail(&((Trial *)trial)->diag, DIAG_PARSE, NULL, (Span){0}, "the text cannot call the prelude's %s", name);
    return 0;
}

static Member no_member(void *self, ObjRef class, ObjRef after, const char *name) {
    (void)self, (void)class, (void)after, (void)name;
    return (Member){0};
}

static bool no_answer(void *self, const Type *type, const char *name) {
    (void)self, (void)type, (void)name;
    return false;
}

static const Const *no_members(void *self, ObjRef class, MembersWhat what, const char *attribute) {
    (void)self, (void)class, (void)what, (void)attribute;
    return NULL;
}

static bool no_enum(void *self, ObjRef class, EnumClass *enumeration) {
    return (void)self, (void)class, (void)enumeration, false;
}

static const StructClass *no_struct(void *trial, ObjRef object) {
    (void)trial, (void)object;
    return NULL;
}

static ClassAnswer no_instance_of(void *trial, const Type *type, const Type *meant) {
    (void)trial;
    (void)type;
    (void)meant;
    return CLASS_UNKNOWN;
}

static bool no_sequence(void *trial, const Type *type) {
    (void)trial;
    (void)type;
    return false;
}

static const Const *no_class_of(void *trial, const Type *type) {
    (void)trial;
    (void)type;
    return NULL;
}

static const char *no_name_of(void *trial, const Type *type, const char *attribute) {
    (void)trial, (void)type, (void)attribute;
    return NULL;
}

static const Type *no_declared(void *trial, const Type *class, const char *name) {
    (void)trial, (void)class, (void)name;
    return NULL;
}

static const Const *no_ufunc_attribute(void *trial, const Type *type, const char *attribute) {
    (void)trial, (void)type, (void)attribute;
    return NULL;
}

static bool no_overload(void *self, const OverloadRequest *request, ObjRef *function) {
    (void)self, (void)request;
    *function = 0;
    return true;
}

static const char *no_attribute(void *trial, ObjRef object, const char *name, const char **hint) {
    (void)hint;
    return arena_printf(((Trial *)trial)->arena, "object#%u has no attribute '%s'", object, name);
}
static const char *no_name(void *trial, ObjRef object) {
    return arena_printf(((Trial *)trial)->arena, "object#%u", object);
}

static const char *infer_text(Trial *trial, const char *text, Promotion promotion, bool kernel) {
    Func *func = func_parse(trial->arena, trial->types, text, &trial->diag);
    TRY(func);
    const Type **types = ARENA_ARRAY(trial->arena, const Type *, func->nparams);
    const Const **konsts = ARENA_ARRAY(trial->arena, const Const *, func->nparams);
    for (const Value *value = func->blocks.data[0]->first; value && value->op == OP_PARAM; value = value->next) {
        if (!value->type) return trial_refuse(trial, "a parameter without a type");
        types[value->imm.i] = value->type;
        konsts[value->imm.i] = value->konst;
    }
    FuncInst inst = {.untyped = func, .types = types, .konsts = konsts};
    inst.result = type_simple(trial->types, TY_BOTTOM);
    inst.options = kernel ? OPT_DEVICE : OPT_PYTHON_ERRORS | OPT_BOUNDSCHECK;
    const InferHost host = {.self = trial,
                            .translate = no_function,
                            .instance = no_instance,
                            .row_instance = row_instance,
                            .ufunc = no_ufunc,
                            .signature = no_signature,
                            .prelude = no_prelude,
                            .struct_class = no_struct,
                            .member = no_member,
                            .answers_itself = no_answer,
                            .members = no_members,
                            .enum_class = no_enum,
                            .overload = no_overload,
                            .looped = no_looped,
                            .object_name = no_name,
                            .no_attribute = no_attribute,
                            .is_instance = no_instance_of,
                            .is_subclass = no_instance_of,
                            .is_sequence = no_sequence,
                            .class_of = no_class_of,
                            .name_of = no_name_of,
                            .declared = no_declared,
                            .ufunc_attribute = no_ufunc_attribute};
    KeptViews views = {0};
    const InferConfig config = {.promotion = promotion, .device = kernel, .host = &host, .views = &views};
    TRY(typeinfer_run(&config, trial->arena, trial->types, &inst, &trial->diag) && typeinfer_complete(&inst));
    TRY(func_verify(inst.func, true, &trial->diag));
    return trial_print_func(trial, inst.func);
}

static const char *try_infer(Trial *trial, const char *text) {
    return infer_text(trial, text, PROMOTION_NUMPY2, false);
}
static const char *try_infer_kernel(Trial *trial, const char *text) {
    return infer_text(trial, text, PROMOTION_NUMPY2, true);
}
static const char *try_infer_numba(Trial *trial, const char *text) {
    return infer_text(trial, text, PROMOTION_NUMBA, false);
}

/* The text is a tuple of two types; "none" if they have no common one. */
typedef const Type *CommonType(Promotion promotion, TypeTable *types, const Type *a, const Type *b);

static const char *common_type(Trial *trial, const char *text, Promotion promotion, CommonType *common) {
    const Type *pair = trial_whole_type(trial, text);
    TRY(pair);
    if (pair->kind != TY_TUPLE || pair->count != 2) return trial_refuse(trial, text);
    const Type *type = common(promotion, trial->types, pair->items[0], pair->items[1]);
    return type ? type_text(trial->arena, type) : "none";
}

static const char *try_promote(Trial *trial, const char *text) {
    return common_type(trial, text, PROMOTION_NUMPY2, typeinfer_promote);
}
static const char *try_promote_numba(Trial *trial, const char *text) {
    return common_type(trial, text, PROMOTION_NUMBA, typeinfer_promote);
}
static const char *try_join(Trial *trial, const char *text) {
    return common_type(trial, text, PROMOTION_NUMPY2, typeinfer_join);
}

static const char *try_conversion_cost(Trial *trial, const char *text) {
    const Type *pair = trial_whole_type(trial, text);
    TRY(pair);
    if (pair->kind != TY_TUPLE || pair->count != 2) return trial_refuse(trial, text);
    return arena_printf(trial->arena, "%d", typeinfer_conversion_cost(pair->items[0], pair->items[1]));
}

const TrialRow testing_typeinfer_rows[] = {
    {"infer", try_infer},
    {"infer_kernel", try_infer_kernel},
    {"infer_numba", try_infer_numba},
    {"promote", try_promote},
    {"promote_numba", try_promote_numba},
    {"join", try_join},
    {"conversion_cost", try_conversion_cost},
};
const size_t testing_typeinfer_row_count = COUNT_OF(testing_typeinfer_rows);
