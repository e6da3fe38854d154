/* json_tree.h - reads a document with the extension's reader and with jansson: for the reader's tests and fuzz target.
 */
#ifndef SKV_TEST_JSON_TREE_H
#define SKV_TEST_JSON_TREE_H

#include "json/reader.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *tree_of(skv_json_reader *reader, skv_json_token token);

/* NULL if the text is not UTF-8. */
static json_t *text_tree(const skv_json_reader *reader)
{
    char *plain = malloc(reader->len ? reader->len : 1);
    size_t len = skv_json_unescape(reader->text, reader->len, plain);
    json_t *text = json_stringn(plain, len);

    assert(reader->escaped ? len < reader->len : len == reader->len);
    assert(text || !reader->ascii);
    free(plain);
    return text;
}

static json_t *double_tree(const skv_json_reader *reader)
{
    char text[SKV_JSON_NUMBER_MAX + 1];
    double number;

    assert(reader->len < sizeof text);
    memcpy(text, reader->text, reader->len);
    text[reader->len] = '\0';
    number = strtod(text, NULL);
    assert(!reader->exact || memcmp(&reader->real, &number, sizeof number) == 0);
    return json_real(number);
}

static json_t *array_tree(skv_json_reader *reader)
{
    json_t *array = json_array();
    skv_json_token token;

    while ((token = skv_json_read(reader)) != SKV_JSON_ARRAY_END) {
        if (json_array_append_new(array, tree_of(reader, token)) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* A name with a NUL, which jansson does not take, is cut at the NUL. */
static json_t *object_tree(skv_json_reader *reader)
{
    json_t *object = json_object();
    skv_json_token token;

    while ((token = skv_json_read(reader)) != SKV_JSON_OBJECT_END) {
        json_t *name = token == SKV_JSON_NAME ? text_tree(reader) : NULL;
        json_t *value = name ? tree_of(reader, skv_json_read(reader)) : NULL;
        bool valid = value && json_object_set_new(object, json_string_value(name), value) == 0;

        json_decref(name);
        if (!valid) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* Returns NULL if the reader refuses the value, or a text in it is not UTF-8. */
static json_t *tree_of(skv_json_reader *reader, skv_json_token token)
{
    switch (token) {
    case SKV_JSON_OBJECT:
        return object_tree(reader);
    case SKV_JSON_ARRAY:
        return array_tree(reader);
    case SKV_JSON_STRING:
        return text_tree(reader);
    case SKV_JSON_INT:
        return json_integer(reader->integer);
    case SKV_JSON_DOUBLE:
        return double_tree(reader);
    case SKV_JSON_TRUE:
    case SKV_JSON_FALSE:
        return json_boolean(token == SKV_JSON_TRUE);
    case SKV_JSON_NULL:
        return json_null();
    default:
        assert(skv_json_read(reader) == token);
        return NULL;
    }
}

static void jansson_reads_the_same(const char *bytes, size_t len, const json_t *tree)
{
    json_error_t error;
    json_t *theirs = json_loadb(bytes, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

    assert(theirs ? json_equal(tree, theirs) : json_error_code(&error) == json_error_null_byte_in_key);
    json_decref(theirs);
}

/* Returns true if the reader reads the document to its end; jansson then must read the same. The reader gets a block of
 * exactly the document's size, so that AddressSanitizer sees a read beyond its end. */
static bool reads(const char *bytes, size_t len)
{
    char *exact = malloc(len ? len : 1);
    skv_json_reader reader;
    json_t *tree;
    bool complete;

    if (len)
        memcpy(exact, bytes, len);
    skv_json_read_init(&reader, exact, len);
    tree = tree_of(&reader, skv_json_read(&reader));
    complete = tree && skv_json_read(&reader) == SKV_JSON_END;
    if (complete)
        jansson_reads_the_same(bytes, len, tree);
    json_decref(tree);
    free(exact);
    return complete;
}

#endif
