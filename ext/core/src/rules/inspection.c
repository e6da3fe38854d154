#include "rules/inspection.h"

#include "rules/limits.h"
#include "rules/value.h"
#include "json/tree.h"
#include "json/writer.h"

#include <string.h>

/* ---- Failures and limits ---- */

/* Sets the place to that of a condition or an action. */
static void place_step(skv_inspection *inspection)
{
    const skv_rule *rule = inspection->rule;
    const skv_step *step = inspection->step;
    bool is_action = step >= rule->actions && step < rule->actions + rule->action_count;

    skv_buf_clear(&inspection->place);
    skv_place_member(&inspection->place, is_action ? "actions" : "conditions");
    skv_place_element(&inspection->place, (size_t)(step - (is_action ? rule->actions : rule->conditions)));
}

static void place_argument(skv_inspection *inspection, size_t index)
{
    const skv_step *step = inspection->step;
    skv_buf *place = &inspection->place;

    skv_place_member(place, "args");
    if (index == SKV_WHOLE || step->operation->op == SKV_OP_SITE)
        return;
    if (step->is_named)
        skv_place_member(place, step->operation->parameters[index].name);
    else
        skv_place_element(place, index);
}

bool skv_fail_at(skv_inspection *inspection, size_t index, const char *reason)
{
    if (inspection->reply->status == SKV_OK)
        skv_fail(inspection->reply, SKV_INVALID, "%s", reason);
    place_step(inspection);
    if (index == SKV_LOOP)
        skv_place_member(&inspection->place, "loop");
    else if (index != SKV_STEP)
        place_argument(inspection, index);
    return false;
}

bool skv_count_steps(skv_inspection *inspection, size_t steps)
{
    if (skv_deadline_check_work(inspection->deadline) != SKV_OK) {
        skv_fail(inspection->reply, SKV_INTERRUPTED, "interrupted");
        return false;
    }
    inspection->steps += steps;
    if (inspection->steps <= SKV_INSPECTION_STEPS_MAX)
        return true;
    skv_fail(inspection->reply, SKV_TOO_LARGE, "the inspection takes more than %d steps", SKV_INSPECTION_STEPS_MAX);
    return skv_fail_at(inspection, SKV_STEP, "");
}

bool skv_count_work(skv_inspection *inspection, size_t *work, size_t unit)
{
    size_t steps = *work / unit;

    *work %= unit;
    return steps == 0 || skv_count_steps(inspection, steps);
}

bool skv_count_growth(skv_inspection *inspection, size_t bytes)
{
    inspection->growth += bytes;
    if (inspection->growth <= SKV_INSPECTION_GROWTH_MAX)
        return true;
    skv_fail(inspection->reply, SKV_TOO_LARGE, "the inspection adds more than %d bytes", SKV_INSPECTION_GROWTH_MAX);
    return skv_fail_at(inspection, SKV_STEP, "");
}

/* ---- Values ---- */

int skv_mask_number(const skv_inspection *inspection)
{
    return inspection->rule->is_sensitive ? inspection->rule->number : -1;
}

static skv_mask_reader reader_of(const skv_inspection *inspection)
{
    bool names = inspection->for_explanation || inspection->masking == SKV_MASK_ALWAYS ||
                 (inspection->masking == SKV_MASK_SENSITIVE && !inspection->rule->is_sensitive);

    return (skv_mask_reader){.names = names ? &inspection->secret_names : NULL, .rule = skv_mask_number(inspection)};
}

static bool is_masked(json_t *value)
{
    return json_is_string(value) && strcmp(json_string_value(value), SKV_MASKED) == 0;
}

/* The items of a loop have been read through masks already. As in other fields, a masked value has all members. */
static json_t *lookup_item(const skv_inspection *inspection, const skv_field *field)
{
    json_t *value = inspection->item;

    for (size_t i = 0; i < field->count && value && !is_masked(value); i++)
        value = skv_value_member(value, field->names[i]);
    return json_incref(value);
}

static json_t *lookup_in_tree(skv_inspection *inspection, const skv_tree *tree, skv_mask_reader reader,
                              const skv_field *field)
{
    size_t work = 0;
    json_t *value;

    reader.work = &work;
    value = skv_mask_read(&tree->mask, reader, tree->root, field->names, field->count, inspection->reply);
    if (skv_count_steps(inspection, work / SKV_STEP_VALUES))
        return value;
    json_decref(value);
    return NULL;
}

