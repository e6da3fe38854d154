#include "name/key.h"

#include <string.h>

skv_quote skv_quoted(const char *name, size_t len)
{
    static const char dots[] = "...";
    skv_quote quote;
    size_t room = sizeof quote.text - sizeof dots;
    size_t kept = len < room ? len : room;

    for (size_t i = 0; i < kept; i++)
        quote.text[i] = name[i] ? name[i] : '?';
    memcpy(quote.text + kept, kept < len ? dots : "", kept < len ? sizeof dots : 1);
    return quote;
}

bool skv_key_next(const char **rest, const char *end, const char **segment, size_t *len)
{
    const char *start = *rest, *stop;

    while (start < end && *start == '/')
        start++;
    if (start == end)
        return false;
    stop = memchr(start, '/', (size_t)(end - start));
    *rest = stop ? stop : end;
    *segment = start;
    *len = (size_t)(*rest - start);
    return true;
}

static bool is_dots(const char *segment, size_t len)
{
    return (len == 1 && segment[0] == '.') || (len == 2 && segment[0] == '.' && segment[1] == '.');
}

static skv_status check_length(const char *segment, size_t len, skv_reply *reply)
{
    if (len <= SKV_KEY_SEGMENT_MAX)
        return SKV_OK;
    return skv_fail(reply, SKV_TOO_LARGE, "'%s' has %zu bytes: a name between two slashes may have %d",
                    skv_quoted(segment, len).text, len, SKV_KEY_SEGMENT_MAX);
}

skv_status skv_key_check_segment(const char *segment, size_t len, skv_reply *reply)
{
    if (is_dots(segment, len))
        return skv_fail(reply, SKV_INVALID, "'.' and '..' are not allowed as a name");
    if (memchr(segment, '\0', len))
        return skv_fail(reply, SKV_INVALID, "'%s' contains a NUL byte", skv_quoted(segment, len).text);
    return check_length(segment, len, reply);
}

bool skv_key_is_segment(const char *name, size_t len)
{
    return len > 0 && len <= SKV_KEY_SEGMENT_MAX && !is_dots(name, len) && !memchr(name, '\0', len) &&
           !memchr(name, '/', len);
}

skv_status skv_key_normalise(const char *prefix, size_t prefix_len, const char *key, size_t key_len, char *out,
                             size_t *out_len, skv_reply *reply)
{
    const char *starts[] = {prefix, key}, *ends[] = {prefix + prefix_len, key + key_len};
    const char *segment;
    size_t len, used = 0;

    for (int i = 0; i < 2; i++) {
        while (skv_key_next(&starts[i], ends[i], &segment, &len)) {
            if (skv_key_check_segment(segment, len, reply) != SKV_OK)
                return reply->status;
            if (used + len + (used > 0) > SKV_KEY_MAX)
                return skv_fail(reply, SKV_TOO_LARGE, "key '%s' has more than %d bytes, its prefix included",
                                skv_quoted(key, key_len).text, SKV_KEY_MAX);
            if (used)
                out[used++] = '/';
            memcpy(out + used, segment, len);
            used += len;
        }
    }
    out[used] = '\0';
    *out_len = used;
    return SKV_OK;
}

skv_status skv_key_join(const char *prefix, size_t prefix_len, const char *key, size_t key_len, skv_reply *reply)
{
    char path[SKV_KEY_MAX + 1];
    size_t len = 0;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!prefix || !key)
        return skv_fail(reply, SKV_INVALID, "a key or prefix is NULL");
    if (skv_key_normalise(prefix, prefix_len, key, key_len, path, &len, reply) != SKV_OK)
        return reply->status;
    skv_buf_put(&reply->data, path, len);
    return skv_reply_done(reply);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_key_char(char c, int flags)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' || c == '/' ||
           c == '-' || ((flags & SKV_KEY_UPPER) && c >= 'A' && c <= 'Z');
}

static bool has_only_key_chars(const char *key, size_t key_len, int flags)
{
    for (size_t i = 0; i < key_len; i++)
        if (!is_key_char(key[i], flags))
            return false;
    return true;
}

/* White space comes first in messages. */
static skv_status refuse_characters(const char *key, size_t key_len, skv_reply *reply)
{
    for (size_t i = 0; i < key_len; i++)
        if (is_space(key[i]))
            return skv_fail(reply, SKV_INVALID, "key '%s' contains disallowed whitespace",
                            skv_quoted(key, key_len).text);
    skv_fail(reply, SKV_INVALID, "key '%s' contains unsupported characters.  Allowed set=[a-z0-9._:-/]",
             skv_quoted(key, key_len).text);
    if (has_only_key_chars(key, key_len, SKV_KEY_UPPER))
        skv_reply_append(reply, ": write it in lower case; only a backend with 'case_sensitive' takes capital letters");
    return reply->status;
}

skv_status skv_key_check(const char *key, size_t key_len, int flags, skv_reply *reply)
{
    const char *rest = key, *segment;
    size_t len;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!key || key_len == 0)
        return skv_fail(reply, SKV_INVALID, "the key is empty: give a path such as 'app1/password'");
    if (key_len > SKV_KEY_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "key '%s' has %zu bytes: %d are allowed, its prefix included",
                        skv_quoted(key, key_len).text, key_len, SKV_KEY_MAX);
    if (!has_only_key_chars(key, key_len, flags))
        return refuse_characters(key, key_len, reply);
    while (skv_key_next(&rest, key + key_len, &segment, &len)) {
        if (is_dots(segment, len))
            return skv_fail(reply, SKV_INVALID, "key '%s' contains disallowed '/./' or '/../' sequence",
                            skv_quoted(key, key_len).text);
        if (check_length(segment, len, reply) != SKV_OK)
            return reply->status;
    }
    return SKV_OK;
}
