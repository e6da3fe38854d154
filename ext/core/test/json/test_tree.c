/* Trees of jansson that become a reply. */
#include "chaos.h"
#include "check.h"
#include "json/tree.h"

#include <string.h>

static json_t *sample_tree(void)
{
    json_t *tree = json_object(), *array = json_array();

    skv_json_append(&array, json_string("\xc3\xa9\"\n"));
    skv_json_append(&array, json_null());
    skv_json_put(&tree, "number", json_integer(-12));
    skv_json_put(&tree, "array", array);
    return tree;
}

static void a_tree_becomes_a_reply_or_memory_runs_out(void)
{
    skv_reply *reply = skv_reply_new();

    if (!reply)
        return;
    if (skv_json_reply(sample_tree(), reply) == SKV_OK)
        CHECK_STR(skv_reply_data(reply), "{\"number\":-12,\"array\":[\"\xc3\xa9\\\"\\n\",null]}");
    else
        CHECK_STATUS(reply, SKV_NOMEM);
    skv_reply_free(reply);
}

/* Longer than the first buffers of jansson's reader, which lost characters of a text when they could not grow. */
#define TEXT                                                                                                           \
    "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"

static void a_text_is_whole_or_memory_runs_out(void)
{
    static const char json[] = "{\"" TEXT "\":\"" TEXT "\"}";
    skv_reply *reply = skv_reply_new();
    json_error_t error;
    json_t *tree;

    if (!reply)
        return;
    tree = skv_json_load(json, strlen(json), 0, &error, reply);
    if (tree)
        CHECK_STR(json_string_value(json_object_get(tree, TEXT)), TEXT);
    else
        CHECK_STATUS(reply, SKV_NOMEM);
    json_decref(tree);
    skv_reply_free(reply);
}

static void a_missing_value_leaves_no_tree(void)
{
    json_t *object = json_object(), *array = json_array();
    skv_reply *reply = skv_reply_new();

    skv_json_put(&object, "a", json_string("x"));
    skv_json_put(&object, "b", NULL);
    skv_json_put(&object, "c", json_null());
    CHECK(!object);
    skv_json_append(&array, NULL);
    skv_json_append(&array, json_null());
    CHECK(!array);
    CHECK(skv_json_reply(object, reply) == SKV_NOMEM);
    skv_reply_free(reply);
}

static void a_text_beyond_the_limit_is_too_large(void)
{
    skv_reply *reply = skv_reply_new();

    reply->data.max = 10;
    CHECK(skv_json_reply(sample_tree(), reply) == SKV_TOO_LARGE);
    skv_reply_free(reply);
}

int main(void)
{
    chaos(a_tree_becomes_a_reply_or_memory_runs_out);
    chaos(a_text_is_whole_or_memory_runs_out);
    a_missing_value_leaves_no_tree();
    a_text_beyond_the_limit_is_too_large();
    return check_summary("json_tree");
}
