#include "rules/value.h"

#include "base/ascii.h"
#include "rules/limits.h"
#include "json/tree.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The deepest value that occurs: an argument of a rule that has data of the node in it. */
#define NESTING_MAX (SKV_VALUE_DEPTH_MAX + SKV_RULE_DEPTH_MAX)

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
        return json_array_size(value) == 0;
    case JSON_OBJECT:
        return json_object_size(value) == 0;
    default:
        return false;
    }
}

/* ---- Text ---- */

/* Writes to `out`, or only counts if that is NULL. */
typedef struct writer {
    skv_buf *out;
    size_t size;
    size_t max;
    bool too_deep;
} writer;

static bool is_stopped(const writer *w)
{
    return w->too_deep || w->size > w->max || (w->out && skv_buf_failed(w->out));
}

static void emit(writer *w, const char *bytes, size_t len)
{
    w->size += len;
    if (w->out)
        skv_buf_put(w->out, bytes, len);
}

static void emit_escape(writer *w, unsigned char c)
{
    static const char *const named[] = {['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
                                        ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\"};
    char code[8];

    if (named[c])
        emit(w, named[c], 2);
    else
        emit(w, code, (size_t)snprintf(code, sizeof code, "\\u%04x", c));
}

static void emit_string(writer *w, const char *text, size_t len)
{
    size_t start = 0;

    emit(w, "\"", 1);
    for (size_t i = 0; i < len && !is_stopped(w); i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        emit(w, text + start, i - start);
        emit_escape(w, c);
        start = i + 1;
    }
    emit(w, text + start, len - start);
    emit(w, "\"", 1);
}

static void emit_integer(writer *w, json_int_t number)
{
    char text[24];

    emit(w, text, (size_t)snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, number));
}

static void emit_real(writer *w, double number)
{
    char text[SKV_DOUBLE_MAX];

    emit(w, text, skv_format_double(number, text));
}

static void emit_value(writer *w, json_t *value, size_t depth);

static void emit_members(writer *w, json_t *object, size_t depth)
{
    bool first = true;

    emit(w, "{", 1);
    for (void *at = json_object_iter(object); at && !is_stopped(w); at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);

        emit(w, ",", !first);
        emit_string(w, name, strlen(name));
        emit(w, ":", 1);
        emit_value(w, json_object_iter_value(at), depth);
        first = false;
    }
    emit(w, "}", 1);
}

static void emit_elements(writer *w, json_t *array, size_t depth)
{
    emit(w, "[", 1);
    for (size_t i = 0; i < json_array_size(array) && !is_stopped(w); i++) {
        emit(w, ",", i > 0);
        emit_value(w, json_array_get(array, i), depth);
    }
    emit(w, "]", 1);
}

/* `depth` is the number of brackets that may still open. */
static void emit_container(writer *w, json_t *value, size_t depth)
{
    if (depth == 0)
        w->too_deep = true;
    else if (json_is_object(value))
        emit_members(w, value, depth - 1);
    else
        emit_elements(w, value, depth - 1);
}

static void emit_value(writer *w, json_t *value, size_t depth)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        emit_string(w, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        emit_integer(w, json_integer_value(value));
        break;
    case JSON_REAL:
        emit_real(w, json_real_value(value));
        break;
    case JSON_TRUE:
        emit(w, "true", 4);
        break;
    case JSON_FALSE:
        emit(w, "false", 5);
        break;
    case JSON_NULL:
        emit(w, "null", 4);
        break;
    default:
        emit_container(w, value, depth);
    }
}

void skv_value_put_json(json_t *value, skv_buf *out)
{
    writer w = {.out = out, .max = SIZE_MAX};

    emit_value(&w, value, NESTING_MAX);
    if (w.too_deep)
        out->too_large = true;
}

void skv_value_put_text(json_t *value, skv_buf *out)
{
    if (json_is_string(value))
        skv_buf_put(out, json_string_value(value), json_string_length(value));
    else
        skv_value_put_json(value, out);
}

size_t skv_value_size(json_t *value, size_t max)
{
    writer w = {.max = max};

    emit_value(&w, value, NESTING_MAX);
    return w.too_deep ? SIZE_MAX : w.size;
}

/* ---- Depth ---- */

static bool has_deeper_member(json_t *object, size_t max)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        if (skv_value_is_deeper(json_object_iter_value(at), max))
            return true;
    return false;
}

static bool has_deeper_element(json_t *array, size_t max)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (skv_value_is_deeper(json_array_get(array, i), max))
            return true;
    return false;
}

bool skv_value_is_deeper(json_t *value, size_t max)
{
    if (json_is_object(value))
        return max == 0 || has_deeper_member(value, max - 1);
    if (json_is_array(value))
        return max == 0 || has_deeper_element(value, max - 1);
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

static bool equal_elements(json_t *a, json_t *b, size_t depth, size_t *work)
{
    if (json_array_size(a) != json_array_size(b))
        return false;
    for (size_t i = 0; i < json_array_size(a); i++)
        if (!equal(json_array_get(a, i), json_array_get(b, i), depth, work))
            return false;
    return true;
}

static bool equal_members(json_t *a, json_t *b, size_t depth, size_t *work)
{
    if (json_object_size(a) != json_object_size(b))
        return false;
    for (void *at = json_object_iter(a); at; at = json_object_iter_next(a, at)) {
        json_t *other = json_object_get(b, json_object_iter_key(at));
        if (!other || !equal(json_object_iter_value(at), other, depth, work))
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
    if (json_is_object(a) && json_is_object(b))
        return depth > 0 && equal_members(a, b, depth - 1, work);
    if (json_is_array(a) && json_is_array(b))
        return depth > 0 && equal_elements(a, b, depth - 1, work);
    if (json_typeof(a) == json_typeof(b) && !json_is_number(a))
        return true;
    return skv_value_compare(a, b) == SKV_ORDER_EQUAL;
}

bool skv_value_equal(json_t *a, json_t *b, size_t *work)
{
    size_t ignored = 0;

    return equal(a, b, NESTING_MAX, work ? work : &ignored);
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

static json_t *copy(json_t *value, size_t depth);

static json_t *copy_members(json_t *object, size_t depth)
{
    json_t *result = json_object();

    for (void *at = json_object_iter(object); result && at; at = json_object_iter_next(object, at))
        skv_json_put(&result, json_object_iter_key(at), copy(json_object_iter_value(at), depth));
    return result;
}

static json_t *copy_elements(json_t *array, size_t depth)
{
    json_t *result = json_array();

    for (size_t i = 0; result && i < json_array_size(array); i++)
        skv_json_append(&result, copy(json_array_get(array, i), depth));
    return result;
}

/* `depth` is the number of brackets that may still open. */
static json_t *copy(json_t *value, size_t depth)
{
    if (!json_is_object(value) && !json_is_array(value))
        return json_copy(value);
    if (depth == 0)
        return NULL;
    return json_is_object(value) ? copy_members(value, depth - 1) : copy_elements(value, depth - 1);
}

json_t *skv_value_copy(json_t *value)
{
    return copy(value, NESTING_MAX);
}
