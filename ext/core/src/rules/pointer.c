#include "rules/pointer.h"

#include "rules/limits.h"
#include "rules/value.h"
#include "json/tree.h"

#include <stdint.h>
#include <string.h>

#define NAMES_MAX (SKV_VALUE_DEPTH_MAX - 1)

/* ---- Parsing ---- */

/* A pointer, its names, and their bytes behind them, in one block. */
typedef struct block {
    skv_pointer pointer;
    const char *names[];
} block;

static size_t count_slashes(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == '/';
    return count;
}

/* Returns the offset of a '~' without 0 or 1 behind it, or `len`. */
static size_t find_wrong_escape(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '~' && (i + 1 == len || (text[i + 1] != '0' && text[i + 1] != '1')))
            return i;
    return len;
}

static skv_status check_text(const char *text, size_t len, skv_reply *reply)
{
    size_t escape;

    if (len == 0)
        return skv_fail(reply, SKV_INVALID, "an empty path names nothing: write '/name'");
    if (text[0] != '/')
        return skv_fail(reply, SKV_INVALID, "a path starts with '/'");
    if (memchr(text, '\0', len))
        return skv_fail(reply, SKV_INVALID, "a path contains NUL");
    escape = find_wrong_escape(text, len);
    if (escape < len)
        return skv_fail(reply, SKV_INVALID, "'~' at offset %zu of the path: write '~0' for '~' and '~1' for '/'",
                        escape);
    if (count_slashes(text, len) > NAMES_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the path has more than %d parts", NAMES_MAX);
    return SKV_OK;
}

static void read_names(const char *text, size_t len, const char **names, char *out)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '/') {
            if (i)
                *out++ = '\0';
            *names++ = out;
        } else if (text[i] == '~') {
            *out++ = text[++i] == '0' ? '~' : '/';
        } else {
            *out++ = text[i];
        }
    }
    *out = '\0';
}

skv_status skv_pointer_parse(const char *text, size_t len, skv_pointer **out, skv_reply *reply)
{
    skv_status status = check_text(text, len, reply);
    size_t count;
    block *b;

    *out = NULL;
    if (status != SKV_OK)
        return status;
    count = count_slashes(text, len);
    /* Each name has a NUL in place of its slash. */
    b = skv_alloc(sizeof *b + count * sizeof *b->names + len);
    if (!b)
        return skv_fail_memory(reply);
    read_names(text, len, b->names, (char *)(b->names + count));
    b->pointer = (skv_pointer){.names = b->names, .count = count, .size = len};
    *out = &b->pointer;
    return SKV_OK;
}

void skv_pointer_free(skv_pointer *pointer)
{
    skv_free(pointer);
}

void skv_pointer_put_name(skv_buf *out, const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '~')
            skv_buf_put_string(out, "~0");
        else if (name[i] == '/')
            skv_buf_put_string(out, "~1");
        else
            skv_buf_put_char(out, name[i]);
    }
}

/* ---- Reading ---- */

/* Returns what the first `count` names lead to. */
static json_t *descend(const skv_pointer *pointer, json_t *tree, size_t count)
{
    for (size_t i = 0; tree && i < count; i++)
        tree = skv_value_member(tree, pointer->names[i]);
    return tree;
}

json_t *skv_pointer_get(const skv_pointer *pointer, json_t *tree)
{
    return descend(pointer, tree, pointer->count);
}

size_t skv_pointer_index(json_t *list, const char *name)
{
    size_t size = json_array_size(list), index;

    if (strcmp(name, "-") == 0)
        return size;
    return skv_value_index(name, &index) && index <= size ? index : SIZE_MAX;
}

/* ---- Writing ---- */

/* Owns `value`. `part` counts the names from 1, for messages. */
static skv_status put_element(json_t *list, const char *name, size_t part, json_t *value, skv_reply *reply)
{
    size_t size = json_array_size(list), index = skv_pointer_index(list, name);
    int result;

    if (index == SIZE_MAX) {
        json_decref(value);
        return skv_fail(reply, SKV_INVALID,
                        "part %zu of the path is neither '-' nor an index from 0 to %zu, the length of the list", part,
                        size);
    }
    result = index < size ? json_array_set_new(list, index, value) : json_array_append_new(list, value);
    return result == 0 ? SKV_OK : skv_fail_memory(reply);
}

