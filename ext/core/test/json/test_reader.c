/* The JSON reader: what it reads, the writer spells. */
#include "check.h"
#include "rewrite.h"

#include <string.h>

static void reads_or_refuses(const test_case *c)
{
    bool expected = strcmp(c->field[1], "read") == 0;
    skv_buf out;

    CHECK(expected || strcmp(c->field[1], "refused") == 0);
    skv_buf_init(&out, 1000);
    CHECK(rewrite(c->field[0], c->len[0], &out) == expected);
    if (expected)
        CHECK(out.len == c->len[2] && memcmp(out.bytes, c->field[2], out.len) == 0);
    skv_buf_free(&out);
}

static void every_prefix_of_a_document_is_refused(void)
{
    static const char document[] =
        "{\"value\":[\"a\\ud83d\\ude00\xc3\xa9\",-1.5e+3,true,false,null,{\"\":{}}],\"b\":[]}";
    skv_buf out;

    skv_buf_init(&out, 1000);
    for (size_t len = 0; len < strlen(document); len++)
        CHECK(!rewrite(document, len, &out));
    CHECK(rewrite(document, strlen(document), &out));
    skv_buf_free(&out);
}

static void nesting_ends_at_a_hundred(void)
{
    char document[2 * SKV_JSON_DEPTH_MAX + 2];
    skv_buf out;

    skv_buf_init(&out, 1000);
    memset(document, '[', SKV_JSON_DEPTH_MAX + 1);
    memset(document + SKV_JSON_DEPTH_MAX + 1, ']', SKV_JSON_DEPTH_MAX + 1);
    CHECK(!rewrite(document, sizeof document, &out));
    CHECK(rewrite(document + 1, sizeof document - 2, &out));
    skv_buf_free(&out);
}

int main(void)
{
    each_case("json.tsv", reads_or_refuses);
    every_prefix_of_a_document_is_refused();
    nesting_ends_at_a_hundred();
    return check_summary("json_read");
}
