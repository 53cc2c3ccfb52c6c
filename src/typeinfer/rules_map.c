/* rules_map.c: typing rules of ufuncs and operators on whole arrays.
 *
 * In: a call of a ufunc, or an operator, with an array among its operands.  Out: the function of its elements, which is
 * a compiled function like others (InferHost.row_instance), and
 *
 *   shape = broadcast(shapes of the arrays)       unless one array alone has axes
 *   dest  = new_array(extents of shape)           or the array to write to: out=, x += y
 *   map(dest, operands)
 *
 * The result's type is what the ufunc's own rule says of the elements: NumPy's dtype by NumPy's promotion.  Arrays
 * without axes are their elements: of such alone the result is a scalar.  The layout is C, or F if all arrays with as
 * many axes as the result are F.  Destinations are checked as NumPy's casting asks, and their shape before anything is
 * written. */
#include <string.h> /* strcmp, strlen */

#include "typeinfer/rules_library.h" /* lib_* */

enum { MAX_IN = 31, MAX_OUT = 31 }; /* of a ufunc that @vectorize made: 32 together */

typedef struct Mapping {
    const Type *callee; /* TY_FUNC, or TY_PYFUNC */
    size_t nin, nout;
    Fact in[MAX_IN];
    Value *values[MAX_IN];
    const Type *elements[MAX_IN]; /* what the function of elements takes */
    const Type *out[MAX_OUT];     /* NULL: a new array */
    Value *out_values[MAX_OUT];
    const Type *where; /* NULL: everywhere */
    Value *where_value;
    const Type *dtype; /* NULL: as promoted */
    Casting casting;
    char order;                   /* of the axes of what is made: C or F; K: as the operands lie */
    const Type *results[MAX_OUT]; /* of the function of elements */
    unsigned ndim;
    FuncInst *inst;
    bool open;   /* nobody knows yet what the function of elements returns */
    bool misfit; /* there are more axes than an out= has: it raises */
} Mapping;

static bool is_array(const Type *type) { return type && infer_content(type)->kind == TY_ARRAY; }

bool typing_has_array(const Typing *t) {
    for (size_t i = 0; i < t->nargs; i++)
        if (is_array(t->args[i].type)) return true;
    return false;
}

/* What one element, or an operand without axes, may be. */
static bool is_element(const Type *type) {
    return type_is_scalar(type) || type->kind == TY_TIME || type->kind == TY_CHARS;
}

static size_t results_of(const FuncInfo *row) {
    const char *result = row->loops.result;
    return result && result[0] == '=' && result[1] ? 2 : 1;
}

/* ---- arguments ---- */

static bool read_out(Typing *t, Mapping *m, size_t arg, size_t which) {
    const Type *type = t->args[arg].type;
    if (type->kind == TY_NONE) return true;
    if (type->kind != TY_ARRAY)
        return typing_fail_arg(t, arg, DIAG_TYPING, "`out` must be an array, not %s", typing_arg_text(t, arg));
    if (type->readonly)
        return typing_fail_arg(t, arg, DIAG_READONLY, "the array %s is read-only", typing_arg_text(t, arg));
    m->out[which] = type;
    m->out_values[which] = t->values[arg];
    return true;
}

static bool read_outs(Typing *t, Mapping *m, size_t arg) {
    const Type *type = t->args[arg].type;
    if (type->kind != TY_TUPLE) {
        if (m->nout == 1 || type->kind == TY_NONE) return read_out(t, m, arg, 0);
        return typing_fail_arg(t, arg, DIAG_TYPING, "`out` must be a tuple of %zu arrays", m->nout);
    }
    if (type->count != m->nout)
        return typing_fail_arg(t, arg, DIAG_TYPING, "the `out` tuple must have exactly %zu entries", m->nout);
    for (uint32_t i = 0; i < type->count; i++) {
        if (type->items[i]->kind == TY_NONE) continue;
        if (type->items[i]->kind != TY_ARRAY || type->items[i]->readonly)
            return typing_fail_arg(t, arg, DIAG_TYPING, "`out` must hold arrays that can be written to, not %s",
                                   typing_text(t, type->items[i]));
        m->out[i] = type->items[i];
        if (t->emit) m->out_values[i] = typing_make_extract(t, t->values[arg], i);
    }
    return true;
}

