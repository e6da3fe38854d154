#include "json/tree.h"

#include <string.h>

static void wipe_tree(json_t *tree);

static void wipe_members(json_t *object)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        wipe_tree(json_object_iter_value(at));
}

static void wipe_elements(json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        wipe_tree(json_array_get(array, i));
}

/* Parts that somebody else refers to stay as they are. Recurses no deeper than jansson's JSON_PARSER_MAX_DEPTH, 2048.
 */
static void wipe_tree(json_t *tree)
{
    if (__atomic_load_n(&tree->refcount, __ATOMIC_ACQUIRE) != 1)
        return;
    switch (json_typeof(tree)) {
    case JSON_OBJECT:
        wipe_members(tree);
        break;
    case JSON_ARRAY:
        wipe_elements(tree);
        break;
    case JSON_STRING:
        explicit_bzero((void *)(uintptr_t)json_string_value(tree), json_string_length(tree));
        break;
    default:
        break;
    }
}

void skv_json_free_wiped(json_t *tree)
{
    if (tree)
        wipe_tree(tree);
    json_decref(tree);
}

bool skv_json_lacks_memory(const json_error_t *error)
{
    return json_error_code(error) == json_error_out_of_memory || error->text[0] == '\0';
}

skv_status skv_json_fail_syntax(const char *name, const json_error_t *error, skv_reply *reply)
{
    if (skv_json_lacks_memory(error))
        return skv_fail_memory(reply);
    if (json_error_code(error) == json_error_numeric_overflow)
        return skv_fail(reply, SKV_INVALID, "%s not usable, with a number beyond 64 bits: line %d, column %d", name,
                        error->line, error->column);
    return skv_fail(reply, SKV_INVALID, "%s not JSON: line %d, column %d", name, error->line, error->column);
}

void skv_json_put(json_t **object, const char *name, json_t *value)
{
    if (json_object_set_new(*object, name, value) == 0)
        return;
    skv_json_free_wiped(*object);
    *object = NULL;
}

void skv_json_append(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) == 0)
        return;
    skv_json_free_wiped(*array);
    *array = NULL;
}

static int put_piece(const char *bytes, size_t len, void *data)
{
    skv_buf_put(data, bytes, len);
    return skv_buf_failed(data) ? -1 : 0;
}

skv_status skv_json_reply(json_t *tree, skv_reply *reply)
{
    bool written = tree && json_dump_callback(tree, put_piece, &reply->data, JSON_COMPACT) == 0;

    skv_json_free_wiped(tree);
    return written || skv_buf_failed(&reply->data) ? skv_reply_done(reply) : skv_fail_memory(reply);
}
