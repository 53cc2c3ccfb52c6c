/* words.c: types as messages name them, where nothing is being compiled.
 *
 * In: a type of the session.  Out: text that names classes and functions as the user does, not by their numbers. */
#include "driver/driver.h"
#include "frontend/frontend.h"
#include "typeinfer/typeinfer.h"

static const char *object_name(void *self, ObjRef object) { return frontend_object_name(self, object); }

static ObjRef no_prelude(void *self, const char *name) {
    (void)self;
    (void)name;
    return 0;
}

const char *driver_words(const Session *session, Arena *arena, const Type *type) {
    Diag diag;
    Frontend frontend;
    diag_init(&diag, arena);
    frontend_open(&frontend, arena, session->types, session->objects, &diag);
    const InferHost host = {.self = &frontend, .object_name = object_name, .prelude = no_prelude};
    const char *words = typeinfer_words(&host, arena, type);
    frontend_close(&frontend);
    return words;
}
