#include "json/reader.h"

#include "base/reply.h"
#include "json/double.h"
#include "json/text.h"

#include <string.h>

/* What may come next. */
enum {
    A_VALUE,
    A_VALUE_OR_END, /* after '[' */
    A_NAME_OR_END,  /* after '{' */
    MORE_OR_END,    /* after a value */
    NOTHING         /* refused */
};

void skv_json_read_init(skv_json_reader *reader, const char *bytes, size_t len)
{
    reader->at = bytes;
    reader->end = bytes + len;
    reader->expect = A_VALUE;
    reader->depth = 0;
    reader->text = bytes;
    reader->len = 0;
    reader->escaped = reader->ascii = reader->exact = false;
    reader->integer = 0;
    reader->real = 0;
}

static skv_json_token refuse(skv_json_reader *reader)
{
    reader->expect = NOTHING;
    return SKV_JSON_REFUSED;
}

static void skip_space(skv_json_reader *reader)
{
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t' || *reader->at == '\r'))
        reader->at++;
}

/* The next byte, or NUL at the end: a NUL in the document is refused wherever this is used. */
static char peek(const skv_json_reader *reader)
{
    return reader->at < reader->end ? *reader->at : '\0';
}

/* ---- Strings ---------------------------------------------------------------------------------------------------- */

/* The number that four hexadecimal digits make, or -1. */
static int hex4(const char *digits)
{
    int number = 0;

    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        number = number * 16 + digit;
    }
    return number;
}

static bool is_high_surrogate(int unit)
{
    return (unit & 0xFC00) == 0xD800;
}

static bool is_low_surrogate(int unit)
{
    return (unit & 0xFC00) == 0xDC00;
}

/* The length of the escape sequence that starts at `at`, a backslash: a pair of surrogates is one. 0 if it is none. */
static size_t escape_len(const char *at, const char *end)
{
    int unit;

    if (end - at < 2)
        return 0;
    if (at[1] != 'u')
        return at[1] && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
    if (end - at < 6 || (unit = hex4(at + 2)) < 0 || is_low_surrogate(unit))
        return 0;
    if (!is_high_surrogate(unit))
        return 6;
    return end - at >= 12 && at[6] == '\\' && at[7] == 'u' && is_low_surrogate(hex4(at + 8)) ? 12 : 0;
}

/* Reads from the opening quote to behind the closing one. */
static bool read_string(skv_json_reader *reader)
{
    const char *at = reader->at + 1, *end = reader->end;
    uint64_t seen = 0;
    size_t escape;

    reader->text = at;
    reader->escaped = false;
    for (;; at += escape) {
        at += skv_json_plain_span(at, (size_t)(end - at), &seen);
        if (at == end)
            return false;
        if (*at == '"')
            break;
        escape = *at == '\\' ? escape_len(at, end) : 0;
        if (!escape)
            return false;
        reader->escaped = true;
    }
    reader->len = (size_t)(at - reader->text);
    reader->at = at + 1;
    reader->ascii = !(seen & SKV_EACH_BYTE(0x80));
    return reader->ascii || skv_is_utf8(reader->text, reader->len);
}

static char *put_utf8(char *out, unsigned int code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *out++ = (char)(0xE0 | code >> 12);
        } else {
            *out++ = (char)(0xF0 | code >> 18);
            *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *out++ = (char)(0x80 | (code & 0x3F));
    return out;
}

static char short_escape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

size_t skv_json_unescape(const char *text, size_t len, char *out)
{
    const char *end = text + len;
    char *start = out;

    while (text < end) {
        size_t plain = 0, escape;
        unsigned int code;

        while (text + plain < end && text[plain] != '\\')
            plain++;
        memcpy(out, text, plain);
        out += plain;
        text += plain;
        escape = text < end ? escape_len(text, end) : 0;
        if (!escape)
            break;
        if (escape == 2) {
            *out++ = short_escape(text[1]);
        } else {
            code = (unsigned int)hex4(text + 2);
            if (escape == 12)
                code = 0x10000 + ((code & 0x3FF) << 10 | ((unsigned int)hex4(text + 8) & 0x3FF));
            out = put_utf8(out, code);
        }
        text += escape;
    }
    return (size_t)(out - start);
}

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

#define INT_DIGITS_MAX 18 /* always fit into 64 bits */
#define EXPONENT_MAX 250  /* with SKV_JSON_NUMBER_MAX digits at the most, this is far from the limits of a double */
#define EXACT_MANTISSA_MAX (UINT64_C(1) << 53)

typedef struct number {
    uint64_t mantissa; /* modulo 2^64 if there are more digits than fit */
    int digits;        /* without zeros in front */
    int decimals;
    int exponent;
} number;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes digits into the mantissa; answers how many. */
static int read_digits(skv_json_reader *reader, const char *limit, number *n)
{
    const char *start = reader->at;

    for (; reader->at < limit && is_digit(*reader->at); reader->at++) {
        n->mantissa = n->mantissa * 10 + (uint64_t)(*reader->at - '0');
        if (n->mantissa)
            n->digits++;
    }
    return (int)(reader->at - start);
}

static bool read_exponent(skv_json_reader *reader, number *n)
{
    bool negative;
    int digits = 0;

    reader->at++;
    negative = peek(reader) == '-';
    if (negative || peek(reader) == '+')
        reader->at++;
    for (; is_digit(peek(reader)) && n->exponent <= EXPONENT_MAX; digits++)
        n->exponent = n->exponent * 10 + (*reader->at++ - '0');
    if (digits == 0 || n->exponent > EXPONENT_MAX)
        return false;
    if (negative)
        n->exponent = -n->exponent;
    return true;
}

