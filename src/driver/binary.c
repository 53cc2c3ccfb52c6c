/* binary.c: machine code that a GPU's driver made of PTX, kept with the disk cache (cache.h): the driver's compiler
 * takes longer than everything before it.
 *
 * In: finished Code, and a text that names the GPU and the driver.  Out: the machine code, or that there is none.  The
 * key is made of the PTX, the options and that text. */
#include "driver/cache.h"

#include <string.h> /* memcpy */

static bool binary_key(const Code *code, const char *toolchain, Arena *arena, CacheKey *key) {
    size_t length = strlen(toolchain) + 1;
    char *text = arena_alloc(arena, length + code->ptx_length + 1);
    memcpy(text, toolchain, length);
    text[length - 1] = '\n';
    memcpy(text + length, code->ptx, code->ptx_length);
    text[length + code->ptx_length] = 0;
    return cache_key(key, &code->config, text, arena);
}

bool driver_binary_wanted(const Code *code) {
    char folder[4096];
    return code->ptx && cache_wanted(&code->config) && driver_cache_folder(folder, sizeof folder);
}

bool driver_binary_load(const Code *code, const char *toolchain, Arena *arena, CodeImage *binary) {
    CacheKey key;
    return binary_key(code, toolchain, arena, &key) && cache_load(&key, arena, binary);
}

void driver_binary_store(const Code *code, const char *toolchain, Arena *arena, const CodeImage *binary) {
    CacheKey key;
    Buf label;
    if (!binary_key(code, toolchain, arena, &key)) return;
    buf_init(&label, arena);
    buf_printf(&label, "GPU machine code of %s, %s", code->config.codegen.entry_name, toolchain);
    cache_store(&key, binary, label.text);
}
