/* crypt/cipher.h - AES-256-GCM of OpenSSL's libcrypto. The only file that calls it. */
#ifndef SKV_CRYPT_CIPHER_H
#define SKV_CRYPT_CIPHER_H

#include "crypt/jwe.h"
#include "crypt/keys.h"

/* Encrypts or decrypts texts one after the other, and is faster if they have the same key. skv_cipher_new() returns
 * NULL if memory runs out. Release with skv_cipher_free(), which wipes it, while the keys exist. */
typedef struct skv_cipher skv_cipher;
skv_cipher *skv_cipher_new(bool encrypts);
void skv_cipher_free(skv_cipher *cipher);

/* A text, which is encrypted or decrypted in place, and what its tag authenticates. */
typedef struct skv_sealed {
    skv_span header; /* in base64url */
    unsigned char *text;
    size_t len;
    unsigned char iv[SKV_JWE_IV_SIZE], tag[SKV_JWE_TAG_SIZE];
} skv_sealed;

/* Encrypts the text under a random IV, and sets iv and tag. Fails with SKV_UNAVAILABLE if libcrypto does. */
skv_status skv_cipher_seal(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed, skv_reply *reply);

/* Decrypts the text. Fails with SKV_MALFORMED if the tag is not that of header, text and key, and with SKV_UNAVAILABLE
 * if libcrypto fails. The text is garbage then. */
skv_status skv_cipher_open(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed, skv_reply *reply);

#endif
