#include "rules/step.h"

#include "rules/limits.h"
#include "json/tree.h"

#include <string.h>

/* ---- Loops ---- */

static json_t *items_of_object(json_t *object)
{
    json_t *items = json_array();

    for (skv_json_walk walk = {.container = object}; items && skv_json_next_member(&walk);) {
        json_t *item = json_object();

        skv_json_put(&item, "key", json_string(walk.name));
        skv_json_put(&item, "value", json_incref(walk.value));
        skv_json_append(&items, item);
    }
    return items;
}

json_t *skv_loop_items(json_t *value, skv_reply *reply)
{
    size_t count = skv_json_count(value);
    json_t *items;

    if (!skv_json_is_container(value)) {
        skv_fail(reply, SKV_INVALID, "expected a list or a Hash to loop over");
        return NULL;
    }
    if (count > SKV_LOOP_ITEMS_MAX) {
        skv_fail(reply, SKV_TOO_LARGE, "the loop has %zu items: %d are allowed", count, SKV_LOOP_ITEMS_MAX);
        return NULL;
    }
    items = json_is_array(value) ? json_incref(value) : items_of_object(value);
    if (!items)
        skv_fail_memory(reply);
    return items;
}

/* Checks a list or a Hash, and keeps its items if they have no fields. */
static void read_literal_loop(skv_step *step, json_t *loop, skv_reply *reply)
{
    json_t *constant = skv_template_constant(step->loop);

    step->items = skv_loop_items(constant ? constant : loop, reply);
    if (constant) {
        skv_template_free(step->loop);
        step->loop = NULL;
    } else {
        json_decref(step->items);
        step->items = NULL;
    }
}

static skv_status read_loop(skv_step *step, json_t *loop, unsigned roots, skv_reader *reader)
{
    size_t before = skv_place_member(&reader->place, "loop");

    if (skv_template_compile(loop, roots, &reader->place, &step->loop, reader->reply) != SKV_OK)
        return reader->reply->status;
    if (!json_is_string(loop))
        read_literal_loop(step, loop, reader->reply);
    else if (!skv_template_is_field(step->loop))
        skv_fail(reader->reply, SKV_INVALID, "expected a list, a Hash, or one field such as '{inventory[disks]}'");
    if (reader->reply->status == SKV_OK)
        skv_buf_truncate(&reader->place, before);
    return reader->reply->status;
}

static skv_status read_multiple(skv_step *step, json_t *value, skv_reader *reader)
{
    static const char *const words[] = {"any", "all", "first", "last"};
    const char *word = skv_text_of(value);
    size_t before = skv_place_member(&reader->place, "multiple");

    for (size_t i = 0; word && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], word) != 0)
            continue;
        step->multiple = (skv_multiple)i;
        skv_buf_truncate(&reader->place, before);
        return SKV_OK;
    }
    return skv_fail(reader->reply, SKV_INVALID, "expected any, all, first or last");
}

/* ---- Arguments ---- */

static skv_status read_argument(skv_step *step, size_t index, json_t *value, unsigned roots, skv_reader *reader)
{
    return skv_argument_read(&step->arguments[index], step->operation->parameters[index].type, value, roots, reader);
}

/* Reads the elements of a list that is one argument. */
static skv_status read_values(skv_step *step, json_t *args, unsigned roots, skv_reader *reader)
{
    if (json_array_size(args) < 2)
        return skv_fail(reader->reply, SKV_INVALID, "'%s' takes at least 2 values", step->name);
    step->values = skv_alloc_zeroed(json_array_size(args), sizeof *step->values);
    if (!step->values)
        return skv_fail_memory(reader->reply);
    while (step->value_count < json_array_size(args)) {
        size_t before = skv_place_element(&reader->place, step->value_count);
        skv_argument *value = &step->values[step->value_count++];

        if (skv_argument_read(value, SKV_TYPE_ANY, json_array_get(args, step->value_count - 1), roots, reader) !=
            SKV_OK)
            return reader->reply->status;
        skv_buf_truncate(&reader->place, before);
    }
    return SKV_OK;
}

static skv_status read_list(skv_step *step, json_t *args, unsigned roots, skv_reader *reader)
{
    size_t count = skv_parameter_count(step->operation);

    if (step->operation->variadic)
        return read_values(step, args, roots, reader);
    if (json_array_size(args) > count)
        return skv_fail(reader->reply, SKV_INVALID, "'%s' takes %zu argument%s, and there are %zu", step->name, count,
                        count == 1 ? "" : "s", json_array_size(args));
    for (size_t i = 0; i < json_array_size(args); i++) {
        size_t before = skv_place_element(&reader->place, i);

        if (read_argument(step, i, json_array_get(args, i), roots, reader) != SKV_OK)
            return reader->reply->status;
        skv_buf_truncate(&reader->place, before);
    }
    return SKV_OK;
}

static skv_status refuse_argument(const skv_step *step, skv_reply *reply)
{
    skv_fail(reply, SKV_INVALID, "'%s' has no such argument: expected", step->name);
    for (size_t i = 0; i < skv_parameter_count(step->operation); i++)
        skv_reply_append(reply, "%s %s", i ? "," : "", step->operation->parameters[i].name);
    return reply->status;
}

static skv_status read_named_arguments(skv_step *step, json_t *args, unsigned roots, skv_reader *reader)
{
    step->is_named = true;
    for (skv_json_walk walk = {.container = args}; skv_json_next_member(&walk);) {
        size_t index = skv_parameter_index(step->operation, walk.name);
        size_t before = skv_place_member(&reader->place, walk.name);

        if (index == skv_parameter_count(step->operation))
            return refuse_argument(step, reader->reply);
        if (read_argument(step, index, walk.value, roots, reader) != SKV_OK)
            return reader->reply->status;
        skv_buf_truncate(&reader->place, before);
    }
    return SKV_OK;
}

