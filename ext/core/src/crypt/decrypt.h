/* crypt/decrypt.h - opens encrypted documents, one after the other. */
#ifndef SKV_CRYPT_DECRYPT_H
#define SKV_CRYPT_DECRYPT_H

#include "crypt/cipher.h"
#include "crypt/keyring.h"

/* The keys for some documents, as they are at the beginning. */
typedef struct skv_decryption {
    skv_keyring *keyring;
    skv_keys *keys;
    skv_cipher *cipher;
} skv_decryption;

/* Takes the keys. End it with skv_decryption_end() in any case. */
skv_status skv_decryption_begin(skv_decryption *decryption, skv_keyring *keyring, skv_reply *reply);
void skv_decryption_end(skv_decryption *decryption);

/* Appends the plain document of a place to a buffer. After a failure (SKV_MALFORMED, SKV_DENIED, SKV_TOO_LARGE,
 * SKV_UNAVAILABLE) the buffer is as before, and the message begins with the path. */
skv_status skv_decryption_run(skv_decryption *decryption, const skv_place *place, const skv_jwe *jwe, skv_buf *out,
                              skv_reply *reply);

/* Puts the path before the reason of a failure. Returns the reply's status. */
skv_status skv_name_document(skv_span path, skv_reply *reply);

#endif
