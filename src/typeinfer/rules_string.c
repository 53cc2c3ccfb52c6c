/* rules_string.c: typing rules of strings, of texts made of values, and of print.
 *
 * A text of the program is a constant, TY_STR; what an f-string makes is a TY_TEXT, a template and values, until it is
 * used; anything else is a TY_STRING, an object at run time, which both become where they meet one or are put
 * somewhere.
 * What is done with strings is Python of the prelude over their code points, or a call of the interpreter, whose rows
 * say by letters what it takes and gives: s string, i int, b bool, y bytes, L list of strings, Y list of bytes, T three
 * strings, * anything; behind [ they may be left out, or None. */
#include <string.h> /* strchr, strrchr */

#include "typeinfer/rules_library.h" /* lib_* */

static const Type *string_type(Infer *in) { return type_simple(in->types, TY_STRING); }

static bool is_text(const Type *type) {
    return type->kind == TY_STR || type->kind == TY_STRING || type->kind == TY_TEXT;
}

bool typing_is_text(const Type *type) { return is_text(type); }

static bool on_host(Typing *t) {
    if (!t->in->device) return true;
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "kernels have no strings but constants");
    return typing_hint(t, "print(f\"{x[0]:.2f}\") prints numbers as text in a kernel; any other text is made outside, "
                          "after the launch");
}

const Type *typeinfer_general(Infer *in, const Type *type) {
    const Type *items[64];
    bool changed = false;
    if (type->kind == TY_STR || type->kind == TY_TEXT) return string_type(in);
    if (type->kind == TY_OPTIONAL) return type_optional(in->types, typeinfer_general(in, type->items[0]));
    if (type->kind != TY_TUPLE || type->count > COUNT_OF(items)) return type;
    for (uint32_t i = 0; i < type->count; i++) {
        items[i] = typeinfer_general(in, type->items[i]);
        changed |= items[i] != type->items[i];
    }
    return changed ? type_tuple_like(in->types, type, items) : type;
}

bool typing_as(Typing *t, size_t arg, const Type *type) {
    if (t->emit)
        t->values[arg] = typing_make_cast(t, t->values[arg], type);
    else
        typeinfer_fill(t->in, t->values[arg], t->args[arg].type, type);
    if (t->args[arg].type != type) t->args[arg] = (Fact){type, NULL};
    return true;
}

/* ---- calls of the interpreter ---- */

/* The call of what `what` says on the arguments. */
bool typing_call_interpreter(Typing *t, const char *what, const Type *result) {
    Infer *in = t->in;
    TRY(on_host(t));
    if (!t->emit) return typing_become(t, NULL, result);
    Value **args = ARENA_ARRAY(in->arena, Value *, t->nargs + 1);
    args[0] = typing_make_const(t, const_str(in->arena, in->types, what));
    for (size_t i = 0; i < t->nargs; i++) args[1 + i] = t->values[i];
    return typing_become(t, typing_make_func(t, FUNC_CALL_PYTHON, result, args, t->nargs + 1), result);
}

static bool become(Typing *t, const char *name) {
    t->op = OP_CALL;
    return typing_become_prelude(t, name);
}

/* python_order(keys, reverse) */
bool rule_func_python_order(Typing *t) {
    const Type *integer = infer_int(t->in);
    typing_as(t, 1, type_scalar(t->in->types, SCALAR_BOOL, true));
    return typing_call_interpreter(t, "#", type_with_items(t->in->types, TY_LIST, 0, &integer, 1));
}

/* With the names of keywords behind it. */
static const char *with_names(Typing *t, const char *what) {
    Buf buf;
    buf_init(&buf, t->in->arena);
    buf_puts(&buf, what);
    for (size_t i = 0; i < t->nnames; i++) buf_printf(&buf, " %s", t->names[i]);
    return buf.text;
}

/* The arguments from number `first` on become what the interpreter can be given. */
static bool take_values(Typing *t, size_t first) {
    for (size_t i = first; i < t->nargs; i++) {
        const Type *type = typeinfer_general(t->in, t->args[i].type);
        if (!type_can_leave(type)) {
            typing_fail_arg(t, i, DIAG_TYPING, "%s cannot be made a text", typing_arg_text(t, i));
            return typing_hint(t, "numbers, strings, arrays, and tuples, lists, dicts and sets of them can");
        }
        typing_as(t, i, type);
    }
    return true;
}

