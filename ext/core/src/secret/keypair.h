/* secret/keypair.h - key pairs, which OpenSSL's libcrypto makes. */
#ifndef SKV_SECRET_KEYPAIR_H
#define SKV_SECRET_KEYPAIR_H

#include "base/reply.h"

#include <openssl/evp.h>

/* The size of the keys of Curve25519. */
#define SKV_KEY25519_SIZE 32

/* Makes a key pair: `size` is the bits of EVP_PKEY_RSA, or the NID of the curve of EVP_PKEY_EC. Fails with
 * SKV_UNAVAILABLE and returns NULL. Release with EVP_PKEY_free(), which wipes it. */
EVP_PKEY *skv_keypair_new(int type, int size, skv_reply *reply);

/* Computes the public key of a private one: EVP_PKEY_ED25519 or EVP_PKEY_X25519. Fails with SKV_UNAVAILABLE. */
skv_status skv_keypair_public(int type, const unsigned char private[SKV_KEY25519_SIZE],
                              unsigned char public[SKV_KEY25519_SIZE], skv_reply *reply);

/* The numbers of a key of RSA, in the order of RFC 8017, appendix A.1.2; and the private number of EC. */
typedef enum skv_key_number {
    SKV_RSA_N,
    SKV_RSA_E,
    SKV_RSA_D,
    SKV_RSA_P,
    SKV_RSA_Q,
    SKV_RSA_D_MOD_P_1,
    SKV_RSA_D_MOD_Q_1,
    SKV_RSA_INVERSE_Q,
    SKV_EC_PRIVATE
} skv_key_number;

/* Returns a number; NULL if libcrypto fails. Release with BN_clear_free(). The functions of libcrypto that write whole
 * private keys leave parts of them in freed memory. */
BIGNUM *skv_keypair_number(const EVP_PKEY *pair, skv_key_number which);

/* Fails with SKV_UNAVAILABLE: "OpenSSL cannot <what>: <reason>". The reason is that of libcrypto's last error.
 *
 * libcrypto's errors must not stay in the queue of the thread, where Ruby's OpenSSL would find them: each function that
 * the rest of the core calls begins with ERR_set_mark() and ends with ERR_pop_to_mark(). */
skv_status skv_fail_openssl(const char *what, skv_reply *reply);

#endif
