#include "rules/rule.h"

#include "rules/limits.h"
#include "rules/value.h"
#include "json/writer.h"

#include <string.h>

static const char *const phase_names[] = {"early", "preprocess", "main"};

skv_phase skv_phase_named(const char *name)
{
    unsigned phase = 0;

    while (phase < SKV_PHASES && !(name && strcmp(phase_names[phase], name) == 0))
        phase++;
    return (skv_phase)phase;
}

const char *skv_phase_name(skv_phase phase)
{
    return phase_names[phase];
}

/* ---- Members ---- */

/* Sets *text to the text of a member, and leaves it alone if there is none. */
static skv_status read_text(const char **text, json_t *value, skv_reader *reader)
{
    if (!value)
        return SKV_OK;
    *text = skv_text_of(value);
    return *text ? SKV_OK : skv_fail(reader->reply, SKV_INVALID, "expected a string, without U+0000");
}

static skv_status read_short_text(const char **text, json_t *value, skv_reader *reader)
{
    size_t count = 0;

    if (read_text(text, value, reader) != SKV_OK)
        return reader->reply->status;
    for (const char *c = *text; c && *c; c++)
        count += ((unsigned char)*c & 0xC0) != 0x80;
    if (count <= SKV_RULE_TEXT_MAX)
        return SKV_OK;
    return skv_fail(reader->reply, SKV_TOO_LARGE, "%zu characters: %d are allowed", count, SKV_RULE_TEXT_MAX);
}

