/* rules/field.h - a replacement field of a template, such as {inventory[networking][fqdn]} or {node.parameters.role}.
 */
#ifndef SKV_RULES_FIELD_H
#define SKV_RULES_FIELD_H

#include "base/reply.h"

/* The roots of fields. A set of them is a sum. */
typedef enum skv_root {
    SKV_ROOT_NODE = 1,
    SKV_ROOT_INVENTORY = 2,
    SKV_ROOT_PLUGIN_DATA = 4,
    SKV_ROOT_ITEM = 8
} skv_root;

/* Immutable. {ports[0]} is read as {node.ports[0]}: its root is the node and its first name "ports". {port_groups} is
 * read alike. */
typedef struct skv_field {
    skv_root root;
    const char *const *names; /* below the root: members, or indexes of lists (skv_value_member()) */
    size_t count;             /* of names */
    const char *text;         /* as written, without the braces; NUL-terminated */
} skv_field;

/*
 * Reads the field whose '{' is at offset *at of the text, and sets *at to the offset behind its '}'. `roots` is the sum
 * of the roots that have a value. Sets *out to a field that the caller frees with skv_field_free(), or to NULL. Returns
 * SKV_OK; SKV_INVALID with the reason and the offset in the text; SKV_NOMEM. Messages do not quote the text.
 */
skv_status skv_field_parse(const char *text, size_t len, size_t *at, unsigned roots, skv_field **out, skv_reply *reply);

/* Accepts NULL. */
void skv_field_free(skv_field *field);

#endif
