#include "secret/request.h"

#include "json/tree.h"

#include <string.h>

bool skv_request_open(skv_request *request, const char *json, size_t json_len, skv_reply *reply)
{
    json_error_t error;

    *request = (skv_request){.what = "this call", .path = "", .reply = reply};
    if (!json) {
        skv_fail(reply, SKV_INVALID, "the request is NULL");
        return false;
    }
    request->members = skv_json_load(json, json_len, 0, &error, reply);
    request->taken = json_object();
    if (!request->members)
        skv_json_fail_syntax("the request is", &error, reply);
    else if (!json_is_object(request->members))
        skv_fail(reply, SKV_INVALID, "the request is no object");
    else if (!request->taken)
        skv_fail_memory(reply);
    return reply->status == SKV_OK;
}

bool skv_request_open_member(skv_request *request, json_t *object, const char *path, const char *what, skv_reply *reply)
{
    *request = (skv_request){json_incref(object), json_object(), what, path, reply};
    if (!request->taken)
        skv_fail_memory(reply);
    return reply->status == SKV_OK;
}

void skv_request_close(skv_request *request)
{
    json_decref(request->members);
    json_decref(request->taken);
}

skv_status skv_request_refuse(skv_request *request, const char *name, const char *expected)
{
    return skv_fail(request->reply, SKV_INVALID, "option '%s%s': expected %s", request->path, name, expected);
}

/* Moves a member to those that were read. Returns NULL if there is none. */
static json_t *take_member(skv_request *request, const char *name)
{
    json_t *value = json_object_get(request->members, name);

    if (!value || request->reply->status != SKV_OK)
        return NULL;
    if (json_object_set(request->taken, name, value) != 0) {
        skv_fail_memory(request->reply);
        return NULL;
    }
    json_object_del(request->members, name);
    return value;
}

int64_t skv_request_integer(skv_request *request, const char *name, int64_t otherwise, int64_t min, int64_t max)
{
    json_t *value = take_member(request, name);
    int64_t number = json_integer_value(value);

    if (!value)
        return otherwise;
    if (json_is_integer(value) && number >= min && number <= max)
        return number;
    skv_fail(request->reply, SKV_INVALID, "option '%s%s': expected an integer from %lld to %lld", request->path, name,
             (long long)min, (long long)max);
    return otherwise;
}

const char *skv_request_text(skv_request *request, const char *name, const char *otherwise)
{
    json_t *value = take_member(request, name);

    if (!value)
        return otherwise;
    if (json_is_string(value))
        return json_string_value(value);
    skv_request_refuse(request, name, "a text");
    return otherwise;
}

/* Returns true for UTF-8 without the control characters of ASCII and Latin-1, and without U+2028 and U+2029, which
 * separate lines. */
static bool is_line(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at < 0x20 || *at == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0) ||
            (at[0] == 0xe2 && at[1] == 0x80 && (at[2] | 1) == 0xa9))
            return false;
    return true;
}

const char *skv_request_line(skv_request *request, const char *name, const char *otherwise, size_t max)
{
    const char *text = skv_request_text(request, name, otherwise);

    if (!text || (is_line(text) && strlen(text) <= max))
        return text;
    skv_fail(request->reply, SKV_INVALID, "option '%s%s': expected one line of text, of %zu bytes at most",
             request->path, name, max);
    return otherwise;
}

bool skv_request_flag(skv_request *request, const char *name)
{
    json_t *value = take_member(request, name);

    if (value && !json_is_boolean(value))
        skv_request_refuse(request, name, "true or false");
    return json_is_true(value);
}

json_t *skv_request_object(skv_request *request, const char *name)
{
    json_t *value = take_member(request, name);

    if (!value || json_is_object(value))
        return value;
    skv_request_refuse(request, name, "a Hash");
    return NULL;
}

json_t *skv_request_array(skv_request *request, const char *name)
{
    json_t *value = take_member(request, name);

    if (!value || json_is_array(value))
        return value;
    skv_request_refuse(request, name, "an Array");
    return NULL;
}

bool skv_request_done(skv_request *request)
{
    skv_json_walk left = {.container = request->members};

    if (request->reply->status == SKV_OK && skv_json_next_member(&left))
        skv_fail(request->reply, SKV_INVALID, "unknown option '%s' of %s", left.name, request->what);
    return request->reply->status == SKV_OK;
}