static const Type *list_of(Infer *in, TypeKind kind) {
    const Type *item = type_simple(in->types, kind);
    return type_with_items(in->types, TY_LIST, 0, &item, 1);
}

static const Type *type_of_letter(Infer *in, char letter) {
    switch (letter) {
    case 's': return string_type(in);
    case 'i': return infer_int(in);
    case 'f': return infer_float(in);
    case 'b': return infer_bool(in);
    case 'y': return type_simple(in->types, TY_BYTES);
    case 'Y': return list_of(in, TY_BYTES);
    case 'L': return list_of(in, TY_STRING);
    case 'P': return lib_uniform_tuple(in, type_simple(in->types, TY_BYTES), 3);
    default: return lib_uniform_tuple(in, string_type(in), 3);
    }
}

/* What the method takes in the place of that argument. */
static bool refuse_letter(Typing *t, size_t arg, char letter) {
    typing_bad_operands(t);
    const Type *type = infer_content(t->args[arg].type);
    const char *is = typing_text(t, type);
    if (t->func == FUNC_STR_FORMAT)
        return typing_hint(t, "each name in braces needs a keyword argument of that name, and each {} an argument");
    if (letter == 's' && type->kind != TY_NONE)
        return typing_hint(t, "argument %zu is a text here, not %s: %s", arg, is,
                           type->kind == TY_SCALAR ? "str(...) makes one of a number" : "take one of its items");
    if (letter == 'i' && type_scalar_kind(type) == 'f')
        return typing_hint(t, "argument %zu is a whole number here: int(...) makes one", arg);
    if (letter == 'i' && is_text(type))
        return typing_hint(t, "argument %zu is an int here, not a text: int(...) reads one", arg);
    return letter == 'L' && type->kind == TY_SCALAR &&
           typing_hint(
               t, "it takes several texts: a list of them, [str(a), str(b)], or a text, whose characters they are");
}

/* An argument for a letter.  What may be None stays so: the interpreter has its words for it. */
static bool take_letter(Typing *t, size_t arg, char letter, bool optional) {
    const Type *type = t->args[arg].type, *content = infer_content(type), *to;
    if (letter == 'z') letter = lib_kinds(t, arg, 1, "biu") ? 'i' : 'y'; /* a part of a bytes, or one of its numbers */
    to = type_of_letter(t->in, letter);
    if (optional && type->kind == TY_NONE) return true;
    bool fits = letter == 's'           ? is_text(content)
                : letter == 'f'         ? lib_kinds(t, arg, 1, "f")
                : strchr("LyY", letter) ? content == to
                                        : lib_kinds(t, arg, 1, "biu");
    if ((letter == 'L' || letter == 'Y') && content->kind == TY_LIST && content->items[0]->kind == TY_BOTTOM)
        return true;
    return fits ? typing_as(t, arg, type == content ? to : type_optional(t->in->types, to))
                : refuse_letter(t, arg, letter);
}

/* Any iterable of strings, or of bytes: the list of them. */
static bool as_list(Typing *t, size_t arg, char letter) {
    const Type *type = infer_content(t->args[arg].type), *wanted = type_of_letter(t->in, letter);
    if (type->kind == TY_LIST) return true;
    const Fact given = t->args[arg];
    Fact facts[2] = {{type_func(t->in->types, &func_info[FUNC_LIST].head), NULL}, given};
    Value *values[2] = {NULL, t->values[arg]};
    facts[0].konst = const_of(t->in->arena, facts[0].type);
    if (t->emit) values[0] = typing_make_const(t, facts[0].konst);
    TRY(typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2}, &t->args[arg],
                   &t->values[arg]));
    if (t->args[arg].type == wanted) return true;
    t->args[arg] = given;
    return refuse_letter(t, arg, letter);
}

/* numpy.float64 is a float of Python's, the other floats of NumPy are not. */
static bool has_methods_of_float(Typing *t, const char *name) {
    const Type *type = infer_content(t->args[0].type);
    if (type_scalar_kind(type) != 'f' || type->scalar == SCALAR_FLOAT64) return true;
    typing_fail_arg(t, 0, DIAG_NO_ATTRIBUTE, "%s has no attribute `%s`", typing_arg_text(t, 0), name);
    return typing_hint(t, "float(x).%s() is that of the float", name);
}

