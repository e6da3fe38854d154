#include "rules/action.h"
#include "rules/condition.h"
#include "rules/input.h"
#include "rules/value.h"
#include "json/tree.h"

#include <string.h>

/* ---- The explanation ---- */

static json_t *describe_rule(const skv_inspection *inspection, bool matched)
{
    const skv_rule *rule = inspection->rule;
    json_t *description = skv_rule_object(rule, "uuid");

    skv_json_put(&description, "phase", json_string(skv_phase_name(rule->phase)));
    skv_json_put(&description, "matched", json_boolean(matched));
    if (rule->is_sensitive)
        skv_json_put(&description, "sensitive", json_true());
    return description;
}

static bool add_rule(skv_inspection *inspection, json_t *description)
{
    skv_json_append(&inspection->listed, description);
    if (!inspection->listed && inspection->reply->status == SKV_OK)
        skv_fail_memory(inspection->reply);
    return inspection->listed != NULL;
}

static json_t *explain_condition(skv_inspection *inspection)
{
    const skv_step *step = inspection->step;
    json_t *condition = json_object(), *args;

    skv_json_put(&condition, "index", json_integer(step - inspection->rule->conditions));
    skv_json_put(&condition, "op", json_sprintf("%s%s", step->is_inverted ? "!" : "", step->name));
    if (inspection->items && !inspection->item)
        return condition;
    args = skv_explain_arguments(inspection);
    if (args)
        skv_explain_value(inspection, "args", args, &condition);
    json_decref(args);
    return condition;
}

/* Adds a rule that does not match: the condition that has begun does not hold. */
static bool add_unmatched(skv_inspection *inspection)
{
    json_t *description;

    if (!inspection->explain)
        return true;
    description = describe_rule(inspection, false);
    if (!inspection->rule->is_sensitive)
        skv_json_put(&description, "condition", explain_condition(inspection));
    if (inspection->reply->status == SKV_OK)
        return add_rule(inspection, description);
    json_decref(description);
    return false;
}

/* Adds a rule that matches, with what its actions have changed. */
static bool add_matched(skv_inspection *inspection)
{
    json_t *description = describe_rule(inspection, true);

    if (inspection->changes)
        skv_json_put(&description, "actions", inspection->changes);
    inspection->changes = NULL;
    return add_rule(inspection, description);
}

/* ---- Rules ---- */

static bool test_rule(skv_inspection *inspection, bool *matched)
{
    const skv_rule *rule = inspection->rule;
    bool ok = true;

    *matched = true;
    for (size_t i = 0; i < rule->condition_count && ok && *matched; i++) {
        ok = skv_step_begin(inspection, &rule->conditions[i]) && skv_condition_test(inspection, matched);
        if (ok && !*matched)
            ok = add_unmatched(inspection);
        skv_step_end(inspection);
    }
    return ok;
}

static bool perform_rule(skv_inspection *inspection)
{
    const skv_rule *rule = inspection->rule;
    bool ok = true;

    if (inspection->explain && !rule->is_sensitive) {
        inspection->changes = json_array();
        if (!inspection->changes)
            skv_fail_memory(inspection->reply);
        ok = inspection->changes != NULL;
    }
    for (size_t i = 0; i < rule->action_count && ok && !inspection->failed; i++) {
        ok = skv_step_begin(inspection, &rule->actions[i]) && skv_action_perform(inspection);
        skv_step_end(inspection);
    }
    return add_matched(inspection) && ok;
}

static bool is_in_scope(const skv_inspection *inspection, const skv_rule *rule)
{
    const char *scope = rule->scope || rule->is_built_in ? rule->scope : inspection->default_scope;
    const char *found;

    if (rule->phase == SKV_PHASE_EARLY || !scope || !*scope)
        return true;
    found = skv_text_of(json_object_get(inspection->node.root, "scope"));
    return found && strcmp(found, scope) == 0;
}

