/* crypt/cipher.h - AES-256-GCM for JWEs: libjose encrypts, OpenSSL decrypts. The only file that calls them. */
#ifndef SKV_CRYPT_CIPHER_H
#define SKV_CRYPT_CIPHER_H

#include "crypt/jwe.h"
#include "crypt/keys.h"

/* Fails with SKV_INVALID if the core was built without libjose. */
skv_status skv_cipher_check(skv_reply *reply);

/* Appends a JWE of the document to the reply's data. Fails with SKV_UNAVAILABLE if libjose does. */
skv_status skv_cipher_seal(const skv_secret *key, const skv_place *place, skv_span document, skv_reply *reply);

/* Decrypts documents one after the other, and is faster if they have the same key. Returns NULL if memory runs out.
 * Release with skv_cipher_free(), which wipes it, while the keys exist. */
typedef struct skv_cipher skv_cipher;
skv_cipher *skv_cipher_new(void);
void skv_cipher_free(skv_cipher *cipher);

/* The arguments of skv_cipher_open(). */
typedef struct skv_sealed {
    skv_span header;     /* in base64url, which the tag authenticates */
    unsigned char *text; /* is decrypted in place */
    size_t len;
    unsigned char iv[SKV_JWE_IV_SIZE], tag[SKV_JWE_TAG_SIZE];
} skv_sealed;

/* Fails with SKV_MALFORMED if the tag is not that of header, text and key; the text is garbage then. */
skv_status skv_cipher_open(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed, skv_reply *reply);

#endif
