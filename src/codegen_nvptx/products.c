/* products.c: in the text of a module, upper halves of products are taken in a way that PTX's compiler keeps right.
 *
 * In: PTX text as LLVM writes it.  Out: the same text with every mul.hi of 32 bits as the upper half of a mul.wide.  Of
 * mul.hi(a, b) extended to 64 bits less y, as in `i // 3 - y`, ptxas makes one multiplication that adds -y to the upper
 * half and one more sum for the carry; but where the lower half of y is 0, that of -y gives no carry, so that the
 * difference is wrong by 2**32.  From a mul.wide it makes no such thing, and as many instructions as from a mul.hi. */
#include <string.h> /* memcmp, strlen, strstr */

#include "codegen_nvptx/nvptx.h"

static const struct {
    const char *high, *wide;
} products[] = {{"mul.hi.u32 ", "mul.wide.u32"}, {"mul.hi.s32 ", "mul.wide.s32"}};

/* The row of the instruction that starts here, or -1. */
static int product_at(const char *at) {
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (!strncmp(at, products[i].high, strlen(products[i].high))) return (int)i;
    return -1;
}

char *nvptx_exact_products(Arena *arena, char *text) {
    const char *at = strstr(text, "mul.hi."), *written = text;
    if (!at) return text;
    Buf out;
    buf_init(&out, arena);
    for (; at; at = strstr(at + 1, "mul.hi.")) {
        int row = product_at(at);
        if (row < 0) continue;
        const char *result = at + strlen(products[row].high) + strspn(at + strlen(products[row].high), "\t "),
                   *comma = strchr(result, ','), *end = strchr(result, ';');
        if (!comma || !end || comma > end) continue;
        buf_write(&out, written, (size_t)(at - written));
        buf_printf(&out, "{ .reg .b64 w; %s w%.*s; shr.u64 w, w, 32; cvt.u32.u64 %.*s, w; }", products[row].wide,
                   (int)(end - comma), comma, (int)(comma - result), result);
        written = end + 1;
    }
    buf_puts(&out, written);
    return out.text;
}
