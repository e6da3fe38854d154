/* JSON that the core writes, and its size. */
#include "json/writer.h"

#include "check.h"
#include "json_text.h"

#include <locale.h>

static const struct json_case {
    const char *json, *text;
} cases[] = {{"''", "\"\""},
             {"null", "null"},
             {"true", "true"},
             {"false", "false"},
             {"0", "0"},
             {"-9223372036854775808", "-9223372036854775808"},
             {"9007199254740993", "9007199254740993"},
             {"0.1", "0.1"},
             {"1.50", "1.5"},
             {"1e2", "100.0"},
             {"1e300", "1.0e+300"},
             {"[ ]", "[]"},
             {"{ }", "{}"},
             {"[1, 'a', null]", "[1,\"a\",null]"},
             {"{'b': 1, 'a': {'x': [true, 2.5]}}", "{\"b\":1,\"a\":{\"x\":[true,2.5]}}"},
             {"['\\\" \\\\ / \\b\\f\\n\\r\\t \\u0000\\u001f\\u007f \xc3\xa9']",
              "[\"\\\" \\\\ / \\b\\f\\n\\r\\t \\u0000\\u001f\x7f \xc3\xa9\"]"},
             {"{'a\\\"b': 1}", "{\"a\\\"b\":1}"}};

static void check_case(const struct json_case *c)
{
    json_t *tree = json_of(c->json), *back;
    skv_buf json;

    skv_buf_init(&json, 1000);
    skv_json_put_tree(&json, tree);
    CHECK(!skv_buf_failed(&json));
    CHECK_STR(json.bytes, c->text);
    back = json_loadb(json.bytes, json.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    CHECK(back && json_equal(back, tree));
    CHECK(skv_json_size(tree, SIZE_MAX) == json.len);
    CHECK(skv_json_size(tree, json.len) == json.len);
    CHECK(skv_json_size(tree, json.len - 1) > json.len - 1);
    json_decref(back);
    skv_buf_free(&json);
    json_decref(tree);
}

static void json_is_compact(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

static void the_decimal_point_does_not_follow_the_locale(void)
{
    json_t *tree = json_of("[1.5, 1234567]");
    skv_buf json;

    CHECK(setlocale(LC_ALL, "de_DE.UTF-8") != NULL);
    skv_buf_init(&json, 1000);
    skv_json_put_tree(&json, tree);
    CHECK_STR(json.bytes, "[1.5,1234567]");
    setlocale(LC_ALL, "C");
    skv_buf_free(&json);
    json_decref(tree);
}

static void json_above_the_maximum_of_the_buffer_is_too_large(void)
{
    json_t *tree = json_of("['aaaa', {'b': 'cccc'}]");
    skv_buf json;

    for (size_t max = 0; max < strlen("['aaaa',{'b':'cccc'}]"); max++) {
        skv_buf_init(&json, max);
        skv_json_put_tree(&json, tree);
        CHECK(json.too_large && json.len <= max);
        skv_buf_free(&json);
    }
    json_decref(tree);
}

static void counting_stops_above_the_maximum(void)
{
    json_t *tree = json_array();
    size_t size;

    for (int i = 0; i < 100000; i++)
        json_array_append_new(tree, json_null());
    size = skv_json_size(tree, 100);
    CHECK(size > 100 && size < 200);
    json_decref(tree);
}

static void a_tree_that_is_nested_too_deeply_has_no_text(void)
{
    json_t *deepest = nested_lists(SKV_TREE_DEPTH_MAX), *deeper = nested_lists(SKV_TREE_DEPTH_MAX + 1);
    skv_buf json;

    skv_buf_init(&json, 1000);
    skv_json_put_tree(&json, deepest);
    CHECK(!skv_buf_failed(&json) && json.len == 2 * SKV_TREE_DEPTH_MAX + 4);
    CHECK(skv_json_size(deeper, 1000) > 1000);
    skv_json_put_tree(&json, deeper);
    CHECK(json.too_large);
    skv_buf_free(&json);
    json_decref(deeper);
    json_decref(deepest);
}

int main(void)
{
    json_is_compact();
    the_decimal_point_does_not_follow_the_locale();
    json_above_the_maximum_of_the_buffer_is_too_large();
    counting_stops_above_the_maximum();
    a_tree_that_is_nested_too_deeply_has_no_text();
    return check_summary("json_writer");
}
