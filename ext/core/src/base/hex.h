/* base/hex.h - hexadecimal digits. */
#ifndef SKV_BASE_HEX_H
#define SKV_BASE_HEX_H

#include "base/buf.h"

/* Returns the value of a hexadecimal digit, or -1 for another character. */
static inline int skv_hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes two digits into a byte. Returns false if they are not hexadecimal digits. */
static inline bool skv_hex_decode(const char *digits, char *byte)
{
    int high = skv_hex_value(digits[0]), low = high < 0 ? -1 : skv_hex_value(digits[1]);

    *byte = (char)(low < 0 ? 0 : high << 4 | low);
    return low >= 0;
}

/* Appends two digits, with small letters, for each byte. */
static inline void skv_hex_put(skv_buf *buf, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;

    if (!skv_buf_reserve(buf, 2 * len))
        return;
    for (size_t i = 0; i < len; i++) {
        skv_buf_put_char(buf, digits[from[i] >> 4]);
        skv_buf_put_char(buf, digits[from[i] & 15]);
    }
}

#endif
