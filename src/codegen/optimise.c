/* optimise.c: LLVM's passes over a linked module, and the hints that the passes need.
 *
 * The target machine goes with every run: without it the passes know no costs.  Under bounds checks that raise, loops
 * are first brought into the form that inductive range check elimination wants, and that pass splits each into a part
 * without checks, which the vectoriser then takes; it is not part of LLVM's own pipeline.
 *
 * Loops whose loads dominate (a sum over global memory) are marked for unrolling on targets that hide latency by loads
 * in flight: LLVM's pipeline does not unroll them for NVPTX, and a block sum then reaches 2440 GB/s instead of 4266 on
 * an H200. */
#include <stdlib.h> /* qsort, bsearch */
#include <string.h> /* strncpy */

#include "codegen/lower.h"

/* ---- loops whose loads dominate ---- */

enum { MAX_UNROLL_BODY = 96, MAX_UNROLL_LOADS = 8, FLOPS_PER_LOAD = 3 };

typedef struct Node {
    LLVMBasicBlockRef block;
    bool visited, active, in_loop;
} Node;

typedef struct Graph {
    Arena *arena;
    Node *nodes;
    size_t count;
} Graph;

static int by_address(const void *a, const void *b) {
    const Node *x = a, *y = b;
    return x->block < y->block ? -1 : x->block > y->block;
}

static Node *node_of(const Graph *graph, LLVMBasicBlockRef block) {
    Node key = {.block = block};
    return bsearch(&key, graph->nodes, graph->count, sizeof key, by_address);
}

static unsigned successors(LLVMBasicBlockRef block) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    return end ? LLVMGetNumSuccessors(end) : 0;
}

static LLVMBasicBlockRef successor(LLVMBasicBlockRef block, unsigned i) {
    return LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), i);
}

typedef struct BackEdge {
    Node *latch, *header;
} BackEdge;

typedef VEC(BackEdge) BackEdges;

typedef struct Frame {
    Node *node;
    unsigned next;
} Frame;

/* Edges to a block on the path of a depth-first walk.  An explicit stack: generated functions can be long. */
static void find_back_edges(Graph *graph, LLVMBasicBlockRef entry, BackEdges *edges) {
    VEC(Frame) stack = {0};
    Node *first = node_of(graph, entry);
    first->visited = first->active = true;
    vec_push(graph->arena, &stack, (Frame){first, 0});
    while (stack.len) {
        Frame *top = &vec_last(&stack);
        if (top->next == successors(top->node->block)) {
            top->node->active = false;
            stack.len--;
            continue;
        }
        Node *from = top->node, *to = node_of(graph, successor(from->block, top->next++));
        if (to->active) vec_push(graph->arena, edges, (BackEdge){from, to});
        if (to->visited) continue;
        to->visited = to->active = true;
        vec_push(graph->arena, &stack, (Frame){to, 0});
    }
}

/* Marks the blocks of the natural loop of an edge: what reaches the latch without passing the header. */
static void mark_loop(Graph *graph, BackEdge edge) {
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i].in_loop = false;
    edge.header->in_loop = edge.latch->in_loop = true;
    for (bool grown = edge.latch != edge.header; grown;) {
        grown = false;
        for (size_t i = 0; i < graph->count; i++) {
            Node *node = &graph->nodes[i];
            for (unsigned s = 0; !node->in_loop && node->visited && s < successors(node->block); s++) {
                Node *to = node_of(graph, successor(node->block, s));
                if (to->in_loop && to != edge.header) node->in_loop = grown = true;
            }
        }
    }
}

/* Local variables still stand in memory when this looks: their loads do not count. */
static bool from_memory(LLVMValueRef pointer) {
    while (LLVMIsAGetElementPtrInst(pointer)) pointer = LLVMGetOperand(pointer, 0);
    return !LLVMIsAAllocaInst(pointer);
}

typedef struct Body {
    unsigned instructions, loads, flops;
    bool other; /* calls, stores to memory: not the loop this is about */
} Body;

static void weigh(LLVMBasicBlockRef block, Body *body) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        body->instructions++;
        switch (LLVMGetInstructionOpcode(i)) {
        case LLVMLoad: body->loads += from_memory(LLVMGetOperand(i, 0)); break;
        case LLVMStore: body->other |= from_memory(LLVMGetOperand(i, 1)); break;
        case LLVMFAdd:
        case LLVMFSub:
        case LLVMFMul: body->flops++; break;
        case LLVMFDiv:
        case LLVMFRem: body->other = true; break;
        case LLVMCall: {
            LLVMValueRef callee = LLVMGetCalledValue(i);
            body->other |= !LLVMIsAFunction(callee) || LLVMGetIntrinsicID(callee) == 0;
            break;
        }
        default: break;
        }
    }
}