/* A mantissa and a power of ten that are both exact as doubles make the nearest double with one operation. */
static void find_double(skv_json_reader *reader, const number *n, bool negative)
{
    int power = n->exponent - n->decimals;

    reader->exact = n->digits <= INT_DIGITS_MAX && n->mantissa <= EXACT_MANTISSA_MAX && power < SKV_EXACT_POWERS &&
                    power > -SKV_EXACT_POWERS;
    if (!reader->exact)
        return;
    reader->real =
        power < 0 ? (double)n->mantissa / skv_power_of_ten[-power] : (double)n->mantissa * skv_power_of_ten[power];
    if (negative)
        reader->real = -reader->real;
}

static skv_json_token read_number(skv_json_reader *reader)
{
    const char *start = reader->at;
    const char *limit = reader->end - start > SKV_JSON_NUMBER_MAX ? start + SKV_JSON_NUMBER_MAX : reader->end;
    bool negative = *start == '-', whole = true;
    number n = {0};
    int digits;

    reader->at += negative;
    digits = read_digits(reader, limit, &n);
    if (digits == 0 || (digits > 1 && start[negative] == '0'))
        return refuse(reader);
    if (peek(reader) == '.') {
        whole = false;
        reader->at++;
        n.decimals = read_digits(reader, limit, &n);
        if (n.decimals == 0)
            return refuse(reader);
    }
    if (peek(reader) == 'e' || peek(reader) == 'E') {
        whole = false;
        if (!read_exponent(reader, &n))
            return refuse(reader);
    }
    if (reader->at > limit || (reader->at == limit && reader->at < reader->end))
        return refuse(reader);
    reader->text = start;
    reader->len = (size_t)(reader->at - start);
    if (!whole) {
        find_double(reader, &n, negative);
        return SKV_JSON_DOUBLE;
    }
    if (digits > INT_DIGITS_MAX)
        return refuse(reader);
    reader->integer = negative ? -(int64_t)n.mantissa : (int64_t)n.mantissa;
    return SKV_JSON_INT;
}

/* ---- Structure -------------------------------------------------------------------------------------------------- */

static skv_json_token open_bracket(skv_json_reader *reader, bool object)
{
    if (reader->depth == SKV_JSON_DEPTH_MAX)
        return refuse(reader);
    reader->at++;
    reader->in_object[++reader->depth] = object;
    reader->expect = object ? A_NAME_OR_END : A_VALUE_OR_END;
    return object ? SKV_JSON_OBJECT : SKV_JSON_ARRAY;
}

static skv_json_token close_bracket(skv_json_reader *reader, bool object)
{
    if (reader->in_object[reader->depth] != object)
        return refuse(reader);
    reader->at++;
    reader->depth--;
    reader->expect = MORE_OR_END;
    return object ? SKV_JSON_OBJECT_END : SKV_JSON_ARRAY_END;
}

static skv_json_token read_word(skv_json_reader *reader, const char *word, size_t len, skv_json_token token)
{
    if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0)
        return refuse(reader);
    reader->at += len;
    return token;
}

static skv_json_token read_value(skv_json_reader *reader)
{
    reader->expect = MORE_OR_END;
    switch (peek(reader)) {
    case '{':
        return open_bracket(reader, true);
    case '[':
        return open_bracket(reader, false);
    case '"':
        return read_string(reader) ? SKV_JSON_STRING : refuse(reader);
    case 't':
        return read_word(reader, "true", 4, SKV_JSON_TRUE);
    case 'f':
        return read_word(reader, "false", 5, SKV_JSON_FALSE);
    case 'n':
        return read_word(reader, "null", 4, SKV_JSON_NULL);
    default:
        return is_digit(peek(reader)) || peek(reader) == '-' ? read_number(reader) : refuse(reader);
    }
}

/* A member's name, and the colon behind it. */
static skv_json_token read_name(skv_json_reader *reader)
{
    if (peek(reader) != '"' || !read_string(reader))
        return refuse(reader);
    skip_space(reader);
    if (peek(reader) != ':')
        return refuse(reader);
    reader->at++;
    reader->expect = A_VALUE;
    return SKV_JSON_NAME;
}

static skv_json_token read_more(skv_json_reader *reader)
{
    if (reader->depth == 0)
        return reader->at == reader->end ? SKV_JSON_END : refuse(reader);
    switch (peek(reader)) {
    case ',':
        reader->at++;
        skip_space(reader);
        return reader->in_object[reader->depth] ? read_name(reader) : read_value(reader);
    case '}':
        return close_bracket(reader, true);
    case ']':
        return close_bracket(reader, false);
    default:
        return refuse(reader);
    }
}

skv_json_token skv_json_read(skv_json_reader *reader)
{
    skip_space(reader);
    switch (reader->expect) {
    case A_VALUE:
        return read_value(reader);
    case A_VALUE_OR_END:
        return peek(reader) == ']' ? close_bracket(reader, false) : read_value(reader);
    case A_NAME_OR_END:
        return peek(reader) == '}' ? close_bracket(reader, true) : read_name(reader);
    case MORE_OR_END:
        return read_more(reader);
    default:
        return SKV_JSON_REFUSED;
    }
}
