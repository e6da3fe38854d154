/* json/tree.h - trees of jansson. When memory runs out, a tree that the core makes becomes NULL. Callers need not check
 * for that: skv_json_reply() reports it. */
#ifndef SKV_JSON_TREE_H
#define SKV_JSON_TREE_H

#include "base/reply.h"

#include <jansson.h>

/* Adds a member or an element, and owns `value` from then on. If `value` or the object or array is NULL, frees the
 * other one, and sets the object or array to NULL. */
void skv_json_put(json_t **object, const char *name, json_t *value);
void skv_json_append(json_t **array, json_t *value);

/* Calls skv_json_put() if there is a name, else skv_json_append(). */
void skv_json_add(json_t **container, const char *name, json_t *value);

/* A walk over the members of an object, in their order, or the elements of an array. Any other value has neither. */
typedef struct skv_json_walk {
    json_t *container;
    void *at;         /* of an object */
    size_t count;     /* of the values so far */
    const char *name; /* of the member; NULL for an element */
    json_t *value;
} skv_json_walk;

/* Moves to the next value. Returns false at the end. Begin with {.container = ...}. */
static inline bool skv_json_next(skv_json_walk *walk)
{
    if (!json_is_object(walk->container)) {
        walk->value = json_array_get(walk->container, walk->count++);
        return walk->value;
    }
    walk->at = walk->count++ ? json_object_iter_next(walk->container, walk->at) : json_object_iter(walk->container);
    walk->name = json_object_iter_key(walk->at);
    walk->value = json_object_iter_value(walk->at);
    return walk->at;
}

/* The same for an object alone: the other values have no members. */
static inline bool skv_json_next_member(skv_json_walk *walk)
{
    return skv_json_next(walk) && walk->name;
}

/* Returns true for an object or an array. */
static inline bool skv_json_is_container(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

/* Returns the number of members or elements. */
static inline size_t skv_json_count(const json_t *value)
{
    return json_is_object(value) ? json_object_size(value) : json_array_size(value);
}

/* Returns an empty container of the same type; NULL if memory runs out. */
static inline json_t *skv_json_empty(const json_t *container)
{
    return json_is_object(container) ? json_object() : json_array();
}

/* Reads JSON with jansson, which gets the flags, and refuses a member that occurs twice. Returns NULL if memory runs
 * out, and fails the reply; or if the bytes are no such JSON, and sets the error: the caller may fail the reply then,
 * which keeps the first failure. Does not depend on the locale. */
json_t *skv_json_load(const char *bytes, size_t len, size_t flags, json_error_t *error, skv_reply *reply);

/* Fails with SKV_INVALID, the name of a text that skv_json_load() did not read, and the place. */
skv_status skv_json_fail_syntax(const char *name, const json_error_t *error, skv_reply *reply);

/* Makes a text of the buffer, which is freed. Returns NULL if the buffer has failed or memory runs out. */
json_t *skv_json_take_text(skv_buf *buf);

/* Appends the text of the tree to the reply's data, and frees the tree. Returns the reply's status. */
skv_status skv_json_reply(json_t *tree, skv_reply *reply);

#endif
