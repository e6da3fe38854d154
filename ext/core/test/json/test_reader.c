/* The JSON reader. */
#include "check.h"
#include "json_tree.h"

static void reads_or_refuses(const test_case *c)
{
    bool expected = strcmp(c->field[1], "read") == 0;

    CHECK(expected || strcmp(c->field[1], "refused") == 0);
    CHECK(reads(c->field[0], c->len[0]) == expected);
}

static void every_prefix_of_a_document_is_refused(void)
{
    static const char document[] =
        "{\"value\":[\"a\\ud83d\\ude00\xc3\xa9\",-1.5e+3,true,false,null,{\"\":{}}],\"b\":[]}";

    for (size_t len = 0; len < strlen(document); len++)
        CHECK(!reads(document, len));
    CHECK(reads(document, strlen(document)));
}

static void nesting_ends_at_a_hundred(void)
{
    char document[2 * SKV_DOCUMENT_DEPTH_MAX + 2];

    memset(document, '[', SKV_DOCUMENT_DEPTH_MAX + 1);
    memset(document + SKV_DOCUMENT_DEPTH_MAX + 1, ']', SKV_DOCUMENT_DEPTH_MAX + 1);
    CHECK(!reads(document, sizeof document));
    CHECK(reads(document + 1, sizeof document - 2));
}

int main(void)
{
    each_case("json.tsv", reads_or_refuses);
    every_prefix_of_a_document_is_refused();
    nesting_ends_at_a_hundred();
    return check_summary("json_read");
}
