#include "rules/change.h"

#include "base/ascii.h"
#include "rules/limits.h"
#include "rules/value.h"
#include "json/tree.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

/* One change. */
typedef struct tree_change {
    skv_op op;
    skv_tree *tree;
    size_t at;                  /* the position of the parameter `path` */
    json_t *path;               /* the text of the pointer */
    const skv_pointer *pointer; /* from the root of the tree */
    skv_meaning own;            /* of a path that is not constant */
    json_t *value;              /* NULL for a deletion */
    bool unique;
    /* For the explanation: the names of the pointer, with the index of the element that "-" appends. */
    const char *names[SKV_VALUE_DEPTH_MAX];
    char index[24];
} tree_change;

/* ---- Ports ---- */

static char mac_digit(char c)
{
    return c == '-' ? ':' : skv_ascii_lower(c);
}

static bool names_port(const char *id, const json_t *port)
{
    const char *mac = skv_text_of(json_object_get(port, "mac")), *uuid = skv_text_of(json_object_get(port, "uuid"));

    if (uuid && strcasecmp(id, uuid) == 0)
        return true;
    for (size_t i = 0; mac && mac_digit(id[i]) == mac_digit(mac[i]); i++)
        if (!id[i])
            return true;
    return false;
}

/* Returns the work of names_port(). */
static size_t work_of_port(const json_t *port)
{
    size_t bytes = json_string_length(json_object_get(port, "mac")) + json_string_length(json_object_get(port, "uuid"));

    return 1 + bytes / SKV_VALUE_BYTES;
}

/* Sets *index to the position of the port that the text names. */
static bool search_ports(skv_inspection *inspection, const char *text, size_t *index)
{
    const json_t *ports = json_object_get(inspection->node.root, "ports");
    size_t work = 0;

    for (*index = 0; text && *index < json_array_size(ports); (*index)++) {
        const json_t *port = json_array_get(ports, *index);

        work += work_of_port(port);
        if (!skv_count_work(inspection, &work, SKV_STEP_VALUES))
            return false;
        if (names_port(text, port))
            return true;
    }
    return skv_fail_at(inspection, 0, "the node has no port with this MAC address or UUID");
}

/* Sets *index to the position of the port that the first argument names. */
static bool find_port(skv_inspection *inspection, size_t *index)
{
    json_t *id = skv_evaluate(inspection, 0);
    bool found = id && search_ports(inspection, skv_text_of(id), index);

    json_decref(id);
    return found;
}

/* Makes the path within a port one within the node. */
static bool enter_port(skv_inspection *inspection, tree_change *change)
{
    size_t index;
    json_t *path;

    if (!find_port(inspection, &index))
        return false;
    path = json_sprintf("/ports/%zu%s", index, json_string_value(change->path));
    skv_meaning_free(&change->own);
    json_decref(change->path);
    change->path = path;
    if (!path) {
        skv_fail_memory(inspection->reply);
        return false;
    }
    if (skv_pointer_parse(json_string_value(path), json_string_length(path), &change->own.pointer, inspection->reply) !=
        SKV_OK)
        return skv_fail_at(inspection, change->at, "");
    change->pointer = change->own.pointer;
    return true;
}

/* ---- The arguments ---- */

static bool evaluate_path(skv_inspection *inspection, tree_change *change)
{
    const skv_meaning *meaning;

    change->path = skv_evaluate(inspection, change->at);
    if (!change->path || !skv_count_steps(inspection, json_string_length(change->path) / SKV_STEP_BYTES))
        return false;
    meaning = skv_read_meaning(inspection, change->at, change->path, &change->own);
    if (!meaning)
        return false;
    change->pointer = meaning->pointer;
    return inspection->step->operation->target != SKV_TARGET_PORT || enter_port(inspection, change);
}

/* Checks the names of parameters that replace all parameters of a node. */
static bool check_parameters(skv_inspection *inspection, const tree_change *change)
{
    if (change->tree != &inspection->node || change->pointer->count > 1 ||
        strcmp(change->pointer->names[0], "parameters") != 0)
        return true;
    for (skv_json_walk walk = {.container = change->value}; skv_json_next_member(&walk);)
        if (skv_parameter_check(walk.name, strlen(walk.name), inspection->reply) != SKV_OK)
            return skv_fail_at(inspection, change->at + SKV_AT_NEW, "");
    return true;
}

static bool evaluate_change(skv_inspection *inspection, tree_change *change)
{
    size_t bytes;

    if (!evaluate_path(inspection, change))
        return false;
    if (change->op == SKV_OP_DELETE)
        return true;
    change->value = skv_evaluate(inspection, change->at + SKV_AT_NEW);
    if (!change->value || !check_parameters(inspection, change))
        return false;
    if (change->op == SKV_OP_EXTEND && !skv_evaluate_flag(inspection, change->at + SKV_AT_UNIQUE, &change->unique))
        return false;
    bytes = change->pointer->size + skv_json_size(change->value, SKV_INSPECTION_GROWTH_MAX);
    return skv_count_growth(inspection, bytes);
}

/* ---- The explanation ---- */

