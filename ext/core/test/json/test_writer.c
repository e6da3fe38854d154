/* The JSON writer. What the reader's table says it writes is checked in test_reader.c. */
#include "chaos.h"
#include "check.h"
#include "json/writer.h"

#include <math.h>
#include <string.h>

static const char *text_of(const skv_buf *buf)
{
    return buf->bytes ? buf->bytes : "";
}

static void write_envelope(skv_json_writer *writer)
{
    skv_json_begin_object(writer);
    skv_json_write_name(writer, "value", 5);
    skv_json_begin_array(writer);
    skv_json_write_null(writer);
    skv_json_write_bool(writer, true);
    skv_json_write_bool(writer, false);
    skv_json_write_int(writer, -12);
    skv_json_write_double(writer, 1.5);
    skv_json_write_digits(writer, "123456789012345678901234567890", 30);
    skv_json_write_string(writer, "a\"b", 3);
    skv_json_begin_object(writer);
    skv_json_end_object(writer);
    skv_json_end_array(writer);
    skv_json_write_name(writer, "metadata", 8);
    skv_json_begin_object(writer);
    skv_json_write_name(writer, "a\n", 2);
    skv_json_write_int(writer, 1);
    skv_json_write_name(writer, "", 0);
    skv_json_write_string(writer, "", 0);
    skv_json_end_object(writer);
    skv_json_end_object(writer);
}

static void commas_stand_between_values_and_members(void)
{
    skv_json_writer writer;
    skv_buf buf;

    skv_buf_init(&buf, 1000);
    skv_json_write_init(&writer, &buf);
    write_envelope(&writer);
    if (skv_buf_failed(&buf))
        CHECK(buf.no_memory);
    else
        CHECK_STR(text_of(&buf), "{\"value\":[null,true,false,-12,1.5,123456789012345678901234567890,\"a\\\"b\",{}],"
                                 "\"metadata\":{\"a\\n\":1,\"\":\"\"}}");
    skv_buf_free(&buf);
}

static void too_long_a_document_fails_the_buffer(void)
{
    for (size_t max = 0; max < 100; max++) {
        skv_json_writer writer;
        skv_buf buf;

        skv_buf_init(&buf, max);
        skv_json_write_init(&writer, &buf);
        write_envelope(&writer);
        CHECK(buf.too_large && buf.len <= max);
        skv_buf_free(&buf);
    }
}

static void integers_are_written_to_the_limits(void)
{
    static const struct {
        int64_t number;
        const char *text;
    } cases[] = {{0, "0"},
                 {9, "9"},
                 {10, "10"},
                 {-1, "-1"},
                 {INT64_MAX, "9223372036854775807"},
                 {INT64_MIN, "-9223372036854775808"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_json_writer writer;
        skv_buf buf;

        skv_buf_init(&buf, 100);
        skv_json_write_init(&writer, &buf);
        skv_json_write_int(&writer, cases[i].number);
        CHECK_STR(text_of(&buf), cases[i].text);
        skv_buf_free(&buf);
    }
}

static void numbers_that_are_none_are_refused(void)
{
    skv_json_writer writer;
    skv_buf buf;

    skv_buf_init(&buf, 100);
    skv_json_write_init(&writer, &buf);
    CHECK(!skv_json_write_double(&writer, (double)NAN));
    CHECK(!skv_json_write_double(&writer, (double)INFINITY));
    CHECK(!skv_json_write_double(&writer, -(double)INFINITY));
    CHECK(buf.len == 0);
    skv_buf_free(&buf);
}

/* Each character below 0x80, at each place of the eight that are looked at together. */
static void only_quotes_backslashes_and_controls_are_escaped(void)
{
    for (int c = 0; c < 0x80; c++) {
        for (size_t at = 0; at < 20; at++) {
            char in[20], expected[32];
            skv_json_writer writer;
            skv_buf buf;
            const char *letter = strchr("\bb\ff\nn\rr\tt", c);

            memset(in, 'x', sizeof in);
            in[at] = (char)c;
            if (c == '"' || c == '\\')
                snprintf(expected, sizeof expected, "\"%.*s\\%c", (int)at, in, c);
            else if (c && c < 0x20 && letter)
                snprintf(expected, sizeof expected, "\"%.*s\\%c", (int)at, in, letter[1]);
            else if (c < 0x20)
                snprintf(expected, sizeof expected, "\"%.*s\\u%04x", (int)at, in, (unsigned int)c);
            else
                snprintf(expected, sizeof expected, "\"%.*s%c", (int)at, in, c);
            skv_buf_init(&buf, 100);
            skv_json_write_init(&writer, &buf);
            skv_json_write_string(&writer, in, sizeof in);
            CHECK(strncmp(text_of(&buf), expected, strlen(expected)) == 0);
            CHECK(buf.len == strlen(expected) + (sizeof in - at - 1) + 1);
            CHECK(text_of(&buf)[buf.len - 1] == '"');
            skv_buf_free(&buf);
        }
    }
}

static void text_beyond_ascii_is_left_as_it_is(void)
{
    static const char text[] = "\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\x7f/\xf4\x8f\xbf\xbf";
    skv_json_writer writer;
    skv_buf buf;

    skv_buf_init(&buf, 100);
    skv_json_write_init(&writer, &buf);
    skv_json_write_string(&writer, text, strlen(text));
    CHECK(buf.len == strlen(text) + 2 && memcmp(buf.bytes + 1, text, strlen(text)) == 0);
    skv_buf_free(&buf);
}

static void nesting_ends_at_a_hundred(void)
{
    skv_json_writer writer;
    skv_buf buf;

    skv_buf_init(&buf, 1000);
    skv_json_write_init(&writer, &buf);
    for (int i = 0; i < SKV_JSON_DEPTH_MAX; i++) {
        CHECK(skv_json_begin_object(&writer));
        skv_json_write_name(&writer, "a", 1);
    }
    CHECK(!skv_json_begin_object(&writer));
    CHECK(!skv_json_begin_array(&writer));
    skv_json_write_null(&writer);
    for (int i = 0; i < SKV_JSON_DEPTH_MAX; i++)
        skv_json_end_object(&writer);
    CHECK(buf.len == (size_t)SKV_JSON_DEPTH_MAX * 6 + 4);
    skv_buf_free(&buf);
}

int main(void)
{
    chaos(commas_stand_between_values_and_members);
    too_long_a_document_fails_the_buffer();
    integers_are_written_to_the_limits();
    numbers_that_are_none_are_refused();
    only_quotes_backslashes_and_controls_are_escaped();
    text_beyond_ascii_is_left_as_it_is();
    nesting_ends_at_a_hundred();
    return check_summary("json_write");
}
