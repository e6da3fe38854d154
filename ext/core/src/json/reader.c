#include "json/reader.h"

#include "json/text.h"

#include <string.h>

/* The states of the reader, named after the tokens that it accepts next. */
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

static skv_json_token refuse_rest(skv_json_reader *reader)
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

/* Returns the next byte, or NUL at the end. Each caller refuses a NUL, so that one in the document is refused, too. */
static char next_byte(const skv_json_reader *reader)
{
    return reader->at < reader->end ? *reader->at : '\0';
}

/* ---- Strings ---- */

/* Returns the number that four hexadecimal digits make, or -1. */
static int hex4_value(const char *digits)
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

/* Returns the length of the escape sequence that starts at `at`, or 0 if it is malformed. A pair of surrogates counts
 * as one sequence. */
static size_t escape_length(const char *at, const char *end)
{
    int unit;

    if (end - at < 2)
        return 0;
    if (at[1] != 'u')
        return at[1] && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
    if (end - at < 6 || (unit = hex4_value(at + 2)) < 0 || is_low_surrogate(unit))
        return 0;
    if (!is_high_surrogate(unit))
        return 6;
    return end - at >= 12 && at[6] == '\\' && at[7] == 'u' && is_low_surrogate(hex4_value(at + 8)) ? 12 : 0;
}

/* Takes a string with its quotes. */
static bool take_string(skv_json_reader *reader)
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
        escape = *at == '\\' ? escape_length(at, end) : 0;
        if (!escape)
            return false;
        reader->escaped = true;
    }
    reader->len = (size_t)(at - reader->text);
    reader->at = at + 1;
    reader->ascii = !(seen & SKV_EACH_BYTE(0x80));
    return true;
}

static char *encode_utf8(char *out, unsigned int code)
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
        escape = text < end ? escape_length(text, end) : 0;
        if (!escape)
            break;
        if (escape == 2) {
            *out++ = short_escape(text[1]);
        } else {
            code = (unsigned int)hex4_value(text + 2);
            if (escape == 12)
                code = 0x10000 + ((code & 0x3FF) << 10 | ((unsigned int)hex4_value(text + 8) & 0x3FF));
            out = encode_utf8(out, code);
        }
        text += escape;
    }
    return (size_t)(out - start);
}

/* ---- Numbers ---- */

#define INT_DIGITS_MAX 18 /* this many always fit into 64 bits */
#define EXPONENT_MAX 250  /* with SKV_JSON_NUMBER_MAX digits, the number is far from the limits of a double */
#define EXACT_MANTISSA_MAX (UINT64_C(1) << 53)

/* The powers of ten that a double holds exactly. */
static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT_POWERS ((int)(sizeof power_of_ten / sizeof *power_of_ten))

typedef struct json_number {
    uint64_t mantissa; /* modulo 2^64 if there are more digits than fit */
    int digits;        /* without zeros in front */
    int decimals;
    int exponent;
} json_number;

static bool is_json_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes digits into the mantissa, and returns their number. */
static int take_digits(skv_json_reader *reader, const char *limit, json_number *n)
{
    const char *start = reader->at;

    for (; reader->at < limit && is_json_digit(*reader->at); reader->at++) {
        n->mantissa = n->mantissa * 10 + (uint64_t)(*reader->at - '0');
        if (n->mantissa)
            n->digits++;
    }
    return (int)(reader->at - start);
}

static bool take_exponent(skv_json_reader *reader, json_number *n)
{
    bool negative;
    int digits = 0;

    reader->at++;
    negative = next_byte(reader) == '-';
    if (negative || next_byte(reader) == '+')
        reader->at++;
    for (; is_json_digit(next_byte(reader)) && n->exponent <= EXPONENT_MAX; digits++)
        n->exponent = n->exponent * 10 + (*reader->at++ - '0');
    if (digits == 0 || n->exponent > EXPONENT_MAX)
        return false;
    if (negative)
        n->exponent = -n->exponent;
    return true;
}

/* One operation on a mantissa and a power of ten that a double holds exactly makes the nearest double. */
static void convert_exactly(skv_json_reader *reader, const json_number *n, bool negative)
{
    int power = n->exponent - n->decimals;

    reader->exact = n->digits <= INT_DIGITS_MAX && n->mantissa <= EXACT_MANTISSA_MAX && power < EXACT_POWERS &&
                    power > -EXACT_POWERS;
    if (!reader->exact)
        return;
    reader->real = power < 0 ? (double)n->mantissa / power_of_ten[-power] : (double)n->mantissa * power_of_ten[power];
    if (negative)
        reader->real = -reader->real;
}

