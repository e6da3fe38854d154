/*
 * Rules, a NUL byte, and an input, both JSON. Rules that are read apply to the input twice with the same result, which
 * is JSON; refused ones have a message. A failed inspection has no node.
 */
#include "base/reply.h"
#include "simpkv_rules.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char plain_input[] =
    "{\"phases\":[\"early\",\"preprocess\",\"main\"],\"explain\":true,\"inventory\":{\"a\":{\"b\":[1,\"x\"]},"
    "\"token\":\"t\"},\"node\":{\"auto_discovered\":true,\"parameters\":{\"role\":\"web\"},"
    "\"ports\":[{\"mac\":\"00:01\"}]},\"plugin_data\":{\"l\":[1]}}";

static void check_output(const skv_reply *reply)
{
    json_t *output = json_loadb(skv_reply_data(reply), skv_reply_size(reply), JSON_ALLOW_NUL, NULL);

    assert(output && json_is_array(json_object_get(output, "rules")) &&
           json_is_array(json_object_get(output, "effects")));
    if (json_object_get(output, "failed") || json_object_get(output, "error"))
        assert(!json_object_get(output, "node") && !json_object_get(output, "plugin_data"));
    json_decref(output);
}

static void inspect_twice(const skv_rules *rules, const char *input, size_t len)
{
    skv_reply *first = skv_reply_new(), *second = skv_reply_new();
    skv_status status = skv_rules_inspect(rules, input, len, NULL, first);

    assert(skv_rules_inspect(rules, input, len, NULL, second) == status && status != SKV_NOMEM);
    assert(skv_reply_size(first) == skv_reply_size(second));
    assert(memcmp(skv_reply_data(first), skv_reply_data(second), skv_reply_size(first)) == 0);
    if (status == SKV_OK)
        check_output(first);
    else
        assert(skv_reply_message(first)[0]);
    skv_reply_free(first);
    skv_reply_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *separator = size ? memchr(text, '\0', size) : NULL;
    size_t len = separator ? (size_t)(separator - text) : size;
    skv_reply *reply = skv_reply_new();
    skv_rules *rules = skv_rules_new(size ? text : "", len, NULL, reply);

    assert(!rules == (skv_reply_status(reply) != SKV_OK));
    assert(rules || skv_reply_message(reply)[0]);
    if (rules) {
        inspect_twice(rules, plain_input, sizeof plain_input - 1);
        if (separator)
            inspect_twice(rules, separator + 1, size - len - 1);
    }
    skv_rules_free(rules);
    skv_reply_free(reply);
    return 0;
}