static json_t *lookup_field(void *context, const skv_field *field, skv_reply *reply)
{
    skv_inspection *inspection = context;
    skv_mask_reader reader = reader_of(inspection);

    switch (field->root) {
    case SKV_ROOT_NODE:
        return lookup_in_tree(inspection, &inspection->node, reader, field);
    case SKV_ROOT_INVENTORY:
        return skv_mask_read_unchanged(&inspection->masked, reader.names, inspection->inventory, field->names,
                                       field->count, reply);
    case SKV_ROOT_PLUGIN_DATA:
        if (!inspection->for_explanation)
            reader.names = NULL;
        return lookup_in_tree(inspection, &inspection->data, reader, field);
    default:
        return lookup_item(inspection, field);
    }
}

void skv_inspection_prepare(skv_inspection *inspection)
{
    inspection->templates =
        (skv_template_data){.lookup = lookup_field, .context = inspection, .text_left = SKV_INSPECTION_TEXT_MAX};
}

/* ---- Arguments ---- */

static json_t *evaluate_values(skv_inspection *inspection)
{
    const skv_step *step = inspection->step;
    json_t *values = json_array();

    for (size_t i = 0; i < step->value_count; i++) {
        json_t *value = skv_template_evaluate(step->values[i].template, &inspection->templates, inspection->reply);

        if (!value) {
            skv_fail_at(inspection, i, "");
            json_decref(values);
            return NULL;
        }
        skv_json_append(&values, value);
    }
    if (!values)
        skv_fail_memory(inspection->reply);
    return values;
}

json_t *skv_evaluate(skv_inspection *inspection, size_t index)
{
    const skv_argument *argument = &inspection->step->arguments[index];
    json_t *value;

    if (inspection->step->values && index == 0)
        return evaluate_values(inspection);
    inspection->templates.is_path = inspection->step->operation->parameters[index].type >= SKV_TYPE_NODE_PATH;
    value = skv_template_evaluate(argument->template, &inspection->templates, inspection->reply);
    inspection->templates.is_path = false;

    /* An explanation may have the mask, a text, in place of a value of any type. */
    if (value && (inspection->for_explanation || skv_type_check(inspection->step->operation->parameters[index].type,
                                                                value, inspection->reply) == SKV_OK))
        return value;
    json_decref(value);
    skv_fail_at(inspection, index, "");
    return NULL;
}

bool skv_evaluate_flag(skv_inspection *inspection, size_t index, bool *flag)
{
    json_t *value;

    *flag = false;
    if (!inspection->step->arguments[index].template)
        return true;
    value = skv_evaluate(inspection, index);
    *flag = json_is_true(value);
    json_decref(value);
    return value != NULL;
}

static bool is_pattern(const skv_inspection *inspection, size_t index)
{
    skv_type type = inspection->step->operation->parameters[index].type;

    return type == SKV_TYPE_PART_PATTERN || type == SKV_TYPE_WHOLE_PATTERN;
}

/* A range that is slow to compile, and the compilation of any expression: PCRE2 looks for the end of its group from
 * each item such as `a?` of an alternation, so that the time grows with the square of the length. */
#define STEPS_OF_SLOW_RANGE 300
#define SQUARE_OF_STEP 32768

/* Counts steps before the regular expression is compiled. */
static bool count_compilation(skv_inspection *inspection, json_t *text)
{
    size_t len = json_string_length(text);

    if (len > SKV_PATTERN_SIZE_MAX)
        return true;
    return skv_count_steps(inspection, 1 + len * len / SQUARE_OF_STEP +
                                           STEPS_OF_SLOW_RANGE * skv_pattern_slow_ranges(json_string_value(text), len));
}

const skv_meaning *skv_read_meaning(skv_inspection *inspection, size_t index, json_t *text, skv_meaning *own)
{
    const skv_argument *argument = &inspection->step->arguments[index];

    if (argument->is_constant)
        return &argument->meaning;
    if (is_pattern(inspection, index) && !count_compilation(inspection, text))
        return NULL;
    if (skv_meaning_read(own, inspection->step->operation->parameters[index].type, text, inspection->reply) != SKV_OK) {
        skv_fail_at(inspection, index, "");
        return NULL;
    }
    if (own->pattern && !skv_count_steps(inspection, skv_pattern_size(own->pattern) / SKV_STEP_BYTES))
        return NULL;
    return own;
}

const skv_meaning *skv_evaluate_meaning(skv_inspection *inspection, size_t index, skv_meaning *own)
{
    const skv_argument *argument = &inspection->step->arguments[index];
    const skv_meaning *meaning;
    json_t *text;

    if (argument->is_constant)
        return &argument->meaning;
    text = skv_evaluate(inspection, index);
    meaning = text ? skv_read_meaning(inspection, index, text, own) : NULL;
    json_decref(text);
    return meaning;
}

