/* layers.c: the addresses of what stands in layers.def, for the test doors.
 *
 * The module exports its init function alone, so a second extension cannot be linked with it; and a second copy of the
 * compiler would be tested in place of the one that is shipped.  Names are enough here, and no header is included: what
 * the types are, src/testing/ knows. */
#include "decorators/layers.h"

#define FUNCTION(name) void name(void);
#define TABLE(name)    extern const char name[];
#include "decorators/layers.def"
#undef FUNCTION
#undef TABLE

static const Layers layers = {
    .rows = layers_rows,
#define FUNCTION(name) .name = name,
#define TABLE(name)    .name = name,
#include "decorators/layers.def"
#undef FUNCTION
#undef TABLE
};

const Layers *layers_table(void) { return &layers; }
