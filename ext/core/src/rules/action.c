#include "rules/action.h"

#include "rules/change.h"
#include "rules/limits.h"
#include "rules/value.h"
#include "json/tree.h"
#include "json/writer.h"

json_t *skv_rule_object(const skv_rule *rule, const char *name)
{
    json_t *object = json_object();

    if (rule->uuid)
        skv_json_put(&object, name, json_string(rule->uuid));
    if (rule->description)
        skv_json_put(&object, "description", json_string(rule->description));
    return object;
}

/* Returns the message of log and fail. */
static json_t *evaluate_message(skv_inspection *inspection)
{
    json_t *value = skv_evaluate(inspection, SKV_AT_MESSAGE);
    json_t *text = value ? skv_text_of_value(inspection, value) : NULL;

    json_decref(value);
    if (!text || skv_count_growth(inspection, json_string_length(text)))
        return text;
    json_decref(text);
    return NULL;
}

/* ---- Effects ---- */

/* Appends an effect of the rule, which is NULL when out of memory. */
static bool add_effect(skv_inspection *inspection, json_t *effect)
{
    skv_reply *reply = inspection->reply;

    if (inspection->rule->is_sensitive)
        skv_json_put(&effect, "sensitive", json_true());
    if (json_array_size(inspection->effects) == SKV_INSPECTION_EFFECTS_MAX) {
        json_decref(effect);
        skv_fail(reply, SKV_TOO_LARGE, "the inspection has more than %d effects", SKV_INSPECTION_EFFECTS_MAX);
        return skv_fail_at(inspection, SKV_STEP, "");
    }
    skv_json_append(&inspection->effects, effect);
    if (!inspection->effects)
        skv_fail_memory(reply);
    return reply->status == SKV_OK;
}

static json_t *new_effect(const skv_inspection *inspection)
{
    json_t *effect = json_object();

    if (inspection->rule->uuid)
        skv_json_put(&effect, "rule", json_string(inspection->rule->uuid));
    skv_json_put(&effect, "op", json_string(inspection->step->name));
    return effect;
}

static json_t *evaluate_level(skv_inspection *inspection)
{
    skv_meaning none = {0};
    json_t *level;

    if (!inspection->step->arguments[SKV_AT_LEVEL].template)
        return json_string("info");
    level = skv_evaluate(inspection, SKV_AT_LEVEL);
    if (!level || skv_read_meaning(inspection, SKV_AT_LEVEL, level, &none))
        return level;
    json_decref(level);
    return NULL;
}

static bool perform_log(skv_inspection *inspection)
{
    json_t *message = evaluate_message(inspection);
    json_t *level = message ? evaluate_level(inspection) : NULL;
    json_t *effect;

    if (inspection->reply->status != SKV_OK) {
        json_decref(message);
        return false;
    }
    effect = new_effect(inspection);
    skv_json_put(&effect, "level", level);
    if (inspection->rule->is_sensitive)
        json_decref(message);
    else
        skv_json_put(&effect, "msg", message);
    return add_effect(inspection, effect);
}

static bool perform_site_action(skv_inspection *inspection)
{
    json_t *args = inspection->step->arguments[0].template ? skv_evaluate(inspection, 0) : json_array();
    json_t *effect;

    if (!args && inspection->reply->status == SKV_OK)
        skv_fail_memory(inspection->reply);
    if (args && skv_count_growth(inspection, skv_json_size(args, SKV_INSPECTION_GROWTH_MAX))) {
        effect = new_effect(inspection);
        /* Later rules change the node, of which the arguments may be a part. */
        skv_json_put(&effect, "args", skv_value_copy(args));
        add_effect(inspection, effect);
    }
    json_decref(args);
    return inspection->reply->status == SKV_OK;
}

/* ---- Actions ---- */

static bool perform_fail(skv_inspection *inspection)
{
    json_t *message = evaluate_message(inspection);

    if (!message)
        return false;
    inspection->failed = skv_rule_object(inspection->rule, "rule");
    if (inspection->rule->is_sensitive) {
        json_decref(message);
        skv_json_put(&inspection->failed, "sensitive", json_true());
    } else {
        skv_json_put(&inspection->failed, "msg", message);
    }
    if (!inspection->failed)
        skv_fail_memory(inspection->reply);
    return inspection->reply->status == SKV_OK;
}

/* Describes an action that changes no tree. */
static bool explain_action(skv_inspection *inspection)
{
    json_t *description;

    if (!inspection->changes)
        return true;
    description = json_object();
    skv_json_put(&description, "index", json_integer(inspection->step - inspection->rule->actions));
    skv_json_put(&description, "op", json_string(inspection->step->name));
    skv_json_append(&inspection->changes, description);
    if (!inspection->changes)
        skv_fail_memory(inspection->reply);
    return inspection->changes != NULL;
}

static bool perform_once(skv_inspection *inspection, json_t *item)
{
    inspection->item = item;
    if (!skv_count_steps(inspection, 1))
        return false;
    switch (inspection->step->operation->op) {
    case SKV_OP_FAIL:
        return perform_fail(inspection) && explain_action(inspection);
    case SKV_OP_LOG:
        return perform_log(inspection) && explain_action(inspection);
    case SKV_OP_SITE:
        return perform_site_action(inspection) && explain_action(inspection);
    default:
        return skv_change_perform(inspection);
    }
}

bool skv_action_perform(skv_inspection *inspection)
{
    if (!inspection->items)
        return perform_once(inspection, NULL);
    for (size_t i = 0; i < json_array_size(inspection->items) && !inspection->failed; i++)
        if (!perform_once(inspection, json_array_get(inspection->items, i)))
            return false;
    return true;
}
