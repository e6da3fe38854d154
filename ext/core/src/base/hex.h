/* base/hex.h - decoding of hexadecimal digits. */
#ifndef SKV_BASE_HEX_H
#define SKV_BASE_HEX_H

#include <stdbool.h>

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

#endif
