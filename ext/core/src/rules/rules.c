#include "json/locale.h"
#include "json/tree.h"

#include <string.h>

struct skv_rules {
    json_t *tree;
};

skv_rules *skv_rules_new(const char *json, size_t json_len, skv_reply *reply)
{
    skv_rules *rules;
    skv_locale locale;

    if (!reply)
        return NULL;
    skv_reply_reset(reply);
    if (!json) {
        skv_fail(reply, SKV_INVALID, "the rules are NULL");
        return NULL;
    }
    if (skv_locale_enter(&locale, reply) != SKV_OK)
        return NULL;
    rules = skv_alloc_zeroed(1, sizeof *rules);
    if (!rules)
        skv_fail_memory(reply);
    else
        rules->tree = json_loadb(json, json_len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (rules && !json_is_array(json_object_get(rules->tree, "rules"))) {
        skv_fail(reply, SKV_INVALID, "the rules are not an object with a list 'rules'");
        skv_rules_free(rules);
        rules = NULL;
    }
    skv_locale_leave(&locale);
    return rules;
}

void skv_rules_free(skv_rules *rules)
{
    if (!rules)
        return;
    skv_json_free_wiped(rules->tree);
    skv_free(rules);
}

static json_t *copy_member(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);

    return value ? json_incref(value) : json_object();
}

skv_status skv_rules_inspect(const skv_rules *rules, const char *input, size_t input_len, skv_reply *reply)
{
    json_t *tree, *output;
    skv_locale locale;

    if (!reply)
        return SKV_INVALID;
    skv_reply_reset(reply);
    if (!rules || !input)
        return skv_fail(reply, SKV_INVALID, "the rules or the input are NULL");
    if (skv_locale_enter(&locale, reply) != SKV_OK)
        return reply->status;
    tree = json_loadb(input, input_len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (!json_is_object(tree)) {
        skv_fail(reply, SKV_INVALID, "the input is not an object");
    } else {
        output = json_object();
        skv_json_put(&output, "node", copy_member(tree, "node"));
        skv_json_put(&output, "plugin_data", copy_member(tree, "plugin_data"));
        skv_json_put(&output, "rules", json_array());
        skv_json_put(&output, "effects", json_array());
        skv_json_put(&output, "sensitive_paths", json_array());
        skv_json_reply(output, reply);
    }
    skv_json_free_wiped(tree);
    skv_locale_leave(&locale);
    return reply->status;
}