/* Makes the failure of a rule a part of the output. */
static void record_error(skv_inspection *inspection)
{
    const skv_rule *rule = inspection->rule;
    skv_reply *reply = inspection->reply;
    json_t *error;

    if (reply->status == SKV_NOMEM || reply->status == SKV_INTERRUPTED)
        return;
    error = skv_rule_object(rule, "rule");
    if (rule->is_sensitive) {
        skv_json_put(&error, "sensitive", json_true());
    } else {
        skv_json_put(&error, "place", json_string(inspection->place.bytes ? inspection->place.bytes : ""));
        skv_json_put(&error, "message", json_string(reply->message));
    }
    inspection->error = error;
    skv_reply_reset(reply);
    if (!error || inspection->place.no_memory)
        skv_fail_memory(reply);
}

static void run_all_rules(skv_inspection *inspection, const skv_rules *rules, unsigned phases)
{
    for (size_t i = 0; i < rules->count && !inspection->failed; i++) {
        const skv_rule *rule = &rules->rules[i];
        bool matched;

        if (!(phases & 1U << rule->phase) || !is_in_scope(inspection, rule))
            continue;
        inspection->rule = rule;
        if (test_rule(inspection, &matched) && (!matched || perform_rule(inspection)))
            continue;
        record_error(inspection);
        break;
    }
}

/* ---- Output ---- */

static json_t *list_sensitive_paths(const skv_inspection *inspection)
{
    json_t *paths = json_array();

    if (inspection->failed || inspection->error)
        return paths;
    skv_mask_list(&inspection->node.mask, "/node", &paths);
    skv_mask_list(&inspection->data.mask, "/plugin_data", &paths);
    return paths;
}

static void write_output(skv_inspection *inspection)
{
    json_t *output = json_object();
    bool succeeded = !inspection->failed && !inspection->error;

    if (succeeded && inspection->node.root)
        skv_json_put(&output, "node", json_incref(inspection->node.root));
    if (succeeded)
        skv_json_put(&output, "plugin_data", json_incref(inspection->data.root));
    skv_json_put(&output, "rules", json_incref(inspection->listed));
    skv_json_put(&output, "effects", json_incref(inspection->effects));
    skv_json_put(&output, "sensitive_paths", list_sensitive_paths(inspection));
    if (inspection->failed)
        skv_json_put(&output, "failed", json_incref(inspection->failed));
    if (inspection->error)
        skv_json_put(&output, "error", json_incref(inspection->error));
    skv_json_reply(output, inspection->reply);
}

/* ---- The inspection ---- */

static void inspect_input(const skv_rules *rules, json_t *input, skv_deadline *deadline, skv_reply *reply)
{
    skv_inspection inspection = {.reply = reply,
                                 .deadline = deadline,
                                 .matcher = skv_matcher_new(deadline),
                                 .listed = json_array(),
                                 .effects = json_array()};
    unsigned phases;

    skv_buf_init(&inspection.place, SKV_MESSAGE_MAX / 4);
    skv_inspection_prepare(&inspection);
    if (!inspection.effects || !inspection.matcher || !inspection.listed)
        skv_fail_memory(reply);
    else if (skv_input_read(&inspection, input, &phases) == SKV_OK)
        run_all_rules(&inspection, rules, phases);
    if (reply->status == SKV_OK)
        write_output(&inspection);
    json_decref(inspection.masked);
    json_decref(inspection.listed);
    json_decref(inspection.error);
    json_decref(inspection.effects);
    json_decref(inspection.changes);
    json_decref(inspection.failed);
    json_decref(inspection.discovered);
    skv_mask_free(&inspection.node.mask);
    skv_mask_free(&inspection.data.mask);
    skv_matcher_free(inspection.matcher);
    skv_buf_free(&inspection.place);
}

skv_status skv_rules_inspect(const skv_rules *rules, const char *input, size_t input_len, skv_cancel *cancel,
                             skv_reply *reply)
{
    skv_deadline deadline;
    json_error_t error;
    json_t *tree;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!rules || !input)
        return skv_fail(reply, SKV_INVALID, "the rules or the input are NULL");
    if (skv_deadline_init(&deadline, INT64_MAX, cancel, reply) != SKV_OK)
        return reply->status;
    tree = skv_json_load(input, input_len, JSON_ALLOW_NUL, &error, reply);
    if (tree)
        inspect_input(rules, tree, &deadline, reply);
    else
        skv_json_fail_syntax("the input is", &error, reply);
    json_decref(tree);
    return reply->status;
}
