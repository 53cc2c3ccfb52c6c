/* buf.c: text that grows at its end, in an arena.  Output: buf->text, NUL-terminated whenever anything was written. */
#include "base/base.h"

#include <stdio.h>  /* vsnprintf */
#include <string.h> /* memcpy */

void buf_init(Buf *buf, Arena *arena) { *buf = (Buf){.arena = arena}; }

/* Room for `more` characters and the NUL. */
static void buf_reserve(Buf *buf, size_t more) {
    if (buf->text && buf->cap - buf->len > more) return;
    size_t cap = buf->cap ? buf->cap : 64;
    while (cap - buf->len <= more) cap *= 2;
    char *text = arena_alloc(buf->arena, cap);
    if (buf->len) memcpy(text, buf->text, buf->len);
    buf->text = text;
    buf->cap = cap;
}

void buf_write(Buf *buf, const char *bytes, size_t length) {
    buf_reserve(buf, length);
    if (length) memcpy(buf->text + buf->len, bytes, length);
    buf->len += length;
    buf->text[buf->len] = 0;
}

void buf_puts(Buf *buf, const char *text) { buf_write(buf, text, strlen(text)); }

void buf_putc(Buf *buf, char c) { buf_write(buf, &c, 1); }

void buf_vprintf(Buf *buf, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length > 0) {
        buf_reserve(buf, (size_t)length);
        vsnprintf(buf->text + buf->len, (size_t)length + 1, format, again);
        buf->len += (size_t)length;
    }
    va_end(again);
}

void buf_printf(Buf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}
