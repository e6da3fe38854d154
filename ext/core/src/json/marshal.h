/* json/marshal.h - makes the bytes of Ruby's Marshal of a document, which Ruby loads in one call. */
#ifndef SKV_JSON_MARSHAL_H
#define SKV_JSON_MARSHAL_H

#include <stddef.h>

/* Writes at most `size` bytes at `out`, and never more than 65,535, as simpkv_answer.h describes them. Returns their
 * number; 0 if they do not fit, or the document is one that this function does not read. Allocates nothing. */
size_t skv_json_marshal(const char *document, size_t len, char *out, size_t size);

#endif
