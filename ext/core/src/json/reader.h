/* json/reader.h - reads JSON in one pass, token by token, and allocates no memory. Knows nothing of Ruby. */
#ifndef SKV_JSON_READER_H
#define SKV_JSON_READER_H

#include "simpkv.h"

#include <stdbool.h>

/*
 * The reader accepts a subset of what JSON.parse accepts, and gives it the same meaning. It refuses the rest: lone
 * surrogates, unknown escapes, comments, NaN, integers of more than 18 digits, numbers that might overflow or
 * underflow, and malformed JSON. After a refusal, the caller parses the document with JSON.parse.
 */
typedef enum skv_json_token {
    SKV_JSON_REFUSED, /* as are all tokens after it */
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
    int expect; /* the state: see reader.c */
    int depth;
    bool in_object[SKV_DOCUMENT_DEPTH_MAX + 1]; /* true if an object is open at that depth, from 1 on */

    /* Of the last token: */
    const char *text; /* points into the document */
    size_t len;
    bool escaped; /* text has escapes: skv_json_unescape() */
    bool ascii;   /* text is ASCII; if not, the caller checks that it is UTF-8 */
    bool exact;   /* real is the double nearest to the number in text; if not, the caller converts text */
    int64_t integer;
    double real;
} skv_json_reader;

/* Makes a reader over bytes that the caller keeps, unchanged, as long as it uses the reader. */
void skv_json_read_init(skv_json_reader *reader, const char *bytes, size_t len);

/* Returns the next token. */
skv_json_token skv_json_read(skv_json_reader *reader);

/* Writes the text of a NAME or STRING without its escapes into `out`, which has room for `len` bytes. Returns the
 * number of bytes written. */
size_t skv_json_unescape(const char *text, size_t len, char *out);

#endif
