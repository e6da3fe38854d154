/* crypt/jwe.h - encrypted documents: {"value":"<compact JWE>","encoding":"jwe"} (RFC 7516), and their headers. */
#ifndef SKV_CRYPT_JWE_H
#define SKV_CRYPT_JWE_H

#include "base/reply.h"

#include <jansson.h>

/* Bytes that somebody else owns. */
typedef struct skv_span {
    const char *bytes;
    size_t len;
} skv_span;

/* The place of a document. Both are UTF-8 without NUL. */
typedef struct skv_place {
    skv_span backend; /* "<type>/<id>" */
    skv_span path;
} skv_place;

/* The parts of a JWE in base64url. They point into the document. */
typedef struct skv_jwe {
    skv_span header, iv, text, tag;
} skv_jwe;

#define SKV_JWE_IV_SIZE 12
#define SKV_JWE_TAG_SIZE 16

/* The text of an encrypted document around its JWE. */
#define SKV_JWE_BEFORE "{\"value\":\""
#define SKV_JWE_AFTER "\",\"encoding\":\"jwe\"}"

/* Finds the JWE of a document. header.bytes is NULL for a plain document. Fails with SKV_MALFORMED if the document is
 * neither plain nor a whole encrypted one: only a part of its first or last bytes is that of an encrypted document, or
 * it is formatted differently. */
skv_status skv_jwe_find(skv_span document, skv_jwe *jwe, skv_reply *reply);

/* Returns true for a document of which skv_jwe_find() would say that it is plain. */
bool skv_jwe_is_plain(skv_span document);

/* Appends the header that simpkv writes, in base64url. */
void skv_jwe_put_header(skv_buf *buf, const char *kid, const skv_place *place);

/* The protected header of a JWE. Strings are in `tree`; release with json_decref(). */
typedef struct skv_jwe_header {
    json_t *tree;
    const char *kid, *backend, *path;
} skv_jwe_header;

/* Reads the header. Fails with SKV_MALFORMED unless it has exactly the members alg ("dir"), enc ("A256GCM"), kid,
 * backend and path. */
skv_status skv_jwe_read_header(const skv_jwe *jwe, skv_jwe_header *header, skv_reply *reply);

#endif
