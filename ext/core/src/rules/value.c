#include "rules/value.h"

#include "base/ascii.h"
#include "rules/limits.h"
#include "json/tree.h"
#include "json/writer.h"

#include <stdint.h>
#include <string.h>

/* The deepest value that occurs is an argument of a rule that has data of the node in it. */
_Static_assert(SKV_VALUE_DEPTH_MAX + SKV_RULE_DEPTH_MAX <= SKV_TREE_DEPTH_MAX, "such a value has no text");

/* ---- Truth ---- */

/* `word` is in lower case. */
static bool is_word(json_t *value, const char *word)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);

    if (len != strlen(word))
        return false;
    for (size_t i = 0; i < len; i++)
        if (skv_ascii_lower(text[i]) != word[i])
            return false;
    return true;
}

bool skv_value_is_true(json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_TRUE:
        return true;
    case JSON_INTEGER:
        return json_integer_value(value) != 0;
    case JSON_REAL:
        return json_real_value(value) != 0;
    case JSON_STRING:
        return is_word(value, "yes") || is_word(value, "true");
    default:
        return false;
    }
}

bool skv_value_is_false(json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_FALSE:
    case JSON_NULL:
        return true;
    case JSON_INTEGER:
        return json_integer_value(value) == 0;
    case JSON_REAL:
        return json_real_value(value) == 0;
    case JSON_STRING:
        return is_word(value, "no") || is_word(value, "false");
    default:
        return false;
    }
}

bool skv_value_is_empty(json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_NULL:
        return true;
    case JSON_STRING:
        return json_string_length(value) == 0;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return skv_json_count(value) == 0;
    default:
        return false;
    }
}

/* ---- Text ---- */

void skv_value_put_text(json_t *value, skv_buf *out)
{
    if (json_is_string(value))
        skv_buf_put(out, json_string_value(value), json_string_length(value));
    else
        skv_json_put_tree(out, value);
}

/* ---- Depth ---- */

bool skv_value_is_deeper(json_t *value, size_t max)
{
    if (max == 0)
        return skv_json_is_container(value);
    for (skv_json_walk walk = {.container = value}; skv_json_next(&walk);)
        if (skv_value_is_deeper(walk.value, max - 1))
            return true;
    return false;
}

/* ---- Order and equality ---- */

static skv_order order_of(int comparison)
{
    return comparison < 0 ? SKV_ORDER_LESS : comparison > 0 ? SKV_ORDER_GREATER : SKV_ORDER_EQUAL;
}

static skv_order reverse_order(skv_order order)
{
    return order == SKV_ORDER_LESS ? SKV_ORDER_GREATER : order == SKV_ORDER_GREATER ? SKV_ORDER_LESS : order;
}

/* A conversion of the integer to a double would round it beyond 2^53. */
static skv_order compare_integer_with_real(json_int_t integer, double real)
{
    json_int_t whole;
    double fraction;

    if (real >= 0x1p63)
        return SKV_ORDER_LESS;
    if (real < -0x1p63)
        return SKV_ORDER_GREATER;
    whole = (json_int_t)real;
    fraction = real - (double)whole;
    if (integer != whole)
        return order_of(integer < whole ? -1 : 1);
    return order_of((fraction < 0) - (fraction > 0));
}

static skv_order compare_integers(json_int_t a, json_int_t b)
{
    return order_of((a > b) - (a < b));
}

static skv_order compare_numbers(json_t *a, json_t *b)
{
    double in_a = json_real_value(a), in_b = json_real_value(b);

    if (json_is_integer(a) && json_is_integer(b))
        return compare_integers(json_integer_value(a), json_integer_value(b));
    if (json_is_integer(a))
        return compare_integer_with_real(json_integer_value(a), in_b);
    if (json_is_integer(b))
        return reverse_order(compare_integer_with_real(json_integer_value(b), in_a));
    return order_of((in_a > in_b) - (in_a < in_b));
}

static skv_order compare_strings(json_t *a, json_t *b)
{
    size_t a_len = json_string_length(a), b_len = json_string_length(b);
    int comparison = memcmp(json_string_value(a), json_string_value(b), a_len < b_len ? a_len : b_len);

    return order_of(comparison ? comparison : (a_len > b_len) - (a_len < b_len));
}

skv_order skv_value_compare(json_t *a, json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return compare_numbers(a, b);
    if (json_is_string(a) && json_is_string(b))
        return compare_strings(a, b);
    return SKV_ORDER_NONE;
}

static bool equal_strings(json_t *a, json_t *b, size_t *work)
{
    if (json_string_length(a) != json_string_length(b))
        return false;
    *work += json_string_length(a) / SKV_VALUE_BYTES;
    return compare_strings(a, b) == SKV_ORDER_EQUAL;
}

static bool equal(json_t *a, json_t *b, size_t depth, size_t *work);

static bool equal_children(json_t *a, json_t *b, size_t depth, size_t *work)
{
    if (skv_json_count(a) != skv_json_count(b))
        return false;
    for (skv_json_walk walk = {.container = a}; skv_json_next(&walk);) {
        json_t *other = walk.name ? json_object_get(b, walk.name) : json_array_get(b, walk.count - 1);
        if (!other || !equal(walk.value, other, depth, work))
            return false;
    }
    return true;
}

/* `depth` is the number of brackets that may still open. */
static bool equal(json_t *a, json_t *b, size_t depth, size_t *work)
{
    (*work)++;
    if (json_is_string(a) && json_is_string(b))
        return equal_strings(a, b, work);
    if (json_typeof(a) == json_typeof(b) && skv_json_is_container(a))
        return depth > 0 && equal_children(a, b, depth - 1, work);
    if (json_typeof(a) == json_typeof(b) && !json_is_number(a))
        return true;
    return skv_value_compare(a, b) == SKV_ORDER_EQUAL;
}

bool skv_value_equal(json_t *a, json_t *b, size_t *work)
{
    size_t ignored = 0;

    return equal(a, b, SKV_TREE_DEPTH_MAX, work ? work : &ignored);
}

/* ---- Members and copies ---- */

bool skv_value_index(const char *name, size_t *index)
{
    size_t number = 0;

    if (!*name || (name[0] == '0' && name[1]))
        return false;
    for (; *name; name++) {
        if (!skv_ascii_is_digit(*name) || number > (SIZE_MAX - 9) / 10)
            return false;
        number = number * 10 + (size_t)(*name - '0');
    }
    *index = number;
    return true;
}

json_t *skv_value_member(json_t *container, const char *name)
{
    size_t index;

    if (json_is_object(container))
        return json_object_get(container, name);
    return skv_value_index(name, &index) ? json_array_get(container, index) : NULL;
}

/* `depth` is the number of brackets that may still open. */
static json_t *copy(json_t *value, size_t depth)
{
    json_t *result;

    if (!skv_json_is_container(value))
        return json_copy(value);
    if (depth == 0)
        return NULL;
    result = skv_json_empty(value);
    for (skv_json_walk walk = {.container = value}; result && skv_json_next(&walk);)
        skv_json_add(&result, walk.name, copy(walk.value, depth - 1));
    return result;
}

json_t *skv_value_copy(json_t *value)
{
    return copy(value, SKV_TREE_DEPTH_MAX);
}
