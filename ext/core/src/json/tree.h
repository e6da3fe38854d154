/* json/tree.h - JSON that the core makes itself, as trees of jansson. When memory runs out, the tree becomes NULL.
 * Callers need not check for that: skv_json_reply() reports it. */
#ifndef SKV_JSON_TREE_H
#define SKV_JSON_TREE_H

#include "base/reply.h"

#include <jansson.h>

/* Adds a member or an element, and owns `value` from then on. If `value` is NULL, frees the object or array and sets it
 * to NULL. */
void skv_json_put(json_t **object, const char *name, json_t *value);
void skv_json_append(json_t **array, json_t *value);

/* Appends the text of the tree to the reply's data, and frees the tree. Returns the reply's status. */
skv_status skv_json_reply(json_t *tree, skv_reply *reply);

/* Overwrites the strings of a tree that nobody else refers to, and frees it. Accepts NULL. */
void skv_json_free_wiped(json_t *tree);

#endif
