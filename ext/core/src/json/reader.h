/* json/reader.h - reads JSON in one pass, token by token, without any memory of its own. */
#ifndef SKV_JSON_READER_H
#define SKV_JSON_READER_H

#include "json/writer.h"

/*
 * The reader accepts a part of what JSON.parse accepts, and means the same by it. Whatever is odd it refuses: bytes
 * that are not UTF-8, lone surrogates, unknown escapes, comments, NaN, integers of more than 18 digits, numbers that
 * might overflow or underflow, and of course what is no JSON. A refusal says nothing of the document: a slower reader
 * decides.
 */
typedef enum skv_json_token {
    SKV_JSON_REFUSED, /* as is everything after it */
    SKV_JSON_END,     /* of a complete document */
    SKV_JSON_OBJECT,
    SKV_JSON_OBJECT_END,
    SKV_JSON_ARRAY,
    SKV_JSON_ARRAY_END,
    SKV_JSON_NAME, /* text, escaped; the next token is the member's value */
    SKV_JSON_STRING,
    SKV_JSON_INT,    /* integer */
    SKV_JSON_DOUBLE, /* text; and real, if exact */
    SKV_JSON_TRUE,
    SKV_JSON_FALSE,
    SKV_JSON_NULL
} skv_json_token;

/* The longest text of a number. */
#define SKV_JSON_NUMBER_MAX 48

typedef struct skv_json_reader {
    const char *at, *end;
    int expect; /* what may come next, see json_read.c */
    int depth;
    bool in_object[SKV_JSON_DEPTH_MAX + 1]; /* what is open at each depth, from 1 on */

    /* Of the last token: */
    const char *text; /* points into the document */
    size_t len;
    bool escaped; /* text has escapes: skv_json_unescape() */
    bool ascii;   /* text is ASCII alone */
    bool exact;   /* real is the double nearest to the number in text; else that is for the caller to find */
    int64_t integer;
    double real;
} skv_json_reader;

/* Makes a reader over bytes that stay where they are while it is used. */
void skv_json_read_init(skv_json_reader *reader, const char *bytes, size_t len);

/* Answers the next token. */
skv_json_token skv_json_read(skv_json_reader *reader);

/* Undoes the escapes of a NAME's or STRING's text into `out`, which has room for `len` bytes; answers how many it
 * wrote: fewer than `len`. */
size_t skv_json_unescape(const char *text, size_t len, char *out);

#endif
