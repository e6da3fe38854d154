/* secret/digest.h - digests by libcrypto. */
#ifndef SKV_SECRET_DIGEST_H
#define SKV_SECRET_DIGEST_H

#include "base/reply.h"

#include <openssl/evp.h>

/* A digest that is computed several times. After a failure, it computes nothing more. libcrypto's errors do not stay in
 * the queue of the thread: see crypt/cipher.c. */
typedef struct skv_digest {
    EVP_MD_CTX *context;
    const EVP_MD *type;
    bool failed;
} skv_digest;

/* Begins the first computation. Release with skv_digest_close(). */
void skv_digest_open(skv_digest *digest, const EVP_MD *type);

/* Adds bytes. */
void skv_digest_add(skv_digest *digest, const void *bytes, size_t len);

/* Adds the first `len` bytes of what the block of `size` bytes becomes if it is repeated. */
void skv_digest_add_repeated(skv_digest *digest, const void *block, size_t size, size_t len);

/* Writes the digest, of EVP_MAX_MD_SIZE bytes at most, and begins the next computation. */
void skv_digest_take(skv_digest *digest, unsigned char *out);

/* Frees and wipes the state. Fails with SKV_UNAVAILABLE if libcrypto has refused anything. */
skv_status skv_digest_close(skv_digest *digest, skv_reply *reply);

#endif