static skv_json_token take_number(skv_json_reader *reader)
{
    const char *start = reader->at;
    const char *limit = reader->end - start > SKV_JSON_NUMBER_MAX ? start + SKV_JSON_NUMBER_MAX : reader->end;
    bool negative = *start == '-', whole = true;
    json_number n = {0};
    int digits;

    reader->at += negative;
    digits = take_digits(reader, limit, &n);
    if (digits == 0 || (digits > 1 && start[negative] == '0'))
        return refuse_rest(reader);
    if (next_byte(reader) == '.') {
        whole = false;
        reader->at++;
        n.decimals = take_digits(reader, limit, &n);
        if (n.decimals == 0)
            return refuse_rest(reader);
    }
    if (next_byte(reader) == 'e' || next_byte(reader) == 'E') {
        whole = false;
        if (!take_exponent(reader, &n))
            return refuse_rest(reader);
    }
    if (reader->at > limit || (reader->at == limit && reader->at < reader->end))
        return refuse_rest(reader);
    reader->text = start;
    reader->len = (size_t)(reader->at - start);
    if (!whole) {
        convert_exactly(reader, &n, negative);
        return SKV_JSON_DOUBLE;
    }
    if (digits > INT_DIGITS_MAX)
        return refuse_rest(reader);
    reader->integer = negative ? -(int64_t)n.mantissa : (int64_t)n.mantissa;
    return SKV_JSON_INT;
}

/* ---- Structure ---- */

static skv_json_token open_bracket(skv_json_reader *reader, bool object)
{
    if (reader->depth == SKV_DOCUMENT_DEPTH_MAX)
        return refuse_rest(reader);
    reader->at++;
    reader->in_object[++reader->depth] = object;
    reader->expect = object ? A_NAME_OR_END : A_VALUE_OR_END;
    return object ? SKV_JSON_OBJECT : SKV_JSON_ARRAY;
}

static skv_json_token close_bracket(skv_json_reader *reader, bool object)
{
    if (reader->in_object[reader->depth] != object)
        return refuse_rest(reader);
    reader->at++;
    reader->depth--;
    reader->expect = MORE_OR_END;
    return object ? SKV_JSON_OBJECT_END : SKV_JSON_ARRAY_END;
}

static skv_json_token take_word(skv_json_reader *reader, const char *word, size_t len, skv_json_token token)
{
    if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0)
        return refuse_rest(reader);
    reader->at += len;
    return token;
}

static skv_json_token take_value(skv_json_reader *reader)
{
    reader->expect = MORE_OR_END;
    switch (next_byte(reader)) {
    case '{':
        return open_bracket(reader, true);
    case '[':
        return open_bracket(reader, false);
    case '"':
        return take_string(reader) ? SKV_JSON_STRING : refuse_rest(reader);
    case 't':
        return take_word(reader, "true", 4, SKV_JSON_TRUE);
    case 'f':
        return take_word(reader, "false", 5, SKV_JSON_FALSE);
    case 'n':
        return take_word(reader, "null", 4, SKV_JSON_NULL);
    default:
        return is_json_digit(next_byte(reader)) || next_byte(reader) == '-' ? take_number(reader) : refuse_rest(reader);
    }
}

/* Takes a member's name and the colon after it. */
static skv_json_token take_name(skv_json_reader *reader)
{
    if (next_byte(reader) != '"' || !take_string(reader))
        return refuse_rest(reader);
    skip_space(reader);
    if (next_byte(reader) != ':')
        return refuse_rest(reader);
    reader->at++;
    reader->expect = A_VALUE;
    return SKV_JSON_NAME;
}

static skv_json_token take_more(skv_json_reader *reader)
{
    if (reader->depth == 0)
        return reader->at == reader->end ? SKV_JSON_END : refuse_rest(reader);
    switch (next_byte(reader)) {
    case ',':
        reader->at++;
        skip_space(reader);
        return reader->in_object[reader->depth] ? take_name(reader) : take_value(reader);
    case '}':
        return close_bracket(reader, true);
    case ']':
        return close_bracket(reader, false);
    default:
        return refuse_rest(reader);
    }
}

skv_json_token skv_json_read(skv_json_reader *reader)
{
    skip_space(reader);
    switch (reader->expect) {
    case A_VALUE:
        return take_value(reader);
    case A_VALUE_OR_END:
        return next_byte(reader) == ']' ? close_bracket(reader, false) : take_value(reader);
    case A_NAME_OR_END:
        return next_byte(reader) == '}' ? close_bracket(reader, true) : take_name(reader);
    case MORE_OR_END:
        return take_more(reader);
    default:
        return SKV_JSON_REFUSED;
    }
}