static void resolve_names(tree_change *change)
{
    json_t *container = change->tree->root;

    for (size_t i = 0; i < change->pointer->count; i++) {
        change->names[i] = change->pointer->names[i];
        if (json_is_array(container) && strcmp(change->names[i], "-") == 0) {
            snprintf(change->index, sizeof change->index, "%zu", json_array_size(container));
            change->names[i] = change->index;
        }
        container = container ? skv_value_member(container, change->names[i]) : NULL;
    }
}

/* Adds the present value to the description, unless it shows too much already. Sets *description to NULL when out of
 * memory. */
static void describe_value(skv_inspection *inspection, const tree_change *change, const char *name,
                           json_t **description)
{
    const skv_mask_reader reader = {.names = &inspection->secret_names, .rule = -1};
    json_t *value = NULL;

    if (!skv_explanation_is_full(inspection))
        value = skv_mask_read(&change->tree->mask, reader, change->tree->root, change->names, change->pointer->count,
                              inspection->reply);
    if (value)
        skv_explain_value(inspection, name, value, description);
    json_decref(value);
}

/* Returns NULL when out of memory. */
static json_t *begin_description(skv_inspection *inspection, tree_change *change)
{
    json_t *description = json_object();

    resolve_names(change);
    skv_json_put(&description, "index", json_integer(inspection->step - inspection->rule->actions));
    skv_json_put(&description, "op", json_string(inspection->step->name));
    skv_explain_value(inspection, "path", change->path, &description);
    describe_value(inspection, change, "before", &description);
    return description;
}

/* The value that replaces a masked one is masked, too. */
static void end_description(skv_inspection *inspection, const tree_change *change, json_t *description)
{
    const char *before;

    describe_value(inspection, change, "after", &description);
    before = json_string_value(json_object_get(description, "before"));
    if (before && strcmp(before, SKV_MASKED) == 0 && json_object_get(description, "after"))
        skv_json_put(&description, "after", json_string(SKV_MASKED));
    skv_json_append(&inspection->changes, description);
}

/* ---- The change ---- */

static bool extend_list(skv_inspection *inspection, const tree_change *change)
{
    json_t *discovered = change->tree == &inspection->node ? inspection->discovered : NULL;
    skv_extension extension = {.value = change->value,
                               .unique = change->unique,
                               .skip = discovered ? skv_pointer_get(change->pointer, discovered) : NULL};

    return skv_pointer_extend(change->pointer, change->tree->root, &extension, inspection->reply) == SKV_OK &&
           skv_count_steps(inspection, extension.work / SKV_STEP_VALUES);
}

/* Counts the elements of the list that a deletion moves, with their marks. */
static bool count_moved(skv_inspection *inspection, const tree_change *change)
{
    const skv_pointer above = {.names = change->pointer->names, .count = change->pointer->count - 1};

    return skv_count_steps(inspection, json_array_size(skv_pointer_get(&above, change->tree->root)) / SKV_STEP_VALUES);
}

/* A rule that sets or deletes a list begins it anew: extending then repeats what the first inspection did. */
static void forget_discovered(const skv_inspection *inspection, const tree_change *change)
{
    if (change->tree == &inspection->node && inspection->discovered)
        skv_pointer_delete(change->pointer, inspection->discovered);
}

static bool apply_change(skv_inspection *inspection, const tree_change *change)
{
    static const skv_change kinds[] = {
        [SKV_OP_SET] = SKV_CHANGE_SET, [SKV_OP_EXTEND] = SKV_CHANGE_EXTEND, [SKV_OP_DELETE] = SKV_CHANGE_DELETE};
    skv_reply *reply = inspection->reply;

    if (change->op == SKV_OP_DELETE && !count_moved(inspection, change))
        return false;
    if (skv_mask_change(&change->tree->mask, change->tree->root, change->pointer, kinds[change->op],
                        skv_mask_number(inspection), reply) != SKV_OK)
        return false;
    if (change->op != SKV_OP_EXTEND)
        forget_discovered(inspection, change);
    if (change->op == SKV_OP_SET)
        skv_pointer_set(change->pointer, change->tree->root, change->value, reply);
    else if (change->op == SKV_OP_EXTEND)
        extend_list(inspection, change);
    else
        skv_pointer_delete(change->pointer, change->tree->root);
    return reply->status == SKV_OK || skv_fail_at(inspection, change->at, "");
}

bool skv_change_perform(skv_inspection *inspection)
{
    const skv_operation *operation = inspection->step->operation;
    tree_change change = {.op = operation->op,
                          .tree = operation->target == SKV_TARGET_DATA ? &inspection->data : &inspection->node,
                          .at = operation->target == SKV_TARGET_PORT ? 1 : 0};
    bool ok = evaluate_change(inspection, &change), explains = inspection->changes != NULL;
    json_t *description = ok && explains ? begin_description(inspection, &change) : NULL;

    ok = ok && apply_change(inspection, &change);
    if (ok && explains)
        end_description(inspection, &change, description);
    else
        json_decref(description);
    if (ok && explains && !inspection->changes)
        skv_fail_memory(inspection->reply);
    json_decref(change.path);
    json_decref(change.value);
    skv_meaning_free(&change.own);
    return inspection->reply->status == SKV_OK;
}