bool rule_func_python_method(Typing *t) {
    const FuncInfo *row = &func_info[t->func];
    const char *letters = row->signature, *name = strrchr(row->head.names, '.');
    bool optional = false, made;
    TRY(typing_kernel_text(t, &made));
    if (made) return true;
    if (*letters == 'f' && t->nargs) TRY(has_methods_of_float(t, name + 1));
    for (size_t i = 0; i < t->nargs && *letters != '*'; i++) {
        if (i >= t->nargs - t->nnames) { /* by name: the interpreter knows which */
            const Type *type = infer_content(t->args[i].type);
            if (type->kind != TY_NONE) TRY(take_letter(t, i, is_text(type) ? 's' : 'i', true));
            continue;
        }
        while (*letters == '[') letters++, optional = true;
        if (*letters == '*') break;
        if (*letters == 'L' || *letters == 'Y') TRY(as_list(t, i, *letters));
        TRY(take_letter(t, i, *letters, optional));
        letters += letters[1] != '>';
    }
    TRY(take_values(t, 0));
    return typing_call_interpreter(t, with_names(t, name), type_of_letter(t->in, strchr(row->signature, '>')[1]));
}

/* str(x), repr(x), hex(n), ...: the built-in function of that name. */
bool rule_func_text_of(Typing *t) {
    if (t->nnames) return typing_bad_operands(t);
    if (!t->nargs) return typing_become_const(t, const_str(t->in->arena, t->in->types, ""));
    const Type *type = t->args[0].type;
    TRY(typing_refuse_mixed(t, 0));
    bool itself = t->func == FUNC_STR && is_text(type);
    bool number = type->kind == TY_SCALAR && type->scalar == SCALAR_INT64 && type->weak && !type->object;
    if (number && !t->in->device && (t->func == FUNC_STR || t->func == FUNC_REPR))
        return typing_become_prelude(t, "strings:of_int");
    if (itself) return typing_become_arg(t, 0);
    bool made;
    TRY(typing_kernel_text(t, &made));
    if (made) return true;
    TRY(on_host(t) && take_values(t, 0));
    return typing_call_interpreter(t, strrchr(func_info[t->func].head.names, '.') + 1, string_type(t->in));
}

bool rule_func_format_value(Typing *t) {
    if (t->nnames) return typing_bad_operands(t);
    bool made;
    TRY(typing_kernel_text(t, &made));
    if (made) return true;
    TRY(take_values(t, 0));
    return typing_call_interpreter(t, "format", string_type(t->in));
}

bool rule_func_hash(Typing *t) {
    TRY(take_values(t, 0));
    return typing_call_interpreter(t, "hash", infer_int(t->in));
}

bool rule_func_print(Typing *t) {
    static const char *const known[] = {"sep", "end", "flush"};
    for (size_t i = 0; i < t->nnames; i++) {
        bool found = false;
        for (size_t k = 0; k < COUNT_OF(known); k++) found |= strcmp(t->names[i], known[k]) == 0;
        if (found) continue;
        typing_fail(t, DIAG_BAD_ARGUMENTS,
                    "print() takes sep=, end= and flush= in compiled code, not %s=", t->names[i]);
        if (strcmp(t->names[i], "file") == 0) return typing_hint(t, "print to other files after the call");
        if (typing_hint_near(t, t->names[i], known, COUNT_OF(known))) return false;
        return typing_hint(t, "leave it out");
    }
    if (t->in->device) return typing_kernel_print(t);
    for (size_t i = 0; i < t->nargs; i++) TRY(typing_refuse_mixed(t, i));
    TRY(take_values(t, 0));
    return typing_call_interpreter(t, with_names(t, "print"), infer_none(t->in));
}

