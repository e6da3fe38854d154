/* rules/value.h - properties of JSON values: truth, text, order and equality. Values are borrowed, and none is changed.
 * Values may be nested to SKV_TREE_DEPTH_MAX; deeper ones equal nothing and have no text. */
#ifndef SKV_RULES_VALUE_H
#define SKV_RULES_VALUE_H

#include "base/buf.h"

#include <jansson.h>

/* true; a number other than 0; "yes" or "true" in any case. */
bool skv_value_is_true(json_t *value);

/* false; 0; "no" or "false" in any case; null. */
bool skv_value_is_false(json_t *value);

/* null, "", [] and {}. */
bool skv_value_is_empty(json_t *value);

/* Appends the value as text to a buffer: a string as it is, everything else as skv_json_put_tree() writes it. */
void skv_value_put_text(json_t *value, skv_buf *out);

/* Returns true if more than `max` brackets are open in each other. Recurses no deeper than `max`. */
bool skv_value_is_deeper(json_t *value, size_t max);

/* Compares by content: numbers by value (1 equals 1.0; integers beyond 2^53 exactly), strings by bytes, objects without
 * regard to the order of members. Values of different types differ. Adds the number of values that it compared to
 * *work, unless that is NULL; SKV_VALUE_BYTES of a long string count as a value. */
#define SKV_VALUE_BYTES 1024
bool skv_value_equal(json_t *a, json_t *b, size_t *work);

typedef enum skv_order { SKV_ORDER_NONE, SKV_ORDER_LESS, SKV_ORDER_EQUAL, SKV_ORDER_GREATER } skv_order;

/* Returns the order of `a` relative to `b`: SKV_ORDER_LESS if a < b. Returns SKV_ORDER_NONE unless both are numbers, or
 * both are strings (which it compares by bytes). */
skv_order skv_value_compare(json_t *a, json_t *b);

/* Reads the index of a list's element: decimal digits without leading zeros. Returns false for anything else. */
bool skv_value_index(const char *name, size_t *index);

/* Returns the member of an object, or the element of a list if `name` is its index. Returns NULL if there is none, and
 * for values that have no members. The result is borrowed from the container.
 */
json_t *skv_value_member(json_t *container, const char *name);

/* Returns a copy that shares nothing with the original, so that it can be changed and wiped. The caller owns it.
 * Returns NULL when out of memory, or if the value is nested too deeply. Several threads may copy the same value at
 * once. */
json_t *skv_value_copy(json_t *value);

#endif