static bool is_uuid(const char *text)
{
    static const char pattern[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    if (strlen(text) != sizeof pattern - 1)
        return false;
    for (size_t i = 0; pattern[i]; i++)
        if (pattern[i] == 'x' ? !strchr("0123456789abcdefABCDEF", text[i]) : text[i] != '-')
            return false;
    return true;
}

static skv_status read_uuid(skv_rule *rule, json_t *value, skv_reader *reader)
{
    const char *text = NULL;

    if (read_text(&text, value, reader) != SKV_OK || !text)
        return reader->reply->status;
    if (!is_uuid(text))
        return skv_fail(reader->reply, SKV_INVALID, "expected a UUID such as 3f1c0e62-0d5e-4b7a-9c55-0a6e5d8f2b11");
    rule->uuid = text;
    return SKV_OK;
}

static skv_status read_description(skv_rule *rule, json_t *value, skv_reader *reader)
{
    return read_short_text(&rule->description, value, reader);
}

static skv_status read_scope(skv_rule *rule, json_t *value, skv_reader *reader)
{
    return read_short_text(&rule->scope, value, reader);
}

static skv_status read_priority(skv_rule *rule, json_t *value, skv_reader *reader)
{
    rule->priority = json_integer_value(value);
    return !value || json_is_integer(value) ? SKV_OK : skv_fail(reader->reply, SKV_INVALID, "expected an integer");
}

static skv_status read_phase(skv_rule *rule, json_t *value, skv_reader *reader)
{
    rule->phase = value ? skv_phase_named(skv_text_of(value)) : SKV_PHASE_MAIN;
    if (rule->phase < SKV_PHASES)
        return SKV_OK;
    return skv_fail(reader->reply, SKV_INVALID, "expected early, preprocess or main");
}

static skv_status read_sensitive(skv_rule *rule, json_t *value, skv_reader *reader)
{
    rule->is_sensitive = json_is_true(value);
    return !value || json_is_boolean(value) ? SKV_OK : skv_fail(reader->reply, SKV_INVALID, "expected true or false");
}

/* Times are for the owner of the rules. */
static skv_status ignore_time(skv_rule *rule, json_t *value, skv_reader *reader)
{
    const char *text = NULL;

    (void)rule;
    return json_is_null(value) ? SKV_OK : read_text(&text, value, reader);
}

static skv_status read_built_in(skv_rule *rule, json_t *value, skv_reader *reader)
{
    rule->is_built_in = json_is_true(value);
    return !value || json_is_boolean(value) ? SKV_OK : skv_fail(reader->reply, SKV_INVALID, "expected true or false");
}

/* ---- Conditions and actions ---- */

typedef skv_status (*read_step)(skv_step *step, json_t *json, unsigned roots, skv_reader *reader);

/* Reads the elements of a list into *steps, which may hold fewer than the list after a failure. */
static skv_status read_steps(skv_step **steps, size_t *count, json_t *list, unsigned roots, read_step read,
                             skv_reader *reader)
{
    if (!json_array_size(list))
        return SKV_OK;
    *steps = skv_alloc_zeroed(json_array_size(list), sizeof **steps);
    if (!*steps)
        return skv_fail_memory(reader->reply);
    while (*count < json_array_size(list)) {
        size_t before = skv_place_element(&reader->place, *count);
        skv_step *step = &(*steps)[(*count)++];

        if (read(step, json_array_get(list, *count - 1), roots, reader) != SKV_OK)
            return reader->reply->status;
        skv_buf_truncate(&reader->place, before);
    }
    return SKV_OK;
}

static skv_status check_steps(json_t *list, size_t max, bool required, skv_reader *reader)
{
    if (required && !json_array_size(list))
        return skv_fail(reader->reply, SKV_INVALID, "expected a list of at least one action");
    if (list && !json_is_array(list))
        return skv_fail(reader->reply, SKV_INVALID, "expected a list");
    if (json_array_size(list) > max)
        return skv_fail(reader->reply, SKV_TOO_LARGE, "%zu elements: %zu are allowed", json_array_size(list), max);
    return SKV_OK;
}

static unsigned roots_of(const skv_rule *rule)
{
    return SKV_ROOT_INVENTORY | SKV_ROOT_PLUGIN_DATA | (rule->phase == SKV_PHASE_EARLY ? 0 : SKV_ROOT_NODE);
}

static skv_status read_conditions(skv_rule *rule, json_t *list, skv_reader *reader)
{
    if (check_steps(list, SKV_RULE_CONDITIONS_MAX, false, reader) != SKV_OK)
        return reader->reply->status;
    return read_steps(&rule->conditions, &rule->condition_count, list, roots_of(rule), skv_condition_read, reader);
}

static skv_status read_actions(skv_rule *rule, json_t *list, skv_reader *reader)
{
    if (check_steps(list, SKV_RULE_ACTIONS_MAX, true, reader) != SKV_OK)
        return reader->reply->status;
    return read_steps(&rule->actions, &rule->action_count, list, roots_of(rule), skv_action_read, reader);
}

/* ---- Rules ---- */

/* In the order in which they are read: the conditions and actions depend on the phase. */
static const struct {
    const char *name;
    skv_status (*read)(skv_rule *rule, json_t *value, skv_reader *reader);
} members[] = {{"uuid", read_uuid},         {"description", read_description},
               {"scope", read_scope},       {"priority", read_priority},
               {"phase", read_phase},       {"sensitive", read_sensitive},
               {"created_at", ignore_time}, {"updated_at", ignore_time},
               {"built_in", read_built_in}, {"conditions", read_conditions},
               {"actions", read_actions}};

#define MEMBERS (sizeof members / sizeof members[0])

static skv_status check_rule(json_t *json, skv_reader *reader)
{
    const char *names[sizeof members / sizeof members[0] + 1] = {NULL};

    for (size_t i = 0; i < MEMBERS; i++)
        names[i] = members[i].name;
    if (!json_is_object(json))
        return skv_fail(reader->reply, SKV_INVALID, "a rule is a Hash");
    if (skv_value_is_deeper(json, SKV_RULE_DEPTH_MAX))
        return skv_fail(reader->reply, SKV_TOO_LARGE, "the rule is nested deeper than %d", SKV_RULE_DEPTH_MAX);
    if (skv_json_size(json, SKV_RULE_SIZE_MAX) > SKV_RULE_SIZE_MAX)
        return skv_fail(reader->reply, SKV_TOO_LARGE, "the rule has more than %d bytes of JSON", SKV_RULE_SIZE_MAX);
    return skv_refuse_unknown(reader, json, names);
}

skv_status skv_rule_read(skv_rule *rule, json_t *json, skv_reader *reader)
{
    if (check_rule(json, reader) != SKV_OK)
        return reader->reply->status;
    for (size_t i = 0; i < MEMBERS; i++) {
        size_t before = skv_place_member(&reader->place, members[i].name);

        if (members[i].read(rule, json_object_get(json, members[i].name), reader) != SKV_OK)
            return reader->reply->status;
        skv_buf_truncate(&reader->place, before);
    }
    if (rule->phase == SKV_PHASE_EARLY && rule->scope) {
        skv_place_member(&reader->place, "scope");
        return skv_fail(reader->reply, SKV_INVALID,
                        "a rule of phase early has no scope: it runs before the node is known");
    }
    return SKV_OK;
}

void skv_rule_free(skv_rule *rule)
{
    for (size_t i = 0; i < rule->condition_count; i++)
        skv_step_free(&rule->conditions[i]);
    for (size_t i = 0; i < rule->action_count; i++)
        skv_step_free(&rule->actions[i]);
    skv_free(rule->conditions);
    skv_free(rule->actions);
}
