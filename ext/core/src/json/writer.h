/* json/writer.h - writes all JSON of the core. jansson's own writer prints 9.898 as 9.8979999999999997. */
#ifndef SKV_JSON_WRITER_H
#define SKV_JSON_WRITER_H

#include "base/buf.h"

#include <jansson.h>

/* The brackets of a tree that are open in each other: deeper trees have no text. */
#define SKV_TREE_DEPTH_MAX 132

/* Appends text, which is UTF-8, as a JSON string. */
void skv_json_put_string(skv_buf *out, const char *text, size_t len);

/* Appends the tree as compact JSON, with the shortest digits that read back as a number. Does not depend on the locale.
 * The buffer fails as buffers do; it becomes too large for a tree that is nested too deeply, too. */
void skv_json_put_tree(skv_buf *out, json_t *tree);

/* Returns the number of bytes of the tree as compact JSON, or a number above `max` if there are more. Allocates
 * nothing, and stops counting there. */
size_t skv_json_size(json_t *tree, size_t max);

#endif