static bool read_where(Typing *t, Mapping *m, size_t arg) {
    const Type *type = infer_content(t->args[arg].type), *element = is_array(type) ? type->items[0] : type;
    const Const *konst = t->args[arg].konst;
    if (type_scalar_kind(element) != 'b')
        return typing_fail_arg(t, arg, DIAG_TYPING, "`where` must be a bool or an array of bools, not %s",
                               typing_arg_text(t, arg));
    if (konst && type_is_scalar(type) && konst->i) return true;
    m->where = type;
    if (t->emit) m->where_value = typing_make_cast(t, t->values[arg], type);
    return true;
}

static bool read_dtype(Typing *t, Mapping *m, size_t arg) {
    return typing_is_none(t, arg) || (m->dtype = typing_const_dtype(t, arg)) != NULL;
}

static bool read_casting(Typing *t, Mapping *m, size_t arg) { return lib_casting(t, arg, &m->casting); }

static bool read_order(Typing *t, Mapping *m, size_t arg) {
    const char *order = "K";
    if (!typing_is_none(t, arg)) TRY(typing_const_str(t, arg, &order));
    if (strlen(order) != 1 || !strchr("CFAK", *order))
        return typing_fail_arg(t, arg, DIAG_BAD_ARGUMENTS, "order must be one of 'C', 'F', 'A', or 'K' (got '%s')",
                               order);
    m->order = *order;
    return true;
}

/* There are no classes of arrays besides the one. */
static bool read_subok(Typing *t, Mapping *m, size_t arg) {
    bool subok;
    (void)m;
    return typing_const_bool(t, arg, &subok);
}

