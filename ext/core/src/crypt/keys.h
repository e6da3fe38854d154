/* crypt/keys.h - the keys of a file with a JWK Set (RFC 7517). They never change. */
#ifndef SKV_CRYPT_KEYS_H
#define SKV_CRYPT_KEYS_H

#include "base/reply.h"
#include "base/stamp.h"

#include <jansson.h>

#define SKV_KID_MAX 64
#define SKV_KEY_SIZE 32

typedef struct skv_secret {
    char kid[SKV_KID_MAX + 1];
    unsigned char bytes[SKV_KEY_SIZE];
} skv_secret;

typedef struct skv_keys {
    skv_stamp stamp; /* of the file */
    int users;       /* guarded by the lock of keyring.c */
    size_t count;
    skv_secret *key; /* the first one encrypts */
} skv_keys;

/* Reads the file. Release with skv_keys_free(). Returns NULL on failure: SKV_INVALID (no such file, its content is
 * wrong), SKV_DENIED (its owner or its mode, or it cannot be read). */
skv_keys *skv_keys_read(const char *file, skv_reply *reply);

/* Wipes the keys. Accepts NULL. */
void skv_keys_free(skv_keys *keys);

/* Returns the key of that name, or NULL. */
const skv_secret *skv_keys_find(const skv_keys *keys, const char *kid);

#endif
