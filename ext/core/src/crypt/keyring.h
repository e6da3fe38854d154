/* crypt/keyring.h - a file of keys that is read again when it has changed. */
#ifndef SKV_CRYPT_KEYRING_H
#define SKV_CRYPT_KEYRING_H

#include "crypt/keys.h"

#include "simpkv_keyring.h"

/* Returns the keys of the file as it is now, which stay until skv_keyring_release(). Returns NULL on failure: see
 * skv_keys_read(). Thread-safe. */
skv_keys *skv_keyring_take(skv_keyring *keyring, skv_reply *reply);
void skv_keyring_release(skv_keys *keys);

/* The path of the file. */
const char *skv_keyring_file(const skv_keyring *keyring);

#endif
