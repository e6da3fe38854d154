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

/* Reads JSON with jansson, which gets the flags, and refuses a member that occurs twice. Returns NULL if memory runs
 * out, and fails the reply; or if the bytes are no such JSON, and sets the error: the caller may fail the reply then,
 * which keeps the first failure. When memory runs out, some versions of jansson report a syntax error. Does not depend
 * on the locale. */
json_t *skv_json_load(const char *bytes, size_t len, size_t flags, json_error_t *error, skv_reply *reply);

/* Fails with SKV_INVALID, the name of a text that skv_json_load() did not read, and the place. */
skv_status skv_json_fail_syntax(const char *name, const json_error_t *error, skv_reply *reply);

/* Appends the text of the tree to the reply's data, and frees the tree. Returns the reply's status. */
skv_status skv_json_reply(json_t *tree, skv_reply *reply);

#endif
