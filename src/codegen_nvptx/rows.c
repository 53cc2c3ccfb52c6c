/* rows.c: neighbours in a row that one access of 128 bits takes, or of 64, 32 or 16 (Target.before_last).
 *
 * In: an optimised kernel.  Out: the same; and Module.rows, which says of each of its arrays of what it has to begin at
 * a multiple, and its rows to have a multiple, for a block's accesses of neighbours, x[i, 0] ... x[i, 3], to be one.
 * Nothing is asked for what is no use.  Where the kernel takes FACT_ROWS for granted, the accesses say that they are
 * aligned so, and LLVM makes one of them; another variant only says what would be asked, so that a launch knows which
 * of the two it needs.
 *
 * Where an address lies is a question of its remainder by 16 alone, which wrapping in 32 bits does not change: a
 * multiple of the last extent moves by whole rows, whatever else is in the product. */
#include <stdlib.h> /* strtoul */
#include <string.h> /* strstr */

#include "codegen_nvptx/nvptx.h"

enum { WIDEST = ROWS_WIDEST, NARROWEST = 2, MOST_SPOTS = 256, DEPTH = 8 };

/* A number that is `rest` modulo `by`, a power of two. */
typedef struct Remainder {
    unsigned by, rest;
} Remainder;

typedef struct Spot {
    LLVMValueRef inst;
    RowsArray *array;
    LLVMValueRef index; /* what goes through the array; a constant distance from there is left out */
    uint64_t scale;
    int64_t distance;     /* bytes */
    unsigned bytes, item; /* of the access; of an element of it: some have become vectors */
    Remainder at;
    bool stores, done;
} Spot;

/* ---- remainders ---- */

static const Remainder unknown = {1, 0};

static Remainder reduce(Remainder number, unsigned by) {
    return number.by <= by ? number : (Remainder){by, number.rest % by};
}

static Remainder sum(Remainder a, Remainder b) {
    unsigned by = a.by < b.by ? a.by : b.by;
    return (Remainder){by, (a.rest + b.rest) % by};
}

static Remainder product(Remainder a, Remainder b) {
    unsigned moves = a.rest * b.by | b.rest * a.by | a.by * b.by, by = moves & -moves;
    if (by > WIDEST) by = WIDEST;
    return (Remainder){by, a.rest * b.rest % by};
}

static Remainder constant(LLVMValueRef value) {
    return (Remainder){WIDEST, (unsigned)(LLVMConstIntGetZExtValue(value) % WIDEST)};
}

static Remainder opposite(Remainder number) { return (Remainder){number.by, (number.by - number.rest) % number.by}; }

static Remainder remainder_of(const RowsArray *array, LLVMValueRef value, unsigned depth);

/* A counter that moves by steps of a constant. */
static Remainder of_phi(const RowsArray *array, LLVMValueRef phi, unsigned depth) {
    if (LLVMCountIncoming(phi) != 2) return unknown;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef next = LLVMGetIncomingValue(phi, i);
        bool steps = LLVMIsAInstruction(next) && LLVMGetInstructionOpcode(next) == LLVMAdd &&
                     LLVMGetOperand(next, 0) == phi && LLVMIsAConstantInt(LLVMGetOperand(next, 1));
        if (!steps) continue;
        unsigned step = constant(LLVMGetOperand(next, 1)).rest;
        unsigned by = step ? step & -step : WIDEST;
        return reduce(remainder_of(array, LLVMGetIncomingValue(phi, 1 - i), depth), by);
    }
    return unknown;
}

static Remainder of_instruction(const RowsArray *array, LLVMValueRef value, unsigned depth) {
    LLVMValueRef left = LLVMGetOperand(value, 0);
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze: return remainder_of(array, left, depth);
    case LLVMPHI: return of_phi(array, value, depth);
    case LLVMOr:
        if (!LLVMGetIsDisjoint(value)) return unknown;
        __attribute__((fallthrough));
    case LLVMAdd: return sum(remainder_of(array, left, depth), remainder_of(array, LLVMGetOperand(value, 1), depth));
    case LLVMSub:
        return sum(remainder_of(array, left, depth), opposite(remainder_of(array, LLVMGetOperand(value, 1), depth)));
    case LLVMMul:
        return product(remainder_of(array, left, depth), remainder_of(array, LLVMGetOperand(value, 1), depth));
    case LLVMShl: {
        LLVMValueRef by = LLVMGetOperand(value, 1);
        if (!LLVMIsAConstantInt(by)) return unknown;
        uint64_t bits = LLVMConstIntGetZExtValue(by);
        return product(remainder_of(array, left, depth), (Remainder){WIDEST, bits < 4 ? 1u << bits : 0});
    }
    default: return unknown;
    }
}