json_t *skv_text_of_value(skv_inspection *inspection, json_t *value)
{
    json_t *string = NULL;
    skv_buf text;

    if (json_is_string(value))
        return json_incref(value);
    skv_buf_init(&text, SKV_DATA_MAX);
    skv_value_put_text(value, &text);
    if (!skv_buf_failed(&text))
        string = json_stringn(text.bytes, text.len);
    skv_buf_free(&text);
    if (!string)
        skv_fail_memory(inspection->reply);
    return string;
}

static json_t *explain_list(skv_inspection *inspection)
{
    json_t *list = json_array();

    for (size_t i = 0; i < SKV_PARAMETERS_MAX && inspection->step->arguments[i].template && list; i++)
        skv_json_append(&list, skv_evaluate(inspection, i));
    return list;
}

static json_t *explain_object(skv_inspection *inspection)
{
    json_t *object = json_object();

    for (size_t i = 0; i < SKV_PARAMETERS_MAX && object; i++)
        if (inspection->step->arguments[i].template)
            skv_json_put(&object, inspection->step->operation->parameters[i].name, skv_evaluate(inspection, i));
    return object;
}

/* Returns the item as the explanation shows it: rules may see secrets in it. */
static json_t *explain_item(skv_inspection *inspection)
{
    json_t *value = skv_template_evaluate(inspection->step->loop, &inspection->templates, inspection->reply);
    json_t *items, *item;
    size_t i = 0;

    if (!skv_json_is_container(value))
        return value;
    items = skv_loop_items(value, inspection->reply);
    while (i < json_array_size(items) && json_array_get(inspection->items, i) != inspection->item)
        i++;
    item = json_incref(json_array_get(items, i));
    json_decref(items);
    json_decref(value);
    return item;
}

json_t *skv_explain_arguments(skv_inspection *inspection)
{
    json_t *args, *item = inspection->item, *shown = NULL;

    inspection->for_explanation = true;
    if (item && inspection->step->loop)
        inspection->item = shown = explain_item(inspection);
    if (inspection->step->is_named)
        args = explain_object(inspection);
    else if (inspection->step->operation->variadic)
        args = skv_evaluate(inspection, 0);
    else
        args = explain_list(inspection);
    inspection->for_explanation = false;
    inspection->item = item;
    json_decref(shown);
    if (!args && inspection->reply->status == SKV_OK)
        skv_fail_memory(inspection->reply);
    return args;
}

bool skv_explanation_is_full(const skv_inspection *inspection)
{
    return inspection->explained > SKV_INSPECTION_EXPLAINED_MAX;
}

void skv_explain_value(skv_inspection *inspection, const char *name, json_t *value, json_t **object)
{
    if (skv_explanation_is_full(inspection))
        return;
    inspection->explained += skv_json_size(value, SKV_INSPECTION_EXPLAINED_MAX);
    if (!skv_explanation_is_full(inspection))
        skv_json_put(object, name, skv_value_copy(value));
}

/* ---- Steps ---- */

/* The items of a loop over an object that cost a step to make. */
#define ITEMS_OF_STEP 8

/* Actions may change what they loop over. */
static void copy_items(skv_inspection *inspection)
{
    size_t bytes = skv_json_size(inspection->items, (size_t)SKV_INSPECTION_STEPS_MAX * SKV_STEP_BYTES);
    json_t *copy = skv_count_steps(inspection, bytes / SKV_STEP_BYTES) ? skv_value_copy(inspection->items) : NULL;

    json_decref(inspection->items);
    inspection->items = copy;
    if (!copy && inspection->reply->status == SKV_OK)
        skv_fail_memory(inspection->reply);
}

bool skv_step_begin(skv_inspection *inspection, const skv_step *step)
{
    json_t *value;

    inspection->step = step;
    if (!step->loop) {
        inspection->items = json_incref(step->items);
        return true;
    }
    value = skv_template_evaluate(step->loop, &inspection->templates, inspection->reply);
    if (value && skv_count_steps(inspection, json_object_size(value) / ITEMS_OF_STEP))
        inspection->items = skv_loop_items(value, inspection->reply);
    json_decref(value);
    if (inspection->items && step->operation->target != SKV_TARGET_NONE)
        copy_items(inspection);
    return inspection->items || skv_fail_at(inspection, SKV_LOOP, "");
}

void skv_step_end(skv_inspection *inspection)
{
    json_decref(inspection->items);
    inspection->items = NULL;
    inspection->item = NULL;
    inspection->step = NULL;
}
