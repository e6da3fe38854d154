/* rewrite.h - reads a document and writes what was read: for the reader's tests and its fuzz target. */
#ifndef SKV_TEST_REWRITE_H
#define SKV_TEST_REWRITE_H

#include "json/reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void rewrite_text(const skv_json_reader *reader, skv_json_writer *writer, bool name)
{
    char *plain = malloc(reader->len ? reader->len : 1);
    size_t len = skv_json_unescape(reader->text, reader->len, plain);

    assert(reader->escaped ? len < reader->len : len == reader->len);
    if (name)
        skv_json_write_name(writer, plain, len);
    else
        skv_json_write_string(writer, plain, len);
    free(plain);
}

static void rewrite_double(const skv_json_reader *reader, skv_json_writer *writer)
{
    char text[SKV_JSON_NUMBER_MAX + 1];
    double number;
    bool finite;

    assert(reader->len < sizeof text);
    memcpy(text, reader->text, reader->len);
    text[reader->len] = '\0';
    number = strtod(text, NULL);
    assert(!reader->exact || memcmp(&reader->real, &number, sizeof number) == 0);
    finite = skv_json_write_double(writer, number);
    assert(finite);
    (void)finite;
}

static void rewrite_token(const skv_json_reader *reader, skv_json_token token, skv_json_writer *writer)
{
    switch (token) {
    case SKV_JSON_OBJECT:
        skv_json_begin_object(writer);
        break;
    case SKV_JSON_OBJECT_END:
        skv_json_end_object(writer);
        break;
    case SKV_JSON_ARRAY:
        skv_json_begin_array(writer);
        break;
    case SKV_JSON_ARRAY_END:
        skv_json_end_array(writer);
        break;
    case SKV_JSON_NAME:
    case SKV_JSON_STRING:
        rewrite_text(reader, writer, token == SKV_JSON_NAME);
        break;
    case SKV_JSON_INT:
        skv_json_write_int(writer, reader->integer);
        break;
    case SKV_JSON_DOUBLE:
        rewrite_double(reader, writer);
        break;
    case SKV_JSON_NULL:
        skv_json_write_null(writer);
        break;
    default:
        skv_json_write_bool(writer, token == SKV_JSON_TRUE);
    }
}

/* Whether the document was read to its end. The bytes are copied into a block of just their size first, so that
 * AddressSanitizer sees a read beyond them. */
static bool rewrite(const char *bytes, size_t len, skv_buf *out)
{
    char *exact = malloc(len ? len : 1);
    skv_json_reader reader;
    skv_json_writer writer;
    skv_json_token token;

    if (len)
        memcpy(exact, bytes, len);
    skv_json_read_init(&reader, exact, len);
    skv_json_write_init(&writer, out);
    while ((token = skv_json_read(&reader)) != SKV_JSON_END && token != SKV_JSON_REFUSED)
        rewrite_token(&reader, token, &writer);
    assert(skv_json_read(&reader) == token);
    free(exact);
    return token == SKV_JSON_END;
}

#endif