/* int("12", 2), float(" 1.5"): what the text says. */
bool typing_number_from_text(Typing *t, const Type *to) {
    char kind = scalar_info[to->scalar].kind;
    const Type *python = kind == 'f' ? infer_float(t->in) : kind == 'c' ? infer_complex(t->in) : infer_int(t->in);
    bool plain = to == infer_int(t->in) && t->nargs == 1 && is_text(t->args[0].type) && !t->in->device;
    if (plain) return typing_as(t, 0, string_type(t->in)) && become(t, "strings:number_of");
    for (size_t i = 0; i < t->nargs; i++) TRY(take_letter(t, i, i ? 'i' : 's', false));
    TRY(typing_call_interpreter(t, kind == 'f' ? "float" : kind == 'c' ? "complex" : "int", python));
    if (t->emit) t->value = typing_make_cast(t, t->value, to);
    t->result = to;
    return true;
}

/* ---- texts of templates ---- */

/* A text, as a string: the interpreter formats it. */
Value *typing_make_text(Typing *t, Value *text) {
    Infer *in = t->in;
    if (!on_host(t)) return typing_make_const(t, const_str(in->arena, in->types, "")); /* it is not compiled */
    Value **args = ARENA_ARRAY(in->arena, Value *, text->nargs + 1);
    args[0] = typing_make_const(t, const_str(in->arena, in->types, ".format"));
    for (uint32_t i = 0; i < text->nargs; i++) {
        Value *arg = value_resolve(text->args[i]);
        args[1 + i] = typing_make_cast(t, arg, typeinfer_general(in, arg->type));
    }
    return typing_make_func(t, FUNC_CALL_PYTHON, string_type(in), args, text->nargs + 1);
}

bool typing_settle_texts(Typing *t) {
    for (size_t i = 0; i < t->nargs; i++)
        if (t->args[i].type && t->args[i].type->kind == TY_TEXT) typing_as(t, i, string_type(t->in));
    return true;
}

/* ---- operators ---- */

static bool both_strings(Typing *t) {
    return typing_as(t, 0, string_type(t->in)) && typing_as(t, 1, string_type(t->in));
}

/* Two strings, or two bytes. */
bool typing_join(Typing *t) {
    t->op = OP_CALL;
    return typing_become_func(t, FUNC_JOINED);
}

bool rule_func_joined(Typing *t) { return typing_result(t, t->args[0].type, NULL); }

bool typing_string_binary(Typing *t) {
    const Type *a = infer_content(t->args[0].type), *b = infer_content(t->args[1].type);
    bool made;
    TRY(typing_kernel_text(t, &made));
    if (made) return true;
    TRY(on_host(t));
    if (t->op == OP_ADD && is_text(a) && is_text(b)) return both_strings(t) && typing_join(t);
    if (t->op == OP_MUL && is_text(a) && lib_kinds(t, 1, 1, "biu"))
        return typing_as(t, 0, string_type(t->in)) && become(t, "strings:repeated");
    if (t->op == OP_MUL && is_text(b) && lib_kinds(t, 0, 1, "biu"))
        return typing_as(t, 1, string_type(t->in)) && become(t, "strings:repeated_so_often");
    if (t->op == OP_MOD && is_text(a)) return take_values(t, 0) && typing_call_interpreter(t, "%", string_type(t->in));
    return typing_bad_operands(t);
}

/* Of strings by their code points, of two bytes by their numbers. */
bool typing_string_compare(Typing *t) {
    static const char *const names[] = {"strings:less",      "strings:less_equal", "strings:equal",
                                        "strings:not_equal", "strings:greater",    "strings:greater_equal"};
    bool bytes = infer_content(t->args[0].type)->kind == TY_BYTES;
    return on_host(t) && (bytes || both_strings(t)) && become(t, names[t->op - OP_LT]);
}

bool typing_string_contains(Typing *t) {
    bool known;
    TRY(typing_known_contains(t, &known));
    if (known) return true;
    if (!is_text(infer_content(t->args[0].type))) return typing_bad_operands(t);
    return on_host(t) && both_strings(t) && become(t, t->op == OP_IN ? "strings:contains" : "strings:contains_not");
}

bool typing_string_getitem(Typing *t) {
    const Type *index = infer_content(t->args[1].type);
    bool slice = index->kind == TY_SLICE;
    if (!slice && !type_is_integer(index)) return typing_refuse_number(t, "a string");
    bool known = false;
    if (!slice) TRY(typing_known_character(t, &known));
    if (known) return true;
    if (t->in->device && !slice) {
        typing_fail(t, DIAG_UNSUPPORTED_TARGET, "in a kernel a string is indexed by what is known when it is compiled");
        return typing_hint(t, "take a bytes, whose items are numbers: b\"ACGT\"[i]");
    }
    return on_host(t) && typing_as(t, 0, string_type(t->in)) &&
           become(t, slice ? "strings:get_slice" : "strings:get_item");
}

