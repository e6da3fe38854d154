/* The comparison of documents. */
#include "chaos.h"
#include "check.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void compares_both_ways(const test_case *c)
{
    skv_reply *reply = skv_reply_new();
    bool expected = strcmp(c->field[2], "same") == 0;

    CHECK(expected || strcmp(c->field[2], "differ") == 0);
    CHECK(skv_document_same(c->field[0], c->len[0], c->field[1], c->len[1], reply) == SKV_OK);
    CHECK(skv_reply_number(reply) == expected);
    CHECK(skv_document_same(c->field[1], c->len[1], c->field[0], c->len[0], reply) == SKV_OK);
    CHECK(skv_reply_number(reply) == expected);
    skv_reply_free(reply);
}

/* Writes {"value":[[[...]]]} with `depth` brackets in all, and `space` after the colon. */
static char *nested(int depth, const char *space)
{
    size_t size = (size_t)depth * 2 + 32;
    char *document = malloc(size);
    int len = snprintf(document, size, "{\"value\":%s", space);

    memset(document + len, '[', (size_t)depth - 1);
    memset(document + len + depth - 1, ']', (size_t)depth - 1);
    memcpy(document + len + 2 * (depth - 1), "}", 2);
    return document;
}

static bool nested_is_same(int depth)
{
    skv_reply *reply = skv_reply_new();
    char *a = nested(depth, ""), *b = nested(depth, " ");
    bool same;

    CHECK(skv_document_same(a, strlen(a), b, strlen(b), reply) == SKV_OK);
    same = skv_reply_number(reply);
    free(a);
    free(b);
    skv_reply_free(reply);
    return same;
}

static void nesting_is_bounded(void)
{
    CHECK(nested_is_same(2));
    CHECK(nested_is_same(100));
    CHECK(!nested_is_same(101));
    CHECK(!nested_is_same(2000));
    CHECK(!nested_is_same(100000));
}

static void spellings_of_a_number_are_alike_in_any_locale(void)
{
    static const char a[] = "{\"value\":1.5}", b[] = "{\"value\":15e-1}", c[] = "{\"value\":1.25}";
    skv_reply *reply = skv_reply_new();

    CHECK(setlocale(LC_ALL, "de_DE.UTF-8") != NULL);
    skv_document_same(a, strlen(a), b, strlen(b), reply);
    CHECK(skv_reply_number(reply) == 1);
    skv_document_same(a, strlen(a), c, strlen(c), reply);
    CHECK(skv_reply_number(reply) == 0);
    setlocale(LC_ALL, "C");
    skv_reply_free(reply);
}

/* When memory runs out, a call returns SKV_NOMEM, or 0 for different documents: never 1. */
static void lack_of_memory_makes_nothing_the_same(void)
{
    static const char a[] = "{\"value\":[\"a long enough text\",{\"a\":1.5}],\"metadata\":{\"x\":\"y\"}}";
    static const char b[] = "{\"value\":[\"a long enough text\",{\"a\":15e-1}],\"metadata\":{\"x\": \"y\"}}";
    static const char c[] = "{\"value\":[\"a long enough text\",{\"a\":1.5}],\"metadata\":{\"x\": \"z\"}}";
    skv_reply *reply = skv_reply_new();
    int status;

    if (!reply)
        return;
    status = skv_document_same(a, strlen(a), b, strlen(b), reply);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = skv_document_same(a, strlen(a), c, strlen(c), reply);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    CHECK(skv_reply_number(reply) == 0);
    skv_reply_free(reply);
}

static void a_missing_document_is_invalid(void)
{
    skv_reply *reply = skv_reply_new();

    CHECK(skv_document_same(NULL, 1, "x", 1, reply) == SKV_INVALID);
    CHECK(skv_document_same("x", 1, NULL, 1, reply) == SKV_INVALID);
    CHECK(skv_document_same(NULL, 0, NULL, 0, reply) == SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    skv_reply_free(reply);
}

int main(void)
{
    each_case("documents.tsv", compares_both_ways);
    nesting_is_bounded();
    spellings_of_a_number_are_alike_in_any_locale();
    chaos(lack_of_memory_makes_nothing_the_same);
    a_missing_document_is_invalid();
    return check_summary("document");
}
