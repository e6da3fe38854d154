/* base/ascii.h - letters and digits of ASCII, in any locale. */
#ifndef SKV_BASE_ASCII_H
#define SKV_BASE_ASCII_H

#include <stdbool.h>

static inline char skv_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline char skv_ascii_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static inline bool skv_ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
