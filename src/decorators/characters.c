/* characters.c: traits of characters, for the methods of str that krait/prelude/strings.py computes.
 *
 * In: a code point, and the traits asked for, bits of characters.def.  Out: those that it has, by the interpreter's own
 * tables of Unicode, which are constants: of any thread, and no lock is asked for. */
#include "decorators/decorators.h"

uint32_t character_traits(uint32_t code, uint32_t asked) {
    uint32_t has = 0, bit = 1;
#define TRAIT(name)                                           \
    if (asked & bit && Py_UNICODE_IS##name(code)) has |= bit; \
    bit <<= 1;
#include "decorators/characters.def"
#undef TRAIT
    return has;
}
