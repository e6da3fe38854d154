/* secret/pem.h - private keys in PEM, encoded here: libcrypto's own functions leave parts of keys in freed memory. */
#ifndef SKV_SECRET_PEM_H
#define SKV_SECRET_PEM_H

#include "base/reply.h"

#include <jansson.h>
#include <openssl/evp.h>

/* More than any key, or any text of one, needs. */
#define SKV_PEM_MAX 65536

/* Makes the text of the bytes, with "BEGIN <label>" and lines of that length, and frees them. Returns NULL if the
 * buffer has failed or memory runs out. */
json_t *skv_pem_text(const char *label, skv_buf *bytes, size_t line);

/* Makes the text of a private key of RSA or on P-256 in PKCS #8. Returns NULL as above, or after a failure of libcrypto
 * that is in the reply. */
json_t *skv_pem_private(EVP_PKEY *pair, skv_reply *reply);

/* Appends a number, whose bytes begin with the highest, in `size` bytes. */
void skv_put_bignum(skv_buf *out, const BIGNUM *number, size_t size);

#endif
