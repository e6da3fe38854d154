/* secret/keypair.h - key pairs, which OpenSSL's libcrypto makes. */
#ifndef SKV_SECRET_KEYPAIR_H
#define SKV_SECRET_KEYPAIR_H

#include "base/reply.h"

#include <openssl/evp.h>

/* Makes a key pair: `size` is the bits of EVP_PKEY_RSA, the NID of the curve for EVP_PKEY_EC, else 0. Fails with
 * SKV_UNAVAILABLE and returns NULL. Release with EVP_PKEY_free(), which wipes it. */
EVP_PKEY *skv_keypair_new(int type, int size, skv_reply *reply);

/* Fails with SKV_UNAVAILABLE: "OpenSSL cannot <what>: <reason>". The reason is that of libcrypto's last error.
 *
 * libcrypto's errors must not stay in the queue of the thread, where Ruby's OpenSSL would find them: each function that
 * the rest of the core calls begins with ERR_set_mark() and ends with ERR_pop_to_mark(). */
skv_status skv_fail_openssl(const char *what, skv_reply *reply);

#endif
