/* made.h - makes secrets in tests. */
#ifndef SKV_TEST_MADE_H
#define SKV_TEST_MADE_H

#include "json_text.h"
#include "simpkv_secret.h"

/* The reply of the calls. */
static skv_reply *result;

/* Makes a secret; the request is JSON with ' for ". Returns the object, which the caller owns, or NULL. */
static inline json_t *made(const char *request)
{
    json_t *tree = json_of(request);
    char *text = json_dumps(tree, 0);
    skv_status status = skv_secret_make(text, strlen(text), result);

    free(text);
    json_decref(tree);
    return status == SKV_OK ? json_of(skv_reply_data(result)) : NULL;
}

/* Checks that the request is SKV_INVALID, with a message that has `part`. */
static inline void refused(const char *request, const char *part)
{
    CHECK(!made(request));
    CHECK_STATUS(result, SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), part);
}

/* Return the secret, and what belongs to it; "" if it is missing. */
static inline const char *value_of(const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "value"));

    return text ? text : "";
}

static inline const char *part_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(object, "parts"), name));

    return text ? text : "";
}

/* For chaos: returns true if the call succeeds. Otherwise memory has run out, which some versions of jansson take for a
 * syntax error. The caller owns the reply, which is NULL after a failure. */
static inline bool made_in_chaos(const char *request, skv_reply **reply)
{
    *reply = skv_reply_new();
    if (!*reply || skv_secret_make(request, strlen(request), *reply) == SKV_OK)
        return *reply;
    CHECK(skv_reply_status(*reply) == SKV_NOMEM || strstr(skv_reply_message(*reply), "is not JSON"));
    skv_reply_free(*reply);
    *reply = NULL;
    return false;
}

#endif
