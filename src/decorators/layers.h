/* layers.h: the inside of the compiler, as one table of addresses, for the test doors (src/testing/) alone. */
#ifndef KRAIT_DECORATORS_LAYERS_H
#define KRAIT_DECORATORS_LAYERS_H

#define LAYERS_CAPSULE "krait._krait._layers"

typedef struct Layers {
    const char *rows; /* the names of what follows: doors made from other sources are not let in */
#define FUNCTION(name) void (*name)(void);
#define TABLE(name)    const void *name;
#include "decorators/layers.def"
#undef FUNCTION
#undef TABLE
} Layers;

const Layers *layers_table(void);

#define FUNCTION(name) #name " "
#define TABLE(name)    #name " "
static const char layers_rows[] =
#include "decorators/layers.def"
    "";
#undef FUNCTION
#undef TABLE

#endif