/* A count, not a mere wish: only then does the pass accept a trip count that needs a division. */
static void ask_for_unrolling(Module *module, LLVMBasicBlockRef latch, unsigned count) {
    static const char name[] = "llvm.loop.unroll.count", kind[] = "llvm.loop";
    LLVMContextRef context = module->context;
    LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(context), count, false);
    LLVMMetadataRef pair[] = {LLVMMDStringInContext2(context, name, sizeof name - 1), LLVMValueAsMetadata(number)};
    LLVMMetadataRef property = LLVMMDNodeInContext2(context, pair, 2);
    /* a loop's node is distinct by naming itself first: made with a stand-in that is then replaced */
    LLVMMetadataRef stand_in = LLVMTemporaryMDNode(context, NULL, 0), items[] = {stand_in, property};
    LLVMMetadataRef loop = LLVMMDNodeInContext2(context, items, 2);
    LLVMMetadataReplaceAllUsesWith(stand_in, loop);
    LLVMSetMetadata(LLVMGetBasicBlockTerminator(latch), LLVMGetMDKindIDInContext(context, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(context, loop));
}

/* A loop over a range of constants: LLVM knows its count, and unrolls all of it where that pays. */
static bool counted(Module *module, LLVMBasicBlockRef header) {
    unsigned kind = LLVMGetMDKindIDInContext(module->context, COUNTED_LOOP, sizeof COUNTED_LOOP - 1);
    return LLVMGetMetadata(LLVMGetBasicBlockTerminator(header), kind) != NULL;
}

static void unroll_function(Module *module, LLVMValueRef function) {
    Graph graph = {.arena = module->arena, .count = LLVMCountBasicBlocks(function)};
    BackEdges edges = {0};
    graph.nodes = ARENA_ARRAY(module->arena, Node, graph.count);
    size_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        graph.nodes[n++].block = b;
    qsort(graph.nodes, n, sizeof *graph.nodes, by_address);
    find_back_edges(&graph, LLVMGetEntryBasicBlock(function), &edges);
    for (size_t e = 0; e < edges.len; e++) {
        Body body = {0};
        bool innermost = !counted(module, edges.data[e].header->block);
        mark_loop(&graph, edges.data[e]);
        for (size_t k = 0; k < edges.len; k++) innermost &= k == e || !edges.data[k].latch->in_loop;
        for (size_t i = 0; i < graph.count; i++)
            if (graph.nodes[i].in_loop) weigh(graph.nodes[i].block, &body);
        if (innermost && !body.other && body.loads >= 1 && body.loads <= MAX_UNROLL_LOADS &&
            body.instructions <= MAX_UNROLL_BODY && body.flops <= FLOPS_PER_LOAD * body.loads)
            ask_for_unrolling(module, edges.data[e].latch->block, body.loads == 1 ? 8 : 4);
    }
}

void optimise_loops(Module *module) {
    if (!module->target->unroll_loads || module->options.opt_level == 0) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) unroll_function(module, f);
}

/* ---- the passes ---- */

static const char split_checked_loops[] =
    "always-inline,cgscc(inline),function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate,licm),loop(indvars),instcombine<no-verify-fixpoint>,irce)";

bool optimise_run(Module *module, Diag *diag) {
    const CodegenOptions *options = &module->options;
    const char *passes = module->target->passes(options);
    if (options->opt_level >= 2 && module->target->access(options) == ACCESS_RAISE)
        passes = arena_printf(module->arena, "%s,%s", split_checked_loops, passes);
    LLVMPassBuilderOptionsRef settings = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopInterleaving(settings, true);
    LLVMPassBuilderOptionsSetLoopVectorization(settings, true);
    LLVMPassBuilderOptionsSetSLPVectorization(settings, true);
    LLVMPassBuilderOptionsSetLoopUnrolling(settings, true);
    LLVMErrorRef error = LLVMRunPasses(module->module, passes, module->machine, settings);
    LLVMDisposePassBuilderOptions(settings);
    if (!error) return true;
    char *text = LLVMGetErrorMessage(error);
    strncpy(module->message, text, sizeof module->message - 1);
    LLVMDisposeErrorMessage(text);
    return diag_fail(diag, DIAG_LLVM, NULL, (Span){0}, "%s", module->message);
}
