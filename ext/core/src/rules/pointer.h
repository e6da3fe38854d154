/*
 * rules/pointer.h - JSON pointers (RFC 6901): find, set, extend and delete what they name in a tree.
 *
 * A tree is an object, and the pointer never names the tree itself. A list takes the index of an element; setting takes
 * its length or "-" as well, which append. Messages name the pointer's parts, never values.
 */
#ifndef SKV_RULES_POINTER_H
#define SKV_RULES_POINTER_H

#include "base/reply.h"

#include <jansson.h>

/* Immutable after skv_pointer_parse(): several threads may use it at once. */
typedef struct skv_pointer {
    const char *const *names; /* unescaped, NUL-terminated */
    size_t count;             /* of names; at least 1 */
    size_t size;              /* bytes of the pointer's text */
} skv_pointer;

/* Sets *out to a pointer that the caller frees with skv_pointer_free(), or to NULL. Returns SKV_OK; SKV_INVALID with
 * the reason for a text that is empty, does not start with '/', has '~' without 0 or 1 behind it, or contains NUL;
 * SKV_TOO_LARGE for more than SKV_VALUE_DEPTH_MAX - 1 names; SKV_NOMEM. */
skv_status skv_pointer_parse(const char *text, size_t len, skv_pointer **out, skv_reply *reply);

/* Accepts NULL. */
void skv_pointer_free(skv_pointer *pointer);

/* Appends a name as it is written in a pointer: '~' as "~0", '/' as "~1". */
void skv_pointer_put_name(skv_buf *out, const char *name, size_t len);

/* Returns what the pointer names, borrowed from the tree; NULL if there is nothing. */
json_t *skv_pointer_get(const skv_pointer *pointer, json_t *tree);

/* Returns the index in the list that a write to `name` would use: the length for "-" or for the length. Returns
 * SIZE_MAX if the name is neither. */
size_t skv_pointer_index(json_t *list, const char *name);

/*
 * Stores a copy of `value`. Makes missing parents as objects. Returns SKV_OK; SKV_INVALID if a parent is neither an
 * object nor a list, or a list has no such index; SKV_TOO_LARGE if the tree would be nested deeper than
 * SKV_VALUE_DEPTH_MAX; SKV_NOMEM. After a failure the tree may have new empty parents.
 */
skv_status skv_pointer_set(const skv_pointer *pointer, json_t *tree, json_t *value, skv_reply *reply);

/* An element that may be appended to a list. */
typedef struct skv_extension {
    json_t *value;
    bool unique;  /* not if the list has an equal element */
    json_t *skip; /* not if this list has an equal element; any other value and NULL have none */
    size_t work;  /* out: the number of values that were compared */
    bool changed; /* out: the value was appended */
} skv_extension;

/* Appends a copy of the value, as one element, to the list that the pointer names. Makes a list that is missing or
 * null, and its parents. Fails as skv_pointer_set() does, and with SKV_INVALID if the pointer names something else than
 * a list. */
skv_status skv_pointer_extend(const skv_pointer *pointer, json_t *tree, skv_extension *extension, skv_reply *reply);

/* Deletes what the pointer names; the elements behind a deleted one move up. Returns true if there was something. */
bool skv_pointer_delete(const skv_pointer *pointer, json_t *tree);

#endif
