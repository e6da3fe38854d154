/* json/writer.h - writes JSON into a buffer, as it goes, in the very spelling of MRI's json. */
#ifndef SKV_JSON_WRITER_H
#define SKV_JSON_WRITER_H

#include "base/buf.h"

#include <stdint.h>

/* How deep arrays and objects may be nested, the outermost counted: as in JSON.generate and JSON.parse. */
#define SKV_JSON_DEPTH_MAX 100

/*
 * Commas and colons are the writer's affair; that a name comes before each member's value, and that ends match begins,
 * the caller's. Memory is the buffer's, which the caller owns and asks at the end whether it failed.
 */
typedef struct skv_json_writer {
    skv_buf *out; /* borrowed */
    int depth;
    bool comma; /* whether the next value or name needs one */
} skv_json_writer;

/* Makes a writer that appends to `out`. */
void skv_json_write_init(skv_json_writer *writer, skv_buf *out);

void skv_json_write_null(skv_json_writer *writer);
void skv_json_write_bool(skv_json_writer *writer, bool value);
void skv_json_write_int(skv_json_writer *writer, int64_t value);

/* Writes an integer that does not fit, given as its digits. */
void skv_json_write_digits(skv_json_writer *writer, const char *digits, size_t len);

/* False, and nothing written, for NaN and the infinities. */
bool skv_json_write_double(skv_json_writer *writer, double value);

/* Write a string and a member's name. The bytes must be UTF-8, which is not checked here. */
void skv_json_write_string(skv_json_writer *writer, const char *bytes, size_t len);
void skv_json_write_name(skv_json_writer *writer, const char *bytes, size_t len);

/* Begin an object or an array. False, and nothing written, when it would be nested too deeply. */
bool skv_json_begin_object(skv_json_writer *writer);
bool skv_json_begin_array(skv_json_writer *writer);
void skv_json_end_object(skv_json_writer *writer);
void skv_json_end_array(skv_json_writer *writer);

#endif