/* A length is the lower half of its parameter (entry.c), of which the upper one says nothing. */
static bool is_length(const RowsArray *array, LLVMValueRef value) {
    return array->length && LLVMIsAExtractElementInst(value) && LLVMGetOperand(value, 0) == array->length &&
           LLVMIsNull(LLVMGetOperand(value, 1));
}

/* Of a number that an element's place is computed from. */
static Remainder remainder_of(const RowsArray *array, LLVMValueRef value, unsigned depth) {
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
    if (bits < 8 || bits > 64) return unknown; /* wraps within a row, or is no number of C */
    if (LLVMIsAConstantInt(value)) return constant(value);
    if (is_length(array, value)) return (Remainder){WIDEST / array->item, 0};
    return depth && LLVMIsAInstruction(value) ? of_instruction(array, value, depth - 1) : unknown;
}

/* ---- accesses ---- */

static LLVMValueRef without_extension(LLVMValueRef value) {
    bool extends = LLVMIsAZExtInst(value) || LLVMIsASExtInst(value);
    return extends ? LLVMGetOperand(value, 0) : value;
}

/* n + 3, in the index of a[n + 3]: what does not wrap is a distance. */
static LLVMValueRef without_constant(LLVMValueRef value, uint64_t scale, int64_t *distance) {
    LLVMValueRef inner = without_extension(value);
    if (!LLVMIsAInstruction(inner)) return inner;
    LLVMOpcode op = LLVMGetInstructionOpcode(inner);
    bool adds = op == LLVMAdd && (LLVMIsAZExtInst(value) ? LLVMGetNUW(inner) : LLVMGetNSW(inner));
    bool joins = op == LLVMOr && LLVMGetIsDisjoint(inner);
    if ((!adds && !joins) || !LLVMIsAConstantInt(LLVMGetOperand(inner, 1))) return inner;
    *distance += LLVMConstIntGetSExtValue(LLVMGetOperand(inner, 1)) * (int64_t)scale;
    return LLVMGetOperand(inner, 0);
}

/* false: it is no access of an array among the arguments. */
static bool find_place(const Module *module, LLVMValueRef pointer, Spot *spot) {
    Remainder index = {WIDEST, 0};
    LLVMValueRef places = NULL;
    for (; LLVMIsAGetElementPtrInst(pointer); pointer = LLVMGetOperand(pointer, 0)) {
        if (LLVMGetNumIndices(pointer) != 1) return false;
        LLVMValueRef by = LLVMGetOperand(pointer, 1);
        uint64_t scale = LLVMABISizeOfType(module->layout, LLVMGetGEPSourceElementType(pointer));
        if (LLVMIsAConstantInt(by)) {
            spot->distance += LLVMConstIntGetSExtValue(by) * (int64_t)scale;
        } else if (places) {
            return false;
        } else {
            places = by;
            spot->scale = scale;
        }
    }
    for (unsigned i = 0; i < module->rows.len && !spot->array; i++)
        if (module->rows.data[i].data == pointer) spot->array = &module->rows.data[i];
    if (!spot->array) return false;
    int64_t before = spot->distance;
    if (places) {
        spot->index = without_constant(places, spot->scale, &spot->distance);
        index = product(remainder_of(spot->array, places, DEPTH),
                        (Remainder){WIDEST, (unsigned)(spot->scale % WIDEST)});
    }
    spot->at = sum(index, (Remainder){WIDEST, (unsigned)(before & (WIDEST - 1))});
    return true;
}

static bool read_access(const Module *module, LLVMValueRef inst, Spot *spot) {
    bool loads = LLVMIsALoadInst(inst) != NULL, stores = LLVMIsAStoreInst(inst) != NULL;
    if ((!loads && !stores) || LLVMGetVolatile(inst) || LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic)
        return false;
    LLVMTypeRef type = LLVMTypeOf(stores ? LLVMGetOperand(inst, 0) : inst);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeRef element = vector ? LLVMGetElementType(type) : type;
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    if (kind != LLVMHalfTypeKind && kind != LLVMBFloatTypeKind && kind != LLVMFloatTypeKind &&
        kind != LLVMDoubleTypeKind && kind != LLVMIntegerTypeKind)
        return false;
    unsigned item = (unsigned)LLVMABISizeOfType(module->layout, element);
    unsigned bytes = (unsigned)LLVMStoreSizeOfType(module->layout, type);
    *spot = (Spot){.inst = inst, .stores = stores, .bytes = bytes, .item = item};
    return item <= WIDEST / 2 && !(item & (item - 1)) && bytes <= WIDEST &&
           bytes == item * (vector ? LLVMGetVectorSize(type) : 1) &&
           find_place(module, LLVMGetOperand(inst, stores), spot);
}

