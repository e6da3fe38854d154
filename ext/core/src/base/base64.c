#include "base/base64.h"

#include <stdint.h>

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* Encodes one byte or two as two characters or three. Returns the end of the characters. */
static char *put_rest(char *out, const unsigned char *bytes, size_t count, const char *digits)
{
    unsigned first = bytes[0], second = count > 1 ? bytes[1] : 0;

    *out++ = digits[first >> 2];
    *out++ = digits[(first & 3) << 4 | second >> 4];
    if (count > 1)
        *out++ = digits[(second & 15) << 2];
    return out;
}

static void put_digits(skv_buf *buf, const unsigned char *from, size_t len, const char *digits)
{
    char *out;

    if (!skv_buf_reserve(buf, (len * 4 + 2) / 3))
        return;
    out = buf->bytes + buf->len;
    for (; len >= 3; len -= 3, from += 3, out += 4) {
        out[0] = digits[from[0] >> 2];
        out[1] = digits[(from[0] & 3) << 4 | from[1] >> 4];
        out[2] = digits[(from[1] & 15) << 2 | from[2] >> 6];
        out[3] = digits[from[2] & 63];
    }
    if (len)
        out = put_rest(out, from, len, digits);
    *out = '\0';
    buf->len = (size_t)(out - buf->bytes);
}

void skv_base64_put(skv_buf *buf, const void *bytes, size_t len)
{
    put_digits(buf, bytes, len, LETTERS_AND_DIGITS "+/");
    skv_buf_put(buf, "==", (3 - len % 3) % 3);
}

void skv_base64url_put(skv_buf *buf, const void *bytes, size_t len)
{
    put_digits(buf, bytes, len, LETTERS_AND_DIGITS "-_");
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

static uint32_t value_of(char digit)
{
    return values[(unsigned char)digit];
}

/* Decodes the two or three characters behind the last group of four. */
static bool decode_rest(const char *text, size_t count, unsigned char *out)
{
    uint32_t a = value_of(text[0]) - 1, b, c;

    if (count == 1 || !value_of(text[0]) || !value_of(text[1]))
        return false;
    b = value_of(text[1]) - 1;
    out[0] = (unsigned char)(a << 2 | b >> 4);
    if (count == 2)
        return (b & 15) == 0;
    if (!value_of(text[2]))
        return false;
    c = value_of(text[2]) - 1;
    out[1] = (unsigned char)(b << 4 | c >> 2);
    return (c & 3) == 0;
}

/* Decodes groups of four characters. */
static bool decode_groups(const char *text, size_t len, unsigned char *out)
{
    /* Each digit counts one too much. */
    const uint32_t ones = 1 << 18 | 1 << 12 | 1 << 6 | 1;
    uint32_t wrong = 0;

    for (; len >= 4; len -= 4, text += 4, out += 3) {
        uint32_t a = value_of(text[0]), b = value_of(text[1]), c = value_of(text[2]), d = value_of(text[3]);
        uint32_t bits = (a << 18) + (b << 12) + (c << 6) + d - ones;

        wrong |= (uint32_t)(!a | !b | !c | !d);
        out[0] = (unsigned char)(bits >> 16);
        out[1] = (unsigned char)(bits >> 8);
        out[2] = (unsigned char)bits;
    }
    return !wrong;
}

bool skv_base64url_decode(const char *text, size_t len, unsigned char *out)
{
    size_t rest = len % 4;

    return decode_groups(text, len, out) && (!rest || decode_rest(text + len - rest, rest, out + len / 4 * 3));
}