static skv_status require_arguments(const skv_step *step, skv_reply *reply)
{
    for (size_t i = 0; i < skv_parameter_count(step->operation); i++)
        if (!step->operation->parameters[i].optional && !step->arguments[i].template && !step->values)
            return skv_fail(reply, SKV_INVALID, "'%s' lacks its argument '%s'", step->name,
                            step->operation->parameters[i].name);
    return SKV_OK;
}

static skv_status read_arguments(skv_step *step, json_t *args, unsigned roots, skv_reader *reader)
{
    size_t before = skv_place_member(&reader->place, "args");
    skv_status status;

    if (args && !json_is_array(args) && !json_is_object(args))
        return skv_fail(reader->reply, SKV_INVALID, "expected a list or a Hash");
    if (args && step->operation->op == SKV_OP_SITE)
        status = read_argument(step, 0, args, roots, reader);
    else if (json_is_object(args))
        status = read_named_arguments(step, args, roots, reader);
    else
        status = read_list(step, args, roots, reader);
    if (status == SKV_OK && step->operation->op != SKV_OP_SITE)
        status = require_arguments(step, reader->reply);
    if (status == SKV_OK)
        skv_buf_truncate(&reader->place, before);
    return status;
}

/* ---- Steps ---- */

/* Reads what follows the operation. */
static skv_status read_rest(skv_step *step, json_t *object, unsigned roots, skv_reader *reader)
{
    json_t *loop = json_object_get(object, "loop"), *multiple = json_object_get(object, "multiple");

    if (loop && read_loop(step, loop, roots, reader) != SKV_OK)
        return reader->reply->status;
    if (multiple && read_multiple(step, multiple, reader) != SKV_OK)
        return reader->reply->status;
    return read_arguments(step, json_object_get(object, "args"), loop ? roots | SKV_ROOT_ITEM : roots, reader);
}

/* Returns the text of the member op, with the place of that member if it is missing or no text. */
static const char *read_op(json_t *object, const char *const *members, skv_reader *reader)
{
    const char *op = skv_text_of(json_object_get(object, "op"));

    if (!json_is_object(object)) {
        skv_fail(reader->reply, SKV_INVALID, "expected a Hash");
        return NULL;
    }
    if (skv_refuse_unknown(reader, object, members) != SKV_OK)
        return NULL;
    if (!op) {
        skv_place_member(&reader->place, "op");
        skv_fail(reader->reply, SKV_INVALID,
                 "expected the name of an operation; YAML needs quotes around one that begins with '!'");
    }
    return op;
}

static skv_status refuse_op(const char *kind, const char *name, void (*list)(skv_buf *), skv_reader *reader)
{
    skv_buf names;

    skv_buf_init(&names, 1024);
    list(&names);
    if (skv_buf_failed(&names))
        skv_fail_memory(reader->reply);
    else
        skv_fail(reader->reply, SKV_INVALID, "there is no %s '%.100s': expected %s", kind, name, names.bytes);
    skv_buf_free(&names);
    skv_place_member(&reader->place, "op");
    return reader->reply->status;
}

static skv_status refuse_condition(const char *op, const char *name, skv_reader *reader)
{
    const char *meant = skv_condition_meant_by(op);

    refuse_op("condition", name, skv_list_conditions, reader);
    if (meant)
        skv_reply_append(reader->reply, ": did you mean '%s'?", meant);
    return reader->reply->status;
}

skv_status skv_condition_read(skv_step *step, json_t *condition, unsigned roots, skv_reader *reader)
{
    static const char *const members[] = {"op", "args", "loop", "multiple", NULL};
    const char *op = read_op(condition, members, reader);

    if (!op)
        return reader->reply->status;
    step->is_inverted = op[0] == '!';
    step->name = op + step->is_inverted;
    if (step->is_inverted && step->name[0] == ' ')
        step->name++;
    step->operation = skv_condition_named(step->name);
    if (!step->operation)
        return refuse_condition(op, step->name, reader);
    return read_rest(step, condition, roots, reader);
}

static void list_all_actions(skv_buf *out)
{
    skv_list_actions(out);
    skv_buf_put_string(out, ", or an action of the site");
}

skv_status skv_action_read(skv_step *step, json_t *action, unsigned roots, skv_reader *reader)
{
    static const char *const members[] = {"op", "args", "loop", NULL};

    step->name = read_op(action, members, reader);
    if (!step->name)
        return reader->reply->status;
    step->operation = skv_action_named(step->name);
    if (!step->operation && json_object_get(reader->actions, step->name))
        step->operation = &skv_site_action;
    if (!step->operation)
        return refuse_op("action", step->name, list_all_actions, reader);
    if (!(roots & SKV_ROOT_NODE) &&
        (step->operation->target == SKV_TARGET_NODE || step->operation->target == SKV_TARGET_PORT)) {
        skv_place_member(&reader->place, "op");
        return skv_fail(reader->reply, SKV_INVALID, "'%s' is not allowed in phase early, which has no node",
                        step->name);
    }
    return read_rest(step, action, roots, reader);
}

void skv_step_free(skv_step *step)
{
    for (size_t i = 0; i < SKV_PARAMETERS_MAX; i++)
        skv_argument_free(&step->arguments[i]);
    for (size_t i = 0; i < step->value_count; i++)
        skv_argument_free(&step->values[i]);
    skv_free(step->values);
    skv_template_free(step->loop);
    json_decref(step->items);
    step->loop = NULL;
    step->items = NULL;
    step->values = NULL;
    step->value_count = 0;
}