bool typing_bytes_getitem(Typing *t) {
    const Type *index = infer_content(t->args[1].type);
    if (type_is_integer(index)) return become(t, "strings:byte_at");
    if (index->kind == TY_SLICE) return become(t, "strings:bytes_slice");
    return typing_refuse_number(t, "a bytes");
}

/* Whether what comes by its place is a text where the row says so; where it may be left out, None is one, too. */
static bool has_texts(Typing *t) {
    const char *letters = func_info[t->func].signature;
    bool optional = false;
    for (size_t i = 0; letters && i < t->nargs - t->nnames; i++, letters++) {
        if (*letters == '[') letters++, optional = true;
        const Type *type = infer_content(t->args[i].type);
        if (*letters == 's' && !is_text(type) && !(optional && type->kind == TY_NONE)) return refuse_letter(t, i, 's');
    }
    return true;
}

/* Methods of the prelude: texts among the arguments are strings. */
bool rule_func_string_method(Typing *t) {
    TRY(on_host(t));
    for (size_t i = 0; i < t->nargs; i++) typing_as(t, i, typeinfer_general(t->in, t->args[i].type));
    if (!is_text(infer_content(t->args[0].type))) return typing_bad_operands(t);
    TRY(has_texts(t));
    return typing_become_prelude(t, func_info[t->func].symbol);
}

/* The code point of the only character of valid UTF-8; -1: there are others, or none. */
static int64_t only_code(const char *text) {
    unsigned char first = (unsigned char)*text;
    int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    int64_t code = more ? first & (0x3F >> more) : first;
    if (!first) return -1;
    for (int i = 1; i <= more; i++) code = code << 6 | (text[i] & 0x3F);
    return text[more + 1] ? -1 : code;
}

/* Of a character that is known, in kernels too, a constant. */
bool rule_func_ord(Typing *t) {
    const Const *text = t->args[0].type->kind == TY_STR ? t->args[0].konst : NULL;
    int64_t code = text ? only_code(text->text) : -1;
    if (code < 0) return rule_func_string_method(t);
    return typing_become_const(t, const_int(t->in->arena, t->in->types, code));
}

/* ---- what the prelude is made of ---- */

static const Type *code_list(Infer *in) {
    const Type *item = infer_scalar(in, SCALAR_UINT32, false);
    return type_with_items(in->types, TY_LIST, 0, &item, 1);
}

static bool dress(Typing *t, const Type *from, const Type *to) {
    if (t->args[0].type != from) return typing_bad_operands(t);
    return typing_become(t, t->emit ? typing_make_op(t, OP_CAST, to, t->values, 1) : NULL, to);
}

/* Of a bytes its numbers. */
bool rule_func_codes(Typing *t) {
    if (t->args[0].type->kind != TY_BYTES) return dress(t, string_type(t->in), code_list(t->in));
    const Type *item = infer_scalar(t->in, SCALAR_UINT8, false);
    return dress(t, t->args[0].type, type_with_items(t->in->types, TY_LIST, 0, &item, 1));
}

bool rule_func_bytes_of(Typing *t) {
    const Type *item = infer_scalar(t->in, SCALAR_UINT8, false);
    return dress(t, type_with_items(t->in->types, TY_LIST, 0, &item, 1), type_simple(t->in->types, TY_BYTES));
}

bool rule_func_string_of(Typing *t) { return dress(t, code_list(t->in), string_type(t->in)); }

bool rule_func_character(Typing *t) {
    typing_cast(t, 0, infer_int(t->in));
    return typing_result(t, string_type(t->in), NULL);
}

bool rule_func_character_traits(Typing *t) {
    for (uint32_t i = 0; i < 2; i++) typing_cast(t, i, infer_int(t->in));
    return typing_result(t, infer_int(t->in), NULL);
}

const Type *typing_characters_type(Infer *in) { return list_of(in, TY_STRING); }
