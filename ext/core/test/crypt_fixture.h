/* crypt_fixture.h - a keyring over a temporary file of keys, and JWEs that simpkv does not make. */
#ifndef SKV_TEST_CRYPT_FIXTURE_H
#define SKV_TEST_CRYPT_FIXTURE_H

#include "simpkv_keyring.h"

#define BACKEND "file/default"
#define PATH "environments/production/app/password"
#define PLAIN "{\"value\":\"s3cret\",\"metadata\":{}}"

/* Two keys of 32 bytes, as text and in base64url. */
#define KEY_A "pl4nted-key-A-0123456789abcdefgh"
#define CODED_A "cGw0bnRlZC1rZXktQS0wMTIzNDU2Nzg5YWJjZGVmZ2g"
#define KEY_B "pl4nted-key-B-0123456789abcdefgh"
#define CODED_B "cGw0bnRlZC1rZXktQi0wMTIzNDU2Nzg5YWJjZGVmZ2g"
#define JWK(kid, coded) "{\"kty\":\"oct\",\"alg\":\"A256GCM\",\"kid\":\"" kid "\",\"k\":\"" coded "\"}"
#define KEYS(list) "{\"keys\":[" list "]}"
#define KEYS_A KEYS(JWK("a", CODED_A))
#define KEYS_BA KEYS(JWK("b", CODED_B) "," JWK("a", CODED_A))

extern skv_reply *result;
extern char key_file[64]; /* in a folder of its own */

void make_key_folder(void);
void remove_key_folder(void);

/* Replaces the file, with rename(2). */
void write_keys(const char *json);
void write_keys_with_mode(const char *json, unsigned mode);

/* Opens the file of keys; the caller closes the keyring. */
skv_keyring *open_keys(void);

skv_status encrypt_for(skv_keyring *keyring, const char *path, const char *document);
skv_status decrypt_for(skv_keyring *keyring, const char *path, const char *document, size_t len);

/* Make a document, which the caller frees: one that the keyring encrypts for PATH; one with any header, for KEY_A. */
char *encrypted(skv_keyring *keyring);
char *forged(const char *header, const char *plain);

#endif
