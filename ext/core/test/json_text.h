/* json_text.h - JSON in tests: the tables write ' for ". */
#ifndef SKV_TEST_JSON_TEXT_H
#define SKV_TEST_JSON_TEXT_H

#include "check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Reads JSON of any type. The caller owns the result. */
static inline json_t *json_of(const char *text)
{
    char *quoted = strdup(text);
    json_error_t error = {.text = ""};
    json_t *value;

    for (char *p = quoted; *p; p++)
        if (*p == '\'')
            *p = '"';
    value = json_loadb(quoted, strlen(quoted), JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!CHECK(value != NULL))
        printf("  %s: %s\n", text, error.text);
    free(quoted);
    return value;
}

/* Nests `depth` lists. */
static inline json_t *nested_lists(int depth)
{
    json_t *value = json_null();

    for (int i = 0; i < depth; i++)
        value = json_pack("[o]", value);
    return value;
}

/* Checks the value, which may be NULL, and prints it if it differs. Borrows it. */
#define CHECK_JSON(actual, expected) check_json_((actual), (expected), __FILE__, __LINE__)

static inline bool check_json_(json_t *actual, const char *expected, const char *file, int line)
{
    json_t *other = json_of(expected);
    bool held = check_(actual && json_equal(actual, other), file, line, "JSON is equal");
    char *text = held || !actual ? NULL : json_dumps(actual, JSON_COMPACT | JSON_ENCODE_ANY);

    if (!held)
        printf("  expected: %s\n  actual:   %s\n", expected, text ? text : "(none)");
    free(text);
    json_decref(other);
    return held;
}

#endif
