#include "json/marshal.h"

#include "base/reply.h"
#include "json/reader.h"

#include <string.h>

/* The most bytes: leave_count() leaves 16 bits for a count. */
#define MARSHAL_MAX ((size_t)UINT16_MAX)

typedef struct marshal {
    skv_json_reader reader;
    char *at, *end;
    bool full;
    int symbols;  /* the number of symbols so far */
    int encoding; /* the index of the symbol :E, -1 before its first use */
} marshal;

/* ---- Bytes ---- */

static void put_bytes(marshal *m, const void *bytes, size_t len)
{
    if (m->full || len > (size_t)(m->end - m->at)) {
        m->full = true;
        return;
    }
    memcpy(m->at, bytes, len);
    m->at += len;
}

static void put_byte(marshal *m, int byte)
{
    char c = (char)byte;

    put_bytes(m, &c, 1);
}

/* A whole number below 2^31, in the form of a count and that many bytes, which fits all of them but 0. */
static void put_count(marshal *m, uint32_t count)
{
    char bytes[5];
    int used = 0;

    for (; count; count >>= 8)
        bytes[1 + used++] = (char)(count & 0xFF);
    bytes[0] = (char)used;
    put_bytes(m, bytes, (size_t)used + 1);
}

/* Leaves room for a count that is known later. Returns its place. */
static char *leave_count(marshal *m)
{
    char *place = m->at;

    put_bytes(m, "\2\0\0", 3);
    return place;
}

static void fill_count(const marshal *m, char *place, size_t count)
{
    if (m->full)
        return;
    place[1] = (char)(count & 0xFF);
    place[2] = (char)(count >> 8);
}

/* ---- Values ---- */

static void put_symbol(marshal *m, const char *name)
{
    put_byte(m, ':');
    put_count(m, (uint32_t)strlen(name));
    put_bytes(m, name, strlen(name));
    m->symbols++;
}

/* A string is an object with one more member: E is true for UTF-8. */
static void put_text(marshal *m)
{
    const skv_json_reader *reader = &m->reader;
    char *count;

    put_bytes(m, "I\"", 2);
    count = leave_count(m);
    if (reader->len > (size_t)(m->end - m->at))
        m->full = true;
    if (m->full)
        return;
    fill_count(m, count, skv_json_unescape(reader->text, reader->len, m->at));
    m->at += (unsigned char)count[1] | (size_t)(unsigned char)count[2] << 8;
    put_count(m, 1);
    if (m->encoding < 0) {
        m->encoding = m->symbols;
        put_symbol(m, "E");
    } else {
        put_byte(m, ';');
        put_count(m, (uint32_t)m->encoding);
    }
    put_byte(m, 'T');
}

/* Numbers of more than 31 bits are those of the class that was Bignum: a sign, the number of 16-bit words, the words.
 * Ruby makes the same Integer of either. */
static void put_integer(marshal *m, int64_t number)
{
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char words[sizeof left];
    size_t used = 0;

    if (number >= 0 && left < UINT64_C(1) << 30) {
        put_byte(m, 'i');
        put_count(m, (uint32_t)left);
        return;
    }
    for (; left; left >>= 16, used++) {
        words[2 * used] = (char)(left & 0xFF);
        words[2 * used + 1] = (char)(left >> 8 & 0xFF);
    }
    put_byte(m, 'l');
    put_byte(m, number < 0 ? '-' : '+');
    put_count(m, (uint32_t)used);
    put_bytes(m, words, 2 * used);
}

/* Ruby converts the digits of the document. Others than those of which each conversion makes the same double are left
 * to JSON.parse. */
static bool put_double(marshal *m)
{
    put_byte(m, 'f');
    put_count(m, (uint32_t)m->reader.len);
    put_bytes(m, m->reader.text, m->reader.len);
    return m->reader.exact;
}

static bool put_value(marshal *m, skv_json_token token);

static bool put_array(marshal *m)
{
    skv_json_token token;
    size_t count = 0;
    char *place;

    put_byte(m, '[');
    place = leave_count(m);
    for (; (token = skv_json_read(&m->reader)) != SKV_JSON_ARRAY_END; count++)
        if (!put_value(m, token))
            return false;
    fill_count(m, place, count);
    return true;
}

static bool put_object(marshal *m)
{
    skv_json_token token;
    size_t count = 0;
    char *place;

    put_byte(m, '{');
    place = leave_count(m);
    for (; (token = skv_json_read(&m->reader)) == SKV_JSON_NAME; count++) {
        put_text(m);
        if (!put_value(m, skv_json_read(&m->reader)))
            return false;
    }
    fill_count(m, place, count);
    return token == SKV_JSON_OBJECT_END;
}

/* Returns false if the document is refused, or there is no room. */
static bool put_value(marshal *m, skv_json_token token)
{
    switch (token) {
    case SKV_JSON_OBJECT:
        return put_object(m) && !m->full;
    case SKV_JSON_ARRAY:
        return put_array(m) && !m->full;
    case SKV_JSON_STRING:
        put_text(m);
        return !m->full;
    case SKV_JSON_INT:
        put_integer(m, m->reader.integer);
        return !m->full;
    case SKV_JSON_DOUBLE:
        return put_double(m) && !m->full;
    case SKV_JSON_TRUE:
    case SKV_JSON_FALSE:
    case SKV_JSON_NULL:
        put_byte(m, token == SKV_JSON_TRUE ? 'T' : token == SKV_JSON_FALSE ? 'F' : '0');
        return !m->full;
    default:
        return false;
    }
}

/* ---- Documents ---- */

static bool is_member(const skv_json_reader *reader, const char *name)
{
    return !reader->escaped && reader->len == strlen(name) && memcmp(reader->text, name, reader->len) == 0;
}

/* Metadata are an object, or null for none. */
static bool put_metadata(marshal *m, skv_json_token token)
{
    put_symbol(m, "metadata");
    if (token == SKV_JSON_OBJECT)
        return put_object(m);
    put_bytes(m, "{\0", 2);
    return token == SKV_JSON_NULL;
}

/* The value comes first in the Hash of the extension for MRI, too: a document with another order is left. */
static bool put_members(marshal *m)
{
    skv_json_reader *reader = &m->reader;
    skv_json_token token;

    if (skv_json_read(reader) != SKV_JSON_OBJECT || skv_json_read(reader) != SKV_JSON_NAME ||
        !is_member(reader, "value"))
        return false;
    put_symbol(m, "value");
    if (!put_value(m, skv_json_read(reader)))
        return false;
    token = skv_json_read(reader);
    if (token != SKV_JSON_NAME) {
        put_metadata(m, SKV_JSON_NULL);
    } else {
        if (!is_member(reader, "metadata") || !put_metadata(m, skv_json_read(reader)))
            return false;
        token = skv_json_read(reader);
    }
    return token == SKV_JSON_OBJECT_END && skv_json_read(reader) == SKV_JSON_END;
}

size_t skv_json_marshal(const char *document, size_t len, char *out, size_t size)
{
    marshal m = {.at = out, .end = out + (size < MARSHAL_MAX ? size : MARSHAL_MAX), .encoding = -1};

    if (!skv_is_utf8(document, len))
        return 0;
    skv_json_read_init(&m.reader, document, len);
    put_bytes(&m, "\4\10{", 3);
    put_count(&m, 2);
    return put_members(&m) && !m.full ? (size_t)(m.at - out) : 0;
}
