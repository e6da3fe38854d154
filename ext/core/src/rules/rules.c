#include "rules/limits.h"
#include "rules/rule.h"
#include "json/tree.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- The list of rules ---- */

/* Puts the rule and the place before the reason of a failure. */
static void put_place(const skv_reader *reader, const char *uuid)
{
    const char *place = reader->place.bytes && reader->place.len ? reader->place.bytes : NULL;
    skv_reply *reply = reader->reply;
    char *reason;

    if (reply->status == SKV_NOMEM)
        return;
    reason = skv_copy_string(reply->message, strlen(reply->message));
    skv_reply_reset(reply);
    if (!reason)
        skv_fail_memory(reply);
    else
        skv_fail(reply, SKV_INVALID, "%s%s%s%s%s%s", uuid ? "rule " : "", uuid ? uuid : "", uuid ? ": " : "",
                 place ? place : "", place ? ": " : "", reason);
    skv_free(reason);
}

static skv_status read_rule_list(skv_rules *rules, json_t *list, skv_reader *reader)
{
    size_t count = json_array_size(list);

    rules->rules = skv_alloc_zeroed(count, sizeof *rules->rules);
    if (!rules->rules)
        return skv_fail_memory(reader->reply);
    while (rules->count < count) {
        skv_rule *rule = &rules->rules[rules->count++];

        if (skv_deadline_check_work(reader->deadline) != SKV_OK)
            return skv_fail(reader->reply, SKV_INTERRUPTED, "interrupted");
        reader->rule = (skv_compiled){0};
        if (skv_rule_read(rule, json_array_get(list, rules->count - 1), reader) != SKV_OK) {
            put_place(reader, rule->uuid);
            return reader->reply->status;
        }
        rule->number = (int)rules->count;
    }
    return SKV_OK;
}

/* Phase, then priority, then the position in the list. */
static int compare_rules(const void *first, const void *second)
{
    const skv_rule *a = first, *b = second;

    if (a->phase != b->phase)
        return a->phase < b->phase ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void sort_rules(skv_rules *rules)
{
    qsort(rules->rules, rules->count, sizeof *rules->rules, compare_rules);
    for (size_t i = 0; i < rules->count; i++)
        rules->rules[i].number = (int)i;
}

/* ---- The whole document ---- */

static skv_status read_site_actions(json_t *list, skv_reader *reader)
{
    reader->actions = json_object();
    if (list && !json_is_array(list))
        return skv_fail(reader->reply, SKV_INVALID, "the member 'actions' of the rules is not a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = skv_text_of(json_array_get(list, i));

        if (!name || !*name)
            return skv_fail(reader->reply, SKV_INVALID, "the name of a site action is not a string");
        if (skv_action_named(name))
            return skv_fail(reader->reply, SKV_INVALID, "a site action has the name of the action '%s': rename it",
                            name);
        skv_json_put(&reader->actions, name, json_true());
        if (!reader->actions)
            break;
    }
    return reader->actions ? SKV_OK : skv_fail_memory(reader->reply);
}

static skv_status read_document(skv_rules *rules, skv_reader *reader)
{
    static const char *const members[] = {"rules", "actions", NULL};
    json_t *list = json_object_get(rules->tree, "rules");

    if (!json_is_array(list))
        return skv_fail(reader->reply, SKV_INVALID, "the rules are not an object with a list 'rules'");
    if (json_array_size(list) > SKV_RULES_MAX)
        return skv_fail(reader->reply, SKV_INVALID, "%zu rules: %d are allowed", json_array_size(list), SKV_RULES_MAX);
    if (skv_refuse_unknown(reader, rules->tree, members) != SKV_OK) {
        put_place(reader, NULL);
        return reader->reply->status;
    }
    if (read_site_actions(json_object_get(rules->tree, "actions"), reader) != SKV_OK)
        return reader->reply->status;
    return read_rule_list(rules, list, reader);
}

static void read_tree(skv_rules *rules, const char *json, size_t json_len, skv_deadline *deadline, skv_reply *reply)
{
    skv_reader reader = {.deadline = deadline, .reply = reply};
    json_error_t error;

    if (json_len > SKV_RULES_SIZE_MAX) {
        skv_fail(reply, SKV_INVALID, "the rules have %zu bytes of JSON: %d are allowed", json_len, SKV_RULES_SIZE_MAX);
        return;
    }
    skv_buf_init(&reader.place, SIZE_MAX);
    rules->tree = skv_json_load(json, json_len, JSON_ALLOW_NUL, &error, reply);
    if (!rules->tree)
        skv_json_fail_syntax("the rules are", &error, reply);
    else if (read_document(rules, &reader) == SKV_OK)
        sort_rules(rules);
    if (reply->status == SKV_OK && reader.place.no_memory)
        skv_fail_memory(reply);
    json_decref(reader.actions);
    skv_buf_free(&reader.place);
}

skv_rules *skv_rules_new(const char *json, size_t json_len, skv_cancel *cancel, skv_reply *reply)
{
    skv_deadline deadline;
    skv_rules *rules;

    if (skv_reply_begin(reply) != SKV_OK)
        return NULL;
    if (!json) {
        skv_fail(reply, SKV_INVALID, "the rules are NULL");
        return NULL;
    }
    rules = skv_alloc_zeroed(1, sizeof *rules);
    if (!rules) {
        skv_fail_memory(reply);
        return NULL;
    }
    if (skv_deadline_init(&deadline, INT64_MAX, cancel, reply) == SKV_OK)
        read_tree(rules, json, json_len, &deadline, reply);
    if (reply->status == SKV_OK)
        return rules;
    skv_rules_free(rules);
    return NULL;
}

/* The texts of rules may be secrets. */
void skv_rules_free(skv_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        skv_rule_free(&rules->rules[i]);
    skv_free(rules->rules);
    json_decref(rules->tree);
    skv_free(rules);
}