/* ---- neighbours ---- */

static bool goes_with(const Spot *a, const Spot *b) {
    return a->array == b->array && a->index == b->index && a->scale == b->scale && a->stores == b->stores &&
           a->item == b->item;
}

/* Whether all that the block takes of a row could be accesses of so many bytes: of three neighbours two are no pair,
 * for rows of three are none. */
static bool spans(const Spot *spots, unsigned count, const Spot *of, unsigned width) {
    int64_t low = of->distance, high = low;
    for (unsigned i = 0; i < count; i++) {
        if (!goes_with(of, &spots[i])) continue;
        if (spots[i].distance < low) low = spots[i].distance;
        if (spots[i].distance + spots[i].bytes > high) high = spots[i].distance + spots[i].bytes;
    }
    return (high - low) % width == 0 && (of->distance - low) % width == 0;
}

/* Whether a spot is a part of such an access that begins with `first`. */
static bool is_part(const Spot *first, const Spot *spot, unsigned width) {
    int64_t behind = spot->distance - first->distance;
    return goes_with(first, spot) && !spot->done && behind >= 0 && behind + spot->bytes <= width &&
           behind % first->item == 0;
}

/* What begins where an access of so many bytes can, with all its neighbours. */
static void widen(Spot *spots, unsigned count, Spot *first, unsigned width, bool claims) {
    unsigned found = 0;
    if (first->done || first->at.by < width || first->at.rest % width || width <= first->item) return;
    for (unsigned i = 0; i < count; i++) {
        unsigned items = spots[i].bytes / first->item;
        if (is_part(first, &spots[i], width))
            found |= ((1u << items) - 1) << (spots[i].distance - first->distance) / first->item;
    }
    if (found != (1u << width / first->item) - 1 || !spans(spots, count, first, width)) return;
    for (unsigned i = 0; i < count; i++) {
        int64_t behind = spots[i].distance - first->distance;
        if (&spots[i] == first || !is_part(first, &spots[i], width)) continue;
        spots[i].done = true;
        if (claims) LLVMSetAlignment(spots[i].inst, behind ? (unsigned)(behind & -behind) : width);
    }
    first->done = true;
    if (claims) LLVMSetAlignment(first->inst, width);
    if (first->array->asks < width) first->array->asks = width;
}

void nvptx_align_rows(Module *module) {
    Spot spots[MOST_SPOTS];
    bool claims = module->options.facts & FACT_ROWS;
    if (!module->rows.len) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            unsigned count = 0;
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
                if (count < MOST_SPOTS && read_access(module, inst, &spots[count])) count++;
            for (unsigned width = WIDEST; width >= NARROWEST; width /= 2)
                for (unsigned i = 0; i < count; i++) widen(spots, count, &spots[i], width, claims);
        }
}

/* ---- what is asked ---- */

static const char heading[] = "// aligned rows:";

/* A comment at the end of the text, so that it stays with the text wherever that is kept; a text that is put in may
 * have one of its own before it, which says nothing of this kernel: then there is one whatever is asked. */
char *nvptx_note_rows(const Module *module, Arena *arena, char *text) {
    Buf out;
    bool asks = false;
    for (unsigned i = 0; i < module->rows.len; i++) asks |= module->rows.data[i].asks != 0;
    if (!asks && !strstr(text, heading)) return text;
    buf_init(&out, arena);
    buf_printf(&out, "%s%s", text, heading);
    for (unsigned i = 0; i < module->rows.len; i++) buf_printf(&out, " %u", module->rows.data[i].asks);
    buf_puts(&out, "\n");
    return out.text;
}

unsigned codegen_nvptx_rows(const char *text, unsigned array) {
    const char *at = NULL;
    for (const char *next = text; (next = strstr(next, heading)) != NULL;) at = next += strlen(heading);
    for (unsigned i = 0; at && *at == ' '; i++) {
        char *end;
        unsigned asks = (unsigned)strtoul(at, &end, 10);
        if (i == array) return asks;
        at = end;
    }
    return 0;
}
