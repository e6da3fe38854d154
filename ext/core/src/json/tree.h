/* json/tree.h - trees of jansson. When memory runs out, a tree that the core makes becomes NULL. Callers need not check
 * for that: skv_json_reply() reports it. */
#ifndef SKV_JSON_TREE_H
#define SKV_JSON_TREE_H

#include "base/reply.h"

#include <jansson.h>
#include <locale.h>

/* Adds a member or an element, and owns `value` from then on. If `value` or the object or array is NULL, frees the
 * other one, and sets the object or array to NULL. */
void skv_json_put(json_t **object, const char *name, json_t *value);
void skv_json_append(json_t **array, json_t *value);

/* Fails with SKV_INVALID, the name of a text that jansson does not read, and the place; SKV_NOMEM if memory ran out.
 * When it does, some versions of jansson report a code, some an empty message, and some a syntax error. */
skv_status skv_json_fail_syntax(const char *name, const json_error_t *error, skv_reply *reply);
bool skv_json_lacks_memory(const json_error_t *error);

/* Reads JSON of any locale with jansson, for which the flags are. Returns NULL if memory runs out, and fails the reply;
 * or if it is no such JSON, and sets the error: the caller fails the reply then. */
json_t *skv_json_load(const char *bytes, size_t len, size_t flags, json_error_t *error, skv_reply *reply);

/* Appends the text of the tree to the reply's data, and frees the tree. Returns the reply's status. */
skv_status skv_json_reply(json_t *tree, skv_reply *reply);

/* The locale that a thread returns to. */
typedef struct skv_locale {
    locale_t numbers, previous;
} skv_locale;

/* jansson uses the thread's locale, and aborts if its decimal point has several bytes. Sets the C locale for numbers in
 * this thread, until skv_locale_leave(). Returns SKV_OK or SKV_NOMEM; skv_locale_leave() is not called then. */
skv_status skv_locale_enter(skv_locale *locale, skv_reply *reply);
void skv_locale_leave(const skv_locale *locale);

#endif
