#include "rules/input.h"

#include "rules/limits.h"
#include "rules/value.h"

#include <limits.h>
#include <string.h>

static skv_status expect_member(bool matches, const char *name, const char *expected, skv_reply *reply)
{
    return matches ? SKV_OK : skv_fail(reply, SKV_INVALID, "the input's member '%s' is not %s", name, expected);
}

static skv_status read_phases(skv_reply *reply, json_t *list, unsigned *phases)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        skv_phase phase = skv_phase_named(skv_text_of(json_array_get(list, i)));

        if (phase == SKV_PHASES)
            return skv_fail(reply, SKV_INVALID, "the input's member 'phases' has an unknown phase");
        *phases |= 1U << phase;
    }
    return expect_member(*phases != 0, "phases", "a list of phases", reply);
}

/* Sets *object to a member, which is made if the input lacks it. */
static skv_status read_object(json_t *input, const char *name, json_t **object, skv_reply *reply)
{
    if (!json_object_get(input, name) && json_object_set_new(input, name, json_object()) != 0)
        return skv_fail_memory(reply);
    *object = json_object_get(input, name);
    if (expect_member(json_is_object(*object), name, "an object", reply) != SKV_OK)
        return reply->status;
    if (skv_value_is_deeper(*object, SKV_VALUE_DEPTH_MAX))
        return skv_fail(reply, SKV_TOO_LARGE, "the input's member '%s' is nested deeper than %d", name,
                        SKV_VALUE_DEPTH_MAX);
    return SKV_OK;
}

/* Only phase early has no node. */
static skv_status read_node(skv_inspection *inspection, json_t *input, unsigned phases)
{
    skv_reply *reply = inspection->reply;

    if (!json_object_get(input, "node"))
        return expect_member(phases == 1U << SKV_PHASE_EARLY, "node", "an object", reply);
    if (read_object(input, "node", &inspection->node.root, reply) != SKV_OK)
        return reply->status;
    if (!json_is_true(json_object_get(inspection->node.root, "auto_discovered")))
        return SKV_OK;
    inspection->discovered = skv_value_copy(inspection->node.root);
    return inspection->discovered ? SKV_OK : skv_fail_memory(reply);
}

static skv_status read_masking(skv_inspection *inspection, json_t *value)
{
    static const char *const words[] = {
        [SKV_MASK_ALWAYS] = "always", [SKV_MASK_NEVER] = "never", [SKV_MASK_SENSITIVE] = "sensitive"};
    const char *word = value ? skv_text_of(value) : words[SKV_MASK_ALWAYS];

    for (unsigned i = 0; word && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], word) != 0)
            continue;
        inspection->masking = (skv_masking)i;
        return SKV_OK;
    }
    return expect_member(false, "mask_secrets", "always, never or sensitive", inspection->reply);
}

static skv_status read_secret_names(skv_inspection *inspection, json_t *value)
{
    if (value && !json_is_string(value))
        return expect_member(false, "secret_names", "a text", inspection->reply);
    inspection->secret_names = (skv_secret_names){json_string_value(value), json_string_length(value)};
    return SKV_OK;
}

static skv_status read_options(skv_inspection *inspection, json_t *input)
{
    json_t *scope = json_object_get(input, "default_scope"), *explain = json_object_get(input, "explain");
    skv_reply *reply = inspection->reply;

    if (!json_is_null(scope))
        inspection->default_scope = skv_text_of(scope);
    inspection->explain = json_is_true(explain);
    if (expect_member(!scope || json_is_null(scope) || inspection->default_scope, "default_scope", "a text or null",
                      reply) != SKV_OK ||
        expect_member(!explain || json_is_boolean(explain), "explain", "true or false", reply) != SKV_OK ||
        read_secret_names(inspection, json_object_get(input, "secret_names")) != SKV_OK)
        return reply->status;
    return read_masking(inspection, json_object_get(input, "mask_secrets"));
}

/* ---- Paths that count as written by a sensitive rule, which is none of the rules ---- */

static const char *behind(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);

    return path && strncmp(path, prefix, len) == 0 && path[len] == '/' ? path + len : NULL;
}

static skv_status mark_path(skv_inspection *inspection, const char *path)
{
    const char *in_node = behind(path, "/node"), *in_data = behind(path, "/plugin_data");
    const char *rest = in_node ? in_node : in_data;
    skv_tree *tree = in_node ? &inspection->node : &inspection->data;
    skv_reply *reply = inspection->reply;
    skv_pointer *pointer;

    if (!rest)
        return expect_member(false, "sensitive_paths", "a list of paths below /node or /plugin_data", reply);
    if (!tree->root)
        return SKV_OK;
    if (skv_pointer_parse(rest, strlen(rest), &pointer, reply) == SKV_OK)
        skv_mask_change(&tree->mask, tree->root, pointer, SKV_CHANGE_SET, INT_MAX, reply);
    skv_pointer_free(pointer);
    return reply->status;
}

static skv_status mark_paths(skv_inspection *inspection, json_t *paths)
{
    if (expect_member(!paths || json_is_array(paths), "sensitive_paths", "a list", inspection->reply) != SKV_OK)
        return inspection->reply->status;
    for (size_t i = 0; i < json_array_size(paths); i++)
        if (mark_path(inspection, skv_text_of(json_array_get(paths, i))) != SKV_OK)
            return inspection->reply->status;
    return SKV_OK;
}

/* ---- The input ---- */

static skv_status refuse_members(json_t *input, skv_reply *reply)
{
    static const char *const members[] = {"phases",      "inventory",       "node",
                                          "plugin_data", "mask_secrets",    "default_scope",
                                          "explain",     "sensitive_paths", "secret_names"};
    size_t known = 0;

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        known += json_object_get(input, members[i]) != NULL;
    if (known == json_object_size(input))
        return SKV_OK;
    return skv_fail(reply, SKV_INVALID,
                    "the input has a member other than phases, inventory, node, plugin_data, mask_secrets, "
                    "default_scope, explain, sensitive_paths and secret_names");
}

skv_status skv_input_read(skv_inspection *inspection, json_t *input, unsigned *phases)
{
    skv_reply *reply = inspection->reply;

    *phases = 0;
    if (!json_is_object(input))
        return skv_fail(reply, SKV_INVALID, "the input is not an object");
    if (refuse_members(input, reply) != SKV_OK ||
        read_phases(reply, json_object_get(input, "phases"), phases) != SKV_OK ||
        read_node(inspection, input, *phases) != SKV_OK ||
        read_object(input, "inventory", &inspection->inventory, reply) != SKV_OK ||
        read_object(input, "plugin_data", &inspection->data.root, reply) != SKV_OK ||
        read_options(inspection, input) != SKV_OK)
        return reply->status;
    return mark_paths(inspection, json_object_get(input, "sensitive_paths"));
}
