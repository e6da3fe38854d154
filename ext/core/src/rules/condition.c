#include "rules/condition.h"

#include "rules/value.h"
#include "json/tree.h"

/* ---- Comparisons ---- */

/* The bytes that a short text costs beside its own. */
#define TEXT_OVERHEAD 32

/* Returns a list with the texts of the values. */
static json_t *texts_of(skv_inspection *inspection, json_t *values)
{
    json_t *texts = json_array();
    size_t bytes = 0;

    for (size_t i = 0; i < json_array_size(values) && texts; i++) {
        json_t *text = skv_text_of_value(inspection, json_array_get(values, i));

        bytes += json_string_length(text) + TEXT_OVERHEAD;
        if (text && !skv_count_work(inspection, &bytes, SKV_STEP_BYTES)) {
            json_decref(text);
            text = NULL;
        }
        skv_json_append(&texts, text);
    }
    if (!texts && inspection->reply->status == SKV_OK)
        skv_fail_memory(inspection->reply);
    return texts;
}

static bool are_equal(skv_inspection *inspection, json_t *values, bool *holds)
{
    size_t work = 0;

    *holds = true;
    for (size_t i = 1; i < json_array_size(values) && *holds; i++) {
        *holds = skv_value_equal(json_array_get(values, 0), json_array_get(values, i), &work);
        if (!skv_count_work(inspection, &work, SKV_STEP_VALUES))
            return false;
    }
    return true;
}

static bool are_ordered(skv_inspection *inspection, json_t *values, skv_order order, bool *holds)
{
    size_t work = 0;

    *holds = true;
    for (size_t i = 1; i < json_array_size(values); i++) {
        skv_order found = skv_value_compare(json_array_get(values, i - 1), json_array_get(values, i));

        if (found == SKV_ORDER_NONE)
            return skv_fail_at(inspection, SKV_WHOLE, "expected numbers, or texts");
        *holds &= found == order;
        work += 1 + json_string_length(json_array_get(values, i)) / SKV_VALUE_BYTES;
        if (!skv_count_work(inspection, &work, SKV_STEP_VALUES))
            return false;
    }
    return true;
}

static bool test_comparison(skv_inspection *inspection, bool *holds)
{
    json_t *values = skv_evaluate(inspection, SKV_AT_VALUE), *given = values;
    bool as_texts = false;
    bool ok = values && skv_evaluate_flag(inspection, SKV_AT_OTHER, &as_texts);

    if (ok && as_texts) {
        values = texts_of(inspection, given);
        ok = values != NULL;
        json_decref(given);
    }
    if (ok && inspection->step->operation->op == SKV_OP_EQ)
        ok = are_equal(inspection, values, holds);
    else if (ok)
        ok = are_ordered(inspection, values,
                         inspection->step->operation->op == SKV_OP_LT ? SKV_ORDER_LESS : SKV_ORDER_GREATER, holds);
    json_decref(values);
    return ok;
}

/* ---- Networks and regular expressions ---- */

static bool test_network(skv_inspection *inspection, bool *holds)
{
    skv_meaning own_address = {0}, own_subnet = {0};
    const skv_meaning *address = skv_evaluate_meaning(inspection, SKV_AT_VALUE, &own_address);
    const skv_meaning *subnet = address ? skv_evaluate_meaning(inspection, SKV_AT_OTHER, &own_subnet) : NULL;

    if (subnet)
        *holds = skv_network_contains(subnet->network, address->network);
    skv_meaning_free(&own_address);
    skv_meaning_free(&own_subnet);
    return subnet != NULL;
}

static bool match_text(skv_inspection *inspection, const skv_pattern *pattern, json_t *value, bool *holds)
{
    json_t *text = skv_text_of_value(inspection, value);
    size_t len = json_string_length(text);
    bool ok = text && skv_count_steps(inspection, len / SKV_STEP_BYTES);

    if (ok && skv_pattern_match(pattern, inspection->matcher, json_string_value(text), len, holds, inspection->reply) !=
                  SKV_OK)
        ok = skv_fail_at(inspection, SKV_STEP, "");
    json_decref(text);
    return ok;
}

static bool test_pattern(skv_inspection *inspection, bool *holds)
{
    skv_meaning own = {0};
    json_t *value = skv_evaluate(inspection, SKV_AT_VALUE);
    const skv_meaning *meaning = value ? skv_evaluate_meaning(inspection, SKV_AT_OTHER, &own) : NULL;
    bool ok = meaning && match_text(inspection, meaning->pattern, value, holds);

    skv_meaning_free(&own);
    json_decref(value);
    return ok;
}

/* ---- The other conditions ---- */

static bool test_membership(skv_inspection *inspection, bool *holds)
{
    json_t *value = skv_evaluate(inspection, SKV_AT_VALUE);
    json_t *values = value ? skv_evaluate(inspection, SKV_AT_OTHER) : NULL;

    size_t work = 0;
    bool ok = values != NULL;

    *holds = false;
    for (size_t i = 0; i < json_array_size(values) && ok && !*holds; i++) {
        *holds = skv_value_equal(value, json_array_get(values, i), &work);
        ok = skv_count_work(inspection, &work, SKV_STEP_VALUES);
    }
    json_decref(value);
    json_decref(values);
    return ok;
}

static bool test_value(skv_inspection *inspection, bool *holds)
{
    json_t *value = skv_evaluate(inspection, SKV_AT_VALUE);

    if (!value)
        return false;
    switch (inspection->step->operation->op) {
    case SKV_OP_IS_TRUE:
        *holds = skv_value_is_true(value);
        break;
    case SKV_OP_IS_FALSE:
        *holds = skv_value_is_false(value);
        break;
    case SKV_OP_IS_NONE:
        *holds = json_is_null(value);
        break;
    default:
        *holds = skv_value_is_empty(value);
        break;
    }
    json_decref(value);
    return true;
}

static bool test_operation(skv_inspection *inspection, bool *holds)
{
    switch (inspection->step->operation->op) {
    case SKV_OP_EQ:
    case SKV_OP_LT:
    case SKV_OP_GT:
        return test_comparison(inspection, holds);
    case SKV_OP_IN_NET:
        return test_network(inspection, holds);
    case SKV_OP_CONTAINS:
    case SKV_OP_MATCHES:
        return test_pattern(inspection, holds);
    case SKV_OP_ONE_OF:
        return test_membership(inspection, holds);
    default:
        return test_value(inspection, holds);
    }
}

/* ---- Loops ---- */

static bool test_once(skv_inspection *inspection, json_t *item, bool *holds)
{
    inspection->item = item;
    if (!skv_count_steps(inspection, 1) || !test_operation(inspection, holds))
        return false;
    *holds ^= inspection->step->is_inverted;
    return true;
}

bool skv_condition_test(skv_inspection *inspection, bool *holds)
{
    json_t *items = inspection->items;
    size_t count = json_array_size(items), first = 0;
    skv_multiple multiple = inspection->step->multiple;

    if (!items)
        return test_once(inspection, NULL, holds);
    *holds = multiple == SKV_MULTIPLE_ALL;
    if (multiple == SKV_MULTIPLE_LAST && count)
        first = count - 1;
    else if (multiple == SKV_MULTIPLE_FIRST && count)
        count = 1;
    for (size_t i = first; i < count; i++) {
        if (!test_once(inspection, json_array_get(items, i), holds))
            return false;
        if (*holds != (multiple == SKV_MULTIPLE_ALL))
            break;
    }
    return true;
}