/* Puts `value`, which it owns, under the name with that number into its parent. */
static skv_status put_at_name(const skv_pointer *pointer, size_t i, json_t *parent, json_t *value, skv_reply *reply)
{
    if (json_is_array(parent))
        return put_element(parent, pointer->names[i], i + 1, value, reply);
    if (json_is_object(parent))
        return json_object_set_new(parent, pointer->names[i], value) == 0 ? SKV_OK : skv_fail_memory(reply);
    json_decref(value);
    return skv_fail(reply, SKV_INVALID, "part %zu of the path is in a value that is neither a Hash nor a list", i + 1);
}

/* Returns the parent of what the pointer names. Makes it, and its parents, if necessary. */
static json_t *make_parents(const skv_pointer *pointer, json_t *tree, skv_reply *reply)
{
    for (size_t i = 0; i + 1 < pointer->count; i++) {
        json_t *child = skv_value_member(tree, pointer->names[i]);

        if (!child) {
            child = json_object();
            if (put_at_name(pointer, i, tree, child, reply) != SKV_OK)
                return NULL;
        }
        tree = child;
    }
    return tree;
}

/* Owns `value`, which may be NULL when out of memory. */
static skv_status store_value(const skv_pointer *pointer, json_t *tree, json_t *value, skv_reply *reply)
{
    json_t *parent;

    if (!value)
        return skv_fail_memory(reply);
    parent = make_parents(pointer, tree, reply);
    if (!parent) {
        json_decref(value);
        return reply->status;
    }
    return put_at_name(pointer, pointer->count - 1, parent, value, reply);
}

/* `above` is the number of brackets around the value. */
static skv_status check_depth(json_t *value, size_t above, skv_reply *reply)
{
    if (above <= SKV_VALUE_DEPTH_MAX && !skv_value_is_deeper(value, SKV_VALUE_DEPTH_MAX - above))
        return SKV_OK;
    return skv_fail(reply, SKV_TOO_LARGE, "the result is nested deeper than %d lists and Hashes", SKV_VALUE_DEPTH_MAX);
}

skv_status skv_pointer_set(const skv_pointer *pointer, json_t *tree, json_t *value, skv_reply *reply)
{
    skv_status status = check_depth(value, pointer->count, reply);

    /* The copy comes first: the value may be a part of the tree. */
    return status == SKV_OK ? store_value(pointer, tree, skv_value_copy(value), reply) : status;
}

static bool has_element(json_t *list, skv_extension *extension)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (skv_value_equal(json_array_get(list, i), extension->value, &extension->work))
            return true;
    return false;
}

static json_t *list_of(json_t *element)
{
    json_t *list = json_array();

    skv_json_append(&list, element);
    return list;
}

skv_status skv_pointer_extend(const skv_pointer *pointer, json_t *tree, skv_extension *extension, skv_reply *reply)
{
    json_t *list = skv_pointer_get(pointer, tree), *element;
    skv_status status = check_depth(extension->value, pointer->count + 1, reply);

    extension->work = 0;
    extension->changed = false;
    if (status != SKV_OK)
        return status;
    if (list && !json_is_null(list) && !json_is_array(list))
        return skv_fail(reply, SKV_INVALID, "the path names something that is not a list");
    if ((extension->unique && has_element(list, extension)) || has_element(extension->skip, extension))
        return SKV_OK;
    element = skv_value_copy(extension->value);
    if (!json_is_array(list))
        status = store_value(pointer, tree, list_of(element), reply);
    else if (json_array_append_new(list, element) != 0)
        status = skv_fail_memory(reply);
    extension->changed = status == SKV_OK;
    return status;
}

bool skv_pointer_delete(const skv_pointer *pointer, json_t *tree)
{
    json_t *parent = descend(pointer, tree, pointer->count - 1);
    const char *name = pointer->names[pointer->count - 1];
    size_t index;

    if (json_is_object(parent))
        return json_object_del(parent, name) == 0;
    return skv_value_index(name, &index) && json_array_remove(parent, index) == 0;
}
