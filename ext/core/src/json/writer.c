#include "json/writer.h"

#include "simpkv.h"
#include "json/text.h"

#include <string.h>

void skv_json_write_init(skv_json_writer *writer, skv_buf *out)
{
    *writer = (skv_json_writer){.out = out};
}

/* What stands before a value or a name. */
static void separate(skv_json_writer *writer)
{
    if (writer->comma)
        skv_buf_put_char(writer->out, ',');
    writer->comma = true;
}

static void put_scalar(skv_json_writer *writer, const char *text, size_t len)
{
    separate(writer);
    skv_buf_put(writer->out, text, len);
}

void skv_json_write_null(skv_json_writer *writer)
{
    put_scalar(writer, "null", 4);
}

void skv_json_write_bool(skv_json_writer *writer, bool value)
{
    put_scalar(writer, value ? "true" : "false", value ? 4 : 5);
}

void skv_json_write_int(skv_json_writer *writer, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char text[20];
    char *start = text + sizeof text;

    do
        *--start = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--start = '-';
    put_scalar(writer, start, (size_t)(text + sizeof text - start));
}

void skv_json_write_digits(skv_json_writer *writer, const char *digits, size_t len)
{
    put_scalar(writer, digits, len);
}

bool skv_json_write_double(skv_json_writer *writer, double value)
{
    char text[SKV_DOUBLE_MAX];
    size_t len = skv_format_double(value, text);

    if (!len)
        return false;
    put_scalar(writer, text, len);
    return true;
}

/* ---- Strings ---------------------------------------------------------------------------------------------------- */

static void put_escape(skv_buf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[0x20] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    char text[6] = {'\\', (char)c};
    size_t len = 2;

    if (c < 0x20 && letters[c]) {
        text[1] = letters[c];
    } else if (c < 0x20) {
        memcpy(text, "\\u00", 4);
        text[4] = hex[c >> 4];
        text[5] = hex[c & 15];
        len = 6;
    }
    skv_buf_put(out, text, len);
}

static void put_quoted(skv_buf *out, const char *bytes, size_t len)
{
    uint64_t seen = 0;

    /* Mostly there is nothing to escape, and then this is all the room that is needed. */
    skv_buf_reserve(out, len + 2);
    skv_buf_put_char(out, '"');
    while (len) {
        size_t plain = skv_json_plain_span(bytes, len, &seen);

        skv_buf_put(out, bytes, plain);
        if (plain < len)
            put_escape(out, (unsigned char)bytes[plain++]);
        bytes += plain;
        len -= plain;
        if (skv_buf_failed(out))
            return;
    }
    skv_buf_put_char(out, '"');
}

void skv_json_write_string(skv_json_writer *writer, const char *bytes, size_t len)
{
    separate(writer);
    put_quoted(writer->out, bytes, len);
}

void skv_json_write_name(skv_json_writer *writer, const char *bytes, size_t len)
{
    separate(writer);
    put_quoted(writer->out, bytes, len);
    skv_buf_put_char(writer->out, ':');
    writer->comma = false;
}

/* ---- Nesting ---------------------------------------------------------------------------------------------------- */

static bool begin(skv_json_writer *writer, char bracket)
{
    if (writer->depth == SKV_JSON_DEPTH_MAX)
        return false;
    writer->depth++;
    separate(writer);
    skv_buf_put_char(writer->out, bracket);
    writer->comma = false;
    return true;
}

static void end(skv_json_writer *writer, char bracket)
{
    writer->depth--;
    skv_buf_put_char(writer->out, bracket);
    writer->comma = true;
}

bool skv_json_begin_object(skv_json_writer *writer)
{
    return begin(writer, '{');
}

bool skv_json_begin_array(skv_json_writer *writer)
{
    return begin(writer, '[');
}

void skv_json_end_object(skv_json_writer *writer)
{
    end(writer, '}');
}

void skv_json_end_array(skv_json_writer *writer)
{
    end(writer, ']');
}
