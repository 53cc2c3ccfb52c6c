/* inline_calls.c: calls that are to become a copy of their callee's body, where its decorator says so.
 *
 * In: the typed functions of a job.  Out: VF_INLINE on the calls about which a function of the user's (the option
 * inline) says yes; it is asked once about each.  What always is to be inlined has OPT_INLINE since its specialisation
 * was made.  Recursive functions are called whatever was asked: a body has no end of copies of itself. */
#include "driver/job.h"

uint32_t inline_options(Job *job, ObjRef function) {
    switch (frontend_inlining(&job->frontend, function)) {
    case INLINING_ALWAYS: return OPT_INLINE;
    case INLINING_ASKED: return OPT_ASK_INLINE;
    case INLINING_AS_SEEN:
    default: return 0;
    }
}

static bool ask_of_calls(Job *job, const FuncInst *caller) {
    for (size_t i = 0; i < caller->func->blocks.len; i++)
        for (Value *value = caller->func->blocks.data[i]->first; value; value = value->next) {
            if (value->op != OP_CALL_INST || !(value->imm.inst->options & OPT_ASK_INLINE)) continue;
            bool inlined;
            TRY(frontend_ask_inlining(&job->frontend, caller, value, &inlined));
            if (inlined) value->flags |= VF_INLINE;
        }
    return true;
}

bool inline_calls(Job *job) {
    bool any = false;
    for (size_t i = 0; i < job->insts.len; i++) any |= (job->insts.data[i]->options & OPT_ASK_INLINE) != 0;
    for (size_t i = 0; any && i < job->insts.len; i++)
        if (job->insts.data[i]->func) TRY(ask_of_calls(job, job->insts.data[i]));
    return true;
}
