#include "crypt/base64url.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Encodes one to three bytes as two to four characters. Returns the end of the characters. */
static char *put_group(char *out, const unsigned char *bytes, size_t count)
{
    uint32_t group = (uint32_t)bytes[0] << 16;

    if (count > 1)
        group |= (uint32_t)bytes[1] << 8;
    if (count > 2)
        group |= bytes[2];
    for (size_t i = 0; i <= count; i++)
        *out++ = digits[group >> (18 - 6 * i) & 63];
    return out;
}

void skv_base64url_put(skv_buf *buf, const void *bytes, size_t len)
{
    const unsigned char *from = bytes;
    char *out;

    if (!skv_buf_reserve(buf, (len * 4 + 2) / 3))
        return;
    out = buf->bytes + buf->len;
    for (; len >= 3; len -= 3, from += 3)
        out = put_group(out, from, 3);
    if (len)
        out = put_group(out, from, len);
    *out = '\0';
    buf->len = (size_t)(out - buf->bytes);
}

/* The value of each character, plus 1. */
static const unsigned char values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64};

/* Reads `count` characters as bits. Returns false if one is not a digit. */
static bool read_group(const char *text, size_t count, uint32_t *bits)
{
    bool valid = true;

    *bits = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char value = values[(unsigned char)text[i]];

        valid = valid && value;
        *bits = *bits << 6 | (((uint32_t)value - 1) & 63);
    }
    return valid;
}

/* Decodes the two or three characters behind the last group of four. */
static bool decode_rest(const char *text, size_t count, unsigned char *out)
{
    uint32_t bits;

    if (count == 1 || !read_group(text, count, &bits))
        return false;
    if (count == 2) {
        out[0] = (unsigned char)(bits >> 4);
        return (bits & 15) == 0;
    }
    out[0] = (unsigned char)(bits >> 10);
    out[1] = (unsigned char)(bits >> 2);
    return (bits & 3) == 0;
}

bool skv_base64url_decode(const char *text, size_t len, unsigned char *out)
{
    uint32_t bits;

    for (; len >= 4; len -= 4, text += 4, out += 3) {
        if (!read_group(text, 4, &bits))
            return false;
        out[0] = (unsigned char)(bits >> 16);
        out[1] = (unsigned char)(bits >> 8);
        out[2] = (unsigned char)bits;
    }
    return len == 0 || decode_rest(text, len, out);
}
