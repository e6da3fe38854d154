#include "rules/reader.h"

#include "json/tree.h"

#include <stdio.h>
#include <string.h>

/* Of a member's name, in places. */
#define NAME_MAX_SHOWN 100

size_t skv_place_member(skv_buf *place, const char *name)
{
    size_t before = place->len;

    if (before)
        skv_buf_put_char(place, '.');
    skv_buf_put(place, name, strnlen(name, NAME_MAX_SHOWN));
    return before;
}

size_t skv_place_element(skv_buf *place, size_t index)
{
    size_t before = place->len;
    char text[32];

    snprintf(text, sizeof text, "[%zu]", index);
    skv_buf_put_string(place, text);
    return before;
}

static bool is_listed(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

skv_status skv_refuse_unknown(skv_reader *reader, json_t *object, const char *const *names)
{
    for (skv_json_walk walk = {.container = object}; skv_json_next_member(&walk);) {
        if (is_listed(walk.name, names))
            continue;
        skv_place_member(&reader->place, walk.name);
        skv_fail(reader->reply, SKV_INVALID, "unknown: expected");
        for (size_t i = 0; names[i]; i++)
            skv_reply_append(reader->reply, "%s %s", i ? "," : "", names[i]);
        return SKV_INVALID;
    }
    return SKV_OK;
}

const char *skv_text_of(const json_t *value)
{
    const char *text = json_string_value(value);

    return text && strlen(text) == json_string_length(value) ? text : NULL;
}