static bool read_keyword(Typing *t, Mapping *m, const char *name, size_t arg) {
    static const struct {
        const char *name;
        bool (*read)(Typing *t, Mapping *m, size_t arg);
        bool of_any; /* also a ufunc that @vectorize made takes it */
    } keywords[] = {{"out", read_outs, true},    {"where", read_where, true}, {"casting", read_casting, true},
                    {"order", read_order, true}, {"subok", read_subok, true}, {"dtype", read_dtype, false}};
    for (size_t i = 0; i < COUNT_OF(keywords); i++)
        if (strcmp(name, keywords[i].name) == 0 && (keywords[i].of_any || m->callee->kind == TY_FUNC))
            return keywords[i].read(t, m, arg);
    return typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` has no parameter named '%s' in compiled code", typing_func_name(t),
                       name);
}

static void open_mapping(Typing *t, Mapping *m, const Type *callee, size_t nin, size_t nout) {
    *m = (Mapping){.callee = callee, .nin = nin, .nout = nout, .casting = CASTING_SAME_KIND, .order = 'K'};
    for (size_t i = 0; i < nin && i + t->nnames < t->nargs; i++) {
        m->in[i] = t->args[i];
        m->in[i].type = infer_content(t->args[i].type);
        if (t->emit) m->values[i] = typing_make_cast(t, t->values[i], m->in[i].type);
    }
}

/* What stands behind the operands: arrays to write to, keywords. */
static bool read_arguments(Typing *t, Mapping *m) {
    size_t positional = t->nargs - t->nnames;
    if (positional < m->nin || positional > m->nin + m->nout)
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "`%s` takes from %zu to %zu positional arguments but %zu were given",
                           typing_func_name(t), m->nin, m->nin + m->nout, positional);
    for (size_t i = m->nin; i < positional; i++) TRY(read_out(t, m, i, i - m->nin));
    for (size_t k = 0; k < t->nnames; k++) TRY(read_keyword(t, m, t->names[k], positional + k));
    return true;
}

/* ---- types ---- */

static bool casts(const Type *from, const Type *to, Casting casting) {
    if (from->kind == TY_TIME || to->kind == TY_TIME)
        return from->kind == to->kind && from->flag == to->flag && time_factor(from, to);
    return lib_can_cast(from, to, casting);
}

/* A Python scalar where its text decides: an int that must fit the type of the elements. */
static bool is_weak_int(Fact fact) {
    return fact.konst && type_is_scalar(fact.type) && fact.type->weak && fact.type->scalar == SCALAR_INT64;
}

/* A Python int that meets NumPy integers, and gives one with them, is of their type before the loop begins: if it does
 * not fit it raises, even if there are no elements. */
static bool is_running_int(Fact fact) {
    return !fact.konst && type_is_scalar(fact.type) && fact.type->weak && fact.type->scalar == SCALAR_INT64;
}

static bool is_numpy_integer(const Type *type) {
    char kind = type_scalar_kind(type);
    return kind == 'i' || kind == 'u';
}

/* Whether dtype= may convert an operand of this type, an array of elements or a number. */
static bool check_input(Typing *t, const Mapping *m, size_t i, const Type *element) {
    if (!m->dtype || (m->in[i].type->weak && type_is_scalar(m->in[i].type))) return true;
    return casts(element, m->dtype, m->casting) ||
           typing_fail(t, DIAG_TYPING, "cannot cast input %zu of `%s` from %s to %s with this casting rule", i,
                       typing_func_name(t), typing_text(t, element), typing_text(t, m->dtype));
}

/* The types of one element of each operand, and what the ufunc gives for them. */
static bool type_elements(Typing *t, Mapping *m) {
    TypingSpace space;
    Typing part = {.in = t->in, .at = t->at, .op = OP_CALL, .func = t->func, .nargs = m->nin};
    part.args = space.args, part.values = space.values, part.to = space.to;
    memset(space.to, 0, sizeof space.to);
    for (size_t i = 0; i < m->nin; i++) {
        const Type *type = m->in[i].type;
        const Type *element = type->kind == TY_ARRAY ? type->items[0] : type;
        if (!is_element(element)) return typing_bad_operands(t);
        TRY(check_input(t, m, i, element));
        m->elements[i] = m->dtype ? m->dtype : element;
        part.args[i] = (Fact){m->elements[i], !m->dtype && is_weak_int(m->in[i]) ? m->in[i].konst : NULL};
        part.values[i] = t->in->quiet ? NULL : t->values[i];
    }
    if (!typing_call_library(&part)) return t->failed = true, false;
    if (part.result->kind == TY_BOTTOM) return m->open = true;
    for (size_t i = 0; i < m->nout; i++)
        m->results[i] = infer_strong(t->in, m->nout == 1 ? part.result : part.result->items[i]);
    for (size_t i = 0; i < m->nin; i++)
        if (is_running_int(m->in[i]) && is_numpy_integer(m->results[0])) m->elements[i] = m->results[0];
    return true;
}

static bool check_out(Typing *t, Mapping *m, size_t which) {
    const Type *out = m->out[which];
    if (!out) return true;
    if (!casts(m->results[which], out->items[0], m->casting)) {
        typing_fail(t, DIAG_TYPING, "the result of %s is %s and cannot be stored back as %s",
                    t->is_call ? arena_printf(t->in->arena, "`%s`", typing_func_name(t))
                    : t->nargs > 1
                        ? arena_printf(t->in->arena, "%s and %s", typing_arg_text(t, 0), typing_arg_text(t, 1))
                        : typing_arg_text(t, 0),
                    typing_text(t, m->results[which]), typing_text(t, out->items[0]));
        if (t->func == FUNC_NP_DIVIDE && type_is_integer(out->items[0]))
            return typing_hint(t, "use //= for whole numbers");
        return typing_hint(t, "convert the right side to %s", typing_text(t, out->items[0]));
    }
    if (m->ndim > out->ndim && t->in->device)
        return typing_fail(t, DIAG_TYPING, "an array of %u dimensions cannot be broadcast into one of %u", m->ndim,
                           out->ndim);
    if (m->ndim > out->ndim) m->misfit = true;
    if (m->ndim < out->ndim) m->ndim = out->ndim;
    return true;
}

static const Type *result_type(Typing *t, const Mapping *m, size_t which) {
    if (m->out[which]) return m->out[which];
    bool fortran = m->ndim > 1;
    for (size_t i = 0; i < m->nin; i++) {
        const Type *type = m->in[i].type;
        if (type->kind == TY_ARRAY && type->ndim == m->ndim) fortran = fortran && type->layout == LAYOUT_F;
    }
    if (m->order == 'C' || m->order == 'F') fortran = m->ndim > 1 && m->order == 'F';
    return type_array(t->in->types, m->results[which], m->ndim, fortran ? LAYOUT_F : LAYOUT_C, false);
}

static bool request_body(Typing *t, Mapping *m) {
    const Const *konsts[MAX_IN] = {NULL};
    for (size_t i = 0; i < m->nin && m->callee->kind == TY_FUNC; i++)
        konsts[i] = !m->dtype && is_weak_int(m->in[i]) ? m->in[i].konst : NULL;
    m->inst = t->in->host->row_instance(t->in->host->self, m->callee, m->elements, konsts, m->nin,
                                        (CallSite){t->in->inst, t->at});
    if (!m->inst) t->failed = true;
    return m->inst != NULL;
}

/* ---- what becomes of it ---- */

/* folded(kind, array, dtype): one number of its elements */
bool rule_func_folded(Typing *t) {
    const Type *array = infer_content(t->args[1].type), *dtype;
    const char *kind;
    TRY(typing_const_str(t, 0, &kind));
    TRY(dtype = typing_const_dtype(t, 2));
    Reduction which = reduction_find(kind, strlen(kind));
    if (which == REDUCTION_COUNT || array->kind != TY_ARRAY || !array->ndim || !type_is_scalar(type_element(array)))
        return typing_bad_operands(t);
    if (!t->emit) return typing_become(t, NULL, dtype);
    Value *args[] = {NULL, typing_make_cast(t, t->values[1], array)};
    args[0] = typing_make_shape(t, args[1]);
    return typing_become(t, typing_make_op_imm(t, OP_REDUCE, dtype, args, 2, which), dtype);
}

Value *typing_make_shape(Typing *t, Value *array) {
    unsigned ndim = array->type->ndim;
    const Type *type = lib_uniform_tuple(t->in, infer_int(t->in), ndim);
    return typing_make_getattr(t, "shape", type, array);
}

/* The shape that arrays and scalars have together, destinations first.  If only one of them has axes it is that one's;
 * else all are named, as they are where they do not fit; misfit: they never do. */
static Value *make_broadcast(Typing *t, Value *const *dests, size_t ndests, Value *const *inputs, size_t count,
                             unsigned ndim, bool misfit) {
    Value *shapes[MAX_IN + MAX_OUT + 1];
    Value *only = NULL;
    bool several = false;
    for (size_t i = 0; i < ndests + count; i++) {
        Value *operand = i < ndests ? dests[i] : inputs[i - ndests];
        bool axes = operand->type->kind == TY_ARRAY && operand->type->ndim > 0;
        several = several || (axes && only && only != operand);
        if (axes) only = operand;
    }
    if (!several && !misfit) return only ? typing_make_shape(t, only) : NULL;
    for (size_t i = 0; i < ndests + count; i++) {
        Value *operand = i < ndests ? dests[i] : inputs[i - ndests];
        shapes[i] = operand->type->kind == TY_ARRAY
                        ? typing_make_shape(t, operand)
                        : typing_make_op(t, OP_TUPLE, type_tuple(t->in->types, NULL, 0), NULL, 0);
    }
    const Type *type = lib_uniform_tuple(t->in, infer_int(t->in), ndim);
    return typing_make_op_imm(t, OP_BROADCAST, type, shapes, ndests + count, (int64_t)ndests);
}

static Value *make_new_array(Typing *t, const Type *type, Value *shape) {
    Value *extents[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) extents[i] = typing_make_extract(t, shape, i);
    return typing_make_op(t, OP_NEW_ARRAY, type, extents, type->ndim);
}

static Value *emit_map(Typing *t, Mapping *m) {
    Value *args[MAX_OUT + MAX_IN + 1], *given[MAX_OUT], *made[MAX_OUT];
    size_t ngiven = 0, n = 0;
    for (size_t i = 0; i < m->nout; i++)
        if (m->out[i]) given[ngiven++] = m->out_values[i];
    for (size_t i = 0; i < m->nin; i++) {
        bool scalar = is_element(m->in[i].type);
        args[m->nout + i] = scalar ? typing_make_cast(t, m->values[i], m->elements[i]) : m->values[i];
    }
    if (m->where) args[m->nout + m->nin] = m->where_value;
    size_t sources = m->nin + (m->where != NULL);
    Value *shape = make_broadcast(t, given, ngiven, args + m->nout, sources, m->ndim, m->misfit);
    if (m->where && shape && shape->op == OP_BROADCAST) shape->flags |= VF_MASKED;
    for (size_t i = 0; i < m->nout; i++) {
        made[i] = m->out[i] ? m->out_values[i] : make_new_array(t, result_type(t, m, i), shape);
        args[n++] = made[i];
    }
    if (!m->misfit)
        typing_make_op_imm(t, OP_MAP, infer_none(t->in), args, n + sources, (int64_t)m->nout)->imm.inst = m->inst;
    if (m->nout == 1) return made[0];
    const Type *types[MAX_OUT];
    for (size_t i = 0; i < m->nout; i++) types[i] = made[i]->type;
    return typing_make_op(t, OP_TUPLE, type_tuple(t->in->types, types, m->nout), made, m->nout);
}

/* An operand that is a row of an array: one index for two dimensions. */
static bool refuse_row(Typing *t, size_t arg) {
    static const char *const indices[] = {"i", "i", "i, j", "i, j, k", "i, j, k, ..."};
    const Value *value = t->values[arg] ? value_resolve(t->values[arg]) : NULL;
    const Value *array = value && value->op == OP_GETITEM ? value_resolve(value->args[0]) : NULL;
    bool of_array = array && array->type && array->type->kind == TY_ARRAY && t->args[arg].type->kind == TY_ARRAY;
    if (!of_array || !type_is_integer(value->args[1]->type)) return false;
    const char *x = array->name ? array->name : "x";
    unsigned ndim = array->type->ndim;
    typing_fail(t, DIAG_TYPING,
                "%s has %u dimensions, and one index gives a row of it, where kernels compute with single elements", x,
                ndim);
    typing_hint(
        t,
        "index each dimension, %s[%s], or pass an array of one: %s.ravel(), whose elements are those of %s where "
        "that is contiguous, else copies",
        x, indices[ndim < 4 ? ndim : 4], x, x);
    return true;
}

/* The first operand that is an array, by its name, and what a thread does instead. */
static bool hint_at_elements(Typing *t, const Mapping *m) {
    static const char *const grids[][2] = {{"i = cuda.grid(1)", "[i]"},
                                           {"i = cuda.grid(1)", "[i]"},
                                           {"i, j = cuda.grid(2)", "[i, j]"},
                                           {"i, j, k = cuda.grid(3)", "[i, j, k]"}};
    const char *name = "x";
    unsigned ndim = 1;
    for (size_t i = m->nin; i-- > 0;) {
        const Value *value = t->values[i] ? value_resolve(t->values[i]) : NULL;
        if (t->args[i].type->kind != TY_ARRAY) continue;
        ndim = t->args[i].type->ndim < 3 ? t->args[i].type->ndim : 3;
        name = value && value->name ? value->name : "x";
    }
    const char *index = grids[ndim][1];
    if (t->op >= OP_LT && t->op <= OP_GE)
        return typing_hint(
            t,
            "%s is an array: compare an element of it, %s[0] where it has one alone, or %s%s with %s; or "
            "its length, %s.shape[0]",
            name, name, name, index, grids[ndim][0], name);
    const char *kept = !t->at->name ? ""
                                    : arena_printf(t->in->arena,
                                                   ", and write to an element, out%s = ... (out = ... "
                                                   "writes to none)",
                                                   index);
    return typing_hint(t,
                       "write %s%s in place of %s, with %s: kernels make no arrays, each thread computes an element%s",
                       name, index, name, grids[ndim][0], kept);
}

/* There is no heap in kernels. */
static bool check_heap(Typing *t, const Mapping *m) {
    bool makes = false;
    for (size_t i = 0; i < m->nout; i++) makes = makes || !m->out[i];
    if (!makes || !t->in->device) return true;
    for (size_t i = 0; i < m->nin; i++)
        if (refuse_row(t, i)) return false;
    typing_bad_operands(t);
    return hint_at_elements(t, m);
}

/* Where nobody knows what the function of elements returns, when all else is known, it cannot be compiled: a call of it
 * stands here, so that it is looked at, and says why. */
static bool become_call_of_one(Typing *t, Mapping *m) {
    Value *args[MAX_IN];
    TRY(request_body(t, m));
    if (!t->emit) return typing_result(t, infer_bottom(t->in), NULL);
    for (size_t i = 0; i < m->nin; i++) args[i] = typing_make_op(t, OP_UNDEF, m->elements[i], NULL, 0);
    Value *call = typing_make_op(t, OP_CALL_INST, infer_bottom(t->in), args, m->nin);
    call->imm.inst = m->inst;
    return typing_become(t, call, infer_bottom(t->in));
}

static bool become_map(Typing *t, Mapping *m) {
    Infer *in = t->in;
    if (m->open) return become_call_of_one(t, m);
    TRY(check_heap(t, m));
    for (size_t i = 0; i < m->nin; i++)
        if (m->in[i].type->kind == TY_ARRAY && m->in[i].type->ndim > m->ndim) m->ndim = m->in[i].type->ndim;
    if (m->where && m->where->kind == TY_ARRAY && m->where->ndim > m->ndim) m->ndim = m->where->ndim;
    for (size_t i = 0; i < m->nout; i++) TRY(check_out(t, m, i));
    if (!m->inst) TRY(request_body(t, m));
    const Type *types[MAX_OUT];
    for (size_t i = 0; i < m->nout; i++) types[i] = result_type(t, m, i);
    const Type *result = m->nout == 1 ? types[0] : type_tuple(in->types, types, m->nout);
    return typing_become(t, t->emit ? emit_map(t, m) : NULL, result);
}

/* ---- arrays without axes ---- */

static bool has_no_axes(const Mapping *m) {
    if (m->out[0] || m->out[1] || m->where) return false;
    for (size_t i = 0; i < m->nin; i++)
        if (m->in[i].type->kind == TY_ARRAY && m->in[i].type->ndim > 0) return false;
    return true;
}

/* dtype=, where there are no axes: the operand as a number of that type. */
static bool convert_input(Typing *t, const Mapping *m, size_t i) {
    const Type *type = infer_content(t->args[i].type);
    if (!type_is_scalar(type)) return typing_bad_operands(t);
    TRY(check_input(t, m, i, type));
    if (t->emit) t->values[i] = typing_make_cast(t, typing_make_cast(t, t->values[i], type), m->dtype);
    t->args[i] = (Fact){m->dtype, NULL};
    return true;
}

/* Each array is its element; the ufunc is asked again.  A record is none of numbers. */
static bool become_scalars(Typing *t, Mapping *m) {
    Infer *in = t->in;
    for (size_t i = 0; i < m->nin; i++) {
        if (m->in[i].type->kind != TY_ARRAY) continue;
        Fact facts[2] = {m->in[i], {type_tuple(in->types, NULL, 0), NULL}};
        Value *values[2] = {m->values[i], NULL};
        if (t->emit) values[1] = typing_make_op(t, OP_TUPLE, facts[1].type, NULL, 0);
        TRY(typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, &t->args[i],
                       &t->values[i]));
        if (t->args[i].type->kind == TY_ARRAY) return typing_bad_operands(t);
    }
    for (size_t i = 0; i < m->nin && m->dtype; i++) TRY(convert_input(t, m, i));
    t->nargs = m->nin;
    t->nnames = 0;
    return true;
}

static const Type *callee_of(const Typing *t) { return type_func(t->in->types, &func_info[t->func].head); }

static bool read_library_call(Typing *t, Mapping *m) {
    const FuncInfo *row = &func_info[t->func];
    open_mapping(t, m, callee_of(t), row->head.least, results_of(row));
    return read_arguments(t, m);
}

bool typing_map(Typing *t) {
    Mapping m;
    TRY(read_library_call(t, &m));
    if (has_no_axes(&m)) return become_scalars(t, &m) && typing_become_func(t, t->func);
    return type_elements(t, &m) && become_map(t, &m);
}

bool typing_map_operator(Typing *t, FuncId func) {
    Mapping m;
    bool in_place = (t->flags & VF_INPLACE) && is_array(t->args[0].type);
    t->func = func;
    TRY(read_library_call(t, &m));
    if (in_place) {
        if (m.in[0].type->readonly)
            return typing_fail(t, DIAG_READONLY, "the array %s is read-only", typing_arg_text(t, 0));
        m.out[0] = m.in[0].type;
        m.out_values[0] = m.values[0];
    }
    if (has_no_axes(&m)) return become_scalars(t, &m) && typing_become_func(t, t->func);
    t->flags &= ~(uint32_t)VF_INPLACE;
    return type_elements(t, &m) && become_map(t, &m);
}

/* ---- ufuncs that @vectorize made ---- */

/* The types of its loop, and what that gives; it is asked as a call with the elements asks. */
static bool type_vectorized(Typing *t, Mapping *m) {
    Typing part = {.in = t->in, .at = t->at, .op = OP_CALL, .called = t->called, .is_call = true, .nargs = m->nin};
    part.args = ARENA_ARRAY(t->in->arena, Fact, m->nin);
    part.values = t->values;
    for (size_t i = 0; i < m->nin; i++) {
        const Type *type = m->in[i].type, *element = type->kind == TY_ARRAY ? type->items[0] : type;
        if (!type_is_scalar(element)) return typing_bad_operands(t);
        part.args[i] = (Fact){element, is_weak_int(m->in[i]) ? m->in[i].konst : NULL};
    }
    if (!typing_vectorized_loop(&part, m->callee, m->elements, NULL)) return t->failed = true, false;
    TRY(request_body(t, m));
    const Type *result = m->inst->result;
    m->open = result->kind == TY_BOTTOM;
    m->nout = result->kind == TY_TUPLE ? result->count : 1;
    for (size_t i = 0; i < m->nout && !m->open; i++)
        m->results[i] = result->kind == TY_TUPLE ? result->items[i] : result;
    return true;
}

bool typing_map_vectorized(Typing *t, const Type *callee, size_t nin) {
    Mapping m;
    open_mapping(t, &m, callee, nin, MAX_OUT);
    TRY(type_vectorized(t, &m));
    if (m.open && t->emit) return typing_fail(t, DIAG_UNSUPPORTED, "`%s` never returns", typing_func_name(t));
    if (m.open) return typing_result(t, infer_bottom(t->in), NULL);
    TRY(read_arguments(t, &m));
    if (!has_no_axes(&m)) return become_map(t, &m);
    return become_scalars(t, &m) && typing_call_vectorized(t, callee);
}
