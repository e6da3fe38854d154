/* json/text.h - finds the bytes of a JSON string that need no escape. */
#ifndef SKV_JSON_TEXT_H
#define SKV_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SKV_EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

static inline bool skv_json_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

/* Returns true if one of eight bytes is a control character, a quote or a backslash. (x - 1) & ~x has the highest bit
 * set in each byte of x that is 0, and perhaps in the byte above it, which does no harm here. */
static inline bool skv_json_any_special(uint64_t bytes)
{
    uint64_t quote = bytes ^ SKV_EACH_BYTE('"');
    uint64_t backslash = bytes ^ SKV_EACH_BYTE('\\');
    uint64_t found = (bytes - SKV_EACH_BYTE(0x20)) & ~bytes;

    found |= (quote - SKV_EACH_BYTE(1)) & ~quote;
    found |= (backslash - SKV_EACH_BYTE(1)) & ~backslash;
    return (found & SKV_EACH_BYTE(0x80)) != 0;
}

/* Returns the number of leading bytes that a JSON string holds without an escape. ORs these bytes into `seen`: its
 * highest bits are 0 if all of them are ASCII. */
static inline size_t skv_json_plain_span(const char *bytes, size_t len, uint64_t *seen)
{
    size_t i = 0;

    for (; i + 8 <= len; i += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + i, sizeof eight);
        if (skv_json_any_special(eight))
            break;
        *seen |= eight;
    }
    for (; i < len && skv_json_plain((unsigned char)bytes[i]); i++)
        *seen |= (unsigned char)bytes[i];
    return i;
}

#endif
